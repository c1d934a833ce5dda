/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent.h"
#include "auto.h"
#include "emit.h"
#include "mail.h"
#include "work-record.h"
#include "serve.h"
#include "session-hook.h"
#include "state.h"
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
	cleanup_free char *actor = team_mail_actor(agent);
	const struct team_box *box = team_post_box(floor, actor);
	struct due due = { NULL, 0 };
	int64_t now_ms = clock_wall_ms();
	int64_t since_ms;

	if (box == NULL)
		return due;
	since_ms = team_post_since(floor, agent);
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
