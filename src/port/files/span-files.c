/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "counters.h"
#include "errtext.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "moment.h"
#include "span-files.h"
#include "work-span.h"
#include "state.h"
#include "worker.h"
#include "workspace.h"

#define DAY_LEN      10 /* "2026-01-31" */
#define DAY_MS       (24 * 3600 * (int64_t)1000)
#define DOCUMENT_MAX ((size_t)256 * 1024)

static char *
file_of(const struct workspace *workspace, int64_t at_ms)
{
	cleanup_free char *dir = workspace_path(workspace, "spans");
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_stamp(at_ms, stamp);
	return xasprintf("%s/%.*s.jsonl", dir, DAY_LEN, stamp);
}

/* When its day begins; false: it is no file of ours. */
static bool
day_of(const char *name, int64_t *ret_ms)
{
	char stamp[CLOCK_STAMP_SIZE];

	if (strlen(name) != DAY_LEN + strlen(".jsonl") ||
	    strcmp(name + DAY_LEN, ".jsonl") != 0)
		return false;
	snprintf(stamp, sizeof stamp, "%.*sT00:00:00.000Z", DAY_LEN, name);
	return moment_parse(stamp, ret_ms);
}

static int
make_dir(const struct workspace *workspace, struct err *err)
{
	cleanup_free char *dir = workspace_path(workspace, "spans");

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return err_set(err, -errno, "%s", dir);
	return 0;
}

int
span_files_add(const struct workspace *workspace, const struct work_span *span,
    struct err *err)
{
	cleanup_free char *file = file_of(workspace, span->to_ms);
	cleanup_json struct json_object *json = work_span_to_json(span);
	int r = make_dir(workspace, err);

	return r < 0 ? r : jsonl_append(file, json, 0, 0, err);
}

/* --- reading --------------------------------------------------------- */

struct reading {
	int64_t since_ms;
	span_files_fn *fn;
	void *arg;
};

static bool
on_record(struct json_object *record, void *arg)
{
	const struct reading *reading = arg;
	struct work_span span;

	if (!work_span_from_json(record, &span))
		return true;
	if (span.to_ms >= reading->since_ms)
		reading->fn(&span, reading->arg);
	work_span_release(&span);
	return true;
}

void
span_files_read(const struct workspace *workspace, int64_t since_ms,
    int64_t now_ms, span_files_fn *fn, void *arg)
{
	struct reading reading = { .since_ms = since_ms, .fn = fn, .arg = arg };
	int64_t oldest = now_ms - SPAN_KEEP_DAYS * DAY_MS;

	for (int64_t at = since_ms > oldest ? since_ms : oldest;
	     at / DAY_MS <= now_ms / DAY_MS; at += DAY_MS) {
		cleanup_free char *file = file_of(workspace, at);

		jsonl_last(file, 0, on_record, &reading, NULL);
	}
}

/* --- those that go on ------------------------------------------------ */

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
span_files_beat_ms(const struct workspace *workspace)
{
	return member_of(workspace, "auto.heartbeat", "timestamp_unix");
}

/* When the daemon was last alive: its heartbeat, or the state that it wrote. */
static int64_t
alive_until(const struct workspace *workspace)
{
	cleanup_free char *file = workspace_path(workspace, "state.json");
	int64_t beat = span_files_beat_ms(workspace);
	int64_t saved = 0;
	struct stat st;

	if (stat(file, &st) == 0)
		saved = (int64_t)st.st_mtim.tv_sec * 1000 +
		    st.st_mtim.tv_nsec / 1000000;
	return beat > saved ? beat : saved;
}

/* When the last span of each worker on disk ended. While a daemon runs there
 * are no gaps between the spans of a worker: there what goes on began, before
 * the last change of its status or after it (a task began to wait, say). */
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

static int64_t
latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void
span_files_open(const struct workspace *workspace, const struct state *state,
    bool alive, int64_t now_ms, span_files_fn *fn, void *arg)
{
	int64_t begun = member_of(workspace, "daemon.json", "start_time_unix");
	int64_t end = alive ? now_ms : alive_until(workspace);
	bool queue = state_has_queue(state);
	cleanup_free int64_t *ends = xcalloc(state->count + 1, sizeof *ends);

	if (begun > 0)
		span_files_read(workspace, begun, now_ms, on_ended,
		    &(struct ends){ .state = state, .at_ms = ends });
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

		if (begun > 0 && span.from_ms < end)
			fn(&span, arg);
	}
}

void
span_files_uncounted(const struct workspace *workspace,
    const struct state *state, int64_t now_ms, span_files_fn *fn, void *arg)
{
	int64_t until = counters_worked_until(state->counters);

	if (until > 0)
		span_files_read(workspace, until + 1, now_ms, fn, arg);
}

void
span_files_tidy(const struct workspace *workspace, int64_t now_ms)
{
	cleanup_free char *dir = workspace_path(workspace, "spans");
	DIR *d = opendir(dir);
	struct dirent *entry;
	int64_t day;

	if (d == NULL)
		return;
	while ((entry = readdir(d)) != NULL)
		if (day_of(entry->d_name, &day) &&
		    day < now_ms - (SPAN_KEEP_DAYS + 1) * DAY_MS)
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
}
