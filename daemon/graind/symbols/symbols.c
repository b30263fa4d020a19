// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/symbols/symbols.h"
#include "daemon/common/trace/data_objects.h"
#include "daemon/graind/symbols/kernel_symbols.h"
#include "daemon/graind/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ANSWER_BYTES_PER_SITE 2048
#define SOURCE_MAX 8192
#define DATA_BYTES (4u << 20) /* limit for the worker's answers about variables */

/* One answer of the worker. The strings point into the worker's output. */
struct answer {
	const char *function, *file, *module;
	uint64_t offset;
	uint32_t line;
	bool static_loop;
};

/* The content of an ident, which the compiler writes: ";FILE;FUNCTION;LINE;COLUMN;;". */
struct ident {
	char file[IDENT_BYTES], function[IDENT_BYTES];
	uint32_t line;
};

struct source {
	char *text; /* everything after the number */
	uint32_t number;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void write_addresses_asked(FILE *file, const struct site_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		fprintf(file, "address %" PRIx64 " %d %d\n", set->list[i].address, set->list[i].is_return,
			set->list[i].share);
}

/* Writes the questions to a file, which is the worker's input. */
static int write_questions(const struct symbols_asked *asked)
{
	const struct module_table *modules = asked->modules;
	int fd = memfd_create("graind-sites", MFD_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fcntl(fd, F_DUPFD_CLOEXEC, 0), "w");
	int error = 0;

	if (!file) {
		error = -errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	/* The latest mapping of an address must win, and the worker takes the first one that fits. */
	for (size_t i = modules->count; i > 0; i--) {
		const struct module *module = &modules->modules[i - 1];

		if (module->fd >= 0 && !strchr(module->path, '\n'))
			fprintf(file, "mapping %" PRIx64 " %" PRIx64 " %" PRIx64 " %d %s\n", module->start,
				module->end, module->offset, module->fd, module->path);
	}
	write_addresses_asked(file, asked->sites);
	write_addresses_asked(file, asked->addresses);
	for (size_t i = 0; i < asked->idents->count; i++)
		fprintf(file, "ident %" PRIx64 "\n", asked->idents->list[i].address);
	if (asked->data)
		fprintf(file, "data %u\n", DATA_LEAST_BYTES);
	if (ferror(file))
		error = -EIO;
	if (fclose(file) != 0)
		error = -errno;
	if (error || lseek(fd, 0, SEEK_SET) != 0) {
		close(fd);
		return error ? error : -errno;
	}
	return fd;
}

static int ask(const struct symbols_asked *asked, uid_t uid, gid_t gid, unsigned int seconds, char **output)
{
	const struct module_table *modules = asked->modules;
	int *keep = calloc(modules->count + 1, sizeof(*keep)), input, error;
	size_t kept = 0, size;

	if (!keep)
		return -ENOMEM;
	input = write_questions(asked);
	if (input < 0) {
		free(keep);
		return input;
	}
	for (size_t i = 0; i < modules->count; i++) {
		if (modules->modules[i].fd >= 0)
			keep[kept++] = modules->modules[i].fd;
	}
	error = worker__run(&(struct worker){.work = WORKER_SYMBOLIZE,
					     .uid = uid,
					     .gid = gid,
					     .input = input,
					     .keep = keep,
					     .keep_count = kept,
					     .seconds = seconds,
					     .in_turn = true,
					     .max_output = (asked->sites->count + asked->addresses->count) *
								   ANSWER_BYTES_PER_SITE +
							   asked->idents->count * (IDENT_BYTES + 32) +
							   DATA_BYTES + 4096},
			    output, &size);
	close(input);
	free(keep);
	return error;
}

/*
 * Takes one line of the worker's answer apart, in place. False: it is not exactly an answer to the
 * question, and nothing of it is used.
 */
static bool parse_answer(char *text, uint64_t address, struct answer *out)
{
	char *fields[7], *end;
	unsigned long long line;

	for (size_t i = 0; i < 7; i++) {
		fields[i] = strsep(&text, "\t");
		if (!fields[i] || strlen(fields[i]) > 1023)
			return false;
	}
	if (text)
		return false;
	errno = 0;
	if (strtoull(fields[0], &end, 16) != address || *end || errno)
		return false;
	line = strtoull(fields[1], &end, 10);
	if (*end || errno || line > UINT32_MAX)
		return false;
	out->offset = strtoull(fields[2], &end, 16);
	if (*end || errno)
		return false;
	out->line = (uint32_t)line;
	out->function = fields[3];
	out->file = fields[4];
	out->module = fields[5];
	out->static_loop = !strcmp(fields[6], "static");
	return true;
}

/* Fills in what is known without reading the file. */
static void fall_back(const struct module_table *modules, uint64_t address, struct answer *out)
{
	const struct module *module = module_table__find(modules, address);

	*out = (struct answer){.function = "", .file = "", .module = "", .offset = address};
	if (module) {
		out->module = base_name(module->path);
		out->offset = address - module->start + module->offset;
	}
}

static void describe(const struct answer *answer, const char *kind, char *out, size_t size)
{
	char function[1024], file[1024], path[2100], module[1300], name[1100];

	trace_writer__quote(answer->function, function, sizeof(function));
	if (answer->file[0] && answer->line) {
		trace_writer__quote(base_name(answer->file), file, sizeof(file));
		trace_writer__quote(answer->file, path, sizeof(path));
		snprintf(out, size, "file=%s line=%" PRIu32 " func=%s kind=%s path=%s", file, answer->line,
			 function, kind, path);
		return;
	}
	snprintf(name, sizeof(name), "%s+0x%" PRIx64, answer->module[0] ? answer->module : "unknown",
		 answer->offset);
	trace_writer__quote(name, module, sizeof(module));
	snprintf(out, size, "func=%s kind=%s module=%s", function, kind, module);
}

static int compare_sources(const void *a, const void *b)
{
	return strcmp(((const struct source *)a)->text, ((const struct source *)b)->text);
}

static void free_source(void *source)
{
	free(((struct source *)source)->text);
	free(source);
}

/* Finds the number of the source. A new source gets a number and a line. */
static int number_source(struct trace_writer *writer, void **tree, uint32_t *count, const char *text,
			 uint32_t *number)
{
	struct source *made = calloc(1, sizeof(*made)), **found;

	if (made)
		made->text = strdup(text);
	found = made && made->text ? tsearch(made, tree, compare_sources) : NULL;
	if (!found) {
		if (made)
			free_source(made);
		return -ENOMEM;
	}
	if (*found != made) {
		*number = (*found)->number;
		free_source(made);
		return 0;
	}
	*number = made->number = (*count)++;
	return trace_writer__textf(writer, "@source %" PRIu32 " %s", *number, text);
}

/*
 * Returns the strings, by the index of their address in `idents`: from the file, else from the memory of
 * the process, else NULL. `rest` is the worker's output after its last site; the strings point into it.
 */
static const char **take_idents(const struct site_set *idents, char *rest)
{
	const char **texts = calloc(idents->count + 1, sizeof(*texts));

	for (size_t i = 0; texts && i < idents->count; i++) {
		char *line = rest ? strsep(&rest, "\n") : NULL, *address = line ? strsep(&line, "\t") : NULL;

		texts[i] = idents->list[i].text;
		if (line && strtoull(address, NULL, 16) == idents->list[i].address && line[0] &&
		    strlen(line) < IDENT_BYTES)
			texts[i] = line;
	}
	return texts;
}

static const char *ident_of(const struct site *site, const struct site_set *idents, const char *const *texts)
{
	if (!site->ident)
		return NULL;
	for (size_t slot = site_set__slot(site->ident); idents->slots[slot]; slot = (slot + 1) % SITE_SLOTS) {
		size_t index = idents->slots[slot] - 1;

		if (idents->list[index].address == site->ident)
			return texts[index];
	}
	return NULL;
}

/* Without debug information, compilers write "unknown" and line 0. */
static bool parse_ident(const char *text, struct ident *out)
{
	const char *function, *line;
	char *end;
	unsigned long number;

	if (text[0] != ';' || !(function = strchr(text + 1, ';')) || !(line = strchr(function + 1, ';')))
		return false;
	number = strtoul(line + 1, &end, 10);
	if (*end != ';' || !number || number > UINT32_MAX)
		return false;
	out->line = (uint32_t)number;
	snprintf(out->file, sizeof(out->file), "%.*s", (int)(function - text - 1), text + 1);
	snprintf(out->function, sizeof(out->function), "%.*s", (int)(line - function - 1), function + 1);
	return out->file[0] && out->function[0];
}

/*
 * Takes from the ident what the debug information does not have. The ident has the line of the directive.
 * The debug information may have the line of the generated code, one or two lines later.
 */
static void complete(struct answer *answer, const char *text, struct ident *ident)
{
	if (!text || !parse_ident(text, ident))
		return;
	if (!answer->file[0] || !answer->line) {
		answer->file = ident->file;
		answer->line = ident->line;
		answer->function = ident->function;
	} else if (!strcmp(base_name(answer->file), base_name(ident->file))) {
		answer->line = ident->line;
	}
	if (!answer->function[0] || answer->function[0] == '.')
		answer->function = ident->function;
}

static int write_sites(struct trace_writer *writer, const struct symbols_asked *asked, char **rest,
		       const char *const *texts, char *text, struct ident *ident)
{
	const struct site_set *sites = asked->sites;
	void *tree = NULL;
	uint32_t sources = 0;
	int error = 0;

	for (size_t i = 0; i < sites->count && !error; i++) {
		const struct site *site = &sites->list[i];
		char *line = *rest ? strsep(rest, "\n") : NULL;
		struct answer answer;
		uint32_t number;

		if (!line || !parse_answer(line, site->address, &answer) || !answer.module[0])
			fall_back(asked->modules, site->address, &answer);
		complete(&answer, ident_of(site, asked->idents, texts), ident);
		describe(&answer, site->kind, text, SOURCE_MAX);
		error = number_source(writer, &tree, &sources, text, &number);
		if (!error)
			error = trace_writer__textf(writer, "@site 0x%" PRIx64 " source=%" PRIu32 "%s",
						    site->address, number,
						    answer.static_loop ? " loop=static" : "");
	}
	tdestroy(tree, free_source);
	return error;
}

/* For the kernel's functions only the names are known. */
static void name_kernel(uint64_t number, struct answer *out)
{
	*out = (struct answer){.function = kernel_symbols__name(number),
			       .file = "",
			       .module = "[kernel]",
			       .offset = (uint32_t)number};
}

bool symbols__is_system_file(const char *path)
{
	static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (!strncmp(path, folders[i], strlen(folders[i])))
			return true;
	return false;
}

static bool is_of_system(const struct module_table *modules, uint64_t address)
{
	const struct module *module = module_table__find(modules, address);

	return module && symbols__is_system_file(module->path);
}

static int write_addresses(struct trace_writer *writer, const struct symbols_asked *asked, char **rest,
			   char *text)
{
	int error = 0;

	for (size_t i = 0; i < asked->addresses->count && !error; i++) {
		const struct site *site = &asked->addresses->list[i];
		char *line = *rest ? strsep(rest, "\n") : NULL;
		struct answer answer;

		if (kernel_symbols__is_kernel(site->address))
			name_kernel(site->address, &answer);
		else if (!line || !parse_answer(line, site->address, &answer) || !answer.module[0])
			fall_back(asked->modules, site->address, &answer);
		describe(&answer, site->kind, text, SOURCE_MAX);
		error = trace_writer__textf(writer, "@address 0x%" PRIx64 " %s%s", site->address, text,
					    is_of_system(asked->modules, site->address) ? " system=1" : "");
	}
	return error;
}

static int write_idents(struct trace_writer *writer, const struct site_set *idents, const char *const *texts,
			char *text)
{
	int error = 0;

	for (size_t i = 0; i < idents->count && !error; i++) {
		if (!texts[i])
			continue;
		trace_writer__quote(texts[i], text, SOURCE_MAX);
		error = trace_writer__textf(writer, "@ident 0x%" PRIx64 " text=%s", idents->list[i].address,
					    text);
	}
	return error;
}

/* Returns the text after the first `lines` lines. */
static char *skip_lines(char *text, size_t lines)
{
	for (; text && lines; lines--) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

int symbols__write(struct trace_writer *writer, const struct symbols_asked *asked, uid_t uid, gid_t gid,
		   unsigned int seconds, int *unnamed)
{
	const struct site_set *sites = asked->sites, *idents = asked->idents;
	char *output = NULL, *rest, *text = malloc(SOURCE_MAX);
	struct ident *ident = malloc(sizeof(*ident));
	const char **texts = NULL;
	int error = -ENOMEM;

	*unnamed = 0;
	if (!text || !ident)
		goto out;
	error = 0;
	if (!sites->count && !idents->count && !asked->addresses->count && !asked->data)
		goto out;
	*unnamed = ask(asked, uid, gid, seconds, &output);
	if (*unnamed)
		output = NULL;
	rest = output;
	if (asked->data && output)
		data_objects__take(asked->data, skip_lines(output, sites->count + asked->addresses->count +
									   idents->count));
	texts = take_idents(idents, skip_lines(output, sites->count + asked->addresses->count));
	if (!texts)
		error = -ENOMEM;
	if (!error)
		error = write_sites(writer, asked, &rest, texts, text, ident);
	if (!error)
		error = write_addresses(writer, asked, &rest, text);
	if (!error)
		error = write_idents(writer, idents, texts, text);
out:
	free(texts);
	free(output);
	free(text);
	free(ident);
	return error;
}
