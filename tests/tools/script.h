/* SPDX-License-Identifier: ISC */

/*
 * What a test agent does, written in the prompt: one step per line, starting
 * with "fake: " (at the start of the line, or after a blank). fake-claude runs
 * the steps itself; stub-api answers the real program so that it does the same.
 *
 *   answer JSON          the structured answer that a schema asks for (only the
 *                        real program; the fake one runs nothing)
 *   agent TEXT           a subagent of another model gets this prompt (only the
 *                        real program; the fake one runs nothing)
 *   commit FILE TEXT     write TEXT into FILE and commit it
 *   commits N            N commits, one file each
 *   write FILE TEXT      write TEXT into FILE and leave it uncommitted
 *   file PATH            the tool Write creates the file (only the real
 * program; the fake one runs nothing) run COMMAND          any shell command
 *   resolve [ours]       finish a rebase with the worker's side of conflicts
 *   crash                the agent is killed
 *   say TEXT             before a tool: a message; as the last step: the answer
 *   ask TEXT             the turn ends with this question
 *   tool NAME [JSON]     call the tool of that name of llmc's MCP server
 *                        (mcp__llmc__NAME) with this input, wait for the answer
 *   also NAME [JSON]     the same, at once with the step "tool" that follows
 *   keep PATH            a shell command writes the last answer of a tool, as
 *                        the model got it, into a file
 *   sleep MS             busy for a while, can be interrupted
 *   limit TEXT           the API returns 429, for hours
 *   fail ERROR TEXT      the API fails: a status, or the error word for hooks
 *   background [MS]      leaves a shell running for MS (1000) after the turn
 *   permission           asks for permission, whatever the mode
 *   hang [hard]          never answers; hard: ignores SIGTERM too
 *   exit N               exits without a message (fake-claude only)
 *   compact              the context is compacted (fake-claude only)
 *   ignore-enter N       the next N Enters after a paste are lost (same)
 *
 * Without a step the answer is "done".
 *
 * In a step, {{KEY}} is replaced by the value that KEY has in the last answer
 * of a tool, or else in the last text from outside that has one: both
 * "KEY":"value" and KEY: value are found. {{mail id}}: the value of id after
 * the last "mail". What is not found is replaced by nothing.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "base.h"

enum script_verb {
	SCRIPT_AGENT,
	SCRIPT_ALSO,
	SCRIPT_ANSWER,
	SCRIPT_ASK,
	SCRIPT_BACKGROUND,
	SCRIPT_COMMIT,
	SCRIPT_COMMITS,
	SCRIPT_COMPACT,
	SCRIPT_CRASH,
	SCRIPT_EXIT,
	SCRIPT_FAIL,
	SCRIPT_FILE,
	SCRIPT_HANG,
	SCRIPT_IGNORE_ENTER,
	SCRIPT_KEEP,
	SCRIPT_LIMIT,
	SCRIPT_PERMISSION,
	SCRIPT_RESOLVE,
	SCRIPT_RUN,
	SCRIPT_SAY,
	SCRIPT_SLEEP,
	SCRIPT_TOOL,
	SCRIPT_WRITE,
	SCRIPT_VERB_COUNT
};

struct script_step {
	enum script_verb verb;
	char *rest; /* of the line, owned */
};

/* Steps that are still to be run. All zero is empty. */
struct script {
	struct script_step *steps;
	size_t count;
	size_t next;
	char *answer; /* of the last tool, owned; NULL = none */
	char *heard; /* the last text from outside, likewise */
};

void script_release(struct script *script);

/* What {{KEY}} is looked for in; the steps that come later see it. */
void script_answer(struct script *script, const char *text);

/* Append the steps found in a text. */
void script_add(struct script *script, const char *text, size_t len);

enum script_kind {
	SCRIPT_DO_REPLY, /* say `say` and end the turn */
	SCRIPT_DO_TOOL, /* say `say` if it is set, run `command` */
	SCRIPT_DO_FAIL, /* HTTP `status` with `text` */
	SCRIPT_DO_COMPACT,
	SCRIPT_DO_EXIT, /* with `number` */
	SCRIPT_DO_HANG,
	SCRIPT_DO_IGNORE_ENTER, /* `number` of them */
};

/* A use of a tool of llmc's. */
struct script_use {
	char *name; /* without mcp__llmc__; a capital: of the agent */
	char *input; /* JSON */
};

/* One answer of the model. */
struct script_action {
	enum script_kind kind;
	struct buf say;
	struct buf command;
	struct buf text; /* of a failure, "" = the default */
	int64_t delay_ms; /* before anything else */
	int64_t number;
	int status;
	bool agent; /* the tool is a subagent, `text` its prompt */
	bool file; /* the tool is Write, `text` the path */
	bool structured; /* the tool is StructuredOutput, `text` its input */
	bool background; /* the tool is left running */
	bool permission; /* ask for permission first */
	bool hard; /* a hang that ignores SIGTERM */
	struct script_use *uses; /* instead of `command` */
	size_t use_count;
};

#define SCRIPT_ACTION_INIT                                             \
	{                                                              \
		.say = BUF_INIT, .command = BUF_INIT, .text = BUF_INIT \
	}

/* Remove the steps of the next answer from the script. */
void script_next(struct script *script, struct script_action *action);
void script_action_release(struct script_action *action);

/* The names of API errors. */
struct script_error {
	int status;
	const char *word; /* in the StopFailure hook */
	const char *type; /* in the API's answer */
	const char *text; /* the usual message */
};
const struct script_error *script_error(int status); /* never NULL */

#endif
