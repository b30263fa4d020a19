// SPDX-License-Identifier: BSD-2-Clause
/* The test's own program is the module that is looked into: whole, stripped, damaged. */
#include "tests/unit/check.h"
#include "uprobes/runtime/process_maps.h"
#include "uprobes/symbolize/symbolize.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t return_address;
static volatile int sink;

__attribute__((noinline)) static void note_caller(void)
{
	return_address = (uint64_t)__builtin_return_address(0);
	sink++;
}

static int calls_line;
__attribute__((noinline)) static void calls(void)
{
	calls_line = __LINE__ + 1;
	note_caller();
	sink++;
}

static inline __attribute__((always_inline)) void inlined_part(void)
{
	note_caller();
	sink++;
}
enum { INLINED_LINE = __LINE__ - 3 };

__attribute__((noinline)) static void calls_inlined(void)
{
	inlined_part();
	sink++;
}

/* As the compiler names the body of a task. */
void outlined(void) __asm__("worker_body._omp_fn.3.constprop.0");
__attribute__((noinline)) void outlined(void)
{
	sink++;
}

static struct process_mapping own;

static int take_own(void *ctx, const struct process_mapping *mapping)
{
	uint64_t address = (uint64_t)(uintptr_t)ctx;

	if (address < mapping->start || address >= mapping->end)
		return 0;
	own = *mapping;
	return 1;
}

static struct symbolizer *with_file(const char *path)
{
	struct symbolizer *symbolizer = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || symbolizer__new(&symbolizer))
		return NULL;
	if (symbolizer__add_mapping(symbolizer, own.start, own.end, own.offset, path, fd)) {
		symbolizer__free(symbolizer);
		return NULL;
	}
	return symbolizer;
}

static int copy_prefix(const char *to, const char *from, size_t bytes)
{
	char command[16384];

	snprintf(command, sizeof(command), "head -c %zu %s > %s", bytes, from, to);
	return system(command);
}

static void whole_file(void)
{
	struct symbolizer *symbolizer = with_file(own.path);
	struct symbol symbol = {0};
	const char *slash;

	CHECK(symbolizer != NULL, "a symbolizer for the test itself");
	if (!symbolizer)
		return;
	calls();
	CHECK(symbolizer__lookup(symbolizer, return_address, 1, &symbol) == 0, "a call site is found");
	CHECK_STR(symbol.function, "calls", "the function of a call site");
	CHECK(symbol.line == (uint32_t)calls_line, "the line of a call site is the call's: %u, %d",
	      symbol.line, calls_line);
	slash = strrchr(symbol.file, '/');
	CHECK_STR(slash ? slash + 1 : symbol.file, "test_symbolize.c", "the file of a call site");
	CHECK(symbol.file[0] == '/', "the file's name is absolute");
	slash = strrchr(own.path, '/');
	CHECK_STR(symbol.module, slash + 1, "the module's base name");
	calls_inlined();
	CHECK(symbolizer__lookup(symbolizer, return_address, 1, &symbol) == 0,
	      "an inlined call site is found");
	CHECK(symbol.line == INLINED_LINE, "the line of an inlined call: %u, %d", symbol.line, INLINED_LINE);
	CHECK_STR(symbol.function, "inlined_part", "the function that contains the inlined call's line");
	CHECK(symbolizer__lookup(symbolizer, (uint64_t)(uintptr_t)outlined, 0, &symbol) == 0 &&
		      symbol.line > 0,
	      "a function's start is found");
	CHECK(symbolizer__lookup(symbolizer, own.end, 0, &symbol) == -ENOENT,
	      "an address behind the mapping");
	CHECK(symbolizer__lookup(symbolizer, 16, 1, &symbol) == -ENOENT, "an address in no mapping");
	symbolizer__free(symbolizer);
}

static void stripped(const char *directory)
{
	char path[256], command[16384];
	struct symbolizer *symbolizer;
	struct symbol whole = {0}, symbol = {0};

	symbolizer = with_file(own.path);
	calls();
	symbolizer__lookup(symbolizer, return_address, 1, &whole);
	symbolizer__free(symbolizer);

	snprintf(path, sizeof(path), "%s/no-debug", directory);
	snprintf(command, sizeof(command), "objcopy -g '%s' %s", own.path, path);
	CHECK(system(command) == 0, "objcopy -g");
	symbolizer = with_file(path);
	CHECK(symbolizer__lookup(symbolizer, (uint64_t)(uintptr_t)outlined, 0, &symbol) == 0 &&
		      symbol.line == 0 && !symbol.file[0],
	      "no line without debug information");
	CHECK_STR(symbol.function, "worker_body", "the outlined body is named as its function");
	symbolizer__free(symbolizer);

	snprintf(path, sizeof(path), "%s/stripped", directory);
	snprintf(command, sizeof(command),
		 "objcopy --only-keep-debug '%s' %s/apart.debug && objcopy --strip-all '%s' %s", own.path,
		 directory, own.path, path);
	CHECK(system(command) == 0, "objcopy --strip-all");
	symbolizer = with_file(path);
	CHECK(symbolizer__lookup(symbolizer, return_address, 1, &symbol) == 0, "a stripped file");
	CHECK(!symbol.function[0] && !symbol.line && !symbol.file[0], "a stripped file says nothing: %s:%u",
	      symbol.function, symbol.line);
	CHECK_STR(symbol.module, "stripped", "the stripped module's name");
	CHECK(symbol.module_offset == whole.module_offset && whole.module_offset != 0,
	      "the offset in a stripped module: 0x%" PRIx64, symbol.module_offset);
	symbolizer__free(symbolizer);

	snprintf(command, sizeof(command), "objcopy --add-gnu-debuglink=%s/apart.debug %s", directory, path);
	CHECK(system(command) == 0, "objcopy --add-gnu-debuglink");
	symbolizer = with_file(path);
	CHECK(symbolizer__lookup(symbolizer, return_address, 1, &symbol) == 0 && symbol.line == whole.line &&
		      !strcmp(symbol.function, "calls"),
	      "a separate debug file is used: %s:%u", symbol.function, symbol.line);
	symbolizer__free(symbolizer);
}

