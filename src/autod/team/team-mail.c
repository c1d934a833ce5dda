/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "book.h"
#include "clock.h"
#include "errtext.h"
#include "id.h"
#include "json.h"
#include "mem.h"
#include "persist.h"
#include "plan-call.h"
#include "plan-floor.h"
#include "plan-query.h"
#include "serve.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-mail.h"
#include "team-post.h"
#include "team-reach.h"
#include "text.h"
#include "word.h"

#define AGENT_LIMIT  20
#define PERSON_LIMIT 50
#define LIST_BODY    4096 /* bytes of a body in a list */

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

/* The draft from the parameters; its strings are theirs. */
static void
read_draft(struct json_object *params, struct mail_draft *draft)
{
	unsigned kind = MAIL_INFO;

	word_find(
	    mail_kind_words, json_string_or(params, "kind", "info"), &kind);
	draft->kind = (enum mail_kind)kind;
	draft->subject = json_string_or(params, "subject", NULL);
	draft->body = json_string_or(params, "body", NULL);
	draft->ack_required = json_bool_or(params, "ack_required", false);
	draft->reply_to = json_string_or(params, "reply_to", NULL);
}

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

	id_ulid(clock_wall_ms(), unique);
	key = xasprintf("call/%s", id != NULL ? id : unique);
	draft->key = key;
	read_draft(params, draft);
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
	result = json_object_new_object();
	json_set_string(result, "id", posted);
	json_set_string(result, "to", draft->to);
	if (draft->to_worker != NULL)
		json_set_string(result, "to_worker", draft->to_worker);
	if (team_post_find(floor, draft->to) == TEAM_ACTOR_ENDED)
		json_set_string(result, "note",
		    "it is recorded, but nobody will read it: its recipient "
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
	struct team_reach reach = { 0 };
	cleanup_free char *from = NULL, *goal = NULL;
	struct mail_draft draft = { 0 };
	struct err err = { 0 };
	int code;

	if (agent == NULL || !plan_call_begin_change(floor->plan, call))
		return;
	code = team_reach_of_agent(
	    floor, agent, json_string_or(params, "to", ""), &reach, &err);
	if (code != 0) {
		serve_refuse(call, code, "%s", err.msg);
		return;
	}
	from = team_mail_actor(agent);
	goal = task != NULL ? team_reach_goal(task) : NULL;
	draft.from = from;
	draft.from_worker = agent->worker->name;
	draft.to = reach.actor;
	draft.to_worker = reach.worker;
	draft.goal = goal;
	send_draft(floor, call, params, &draft);
	team_reach_release(&reach);
}

static void
on_person_send(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	struct team_reach reach = { 0 };
	struct mail_draft draft = { .from = ACTOR_PERSON };
	struct err err = { 0 };
	int code;

	if (!plan_call_begin_change(floor->plan, call))
		return;
	code = team_reach_of_person(
	    floor, json_string_or(params, "to", ""), &reach, &err);
	if (code != 0) {
		serve_refuse(call, code, "%s", err.msg);
		return;
	}
	draft.to = reach.actor;
	draft.to_worker = reach.worker;
	send_draft(floor, call, params, &draft);
	team_reach_release(&reach);
}

/* --- reading -------------------------------------------------------------- */

struct list {
	bool unread, whole;
	const char *reader; /* marks what is its own; NULL = nobody */
	const char *also; /* another name of the reader */
	int64_t since_ms; /* older mail is that of a namesake */
	const char *call; /* its id, if it can be repeated */
};

static bool
is_own(const struct list *list, const struct mail *mail)
{
	return mail->created_ms >= list->since_ms &&
	    ((list->reader != NULL && strcmp(mail->to, list->reader) == 0) ||
		(list->also != NULL && strcmp(mail->to, list->also) == 0));
}

/* An answer that did not arrive is given again. */
static bool
is_listed(const struct list *list, const struct mail *mail)
{
	return !list->unread || mail->state == MAIL_OPEN ||
	    (list->call != NULL && mail->read_call != NULL &&
		strcmp(mail->read_call, list->call) == 0);
}

