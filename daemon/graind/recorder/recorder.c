// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/recorder/recorder.h"
#include "daemon/common/job_store/job_store.h"
#include "daemon/common/trace/trace_machine.h"
#include "daemon/graind/pages/accesses.h"
#include "daemon/graind/symbols/kernel_symbols.h"
#include "daemon/graind/process/modules.h"
#include "daemon/graind/pages/pages.h"
#include "daemon/graind/pages/placement.h"
#include "daemon/graind/spool/spool.h"
#include "daemon/graind/symbols/symbols.h"
#include "daemon/graind/base/urgency.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* At the end of a long job, reading the rest takes this many times as long as naming sources. */
#define FOLD_PATIENCE 4
#define REFRESH_NS 100000000u
/*
 * For addresses of samples: after readings of the mappings that found nothing new, the pause before the
 * next reading grows, up to this time. Addresses of a vDSO, or of no code at all, are in no file.
 */
#define PATIENCE_MAX_NS (10u * REFRESH_NS)
/*
 * The pause between two readings of the mappings is at least this many times the duration of one, because a
 * process may have any number of mappings.
 */
#define REFRESH_SHARE 50
/*
 * This many files are opened before a site in them is seen. A short program may already have ended when its
 * sites are seen.
 */
#define OPEN_EARLY 16
#define QUOTED_MAX (2 * 4096 + 3)
#define IDENTS_FROM_MEMORY 1024 /* the most idents that are read from the process */

/* How far the search for the modules of a set of addresses has come. */
struct looked {
	size_t seen; /* number of elements whose module was searched for */
	/*
	 * The number of elements when the mappings were last read. An element that was in no mapping then
	 * will never be in one.
	 */
	size_t asked;
	uint64_t patience_ns; /* how much longer than may_refresh_ns to wait */
};

struct recorder {
	struct process process;
	struct trace_writer *writer; /* of the trace: for its lines, and for events while there is room */
	struct spool *spool;
	struct site_set sites, idents;
	struct site_set addresses; /* empty if there are no samples */
	struct module_table modules;
	struct ring_to_trace ring;
	struct pages *pages; /* NULL: the placement of its memory is not examined */
	struct looked sites_looked, addresses_looked;
	size_t idents_seen;	 /* number of entries of idents.list whose text was read */
	size_t modules_told;	 /* number of modules whose line is in the trace */
	uint64_t may_refresh_ns; /* the mappings may be read again from this time on */
	int error;
	struct trace_word_site *word_sites; /* not yet in the trace */
	uint32_t word_site_count;
};

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void keep_error(struct recorder *recorder, int error)
{
	if (error && !recorder->error)
		recorder->error = error;
}

int recorder__new(int dirfd, const struct process *process, uint64_t max_bytes, struct recorder **out)
{
	/*
	 * The worker that analyses root's traces runs as the user nobody. The mode of the directory keeps
	 * other users out.
	 */
	const struct trace_writer_opts opts = {.max_bytes = max_bytes, .mode = process->uid ? 0600 : 0644};
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int error;

	if (!recorder)
		return -ENOMEM;
	recorder->process = *process;
	error = site_set__init(&recorder->sites);
	if (!error)
		error = site_set__init(&recorder->idents);
	if (!error)
		error = neighbours__new(process->uid, &recorder->ring.neighbours);
	if (!error)
		error = live__new(&recorder->ring.live);
	if (!error)
		error = trace_writer__create(dirfd, TRACE_FILE, &opts, &recorder->writer);
	if (!error)
		error = trace_machine__describe(recorder->writer);
	if (!error)
		error = trace_writer__flush(recorder->writer);
	if (!error)
		error = spool__new(&(struct spool_opts){.dirfd = dirfd,
							.name = TRACE_FILE,
							.trace = recorder->writer,
							.uid = process->uid,
							.gid = process->gid,
							.max_bytes = max_bytes},
				   &recorder->spool);
	if (error) {
		recorder__free(recorder);
		return error;
	}
	recorder->ring.writer = recorder->ring.lines = recorder->writer;
	recorder->ring.sites = &recorder->sites;
	recorder->ring.idents = &recorder->idents;
	recorder->ring.tgid = process->pid;
	*out = recorder;
	return 0;
}

void recorder__take_modules(struct recorder *recorder, struct module_table *modules)
{
	module_table__free(&recorder->modules);
	recorder->modules = *modules;
	*modules = (struct module_table){0};
}

