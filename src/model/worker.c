/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "schema.h"
#include "worker.h"

/* Every member but the name may be missing: a fleet has many workers, and most
 * members of each are unset. */
#define FIELD(key, member, ...)                                              \
	SCHEMA_FIELD(struct worker, key, member, .flags = SCHEMA_OMIT_UNSET, \
	    ##__VA_ARGS__)
#define MOMENT(key, member)                      \
	SCHEMA_FIELD(struct worker, key, member, \
	    .flags = SCHEMA_OMIT_UNSET | SCHEMA_CLAMP)
/* One that is missing is now. */
#define SINCE(key, member) \
	SCHEMA_FIELD(struct worker, key, member, .flags = SCHEMA_CLAMP)

static const struct schema_field fields[] = {
	FIELD("name", name),
	FIELD("branch", branch),
	FIELD("worktree", worktree),
	FIELD("detached", detached),
	FIELD("clone", clone),
	FIELD("status", status, .words = worker_status_words),
	SINCE("since_ms", since_ms),
	SINCE("activity_ms", activity_ms),
	SINCE("created_ms", created_ms),
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
	FIELD("asks_id", asks_id),
	FIELD("asks", asks),
	FIELD("asks_person", asks_person),
	MOMENT("asks_ms", asks_ms),
	FIELD("base", base),
	FIELD("commit", commit),
	FIELD("reviewed", reviewed),
	FIELD("self_review", self_review),
	FIELD("self_reviewed", self_reviewed),
	FIELD("step", session.step, .words = prompt_step_words),
	FIELD("pending", session.pending),
	FIELD("receipt", session.receipt),
	FIELD("pending_clear", session.pending_clear),
	MOMENT("pending_since_ms", session.pending_since_ms),
	FIELD("pending_tries", session.pending_tries),
	FIELD("pending_refused", session.pending_refused),
	FIELD("after", after, .words = worker_status_words),
	FIELD("generation", session.generation),
	FIELD("session", session.id),
	FIELD("projects", session.projects),
	FIELD("transcript", session.transcript),
	MOMENT("history_ms", session.history_ms),
	FIELD("pane", session.pane),
	FIELD("ready", session.ready),
	FIELD("busy", session.busy),
	FIELD("own_spool", session.own_spool),
	FIELD("open_tools", session.open_tools),
	FIELD("crashes", crashes),
	MOMENT("crashed_ms", crashed_ms),
	FIELD("reason", reason),
	FIELD("before", before, .words = worker_status_words),
	MOMENT("until_ms", until_ms),
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

const struct schema worker_table = { .fields = fields,
	.count = nitems(fields) };

struct json_object *
worker_to_json(const struct worker *worker)
{
	return schema_json(&worker_table, worker);
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

int
worker_from_json(struct json_object *json, const char *at, int64_t now_ms,
    struct worker **ret_worker, struct err *err)
{
	struct worker *worker;
	struct err words;
	const char *name;
	int r;
	struct session_record *session;

	r = json_get_string(json, at, "name", &name, &words);
	if (r == 0 && !text_is_name(name))
		r = err_set(&words, -EINVAL, "%s%sname: not a worker's name",
		    at, *at == '\0' ? "" : ".");
	if (r < 0)
		return err_set(err, -EINVAL, "%s", words.msg);
	worker = worker_new(name, now_ms);
	r = schema_read(&worker_table, json, at, worker, err);
	if (r < 0) {
		worker_free(worker);
		return r;
	}
	/* Times in the past must not be in the future. */
	end_at(&worker->since_ms, now_ms);
	end_at(&worker->activity_ms, now_ms);
	end_at(&worker->created_ms, now_ms);
	end_at(&worker->crashed_ms, now_ms);
	end_at(&worker->session.pending_since_ms, now_ms);
	/* Repair combinations that do not fit together, since the file may
	 * have been edited by hand. */
	session = &worker->session;
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
	*ret_worker = worker;
	return 0;
}

const char *const worker_status_words[] = {
	[WORKER_IDLE] = "idle",
	[WORKER_STARTING] = "starting",
	[WORKER_WORKING] = "working",
	[WORKER_NEEDS_REVIEW] = "needs_review",
	[WORKER_REVIEWING] = "reviewing",
	[WORKER_REJECTED] = "rejected",
	[WORKER_REBASING] = "rebasing",
	[WORKER_NO_CHANGES] = "no_changes",
	[WORKER_ACCEPTING] = "accepting",
	[WORKER_PAUSED] = "paused",
	[WORKER_LIMITED] = "limited",
	[WORKER_ERROR] = "error",
	[WORKER_OFFLINE] = "offline",
	[WORKER_WAITING] = "waiting",
	[WORKER_STATUS_COUNT] = NULL,
};

/*
 * [from][to]. Everything else is refused. Every status may fail or lose its
 * session; the comments say when the other moves happen.
 */
static const bool worker_moves[WORKER_STATUS_COUNT][WORKER_STATUS_COUNT] = {
	[WORKER_IDLE] = {
		[WORKER_STARTING] = true, /* it gets a task */
		[WORKER_WORKING] = true, /* a person typed a prompt */
		[WORKER_NEEDS_REVIEW] = true, /* found with finished work */
		[WORKER_REBASING] = true, /* found in the middle of a rebase */
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true, /* the account's limit */
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
	/* To the status that the prompt is for, or back if it was withdrawn. */
	[WORKER_STARTING] = {
		[WORKER_IDLE] = true,
		[WORKER_WORKING] = true,
		[WORKER_NEEDS_REVIEW] = true,
		[WORKER_REVIEWING] = true,
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true,
		[WORKER_NO_CHANGES] = true,
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
	[WORKER_WORKING] = {
		[WORKER_IDLE] = true, /* the task was taken from it */
		[WORKER_STARTING] = true, /* another prompt */
		[WORKER_NEEDS_REVIEW] = true, /* finished */
		[WORKER_REBASING] = true,
		[WORKER_NO_CHANGES] = true, /* finished without changes */
		[WORKER_ACCEPTING] = true, /* finished, without review */
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true, /* its turn ended, for agents that it
					  * has asked for */
	},
	[WORKER_NEEDS_REVIEW] = {
		[WORKER_IDLE] = true, /* landed in another way, or dropped */
		[WORKER_STARTING] = true, /* a message */
		[WORKER_REVIEWING] = true, /* reviews its own work first */
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true, /* the default branch has moved */
		[WORKER_ACCEPTING] = true,
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
	[WORKER_REVIEWING] = {
		[WORKER_IDLE] = true,
		[WORKER_STARTING] = true,
		[WORKER_NEEDS_REVIEW] = true, /* the review is done */
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true,
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true,
	},
	[WORKER_REJECTED] = {
		[WORKER_IDLE] = true,
		[WORKER_STARTING] = true,
		[WORKER_NEEDS_REVIEW] = true, /* reworked */
		[WORKER_REBASING] = true,
		[WORKER_NO_CHANGES] = true, /* it reverted everything */
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true,
	},
	/* Never directly to idle: that would lose half-rebased work. */
	[WORKER_REBASING] = {
		[WORKER_STARTING] = true,
		[WORKER_WORKING] = true, /* continues its task */
		[WORKER_NEEDS_REVIEW] = true, /* resolved */
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true, /* the next conflict */
		[WORKER_ACCEPTING] = true, /* resolved during a landing */
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true,
	},
	[WORKER_NO_CHANGES] = {
		[WORKER_IDLE] = true,
		[WORKER_STARTING] = true,
		[WORKER_WORKING] = true,
		[WORKER_REBASING] = true,
		[WORKER_ACCEPTING] = true, /* closes the task */
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
	/* A git transaction: it neither needs an agent nor waits for one. */
	[WORKER_ACCEPTING] = {
		[WORKER_IDLE] = true, /* landed */
		[WORKER_NEEDS_REVIEW] = true, /* not possible now: rolled
					       * back */
		[WORKER_REBASING] = true, /* a conflict */
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
	/* Back to where it was, or to what could follow there:
	 * worker_transition() checks `before` too. Not to limited, which ends
	 * by itself. */
	[WORKER_PAUSED] = {
		[WORKER_IDLE] = true,
		[WORKER_STARTING] = true, /* a person's message */
		[WORKER_WORKING] = true,
		[WORKER_NEEDS_REVIEW] = true,
		[WORKER_REVIEWING] = true,
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true,
		[WORKER_NO_CHANGES] = true,
		[WORKER_ACCEPTING] = true,
		[WORKER_PAUSED] = true, /* for another reason */
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true,
	},
	[WORKER_LIMITED] = {
		[WORKER_IDLE] = true,
		[WORKER_STARTING] = true, /* "continue" */
		[WORKER_WORKING] = true,
		[WORKER_NEEDS_REVIEW] = true,
		[WORKER_REVIEWING] = true,
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true,
		[WORKER_NO_CHANGES] = true,
		[WORKER_ACCEPTING] = true,
		[WORKER_PAUSED] = true, /* it needs a person after all */
		[WORKER_LIMITED] = true, /* not over yet */
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true,
	},
	[WORKER_ERROR] = {
		[WORKER_IDLE] = true, /* repaired */
		[WORKER_STARTING] = true, /* tried again */
		[WORKER_NEEDS_REVIEW] = true, /* its work exists */
		[WORKER_REBASING] = true,
		[WORKER_ERROR] = true, /* for another reason */
		[WORKER_OFFLINE] = true,
	},
	[WORKER_OFFLINE] = {
		[WORKER_IDLE] = true, /* ready, and nothing to continue */
		[WORKER_STARTING] = true, /* continues its task */
		[WORKER_REBASING] = true,
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true, /* it is not launched before the limit
					  * ends */
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true, /* launched again */
	},
	/* Needs no session: it keeps its status without one. */
	[WORKER_WAITING] = {
		[WORKER_IDLE] = true, /* the task was taken from it */
		[WORKER_STARTING] = true, /* it gets their results */
		[WORKER_WORKING] = true, /* a message */
		[WORKER_REBASING] = true, /* their work conflicts with its own */
		[WORKER_PAUSED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
};

/* A new status needs a name, a row, and a check of every other row. */
_Static_assert(WORKER_STATUS_COUNT == 14, "worker_moves knows 14 statuses");
_Static_assert(nitems(worker_status_words) == WORKER_STATUS_COUNT + 1,
    "a word for every status");

const char *
worker_status_name(enum worker_status status)
{
	return worker_status_words[status];
}

bool
worker_status_parse(const char *name, enum worker_status *ret_status)
{
	for (unsigned i = 0; i < WORKER_STATUS_COUNT; i++) {
		if (strcmp(worker_status_words[i], name) == 0) {
			*ret_status = (enum worker_status)i;
			return true;
		}
	}
	return false;
}

bool
worker_status_may(enum worker_status from, enum worker_status to)
{
	return (unsigned)from < WORKER_STATUS_COUNT &&
	    (unsigned)to < WORKER_STATUS_COUNT && worker_moves[from][to];
}

struct worker *
worker_new(const char *name, int64_t now_ms)
{
	struct worker *worker = xcalloc(1, sizeof *worker);

	worker->name = xstrdup(name);
	worker->status = WORKER_OFFLINE;
	worker->since_ms = now_ms;
	worker->activity_ms = now_ms;
	worker->created_ms = now_ms;
	worker->before = WORKER_OFFLINE;
	worker->after = WORKER_WORKING;
	return worker;
}

void
worker_free(struct worker *worker)
{
	if (worker == NULL)
		return;
	free(worker->name);
	free(worker->branch);
	free(worker->worktree);
	free(worker->prompt);
	free(worker->prompt_command);
	free(worker->task);
	free(worker->work_of);
	free(worker->base);
	free(worker->dispatch);
	free(worker->health);
	free(worker->asks_id);
	free(worker->asks);
	free(worker->commit);
	free(worker->reviewed);
	session_record_release(&worker->session);
	free(worker->reason);
	free(worker->accepted_head);
	free(worker->checked);
	free(worker->checked_key);
	free(worker);
}

bool
worker_waits(enum worker_status status)
{
	return status == WORKER_PAUSED || status == WORKER_LIMITED;
}

bool
worker_in_turn(enum worker_status status)
{
	return status == WORKER_WORKING || status == WORKER_REJECTED ||
	    status == WORKER_REVIEWING || status == WORKER_REBASING;
}

const char *const worker_hold_words[WORKER_HOLDS + 1] = { "person", "budget",
	"trust", NULL };

unsigned
worker_holds(const struct worker *worker)
{
	return (worker->on_hold ? WORKER_HOLD_PERSON : 0) |
	    (worker->over_budget ? WORKER_HOLD_BUDGET : 0) |
	    (worker->blocked ? WORKER_HOLD_TRUST : 0);
}

void
worker_add_holds(unsigned holds, struct buf *out)
{
	const char *comma = "";

	for (unsigned i = 0; i < WORKER_HOLDS; i++)
		if ((holds & 1U << i) != 0) {
			buf_addf(out, "%s%s", comma, worker_hold_words[i]);
			comma = ", ";
		}
}

bool
worker_is_quiet(const struct worker *worker)
{
	return !worker->session.busy && worker->session.step == PROMPT_NONE;
}

bool
worker_is_free(const struct worker *worker)
{
	return worker->status == WORKER_IDLE && worker_is_quiet(worker) &&
	    !worker->on_hold;
}

bool
worker_is_coming(const struct worker *worker)
{
	return worker->status == WORKER_OFFLINE && worker_is_quiet(worker) &&
	    !worker->on_hold;
}

bool
worker_is_held(const struct worker *worker)
{
	return worker_waits(worker->status) ||
	    worker->status == WORKER_ACCEPTING ||
	    worker->status == WORKER_ERROR || worker->status == WORKER_OFFLINE;
}

bool
worker_is_at_rest(const struct worker *worker)
{
	return worker_is_quiet(worker) && !worker->accepted;
}

bool
worker_expects_life(const struct worker *worker)
{
	return worker->session.busy && !worker_waits(worker->status);
}

/* A waiting worker can still go where its previous status could go. */
static bool
may_now(const struct worker *worker, enum worker_status to)
{
	if (!worker_status_may(worker->status, to))
		return false;
	if (!worker_waits(worker->status) || worker_waits(to))
		return true;
	return to == worker->before || to == WORKER_STARTING ||
	    worker_status_may(worker->before, to);
}

/* How entering a status changes the rest of the record. */
static const struct effects {
	bool forgets_task;
	bool proves; /* the worker makes progress: forget earlier trouble */
	bool forgets_reason;
	bool takes_reason;
	bool ends_session;
} effects[WORKER_STATUS_COUNT] = {
	[WORKER_IDLE] = { .forgets_task = true,
	    .proves = true,
	    .forgets_reason = true },
	[WORKER_WORKING] = { .forgets_reason = true },
	[WORKER_NEEDS_REVIEW] = { .proves = true, .forgets_reason = true },
	[WORKER_NO_CHANGES] = { .proves = true, .forgets_reason = true },
	[WORKER_PAUSED] = { .takes_reason = true },
	[WORKER_LIMITED] = { .takes_reason = true },
	[WORKER_ERROR] = { .takes_reason = true },
	[WORKER_OFFLINE] = { .ends_session = true },
	[WORKER_WAITING] = { .proves = true, .takes_reason = true },
};

/* A session that has just started is no proof yet: it may exit at once. */
static bool
has_proved(const struct worker *worker, enum worker_status from)
{
	return effects[worker->status].proves &&
	    (worker->status != WORKER_IDLE || from != WORKER_OFFLINE);
}

static void
arrive(struct worker *worker, enum worker_status from, const char *reason)
{
	const struct effects *does = &effects[worker->status];
	bool moved = worker->status != from;

	if (does->forgets_task) {
		xstrset(&worker->prompt, NULL);
		xstrset(&worker->prompt_command, NULL);
		xstrset(&worker->task, NULL);
		worker->stalls = 0;
		worker->over_budget = false;
		xstrset(&worker->health, NULL);
		worker->blocked = false;
		xstrset(&worker->commit, NULL);
		xstrset(&worker->reviewed, NULL);
		worker->self_review = false;
		worker->self_reviewed = false;
		session_record_forget_pending(&worker->session);
		worker->after = WORKER_WORKING;
		worker->accepted = false;
		worker->approved = false;
		xstrset(&worker->accepted_head, NULL);
		worker->for_person = false;
		xstrset(&worker->checked, NULL);
		xstrset(&worker->checked_key, NULL);
		worker->conflicts = 0;
	}
	if (has_proved(worker, from)) {
		worker->crashes = 0;
		worker->crashed_ms = 0;
		worker->limit_tries = 0;
	}
	if (does->forgets_reason || (does->takes_reason && moved))
		xstrset(&worker->reason, NULL);
	if (does->takes_reason && reason != NULL)
		xstrset(&worker->reason, reason);
	if (does->ends_session) {
		worker->session.ready = false;
		worker->session.busy = false;
		worker->session.open_tools = 0;
	}
}

int
worker_transition(struct worker *worker, enum worker_status to,
    const char *reason, int64_t now_ms, struct err *err)
{
	cleanup_free char *words = reason == NULL ? NULL : xstrdup(reason);
	enum worker_status from = worker->status;

	if ((unsigned)to >= WORKER_STATUS_COUNT)
		return err_set(
		    err, -EINVAL, "%s: there is no such status", worker->name);
	if (!may_now(worker, to))
		return err_set(err, -EINVAL, "%s: %s cannot become %s",
		    worker->name, worker_status_name(from),
		    worker_status_name(to));
	if (worker_waits(to) && !worker_waits(from))
		worker->before = from;
	if ((worker_waits(from) && !worker_waits(to)) ||
	    (from == WORKER_WAITING && to != WORKER_WAITING))
		xstrset(&worker->reason, NULL);
	if (from == WORKER_LIMITED && to != WORKER_LIMITED)
		worker->until_ms = 0;
	if (from == WORKER_PAUSED && to != WORKER_PAUSED)
		worker->over_budget = worker->blocked = false;
	worker->status = to;
	worker->activity_ms = now_ms;
	if (to != from)
		worker->since_ms = now_ms;
	arrive(worker, from, words);
	return 0;
}

enum worker_status
worker_shown(const struct worker *worker)
{
	return worker->asks_id != NULL && worker_in_turn(worker->status) ?
	    WORKER_WAITING :
	    worker->status;
}

const char *
worker_shown_status(const struct worker *worker)
{
	return worker_status_name(worker_shown(worker));
}

const char *
worker_shown_words(const struct worker *worker)
{
	return worker->asks_person && worker_shown(worker) == WORKER_WAITING ?
	    WORKER_WAITS_FOR_YOU :
	    worker_shown_status(worker);
}

void
worker_add_advice(const struct worker *worker, struct buf *out)
{
	const char *name = worker->name;

	if (worker->status == WORKER_NEEDS_REVIEW)
		buf_addf(out, "look at its work with: llmc review %s", name);
	else if (worker->status == WORKER_NO_CHANGES)
		buf_addf(out,
		    "its task ended without a change; tell it more with: llmc "
		    "message %s TEXT, or free it with: llmc reset %s",
		    name, name);
}

bool
worker_is_auto(const char *name)
{
	return strncmp(name, "auto-", strlen("auto-")) == 0 ||
	    worker_is_team(name);
}

bool
worker_is_team(const char *name)
{
	return strncmp(name, "team-", strlen("team-")) == 0;
}
