/* SPDX-License-Identifier: ISC */

/* Settings from texts, for tests. */
#ifndef SETTINGS_WORLD_H
#define SETTINGS_WORLD_H

#include "unit.h"
#include "settings.h"

extern const struct settings_facts settings_world_facts;

/* Parsed settings and problems, released with the test. */
struct settings_world {
	struct settings *settings;
	struct settings_problems problems;
};
struct settings_world settings_world_parse(const char *text);
void settings_world_cleanup(struct settings_world *world);
#define cleanup_settings_world __attribute__((cleanup(settings_world_cleanup)))

/* Keep the text until the process ends. */
const char *settings_world_keep(char *text);
/* A config text with one key of the table set; kept. */
const char *
settings_world_one_key(const struct setting *row, const char *value);
/* The value, as JSON; kept. */
const char *
settings_world_value(const struct settings *settings, const char *path);

#endif
