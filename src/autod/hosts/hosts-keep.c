/* SPDX-License-Identifier: ISC */

/*
 * What the shared book keeps: events that concern all hosts, and for how long.
 * Events are in the own book until the shared one has them: some wait while it
 * is away, and how many more there were is told. Any host removes what is old,
 * by the clock of the book, some rows at a time. How a task ended stays until
 * its owner and its runner have it in their own books (SHARED_BEAT tells how
 * far they have read), or for a month: then it is said what was lost.
 */

#include "base.h"
#include "api.h"
#include "book.h"
#include "emit.h"
#include "event.h"
#include "hosts-private.h"
#include "json.h"
#include "schema.h"
#include "serve.h"

#define HOUR_MS        ((int64_t)3600 * 1000)
#define DAY_MS         (24 * HOUR_MS)
#define KEEP_MS        DAY_MS /* what has ended, and is known */
#define UNREAD_MS      (30 * DAY_MS)
#define EVENTS_MS      (30 * DAY_MS)
#define SPEND_DAYS     40
#define MORE_MS        ((int64_t)60 * 1000) /* if there was too much at once */
#define SPOOL_MAX      1000 /* events that wait */
#define SEND_MAX       32 /* of them at once */
#define SEND_MS        ((int64_t)3 * 1000) /* after the first one */
#define RECORD_MAX     ((size_t)16 * 1024)
#define CALLS_MAX      16
#define EVENTS_WAIT_MS ((int64_t)5 * 1000) /* somebody looks */

/* --- events ----------------------------------------------------------------
 */

static const enum event_kind told[] = { EVENT_HOST_UP, EVENT_HOST_LOST,
	EVENT_HOSTS_FORGOT, EVENT_HOSTS_MISSED, EVENT_TASK_CLAIMED,
	EVENT_TASK_FENCED, EVENT_TASK_PARKED, EVENT_TASK_FINISHED };

struct spooled {
	int64_t nr; /* their order */
	char *key, *record;
};

struct hosts_keep {
	bool loaded;
	struct spooled *list[SPOOL_MAX];
	size_t count, sent;
	int64_t missed; /* since it was full; not on disk */
	int64_t due_ms; /* clock_boot_ms() */
	struct server_call *calls[CALLS_MAX]; /* who wants those of the others
					       */
	size_t call_count;
};

static const struct schema_field spooled_fields[] = {
	SCHEMA_FIELD(struct spooled, "nr", nr),
	SCHEMA_FIELD(struct spooled, "key", key),
	SCHEMA_FIELD(struct spooled, "record", record),
};
static const struct schema spooled_schema =
    SCHEMA_OF(struct spooled, spooled_fields);
static const char *const spooled_keys[] = { "nr", NULL };
static const struct book_table spooled_table = {
	.name = "host_event",
	.fields = spooled_fields,
	.count = nitems(spooled_fields),
	.keys = spooled_keys,
};

static bool
on_spooled(struct book_row *row, void *arg)
{
	struct hosts_floor *floor = arg;
	struct hosts_keep *keep = floor->keep;
	struct spooled *event = schema_new(&spooled_schema);

	if (book_read(floor->core->book, &spooled_table, row, event, NULL) ==
		0 &&
	    event->key != NULL && event->record != NULL &&
	    keep->count < SPOOL_MAX)
		keep->list[keep->count++] = event;
	else
		schema_free(&spooled_schema, event);
	return true;
}

int
keep_load(struct hosts_floor *floor, struct err *err)
{
	int r = book_add_table(floor->core->book, &spooled_table, err);

	if (r == 0)
		r = book_query(floor->core->book,
		    "SELECT host_event.* FROM host_event ORDER BY "
		    "host_event.nr",
		    NULL, 0, on_spooled, floor, err);
	floor->keep->loaded = r == 0;
	return r;
}

