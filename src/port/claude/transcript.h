/* SPDX-License-Identifier: ISC */

/*
 * The session's JSONL, read as it grows: turns, tool calls, errors, tokens, the
 * last message. Tolerates partial, unknown and broken lines. Growth is a sign
 * of life.
 */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;
struct transcript;

struct transcript_totals {
	int64_t prompts; /* typed or pasted; without interruptions, commands and
			  * messages of the program to itself */
	int64_t replies; /* assistant messages, by id */
	int64_t tool_calls;
	int64_t tool_errors;
	int64_t api_errors;
	int64_t interrupted;
	int64_t input_tokens, output_tokens, cache_read_tokens,
	    cache_write_tokens;
	double cost_usd; /* of the whole session, 0 when not given */
	int64_t skipped; /* invalid lines, or longer than 1 MiB; unknown kinds
			  * do not count */
	uint64_t bytes; /* read so far */
};

/* Add lines to the totals: the pure part, for tests and replays. Texts are cut
 * at 64 KiB and valid until the next line. */
struct transcript_parser;
struct transcript_parser *transcript_parser_new(void);
void transcript_parser_free(struct transcript_parser *parser);
void transcript_parser_line(
    struct transcript_parser *parser, const char *line, size_t len);
const struct transcript_totals *
transcript_parser_totals(const struct transcript_parser *parser);
const char *transcript_parser_last_text(
    const struct transcript_parser *parser); /* "" = none */

/* Follow a file (which may not exist yet; nor its directory) from its
 * beginning. fn is called when it has grown, once per pass of the loop, and may
 * free the transcript. If the file is replaced or cut short, counting starts
 * again. */
typedef void transcript_fn(const struct transcript_parser *parser, void *arg);
struct transcript *transcript_new(
    struct loop *loop, const char *path, transcript_fn *fn, void *arg);
void transcript_free(struct transcript *transcript);
const struct transcript_parser *
transcript_parser_of(const struct transcript *transcript);

/* Do the last TRANSCRIPT_TAIL bytes of a file contain this text? */
#define TRANSCRIPT_TAIL (16 * 1024 * 1024)
bool transcript_mentions(const char *path, const char *words);

#endif
