/* SPDX-License-Identifier: ISC */

/*
 * Landing a worker's work as one commit: a journalled transaction. The step is
 * written down before it is taken, each step can be taken again, and landings
 * go one after the other.
 *
 *   PREPARE  leftovers committed, rebased on the default branch, one commit
 *            made beside it (the same one when it is made again)
 *   PUBLISH  the default branch moved to it, compare-and-swap
 *   CLEANUP  the worktree set back to the default branch
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "buf.h"
#include "errtext.h"
#include "git-work.h"
#include "git.h"
#include "json.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "pilot.h"
#include "prompt.h"
#include "settings.h"
#include "workspace.h"

#define ROUNDS_MAX 20 /* of a default branch that moves on meanwhile */

struct landing {
	TAILQ_ENTRY(landing) entry;
	struct agent *agent;
	landing_fn *fn;
	void *arg;
	char onto[GIT_ID_SIZE];
	int rounds;
	bool rebase_only; /* stop when it is up to date */
	bool again; /* after a restart: a rebase may stand there half done */
	bool incorporated; /* nothing was left to land */
	enum harvest how; /* it ended */
	char *task; /* of the worker, when it began */
};

static void landing_next(void *arg);
static void landing_prepare(struct landing *l);
static void landing_publish(void *arg);
static void landing_cleanup(void *arg);

/* --- the end of a landing -------------------------------------------- */

static struct json_object *
landing_result(const struct landing *l, const char *status)
{
	const struct worker *w = l->agent->worker;
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", w->name);
	json_set_string(
	    result, "commit_sha", l->incorporated ? "" : w->accept_commit);
	json_set_string(result, "commit_message", w->accept_message);
	json_set_string(result, "status", status);
	json_set_bool(result, "needs_conflict_resolution",
	    strcmp(status, "rebasing") == 0);
	json_set_bool(result, "already_incorporated", l->incorporated);
	return result;
}

/* Hand the outcome over and let the next one begin. */
static void
landing_end(
    struct landing *l, const struct err *err, struct json_object *result)
{
	struct daemon *d = l->agent->daemon;

	l->agent->operating = false;
	TAILQ_REMOVE(&d->landings, l, entry);
	agent_tick_later(l->agent, 1);
	if (l->fn != NULL)
		l->fn(l->agent, err, result, l->arg);
	else
		json_object_put(result);
	if (!l->rebase_only)
		harvest_ended(l->agent, l->task, l->how, err);
	free(l->task);
	free(l);
	daemon_then(d, NULL, landing_next, d);
}

/* The worker keeps its work and waits for a person again. */
static void
landing_failed(struct landing *l, const struct err *err)
{
	struct worker *w = l->agent->worker;

	w->accept = ACCEPT_NONE;
	agent_move(l->agent, WORKER_NEEDS_REVIEW, NULL);
	xstrset(&w->reason, err->msg);
	if (l->how == HARVEST_LANDED)
		l->how = HARVEST_FAILED;
	log_fields(LOG_LEVEL_INFO, "not landed", "worker", w->name, "reason",
	    err->msg, NULL);
	daemon_changed(l->agent->daemon);
	landing_end(l, err, NULL);
}

/* --- conflicts ------------------------------------------------------- */

static void
conflict_facts(const struct agent *agent, struct prompt_facts *facts)
{
	*facts = (struct prompt_facts){
		.worktree = agent->worker->worktree,
		.root = agent->daemon->workspace->root,
		.branch = agent->worker->branch,
		.default_branch = daemon_branch(agent->daemon),
		.task =
		    agent->worker->prompt != NULL ? agent->worker->prompt : "",
	};
}

/* The worker itself resolves it; it knows what it meant. */
static void
send_back(struct agent *agent, const char *const *files)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct prompt_facts facts;

	agent->worker->conflicts++;
	conflict_facts(agent, &facts);
	prompt_conflict(&facts, files, &text);
	agent->operating = false;
	agent_move(agent, WORKER_REBASING, NULL);
	agent_prompt(agent, text.data, false, WORKER_REBASING);
}

static void
landing_conflict_files(
    const char *const *files, size_t count, const struct err *err, void *arg)
{
	struct landing *l = arg;

	(void)count;
	if (err != NULL) {
		landing_failed(l, err);
		return;
	}
	if (l->rebase_only)
		l->agent->worker->accept = ACCEPT_NONE;
	send_back(l->agent, files);
	l->how = HARVEST_CONFLICT;
	landing_end(l, NULL, landing_result(l, "rebasing"));
}

static void
landing_given_up(const struct err *ignored, void *arg)
{
	struct landing *l = arg;
	struct err err = { 0 };

	(void)ignored;
	err_set(&err, -EBUSY,
	    "%s could not resolve its conflicts with %s in %d tries; resolve "
	    "them by hand in %s",
	    l->agent->worker->name, daemon_branch(l->agent->daemon),
	    l->agent->worker->conflicts, l->agent->worker->worktree);
	l->agent->worker->conflicts = 0;
	l->how = HARVEST_STUCK;
	landing_failed(l, &err);
}

