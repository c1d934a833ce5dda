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

struct buf;
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
	char *kind; /* of the program: agent-kind.h */
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

/* --- suggestions -------------------------------------------------------- */

/*
 * Which agents fit a task, the best first, and why. Only a suggestion: the
 * caller who asks for an agent names it.
 *
 * A tag that was asked for counts most, then a tag whose words stand in the
 * task, then each word of the task in the description. Of agents that fit
 * equally well, the cheaper one comes first, then the order of the names.
 */

struct agent_hint {
	const char *task; /* what is to be done; may be NULL */
	const char *const *tags; /* that were asked for; may be NULL */
	enum cost_tier max_cost; /* agents above it, and those whose cost is
				  * not known, are left out; COST_TIER_UNKNOWN =
				  * any cost */
};

struct agent_suggestion {
	const struct agent_card *card; /* borrowed */
	int score; /* 0: nothing speaks for it */
	char **tags; /* that match, by their order in the alphabet */
	char **reasons; /* sentences for people */
};

struct agent_suggestions {
	struct agent_suggestion *list;
	size_t count;
};

/* The cards must live as long as the suggestions. */
void agent_suggest(const struct agent_cards *cards,
    const struct agent_hint *hint, struct agent_suggestions *ret_suggestions);
void agent_suggestions_release(struct agent_suggestions *suggestions);
#define cleanup_agent_suggestions \
	__attribute__((cleanup(agent_suggestions_release)))

/* Append a line for each card, in the order of the file; nothing if there are
 * none. A part of the prompt of agents that may start others. */
void fleet_table_add(const struct settings *settings, struct buf *out);

#endif
