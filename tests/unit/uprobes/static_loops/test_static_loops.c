// SPDX-License-Identifier: BSD-2-Clause
/* Points at static loops of GCC for both processors at each level of optimization, none at what people write;
 * values; damaged files. */
#include "bpf/abi/loop_cookie.h"
#include "tests/unit/check.h"
#include "uprobes/code/code_arch.h"
#include "uprobes/elf/elf_image.h"
#include "uprobes/static_loops/loop_values.h"
#include "uprobes/static_loops/static_loops.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE "tests/data/static_loops.c"

static void check_values(void)
{
	struct values *v = values__new();
	uint32_t n, t, one, sum, product, other;
	int64_t constant;

	CHECK(v, "values");
	if (!v)
		return;
	n = values__atom(v, ATOM_THREADS, 0, 0, 0);
	t = values__atom(v, ATOM_THREAD, 0, 0, 0);
	one = values__constant(v, 1);
	CHECK(values__atom(v, ATOM_THREADS, 0, 0, 0) == n && n != t, "the same thing is the same value");
	sum = values__add(v, n, t, 1);
	CHECK(sum == values__add(v, t, n, 1), "n + t is t + n");
	product = values__multiply(v, sum, values__add(v, t, one, 1));
	other = values__add(v, values__multiply(v, n, t), n, 1);
	other = values__add(v, other, values__multiply(v, t, t), 1);
	other = values__add(v, other, t, 1);
	CHECK(product == other, "(n + t) * (t + 1) is n * t + n + t * t + t");
	CHECK(values__is_constant(v, values__add(v, sum, sum, -1), &constant) && constant == 0,
	      "a value less itself is 0");
	CHECK(values__add(v, values__constant(v, INT64_MAX), one, 1) == VALUE_NONE,
	      "a number that is too large");
	CHECK(values__multiply(v, VALUE_NONE, one) == VALUE_NONE, "unknown times one");
	other = product;
	for (int i = 0; i < 3; i++)
		other = values__multiply(v, other, sum);
	CHECK(other == VALUE_NONE, "products that are too large");
	values__clear(v);
	CHECK(values__is_constant(v, values__constant(v, 7), &constant) && constant == 7, "after clearing");
	values__free(v);
}

static size_t points_in(const struct probe_plan *plan, const struct elf_function *f)
{
	size_t count = 0;

	for (size_t i = 0; i < probe_plan__count(plan); i++) {
		const struct probe_point *p = probe_plan__point(plan, i);

		count += p->address >= f->address && p->address < f->address + f->size &&
			 LOOP_COOKIE_POINT(p->entry_cookie) != LOOP_POINT_END;
	}
	return count;
}

/* Whether the instruction is between an exclusive load and its store, of aarch64: a trap there lets that
 * fail. */
static bool is_in_sequence(const struct elf_image *image, uint64_t address)
{
	for (uint64_t at = address - 4; at > address - 64; at -= 4) {
		const uint8_t *bytes = elf_image__bytes(image, at, 4);
		uint32_t word = 0;

		if (!bytes)
			break;
		memcpy(&word, bytes, sizeof(word));
		if ((word & 0x3fc00000) == 0x08000000)
			return false;
		if ((word & 0x3fc00000) == 0x08400000)
			return true;
	}
	return false;
}

/* Loops over numbers of 8 and 16 bits. */
static bool is_narrow(const char *name)
{
	return strstr(name, "_short") || strstr(name, "_byte");
}

