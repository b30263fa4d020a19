// SPDX-License-Identifier: BSD-2-Clause
#include "runtime-shim/ring/caller_state.h"
#include "runtime-shim/runtimes/loaded_object.h"
#include "runtime-shim/runtimes/libomp_recording.h"
#include "runtime-shim/runtimes/runtimes.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__thread struct runtime_thread runtime_thread __attribute__((tls_model("initial-exec")));

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

/* After an object was unloaded, another object may be at its addresses. */
__attribute__((visibility("default"))) int dlclose(void *handle)
{
	int result = close_handle(handle);

	__atomic_fetch_add(&shim_process.runtime_generation, 1, __ATOMIC_RELEASE);
	return result;
}

struct span {
	uintptr_t low, size;
};

/* What is known of the objects of the process. */
static struct {
	const struct runtime *runtimes; /* entries are only added; the same is true of the clients */
	struct client *clients;
	/*
	 * The objects that the program started with and that come after this library, in the order of
	 * loading. If this library was loaded later, there are none.
	 */
	struct {
		unsigned first, end;
	} started_with;
	struct span own; /* this library */
} objects;

static bool is_in(const struct span *span, const void *address)
{
	return (uintptr_t)address - span->low < span->size;
}

struct place {
	const void *address;
	struct span span;
};

static int measure(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct place *place = argument;
	struct loaded_object o;

	(void)size;
	loaded_object__read(info, &o);
	if (!loaded_object__has(&o, place->address))
		return 0;
	place->span = (struct span){o.start, o.end - o.start};
	return 1;
}

/* The addresses of the object at `address`. If the code was made in memory, its page. */
static struct span span_of(const void *address)
{
	struct place place = {.address = address};

	if (dl_iterate_phdr(measure, &place))
		return place.span;
	return (struct span){(uintptr_t)address & ~(uintptr_t)4095, 4096};
}

struct count {
	unsigned objects, after_own;
};

static int count_objects(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct count *count = argument;
	struct loaded_object o;

	(void)size;
	loaded_object__read(info, &o);
	count->objects++;
	if (!loaded_object__has(&o, &shim_process.runtime_generation))
		return 0;
	count->after_own = count->objects;
	objects.own = (struct span){o.start, o.end - o.start};
	return 0;
}

static __attribute__((constructor)) void look_around(void)
{
	struct count count = {0};

	dl_iterate_phdr(count_objects, &count);
	objects.started_with.first = count.after_own;
	objects.started_with.end = count.objects;
}

/* NULL if it is this library's own function. */
static void *foreign(void *found)
{
	if (!objects.own.size)
		objects.own = span_of(&shim_process.runtime_generation);
	return is_in(&objects.own, found) ? NULL : found;
}

struct search {
	const char *name;
	unsigned at;	   /* number of objects so far */
	uintptr_t runtime; /* begin of the runtime */
	void *found;
};

static int look_next(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	struct loaded_object o;

	(void)size;
	if (search->at >= objects.started_with.end)
		return 1;
	if (search->at++ >= objects.started_with.first && loaded_object__read(info, &o))
		search->found = loaded_object__find(&o, search->name);
	return search->found != NULL;
}

static int look_into_runtime(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	struct loaded_object o;

	(void)size;
	if (!loaded_object__read(info, &o) || o.start != search->runtime)
		return 0;
	search->found = loaded_object__find(&o, search->name);
	return 1;
}

/* The runtime that an object's calls go to. A function that was bound before has shown it. */
struct client {
	struct client *next;
	struct span span;
	uint32_t generation;
	const struct runtime *runtime;
};

static const struct client *client_at(const void *caller)
{
	uint32_t generation = __atomic_load_n(&shim_process.runtime_generation, __ATOMIC_ACQUIRE);
	const struct client *client = __atomic_load_n(&objects.clients, __ATOMIC_ACQUIRE);

	while (client && (!is_in(&client->span, caller) ||
			  __atomic_load_n(&client->generation, __ATOMIC_RELAXED) != generation))
		client = client->next;
	return client;
}

