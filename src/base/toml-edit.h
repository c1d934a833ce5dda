/* SPDX-License-Identifier: ISC */

/*
 * Change one value in the text of a TOML document and leave every other byte
 * as it is: comments, order, blank lines, line endings.
 *
 * The document, the path and the value stay the caller's.
 */
#ifndef TOML_EDIT_H
#define TOML_EDIT_H

#include <stddef.h>

struct buf;
struct err;

/* Set the key at path[0..count) to `value`, a TOML value already written out
 * ("\"opus\"", "30", "[1, 2]"). An existing value is replaced in its place,
 * also inside inline tables. A new key goes to the end of its [table]; a table
 * that is not there yet is appended to the document as [a.b]. The result is
 * parsed before it is returned, so a caller never writes a broken file.
 * -EINVAL when the document or the value does not parse, or when a part of
 * path is a value that is not a table. buf is only changed on success. */
int toml_edit_set(struct buf *document, const char *const *path, size_t count,
    const char *value, struct err *err);

/* Remove the key's whole line (and its own comment at the end of the line).
 * -ENOENT when it is not there; -EINVAL inside an inline table, and for what is
 * not a single key. A table that becomes empty stays. */
int toml_edit_unset(struct buf *document, const char *const *path, size_t count,
    struct err *err);

/* Remove a [table], or all of an [[array]], with its header and all lines up to
 * the next header, and the same for its sub-tables ([table.x]). Comment lines
 * that touch a header from above belong to it, unless they open the document.
 * No blank lines are left at the end where there were none.
 * -ENOENT when it is not there, -EINVAL when it is not written with a header.
 */
int toml_edit_remove_table(struct buf *document, const char *const *path,
    size_t count, struct err *err);

/* Append s as a TOML basic string, quotes included. Invalid UTF-8 becomes
 * U+FFFD. */
void toml_edit_quote(struct buf *out, const char *s);

/* Append a key: bare where possible, else quoted. */
void toml_edit_quote_key(struct buf *out, const char *key);

#endif
