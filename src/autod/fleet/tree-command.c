/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "box.h"
#include "identity.h"
#include "kept.h"
#include "settings.h"
#include "tree-command.h"
#include "worker-tree.h"
#include "workspace.h"

int
tree_command_spawn(struct agent *agent, const char *command, child_fn *done,
    void *arg, struct child **ret_child, bool *ret_boxed, struct err *err)
{
	const struct settings *settings = agent->core->settings;
	const struct worker *w = agent->worker;
	cleanup_free char *task = xasprintf("LLMC_TASK=%s", w->task);
	cleanup_free char *whose =
	    identity_command(agent->core->workspace->root);
	const char *const env[] = { task, whose, NULL };
	cleanup_free char *shell = NULL;
	cleanup_strv char **argv = NULL;
	struct child_spec spec = {
		.cwd = w->worktree,
		.env = env,
		.deadline_ms =
		    settings_duration(settings, "auto.check_timeout"),
		.merge_stderr = true,
	};
	struct box box = { 0 };
	int r = box_prepare(
	    &(struct box_spec){ .kind = BOX_COMMAND,
		.workspace = agent->core->workspace,
		.settings = settings,
		.worker = w->name,
		.tree = w->worktree,
		.at_least = worker_tree_is_clone(w) ? BOX_WORKTREE : BOX_OFF,
		.network = true },
	    &box, err);

	if (r < 0)
		return r;
	shell = box_shell(strv_const(box.prefix), command);
	*ret_boxed = box.prefix != NULL;
	argv = kept_shell(shell, 0);
	spec.argv = strv_const(argv);
	box_release(&box);
	return child_spawn(agent->core->loop, &spec, done, arg, ret_child, err);
}
