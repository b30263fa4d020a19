// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parallel regions that are kept of long runs: which ones, that each is whole, whatever thread's records come
 * late, and that neither the memory nor the file grows.
 */
#include "analysis/fold/fold.h"
#include "analysis/fold/fold_regions.h"
#include "analysis/resolve/resolver.h"
#include "analysis/trace/trace_format.h"
#include "tests/unit/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define RING 8192u
#define SETTLE 1024u
#define BATCH 400u
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Records as a reader hands them out: some at a time. */
struct run {
	struct trace_content content;
	struct trace_record records[BATCH];
	struct trace_record late[SETTLE]; /* of the worker, until there are so many */
	size_t late_count, delay;
	struct trace_record held[2][RING]; /* of a round, by thread, until there are so many in all */
	size_t held_count[2], round, rounds;
	uint64_t round_ns[200]; /* the latest record of each */
	size_t start_at;	/* the first part ends in this round, with one thread's records */
	bool start_whole;	/* or with those of all */
	uint64_t part_ns;	/* the latest record of it */
	uint64_t sites[2];
	uint32_t threads[4];
	struct budget budget;
	struct fold *fold;
	struct fold_regions *regions;
	FILE *file;
	uint64_t now, begin_ns, key;
	uint8_t flags; /* of records */
	char *lines;
	size_t size;
};

static void flush(struct run *run)
{
	if (run->content.count && fold__records(run->fold, &run->content, true))
		exit(1);
	run->content.count = 0;
}

static void put_now(struct run *run, struct trace_record rec)
{
	run->records[run->content.count++] = rec;
	if (run->content.count == BATCH)
		flush(run);
}

static void put_late(struct run *run)
{
	for (size_t i = 0; i < run->late_count; i++)
		put_now(run, run->late[i]);
	run->late_count = 0;
}

static void end_first_part(struct run *run, bool whole)
{
	if (run->start_at != run->rounds || run->start_whole != whole)
		return;
	flush(run);
	run->part_ns = run->now;
	fold_regions__start(run->regions, run->part_ns, 0);
}

/* One thread after the other, as they are read from rings that were looked at together. */
static void put_round(struct run *run)
{
	run->round_ns[run->rounds++] = run->now;
	for (size_t t = 0; t < 2; t++) {
		flush(run);
		fold_regions__round(run->regions, run->now);
		for (size_t i = 0; i < run->held_count[t]; i++)
			put_now(run, run->held[t][i]);
		run->held_count[t] = 0;
		end_first_part(run, t);
	}
}

/* 10 ns after the record before. */
static void put(struct run *run, uint32_t thread, enum trace_kind kind, uint64_t key, uint64_t frame,
		uint32_t arg)
{
	struct trace_record rec = {.time_ns = run->now += 10,
				   .key = key,
				   .frame = frame,
				   .thread = thread,
				   .site = 1,
				   .arg = arg,
				   .kind = (uint8_t)kind,
				   .flags = run->flags};

	if (run->round) {
		run->held[thread][run->held_count[thread]++] = rec;
		if (run->held_count[0] + run->held_count[1] == run->round)
			put_round(run);
		return;
	}
	if (thread == 1 && run->delay) {
		run->late[run->late_count++] = rec;
		if (run->late_count == run->delay)
			put_late(run);
		return;
	}
	put_now(run, rec);
}

static void start(struct run *run, uint64_t max_bytes, bool begun)
{
	struct fold_regions_opts opts = {.max_bytes = max_bytes,
					 .ring = RING,
					 .settle = SETTLE,
					 .budget = &run->budget};

	*run = (struct run){.sites = {0, 0x401000},
			    .threads = {100, 101, 102, 0},
			    .budget = {.left = UINT64_C(64) << 20},
			    .file = tmpfile(),
			    .now = 1000};
	run->content = (struct trace_content){.records = run->records,
					      .sites = run->sites,
					      .site_count = 2,
					      .threads = run->threads,
					      .thread_count = 4};
	opts.fd = run->file ? fileno(run->file) : -1;
	if (!run->file || fold__new(&run->budget, &run->fold) || fold_regions__new(&opts, &run->regions))
		exit(1);
	fold__tell(run->fold, run->regions);
	if (begun)
		fold_regions__start(run->regions, run->now, 0);
}

