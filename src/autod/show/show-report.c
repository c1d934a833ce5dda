/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "auto.h"
#include "book-history.h"
#include "core.h"
#include "emit.h"
#include "errand.h"
#include "life.h"
#include "persist.h"
#include "settings.h"
#include "show.h"
#include "source.h"
#include "task.h"
#include "moment.h"
#include "worker.h"
#include "workspace.h"

#define DEADLINE_MS  (5 * 60 * 1000)
#define KEEP_DAYS    31
#define OWED_MAX     ((size_t)64 * 1024)
#define DOCUMENT_MAX ((size_t)256 * 1024)
#define DAY_MS       (24 * 3600 * (int64_t)1000)
#define DAY_LEN      10 /* "2026-01-31" */
#define LOG_MODE     0600
#define SAID_MAX     200 /* bytes of what a command said, in a sentence */

struct sending {
	struct show_report *report;
	char *name;
	struct errand *errand;
	LIST_ENTRY(sending) entry;
};

struct show_report {
	struct show_floor *show;
	bool begun;
	char *run; /* whose report is owed; NULL = of none */
	char *at; /* the time of day that next_ms is for; "" = none */
	int64_t next_ms; /* when the next one is due; 0 = never */
	LIST_HEAD(sendings, sending) sendings;
};

static const char *
setting(const struct show_report *r, const char *path)
{
	return settings_string(r->show->core->settings, path);
}

static void
load(struct show_report *r)
{
	cleanup_free char *file =
	    workspace_path(r->show->core->workspace, "report.json");
	cleanup_json struct json_object *json = NULL;

	if (json_load(file, OWED_MAX, &json, NULL) < 0)
		return;
	xstrset(&r->run, json_string_or(json, "run", NULL));
	xstrset(&r->at, json_string_or(json, "at", ""));
	r->next_ms = json_int_or(json, "next_ms", 0);
}

/* False: it cannot be written. */
static bool
save(const struct show_report *r)
{
	cleanup_free char *file =
	    workspace_path(r->show->core->workspace, "report.json");
	cleanup_json struct json_object *json = json_object_new_object();
	struct err err = { 0 };

	json_set_string(json, "run", r->run);
	json_set_string(json, "at", r->at);
	json_set_int(json, "next_ms", r->next_ms);
	if (json_save(file, json, 0600, &err) == 0)
		return true;
	log_info("report.json: %s", err.msg);
	return false;
}

/* --- sending --------------------------------------------------------- */

static char *
folder(const struct show_report *r)
{
	return workspace_path(r->show->core->workspace, "reports");
}

static char *
errands(const struct show_report *r)
{
	return workspace_path(r->show->core->workspace, "reports/sending");
}

static void
sending_free(struct sending *sending)
{
	LIST_REMOVE(sending, entry);
	errand_free(sending->errand);
	free(sending->name);
	free(sending);
}

static void
tell_failure(const struct show_report *r, const char *name, const char *words)
{
	cleanup_free char *receipt = xasprintf("report-%s", name);
	cleanup_free char *reason = xasprintf(
	    "%s; the report is in .llmc/reports/%s.html", words, name);

	emit(r->show->core,
	    &(struct event){ .kind = EVENT_REPORT_FAILED,
		.text = name,
		.reason = reason,
		.receipt = receipt });
}

/* Why it failed, with the end of what it said. */
static void
describe(const struct errand_result *result, struct buf *out)
{
	const struct buf *said =
	    result->err.len > 0 ? &result->err : &result->out;
	size_t len = said->len, from;

	buf_adds(out, "people.report_command ");
	if (result->timed_out)
		buf_adds(out, "took longer than 5 minutes");
	else if (result->lost)
		buf_adds(out, "was killed");
	else
		buf_addf(out, "exited with status %d", result->status);
	while (len > 0 && said->data[len - 1] == '\n')
		len--;
	from = len > SAID_MAX ? len - SAID_MAX : 0;
	if (len == 0)
		return;
	buf_adds(out, ": ");
	text_add_visible(out, said->data + from, len - from, false);
}

