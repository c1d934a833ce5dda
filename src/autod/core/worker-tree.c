/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "box.h"
#include "core.h"
#include "git.h"
#include "mem.h"
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
worker_tree_home(void *arg, const char *dir, struct git_home *ret_home)
{
	const struct worker *w = find(arg, dir);

	if (w == NULL || w->branch == NULL)
		return false;
	*ret_home = (struct git_home){
		.worker = w->name,
		.branch = w->branch,
		.detached = w->detached,
	};
	return true;
}

int
worker_tree_box(void *arg, const char *dir, char ***ret_prefix, struct err *err)
{
	const struct core *core = arg;
	const struct worker *w = find(core, dir);
	struct box box = { 0 };
	int r;

	*ret_prefix = NULL;
	/* A check has written where it ran, too: a submodule's settings. */
	if (w == NULL)
		return box_prefix(
		    core->workspace, core->settings, dir, ret_prefix, err);
	if (w->branch != NULL && !w->detached)
		return 0;
	r = box_prepare(&(struct box_spec){ .kind = BOX_COMMAND,
			    .workspace = core->workspace,
			    .settings = core->settings,
			    .worker = w->name,
			    .tree = dir },
	    &box, err);
	if (r == 0)
		*ret_prefix = take_ptr(&box.prefix);
	box_release(&box);
	return r;
}
