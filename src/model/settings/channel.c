/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "channel.h"
#include "notice.h"
#include "settings-value.h"
#include "settings.h"
#include "toml-edit.h"
#include "toml.h"

#define PREFIX "people.channels."

enum key {
	KEY_TYPE,
	KEY_ENABLED,
	KEY_LEVELS,
	KEY_URL,
	KEY_FORMAT,
	KEY_REPO,
	KEY_COMMAND,
	KEY_TOKEN_FILE,
	KEY_TOKEN_ENV,
	KEY_COUNT
};

const struct setting settings_channel_keys[] = {
	[KEY_TYPE] = { .path = "type",
	    .type = SETTING_CHOICE,
	    .choices = channel_type_words,
	    .help = "What the channel is: a notice on your desktop, JSON to a "
		    "URL, an issue in a Gitea or GitHub repository, or a shell "
		    "command. Every channel needs it." },
	[KEY_ENABLED] = { .path = "enabled",
	    .type = SETTING_BOOL,
	    .fallback = "true",
	    .help = "Whether the channel is used." },
	[KEY_LEVELS] = { .path = "levels",
	    .type = SETTING_LIST,
	    .choices = escalation_level_words,
	    .derived = "warning, critical and emergency for desktop and "
		       "command, critical and emergency for issues and a "
		       "webhook",
	    .help = "What is sent. Observations and warnings that only the "
		    "session gets are sent too if you set it." },
	[KEY_URL] = { .path = "url",
	    .type = SETTING_STRING,
	    .form = FORM_URL,
	    .derived = "none; for github, its public API",
	    .help = "Where a webhook sends to; the server of a Gitea "
		    "repository; the API of a GitHub server of your own." },
	[KEY_FORMAT] = { .path = "format",
	    .type = SETTING_CHOICE,
	    .choices = channel_format_words,
	    .fallback = "\"json\"",
	    .help = "What a webhook sends: all that is known, or a text for "
		    "Slack or Discord, or for the topic of ntfy at the end of "
		    "the url; with web.origin, its notice opens the ask." },
	[KEY_REPO] = { .path = "repo",
	    .type = SETTING_STRING,
	    .form = FORM_REPO,
	    .derived = "none",
	    .help = "The repository of the issues." },
	[KEY_COMMAND] = { .path = "command",
	    .type = SETTING_STRING,
	    .flags = SETTING_RUNS,
	    .derived = "none",
	    .help = "Shell command that gets the event as JSON on standard "
		    "input." },
	[KEY_TOKEN_FILE] = { .path = "token_file",
	    .type = SETTING_PATH,
	    .derived = "none",
	    .help = "File with the token. It is not used if others can read or "
		    "change it (chmod 600). A relative path starts at the top "
		    "of the repository." },
	[KEY_TOKEN_ENV] = { .path = "token_env",
	    .type = SETTING_STRING,
	    .form = FORM_NAME,
	    .derived = "none",
	    .help = "Environment variable with the token, if there is no "
		    "token_file." },
};

const size_t settings_channel_key_count = KEY_COUNT;

static struct value *
find_key(struct value *values, const char *key)
{
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (strcmp(settings_channel_keys[i].path, key) == 0)
			return &values[i];
	return NULL;
}

static const char *
nearest(const char *key)
{
	const char *names[KEY_COUNT + 1] = { NULL };

	for (size_t i = 0; i < KEY_COUNT; i++)
		names[i] = settings_channel_keys[i].path;
	return text_nearest(key, names);
}

/* Every key is known and valid. */
static bool
read_keys(const struct settings_reader *r, struct json_object *table,
    const char *path, struct value *values)
{
	bool good = true;

	json_object_object_foreach(table, key, json)
	{
		cleanup_buf struct buf at = BUF_INIT, words = BUF_INIT;
		struct value *value = find_key(values, key);
		const char *near = nearest(key);

		buf_addf(&at, "%s.", path);
		toml_edit_quote_key(&at, key);
		if (value != NULL) {
			good &=
			    settings_read_value(r, json, at.data, "", value);
			continue;
		}
		buf_adds(&words, "no such setting");
		if (near != NULL)
			buf_addf(&words, "; did you mean \"%s\"?", near);
		settings_complain(r, json, at.data, words.data);
		good = false;
	}
	return good;
}

