/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "check-book.h"
#include "landing-list.h"
#include "landing-plan.h"
#include "landing-record.h"
#include "schema.h"

static const char *const state_words[] = {
	[LANDING_IS_QUEUED] = "queued",
	[LANDING_IS_BUILT] = "built",
	[LANDING_IS_COVERED] = "covered",
	[LANDING_IS_GREEN] = "green",
	[LANDING_IS_LANDING] = "landing",
	[LANDING_IS_DEFERRED] = "deferred",
	[LANDING_IS_SUSPECT] = "suspect",
	[LANDING_IS_HELD] = "held",
	[LANDING_IS_RED] = "red",
};

_Static_assert(
    nitems(state_words) == LANDING_STATE_COUNT, "a word for every state");

/* Of entries that are not in the chain. */
static const enum landing_state states_outside[LANDING_PLACE_COUNT] = {
	[LANDING_BEHIND] = LANDING_IS_QUEUED,
	[LANDING_OUT_HELD] = LANDING_IS_HELD,
	[LANDING_OUT_MOVING] = LANDING_IS_LANDING,
	[LANDING_OUT_DEFERRED] = LANDING_IS_DEFERRED,
	[LANDING_OUT_CONFLICT] = LANDING_IS_DEFERRED,
	[LANDING_OUT_DONE] = LANDING_IS_GREEN,
	[LANDING_OUT_RED] = LANDING_IS_RED,
};

const char *
landing_state_name(enum landing_state state)
{
	return state < LANDING_STATE_COUNT ? state_words[state] : NULL;
}

/* The first run that covers the link: of its tree or of one after it. */
static const struct landing_run *
covering_run(const struct landing_facts *facts, const struct landing_plan *plan,
    size_t link)
{
	for (; link < plan->link_count; link++)
		for (size_t i = 0; i < facts->run_count; i++)
			if (!facts->runs[i].cancelled &&
			    (strcmp(facts->runs[i].tree,
				 plan->links[link].tree) == 0 ||
				text_is(facts->entries[plan->links[link].entry]
					    .stands,
				    facts->runs[i].tree)))
				return &facts->runs[i];
	return NULL;
}

static enum landing_state
state_in_chain(const struct landing_facts *facts,
    const struct landing_plan *plan, size_t link, bool covered)
{
	if (link < plan->green)
		return facts->hold ? LANDING_IS_HELD : LANDING_IS_GREEN;
	if (link == plan->green && plan->suspect)
		return LANDING_IS_SUSPECT;
	if (covered)
		return LANDING_IS_COVERED;
	return plan->red ? LANDING_IS_RED : LANDING_IS_BUILT;
}

static int64_t
remaining_ms(const struct landing_run *run, int64_t took_ms, int64_t now_ms)
{
	int64_t left = run->started_ms + took_ms - now_ms;

	return left < 0 ? 0 : left < took_ms ? left : took_ms;
}

/* Until a slot is free. */
static int64_t
slot_ms(const struct landing_facts *facts, int64_t took_ms, int64_t now_ms)
{
	int64_t least = took_ms;

	if (facts->run_count < (size_t)(facts->slots > 0 ? facts->slots : 1))
		return 0;
	for (size_t i = 0; i < facts->run_count; i++) {
		int64_t left = remaining_ms(&facts->runs[i], took_ms, now_ms);

		if (left < least)
			least = left;
	}
	return least;
}

/* `ahead` entries must land before this one. */
static int64_t
expect(const struct landing_facts *facts, const struct landing_plan *plan,
    const struct landing_view *view, const struct landing_run *run,
    size_t ahead, int64_t now_ms)
{
	size_t batch = facts->mode == LANDING_EACH ? (size_t)facts->slots :
						     plan->link_count;
	int64_t took_ms;

	if (view->state == LANDING_IS_GREEN ||
	    view->state == LANDING_IS_LANDING)
		return 0;
	if (view->state == LANDING_IS_HELD ||
	    view->state == LANDING_IS_DEFERRED || view->state == LANDING_IS_RED)
		return -1;
	if (facts->command == NULL)
		return 0;
	took_ms = check_book_expected_ms(facts->book, facts->command);
	if (took_ms == 0)
		return -1;
	if (run != NULL)
		return remaining_ms(run, took_ms, now_ms);
	return slot_ms(facts, took_ms, now_ms) +
	    took_ms * (int64_t)(1 + ahead / (batch > 0 ? batch : 1));
}

