// SPDX-License-Identifier: BSD-2-Clause
#include "tests/unit/check.h"
#include "tests/unit/stream_text.h"

#include <errno.h>

/* Every event there is, every key, in the order and spelling of the writer. */
static const char everything[] =
	"grain-log 1\n"
	"@machine host=n17 cores=8 sockets=2 kernel=6.1.0\n"
	"@cpu 0 core=0 socket=0 node=0\n"
	"@cpu 1 core=1 socket=1 node=1\n"
	"@distance 0 10 16\n"
	"@process pid=4711 uid=1000 exe=/opt/app/fib cmd=\"fib \\\"38\\\" 12\" runtime=libgomp threads=8\n"
	"@counter 0 name=PAPI_TOT_CYC\n"
	"@capture source=uprobes method=uprobe_multi ns_per_event=903.5 resolution_ns=650 attach_ns=1 "
	"late=1\n"
	"@future something=else\n"
	"@end reason=detach end_ns=99 events=17\n"
	"@source 3 file=fib.c line=8 func=fib kind=task path=/src/fib.c\n"
	"@source 9 kind=task module=a.out+0x123\n"
	"@source 4 file=\"a b.c\" line=1 func=\"operator \\\"\\\"\" kind=parallel\n"
	"@lost cause=ring-full count=4\n"
	"@truth events=77 lost=12 unmatched_begins=1 unmatched_ends=2 never_begun=1 never_ended=1 "
	"unclosed_waits=1 read_faults=6 damaged=0\n"
	"100 10 0 thread-begin\n"
	"100 10 0 region-begin region=0 src=4 threads=2 kind=teams trouble=lost\n"
	"101 10 0 member-begin region=0 num=0\n"
	"101 11 1 thread-begin\n"
	"101 11 1 member-begin region=0 num=1\n"
	"102 10 0 single-begin src=4 won=1\n"
	"103 10 0 create-begin task=0 src=3 "
	"flags=deferred,final,untied,mergeable,detach,taskloop,target,split,priority\n"
	"103 10 0 task-bounds task=0 taskloop=0 lower=-3 upper=7\n"
	"104 10 0 depend task=0 addr=0x7fff0010 kind=in\n"
	"104 10 0 depend task=0 addr=0x7fff0010 kind=out\n"
	"104 10 0 depend task=0 addr=0x7fff0010 kind=inout\n"
	"104 10 0 depend task=0 addr=0x7fff0010 kind=mutexinoutset\n"
	"104 10 0 depend task=0 addr=0x7fff0010 kind=inoutset\n"
	"104 10 0 depend task=0 addr=0x0 kind=all\n"
	"104 10 0 depend task=0 addr=0x3 kind=unread\n"
	"105 10 0 create-end task=0\n"
	"106 10 0 create-begin task=1 src=9 flags=undeferred\n"
	"106 10 0 task-begin task=1\n"
	"107 10 0 task-end task=1\n"
	"107 10 0 create-end task=1\n"
	"108 10 0 create-begin task=2 flags=none trouble=no-begin,lost,wait,fault\n"
	"109 10 0 create-end task=2\n"
	"110 10 0 single-end won=1\n"
	"111 10 0 wait-begin kind=taskwait src=3\n"
	"112 10 0 task-begin task=0\n"
	"113 10 0 wait-begin kind=taskyield\n"
	"114 11 1 task-switch task=0\n"
	"115 10 0 wait-end kind=taskwait\n"
	"116 11 1 wait-end kind=taskyield\n"
	"116 11 1 task-suspend task=0\n"
	"116 11 1 task-switch task=0\n"
	"117 11 1 task-end task=0\n"
	"117 10 0 task-fulfill task=0\n"
	"117 10 0 create-begin task=3 src=9 flags=deferred\n"
	"117 10 0 create-end task=3\n"
	"117 10 0 cancel kind=taskgroup point=0 src=3\n"
	"117 10 0 cancel kind=parallel point=1\n"
	"117 10 0 cancel kind=loop point=1\n"
	"117 10 0 cancel kind=sections point=0\n"
	"117 10 0 task-discard task=3\n"
	"118 11 1 task-begin task=4 src=9 trouble=no-create,no-end\n"
	"119 11 1 task-end task=4\n"
	"120 10 0 group-begin src=3\n"
	"121 10 0 wait-begin kind=taskgroup\n"
	"122 10 0 wait-end kind=taskgroup\n"
	"123 10 0 wait-begin kind=taskwait-depend\n"
	"123 10 0 depend addr=0x20 kind=in\n"
	"124 10 0 wait-end kind=taskwait-depend\n"
	"125 10 0 loop-begin loop=0 src=4 sched=runtime-guided lower=-5 upper=99 step=-2 chunk=7\n"
	"126 10 0 chunk-begin loop=0 lower=-5 upper=1\n"
	"127 10 0 lock-begin kind=critical addr=0x10 src=3\n"
	"128 10 0 lock-got kind=ordered addr=0x10\n"
	"129 10 0 lock-end kind=lock addr=0x10\n"
	"130 10 0 chunk-end loop=0\n"
	"131 10 0 loop-end loop=0\n"
	"132 10 0 sections-begin loop=1 src=4\n"
	"133 10 0 section-begin loop=1 lower=2\n"
	"134 10 0 section-end loop=1\n"
	"134 10 0 section-begin loop=1 lower=3 upper=5\n"
	"134 10 0 section-end loop=1\n"
	"135 10 0 sections-end loop=1\n"
	"135 10 0 loop-begin loop=2 src=4 sched=static unsigned=1 lower=0 upper=18446744073709551615 "
	"step=1 chunk=4 stride=8 ordered=1 doacross=1 nonmonotonic=1 distribute=1\n"
	"135 10 0 chunk-begin loop=2 lower=9223372036854775808 upper=18446744073709551615 count=3\n"
	"135 10 0 lock-begin kind=doacross addr=0x10\n"
	"135 10 0 lock-got kind=atomic addr=0x10\n"
	"135 10 0 chunk-end loop=2\n"
	"135 10 0 loop-end loop=2\n"
	"135 10 0 loop-begin loop=3 sched=runtime bounds=hidden\n"
	"135 10 0 chunk-begin loop=3 bounds=hidden num=1\n"
	"135 10 0 chunk-end loop=3\n"
	"135 10 0 loop-end loop=3\n"
	"136 10 0 off-cpu reason=preempted\n"
	"137 10 0 on-cpu reason=unknown\n"
	"138 10 0 sample ip=0x401234\n"
	"138 10 0 access addr=0x7f1234567000 node=3\n"
	"138 10 0 access why=unmapped\n"
	"139 10 0 lost count=3 cause=\"ring full\"\n"
	"139 0 0 lost count=5\n"
	"140 10 0 wait-begin kind=barrier\n"
	"141 10 0 wait-end kind=barrier\n"
	"142 10 0 wait-begin kind=barrier-implicit\n"
	"143 10 0 wait-end kind=barrier-implicit\n"
	"143 10 0 member-end region=0 num=0\n"
	"144 10 0 region-end region=0\n"
	"145 11 1 member-end region=0 num=1\n"
	"146 11 1 member-begin region=none num=0\n"
	"147 11 1 member-end region=none num=0\n"
	"148 11 1 thread-end\n"
	"149 10 0 thread-end\n";

