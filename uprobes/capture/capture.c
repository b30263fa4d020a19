// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/capture/capture.h"
#include "uprobes/capture/pid_namespace.h"
#include "uprobes/probe/probe_links.h"
#include "uprobes/probe/probe_programs.h"
#include "uprobes/capture/ring_reader.h"
#include "uprobes/capture/samples.h"
#include "uprobes/capture/switch_gate.h"

#include "bpf/openmp.skel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SLOTS_PER_CPU (1u << 16) /* 4 MiB a CPU: 0.2 s at 300,000 events/s */
#define MAX_RING_BYTES (512ull << 20)
#define MIN_SLOTS_PER_CPU 1024u

struct capture {
	struct openmp_bpf *skeleton; /* maps, and the programs that are needed from the start */
	struct probe_programs *programs;
	struct probe_links *links;
	pid_t pid;
	bool multi, several, whole_processes;
	bool used; /* it may record; false: it was only loaded ahead of time */
	unsigned int ready;
	char scheduler_absent[160]; /* why scheduling is not recorded; "": it is recorded */
	bool gated;		    /* it is a capture of some processes and shares the gate */
	struct switch_gate *gate;   /* its place in the gate; NULL: it has programs of its own */
	struct counter_set counters;
	struct counter_fds *counter_fds; /* NULL: no counters */
	struct samples samples;
	struct ring_reader reader;
};

/* The last message of libbpf, for the one-line error that the caller gets. */
static __thread char libbpf_said[256];

__attribute__((format(printf, 2, 0))) static int keep_message(enum libbpf_print_level level,
							      const char *format, va_list args)
{
	if (level == LIBBPF_WARN) {
		vsnprintf(libbpf_said, sizeof(libbpf_said), format, args);
		libbpf_said[strcspn(libbpf_said, "\n")] = '\0';
	}
	return 0;
}

void capture__free(struct capture *capture)
{
	if (!capture)
		return;
	capture__disable(capture);
	probe_links__free(capture->links);
	switch_gate__leave(capture->gate);
	samples__stop(&capture->samples);
	ring_memory__free(capture->reader.rings);
	probe_programs__free(capture->programs);
	openmp_bpf__destroy(capture->skeleton);
	counter_fds__free(capture->counter_fds);
	free(capture);
}

static bool has_capability(unsigned capability)
{
	unsigned long long effective = 0;
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	fclose(f);
	return effective >> capability & 1;
}

