/* SPDX-License-Identifier: ISC */

/*
 * String helpers: UTF-8 that is never cut inside a character, durations and
 * sizes for people, quoting for the shell and for JSON, the nearest match for a
 * mistyped word.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* Are both there, and equal? text_same(): or both NULL? */
bool text_is(const char *a, const char *b);
bool text_same(const char *a, const char *b);
bool text_begins(const char *s, const char *with);
bool text_ends(const char *s, const char *with);
/* Of ASCII, in every locale. */
bool text_is_digit(char c);
bool text_is_letter(char c);

/* Length in bytes of the valid UTF-8 sequence at s, 0 if it is invalid or
 * incomplete. No overlong forms, no surrogates, nothing above U+10FFFF. */
size_t text_utf8_len(const char *s, size_t len);
bool text_utf8_valid(const char *s, size_t len);

/* The same, and the code point if the length is not 0. */
size_t text_utf8_decode(const char *s, size_t len, uint32_t *ret_codepoint);

/* Append s with every invalid byte replaced by U+FFFD. */
void text_add_utf8(struct buf *out, const char *s, size_t len);

/* Is it a control or an invisible character? With such characters a text looks
 * like another one. */
bool text_is_hidden(uint32_t codepoint);

/* Append the code point; U+FFFD if it does not exist. */
void text_add_codepoint(struct buf *out, uint32_t codepoint);

/* The longest prefix of s[0..len) of at most max bytes that ends between
 * characters. Invalid bytes count as characters. */
size_t text_cut(const char *s, size_t len, size_t max);

/* Durations: "500ms", "30s", "5m", "1h", "2d", "1h3m", "1.5h", or plain seconds
 * ("90", "0.5"). Units from large to small; only the last number may have a
 * fraction. The result is in ms, rounded up. False for anything else, for
 * negative ones and for more than 1,000,000 days. */
bool text_parse_duration(const char *s, int64_t *ret_ms);

/* The two largest units that are not zero: "1h3m", "2d4h", "45s", "350ms",
 * "1.5s" below ten seconds if it is not whole. Parses back to the same value if
 * nothing was rounded. A negative one starts with '-'. */
void text_add_duration(struct buf *out, int64_t ms);

/* Quote for /bin/sh: unchanged if nothing needs quoting, otherwise in single
 * quotes. The empty string becomes ''. */
void text_add_shell(struct buf *out, const char *s);

/* Append a JSON string, including the quotes. Invalid UTF-8 becomes U+FFFD;
 * control and invisible characters are escaped too, so that a log can be shown
 * on a terminal. */
void text_add_json(struct buf *out, const char *s, size_t len);

/* The same for a text that is JSON already: the value stays what it is. */
void text_add_json_escaped(struct buf *out, const char *s, size_t len);

/* Make text from outside safe for a terminal: control characters, escapes and
 * invalid bytes are shown as \xNN, newlines and tabs too unless keep_newlines;
 * characters without width and those that change the direction of the text are
 * shown as \u202e. */
void text_add_visible(
    struct buf *out, const char *s, size_t len, bool keep_newlines);

/* Names from outside, made visible: "a, b and 3 more", of which at most so many
 * are named. */
void text_add_names(
    struct buf *out, const char *const *names, size_t count, size_t most);

/* On one line: each run of blanks, tabs and line breaks as one blank, none at
 * the ends. */
void text_add_line(struct buf *out, const char *s, size_t len);

/* Both: words for people, on one line and safe for a terminal. For names use
 * text_add_visible(), which hides nothing. */
void text_add_words(struct buf *out, const char *s, size_t len);

/* Text from outside, made visible, with "| " before each line, so that
 * none of them can pass for a line of ours. Every line ends with a newline. */
void text_add_quoted(struct buf *out, const char *s, size_t len);

/* The same as text_add_visible() for what a program prints: newlines, tabs and
 * colours stay. */
void text_add_terminal(struct buf *out, const char *s, size_t len);

/* The candidate nearest to word (edits and swaps of neighbours, ignoring case),
 * or NULL if none is near enough: the distance may be at most a third of the
 * longer length, but at least one. candidates ends with NULL. */
const char *text_nearest(const char *word, const char *const *candidates);

/* Strict decimal: all of s must be the number; no blanks, no plus sign. */
bool text_parse_int(const char *s, int64_t min, int64_t max, int64_t *ret);

/* Is this a valid worker name: [a-z0-9] first, then [a-z0-9_-], at most 32
 * bytes? Such a name is safe in paths, branches and tmux session names. */
bool text_is_name(const char *s);

/* The width in columns: 0 for combining marks, 2 for wide characters and emoji,
 * independent of the locale. Control characters count 0, invalid bytes 1. */
int text_width(const char *s, size_t len);

/* The longest prefix in bytes that fits into max columns, cut between
 * characters. */
size_t text_width_cut(const char *s, size_t len, int max);

/* The order in which people sort names: t2 comes before t10. */

/* As strcmp(), but digits are compared as numbers; leading zeros decide only
 * between names that are equal otherwise. */
int natural_compare(const char *a, const char *b);

#endif
