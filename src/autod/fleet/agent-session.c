/* SPDX-License-Identifier: ISC */

/*
 * What happens to a worker's session, as events tell, and the patrol that finds
 * what no event told.
 */

#include "base.h"
#include "agent.h"
#include "emit.h"
#include "fleet-private.h"
#include "git-facts.h"
#include "ladder.h"
#include "life.h"
#include "loop.h"
#include "persist.h"
#include "orphans.h"
#include "prompt.h"
#include "serve.h"
#include "session-hook.h"
#include "settings.h"
#include "task.h"
#include "tmux.h"
#include "transcript.h"
#include "worker-op.h"
#include "worker.h"

/* How many patrols between checks of a worktree where nothing happened, and of
 * the sessions while all workers are idle. */
#define LOOK_EVERY     10
#define SETUP_RETRY_MS (10 * 60 * 1000)
#define HANG_MS        ((int64_t)30 * 60 * 1000) /* see ladder.h */
#define UNREPORTED_MAX 3 /* silent sessions before parking, in auto mode */

static const char continue_text[] =
    "Your session was interrupted and has been resumed. Look at the state of "
    "the worktree (git status, git log) and continue the task from where it "
    "stopped.";

static const char fresh_text[] =
    "An earlier session was interrupted, and what was said in it is lost. Look "
    "at the state of the worktree (git status, git log): some of the work may "
    "be done already. Continue this task from there.\n\n";

static void
on_changed(void *arg)
{
	struct agent *agent = arg;

	persist_changed(agent->core);
}

static bool
may_type(void *arg)
{
	const struct agent *agent = arg;

	/* One that says nothing of a prompt until its turn has ended would
	 * seem to refuse it. */
	return agent->op == NULL && !agent->core->stopping &&
	    !worker_is_held(agent->worker) &&
	    (!agent->worker->session.busy || agent_queues(agent));
}

/* --- ready ------------------------------------------------------------ */

/* A new conversation knows nothing about the task. */
static void
prompt_to_continue(struct agent *agent, bool fresh)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_adds(&text, fresh ? fresh_text : continue_text);
	if (fresh)
		agent_task_text(agent, &text);
	agent_prompt(agent, text.data, false, agent->worker->after);
}

/* A session is ready again after its worker was offline. */
static void
ready_after_offline(struct agent *agent, bool fresh)
{
	struct worker *w = agent->worker;
	struct session_record *s = &w->session;

	/* A prompt that was submitted was only interrupted, not lost. */
	session_confirm(agent->session);
	if (s->step != PROMPT_NONE) {
		s->busy = false; /* not yet */
		s->step = PROMPT_PARKED;
		s->pending_since_ms = clock_wall_ms();
		s->pending_tries = 0;
		agent_move(agent, WORKER_STARTING, NULL);
	} else if (s->busy && w->prompt != NULL) {
		s->busy = false;
		prompt_to_continue(agent, fresh);
		agent_move(agent, WORKER_STARTING, NULL);
	} else {
		s->busy = false;
		agent_move(agent, WORKER_IDLE, NULL);
	}
}

static void
on_ready(void *arg, const char *source)
{
	struct agent *agent = arg;

	agent->start_failures = 0;
	agent->compacted = false;
	agent->context = 0;
	if (agent->worker->status == WORKER_OFFLINE)
		ready_after_offline(agent, strcmp(source, "resume") != 0);
	agent_tick_later(agent, 1);
}

/* --- after a compaction ----------------------------------------------- */

#define REMINDER_MS 2000 /* for git; its hook waits a little longer */

/* What the agent is told when its conversation has been compacted; git looks at
 * the worktree first. */
static void
remind(struct look *r, const struct git_facts *facts,
    const struct git_snapshot *snapshot)
{
	struct agent *agent = fleet_find(r->fleet, r->worker);
	struct server_call *call = take_ptr(&r->call);
	cleanup_buf struct buf text = BUF_INIT;

	if (call == NULL)
		return;
	if (agent != NULL && agent->worker->prompt != NULL &&
	    !server_call_gone(call)) {
		agent_reminder(agent, facts, snapshot, NULL, &text);
		agent->compacted = false;
	}
	serve_reply(r->fleet->core, call,
	    text.len > 0 ? session_hook_tool_answer("SessionStart", text.data) :
			   NULL);
}

static void
on_reminder_late(void *arg)
{
	remind(arg, NULL, NULL);
}

static void
on_reminder_seen(const struct git_facts *facts,
    const struct git_snapshot *snapshot, const struct err *err, void *arg)
{
	(void)err;
	remind(arg, facts, snapshot);
	look_free(arg);
}

