/* SPDX-License-Identifier: ISC */

/* Keys and passwords removed from what a repairing agent is told, and from the
 * evidence that is kept. */
#ifndef REMEDY_MASK_H
#define REMEDY_MASK_H

struct buf;

/* A part of a text that is not terminated, for readers that look ahead. */

struct span {
	const char *s;
	size_t len;
};

bool span_is_alnum(char c);
bool span_begins(struct span text, const char *word);
/* Without its first len bytes; there must be as many. */
struct span span_after(struct span text, size_t len);

/* The offset of the word, or of the end. */
size_t span_find(struct span text, const char *word);
/* The length of what the text begins with: */
size_t span_line(struct span text); /* its first line, without the newline */
size_t span_blank(struct span text); /* blanks and tabs */
size_t span_run(struct span text, const char *others); /* letters, digits and
							* others */
size_t span_quote(struct span text); /* a quote with its backslashes, or 0 */

/* Append the text with anything that looks like a key or password replaced by
 * "[masked]": API keys by their form (sk-..., ghp_..., AKIA..., bearer tokens,
 * PEM blocks, passwords in URLs, in netrc files and after curl -u) and values
 * by the name before them (token, secret, password, api_key, authorization,
 * ANY_KEY, GH_PAT ...). Invalid UTF-8 becomes
 * U+FFFD. */
void remedy_mask(const char *text, size_t len, struct buf *out);

/* Does the name say that its value is a key or password: "api_key"? */
bool remedy_mask_name(const char *name);

#endif