/* A region of two threads: thread 0 creates tasks, thread 1 runs them. */
static void region(struct run *run, unsigned tasks, uint64_t slower)
{
	put(run, 0, TRACE_REGION_BEGIN, 0x402000, 900, 2);
	run->begin_ns = run->now;
	put(run, 0, TRACE_TEAM_START, 0x77, 890, 2);
	put(run, 0, TRACE_TEAM_STARTED, 0, 880, 0);
	put(run, 1, TRACE_MEMBER_BEGIN, 0x77, 900, 1);
	for (unsigned i = 0; i < tasks; i++) {
		put(run, 0, TRACE_TASK_CREATE, ++run->key, 870, 0);
		put(run, 0, TRACE_TASK_CREATE_END, 0, 870, 0);
		put(run, 1, TRACE_TASK_BEGIN, run->key, 800, 0);
		run->now += slower;
		put(run, 1, TRACE_TASK_END, 0, 800, 0);
	}
	put(run, 0, TRACE_WAIT_BEGIN, 0, 860, TRACE_WAIT_REGION_END);
	put(run, 1, TRACE_WAIT_BEGIN, 0, 860, TRACE_WAIT_REGION_END);
	put(run, 0, TRACE_WAIT_END, 0, 860, TRACE_WAIT_REGION_END);
	put(run, 0, TRACE_REGION_END, 0, 900, 0);
	/* Thread 1 leaves the region after thread 0 has ended it. */
	put(run, 1, TRACE_WAIT_END, 0, 860, TRACE_WAIT_REGION_END);
}
#define RECORDS_BESIDE 8u

static void finish(struct run *run)
{
	FILE *out = open_memstream(&run->lines, &run->size);

	put_late(run);
	if (run->held_count[0] + run->held_count[1])
		put_round(run);
	flush(run);
	fold__finish(run->fold);
	if (!out || fold__regions_error(run->fold) || fold_regions__finish(run->regions, out))
		exit(1);
	fclose(out);
}

static void end(struct run *run)
{
	if (check_failures)
		printf("# %s", run->lines);
	fold_regions__free(run->regions);
	fold__free(run->fold);
	fclose(run->file);
	free(run->lines);
}

static uint64_t value(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;

	return at ? strtoull(at + strlen(key), NULL, 10) : UINT64_MAX;
}

struct kept {
	uint64_t begin_ns, end_ns, first, count;
	unsigned why;
};

static size_t read_kept(const struct run *run, struct kept *out, size_t room)
{
	size_t count = 0;

	for (const char *at = run->lines; count < room && (at = strstr(at, "@folded-region ")); at++)
		if (sscanf(at,
			   "@folded-region begin_ns=%" SCNu64 " end_ns=%" SCNu64 " first=%" SCNu64
			   " count=%" SCNu64 " why=%u\n",
			   &out[count].begin_ns, &out[count].end_ns, &out[count].first, &out[count].count,
			   &out[count].why) == 5)
			count++;
	return count;
}

/* Whether the file has so many tasks of it, created, begun and ended, in order, and nothing else. */
static bool is_whole(const struct run *run, const struct kept *kept, unsigned tasks)
{
	struct trace_event *events = calloc(kept->count, sizeof(*events));
	unsigned kinds[TRACE_KIND_MAX] = {0};
	bool sound = events && pread(fileno(run->file), events, kept->count * sizeof(*events),
				     (off_t)(kept->first * sizeof(*events))) ==
				       (ssize_t)(kept->count * sizeof(*events));

	for (uint64_t i = 0; sound && i < kept->count; i++) {
		sound = events[i].time_ns >= kept->begin_ns && events[i].time_ns <= kept->end_ns &&
			(i == 0 || events[i].time_ns >= events[i - 1].time_ns) &&
			events[i].site == 0x401000 && (events[i].tid == 100 || events[i].tid == 101) &&
			events[i].kind < TRACE_KIND_MAX;
		if (sound)
			kinds[events[i].kind]++;
	}
	sound = sound && events[0].kind == TRACE_REGION_BEGIN && events[0].time_ns == kept->begin_ns &&
		events[kept->count - 1].kind == TRACE_REGION_END;
	free(events);
	return sound && kept->count == 4 * (uint64_t)tasks + RECORDS_BESIDE &&
	       kinds[TRACE_TASK_CREATE] == tasks && kinds[TRACE_TASK_BEGIN] == tasks &&
	       kinds[TRACE_TASK_END] == tasks && kinds[TRACE_MEMBER_BEGIN] == 1;
}

