/* SPDX-License-Identifier: ISC */

/*
 * A verification contract: what must be there when an agent's work on a task
 * ends. It names files and never a command. Pure.
 *
 * As JSON it has the shape api_contract (api-team.h).
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json_object;

#define CONTRACT_TIMEOUT_MS 30000 /* if it names none */
#define CONTRACT_TEXT_MAX   65536 /* bytes of its JSON */

/* What is done if a check fails. */
enum contract_failure {
	CONTRACT_RETRY_ONCE, /* one more attempt, then as CONTRACT_FAIL */
	CONTRACT_ESCALATE, /* the task fails, and people are told */
	CONTRACT_FAIL, /* the task fails, and whoever asked for it is told */
	CONTRACT_FAILURE_COUNT
};

extern const char *const contract_failure_words[CONTRACT_FAILURE_COUNT + 1];

struct contract_artifact {
	char *path; /* relative to the top of the worktree */
	bool json; /* it must be valid JSON */
	bool array; /* minItems or requiredKeys are given: a JSON array */
	int64_t min_items;
	char **required_keys; /* of each item; NULL = none */
	int64_t min_bytes;
};

struct contract {
	struct contract_artifact *artifacts;
	size_t count;
	bool report; /* the last tool call must be report_completion */
	enum contract_failure on_failure;
	int64_t timeout_ms; /* for all checks together */
};

/* -EINVAL with the path of what is wrong, also for paths that
 * contract_path_fault() refuses. */
int contract_parse(struct json_object *json, const char *at,
    struct contract *ret_contract, struct err *err);
/* The same for a contract that was accepted once: every path is taken, and
 * refused when it is checked (artifact-check.h). */
int contract_read(struct json_object *json, const char *at,
    struct contract *ret_contract, struct err *err);
void contract_release(struct contract *contract);

/* Only check it. */
int
contract_validate(struct json_object *json, const char *at, struct err *err);
/* From the text of a file: contract_parse() of its JSON, which the caller
 * owns. */
int contract_from_text(const char *text, const char *at,
    struct json_object **ret_json, struct err *err);

/* The words for a path that a contract may not name; NULL = it may. */
const char *contract_path_fault(const char *path);
/* The path without "." and empty parts, as git knows it; the caller frees. */
char *contract_path_clean(const char *path);

/* What is expected, a line for each part, for people: each begins with
 * indent. */
void
contract_print(struct json_object *json, const char *indent, struct buf *out);

/* Are both the same, or both NULL? */
bool contract_equal(struct json_object *a, struct json_object *b);

#define cleanup_contract __attribute__((cleanup(contract_release)))

#endif
