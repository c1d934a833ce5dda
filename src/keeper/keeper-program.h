/* SPDX-License-Identifier: ISC */

/* The program, as a child of the inner process (keeper.h). */
#ifndef KEEPER_PROGRAM_H
#define KEEPER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct keeper;

/* "keeper: ..." and a newline, to standard error. */
void keeper_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Negative errno if the kernel does not have it (Landlock ABI 6). */
int keeper_scope_check(void);

/* Read a small file; the text is terminated. Its length, or negative errno. */
ssize_t keeper_proc_read(const char *path, char *text, size_t size);

/* When the process started, in clock ticks (field 22); 0 if it is gone. */
uint64_t keeper_proc_start_time(pid_t pid);

/* Call fn with each child of the process. Returns how many there were, or
 * negative errno if /proc cannot be read. */
int
keeper_proc_children(pid_t parent, void (*fn)(pid_t pid, void *arg), void *arg);

/* In the keeper, first. False if the parent is gone: start nothing. */
bool keeper_command_begin(struct keeper *keeper);

/* In the keeper, when the program is in its group: what came too early. */
void keeper_command_resend(void);

/* In the keeper: end by the signal that ended the program. May return. */
void keeper_command_die(int signo);

/* Become it without keeping it, with the standard streams only. scoped: and
 * closed to abstract unix sockets of others; filter: where that of
 * keeper-program.h is open, -1 = nowhere. The exit status if that fails. */
int keeper_program_become(char **argv, bool scoped, int filter);

/* Start it, pass signals on to it, collect orphans, and exit with its status
 * when it has ended, or when the keeper has. */
_Noreturn void keeper_program_run(const struct keeper *keeper);

#endif
