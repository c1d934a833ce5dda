/* SPDX-License-Identifier: ISC */

/*
 * Run a program asynchronously. This is the only way to start one in this
 * project.
 *
 * Every child gets its own session (and so its own process group), default
 * signals, no descriptors but the three standard ones, and a deadline. It has
 * ended when the process is reaped. Its output is read until end of file, or
 * for a short time after its death, since a grandchild may hold the pipe open.
 * Then the rest of the group is killed and the result is reported, once, from
 * the loop.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"

struct child;
struct err;
struct loop;
struct reaper;

/* Captured output, bounded: its beginning and its end. */
struct child_output {
	struct buf head;
	struct buf tail;
	uint64_t total; /* bytes the child wrote */
};

struct child_spec {
	const char *const *argv; /* NULL terminated; argv[0] is searched in
				  * PATH. Set one of argv, shell, call. */
	const char *shell; /* given to /bin/sh -c */
	/* Instead of both: a function, in a copy of this process that has no
	 * descriptors of it but the standard ones, that dies with it, and that
	 * exits with what the function returns. */
	int (*call)(void *arg);
	void *call_arg;
	const char *cwd; /* NULL = ours */
	const char *const *env; /* edits: "K=V" sets, "K" removes; NULL = none.
				 * The last one wins. */
	const void *input; /* standard input, copied; NULL = /dev/null */
	size_t input_len;
	int stdin_fd; /* used instead of input: a descriptor that becomes its
		       * standard input and stays open here; 0 = none */
	int output_fd; /* becomes its standard output and error, stays open
			* here, and nothing is captured; 0 = none */
	int extra_fd; /* becomes its descriptor CHILD_EXTRA_FD and stays open
		       * here; 0 = none */
	void (*said)(const char *bytes, size_t len,
	    void *arg); /* each piece of
			 * standard output as it comes, too; NULL = only
			 * kept */
	size_t output_max; /* bytes kept per stream, 0 = 64 KiB */
	int64_t deadline_ms; /* 0 = CHILD_DEADLINE_MS; there is always one */
	int64_t grace_ms; /* SIGTERM to SIGKILL, 0 = 5 s */
	bool detach; /* leave the program running in a session of its own; the
		      * result only says whether it could be started. Redirect
		      * its output. */
	bool in_group; /* no session of its own: it ends with our group. For
			* what `call` starts */
	bool merge_stderr; /* send standard error to the same stream as
			    * output */
};

#define CHILD_DEADLINE_MS (60 * 1000)
#define CHILD_EXTRA_FD    9 /* the highest that a shell can redirect */

struct child_result {
	int start_error; /* negative errno: it never ran (-ENOENT: the program
			  * or cwd does not exist) */
	const char *start_step; /* "chdir" or "exec" when start_error is set */
	bool exited; /* otherwise killed by `signal` */
	int status; /* exit status when exited */
	int signal;
	bool timed_out; /* ended because of the deadline */
	bool cancelled; /* ended because of child_cancel() */
	int64_t duration_ms;
	struct child_output out;
	struct child_output err;
};

/* The result belongs to the child and is valid until the callback returns. */
typedef void child_fn(const struct child_result *result, void *arg);

/* Start a program. `done` is called exactly once, later, from the loop, unless
 * this fails (negative errno: fork, pipe, invalid spec) or the child is
 * abandoned or released. Whether the program could be executed is reported in
 * the result, so that a hung file system blocks the child and not the loop.
 * *ret_child (may be NULL) is valid until `done` is called. */
int child_spawn(struct loop *loop, const struct child_spec *spec,
    child_fn *done, void *arg, struct child **ret_child, struct err *err);

/* End it early: SIGTERM to the group, then SIGKILL after the grace period.
 * `done` is still called. */
void child_cancel(struct child *child);

/* Kill it now and forget it: `done` will not be called. For shutdown. */
void child_abandon(struct child *child);

/* Another program ran in this process before us: reap what it left. Before the
 * first child of our own. */
void child_reap_inherited(void);

/* Forget it but let it run: `done` will not be called and nothing ends it. It
 * is still reaped. */
void child_release(struct child *child);

pid_t child_pid(const struct child *child);

/* Start a program and wait for it in a private loop: for command-line tools
 * only, never from inside a loop. The caller releases the result, on failure
 * too. Returns negative errno as above, and for a program that could not be
 * executed. */
int child_run(const struct child_spec *spec, struct child_result *ret_result,
    struct err *err);

void child_result_init(struct child_result *result);
void child_result_release(struct child_result *result);
bool child_succeeded(const struct child_result *result); /* exit status 0 */

/* "exited with status 3", "killed by SIGKILL", "took longer than 5s". */
void child_result_describe(const struct child_result *result, struct buf *out);

/* The head, a line that says how much is missing, the tail. */
void child_output_text(const struct child_output *output, struct buf *out);

#define cleanup_child_result __attribute__((cleanup(child_result_release)))

/*
 * A subreaper: processes whose parents died become our children instead of
 * init's, and are reaped when they exit. Children started by child.h are left
 * to it.
 */

/* Become a subreaper. Free it before the loop. */
struct reaper *reaper_new(struct loop *loop);
void reaper_free(struct reaper *reaper);

#endif
