/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>
#include <strings.h>

#include "account.h"
#include "moment.h"
#include "table.h"
#include "view-private.h"
#include "view-table.h"

#define COLUMNS_MAX 16

/* How a status, a step, an outcome or a level is shown: as SGR parameters in a
 * table (NULL = plainly), and in llmc top. */
static const struct colour {
	const char *word, *sgr;
	enum grid_style style;
} colours[] = {
	{ "waiting for you", "1;33", STYLE_WARN },
	{ "active", "1", STYLE_PLAIN },
	{ "in_progress", "1", STYLE_PLAIN },
	{ "idle", "32", STYLE_DIM },
	{ "landed", "32", STYLE_GOOD },
	{ "landing", "32", STYLE_PLAIN },
	{ "done", "32", STYLE_GOOD },
	{ "completed", "32", STYLE_PLAIN },
	{ "green", "32", STYLE_GOOD },
	{ "starting", "33", STYLE_PLAIN },
	{ "working", "33", STYLE_PLAIN },
	{ "assigned", "33", STYLE_PLAIN },
	{ "incomplete", "33", STYLE_PLAIN },
	{ "stalled", "33", STYLE_PLAIN },
	{ "suspect", "33", STYLE_WARN },
	{ "deferred", "33", STYLE_WARN },
	{ "held", "33", STYLE_WARN },
	{ "blocked", "1;33", STYLE_WARN },
	{ "needs_review", "34", STYLE_WARN },
	{ "rebasing", "35", STYLE_WARN },
	{ "paused", "1;35", STYLE_WARN },
	{ "reviewing", "36", STYLE_PLAIN },
	{ "accepting", "36", STYLE_GOOD },
	{ "waiting", "36", STYLE_PLAIN },
	{ "queued", "36", STYLE_PLAIN },
	{ "covered", "36", STYLE_PLAIN },
	{ "rejected", "31", STYLE_PLAIN },
	{ "failed", "31", STYLE_BAD },
	{ "parked", "31", STYLE_WARN },
	{ "unusable", "31", STYLE_PLAIN },
	{ "red", "31", STYLE_BAD },
	{ "ejected", "31", STYLE_PLAIN },
	{ "error", "1;31", STYLE_BAD },
	{ "dead-letter", "1;31", STYLE_BAD },
	{ "lost", "1;31", STYLE_BAD },
	{ "drain", "33", STYLE_WARN },
	{ "up", "32", STYLE_GOOD },
	{ "offline", "90", STYLE_DIM },
	{ "aborted", "90", STYLE_BAD },
	{ "cancelled", "90", STYLE_PLAIN },
	{ "archived", "90", STYLE_PLAIN },
	{ "todo", "90", STYLE_PLAIN },
	{ "no_changes", "93", STYLE_DIM },
	{ "limited", "95", STYLE_WARN },
	{ "warn", NULL, STYLE_WARN },
	{ "critical", NULL, STYLE_WARN },
	{ "emergency", NULL, STYLE_BAD },
};

static const struct colour *
find_colour(const char *word)
{
	for (size_t i = 0; i < nitems(colours); i++)
		if (strcasecmp(colours[i].word, word) == 0)
			return &colours[i];
	return NULL;
}

const char *
view_colour(const char *status)
{
	const struct colour *colour = find_colour(status);

	return colour != NULL ? colour->sgr : NULL;
}

enum grid_style
top_word_style(const char *word)
{
	const struct colour *colour = find_colour(word);

	return colour != NULL ? colour->style : STYLE_PLAIN;
}

/* --- a cell ---------------------------------------------------------- */

/* The object that has the member, and the member's own name. */
static struct json_object *
owner_of(struct json_object *row, const char **key)
{
	const char *dot;

	while ((dot = strchr(*key, '.')) != NULL) {
		cleanup_free char *name = xstrndup(*key, (size_t)(dot - *key));

		if (!json_object_is_type(row, json_type_object))
			return NULL;
		row = json_member(row, name);
		*key = dot + 1;
	}
	return row;
}

static void
add_words(struct json_object *row, const char *key, struct buf *out)
{
	struct json_object *list = NULL;

	if (json_get_array(row, "", key, &list, NULL) < 0)
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++)
		buf_addf(out, "%s%s", i > 0 ? ", " : "",
		    json_object_get_string(json_object_array_get_idx(list, i)));
}

