/* SPDX-License-Identifier: ISC */

/*
 * Paths that never land, and those that only a person may change. Private to
 * the git-*.c files; git-freeze.h says how they are written.
 */
#ifndef GIT_RULES_H
#define GIT_RULES_H

#include <stddef.h>

#include "git-list.h"

struct git_rules {
	char **forbidden; /* without a slash at the end */
	char **pathspecs; /* of both, for git; NULL = there are no rules */
};

/* The lists are NULL terminated or NULL. */
void git_rules_init(struct git_rules *rules, const char *const *forbidden,
    const char *const *protected_paths);
void git_rules_release(struct git_rules *rules);

/* Sort the paths that git printed for the pathspecs, NUL terminated each: the
 * lists point into text. */
void git_rules_sort(const struct git_rules *rules, const char *text, size_t len,
    struct git_list *forbidden, struct git_list *protected_paths);

#endif
