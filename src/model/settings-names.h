/* SPDX-License-Identifier: ISC */

/* The names of settings: which row of the tables a path means, and what to say
 * of a path that means none. Declares what only settings.c needs; the rest is
 * in settings.h. Pure. */
#ifndef SETTINGS_NAMES_H
#define SETTINGS_NAMES_H

/* Tables whose keys are not known in advance. */
#define SETTINGS_PRICES   "prices"
#define SETTINGS_CHANNELS "people.channels"

/* Tables that have a table with the same keys for every name. */
enum settings_named {
	SETTINGS_NAMED_WORKERS,
	SETTINGS_NAMED_AGENTS,
	SETTINGS_NAMED_COUNT
};

/* Is path one of them ("workers")? Its index, else -1. */
int settings_named_table(const char *path);

#endif
