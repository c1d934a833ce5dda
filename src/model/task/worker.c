/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <json-c/json.h>

#include "backoff.h"
#include "id.h"
#include "prompt.h"
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
	FIELD("index", index),
	FIELD("detached", detached),
	FIELD("clone", clone),
	FIELD("status", status, .words = worker_status_words),
	SINCE("since_ms", since_ms),
	SINCE("activity_ms", activity_ms),
	SINCE("created_ms", created_ms),
	FIELD("prompt", prompt),
	FIELD("prompt_command", prompt_command),
	FIELD("given_by", given_by),
	FIELD("task", task),
	FIELD("on_hold", on_hold),
	FIELD("work_of", work_of),
	FIELD("dispatch", dispatch),
	FIELD("stalls", stalls),
	FIELD("over_budget", over_budget),
	FIELD("off_hours", off_hours),
	FIELD("health", health),
	FIELD("finding", finding),
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
worker_waits_for_login(const struct worker *w)
{
	return w->status == WORKER_PAUSED && worker_holds(w) == 0 &&
	    w->reason != NULL && strstr(w->reason, WORKER_LOGIN_LOST) != NULL;
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
		xstrset(&worker->given_by, NULL);
		xstrset(&worker->task, NULL);
		worker->stalls = 0;
		worker->over_budget = worker->off_hours = false;
		xstrset(&worker->health, NULL);
		xstrset(&worker->finding, NULL);
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
	else if (worker->status == WORKER_ERROR && !worker_is_auto(name) &&
	    (worker->reason == NULL ||
		strstr(worker->reason, "llmc reset ") == NULL))
		buf_addf(out,
		    "when the cause is gone, start over with: llmc reset %s",
		    name);
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

/* --- its session --------------------------------------------------------- */

struct crash_verdict
crash_judge(struct worker *worker, bool driven, int64_t now_ms)
{
	struct crash_verdict verdict = { 0 };

	if (worker_waits(worker->status) || worker->status == WORKER_ERROR)
		return verdict;
	if (now_ms - worker->crashed_ms > CRASH_ROW_MS)
		worker->crashes = 0;
	worker->crashes++;
	worker->crashed_ms = now_ms;
	verdict.counts = true;
	verdict.give_up =
	    worker->crashes >= (driven ? CRASH_DRIVEN_MAX : CRASH_MAX);
	if (worker->crashes > 1)
		backoff_next(
		    &backoff_crash, worker->crashes - 2, &verdict.pause_ms);
	return verdict;
}

#define ENDING   ".jsonl"
#define DATED    "rollout-"
#define OPENCODE "ses_" /* its ids begin so */
#define CHAT     "session-"
#define CHAT_ID  8 /* bytes of the id */

bool
session_start_id_valid(const char *id)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	if (id != NULL && strncmp(id, OPENCODE, strlen(OPENCODE)) == 0)
		return strspn(id + strlen(OPENCODE), letters) == 26 &&
		    strlen(id) == strlen(OPENCODE) + 26;
	return id != NULL && id_uuid_valid(id);
}

/* The next part of a path, or NULL; *path is then behind it. */
static const char *
next_part(const char **path, size_t *ret_len)
{
	const char *part = *path + strspn(*path, "/");

	*ret_len = strcspn(part, "/");
	*path = part + *ret_len;
	return *ret_len > 0 ? part : NULL;
}

/* Absolute, each part separated by one slash, none of them "." or "..". */
static bool
is_plain(const char *path)
{
	size_t len, count = 0, bytes = 0;
	const char *at = path, *part;

	if (path[0] != '/')
		return false;
	while ((part = next_part(&at, &len)) != NULL) {
		if (strncmp(part, "..", len) == 0 && len <= 2)
			return false;
		count++;
		bytes += len;
	}
	return count > 0 && bytes + count == strlen(path);
}

/* What is left of the path below the folder, without a slash; NULL if it is not
 * below it. The folder may be written in any way. */
static const char *
below(const char *folder, const char *path)
{
	size_t len, path_len;
	const char *part, *path_part;

	while ((part = next_part(&folder, &len)) != NULL) {
		if (len == 1 && part[0] == '.')
			continue;
		path_part = next_part(&path, &path_len);
		if (path_part == NULL || path_len != len ||
		    strncmp(part, path_part, len) != 0)
			return NULL;
	}
	return path + strspn(path, "/");
}

bool
session_start_path_valid(const char *projects, const char *id, const char *path)
{
	const char *rest, *file;
	size_t len, tail, named;
	int folders = 0;
	bool dated, chat;

	if (path == NULL || !session_start_id_valid(id) || !is_plain(path))
		return false;
	rest = projects != NULL ? below(projects, path) : path;
	if (rest == NULL)
		return false;
	file = strrchr(path, '/') + 1;
	/* "rollout-TIME-ID.jsonl" is in a folder for each day. */
	dated = strncmp(file, DATED, strlen(DATED)) == 0;
	/* "PROJECT/chats/session-TIME-BEGINNING OF ID.jsonl" */
	chat = strncmp(file, CHAT, strlen(CHAT)) == 0;
	len = strlen(file);
	named = chat ? CHAT_ID : strlen(id);
	tail = named + strlen(ENDING);
	if (len < tail || strncmp(file + len - tail, id, named) != 0 ||
	    strcmp(file + len - strlen(ENDING), ENDING) != 0 ||
	    (!dated && !chat && len != tail))
		return false;
	for (const char *p = rest; (p = strchr(p, '/')) != NULL; p++)
		folders++;
	return projects == NULL || folders == (dated ? 3 : chat ? 2 : 1);
}

