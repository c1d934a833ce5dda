/* SPDX-License-Identifier: ISC */

/* What the overseer's files say, for commands that show it or must not
 * interfere with it. Only reads. */
#ifndef OVERSIGHT_H
#define OVERSIGHT_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cli;
struct json_object;

/* The name of its session, worktree and agent; no worker can have it. */
#define OVERSIGHT_NAME "overseer"

struct oversight {
	struct json_object *json; /* overseer.json; NULL = it cannot be read */
	bool active; /* an overseer holds the lock */
	bool registered; /* and it is the one described in the file */
};

void oversight_load(struct cli *cli, struct oversight *ret_oversight);
void oversight_release(struct oversight *oversight);

/* The running overseer's process, 0 when there is none or it is not known. */
int64_t oversight_pid(const struct oversight *oversight);

/* While an overseer is running, the failure is reported (`command` is what is
 * refused, `way` what can be done instead, NULL = nothing); otherwise CLI_OK.
 */
int oversight_refuse(struct cli *cli, const char *command, const char *way);

/* Does the verdict of an earlier run keep it from starting? The reason says
 * why. */
bool oversight_is_over(struct cli *cli, struct buf *words);

#endif
