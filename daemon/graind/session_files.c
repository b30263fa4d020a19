// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/session_files.h"
#include "daemon/graind/job.h"
#include "daemon/graind/log.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static void add(struct session_files *files, const struct runtime_file *file)
{
	size_t index = files->count;
	struct failure failure;

	if (index == SESSION_FILES_MOST || runtime_find__index(files->list, files->count, file) < index)
		return;
	files->list[index] = *file;
	files->attached_ns[index] = UINT64_MAX;
	files->count++;
	if (attach__add(files->capture, file, &files->bodies[index], &failure) != 0) {
		log__line(LOG_WARNING, "job %llu: %s", (unsigned long long)files->job, failure.text);
		return;
	}
	files->attached_ns[index] = job__now_ns();
	if (files->bodies[index] && !files->program_bodies)
		files->program_bodies = program_bodies__new(files->capture);
	files->attached++;
	if (files->watch)
		watch__know(files->watch, file->device, file->inode);
	prospects__know(files->prospects, file->device, file->inode);
}

void session_files__add_system(struct session_files *files)
{
	struct runtime_file *found = calloc(2, sizeof(*found));
	int count = found ? attach__system(found) : 0;

	for (int i = 0; i < count; i++)
		add(files, &found[i]);
	free(found);
}

bool session_files__add_of(struct session_files *files, pid_t pid)
{
	struct runtime_file *found = calloc(ATTACH_MAX_RUNTIMES, sizeof(*found));
	struct failure ignored;
	int count = found && pid != getpid() ? attach__find(pid, found, &ignored) : 0;

	for (int i = 0; i < count; i++)
		add(files, &found[i]);
	for (int i = 0; i < count && files->program_bodies; i++) {
		size_t index = runtime_find__index(files->list, files->count, &found[i]);

		if (index < files->count && files->bodies[index])
			program_bodies__look(files->program_bodies, pid);
	}
	free(found);
	return count > 0;
}

void session_files__add_mapped(struct session_files *files)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			session_files__add_of(files, atoi(entry->d_name));
	}
	if (directory)
		closedir(directory);
}

void session_files__saw(struct session_files *files, const struct ring_event *events, size_t count)
{
	for (size_t i = 0; files->program_bodies && i < count; i++)
		if (events[i].kind == RING_BODY)
			program_bodies__seen(files->program_bodies, (pid_t)events[i].tgid, events[i].key);
}

bool session_files__attached_after(const struct session_files *files, const struct runtime_file *file,
				   uint64_t time_ns)
{
	size_t index = runtime_find__index(files->list, files->count, file);

	return index < files->count && files->attached_ns[index] > time_ns;
}

void session_files__free(struct session_files *files)
{
	program_bodies__free(files->program_bodies);
}