void
landing_view_make(const struct landing_facts *facts,
    const struct landing_plan *plan, int64_t now_ms,
    struct landing_view *ret_views)
{
	size_t link = 0, ahead = 0;

	for (size_t i = 0; i < facts->entry_count; i++) {
		size_t entry = plan->order[i];
		enum landing_place place = plan->places[entry];
		struct landing_view *view = &ret_views[entry];
		const struct landing_run *run = NULL;

		*view = (struct landing_view){ .position = i + 1 };
		if (place == LANDING_IN_CHAIN) {
			run = covering_run(facts, plan, link);
			view->state =
			    state_in_chain(facts, plan, link, run != NULL);
			if (link++ < plan->green)
				run = NULL;
		} else {
			view->state = states_outside[place];
		}
		view->tree = run != NULL ? run->tree : NULL;
		view->expected_ms =
		    expect(facts, plan, view, run, ahead, now_ms);
		if (view->expected_ms > 0)
			ahead++;
	}
}

bool
landing_view_is_long(const struct landing_view *view)
{
	return view->state == LANDING_IS_RED ||
	    view->expected_ms > LANDING_HOLD_MS;
}

/* What is shown of an item, of a check that runs, and of the check command.
 * Numbers below 0 are not known. */
struct item_row {
	const char *id, *state, *why;
	enum item_kind kind;
	enum priority priority;
	const char *worker, *task, *title, *head;
	int64_t queued_ms, position, slot, expected_ms;
};

struct run_row {
	int slot;
	const char *tree;
	int64_t since_ms;
	bool cancelled;
	char **covers;
};

struct check_row {
	const char *command;
	int64_t expected_ms;
	int trees, flaky, percent;
	bool alarm;
};

