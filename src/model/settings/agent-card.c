/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "agent-card.h"
#include "schema.h"
#include "settings.h"
#include "word.h"

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

static char **
tags_of(const char *const *items)
{
	char **tags = NULL;

	for (; *items != NULL; items++) {
		cleanup_free char *tag = plain(*items);

		if (strlen(tag) >= AGENT_TERM_MIN &&
		    !strv_has(strv_const(tags), tag))
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

struct agent_card *
agent_card_new(const struct settings *settings, const char *name)
{
	struct agent_card *card;
	const char *const *tools, *const *names;

	settings_agents(settings, &names);
	if (!strv_has(names, name))
		return NULL;
	card = xcalloc(1, sizeof *card);
	card->name = xstrdup(name);
	card->description = xstrdup(value_of(settings, name, "description"));
	card->kind = xstrdup(value_of(settings, name, "agent"));
	card->model = xstrdup(value_of(settings, name, "model"));
	card->thinking = xstrdup(value_of(settings, name, "thinking"));
	card->notes = xstrdup(value_of(settings, name, "notes"));
	card->latency = plain(value_of(settings, name, "typical_latency"));
	card->tags = tags_of(list_of(settings, name, "tags"));
	card->cost = cost_of(value_of(settings, name, "cost_tier"));
	tools = list_of(settings, name, "tools");
	card->tools = strv_copy(tools);
	card->all_tools = strv_has(strv_const(card->tools), "*");
	if (card->all_tools)
		strv_clear(&card->tools);
	return card;
}

void
agent_card_cleanup(struct agent_card **card)
{
	schema_free(&agent_card_schema, *card);
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
	FIELD("agent", kind, .help = "null: that of the worker"),
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
	shown.kind = unless_empty(card->kind);
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
		schema_free(&agent_card_schema, cards->list[i]);
	free(cards->list);
	*cards = (struct agent_cards){ 0 };
}

#define ASKED_SCORE 10 /* a tag that was asked for */
#define TAG_SCORE   5 /* a tag that is in the task */
#define WORD_SCORE  1

/* They are in every description. */
static const char *const filler[] = { "and", "are", "but", "can", "for", "from",
	"has", "have", "into", "its", "not", "that", "the", "this", "use",
	"was", "will", "with", "you", "your", NULL };

static bool
in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* The words in lower case, with one blank before and after each. */
static void
add_words(struct buf *out, const char *text)
{
	buf_addc(out, ' ');
	while (*text != '\0') {
		while (*text != '\0' && !in_word(*text))
			text++;
		if (*text == '\0')
			break;
		for (; in_word(*text); text++)
			buf_addc(out,
			    *text >= 'A' && *text <= 'Z' ?
				(char)(*text - 'A' + 'a') :
				*text);
		buf_addc(out, ' ');
	}
}

static bool
was_asked(const struct agent_hint *hint, const char *words)
{
	for (const char *const *t = hint->tags; t != NULL && *t != NULL; t++) {
		cleanup_buf struct buf asked = BUF_INIT;

		add_words(&asked, *t);
		if (strcmp(asked.data, words) == 0)
			return true;
	}
	return false;
}

/* Every word of the description that is in the task too, once. */
static void
match_words(struct agent_suggestion *s, const char *task, struct buf *matched)
{
	cleanup_buf struct buf words = BUF_INIT, seen = BUF_INIT;
	char *rest, *word;

	add_words(&words, s->card->description);
	buf_addc(&seen, ' ');
	rest = words.data + 1;
	while ((word = strsep(&rest, " ")) != NULL) {
		cleanup_free char *whole = xasprintf(" %s ", word);
		unsigned ignored;

		if (strlen(word) < AGENT_TERM_MIN ||
		    word_find(filler, word, &ignored) ||
		    strstr(task, whole) == NULL ||
		    strstr(seen.data, whole) != NULL)
			continue;
		buf_addf(&seen, "%s ", word);
		buf_addf(matched, "%s%s", matched->len > 0 ? ", " : "", word);
		s->score += WORD_SCORE;
	}
}

static void
add_reasons(struct agent_suggestion *s, const char *words)
{
	cleanup_buf struct buf tags = BUF_INIT;

	for (char **t = s->tags; t != NULL && *t != NULL; t++)
		buf_addf(&tags, "%s%s", tags.len > 0 ? ", " : "", *t);
	if (tags.len > 0)
		strv_take(&s->reasons, xasprintf("tags: %s", tags.data));
	if (words[0] != '\0')
		strv_take(&s->reasons, xasprintf("description: %s", words));
	if (s->score == 0)
		strv_add(&s->reasons, "nothing in its card matches");
	if (s->card->cost != COST_TIER_UNKNOWN)
		strv_take(&s->reasons,
		    xasprintf("cost: %s", cost_tier_words[s->card->cost]));
}

static int
by_fit(const void *a, const void *b)
{
	const struct agent_suggestion *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->card->cost != y->card->cost)
		return x->card->cost < y->card->cost ? -1 : 1;
	return strcmp(x->card->name, y->card->name);
}

void
agent_suggest(const struct agent_cards *cards, const struct agent_hint *hint,
    struct agent_suggestions *ret_suggestions)
{
	cleanup_buf struct buf task = BUF_INIT;
	struct agent_suggestions all = { 0 };

	add_words(&task, hint->task != NULL ? hint->task : "");
	all.list = xcalloc(cards->count + 1, sizeof *all.list);
	for (size_t i = 0; i < cards->count; i++) {
		struct agent_suggestion *s = &all.list[all.count];
		cleanup_buf struct buf words = BUF_INIT;

		if (hint->max_cost != COST_TIER_UNKNOWN &&
		    cards->list[i]->cost > hint->max_cost)
			continue;
		s->card = cards->list[i];
		for (char **t = s->card->tags; t != NULL && *t != NULL; t++) {
			cleanup_buf struct buf name = BUF_INIT;
			bool asked;

			add_words(&name, *t);
			asked = was_asked(hint, name.data);
			if (!asked &&
			    (name.len == 1 ||
				strstr(task.data, name.data) == NULL))
				continue;
			s->score += asked ? ASKED_SCORE : TAG_SCORE;
			strv_add(&s->tags, *t);
		}
		if (s->tags != NULL)
			qsort(s->tags, strv_count(s->tags), sizeof(char *),
			    strv_order);
		match_words(s, task.data, &words);
		add_reasons(s, words.len > 0 ? words.data : "");
		all.count++;
	}
	qsort(all.list, all.count, sizeof *all.list, by_fit);
	*ret_suggestions = all;
}

void
agent_suggestions_release(struct agent_suggestions *suggestions)
{
	for (size_t i = 0; i < suggestions->count; i++) {
		strv_free(suggestions->list[i].tags);
		strv_free(suggestions->list[i].reasons);
	}
	free(suggestions->list);
	*suggestions = (struct agent_suggestions){ 0 };
}

#define TEXT_MAX 200 /* bytes of a description or a note */

/* In one line, and not too long. */
static void
add_text(struct buf *out, const char *before, const char *text)
{
	size_t len = strlen(text), cut = text_cut(text, len, TEXT_MAX);

	if (len == 0)
		return;
	buf_adds(out, before);
	for (size_t i = 0; i < cut; i++)
		buf_addc(out, (unsigned char)text[i] < ' ' ? ' ' : text[i]);
	if (cut < len)
		buf_adds(out, "...");
}

static void
add_list(struct buf *out, const char *before, char *const *list)
{
	for (; list != NULL && *list != NULL; list++) {
		buf_adds(out, before);
		add_text(out, "", *list);
		before = ", ";
	}
}

static void
add_card(struct buf *out, const struct agent_card *card)
{
	buf_addf(out, "- %s", card->name);
	add_text(out, ": ", card->description);
	add_list(out, "; tags: ", card->tags);
	if (card->cost != COST_TIER_UNKNOWN)
		buf_addf(out, "; cost: %s", cost_tier_words[card->cost]);
	add_text(out, "; takes about ", card->latency);
	add_text(out, "; model: ", card->model);
	if (!card->all_tools)
		add_list(out, "; tools: ", card->tools);
	add_text(out, "; ", card->notes);
	buf_addc(out, '\n');
}

void
fleet_table_add(const struct settings *settings, struct buf *out)
{
	cleanup_agent_cards struct agent_cards cards = { 0 };

	agent_cards_load(settings, &cards);
	if (cards.count == 0)
		return;
	buf_adds(out,
	    "Agents that you can spawn with agent_spawn (its member agent is "
	    "the name; a role of the same name means the same):\n");
	for (size_t i = 0; i < cards.count; i++)
		add_card(out, cards.list[i]);
}
