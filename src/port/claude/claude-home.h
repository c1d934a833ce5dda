/* SPDX-License-Identifier: ISC */

/*
 * The user's own ~/.claude.json, the only place where some dialogs can be
 * answered in advance. It is read before a start and before each launch, and
 * changed only by `llmc trust`, because the user asked for it.
 */
#ifndef CLAUDE_HOME_H
#define CLAUDE_HOME_H

#include <stdbool.h>

struct err;

/* Reasons why a dialog would open that nobody would answer. */
#define CLAUDE_NOT_ONBOARDED 1u /* first start: theme and login */
#define CLAUDE_NOT_TRUSTED   2u /* this repository is not trusted */
#define CLAUDE_KEY_UNKNOWN   4u /* ANTHROPIC_API_KEY: use it? */
#define CLAUDE_FILE_BROKEN   8u /* not JSON: err says where */

/* Where Claude Code keeps it, by HOME and CLAUDE_CONFIG_DIR. The caller frees;
 * NULL if neither is set. */
char *claude_home_file(void);

/* The folder of all transcripts: `projects` in dir (CLAUDE_CONFIG_DIR of the
 * agent; NULL = the user's own). The caller frees; NULL if it is not known, or
 * not absolute. */
char *claude_home_projects(const char *dir);

/* Which of them the file has. api_key may be NULL. */
unsigned claude_home_check(
    const char *file, const char *root, const char *api_key, struct err *err);

/* Trust the repository and approve the key, unless the user has rejected it,
 * atomically, and keep everything else in the file; `onboarding` also skips the
 * first-start screens. A broken file is -EINVAL and is left alone. */
int claude_home_trust(const char *file, const char *root, const char *api_key,
    bool onboarding, struct err *err);

#endif
