// SPDX-License-Identifier: BSD-2-Clause
/*
 * For a library that was injected into a running process. grainctl calls grainshim_attach() and, once
 * graind has answered, grainshim_begin(), on a thread that it has stopped. So neither function waits, and
 * neither takes a lock that such a thread could hold, except the loader's. The program's calls come here
 * through their GOT slots. Once the recording is over, the slots get the runtime's addresses again, and the
 * library is idle.
 */
#include "runtime-shim/ring/caller_state.h"
#include "runtime-shim/ring/connect.h"
#include "runtime-shim/attach/kmpc_attached.h"
#include "runtime-shim/runtimes/loaded_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IN_TABLE R_X86_64_GLOB_DAT
#define IN_PLT R_X86_64_JUMP_SLOT
#elif defined(__aarch64__)
#define IN_TABLE R_AARCH64_GLOB_DAT
#define IN_PLT R_AARCH64_JUMP_SLOT
#endif

#define PAGE 4096u
#define FUNCTIONS_MAX 512
#define SLOTS_MAX 8192
/*
 * At this many of the first regions the slots are searched again: the loader may have been filling a slot
 * during the first search.
 */
#define LOOKS 16
#define GRAIND_EVERY_NS 500000000u

/* An entry point: the runtime's function and the library's function. */
struct function {
	const char *name;
	uintptr_t real, ours;
};

struct slot {
	uintptr_t *at;
	uintptr_t before;
	bool read_only;
};

static struct {
	int busy; /* 1: a thread owns the fields below (take()) */
	/* Threads that have not taken it read these fields, too, atomically: */
	int (*ask_level)(void), (*ask_teams)(void); /* functions of the runtime */
	unsigned long long loaded;		    /* objects loaded so far, at the last search for slots */
	unsigned int looks;
	/* Only the thread that has taken it uses these fields: */
	struct function functions[FUNCTIONS_MAX];
	size_t function_count;
	struct slot slots[SLOTS_MAX];
	size_t slot_count;
} attachment;

static bool take(void)
{
	return !__atomic_exchange_n(&attachment.busy, 1, __ATOMIC_ACQUIRE);
}

static void give_back(void)
{
	__atomic_store_n(&attachment.busy, 0, __ATOMIC_RELEASE);
}

/* In the child of a fork, no other thread owns the fields. */
static void in_child(void)
{
	give_back();
}

/* ---- objects ---------------------------------------------------------- */

/* dlclose() tells runtimes.c that an object may have been unloaded. */
static bool is_dlclose(const char *name)
{
	return name[0] == 'd' && !strcmp(name, "dlclose");
}

static bool is_entry_point(const char *name)
{
	return (name[0] == 'G' && !strncmp(name, "GOMP_", 5)) ||
	       (name[0] == '_' && !strncmp(name, "__kmpc_", 7)) ||
	       (name[0] == 'o' && !strncmp(name, "omp_", 4)) || is_dlclose(name);
}

/*
 * Whether the object has an undefined symbol of the runtime. Undefined symbols come first in the table; the
 * hash table says where they end.
 */
static bool calls_runtime(const struct loaded_object *o)
{
	size_t count = o->gnu_hash ? o->gnu_hash[1] : o->hash[1];

	for (size_t i = 1; i < count; i++)
		if (is_entry_point(o->names + o->symbols[i].st_name))
			return true;
	return false;
}

/* ---- functions -------------------------------------------------------- */

static struct function *find_function(const char *name)
{
	size_t low = 0, high = attachment.function_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(name, attachment.functions[middle].name);