static void
on_sent(const struct errand_result *result, void *arg)
{
	struct sending *sending = arg;
	struct show_report *r = sending->report;
	cleanup_free char *dir = folder(r), *running = errands(r);
	cleanup_free char *log = xasprintf("%s/%s.log", dir, sending->name);
	cleanup_buf struct buf words = BUF_INIT, said = BUF_INIT;

	buf_add(&said, result->out.data, result->out.len);
	buf_add(&said, result->err.data, result->err.len);
	file_replace(log, said.data, said.len, LOG_MODE, NULL);
	if (result->status != 0) {
		describe(result, &words);
		tell_failure(r, sending->name, words.data);
	}
	/* Its files say that it was sent, until report.json does. */
	if (save(r))
		errand_forget(running, sending->name, NULL);
	sending_free(sending);
}

static void
tidy(const char *dir)
{
	cleanup_dir DIR *d = opendir(dir);
	int64_t oldest = clock_wall_ms() - KEEP_DAYS * DAY_MS;
	const char *name;
	struct stat st;

	while ((name = dir_next(d)) != NULL)
		if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) &&
		    (int64_t)st.st_mtim.tv_sec * 1000 < oldest)
			unlinkat(dirfd(d), name, 0);
}

static void
add_word(struct buf *out, const char *before, const char *word)
{
	buf_adds(out, before);
	text_add_shell(out, word);
}

/* Makes the report and runs the command with it. The daemon ends it at its
 * deadline; timeout(1) does so a minute later if the daemon is gone. */
static void
add_script(struct show_report *r, const char *name, const char *option,
    const char *value, struct buf *out)
{
	const struct core *core = r->show->core;
	cleanup_free char *dir = folder(r);
	cleanup_free char *html = xasprintf("%s/%s.html", dir, name);
	cleanup_free char *json = xasprintf("%s/%s.json", dir, name);

	add_word(out, "", core->llmc);
	add_word(out, " --root ", core->workspace->root);
	add_word(out, " report --json ", option);
	add_word(out, " ", value);
	add_word(out, " --html ", html);
	add_word(out, " >", json);
	add_word(out, " || exit\nLLMC_REPORT_HTML=", html);
	add_word(out,
	    "\nexport LLMC_REPORT_HTML\n"
	    "exec timeout -k 5 360 /bin/sh -c ",
	    setting(r, "people.report_command"));
	add_word(out, " <", json);
}

/* Begin one, or go on with what an earlier daemon began (command NULL). */
static int
send_by(struct show_report *r, const char *name, const char *command,
    struct err *err)
{
	const struct core *core = r->show->core;
	cleanup_free char *dir = errands(r);
	const struct errand_spec spec = {
		.dir = dir,
		.name = name,
		.command = command,
		.cwd = core->workspace->root,
		.deadline_ms = DEADLINE_MS,
	};
	struct sending *sending = xcalloc(1, sizeof *sending);
	int code;

	sending->report = r;
	code = command != NULL ? errand_start(core->loop, &spec, on_sent,
				     sending, &sending->errand, err) :
				 errand_adopt(core->loop, &spec, on_sent,
				     sending, &sending->errand, err);
	if (code < 0) {
		free(sending);
		return code;
	}
	sending->name = xstrdup(name);
	LIST_INSERT_HEAD(&r->sendings, sending, entry);
	return 0;
}

/* name: of its files; option and value: of llmc report. */
static void
send(struct show_report *r, const char *name, const char *option,
    const char *value)
{
	cleanup_free char *dir = folder(r), *running = errands(r);
	cleanup_buf struct buf command = BUF_INIT;
	struct err err = { 0 };
	int code = file_mkdirs(running, 0700, &err);

	tidy(dir);
	add_script(r, name, option, value, &command);
	if (code == 0)
		code = send_by(r, name, command.data, &err);
	if (code < 0 && code != -EEXIST) /* an earlier daemon has begun it */
		tell_failure(r, name, err.msg);
}

