/* SPDX-License-Identifier: ISC */

/* What the overseer's files say, for commands that show it or must not
 * interfere with it. Only reads. */
#ifndef CMD_OVERSEER_H
#define CMD_OVERSEER_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cli;
struct json_object;

/* The name of its session, worktree and agent; no worker can have it. */
#define OVERSEER_NAME "overseer"

struct overseer_files {
	struct json_object *json; /* overseer.json; NULL = it cannot be read */
	bool active; /* an overseer holds the lock */
	bool registered; /* and it is the one described in the file */
};

void overseer_files_load(struct cli *cli, struct overseer_files *ret_overseer);
void overseer_files_release(struct overseer_files *overseer);

/* The running overseer's process, 0 when there is none or it is not known. */
int64_t overseer_files_pid(const struct overseer_files *overseer);

/* Does it repair the daemon, or wait before it starts another? */
bool overseer_files_repairs(const struct overseer_files *overseer);

/* End the running overseer, which has no daemon to be ended: it repairs one, or
 * waits. False if it is not known, or does not end in that time. */
bool overseer_files_end(struct cli *cli, int64_t ms);

/* While an overseer is running, the failure is reported (`command` is what is
 * refused, `way` what can be done instead, NULL = nothing); otherwise CLI_OK.
 */
int
overseer_files_refuse(struct cli *cli, const char *command, const char *way);

/* Does the verdict of an earlier run keep it from starting? The reason says
 * why. */
bool overseer_files_is_over(struct cli *cli, struct buf *words);

#endif
