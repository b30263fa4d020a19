/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes event logs of simulated programs for the tests of the render library:
 * random nested ones, chains and flat ones.
 */
#ifndef GRAIND_TESTS_RENDER_PROGRAM_H
#define GRAIND_TESTS_RENDER_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/include/grain.h"

#define PROGRAM_PENDING 4096

struct program {
	FILE *log;
	char path[64];
	unsigned long long time;
	unsigned tid, threads;
	unsigned seed, tasks;
	int escapes; /* tasks may be left for the barrier */
	unsigned pending[PROGRAM_PENDING], pending_count;
};

static inline unsigned program_random(struct program *p, unsigned below)
{
	p->seed = p->seed * 1103515245u + 12345u;
	return (p->seed >> 16) % below;
}

static inline void program_say(struct program *p, unsigned after, const char *event, const char *key,
			       long value)
{
	p->time += after;
	fprintf(p->log, "%llu %u %u %s", p->time, p->tid, p->tid % 8, event);
	if (key)
		fprintf(p->log, " %s=%ld", key, value);
	fputc('\n', p->log);
}

static inline unsigned program_create(struct program *p, int undeferred)
{
	unsigned id = p->tasks++;

	p->time += 20 + program_random(p, 2000);
	fprintf(p->log, "%llu %u %u create-begin task=%u src=%u flags=%s\n", p->time, p->tid, p->tid % 8, id,
		1 + program_random(p, 3), undeferred ? "undeferred" : "deferred");
	if (!undeferred)
		program_say(p, 100 + program_random(p, 300), "create-end", "task", id);
	return id;
}

static inline void program_body(struct program *p, unsigned depth)
{
	unsigned phases = program_random(p, 3);

	p->time += 10 + program_random(p, 20000);
	for (unsigned i = 0; i < phases && depth; i++) {
		unsigned children[4], count = 0, n = program_random(p, 5);
		int group = program_random(p, 4) == 0, waits = !p->escapes || program_random(p, 3) != 0;

		if (group)
			program_say(p, 5, "group-begin", NULL, 0);
		for (unsigned k = 0; k < n; k++) {
			if (program_random(p, 6) == 0) {
				unsigned id = program_create(p, 1);

				program_say(p, 5, "task-begin", "task", id);
				program_body(p, depth - 1);
				program_say(p, 5, "task-end", "task", id);
				program_say(p, 5, "create-end", "task", id);
			} else if (count < 4) {
				children[count++] = program_create(p, 0);
			}
		}
		if (!waits && !group) {
			for (unsigned k = 0; k < count && p->pending_count < PROGRAM_PENDING; k++)
				p->pending[p->pending_count++] = children[k];
			continue;
		}
		program_say(p, 50, "wait-begin kind", NULL, 0);
		fseek(p->log, -1, SEEK_CUR);
		fprintf(p->log, "=%s\n", group ? "taskgroup" : "taskwait");
		for (unsigned k = 0; k < count; k++) {
			program_say(p, 30, "task-begin", "task", children[k]);
			program_body(p, depth - 1);
			program_say(p, 5, "task-end", "task", children[k]);
		}
		program_say(p, 50, "wait-end kind", NULL, 0);
		fseek(p->log, -1, SEEK_CUR);
		fprintf(p->log, "=%s\n", group ? "taskgroup" : "taskwait");
		p->time += program_random(p, 5000);
	}
}

static inline int program_start(struct program *p, unsigned threads, const char *exe, const char *function)
{
	int fd;

	snprintf(p->path, sizeof(p->path), "/tmp/graind-render.XXXXXX");
	fd = mkstemp(p->path);
	p->log = fd < 0 ? NULL : fdopen(fd, "w");
	if (!p->log)
		return -1;
	p->time = 1000;
	p->tid = 100;
	p->threads = threads;
	fprintf(p->log,
		"grain-log 1\n@machine host=n cores=4 sockets=1 kernel=6\n"
		"@process pid=7 uid=1 exe=\"%s\" cmd=\"a b\" runtime=libgomp threads=%u\n"
		"@source 0 file=main.c line=10 func=main kind=parallel\n"
		"@source 1 file=a.c line=11 func=\"%s\" kind=task\n@source 2 file=b.c line=12 func=g "
		"kind=task\n"
		"@source 3 file=c.c line=13 func=h kind=task\n1000 100 4 region-begin region=0 src=0 "
		"threads=%u\n",
		exe, threads, function, threads);
	return 0;
}