		if (!order)
			return &attachment.functions[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* Adds a function in the order of names. An existing one is replaced. */
static void add_function(const char *name, uintptr_t ours)
{
	struct function *known = find_function(name);
	size_t at = attachment.function_count;

	if (known) {
		known->ours = ours;
		return;
	}
	if (attachment.function_count == FUNCTIONS_MAX)
		return;
	for (; at > 0 && strcmp(attachment.functions[at - 1].name, name) > 0; at--)
		attachment.functions[at] = attachment.functions[at - 1];
	attachment.functions[at] = (struct function){.name = name, .ours = ours};
	attachment.function_count++;
}

/*
 * Lists the functions that the library itself shows. The library is linked with a table that gives the
 * number of its symbols.
 */
static int list_own(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct loaded_object o;

	(void)size;
	(void)unused;
	if (!loaded_object__read(info, &o) || !loaded_object__has(&o, attachment.functions))
		return 0;
	for (uint32_t i = 1; o.hash && i < o.hash[1]; i++) {
		const char *name = o.names + o.symbols[i].st_name;

		if (o.symbols[i].st_shndx != SHN_UNDEF && is_entry_point(name))
			add_function(name, o.base + o.symbols[i].st_value);
	}
	return 1;
}

/* Without OMPT these functions record more than the library's other functions of the same names. */
static void list_attached(void)
{
	static const struct kmpc_entry *const lists[] = {kmpc_attached_tasks, kmpc_attached_taskloops,
							 kmpc_attached_teams, kmpc_attached_waits,
							 kmpc_attached_locks};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct kmpc_entry *entry = lists[i]; entry->name; entry++)
			add_function(entry->name, (uintptr_t)entry->function);
}

/* A league of one team looks like no league. */
static bool is_outside(void)
{
	int (*level)(void) = __atomic_load_n(&attachment.ask_level, __ATOMIC_RELAXED);
	int (*teams)(void) = __atomic_load_n(&attachment.ask_teams, __ATOMIC_RELAXED);

	return !level() && teams() <= 1;
}

static void know_functions(void *runtime)
{
	int (*level)(void), (*teams)(void);

	if (!attachment.function_count) {
		dl_iterate_phdr(list_own, NULL);
		list_attached();
	}
	for (size_t i = 0; i < attachment.function_count; i++)
		attachment.functions[i].real = (uintptr_t)dlsym(runtime, attachment.functions[i].name);
	level = (int (*)(void))(uintptr_t)dlsym(runtime, "omp_get_level");
	teams = (int (*)(void))(uintptr_t)dlsym(runtime, "omp_get_num_teams");
	if (level && teams) {
		__atomic_store_n(&attachment.ask_level, level, __ATOMIC_RELAXED);
		__atomic_store_n(&attachment.ask_teams, teams, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&shim_process.outside, level && teams ? is_outside : NULL, __ATOMIC_RELEASE);
}

/* ---- slots ------------------------------------------------------------ */

static int write_slot(uintptr_t *at, uintptr_t value, bool read_only)
{
	void *page = (void *)((uintptr_t)at & -(uintptr_t)PAGE);

	if (read_only && mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0)
		return -errno;
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
	if (read_only)
		mprotect(page, PAGE, PROT_READ);
	return 0;
}

/* The result of a search for slots. */
struct found {
	size_t calls; /* calls of the runtime that come to the library now */
	int error;
};

/*
 * The number of the slot at this address in an unloaded object, or the next free number. SLOTS_MAX: none is
 * left.
 */
static size_t number_of(const uintptr_t *at)
{
	size_t number = 0;

	while (number < attachment.slot_count && attachment.slots[number].at != at)
		number++;
	return number;
}

static void patch(const struct loaded_object *o, const Elf64_Rela *relocation, struct found *found)
{
	const Elf64_Sym *symbol = &o->symbols[ELF64_R_SYM(relocation->r_info)];
	uintptr_t *at = (uintptr_t *)(o->base + relocation->r_offset), value;
	struct slot slot = {.at = at,
			    .read_only = (uintptr_t)at >= o->guarded_from && (uintptr_t)at < o->guarded_to};
	const char *name = o->names + symbol->st_name;
	const struct function *function;
	size_t number;

	if (symbol->st_shndx != SHN_UNDEF || !is_entry_point(name))
		return;
	function = find_function(name);
	if (!function || !function->real)
		return;
	value = __atomic_load_n(at, __ATOMIC_ACQUIRE);
	/* This is so if the library was there from the program's start. */
	if (value == function->ours) {
		found->calls += !is_dlclose(name);
		return;
	}
	/* A slot that is not resolved yet leads into its own object. */
	if (value != function->real && (value < o->start || value >= o->end)) {
		if (!is_dlclose(name))
			found->error = -EXDEV;
		return;
	}
	number = number_of(at);
	if (number == SLOTS_MAX) {
		found->error = -E2BIG;
		return;
	}
	slot.before = value;
	/* This is stored before the slot is changed, so that the slot can be restored. */
	attachment.slots[number] = slot;
	found->error = write_slot(at, function->ours, slot.read_only);
	if (number == attachment.slot_count)
		attachment.slot_count += !found->error;
	found->calls += !found->error && !is_dlclose(name);
}

static int patch_object(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct found *found = argument;
	struct loaded_object o;

	(void)size;
	__atomic_store_n(&attachment.loaded, info->dlpi_adds, __ATOMIC_RELAXED);
	if (!loaded_object__read(info, &o) || !calls_runtime(&o) ||
	    loaded_object__has(&o, attachment.functions))
		return 0;
	for (size_t r = 0; r < 2; r++) {
		for (size_t i = 0; i < o.relocations[r].count && !found->error; i++) {
			const Elf64_Rela *relocation = &o.relocations[r].first[i];
			uint32_t type = ELF64_R_TYPE(relocation->r_info);

			if (type == IN_PLT || type == IN_TABLE)
				patch(&o, relocation, found);
		}
	}
	return found->error != 0;
}

/* Objects may have been unloaded since. The loader unmaps none while it calls this. */
static int restore_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct loaded_object o;

	(void)size;
	(void)unused;
	if (!loaded_object__read(info, &o))
		return 0;
	for (size_t i = 0; i < attachment.slot_count; i++) {
		uintptr_t *at = attachment.slots[i].at;
		uintptr_t ours = loaded_object__has(&o, at) ? *at : 0;

		for (size_t f = 0; ours && f < attachment.function_count; f++) {
			if (attachment.functions[f].ours != ours)
				continue;
			write_slot(at, attachment.slots[i].before, attachment.slots[i].read_only);
			break;
		}
	}
	return 0;
}

static void restore(void)
{
	dl_iterate_phdr(restore_object, NULL);
	attachment.slot_count = 0;
}

/* ---- sessions --------------------------------------------------------- */

static void be_idle(void)
{
	__atomic_store_n(&shim_process.look, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&shim_process.over, NULL, __ATOMIC_RELAXED);
	restore();
}

static void end_session(void)
{
	be_idle();
	connect__let_go();
	connect__hang_up();
}

/* The child of a fork gets no rings of its own. */
static void refused(void)
{
	if (!__atomic_load_n(&shim_process.over, __ATOMIC_RELAXED) || !take())
		return;
	be_idle();
	give_back();
}

/* Called by an event that finds the recording over. */
static void over(void)
{
	const struct shim_header *rings;
	struct caller_state callers;

	if (!take())
		return;
	callers = caller_state__save();
	rings = connect__rings();
	if (rings && shim__is_over(rings))
		end_session();
	caller_state__restore(callers);
	give_back();
}

static int count_objects(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)size;
	*(unsigned long long *)count = info->dlpi_adds;
	return 1;
}

