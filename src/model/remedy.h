/* SPDX-License-Identifier: ISC */

/*
 * The remediation prompt: the user's own words, what is known of the failure,
 * and what to do when it is repaired or cannot be. Bounded, valid UTF-8,
 * secrets masked.
 */
#ifndef REMEDY_H
#define REMEDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define REMEDY_SIZE_MAX    ((size_t)200 * 1024)
#define REMEDY_EXCERPT_MAX ((size_t)50000)
#define REMEDY_LINES       100 /* of each log */

struct remedy_log {
	const char *name; /* "autod.log" */
	const char *text; /* its last lines */
};

/* Texts may be NULL or empty where nothing is known: the section says so. */
struct remedy_facts {
	const char *instructions; /* overseer.remediation_prompt */
	const char *verdict; /* health_verdict_name() */
	const char *class; /* of failure.json */
	const char *words; /* what happened */
	const char *ended; /* "killed by SIGKILL after 3h 2m" */
	int64_t age_s; /* of the heartbeat or of the last progress; -1 = none */
	const char *failure; /* failure.json, printed */
	const char *registration; /* daemon.json, printed */
	const char *heartbeat; /* auto.heartbeat */
	const char *standard_error; /* what it said there last */
	const char *stack; /* of a hung process */
	const char *workers; /* a line each */
	const char *task_error;
	const char *git_status;
	const char *history; /* earlier repairs of the same failure */
	const struct remedy_log *logs;
	size_t log_count;
	const char *manual_file; /* exact path to write when it cannot be
				  * repaired */
	const char *root;
};

/* Appended, at most REMEDY_SIZE_MAX bytes (given paths that a system takes).
 * Each fact has a bound of its own; when the whole is too long the logs lose
 * their oldest lines. Instructions are never masked, and cut only beyond half
 * of the bound. */
void remedy_prompt(const struct remedy_facts *facts, struct buf *out);

/* The last `lines` lines of text, at most max bytes, cut at a line (of one
 * longer line, its end), valid UTF-8. Appended. */
void remedy_excerpt(
    const char *text, size_t len, int lines, size_t max, struct buf *out);

/* Values that look like keys and passwords become "[masked]": API keys by
 * their shape (sk-..., ghp_..., AKIA..., bearer tokens, PEM blocks, passwords
 * in URLs) and by the name before them (token, secret, password, api_key,
 * authorization ...). Invalid UTF-8 is replaced by U+FFFD. Appended. */
void remedy_mask(const char *text, size_t len, struct buf *out);

#endif