#define ITEM(key, member, ...) \
	SCHEMA_FIELD(struct item_row, key, member, ##__VA_ARGS__)
#define RUN(key, member, ...) \
	SCHEMA_FIELD(struct run_row, key, member, ##__VA_ARGS__)
#define CHECK(key, member, ...) \
	SCHEMA_FIELD(struct check_row, key, member, ##__VA_ARGS__)
#define ALWAYS .flags = SCHEMA_REQUIRED
#define KNOWN  .flags = SCHEMA_UNKNOWN

static const struct schema_field item_fields[] = {
	ITEM("id", id, ALWAYS, .help = "its name in the queue, such as q17"),
	ITEM("state", state, ALWAYS,
	    .choices = (const char *const[]){ "queued", "built", "covered",
		"green", "landing", "deferred", "suspect", "held", "red",
		"landed", "proposed", "ejected", "submitted", NULL }),
	ITEM("why", why, ALWAYS, .help = "why it waits, for people"),
	ITEM("kind", kind, .words = item_kind_words),
	ITEM("priority", priority, .words = priority_words),
	ITEM("worker", worker,
	    .help = "whose worktree has it; null when it has none any more"),
	ITEM("task", task, .help = "null: accepted by hand"),
	ITEM("title", title, ALWAYS),
	ITEM("head_sha", head, ALWAYS,
	    .help = "the accepted commit; of a revert, what it takes back"),
	ITEM("queued_unix", queued_ms, .flags = SCHEMA_UNIX,
	    .help = "when it was accepted"),
	ITEM("position", position, KNOWN,
	    .help = "from 1; null when it has left the queue, or waits for a "
		    "person"),
	ITEM("check_slot", slot, KNOWN,
	    .help = "slot of the running check that covers it"),
	ITEM("expected_ms", expected_ms, KNOWN,
	    .help = "until it lands if all goes well; null when unknown"),
};
static const struct schema item_schema =
    SCHEMA_OF(struct item_row, item_fields);

static const struct schema_field run_fields[] = {
	RUN("slot", slot, .help = "LLMC_CHECK_SLOT"),
	RUN("tree_sha", tree, ALWAYS, .help = "what is checked"),
	RUN("since_unix", since_ms, .flags = SCHEMA_UNIX),
	RUN("cancelled", cancelled, .help = "it was told to stop"),
	RUN("covers", covers,
	    .help = "ids of items; empty when the branch itself is checked"),
};
static const struct schema run_schema = SCHEMA_OF(struct run_row, run_fields);

static const struct schema_field check_fields[] = {
	CHECK("command", command, ALWAYS, .help = "auto.check_command"),
	CHECK("expected_ms", expected_ms, KNOWN, .help = "how long it takes"),
	CHECK("trees", trees, .help = "that it has judged"),
	CHECK("flaky_trees", flaky,
	    .help = "of them, those that both failed and passed"),
	CHECK("flaky_percent", percent, KNOWN,
	    .help = "the same in percent; null when it has judged none"),
	CHECK("flaky_alarm", alarm, .help = "that is too many"),
};
static const struct schema check_schema =
    SCHEMA_OF(struct check_row, check_fields);

#define PART(key, kind, schema, words)                                  \
	{                                                               \
		.name = (key), .type = (kind), .of = &(schema),         \
		.flags = (kind) == SCHEMA_OBJECT ? SCHEMA_NULLABLE : 0, \
		.help = (words)                                         \
	}

static const struct schema_field fields[] = {
	SCHEMA_FIELD(struct landing_list, "landing_branch", branch, ALWAYS,
	    .help = "the branch that work lands on"),
	SCHEMA_OR_NULL(
	    "base_sha", STRING, "its last commit; null when it is not known"),
	SCHEMA_IS("red", BOOL, "that commit fails its own check"),
	SCHEMA_OR_NULL("unproven_sha", STRING,
	    "what landed on a result that was overtaken, and no check has "
	    "passed yet"),
	SCHEMA_FIELD(struct landing_list, "hold", hold,
	    .help = "why the branch cannot be moved now"),
	PART("check", SCHEMA_OBJECT, check_schema,
	    "null: no check command is set"),
	PART("push", SCHEMA_OBJECT, push_record_schema,
	    "null: repo.upstream is off, or there is nothing to say"),
	PART("running", SCHEMA_ROWS, run_schema, "checks"),
	PART("items", SCHEMA_ROWS, item_schema, "in the order of the queue"),
};

const struct schema landing_list_schema =
    SCHEMA_OF(struct landing_list, fields);

struct making {
	const struct landing_list *list;
	struct landing_plan plan;
	struct landing_view *views;
};

/* --- items ----------------------------------------------------------- */

/* Of one that has left the queue, if nothing else is said. */
static struct item_row
row_of(const struct landing_item *item)
{
	static const char *const states[ITEM_STEP_COUNT] = {
		[ITEM_QUEUED] = "landed",
		[ITEM_LANDED] = "landed",
		[ITEM_PROPOSED] = "proposed",
		[ITEM_EJECTED] = "ejected",
		[ITEM_SUBMITTED] = "submitted",
		[ITEM_HELD] = "held",
	};
	const char *why = item->step == ITEM_HELD ?
	    item->words :
	    item->step == ITEM_SUBMITTED ?
	    "waits for the host that lands the work of all: llmc fleet hosts" :
	    item->kind == ITEM_SHARED  ? "the host that did it will be told" :
	    item->step == ITEM_EJECTED ? "its worker will be told" :
					 "its worker is being reset";

	return (struct item_row){ .id = item->id,
		.state = states[item->step],
		.why = why,
		.kind = item->kind,
		.priority = item->priority,
		.worker = item->worker,
		.task = item->task,
		.title = item->title != NULL ? item->title : "",
		.head = item->head,
		.queued_ms = item->queued_ms,
		.position = -1,
		.slot = -1,
		.expected_ms = -1 };
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
	struct item_row row = row_of(m->list->items[entry]);
	cleanup_buf struct buf why = BUF_INIT;
	int slot = slot_of(m, entry);
	const struct landing_list *list = m->list;
	const char *trouble =
	    list->troubles != NULL ? list->troubles[entry] : NULL;

	switch (m->views[entry].state) {
	case LANDING_IS_QUEUED:
		buf_adds(&why,
		    list->resting                    ? "no daemon is running" :
			m->views[entry].position > 1 ? "others are before it" :
						       "it is being built");
		break;
	case LANDING_IS_BUILT:
		buf_adds(&why, "waits for a check");
		break;
	case LANDING_IS_COVERED:
		buf_adds(&why, "a check is running");
		break;
	case LANDING_IS_GREEN:
		buf_adds(&why, "passed, lands next");
		break;
	case LANDING_IS_LANDING:
		buf_addf(&why, "%s is being moved", list->branch);
		break;
	case LANDING_IS_DEFERRED:
		if (m->plan.places[entry] == LANDING_OUT_CONFLICT)
			buf_addf(&why, "conflicts with %s", list->branch);
		else
			buf_adds(&why, "conflicts with work before it");
		break;
	case LANDING_IS_SUSPECT:
		buf_adds(&why, "failed, is checked again");
		break;
	case LANDING_IS_HELD:
		buf_adds(&why,
		    m->plan.places[entry] != LANDING_OUT_HELD ?
			(list->hold != NULL ?
				list->hold :
				"post_accept_command is running") :
			trouble != NULL ? trouble :
					  "it cannot be built");
		break;
	case LANDING_IS_RED:
		buf_addf(&why, "%s itself fails its check", list->branch);
		break;
	case LANDING_STATE_COUNT:
		break;
	}
	row.state = landing_state_name(view->state);
	row.why = why.data;
	row.position = (int64_t)view->position;
	row.slot = slot > 0 ? slot : -1;
	row.expected_ms = m->list->resting ? -1 : view->expected_ms;
	return schema_json(&item_schema, &row);
}

struct json_object *
landing_list_json(const struct landing_list *list)
{
	const struct landing_facts *facts = list->facts;
	const struct landing_record *record = list->record;
	const char *base = facts->base_commit, *key = facts->command;
	struct making m = { .list = list };
	struct json_object *json = schema_json(&landing_list_schema, list);
	struct json_object *check = NULL, *runs = json_object_new_array(),
			   *items = json_object_new_array();

	landing_plan_make(facts, list->now_ms, &m.plan);
	m.views = xcalloc(facts->entry_count + 1, sizeof *m.views);
	landing_view_make(facts, &m.plan, list->now_ms, m.views);
	if (key != NULL) {
		const struct check_command *known =
		    check_book_command(facts->book, key);
		int64_t took = check_book_expected_ms(facts->book, key);
		struct check_row row = { .command = list->check,
			.expected_ms = took > 0 ? took : -1,
			.trees = known != NULL ? known->trees : 0,
			.flaky = known != NULL ? known->flaky : 0,
			.percent = check_book_flake_percent(facts->book, key),
			.alarm = check_book_alarm(facts->book, key) };

		check = schema_json(&check_schema, &row);
	}
	for (size_t i = 0; i < facts->run_count; i++) {
		const struct landing_run *r = &facts->runs[i];
		struct run_row row = { .slot = list->slots[i],
			.tree = r->tree,
			.since_ms = r->started_ms,
			.cancelled = r->cancelled,
			.covers = (char **)(uintptr_t)r->tasks };

		json_object_array_add(runs, schema_json(&run_schema, &row));
	}
	for (size_t i = 0; i < record->count; i++) {
		struct item_row row = row_of(record->items[i]);

		if (record->items[i]->step != ITEM_QUEUED)
			json_object_array_add(
			    items, schema_json(&item_schema, &row));
	}
	for (size_t i = 0; i < facts->entry_count; i++)
		json_object_array_add(items, entry_json(&m, m.plan.order[i]));
	json_set_string(json, "base_sha", base[0] != '\0' ? base : NULL);
	json_set_bool(json, "red", m.plan.red);
	json_set_string(json, "unproven_sha", record->overtaken.commit);
	json_set(json, "check", check);
	json_set(json, "push",
	    list->pushes ? push_record_json(&record->push) : NULL);
	json_set(json, "running", runs);
	json_set(json, "items", items);
	schema_order(&landing_list_schema, json);
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
