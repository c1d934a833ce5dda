/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "auto.h"
#include "child.h"
#include "claude.h"
#include "identity.h"
#include "kept.h"
#include "ledger.h"
#include "loop.h"
#include "plan-private.h"
#include "plan-text.h"
#include "settings.h"
#include "workspace.h"

/* What came of it, for the call. err NULL: it printed this answer. */
struct planner_reply {
	const char *answer;
	size_t len;
	int64_t cost_millionths; /* that it reported, also of a failure */
	const char *model; /* the one that answered, as far as known */
	const struct err *err; /* it did not answer: the reason */
};

typedef void planner_run_fn(const struct planner_reply *reply, void *arg);

struct planner_run;

static void planner_run_free(struct planner_run *run);

#define SAID_MAX 200 /* bytes of its standard error in the report */
#define COST_MAX 1000000 /* millionths of a dollar, of one answer */

struct planner_run {
	struct child *child; /* NULL: it could not be started */
	struct loop_call *failed;
	struct err err;
	size_t printed;
	int64_t timeout_ms;
	planner_run_fn *fn;
	void *arg;
};

static void
run_end(struct planner_run *run, const struct planner_reply *reply)
{
	planner_run_fn *fn = run->fn;
	void *arg = run->arg;

	run->child = NULL;
	fn(reply, arg);
	planner_run_free(run);
}

static void
on_not_started(void *arg)
{
	struct planner_run *run = arg;

	run_end(run, &(struct planner_reply){ .model = "", .err = &run->err });
}

/* Why it ended without an answer: its own words if it is Claude Code, or the
 * end of what it wrote to standard error. */
static int
describe(const struct child_result *result, int64_t timeout_ms,
    const char *said, struct err *err)
{
	cleanup_buf struct buf how = BUF_INIT, last = BUF_INIT;
	const struct buf *tail =
	    result->err.tail.len > 0 ? &result->err.tail : &result->err.head;
	size_t len = tail->len, from = len > SAID_MAX ? len - SAID_MAX : 0;

	if (result->timed_out) {
		buf_adds(&how, "took longer than ");
		text_add_duration(&how, timeout_ms);
		buf_adds(&how, " (planner.timeout)");
	} else {
		child_result_describe(result, &how);
	}
	if (said[0] != '\0')
		return err_set(err, -EIO, "%s (it %s)", said, how.data);
	while (from < tail->len && (tail->data[from] & 0xc0) == 0x80)
		from++; /* the middle of a character */
	while (len > from && tail->data[len - 1] == '\n')
		len--;
	text_add_visible(&last, tail->data + from, len - from, false);
	return err_set(err, -EIO, "the planner %s%s%s", how.data,
	    last.len > 0 ? ": " : "", last.data);
}

static void
on_exited(const struct child_result *result, void *arg)
{
	struct planner_run *run = arg;
	cleanup_buf struct buf answer = BUF_INIT;
	cleanup_json struct json_object *json = NULL;
	struct planner_bill bill = { 0 };
	struct planner_reply reply = { .answer = result->out.head.data,
		.len = result->out.head.len,
		.model = bill.model };
	struct err err = { 0 }, said = { 0 };

	if (run->printed > PLANNER_ANSWER_MAX) {
		err_set(&err, -E2BIG,
		    "the planner printed more than %d bytes, and was ended",
		    PLANNER_ANSWER_MAX);
		reply.err = &err;
		run_end(run, &reply);
		return;
	}
	child_output_text(&result->out, &answer);
	if (planner_unwrap(answer.data, answer.len, &json, &bill, &said) !=
	    -EIO)
		said.msg[0] = '\0';
	reply.cost_millionths = bill.cost_millionths;
	reply.answer = answer.data;
	reply.len = answer.len;
	if (!child_succeeded(result) || said.msg[0] != '\0') {
		describe(result, run->timeout_ms, said.msg, &err);
		reply.err = &err;
	}
	run_end(run, &reply);
}

/* Nothing is gained by reading on. */
static void
on_said(const char *bytes, size_t len, void *arg)
{
	struct planner_run *run = arg;
	size_t before = run->printed;

	(void)bytes;
	run->printed += len;
	if (before <= PLANNER_ANSWER_MAX && run->printed > PLANNER_ANSWER_MAX)
		child_cancel(run->child);
}

static char **
planner_argv(const struct core *core, struct json_object *schema)
{
	const struct settings *s = core->settings;
	const char *command = settings_string(s, "planner.command");
	cleanup_strv char **argv = NULL;

	if (command[0] != '\0')
		return kept_shell(command, 0);
	argv = claude_print_argv(&(struct claude_print){ .settings = s,
	    .dir = core->workspace->root,
	    .model = settings_string(s, "planner.model"),
	    .max_cost = COST_MAX,
	    .schema = schema });
	return kept_argv(strv_const(argv), 0);
}

/* fn is called once, later, from the loop; the run is gone then. */
static struct planner_run *
planner_run_start(struct core *core, const char *prompt,
    struct json_object *schema, planner_run_fn *fn, void *arg)
{
	struct planner_run *run = xcalloc(1, sizeof *run);
	const char *root = core->workspace->root;
	cleanup_free char *whose = identity_command(root);
	/* CLAUDE.md belongs to the project's settings, which are not loaded:
	 * it is read as that of another folder. */
	const char *const env[] = { whose,
		"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1", NULL };
	int64_t timeout_ms =
	    settings_duration(core->settings, "planner.timeout");
	cleanup_strv char **argv = planner_argv(core, schema);
	const struct child_spec spec = {
		.argv = strv_const(argv),
		.cwd = root,
		.env = env,
		.input = prompt,
		.input_len = strlen(prompt),
		.said = on_said,
		.output_max = (size_t)2 * PLANNER_ANSWER_MAX,
		.deadline_ms = timeout_ms,
	};

