/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "api.h"
#include "asks.h"
#include "attempt.h"
#include "auto.h"
#include "book.h"
#include "event.h"
#include "id.h"
#include "persist.h"
#include "plan-floor.h"
#include "plan-goal.h"
#include "plan.h"
#include "serve.h"
#include "state.h"
#include "task.h"
#include "team-private.h"
#include "workspace.h"

#define AGENT_LIMIT  20
#define PERSON_LIMIT 50
#define LIST_BODY    4096 /* bytes of a body in a list */

/* --- whom it is for ----------------------------------------------------- */

/* An actor id, a worker's name, "parent" or "person". An agent may write to its
 * parent, to its children and to a person, who is also the parent of those
 * without one; a person to every agent that has not ended. "HOST:NAME" is one
 * of another host, which knows who that is and who may write to it. */
struct recipient {
	char *actor; /* id, or HOST:NAME */
	char *worker; /* that has it now; NULL = none */
	char *host; /* of the fleet; NULL = this one */
};

static void
recipient_release(struct recipient *who)
{
	free(take_ptr(&who->actor));
	free(take_ptr(&who->worker));
	free(take_ptr(&who->host));
}

static char *
goal_of(const struct task *task)
{
	if (strcmp(task->source, AUTO_PLAN_SOURCE) == 0 && task->key != NULL)
		return xstrndup(task->key, strcspn(task->key, "/"));
	return NULL;
}

/* What the speaker may name. */
static const char agent_names[] =
    "an actor id, a worker, \"parent\" or \"person\"";
static const char person_names[] =
    "a worker, HOST:WORKER, or an actor id (see: llmc goal tree)";

static void
set_recipient(
    struct team_floor *floor, struct recipient *who, const char *actor)
{
	const struct agent *agent = team_actor_agent(floor, actor);

	xstrset(&who->actor, actor);
	xstrset(&who->worker, agent != NULL ? agent->worker->name : NULL);
	free(who->host);
	who->host = team_actor_host(floor, actor);
}

/* Resolve a name, for any caller. */
static int
find_recipient(struct team_floor *floor, const char *to, const char *names,
    struct recipient *who, struct err *err)
{
	const char *me = floor->core->state.host;
	size_t len = me != NULL ? strlen(me) : 0;
	const struct agent *agent;
	cleanup_free char *actor = NULL;

	if (len > 0 && strncmp(to, me, len) == 0 && to[len] == ':')
		to += len + 1;
	agent = fleet_find(floor->fleet, to);
	if (agent != NULL && auto_task(agent) == NULL &&
	    worker_is_auto(agent->worker->name)) {
		err_set(err, API_E_NOT_FOUND,
		    "%s has no task now; without one it gets no mail", to);
		return API_E_NOT_FOUND;
	}
	actor = agent != NULL ? team_actor_of(agent) : xstrdup(to);
	if (team_actor_find(floor, actor) == TEAM_ACTOR_UNKNOWN) {
		err_set(
		    err, API_E_NOT_FOUND, "there is no %s: name %s", to, names);
		return API_E_NOT_FOUND;
	}
	set_recipient(floor, who, actor);
	return 0;
}

/* --- who may write to whom ---------------------------------------------- */

/* Does that actor work for this task? */
static bool
is_child(struct team_floor *floor, const struct task *task, const char *actor)
{
	const struct task *other = team_actor_task(floor, actor);

	if (other == NULL)
		return team_actor_spawned(floor, actor, task->id);
	return task_is_child(other) &&
	    strcmp(other->launch.parent, task->id) == 0;
}

static int
recipient_of_agent(struct team_floor *floor, const struct agent *agent,
    const char *to, struct recipient *ret, struct err *err)
{
	const struct task *task = auto_task(agent);
	struct recipient who = { 0 };
	int code = 0;

	/* Without a parent, it works for a person. */
	if (strcmp(to, "person") == 0 ||
	    (strcmp(to, "parent") == 0 &&
		(task == NULL || !task_is_child(task)))) {
		set_recipient(floor, &who, ACTOR_PERSON);
	} else if (strcmp(to, "parent") == 0) {
		set_recipient(floor, &who, task->launch.parent_actor);
	} else {
		code = find_recipient(floor, to, agent_names, &who, err);
	}
	if (code == 0)
		*ret = who;
	else
		recipient_release(&who);
	return code;
}