/* Without a caller that waits, its next prompt begins with it. */
static bool
on_compacted(void *arg, struct server_call *call)
{
	struct agent *agent = arg;
	struct core *core = agent->core;
	struct look *r;

	agent->compacted = agent->worker->prompt != NULL;
	EMIT(core, EVENT_COMPACTED, .worker = agent->worker->name,
	    .task = agent->worker->task);
	if (call == NULL || !agent->compacted || core->stopping)
		return false;
	r = look_new(agent);
	r->call = call;
	r->timer = loop_after(core->loop, REMINDER_MS, on_reminder_late, r);
	git_snapshot(core->git, agent->worker->worktree, core_branch(core), "",
	    on_reminder_seen, r);
	return true;
}

/* --- prompts and turns ------------------------------------------------ */

static void
on_submitted(void *arg, const char *receipt)
{
	struct agent *agent = arg;
	struct worker *w = agent->worker;

	AGENT_EMIT(agent, EVENT_PROMPT_SUBMITTED, .receipt = receipt);
	if (w->status == WORKER_STARTING)
		agent_move(agent, w->after, NULL);
	w->after = WORKER_WORKING;
	persist_changed(agent->core);
}

static void
on_typed(void *arg, const char *text)
{
	struct agent *agent = arg;
	struct worker *w = agent->worker;

	agent->sent_back = 0;
	if (w->status == WORKER_PAUSED && worker_in_turn(w->before) &&
	    !w->over_budget && !w->on_hold) {
		agent_move(agent, w->before, NULL);
	} else if (w->status == WORKER_IDLE || w->status == WORKER_NO_CHANGES) {
		xstrset(&w->prompt, text);
		agent_move(agent, WORKER_WORKING, NULL);
	} else if (w->status == WORKER_WAITING) {
		agent_move(agent, WORKER_WORKING, NULL);
	}
	persist_changed(agent->core);
}

static void
on_works(void *arg, bool heard)
{
	turn_failure_works(arg, heard);
}

static void
on_progressed(void *arg)
{
	struct agent *agent = arg;

	POLICY_TELL(agent->fleet, policy, progressed, agent);
}

static void
on_turn_ended(void *arg, struct server_call *call, const char *last_words)
{
	turn_end_begin(arg, call, last_words);
}

static void
on_turn_failed(void *arg, const char *error, const char *text)
{
	turn_failure(arg, error, text);
}

/* The person who did that continues it, there or with a command. */
static void
on_interrupted(void *arg)
{
	struct agent *agent = arg;
	const struct worker *w = agent->worker;
	cleanup_free char *reason = NULL;
	bool driven = fleet_drives(agent);

	if (agent->op != NULL || !worker_in_turn(w->status))
		return;
	reason = xasprintf("interrupted in its session; continue there, or "
			   "with: llmc resume %s",
	    w->name);
	agent_move(agent, WORKER_PAUSED, reason);
	/* It stays so until a person does. */
	if (driven)
		AGENT_EMIT(agent, EVENT_WORKER_PARKED, .reason = reason);
}

static void
on_permission(void *arg)
{
	agent_park(arg, "the agent asks for permission");
}

static void
on_grew(void *arg, const struct transcript_parser *parser)
{
	struct agent *agent = arg;

	turn_failure_retries(agent, transcript_parser_totals(parser));
	POLICY_TELL(agent->fleet, policy, used, agent, parser);
}

static void
on_left(void *arg, struct transcript *transcript)
{
	struct agent *agent = arg;

	if (agent->fleet->policy->left == NULL)
		transcript_free(transcript);
	POLICY_TELL(agent->fleet, policy, left, agent, transcript);
}

/* --- its end ---------------------------------------------------------- */

static void
give_up(struct agent *agent, const char *why)
{
	const struct worker *w = agent->worker;
	cleanup_free char *reason = xasprintf(
	    "the agent exited %d times in a row%s%s; look at it with: llmc "
	    "peek %s, continue with: llmc reset %s",
	    w->crashes, *why != '\0' ? ": " : "", why, w->name, w->name);

	agent_move(agent, WORKER_ERROR, reason);
	AGENT_EMIT(agent, EVENT_AGENT_CRASHES, .reason = reason);
}

/* Limits, outages and a user's own exit do not count as crashes; others do, and
 * delay the next launch. why: "" = not known. */
