// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plans as text, for the worker that makes them and the cache that keeps them:
 *
 *   graind-plan 3
 *   runtime R
 *   bodies B                                    (if the programs' own have to be probed)
 *   shadow-stack 1                              (if the file is marked so)
 *   build-id HEX OFFSET
 *   missing NAME                                (any number)
 *   point OFFSET ADDRESS ENTRY RETURN COST CALL BYTES EVENT FUNCTION INSTRUCTION READS
 *   end
 *
 * Words are separated by tabs, numbers are hexadecimal. Text that is read is never trusted.
 */
#include "uprobes/plan/plan_data.h"

#include "bpf/abi/loop_cookie.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LINE "graind-plan 3"
#define MAX_SEGMENTS 256
#define POINT_FIELDS 11

struct probe_plan *probe_plan__new(const char *path)
{
	struct probe_plan *plan = calloc(1, sizeof(*plan));

	if (plan && !(plan->path = strdup(path))) {
		probe_plan__free(plan);
		plan = NULL;
	}
	return plan;
}

struct probe_point *probe_plan__next(struct probe_plan *plan)
{
	size_t most = plan->runtime >= RUNTIME_PROGRAM ? PLAN_MAX_BODIES : PLAN_MAX_POINTS;
	struct probe_point *points;

	if (plan->count == most)
		return NULL;
	if (plan->count == plan->room) {
		size_t room = plan->room ? 2 * plan->room : 64;

		points = reallocarray(plan->points, room, sizeof(*points));
		if (!points)
			return NULL;
		plan->points = points;
		plan->room = room;
	}
	return &plan->points[plan->count];
}

bool probe_plan__may_have_shadow_stack(const struct probe_plan *plan)
{
	return plan->shadow_stack;
}

bool probe_plan__needs_bodies(const struct probe_plan *plan)
{
	return plan->bodies != 0;
}

void probe_plan__free(struct probe_plan *plan)
{
	if (!plan)
		return;
	if (plan->free_names)
		plan->free_names(plan->names);
	free(plan->text);
	free(plan->path);
	free(plan->points);
	free(plan);
}

const char *probe_plan__path(const struct probe_plan *plan)
{
	return plan->path;
}

enum probe_runtime probe_plan__runtime(const struct probe_plan *plan)
{
	return plan->runtime;
}

const char *probe_runtime__name(enum probe_runtime runtime)
{
	static const char *const names[] = {[RUNTIME_LIBGOMP] = "libgomp",
					    [RUNTIME_LIBOMP] = "libomp",
					    [RUNTIME_PROGRAM] = "program",
					    [RUNTIME_LOOPS] = "static loops"};

	return names[runtime];
}

const char *probe_plan__build_id(const struct probe_plan *plan)
{
	return plan->build_id;
}

size_t probe_plan__count(const struct probe_plan *plan)
{
	return plan->count;
}

const struct probe_point *probe_plan__point(const struct probe_plan *plan, size_t index)
{
	return &plan->points[index];
}

const char *probe_plan__missing(const struct probe_plan *plan, size_t index)
{
	return index < plan->missing_count ? plan->missing[index] : NULL;
}

/* Names come from the file. Characters that would break a line or a terminal are removed. */
static void write_word(FILE *out, const char *word, char end)
{
	for (; *word; word++)
		fputc((unsigned char)*word < 0x20 || (unsigned char)*word >= 0x7f ? '?' : *word, out);
	fputc(end, out);
}

int probe_plan__write(const struct probe_plan *plan, FILE *out)
{
	fprintf(out, FIRST_LINE "\nruntime\t%d\nbuild-id\t%s\t%" PRIx64 "\n", (int)plan->runtime,
		plan->build_id, plan->build_id_at);
	if (plan->bodies)
		fprintf(out, "bodies\t%x\n", plan->bodies);
	if (plan->shadow_stack)
		fputs("shadow-stack\t1\n", out);
	for (size_t i = 0; i < plan->missing_count; i++) {
		fputs("missing\t", out);
		write_word(out, plan->missing[i], '\n');
	}
	for (size_t i = 0; i < plan->count; i++) {
		const struct probe_point *p = &plan->points[i];

		fprintf(out, "point\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\t%x\t%x\t", p->offset,
			p->address, p->entry_cookie, p->return_cookie, (unsigned int)p->cost,
			(unsigned int)p->call);
		for (size_t k = 0; k < p->byte_count; k++)
			fprintf(out, "%02x", p->bytes[k]);
		fputc('\t', out);
		write_word(out, p->event ? p->event : "-", '\t');
		write_word(out, p->function ? p->function : "-", '\t');
		write_word(out, p->instruction, '\t');
		write_word(out, p->reads, '\n');
	}
	fputs("end\n", out);
	return ferror(out) ? -EIO : 0;
}

static bool parse_hex(const char *text, uint64_t *out)
{
	char *end;

	if (!*text || strlen(text) > 16 || strspn(text, "0123456789abcdef") != strlen(text))
		return false;
	*out = strtoull(text, &end, 16);
	return !*end;
}

static bool parse_bytes(const char *text, struct probe_point *point)
{
	size_t length = strlen(text);

	if (!length || length % 2 || length > 2 * PROBE_BYTES || strspn(text, "0123456789abcdef") != length)
		return false;
	point->byte_count = (uint8_t)(length / 2);
	for (size_t i = 0; i < point->byte_count; i++)
		sscanf(text + 2 * i, "%2hhx", &point->bytes[i]);
	return true;
}

static bool copy_word(char *out, size_t size, const char *word)
{
	if (strlen(word) >= size)
		return false;
	strcpy(out, word);
	return true;
}

static bool may_be_cookies(const struct probe_plan *plan, const struct probe_point *point)
{
	if (plan->runtime == RUNTIME_LOOPS)
		return (LOOP_COOKIE_POINT(point->entry_cookie) != LOOP_POINT_ENTER ||
			LOOP_COOKIE_SHARE(point->entry_cookie)) &&
		       !point->return_cookie;
	return COOKIE_KIND(point->entry_cookie) < RING_KIND_MAX &&
	       COOKIE_KIND(point->return_cookie) < RING_KIND_MAX &&
	       (point->entry_cookie || point->return_cookie);
}

static bool parse_point(struct probe_plan *plan, char *rest)
{
	struct probe_point *point = probe_plan__next(plan);
	char *fields[POINT_FIELDS];
	uint64_t cost, call;

	for (size_t i = 0; i < POINT_FIELDS; i++) {
		fields[i] = strsep(&rest, "\t");
		if (!fields[i])
			return false;
	}
	if (rest || !point || !parse_hex(fields[0], &point->offset) ||
	    !parse_hex(fields[1], &point->address) || !parse_hex(fields[2], &point->entry_cookie) ||
	    !parse_hex(fields[3], &point->return_cookie) || !parse_hex(fields[4], &cost) ||
	    cost > PROBE_SINGLE_STEPPED || !parse_hex(fields[5], &call) || call > 1 ||
	    !parse_bytes(fields[6], point) || !may_be_cookies(plan, point) ||
	    !copy_word(point->instruction, sizeof(point->instruction), fields[9]) ||
	    !copy_word(point->reads, sizeof(point->reads), fields[10]))
		return false;
	point->cost = (enum probe_cost)cost;
	point->call = call;
	point->event = fields[7];
	point->function = fields[8];
	plan->count++;
	return true;
}

static bool parse_build_id(struct probe_plan *plan, char *rest)
{
	const char *id = strsep(&rest, "\t");

	return rest && strlen(id) % 2 == 0 && strspn(id, "0123456789abcdef") == strlen(id) &&
	       copy_word(plan->build_id, sizeof(plan->build_id), id) && parse_hex(rest, &plan->build_id_at);
}

/* Parses the lines after the first. True: the last line was there. */
static bool parse_lines(struct probe_plan *plan, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *key = strsep(&line, "\t");
		uint64_t number;

		if (!line)
			return !strcmp(key, "end") && text && !*text;
		if (!strcmp(key, "runtime")) {
			if (!parse_hex(line, &number) || number > RUNTIME_LOOPS)
				return false;
			plan->runtime = (enum probe_runtime)number;
		} else if (!strcmp(key, "bodies")) {
			if (!parse_hex(line, &number) || number > (PLAN_BODIES_TASKS | PLAN_BODIES_MEMBERS))
				return false;
			plan->bodies = (unsigned int)number;
		} else if (!strcmp(key, "shadow-stack")) {
			if (strcmp(line, "1"))
				return false;
			plan->shadow_stack = true;
		} else if (!strcmp(key, "build-id")) {
			if (!parse_build_id(plan, line))
				return false;
		} else if (!strcmp(key, "missing")) {
			if (plan->missing_count == PLAN_MAX_MISSING)
				return false;
			plan->missing[plan->missing_count++] = line;
		} else if (strcmp(key, "point") || !parse_point(plan, line)) {
			return false;
		}
	}
	return false;
}

