/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "box.h"
#include "core.h"
#include "emit.h"
#include "fleet-private.h"
#include "guard.h"
#include "identity.h"
#include "kept.h"
#include "loop.h"
#include "persist.h"
#include "person.h"
#include "policy-file.h"
#include "prompt.h"
#include "run-dir.h"
#include "serve.h"
#include "session-limit.h"
#include "session.h"
#include "settings.h"
#include "state.h"
#include "task.h"
#include "worker-op.h"
#include "workplace.h"
#include "workspace.h"

static void turn_failure_over(struct agent *agent);

static void
op_park(struct agent *agent, enum worker_status status, const char *reason);

#define SELF_REVIEW                                                         \
	"Review your last commit as a strict reviewer would. Fix what you " \
	"find and amend the commit."
#define RESUMES_MAX 2 /* attempts to resume before a new conversation */

static void on_tick(void *arg);

struct agent *
agent_new(struct fleet *fleet, struct worker *worker)
{
	struct agent *agent = xcalloc(1, sizeof *agent);
	struct err err = { 0 };

	agent->fleet = fleet;
	agent->core = fleet->core;
	agent->worker = worker;
	agent->stirred = true;
	agent->session = session_new(&fleet->host, worker->name, "worker",
	    &worker->session, &agent_session_events, agent);
	fleet->agents = xreallocarray(
	    fleet->agents, fleet->count + 1, sizeof(struct agent *));
	fleet->agents[fleet->count++] = agent;
	hooks_add(fleet->hooks, worker->name);
	/* A launch tries again, and reports it. */
	if (serve_open_socket(fleet->core, worker->name, &err) < 0)
		log_debug("%s", err.msg);
	return agent;
}

void
agent_free(struct agent *agent)
{
	struct fleet *fleet = agent->fleet;

	salvage_drop(agent->salvage);
	if (agent->op != NULL)
		operation_drop(&agent->op->op);
	agent_setup_free(agent);
	persist_forget(agent->core, agent);
	session_free(agent->session);
	loop_timer_free(agent->timer);
	hooks_remove(fleet->hooks, agent->worker->name);
	worker_limits_release(&agent->limits);
	free(agent->launched_with);
	free(agent->tool);
	free(agent->last_check);
	free(agent->box_proved);
	free(agent->box_fault);
	for (size_t i = 0; i < fleet->count; i++) {
		if (fleet->agents[i] != agent)
			continue;
		fleet->agents[i] = fleet->agents[--fleet->count];
		break;
	}
	free(agent);
}

void
agent_remove(struct agent *agent)
{
	struct core *core = agent->core;
	cleanup_free char *name = xstrdup(agent->worker->name);

	agent_free(agent);
	serve_close_socket(core, name);
	run_dir_remove(core->workspace, name);
	state_remove(&core->state, name);
	strv_remove(core->state.auto_workers, name);
	persist_changed(core);
}

/* --- settings --------------------------------------------------------- */

static void
key_of(const struct agent *agent, const char *key, struct buf *path)
{
	settings_worker_path(
	    agent->core->settings, agent->worker->name, key, path);
}

int64_t
agent_number(const struct agent *agent, const char *key)
{
	cleanup_buf struct buf path = BUF_INIT;

	key_of(agent, key, &path);
	return settings_int(agent->core->settings, path.data);
}

bool
agent_flag(const struct agent *agent, const char *key)
{
	cleanup_buf struct buf path = BUF_INIT;

	key_of(agent, key, &path);
	return settings_bool(agent->core->settings, path.data);
}

static const char *
agent_string(const struct agent *agent, const char *key)
{
	cleanup_buf struct buf path = BUF_INIT;

	key_of(agent, key, &path);
	return settings_string(agent->core->settings, path.data);
}

/* --- what it is doing ------------------------------------------------- */

bool
agent_is_taken(const struct agent *agent)
{
	return agent->op != NULL ||
	    session_phase(agent->session) == SESSION_ENDING;
}

bool
agent_is_free(const struct agent *agent)
{
	return agent->op == NULL &&
	    session_phase(agent->session) == SESSION_UP &&
	    worker_is_free(agent->worker);
}

