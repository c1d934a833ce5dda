/* SPDX-License-Identifier: ISC */

/*
 * A command of the daemon (--command). Whoever starts the keeper signals its
 * process group, which the program is in too; the inner process is not, so that
 * it survives SIGKILL to the group and ends the rest. The keeper ends as the
 * program did, also by a signal. The daemon may be gone: --parent.
 */
#ifndef KEEPER_COMMAND_H
#define KEEPER_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct keeper;

/* In the keeper, first. False if the parent is gone: start nothing. */
bool keeper_command_begin(struct keeper *keeper);

/* In the inner process, before it starts the program: leave the group. In a pid
 * namespace the program gets the keeper's pid. */
void keeper_command_leave(const struct keeper *keeper);

/* In the inner process and in the program, which is 0 there: put it into the
 * group of the keeper. */
void keeper_command_join(const struct keeper *keeper, pid_t program);

/* In the keeper, when the program is in its group: what came too early. */
void keeper_command_resend(void);

/* In the inner process, when the program has ended: wait a little for those who
 * still write to its output, such as `tee` in a script. True if the keeper is
 * gone. */
bool keeper_command_linger(void);

/* In the keeper: end by the signal that ended the program. May return. */
void keeper_command_die(int signo);

#endif
