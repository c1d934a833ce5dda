/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "natural.h"
#include "strmap.h"
#include "top-rows.h"
#include "view-doc.h"

/* --- the order ------------------------------------------------------- */

/* How the rows of a section are ordered by default. */
enum order {
	ORDER_NAME,
	ORDER_POSITION,
	ORDER_RANK,
	ORDER_NEWEST,
};

/* What a list is made of. */
struct part {
	enum top_screen screen;
	const char *section;
	enum order order;
	const char *moment; /* since when it is what it is */
	bool (*fits)(struct json_object *row); /* NULL = all do */
};

static bool
has_failed(struct json_object *row)
{
	const char *outcome = json_string_or(row, "outcome", "");

	return strcmp(outcome, "failed") == 0 ||
	    strcmp(outcome, "dead-letter") == 0 ||
	    strcmp(outcome, "aborted") == 0;
}

static const struct part parts[] = {
	{ TOP_WORKERS, "workers", ORDER_NAME, "since_unix", NULL },
	{ TOP_TASKS, "goals", ORDER_NAME, NULL, NULL },
	{ TOP_TASKS, "landing", ORDER_POSITION, "queued_unix", NULL },
	{ TOP_TASKS, "tasks", ORDER_NAME, "created_unix", NULL },
	{ TOP_TASKS, "todo", ORDER_RANK, NULL, NULL },
	{ TOP_TASKS, "ended", ORDER_NEWEST, "finished_unix", NULL },
	{ TOP_FAILURES, "needs", ORDER_NAME, NULL, NULL },
	{ TOP_FAILURES, "ended", ORDER_NEWEST, "finished_unix", has_failed },
	{ TOP_FAILURES, "repairs", ORDER_NEWEST, "at_unix", NULL },
};

struct sorting {
	const struct part *part;
	enum top_sort sort;
};

