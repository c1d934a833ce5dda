/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "attempt.h"
#include "contract.h"
#include "excerpt.h"
#include "schema.h"
#include "task.h"

/* --- tasks ----------------------------------------------------------- */

static const char prefix[] = "by-hand-";

char *
hand_task_name(const char *worker)
{
	return xasprintf("%s%s", prefix, worker);
}

const char *
hand_task_worker(const char *task)
{
	size_t len = strlen(prefix);

	return strncmp(task, prefix, len) == 0 ? task + len : NULL;
}

const char *const task_step_words[] = {
	[TASK_OFFERED] = "offered",
	[TASK_WAITING] = "waiting",
	[TASK_ASSIGNED] = "assigned",
	[TASK_QUEUED] = "queued",
	[TASK_LANDED] = "landed",
	[TASK_PARKED] = "parked",
	[TASK_ELSEWHERE] = "elsewhere",
	[TASK_SETTLING] = "settling",
	[TASK_STEP_COUNT] = NULL,
};

/* [from][to]. Everything else is refused; nothing follows settling. */
static const bool task_moves[TASK_STEP_COUNT][TASK_STEP_COUNT] = {
	[TASK_OFFERED] = {
		[TASK_WAITING] = true, /* taken from its source */
		[TASK_SETTLING] = true, /* a person dropped it */
	},
	[TASK_WAITING] = {
		[TASK_ASSIGNED] = true,
		[TASK_PARKED] = true, /* no worker may have it */
		[TASK_ELSEWHERE] = true, /* another host has claimed it */
		[TASK_SETTLING] = true, /* a person dropped it */
	},
	[TASK_ASSIGNED] = {
		[TASK_WAITING] = true, /* failed, or given back */
		[TASK_QUEUED] = true, /* its worker is needed for another */
		[TASK_PARKED] = true, /* its budget is used up */
		[TASK_LANDED] = true,
		[TASK_SETTLING] = true, /* nothing to land, or no more tries */
	},
	[TASK_QUEUED] = {
		[TASK_WAITING] = true, /* it did not land */
		[TASK_LANDED] = true,
		[TASK_SETTLING] = true, /* dropped, or no more tries */
	},
	[TASK_LANDED] = {
		[TASK_WAITING] = true, /* reverted, and tried again */
		[TASK_SETTLING] = true,
	},
	[TASK_PARKED] = {
		[TASK_WAITING] = true, /* a person lets it continue */
		[TASK_QUEUED] = true, /* its pull request goes on */
		[TASK_SETTLING] = true, /* a person dropped it */
	},
	[TASK_SETTLING] = {
		[TASK_ELSEWHERE] = true, /* it ended too late to be ours */
	},
	[TASK_ELSEWHERE] = {
		[TASK_WAITING] = true, /* that host gave it back, or is lost */
		[TASK_PARKED] = true, /* lost too often */
		[TASK_SETTLING] = true, /* it ended there, or was dropped */
	},
};

/* A new step needs a name, a row, and a check of every other row. */
_Static_assert(TASK_STEP_COUNT == 8, "task_moves knows 8 steps");
_Static_assert(
    nitems(task_step_words) == TASK_STEP_COUNT + 1, "a word for every step");

const char *
task_step_name(enum task_step step)
{
	return task_step_words[step];
}

bool
task_step_may(enum task_step from, enum task_step to)
{
	return (unsigned)from < TASK_STEP_COUNT &&
	    (unsigned)to < TASK_STEP_COUNT && task_moves[from][to];
}

#define DETAIL_MAX 1024

const char *const task_outcome_words[] = {
	[OUTCOME_NONE] = "none",
	[OUTCOME_LANDED] = "landed",
	[OUTCOME_NO_CHANGES] = "no_changes",
	[OUTCOME_FAILED] = "failed",
	[OUTCOME_ABORTED] = "aborted",
	[OUTCOME_DEAD_LETTER] = "dead-letter",
	[OUTCOME_COUNT] = NULL,
};

const char *
task_outcome_name(enum task_outcome outcome)
{
	return task_outcome_words[outcome];
}

bool
task_outcome_parse(const char *name, enum task_outcome *ret_outcome)
{
	unsigned index = 0;

	if (!word_find(task_outcome_words, name, &index))
		return false;
	*ret_outcome = (enum task_outcome)index;
	return true;
}

