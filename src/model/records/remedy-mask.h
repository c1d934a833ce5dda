/* SPDX-License-Identifier: ISC */

/* Keys and passwords removed from the prompt of a repairing agent, and from the
 * evidence that is kept. */
#ifndef REMEDY_MASK_H
#define REMEDY_MASK_H

struct buf;

/* Append the text with anything that looks like a key or password replaced by
 * "[masked]": API keys by their form (sk-..., ghp_..., AKIA..., bearer tokens,
 * PEM blocks, passwords in URLs, in netrc files and after curl -u) and values
 * by the name before them (token, secret, password, api_key, authorization,
 * ANY_KEY, GH_PAT ...). Invalid UTF-8 becomes
 * U+FFFD. */
void remedy_mask(const char *text, size_t len, struct buf *out);

/* A masked copy of at most max bytes; NULL of NULL. The caller frees it. */
char *remedy_mask_copy(const char *text, size_t max);

/* Does the name say that its value is a key or password: "api_key"? */
bool remedy_mask_name(const char *name);

#endif
