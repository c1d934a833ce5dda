/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "git-freeze.h"
#include "git.h"
#include "landing-item.h"
#include "landing-record.h"
#include "log.h"
#include "mem.h"
#include "op-enqueue.h"
#include "queue.h"
#include "stray-refs.h"
#include "text.h"
#include "workspace.h"

static void
on_dropped(const struct err *err, void *arg)
{
	(void)arg;
	if (err != NULL)
		log_debug("a ref of the landing queue stays");
}

static bool
is_queued(const struct landing_record *record, const char *id)
{
	for (size_t i = 0; i < record->count; i++)
		if (strcmp(record->items[i]->id, id) == 0)
			return true;
	return false;
}

/* Ids from now on belong to work that is being frozen. */
static bool
is_stray(const struct queue *queue, const char *id)
{
	int64_t number;

	return id[0] == 'q' && text_parse_int(id + 1, 1, INT64_MAX, &number) &&
	    (uint64_t)number <= queue->ids_before &&
	    !is_queued(&queue->core->state.landings, id);
}

static void
on_listed(const struct git_answer *answer, void *arg)
{
	struct queue *queue = arg;
	cleanup_free char *text = xstrdup(answer->out);

	if (answer->status != 0)
		return; /* the next daemon looks again */
	for (char *at = text, *id; (id = strsep(&at, "\n")) != NULL;) {
		cleanup_free char *ref = op_enqueue_ref(id);
		char *built = strstr(id, OP_ENQUEUE_BUILT);

		if (built != NULL)
			*built = '\0';

		if (is_stray(queue, id))
			git_freeze_drop(
			    queue->core->git, ref, on_dropped, NULL);
	}
}

void
stray_refs_drop(struct queue *queue)
{
	struct core *core = queue->core;
	cleanup_free char *all = op_enqueue_ref("");
	const char *const args[] = { "for-each-ref",
		"--format=%(refname:lstrip=3)", all, NULL };
	struct git_command list = { .args = args };

	git_freeze_unlock(core->git, all);
	queue->ids_before = core->state.landings.ids;
	if (queue->ids_before > 0)
		git_run(git_queue(core->git, core->workspace->root), &list,
		    on_listed, queue);
}
