/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "core.h"
#include "emit.h"
#include "git-worktree.h"
#include "operation.h"
#include "persist.h"
#include "fleet-private.h"

enum {
	STEP_SAVE,
	STEP_ADD,
	STEP_SAVE_AGAIN
};

struct salvage {
	struct operation op;
	struct agent *agent;
	enum salvage_then then;
	char *onto, *head, *same;
	bool check, find_base;
	char ref[256], clean[GIT_ID_SIZE]; /* as in git_salvaged */
	salvage_fn *fn;
	void *arg;
};

void
salvage_place(const struct agent *agent, bool check,
    char stamp[SALVAGE_STAMP_SIZE], struct git_salvage *ret_what)
{
	const struct worker *w = agent->worker;
	char now[CLOCK_STAMP_SIZE];

	clock_format_compact(clock_wall_ms(), now);
	snprintf(stamp, SALVAGE_STAMP_SIZE, "%s%s%.16s",
	    check && w->work_of != NULL ? "checks" : now,
	    w->work_of != NULL ? "-" : "",
	    w->work_of != NULL ? w->work_of : "");
	*ret_what = (struct git_salvage){
		.worker = w->name,
		.branch = w->branch,
		.onto = core_branch(agent->core),
		.stamp = stamp,
		.keep_as = check ? "checks" : NULL,
	};
}

void
salvage_tell(const struct agent *agent, const char *ref)
{
	if (ref[0] != '\0')
		AGENT_EMIT(agent, EVENT_WORK_SALVAGED,
		    .task = agent->worker->work_of, .ref = ref);
}

/* A folder that is no longer a valid worktree is kept for people. */
static int
keep_broken(const struct agent *agent)
{
	const struct worker *w = agent->worker;
	cleanup_free char *kept = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_compact(clock_wall_ms(), stamp);
	kept = xasprintf("%s.broken-%s", w->worktree, stamp);
	if (rename(w->worktree, kept) == -1)
		return -errno;
	AGENT_EMIT(agent, EVENT_WORKTREE_BROKEN, .path = kept);
	return 0;
}

/* A worktree whose .git is gone is repaired; a clone had all in it. */
static bool
is_broken(const struct worker *w, const struct err *err)
{
	return err->code == -EUCLEAN ||
	    (err->code == -ENOENT && w->clone && !worker_tree_is_clone(w) &&
		file_is_dir(w->worktree));
}

/* Whatever git says of it, a worker can be removed: its folder stays for
 * people. Not where a person can help: a repository inside with work of its
 * own, a lock, the user's own tree. */
static bool
is_removed_anyway(const struct salvage *s, const struct err *err)
{
	return s->then == SALVAGE_REMOVE && err->code != -ENOTEMPTY &&
	    err->code != -EBUSY && err->code != -EINVAL &&
	    err->code != -ECANCELED && file_is_dir(s->agent->worker->worktree);
}

static void
on_saved(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct salvage *s = arg;

	bool anyway = err != NULL && is_removed_anyway(s, err);

	if (err != NULL && (anyway || is_broken(s->agent->worker, err)) &&
	    s->op.at == STEP_SAVE && !s->op.stopping &&
	    keep_broken(s->agent) == 0)
		err = NULL;
	if (saved != NULL && saved->base[0] != '\0' && !s->check) {
		xstrset(&s->agent->worker->base, saved->base);
		persist_changed(s->agent->core);
	}
	if (saved != NULL) {
		snprintf(s->ref, sizeof s->ref, "%s", saved->ref);
		snprintf(s->clean, sizeof s->clean, "%s", saved->clean);
	}
	if (!operation_arrived(&s->op, err))
		return;
	if (saved != NULL || s->op.at == STEP_SAVE_AGAIN)
		operation_done(&s->op);
	else if (anyway)
		operation_go(&s->op, STEP_SAVE_AGAIN);
	else
		operation_next(
		    &s->op); /* from the branch, which has the commits */
}

static void
save(struct operation *op)
{
	struct salvage *s = (struct salvage *)op;
	struct git *git = s->agent->core->git;
	const char *dir = s->agent->worker->worktree;
	struct git_reset reset = {
		.head = s->head, .same = s->same, .find_base = s->find_base
	};
	char stamp[SALVAGE_STAMP_SIZE];

	salvage_place(s->agent, s->check, stamp, &reset.keep);
	reset.onto = s->onto != NULL ? s->onto : reset.keep.onto;
	operation_await(op);
	switch (s->then) {
	case SALVAGE_ONLY:
		git_salvage(git, dir, &reset.keep, on_saved, s);
		break;
	case SALVAGE_RESET:
		git_reset(git, dir, &reset, on_saved, s);
		break;
	case SALVAGE_REMOVE:
		git_remove(git, dir, &reset.keep, on_saved, s);
		break;
	}
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
	struct git_salvaged saved = { .ref = s->ref, .clean = s->clean };

	s->agent->salvage = NULL;
	if (err == NULL)
		salvage_tell(s->agent, s->ref);
	if (s->fn != NULL)
		s->fn(err == NULL ? &saved : NULL, err, s->arg);
	free(s->onto);
	free(s->head);
	free(s->same);
	free(s);
}

static const struct operation_step steps[] = {
	[STEP_SAVE] = { .name = "save", .run = look },
	[STEP_ADD] = { .name = "add", .run = add },
	[STEP_SAVE_AGAIN] = { .name = "save-again", .run = save },
};

OPERATION_KIND(kind, "salvage", steps, end);

void
salvage_begin(struct agent *agent, const struct salvage_what *what,
    salvage_fn *fn, void *arg)
{
	struct salvage *s = xcalloc(1, sizeof *s);

	s->agent = agent;
	s->then = what->then;
	xstrset(&s->onto, what->onto);
	xstrset(&s->head, what->head);
	xstrset(&s->same, what->same);
	s->check = what->check;
	s->find_base = what->find_base;
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
