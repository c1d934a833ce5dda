/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "channel.h"
#include "mem.h"

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
};

unsigned
channel_default_levels(enum channel_type type)
{
	static const unsigned levels[CHANNEL_TYPE_COUNT] = {
		[CHANNEL_DESKTOP] =
		    BIT(WARNING) | BIT(CRITICAL) | BIT(EMERGENCY),
		[CHANNEL_WEBHOOK] = BIT(EMERGENCY),
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
