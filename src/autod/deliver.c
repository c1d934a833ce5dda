/* SPDX-License-Identifier: ISC */

/*
 * Prompts on their way into a session: carries out what delivery.h decides.
 * The intent is written down before anything is typed.
 */
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "buf.h"
#include "clock.h"
#include "delivery.h"
#include "errtext.h"
#include "file.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "prompt.h"
#include "tmux.h"
#include "transcript.h"

static const char continue_text[] =
    "Your session was interrupted and has been taken up again. Look at the "
    "state of the worktree (git status, git log) and go on with the task from "
    "where it stopped.";

static const char fresh_text[] =
    "An earlier session was interrupted, and what was said in it is lost. Look "
    "at the state of the worktree (git status, git log): some of the work may "
    "be done already. Go on from there with this task.\n\n";

void
agent_prompt(
    struct agent *agent, const char *text, bool clear, enum worker_status after)
{
	struct daemon *d = agent->daemon;
	struct worker *w = agent->worker;
	cleanup_free char *receipt =
	    xasprintf("%llu", (unsigned long long)++d->state.receipts);

	delivery_park(&w->session, text, receipt, clear, clock_wall_ms());
	w->after = after;
	agent->gates = 0;
	daemon_changed(d);
	agent_tick_later(agent, 1);
}

bool
agent_submitted(struct agent *agent, const char *submitted)
{
	struct worker *w = agent->worker;
	enum worker_status after = w->after;
	char receipt[PROMPT_RECEIPT_SIZE] = "?";

	if (!delivery_submitted(&w->session, submitted))
		return false;
	w->after = WORKER_WORKING;
	prompt_receipt(submitted, receipt);
	log_fields(LOG_LEVEL_INFO, "prompt submitted", "worker", w->name,
	    "receipt", receipt, NULL);
	w->session.busy = true;
	if (w->status == WORKER_STARTING)
		agent_move(agent, after, NULL);
	daemon_changed(agent->daemon);
	return true;
}

/* Was the prompt submitted after all, its hook lost? The transcript knows. */
static bool
transcript_has_receipt(const struct worker *w)
{
	cleanup_buf struct buf mark = BUF_INIT;

	if (w->session.transcript == NULL || w->session.receipt == NULL)
		return false;
	prompt_with_receipt(w->session.receipt, "", &mark);
	while (mark.len > 0 && mark.data[mark.len - 1] == ' ')
		buf_truncate(&mark, mark.len - 1);
	return transcript_mentions(w->session.transcript, mark.data);
}

bool
deliver_confirm(struct agent *agent)
{
	const struct worker *w = agent->worker;
	cleanup_buf struct buf text = BUF_INIT;

	if (w->session.step != PROMPT_PASTED || !transcript_has_receipt(w))
		return false;
	prompt_with_receipt(w->session.receipt, w->session.pending, &text);
	return agent_submitted(agent, text.data);
}

/* --- what was decided ------------------------------------------------ */

static void
deliver_sent(const struct err *err, void *arg)
{
	struct agent *agent = arg;

	agent->tmux_busy = false;
	if (err != NULL)
		log_debug("%s: tmux: %s", agent->worker->name, err->msg);
	agent_tick(agent);
}

static void
deliver_clear_now(void *arg)
{
	struct agent *agent = arg;

	tmux_paste(agent->daemon->tmux, agent->session_name, "/clear", true,
	    deliver_sent, agent);
}

static void
deliver_paste_now(void *arg)
{
	struct agent *agent = arg;
	const struct worker *w = agent->worker;
	cleanup_buf struct buf text = BUF_INIT;

	prompt_with_receipt(w->session.receipt, w->session.pending, &text);
	tmux_paste(agent->daemon->tmux, agent->session_name, text.data, true,
	    deliver_sent, agent);
}

static void
deliver_enter_now(void *arg)
{
	struct agent *agent = arg;
	const char *const keys[] = { "Enter", NULL };

	tmux_keys(agent->daemon->tmux, agent->session_name, keys, deliver_sent,
	    agent);
}

/* The session does not take it: end it, and let the next launch resume. What
 * was pasted may have been submitted; only the transcript can tell, and one
 * that was is not given again. */
