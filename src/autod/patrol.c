/* SPDX-License-Identifier: ISC */

/*
 * The safety net: a periodic pass that compares what is known with what there
 * is (sessions, processes, git, spool) and repairs. Events do the real work;
 * this finds what they missed.
 */
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "git-work.h"
#include "json.h"
#include "liveness.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "methods.h"
#include "pilot.h"
#include "proctree.h"
#include "settings.h"
#include "tmux.h"
#include "workspace.h"

#define CPU_WORTH_MS 200 /* between two patrols: less is idling */
/* In patrols: a look at a worktree where nothing happened, and at the sessions
 * while everybody is idle. */
#define LOOK_EVERY 10

/* --- sessions -------------------------------------------------------- */

static void
patrol_killed(const struct err *err, void *arg)
{
	(void)arg;
	if (err != NULL)
		log_debug("patrol: %s", err->msg);
}

static const struct tmux_info *
find_session(
    const struct tmux_info *list, size_t count, const struct agent *agent)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].name, agent->session_name) == 0)
			return &list[i];
	return NULL;
}

/* A session of ours that no worker has: left by a crash of ours. */
static void
patrol_orphans(struct daemon *d, const struct tmux_info *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].role, "worker") != 0 ||
		    agent_find(d, list[i].worker) != NULL)
			continue;
		log_fields(LOG_LEVEL_INFO, "session without a worker ended",
		    "session", list[i].name, NULL);
		tmux_kill(d->tmux, list[i].name, patrol_killed, d);
	}
}

/* A pane whose death nobody told us of (no pidfd), or an agent that outlived
 * its tmux server: nothing reaches it any more. The list may be older than the
 * session, so that is believed the second time. */
static void
patrol_session(struct agent *agent, const struct tmux_info *found)
{
	if (found != NULL && !found->dead) {
		agent->missing = 0;
		return;
	}
	if (!procref_alive(&agent->pane)) {
		agent_check_pane(agent);
		return;
	}
	if (found != NULL || ++agent->missing < 2)
		return;
	agent->missing = 0;
	log_fields(LOG_LEVEL_INFO, "its tmux session is gone and is made again",
	    "worker", agent->worker->name, NULL);
	if (agent->worker->session.busy)
		agent_restart(agent);
	else
		agent_end(agent, NULL, NULL);
}

static void
patrol_sessions(const struct tmux_info *list, size_t count,
    const struct err *err, void *arg)
{
	struct daemon *d = arg;

	if (err != NULL || d->stopping)
		return;
	patrol_orphans(d, list, count);
	for (size_t i = 0; i < d->agent_count; i++) {
		struct agent *agent = d->agents[i];
		const struct tmux_info *found =
		    find_session(list, count, agent);

		if (agent->phase == AGENT_UP && agent->pane.pid != 0)
			patrol_session(agent, found);
		agent_tick_later(agent, 1);
	}
}

/* --- work that nobody asked for -------------------------------------- */

/* A look at a worktree holds nobody up; when it is over, the worker may be gone
 * or on something else. */
struct look {
	struct daemon *daemon;
	char *worker;
};

static bool
at_rest(const struct agent *agent)
{
	return !agent->operating && agent->phase != AGENT_ENDING &&
	    worker_is_at_rest(agent->worker);
}

/* An idle worker with commits or dirt: salvaged, never landed by accident. */
static void
patrol_judge(struct agent *agent, const struct git_facts *facts)
{
	struct worker *w = agent->worker;
	bool clean = facts->ahead == 0 && facts->changed == 0 &&
	    facts->untracked == 0 && !facts->rebasing;

	if (w->status == WORKER_NEEDS_REVIEW && clean) {
		log_fields(LOG_LEVEL_INFO,
		    "its work is on the default branch already", "worker",
		    w->name, NULL);
		pilot_landed_by_hand(agent);
		agent_move(agent, WORKER_IDLE, NULL);
	} else if (w->status == WORKER_IDLE && !clean) {
		log_fields(LOG_LEVEL_INFO, "work found on an idle worker",
		    "worker", w->name, NULL);
		fleet_reset(agent, NULL, NULL);
	}
}

static void
patrol_looked(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct look *look = arg;
	struct agent *agent = agent_find(look->daemon, look->worker);

	if (err != NULL)
		log_debug("patrol: %s: %s", look->worker, err->msg);
	else if (agent != NULL && at_rest(agent))
		patrol_judge(agent, facts);
	free(look->worker);
	free(look);
}

