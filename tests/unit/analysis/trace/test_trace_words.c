// SPDX-License-Identifier: BSD-2-Clause
/*
 * Words that a process wrote by itself: events come out as they went in, also
 * over the ends of chunks; what no producer writes is refused or counted.
 */
#include "tests/unit/check.h"
#include "tests/unit/noise.h"
#include "tests/unit/stream_text.h"
#include "tests/unit/word_trace.h"

#include <errno.h>
#include <fcntl.h>

static char trace_path[] = "/tmp/graind-unit-words.XXXXXX";
static struct grain_error err;
static unsigned counters; /* that the trace has */

static struct trace_writer *create(void)
{
	struct trace_writer *w = create_at(AT_FDCWD, trace_path);

	trace_writer__text(w, "@capture source=shim late=0");
	for (unsigned i = 0; i < counters; i++)
		trace_writer__textf(w, "@counter %u name=counter-%u", i, i);
	return w;
}

static int load(struct trace_writer *w, struct event_stream **s)
{
	if (trace_writer__finish(w, NULL))
		exit(1);
	return read_path(trace_path, 0, s, &err);
}

/* A region of one thread with a task, cut into two chunks at every word. */
static const uint64_t program[] = {
	WORD(TRACE_WORD_JOIN, 0, 0, 0),
	UINT64_C(3) << 32 | 100,
	WORD(TRACE_WORD_TIME, 0, 0, 0),
	2000,
	WORD(TRACE_WORD_CPU, 0, 0, 0),
	7,
	WORD(TRACE_REGION_BEGIN, 9, 0, 0),
	TRACE_REGION_OUTERMOST,
	0x401000,
	WORD(TRACE_MEMBER_BEGIN, 9, 0, 20),
	64,
	0,
	WORD(TRACE_TASK_CREATE, 9, 0, 20),
	WORD(TRACE_TASK_CREATE_END, 0, 0, 20),
	WORD(TRACE_WAIT_BEGIN, 9, TRACE_WAIT_TASKWAIT, 20),
	WORD(TRACE_TASK_BEGIN, 9, 1, 20),
	WORD(TRACE_TASK_END, 0, 0, 200),
	WORD(TRACE_WAIT_END, 0, TRACE_WAIT_TASKWAIT, 20),
	WORD(TRACE_WAIT_BEGIN, 0, TRACE_WAIT_REGION_END, 20),
	WORD(TRACE_WAIT_END, 0, TRACE_WAIT_REGION_END, 20),
	WORD(TRACE_REGION_END, 0, 0, 20),
};

static const char expected[] = "1000 100 7 thread-begin\n"
			       "1000 100 7 region-begin region=0 src=0 threads=1\n"
			       "1010 100 7 member-begin region=0 num=0\n"
			       "1020 100 7 create-begin task=0 src=1 flags=deferred\n"
			       "1030 100 7 create-end task=0\n"
			       "1040 100 7 wait-begin kind=taskwait src=2\n"
			       "1050 100 7 task-begin task=0\n"
			       "1150 100 7 task-end task=0\n"
			       "1160 100 7 wait-end kind=taskwait\n"
			       "1170 100 7 wait-begin kind=barrier-implicit\n"
			       "1180 100 7 wait-end kind=barrier-implicit\n"
			       "1180 100 7 member-end region=0 num=0\n"
			       "1190 100 7 region-end region=0\n"
			       "1190 100 7 thread-end\n";

/* The words give the same log wherever they are cut into two chunks. */
static void comes_back(const char *name, const uint64_t *words, uint32_t count, const char *log_expected)
{
	size_t wrong = 0;

	for (uint32_t cut = 0; cut <= count; cut++) {
		struct trace_writer *w = create();
		struct event_stream *s = NULL;
		char *log;

		put(w, 0, 1000, 3000, words, cut);
		put(w, 0, 3000, 5000, words + cut, count - cut);
		if (load(w, &s)) {
			printf("# %s\n", err.text);
			wrong++;
			continue;
		}
		log = log_of(s, 0);
		if (strcmp(log, log_expected) != 0 && !wrong++)
			printf("# cut at %u:\n%s", cut, log);
		free(log);
		event_stream__free(s);
	}
	CHECK(wrong == 0, "%s: comes back wherever the chunks are cut", name);
}

/* The same, where the thread tells now and then where it is. */
#define HERE(cpu, ticks, created)                                                                            \
	WORD(TRACE_WORD_HERE, 0, 0, cpu), TRACE_WORD_HERE_MARK, (ticks), TRACE_WORD_KEY(3, created)

