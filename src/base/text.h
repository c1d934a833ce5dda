/* SPDX-License-Identifier: ISC */

/*
 * Small things done to text: UTF-8 that is never cut in half, durations and
 * sizes for people, quoting for the shell and for JSON, the nearest word to a
 * mistyped one.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* Length in bytes of the valid UTF-8 sequence at s, 0 when it is invalid or
 * cut off. No overlong forms, no surrogates, nothing above U+10FFFF. */
size_t text_utf8_len(const char *s, size_t len);
bool text_utf8_valid(const char *s, size_t len);

/* The same length, and the code point where it is not 0. */
size_t text_utf8_decode(const char *s, size_t len, uint32_t *ret_codepoint);

/* Append s with every invalid byte replaced by U+FFFD. */
void text_add_utf8(struct buf *out, const char *s, size_t len);

/* Append the code point; U+FFFD for one that does not exist. */
void text_add_codepoint(struct buf *out, uint32_t codepoint);

/* The most bytes of s[0..len) that are at most max and end between characters.
 * Invalid bytes count as characters of their own. */
size_t text_cut(const char *s, size_t len, size_t max);

/* Durations: "500ms", "30s", "5m", "1h", "2d", also "1h3m" and "1.5h", or plain
 * seconds ("90", "0.5"). Units from large to small, a fraction only in the last
 * number. Result in ms, rounded up. False for anything else, for negative ones
 * and for more than 1,000,000 days. */
bool text_parse_duration(const char *s, int64_t *ret_ms);

/* The two largest units that are not zero: "1h3m", "2d4h", "45s", "350ms",
 * "1.5s" below ten seconds when it is not whole. Parses back to the same
 * value where nothing was rounded away. A negative one has a '-' in front. */
void text_add_duration(struct buf *out, int64_t ms);

/* Quote for /bin/sh: as it is where nothing needs quoting, else in single
 * quotes. The empty text becomes ''. */
void text_add_shell(struct buf *out, const char *s);

/* A JSON string, quotes included; invalid UTF-8 becomes U+FFFD; C1 controls
 * and DEL are escaped too, so that a log can be shown on a terminal. */
void text_add_json(struct buf *out, const char *s, size_t len);

/* For a terminal: control characters, escapes and invalid bytes are shown as
 * \xNN, newline and tab too unless keep_newlines. */
void text_add_visible(
    struct buf *out, const char *s, size_t len, bool keep_newlines);

/* The candidate nearest to word (edits and swaps of neighbours, case folded),
 * or NULL when none is near enough to be meant: distance at most a third of the
 * longer length, at least one. candidates ends with NULL. */
const char *text_nearest(const char *word, const char *const *candidates);

/* Strict decimal; the whole of s, no blanks, no plus sign. */
bool text_parse_int(const char *s, int64_t min, int64_t max, int64_t *ret);

/* Does name suit as worker name: [a-z0-9] first, then [a-z0-9_-], at most 32
 * bytes. Safe as path, branch and tmux session part. */
bool text_is_name(const char *s);

#endif
