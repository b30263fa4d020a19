# SPDX-License-Identifier: BSD-2-Clause
# The programs that are observed: as a user would build them.

OMP_PROGRAMS := $(patsubst tests/omp/%.c,$(B)/tests/omp/%,$(wildcard tests/omp/*.c))
# One program per OpenMP construct, by each compiler: NAME.gcc runs on libgomp, NAME.clang on libomp. For another
# processor those in C.
CONSTRUCTS := $(wildcard tests/omp/constructs/*.c)
ifndef TRIPLET
CONSTRUCTS += $(wildcard tests/omp/constructs/*.cc)
CONSTRUCT_FORTRAN := $(wildcard tests/omp/constructs/fortran/fortran_*.f90)
endif
CONSTRUCT_PROGRAMS := $(foreach c,gcc clang,$(patsubst %,$(B)/%.$(c),$(basename $(CONSTRUCTS)))) \
	$(patsubst tests/omp/constructs/fortran/%.f90,$(B)/tests/omp/constructs/%.gcc,$(CONSTRUCT_FORTRAN))

$(B)/tests/omp/%: tests/omp/%.c $(wildcard tests/omp/*.h)
	$(say) OMP $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Werror -fopenmp $(OMP_FLAGS) -o $@ $< -lm
# Every function of it is to be a frame.
$(B)/tests/omp/sampled: OMP_FLAGS := -O0
# Random static loops for guests of another processor, which have no compiler; `loops` says how many there are.
ifdef TRIPLET
STATIC_LOOPS := $(B)/tests/omp/static_loops/loops
$(STATIC_LOOPS): tests/root/constructs/static_loops.py
	$(say) OMP $(@D)
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)python3 $< $(B) $(@D) --make --loops 200 --each 10 --compiler "$(CC)"
	$(Q)echo 200 >$@
endif
# Some of them on libomp.
LIBOMP_PROGRAMS := $(B)/tests/omp/fib.clang $(B)/tests/omp/fib_reads.clang $(B)/tests/omp/slow_round.clang \
	$(B)/tests/omp/chunks.clang $(B)/tests/omp/chunks_reads.clang $(B)/tests/omp/grains200.clang \
	$(B)/tests/omp/pages.clang $(B)/tests/omp/loop_forever.clang
$(LIBOMP_PROGRAMS): $(B)/tests/omp/%.clang: tests/omp/%.c $(wildcard tests/omp/*.h)
	$(say) OMP $@
	@mkdir -p $(@D)
	$(Q)$(OMP_CLANG) -std=gnu11 -O2 -g -Wall -Wextra -Werror -fopenmp -o $@ $< -lm
# Programs of single tests of root/, some in several forms. Linking statically warns of what glibc loads later.
R := $(B)/tests/root/programs
ROOT_PROGRAMS := $(addprefix $(R)/,dynamic static static_pie linked_in loader faulter plugin_gomp.so \
	plugin_omp.so plugin_wheel.so \
	runtimes team_gomp.so team_omp.so old_teams \
	held_now held_lazy held_now.clang held_lazy.clang held_static held_static_pie held_linked_in held_own_dlopen \
	plugin_slow.so hostile set_uid gives_up open_calls untouched phases rough rough.clang nested_many.clang \
	reload reload.clang reload_1.so reload_2.so reload_1_clang.so reload_2_clang.so)
# Open MPI of other processors is not in their trees.
ifndef TRIPLET
ROOT_PROGRAMS += $(R)/ranks
endif
$(R)/ranks: tests/root/programs/ranks.c
$(R)/ranks: CC := OMPI_CC=$(CC) mpicc
$(R)/ranks: ROOT_FLAGS := -g -fopenmp
$(R)/dynamic $(R)/static $(R)/static_pie $(R)/linked_in: tests/root/programs/family.c
$(R)/loader $(R)/faulter $(R)/runtimes $(R)/old_teams $(R)/hostile $(R)/set_uid $(R)/gives_up $(R)/open_calls \
	$(R)/untouched $(R)/phases: $(R)/%: tests/root/programs/%.c
$(R)/plugin_gomp.so $(R)/plugin_omp.so $(R)/plugin_wheel.so: tests/root/programs/plugin.c
$(R)/team_gomp.so $(R)/team_omp.so: tests/root/programs/plugin_team.c
$(R)/dynamic $(R)/old_teams $(R)/gives_up $(R)/open_calls $(R)/untouched $(R)/phases: ROOT_FLAGS := -g -fopenmp
$(R)/held_now $(R)/held_lazy $(R)/held_now.clang $(R)/held_lazy.clang $(R)/held_static $(R)/held_static_pie \
	$(R)/held_linked_in $(R)/held_own_dlopen: tests/root/programs/held.c
$(R)/plugin_slow.so: tests/root/programs/plugin_slow.c
$(R)/plugin_slow.so: ROOT_FLAGS := -fPIC -shared
# Tables of functions that are filled and made read-only at the start, and ones that are filled by and by.
$(R)/held_now $(R)/held_now.clang: ROOT_FLAGS := -g -fopenmp -Wl,-z,relro,-z,now
$(R)/held_lazy $(R)/held_lazy.clang: ROOT_FLAGS := -g -fopenmp -Wl,-z,lazy
$(R)/hostile: ROOT_FLAGS := -I. -pthread
$(R)/rough $(R)/rough.clang: tests/root/programs/rough.c
$(R)/nested_many.clang: tests/root/programs/nested_many.c
$(R)/rough $(R)/rough.clang $(R)/nested_many.clang: ROOT_FLAGS := -g -fopenmp -D_GNU_SOURCE
RELOADED := $(addprefix $(R)/,reload_1.so reload_2.so reload_1_clang.so reload_2_clang.so)
$(R)/reload $(R)/reload.clang $(RELOADED): tests/root/programs/reload.c
$(R)/reload $(R)/reload.clang: ROOT_FLAGS := -g -fopenmp -D_GNU_SOURCE
$(RELOADED): ROOT_FLAGS = -fPIC -shared -fopenmp -DLIBRARY $(if $(findstring _2,$@),-DCALLS_MORE)
$(R)/reload.clang $(R)/reload_1_clang.so $(R)/reload_2_clang.so: CC := $(OMP_CLANG)
$(R)/hostile: bpf/abi/shim_abi.h $(B)/daemon/common/process/pass_fd.o
$(R)/hostile: ROOT_LINK = $(B)/daemon/common/process/pass_fd.o -pthread
$(R)/held_static: ROOT_FLAGS := -g -fopenmp -static
$(R)/held_static_pie: ROOT_FLAGS := -g -fopenmp -static-pie
$(R)/held_linked_in: ROOT_FLAGS := -g -fopenmp
# Has a dlopen of its own, which comes before the C library's.
$(R)/held_own_dlopen: tests/root/programs/own_dlopen.c
$(R)/held_own_dlopen: ROOT_FLAGS := -g -fopenmp
$(R)/held_own_dlopen: ROOT_LINK = -O2 -D_GNU_SOURCE -fopenmp -rdynamic tests/root/programs/own_dlopen.c
$(R)/static: ROOT_FLAGS := -g -fopenmp -static
$(R)/static_pie: ROOT_FLAGS := -g -fopenmp -static-pie
# Compiled with OpenMP, linked with the archive.
$(R)/linked_in: ROOT_FLAGS := -g -fopenmp
$(R)/linked_in $(R)/held_linked_in: ROOT_LINK = $(shell $(CC) -print-file-name=libgomp.a) -lpthread
$(R)/plugin_%.so $(R)/team_%.so: ROOT_FLAGS := -fPIC -shared -fopenmp
$(R)/plugin_omp.so $(R)/team_omp.so $(R)/rough.clang $(R)/nested_many.clang $(R)/held_now.clang \
	$(R)/held_lazy.clang: CC := $(OMP_CLANG)
# Finds its runtime beside itself.
$(R)/plugin_wheel.so: ROOT_FLAGS += -Wl,-rpath,'$$ORIGIN'
$(ROOT_PROGRAMS):
	$(say) ROOT $@
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 $(ROOT_FLAGS) $(if $(ROOT_LINK),-c -o $@.o $< && $(CC) -o $@ $@.o $(ROOT_LINK),-o $@ $<)
CONSTRUCT_HEADERS := tests/omp/truth.h tests/omp/constructs/expect.h
CONSTRUCT_FLAGS := -O2 -g -Wall -Wextra -Werror -fopenmp
define construct_rule
$(B)/tests/omp/constructs/%.$(1): tests/omp/constructs/%.$(2) $$(CONSTRUCT_HEADERS)
	$$(say) OMP $$@
	@mkdir -p $$(@D)
	$$(Q)$(3) $$(CONSTRUCT_FLAGS) -o $$@ $$< -lm
endef
$(filter $(B)/tests/omp/constructs/task_depend%,$(CONSTRUCT_PROGRAMS)): tests/omp/constructs/depend.h
# 5.1 has masked.
$(eval $(call construct_rule,gcc,c,$(CC) -std=gnu11))
$(eval $(call construct_rule,gcc,cc,g++ -std=gnu++17))
$(eval $(call construct_rule,clang,c,$(OMP_CLANG) -std=gnu11 -fopenmp-version=51))
$(eval $(call construct_rule,clang,cc,$(OMP_CLANG:clang%=clang++%) -std=gnu++17 -fopenmp-version=51))
$(B)/tests/omp/constructs/%.gcc: tests/omp/constructs/fortran/%.f90 $(wildcard tests/omp/constructs/fortran/*) \
	$(CONSTRUCT_HEADERS)
	$(say) OMP $@
	@mkdir -p $@.objects
	$(Q)$(CC) -std=gnu11 $(CONSTRUCT_FLAGS) -c -o $@.objects/truth.o \
		tests/omp/constructs/fortran/truth_for_fortran.c
	$(Q)gfortran -cpp $(CONSTRUCT_FLAGS) -J $@.objects -c -o $@.objects/module.o \
		tests/omp/constructs/fortran/truth_module.f90
	$(Q)gfortran -cpp $(CONSTRUCT_FLAGS) -J $@.objects -o $@ $< $@.objects/module.o $@.objects/truth.o

