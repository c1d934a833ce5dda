/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "excerpt.h"

/* Length of the escape sequence at s, which begins with ESC. */
static size_t
escape_len(const char *s)
{
	size_t len = 2;

	if (s[1] == '\0')
		return 1;
	if (s[1] == ']') { /* a title or link, to BEL or ESC \ */
		len += strcspn(s + len, "\a\x1b\n");
		return len + (s[len] == '\a' ? 1 : 0);
	}
	if (s[1] != '[')
		return len;
	/* Parameters and intermediates, then one final byte. */
	while (s[len] >= 0x20 && s[len] <= 0x3f)
		len++;
	return len + (s[len] >= 0x40 && s[len] <= 0x7e ? 1 : 0);
}

void
excerpt_plain(const char *text, struct buf *out)
{
	size_t n;

	for (const char *s = text; *s != '\0'; s += n) {
		n = *s == '\x1b' ? escape_len(s) : 1;
		if (s[0] == '\r' && s[1] != '\n')
			buf_addc(out, '\n');
		else if (*s == '\n' || *s == '\t' ||
		    ((unsigned char)*s >= 0x20 && *s != 0x7f))
			buf_addc(out, *s);
	}
}

/* Where the last lines begin that fit into max bytes; of one longer line, its
 * end. */
static size_t
tail_start(const char *s, size_t len, int lines, size_t max)
{
	size_t start = len, least = len > max ? len - max : 0;

	/* The newline at the end of the last line does not start another
	 * one. */
	for (size_t i = len > 0 ? len - 1 : 0; i > 0 && lines > 0; i--) {
		if (s[i - 1] != '\n')
			continue;
		if (i < least)
			break;
		start = i;
		lines--;
	}
	if (lines > 0 && least == 0)
		return 0;
	if (start < len || lines <= 0)
		return start;
	for (start = least;
	     start < len && ((unsigned char)s[start] & 0xc0) == 0x80;)
		start++;
	return start;
}

void
excerpt_tail(
    const char *text, size_t len, int lines, size_t max, struct buf *out)
{
	cleanup_buf struct buf clean = BUF_INIT;
	size_t start;

	text_add_utf8(&clean, text, len);
	start = tail_start(clean.data, clean.len, lines, max);
	buf_add(out, clean.data + start, clean.len - start);
}

/* More backticks than the longest run in the text, at least three. */
static size_t
fence_len(const char *s)
{
	size_t longest = 2, run;

	for (; *s != '\0'; s += run + (s[run] == '\0' ? 0 : 1)) {
		run = strspn(s, "`");
		if (run > longest)
			longest = run;
	}
	return longest + 1;
}

void
excerpt_fence(const char *text, const char *kind, struct buf *out)
{
	size_t ticks = fence_len(text), len = strlen(text);
	cleanup_free char *fence = xcalloc(1, ticks + 1);

	memset(fence, '`', ticks);
	buf_addf(out, "%s%s\n%s%s%s\n", fence, kind, text,
	    len > 0 && text[len - 1] == '\n' ? "" : "\n", fence);
}

void
excerpt_add(const char *output, struct buf *out)
{
	cleanup_buf struct buf plain = BUF_INIT, text = BUF_INIT,
			       tail = BUF_INIT;

	excerpt_plain(output, &plain);
	text_add_utf8(&text, plain.data, plain.len);
	while (text.len > 0 && strchr(" \t\n", text.data[text.len - 1]) != NULL)
		buf_truncate(&text, text.len - 1);
	if (text.len == 0) {
		buf_adds(out, "It printed nothing.\n");
		return;
	}
	excerpt_tail(text.data, text.len, INT_MAX, EXCERPT_MAX, &tail);
	if (tail.len < text.len)
		buf_addf(out, "(The first %zu bytes are left out.)\n",
		    text.len - tail.len);
	excerpt_fence(tail.data, "", out);
}

/* Length of a Markdown mark at the start of a line (with the blank after it):
 * heading, quotation, list item, checkbox. 0 = none: "#12" and "-v" are
 * words. */
static size_t
mark_len(const char *s)
{
	static const char *const boxes[] = { "[ ] ", "[x] ", "[X] " };
	size_t len = strspn(s, "0123456789");

	for (size_t i = 0; i < nitems(boxes); i++)
		if (text_begins(s, boxes[i]))
			return strlen(boxes[i]);
	if (len > 0 && (s[len] == '.' || s[len] == ')'))
		len++;
	else if (len == 0 && *s != '\0' && strchr("*-+>", *s) != NULL)
		len = 1;
	else if (len == 0)
		len = strspn(s, "#");
	else
		return 0;
	return len > 0 && (s[len] == ' ' || s[len] == '\t') ? len + 1 : 0;
}

static bool
is_blank(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f;
}

/* The line without its marks, with each run of blanks and controls as one. */
static void
add_unmarked(const char *line, size_t len, struct buf *out)
{
	cleanup_free char *copy = xstrndup(line, len);
	const char *s = copy;
	size_t n, before = out->len;

	for (;;) {
		while (*s != '\0' && is_blank(*s))
			s++;
		if ((n = mark_len(s)) == 0)
			break;
		s += n;
	}
	for (; *s != '\0'; s++) {
		if (*s == '`' || (s[0] == '*' && s[1] == '*')) {
			s += *s == '*' ? 1 : 0;
		} else if (!is_blank(*s)) {
			buf_addc(out, *s);
		} else if (out->len > before &&
		    out->data[out->len - 1] != ' ') {
			buf_addc(out, ' ');
		}
	}
	while (out->len > before && out->data[out->len - 1] == ' ')
		buf_truncate(out, out->len - 1);
}

/* Letters or digits of any language; a line of dashes has none. */
static bool
says_something(const char *s)
{
	for (; *s != '\0'; s++)
		if ((*s >= '0' && *s <= '9') || (*s >= 'A' && *s <= 'Z') ||
		    (*s >= 'a' && *s <= 'z') || (unsigned char)*s >= 0x80)
			return true;
	return false;
}

char *
excerpt_title(const char *text, size_t max)
{
	cleanup_buf struct buf line = BUF_INIT, title = BUF_INIT;
	size_t len;

	for (; text != NULL && *text != '\0'; text += len) {
		len = strcspn(text, "\n");
		buf_clear(&line);
		if (!text_begins(text, "```"))
			add_unmarked(text, len, &line);
		if (says_something(line.data)) {
			text_add_utf8(&title, line.data, line.len);
			buf_truncate(
			    &title, text_cut(title.data, title.len, max));
			return buf_take(&title);
		}
		len += text[len] == '\n' ? 1 : 0;
	}
	return NULL;
}

char *
excerpt_clean(const char *text, size_t len, size_t max, bool lines)
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
	start = strspn(out.data, " \t\r\n\v\f");
	buf_consume(&out, start < out.len ? start : out.len);
	end = text_cut(out.data, out.len, max);
	while (end > 0 && strchr(" \t\r\n\v\f", out.data[end - 1]) != NULL)
		end--;
	buf_truncate(&out, end);
	return buf_take(&out);
}
