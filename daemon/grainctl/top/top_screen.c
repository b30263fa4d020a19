/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/grainctl/top/top_screen.h"
#include "daemon/grainctl/client/server.h"
#include "daemon/grainctl/terminal/text.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Number of lines that are not jobs or threads: two about graind, titles, the job in words, the keys. */
#define FIXED_LINES 6
#define FIRST_MS 500
#define MIN_INTERVAL_MS 200
#define MAX_INTERVAL_MS 60000

struct screen {
	const struct ctl *ctl;
	struct top *top;
	struct top_settings settings;
	uint64_t chosen;     /* job number, 0: none */
	size_t first;	     /* job in the first line */
	size_t first_thread; /* thread in the first line */
	uint64_t asked;	     /* job that the user is asked to detach; 0: no question */
	char said[512];	     /* answer to the last key */
	bool help, utf8;
};

static const char *const help_lines[] = {
	"up, down, j, k      choose a job; PgUp, PgDn: a page",
	"<, >                the threads of the job before or after these",
	"s, r                sort by the next column; the other way round",
	"+, -                look more often, or less often",
	"d                   stop profiling the chosen job (asks first); its report stays",
	"space               look now",
	"q                   quit",
	"",
	"THR    threads of the largest team; CPUS  CPU time it takes a second",
	"PAR    average parallelism; while it runs, of the part that was looked at last",
	"GRN/S  tasks and loop chunks a second; EV/S  events recorded a second",
	"OVERH  part of the program's time that recording takes",
	"RUNS   part of the time that a thread runs; WAITS  is ready and another one runs",
	"PROBLEMS of a job that runs are what can be seen from outside, and those of",
	"       that part; when it has ended those of all: grainctl summary JOB",
};

static uint64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* Writes a line, and cuts it at the screen's edge. */
static void put_line(const struct screen *screen, int y, const char *text, size_t bytes, int look)
{
	char clean[1024], cut[1024];

	if (y < 0 || y >= LINES)
		return;
	snprintf(cut, sizeof(cut), "%.*s", (int)bytes, text);
	text__clean(clean, sizeof(clean), cut);
	clean[text__prefix(clean, (size_t)COLS)] = 0;
	/* A locale with single bytes cannot show other characters. */
	for (char *c = clean; !screen->utf8 && *c; c++) {
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	}
	attrset(look);
	move(y, 0);
	clrtoeol();
	addstr(clean);
	if (look & A_REVERSE)
		mvchgat(y, 0, -1, (attr_t)look, 0, NULL);
	attrset(A_NORMAL);
}

static size_t index_of(const struct screen *screen)
{
	for (size_t i = 0; i < screen->top->count; i++) {
		if (screen->top->jobs[i].job.number == screen->chosen)
			return i;
	}
	return SIZE_MAX;
}

/* Keeps the chosen job as long as it exists. */
static void keep_choice(struct screen *screen)
{
	if (index_of(screen) == SIZE_MAX) {
		screen->chosen = screen->top->count ? screen->top->jobs[0].job.number : 0;
		screen->first_thread = 0;
	}
}

/*
 * Draws a table's titles and as many lines from `first` on as fit into `room`. Shows the line `marked` as
 * chosen. Returns the number of lines used.
 */
static int put_table(const struct screen *screen, int y, int room, const char *text, size_t first,
		     size_t marked)
{
	size_t line = 0;
	int used = 0;

	for (const char *at = text; *at && used < room; line++) {
		const char *end = strchrnul(at, '\n');

		if (line == 0)
			put_line(screen, y + used++, at, (size_t)(end - at), A_BOLD | A_UNDERLINE);
		else if (line > first)
			put_line(screen, y + used++, at, (size_t)(end - at),
				 line - 1 == marked ? A_REVERSE : A_NORMAL);
		at = *end ? end + 1 : end;
	}
	return used;
}

static int draw_jobs(struct screen *screen, int y, int room)
{
	size_t at = index_of(screen), size, lines = room > 1 ? (size_t)room - 1 : 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	int error, used = 0;

	if (!out)
		return 0;
	error = top__print_jobs(screen->top, (unsigned)COLS, out);
	if (at != SIZE_MAX && at < screen->first)
		screen->first = at;
	if (at != SIZE_MAX && lines && at >= screen->first + lines)
		screen->first = at - lines + 1;
	if (screen->first + lines > screen->top->count)
		screen->first = screen->top->count > lines ? screen->top->count - lines : 0;
	if (fclose(out) == 0 && !error)
		used = put_table(screen, y, room, text, screen->first, at);
	free(text);
	return used;
}

