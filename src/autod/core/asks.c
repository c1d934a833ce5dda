/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "asks.h"
#include "book-history.h"
#include "core.h"
#include "landing-record.h"
#include "people.h"
#include "persist.h"
#include "serve.h"
#include "settings.h"
#include "task.h"
#include "worker.h"

/* Of what a worker works on, in an ask about it. */
#define WORK_MAX 200
/* What is said again and again is written this often. */
#define AGAIN_MS (60 * 1000)

static void
end(struct core *core, struct ask *ask, enum ask_end how, const char *answer,
    const char *by)
{
	ask->how = how;
	ask->ended_ms = clock_wall_ms();
	if (answer != NULL)
		xstrset(&ask->answer, answer);
	if (by != NULL)
		xstrset(&ask->by, by);
	book_put_ask(core->book, ask);
	state_take_ask(&core->state, ask);
	ask_free(ask);
}

static struct ask *
add(struct core *core, const struct ask_draft *draft)
{
	struct ask *ask =
	    ask_new(draft, core->state.ask_ids + 1, clock_wall_ms());

	state_add_ask(&core->state, ask);
	book_put_ask(core->book, ask);
	return ask;
}

void
asks_open(struct core *core, const struct ask_draft *draft)
{
	struct ask *ask = state_ask(&core->state, draft->key);

	if (core->book == NULL)
		return;
	if (ask == NULL) {
		ask = add(core, draft);
	} else {
		bool is_new = ask_update(ask, draft);
		int64_t now = clock_wall_ms();

		ask->count++;
		if (is_new || now - ask->said_ms >= AGAIN_MS) {
			ask->said_ms = now;
			book_put_ask(core->book, ask);
		}
	}
	if (draft->kind == ASK_TOLD && draft->level < ESCALATION_CRITICAL)
		end(core, ask, ASK_RESOLVED, NULL, NULL);
}

void
asks_move(struct core *core, const char *key, const char *to)
{
	struct ask *ask = state_ask(&core->state, key);

	if (ask == NULL || state_ask(&core->state, to) != NULL)
		return;
	xstrset(&ask->key, to);
	ask->stays = true;
	book_put_ask(core->book, ask);
}

void
asks_resolve(struct core *core, const char *key)
{
	struct ask *ask = state_ask(&core->state, key);

	if (ask != NULL)
		end(core, ask, ASK_RESOLVED, NULL, NULL);
}

/* --- what follows from the state ---------------------------------------- */

struct look {
	struct core *core;
	unsigned mark;
};

static void
want(const struct look *look, const struct ask_draft *draft)
{
	struct core *core = look->core;
	struct ask *ask = state_ask(&core->state, draft->key);

	if (ask == NULL)
		ask = add(core, draft);
	else if (ask_update(ask, draft))
		book_put_ask(core->book, ask);
	ask->mark = look->mark;
}

/* The first row that fits counts. A worker that a person has paused waits for
 * nothing that this person does not know. */
static const struct {
	enum worker_status status;
	unsigned holds; /* 0 = any */
	bool by_hand; /* only of a worker that auto mode does not drive */
	enum ask_kind kind;
	enum escalation_level level;
	const char *title;
	const char *command; /* ends with a blank: the name follows */
} waits[] = {
	{ WORKER_ERROR, 0, false, ASK_FAILURE, ESCALATION_CRITICAL,
	    "a worker has failed", "llmc logs --worker " },
	{ WORKER_PAUSED, WORKER_HOLD_TRUST, false, ASK_BLOCKED,
	    ESCALATION_CRITICAL, "a worker cannot start", NULL },
	{ WORKER_PAUSED, WORKER_HOLD_PERSON, false, ASK_NONE, ESCALATION_INFO,
	    NULL, NULL },
	{ WORKER_PAUSED, WORKER_HOLD_BUDGET, false, ASK_BUDGET,
	    ESCALATION_WARNING, "a budget is reached", NULL },
	{ WORKER_PAUSED, 0, false, ASK_BLOCKED, ESCALATION_WARNING,
	    "a worker waits for you", NULL },
	{ WORKER_NEEDS_REVIEW, 0, true, ASK_REVIEW, ESCALATION_INFO,
	    "work waits for a review", "llmc review " },
	{ WORKER_NO_CHANGES, 0, true, ASK_REVIEW, ESCALATION_INFO,
	    "a worker has changed nothing", "llmc message " },
};

