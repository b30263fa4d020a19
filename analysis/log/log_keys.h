/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of one event line of a log. Used by log_event.c. */
#ifndef GRAIND_LOG_KEYS_H
#define GRAIND_LOG_KEYS_H

#include "analysis/base/fields.h"
#include "analysis/log/log_reader.h"

/* The values of the keys of one event line. */
enum key {
	KEY_TASK,
	KEY_REGION,
	KEY_LOOP,
	KEY_SRC,
	KEY_THREADS,
	KEY_NUM,
	KEY_FLAGS,
	KEY_ADDR,
	KEY_KIND,
	KEY_SCHED,
	KEY_LOWER,
	KEY_UPPER,
	KEY_STEP,
	KEY_CHUNK,
	KEY_WON,
	KEY_REASON,
	KEY_IP,
	KEY_COUNT,
	KEY_CAUSE,
	KEY_TROUBLE,
	KEY_TASKLOOP,
	KEY_POINT,
	KEY_UNSIGNED,
	KEY_BOUNDS,
	KEY_ORDERED,
	KEY_DOACROSS,
	KEY_NONMONOTONIC,
	KEY_DISTRIBUTE,
	KEY_STRIDE,
	KEY_OWN,
	KEY_PART,
	KEY_BY,
	KEY_READY,
	KEY_STACK,
	KEY_NODE,
	KEY_WHY,
	KEY_OF,
	KEY_MAX
};

struct keys {
	struct field field[KEY_MAX];
	uint64_t have; /* bit 1 << enum key */
};
_Static_assert(KEY_MAX <= 64, "a bit for each key");

static inline bool keys__have(const struct keys *keys, enum key key)
{
	return keys->have >> key & 1;
}

extern const char *const key_names[KEY_MAX];
enum key key__of(const struct field *f); /* KEY_MAX: unknown key */
int keys__bad_value(struct log_reader *r, enum key key, const struct field *f);

/*
 * Read the value of a key. If the line does not have the key, *out does not change. An invalid value is an
 * error that names the line.
 */
int keys__u64(struct log_reader *r, const struct keys *keys, enum key key, uint64_t *out);
int keys__i64(struct log_reader *r, const struct keys *keys, enum key key, int64_t *out, bool *has);
/*
 * keys__name() reads one name of a list that NULL ends. keys__bits() reads several names separated by commas,
 * or none.
 */
int keys__name(struct log_reader *r, const struct keys *keys, enum key key, const char *const *names,
	       uint8_t *out);
int keys__bits(struct log_reader *r, const struct keys *keys, enum key key, const char *const *names,
	       uint64_t *out);
/* Translates the file's number of a task, region, ... to an index, in the order of first appearance. */
int keys__index(struct log_reader *r, const struct keys *keys, enum key key, struct number_map *map,
		uint32_t *out);
/* Returns the index of the source in src=. Adds the source if it is not declared yet. */
int keys__source(struct log_reader *r, const struct keys *keys, uint32_t *out);
/* Reads a flag such as unsigned=1. */
int keys__flag(struct log_reader *r, const struct keys *keys, enum key key, bool *out);
/* Reads a bound of iterations. For an unsigned loop, *out gets the bits of a uint64_t. */
int keys__bound(struct log_reader *r, const struct keys *keys, enum key key, bool is_unsigned, void *out,
		bool *has);
int log_reader__index(struct log_reader *r, struct number_map *map, uint64_t number, uint32_t *out);

#endif
