/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "errtext.h"
#include "hold.h"
#include "json.h"
#include "mem.h"
#include "op-stop.h"
#include "worker-op.h"

struct stop {
	struct worker_op op;
	enum worker_status before;
};

/* A turn is interrupted. One that waits for a decision keeps its status: it
 * needs no session for that. */
static void
hold(struct operation *op)
{
	hold_begin(((struct stop *)op)->op.agent, true);
	worker_op_write(op);
}

static struct json_object *
result_of(const struct stop *s)
{
	const struct worker *w = s->op.agent->worker;
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", w->name);
	json_set_string(
	    result, "previous_status", worker_status_name(s->before));
	json_set_string(result, "new_status", worker_status_name(w->status));
	return result;
}

static void
end(struct operation *op, const struct err *err)
{
	struct stop *s = (struct stop *)op;

	worker_op_release(&s->op);
	worker_op_answer(&s->op, err, err == NULL ? result_of(s) : NULL);
	free(s);
}

static const struct operation_step steps[] = {
	{ .name = "hold", .run = hold },
	{ .name = "end-session", .run = worker_op_end_session },
};

static const struct operation_kind kind = {
	.name = "stop",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

void
op_stop(struct agent *agent, struct server_call *call)
{
	struct stop *s = xcalloc(1, sizeof *s);

	s->before = agent->worker->status;
	worker_op_begin(&s->op, &kind, agent, call);
}
