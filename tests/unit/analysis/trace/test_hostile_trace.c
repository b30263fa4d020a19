/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces that break every rule. What is wrong with the file is an error that
 * names the offset; what is wrong with the events in it, which a capture may
 * miss, is counted. Bounded time and memory whatever the file says.
 */
#include "daemon/common/trace/trace_writer.h"
#include "tests/unit/graph_text.h"
#include "tests/unit/hostile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <zlib.h>

#define E(t, thread, name, sp, ...)                                                                          \
	{                                                                                                    \
		.time_ns = t, .tid = thread, .kind = TRACE_##name, .frame = sp, ##__VA_ARGS__                \
	}
/* A region of one thread; before it what is sound, a task that runs 10 ns. */
#define OPEN                                                                                                 \
	E(1, 1, REGION_BEGIN, 20000), E(2, 1, TEAM_START, 19000, .key = 5, .arg = 1),                        \
		E(3, 1, TEAM_STARTED, 19008), E(4, 1, TASK_CREATE, 18000, .key = 100),                       \
		E(5, 1, TASK_CREATE_END, 18008), E(6, 1, TASK_BEGIN, 18000, .key = 100),                     \
		E(16, 1, TASK_END, 18000)

static struct trace_writer *create(void)
{
	struct trace_writer *w = NULL;

	unlink(path);
	if (trace_writer__create(AT_FDCWD, path, NULL, &w))
		exit(1);
	trace_writer__text(w, "@capture source=uprobes late=0");
	return w;
}

static void add(struct trace_writer *w, const struct trace_event *events, size_t count)
{
	if (trace_writer__events(w, events, count))
		exit(1);
}

static bool has_sound_task(const struct grain_graph *g)
{
	uint32_t task = context_named(g, "0.p0.0.0");
	struct grain_context c = {0};

	if (task != GRAIN_NONE)
		grain_graph__context(g, task, &c);
	return c.exec_ns == 10;
}

#define MANY 8
/* Events that contradict what is open: counted, and the sound task stays. */
static const struct {
	const char *name;
	struct trace_event events[MANY];
	bool begins, ends; /* counted as unmatched */
} contradictions[] = {
	{"a task ends that has not begun", {E(20, 1, TASK_END, 17000)}, false, true},
	{"a task begins that nobody created",
	 {E(20, 1, TASK_BEGIN, 17000, .key = 9), E(21, 1, TASK_END, 17000)},
	 true,
	 false},
	{"a task begins twice",
	 {E(20, 1, TASK_CREATE, 17000, .key = 9), E(21, 1, TASK_CREATE_END, 17008),
	  E(22, 1, TASK_BEGIN, 17000, .key = 9), E(23, 1, TASK_BEGIN, 16000, .key = 9),
	  E(24, 1, TASK_END, 16000), E(25, 1, TASK_END, 17000)},
	 true,
	 false},
	{"the key of 2^64 - 1",
	 {E(20, 1, TASK_BEGIN, 17000, .key = UINT64_MAX), E(21, 1, TASK_END, 17000)},
	 true,
	 false},
	{"a creation ends that has not begun", {E(20, 1, TASK_CREATE_END, 17000)}, false, true},
	{"a wait ends that has not begun",
	 {E(20, 1, WAIT_END, 17000, .arg = TRACE_WAIT_TASKWAIT)},
	 false,
	 true},
	{"a wait of no kind", {E(20, 1, WAIT_BEGIN, 17000, .arg = UINT32_MAX)}, false, true},
	{"a region ends that has not begun", {E(20, 2, REGION_END, 17000)}, false, true},
	{"dependences outside of a creation",
	 {E(20, 1, DEPEND, 17000, .key = 1, .arg = TRACE_DEPEND_IN)},
	 false,
	 true},
	{"dependences of a task that has begun elsewhere",
	 {E(20, 1, TASK_CREATE, 17000, .key = 9), E(21, 1, TASK_CREATE_END, 17008),
	  E(22, 1, TASK_BEGIN, 17000, .key = 9), E(23, 1, DEPEND, 16900, .key = 1, .arg = TRACE_DEPEND_OUT),
	  E(24, 1, TASK_END, 17000)},
	 false,
	 true},
	{"dependences of no kind",
	 {E(20, 1, TASK_CREATE, 17000, .key = 9), E(21, 1, DEPEND, 16900, .key = 1, .arg = 77),
	  E(22, 1, TASK_CREATE_END, 17008)},
	 false,
	 true},
	{"bounds of no task", {E(20, 1, TASK_BOUNDS, 17000, .key = UINT64_MAX, .extra = 0)}, false, true},
	{"an event of no detached task", {E(20, 1, TASK_FULFILL, 17000, .key = 77)}, false, true},
	{"parameters of no loop", {E(20, 1, LOOP_PARAMS, 17000, .key = 1)}, false, true},
	{"a lock of no kind", {E(20, 1, LOCK_WAIT, 17000, .key = 1, .extra = 19, .arg = 9)}, false, true},
	{"a single's end without a single", {E(20, 1, SINGLE_END, 17000)}, false, true},
};

