/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "ask-follow.h"
#include "ask-record.h"
#include "task.h"
#include "worker.h"

/* Of what a worker works on, in an ask about it. */
#define WORK_MAX 200

struct follow {
	const struct ask_facts *facts;
	struct ask **added;
	size_t count;
};

static struct ask *
find(const struct follow *f, const char *key)
{
	for (size_t i = 0; i < f->facts->ask_count; i++)
		if (strcmp(f->facts->asks[i]->key, key) == 0)
			return f->facts->asks[i];
	return NULL;
}

static void
want(struct follow *f, const struct ask_draft *draft)
{
	struct ask *ask = find(f, draft->key);

	if (ask == NULL) {
		ask = ask_new(draft, f->facts->ids + (int64_t)f->count + 1,
		    f->facts->now_ms);
		f->added =
		    xreallocarray(f->added, f->count + 1, sizeof(struct ask *));
		f->added[f->count++] = ask;
	} else if (ask_update(ask, draft)) {
		ask->changed = true;
	}
	ask->wanted = true;
}

/* The first row that fits counts. A worker that a person has paused waits for
 * nothing that this person does not know. */
static const struct {
	enum worker_status status;
	unsigned holds; /* 0 = any */
	bool by_hand; /* only of a worker that auto mode does not drive, or
		       * whose work only a person may accept */
	enum ask_kind kind;
	enum escalation_level level;
	const char *title;
	const char *command; /* the name follows */
} waits[] = {
	{ WORKER_ERROR, 0, false, ASK_FAILURE, ESCALATION_CRITICAL,
	    "a worker has failed", "llmc log daemon --worker " },
	{ WORKER_PAUSED, WORKER_HOLD_TRUST, false, ASK_BLOCKED,
	    ESCALATION_CRITICAL, "a worker cannot start", NULL },
	{ WORKER_PAUSED, WORKER_HOLD_PERSON, false, ASK_NONE, ESCALATION_INFO,
	    NULL, NULL },
	{ WORKER_PAUSED, WORKER_HOLD_BUDGET, false, ASK_BUDGET,
	    ESCALATION_WARNING, "a budget is reached", NULL },
	{ WORKER_PAUSED, WORKER_HOLD_HOURS, false, ASK_NONE, ESCALATION_INFO,
	    NULL, NULL },
	{ WORKER_PAUSED, 0, false, ASK_BLOCKED, ESCALATION_WARNING,
	    "a worker waits for you", NULL },
	{ WORKER_NEEDS_REVIEW, 0, true, ASK_REVIEW, ESCALATION_INFO,
	    "work waits for a review", "llmc review " },
	{ WORKER_NO_CHANGES, 0, true, ASK_REVIEW, ESCALATION_INFO,
	    "a worker has changed nothing", "llmc message " },
};

/* What fails for one worker fails for all of them: that is one ask. */
static const struct {
	enum worker_status status;
	const char *words; /* in its reason */
	enum ask_kind kind;
	const char *key, *title, *command;
} common[] = {
	{ WORKER_ERROR, WORKER_SETUP_FAILED, ASK_FAILURE, "setup",
	    "worktrees cannot be set up", "llmc log daemon" },
	{ WORKER_PAUSED, WORKER_LOGIN_LOST, ASK_BLOCKED, "login",
	    "the agent is not logged in", "llmc resume" },
};

/* Which of them it is; their number = none. */
static size_t
common_of(const struct worker *w)
{
	size_t i = 0;

	while (i < nitems(common) &&
	    (w->status != common[i].status || w->reason == NULL ||
		strstr(w->reason, common[i].words) == NULL))
		i++;
	return i;
}

/* Each kind of agent has a login of its own: is it another one? */
static bool
is_other_login(const struct worker *a, const struct worker *b)
{
	const char *of = strstr(a->reason, WORKER_LOGIN_LOST);
	const char *than = strstr(b->reason, WORKER_LOGIN_LOST);
	size_t len = of != NULL ? strcspn(of, ",") : 0;

	return of != NULL && than != NULL &&
	    (strcspn(than, ",") != len || strncmp(of, than, len) != 0);
}

