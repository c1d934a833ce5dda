/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-card.h"
#include "launch-choice.h"
#include "plan-text.h"
#include "settings.h"
#include "task-run.h"
#include "tool-scope.h"
#include "word.h"

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

const char *const thinking_words[] = { "off", "minimal", "low", "medium",
	"high", "xhigh", "max", NULL };

/* The word that Claude Code knows for it; NULL = none, then it decides
 * itself. */
static const char *
effort(const char *thinking)
{
	unsigned word;

	if (!is_set(thinking) || !word_find(thinking_words, thinking, &word))
		return NULL;
	return strcmp(thinking, "minimal") == 0 ? "low" : thinking_words[word];
}

/* From the one that permits most. */
static size_t
strictness(const char *mode)
{
	static const char *const modes[] = { "bypassPermissions", "auto",
		"acceptEdits", "default", "dontAsk", "plan" };
	size_t i = 0;

	while (i < nitems(modes) && strcmp(modes[i], mode) != 0)
		i++;
	return i;
}

const char *
launch_choice_mode(const struct launch_choice *choice, const char *setting)
{
	return choice->permission_mode != NULL &&
		strictness(choice->permission_mode) > strictness(setting) ?
	    choice->permission_mode :
	    setting;
}

/* As those above it are. */
static void
confine(const struct settings *settings, const char *worker,
    struct launch_choice *choice)
{
	cleanup_buf struct buf mode = BUF_INIT, tools = BUF_INIT;
	const char *const *denied;
	const char *text;

	settings_worker_path(settings, worker, "permission_mode", &mode);
	settings_worker_path(settings, worker, "disallowed_tools", &tools);
	text = settings_string(settings, mode.data);
	if (launch_choice_mode(choice, text) == text)
		xstrset(&choice->permission_mode, text);
	settings_list(settings, tools.data, &denied);
	for (; *denied != NULL; denied++)
		if (!plan_has(choice->deny, *denied))
			strv_add(&choice->deny, *denied);
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
	for (char **w = run->confined_by; w != NULL && *w != NULL; w++)
		confine(settings, *w, ret_choice);
	if (tool_scope_of_run(card, run, &scope, NULL) < 0) {
		ret_choice->tools = xstrdup("");
		ret_choice->limited = true;
		return;
	}
	ret_choice->limited =
	    run->scope_paths != NULL || tool_scope_is_limited(&scope);
	ret_choice->tools = tool_scope_tools(&scope);
	for (char **t = scope.deny; t != NULL && *t != NULL; t++)
		strv_add(&ret_choice->deny, *t);
}

void
launch_choice_release(struct launch_choice *choice)
{
	free(choice->model);
	free(choice->thinking);
	free(choice->tools);
	strv_free(choice->deny);
	free(choice->permission_mode);
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
	add(choice->permission_mode, out);
	add(choice->limited ? "limited" : NULL, out);
	for (char **t = choice->deny; t != NULL && *t != NULL; t++)
		add(*t, out);
}
