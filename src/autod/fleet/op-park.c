/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "op-park.h"
#include "worker-op.h"
#include "workspace.h"

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
	emit(agent->core,
	    &(struct event){ .kind = EVENT_WORKER_PARKED,
		.worker = agent->worker->name,
		.reason = p->reason });
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

static const struct operation_kind kind = {
	.name = "park",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

void
op_park(struct agent *agent, enum worker_status status, const char *reason)
{
	struct park *p = xcalloc(1, sizeof *p);

	p->status = status;
	p->reason = xstrdup(reason);
	worker_op_begin(&p->op, &kind, agent, NULL);
}
