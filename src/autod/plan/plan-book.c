/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "emit.h"
#include "persist.h"
#include "plan-private.h"
#include "plan.h"
#include "work-record.h"

/* A record that is to be put. */
struct changed {
	TAILQ_ENTRY(changed) entry;
	enum book_kind kind;
	char *goal_id, *id; /* of the work on a node: the node's */
	char *name; /* in by_name */
	char *body; /* as in the set */
};

TAILQ_HEAD(changed_list, changed);

struct plan_book {
	struct plan_floor *floor;
	struct plan_set set;
	struct changed_list changed;
	struct strmap by_name;
};

/* --- reading ----------------------------------------------------------- */

/* A goal whose nodes are being read. */
struct draft {
	struct plan_goal *goal; /* NULL = it was built */
	char *id;
	struct plan_node **nodes;
	size_t count, room;
};

struct reading {
	struct plan_set *set;
	struct draft **drafts;
	size_t count;
	struct strmap by_goal;
	bool built; /* all nodes are there */
	struct err *err;
	int r;
};

static int
read_goal(struct reading *reading, struct json_object *json, struct err *err)
{
	struct draft *draft = xcalloc(1, sizeof *draft);

	draft->goal = schema_make(&plan_goal_schema, json, "", err);
	if (draft->goal == NULL) {
		free(draft);
		return -EINVAL;
	}
	draft->id = xstrdup(draft->goal->id);
	reading->drafts = xreallocarray(
	    reading->drafts, reading->count + 1, sizeof(struct draft *));
	reading->drafts[reading->count++] = draft;
	strmap_add(&reading->by_goal, draft->id, draft);
	return 0;
}

static int
read_node(struct draft *draft, struct json_object *json, struct err *err)
{
	struct plan_node *node;
	int r = plan_node_from_json(json, "", &node, err);

	if (r < 0)
		return r;
	if (draft->count == draft->room) {
		draft->room = draft->room == 0 ? 16 : draft->room * 2;
		draft->nodes = xreallocarray(
		    draft->nodes, draft->room, sizeof(struct plan_node *));
	}
	draft->nodes[draft->count++] = node;
	return 0;
}

static int
read_crystal(struct plan_set *set, struct json_object *json, struct err *err)
{
	struct plan_crystal *crystal =
	    schema_make(&plan_crystal_schema, json, "", err);
	int r = -EINVAL;

	if (crystal != NULL)
		r = plan_set_add_crystal(set, crystal, err);
	if (r < 0)
		plan_crystal_free(crystal);
	return r;
}

