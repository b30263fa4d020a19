# SPDX-License-Identifier: BSD-2-Clause
#
# make            build/graind, build/grainctl
# make demo       profile the demo programs and write their reports (as root)
# make check      all tests that this machine can run (as root: all of them)
# make check-vm   the tests in real guests under QEMU: other kernels, arm64, four NUMA nodes (as root)
# make check-full what check does with every construct on every version of the runtimes (an hour)
# make check-shim-cycles  500 times attach --fast and detach of programs that run (as root); WITH=address: of the library
#                 built with ASan and UBSan, WITH=thread: with TSan; then also attached to constructs
# make check-long  100 million tasks in a job of 32 MiB, counted to the last one (as root; some minutes)
# make check-faults  graind killed 200 times, 1,000 processes within seconds, 200 at once (as root; some minutes)
# make check-soak  graind for 20 minutes beside programs that come and go: it holds no more than at the begin (as root)
# make bench      the cost of being measured, as a table (as root)
# make bench-analysis  seconds and memory of the analysis of large traces, as a table
# make bench-render    seconds and bytes of drawing large graphs, as a table
# make bench-prometheus one Prometheus and 2,000 simulated nodes, for some minutes (as root)
# make deps       install what is missing (Debian packages, as root)
# make fuzz-plan, fuzz-find MINUTES=10  the probe planner and the search for runtimes, on mutated files
# make fuzz-log, fuzz-trace, fuzz-words  the analysis on mutated event logs, traces and words of a process
# make fuzz-shim  rings with a process that writes what it likes into them
# make fuzz-policy, fuzz-api  settings of graind and names of cgroups; requests
# make lint       formatting, warnings of clang, folder dependencies
# make ARCH=arm64 sysroot, make ARCH=arm64  builds for arm64 on another machine, into build/arm64
# make install, uninstall, deb   see systemd/install.mk
# V=1 shows the commands. SAN=1 builds with ASan and UBSan into build/san, SAN=thread with TSan into build/tsan.

# The one list of packages: what building needs, and what the tests need on top.
BUILD_PACKAGES := gcc g++ clang llvm make pkg-config bpftool libbpf-dev libelf-dev libdw-dev \
	libcapstone-dev libzstd-dev zlib1g-dev libmicrohttpd-dev libcurl4-openssl-dev libssl-dev \
	libdeflate-dev libjansson-dev libsystemd-dev libgraphviz-dev libhwloc-dev libotf2-trace-dev \
	libpapi-dev libpfm4-dev libconfuse-dev libncurses-dev
TEST_PACKAGES := openmpi-bin libopenmpi-dev debhelper lintian zsh prometheus python3-prometheus-client python3-pyte iproute2 gfortran graphicsmagick sumaclust fasttree patchelf python3-numpy libopenblas0-openmp r-base-core binutils clang-format libclang-rt-14-dev libomp-dev graphviz systemd musl-tools python3 python3-networkx python3-selenium chromium chromium-driver librsvg2-bin curl procps util-linux strace otf2-tools protobuf-compiler python3-protobuf
# What real guests need, and building for another processor.
VM_PACKAGES := qemu-system-x86 qemu-system-arm e2fsprogs systemd-container

.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

ifeq ($(V),1)
Q :=
say := @:
else
Q := @
say := @printf '  %-8s %s\n'
endif

