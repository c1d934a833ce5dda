/* SPDX-License-Identifier: ISC */

/* The tasks that are shared, a row of the own book for each. */

#include "base.h"
#include "asks.h"
#include "book.h"
#include "hosts-private.h"
#include "schema.h"
#include "task.h"

static const char *const share_keys[] = { "id", NULL };

static const struct book_table *
share_table(void)
{
	static struct book_table table = { .name = "share",
		.keys = share_keys };

	table.fields = share_schema.fields;
	table.count = share_schema.count;
	return &table;
}

struct share *
share_of_task(const struct hosts_floor *floor, const char *task)
{
	for (size_t i = 0; i < floor->share_count; i++)
		if (strcmp(floor->shares[i]->task, task) == 0)
			return floor->shares[i];
	return NULL;
}

struct share *
share_of_id(const struct hosts_floor *floor, const char *id)
{
	for (size_t i = 0; i < floor->share_count; i++)
		if (strcmp(floor->shares[i]->id, id) == 0)
			return floor->shares[i];
	return NULL;
}

void
share_save(struct hosts_floor *floor, struct share *share)
{
	book_put(floor->core->book, share_table(), share);
}

static struct share *
keep(struct hosts_floor *floor, struct share *share)
{
	floor->shares = xreallocarray(
	    floor->shares, floor->share_count + 1, sizeof(struct share *));
	floor->shares[floor->share_count++] = share;
	return share;
}

struct share *
share_add(struct hosts_floor *floor, const char *id, const char *task,
    const char *owner, enum share_step step)
{
	struct share *share = schema_new(&share_schema);

	*share = (struct share){ .id = xstrdup(id),
		.task = xstrdup(task),
		.owner = xstrdup(owner),
		.step = step };
	share_save(floor, share);
	return keep(floor, share);
}

void
share_remove(struct hosts_floor *floor, struct share *share)
{
	cleanup_free char *key = xasprintf("host/%s", share->id);
	size_t i = 0;

	if (share->asks)
		asks_resolve(floor->core, key);

	while (floor->shares[i] != share)
		i++;
	floor->share_count--;
	memmove(floor->shares + i, floor->shares + i + 1,
	    (floor->share_count - i) * sizeof(struct share *));
	if (floor->share == share)
		floor->share = NULL;
	book_delete(floor->core->book, share_table(),
	    (const struct book_value[]){ BOOK_T(share->id) });
	schema_free(&share_schema, share);
}

static bool
on_loaded(struct book_row *row, void *arg)
{
	struct hosts_floor *floor = arg;
	struct share *share = schema_new(&share_schema);

	if (book_read(floor->core->book, share_table(), row, share, NULL) < 0 ||
	    share->id == NULL || share->task == NULL || share->owner == NULL)
		schema_free(&share_schema, share);
	else
		keep(floor, share);
	return true;
}

int
shares_load(struct hosts_floor *floor, struct err *err)
{
	int r = book_add_table(floor->core->book, share_table(), err);

	return r < 0 ? r :
		       book_query(floor->core->book,
			   "SELECT share.* FROM share ORDER BY share.id", NULL,
			   0, on_loaded, floor, err);
}

void
shares_free(struct hosts_floor *floor)
{
	for (size_t i = 0; i < floor->share_count; i++)
		schema_free(&share_schema, floor->shares[i]);
	free(floor->shares);
	floor->shares = NULL;
	floor->share_count = 0;
}

bool
share_is_own(const struct hosts_floor *floor, const struct share *share)
{
	return strcmp(share->owner, floor->host) == 0;
}

struct task *
share_task(const struct hosts_floor *floor, const struct share *share)
{
	return state_task(&floor->core->state, share->task);
}

struct task *
share_add_task(struct hosts_floor *floor, const char *id, const char *owner,
    const char *body)
{
	struct task *t = share_read(id, body);
	int64_t now = clock_wall_ms();

	if (t == NULL || t->text == NULL) {
		task_free(t);
		return NULL;
	}
	xstrset(&t->source, HOSTS_SOURCE);
	xstrset(&t->worker, NULL);
	xstrset(&t->host, NULL);
	xstrset(&t->from, NULL);
	t->step = TASK_OFFERED;
	t->outcome = OUTCOME_NONE;
	t->created_ms = now;
	task_take(t, now);
	task_note(t, "claimed from host", owner, now);
	auto_add_task(floor->mode, t);
	return t;
}
