/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "asks.h"
#include "attempt.h"
#include "id.h"
#include "mail.h"
#include "moment.h"
#include "notice.h"
#include "person.h"
#include "settings.h"
#include "task.h"
#include "team-private.h"

#define TOLD_MAX   200 /* bytes of it in a line */
#define ASK        "mcp__llmc__request_orchestrator"
#define ANSWER     "answer:"
#define HASH_LEN   16
#define MAIL_PART  60000 /* bytes of the question that the mail has */
#define ASKED_PART 2000 /* the same of the mail with its answer */

void
team_question_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out)
{
	const struct settings *settings = floor->core->settings;

	if (task->launch.parent == NULL || task->launch.parent_actor == NULL ||
	    !settings_bool(settings, "plan.enabled") ||
	    !team_fleet_has_tool(settings, &task->launch, ASK))
		return;
	buf_addf(out,
	    "\n\nYou work for %s, which spawned you. It can answer what you "
	    "cannot decide yourself: ask it with the tool "
	    "request_orchestrator, which waits for the answer.",
	    task->launch.parent_actor);
}

const char *
team_question_answers(struct team_floor *floor, const struct task *task)
{
	const struct settings *settings = floor->core->settings;
	const struct task_launch *launch = task != NULL ? &task->launch : NULL;

	if (!settings_bool(settings, "plan.enabled") ||
	    !team_fleet_has_tool(settings, launch, ASK))
		return NULL;
	return launch != NULL && launch->parent_actor != NULL &&
		team_actor_find(floor, launch->parent_actor) ==
		    TEAM_ACTOR_OPEN ?
	    "the agent that you work for" :
	    "a person";
}

char *
team_question_id(const struct agent *agent, struct json_object *params)
{
	const char *call = json_string_or(params, "call", NULL);
	cleanup_free char *both = NULL;
	char ulid[ID_ULID_SIZE], hash[HASH_LEN + 1];

	id_ulid(clock_wall_ms(), ulid);
	both = xasprintf(
	    "%s\n%s", agent->worker->name, call != NULL ? call : ulid);
	id_hash(both, hash, HASH_LEN);
	return xasprintf("R_%s", hash);
}

char *
team_question_asked(struct team_floor *floor, const struct task *task)
{
	const char *parent = task != NULL ? task->launch.parent_actor : NULL;

	return xstrdup(parent != NULL &&
		    team_actor_find(floor, parent) == TEAM_ACTOR_OPEN ?
		parent :
		ACTOR_PERSON);
}

struct request *
team_question_make(struct team_floor *floor, const struct agent *agent,
    const struct task *task, const char *id, struct json_object *params)
{
	struct request *r = request_new();
	struct json_object *options = NULL;

	xstrset(&r->id, id);
	r->child = team_actor_of(agent);
	xstrset(&r->worker, agent->worker->name);
	r->session = (int64_t)agent->worker->session.generation;
	if (task != NULL) {
		xstrset(&r->task, task->id);
		r->run = task_attempt_id(task);
	}
	r->parent = team_question_asked(floor, task);
	if (strcmp(r->parent, ACTOR_PERSON) != 0) {
		cleanup_free char *host = team_actor_host(floor, r->parent);

		/* Another host knows whether that has ended. */
		if (task != NULL && host == NULL)
			xstrset(&r->parent_task, task->launch.parent);
	}
	xstrset(&r->message, json_string_or(params, "message", ""));
	if (json_object_object_get_ex(params, "options", &options))
		r->options = strv_from_json(options);
	r->created_ms = clock_wall_ms();
	r->deadline_ms = r->created_ms +
	    request_timeout(json_int_or(params, "timeoutSeconds", 0) * 1000,
		strcmp(r->parent, ACTOR_PERSON) == 0);
	return r;
}

static char *
mail_key(const struct request *r)
{
	return xasprintf("request/%s", r->id);
}

static int
post(struct team_floor *floor, const struct request *r, bool person,
    const char *text, struct err *err)
{
	cleanup_free char *subject = xasprintf("request:%s", r->id);
	cleanup_free char *key = mail_key(r);
	const struct mail_draft draft = {
		.key = key,
		.from = r->child,
		.from_worker = r->worker,
		.to = r->parent,
		.subject = subject,
		.body = text,
		.kind = MAIL_INSTRUCTION,
		.goal = r->goal,
		.alerted = person,
	};

	return team_mail_post(floor, &draft, NULL, err);
}

/* Their numbers are answers, too. */
static void
add_options(const struct request *r, struct buf *out)
{
	for (size_t i = 0; i < strv_count(r->options); i++)
		buf_addf(out, "\n%s%zu. %.200s", i == 0 ? "\n" : "", i + 1,
		    r->options[i]);
}

void
team_question_ask(struct team_floor *floor, const struct request *r)
{
	cleanup_free char *key = xasprintf(ASK_OF_AGENT "%s", r->id);
	cleanup_free char *words = xasprintf("%s asks: %s",
	    r->worker != NULL ? r->worker : r->child, r->message);

	if (strcmp(r->parent, ACTOR_PERSON) == 0 &&
	    state_ask(&floor->core->state, key) == NULL)
		asks_open(floor->core,
		    &(struct ask_draft){ .kind = ASK_QUESTION,
			.level = ESCALATION_CRITICAL,
			.key = key,
			.title = "an agent asks a question",
			.words = words,
			.worker = r->worker,
			.task = r->task,
			.goal = r->goal,
			.question = r->id,
			.options = strv_const(r->options) });
}

