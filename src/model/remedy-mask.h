/* SPDX-License-Identifier: ISC */

/* Keys and passwords removed from what a repairing agent is told. */
#ifndef REMEDY_MASK_H
#define REMEDY_MASK_H

#include <stddef.h>

struct buf;

/* Append the text with anything that looks like a key or password replaced by
 * "[masked]": API keys by their form (sk-..., ghp_..., AKIA..., bearer tokens,
 * PEM blocks, passwords in URLs) and values by the name before them (token,
 * secret, password, api_key, authorization ...). Invalid UTF-8 becomes
 * U+FFFD. */
void remedy_mask(const char *text, size_t len, struct buf *out);

#endif