/* What an earlier daemon began and did not see end. */
static void
adopt_all(struct show_report *r)
{
	cleanup_free char *running = errands(r);
	cleanup_dir DIR *d = opendir(running);
	const char *file;

	while ((file = dir_next(d)) != NULL) {
		cleanup_free char *name = xstrdup(file);

		if (!text_ends(file, ".json"))
			continue;
		name[strlen(name) - strlen(".json")] = '\0';
		if (send_by(r, name, NULL, NULL) < 0)
			errand_forget(running, name, NULL);
	}
}

static bool
is_wanted(const struct show_report *r)
{
	return *setting(r, "people.report_command") != '\0';
}

/* The run is over: its report is owed no longer. */
static void
send_run(struct show_report *r)
{
	cleanup_free char *run = take_ptr(&r->run);

	if (is_wanted(r))
		send(r, run, "--run", run);
	save(r);
}

static void
plan_next(struct show_report *r, const char *at, int64_t now_ms)
{
	struct zone_time when = { .zone = "" };

	xstrset(&r->at, at);
	r->next_ms = 0;
	if (strlen(at) == strlen("07:00")) {
		when.hour = (at[0] - '0') * 10 + at[1] - '0';
		when.minute = (at[3] - '0') * 10 + at[4] - '0';
		r->next_ms = time_zone_next(&when, now_ms);
	}
}

void
show_report_patrol(struct show_report *r)
{
	const char *at = is_wanted(r) ? setting(r, "people.report_at") : "";
	const char *run = r->show->core->state.run_id;
	int64_t now = clock_wall_ms(), due = r->next_ms;

	if (!r->begun)
		return;
	/* Owed at the end of this run, also if that is wanted only now. */
	if (r->show->mode->active && run != NULL && r->run == NULL &&
	    is_wanted(r)) {
		xstrset(&r->run, run);
		save(r);
	}
	if (strcmp(at, r->at) != 0) {
		plan_next(r, at, now);
		save(r);
	} else if (due > 0 && now >= due) {
		int64_t oldest;
		int64_t from;
		char since[CLOCK_STAMP_SIZE], day[CLOCK_STAMP_SIZE];

		plan_next(r, at, now);
		/* Up to now: if no daemon ran when it was due, of more than
		 * a day. */
		oldest = now - KEEP_DAYS * DAY_MS;
		from = due - DAY_MS;
		clock_format_stamp(from > oldest ? from : oldest, since);
		clock_format_stamp(due, day);
		day[DAY_LEN] = '\0';
		send(r, day, "--since", since);
		save(r);
	}
}

/* --- the life of the floor ------------------------------------------- */

struct show_report *
show_report_new(struct show_floor *show)
{
	struct show_report *r = xcalloc(1, sizeof *r);

	r->show = show;
	r->at = xstrdup("");
	LIST_INIT(&r->sendings);
	return r;
}

void
show_report_free(struct show_report *r)
{
	struct sending *sending;

	if (r == NULL)
		return;
	while ((sending = LIST_FIRST(&r->sendings)) != NULL)
		sending_free(sending);
	free(r->run);
	free(r->at);
	free(r);
}

void
show_report_begin(struct show_report *r)
{
	const struct core *core = r->show->core;
	const char *run = r->show->mode->active ? core->state.run_id : NULL;

	if (core->options->oneshot)
		return;
	load(r);
	adopt_all(r);
	if (run != NULL && r->run != NULL && strcmp(r->run, run) != 0)
		send_run(r); /* it was killed */
	r->begun = true;
	show_report_patrol(r);
}

/* An overseer goes on with the run, unless it is complete or the overseer was
 * asked to stop. */
static bool
is_over(const struct core *core)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "overseer.json");
	cleanup_json struct json_object *overseer = NULL;

	return !life_is_overseen(core) || life_is_complete(core) ||
	    (json_load(file, DOCUMENT_MAX, &overseer, NULL) == 0 &&
		json_bool_or(overseer, "stopping", false));
}