static void
add_cost(struct json_object *row, struct buf *out)
{
	int64_t cost = json_int_or(row, "cost_micros", -1);

	if (cost < 0) {
		buf_adds(out, json_int_or(row, "attempts", 1) > 0 ? "?" : "-");
		return;
	}
	budget_add_cost(out, cost);
	if (strcmp(json_string_or(row, "cost_source", ""),
		cost_source_words[COST_ESTIMATE]) == 0)
		buf_adds(out, " est.");
}

void
view_cell_add(const struct view_column *column, struct json_object *row,
    const void *arg, struct buf *out)
{
	const char *key = column->key;
	struct json_object *owner;
	int64_t number;

	if (column->add != NULL)
		column->add(row, out);
	else if (column->add_with != NULL)
		column->add_with(row, arg, out);
	else if (column->cell == VIEW_COST)
		add_cost(row, out);
	if (column->add != NULL || column->add_with != NULL || key == NULL)
		return;
	owner = owner_of(row, &key);
	number = json_int_or(owner, key,
	    column->cell == VIEW_AGE || column->cell == VIEW_DURATION ? -1 : 0);
	switch (column->cell) {
	case VIEW_TEXT:
	case VIEW_STATUS:
		buf_adds(out, json_string_or(owner, key, ""));
		break;
	case VIEW_WORDS:
		add_words(owner, key, out);
		break;
	case VIEW_COUNT:
	case VIEW_INT:
		if (number != 0 || column->cell == VIEW_INT)
			buf_addf(out, "%" PRId64, number);
		break;
	case VIEW_AGE:
		if (number >= 0)
			moment_add_age(out, number * 1000);
		break;
	case VIEW_DURATION:
		if (number >= 0)
			text_add_duration(out,
			    number >= 1000 ? number / 1000 * 1000 : number);
		break;
	case VIEW_UNIX:
	case VIEW_MOMENT:
		if (number != 0)
			moment_add(out,
			    column->cell == VIEW_UNIX ? number * 1000 : number);
		break;
	case VIEW_MICROS:
		if (number < 0 || json_member(owner, key) == NULL)
			buf_addc(out, '-');
		if (json_member(owner, key) != NULL)
			budget_add_cost(out, number < 0 ? -number : number);
		break;
	case VIEW_COST:
		break;
	}
}

static const char *
colour_of(
    const struct view_column *column, struct json_object *row, const char *cell)
{
	if (column->bold != NULL && json_member(row, column->bold) != NULL)
		return "1";
	return column->cell == VIEW_STATUS ? view_colour(cell) : column->colour;
}

/* --- a table --------------------------------------------------------- */

static size_t
end_of(const struct view_table *t)
{
	size_t count = json_object_array_length(t->rows);

	return t->most == 0 || t->most > count - t->first ? count :
							    t->first + t->most;
}

static bool
is_shown(const struct view_table *t, const struct view_column *column)
{
	for (size_t i = t->first; column->usual != NULL && i < end_of(t); i++) {
		cleanup_buf struct buf cell = BUF_INIT;

		view_cell_add(column, json_object_array_get_idx(t->rows, i),
		    t->arg, &cell);
		if (strcmp(cell.data, column->usual) != 0)
			return true;
	}
	return column->usual == NULL;
}

/* Those that are shown. */
static size_t
choose(const struct view_table *t, bool indented,
    const struct view_column **ret_columns)
{
	static const struct view_column blank = { .title = "" };
	size_t count = 0;

	if (indented)
		ret_columns[count++] = &blank;
	for (size_t i = 0; i < t->count && count < COLUMNS_MAX; i++)
		if (is_shown(t, &t->columns[i]))
			ret_columns[count++] = &t->columns[i];
	return count;
}

static struct table *
make_table(const struct view_column *const *shown, size_t count, bool bare)
{
	struct table_column columns[COLUMNS_MAX] = { 0 };
	char *titles[COLUMNS_MAX] = { 0 };
	struct table *table;

	for (size_t i = 0; i < count; i++) {
		if (shown[i]->title != NULL && !bare)
			titles[i] = xstrdup(shown[i]->title);
		for (char *c = titles[i]; c != NULL && *c != '\0'; c++)
			*c = (char)toupper((unsigned char)*c);
		columns[i] = (struct table_column){ .title = titles[i],
			.right = shown[i]->right,
			.flexible = shown[i]->flexible };
	}
	table = table_new(columns, (int)count);
	for (size_t i = 0; i < count; i++)
		free(titles[i]);
	return table;
}