static void look_for_graind(void)
{
	static uint64_t last;
	uint64_t now = shim__clock_ns();

	if (now - __atomic_load_n(&last, __ATOMIC_RELAXED) < GRAIND_EVERY_NS)
		return;
	__atomic_store_n(&last, now, __ATOMIC_RELAXED);
	if (connect__gone())
		shim__end(shim_process.header);
}

/* Called when a region begins: libraries that were loaded since then have slots, too. */
static void look(void)
{
	struct caller_state callers = caller_state__save();
	unsigned long long now = 0;
	struct found found = {0};

	look_for_graind();
	dl_iterate_phdr(count_objects, &now);
	if ((now != __atomic_load_n(&attachment.loaded, __ATOMIC_RELAXED) ||
	     __atomic_load_n(&attachment.looks, __ATOMIC_RELAXED) < LOOKS) &&
	    take()) {
		__atomic_store_n(&attachment.looks, attachment.looks + 1, __ATOMIC_RELAXED);
		if (connect__rings())
			dl_iterate_phdr(patch_object, &found);
		give_back();
	}
	caller_state__restore(callers);
}

/*
 * Connects to graind at `socket`. `runtime` is an address in the OpenMP runtime to record. Returns 0 or a
 * negative errno. -EAGAIN: not possible at the moment; -EALREADY, -EOPNOTSUPP: as libomp__attach().
 */
static int come(const char *socket, const void *runtime)
{
	uint32_t which = SHIM_RUNTIME_LIBGOMP;
	struct shim_header *header;
	Dl_info info;
	void *handle;
	int error = 0, state;

	state = __atomic_load_n(&shim_process.state, __ATOMIC_ACQUIRE);
	header = __atomic_load_n(&shim_process.header, __ATOMIC_ACQUIRE);
	if (state == SHIM_ASK || state == SHIM_ASKING ||
	    (state == SHIM_ON && !shim__is_over(header) && !connect__gone()))
		error = -EBUSY;
	if (!error && state == SHIM_ON)
		shim__end(header);
	if (!error && connect__rings())
		end_session();
	handle = !error && dladdr(runtime, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (!error && !handle)
		error = -ENOSYS;
	if (!error && dlsym(handle, "__kmpc_fork_call")) {
		which = SHIM_RUNTIME_LIBOMP;
		error = libomp__attach(info.dli_fbase);
	}
	if (!error) {
		know_functions(handle);
		error = connect__come(socket, which);
	}
	return error;
}

/* Records from now on if graind has answered. -EAGAIN: it has not answered yet. */
static int begin(void)
{
	struct found found = {0};
	struct shim_header *header;
	int error = connect__receive(&header);

	if (error) {
		if (error != -EAGAIN)
			connect__hang_up();
		return error;
	}
	dl_iterate_phdr(patch_object, &found);
	error = found.error;
	if (!error && !found.calls)
		error = -ENOENT;
	if (!error)
		error = connect__publish(header);
	if (error) {
		end_session();
	} else {
		__atomic_store_n(&attachment.looks, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&shim_process.over, over, __ATOMIC_RELAXED);
		__atomic_store_n(&shim_process.look, look, __ATOMIC_RELAXED);
	}
	return error;
}

static __attribute__((constructor)) void load(void)
{
	__atomic_store_n(&shim_process.refused, refused, __ATOMIC_RELAXED);
	__atomic_store_n(&shim_process.in_child, in_child, __ATOMIC_RELAXED);
}

EXPORT int grainshim_attach(const char *socket, const void *runtime)
{
	struct caller_state callers;
	int error;

	if (!take())
		return -EAGAIN;
	callers = caller_state__save();
	error = come(socket, runtime);
	caller_state__restore(callers);
	give_back();
	return error;
}

EXPORT int grainshim_begin(void)
{
	struct caller_state callers;
	int error;

	if (!take())
		return -EAGAIN;
	callers = caller_state__save();
	error = begin();
	caller_state__restore(callers);
	give_back();
	return error;
}
