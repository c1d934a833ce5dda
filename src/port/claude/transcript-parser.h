/* SPDX-License-Identifier: ISC */

/*
 * The lines of a session's JSONL, added up: turns, tool calls, errors, tokens,
 * the last message. Tolerates unknown and broken lines. No files: the pure
 * part, for tests and replays too.
 */
#ifndef TRANSCRIPT_PARSER_H
#define TRANSCRIPT_PARSER_H

#include "account.h"

struct json_object;
struct transcript_parser;

struct transcript_totals {
	int64_t prompts; /* typed or pasted; without interruptions, commands and
			  * messages of the program to itself */
	int64_t tools; /* that have ended */
	int64_t tool_errors;
	int64_t api_errors;
	int64_t interrupted;
	int64_t failed; /* turns; only of agents without a hook for it */
	bool failing; /* the last turn, and nothing came after that */
	int64_t deaf_ms; /* when the request was made that is tried again since
			  * then: the service is away, or has too much to do;
			  * 0 = none is */
	int64_t answered_ms; /* the last answer of the service; 0 = none */
	struct usage usage; /* with its subagents */
	struct usage_report report; /* the latest one */
	int64_t skipped; /* invalid lines, or longer than 1 MiB; unknown kinds
			  * do not count */
	uint64_t bytes; /* read so far, without subagents */
};

struct transcript_parser *transcript_parser_new(void);
void transcript_parser_free(struct transcript_parser *parser);

/* Do not count what messages before this moment used; 0 = count all. */
void transcript_parser_since(struct transcript_parser *parser, int64_t from_ms);

/* The next line of the file, or of the file of a subagent. */
void transcript_parser_line(
    struct transcript_parser *parser, const char *line, size_t len);
void transcript_parser_side_line(
    struct transcript_parser *parser, const char *line, size_t len);
/* A line that was too long; the next one begins there. */
void transcript_parser_skip(struct transcript_parser *parser, uint64_t end);
/* The file was replaced or cut short: count again; what subagents used stays.
 */
void transcript_parser_reset(struct transcript_parser *parser);

/* Texts are cut at 64 KiB and valid until the next line. */
const struct transcript_totals *
transcript_parser_totals(const struct transcript_parser *parser);
const char *transcript_parser_last_text(
    const struct transcript_parser *parser); /* "" = none */

/* The word for the last turn that failed (limit.h), and its text. */
const char *transcript_parser_failure(
    const struct transcript_parser *parser, const char **ret_text);

/* A line in the form of Claude Code's: of another agent, it is translated.
 * Takes the line; NULL = it says nothing. model: of the lines before, owned. */
struct json_object *
transcript_translate(struct json_object *line, char **model);

/* The n-th call of a tool that has ended, from 0. */
#define TRANSCRIPT_CALLS 128 /* the last ones are kept */
struct transcript_call {
	uint64_t action, answer; /* equal numbers are equal things; of an
				  * answer, its numbers do not count */
	bool failed;
	char tool[40];
	char what[120]; /* its command or file, on one line */
};

/* NULL = it is not kept any more. */
const struct transcript_call *
transcript_parser_call(const struct transcript_parser *parser, int64_t n);

/* The n-th error of a tool or of the API, from 0 (there are tool_errors +
 * api_errors); NULL = it is not kept any more. Cut at 1 KiB. */
#define TRANSCRIPT_ERRORS 32 /* the last ones are kept */
const char *
transcript_parser_error(const struct transcript_parser *parser, int64_t n);

#endif
