/* SPDX-License-Identifier: ISC */

/*
 * Change one value in the text of a TOML document and keep every other byte:
 * comments, order, blank lines, line endings.
 *
 * The caller keeps the path and the value.
 */
#ifndef TOML_EDIT_H
#define TOML_EDIT_H

#include <stddef.h>

struct buf;
struct err;

/* Set the key at path[0..count) to `value`, which is TOML text ("\"opus\"",
 * "30", "[1, 2]"). An existing value is replaced in place, also inside inline
 * tables. A new key is added at the end of its [table]; a missing table is
 * appended to the document as [a.b]. The result is parsed before it is
 * returned, so a caller never writes a broken file. -EINVAL if the document or
 * the value does not parse, or if a part of path is a value that is not a
 * table. The document is only changed on success. */
int toml_edit_set(struct buf *document, const char *const *path, size_t count,
    const char *value, struct err *err);

/* Remove the key's whole line (including a comment at the end of the line).
 * -ENOENT if it does not exist; -EINVAL inside an inline table, and for
 * anything but a single key. A table that becomes empty stays. */
int toml_edit_unset(struct buf *document, const char *const *path, size_t count,
    struct err *err);

/* Remove a [table], or all of an [[array]], with its header and all lines up to
 * the next header, and its sub-tables ([table.x]) as well. Comment lines
 * directly above a header belong to it, unless they open the document. Adds no
 * blank lines at the end. -ENOENT if it does not exist, -EINVAL if it is not
 * written with a header. */
int toml_edit_remove_table(struct buf *document, const char *const *path,
    size_t count, struct err *err);

/* Append s as a TOML basic string, quotes included. Invalid UTF-8 becomes
 * U+FFFD. */
void toml_edit_quote(struct buf *out, const char *s);

/* Append a key: bare where possible, else quoted. */
void toml_edit_quote_key(struct buf *out, const char *key);

#endif