static void
want_common(struct follow *f, size_t which)
{
	const struct ask_facts *facts = f->facts;
	const struct worker *first = NULL, *other = NULL;
	cleanup_buf struct buf words = BUF_INIT;
	size_t count = 0;

	for (size_t i = 0; i < facts->worker_count; i++) {
		if (common_of(facts->workers[i]) != which)
			continue;
		if (first == NULL)
			first = facts->workers[i];
		else if (is_other_login(facts->workers[i], first))
			other = facts->workers[i];
		count++;
	}
	if (first == NULL)
		return;
	buf_adds(&words, first->name);
	if (count > 1)
		buf_addf(&words, " and %zu more", count - 1);
	buf_addf(&words, ": %s", first->reason);
	if (other != NULL)
		buf_addf(&words, "; %s: %s", other->name, other->reason);
	want(f,
	    &(struct ask_draft){ .kind = common[which].kind,
		.level = ESCALATION_CRITICAL,
		.key = common[which].key,
		.title = common[which].title,
		.words = words.data,
		.command = common[which].command });
}

static void
want_worker(struct follow *f, const struct worker *w)
{
	const char *work = w->prompt != NULL ? w->prompt : "";
	cleanup_free char *key = xasprintf("worker/%s", w->name);
	cleanup_free char *command = NULL, *words = NULL;
	size_t i = 0;

	while (i < nitems(waits) &&
	    (w->status != waits[i].status ||
		(waits[i].holds != 0 &&
		    (worker_holds(w) & waits[i].holds) == 0) ||
		(waits[i].by_hand && worker_is_auto(w->name) &&
		    !w->for_person)))
		i++;
	if (i == nitems(waits) || waits[i].kind == ASK_NONE ||
	    common_of(w) < nitems(common))
		return;
	if (waits[i].command != NULL)
		command = xasprintf("%s%s", waits[i].command, w->name);
	words = w->reason != NULL ?
	    xstrdup(w->reason) :
	    xasprintf("%s%s%.*s", waits[i].title, *work != '\0' ? ": " : "",
		(int)text_cut(work, strlen(work), WORK_MAX), work);
	want(f,
	    &(struct ask_draft){ .kind = waits[i].kind,
		.level = waits[i].level,
		.key = key,
		.title = waits[i].title,
		.words = words,
		.command = command,
		.worker = w->name,
		.task = w->task });
}

static void
want_task(struct follow *f, const struct task *t)
{
	static const char *const titles[ASK_KIND_COUNT] = {
		[ASK_NONE] = "a task waits for you",
		[ASK_QUESTION] = "an agent asks a question",
		[ASK_APPROVAL] = "a task needs your consent",
		[ASK_BLOCKED] = "a task is blocked",
		[ASK_FAILURE] = "a task goes wrong",
		[ASK_BUDGET] = "a budget is reached",
		[ASK_REVIEW] = "work waits for a review",
		[ASK_TOLD] = "a task waits for you",
	};
	cleanup_free char *key = xasprintf("task/%s", t->id);
	const struct ask *old = find(f, key);
	enum ask_kind kind = t->ask != ASK_NONE ? t->ask : ASK_BLOCKED;
	/* Its words are those of the question, too. */
	bool asks = old != NULL && old->kind == kind && old->question != NULL;
	bool planned = t->source != NULL && t->key != NULL &&
	    strcmp(t->source, "plan") == 0 && strchr(t->key, '/') != NULL;
	cleanup_free char *goal =
	    planned ? xstrndup(t->key, strcspn(t->key, "/")) : NULL;
	cleanup_free char *question = asks ? xstrdup(old->question) : NULL;
	cleanup_free char *words = xstrdup(asks ? old->words :
		t->reason != NULL               ? t->reason :
						  titles[t->ask]);

	want(f,
	    &(struct ask_draft){ .kind = kind,
		.level = ESCALATION_WARNING,
		.key = key,
		.title = titles[t->ask],
		.words = words,
		.question = question,
		.options = asks ? strv_const(old->options) : NULL,
		.goal = goal,
		.node = planned ? strchr(t->key, '/') + 1 : NULL,
		.task = t->id });
}

