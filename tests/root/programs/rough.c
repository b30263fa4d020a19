/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rough MODE [AT_ONCE]: programs that are hard on a library inside of them. Each ends by
 * itself, with a line of JSON that says whether it worked out right. With ROUGH_WAITS=FILE
 * they begin once there is that file.
 *
 *   signals   a signal every 200 us, whose handler jumps out of the half of them
 *   threads   300 threads that come and go, AT_ONCE of them at a time, each with regions of its own
 *   crowd     300 threads at once
 *   cancel    threads that are cancelled while they run regions
 *   fork      children that run regions, of a process one of whose threads does
 *   within    children that a task forks, with AT_ONCE tasks after that in the region, in either process
 *   heir      a child that runs regions until there is the file that ROUGH_ENDS names
 *   closes    closes what descriptors it finds, and has others that somebody has hung up
 *   pending   a thread that is to be cancelled runs AT_ONCE regions before that happens
 *   busy      children of a process one of whose threads attaches the library all the time
 *   exit      a task ends the program
 *   exec      a task executes the program anew, as `plain`
 *   plain     tasks
 */
#include <dlfcn.h>
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 200
#define TASKS 50
#define WAVES 30
#define CHILDREN 8
#define THREADS 300
#define AT_ONCE_MAX 10

static unsigned long done;

/* Some work in a region with tasks and a loop; how much was done of it. */
static unsigned long work(int threads)
{
	unsigned long mine = 0;

	(void)threads; /* of it, without OpenMP */
#pragma omp parallel num_threads(threads)
	{
#pragma omp single
		for (int i = 0; i < TASKS; i++) {
#pragma omp task shared(mine)
			{
#pragma omp atomic
				mine++;
			}
		}
#pragma omp for schedule(dynamic)
		for (int i = 0; i < TASKS; i++) {
#pragma omp atomic
			mine++;
		}
	}
	return mine;
}

static int says(const char *mode, int right)
{
	printf("{\"program\":\"rough\",\"mode\":\"%s\",\"correct\":%s}\n", mode, right ? "true" : "false");
	return !right;
}

/* ---- signals ---- */

static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t may_jump;
static volatile sig_atomic_t signals_seen, jumps;

static void on_signal(int number)
{
	(void)number;
	signals_seen++;
	if (may_jump && signals_seen % 2) {
		jumps++;
		may_jump = 0;
		siglongjmp(back, 1);
	}
}

/* In a task, out of a handler to somewhere in the same task. */
static void jumping_task(void)
{
	if (sigsetjmp(back, 1) == 0) {
		may_jump = 1;
		for (volatile int i = 0; i < 20000; i++)
			;
	}
	may_jump = 0;
#pragma omp atomic
	done++;
}

static int signals(void)
{
	const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	struct sigaction action;
	unsigned long right = 0;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int round = 0; round < ROUNDS; round++)
		right += work(2) == 2 * TASKS;
	for (int round = 0; round < ROUNDS / 4; round++) {
#pragma omp parallel num_threads(2)
#pragma omp single
		for (int i = 0; i < TASKS; i++) {
#pragma omp task
			jumping_task();
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return says("signals", right == ROUNDS && done == (unsigned long)ROUNDS / 4 * TASKS &&
				       signals_seen > 10 && jumps > 2);
}

/* ---- threads ---- */

static void *one_thread(void *count)
{
	*(unsigned long *)count = work(2) + work(1);
	return NULL;
}

static int threads(int at_once)
{
	unsigned long counts[AT_ONCE_MAX];
	int right = 1;

	for (int wave = 0; wave < THREADS / at_once; wave++) {
		pthread_t thread[AT_ONCE_MAX];

		for (int i = 0; i < at_once; i++)
			if (pthread_create(&thread[i], NULL, one_thread, &counts[i]))
				return says("threads", 0);
		for (int i = 0; i < at_once; i++) {
			pthread_join(thread[i], NULL);
			right &= counts[i] == 4 * TASKS;
		}
	}
	return says("threads", right);
}

static pthread_barrier_t all_there;

static void *one_of_many(void *count)
{
	*(unsigned long *)count = work(1);
	pthread_barrier_wait(&all_there);
	*(unsigned long *)count += work(1);
	return NULL;
}

static int crowd(void)
{
	static unsigned long counts[THREADS];
	static pthread_t thread[THREADS];
	int right = 1;

	/* The first asks for rings. */
	work(1);
	pthread_barrier_init(&all_there, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, one_of_many, &counts[i]))
			return says("crowd", 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		right &= counts[i] == 4 * TASKS;
	}
	return says("crowd", right);
}

