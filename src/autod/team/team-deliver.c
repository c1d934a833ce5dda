/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent.h"
#include "attempt.h"
#include "auto.h"
#include "emit.h"
#include "mail.h"
#include "plan-floor.h"
#include "work-record.h"
#include "serve.h"
#include "session-hook.h"
#include "state.h"
#include "task.h"
#include "team-private.h"

static const char go_on[] = "Act on this mail as far as it concerns you, and "
			    "continue with your task.";
static const char idle_text[] = "Act on this mail as far as it concerns you.";

/* Mail that a session is being given. */
struct give {
	LIST_ENTRY(give) entry;
	char *worker;
	uint64_t generation; /* of its session */
	bool prompt; /* as a part of its pending prompt, else in an answer */
	char **ids;
};
LIST_HEAD(give_list, give);

struct team_deliver {
	struct team_floor *floor;
	struct mail_pace pace;
	struct give_list gives;
	bool closing; /* some recipients may have ended */
};

/* --- what is on its way ------------------------------------------------ */

static void
give_free(struct give *give)
{
	LIST_REMOVE(give, entry);
	free(give->worker);
	strv_free(give->ids);
	free(give);
}

static struct give *
give_new(struct team_deliver *d, const struct worker *w)
{
	struct give *give = xcalloc(1, sizeof *give);

	give->worker = xstrdup(w->name);
	give->generation = w->session.generation;
	LIST_INSERT_HEAD(&d->gives, give, entry);
	return give;
}

static bool
is_on_its_way(
    const struct team_deliver *d, const struct worker *w, const char *id)
{
	const struct give *give;

	LIST_FOREACH (give, &d->gives, entry)
		if (strcmp(give->worker, w->name) == 0 &&
		    plan_has(give->ids, id))
			return true;
	return false;
}

static bool
is_pending(const struct worker *w, const char *id)
{
	return w->session.step != PROMPT_NONE && w->session.pending != NULL &&
	    mail_text_has(w->session.pending, id);
}

/* --- delivered --------------------------------------------------------- */

/* submitted: a prompt with a receipt was; else any hook of the session. */
static void
confirm_worker(struct team_deliver *d, struct worker *w, bool submitted)
{
	struct give *give, *next;

	for (give = LIST_FIRST(&d->gives); give != NULL; give = next) {
		next = LIST_NEXT(give, entry);
		/* A prompt that is pending goes to the next session too. */
		if (strcmp(give->worker, w->name) != 0 ||
		    (give->prompt ? !submitted :
				    give->generation != w->session.generation))
			continue;
		/* It may be a part of the prompt since the last look. */
		if (!submitted && give->ids != NULL &&
		    is_pending(w, give->ids[0]))
			continue;
		for (size_t i = 0; give->ids != NULL && give->ids[i] != NULL;
		     i++) {
			struct mail *mail =
			    team_post_read(d->floor, give->ids[i]);

			if (mail == NULL)
				continue;
			mail_delivered(mail, clock_wall_ms());
			team_post_save(d->floor, mail);
		}
		give_free(give);
	}
}

static void
on_event(const struct event *event, void *arg)
{
	struct team_deliver *d = arg;
	struct worker *w;

	switch (event->kind) {
	case EVENT_PROMPT_SUBMITTED:
		w = event->worker != NULL ?
		    state_find(&d->floor->core->state, event->worker) :
		    NULL;
		if (w != NULL)
			confirm_worker(d, w, true);
		break;
	case EVENT_TASK_FINISHED:
	case EVENT_WORKER_GONE:
		d->closing = true;
		team_floor_changed(d->floor);
		break;
	case EVENT_WORKER_MOVED:
	case EVENT_TASK_ASSIGNED:
	case EVENT_FLEET_RESUMED:
		team_floor_changed(d->floor);
		break;
	default:
		break;
	}
}

void
team_deliver_progressed(void *arg, struct agent *agent)
{
	const struct team_floor *floor = arg;

	confirm_worker(floor->deliver, agent->worker, false);
}

/* --- what is due -------------------------------------------------------- */

struct due {
	struct mail **mails; /* borrowed from the book */
	size_t count;
};

static int
compare(const void *a, const void *b)
{
	return mail_compare(*(struct mail *const *)a, *(struct mail *const *)b);
}

