// SPDX-License-Identifier: BSD-2-Clause
/*
 * Advice from the account: what no grain shows. Serial code, and CPUs that the program's threads do not get.
 * The account is exact, so each saves at most the lost time, spread over the threads.
 */
#include "analysis/advice/advice_text.h"
#include "analysis/advice/advisor.h"
#include "analysis/include/grain_account.h"

#include <string.h>

static double wall_of(const struct grain_account *a, uint64_t thread_ns)
{
	return (double)thread_ns / a->threads;
}

static double percent(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

/* Functions with less of the serial code than this are not said. Nor is any, if there are few samples. */
#define LEAST_SERIAL_SHARE 0.1
#define FUNCTIONS_SAID 3
#define LEAST_SERIAL_SAMPLES 10

static void write_function(char *out, size_t size, const struct grain_serial_function *f)
{
	if (f->line)
		snprintf(out, size, "%.100s (%.60s:%u)", f->function, f->file, f->line);
	else
		snprintf(out, size, "%.100s", f->function);
}

/* Adds to the finding in which functions the serial code is, and between which regions. */
static void name_serial_code(const struct advisor *a, const struct grain_serial *serial, struct advice *out)
{
	const struct grain_serial_gap *gap = serial->gap_count ? &serial->gaps[0] : NULL;
	const struct grain_serial_function *first = &serial->functions[0];
	size_t length = strlen(out->finding);
	char where[200];

	for (size_t i = 0; i < serial->function_count && i < FUNCTIONS_SAID; i++) {
		const struct grain_serial_function *f = &serial->functions[i];
		double share = (double)f->samples / (double)serial->samples;

		if (share < LEAST_SERIAL_SHARE || length >= sizeof(out->finding))
			break;
		write_function(where, sizeof(where), f);
		length += (size_t)snprintf(out->finding + length, sizeof(out->finding) - length,
					   "%s %.0f %% of it in %s", i ? "," : ";", 100 * share, where);
	}
	if (gap && gap->before != GRAIN_NONE && gap->after != GRAIN_NONE && length < sizeof(out->finding))
		snprintf(out->finding + length, sizeof(out->finding) - length,
			 "; %.0f %% between the regions at %.60s and %.60s",
			 percent((double)gap->ns, (double)serial->ns), advice__place(a->graph, gap->before),
			 advice__place(a->graph, gap->after));
	out->public.evidence.function = first->function;
	out->public.evidence.function_file = first->file;
	out->public.evidence.function_line = first->line;
	write_function(where, sizeof(where), first);
	snprintf(out->text, sizeof(out->text), "make %s parallel, and what else runs between the regions",
		 where);
}

static int serial_code(struct advisor *a, const struct grain_account *account)
{
	uint64_t lost = account->all.cause_ns[GRAIN_CAUSE_SERIAL];
	uint64_t work = account->all.cause_ns[GRAIN_CAUSE_SERIAL_WORK];
	const struct grain_serial *serial = grain_graph__serial(a->graph);
	struct advice *out;
	char worked[32];
	int error;

	if (wall_of(account, lost) < a->worth_ns || account->threads < 2)
		return 0;
	error = advisor__add(a, GRAIN_ADVICE_SERIAL_CODE, GRAIN_PROBLEM_COUNT, GRAIN_NONE,
			     wall_of(account, lost), &out);
	if (error < 0)
		return error;
	out->public.evidence.threads = account->threads;
	out->public.evidence.idle_percent = percent((double)lost, (double)account->all.capacity_ns);
	snprintf(out->finding, sizeof out->finding,
		 "outside of regions one thread works alone for %s, and %u %s nothing to do",
		 advice__time((double)work, worked), account->threads - 1,
		 account->threads == 2 ? "has" : "have");
	if (serial->samples >= LEAST_SERIAL_SAMPLES &&
	    (double)serial->functions[0].samples >= LEAST_SERIAL_SHARE * (double)serial->samples)
		name_serial_code(a, serial, out);
	else
		snprintf(out->text, sizeof out->text,
			 "make the code between the regions parallel; grainctl run --sample=997 shows which "
			 "functions it is");
	return 0;
}

static int without_cpu(struct advisor *a, const struct grain_account *account, enum grain_cause cause)
{
	bool own = cause == GRAIN_CAUSE_OVERSUBSCRIBED;
	uint64_t lost = account->all.cause_ns[cause];
	struct advice *out;
	int error;

	if (wall_of(account, lost) < a->worth_ns)
		return 0;
	error = advisor__add(a, own ? GRAIN_ADVICE_OVERSUBSCRIBED : GRAIN_ADVICE_OTHER_PROGRAMS,
			     GRAIN_PROBLEM_COUNT, GRAIN_NONE, wall_of(account, lost), &out);
	if (error < 0)
		return error;
	out->public.evidence.threads = account->threads;
	out->public.evidence.off_cpu_percent = percent((double)lost, (double)account->all.capacity_ns);
	advice__without_cpu(a->graph, own, (double)lost, out);
	return 0;
}

int advisor__losses(struct advisor *a)
{
	const struct grain_account *account = grain_graph__account(a->graph);
	int error;

	if (account->why || !account->all.capacity_ns)
		return 0;
	error = serial_code(a, account);
	if (error == 0)
		error = without_cpu(a, account, GRAIN_CAUSE_OVERSUBSCRIBED);
	if (error == 0)
		error = without_cpu(a, account, GRAIN_CAUSE_PREEMPTED);
	return error;
}
