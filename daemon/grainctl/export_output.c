/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/export_output.h"
#include "daemon/grainctl/files.h"
#include "daemon/grainctl/input.h"
#include "daemon/grainctl/output_directory.h"
#include "daemon/grainctl/progress.h"
#include "render/export.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name, *suffix;
} formats[] = {
	[EXPORT_LOG] = {"log", "log"},
	[EXPORT_PERFETTO] = {"perfetto", "pftrace"},
	[EXPORT_OTF2] = {"otf2", "otf2"},
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

static int write_perfetto(const struct grain_graph *graph, const struct export_opts *opts, const char *path,
			  struct grain_error *text)
{
	struct output_file *file = NULL;
	int error = output_file__open(path, &file);

	if (error)
		return error;
	error = export__perfetto(graph, opts, output_file__stream(file), text);
	if (!error)
		return output_file__commit(file);
	output_file__discard(file);
	return error;
}

static int write_otf2(const struct grain_graph *graph, const struct export_opts *opts, const char *path,
		      struct grain_error *text)
{
	struct output_directory *directory = NULL;
	int error = output_directory__create(path, &directory);

	if (error)
		return error;
	error = export__otf2(graph, opts, output_directory__path(directory), text);
	if (!error)
		return output_directory__commit(directory);
	output_directory__discard(directory);
	return error;
}

static enum ctl_exit write_export(struct ctl *ctl, enum export_format format, const struct grain_graph *graph,
				  const struct input *input, const char *path)
{
	struct progress progress;
	const struct export_opts opts = {.job = input->job,
					 .progress = progress__update,
					 .progress_ctx = &progress};
	struct grain_error text = {""};
	int error;

	progress__start(&progress, "writing");
	error = format == EXPORT_PERFETTO ? write_perfetto(graph, &opts, path, &text)
					  : write_otf2(graph, &opts, path, &text);
	progress__end(&progress);
	if (!error)
		return CTL_DONE;
	return text.text[0]
		       ? (enum ctl_exit)ctl__fail(ctl, CTL_FAILED, "cannot write %s: %s", path, text.text)
		       : write_failed(ctl, path, error);
}

enum ctl_exit export_output__run(struct ctl *ctl, enum export_format format, const char *argument,
				 const char *output, bool keep_going)
{
	const struct grain_load_opts opts = {.keep_going = keep_going};
	struct grain_graph *graph = NULL;
	char chosen[NAME_MAX + 16];
	struct input input;
	enum ctl_exit result;

	if (format == EXPORT_OTF2 && output && !strcmp(output, "-"))
		return (enum ctl_exit)ctl__fail(ctl, CTL_USAGE,
						"an OTF2 archive is a directory; name one with -o");
	result = input__open(ctl, argument, false, &input);
	if (result != CTL_DONE)
		return result;
	snprintf(chosen, sizeof(chosen), "%s.%s", input.name, formats[format].suffix);
	result = input__load(ctl, &input, &opts, &graph);
	if (result == CTL_DONE)
		result = write_export(ctl, format, graph, &input, output ? output : chosen);
	if (result == CTL_DONE && !output)
		printf("%s\n", chosen);
	grain_graph__free(graph);
	input__close(&input);
	return result;
}