/* Its pull request is for a person to merge: a need, and no alarm. */
static void
want_merge(struct follow *f, const struct task *t)
{
	cleanup_free char *key = xasprintf("pull/%s", t->id);
	cleanup_free char *words = t->pull_url == NULL ?
	    xstrdup(t->pull) :
	    xasprintf("review it, and merge or close it: %s (%s)", t->pull_url,
		t->pull);
	cleanup_free char *command = xasprintf("llmc task show %s", t->id);

	want(f,
	    &(struct ask_draft){ .kind = ASK_REVIEW,
		.level = ESCALATION_INFO,
		.key = key,
		.title = "a pull request waits for you",
		.words = words,
		.command = command,
		.task = t->id });
}

static bool
is_about(const struct ask *ask, const char *what)
{
	return text_begins(ask->key, what);
}

/* Nodes of the goal that have no ask of their own, and whose task is not
 * parked. */
static void
want_goal(struct follow *f, struct json_object *goal)
{
	const struct ask_facts *facts = f->facts;
	const char *id = json_string_or(goal, "goal", "?");
	int64_t blocked = json_int_or(goal, "blocked", 0);
	cleanup_free char *key = xasprintf("goal/%s", id);
	cleanup_free char *command = xasprintf("llmc goal show %s", id);
	cleanup_free char *words = NULL;
	size_t len = strlen(id);

	for (size_t i = 0; i < facts->ask_count; i++)
		blocked -= is_about(facts->asks[i], "node/") &&
		    strcmp(facts->asks[i]->goal, id) == 0;
	for (size_t i = 0; i < facts->task_count; i++) {
		const struct task *t = facts->tasks[i];

		blocked -= t->step == TASK_PARKED && t->key != NULL &&
		    strncmp(t->key, id, len) == 0 && t->key[len] == '/';
	}
	if (blocked <= 0)
		return;
	words = xasprintf("%" PRId64 " node%s blocked", blocked,
	    blocked == 1 ? " is" : "s are");
	want(f,
	    &(struct ask_draft){ .kind = ASK_BLOCKED,
		.level = ESCALATION_WARNING,
		.key = key,
		.title = "a goal is blocked",
		.words = words,
		.command = command,
		.goal = id });
}