void
keep_event(struct hosts_floor *floor, const struct event *event)
{
	struct hosts_keep *keep = floor->keep;
	cleanup_json struct json_object *record = NULL, *safe = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	char stamp[CLOCK_STAMP_SIZE], key[ID_UUID_SIZE];
	struct spooled *last =
	    keep->count > 0 ? keep->list[keep->count - 1] : NULL;
	struct spooled *spooled;
	size_t i = 0;

	while (i < nitems(told) && told[i] != event->kind)
		i++;
	/* How a task ended is told by the host that it was on. */
	if (i == nitems(told) || !keep->loaded ||
	    (event->kind == EVENT_TASK_FINISHED &&
		share_of_task(floor, event->task) == NULL))
		return;
	clock_format_stamp(event->at_ms, stamp);
	record = event_record(event, stamp);
	safe = record != NULL ? book_masked(record) : NULL;
	if (safe != NULL)
		json_print(safe, false, &text);
	if (safe == NULL || text.len > RECORD_MAX || keep->count == SPOOL_MAX) {
		keep->missed++;
		return;
	}
	id_uuid(key);
	spooled = schema_new(&spooled_schema);
	*spooled = (struct spooled){ .nr = last != NULL ? last->nr + 1 : 1,
		.key = xstrdup(key),
		.record = buf_take(&text) };
	if (keep->count == 0)
		keep->due_ms = clock_boot_ms() + SEND_MS;
	keep->list[keep->count++] = spooled;
	book_put(floor->core->book, &spooled_table, spooled);
	hosts_look(floor);
}

static void
on_sent(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct hosts_keep *keep = floor->keep;
	int64_t missed;

	if (hosts_answered(floor, answer)) {
		for (size_t i = 0; i < keep->sent; i++) {
			book_delete(floor->core->book, &spooled_table,
			    (const struct book_value[]){
				BOOK_I(keep->list[i]->nr) });
			schema_free(&spooled_schema, keep->list[i]);
		}
		keep->count -= keep->sent;
		memmove(keep->list, keep->list + keep->sent,
		    keep->count * sizeof(void *));
		missed = keep->missed;
		if (keep->count == 0 && missed > 0) {
			keep->missed = 0;
			EMIT(floor->core, EVENT_HOSTS_MISSED, .count = missed);
		}
	}
	hosts_done(floor);
}

bool
keep_send(struct hosts_floor *floor)
{
	struct hosts_keep *keep = floor->keep;
	struct shared_call calls[SEND_MAX];
	struct book_value values[SEND_MAX][2];

	if (keep->count == 0 ||
	    (keep->count < SEND_MAX && clock_boot_ms() < keep->due_ms))
		return false;
	for (keep->sent = 0; keep->sent < keep->count && keep->sent < SEND_MAX;
	     keep->sent++) {
		size_t i = keep->sent;

		values[i][0] = BOOK_T(keep->list[i]->key);
		values[i][1] = BOOK_T(keep->list[i]->record);
		calls[i] =
		    (struct shared_call){ SHARED_EVENT_ADD, values[i], 2 };
	}
	hosts_ask(floor, calls, keep->sent, on_sent);
	return true;
}

int64_t
keep_wait_ms(const struct hosts_floor *floor, int64_t now_ms)
{
	return floor->keep->count == 0 ? INT64_MAX :
					 floor->keep->due_ms - now_ms;
}

/* --- those of the others ----------------------------------------------------
 */

/* Takes the list. */
static void
answer_calls(struct hosts_keep *keep, struct json_object *list)
{
	while (keep->call_count > 0) {
		struct json_object *result = json_object_new_object();

		json_set(result, "events", json_object_get(list));
		serve_show(keep->calls[--keep->call_count], result);
	}
	json_object_put(list);
}

/* The oldest first. What they do not say as this version would is left out. */
static void
on_events(const struct shared_answer *answer, void *arg)
{
	struct hosts_keep *keep = arg;
	struct json_object *list = json_object_new_array();
	const struct shared_rows *rows = &answer->of[0];

	for (size_t i = answer->verdict == SHARED_DONE ? rows->count : 0;
	     i-- > 0;) {
		const char *text = shared_text(rows, i, "record");
		struct json_object *record = NULL;

		if (json_parse(
			text, strlen(text), 2 * RECORD_MAX, &record, NULL) < 0)
			continue;
		if (json_object_is_type(record, json_type_object))
			json_set_string(
			    record, "host", shared_text(rows, i, "host"));
		if (schema_check(&event_record_schema, record, "", NULL) == 0)
			json_object_array_add(list, record);
		else
			json_object_put(record);
	}
	answer_calls(keep, list);
}