static const uint64_t told_program[] = {
	WORD(TRACE_WORD_JOIN, 0, 0, 0),
	UINT64_C(3) << 32 | 100,
	HERE(7, 2000, 0),
	WORD(TRACE_REGION_BEGIN, 9, 0, 0),
	TRACE_REGION_OUTERMOST,
	0x401000,
	WORD(TRACE_MEMBER_BEGIN, 9, 0, 20),
	64,
	0,
	WORD(TRACE_TASK_CREATE, 9, 0, 20),
	HERE(7, 2040, 1),
	WORD(TRACE_TASK_CREATE_END, 0, 0, 20),
	WORD(TRACE_WAIT_BEGIN, 9, TRACE_WAIT_TASKWAIT, 20),
	WORD(TRACE_TASK_BEGIN, 9, 1, 20),
	WORD(TRACE_TASK_END, 0, 0, 200),
	WORD(TRACE_WAIT_END, 0, TRACE_WAIT_TASKWAIT, 20),
	WORD(TRACE_WAIT_BEGIN, 0, TRACE_WAIT_REGION_END, 20),
	HERE(7, 2340, 1),
	WORD(TRACE_WAIT_END, 0, TRACE_WAIT_REGION_END, 20),
	WORD(TRACE_REGION_END, 0, 0, 20),
};

/* A loop whose turns are two events each, or one of two words: the same. */
#define LOOP(...)                                                                                            \
	{                                                                                                    \
		WORD(TRACE_WORD_JOIN, 0, 0, 0), UINT64_C(3) << 32 | 100, WORD(TRACE_WORD_TIME, 0, 0, 0),     \
			2000, WORD(TRACE_REGION_BEGIN, 9, 0, 0), TRACE_REGION_OUTERMOST, 0x401000,           \
			WORD(TRACE_MEMBER_BEGIN, 9, 0, 20), 64, 0, WORD(TRACE_LOOP_BEGIN, 9, 0, 20),         \
			TRACE_LOOP_DYNAMIC | TRACE_LOOP_UPPER_EXCLUSIVE, 0, 9,                               \
			WORD(TRACE_LOOP_PARAMS, 0, 0, 0), 1, 3,                                              \
			WORD(TRACE_CHUNK_BEGIN, 0, 1 | TRACE_WORD_SHORT, 20), SHORT(0, 3), __VA_ARGS__,      \
			WORD(TRACE_CHUNK_NEXT, 0, 0, 300), WORD(TRACE_LOOP_END, 0, 0, 20),                   \
			WORD(TRACE_WAIT_BEGIN, 0, TRACE_WAIT_REGION_END, 20),                                \
			WORD(TRACE_WAIT_END, 0, TRACE_WAIT_REGION_END, 20),                                  \
			WORD(TRACE_REGION_END, 0, 0, 20),                                                    \
	}
#define SHORT(lower, upper) ((uint64_t)(uint32_t)(lower) | (uint64_t)(uint32_t)((upper) - (lower)) << 32)
#define TURN(exclusive, took, ticks)                                                                         \
	(TRACE_WORD_TURN | (uint64_t)(exclusive) << 6 | (uint64_t)(took) << 7 | (uint64_t)(ticks) << 32)

static const uint64_t plain_loop[] =
	LOOP(WORD(TRACE_CHUNK_NEXT, 0, 0, 100), WORD(TRACE_CHUNK_BEGIN, 0, 1 | TRACE_WORD_SHORT, 40),
	     SHORT(3, 6), WORD(TRACE_CHUNK_NEXT, 0, 0, 60),
	     WORD(TRACE_CHUNK_BEGIN, 0, TRACE_WORD_SHORT, 1000), SHORT(6, 8));
static const uint64_t turned_loop[] = LOOP(TURN(1, 40, 100), SHORT(3, 6), TURN(0, 1000, 60), SHORT(6, 8));

#define READING(first, count, blind) WORD(TRACE_COUNTERS, 0, (first) | (count) << 4 | (blind) << 6, 0)

