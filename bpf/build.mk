# SPDX-License-Identifier: BSD-2-Clause
# The kernel side: compiled once against the field offsets' names in bpf/vmlinux.h, relocated at load time by libbpf
# (CO-RE).

BPF_ARCH := $(patsubst amd64,x86,$(ARCH))
BPFTOOL := $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
SKELETONS := $(patsubst bpf/%.bpf.c,$(B)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))

$(B)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h bpf/abi/*.h)
	$(say) BPF $<
	@mkdir -p $(@D)
	$(Q)$(CLANG) -O2 -g -mcpu=v3 -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Werror -I. -c -o $@ $<
	$(Q)llvm-strip -g $@
$(B)/bpf/%.skel.h: $(B)/bpf/%.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@