static void
landing_conflict(struct landing *l)
{
	struct daemon *d = l->agent->daemon;
	const char *dir = l->agent->worker->worktree;

	if (l->agent->worker->conflicts >=
	    settings_int(d->settings, "repo.max_conflicts"))
		git_work_rebase_abort(d->git, dir, landing_given_up, l);
	else
		git_work_conflicts(d->git, dir, landing_conflict_files, l);
}

/* --- prepare, squash ------------------------------------------------- */

static void
landing_squashed(const char *id, const struct err *err, void *arg)
{
	struct landing *l = arg;
	struct worker *w = l->agent->worker;

	if (err != NULL) {
		landing_failed(l, err);
		return;
	}
	l->incorporated = id[0] == '\0';
	xstrset(&w->accept_onto, l->onto);
	xstrset(&w->accept_commit, id);
	w->accept = l->incorporated ? ACCEPT_CLEANUP : ACCEPT_PUBLISH;
	if (l->incorporated)
		harvest_published(l->agent, true);
	daemon_changed(l->agent->daemon);
	daemon_then(l->agent->daemon, l->agent,
	    l->incorporated ? landing_cleanup : landing_publish, l);
}

static void
landing_messages(
    const char *const *messages, size_t count, const struct err *err, void *arg)
{
	struct landing *l = arg;
	struct daemon *d = l->agent->daemon;
	struct worker *w = l->agent->worker;
	cleanup_buf struct buf text = BUF_INIT;

	if (err != NULL) {
		landing_failed(l, err);
		return;
	}
	prompt_commit_message(messages, count,
	    settings_bool(d->settings, "repo.strip_attribution"), &text);
	xstrset(&w->accept_message, text.data);
	git_work_squash(d->git, w->worktree, w->name, l->onto, text.data,
	    landing_squashed, l);
}

static void
landing_up_to_date(struct landing *l)
{
	struct json_object *result;

	l->agent->worker->accept = ACCEPT_NONE;
	agent_move(l->agent, WORKER_NEEDS_REVIEW, NULL);
	daemon_changed(l->agent->daemon);
	result = landing_result(l, "needs_review");
	landing_end(l, NULL, result);
}

static void
landing_rebased(bool conflict, const struct err *err, void *arg)
{
	struct landing *l = arg;

	if (err != NULL)
		landing_failed(l, err);
	else if (conflict)
		landing_conflict(l);
	else if (l->rebase_only)
		landing_up_to_date(l);
	else
		git_work_messages(l->agent->daemon->git,
		    l->agent->worker->worktree, l->onto, landing_messages, l);
}

static void
landing_tidied(const struct err *err, void *arg)
{
	struct landing *l = arg;

	if (err != NULL)
		landing_failed(l, err);
	else
		git_work_rebase(l->agent->daemon->git,
		    l->agent->worker->worktree, l->onto, landing_rebased, l);
}

static void
landing_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct landing *l = arg;

	if (err != NULL) {
		landing_failed(l, err);
		return;
	}
	memcpy(l->onto, facts->onto, sizeof l->onto);
	if (facts->rebasing && l->again) {
		landing_tidied(NULL, l); /* ours; it is begun anew */
		return;
	}
	git_work_commit_leftovers(l->agent->daemon->git,
	    l->agent->worker->worktree, l->onto, agent_leftover_message,
	    landing_tidied, l);
}

static void
landing_prepare(struct landing *l)
{
	struct daemon *d = l->agent->daemon;

	git_work_facts(d->git, l->agent->worker->worktree, daemon_branch(d),
	    landing_facts, l);
}

/* --- publish --------------------------------------------------------- */

static void
landing_published(enum git_land_result result, const char *detail,
    const struct err *error, void *arg)
{
	struct landing *l = arg;
	struct worker *w = l->agent->worker;
	struct err err = { 0 };

	switch (result) {
	case GIT_LANDED:
		log_fields(LOG_LEVEL_INFO, "landed", "worker", w->name,
		    "commit", w->accept_commit, NULL);
		w->accept = ACCEPT_CLEANUP;
		harvest_published(l->agent, false);
		daemon_changed(l->agent->daemon);
		daemon_then(l->agent->daemon, l->agent, landing_cleanup, l);
		return;
	case GIT_LAND_MOVED:
		if (++l->rounds < ROUNDS_MAX) {
			w->accept = ACCEPT_PREPARE;
			daemon_changed(l->agent->daemon);
			landing_prepare(l);
			return;
		}
		err_set(&err, -EBUSY,
		    "%s kept moving while %s was being landed; try again",
		    daemon_branch(l->agent->daemon), w->name);
		break;
	case GIT_LAND_DIRTY:
		err_set(&err, -EBUSY,
		    "your checkout is in the way: %s; commit or stash it and "
		    "accept again",
		    detail);
		l->how = HARVEST_DIRTY;
		break;
	case GIT_LAND_HELD:
		err_set(&err, -EBUSY, "%s; try again", detail);
		break;
	case GIT_LAND_FAILED:
		err = *error;
		break;
	}
	landing_failed(l, &err);
}

