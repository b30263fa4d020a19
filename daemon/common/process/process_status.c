/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/common/process/process_status.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The longest line lists 65,536 groups. */
#define STATUS_MAX (1u << 20)

char *process_status__read(pid_t pid, pid_t tid)
{
	size_t size = 0, room = 4096;
	char path[64], *text = malloc(room);
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (text && fd >= 0 && (got = read(fd, text + size, room - size - 1)) > 0) {
		char *more;

		size += (size_t)got;
		if (room - size > 1)
			continue;
		room *= 2;
		more = room <= STATUS_MAX ? realloc(text, room) : NULL;
		if (!more)
			break;
		text = more;
	}
	if (fd >= 0)
		close(fd);
	if (got || !text || !size) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	return text;
}

bool process_status__field(const char *status, const char *name, const char **value, size_t *length)
{
	size_t size = strlen(name);

	for (const char *line = status; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, size) != 0 || line[size] != ':')
			continue;
		line += size + 1;
		line += strspn(line, " \t");
		*value = line;
		*length = strcspn(line, "\n");
		return true;
	}
	return false;
}

bool process_status__same(const char *a, const char *b, const char *name)
{
	const char *of_a = "", *of_b = "";
	size_t length_a = 0, length_b = 0;
	bool in_a = process_status__field(a, name, &of_a, &length_a);
	bool in_b = process_status__field(b, name, &of_b, &length_b);

	return in_a == in_b && length_a == length_b && !memcmp(of_a, of_b, length_a);
}

static bool has_word(const char *value, size_t length, const char *word)
{
	size_t size = strlen(word);

	while (length) {
		size_t next = strcspn(value, " \t\n");

		next = next < length ? next : length;
		if (next == size && !memcmp(value, word, size))
			return true;
		next += next < length;
		value += next;
		length -= next;
	}
	return false;
}

bool process_status__has_shadow_stack(const char *status)
{
	const char *value;
	size_t length;

	return process_status__field(status, "x86_Thread_features", &value, &length) &&
	       has_word(value, length, "shstk");
}

unsigned int process_status__filters(const char *status)
{
	const char *value;
	size_t length;

	if (!process_status__field(status, "Seccomp", &value, &length) || !length || *value == '0')
		return 0;
	if (*value == '1')
		return UINT_MAX;
	if (!process_status__field(status, "Seccomp_filters", &value, &length))
		return 1;
	return (unsigned int)strtoul(value, NULL, 10);
}
