/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "landing-item.h"
#include "landing-record.h"
#include "schema.h"

const char *const item_kind_words[ITEM_KIND_COUNT + 1] = {
	[ITEM_WORK] = "work",
	[ITEM_PICK] = "pick",
	[ITEM_REVERT] = "revert",
	[ITEM_SHARED] = "shared",
};

static const char *const item_step_words[ITEM_STEP_COUNT + 1] = {
	[ITEM_QUEUED] = "queued",
	[ITEM_LANDED] = "landed",
	[ITEM_PROPOSED] = "proposed",
	[ITEM_EJECTED] = "ejected",
	[ITEM_SUBMITTED] = "submitted",
};

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct landing_item, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("id", id, .flags = SCHEMA_REQUIRED),
	FIELD("kind", kind, .words = item_kind_words),
	FIELD("step", step, .words = item_step_words),
	FIELD("priority", priority, .words = priority_words),
	FIELD("seq", seq),
	FIELD("worker", worker),
	FIELD("task", task),
	FIELD("attempt", attempt),
	FIELD("title", title),
	FIELD("head", head, .flags = SCHEMA_REQUIRED),
	FIELD("base", base),
	FIELD("undoes", undoes, .max = RED_RUN_MAX),
	FIELD("why", why),
	FIELD("head_tree", head_tree),
	FIELD("base_tree", base_tree),
	FIELD("message", message),
	FIELD("author_name", author_name),
	FIELD("author_email", author_email),
	FIELD("author_date", author_date),
	FIELD("committer_date", committer_date),
	FIELD("freeing", freeing),
	FIELD("approved", approved),
	FIELD("guarded", guarded),
	FIELD("tests", tests),
	FIELD("conflict", conflict),
	FIELD("incorporated", incorporated),
	FIELD("commit", commit),
	FIELD("tree", tree),
	FIELD("place", place),
	FIELD("words", words),
	FIELD("picked_head", picked_head),
	FIELD("uncommitted", uncommitted),
	FIELD("queued_ms", queued_ms, .flags = SCHEMA_CLAMP),
};

const struct schema landing_item_schema = SCHEMA_OF(struct landing_item, fields,
    .blank = &(const struct landing_item){ .priority = PRIORITY_NORMAL });

struct landing_item *
landing_item_new(const char *id)
{
	struct landing_item *item = schema_new(&landing_item_schema);

	xstrset(&item->id, id);
	return item;
}
