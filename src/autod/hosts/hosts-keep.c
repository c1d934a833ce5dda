/* SPDX-License-Identifier: ISC */

/*
 * What the shared book keeps of each host, for all of them: what has happened,
 * and what was spent.
 *
 * Events that concern all hosts are in the own book until the shared one has
 * them: some wait while it is away, and how many more there were is told. Any
 * host removes what is old, by the clock of the book, some rows at a time. How
 * a task ended stays until its owner and its runner have it in their own books
 * (SHARED_BEAT tells how far they have read), or for a month: then it is said
 * what was lost.
 *
 * The budgets of a day and what is kept of a window of an account are for all
 * hosts together.
 */

#include "base.h"
#include "api.h"
#include "book.h"
#include "emit.h"
#include "event.h"
#include "fleet.h"
#include "hosts-private.h"
#include "json.h"
#include "schema.h"
#include "serve.h"
#include "settings.h"

#define HOUR_MS        ((int64_t)3600 * 1000)
#define DAY_MS         (24 * HOUR_MS)
#define MORE_MS        ((int64_t)60 * 1000) /* if there was too much at once */
#define SPOOL_MAX      1000 /* events that wait */
#define SEND_MAX       32 /* of them at once */
#define SEND_MS        ((int64_t)3 * 1000) /* after the first one */
#define RECORD_MAX     ((size_t)16 * 1024)
#define CALLS_MAX      16
#define EVENTS_WAIT_MS ((int64_t)5 * 1000) /* somebody looks */

/* --- events ------------------------------------------------------- */

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

/* --- those of the others ------------------------------------------ */

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

/* --- life --------------------------------------------------------- */

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

/* --- what is old -------------------------------------------------- */

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
		SHARED_CALL0(SHARED_PRUNE_TASKS),
		SHARED_CALL0(SHARED_PRUNE_LETTERS),
		SHARED_CALL0(SHARED_PRUNE_EVENTS),
		SHARED_CALL0(SHARED_PRUNE_SPEND),
	};

	if (floor->prune_ms != 0 && now - floor->prune_ms < HOUR_MS)
		return false;
	/* Not all hosts at once. */
	floor->prune_ms = now + (int64_t)arc4random_uniform((uint32_t)HOUR_MS);
	hosts_ask(floor, calls, nitems(calls), on_pruned);
	return true;
}

/* --- what was spent ------------------------------------------------------- */

#define CHANGED_MS   ((int64_t)10 * 1000) /* what is new is told this often */
#define READ_MS      ((int64_t)60 * 1000) /* a budget is looked at this often */
#define SAME_MS      ((int64_t)5 * 60 * 1000) /* resets of one window differ */
#define MINUTE_MS    ((int64_t)60 * 1000)
#define LIMIT        "limit" /* the span of a row: an account is limited */
#define LIMIT_MAX_MS (8 * DAY_MS)

/* The same window, that another host has heard of; one that ends at another
 * time is another account's. */
static void
read_window(struct hosts_floor *floor, const char *span, const char *body)
{
	struct window *windows = floor->core->state.windows;
	cleanup_json struct json_object *json = NULL, *limits = NULL;
	int64_t now = clock_wall_ms();

	if (body == NULL ||
	    json_parse(body, strlen(body), 4096, &json, NULL) < 0)
		return;
	for (int i = 0; i < WINDOW_COUNT; i++) {
		int64_t resets = json_int_or(json, "resets_at", 0);

		if (strcmp(span, window_words[i]) != 0 ||
		    !window_is_known(&windows[i], now) || resets <= 0 ||
		    resets > INT64_MAX / 1000 ||
		    llabs(resets * 1000 - windows[i].resets_ms) > SAME_MS)
			continue;
		limits = json_object_new_object();
		json_set(limits, span, take_ptr(&json));
		windows_read(limits, now, windows);
		return;
	}
}

/* What is known of the account; added if it was not. */
static struct hosts_heard *
heard_of(struct hosts_floor *floor, const char *account)
{
	struct hosts_heard *heard = floor->heard;

	for (size_t i = 0; i < floor->heard_count; i++)
		if (strcmp(heard[i].account, account) == 0)
			return &heard[i];
	floor->heard = heard =
	    xreallocarray(heard, floor->heard_count + 1, sizeof *floor->heard);
	heard[floor->heard_count] =
	    (struct hosts_heard){ .account = xstrdup(account) };
	return &heard[floor->heard_count++];
}

void
money_free(struct hosts_floor *floor)
{
	for (size_t i = 0; i < floor->heard_count; i++)
		free(floor->heard[i].account);
	free(floor->heard);
}

/* Another host has heard that an account is limited: workers here that use the
 * same one wait as well. How long is left is counted by the database's clock.
 */