static void *until_cancelled(void *unused)
{
	(void)unused;
	for (;;) {
		/* Cancelled between regions only: OpenMP knows of none within. */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		work(1);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
		pthread_testcancel();
	}
}

static int cancel(void)
{
	int right = 1;

	for (int wave = 0; wave < WAVES; wave++) {
		pthread_t thread;
		void *how = NULL;

		if (pthread_create(&thread, NULL, until_cancelled, NULL))
			return says("cancel", 0);
		usleep(2000);
		pthread_cancel(thread);
		pthread_join(thread, &how);
		right &= how == PTHREAD_CANCELED && work(2) == 2 * TASKS;
	}
	return says("cancel", right);
}

static int forks(void)
{
	pthread_t thread;
	int right = 1;

	if (pthread_create(&thread, NULL, until_cancelled, NULL))
		return says("fork", 0);
	for (int i = 0; i < CHILDREN; i++) {
		int status = -1;
		pid_t child = fork();

		if (!child)
			_exit(work(2) == 2 * TASKS ? 0 : 1);
		right &= child > 0 && waitpid(child, &status, 0) == child && status == 0;
	}
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	return says("fork", right);
}

/* In its child, too, the region goes on: when the parent is through with it. */
static pid_t fork_and_wait(void)
{
	pid_t child = fork();

	if (!child)
		usleep(20000);
	return child;
}

static pid_t fork_within(int tasks, unsigned long *ran)
{
	pid_t child = -1;

	(void)tasks, (void)ran; /* of it, without OpenMP */
#pragma omp parallel num_threads(1) shared(child)
	{
#pragma omp task shared(child)
		child = fork_and_wait();
#pragma omp taskwait
		for (int i = 0; i < tasks; i++) {
#pragma omp task
			++*ran;
		}
#pragma omp taskwait
#ifdef __clang__
		/* With libomp no child gets to the end of a region. */
		if (!child)
			_exit(*ran != (unsigned long)tasks);
#endif
	}
	return child;
}

static int forks_within(int tasks)
{
	int right = 1;

	for (int i = 0; i < CHILDREN; i++) {
		unsigned long ran = 0;
		int status = -1;
		pid_t child = fork_within(tasks, &ran);

		right &= ran == (unsigned long)tasks;
		if (!child)
			_exit(right && work(2) == 2 * TASKS ? 0 : 1);
		right &= child > 0 && waitpid(child, &status, 0) == child && status == 0;
	}
	return says("within", right);
}

/* Where a call of the runtime leads: the compiler is to look each time. */
static const void *leads_to(void)
{
	void (*function)(omp_lock_t *) = omp_set_lock;

	__asm__ volatile("" : "+r"(function));
	return (const void *)(unsigned long)function;
}

