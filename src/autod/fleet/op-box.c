/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "box-probe.h"
#include "box.h"
#include "buf.h"
#include "errtext.h"
#include "launch-block.h"
#include "loop.h"
#include "mem.h"
#include "op-box.h"
#include "strv.h"
#include "worker-op.h"

struct op_box {
	struct worker_op op;
	struct box box;
	struct err refused; /* it could not even be prepared */
	struct box_probe *probe;
	struct loop_timer *cancelled;
};

static void
run(struct operation *op)
{
	struct op_box *b = (struct op_box *)op;
	struct err err = b->refused;

	if (err.code == 0 &&
	    box_probe_start(op->loop, strv_const(b->box.prefix),
		operation_on_done, op, &b->probe, &err) == 0)
		operation_await(op);
	else
		operation_fail(op, &err);
}

static void
on_cancelled(void *arg)
{
	struct op_box *b = arg;

	loop_timer_free(take_ptr(&b->cancelled));
	operation_arrived(&b->op.op, NULL);
}

/* Freeing a probe ends it, without a callback. */
static void
cancel(struct operation *op)
{
	struct op_box *b = (struct op_box *)op;

	box_probe_free(take_ptr(&b->probe));
	b->cancelled = loop_after(op->loop, 1, on_cancelled, b);
}

static char *
words_of(const struct box *box)
{
	struct buf words = BUF_INIT;

	for (size_t i = 0; box->prefix != NULL && box->prefix[i] != NULL; i++)
		buf_addf(
		    &words, "%zu:%s", strlen(box->prefix[i]), box->prefix[i]);
	return buf_take(&words);
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_box *b = (struct op_box *)op;
	struct agent *agent = b->op.agent;

	worker_op_release(&b->op);
	box_probe_free(b->probe);
	loop_timer_free(b->cancelled);
	if (err == NULL) {
		free(agent->box_proved);
		agent->box_proved = words_of(&b->box);
		xstrset(&agent->box_fault, NULL);
		launch_block_look(agent->fleet->block);
	} else if (err->code != -ECANCELED) {
		xstrset(&agent->box_proved, NULL);
		xstrset(&agent->box_fault, err->msg);
		launch_block_check(agent);
	}
	box_release(&b->box);
	free(b);
}

static const struct operation_step steps[] = {
	{ .name = "try", .run = run, .cancel = cancel },
};

static const struct operation_kind kind = {
	.name = "box",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

bool
op_box(struct agent *agent)
{
	struct box_spec spec = { .kind = BOX_SESSION,
		.workspace = agent->core->workspace,
		.settings = agent->core->settings,
		.worker = agent->worker->name,
		.tree = agent->worker->worktree,
		.trial = true };
	struct box box = { 0 };
	struct err refused = { 0 };
	cleanup_free char *words = NULL;
	struct op_box *b;

	if (box_mode_of(spec.settings, spec.worker) == BOX_OFF)
		return false;
	box_prepare(&spec, &box, &refused);
	words = words_of(&box);
	if (refused.code == 0 && agent->box_proved != NULL &&
	    strcmp(agent->box_proved, words) == 0) {
		box_release(&box);
		return false;
	}
	b = xcalloc(1, sizeof *b);
	b->box = box;
	b->refused = refused;
	worker_op_begin(&b->op, &kind, agent, NULL);
	return true;
}
