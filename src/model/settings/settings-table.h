/* SPDX-License-Identifier: ISC */

/* Every configuration key: one row each. */
#ifndef SETTINGS_TABLE_H
#define SETTINGS_TABLE_H

#include "settings-value.h"

enum setting_type {
	SETTING_STRING,
	SETTING_PATH, /* "~" and "~/..." mean the home directory */
	SETTING_CHOICE,
	SETTING_BOOL,
	SETTING_INT,
	SETTING_DURATION, /* "500ms", "30s", "5m", "1h" or plain seconds */
	SETTING_LIST, /* of strings */
	SETTING_AMOUNT, /* a number with up to six decimals, in millionths */
	SETTING_TYPE_COUNT
};

#define SETTING_RUNS    2u /* its value is run as a program or command */
#define SETTING_NONE    4u /* "none" is empty, on purpose */
#define SETTING_RESTART 1u /* a change needs a restart of the daemon */

struct setting {
	const char *path; /* "repo.default_branch" */
	enum setting_type type;
	const char *fallback; /* the default, as TOML; NULL: derived */
	const char *derived; /* how it is derived, for people */
	int64_t min, max; /* INT, DURATION (ms), AMOUNT; both 0 = none */
	const char *const *choices; /* CHOICE, and LIST if it has them; NULL
				     * terminated */
	enum setting_form form; /* of a STRING, of each item of a LIST */
	unsigned flags;
	const char *help; /* one sentence */
};

extern const struct setting settings_table[];
extern const size_t settings_table_count;

#endif
