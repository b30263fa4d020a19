// SPDX-License-Identifier: BSD-2-Clause
/* Reads a file into an event_stream. The first bytes tell what kind of file it is. */
#include "analysis/log/log.h"
#include "analysis/event/event_build.h"
#include "analysis/mir/mir.h"
#include "analysis/trace/trace_format.h"
#include "analysis/load/trace_reader.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int event_stream__read_fd(int fd, const char *path, const struct grain_load_opts *opts,
			  struct event_stream **out, struct grain_error *err)
{
	char start[8] = "", header[4096];
	struct stat st;
	int error;
	ssize_t n;

	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
		return load_error(err, -EINVAL, "%s: is not a regular file; give a trace or an event log",
				  path);
	n = pread(fd, start, sizeof(start), 0);
	if (n < 0)
		error = load_error(err, -errno, "%s: cannot be read: %s", path, strerror(errno));
	else if (n == sizeof(start) && memcmp(start, TRACE_MAGIC, sizeof(start)) == 0)
		error = trace_reader__read(fd, path, opts, out, err);
	else if (n == sizeof(start) && memcmp(start, "grain-lo", sizeof(start)) == 0)
		error = log_reader__read(fd, path, opts, out, err);
	else if ((n = pread(fd, header, sizeof(header), 0)) > 0 && mir_reader__recognizes(header, (size_t)n))
		error = mir_reader__read(fd, path, opts, out, err);
	else
		error = load_error(err, -EBADMSG, "%s: is neither a trace, an event log nor a MIR profile%s",
				   path, n == 0 ? "; it is empty" : "");
	return error;
}

int event_stream__read(const char *path, const struct grain_load_opts *opts, struct event_stream **out,
		       struct grain_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), error = -errno;

	if (fd < 0)
		return load_error(err, error, "%s: cannot be opened: %s", path, strerror(-error));
	error = event_stream__read_fd(fd, path, opts, out, err);
	close(fd);
	return error;
}
