// SPDX-License-Identifier: BSD-2-Clause
/* Frames of this very process, from the innermost to its start, against what the compiler's runtime finds. */
#include "daemon/grainctl/inject/inject_unwind.h"
#include "tests/unit/check.h"

#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)

#define DEPTH_MAX 300
#define STACK_MAX (1u << 20)
#define OBJECTS_MAX 64

static struct inject_object objects[OBJECTS_MAX];
static struct inject_target target = {.objects = objects};
static uint64_t stack[STACK_MAX / sizeof(uint64_t)], found[DEPTH_MAX];
static void *expected[DEPTH_MAX];
static int expected_count, found_count, last_step;
static uint64_t stack_end;

static int add(struct dl_phdr_info *info, size_t size, void *unused)
{
	uint64_t frames = 0;

	(void)size, (void)unused;
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			frames = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	for (size_t i = 0; i < info->dlpi_phnum && frames && target.object_count < OBJECTS_MAX; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t from = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && header->p_flags & PF_X)
			objects[target.object_count++] =
				(struct inject_object){from, from + header->p_memsz, frames};
	}
	return 0;
}

/* The registers here, and a copy of the stack: what is unwound is not what runs meanwhile. */
static __attribute__((noinline)) void look(void)
{
	static struct inject_unwind unwind;
	uint64_t *r = unwind.registers;
	int step;

	unwind = (struct inject_unwind){.target = &target, .words = stack};
	expected_count = backtrace(expected, DEPTH_MAX);
	__asm__ volatile("movq %%rbx, 24(%0)\n"
			 "movq %%rbp, 48(%0)\n"
			 "movq %%rsp, 56(%0)\n"
			 "movq %%r12, 96(%0)\n"
			 "movq %%r13, 104(%0)\n"
			 "movq %%r14, 112(%0)\n"
			 "movq %%r15, 120(%0)\n"
			 "leaq 1f(%%rip), %%rax\n"
			 "1: movq %%rax, 128(%0)\n"
			 :
			 : "r"(r)
			 : "rax", "memory");
	unwind.from = r[INJECT_CFI_SP] & ~7ull;
	unwind.to = stack_end - unwind.from < sizeof(stack) ? stack_end : unwind.from + sizeof(stack);
	last_step = -EFAULT;
	if (!process_memory__read(target.pid, unwind.from, stack, unwind.to - unwind.from))
		return;
	for (found_count = 0; found_count < DEPTH_MAX && (step = inject_unwind__step(&unwind)) > 0;)
		found[found_count++] = r[INJECT_CFI_RETURN];
	last_step = step;
}

static void compare(const char *what)
{
	int first = 0, wrong = 0;

	/* backtrace() begins with addresses in what calls it. */
	while (first < expected_count && found[0] != (uint64_t)(uintptr_t)expected[first])
		first++;
	for (int i = 0; i < found_count && first + i < expected_count; i++)
		wrong += found[i] != (uint64_t)(uintptr_t)expected[first + i];
	CHECK(last_step == 0, "%s: its start is found", what);
	CHECK(found_count > 2 && found_count == expected_count - first && !wrong,
	      "%s: %d frames, as they are", what, found_count);
}

static int through_libc(const void *a, const void *b)
{
	static int calls;

	if (!calls++)
		look();
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static __attribute__((noinline)) long deep(int depth, long of)
{
	volatile long kept = of;

	if (depth)
		kept += deep(depth - 1, of + 1);
	else
		look();
	return kept + depth;
}

/* The frame of this function is at a multiple of 64. The unwind table can say that only by expressions. */
static __attribute__((noinline)) void aligned(int count)
{
	char room[64] __attribute__((aligned(64)));
	char any[count];

	memset(any, 1, (size_t)count);
	memcpy(room, any, (size_t)(count < 64 ? count : 64));
	look();
	__asm__ volatile("" : : "r"(room), "r"(any) : "memory");
}

static void *on_thread(void *unused)
{
	pthread_attr_t attributes;
	size_t size;
	void *start;

	(void)unused;
	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return NULL;
	pthread_attr_getstack(&attributes, &start, &size);
	pthread_attr_destroy(&attributes);
	stack_end = (uint64_t)(uintptr_t)start + size;
	deep(3, 0);
	return NULL;
}

static void test_frames(void)
{
	int numbers[] = {3, 1, 2};
	pthread_t thread;

	look();
	compare("main");
	deep(200, 0);
	compare("recursion");
	aligned(40);
	compare("an aligned frame");
	qsort(numbers, 3, sizeof(numbers[0]), through_libc);
	compare("a function that libc calls");
	if (pthread_create(&thread, NULL, on_thread, NULL) == 0)
		pthread_join(thread, NULL);
	compare("a thread");
}

/* Tables of which nothing is as it should be are refused; nothing is read outside of them. */
static void test_damaged(void)
{
	static unsigned char table[8192];
	struct inject_cfi_row row;
	unsigned state = 1;
	int refused = 0;

	for (int round = 0; round < 20000; round++) {
		uint64_t at = (uint64_t)(uintptr_t)table;
		const int32_t pair[2] = {64, 512}; /* of a function: its begin, its entry */
		const uint32_t count = 1, length = 64, to_common = 516 - 256, range = 4096;

		for (size_t i = 0; i < 1024; i++) {
			state = state * 1103515245 + 12345;
			table[i] = (unsigned char)(state >> 16);
		}
		memcpy(table, "\1\x1b\3\x3b", 4);
		memcpy(table + 8, &count, 4);
		memcpy(table + 12, pair, 8);
		/* Of every other one the instructions alone are wild. */
		if (round & 1) {
			memcpy(table + 256, &length, 4);
			memcpy(table + 260, "\0\0\0\0\1zR\0\1\x78\x10\1\x1b", 13);
			memcpy(table + 512, &length, 4);
			memcpy(table + 516, &to_common, 4);
			memcpy(table + 524, &range, 4);
			table[528] = 0;
		}
		refused += inject_cfi__row(target.pid, at, at + 100, &row) != 0;
	}
	CHECK(refused > 10000 && refused < 20000, "damaged tables: %d of 20000 refused", refused);
	CHECK(inject_cfi__row(target.pid, 8, 100, &row) == -EFAULT, "a table that is not there");
}

int main(void)
{
	const char *line;
	char text[512];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && (line = fgets(text, sizeof(text), maps)))
		if (strstr(line, "[stack]"))
			stack_end = strtoull(strchr(line, '-') + 1, NULL, 16);
	if (maps)
		fclose(maps);
	target.pid = getpid();
	dl_iterate_phdr(add, NULL);
	test_frames();
	test_damaged();
	CHECK_DONE();
}

#else

int main(void)
{
	printf("skip - test_inject_unwind: attach --fast is for x86-64\n");
	return 0;
}

#endif
