/* SPDX-License-Identifier: ISC */

/* What a person has chosen to see in llmc top: the rows of it, and how keys
 * change it. */
#include "base.h"
#include "view-private.h"
#include "view.h"

#define TYPED_MAX 2000 /* bytes */

const char *const top_sort_words[TOP_SORTS + 1] = { "name", "age", "cost",
	NULL };

static const struct top_action nothing = { TOP_NOTHING, NULL, NULL };
static const struct top_action redraw = { TOP_REDRAW, NULL, NULL };

void
top_ui_init(struct top_ui *ui)
{
	*ui = (struct top_ui){ .filter = BUF_INIT, .text = BUF_INIT };
}

void
top_ui_release(struct top_ui *ui)
{
	for (int i = 0; i < TOP_SCREENS; i++)
		free(ui->chosen[i]);
	buf_release(&ui->filter);
	buf_release(&ui->text);
	free(ui->target);
	free(ui->notice);
	json_object_put(ui->frozen);
	json_object_put(ui->charts);
	free(ui->charts_missing);
	top_ui_init(ui);
}

void
top_ui_notice(struct top_ui *ui, const char *words)
{
	xstrset(&ui->notice, words);
}

struct json_object *
top_ui_view(const struct top_ui *ui, struct json_object *view)
{
	return ui->frozen != NULL ? ui->frozen : view;
}

bool
top_asks_text(enum top_do what)
{
	return what == TOP_REJECT || what == TOP_MESSAGE;
}

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
	{ TOP_WORKERS, VIEW_HOSTS, ORDER_RANK, NULL, NULL },
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
	struct strmap needs; /* rows that need a person */
};

static bool
is_in_text(struct json_object *row, const char *words)
{
	JSON_MEMBERS (it, row)
		if (json_object_is_type(it.val, json_type_string) &&
		    strcasestr(json_object_get_string(it.val), words) != NULL)
			return true;
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

	JSON_MEMBERS (it, view_of(view, part->section))
		if (part->fits == NULL || part->fits(it.val))
			add_row(m, part->section, it.key, it.val);
	if (m->rows->count > first)
		qsort_r(m->rows->rows + first, m->rows->count - first,
		    sizeof *m->rows->rows, compare_rows, &sorting);
}

