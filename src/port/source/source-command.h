/* SPDX-License-Identifier: ISC */

/* A command that prints a task; its calls are errands (errand.h), so that a
 * task it printed is not lost with the daemon. Private to source.c. */
#ifndef SOURCE_COMMAND_H
#define SOURCE_COMMAND_H

struct source_kind;

extern const struct source_kind source_command;

#endif
