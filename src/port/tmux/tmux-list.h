/* SPDX-License-Identifier: ISC */

/* Private to tmux.c: reads what list-panes prints about every session. */
#ifndef TMUX_LIST_H
#define TMUX_LIST_H

#include <stddef.h>

#include "tmux.h"

/* The format to ask for. */
extern const char tmux_list_format[];

/* Parse the answer in place: one entry per session, whose strings are inside
 * text. The caller frees the list, which may be NULL. */
size_t tmux_list_parse(char *text, struct tmux_info **ret_list);

#endif
