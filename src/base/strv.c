/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <json-c/json.h>

void
strv_free(char **list)
{
	for (char **s = list; s != NULL && *s != NULL; s++)
		free(*s);
	free(list);
}

void
strv_cleanup(char ***list)
{
	strv_free(*list);
}

void
strv_clear(char ***list)
{
	strv_free(take_ptr(list));
}

size_t
strv_count(char *const *list)
{
	size_t count = 0;

	while (list != NULL && list[count] != NULL)
		count++;
	return count;
}

void
strv_take(char ***list, char *owned)
{
	size_t count = strv_count(*list);

	*list = xreallocarray(*list, count + 2, sizeof **list);
	(*list)[count] = owned;
	(*list)[count + 1] = NULL;
}

void
strv_add(char ***list, const char *s)
{
	strv_take(list, xstrdup(s));
}

void
strv_add_all(char ***list, const char *const *more)
{
	size_t count = strv_count(*list), added = 0;

	while (more != NULL && more[added] != NULL)
		added++;
	*list = xreallocarray(*list, count + added + 1, sizeof **list);
	for (size_t i = 0; i < added; i++)
		(*list)[count + i] = xstrdup(more[i]);
	(*list)[count + added] = NULL;
}

void
strv_remove(char **list, const char *s)
{
	char **to = list;

	if (list == NULL)
		return;
	for (char **from = list; *from != NULL; from++) {
		if (strcmp(*from, s) == 0)
			free(*from);
		else
			*to++ = *from;
	}
	*to = NULL;
}

bool
strv_has(const char *const *list, const char *s)
{
	for (; list != NULL && *list != NULL; list++)
		if (strcmp(*list, s) == 0)
			return true;
	return false;
}

int
strv_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *const *
strv_const(char *const *list)
{
	static const char *const empty[] = { NULL };

	return list == NULL ? empty : (const char *const *)list;
}

char **
strv_copy(const char *const *list)
{
	char **copy = NULL;

	strv_add_all(&copy, list);
	return copy;
}

char **
strv_from_json(struct json_object *array)
{
	size_t count = array == NULL ? 0 : json_object_array_length(array);
	char **list = xcalloc(count + 1, sizeof *list);

	for (size_t i = 0; i < count; i++)
		list[i] = xstrdup(json_object_get_string(
		    json_object_array_get_idx(array, i)));
	return list;
}

struct json_object *
strv_to_json(char *const *list)
{
	struct json_object *array = json_object_new_array();

	for (; list != NULL && *list != NULL; list++)
		json_object_array_add(array, json_object_new_string(*list));
	return array;
}
