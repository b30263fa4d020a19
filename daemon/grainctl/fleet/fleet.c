/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/fleet/fleet.h"
#include "daemon/grainctl/fleet/prometheus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A node or job with at least this idle share is called idle. */
#define IDLE_PART 0.5
#define PREEMPTED_PART 0.1
#define COST_PART 0.05
#define GRAINS_PART 0.01

/* Indices of jobs and nodes in the arrays. jansson's objects serve as hash tables. */
struct asking {
	const char *url;
	char *why;
	struct fleet *fleet;
	json_t *nodes, *jobs;
};

/* Prometheus renames the label `job` of scraped metrics unless it is configured not to. */
static const char *job_number(const struct prometheus_sample *sample)
{
	const char *number = prometheus__label(sample, "exported_job");

	return *number ? number : prometheus__label(sample, "job");
}

static struct fleet_node *node_of(const struct asking *asking, const struct prometheus_sample *sample)
{
	const json_t *at = json_object_get(asking->nodes, prometheus__label(sample, "instance"));

	return at ? &asking->fleet->nodes[json_integer_value(at)] : NULL;
}

static void job_key(const struct prometheus_sample *sample, char out[320])
{
	snprintf(out, 320, "%.30s\n%.280s", job_number(sample), prometheus__label(sample, "instance"));
}

static struct fleet_job *job_of(const struct asking *asking, const struct prometheus_sample *sample)
{
	const json_t *at;
	char key[320];

	job_key(sample, key);
	at = json_object_get(asking->jobs, key);
	return at ? &asking->fleet->jobs[json_integer_value(at)] : NULL;
}

static enum ctl_exit no_memory(const struct asking *asking)
{
	snprintf(asking->why, 512, "out of memory");
	return CTL_FAILED;
}

static enum ctl_exit ask_nodes(struct asking *asking)
{
	struct fleet *fleet = asking->fleet;
	json_t *answer = NULL;
	enum ctl_exit exit = prometheus__query(asking->url, "up{job=\"graind\"}", &answer, asking->why);

	if (exit != CTL_DONE)
		return exit;
	fleet->nodes = calloc(json_array_size(answer) + 1, sizeof(*fleet->nodes));
	for (size_t i = 0; fleet->nodes && i < json_array_size(answer); i++) {
		struct fleet_node *node = &fleet->nodes[fleet->node_count];
		struct prometheus_sample sample;

		if (!prometheus__sample(answer, i, &sample) || node_of(asking, &sample))
			continue;
		*node = (struct fleet_node){.up = sample.value == 1,
					    .since = NAN,
					    .jobs = NAN,
					    .events_per_s = NAN,
					    .lost_per_s = NAN,
					    .cpus = NAN,
					    .memory = NAN};
		snprintf(node->name, sizeof(node->name), "%s", prometheus__label(&sample, "instance"));
		json_object_set_new(asking->nodes, prometheus__label(&sample, "instance"),
				    json_integer((json_int_t)fleet->node_count++));
	}
	json_decref(answer);
	return fleet->nodes ? CTL_DONE : no_memory(asking);
}

static enum ctl_exit ask_jobs(struct asking *asking)
{
	struct fleet *fleet = asking->fleet;
	json_t *answer = NULL;
	enum ctl_exit exit = prometheus__query(asking->url, "graind_job_info", &answer, asking->why);

