/* SPDX-License-Identifier: ISC */

/*
 * A verification contract: what must be there when an agent's work on a task
 * ends. It names files and never a command. Pure.
 *
 * As JSON it has the shape contract_schema.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

struct buf;
struct err;
struct json_object;
struct schema;
struct task;

#define CONTRACT_TIMEOUT_MS 30000 /* if it names none */
#define CONTRACT_TEXT_MAX   65536 /* bytes of its JSON */

/* What is done if a check fails. */
enum contract_failure {
	CONTRACT_RETRY_ONCE, /* one more attempt, then as CONTRACT_FAIL */
	CONTRACT_ESCALATE, /* the task fails, and people are notified */
	CONTRACT_FAIL, /* the task fails, and the one who asked for it hears of
			* it */
	CONTRACT_FAILURE_COUNT
};

/* Its JSON, wherever it stands. */
extern const struct schema contract_schema;

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
 * refused when it is checked. */
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

/* What is expected, an indented line for each part, for people. */
void contract_print(struct json_object *json, struct buf *out);

/* Are both the same, or both NULL? */
bool contract_equal(struct json_object *a, struct json_object *b);

#define cleanup_contract __attribute__((cleanup(contract_release)))

/*
 * The verification of a task's work against its contract: when it is due, and
 * what follows from its result. Its state is a part of the task.
 * Pure.
 *
 *   none -> there is no contract
 *   pending -> running -> passed, and running again for another commit
 *                      -> failed: one more attempt (pending), or the end
 */

/* Set the contract of a task that has not begun; NULL = none. */
void verification_set(struct task *task, struct json_object *contract);
/* A new attempt begins: nothing of it is verified. */
void verification_attempt(struct task *task);

/* Must this commit ("" = none, NULL = any) be verified before it goes on? */
bool verification_is_due(const struct task *task, const char *commit);
/* It is about to be. Save the state before the checks run. */
void verification_begin(struct task *task);

/* Has this attempt ended with a completion report? One that was there when its
 * work was verified before counts, when the work is sent back later. */
bool verification_reported(const struct task *task);

enum verification_next {
	VERIFICATION_GO_ON,
	VERIFICATION_RETRY, /* one more attempt, marked in the task by now */
	VERIFICATION_GIVE_UP /* the task has failed, whatever may be tried */
};

/* The checks of that commit have ended with this result,
 * which is kept in the task. Saved before anything else is done, a retry
 * happens once. */
enum verification_next verification_end(
    struct task *task, struct json_object *result, const char *commit);

/* Was a contract that asks for anything met by this attempt? */
bool verification_is_met(const struct task *task);
/* Has the task a result, even without a commit of its own? Its contract is met,
 * work of agents that it has spawned has landed, another agent spawned it
 * and it has reported, in whatever way, or its report is what it was for. */
bool verification_has_result(const struct task *task);

/* What it has said, for who asked: what it reported, or its first words in
 * this attempt and, if it was sent on after them, its last ones; appended. */
void verification_answer(const struct task *task, struct buf *out);
/* Does the agent of a task that another agent spawned report that it could not
 * do it, or not all of it? It has failed then, with or without a commit, and is
 * not tried again: its parent decides. A part is enough if the spawn says so,
 * and without a commit a contract that is met. why is appended. */
bool verification_gave_up(
    const struct task *task, const char *commit, struct buf *why);

/* Why it failed: a sentence, appended. */
void verification_reason(const struct task *task, struct buf *out);

/* Is the attempt one that follows a failed verification? */
bool verification_is_retry(const struct task *task);
/* The prompt of such an attempt, with the reasons, appended. */
void verification_retry_text(const struct task *task, struct buf *out);

/* Has it failed its contract in a way that concerns only the agent that asked
 * for it? */
bool verification_is_parents(const struct task *task);

/* The checks of a contract, on what was found in a commit, and their result.
 * Pure. */

/* Bytes of an artifact. */
#define ARTIFACT_SIZE_MAX ((int64_t)32 * 1024 * 1024)

/* The target of a check that is about all of them. */
#define CHECK_TARGET_ALL "<verification>"

enum artifact_kind {
	ARTIFACT_MISSING,
	ARTIFACT_FILE,
	ARTIFACT_LINK, /* symbolic; never followed */
	ARTIFACT_OTHER /* a folder, a submodule */
};

struct artifact_found {
	enum artifact_kind kind;
	bool changed; /* it is not as it was when the run began */
	int64_t size;
	/* The contents, if the artifact must be JSON; else NULL. They need not
	 * be read if the file fails artifact_check_outside(). */
	const char *bytes;
	size_t len;
};

/* Does it pass? Otherwise the reason is appended. The first function needs no
 * contents. */
bool artifact_check_outside(const struct contract_artifact *artifact,
    const struct artifact_found *found, struct buf *reason);
bool artifact_check(const struct contract_artifact *artifact,
    const struct artifact_found *found, struct buf *reason);

/*
 * The result: {"status": passed, failed or skipped, "checks": [{"type",
 * "target", "passed", "reason"}], "verifiedAt": ms}. A new one has no checks;
 * the caller owns it.
 */
struct json_object *check_result_new(void);
/* reason: NULL = it passed; target may be NULL. */
void check_result_artifact(
    struct json_object *result, const char *target, const char *reason);
void check_result_report(struct json_object *result, bool reported);
/* Set the status and the time. */
void check_result_end(struct json_object *result, int64_t now_ms);
/* The result of checks that did not end, for this reason. */
struct json_object *check_result_broken(const char *reason, int64_t now_ms);
extern const char check_reason_timeout[];

/* Has a result this form? -EINVAL says what is wrong. */
int check_result_validate(struct json_object *result, struct err *err);
bool check_result_passed(struct json_object *result); /* or was skipped */
/* Was there a completion report, by this result (may be NULL)? */
bool check_result_reported(struct json_object *result);
/* "out/a.json: artifact_not_found; ...", appended. */
void check_result_reasons(struct json_object *result, struct buf *out);

#endif
