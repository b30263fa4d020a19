// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/grainctl/inject/inject_target.h"
#include "daemon/common/process/auxiliary_vector.h"
#include "daemon/grainctl/inject/inject_unsafe_code.h"
#include "daemon/grainctl/inject/inject_runtime.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The most objects: a process can load as many as it likes. */
#define OBJECTS_MAX (1u << 16)
#define LOOK_S 10

/* ---- what /proc says -------------------------------------------------- */

struct status {
	bool dead;
	pid_t group, tracer, inner;
	uid_t user;
};

static int read_status(pid_t pid, struct status *out)
{
	char path[64], line[256];
	FILE *file;

	*out = (struct status){.group = 0};
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -ESRCH;
	while (fgets(line, sizeof(line), file)) {
		const char *value = strchr(line, ':'), *last = strrchr(line, '\t');

		if (!value || !last)
			continue;
		value++;
		if (!strncmp(line, "State:", 6))
			out->dead = strpbrk(value, "ZX") && !strchr(value, 'T');
		else if (!strncmp(line, "Tgid:", 5))
			out->group = atoi(value);
		else if (!strncmp(line, "TracerPid:", 10))
			out->tracer = atoi(value);
		else if (!strncmp(line, "Uid:", 4))
			out->user = (uid_t)strtoul(value, NULL, 10);
		else if (!strncmp(line, "NSpid:", 6))
			out->inner = atoi(last);
	}
	fclose(file);
	return out->group ? 0 : -ESRCH;
}

static int denied(const struct status *status, pid_t pid, char why[512])
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (file && fscanf(file, "%d", &scope) != 1)
		scope = 0;
	if (file)
		fclose(file);
	if (status->user != geteuid())
		snprintf(why, 512, "process %d is not yours; ask its owner or root", (int)pid);
	else if (scope)
		snprintf(why, 512,
			 "this system lets nobody look into a running process (kernel.yama.ptrace_scope is "
			 "%d): "
			 "attach with sudo or without --fast, or start the program by grainctl run --fast",
			 scope);
	else
		snprintf(why, 512,
			 "process %d has rights that you do not have, or forbids to be looked into: attach "
			 "without --fast or ask root",
			 (int)pid);
	/* A process that is ending also gives -1. */
	return status->user != geteuid() || scope ? -EACCES : -1;
}

static int check_class(pid_t pid, char why[512])
{
	unsigned char ident[EI_NIDENT] = {0};
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, ident, sizeof(ident));
	close(fd);
	if (got == sizeof(ident) && ident[EI_CLASS] == ELFCLASS32) {
		snprintf(why, 512, "process %d is a 32-bit program, which --fast does not know", (int)pid);
		return -1;
	}
	return 0;
}

/* ---- objects ---------------------------------------------------------- */

/* The state while objects are inspected. */
struct survey {
	struct inject_target *target;
	struct inject_mappings mappings;
	struct inject_ranges libgomp, libomp; /* from: a function that programs call */
	bool loader, c_library, glibc;
};

/* Reads the mappings. `mappings` NULL: only finds where stacks may be. 0 or a negative errno. */
static int read_mappings(struct inject_target *target, struct inject_mappings *mappings)
{
	char path[64], *line = NULL;
	size_t capacity = 0;
	FILE *file;
	int error = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)target->pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	target->writable.count = 0;
	errno = 0;
	while (!error && getline(&line, &capacity, file) > 0) {
		struct inject_mapping mapping = {0};
		char permissions[5];
		int used = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n",
			   &mapping.from, &mapping.to, permissions, &mapping.offset, &mapping.inode,
			   &used) != 5 ||
		    !used)
			continue;
		mapping.code = permissions[2] == 'x';
		mapping.writable = permissions[1] == 'w';
		if (!strncmp(line + used, "[stack]", 7))
			target->main_stack = (struct inject_range){mapping.from, mapping.to};
		if (mapping.writable)
			error = inject_ranges__add(&target->writable, mapping.from, mapping.to);
		if (!error && mapping.inode && mappings)
			error = inject_mappings__add(mappings, &mapping);
	}
	if (!error && ferror(file))
		error = -errno;
	free(line);
	fclose(file);
	return error;
}

void inject_target__find_stacks(struct inject_target *target)
{
	read_mappings(target, NULL);
}

static uint64_t address_of(const struct inject_symbols *symbols, const char *name)
{
	const Elf64_Sym *symbol = inject_symbols__find(symbols, name);

	return symbol ? symbols->base + symbol->st_value : 0;
}

