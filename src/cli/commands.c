/* SPDX-License-Identifier: ISC */

/* The table of commands, in the order that help shows them. */
#include "commands.h"

const struct cli_command *const cli_commands[] = {
	&cmd_init,
	&cmd_doctor,
	&cmd_trust,
	&cmd_config,
	&cmd_up,
	&cmd_down,
	&cmd_add,
	&cmd_nuke,
	&cmd_status,
	&cmd_start,
	&cmd_message,
	&cmd_attach,
	&cmd_peek,
	&cmd_console,
	&cmd_review,
	&cmd_accept,
	&cmd_reject,
	&cmd_rebase,
	&cmd_pick,
	&cmd_reset,
	&cmd_salvage,
	&cmd_logs,
	&cmd_wait,
	&cmd_schema,
	&cmd_version,
	&cmd_help,
	&cmd_hook,
	&cmd_pane,
	&cmd_completion,
	NULL,
};
