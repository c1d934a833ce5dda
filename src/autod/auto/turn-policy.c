/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-report.h"
#include "agent.h"
#include "attempt.h"
#include "auto-private.h"
#include "auto.h"
#include "check-book.h"
#include "child.h"
#include "contract.h"
#include "emit.h"
#include "git-facts.h"
#include "intake.h"
#include "jsonl.h"
#include "ladder.h"
#include "landing.h"
#include "notice.h"
#include "outcome.h"
#include "persist.h"
#include "person.h"
#include "quota.h"
#include "review.h"
#include "settings.h"
#include "task.h"
#include "acceptance.h"
#include "park.h"
#include "transcript.h"
#include "turn-policy.h"
#include "turn.h"
#include "worker-op.h"
#include "workspace.h"

static void
op_check_begin(struct auto_mode *mode, struct agent *agent, const char *head);

#define SHOWN_MAX 200 /* bytes of a report in the log */
#define FIRST_MAX 16384 /* bytes of the first words that are kept */

static const char error_nudge[] =
    "The last turn ended with an error. Continue the task from where it "
    "stopped; nobody is here to help.";

void
turn_policy_reported(struct auto_mode *mode, struct task *t,
    struct json_object *report, bool by_tool)
{
	const char *summary = json_string_or(report, "summary", "");
	cleanup_free char *text = xstrndup(
	    summary, text_cut(summary, strcspn(summary, "\n"), SHOWN_MAX));

	json_object_put(t->attempt.report);
	t->attempt.report = report;
	t->attempt.report_by_tool = by_tool;
	if (by_tool)
		xstrset(&t->attempt.last_tool, COMPLETION_TOOL);
	persist_changed(mode->core);
	EMIT(mode->core, EVENT_REPORTED, .worker = t->worker, .task = t->id,
	    .status = json_string_or(report, "status", NULL), .text = text);
}

bool
turn_policy_facts(void *arg, struct agent *agent, const char *last_words,
    struct turn_facts *facts)
{
	struct auto_mode *mode = arg;
	const struct settings *settings = mode->core->settings;
	struct task *t = auto_task(agent);
	const char *words;
	const struct transcript_parser *parser;
	struct said *said;

	if (t == NULL)
		return false;
	task_turn_ended(t);
	xstrset(&t->attempt.session, agent->worker->session.id);
	agent->worker->stalls = 0;
	words = last_words;
	parser = session_transcript(agent->session);
	if (words == NULL && parser != NULL)
		words = transcript_parser_last_text(parser);
	xstrset(&t->last_words, words);
	if (t->attempt.first_words == NULL && words != NULL)
		t->attempt.first_words =
		    xstrndup(words, text_cut(words, strlen(words), FIRST_MAX));
	/* The report in a message counts unless the tool made one. */
	said = facts->said;
	said_of_task(t, said);
	if (said->report != NULL && !t->attempt.report_by_tool)
		turn_policy_reported(
		    mode, t, json_object_get(said->report), false);
	/* Any report ends what an agent was asked for by another. */
	if (task_is_child(t) && said->by == SAID_BY_REPORT &&
	    said->what != SAID_QUESTION)
		said->what = SAID_NOTHING;
	persist_changed(mode->core);
	facts->driven = true;
	facts->commit_wanted = settings_bool(settings, "auto.require_commit") &&
	    !verification_has_result(t);
	/* A contract is verified, and the agent above judges its own. */
	facts->result_wanted = !task_is_child(t) &&
	    t->launch.contract == NULL && !outcome_is_believed(t);
	facts->check_wanted =
	    settings_string(settings, "auto.check_command")[0] != '\0' ||
	    t->launch.contract != NULL || t->launch.scope_paths != NULL ||
	    task_is_child(t);
	facts->turns = task_attempt_turns(t);
	facts->turns_max = (int)settings_int(settings, "auto.max_turns");
	facts->nudges = t->nudges;
	facts->wraps_up = windows_wrap_up(mode->core->state.windows,
			      t->excused_ms, clock_wall_ms()) > 0;
	facts->idle = !review_is(t) && POLICY_ASK(mode, watch, idle, agent);
	facts->waits = POLICY_ASK(mode, team, waits, agent);
	facts->has_parent = task_is_child(t);
	facts->answers = fleet_answers(agent);
	if (review_is(t)) {
		work_review_seen(agent, facts);
		return true;
	}
	facts->asks_person =
	    intake_is_planned(t) && POLICY_ASK(mode, policy, asks, t);
	return true;
}

