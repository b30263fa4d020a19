// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/process/cgroup_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_PARTS 32
#define HEX_DIGITS 64

/* One part of a path. */
struct part {
	const char *text;
	size_t length;
};

/*
 * The most specific kind comes first. Batch systems are recognised only at the place where they create
 * their groups, because users can name the groups below their own.
 */
static const char *const kinds[] = {"slurm", "pbs", "pod", "container", "unit", ""};

static bool is(const struct part *part, const char *text)
{
	return part->length == strlen(text) && !memcmp(part->text, text, part->length);
}

static bool begins(const struct part *part, const char *text)
{
	return part->length >= strlen(text) && !memcmp(part->text, text, strlen(text));
}

static bool ends(const struct part *part, const char *text)
{
	size_t length = strlen(text);

	return part->length >= length && !memcmp(part->text + part->length - length, text, length);
}

/* Copies the part without its first `skip` and its last `less` characters. */
static void copy(char *out, size_t size, const struct part *part, size_t skip, size_t less)
{
	size_t length = part->length > skip + less ? part->length - skip - less : 0;

	if (length > size - 1)
		length = size - 1;
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)part->text[skip + i];

		out[i] = c > ' ' && c < 0x7f && c != '"' && c != '\\' ? (char)c : '?';
	}
	out[length] = 0;
}

static bool is_container(const struct part *part, size_t skip, size_t less)
{
	if (part->length != HEX_DIGITS + skip + less)
		return false;
	for (size_t i = 0; i < HEX_DIGITS; i++)
		if (!isxdigit((unsigned char)part->text[skip + i]))
			return false;
	return true;
}

static bool read_slurm(const struct part *parts, size_t count, struct cgroup_name *out)
{
	bool old = count > 2 && (is(&parts[0], "slurm") || begins(&parts[0], "slurm_")) &&
		   begins(&parts[1], "uid_");

	if (!old && !(count > 2 && is(&parts[0], "system.slice") && ends(&parts[1], "slurmstepd.scope")))
		return false;
	if (!begins(&parts[2], "job_") || parts[2].length == 4)
		return false;
	copy(out->id, sizeof(out->id), &parts[2], 4, 0);
	if (count > 3 && begins(&parts[3], "step_"))
		copy(out->step, sizeof(out->step), &parts[3], 5, 0);
	return true;
}

static bool read_pbs(const struct part *parts, size_t count, struct cgroup_name *out)
{
	if (count > 2 &&
	    (is(&parts[0], "pbs_jobs.service") || is(&parts[0], "pbspro.service") ||
	     is(&parts[0], "pbs.service")) &&
	    is(&parts[1], "jobid")) {
		copy(out->id, sizeof(out->id), &parts[2], 0, 0);
	} else if (count > 1 && is(&parts[0], "pbspro.slice") && begins(&parts[1], "pbspro-") &&
		   ends(&parts[1], ".slice")) {
		copy(out->id, sizeof(out->id), &parts[1], strlen("pbspro-"), strlen(".slice"));
	} else {
		return false;
	}
	return out->id[0] != 0;
}

/* Finds the digits of a container's id, in the forms of all container runtimes. */
static bool read_container(const struct part *parts, size_t count, struct part *out)
{
	static const char *const makers[] = {"docker-", "cri-containerd-", "crio-", "libpod-"};
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		if (i && is_container(&parts[i], 0, 0)) {
			*out = (struct part){parts[i].text, HEX_DIGITS};
			found = true;
		}
		for (size_t k = 0; k < sizeof(makers) / sizeof(makers[0]); k++) {
			size_t skip = strlen(makers[k]);

			if (!begins(&parts[i], makers[k]) ||
			    (!is_container(&parts[i], skip, strlen(".scope")) &&
			     !is_container(&parts[i], skip, 0)))
				continue;
			*out = (struct part){parts[i].text + skip, HEX_DIGITS};
			found = true;
		}
	}
	return found;
}

/*
 * Finds a pod. systemd uses "kubepods-burstable-podUID.slice", where UID has _ instead of -. Without
 * systemd the name is "podUID".
 */
static bool read_pod(const struct part *parts, size_t count, struct cgroup_name *out)
{
	bool below = false;

	for (size_t i = 0; i < count; i++) {
		const char *pod = memmem(parts[i].text, parts[i].length, "-pod", 4);
		size_t skip = pod ? (size_t)(pod - parts[i].text) + 4 : 3;

		below |= is(&parts[i], "kubepods") || is(&parts[i], "kubepods.slice");
		if (below && begins(&parts[i], "kubepods-") && pod && ends(&parts[i], ".slice"))
			copy(out->id, sizeof(out->id), &parts[i], skip, strlen(".slice"));
		else if (below && begins(&parts[i], "pod") && parts[i].length > 3)
			copy(out->id, sizeof(out->id), &parts[i], 3, 0);
	}
	for (char *c = out->id; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return out->id[0] != 0;
}

static bool read_unit(const struct part *parts, size_t count, struct cgroup_name *out)
{
	for (size_t i = count; i > 0; i--) {
		if (!ends(&parts[i - 1], ".service") && !ends(&parts[i - 1], ".scope"))
			continue;
		copy(out->id, sizeof(out->id), &parts[i - 1], 0, 0);
		return true;
	}
	return false;
}

/* Returns the index in `kinds` of the kind of this path. */
static size_t read_path(const struct part *parts, size_t count, struct cgroup_name *out)
{
	struct part container;
	bool contained = read_container(parts, count, &container);

	*out = (struct cgroup_name){.kind = ""};
	if (read_slurm(parts, count, out))
		return 0;
	if (read_pbs(parts, count, out))
		return 1;
	if (read_pod(parts, count, out)) {
		if (contained)
			copy(out->step, sizeof(out->step), &container, 0, HEX_DIGITS - 12);
		return 2;
	}
	if (contained) {
		copy(out->id, sizeof(out->id), &container, 0, HEX_DIGITS - 12);
		return 3;
	}
	return read_unit(parts, count, out) ? 4 : 5;
}

static size_t split(const char *path, size_t length, struct part parts[MAX_PARTS])
{
	size_t count = 0, at = 0;

	while (at < length && count < MAX_PARTS) {
		const char *slash = memchr(path + at, '/', length - at);
		size_t end = slash ? (size_t)(slash - path) : length;

		if (end > at)
			parts[count++] = (struct part){path + at, end - at};
		at = end + 1;
	}
	return count;
}

void cgroup_name__read(const char *lines, struct cgroup_name *out)
{
	size_t best = sizeof(kinds) / sizeof(kinds[0]) - 1;

	*out = (struct cgroup_name){.kind = ""};
	while (*lines) {
		size_t length = strcspn(lines, "\n");
		const char *colon = memchr(lines, ':', length);
		struct part parts[MAX_PARTS];
		struct cgroup_name name;
		size_t kind;

		colon = colon ? memchr(colon + 1, ':', length - (size_t)(colon + 1 - lines)) : NULL;
		if (colon) {
			size_t skip = (size_t)(colon + 1 - lines);

			kind = read_path(parts, split(lines + skip, length - skip, parts), &name);
			name.kind = kinds[kind];
			if (kind < best) {
				best = kind;
				*out = name;
			}
		}
		lines += length + (lines[length] != 0);
	}
}

void cgroup_name__text(const struct cgroup_name *name, char out[160])
{
	if (!name->kind[0])
		out[0] = 0;
	else
		snprintf(out, 160, "%s:%s%s%s", name->kind, name->id, name->step[0] ? "." : "", name->step);
}
