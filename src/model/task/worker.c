/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "schema.h"
#include "word.h"
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
	FIELD("index", index),
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
	FIELD("off_hours", off_hours),
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
	FIELD("checked_tests", checked_tests),
	FIELD("conflicts", conflicts),
};

const struct schema worker_table = SCHEMA_OF(struct worker, fields);

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
		schema_free(&worker_table, worker);
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

#define TO(status) [WORKER_##status] = true

/*
 * [from][to]. Everything else is refused. Every status may fail or lose its
 * session; the comments say when the other moves happen.
 */
static const bool worker_moves[WORKER_STATUS_COUNT][WORKER_STATUS_COUNT] = {
	[WORKER_IDLE] = {
		TO(STARTING), /* it gets a task */
		TO(WORKING), /* a person typed a prompt */
		TO(NEEDS_REVIEW), /* found with finished work */
		TO(REBASING), /* found in the middle of a rebase */
		TO(LIMITED), /* the account's limit */
		TO(PAUSED), TO(ERROR), TO(OFFLINE),
	},
	/* To the status that the prompt is for, or back if it was withdrawn. */
	[WORKER_STARTING] = {
		TO(IDLE), TO(WORKING), TO(NEEDS_REVIEW), TO(REVIEWING),
		TO(REJECTED), TO(REBASING), TO(NO_CHANGES), TO(PAUSED),
		TO(LIMITED), TO(ERROR), TO(OFFLINE),
	},
	[WORKER_WORKING] = {
		TO(IDLE), /* the task was taken from it */
		TO(STARTING), /* another prompt */
		TO(NEEDS_REVIEW), /* finished */
		TO(NO_CHANGES), /* finished without changes */
		TO(ACCEPTING), /* finished, without review */
		TO(WAITING), /* for agents that it has asked for */
		TO(REBASING), TO(PAUSED), TO(LIMITED), TO(ERROR), TO(OFFLINE),
	},
	[WORKER_NEEDS_REVIEW] = {
		TO(IDLE), /* landed in another way, or dropped */
		TO(STARTING), /* a message */
		TO(REVIEWING), /* reviews its own work first */
		TO(REBASING), /* the default branch has moved */
		TO(REJECTED), TO(ACCEPTING), TO(PAUSED), TO(LIMITED), TO(ERROR),
		TO(OFFLINE),
	},
	[WORKER_REVIEWING] = {
		TO(NEEDS_REVIEW), /* the review is done */
		TO(IDLE), TO(STARTING), TO(REJECTED), TO(REBASING), TO(PAUSED),
		TO(LIMITED), TO(ERROR), TO(OFFLINE), TO(WAITING),
	},
	[WORKER_REJECTED] = {
		TO(NEEDS_REVIEW), /* reworked */
		TO(NO_CHANGES), /* it reverted everything */
		TO(IDLE), TO(STARTING), TO(REBASING), TO(PAUSED), TO(LIMITED),
		TO(ERROR), TO(OFFLINE), TO(WAITING),
	},
	/* Never directly to idle: that would lose half-rebased work. */
	[WORKER_REBASING] = {
		TO(WORKING), /* continues its task */
		TO(NEEDS_REVIEW), /* resolved */
		TO(REBASING), /* the next conflict */
		TO(ACCEPTING), /* resolved during a landing */
		TO(STARTING), TO(REJECTED), TO(PAUSED), TO(LIMITED), TO(ERROR),
		TO(OFFLINE), TO(WAITING),
	},
	[WORKER_NO_CHANGES] = {
		TO(ACCEPTING), /* closes the task */
		TO(IDLE), TO(STARTING), TO(WORKING), TO(REBASING), TO(PAUSED),
		TO(LIMITED), TO(ERROR), TO(OFFLINE),
	},
	/* A git transaction: it neither needs an agent nor waits for one. */
	[WORKER_ACCEPTING] = {
		TO(IDLE), /* landed */
		TO(NEEDS_REVIEW), /* not possible now: rolled back */
		TO(REBASING), /* a conflict */
		TO(ERROR), TO(OFFLINE),
	},
	/* Back to where it was, or to what could follow there:
	 * worker_transition() checks `before` too. Not to limited, which ends
	 * by itself. */
	[WORKER_PAUSED] = {
		TO(STARTING), /* a person's message */
		TO(PAUSED), /* for another reason */
		TO(IDLE), TO(WORKING), TO(NEEDS_REVIEW), TO(REVIEWING),
		TO(REJECTED), TO(REBASING), TO(NO_CHANGES), TO(ACCEPTING),
		TO(ERROR), TO(OFFLINE), TO(WAITING),
	},
	[WORKER_LIMITED] = {
		TO(STARTING), /* "continue" */
		TO(PAUSED), /* it needs a person after all */
		TO(LIMITED), /* not over yet */
		TO(IDLE), TO(WORKING), TO(NEEDS_REVIEW), TO(REVIEWING),
		TO(REJECTED), TO(REBASING), TO(NO_CHANGES), TO(ACCEPTING),
		TO(ERROR), TO(OFFLINE), TO(WAITING),
	},
	[WORKER_ERROR] = {
		TO(IDLE), /* repaired */
		TO(STARTING), /* tried again */
		TO(NEEDS_REVIEW), /* its work exists */
		TO(ERROR), /* for another reason */
		TO(REBASING), TO(OFFLINE),
	},
	[WORKER_OFFLINE] = {
		TO(IDLE), /* ready, and nothing to continue */
		TO(STARTING), /* continues its task */
		TO(LIMITED), /* it is not launched before the limit ends */
		TO(OFFLINE), /* launched again */
		TO(REBASING), TO(PAUSED), TO(ERROR),
	},
	/* Needs no session: it keeps its status without one. */
	[WORKER_WAITING] = {
		TO(IDLE), /* the task was taken from it */
		TO(STARTING), /* it gets their results */
		TO(WORKING), /* a message */
		TO(REBASING), /* their work conflicts with its own */
		TO(PAUSED), TO(ERROR), TO(OFFLINE),
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
	unsigned status;

	if (!word_find(worker_status_words, name, &status))
		return false;
	*ret_status = (enum worker_status)status;
	return true;
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
	"trust", "hours", NULL };

unsigned
worker_holds(const struct worker *worker)
{
	return (worker->on_hold ? WORKER_HOLD_PERSON : 0) |
	    (worker->over_budget ? WORKER_HOLD_BUDGET : 0) |
	    (worker->blocked ? WORKER_HOLD_TRUST : 0) |
	    (worker->off_hours ? WORKER_HOLD_HOURS : 0);
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
		worker->over_budget = worker->off_hours = false;
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
		worker->checked_tests = 0;
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
		worker->over_budget = worker->blocked = worker->off_hours =
		    false;
	worker->status = to;
	worker->activity_ms = now_ms;
	if (to != from)
		worker->since_ms = now_ms;
	arrive(worker, from, words);
	return 0;
}

static enum worker_status
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
	return text_begins(name, "auto-") || worker_is_team(name);
}

bool
worker_is_team(const char *name)
{
	return text_begins(name, "team-");
}
