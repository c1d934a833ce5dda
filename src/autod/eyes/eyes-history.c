/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "book-care.h"
#include "book-history.h"
#include "core.h"
#include "eyes-floor.h"
#include "eyes-history.h"
#include "loop.h"
#include "settings.h"
#include "view-doc.h"
#include "view-row.h"

#define DAY_MS    (24 * 3600 * (int64_t)1000)
#define AGAIN_MS  1000 /* until a little more is removed */
#define TASKS_MAX 100000 /* that have ended, and 20 times as many events */

struct eyes_history {
	struct eyes_floor *eyes;
	struct json_object *ended; /* rows by id, the newest last; NULL = not
				    * read */
	int64_t filed; /* of the newest */
	struct loop_timer *more; /* NULL = there is nothing to remove */
};

struct eyes_history *
eyes_history_new(struct eyes_floor *eyes)
{
	struct eyes_history *h = xcalloc(1, sizeof *h);

	h->eyes = eyes;
	return h;
}

void
eyes_history_free(struct eyes_history *h)
{
	if (h == NULL)
		return;
	loop_timer_free(h->more);
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
eyes_history_fill(struct eyes_history *h, struct json_object *view)
{
	struct json_object *rows = view_of(view, "ended");
	struct json_object_iter it;

	if (h->ended == NULL)
		h->ended = json_object_new_object();
	book_each_task(h->eyes->core->book,
	    &(struct book_tasks){ .after = h->filed,
		.limit = EYES_ENDED_MAX,
		.oldest_first = true },
	    on_task, h, NULL);
	json_object_object_foreachC(h->ended, it)
	{
		json_set(rows, it.key, json_object_get(it.val));
	}
}

void
eyes_history_forget(struct eyes_history *h)
{
	json_object_put(take_ptr(&h->ended));
	h->filed = 0;
}

static void
on_more(void *arg)
{
	struct eyes_history *h = arg;

	loop_timer_free(take_ptr(&h->more));
	eyes_history_patrol(h);
}

void
eyes_history_patrol(struct eyes_history *h)
{
	const struct core *core = h->eyes->core;
	int64_t now = clock_wall_ms();
	const struct book_limits limits = {
		.now_ms = now,
		.keep_ms =
		    now - settings_int(core->settings, "history.days") * DAY_MS,
		.tasks = TASKS_MAX,
		.bytes = BOOK_BYTES_MAX,
	};

	if (h->more == NULL &&
	    (book_history_prune(core->book, &limits) ||
		book_shrink(core->book)))
		h->more = loop_after(core->loop, AGAIN_MS, on_more, h);
}
