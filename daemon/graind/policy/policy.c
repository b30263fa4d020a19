// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/policy/policy.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_GROUPS 4096

static struct {
	pthread_rwlock_t lock;
	struct policy_file *file; /* NULL: nothing is forbidden or limited */
	char *path;
	bool there;		    /* the file has been read at least once */
	bool all_known, restricted; /* all_cpus is known; graind runs on some of these only */
	cpu_set_t all_cpus;
	time_t read_s;
	atomic_uint generation;
	char error[POLICY_WHY]; /* error of the last attempt to read the file; "": none */
} policy = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* Sets the CPUs of all threads; later threads inherit them. */
static int use_cpus(const cpu_set_t *cpus)
{
	DIR *tasks = opendir("/proc/self/task");
	int error = sched_setaffinity(0, sizeof(*cpus), cpus) != 0 ? -errno : 0;
	struct dirent *entry;

	while (!error && tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			sched_setaffinity(atoi(entry->d_name), sizeof(*cpus), cpus);
	if (tasks)
		closedir(tasks);
	return error;
}

/* Applies the CPUs of the file, or all CPUs with which graind was started. */
static int apply_cpus(const struct policy_file *file, char why[POLICY_WHY])
{
	const struct policy_limits *limits = policy_file__limits(file);

	if (!policy.all_known && sched_getaffinity(0, sizeof(policy.all_cpus), &policy.all_cpus) == 0)
		policy.all_known = true;
	if (limits->some_cpus && use_cpus(&limits->cpus) != 0) {
		snprintf(why, POLICY_WHY, "%.250s: cpus: graind can use none of them on this machine",
			 policy.path);
		return -EINVAL;
	}
	if (!limits->some_cpus && policy.restricted)
		use_cpus(&policy.all_cpus);
	policy.restricted = limits->some_cpus;
	return 0;
}

static int read_again(bool required, char why[POLICY_WHY])
{
	struct policy_file *fresh = NULL, *old = NULL;
	int error = policy_file__read(policy.path, &fresh, why);

	if (error == -ENOENT && !required) {
		fresh = policy_file__empty();
		error = fresh ? 0 : -ENOMEM;
	} else if (!error) {
		error = apply_cpus(fresh, why);
		if (error)
			policy_file__free(fresh);
		else
			policy.there = true;
	}
	pthread_rwlock_wrlock(&policy.lock);
	if (!error) {
		old = policy.file;
		policy.file = fresh;
		policy.read_s = time(NULL);
		policy.generation++;
		policy.error[0] = 0;
	} else {
		memcpy(policy.error, why, sizeof(policy.error));
	}
	pthread_rwlock_unlock(&policy.lock);
	policy_file__free(old);
	return error;
}

int policy__open(const char *path, bool required, char why[POLICY_WHY])
{
	policy.path = path[0] == '/' ? strdup(path) : NULL;
	if (!policy.path) {
		char *directory = getcwd(NULL, 0);

		/* graind changes its working directory when it goes into the background. */
		if (!directory || asprintf(&policy.path, "%s/%s", directory, path) < 0)
			policy.path = NULL;
		free(directory);
	}
	if (!policy.path) {
		snprintf(why, POLICY_WHY, "graind is out of memory");
		return -ENOMEM;
	}
	return read_again(required, why);
}

int policy__reload(char why[POLICY_WHY])
{
	return read_again(policy.there, why);
}

void policy__close(void)
{
	pthread_rwlock_wrlock(&policy.lock);
	policy_file__free(policy.file);
	free(policy.path);
	policy.file = NULL;
	policy.path = NULL;
	pthread_rwlock_unlock(&policy.lock);
}

void policy__limits(struct policy_limits *out)
{
	*out = (struct policy_limits){.allow_fast = false};
	pthread_rwlock_rdlock(&policy.lock);
	if (policy.file)
		*out = *policy_file__limits(policy.file);
	pthread_rwlock_unlock(&policy.lock);
}

static bool expand(const char *path, const char *user, char out[POLICY_PATH])
{
	size_t used = 0, name = strlen(user);

	/* The name becomes a part of a path. */
	if (!name || strchr(user, '/') || !strcmp(user, ".") || !strcmp(user, ".."))
		return false;
	for (; *path; path++) {
		bool is_user = path[0] == '%' && path[1] == 'u';
		size_t length = is_user ? name : 1;

		if (used + length >= POLICY_PATH)
			return false;
		memcpy(out + used, is_user ? user : path, length);
		used += length;
		path += is_user;
	}
	out[used] = 0;
	return true;
}

bool policy__report_directory(const char *user, char out[POLICY_PATH])
{
	const char *path;
	bool there;

	pthread_rwlock_rdlock(&policy.lock);
	path = policy.file ? policy_file__report_directory(policy.file) : NULL;
	there = path && expand(path, user, out);
	pthread_rwlock_unlock(&policy.lock);
	return there;
}

unsigned int policy__generation(void)
{
	return policy.generation;
}

void policy__narrow(cpu_set_t *cpus)
{
	struct policy_limits limits;
	cpu_set_t both;

	policy__limits(&limits);
	CPU_AND(&both, cpus, &limits.cpus);
	if (limits.some_cpus && CPU_COUNT(&both))
		*cpus = both;
}

bool policy__out_of_memory(void)
{
	unsigned long long whole, resident;
	struct policy_limits limits;
	FILE *file;
	bool out = false;

	policy__limits(&limits);
	file = limits.memory_bytes ? fopen("/proc/self/statm", "re") : NULL;
	if (!file)
		return false;
	if (fscanf(file, "%llu %llu", &whole, &resident) == 2)
		out = resident * (unsigned long long)sysconf(_SC_PAGESIZE) > limits.memory_bytes;
	fclose(file);
	return out;
}

bool policy__wants_always(void)
{
	bool wants;

	pthread_rwlock_rdlock(&policy.lock);
	wants = policy.file && policy_file__has(policy.file, POLICY_ALWAYS);
	pthread_rwlock_unlock(&policy.lock);
	return wants;
}

enum policy_profile policy__decide(const struct process *process)
{
	struct policy_subject subject = {.uid = process->uid, .exe = process->exe};
	enum policy_profile profile = POLICY_ON_REQUEST;
	char *cgroups = process__cgroups(process->pid);
	gid_t *groups = calloc(MAX_GROUPS, sizeof(*groups));

	subject.cgroups = cgroups ? cgroups : "";
	subject.groups = groups;
	if (groups)
		subject.group_count = process__groups(process->pid, groups, MAX_GROUPS);
	pthread_rwlock_rdlock(&policy.lock);
	if (policy.file)
		profile = policy_file__decide(policy.file, &subject);
	pthread_rwlock_unlock(&policy.lock);
	free(groups);
	free(cgroups);
	return profile;
}

json_t *policy__json(void)
{
	json_t *object = json_object();

	if (!object)
		return NULL;
	pthread_rwlock_rdlock(&policy.lock);
	json_object_set_new(object, "file", json_string(policy.path ? policy.path : ""));
	json_object_set_new(object, "there", json_boolean(policy.there));
	json_object_set_new(object, "read_s", json_integer((json_int_t)policy.read_s));
	json_object_set_new(object, "error", json_string(policy.error));
	if (policy.file)
		policy_file__describe(policy.file, object);
	pthread_rwlock_unlock(&policy.lock);
	return object;
}
