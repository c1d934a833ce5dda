/* SPDX-License-Identifier: ISC */

/*
 * Claude Code, the kind `claude` of agent-kind.h: its argument vectors, the
 * files it is given, and the user's own files. Starts nothing.
 */
#ifndef CLAUDE_H
#define CLAUDE_H

struct agent_launch;
struct agent_print;
struct err;
struct json_object;

/* For strv_free(). */
char **claude_print_argv(const struct agent_print *print);

/* Reasons why a dialog would open and wait for a person. */
#define CLAUDE_NOT_ONBOARDED 1u /* first start: theme and login */
#define CLAUDE_NOT_TRUSTED   2u /* this repository is not trusted */
#define CLAUDE_KEY_UNKNOWN   4u /* ANTHROPIC_API_KEY: use it? */
#define CLAUDE_FILE_BROKEN   8u /* not JSON: err says where */

/* Where Claude Code keeps it, by HOME and CLAUDE_CONFIG_DIR. The caller frees;
 * NULL if neither is set. */
char *claude_home_file(void);

/* Which of them the file has. api_key may be NULL. */
unsigned claude_home_check(
    const char *file, const char *root, const char *api_key, struct err *err);

/* Trust the repository and approve the key, unless the user has rejected it,
 * atomically, and keep everything else in the file; `onboarding` also skips the
 * first-start screens. A broken file is -EINVAL and is left alone. */
int claude_home_trust(const char *file, const char *root, const char *api_key,
    bool onboarding, struct err *err);

/* What its kind prepares (agent-kind.h), for its tests: the agent's argument
 * vector, and what its environment has besides ours ("K=V"); for strv_free().
 * Extra: IS_SANDBOX=1 for root with bypassPermissions, if defaults.allow_root.
 */
char **claude_argv(const struct agent_launch *launch);
char **claude_env(const struct agent_launch *launch);

/* Likewise the file for --settings: hooks, and what keeps dialogs from opening.
 */
struct json_object *claude_settings(const struct agent_launch *launch);

#endif
