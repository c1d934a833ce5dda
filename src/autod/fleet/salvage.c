/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "file.h"
#include "git-salvage.h"
#include "git-worktree.h"
#include "mem.h"
#include "operation.h"
#include "salvage.h"

enum {
	STEP_SAVE,
	STEP_ADD,
	STEP_SAVE_AGAIN
};

struct salvage {
	struct operation op;
	struct agent *agent;
	char ref[256], clean[GIT_ID_SIZE]; /* as in git_salvaged */
	salvage_fn *fn;
	void *arg;
};

/* A folder that is no longer a valid worktree is kept for people. */
static int
move_aside(const struct agent *agent)
{
	const struct worker *w = agent->worker;
	cleanup_free char *aside = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_compact(clock_wall_ms(), stamp);
	aside = xasprintf("%s.broken-%s", w->worktree, stamp);
	if (rename(w->worktree, aside) == -1)
		return -errno;
	emit(agent->core,
	    &(struct event){ .kind = EVENT_WORKTREE_BROKEN,
		.worker = w->name,
		.path = aside });
	return 0;
}

static void
on_saved(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct salvage *s = arg;

	if (err != NULL && err->code == -EUCLEAN && s->op.at == STEP_SAVE &&
	    !s->op.stopping && move_aside(s->agent) == 0)
		err = NULL;
	if (saved != NULL) {
		snprintf(s->ref, sizeof s->ref, "%s", saved->ref);
		snprintf(s->clean, sizeof s->clean, "%s", saved->clean);
	}
	if (!operation_arrived(&s->op, err))
		return;
	if (saved != NULL || s->op.at == STEP_SAVE_AGAIN)
		operation_done(&s->op);
	else
		operation_next(
		    &s->op); /* from the branch, which has the commits */
}

static void
save(struct operation *op)
{
	struct salvage *s = (struct salvage *)op;
	const struct worker *w = s->agent->worker;
	char stamp[CLOCK_STAMP_SIZE];
	struct git_salvage what = {
		.worker = w->name,
		.branch = w->branch,
		.onto = core_branch(s->agent->core),
		.stamp = stamp,
	};

	clock_format_compact(clock_wall_ms(), stamp);
	git_salvage(s->agent->core->git, w->worktree, &what, on_saved,
	    operation_await(op));
}

static void
add(struct operation *op)
{
	struct salvage *s = (struct salvage *)op;
	const struct worker *w = s->agent->worker;

	git_worktree_add(s->agent->core->git, w->worktree, w->branch,
	    core_branch(s->agent->core), operation_on_done,
	    operation_await(op));
}

/* If the folder exists, save from it; otherwise check out its branch first. */
static void
look(struct operation *op)
{
	struct salvage *s = (struct salvage *)op;

	if (file_is_dir(s->agent->worker->worktree))
		save(op);
	else
		operation_next(op);
}

static void
end(struct operation *op, const struct err *err)
{
	struct salvage *s = (struct salvage *)op;
	salvage_fn *fn = s->fn;
	void *arg = s->arg;
	char ref[sizeof s->ref], clean[sizeof s->clean];
	struct git_salvaged saved = { .ref = ref, .clean = clean };

	snprintf(ref, sizeof ref, "%s", s->ref);
	snprintf(clean, sizeof clean, "%s", s->clean);

	s->agent->salvage = NULL;
	if (err == NULL && ref[0] != '\0')
		emit(s->agent->core,
		    &(struct event){ .kind = EVENT_WORK_SALVAGED,
			.worker = s->agent->worker->name,
			.ref = ref });
	free(s);
	if (fn != NULL)
		fn(err == NULL ? &saved : NULL, err, arg);
}

static const struct operation_step steps[] = {
	[STEP_SAVE] = { .name = "save", .run = look },
	[STEP_ADD] = { .name = "add", .run = add },
	[STEP_SAVE_AGAIN] = { .name = "save-again", .run = save },
};

static const struct operation_kind kind = {
	.name = "salvage",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

void
salvage_begin(struct agent *agent, salvage_fn *fn, void *arg)
{
	struct salvage *s = xcalloc(1, sizeof *s);

	s->agent = agent;
	s->fn = fn;
	s->arg = arg;
	agent->salvage = s;
	operation_begin(&s->op, &kind, agent->core->loop, 0);
}

void
salvage_drop(struct salvage *s)
{
	if (s == NULL)
		return;
	s->fn = NULL;
	operation_drop(&s->op);
}