static void tell_modules(struct recorder *recorder)
{
	char *quoted = malloc(QUOTED_MAX);

	for (; quoted && recorder->modules_told < recorder->modules.count; recorder->modules_told++) {
		const struct module *module = &recorder->modules.modules[recorder->modules_told];

		trace_writer__quote(module->path, quoted, QUOTED_MAX);
		keep_error(recorder, trace_writer__textf(recorder->writer,
							 "@module start=0x%" PRIx64 " end=0x%" PRIx64
							 " offset=0x%" PRIx64 " path=%s",
							 module->start, module->end, module->offset, quoted));
	}
	free(quoted);
}

static uint64_t longer_patience(uint64_t patience_ns, bool found)
{
	uint64_t longer = 2 * patience_ns + REFRESH_NS;

	if (found)
		return 0;
	return longer < PATIENCE_MAX_NS ? longer : PATIENCE_MAX_NS;
}

static void refresh_modules(struct recorder *recorder)
{
	const uint64_t began_ns = now_ns(), began_cpu_ns = urgency__cpu_ns();
	const size_t known = recorder->modules.count;
	uint64_t took_ns;

	recorder->sites_looked.asked = recorder->sites.count;
	recorder->addresses_looked.asked = recorder->addresses.count;
	recorder->may_refresh_ns = began_ns + REFRESH_NS;
	if (!process__is_same_user(&recorder->process)) {
		tell_modules(recorder);
		return;
	}
	module_table__refresh(&recorder->modules, recorder->process.pid);
	if (!process__is_same_user(&recorder->process))
		module_table__forget_after(&recorder->modules, known);
	recorder->addresses_looked.patience_ns =
		longer_patience(recorder->addresses_looked.patience_ns, recorder->modules.count > known);
	for (size_t i = 0; i < recorder->modules.count && i < OPEN_EARLY; i++)
		module_table__open(&recorder->modules, &recorder->modules.modules[i], recorder->process.pid);
	tell_modules(recorder);
	took_ns = urgency__cpu_ns() - began_cpu_ns;
	if (took_ns > REFRESH_NS / REFRESH_SHARE)
		recorder->may_refresh_ns = began_ns + took_ns * REFRESH_SHARE;
}

bool recorder__is_crowded(const struct recorder *recorder)
{
	return recorder->modules.crowded;
}

void recorder__add_modules(struct recorder *recorder, struct module_table *modules)
{
	module_table__move(modules, &recorder->modules);
	tell_modules(recorder);
}

static int tell_process(struct recorder *recorder, const char *runtime)
{
	const struct process *process = &recorder->process;
	char *exe = malloc(QUOTED_MAX), *cmd = malloc(QUOTED_MAX);
	int error = exe && cmd ? 0 : -ENOMEM;

	if (!error) {
		trace_writer__quote(process->exe, exe, QUOTED_MAX);
		trace_writer__quote(process->cmd, cmd, QUOTED_MAX);
		error = trace_writer__textf(
			recorder->writer, "@process pid=%d uid=%u exe=%s cmd=%s runtime=%s threads=%" PRIu32,
			(int)process->pid, (unsigned int)process->uid, exe, cmd, runtime, process->threads);
	}
	free(exe);
	free(cmd);
	return error;
}

void recorder__runtime(struct recorder *recorder, const char *runtime)
{
	keep_error(recorder, tell_process(recorder, runtime));
}

static int tell_capture(struct recorder *recorder, const struct recorder_capture *capture)
{
	char costs[96] = "", scheduler[512] = "scheduler=1", quoted[480];

	if (capture->ns_per_event > 0)
		snprintf(costs, sizeof(costs), " ns_per_event=%.1f resolution_ns=%.0f", capture->ns_per_event,
			 capture->ns_per_event);
	if (capture->scheduler_absent) {
		trace_writer__quote(capture->scheduler_absent, quoted, sizeof(quoted));
		snprintf(scheduler, sizeof(scheduler), "scheduler=0 scheduler_why=%s", quoted);
	}
	return trace_writer__textf(recorder->writer,
				   "@capture source=%s method=%s%s attach_ns=%" PRIu64 " late=%d %s",
				   capture->source, capture->method, costs, capture->attach_ns, capture->late,
				   scheduler);
}

static int tell_counters(struct recorder *recorder, const struct counter_set *set)
{
	int error = 0;

	for (size_t i = 0; i < set->counter_count && !error; i++) {
		const struct counter *counter = &set->counters[i];
		char name[140], why[340];

		trace_writer__quote(counter->name, name, sizeof(name));
		trace_writer__quote(counter->absent, why, sizeof(why));
		error = counter->absent[0]
				? trace_writer__textf(recorder->writer, "@counter-absent name=%s why=%s",
						      name, why)
				: trace_writer__textf(recorder->writer, "@counter %zu name=%s", i, name);
	}
	return error;
}