static void
on_fleet_events(void *arg, struct server_call *call, struct json_object *params)
{
	struct hosts_floor *floor = arg;
	struct hosts_keep none = { .calls = { call }, .call_count = 1 };
	struct hosts_keep *keep = floor != NULL ? floor->keep : NULL;

	(void)params;
	if (keep == NULL || floor->shared == NULL ||
	    keep->call_count == CALLS_MAX) {
		answer_calls(&none, json_object_new_array());
		return;
	}
	keep->calls[keep->call_count++] = call;
	if (keep->call_count == 1)
		shared_ask(floor->shared, &SHARED_CALL0(SHARED_EVENTS), 1,
		    EVENTS_WAIT_MS, on_events, keep);
}

/* --- life -------------------------------------------------------------------
 */

void
keep_register(struct core *core, struct hosts_floor *floor)
{
	serve_handle(core, "fleet.events", on_fleet_events, floor);
	if (floor != NULL)
		floor->keep = xcalloc(1, sizeof *floor->keep);
}

void
keep_stop(struct hosts_floor *floor)
{
	if (floor->shared != NULL)
		shared_forget(floor->shared, floor->keep);
	answer_calls(floor->keep, json_object_new_array());
}

void
keep_free(struct hosts_floor *floor)
{
	for (size_t i = 0; i < floor->keep->count; i++)
		schema_free(&spooled_schema, floor->keep->list[i]);
	free(take_ptr(&floor->keep));
}

/* --- what is old ------------------------------------------------------------
 */

static void
on_pruned(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	const struct shared_rows *tasks = &answer->of[0];

	if (!hosts_answered(floor, answer)) {
		hosts_done(floor);
		return;
	}
	for (size_t i = 0; i < answer->calls; i++)
		if (answer->of[i].count >= SHARED_ROWS_MAX)
			floor->prune_ms = clock_boot_ms() - HOUR_MS + MORE_MS;
	/* Each owner once. */
	for (size_t i = 0; i < tasks->count; i++) {
		const char *owner = shared_text(tasks, i, "owner");
		int64_t unread = 0;

		for (size_t n = 0; n < tasks->count; n++) {
			if (strcmp(shared_text(tasks, n, "owner"), owner) != 0)
				continue;
			if (n < i)
				break;
			unread += shared_int(tasks, n, "unread");
		}
		if (unread > 0)
			EMIT(floor->core, EVENT_HOSTS_FORGOT, .text = owner,
			    .count = unread);
	}
	hosts_done(floor);
}

bool
keep_prune(struct hosts_floor *floor)
{
	int64_t now = clock_boot_ms();
	const struct shared_call calls[] = {
		SHARED_CALL(
		    SHARED_PRUNE_TASKS, BOOK_I(KEEP_MS), BOOK_I(UNREAD_MS)),
		SHARED_CALL(
		    SHARED_PRUNE_LETTERS, BOOK_I(KEEP_MS), BOOK_I(UNREAD_MS)),
		SHARED_CALL(SHARED_PRUNE_CHECKS, BOOK_I(KEEP_MS)),
		SHARED_CALL(SHARED_PRUNE_EVENTS, BOOK_I(EVENTS_MS)),
		SHARED_CALL0(SHARED_PRUNE_RESERVED),
		SHARED_CALL(SHARED_PRUNE_SPEND,
		    BOOK_I(floor->book_ms / DAY_MS - SPEND_DAYS)),
	};

	if (floor->prune_ms != 0 && now - floor->prune_ms < HOUR_MS)
		return false;
	/* Not all hosts at once. */
	floor->prune_ms = now + (int64_t)arc4random_uniform((uint32_t)HOUR_MS);
	hosts_ask(floor, calls, nitems(calls), on_pruned);
	return true;
}
