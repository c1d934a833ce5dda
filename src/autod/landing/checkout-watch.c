/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "landing-private.h"
#include "loop.h"
#include "watch.h"

struct checkout_watch {
	struct loop *loop;
	checkout_watch_fn *fn;
	void *arg;
	struct loop_timer *next; /* look; NULL = it does not wait */
	char **paths; /* that are watched */
	struct watch **watches;
	size_t count;
	int64_t looked_ms; /* when the last look began */
	bool changed; /* since then */
	int64_t first_ms, last_ms; /* the changes */
};

/* --- when ------------------------------------------------------------ */

static void
on_due(void *arg)
{
	struct checkout_watch *watch = arg;

	checkout_watch_looks(watch);
	watch->fn(watch->arg);
}

static void
arm(struct checkout_watch *watch, int64_t ms)
{
	loop_timer_set(&watch->next, watch->loop, ms, on_due, watch);
}

/* When the changes have come to an end, or do not come to one; but looks keep
 * their distance. */
static void
arm_soon(struct checkout_watch *watch)
{
	int64_t due = watch->last_ms + CHECKOUT_WATCH_SETTLE_MS;

	if (due > watch->first_ms + CHECKOUT_WATCH_SPACE_MS)
		due = watch->first_ms + CHECKOUT_WATCH_SPACE_MS;
	if (due < watch->looked_ms + CHECKOUT_WATCH_SPACE_MS)
		due = watch->looked_ms + CHECKOUT_WATCH_SPACE_MS;
	due -= clock_mono_ms();
	arm(watch, due > 0 ? due : 0);
}

static void
on_changed(void *arg)
{
	struct checkout_watch *watch = arg;

	watch->last_ms = clock_mono_ms();
	if (!watch->changed)
		watch->first_ms = watch->last_ms;
	watch->changed = true;
	if (watch->next != NULL)
		arm_soon(watch);
}

/* --- what ------------------------------------------------------------ */

static void
unwatch(struct checkout_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		watch_free(watch->watches[i]);
	free(take_ptr(&watch->watches));
	watch->count = 0;
	strv_clear(&watch->paths);
}

/* The path, or the first part of it that does not exist: it must appear before
 * the rest can. The caller frees. */
static char *
watchable(const char *path)
{
	char *part = xstrdup(path);

	for (char *p = part + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		if (!file_is_dir(part))
			return part;
		*p = '/';
	}
	return part;
}

static bool
is_same(char *const *a, char *const *b)
{
	size_t count = strv_count(a);

	if (a == NULL || b == NULL || strv_count(b) != count)
		return a == b;
	for (size_t i = 0; i < count; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

void
checkout_watch_wait(struct checkout_watch *watch, const char *const *places)
{
	cleanup_strv char **paths = NULL;

	for (; *places != NULL; places++)
		strv_take(&paths, watchable(*places));
	if (!is_same(paths, watch->paths)) {
		size_t count;

		unwatch(watch);
		watch->paths = take_ptr(&paths);
		/* What cannot be watched is looked at with the rest once in
		 * a while. */
		count = strv_count(watch->paths);
		watch->watches = xcalloc(count + 1, sizeof(struct watch *));
		for (size_t i = 0; i < count; i++)
			if (watch_new(watch->loop, watch->paths[i], on_changed,
				watch, &watch->watches[watch->count],
				NULL) == 0)
				watch->count++;
		/* They may have changed before they were watched. */
		arm(watch, CHECKOUT_WATCH_LOOK_MS);
		if (watch->count > 0)
			on_changed(watch);
	} else if (watch->changed) {
		arm_soon(watch);
	} else {
		arm(watch, CHECKOUT_WATCH_LOOK_MS);
	}
}

bool
checkout_watch_waits(const struct checkout_watch *watch)
{
	return watch->next != NULL;
}

void
checkout_watch_looks(struct checkout_watch *watch)
{
	loop_timer_free(take_ptr(&watch->next));
	watch->looked_ms = clock_mono_ms();
	watch->changed = false;
}

void
checkout_watch_end(struct checkout_watch *watch)
{
	loop_timer_free(take_ptr(&watch->next));
	watch->changed = false;
	unwatch(watch);
}

struct checkout_watch *
checkout_watch_new(struct loop *loop, checkout_watch_fn *fn, void *arg)
{
	struct checkout_watch *watch = xcalloc(1, sizeof *watch);

	watch->loop = loop;
	watch->fn = fn;
	watch->arg = arg;
	watch->looked_ms = clock_mono_ms() - CHECKOUT_WATCH_SPACE_MS;
	return watch;
}

void
checkout_watch_free(struct checkout_watch *watch)
{
	if (watch == NULL)
		return;
	checkout_watch_end(watch);
	free(watch);
}