static size_t length(const struct trace_event *events)
{
	size_t n = 0;

	while (n < MANY && events[n].kind)
		n++;
	return n;
}

static void test_contradictions(void)
{
	static const struct trace_event open[] = {OPEN};

	for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
		const struct grain_truth *t;
		struct trace_writer *w = create();
		struct grain_graph *g;
		int rc;

		add(w, open, sizeof open / sizeof *open);
		add(w, contradictions[i].events, length(contradictions[i].events));
		trace_writer__finish(w, NULL);
		rc = load(false, &g);
		CHECK(rc == 0 && is_sound(g) && has_sound_task(g), "%s: loads %s", contradictions[i].name,
		      err.text);
		if (!g)
			continue;
		t = grain_graph__truth(g);
		CHECK((t->unmatched_begins > 0) == contradictions[i].begins &&
			      (t->unmatched_ends > 0) == contradictions[i].ends,
		      "%s: counted, %llu and %llu", contradictions[i].name,
		      (unsigned long long)t->unmatched_begins, (unsigned long long)t->unmatched_ends);
		grain_graph__free(g);
	}
}

/* Loops whose numbers are at their ends: no arithmetic overflows, and no chunk is made up. */
static void test_numbers(void)
{
	static const uint64_t edges[] = {0, 1, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX, UINT64_MAX - 1};
	static const uint32_t kinds[] = {0, TRACE_LOOP_UNSIGNED, TRACE_LOOP_UPPER_EXCLUSIVE,
					 TRACE_LOOP_UNSIGNED | TRACE_LOOP_UPPER_EXCLUSIVE};
	static const struct trace_event open[] = {OPEN};
	size_t loads = 0, sound = 0;

	for (size_t i = 0; i < 6 * 6 * 6 * 4; i++) {
		uint64_t lower = edges[i % 6], upper = edges[i / 6 % 6], step = edges[i / 36 % 6];
		uint32_t kind = kinds[i / 216];
		const struct trace_event events[] = {
			E(20, 1, LOOP_BEGIN, 17000, .key = lower, .extra = upper,
			  .arg = TRACE_LOOP_DYNAMIC | kind),
			E(20, 1, LOOP_PARAMS, 17000, .key = step, .extra = upper),
			E(21, 1, CHUNK_BEGIN, 17000, .key = lower, .extra = upper,
			  .arg = kind & TRACE_LOOP_UPPER_EXCLUSIVE),
			E(21, 1, CHUNK_STRIDE, 17000, .key = step),
			E(22, 1, LOOP_END, 17000),
		};
		struct trace_writer *w = create();
		struct grain_graph *g;

		add(w, open, sizeof open / sizeof *open);
		add(w, events, sizeof events / sizeof *events);
		trace_writer__finish(w, NULL);
		loads++;
		sound += load(false, &g) == 0 && is_sound(g) && has_sound_task(g) &&
			 grain_graph__totals(g)->chunks <= 1;
		grain_graph__free(g);
	}
	CHECK(sound == loads, "%zu of %zu loops of hostile numbers", sound, loads);
}

