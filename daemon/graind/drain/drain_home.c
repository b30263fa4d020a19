// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/drain/drain_home.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/policy/policy.h"

#include <numa.h>

#define SECOND_NS UINT64_C(1000000000)

/* Removes the CPUs of other nodes. Removes all CPUs if those of the node are not known. */
static void keep_node(cpu_set_t *cpus, int node)
{
	struct bitmask *of_node = numa_available() < 0 ? NULL : numa_allocate_cpumask();
	bool known = of_node && numa_node_to_cpus(node, of_node) == 0;

	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (!known || cpu >= of_node->size || !numa_bitmask_isbitset(of_node, cpu))
			CPU_CLR(cpu, cpus);
	if (of_node)
		numa_free_cpumask(of_node);
}

void drain_home__look(struct drain_home *home, struct capture *capture)
{
	uint64_t now = clock__now_ns();
	cpu_set_t wanted;
	int node;

	if (now - home->looked_ns < SECOND_NS)
		return;
	home->looked_ns = now;
	node = capture__busiest_node(capture);
	if (node == home->node)
		return;
	if (!home->known && sched_getaffinity(0, sizeof(home->own), &home->own) != 0)
		return;
	home->known = true;
	wanted = home->own;
	policy__narrow(&wanted);
	if (node >= 0)
		keep_node(&wanted, node);
	if (CPU_COUNT(&wanted) && sched_setaffinity(0, sizeof(wanted), &wanted) == 0)
		home->node = node;
}