bool
agent_is_at_rest(const struct agent *agent)
{
	return !agent_is_taken(agent) && worker_is_at_rest(agent->worker);
}

int
agent_move(struct agent *agent, enum worker_status to, const char *reason)
{
	struct worker *w = agent->worker;
	enum worker_status from = w->status;
	struct err err = { 0 };
	int r;

	if (from == to)
		return 0;
	r = worker_transition(w, to, reason, clock_wall_ms(), &err);
	if (r < 0) {
		AGENT_EMIT(agent, EVENT_MOVE_REFUSED, .reason = err.msg);
		return r;
	}
	agent->stirred = true;
	agent->login_lost = false;
	persist_changed(agent->core);
	AGENT_EMIT(agent, EVENT_WORKER_MOVED, .from = worker_status_name(from),
	    .to = worker_status_name(to), .reason = reason);
	return 0;
}

void
agent_forget(struct agent *agent)
{
	struct worker *w = agent->worker;

	xstrset(&w->prompt, NULL);
	xstrset(&w->prompt_command, NULL);
	xstrset(&w->commit, NULL);
	xstrset(&w->reviewed, NULL);
	xstrset(&w->session.pending, NULL);
	xstrset(&w->session.id, NULL);
	xstrset(&w->session.transcript, NULL);
	xstrset(&w->reason, NULL);
	xstrset(&w->accepted_head, NULL);
	xstrset(&w->checked, NULL);
	xstrset(&w->checked_key, NULL);
	w->checked_tests = 0;
	xstrset(&w->task, NULL);
	xstrset(&w->health, NULL);
	xstrset(&agent->last_check, NULL);
	agent->compacted = false;
	agent->context = 0;
	w->session.step = PROMPT_NONE;
	w->session.busy = false;
	w->accepted = w->approved = false;
	w->for_person = false;
	w->crashes = w->conflicts = w->limit_tries = w->stalls = 0;
	w->until_ms = 0;
	persist_changed(agent->core);
}

void
agent_task_text(const struct agent *agent, struct buf *out)
{
	const struct core *core = agent->core;
	const struct worker *w = agent->worker;
	const struct task *task = state_task(&core->state, w->task);
	struct prompt_facts facts = {
		.worktree = w->worktree,
		.root = core->workspace->root,
		.branch = w->branch,
		.default_branch = core_branch(core),
		.task = w->prompt,
		.role = agent_string(agent, "role_prompt"),
		.answers = fleet_answers(agent),
		.by_hand = w->task == NULL,
		.report_only = task != NULL && task->launch.report_only,
	};

	prompt_task(&facts, out);
}

/* --- actions ---------------------------------------------------------- */

void
agent_prompt(
    struct agent *agent, const char *text, bool clear, enum worker_status after)
{
	struct core *core = agent->core;
	cleanup_free char *receipt =
	    xasprintf("%llu", (unsigned long long)++core->state.receipts);
	cleanup_buf struct buf whole = BUF_INIT;

	if (clear)
		buf_adds(&whole, text);
	else
		fleet_preface(agent, text, &whole);
	agent_guard_refresh(agent); /* it may be for another task */
	agent->worker->after = after;
	agent->sent_back = 0;
	persist_changed(core);
	session_prompt(agent->session, whole.data, receipt, clear);
	agent_tick_later(agent, 1);
}

void
agent_interrupt(struct agent *agent)
{
	session_interrupt(agent->session);
}

void
agent_tools_wait(struct agent *agent, enum agent_wait reason, bool on)
{
	unsigned before = agent->tools_wait;

	agent->tools_wait = on ? before | reason : before & ~(unsigned)reason;
	if ((before != 0) != (agent->tools_wait != 0))
		run_dir_wait(agent->core->workspace, agent->worker->name, on);
}

static void
on_session_ended(void *arg)
{
	struct agent *agent = arg;

	fleet_freed(agent->fleet);
	agent_tick_later(agent, 1);
}

void
agent_end_session(struct agent *agent)
{
	session_end(agent->session, on_session_ended, agent);
}

