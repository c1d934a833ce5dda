/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "plan-floor.h"
#include "plan-persist.h"
#include "planbook.h"
#include "store-body.h"
#include "strmap.h"
#include "team-book.h"
#include "team-known.h"

#define KINDS (STORE_KIND_COUNT - STORE_MAIL)

struct box;

/* A record that is open. */
struct entry {
	struct team_record record; /* first */
	TAILQ_ENTRY(entry) all, own;
	struct box *box; /* of its actor; NULL = nobody's */
};
TAILQ_HEAD(entry_list, entry);

/* What an actor has of a kind. */
struct box {
	char *actor;
	struct entry_list entries;
	size_t count;
};

/* A record with changes that are being stored. */
struct pending {
	struct json_object
	    *last; /* as the store has it; NULL = not open there */
	bool known; /* its id was, before these changes */
	size_t puts;
	uint64_t number; /* of the newest of them */
	char id[];
};

/* A change that is being stored. */
struct put {
	LIST_ENTRY(put) entry;
	struct team_book *book;
	enum store_kind kind;
	struct pending *pending;
	struct json_object *body;
	uint64_t number;
};
LIST_HEAD(put_list, put);

struct shelf {
	struct entry_list entries;
	size_t count;
	bool sorted; /* not while they are read */
	struct strmap by_id, boxes;
	struct team_known known;
	struct strmap pending; /* by id */
};

struct team_book {
	struct plan_floor *plan;
	struct team_book_callbacks callbacks;
	bool open;
	struct shelf shelves[KINDS];
	struct put_list puts;
	uint64_t numbers; /* of changes so far */
};

static struct shelf *
shelf_of(const struct team_book *book, enum store_kind kind)
{
	return (struct shelf *)(uintptr_t)&book->shelves[kind - STORE_MAIL];
}

/* --- in memory -------------------------------------------------------- */

static struct box *
box_of(struct shelf *shelf, const char *actor)
{
	struct box *box = strmap_get(&shelf->boxes, actor);

	if (box != NULL)
		return box;
	box = xcalloc(1, sizeof *box);
	box->actor = xstrdup(actor);
	TAILQ_INIT(&box->entries);
	strmap_add(&shelf->boxes, box->actor, box);
	return box;
}

static void
leave_box(struct shelf *shelf, struct entry *entry)
{
	struct box *box = take_ptr(&entry->box);

	if (box == NULL)
		return;
	TAILQ_REMOVE(&box->entries, entry, own);
	if (--box->count > 0)
		return;
	strmap_remove(&shelf->boxes, box->actor);
	free(box->actor);
	free(box);
}

static void
clear_body(struct entry *entry)
{
	struct team_record *record = &entry->record;

	if (record->free_data != NULL)
		record->free_data(record->data);
	record->data = NULL;
	record->free_data = NULL;
	json_object_put(record->body);
	record->body = NULL;
}

static void
remove_entry(struct shelf *shelf, struct entry *entry)
{
	leave_box(shelf, entry);
	strmap_remove(&shelf->by_id, entry->record.id);
	TAILQ_REMOVE(&shelf->entries, entry, all);
	shelf->count--;
	clear_body(entry);
	free((char *)(uintptr_t)entry->record.id);
	free((char *)(uintptr_t)entry->record.goal_id);
	free(entry);
}

static int64_t
time_of(const struct entry *entry)
{
	return json_int_or(entry->record.body, "ts", 0);
}

/* Most are the newest. */
static void
insert(struct entry_list *list, struct entry *entry, bool own, bool sorted)
{
	struct entry *before = TAILQ_LAST(list, entry_list);

	while (sorted && before != NULL && time_of(before) > time_of(entry))
		before = own ? TAILQ_PREV(before, entry_list, own) :
			       TAILQ_PREV(before, entry_list, all);
	if (own && before == NULL)
		TAILQ_INSERT_HEAD(list, entry, own);
	else if (own)
		TAILQ_INSERT_AFTER(list, before, entry, own);
	else if (before == NULL)
		TAILQ_INSERT_HEAD(list, entry, all);
	else
		TAILQ_INSERT_AFTER(list, before, entry, all);
}

