/* SPDX-License-Identifier: ISC */

/* Just enough YAML to edit one top-level key: lines, keys, scalars. For
 * serena-list only. */
#ifndef YAML_TEXT_H
#define YAML_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct yaml_text {
	const char *text;
	size_t len;
};

struct yaml_line {
	size_t start, end; /* without its newline */
	size_t next; /* offset of the next line; the text's length if there is
		      * none */
	size_t indent; /* leading blanks */
	bool empty; /* only blanks or a comment */
};

struct yaml_line yaml_line_at(const struct yaml_text *yaml, size_t start);
unsigned yaml_line_number(const struct yaml_text *yaml, size_t at);
bool
yaml_line_is_item(const struct yaml_text *yaml, const struct yaml_line *line);
const char *yaml_eol(const struct yaml_text *yaml);

/* Nothing but blanks, newlines and comments? */
bool yaml_is_void(const struct yaml_text *yaml, size_t at, size_t end);
size_t yaml_skip_void(const struct yaml_text *yaml, size_t at, size_t end);

/* Find a top-level key: 1 with the offset after its colon and the end of its
 * value, 0 if it is missing, -EINVAL if it appears twice or the text is not a
 * block mapping. */
struct yaml_key {
	size_t value, end;
};
int yaml_find_key(const struct yaml_text *yaml, const char *name,
    struct yaml_key *ret_key, struct err *err);

#endif
