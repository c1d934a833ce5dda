/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core.h"
#include "errtext.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "plan-persist.h"
#include "planbook.h"
#include "store.h"

/* A goal whose nodes are being read. */
struct draft {
	struct plan_goal *goal;
	struct plan_node **nodes;
	size_t count, room;
};

TAILQ_HEAD(fetch_list, fetch);

struct planbook {
	struct core *core;
	struct store *store;
	struct plan_set set;
	struct plan_persist *persist;
	bool open;
	struct err err; /* why it is closed */
	struct loop_call *closed;
	planbook_fn *fn;
	void *arg;
	/* While it is read. */
	struct draft **drafts;
	size_t draft_count;
	struct strmap by_goal;
	bool built; /* all nodes are there */
	struct fetch_list fetches;
};

/* --- reading --------------------------------------------------------- */

static int
read_goal(struct planbook *book, struct json_object *json, struct err *err)
{
	struct draft *draft = xcalloc(1, sizeof *draft);
	int r = plan_goal_from_json(json, "", &draft->goal, err);

	if (r < 0) {
		free(draft);
		return r;
	}
	book->drafts = xreallocarray(
	    book->drafts, book->draft_count + 1, sizeof(struct draft *));
	book->drafts[book->draft_count++] = draft;
	strmap_add(&book->by_goal, draft->goal->id, draft);
	return 0;
}

static int
read_node(struct planbook *book, const struct store_change *record,
    struct json_object *json, struct err *err)
{
	struct draft *draft = strmap_get(&book->by_goal, record->goal_id);
	struct plan_node *node;
	int r;

	if (draft == NULL)
		return err_set(err, -EBADMSG, "its goal is missing");
	r = plan_node_from_json(json, "", &node, err);
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
read_assignment(
    struct planbook *book, struct json_object *json, struct err *err)
{
	struct plan_assignment *assignment;
	int r = plan_assignment_from_json(json, "", &assignment, err);

