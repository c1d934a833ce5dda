/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "auto.h"
#include "book-history.h"
#include "core.h"
#include "emit.h"
#include "show.h"
#include "persist.h"
#include "source.h"
#include "task.h"
#include "worker.h"

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
	enum work_use use = work_use_of(worker_status_name(w->status),
	    !worker_is_auto(w->name), queue, state->outage_since_unix != 0);
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

/* --- the life of the floor ------------------------------------------- */

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