static void
collect_needs(struct making *m, struct json_object *needs)
{
	JSON_MEMBERS (it, needs) {
		const char *who = json_string_or(it.val, "who", NULL);

		if (who != NULL)
			strmap_add(&m->needs, who, it.val);
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
	if (ui->screen == TOP_EVENTS) {
		struct json_object *list = view_of(view, VIEW_EVENTS);

		/* The newest first. Their names are their numbers. */
		for (size_t i = json_object_array_length(list); i-- > 0;) {
			struct json_object *row =
			    json_object_array_get_idx(list, i);
			size_t count = m.rows->count;

			add_row(&m, VIEW_EVENTS, "", row);
			if (m.rows->count == count)
				continue;
			free(m.rows->rows[count].name);
			m.rows->rows[count].name = xasprintf("%s/%" PRId64,
			    VIEW_EVENTS, json_int_or(row, "n", (int64_t)i));
		}
	}
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

/* --- keys ------------------------------------------------------------ */

/* False: the key is none for a text. */
static bool
type_key(struct buf *text, uint32_t key)
{
	size_t last = text->len;

	if (key == TOP_KEY_BACKSPACE) {
		while (last > 0 && (text->data[--last] & 0xc0) == 0x80)
			;
		buf_truncate(text, last);
		return true;
	}
	if (key < 0x20 || key >= TOP_KEY_UP)
		return false;
	if (text->len < TYPED_MAX)
		text_add_codepoint(text, key);
	return true;
}

/* --- moving ---------------------------------------------------------- */

static int
clamp(int value, int max)
{
	return value > max ? (max > 0 ? max : 0) : value < 0 ? 0 : value;
}

/* Where a key moves to from `at`, of `last` + 1 places; -1 = it does not. */
static int
moved(uint32_t key, int at, int last, int page)
{
	page = page > 1 ? page - 1 : 1;
	switch (key) {
	case TOP_KEY_UP:
	case 'k':
		return clamp(at - 1, last);
	case TOP_KEY_DOWN:
	case 'j':
		return clamp(at + 1, last);
	case TOP_KEY_PAGE_UP:
		return clamp(at - page, last);
	case TOP_KEY_PAGE_DOWN:
		return clamp(at + page, last);
	case TOP_KEY_HOME:
	case 'g':
		return 0;
	case TOP_KEY_END:
	case 'G':
		return clamp(last, last);
	default:
		return -1;
	}
}

static struct top_action
move_row(struct top_ui *ui, const struct top_rows *rows, uint32_t key)
{
	int to = moved(key, (int)top_rows_chosen(rows, ui),
	    (int)rows->count - 1, ui->list_rows);

	if (to < 0)
		return nothing;
	if ((size_t)to < rows->count)
		xstrset(&ui->chosen[ui->screen], rows->rows[to].name);
	return redraw;
}

static struct top_action
move_page(struct top_ui *ui, uint32_t key)
{
	int to = moved(
	    key, ui->scroll, ui->page_lines - ui->page_rows, ui->page_rows);

	if (to < 0)
		return nothing;
	ui->scroll = to;
	return redraw;
}

static const struct {
	uint32_t key;
	enum top_do what;
} acting[] = {
	{ 'a', TOP_ATTACH },
	{ 'l', TOP_LOGS },
	{ 'P', TOP_PAUSE },
	{ 'R', TOP_RESUME },
	{ 'A', TOP_ACCEPT },
	{ 'X', TOP_REJECT },
	{ 'M', TOP_MESSAGE },
};

/* The worker or task that an action on the row is about; NULL, and a notice:
 * none. */
static const char *
target_of(struct top_ui *ui, struct json_object *view, const struct top_row *at,
    enum top_do what)
{
	bool need = strcmp(at->section, "needs") == 0;
	const char *key = need ? json_string_or(at->row, "who", "") : at->key;
	const char *worker = need || strcmp(at->section, "workers") == 0 ?
	    key :
	    json_string_or(at->row, "worker", NULL);
	struct json_object *row;

	if (what == TOP_RESUME && (need || strcmp(at->section, "tasks") == 0) &&
	    view_is(view_row(view, "tasks", key), "step", "parked"))
		return key;
	row = worker != NULL ? view_row(view, "workers", worker) : NULL;
	/* No worker has that work any more. */
	if (row == NULL && need && (what == TOP_ACCEPT || what == TOP_REJECT) &&
	    view_is(view_row(view, "asks", json_string_or(at->row, "ask", "")),
		"kind", "review"))
		return key;
	if (row == NULL) {
		top_ui_notice(ui, "this row has no worker now");
		return NULL;
	}
	if ((what == TOP_ACCEPT || what == TOP_REJECT) &&
	    !view_is(row, "status", "needs_review")) {
		cleanup_free char *words = xasprintf(
		    "%s has no finished work that waits for you", worker);

		top_ui_notice(ui, words);
		return NULL;
	}
	return worker;
}

static struct top_action
action_key(struct top_ui *ui, struct json_object *view,
    const struct top_rows *rows, uint32_t key)
{
	const char *target;

	for (size_t i = 0; i < nitems(acting); i++) {
		enum top_do what;

		if (acting[i].key != key)
			continue;
		if (rows->count == 0)
			return nothing;
		target = target_of(ui, view,
		    &rows->rows[top_rows_chosen(rows, ui)], acting[i].what);
		if (target == NULL)
			return redraw;
		what = acting[i].what;
		ui->asked = what;
		xstrset(&ui->target, target);
		buf_clear(&ui->text);
		if (acting[i].what > TOP_LOGS)
			return redraw;
		ui->asked = TOP_NOTHING; /* these need no answer */
		return (struct top_action){ acting[i].what, ui->target, NULL };
	}
	return nothing;
}

/* --- all keys -------------------------------------------------------- */

/* Rows are replaced, never changed: they may be shared. */
static struct json_object *
copy_view(struct json_object *view)
{
	struct json_object *copy = view_new();

	for (const struct view_section *s = view_sections; s->name != NULL; s++)
		view_add_rows(view_of(copy, s->name), view_of(view, s->name));
	JSON_EACH (item, view_of(view, VIEW_EVENTS))
		json_object_array_add(
		    view_of(copy, VIEW_EVENTS), json_object_get(item));
	return copy;
}

static void
show_screen(struct top_ui *ui, int screen)
{
	ui->screen = (enum top_screen)((screen + TOP_SCREENS) % TOP_SCREENS);
	ui->page = TOP_PAGE_NONE;
	ui->first = 0;
}

static void
toggle_page(struct top_ui *ui, enum top_page page)
{
	ui->page = ui->page == page ? TOP_PAGE_NONE : page;
	ui->scroll = 0;
}

/* False: the key has another meaning, or none. */
static bool
show_key(struct top_ui *ui, struct json_object *view, uint32_t key)
{
	if (key >= '1' && key < '1' + TOP_SCREENS) {
		show_screen(ui, (int)(key - '1'));
	} else if (key == TOP_KEY_TAB) {
		show_screen(ui, (int)ui->screen + 1);
	} else if (key == TOP_KEY_BACKTAB) {
		show_screen(ui, (int)ui->screen - 1);
	} else if (key == '?' || key == TOP_KEY_F1) {
		toggle_page(ui, TOP_PAGE_HELP);
	} else if (key == '$') {
		toggle_page(ui, TOP_PAGE_COST);
	} else if (key == 'c') {
		toggle_page(ui, TOP_PAGE_CHARTS);
	} else if (key == TOP_KEY_ENTER) {
		toggle_page(ui, TOP_PAGE_DETAIL);
	} else if (key == TOP_KEY_SPACE) {
		bool frozen = ui->frozen != NULL;

		json_object_put(ui->frozen);
		ui->frozen = frozen ? NULL : copy_view(view);
		ui->frozen_ms = 0;
	} else if (key == '/') {
		ui->typing = true;
	} else if (key == 'p') {
		ui->problems = !ui->problems;
	} else if (key == 's') {
		ui->sort = (enum top_sort)((ui->sort + 1) % TOP_SORTS);
	} else if (key == TOP_KEY_ESC || key == 'q') {
		/* From the outside to the inside: a page, the filter, problems.
		 */
		if (ui->page != TOP_PAGE_NONE)
			ui->page = TOP_PAGE_NONE;
		else if (ui->filter.len > 0)
			buf_clear(&ui->filter);
		else
			ui->problems = false;
	} else {
		return false;
	}
	if (ui->typing)
		ui->page = TOP_PAGE_NONE;
	return true;
}

/* A key for the list, or for the page that covers it. */
static struct top_action
list_key(struct top_ui *ui, struct json_object *view, uint32_t key)
{
	struct top_rows rows;
	struct top_action action;

	if (show_key(ui, view, key))
		return redraw;
	top_rows_make(ui, view, &rows);
	if (ui->page != TOP_PAGE_NONE)
		action = move_page(ui, key);
	else
		action = move_row(ui, &rows, key);
	if (action.what == TOP_NOTHING)
		action = action_key(ui, view, &rows, key);
	top_rows_release(&rows);
	return action;
}

struct top_action
top_key(struct top_ui *ui, struct json_object *view, uint32_t key)
{
	bool had_notice = ui->notice != NULL;
	struct top_action action;

	if (key == TOP_KEY_NONE)
		return nothing;
	if (key == TOP_KEY_RESIZE || key == TOP_KEY_REDRAW)
		return redraw;
	if (key == TOP_KEY_F10 || key == TOP_KEY_INTERRUPT)
		return (struct top_action){ TOP_QUIT, NULL, NULL };
	top_ui_notice(ui, NULL);
	if (ui->asked != TOP_NOTHING) {
		enum top_do what = ui->asked;
		bool typed = top_asks_text(what);

		if (typed && type_key(&ui->text, key))
			return redraw;
		if (typed && key != TOP_KEY_ENTER && key != TOP_KEY_ESC)
			return nothing;
		ui->asked = TOP_NOTHING;
		if (typed ? key == TOP_KEY_ENTER && ui->text.len > 0 :
			    key == 'y' || key == 'Y')
			return (struct top_action){ what, ui->target,
				typed ? ui->text.data : NULL };
		top_ui_notice(ui, "nothing was done");
		return redraw;
	}
	if (ui->typing) {
		if (key == TOP_KEY_ESC)
			buf_clear(&ui->filter);
		if (key == TOP_KEY_ESC || key == TOP_KEY_ENTER)
			ui->typing = false;
		else if (!type_key(&ui->filter, key))
			return nothing;
		ui->first = 0;
		return redraw;
	}
	if (key == 'q' && ui->page == TOP_PAGE_NONE)
		return (struct top_action){ TOP_QUIT, NULL, NULL };
	action = list_key(ui, top_ui_view(ui, view), key);
	return action.what == TOP_NOTHING && had_notice ? redraw : action;
}
