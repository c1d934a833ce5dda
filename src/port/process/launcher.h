/* SPDX-License-Identifier: ISC */

/* What `llmc pane FILE` does: become a keeper (src/keeper/) whose program is
 * the agent that the file describes. */
#ifndef LAUNCHER_H
#define LAUNCHER_H

struct err;

/* Read argument vector and environment from the file that claude_prepare()
 * wrote, remove it, and exec. Its member "keeper" has "record" and "mark"
 * (orphans.h), "boxed" (the agent's argument vector begins with bwrap and its
 * own pid namespace), "modes" (of the keeper, to try in this order) and
 * "cgroup" (a folder to put it into); all may be missing. Returns only on
 * failure: negative errno. */
int launcher_exec(const char *file, struct err *err);

#endif