/* An earlier object at these addresses may have used another runtime. */
static void add_client(struct span span, uint32_t generation, const struct runtime *runtime)
{
	struct client *client;

	for (client = __atomic_load_n(&objects.clients, __ATOMIC_ACQUIRE); client; client = client->next) {
		if (client->span.low != span.low || client->span.size != span.size ||
		    client->runtime != runtime)
			continue;
		__atomic_store_n(&client->generation, generation, __ATOMIC_RELAXED);
		return;
	}
	client = malloc(sizeof(*client));
	if (!client)
		return;
	*client = (struct client){__atomic_load_n(&objects.clients, __ATOMIC_RELAXED), span, generation,
				  runtime};
	while (!__atomic_compare_exchange_n(&objects.clients, &client->next, client, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

/*
 * The runtime for calls whose return address is in this library. Such a call is the last act of a body (a
 * tail call).
 */
static const struct runtime *runtime_around(const void *caller)
{
	const struct runtime *known = __atomic_load_n(&objects.runtimes, __ATOMIC_ACQUIRE);

	if (is_in(&objects.own, caller))
		return runtime_thread.running ? runtime_thread.running : known && !known->next ? known : NULL;
	while (known && (uintptr_t)caller - known->low >= known->size)
		known = known->next;
	return known;
}

/*
 * Like find(), but without waiting for the lock that the loader holds while it runs constructors. Finds
 * what dlsym(RTLD_NEXT) would find, or else the function of the runtime that is known to be the caller's.
 */
static void *find_known(const char *name, const void *caller)
{
	const struct runtime *runtime = runtime_around(caller);
	struct search search = {.name = name};

	if (!runtime) {
		const struct client *client = client_at(caller);

		dl_iterate_phdr(look_next, &search);
		runtime = client ? client->runtime : NULL;
	}
	if (!search.found && runtime) {
		search.runtime = runtime->low;
		dl_iterate_phdr(look_into_runtime, &search);
	}
	return search.found;
}

/* Finds a function in a loaded object and in the objects that it needs. */
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

/* Looks first in the objects that all objects see, then in those that the caller's object needs. */
static void *find(const char *name, const void *caller)
{
	struct wanted wanted = {name, foreign(dlsym(RTLD_NEXT, name))};
	struct link_map *map = NULL;
	Dl_info info;

	if (!wanted.found)
		wanted.found = foreign(dlsym(RTLD_DEFAULT, name));
	if (!wanted.found && dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0])
		wanted.found = find_in(map->l_name, name);
	/* Another object may have loaded the caller's object, and may be the one that needs it. */
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
	[RUNTIME_DEVICES] = "omp_get_num_devices",
};

static void get_to_know(struct runtime *runtime, const Dl_info *info)
{
	/* A runtime that was bound must not be unloaded. */
	void *handle = dlopen(info->dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE), *fork_call;
	struct span span = span_of(info->dli_fbase);
	Dl_info its;

	runtime->base = info->dli_fbase;
	runtime->low = span.low;
	runtime->size = span.size;
	if (!handle)
		return;
	for (int i = 0; i < RUNTIME_QUESTIONS; i++)
		runtime->ask[i] = (int (*)(void))(uintptr_t)foreign(dlsym(handle, questions[i]));
	fork_call = dlsym(handle, "__kmpc_fork_call");
	runtime->recorded = runtime->ask[RUNTIME_THREAD_NUMBER] && runtime->ask[RUNTIME_LEVEL] &&
			    !(fork_call && dladdr(fork_call, &its) && its.dli_fbase == info->dli_fbase);
	close_handle(handle);
	if (fork_call && !runtime->recorded)
		libomp__meet(runtime->base);
}

static const struct runtime unknown;

static const struct runtime *runtime_of(const void *function)
{
	const struct runtime *known;
	struct runtime *runtime;
	Dl_info info;

	for (known = __atomic_load_n(&objects.runtimes, __ATOMIC_ACQUIRE); known; known = known->next)
		if ((uintptr_t)function - known->low < known->size)
			return known;
	if (!dladdr(function, &info))
		return &unknown;
	runtime = calloc(1, sizeof(*runtime));
	if (!runtime)
		return &unknown;
	get_to_know(runtime, &info);
	/* If another thread adds the same runtime, there are two records of it. */
	runtime->next = __atomic_load_n(&objects.runtimes, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&objects.runtimes, &runtime->next, runtime, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	/* Bindings that assumed a single runtime are no longer valid. */
	if (runtime->next)
		__atomic_fetch_add(&shim_process.runtime_generation, 1, __ATOMIC_RELEASE);
	return runtime;
}

static _Noreturn void give_up(const char *name)
{
	fprintf(stderr, "libgrainshim: the OpenMP runtime has no %s; run the program without it (--fast)\n",
		name);
	abort();
}

/*
 * Whether the runtime has called its own function by name. The runtime calls the program's bodies by their
 * addresses. If a body jumps to a function, that function returns to the runtime's call.
 */
static bool is_direct_call(const struct runtime *runtime, const void *returns_to)
{
	const unsigned char *at = returns_to;
	int32_t distance;

#if defined(__x86_64__)
	if (at[-6] == 0xff && at[-5] == 0x15)
		return true;
	memcpy(&distance, at - 4, sizeof(distance));
	return at[-5] == 0xe8 && (uintptr_t)at + (uintptr_t)(intptr_t)distance - runtime->low < runtime->size;
#else
	(void)runtime;
	memcpy(&distance, at - 4, sizeof(distance));
	return ((uint32_t)distance & 0xfc000000) == 0x94000000;
#endif
}

/* Binds a call for which there is no memory: it goes to its runtime, unrecorded. */
static const struct binding *bind_once(void *function)
{
	static __thread struct binding spare __attribute__((tls_model("initial-exec")));

	spare.function = function;
	spare.runtime = &unknown;
	return &spare;
}

/*
 * No lock is held here. The loader's functions take their own locks, and run code of others that may call
 * this again. An object's first call usually begins a region. What its other threads call is then found
 * without the loader.
 */
static const struct binding *bind_anew(struct binding **bindings, const char *name, const void *caller)
{
	uint32_t generation = __atomic_load_n(&shim_process.runtime_generation, __ATOMIC_ACQUIRE);
	struct binding *binding;
	struct span span = span_of(caller);
	void *function = find_known(name, caller);
	const struct runtime *known, *runtime;
	bool from_runtime;

	if (!function)
		function = find(name, caller);
	if (!function)
		give_up(name);
	/* A call from this library may be for another runtime the next time. */
	known = __atomic_load_n(&objects.runtimes, __ATOMIC_ACQUIRE);
	generation -= is_in(&objects.own, caller) && known && known->next;
	runtime = runtime_of(function);
	from_runtime = (uintptr_t)caller - runtime->low < runtime->size;
	if (from_runtime)
		span = (struct span){(uintptr_t)caller, 1};
	/* Other threads may be using this binding. So nothing in it changes, except how long it is valid. */
	for (binding = __atomic_load_n(bindings, __ATOMIC_ACQUIRE); binding; binding = binding->next) {
		if (binding->low != span.low || binding->size != span.size || binding->function != function)
			continue;
		add_client(span, generation, binding->runtime);
		__atomic_store_n(&binding->generation, generation, __ATOMIC_RELEASE);
		return binding;
	}
	binding = calloc(1, sizeof(*binding));
	if (!binding)
		return bind_once(function);
	binding->low = span.low;
	binding->size = span.size;
	binding->function = function;
	binding->runtime = runtime;
	binding->recorded = runtime->recorded;
	binding->internal = from_runtime && is_direct_call(runtime, caller);
	binding->jumped = (from_runtime && !binding->internal) || is_in(&objects.own, caller);
	binding->generation = generation;
	add_client(span, generation, binding->runtime);
	binding->next = __atomic_load_n(bindings, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(bindings, &binding->next, binding, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return binding;
}

const struct binding *runtime__bind_anew(struct binding **bindings, const char *name, const void *caller)
{
	const struct binding *binding;
	uint32_t generation;
	struct caller_state callers;

	for (binding = __atomic_load_n(bindings, __ATOMIC_ACQUIRE); binding; binding = binding->next)
		if (runtime__binds(binding, caller))
			return binding;
	callers = caller_state__save();
	generation = __atomic_load_n(&shim_process.runtime_generation, __ATOMIC_ACQUIRE);
	binding = bind_anew(bindings, name, caller);
	/* This was the first call of another runtime. The caller's other threads must learn of it. */
	if (__atomic_load_n(&shim_process.runtime_generation, __ATOMIC_ACQUIRE) != generation)
		binding = bind_anew(bindings, name, caller);
	caller_state__restore(callers);
	return binding;
}