/* The sandbox in which an actor of this host reads what it is told. */
static enum box_mode
box_of(struct team_floor *floor, const char *actor, enum api_kin kin)
{
	const struct settings *settings = floor->core->settings;
	const struct agent *agent = team_actor_agent(floor, actor);
	enum box_mode box = BOX_STRICT;

	if (agent != NULL)
		return box_mode_of(settings, agent->worker->name);
	if (kin == API_KIN_CHILD)
		return box_mode_of(settings, "team-1");
	/* Its next worker may be any of auto mode. */
	for (size_t i = 0; i < floor->fleet->count; i++) {
		const char *name = floor->fleet->agents[i]->worker->name;

		if (worker_is_auto(name) && !worker_is_team(name) &&
		    box_mode_of(settings, name) < box)
			box = box_mode_of(settings, name);
	}
	return box;
}

/* Whom a call writes to, for caller_reaches(). Who is on another host is known
 * there, and that host decides (find_here()). */
static int
message_target(void *arg, const char *worker, const struct api_method *method,
    struct json_object *params, struct api_target *ret_target)
{
	struct team_floor *floor = arg;
	const struct agent *agent = fleet_find(floor->fleet, worker);
	const struct task *task = agent != NULL ? auto_task(agent) : NULL;
	cleanup_free char *actor = NULL, *host = NULL;
	struct recipient who = { 0 };

	if (agent == NULL)
		return -ENOENT;
	*ret_target = (struct api_target){
		.name = method->name, .kin = API_KIN_PERSON, .box = BOX_STRICT
	};
	if (strcmp(method->name, "team.mail_send") == 0) {
		ret_target->name = json_string_or(params, "to", "");
		if (recipient_of_agent(
			floor, agent, ret_target->name, &who, NULL) != 0)
			return -ENOENT;
		actor = take_ptr(&who.actor);
		recipient_release(&who);
	} else if (strcmp(method->name, "team.request_orchestrator") == 0) {
		ret_target->name = "the agent that you work for";
		actor = team_question_asked(floor, task);
	} else {
		ret_target->name = json_string_or(params, "requestId", "");
		actor = team_requests_child(
		    floor->requests, agent, ret_target->name);
		if (actor == NULL)
			return -ENOENT;
	}
	if (strcmp(actor, ACTOR_PERSON) == 0)
		return 0;
	if (task != NULL && text_is(task->launch.parent_actor, actor))
		ret_target->kin = API_KIN_PARENT;
	else if (team_actor_is_addressed(actor) ||
	    (task != NULL && is_child(floor, task, actor)))
		ret_target->kin = API_KIN_CHILD;
	else
		ret_target->kin = API_KIN_OTHER;
	host = team_actor_host(floor, actor);
	if (host == NULL)
		ret_target->box = box_of(floor, actor, ret_target->kin);
	return 0;
}

static int
recipient_of_person(struct team_floor *floor, const char *to,
    struct recipient *ret, struct err *err)
{
	struct recipient who = { 0 };
	int code = find_recipient(floor, to, person_names, &who, err);

	if (code == 0)
		*ret = who;
	return code;
}

/* --- what is shown ------------------------------------------------------ */

static bool
is_long(const struct mail *mail)
{
	return strlen(mail->body) > LIST_BODY;
}

/* whole: with all of the body. The caller owns it. */
static struct json_object *
view(const struct mail *mail, bool whole)
{
	struct json_object *json = mail_to_json(mail);
	size_t len = strlen(mail->body);
	size_t shown = text_cut(mail->body, len, LIST_BODY);

	json_object_object_del(json, "read_call");
	json_object_object_del(json, "actor");
	json_set_string(json, "to", mail->to);
	if (!whole && is_long(mail)) {
		cleanup_free char *text =
		    xasprintf("%.*s... (cut)", (int)shown, mail->body);

		json_set_string(json, "body", text);
		json_set_int(json, "body_bytes", (int64_t)len);
	}
	return json;
}

/* --- sending ------------------------------------------------------------- */