struct task *
task_new(const char *id, const char *source, const char *key, const char *title,
    const char *text, int64_t now_ms)
{
	struct task *task = xcalloc(1, sizeof *task);

	task->id = xstrdup(id);
	xstrset(&task->source, source);
	xstrset(&task->key, key);
	xstrset(&task->text, text);
	task->title = excerpt_title(title, TASK_TITLE_MAX);
	if (task->title == NULL)
		task->title = excerpt_title(text, TASK_TITLE_MAX);
	if (task->title == NULL)
		task->title = xstrdup(id);
	task->priority = PRIORITY_NORMAL;
	task->created_ms = now_ms;
	task->history = json_object_new_array();
	return task;
}

void
task_free(struct task *task)
{
	schema_free(&task_schema, task);
}

const char *
task_earlier_commit(const struct task *old)
{
	return old->outcome == OUTCOME_LANDED ? old->commit :
						old->landed_before;
}

void
task_note(
    struct task *task, const char *what, const char *detail, int64_t now_ms)
{
	struct json_object *entry = json_object_new_object();
	cleanup_free char *cut = NULL;

	json_set_int(entry, "at_unix", now_ms / 1000);
	json_set_string(entry, "what", what);
	if (detail != NULL) {
		cut = xstrndup(
		    detail, text_cut(detail, strlen(detail), DETAIL_MAX));
		json_set_string(entry, "detail", cut);
	}
	json_object_array_add(task->history, entry);
	/* Keep the first and the latest entries, which matter most. */
	if (json_object_array_length(task->history) > TASK_HISTORY_MAX)
		json_object_array_del_idx(task->history, 1, 1);
}

/* Move to waiting, which can follow several steps, but only from the expected
 * one. */
static int
wait_after(struct task *task, enum task_step from, int64_t now_ms)
{
	if (task->step != from)
		return -EINVAL;
	return task_move(task, TASK_WAITING, now_ms, NULL);
}

struct task *
task_new_retry(const char *id, const struct task *old, int64_t now_ms)
{
	struct task *task =
	    task_new(id, old->source, old->key, old->title, old->text, now_ms);

	task_set_maker(task, old->maker, old->sandbox);
	xstrset(&task->label, old->label);
	xstrset(&task->landed_before, task_earlier_commit(old));
	task->priority = old->priority;
	verification_set(task, old->launch.contract);
	task->launch.report_only = old->launch.report_only;
	task->launch.required_tools =
	    strv_copy(strv_const(old->launch.required_tools));
	task->launch.wants = strv_copy(strv_const(old->launch.wants));
	xstrset(&task->launch.recovery, old->launch.recovery);
	task_note(task, "done again; it was", old->id, now_ms);
	if (task->landed_before != NULL)
		task_note(task, "did this before as commit",
		    task->landed_before, now_ms);
	return task;
}

int
task_named(
    const char *id, const char *source, const char *key, const char *word)
{
	const char *node = key != NULL ? strchr(key, '/') : NULL;
	const char *part = strchr(word, '/');
	size_t len = part != NULL ? (size_t)(part - word) : 0;

	if (text_is(id, word))
		return 5;
	if (text_is(key, word))
		return 4;
	if (!text_is(source, "plan") || node == NULL ||
	    (part != NULL &&
		(len == 0 || len > (size_t)(node - key) ||
		    strncmp(key, word, len) != 0)))
		return 0;
	/* "g1" is not the beginning of "g10". */
	if (len > 1 && key[0] == 'g' && key[1] >= '0' && key[1] <= '9' &&
	    key[len] != '/')
		return 0;
	node++;
	part = part != NULL ? part + 1 : word;
	if (strcmp(node, part) != 0 &&
	    (part[0] < '0' || part[0] > '9' || *node == '\0' ||
		strcmp(node + 1, part) != 0))
		return 0;
	return len == 0 ? 1 : key[len] == '/' ? 3 : 2;
}

void
task_set_maker(struct task *task, const char *maker, const char *sandbox)
{
	xstrset(&task->maker, maker);
	xstrset(&task->sandbox, sandbox);
}

bool
task_fits(const struct task *task, enum box_mode mode)
{
	enum box_mode least = BOX_STRICT;

	if (task->sandbox == NULL)
		return true;
	/* A word of a later version is not less than what we know. */
	box_mode_parse(task->sandbox, &least);
	return mode >= least;
}

