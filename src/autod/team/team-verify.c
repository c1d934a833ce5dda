/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "artifact-check.h"
#include "auto.h"
#include "buf.h"
#include "child.h"
#include "clock.h"
#include "contract.h"
#include "emit.h"
#include "errtext.h"
#include "git-facts.h"
#include "json.h"
#include "kept.h"
#include "mem.h"
#include "outcome.h"
#include "persist.h"
#include "sibling.h"
#include "strv.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-verify.h"
#include "verification.h"
#include "worker-op.h"
#include "workspace.h"

#define RESULT_MAX ((size_t)4 * 1024 * 1024)
#define GRACE_MS   1000 /* nothing is lost if it is killed */

struct op_verify {
	struct worker_op op; /* first */
	struct auto_mode *mode;
	struct child *child; /* while it runs */
	char head[GIT_ID_SIZE]; /* "" = no commit */
	bool known; /* head is */
	struct json_object *result;
};

/* --- the commit -------------------------------------------------------- */

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct op_verify *v = arg;
	struct worker *w = v->op.agent->worker;

	if (!operation_arrived(&v->op.op, err))
		return;
	memcpy(v->head, facts->head, sizeof v->head);
	if (w->status == WORKER_NEEDS_REVIEW)
		xstrset(&w->commit, v->head);
	operation_next(&v->op.op);
}

/* Nobody said which it is, or it is another one by now. */
static void
step_head(struct operation *op)
{
	struct op_verify *v = (struct op_verify *)op;
	struct core *core = v->op.agent->core;

	if (v->known)
		operation_next(op);
	else
		git_facts_read(core->git, v->op.agent->worker->worktree,
		    core_branch(core), on_facts, operation_await(op));
}

/* --- the checks -------------------------------------------------------- */

/* What llmc verify is told (verify-run.h). */
static void
tell(const struct op_verify *v, const struct task *t, struct buf *out)
{
	const struct core *core = v->op.agent->core;
	cleanup_json struct json_object *told = json_object_new_object();
	cleanup_free char *id = task_run_id(t);
	cleanup_free char *name = xasprintf("artifacts/%s", id);
	cleanup_free char *keep = workspace_path(core->workspace, name);

	json_set_string(told, "root", core->workspace->root);
	json_set(told, "contract", json_object_get(t->run->contract));
	json_set_string(told, "commit", v->head);
	json_set_string(told, "base", t->run->base != NULL ? t->run->base : "");
	json_set_bool(told, "reported", verification_reported(t));
	json_set_string(told, "keep", keep);
	json_print(told, false, out);
}

/* -EIO: there is no result, for no fault of the work. */
static int
read_result(
    struct op_verify *v, const struct child_result *result, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT, how = BUF_INIT;

	if (result->timed_out) {
		v->result =
		    check_result_broken(check_reason_timeout, clock_wall_ms());
		return 0;
	}
	child_output_text(&result->out, &text);
	if (child_succeeded(result) &&
	    json_parse(text.data, text.len, RESULT_MAX, &v->result, err) == 0 &&
	    check_result_validate(v->result, err) == 0)
		return 0;
	json_object_put(take_ptr(&v->result));
	child_result_describe(result, &how);
	buf_clear(&text);
	child_output_text(&result->err, &text);
	return err_set(err, -EIO,
	    "the contract cannot be checked: llmc verify %s: %s", how.data,
	    text.data);
}

static void
on_exited(const struct child_result *result, void *arg)
{
	struct op_verify *v = arg;
	struct operation *op = &v->op.op;
	struct err err = { 0 };
	int r = op->stopping ? 0 : read_result(v, result, &err);

	v->child = NULL;
	if (operation_arrived(op, r < 0 ? &err : NULL))
		operation_next(op);
}