void recorder__counters(struct recorder *recorder, const struct counter_set *set)
{
	keep_error(recorder, tell_counters(recorder, set));
}

void recorder__share(struct recorder *recorder, size_t counter, double share)
{
	if (share < 1)
		keep_error(recorder, trace_writer__textf(recorder->writer, "@counter-share %zu share=%.6f",
							 counter, share));
}

/* Writes lines about sampling, or the reason why there are no samples. */
static int tell_sampling(struct recorder *recorder, const struct recorder_capture *capture)
{
	const struct capture_sampling *sampling = &capture->sampling;
	char why[520];
	int error;

	if (!sampling->hz)
		return 0;
	trace_writer__quote(sampling->why, why, sizeof(why));
	if (!sampling->clock)
		return trace_writer__textf(recorder->writer, "@sampling hz=%u why=%s", sampling->hz, why);
	error = site_set__init(&recorder->addresses);
	if (error)
		return error;
	recorder->ring.addresses = &recorder->addresses;
	recorder->ring.kernel_names = !capture->no_kernel_names;
	if (recorder->ring.kernel_names)
		kernel_symbols__hold();
	return trace_writer__textf(recorder->writer, "@sampling hz=%u clock=%s", sampling->hz,
				   sampling->clock);
}

/* The same for samples of data addresses. Writes nothing if memory is not examined. */
static int tell_accesses(struct recorder *recorder, const struct recorder_capture *capture)
{
	const struct capture_accesses *accesses = &capture->accesses;
	char text[520];
	int error;

	if (!accesses->asked)
		return 0;
	trace_writer__quote(accesses->event ? accesses->event : accesses->why, text, sizeof(text));
	error = trace_writer__textf(recorder->writer, "@accesses hz=%u %s=%s", capture->sampling.hz,
				    accesses->event ? "event" : "why", text);
	return error || !accesses->event ? error
					 : accesses__new(&recorder->process, &recorder->ring.accesses);
}

void recorder__window(struct recorder *recorder, const struct recorder_window *window)
{
	if (window->end_ns)
		live__pause(recorder->ring.live, window->end_ns);
	else
		live__resume(recorder->ring.live, window->begin_ns);
	spool__parted(recorder->spool);
	if (window->end_ns)
		keep_error(recorder, trace_writer__textf(recorder->writer,
							 "@window begin_ns=%" PRIu64 " end_ns=%" PRIu64
							 " cost_ns=%" PRIu64,
							 window->begin_ns, window->end_ns, window->cost_ns));
	else
		keep_error(recorder, trace_writer__textf(recorder->writer, "@window begin_ns=%" PRIu64,
							 window->begin_ns));
}

bool recorder__is_parted(const struct recorder *recorder)
{
	return spool__is_parted(recorder->spool);
}

void recorder__lost_samples(struct recorder *recorder, uint64_t count, uint64_t addresses)
{
	if (count)
		keep_error(recorder, trace_writer__textf(recorder->writer, "@sampling lost=%" PRIu64, count));
	if (addresses && recorder->ring.accesses)
		keep_error(recorder,
			   trace_writer__textf(recorder->writer, "@accesses lost=%" PRIu64, addresses));
}

int recorder__begin(struct recorder *recorder, const struct recorder_capture *capture)
{
	int error = tell_process(recorder, capture->runtime);

	if (!error)
		error = trace_machine__describe_allowed(recorder->writer, recorder->process.pid);
	if (!error)
		error = trace_settings__describe(recorder->writer, recorder->process.pid);
	if (!error)
		error = tell_capture(recorder, capture);
	if (!error)
		error = tell_counters(recorder, capture->counters);
	if (!error)
		error = tell_sampling(recorder, capture);
	if (!error)
		error = tell_accesses(recorder, capture);
	if (error)
		return error;
	refresh_modules(recorder);
	if (strcmp(capture->source, "samples") != 0)
		error = pages__watch(&recorder->process, &recorder->pages);
	return error ? error : trace_writer__flush(recorder->writer);
}

void recorder__by_itself(struct recorder *recorder, bool by_itself)
{
	recorder->ring.by_itself = by_itself;
}

void recorder__waits(struct recorder *recorder, bool (*waits)(void *ctx), void *ctx)
{
	spool__waits(recorder->spool, waits, ctx);
}

bool recorder__has_room(const struct recorder *recorder)
{
	return spool__has_room(recorder->spool);
}

