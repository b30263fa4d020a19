// SPDX-License-Identifier: BSD-2-Clause
/* The search for a runtime in hostile files: make fuzz-find. */
#include "tests/fuzz/target.h"
#include "uprobes/runtime/runtime_look.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	enum elf_runtime found;

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	found = runtime_look__in(fd);
	MUST(found >= ELF_RUNTIME_NONE && found <= ELF_RUNTIME_LIBOMP);
	/* Wherever it has read to, and whatever is left in memory. */
	MUST(runtime_look__in(fd) == found);
	MUST(close(fd) == 0);
	return 0;
}
