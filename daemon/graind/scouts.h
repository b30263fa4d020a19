/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that do what takes time for one that must not wait: it asks, they work on what was handed to them
 * and on nothing else of the asker's, and it takes back what is done when it likes.
 */
#ifndef GRAIND_SCOUTS_H
#define GRAIND_SCOUTS_H

enum scout_turn {
	SCOUT_ORDINARY,
	SCOUT_URGENT,  /* before all that is ordinary */
	SCOUT_PATIENT, /* may wait for others for long; has threads of its own, and delays nothing else */
};

/* The head of what is handed over; between scouts__ask and scouts__take all of it is the scouts'. */
struct scout_work {
	void (*run)(struct scout_work *work);
	enum scout_turn turn;
	struct scout_work *next;
};

struct scouts;

/* What pthread_create() or eventfd() say, -ENOMEM. */
/* `patient`: further threads, for SCOUT_PATIENT. */
int scouts__new(unsigned int threads, unsigned int patient, struct scouts **out);
/* Readable when something is done. */
int scouts__fd(const struct scouts *scouts);
/* Begun in the order of asking. */
void scouts__ask(struct scouts *scouts, struct scout_work *work);
/* What is done, in the order of its end; NULL: nothing more. */
struct scout_work *scouts__take(struct scouts *scouts);
/*
 * Waits for what has begun. `drop` gets what has not, and what was not taken; NULL: the asker has it anyway.
 * Accepts NULL.
 */
void scouts__free(struct scouts *scouts, void (*drop)(struct scout_work *work));

#endif
