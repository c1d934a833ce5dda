/* SPDX-License-Identifier: ISC */

/*
 * The branch that work lands on, chosen once: by the setting
 * repo.default_branch, which `llmc init` writes. Where it is not set, the first
 * daemon writes it, so that no later one follows what is checked out then.
 */
#ifndef LANDING_BRANCH_H
#define LANDING_BRANCH_H

struct core;

/* Choose core->branch for the life of this daemon; the settings have been
 * read. What is wrong with the branch is told, and is no error: workers can
 * work without it. */
void landing_branch_fix(struct core *core);

/* Is it gone since? The words for it; the caller frees. NULL = it is there, or
 * that is not known. Does not wait for git. */
char *landing_branch_lost(const struct core *core);

#endif