# The processor to build for: this machine's, or another of the two with its packages in a tree (make sysroot).
NATIVE := $(patsubst aarch64,arm64,$(patsubst x86_64,amd64,$(shell uname -m)))
ARCH := $(NATIVE)
ifeq ($(ARCH),$(NATIVE))
CC := gcc
CXX := g++
OMP_CLANG := clang
else
TRIPLET := $(patsubst arm64,aarch64-linux-gnu,$(patsubst amd64,x86_64-linux-gnu,$(ARCH)))
SYSROOT := build/sysroot-$(ARCH)
CC := $(TRIPLET)-gcc --sysroot=$(CURDIR)/$(SYSROOT) -isystem $(CURDIR)/$(SYSROOT)/usr/include/$(TRIPLET)
OMP_CLANG := clang --target=$(TRIPLET) --sysroot=$(CURDIR)/$(SYSROOT) -L$(CURDIR)/$(SYSROOT)/usr/lib/llvm-14/lib
CROSS_LIBS := -L$(CURDIR)/$(SYSROOT)/usr/lib/$(TRIPLET) -L$(CURDIR)/$(SYSROOT)/usr/lib/gcc/$(TRIPLET)/12 -Wl,-rpath-link,$(CURDIR)/$(SYSROOT)/usr/lib/$(TRIPLET)
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(CURDIR)/$(SYSROOT) \
	PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(TRIPLET)/pkgconfig:$(SYSROOT)/usr/share/pkgconfig pkg-config
endif
PKG_CONFIG ?= pkg-config
BPF_ARCH := $(patsubst amd64,x86,$(ARCH))
CLANG := clang
BPFTOOL := $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
VERSION := $(shell sed -n 's/^\#define GRAIND_VERSION "\(.*\)"/\1/p' daemon/common/version.h 2>/dev/null)

ifeq ($(SAN),1)
B := build/san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPT := -O1
DEBUG := -g1
else ifeq ($(SAN),thread)
B := build/tsan
SANFLAGS := -fsanitize=thread -fno-omit-frame-pointer
OPT := -O1
DEBUG := -g1
else
B := build$(if $(TRIPLET),/$(ARCH))
SANFLAGS :=
OPT := -O2
DEBUG := -g
endif

PKGS := libelf libdw capstone libzstd zlib libdeflate libmicrohttpd libcurl libcrypto jansson libsystemd libgvc libcgraph libbpf hwloc libconfuse
CPPFLAGS += -D_GNU_SOURCE -I. -I$(B) $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)
CFLAGS += -std=gnu11 $(OPT) $(DEBUG) -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wformat=2 -fstack-protector-strong -fPIE $(SANFLAGS)
ifeq ($(SAN),)
CPPFLAGS += -D_FORTIFY_SOURCE=2
endif
LDFLAGS += -pie -Wl,-z,relro,-z,now $(SANFLAGS) $(CROSS_LIBS)

ANALYSIS_LIBS := $(shell $(PKG_CONFIG) --libs hwloc 2>/dev/null) -lzstd -lz -lm
RENDER_LIBS := $(shell $(PKG_CONFIG) --libs libgvc libcgraph jansson libdeflate libcrypto 2>/dev/null)
# Traces for other tools, which only grainctl writes.
EXPORT_LIBS := $(shell $(PKG_CONFIG) --libs otf2 2>/dev/null)
# The live view of grainctl.
SCREEN_LIBS := $(shell $(PKG_CONFIG) --libs ncursesw 2>/dev/null)
UPROBES_LIBS := $(shell $(PKG_CONFIG) --libs libbpf libelf libdw capstone 2>/dev/null) -lstdc++
DAEMON_LIBS := $(shell $(PKG_CONFIG) --libs libmicrohttpd libcurl libcrypto jansson libsystemd libconfuse 2>/dev/null) -lpthread
COUNTER_LIBS := $(shell $(PKG_CONFIG) --libs papi 2>/dev/null) -lpfm