static void
send_draft(struct team_floor *floor, struct server_call *call,
    struct json_object *params, struct mail_draft *draft)
{
	const char *id = json_string_or(params, "call", NULL);
	cleanup_free char *posted = NULL, *key = NULL, *mail = NULL;
	struct json_object *result;
	struct err err = { 0 };
	char unique[ID_ULID_SIZE];
	struct mail *known;
	int r;
	unsigned kind = MAIL_INFO;

	id_ulid(clock_wall_ms(), unique);
	key = xasprintf("call/%s", id != NULL ? id : unique);
	draft->key = key;
	/* The draft from the parameters; its strings are theirs. */
	word_find(
	    mail_kind_words, json_string_or(params, "kind", "info"), &kind);
	draft->kind = (enum mail_kind)kind;
	draft->subject = json_string_or(params, "subject", NULL);
	draft->body = json_string_or(params, "body", NULL);
	draft->ack_required = json_bool_or(params, "ack_required", false);
	draft->reply_to = json_string_or(params, "reply_to", NULL);
	mail = mail_id(draft->from, key);
	known = team_post_read(floor, mail);
	r = known == NULL ?
	    team_post_limit(floor, draft->from, draft->to, &err) :
	    0;
	mail_free(known);
	if (r != 0 || team_mail_post(floor, draft, &posted, &err) < 0) {
		plan_call_refuse(call, &err);
		return;
	}
	if (draft->to_host != NULL && strcmp(draft->from, ACTOR_PERSON) == 0) {
		team_hosts_await(floor, call, posted);
		return;
	}
	result = json_object_new_object();
	json_set_string(result, "id", posted);
	json_set_string(result, "to", draft->to);
	if (draft->to_worker != NULL)
		json_set_string(result, "to_worker", draft->to_worker);
	if (draft->to_host != NULL) {
		json_set_string(result, "to_host", draft->to_host);
		json_set_string(result, "note",
		    "it waits until that host takes it; you get mail if it "
		    "cannot be delivered");
	} else if (team_actor_find(floor, draft->to) == TEAM_ACTOR_ENDED)
		json_set_string(result, "note",
		    "it is recorded, but will not be read: its recipient "
		    "has ended");
	plan_call_answer(floor->plan, call,
	    draft->goal != NULL ? draft->goal : TEAM_NO_GOAL, result);
}

static void
on_agent_send(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct task *task = NULL;
	const struct agent *agent =
	    team_floor_speaker(floor, call, params, &task);
	struct recipient who = { 0 };
	cleanup_free char *from = NULL, *goal = NULL;
	struct mail_draft draft = { 0 };
	struct err err = { 0 };
	int code;

	if (agent == NULL || !plan_call_begin_change(floor->plan, call))
		return;
	code = recipient_of_agent(
	    floor, agent, json_string_or(params, "to", ""), &who, &err);
	if (code != 0) {
		serve_refuse(call, code, "%s", err.msg);
		return;
	}
	from = team_actor_of(agent);
	goal = task != NULL ? goal_of(task) : NULL;
	draft.from = from;
	draft.from_worker = agent->worker->name;
	draft.to = who.actor;
	draft.to_worker = who.worker;
	draft.to_host = who.host;
	draft.goal = goal;
	send_draft(floor, call, params, &draft);
	recipient_release(&who);
}

static void
on_person_send(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct recipient who = { 0 };
	struct mail_draft draft = { .from = ACTOR_PERSON };
	struct err err = { 0 };
	int code;

	if (!plan_call_begin_change(floor->plan, call))
		return;
	code = recipient_of_person(
	    floor, json_string_or(params, "to", ""), &who, &err);
	if (code != 0) {
		serve_refuse(call, code, "%s", err.msg);
		return;
	}
	draft.to = who.actor;
	draft.to_worker = who.worker;
	draft.to_host = who.host;
	send_draft(floor, call, params, &draft);
	recipient_release(&who);
}

/* --- from other hosts ----------------------------------------------------- */

/* Has that agent, or person, written to this host the mail that this answers?
 */
