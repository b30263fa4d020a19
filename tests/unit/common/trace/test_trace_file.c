// SPDX-License-Identifier: BSD-2-Clause
/* Traces as the daemon writes them, whole, cut off, damaged, hostile. */
#include "daemon/common/trace/trace_writer.h"
#include "tests/unit/check.h"
#include "tests/unit/stream_text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

/* Of what is cut or changed one after the other. */
#ifdef __SANITIZE_ADDRESS__
#define STEP 61
#else
#define STEP 13
#endif

static char trace_path[] = "/tmp/graind-unit-trace.XXXXXX";
static unsigned char *whole;
static size_t whole_bytes;

static struct trace_writer *create(const struct trace_writer_opts *opts)
{
	struct trace_writer *w = NULL;

	unlink(trace_path);
	if (trace_writer__create(AT_FDCWD, trace_path, opts, &w))
		exit(1);
	return w;
}

static void load_whole(void)
{
	FILE *f = fopen(trace_path, "r");
	struct stat st;

	if (!f || fstat(fileno(f), &st))
		exit(1);
	free(whole);
	whole_bytes = (size_t)st.st_size;
	whole = malloc(whole_bytes + 1);
	if (!whole || fread(whole, 1, whole_bytes, f) != whole_bytes)
		exit(1);
	fclose(f);
}

/* One thread creates and runs a task `i`. */
static void run_task(struct trace_writer *w, uint64_t i)
{
	const struct trace_event events[] = {
		{.time_ns = 100 + i * 40,
		 .key = 0x1000,
		 .site = 0x401000,
		 .frame = 900,
		 .tid = 7,
		 .kind = TRACE_TASK_CREATE},
		{.time_ns = 110 + i * 40, .frame = 950, .tid = 7, .kind = TRACE_TASK_CREATE_END},
		{.time_ns = 120 + i * 40,
		 .key = 0x1000,
		 .site = 0x402000,
		 .frame = 800,
		 .tid = 7,
		 .kind = TRACE_TASK_BEGIN},
		{.time_ns = 130 + i * 40, .frame = 800, .tid = 7, .kind = TRACE_TASK_END},
	};

	if (trace_writer__events(w, events, 4))
		exit(1);
}

static void begin_region(struct trace_writer *w)
{
	const struct trace_event events[] = {
		{.time_ns = 1, .site = 0x400500, .frame = 2000, .tid = 7, .kind = TRACE_REGION_BEGIN},
		{.time_ns = 2, .key = 77, .frame = 1900, .arg = 1, .tid = 7, .kind = TRACE_TEAM_START},
		{.time_ns = 3, .frame = 1908, .tid = 7, .kind = TRACE_TEAM_STARTED},
	};

	if (trace_writer__events(w, events, 3))
		exit(1);
}

static void end_region(struct trace_writer *w, uint64_t time)
{
	const struct trace_event events[] = {
		{.time_ns = time,
		 .frame = 1700,
		 .arg = TRACE_WAIT_REGION_END,
		 .tid = 7,
		 .kind = TRACE_WAIT_BEGIN},
		{.time_ns = time + 1,
		 .frame = 1708,
		 .arg = TRACE_WAIT_REGION_END,
		 .tid = 7,
		 .kind = TRACE_WAIT_END},
		{.time_ns = time + 2, .frame = 2008, .tid = 7, .kind = TRACE_REGION_END},
	};

	if (trace_writer__events(w, events, 3))
		exit(1);
}

/* A trace of `tasks` tasks, flushed now and then. */
static void write_trace(unsigned tasks, unsigned flush_every)
{
	struct trace_writer *w = create(NULL);
	struct trace_writer_stats stats;
	char quoted[64];

	trace_writer__quote("a \"b\"\n\\", quoted, sizeof(quoted));
	if (trace_writer__textf(w, "@process pid=7 exe=%s", quoted))
		exit(1);
	trace_writer__text(w, "@capture source=uprobes late=0 ns_per_event=900");
	begin_region(w);
	for (unsigned i = 0; i < tasks; i++) {
		run_task(w, i);
		if (flush_every && i % flush_every == flush_every - 1 && trace_writer__flush(w))
			exit(1);
	}
	end_region(w, 200 + tasks * 40ull);
	trace_writer__text(w, "@source 5 file=x.c line=3 func=f");
	trace_writer__text(w, "@site 0x401000 source=5");
	trace_writer__text(w, "@lost cause=ring-full count=3");
	if (trace_writer__finish(w, &stats) || stats.events != tasks * 4ull + 6 || stats.dropped_events)
		exit(1);
	load_whole();
	if (stats.bytes != whole_bytes)
		exit(1);
}