static void
patrol_worktree(struct agent *agent)
{
	struct daemon *d = agent->daemon;
	struct worker *w = agent->worker;
	struct look *look;

	if (!at_rest(agent))
		return;
	agent->stirred = false;
	if (!file_is_dir(w->worktree)) {
		log_fields(LOG_LEVEL_INFO,
		    "its worktree is gone and is made "
		    "again",
		    "worker", w->name, NULL);
		fleet_reset(agent, NULL, NULL);
		return;
	}
	if (w->status != WORKER_IDLE && w->status != WORKER_NEEDS_REVIEW)
		return;
	look = xcalloc(1, sizeof *look);
	look->daemon = d;
	look->worker = xstrdup(w->name);
	git_work_facts(
	    d->git, w->worktree, daemon_branch(d), patrol_looked, look);
}

/* --- signs of life --------------------------------------------------- */

static void
patrol_cpu(struct agent *agent, const struct proctree *tree, int64_t now)
{
	int64_t total = proctree_cpu_ms(tree, &agent->pane);

	if (total < 0)
		return;
	if (llabs(total - agent->cpu_total_ms) > CPU_WORTH_MS)
		agent->cpu_seen_ms = now;
	agent->cpu_total_ms = total;
}

static bool
wants_life(const struct agent *agent)
{
	return agent->phase == AGENT_UP && worker_expects_life(agent->worker);
}

static void
patrol_life(struct agent *agent, const struct proctree *tree)
{
	struct daemon *d = agent->daemon;
	struct worker *w = agent->worker;
	int64_t now = clock_mono_ms();
	cleanup_buf struct buf path = BUF_INIT;
	struct liveness_evidence evidence;
	enum liveness_verdict verdict;

	patrol_cpu(agent, tree, now);
	if (pilot_drives(agent) && w->task != NULL) {
		stalls_judge(agent);
		return;
	}
	evidence = (struct liveness_evidence){
		.hook_ms = now - agent->hook_ms,
		.transcript_ms = now - agent->grew_ms,
		.cpu_ms = now - agent->cpu_seen_ms,
		.tool_open = w->session.open_tools > 0,
		.process = procref_alive(&agent->pane),
	};
	settings_worker_path(d->settings, w->name, "hang_timeout", &path);
	verdict = liveness_judge(
	    &evidence, settings_duration(d->settings, path.data));
	if (verdict == LIVENESS_HUNG) {
		log_fields(LOG_LEVEL_INFO,
		    "no sign of life: the session is "
		    "started again",
		    "worker", w->name, NULL);
		agent_restart(agent);
	}
}

/* --- the pass -------------------------------------------------------- */

/* One picture of all processes serves every worker that is in a turn. */
static void
patrol_lives(struct daemon *d)
{
	struct proctree *tree = NULL;

	for (size_t i = 0; i < d->agent_count; i++) {
		if (!wants_life(d->agents[i]))
			continue;
		if (tree == NULL &&
		    proctree_read(PROCTREE_PROC, &tree, NULL) < 0)
			return;
		patrol_life(d->agents[i], tree);
	}
	proctree_free(tree);
}

/* Nobody but the agent should touch its worktree, and what the agent does we
 * hear of. The others are looked at in turn, a few each time. */
static bool
look_is_due(const struct daemon *d, size_t i, bool all)
{
	return all || d->agents[i]->stirred ||
	    (i + d->patrols) % LOOK_EVERY == 0;
}

/* The end of an idle agent is told by its pidfd; what else can happen to its
 * session has time. */
static bool
is_quiet(const struct agent *agent)
{
	return at_rest(agent) && agent->phase == AGENT_UP && !agent->stirred &&
	    agent->missing == 0 && agent->pane.pidfd >= 0;
}

static bool
list_is_due(const struct daemon *d, bool all)
{
	if (all || d->agent_count == 0 || d->patrols % LOOK_EVERY == 0)
		return true;
	for (size_t i = 0; i < d->agent_count; i++)
		if (!is_quiet(d->agents[i]))
			return true;
	return false;
}

static void
patrol(struct daemon *d, bool all)
{
	if (d->stopping)
		return;
	hooks_drain(d);
	if (state_foreign(d->workspace, &d->state) == 1)
		daemon_changed(d); /* judged where it is written back */
	pilot_patrol(d);
	if (list_is_due(d, all))
		tmux_list(d->tmux, patrol_sessions, d);
	patrol_lives(d);
	for (size_t i = 0; i < d->agent_count; i++) {
		if (finish_is_due(d->agents[i]))
			finish_turn(d->agents[i], NULL, NULL);
		if (look_is_due(d, i, all))
			patrol_worktree(d->agents[i]);
	}
}

void
patrol_run(struct daemon *d)
{
	patrol(d, true);
}

static void
patrol_timer(void *arg)
{
	struct daemon *d = arg;

	d->patrols++;
	patrol(d, false);
}

void
patrol_start(struct daemon *d)
{
	loop_timer_free(d->patrol);
	d->patrol = loop_every(d->loop,
	    settings_duration(d->settings, "daemon.patrol_interval"),
	    patrol_timer, d);
}