/* Member 0 calls `work`; the others only wait. */
static inline void program_region(struct program *p, void (*work)(struct program *, unsigned),
				  unsigned argument)
{
	unsigned long long end;

	program_say(p, 10, "member-begin num=0 region", NULL, 0);
	fseek(p->log, -1, SEEK_CUR);
	fprintf(p->log, "=0\n");
	work(p, argument);
	program_say(p, 20, "wait-begin kind=barrier-implicit", NULL, 0);
	for (unsigned i = 0; i < p->pending_count; i++) {
		program_say(p, 30, "task-begin", "task", p->pending[i]);
		program_body(p, 1);
		program_say(p, 5, "task-end", "task", p->pending[i]);
	}
	end = (p->time > 3000 ? p->time : 3000) + 500;
	for (unsigned m = 0; m < p->threads; m++) {
		p->tid = 100 + m;
		if (m) {
			p->time = 2000 + m;
			fprintf(p->log, "%llu %u %u member-begin region=0 num=%u\n", p->time, p->tid, m, m);
			program_say(p, 700, "wait-begin kind=barrier-implicit", NULL, 0);
		}
		p->time = end;
		program_say(p, m, "wait-end kind=barrier-implicit", NULL, 0);
		program_say(p, 10, "member-end region=0", "num", m);
	}
	p->tid = 100;
	p->time = end + 1000;
	program_say(p, 0, "region-end", "region", 0);
	program_say(p, 3000, "thread-end", NULL, 0);
}

/* Reads the log and removes it; NULL with *err filled. */
static inline struct grain_graph *program_finish(struct program *p, int keep_going, struct grain_error *err)
{
	struct grain_load_opts opts = {.keep_going = keep_going};
	struct grain_graph *graph = NULL;

	fclose(p->log);
	if (grain_graph__load(p->path, &opts, &graph, err) < 0)
		graph = NULL;
	unlink(p->path);
	return graph;
}

/* `argument` tasks inside each other. */
static inline void program_chain(struct program *p, unsigned argument)
{
	unsigned first = p->tasks;

	for (unsigned i = 0; i < argument; i++) {
		program_create(p, 0);
		program_say(p, 20, "wait-begin kind=taskwait", NULL, 0);
		program_say(p, 20, "task-begin", "task", first + i);
	}
	for (unsigned i = argument; i-- > 0;) {
		program_say(p, 20, "task-end", "task", first + i);
		program_say(p, 20, "wait-end kind=taskwait", NULL, 0);
	}
}

/* `argument` tasks beside each other. */
static inline void program_flat(struct program *p, unsigned argument)
{
	unsigned first = p->tasks;

	for (unsigned i = 0; i < argument; i++)
		program_create(p, 0);
	program_say(p, 20, "wait-begin kind=taskwait", NULL, 0);
	for (unsigned i = 0; i < argument; i++) {
		program_say(p, 20, "task-begin", "task", first + i);
		program_say(p, 100 + program_random(p, 900), "task-end", "task", first + i);
	}
	program_say(p, 20, "wait-end kind=taskwait", NULL, 0);
}

static inline struct grain_graph *program_make(void (*work)(struct program *, unsigned), unsigned argument,
					       unsigned seed, int escapes, unsigned threads,
					       struct grain_error *err)
{
	struct program *p = calloc(1, sizeof(*p));
	struct grain_graph *graph = NULL;

	if (p) {
		p->seed = seed * 7919u + 1;
		p->escapes = escapes;
		if (program_start(p, threads, "/opt/app/prog", "f") == 0) {
			program_region(p, work, argument);
			graph = program_finish(p, 0, err);
		}
	}
	free(p);
	return graph;
}

#endif