void
show_report_close(struct show_report *r)
{
	const struct core *core = r->show->core;

	if (r->begun && r->run != NULL && core->state.run_id != NULL &&
	    strcmp(r->run, core->state.run_id) == 0 && is_over(core))
		send_run(r);
	r->begun = false;
}

/* A worker's spans that have ended since the daemon began. */
struct ended {
	char *worker; /* owned */
	int64_t ms[WORK_USE_COUNT];
};

struct show_spans {
	struct show_floor *show;
	struct work_span *open; /* owned; one for each worker */
	size_t count;
	struct ended *ended; /* owned; of workers that exist */
	size_t ended_count;
	bool begun;
};

/* --- recording ------------------------------------------------------- */

static void
record(const struct work_span *span, void *arg)
{
	struct show_spans *s = arg;
	struct core *core = s->show->core;

	book_file_span(core->book, span);
	counters_work(&core->state.counters, work_use_words[span->use],
	    span->to_ms - span->from_ms);
	persist_note(core);
}

static struct work_span *
find(struct show_spans *s, const char *worker)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->open[i].worker, worker) == 0)
			return &s->open[i];
	return NULL;
}

static struct ended *
find_ended(const struct show_spans *s, const char *worker)
{
	for (size_t i = 0; i < s->ended_count; i++)
		if (strcmp(s->ended[i].worker, worker) == 0)
			return &s->ended[i];
	return NULL;
}

static void
end(struct show_spans *s, struct work_span *span, int64_t now_ms)
{
	if (now_ms > span->from_ms) {
		struct ended *ended;

		span->to_ms = now_ms;
		record(span, s);
		ended = find_ended(s, span->worker);
		if (ended == NULL) {
			s->ended = xreallocarray(
			    s->ended, s->ended_count + 1, sizeof *s->ended);
			ended = &s->ended[s->ended_count++];
			*ended =
			    (struct ended){ .worker = xstrdup(span->worker) };
		}
		ended->ms[span->use] += span->to_ms - span->from_ms;
	}
	work_span_release(span);
	*span = s->open[--s->count];
}

/* Do tasks wait in the source although a worker is idle? It may be that nothing
 * may be spent any more. Saved, since another process may make a report. */
static void
look_at_source(struct show_spans *s)
{
	struct core *core = s->show->core;
	struct state *state = &core->state;
	cleanup_source_choice struct source_choice choice;
	bool idle = false;

	source_choice_init(&choice, core->settings, core->workspace, NULL);
	for (size_t i = 0; i < state->count; i++)
		idle = idle || state->workers[i]->status == WORKER_IDLE;
	if (!idle || !s->show->mode->active ||
	    (source_count_todo(choice.options.type, choice.options.where) >
		0) == state->source_waits)
		return;
	state->source_waits = !state->source_waits;
	persist_changed(core);
}

