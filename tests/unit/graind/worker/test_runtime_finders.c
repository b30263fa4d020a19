// SPDX-License-Identifier: BSD-2-Clause
/* Workers that look into files, and what becomes of those that do not do what they should: they are played
 * here. */
#include "daemon/graind/worker/runtime_finders.h"
#include "daemon/common/process/pass_fd.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/worker/worker.h"
#include "tests/unit/check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 8
#define THREADS 16
#define EACH 200
#define OWNERS 12
/* So many further ids has each user, from so many times the own one on. */
#define RANGE 1000
#define OF_RANGE 12

static atomic_int started, living, unstartable, said;
static char said_last[1024];

/* ---- the worker ----------------------------------------------------------- */

static void answer(uint64_t number, uint32_t runtime, size_t size)
{
	struct find_answer bytes[2] = {{.number = number, .runtime = runtime}};

	if (write(STDIN_FILENO, bytes, size) != (ssize_t)size)
		_exit(1);
}

uid_t account__of(uid_t uid)
{
	return uid < RANGE ? uid : uid / RANGE;
}

/* What the file says is what the worker does. */
static void obey(const char *text, uint64_t number, int asked)
{
	if (!strcmp(text, "gomp"))
		answer(number, ELF_RUNTIME_LIBGOMP, sizeof(struct find_answer));
	else if (!strcmp(text, "omp"))
		answer(number, ELF_RUNTIME_LIBOMP, sizeof(struct find_answer));
	else if (!strcmp(text, "range"))
		answer(number, ELF_RUNTIME_LIBOMP + 1, sizeof(struct find_answer));
	else if (!strcmp(text, "number"))
		answer(number + 1, ELF_RUNTIME_LIBOMP, sizeof(struct find_answer));
	else if (!strcmp(text, "short"))
		answer(number, ELF_RUNTIME_LIBOMP, sizeof(struct find_answer) - 1);
	else if (!strcmp(text, "long"))
		answer(number, ELF_RUNTIME_LIBOMP, sizeof(struct find_answer) + 1);
	else if (!strcmp(text, "crash"))
		raise(SIGKILL);
	else if (!strcmp(text, "first") && asked > 1)
		raise(SIGKILL);
	else if (!strcmp(text, "first"))
		answer(number, ELF_RUNTIME_LIBGOMP, sizeof(struct find_answer));
	else if (!strcmp(text, "sleep"))
		pause();
	else if (!strcmp(text, "nap") && usleep(200000) == 0)
		answer(number, ELF_RUNTIME_LIBGOMP, sizeof(struct find_answer));
	else
		for (volatile int spins = 1; spins;)
			;
}

static _Noreturn void be_worker(int input)
{
	uint64_t number;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(input, STDIN_FILENO);
	for (fd = 3; fd < 64; fd++)
		close(fd);
	for (int asked = 1; pass_fd__receive(STDIN_FILENO, &number, sizeof(number), &fd) > 0; asked++) {
		char text[16] = "";

		if (pread(fd, text, sizeof(text) - 1, 0) < 0)
			_exit(1);
		close(fd);
		obey(text, number, asked);
	}
	_exit(0);
}

int worker__start(const struct worker *worker, struct worker_running *out)
{
	if (atomic_load(&unstartable))
		return -EAGAIN;
	*out = (struct worker_running){.output = -1, .pid = fork()};
	if (out->pid == 0)
		be_worker(worker->input);
	atomic_fetch_add(&started, 1);
	atomic_fetch_add(&living, 1);
	return 0;
}

void worker__stop(struct worker_running *running)
{
	kill(running->pid, SIGKILL);
	waitpid(running->pid, NULL, 0);
	atomic_fetch_sub(&living, 1);
}

void log__line(int priority, const char *format, ...)
{
	static pthread_mutex_t saying = PTHREAD_MUTEX_INITIALIZER;
	va_list args;

	(void)priority;
	va_start(args, format);
	pthread_mutex_lock(&saying);
	vsnprintf(said_last, sizeof(said_last), format, args);
	pthread_mutex_unlock(&saying);
	va_end(args);
	atomic_fetch_add(&said, 1);
}

/* ---- asking it -------------------------------------------------------------- */

