/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "agent-card.h"
#include "schema.h"
#include "settings.h"

#define BLANKS " \t\r\n"

const char *const cost_tier_words[] = { "free", "cheap", "medium", "expensive",
	NULL };

static const char *
value_of(const struct settings *settings, const char *name, const char *key)
{
	cleanup_free char *path = xasprintf("agents.%s.%s", name, key);

	return settings_string(settings, path);
}

static const char *const *
list_of(const struct settings *settings, const char *name, const char *key)
{
	cleanup_free char *path = xasprintf("agents.%s.%s", name, key);
	const char *const *items;

	settings_list(settings, path, &items);
	return items;
}

/* Lower case, without blanks around it; the caller frees it. */
static char *
plain(const char *text)
{
	size_t len;
	char *copy;

	text += strspn(text, BLANKS);
	len = strlen(text);
	while (len > 0 && strchr(BLANKS, text[len - 1]) != NULL)
		len--;
	copy = xstrndup(text, len);
	for (char *c = copy; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return copy;
}

static bool
has(char *const *list, const char *word)
{
	for (; list != NULL && *list != NULL; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

static char **
tags_of(const char *const *items)
{
	char **tags = NULL;

	for (; *items != NULL; items++) {
		cleanup_free char *tag = plain(*items);

		if (strlen(tag) >= AGENT_TERM_MIN && !has(tags, tag))
			strv_add(&tags, tag);
	}
	return tags;
}

static enum cost_tier
cost_of(const char *word)
{
	for (unsigned i = 0; i < COST_TIER_UNKNOWN; i++)
		if (strcasecmp(word, cost_tier_words[i]) == 0)
			return (enum cost_tier)i;
	return COST_TIER_UNKNOWN;
}

static bool
is_known(const struct settings *settings, const char *name)
{
	const char *const *names;

	settings_agents(settings, &names);
	for (; *names != NULL; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

struct agent_card *
agent_card_new(const struct settings *settings, const char *name)
{
	struct agent_card *card;
	const char *const *tools;

	if (!is_known(settings, name))
		return NULL;
	card = xcalloc(1, sizeof *card);
	card->name = xstrdup(name);
	card->description = xstrdup(value_of(settings, name, "description"));
	card->model = xstrdup(value_of(settings, name, "model"));
	card->thinking = xstrdup(value_of(settings, name, "thinking"));
	card->notes = xstrdup(value_of(settings, name, "notes"));
	card->latency = plain(value_of(settings, name, "typical_latency"));
	card->tags = tags_of(list_of(settings, name, "tags"));
	card->cost = cost_of(value_of(settings, name, "cost_tier"));
	tools = list_of(settings, name, "tools");
	card->tools = strv_copy(tools);
	card->all_tools = has(card->tools, "*");
	if (card->all_tools)
		strv_clear(&card->tools);
	return card;
}

void
agent_card_free(struct agent_card *card)
{
	if (card == NULL)
		return;
	free(card->name);
	free(card->description);
	free(card->model);
	free(card->thinking);
	free(card->notes);
	free(card->latency);
	strv_free(card->tags);
	strv_free(card->tools);
	free(card);
}

void
agent_card_cleanup(struct agent_card **card)
{
	agent_card_free(*card);
}

struct agent_card *
agent_card_for(
    const struct settings *settings, const char *agent, const char *role)
{
	if (agent != NULL && agent[0] != '\0')
		return agent_card_new(settings, agent);
	return role != NULL ? agent_card_new(settings, role) : NULL;
}

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct agent_card, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("name", name, .flags = SCHEMA_REQUIRED),
	FIELD("description", description),
	FIELD("model", model, .help = "null: that of the worker"),
	FIELD("thinking", thinking),
	FIELD("tags", tags),
	FIELD("cost_tier", cost, .words = cost_tier_words,
	    .flags = SCHEMA_NULLABLE),
	FIELD("typical_latency", latency),
	FIELD("notes", notes),
	FIELD("tools", tools, .flags = SCHEMA_NULLABLE,
	    .help = "null: every tool"),
};

const struct schema agent_card_schema = SCHEMA_OF(struct agent_card, fields);

static char *
unless_empty(char *text)
{
	return text[0] != '\0' ? text : NULL;
}

struct json_object *
agent_card_to_json(const struct agent_card *card)
{
	struct agent_card shown = *card;
	struct json_object *json;

	shown.description = unless_empty(card->description);
	shown.model = unless_empty(card->model);
	shown.thinking = unless_empty(card->thinking);
	shown.latency = unless_empty(card->latency);
	shown.notes = unless_empty(card->notes);
	json = schema_json(&agent_card_schema, &shown);
	if (card->all_tools)
		json_set(json, "tools", NULL);
	return json;
}

void
agent_cards_load(const struct settings *settings, struct agent_cards *ret_cards)
{
	const char *const *names;
	size_t count = settings_agents(settings, &names);

	ret_cards->count = count;
	ret_cards->list = xcalloc(count + 1, sizeof(struct agent_card *));
	for (size_t i = 0; i < count; i++)
		ret_cards->list[i] = agent_card_new(settings, names[i]);
}

void
agent_cards_release(struct agent_cards *cards)
{
	for (size_t i = 0; i < cards->count; i++)
		agent_card_free(cards->list[i]);
	free(cards->list);
	*cards = (struct agent_cards){ 0 };
}