static void test_everything(void)
{
	struct event_stream *s = NULL;
	struct grain_error err;
	bool kinds[EVENT_KIND_MAX] = {false}, all = true;
	char *text;
	int rc = read_path(temporary(everything, strlen(everything)), 0, &s, &err);

	CHECK(rc == 0, "a log with every event is read: %s", err.text);
	if (rc)
		return;
	text = log_of(s, 1);
	CHECK_STR(text, everything, "it is written as it was read");
	free(text);
	for (size_t i = 0; i < s->count; i++)
		kinds[s->events[i].kind] = true;
	for (int i = 0; i < EVENT_KIND_MAX; i++)
		all &= kinds[i];
	CHECK(all, "the test has every kind of event");
	CHECK_STR(s->info.source, "uprobes", "@capture says what measured it");
	CHECK_STR(s->info.command, "fib \"38\" 12", "quoted values are read");
	CHECK(s->info.pid == 4711 && s->info.uid == 1000 && s->info.cores == 8 && s->info.sockets == 2 &&
		      s->info.late && !s->info.damaged && s->info.resolution_ns == 650 &&
		      s->info.ns_per_event == 903.5 && s->info.start_ns == 100 && s->info.end_ns == 149,
	      "what is known of the process");
	CHECK(s->truth.events == 77 && s->truth.lost == 12 && s->truth.unmatched_ends == 2 &&
		      s->truth.read_faults == 6 && s->truth.never_ended == 1,
	      "@truth overrules what reading counts");
	CHECK(s->cpu_count == 2 && s->cpus[1].node == 1, "@cpu");
	event_stream__free(s);
}

