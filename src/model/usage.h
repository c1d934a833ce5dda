/* SPDX-License-Identifier: ISC */

/* Tokens by model and kind, and tool calls: what a conversation, a task or a
 * day has used. A plain value: copied by assignment, all zero is nothing. */
#ifndef USAGE_H
#define USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct json_object;
struct schema;

enum usage_kind {
	USAGE_INPUT,
	USAGE_OUTPUT,
	USAGE_CACHE_READ,
	USAGE_CACHE_WRITE_5M, /* kept for five minutes */
	USAGE_CACHE_WRITE_1H,
	USAGE_KINDS
};

/* "cache_write_5m"; NULL terminated. */
extern const char *const usage_kind_words[USAGE_KINDS + 1];

#define USAGE_MODELS_MAX 8 /* the last one stands for all others */
#define USAGE_MODEL_SIZE 64 /* longer names are cut */
#define USAGE_OTHERS     "other"
#define USAGE_MAX        (INT64_C(1) << 52) /* of each number */

struct usage_model {
	char name[USAGE_MODEL_SIZE];
	int64_t tokens[USAGE_KINDS];
};

struct usage {
	struct usage_model models[USAGE_MODELS_MAX];
	size_t count;
	int64_t tool_calls;
};

/* The cost that an agent itself has counted. */
struct usage_report {
	bool given;
	int64_t cost; /* millionths of a dollar */
	bool incomplete; /* it did not know the price of a model */
	struct usage usage; /* what that cost covers; without tool calls */
};

/* Count more tokens; negative numbers are ignored, sums end at USAGE_MAX. */
void usage_add(struct usage *usage, const char *model, enum usage_kind kind,
    int64_t tokens);
void usage_merge(struct usage *usage, const struct usage *more);

/* What total has beyond counted; nothing where it has less. */
struct usage
usage_beyond(const struct usage *total, const struct usage *counted);

/* Is there neither a token nor a tool call in it? */
bool usage_is_empty(const struct usage *usage);
/* Tokens as the budgets count them: without those read from the cache. */
int64_t usage_budget_tokens(const struct usage *usage);

/* {"tool_calls": 3, "models": {"claude-x": {"input": 10, ...}}}. Reading: an
 * object of another shape is -EINVAL; missing numbers are 0. */
extern const struct schema usage_schema;
struct json_object *usage_to_json(const struct usage *usage);
int usage_from_json(struct json_object *json, const char *at,
    struct usage *ret_usage, struct err *err);

#endif