static void
want_worker(const struct look *look, const struct worker *w)
{
	const char *work = w->prompt != NULL ? w->prompt : "";
	cleanup_free char *key = NULL, *command = NULL, *words = NULL;

	for (size_t i = 0; i < nitems(waits); i++) {
		const char *typed = waits[i].command;

		if (w->status != waits[i].status ||
		    (waits[i].holds != 0 &&
			(worker_holds(w) & waits[i].holds) == 0) ||
		    (waits[i].by_hand && worker_is_auto(w->name)))
			continue;
		if (waits[i].kind == ASK_NONE)
			return;
		key = xasprintf("worker/%s", w->name);
		if (typed != NULL)
			command = xasprintf("%s%s", typed,
			    typed[strlen(typed) - 1] == ' ' ? w->name : "");
		words = w->reason != NULL ?
		    xstrdup(w->reason) :
		    xasprintf("%s%s%.*s", waits[i].title,
			*work != '\0' ? ": " : "",
			(int)text_cut(work, strlen(work), WORK_MAX), work);
		want(look,
		    &(struct ask_draft){ .kind = waits[i].kind,
			.level = waits[i].level,
			.key = key,
			.title = waits[i].title,
			.words = words,
			.command = command,
			.worker = w->name,
			.task = w->task });
		return;
	}
}

static void
want_question(const struct look *look, const struct worker *w)
{
	cleanup_free char *key = NULL, *words = NULL;

	struct ask *ask;

	if (w->asks_id == NULL || !w->asks_person)
		return;
	key = xasprintf("question/%s", w->asks_id);
	ask = state_ask(&look->core->state, key);
	if (ask != NULL) { /* whoever asked said more than the worker has */
		ask->mark = look->mark;
		return;
	}
	words =
	    xasprintf("%s asks: %s", w->name, w->asks != NULL ? w->asks : "");
	want(look,
	    &(struct ask_draft){ .kind = ASK_QUESTION,
		.level = ESCALATION_CRITICAL,
		.key = key,
		.title = "an agent asks a question",
		.words = words,
		.worker = w->name,
		.task = w->task,
		.question = w->asks_id });
}

static void
want_task(const struct look *look, const struct task *t)
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
	const struct ask *old = state_ask(&look->core->state, key);
	bool asks =
	    old != NULL && t->ask == ASK_QUESTION && old->question != NULL;
	bool planned = t->source != NULL && t->key != NULL &&
	    strcmp(t->source, "plan") == 0 && strchr(t->key, '/') != NULL;
	cleanup_free char *goal =
	    planned ? xstrndup(t->key, strcspn(t->key, "/")) : NULL;
	cleanup_free char *question = asks ? xstrdup(old->question) : NULL;
	cleanup_free char *words = asks ? xstrdup(old->words) :
	    t->reason != NULL           ? xstrdup(t->reason) :
					  xstrdup(titles[t->ask]);

	want(look,
	    &(struct ask_draft){
		.kind = t->ask != ASK_NONE ? t->ask : ASK_BLOCKED,
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

/* Is it about a node of a plan? */
static bool
is_of_node(const struct ask *ask)
{
	return strncmp(ask->key, "node/", strlen("node/")) == 0;
}

/* Nodes of the goal that have an ask of their own, or whose task is parked. */
static int64_t
count_asked(const struct state *state, const char *goal)
{
	int64_t count = 0;
	size_t len = strlen(goal);

	for (size_t i = 0; i < state->ask_count; i++)
		count += is_of_node(state->asks[i]) &&
		    strcmp(state->asks[i]->goal, goal) == 0;
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];

		count += t->step == TASK_PARKED && t->key != NULL &&
		    strncmp(t->key, goal, len) == 0 && t->key[len] == '/';
	}
	return count;
}