/* `body` without the first line; the error must name the line and contain `what`. */
static void bad(const char *body, int line, const char *what)
{
	struct event_stream *s = NULL;
	struct grain_error err;
	char text[4096], where[32];
	int rc;

	snprintf(text, sizeof(text), "grain-log 1\n%s", body);
	snprintf(where, sizeof(where), ": line %d: ", line);
	rc = read_path(temporary(text, strlen(text)), 0, &s, &err);
	CHECK(rc == -EBADMSG && !s && strstr(err.text, where) && strstr(err.text, what) &&
		      !strchr(err.text, '\n') && strstr(err.text, "--keep-going"),
	      "refused: %s (%s)", what, err.text);
	event_stream__free(s);
	s = NULL;
	rc = read_path(stream_path, 1, &s, &err);
	CHECK(rc == 0 && s && s->info.damaged, "kept going after: %s", what);
	if (s) {
		struct event_stream *again = NULL;
		char *once = log_of(s, 1), *twice;

		rc = read_path(temporary(once, strlen(once)), 0, &again, &err);
		CHECK(rc == 0, "what is kept of it is sound: %s", err.text);
		if (!rc) {
			twice = log_of(again, 1);
			CHECK_STR(twice, once, "and equal when read again");
			free(twice);
		}
		event_stream__free(again);
		free(once);
	}
	event_stream__free(s);
}