int probe_plan__read(const char *path, const char *text, struct probe_plan **out)
{
	struct probe_plan *plan = probe_plan__new(path);
	char *rest, *first;

	if (!plan || !(plan->text = strdup(text))) {
		probe_plan__free(plan);
		return -ENOMEM;
	}
	rest = plan->text;
	first = strsep(&rest, "\n");
	if (!rest || strcmp(first, FIRST_LINE) || !parse_lines(plan, rest)) {
		probe_plan__free(plan);
		return -EBADMSG;
	}
	*out = plan;
	return 0;
}

static bool inside(const Elf64_Phdr *segments, size_t count, uint64_t offset)
{
	for (size_t i = 0; i < count; i++) {
		if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X &&
		    offset >= segments[i].p_offset && offset - segments[i].p_offset < segments[i].p_filesz)
			return true;
	}
	return false;
}

/* Reads all `size` bytes. -EBADMSG: the file has fewer. */
static int read_at(int fd, void *out, size_t size, uint64_t offset)
{
	ssize_t got;

	do
		got = pread(fd, out, size, (off_t)offset);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got == (ssize_t)size ? 0 : -EBADMSG;
}

/* A file without a build-id is compared only by its points. */
static int check_build_id(const struct probe_plan *plan, int fd)
{
	size_t length = strlen(plan->build_id) / 2;
	uint8_t found[sizeof(plan->build_id) / 2];
	char text[sizeof(plan->build_id)] = "";
	int error = length ? read_at(fd, found, length, plan->build_id_at) : 0;

	for (size_t i = 0; !error && i < length; i++)
		snprintf(text + 2 * i, 3, "%02x", found[i]);
	return error == -EBADMSG || (!error && strcmp(text, plan->build_id) != 0) ? -ESTALE : error;
}

int probe_plan__check(const struct probe_plan *plan, int fd)
{
	Elf64_Phdr segments[MAX_SEGMENTS];
	Elf64_Ehdr header;
	int error = read_at(fd, &header, sizeof(header), 0);

	if (!error && (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
		       header.e_phentsize != sizeof(segments[0]) || header.e_phnum > MAX_SEGMENTS))
		error = -EBADMSG;
	if (!error)
		error = read_at(fd, segments, header.e_phnum * sizeof(segments[0]), header.e_phoff);
	if (!error)
		error = check_build_id(plan, fd);
	for (size_t i = 0; !error && i < plan->count; i++) {
		const struct probe_point *point = &plan->points[i];
		uint8_t bytes[PROBE_BYTES];

		if (!inside(segments, header.e_phnum, point->offset))
			return -EBADMSG;
		error = read_at(fd, bytes, point->byte_count, point->offset);
		if (error == -EBADMSG || (!error && memcmp(bytes, point->bytes, point->byte_count)))
			error = -ESTALE;
	}
	return error;
}
