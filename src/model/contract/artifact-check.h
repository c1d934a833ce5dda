/* SPDX-License-Identifier: ISC */

/* The checks of a contract, on what was found in a commit, and their result.
 * Pure. */
#ifndef ARTIFACT_CHECK_H
#define ARTIFACT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract.h"

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
