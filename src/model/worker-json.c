/* SPDX-License-Identifier: ISC */

/* The record of a worker: one table for reading and writing. */

#include <errno.h>
#include <stddef.h>

#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "schema.h"
#include "text.h"
#include "worker-json.h"
#include "worker.h"

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct worker, key, member, ##__VA_ARGS__)

/* Every member but the name may be missing. */
static const struct schema_field fields[] = {
	FIELD("name", name),
	FIELD("branch", branch),
	FIELD("worktree", worktree),
	FIELD("detached", detached),
	FIELD("clone", clone),
	FIELD("status", status, .words = worker_status_words),
	FIELD("since_ms", since_ms, .flags = SCHEMA_CLAMP),
	FIELD("activity_ms", activity_ms, .flags = SCHEMA_CLAMP),
	FIELD("created_ms", created_ms, .flags = SCHEMA_CLAMP),
	FIELD("prompt", prompt),
	FIELD("prompt_command", prompt_command),
	FIELD("task", task),
	FIELD("on_hold", on_hold),
	FIELD("work_of", work_of),
	FIELD("dispatch", dispatch),
	FIELD("stalls", stalls),
	FIELD("over_budget", over_budget),
	FIELD("health", health),
	FIELD("blocked", blocked),
	FIELD("asks_id", asks_id, .flags = SCHEMA_OMIT_UNSET),
	FIELD("asks", asks, .flags = SCHEMA_OMIT_UNSET),
	FIELD("asks_person", asks_person, .flags = SCHEMA_OMIT_UNSET),
	FIELD("asks_ms", asks_ms, .flags = SCHEMA_OMIT_UNSET | SCHEMA_CLAMP),
	FIELD("base", base),
	FIELD("commit", commit),
	FIELD("reviewed", reviewed),
	FIELD("self_review", self_review),
	FIELD("self_reviewed", self_reviewed),
	FIELD("step", session.step, .words = prompt_step_words),
	FIELD("pending", session.pending),
	FIELD("receipt", session.receipt),
	FIELD("pending_clear", session.pending_clear),
	FIELD("pending_since_ms", session.pending_since_ms,
	    .flags = SCHEMA_CLAMP),
	FIELD("pending_tries", session.pending_tries),
	FIELD("pending_refused", session.pending_refused),
	FIELD("after", after, .words = worker_status_words),
	FIELD("generation", session.generation),
	FIELD("session", session.id),
	FIELD("projects", session.projects),
	FIELD("transcript", session.transcript),
	FIELD("history_ms", session.history_ms, .flags = SCHEMA_CLAMP),
	FIELD("pane", session.pane),
	FIELD("ready", session.ready),
	FIELD("busy", session.busy),
	FIELD("own_spool", session.own_spool),
	FIELD("open_tools", session.open_tools),
	FIELD("crashes", crashes),
	FIELD("crashed_ms", crashed_ms, .flags = SCHEMA_CLAMP),
	FIELD("reason", reason),
	FIELD("before", before, .words = worker_status_words),
	FIELD("until_ms", until_ms, .flags = SCHEMA_CLAMP),
	FIELD("limit_tries", limit_tries),
	FIELD("accepted", accepted),
	FIELD("approved", approved),
	FIELD("accepted_head", accepted_head),
	FIELD("for_person", for_person),
	FIELD("checked", checked),
	FIELD("checked_key", checked_key),
	FIELD("checked_ms", checked_ms),
	FIELD("conflicts", conflicts),
};
static const struct schema schema = { .fields = fields,
	.count = nitems(fields) };

const struct schema worker_table = { .fields = fields,
	.count = nitems(fields) };

struct json_object *
worker_to_json(const struct worker *worker)
{
	struct json_object *json = json_object_new_object();

	schema_add(&schema, worker, json);
	return json;
}

struct json_object *
worker_holds_to_json(unsigned holds)
{
	struct json_object *json = json_object_new_array();

	for (unsigned i = 0; i < WORKER_HOLDS; i++)
		if ((holds & 1U << i) != 0)
			json_object_array_add(
			    json, json_object_new_string(worker_hold_words[i]));
	return json;
}

static void
end_at(int64_t *time_ms, int64_t now_ms)
{
	if (*time_ms > now_ms)
		*time_ms = now_ms;
}

/* Times in the past must not be in the future. */
static void
clamp_times(struct worker *worker, int64_t now_ms)
{
	end_at(&worker->since_ms, now_ms);
	end_at(&worker->activity_ms, now_ms);
	end_at(&worker->created_ms, now_ms);
	end_at(&worker->crashed_ms, now_ms);
	end_at(&worker->session.pending_since_ms, now_ms);
}

/* Repair combinations that do not fit together, since the file may have been
 * edited by hand. */
static void
fix_combinations(struct worker *worker)
{
	struct session_record *session = &worker->session;

	if (!worker_status_may(worker->before, WORKER_PAUSED) ||
	    worker_waits(worker->before))
		worker->before = WORKER_OFFLINE;
	if (worker->status != WORKER_PAUSED)
		worker->blocked = false;
	if (session->step != PROMPT_NONE &&
	    (session->pending == NULL || session->receipt == NULL)) {
		session_record_forget_pending(session);
		worker->after = WORKER_WORKING;
	}
}

int
worker_from_json(struct json_object *json, const char *at, int64_t now_ms,
    struct worker **ret_worker, struct err *err)
{
	struct worker *worker;
	struct err words;
	const char *name;
	int r;

	r = json_get_string(json, at, "name", &name, &words);
	if (r == 0 && !text_is_name(name))
		r = err_set(&words, -EINVAL, "%s%sname: not a worker's name",
		    at, *at == '\0' ? "" : ".");
	if (r < 0)
		return err_set(err, -EINVAL, "%s", words.msg);
	worker = worker_new(name, now_ms);
	r = schema_read(&schema, json, at, worker, err);
	if (r < 0) {
		worker_free(worker);
		return r;
	}
	clamp_times(worker, now_ms);
	fix_combinations(worker);
	*ret_worker = worker;
	return 0;
}
