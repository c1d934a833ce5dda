/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "errtext.h"
#include "mem.h"
#include "price.h"
#include "schema.h"

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

#define SPENT(key, member) SCHEMA_FIELD(struct spent, key, member)

static const struct schema_field spent_fields[] = {
	SPENT("cost", cost),
	SPENT("cost_estimated", estimated),
	SPENT("tokens_unpriced", unpriced),
};

static struct json_object *
usage_member_to_json(const void *member)
{
	return usage_to_json(member);
}

static int
usage_member_from_json(
    struct json_object *json, const char *at, void *member, struct err *err)
{
	return usage_from_json(json, at, member, err);
}

static const struct schema_own usage_own = {
	.size = sizeof(struct usage),
	.to_json = usage_member_to_json,
	.from_json = usage_member_from_json,
};

static const struct schema spent_numbers =
    SCHEMA_OF(struct spent, spent_fields);

static const struct schema_field spent_all[] = {
	SCHEMA_GROUP("", spent_numbers, .flags = SCHEMA_FLAT),
	SCHEMA_OWN(struct spent, "usage", usage, SCHEMA_OBJECT, usage_own),
};

const struct schema spent_schema = SCHEMA_OF(struct spent, spent_all);

void
spent_to_json(const struct spent *spent, struct json_object *json)
{
	schema_add(&spent_schema, spent, json);
}

int
spent_from_json(struct json_object *json, const char *at,
    struct spent *ret_spent, struct err *err)
{
	return schema_read(&spent_schema, json, at, ret_spent, err);
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
	schema_free(&account_schema, account);
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
	SCHEMA_FIELD(struct account, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("transcript", transcript, .flags = SCHEMA_REQUIRED),
	FIELD("from_ms", from_ms, .flags = SCHEMA_CLAMP),
	FIELD("worker", worker),
	FIELD("task", task),
	FIELD("day", day),
	FIELD("reported", report.given),
	FIELD("reported_cost", report.cost),
	FIELD("reported_incomplete", report.incomplete),
	FIELD("known_tokens", known_tokens),
	FIELD("known_cost", known_cost),
};

const struct schema account_table = { .fields = fields,
	.count = nitems(fields) };
const struct schema spent_table = { .fields = spent_fields,
	.count = nitems(spent_fields) };

/* Only if there was a report. */
static struct json_object *
reported_to_json(const void *member)
{
	return usage_is_empty(member) ? NULL : usage_to_json(member);
}

static const struct schema_own reported_own = {
	.size = sizeof(struct usage),
	.to_json = reported_to_json,
	.from_json = usage_member_from_json,
};

static const struct schema numbers = SCHEMA_OF(struct account, fields);

static const struct schema_field all[] = {
	SCHEMA_GROUP("", numbers, .flags = SCHEMA_FLAT),
	SCHEMA_PART(struct account, "", STRUCT, spent, spent_schema,
	    .flags = SCHEMA_FLAT),
	SCHEMA_PART(struct account, "filed", STRUCT, filed, spent_schema),
	SCHEMA_OWN(struct account, "reported_usage", report.usage,
	    SCHEMA_OBJECT, reported_own, .flags = SCHEMA_OMIT_UNSET),
};

const struct schema account_schema = SCHEMA_OF(struct account, all);

struct json_object *
account_to_json(const struct account *account)
{
	return schema_json(&account_schema, account);
}

int
account_from_json(struct json_object *json, const char *at,
    struct account **ret_account, struct err *err)
{
	struct account *account = schema_make(&account_schema, json, at, err);

	if (account == NULL)
		return -EINVAL;
	*ret_account = account;
	return 0;
}
