/* SPDX-License-Identifier: ISC */

/*
 * What the hosts of a fleet have spent today, and how full the windows of
 * their accounts are: the budgets of a day and what is kept of a window are for
 * all of them together.
 */

#include "base.h"
#include "emit.h"
#include "fleet.h"
#include "hosts-private.h"
#include "json.h"
#include "settings.h"

#define CHANGED_MS   ((int64_t)10 * 1000) /* what is new is told this often */
#define READ_MS      ((int64_t)60 * 1000) /* a budget is looked at this often */
#define SAME_MS      ((int64_t)5 * 60 * 1000) /* resets of one window differ */
#define DAY_MS       ((int64_t)24 * 3600 * 1000)
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
	struct book_value put[WINDOW_COUNT][3];
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
		put[i][0] = BOOK_T(floor->host);
		put[i][1] = BOOK_T(window_words[i]);
		put[i][2] = BOOK_T(body[i]);
		calls[n++] =
		    (struct shared_call){ SHARED_QUOTA_PUT, put[i], 3 };
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
