/* SPDX-License-Identifier: ISC */

#include <stdbool.h>
#include <string.h>

#include "mail-subject.h"
#include "mem.h"

static const struct {
	const char *word;
	bool two; /* parts behind it */
} forms[SUBJECT_COUNT] = {
	[SUBJECT_OTHER] = { NULL, false },
	[SUBJECT_SPAWN_REQUEST] = { "spawn.request", true },
	[SUBJECT_SPAWN_ACCEPTED] = { "spawn.accepted", true },
	[SUBJECT_SPAWN_DENIED] = { "spawn.denied", true },
	[SUBJECT_AGENT_COMPLETED] = { "agent.completed", false },
	[SUBJECT_RESULT_READY] = { "result.ready", false },
	[SUBJECT_PLAN_CREATED] = { "plan.created", false },
	[SUBJECT_PLAN_UPDATED] = { "plan.updated", false },
	[SUBJECT_PLAN_REVIEW_NEEDED] = { "plan.review_needed", false },
};

char *
mail_subject_make(enum mail_subject kind, const char *first, const char *second)
{
	if (forms[kind].two)
		return xasprintf("%s:%s:%s", forms[kind].word, first, second);
	return xasprintf("%s:%s", forms[kind].word, first);
}

enum mail_subject
mail_subject_parse(const char *subject, char **ret_first, char **ret_second)
{
	size_t word = strcspn(subject, ":");
	const char *first, *second;

	if (subject[word] == '\0')
		return SUBJECT_OTHER;
	first = subject + word + 1;
	second = strchr(first, ':');
	for (unsigned kind = SUBJECT_OTHER + 1; kind < SUBJECT_COUNT; kind++) {
		size_t len;

		if (strlen(forms[kind].word) != word ||
		    strncmp(subject, forms[kind].word, word) != 0)
			continue;
		if (forms[kind].two &&
		    (second == NULL || second[1] == '\0' ||
			strchr(second + 1, ':') != NULL))
			return SUBJECT_OTHER;
		len =
		    forms[kind].two ? (size_t)(second - first) : strlen(first);
		if (len == 0)
			return SUBJECT_OTHER;
		if (ret_first != NULL)
			*ret_first = xstrndup(first, len);
		if (ret_second != NULL)
			*ret_second =
			    forms[kind].two ? xstrdup(second + 1) : NULL;
		return (enum mail_subject)kind;
	}
	return SUBJECT_OTHER;
}