void
agent_restart(struct agent *agent)
{
	struct worker *w = agent->worker;

	if (w->status != WORKER_STARTING)
		w->after = w->status;
	agent_move(agent, WORKER_OFFLINE, NULL);
	w->session.busy = true; /* the next session is asked to continue */
	agent_end_session(agent);
}

void
agent_park(struct agent *agent, const char *reason)
{
	if (agent_is_taken(agent) || agent->core->stopping)
		return;
	op_park(agent, WORKER_PAUSED, reason);
}

void
agent_give_up(struct agent *agent, const char *reason)
{
	if (agent_is_taken(agent) || agent->core->stopping)
		return;
	op_park(
	    agent, fleet_drives(agent) ? WORKER_ERROR : WORKER_PAUSED, reason);
}

void
agent_saw(struct agent *agent, const struct git_facts *facts)
{
	agent->seen = *facts;
	agent->seen_ms = clock_mono_ms();
}

void
agent_finish(struct agent *agent, const char *head)
{
	struct worker *w = agent->worker;

	if (agent_move(agent, WORKER_NEEDS_REVIEW, NULL) < 0)
		return;
	xstrset(&w->commit, head);
	if (w->accepted || !w->self_review || w->self_reviewed) {
		AGENT_EMIT(agent, EVENT_WORK_FINISHED);
		return;
	}
	w->self_reviewed = true;
	agent_move(agent, WORKER_REVIEWING, NULL);
	agent_prompt(agent, SELF_REVIEW, false, WORKER_REVIEWING);
}

void
agent_resume_failed(struct agent *agent)
{
	struct worker *w = agent->worker;

	if (w->crashes + agent->start_failures < RESUMES_MAX)
		return;
	AGENT_EMIT(agent, EVENT_RESUME_IMPOSSIBLE, .session = w->session.id);
	xstrset(&w->session.transcript, NULL);
}

/* --- what to do next -------------------------------------------------- */

static bool
wants_session(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	/* One that a person stopped waits for a decision without a session. */
	if (w->on_hold &&
	    (w->status == WORKER_NEEDS_REVIEW ||
		w->status == WORKER_NO_CHANGES || w->status == WORKER_IDLE))
		return false;
	return w->status != WORKER_PAUSED && w->status != WORKER_ERROR &&
	    w->status != WORKER_LIMITED && w->status != WORKER_ACCEPTING &&
	    w->worktree != NULL && file_is_dir(w->worktree);
}

static void
tick(struct agent *agent)
{
	const struct worker *w = agent->worker;
	int64_t wait;

	if (agent->core->options->oneshot || agent->core->stopping ||
	    agent_is_taken(agent))
		return;
	calls_look(agent->fleet);
	if (w->status == WORKER_LIMITED) {
		wait = w->until_ms - clock_wall_ms();
		if (wait > 0) {
			agent_tick_later(agent, wait);
			return;
		}
		turn_failure_over(agent);
	}
	if (session_phase(agent->session) != SESSION_NONE) {
		session_poke(agent->session);
		return;
	}
	wait = agent->retry_ms - clock_mono_ms();
	if (!wants_session(agent))
		return;
	if (wait > 0)
		agent_tick_later(agent, wait);
	else
		agent_launch(agent);
}

static void
on_tick(void *arg)
{
	tick(arg);
}

void
agent_tick_later(struct agent *agent, int64_t ms)
{
	if (agent->timer == NULL)
		agent->timer =
		    loop_after(agent->core->loop, ms, on_tick, agent);
	else if (!loop_timer_pending(agent->timer) ||
	    loop_timer_remaining(agent->timer, clock_mono_ms()) > ms)
		loop_timer_restart(agent->timer, ms);
}

struct park {
	struct worker_op op;
	enum worker_status status;
	char *reason;
};

/* The file it was saved to, NULL on failure; the caller frees it. */
static char *
save_screen(const struct agent *agent, const char *text)
{
	cleanup_free char *dir =
	    workspace_path(agent->core->workspace, "logs/screens");
	cleanup_free char *name = NULL, *file = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_compact(clock_wall_ms(), stamp);
	name = xasprintf("%s-%s.txt", agent->worker->name, stamp);
	file = file_join(dir, name);
	if (text == NULL || file_mkdirs(dir, 0700, NULL) < 0 ||
	    file_replace(file, text, strlen(text), 0600, NULL) < 0)
		return NULL;
	return take_ptr(&file);
}

