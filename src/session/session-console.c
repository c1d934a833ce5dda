/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-kind.h"
#include "session-console.h"
#include "workspace.h"

int
session_console_start(struct tmux *tmux, const struct session_console *console,
    tmux_started_fn *fn, void *arg, struct err *err)
{
	struct agent_launch launch = {
		.workspace = console->workspace,
		.settings = console->settings,
		.worker = console->name,
		.cwd = console->workspace->root,
		.sees_processes = true,
	};
	cleanup_free char *name = tmux_session_name(console->name);
	cleanup_free char *launcher = NULL;
	const char *argv[] = { console->llmc, "pane", NULL, NULL };
	struct tmux_session session = {
		.name = name,
		.role = "console",
		.cwd = console->workspace->root,
		.argv = argv,
	};
	int r = agent_prepare_console(&launch, &launcher, err);

	if (r < 0)
		return r;
	argv[2] = launcher;
	tmux_start(tmux, &session, fn, arg);
	return 0;
}
