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
 *       "completionPercentage", "testsPassing", "checkFailure",
 *       "coveragePercent", "artifactsModified" },
 *     "context": { "objective", "maxIterations", "estimatedCost" },
 *     "cost", "tokens", "scope", "blobs", "treeHash", "part", "waits" }
 *
 * failureClass is the first of errors. An analysis that says anything and names
 * no error has found none, and so has a status of success; without an analysis,
 * and where errors is null, it is not known. checkFailure is what the check or
 * the tests of the work printed when they failed. cost is in US dollars, scope
 * a list of paths, folders and patterns, blobs an object of hashes by path
 * (null: the file is gone). part: the turn goes on; waits: for others, so that
 * its turns and its cost are not counted as work.
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
	char *failure; /* what the check printed; NULL = it did not fail */
	double coverage; /* percent */
	bool files_known;
	char **files;

	char *objective;
	int64_t max_iterations; /* expected; -1 = not known */
	double estimated_cost;

	double cost; /* US dollars */
	int64_t tokens[ITERATION_TOKEN_KINDS]; /* -1 = not known */
	char **scope;
	struct iteration_blob *blobs;
	size_t blob_count;
	char *tree;
	bool part, waits;
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

void iteration_add_error(struct iteration *iteration, const char *text);
void iteration_set_failure(struct iteration *iteration, const char *output);
void iteration_add_blob(
    struct iteration *iteration, const char *path, const char *hash);

void iteration_cleanup(struct iteration **iteration);
#define cleanup_iteration __attribute__((cleanup(iteration_cleanup)))

extern const struct schema iteration_schema;

#endif
