/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "errtext.h"
#include "mem.h"
#include "op-return.h"
#include "persist.h"
#include "salvage.h"
#include "worker-op.h"

struct op_return {
	struct worker_op op; /* first */
	char *commit, *words;
	op_return_fn *fn;
	void *arg;
};

static void
step_reset(struct operation *op)
{
	struct op_return *r = (struct op_return *)op;

	worker_op_salvage(&r->op,
	    &(struct salvage_what){
		.then = SALVAGE_RESET, .onto = r->commit, .find_base = true },
	    NULL);
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_return *r = (struct op_return *)op;
	struct agent *agent = r->op.agent;

	worker_op_release(&r->op);
	if (err == NULL || err->code != -ECANCELED || !agent->core->stopping) {
		agent->worker->accepted = false;
		agent_move(agent, WORKER_NEEDS_REVIEW, NULL);
		if (err == NULL) {
			agent_move(agent, WORKER_REJECTED, NULL);
			agent_prompt(agent, r->words, false, WORKER_REJECTED);
		} else {
			xstrset(&agent->worker->reason, err->msg);
		}
		persist_changed(agent->core);
	}
	r->fn(agent, err, r->arg);
	free(r->commit);
	free(r->words);
	free(r);
}

static const struct operation_step steps[] = {
	{ .name = "reset", .run = step_reset, .firm = true },
};

static const struct operation_kind kind = {
	.name = "return",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

void
op_return(struct agent *agent, const char *commit, const char *words,
    op_return_fn *fn, void *arg)
{
	struct op_return *r = xcalloc(1, sizeof *r);

	xstrset(&r->commit, commit);
	xstrset(&r->words, words);
	r->fn = fn;
	r->arg = arg;
	worker_op_begin(&r->op, &kind, agent, NULL);
}