static bool fits_file(const struct run *run, uint64_t max_bytes)
{
	struct stat st;

	return fstat(fileno(run->file), &st) == 0 && (uint64_t)st.st_size <= max_bytes;
}

/* `delay`: records of the worker come so many of them later. */
static void selection(size_t delay, const char *how)
{
	const uint64_t room = UINT64_C(1) << 20;
	uint64_t slow_ns = 0, last_ns = 0, every;
	struct kept kept[32];
	size_t count, evenly = 0, whole = 0, slowest = 0, last = 0;
	static struct run run;

	start(&run, room, true);
	run.delay = delay;
	for (unsigned i = 0; i < 1000; i++) {
		region(&run, 10, i == 700 ? 500 : i == 300 ? 400 : 0);
		slow_ns = i == 700 ? run.begin_ns : slow_ns;
		last_ns = run.begin_ns;
	}
	finish(&run);
	count = read_kept(&run, kept, COUNT(kept));
	every = value(run.lines, " every=");
	for (size_t i = 0; i < count; i++) {
		whole += is_whole(&run, &kept[i], 10);
		slowest += kept[i].begin_ns == slow_ns && kept[i].why & FOLD_WHY_SLOWEST;
		last += kept[i].begin_ns == last_ns && kept[i].why & FOLD_WHY_LAST;
		evenly += (kept[i].why & FOLD_WHY_EVERY) != 0;
	}
	CHECK(value(run.lines, " regions_seen=") == 1000, "all regions are seen, %s", how);
	CHECK(slowest == 1, "the slowest is kept, %s", how);
	CHECK(last == 1, "the last one is, %s", how);
	CHECK(every == 64 && evenly == 16, "and each 64th of the thousand, %s", how);
	CHECK(count > 16 && whole == count, "each of them whole: %zu of %zu, %s", whole, count, how);
	CHECK(fits_file(&run, room), "in no more than the room, %s", how);
	end(&run);
}

/* Words come in rounds, larger than what settles, each thread's after those of another one. */
static void rounds(size_t size, bool remembered)
{
	const uint64_t room = UINT64_C(1) << 20;
	struct kept kept[32];
	size_t count, whole = 0;
	static struct run run;

	start(&run, room, true);
	run.round = size;
	for (unsigned i = 0; i < 1000; i++)
		region(&run, 10, i == 700 ? 500 : 0);
	finish(&run);
	count = read_kept(&run, kept, COUNT(kept));
	for (size_t i = 0; i < count; i++)
		whole += is_whole(&run, &kept[i], 10);
	CHECK(count >= 8 && whole == count, "of rounds of %zu records regions are kept whole: %zu of %zu",
	      size, whole, count);
	CHECK((value(run.lines, " unkept_large=") == 0) == remembered &&
		      value(run.lines, " regions_seen=") + value(run.lines, " unkept_large=") == 1000,
	      "%s", remembered ? "as long as they are remembered any can be" : "others are counted");
	end(&run);
}

