/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "core.h"
#include "errtext.h"
#include "id.h"
#include "inbox.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "persist.h"
#include "spool.h"
#include "watch.h"

/* In one pass of the loop. */
#define DRAIN_MAX 256
#define DRAIN_US  10000

/* An event that was processed. Its file is removed when the changes are
 * saved. */
struct taken {
	struct inbox *inbox;
	char id[ID_ULID_SIZE];
};

struct inbox {
	struct core *core;
	char *dir;
	char *worker;
	inbox_fn *fn;
	void *arg;
	struct watch *watch;
	void *taken; /* a tree of them: tsearch(3) */
	int64_t until_us; /* of this pass */
};

static int
compare_taken(const void *a, const void *b)
{
	const struct taken *one = a, *other = b;

	return strcmp(one->id, other->id);
}

static bool
is_taken(const char *id, void *arg)
{
	struct inbox *inbox = arg;
	struct taken key;

	strlcpy(key.id, id, sizeof key.id);
	return tfind(&key, &inbox->taken, compare_taken) != NULL;
}

static void
on_written(void *arg)
{
	struct taken *taken = arg;

	if (spool_remove(taken->inbox->dir, taken->id) < 0)
		log_debug("spool: %s stays", taken->id);
	tdelete(taken, &taken->inbox->taken, compare_taken);
	free(taken);
}

static int
on_spooled(const char *id, struct json_object *event, void *arg)
{
	struct inbox *inbox = arg;
	int64_t now = clock_mono_us();
	struct taken *taken;

	if (inbox->until_us == 0)
		inbox->until_us = now + DRAIN_US;
	else if (now > inbox->until_us)
		return -EAGAIN;
	inbox->fn(inbox, event, inbox->arg);
	taken = xcalloc(1, sizeof *taken);
	taken->inbox = inbox;
	strlcpy(taken->id, id, sizeof taken->id);
	if (tsearch(taken, &inbox->taken, compare_taken) == NULL)
		fatalx("out of memory: an event of the spool");
	persist_then(inbox->core, inbox, on_written, taken);
	return SPOOL_KEEP;
}

/* At least one event, however long it takes to list the folder. */
bool
inbox_drain(struct inbox *inbox)
{
	struct err err = { 0 };
	int r;

	inbox->until_us = 0;
	r = spool_drain(
	    inbox->dir, DRAIN_MAX, is_taken, on_spooled, inbox, &err);
	if (r < 0 && r != -EAGAIN)
		log_debug("spool: %s", err.msg);
	return r == DRAIN_MAX || r == -EAGAIN;
}

void
inbox_watch(struct inbox *inbox, void (*changed)(void *arg), void *arg)
{
	if (watch_new(inbox->core->loop, inbox->dir, changed, arg,
		&inbox->watch, NULL) < 0)
		log_debug("%s is not watched", inbox->dir);
}

const char *
inbox_worker(const struct inbox *inbox)
{
	return inbox->worker;
}

struct inbox *
inbox_new(struct core *core, const char *dir, const char *worker, inbox_fn *fn,
    void *arg)
{
	struct inbox *inbox = xcalloc(1, sizeof *inbox);

	inbox->core = core;
	inbox->dir = xstrdup(dir);
	inbox->worker = worker != NULL ? xstrdup(worker) : NULL;
	inbox->fn = fn;
	inbox->arg = arg;
	return inbox;
}

void
inbox_free(struct inbox *inbox)
{
	persist_forget(inbox->core, inbox);
	watch_free(inbox->watch);
	tdestroy(inbox->taken, free);
	free(inbox->dir);
	free(inbox->worker);
	free(inbox);
}
