// SPDX-License-Identifier: BSD-2-Clause
/* Plans in memory: whose they are, who waits for them, which of them go. */
#include "daemon/graind/plan/plan_memory.h"
#include "tests/unit/check.h"
#include "uprobes/make_plan/make_plan.h"
#include "uprobes/runtime/runtime_find.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#define LONG_MS 600000u /* nobody waits so long here */
#define LIKELY_US 50000 /* they wait by then, though nothing depends on it */
#define FOR_EVER UINT64_MAX

static atomic_bool unwanted;
static const struct uprobes_error no_error, bad = {.text = "it is no program"};

static struct plan_key of_user(uid_t account, uint64_t inode)
{
	return (struct plan_key){.account = account, .file = {.inode = inode, .size = 100}};
}

static struct plan_key of_system(uint64_t inode)
{
	return (struct plan_key){.shared = true, .file = {.inode = inode, .size = 100}};
}

static int find(const struct plan_key *key, struct cached_plan **entry)
{
	struct uprobes_error err;

	return plan_memory__find(key, 0, &unwanted, entry, &err);
}

/* One that nobody uses any more. */
static bool keep(struct plan_key key)
{
	struct cached_plan *entry;

	if (find(&key, &entry) != -EINPROGRESS)
		return false;
	plan_memory__made(entry, NULL, 0, FOR_EVER, &no_error);
	plan_memory__put(entry);
	return true;
}

/* Asking for what is not kept may push something else out: asked last. */
static bool is_kept(struct plan_key key)
{
	struct cached_plan *entry;
	int error = find(&key, &entry);

	if (error == -EINPROGRESS)
		plan_memory__made(entry, NULL, -ENOENT, 0, &no_error);
	if (!error || error == -EINPROGRESS)
		plan_memory__put(entry);
	return !error;
}

static void forget(struct plan_key key)
{
	struct cached_plan *entry;
	int error = find(&key, &entry);

	if (error == -EINPROGRESS)
		plan_memory__made(entry, NULL, -ENOENT, 0, &no_error);
	else if (!error)
		plan_memory__drop(entry);
	if (!error || error == -EINPROGRESS)
		plan_memory__put(entry);
}

struct asker {
	pthread_t thread;
	struct plan_key key;
	struct cached_plan *entry;
	struct uprobes_error err;
	int error;
};

static void *ask(void *argument)
{
	struct asker *asker = argument;

	asker->error = plan_memory__find(&asker->key, LONG_MS, &unwanted, &asker->entry, &asker->err);
	return NULL;
}

static void start(struct asker *asker, struct plan_key key)
{
	*asker = (struct asker){.key = key};
	pthread_create(&asker->thread, NULL, ask, asker);
}

static int result(struct asker *asker)
{
	pthread_join(asker->thread, NULL);
	return asker->error;
}

static void check_keys(void)
{
	const struct plan_key key = of_user(1000, 1);
	struct plan_key others[] = {key, key, key, key, key};
	struct cached_plan *made, *found;
	char library[4096];
	struct probe_plan *plan = NULL;
	size_t different = 0;

	others[0].account = 1001;
	others[1].shared = true;
	others[2].subject = PLAN_BODIES;
	others[3].offset = 4096;
	others[4].file.changed_ns = 1;
	CHECK(runtime_find__system(library, sizeof(library)) == 0 &&
		      probe_plan__create(library, &plan, NULL) == 0,
	      "there is a plan");
	CHECK(find(&key, &made) == -EINPROGRESS, "who asks first makes it");
	plan_memory__made(made, plan, 0, FOR_EVER, &no_error);
	CHECK(find(&key, &found) == 0 && found == made && plan_memory__plan(found) == plan,
	      "who asks next gets the same");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		different += !is_kept(others[i]);
	CHECK(different == 5, "but not for another account, purpose, place or content");
	plan_memory__drop(found);
	plan_memory__put(found);
	CHECK(!is_kept(key), "what was dropped is made anew");
	CHECK(plan_memory__plan(made) == plan && probe_plan__count(plan) > 0, "who has it keeps it");
	plan_memory__put(made);
}