/* again: also what is to be confirmed. The caller frees the list. */
static struct due
find_due(struct team_deliver *d, const struct agent *agent, bool again)
{
	const struct team_floor *floor = d->floor;
	cleanup_free char *actor = team_actor_of(agent);
	const struct team_box *box = team_post_box(floor, actor);
	struct due due = { NULL, 0 };
	int64_t now_ms = clock_wall_ms();
	int64_t since_ms;

	if (box == NULL)
		return due;
	since_ms = team_actor_since(floor, agent);
	due.mails = xcalloc(box->count, sizeof(struct mail *));
	for (size_t i = 0; i < box->count; i++) {
		struct mail *mail = box->mails[i];

		if (mail->created_ms >= since_ms && mail->to_host == NULL &&
		    (again ? mail_is_due(mail, &d->pace, now_ms) :
			     mail_is_new(mail)) &&
		    !is_on_its_way(d, agent->worker, mail->id))
			due.mails[due.count++] = mail;
	}
	if (due.count > 1)
		qsort(due.mails, due.count, sizeof(struct mail *), compare);
	return due;
}

static bool
has_due(struct team_deliver *d, const struct agent *agent, bool again)
{
	struct due due = find_due(d, agent, again);

	free(due.mails);
	return due.count > 0;
}

/* Give it what is due, in this text. False: nothing is. */
static bool
give_due(
    struct team_deliver *d, struct agent *agent, bool again, struct buf *out)
{
	struct due due = find_due(d, agent, again);
	struct give *give;
	size_t count;

	if (due.count == 0) {
		free(due.mails);
		return false;
	}
	if (out->len > 0)
		buf_adds(out, "\n\n");
	count = mail_text(due.mails, due.count, out);
	give = give_new(d, agent->worker);
	for (size_t i = 0; i < count; i++)
		strv_add(&give->ids, due.mails[i]->id);
	free(due.mails);
	team_floor_changed(d->floor);
	return true;
}

/* --- ways ---------------------------------------------------------------- */

void
team_deliver_preface(void *arg, struct agent *agent, struct buf *out)
{
	struct team_deliver *d = ((struct team_floor *)arg)->deliver;
	struct give *give, *next;

	/* The prompt before it was not submitted, and this one replaces it. */
	for (give = LIST_FIRST(&d->gives); give != NULL; give = next) {
		next = LIST_NEXT(give, entry);
		if (strcmp(give->worker, agent->worker->name) == 0 &&
		    give->ids != NULL &&
		    is_pending(agent->worker, give->ids[0]))
			give_free(give);
	}
	give_due(d, agent, true, out);
}

/* plan.updated is delivered with the next prompt; it neither keeps a turn from
 * its end nor starts one. */
static bool
is_worth_waking(struct team_deliver *d, const struct agent *agent)
{
	struct due due = find_due(d, agent, true);
	bool worth = false;

	for (size_t i = 0; i < due.count; i++)
		worth = worth || !mail_is_of_plan(due.mails[i]);
	free(due.mails);
	return worth;
}

bool
team_deliver_stop_words(void *arg, struct agent *agent, struct buf *out)
{
	struct team_deliver *d = ((struct team_floor *)arg)->deliver;

	if (!is_worth_waking(d, agent) || !give_due(d, agent, true, out))
		return false;
	buf_addf(out, "\n%s", go_on);
	return true;
}

bool
team_deliver_tool_ended(
    void *arg, struct agent *agent, struct server_call *call, const char *event)
{
	struct team_deliver *d = ((struct team_floor *)arg)->deliver;
	cleanup_buf struct buf text = BUF_INIT;

	if (!give_due(d, agent, false, &text))
		return false;
	serve_reply(
	    d->floor->core, call, session_hook_tool_answer(event, text.data));
	return true;
}

/* Is it idle, and driven by hand? No turn begins while all are paused. */
static bool
is_idle(const struct team_deliver *d, const struct agent *agent)
{
	const struct worker *w = agent->worker;

	return d->floor->core->state.paused == NULL &&
	    (w->status == WORKER_IDLE || w->status == WORKER_NO_CHANGES) &&
	    w->task == NULL && !auto_drives(d->floor->mode, agent) &&
	    w->session.ready && !w->session.busy &&
	    w->session.step == PROMPT_NONE && !agent_is_taken(agent) &&
	    !worker_is_held(w);
}