/* Once its recording has ended, or it has none, the child's calls lead where they did at first. */
static int heir(const void *at_first)
{
	const char *ends = getenv("ROUGH_ENDS");
	int status = -1;
	pid_t child = fork();

	if (!child) {
		int right = work(1) == 2 * TASKS;

		while (ends && access(ends, F_OK) != 0)
			right &= work(2) == 2 * TASKS;
		right &= work(1) == 2 * TASKS && work(1) == 2 * TASKS;
		_exit(!right || leads_to() != at_first);
	}
	return says("heir", child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static int closes(void)
{
	int right = work(1) == 2 * TASKS, ends[2];

	for (int fd = 3; fd < 64; fd++)
		close(fd);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
		return says("closes", 0);
	close(ends[1]);
	for (int fd = 3; fd < 64; fd++)
		if (fd != ends[0])
			dup2(ends[0], fd);
	/* The library looks for graind twice a second. */
	usleep(600000);
	for (int i = 0; i < CHILDREN; i++)
		right &= work(1) == 2 * TASKS;
	return says("closes", right);
}

/* ---- within the library's own doings ---- */

static int whole;

/* Nothing in a region is to end the thread, or to be seen of errno. */
static void *with_pending_cancellation(void *regions)
{
	const unsigned long count = *(const unsigned long *)regions;
	unsigned long right = 0;

	pthread_cancel(pthread_self());
	for (unsigned long i = 0; i < count; i++) {
		errno = 4321;
		right += work(1) == 2 * TASKS && errno == 4321;
	}
	whole = right == count;
	pthread_testcancel();
	return NULL;
}

static int pending(unsigned long regions)
{
	pthread_t thread;
	void *how = NULL;

	if (pthread_create(&thread, NULL, with_pending_cancellation, &regions))
		return says("pending", 0);
	pthread_join(thread, &how);
	return says("pending", whole && how == PTHREAD_CANCELED && work(2) == 2 * TASKS);
}

typedef int (*attach_fn)(const char *socket, const void *runtime);

static void *attaching(void *attach)
{
	for (;;)
		(*(attach_fn *)attach)("", NULL);
	return NULL;
}

static int busy(void)
{
	static attach_fn attach; /* the thread goes on after this */
	pthread_t thread;
	int right = 1;

	attach = (attach_fn)(unsigned long)dlsym(RTLD_DEFAULT, "grainshim_attach");
	if (!attach || pthread_create(&thread, NULL, attaching, &attach))
		return says("busy", 0);
	for (int i = 0; i < 20 * CHILDREN; i++) {
		int status = -1;
		pid_t child = fork();

		if (!child)
			_exit(attach("", NULL) == -EAGAIN);
		right &= child > 0 && waitpid(child, &status, 0) == child && status == 0;
	}
	return says("busy", right);
}

/* ---- the end ---- */

static void in_a_task(void (*what)(void))
{
#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task
		work(1);
#pragma omp task
		what();
#pragma omp taskwait
	}
}

static void leave(void)
{
	says("exit", 1);
	fflush(stdout);
	exit(0);
}

static void execute(void)
{
	execl("/proc/self/exe", "rough", "plain", (char *)NULL);
	_exit(9);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain", *begins = getenv("ROUGH_WAITS");
	const void *at_first = leads_to();

	while (begins && access(begins, F_OK) != 0)
		usleep(10000);
	if (!strcmp(mode, "signals"))
		return signals();
	if (!strcmp(mode, "threads"))
		return threads(argc > 2 ? atoi(argv[2]) : AT_ONCE_MAX);
	if (!strcmp(mode, "crowd"))
		return crowd();
	if (!strcmp(mode, "cancel"))
		return cancel();
	if (!strcmp(mode, "fork"))
		return forks();
	if (!strcmp(mode, "within"))
		return forks_within(argc > 2 ? atoi(argv[2]) : TASKS);
	if (!strcmp(mode, "heir"))
		return heir(at_first);
	if (!strcmp(mode, "closes"))
		return closes();
	if (!strcmp(mode, "pending"))
		return pending(argc > 2 ? strtoul(argv[2], NULL, 10) : 1);
	if (!strcmp(mode, "busy"))
		return busy();
	if (!strcmp(mode, "exit"))
		in_a_task(leave);
	if (!strcmp(mode, "exec"))
		in_a_task(execute);
	if (!strcmp(mode, "plain"))
		return says("plain", work(2) == 2 * TASKS);
	return 2;
}
