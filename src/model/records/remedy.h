/* SPDX-License-Identifier: ISC */

/*
 * The remediation prompt: the user's instructions, what is known about the
 * failure, and what to do if it can or cannot be repaired. Limited in size,
 * valid UTF-8, secrets masked.
 */
#ifndef REMEDY_H
#define REMEDY_H

struct buf;

#define REMEDY_SIZE_MAX    ((size_t)200 * 1024)
#define REMEDY_EXCERPT_MAX ((size_t)50000)
#define REMEDY_LINES       100 /* of each log */

struct remedy_log {
	const char *name; /* "autod.log" */
	const char *text; /* its last lines */
};

/* Texts may be NULL or empty if unknown: the section says so. */
struct remedy_facts {
	const char *instructions; /* overseer.remediation_prompt */
	const char *verdict; /* health_verdict_name() */
	const char *class; /* of failure.json */
	const char *words; /* what happened */
	const char *ended; /* "killed by SIGKILL after 3h 2m" */
	int64_t age_s; /* of the heartbeat or last progress; -1 = none */
	const char *failure; /* contents of failure.json */
	const char *registration; /* contents of daemon.json */
	const char *heartbeat; /* auto.heartbeat */
	const char *standard_error; /* its last output there */
	const char *stack; /* of a hung process */
	const char *workers; /* one line each */
	const char *task_error;
	const char *git_status;
	const char *history; /* earlier repairs of the same failure */
	const struct remedy_log *logs;
	size_t log_count;
	const char *finding_file; /* to write what was wrong, and was done */
	const char *manual_file; /* to write if it cannot be repaired */
	const char *root;
	const char *tree; /* its own worktree; NULL = it has none */
	bool boxed; /* it can change nothing but that */
};

/* Appends at most REMEDY_SIZE_MAX bytes (for paths of valid length). Each fact
 * has its own limit; if the whole is too long, the logs lose their oldest
 * lines. The instructions are never masked, and truncated only beyond half of
 * the limit. */
void remedy_prompt(const struct remedy_facts *facts, struct buf *out);

#endif