static void
on_screen(const char *text, void *arg)
{
	struct park *p = arg;
	cleanup_free char *file = save_screen(p->op.agent, text);
	char *reason;

	if (file != NULL) {
		reason = xasprintf("%s; its screen is in %s", p->reason, file);
		free(p->reason);
		p->reason = reason;
	}
	operation_on_over(arg);
}

static void
screen(struct operation *op)
{
	struct park *p = (struct park *)op;

	session_screen(p->op.agent->session, on_screen, operation_await(op));
}

static void
pause_worker(struct operation *op)
{
	struct park *p = (struct park *)op;
	struct agent *agent = p->op.agent;

	agent_move(agent, p->status, p->reason);
	AGENT_EMIT(agent, EVENT_WORKER_PARKED, .reason = p->reason);
	session_end(agent->session, operation_on_over, operation_await(op));
}

static void
end(struct operation *op, const struct err *err)
{
	struct park *p = (struct park *)op;

	(void)err; /* only if the daemon stops, which also ends the session */
	worker_op_release(&p->op);
	free(p->reason);
	free(p);
}

static const struct operation_step steps[] = {
	{ .name = "screen", .run = screen },
	{ .name = "pause", .run = pause_worker },
};

OPERATION_KIND(kind, "park", steps, end);

/* status: paused, or error. */
static void
op_park(struct agent *agent, enum worker_status status, const char *reason)
{
	struct park *p = xcalloc(1, sizeof *p);

	p->status = status;
	p->reason = xstrdup(reason);
	worker_op_begin(&p->op, &kind, agent, NULL);
}

static const char over_text[] =
    "The interruption is over. Continue the task from where it stopped.";

static void
limit_worker(struct agent *agent, const char *text, int64_t until)
{
	struct worker *w = agent->worker;

	w->session.busy = false;
	if (w->status != WORKER_LIMITED &&
	    agent_move(agent, WORKER_LIMITED, text) < 0)
		return;
	w->until_ms = until;
	persist_changed(agent->core);
	agent_tick_later(agent, 1);
}

static void
limit(struct agent *agent, enum limit_class class, const char *text)
{
	struct fleet *fleet = agent->fleet;
	int64_t until =
	    session_limit_look_ms(class, text, agent->worker->limit_tries);

	agent->worker->limit_tries++; /* its own, not those of the others */
	limit_worker(agent, text, until);
	AGENT_EMIT(
	    agent, EVENT_WAITING, .reason = text, .until_unix = until / 1000);
	person_tell(agent->core,
	    &(struct notice){
		.class = class == LIMIT_OUTAGE ? NOTICE_OUTAGE : NOTICE_LIMIT,
		.why = text,
		.worker = agent->worker->name,
		.task = agent->worker->task });
	POLICY_TELL(
	    fleet, policy, limited, agent, class == LIMIT_OUTAGE, text, until);
	if (class == LIMIT_USAGE)
		fleet_limit(fleet, agent, NULL, text, until);
}

/* The limit applies to the whole account: workers that would reach it next wait
 * too. Those in a turn learn of it from their agent. */
size_t
fleet_limit(struct fleet *fleet, const struct agent *like, const char *account,
    const char *text, int64_t until)
{
	size_t count = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];
		enum worker_status status = agent->worker->status;
		cleanup_free char *own =
		    account != NULL ? agent_account(agent) : NULL;

		if ((status != WORKER_STARTING && status != WORKER_LIMITED &&
			status != WORKER_IDLE) ||
		    (like != NULL &&
			strcmp(agent_log_in(agent), agent_log_in(like)) != 0) ||
		    (account != NULL && !text_is(own, account)))
			continue;
		limit_worker(agent, text, until);
		count++;
	}
	return count;
}