/* The body is taken. */
static struct entry *
set_entry(struct shelf *shelf, enum store_kind kind, const char *goal_id,
    const char *id, struct json_object *body)
{
	struct entry *entry = strmap_get(&shelf->by_id, id);
	bool is_new = entry == NULL;
	const char *actor;

	if (is_new) {
		entry = xcalloc(1, sizeof *entry);
		entry->record.kind = kind;
		entry->record.id = xstrdup(id);
		entry->record.goal_id = xstrdup(goal_id);
		strmap_add(&shelf->by_id, entry->record.id, entry);
		shelf->count++;
	}
	leave_box(shelf, entry);
	clear_body(entry);
	entry->record.body = body;
	actor = json_string_or(body, "actor", NULL);
	entry->record.actor = actor;
	if (is_new)
		insert(&shelf->entries, entry, false, shelf->sorted);
	if (actor != NULL) {
		entry->box = box_of(shelf, actor);
		entry->box->count++;
		insert(&entry->box->entries, entry, true, shelf->sorted);
	}
	return entry;
}

static void
clear(struct team_book *book)
{
	for (size_t i = 0; i < KINDS; i++) {
		struct shelf *shelf = &book->shelves[i];
		struct entry *entry;

		while ((entry = TAILQ_FIRST(&shelf->entries)) != NULL)
			remove_entry(shelf, entry);
		team_known_clear(&shelf->known);
		shelf->sorted = false;
		strmap_release(&shelf->by_id);
		strmap_release(&shelf->boxes);
		strmap_release(&shelf->pending);
	}
}

/* --- with the store --------------------------------------------------- */

/* The ids come with the newest first. */
static void
on_record(void *arg, const struct store_change *record)
{
	struct team_book *book = arg;
	struct shelf *shelf = shelf_of(book, record->kind);
	struct json_object *body = NULL;

	if (record->body == NULL)
		team_known_add(&shelf->known, record->id, true);
	else if (json_parse(record->body, strlen(record->body), STORE_BODY_MAX,
		     &body, NULL) == 0)
		set_entry(
		    shelf, record->kind, record->goal_id, record->id, body)
		    ->record.stored = true;
}

static void
put_free(struct put *put)
{
	struct pending *pending = put->pending;

	if (--pending->puts == 0) {
		strmap_remove(
		    &shelf_of(put->book, put->kind)->pending, pending->id);
		json_object_put(pending->last);
		free(pending);
	}
	LIST_REMOVE(put, entry);
	json_object_put(put->body);
	free(put);
}

static bool
is_open(struct json_object *body)
{
	return strcmp(json_string_or(body, "status", ""), TEAM_OPEN) == 0;
}

/* The changes were refused: it is as the store has it. */
static void
put_back(struct shelf *shelf, enum store_kind kind, struct pending *pending)
{
	struct entry *entry = strmap_get(&shelf->by_id, pending->id);
	struct json_object *last = pending->last;

	if (!pending->known)
		team_known_remove(&shelf->known, pending->id);
	if (last != NULL)
		set_entry(shelf, kind,
		    json_string_or(last, "goalId", TEAM_NO_GOAL), pending->id,
		    json_object_get(last))
		    ->record.stored = true;
	else if (entry != NULL)
		remove_entry(shelf, entry);
}

static void
on_stored(const struct err *err, void *arg)
{
	struct put *put = arg;
	struct pending *pending = put->pending;
	struct shelf *shelf = shelf_of(put->book, put->kind);
	struct entry *entry = strmap_get(&shelf->by_id, pending->id);
	bool newest = put->number == pending->number;

	if (err != NULL && newest)
		put_back(shelf, put->kind, pending);
	if (err == NULL && newest && entry != NULL)
		entry->record.stored = true;
	if (err == NULL) {
		json_object_put(pending->last);
		pending->last =
		    is_open(put->body) ? json_object_get(put->body) : NULL;
		pending->known = pending->known || pending->last == NULL;
	}
	put_free(put);
}