/* The first part ends where all threads' records are there. */
static void edge(bool whole)
{
	uint64_t begins[1000], until, edge = 0, after = 0;
	static struct run run;

	start(&run, UINT64_C(1) << 20, false);
	run.round = 1500;
	run.start_at = 8;
	run.start_whole = whole;
	for (unsigned i = 0; i < COUNT(begins); i++) {
		region(&run, 10, 0);
		begins[i] = run.begin_ns;
	}
	finish(&run);
	/* What is not in a round is later than the one before it; of rounds[7] there may be a part. */
	until = run.round_ns[whole ? 6 : 5];
	for (unsigned i = 0; i < COUNT(begins); i++) {
		edge += begins[i] > until && begins[i] <= run.part_ns;
		after += begins[i] > run.part_ns;
	}
	CHECK(value(run.lines, "@folded-part begin_ns=") == 1010 && value(run.lines, " end_ns=") == until,
	      "the first part that ends %s a round has all up to a round before", whole ? "with" : "in");
	CHECK(edge > 20 && value(run.lines, " unkept_edge=") == edge &&
		      value(run.lines, " regions_seen=") == after,
	      "%" PRIu64 " regions at its edge are counted, %" PRIu64 " come after it", edge, after);
	end(&run);
}

/*
 * Records that are as early as the first part's last one, of which some were read with it and some were not.
 */
static void late_edge(bool read_before)
{
	uint64_t edge = 0, after = 0, part_ns;
	static struct run run;

	start(&run, UINT64_C(1) << 20, false);
	for (unsigned i = 0; i < 10; i++)
		region(&run, 10, 0);
	flush(&run);
	part_ns = run.now + 2000;
	fold_regions__start(run.regions, part_ns, 0);
	run.flags = read_before ? RECORD_FIRST_PART : 0;
	for (unsigned i = 0; i < 20; i++) {
		region(&run, 10, 0);
		edge += run.begin_ns <= part_ns;
		after += run.begin_ns > part_ns;
		run.flags = run.now > part_ns ? 0 : run.flags;
	}
	finish(&run);
	CHECK(edge > 2 && value(run.lines, " unkept_edge=") == (read_before ? 0 : edge) &&
		      value(run.lines, " regions_seen=") == after,
	      "of %" PRIu64 " regions that began by then those are counted that were read later: %s", edge,
	      read_before ? "none" : "all");
	end(&run);
}

/* What came before is in the trace; of what came last some threads' may be `lacking`. */
static void first_part(bool lacking)
{
	static struct run run;
	struct kept kept[32];
	uint64_t part_ns, whole_ns = 0;
	size_t count;

	start(&run, UINT64_C(1) << 20, false);
	for (unsigned i = 0; i < 10; i++) {
		region(&run, 10, 1000);
		if (lacking && i == 5)
			whole_ns = run.now;
	}
	/* The next one has begun. */
	put(&run, 0, TRACE_REGION_BEGIN, 0x402000, 900, 2);
	flush(&run);
	part_ns = run.now;
	fold_regions__start(run.regions, part_ns, whole_ns);
	put(&run, 0, TRACE_REGION_END, 0, 900, 0);
	region(&run, 10, 0);
	finish(&run);
	count = read_kept(&run, kept, COUNT(kept));
	CHECK(count == 1 && kept[0].begin_ns == run.begin_ns &&
		      kept[0].why == (FOLD_WHY_SLOWEST | FOLD_WHY_LAST | FOLD_WHY_EVERY) &&
		      is_whole(&run, &kept[0], 10),
	      "only regions after the first part are kept, one once for all reasons");
	CHECK(value(run.lines, "@folded-part begin_ns=") == 1010 &&
		      value(run.lines, " end_ns=") == (lacking ? whole_ns : part_ns),
	      "the first part is from the first record to the last that lacks nothing before it");
	CHECK(value(run.lines, " unkept_edge=") == (lacking ? 5 : 0), "regions after that are its edge");
	end(&run);
}

static void too_long(void)
{
	static struct run run;
	struct kept kept[32];
	size_t count;

	start(&run, UINT64_C(16) << 20, true);
	for (unsigned i = 0; i < 50; i++)
		region(&run, 10, 0);
	region(&run, RING, 1000);
	for (unsigned i = 0; i < 50; i++)
		region(&run, 10, 0);
	finish(&run);
	count = read_kept(&run, kept, COUNT(kept));
	CHECK(value(run.lines, " unkept_large=") == 1 && value(run.lines, " regions_seen=") == 100,
	      "a region of more records than are remembered is counted");
	CHECK(count > 8, "the others are kept");
	for (size_t i = 0; i < count; i++)
		if (!is_whole(&run, &kept[i], 10))
			CHECK(false, "region %zu is whole", i);
	end(&run);
}

