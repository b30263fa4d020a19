/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/client/store_choice.h"
#include "daemon/common/job_store/job_store.h"
#include "daemon/common/programs/defaults.h"
#include "daemon/grainctl/client/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *named(const char *option, const char *variable)
{
	const char *value = option ? option : getenv(variable);

	return value && *value ? value : NULL;
}

/*
 * Asks the graind at the socket where it keeps its jobs. NULL: nobody listens, the answer does not say, or
 * the server is not believed.
 */
static char *asked_for_directory(const char *socket)
{
	json_t *answer = NULL;
	const char *told;
	char why[512], *directory = NULL;

	if (!server__may_tell_where(socket) ||
	    server__call(socket, "GET", "/v1/status", NULL, &answer, why) != CTL_DONE)
		return NULL;
	told = json_string_value(json_object_get(answer, "state_dir"));
	if (told && *told == '/')
		directory = strdup(told);
	json_decref(answer);
	return directory;
}

static bool is_same_directory(const char *a, const char *b)
{
	char *path = realpath(a, NULL), *other = realpath(b, NULL);
	/* If a path cannot be resolved, it is compared as written. */
	bool same = !strcmp(path ? path : a, other ? other : b);

	free(path);
	free(other);
	return same;
}

static void open_store(struct ctl *ctl)
{
	uid_t owner;

	ctl->store_error = job_store__open(ctl->state_dir, false, &ctl->store, NULL);
	/*
	 * The store belongs to another user. If the caller named that user's graind, this is what the
	 * caller wants. Otherwise root is told whose data it reads.
	 */
	if (!ctl->store || job_store__is_trusted(ctl->store, &owner))
		return;
	if (server__is_graind(owner))
		job_store__trust(ctl->store);
	else if (geteuid() == 0)
		ctl__say(ctl, "the state directory %.200s is user %u's: what it says is only their word",
			 ctl->state_dir, (unsigned int)owner);
}

enum ctl_exit store_choice__make(struct ctl *ctl, bool jobs, char why[512])
{
	const char *socket = named(ctl->socket, ENV_SOCKET),
		   *directory = named(ctl->state_dir, ENV_STATE_DIR);
	char *told = NULL;

	ctl->socket = socket ? socket : DEFAULT_SOCKET;
	ctl->state_dir = directory ? directory : DEFAULT_STATE_DIR;
	if (directory && !socket) {
		char *beside;

		if (asprintf(&beside, "%s/graind.sock", directory) < 0) {
			snprintf(why, 512, "out of memory");
			return CTL_FAILED;
		}
		ctl->socket = beside;
	}
	/*
	 * Root may read a user's directory. But this is no reason to trust the server of a socket in it as
	 * graind.
	 */
	if (socket || !directory || geteuid() != 0)
		server__name(ctl->socket);
	if (!jobs)
		return CTL_DONE;
	if (!directory || socket)
		told = asked_for_directory(ctl->socket);
	if (told && directory && !is_same_directory(told, directory)) {
		snprintf(why, 512,
			 "the graind at %.100s keeps its jobs in %.150s, not in %.150s; name one of them",
			 ctl->socket, told, directory);
		free(told);
		return CTL_USAGE;
	}
	if (told && !directory) {
		ctl->state_dir = told;
		ctl->unnamed_store = !socket && !is_same_directory(told, DEFAULT_STATE_DIR) &&
				     !access(DEFAULT_STATE_DIR "/jobs", F_OK);
		if (ctl->unnamed_store)
			ctl__say(ctl,
				 "jobs are those of the graind at %.100s, in %.150s; "
				 "--state-dir " DEFAULT_STATE_DIR " names the others",
				 ctl->socket, told);
	}
	if (socket && !directory && !told)
		ctl->store_error = CTL_ASK_GRAIND;
	else
		open_store(ctl);
	return CTL_DONE;
}

json_t *store_choice__json(const struct ctl *ctl)
{
	return json_pack("{s:s, s:s?}", "socket", ctl->socket, "state_dir",
			 ctl->store_error == CTL_ASK_GRAIND ? NULL : ctl->state_dir);
}