static int
compare_ints(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int
compare_rows(const void *a, const void *b, void *arg)
{
	const struct top_row *ra = a, *rb = b;
	const struct sorting *s = arg;
	const char *moment = s->part->moment;
	int r = 0;

	if (s->sort == TOP_SORT_COST)
		r = compare_ints(json_int_or(rb->row, "cost_micros", -1),
		    json_int_or(ra->row, "cost_micros", -1));
	else if (s->sort == TOP_SORT_AGE && moment != NULL)
		r = compare_ints(json_int_or(ra->row, moment, INT64_MAX),
		    json_int_or(rb->row, moment, INT64_MAX));
	else if (s->part->order == ORDER_POSITION)
		r = compare_ints(json_int_or(ra->row, "position", INT64_MAX),
		    json_int_or(rb->row, "position", INT64_MAX));
	else if (s->part->order == ORDER_RANK)
		r = compare_ints(json_int_or(ra->row, "rank", 0),
		    json_int_or(rb->row, "rank", 0));
	else if (s->part->order == ORDER_NEWEST)
		r = compare_ints(json_int_or(rb->row, moment, 0),
		    json_int_or(ra->row, moment, 0));
	if (r == 0 && s->part->order == ORDER_NEWEST)
		return natural_compare(rb->key, ra->key);
	return r != 0 ? r : natural_compare(ra->key, rb->key);
}

/* --- which of them --------------------------------------------------- */

struct making {
	const struct top_ui *ui;
	struct top_rows *rows;
	size_t cap;
	struct strmap needs; /* who needs somebody */
};

static bool
is_in_text(struct json_object *row, const char *words)
{
	json_object_object_foreach(row, member, value)
	{
		(void)member;
		if (json_object_is_type(value, json_type_string) &&
		    strcasestr(json_object_get_string(value), words) != NULL)
			return true;
	}
	return false;
}

/* Does a text of the row contain the words of the filter? */
static bool
is_found(const struct top_ui *ui, const char *key, struct json_object *row)
{
	if (ui->filter.len == 0 || strcasestr(key, ui->filter.data) != NULL)
		return true;
	return json_object_is_type(row, json_type_object) &&
	    is_in_text(row, ui->filter.data);
}

static bool
is_one_of(const char *word, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

static bool
needs_somebody(const struct making *m, const char *section, const char *key,
    struct json_object *row)
{
	const char *task = json_string_or(row, "task", NULL);

	if (strcmp(section, "landing") == 0)
		return is_one_of(json_string_or(row, "state", ""),
			   (const char *const[]){
			       "held", "red", "suspect", NULL }) ||
		    (task != NULL && strmap_get(&m->needs, task) != NULL);
	if (strcmp(section, VIEW_EVENTS) == 0)
		return is_one_of(json_string_or(row, "level", ""),
		    (const char *const[]){
			"WARN", "ERROR", "warn", "error", NULL });
	if (strcmp(section, "needs") == 0)
		return true;
	if (strcmp(section, "repairs") == 0)
		return false;
	return strmap_get(&m->needs, key) != NULL ||
	    (task != NULL && strmap_get(&m->needs, task) != NULL);
}

/* All failures are problems. */
static void
add_row(struct making *m, const char *section, const char *key,
    struct json_object *row)
{
	struct top_rows *rows = m->rows;
	bool needs = needs_somebody(m, section, key, row);

	if (!is_found(m->ui, key, row) ||
	    (m->ui->problems && !needs && m->ui->screen != TOP_FAILURES)) {
		rows->hidden++;
		return;
	}
	if (rows->count == m->cap) {
		m->cap = m->cap == 0 ? 64 : 2 * m->cap;
		rows->rows =
		    xreallocarray(rows->rows, m->cap, sizeof *rows->rows);
	}
	rows->rows[rows->count++] = (struct top_row){
		.name = xasprintf("%s/%s", section, key),
		.section = section,
		.key = key,
		.row = row,
		.needs = needs,
	};
}

static void
add_part(struct making *m, struct json_object *view, const struct part *part)
{
	struct sorting sorting = { part, m->ui->sort };
	size_t first = m->rows->count;

	json_object_object_foreach(view_of(view, part->section), key, row)
	{
		if (part->fits == NULL || part->fits(row))
			add_row(m, part->section, key, row);
	}
	if (m->rows->count > first)
		qsort_r(m->rows->rows + first, m->rows->count - first,
		    sizeof *m->rows->rows, compare_rows, &sorting);
}

/* The newest first. Their names are their numbers. */
static void
add_events(struct making *m, struct json_object *view)
{
	struct json_object *list = view_of(view, VIEW_EVENTS);

	for (size_t i = json_object_array_length(list); i-- > 0;) {
		struct json_object *row = json_object_array_get_idx(list, i);
		size_t count = m->rows->count;

		add_row(m, VIEW_EVENTS, "", row);
		if (m->rows->count == count)
			continue;
		free(m->rows->rows[count].name);
		m->rows->rows[count].name = xasprintf("%s/%" PRId64,
		    VIEW_EVENTS, json_int_or(row, "n", (int64_t)i));
	}
}

static void
collect_needs(struct making *m, struct json_object *needs)
{
	json_object_object_foreach(needs, key, need)
	{
		const char *who = json_string_or(need, "who", NULL);

		(void)key;
		if (who != NULL)
			strmap_add(&m->needs, who, need);
	}
}

void
top_rows_make(const struct top_ui *ui, struct json_object *view,
    struct top_rows *ret_rows)
{
	struct making m = { .ui = ui, .rows = ret_rows };

	*ret_rows = (struct top_rows){ 0 };
	collect_needs(&m, view_of(view, "needs"));
	for (size_t i = 0; i < nitems(parts); i++)
		if (parts[i].screen == ui->screen)
			add_part(&m, view, &parts[i]);
	if (ui->screen == TOP_EVENTS)
		add_events(&m, view);
	strmap_release(&m.needs);
}

void
top_rows_release(struct top_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->rows[i].name);
	free(rows->rows);
	*rows = (struct top_rows){ 0 };
}

size_t
top_rows_chosen(const struct top_rows *rows, const struct top_ui *ui)
{
	const char *chosen = ui->chosen[ui->screen];

	for (size_t i = 0; chosen != NULL && i < rows->count; i++)
		if (strcmp(rows->rows[i].name, chosen) == 0)
			return i;
	return 0;
}
