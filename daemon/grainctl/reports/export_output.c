/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/reports/export_output.h"
#include "daemon/grainctl/files/output_file.h"
#include "daemon/grainctl/reports/input.h"
#include "daemon/grainctl/files/output_directory.h"
#include "daemon/grainctl/terminal/progress.h"
#include "daemon/grainctl/files/sandbox.h"
#include "render/include/render_export.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name, *suffix;
} formats[] = {
	[EXPORT_LOG] = {"log", "log"},
	[EXPORT_PERFETTO] = {"perfetto", "pftrace"},
	[EXPORT_OTF2] = {"otf2", "otf2"},
	[EXPORT_TALP] = {"talp", "talp.json"},
};

int export_format__parse(const char *name, enum export_format *out)
{
	for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!strcmp(name, formats[i].name)) {
			*out = (enum export_format)i;
			return 0;
		}
	}
	return -EINVAL;
}

static enum ctl_exit write_failed(struct ctl *ctl, const char *path, int error)
{
	const char *hint = "";

	if (error == -ENOSPC || error == -EDQUOT)
		hint = "; free some, or choose another place with -o";
	else if (error == -EEXIST)
		hint = "; remove it, or choose another name with -o";
	else if (error == -ENOENT)
		hint = "; make the directory that it is to be in";
	return ctl__fail(ctl, error == -EACCES || error == -EPERM ? CTL_DENIED : CTL_FAILED,
			 "cannot write %s: %s%s", strcmp(path, "-") ? path : "the output", strerror(-error),
			 hint);
}

/* Input and output of an export. Both are already open when the sandbox starts. */
struct work {
	enum export_format format;
	const char *path; /* for messages */
	bool keep_going;
	struct input input;
	struct output_file *file;
	struct output_directory *directory;
};

static int write_graph(const struct work *work, const struct grain_graph *graph,
		       const struct export_opts *opts, struct grain_error *text)
{
	FILE *stream;
	int error;

	if (work->directory)
		return export__otf2(graph, opts, ".", text);
	stream = output_file__stream(work->file);
	error = work->format == EXPORT_TALP ? export__talp(graph, stream, text)
					    : export__perfetto(graph, opts, stream, text);
	errno = 0;
	if (!error && (fflush(stream) || ferror(stream)))
		error = errno ? -errno : -EIO;
	return error;
}

static enum ctl_exit load_and_write(struct ctl *ctl, void *argument)
{
	const struct work *work = argument;
	const struct grain_load_opts wanted = {.keep_going = work->keep_going};
	struct progress progress;
	const struct export_opts opts = {.job = work->input.job,
					 .progress = progress__update,
					 .progress_ctx = &progress};
	struct grain_error text = {""};
	struct grain_graph *graph = NULL;
	enum ctl_exit result = input__load(ctl, &work->input, &wanted, &graph);
	int error;

	if (result != CTL_DONE)
		return result;
	progress__start(&progress, "writing");
	error = write_graph(work, graph, &opts, &text);
	progress__end(&progress);
	grain_graph__free(graph);
	if (!error)
		return CTL_DONE;
	return text.text[0] ? (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "cannot write %s: %s", work->path,
						       text.text)
			    : write_failed(ctl, work->path, error);
}

static enum ctl_exit make(struct ctl *ctl, struct work *work)
{
	bool otf2 = work->format == EXPORT_OTF2;
	enum ctl_exit result;
	int error = otf2 ? output_directory__create(work->path, &work->directory)
			 : output_file__open(work->path, &work->file);

	if (error)
		return write_failed(ctl, work->path, error);
	result = otf2 ? sandbox__run_in(ctl, output_directory__fd(work->directory), load_and_write, work)
		      : sandbox__run(ctl, SANDBOX_CLOSED, load_and_write, work);
	if (result != CTL_DONE) {
		output_directory__discard(work->directory);
		output_file__discard(work->file);
		return result;
	}
	error = otf2 ? output_directory__commit(work->directory) : output_file__commit(work->file);
	return error ? write_failed(ctl, work->path, error) : CTL_DONE;
}

enum ctl_exit export_output__run(struct ctl *ctl, enum export_format format, const char *argument,
				 const char *output, bool keep_going)
{
	struct work work = {.format = format, .keep_going = keep_going};
	char chosen[NAME_MAX + 16];
	enum ctl_exit result;

	if (format == EXPORT_OTF2 && output && !strcmp(output, "-"))
		return (enum ctl_exit)ctl__fail(ctl, CTL_USAGE,
						"an OTF2 archive is a directory; name one with -o");
	result = input__open(ctl, argument, false, &work.input);
	if (result != CTL_DONE)
		return result;
	snprintf(chosen, sizeof(chosen), "%s.%s", work.input.name, formats[format].suffix);
	work.path = output ? output : chosen;
	result = make(ctl, &work);
	if (result == CTL_DONE && !output)
		printf("%s\n", chosen);
	input__close(&work.input);
	return result;
}