static char *
text_of(const struct value *value)
{
	return xstrdup(value->string != NULL ? value->string : "");
}

static void
fill(struct channel *channel, const char *name, const struct value *values)
{
	unsigned word = 0;

	*channel = (struct channel){ .name = xstrdup(name),
		.url = text_of(&values[KEY_URL]),
		.repo = text_of(&values[KEY_REPO]),
		.command = text_of(&values[KEY_COMMAND]),
		.token_file = text_of(&values[KEY_TOKEN_FILE]),
		.token_env = text_of(&values[KEY_TOKEN_ENV]),
		.enabled = values[KEY_ENABLED].line == 0 ||
		    values[KEY_ENABLED].boolean };
	if (values[KEY_TYPE].string != NULL &&
	    word_find(channel_type_words, values[KEY_TYPE].string, &word))
		channel->type = (enum channel_type)word;
	if (values[KEY_FORMAT].string != NULL &&
	    word_find(channel_format_words, values[KEY_FORMAT].string, &word))
		channel->format = (enum channel_format)word;
	channel->levels_given = values[KEY_LEVELS].line > 0;
	if (!channel->levels_given)
		channel->levels = channel_default_levels(channel->type);
	for (char **item = values[KEY_LEVELS].items;
	     item != NULL && *item != NULL; item++)
		if (word_find(escalation_level_words, *item, &word))
			channel->levels |= 1u << word;
}

/* What the type needs and has not got; NULL = nothing. */
static const char *
missing(const struct channel *c)
{
	bool issues = c->type == CHANNEL_GITEA || c->type == CHANNEL_GITHUB;

	if (c->url[0] == '\0' &&
	    (c->type == CHANNEL_WEBHOOK || c->type == CHANNEL_GITEA))
		return "url is missing";
	if (issues && c->repo[0] == '\0')
		return "repo is missing";
	if (issues && c->token_file[0] == '\0' && c->token_env[0] == '\0')
		return "token_file or token_env is missing";
	if (c->type == CHANNEL_COMMAND && c->command[0] == '\0')
		return "command is missing";
	return NULL;
}

static void
read_channel(const struct settings_reader *r, struct json_object *table,
    const char *path, const char *name, struct channel_list *list)
{
	struct value values[KEY_COUNT] = { 0 };
	struct channel channel;
	bool good;

	for (size_t i = 0; i < KEY_COUNT; i++)
		values[i].row = &settings_channel_keys[i];
	good = read_keys(r, table, path, values);
	fill(&channel, name, values);
	if (good && values[KEY_TYPE].string == NULL) {
		settings_complain(r, table, path, "type is missing");
		good = false;
	} else if (good && missing(&channel) != NULL) {
		settings_complain(r, table, path, missing(&channel));
		good = false;
	}
	for (size_t i = 0; i < KEY_COUNT; i++)
		value_clear(&values[i]);
	if (!good) {
		channel_release(&channel);
		return;
	}
	list->rows =
	    xreallocarray(list->rows, list->count + 1, sizeof *list->rows);
	list->rows[list->count++] = channel;
}

void
settings_channels_read(struct json_object *table, const char *home,
    struct channel_list *list, settings_problem_fn *problem, void *arg)
{
	const struct settings_reader r = {
		.home = home, .problem = problem, .arg = arg
	};

	json_object_object_foreach(table, name, json)
	{
		cleanup_buf struct buf path = BUF_INIT;

		buf_adds(&path, PREFIX);
		toml_edit_quote_key(&path, name);
		if (!text_is_name(name))
			settings_complain(&r, json, path.data,
			    "not a valid name for a channel; use up to 32 "
			    "lower case letters, digits, - and _");
		else if (!json_object_is_type(json, json_type_object))
			settings_complain(&r, json, path.data,
			    "expected a table that describes the channel");
		else if (list->count == SETTINGS_CHANNELS_MAX)
			settings_complain(
			    &r, json, path.data, "there are too many channels");
		else
			read_channel(&r, json, path.data, name, list);
	}
}

#define BIT(level) (1u << ESCALATION_##level)