static bool
is_answer(struct team_floor *floor, const char *host, const struct mail *mail,
    const char *to)
{
	struct mail *asked = mail->reply_to != NULL ?
	    team_post_read(floor, mail->reply_to) :
	    NULL;
	bool answers = asked != NULL && text_is(asked->from, to) &&
	    text_is(asked->to_host, host);

	mail_free(asked);
	return answers;
}

static bool
is_given_by(struct team_floor *floor, const char *host, const struct task *task)
{
	const struct auto_mode *mode = floor->mode;

	return task != NULL && mode->hosts != NULL &&
	    text_is(mode->hosts->owner(mode->hosts_arg, task), host);
}

/* Is it a child of that task, on that host? Where one is that was just offered
 * to all hosts is not known yet. */
static bool
is_child_on(struct team_floor *floor, const char *host, const char *from,
    const struct task *parent)
{
	const struct state *state = &floor->core->state;

	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];
		cleanup_free char *actor = task_actor(t);

		if (strcmp(actor, from) == 0)
			return task_is_child(t) &&
			    strcmp(t->launch.parent, parent->id) == 0 &&
			    (t->host == NULL ? t->worker == NULL :
					       strcmp(t->host, host) == 0);
	}
	return false;
}

/* May a host write that to this agent? It can do here what an agent of its own
 * could do. Who has given a task may write to the agent that is on it; that
 * agent's children may, from where they are; anybody may answer, and tell
 * people. Nobody is a person or the overseer here because another host says
 * so. */
static bool
may_write(struct team_floor *floor, const char *host, const struct mail *mail,
    const char *to)
{
	const struct task *task = team_actor_task(floor, to);
	bool is_system = strcmp(mail->from, ACTOR_PERSON) == 0 ||
	    strcmp(mail->from, ACTOR_OVERSEER) == 0;

	if (is_answer(floor, host, mail, to))
		return true;
	if (strcmp(to, ACTOR_PERSON) == 0)
		return !is_system;
	if (task == NULL)
		return false;
	if (is_given_by(floor, host, task))
		return true;
	return !is_system && is_child_on(floor, host, mail->from, task);
}

/* To whom here: the parent of one that was handed over is another one. */
static int
find_here(struct team_floor *floor, const char *host, const struct mail *mail,
    struct recipient *who, struct err *err)
{
	const struct task *child = team_actor_task(floor, mail->from);
	const char *to = mail->to;
	int code;

	if (strcmp(to, ACTOR_PERSON) == 0) {
		xstrset(&who->actor, to);
		return may_write(floor, host, mail, to) ?
		    0 :
		    err_set(err, API_E_NOT_FOUND,
			"people of another host are written to by agents");
	}
	if (child != NULL && task_is_child(child) &&
	    text_begins(to, "actor:") && team_actor_task(floor, to) == NULL)
		to = child->launch.parent_actor;
	code = find_recipient(floor, to, person_names, who, err);
	if (code == 0 && team_actor_find(floor, who->actor) == TEAM_ACTOR_ENDED)
		code = err_set(err, API_E_NOT_FOUND, "%s has ended", to);
	if (code == 0 && !may_write(floor, host, mail, who->actor))
		code = err_set(err, API_E_NOT_FOUND,
		    strcmp(mail->from, ACTOR_PERSON) == 0 ?
			"%s has no task of that host: people write to it with "
			"llmc mail send on its own host (%s)" :
			"%s is not the parent of %s, nor works for it: agents "
			"write to those only",
		    to,
		    strcmp(mail->from, ACTOR_PERSON) == 0 ? "by ssh" :
							    mail->from);
	return code;
}