static int explain_load(struct uprobes_error *err, int code)
{
	bool bpf = has_capability(39), perfmon = has_capability(38), admin = has_capability(21);

	if (!admin && (!bpf || !perfmon)) {
		snprintf(err->text, sizeof(err->text),
			 "cannot load BPF programs: %s%s%s missing; run as root or give graind that "
			 "capability",
			 bpf ? "" : "CAP_BPF", !bpf && !perfmon ? " and " : "", perfmon ? "" : "CAP_PERFMON");
		return -EPERM;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		snprintf(err->text, sizeof(err->text),
			 "cannot load BPF programs: this kernel has no BTF (/sys/kernel/btf/vmlinux); "
			 "use a kernel built with CONFIG_DEBUG_INFO_BTF");
	else
		snprintf(err->text, sizeof(err->text), "cannot load BPF programs: %s (%s)", strerror(-code),
			 libbpf_said);
	return code;
}

static uint32_t counters_to_be_had(const struct counter_set *set)
{
	uint32_t n = 0;

	while (n < set->counter_count && !set->counters[n].absent[0])
		n++;
	return n;
}

static void describe_counters(struct capture *capture)
{
	const struct counter_set *set = &capture->counters;
	struct openmp_bpf *skeleton = capture->skeleton;

	skeleton->rodata->counter_count = counters_to_be_had(set);
	skeleton->rodata->counter_event_count = (uint32_t)set->event_count;
	skeleton->rodata->counter_perf_count = (uint32_t)set->perf_count;
	skeleton->rodata->counter_cpus = capture->reader.cpus;
	for (size_t i = 0; i < set->event_count; i++)
		skeleton->rodata->counter_terms[i] = set->events[i].term;
}

static int give_counters(struct capture *capture)
{
	const struct bpf_map *map = capture->skeleton->maps.counter_events;
	int r = 0;

	for (uint32_t key = 0; !r && key < capture->counters.perf_count * capture->reader.cpus; key++) {
		int fd = counter_fds__get(capture->counter_fds, key / capture->reader.cpus,
					  key % capture->reader.cpus);

		if (fd >= 0)
			r = bpf_map__update_elem(map, &key, sizeof(key), &fd, sizeof(fd), BPF_ANY);
	}
	return r;
}

static int choose_gate(struct capture *capture)
{
	return capture->gated && !capture->scheduler_absent[0]
		       ? switch_gate__enter(capture->skeleton, &capture->gate)
		       : switch_gate__do_without(capture->skeleton);
}

static int load_programs(struct capture *capture, struct uprobes_error *err)
{
	struct openmp_bpf *skeleton = openmp_bpf__open();
	bool scheduler = !capture->scheduler_absent[0];
	size_t events = capture->counters.perf_count;
	int r;

	if (!skeleton)
		return explain_load(err, -errno);
	capture->skeleton = skeleton;
	bpf_program__set_autoload(skeleton->progs.sched_switch, scheduler);
	bpf_program__set_autoload(skeleton->progs.sched_wakeup, scheduler);
	skeleton->rodata->pid_namespace = pid_namespace__own();
	skeleton->rodata->sample_followed = !capture->several && !capture->pid;
	skeleton->rodata->follow_threads = scheduler;
	skeleton->rodata->follow_targets = scheduler && capture->whole_processes;
	skeleton->rodata->target_tgid = (uint32_t)capture->pid;
	skeleton->rodata->refusing = !capture->several && !capture->pid;
	skeleton->rodata->filtered = capture->several && !probe_links__filter_by_process(capture->multi);
	describe_counters(capture);
	if ((r = choose_gate(capture)))
		return explain_load(err, r);
	samples__choose(&capture->samples, skeleton);
	probe_programs__choose(skeleton, capture->ready, capture->multi);
	bpf_map__set_autocreate(skeleton->maps.refused, skeleton->rodata->refusing);
	bpf_program__set_autoload(skeleton->progs.process_exec, skeleton->rodata->refusing);
	if ((r = ring_memory__prepare(capture->reader.rings, skeleton)) ||
	    (r = bpf_map__set_max_entries(skeleton->maps.counter_events,
					  events ? (uint32_t)events * capture->reader.cpus : 1)) ||
	    (r = openmp_bpf__load(skeleton)) || (r = give_counters(capture)) ||
	    (capture->gate && (r = switch_gate__loaded(capture->gate, skeleton))) ||
	    (capture->gate && capture->used && (r = switch_gate__open(capture->gate, skeleton))))
		return explain_load(err, r);
	return 0;
}

static void unload(struct capture *capture)
{
	switch_gate__leave(capture->gate);
	capture->gate = NULL;
	openmp_bpf__destroy(capture->skeleton);
	capture->skeleton = NULL;
}

/* Removes the counters: threads cannot be counted if some of their switches are missed. */
static void drop_counters(struct capture *capture)
{
	struct counter_set *set = &capture->counters;

	for (size_t i = 0; i < set->counter_count; i++) {
		if (!set->counters[i].absent[0])
			snprintf(set->counters[i].absent, sizeof(set->counters[i].absent), "%.*s",
				 (int)sizeof(set->counters[i].absent) - 1, capture->scheduler_absent);
		counter_set__drop_events(set, i);
	}
}

/* If the kernel does not know the tracepoints, scheduling is not recorded. */
static int load(struct capture *capture, struct uprobes_error *err)
{
	int r = load_programs(capture, err);

	if (r && ring_memory__join(capture->reader.rings)) {
		unload(capture);
		r = load_programs(capture, err);
	}
	/* The same is true of a kernel where one program cannot call another. */
	if (r && capture->gated && !capture->scheduler_absent[0]) {
		capture->gated = false;
		unload(capture);
		r = load_programs(capture, err);
	}
	if (!r || capture->scheduler_absent[0])
		return r;
	unload(capture);
	snprintf(capture->scheduler_absent, sizeof(capture->scheduler_absent), "%.*s",
		 (int)sizeof(capture->scheduler_absent) - 1, err->text);
	drop_counters(capture);
	return load_programs(capture, err);
}

/* The links are closed with the skeleton. */
static int follow_scheduler(struct capture *capture, struct uprobes_error *err)
{
	struct openmp_bpf *skeleton = capture->skeleton;

	if (capture->scheduler_absent[0] || capture->gate)
		return 0;
	skeleton->links.sched_switch = bpf_program__attach(skeleton->progs.sched_switch);
	skeleton->links.sched_wakeup = bpf_program__attach(skeleton->progs.sched_wakeup);
	if (skeleton->links.sched_switch && skeleton->links.sched_wakeup)
		return 0;
	snprintf(capture->scheduler_absent, sizeof(capture->scheduler_absent),
		 "the scheduler's tracepoints cannot be used: %s", strerror(errno));
	bpf_link__destroy(skeleton->links.sched_switch);
	bpf_link__destroy(skeleton->links.sched_wakeup);
	skeleton->links.sched_switch = skeleton->links.sched_wakeup = NULL;
	if (!capture->counters.event_count)
		return 0;
	drop_counters(capture);
	unload(capture);
	return load_programs(capture, err);
}

/* If executed programs are not reported, no process can be refused. */
static void follow_programs(struct capture *capture)
{
	struct openmp_bpf *skeleton = capture->skeleton;

	if (skeleton->rodata->refusing)
		skeleton->links.process_exec = bpf_program__attach(skeleton->progs.process_exec);
}

void capture__sample_process(struct capture *capture, pid_t pid, uint64_t forked_ns)
{
	samples__add_process(&capture->samples, pid, forked_ns);
}

static enum capture_method wished(enum capture_method method)
{
	const char *wish = getenv("GRAIND_ATTACH");

	if (method != CAPTURE_AUTO || !wish)
		return method;
	return strcmp(wish, "perf") == 0    ? CAPTURE_PERF
	       : strcmp(wish, "multi") == 0 ? CAPTURE_MULTI
					    : CAPTURE_AUTO;
}

bool capture__will_pause(void)
{
	return wished(CAPTURE_AUTO) != CAPTURE_PERF && probe_links__try_multi() == 0 &&
	       probe_links__pausable(true);
}

static int choose_method(struct capture *capture, enum capture_method method, struct uprobes_error *err)
{
	int r;

	method = wished(method);
	if (method == CAPTURE_PERF)
		return 0;
	r = probe_links__try_multi();
	if (r == -EPERM || r == -EACCES)
		return explain_load(err, r);
	capture->multi = r == 0;
	if (r == 0 || method == CAPTURE_AUTO)
		return 0;
	snprintf(err->text, sizeof(err->text),
		 "this kernel has no uprobe_multi links (Linux 6.6 or later has); "
		 "leave the choice to graind or ask for perf");
	return -EOPNOTSUPP;
}

static int program_for(struct capture *capture, enum probe_runtime runtime, struct bpf_program **out,
		       struct uprobes_error *err)
{
	int r = probe_programs__get(capture->programs, runtime, out);

	return r ? explain_load(err, r) : 0;
}

/*
 * Slots per CPU, a power of two. There are fewer than asked for if the rings of all CPUs would be too
 * large.
 */
static unsigned slots_of_cpu(unsigned cpus, unsigned asked)
{
	uint64_t slot_bytes = cpus * sizeof(struct ring_event);
	unsigned slots = asked ? asked : DEFAULT_SLOTS_PER_CPU;

	while (slots > MIN_SLOTS_PER_CPU && slots * slot_bytes > MAX_RING_BYTES)
		slots /= 2;
	return slots;
}

static unsigned possible_cpus(void)
{
	int cpus = libbpf_num_possible_cpus();

	return cpus > 0 ? (unsigned)cpus : 1;
}

uint64_t capture__ring_bytes(const struct capture_opts *opts)
{
	const unsigned cpus = possible_cpus();

	return (uint64_t)slots_of_cpu(cpus, opts->slots_per_cpu) * cpus * sizeof(struct ring_event);
}

static int size_rings(struct capture *capture, unsigned asked, struct uprobes_error *err)
{
	capture->reader.cpus = possible_cpus();
	capture->reader.slots = slots_of_cpu(capture->reader.cpus, asked);
	if (capture->reader.slots >= MIN_SLOTS_PER_CPU &&
	    !(capture->reader.slots & (capture->reader.slots - 1)))
		return 0;
	snprintf(err->text, sizeof(err->text), "slots per CPU must be a power of two of at least %u",
		 MIN_SLOTS_PER_CPU);
	return -EINVAL;
}

static int map_rings(struct capture *capture, struct uprobes_error *err)
{
	int r = ring_memory__map(capture->reader.rings, capture->skeleton);

	if (r)
		snprintf(err->text, sizeof(err->text), "cannot map the event rings (%zu MiB): %s",
			 ring_memory__bytes(capture->reader.rings) >> 20, strerror(-r));
	return r;
}

/* The first part of opening: it is the same whether the capture is used at once or later. */
static int prepare(const struct capture_opts *opts, bool used, struct capture **out,
		   struct uprobes_error *err)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	int r;

	snprintf(err->text, sizeof(err->text), "out of memory");
	if (!capture)
		return -ENOMEM;
	libbpf_set_print(keep_message);
	capture->used = used;
	capture->pid = opts->several ? 0 : opts->pid;
	capture->several = opts->several;
	capture->ready = opts->ready;
	capture->whole_processes = opts->whole_processes;
	capture->gated = opts->several;
	samples__ask(&capture->samples, opts);
	if (!opts->scheduler)
		snprintf(capture->scheduler_absent, sizeof(capture->scheduler_absent),
			 "it was not asked for");
	r = size_rings(capture, opts->slots_per_cpu, err);
	if (r)
		goto out;
	if (opts->counters)
		capture->counters = *opts->counters;
	if (capture->scheduler_absent[0])
		drop_counters(capture);
	if (capture->counters.event_count &&
	    (r = counter_fds__open(&capture->counters, capture->reader.cpus, &capture->counter_fds)))
		goto out;
	if ((r = ring_memory__new(capture->reader.cpus, capture->reader.slots, &capture->reader.rings)) ||
	    (r = probe_links__new(!opts->several && !opts->pid, opts->owner, &capture->links)) ||
	    (r = choose_method(capture, opts->method, err)) || (r = load(capture, err)))
		goto out;
	*out = capture;
	return 0;
out:
	capture__free(capture);
	return r;
}