static void check_remembered_failures(void)
{
	const struct plan_key key = of_user(1000, 2);
	struct uprobes_error err = {.text = ""};
	struct cached_plan *entry;

	find(&key, &entry);
	plan_memory__made(entry, NULL, -ENOEXEC, FOR_EVER, &bad);
	plan_memory__put(entry);
	CHECK(plan_memory__find(&key, 0, &unwanted, &entry, &err) == -ENOEXEC, "a failure is remembered");
	CHECK_STR(err.text, bad.text, "and what was said of it");
	entry = NULL;
	CHECK(find(&(struct plan_key){.account = 1000, .file = {.inode = 3}}, &entry) == -EINPROGRESS,
	      "another file is made");
	plan_memory__made(entry, NULL, -ETIMEDOUT, 1, &bad);
	plan_memory__put(entry);
	CHECK(find(&(struct plan_key){.account = 1000, .file = {.inode = 3}}, &entry) == -EINPROGRESS,
	      "a failure that is remembered for a while is made anew afterwards");
	plan_memory__made(entry, NULL, -EBUSY, 0, &bad);
	plan_memory__put(entry);
	CHECK(find(&(struct plan_key){.account = 1000, .file = {.inode = 3}}, &entry) == -EINPROGRESS,
	      "one that is not remembered at once");
	plan_memory__made(entry, NULL, 0, FOR_EVER, &no_error);
	plan_memory__put(entry);
	forget((struct plan_key){.account = 1000, .file = {.inode = 3}});
}

static void check_waiting(void)
{
	const struct plan_key key = of_user(1000, 4), other = of_user(1000, 5);
	struct cached_plan *entry, *none;
	struct asker one, two;

	find(&key, &entry);
	CHECK(find(&key, &none) == -EBUSY, "who does not wait for another one's is told so");
	start(&one, key);
	start(&two, key);
	usleep(LIKELY_US);
	plan_memory__made(entry, NULL, 0, FOR_EVER, &no_error);
	CHECK(result(&one) == 0 && one.entry == entry && result(&two) == 0 && two.entry == entry,
	      "who waits gets what is made");
	plan_memory__put(entry);
	plan_memory__put(entry);
	plan_memory__put(entry);
	forget(key);

	find(&key, &entry);
	find(&other, &none);
	start(&one, key);
	start(&two, other);
	usleep(LIKELY_US);
	atomic_store(&unwanted, true);
	plan_memory__wake();
	CHECK(result(&one) == -ECANCELED && result(&two) == -ECANCELED,
	      "what becomes unwanted does not wait");
	atomic_store(&unwanted, false);
	plan_memory__made(entry, NULL, -EBUSY, 0, &bad);
	plan_memory__put(entry);
	plan_memory__made(none, NULL, -EBUSY, 0, &bad);
	plan_memory__put(none);
}

static void check_bounds_of_user(void)
{
	struct cached_plan *making;
	size_t kept = 0;

	keep(of_user(2000, 1));
	for (uint64_t inode = 1; inode <= PLAN_MEMORY_OF_USER; inode++)
		keep(of_user(4000, inode));
	CHECK(is_kept(of_user(4000, 1)), "a user has %d plans", PLAN_MEMORY_OF_USER);
	keep(of_user(4000, PLAN_MEMORY_OF_USER + 1));
	kept = is_kept(of_user(4000, 1));
	for (uint64_t inode = 3; inode <= PLAN_MEMORY_OF_USER + 1; inode++)
		kept += is_kept(of_user(4000, inode));
	CHECK(kept == PLAN_MEMORY_OF_USER, "one more takes the place of one");
	CHECK(is_kept(of_user(2000, 1)), "but of no other user's");
	CHECK(!is_kept(of_user(4000, 2)), "of that which was not used for longest");
	for (uint64_t inode = 1; inode <= PLAN_MEMORY_OF_USER + 1; inode++)
		forget(of_user(4000, inode));
	forget(of_user(2000, 1));

	find(&(struct plan_key){.account = 4000, .file = {.inode = 1, .size = 100}}, &making);
	for (uint64_t inode = 2; inode <= 2 * PLAN_MEMORY_OF_USER; inode++)
		keep(of_user(4000, inode));
	plan_memory__made(making, NULL, 0, FOR_EVER, &no_error);
	plan_memory__put(making);
	CHECK(is_kept(of_user(4000, 1)), "what is being made keeps its place");
	for (uint64_t inode = 1; inode <= 2 * PLAN_MEMORY_OF_USER; inode++)
		forget(of_user(4000, inode));
}