/* Does oversight watch its work? A reviewer changes nothing, which is no lack
 * of progress. */
static bool
is_watched(const struct agent *agent)
{
	const struct task *t = auto_task(agent);

	return t == NULL || !review_is(t);
}

const char *
turn_policy_before(void *arg, struct agent *agent)
{
	const struct auto_mode *mode = arg;

	return is_watched(agent) ? POLICY_ASK(mode, watch, before, agent) :
				   NULL;
}

void
turn_policy_seen(void *arg, struct agent *agent,
    const struct git_snapshot *snapshot, const char *last_words)
{
	const struct auto_mode *mode = arg;

	POLICY_TELL(mode, watch, seen, agent, snapshot, last_words);
}

const char *
turn_policy_test(void *arg, struct agent *agent)
{
	const struct auto_mode *mode = arg;

	return auto_task(agent) == NULL || !is_watched(agent) ?
	    NULL :
	    POLICY_ASK(mode, watch, test, agent);
}

void
turn_policy_tested(
    void *arg, struct agent *agent, const struct child_result *result)
{
	const struct auto_mode *mode = arg;

	if (auto_task(agent) != NULL)
		POLICY_TELL(mode, watch, tested, agent, result);
}

void
turn_policy_preface(void *arg, struct agent *agent, struct buf *out)
{
	const struct auto_mode *mode = arg;

	if (auto_task(agent) != NULL && is_watched(agent))
		POLICY_TELL(mode, watch, preface, agent, out);
	POLICY_TELL(mode, team, preface, agent, out);
}

bool
turn_policy_tool_ended(
    void *arg, struct agent *agent, struct server_call *call, const char *event)
{
	const struct auto_mode *mode = arg;

	return (is_watched(agent) &&
		   POLICY_ASK(mode, watch, tool_ended, agent, call, event)) ||
	    POLICY_ASK(mode, team, tool_ended, agent, call, event);
}

bool
turn_policy_words(void *arg, struct agent *agent, struct buf *out)
{
	const struct auto_mode *mode = arg;
	struct task *t = auto_task(agent);

	if (!POLICY_ASK(mode, team, stop_words, agent, out))
		return false;
	if (t != NULL)
		t->attempt.by_mail = true;
	return true;
}

static void
check_or_finish(struct auto_mode *mode, struct agent *agent, const char *head)
{
	if (settings_string(mode->core->settings, "auto.check_command")[0] !=
	    '\0')
		op_check_begin(mode, agent, head);
	else
		agent_finish(agent, head);
}

void
auto_verified(struct auto_mode *mode, struct agent *agent, const char *head)
{
	if (worker_in_turn(agent->worker->status))
		check_or_finish(mode, agent, head);
	else
		after_landing_begin(mode, agent);
}

void
turn_policy_judged(void *arg, struct agent *agent, enum turn_action action,
    const char *head, const char *reason)
{
	struct auto_mode *mode = arg;
	struct task *t = auto_task(agent);
	cleanup_buf struct buf why = BUF_INIT;

	switch (action) {
	case TURN_NUDGE:
		if (t != NULL)
			t->nudges++;
		break;
	case TURN_EXCUSE:
		if (t != NULL)
			t->excused_ms = windows_wrap_up(
			    mode->core->state.windows, 0, clock_wall_ms());
		break;
	case TURN_NO_CHANGES:
		after_landing_begin(mode, agent);
		break;
	case TURN_CHECK:
		if (t != NULL && verification_gave_up(t, head, &why)) {
			/* Its work is salvaged with the worker's tree. */
			outcome_settle(mode, t, OUTCOME_FAILED, why.data);
			outcome_attempt_failed(mode, agent, why.data);
			break;
		}
		if (!POLICY_ASK(mode, team, verify, agent, head))
			check_or_finish(mode, agent, head);
		break;
	case TURN_FAIL:
		outcome_attempt_failed(mode, agent, reason);
		break;
	default:
		break;
	}
}

void
turn_policy_asks(
    void *mode, struct agent *agent, enum ask_kind ask, const char *reason)
{
	const struct task *t = auto_task(agent);
	cleanup_free char *event = NULL, *why = NULL, *goal = NULL;

	if (t != NULL) {
		event =
		    xasprintf("asks/%s/%d-%d", t->id, t->attempts, t->turns);
		why = xasprintf(
		    "%s; answer with: llmc answer %s TEXT", reason, t->id);
		if (intake_is_planned(t))
			goal = xstrndup(t->key, strcspn(t->key, "/"));
		person_tell(agent->core,
		    &(struct notice){
			.class = goal != NULL ? NOTICE_GOAL : NOTICE_WORKER,
			.id = event,
			.what = "a task waits for you",
			.why = why,
			.worker = agent->worker->name,
			.task = t->id,
			.goal = goal });
	}
	op_park_task(mode, agent, ask, reason);
}

