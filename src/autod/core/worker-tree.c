/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "box.h"
#include "core.h"
#include "git.h"
#include "worker-tree.h"
#include "worker.h"

static const struct worker *
find(const struct core *core, const char *dir)
{
	for (size_t i = 0; i < core->state.count; i++) {
		const struct worker *w = core->state.workers[i];

		if (w->worktree != NULL && strcmp(w->worktree, dir) == 0)
			return w;
	}
	return NULL;
}

bool
worker_tree_is_clone(const struct worker *w)
{
	cleanup_free char *dot_git = NULL;
	struct stat st;

	if (!w->clone || w->worktree == NULL)
		return false;
	dot_git = file_join(w->worktree, ".git");
	return lstat(dot_git, &st) == 0 && S_ISDIR(st.st_mode);
}

bool
worker_tree_home(void *arg, const char *dir, struct git_home *ret_home)
{
	const struct worker *w = find(arg, dir);

	if (w == NULL || w->branch == NULL)
		return false;
	*ret_home = (struct git_home){
		.worker = w->name,
		.branch = w->branch,
		.detached = w->detached || worker_tree_is_clone(w),
		.clone = worker_tree_is_clone(w),
		.base = w->base,
	};
	return true;
}

int
worker_tree_box(void *arg, const char *dir, char ***ret_prefix, struct err *err)
{
	const struct core *core = arg;
	const struct worker *w = find(core, dir);
	struct box_spec spec = { .kind = BOX_COMMAND,
		.workspace = core->workspace,
		.settings = core->settings,
		.tree = dir };
	struct box box = { 0 };
	int r;

	*ret_prefix = NULL;
	/* A check has written where it ran, too: a submodule's settings. */
	if (w == NULL)
		return box_prefix(
		    core->workspace, core->settings, dir, ret_prefix, err);
	if (worker_tree_is_clone(w))
		spec.at_least = BOX_WORKTREE;
	else if (w->branch != NULL && !w->detached)
		return 0;
	spec.worker = w->name;
	r = box_prepare(&spec, &box, err);
	if (r == 0)
		*ret_prefix = take_ptr(&box.prefix);
	box_release(&box);
	return r;
}