/* However often it is delivered, it is there once. */
static void
on_deliver(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const char *host = json_string_or(params, "from_host", "");
	struct recipient who = { 0 };
	struct json_object *result;
	struct mail *mail = NULL, *known;
	struct err err = { 0 };
	int code = 0;

	if (!plan_call_begin_change(floor->plan, call))
		return;
	if (mail_from_json(json_member(params, "mail"), "mail", &mail, &err) <
	    0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
		return;
	}
	known = team_post_read(floor, mail->id);
	result = json_object_new_object();
	json_set_string(result, "id", mail->id);
	if (known != NULL) {
		json_set_string(result, "to", known->to);
		json_set_string(result, "to_worker", known->to_worker);
		mail_free(mail);
	} else if ((code = find_here(floor, host, mail, &who, &err)) != 0 ||
	    (code = team_post_limit(floor, mail->from, who.actor, &err)) != 0) {
		mail_free(mail);
	} else {
		json_set_string(result, "to", who.actor);
		json_set_string(result, "to_worker", who.worker);
		/* Who has given the task sends mail of others on. */
		if (mail->from_host == NULL ||
		    !is_given_by(
			floor, host, team_actor_task(floor, who.actor)))
			xstrset(&mail->from_host, host);
		xstrset(&mail->to, who.actor);
		xstrset(&mail->to_worker, who.worker);
		xstrset(&mail->to_host, NULL); /* looked up, if it goes on */
		xstrset(&mail->read_call, NULL);
		mail->created_ms = clock_wall_ms();
		mail->delivered_ms = mail->read_ms = mail->acked_ms = 0;
		mail->delivered = 0;
		mail->state = MAIL_OPEN;
		mail->alerted = false;
		if (team_post_put(floor, mail, &err) < 0)
			code = API_FAILED;
	}
	if (code != 0) {
		json_object_put(result);
		serve_refuse(call, API_FAILED, "%s", err.msg);
	} else {
		plan_call_answer(floor->plan, call, TEAM_NO_GOAL, result);
	}
	mail_free(known);
	recipient_release(&who);
}

/* --- reading -------------------------------------------------------------- */

struct list {
	bool unread, whole;
	const char *reader; /* marks what is its own; NULL = none */
	int64_t since_ms; /* older mail is that of a namesake */
	const char *call; /* its id, if it can be repeated */
};

static bool
is_own(const struct list *list, const struct mail *mail)
{
	return mail->created_ms >= list->since_ms &&
	    text_is(list->reader, mail->to);
}

/* An answer that did not arrive is given again. */
static bool
is_listed(const struct list *list, const struct mail *mail)
{
	return !list->unread || mail->state == MAIL_OPEN ||
	    text_is(list->call, mail->read_call);
}

/* The rows as they are shown, and marked. own: only what is the reader's,
 * another's is as if it were not there. */
static struct json_object *
show_rows(struct team_floor *floor, struct json_object *rows,
    const struct list *list, bool own)
{
	struct json_object *shown = json_object_new_array();
	size_t count = json_object_array_length(rows);

	for (size_t i = 0; i < count; i++) {
		struct mail *mail = NULL;

		if (mail_from_json(json_object_array_get_idx(rows, i), "",
			&mail, NULL) < 0)
			continue;
		if (!is_listed(list, mail) || (own && !is_own(list, mail))) {
			mail_free(mail);
			continue;
		}
		if (text_begins(mail->subject, "spawn.accepted:") &&
		    mail->data != NULL) {
			struct json_object *data = json_object_get(mail->data);

			team_spawn_sessions(floor, data);
			mail_set_data(mail, data);
			json_object_put(data);
		}
		json_object_array_add(shown, view(mail, list->whole));
		if ((list->whole || !is_long(mail)) && is_own(list, mail)) {
			/* It was shown to whom it is addressed. Takes it. */
			if (mail->state != MAIL_OPEN || mail->read_ms != 0 ||
			    persist_ready(floor->core, NULL) < 0) {
				mail_free(mail);
				continue;
			}
			mail_read(mail, clock_wall_ms());
			xstrset(&mail->read_call, list->call);
			team_post_save(floor, mail);
		} else {
			mail_free(mail);
		}
	}
	return shown;
}

static void
on_agent_inbox(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const struct agent *agent =
	    team_floor_speaker(floor, call, params, NULL);
	const char *id = json_string_or(params, "id", NULL);
	cleanup_json struct json_object *rows = NULL, *shown = NULL;
	cleanup_free char *actor = NULL;
	struct json_object *result;
	struct list list;

	if (agent == NULL || !plan_call_begin(floor->plan, call))
		return;
	actor = team_actor_of(agent);
	rows = id != NULL ?
	    plan_query_records(floor->plan, call, BOOK_MAIL, id) :
	    plan_query_mail(floor->plan, call, actor,
		(size_t)json_int_or(params, "limit", AGENT_LIMIT));
	if (rows == NULL)
		return;
	list = (struct list){ .unread = id == NULL &&
		    json_bool_or(params, "unread", false),
		.whole = id != NULL,
		.reader = actor,
		.since_ms = team_actor_since(floor, agent),
		.call = json_string_or(params, "call", NULL) };
	shown = show_rows(floor, rows, &list, true);
	if (id != NULL && json_object_array_length(shown) == 0) {
		serve_refuse(call, API_E_NOT_FOUND,
		    "you have no mail %s; list yours with mail_inbox", id);
		return;
	}
	result = json_object_new_object();
	json_set(result, "mail", take_ptr(&shown));
	plan_call_answer(floor->plan, call, NULL, result);
}