void
task_keep_conversation(struct task *task, const struct session_record *session)
{
	xstrset(&task->conversation, session->id);
	xstrset(&task->transcript, session->transcript);
	task->history_ms = session->history_ms;
}

static void
task_forget_conversation(struct task *task)
{
	xstrset(&task->conversation, NULL);
	xstrset(&task->transcript, NULL);
	task->history_ms = 0;
}

int
task_move(struct task *task, enum task_step to, int64_t now_ms, struct err *err)
{
	if ((unsigned)to >= TASK_STEP_COUNT)
		return err_set(
		    err, -EINVAL, "%s: there is no such step", task->id);
	if (!task_step_may(task->step, to))
		return err_set(err, -EINVAL, "%s: %s cannot become %s",
		    task->id, task_step_name(task->step), task_step_name(to));
	/* What was asked is answered, or its work sent back, and the task given
	 * out again. */
	if (task->step != TASK_PARKED && task->step != TASK_QUEUED &&
	    to != TASK_ASSIGNED)
		task_forget_conversation(task);
	task->step = to;
	task->ask = ASK_NONE;
	if (to != TASK_PARKED)
		task->answered = false;
	if (to == TASK_ASSIGNED)
		task->assigned_ms = now_ms;
	if (to == TASK_SETTLING)
		task->finished_ms = now_ms;
	return 0;
}

int
task_take(struct task *task, int64_t now_ms)
{
	return wait_after(task, TASK_OFFERED, now_ms);
}

int
task_assign(struct task *task, const char *worker, int64_t now_ms)
{
	int r = task_move(task, TASK_ASSIGNED, now_ms, NULL);

	if (r < 0)
		return r;
	if (!text_is(task->worker, worker))
		task_forget_conversation(task);
	xstrset(&task->worker, worker);
	task->lines_known = false;
	xstrset(&task->weakens, NULL);
	task->attempt.waiting_ms = task->attempt.waited_ms = 0;
	if (task->from == NULL) {
		task->attempts++;
		task->turns_before += task->turns;
		task->turns = 0;
		task->nudges = 0;
		verification_attempt(task);
		task_attempt_begin(task, now_ms);
	}
	task_note(task, "assigned", worker, now_ms);
	return 0;
}

bool
task_attempt_failed(
    struct task *task, const char *reason, int max_attempts, int64_t now_ms)
{
	if (task->step != TASK_ASSIGNED && task->step != TASK_QUEUED &&
	    task->step != TASK_LANDED)
		return false;
	xstrset(&task->from, NULL);
	if (task->attempts >= max_attempts) {
		task_settle(task,
		    max_attempts <= 1 ? OUTCOME_FAILED : OUTCOME_DEAD_LETTER,
		    reason, now_ms);
		return false;
	}
	perf_record_end(task, OUTCOME_FAILED, now_ms);
	task_move(task, TASK_WAITING, now_ms, NULL);
	xstrset(&task->reason, reason);
	task_note(task, "attempt failed", reason, now_ms);
	return true;
}

/* The attempt does not count, unless it goes on from what there is. */
static void
uncount(struct task *task)
{
	if (task->from != NULL)
		return;
	if (task->attempts > 0)
		task->attempts--;
	task->attempt.started_ms = 0;
}

int
task_give_back(struct task *task, const char *why, int64_t now_ms)
{
	enum task_step from =
	    task->step == TASK_QUEUED ? TASK_QUEUED : TASK_ASSIGNED;
	int r = wait_after(task, from, now_ms);

	if (r < 0)
		return r;
	uncount(task);
	task_note(task, "given back", why, now_ms);
	return 0;
}

int
task_park(struct task *task, enum ask_kind kind, const char *from,
    const char *why, int64_t now_ms)
{
	bool begun = task->step != TASK_WAITING;
	int r = task_move(task, TASK_PARKED, now_ms, NULL);

	if (r < 0)
		return r;
	if (from != NULL)
		xstrset(&task->from, from);
	if (begun)
		uncount(task);
	task->ask = kind;
	xstrset(&task->reason, why);
	task_note(task, "parked", why, now_ms);
	return 0;
}

bool
task_asks(const struct task *task)
{
	return task->step == TASK_PARKED ||
	    (task->step == TASK_ASSIGNED && task->ask != ASK_NONE &&
		!task->answered);
}

void
task_answer(struct task *task, const char *advice)
{
	task->answered = true;
	if (advice != NULL)
		xstrset(&task->advice, advice);
}