/* `chunks`: how many of the functions with schedule(static, k) have to be understood. */
static void check_plan(const struct probe_plan *plan, const struct elf_image *image, const char *how,
		       size_t chunks)
{
	size_t blocks = 0, blocks_found = 0, chunks_found = 0, by_hand = 0, by_hand_found = 0, stepped = 0,
	       narrow = 0, in_sequence = 0;

	for (size_t i = 0; i < elf_image__function_count(image); i++) {
		const struct elf_function *f = elf_image__function(image, i);
		size_t points = points_in(plan, f);

		if (is_narrow(f->name) && elf_image__machine(image) == EM_AARCH64) {
			narrow += points > 0; /* not understood, see the room's README */
		} else if (!strncmp(f->name, "block_", 6)) {
			blocks++;
			blocks_found += points > 0;
			if (!points)
				printf("# %s: nothing in %s\n", how, f->name);
		} else if (!strncmp(f->name, "chunked_", 8)) {
			chunks_found += points > 0;
			if (!points)
				printf("# %s: nothing in %s\n", how, f->name);
		} else {
			by_hand++;
			by_hand_found += points > 0;
			if (points)
				printf("# %s: %zu points in %s\n", how, points, f->name);
		}
	}
	for (size_t i = 0; i < probe_plan__count(plan); i++)
		stepped += probe_plan__point(plan, i)->cost != PROBE_EMULATED &&
			   LOOP_COOKIE_POINT(probe_plan__point(plan, i)->entry_cookie) != LOOP_POINT_END;
	for (size_t i = 0; i < probe_plan__count(plan) && elf_image__machine(image) == EM_AARCH64; i++)
		in_sequence += is_in_sequence(image, probe_plan__point(plan, i)->address);
	CHECK(blocks && blocks_found == blocks, "schedule(static) in %zu functions, %s", blocks, how);
	CHECK(chunks_found >= chunks, "schedule(static, k) in %zu functions, %s", chunks_found, how);
	CHECK(!narrow, "nothing is guessed of narrow numbers, %s", how);
	CHECK(by_hand && !by_hand_found, "%zu functions by hand, %s", by_hand, how);
	CHECK(!in_sequence, "no point is in an exclusive sequence, %s", how);
	CHECK(!stepped, "shares are read at jumps, %s", how);
}

/* Bytes of the code are changed: whatever is found lies in code, and nothing else happens. */
static void check_damaged(int fd, const struct elf_image *image)
{
	uint64_t text, outside = 0;
	size_t size, plans = 0;
	struct stat file;
	uint8_t *copy;

	elf_image__text(image, &text, &size);
	if (fstat(fd, &file) || (copy = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
					     fd, 0)) == MAP_FAILED)
		return;
	srand(1);
	for (int round = 0; round < 60; round++) {
		int to = memfd_create("damaged", MFD_CLOEXEC);
		struct uprobes_error err = {""};
		struct probe_plan *plan = NULL;

		for (int k = 0; k < 40; k++)
			copy[elf_image__file_offset(image, text + (uint64_t)rand() % size)] = (uint8_t)rand();
		if (to >= 0 && write(to, copy, (size_t)file.st_size) == file.st_size &&
		    static_loops__plan_foreign(to, "damaged", &plan, &err) == 0)
			plans++;
		for (size_t i = 0; plan && i < probe_plan__count(plan); i++)
			outside += probe_plan__point(plan, i)->offset >= (uint64_t)file.st_size;
		probe_plan__free(plan);
		if (to >= 0)
			close(to);
	}
	CHECK(!outside, "points in %zu plans of damaged files are in the file", plans);
	munmap(copy, (size_t)file.st_size);
}

struct compiled {
	const char *options;
	size_t chunks; /* how many of the functions with schedule(static, k) have to be understood */
	bool damaged;
};

static void check_compiled(const char *compiler, const struct compiled *c)
{
	char name[] = "/tmp/graind-static-XXXXXX", command[512], how[256];
	struct uprobes_error err = {""};
	struct elf_image *image = NULL;
	struct probe_plan *plan = NULL, *none = NULL;
	int fd = mkstemp(name), r;

	snprintf(how, sizeof(how), "%s %s", compiler, c->options);
	snprintf(command, sizeof(command), "%s -std=gnu11 -fopenmp -shared -fPIC -nostdlib -o %s %s", how,
		 name, SOURCE);
	r = fd < 0 ? -1 : system(command);
	CHECK(r == 0, "%s", command);
	if (fd >= 0)
		close(fd);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (r == 0 &&
	    (elf_image__open(name, &image, &err) || static_loops__plan_foreign(fd, name, &plan, &err)))
		CHECK(0, "%s", err.text);
	if (image && elf_image__machine(image) != code_arch__native()->machine)
		CHECK(static_loops__plan_fd(fd, name, &none, &err) == -ENOEXEC,
		      "what is planned to be attached is of this machine, %s", how);
	if (plan)
		check_plan(plan, image, how, c->chunks);
	if (plan && c->damaged)
		check_damaged(fd, image);
	probe_plan__free(plan);
	elf_image__close(image);
	if (fd >= 0)
		close(fd);
	unlink(name);
}