static void check_bounds_of_all(void)
{
	const uid_t many = PLAN_MEMORY_OF_USERS / PLAN_MEMORY_OF_USER - 1;
	bool lost = false;
	size_t kept = 0;

	for (uint64_t inode = 1; inode <= PLAN_MEMORY_SHARED; inode++)
		keep(of_system(inode));
	/* Users with one, then others with as many as they may. */
	for (uid_t account = 1; account <= PLAN_MEMORY_OF_USER; account++)
		keep(of_user(100 + account, 1));
	for (uid_t account = 1; account <= many; account++)
		for (uint64_t inode = 1; inode <= PLAN_MEMORY_OF_USER; inode++)
			keep(of_user(1000 + account, inode));
	keep(of_user(5000, 1));
	kept += is_kept(of_user(5000, 1));
	for (uid_t account = 1; account <= PLAN_MEMORY_OF_USER; account++)
		kept += is_kept(of_user(100 + account, 1));
	CHECK(kept == 1 + PLAN_MEMORY_OF_USER,
	      "with %d of all users, one more is at the cost of who has most", PLAN_MEMORY_OF_USERS);
	for (uid_t account = 1; account <= many && !lost; account++)
		for (uint64_t inode = 1; inode <= PLAN_MEMORY_OF_USER && !lost; inode++)
			lost = !is_kept(of_user(1000 + account, inode));
	CHECK(lost, "of whom one is missing");
	kept = 0;
	for (uint64_t inode = 1; inode <= PLAN_MEMORY_SHARED; inode++)
		kept += is_kept(of_system(inode));
	CHECK(kept == PLAN_MEMORY_SHARED, "never of the system's");
	keep(of_system(PLAN_MEMORY_SHARED + 1));
	kept = is_kept(of_user(5000, 1));
	for (uid_t account = 1; account <= PLAN_MEMORY_OF_USER; account++)
		kept += is_kept(of_user(100 + account, 1));
	for (uint64_t inode = 2; inode <= PLAN_MEMORY_SHARED + 1; inode++)
		kept += is_kept(of_system(inode));
	CHECK(kept == 1 + PLAN_MEMORY_OF_USER + PLAN_MEMORY_SHARED,
	      "nor is one more of the system's at the cost of users'");
	CHECK(!is_kept(of_system(1)), "but of that which was not used for longest");
	for (uint64_t inode = 1; inode <= PLAN_MEMORY_SHARED + 1; inode++)
		forget(of_system(inode));
	for (uid_t account = 1; account <= many; account++)
		for (uint64_t inode = 1; inode <= PLAN_MEMORY_OF_USER; inode++)
			forget(of_user(1000 + account, inode));
	for (uid_t account = 1; account <= PLAN_MEMORY_OF_USER; account++)
		forget(of_user(100 + account, 1));
	forget(of_user(5000, 1));
}

static size_t count_like(struct plan_key key)
{
	struct cached_plan *like[PLAN_MEMORY_LIKE];
	size_t count = plan_memory__like(&key, like);

	for (size_t i = 0; i < count; i++)
		plan_memory__put(like[i]);
	return count;
}

static void check_likeness(void)
{
	struct plan_key other_size = of_user(3000, 1), of_bodies = of_user(3000, 2),
			failed = of_user(3000, 3), making = of_user(3000, 4);
	struct cached_plan *entry, *made;

	other_size.file.size++;
	of_bodies.subject = PLAN_BODIES;
	keep(other_size);
	keep(of_bodies);
	find(&failed, &entry);
	plan_memory__made(entry, NULL, -ENOEXEC, FOR_EVER, &bad);
	plan_memory__put(entry);
	find(&making, &made);
	CHECK(count_like(of_user(3000, 9)) == 0,
	      "none is like a file of another size, failed, being made or of bodies");
	plan_memory__made(made, NULL, 0, FOR_EVER, &no_error);
	plan_memory__put(made);
	CHECK(count_like(of_user(3000, 9)) == 1, "one of the same size is, once it is made");
	CHECK(count_like(of_user(3001, 9)) == 0 && count_like(of_system(9)) == 0, "for its user only");
	keep(of_system(1));
	CHECK(count_like(of_user(3000, 9)) == 2 && count_like(of_user(3001, 9)) == 1 &&
		      count_like(of_system(9)) == 1,
	      "the system's are for everybody");
	for (uint64_t inode = 2; inode <= PLAN_MEMORY_LIKE + 1; inode++)
		keep(of_system(inode));
	CHECK(count_like(of_system(20)) == PLAN_MEMORY_LIKE, "%d at most", PLAN_MEMORY_LIKE);
}

int main(void)
{
	check_keys();
	check_waiting();
	check_bounds_of_user();
	check_bounds_of_all();
	check_likeness();
	check_remembered_failures();
	CHECK_DONE();
}