int
task_unpark(struct task *task, const char *advice, int64_t now_ms)
{
	bool failed = task->ask == ASK_FAILURE;
	bool asked = task->ask == ASK_QUESTION;
	int r = wait_after(task, TASK_PARKED, now_ms);

	if (r < 0)
		return r;
	if (failed)
		task->attempts_allowed = task->attempts;
	task->tokens_allowed = task->tokens;
	task->cost_allowed = task->spent.cost;
	task->turns_allowed = task->turns_before + task->turns;
	task->nudges = 0;
	task->time_allowed_ms = 0; /* counted from the next assignment */
	if (task->from == NULL || asked)
		xstrset(&task->reason, NULL); /* it did not fail */
	if (advice != NULL)
		xstrset(&task->advice, advice);
	task_note(task, "resumed by a person", advice, now_ms);
	return 0;
}

int
task_elsewhere(struct task *task, const char *host, int64_t now_ms)
{
	bool moves = task->step != TASK_ELSEWHERE;
	int r = moves ? task_move(task, TASK_ELSEWHERE, now_ms, NULL) : 0;

	if (r < 0 || (!moves && text_is(task->host, host)))
		return r;
	xstrset(&task->host, host);
	task_note(task, "claimed by host", host, now_ms);
	return 0;
}

int
task_returned(struct task *task, const char *why, int64_t now_ms)
{
	int r = wait_after(task, TASK_ELSEWHERE, now_ms);

	if (r < 0)
		return r;
	task_note(task, "back from another host", why, now_ms);
	return 0;
}

int
task_queue(struct task *task, int64_t now_ms)
{
	int r = task_move(task, TASK_QUEUED, now_ms, NULL);

	if (r < 0)
		return r;
	xstrset(&task->from, NULL); /* the queue has what follows from it */
	task_note(task, "queued without its worker", task->worker, now_ms);
	return 0;
}

int
task_send_back(
    struct task *task, const char *from, const char *why, int64_t now_ms)
{
	int r = wait_after(task, TASK_QUEUED, now_ms);

	if (r < 0)
		return r;
	xstrset(&task->from, from);
	xstrset(&task->reason, why);
	task_note(task, "sent back", why, now_ms);
	return 0;
}

int
task_landed(struct task *task, const char *commit, int64_t now_ms)
{
	int r = task_move(task, TASK_LANDED, now_ms, NULL);

	if (r < 0)
		return r;
	xstrset(&task->commit, commit);
	task_note(task, commit == NULL ? "nothing left to land" : "landed",
	    commit, now_ms);
	return 0;
}

int
task_settle(struct task *task, enum task_outcome outcome, const char *reason,
    int64_t now_ms)
{
	bool good = outcome == OUTCOME_LANDED || outcome == OUTCOME_NO_CHANGES;
	int r = task_move(task, TASK_SETTLING, now_ms, NULL);

	if (r < 0)
		return r;
	task->outcome = outcome;
	perf_record_end(task, outcome, now_ms);
	if (reason != NULL || good)
		xstrset(&task->reason, reason);
	task_note(task, task_outcome_name(outcome), reason, now_ms);
	return 0;
}

static void
add_quoted(const char *text, struct buf *out)
{
	size_t len;

	for (; *text != '\0'; text += len) {
		len = strcspn(text, "\n");
		buf_addf(out, "> %.*s\n", (int)len, text);
		len += text[len] == '\n' ? 1 : 0;
	}
}

static void
end_line(struct buf *out)
{
	if (out->len > 0 && out->data[out->len - 1] != '\n')
		buf_addc(out, '\n');
}

void
task_text(const struct task *task, struct buf *out)
{
	int failed = task->attempts - (task->step == TASK_ASSIGNED ? 1 : 0);
	cleanup_buf struct buf known = BUF_INIT; /* a reason to name */

	if (verification_is_retry(task)) {
		verification_retry_text(task, out);
		verification_reason(task, &known);
	} else if (task->text != NULL) {
		buf_adds(out, task->text);
	}
	if (task->landed_before != NULL) {
		end_line(out);
		buf_addf(out,
		    "\nThis task was done before, as commit %s, and is to be "
		    "done again. Look at that commit, and at what has become "
		    "of it since.\n",
		    task->landed_before);
	}
	if (task->advice != NULL) {
		end_line(out);
		buf_addf(out, "\nA person says: %s\n", task->advice);
	}
	if (task->reason == NULL ||
	    (known.len > 0 && strcmp(task->reason, known.data) == 0))
		return;
	end_line(out);
	if (task->from != NULL)
		buf_addf(out,
		    "\nThis task was worked on before. That work is in your "
		    "worktree, as commit %.12s, but it has not landed:\n",
		    task->from);
	else if (failed > 1)
		buf_addf(out,
		    "\n%d earlier attempts at this task failed. How the last "
		    "one ended:\n",
		    failed);
	else
		buf_adds(out,
		    "\nAn earlier attempt at this task failed. How it "
		    "ended:\n");
	add_quoted(task->reason, out);
	if (task->last_words != NULL && *task->last_words != '\0') {
		buf_adds(out, "The last message of the agent that tried:\n");
		add_quoted(task->last_words, out);
	}
}