static void room_full(void)
{
	/* 400 events: 200 for the slowest, 100 for the last one, between them for the others. */
	const uint64_t room = 400 * sizeof(struct trace_event);
	static struct run run;
	struct kept kept[32];
	size_t count, whole = 0, evenly = 0;
	unsigned why = 0;

	start(&run, room, true);
	for (unsigned i = 0; i < 200; i++)
		region(&run, i == 150 ? 40 : 10, i == 150 ? 100 : 0);
	region(&run, 200, 1000);
	finish(&run);
	count = read_kept(&run, kept, COUNT(kept));
	for (size_t i = 0; i < count; i++) {
		why |= kept[i].why;
		evenly += (kept[i].why & FOLD_WHY_EVERY) != 0;
		whole += is_whole(&run, &kept[i], kept[i].why & FOLD_WHY_SLOWEST ? 40 : 10);
	}
	CHECK(whole == count && why == (FOLD_WHY_SLOWEST | FOLD_WHY_LAST | FOLD_WHY_EVERY),
	      "where there is little room the slowest, the last and others are kept whole");
	CHECK(evenly >= 1 && evenly <= 3 && value(run.lines, " every=") >= 64,
	      "and those are so much further apart (%zu)", evenly);
	CHECK(value(run.lines, " unkept_room=") == 1, "one that is larger than the room is counted");
	CHECK(fits_file(&run, room), "the file stays within it");
	end(&run);
}

/* Every other one has no room among those that are kept at distances. */
static void alternating(void)
{
	const uint64_t room = 2000 * sizeof(struct trace_event);
	static struct run run;
	struct kept kept[32];
	size_t count, whole = 0;

	start(&run, room, true);
	for (unsigned i = 0; i < 400; i++)
		region(&run, i % 2 ? 200 : 5, 0);
	finish(&run);
	count = read_kept(&run, kept, COUNT(kept));
	for (size_t i = 0; i < count; i++)
		whole += is_whole(&run, &kept[i], kept[i].why & FOLD_WHY_SLOWEST ? 200 : 5);
	CHECK(count > 8 && count <= FOLD_REGIONS_EVERY + 2 && whole == count,
	      "of small regions and those that only the slowest has room for %zu are kept, each whole",
	      count);
	CHECK(fits_file(&run, room), "in the room");
	end(&run);
}

static void not_whole(void)
{
	static struct run run;
	struct kept kept[32];

	start(&run, UINT64_C(1) << 20, true);
	put(&run, 0, TRACE_REGION_BEGIN, 0x402000, 900, 2);
	put(&run, 1, TRACE_LOST, 0, 0, 5);
	put(&run, 0, TRACE_REGION_END, 0, 900, 0);
	put(&run, 0, TRACE_REGION_BEGIN, 0x402000, 900, 2);
	put(&run, 2, TRACE_REGION_BEGIN, 0x402000, 900, 2);
	put(&run, 0, TRACE_REGION_END, 0, 900, 0);
	put(&run, 0, TRACE_REGION_BEGIN, 0x402000, 900, 2);
	put(&run, 0, TRACE_REGION_END, 0, 900, 0);
	put(&run, 2, TRACE_REGION_END, 0, 900, 0);
	/* Its end is never seen. */
	put(&run, 2, TRACE_REGION_BEGIN, 0x402000, 900, 2);
	finish(&run);
	CHECK(value(run.lines, " unkept_lost=") == 1, "a region in which events are missing is not kept");
	CHECK(value(run.lines, " unkept_overlapping=") == 3, "nor are those that run beside each other");
	CHECK(read_kept(&run, kept, COUNT(kept)) == 0 && !strstr(run.lines, "@folded-part"),
	      "nothing is kept then");
	end(&run);
}