/* What four counters read at its next event: one is not known, one line is of the event after. */
static void readings_come_back(void)
{
	static const uint64_t words[] = {
		WORD(TRACE_WORD_JOIN, 0, 0, 0),
		UINT64_C(3) << 32 | 100,
		READING(0, 3, 2),
		5,
		6,
		7,
		READING(3, 1, 0),
		8,
		WORD(TRACE_WORD_TIME, 0, 0, 0),
		2000,
		WORD(TRACE_REGION_BEGIN, 9, 0, 0),
		TRACE_REGION_OUTERMOST,
		0x401000,
		WORD(TRACE_MEMBER_BEGIN, 9, 0, 20),
		64,
		0,
		READING(0, 3, 0),
		15,
		16,
		17,
		READING(1, 1, 0),
		99,
		WORD(TRACE_WAIT_BEGIN, 0, TRACE_WAIT_REGION_END, 20),
		WORD(TRACE_WAIT_END, 0, TRACE_WAIT_REGION_END, 20),
		WORD(TRACE_REGION_END, 0, 0, 20),
	};
	static const char log[] = "1000 100 0 thread-begin c0=5 c2=7 c3=8\n"
				  "1000 100 0 region-begin region=0 src=0 threads=1 c0=5 c2=7 c3=8\n"
				  "1010 100 0 member-begin region=0 num=0\n"
				  "1020 100 0 wait-begin kind=barrier-implicit c0=15 c1=16 c2=17\n"
				  "1030 100 0 wait-end kind=barrier-implicit\n"
				  "1030 100 0 member-end region=0 num=0\n"
				  "1040 100 0 region-end region=0\n"
				  "1040 100 0 thread-end\n";

	counters = 4;
	comes_back("readings of counters", words, COUNT(words), log);
	counters = 0;
}

static void turns_come_back(void)
{
	struct trace_writer *w = create();
	struct event_stream *s = NULL;
	char *log;

	put(w, 0, 1000, 5000, plain_loop, COUNT(plain_loop));
	CHECK(load(w, &s) == 0, "a loop: read");
	log = s ? log_of(s, 0) : strdup("");
	CHECK(strstr(log, "chunk-begin loop=0 lower=0 upper=2\n") &&
		      strstr(log, "chunk-begin loop=0 lower=3 upper=5\n") &&
		      strstr(log, "chunk-begin loop=0 lower=6 upper=8\n"),
	      "a loop: it has its chunks");
	comes_back("a loop of turns", turned_loop, COUNT(turned_loop), log);
	free(log);
	event_stream__free(s);
}

/* What was created before a loss keeps its number. */
static void loss_is_said(void)
{
	static const uint64_t words[] = {
		WORD(TRACE_WORD_JOIN, 0, 0, 0),
		UINT64_C(1) << 32 | 100,
		WORD(TRACE_WORD_TIME, 0, 0, 0),
		2000,
		WORD(TRACE_WORD_LOST, 0, 0, 0),
		17,
		41,
		WORD(TRACE_TASK_CREATE, 9, 0, 10),
		WORD(TRACE_TASK_CREATE_END, 0, 0, 10),
		WORD(TRACE_TASK_BEGIN, 9, 0, 10),
		TRACE_WORD_KEY(1, 42),
		WORD(TRACE_TASK_END, 0, 0, 10),
	};
	struct trace_writer *w = create();
	struct event_stream *s = NULL;
	char *log;

	put(w, 0, 1000, 3000, words, COUNT(words));
	CHECK(load(w, &s) == 0, "a loss: read");
	log = s ? log_of(s, 1) : strdup("");
	CHECK(strstr(log, "lost=17") && strstr(log, "lost count=17"), "a loss: counted");
	CHECK(strstr(log, "task-begin task=0"), "a loss: the task after it is the one that begins");
	if (!strstr(log, "task-begin task=0"))
		printf("%s", log);
	free(log);
	event_stream__free(s);
}

/*
 * Attached: what a barrier outside of all regions shows of its thread, which has said whether it is outside.
 */
#define SERIAL(arg, ...)                                                                                     \
	{                                                                                                    \
		WORD(TRACE_WORD_JOIN, 0, arg, 0), UINT64_C(3) << 32 | 100, WORD(TRACE_WORD_TIME, 0, 0, 0),   \
			2000, __VA_ARGS__ WORD(TRACE_WAIT_BEGIN, 0, TRACE_WAIT_BARRIER, 20),                 \
			WORD(TRACE_WAIT_END, 0, TRACE_WAIT_BARRIER, 20),                                     \
			WORD(TRACE_WAIT_BEGIN, 0, TRACE_WAIT_BARRIER, 20),                                   \
			WORD(TRACE_WAIT_END, 0, TRACE_WAIT_BARRIER, 20),                                     \
	}

static void has_members(const char *name, const uint64_t *words, uint32_t count, unsigned expect)
{
	struct trace_writer *w = create_at(AT_FDCWD, trace_path);
	struct event_stream *s = NULL;
	unsigned found = 0;
	char *log;

	trace_writer__text(w, "@capture source=shim late=1");
	put(w, 0, 1000, 3000, words, count);
	CHECK(load(w, &s) == 0, "%s: read", name);
	log = s ? log_of(s, 0) : strdup("");
	for (const char *at = log; (at = strstr(at, "member-begin region=none")); at++)
		found++;
	CHECK(strstr(log, "wait-begin kind=barrier") && found == expect,
	      "%s: in %u regions that were not seen", name, expect);
	free(log);
	event_stream__free(s);
}