static bool
label_in_use(const char *label, struct task *const *tasks, size_t count)
{
	if (label == NULL)
		return false;
	for (size_t i = 0; i < count; i++)
		if ((tasks[i]->step == TASK_ASSIGNED ||
			tasks[i]->step == TASK_QUEUED) &&
		    text_is(tasks[i]->label, label))
			return true;
	return false;
}

bool
task_is_made_by(const struct task *task, const char *worker)
{
	/* The workers of other hosts have the same names. */
	return text_is(task->maker, worker) &&
	    !text_is(task->source, HOSTS_SOURCE) &&
	    !text_is(task->source, HOSTS_CHILD_SOURCE);
}

int
task_rank_of(enum priority priority, bool made_by_agent)
{
	return (int)priority + (made_by_agent ? PRIORITY_COUNT : 0);
}

int
task_rank(const struct task *task)
{
	return task_rank_of(task->priority, task->maker != NULL);
}

enum priority
task_landing_priority(const struct task *task)
{
	return task->maker != NULL ? PRIORITY_LOW : task->priority;
}

/* Does it come before another, if their labels make no difference? */
static bool
comes_before(const struct task *task, const struct task *other)
{
	int order = task_rank(task) - task_rank(other);

	return order != 0 ? order < 0 : task->created_ms < other->created_ms;
}

struct task *
task_next_waiting(struct task *const *tasks, size_t count)
{
	struct task *best = NULL, *task;
	bool best_used = false, used;

	for (size_t i = 0; i < count; i++) {
		task = tasks[i];
		if (task->step != TASK_WAITING)
			continue;
		used = label_in_use(task->label, tasks, count);
		if (best != NULL &&
		    (used != best_used ? used : !comes_before(task, best)))
			continue;
		best = task;
		best_used = used;
	}
	return best;
}

struct task *
task_for_fix(const char *id, struct task *const *broken, size_t count,
    const char *command, const char *output, int64_t now_ms)
{
	const struct task *last = broken[count - 1];
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *title = xasprintf("Fix after: %s", last->title);
	struct task *task;
	int fixes = 0;

	buf_adds(&text,
	    "A command that checks the default branch after each landing "
	    "failed, and must succeed again.\n\nThe command:\n");
	add_quoted(command, &text);
	for (size_t i = 0; i < count; i++) {
		buf_adds(&text, i == 0 ? "What had just landed" : "And");
		if (broken[i]->commit != NULL)
			buf_addf(&text, " as %s", broken[i]->commit);
		buf_adds(&text, ":\n");
		add_quoted(broken[i]->title, &text);
		if (broken[i]->fixes > fixes)
			fixes = broken[i]->fixes;
	}
	buf_adds(&text, "What the command printed:\n");
	excerpt_add(output, &text);
	buf_adds(&text,
	    "\nFind the cause and fix it. Do not make the command or its "
	    "checks less strict.\n");
	task = task_new(id, "fix", last->id, title, text.data, now_ms);
	xstrset(&task->label, last->label);
	task->priority =
	    PRIORITY_URGENT; /* everything that lands until then fails too */
	task->fixes = fixes + 1;
	return task;
}

struct task *
task_for_red(
    const char *id, const char *tree, const char *words, int64_t now_ms)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct task *task;

	buf_adds(&text,
	    "The command that checks all work fails on the branch itself, so "
	    "nothing else can land.\n\n");
	excerpt_add(words, &text);
	buf_adds(&text,
	    "\nFind the cause and fix it, so that the command succeeds again. "
	    "Do not make the command or its checks less strict.\n");
	task = task_new(
	    id, "fix", tree, "Fix the landing branch", text.data, now_ms);
	task->priority = PRIORITY_URGENT; /* nothing lands until then */
	return task;
}

