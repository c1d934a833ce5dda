/* SPDX-License-Identifier: ISC */

/* The tables [people.channels.<name>] of a config file. For settings.c and the
 * documents only; everybody else asks settings_channels(). */
#ifndef SETTINGS_CHANNELS_H
#define SETTINGS_CHANNELS_H

#include <stddef.h>

#include "settings-table.h"

struct channel_list;
struct json_object;

#define SETTINGS_CHANNELS_MAX 32

/* The keys of one; path is the key alone. What has no default has neither
 * fallback nor derived. */
extern const struct setting settings_channel_keys[];
extern const size_t settings_channel_key_count;

/* Called for everything that is wrong in it; text names the key. */
typedef void channels_problem_fn(void *arg, unsigned line, const char *text);

/* Append the channels that are complete and valid. home (may be NULL) replaces
 * "~" in a path. */
void settings_channels_read(struct json_object *table, const char *home,
    struct channel_list *list, channels_problem_fn *problem, void *arg);

#endif