static void test_errors(void)
{
	bad("1 1 0 task-sleep task=1\n", 2, "unknown event \"task-sleep\"");
	bad("1 1 0 thread-begin\nx 1 0 thread-end\n", 3, "the time is not a number");
	bad("1 -1 0 thread-begin\n", 2, "the thread is not a number");
	bad("1 1 65536 thread-begin\n", 2, "the CPU is not a number");
	bad("1 1 0\n", 2, "no name");
	bad("18446744073709551616 1 0 thread-begin\n", 2, "the time is not a number");
	bad("# comment\n\n1 1 0 create-begin\n", 4, "create-begin needs task=");
	bad("1 1 0 create-begin task=a\n", 2, "task=\"a\"");
	bad("1 1 0 create-begin task=1 flags=deferred,strange\n", 2, "flags=");
	bad("1 1 0 wait-begin kind=nap\n", 2, "kind=\"nap\"");
	bad("1 1 0 create-begin task\n", 2, "only key=value pairs");
	bad("1 1 0 lost count=1 cause=\"open\n", 2, "only key=value pairs");
	bad("5 1 0 thread-begin\n4 1 0 thread-end\n", 3, "goes back from 5 to 4");
	bad("1 1 0 thread-begin\n1 1 0 thread-begin\n", 3, "begun before");
	bad("1 1 0 create-begin task=1\n1 1 0 create-end task=1\n2 1 0 create-begin task=1\n", 4,
	    "created before");
	bad("1 1 0 create-begin task=1\n1 1 0 create-end task=1\n2 1 0 task-begin task=1\n3 2 0 task-begin "
	    "task=1\n",
	    5, "begun before");
	bad("1 1 0 task-begin task=1\n2 1 0 task-end task=2\n", 3, "not seen before");
	bad("1 1 0 task-begin task=1\n2 2 0 task-end task=1\n", 3, "not the end of what is open");
	bad("1 1 0 task-begin task=1\n2 1 0 task-end task=1\n3 1 0 task-end task=1\n", 4, "not the end");
	bad("1 1 0 task-begin task=1\n2 1 0 task-end task=1\n3 1 0 task-switch task=1\n", 4,
	    "resumes a task");
	bad("1 2 0 task-begin task=1\n2 1 0 create-begin task=1\n2 1 0 create-end task=1\n", 2,
	    "before it is created");
	bad("1 1 0 wait-begin kind=taskwait\n2 1 0 wait-end kind=barrier\n", 3, "not the end");
	bad("1 1 0 wait-begin kind=taskwait\n2 1 0 wait-begin kind=taskwait\n", 3, "inside a wait");
	bad("1 1 0 wait-begin kind=taskwait\n2 1 0 create-begin task=1\n", 3, "inside a wait");
	bad("1 1 0 create-begin task=1\n2 1 0 create-begin task=2\n", 3, "inside the creation");
	bad("1 1 0 create-begin task=1\n2 1 0 create-end task=2\n", 3, "not seen before");
	bad("1 1 0 region-end region=1\n", 2, "has not begun");
	bad("1 1 0 region-begin region=1\n2 1 0 region-begin region=1\n", 3, "begun before");
	bad("1 1 0 region-begin region=1\n1 1 0 member-begin region=1 num=0\n1 2 0 member-begin region=1 "
	    "num=0\n",
	    4, "begins a member that has begun");
	bad("1 2 0 member-begin region=1 num=1\n2 1 0 region-begin region=1\n", 2, "has not begun");
	bad("1 1 0 member-begin region=none num=9999999999\n", 2, "no team can have");
	bad("1 1 0 region-begin region=0 threads=9999999999\n", 2, "more threads");
	bad("1 1 0 chunk-begin loop=1 lower=0\n", 2, "has not begun");
	bad("1 1 0 loop-begin loop=1\n2 1 0 wait-begin kind=taskwait\n3 1 0 wait-end kind=taskwait\n"
	    "4 1 0 chunk-end loop=1\n",
	    5, "not the end");
	bad("1 1 0 depend task=1 addr=1 kind=in\n", 2, "not seen before");
	bad("1 1 0 depend addr=1 kind=in\n", 2, "not inside a taskwait-depend");
	bad("1 1 0 wait-begin kind=taskwait\n1 1 0 depend addr=1 kind=in\n", 3,
	    "not inside a taskwait-depend");
	bad("1 1 0 task-begin task=1\n2 2 0 task-suspend task=1\n", 3, "its thread does not execute");
	bad("1 1 0 task-begin task=1\n2 1 0 task-begin task=2\n3 1 0 task-suspend task=1\n", 4,
	    "its thread does not execute");
	bad("1 1 0 task-begin task=1\n2 1 0 task-suspend task=1\n3 1 0 task-end task=1\n", 4, "not the end");
	bad("1 1 0 task-suspend task=1\n", 2, "not seen before");
	bad("1 1 0 task-begin task=1\n2 1 0 task-bounds task=1 taskloop=0 lower=0 upper=1\n", 3,
	    "between the task's creation and its begin");
	bad("1 1 0 create-begin task=1\n2 1 0 task-bounds task=1 taskloop=0 lower=0\n", 3, "needs upper=");
	bad("1 1 0 task-begin task=1\n2 1 0 task-discard task=1\n", 3, "discards a task");
	bad("1 1 0 create-begin task=1\n1 1 0 create-end task=1\n2 1 0 task-discard task=1\n"
	    "3 1 0 task-begin task=1\n",
	    5, "was discarded");
	bad("1 1 0 task-fulfill task=1\n", 2, "not seen before");
	bad("1 1 0 cancel point=1\n", 2, "cancel needs kind=");
	bad("1 1 0 cancel kind=task point=1\n", 2, "kind=\"task\"");
	bad("1 1 0 cancel kind=loop point=2\n", 2, "point=\"2\"");
	bad("1 1 0 region-begin region=1 kind=league\n", 2, "kind=\"league\"");
	bad("1 1 0 loop-begin loop=1 unsigned=1 lower=-1\n", 2, "lower=\"-1\"");
	bad("1 1 0 loop-begin loop=1 bounds=known\n", 2, "bounds=\"known\"");
	bad("1 1 0 loop-begin loop=1\n1 1 0 chunk-begin loop=1 lower=0 upper=18446744073709551615\n", 3,
	    "upper=\"18446744073709551615\"");
	bad("1 1 0 loop-begin loop=1\n1 1 0 chunk-begin loop=1 lower=0 upper=1 count=4294967295\n", 3,
	    "count=");
	bad("1 1 0 create-begin task=1 src=7\n", 2, "no @source line declares source 7");
	bad("@source 1 line=x\n", 2, "not a number: \"x\"");
	bad("@source\n", 2, "needs its number");
	bad("@source 1\n@source 1\n", 3, "declared twice");
	bad("@process cmd=\"a\tb\"\n", 2, "control character");
	bad("@lost count=1\n", 2, "needs cause=");
	bad("1 1 0 thread-begin\n2 1 0 task-begin task=1\n3 1 0 thread-end\n", 4, "something is open");
	bad("1 1 0 thread-begin\n2 1 0 thread-e", 3, "ends inside this line");
}

