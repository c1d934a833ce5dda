/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "check-book.h"
#include "json.h"
#include "landing-item.h"
#include "landing-list.h"
#include "landing-plan.h"
#include "landing-record.h"
#include "landing-view.h"
#include "mem.h"

struct making {
	const struct landing_list *list;
	struct landing_plan plan;
	struct landing_view *views;
};

/* A number that is unknown if negative. */
static void
set_known(struct json_object *json, const char *key, int64_t value)
{
	json_set(json, key, value >= 0 ? json_object_new_int64(value) : NULL);
}

/* --- why it waits ---------------------------------------------------- */

static void
add_held(const struct making *m, size_t entry, struct buf *out)
{
	const struct landing_list *list = m->list;
	const char *trouble =
	    list->troubles != NULL ? list->troubles[entry] : NULL;

	if (m->plan.places[entry] == LANDING_OUT_HELD)
		buf_adds(out, trouble != NULL ? trouble : "it cannot be built");
	else if (list->hold != NULL)
		buf_adds(out, list->hold);
	else
		buf_adds(out, "post_accept_command is running");
}

static void
add_why(const struct making *m, size_t entry, struct buf *out)
{
	const struct landing_list *list = m->list;

	switch (m->views[entry].state) {
	case LANDING_IS_QUEUED:
		buf_adds(out,
		    list->resting                    ? "no daemon is running" :
			m->views[entry].position > 1 ? "others are before it" :
						       "it is being built");
		break;
	case LANDING_IS_BUILT:
		buf_adds(out, "waits for a check");
		break;
	case LANDING_IS_COVERED:
		buf_adds(out, "a check is running");
		break;
	case LANDING_IS_GREEN:
		buf_adds(out, "passed, lands next");
		break;
	case LANDING_IS_LANDING:
		buf_addf(out, "%s is being moved", list->branch);
		break;
	case LANDING_IS_DEFERRED:
		if (m->plan.places[entry] == LANDING_OUT_CONFLICT)
			buf_addf(out, "conflicts with %s", list->branch);
		else
			buf_adds(out, "conflicts with work before it");
		break;
	case LANDING_IS_SUSPECT:
		buf_adds(out, "failed, is checked again");
		break;
	case LANDING_IS_HELD:
		add_held(m, entry, out);
		break;
	case LANDING_IS_RED:
		buf_addf(out, "%s itself fails its check", list->branch);
		break;
	case LANDING_STATE_COUNT:
		break;
	}
}

/* --- items ----------------------------------------------------------- */

static struct json_object *
item_json(const struct landing_item *item, const char *state, const char *why)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "id", item->id);
	json_set_string(json, "state", state);
	json_set_string(json, "why", why);
	json_set_string(json, "kind", item_kind_words[item->kind]);
	json_set_string(json, "priority", priority_name(item->priority));
	json_set_string(json, "worker", item->worker);
	json_set_string(json, "task", item->task);
	json_set_string(json, "title", item->title != NULL ? item->title : "");
	json_set_string(json, "head_sha", item->head);
	json_set_int(json, "queued_unix", item->queued_ms / 1000);
	return json;
}

/* The slot of the check that covers the entry, 0 = none. */
static int
slot_of(const struct making *m, size_t entry)
{
	const struct landing_list *list = m->list;
	const char *tree = m->views[entry].tree;

	for (size_t i = 0; tree != NULL && i < list->facts->run_count; i++)
		if (strcmp(list->facts->runs[i].tree, tree) == 0)
			return list->slots[i];
	return 0;
}

static struct json_object *
entry_json(const struct making *m, size_t entry)
{
	const struct landing_view *view = &m->views[entry];
	cleanup_buf struct buf why = BUF_INIT;
	struct json_object *json;
	int slot = slot_of(m, entry);

	add_why(m, entry, &why);
	json = item_json(
	    m->list->items[entry], landing_state_name(view->state), why.data);
	json_set_int(json, "position", (int64_t)view->position);
	set_known(json, "check_slot", slot > 0 ? slot : -1);
	set_known(
	    json, "expected_ms", m->list->resting ? -1 : view->expected_ms);
	return json;
}

