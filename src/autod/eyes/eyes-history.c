/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "book-care.h"
#include "book-history.h"
#include "clock.h"
#include "core.h"
#include "eyes-floor.h"
#include "eyes-history.h"
#include "json.h"
#include "mem.h"
#include "report-period.h"
#include "settings.h"
#include "view-doc.h"
#include "view-row.h"

#define DAY_MS (24 * 3600 * (int64_t)1000)

struct eyes_history {
	struct eyes_floor *eyes;
	struct json_object *ended; /* rows by id, the newest last */
	int64_t filed; /* of the newest */
};

struct eyes_history *
eyes_history_new(struct eyes_floor *eyes)
{
	struct eyes_history *h = xcalloc(1, sizeof *h);

	h->eyes = eyes;
	h->ended = json_object_new_object();
	return h;
}

void
eyes_history_free(struct eyes_history *h)
{
	if (h == NULL)
		return;
	json_object_put(h->ended);
	free(h);
}

/* One whose record was corrected is the newest again. */
static bool
on_task(const struct task *task, int64_t filed, void *arg)
{
	struct eyes_history *h = arg;
	struct json_object_iterator first;

	h->filed = filed;
	json_object_object_del(h->ended, task->id);
	json_set(h->ended, task->id, view_row_task(task));
	if (json_object_object_length(h->ended) > EYES_ENDED_MAX) {
		first = json_object_iter_begin(h->ended);
		json_object_object_del(
		    h->ended, json_object_iter_peek_name(&first));
	}
	return true;
}

void
eyes_history_begin(struct eyes_history *h)
{
	book_each_task(h->eyes->core->book,
	    &(struct book_tasks){ .after = h->filed,
		.limit = EYES_ENDED_MAX,
		.oldest_first = true },
	    on_task, h, NULL);
}

static void
add_rows(struct json_object *rows, struct json_object *more)
{
	json_object_object_foreach(more, id, row)
	{
		json_set(rows, id, json_object_get(row));
	}
}

void
eyes_history_fill(struct eyes_history *h, struct json_object *view)
{
	struct book *book = h->eyes->core->book;
	struct report_run run = { 0 };

	eyes_history_begin(h); /* what is new */
	add_rows(view_of(view, "ended"), h->ended);
	if (book_find_run(book, &run, NULL) == 0 && run.id != NULL)
		json_set_int(
		    view_of(view, "head"), "night_unix", run.from_ms / 1000);
	report_run_release(&run);
}

void
eyes_history_patrol(struct eyes_history *h)
{
	const struct core *core = h->eyes->core;
	int64_t now = clock_wall_ms();

	if (!book_history_prune(core->book, now,
		now - settings_int(core->settings, "history.days") * DAY_MS,
		settings_int(core->settings, "history.tasks")))
		book_shrink(core->book);
}