static void
want_goal(const struct look *look, struct json_object *goal)
{
	const char *id = json_string_or(goal, "goal", "?");
	int64_t blocked = json_int_or(goal, "blocked", 0) -
	    count_asked(&look->core->state, id);
	cleanup_free char *key = xasprintf("goal/%s", id);
	cleanup_free char *words = xasprintf("%" PRId64 " node%s blocked",
	    blocked, blocked == 1 ? " is" : "s are");
	cleanup_free char *command = xasprintf("llmc goal show %s", id);

	if (blocked > 0)
		want(look,
		    &(struct ask_draft){ .kind = ASK_BLOCKED,
			.level = ESCALATION_WARNING,
			.key = key,
			.title = "a goal is blocked",
			.words = words,
			.command = command,
			.goal = id });
}

static void
want_rest(const struct look *look)
{
	const struct core *core = look->core;
	const struct state *state = &core->state;
	struct ask *alike;
	cleanup_free char *push = NULL;

	alike = state_ask(state, ASKS_ALIKE);
	if (state->paused != NULL && alike != NULL)
		alike->mark = look->mark;
	else if (state->paused != NULL)
		want(look,
		    &(struct ask_draft){ .kind = ASK_BLOCKED,
			.level = ESCALATION_CRITICAL,
			.key = ASKS_PAUSED,
			.title = "no task is given out",
			.words = state->paused,
			.command = "llmc resume" });
	if (state->landings.red_told != NULL)
		want(look,
		    &(struct ask_draft){ .kind = ASK_FAILURE,
			.level = ESCALATION_CRITICAL,
			.key = "branch",
			.title = "the landing branch fails its check",
			.words = "the landing branch fails its own check",
			.command = "llmc landing" });
	if (state->source_repo_dirty_retry_after_unix > 0)
		want(look,
		    &(struct ask_draft){ .kind = ASK_BLOCKED,
			.level = ESCALATION_WARNING,
			.key = "checkout",
			.title = "work cannot land",
			.words = "uncommitted changes hold up the landings",
			.command = "git status" });
	if (core->settings != NULL &&
	    settings_bool(core->settings, "repo.push") &&
	    push_record_has_failed(&state->landings.push)) {
		push = xasprintf("landed work could not be pushed: %s",
		    state->landings.push.reason != NULL ?
			state->landings.push.reason :
			"unknown reason");
		want(look,
		    &(struct ask_draft){ .kind = ASK_FAILURE,
			.level = ESCALATION_WARNING,
			.key = "push",
			.title = "a push failed",
			.words = push,
			.command = "llmc resume" });
	}
	if (state->goals != NULL) {
		struct json_object *digest = state->goals;
		struct json_object *goals = NULL;
		const char *off = json_string_or(digest, "off", NULL);

		if (off != NULL)
			want(look,
			    &(struct ask_draft){ .kind = ASK_BLOCKED,
				.level = ESCALATION_CRITICAL,
				.key = "goals",
				.title = "goals are off",
				.words = off,
				.command = "llmc doctor" });
		json_get_array(digest, "", "goals", &goals, NULL);
		for (size_t i = 0;
		     goals != NULL && i < json_object_array_length(goals); i++)
			want_goal(look, json_object_array_get_idx(goals, i));
	}
}

/* Its task is tried again, has ended, or asks for itself. */
static bool
is_over(const struct state *state, const struct ask *ask)
{
	const struct task *t =
	    ask->task != NULL ? state_task(state, ask->task) : NULL;

	if (ask->kind == ASK_TOLD)
		return strncmp(ask->key, "oversight/", 10) == 0 &&
		    (t == NULL || t->step == TASK_PARKED);
	if (is_of_node(ask))
		return t != NULL && t->step == TASK_PARKED;
	if (ask->kind == ASK_QUESTION && strncmp(ask->key, "task/", 5) == 0)
		return t == NULL || t->ask != ASK_QUESTION;
	return ask->kind == ASK_FAILURE && t != NULL &&
	    t->step != TASK_SETTLING;
}