	run->timeout_ms = timeout_ms;
	run->fn = fn;
	run->arg = arg;
	if (child_spawn(core->loop, &spec, on_exited, run, &run->child,
		&run->err) < 0) {
		run->failed = loop_call_new(core->loop, on_not_started, run);
		loop_call_request(run->failed);
	}
	return run;
}

/* End it; fn is not called. */
static void
planner_run_free(struct planner_run *run)
{
	if (run == NULL)
		return;
	if (run->child != NULL)
		child_abandon(run->child);
	loop_call_free(run->failed);
	free(run);
}

struct planner_talk {
	struct planner_question question; /* prompt is not used */
	char *prompt;
	struct planner_run *run;
	char **problems;
	char *answer, *model;
	int repairs;
	int64_t cost_millionths;
};

static void ask(struct planner_talk *talk, const char *prompt);

static void
talk_end(struct planner_talk *talk, const struct err *err, bool invalid)
{
	talk->question.done(talk->question.arg,
	    &(struct planner_outcome){ .err = err,
		.invalid = invalid,
		.problems = talk->problems,
		.answer = talk->answer,
		.model = talk->model,
		.repairs = talk->repairs,
		.cost_millionths = talk->cost_millionths });
	planner_talk_free(talk);
}

/* An answer that is too long was not kept. */
static void
judge_long(
    struct planner_talk *talk, const char *words, struct planner_result *result)
{
	cleanup_buf struct buf prompt = BUF_INIT;

	strv_add(&result->problems, words);
	if (talk->repairs >= PLANNER_REPAIRS) {
		result->verdict = PLANNER_GIVE_UP;
		return;
	}
	planner_prompt_repair(
	    strv_const(result->problems), talk->answer, &prompt);
	result->prompt = buf_take(&prompt);
	result->verdict = PLANNER_ASK_AGAIN;
}

static void
take_problems(struct planner_talk *talk, char *const *problems)
{
	size_t room = PLAN_LIST_MAX - strv_count(talk->problems);

	for (size_t i = 0; i < strv_count(problems) && i < room; i++)
		strv_take(&talk->problems,
		    xstrndup(problems[i],
			text_cut(
			    problems[i], strlen(problems[i]), PLAN_LINE_MAX)));
}

static void
give_up(struct planner_talk *talk, char *const *problems)
{
	struct err err = { 0 };

	err_set(&err, -EINVAL,
	    "the planner gave no valid answer in %d attempts, the last because "
	    "of %.300s",
	    talk->repairs + 1, strv_count(problems) > 0 ? problems[0] : "");
	talk_end(talk, &err, true);
}

static void
on_reply(const struct planner_reply *reply, void *arg)
{
	struct planner_talk *talk = arg;
	struct planner_result result = { 0 };

	talk->run = NULL;
	free(talk->answer);
	talk->answer = reply->answer == NULL ?
	    NULL :
	    xstrndup(reply->answer,
		text_cut(reply->answer, reply->len, PLAN_TEXT_MAX));
	if (reply->model[0] != '\0')
		xstrset(&talk->model, reply->model);
	talk->cost_millionths += reply->cost_millionths;
	ledger_planned(talk->question.mode->ledger, reply->cost_millionths);
	if (reply->err != NULL && reply->err->code != -E2BIG) {
		talk_end(talk, reply->err, false);
		return;
	}
	if (reply->err != NULL)
		judge_long(talk, reply->err->msg, &result);
	else
		talk->question.check(talk->question.arg, reply->answer,
		    reply->len, talk->repairs, &result);
	take_problems(talk, result.problems);
	switch (result.verdict) {
	case PLANNER_ACCEPTED:
		talk_end(talk, NULL, false);
		break;
	case PLANNER_ASK_AGAIN:
		talk->repairs++;
		ask(talk, result.prompt);
		break;
	case PLANNER_GIVE_UP:
		give_up(talk, result.problems);
		break;
	}
	planner_result_release(&result);
}

/* repair: what was wrong with the answer before; NULL = the first one. */
static void
ask(struct planner_talk *talk, const char *repair)
{
	cleanup_buf struct buf prompt = BUF_INIT;

	buf_adds(&prompt, talk->prompt);
	if (repair != NULL)
		buf_addf(&prompt, "\n\n%s", repair);
	talk->run = planner_run_start(talk->question.mode->core, prompt.data,
	    talk->question.schema, on_reply, talk);
}

struct planner_talk *
planner_talk_start(const struct planner_question *q)
{
	struct planner_talk *talk = xcalloc(1, sizeof *talk);

	talk->question = *q;
	talk->question.schema = json_object_get(q->schema);
	talk->prompt = xstrdup(q->prompt);
	talk->model = xstrdup("");
	ask(talk, NULL);
	return talk;
}

void
planner_talk_free(struct planner_talk *talk)
{
	if (talk == NULL)
		return;
	planner_run_free(talk->run);
	json_object_put(talk->question.schema);
	strv_free(talk->problems);
	free(talk->prompt);
	free(talk->answer);
	free(talk->model);
	free(talk);
}
