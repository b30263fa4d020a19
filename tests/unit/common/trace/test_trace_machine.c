// SPDX-License-Identifier: BSD-2-Clause
/* The machine as it gets into a trace: of hwloc's XML, and of this one. */
#include "analysis/event/event.h"
#include "daemon/common/trace/trace_machine.h"
#include "tests/unit/check.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define FOUR_NODES "tests/data/numa_4_nodes.xml"

/* Behind the host's name and before the kernel's. */
static const char four_machine[] = " cores=8 sockets=2 nodes=4 kernel=";
static const char four_nodes[] = "@cpu 0 core=0 socket=0 node=0\n@cpu 1 core=1 socket=0 node=0\n"
				 "@cpu 2 core=2 socket=0 node=1\n@cpu 3 core=3 socket=0 node=1\n"
				 "@cpu 4 core=4 socket=1 node=2\n@cpu 5 core=5 socket=1 node=2\n"
				 "@cpu 6 core=6 socket=1 node=3\n@cpu 7 core=7 socket=1 node=3\n"
				 "@node 0 memory=1073741824\n@node 1 memory=1073741824\n"
				 "@node 2 memory=1073741824\n@node 3 memory=1073741824\n"
				 "@distance 0 10 12 21 23\n@distance 1 12 10 23 21\n"
				 "@distance 2 21 23 10 14\n@distance 3 23 21 14 10\n";

static char trace[] = "/tmp/graind-unit-machine.XXXXXX", xml[] = "/tmp/graind-unit-xml.XXXXXX";

/* The lines of a trace that has only these, the first one by itself; freed by the caller. */
static char *describe(char machine[1024], bool allowed)
{
	struct trace_writer *writer;
	struct event_stream *stream;
	char *text = NULL;
	size_t size;
	FILE *out;

	unlink(trace);
	if (trace_writer__create(AT_FDCWD, trace, NULL, &writer) ||
	    (allowed ? trace_machine__describe_allowed(writer, getpid()) : trace_machine__describe(writer)) ||
	    trace_writer__finish(writer, NULL) || event_stream__read(trace, NULL, &stream, NULL))
		exit(1);
	out = open_memstream(&text, &size);
	machine[0] = '\0';
	for (size_t i = 0; i < stream->verbatim_count; i++) {
		if (i == 0)
			snprintf(machine, 1024, "%s", stream->verbatim[i]);
		else if (strncmp(stream->verbatim[i], "@capture ", 9))
			fprintf(out, "%s\n", stream->verbatim[i]);
	}
	fclose(out);
	event_stream__free(stream);
	return text;
}

static void expect(const char *name, const char *file, const char *machine, const char *lines)
{
	char first[1024], *text;

	setenv("HWLOC_XMLFILE", file, 1);
	text = describe(first, false);
	CHECK_STR(text, lines, "%s", name);
	CHECK(!strncmp(first, "@machine host=", 14) && strstr(first, machine), "%s: counts", name);
	free(text);
}

/* The four nodes with every `from` replaced. */
static const char *with(const char *from, const char *to)
{
	static char text[16384];
	FILE *in = fopen(FOUR_NODES, "re"), *out = fopen(xml, "we");
	size_t got = in ? fread(text, 1, sizeof(text) - 1, in) : 0;
	const char *at = text;

	text[got] = '\0';
	if (!in || !out || !got)
		exit(1);
	for (const char *found; (found = strstr(at, from)); at = found + strlen(from))
		fprintf(out, "%.*s%s", (int)(found - at), at, to);
	fputs(at, out);
	fclose(in);
	fclose(out);
	return xml;
}

static void test_xml(void)
{
	expect("four nodes", FOUR_NODES, four_machine, four_nodes);
	expect("four nodes, asked again", FOUR_NODES, four_machine, four_nodes);
	expect("a cpuset of half of the machine",
	       with("allowed_cpuset=\"0x000000ff\"", "allowed_cpuset=\"0x0000000f\""), four_machine,
	       four_nodes);
	expect("CPUs that are offline",
	       with("complete_cpuset=\"0x000000ff\"", "complete_cpuset=\"0x0000ffff\""), four_machine,
	       four_nodes);
	expect("latencies by another name", with("NUMALatency", "Measured"), four_machine, four_nodes);
	expect("one node", "tests/data/hwloc_one_node.xml", " nodes=1 kernel=",
	       "@cpu 0 core=0 socket=0 node=0\n@cpu 1 core=0 socket=0 node=0\n"
	       "@cpu 2 core=1 socket=0 node=0\n@cpu 3 core=1 socket=0 node=0\n"
	       "@cpu 4 core=2 socket=0 node=0\n@cpu 5 core=2 socket=0 node=0\n"
	       "@cpu 6 core=3 socket=1 node=0\n@cpu 7 core=3 socket=1 node=0\n"
	       "@cpu 8 core=4 socket=1 node=0\n@cpu 9 core=4 socket=1 node=0\n"
	       "@cpu 10 core=5 socket=1 node=0\n@cpu 11 core=5 socket=1 node=0\n"
	       "@node 0 memory=0\n");
	expect("no machine", "tests/data/fib_two_threads.log", " cores=0 sockets=0 nodes=0 kernel=", "");
}

/* What the kernel says of the machine without hwloc. */
static void test_this_machine(void)
{
	char first[1024], wanted[64], *text;
	long online = sysconf(_SC_NPROCESSORS_ONLN), cpus = 0;

	unsetenv("HWLOC_XMLFILE");
	text = describe(first, false);
	for (const char *at = text; (at = strstr(at, "@cpu ")); at++)
		cpus++;
	snprintf(wanted, sizeof(wanted), "%ld CPUs that are online", online);
	CHECK(cpus == online, "this machine: %s", wanted);
	CHECK(strstr(text, "@node 0 memory="), "this machine: its memory");
	free(text);
}

static void test_allowed(void)
{
	char first[1024], wanted[1024] = "", *text;
	cpu_set_t all, one;
	int cpu = 0;

	sched_getaffinity(0, sizeof(all), &all);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	text = describe(first, true);
	sched_setaffinity(0, sizeof(all), &all);
	snprintf(wanted, sizeof(wanted), "@allowed cpus=%d nodes=", cpu);
	CHECK(!strncmp(first, wanted, strlen(wanted)), "what a process may use: %s", first);
	free(text);
}

int main(void)
{
	int fd = mkstemp(trace), other = mkstemp(xml);

	if (fd < 0 || other < 0)
		return 1;
	close(fd);
	close(other);
	/* As in graind: without them, a file that is no machine is one without anything. */
	setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
	test_xml();
	test_this_machine();
	test_allowed();
	unlink(trace);
	unlink(xml);
	CHECK_DONE();
}