static void
step_check(struct operation *op)
{
	struct op_verify *v = (struct op_verify *)op;
	struct agent *agent = v->op.agent;
	const struct task *t = auto_task(agent);
	cleanup_free char *llmc = sibling_find("llmc");
	const char *const words[] = { llmc != NULL ? llmc : "llmc", "verify",
		NULL };
	cleanup_strv char **argv = kept_argv(words, 0);
	cleanup_contract struct contract contract = { 0 };
	cleanup_buf struct buf told = BUF_INIT;
	struct child_spec spec = { .argv = strv_const(argv),
		.cwd = agent->core->workspace->root,
		.output_max = RESULT_MAX,
		.grace_ms = GRACE_MS };
	struct err err = { 0 };

	if (t == NULL || t->run == NULL ||
	    contract_read(t->run->contract, "contract", &contract, &err) < 0) {
		err_set(&err, -ECANCELED, "its task is gone");
		operation_fail(op, &err);
		return;
	}
	tell(v, t, &told);
	spec.input = told.data;
	spec.input_len = told.len;
	spec.deadline_ms = contract.timeout_ms;
	if (child_spawn(
		agent->core->loop, &spec, on_exited, v, &v->child, &err) < 0)
		operation_fail(op, &err);
	else
		operation_await(op);
}

static void
cancel_check(struct operation *op)
{
	struct op_verify *v = (struct op_verify *)op;

	if (v->child != NULL)
		child_cancel(v->child);
}

/* --- the end ----------------------------------------------------------- */

static void
emit_result(const struct op_verify *v, const struct task *t)
{
	cleanup_buf struct buf reason = BUF_INIT;

	check_result_reasons(v->result, &reason);
	emit(v->mode->core,
	    &(struct event){ .kind = EVENT_VERIFIED,
		.worker = v->op.agent->worker->name,
		.task = t->id,
		.result = json_string_or(v->result, "status", ""),
		.commit = v->head[0] != '\0' ? v->head : NULL,
		.reason = reason.len > 0 ? reason.data : NULL });
}

/* All that this changes is saved at once: a daemon that dies before has the
 * checks run again, and one that dies after it does not retry again. */
static void
act(struct op_verify *v)
{
	struct agent *agent = v->op.agent;
	struct task *t = auto_task(agent);
	enum verification_next next;

	/* The task was taken away, or the next daemon will check it. */
	if (t == NULL || t->step != TASK_ASSIGNED || v->mode->core->stopping)
		return;
	next = verification_end(t, v->result, v->head, clock_wall_ms());
	persist_changed(v->mode->core);
	emit_result(v, t);
	if (next == VERIFICATION_GO_ON)
		auto_verified(v->mode, agent, v->head);
	else
		outcome_contract_failed(
		    v->mode, agent, next == VERIFICATION_RETRY);
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_verify *v = (struct op_verify *)op;

	if (v->child != NULL)
		child_abandon(v->child); /* the operation was dropped */
	worker_op_release(&v->op);
	if (err == NULL)
		act(v);
	else if (err->code != -ECANCELED)
		agent_move(v->op.agent, WORKER_ERROR, err->msg);
	json_object_put(v->result);
	free(v);
}

static const struct operation_step steps[] = {
	{ .name = "head", .run = step_head },
	{ .name = "write", .run = worker_op_write },
	{ .name = "check", .run = step_check, .cancel = cancel_check },
};

static const struct operation_kind kind = {
	.name = "verification",
	.steps = steps,
	.count = nitems(steps),
	.yields = true,
	.end = end,
};

bool
team_verify(void *arg, struct agent *agent, const char *head)
{
	struct team_floor *floor = arg;
	struct task *t = auto_task(agent);
	struct op_verify *v;

	if (t == NULL || t->step != TASK_ASSIGNED ||
	    !verification_is_due(t, head))
		return false;
	if (agent->op != NULL)
		return true; /* asked again when it is free */
	verification_begin(t);
	v = xcalloc(1, sizeof *v);
	v->mode = floor->mode;
	v->known = head != NULL;
	if (head != NULL)
		strlcpy(v->head, head, sizeof v->head);
	worker_op_begin(&v->op, &kind, agent, NULL);
	return true;
}
