/* SPDX-License-Identifier: ISC */

/*
 * A worker at run time: what it is doing, its prompts and messages, what keeps
 * it from being launched, and its hold. Lowest file of this folder: none of the
 * others is called from here.
 */

#include "base.h"
#include "agent.h"
#include "box.h"
#include "config.h"
#include "core.h"
#include "emit.h"
#include "fleet-private.h"
#include "git-facts.h"
#include "guard.h"
#include "identity.h"
#include "sibling.h"
#include "loop.h"
#include "persist.h"
#include "preflight.h"
#include "prompt.h"
#include "workspace.h"
#include "session.h"
#include "settings.h"
#include "machine.h"
#include "state.h"
#include "task.h"
#include "setup.h"

#define SELF_REVIEW                                                         \
	"Review your last commit as a strict reviewer would. Fix what you " \
	"find and amend the commit."
#define RESUMES_MAX 2 /* attempts to resume before a new conversation */

/* --- the policy ---------------------------------------------------------- */

static const struct fleet_policy by_hand; /* everything NULL */

struct agent *
fleet_find(const struct fleet *fleet, const char *name)
{
	for (size_t i = 0; name != NULL && i < fleet->count; i++)
		if (strcmp(fleet->agents[i]->worker->name, name) == 0)
			return fleet->agents[i];
	return NULL;
}

void
fleet_freed(const struct fleet *fleet)
{
	POLICY_TELL(fleet, policy, freed);
}

const char *
fleet_answers(const struct agent *agent)
{

	return POLICY_ASK(agent->fleet, policy, answers, agent);
}

bool
fleet_drives(const struct agent *agent)
{

	return POLICY_ASK(agent->fleet, policy, drives, agent);
}

