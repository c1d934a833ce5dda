/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "git-facts.h"
#include "json.h"
#include "mem.h"
#include "op-review.h"
#include "persist.h"
#include "worker-op.h"

struct review {
	struct worker_op op; /* first */
	struct json_object *answer;
};

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct review *review = arg;
	struct agent *agent = review->op.agent;

	if (!operation_arrived(&review->op.op, err))
		return;
	xstrset(&agent->worker->reviewed,
	    facts->head[0] != '\0' ? facts->head : NULL);
	persist_changed(agent->core);
	json_set_string(review->answer, "commit_sha", agent->worker->reviewed);
	json_set_string(
	    review->answer, "landing_branch", core_branch(agent->core));
	json_set_int(review->answer, "uncommitted_files",
	    facts->changed + facts->untracked);
	operation_done(&review->op.op);
}

static void
step_head(struct operation *op)
{
	struct review *review = (struct review *)op;
	const struct core *core = review->op.agent->core;

	git_facts_read(core->git, review->op.agent->worker->worktree, NULL,
	    on_facts, operation_await(op));
}

static void
review_end(struct operation *op, const struct err *err)
{
	struct review *review = (struct review *)op;

	worker_op_release(&review->op);
	worker_op_answer(&review->op, err,
	    err == NULL ? json_object_get(review->answer) : NULL);
	json_object_put(review->answer);
	free(review);
}

static const struct operation_step steps[] = {
	{ .name = "head", .run = step_head },
};

static const struct operation_kind kind = {
	.name = "review",
	.steps = steps,
	.count = nitems(steps),
	.end = review_end,
};

void
op_review(
    struct agent *agent, struct server_call *call, struct json_object *answer)
{
	struct review *review = xcalloc(1, sizeof *review);

	review->answer = answer;
	worker_op_begin(&review->op, &kind, agent, call);
}
