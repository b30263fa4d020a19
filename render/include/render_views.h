/* SPDX-License-Identifier: BSD-2-Clause */
/* The views of a picture and their names. */
#ifndef GRAIND_RENDER_VIEWS_H
#define GRAIND_RENDER_VIEWS_H

/*
 * What colours stand for. A problem view shows severity and dims everything else. A property view shows the
 * value of the property.
 */
enum render_view {
	RENDER_VIEW_PROBLEM, /* the worst available problem view */
	RENDER_VIEW_PARALLEL_BENEFIT,
	RENDER_VIEW_LOAD_BALANCE,
	RENDER_VIEW_WORK_DEVIATION,
	RENDER_VIEW_INSTANTANEOUS_PARALLELISM,
	RENDER_VIEW_SCATTER,
	RENDER_VIEW_MEMORY_HIERARCHY_UTILIZATION,
	RENDER_VIEW_CACHE_MISS_RATIO,
	RENDER_VIEW_DEFINITION,
	RENDER_VIEW_THREAD,
	RENDER_VIEW_NODE, /* NUMA node */
	RENDER_VIEW_TIME,
	RENDER_VIEW_COUNT
};

/* Finds the view with that name, such as "parallel_benefit". Returns 0, or -EINVAL for an unknown name. */
int render_view__parse(const char *name, enum render_view *out);
const char *render_view__name(enum render_view view);

#endif