/* After a sound chunk of the file: an event that no clock can have timed. */
static void test_times(void)
{
	static const struct trace_event open[] = {OPEN};
	static const struct {
		uint64_t time;
		const char *what;
	} times[] = {{INT64_MAX + UINT64_C(1), "no clock shows"},
		     {UINT64_MAX, "no clock shows"},
		     {UINT64_C(1) << 60, "more than a year apart"}};

	for (size_t i = 0; i < 3; i++) {
		const struct trace_event late = E(times[i].time, 1, TASK_CREATE, 17000, .key = 9);
		struct trace_writer *w = create();
		struct grain_graph *g;
		int rc;

		add(w, open, sizeof open / sizeof *open);
		trace_writer__flush(w);
		add(w, &late, 1);
		trace_writer__finish(w, NULL);
		rc = load(false, &g);
		CHECK(rc == -EBADMSG && !g && strstr(err.text, times[i].what) &&
			      strstr(err.text, "--keep-going"),
		      "a time of %llu: %s", (unsigned long long)times[i].time, err.text);
		grain_graph__free(g);
		rc = load(true, &g);
		CHECK(rc == 0 && has_sound_task(g) && is_sound(g) && grain_graph__info(g)->damaged &&
			      grain_graph__truth(g)->dropped > 0,
		      "the rest is kept");
		grain_graph__free(g);
	}
}

/* A whole trace with one chunk of text of our making. */
static void put_text(const char *text, size_t bytes)
{
	struct trace_header header = {.magic = TRACE_MAGIC, .version = 1, .header_bytes = 64};
	struct trace_chunk head = {.magic = TRACE_CHUNK_MAGIC,
				   .type = TRACE_CHUNK_TEXT,
				   .raw_bytes = (uint32_t)bytes,
				   .stored_bytes = (uint32_t)bytes},
			   end = {.magic = TRACE_CHUNK_MAGIC, .type = TRACE_CHUNK_END, .sequence = 1};
	FILE *f = fopen(path, "w");

	head.payload_crc = (uint32_t)crc32(0, (const Bytef *)text, (unsigned)bytes);
	head.header_crc = (uint32_t)crc32(0, (Bytef *)&head, offsetof(struct trace_chunk, header_crc));
	end.header_crc = (uint32_t)crc32(0, (Bytef *)&end, offsetof(struct trace_chunk, header_crc));
	if (!f || !fwrite(&header, sizeof header, 1, f) || !fwrite(&head, sizeof head, 1, f) ||
	    fwrite(text, 1, bytes, f) != bytes || !fwrite(&end, sizeof end, 1, f) || fclose(f))
		exit(1);
}

static void test_text(void)
{
	static const struct {
		const char *name, *text;
		size_t bytes;
		const char *what;
	} texts[] = {
#define TEXT(t) t, sizeof t - 1
		{"CR LF", TEXT("@machine host=a\r\n"), "control character"},
		{"a zero byte", TEXT("@machine host=a\0b\n"), "control character"},
		{"half a line", TEXT("@machine host=a\n@machi"), "inside a line"},
		{"no such line", TEXT("machine\n"), "start with @"},
		{"a number beyond 2^64", TEXT("@lost cause=a count=18446744073709551616\n"), "not a number"},
		{"an address beyond 2^64", TEXT("@site 0x10000000000000000 source=1\n"), "needs an address"},
		{"a source twice", TEXT("@source 1 line=1\n@source 1 line=2\n"), "declared twice"},
		{"an open quote", TEXT("@process cmd=\"a\n"), "quoted value"},
		{"a process that cannot be", TEXT("@process pid=18446744073709551615\n"), "not a number"},
#undef TEXT
	};
	struct grain_graph *g;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		put_text(texts[i].text, texts[i].bytes);
		CHECK(load(false, &g) == -EBADMSG && strstr(err.text, "damaged at byte 64: ") &&
			      strstr(err.text, texts[i].what) && strstr(err.text, "--keep-going"),
		      "%s: %s", texts[i].name, err.text);
		CHECK(load(true, &g) == 0 && grain_graph__truth(g)->dropped == 1 &&
			      grain_graph__info(g)->damaged,
		      "%s: counted", texts[i].name);
		grain_graph__free(g);
	}
	put_text("@machine host=\xff\xfe\n", 17);
	CHECK(load(false, &g) == 0, "what is not UTF-8 is kept: %s", err.text);
	grain_graph__free(g);
}

