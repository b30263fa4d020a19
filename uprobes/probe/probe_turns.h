/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides who sets or removes probes, and when. Private to uprobes/.
 *
 * The kernel sets and removes probes one after another for the whole machine. Each takes longer the more
 * processes have mapped its file. If one user has many processes, a link of some hundred probes takes
 * tenths of a second. This must not delay other users.
 *
 * Setting: one thread at a time. The next thread belongs to the owner for whom least was done in the last
 * seconds. It may set several links one after another.
 *
 * Closing: links are closed in the background. Several threads close them if each close is quick; if
 * closing is slow, there are rests between closes. Links are closed while nobody sets, unless they have
 * waited for long. With perf-event uprobes the kernel takes a tenth of a second to remove each, so whoever
 * sets such probes waits for what is being closed.
 *
 * Nobody waits for a turn for more than a second: the kernel may itself be waiting for a file server.
 */
#ifndef GRAIND_PROBE_TURNS_H
#define GRAIND_PROBE_TURNS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct probe_turn {
	uid_t owner;
	bool perf;
	uint64_t came_ns, cpu_ns;
	struct probe_turn *next;
};

/* Call these before and after setting probes. */
void probe_turns__begin(struct probe_turn *turn, uid_t owner, bool perf);
void probe_turns__end(struct probe_turn *turn);

/* A link of one of the two kinds. */
struct probe_link {
	int fd; /* of a uprobe_multi link; -1: none */
	struct bpf_link *perf;
};

/* Counts the links that are being closed for one caller. */
struct probe_closing {
	uid_t owner;
	size_t left;
	uint64_t urgent_ns; /* CPU time that closing urgent links has taken */
};

/*
 * Closes the link in the background and returns at once. If memory is short, closes it here. `urgent`:
 * closes it before all others, because a program passes its probes needlessly.
 */
void probe_turns__close(struct probe_closing *closing, struct probe_link link, bool urgent);
/* Waits until all links of `closing` are closed. */
void probe_turns__await(struct probe_closing *closing);

/*
 * How many links may be closed at the same time if closing one takes `cpu_ns`; and how long to rest after
 * closing such a link. Pure functions.
 */
unsigned int probe_turns__at_once(uint64_t cpu_ns);
uint64_t probe_turns__rest_ns(uint64_t cpu_ns);

#endif
