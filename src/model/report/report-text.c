/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "buf.h"
#include "mem.h"
#include "report-text.h"
#include "text.h"

#define FENCE_LEAST 3
#define BLANKS      " \t\r\n\v\f"

char *
report_text(const char *text, size_t len, size_t max, bool lines)
{
	cleanup_buf struct buf valid = BUF_INIT, out = BUF_INIT;
	size_t end, start;

	text_add_utf8(&valid, text, text_cut(text, len, max * 4));
	for (size_t i = 0; i < valid.len; i++) {
		unsigned char c = (unsigned char)valid.data[i];

		if ((c >= ' ' && c != 0x7f) || (lines && c == '\n') ||
		    (lines && c == '\t'))
			buf_addc(&out, (char)c);
		else if (c == '\n' || c == '\t')
			buf_addc(&out, ' ');
	}
	start = strspn(out.data, BLANKS);
	buf_consume(&out, start < out.len ? start : out.len);
	end = text_cut(out.data, out.len, max);
	while (end > 0 && strchr(BLANKS, out.data[end - 1]) != NULL)
		end--;
	buf_truncate(&out, end);
	return buf_take(&out);
}

const char *
report_word(const char *const *words, const char *text)
{
	for (; *words != NULL; words++)
		if (strcasecmp(*words, text) == 0)
			return *words;
	return NULL;
}

/* The length of the fence that a line is, 0 = none. An opening one may name a
 * language, a closing one not. */
static size_t
fence_len(const char *line, char mark, bool closing)
{
	const char *s = line + strspn(line, " \t");
	size_t len = 0;

	while (s[len] == mark)
		len++;
	if (len < FENCE_LEAST || (closing && !report_is_blank(s + len)) ||
	    (!closing && mark == '`' && strchr(s + len, '`') != NULL))
		return 0;
	return len;
}

static void
mark_fenced(struct report_lines *lines)
{
	static const char marks[] = { '`', '~' };
	size_t open = 0, len;
	char mark = 0;

	for (size_t i = 0; i < lines->count; i++) {
		struct report_line *line = &lines->at[i];

		if (open > 0) {
			line->fenced = true;
			if (fence_len(line->text, mark, true) >= open)
				open = 0;
			continue;
		}
		for (size_t m = 0; m < nitems(marks) && open == 0; m++) {
			len = fence_len(line->text, marks[m], false);
			if (len == 0)
				continue;
			open = len;
			mark = marks[m];
			line->fenced = true;
		}
	}
}

void
report_lines_split(
    const char *text, size_t len, size_t max, struct report_lines *ret_lines)
{
	size_t skip = len > max ? len - max : 0, count = 1;
	char *copy = xstrndup(text + skip, len - skip);

	for (const char *s = copy; *s != '\0'; s++)
		count += *s == '\n';
	ret_lines->copy = copy;
	ret_lines->at = xcalloc(count, sizeof(struct report_line));
	ret_lines->count = 0;
	while (copy != NULL)
		ret_lines->at[ret_lines->count++].text = strsep(&copy, "\n");
	mark_fenced(ret_lines);
}

void
report_lines_release(struct report_lines *lines)
{
	free(lines->copy);
	free(lines->at);
}

const char *
report_item(const char *line)
{
	const char *s = line + strspn(line, " \t");
	size_t digits = strspn(s, "0123456789");

	if (digits > 0 && (s[digits] == '.' || s[digits] == ')'))
		s += digits;
	else if (*s == '\0' || strchr("-*+", *s) == NULL)
		return NULL;
	s++;
	return *s == ' ' || *s == '\t' || *s == '\0' || *s == '\r' ?
	    s + strspn(s, " \t\r") :
	    NULL;
}

bool
report_is_blank(const char *line)
{
	return line[strspn(line, BLANKS)] == '\0';
}