const char *const channel_type_words[CHANNEL_TYPE_COUNT + 1] = {
	[CHANNEL_DESKTOP] = "desktop",
	[CHANNEL_WEBHOOK] = "webhook",
	[CHANNEL_GITEA] = "gitea",
	[CHANNEL_GITHUB] = "github",
	[CHANNEL_COMMAND] = "command",
};

const char *const channel_format_words[CHANNEL_FORMAT_COUNT + 1] = {
	[CHANNEL_JSON] = "json",
	[CHANNEL_SLACK] = "slack",
	[CHANNEL_DISCORD] = "discord",
	[CHANNEL_NTFY] = "ntfy",
};

unsigned
channel_default_levels(enum channel_type type)
{
	static const unsigned levels[CHANNEL_TYPE_COUNT] = {
		[CHANNEL_DESKTOP] =
		    BIT(WARNING) | BIT(CRITICAL) | BIT(EMERGENCY),
		[CHANNEL_WEBHOOK] = BIT(CRITICAL) | BIT(EMERGENCY),
		[CHANNEL_GITEA] = BIT(CRITICAL) | BIT(EMERGENCY),
		[CHANNEL_GITHUB] = BIT(CRITICAL) | BIT(EMERGENCY),
		[CHANNEL_COMMAND] =
		    BIT(WARNING) | BIT(CRITICAL) | BIT(EMERGENCY),
	};

	return levels[type];
}

int64_t
channel_rest_ms(int64_t paid_ms, int64_t now_ms, int64_t *ret_paid_ms)
{
	const int64_t most = (int64_t)CHANNEL_BURST * CHANNEL_EACH_MS;

	if (paid_ms < now_ms || paid_ms - now_ms > most)
		paid_ms = now_ms;
	if (paid_ms - now_ms > most - CHANNEL_EACH_MS)
		return paid_ms - now_ms - (most - CHANNEL_EACH_MS);
	*ret_paid_ms = paid_ms + CHANNEL_EACH_MS;
	return 0;
}

bool
channel_takes(const struct channel *channel, const struct escalation *what)
{
	return channel->enabled &&
	    (channel->levels & (1u << what->level)) != 0 &&
	    (channel->levels_given || !escalation_is_quiet(what->intervention));
}

bool
channel_is_private(const struct channel *channel)
{
	static const char *const here[] = { "localhost", "127.0.0.1", "[::1]" };
	static const char plain[] = "http://";
	const char *host = channel->url + strlen(plain), *at;
	size_t len;

	if (strncasecmp(channel->url, plain, strlen(plain)) != 0)
		return true;
	len = strcspn(host, "/?#");
	at = memrchr(host, '@', len); /* after a user's name */
	if (at != NULL) {
		len -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	for (size_t i = 0; i < nitems(here); i++) {
		size_t n = strlen(here[i]);

		if (len >= n && strncasecmp(host, here[i], n) == 0 &&
		    (len == n || host[n] == ':'))
			return true;
	}
	return false;
}

const struct channel *
channel_find(const struct channel_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->rows[i].name, name) == 0)
			return &list->rows[i];
	return NULL;
}

void
channel_release(struct channel *channel)
{
	free(channel->name);
	free(channel->url);
	free(channel->repo);
	free(channel->command);
	free(channel->token_file);
	free(channel->token_env);
	*channel = (struct channel){ 0 };
}

void
channel_list_release(struct channel_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		channel_release(&list->rows[i]);
	free(list->rows);
	*list = (struct channel_list){ 0 };
}

void
channel_copy(const struct channel *from, struct channel *to)
{
	*to = *from;
	to->name = xstrdup(from->name);
	to->url = xstrdup(from->url);
	to->repo = xstrdup(from->repo);
	to->command = xstrdup(from->command);
	to->token_file = xstrdup(from->token_file);
	to->token_env = xstrdup(from->token_env);
}

void
channel_list_copy(const struct channel_list *list, struct channel_list *copy)
{
	copy->count = list->count;
	copy->rows = xcalloc(list->count, sizeof *copy->rows);
	for (size_t i = 0; i < list->count; i++)
		channel_copy(&list->rows[i], &copy->rows[i]);
}
