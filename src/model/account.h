/* SPDX-License-Identifier: ISC */

/*
 * What one conversation has used and what that costs, booked on the task that
 * it belongs to. The file of a conversation is read again from its beginning
 * after a restart: only what is beyond the account is new. The cost is an
 * estimate from the prices until Claude Code reports its own.
 *
 * Costs are in millionths of a dollar.
 */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "usage.h"

struct err;
struct json_object;
struct schema;
struct price_list;

/* What is known of the cost of something. */
enum cost_source {
	COST_UNKNOWN, /* a price is missing, or nothing was counted */
	COST_ESTIMATE, /* at least a part is tokens times prices */
	COST_REPORTED, /* by Claude Code */
	COST_SOURCE_COUNT
};

/* "estimate"; NULL terminated. */
extern const char *const cost_source_words[COST_SOURCE_COUNT + 1];

/* An amount, of a conversation, a task or a day. */
struct spent {
	struct usage usage;
	int64_t cost; /* without what has no price */
	int64_t estimated; /* the part of it that is an estimate */
	int64_t unpriced; /* tokens without a price */
};

/* More, or (the costs and the unpriced tokens) less: what was estimated too
 * high is taken back. Nothing gets below zero. */
void spent_add(struct spent *spent, const struct spent *change);
/* The change from one amount to a later one; is it one at all? */
struct spent
spent_beyond(const struct spent *spent, const struct spent *before);
bool spent_is_change(const struct spent *change);
enum cost_source spent_source(const struct spent *spent);

/* As members of an object that may have others: "usage", "cost",
 * "cost_estimated", "tokens_unpriced". All may be missing. */
void spent_to_json(const struct spent *spent, struct json_object *json);
int spent_from_json(struct json_object *json, const char *at,
    struct spent *ret_spent, struct err *err);

struct account {
	char *transcript; /* path */
	int64_t from_ms; /* what is older in that file is a copy; 0 = none */
	char *worker;
	char *task; /* that it belongs to; NULL = none */
	int64_t day; /* when it was used last */
	struct spent spent; /* booked */
	struct spent filed; /* the part of it that is in the task's record */
	struct usage_report report;
	/* What is left of the amount that a daemon without accounts has booked
	 * on the task and its day. */
	int64_t known_tokens, known_cost;
};

struct account *
account_new(const char *transcript, int64_t from_ms, const char *worker);
void account_free(struct account *account);

/* The file now says this. True if something is to be booked: *ret_change. */
bool account_update(struct account *account, const struct usage *total,
    const struct usage_report *report, const struct price_list *prices,
    struct spent *ret_change);

struct json_object *account_to_json(const struct account *account);
/* *ret_account is owned by the caller. -EINVAL: err names the member. */
int account_from_json(struct json_object *json, const char *at,
    struct account **ret_account, struct err *err);

extern const struct schema spent_schema; /* the same */
extern const struct schema account_schema;
extern const struct schema account_table; /* the columns of its row */
extern const struct schema spent_table;

#endif