/* It was shown to whom it is addressed. Takes it. */
static void
mark_read(struct team_floor *floor, struct mail *mail, const struct list *list)
{
	if (mail->state != MAIL_OPEN || mail->read_ms != 0 ||
	    persist_ready(floor->core, NULL) < 0) {
		mail_free(mail);
		return;
	}
	mail_read(mail, clock_wall_ms());
	xstrset(&mail->read_call, list->call);
	team_post_save(floor, mail);
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
		json_object_array_add(shown, view(mail, list->whole));
		if ((list->whole || !is_long(mail)) && is_own(list, mail))
			mark_read(floor, mail, list);
		else
			mail_free(mail);
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
	actor = team_mail_actor(agent);
	rows = id != NULL ?
	    plan_query_records(floor->plan, call, BOOK_MAIL, NULL, id) :
	    plan_query_newest(floor->plan, call, BOOK_MAIL, actor,
		(size_t)json_int_or(params, "limit", AGENT_LIMIT));
	if (rows == NULL)
		return;
	list = (struct list){ .unread = id == NULL &&
		    json_bool_or(params, "unread", false),
		.whole = id != NULL,
		.reader = actor,
		.since_ms = team_post_since(floor, agent),
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

/* --- for people ------------------------------------------------------------
 */

static int
by_time(const void *a, const void *b)
{
	int64_t first = json_int_or(*(struct json_object *const *)a, "ts", 0);
	int64_t second = json_int_or(*(struct json_object *const *)b, "ts", 0);

	return first == second ? 0 : first > second ? -1 : 1;
}

/* Those of a person, and what no part of the daemon acts on. NULL: the call was
 * refused. */
static struct json_object *
rows_of_people(struct team_floor *floor, struct server_call *call, size_t limit)
{
	struct json_object *rows = plan_query_newest(
	    floor->plan, call, BOOK_MAIL, ACTOR_PERSON, limit);
	cleanup_json struct json_object *more = rows == NULL ?
	    NULL :
	    plan_query_newest(
		floor->plan, call, BOOK_MAIL, ACTOR_OVERSEER, limit);

	if (more == NULL) {
		json_object_put(rows);
		return NULL;
	}
	for (size_t i = 0; i < json_object_array_length(more); i++)
		json_object_array_add(
		    rows, json_object_get(json_object_array_get_idx(more, i)));
	json_object_array_sort(rows, by_time);
	if (json_object_array_length(rows) > limit)
		json_object_array_del_idx(
		    rows, limit, json_object_array_length(rows) - limit);
	return rows;
}

static void
on_person_inbox(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const char *of = json_string_or(params, "of", NULL);
	bool all = json_bool_or(params, "all", false);
	/* Whoever looks through a list has not dealt with what is in it. */
	const struct list list = { .unread =
				       json_bool_or(params, "unread", false) };
	cleanup_json struct json_object *rows = NULL;
	struct team_reach reach = { 0 };
	struct err err = { 0 };
	size_t limit = (size_t)json_int_or(params, "limit", PERSON_LIMIT);
	int code = 0;

	if (!plan_call_begin(floor->plan, call))
		return;
	if (of != NULL)
		code = team_reach_of_person(floor, of, &reach, &err);
	if (code != 0) {
		serve_refuse(call, code, "%s", err.msg);
		return;
	}
	if (all || of != NULL)
		rows = plan_query_newest(floor->plan, call, BOOK_MAIL,
		    all ? NULL : reach.actor, limit);
	else
		rows = rows_of_people(floor, call, limit);
	team_reach_release(&reach);
	if (rows != NULL)
		plan_call_answer(floor->plan, call, NULL,
		    show_rows(floor, rows, &list, false));
}

static void
on_show(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;
	const char *id = json_string_or(params, "id", "");
	const struct list list = {
		.whole = true, .reader = ACTOR_PERSON, .also = ACTOR_OVERSEER
	};
	cleanup_json struct json_object *rows = NULL, *shown = NULL;

	if (!plan_call_begin(floor->plan, call))
		return;
	rows = plan_query_records(floor->plan, call, BOOK_MAIL, NULL, id);
	if (rows == NULL)
		return;
	shown = show_rows(floor, rows, &list, false);
	if (json_object_array_length(shown) == 0)
		serve_refuse(call, API_E_NOT_FOUND,
		    "there is no mail %s; see: llmc mail inbox --all", id);
	else
		plan_call_answer(floor->plan, call, NULL,
		    json_object_get(json_object_array_get_idx(shown, 0)));
}

/* --- confirming ------------------------------------------------------------
 */

/* Whoever it is not addressed to does not learn that it is there. */
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
	actor = team_mail_actor(agent);
	ack(floor, call, json_string_or(params, "id", ""),
	    &(struct list){
		.reader = actor, .since_ms = team_post_since(floor, agent) });
}

static void
on_person_ack(void *arg, struct server_call *call, struct json_object *params)
{
	struct team_floor *floor = arg;

	if (plan_call_begin_change(floor->plan, call))
		ack(floor, call, json_string_or(params, "id", ""),
		    &(struct list){
			.reader = ACTOR_PERSON, .also = ACTOR_OVERSEER });
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
		{ "mail.inbox", on_person_inbox },
		{ "mail.show", on_show },
		{ "mail.ack", on_person_ack },
	};

	for (size_t i = 0; i < nitems(methods); i++)
		serve_handle(
		    floor->core, methods[i].method, methods[i].fn, floor);
}
