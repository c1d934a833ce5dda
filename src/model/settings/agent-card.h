/* SPDX-License-Identifier: ISC */

/*
 * The card of an agent, [agents.<name>], which tools a run of it has, and how
 * it is started. Pure. Strings of a card are never NULL; "" = not set.
 *
 * What a spawn asks for comes before the card, the card before the settings of
 * the worker, and those before [defaults].
 */
#ifndef AGENT_CARD_H
#define AGENT_CARD_H

#include "settings-value.h"

struct buf;
struct err;
struct json_object;
struct schema;
struct settings;
struct task_launch;

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

/* --- tools ------------------------------------------------------------ */

/*
 * Which tools an agent has: (those of its card, cut down to those that its
 * spawn allows) without those that its spawn denies. llmc's tools for
 * reports stay unless they are denied; with a card's list also those for mail,
 * questions and plan_review_needed. A spawn can only take tools away. Pure.
 *
 * A tool is named exactly. Two names mean more than one tool: "Bash" stands for
 * every form of it, "Bash(...)", and "mcp__github" for every tool of that
 * server. Forms can be denied (Claude Code itself checks them), not allowed: a
 * name does not say what runs inside a tool.
 */

#define TOOL_REPORT_PROGRESS   "mcp__llmc__report_progress"
#define TOOL_REPORT_COMPLETION "mcp__llmc__report_completion"

/* The built-in tools of Claude Code that no worker gets, whatever its settings
 * say: what asks or tells a person, who is not there; what leaves the task or
 * its worktree; what begins work that llmc does not watch, or sends it
 * elsewhere. */
extern const char *const claude_denied_tools[];
/* The others, which it gets unless they are disallowed. */
extern const char *const claude_tools[];

struct tool_scope {
	bool all; /* every tool that is not denied */
	char **allow; /* otherwise these; may be NULL = none */
	char **deny; /* may be NULL */
};

void tool_scope_release(struct tool_scope *scope);
#define cleanup_tool_scope __attribute__((cleanup(tool_scope_release)))

/* card NULL = every tool; allow NULL = not cut down (an empty list is: only the
 * report tools are left); deny may be NULL. -EINVAL with the name of a tool
 * that is allowed but not the agent's, or of what is no name of a tool;
 * ret_scope is empty then. */
int tool_scope_make(const struct agent_card *card, const char *const *allow,
    const char *const *deny, struct tool_scope *ret_scope, struct err *err);

/* The same for a task, whose launch has what it was spawned with, and may be
 * NULL. A tool that its card has lost since then is lost for it, too; a card
 * that has gone changes nothing. */
int tool_scope_of_run(const struct agent_card *card,
    const struct task_launch *launch, struct tool_scope *ret_scope,
    struct err *err);

/* May the agent use the tool that has this name in a hook? */
bool tool_scope_permits(const struct tool_scope *scope, const char *tool);

/* Does it need a tool that it may not use? What is no known tool, such as the
 * name of a program, is not asked for unless it is denied. */
bool tool_scope_lacks(const struct tool_scope *scope, const char *tool);

/* Is there anything to enforce? */
bool tool_scope_is_limited(const struct tool_scope *scope);

/* The value of --tools, which removes every other built-in tool from Claude
 * Code ("" = all of them); NULL if there is none to give. The caller frees it.
 * Tools of MCP servers are not removed by it: the hook refuses those, and llmc
 * mcp does not offer its own. deny is for --disallowedTools, which removes
 * tools of both kinds. */
char *tool_scope_tools(const struct tool_scope *scope);

/* {"all":false,"allow":[...],"deny":[...]}, as the policy file has it. From
 * JSON: -EINVAL with the path of what is wrong. */
struct json_object *tool_scope_to_json(const struct tool_scope *scope);
int tool_scope_from_json(struct json_object *json, const char *at,
    struct tool_scope *ret_scope, struct err *err);

/* --- how the agent of a run is started ---------------------------------- */

/* Where that is not a matter of its worker's settings alone: what its spawn
 * asked for, then the card of its agent, then [workers.<name>], then
 * [defaults]. */

/* Everything is owned; NULL = as the settings of the worker say. */
struct launch_choice {
	char *agent; /* its kind: agent-kind.h */
	char *model;
	char *thinking; /* one of thinking_words but "minimal"; NULL also for a
			 * word that is none of these */
	char *tools; /* the value of --tools: no other built-in ones */
	char **deny; /* tools that it does not have besides */
	char *permission_mode; /* it has none that permits more */
	bool read_only; /* its worktree, in a box */
	bool limited; /* in its tools or files: what it can write must not
		       * become its settings */
};

/* run: NULL = a task without one, or no task. A card whose tools have become
 * fewer than the spawn allowed leaves it with none. What the workers above it
 * (confined_by) may not do, it may not do either. */
void launch_choice_make(const struct settings *settings,
    const struct task_launch *launch, struct launch_choice *ret_choice);
/* It is launched on another host: what limits it by the settings of this one
 * becomes a part of it. */
void
launch_travels(const struct settings *settings, struct task_launch *launch);
void launch_choice_release(struct launch_choice *choice);
#define cleanup_launch_choice __attribute__((cleanup(launch_choice_release)))

/* The permission mode of a worker with this setting; borrowed. */
const char *
launch_choice_mode(const struct launch_choice *choice, const char *setting);

/* Append it, to compare it with another one. */
void launch_choice_print(const struct launch_choice *choice, struct buf *out);

#endif
