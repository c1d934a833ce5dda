/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "price.h"
#include "record.h"

const char *const cost_source_words[] = {
	[COST_UNKNOWN] = "unknown",
	[COST_ESTIMATE] = "estimate",
	[COST_REPORTED] = "reported",
	[COST_SOURCE_COUNT] = NULL,
};

/* --- amounts --------------------------------------------------------- */

static void
add(int64_t *sum, int64_t change)
{
	if (__builtin_add_overflow(*sum, change, sum))
		*sum = INT64_MAX;
	if (*sum < 0)
		*sum = 0;
}

void
spent_add(struct spent *spent, const struct spent *change)
{
	usage_merge(&spent->usage, &change->usage);
	add(&spent->cost, change->cost);
	add(&spent->estimated, change->estimated);
	add(&spent->unpriced, change->unpriced);
}

struct spent
spent_beyond(const struct spent *spent, const struct spent *before)
{
	return (struct spent){
		.usage = usage_beyond(&spent->usage, &before->usage),
		.cost = spent->cost - before->cost,
		.estimated = spent->estimated - before->estimated,
		.unpriced = spent->unpriced - before->unpriced,
	};
}

bool
spent_is_change(const struct spent *change)
{
	return !usage_is_empty(&change->usage) || change->cost != 0 ||
	    change->estimated != 0 || change->unpriced != 0;
}

enum cost_source
spent_source(const struct spent *spent)
{
	if (spent->unpriced > 0 ||
	    (spent->cost == 0 && spent->usage.count == 0))
		return COST_UNKNOWN;
	return spent->estimated > 0 || spent->cost == 0 ? COST_ESTIMATE :
							  COST_REPORTED;
}

#define SPENT(key, member) RECORD_FIELD(struct spent, key, member)

static const struct schema_field spent_fields[] = {
	SPENT("cost", cost),
	SPENT("cost_estimated", estimated),
	SPENT("tokens_unpriced", unpriced),
};

void
spent_to_json(const struct spent *spent, struct json_object *json)
{
	record_to_json(spent_fields, nitems(spent_fields), spent, json);
	json_set(json, "usage", usage_to_json(&spent->usage));
}

static int
get_usage(struct json_object *json, const char *at, const char *key,
    struct usage *ret_usage, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *object = NULL;
	int r = json_get_object(json, at, key, &object, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	json_path_key(&path, at, key);
	return usage_from_json(object, path.data, ret_usage, err);
}

int
spent_from_json(struct json_object *json, const char *at,
    struct spent *ret_spent, struct err *err)
{
	int r = record_from_json(
	    spent_fields, nitems(spent_fields), json, at, ret_spent, err);

	return r < 0 ? r : get_usage(json, at, "usage", &ret_spent->usage, err);
}

/* --- accounts -------------------------------------------------------- */

struct account *
account_new(const char *transcript, int64_t from_ms, const char *worker)
{
	struct account *account = xcalloc(1, sizeof *account);

	account->transcript = xstrdup(transcript);
	account->from_ms = from_ms;
	xstrset(&account->worker, worker);
	return account;
}

void
account_free(struct account *account)
{
	if (account == NULL)
		return;
	free(account->transcript);
	free(account->worker);
	free(account->task);
	free(account);
}

/* What all of it costs. A report that covers less than was counted (a process
 * that was killed reports nothing of what it used) is completed by an estimate.
 * One that includes the conversation that this is a copy of, that lacks a price
 * itself, or that is empty (of a process that was resumed and asked nothing) is
 * not used. */
static struct spent
account_cost(const struct account *account, const struct price_list *prices)
{
	const struct usage_report *report = &account->report;
	bool use = report->given && !report->incomplete &&
	    account->from_ms == 0 &&
	    (report->cost > 0 || report->usage.count > 0);
	struct usage rest = account->spent.usage;
	struct price_sum sum;

	if (use && report->usage.count == 0)
		rest.count = 0; /* it does not say: all of it */
	else if (use)
		rest = usage_beyond(&account->spent.usage, &report->usage);
	sum = price_of(prices, &rest);

	return (struct spent){
		.cost = sum.cost + (use ? report->cost : 0),
		.estimated = sum.cost,
		.unpriced = sum.unpriced,
	};
}

bool
account_update(struct account *account, const struct usage *total,
    const struct usage_report *report, const struct price_list *prices,
    struct spent *ret_change)
{
	struct spent before = account->spent, now;
	struct usage more = usage_beyond(total, &before.usage);

	usage_merge(&account->spent.usage, &more);
	if (report->given)
		account->report = *report;
	now = account_cost(account, prices);
	now.usage = account->spent.usage;
	account->spent = now;
	*ret_change = spent_beyond(&now, &before);
	return spent_is_change(ret_change);
}

/* --- records --------------------------------------------------------- */

#define FIELD(key, member, ...) \
	RECORD_FIELD(struct account, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("transcript", transcript, .flags = RECORD_REQUIRED),
	FIELD("from_ms", from_ms, .flags = RECORD_CLAMP),
	FIELD("worker", worker),
	FIELD("task", task),
	FIELD("day", day),
	FIELD("reported", report.given),
	FIELD("reported_cost", report.cost),
	FIELD("reported_incomplete", report.incomplete),
	FIELD("known_tokens", known_tokens),
	FIELD("known_cost", known_cost),
};

struct json_object *
account_to_json(const struct account *account)
{
	struct json_object *json = json_object_new_object();
	struct json_object *filed = json_object_new_object();

	record_to_json(fields, nitems(fields), account, json);
	spent_to_json(&account->spent, json);
	spent_to_json(&account->filed, filed);
	json_set(json, "filed", filed);
	if (account->report.given)
		json_set(json, "reported_usage",
		    usage_to_json(&account->report.usage));
	return json;
}

static int
get_filed(struct json_object *json, const char *at, struct account *account,
    struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *filed = NULL;
	int r = json_get_object(json, at, "filed", &filed, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	json_path_key(&path, at, "filed");
	return spent_from_json(filed, path.data, &account->filed, err);
}

int
account_from_json(struct json_object *json, const char *at,
    struct account **ret_account, struct err *err)
{
	struct account *account = xcalloc(1, sizeof *account);
	int r =
	    record_from_json(fields, nitems(fields), json, at, account, err);

	if (r == 0)
		r = spent_from_json(json, at, &account->spent, err);
	if (r == 0)
		r = get_filed(json, at, account, err);
	if (r == 0)
		r = get_usage(
		    json, at, "reported_usage", &account->report.usage, err);
	if (r < 0) {
		account_free(account);
		return r == -ENOENT ? -EINVAL : r;
	}
	*ret_account = account;
	return 0;
}