static struct pending *
pending_of(struct shelf *shelf, const char *id)
{
	struct pending *pending = strmap_get(&shelf->pending, id);
	const struct entry *entry = strmap_get(&shelf->by_id, id);
	size_t size = strlen(id) + 1;

	if (pending != NULL)
		return pending;
	pending = xcalloc(1, sizeof *pending + size);
	memcpy(pending->id, id, size);
	if (entry != NULL)
		pending->last = json_object_get(entry->record.body);
	pending->known = team_known_has(&shelf->known, id);
	strmap_add(&shelf->pending, pending->id, pending);
	return pending;
}

/* Before the change is made in memory; the body is shared. */
static void
await_store(struct team_book *book, enum store_kind kind, const char *goal_id,
    const char *id, struct json_object *body)
{
	struct put *put = xcalloc(1, sizeof *put);

	put->book = book;
	put->kind = kind;
	put->pending = pending_of(shelf_of(book, kind), id);
	put->body = json_object_get(body);
	put->number = put->pending->number = ++book->numbers;
	put->pending->puts++;
	LIST_INSERT_HEAD(&book->puts, put, entry);
	team_book_then(book, book, goal_id, on_stored, put);
}

static int
by_time(const void *a, const void *b)
{
	const struct entry *first = *(struct entry *const *)a;
	const struct entry *second = *(struct entry *const *)b;
	int64_t one = time_of(first), other = time_of(second);

	if (one != other)
		return one < other ? -1 : 1;
	return strcmp(first->record.id, second->record.id);
}

/* They were read by goal and id. */
static void
sort(struct shelf *shelf)
{
	cleanup_free struct entry **list =
	    xcalloc(shelf->count + 1, sizeof(struct entry *));
	struct entry *entry;
	size_t count = 0;

	TAILQ_FOREACH (entry, &shelf->entries, all)
		list[count++] = entry;
	qsort(list, count, sizeof(struct entry *), by_time);
	TAILQ_INIT(&shelf->entries);
	for (size_t i = 0; i < count; i++)
		if (list[i]->box != NULL)
			TAILQ_INIT(&list[i]->box->entries);
	for (size_t i = 0; i < count; i++) {
		TAILQ_INSERT_TAIL(&shelf->entries, list[i], all);
		if (list[i]->box != NULL)
			TAILQ_INSERT_TAIL(&list[i]->box->entries, list[i], own);
	}
	shelf->sorted = true;
}

static void
on_opened(void *arg)
{
	struct team_book *book = arg;

	for (size_t i = 0; i < KINDS; i++)
		sort(&book->shelves[i]);
	book->open = true;
	if (book->callbacks.opened != NULL)
		book->callbacks.opened(book->callbacks.arg);
}

static void
on_closed(void *arg)
{
	struct team_book *book = arg;
	struct put *put;

	if (book->open && book->callbacks.closed != NULL)
		book->callbacks.closed(book->callbacks.arg);
	team_book_forget(book, book);
	while ((put = LIST_FIRST(&book->puts)) != NULL)
		put_free(put);
	book->open = false;
	clear(book);
}

static const struct plan_guest guest = {
	.record = on_record,
	.opened = on_opened,
	.closed = on_closed,
};

struct team_book *
team_book_new(
    struct plan_floor *plan, const struct team_book_callbacks *callbacks)
{
	struct team_book *book = xcalloc(1, sizeof *book);

	book->plan = plan;
	book->callbacks = *callbacks;
	LIST_INIT(&book->puts);
	for (size_t i = 0; i < KINDS; i++) {
		TAILQ_INIT(&book->shelves[i].entries);
		team_known_init(&book->shelves[i].known, TEAM_KNOWN_MAX);
	}
	plan_floor_set_guest(plan, &guest, book);
	return book;
}

void
team_book_free(struct team_book *book)
{
	if (book == NULL)
		return;
	on_closed(book);
	plan_floor_set_guest(book->plan, NULL, NULL);
	free(book);
}

void *
team_book_owner(const struct team_book *book)
{
	return book->callbacks.arg;
}

bool
team_book_is_open(const struct team_book *book)
{
	return book->open;
}