static void draw_threads(struct screen *screen, int y, int room)
{
	size_t at = index_of(screen), size;
	const struct top_job *job = at == SIZE_MAX ? NULL : &screen->top->jobs[at];
	char *text = NULL, line[1024];
	FILE *out;

	if (!job || room < 1)
		return;
	top__describe(job, line, sizeof(line));
	put_line(screen, y++, line, strlen(line), A_BOLD);
	top__print_problems(job, line, sizeof(line));
	if (line[0] && --room > 0)
		put_line(screen, y++, line, strlen(line), A_NORMAL);
	if (job__is_over(&job->job))
		return;
	if (!job->thread_count) {
		snprintf(line, sizeof(line), "its threads cannot be seen from here");
		put_line(screen, y, line, strlen(line), A_NORMAL);
		return;
	}
	if (screen->first_thread >= job->thread_count)
		screen->first_thread = job->thread_count - 1;
	out = open_memstream(&text, &size);
	if (!out)
		return;
	if (top__print_threads(job, (unsigned)COLS, out) == 0 && fflush(out) == 0)
		put_table(screen, y, room - 1, text, screen->first_thread, SIZE_MAX);
	fclose(out);
	free(text);
}

static void draw_keys(const struct screen *screen)
{
	char line[512];

	if (screen->asked)
		snprintf(line, sizeof(line), "stop profiling job %llu? y: yes, any other key: no",
			 (unsigned long long)screen->asked);
	else if (screen->said[0])
		snprintf(line, sizeof(line), "%s", screen->said);
	else
		snprintf(line, sizeof(line), "q quit  d detach  s sort: %s%s  +/- every %.1f s  ? help",
			 top_order__name(screen->settings.order),
			 screen->settings.reverse ? ", reversed" : "", screen->settings.interval_ms / 1e3);
	put_line(screen, LINES - 1, line, strlen(line), A_REVERSE);
}

static void draw(struct screen *screen)
{
	char lines[2][512];
	int used, room = LINES - FIXED_LINES, part;

	erase();
	top__print_graind(screen->top, lines);
	put_line(screen, 0, lines[0], strlen(lines[0]), A_BOLD);
	put_line(screen, 1, lines[1], strlen(lines[1]), A_NORMAL);
	if (screen->help) {
		for (size_t i = 0; i < sizeof(help_lines) / sizeof(help_lines[0]) && (int)i + 3 < LINES - 1;
		     i++)
			put_line(screen, (int)i + 3, help_lines[i], strlen(help_lines[i]), A_NORMAL);
	} else if (screen->top->count) {
		/* If the screen has room for both tables, threads get at least half of it. */
		part = (int)screen->top->count < room / 2 ? (int)screen->top->count + 1 : room / 2 + 1;
		if (room < 6)
			part = room + 2;
		used = draw_jobs(screen, 3, part);
		draw_threads(screen, 4 + used, LINES - 1 - (4 + used));
	} else {
		const char *none = "no job runs here; grainctl attach PID or grainctl run -- CMD begin one";

		put_line(screen, 3, none, strlen(none), A_NORMAL);
	}
	draw_keys(screen);
	refresh();
}

static void choose(struct screen *screen, long by)
{
	size_t at = index_of(screen);
	long to;

	if (at == SIZE_MAX)
		return;
	to = (long)at + by;
	if (to < 0)
		to = 0;
	if (to >= (long)screen->top->count)
		to = (long)screen->top->count - 1;
	if (screen->chosen != screen->top->jobs[to].job.number)
		screen->first_thread = 0;
	screen->chosen = screen->top->jobs[to].job.number;
}

static void ask_detach(struct screen *screen)
{
	size_t at = index_of(screen);

	if (at == SIZE_MAX)
		return;
	if (job__is_over(&screen->top->jobs[at].job))
		snprintf(screen->said, sizeof(screen->said), "job %llu has ended already",
			 (unsigned long long)screen->chosen);
	else
		screen->asked = screen->chosen;
}

