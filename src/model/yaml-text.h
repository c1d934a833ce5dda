/* SPDX-License-Identifier: ISC */

/* As much of YAML as an edit of one key at the top level needs: its lines, its
 * keys, its scalars. For the files of serena-list only. */
#ifndef YAML_TEXT_H
#define YAML_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

struct yaml_text {
	const char *text;
	size_t len;
};

struct yaml_line {
	size_t start, end; /* without its newline */
	size_t next; /* where the next one begins; the length: none */
	size_t indent; /* blanks in front */
	bool empty; /* blanks or a comment only */
};

struct yaml_line yaml_line_at(const struct yaml_text *yaml, size_t start);
unsigned yaml_line_number(const struct yaml_text *yaml, size_t at);
bool
yaml_line_is_item(const struct yaml_text *yaml, const struct yaml_line *line);
const char *yaml_eol(const struct yaml_text *yaml);

/* Nothing but blanks, newlines and comments? */
bool yaml_is_void(const struct yaml_text *yaml, size_t at, size_t end);
size_t yaml_skip_void(const struct yaml_text *yaml, size_t at, size_t end);

/* The key of the top level: 1 with the place behind its colon and the end of
 * what belongs to it, 0 when it is missing, -EINVAL when it is there twice or
 * the text is no block mapping. */
struct yaml_key {
	size_t value, end;
};
int yaml_find_key(const struct yaml_text *yaml, const char *name,
    struct yaml_key *ret_key, struct err *err);

/* The scalar that begins at `at`, lines folded, escapes resolved; *ret_end is
 * behind its last byte. In a flow list it also ends at a comma or bracket.
 * -EINVAL for what is no plain or quoted scalar. */
int yaml_scalar(const struct yaml_text *yaml, size_t at, size_t end, bool flow,
    struct buf *value, size_t *ret_end);

#endif