static void start_is_told(void)
{
	static const uint64_t outside[] = SERIAL(TRACE_WORD_OUTSIDE, ), unknown[] = SERIAL(0, ),
			      lost[] = SERIAL(TRACE_WORD_OUTSIDE, WORD(TRACE_WORD_LOST, 0, 0, 0), 17, 0, ),
			      other[] = SERIAL(0x1ffe, ),
			      outermost[] = SERIAL(0, WORD(TRACE_WAIT_END, 0, TRACE_WAIT_BARRIER, 20),
						   WORD(TRACE_REGION_BEGIN, 9, 0, 20), TRACE_REGION_OUTERMOST,
						   0x401000, WORD(TRACE_REGION_END, 0, 0, 20), );

	has_members("a thread that starts outside", outside, COUNT(outside), 0);
	has_members("a thread that tells nothing", unknown, COUNT(unknown), 1);
	has_members("a thread that starts outside and loses events", lost, COUNT(lost), 1);
	has_members("a thread that tells what nobody knows", other, COUNT(other), 1);
	has_members("a thread before a region that is in no other", outermost, COUNT(outermost), 1);
}

static void refused(const char *name, const uint64_t *words, uint32_t count, uint64_t from, uint64_t to,
		    const char *why)
{
	struct trace_writer *w = create();
	struct event_stream *s = NULL;
	char text[160];
	int error;

	put(w, 0, 1000, 2000, program, 4);
	put(w, 1, from, to, words, count);
	error = load(w, &s);
	snprintf(text, sizeof(text), "%s: refused", name);
	CHECK(error == -EBADMSG && strstr(err.text, why), "%s", text);
	if (error != -EBADMSG || !strstr(err.text, why))
		printf("# %d %s\n", error, err.text);
	event_stream__free(s);
}

/* Whatever a process writes, reading it ends, and in one of two ways. */
static void noise_is_survived(void)
{
	static const uint8_t kinds[] = {1,  2,	3,  4,	7,  8,	9,  10, 11, 12, 13, 14, 15,
					18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 29, 30, 31,
					32, 33, 34, 35, 36, 56, 58, 59, 60, 61, 63};
	static uint64_t words[3000];
	size_t bad = 0;

	for (int round = 0; round < 200; round++) {
		struct trace_writer *w = create();
		struct event_stream *s = NULL;
		int error;

		for (uint32_t i = 0; i < COUNT(words); i++)
			words[i] = (noise() & ~UINT64_C(63)) >> noise() % 40 << 6 |
				   kinds[noise() % sizeof(kinds)];
		put(w, 0, 1000, 2000, words, COUNT(words) / 2);
		put(w, 1, 2000, 3000, words + COUNT(words) / 2, COUNT(words) / 2);
		error = load(w, &s);
		bad += error && error != -EBADMSG;
		event_stream__free(s);
	}
	CHECK(bad == 0, "noise: read or refused");
}

int main(void)
{
	static const uint64_t unknown[] = {WORD(62, 0, 0, 0)}, fine[] = {WORD(TRACE_TASK_END, 0, 0, 0)},
			      nothing[] = {READING(0, 0, 0)},
			      unmarked[] = {WORD(TRACE_WORD_HERE, 0, 0, 1), 1, 2500, TRACE_WORD_KEY(1, 1)},
			      far[] = {WORD(TRACE_WORD_TIME, 0, 0, 0), UINT64_C(3) << 62,
				       WORD(TRACE_TASK_END, 0, 0, 0)};

	if (mkstemp(trace_path) < 0)
		return 1;
	word_ticks_per_ns = 2;
	comes_back("a region", program, COUNT(program), expected);
	comes_back("where the thread is", told_program, COUNT(told_program), expected);
	readings_come_back();
	turns_come_back();
	loss_is_said();
	start_is_told();
	refused("an unknown kind", unknown, 1, 2000, 3000, "unknown kind 62");
	refused("a reading of no counters", nothing, 1, 2000, 3000, "unknown kind 39");
	refused("a clock that goes back", fine, 1, 1000, 1500, "words that do not fit");
	refused("where a thread is without the mark", unmarked, COUNT(unmarked), 2000, 3000,
		"without its mark");
	refused("a time beyond all clocks", far, 3, 2000, 3000, "no clock shows");
	noise_is_survived();
	unlink(trace_path);
	CHECK_DONE();
}
