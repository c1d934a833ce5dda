/* SPDX-License-Identifier: ISC */

/*
 * Run a program asynchronously: the only way this project starts one.
 *
 * Every child gets its own session (and so its own process group), default
 * signals, no descriptor but the three standard ones, and a deadline. It has
 * ended when the process is reaped; its output is read until end of file, or
 * until a short grace after its death, for a grandchild may hold the pipe.
 * Then whatever is left of the group is killed and the result reported, once,
 * from the loop.
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

/* Captured output, bounded: what came first and what came last. */
struct child_output {
	struct buf head;
	struct buf tail;
	uint64_t total; /* bytes the child wrote */
};

struct child_spec {
	const char *const *argv; /* NULL terminated; argv[0] is looked up in
				  * PATH. Exactly one of argv and shell. */
	const char *shell; /* given to /bin/sh -c */
	const char *cwd; /* NULL = ours */
	const char *const *env; /* edits: "K=V" sets, "K" removes; NULL = none.
				 * Later ones win. */
	const void *input; /* standard input, copied; NULL = /dev/null */
	size_t input_len;
	int stdin_fd; /* instead of input: a descriptor that becomes its
		       * standard input and stays open here; 0 = none */
	size_t output_max; /* kept bytes per stream, 0 = 64 KiB */
	int64_t deadline_ms; /* 0 = CHILD_DEADLINE_MS; there is always one */
	int64_t grace_ms; /* SIGTERM to SIGKILL, 0 = 5 s */
	bool detach; /* leave the program behind, in a session of its own that
		      * nobody ends: the result tells only that it could be
		      * left. Its output should go elsewhere. */
	bool merge_stderr; /* standard error into the same stream as output */
};

#define CHILD_DEADLINE_MS (60 * 1000)

struct child_result {
	int start_error; /* negative errno: it never ran (-ENOENT: no such
			  * program, or no such cwd) */
	const char *start_step; /* "chdir" or "exec" when start_error is set */
	bool exited; /* else ended by `signal` */
	int status; /* exit status when exited */
	int signal;
	bool timed_out; /* the deadline came first */
	bool cancelled; /* child_cancel() came first */
	int64_t duration_ms;
	struct child_output out;
	struct child_output err;
};

/* The result is the child's and lives until the callback returns. */
typedef void child_fn(const struct child_result *result, void *arg);

/* Start; `done` is called exactly once, later, from the loop, unless this fails
 * (negative errno: no fork, no pipe, wrong spec) or the child is abandoned.
 * Whether the program could be executed is told in the result, so that a hung
 * file system holds up the child and not the loop. *ret_child (may be NULL) is
 * valid until `done` is called. */
int child_spawn(struct loop *loop, const struct child_spec *spec,
    child_fn *done, void *arg, struct child **ret_child, struct err *err);

/* End it early: SIGTERM to the group, grace, SIGKILL. `done` still comes. */
void child_cancel(struct child *child);

/* Kill it at once and forget it: `done` will not be called. For shutdown. */
void child_abandon(struct child *child);

/* Let it run on and forget it: `done` will not be called, nothing ends it. It
 * is still reaped. */
void child_release(struct child *child);

pid_t child_pid(const struct child *child);

/* Start and wait, in a loop of its own: for the command line only, never from
 * inside a loop. The caller releases the result, also on failure. Negative
 * errno as above, and for a program that could not be executed. */
int child_run(const struct child_spec *spec, struct child_result *ret_result,
    struct err *err);

void child_result_init(struct child_result *result);
void child_result_release(struct child_result *result);
bool child_succeeded(const struct child_result *result); /* exit status 0 */

/* "exited with status 3", "killed by SIGKILL", "took longer than 5s". */
void child_result_describe(const struct child_result *result, struct buf *out);

/* Head, a line that tells how much is missing, tail. */
void child_output_text(const struct child_output *output, struct buf *out);

void child_result_cleanup(struct child_result *result);
#define cleanup_child_result __attribute__((cleanup(child_result_cleanup)))

#endif
