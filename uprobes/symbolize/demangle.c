// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/symbolize/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the C++ runtime library: cxxabi.h is only for C++. */
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

#define MANGLED_MAX 4096 /* longer names are left alone */

/* The compiler made "fib._omp_fn.0.constprop.0" from fib. */
static const char *const outlined[] = {"._omp_fn.", "._omp_cpyfn.", ".omp_outlined", ".omp_task_entry"};
static const char *const made[] = {".part.", ".constprop.", ".isra.", ".cold", ".lto_priv.", ".localalias"};

static size_t first_of(const char *name, size_t length, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *at = strstr(name, words[i]);

		if (at && at > name && (size_t)(at - name) < length)
			length = (size_t)(at - name);
	}
	return length;
}

bool demangle__is_outlined(const char *symbol)
{
	for (size_t i = 0; i < sizeof(outlined) / sizeof(outlined[0]); i++)
		if (strstr(symbol, outlined[i]))
			return true;
	return false;
}

/*
 * Where the parameters of a demangled name begin: the last '(' outside all brackets that has only
 * qualifiers behind its ')'. Parts of names in parentheses, such as "(anonymous namespace)" and
 * "operator()", are followed by more of the name.
 */
static size_t name_end(const char *name)
{
	size_t length = strlen(name), end = length;
	int depth = 0;

	for (size_t i = 0; i < length; i++) {
		char c = name[i];

		if (!strncmp(name + i, "operator", 8)) {
			i += 8;
			while (name[i] && strchr("<>=-+*/%&|^!~,[] ", name[i]))
				i++;
			if (name[i] == '(' && name[i + 1] == ')')
				i += 2;
			if (!name[i])
				break;
			c = name[i];
		}
		if (c == '(' && depth == 0)
			end = i;
		if (c == '(' || c == '<' || c == '{' || c == '[')
			depth++;
		else if (c == ')' || c == '>' || c == '}' || c == ']')
			depth--;
		/* The name goes on behind this parenthesis, so these are not the parameters. */
		if (c == ')' && depth == 0 && !strncmp(name + i + 1, "::", 2))
			end = length;
	}
	return end;
}

/* Where the name begins: behind the last space outside brackets. The return type stands before that space. */
static size_t name_begin(const char *name, size_t end)
{
	size_t begin = 0;
	int depth = 0;

	for (size_t i = 0; i < end; i++) {
		if (!strncmp(name + i, "operator", 8))
			break;
		if (strchr("(<{[", name[i]))
			depth++;
		else if (strchr(")>}]", name[i]))
			depth--;
		else if (name[i] == ' ' && depth == 0)
			begin = i + 1;
	}
	return begin;
}

static bool from_cplusplus(const char *symbol, char *out, size_t size)
{
	char *name;
	size_t begin, end;
	int status;

	if (strncmp(symbol, "_Z", 2) != 0)
		return false;
	name = __cxa_demangle(symbol, NULL, NULL, &status);
	if (!name)
		return false;
	end = name_end(name);
	begin = name_begin(name, end);
	if (begin >= end) {
		begin = 0;
		end = strlen(name);
	}
	snprintf(out, size, "%.*s", (int)(end - begin), name + begin);
	free(name);
	return true;
}

/* __module_MOD_procedure */
static bool from_fortran(const char *symbol, char *out, size_t size)
{
	const char *separator;

	if (strncmp(symbol, "__", 2) != 0)
		return false;
	separator = strstr(symbol + 2, "_MOD_");
	if (!separator || separator == symbol + 2 || !separator[5])
		return false;
	snprintf(out, size, "%.*s::%s", (int)(separator - symbol - 2), symbol + 2, separator + 5);
	return true;
}

void demangle__function(const char *symbol, char *out, size_t size)
{
	char *name;
	size_t length = strlen(symbol);

	length = first_of(symbol, length, outlined, sizeof(outlined) / sizeof(outlined[0]));
	length = first_of(symbol, length, made, sizeof(made) / sizeof(made[0]));
	name = length <= MANGLED_MAX ? strndup(symbol, length) : NULL;
	if (!name || (!from_cplusplus(name, out, size) && !from_fortran(name, out, size)))
		snprintf(out, size, "%.*s", (int)(length < size ? length : size), symbol);
	free(name);
}