/* --- as JSON --------------------------------------------------------- */

/* The JSON record of a task: one table for reading and writing. */

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct task, key, member, ##__VA_ARGS__)

/* In the order of struct task; every member but the id may be missing. The
 * priority, the history and what was spent are read and written by hand. */
static const struct schema_field fields[] = {
	FIELD("id", id),
	FIELD("source", source),
	FIELD("key", key),
	FIELD("title", title),
	FIELD("text", text),
	FIELD("maker", maker, .flags = SCHEMA_OMIT_UNSET),
	FIELD("sandbox", sandbox, .flags = SCHEMA_OMIT_UNSET),
	FIELD("label", label),
	FIELD("step", step, .words = task_step_words),
	FIELD("outcome", outcome, .words = task_outcome_words),
	FIELD("ask", ask, .words = ask_kind_words, .flags = SCHEMA_OMIT_UNSET),
	FIELD("worker", worker),
	FIELD("host", host, .flags = SCHEMA_OMIT_UNSET),
	FIELD("attempts", attempts),
	FIELD("attempts_allowed", attempts_allowed, .flags = SCHEMA_OMIT_UNSET),
	FIELD("avoid", avoid, .flags = SCHEMA_OMIT_UNSET),
	FIELD("turns", turns),
	FIELD("turns_before", turns_before),
	FIELD("nudges", nudges),
	FIELD("excused_ms", excused_ms, .flags = SCHEMA_OMIT_UNSET),
	FIELD("fixes", fixes),
	FIELD("created_ms", created_ms, .flags = SCHEMA_CLAMP),
	FIELD("assigned_ms", assigned_ms, .flags = SCHEMA_CLAMP),
	FIELD("finished_ms", finished_ms, .flags = SCHEMA_CLAMP),
	FIELD("tokens", tokens),
	FIELD("tokens_allowed", tokens_allowed),
	FIELD("family_tokens", family_tokens, .flags = SCHEMA_OMIT_UNSET),
	FIELD("family_cost", family_cost, .flags = SCHEMA_OMIT_UNSET),
	FIELD("cost_allowed", cost_allowed),
	FIELD("time_allowed_ms", time_allowed_ms),
	FIELD("turns_allowed", turns_allowed),
	FIELD("from", from),
	FIELD("base", base),
	FIELD("kept", kept),
	FIELD("lines_known", lines_known),
	FIELD("lines_added", lines_added),
	FIELD("lines_removed", lines_removed),
	FIELD("weakens", weakens),
	FIELD("commit", commit),
	FIELD("pull", pull, .flags = SCHEMA_OMIT_UNSET),
	FIELD("pull_url", pull_url, .flags = SCHEMA_OMIT_UNSET),
	FIELD("pull_asks", pull_asks, .flags = SCHEMA_OMIT_UNSET),
	FIELD("move", move),
	FIELD("place", place),
	FIELD("overtaken", overtaken, .flags = SCHEMA_OMIT_UNSET),
	FIELD("held_by", held_by),
	FIELD("landed_before", landed_before),
	FIELD("run_id", run_id),
	FIELD("abort_why", abort_why),
	FIELD("abort_user", abort_user),
	FIELD("dropped", dropped, .flags = SCHEMA_OMIT_UNSET),
	FIELD("conversation", conversation, .flags = SCHEMA_OMIT_UNSET),
	FIELD("transcript", transcript, .flags = SCHEMA_OMIT_UNSET),
	FIELD("history_ms", history_ms, .flags = SCHEMA_OMIT_UNSET),
	FIELD("answered", answered, .flags = SCHEMA_OMIT_UNSET),
	FIELD("advice", advice),
	FIELD("reason", reason),
	FIELD("last_words", last_words),
};

const struct schema task_table = { .fields = fields, .count = nitems(fields) };

static struct json_object *
priority_to_json(const void *member)
{
	return json_object_new_string(
	    priority_name(*(const enum priority *)member));
}

static int
priority_from_json(
    struct json_object *json, const char *at, void *member, struct err *err)
{
	enum priority *priority = member;
	unsigned word = PRIORITY_NORMAL;
	int r;

	if (!json_object_is_type(json, json_type_string))
		return err_set(err, -EINVAL, "%s: expected a string, found %s",
		    at, json_type_words(json));
	r = word_parse(
	    json_object_get_string(json), at, priority_words, &word, err);
	if (r == 0)
		*priority = (enum priority)word;
	return r;
}

