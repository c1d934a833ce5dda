/* SPDX-License-Identifier: ISC */

/*
 * The card of an agent, [agents.<name>]: what it is good at, what it costs and
 * how it is started. Pure. Strings are never NULL; "" = not set.
 *
 * What a spawn asks for comes before the card, the card before the settings of
 * the worker, and those before [defaults].
 */
#ifndef AGENT_CARD_H
#define AGENT_CARD_H

struct json_object;
struct schema;
struct settings;

/* From cheap to expensive. */
enum cost_tier {
	COST_FREE,
	COST_CHEAP,
	COST_MEDIUM,
	COST_EXPENSIVE,
	COST_TIER_UNKNOWN, /* after all others */
	COST_TIER_COUNT
};

/* Of the known ones. */
extern const char *const cost_tier_words[COST_TIER_UNKNOWN + 1];

/* Shorter tags and words of a description are ignored. */
#define AGENT_TERM_MIN 3

struct agent_card {
	char *name;
	char *description, *model, *thinking, *notes;
	char *latency; /* lower case, without blanks around it */
	char **tags; /* lower case, each once; may be NULL */
	enum cost_tier cost;
	bool all_tools;
	char **tools; /* NULL if all_tools */
};

/* The card with this name; NULL if there is none. The caller frees it. */
struct agent_card *
agent_card_new(const struct settings *settings, const char *name);
void agent_card_free(struct agent_card *card);
void agent_card_cleanup(struct agent_card **card);
#define cleanup_agent_card __attribute__((cleanup(agent_card_cleanup)))

/* The card for an agent that is asked for: the one it names, or the one that
 * has the name of its role if it names none. agent and role may be NULL. NULL
 * if there is none; the caller frees it. */
struct agent_card *agent_card_for(
    const struct settings *settings, const char *agent, const char *role);

struct json_object *agent_card_to_json(const struct agent_card *card);

/* All of them, in the order of the file. */
struct agent_cards {
	struct agent_card **list;
	size_t count;
};

void agent_cards_load(
    const struct settings *settings, struct agent_cards *ret_cards);
void agent_cards_release(struct agent_cards *cards);
#define cleanup_agent_cards __attribute__((cleanup(agent_cards_release)))

extern const struct schema agent_card_schema;

#endif
