/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "asks.h"
#include "attempt.h"
#include "book-history.h"
#include "core.h"
#include "emit.h"
#include "mail.h"
#include "people.h"
#include "moment.h"
#include "persist.h"
#include "person.h"
#include "serve.h"
#include "state.h"
#include "worker.h"
#include "workspace.h"

/* --- what a person does with an ask --------------------------------------- */

/* The answer was carried out by another method, which the kind of the ask
 * decides (see llmc answer), and may have ended the ask already. */
static void
on_end(void *arg, struct server_call *call, struct json_object *params)
{
	struct core *core = arg;
	const char *answer = json_string_or(params, "answer", NULL);
	const char *id = json_string_or(params, "ask", "");
	cleanup_free char *cut = answer == NULL ?
	    NULL :
	    xstrndup(
		answer, text_cut(answer, strlen(answer), ASK_WORDS_MAX - 1));
	struct json_object *result = json_object_new_object();

	json_set_string(result, "ask", id);
	json_set_string(result, "status",
	    ask_end_words[asks_answer(
		core, id, cut, json_string_or(params, "user", NULL))]);
	persist_changed(core);
	serve_reply(core, call, result);
}

static void
on_seen(void *arg, struct server_call *call, struct json_object *params)
{
	struct core *core = arg;
	struct json_object *names = json_member(params, "asks");

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

#define ANSWER_MS        ((int64_t)25 * 1000)
#define ANSWER_BYTES_MAX ((size_t)64 * 1024)

int
person_answer(struct core *core, struct json_object *params, child_fn *fn,
    void *arg, struct child **ret_child, struct err *err)
{
	const char *argv[10] = { core->llmc, "--root", core->workspace->root,
		"answer" };
	const char *text = json_string_or(params, "text", NULL);
	size_t n = 4;

	if (json_bool_or(params, "yes", false))
		argv[n++] = "--yes";
	if (json_bool_or(params, "no", false))
		argv[n++] = "--no";
	argv[n++] = "--"; /* whatever they begin with */
	argv[n++] = json_string_or(params, "ask", "");
	if (text != NULL && *text != '\0')
		argv[n++] = text;
	return child_spawn(core->loop,
	    &(struct child_spec){ .argv = argv,
		.cwd = core->workspace->root,
		.deadline_ms = ANSWER_MS,
		.output_max = ANSWER_BYTES_MAX },
	    fn, arg, ret_child, err);
}

void
person_register(struct core *core)
{
	serve_handle(core, "ask.end", on_end, core);
	serve_handle(core, "ask.seen", on_seen, core);
}

/* --- what happens --------------------------------------------------------- */

/* Does auto mode drive the worker? */
static bool
is_auto(const struct core *core, const char *worker)
{
	char **name = core->state.auto_workers;

	if (core->state.auto_mode && worker != NULL && worker_is_team(worker))
		return true;
	for (; core->state.auto_mode && name != NULL && *name != NULL; name++)
		if (text_is(worker, *name))
			return true;
	return false;
}

/* What a message opens, if nothing in the state stands for it. */
static const struct {
	enum notice_class class;
	enum ask_kind kind;
	const char *about;
} opens[] = {
	{ NOTICE_TASK, ASK_FAILURE, "task" },
	{ NOTICE_CHECK, ASK_TOLD, "check" },
	{ NOTICE_BRANCH, ASK_TOLD, "branch-told" },
	{ NOTICE_SETTINGS, ASK_TOLD, "settings" },
	{ NOTICE_STATE, ASK_TOLD, "state" },
	{ NOTICE_END, ASK_TOLD, "end" },
	{ NOTICE_LIMIT, ASK_TOLD, "limit" },
	{ NOTICE_OUTAGE, ASK_TOLD, "outage" },
};

/* Nobody can do anything about it but its parent, which is told as well. */
static bool
is_for_parent(const struct core *core, const char *task)
{
	const struct task *t =
	    task != NULL ? state_task(&core->state, task) : NULL;

	return t != NULL && task_is_child(t);
}

static void
open_notice(struct core *core, const struct notice *n)
{
	cleanup_buf struct buf signature = BUF_INIT;
	cleanup_free char *key = NULL;
	struct escalation what;
	size_t i = 0;

	while (i < nitems(opens) && opens[i].class != n->class)
		i++;
	/* ask_follow() has the landing branch that fails its check, and checks
	 * that are overtaken. */
	if (i == nitems(opens) || core->book == NULL ||
	    (n->class == NOTICE_BRANCH &&
		(core->state.landings.red_told != NULL ||
		    core->state.landings.overtaken.checks >= OVERTAKEN_ASKS)))
		return;
	escalation_of_notice(n, &signature, &what);
	key = n->task != NULL ? xasprintf("%s/%s", opens[i].about, n->task) :
				xstrdup(opens[i].about);
	/* A person need not look: what was asked about it is over. */
	if (n->informs && state_ask(&core->state, key) != NULL) {
		asks_resolve(core, key);
		return;
	}
	asks_open(core,
	    &(struct ask_draft){
		.kind = n->informs || is_for_parent(core, n->task) ?
		    ASK_TOLD :
		    opens[i].kind,
		.level = what.level,
		.key = key,
		.title = what.title,
		.words = what.text,
		.worker = n->worker,
		.task = n->task,
		.goal = n->goal,
		.node = n->node,
		.stays = true });
}

/* To the channels, with what can be chosen. */
static void
send_escalation(struct core *core, const struct escalation *what)
{
	struct escalation full = *what;

	if (core->people == NULL || core->settings == NULL)
		return;
	if (full.options == NULL)
		full.options =
		    asks_options(core, what->event, what->task, what->worker);
	people_escalate(core->people, core->settings, &full);
}

void
person_tell(struct core *core, const struct notice *notice)
{
	bool ends =
	    notice->class == NOTICE_FAILURE || notice->class == NOTICE_END;
	cleanup_free char *overseer =
	    workspace_path(core->workspace, "overseer.lock");
	cleanup_buf struct buf signature = BUF_INIT;
	struct escalation what;

	open_notice(core, notice);
	if (notice->class == NOTICE_NONE ||
	    (ends && lock_is_held(overseer) == 1))
		return;
	escalation_of_notice(notice, &signature, &what);
	send_escalation(core, &what);
}

void
person_escalate(struct core *core, const struct escalation *what)
{
	if (what->event != NULL && !what->asked &&
	    !book_knows_ask(core->book, what->event))
		asks_open(core,
		    &(struct ask_draft){ .kind = ASK_TOLD,
			.level = what->level,
			.key = what->event,
			.title = what->title,
			.words = what->text,
			.worker = what->worker,
			.task = what->task,
			.goal = what->goal,
			.node = what->node,
			.stays = true });
	/* What oversight has done, however urgent, is news: only a pause wants
	 * something, and that has an ask of its own. */
	if (what->event != NULL && what->intervention != NULL)
		asks_resolve(core, what->event);
	send_escalation(core, what);
}

#define NODE   "node/"
#define PLAN   "plan/"
#define REVIEW "review/"

/* Events that need a person, and those that settle an ask. */
static const struct {
	enum event_kind kind;
	enum ask_kind ask; /* NONE: the ask is settled */
	const char *about; /* NODE, REVIEW: of a node; PLAN: of a goal; or the
			    * key */
	const char *command; /* the goal follows; NULL = an answer helps */
} follows[] = {
	{ EVENT_ASSIGNMENT_ESCALATED, ASK_BLOCKED, NODE, NULL },
	{ EVENT_PLAN_FAILED, ASK_FAILURE, PLAN, "llmc goal plan " },
	{ EVENT_PLAN_REVIEW_NEEDED, ASK_APPROVAL, REVIEW, "llmc goal show " },
	{ EVENT_NODE_TODO, ASK_NONE, NODE, NULL },
	{ EVENT_NODE_QUEUED, ASK_NONE, NODE, NULL },
	{ EVENT_NODE_IN_PROGRESS, ASK_NONE, NODE, NULL },
	{ EVENT_NODE_DONE, ASK_NONE, NODE, NULL },
	{ EVENT_NODE_CANCELLED, ASK_NONE, NODE, NULL },
	{ EVENT_PLAN_GENERATED, ASK_NONE, PLAN, NULL },
	{ EVENT_PLAN_CREATED, ASK_NONE, PLAN, NULL },
	{ EVENT_PLAN_DRAFTED, ASK_NONE, PLAN, NULL },
	{ EVENT_GOAL_COMPLETED, ASK_NONE, PLAN, NULL },
	{ EVENT_GOAL_CANCELLED, ASK_NONE, PLAN, NULL },
	{ EVENT_GOAL_ARCHIVED, ASK_NONE, PLAN, NULL },
	{ EVENT_STORE_WRITTEN, ASK_NONE, "state", NULL },
	{ EVENT_BRANCH_CHOSEN, ASK_NONE, "branch-told", NULL },
	{ EVENT_LANDED, ASK_NONE, "branch-told", NULL },
};

/* A plan that was changed, a goal that is over and a node that has ended need
 * no review. */
static void
settle_reviews(struct core *core, const struct event *event, bool of_goal)
{
	cleanup_free char *key =
	    xasprintf(REVIEW "%s/%s", event->goal != NULL ? event->goal : "",
		event->node != NULL ? event->node : "");

	if (!of_goal || event->kind == EVENT_NODE_TODO ||
	    event->kind == EVENT_NODE_QUEUED ||
	    event->kind == EVENT_NODE_IN_PROGRESS)
		return;
	for (size_t i = core->state.ask_count; i-- > 0;)
		if (event->node != NULL ?
			strcmp(core->state.asks[i]->key, key) == 0 :
			text_begins(core->state.asks[i]->key, key))
			asks_resolve(core, core->state.asks[i]->key);
}

static void
follow(struct core *core, const struct event *event)
{
	cleanup_free char *key = NULL, *command = NULL;
	size_t i = 0;
	bool node, plan;

	while (i < nitems(follows) && follows[i].kind != event->kind)
		i++;
	if (i == nitems(follows) || core->book == NULL)
		return;
	node = strcmp(follows[i].about, NODE) == 0 ||
	    strcmp(follows[i].about, REVIEW) == 0;
	plan = strcmp(follows[i].about, PLAN) == 0;
	if ((node || plan) && event->goal == NULL)
		return;
	key = xasprintf("%s%s%s%s", follows[i].about,
	    node || plan ? event->goal : "", node ? "/" : "",
	    node && event->node != NULL ? event->node : "");
	if (follows[i].ask == ASK_NONE) {
		asks_resolve(core, key);
		settle_reviews(core, event, node || plan);
		return;
	}
	/* What an agent says itself stays, whatever is found later. */
	if (text_is(event->class, PLAN_REVIEW_GUARD) &&
	    state_ask(&core->state, key) != NULL)
		return;
	if (follows[i].command != NULL)
		command = xasprintf("%s%s", follows[i].command, event->goal);
	asks_open(core,
	    &(struct ask_draft){ .kind = follows[i].ask,
		.level = ESCALATION_WARNING,
		.key = key,
		.title = "a goal needs a person",
		.words = event->reason,
		.command = command,
		.worker = event->worker,
		.task = event->task,
		.goal = event->goal,
		.node = event->node,
		.stays = true });
}

static void
on_event(const struct event *event, void *arg)
{
	struct core *core = arg;
	const struct event_row *row = event_row(event->kind);
	cleanup_buf struct buf why = BUF_INIT;

	follow(core, event);
	if (row->notice == NOTICE_NONE ||
	    (row->by_hand && is_auto(core, event->worker)))
		return;
	event_text(event, &why);
	if (event->reason != NULL && strstr(why.data, event->reason) == NULL)
		buf_addf(&why, ": %s", event->reason);
	person_tell(core,
	    &(struct notice){ .class = row->notice,
		.id = event->receipt,
		.why = why.data,
		.worker = event->worker,
		.task = event->task,
		.goal = event->goal,
		.node = event->node });
}

void
person_subscribe(struct core *core)
{
	emit_subscribe(core, on_event, core);
}

/* --- messages in the book ------------------------------------------------- */

static void
save_message(const struct message *message, void *arg)
{
	struct core *core = arg;
	const char *by = message_sent_by(message);

	if (core->book == NULL)
		return;
	book_put_message(core->book, message);
	/* A channel has taken it: its asks were delivered. */
	for (size_t i = 0; by != NULL && i < core->state.ask_count; i++) {
		struct ask *ask = core->state.asks[i];

		if (message_tells(message, ask) &&
		    ask_told(ask, by, clock_wall_ms()))
			book_put_ask(core->book, ask);
	}
	persist_changed(core); /* what is shown says whether it gets through */
}

/* Without a book it is sent all the same. */
static void
then(void *owner, void (*fn)(void *arg), void *fn_arg, void *arg)
{
	struct core *core = arg;

	if (core->book == NULL)
		fn(fn_arg);
	else
		persist_then(core, owner, fn, fn_arg);
}

static void
forget(const void *owner, void *arg)
{
	persist_forget(arg, owner);
}

static bool
knows(const char *event, void *arg)
{
	const struct core *core = arg;

	return core->book != NULL && book_knows_event(core->book, event);
}

struct courier_store
messages_store(struct core *core)
{
	return (struct courier_store){ .save = save_message,
		.then = then,
		.forget = forget,
		.knows = knows,
		.arg = core };
}

/* --- what others have left ---------------------------------------------- */

static void
on_waiting(struct message *message, void *arg)
{
	const struct core *core = arg;

	people_take(core->people, message);
}

/* Questions that agents asked are questions; the rest is for information. */
static void
open_message(struct core *core, const struct message *m)
{
	size_t len = strlen(REQUEST_EVENT);
	const char *question =
	    m->event != NULL && strncmp(m->event, REQUEST_EVENT, len) == 0 ?
	    m->event + len :
	    NULL;
	cleanup_free char *key = question != NULL ?
	    xasprintf(ASK_OF_AGENT "%s", question) :
	    xasprintf("message/%s", m->id);
	struct ask *ask;

	asks_open(core,
	    &(struct ask_draft){
		.kind = question != NULL ? ASK_QUESTION : ASK_TOLD,
		.level = m->level,
		.key = key,
		.title = m->title,
		.words = m->text,
		.worker = m->worker,
		.task = m->task,
		.goal = m->goal,
		.node = m->node,
		.question = question,
		.options = strv_const(m->options),
		.stays = question == NULL });
	ask = state_ask(&core->state, key);
	if (ask == NULL)
		return;
	ask->created_ms = ask->said_ms = m->at_ms;
	if (message_sent_by(m) != NULL)
		ask_told(ask, message_sent_by(m), m->at_ms);
	book_put_ask(core->book, ask);
}

/* One that is known may have been sent since. */
static void
on_spooled(struct message *message, void *arg)
{
	struct core *core = arg;
	struct message *known = book_find_message(core->book, message->id);

	if (known == NULL) {
		open_message(core, message);
		known = take_ptr(&message);
	} else {
		message_learn(known, message);
	}
	known->done = message_is_done(known);
	book_put_message(core->book, known);
	message_free(message);
	people_take(core->people, known);
}

static void
on_filed(void *arg)
{
	const struct core *core = arg;

	message_spool_taken(core->workspace->root);
}

void
messages_file(struct core *core)
{
	if (core->people != NULL && core->book != NULL &&
	    core->settings != NULL && persist_ready(core, NULL) == 0 &&
	    message_spool_take(core->workspace->root, on_spooled, core))
		persist_then(core, core, on_filed, core);
}

void
messages_begin(struct core *core)
{
	struct err err = { 0 };

	if (core->people == NULL || core->book == NULL ||
	    core->settings == NULL)
		return;
	if (book_load_messages(core->book, on_waiting, core, &err) < 0)
		log_info("messages to people cannot be read: %s", err.msg);
	messages_file(core);
}