static int add_object(struct survey *survey, size_t index, uint64_t frames)
{
	const struct inject_mappings *mappings = &survey->mappings;
	struct inject_target *target = survey->target;

	for (size_t i = index;
	     frames && i < mappings->count && mappings->all[i].inode == mappings->all[index].inode; i++) {
		if (!mappings->all[i].code)
			continue;
		if (target->object_count == OBJECTS_MAX)
			return -E2BIG;
		if (target->object_count == target->object_room) {
			size_t room = target->object_room ? 2 * target->object_room : 64;
			struct inject_object *all = reallocarray(target->objects, room, sizeof(*all));

			if (!all)
				return -ENOMEM;
			target->objects = all;
			target->object_room = room;
		}
		target->objects[target->object_count++] =
			(struct inject_object){mappings->all[i].from, mappings->all[i].to, frames};
	}
	return 0;
}

static int add_loader(struct survey *survey, size_t index)
{
	const struct inject_mappings *mappings = &survey->mappings;
	int error = inject_unsafe_code__all(survey->target, mappings, index);

	for (size_t i = index;
	     !error && i < mappings->count && mappings->all[i].inode == mappings->all[index].inode; i++)
		if (mappings->all[i].writable)
			error = inject_ranges__add(&survey->target->loader, mappings->all[i].from,
						   mappings->all[i].to);
	return error;
}

static int look_at(struct survey *survey, size_t index, const struct inject_symbols *symbols, bool loader)
{
	struct inject_target *target = survey->target;
	uint64_t attach = address_of(symbols, "grainshim_attach"), parallel, fork, open;
	bool c_library = address_of(symbols, "__libc_start_main") != 0;
	int error = add_object(survey, index, symbols->frames);

	if (error)
		return error;
	if (attach) {
		target->attach = attach;
		target->begin = address_of(symbols, "grainshim_begin");
		return 0;
	}
	parallel = address_of(symbols, "GOMP_parallel");
	fork = address_of(symbols, "__kmpc_fork_call");
	if (fork)
		error = inject_ranges__add(&survey->libomp, fork, fork + 1);
	else if (parallel)
		error = inject_ranges__add(&survey->libgomp, parallel, parallel + 1);
	/* Before glibc 2.34, some functions of the C library are in separate libraries. */
	open = address_of(symbols, "dlopen");
	if (open && !loader && !target->open) {
		target->open = open;
		target->error = address_of(symbols, "dlerror");
	}
	survey->c_library |= c_library;
	if (c_library && address_of(symbols, "gnu_get_libc_version"))
		survey->glibc = true;
	if (!error && loader)
		error = add_loader(survey, index);
	else if (!error && (c_library || open || address_of(symbols, "pthread_create")))
		error = inject_unsafe_code__c_library(target, &survey->mappings, index, symbols);
	else if (!error && address_of(symbols, "malloc") && address_of(symbols, "free"))
		error = inject_unsafe_code__all(target, &survey->mappings, index);
	return error;
}

static int look_at_objects(struct survey *survey)
{
	struct inject_target *target = survey->target;
	uint64_t loader = auxiliary_vector__read(target->pid, AT_BASE);
	struct timespec begin, now;
	int error = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);

	survey->loader = loader;
	for (size_t i = 0; i < survey->mappings.count && !error; i++) {
		const struct inject_mapping *mapping = &survey->mappings.all[i];
		struct inject_symbols symbols = {0};

		if (mapping->offset || inject_symbols__read(target->pid, mapping->from, &symbols) != 0)
			continue;
		error = look_at(survey, i, &symbols, loader && mapping->from == loader);
		inject_symbols__release(&symbols);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (!error && now.tv_sec - begin.tv_sec > LOOK_S)
			error = -ETIMEDOUT;
	}
	return error;
}

/* -1, or -EAGAIN if it may be otherwise in a moment. */
static int judge_runtime(const struct survey *survey, char why[512])
{
	struct inject_target *target = survey->target;
	int pid = (int)target->pid;

	if (survey->libgomp.count && survey->libomp.count) {
		snprintf(why, 512, "process %d has both libgomp and libomp loaded: attach without --fast",
			 pid);
	} else if (survey->libgomp.count > 1 || survey->libomp.count > 1) {
		snprintf(why, 512, "process %d has %zu copies of %s loaded: attach without --fast", pid,
			 survey->libgomp.count + survey->libomp.count,
			 survey->libomp.count ? "libomp" : "libgomp");
	} else if (!survey->libgomp.count && !survey->libomp.count) {
		enum inject_runtime found = inject_runtime__find(target->pid);

		if (found == INJECT_RUNTIME_LOADING) {
			snprintf(why, 512, "process %d is just loading its OpenMP runtime", pid);
			return -EAGAIN;
		}
		if (found == INJECT_RUNTIME_LINKED)
			snprintf(why, 512,
				 "the OpenMP runtime of process %d is linked into it: attach without --fast",
				 pid);
		else
			snprintf(why, 512,
				 "process %d has not loaded an OpenMP runtime (libgomp, libomp): attach "
				 "without --fast, which waits for one",
				 pid);
	} else {
		target->runtime =
			survey->libomp.count ? survey->libomp.all[0].from : survey->libgomp.all[0].from;
		return 0;
	}
	return -1;
}

