/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-list.h"

void
git_list_add(struct git_list *list, const char *text)
{
	if (list->count == list->cap) {
		list->cap = list->cap == 0 ? 16 : list->cap * 2;
		list->v = xreallocarray(list->v, list->cap, sizeof *list->v);
	}
	list->v[list->count++] = text;
}

void
git_list_remove(struct git_list *list, const char *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->v[i], text) != 0)
			list->v[kept++] = list->v[i];
	list->count = kept;
}

void
git_list_release(struct git_list *list)
{
	free(list->v);
	memset(list, 0, sizeof *list);
}
