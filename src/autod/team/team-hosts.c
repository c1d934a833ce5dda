/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent.h"
#include "attempt.h"
#include "auto.h"
#include "mail.h"
#include "plan-floor.h"
#include "serve.h"
#include "state.h"
#include "task.h"
#include "team-private.h"

#define TASK_ACTOR "actor:task:"
#define HOPS_MAX   8
#define AWAIT_MS   ((int64_t)10 * 1000)

/* --- where it goes ------------------------------------------------------ */

/* "HOST:NAME", or the person of another host: nothing here changes it. */
static bool
is_addressed(const char *actor)
{
	return strcmp(actor, ACTOR_PERSON) == 0 ||
	    !text_begins(actor, "actor:");
}

static bool
is_here(struct team_floor *floor, const char *actor)
{
	const struct task *task = team_post_task(floor, actor);

	return task != NULL ? task->step != TASK_ELSEWHERE :
			      team_mail_agent(floor, actor) != NULL;
}

char *
team_hosts_route(struct team_floor *floor, const char *actor)
{
	const struct auto_mode *mode = floor->mode;
	const struct state *state = &floor->core->state;
	const struct task *task;
	const char *owner;

	if (mode->hosts == NULL || is_here(floor, actor))
		return NULL;
	if (is_addressed(actor))
		return strchr(actor, ':') != NULL &&
			strcmp(actor, ACTOR_PERSON) != 0 ?
		    xstrndup(actor, strcspn(actor, ":")) :
		    NULL;
	task = team_post_task(floor, actor);
	if (task != NULL)
		return task->host != NULL ? xstrdup(task->host) : NULL;
	for (size_t i = 0; i < state->task_count; i++) {
		const char *parent = state->tasks[i]->launch.parent_actor;

		if (!text_is(parent, actor))
			continue;
		owner = mode->hosts->owner(mode->hosts_arg, state->tasks[i]);
		if (owner != NULL)
			return xstrdup(owner);
	}
	/* The owner of a task is a part of its id. */
	owner = text_begins(actor, TASK_ACTOR) ? strchr(actor, '-') : NULL;
	return owner != NULL && owner[1] != '\0' &&
		strcmp(owner + 1, state->host) != 0 ?
	    xstrdup(owner + 1) :
	    NULL;
}

/* --- sending ------------------------------------------------------------- */

/* Each time that it is sent it is another letter. */
static char *
letter_id(const struct mail *mail)
{
	return xasprintf("%s/%s/%d", mail->id, mail->to_host, mail->hops);
}

static void
send_one(const struct team_floor *floor, const struct mail *mail)
{
	const struct auto_mode *mode = floor->mode;
	cleanup_json struct json_object *params = json_object_new_object();
	cleanup_free char *id = letter_id(mail);

	json_set(params, "mail", mail_to_json(mail));
	mode->hosts->mail(mode->hosts_arg, id, mail->to_host, params);
}

void
team_hosts_look(struct team_floor *floor)
{
	const struct auto_mode *mode = floor->mode;
	const struct team_box *box = NULL;
	cleanup_strv char **ids = NULL;

	if (mode->hosts == NULL || !floor->open)
		return;
	while ((box = team_post_next(floor, box)) != NULL) {
		cleanup_free char *host = team_hosts_route(floor, box->actor);

		for (size_t i = 0; i < box->count; i++) {
			const struct mail *mail = box->mails[i];
			cleanup_free char *id = NULL;

			if (mail->to_host == NULL) {
				if (host != NULL)
					strv_add(&ids, mail->id);
				continue;
			}
			id = letter_id(mail);
			send_one(floor, mail);
			if (!is_addressed(box->actor) &&
			    (host != NULL ? strcmp(host, mail->to_host) != 0 :
					    is_here(floor, box->actor)))
				mode->hosts->recall(mode->hosts_arg, id);
		}
	}
	for (char **id = ids; id != NULL && *id != NULL; id++) {
		struct mail *mail = team_post_read(floor, *id);

		if (mail == NULL)
			continue;
		mail->to_host = team_hosts_route(floor, mail->to);
		mail->hops++;
		send_one(floor, mail);
		team_post_save(floor, mail);
	}
}

/* --- a person who waits -------------------------------------------------- */