bool
turn_policy_error(void *arg, struct agent *agent, const char *text)
{
	struct auto_mode *mode = arg;
	struct task *t = auto_task(agent);

	if (t == NULL || !auto_drives(mode, agent))
		return false;
	if (agent_is_taken(agent))
		return true; /* the running operation decides what comes next */
	xstrset(&t->last_words, text);
	if (is_watched(agent))
		POLICY_TELL(mode, watch, failed, agent, text);
	if (t->nudges >= TURN_NUDGES_MAX) {
		outcome_attempt_failed(mode, agent, text);
		return true;
	}
	t->nudges++;
	if ((is_watched(agent) &&
		POLICY_ASK(mode, watch, held, agent, error_nudge)) ||
	    pause_at_hours(mode, agent, error_nudge))
		return true;
	if (agent_afresh(agent, error_nudge))
		return true;
	EMIT(mode->core, EVENT_SENT_BACK, .worker = agent->worker->name,
	    .task = t->id, .reason = text);
	agent_prompt(agent, error_nudge, false, agent->worker->status);
	return true;
}

#define CHECK_LOG_SIZE (20 * 1024 * 1024)
#define CHECK_LOG_KEEP 2

struct op_check {
	struct worker_op op; /* first */
	struct auto_mode *mode;
	struct child *child; /* while it runs */
	char head[GIT_ID_SIZE];
	char *command; /* as it was set when this began */
	bool boxed; /* its worker is not trusted */
	bool passed;
	bool unset; /* its setup has failed, and it did not run */
	bool unjudged; /* neither passed nor failed */
	bool to_blame; /* it failed, and what it began with passes */
	struct buf output;
	struct buf words; /* the message to the worker if it failed */
};

static void
write_log(const struct op_check *check, const struct child_result *result,
    const char *how, const char *output)
{
	const struct worker *w = check->op.agent->worker;
	cleanup_free char *file =
	    workspace_path(check->op.agent->core->workspace, "logs/check.log");
	cleanup_json struct json_object *json = json_object_new_object();
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(json, "timestamp", stamp);
	json_set_string(
	    json, "level", child_succeeded(result) ? "INFO" : "NOTICE");
	json_set_string(json, "worker_name", w->name);
	json_set_string(json, "task", w->task);
	json_set_string(json, "command", check->command);
	json_set_string(json, "result", how);
	json_set_int(json, "duration_ms", result->duration_ms);
	json_set_string(json, "output", output);
	jsonl_append(file, json, CHECK_LOG_SIZE, CHECK_LOG_KEEP, NULL);
}

/* --- steps ----------------------------------------------------------- */

/* The worktree was clean before the check, so remove what the check left, and
 * keep it: another process may have worked there. */
static void
step_reset(struct operation *op)
{
	struct op_check *check = (struct op_check *)op;

	worker_op_salvage(&check->op,
	    &(struct salvage_what){
		.then = SALVAGE_RESET, .onto = check->head, .check = true },
	    NULL);
}

static void
on_exited(const struct child_result *result, void *arg)
{
	struct op_check *check = arg;
	struct operation *op = &check->op.op;
	struct worker *w = check->op.agent->worker;
	cleanup_buf struct buf how = BUF_INIT;
	struct buf *output = &check->output;
	char key[CHECK_KEY_SIZE];

	check->child = NULL;
	child_result_describe(result, &how);
	child_output_text(&result->out, output);
	check->passed = child_succeeded(result);
	check->unjudged =
	    result->exited && result->status == CHECK_EXIT_UNJUDGED;
	/* What a worker in a sandbox left beside its work (files that git
	 * ignores, its cache) does not decide what lands: a slot checks that
	 * again. */
	if (check->passed)
		w->checked_tests = test_guard_count(output->data);
	if (check->passed && !check->boxed) {
		check_book_key(check->command, key);
		xstrset(&w->checked, check->head);
		xstrset(&w->checked_key, key);
		w->checked_ms = result->duration_ms;
	}
	write_log(check, result, how.data, output->data);
	if (!check->passed)
		turn_check_words(
		    check->command, how.data, output->data, &check->words);
	free(check->op.agent->last_check);
	check->op.agent->last_check = check->passed ?
	    xasprintf("The last check passed, for commit %.12s.", check->head) :
	    xstrdup(check->words.data);
	if (op->stopping)
		step_reset(op); /* cancelled: no step follows this one */
	operation_on_over(op);
}

