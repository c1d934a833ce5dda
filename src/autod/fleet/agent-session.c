/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "emit.h"
#include "fleet-private.h"
#include "loop.h"
#include "persist.h"
#include "prompt.h"
#include "serve.h"
#include "session-hook.h"
#include "session-record.h"
#include "settings.h"
#include "task.h"
#include "transcript.h"
#include "worker-op.h"

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

/* --- its status line --------------------------------------------------- */

void
agent_status(struct agent *agent, struct json_object *data)
{
	struct core *core = agent->core;
	const char *id = agent->worker->session.id;
	int used = context_read(json_member(data, "context_window"));

	/* One of the conversation before may be late. */
	if (used >= 0 && text_is(id, json_string_or(data, "session_id", id)))
		agent->context = used;
	if (windows_read(json_member(data, "rate_limits"), clock_wall_ms(),
		core->state.windows))
		persist_changed(core);
}

/* --- after a compaction ----------------------------------------------- */

#define REMINDER_MS 2000 /* for git; its hook waits a little longer */

/* why: the words for another conversation; NULL = it is the same. */
static void
reminder_text(const struct agent *agent, const struct git_facts *facts,
    const struct git_snapshot *snapshot, const char *why, struct buf *out)
{
	const struct core *core = agent->core;
	const struct worker *w = agent->worker;
	const struct task *t = state_task(&core->state, w->task);
	size_t count = snapshot != NULL ? snapshot->count : 0;
	cleanup_free const char **files = xcalloc(count + 1, sizeof *files);
	cleanup_buf struct buf task = BUF_INIT;
	struct prompt_reminder reminder = {
		.id = w->task,
		.check_command = w->task != NULL ?
		    settings_string(core->settings, "auto.check_command") :
		    NULL,
		.last_check = agent->last_check,
		.last_words = why != NULL && t != NULL ? t->last_words : NULL,
		.why = why,
		.tree_known = facts != NULL,
		.branch = w->branch,
		.onto = core_branch(core),
		.files = files,
	};

	for (size_t i = 0; i < count; i++)
		if (snapshot->changes[i].own)
			files[reminder.file_count++] =
			    snapshot->changes[i].path;
	if (facts != NULL) {
		reminder.ahead = facts->ahead;
		reminder.uncommitted = facts->changed + facts->untracked;
	}
	agent_task_text(agent, &task);
	reminder.task = task.data;
	prompt_compacted(&reminder, out);
}

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
		reminder_text(agent, facts, snapshot, NULL, &text);
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

void
agent_add_reminder(struct agent *agent, struct buf *out)
{
	if (!agent->compacted)
		return;
	agent->compacted = false;
	if (agent->worker->prompt != NULL)
		reminder_text(agent, NULL, NULL, NULL, out);
}

/* --- instead of a compaction ------------------------------------------ */

struct afresh {
	struct worker_op op; /* first */
	char *words;
	struct buf text;
};

static void
on_afresh_seen(const struct git_facts *facts,
    const struct git_snapshot *snapshot, const struct err *err, void *arg)
{
	struct afresh *a = arg;

	(void)err; /* it looks for itself */
	if (!operation_arrived(&a->op.op, NULL))
		return;
	reminder_text(a->op.agent, facts, snapshot, a->words, &a->text);
	operation_next(&a->op.op);
}

static void
afresh_look(struct operation *op)
{
	struct afresh *a = (struct afresh *)op;
	struct core *core = a->op.agent->core;

	git_snapshot(core->git, a->op.agent->worker->worktree,
	    core_branch(core), "", on_afresh_seen, operation_await(op));
}

/* If it was cancelled, the end of the turn is judged again. */
static void
afresh_end(struct operation *op, const struct err *err)
{
	struct afresh *a = (struct afresh *)op;
	struct agent *agent = a->op.agent;
	cleanup_buf struct buf whole = BUF_INIT;

	worker_op_release(&a->op);
	if (err == NULL && turn_end_counts(agent) &&
	    !hold_turn_ended(agent, a->words)) {
		fleet_preface(agent, a->text.data, &whole);
		agent_prompt(agent, whole.data, true, agent->worker->status);
	}
	free(a->words);
	buf_release(&a->text);
	free(a);
}

static const struct operation_step afresh_steps[] = {
	{ .name = "look", .run = afresh_look },
};

OPERATION_KIND(afresh_kind, "another conversation", afresh_steps, afresh_end,
    .yields = true);

bool
agent_afresh(struct agent *agent, const char *words)
{
	const struct worker *w = agent->worker;
	int64_t limit = agent_number(agent, "fresh_at");
	cleanup_free char *reason =
	    xasprintf("%d%% of its context are used", agent->context);
	struct afresh *a;

	if (limit == 0 || agent->context < limit || w->task == NULL ||
	    w->prompt == NULL || !fleet_drives(agent) ||
	    session_phase(agent->session) != SESSION_UP)
		return false;
	AGENT_EMIT(agent, EVENT_SENT_BACK, .task = w->task, .reason = words);
	AGENT_EMIT(agent, EVENT_AFRESH, .task = w->task, .reason = reason);
	a = xcalloc(1, sizeof *a);
	a->words = xstrdup(words);
	buf_init(&a->text);
	worker_op_begin(&a->op, &afresh_kind, agent, NULL);
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
