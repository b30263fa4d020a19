# SPDX-License-Identifier: BSD-2-Clause
# Loaded into the observed programs: needs nothing but libc, shows nothing but the runtime's entry points.
SHIM_OBJ := $(call objects,runtime-shim)
ALL_OBJ += $(SHIM_OBJ)

# Calls of the program pass through it by the million: what has no arrays is not guarded as if it had.
$(SHIM_OBJ): CFLAGS += -fPIC -fvisibility=hidden -fstack-protector
$(B)/libgrainshim.so: $(SHIM_OBJ)
	$(say) LINK $@
	$(Q)$(CC) -shared -Wl,-z,relro,-z,now,-z,defs,-z,nodelete,--hash-style=both -Wl,-soname,$(@F) \
		$(SANFLAGS) -o $@ $^
# For the tests of its parts.
$(B)/libshim.a: $(SHIM_OBJ)
