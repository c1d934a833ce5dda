/* SPDX-License-Identifier: ISC */

/* The fenced blocks of a Markdown text. */
#ifndef UPDATE_BLOCK_H
#define UPDATE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* The last block marked `language` (in any case) whose content contains
 * `word`: *ret_start and *ret_len are its content. A block begins with a line
 * of at least three backquotes (or tildes) and ends with a line of at least as
 * many, or with the text. False if there is none. */
bool update_block_last(const char *text, size_t len, const char *language,
    const char *word, const char **ret_start, size_t *ret_len);

#endif
