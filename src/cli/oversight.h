/* SPDX-License-Identifier: ISC */

/* What the files of the overseer say, for commands that show it or must not
 * get in its way. Only reads. */
#ifndef OVERSIGHT_H
#define OVERSIGHT_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cli;
struct json_object;

/* Its name among sessions, worktrees and agents; no worker has it. */
#define OVERSIGHT_NAME "overseer"

struct oversight {
	struct json_object *json; /* overseer.json; NULL = none to be had */
	bool active; /* an overseer holds the lock */
	bool registered; /* and it is the one that the file tells of */
};

void oversight_load(struct cli *cli, struct oversight *ret_oversight);
void oversight_release(struct oversight *oversight);

/* The running overseer's process, 0 when there is none or it is not known. */
int64_t oversight_pid(const struct oversight *oversight);

/* While an overseer runs, the failure is reported (`command` is what may not be
 * done, `way` what could be done all the same, NULL = nothing); else CLI_OK. */
int oversight_refuse(struct cli *cli, const char *command, const char *way);

/* Does an earlier run's verdict keep it from starting? The words say why. */
bool oversight_is_over(struct cli *cli, struct buf *words);

#endif
