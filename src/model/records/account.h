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

struct buf;
struct err;
struct json_object;
struct price_list;
struct schema;

/* Tokens by model and kind, and tool calls: what a conversation, a task or a
 * day has used. A plain value: copied by assignment, all zero is nothing. */

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
#define USAGE_NAMES_MAX                                      \
	256 /* of all conversations; others are USAGE_OTHERS \
	     */
#define USAGE_OTHERS "other"
#define USAGE_MAX    (INT64_C(1) << 52) /* of each number */

struct usage_model {
	const char *name; /* not owned: it stays for good */
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

/* Members of an object that may have others: "usage", "cost",
 * "cost_estimated", "tokens_unpriced". All may be missing. */
extern const struct schema spent_schema;

struct account {
	char *transcript; /* path */
	int64_t from_ms; /* what is older in that file is a copy; 0 = none */
	char *worker;
	char *task; /* that it belongs to; NULL = none */
	int64_t day; /* when it was used last */
	struct spent spent; /* booked */
	struct spent filed; /* the part of it that is in the task's record */
	struct usage_report report;
};

struct account *
account_new(const char *transcript, int64_t from_ms, const char *worker);

/* The file now says this. True if something is to be booked: *ret_change. */
bool account_update(struct account *account, const struct usage *total,
    const struct usage_report *report, const struct price_list *prices,
    struct spent *ret_change);

extern const struct schema account_schema;
extern const struct schema account_table; /* the columns of its row */
extern const struct schema spent_table;

/* What tokens cost. Prices are in millionths of a dollar for a million tokens;
 * a model that no row names has no known price: it is never guessed. */

struct price {
	char model[USAGE_MODEL_SIZE]; /* a name, or a pattern: * and ? */
	int64_t of[USAGE_KINDS];
};

/* The prices of the API on this day, compiled in. */
#define PRICE_AS_OF "2026-11-15"
extern const struct price price_defaults[];
extern const size_t price_defaults_count;

/* A person's own rows, which come before the defaults. */
struct price_list {
	struct price *rows; /* owned */
	size_t count;
};

/* The row for a model, NULL = unknown: the one with the most characters that
 * are not wildcards, a name before a pattern, an own row before a default. own
 * may be NULL. */
const struct price *price_find(const struct price_list *own, const char *model);

/* What this costs: millionths of a dollar, rounded once, and the number of
 * tokens whose price is not known, which are not part of it. */
struct price_sum {
	int64_t cost;
	int64_t unpriced;
};
struct price_sum
price_of(const struct price_list *own, const struct usage *usage);

/* What everything used, day by day: tasks, workers driven by hand, the planner
 * and repairs. The oldest day is dropped when there are too many. */

#define DAYBOOK_DAYS 31

/* On what; what is left of a day's cost was spent on tasks. */
enum daybook_kind {
	DAYBOOK_HAND, /* workers driven by hand */
	DAYBOOK_PLANNER,
	DAYBOOK_REPAIR, /* of llmc itself, by the overseer */
	DAYBOOK_TASK,
	DAYBOOK_KINDS = DAYBOOK_TASK
};

struct daybook_day {
	int64_t day; /* days since 1970, UTC */
	int64_t attempts; /* at tasks, begun */
	struct spent spent; /* all of it */
	int64_t cost_of[DAYBOOK_KINDS]; /* parts of spent.cost */
};

struct daybook {
	struct daybook_day *days; /* owned; oldest first */
	size_t count;
};

void daybook_release(struct daybook *book);

/* The entry of a day, made if there is none; of a day older than the book, the
 * oldest entry. */
struct daybook_day *daybook_day(struct daybook *book, int64_t day);
/* Book more on a day. What a correction takes back, and the day does not have,
 * is taken from the days before it: a conversation may go on over midnight. */
void daybook_add(struct daybook *book, int64_t day, enum daybook_kind kind,
    const struct spent *change);
/* What a day's tasks cost. */
int64_t daybook_task_cost(const struct daybook_day *day);

/* Put days that were read from a file into their order, each once. */
void daybook_sort(struct daybook *book);

extern const struct schema daybook_schema; /* of a day */
extern const struct schema daybook_table; /* the columns of its row */

/* How much a task and a day may cost, and when that is reached. Costs are in
 * millionths of a dollar; 0 = no limit. */

struct budget {
	int64_t tokens, cost, time_ms;
	int turns;
};

/* Has `spent` reached `budget` plus what was granted? If so, append the reason:
 * what was reached, how much, and the setting ("budget.task_tokens"). prefix is
 * "task" or "day". */
bool budget_reached(const struct budget *budget, const struct budget *granted,
    const struct budget *spent, const char *prefix, struct buf *words);

/* What the fleet spent on one day. */
struct budget_day {
	int64_t day; /* days since 1970 in local time, set by the caller */
	int64_t tokens, cost;
	int64_t tokens_allowed, cost_allowed; /* granted for this day */
	int64_t tokens_others, cost_others; /* spent by the other hosts of a
					     * fleet; not saved */
};

/* All that was spent on this day. */
struct budget budget_spent(const struct budget_day *day, int64_t today);

/* Add to it; a new day starts at zero. A cost below zero takes back what was
 * estimated too high. */
void budget_spend(
    struct budget_day *day, int64_t today, int64_t tokens, int64_t cost);

/* "$1.25", "$0.004"; "1,204,332 tokens". Appended. */
void budget_add_cost(struct buf *out, int64_t cost);
void budget_add_tokens(struct buf *out, int64_t tokens);

#endif
