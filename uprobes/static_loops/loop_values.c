// SPDX-License-Identifier: BSD-2-Clause
#include "uprobes/static_loops/loop_values.h"

#include <stdlib.h>
#include <string.h>

/* The most values of a function. A function with more values is not understood. */
#define VALUES_MAX (1u << 18)

struct values {
	struct value *list;
	uint32_t count, room;
	uint32_t *slots; /* hash table of numbers + 1 */
	uint32_t slot_count;
	struct atom *atoms; /* number 0 is not used */
	uint32_t atom_count, atom_room;
	uint32_t *atom_slots;
	uint32_t atom_slot_count;
};

struct values *values__new(void)
{
	struct values *values = calloc(1, sizeof(*values));

	if (values)
		values->atom_count = 1;
	return values;
}

void values__free(struct values *values)
{
	if (!values)
		return;
	free(values->list);
	free(values->slots);
	free(values->atoms);
	free(values->atom_slots);
	free(values);
}

void values__clear(struct values *values)
{
	values->count = 0;
	values->atom_count = 1;
	if (values->slots)
		memset(values->slots, 0, values->slot_count * sizeof(*values->slots));
	if (values->atom_slots)
		memset(values->atom_slots, 0, values->atom_slot_count * sizeof(*values->atom_slots));
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static uint32_t hash_value(const struct value *value)
{
	uint64_t hash = mix(value->count, (uint64_t)value->constant);

	for (uint32_t i = 0; i < value->count; i++) {
		hash = mix(hash, (uint64_t)value->terms[i].factor);
		for (int k = 0; k < VALUE_DEGREE; k++)
			hash = mix(hash, value->terms[i].atoms[k]);
	}
	return (uint32_t)(hash >> 16);
}

static bool same_value(const struct value *a, const struct value *b)
{
	if (a->constant != b->constant || a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->terms[i].factor != b->terms[i].factor ||
		    memcmp(a->terms[i].atoms, b->terms[i].atoms, sizeof(a->terms[i].atoms)) != 0)
			return false;
	return true;
}

static uint32_t hash_atom(const struct atom *atom)
{
	return (uint32_t)(mix(mix(mix(mix(0, atom->kind), atom->a), atom->b), atom->c) >> 16);
}

/*
 * Makes room for one more item, and for a hash table of at least twice as many slots. `put` puts the old
 * entries into it.
 */
static bool make_room(struct values *values)
{
	if (values->count == values->room) {
		uint32_t room = values->room ? 2 * values->room : 1024;
		struct value *list = reallocarray(values->list, room, sizeof(*list));

		if (!list)
			return false;
		values->list = list;
		values->room = room;
	}
	if (2 * (values->count + 1) > values->slot_count) {
		uint32_t count = values->slot_count ? 2 * values->slot_count : 4096;
		uint32_t *slots = calloc(count, sizeof(*slots));

		if (!slots)
			return false;
		for (uint32_t i = 0; i < values->count; i++) {
			uint32_t at = hash_value(&values->list[i]) & (count - 1);

			while (slots[at])
				at = (at + 1) & (count - 1);
			slots[at] = i + 1;
		}
		free(values->slots);
		values->slots = slots;
		values->slot_count = count;
	}
	return values->count < VALUES_MAX;
}

static uint32_t find_or_add(struct values *values, const struct value *value)
{
	uint32_t at;

	if (!make_room(values))
		return VALUE_NONE;
	at = hash_value(value) & (values->slot_count - 1);
	for (; values->slots[at]; at = (at + 1) & (values->slot_count - 1))
		if (same_value(&values->list[values->slots[at] - 1], value))
			return values->slots[at] - 1;
	values->list[values->count++] = *value;
	values->slots[at] = values->count;
	return values->count - 1;
}

uint32_t values__constant(struct values *values, int64_t constant)
{
	return find_or_add(values, &(struct value){.constant = constant});
}

static bool make_atom_room(struct values *values)
{
	if (values->atom_count >= values->atom_room) {
		uint32_t room = values->atom_room ? 2 * values->atom_room : 1024;
		struct atom *atoms = reallocarray(values->atoms, room, sizeof(*atoms));

		if (!atoms)
			return false;
		values->atoms = atoms;
		values->atom_room = room;
	}
	if (2 * (values->atom_count + 1) > values->atom_slot_count) {
		uint32_t count = values->atom_slot_count ? 2 * values->atom_slot_count : 4096;
		uint32_t *slots = calloc(count, sizeof(*slots));

		if (!slots)
			return false;
		for (uint32_t i = 1; i < values->atom_count; i++) {
			uint32_t at = hash_atom(&values->atoms[i]) & (count - 1);

			while (slots[at])
				at = (at + 1) & (count - 1);
			slots[at] = i;
		}
		free(values->atom_slots);
		values->atom_slots = slots;
		values->atom_slot_count = count;
	}
	return true;
}

uint32_t values__atom(struct values *values, enum atom_kind kind, uint32_t a, uint32_t b, uint32_t c)
{
	struct atom atom = {.kind = kind, .a = a, .b = b, .c = c};
	struct value value = {.count = 1, .terms = {{.factor = 1}}};
	uint32_t at;

	if (!make_atom_room(values))
		return VALUE_NONE;
	at = hash_atom(&atom) & (values->atom_slot_count - 1);
	for (; values->atom_slots[at]; at = (at + 1) & (values->atom_slot_count - 1)) {
		const struct atom *known = &values->atoms[values->atom_slots[at]];

		if (known->kind == kind && known->a == a && known->b == b && known->c == c)
			return known->value;
	}
	value.terms[0].atoms[0] = values->atom_count;
	atom.value = find_or_add(values, &value);
	if (atom.value == VALUE_NONE)
		return VALUE_NONE;
	values->atom_slots[at] = values->atom_count;
	values->atoms[values->atom_count++] = atom;
	return atom.value;
}

/* Adds a term. False: there are too many terms, or a number is too large. */
static bool add_term(struct value *to, const struct value_term *term, int64_t factor)
{
	int64_t product;
	uint32_t at = 0;
	int order = -1;

	if (__builtin_mul_overflow(term->factor, factor, &product))
		return false;
	for (; at < to->count; at++) {
		order = memcmp(to->terms[at].atoms, term->atoms, sizeof(term->atoms));
		if (order >= 0)
			break;
	}
	if (at < to->count && order == 0) {
		if (__builtin_add_overflow(to->terms[at].factor, product, &to->terms[at].factor))
			return false;
		if (to->terms[at].factor)
			return true;
		memmove(&to->terms[at], &to->terms[at + 1], (to->count - at - 1) * sizeof(to->terms[0]));
		memset(&to->terms[--to->count], 0, sizeof(to->terms[0]));
		return true;
	}
	if (!product)
		return true;
	if (to->count == VALUE_TERMS)
		return false;
	memmove(&to->terms[at + 1], &to->terms[at], (to->count - at) * sizeof(to->terms[0]));
	to->terms[at] = *term;
	to->terms[at].factor = product;
	to->count++;
	return true;
}

uint32_t values__add(struct values *values, uint32_t x, uint32_t y, int64_t factor)
{
	struct value sum;
	const struct value *by;
	int64_t constant;

	if (x == VALUE_NONE || y == VALUE_NONE)
		return VALUE_NONE;
	sum = values->list[x];
	by = &values->list[y];
	if (__builtin_mul_overflow(by->constant, factor, &constant) ||
	    __builtin_add_overflow(sum.constant, constant, &sum.constant))
		return VALUE_NONE;
	for (uint32_t i = 0; i < by->count; i++)
		if (!add_term(&sum, &by->terms[i], factor))
			return VALUE_NONE;
	return find_or_add(values, &sum);
}

/* The product's atoms. False: there are too many. */
static bool multiply_terms(const struct value_term *a, const struct value_term *b, struct value_term *out)
{
	int n = 0, i = 0, k = 0;

	*out = (struct value_term){0};
	if (__builtin_mul_overflow(a->factor, b->factor, &out->factor))
		return false;
	while ((i < VALUE_DEGREE && a->atoms[i]) || (k < VALUE_DEGREE && b->atoms[k])) {
		uint32_t x = i < VALUE_DEGREE ? a->atoms[i] : 0, y = k < VALUE_DEGREE ? b->atoms[k] : 0;

		if (n == VALUE_DEGREE)
			return false;
		out->atoms[n++] = x >= y ? x : y;
		i += x >= y;
		k += x < y;
	}
	return true;
}

uint32_t values__multiply(struct values *values, uint32_t x, uint32_t y)
{
	struct value product = {0}, a, b;

	if (x == VALUE_NONE || y == VALUE_NONE)
		return VALUE_NONE;
	a = values->list[x];
	b = values->list[y];
	if (__builtin_mul_overflow(a.constant, b.constant, &product.constant))
		return VALUE_NONE;
	for (uint32_t i = 0; i < a.count; i++)
		if (!add_term(&product, &a.terms[i], b.constant))
			return VALUE_NONE;
	for (uint32_t k = 0; k < b.count; k++)
		if (!add_term(&product, &b.terms[k], a.constant))
			return VALUE_NONE;
	for (uint32_t i = 0; i < a.count; i++)
		for (uint32_t k = 0; k < b.count; k++) {
			struct value_term term;

			if (!multiply_terms(&a.terms[i], &b.terms[k], &term) || !add_term(&product, &term, 1))
				return VALUE_NONE;
		}
	return find_or_add(values, &product);
}

const struct value *values__get(const struct values *values, uint32_t value)
{
	return &values->list[value];
}

bool values__is_constant(const struct values *values, uint32_t value, int64_t *constant)
{
	if (value == VALUE_NONE || values->list[value].count)
		return false;
	*constant = values->list[value].constant;
	return true;
}

const struct atom *values__is_atom(const struct values *values, uint32_t value)
{
	const struct value *v;

	if (value == VALUE_NONE)
		return NULL;
	v = &values->list[value];
	if (v->constant || v->count != 1 || v->terms[0].factor != 1 || v->terms[0].atoms[1])
		return NULL;
	return &values->atoms[v->terms[0].atoms[0]];
}

const struct atom *values__atom_of(const struct values *values, uint32_t atom)
{
	return &values->atoms[atom];
}

uint32_t values__base(struct values *values, uint32_t value, int64_t *constant)
{
	struct value base;

	if (value == VALUE_NONE)
		return VALUE_NONE;
	base = values->list[value];
	*constant = base.constant;
	base.constant = 0;
	return find_or_add(values, &base);
}

uint32_t values__narrow(const struct values *values, uint32_t value)
{
	uint32_t narrow = 0;

	if (value == VALUE_NONE)
		return 0;
	for (uint32_t i = 0; i < values->list[value].count * VALUE_DEGREE; i++) {
		const struct value_term *term = &values->list[value].terms[i / VALUE_DEGREE];
		const struct atom *atom = &values->atoms[term->atoms[i % VALUE_DEGREE]];

		if (term->atoms[i % VALUE_DEGREE] && atom->kind == ATOM_QUOTIENT && atom->c &&
		    (!narrow || atom->c < narrow))
			narrow = atom->c;
	}
	return narrow;
}