	if (exit != CTL_DONE)
		return exit;
	fleet->jobs = calloc(json_array_size(answer) + 1, sizeof(*fleet->jobs));
	for (size_t i = 0; fleet->jobs && i < json_array_size(answer); i++) {
		struct fleet_job *job = &fleet->jobs[fleet->job_count];
		struct prometheus_sample sample;
		char key[320];

		if (!prometheus__sample(answer, i, &sample) || job_of(asking, &sample))
			continue;
		*job = (struct fleet_job){.running = NAN,
					  .threads = NAN,
					  .parallelism = NAN,
					  .preempted = NAN,
					  .grains_per_s = NAN,
					  .events_per_s = NAN,
					  .overhead = NAN,
					  .lost = NAN,
					  .since = NAN};
		snprintf(job->node, sizeof(job->node), "%s", prometheus__label(&sample, "instance"));
		snprintf(job->number, sizeof(job->number), "%s", job_number(&sample));
		snprintf(job->user, sizeof(job->user), "%s", prometheus__label(&sample, "user"));
		snprintf(job->command, sizeof(job->command), "%s", prometheus__label(&sample, "command"));
		snprintf(job->runtime, sizeof(job->runtime), "%s", prometheus__label(&sample, "runtime"));
		job_key(&sample, key);
		json_object_set_new(asking->jobs, key, json_integer((json_int_t)fleet->job_count++));
	}
	json_decref(answer);
	return fleet->jobs ? CTL_DONE : no_memory(asking);
}

static void take_version(void *owner, const struct prometheus_sample *sample)
{
	struct fleet_node *node = owner;

	snprintf(node->version, sizeof(node->version), "%s", prometheus__label(sample, "version"));
}

static void add_problem(struct fleet_job *job, const char *name, double share)
{
	size_t at;

	if (job->problem_count == FLEET_PROBLEMS)
		return;
	for (at = job->problem_count++; at > 0 && job->problems[at - 1].share < share; at--)
		job->problems[at] = job->problems[at - 1];
	snprintf(job->problems[at].name, sizeof(job->problems[at].name), "%s", name);
	job->problems[at].share = share;
}

static void take_problem(void *owner, const struct prometheus_sample *sample)
{
	if (sample->value >= GRAINS_PART)
		add_problem(owner, prometheus__label(sample, "problem"), sample->value);
}

/* Takes the earliest known time. */
static void take_since(void *owner, const struct prometheus_sample *sample)
{
	struct fleet_job *job = owner;

	if (!(job->since <= sample->value))
		job->since = sample->value;
}

/* Takes the latest known time. */
static void take_down(void *owner, const struct prometheus_sample *sample)
{
	struct fleet_node *node = owner;

	if (!(node->since >= sample->value))
		node->since = sample->value;
}

/* The time at which nodes that are down were last seen up. */
#define SEEN_UP(range)                                                                                       \
	"max_over_time(timestamp(up{job=\"graind\"} == 1)" range ") and on (instance) up{job=\"graind\"} "   \
	"== 0"

/*
 * A question whose answers are numbers for nodes or jobs. It has the member that gets the number, or the
 * function that takes it.
 */
struct question {
	const char *expression;
	bool of_jobs;
	size_t offset;
	void (*take)(void *owner, const struct prometheus_sample *sample);
};

static const struct question questions[] = {
	{"sum by (instance) (graind_jobs)", false, offsetof(struct fleet_node, jobs), NULL},
	{"sum by (instance) (rate(graind_events_total[5m]))", false,
	 offsetof(struct fleet_node, events_per_s), NULL},
	{"sum by (instance) (rate(graind_lost_events_total[5m]))", false,
	 offsetof(struct fleet_node, lost_per_s), NULL},
	{"sum by (instance) (rate(graind_cpu_seconds_total[5m]))", false, offsetof(struct fleet_node, cpus),
	 NULL},
	{"graind_resident_memory_bytes", false, offsetof(struct fleet_node, memory), NULL},
	{SEEN_UP("[1d:5m]"), false, 0, take_down},
	{SEEN_UP("[10m:5s]"), false, 0, take_down},
	{"graind_build_info", false, 0, take_version},
	{"graind_job_running", true, offsetof(struct fleet_job, running), NULL},
	{"graind_job_threads", true, offsetof(struct fleet_job, threads), NULL},
	{"graind_job_average_parallelism", true, offsetof(struct fleet_job, parallelism), NULL},
	{"graind_job_preempted_ratio", true, offsetof(struct fleet_job, preempted), NULL},
	{"rate(graind_job_grains_total[1m])", true, offsetof(struct fleet_job, grains_per_s), NULL},
	{"graind_job_events_per_second", true, offsetof(struct fleet_job, events_per_s), NULL},
	{"graind_job_overhead_ratio", true, offsetof(struct fleet_job, overhead), NULL},
	{"graind_job_lost_events_total", true, offsetof(struct fleet_job, lost), NULL},
	{"graind_job_problem_ratio", true, 0, take_problem},
	/* Uses coarse steps for old jobs and fine steps for new jobs. */
	{"min_over_time(timestamp(graind_job_info)[1d:5m])", true, 0, take_since},
	{"min_over_time(timestamp(graind_job_info)[10m:15s])", true, 0, take_since},
};