void
view_table_print(
    const struct view_table *t, int width, bool with_colours, struct buf *out)
{
	const struct view_column *shown[COLUMNS_MAX];
	size_t count = choose(t, t->indented, shown);
	struct table *table = make_table(shown, count, t->bare);

	for (size_t i = t->first; i < end_of(t); i++) {
		struct json_object *row = json_object_array_get_idx(t->rows, i);
		struct buf cells[COLUMNS_MAX];
		const char *words[COLUMNS_MAX];

		for (size_t c = 0; c < count; c++) {
			buf_init(&cells[c]);
			view_cell_add(shown[c], row, t->arg, &cells[c]);
			words[c] = cells[c].data;
		}
		table_row(table, words);
		for (size_t c = 0; c < count; c++) {
			table_colour(
			    table, (int)c, colour_of(shown[c], row, words[c]));
			buf_release(&cells[c]);
		}
	}
	table_print(table, width, with_colours, out);
	table_free(table);
}

void
view_html_text(struct buf *out, const char *text)
{
	cleanup_buf struct buf seen = BUF_INIT;

	if (text == NULL)
		return;
	text_add_visible(&seen, text, strlen(text), true);
	for (const char *c = seen.data; *c != '\0'; c++)
		switch (*c) {
		case '&':
			buf_adds(out, "&amp;");
			break;
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '"':
			buf_adds(out, "&quot;");
			break;
		case '\'':
			buf_adds(out, "&#39;");
			break;
		default:
			buf_addc(out, *c);
		}
}

/* A cell that may be truncated as text may be wrapped on a page. */
static const char *
class_of(const struct view_column *column)
{
	return column->right ? " class=\"n\"" :
	    column->flexible ? "" :
			       " class=\"s\"";
}

void
view_table_html(const struct view_table *t, struct buf *out)
{
	const struct view_column *shown[COLUMNS_MAX];
	size_t count = choose(t, false, shown);

	buf_adds(out, "<div class=\"wide\"><table>");
	if (count > 0 && shown[0]->title != NULL)
		buf_adds(out, "<tr>");
	for (size_t c = 0; c < count && shown[0]->title != NULL; c++) {
		buf_addf(out, "<th scope=\"col\"%s>",
		    shown[c]->right ? " class=\"n\"" : "");
		view_html_text(out, shown[c]->title);
	}
	buf_addc(out, '\n');
	for (size_t i = t->first; i < end_of(t); i++) {
		buf_adds(out, "<tr>");
		for (size_t c = 0; c < count; c++) {
			cleanup_buf struct buf cell = BUF_INIT;

			view_cell_add(shown[c],
			    json_object_array_get_idx(t->rows, i), t->arg,
			    &cell);
			buf_addf(out, "<td%s>%s", class_of(shown[c]),
			    shown[c]->code ? "<code>" : "");
			view_html_text(out, cell.data);
			buf_adds(out, shown[c]->code ? "</code>" : "");
		}
		buf_addc(out, '\n');
	}
	buf_adds(out, "</table></div>\n");
}

/* --- one row --------------------------------------------------------- */

static bool
has_value(const struct view_column *line, const struct buf *cell)
{
	return cell->len > 0 && !text_is(line->usual, cell->data);
}

void
view_facts(const struct view_column *lines, size_t count,
    struct json_object *row, const char *indent, int width, bool with_colours,
    struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		cleanup_buf struct buf cell = BUF_INIT;
		const char *sgr;

		view_cell_add(&lines[i], row, NULL, &cell);
		if (!has_value(&lines[i], &cell))
			continue;
		sgr =
		    with_colours ? colour_of(&lines[i], row, cell.data) : NULL;
		buf_addf(out, "%s%-*s ", indent, width, lines[i].title);
		if (sgr != NULL)
			buf_addf(out, "\033[%sm", sgr);
		text_add_visible(out, cell.data, cell.len, false);
		buf_adds(out, sgr != NULL ? "\033[0m\n" : "\n");
	}
}

void
view_facts_html(const struct view_column *lines, size_t count,
    struct json_object *row, struct buf *out)
{
	buf_adds(out, "<table>\n");
	for (size_t i = 0; i < count; i++) {
		cleanup_buf struct buf cell = BUF_INIT;

		view_cell_add(&lines[i], row, NULL, &cell);
		if (!has_value(&lines[i], &cell))
			continue;
		buf_addf(out, "<tr><td>%s<td class=\"n\">", lines[i].title);
		view_html_text(out, cell.data);
		buf_addc(out, '\n');
	}
	buf_adds(out, "</table>\n");
}