/* A setup that fails here fails for the sake of what was changed. */
static void
on_set_up(const struct err *err, void *arg)
{
	struct op_check *check = arg;

	if (err != NULL && err->code == -ECHILD) {
		check->unset = true;
		turn_check_words(settings_string(check->mode->core->settings,
				     "repo.setup_command"),
		    err->msg, "", &check->words);
		err = NULL;
	}
	operation_on_done(err, arg);
}

static void
step_setup(struct operation *op)
{
	worker_op_setup(op, on_set_up);
}

static void
step_run(struct operation *op)
{
	struct op_check *check = (struct op_check *)op;
	struct err err = { 0 };

	if (check->unset)
		operation_next(op);
	else if (tree_command_spawn(check->op.agent, check->command,
		     "auto.check_timeout", on_exited, check, &check->child,
		     &check->boxed, &err) < 0)
		operation_fail(op, &err);
	else
		operation_await(op);
}

static void
cancel_run(struct operation *op)
{
	struct op_check *check = (struct op_check *)op;

	if (check->child != NULL)
		child_cancel(check->child);
}

/* Does what the worker began with pass by itself? Who fixes the branch
 * began with something that fails. */
static void
on_forks(
    const char *const *trees, size_t count, const struct err *err, void *arg)
{
	struct op_check *check = arg;
	const struct core *core = check->op.agent->core;
	const struct task *t = auto_task(check->op.agent);
	char key[CHECK_KEY_SIZE];

	check_book_key(check->command, key);
	check->to_blame = (t != NULL && strcmp(t->source, "fix") == 0) ||
	    (err == NULL &&
		check_book_all_passed(
		    &core->state.landings.checks, trees, count, key));
	operation_on_over(&check->op.op);
}

static void
step_blame(struct operation *op)
{
	struct op_check *check = (struct op_check *)op;
	struct core *core = check->op.agent->core;

	if (check->passed || check->unjudged)
		operation_next(op);
	else
		git_facts_forks(core->git, check->op.agent->worker->worktree,
		    core_branch(core), on_forks, operation_await(op));
}

/* --- the end --------------------------------------------------------- */

/* The landing queue decides on what could not be judged here, and on what fails
 * while it is unknown whether the branch passes: it checks the branch, too,
 * before a worker is blamed. */
static void
act(struct op_check *check)
{
	struct auto_mode *mode = check->mode;
	struct agent *agent = check->op.agent;
	const struct task *t = auto_task(agent);
	const char *words = check->words.data;

	/* The task was taken away, the next daemon will check it, or a turn
	 * that began meanwhile was cut off: its end is checked again. */
	if (t == NULL || mode->core->stopping || !turn_end_counts(agent))
		return;
	if (!check->unjudged && (check->passed || check->to_blame))
		POLICY_TELL(mode, watch, checked, agent, check->passed,
		    check->output.data);
	if (!check->to_blame) {
		agent_finish(agent, check->head);
	} else if (auto_held(mode, agent, words)) {
		return;
	} else if (task_attempt_turns(t) >=
	    settings_int(mode->core->settings, "auto.max_turns")) {
		outcome_attempt_failed(mode, agent, words);
	} else if (!hold_turn_ended(agent, words) &&
	    !agent_afresh(agent, words)) {
		EMIT(mode->core, EVENT_SENT_BACK, .worker = agent->worker->name,
		    .task = t->id, .reason = words);
		agent_prompt(agent, words, false, agent->worker->status);
	}
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_check *check = (struct op_check *)op;

	if (check->child != NULL)
		child_abandon(check->child); /* the operation was dropped */
	worker_op_release(&check->op);
	if (err == NULL)
		act(check);
	else if (err->code != -ECANCELED)
		agent_tree_failed(check->op.agent, err);
	buf_release(&check->output);
	buf_release(&check->words);
	free(check->command);
	free(check);
}

static const struct operation_step steps[] = {
	{ .name = "setup",
	    .run = step_setup,
	    .cancel = worker_op_setup_cancel },
	{ .name = "run", .run = step_run, .cancel = cancel_run },
	{ .name = "reset", .run = step_reset, .firm = true },
	{ .name = "blame", .run = step_blame, .firm = true },
};