static void
want_rest(struct follow *f)
{
	const struct ask_facts *facts = f->facts;
	struct ask *alike = find(f, ASKS_ALIKE), *trial = find(f, ASKS_TRIAL);
	struct json_object *goals = NULL;
	const struct {
		enum ask_kind kind;
		enum escalation_level level;
		const char *key, *title, *command;
		const char *words; /* NULL = it is not so */
	} rest[] = {
		{ ASK_BLOCKED, ESCALATION_CRITICAL, ASKS_PAUSED,
		    "no task is given out", "llmc resume",
		    alike == NULL && trial == NULL ? facts->paused : NULL },
		{ ASK_FAILURE, ESCALATION_CRITICAL, "branch",
		    "the landing branch fails its check", "llmc landing",
		    facts->red && trial == NULL ?
			"the landing branch fails its own check" :
			NULL },
		{ ASK_TOLD, ESCALATION_WARNING, "check", "nothing is checked",
		    "llmc config set auto.check_command COMMAND",
		    facts->unchecked ? "auto.check_command is not set: work "
				       "lands without a test; without one on "
				       "purpose: set it to none" :
				       NULL },
		{ ASK_BLOCKED, ESCALATION_WARNING, "checkout",
		    "work cannot land", "git status",
		    facts->dirty ? "uncommitted changes hold up the landings" :
				   NULL },
		{ ASK_BLOCKED, ESCALATION_WARNING, "follow",
		    "the branch cannot follow origin", "git status",
		    facts->behind },
		{ ASK_FAILURE, ESCALATION_WARNING, "push", "a push failed",
		    "llmc resume", facts->unpushed },
		{ ASK_BLOCKED, ESCALATION_CRITICAL, "goals", "goals are off",
		    "llmc doctor", json_string_or(facts->goals, "off", NULL) },
	};

	for (size_t i = 0; i < nitems(rest); i++)
		if (rest[i].words != NULL)
			want(f,
			    &(struct ask_draft){ .kind = rest[i].kind,
				.level = rest[i].level,
				.key = rest[i].key,
				.title = rest[i].title,
				.words = rest[i].words,
				.command = rest[i].command });
	if (alike != NULL && facts->paused != NULL)
		alike->wanted = true;
	if (trial != NULL && facts->paused != NULL)
		trial->wanted = true;
	if (facts->goals != NULL)
		json_get_array(facts->goals, "", "goals", &goals, NULL);
	for (size_t i = 0; goals != NULL && i < json_object_array_length(goals);
	     i++)
		want_goal(f, json_object_array_get_idx(goals, i));
}

/* Its task is tried again, has ended, or asks for itself. */
static bool
is_over(const struct ask_facts *facts, const struct ask *ask)
{
	const struct task *t = NULL;

	for (size_t i = 0; ask->task != NULL && i < facts->task_count; i++)
		if (strcmp(facts->tasks[i]->id, ask->task) == 0)
			t = facts->tasks[i];
	if (ask->kind == ASK_TOLD)
		return is_about(ask, "oversight/") &&
		    (t == NULL || t->step == TASK_PARKED);
	if (is_about(ask, "node/"))
		return t != NULL && t->step == TASK_PARKED;
	return ask->kind == ASK_FAILURE && t != NULL &&
	    t->step != TASK_SETTLING;
}

/* An agent asks it, and is there: while goals are off, this alone ends it. */
static bool
is_asked(const struct ask_facts *facts, const struct ask *ask)
{
	bool worker = ask->worker == NULL, task = ask->task == NULL;

	for (size_t i = 0; !worker && i < facts->worker_count; i++)
		worker = strcmp(facts->workers[i]->name, ask->worker) == 0;
	for (size_t i = 0; !task && i < facts->task_count; i++)
		task = strcmp(facts->tasks[i]->id, ask->task) == 0;
	return is_about(ask, ASK_OF_AGENT) && worker && task;
}

struct ask **
ask_follow(const struct ask_facts *facts, size_t *ret_count)
{
	struct follow f = { .facts = facts };

	for (size_t i = 0; i < facts->ask_count; i++)
		facts->asks[i]->wanted = is_asked(facts, facts->asks[i]);
	for (size_t i = 0; i < facts->worker_count; i++)
		want_worker(&f, facts->workers[i]);
	for (size_t i = 0; i < nitems(common); i++)
		want_common(&f, i);
	for (size_t i = 0; i < facts->task_count; i++) {
		if (task_asks(facts->tasks[i]))
			want_task(&f, facts->tasks[i]);
		if (facts->tasks[i]->pull_asks)
			want_merge(&f, facts->tasks[i]);
	}
	want_rest(&f);
	for (size_t i = 0; i < facts->ask_count; i++) {
		struct ask *ask = facts->asks[i];

		if (!ask->wanted && (!ask->stays || is_over(facts, ask)))
			ask_close(ask,
			    ask->answer != NULL ? ASK_ANSWERED : ASK_RESOLVED,
			    facts->now_ms);
	}
	*ret_count = f.count;
	return f.added;
}
