/* SPDX-License-Identifier: ISC */

/*
 * The configuration: one table lists every key, and all code that deals with
 * keys (parsing, checks, `llmc config`, the example file, the manual) reads
 * that table. Pure: takes text and facts, returns values and problems.
 *
 * Keys of [defaults] may also appear in [workers.<name>] and then apply to that
 * worker only. [agents.<name>] has keys of its own, the same for every agent
 * (settings-table.h).
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "settings-name.h"

struct buf;
struct channel_list;
struct err;
struct json_object;
struct oversight_config;
struct price_list;
struct settings;

/* Facts that are not in the file. All strings are copied. */
struct settings_facts {
	const char *root; /* of the repository */
	const char *home; /* NULL or empty = unknown: "~" is kept */
	const char *default_branch; /* NULL = unknown */
};

/* A problem in a file. */
/* What the warning about a key that does nothing any more ends with, before the
 * key. */

struct settings_problem {
	bool fatal; /* an error; otherwise a warning */
	unsigned line;
	char *text; /* names the key and what is allowed */
};

struct settings_problems {
	struct settings_problem *list;
	size_t count;
	bool fatal; /* at least one error */
};

void settings_problems_release(struct settings_problems *problems);

/* Parse a config file. Always returns settings: a key with an error keeps its
 * default, so that `llmc doctor` can continue. The caller frees them and
 * releases the problems. */
struct settings *settings_parse(const char *text, size_t len,
    const struct settings_facts *facts, struct settings_problems *ret_problems);
void settings_free(struct settings *settings);

/* Effective values. An unknown key, or one of another type, is fatal. Strings
 * are valid as long as the settings. */
const char *settings_string(const struct settings *settings, const char *path);
bool settings_bool(const struct settings *settings, const char *path);
/* Of a key that may be "none" (SETTING_NONE), which settings_string() gives as
 * "": has a person chosen that, or something else? */
bool settings_decided(const struct settings *settings, const char *path);
int64_t settings_int(const struct settings *settings, const char *path);
int64_t settings_duration(const struct settings *settings, const char *path);
int64_t settings_amount(const struct settings *settings, const char *path);
size_t settings_list(const struct settings *settings, const char *path,
    const char *const **ret_items); /* NULL terminated */

/* Append the path of a worker's effective value of a [defaults] key ("model"):
 * "workers.<name>.model" if that is set, else "defaults.model". */
void settings_worker_path(const struct settings *settings, const char *worker,
    const char *key, struct buf *out);

/* Override a value of the file (as a person types it), for options on the
 * command line. On -EINVAL it is unchanged, and the message names the key and
 * what is allowed. Only for keys of the table; their line becomes 0. */
int settings_override(struct settings *settings, const char *path,
    const char *typed, struct err *err);

/* Names of the workers that have a section, in the order of the file. */
size_t settings_workers(
    const struct settings *settings, const char *const **ret_names);

/* Names of the agents that have a section, in the order of the file; what is in
 * it: agent-card.h. */
size_t
settings_agents(const struct settings *settings, const char *const **ret_names);

/* The rows of [prices], which come before the defaults (account.h). */
const struct price_list *settings_prices(const struct settings *settings);

/* The channels of [people.channels], in the order of the file. */
const struct channel_list *settings_channels(const struct settings *settings);

/* [oversight] as values. */
void settings_oversight(
    const struct settings *settings, struct oversight_config *ret_config);

/* One effective value as JSON (a duration as text), owned by the caller, and
 * its origin: a line of the file, or 0 for a default. False if there is no such
 * key. */
bool settings_value(const struct settings *settings, const char *path,
    struct json_object **ret_value, unsigned *ret_line);

#endif