static void
read_limit(struct hosts_floor *floor, const struct shared_rows *rows, size_t n)
{
	const char *body = shared_text(rows, n, "body");
	const char *host = shared_text(rows, n, "host");
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *words = NULL;
	struct hosts_heard *heard;
	int64_t left, until;

	if (strcmp(shared_text(rows, n, "span"), LIMIT) != 0 ||
	    strcmp(host, floor->host) == 0 || body == NULL ||
	    json_parse(body, strlen(body), 4096, &json, NULL) < 0)
		return;
	left = json_int_or(json, "left_ms", 0);
	left = (left < LIMIT_MAX_MS ? left : LIMIT_MAX_MS) -
	    shared_int(rows, n, "changed_ago");
	until = clock_wall_ms() + left;
	if (left <= 0)
		return;
	heard = heard_of(floor, shared_text(rows, n, "account"));
	if (until < heard->until_ms + MINUTE_MS)
		return;
	words = xasprintf("host %s says of the same account: %.300s", host,
	    json_string_or(json, "why", "it is limited"));
	if (fleet_limit(
		floor->mode->fleet, NULL, heard->account, words, until) == 0)
		return; /* who begins later hears it from its agent */
	heard->until_ms = until;
	EMIT(floor->core, EVENT_WAITING, .reason = words,
	    .until_unix = until / 1000);
}

static void
on_money(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	int64_t tokens = 0, cost = 0;

	if (hosts_answered(floor, answer)) {
		const struct shared_rows *sum = &answer->of[1];
		const struct shared_rows *quota = &answer->of[2];

		for (size_t i = 0; i < sum->count; i++) {
			tokens += shared_int(sum, i, "others_tokens");
			cost += shared_int(sum, i, "others_micros");
		}
		for (size_t i = 0; i < quota->count; i++) {
			read_window(floor, shared_text(quota, i, "span"),
			    shared_text(quota, i, "body"));
			read_limit(floor, quota, i);
		}
		floor->told = floor->telling;
		auto_spent_elsewhere(
		    floor->mode, floor->told.day, tokens, cost);
	}
	hosts_done(floor);
}

bool
money_act(struct hosts_floor *floor)
{
	const struct state *state = &floor->core->state;
	const struct settings *settings = floor->core->settings;
	const struct window *windows = state->windows;
	int64_t now = clock_boot_ms(), today = clock_wall_ms() / DAY_MS;
	struct hosts_told is = { .day = today };
	cleanup_free char *body[WINDOW_COUNT] = { 0 };
	struct book_value put[WINDOW_COUNT][2];
	struct shared_call calls[4 + WINDOW_COUNT];
	struct book_value spend[4], sum[1], limit[2];
	const struct auto_mode *mode = floor->mode;
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf why = BUF_INIT;
	int64_t left = mode->limited_ms - clock_wall_ms();
	bool limited = settings_int(settings, "budget.day_tokens") > 0 ||
	    settings_amount(settings, "budget.day_cost") > 0 ||
	    settings_int(settings, "budget.reserve") > 0;
	size_t n = 3;

	if (state->today.day == today) {
		is.tokens = state->today.tokens;
		is.cost = state->today.cost;
	}
	for (int i = 0; i < WINDOW_COUNT; i++)
		if (window_is_known(&windows[i], clock_wall_ms()))
			is.used[i] = windows[i].used;
	if (mode->limited_account != NULL && left > 0)
		is.limited_ms = mode->limited_ms;
	if ((now - floor->money_ms < CHANGED_MS && !floor->quota &&
		is.limited_ms == floor->told.limited_ms) ||
	    (!floor->quota && memcmp(&is, &floor->told, sizeof is) == 0 &&
		(!limited || now - floor->money_ms < READ_MS)))
		return false;
	floor->money_ms = now;
	floor->quota = false;
	floor->telling = is;
	spend[0] = sum[0] = BOOK_I(today);
	spend[1] = BOOK_T("");
	spend[2] = BOOK_I(is.tokens);
	spend[3] = BOOK_I(is.cost);
	calls[0] = (struct shared_call){ SHARED_SPEND_PUT, spend, 4 };
	calls[1] = (struct shared_call){ SHARED_SPEND_SUM, sum, 1 };
	calls[2] = SHARED_CALL0(SHARED_QUOTA_READ);
	for (int i = 0; i < WINDOW_COUNT; i++) {
		if (!window_is_known(&windows[i], clock_wall_ms()))
			continue;
		/* Its end tells an account from another one. */
		body[i] = xasprintf("{\"used_percentage\": %" PRId64 ".%" PRId64
				    ", \"resets_at\": %" PRId64 "}",
		    windows[i].used / 10, windows[i].used % 10,
		    windows[i].resets_ms / 1000);
		put[i][0] = BOOK_T(window_words[i]);
		put[i][1] = BOOK_T(body[i]);
		calls[n++] =
		    (struct shared_call){ SHARED_QUOTA_PUT, put[i], 2 };
	}
	if (is.limited_ms != 0 && is.limited_ms != floor->told.limited_ms) {
		json = json_object_new_object();
		json_set_int(json, "left_ms", left);
		json_set_string(json, "why", mode->limited_why);
		json_print(json, false, &why);
		limit[0] = BOOK_T(mode->limited_account);
		limit[1] = BOOK_T(why.data);
		calls[n++] =
		    (struct shared_call){ SHARED_QUOTA_LIMIT, limit, 2 };
	}
	hosts_ask(floor, calls, n, on_money);
	return true;
}
