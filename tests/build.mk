# SPDX-License-Identifier: BSD-2-Clause
# What the tests run but what is observed: unit tests, tools, examples. Folders of unit/ are the rooms that they test.

UNIT_SOURCES := $(wildcard tests/unit/*.c tests/unit/*/*.c tests/unit/*/*/*.c)
UNIT_TESTS := $(patsubst %.c,$(B)/%,$(filter %.c,$(foreach f,$(UNIT_SOURCES),$(if $(filter test_%,$(notdir $f)),$f))))
OMPT_TOOLS := $(B)/tests/tools/libompt_truth.so $(B)/tests/tools/libompt_idle.so
TOOLS := $(patsubst %.c,$(B)/%,$(filter-out %/ompt_truth.c %/ompt_idle.c,$(wildcard tests/tools/*.c)))
EXAMPLES := $(patsubst %.c,$(B)/%,$(wildcard tests/example/*.c))
ALL_OBJ += $(patsubst %.c,$(B)/%.o,$(UNIT_SOURCES)) $(addsuffix .o,$(TOOLS))

# They run for seconds, and there are many of them.
$(UNIT_TESTS:=.o): OPT := -O1
$(UNIT_TESTS:=.o): DEBUG := -g1
# What a test of a program's room may call, beside the libraries.
$(filter $(B)/tests/unit/graind/%,$(UNIT_TESTS)): $(B)/libgraind.a
$(filter $(B)/tests/unit/grainctl/%,$(UNIT_TESTS)): $(B)/libgrainctl.a
$(filter $(B)/tests/unit/runtime-shim/%,$(UNIT_TESTS)): $(B)/libshim.a
$(UNIT_TESTS): $(B)/%: $(B)/%.o $(addprefix $(B)/,libcommon.a libuprobes.a librender.a libanalysis.a)
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		$(UPROBES_LIBS) $(COUNTER_LIBS) $(SUBID_LIBS) $(NUMA_LIBS) $(RENDER_LIBS) $(SCREEN_LIBS) \
		$(DAEMON_LIBS) $(ANALYSIS_LIBS)

$(B)/tests/tools/%: $(B)/tests/tools/%.o $(addprefix $(B)/,libcommon.a libuprobes.a libanalysis.a)
	$(call link,$(UPROBES_LIBS) $(DAEMON_LIBS) $(ANALYSIS_LIBS))
$(B)/tests/tools/make_trace: $(B)/tests/tools/make_trace.o $(B)/libcommon.a
	$(call link,$(ANALYSIS_LIBS))
$(B)/tests/tools/time_analysis: $(B)/tests/tools/time_analysis.o $(B)/libanalysis.a
	$(call link,$(ANALYSIS_LIBS))
$(B)/tests/tools/time_render: $(B)/tests/tools/time_render.o $(B)/librender.a $(B)/libanalysis.a
	$(call link,$(RENDER_LIBS) $(ANALYSIS_LIBS))

# What a user of the library builds: its headers, its archive, strict C.
$(EXAMPLES): $(B)/%: %.c $(wildcard analysis/include/*.h) $(B)/libanalysis.a
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -pedantic -O2 -g -Wall -Wextra -Werror $(SANFLAGS) -I. -o $@ $< \
		$(B)/libanalysis.a $(ANALYSIS_LIBS)

# What libomp says of a run by itself (OMPT), and what it costs to be told; the header comes with clang's OpenMP.
$(OMPT_TOOLS): $(B)/tests/tools/lib%.so: tests/tools/%.c tests/tools/ompt_next.h
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(OMP_CLANG) -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -I. -shared -fPIC -o $@ $< -lpthread