int capture__open(const struct capture_opts *opts, struct capture **out, struct uprobes_error *err)
{
	struct uprobes_error ignored;
	struct capture *capture = NULL;
	int r;

	if (!err)
		err = &ignored;
	if ((r = prepare(opts, true, &capture, err)) || (r = follow_scheduler(capture, err)) ||
	    (r = probe_programs__new(capture->skeleton, capture->ready, capture->multi,
				     &capture->programs)) ||
	    (r = map_rings(capture, err))) {
		capture__free(capture);
		return r;
	}
	follow_programs(capture);
	samples__start(&capture->samples, capture->skeleton, capture->reader.cpus);
	*out = capture;
	return 0;
}

int capture__load(const struct capture_opts *opts, struct capture **out, struct uprobes_error *err)
{
	struct uprobes_error ignored;
	struct capture *capture = NULL;
	int r;

	if (!err)
		err = &ignored;
	if ((r = prepare(opts, false, &capture, err)) ||
	    (r = probe_programs__new(capture->skeleton, capture->ready, capture->multi,
				     &capture->programs)) ||
	    /*
	     * Without the gate, the kernel would call the program at each switch of the machine as soon as
	     * it is attached.
	     */
	    (r = capture->gate ? 0 : -ENOTSUP)) {
		capture__free(capture);
		return r;
	}
	*out = capture;
	return 0;
}