static void detach(struct screen *screen)
{
	char path[96], why[512], socket[108];
	json_t *json = NULL, *answer = NULL;
	uint64_t job = screen->asked;

	screen->asked = 0;
	snprintf(screen->said, sizeof(screen->said), "job %llu is being closed ...", (unsigned long long)job);
	draw(screen);
	snprintf(path, sizeof(path), "/v1/jobs/%llu/detach", (unsigned long long)job);
	if (job__find(screen->ctl, job, &json, socket, why) == CTL_DONE &&
	    server__call(socket[0] ? socket : screen->ctl->socket, "POST", path, NULL, &answer, why) ==
		    CTL_DONE)
		snprintf(screen->said, sizeof(screen->said), "job %llu has ended: grainctl summary %llu",
			 (unsigned long long)job, (unsigned long long)job);
	else
		snprintf(screen->said, sizeof(screen->said), "%.500s", why);
	json_decref(json);
	json_decref(answer);
}

static void set_interval(struct screen *screen, bool longer)
{
	unsigned *interval = &screen->settings.interval_ms;

	*interval = longer ? *interval * 2 : *interval / 2;
	if (*interval < MIN_INTERVAL_MS)
		*interval = MIN_INTERVAL_MS;
	if (*interval > MAX_INTERVAL_MS)
		*interval = MAX_INTERVAL_MS;
}

enum after { GO_ON, LOOK, QUIT };

/* Handles the answer to the question whether to detach the job. */
static enum after on_answer(struct screen *screen, int key)
{
	if (key == 'y' || key == 'Y') {
		detach(screen);
		return LOOK;
	}
	screen->asked = 0;
	return GO_ON;
}

static enum after on_key(struct screen *screen, int key)
{
	if (screen->asked)
		return on_answer(screen, key);
	screen->said[0] = 0;
	if (screen->help && key != 'q') {
		screen->help = false;
		return GO_ON;
	}
	switch (key) {
	case 'q':
	case 'Q':
		return QUIT;
	case KEY_UP:
	case 'k':
		choose(screen, -1);
		return GO_ON;
	case KEY_DOWN:
	case 'j':
		choose(screen, 1);
		return GO_ON;
	case KEY_PPAGE:
		choose(screen, -(LINES / 2));
		return GO_ON;
	case KEY_NPAGE:
		choose(screen, LINES / 2);
		return GO_ON;
	case '<':
		screen->first_thread -= screen->first_thread > 0;
		return GO_ON;
	case '>':
		screen->first_thread++;
		return GO_ON;
	case 's':
		screen->settings.order = (screen->settings.order + 1) % TOP_ORDERS;
		return GO_ON;
	case 'r':
		screen->settings.reverse = !screen->settings.reverse;
		return GO_ON;
	case '+':
		set_interval(screen, false);
		return GO_ON;
	case '-':
		set_interval(screen, true);
		return GO_ON;
	case 'd':
		ask_detach(screen);
		return GO_ON;
	case '?':
	case 'h':
		screen->help = true;
		return GO_ON;
	case ' ':
		return LOOK;
	case KEY_RESIZE:
		return GO_ON;
	default:
		return GO_ON;
	}
}

static int show(struct screen *screen)
{
	/* Rates need two updates. The caller has made the first one. */
	uint64_t next = now_ms() + FIRST_MS;
	int error = 0;

	for (;;) {
		uint64_t now = now_ms();
		enum after after = GO_ON;
		int key;

		if (now >= next) {
			error = top__look(screen->ctl, screen->top, screen->chosen);
			if (error)
				return error;
			next = now + screen->settings.interval_ms;
		}
		top__sort(screen->top, screen->settings.order, screen->settings.reverse);
		keep_choice(screen);
		draw(screen);
		now = now_ms();
		timeout(next > now ? (int)(next - now) : 0);
		key = getch();
		if (key != ERR)
			after = on_key(screen, key);
		if (after == QUIT)
			return 0;
		if (after == LOOK)
			next = 0;
		else if (key != ERR && next > now_ms() + screen->settings.interval_ms)
			next = now_ms() + screen->settings.interval_ms;
	}
}

int top_screen__run(const struct ctl *ctl, struct top *top, const struct top_settings *settings)
{
	struct screen screen = {.ctl = ctl, .top = top, .settings = *settings};
	SCREEN *terminal;
	int error;

	/* Sets only LC_CTYPE, so that numbers keep their form. */
	screen.utf8 = setlocale(LC_CTYPE, "") && MB_CUR_MAX > 1;
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return -ENOTTY;
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	error = show(&screen);
	endwin();
	delscreen(terminal);
	return error;
}
