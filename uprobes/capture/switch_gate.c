// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/capture/switch_gate.h"
#include "bpf/abi/gate_abi.h"
#include "bpf/abi/ring_abi.h"

#include "bpf/openmp.skel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* The gate's maps that user space uses. */
enum { FOLLOWED, NUMBERS, TURNS, SWITCH, WAKEUP, PROCESSES, STATE, MAPS };
/* Every capture's programs need the maps before this one. The others belong to the gate alone. */
#define SHARED PROCESSES

struct switch_gate {
	uint32_t number;
	bool first;  /* its skeleton loads the gate, and the gate is not ready yet */
	bool called; /* it is counted in gate.calls */
};

static struct {
	pthread_mutex_t lock;	/* guards the fields below */
	pthread_cond_t changed; /* signalled when the state changes */
	enum { CLOSED, COMING, THERE } state;
	/*
	 * These are valid while the gate exists. They keep its programs and maps in the kernel, whichever
	 * capture loaded them.
	 */
	int maps[MAPS];
	int programs[GATE_EVENTS];
	int links[GATE_EVENTS]; /* valid while `calls` is not 0 */
	size_t places;		/* number of captures that have entered and not left */
	size_t calls;		/* number of captures whose programs are called */
	uint32_t last_number;
	bool used[GATE_SLOTS];	 /* which slots belong to captures */
	bool called[GATE_SLOTS]; /* for each slot: its programs are called */
	bool follows_processes;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void maps_in(const struct openmp_bpf *skeleton, struct bpf_map *out[MAPS])
{
	out[FOLLOWED] = skeleton->maps.gate_followed;
	out[NUMBERS] = skeleton->maps.gate_numbers;
	out[TURNS] = skeleton->maps.gate_turns;
	out[SWITCH] = skeleton->maps.gate_switch;
	out[WAKEUP] = skeleton->maps.gate_wakeup;
	out[PROCESSES] = skeleton->maps.gate_processes;
	out[STATE] = skeleton->maps.gate_state;
}

static int choose_programs(const struct openmp_bpf *skeleton, bool loaded)
{
	int error = bpf_program__set_autoload(skeleton->progs.gate_of_switches, loaded);

	return error ? error : bpf_program__set_autoload(skeleton->progs.gate_of_wakeups, loaded);
}

static void close_all(const int *fds, int count)
{
	while (count > 0)
		close(fds[--count]);
}

/* Duplicates each descriptor of `from` into `to`; all or none. */
static int keep(const int *from, int *to, int count)
{
	for (int i = 0; i < count; i++) {
		to[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 0);
		if (to[i] < 0) {
			int error = -errno;

			close_all(to, i);
			return error;
		}
	}
	return 0;
}

/* Starts the gate. Needs the lock, and a loaded skeleton. */
static int start(const struct openmp_bpf *skeleton)
{
	const int programs[GATE_EVENTS] = {
		[GATE_SWITCH] = bpf_program__fd(skeleton->progs.gate_of_switches),
		[GATE_WAKEUP] = bpf_program__fd(skeleton->progs.gate_of_wakeups),
	};
	struct bpf_map *from[MAPS];
	int fds[MAPS], error;

	maps_in(skeleton, from);
	for (int i = 0; i < MAPS; i++)
		fds[i] = bpf_map__fd(from[i]);
	error = keep(fds, gate.maps, MAPS);
	if (error)
		return error;
	error = keep(programs, gate.programs, GATE_EVENTS);
	if (error)
		close_all(gate.maps, MAPS);
	return error;
}

static void stop(void)
{
	close_all(gate.programs, GATE_EVENTS);
	close_all(gate.maps, MAPS);
}

/* Makes the kernel call the gate. Needs the lock. */
static int connect_gate(void)
{
	for (int i = 0; i < GATE_EVENTS; i++) {
		gate.links[i] = bpf_raw_tracepoint_open(NULL, gate.programs[i]);
		if (gate.links[i] < 0) {
			int error = -errno;

			close_all(gate.links, i);
			return error;
		}
	}
	return 0;
}

static void become(int next)
{
	gate.state = next;
	pthread_cond_broadcast(&gate.changed);
}

/* A number that was never used and whose slot is free. 0: there is none. */
static uint32_t new_number(void)
{
	for (unsigned int i = 0; i < GATE_SLOTS; i++) {
		gate.last_number++;
		if (gate.last_number && !gate.used[GATE_SLOT(gate.last_number)])
			return gate.last_number;
	}
	return 0;
}

int switch_gate__do_without(const struct openmp_bpf *skeleton)
{
	struct bpf_map *to[MAPS];
	int error = choose_programs(skeleton, false);

	maps_in(skeleton, to);
	for (int i = 0; !error && i < MAPS; i++)
		error = bpf_map__set_autocreate(to[i], false);
	return error;
}

static int share(const struct openmp_bpf *skeleton)
{
	struct bpf_map *to[MAPS];
	int error = choose_programs(skeleton, false);

	maps_in(skeleton, to);
	for (int i = 0; !error && i < MAPS; i++)
		error = i < SHARED ? bpf_map__reuse_fd(to[i], gate.maps[i])
				   : bpf_map__set_autocreate(to[i], false);
	return error;
}

int switch_gate__enter(const struct openmp_bpf *skeleton, struct switch_gate **out)
{
	struct switch_gate *place = calloc(1, sizeof(*place));
	int error;

	if (!place)
		return -ENOMEM;
	pthread_mutex_lock(&gate.lock);
	/* Waits until the other capture's skeleton is loaded. */
	while (gate.state == COMING)
		pthread_cond_wait(&gate.changed, &gate.lock);
	place->first = gate.state == CLOSED;
	error = place->first ? choose_programs(skeleton, true) : share(skeleton);
	if (!error) {
		place->number = new_number();
		error = place->number ? 0 : -ENOSPC;
	}
	if (!error) {
		gate.used[GATE_SLOT(place->number)] = true;
		gate.places++;
		skeleton->rodata->gate_number = place->number;
		if (place->first)
			become(COMING);
		*out = place;
	}
	pthread_mutex_unlock(&gate.lock);
	if (error)
		free(place);
	return error;
}

static int put(int map, uint32_t key, uint32_t value)
{
	return bpf_map_update_elem(gate.maps[map], &key, &value, BPF_ANY);
}

/* Needs the lock. */
static int put_state(void)
{
	const uint32_t key = 0;
	struct gate_state now = {.follows_processes = gate.follows_processes};
	unsigned int count = 0;

	for (unsigned int i = 0; i < GATE_SLOTS; i++) {
		if (gate.called[i]) {
			count++;
			now.sole = i + 1;
		}
	}
	if (count != 1)
		now.sole = 0;
	return bpf_map_update_elem(gate.maps[STATE], &key, &now, BPF_ANY);
}

int switch_gate__loaded(struct switch_gate *place, const struct openmp_bpf *skeleton)
{
	int error;

	if (!place->first)
		return 0;
	pthread_mutex_lock(&gate.lock);
	error = start(skeleton);
	if (!error) {
		place->first = false;
		become(THERE);
	}
	pthread_mutex_unlock(&gate.lock);
	return error;
}

int switch_gate__open(struct switch_gate *place, const struct openmp_bpf *skeleton)
{
	const uint32_t slot = GATE_SLOT(place->number);
	int error;

	pthread_mutex_lock(&gate.lock);
	error = gate.calls ? 0 : connect_gate();
	if (!error) {
		place->called = true;
		gate.calls++;
		error = put(SWITCH, slot, (uint32_t)bpf_program__fd(skeleton->progs.sched_switch));
	}
	if (!error)
		error = put(WAKEUP, slot, (uint32_t)bpf_program__fd(skeleton->progs.sched_wakeup));
	if (!error)
		error = put(NUMBERS, slot, place->number);
	if (!error) {
		gate.called[slot] = true;
		error = put_state();
	}
	pthread_mutex_unlock(&gate.lock);
	return error;
}

/* A capture takes the first slot that is free, or whose capture has left. */
static bool replace(struct gate_followers *followers, uint32_t old, uint32_t with)
{
	for (int i = 0; i < GATE_EACH; i++) {
		uint32_t number = followers->number[i];

		if (number == old || (!old && !gate.used[GATE_SLOT(number)])) {
			followers->number[i] = with;
			return true;
		}
	}
	return false;
}

static bool is_empty(const struct gate_followers *followers)
{
	for (int i = 0; i < GATE_EACH; i++)
		if (followers->number[i])
			return false;
	return true;
}

int switch_gate__add_process(struct switch_gate *place, pid_t pid)
{
	struct gate_followers followers = {{0}};
	const uint32_t key = (uint32_t)pid;
	int error = -ENOSPC;

	pthread_mutex_lock(&gate.lock);
	if (bpf_map_lookup_elem(gate.maps[PROCESSES], &key, &followers))
		followers = (struct gate_followers){{0}};
	if (replace(&followers, 0, place->number))
		error = bpf_map_update_elem(gate.maps[PROCESSES], &key, &followers, BPF_ANY);
	if (!error) {
		gate.follows_processes = true;
		error = put_state();
	}
	pthread_mutex_unlock(&gate.lock);
	return error;
}

/* Needs the lock. */
static void drop(const struct switch_gate *place, uint32_t key)
{
	struct gate_followers followers;

	if (bpf_map_lookup_elem(gate.maps[PROCESSES], &key, &followers) ||
	    !replace(&followers, place->number, 0))
		return;
	if (is_empty(&followers))
		bpf_map_delete_elem(gate.maps[PROCESSES], &key);
	else
		bpf_map_update_elem(gate.maps[PROCESSES], &key, &followers, BPF_ANY);
}

void switch_gate__drop_process(struct switch_gate *place, pid_t pid)
{
	pthread_mutex_lock(&gate.lock);
	drop(place, (uint32_t)pid);
	pthread_mutex_unlock(&gate.lock);
}

static void drop_all(const struct switch_gate *place)
{
	uint32_t key, next;
	bool more = bpf_map_get_next_key(gate.maps[PROCESSES], NULL, &next) == 0;

	while (more) {
		key = next;
		more = bpf_map_get_next_key(gate.maps[PROCESSES], &key, &next) == 0;
		drop(place, key);
	}
	gate.follows_processes = bpf_map_get_next_key(gate.maps[PROCESSES], NULL, &next) == 0;
}

void switch_gate__leave(struct switch_gate *place)
{
	uint32_t slot;

	if (!place)
		return;
	slot = GATE_SLOT(place->number);
	pthread_mutex_lock(&gate.lock);
	gate.called[slot] = false;
	if (gate.state == THERE) {
		put(NUMBERS, slot, 0);
		drop_all(place);
		put_state();
		bpf_map_delete_elem(gate.maps[SWITCH], &slot);
		bpf_map_delete_elem(gate.maps[WAKEUP], &slot);
	}
	if (place->called && --gate.calls == 0)
		close_all(gate.links, GATE_EVENTS);
	gate.used[slot] = false;
	gate.places--;
	if (!gate.places) {
		if (gate.state == THERE)
			stop();
		become(CLOSED);
	}
	pthread_mutex_unlock(&gate.lock);
	free(place);
}
