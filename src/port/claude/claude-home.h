/* SPDX-License-Identifier: ISC */

/*
 * The user's own ~/.claude.json, the only place where some dialogs can be
 * answered in advance. It is read by `llmc doctor` and before a launch, and
 * changed only by `llmc trust`, because the user asked for it.
 */
#ifndef CLAUDE_HOME_H
#define CLAUDE_HOME_H

#include <stdbool.h>

struct err;

/* Reasons why a dialog would open that nobody would answer. */
#define CLAUDE_NOT_ONBOARDED 1u /* first start: theme and login */
#define CLAUDE_NOT_TRUSTED   2u /* this repository is not trusted */
#define CLAUDE_KEY_UNKNOWN   4u /* ANTHROPIC_API_KEY is not approved */
#define CLAUDE_FILE_BROKEN   8u /* not JSON: err says where */

/* Which of them apply to the file below home. api_key may be NULL. */
unsigned claude_home_check(
    const char *home, const char *root, const char *api_key, struct err *err);

/* A sentence for one bit: what is wrong. */
const char *claude_home_words(unsigned bit);

/* Trust the repository and approve the key, atomically, and keep everything
 * else in the file; `onboarding` also skips the first-start screens. A broken
 * file is -EINVAL and is left alone. */
int claude_home_trust(const char *home, const char *root, const char *api_key,
    bool onboarding, struct err *err);

#endif
