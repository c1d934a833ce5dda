/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "api-shape.h"
#include "artifact-check.h"
#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "schema.h"

/* --- one artifact ------------------------------------------------------ */

const char check_reason_timeout[] = "verification_timeout";

static bool
fails(struct buf *reason, const char *word)
{
	buf_adds(reason, word);
	return false;
}

bool
artifact_check_outside(const struct contract_artifact *a,
    const struct artifact_found *found, struct buf *reason)
{
	if (a->path[strspn(a->path, " \t\r\n")] == '\0')
		return fails(reason, "artifact_path_empty");
	if (contract_path_fault(a->path) != NULL)
		return fails(reason, "artifact_path_outside");
	switch (found->kind) {
	case ARTIFACT_MISSING:
		return fails(reason, "artifact_not_found");
	case ARTIFACT_LINK:
		return fails(reason, "artifact_is_symlink");
	case ARTIFACT_OTHER:
		return fails(reason, "artifact_not_file");
	case ARTIFACT_FILE:
		break;
	}
	if (!found->changed)
		return fails(reason, "artifact_unchanged");
	if (found->size < a->min_bytes) {
		buf_addf(reason,
		    "artifact_too_small (%" PRId64 " < %" PRId64 " bytes)",
		    found->size, a->min_bytes);
		return false;
	}
	if (found->size > ARTIFACT_SIZE_MAX) {
		buf_addf(reason,
		    "artifact_too_large (%" PRId64 " > %" PRId64 " bytes)",
		    found->size, ARTIFACT_SIZE_MAX);
		return false;
	}
	return true;
}

static bool
check_item(
    struct json_object *item, size_t at, char *const *keys, struct buf *reason)
{
	if (!json_object_is_type(item, json_type_object)) {
		buf_addf(reason, "artifact_json_item_not_object_%zu", at);
		return false;
	}
	for (; *keys != NULL; keys++)
		if (!json_object_object_get_ex(item, *keys, NULL)) {
			buf_addf(reason,
			    "artifact_json_item_missing_required_key_%zu.%s",
			    at, *keys);
			return false;
		}
	return true;
}

static bool
check_array(const struct contract_artifact *a, struct json_object *json,
    struct buf *reason)
{
	size_t count;

	if (!json_object_is_type(json, json_type_array))
		return fails(reason, "artifact_json_not_array");
	count = json_object_array_length(json);
	if ((int64_t)count < a->min_items) {
		buf_addf(reason,
		    "artifact_json_too_few_items (%zu < %" PRId64 ")", count,
		    a->min_items);
		return false;
	}
	for (size_t i = 0; a->required_keys != NULL && i < count; i++)
		if (!check_item(json_object_array_get_idx(json, i), i,
			a->required_keys, reason))
			return false;
	return true;
}

/* json_parse() takes no null at the top; as a file it is valid JSON. */
static bool
is_null(const char *bytes, size_t len)
{
	static const char blanks[] = " \t\r\n";

	while (len > 0 && memchr(blanks, bytes[len - 1], 4) != NULL)
		len--;
	while (len > 0 && memchr(blanks, *bytes, 4) != NULL) {
		bytes++;
		len--;
	}
	return len == 4 && memcmp(bytes, "null", 4) == 0;
}

bool
artifact_check(const struct contract_artifact *a,
    const struct artifact_found *found, struct buf *reason)
{
	cleanup_json struct json_object *json = NULL;
	int r = 0;

	if (!artifact_check_outside(a, found, reason))
		return false;
	if (!a->json)
		return true;
	if (!is_null(found->bytes, found->len))
		r = json_parse(found->bytes, found->len,
		    (size_t)ARTIFACT_SIZE_MAX, &json, NULL);
	if (r == -E2BIG)
		return fails(reason, "artifact_json_too_large");
	if (r < 0)
		return fails(reason, "artifact_json_parse_failed");
	return !a->array || check_array(a, json, reason);
}

/* --- the result -------------------------------------------------------- */

struct json_object *
check_result_new(void)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "status", "skipped");
	json_set(result, "checks", json_object_new_array());
	return result;
}

