/* SPDX-License-Identifier: ISC */

/*
 * Rows for people, by one renderer. The rows are the JSON that programs get; a
 * list of columns says which of their members are shown, and how. The same
 * columns make a table of text, a table of a page, or, of one row, a labelled
 * line for each member that has a value. Pure.
 */
#ifndef VIEW_TABLE_H
#define VIEW_TABLE_H

struct buf;
struct json_object;

enum view_cell {
	VIEW_TEXT, /* a string */
	VIEW_STATUS, /* a word that has a colour of its own: view_colour() */
	VIEW_WORDS, /* a list of strings: "a, b" */
	VIEW_INT, /* 0 for a member that is missing */
	VIEW_COUNT, /* nothing for 0 */
	VIEW_AGE, /* seconds: "3m5s"; nothing if it is not known */
	VIEW_DURATION, /* milliseconds, to the second; the same */
	VIEW_MOMENT, /* milliseconds since 1970, in local time; nothing for 0 */
	VIEW_UNIX, /* seconds since 1970; the same */
	VIEW_MICROS, /* millionths of a dollar; "-" for null */
	VIEW_COST, /* of a row with cost_micros, cost_source and attempts:
		    * "$1.02", "$1.02 est.", or "?" if it is not known */
};

struct view_column {
	const char *title; /* a table of text has it in capitals; NULL = none */
	const char *key; /* of the member; "a.b" is member b of a */
	enum view_cell cell;
	bool right; /* align right, for numbers */
	bool flexible; /* may be truncated, or wrapped on a page */
	bool code; /* on a page: in a font of one width */
	const char *usual; /* left out if no row has anything else */
	const char *colour; /* SGR parameters of all cells */
	const char *bold; /* a member: cells of rows that have it are bold */
	/* Append the cell, instead of the member; the second one with the
	 * table's arg. NULL = the member. */
	void (*add)(struct json_object *row, struct buf *out);
	void (*add_with)(
	    struct json_object *row, const void *arg, struct buf *out);
};

struct view_table {
	const struct view_column *columns;
	size_t count; /* of the columns */
	struct json_object *rows; /* an array of objects */
	size_t first, most; /* which of them; most 0 = all from the first on */
	const void *arg;
	bool indented; /* as text: by two blanks */
	bool bare; /* as text: without headings */
};

/* Appended; width and colours as for table_print(). */
void view_table_print(
    const struct view_table *table, int width, bool colours, struct buf *out);
/* Appended: a <table>. Every text is escaped. */
void view_table_html(const struct view_table *table, struct buf *out);

/* Append a line "title value" for each member of one row that has a value, with
 * titles as wide as `width` after the indent; or a row of a table of a page. */
void view_facts(const struct view_column *lines, size_t count,
    struct json_object *row, const char *indent, int width, bool colours,
    struct buf *out);
void view_facts_html(const struct view_column *lines, size_t count,
    struct json_object *row, struct buf *out);

/* Append what the cell of a column says about the row. */
void view_cell_add(const struct view_column *column, struct json_object *row,
    const void *arg, struct buf *out);

/* The SGR parameters for the status of a worker, a task, a goal, a node or a
 * landing; NULL = none. */
const char *view_colour(const char *status);

/* Append untrusted text to an element or a quoted attribute of a page: marks of
 * HTML are escaped, control and invisible characters are shown as \x1b;
 * newlines stay. NULL = nothing. */
void view_html_text(struct buf *out, const char *text);

/* Of the hosts of a fleet (view_hosts_list()). */
#define VIEW_HOST_COLUMNS 10
extern const struct view_column view_host_columns[VIEW_HOST_COLUMNS];

#endif