void
fleet_set_policy(
    struct fleet *fleet, const struct fleet_policy *policy, void *arg)
{
	fleet->policy = policy != NULL ? policy : &by_hand;
	fleet->policy_arg = arg;
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
	xstrset(&w->given_by, NULL);
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
	xstrset(&w->finding, NULL);
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

/* --- after a compaction ------------------------------------------------- */

void
agent_reminder(const struct agent *agent, const struct git_facts *facts,
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

/* It could not be told when its conversation was compacted. */
static void
add_reminder(struct agent *agent, struct buf *out)
{
	if (!agent->compacted)
		return;
	agent->compacted = false;
	if (agent->worker->prompt != NULL)
		agent_reminder(agent, NULL, NULL, NULL, out);
}

void
fleet_preface(struct agent *agent, const char *text, struct buf *out)
{

	add_reminder(agent, out);
	POLICY_TELL(agent->fleet, policy, preface, agent, out);
	/* What was parked and not submitted may be part of the text. */
	if (out->len > 0 && strstr(text, out->data) != NULL)
		buf_clear(out);
	if (out->len > 0)
		buf_adds(out, "\n\n");
	buf_adds(out, text);
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

void
agent_tick_later(struct agent *agent, int64_t ms)
{
	if (agent->timer == NULL)
		agent->timer = loop_after(
		    agent->core->loop, ms, agent->fleet->tick, agent);
	else if (!loop_timer_pending(agent->timer) ||
	    loop_timer_remaining(agent->timer, clock_mono_ms()) > ms)
		loop_timer_restart(agent->timer, ms);
}

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

void
agent_dismiss(struct agent *agent)
{
	const struct worker *w = agent->worker;

	if (w->status == WORKER_LIMITED && w->session.step != PROMPT_PASTED &&
	    session_phase(agent->session) == SESSION_UP)
		session_dismiss(agent->session);
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

	if (!agent_message_fits(agent))
		return -EINVAL;
	agent_dismiss(agent);
	if ((to != WORKER_STATUS_COUNT && agent_move(agent, to, NULL) < 0))
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

/* --- what keeps it from being launched ----------------------------------- */

void
launch_block_reason(const struct agent *agent, struct buf *out)
{
	struct preflight_facts facts;
	struct preflight preflight;

	start_facts_agent(agent->core->workspace, agent->core->settings,
	    agent->worker->name, &facts);
	preflight_judge(&facts, &preflight);
	preflight_agent_reason(&preflight, out);
	preflight_release(&preflight);
	preflight_facts_release(&facts);
	if (out->len == 0 && agent->box_fault != NULL &&
	    box_mode_of(agent->core->settings, agent->worker->name) != BOX_OFF)
		buf_adds(out, agent->box_fault);
}

/* --- on hold ------------------------------------------------------------- */

static const char continue_text[] =
    "You were paused by a person and may continue now. Look at the state of "
    "the worktree (git status, git log) and continue the task from where it "
    "stopped.";

static const char budget_text[] =
    "You were paused because a budget was used up; it has been raised. "
    "Continue the task from where it stopped.";

static const char hours_text[] =
    "You were paused because the working hours were over; they have begun "
    "again. Continue the task from where it stopped.";

static void
pause_worker(struct agent *agent, const char *verb)
{
	cleanup_free char *reason =
	    xasprintf("%s by a person; continue with: llmc resume %s", verb,
		agent->worker->name);

	agent_move(agent, WORKER_PAUSED, reason);
}

bool
hold_has_to_wait(const struct worker *w)
{
	return worker_in_turn(w->status) || w->status == WORKER_STARTING ||
	    (w->status == WORKER_OFFLINE && !worker_is_quiet(w));
}

/* A decision, a landing and a repair can be waited for on hold as well. */
static bool
can_pause(const struct worker *w)
{
	return w->status == WORKER_IDLE || w->status == WORKER_OFFLINE ||
	    w->status == WORKER_LIMITED || w->status == WORKER_WAITING ||
	    hold_has_to_wait(w);
}

void
hold_begin(struct agent *agent, bool now)
{
	struct worker *w = agent->worker;

	w->on_hold = true;
	persist_changed(agent->core);
	if (can_pause(w) && (now || !hold_has_to_wait(w)))
		pause_worker(agent, now ? "stopped" : "paused");
}

bool
hold_turn_ended(struct agent *agent, const char *text)
{
	enum worker_status status = agent->worker->status;

	if (!agent->worker->on_hold)
		return false;
	pause_worker(agent, "paused");
	agent_prompt(agent, text, false, status);
	return true;
}

/* Workers on hold that have become idle, or wait for others. */
void
hold_settle(void *arg)
{
	const struct fleet *fleet = arg;

	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];
		enum worker_status status = agent->worker->status;

		if (agent->worker->on_hold &&
		    (status == WORKER_IDLE || status == WORKER_WAITING))
			pause_worker(agent, "paused");
	}
}

static const char login_text[] =
    "The service refused your login for a while, and takes it again. Continue "
    "the task from where it stopped.";

static const char *
text_for(const struct worker *w)
{
	return worker_waits_for_login(w) ? login_text :
	    w->over_budget               ? budget_text :
	    w->off_hours                 ? hours_text :
					   continue_text;
}

/* A person has something to say: in front of its next prompt. */
static void
add_note(struct agent *agent, const char *text, const char *note)
{
	struct worker *w = agent->worker;
	cleanup_free char *words = xasprintf("A person says: %s\n\n%s", note,
	    w->session.step != PROMPT_NONE && w->session.pending != NULL ?
		w->session.pending :
		text);

	agent_prompt(agent, words, false, w->after);
}

/* In its session if it has one; otherwise the next one is asked to continue. */
static void
continue_turn(struct agent *agent, enum worker_status status, const char *note)
{
	struct worker *w = agent->worker;
	const char *text = text_for(w);

	if (w->session.step == PROMPT_NONE)
		w->after = worker_in_turn(status) ? status : WORKER_WORKING;
	if (note != NULL)
		add_note(agent, text, note);
	else if (w->session.step == PROMPT_NONE && text != continue_text)
		agent_prompt(agent, text, false, w->after);
	if (session_phase(agent->session) != SESSION_UP) {
		agent_move(agent, WORKER_OFFLINE, NULL);
		w->session.busy = w->session.step == PROMPT_NONE;
	} else if (agent_move(agent, WORKER_STARTING, NULL) == 0 &&
	    w->session.step == PROMPT_NONE) {
		agent_prompt(agent, text, false, w->after);
	}
}

static void
continue_idle(struct agent *agent)
{
	struct worker *w = agent->worker;
	bool busy = w->session.busy; /* the next session is asked to continue */

	if (session_phase(agent->session) == SESSION_UP && !busy) {
		agent_move(agent, WORKER_IDLE, NULL);
	} else {
		agent_move(agent, WORKER_OFFLINE, NULL);
		w->session.busy = busy;
	}
}

static void
continue_from(struct agent *agent, enum worker_status before, const char *note)
{
	if (worker_in_turn(before) || before == WORKER_STARTING)
		continue_turn(agent, before, note);
	else if (before == WORKER_IDLE || before == WORKER_OFFLINE)
		continue_idle(agent);
	else
		agent_move(agent, before, NULL);
}

/* For fewer reasons than before. */
static void
stay(struct agent *agent, unsigned left, const char *reason, const char *note)
{
	struct worker *w = agent->worker;

	if (note != NULL)
		add_note(agent, text_for(w), note);
	w->over_budget = (left & WORKER_HOLD_BUDGET) != 0;
	w->off_hours = (left & WORKER_HOLD_HOURS) != 0;
	if (reason != NULL)
		agent_move(agent, WORKER_PAUSED, reason);
}

bool
hold_resume(struct agent *agent, unsigned may, const char *note,
    struct hold_change *ret_change)
{
	struct worker *w = agent->worker;
	unsigned holds = worker_holds(w);
	unsigned left = holds & ~may & ~(unsigned)WORKER_HOLD_TRUST;
	bool paused = w->status == WORKER_PAUSED;
	cleanup_buf struct buf launch = BUF_INIT;

	if (w->blocked)
		launch_block_reason(agent, &launch);
	if (launch.len > 0)
		left |= WORKER_HOLD_TRUST;
	*ret_change = (struct hold_change){ holds & ~left, left };
	w->on_hold = (left & WORKER_HOLD_PERSON) != 0;
	persist_changed(agent->core);
	agent_tick_later(agent, 1);
	if (paused && left == 0)
		continue_from(agent, w->before, note);
	else if (paused)
		stay(agent, left, launch.len > 0 ? launch.data : NULL, note);
	return ret_change->cleared != 0 || (paused && left == 0);
}
