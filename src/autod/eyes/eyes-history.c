/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "book-care.h"
#include "book-history.h"
#include "clock.h"
#include "core.h"
#include "eyes-floor.h"
#include "eyes-history.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "settings.h"
#include "view-doc.h"
#include "view-row.h"

#define DAY_MS   (24 * 3600 * (int64_t)1000)
#define AGAIN_MS 1000 /* until a little more is removed */

struct eyes_history {
	struct eyes_floor *eyes;
	struct json_object *ended; /* rows by id, the newest last */
	int64_t filed; /* of the newest */
	struct loop_timer *more; /* NULL = there is nothing to remove */
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
	eyes_history_begin(h); /* what is new */
	add_rows(view_of(view, "ended"), h->ended);
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
		.tasks = settings_int(core->settings, "history.tasks"),
		.bytes = BOOK_BYTES_MAX,
	};

	if (h->more == NULL &&
	    (book_history_prune(core->book, &limits) ||
		book_shrink(core->book)))
		h->more = loop_after(core->loop, AGAIN_MS, on_more, h);
}
