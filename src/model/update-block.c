/* SPDX-License-Identifier: ISC */

#include <string.h>
#include <strings.h>

#include "update-block.h"

#define FENCE_LEAST 3
#define INDENT_MOST 3

/* A line that is a fence: how long it is, and what follows. */
struct fence {
	char mark;
	size_t count;
	const char *info;
	size_t info_len;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool
fence_read(const char *line, size_t len, struct fence *ret)
{
	size_t i = 0, start;

	while (i < len && i < INDENT_MOST && line[i] == ' ')
		i++;
	start = i;
	if (i == len || (line[i] != '`' && line[i] != '~'))
		return false;
	ret->mark = line[i];
	while (i < len && line[i] == ret->mark)
		i++;
	ret->count = i - start;
	while (i < len && is_blank(line[i]))
		i++;
	while (len > i && is_blank(line[len - 1]))
		len--;
	ret->info = line + i;
	ret->info_len = len - i;
	/* "```x```" is code inside a line. */
	return ret->count >= FENCE_LEAST &&
	    (ret->mark != '`' || memchr(ret->info, '`', ret->info_len) == NULL);
}

static bool
is_marked(const struct fence *fence, const char *language)
{
	size_t len = strlen(language);

	return fence->info_len >= len &&
	    strncasecmp(fence->info, language, len) == 0 &&
	    (fence->info_len == len || is_blank(fence->info[len]));
}

bool
update_block_last(const char *text, size_t len, const char *language,
    const char *word, const char **ret_start, size_t *ret_len)
{
	const char *end = text + len, *line = text, *content = NULL, *next;
	struct fence open = { 0 }, fence;
	bool found = false;

	while (line < end || content != NULL) {
		const char *stop = line < end ?
		    memchr(line, '\n', (size_t)(end - line)) :
		    NULL;
		size_t line_len;
		bool is_fence;

		next = stop != NULL ? stop + 1 : end;
		line_len = (size_t)((stop != NULL ? stop : end) - line);
		is_fence = fence_read(line, line_len, &fence);
		if (content == NULL && is_fence) {
			open = fence;
			content = next;
		} else if (content != NULL &&
		    (line == end ||
			(is_fence && fence.info_len == 0 &&
			    fence.mark == open.mark &&
			    fence.count >= open.count))) {
			size_t size = (size_t)(line - content);

			if (is_marked(&open, language) &&
			    memmem(content, size, word, strlen(word)) != NULL) {
				*ret_start = content;
				*ret_len = size;
				found = true;
			}
			content = NULL;
		}
		line = next;
	}
	return found;
}