int capture__use(struct capture *capture, const struct capture_opts *opts, struct uprobes_error *err)
{
	struct uprobes_error ignored;
	int r = switch_gate__open(capture->gate, capture->skeleton);

	if (!err)
		err = &ignored;
	capture->used = true;
	probe_links__own(capture->links, opts->owner);
	r = r ? explain_load(err, r) : map_rings(capture, err);
	if (r)
		return r;
	samples__ask(&capture->samples, opts);
	samples__start(&capture->samples, capture->skeleton, capture->reader.cpus);
	return 0;
}

int capture__attach(struct capture *capture, const struct probe_plan *plan, const char *path,
		    struct uprobes_error *err)
{
	struct bpf_program *program;
	struct uprobes_error ignored;
	int r;

	if (!capture->several && capture->pid)
		return capture__attach_points(capture, probe_plan__runtime(plan), probe_plan__point(plan, 0),
					      probe_plan__count(plan), path, err);
	if (!err)
		err = &ignored;
	r = program_for(capture, probe_plan__runtime(plan), &program, err);
	return r ? r
		 : probe_links__add_file(capture->links,
					 &(struct probe_set){.program = program,
							     .multi = capture->multi,
							     .points = probe_plan__point(plan, 0),
							     .count = probe_plan__count(plan),
							     .path = path},
					 err);
}

