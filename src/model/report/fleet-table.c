/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-card.h"
#include "fleet-table.h"

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
