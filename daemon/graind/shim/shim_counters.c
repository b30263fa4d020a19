// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/shim/shim_counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

_Static_assert(SHIM_COUNTERS_MAX == RING_COUNTERS_MAX, "as many as a capture has");
_Static_assert((int)SHIM_COUNTER_PERF == (int)RING_COUNTER_PERF &&
		       (int)SHIM_COUNTER_CLOCK == (int)RING_COUNTER_CLOCK &&
		       (int)SHIM_COUNTER_FAULTS == (int)RING_COUNTER_FAULTS &&
		       (int)SHIM_COUNTER_MINOR_FAULTS == (int)RING_COUNTER_MINOR_FAULTS &&
		       (int)SHIM_COUNTER_MAJOR_FAULTS == (int)RING_COUNTER_MAJOR_FAULTS &&
		       (int)SHIM_COUNTER_SWITCHES == (int)RING_COUNTER_SWITCHES,
	       "who counts");

void shim_counters__ask(struct shim_header *header, const struct counter_set *set)
{
	for (size_t i = 0; i < set->event_count && i < SHIM_COUNTERS_MAX; i++) {
		const struct counter_event *event = &set->events[i];

		header->counter_events[i] = (struct shim_counter_event){
			.counter = event->term.counter,
			.minus = event->term.minus,
			.source = event->term.source,
			.type = event->type,
			.config = event->config,
			.config1 = event->config1,
			.config2 = event->config2,
			.exclude = event->exclude_user | (uint32_t)event->exclude_kernel << 1 |
				   (uint32_t)event->exclude_hypervisor << 2,
		};
		header->counter_event_count = (uint32_t)i + 1;
	}
	header->counters = header->counter_event_count ? (uint32_t)set->counter_count : 0;
}

static void explain(int error, char *text, size_t size)
{
	char paranoid[8] = "";
	FILE *f;

	switch (error) {
	case EACCES:
	case EPERM:
		f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
		if (f && !fgets(paranoid, sizeof(paranoid), f))
			paranoid[0] = '\0';
		if (f)
			fclose(f);
		paranoid[strcspn(paranoid, "\n")] = '\0';
		snprintf(text, size,
			 "perf_event_paranoid is %s here, so the process may not count it by itself: ask for "
			 "it "
			 "without --fast",
			 paranoid);
		break;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
		snprintf(text, size, "the processor, or this virtual one, does not count it");
		break;
	case ENOSYS:
		snprintf(text, size,
			 "the kernel does not tell it to the process itself: ask for it without --fast");
		break;
	default:
		snprintf(text, size, "the process cannot open it: %s", strerror(error));
		break;
	}
}

void shim_counters__answer(const struct shim_header *header, struct counter_set *set)
{
	for (size_t i = 0; i < set->counter_count && i < SHIM_COUNTERS_MAX; i++) {
		int error = __atomic_load_n(&header->counter_errors[i], __ATOMIC_RELAXED);
		struct counter *counter = &set->counters[i];

		if (error && !counter->absent[0])
			explain(error, counter->absent, sizeof(counter->absent));
	}
}

void shim_counters__none(struct counter_set *set, const char *why)
{
	for (size_t i = 0; i < set->counter_count; i++)
		if (!set->counters[i].absent[0])
			snprintf(set->counters[i].absent, sizeof(set->counters[i].absent), "%s", why);
}