/* What is missing is not wrong: it is closed, counted and marked. */
static void test_open_ends(void)
{
	static const char text[] =
		"grain-log 1\n"
		"1 1 0 thread-begin\n1 1 0 region-begin region=70 threads=0\n"
		"2 1 0 member-begin region=70 num=0\n"
		"3 1 0 create-begin task=100000000000 flags=deferred\n4 1 0 create-end "
		"task=100000000000\n"
		"5 1 0 task-begin task=8\n6 1 0 wait-begin kind=taskwait\n7 2 3 task-begin "
		"task=9 unknown=key\n";
	static const char closed[] = "1 1 0 thread-begin\n"
				     "1 1 0 region-begin region=0 threads=0 trouble=no-end\n"
				     "2 1 0 member-begin region=0 num=0\n"
				     "3 1 0 create-begin task=0 flags=deferred trouble=no-begin\n"
				     "4 1 0 create-end task=0\n"
				     "5 1 0 task-begin task=1 trouble=no-create,no-end,wait\n"
				     "6 1 0 wait-begin kind=taskwait\n"
				     "7 2 3 task-begin task=2 trouble=no-create,no-end\n"
				     "7 1 0 wait-end kind=taskwait\n"
				     "7 1 0 task-end task=1\n"
				     "7 1 0 member-end region=0 num=0\n"
				     "7 1 0 region-end region=0\n"
				     "7 1 0 thread-end\n"
				     "7 2 3 task-end task=2\n";
	struct event_stream *s = NULL;
	struct grain_error err;
	char *log;

	CHECK(read_path(temporary(text, strlen(text)), 0, &s, &err) == 0, "an unfinished log is read: %s",
	      err.text);
	if (!s)
		return;
	log = log_of(s, 0);
	CHECK_STR(log, closed, "what is open at the end is closed there");
	CHECK(s->truth.never_begun == 1 && s->truth.unmatched_begins == 2 && s->truth.never_ended == 2 &&
		      s->truth.unclosed_waits == 1 && s->truth.events == 8 && !s->info.damaged,
	      "and counted");
	free(log);
	event_stream__free(s);
}

