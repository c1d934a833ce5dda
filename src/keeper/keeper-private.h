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

/* What a program is closed to (Landlock's words). */
#define KEEPER_SCOPE_ABSTRACT (1U << 0)
#define KEEPER_SCOPE_SIGNAL   (1U << 1)

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
	int go, said; /* in the inner process: from the keeper a byte a step, to
		       * it how the program is */
};

/* What `keeper --bare` prepares for bwrap. */
struct keeper_bare {
	bool scoped; /* closed to abstract unix sockets of others */
	int filter; /* where that of system calls is open; -1: nowhere */
	int seal; /* and a sealed copy of the file; -1: nowhere */
	const char *sealed;
};

/* --- the processes below ----------------------------------------------- */

/* Read a small file; the text is terminated. Its length, or negative errno. */
ssize_t keeper_proc_read(const char *path, char *text, size_t size);

/* Was it stopped by a signal? */
bool keeper_proc_is_stopped(pid_t pid);

/* When the process started, in clock ticks (field 22); 0 if it is gone. */
uint64_t keeper_proc_start_time(pid_t pid);

/* Call fn with each child of the process. Returns how many there were, or
 * negative errno if /proc cannot be read. */
int
keeper_proc_children(pid_t parent, void (*fn)(pid_t pid, void *arg), void *arg);

/* The same for those who look all the time and may miss one: /proc is searched
 * only if the kernel has no list of children. */
int
keeper_proc_glance(pid_t parent, void (*fn)(pid_t pid, void *arg), void *arg);

/* Have every orphan below as a child. Negative errno. */
int keeper_reaper_begin(void);

/* SIGKILL to every child, then to theirs, which come to us, until there is
 * none. All signals must be blocked. False if some are still there after
 * several seconds: they belong to another user, or hang in the kernel. */
bool keeper_reaper_end_all(void);

/* Make the group that the options name; without one, in a control group of our
 * own, and set keeper->cgroup. Negative errno, also if the kernel has no
 * cgroup.kill. */
int keeper_cgroup_make(struct keeper *keeper);

/* Put the process into the group; what it starts is in it too. */
int keeper_cgroup_add(const struct keeper *keeper, pid_t pid);

/* For a process that was put into the group and is to remove it: go back to the
 * group of the keeper, if that is allowed. */
void keeper_cgroup_leave(void);

/* End all that is in it. Works in a process that is itself in it. */
void keeper_cgroup_kill(void);

/* Remove it, if we made it: it must be empty within a few seconds. */
void keeper_cgroup_remove(const struct keeper *keeper);

/* How often the kernel has killed for memory in it, or if there is none, in the
 * scope that the keeper was started in; 0 also if that is not known. */
long keeper_cgroup_oom_kills(const struct keeper *keeper);

/* --- the program, in the inner process --------------------------------- */

/* "keeper: ..." and a newline, to standard error. */
void keeper_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Why the program could not be executed (errno): said, and the exit status. */
int keeper_exec_failed(const char *program);

/* Negative errno if the kernel does not have it (Landlock ABI 6). */
int keeper_scope_check(void);

/* For the calling process and all that it starts, for ever. Without the right
 * to do this as root, programs with the set-user-ID bit lose its effect. */
int keeper_scope_enter(unsigned scopes);

/* In the keeper, first. False if the parent is gone: start nothing. */
bool keeper_command_begin(struct keeper *keeper);

/* In the keeper, when the program is in its group: what came too early. */
void keeper_command_resend(void);

/* In the keeper: end by the signal that ended the program. May return. */
void keeper_command_die(int signo);

/* Start it, pass signals on to it, collect orphans, and exit with its status
 * when it has ended, or when the keeper has. */
_Noreturn void keeper_program_run(const struct keeper *keeper);

/* --- around and in a box, without keeping (keeper-box.c) --------------- */

/* Become the program, with the standard streams only; /dev/null is not mounted
 * over what has gone. The exit status if that fails. */
int keeper_box_become(char **argv, const struct keeper_bare *bare);

/* Be the init of the box: the exit status of the program. What is open at
 * `spare` and above is closed. */
int keeper_box_init(char **argv, int spare);

/* --- the keeper itself ------------------------------------------------- */

/* It starts the inner process and stays until all is gone. */

/* "namespace", ... */
const char *keeper_mode_word(enum keeper_mode mode);

/* The exit status: that of the program (128 + n: ended by signal n), or
 * KEEPER_FAILED. */
int keeper_outer_run(struct keeper *keeper);

#endif