void
asks_look(struct core *core)
{
	struct state *state = &core->state;
	static unsigned marks;
	struct look look = { .core = core, .mark = ++marks };

	for (size_t i = 0; i < state->count; i++) {
		want_worker(&look, state->workers[i]);
		want_question(&look, state->workers[i]);
	}
	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->step == TASK_PARKED)
			want_task(&look, state->tasks[i]);
	want_rest(&look);
	for (size_t i = state->ask_count; i-- > 0;) {
		struct ask *ask = state->asks[i];

		if (ask->mark != look.mark &&
		    (!ask->stays || is_over(state, ask)))
			end(core, ask,
			    ask->answer != NULL ? ASK_ANSWERED : ASK_RESOLVED,
			    NULL, NULL);
	}
}

/* --- people --------------------------------------------------------------- */

void
asks_remind(struct core *core)
{
	int64_t now = clock_wall_ms();

	for (size_t i = 0; core->people != NULL && i < core->state.ask_count;
	     i++) {
		struct ask *ask = core->state.asks[i];
		cleanup_buf struct buf text = BUF_INIT;

		if (!ask_is_due(ask, now))
			continue;
		ask->count++;
		ask->said_ms = now;
		book_put_ask(core->book, ask);
		buf_addf(&text, "%s; still open, answer with: ",
		    ask->words != NULL ? ask->words : ask->title);
		ask_command(ask, &text);
		people_escalate(core->people, core->settings,
		    &(struct escalation){ .level = ask->level,
			.title = ask->title,
			.text = text.data,
			.signature = ask->key,
			.worker = ask->worker,
			.task = ask->task,
			.goal = ask->goal,
			.node = ask->node },
		    NOTICE_WORKER);
	}
}

/* The answer was carried out by another method, which the kind of the ask
 * decides (see llmc answer), and may have ended the ask already. One that
 * follows from the state is open as long as that is so. */
static void
on_end(void *arg, struct server_call *call, struct json_object *params)
{
	struct core *core = arg;
	const char *answer = json_string_or(params, "answer", NULL);
	const char *user = json_string_or(params, "user", NULL);
	const char *id = json_string_or(params, "ask", "");
	struct ask *ask = state_ask_named(&core->state, id);
	enum ask_end how = answer != NULL ? ASK_ANSWERED : ASK_DISMISSED;
	cleanup_free char *cut = answer == NULL ?
	    NULL :
	    xstrndup(
		answer, text_cut(answer, strlen(answer), ASK_WORDS_MAX - 1));
	struct json_object *result = json_object_new_object();

	json_set_string(result, "ask", id);
	if (ask != NULL)
		ask_told(ask, ASK_SEEN, clock_wall_ms());
	if (ask == NULL) {
		book_answer_ask(core->book, id, cut, user);
	} else if (ask->stays) {
		end(core, ask, how, cut, user);
	} else {
		how = ASK_OPEN;
		xstrset(&ask->answer, cut);
		xstrset(&ask->by, user);
		book_put_ask(core->book, ask);
	}
	json_set_string(result, "status", ask_end_words[how]);
	persist_changed(core);
	serve_reply(core, call, result);
}

static void
on_seen(void *arg, struct server_call *call, struct json_object *params)
{
	struct core *core = arg;
	struct json_object *names = json_object_object_get(params, "asks");

	for (size_t i = 0; i < json_object_array_length(names); i++) {
		struct ask *ask = state_ask_named(&core->state,
		    json_object_get_string(
			json_object_array_get_idx(names, i)));

		if (ask != NULL && ask_told(ask, ASK_SEEN, clock_wall_ms()))
			book_put_ask(core->book, ask);
	}
	persist_changed(core);
	serve_reply(core, call, NULL);
}

void
asks_register(struct core *core)
{
	serve_handle(core, "ask.end", on_end, core);
	serve_handle(core, "ask.seen", on_seen, core);
}