/* What is found in a file of that text and owner; negative: nobody looked. */
static int look(const char *text, uid_t owner)
{
	const struct stat file = {.st_uid = owner};
	enum elf_runtime runtime = ELF_RUNTIME_NONE;
	int fd = memfd_create("file", MFD_CLOEXEC), error;

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return -EIO;
	error = runtime_finders__look(fd, &file, &runtime);
	close(fd);
	return error ? error : (int)runtime;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void start(unsigned int idle_ms)
{
	const struct runtime_finders_limits limits = {.cpu_ms = 200, .wall_ms = 1500, .idle_ms = idle_ms};

	started = 0;
	CHECK(runtime_finders__start(&limits, false) == 0 && runtime_finders__failed() == 0, "it starts");
}

static void check_answers(void)
{
	start(60000);
	CHECK(look("gomp", 1) == ELF_RUNTIME_LIBGOMP && look("omp", 1) == ELF_RUNTIME_LIBOMP,
	      "what the worker says is handed on");
	CHECK(started == 1, "one worker serves many files");
	CHECK(look("gomp", 2) == ELF_RUNTIME_LIBGOMP && started == 2 && living == 2,
	      "of another owner another one");
	for (uid_t owner = 0; owner < 40; owner++)
		if (look("omp", owner) != ELF_RUNTIME_LIBOMP || living > MOST)
			CHECK(false, "owner %u: %d live", owner, living);
	CHECK(living == MOST, "so many at a time at most");
	CHECK(runtime_finders__failed() == 0 && said == 0, "and there is nothing to complain of");
	runtime_finders__stop();
	CHECK(living == 0, "all of them end with graind");
}

static void check_misbehaviour(void)
{
	static const char *const wrong[] = {"range", "number", "short", "long", "crash"};
	uint64_t failed = 0;
	double since;
	int before;

	start(60000);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		said = 0;
		before = started;
		CHECK(look(wrong[i], 7) == ELF_RUNTIME_NONE && runtime_finders__failed() == ++failed,
		      "%s: counts as a file without a runtime", wrong[i]);
		CHECK(started - before <= 2 && look("gomp", 7) == ELF_RUNTIME_LIBGOMP,
		      "%s: the next file is looked into", wrong[i]);
	}
	CHECK(look("gomp", 9) == ELF_RUNTIME_LIBGOMP, "a worker that has done something");
	before = started;
	CHECK(look("first", 9) == ELF_RUNTIME_LIBGOMP && started == before + 1 &&
		      runtime_finders__failed() == failed,
	      "one that fails after others is tried with a new one");
	since = now_s();
	CHECK(look("spin", 7) == ELF_RUNTIME_NONE && runtime_finders__failed() == ++failed,
	      "one that computes forever is given up");
	CHECK(look("gomp", 7) == ELF_RUNTIME_LIBGOMP, "and replaced");
	CHECK(look("sleep", 7) == ELF_RUNTIME_NONE && runtime_finders__failed() == ++failed &&
		      now_s() - since < 20,
	      "one that never answers, too");
	CHECK(look("omp", 7) == ELF_RUNTIME_LIBOMP, "and replaced");
	runtime_finders__stop();
}

static void check_what_is_said(void)
{
	said = 0;
	start(60000);
	look("crash", 7);
	CHECK(said == 1 && strstr(said_last, "memfd:file") && strstr(said_last, "user 7") &&
		      strstr(said_last, "1 files"),
	      "what failed is said: %s", said_last);
	for (int i = 0; i < 5; i++)
		look("crash", 7);
	CHECK(said <= 4 && runtime_finders__failed() == 6,
	      "many are counted, and said now and then: %d lines", said);
	runtime_finders__stop();
	start(60000);
	unstartable = 1;
	CHECK(look("gomp", 3) == -EAGAIN && runtime_finders__failed() == 0,
	      "no worker: that is not the file's fault");
	unstartable = 0;
	CHECK(look("gomp", 3) == ELF_RUNTIME_LIBGOMP, "and it is looked into later");
	runtime_finders__stop();
}

static void check_idle(void)
{
	double since = now_s();

	start(100);
	CHECK(look("gomp", 1) == ELF_RUNTIME_LIBGOMP && look("gomp", 2) == ELF_RUNTIME_LIBGOMP, "two work");
	while (living && now_s() - since < 20)
		usleep(10000);
	CHECK(living == 0, "without work they end");
	CHECK(look("omp", 1) == ELF_RUNTIME_LIBOMP && started == 3, "and come back");
	runtime_finders__stop();
}

static void *sleep_as_owner_1(void *done)
{
	look("sleep", 1);
	atomic_store((atomic_bool *)done, true);
	return NULL;
}

static void check_others_go_on(void)
{
	const struct runtime_finders_limits limits = {.cpu_ms = 5000, .wall_ms = 5000, .idle_ms = 60000};
	atomic_bool done = false;
	pthread_t sleeper;
	int answered = 0;

	CHECK(runtime_finders__start(&limits, false) == 0, "it starts");
	started = 0;
	pthread_create(&sleeper, NULL, sleep_as_owner_1, &done);
	while (!started)
		usleep(1000);
	for (int i = 0; i < 20; i++)
		answered += look("omp", 2) == ELF_RUNTIME_LIBOMP;
	CHECK(answered == 20 && !atomic_load(&done), "who keeps a worker busy delays nobody else");
	CHECK(look("gomp", 1) == ELF_RUNTIME_LIBGOMP && started == 3,
	      "the owner's next file waits for the end of that");
	pthread_join(sleeper, NULL);
	runtime_finders__stop();
}

struct asker {
	pthread_t thread;
	const char *text;
	uid_t owner;
	atomic_int *done;
	int place; /* in the order of the answers */
};

static void *be_asker(void *argument)
{
	struct asker *asker = argument;

	look(asker->text, asker->owner);
	asker->place = atomic_fetch_add(asker->done, 1);
	return NULL;
}

