/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "child.h"
#include "claude-print.h"
#include "core.h"
#include "errtext.h"
#include "identity.h"
#include "json.h"
#include "kept.h"
#include "loop.h"
#include "mem.h"
#include "planner-result.h"
#include "planner-run.h"
#include "settings.h"
#include "strv.h"
#include "text.h"
#include "workspace.h"

#define SAID_MAX 200 /* bytes of its standard error that are told */

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
	    .max_cost = settings_amount(s, "planner.max_cost"),
	    .schema = schema });
	return kept_argv(strv_const(argv), 0);
}

struct planner_run *
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

void
planner_run_free(struct planner_run *run)
{
	if (run == NULL)
		return;
	if (run->child != NULL)
		child_abandon(run->child);
	loop_call_free(run->failed);
	free(run);
}
