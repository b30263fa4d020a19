# SPDX-License-Identifier: BSD-2-Clause
# Fuzzers (clang's), for MINUTES of CPU time each; what is found lands in build/fuzz. And replays of what was
# found, by gcc.
## fuzz-plan, fuzz-find: the probe planner and the search for runtimes, on mutated files; MINUTES=10
## fuzz-loops: the search for static loops in programs, likewise
## fuzz-log, fuzz-trace, fuzz-words: the analysis on mutated event logs, traces and words of a process
## fuzz-shim: rings with a process that writes what it likes into them
## fuzz-policy, fuzz-api, fuzz-adopt: settings of graind and names of cgroups; requests; what a job's directory says

MINUTES := 10
FUZZERS := plan find loops log trace words shim policy api adopt
# What each of them needs beside the analysis, without ends.
NEEDED_BY_plan := $(basename $(wildcard $(addprefix uprobes/,$(addsuffix /*.c,elf code runtime plan planner libgomp \
	libomp make_plan))))
NEEDED_BY_find := $(NEEDED_BY_plan)
NEEDED_BY_loops := $(NEEDED_BY_plan) $(basename $(wildcard uprobes/static_loops/*.c))
NEEDED_BY_shim := $(addprefix daemon/,$(addprefix graind/shim/,shim_rings clock_pair shim_counters) \
	graind/base/urgency common/process/pass_fd)
NEEDED_BY_policy := $(addprefix daemon/,$(addprefix graind/policy/policy_,file rules values) \
	$(addprefix graind/process/,cgroup_name mpi_rank) graind/summary/deliver_name common/process/read_all)
NEEDED_BY_api := daemon/graind/api/routes
NEEDED_BY_adopt := $(basename $(wildcard daemon/common/job_store/*.c) daemon/common/process/read_all.c)

FUZZ_LIBS := $(ANALYSIS_LIBS) $(call libs_of,jansson libconfuse) -lelf -lcapstone
FUZZ_FLAGS := -std=gnu11 -O1 -g -D_GNU_SOURCE -I. -fno-sanitize-recover=undefined -fno-omit-frame-pointer
$(B)/fuzz/%.o: %.c
	$(say) FUZZ $<
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<
define fuzzer
$$(B)/fuzz/fuzz_$(1): $$(patsubst $$(B)/%,$$(B)/fuzz/%,$$(ANALYSIS_OBJ)) \
		$$(addprefix $$(B)/fuzz/,$$(addsuffix .o,$$(NEEDED_BY_$(1)) tests/fuzz/fuzz_$(1)))
	$$(say) LINK $$@
	$$(Q)$$(CLANG) -fsanitize=fuzzer,address,undefined -o $$@ $$^ $$(FUZZ_LIBS)
fuzz-$(1): $$(B)/fuzz/fuzz_$(1)
	@tests/fuzz/run.sh $$(B) $$(MINUTES) $(1)
.PHONY: fuzz-$(1)

$$(B)/fuzz/replay_$(1): $$(B)/tests/fuzz/fuzz_$(1).o \
		$$(addprefix $$(B)/,$$(addsuffix .o,$$(filter daemon/graind/%,$$(NEEDED_BY_$(1))))) \
		$$(addprefix $$(B)/,libcommon.a libuprobes.a libanalysis.a)
	$$(say) LINK $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(LDFLAGS) -o $$@ $$^ $$(UPROBES_LIBS) $$(ANALYSIS_LIBS) $$(call libs_of,jansson libconfuse)
$$(B)/tests/fuzz/fuzz_$(1).o: CPPFLAGS += -DREPLAY
endef
$(foreach f,$(FUZZERS),$(eval $(call fuzzer,$f)))

REPLAYS := $(addprefix $(B)/fuzz/replay_,$(FUZZERS))
