/* SPDX-License-Identifier: ISC */

/*
 * Claude Code in print mode: one question on its standard input, one JSON
 * object as the answer (planner-result.h reads it). It can read the files of
 * the folder it runs in, and do nothing else; no conversation is kept.
 */
#ifndef CLAUDE_PRINT_H
#define CLAUDE_PRINT_H

#include <stdint.h>

struct json_object;
struct settings;

struct claude_print {
	const struct settings *settings; /* agent_command and isolate */
	const char *dir; /* where it runs: its CLAUDE.md is read; settings,
			  * hooks and servers in it are not */
	const char *model; /* "" = the agent's own default */
	int64_t max_cost; /* millionths of a dollar; 0 = any */
	struct json_object *schema; /* of the answer */
};

/* For strv_free(). */
char **claude_print_argv(const struct claude_print *print);

#endif
