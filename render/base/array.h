/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays that grow. */
#ifndef GRAIND_RENDER_ARRAY_H
#define GRAIND_RENDER_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Grows *array so that it holds more than `count` elements. Returns false if out of memory. */
bool array__reserve(void **array, size_t *capacity, size_t count, size_t element);

#endif