int
team_book_ready(const struct team_book *book, struct err *err)
{
	const struct plan_floor *plan = book->plan;

	if (book->open)
		return plan_persist_ready(plan_floor_persist(plan), err);
	switch (plan->state) {
	case PLAN_OFF:
		return err_set(err, -ENOTCONN,
		    "goals are off; a person can turn them on with: llmc "
		    "config set plan.enabled true");
	case PLAN_SAFE:
		return err_set(err, -ENOTCONN, "%s", plan->why);
	default:
		return err_set(err, -EAGAIN,
		    "the store of goals is busy; try again in a moment");
	}
}

void
team_book_put(struct team_book *book, enum store_kind kind, const char *goal_id,
    const char *id, struct json_object *body)
{
	struct shelf *shelf = shelf_of(book, kind);
	struct json_object *stored = store_body_masked(body, 0);
	cleanup_buf struct buf text = BUF_INIT;
	struct entry *entry = strmap_get(&shelf->by_id, id);

	json_object_put(body);
	if (goal_id == NULL)
		goal_id = TEAM_NO_GOAL;
	json_set_string(stored, "id", id);
	json_set_string(stored, "goalId", goal_id);
	json_print(stored, false, &text);
	plan_persist_body(
	    plan_floor_persist(book->plan), kind, goal_id, id, buf_take(&text));
	await_store(book, kind, goal_id, id, stored);
	if (is_open(stored)) {
		set_entry(shelf, kind, goal_id, id, stored)->record.stored =
		    false;
		return;
	}
	team_known_add(&shelf->known, id, false);
	if (entry != NULL)
		remove_entry(shelf, entry);
	json_object_put(stored);
}

void
team_book_then(struct team_book *book, void *owner, const char *goal_id,
    plan_persist_fn *fn, void *arg)
{
	plan_persist_then(plan_floor_persist(book->plan), owner,
	    goal_id != NULL ? goal_id : TEAM_NO_GOAL, fn, arg);
}

void
team_book_forget(struct team_book *book, const void *owner)
{
	if (book->open)
		plan_persist_forget(plan_floor_persist(book->plan), owner);
}

void
team_book_read(struct team_book *book, enum store_kind kind, const char *actor,
    const char *id, size_t limit, store_part_fn *fn, void *arg)
{
	struct store *store = planbook_store(book->plan->book);

	if (id != NULL)
		store_read(store, kind, NULL, id, fn, arg);
	else
		store_read_newest(store, kind, actor, limit, fn, arg);
}

/* --- looking ---------------------------------------------------------- */

struct team_record *
team_book_get(
    const struct team_book *book, enum store_kind kind, const char *id)
{
	return strmap_get(&shelf_of(book, kind)->by_id, id);
}

bool
team_book_knows(
    const struct team_book *book, enum store_kind kind, const char *id)
{
	const struct shelf *shelf = shelf_of(book, kind);

	return strmap_get(&shelf->by_id, id) != NULL ||
	    team_known_has(&shelf->known, id);
}

struct team_record *
team_book_next(const struct team_book *book, enum store_kind kind,
    const char *actor, const struct team_record *last)
{
	const struct shelf *shelf = shelf_of(book, kind);
	const struct entry *entry = (const struct entry *)last;
	const struct box *box =
	    actor != NULL ? strmap_get(&shelf->boxes, actor) : NULL;
	struct entry *next;

	if (actor != NULL && box == NULL)
		return NULL;
	if (actor != NULL)
		next = entry == NULL ? TAILQ_FIRST(&box->entries) :
				       TAILQ_NEXT(entry, own);
	else
		next = entry == NULL ? TAILQ_FIRST(&shelf->entries) :
				       TAILQ_NEXT(entry, all);
	return next != NULL ? &next->record : NULL;
}

size_t
team_book_count(
    const struct team_book *book, enum store_kind kind, const char *actor)
{
	const struct shelf *shelf = shelf_of(book, kind);
	const struct box *box;

	if (actor == NULL)
		return shelf->count;
	box = strmap_get(&shelf->boxes, actor);
	return box != NULL ? box->count : 0;
}