static void
deliver_restart(struct agent *agent)
{
	struct worker *w = agent->worker;

	log_fields(LOG_LEVEL_INFO, "the session does not take its prompt",
	    "worker", w->name, "step", prompt_step_name(w->session.step), NULL);
	if (deliver_confirm(agent))
		return;
	delivery_did(&w->session, DELIVERY_RESTART, clock_wall_ms());
	w->crashes++;
	daemon_changed(agent->daemon);
	agent_end(agent, NULL, NULL);
}

void
deliver_tick(struct agent *agent)
{
	static effect_fn *const effects[DELIVERY_ACTION_COUNT] = {
		[DELIVERY_CLEAR] = deliver_clear_now,
		[DELIVERY_PASTE] = deliver_paste_now,
		[DELIVERY_ENTER] = deliver_enter_now,
	};
	struct worker *w = agent->worker;
	int64_t wait = -1;
	enum delivery_action action;

	if (agent->tmux_busy)
		return;
	action = delivery_next(
	    &w->session, !worker_is_held(w), clock_wall_ms(), &wait);
	if (action == DELIVERY_WAIT) {
		if (wait >= 0)
			agent_tick_later(agent, wait);
		return;
	}
	log_debug("%s: %s", w->name, delivery_action_name(action));
	if (action == DELIVERY_RESTART) {
		deliver_restart(agent);
		return;
	}
	delivery_did(&w->session, action, clock_wall_ms());
	agent->tmux_busy = true;
	daemon_changed(agent->daemon);
	daemon_then(agent->daemon, agent, effects[action], agent);
}

/* --- the session is ready -------------------------------------------- */

/* A conversation that is new knows nothing of the task. */
static void
deliver_continue(struct agent *agent, bool fresh, enum worker_status after)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (fresh) {
		buf_adds(&text, fresh_text);
		agent_task_text(agent, &text);
	} else {
		buf_adds(&text, continue_text);
	}
	agent_prompt(agent, text.data, false, after);
}

/* A session that came back after its worker had gone offline. */
static void
ready_after_offline(struct agent *agent, bool fresh)
{
	struct worker *w = agent->worker;
	enum worker_status after = w->after;

	if (w->session.step == PROMPT_PASTED && transcript_has_receipt(w)) {
		/* It had been submitted: the turn was cut off, not lost. */
		w->session.step = PROMPT_NONE;
		w->session.busy = true;
	}
	if (w->session.step == PROMPT_PASTED ||
	    w->session.step == PROMPT_CLEARING)
		w->session.step = PROMPT_PARKED;
	if (w->session.step == PROMPT_PARKED) {
		w->session.busy = false; /* not yet */
		w->session.pending_since_ms = clock_wall_ms();
		w->session.pending_tries = 0;
		agent_move(agent, WORKER_STARTING, NULL);
	} else if (w->session.busy && w->prompt != NULL) {
		w->session.busy = false;
		deliver_continue(agent, fresh, after);
		agent_move(agent, WORKER_STARTING, NULL);
	} else {
		w->session.busy = false;
		agent_move(agent, WORKER_IDLE, NULL);
	}
}

void
agent_ready(struct agent *agent, const char *session, const char *transcript,
    const char *source)
{
	struct worker *w = agent->worker;

	if (strcmp(source, "compact") == 0) {
		agent->compacting = false;
		return;
	}
	agent->phase = AGENT_UP;
	agent->start_failures = 0;
	w->session.open_tools = 0;
	if (session != NULL)
		xstrset(&w->session.id, session);
	if (transcript != NULL)
		xstrset(&w->session.transcript, transcript);
	agent_follow(agent);
	delivery_session_started(
	    &w->session, strcmp(source, "clear") == 0, clock_wall_ms());
	if (strcmp(source, "startup") == 0)
		w->session.pending_clear = false; /* it is fresh already */
	if (w->status == WORKER_OFFLINE)
		ready_after_offline(agent, strcmp(source, "resume") != 0);
	daemon_changed(agent->daemon);
	agent_tick_later(agent, 1);
}