/* --- for people --------------------------------------------------- */

static void
on_person_inbox(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const char *of = json_string_or(params, "of", NULL);
	bool all = json_bool_or(params, "all", false);
	/* To list mail is not to deal with it. */
	const struct list list = { .unread =
				       json_bool_or(params, "unread", false) };
	cleanup_json struct json_object *rows = NULL;
	struct recipient who = { 0 };
	struct err err = { 0 };
	size_t limit = (size_t)json_int_or(params, "limit", PERSON_LIMIT);
	int code = 0;

	if (!plan_call_begin(floor->plan, call))
		return;
	if (of != NULL)
		code = recipient_of_person(floor, of, &who, &err);
	if (code != 0) {
		serve_refuse(call, code, "%s", err.msg);
		return;
	}
	rows = plan_query_mail(floor->plan, call,
	    all            ? NULL :
		of != NULL ? who.actor :
			     ACTOR_PERSON,
	    limit);
	recipient_release(&who);
	if (rows != NULL)
		plan_call_answer(floor->plan, call, NULL,
		    show_rows(floor, rows, &list, false));
}

/* A person has read what the ask was about. */
static void
end_ask(const struct team_floor *floor, const char *id)
{
	cleanup_free char *key = xasprintf("mail/%s", id);

	asks_resolve(floor->core, key);
	persist_changed(floor->core);
}

static void
on_show(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const char *id = json_string_or(params, "id", "");
	const struct list list = { .whole = true, .reader = ACTOR_PERSON };
	cleanup_json struct json_object *rows = NULL, *shown = NULL;

	if (!plan_call_begin(floor->plan, call))
		return;
	rows = plan_query_records(floor->plan, call, BOOK_MAIL, id);
	if (rows == NULL)
		return;
	shown = show_rows(floor, rows, &list, false);
	if (json_object_array_length(shown) == 0)
		serve_refuse(call, API_E_NOT_FOUND,
		    "there is no mail %s; see: llmc mail inbox --all", id);
	else {
		if (!json_bool_or(json_object_array_get_idx(shown, 0),
			"ack_required", false))
			end_ask(floor, id);
		plan_call_answer(floor->plan, call, NULL,
		    json_object_get(json_object_array_get_idx(shown, 0)));
	}
}

/* --- confirming --------------------------------------------------- */

/* An agent learns only of mail that is addressed to it. */
static void
ack(struct team_floor *floor, struct server_call *call, const char *id,
    const struct list *list)
{
	struct mail *mail = team_post_read(floor, id);
	cleanup_free char *goal = NULL;
	struct json_object *shown;

	if (mail == NULL || !is_own(list, mail)) {
		mail_free(mail);
		serve_refuse(call, API_E_NOT_FOUND,
		    "you have no mail %s; list yours with mail_inbox, or "
		    "llmc mail inbox",
		    id);
		return;
	}
	goal = xstrdup(mail->goal != NULL ? mail->goal : TEAM_NO_GOAL);
	if (mail->acked_ms != 0) {
		shown = view(mail, false);
		mail_free(mail);
	} else {
		mail_acked(mail, clock_wall_ms());
		shown = view(mail, false);
		team_post_save(floor, mail);
	}
	plan_call_answer(floor->plan, call, goal, shown);
}

static void
on_agent_ack(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const struct agent *agent =
	    team_floor_speaker(floor, call, params, NULL);
	cleanup_free char *actor = NULL;

	if (agent == NULL || !plan_call_begin_change(floor->plan, call))
		return;
	actor = team_actor_of(agent);
	ack(floor, call, json_string_or(params, "id", ""),
	    &(struct list){
		.reader = actor, .since_ms = team_actor_since(floor, agent) });
}

