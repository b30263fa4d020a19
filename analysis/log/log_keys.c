// SPDX-License-Identifier: BSD-2-Clause
/* Keys of event lines, their values, and the file's numbers as indices. */
#include "analysis/log/log_keys.h"

#include <string.h>

const char *const key_names[KEY_MAX] = {
	"task",	   "region",   "loop",	       "src",	     "threads",	 "num",	  "flags",    "addr",
	"kind",	   "sched",    "lower",	       "upper",	     "step",	 "chunk", "won",      "reason",
	"ip",	   "count",    "cause",	       "trouble",    "taskloop", "point", "unsigned", "bounds",
	"ordered", "doacross", "nonmonotonic", "distribute", "stride",	 "own",	  "part",     "by",
	"ready",   "stack",    "node",	       "why",	     "of"};

int keys__bad_value(struct log_reader *r, enum key key, const struct field *f)
{
	return log_reader__broken(r, "%s=\"%.*s\" is not a value that %s can have", key_names[key],
				  (int)(f->value_bytes < 60 ? f->value_bytes : 60), f->value, key_names[key]);
}

enum key key__of(const struct field *f)
{
	for (int i = 0; i < KEY_MAX; i++) {
		if (key_names[i][0] == f->key[0] && field__is(f, key_names[i]))
			return (enum key)i;
	}
	return KEY_MAX;
}

int keys__u64(struct log_reader *r, const struct keys *keys, enum key key, uint64_t *out)
{
	if (!keys__have(keys, key) || field__u64(&keys->field[key], out))
		return 0;
	return keys__bad_value(r, key, &keys->field[key]);
}

int keys__i64(struct log_reader *r, const struct keys *keys, enum key key, int64_t *out, bool *has)
{
	if (!keys__have(keys, key))
		return 0;
	if (!field__i64(&keys->field[key], out))
		return keys__bad_value(r, key, &keys->field[key]);
	if (has)
		*has = true;
	return 0;
}

int keys__name(struct log_reader *r, const struct keys *keys, enum key key, const char *const *names,
	       uint8_t *out)
{
	if (!keys__have(keys, key))
		return 0;
	for (uint8_t i = 0; names[i]; i++) {
		if (field__value_is(&keys->field[key], names[i])) {
			*out = i;
			return 0;
		}
	}
	return keys__bad_value(r, key, &keys->field[key]);
}

int keys__bits(struct log_reader *r, const struct keys *keys, enum key key, const char *const *names,
	       uint64_t *out)
{
	const struct field *f = &keys->field[key];
	const char *p, *end;

	if (!keys__have(keys, key) || field__value_is(f, "none"))
		return 0;
	p = f->value;
	end = p + f->value_bytes;
	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		struct field item = {.value = p, .value_bytes = (size_t)((comma ? comma : end) - p)};
		unsigned i = 0;

		while (names[i] && !field__value_is(&item, names[i]))
			i++;
		if (!names[i])
			return keys__bad_value(r, key, f);
		*out |= 1u << i;
		p = comma ? comma + 1 : end;
	}
	return 0;
}

int log_reader__index(struct log_reader *r, struct number_map *map, uint64_t number, uint32_t *out)
{
	uint32_t index = number_map__get(map, number);
	int error;

	if (index == GRAIN_NONE) {
		index = (uint32_t)map->used;
		error = budget__take(&r->budget, 4 * sizeof(struct number_map_slot));
		if (!error)
			error = number_map__put(map, number, index);
		if (error)
			return error;
	}
	*out = index;
	return 0;
}

int keys__index(struct log_reader *r, const struct keys *keys, enum key key, struct number_map *map,
		uint32_t *out)
{
	uint64_t number;

	if (!keys__have(keys, key))
		return 0;
	if (!field__u64(&keys->field[key], &number))
		return keys__bad_value(r, key, &keys->field[key]);
	return log_reader__index(r, map, number, out);
}

int keys__source(struct log_reader *r, const struct keys *keys, uint32_t *out)
{
	struct event_source later = {0};
	uint32_t number;
	int error;

	if (!keys__have(keys, KEY_SRC))
		return 0;
	if (!field__u32(&keys->field[KEY_SRC], &number) || number == GRAIN_NONE)
		return keys__bad_value(r, KEY_SRC, &keys->field[KEY_SRC]);
	*out = number_map__get(&r->sources, number);
	if (*out != GRAIN_NONE)
		return 0;
	later.number = number;
	*out = (uint32_t)r->stream->source_count;
	error = log_reader__add_source(r, &later, r->line);
	return error;
}

int keys__flag(struct log_reader *r, const struct keys *keys, enum key key, bool *out)
{
	uint64_t value = 0;
	int error = keys__u64(r, keys, key, &value);

	if (!error && value > 1)
		return keys__bad_value(r, key, &keys->field[key]);
	*out = value;
	return error;
}

int keys__bound(struct log_reader *r, const struct keys *keys, enum key key, bool is_unsigned, void *out,
		bool *has)
{
	if (!is_unsigned)
		return keys__i64(r, keys, key, out, has);
	if (!keys__have(keys, key))
		return 0;
	if (has)
		*has = true;
	return keys__u64(r, keys, key, out);
}