/* Cut anywhere. */
static void test_every_cut(void)
{
	static const struct trace_event open[] = {OPEN,
						  E(90, 1, WAIT_BEGIN, 17000, .arg = TRACE_WAIT_REGION_END),
						  E(91, 1, WAIT_END, 17008, .arg = TRACE_WAIT_REGION_END),
						  E(92, 1, REGION_END, 20008)};
	struct trace_writer *w = create();
	size_t cuts = 0, refused = 0, kept = 0, bytes;
	static char whole[4096];
	FILE *f;

	add(w, open, 4);
	trace_writer__flush(w);
	add(w, open + 4, sizeof open / sizeof *open - 4);
	trace_writer__finish(w, NULL);
	f = fopen(path, "r");
	bytes = f ? fread(whole, 1, sizeof whole, f) : 0;
	if (f)
		fclose(f);
	for (size_t n = 64; n < bytes; n++) {
		struct grain_graph *g;

		f = fopen(path, "w");
		if (!f || fwrite(whole, 1, n, f) != n || fclose(f))
			exit(1);
		cuts++;
		refused += load(false, &g) == -EBADMSG && strstr(err.text, "damaged at byte ") &&
			   strstr(err.text, "--keep-going") && !g;
		kept += load(true, &g) == 0 && is_sound(g) && grain_graph__info(g)->damaged &&
			grain_graph__truth(g)->dropped == 1;
		grain_graph__free(g);
	}
	CHECK(refused == cuts && cuts > 200, "cut at %zu of %zu places: refused", refused, cuts);
	CHECK(kept == cuts, "cut at %zu of %zu places: the rest is kept", kept, cuts);
}

static struct grain_graph *finish_large(struct trace_writer *w, const char *name)
{
	trace_writer__finish(w, NULL);
	return load_large(name, false);
}

/* Deep and wide: no recursion, nothing quadratic. */
static void test_depth(void)
{
	const unsigned many = 300000, tenth = many / 10;
	struct trace_writer *w = create();
	struct grain_graph *g;
	uint64_t sp = UINT64_C(1) << 40;

	for (unsigned i = 0; i < many; i++) {
		const struct trace_event e[] = {E(10 + i, 1, REGION_BEGIN, sp - 100),
						E(10 + i, 1, TEAM_START, sp - 200, .key = i + 1, .arg = 1),
						E(10 + i, 1, TEAM_STARTED, sp - 192)};

		add(w, e, 3);
		sp -= 256;
	}
	g = finish_large(w, "300000 nested regions");
	if (g)
		CHECK(grain_graph__region_count(g) == many, "all of them are there");
	grain_graph__free(g);
	w = create();
	sp = UINT64_C(1) << 40;
	for (unsigned i = 0; i < many; i++) {
		const struct trace_event e = E(10 + i, 1, UNDEFERRED_BEGIN, sp -= 64, .key = 1);

		add(w, &e, 1);
	}
	for (unsigned i = 0; i < tenth; i++) {
		const struct trace_event e[] = {E(10 + many + i, 1, TASK_END, 8),
						E(10 + many + i, 1, LOST, 0, .arg = 1),
						E(10 + many + i, 0, LOST, 0, .arg = 1),
						E(10 + many + i, 1, WAIT_END, 8, .arg = 1)};

		add(w, e, 4);
	}
	g = finish_large(w, "300000 nested tasks, then losses and wrong ends");
	if (g)
		CHECK(grain_graph__totals(g)->tasks == many, "all of them are there");
	grain_graph__free(g);
	w = create();
	for (unsigned i = 0; i < tenth; i++) {
		const struct trace_event e = E(10 + i, 1 + i, TASK_BEGIN, 5000, .key = i);

		add(w, &e, 1);
	}
	for (unsigned i = 0; i < tenth; i++) {
		const struct trace_event e[] = {E(10 + many + i, 0, LOST, 0, .arg = 1),
						E(10 + many + i, 1 + i, TASK_BEGIN, 4000, .key = many + i)};

		add(w, e, 2);
	}
	grain_graph__free(finish_large(w, "30000 losses on as many threads"));
	w = create();
	for (unsigned i = 0; i < many; i++) {
		const struct trace_event e =
			E(10 + i, 1 + i % 3, TASK_CREATE, 5000, .key = 1, .arg = UINT32_MAX);

		add(w, &e, 1);
	}
	grain_graph__free(finish_large(w, "300000 creations of one key"));
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	test_contradictions();
	test_numbers();
	test_times();
	test_text();
	test_every_cut();
	test_depth();
	unlink(path);
	CHECK_DONE();
}
