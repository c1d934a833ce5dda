/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "agent.h"
#include "emit.h"
#include "fleet-private.h"
#include "git-facts.h"
#include "ladder.h"
#include "life.h"
#include "loop.h"
#include "persist.h"
#include "proctree.h"
#include "tmux.h"
#include "worker-op.h"

/* How many patrols between checks of a worktree where nothing happened, and of
 * the sessions while all workers are idle. */
#define LOOK_EVERY     10
#define SETUP_RETRY_MS (10 * 60 * 1000)
#define HANG_MS        ((int64_t)30 * 60 * 1000) /* see ladder.h */

/* A check of a worktree blocks nothing; when it is done, the worker may be gone
 * or busy. */
struct look *
look_new(struct agent *agent)
{
	struct look *look = xcalloc(1, sizeof *look);

	look->fleet = agent->fleet;
	look->worker = xstrdup(agent->worker->name);
	LIST_INSERT_HEAD(&agent->fleet->looks, look, entry);
	return look;
}

void
look_free(struct look *look)
{
	LIST_REMOVE(look, entry);
	loop_timer_free(look->timer);
	free(look->worker);
	free(look);
}

/* --- sessions --------------------------------------------------------- */

static void
on_orphan_killed(const struct err *err, void *arg)
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
		if (strcmp(list[i].name, session_name(agent->session)) == 0)
			return &list[i];
	return NULL;
}

/* A session of ours without a worker, left by a crash. */
static void
end_orphans(struct fleet *fleet, const struct tmux_info *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].role, "worker") != 0 ||
		    fleet_find(fleet, list[i].worker) != NULL)
			continue;
		EMIT(
		    fleet->core, EVENT_SESSION_ORPHAN, .session = list[i].name);
		tmux_kill(
		    fleet->core->tmux, list[i].name, on_orphan_killed, fleet);
	}
}

/* A pane whose death was not reported (no pidfd), or an agent that outlived its
 * tmux server and can no longer be reached. The list may be older than the
 * session, so act only the second time. */
static void
check_session(struct agent *agent, const struct tmux_info *found)
{
	struct session_life life;

	if (found != NULL && !found->dead) {
		agent->missing = 0;
		return;
	}
	session_life(agent->session, NULL, &life);
	if (!life.process) {
		session_check(agent->session);
		return;
	}
	if (found != NULL || ++agent->missing < 2)
		return;
	agent->missing = 0;
	agent_session_gone(agent);
}

static void
on_sessions(const struct tmux_info *list, size_t count, const struct err *err,
    void *arg)
{
	struct fleet *fleet = arg;

	if (err != NULL || fleet->core->stopping)
		return;
	end_orphans(fleet, list, count);
	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];

		if (session_phase(agent->session) == SESSION_UP)
			check_session(agent, find_session(list, count, agent));
		agent_tick_later(agent, 1);
	}
}

/* --- unexpected work -------------------------------------------------- */

/* Commits or changes of an idle worker are salvaged, never landed by
 * accident. */
static void
judge_worktree(struct agent *agent, const struct git_facts *facts)
{
	const struct worker *w = agent->worker;
	bool clean = facts->ahead == 0 && facts->changed == 0 &&
	    facts->untracked == 0 && !facts->rebasing;
	bool is_own = text_is(w->commit, facts->head);

	if (w->status == WORKER_NEEDS_REVIEW && clean) {
		AGENT_EMIT(agent, EVENT_WORK_LANDED_ELSEWHERE,
		    .commit = is_own ? w->commit : NULL);
		agent_move(agent, WORKER_IDLE, NULL);
	} else if (w->status == WORKER_IDLE && !clean) {
		AGENT_EMIT(agent, EVENT_WORK_FOUND);
		op_reset(agent, NULL);
	}
}

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct look *look = arg;
	struct agent *agent = fleet_find(look->fleet, look->worker);

	if (err != NULL)
		log_debug("patrol: %s: %s", look->worker, err->msg);
	else if (agent != NULL && agent_is_at_rest(agent) &&
	    !agent->core->stopping)
		judge_worktree(agent, facts);
	look_free(look);
}

