# SPDX-License-Identifier: BSD-2-Clause
UPROBES_OBJ := $(call objects,uprobes)
UPROBES_LIBS := $(call libs_of,libbpf libelf libdw capstone) -lstdc++
ALL_OBJ += $(UPROBES_OBJ)

$(UPROBES_OBJ): $(SKELETONS)
$(B)/libuprobes.a: $(UPROBES_OBJ)
