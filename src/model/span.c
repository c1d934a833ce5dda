/* SPDX-License-Identifier: ISC */

#include <ctype.h>
#include <string.h>

#include "span.h"

bool
span_is_alnum(char c)
{
	return isalnum((unsigned char)c) != 0;
}

bool
span_begins(struct span text, const char *word)
{
	size_t len = strlen(word);

	return text.len >= len && memcmp(text.s, word, len) == 0;
}

struct span
span_after(struct span text, size_t len)
{
	return (struct span){ text.s + len, text.len - len };
}

size_t
span_run(struct span text, const char *others)
{
	size_t len = 0;

	while (len < text.len && text.s[len] != '\0' &&
	    (span_is_alnum(text.s[len]) || strchr(others, text.s[len]) != NULL))
		len++;
	return len;
}

size_t
span_find(struct span text, const char *word)
{
	/* memmem must not be called with NULL, even for length 0. */
	const char *at = text.s == NULL ?
	    NULL :
	    memmem(text.s, text.len, word, strlen(word));

	return at == NULL ? text.len : (size_t)(at - text.s);
}

size_t
span_line(struct span text)
{
	return span_find(text, "\n");
}

size_t
span_quote(struct span text)
{
	size_t len = 0;

	while (len < text.len && text.s[len] == '\\')
		len++;
	return len < text.len && (text.s[len] == '"' || text.s[len] == '\'') ?
	    len + 1 :
	    0;
}

size_t
span_blank(struct span text)
{
	size_t len = 0;

	while (len < text.len && (text.s[len] == ' ' || text.s[len] == '\t'))
		len++;
	return len;
}
