/* SPDX-License-Identifier: ISC */

/* What `llmc pane FILE` does: become the agent that the file describes. */
#ifndef LAUNCHER_H
#define LAUNCHER_H

struct err;

/* Read argument vector and environment from the file that claude_prepare()
 * wrote, remove it, and exec. Returns only on failure: negative errno. */
int launcher_exec(const char *file, struct err *err);

#endif