static void
add(struct json_object *result, const char *type, const char *target,
    const char *reason)
{
	struct json_object *check = json_object_new_object(), *list = NULL;

	json_set_string(check, "type", type);
	if (target != NULL)
		json_set_string(check, "target", target);
	json_set_bool(check, "passed", reason == NULL);
	if (reason != NULL)
		json_set_string(check, "reason", reason);
	json_object_object_get_ex(result, "checks", &list);
	json_object_array_add(list, check);
}

void
check_result_artifact(
    struct json_object *result, const char *target, const char *reason)
{
	add(result, "artifact", target, reason);
}

void
check_result_report(struct json_object *result, bool reported)
{
	add(result, "completion_report", NULL,
	    reported ? NULL : "completion_report_missing");
}

/* The next check after *at; NULL = there is none. */
static struct json_object *
next(struct json_object *result, size_t *at)
{
	struct json_object *list = NULL;

	if (result == NULL ||
	    !json_object_object_get_ex(result, "checks", &list) ||
	    !json_object_is_type(list, json_type_array) ||
	    *at >= json_object_array_length(list))
		return NULL;
	return json_object_array_get_idx(list, (*at)++);
}

void
check_result_end(struct json_object *result, int64_t now_ms)
{
	const char *status = "skipped";
	struct json_object *check;

	for (size_t at = 0; (check = next(result, &at)) != NULL;) {
		status = "passed";
		if (!json_bool_or(check, "passed", false)) {
			status = "failed";
			break;
		}
	}
	json_set_string(result, "status", status);
	json_set_int(result, "verifiedAt", now_ms);
}

struct json_object *
check_result_broken(const char *reason, int64_t now_ms)
{
	struct json_object *result = check_result_new();

	check_result_artifact(result, CHECK_TARGET_ALL, reason);
	check_result_end(result, now_ms);
	return result;
}

static const struct schema check_shape = {
	SCHEMA_FIELDS{
	    { .name = "type",
		.type = SCHEMA_STRING,
		.choices = (const char *const[]){ "artifact",
		    "completion_report", NULL } },
	    SCHEMA_MAY("target", STRING, NULL),
	    SCHEMA_IS("passed", BOOL, NULL),
	    SCHEMA_MAY("reason", STRING, NULL),
	    SCHEMA_END,
	},
};

static const struct schema result_shape = {
	SCHEMA_FIELDS{
	    { .name = "status",
		.type = SCHEMA_STRING,
		.choices = (const char *const[]){ "passed", "failed", "skipped",
		    NULL } },
	    SCHEMA_IS("checks", ROWS, NULL, .of = &check_shape, .max = 1000),
	    SCHEMA_IS("verifiedAt", INT, NULL),
	    SCHEMA_END,
	},
	.open = true,
};

int
check_result_validate(struct json_object *result, struct err *err)
{
	static const struct schema_field whole = RESULT(result_shape);

	return schema_check(&whole, result, "verification", err);
}

bool
check_result_passed(struct json_object *result)
{
	const char *status =
	    result == NULL ? "" : json_string_or(result, "status", "");

	return strcmp(status, "passed") == 0 || strcmp(status, "skipped") == 0;
}

bool
check_result_reported(struct json_object *result)
{
	struct json_object *check;

	for (size_t at = 0; (check = next(result, &at)) != NULL;)
		if (strcmp(json_string_or(check, "type", ""),
			"completion_report") == 0)
			return json_bool_or(check, "passed", false);
	return false;
}

void
check_result_reasons(struct json_object *result, struct buf *out)
{
	size_t before = out->len;
	struct json_object *check;

	for (size_t at = 0; (check = next(result, &at)) != NULL;) {
		const char *target = json_string_or(check, "target", NULL);

		if (json_bool_or(check, "passed", false))
			continue;
		if (out->len > before)
			buf_adds(out, "; ");
		if (target != NULL && strcmp(target, CHECK_TARGET_ALL) != 0)
			buf_addf(out, "%s: ", target);
		buf_adds(out, json_string_or(check, "reason", "failed"));
	}
}