void
team_deliver_look(struct team_floor *floor)
{
	struct team_deliver *d = floor->deliver;
	struct give *give, *next;

	if (floor->core->stopping || floor->core->options->oneshot ||
	    !floor->open)
		return;
	/* A prompt that was replaced or dropped, or an answer to a turn that
	 * is not running or to a session that is gone: its mail is given
	 * again. */
	for (give = LIST_FIRST(&d->gives); give != NULL; give = next) {
		const struct worker *w =
		    state_find(&d->floor->core->state, give->worker);
		bool pending = w != NULL && give->ids != NULL &&
		    is_pending(w, give->ids[0]);

		next = LIST_NEXT(give, entry);
		if (pending)
			give->prompt = true;
		else if (w == NULL || give->prompt || !w->session.busy ||
		    give->generation != w->session.generation)
			give_free(give);
	}
	if (d->closing)
		team_post_close(floor, &d->pace);
	d->closing = false;
	for (size_t i = 0; i < floor->fleet->count; i++) {
		struct agent *agent = floor->fleet->agents[i];
		const struct worker *w = agent->worker;

		agent_tools_wait(agent, AGENT_WAIT_MAIL,
		    worker_in_turn(w->status) && w->session.busy &&
			has_due(d, agent, false));
		if (is_idle(d, agent)) {
			/* The mail is put in front of the prompt. */
			if (!has_due(d, agent, true))
				continue;
			if (agent->worker->status == WORKER_NO_CHANGES) {
				agent_message(agent, idle_text);
				continue;
			}
			if (agent_move(agent, WORKER_STARTING, NULL) < 0)
				continue;
			xstrset(&agent->worker->prompt, idle_text);
			agent_prompt(agent, idle_text, false, WORKER_WORKING);
		}
	}
}

void
team_deliver_patrol(struct team_floor *floor)
{
	floor->deliver->closing = true;
	team_floor_changed(floor);
}

/* --- life ---------------------------------------------------------------- */

void
team_deliver_set_pace(struct team_deliver *d, const struct mail_pace *pace)
{
	d->pace = *pace;
}

struct team_deliver *
team_deliver_new(struct team_floor *floor)
{
	struct team_deliver *d = xcalloc(1, sizeof *d);
	const struct state *state;

	d->floor = floor;
	d->pace = mail_pace;
	LIST_INIT(&d->gives);
	/* What the last daemon put into prompts that are not submitted yet. */
	state = &d->floor->core->state;
	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];
		char **ids = NULL;
		struct give *give;

		if (w->session.step != PROMPT_NONE &&
		    w->session.pending != NULL)
			ids = mail_text_ids(w->session.pending);
		if (ids == NULL)
			continue;
		give = give_new(d, w);
		give->prompt = true;
		give->ids = ids;
	}
	emit_subscribe(floor->core, on_event, d);
	return d;
}

void
team_deliver_free(struct team_deliver *d)
{
	struct give *give;

	if (d == NULL)
		return;
	emit_unsubscribe(d->floor->core, on_event, d);
	while ((give = LIST_FIRST(&d->gives)) != NULL)
		give_free(give);
	free(d);
}

#define HOPS_MAX 8
#define AWAIT_MS ((int64_t)10 * 1000)

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
		cleanup_free char *host = team_actor_host(floor, box->actor);

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
			if (!team_actor_is_addressed(box->actor) &&
			    (host != NULL ?
				    strcmp(host, mail->to_host) != 0 :
				    team_actor_is_here(floor, box->actor)))
				mode->hosts->recall(mode->hosts_arg, id);
		}
	}
	for (char **id = ids; id != NULL && *id != NULL; id++) {
		struct mail *mail = team_post_read(floor, *id);

		if (mail == NULL)
			continue;
		mail->to_host = team_actor_host(floor, mail->to);
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
	now = team_actor_host(floor, mail->to);
	if (done) {
		const char *worker = json_string_or(answer, "to_worker", NULL);

		if (worker != NULL)
			xstrset(&mail->to_worker, worker);
		mail_given_away(mail, clock_wall_ms());
	} else if (mail->hops < HOPS_MAX &&
	    !team_actor_is_addressed(mail->to) &&
	    (why == NULL || team_actor_is_here(floor, mail->to) ||
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