static void test_whole(void)
{
	struct event_stream *s = NULL, *again = NULL;
	struct grain_error err;
	char *text, *twice;
	struct stat st;

	write_trace(50000, 0);
	CHECK(stat(trace_path, &st) == 0 && (st.st_mode & 0777) == 0600, "a trace is its owner's only");
	CHECK(read_path(trace_path, 0, &s, &err) == 0, "a trace of several chunks: %s", err.text);
	if (!s)
		return;
	CHECK(s->task_count == 50000 && s->region_count == 1 && s->truth.events == 200006 &&
		      s->truth.lost == 3 && !s->info.damaged && s->truth.unmatched_ends == 0 &&
		      s->truth.never_begun == 0,
	      "all its events are there");
	CHECK_STR(s->info.exe, "a \"b\"?\\", "quoted text arrives");
	text = log_of(s, 1);
	CHECK(strstr(text, "create-begin task=0 src=5 flags=deferred\n") &&
		      strstr(text, "@source 5 file=x.c line=3 func=f kind=task\n") &&
		      strstr(text, "@source 6 kind=parallel module=0x400500\n"),
	      "sites have their sources");
	CHECK(read_path(temporary(text, strlen(text)), 0, &again, &err) == 0, "its log is sound: %s",
	      err.text);
	twice = again ? log_of(again, 1) : strdup("");
	CHECK(strcmp(text, twice) == 0, "its log, read and written, is the same");
	CHECK(again && again->count == s->count &&
		      memcmp(again->events, s->events, s->count * sizeof(*s->events)) == 0 &&
		      again->truth.lost == 3 && again->truth.events == s->truth.events,
	      "and the stream is equal");
	free(text);
	free(twice);
	event_stream__free(s);
	event_stream__free(again);
}

static void put(const unsigned char *bytes, size_t count)
{
	int fd = open(trace_path, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, bytes, count) != (ssize_t)count)
		exit(1);
	close(fd);
}

static bool one_line(const struct grain_error *err)
{
	return err->text[0] && !strchr(err->text, '\n');
}

static void test_cut(void)
{
	size_t cuts = 0, right = 0, kept = 0;

	write_trace(600, 50);
	for (size_t n = 8; n < whole_bytes; n += n < 200 || n + 200 > whole_bytes ? 1 : STEP) {
		struct event_stream *s = NULL;
		struct grain_error err;
		int rc;

		put(whole, n);
		cuts++;
		rc = read_path(trace_path, 0, &s, &err);
		right += rc == -EBADMSG && !s && one_line(&err) && strstr(err.text, trace_path);
		event_stream__free(s);
		s = NULL;
		rc = read_path(trace_path, 1, &s, &err);
		kept += n < sizeof(struct trace_header) ? rc == -EBADMSG
							: rc == 0 && s->info.damaged && s->task_count <= 600;
		event_stream__free(s);
	}
	CHECK(right == cuts && cuts > 300, "refused when cut at %zu of %zu places", right, cuts);
	CHECK(kept == cuts, "what is whole is kept on demand at %zu of %zu places", kept, cuts);
}

static void test_flips(void)
{
	static const size_t harmless_end = sizeof(struct trace_header);
	size_t flips = 0, right = 0, kept = 0;

	write_trace(600, 50);
	for (size_t bit = 0; bit < whole_bytes * 8; bit += bit < 2000 ? 1 : 2 * STEP + 3) {
		struct event_stream *s = NULL;
		struct grain_error err;
		int rc;

		whole[bit / 8] ^= (unsigned char)(1u << bit % 8);
		put(whole, whole_bytes);
		whole[bit / 8] ^= (unsigned char)(1u << bit % 8);
		flips++;
		rc = read_path(trace_path, 0, &s, &err);
		/* The creation time and the reserved fields of the header carry nothing that is read. */
		right += (rc == -EBADMSG && !s && one_line(&err)) ||
			 (bit / 8 < harmless_end && rc == 0 && s->task_count == 600);
		event_stream__free(s);
		s = NULL;
		rc = read_path(trace_path, 1, &s, &err);
		kept += bit / 8 < harmless_end ? rc == 0 || rc == -EBADMSG : rc == 0 && s->info.damaged;
		event_stream__free(s);
	}
	CHECK(right == flips && flips > 2000, "%zu of %zu flipped bits are noticed", right, flips);
	CHECK(kept == flips, "what is before them is kept on demand: %zu of %zu", kept, flips);
}