	if (r == 0) {
		r = plan_set_add_assignment(&book->set, assignment, err);
		if (r < 0)
			plan_assignment_free(assignment);
	}
	return r;
}

static int
read_crystal(struct planbook *book, struct json_object *json, struct err *err)
{
	struct plan_crystal *crystal;
	int r = plan_crystal_from_json(json, "", &crystal, err);

	if (r == 0) {
		r = plan_set_add_crystal(&book->set, crystal, err);
		if (r < 0)
			plan_crystal_free(crystal);
	}
	return r;
}

/* Goals come before their nodes, nodes before all that refers to them. */
static int
build_plans(struct planbook *book, struct err *err)
{
	if (book->built)
		return 0;
	book->built = true;
	for (size_t i = 0; i < book->draft_count; i++) {
		struct draft *draft = book->drafts[i];
		struct plan *plan = NULL;
		int r;

		r = plan_build(take_ptr(&draft->goal), draft->nodes,
		    draft->count, &plan, err);
		draft->count = 0;
		if (r == 0) {
			r = plan_set_add(&book->set, plan, err);
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
    struct planbook *book, const struct store_change *record, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r;

	if (record->kind > STORE_NODE && (r = build_plans(book, err)) < 0)
		return r;
	if (record->kind == STORE_DISPATCH)
		return 0; /* its assignment has the newest */
	r = json_parse(
	    record->body, strlen(record->body), STORE_GOAL_MAX, &json, err);
	if (r == 0 && record->kind == STORE_GOAL)
		r = read_goal(book, json, err);
	else if (r == 0 && record->kind == STORE_NODE)
		r = read_node(book, record, json, err);
	else if (r == 0 && record->kind == STORE_ASSIGNMENT)
		r = read_assignment(book, json, err);
	else if (r == 0)
		r = read_crystal(book, json, err);
	if (r < 0)
		err_prefix(err, "the store's %s %s",
		    store_kind_name(record->kind), record->id);
	return r;
}

static void
drop_drafts(struct planbook *book)
{
	strmap_release(&book->by_goal);
	for (size_t i = 0; i < book->draft_count; i++) {
		struct draft *draft = book->drafts[i];

		for (size_t k = 0; k < draft->count; k++)
			plan_node_free(draft->nodes[k]);
		if (draft->goal != NULL)
			plan_goal_free(draft->goal);
		free(draft->nodes);
		free(draft);
	}
	free(take_ptr(&book->drafts));
	book->draft_count = 0;
}

/* --- open and closed ------------------------------------------------- */

/* Not from inside a callback of the store: whoever is told frees the book. */
static void
tell_closed(void *arg)
{
	struct planbook *book = arg;
	struct err err = book->err;

	book->fn(&err, book->arg);
}

static void
book_close(struct planbook *book, const struct err *err)
{
	if (book->err.code != 0)
		return;
	book->open = false;
	book->err = *err;
	loop_call_request(book->closed);
}

static void
on_lost(const struct err *err, void *arg)
{
	book_close(arg, err);
}

static void
on_part(const struct store_part *part, void *arg)
{
	struct planbook *book = arg;
	struct err err = { 0 };

	for (size_t i = 0; i < part->record_count && book->err.code == 0; i++)
		if (read_record(book, &part->records[i], &err) < 0) {
			err.code = -EBADMSG;
			book_close(book, &err);
		}
	if (!part->last)
		return;
	if (book->err.code == 0 && part->err != NULL)
		book_close(book, part->err);
	else if (book->err.code == 0 && build_plans(book, &err) < 0) {
		err.code = -EBADMSG;
		book_close(book, &err);
	}
	drop_drafts(book);
	if (book->err.code != 0)
		return;
	book->open = true;
	book->fn(NULL, book->arg);
}

/* --- goals that have ended ------------------------------------------- */

/* One that is being read again; it lives until its last part. */
struct fetch {
	TAILQ_ENTRY(fetch) entry;
	struct planbook *book;
	char *goal_id;
	bool found;
	planbook_fetch_fn *fn;
	void *arg;
};

static void
fetch_free(struct fetch *fetch)
{
	TAILQ_REMOVE(&fetch->book->fetches, fetch, entry);
	free(fetch->goal_id);
	free(fetch);
}

static void
on_fetched(const struct store_part *part, void *arg)
{
	struct fetch *fetch = arg;
	struct planbook *book = fetch->book;
	struct err err = { 0 };
	bool known =
	    plan_set_plan(&book->set, fetch->goal_id) != NULL && !fetch->found;

	/* Goal and nodes make the plan, the other records belong to it. */
	for (size_t i = 0; i < part->record_count && err.code == 0 && !known;
	     i++) {
		fetch->found = true;
		if (part->records[i].kind == STORE_GOAL)
			book->built = false;
		if (read_record(book, &part->records[i], &err) < 0)
			err.code = -EBADMSG;
	}
	if (err.code == 0 && part->err != NULL)
		err = *part->err;
	if (err.code != 0)
		book_close(book, &err);
}

static void
on_fetched_last(const struct store_part *part, void *arg)
{
	struct fetch *fetch = arg;
	struct planbook *book = fetch->book;
	planbook_fetch_fn *fn = fetch->fn;
	void *fn_arg = fetch->arg;
	struct err err = { 0 };

	on_fetched(part, arg);
	if (!part->last)
		return;
	if (book->err.code == 0 && build_plans(book, &err) < 0) {
		err.code = -EBADMSG;
		book_close(book, &err);
	}
	drop_drafts(book);
	fetch_free(fetch);
	fn(fn_arg);
}

/* The store answers in the order of the questions: nobody else builds plans
 * in between. */
void
planbook_fetch(struct planbook *book, const char *goal_id,
    planbook_fetch_fn *fn, void *arg)
{
	static const enum store_kind kinds[] = { STORE_GOAL, STORE_NODE,
		STORE_ASSIGNMENT, STORE_CRYSTAL };
	struct fetch *fetch = xcalloc(1, sizeof *fetch);

	fetch->book = book;
	fetch->goal_id = xstrdup(goal_id);
	fetch->fn = fn;
	fetch->arg = arg;
	TAILQ_INSERT_TAIL(&book->fetches, fetch, entry);
	for (size_t i = 0; i < nitems(kinds); i++)
		store_read(book->store, kinds[i], goal_id, NULL,
		    kinds[i] == STORE_CRYSTAL ? on_fetched_last : on_fetched,
		    fetch);
}

/* --- life ------------------------------------------------------------ */

struct planbook *
planbook_new(struct core *core, const char *path, planbook_fn *fn, void *arg)
{
	struct planbook *book = xcalloc(1, sizeof *book);

	book->core = core;
	book->fn = fn;
	book->arg = arg;
	TAILQ_INIT(&book->fetches);
	book->closed = loop_call_new(core->loop, tell_closed, book);
	book->store = store_new(core->loop, path, NULL, NULL);
	book->persist =
	    plan_persist_new(core, book->store, &book->set, on_lost, book);
	store_load(book->store, on_part, book);
	return book;
}

void
planbook_free(struct planbook *book)
{
	struct fetch *fetch;

	if (book == NULL)
		return;
	store_free(book->store);
	while ((fetch = TAILQ_FIRST(&book->fetches)) != NULL)
		fetch_free(fetch);
	plan_persist_free(book->persist);
	loop_call_free(book->closed);
	drop_drafts(book);
	plan_set_release(&book->set);
	free(book);
}

bool
planbook_is_open(const struct planbook *book)
{
	return book != NULL && book->open;
}

struct plan_set *
planbook_set(struct planbook *book)
{
	return &book->set;
}

struct plan_persist *
planbook_persist(struct planbook *book)
{
	return book->persist;
}

struct store *
planbook_store(struct planbook *book)
{
	return book->store;
}