static void
landing_publish(void *arg)
{
	struct landing *l = arg;
	struct daemon *d = l->agent->daemon;
	const struct worker *w = l->agent->worker;

	git_work_land(d->git, daemon_branch(d), w->accept_onto,
	    w->accept_commit, daemon_lands_over_dirt(d), landing_published, l);
}

/* --- clean up -------------------------------------------------------- */

static void
landing_done(struct landing *l)
{
	struct worker *w = l->agent->worker;
	struct json_object *result = landing_result(l, "idle");

	w->accept = ACCEPT_NONE;
	agent_move(
	    l->agent, w->session.ready ? WORKER_IDLE : WORKER_OFFLINE, NULL);
	daemon_changed(l->agent->daemon);
	landing_end(l, NULL, result);
}

/* The landing stands whatever the push says; its words go to the log. */
static void
landing_pushed(const struct git_answer *answer, void *arg)
{
	if (answer->status != 0)
		log_warnx("push: %s", answer->complaint);
	landing_done(arg);
}

static void
landing_reset(const struct err *err, void *arg)
{
	struct landing *l = arg;
	struct daemon *d = l->agent->daemon;
	const char *const args[] = { "push", "--quiet", "origin",
		daemon_branch(d), NULL };
	struct git_command push = { .args = args };

	if (err != NULL)
		log_warnx("%s: landed, but its worktree cannot be set back: "
			  "%s",
		    l->agent->worker->name, err->msg);
	if (settings_bool(d->settings, "repo.push") && !l->incorporated)
		git_run(git_queue(d->git, d->workspace->root), &push,
		    landing_pushed, l);
	else
		landing_done(l);
}

static void
landing_cleanup(void *arg)
{
	struct landing *l = arg;
	struct daemon *d = l->agent->daemon;
	const struct worker *w = l->agent->worker;

	git_work_reset(
	    d->git, w->worktree, w->branch, daemon_branch(d), landing_reset, l);
}

/* --- the queue ------------------------------------------------------- */

static void
landing_next(void *arg)
{
	struct daemon *d = arg;
	struct landing *l = TAILQ_FIRST(&d->landings);

	if (l == NULL || l->agent->operating || d->stopping ||
	    !harvest_may_land(d))
		return;
	l->agent->operating = true;
	switch (l->agent->worker->accept) {
	case ACCEPT_PUBLISH:
		landing_publish(l);
		break;
	case ACCEPT_CLEANUP:
		landing_cleanup(l);
		break;
	default:
		landing_prepare(l);
		break;
	}
}

static struct landing *
landing_queue(struct agent *agent, landing_fn *fn, void *arg)
{
	struct daemon *d = agent->daemon;
	struct landing *l = xcalloc(1, sizeof *l);

	l->agent = agent;
	l->fn = fn;
	l->arg = arg;
	if (agent->worker->task != NULL)
		l->task = xstrdup(agent->worker->task);
	agent_move(agent, WORKER_ACCEPTING, NULL);
	TAILQ_INSERT_TAIL(&d->landings, l, entry);
	daemon_changed(d);
	daemon_then(d, NULL, landing_next, d);
	return l;
}

void
landing_begin(struct agent *agent, landing_fn *fn, void *arg)
{
	if (agent->worker->accept == ACCEPT_NONE)
		agent->worker->accept = ACCEPT_PREPARE;
	landing_queue(agent, fn, arg);
}

/* Without a journal: what nobody has accepted must not land after a restart. */
void
landing_rebase(struct agent *agent, landing_fn *fn, void *arg)
{
	landing_queue(agent, fn, arg)->rebase_only = true;
}

void
landing_recover(struct agent *agent)
{
	struct landing *l = landing_queue(agent, NULL, NULL);

	l->again = true;
	/* Its files may be in the checkout already, and in others' way. */
	if (agent->worker->accept == ACCEPT_PUBLISH) {
		TAILQ_REMOVE(&agent->daemon->landings, l, entry);
		TAILQ_INSERT_HEAD(&agent->daemon->landings, l, entry);
	}
	l->rebase_only = agent->worker->accept == ACCEPT_NONE;
}

void
landing_forget(struct agent *agent)
{
	struct landing *l, *next;

	for (l = TAILQ_FIRST(&agent->daemon->landings); l != NULL; l = next) {
		next = TAILQ_NEXT(l, entry);
		if (l->agent != agent)
			continue;
		TAILQ_REMOVE(&agent->daemon->landings, l, entry);
		free(l->task);
		free(l);
	}
}

void
landing_kick(struct daemon *d)
{
	daemon_then(d, NULL, landing_next, d);
}