const char *const prompt_step_words[] = {
	[PROMPT_NONE] = "none",
	[PROMPT_PARKED] = "parked",
	[PROMPT_CLEARING] = "clearing",
	[PROMPT_PASTED] = "pasted",
	[PROMPT_STEP_COUNT] = NULL,
};

_Static_assert(nitems(prompt_step_words) == PROMPT_STEP_COUNT + 1,
    "a word for every step of a prompt");

const char *
prompt_step_name(enum prompt_step step)
{
	return prompt_step_words[step];
}

void
session_record_forget_pending(struct session_record *record)
{
	record->step = PROMPT_NONE;
	xstrset(&record->pending, NULL);
	xstrset(&record->receipt, NULL);
	record->pending_clear = false;
	record->pending_since_ms = 0;
	record->pending_tries = 0;
	record->pending_refused = 0;
}

void
session_record_release(struct session_record *record)
{
	free(record->id);
	free(record->projects);
	free(record->transcript);
	json_object_put(record->pane);
	free(record->pending);
	free(record->receipt);
	*record = (struct session_record){ 0 };
}

static const char *const action_words[] = {
	[DELIVERY_WAIT] = "wait",
	[DELIVERY_CLEAR] = "clear",
	[DELIVERY_PASTE] = "paste",
	[DELIVERY_ENTER] = "enter",
	[DELIVERY_RESTART] = "restart",
};

_Static_assert(
    nitems(action_words) == DELIVERY_ACTION_COUNT, "a word for every action");

/* How long to wait for the confirmation of a step. */
static const int64_t patience_ms[PROMPT_STEP_COUNT] = {
	[PROMPT_CLEARING] = DELIVERY_CLEAR_MS,
	[PROMPT_PASTED] = DELIVERY_CONFIRM_MS,
};

/* Twice as long as in the session before, which may only have been slow. */
static int64_t
patience(const struct session_record *record)
{
	int refused = record->pending_refused;

	if (refused < 0)
		refused = 0;
	else if (refused >= DELIVERY_SESSIONS)
		refused = DELIVERY_SESSIONS - 1;
	return patience_ms[record->step] << refused;
}

void
delivery_park(struct session_record *record, const char *text,
    const char *receipt, bool clear, int64_t now_ms)
{
	xstrset(&record->pending, text);
	xstrset(&record->receipt, receipt);
	record->step = PROMPT_PARKED;
	record->pending_clear = clear;
	record->pending_since_ms = now_ms;
	record->pending_tries = 0;
	record->pending_refused = 0;
}

enum delivery_action
delivery_next(const struct session_record *record, bool open, int64_t now_ms,
    int64_t *ret_wait_ms)
{
	int64_t waited = now_ms - record->pending_since_ms;
	int64_t limit = patience(record);

	*ret_wait_ms = -1;
	if (record->step == PROMPT_NONE || record->pending == NULL ||
	    !record->ready || !open)
		return DELIVERY_WAIT;
	if (record->step == PROMPT_PARKED) {
		/* What to do with a parked prompt. While a turn runs, wait:
		 * /clear would only be queued until its end. */
		if (!record->pending_clear)
			return DELIVERY_PASTE;
		return record->busy ? DELIVERY_WAIT : DELIVERY_CLEAR;
	}
	/* Below 0, the clock was wrong then: act as if the time had passed. */
	if (waited >= 0 && waited < limit) {
		*ret_wait_ms = limit - waited;
		return DELIVERY_WAIT;
	}
	if (record->pending_tries < DELIVERY_TRIES)
		return DELIVERY_ENTER;
	return DELIVERY_RESTART;
}

void
delivery_did(
    struct session_record *record, enum delivery_action action, int64_t now_ms)
{
	switch (action) {
	case DELIVERY_CLEAR:
		record->step = PROMPT_CLEARING;
		record->pending_tries = 0;
		break;
	case DELIVERY_PASTE:
		record->step = PROMPT_PASTED;
		record->pending_tries = 0;
		break;
	case DELIVERY_ENTER:
		record->pending_tries++;
		break;
	case DELIVERY_RESTART:
		record->step = PROMPT_PARKED;
		record->pending_tries = 0;
		record->pending_refused++;
		record->ready = false;
		record->busy = false;
		record->open_tools = 0;
		break;
	case DELIVERY_WAIT:
	case DELIVERY_ACTION_COUNT:
		return;
	}
	record->pending_since_ms = now_ms;
}

bool
delivery_refused(struct session_record *record, int64_t *ret_pause_ms)
{
	if (record->pending_refused >= DELIVERY_SESSIONS) {
		record->pending_refused = 0;
		return false;
	}
	backoff_next(&backoff_crash, record->pending_refused, ret_pause_ms);
	return true;
}

void
delivery_recovered(struct session_record *record, int64_t now_ms)
{
	if (record->step != PROMPT_PASTED && record->step != PROMPT_CLEARING)
		return;
	record->pending_since_ms =
	    now_ms + DELIVERY_CONFIRM_MS - patience(record);
	record->pending_tries =
	    record->step == PROMPT_PASTED ? DELIVERY_TRIES - 1 : DELIVERY_TRIES;
}

void
delivery_session_started(
    struct session_record *record, bool cleared, int64_t now_ms)
{
	record->ready = true;
	if (!cleared || record->step != PROMPT_CLEARING)
		return;
	record->step = PROMPT_PARKED;
	record->pending_clear = false;
	record->pending_since_ms = now_ms;
	record->pending_tries = 0;
}

bool
delivery_submitted(struct session_record *record, const char *submitted)
{
	if (record->step == PROMPT_NONE || record->receipt == NULL ||
	    !prompt_carries(submitted, record->receipt))
		return false;
	session_record_forget_pending(record);
	return true;
}

const char *
delivery_action_name(enum delivery_action action)
{
	return action_words[action];
}
