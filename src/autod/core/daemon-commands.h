/* SPDX-License-Identifier: ISC */

/* The methods for the daemon itself: info, reload, patrol, stop. */
#ifndef DAEMON_COMMANDS_H
#define DAEMON_COMMANDS_H

struct core;

void daemon_commands_register(struct core *core);

#endif