static void
on_person_ack(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const char *id = json_string_or(params, "id", "");

	if (!plan_call_begin_change(floor->plan, call))
		return;
	end_ask(floor, id);
	ack(floor, call, id, &(struct list){ .reader = ACTOR_PERSON });
}

/* --- plans that were changed ------------------------------------------ */

/* Does it work for the goal, or do others do so for it? */
static bool
is_of_goal(const struct task *task, const char *goal_id)
{
	cleanup_free char *goal = goal_of(task);

	return text_is(goal, goal_id) || text_is(task->launch.goal, goal_id);
}

static void
post_update(struct team_floor *floor, const struct event *event,
    struct json_object *meta, const char *actor)
{
	cleanup_free char *subject = xasprintf("plan.updated:%s", event->goal);
	cleanup_free char *key = xasprintf(
	    "plan/%s/%lld/%s", event->goal, (long long)event->count, actor);
	cleanup_free char *body = xasprintf(
	    "The plan of goal %s was changed by %s (version %lld): %s%s%s. "
	    "Your own task stays as it is, unless this says otherwise.",
	    event->goal, event->actor != NULL ? event->actor : ACTOR_OVERSEER,
	    (long long)event->count, event->text != NULL ? event->text : "",
	    event->reason != NULL ? ": " : "",
	    event->reason != NULL ? event->reason : "");
	struct err err = { 0 };
	const struct team_box *box = team_post_box(floor, actor);
	cleanup_strv char **ids = NULL;

	/* What it was not given yet. */
	for (size_t i = 0; box != NULL && i < box->count; i++)
		if (mail_is_of_plan(box->mails[i]) &&
		    strcmp(box->mails[i]->subject, subject) == 0)
			strv_add(&ids, box->mails[i]->id);
	for (char **id = ids; id != NULL && *id != NULL; id++)
		team_mail_settle(floor, *id);
	if (team_mail_post(floor,
		&(struct mail_draft){ .key = key,
		    .to = actor,
		    .subject = subject,
		    .body = body,
		    .kind = MAIL_INFO,
		    .goal = event->goal,
		    .meta = meta },
		NULL, &err) < 0)
		log_debug("%s: %s", subject, err.msg);
}

void
team_mail_plan_event(struct team_floor *floor, const struct event *event)
{
	const struct state *state = &floor->core->state;
	const struct plan *plan;
	cleanup_json struct json_object *meta = NULL;

	if (event->kind != EVENT_PLAN_UPDATED || event->goal == NULL ||
	    !floor->open)
		return;
	plan = plan_set_plan(plan_floor_set(floor->plan), event->goal);
	if (plan == NULL)
		return;
	meta = plan_meta_json(plan->goal,
	    &(struct plan_meta){ .version = event->count,
		.actor = event->actor,
		.root = floor->core->workspace->root });
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *task = state->tasks[i];
		cleanup_free char *actor = NULL;

		if (task->step != TASK_ASSIGNED ||
		    !is_of_goal(task, event->goal))
			continue;
		actor = task_actor(task);
		if (!text_is(actor, floor->asking) &&
		    !text_is(actor, event->actor) &&
		    !text_is(task->worker, event->actor))
			post_update(floor, event, meta, actor);
	}
}

void
team_mail_register(struct team_floor *floor)
{
	static const struct {
		const char *method;
		serve_fn *fn;
	} methods[] = {
		{ "team.mail_send", on_agent_send },
		{ "team.mail_inbox", on_agent_inbox },
		{ "team.mail_ack", on_agent_ack },
		{ "mail.send", on_person_send },
		{ "mail.deliver", on_deliver },
		{ "mail.inbox", on_person_inbox },
		{ "mail.show", on_show },
		{ "mail.ack", on_person_ack },
	};

	serve_set_target(floor->core, API_REACH_MESSAGE, message_target, floor);
	for (size_t i = 0; i < nitems(methods); i++)
		serve_handle(
		    floor->core, methods[i].method, methods[i].fn, floor);
}