/* Threads one after the other; at equal times causes come first. */
static void test_order(void)
{
	static const char text[] =
		"grain-log 1\n"
		"@source 2 file=a.c line=1\n"
		"5 2 0 member-begin region=1 num=1\n5 2 0 task-begin task=4\n9 2 0 task-end task=4\n"
		"9 2 0 member-end region=1 num=1\n"
		"5 1 0 region-begin region=1 threads=2\n5 1 0 member-begin region=1 num=0\n"
		"5 1 0 create-begin task=4 src=2\n6 1 0 create-end task=4\n"
		"9 1 0 member-end region=1 num=0\n9 1 0 region-end region=1\n";
	static const char sorted[] =
		"5 1 0 region-begin region=0 threads=2\n5 2 0 member-begin region=0 num=1\n"
		"5 1 0 member-begin region=0 num=0\n5 1 0 create-begin task=0 src=2 flags=none\n"
		"5 2 0 task-begin task=0\n6 1 0 create-end task=0\n9 2 0 task-end task=0\n"
		"9 2 0 member-end region=0 num=1\n9 1 0 member-end region=0 num=0\n9 1 0 region-end "
		"region=0\n";
	struct event_stream *s = NULL;
	struct grain_error err;
	char *log;

	CHECK(read_path(temporary(text, strlen(text)), 0, &s, &err) == 0, "concatenated threads: %s",
	      err.text);
	if (!s)
		return;
	log = log_of(s, 0);
	CHECK_STR(log, sorted, "are merged by time, causes first");
	free(log);
	CHECK(s->info.threads == 2, "the largest team is known");
	event_stream__free(s);
}

#ifdef __SANITIZE_ADDRESS__
#define OF_EACH 5000u
#else
#define OF_EACH 20000u
#endif

/* A large log whose threads follow one another goes through the general sort. */
static void test_large(void)
{
	struct event_stream *s = NULL, *again = NULL;
	struct grain_error err;
	char *text = NULL, *once, *twice;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	bool ordered = true;

	fputs("grain-log 1\n", f);
	for (unsigned thread = 5; thread > 0; thread--) {
		for (unsigned i = 0; i < OF_EACH; i++) {
			uint64_t time = 1000 + 4ull * i * i + thread;

			fprintf(f, "%llu %u 0 task-begin task=%llu\n", (unsigned long long)time, thread,
				(unsigned long long)thread << 40 | i);
			fprintf(f, "%llu %u 0 task-end task=%llu\n", (unsigned long long)time + 3, thread,
				(unsigned long long)thread << 40 | i);
		}
	}
	fclose(f);
	CHECK(read_path(temporary(text, bytes), 0, &s, &err) == 0, "%u events of 5 threads: %s", 10 * OF_EACH,
	      err.text);
	free(text);
	if (!s)
		return;
	for (size_t i = 1; i < s->count; i++)
		ordered &= s->events[i - 1].time_ns <= s->events[i].time_ns;
	CHECK(ordered && s->count == 10 * OF_EACH && s->task_count == 5 * OF_EACH, "are in order of time");
	once = log_of(s, 1);
	CHECK(read_path(temporary(once, strlen(once)), 0, &again, &err) == 0, "written and read again: %s",
	      err.text);
	twice = again ? log_of(again, 1) : strdup("");
	CHECK(strcmp(once, twice) == 0, "gives the same log");
	free(once);
	free(twice);
	event_stream__free(s);
	event_stream__free(again);
}

