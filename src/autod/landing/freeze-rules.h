/* SPDX-License-Identifier: ISC */

/*
 * The rules for work that is to land, the same for accept, auto mode and pick:
 * which paths never land, which ones only a person may change, and the words
 * for what is refused.
 */
#ifndef FREEZE_RULES_H
#define FREEZE_RULES_H

#include <limits.h>

#include "git-freeze.h"

struct buf;
struct core;
struct err;
struct worker;

struct freeze_rules {
	struct git_freeze what;
	const char *forbidden[3]; /* what.forbidden */
	char worktrees[PATH_MAX];
};

/* Only the paths. */
void freeze_rules_paths(struct freeze_rules *rules, const struct core *core);
/* expected: the commit that HEAD must be, NULL = any. Everything is borrowed;
 * rules must stay where it is. */
void freeze_rules_init(struct freeze_rules *rules, const struct core *core,
    const struct worker *worker, const char *expected);

/* Say why it is refused (enum git_freeze_refusal, not 0). -ESTALE if HEAD is
 * not the expected commit, otherwise -EPERM: the worker must change something.
 */
int freeze_rules_refuse(const struct core *core, const struct worker *worker,
    const char *expected, const struct git_frozen *frozen, unsigned refused,
    struct err *err);

/* Append ": a, b and 3 more". */
void freeze_rules_add_paths(struct buf *out, const struct git_list *paths);

#endif
