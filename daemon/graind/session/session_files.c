// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/session/session_files.h"
#include "daemon/graind/limits/account.h"
#include "daemon/graind/base/clock.h"
#include "daemon/graind/jobs/job.h"
#include "daemon/graind/base/log.h"
#include "daemon/graind/limits/fair_share.h"
#include "daemon/graind/base/urgency.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * The largest number of orders that wait for the attacher. Programs give a runtime few new bodies at a
 * time.
 */
#define MOST_ASKED 4096

/*
 * An order for the attacher: to examine the files of one process, the files of all processes (pid 0), or
 * one body.
 */
struct errand {
	struct pool_work work;
	struct session_files *files;
	pid_t pid;
	uint64_t time_ns;
	uint64_t body; /* address of the body; 0: files */
	bool found;    /* answer: the process has mapped a runtime */
};

/* ---- what the attacher does ------------------------------------------- */

static void note(struct session_files *files, const char *text)
{
	pthread_mutex_lock(&files->lock);
	if (files->job)
		job__note(files->job, text);
	pthread_mutex_unlock(&files->lock);
}

/* Except for system files, a user may have at most as many files as are left for others. */
static bool has_room(const struct session_files *files, uid_t account)
{
	size_t of_user = 0;

	for (size_t i = 0; i < files->count; i++)
		of_user += files->account[i] == account;
	return fair_share__allow(account, of_user, fair_share__left(SESSION_FILES_MOST, files->count, 0));
}

/* `account` is that of the first process that maps the file. */
static void add(struct session_files *files, const struct runtime_file *file, uid_t account)
{
	size_t index = files->count;
	struct failure failure;
	bool bodies = false, lost;

	if (runtime_find__index(files->list, files->count, file) < index)
		return;
	if (!has_room(files, account)) {
		if (!files->crowded)
			log__line(LOG_WARNING,
				  "job %llu: %.300s is not observed: its user's processes have too many "
				  "different OpenMP runtimes mapped",
				  (unsigned long long)files->number, file->path);
		files->crowded = true;
		return;
	}
	pthread_mutex_lock(&files->lock);
	files->list[index] = *file;
	files->account[index] = account;
	files->attached_ns[index] = UINT64_MAX;
	files->count++;
	pthread_mutex_unlock(&files->lock);
	if (attach__add(files->capture, file, true, &lost, &bodies, &failure) != 0) {
		files->lost += lost;
		if (lost)
			note(files, failure.text);
		else
			log__line(LOG_WARNING, "job %llu: %s", (unsigned long long)files->number,
				  failure.text);
		return;
	}
	pthread_mutex_lock(&files->lock);
	files->attached_ns[index] = clock__now_ns();
	pthread_mutex_unlock(&files->lock);
	files->bodies[index] = bodies;
	if (bodies && !files->program_bodies)
		files->program_bodies = program_bodies__new(files->capture, PLAN_BODIES, true);
	atomic_store(&files->needs_bodies, files->program_bodies != NULL);
	files->attached++;
	if (files->watch)
		watch__know(files->watch, file->device, file->inode);
}

static void add_system(struct session_files *files)
{
	struct runtime_file *found = calloc(2, sizeof(*found));
	int count = found ? attach__system(found) : 0;

	for (int i = 0; i < count; i++)
		add(files, &found[i], 0);
	free(found);
}

static bool add_of(struct session_files *files, pid_t pid)
{
	struct runtime_file *found = calloc(ATTACH_MAX_RUNTIMES, sizeof(*found));
	struct failure ignored;
	int count = found && pid != getpid() ? attach__find(pid, found, &ignored) : 0;
	uid_t account = count > 0 ? account__of_process(pid) : 0;

	for (int i = 0; i < count; i++)
		add(files, &found[i], account);
	for (int i = 0; i < count && files->program_bodies; i++) {
		size_t index = runtime_find__index(files->list, files->count, &found[i]);

		if (index < files->count && files->bodies[index])
			program_bodies__look(files->program_bodies, pid);
	}
	if (count > 0 && !files->loops)
		files->loops = program_bodies__new(files->capture, PLAN_LOOPS, true);
	if (count > 0 && files->loops)
		program_bodies__look(files->loops, pid);
	free(found);
	return count > 0;
}