objects = $(patsubst %.c,$(B)/%.o,$(wildcard $(1)/*.c))
ANALYSIS_OBJ := $(call objects,analysis)
RENDER_OBJ := $(call objects,render)
UPROBES_OBJ := $(call objects,uprobes)
COMMON_OBJ := $(call objects,daemon/common)
GRAIND_OBJ := $(call objects,daemon/graind)
GRAINCTL_OBJ := $(call objects,daemon/grainctl)
GRAIND_RENDER_OBJ := $(call objects,daemon/graind-render)
UNIT_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c))
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
TOOLS := $(patsubst %.c,$(B)/%,$(filter-out %/ompt_truth.c %/ompt_idle.c,$(wildcard tests/tools/*.c)))

all: $(B)/graind $(B)/graind-render $(B)/grainctl $(B)/libgrainshim.so

$(B)/%.o: %.c
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# gcc optimizes the analysis as a whole; what comes out is an ordinary object, so that linking stays cheap.
# Most of its work is done in small functions, in other files, that are called for every event. Which paths are
# the usual ones gcc learns once per build directory: a copy of the analysis that counts analyses a generated trace.
INLINE_MORE := --param inline-unit-growth=300 --param max-inline-insns-auto=200 \
	--param max-inline-insns-single=400 --param large-function-growth=1000 --param large-unit-insns=100000
LEARNED := $(B)/learned
ifneq ($(SAN)$(TRIPLET)$(findstring clang,$(shell $(CC) --version 2>/dev/null)),)
$(B)/libanalysis.a: $(ANALYSIS_OBJ)
else
# gcc finds what it has learned of a file by the name that it was told then, the same in both copies.
ifdef LEARNING
LEARN := -fprofile-generate -fprofile-update=single
LEARN_LINK := -fprofile-generate
$(B)/tests/tools/time_analysis: LDFLAGS += -fprofile-generate
else
LEARNING := $(abspath $(B))/analysis/
LEARN_LINK := -fprofile-use
# What was changed since is compiled without it, until bench-analysis or a new build directory learns again.
LEARN = $(if $(shell find $^ -newer $(LEARNED)/done -print -quit),,-fprofile-use -Wno-missing-profile)
$(LEARNED)/done:
	$(say) LEARN analysis
	@mkdir -p $(@D) $(LEARNING)
	$(Q)$(MAKE) --no-print-directory B=$(LEARNED) LEARNING=$(LEARNING) $(LEARNED)/tests/tools/make_trace $(LEARNED)/tests/tools/time_analysis
	$(Q)cd $(@D) && tests/tools/make_trace tasks.grt 100000 8 >log && tests/tools/make_trace loop.grt 20 8 100000 >>log && \
		tests/tools/time_analysis tasks.grt grains tasks.log >>log && tests/tools/time_analysis loop.grt grains loop.log >>log && \
		tests/tools/time_analysis tasks.log >>log && tests/tools/time_analysis loop.log >>log && rm -f *.grt *.log grains
	@touch $@
$(ANALYSIS_OBJ): | $(LEARNED)/done
endif
$(ANALYSIS_OBJ): CFLAGS += -O3 $(INLINE_MORE) -flto -fno-fat-lto-objects $(LEARN) -dumpdir $(LEARNING) -dumpbase $(<F) -dumpbase-ext .c
$(B)/analysis.o: $(ANALYSIS_OBJ)
	$(say) LTO $@
	$(Q)$(CC) $(CFLAGS) -O3 -w $(LEARN_LINK) -flto=auto -r -flinker-output=nolto-rel -o $@ $^
$(B)/libanalysis.a: $(B)/analysis.o
endif
# Loaded into the observed programs: needs nothing but libc, shows nothing but the runtime's entry points.
SHIM_OBJ := $(call objects,runtime-shim)
# Calls of the program pass through it by the million: what has no arrays is not guarded as if it had.
$(SHIM_OBJ): CFLAGS += -fPIC -fvisibility=hidden -fstack-protector
$(B)/libgrainshim.so: $(SHIM_OBJ)
	$(say) LINK $@
	$(Q)$(CC) -shared -Wl,-z,relro,-z,now,-z,defs,-z,nodelete,--hash-style=both -Wl,-soname,$(@F) $(SANFLAGS) -o $@ $^
$(B)/librender.a: $(RENDER_OBJ)
$(B)/libuprobes.a: $(UPROBES_OBJ)
$(B)/libcommon.a: $(COMMON_OBJ)
$(B)/%.a:
	$(say) AR $@
	$(Q)rm -f $@ && ar rcsD $@ $^

# The kernel side: compiled once against the field offsets' names in
# bpf/vmlinux.h, relocated at load time by libbpf (CO-RE).
$(B)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h)
	$(say) BPF $<
	@mkdir -p $(@D)
	$(Q)$(CLANG) -O2 -g -mcpu=v3 -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Werror -I. -c -o $@ $<
	$(Q)llvm-strip -g $@
$(B)/bpf/%.skel.h: $(B)/bpf/%.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@
$(UPROBES_OBJ): $(patsubst bpf/%.bpf.c,$(B)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))

# The report's page: its parts in one file, which becomes part of the program.
PAGE_SCRIPTS := $(sort $(filter-out %/main.js,$(wildcard render/page/*.js))) render/page/main.js
PAGE := $(B)/render/page.html
PAGE_STYLES := $(sort $(wildcard render/page/*.css))
# In the page's policy only this style and this script have a hash, so that nothing else is ever run.
page_hash = sha256-$$(sha256sum < $(1) | cut -c -64 | tr a-f A-F | basenc --base16 -d | base64)
$(PAGE): render/page/head.html render/page/body.html $(PAGE_STYLES) $(PAGE_SCRIPTS)
	$(say) PAGE $@
	@mkdir -p $(@D)
	$(Q)cat $(PAGE_STYLES) > $@.css
	$(Q){ echo '(() => {'; echo '"use strict";'; cat $(PAGE_SCRIPTS); echo '})();'; } > $@.js
	$(Q){ cat render/page/head.html; \
		echo "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
	script-src '$(call page_hash,$@.js)'; style-src '$(call page_hash,$@.css)'; \
	base-uri 'none'; form-action 'none'\">"; \
		printf '<style>'; cat $@.css; echo '</style>'; cat render/page/body.html; echo '<!--DATA-->'; \
		printf '<script>'; cat $@.js; echo '</script>'; echo '</body></html>'; } > $@
$(B)/render/page_template.o: $(PAGE)

$(B)/graind: $(GRAIND_OBJ) $(B)/libcommon.a $(B)/libuprobes.a $(B)/libanalysis.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(UPROBES_LIBS) $(COUNTER_LIBS) $(DAEMON_LIBS) $(ANALYSIS_LIBS)

$(B)/grainctl: $(GRAINCTL_OBJ) $(B)/libcommon.a $(B)/libuprobes.a $(B)/librender.a $(B)/libanalysis.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(UPROBES_LIBS) $(RENDER_LIBS) $(EXPORT_LIBS) $(SCREEN_LIBS) $(DAEMON_LIBS) $(ANALYSIS_LIBS)

# Reports for graind, which links nothing that draws.
$(B)/graind-render: $(GRAIND_RENDER_OBJ) $(B)/libcommon.a $(B)/librender.a $(B)/libanalysis.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(RENDER_LIBS) $(ANALYSIS_LIBS)

# Tests
POLICY_OBJ := $(addprefix $(B)/daemon/,common/read_all.o $(addprefix graind/,policy_file.o policy_rules.o policy_values.o))
$(B)/tests/unit/test_policy_file: $(POLICY_OBJ)
$(B)/tests/unit/test_cgroup_name: $(B)/daemon/graind/cgroup_name.o
$(B)/tests/unit/test_mpi_rank: $(B)/daemon/graind/mpi_rank.o
$(B)/tests/unit/test_deliver_name: $(B)/daemon/graind/deliver_name.o
$(B)/tests/unit/test_ceiling: $(B)/daemon/graind/ceiling.o
$(B)/tests/unit/test_windows: $(B)/daemon/graind/ceiling.o
$(B)/tests/unit/test_live: $(B)/daemon/graind/live.o
$(B)/tests/unit/test_places: $(B)/daemon/graind/places.o
$(B)/tests/unit/test_backlog: $(B)/daemon/graind/backlog.o
$(B)/tests/unit/test_reservoir: $(addprefix $(B)/daemon/graind/,reservoir.o urgency.o)
$(B)/tests/unit/test_scouts: $(addprefix $(B)/daemon/graind/,scouts.o urgency.o)
$(B)/tests/unit/test_finders: $(addprefix $(B)/daemon/graind/,finders.o urgency.o)
$(B)/tests/unit/test_trace_part: $(B)/daemon/graind/trace_part.o
$(B)/tests/unit/test_kept_regions: $(B)/daemon/graind/kept_regions.o
$(B)/tests/unit/test_shim_ring: $(addprefix $(B)/runtime-shim/,ring.o counters.o)
$(B)/tests/unit/test_inject_unwind: $(addprefix $(B)/daemon/grainctl/,inject_unwind.o inject_cfi.o inject_memory.o)
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/libcommon.a $(B)/libuprobes.a $(B)/librender.a $(B)/libanalysis.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(UPROBES_LIBS) $(RENDER_LIBS) $(DAEMON_LIBS) $(ANALYSIS_LIBS)
$(B)/tests/tools/%: $(B)/tests/tools/%.o $(B)/libcommon.a $(B)/libuprobes.a $(B)/libanalysis.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(UPROBES_LIBS) $(DAEMON_LIBS) $(ANALYSIS_LIBS)
$(B)/tests/tools/make_trace: $(B)/tests/tools/make_trace.o $(B)/libcommon.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(ANALYSIS_LIBS)
$(B)/tests/tools/time_analysis: $(B)/tests/tools/time_analysis.o $(B)/libanalysis.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(ANALYSIS_LIBS)
$(B)/tests/tools/time_render: $(B)/tests/tools/time_render.o $(B)/librender.a $(B)/libanalysis.a
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(RENDER_LIBS) $(ANALYSIS_LIBS)
# What a user of the library builds: its headers, its archive, strict C.
EXAMPLES := $(patsubst %.c,$(B)/%,$(wildcard tests/example/*.c))
$(EXAMPLES): $(B)/%: %.c $(wildcard analysis/grain*.h) $(B)/libanalysis.a
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -pedantic -O2 -g -Wall -Wextra -Werror $(SANFLAGS) -I. -o $@ $< $(B)/libanalysis.a $(ANALYSIS_LIBS)
# The observed programs: as a user would build them.
$(B)/tests/omp/%: tests/omp/%.c $(wildcard tests/omp/*.h)
	$(say) OMP $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Werror -fopenmp $(OMP_FLAGS) -o $@ $< -lm
# Every function of it is to be a frame.
$(B)/tests/omp/sampled: OMP_FLAGS := -O0
# Some of them on libomp.
LIBOMP_PROGRAMS := $(B)/tests/omp/fib.clang $(B)/tests/omp/fib_reads.clang $(B)/tests/omp/slow_round.clang $(B)/tests/omp/chunks.clang $(B)/tests/omp/chunks_reads.clang $(B)/tests/omp/grains200.clang $(B)/tests/omp/pages.clang $(B)/tests/omp/loop_forever.clang
$(LIBOMP_PROGRAMS): $(B)/tests/omp/%.clang: tests/omp/%.c $(wildcard tests/omp/*.h)
	$(say) OMP $@
	@mkdir -p $(@D)
	$(Q)$(OMP_CLANG) -std=gnu11 -O2 -g -Wall -Wextra -Werror -fopenmp -o $@ $< -lm
# Programs of single tests of root/, some in several forms. Linking statically warns of what glibc loads later.
R := $(B)/tests/root/programs
ROOT_PROGRAMS := $(addprefix $(R)/,dynamic static static_pie linked_in loader faulter plugin_gomp.so plugin_omp.so plugin_wheel.so \
	runtimes team_gomp.so team_omp.so old_teams \
	held_now held_lazy held_now.clang held_lazy.clang held_static held_static_pie held_linked_in held_own_dlopen plugin_slow.so hostile gives_up untouched phases rough rough.clang nested_many.clang \
	reload reload.clang reload_1.so reload_2.so reload_1_clang.so reload_2_clang.so)
# Open MPI of other processors is not in their trees.
ifndef TRIPLET
ROOT_PROGRAMS += $(R)/ranks
endif
$(R)/ranks: tests/root/programs/ranks.c
$(R)/ranks: CC := OMPI_CC=$(CC) mpicc
$(R)/ranks: ROOT_FLAGS := -g -fopenmp
$(R)/dynamic $(R)/static $(R)/static_pie $(R)/linked_in: tests/root/programs/family.c
$(R)/loader $(R)/faulter $(R)/runtimes $(R)/old_teams $(R)/hostile $(R)/gives_up $(R)/untouched $(R)/phases: $(R)/%: tests/root/programs/%.c
$(R)/plugin_gomp.so $(R)/plugin_omp.so $(R)/plugin_wheel.so: tests/root/programs/plugin.c
$(R)/team_gomp.so $(R)/team_omp.so: tests/root/programs/plugin_team.c
$(R)/dynamic $(R)/old_teams $(R)/gives_up $(R)/untouched $(R)/phases: ROOT_FLAGS := -g -fopenmp
$(R)/held_now $(R)/held_lazy $(R)/held_now.clang $(R)/held_lazy.clang $(R)/held_static $(R)/held_static_pie $(R)/held_linked_in $(R)/held_own_dlopen: tests/root/programs/held.c
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
$(R)/hostile: bpf/shim_abi.h $(B)/daemon/common/pass_fd.o
$(R)/hostile: ROOT_LINK = $(B)/daemon/common/pass_fd.o -pthread
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
$(R)/plugin_omp.so $(R)/team_omp.so $(R)/rough.clang $(R)/nested_many.clang $(R)/held_now.clang $(R)/held_lazy.clang: CC := $(OMP_CLANG)
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
$(B)/tests/omp/constructs/%.gcc: tests/omp/constructs/fortran/%.f90 $(wildcard tests/omp/constructs/fortran/*) $(CONSTRUCT_HEADERS)
	$(say) OMP $@
	@mkdir -p $@.objects
	$(Q)$(CC) -std=gnu11 $(CONSTRUCT_FLAGS) -c -o $@.objects/truth.o tests/omp/constructs/fortran/truth_for_fortran.c
	$(Q)gfortran -cpp $(CONSTRUCT_FLAGS) -J $@.objects -c -o $@.objects/module.o tests/omp/constructs/fortran/truth_module.f90
	$(Q)gfortran -cpp $(CONSTRUCT_FLAGS) -J $@.objects -o $@ $< $@.objects/module.o $@.objects/truth.o

# What libomp says of a run by itself (OMPT), and what it costs to be told; the header comes with clang's OpenMP.
OMPT_TOOLS := $(B)/tests/tools/libompt_truth.so $(B)/tests/tools/libompt_idle.so
$(OMPT_TOOLS): $(B)/tests/tools/lib%.so: tests/tools/%.c tests/tools/ompt_next.h
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(OMP_CLANG) -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -I. -shared -fPIC -o $@ $< -lpthread

# What the tests run once more with ASan and UBSan, of a build with SAN=1: the unit tests, and replays of the fuzzers' finds.
REPLAYS := $(addprefix $(B)/fuzz/replay_,plan find log trace words shim policy api)
$(REPLAYS:$(B)/fuzz/replay_%=$(B)/tests/fuzz/fuzz_%.o): CPPFLAGS += -DREPLAY
$(B)/fuzz/replay_shim: $(addprefix $(B)/daemon/graind/,shim_rings.o clock_pair.o shim_counters.o)
POLICY_FUZZED := $(addprefix daemon/graind/,policy_file.o policy_rules.o policy_values.o cgroup_name.o mpi_rank.o deliver_name.o)
POLICY_FUZZED += daemon/common/read_all.o
$(B)/fuzz/replay_policy: $(addprefix $(B)/,$(POLICY_FUZZED))
$(B)/fuzz/replay_api: $(B)/daemon/graind/routes.o
$(B)/fuzz/replay_%: $(B)/tests/fuzz/fuzz_%.o $(B)/libcommon.a $(B)/libuprobes.a $(B)/libanalysis.a
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(UPROBES_LIBS) $(ANALYSIS_LIBS) $(shell $(PKG_CONFIG) --libs jansson libconfuse 2>/dev/null)
sanitized: $(UNIT_TESTS) $(REPLAYS)

constructs: $(CONSTRUCT_PROGRAMS) $(OMPT_TOOLS)

# What the tests in guests run.
guest-programs: constructs all $(OMP_PROGRAMS) $(LIBOMP_PROGRAMS) $(ROOT_PROGRAMS) $(TOOLS)
test-programs: guest-programs $(UNIT_TESTS) $(EXAMPLES)

deps:
	@tests/install_packages.sh $(BUILD_PACKAGES) $(TEST_PACKAGES) $(VM_PACKAGES)

# What a build for another processor needs: its compiler, and the libraries' packages of it in a tree.
sysroot:
	@tests/install_packages.sh $(BUILD_PACKAGES) $(patsubst arm64,gcc-aarch64-linux-gnu,$(patsubst amd64,gcc-x86-64-linux-gnu,$(ARCH)))
	$(say) FETCH $(SYSROOT)
	@mkdir -p build
	@tests/foreign_tree.sh $(ARCH) $(SYSROOT) libc6-dev libgcc-12-dev libstdc++-12-dev libgomp1 libomp5-14 libomp-14-dev $(filter %-dev,$(BUILD_PACKAGES))

# The two commands for a fresh machine install first, then build with a new
# make so that pkg-config finds what was just installed.
demo:
	@tests/install_packages.sh $(BUILD_PACKAGES)
	@$(MAKE) --no-print-directory -j$$(nproc) all $(B)/tests/omp/demo $(B)/tests/omp/demo_loop
	@tests/demo.sh $(B)

check-full: export FULL := 1
check check-full:
	@tests/install_packages.sh $(BUILD_PACKAGES) $(TEST_PACKAGES) $(VM_PACKAGES)
	@$(MAKE) --no-print-directory -j$$(nproc) test-programs
	@$(MAKE) --no-print-directory -j$$(nproc) SAN=1 B=$(B)/san sanitized
	@tests/run.sh $(B)

check-shim-cycles: test-programs
	@bash tests/root/test_shim_cycles.sh $(B) 500 $(WITH)
ifdef WITH
	@bash tests/root/test_shim_matrix_attached.sh $(B) $(WITH)
endif

# GUESTS: some of them only. With few tests: tests/vm/run.sh build --short
check-vm:
	@tests/install_packages.sh $(BUILD_PACKAGES) $(TEST_PACKAGES) $(VM_PACKAGES)
	@$(MAKE) --no-print-directory -j$$(nproc) test-programs deb
ifneq ($(if $(GUESTS),$(findstring arm64,$(GUESTS)),all),)
	@$(MAKE) --no-print-directory ARCH=arm64 sysroot
	@$(MAKE) --no-print-directory ARCH=arm64 -j$$(nproc) guest-programs
endif
	@tests/vm/run.sh $(B) $(GUESTS)

# graind killed 200 times, a thousand processes, 200 at once.
check-faults: export FULL := 1
check-faults: test-programs
	@bash tests/root/test_faults.sh $(B)

check-soak: test-programs
	@bash tests/root/test_soak.sh $(B) 1200

check-long: test-programs
	@bash tests/root/test_long_job.sh $(B) 100000000

bench:
	@tests/install_packages.sh $(BUILD_PACKAGES) $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory -j$$(nproc) test-programs
	@tests/bench/run.sh $(B)

bench-render: $(B)/tests/tools/make_trace $(B)/tests/tools/time_render
	@tests/bench/bench_render.py $(B)

bench-prometheus: all $(B)/tests/omp/demo $(B)/tests/omp/loop_forever
	@tests/bench/bench_prometheus.py $(B)

# Everything is "secondary": what is to be made anew has to be gone with all that is made of it.
bench-analysis:
	@[ -e $(LEARNED)/done ] && [ -z "$$(find analysis -newer $(LEARNED)/done -print -quit)" ] || rm -rf $(LEARNED) $(B)/analysis $(B)/analysis.o $(B)/libanalysis.a $(B)/tests/tools/time_analysis
	@$(MAKE) --no-print-directory -j$$(nproc) $(B)/tests/tools/make_trace $(B)/tests/tools/time_analysis
	@tests/bench/bench_analysis.py $(B)

# The planner, and the search for runtimes, on mutated files, for MINUTES of CPU time; what is found lands in build/fuzz.
MINUTES := 10
# All of uprobes but what attaches or symbolizes.
PLANNER_SOURCES := $(filter-out %/calibrate.c %/capture.c %/probe_links.c %/probe_programs.c %/ring_memory.c %/ring_reader.c %/sampling.c %/detach_gate.c %/symbolize.c %/demangle.c %/debug_functions.c, \
	$(wildcard uprobes/*.c))
$(B)/fuzz/fuzz_plan $(B)/fuzz/fuzz_find: $(B)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(PLANNER_SOURCES)
	$(say) FUZZ $@
	@mkdir -p $(@D)
	$(Q)$(CLANG) -std=gnu11 -O1 -g -D_GNU_SOURCE -I. -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -o $@ $^ -lelf -lcapstone
# The analysis on mutated event logs and traces, likewise.
FUZZ_LIBS := $(ANALYSIS_LIBS) $(shell $(PKG_CONFIG) --libs jansson libconfuse 2>/dev/null)
FUZZ_FLAGS := -std=gnu11 -O1 -g -D_GNU_SOURCE -I. -fno-sanitize-recover=undefined -fno-omit-frame-pointer
fuzz_objects = $(patsubst %.c,$(B)/fuzz/%.o,$(wildcard analysis/*.c) tests/fuzz/fuzz_$(1).c)
$(B)/fuzz/%.o: %.c
	$(say) FUZZ $<
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<
define analysis_fuzz_rules
$$(B)/fuzz/fuzz_$(1): $$(call fuzz_objects,$(1))
	$$(say) LINK $$@
	$$(Q)$$(CLANG) -fsanitize=fuzzer,address,undefined -o $$@ $$^ $$(FUZZ_LIBS)
endef
$(B)/fuzz/fuzz_shim: $(addprefix $(B)/fuzz/daemon/,graind/shim_rings.o graind/clock_pair.o graind/shim_counters.o common/pass_fd.o)
$(B)/fuzz/fuzz_policy: $(addprefix $(B)/fuzz/,$(POLICY_FUZZED))
$(B)/fuzz/fuzz_api: $(B)/fuzz/daemon/graind/routes.o
$(foreach t,log trace words shim policy api,$(eval $(call analysis_fuzz_rules,$(t))))
fuzz-plan fuzz-find fuzz-log fuzz-trace fuzz-words fuzz-shim fuzz-policy fuzz-api: fuzz-%: $(B)/fuzz/fuzz_%
	@tests/fuzz/run.sh $(B) $(MINUTES) $*

include systemd/install.mk

lint: all
	@tests/lint.sh $(B)

format:
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h' | grep -v '^bpf/vmlinux')

clean:
	rm -rf build

.PHONY: all constructs deps sysroot demo check check-full check-vm check-shim-cycles check-long check-faults check-soak guest-programs bench bench-analysis bench-prometheus bench-render lint format clean test-programs fuzz-plan fuzz-find fuzz-log fuzz-trace fuzz-words fuzz-shim fuzz-policy fuzz-api sanitized

-include $(shell find $(B) \( -path '$(B)/sysroot-*' -o -path '$(B)/vm' -o -path '$(B)/runtimes*' \) -prune -o -name '*.d' -type f -print 2>/dev/null)