void recorder__fed(struct recorder *recorder, uint64_t ns)
{
	spool__given(recorder->spool, ns);
}

void recorder__feed(struct recorder *recorder, unsigned int cpu, const struct ring_event *events,
		    size_t count)
{
	/*
	 * If libgrainshim records the process, the rings have few events for it, and a gap in them would
	 * count for all of its threads.
	 */
	recorder->ring.writer = spool__writer(recorder->spool, recorder->ring.by_itself);
	keep_error(recorder, ring_to_trace__convert(&recorder->ring, cpu, events, count));
}

void recorder__cost(struct recorder *recorder, double ns_per_event)
{
	if (ns_per_event > 0)
		keep_error(recorder, trace_writer__textf(recorder->writer,
							 "@capture ns_per_event=%.1f resolution_ns=%.0f",
							 ns_per_event, ns_per_event));
}

void recorder__word_site(struct recorder *recorder, uint32_t number, uint64_t address, const char *kind,
			 bool is_return, bool is_share)
{
	struct site *site = site_set__add(&recorder->sites, address, kind, is_return);

	if (site && is_share)
		site->share = true;
	if (!recorder->word_sites)
		recorder->word_sites = calloc(TRACE_WORD_SITES, sizeof(*recorder->word_sites));
	if (!recorder->word_sites)
		keep_error(recorder, -ENOMEM);
	else if (recorder->word_site_count < TRACE_WORD_SITES)
		recorder->word_sites[recorder->word_site_count++] =
			(struct trace_word_site){.address = address, .number = number};
}

void recorder__words(struct recorder *recorder, const struct trace_words_head *head, const uint64_t *words)
{
	struct ring_counts *counts = &recorder->ring.counts;
	struct trace_words_head whole = *head;

	spool__round(recorder->spool, head->ns[1]);
	whole.sites = recorder->word_site_count;
	keep_error(recorder, trace_writer__words(spool__writer(recorder->spool, false), &whole,
						 recorder->word_sites, words));
	recorder->word_site_count = 0;
	counts->events += head->words;
	if (!counts->first_ns)
		counts->first_ns = head->ns[0];
	counts->last_ns = head->ns[1];
}

void recorder__inside(struct recorder *recorder, const struct inside_counts *counts)
{
	recorder->ring.counts.inside = *counts;
}

static void settle(struct recorder *recorder, bool now)
{
	recorder->ring.writer = spool__writer(recorder->spool, recorder->ring.by_itself);
	keep_error(recorder, ring_to_trace__settle(&recorder->ring, now));
}

/* Opens files while the process still leads to them. */
static void look_at_new(struct recorder *recorder, const struct site_set *set, struct looked *looked,
			bool at_end)
{
	for (; looked->seen < set->count; looked->seen++) {
		uint64_t address = set->list[looked->seen].address;
		struct module *module = module_table__find(&recorder->modules, address);

		if (kernel_symbols__is_kernel(address))
			continue;
		if (!module && !at_end && looked->seen >= looked->asked) {
			if (now_ns() < recorder->may_refresh_ns + looked->patience_ns)
				return;
			refresh_modules(recorder);
			module = module_table__find(&recorder->modules, address);
		}
		if (module && !module->opened)
			module_table__open(&recorder->modules, module,
					   process__is_same_user(&recorder->process) ? recorder->process.pid
										     : 0);
	}
}

static void look_at_new_sites(struct recorder *recorder, bool at_end)
{
	if (at_end && (recorder->sites_looked.seen < recorder->sites.count ||
		       recorder->addresses_looked.seen < recorder->addresses.count))
		refresh_modules(recorder);
	look_at_new(recorder, &recorder->sites, &recorder->sites_looked, at_end);
	look_at_new(recorder, &recorder->addresses, &recorder->addresses_looked, at_end);
}

/* The open descriptor always refers to the same memory, even if the process executes another program. */
static int open_same(const struct recorder *recorder, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || process__is_same_user(&recorder->process))
		return fd;
	close(fd);
	return -1;
}

/*
 * Strings of idents are read from the program's file at the end. Only strings of code that was generated in
 * memory are read here. They are small and made printable.
 */