static bool
equal(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* What the worker does now is another span, or the same. One that began before
 * its status ends here, too: the state says no more about it
 * (book_open_spans()). */
static void
look_at(struct show_spans *s, const struct worker *w, bool queue, int64_t now)
{
	const struct state *state = &s->show->core->state;
	const struct task *task =
	    w->task != NULL ? state_task(state, w->task) : NULL;
	enum work_use use = work_use_of(worker_shown_words(w),
	    !worker_is_auto(w->name) || w->for_person, queue,
	    state->outage_since_unix != 0);
	int attempt = task != NULL ? task->attempts : 0;
	struct work_span *span = find(s, w->name);

	if (span != NULL && span->use == use && span->attempt == attempt &&
	    equal(span->task, w->task) &&
	    (w->since_ms <= span->from_ms || w->since_ms > now))
		return;
	if (span != NULL)
		end(s, span, now);
	s->open = xreallocarray(s->open, s->count + 1, sizeof *s->open);
	s->open[s->count++] = (struct work_span){
		.worker = xstrdup(w->name),
		.use = use,
		.task = w->task != NULL ? xstrdup(w->task) : NULL,
		.attempt = attempt,
		.from_ms = now,
	};
}

static void
look(struct show_spans *s)
{
	const struct state *state = &s->show->core->state;
	bool queue = state_has_queue(state);
	int64_t now = clock_wall_ms();

	for (size_t i = 0; i < state->count; i++)
		look_at(s, state->workers[i], queue, now);
}

static void
on_event(const struct event *event, void *arg)
{
	struct show_spans *s = arg;
	const struct state *state = &s->show->core->state;
	const struct worker *w;
	struct work_span *span;
	struct ended *ended;

	if (s->begun && event->kind == EVENT_TASKS_EXHAUSTED) {
		look_at_source(s);
		look(s);
	}
	if (!s->begun || event->worker == NULL)
		return;
	switch (event->kind) {
	case EVENT_WORKER_MOVED:
	case EVENT_TASK_ASSIGNED:
	case EVENT_REQUEST:
	case EVENT_REQUEST_ENDED:
		w = state_find(state, event->worker);
		if (w != NULL)
			look_at(s, w, state_has_queue(state), clock_wall_ms());
		break;
	case EVENT_WORKER_GONE:
		span = find(s, event->worker);
		if (span != NULL)
			end(s, span, clock_wall_ms());
		ended = find_ended(s, event->worker);
		if (ended != NULL) {
			free(ended->worker);
			*ended = s->ended[--s->ended_count];
		}
		break;
	default:
		break;
	}
}

/* --- the life of the spans --------------------------------------------- */

struct show_spans *
show_spans_new(struct show_floor *show)
{
	struct show_spans *s = xcalloc(1, sizeof *s);
	const struct core *core = show->core;

	s->show = show;
	if (core->state.daemon_running && !core->options->oneshot)
		book_open_spans(core->book, core->workspace, &core->state,
		    false, clock_wall_ms(), record, s);
	emit_subscribe(show->core, on_event, s);
	return s;
}

void
show_spans_free(struct show_spans *s)
{
	if (s == NULL)
		return;
	emit_unsubscribe(s->show->core, on_event, s);
	while (s->count > 0)
		work_span_release(&s->open[--s->count]);
	free(s->open);
	while (s->ended_count > 0)
		free(s->ended[--s->ended_count].worker);
	free(s->ended);
	free(s);
}

void
show_spans_begin(struct show_spans *s)
{
	s->begun = !s->show->core->options->oneshot;
	show_spans_patrol(s);
}

void
show_spans_patrol(struct show_spans *s)
{
	if (!s->begun)
		return;
	look_at_source(s);
	look(s);
}

void
show_spans_close(struct show_spans *s)
{
	int64_t now = clock_wall_ms();

	while (s->count > 0)
		end(s, &s->open[s->count - 1], now);
	s->begun = false;
}

void
show_spans_sum(const struct show_spans *s, int64_t now_ms, int64_t *uses)
{
	for (size_t i = 0; i < s->count; i++)
		if (now_ms > s->open[i].from_ms)
			uses[s->open[i].use] += now_ms - s->open[i].from_ms;
}

void
show_spans_fill(
    struct show_spans *s, const char *worker, struct json_object *row)
{
	const struct work_span *span = find(s, worker);
	const struct ended *ended = find_ended(s, worker);
	struct json_object *times = json_object_new_object();

	for (int i = 0; i < WORK_USE_COUNT; i++)
		if (ended != NULL && ended->ms[i] > 0)
			json_set_int(times, work_use_words[i], ended->ms[i]);
	json_set(row, "times", times);
	json_set_string(
	    row, "time_use", span != NULL ? work_use_words[span->use] : NULL);
	json_set(row, "time_from_ms",
	    span != NULL ? json_object_new_int64(span->from_ms) : NULL);
}
