// SPDX-License-Identifier: BSD-2-Clause
#include "runtime-shim/aside.h"
#include "runtime-shim/ompt.h"
#include "runtime-shim/runtimes.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t runtime_generation;

/* Only ever added to. */
static const struct runtime *runtimes;

static int close_handle(void *handle)
{
	static int (*known)(void *);
	int (*real)(void *) = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!real) {
		real = (int (*)(void *))(uintptr_t)dlsym(RTLD_NEXT, "dlclose");
		__atomic_store_n(&known, real, __ATOMIC_RELAXED);
	}
	return real ? real(handle) : 0;
}

/* What is at the addresses of an unloaded object need not be the same afterwards. */
__attribute__((visibility("default"))) int dlclose(void *handle)
{
	int result = close_handle(handle);

	__atomic_fetch_add(&runtime_generation, 1, __ATOMIC_RELEASE);
	return result;
}

/* NULL when it is this library's own. */
static void *foreign(void *found)
{
	Dl_info its, ours;

	if (found && dladdr(found, &its) && dladdr(&runtime_generation, &ours) &&
	    its.dli_fbase == ours.dli_fbase)
		return NULL;
	return found;
}

/* In an object that is loaded, and what it needs. */
static void *find_in(const char *object, const char *name)
{
	void *handle = dlopen(object, RTLD_LAZY | RTLD_NOLOAD), *found;

	if (!handle)
		return NULL;
	found = foreign(dlsym(handle, name));
	close_handle(handle);
	return found;
}

struct wanted {
	const char *name;
	void *found;
};

static int look_into(struct dl_phdr_info *object, size_t size, void *argument)
{
	struct wanted *wanted = argument;

	(void)size;
	if (object->dlpi_name[0])
		wanted->found = find_in(object->dlpi_name, wanted->name);
	return wanted->found != NULL;
}

/* What all objects see comes first, then what the caller's needs. */
static void *find(const char *name, const void *caller)
{
	struct wanted wanted = {name, foreign(dlsym(RTLD_NEXT, name))};
	struct link_map *map = NULL;
	Dl_info info;

	if (!wanted.found)
		wanted.found = foreign(dlsym(RTLD_DEFAULT, name));
	if (!wanted.found && dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0])
		wanted.found = find_in(map->l_name, name);
	/* The object that has loaded the caller's may be the one that needs it. */
	if (!wanted.found)
		dl_iterate_phdr(look_into, &wanted);
	return wanted.found;
}

static const char *const questions[RUNTIME_QUESTIONS] = {
	[RUNTIME_THREAD_NUMBER] = "omp_get_thread_num",
	[RUNTIME_LEVEL] = "omp_get_level",
	[RUNTIME_IN_FINAL] = "omp_in_final",
	[RUNTIME_THREADS] = "omp_get_num_threads",
	[RUNTIME_TEAMS] = "omp_get_num_teams",
	[RUNTIME_TEAM_NUMBER] = "omp_get_team_num",
};

static void get_to_know(struct runtime *runtime, const Dl_info *info)
{
	/* What was bound to once must not vanish. */
	void *handle = dlopen(info->dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE), *fork_call;
	Dl_info its;

	runtime->base = info->dli_fbase;
	if (!handle)
		return;
	for (int i = 0; i < RUNTIME_QUESTIONS; i++)
		runtime->ask[i] = (int (*)(void))(uintptr_t)foreign(dlsym(handle, questions[i]));
	fork_call = dlsym(handle, "__kmpc_fork_call");
	runtime->recorded = runtime->ask[RUNTIME_THREAD_NUMBER] && runtime->ask[RUNTIME_LEVEL] &&
			    !(fork_call && dladdr(fork_call, &its) && its.dli_fbase == info->dli_fbase);
	close_handle(handle);
	if (fork_call && !runtime->recorded)
		ompt__meet(runtime->base);
}

static const struct runtime unknown;

static const struct runtime *runtime_of(const void *function)
{
	const struct runtime *known;
	struct runtime *runtime;
	Dl_info info;

	if (!dladdr(function, &info))
		return &unknown;
	for (known = __atomic_load_n(&runtimes, __ATOMIC_ACQUIRE); known; known = known->next)
		if (known->base == info.dli_fbase)
			return known;
	runtime = calloc(1, sizeof(*runtime));
	if (!runtime)
		return &unknown;
	get_to_know(runtime, &info);
	/* If another thread adds the same one, there are two records of it. */
	runtime->next = __atomic_load_n(&runtimes, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&runtimes, &runtime->next, runtime, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return runtime;
}

struct span {
	uintptr_t address, low, size;
};

static int measure(struct dl_phdr_info *object, size_t size, void *argument)
{
	struct span *span = argument;
	uintptr_t low = UINTPTR_MAX, high = 0;
	bool inside = false;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		inside |= span->address - start < part->p_memsz;
		low = start < low ? start : low;
		high = start + part->p_memsz > high ? start + part->p_memsz : high;
	}
	if (!inside)
		return 0;
	span->low = low;
	span->size = high - low;
	return 1;
}

/* The addresses of the object; of code that was made in memory, its page. */
static struct span span_of(const void *caller)
{
	struct span span = {.address = (uintptr_t)caller};

	if (dl_iterate_phdr(measure, &span))
		return span;
	span.low = span.address & ~(uintptr_t)4095;
	span.size = 4096;
	return span;
}

static _Noreturn void give_up(const char *name)
{
	fprintf(stderr, "libgrainshim: the OpenMP runtime has no %s; run the program without it (--fast)\n",
		name);
	abort();
}

/* Of a call for which there is no memory: it goes where it would, unrecorded. */
static const struct binding *bind_once(void *function)
{
	static __thread struct binding spare __attribute__((tls_model("initial-exec")));

	spare.function = function;
	spare.runtime = &unknown;
	return &spare;
}

/* No lock is held here: the loader's functions take theirs, and run code of others that may call again. */
static const struct binding *bind_anew(struct binding **bindings, const char *name, const void *caller)
{
	uint32_t generation = __atomic_load_n(&runtime_generation, __ATOMIC_ACQUIRE);
	struct binding *binding;
	struct span span = span_of(caller);
	void *function = find(name, caller);

	if (!function)
		give_up(name);
	/* Others may be using it: nothing of it changes but how long it is true. */
	for (binding = __atomic_load_n(bindings, __ATOMIC_ACQUIRE); binding; binding = binding->next) {
		if (binding->low != span.low || binding->size != span.size || binding->function != function)
			continue;
		__atomic_store_n(&binding->generation, generation, __ATOMIC_RELEASE);
		return binding;
	}
	binding = calloc(1, sizeof(*binding));
	if (!binding)
		return bind_once(function);
	binding->low = span.low;
	binding->size = span.size;
	binding->function = function;
	binding->runtime = runtime_of(function);
	binding->recorded = binding->runtime->recorded;
	binding->generation = generation;
	binding->next = __atomic_load_n(bindings, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(bindings, &binding->next, binding, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return binding;
}

const struct binding *runtime__bind_anew(struct binding **bindings, const char *name, const void *caller)
{
	const struct binding *binding;
	struct aside aside;

	for (binding = __atomic_load_n(bindings, __ATOMIC_ACQUIRE); binding; binding = binding->next)
		if (runtime__binds(binding, caller))
			return binding;
	aside = aside__step();
	binding = bind_anew(bindings, name, caller);
	aside__back(aside);
	return binding;
}
