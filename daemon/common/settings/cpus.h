/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of CPUs, and the lists in which the kernel writes them: "0-3,8". */
#ifndef GRAIND_CPUS_H
#define GRAIND_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CPUs with higher numbers are left out. */
#define CPUS_MAX 2048

struct cpus {
	uint64_t bits[CPUS_MAX / 64];
};

/* Reads a list. Returns false if the text is no list; *out is then empty. */
bool cpus__read(const char *list, struct cpus *out);
/* Writes the list. What does not fit ends in "...". */
const char *cpus__text(const struct cpus *cpus, char *text, size_t size);

void cpus__add(struct cpus *cpus, unsigned int cpu);
bool cpus__has(const struct cpus *cpus, unsigned int cpu);
unsigned int cpus__count(const struct cpus *cpus);
struct cpus cpus__both(const struct cpus *a, const struct cpus *b);   /* CPUs in both sets */
struct cpus cpus__either(const struct cpus *a, const struct cpus *b); /* CPUs in one of the sets */
struct cpus cpus__without(const struct cpus *a, const struct cpus *b);
/* The first `count` CPUs of the set. */
struct cpus cpus__first(const struct cpus *cpus, unsigned int count);

#endif
