/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent-card.h"
#include "buf.h"
#include "launch-choice.h"
#include "mem.h"
#include "strv.h"
#include "task-run.h"
#include "tool-scope.h"

static bool
is_set(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* What the spawn says, or else the card; NULL = neither. */
static char *
choose(const char *spawn, const char *card)
{
	if (is_set(spawn))
		return xstrdup(spawn);
	return is_set(card) ? xstrdup(card) : NULL;
}

/* The word that Claude Code knows for it; NULL = none, then it decides itself.
 * Agents of other makers have other words. */
static const char *
effort(const char *thinking)
{
	static const struct {
		const char *word, *level;
	} table[] = {
		{ "off", "off" },
		{ "none", "off" },
		{ "minimal", "low" },
		{ "low", "low" },
		{ "medium", "medium" },
		{ "high", "high" },
		{ "xhigh", "xhigh" },
		{ "max", "max" },
	};

	for (size_t i = 0; is_set(thinking) && i < nitems(table); i++)
		if (strcasecmp(table[i].word, thinking) == 0)
			return table[i].level;
	return NULL;
}

void
launch_choice_make(const struct settings *settings, const struct task_run *run,
    struct launch_choice *ret_choice)
{
	cleanup_agent_card struct agent_card *card = NULL;
	cleanup_tool_scope struct tool_scope scope = { 0 };

	*ret_choice = (struct launch_choice){ 0 };
	if (run == NULL)
		return;
	card = agent_card_for(settings, run->agent, run->role);
	ret_choice->model =
	    choose(run->model, card != NULL ? card->model : NULL);
	ret_choice->thinking = choose(effort(run->thinking),
	    effort(card != NULL ? card->thinking : NULL));
	if (tool_scope_of_run(card, run, &scope, NULL) < 0) {
		ret_choice->tools = xstrdup("");
		return;
	}
	ret_choice->tools = tool_scope_tools(&scope);
	if (scope.deny != NULL && scope.deny[0] != NULL)
		ret_choice->deny = take_ptr(&scope.deny);
}

void
launch_choice_release(struct launch_choice *choice)
{
	free(choice->model);
	free(choice->thinking);
	free(choice->tools);
	strv_free(choice->deny);
	*choice = (struct launch_choice){ 0 };
}

static void
add(const char *text, struct buf *out)
{
	buf_addf(
	    out, "%s%s\n", text != NULL ? "=" : "", text != NULL ? text : "");
}

void
launch_choice_print(const struct launch_choice *choice, struct buf *out)
{
	add(choice->model, out);
	add(choice->thinking, out);
	add(choice->tools, out);
	for (char **t = choice->deny; t != NULL && *t != NULL; t++)
		add(*t, out);
}
