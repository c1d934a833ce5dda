/* SPDX-License-Identifier: ISC */

/* Texts of others, made fit to be passed on: cut, clean, as a title, and
 * without keys and passwords. Pure. */
#ifndef EXCERPT_H
#define EXCERPT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

#define EXCERPT_MAX ((size_t)8 * 1024) /* bytes */

/* Append the end of the output as a fenced block: at most EXCERPT_MAX bytes of
 * complete lines (or the end of one longer line), preceded by a line that says
 * how much is missing. Colours and other control characters are removed. Empty
 * output becomes one sentence that says so. Ends with a newline. */
void excerpt_add(const char *output, struct buf *out);

/* Append the last `lines` lines of text, at most max bytes, cut at a line (of
 * one longer line, its end), as valid UTF-8. */
void excerpt_tail(
    const char *text, size_t len, int lines, size_t max, struct buf *out);

/* Append the text without colours and other control characters; a lone CR, as
 * printed by progress bars, ends a line. */
void excerpt_plain(const char *text, struct buf *out);

/* Append the text as a fenced block of that kind ("json", "" = plain), which no
 * line of it can end: nothing in it is markup or a mention. */
void excerpt_fence(const char *text, const char *kind, struct buf *out);

/* The first line of a text (may be NULL) that has any letters, without marks of
 * Markdown and at most max bytes; owned by the caller. NULL = there is none. */
char *excerpt_title(const char *text, size_t max);

/* The text without blanks around it and without control characters, valid
 * UTF-8, at most max bytes; lines: newlines and tabs stay. The caller frees
 * it. */
char *excerpt_clean(const char *text, size_t len, size_t max, bool lines);

/* --- without keys and passwords -------------------------------------- */

/* Append the text with anything that looks like a key or password replaced by
 * "[masked]": API keys by their form (sk-..., ghp_..., AKIA..., bearer tokens,
 * PEM blocks, passwords in URLs, in netrc files and after curl -u) and values
 * by the name before them (token, secret, password, api_key, authorization,
 * ANY_KEY, GH_PAT ...). Invalid UTF-8 becomes U+FFFD. For prompts, and for
 * evidence that is kept. */
void remedy_mask(const char *text, size_t len, struct buf *out);

/* A masked copy of at most max bytes; NULL of NULL. The caller frees it. */
char *remedy_mask_copy(const char *text, size_t max);

/* Does the name say that its value is a key or password: "api_key"? */
bool remedy_mask_name(const char *name);

#endif
