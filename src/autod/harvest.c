/* SPDX-License-Identifier: ISC */

/*
 * Finished work onto the default branch, and what is done when that has to
 * wait: for the user's checkout, for another git, for a worker that resolves
 * its conflicts.
 */
#include <errno.h>
#include <string.h>

#include "agent.h"
#include "backoff.h"
#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "pilot.h"
#include "settings.h"
#include "text.h"

static void harvest_again(void *arg);

static void
wait_ms(struct pilot *p, int64_t ms)
{
	if (p->again == NULL)
		p->again = loop_after(p->daemon->loop, ms, harvest_again, p);
	else
		loop_timer_restart(p->again, ms);
}

static int64_t
dirty_wait_ms(const struct daemon *d)
{
	return d->state.source_repo_dirty_retry_after_unix * 1000 -
	    clock_wall_ms();
}

static void
forget_dirt(struct daemon *d)
{
	struct state *s = &d->state;

	s->source_repo_dirty_retry_after_unix = 0;
	s->source_repo_dirty_backoff_secs = 0;
	s->source_repo_dirty_retry_count = 0;
	daemon_changed(d);
}

bool
harvest_may_land(const struct daemon *d)
{
	return d->pilot->posting == NULL;
}

void
harvest_begin(struct agent *agent)
{
	struct daemon *d = agent->daemon;
	struct pilot *p = d->pilot;
	struct task *t = pilot_task(agent);

	if (t == NULL || !p->active || d->stopping)
		return;
	if (agent->worker->status == WORKER_NO_CHANGES) {
		record(d, LOG_LEVEL_INFO, "task_completed", "worker_name",
		    agent->worker->name, "task", t->id, "result", "no_changes",
		    NULL);
		forget_dirt(d);
		settle_task(d, t, OUTCOME_NO_CHANGES, t->last_words);
		agent_move(agent,
		    agent->worker->session.ready ? WORKER_IDLE : WORKER_OFFLINE,
		    NULL);
		xstrset(&agent->worker->task, NULL);
		return;
	}
	if (agent->worker->status != WORKER_NEEDS_REVIEW || agent->operating)
		return;
	if (dirty_wait_ms(d) > 0) {
		wait_ms(p, dirty_wait_ms(d));
		return;
	}
	if (p->again != NULL && loop_timer_pending(p->again))
		return; /* git has a lock in the way */
	record(d, LOG_LEVEL_INFO, "task_completed", "worker_name",
	    agent->worker->name, "task", t->id, "result", "needs_review", NULL);
	landing_begin(agent, NULL, NULL);
}

void
harvest_resume(struct pilot *p)
{
	struct daemon *d = p->daemon;

	for (size_t i = 0; i < d->agent_count; i++) {
		struct agent *agent = d->agents[i];

		if (pilot_drives(agent) && !agent->operating &&
		    agent->worker->session.step == PROMPT_NONE)
			harvest_begin(agent);
	}
}

static void
harvest_again(void *arg)
{
	harvest_resume(arg);
}

void
harvest_published(struct agent *agent, bool incorporated)
{
	struct daemon *d = agent->daemon;
	struct task *t = pilot_task(agent);

	if (t == NULL)
		return;
	task_landed(t, incorporated ? NULL : agent->worker->accept_commit,
	    clock_wall_ms());
	record(d, LOG_LEVEL_INFO, "accept_success", "worker_name",
	    agent->worker->name, "task", t->id, "commit_sha", t->commit, NULL);
	forget_dirt(d);
	d->pilot->git_tries = 0;
	/* What was in the way of others is not there any more. */
	if (d->pilot->again != NULL && loop_timer_pending(d->pilot->again))
		loop_timer_restart(d->pilot->again, 1);
}

/* --- what is in the way ---------------------------------------------- */

