/* SPDX-License-Identifier: ISC */

/*
 * What a person has chosen to see in llmc top, and how keys change it. Keys
 * only change the state and say what is to be done: whoever runs top does it.
 * Pure.
 */
#ifndef TOP_UI_H
#define TOP_UI_H

#include "key-input.h"

struct json_object;

/* The lists, in the order of their keys 1 to 4. */
enum top_screen {
	TOP_WORKERS,
	TOP_TASKS,
	TOP_EVENTS,
	TOP_FAILURES,
	TOP_SCREENS
};

/* What covers the list. */
enum top_page {
	TOP_PAGE_NONE,
	TOP_PAGE_DETAIL, /* of the chosen row */
	TOP_PAGE_COST,
	TOP_PAGE_HELP,
};

enum top_sort {
	TOP_SORT_NAME, /* fixed */
	TOP_SORT_AGE, /* the longest in its status first */
	TOP_SORT_COST, /* the most expensive first */
	TOP_SORTS
};

extern const char *const top_sort_words[TOP_SORTS + 1];

enum top_do {
	TOP_NOTHING,
	TOP_REDRAW,
	TOP_QUIT,
	TOP_ATTACH, /* target: a worker */
	TOP_LOGS, /* of a worker */
	/* These were asked about, and confirmed. */
	TOP_PAUSE, /* a worker */
	TOP_RESUME, /* a worker or a task */
	TOP_ACCEPT, /* a worker */
	TOP_REJECT, /* a worker; text: why */
	TOP_MESSAGE, /* a worker; text */
};

/* The strings are valid until the next key. */
struct top_action {
	enum top_do what;
	const char *target, *text; /* NULL = none */
};

struct top_ui {
	enum top_screen screen;
	enum top_page page;
	char *chosen[TOP_SCREENS]; /* key of a row, NULL = the first one */
	int first; /* row of the list that is on top */
	int scroll; /* of the page, in lines */
	struct buf filter; /* rows that contain it; empty = all */
	bool typing; /* the filter */
	bool problems; /* only rows that need somebody */
	enum top_sort sort;

	enum top_do asked; /* waits for y, or for a text; TOP_NOTHING = none */
	char *target; /* that is asked about */
	struct buf text; /* that is typed for it */
	char *notice; /* shown until the next key */

	struct json_object *frozen; /* the view that is kept, NULL = none */
	int64_t frozen_ms; /* the time then; 0 = at the next frame */

	int list_rows, page_rows, page_lines; /* of the last frame */
	int64_t next_change_ms; /* likewise: see top-frame.h */
};

void top_ui_init(struct top_ui *ui);
void top_ui_release(struct top_ui *ui);

/* view: as it is now. A key that means nothing is TOP_NOTHING; every change to
 * what is shown is TOP_REDRAW at least. Also whatever an action does, draw a
 * frame after it. */
struct top_action
top_key(struct top_ui *ui, struct json_object *view, uint32_t key);

/* Say something on the last line, such as what an action has answered. */
void top_ui_notice(struct top_ui *ui, const char *words);

/* The view that is shown: this one, or the frozen one. */
struct json_object *
top_ui_view(const struct top_ui *ui, struct json_object *view);

/* Does the action ask for a text, not only for y? */
bool top_asks_text(enum top_do what);

#endif