static enum ctl_exit ask(const struct asking *asking, const struct question *question)
{
	json_t *answer = NULL;
	enum ctl_exit exit = prometheus__query(asking->url, question->expression, &answer, asking->why);

	for (size_t i = 0; exit == CTL_DONE && i < json_array_size(answer); i++) {
		struct prometheus_sample sample;
		void *owner;

		if (!prometheus__sample(answer, i, &sample))
			continue;
		owner = question->of_jobs ? (void *)job_of(asking, &sample)
					  : (void *)node_of(asking, &sample);
		if (owner && question->take)
			question->take(owner, &sample);
		else if (owner)
			*(double *)((char *)owner + question->offset) = sample.value;
	}
	json_decref(answer);
	return exit;
}

static void judge(struct fleet_job *job)
{
	/* The job is over, and so are the rates of its last second. */
	if (job->running != 1)
		job->grains_per_s = job->events_per_s = NAN;
	if (job->threads > 1 && job->parallelism < job->threads * IDLE_PART)
		add_problem(job, "idle threads", 1 - job->parallelism / job->threads);
	if (job->preempted > PREEMPTED_PART)
		add_problem(job, "preempted", job->preempted);
	if (job->overhead > COST_PART)
		add_problem(job, "cost of recording", job->overhead);
}

static double worst(const struct fleet_job *job)
{
	return job->problem_count ? job->problems[0].share : 0;
}

static int compare_jobs(const void *a, const void *b)
{
	const struct fleet_job *left = a, *right = b;
	double difference = worst(right) - worst(left);
	int node = strcmp(left->node, right->node);

	if (difference > 0 || difference < 0)
		return difference > 0 ? 1 : -1;
	return node ? node : strverscmp(left->number, right->number);
}

static double known(double value)
{
	return isfinite(value) ? value : 0;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct fleet_node *left = a, *right = b;
	double difference = known(right->lost_per_s) - known(left->lost_per_s);

	if (left->up != right->up)
		return left->up ? 1 : -1;
	if (!(difference > 0 || difference < 0))
		difference = known(right->cpus) - known(left->cpus);
	if (difference > 0 || difference < 0)
		return difference > 0 ? 1 : -1;
	return strverscmp(left->name, right->name);
}

enum ctl_exit fleet__ask(const char *url, struct fleet *out, char why[512])
{
	struct timespec now;
	struct asking asking = {url, why, out, json_object(), json_object()};
	enum ctl_exit exit;

	clock_gettime(CLOCK_REALTIME, &now);
	*out = (struct fleet){.now = (double)now.tv_sec + (double)now.tv_nsec / 1e9};
	exit = ask_nodes(&asking);
	if (exit == CTL_DONE)
		exit = ask_jobs(&asking);
	for (size_t i = 0; exit == CTL_DONE && i < sizeof(questions) / sizeof(questions[0]); i++)
		exit = ask(&asking, &questions[i]);
	json_decref(asking.nodes);
	json_decref(asking.jobs);
	if (exit != CTL_DONE) {
		fleet__free(out);
		return exit;
	}
	for (size_t i = 0; i < out->job_count; i++)
		judge(&out->jobs[i]);
	qsort(out->nodes, out->node_count, sizeof(*out->nodes), compare_nodes);
	qsort(out->jobs, out->job_count, sizeof(*out->jobs), compare_jobs);
	return CTL_DONE;
}

void fleet__free(struct fleet *fleet)
{
	free(fleet->nodes);
	free(fleet->jobs);
	*fleet = (struct fleet){0};
}