static struct json_object *
history_to_json(const void *member)
{
	return json_object_get(((const struct task *)member)->history);
}

static int
get_entry(struct json_object *entry, const char *at, struct task *task,
    struct err *err)
{
	const char *what = NULL, *detail = NULL;
	int64_t at_unix = 0;
	int r;

	r = json_get_int(
	    entry, at, "at_unix", 0, INT64_MAX / 1000, &at_unix, err);
	if (r == 0)
		r = json_get_string(entry, at, "what", &what, err);
	if (r < 0)
		return -EINVAL;
	r = json_get_string(entry, at, "detail", &detail, err);
	if (r < 0 && r != -ENOENT)
		return r;
	task_note(task, what, detail, at_unix * 1000);
	return 0;
}

/* Copy entry by entry: the document keeps its own, and the number of entries is
 * limited. */
static int
history_from_json(
    struct json_object *json, const char *at, void *member, struct err *err)
{
	cleanup_buf struct buf item = BUF_INIT;
	int r = 0;

	if (!json_object_is_type(json, json_type_array))
		return err_set(err, -EINVAL, "%s: expected an array, found %s",
		    at, json_type_words(json));
	for (size_t i = 0; r == 0 && i < json_object_array_length(json); i++) {
		buf_clear(&item);
		json_path_index(&item, at, i);
		r = get_entry(
		    json_object_array_get_idx(json, i), item.data, member, err);
	}
	return r;
}

static void
history_release(void *member)
{
	json_object_put(take_ptr(&((struct task *)member)->history));
}

static const struct schema_own priority_own = {
	.size = sizeof(enum priority),
	.to_json = priority_to_json,
	.from_json = priority_from_json,
};
static const struct schema_own history_own = {
	.to_json = history_to_json,
	.from_json = history_from_json,
	.release = history_release,
};

static const struct schema plain = SCHEMA_OF(struct task, fields);

static const struct schema_field run_fields[] = {
	SCHEMA_PART(struct task, "", STRUCT, launch, task_launch_schema,
	    .flags = SCHEMA_FLAT),
	SCHEMA_PART(struct task, "", STRUCT, attempt, task_attempt_schema,
	    .flags = SCHEMA_FLAT),
};

static const struct schema run_schema = SCHEMA_OF(struct task, run_fields);

static const struct schema_field all[] = {
	SCHEMA_GROUP("", plain, .flags = SCHEMA_FLAT),
	SCHEMA_PART(
	    struct task, "", STRUCT, spent, spent_schema, .flags = SCHEMA_FLAT),
	SCHEMA_OWN(struct task, "priority", priority, SCHEMA_STRING,
	    priority_own, .words = priority_words),
	{ .name = "history",
	    .is_member = true,
	    .type = SCHEMA_ARRAY,
	    .own = &history_own },
	SCHEMA_GROUP("run", run_schema, .flags = SCHEMA_OMIT_UNSET),
};

const struct schema task_schema = SCHEMA_OF(struct task, all);

struct json_object *
task_to_json(const struct task *task)
{
	return schema_json(&task_schema, task);
}

int
task_from_json(struct json_object *json, const char *at, struct task **ret_task,
    struct err *err)
{
	struct task *task;
	struct err words = { 0 };
	const char *id = NULL;
	int r;

	r = json_get_string(json, at, "id", &id, &words);
	if (r == 0 && !text_is_name(id))
		r = err_set(&words, -EINVAL, "%s%sid: not a task's id", at,
		    *at == '\0' ? "" : ".");
	if (r < 0)
		return err_set(err, -EINVAL, "%s", words.msg);
	task = task_new(
	    id, NULL, NULL, NULL, json_string_or(json, "text", NULL), 0);
	r = schema_read(&task_schema, json, at, task, &words);
	if (r < 0) {
		task_free(task);
		return err_set(err, -EINVAL, "%s", words.msg);
	}
	/* Repair combinations that do not fit together, since the file may have
	 * been edited by hand: a task without a worker, or without an outcome,
	 * waits. */
	if ((task->step == TASK_ASSIGNED && task->worker == NULL) ||
	    (task->step == TASK_SETTLING && task->outcome == OUTCOME_NONE))
		task->step = TASK_WAITING;
	*ret_task = task;
	return 0;
}
