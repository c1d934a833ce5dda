/* SPDX-License-Identifier: ISC */

/* The four kinds of TOML strings, for toml*.c only. */
#ifndef TOML_STRING_H
#define TOML_STRING_H

#include <stdbool.h>

struct buf;
struct toml_reader;

/* Read the string whose first quote is at the cursor, and append its contents.
 * A key may not span lines. */
int toml_string_read(struct toml_reader *reader, bool is_key, struct buf *out);

#endif