static void
tell_person(struct team_floor *floor, const struct request *r, const char *text)
{
	cleanup_free char *event = xasprintf(REQUEST_EVENT "%s", r->id);

	team_question_ask(floor, r);
	person_escalate(floor->core,
	    &(struct escalation){ .level = ESCALATION_CRITICAL,
		.event = event,
		.asked = true,
		.title = "an agent asks a question",
		.text = text,
		.signature = event,
		.worker = r->worker,
		.task = r->task,
		.goal = r->goal,
		.options = strv_const(r->options),
		.class = notice_name(NOTICE_WORKER) });
}

int
team_question_tell(struct team_floor *floor, struct request *r, struct err *err)
{
	bool person = strcmp(r->parent, ACTOR_PERSON) == 0;
	cleanup_buf struct buf text = BUF_INIT, all = BUF_INIT;
	cleanup_buf struct buf how = BUF_INIT;
	int code;

	buf_addf(&text, "%s", r->child);
	if (r->worker != NULL)
		buf_addf(&text, " (%s)", r->worker);
	buf_addf(
	    &text, " asks%s:\n\n", person ? "" : " you, for whom it works");
	buf_add(&text, r->message,
	    text_cut(r->message, strlen(r->message), MAIL_PART));
	buf_adds(&how, "\n\nIt waits until ");
	moment_add(&how, r->deadline_ms);
	if (person)
		buf_addf(&how, ". Answer with: llmc answer %s TEXT", r->id);
	else
		buf_addf(&how,
		    ". Answer with the tool respond_orchestrator_request, "
		    "with the requestId %s.",
		    r->id);
	buf_adds(&all, text.data);
	add_options(r, &all);
	buf_adds(&all, how.data);
	code = post(floor, r, person, all.data, err);
	if (code < 0)
		return code;
	r->state = REQUEST_NOTIFIED;
	buf_adds(&text, how.data);
	if (person)
		tell_person(floor, r, text.data);
	return 0;
}

int
team_question_forward(struct team_floor *floor, const struct mail *asked,
    const char *actor, const char *response, struct err *err)
{
	const char *id = asked->subject + strlen("request:");
	cleanup_free char *key = xasprintf("answer/%s", id);
	cleanup_free char *subject = xasprintf(ANSWER "%s", id);

	return team_mail_post(floor,
	    &(struct mail_draft){ .key = key,
		.from = actor,
		.to = asked->from,
		.to_host = asked->from_host,
		.subject = subject,
		.body = response,
		.kind = MAIL_INSTRUCTION,
		.reply_to = asked->id },
	    NULL, err);
}

bool
team_question_is_answer(const struct mail *mail, const struct request *r)
{
	return text_begins(mail->subject, ANSWER) &&
	    strcmp(mail->subject + strlen(ANSWER), r->id) == 0 &&
	    strcmp(mail->from, r->parent) == 0;
}

bool
team_question_is_lost(struct team_floor *floor, const struct request *r)
{
	cleanup_free char *key = mail_key(r);
	cleanup_free char *id = mail_id(r->child, key);
	struct mail *mail = team_post_read(floor, id);
	bool lost = mail != NULL && mail->state == MAIL_CLOSED;

	mail_free(mail);
	return lost;
}

void
team_question_settle(struct team_floor *floor, const struct request *r)
{
	cleanup_free char *key = mail_key(r);
	cleanup_free char *id = mail_id(r->child, key);

	if (!request_is_open(r))
		team_mail_settle(floor, id);
}

char *
team_question_reason(const struct request *r, bool words)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_addf(&text, "waits for an answer of %s", r->parent);
	if (!words)
		return buf_take(&text);
	buf_adds(&text, ": ");
	text_add_visible(&text, r->message,
	    text_cut(r->message, strcspn(r->message, "\n"), TOLD_MAX), false);
	return buf_take(&text);
}

static char *
answer_key(const struct request *r)
{
	return xasprintf("answer/%s", r->id);
}

int
team_question_answer_mail(struct team_floor *floor, const struct request *r)
{
	cleanup_free char *subject = xasprintf(ANSWER "%s", r->id);
	cleanup_free char *key = answer_key(r);
	cleanup_buf struct buf text = BUF_INIT;

	buf_adds(&text, "You asked:\n\n");
	buf_add(&text, r->message,
	    text_cut(r->message, strlen(r->message), ASKED_PART));
	buf_adds(&text, "\n\nThe answer is:\n\n");
	buf_add(&text, r->response,
	    text_cut(r->response, strlen(r->response), MAIL_PART - ASKED_PART));
	return team_mail_post(floor,
	    &(struct mail_draft){ .key = key,
		.from = r->responder,
		.to = r->child,
		.subject = subject,
		.body = text.data,
		.kind = MAIL_INSTRUCTION,
		.goal = r->goal },
	    NULL, NULL);
}

void
team_question_answer_read(struct team_floor *floor, const struct request *r)
{
	cleanup_free char *key = answer_key(r);
	cleanup_free char *id = NULL;

	if (r->responder == NULL)
		return;
	id = mail_id(r->responder, key);
	team_mail_settle(floor, id);
}
