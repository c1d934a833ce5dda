/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "history-private.h"
#include "book-history.h"
#include "book.h"
#include "schema.h"
#include "state.h"
#include "work-span.h"
#include "worker.h"
#include "workspace.h"

#define DOCUMENT_MAX ((size_t)256 * 1024)

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct work_span, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("worker", worker),
	FIELD("purpose", use, .words = work_use_words),
	FIELD("task", task),
	FIELD("attempt", attempt),
	FIELD("from_ms", from_ms),
	FIELD("to_ms", to_ms),
};

const struct book_table book_span = {
	.name = "span",
	.fields = fields,
	.count = nitems(fields),
	.keys = (const char *const[]){ "worker", "from_ms", "to_ms", NULL },
	.more_ddl = "CREATE INDEX IF NOT EXISTS span_to ON span (to_ms);",
};

/* When the daemon last wrote anything: one row. */
struct alive {
	const char *id;
	int64_t at_ms;
};

static const struct schema_field alive_fields[] = {
	BORROWED(struct alive, id),
	SCHEMA_FIELD(struct alive, "at_ms", at_ms),
};

const struct book_table book_alive = {
	.name = "alive",
	.fields = alive_fields,
	.count = nitems(alive_fields),
	.keys = (const char *const[]){ "id", NULL },
};

void
book_note_alive(struct book *book, int64_t at_ms)
{
	book_put(book, &book_alive,
	    &(struct alive){ .id = "daemon", .at_ms = at_ms });
}

void
book_file_span(struct book *book, const struct work_span *span)
{
	book_put(book, &book_span, span);
}

struct reading {
	struct book *book;
	book_span_fn *fn;
	void *arg;
};

static bool
on_row(struct book_row *row, void *arg)
{
	const struct reading *reading = arg;
	struct work_span span = { 0 };

	if (book_read(reading->book, &book_span, row, &span, NULL) == 0)
		reading->fn(&span, reading->arg);
	work_span_release(&span);
	return true;
}

int
book_read_spans(struct book *book, int64_t since_ms, book_span_fn *fn,
    void *arg, struct err *err)
{
	return book_query(book,
	    "SELECT s.* FROM span s WHERE s.to_ms >= $1 "
	    "ORDER BY s.to_ms, s.from_ms",
	    BOOK_VALUES(BOOK_I(since_ms)), on_row,
	    &(struct reading){ book, fn, arg }, err);
}

/* --- those that go on ---------------------------------------------------- */

static int64_t
member_of(const struct workspace *workspace, const char *name, const char *key)
{
	cleanup_free char *file = workspace_path(workspace, name);
	cleanup_json struct json_object *json = NULL;

	if (json_load(file, DOCUMENT_MAX, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return 0;
	return json_int_or(json, key, 0) * 1000;
}

int64_t
book_beat_ms(const struct workspace *workspace)
{
	return member_of(workspace, "auto.heartbeat", "timestamp_unix");
}

static int64_t
latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
alive_until(struct book *book, const struct workspace *workspace)
{
	int64_t saved = 0;

	book_get_int(
	    book, "SELECT max(a.at_ms) FROM alive a", NULL, 0, &saved, NULL);
	return latest(book_beat_ms(workspace), saved);
}

/* When the last span of each worker ended. While a daemon runs there are no
 * gaps between the spans of a worker: there what goes on began, before the last
 * change of its status or after it (a task began to wait, say). */
struct ends {
	const struct state *state;
	int64_t *at_ms; /* of each worker, 0 = none */
};

static void
on_ended(const struct work_span *span, void *arg)
{
	struct ends *ends = arg;

	for (size_t i = 0; i < ends->state->count; i++)
		if (span->to_ms > ends->at_ms[i] &&
		    strcmp(ends->state->workers[i]->name, span->worker) == 0)
			ends->at_ms[i] = span->to_ms;
}

void
book_open_spans(struct book *book, const struct workspace *workspace,
    const struct state *state, bool alive, int64_t now_ms, book_span_fn *fn,
    void *arg)
{
	int64_t begun = member_of(workspace, "daemon.json", "start_time_unix");
	int64_t end = alive ? now_ms : alive_until(book, workspace);
	bool queue = state_has_queue(state);
	cleanup_free int64_t *ends = xcalloc(state->count + 1, sizeof *ends);

	if (begun <= 0)
		return;
	book_read_spans(book, begun, on_ended,
	    &(struct ends){ .state = state, .at_ms = ends }, NULL);
	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];
		const struct task *task =
		    w->task != NULL ? state_task(state, w->task) : NULL;
		struct work_span span = {
			.worker = w->name,
			.use = work_use_of(worker_status_name(w->status),
			    !worker_is_auto(w->name), queue,
			    state->outage_since_unix != 0),
			.task = w->task,
			.attempt = task != NULL ? task->attempts : 0,
			.from_ms = latest(begun,
			    ends[i] > 0 ? latest(ends[i], w->created_ms) :
					  w->since_ms),
			.to_ms = end,
		};

		if (span.from_ms < end)
			fn(&span, arg);
	}
}