int capture__attach_points(struct capture *capture, enum probe_runtime runtime,
			   const struct probe_point *points, size_t count, const char *path,
			   struct uprobes_error *err)
{
	struct bpf_program *program;
	struct uprobes_error ignored;
	int r;

	if (!err)
		err = &ignored;
	r = program_for(capture, runtime, &program, err);
	return r ? r
		 : probe_links__attach(capture->links,
				       &(struct probe_set){.program = program,
							   .multi = capture->multi,
							   .points = points,
							   .count = count,
							   .path = path},
				       capture->pid, err);
}

int capture__add_process(struct capture *capture, pid_t pid, struct uprobes_error *err)
{
	const uint32_t key = (uint32_t)pid;
	const uint8_t value = 1;
	int r = 0;

	if (capture->skeleton->rodata->filtered || capture->samples.hz || capture->whole_processes)
		r = bpf_map__update_elem(capture->skeleton->maps.targets, &key, sizeof(key), &value,
					 sizeof(value), BPF_ANY);
	if (r) {
		snprintf(err->text, sizeof(err->text), "cannot follow process %d: %s", (int)pid,
			 strerror(-r));
		return r;
	}
	if (capture->gate && capture->whole_processes && (r = switch_gate__add_process(capture->gate, pid))) {
		snprintf(err->text, sizeof(err->text), "cannot follow the threads of process %d: %s",
			 (int)pid, strerror(-r));
		return r;
	}
	return probe_links__add_process(capture->links, pid, err);
}

void capture__refuse_process(struct capture *capture, pid_t pid)
{
	const uint32_t key = (uint32_t)pid;
	const uint8_t value = 1;

	if (capture->skeleton->links.process_exec)
		bpf_map__update_elem(capture->skeleton->maps.refused, &key, sizeof(key), &value,
				     sizeof(value), BPF_ANY);
	capture__forget_losses(capture, pid);
}

void capture__accept_process(struct capture *capture, pid_t pid)
{
	const uint32_t key = (uint32_t)pid;

	if (capture->skeleton->links.process_exec)
		bpf_map__delete_elem(capture->skeleton->maps.refused, &key, sizeof(key), 0);
}

int capture__renew_process(struct capture *capture, pid_t pid, struct uprobes_error *err)
{
	return probe_links__renew_process(capture->links, pid, err);
}

void capture__drop_process(struct capture *capture, pid_t pid)
{
	const uint32_t key = (uint32_t)pid;

	if (capture->skeleton->rodata->filtered || capture->samples.hz)
		bpf_map__delete_elem(capture->skeleton->maps.targets, &key, sizeof(key), 0);
	if (capture->gate && capture->whole_processes)
		switch_gate__drop_process(capture->gate, pid);
	probe_links__drop_process(capture->links, pid);
	capture__forget_losses(capture, pid);
}