void
turn_failure(struct agent *agent, const char *error, const char *text)
{
	enum limit_class class = limit_classify(error, text);
	cleanup_free char *reason = NULL;

	AGENT_EMIT(agent, EVENT_TURN_FAILED, .error = error,
	    .class = limit_class_name(class), .text = text);
	if (class == LIMIT_USAGE || class == LIMIT_OUTAGE) {
		limit(agent, class, text);
		return;
	}
	agent->worker->session.busy = false;
	persist_changed(agent->core);
	if (class != LIMIT_AUTH &&
	    POLICY_ASK(agent->fleet, policy, turn_error, agent, text))
		return;
	if (text[0] == '\0')
		text = "the turn failed without a message";
	reason = class == LIMIT_AUTH ?
	    xasprintf("%s" WORKER_LOGIN_LOST
		      "%s, then: llmc message %s continue",
		text, agent_log_in(agent), agent->worker->name) :
	    xstrdup(text);
	agent_move(agent, WORKER_PAUSED, reason);
	agent->login_lost = agent->login_tried = class == LIMIT_AUTH;
	AGENT_EMIT(agent,
	    class == LIMIT_AUTH ? EVENT_LOGIN_NEEDED : EVENT_WORKER_PARKED,
	    .reason = reason);
}

/* The limit is over: the worker continues where it was. */
static void
turn_failure_over(struct agent *agent)
{
	struct worker *w = agent->worker;
	enum worker_status before = w->before;

	AGENT_EMIT(agent, EVENT_LIMIT_OVER);
	w->until_ms = 0;
	if (before == WORKER_IDLE || before == WORKER_NEEDS_REVIEW ||
	    before == WORKER_NO_CHANGES || before == WORKER_OFFLINE) {
		agent_move(agent, before, NULL);
		return;
	}
	agent_move(agent, WORKER_STARTING, NULL);
	if (w->session.step == PROMPT_NONE)
		agent_prompt(agent, over_text, false,
		    before == WORKER_STARTING ? w->after : before);
}

/* --- what it may do ----------------------------------------------------- */

int
agent_guard_write(struct agent *agent, struct err *err)
{
	const struct worker *w = agent->worker;
	struct guard_policy policy = { .tools.all = true };
	cleanup_buf struct buf key = BUF_INIT;
	cleanup_json struct json_object *value = NULL;
	const char *const *refused, *const *paths;
	unsigned line = 0;
	cleanup_free char *file = NULL;
	int r;

	policy.tree = w->worktree != NULL ? realpath(w->worktree, NULL) : NULL;
	key_of(agent, "refuse_commands", &key);
	settings_list(agent->core->settings, key.data, &refused);
	policy.refuse_commands = strv_copy(refused);
	/* What is protected by default is for a person to accept, not for
	 * the agent to leave alone. */
	settings_list(agent->core->settings, "repo.protected_paths", &paths);
	if (strv_has(refused, "protected-files") &&
	    settings_value(
		agent->core->settings, "repo.protected_paths", &value, &line) &&
	    line > 0)
		policy.protected_paths = strv_copy(paths);
	POLICY_TELL(agent->fleet, policy, guard, agent, &policy);
	r = policy_file_save(agent->core->workspace, w->name, &policy, err);
	guard_policy_release(&policy);
	if (r < 0) {
		file = policy_file_path(agent->core->workspace, w->name);
		unlink(file);
	}
	return r;
}

void
agent_guard_refresh(struct agent *agent)
{
	bool before = agent->unguarded;
	struct err err = { 0 };

	agent->unguarded = session_phase(agent->session) != SESSION_NONE &&
	    agent_guard_write(agent, &err) < 0;
	if (agent->unguarded && !before) {
		cleanup_free char *reason = xasprintf(
		    "its policy cannot be written, and no tool may be used "
		    "until it can: %s",
		    err.msg);

		/* It is denied everything meanwhile: a person should know. */
		AGENT_EMIT(agent, EVENT_GUARD_DENIED,
		    .task = agent->worker->task,
		    .class = guard_kind_words[GUARD_UNKNOWN], .reason = reason);
	}
}

/* --- messages ----------------------------------------------------------- */

