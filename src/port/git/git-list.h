/* SPDX-License-Identifier: ISC */

/* A list of texts that belong to somebody else: paths and messages that point
 * into what git printed. */
#ifndef GIT_LIST_H
#define GIT_LIST_H

struct git_list {
	const char **v; /* NULL as long as it is empty */
	size_t count, cap;
};

void git_list_add(struct git_list *list, const char *text);
/* Remove every text equal to this one. */
void git_list_remove(struct git_list *list, const char *text);
void git_list_release(struct git_list *list);
#define cleanup_git_list __attribute__((cleanup(git_list_release)))

#endif