bool capture__can_pause(const struct capture *capture)
{
	return probe_links__can_pause(capture->links);
}

void capture__pause(struct capture *capture)
{
	probe_links__pause(capture->links);
	if (__atomic_load_n(&capture->skeleton->bss->sampled, __ATOMIC_RELAXED))
		return;
	samples__pause(&capture->samples);
}

int capture__resume(struct capture *capture, struct uprobes_error *err)
{
	samples__resume(&capture->samples);
	return probe_links__resume(capture->links, err);
}

uint64_t capture__passed(const struct capture *capture, unsigned cpu)
{
	const struct ring_ctl *ctl =
		cpu < capture->reader.cpus ? ring_memory__ctl(capture->reader.rings, cpu) : NULL;

	return ctl ? __atomic_load_n(&ctl->passed, __ATOMIC_RELAXED) : 0;
}

uint64_t capture__asked(const struct capture *capture, unsigned cpu)
{
	const struct ring_ctl *ctl =
		cpu < capture->reader.cpus ? ring_memory__ctl(capture->reader.rings, cpu) : NULL;

	return ctl ? __atomic_load_n(&ctl->asked, __ATOMIC_RELAXED) : 0;
}

uint64_t capture__pausing_ns(const struct capture *capture)
{
	return probe_links__pausing_ns(capture->links);
}

void capture__enable(struct capture *capture)
{
	__atomic_store_n(&capture->skeleton->bss->enabled, 1, __ATOMIC_SEQ_CST);
}

void capture__disable(struct capture *capture)
{
	if (!capture->skeleton || !capture->skeleton->bss)
		return;
	__atomic_store_n(&capture->skeleton->bss->enabled, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&capture->skeleton->bss->sampled, 0, __ATOMIC_SEQ_CST);
}

void capture__keep_sampling(struct capture *capture)
{
	__atomic_store_n(&capture->skeleton->bss->sampled, 1, __ATOMIC_SEQ_CST);
}

const char *capture__method_name(const struct capture *capture)
{
	return capture->multi ? "uprobe_multi" : "perf";
}

const char *capture__scheduler_absent(const struct capture *capture)
{
	return capture->scheduler_absent[0] ? capture->scheduler_absent : NULL;
}

void capture__sampling(const struct capture *capture, struct capture_sampling *out)
{
	samples__describe_time(&capture->samples, out);
}

void capture__accesses(const struct capture *capture, struct capture_accesses *out)
{
	samples__describe_memory(&capture->samples, out);
}

const struct counter_set *capture__counters(const struct capture *capture)
{
	return &capture->counters;
}

double capture__counter_share(const struct capture *capture, size_t counter)
{
	const struct counter_set *set = &capture->counters;
	double least = 1;

	for (size_t i = 0; i < set->event_count; i++) {
		double share = set->events[i].term.counter == counter
				       ? counter_fds__share(capture->counter_fds, i)
				       : 1;

		least = share < least ? share : least;
	}
	return least;
}

long capture__poll(struct capture *capture, capture_events_fn on_events, void *ctx)
{
	return ring_reader__poll(&capture->reader, on_events, ctx);
}

int capture__busiest_node(struct capture *capture)
{
	return ring_memory__busiest_node(capture->reader.rings);
}

void capture__losses(const struct capture *capture, struct capture_losses *out)
{
	ring_reader__losses(&capture->reader, out);
}

void capture__losses_of(const struct capture *capture, pid_t pid, struct capture_losses *out)
{
	ring_reader__losses_of(&capture->reader, capture->skeleton->maps.losses_of, pid, out);
}

void capture__forget_losses(struct capture *capture, pid_t pid)
{
	const uint32_t key = (uint32_t)pid;

	bpf_map__delete_elem(capture->skeleton->maps.losses_of, &key, sizeof(key), 0);
}