static void test_files(void)
{
	struct grain_load_opts small = {.max_bytes = 1 << 16};
	struct event_stream *s = NULL;
	struct grain_error err;

	CHECK(read_path("/nonexistent/log", 0, &s, &err) == -ENOENT && strstr(err.text, "cannot be opened"),
	      "no such file");
	CHECK(read_path("/tmp", 0, &s, &err) == -EINVAL && strstr(err.text, "not a regular file"),
	      "a directory");
	CHECK(read_path(temporary("", 0), 1, &s, &err) == -EBADMSG && strstr(err.text, "empty"),
	      "an empty file");
	CHECK(read_path(temporary("hello world\n", 12), 1, &s, &err) == -EBADMSG, "another file: %s",
	      err.text);
	CHECK(read_path(temporary("grain-log 2\n", 12), 1, &s, &err) == -EBADMSG &&
		      strstr(err.text, "line 1"),
	      "another version: %s", err.text);
	CHECK(read_path(temporary("grain-log 1\n", 12), 0, &s, &err) == 0 && s && s->count == 0,
	      "no events: %s", err.text);
	event_stream__free(s);
	s = NULL;
	temporary(everything, strlen(everything));
	CHECK(event_stream__read(stream_path, &small, &s, &err) == -E2BIG && !s && strstr(err.text, "memory"),
	      "the memory bound: %s", err.text);
}

/* Cut anywhere: refused with one line, and what is before the cut is kept on demand. */
static void test_cut(void)
{
	size_t whole = strlen(everything), refused = 0, kept = 0, cuts = 0;

	for (size_t n = 12; n < whole; n++) {
		struct event_stream *s = NULL;
		struct grain_error err;
		bool at_line = everything[n - 1] == '\n';

		temporary(everything, n);
		cuts++;
		refused += (read_path(stream_path, 0, &s, &err) == -EBADMSG) != at_line;
		event_stream__free(s);
		s = NULL;
		kept += read_path(stream_path, 1, &s, &err) == 0 && s && s->info.damaged != at_line;
		event_stream__free(s);
	}
	CHECK(refused == cuts, "cut inside a line at %zu of %zu places: refused", refused, cuts);
	CHECK(kept == cuts, "kept on demand at %zu of %zu places", kept, cuts);
}

static uint64_t noise(uint64_t below)
{
	static uint64_t seed = 88172645463325252u;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* Lines left out, said twice and out of place: whatever is kept of them must be sound. */
static void test_mixed_up(void)
{
	size_t rounds = 600, sound = 0;

	for (size_t round = 0; round < rounds; round++) {
		const char *lines[200];
		struct event_stream *s = NULL, *again = NULL;
		struct grain_error err;
		char *copy = strdup(everything), *text = NULL, *once, *twice, *rest = copy;
		size_t count = 0, bytes;
		FILE *f = open_memstream(&text, &bytes);

		for (char *line; (line = strsep(&rest, "\n"));)
			lines[count++] = line;
		fprintf(f, "%s\n", lines[0]);
		for (size_t i = 1; i + 1 < count; i++) {
			size_t what = noise(12);

			if (what)
				fprintf(f, "%s\n", lines[what == 1 ? 1 + noise(count - 2) : i]);
			if (what == 2)
				fprintf(f, "%s\n", lines[i]);
		}
		fclose(f);
		if (read_path(temporary(text, bytes), 1, &s, &err) == 0) {
			once = log_of(s, 1);
			if (read_path(temporary(once, strlen(once)), 0, &again, &err) == 0) {
				twice = log_of(again, 1);
				sound += strcmp(once, twice) == 0;
				free(twice);
			} else {
				printf("# %s\n", err.text);
			}
			free(once);
		}
		event_stream__free(s);
		event_stream__free(again);
		free(text);
		free(copy);
	}
	CHECK(sound == rounds, "%zu of %zu mixed-up logs leave a sound one", sound, rounds);
}

int main(void)
{
	test_everything();
	test_errors();
	test_open_ends();
	test_order();
	test_large();
	test_files();
	test_cut();
	test_mixed_up();
	CHECK_DONE();
}
