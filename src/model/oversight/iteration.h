/* SPDX-License-Identifier: ISC */

/*
 * One turn of a worker on a task, or a part of a long one, as facts: what
 * changed, which errors there were, how far the task is, what it cost.
 *
 * What is not known is absent: NAN, -1 or NULL in the struct, no member in the
 * JSON. Zero is a value. As JSON:
 *
 *   { "number", "status", "durationMs",
 *     "analysis": { "failureClass", "errors", "blockers", "learnings",
 *       "completionPercentage", "testsPassing", "checkFailure", "failing",
 *       "failingNamed", "coveragePercent", "artifactsModified" },
 *     "context": { "objective", "maxIterations", "estimatedCost",
 *       "estimatedCalls" },
 *     "cost", "tokens", "scope", "blobs", "treeHash", "part", "waits",
 *     "attempt", "ownTests", "calls", "repeated" }
 *
 * failureClass is the first of errors. An analysis that says anything and names
 * no error has found none, and so has a status of success; without an analysis,
 * and where errors is null, it is not known. checkFailure is what the check or
 * the tests of the work printed when they failed, or why else the end of the
 * turn was refused; failing are words for what failed, if that is known
 * otherwise, of which failingNamed are names of tests. cost is in US dollars,
 * scope a list of paths, folders and patterns, blobs an object of hashes by
 * path (null: the file is gone). part: the turn goes on; waits: for others, so
 * that its turns and its cost are not counted as work. calls is a list of
 * [action, tree, answer, flags], in which equal numbers are equal things, and a
 * tree of 0 is that of the iteration; repeated is the call that was made most
 * often, in words. ownTests: testsPassing is what oversight.test_command said.
 *
 * An iteration is counted: iteration_new() and iteration_from_json() give the
 * first reference. It is not changed once it has been handed on.
 */
#ifndef ITERATION_H
#define ITERATION_H

struct err;
struct json_object;
struct schema;

#define ITERATION_TEXT_MAX   16384 /* bytes of a text; longer ones are cut */
#define ITERATION_ERROR_MAX  1024
#define ITERATION_FAILURE    8192 /* of a check: the end counts */
#define ITERATION_ERRORS     8 /* further ones are left out */
#define ITERATION_BLOCKERS   16
#define ITERATION_FILES      4096
#define ITERATION_CALLS      4096
#define ITERATION_NUMBER_MAX 1000000000
#define ITERATION_MS_MAX     INT64_C(1000000000000)
#define ITERATION_VALUE_MAX  1e12 /* of a cost or a percentage */

struct iteration_blob {
	char *path;
	char *hash; /* "" = the file is gone */
};

enum iteration_token {
	ITERATION_INPUT,
	ITERATION_OUTPUT,
	ITERATION_CACHE_READ,
	ITERATION_CACHE_WRITE,
	ITERATION_TOKEN_KINDS
};

enum iteration_call_flag {
	CALL_FAILED = 1,
	CALL_READS = 2, /* only */
	CALL_WAITS = 4, /* or plans */
	CALL_WORDS = 8, /* no call, but words that ended a turn */
	CALL_END = 64, /* of a turn */
	CALL_ATTEMPT = 128, /* a new one begins here */
};

/* A call of a tool. */
struct iteration_call {
	uint64_t action, tree, answer;
	unsigned flags;
};

struct iteration {
	unsigned refs;
	int64_t number; /* from 1 */
	char *status; /* "failed"; NULL = not known */
	int64_t duration_ms; /* -1 = not known */

	bool errors_known; /* an empty list says that there were none */
	char **errors;
	char **blockers;
	char *learnings;
	double completion; /* percent */
	int tests; /* 1 = pass, 0 = fail, -1 = not known */
	char *failure; /* what the check printed, or another refusal; NULL = the
			* end of the turn was not refused */
	char **failing;
	int64_t failing_named; /* -1 = not known */
	double coverage; /* percent */
	bool files_known;
	char **files;

	char *objective;
	int64_t max_iterations; /* expected; -1 = not known */
	double estimated_cost;
	int64_t estimated_calls; /* -1 = not known */

	double cost; /* US dollars */
	int64_t tokens[ITERATION_TOKEN_KINDS]; /* -1 = not known */
	char **scope;
	struct iteration_blob *blobs;
	size_t blob_count;
	char *tree;
	bool part, waits, own_tests;
	int64_t attempt; /* 0 = not known */
	bool calls_known;
	struct iteration_call *calls;
	size_t call_count;
	char *repeated;
};

/* Nothing is known of it. */
struct iteration *iteration_new(int64_t number);
struct iteration *iteration_ref(const struct iteration *iteration);
void iteration_unref(struct iteration *iteration); /* NULL is fine */

/* -EINVAL with the path of the wrong member. `number` is taken where the JSON
 * has none. */
int iteration_from_json(struct json_object *json, const char *at,
    int64_t number, struct iteration **ret_iteration, struct err *err);
struct json_object *iteration_to_json(const struct iteration *iteration);
/* Append the names of the members that it does not know, as in "analysis.x",
 * each once. */
void iteration_unknown(struct json_object *json, char ***names);

void iteration_add_error(struct iteration *iteration, const char *text);
void iteration_set_failure(struct iteration *iteration, const char *output);
void iteration_add_call(
    struct iteration *iteration, const struct iteration_call *call);
void iteration_add_blob(
    struct iteration *iteration, const char *path, const char *hash);

void iteration_cleanup(struct iteration **iteration);
#define cleanup_iteration __attribute__((cleanup(iteration_cleanup)))

extern const struct schema iteration_schema;

#endif
