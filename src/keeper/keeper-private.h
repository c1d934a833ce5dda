/* SPDX-License-Identifier: ISC */

/*
 * What the parts of the program keeper share.
 *
 * There are two processes. The keeper is what others know: they signal it, wait
 * for it and see its exit status. It starts the inner process, which starts the
 * program, collects every orphan below it and ends with the program. Each ends
 * everything when the other is killed, so that it takes the death of both at
 * once to leave something behind; in a pid namespace, where the inner process
 * is the init, not even that does.
 *
 * Only the C library, static memory, no allocation after the start.
 */
#ifndef KEEPER_PRIVATE_H
#define KEEPER_PRIVATE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct keeper;

#define KEEPER_FAILED 125 /* exit status: nothing was started */

/* Between keeper and inner process: the keeper is gone, end everything. */
#define KEEPER_ORPHANED (SIGRTMIN)

enum keeper_mode {
	KEEPER_NAMESPACE, /* a pid namespace: the kernel ends everything */
	KEEPER_CGROUP, /* a control group with cgroup.kill */
	KEEPER_SCOPE, /* subreaper; Landlock protects us from the program */
	KEEPER_REAPER, /* subreaper alone */
	KEEPER_BOX, /* the program is bwrap with a pid namespace */
	KEEPER_MODE_COUNT
};

struct keeper {
	bool terminal;
	bool command; /* of the daemon */
	pid_t parent; /* with whom a command ends; 0: none */
	const char *record; /* NULL: none */
	const char *mark; /* NULL: none */
	const char *cgroup; /* NULL: made if the mode needs one */
	enum keeper_mode modes[KEEPER_MODE_COUNT]; /* in the order to try */
	int mode_count;
	char **argv; /* of the program */

	enum keeper_mode mode; /* in force */
	pid_t inner; /* its pid for the keeper */
	pid_t pid, group; /* of the keeper of a command */
	sigset_t mask; /* of the program: before we blocked everything */
};

/* "namespace", ... */
const char *keeper_mode_word(enum keeper_mode mode);

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
 * closed to abstract unix sockets of others; filter: where that for
 * bwrap is open, -1 = nowhere. The exit status if that fails. */
int keeper_program_become(char **argv, bool scoped, int filter);

/* Start it, pass signals on to it, collect orphans, and exit with its status
 * when it has ended, or when the keeper has. */
_Noreturn void keeper_program_run(const struct keeper *keeper);

/* The keeper itself: starts the inner process and stays until all is gone. */

/* SIGKILL to every child, then to theirs, which come to us, until there is
 * none. All signals must be blocked. False if some are still there after
 * several seconds: they belong to another user, or hang in the kernel. */
bool keeper_reaper_end_all(void);

/* For a process that was put into the group and is to remove it: go back to the
 * group of the keeper, if that is allowed. */
void keeper_cgroup_leave(void);

/* End all that is in it. Works in a process that is itself in it. */
void keeper_cgroup_kill(void);

/* Remove it, if we made it: it must be empty within a few seconds. */
void keeper_cgroup_remove(const struct keeper *keeper);

/* Of a command, from the inner process to the keeper: 0 when the program is
 * there, then how it ended, as waitpid(2) says. False: it is gone. */
void keeper_inner_say(int number);

/* In the program of a command, in its group and before it takes signals: wait
 * until the keeper has resent what came too early. One that comes now is
 * pending for both, and must not arrive twice. */
void keeper_inner_hold(void);

/* The exit status: that of the program (128 + n: ended by signal n), or
 * KEEPER_FAILED. */
int keeper_outer_run(struct keeper *keeper);

#endif