OPERATION_KIND(kind, "check", steps, end, .yields = true);

/* head: the worker's HEAD; its worktree is clean. No operation may be running
 * on the worker. */
static void
op_check_begin(struct auto_mode *mode, struct agent *agent, const char *head)
{
	struct op_check *check = xcalloc(1, sizeof *check);

	check->mode = mode;
	check->command = xstrdup(
	    settings_string(mode->core->settings, "auto.check_command"));
	buf_init(&check->output);
	buf_init(&check->words);
	snprintf(check->head, sizeof check->head, "%s", head);
	worker_op_begin(&check->op, &kind, agent, NULL);
}

/* --- stalls ------------------------------------------------------------- */

static const char continue_text[] =
    "There was no sign of life for a long time, so you were interrupted. Do "
    "not wait for the command that hung: find another way, and continue the "
    "task from where it stopped.";

static void
stalls_act(struct auto_mode *mode, struct agent *agent, enum progress_step step)
{
	static const char reason[] = "no sign of life";
	struct worker *w = agent->worker;

	w->stalls++;
	agent->stall_ms = clock_mono_ms();
	w->session.open_tools = 0;
	persist_changed(mode->core);
	if (step == STEP_REDIRECT) {
		w = agent->worker;
		w->session.busy = false;
		agent_interrupt(agent);
		/* If another prompt is on its way, that one is enough. */
		if (w->session.step == PROMPT_NONE)
			agent_prompt(agent, continue_text, false,
			    w->status == WORKER_STARTING ? w->after :
							   w->status);
	} else if (step == STEP_RESTART) {
		agent_restart(agent);
	} else {
		EMIT(mode->core, EVENT_STALL_GIVEN_UP, .worker = w->name,
		    .task = w->task);
		if (outcome_is_last(mode, auto_task(agent)))
			op_park_task(mode, agent, ASK_FAILURE, reason);
		else
			outcome_attempt_failed(mode, agent, reason);
	}
}

/* Does it wait for an answer? */
static bool
asks(const struct auto_mode *mode, const struct agent *agent)
{
	return POLICY_ASK(mode, team, asks, agent);
}

bool
stalls_silence(void *arg, struct agent *agent, const struct session_life *life)
{
	struct auto_mode *mode = arg;
	const struct worker *w = agent->worker;
	const struct settings *settings = mode->core->settings;
	struct silence_limits limits = silence_limits(
	    settings_duration(settings, "auto.worker_stall_timeout"),
	    settings_duration(settings, "overseer.stall_timeout"));
	struct silence_facts facts = {
		.quiet_ms = life->quiet_ms,
		.step_ms = agent->stall_ms > 0 ?
		    clock_mono_ms() - agent->stall_ms :
		    INT64_MAX,
		.tool_open = life->tool_open,
		.stage = w->stalls,
	};
	enum progress_step step;

	if (w->task == NULL || !auto_drives(mode, agent))
		return false;
	if (asks(mode, agent))
		return true;
	step = silence_next(&facts, &limits);
	if (step == STEP_NONE || agent_is_taken(agent))
		return true;
	EMIT(mode->core, EVENT_STALL, .worker = w->name, .task = w->task,
	    .action = progress_step_words[step]);
	stalls_act(mode, agent, step);
	return true;
}

static int64_t
sign_of(const struct agent *agent, int64_t now)
{
	struct session_life life;
	int64_t sign;

	if (agent->op != NULL)
		return now; /* it has a deadline of its own */
	session_life(agent->session, NULL, &life);
	sign = life.quiet_ms < now ? now - life.quiet_ms : 0;
	return sign > agent->stall_ms ? sign : agent->stall_ms;
}

int64_t
stalls_sign_ms(const void *arg)
{
	const struct auto_mode *mode = arg;
	int64_t now = clock_mono_ms(), latest = 0, sign;

	if (mode->post != NULL || landings_checking(mode->landings))
		return now; /* check_timeout ends them */
	for (size_t i = 0; i < mode->fleet->count; i++) {
		const struct agent *agent = mode->fleet->agents[i];

		if (agent->worker->task == NULL || !auto_drives(mode, agent))
			continue;
		sign = asks(mode, agent) ? now : sign_of(agent, now);
		if (sign > latest)
			latest = sign;
	}
	return latest;
}
