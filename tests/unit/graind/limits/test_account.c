// SPDX-License-Identifier: BSD-2-Clause
/* Ids of ranges that users own, by a /etc/subuid of our own (in a mount namespace; skipped without the right
 * to make one). */
#include "daemon/graind/limits/account.h"
#include "tests/unit/check.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

static bool put_ranges(const char *text)
{
	char path[] = "/tmp/graind-subuid.XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	bool done = file && fputs(text, file) >= 0;

	if (file)
		fclose(file);
	done = done && unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount(path, "/etc/subuid", NULL, MS_BIND, NULL) == 0;
	unlink(path);
	return done;
}

int main(void)
{
	CHECK(account__of(0) == 0, "root is root");
	if (access("/etc/subuid", R_OK) != 0 ||
	    !put_ranges(
		    "7001:100000:65536\n7002:165536:65536\nroot:300000:10\n7002:300100:2\n7001:300101:5\n")) {
		printf("skip - ranges of ids: needs the right to mount over /etc/subuid\n");
		CHECK_DONE();
	}
	CHECK(account__of(7001) == 7001 && account__of(7003) == 7003, "a user is its own account");
	CHECK(account__of(100000) == 7001 && account__of(165535) == 7001,
	      "the ids of a range are their owner's");
	CHECK(account__of(165536) == 7002 && account__of(231071) == 7002,
	      "and of the next range the next one's");
	CHECK(account__of(231072) == 231072 && account__of(99999) == 99999, "beyond them each is its own");
	CHECK(account__of(300001) == 300001, "an id of a range of root's is not root");
	CHECK(account__of(300101) == 7001, "what two own is counted for one of them");
	CHECK(account__of(100000) == 7001, "asked again the same is said");
	CHECK_DONE();
}