static void look_at_new_idents(struct recorder *recorder)
{
	char path[64], text[IDENT_BYTES];
	int fd = -1;

	for (; recorder->idents_seen < recorder->idents.count; recorder->idents_seen++) {
		struct site *ident = &recorder->idents.list[recorder->idents_seen];
		ssize_t got;
		size_t length = 0;

		if (recorder->idents_seen >= IDENTS_FROM_MEMORY || ident->address > INT64_MAX)
			continue;
		if (fd < 0 && process__is_same_user(&recorder->process)) {
			snprintf(path, sizeof(path), "/proc/%d/mem", (int)recorder->process.pid);
			fd = open_same(recorder, path);
		}
		if (fd < 0)
			continue;
		got = pread(fd, text, sizeof(text), (off_t)ident->address);
		while (got > 0 && length < (size_t)got && (unsigned char)text[length] >= 0x20 &&
		       text[length] != 0x7f)
			length++;
		if (length && length < (size_t)got && !text[length])
			ident->text = strdup(text);
	}
	if (fd >= 0)
		close(fd);
}

void recorder__tick(struct recorder *recorder, bool flush)
{
	look_at_new_sites(recorder, false);
	look_at_new_idents(recorder);
	settle(recorder, false);
	if (flush) {
		keep_error(recorder, trace_writer__flush(recorder->writer));
		spool__flush(recorder->spool);
	}
}

const struct ring_counts *recorder__counts(const struct recorder *recorder)
{
	return &recorder->ring.counts;
}

void recorder__live(const struct recorder *recorder, struct live_measures *out)
{
	live__read(recorder->ring.live, now_ns(), out);
}

int recorder__later(const struct recorder *recorder)
{
	return recorder->spool ? spool__later(recorder->spool) : -1;
}

uint64_t recorder__dropped(const struct recorder *recorder)
{
	struct trace_writer_stats stats;

	trace_writer__stats(recorder->writer, &stats);
	return stats.dropped_events + spool__dropped(recorder->spool);
}

static void tell_loss(struct recorder *recorder, const char *cause, uint64_t count)
{
	if (count)
		keep_error(recorder, trace_writer__textf(recorder->writer, "@lost cause=%s count=%" PRIu64,
							 cause, count));
}

int recorder__finish(struct recorder *recorder, const char *reason, const struct recorder_loss *losses,
		     size_t count, unsigned int symbolize_seconds, int *unnamed)
{
	struct data_objects data = {0};
	uint64_t dropped;
	int error;

	settle(recorder, true);
	look_at_new_sites(recorder, true);
	/* After the process has ended or executed another program, its memory is gone. */
	if (recorder->pages)
		pages__stop(recorder->pages, strcmp(reason, "exit") && strcmp(reason, "exec"));
	keep_error(recorder, trace_writer__flush(recorder->writer));
	spool__flush(recorder->spool);
	dropped = recorder__dropped(recorder);
	keep_error(recorder, spool__finish(recorder->spool, FOLD_PATIENCE * symbolize_seconds));
	recorder->spool = NULL;
	keep_error(recorder,
		   symbols__write(recorder->writer,
				  &(struct symbols_asked){.sites = &recorder->sites,
							  .idents = &recorder->idents,
							  .addresses = &recorder->addresses,
							  .modules = &recorder->modules,
							  .data = recorder->pages ? &data : NULL},
				  recorder->process.uid, recorder->process.gid, symbolize_seconds, unnamed));
	if (recorder->pages)
		keep_error(recorder, placement__write(recorder->writer, recorder->pages, &data));
	data_objects__free(&data);
	for (size_t i = 0; i < count; i++)
		tell_loss(recorder, losses[i].cause, losses[i].count);
	tell_loss(recorder, "trace-file", dropped);
	tell_loss(recorder, "unknown-event", recorder->ring.counts.unknown);
	keep_error(recorder,
		   trace_writer__textf(recorder->writer, "@end reason=%s end_ns=%" PRIu64 " events=%" PRIu64,
				       reason, now_ns(), recorder->ring.counts.events));
	keep_error(recorder, trace_writer__finish(recorder->writer, NULL));
	recorder->writer = NULL;
	error = recorder->error;
	recorder__free(recorder);
	return error;
}

void recorder__free(struct recorder *recorder)
{
	enum urgency before;

	if (!recorder)
		return;
	before = urgency__raise(URGENCY_LOOK);
	spool__free(recorder->spool);
	if (recorder->writer)
		trace_writer__abandon(recorder->writer);
	site_set__free(&recorder->sites);
	site_set__free(&recorder->idents);
	site_set__free(&recorder->addresses);
	if (recorder->ring.kernel_names)
		kernel_symbols__release();
	pages__free(recorder->pages);
	module_table__free(&recorder->modules);
	free(recorder->word_sites);
	accesses__free(recorder->ring.accesses);
	neighbours__free(recorder->ring.neighbours);
	live__free(recorder->ring.live);
	free(recorder);
	urgency__set(before);
}