static void test_unfinished(void)
{
	struct trace_writer *w = create(NULL);
	struct event_stream *s = NULL;
	struct grain_error err;
	unsigned char mark = TRACE_INCOMPLETE;

	begin_region(w);
	run_task(w, 0);
	trace_writer__flush(w);
	run_task(w, 1);
	CHECK(read_path(trace_path, 0, &s, &err) == 0 && s && s->info.damaged && s->task_count == 1,
	      "a running capture is readable up to its last flush: %s", err.text);
	event_stream__free(s);
	trace_writer__abandon(w);
	s = NULL;
	CHECK(read_path(trace_path, 0, &s, &err) == 0 && s && s->info.damaged && s->task_count == 1,
	      "an abandoned one too");
	event_stream__free(s);
	CHECK(trace_writer__create(AT_FDCWD, trace_path, NULL, &w) == -EEXIST, "nothing is overwritten");
	write_trace(1, 0);
	whole[offsetof(struct trace_header, flags)] = mark;
	put(whole, whole_bytes - sizeof(struct trace_chunk));
	s = NULL;
	CHECK(read_path(trace_path, 0, &s, &err) == 0 && s && s->info.damaged,
	      "whole chunks without end mark");
	event_stream__free(s);
}

/* The file may not grow beyond a limit: what was written stays readable, the rest is counted. */
static void test_full(void)
{
	struct rlimit limit = {200000, RLIM_INFINITY}, before;
	struct trace_writer_opts ceiling = {.max_bytes = 200000};
	struct trace_writer_stats stats;
	struct event_stream *s = NULL;
	struct grain_error err;
	char *text = NULL;

	for (int by_ceiling = 0; by_ceiling < 2; by_ceiling++) {
		struct trace_writer *w = create(by_ceiling ? &ceiling : NULL);
		uint64_t key = 88172645463325252u;
		int failures = 0, first = 0;

		signal(SIGXFSZ, SIG_IGN);
		getrlimit(RLIMIT_FSIZE, &before);
		if (!by_ceiling && setrlimit(RLIMIT_FSIZE, &limit))
			exit(1);
		begin_region(w);
		for (unsigned i = 0; i < 400000; i++) {
			struct trace_event e = {.time_ns = 10 + i,
						.key = key,
						.tid = 7,
						.frame = 900,
						.kind = TRACE_TASK_CREATE};
			int rc = trace_writer__event(w, &e);

			key ^= key << 13;
			key ^= key >> 7;
			key ^= key << 17;
			if (i % 1000 == 999 && !rc)
				rc = trace_writer__flush(w);
			failures += rc != 0;
			first = first ? first : rc;
		}
		trace_writer__stats(w, &stats);
		CHECK(failures == 1 && first == -EFBIG && stats.error == -EFBIG,
		      "a file that cannot grow is said once (%d times, %s)", failures, strerror(-first));
		CHECK(stats.bytes <= 200000 && stats.events + stats.dropped_events == 400003 &&
			      stats.events > 1000,
		      "its events are in the file or counted: %llu and %llu",
		      (unsigned long long)stats.events, (unsigned long long)stats.dropped_events);
		setrlimit(RLIMIT_FSIZE, &before);
		trace_writer__textf(w, "@lost cause=trace-file count=%llu",
				    (unsigned long long)stats.dropped_events);
		trace_writer__finish(w, &stats);
		s = NULL;
		CHECK(read_path(trace_path, 0, &s, &err) == 0 && s && s->truth.events == stats.events &&
			      s->truth.lost == stats.dropped_events,
		      "it is readable and says what it lacks: %s", err.text);
		text = s ? log_of(s, 1) : strdup("");
		CHECK(strstr(text, "@lost cause=trace-file count="), "with the cause");
		free(text);
		event_stream__free(s);
	}
}

static void test_text(void)
{
	struct trace_writer *w = create(NULL);
	char *line = malloc(70000);

	memset(line, 'x', 70000);
	line[69999] = '\0';
	CHECK(trace_writer__text(w, line) == -EINVAL, "a line may not be endless");
	CHECK(trace_writer__text(w, "@a b\n@c") == -EINVAL, "nor be two lines");
	CHECK(trace_writer__text(w, "") == -EINVAL, "nor be empty");
	line[60000] = '\0';
	line[0] = '@';
	for (int i = 0; i < 20; i++) {
		if (trace_writer__text(w, line))
			exit(1);
	}
	CHECK(trace_writer__finish(w, NULL) == 0, "a megabyte of text");
	free(line);
}

