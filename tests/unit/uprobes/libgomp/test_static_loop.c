// SPDX-License-Identifier: BSD-2-Clause
/* Static loops of GCC told from other calls of omp_get_num_threads, at each level of optimization. */
#include "tests/unit/check.h"
#include "uprobes/code/code.h"
#include "uprobes/symbolize/static_loop.h"

#include <stdlib.h>
#include <unistd.h>

#define SOURCE "tests/data/static_loops.c"

static const struct elf_function *function_at(const struct elf_image *image, uint64_t address)
{
	for (size_t i = 0; i < elf_image__function_count(image); i++) {
		const struct elf_function *f = elf_image__function(image, i);

		if (address >= f->address && address < f->address + f->size)
			return f;
	}
	return NULL;
}

static enum static_loop expected(const char *function)
{
	return strncmp(function, "block_", 6) == 0     ? STATIC_LOOP_BLOCK
	       : strncmp(function, "chunked_", 8) == 0 ? STATIC_LOOP_CHUNKED
						       : STATIC_LOOP_NONE;
}

static const char *name_of(enum static_loop kind)
{
	return kind == STATIC_LOOP_BLOCK     ? "a block"
	       : kind == STATIC_LOOP_CHUNKED ? "chunks"
					     : "no static loop";
}

/* The imported function that is called, through the PLT or, with -fno-plt, the GOT. */
static const char *callee_of(const struct code *code, const struct code_insn *call)
{
	if (call->flow != FLOW_CALL)
		return NULL;
	return call->target ? code__plt_name(code, call->target) : code__got_name(code, call);
}

/* Returns how many calls were looked at. */
static size_t check_image(const struct elf_image *image, const struct code *code, const char *options)
{
	uint64_t text;
	size_t size, calls = 0, wrong = 0, second_wrong = 0;
	const uint8_t *bytes = elf_image__text(image, &text, &size);

	for (size_t i = 0; i + 1 < code__count(code); i++) {
		const struct code_insn *call = code__at(code, i);
		const char *callee = callee_of(code, call);
		uint64_t after = call->address + call->size, second;
		const struct elf_function *f;
		enum static_loop found, alone;
		size_t before;

		if (!callee || strcmp(callee, "omp_get_num_threads") != 0 ||
		    !(f = function_at(image, call->address)))
			continue;
		calls++;
		found = static_loop__at(bytes + (f->address - text), f->size, f->address, after);
		alone = static_loop__at(bytes, size, text, after);
		if (found != expected(f->name) || alone != found) {
			printf("# %s, %s: %s\n", options, f->name, name_of(found));
			wrong++;
		}
		second = static_loop__second_call(bytes + (f->address - text), f->size, f->address, after);
		if (!second != (found == STATIC_LOOP_NONE))
			second_wrong++;
		for (before = i + 1; second && before + 1 < code__count(code); before++)
			if (code__at(code, before + 1)->address == second)
				break;
		if (second && (!(callee = callee_of(code, code__at(code, before))) ||
			       strcmp(callee, "omp_get_thread_num") != 0))
			second_wrong++;
	}
	CHECK(wrong == 0, "%zu calls of omp_get_num_threads, gcc %s", calls, options);
	CHECK(second_wrong == 0, "where they ask for the thread's number, gcc %s", options);
	return calls;
}

static void check_compiled(const char *options)
{
	char name[] = "/tmp/graind-static-XXXXXX", command[512];
	struct uprobes_error err = {""};
	struct elf_image *image = NULL;
	struct code *code = NULL;
	int fd = mkstemp(name), r;

	snprintf(command, sizeof(command), "gcc %s -std=gnu11 -fopenmp -shared -fPIC -o %s %s", options, name,
		 SOURCE);
	r = fd < 0 ? -1 : system(command);
	CHECK(r == 0, "%s", command);
	if (r == 0 && (elf_image__open(name, &image, &err) || code__load(image, &code, &err)))
		CHECK(0, "%s", err.text);
	if (code)
		CHECK(check_image(image, code, options) == 43, "all calls are looked at, gcc %s", options);
	code__free(code);
	elf_image__close(image);
	if (fd >= 0)
		close(fd);
	unlink(name);
}

/*
 * Code that is cut off anywhere, and addresses outside it: there is no answer, and nothing is read beyond the
 * end.
 */
static void check_cut(void)
{
	static const uint8_t bytes[] = {0x41, 0x89, 0xc5, 0xe8, 0, 0, 0, 0, 0x89, 0xc3};
	size_t answers = 0;

	for (size_t size = 0; size <= sizeof(bytes); size++) {
		uint8_t *copy = malloc(size ? size : 1);

		if (!copy)
			return;
		memcpy(copy, bytes, size);
		for (uint64_t at = 0; at < 16; at++)
			answers += static_loop__at(copy, size, 4096, 4090 + at) != STATIC_LOOP_NONE;
		free(copy);
	}
	CHECK(answers == 0, "code that is cut off says nothing");
}

int main(void)
{
	static const char *const options[] = {
		"-O0", "-O1", "-Os", "-O2", "-O3", "-O2 -fno-plt", "-O2 -fcf-protection -g", "-O3 -mavx2"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		check_compiled(options[i]);
	check_cut();
	CHECK_DONE();
}