/* 60,000 operations, each of the result of the one before, and an access to where that points. */
#define DEEP                                                                                                 \
	"int omp_get_num_threads(void); long deep(long a) { a += omp_get_num_threads();"                     \
	" __asm__ volatile(\".rept 60000\\n xor $1, %0\\n.endr\\n mov (%0), %0\" : \"+r\"(a)); return a; }"

static void *plan_deep(void *file)
{
	struct uprobes_error err = {""};
	struct probe_plan *plan = NULL;
	int r = static_loops__plan_foreign(*(int *)file, "deep", &plan, &err);

	probe_plan__free(plan);
	*(int *)file = r;
	return NULL;
}

/* The stack that planning needs does not depend on the program. */
static void check_deep(const char *compiler)
{
	char name[] = "/tmp/graind-static-XXXXXX", command[256];
	int fd = mkstemp(name), r = -1;
	pthread_attr_t attributes;
	pthread_t thread;
	FILE *source;

	snprintf(command, sizeof(command), "%s -O1 -shared -fPIC -nostdlib -x c -o %s -", compiler, name);
	source = fd < 0 ? NULL : popen(command, "w");
	if (source) {
		fputs(DEEP, source);
		r = pclose(source);
		close(fd);
		fd = open(name, O_RDONLY | O_CLOEXEC);
	}
	if (r == 0) {
		r = fd;
		pthread_attr_init(&attributes);
		pthread_attr_setstacksize(&attributes, 256 << 10);
		if (pthread_create(&thread, &attributes, plan_deep, &r) == 0)
			pthread_join(thread, NULL);
		pthread_attr_destroy(&attributes);
	}
	CHECK(r == -ENOENT, "operations on operations are followed with a small stack");
	if (fd >= 0)
		close(fd);
	unlink(name);
}

/* For one processor, which may be another than this one. */
static void check_processor(const char *compiler, const struct compiled *list, size_t count)
{
	char command[128];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", compiler);
	if (system(command)) {
		printf("skip - static loops for another processor: %s is not installed\n", compiler);
		return;
	}
	for (size_t i = 0; i < count; i++)
		check_compiled(compiler, &list[i]);
	if (!strncmp(compiler, "x86_64", 6))
		check_deep(compiler);
}

static void check_others(void)
{
	struct uprobes_error err = {""};
	struct probe_plan *plan = NULL;
	int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);

	CHECK(static_loops__plan_fd(fd, "true", &plan, &err) == -ENOENT && err.text[0],
	      "a program without such loops");
	close(fd);
	fd = open(SOURCE, O_RDONLY | O_CLOEXEC);
	CHECK(static_loops__plan_fd(fd, "text", &plan, &err) == -ENOEXEC, "a file that is no program");
	close(fd);
}

int main(void)
{
	static const struct compiled x86_64[] = {{"-O0", 12, false},
						 {"-O1", 12, false},
						 {"-Os", 12, false},
						 {"-O2", 12, true},
						 {"-O3", 12, false},
						 {"-O2 -fno-plt", 12, false},
						 {"-O2 -fcf-protection -g", 12, false},
						 {"-O3 -mavx2", 12, false}},
				     aarch64[] = {{"-O0", 12, false},
						  {"-O1", 12, false},
						  {"-Os", 12, false},
						  {"-O2", 12, true},
						  {"-O3", 12, false},
						  {"-O2 -fno-plt", 12, false},
						  {"-O2 -mbranch-protection=standard -g", 12, false},
						  {"-O2 -mcpu=cortex-a53", 12, false},
						  {"-O2 -mno-outline-atomics", 12, false},
						  {"-O3 -march=armv8.2-a+sve", 12, false}};

	check_values();
	check_processor("x86_64-linux-gnu-gcc", x86_64, sizeof(x86_64) / sizeof(x86_64[0]));
	check_processor("aarch64-linux-gnu-gcc", aarch64, sizeof(aarch64) / sizeof(aarch64[0]));
	check_others();
	CHECK_DONE();
}
