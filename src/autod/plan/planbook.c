/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdint.h>
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
	planbook_refused_fn *refused;
	planbook_other_fn *other;
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
	if (record->kind > STORE_CRYSTAL) {
		book->other(record, book->arg);
		return 0;
	}
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
	plan_persist_stop(book->persist);
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

/* --- goals that are read again ---------------------------------------- */

/* Its records are kept until the last one is there: the set has the whole goal
 * or nothing of it. */
struct fetch {
	TAILQ_ENTRY(fetch) entry;
	struct planbook *book;
	char *goal_id;
	struct store_change *records;
	size_t count, room;
	planbook_fetch_fn *fn; /* NULL: a change was refused because of err */
	void *arg;
	struct err err;
};

static void
fetch_free(struct fetch *fetch)
{
	TAILQ_REMOVE(&fetch->book->fetches, fetch, entry);
	for (size_t i = 0; i < fetch->count; i++) {
		free((char *)(uintptr_t)fetch->records[i].goal_id);
		free((char *)(uintptr_t)fetch->records[i].id);
		free((char *)(uintptr_t)fetch->records[i].body);
	}
	free(fetch->records);
	free(fetch->goal_id);
	free(fetch);
}

static void
keep_record(struct fetch *fetch, const struct store_change *record)
{
	if (fetch->count == fetch->room) {
		fetch->room = fetch->room == 0 ? 16 : fetch->room * 2;
		fetch->records = xreallocarray(
		    fetch->records, fetch->room, sizeof *fetch->records);
	}
	fetch->records[fetch->count++] =
	    (struct store_change){ .kind = record->kind,
		    .goal_id = xstrdup(record->goal_id),
		    .id = xstrdup(record->id),
		    .body = xstrdup(record->body) };
}

static void
on_fetched(const struct store_part *part, void *arg)
{
	struct fetch *fetch = arg;

	for (size_t i = 0; i < part->record_count; i++)
		keep_record(fetch, &part->records[i]);
	if (part->err != NULL)
		book_close(fetch->book, part->err);
}

static void
build_fetched(struct planbook *book, const struct fetch *fetch)
{
	struct err err = { 0 };
	int r = 0;

	book->built = false;
	for (size_t i = 0; r == 0 && i < fetch->count; i++)
		r = read_record(book, &fetch->records[i], &err);
	if (r == 0)
		r = build_plans(book, &err);
	drop_drafts(book);
	if (r < 0) {
		err.code = -EBADMSG;
		book_close(book, &err);
	}
}

static void
on_fetched_last(const struct store_part *part, void *arg)
{
	struct fetch *fetch = arg;
	struct planbook *book = fetch->book;

	on_fetched(part, arg);
	if (!part->last)
		return;
	if (fetch->fn == NULL && book->err.code == 0)
		plan_set_drop(&book->set, fetch->goal_id);
	if (book->err.code == 0 &&
	    plan_set_plan(&book->set, fetch->goal_id) == NULL)
		build_fetched(book, fetch);
	if (fetch->fn != NULL) {
		fetch->fn(fetch->arg);
	} else if (book->err.code == 0) {
		plan_persist_go_on(book->persist, fetch->goal_id);
		book->refused(fetch->goal_id, &fetch->err, book->arg);
	}
	fetch_free(fetch);
}

/* The store answers in the order of the questions. */
static struct fetch *
read_goal_again(struct planbook *book, const char *goal_id)
{
	static const enum store_kind kinds[] = { STORE_GOAL, STORE_NODE,
		STORE_ASSIGNMENT, STORE_CRYSTAL };
	struct fetch *fetch = xcalloc(1, sizeof *fetch);

	fetch->book = book;
	fetch->goal_id = xstrdup(goal_id);
	TAILQ_INSERT_TAIL(&book->fetches, fetch, entry);
	for (size_t i = 0; i < nitems(kinds); i++)
		store_read(book->store, kinds[i], goal_id, NULL,
		    kinds[i] == STORE_CRYSTAL ? on_fetched_last : on_fetched,
		    fetch);
	return fetch;
}

void
planbook_fetch(struct planbook *book, const char *goal_id,
    planbook_fetch_fn *fn, void *arg)
{
	struct fetch *fetch = read_goal_again(book, goal_id);

	fetch->fn = fn;
	fetch->arg = arg;
}

static void
on_refused(const char *goal_id, const struct err *err, void *arg)
{
	read_goal_again(arg, goal_id)->err = *err;
}

/* --- life ------------------------------------------------------------ */

struct planbook *
planbook_new(struct core *core, const char *path, planbook_fn *fn,
    planbook_refused_fn *refused, planbook_other_fn *other, void *arg)
{
	struct planbook *book = xcalloc(1, sizeof *book);
	const struct plan_persist_callbacks callbacks = {
		.lost = on_lost, .refused = on_refused, .arg = book
	};

	book->core = core;
	book->fn = fn;
	book->refused = refused;
	book->other = other;
	book->arg = arg;
	TAILQ_INIT(&book->fetches);
	book->closed = loop_call_new(core->loop, tell_closed, book);
	book->store = store_new(core->loop, path, NULL, NULL);
	book->persist =
	    plan_persist_new(core, book->store, &book->set, &callbacks);
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