static void
dirty(struct agent *agent, const char *words)
{
	struct daemon *d = agent->daemon;
	struct state *s = &d->state;
	cleanup_free char *until = NULL, *told = NULL;
	int64_t ms = 0;

	if (!backoff_next(
		&backoff_dirty, s->source_repo_dirty_retry_count, &ms)) {
		failure_raise(d,
		    &(struct failure){ .class = "dirty_checkout",
			.worker = agent->worker->name,
			.task = agent->worker->task,
			.status = -1,
			.words = words });
		return;
	}
	s->source_repo_dirty_retry_count++;
	s->source_repo_dirty_backoff_secs = ms / 1000;
	s->source_repo_dirty_retry_after_unix = (clock_wall_ms() + ms) / 1000;
	daemon_changed(d);
	until =
	    xasprintf("%lld", (long long)s->source_repo_dirty_retry_after_unix);
	told = xasprintf("Source repository has uncommitted changes. Will "
			 "retry in %lld seconds (attempt %d/%d). %s",
	    (long long)(ms / 1000), s->source_repo_dirty_retry_count,
	    backoff_dirty.tries_max, words);
	log_info("%s", told);
	record(d, LOG_LEVEL_INFO, "waiting", "reason", told, "until_unix",
	    until, NULL);
	wait_ms(d->pilot, ms);
}

/* A lock of another git passes; anything else is for somebody who can look. */
static void
git_trouble(struct agent *agent, const struct err *err)
{
	struct daemon *d = agent->daemon;
	struct pilot *p = d->pilot;
	int64_t ms = 0;

	if (err->code == -EBUSY &&
	    backoff_next(&backoff_git, p->git_tries, &ms)) {
		p->git_tries++;
		log_info("%s: a landing waits for another git: %s",
		    agent->worker->name, err->msg);
		wait_ms(p, ms);
		return;
	}
	failure_raise(d,
	    &(struct failure){
		.class = err->code == -EBUSY ? "git_lock" : "git",
		.worker = agent->worker->name,
		.task = agent->worker->task,
		.status = -1,
		.words = err->msg });
}

static void
landed(struct agent *agent, const char *id)
{
	struct daemon *d = agent->daemon;
	struct pilot *p = d->pilot;
	struct task *t = state_task(&d->state, id);

	xstrset(&agent->worker->task, NULL);
	if (t == NULL || t->step != TASK_LANDED)
		return;
	if (t->commit == NULL) {
		settle_task(d, t, OUTCOME_NO_CHANGES, NULL);
		return;
	}
	xstrset(&p->posting, t->id);
	post_begin(p);
}

void
harvest_ended(struct agent *agent, const char *task, enum harvest how,
    const struct err *err)
{
	struct daemon *d = agent->daemon;

	if (task == NULL)
		return;
	if (how == HARVEST_LANDED) {
		landed(agent, task);
		pilot_look(d);
		return;
	}
	if (how == HARVEST_CONFLICT) {
		record(d, LOG_LEVEL_INFO, "accept_failure", "worker_name",
		    agent->worker->name, "task", task, "error",
		    "conflict with the default branch; the worker resolves it",
		    NULL);
		return;
	}
	record(d, LOG_LEVEL_INFO, "accept_failure", "worker_name",
	    agent->worker->name, "task", task, "error", err->msg, NULL);
	if (!d->pilot->active)
		return;
	if (how == HARVEST_DIRTY)
		dirty(agent, err->msg);
	else if (how == HARVEST_STUCK)
		failure_raise(d,
		    &(struct failure){ .class = "conflicts",
			.worker = agent->worker->name,
			.task = task,
			.status = -1,
			.words = err->msg });
	else
		git_trouble(agent, err);
}

void
harvest_weather(
    struct agent *agent, bool outage, const char *words, int64_t until_ms)
{
	struct daemon *d = agent->daemon;
	int64_t now = clock_wall_ms() / 1000;
	cleanup_free char *until =
	    xasprintf("%lld", (long long)(until_ms / 1000));

	record(d, LOG_LEVEL_INFO, "waiting", "worker_name", agent->worker->name,
	    "reason", words, "until_unix", until, NULL);
	if (!outage)
		return;
	if (d->state.outage_since_unix == 0) {
		d->state.outage_since_unix = now;
		daemon_changed(d);
	}
	if (d->pilot->active &&
	    (now - d->state.outage_since_unix) * 1000 >
		settings_duration(d->settings, "auto.outage_limit"))
		failure_raise(d,
		    &(struct failure){ .class = "outage",
			.worker = agent->worker->name,
			.task = agent->worker->task,
			.status = -1,
			.words = words });
}
