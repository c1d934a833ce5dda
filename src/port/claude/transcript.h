/* SPDX-License-Identifier: ISC */

/*
 * The session's JSONL, read as it grows: turns, tool calls, errors, tokens, the
 * last message. Tolerates partial, unknown and broken lines. Growth is a sign
 * of life.
 */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#include "limit.h"
#include "transcript-parser.h"

struct buf;
struct err;
struct loop;
struct transcript;

/* path: <projects>/<folder>/<id>.jsonl. A descriptor for reading, or negative
 * errno: -ELOOP or -ENOTDIR for a link, -EINVAL for anything but a regular
 * file. */
int transcript_open_file(const char *path);

/* The folder <transcript without .jsonl>/<name>, likewise. */
int transcript_open_folder(const char *path);

/* Append it; invalid lines are left out. Control characters are made visible.
 * Reads the file at once: for the end of a session. */
int transcript_text(const char *path, struct buf *out, struct err *err);

/* Class the last STALL_SAMPLE_MESSAGES messages of this file; appends why.
 * STALL_UNKNOWN if there are none, or it cannot be read. Reads at most 128 KiB,
 * at once. */
enum stall_class transcript_tail_class(const char *path, struct buf *why);

/* Links are not followed: transcript.h.
 *
 * Follow a file (which may not exist yet; nor its directory) and those of its
 * subagents from their beginning. fn is called when one has grown, once per
 * pass of the loop, and may free the transcript. If the file is replaced or cut
 * short, counting starts again. from_ms: messages before that moment are a copy
 * of an earlier conversation and are not counted; 0 = there are none. */
typedef void transcript_fn(const struct transcript_parser *parser, void *arg);

struct transcript *transcript_new(struct loop *loop, const char *path,
    int64_t from_ms, transcript_fn *fn, void *arg);

/* Another owner: fn is called from now on. */
void transcript_hand_over(
    struct transcript *transcript, transcript_fn *fn, void *arg);
void transcript_free(struct transcript *transcript);
const char *transcript_path(const struct transcript *transcript);
int64_t transcript_from_ms(const struct transcript *transcript);
const struct transcript_parser *
transcript_parser_of(const struct transcript *transcript);

/* Do the last TRANSCRIPT_TAIL bytes of a file contain this text? */
#define TRANSCRIPT_TAIL (16 * 1024 * 1024)

bool transcript_mentions(const char *path, const char *words);

#endif