struct await {
	TAILQ_ENTRY(await) entry;
	struct team_floor *floor;
	struct server_call *call;
	struct loop_timer *timer;
	char *id;
};

TAILQ_HEAD(team_awaits, await);

/* why: it failed. */
static void
end_await(struct await *await, const char *why, const char *note)
{
	struct team_floor *floor = await->floor;
	struct mail *mail = team_post_read(floor, await->id);
	struct json_object *result;

	TAILQ_REMOVE(floor->awaits, await, entry);
	if (why != NULL || mail == NULL) {
		serve_refuse(await->call, API_FAILED, "%s",
		    why != NULL ? why : "there is no such mail any more");
	} else {
		result = json_object_new_object();
		json_set_string(result, "id", mail->id);
		json_set_string(result, "to", mail->to);
		json_set_string(result, "to_worker", mail->to_worker);
		json_set_string(result, "to_host", mail->to_host);
		json_set_string(result, "note", note);
		serve_reply(floor->core, await->call, result);
	}
	mail_free(mail);
	loop_timer_free(await->timer);
	free(await->id);
	free(await);
}

static void
on_late(void *arg)
{
	end_await(arg, NULL,
	    "the other host has not taken it yet: it waits until that host is "
	    "up, and you get mail if it cannot be delivered");
}

static void
on_gone(void *arg)
{
	end_await(arg, "nobody waits for the answer", NULL);
}

void
team_hosts_await(
    struct team_floor *floor, struct server_call *call, const char *id)
{
	struct await *await = xcalloc(1, sizeof *await);

	if (floor->awaits == NULL) {
		floor->awaits = xcalloc(1, sizeof *floor->awaits);
		TAILQ_INIT(floor->awaits);
	}
	await->floor = floor;
	await->call = call;
	await->id = xstrdup(id);
	await->timer = loop_after(floor->core->loop, AWAIT_MS, on_late, await);
	TAILQ_INSERT_TAIL(floor->awaits, await, entry);
	server_on_gone(call, on_gone, await);
}

void
team_hosts_stop(struct team_floor *floor)
{
	while (floor->awaits != NULL && !TAILQ_EMPTY(floor->awaits))
		end_await(TAILQ_FIRST(floor->awaits),
		    "the daemon stops; the mail is on its way", NULL);
	free(take_ptr(&floor->awaits));
}

/* --- what came of it ------------------------------------------------------ */

void
team_hosts_sent(void *arg, const char *letter, bool done,
    struct json_object *answer, const char *why)
{
	struct team_floor *floor = arg;
	cleanup_free char *id = xstrndup(letter, strcspn(letter, "/"));
	struct mail *mail = team_post_read(floor, id);
	struct await *await = NULL;
	cleanup_free char *host = NULL, *now = NULL;

	if (mail == NULL || mail->state != MAIL_OPEN || mail->to_host == NULL) {
		mail_free(mail);
		return;
	}
	host = letter_id(mail);
	if (strcmp(host, letter) != 0) { /* of an earlier way */
		mail_free(mail);
		return;
	}
	if (floor->awaits != NULL)
		TAILQ_FOREACH (await, floor->awaits, entry)
			if (strcmp(await->id, id) == 0)
				break;
	now = team_hosts_route(floor, mail->to);
	if (done) {
		const char *worker = json_string_or(answer, "to_worker", NULL);

		if (worker != NULL)
			xstrset(&mail->to_worker, worker);
		mail_given_away(mail, clock_wall_ms());
	} else if (mail->hops < HOPS_MAX && !is_addressed(mail->to) &&
	    (why == NULL || is_here(floor, mail->to) ||
		(now != NULL && strcmp(now, mail->to_host) != 0))) {
		/* Its recipient has moved meanwhile. */
		xstrset(&mail->to_host, NULL);
		team_post_save(floor, mail);
		team_floor_changed(floor);
		return;
	} else {
		mail_close(mail, clock_wall_ms());
		if (await == NULL)
			team_post_undelivered(floor, mail,
			    why != NULL ? why : "its recipient moves around");
	}
	team_post_save(floor, mail);
	if (await != NULL)
		end_await(await,
		    done            ? NULL :
			why != NULL ? why :
				      "its recipient moves around",
		    NULL);
	team_floor_changed(floor);
}
