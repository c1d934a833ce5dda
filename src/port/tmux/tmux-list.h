/* SPDX-License-Identifier: ISC */

/* The inside of tmux.h: what list-panes says of every session. */
#ifndef TMUX_LIST_H
#define TMUX_LIST_H

#include <stddef.h>

#include "tmux.h"

/* The format to ask for. */
extern const char tmux_list_format[];

/* Take the answer apart in place: one entry a session, their strings inside
 * text. The caller frees the list, which may be NULL. */
size_t tmux_list_parse(char *text, struct tmux_info **ret_list);

#endif
