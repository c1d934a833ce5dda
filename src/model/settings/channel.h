/* SPDX-License-Identifier: ISC */

/* A way to reach people, as [people.channels.<name>] describes it. Tokens are
 * no part of it: only where they are found. */
#ifndef CHANNEL_H
#define CHANNEL_H

#include "notice.h"
#include "settings-table.h"

struct json_object;

enum channel_type {
	CHANNEL_DESKTOP, /* notify-send */
	CHANNEL_WEBHOOK, /* JSON to a URL */
	CHANNEL_GITEA, /* an issue for each kind of failure */
	CHANNEL_GITHUB,
	CHANNEL_COMMAND, /* JSON on the standard input of a shell command */
	CHANNEL_TYPE_COUNT
};

enum channel_format {
	CHANNEL_JSON,
	CHANNEL_SLACK,
	CHANNEL_DISCORD,
	CHANNEL_NTFY,
	CHANNEL_FORMAT_COUNT
};

/* NULL terminated. */
extern const char *const channel_type_words[CHANNEL_TYPE_COUNT + 1];
extern const char *const channel_format_words[CHANNEL_FORMAT_COUNT + 1];

/* Strings are owned; "" = not set. */
struct channel {
	char *name;
	enum channel_type type;
	enum channel_format format;
	char *url, *repo, *command;
	char *token_file, *token_env;
	unsigned levels; /* a bit for each */
	bool levels_given; /* the user has chosen them */
	bool enabled;
};

struct channel_list {
	struct channel *rows;
	size_t count;
};

#define CHANNEL_BURST   10 /* messages of one channel at once ... */
#define CHANNEL_EACH_MS (6 * 1000) /* ... and one more in this time */

/* How long a channel must rest before its next message: 0 = it may be sent, and
 * *ret_paid_ms is the next paid_ms, the time until which its messages use up
 * its share. One that is further away than it can be comes from a clock that
 * was turned back. */
int64_t channel_rest_ms(int64_t paid_ms, int64_t now_ms, int64_t *ret_paid_ms);

/* What a channel of this type gets if nothing else is said. */
unsigned channel_default_levels(enum channel_type type);

/* Does the channel get it? Of the interventions that are only for the session,
 * those whose level the user has chosen. */
bool
channel_takes(const struct channel *channel, const struct escalation *what);

/* Can only its server read what is sent there: https, or this machine? */
bool channel_is_private(const struct channel *channel);

const struct channel *
channel_find(const struct channel_list *list, const char *name);

void channel_copy(const struct channel *channel, struct channel *copy);
void channel_release(struct channel *channel);
void channel_list_release(struct channel_list *list);
void
channel_list_copy(const struct channel_list *list, struct channel_list *copy);

/* The tables [people.channels.<name>] of a config file. For settings.c and the
 * documents only; everybody else asks settings_channels(). */

#define SETTINGS_CHANNELS_MAX 32

/* The keys of one; path is the key alone. What has no default has neither
 * fallback nor derived. */
extern const struct setting settings_channel_keys[];
extern const size_t settings_channel_key_count;

/* Append the channels that are complete and valid. home (may be NULL) replaces
 * "~" in a path. */
void settings_channels_read(struct json_object *table, const char *home,
    struct channel_list *list, settings_problem_fn *problem, void *arg);

#endif
