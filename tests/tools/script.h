/* SPDX-License-Identifier: ISC */

/*
 * What a test agent does, written into the prompt: one step a line, "fake: "
 * in front (at the start of the line, or behind a blank). fake-claude plays
 * the steps itself, stub-api answers the real program so that it does the same.
 *
 *   commit FILE TEXT     write TEXT into FILE and commit it
 *   commits N            N commits, one file each
 *   write FILE TEXT      leave FILE behind, uncommitted
 *   run COMMAND          any shell command
 *   resolve [ours]       end a rebase, taking the worker's side of conflicts
 *   crash                the agent is killed
 *   say TEXT             before a tool: words ahead of it; last: the answer
 *   ask TEXT             the turn ends with this question
 *   sleep MS             busy for a while, can be interrupted
 *   limit TEXT           the API says 429, for hours
 *   fail ERROR TEXT      the API fails: a status, or the word a hook gets
 *   background [MS]      leaves a shell running for MS (1000) behind the turn
 *   permission           asks for permission, whatever the mode
 *   hang [hard]          never answers; hard: deaf to SIGTERM too
 *   exit N               ends without a word (fake-claude only)
 *   compact              the context is compacted (fake-claude only)
 *   ignore-enter N       the next N Enters behind a paste are lost (likewise)
 *
 * Without a step the answer is "done".
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

enum script_verb {
	SCRIPT_ASK,
	SCRIPT_BACKGROUND,
	SCRIPT_COMMIT,
	SCRIPT_COMMITS,
	SCRIPT_COMPACT,
	SCRIPT_CRASH,
	SCRIPT_EXIT,
	SCRIPT_FAIL,
	SCRIPT_HANG,
	SCRIPT_IGNORE_ENTER,
	SCRIPT_LIMIT,
	SCRIPT_PERMISSION,
	SCRIPT_RESOLVE,
	SCRIPT_RUN,
	SCRIPT_SAY,
	SCRIPT_SLEEP,
	SCRIPT_WRITE,
	SCRIPT_VERB_COUNT
};

struct script_step {
	enum script_verb verb;
	char *rest; /* of the line, owned */
};

/* Steps that are still to be played. Zeroed is empty. */
struct script {
	struct script_step *steps;
	size_t count;
	size_t next;
};

void script_release(struct script *script);

/* Append the steps found in a text. */
void script_add(struct script *script, const char *text, size_t len);

enum script_kind {
	SCRIPT_DO_REPLY, /* say `say` and end the turn */
	SCRIPT_DO_TOOL, /* say `say` if there is any, run `command` */
	SCRIPT_DO_FAIL, /* HTTP `status` with `text` */
	SCRIPT_DO_COMPACT,
	SCRIPT_DO_EXIT, /* with `number` */
	SCRIPT_DO_HANG,
	SCRIPT_DO_IGNORE_ENTER, /* `number` of them */
};

/* One answer of the model. */
struct script_action {
	enum script_kind kind;
	struct buf say;
	struct buf command;
	struct buf text; /* of a failure, "" = the usual */
	int64_t delay_ms; /* before anything */
	int64_t number;
	int status;
	bool background; /* the tool is left running */
	bool permission; /* the tool is asked about */
	bool hard; /* a hang beyond SIGTERM */
};

#define SCRIPT_ACTION_INIT                                             \
	{                                                              \
		.say = BUF_INIT, .command = BUF_INIT, .text = BUF_INIT \
	}

/* Take the steps of the next answer off the script. */
void script_next(struct script *script, struct script_action *action);
void script_action_release(struct script_action *action);

/* What the API's errors are called. */
struct script_error {
	int status;
	const char *word; /* in the StopFailure hook */
	const char *type; /* in the API's answer */
	const char *text; /* the usual words */
};
const struct script_error *script_error(int status); /* never NULL */

#endif