static int judge(const struct survey *survey, char why[512])
{
	struct inject_target *target = survey->target;
	int pid = (int)target->pid;

	if (!survey->c_library && survey->loader) {
		snprintf(why, 512, "process %d has not loaded a C library yet", pid);
		return -EAGAIN;
	}
	if (!survey->c_library)
		snprintf(why, 512,
			 "process %d is linked statically, nothing can be loaded into it: attach without "
			 "--fast",
			 pid);
	else if (!survey->glibc)
		snprintf(why, 512, "the C library of process %d is not glibc: attach without --fast", pid);
	else if (!target->open)
		snprintf(why, 512,
			 "process %d has no dlopen, nothing can be loaded into it: attach without --fast",
			 pid);
	else
		return judge_runtime(survey, why);
	return -1;
}

/* Checks that `pid` is the number of a process, not of a thread, and that the process has not ended. */
static int check_number(pid_t pid, struct status *status, char why[512])
{
	if (read_status(pid, status) != 0)
		snprintf(why, 512, "there is no process %d", (int)pid);
	else if (status->group != pid)
		snprintf(why, 512, "%d is a thread; give the number of its process, %d", (int)pid,
			 (int)status->group);
	else if (status->dead)
		snprintf(why, 512, "process %d has ended", (int)pid);
	else
		return 0;
	return -1;
}

static int look(pid_t pid, struct survey *survey, char why[512])
{
	struct inject_target *target = survey->target;
	const char *unfit;
	struct status status;
	unsigned char byte;
	int error;

	if (check_number(pid, &status, why) != 0)
		return -1;
	target->pid = pid;
	target->inner_pid = status.inner ? status.inner : pid;
	/* The identity must be read before everything else. */
	target->identity = inject_identity__read(pid);
	error = read_mappings(target, &survey->mappings);
	if (error == -EACCES || error == -EPERM)
		return denied(&status, pid, why);
	if (!error && !survey->mappings.count)
		error = -ESRCH;
	if (error) {
		snprintf(why, 512, "cannot look at process %d: %s", (int)pid,
			 error == -ESRCH ? "it has ended or is a part of the kernel" : strerror(-error));
		return -1;
	}
	if (!process_memory__read(pid, survey->mappings.all[0].from, &byte, 1) && errno == EPERM)
		return denied(&status, pid, why);
	if (status.tracer) {
		snprintf(why, 512,
			 "process %d is traced by process %d (a debugger or strace): end that first, or "
			 "attach "
			 "without --fast",
			 (int)pid, (int)status.tracer);
		return -1;
	}
	if (check_class(pid, why) != 0)
		return -1;
	if (!target->identity) {
		snprintf(why, 512, "cannot look at process %d: it has ended or is a part of the kernel",
			 (int)pid);
		return -1;
	}
	unfit = inject_identity__unfit(pid);
	if (unfit) {
		snprintf(why, 512, "process %d %s: attach without --fast", (int)pid, unfit);
		return -1;
	}
	target->scratch = auxiliary_vector__read(pid, AT_ENTRY);
	error = look_at_objects(survey);
	if (error) {
		snprintf(why, 512, "cannot look into process %d: %s; attach without --fast", (int)pid,
			 error == -E2BIG || error == -ETIMEDOUT ? "it has too much loaded"
								: strerror(-error));
		return -1;
	}
	return judge(survey, why);
}

int inject_target__look(pid_t pid, struct inject_target *out, char why[512])
{
	struct survey survey = {.target = out};
	int error;

	*out = (struct inject_target){0};
	error = look(pid, &survey, why);
	free(survey.mappings.all);
	free(survey.libgomp.all);
	free(survey.libomp.all);
	return error;
}

void inject_target__release(struct inject_target *target)
{
	free(target->libc.all);
	free(target->known.all);
	free(target->unsafe.all);
	free(target->writable.all);
	free(target->loader.all);
	free(target->objects);
	inject_identity__free(target->identity);
	*target = (struct inject_target){0};
}