static void add_mapped(struct session_files *files)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			add_of(files, atoi(entry->d_name));
	}
	if (directory)
		closedir(directory);
}

static uid_t account_of(struct pool_work *work)
{
	const struct errand *errand = (const struct errand *)work;

	return errand->pid ? account__of_process(errand->pid) : 0;
}

static void run(struct pool_work *work)
{
	struct errand *errand = (struct errand *)work;
	struct session_files *files = errand->files;

	if (errand->body)
		program_bodies__seen(files->program_bodies, errand->pid, errand->body);
	else if (errand->pid)
		errand->found = add_of(files, errand->pid);
	else
		add_mapped(files);
}

/* ---- what the session asks for ---------------------------------------- */

static bool ask(struct session_files *files, const struct errand *wanted)
{
	bool room = files->asked < MOST_ASKED || !wanted->pid;
	struct errand *errand = room ? malloc(sizeof(*errand)) : NULL;

	if (!errand)
		return false;
	*errand = *wanted;
	errand->work.run = run;
	errand->files = files;
	files->asked++;
	thread_pool__ask(files->attacher, &errand->work);
	return true;
}

void session_files__look(struct session_files *files, pid_t pid, uint64_t time_ns)
{
	if (!ask(files, &(struct errand){.pid = pid, .time_ns = time_ns}))
		session_files__look_everywhere(files);
}

void session_files__look_everywhere(struct session_files *files)
{
	/* An examination in progress may already have passed this process, so a second one is queued. */
	if (files->asked_mapped < 2)
		files->asked_mapped += ask(files, &(struct errand){.pid = 0});
}

void session_files__saw(struct session_files *files, const struct ring_event *events, size_t count)
{
	if (!atomic_load_explicit(&files->needs_bodies, memory_order_relaxed))
		return;
	for (size_t i = 0; i < count; i++)
		if (events[i].kind == RING_BODY && events[i].key)
			ask(files, &(struct errand){.pid = (pid_t)events[i].tgid, .body = events[i].key});
}

int session_files__fd(const struct session_files *files)
{
	return thread_pool__fd(files->attacher);
}

bool session_files__done(struct session_files *files, pid_t *pid, uint64_t *time_ns)
{
	struct errand *errand;
	bool found = false;

	while (!found && (errand = (struct errand *)thread_pool__take(files->attacher))) {
		files->asked--;
		files->asked_mapped -= !errand->pid;
		found = errand->found;
		*pid = errand->pid;
		*time_ns = errand->time_ns;
		free(errand);
	}
	return found;
}

bool session_files__is_attaching(const struct session_files *files)
{
	return files->asked > 0;
}

bool session_files__attached_after(struct session_files *files, const struct runtime_file *file,
				   uint64_t time_ns)
{
	bool after;
	size_t index;

	pthread_mutex_lock(&files->lock);
	index = runtime_find__index(files->list, files->count, file);
	after = index < files->count && files->attached_ns[index] > time_ns;
	pthread_mutex_unlock(&files->lock);
	return after;
}

int session_files__open(struct session_files *files, struct capture *capture, struct watch *watch,
			struct job *job)
{
	*files =
		(struct session_files){.capture = capture, .watch = watch, .job = job, .number = job->number};
	urgency__make_lock(&files->lock);
	add_system(files);
	add_mapped(files);
	return thread_pool__new(1, 0, account_of, &files->attacher);
}

void session_files__conclude(struct session_files *files)
{
	pthread_mutex_lock(&files->lock);
	files->job = NULL;
	pthread_mutex_unlock(&files->lock);
}

static void drop(struct pool_work *work)
{
	free(work);
}

void session_files__close(struct session_files *files)
{
	if (!files->capture)
		return;
	thread_pool__free(files->attacher, drop);
	program_bodies__free(files->program_bodies);
	program_bodies__free(files->loops);
	pthread_mutex_destroy(&files->lock);
	*files = (struct session_files){0};
}
