/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the text summary. Each writes its tables. It writes nothing if there is nothing to say. */
#ifndef GRAIND_RENDER_SUMMARY_H
#define GRAIND_RENDER_SUMMARY_H

#include "render/include/render_text.h"
#include "render/text/summary_writing.h"

/* The instances of one loop of the source. */
struct summary_loop {
	uint32_t definition, first;
	const char *schedule;
	bool hidden, sections;
	uint64_t instances, chunks, exec_ns, bookkeeping_ns;
	double worst; /* worst load balance; NAN: absent */
};
/*
 * Gathers the loops that were executed. The loop with the most execution time comes first. The caller frees
 * *out. Returns the number of loops.
 */
size_t summary__gather_loops(struct summary *summary, struct summary_loop **out);

void summary__totals(struct summary *summary);
/* Writes where the threads' time went, or why that is not known. */
void summary__account(struct summary *summary);
/*
 * Writes how much of the threads' time is lost, and the largest causes that fit. Returns false if there is no
 * account.
 */
bool summary__losses_line(const struct summary *summary, char *out, size_t size);
/* Writes what the program repeats. Writes nothing if hardly anything is. */
void summary__steps(struct summary *summary);
void summary__problems(struct summary *summary);
void summary__parallelism(struct summary *summary);
void summary__threads(struct summary *summary);
void summary__windows(struct summary *summary);
void summary__scheduler(struct summary *summary);
void summary__numa(struct summary *summary);
void summary__counters(struct summary *summary);
void summary__samples(struct summary *summary);
void summary__definitions(struct summary *summary);
/* Answers `count` questions, then the usual ones (grain_whatif.h). */
void summary__whatif(struct summary *summary, const struct grain_whatif_question *questions, size_t count);
void summary__tasks(struct summary *summary);
void summary__waits(struct summary *summary);
void summary__regions(struct summary *summary);
/* For long jobs: lists the regions that were kept. */
void summary__kept(struct summary *summary);
/* For long jobs: adds to a text which part of the run is shown. */
void summary__coverage(const struct summary *summary, struct format_text *text);
void summary__loops(struct summary *summary);
void summary__chunks(struct summary *summary);
void summary__locks(struct summary *summary);
void summary__depths(struct summary *summary);
void summary__losses(struct summary *summary);

#endif