/* The status a message leads to; COUNT = unchanged, its own = not allowed. */
static const enum worker_status message_leads_to[WORKER_STATUS_COUNT] = {
	[WORKER_IDLE] = WORKER_IDLE,
	[WORKER_OFFLINE] = WORKER_OFFLINE,
	[WORKER_STARTING] = WORKER_STARTING,
	[WORKER_ACCEPTING] = WORKER_ACCEPTING,
	[WORKER_WORKING] = WORKER_STATUS_COUNT,
	[WORKER_REVIEWING] = WORKER_STATUS_COUNT,
	[WORKER_REJECTED] = WORKER_STATUS_COUNT,
	[WORKER_REBASING] = WORKER_STATUS_COUNT,
	[WORKER_NEEDS_REVIEW] = WORKER_REJECTED,
	[WORKER_NO_CHANGES] = WORKER_WORKING,
	[WORKER_WAITING] = WORKER_WORKING,
	[WORKER_PAUSED] = WORKER_STARTING,
	[WORKER_LIMITED] = WORKER_STARTING,
	[WORKER_ERROR] = WORKER_STARTING,
};

/* The status once the message is submitted. */
static enum worker_status
after_message(const struct worker *w, enum worker_status to)
{
	if (to == WORKER_STATUS_COUNT)
		return w->status;
	if (to != WORKER_STARTING)
		return to;
	return w->status != WORKER_ERROR &&
		(w->before == WORKER_REJECTED || w->before == WORKER_REBASING ||
		    w->before == WORKER_REVIEWING) ?
	    w->before :
	    WORKER_WORKING;
}

bool
agent_message_fits(const struct agent *agent)
{
	enum worker_status status = agent->worker->status;

	return message_leads_to[status] != status;
}

int
agent_message(struct agent *agent, const char *text)
{
	enum worker_status to = message_leads_to[agent->worker->status];
	enum worker_status after = after_message(agent->worker, to);

	if (!agent_message_fits(agent) ||
	    (to != WORKER_STATUS_COUNT && agent_move(agent, to, NULL) < 0))
		return -EINVAL;
	agent_prompt(agent, text, false, after);
	return 0;
}

/* --- commands in its tree ----------------------------------------------- */

int
tree_command_spawn(struct agent *agent, const char *command,
    const char *timeout, child_fn *done, void *arg, struct child **ret_child,
    bool *ret_boxed, struct err *err)
{
	const struct settings *settings = agent->core->settings;
	const struct worker *w = agent->worker;
	cleanup_free char *task =
	    xasprintf("LLMC_TASK=%s", w->task != NULL ? w->task : "");
	cleanup_free char *whose =
	    identity_command(agent->core->workspace->root);
	const char *const own[] = { task, whose, NULL };
	cleanup_free char *shell = NULL;
	cleanup_strv char **argv = NULL, **env = NULL;
	struct child_spec spec = {
		.cwd = w->worktree,
		.deadline_ms = settings_duration(settings, timeout),
		.merge_stderr = true,
	};
	struct workplace place = { 0 };
	struct box box = { 0 };
	int r = workplace_make(
	    agent->core->workspace, settings, w->name, w->index, &place, err);

	if (r < 0)
		return r;
	r = box_prepare(
	    &(struct box_spec){ .kind = BOX_COMMAND,
		.workspace = agent->core->workspace,
		.settings = settings,
		.worker = w->name,
		.tree = w->worktree,
		.at_least = worker_tree_is_clone(w) ? BOX_WORKTREE : BOX_OFF,
		.tmpdir = place.tmpdir,
		.network = true },
	    &box, err);
	if (r < 0) {
		workplace_release(&place);
		return r;
	}
	shell = box_shell(strv_const(box.prefix), command);
	*ret_boxed = box.prefix != NULL;
	if (box.prefix == NULL)
		box_hide_env(settings, w->name, &env);
	strv_add_all(&env, strv_const(place.env));
	strv_add_all(&env, own);
	workplace_release(&place);
	spec.env = strv_const(env);
	argv = kept_shell(shell, 0);
	spec.argv = strv_const(argv);
	box_release(&box);
	return child_spawn(agent->core->loop, &spec, done, arg, ret_child, err);
}