static void ask_as(struct asker *asker, const char *text, uid_t owner, atomic_int *done)
{
	*asker = (struct asker){.text = text, .owner = owner, .done = done};
	pthread_create(&asker->thread, NULL, be_asker, asker);
}

static void check_ahead(void)
{
	const struct runtime_finders_limits limits = {.cpu_ms = 5000, .wall_ms = 20000, .idle_ms = 60000};

	started = 0;
	CHECK(runtime_finders__start(&limits, true) == 0, "it starts");
	while (!started)
		usleep(1000);
	CHECK(look("gomp", 0) == ELF_RUNTIME_LIBGOMP && started == 1,
	      "a worker that starts ahead is the one for files of root");
	CHECK(look("omp", 1) == ELF_RUNTIME_LIBOMP && started == 2, "and for those of nobody else");
	runtime_finders__stop();
	CHECK(living == 0, "nothing is left");
}

static void check_ranges(void)
{
	const struct runtime_finders_limits limits = {.cpu_ms = 5000, .wall_ms = 1000, .idle_ms = 60000};
	struct asker askers[OF_RANGE];
	atomic_int done = 0;
	int answered = 0;

	CHECK(runtime_finders__start(&limits, false) == 0, "it starts");
	started = 0;
	for (unsigned int i = 0; i < OF_RANGE; i++)
		ask_as(&askers[i], "sleep", 3 * RANGE + i, &done);
	while (!started)
		usleep(1000);
	/* Time for the others to come, where they could. */
	usleep(200000);
	for (uid_t owner = 10; owner < 20; owner++)
		answered += look("omp", owner) == ELF_RUNTIME_LIBOMP;
	CHECK(answered == 10 && done < OF_RANGE / 2,
	      "who keeps a worker busy with files of each id of a range delays nobody else (%d were done)",
	      done);
	for (unsigned int i = 0; i < OF_RANGE; i++)
		pthread_join(askers[i].thread, NULL);
	CHECK(done == OF_RANGE && look("omp", 3) == ELF_RUNTIME_LIBOMP, "each of those has its answer");
	started = 0;
	CHECK(look("omp", 3 * RANGE) == ELF_RUNTIME_LIBOMP && started == 1,
	      "the worker of one id does not look into files of another one");
	CHECK(look("gomp", 3 * RANGE) == ELF_RUNTIME_LIBGOMP && started == 1, "but into those of its own");
	runtime_finders__stop();
	CHECK(living == 0, "nothing is left");
}

static void check_turns(void)
{
	struct asker busy[MOST], many[OF_RANGE], one;
	atomic_int done = 0;

	start(60000);
	for (unsigned int i = 0; i < MOST; i++)
		ask_as(&busy[i], "nap", 50 + i, &done);
	while (started < MOST)
		usleep(1000);
	for (unsigned int i = 0; i < OF_RANGE; i++)
		ask_as(&many[i], "nap", 3, &done);
	usleep(50000);
	ask_as(&one, "nap", 4, &done);
	for (unsigned int i = 0; i < MOST; i++)
		pthread_join(busy[i].thread, NULL);
	for (unsigned int i = 0; i < OF_RANGE; i++)
		pthread_join(many[i].thread, NULL);
	pthread_join(one.thread, NULL);
	CHECK(one.place < MOST + OF_RANGE / 2,
	      "who comes after many of another user waits for one of these (%d)", one.place);
	started = 0;
	done = 0;
	for (unsigned int i = 0; i < MOST; i++)
		ask_as(&busy[i], "nap", 0, &done);
	CHECK(look("omp", 5) == ELF_RUNTIME_LIBOMP && done < 3, "files of root's have one worker, too");
	for (unsigned int i = 0; i < MOST; i++)
		pthread_join(busy[i].thread, NULL);
	CHECK(done == MOST && living <= MOST, "which looks into all of them");
	runtime_finders__stop();
}

static void *look_often(void *argument)
{
	unsigned int at = *(unsigned int *)argument;
	intptr_t wrong = 0;

	for (unsigned int i = 0; i < EACH; i++) {
		bool gomp = (i + at) & 1;

		wrong += look(gomp ? "gomp" : "omp", (at + i) % OWNERS) !=
			 (gomp ? ELF_RUNTIME_LIBGOMP : ELF_RUNTIME_LIBOMP);
	}
	return (void *)wrong;
}

static void check_many(void)
{
	pthread_t threads[THREADS];
	unsigned int numbers[THREADS];
	intptr_t wrong = 0;

	start(60000);
	for (unsigned int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, look_often, &numbers[i]);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		wrong += (intptr_t)result;
	}
	CHECK(!wrong && living <= MOST && runtime_finders__failed() == 0,
	      "%d threads, %d owners: each has its answers", THREADS, OWNERS);
	runtime_finders__stop();
	CHECK(living == 0, "nothing is left");
}

int main(void)
{
	runtime_finders__stop();
	check_answers();
	check_misbehaviour();
	check_what_is_said();
	check_idle();
	check_others_go_on();
	check_ahead();
	check_ranges();
	check_turns();
	check_many();
	CHECK_DONE();
}
