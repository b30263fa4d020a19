// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/inject/inject_unsafe_code.h"
#include "daemon/grainctl/inject/inject_arch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX (64u << 20) /* more than any C library has */

/*
 * Functions from one file of glibc. The inner functions of this file have no names; their code is before
 * and between these.
 */
static const char *const allocator[] = {
	"aligned_alloc", "calloc",	"free",		  "mallinfo",	 "mallinfo2",
	"malloc",	 "malloc_info", "malloc_stats",	  "malloc_trim", "malloc_usable_size",
	"mallopt",	 "memalign",	"posix_memalign", "pvalloc",	 "realloc",
	"valloc",
};

/*
 * Functions of the loader, functions that begin and end threads and processes, and functions that keep
 * lists of actions for these moments.
 */
static const char *const unsafe[] = {
	"dlopen",
	"dlmopen",
	"dlclose",
	"dlsym",
	"dlvsym",
	"dlerror",
	"dladdr",
	"dladdr1",
	"dlinfo",
	"dl_iterate_phdr",
	"__libc_freeres",
	"fork",
	"vfork",
	"_Fork",
	"__libc_fork",
	"exit",
	"quick_exit",
	"pthread_create",
	"pthread_exit",
	"pthread_getattr_np",
	"__cxa_atexit",
	"__cxa_finalize",
	"__register_atfork",
	"pthread_atfork",
	"__cxa_thread_atexit_impl",
	"__cxa_at_quick_exit",
	"pthread_key_create",
	"pthread_key_delete",
};

int inject_mappings__add(struct inject_mappings *mappings, const struct inject_mapping *mapping)
{
	if (mappings->count == mappings->room) {
		size_t room = mappings->room ? 2 * mappings->room : 256;
		struct inject_mapping *all = reallocarray(mappings->all, room, sizeof(*all));

		if (!all)
			return -ENOMEM;
		mappings->all = all;
		mappings->room = room;
	}
	mappings->all[mappings->count++] = *mapping;
	return 0;
}

/* Returns the object's next mapping with code after the mapping at `at`. NULL: there is none. */
static const struct inject_mapping *next_code(const struct inject_mappings *mappings, size_t first,
					      size_t *at)
{
	for (size_t i = *at + 1; i < mappings->count && mappings->all[i].inode == mappings->all[first].inode;
	     i++) {
		*at = i;
		if (mappings->all[i].code)
			return &mappings->all[i];
	}
	return NULL;
}

int inject_unsafe_code__all(struct inject_target *target, const struct inject_mappings *mappings,
			    size_t first)
{
	const struct inject_mapping *code;
	int error = 0;

	if (mappings->all[first].code)
		error = inject_ranges__add(&target->unsafe, mappings->all[first].from,
					   mappings->all[first].to);
	for (size_t at = first; !error && (code = next_code(mappings, first, &at));)
		error = inject_ranges__add(&target->unsafe, code->from, code->to);
	return error;
}

static bool is_function(const Elf64_Sym *symbol)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_size &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC);
}

/*
 * Marks the allocator's code. It reaches from the end of the last named function before it to the start of
 * the first named function after it.
 */
static int close_allocator(struct inject_target *target, const struct inject_symbols *symbols)
{
	uint64_t first = UINT64_MAX, last = 0, from = 0, to = UINT64_MAX;

	for (size_t i = 0; i < sizeof(allocator) / sizeof(allocator[0]); i++) {
		const Elf64_Sym *symbol = inject_symbols__find(symbols, allocator[i]);

		if (!symbol)
			continue;
		first = symbol->st_value < first ? symbol->st_value : first;
		last = symbol->st_value + symbol->st_size > last ? symbol->st_value + symbol->st_size : last;
	}
	if (!last)
		return 0;
	for (size_t i = 1; i < symbols->count; i++) {
		const Elf64_Sym *symbol = &symbols->all[i];
		uint64_t end = symbol->st_value + symbol->st_size;

		if (!is_function(symbol))
			continue;
		if (end <= first && end > from)
			from = end;
		if (symbol->st_value >= last && symbol->st_value < to)
			to = symbol->st_value;
	}
	return inject_ranges__add(&target->unsafe, symbols->base + (from ? from : first),
				  symbols->base + (to < UINT64_MAX ? to : last));
}

static int find_signal_return(struct inject_target *target, const struct inject_mapping *code)
{
	size_t size = code->to - code->from, length;
	const unsigned char *pattern = inject_arch__signal_return(&length), *at;
	unsigned char *text;

	if (target->signal_returns == INJECT_SIGNAL_RETURNS || !pattern || size > CODE_MAX)
		return 0;
	text = malloc(size);
	if (!text)
		return -ENOMEM;
	if (process_memory__read(target->pid, code->from, text, size)) {
		at = memmem(text, size, pattern, length);
		if (at)
			target->signal_return[target->signal_returns++] = code->from + (uint64_t)(at - text);
	}
	free(text);
	return 0;
}

static bool is_other_allocator(const struct inject_symbols *symbols)
{
	return inject_symbols__find(symbols, "malloc") && !inject_symbols__find(symbols, "__libc_start_main");
}

int inject_unsafe_code__c_library(struct inject_target *target, const struct inject_mappings *mappings,
				  size_t first, const struct inject_symbols *symbols)
{
	const struct inject_mapping *code;
	int error = close_allocator(target, symbols);

	for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]) && !error; i++) {
		const Elf64_Sym *symbol = inject_symbols__find(symbols, unsafe[i]);
		uint64_t at = symbol ? symbols->base + symbol->st_value : 0;

		if (symbol)
			error = inject_ranges__add(&target->unsafe, at, at + symbol->st_size);
	}
	/*
	 * A sanitizer's library replaces functions of the C library and takes locks in many places, so all
	 * of its code is unsafe.
	 */
	for (size_t i = 1; i < symbols->count && !error && !is_other_allocator(symbols); i++)
		if (is_function(&symbols->all[i])) {
			uint64_t at = symbols->base + symbols->all[i].st_value;

			error = inject_ranges__add(&target->known, at, at + symbols->all[i].st_size);
		}
	for (size_t at = first; !error && (code = next_code(mappings, first, &at));) {
		error = inject_ranges__add(&target->libc, code->from, code->to);
		if (!error)
			error = find_signal_return(target, code);
	}
	return error;
}