/* Goals come before their nodes, nodes before all that refers to them. */
static int
build_plans(struct reading *reading, struct err *err)
{
	if (reading->built)
		return 0;
	reading->built = true;
	for (size_t i = 0; i < reading->count; i++) {
		struct draft *draft = reading->drafts[i];
		struct plan *plan = NULL;
		int r;

		r = plan_build(take_ptr(&draft->goal), draft->nodes,
		    draft->count, &plan, err);
		draft->count = 0;
		if (r == 0) {
			r = plan_set_add(reading->set, plan, err);
			if (r < 0)
				plan_free(plan);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static int
read_record(
    struct reading *reading, const struct book_record *record, struct err *err)
{
	struct draft *draft = record->kind == BOOK_GOAL ?
	    NULL :
	    strmap_get(&reading->by_goal, record->goal_id);
	cleanup_json struct json_object *json = NULL;
	int r;

	if (record->kind > BOOK_NODE && (r = build_plans(reading, err)) < 0)
		return r;
	r = json_parse(
	    record->body, strlen(record->body), BOOK_GOAL_MAX, &json, err);
	if (r == 0 && record->kind == BOOK_GOAL)
		r = read_goal(reading, json, err);
	else if (r == 0 && record->kind == BOOK_NODE)
		r = draft != NULL ?
		    read_node(draft, json, err) :
		    err_set(err, -EBADMSG, "its goal is missing");
	else if (r == 0 && record->kind == BOOK_ASSIGNMENT)
		r = plan_set_read_work(reading->set, json, "", err);
	else if (r == 0)
		r = read_crystal(reading->set, json, err);
	if (r < 0)
		err_prefix(err, "the book's %s %s",
		    book_kind_name(record->kind), record->id);
	return r;
}

/* Mail and the like is not of a plan. */
static bool
on_record(const struct book_record *record, void *arg)
{
	struct reading *reading = arg;

	if (record->kind <= BOOK_CRYSTAL)
		reading->r = read_record(reading, record, reading->err);
	return reading->r == 0 && record->kind <= BOOK_CRYSTAL;
}

/* r: of the reading. */
static int
read_end(struct reading *reading, int r)
{
	if (r == 0 && reading->r == 0)
		reading->r = build_plans(reading, reading->err);
	if (r == 0 && reading->r < 0)
		r = reading->err->code = -EBADMSG;
	strmap_release(&reading->by_goal);
	for (size_t i = 0; i < reading->count; i++) {
		struct draft *draft = reading->drafts[i];

		for (size_t k = 0; k < draft->count; k++)
			plan_node_free(draft->nodes[k]);
		if (draft->goal != NULL)
			plan_goal_free(draft->goal);
		free(draft->nodes);
		free(draft->id);
		free(draft);
	}
	free(reading->drafts);
	return r;
}

int
plan_book_load(struct plan_book *book, struct err *err)
{
	struct reading reading = { .set = &book->set, .err = err };
	int r =
	    book_load_open(book->floor->core->book, on_record, &reading, err);

	r = read_end(&reading, r);
	if (r < 0)
		plan_set_release(&book->set);
	return r;
}

/* Into the set, which has nothing of it. */
static int
read_one(struct plan_book *book, const char *goal_id, struct err *err)
{
	static const enum book_kind kinds[] = { BOOK_GOAL, BOOK_NODE,
		BOOK_ASSIGNMENT, BOOK_CRYSTAL };
	struct reading reading = { .set = &book->set, .err = err };
	int r = 0;

	for (size_t i = 0; i < nitems(kinds) && r == 0 && reading.r == 0; i++)
		r = book_read_bodies(book->floor->core->book, kinds[i], goal_id,
		    NULL, on_record, &reading, err);
	r = read_end(&reading, r);
	if (r < 0)
		plan_set_drop(&book->set, goal_id);
	return r;
}

struct plan *
plan_book_plan(struct plan_floor *floor, const char *goal_id, struct err *err)
{
	struct plan_book *book = floor->book;
	struct plan *plan = plan_set_plan(&book->set, goal_id);

	if (plan != NULL)
		return plan;
	if (read_one(book, goal_id, err) < 0)
		return NULL;
	plan = plan_set_plan(&book->set, goal_id);
	if (plan == NULL)
		err_set(err, -ENOENT, "there is no goal %s", goal_id);
	return plan;
}

bool
plan_book_has_goals(const struct plan_floor *floor)
{
	int64_t one;

	return book_get_int(floor->core->book, "SELECT 1 FROM goals LIMIT 1",
		   NULL, 0, &one, NULL) == 0;
}

char *
plan_book_next_goal(const struct plan_floor *floor)
{
	int64_t last = (int64_t)floor->core->state.goal_ids, known = 0;

	/* A book that was recovered may be ahead. */
	book_get_int(floor->core->book, "SELECT max(g.number) FROM goals AS g",
	    NULL, 0, &known, NULL);
	return xasprintf("g%" PRId64, (known > last ? known : last) + 1);
}

void
plan_book_number(struct plan_floor *floor, struct plan_goal *goal)
{
	goal->number = strtoll(goal->id + 1, NULL, 10);
	floor->core->state.goal_ids = (uint64_t)goal->number;
	persist_changed(floor->core);
}

struct plan_set *
plan_floor_set(const struct plan_floor *floor)
{
	return &floor->book->set;
}

/* --- what changed ------------------------------------------------------ */

void
plan_book_record(struct plan_floor *floor, enum book_kind kind,
    const char *goal_id, const char *id)
{
	struct plan_book *book = floor->book;
	cleanup_free char *name =
	    xasprintf("%s %s %s", book_kind_name(kind), goal_id, id);
	struct changed *changed = strmap_get(&book->by_name, name);

	if (changed != NULL)
		return;
	changed = xcalloc(1, sizeof *changed);
	changed->kind = kind;
	changed->goal_id = xstrdup(goal_id);
	changed->id = xstrdup(id);
	changed->name = take_ptr(&name);
	strmap_add(&book->by_name, changed->name, changed);
	TAILQ_INSERT_TAIL(&book->changed, changed, entry);
	persist_request(floor->core);
}

void
plan_book_changes(struct plan_floor *floor, const struct plan *plan,
    const struct plan_changes *changes)
{
	const char *goal_id = plan->goal->id;

	if (changes->goal)
		plan_book_record(floor, BOOK_GOAL, goal_id, goal_id);
	for (size_t i = 0;
	     changes->removed != NULL && changes->removed[i] != NULL; i++)
		plan_book_record(
		    floor, BOOK_NODE, goal_id, changes->removed[i]);
	for (size_t i = 0; i < changes->count; i++)
		plan_book_record(
		    floor, BOOK_NODE, goal_id, changes->nodes[i]->id);
}

/* --- putting ----------------------------------------------------------- */

static const struct plan_node *
changed_node(const struct plan_set *set, const struct changed *changed)
{
	const struct plan *plan = plan_set_plan(set, changed->goal_id);

	return plan == NULL ? NULL : plan_find(plan, changed->id);
}

static struct json_object *
changed_json(const struct plan_set *set, const struct changed *changed)
{
	const struct plan *plan = plan_set_plan(set, changed->goal_id);
	const struct plan_node *node = changed_node(set, changed);
	const struct plan_crystal *crystal;

	switch (changed->kind) {
	case BOOK_GOAL:
		return plan == NULL ?
		    NULL :
		    schema_json(&plan_goal_schema, plan->goal);
	case BOOK_NODE:
		return node == NULL ? NULL : plan_node_to_json(node);
	case BOOK_ASSIGNMENT:
		return node == NULL || node->work.id == NULL ?
		    NULL :
		    plan_work_json(node);
	case BOOK_CRYSTAL:
		crystal = plan_set_crystal(set, changed->id);
		return crystal == NULL ?
		    NULL :
		    schema_json(&plan_crystal_schema, crystal);
	case BOOK_MAIL:
	case BOOK_REQUEST:
	case BOOK_RESERVATION:
	case BOOK_KIND_COUNT:
		break;
	}
	return NULL;
}

/* Everything of this goal, or, on negative errno, nothing of it. */
static int
put_goal(struct plan_book *book, const char *goal_id, struct err *err)
{
	struct book *file = book->floor->core->book;
	struct changed *changed = NULL;
	int r = 0;

	TAILQ_FOREACH (changed, &book->changed, entry) {
		cleanup_json struct json_object *json = NULL;
		cleanup_buf struct buf text = BUF_INIT;

		if (strcmp(changed->goal_id, goal_id) != 0)
			continue;
		free(take_ptr(&changed->body));
		json = changed_json(&book->set, changed);
		if (json != NULL) {
			json_print(json, false, &text);
			changed->body = buf_take(&text);
		}
		/* Nothing shorter is refused. */
		if (changed->body != NULL &&
		    strlen(changed->body) > BOOK_SUMMARY_MAX)
			r = book_check_body(changed->kind, goal_id,
			    changed->kind == BOOK_ASSIGNMENT ?
				json_string_or(json, "assignmentId", "") :
				changed->id,
			    changed->body, err);
		if (r < 0)
			return r;
	}
	TAILQ_FOREACH (changed, &book->changed, entry) {
		const char *id = changed->id;

		if (strcmp(changed->goal_id, goal_id) != 0 || r < 0)
			continue;
		/* The work on a node that is gone is gone with its row. */
		if (changed->kind == BOOK_ASSIGNMENT && changed->body == NULL)
			continue;
		if (changed->kind == BOOK_ASSIGNMENT)
			id = changed_node(&book->set, changed)->work.id;
		r = book_put_body(
		    file, changed->kind, goal_id, id, changed->body, err);
	}
	return r;
}

static void
forget_goal(struct plan_book *book, const char *goal_id)
{
	struct changed *changed = NULL, *next;

	TAILQ_FOREACH_SAFE(changed, &book->changed, entry, next)
	{
		if (goal_id == NULL || strcmp(changed->goal_id, goal_id) == 0) {
			TAILQ_REMOVE(&book->changed, changed, entry);
			strmap_remove(&book->by_name, changed->name);
			free(changed->goal_id);
			free(changed->id);
			free(changed->name);
			free(changed->body);
			free(changed);
		}
	}
}

/* What was refused would be refused again: a person has to look at it first. */
static void
pause_goal(struct plan_floor *floor, struct plan *plan, const struct err *why)
{
	const char *goal_id = plan->goal->id;

	if (plan->goal->status != GOAL_ACTIVE ||
	    plan_goal_move(
		plan->goal, GOAL_PAUSED, NULL, NULL, clock_wall_ms(), NULL) < 0)
		return;
	plan_book_record(floor, BOOK_GOAL, goal_id, goal_id);
	emit(floor->core,
	    &(struct event){ .kind = EVENT_GOAL_PAUSED,
		.goal = goal_id,
		.from = goal_status_name(GOAL_ACTIVE),
		.to = goal_status_name(GOAL_PAUSED),
		.actor = "store",
		.reason = why->msg });
}

static void
refuse(struct plan_book *book, const char *goal_id, const struct err *why)
{
	struct plan_floor *floor = book->floor;
	struct err err = { 0 };
	struct plan *plan;

	emit(floor->core,
	    &(struct event){ .kind = EVENT_STORE_REFUSED,
		.goal = goal_id,
		.reason = why->msg });
	plan_set_drop(&book->set, goal_id);
	plan = plan_book_plan(floor, goal_id, &err);
	if (plan != NULL)
		pause_goal(floor, plan, why);
}

/* A fault of a record, not of the disk. */
static bool
is_refusal(int code)
{
	return code == -EINVAL || code == -E2BIG || code == -EEXIST ||
	    code == -ENOENT;
}

/* If the book cannot be written, so does the next one. */
bool
plan_book_put(struct plan_book *book, char ***refused)
{
	const struct changed *first;

	while ((first = TAILQ_FIRST(&book->changed)) != NULL) {
		cleanup_free char *goal_id = xstrdup(first->goal_id);
		struct err err = { 0 };
		int r = put_goal(book, goal_id, &err);

		if (r < 0 && !is_refusal(r))
			return false;
		forget_goal(book, goal_id);
		if (r == 0 || plan_has(*refused, goal_id))
			continue;
		strv_add(refused, goal_id);
		refuse(book, goal_id, &err);
		return true;
	}
	return false;
}

/* --- the log ----------------------------------------------------------- */

/* More than the record of auto.log has. */
static void
add_data(struct json_object *fields, const char *text)
{
	cleanup_json struct json_object *data = NULL;

	if (json_parse(text, strlen(text), BOOK_DATA_MAX, &data, NULL) == 0) {
		json_object_object_foreach(data, key, value)
		{
			json_set(fields, key, json_object_get(value));
		}
	}
}

static void
on_event(const struct event *event, void *arg)
{
	const struct plan_book *book = arg;
	const struct event_row *row = event_row(event->kind);
	cleanup_json struct json_object *record = NULL;
	cleanup_buf struct buf data = BUF_INIT;
	struct json_object *fields;
	cleanup_free char *key = NULL;

	if (row->name == NULL ||
	    (event->goal == NULL && !persist_keeps(book->floor->core)))
		return;
	record = event_record(event, "");
	if (!json_object_object_get_ex(record, "event", &fields))
		return;
	json_object_object_del(fields, "type");
	if (event->data != NULL)
		add_data(fields, event->data);
	json_print(fields, false, &data);
	if (event->dispatch != NULL && event->receipt != NULL)
		key = xasprintf("%s/%s", row->name, event->receipt);
	book_add_event(book->floor->core->book,
	    &(struct book_event){
		.ts_ms = event->at_ms != 0 ? event->at_ms : clock_wall_ms(),
		.type = row->name,
		.goal_id = event->goal,
		.assignment_id = event->assignment,
		.node_id = event->node,
		.worker = event->worker,
		.task = event->task,
		.data = data.data,
		.key = key },
	    NULL);
}

/* --- life -------------------------------------------------------------- */

struct plan_book *
plan_book_new(struct plan_floor *floor)
{
	struct plan_book *book = xcalloc(1, sizeof *book);

	book->floor = floor;
	TAILQ_INIT(&book->changed);
	emit_subscribe(floor->core, on_event, book);
	return book;
}

void
plan_book_unload(struct plan_book *book)
{
	forget_goal(book, NULL);
	plan_set_release(&book->set);
}

void
plan_book_free(struct plan_book *book)
{
	if (book == NULL)
		return;
	emit_unsubscribe(book->floor->core, on_event, book);
	plan_book_unload(book);
	strmap_release(&book->by_name);
	free(book);
}