static void damaged(const char *directory)
{
	static const size_t lengths[] = {0, 3, 16, 63, 64, 65, 400, 4096, 20000, 60000, 100000, 200000};
	char path[256];
	int answered = 0;
	const int count = (int)(sizeof(lengths) / sizeof(lengths[0]));

	snprintf(path, sizeof(path), "%s/cut", directory);
	for (int i = 0; i < count; i++) {
		struct symbolizer *symbolizer;
		struct symbol symbol = {0};

		if (copy_prefix(path, own.path, lengths[i]) != 0)
			break;
		symbolizer = with_file(path);
		if (symbolizer && symbolizer__lookup(symbolizer, return_address, 1, &symbol) == 0 &&
		    !strcmp(symbol.module, "cut"))
			answered++;
		symbolizer__free(symbolizer);
	}
	CHECK(answered == count, "files cut short give module and offset: %d of %d", answered, count);
}

/* One damaged byte after the other, spread over the headers and the debug information. */
static void flipped(const char *directory)
{
	char path[256];
	struct stat st;
	uint8_t *bytes;
	int fd, answered = 0;

	snprintf(path, sizeof(path), "%s/flipped", directory);
	if (stat(own.path, &st) || copy_prefix(path, own.path, (size_t)st.st_size)) {
		CHECK(0, "copying the test");
		return;
	}
	fd = open(path, O_RDWR | O_CLOEXEC);
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(bytes != MAP_FAILED, "mapping the copy");
	if (bytes == MAP_FAILED)
		return;
	for (int i = 0; i < 200; i++) {
		size_t at = i < 64 ? (size_t)i : (size_t)st.st_size / 200 * (size_t)i;
		struct symbolizer *symbolizer;
		struct symbol symbol = {0};

		bytes[at] ^= 0x55;
		symbolizer = with_file(path);
		if (symbolizer && symbolizer__lookup(symbolizer, return_address, 1, &symbol) == 0)
			answered++;
		symbolizer__free(symbolizer);
		bytes[at] ^= 0x55;
	}
	munmap(bytes, (size_t)st.st_size);
	close(fd);
	CHECK(answered == 200, "files with a flipped byte never break it: %d of 200", answered);
}

static const char a_string[] = ";test_symbolize.c;strings;1;1;;";
static const char not_printable[] = "a\tb";
static char variable[] = "in the file";

static void strings(void)
{
	struct symbolizer *symbolizer = with_file(own.path);
	char text[64], small[8], heap[] = "not in the file";
	uint64_t at = (uint64_t)(uintptr_t)a_string;

	CHECK(symbolizer__string(symbolizer, at, text, sizeof(text)) == 0,
	      "a constant string is in the file");
	CHECK_STR(text, a_string, "the string");
	CHECK(symbolizer__string(symbolizer, at + 1, text, sizeof(text)) == 0, "its second character");
	CHECK_STR(text, a_string + 1, "the string from there");
	CHECK(symbolizer__string(symbolizer, at, small, sizeof(small)) == -ENOENT,
	      "a string longer than its room is none");
	CHECK(symbolizer__string(symbolizer, (uint64_t)(uintptr_t)not_printable, text, sizeof(text)) ==
		      -ENOENT,
	      "control characters are no string");
	variable[0] = 'I';
	CHECK(symbolizer__string(symbolizer, (uint64_t)(uintptr_t)variable, text, sizeof(text)) == 0,
	      "an initialised variable");
	CHECK_STR(text, "in the file", "as the file has it");
	CHECK(symbolizer__string(symbolizer, (uint64_t)(uintptr_t)heap, text, sizeof(text)) == -ENOENT &&
		      symbolizer__string(symbolizer, 0, text, sizeof(text)) == -ENOENT &&
		      symbolizer__string(symbolizer, UINT64_MAX, text, sizeof(text)) == -ENOENT,
	      "addresses outside of the files");
	symbolizer__free(symbolizer);
}

int main(void)
{
	char directory[] = "/tmp/graind-symbolize.XXXXXX", command[128];
	struct symbolizer *symbolizer;

	if (!mkdtemp(directory))
		return 1;
	process_maps__each(getpid(), take_own, (void *)(uintptr_t)calls);
	CHECK(own.inode != 0, "the test finds its own mapping");
	whole_file();
	strings();
	stripped(directory);
	damaged(directory);
	flipped(directory);
	CHECK(symbolizer__new(&symbolizer) == 0, "a symbolizer");
	CHECK(symbolizer__add_mapping(symbolizer, 16, 16, 0, "x", -1) == -EINVAL,
	      "an empty mapping is refused");
	CHECK(symbolizer__add_mapping(symbolizer, 4096, UINT64_MAX, UINT64_MAX, "x", -1) == -EINVAL,
	      "a mapping beyond the end of a file is refused");
	symbolizer__free(symbolizer);
	symbolizer__free(NULL);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command) != 0)
		return 1;
	CHECK_DONE();
}