static void
look_at_worktree(struct agent *agent)
{
	struct core *core = agent->core;
	const struct worker *w = agent->worker;

	if (!agent_is_at_rest(agent))
		return;
	agent->stirred = false;
	if (!file_is_dir(w->worktree)) {
		EMIT(core, EVENT_WORKTREE_GONE, .worker = w->name);
		op_reset(agent, NULL);
		return;
	}
	if (w->status != WORKER_IDLE && w->status != WORKER_NEEDS_REVIEW)
		return;
	git_facts_read(core->git, w->worktree, core_branch(core), on_facts,
	    look_new(agent));
}

/* --- signs of life ---------------------------------------------------- */

static bool
expects_life(const struct agent *agent)
{
	return session_phase(agent->session) == SESSION_UP &&
	    worker_expects_life(agent->worker);
}

static void
check_life(struct agent *agent, const struct proctree *tree)
{
	struct silence_limits limits = silence_limits(HANG_MS, 0);
	struct session_life life;

	session_life(agent->session, tree, &life);
	if (POLICY_ASK(agent->fleet, policy, silence, agent, &life))
		return;
	if (!life.process ||
	    !silence_is_long(life.quiet_ms, life.tool_open, &limits) ||
	    !silence_is_long(life.cpu_ms, life.tool_open, &limits))
		return;
	AGENT_EMIT(agent, EVENT_AGENT_HUNG);
	agent_restart(agent);
}

/* One snapshot of all processes serves all workers that are in a turn. */
static void
check_lives(struct fleet *fleet)
{
	struct proctree *tree = NULL;

	for (size_t i = 0; i < fleet->count; i++) {
		if (!expects_life(fleet->agents[i]))
			continue;
		if (tree == NULL &&
		    proctree_read(PROCTREE_PROC, &tree, NULL) < 0)
			return;
		check_life(fleet->agents[i], tree);
	}
	proctree_free(tree);
}

/* --- the patrol ------------------------------------------------------- */

/* Only the agent should touch its worktree, and its actions are reported. The
 * other worktrees are checked a few at a time. */
static bool
look_is_due(const struct fleet *fleet, size_t i, bool all)
{
	return all || fleet->agents[i]->stirred ||
	    (i + life_patrols(fleet->core)) % LOOK_EVERY == 0;
}

/* The exit of an idle agent is reported by its pidfd; anything else about its
 * session can wait. */
static bool
is_quiet(const struct agent *agent)
{
	return agent_is_at_rest(agent) &&
	    session_phase(agent->session) == SESSION_UP && !agent->stirred &&
	    agent->missing == 0 && session_is_watched(agent->session);
}

static bool
list_is_due(const struct fleet *fleet, bool all)
{
	if (all || fleet->count == 0 ||
	    life_patrols(fleet->core) % LOOK_EVERY == 0)
		return true;
	for (size_t i = 0; i < fleet->count; i++)
		if (!is_quiet(fleet->agents[i]))
			return true;
	return false;
}

void
patrol_run(struct fleet *fleet, bool all)
{
	hooks_drain(fleet->hooks);
	persist_check_book(fleet->core);
	if (list_is_due(fleet, all))
		tmux_list(fleet->core->tmux, on_sessions, fleet);
	check_lives(fleet);
	launch_block_resume(fleet);
	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];

		/* What has failed may work by now. */
		if (!fleet_drives(agent) &&
		    clock_wall_ms() - agent->worker->since_ms >= SETUP_RETRY_MS)
			agent_setup_retry(agent);
		if (turn_end_is_due(fleet->agents[i]))
			turn_end_begin(fleet->agents[i], NULL, NULL);
		if (look_is_due(fleet, i, all))
			look_at_worktree(fleet->agents[i]);
	}
}