static uint32_t crc(const void *bytes, size_t count)
{
	return (uint32_t)crc32(0, bytes, (unsigned)count);
}

/* A file with one chunk of our making, right but for what `head` and `payload` say. */
static void forged(struct trace_chunk head, const void *payload, size_t bytes, const char *what)
{
	struct trace_header header = {.magic = TRACE_MAGIC,
				      .version = 1,
				      .header_bytes = 64,
				      .flags = TRACE_INCOMPLETE};
	unsigned char file[4096];
	struct event_stream *s = NULL;
	struct grain_error err;
	size_t n = sizeof(header) + sizeof(head);
	int rc;

	head.magic = TRACE_CHUNK_MAGIC;
	head.payload_crc = crc(payload, bytes);
	head.header_crc = crc(&head, offsetof(struct trace_chunk, header_crc));
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), &head, sizeof(head));
	memcpy(file + n, payload, bytes);
	put(file, n + bytes);
	rc = read_path(trace_path, 0, &s, &err);
	CHECK(rc == -EBADMSG && !s && one_line(&err) && strstr(err.text, what) && strstr(err.text, "byte 64"),
	      "forged: %s (%s)", what, err.text);
	event_stream__free(s);
}

static void test_forged(void)
{
	unsigned char zeros[64] = {0};
	struct trace_events_head events = {.count = 1};
	static const char text[] = "@process pid=1";

	forged((struct trace_chunk){.type = 1, .raw_bytes = UINT32_MAX, .stored_bytes = 64, .codec = 1},
	       zeros, 64, "impossible lengths");
	forged((struct trace_chunk){.type = 1, .raw_bytes = 65, .stored_bytes = 64}, zeros, 64,
	       "impossible lengths");
	forged((struct trace_chunk){.type = 1, .raw_bytes = 64, .stored_bytes = 1u << 22}, zeros, 64,
	       "impossible lengths");
	forged((struct trace_chunk){.type = 1, .raw_bytes = 1u << 22, .stored_bytes = 1u << 22}, zeros, 64,
	       "ends inside a chunk");
	forged((struct trace_chunk){.type = 1, .raw_bytes = 64, .stored_bytes = 64, .sequence = 1}, zeros, 64,
	       "should be");
	forged((struct trace_chunk){.type = 1, .codec = 9, .raw_bytes = 64, .stored_bytes = 64}, zeros, 64,
	       "unknown compression");
	forged((struct trace_chunk){.type = 1, .codec = 1, .raw_bytes = 8u << 20, .stored_bytes = 64}, zeros,
	       64, "cannot be decompressed");
	forged((struct trace_chunk){.type = 2, .raw_bytes = 8, .stored_bytes = 8}, zeros, 8,
	       "without its head");
	memcpy(zeros, &events, sizeof(events));
	forged((struct trace_chunk){.type = 2, .raw_bytes = 64, .stored_bytes = 64}, zeros, 64,
	       "does not fit");
	forged((struct trace_chunk){.type = 2, .raw_bytes = 60, .stored_bytes = 60}, zeros, 60,
	       "unknown kind 0");
	events.count = 0x10000001;
	memcpy(zeros, &events, sizeof(events));
	forged((struct trace_chunk){.type = 2, .raw_bytes = 60, .stored_bytes = 60}, zeros, 60,
	       "does not fit");
	forged((struct trace_chunk){.type = 1, .raw_bytes = 14, .stored_bytes = 14}, text, 14,
	       "inside a line");
	forged((struct trace_chunk){.type = 1, .raw_bytes = 6, .stored_bytes = 6}, "hello\n", 6,
	       "start with @");
	forged((struct trace_chunk){.type = 1, .raw_bytes = 8, .stored_bytes = 8}, "@site x\n", 8,
	       "needs an address");
}

static void test_memory(void)
{
	struct grain_load_opts small = {.max_bytes = 1 << 20};
	struct event_stream *s = NULL;
	struct grain_error err;

	write_trace(20000, 0);
	CHECK(event_stream__read(trace_path, &small, &s, &err) == -E2BIG && !s && one_line(&err),
	      "the memory bound holds: %s", err.text);
}

int main(void)
{
	int fd = mkstemp(trace_path);

	if (fd < 0)
		return 1;
	close(fd);
	test_whole();
	test_cut();
	test_flips();
	test_unfinished();
	test_full();
	test_text();
	test_forged();
	test_memory();
	free(whole);
	unlink(trace_path);
	CHECK_DONE();
}
