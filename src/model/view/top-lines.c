/* SPDX-License-Identifier: ISC */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "mem.h"
#include "text-width.h"
#include "text.h"
#include "top-lines.h"
#include "top-text.h"

#define LABEL_COLUMNS 13

void
top_lines_init(struct top_lines *lines, int width, struct top_clock *clock)
{
	*lines = (struct top_lines){
		.width = width > 1 ? width : 1,
		.clock = clock,
		.next_ms = clock->next_ms,
	};
	clock->next_ms = INT64_MAX;
}

void
top_lines_release(struct top_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->lines[i].text);
	free(lines->lines);
	lines->clock->next_ms = lines->next_ms;
	*lines = (struct top_lines){ 0 };
}

/* Takes the text. */
static void
push(struct top_lines *lines, char *text, enum grid_style style, int label)
{
	if (lines->count == lines->cap) {
		lines->cap = lines->cap == 0 ? 32 : 2 * lines->cap;
		lines->lines = xreallocarray(
		    lines->lines, lines->cap, sizeof *lines->lines);
	}
	lines->lines[lines->count++] =
	    (struct top_line){ text, style, label, lines->clock->next_ms };
}

/* What was added is complete: the next text has a time of its own. */
static void
finish(struct top_lines *lines)
{
	lines->clock->next_ms = INT64_MAX;
}

/* How many bytes go on a line of so many columns: at least a character. */
static size_t
line_len(const char *text, size_t len, int columns)
{
	size_t fits = text_width_cut(text, len, columns), cut;

	if (fits == len)
		return len;
	for (cut = fits; cut > 0 && text[cut] != ' '; cut--)
		;
	if (cut > 0)
		return cut;
	if (fits == 0)
		fits = text_utf8_len(text, len);
	return fits > 0 ? fits : 1;
}

/* One line of a text, without control characters. */
static void
add_wrapped(struct top_lines *lines, const char *label, int indent,
    enum grid_style style, const char *text, size_t len)
{
	int room = lines->width - indent;

	if (room < 8) { /* a label needs its own line then */
		indent = 0;
		room = lines->width;
	}
	do {
		size_t n = line_len(text, len, room);
		int pad = indent - (label != NULL ? (int)strlen(label) : 0);

		push(lines,
		    xasprintf("%s%*s%.*s", label != NULL ? label : "",
			pad > 0                         ? pad :
			    indent > 0 && label != NULL ? 1 :
							  0,
			"", (int)n, text),
		    style, label != NULL ? (int)strlen(label) : 0);
		label = NULL;
		text += n;
		len -= n;
		while (len > 0 && *text == ' ') {
			text++;
			len--;
		}
	} while (len > 0);
}

static void
add_text(struct top_lines *lines, const char *label, int indent,
    enum grid_style style, const char *text)
{
	for (; text != NULL && *text != '\0'; label = NULL) {
		size_t n = strcspn(text, "\n");
		cleanup_buf struct buf visible = BUF_INIT;

		text_add_visible(&visible, text, n, false);
		add_wrapped(
		    lines, label, indent, style, visible.data, visible.len);
		text += n + (text[n] == '\n' ? 1 : 0);
	}
}

void
top_lines_add(struct top_lines *lines, int indent, enum grid_style style,
    const char *text)
{
	add_text(lines, NULL, indent, style, text);
	finish(lines);
}

void
top_lines_addf(
    struct top_lines *lines, enum grid_style style, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	top_lines_add(lines, 0, style, text);
}

void
top_lines_field(struct top_lines *lines, const char *label,
    enum grid_style style, const char *text)
{
	if (text == NULL || *text == '\0')
		return;
	if (lines->width - LABEL_COLUMNS < 8) {
		push(lines, xstrdup(label), STYLE_DIM, 0);
		add_text(lines, NULL, 0, style, text);
	} else {
		add_text(lines, label, LABEL_COLUMNS, style, text);
	}
	finish(lines);
}

void
top_lines_head(struct top_lines *lines, const char *words)
{
	if (lines->count > 0)
		push(lines, xstrdup(""), STYLE_PLAIN, 0);
	push(lines, xstrdup(words), STYLE_BOLD, 0);
	finish(lines);
}

void
top_lines_draw(struct top_lines *lines, int first, struct grid *grid, int row,
    int column, int rows)
{
	for (int i = 0;
	     i < rows && first >= 0 && (size_t)first + (size_t)i < lines->count;
	     i++) {
		const struct top_line *line = &lines->lines[first + i];

		grid_text(grid, row + i, column, lines->width, line->text,
		    line->style);
		grid_restyle(grid, row + i, column, line->label, STYLE_DIM);
		if (line->next_ms < lines->next_ms)
			lines->next_ms = line->next_ms;
	}
}