static void
crashed(struct agent *agent, enum event_kind kind, const char *why)
{
	struct worker *w = agent->worker;
	struct crash_verdict verdict =
	    crash_judge(w, fleet_drives(agent), clock_wall_ms());
	const char *reason = *why != '\0' ? why : NULL;

	if (!verdict.counts)
		return;
	agent->retry_ms = clock_mono_ms() + verdict.pause_ms;
	AGENT_EMIT(agent, kind, .status = worker_status_name(w->status),
	    .reason = reason);
	if (agent->op != NULL && worker_is_quiet(w)) {
		/* Its turn is over, and what follows needs no session: the
		 * operation decides, and the next launch comes after it. */
		w->session.ready = false;
		w->session.open_tools = 0;
	} else if (verdict.give_up) {
		give_up(agent, why);
	} else if (worker_in_turn(w->status) || w->status == WORKER_STARTING) {
		if (w->status != WORKER_STARTING)
			w->after = w->status;
		agent_move(agent, WORKER_OFFLINE, reason);
		/* So that the next session is asked to continue. */
		w->session.busy = w->session.step == PROMPT_NONE;
	} else if (w->status == WORKER_IDLE) {
		agent_move(agent, WORKER_OFFLINE, reason);
	}
}

static void
on_exited(void *arg, bool early)
{
	struct agent *agent = arg;
	cleanup_buf struct buf why = BUF_INIT;

	worker_limits_ended(agent, &why);
	crashed(agent, EVENT_AGENT_EXITED, why.data);
	if (early && agent->resuming)
		agent_resume_failed(agent);
	agent_tick_later(agent, 1);
}

void
agent_session_gone(struct agent *agent)
{
	crashed(agent, EVENT_SESSION_GONE, "");
	agent_end_session(agent);
}

/* --- trouble ---------------------------------------------------------- */

static void
on_unreported(struct agent *agent)
{
	if (fleet_drives(agent) && ++agent->start_failures < UNREPORTED_MAX) {
		/* No person is watching, and a hook may have been lost: try
		 * again. */
		AGENT_EMIT(agent, EVENT_START_UNREPORTED);
		agent_end_session(agent);
	} else {
		agent_park(agent,
		    "the agent did not report the start of its session: a "
		    "dialog may be open (about trust: run llmc doctor trust)");
	}
}

/* End it, and let the next launch resume; but not for ever. */
static void
on_undelivered(struct agent *agent, const struct err *err)
{
	struct worker *w = agent->worker;
	cleanup_free char *reason = NULL;
	int64_t pause = 0;

	AGENT_EMIT(agent, EVENT_PROMPT_NOT_TAKEN, .reason = err->msg);
	persist_changed(agent->core);
	if (delivery_refused(&w->session, &pause)) {
		agent->retry_ms = clock_mono_ms() + pause;
		agent_end_session(agent);
		return;
	}
	reason = xasprintf(
	    "%d sessions in a row did not accept its prompt: a dialog may be "
	    "open, or a hook may block prompts; continue with: llmc %s %s",
	    DELIVERY_SESSIONS, fleet_drives(agent) ? "reset" : "resume",
	    w->name);
	agent_give_up(agent, reason);
}

static void
on_trouble(void *arg, enum session_trouble trouble, const struct err *err)
{
	struct agent *agent = arg;

	switch (trouble) {
	case SESSION_NOT_STARTED:
		agent_launch_failed(agent, err);
		break;
	case SESSION_ENDED_AT_ONCE:
		agent_launch_failed(agent, err);
		if (agent->resuming)
			agent_resume_failed(agent);
		break;
	case SESSION_UNREPORTED:
		on_unreported(agent);
		break;
	case SESSION_UNDELIVERED:
		on_undelivered(agent, err);
		break;
	case SESSION_LEFT:
		agent_give_up(agent, err->msg);
		break;
	case SESSION_TROUBLE_COUNT:
		break;
	}
}

const struct session_events agent_session_events = {
	.changed = on_changed,
	.may_type = may_type,
	.ready = on_ready,
	.compacted = on_compacted,
	.submitted = on_submitted,
	.typed = on_typed,
	.works = on_works,
	.progressed = on_progressed,
	.turn_ended = on_turn_ended,
	.turn_failed = on_turn_failed,
	.interrupted = on_interrupted,
	.asks_permission = on_permission,
	.grew = on_grew,
	.left = on_left,
	.exited = on_exited,
	.trouble = on_trouble,
};

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
on_looked(const struct git_facts *facts, const struct err *err, void *arg)
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
	git_facts_read(core->git, w->worktree, core_branch(core), on_looked,
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
