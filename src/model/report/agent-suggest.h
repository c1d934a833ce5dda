/* SPDX-License-Identifier: ISC */

/*
 * Which agents fit a task, the best first, and why. Only a suggestion: whoever
 * asks for an agent names it. Pure.
 *
 * A tag that was asked for counts most, then a tag whose words stand in the
 * task, then each word of the task in the description. Of agents that fit
 * equally well, the cheaper one comes first, then the order of the names.
 */
#ifndef AGENT_SUGGEST_H
#define AGENT_SUGGEST_H

#include "agent-card.h"

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

#endif