static void readings(void)
{
	static struct run run;
	struct trace_event first[4] = {{0}};
	struct kept kept[4];

	start(&run, UINT64_C(1) << 20, true);
	put(&run, 0, TRACE_COUNTERS, 1, 1, 0);
	put(&run, 0, TRACE_GROUP_BEGIN, 0, 950, 0);
	put(&run, 0, TRACE_COUNTERS, 2, 2, 0);
	run.now -= 10;
	put(&run, 0, TRACE_REGION_BEGIN, 0x402000, 900, 2);
	put(&run, 1, TRACE_COUNTERS, 3, 3, 0);
	run.now -= 10;
	put(&run, 1, TRACE_MEMBER_BEGIN, 0x77, 900, 1);
	put(&run, 0, TRACE_REGION_END, 0, 900, 0);
	finish(&run);
	CHECK(read_kept(&run, kept, COUNT(kept)) == 1 && kept[0].count == 5 &&
		      pread(fileno(run.file), first, sizeof(first), 0) == sizeof(first) &&
		      first[0].kind == TRACE_COUNTERS && first[0].key == 2 &&
		      first[1].kind == TRACE_REGION_BEGIN && first[2].kind == TRACE_COUNTERS &&
		      first[2].key == 3 && first[3].kind == TRACE_MEMBER_BEGIN,
	      "what counters read at the first events of threads is kept with these");
	end(&run);
}

/* Whatever there is in the records: what is kept is of its time, and in the file. */
static void nonsense(void)
{
	const uint64_t room = UINT64_C(64) << 10;
	size_t outside = 0, kept_in_all = 0;
	static struct run run;

	srandom(7);
	for (unsigned round = 0; round < 30; round++) {
		struct kept kept[32];
		size_t count;

		start(&run, room, round % 3 != 0);
		for (unsigned i = 0; i < 40000; i++) {
			uint32_t thread = (uint32_t)random() % 4;
			unsigned kind = (unsigned)random() % 4
						? TRACE_REGION_BEGIN + (unsigned)random() % 2
						: 1 + (unsigned)random() % (TRACE_KIND_MAX - 1);

			if (random() % 1000 == 0)
				run.now -= (uint64_t)random() % (run.now < 50000 ? run.now : 50000);
			if (i == 20000 && round % 3 == 0)
				fold_regions__start(run.regions, run.now, 0);
			put(&run, round % 2 ? 0 : thread, kind == TRACE_LOST && i % 50 ? 1 : kind,
			    (uint64_t)random() % 9, 800 + 10 * ((uint64_t)random() % 9),
			    (uint32_t)random() % 3);
		}
		finish(&run);
		count = read_kept(&run, kept, COUNT(kept));
		kept_in_all += count;
		for (size_t i = 0; i < count; i++)
			outside += kept[i].end_ns < kept[i].begin_ns ||
				   (kept[i].first + kept[i].count) * sizeof(struct trace_event) > room ||
				   (i && kept[i].begin_ns < kept[i - 1].end_ns);
		outside += !fits_file(&run, room);
		end(&run);
	}
	CHECK(kept_in_all > 0 && outside == 0, "nonsense is kept within its bounds: %zu regions",
	      kept_in_all);
}

static void no_memory(void)
{
	struct budget budget = {.left = 1000};
	struct fold_regions_opts opts = {.max_bytes = 1000,
					 .ring = RING,
					 .settle = SETTLE,
					 .budget = &budget};
	struct fold_regions *regions = NULL;

	CHECK(fold_regions__new(&opts, &regions) == -E2BIG && !regions && budget.left == 1000,
	      "without memory for them there are none, and nothing is taken");
}

int main(void)
{
	selection(0, "in order");
	selection(SETTLE / 4, "with a thread that is read late");
	rounds(1500, true);
	rounds(4000, false);
	edge(true);
	edge(false);
	late_edge(false);
	late_edge(true);
	first_part(false);
	first_part(true);
	too_long();
	room_full();
	alternating();
	not_whole();
	readings();
	nonsense();
	no_memory();
	CHECK_DONE();
}
