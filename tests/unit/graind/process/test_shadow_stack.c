/* SPDX-License-Identifier: BSD-2-Clause */
/* When a process with a shadow stack may be probed, and which files say that they keep one. */
#include "daemon/graind/process/shadow_stack.h"
#include "tests/unit/check.h"
#include "uprobes/elf/elf_image.h"
#include "uprobes/elf/elf_notes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void processors(void)
{
	CHECK(shadow_stack__is_for_users("processor\t: 0\nflags\t\t: fpu user_shstk ibt\nbugs\t: x\n"),
	      "a processor with shadow stacks for users");
	CHECK(shadow_stack__is_for_users("flags\t\t: fpu user_shstk"), "as the last word of all");
	CHECK(!shadow_stack__is_for_users("flags\t\t: fpu shstk xuser_shstk user_shstk2\n"),
	      "words that are like it are not it");
	CHECK(!shadow_stack__is_for_users("flags\t\t: fpu\nmodel name\t: user_shstk\n"), "nor other lines");
	CHECK(!shadow_stack__is_for_users("Features\t: fp asimd\n") && !shadow_stack__is_for_users(""),
	      "nor is it there without flags");
}

static void decisions(void)
{
	for (int i = 0; i < 16; i++) {
		const struct shadow_stack_machine machine = {.user = i & 1, .calls = i & 2, .returns = i & 4};
		bool has = i & 8, sound = machine.calls && machine.returns;
		const char *why = shadow_stack__why_not(&machine, has);

		CHECK((why != NULL) == (has && !sound), "%s a shadow stack, calls %s, returns %s: %s",
		      has ? "with" : "without", machine.calls ? "sound" : "not sound",
		      machine.returns ? "sound" : "not sound", has && !sound ? "refused" : "probed");
		if (why)
			CHECK(strstr(why, "GLIBC_TUNABLES") && strstr(why, "--fast") && !strchr(why, '\n'),
			      "with what to do, in one line");
	}
	CHECK(!shadow_stack__why_not_process(getpid()), "this process has none, and may be probed");
}

/* A library with some of the marks that gcc knows; 1 it is marked, 0 it is not, -1 it could not be made. */
static int marked(const char *options)
{
	char directory[] = "/tmp/graind-mark-XXXXXX", command[512], path[64];
	struct elf_image *image = NULL;
	int result = -1;

	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/it.so", directory);
	snprintf(command, sizeof(command),
		 "echo 'int f(void) { return 1; }' | gcc -xc -shared -fPIC %s -o %s -", options, path);
	if (system(command) == 0 && elf_image__open(path, &image, NULL) == 0)
		result = elf_notes__keep_shadow_stack(elf_image__elf(image));
	elf_image__close(image);
	unlink(path);
	rmdir(directory);
	return result;
}

#ifdef __x86_64__
static void marks(void)
{
	CHECK(marked("-nostdlib -fcf-protection=full -Wl,-z,shstk") == 1, "a file that keeps shadow stacks");
	CHECK(marked("-nostdlib -fcf-protection=full -Wl,-z,ibt,-z,shstk,-z,noseparate-code") == 1,
	      "one with several marks");
	CHECK(marked("-nostdlib -fcf-protection=return") == 1, "one by its code alone");
	CHECK(marked("-nostdlib -fcf-protection=none") == 0, "one that does not");
	CHECK(marked("-nostdlib -fcf-protection=branch") == 0, "one with the other mark only");
	CHECK(marked("-nostdlib -fcf-protection=full -Wl,-z,shstk -Wl,--build-id=none") == 1,
	      "one without a build-id");
}
#else
static void marks(void)
{
	CHECK(marked("-nostdlib") == 0, "the mark is one of x86");
}
#endif

int main(void)
{
	processors();
	decisions();
	marks();
	CHECK_DONE();
}
