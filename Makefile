# SPDX-License-Identifier: BSD-2-Clause
# The targets: make help. Each folder has a build.mk; adding a source, a test or a construct needs no edit of any
# of them.

## (none): graind, grainctl, their helpers and libgrainshim.so into build/
## demo: profiles the demo programs and writes their reports (as root)
## check: the gate: what each change must pass (as root: all of it); T=unit/analysis/graph runs a part
## lint: formatting, warnings of clang, which room uses which
## format: formats all sources
## deps: installs what is missing (Debian packages, as root)
## clean: removes build/
## help: these lines

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

# V=1 shows the commands.
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
TREE := $(CURDIR)/$(SYSROOT)
CC := $(TRIPLET)-gcc --sysroot=$(TREE) -isystem $(TREE)/usr/include/$(TRIPLET)
OMP_CLANG := clang --target=$(TRIPLET) --sysroot=$(TREE) -L$(TREE)/usr/lib/llvm-14/lib
CROSS_LIBS := -L$(TREE)/usr/lib/$(TRIPLET) -L$(TREE)/usr/lib/gcc/$(TRIPLET)/12 \
	-Wl,-rpath-link,$(TREE)/usr/lib/$(TRIPLET)
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(TREE) \
	PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(TRIPLET)/pkgconfig:$(SYSROOT)/usr/share/pkgconfig pkg-config
endif
PKG_CONFIG ?= pkg-config
CLANG := clang
VERSION := $(shell sed -n 's/^\#define GRAIND_VERSION "\(.*\)"/\1/p' daemon/common/programs/version.h 2>/dev/null)

# SAN=1: with ASan and UBSan, into build/san; SAN=thread: with TSan, into build/tsan.
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

libs_of = $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null)
PKGS := libelf libdw capstone libzstd zlib libdeflate libmicrohttpd libcurl libcrypto jansson libsystemd libgvc \
	libcgraph libbpf hwloc libconfuse
# Simple variables: what the shell says is asked for once, not for each file.
CPPFLAGS := $(CPPFLAGS) -D_GNU_SOURCE -I. -I$(B) $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)
CFLAGS += -std=gnu11 $(OPT) $(DEBUG) -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wformat=2 -fstack-protector-strong -fPIE $(SANFLAGS)
ifeq ($(SAN),)
CPPFLAGS += -D_FORTIFY_SOURCE=2
endif
LDFLAGS += -pie -Wl,-z,relro,-z,now $(SANFLAGS) $(CROSS_LIBS)

# The objects of a folder and of the rooms in it.
objects = $(patsubst %.c,$(B)/%.o,$(wildcard $(1)/*.c $(1)/*/*.c))
$(B)/%.o: %.c
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(B)/%.a:
	$(say) AR $@
	$(Q)rm -f $@ && ar rcsD $@ $^
# The commands that link a program of its prerequisites with the libraries that are given.
define link
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(1)
endef

all: $(B)/graind $(B)/graind-render $(B)/grainctl $(B)/grainctl-full $(B)/libgrainshim.so

include bpf/build.mk uprobes/build.mk analysis/build.mk render/build.mk runtime-shim/build.mk daemon/build.mk
include tests/packages.mk tests/build.mk tests/programs.mk tests/check.mk tests/fuzz/build.mk systemd/install.mk

deps:
	@tests/install_packages.sh $(BUILD_PACKAGES) $(TEST_PACKAGES) $(VM_PACKAGES)

# What is missing is installed first; a new make finds it by pkg-config.
demo:
	@tests/install_packages.sh $(BUILD_PACKAGES)
	@$(MAKE) --no-print-directory -j$$(nproc) all $(B)/tests/omp/demo $(B)/tests/omp/demo_loop
	@tests/demo.sh $(B)

lint: all
	@tests/lint.sh $(B)

format:
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h' | grep -v '^bpf/vmlinux')

# For editors: how each source is compiled.
## compile_commands.json: for editors and their language servers
compile_commands.json:
	$(Q){ for f in $(sort $(patsubst $(B)/%.o,%.c,$(ALL_OBJ))); do \
		printf '{"directory": "%s", "file": "%s", "command": "%s -c %s"}\n' '$(CURDIR)' $$f \
		'$(subst ",\",$(CC) $(CPPFLAGS) $(CFLAGS))' $$f; done; } | paste -sd, | sed 's/^/[/; s/$$/]/' >$@

help:
	@sed -n '/^## [^:]*: /{:a;$$!N;s/\n##   / /;ta;s/^## \([^:]*\): \([^\n]*\)/  \1|\2/;P;D}' $(MAKEFILE_LIST) | \
		awk -F'|' -v width=$${COLUMNS:-100} '{ count = split($$2, words, " "); line = sprintf("%-36s", $$1); \
			for (i = 1; i <= count; i++) { \
				if (length(line " " words[i]) > width) { print line; line = sprintf("%-36s", "") } \
				line = line " " words[i] } \
			print line }'

clean:
	rm -rf build

.PHONY: all deps demo lint format help clean compile_commands.json

-include $(shell find $(B) \( -path '$(B)/sysroot-*' -o -path '$(B)/vm' -o -path '$(B)/runtimes*' \) -prune \
	-o -name '*.d' -type f -print 2>/dev/null)