/* It has left the queue, but its worker is not done with it. */
static struct json_object *
ended_json(const struct landing_item *item)
{
	bool landed = item->step == ITEM_LANDED;
	struct json_object *json = item_json(item,
	    landed ? "landed" : "ejected",
	    landed ? "its worker is being reset" : "its worker will be told");

	json_set(json, "position", NULL);
	json_set(json, "check_slot", NULL);
	json_set(json, "expected_ms", NULL);
	return json;
}

static struct json_object *
items_json(const struct making *m)
{
	const struct landing_record *record = m->list->record;
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step != ITEM_QUEUED)
			json_object_array_add(
			    array, ended_json(record->items[i]));
	for (size_t i = 0; i < m->list->facts->entry_count; i++)
		json_object_array_add(array, entry_json(m, m->plan.order[i]));
	return array;
}

/* --- checks ---------------------------------------------------------- */

static struct json_object *
run_json(const struct making *m, size_t run)
{
	const struct landing_run *r = &m->list->facts->runs[run];
	struct json_object *json = json_object_new_object();
	struct json_object *covers = json_object_new_array();

	json_set_int(json, "slot", m->list->slots[run]);
	json_set_string(json, "tree_sha", r->tree);
	json_set_int(json, "since_unix", r->started_ms / 1000);
	json_set_bool(json, "cancelled", r->cancelled);
	for (size_t i = 0; r->tasks[i] != NULL; i++)
		json_object_array_add(
		    covers, json_object_new_string(r->tasks[i]));
	json_set(json, "covers", covers);
	return json;
}

static struct json_object *
runs_json(const struct making *m)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < m->list->facts->run_count; i++)
		json_object_array_add(array, run_json(m, i));
	return array;
}

/* NULL = no command is set. */
static struct json_object *
check_json(const struct making *m)
{
	const struct check_book *book = m->list->facts->book;
	const char *key = m->list->facts->command;
	const struct check_command *known;
	struct json_object *json;
	int64_t took;

	if (key == NULL)
		return NULL;
	known = check_book_command(book, key);
	took = check_book_expected_ms(book, key);
	json = json_object_new_object();
	json_set_string(json, "command", m->list->check);
	set_known(json, "expected_ms", took > 0 ? took : -1);
	json_set_int(json, "trees", known != NULL ? known->trees : 0);
	json_set_int(json, "flaky_trees", known != NULL ? known->flaky : 0);
	set_known(json, "flaky_percent", check_book_flake_percent(book, key));
	json_set_bool(json, "flaky_alarm", check_book_alarm(book, key));
	return json;
}

struct json_object *
landing_list_json(const struct landing_list *list)
{
	const char *base = list->facts->base_commit;
	struct making m = { .list = list };
	struct json_object *json = json_object_new_object();

	landing_plan_make(list->facts, list->now_ms, &m.plan);
	m.views = xcalloc(list->facts->entry_count + 1, sizeof *m.views);
	landing_view_make(list->facts, &m.plan, list->now_ms, m.views);
	json_set_string(json, "landing_branch", list->branch);
	json_set_string(json, "base_sha", base[0] != '\0' ? base : NULL);
	json_set_bool(json, "red", m.plan.red);
	json_set_string(json, "hold", list->hold);
	json_set(json, "check", check_json(&m));
	json_set(json, "push",
	    list->pushes ? push_record_json(&list->record->push) : NULL);
	json_set(json, "running", runs_json(&m));
	json_set(json, "items", items_json(&m));
	free(m.views);
	landing_plan_release(&m.plan);
	return json;
}

struct json_object *
landing_list_resting(struct landing_list list, const char *base_commit,
    const char *base_tree, const char *key)
{
	const struct landing_record *record = list.record;
	cleanup_free struct landing_entry *entries =
	    xcalloc(record->count + 1, sizeof *entries);
	cleanup_free struct landing_item **items =
	    xcalloc(record->count + 1, sizeof(struct landing_item *));
	struct landing_facts facts = {
		.base_commit = base_commit,
		.base_tree = base_tree,
		.entries = entries,
		.book = &record->checks,
		.command = key,
		.window = record->window,
	};

	for (size_t i = 0; i < record->count; i++) {
		struct landing_item *item = record->items[i];

		if (item->step != ITEM_QUEUED)
			continue;
		items[facts.entry_count] = item;
		entries[facts.entry_count++] = (struct landing_entry){
			.task = item->id,
			.priority = item->priority,
			.seq = item->seq,
		};
	}
	list.facts = &facts;
	list.items = items;
	list.resting = true;
	return landing_list_json(&list);
}
