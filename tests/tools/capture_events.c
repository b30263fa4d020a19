// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_events [-p PID] [-m perf|multi] [-s SLOTS] [-g] [-i POLL_MS] [-l FILE] [-f LIBGOMP] READY SECONDS
 *
 * The capture library alone, without daemon: attaches to the system's libgomp or
 * to the one given, creates the file READY once it records, drains until that
 * is removed, for SECONDS at most, and prints how many events of each kind arrived, one "name value" a line.
 * -g leaves the gate closed; -i sets the pause between drains, 0 drains only at the end; -l tells at the end
 * what was lost of the processes whose numbers are in the file then.
 */
#include "uprobes/capture/capture.h"
#include "uprobes/make_plan/make_plan.h"
#include "uprobes/runtime/runtime_find.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned long kinds[RING_KIND_MAX], other, reported, processes;
static uint32_t last_tgid;

static int count(void *ctx, unsigned cpu, const struct ring_event *events, size_t n)
{
	(void)ctx, (void)cpu;
	for (size_t i = 0; i < n; i++) {
		if (events[i].kind < RING_KIND_MAX)
			kinds[events[i].kind]++;
		else
			other++;
		if (events[i].kind == RING_LOST)
			reported += events[i].arg;
		if (events[i].tgid != last_tgid)
			processes++;
		last_tgid = events[i].tgid;
	}
	return 0;
}

static void tell_lost_of(const struct capture *capture, const char *path)
{
	FILE *list = fopen(path, "re");
	struct capture_losses losses;
	int pid;

	while (list && fscanf(list, "%d", &pid) == 1) {
		capture__losses_of(capture, pid, &losses);
		printf("ring_full_of_%d %lu\n", pid, losses.ring_full);
	}
	if (list)
		fclose(list);
}

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static const char *const names[RING_KIND_MAX] = {
	[RING_TASK_CREATE] = "task_create",
	[RING_TASK_CREATE_END] = "task_create_end",
	[RING_TASK_BEGIN] = "task_begin",
	[RING_TASK_END] = "task_end",
	[RING_UNDEFERRED_BEGIN] = "undeferred_begin",
	[RING_UNDEFERRED_END] = "undeferred_end",
	[RING_REGION_BEGIN] = "region_begin",
	[RING_REGION_END] = "region_end",
	[RING_TEAM_START] = "team_start",
	[RING_TEAM_STARTED] = "team_started",
	[RING_MEMBER_BEGIN] = "member_begin",
	[RING_WAIT_BEGIN] = "wait_begin",
	[RING_WAIT_END] = "wait_end",
	[RING_GROUP_BEGIN] = "group_begin",
	[RING_SINGLE] = "single",
	[RING_LOST] = "lost_markers",
};

/* What the command line says. */
static struct {
	struct capture_opts capture;
	const char *lost_of, *runtime;
	long poll_ms;
	bool closed; /* the capture is never enabled */
} options = {.poll_ms = 1};

static bool read_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "p:m:s:gi:l:f:")) > 0) {
		if (c == 'p')
			options.capture.pid = atoi(optarg);
		else if (c == 'm')
			options.capture.method = strcmp(optarg, "perf") ? CAPTURE_MULTI : CAPTURE_PERF;
		else if (c == 's')
			options.capture.slots_per_cpu = (uint32_t)atoi(optarg);
		else if (c == 'g')
			options.closed = true;
		else if (c == 'i')
			options.poll_ms = atol(optarg);
		else if (c == 'l')
			options.lost_of = optarg;
		else if (c == 'f')
			options.runtime = optarg;
		else
			return false;
	}
	return argc - optind == 2;
}

/* Polls until the file is gone or the time has passed. */
static void poll_while(struct capture *capture, const char *file, double seconds)
{
	long step = options.poll_ms ? options.poll_ms : 10;

	for (long left = (long)(seconds * 1000); left > 0 && !access(file, F_OK); left -= step) {
		if (options.poll_ms)
			capture__poll(capture, count, NULL);
		pause_ms(step);
	}
}

static void tell(const struct capture *capture)
{
	struct capture_losses losses;

	capture__losses(capture, &losses);
	printf("method %s\n", capture__method_name(capture));
	for (int k = 1; k < RING_KIND_MAX; k++)
		if (names[k])
			printf("%s %lu\n", names[k], kinds[k]);
	printf("other %lu\nprocess_changes %lu\nlost_reported %lu\nring_full %lu\nread_faults "
	       "%lu\noverwritten %lu\n",
	       other, processes, reported, losses.ring_full, losses.read_faults, losses.overwritten);
	if (options.lost_of)
		tell_lost_of(capture, options.lost_of);
}

int main(int argc, char **argv)
{
	struct uprobes_error err = {""};
	struct probe_plan *plan;
	struct capture *capture;
	char libgomp[4096];
	const char *file;

	if (!read_options(argc, argv))
		return 2;
	file = argv[optind];
	if (options.runtime)
		snprintf(libgomp, sizeof(libgomp), "%s", options.runtime);
	if ((!options.runtime && runtime_find__system(libgomp, sizeof(libgomp))) ||
	    probe_plan__create(libgomp, &plan, &err) || capture__open(&options.capture, &capture, &err) ||
	    capture__attach(capture, plan, libgomp, &err)) {
		fprintf(stderr, "capture_events: %s\n", err.text);
		return 1;
	}
	if (!options.closed)
		capture__enable(capture);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	poll_while(capture, file, atof(argv[optind + 1]));
	capture__disable(capture);
	pause_ms(5);
	capture__poll(capture, count, NULL);
	tell(capture);
	capture__free(capture);
	probe_plan__free(plan);
	return 0;
}
