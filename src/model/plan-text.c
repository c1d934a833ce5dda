/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-text.h"

bool
plan_blank(const char *s)
{
	return s == NULL || s[strspn(s, " \t\r\n")] == '\0';
}

void
plan_cut(char **to, const char *text, size_t max)
{
	char *copy = text == NULL ?
	    NULL :
	    xstrndup(text, text_cut(text, strlen(text), max));

	free(*to);
	*to = copy;
}

bool
plan_has(char *const *list, const char *s)
{
	for (; list != NULL && *list != NULL; list++)
		if (strcmp(*list, s) == 0)
			return true;
	return false;
}

void
plan_set_list(char ***to, char *const *from)
{
	strv_clear(to);
	if (strv_count(from) > 0)
		*to = strv_copy(strv_const(from));
}
