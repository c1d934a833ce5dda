/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "api-shape.h"
#include "attempt.h"
#include "agent-report.h"
#include "contract.h"
#include "schema.h"
#include "task.h"

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

#define REASONS_MAX 4096 /* bytes */

void
verification_set(struct task *task, struct json_object *contract)
{
	if (contract == NULL)
		return;
	json_object_put(task->launch.contract);
	task->launch.contract = json_object_get(contract);
	task->attempt.verification = VERIFICATION_PENDING;
}

/* The result stays until there is another: the prompt of a retry has its
 * reasons. */
void
verification_attempt(struct task *task)
{
	task->attempt.verification = task->launch.contract != NULL ?
	    VERIFICATION_PENDING :
	    VERIFICATION_NONE;
}

/* Is the last result about this attempt? */
static bool
is_own_result(const struct task *task)
{
	cleanup_free char *id = task_attempt_id(task);

	return task->attempt.verified != NULL &&
	    strcmp(json_string_or(task->attempt.verified, "run", ""), id) == 0;
}

bool
verification_is_due(const struct task *task, const char *commit)
{
	if (task->launch.contract == NULL)
		return false;
	return task->attempt.verification != VERIFICATION_PASSED ||
	    !is_own_result(task) ||
	    (commit != NULL &&
		strcmp(json_string_or(task->attempt.verified, "commit", ""),
		    commit) != 0);
}

void
verification_begin(struct task *task)
{
	task->attempt.verification = VERIFICATION_RUNNING;
}

bool
verification_reported(const struct task *task)
{
	const char *tool =
	    task->attempt.last_tool != NULL ? task->attempt.last_tool : "";

	return strcmp(tool, "report_completion") == 0 ||
	    strcmp(tool, "mcp__llmc__report_completion") == 0 ||
	    (is_own_result(task) &&
		check_result_reported(task->attempt.verified));
}

static enum contract_failure
on_failure(const struct task *task)
{
	cleanup_contract struct contract contract = { 0 };

	return contract_read(task->launch.contract, "", &contract, NULL) < 0 ?
	    CONTRACT_FAIL :
	    contract.on_failure;
}

enum verification_next
verification_end(
    struct task *task, struct json_object *result, const char *commit)
{
	cleanup_free char *id = task_attempt_id(task);

	json_object_get(result);
	json_object_put(task->attempt.verified);
	task->attempt.verified = result;
	json_set_string(result, "run", id);
	json_set_string(result, "commit", commit);
	if (check_result_passed(result)) {
		task->attempt.verification = VERIFICATION_PASSED;
		return VERIFICATION_GO_ON;
	}
	task->attempt.verification = VERIFICATION_FAILED;
	if (on_failure(task) != CONTRACT_RETRY_ONCE ||
	    task->attempt.retry_of != NULL)
		return VERIFICATION_GIVE_UP;
	xstrset(&task->attempt.retry_of, id);
	return VERIFICATION_RETRY;
}

bool
verification_is_met(const struct task *task)
{
	return task->attempt.verification == VERIFICATION_PASSED &&
	    is_own_result(task) &&
	    strcmp(json_string_or(task->attempt.verified, "status", ""),
		"passed") == 0;
}

/* The agent that spawned it judges its report, whatever that says. Without one,
 * its last words are one. */
static bool
has_reported(const struct task *task)
{
	const char *words = task->last_words;
	bool child = task_is_child(task);

	if (!child && !task->launch.report_only &&
	    strcmp(json_string_or(task->attempt.report, "result", ""),
		COMPLETION_IS_RESULT) != 0)
		return false;
	if (task->attempt.report != NULL)
		return child ||
		    strcmp(json_string_or(task->attempt.report, "status",
			       task->attempt.report_by_tool ? "complete" : ""),
			"complete") == 0;
	return words != NULL && words[strspn(words, " \t\r\n")] != '\0';
}

bool
verification_gave_up(
    const struct task *task, const char *commit, struct buf *out)
{
	struct json_object *report =
	    task_is_child(task) ? task->attempt.report : NULL;
	const char *status = json_string_or(report, "status", "complete");
	bool partial = strcmp(status, "partial") == 0;
	struct json_object *blockers = NULL;

	if (strcmp(status, "complete") == 0 ||
	    (partial && task->launch.allow_partial) ||
	    (commit == NULL &&
		(verification_is_met(task) || task->attempt.children_landed)))
		return false;
	buf_addf(out, "its agent reports that it has %s: %s",
	    !partial           ? "failed" :
		commit != NULL ? "done a part" :
				 "done a part, without a change",
	    json_string_or(report, "summary", ""));
	json_object_object_get_ex(report, "blockers", &blockers);
	for (size_t i = 0;
	     blockers != NULL && i < json_object_array_length(blockers); i++)
		buf_addf(out, "%s%s", i == 0 ? " Blockers: " : "; ",
		    json_object_get_string(
			json_object_array_get_idx(blockers, i)));
	if (commit != NULL)
		buf_addf(out,
		    "; its commit %.12s is not landed: llmc landing salvage",
		    commit);
	return true;
}

bool
verification_has_result(const struct task *task)
{
	return verification_is_met(task) || has_reported(task) ||
	    task->attempt.children_landed;
}

void
verification_answer(const struct task *task, struct buf *out)
{
	const struct task_attempt *attempt = &task->attempt;
	const char *first = attempt->first_words, *last = task->last_words;

	if (has_reported(task) && attempt->report_by_tool)
		first = json_string_or(attempt->report, "summary", first);
	if (first != NULL)
		buf_adds(out, first);
	if (last != NULL && !text_is(first, last) &&
	    !(has_reported(task) && attempt->report_by_tool))
		buf_addf(out, "%s%s", out->len > 0 ? "\n\n" : "", last);
}

static void
add_reasons(const struct task *task, struct buf *out)
{
	cleanup_buf struct buf reasons = BUF_INIT;
	size_t cut;

	check_result_reasons(task->attempt.verified, &reasons);
	cut = text_cut(reasons.data, reasons.len, REASONS_MAX);
	buf_add(out, reasons.data, cut);
	if (cut < reasons.len)
		buf_adds(out, "...");
}

void
verification_reason(const struct task *task, struct buf *out)
{
	const char *kept = json_string_or(task->attempt.verified, "kept", NULL);

	buf_adds(out, "it does not meet its contract: ");
	add_reasons(task, out);
	if (kept != NULL)
		buf_addf(out, "; what there is of its files is in %s", kept);
}

bool
verification_is_retry(const struct task *task)
{
	return task->attempt.retry_of != NULL &&
	    task->attempt.verified != NULL &&
	    !check_result_passed(task->attempt.verified);
}

void
verification_retry_text(const struct task *task, struct buf *out)
{
	buf_adds(out,
	    "[RETRY \xe2\x80\x94 Previous attempt failed verification]\n"
	    "Failure reason: ");
	add_reasons(task, out);
	buf_addf(
	    out, "\nOriginal task: %s", task->text != NULL ? task->text : "");
	if (out->data[out->len - 1] != '\n')
		buf_addc(out, '\n');
	buf_adds(out,
	    "\nThe files are looked for in your last commit. One that is not "
	    "committed, or is still as it was when you began, does not "
	    "count.\n");
}

bool
verification_is_parents(const struct task *task)
{
	return task->launch.parent != NULL &&
	    task->attempt.verification == VERIFICATION_FAILED &&
	    on_failure(task) != CONTRACT_ESCALATE;
}

static const char *const contract_failure_words[CONTRACT_FAILURE_COUNT + 1] = {
	[CONTRACT_RETRY_ONCE] = "retry_once",
	[CONTRACT_ESCALATE] = "escalate",
	[CONTRACT_FAIL] = "fail",
};

/* --- paths ------------------------------------------------------------- */

/* The next part of a path, without slashes; its length, 0 = there is none. */
static size_t
next_part(const char **at)
{
	*at += strspn(*at, "/");
	return strcspn(*at, "/");
}

static bool
is_part(const char *part, size_t len, const char *name)
{
	return len == strlen(name) && strncasecmp(part, name, len) == 0;
}

const char *
contract_path_fault(const char *path)
{
	const char *at = path;
	size_t len, count = 0;

	if (path[strspn(path, " \t\r\n")] == '\0')
		return "a path must not be empty";
	if (*path == '/')
		return "the path must be relative to the top of the worktree";
	for (const char *c = path; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return "the path has a control character";
	while ((len = next_part(&at)) > 0) {
		if (is_part(at, len, ".."))
			return "the path must not contain \"..\"";
		if (is_part(at, len, ".git"))
			return "what is in .git is no artifact";
		if (count == 0 && is_part(at, len, ".llmc"))
			return "what is in .llmc is no artifact";
		if (!is_part(at, len, "."))
			count++;
		at += len;
	}
	return count == 0 ? "the path names no file" : NULL;
}

char *
contract_path_clean(const char *path)
{
	cleanup_buf struct buf out = BUF_INIT;
	const char *at = path;
	size_t len;

	while ((len = next_part(&at)) > 0) {
		if (!is_part(at, len, ".")) {
			if (out.len > 0)
				buf_addc(&out, '/');
			buf_add(&out, at, len);
		}
		at += len;
	}
	return buf_take(&out);
}

/* --- reading ----------------------------------------------------------- */

static const struct schema artifact_schema = {
	SCHEMA_FIELDS{
	    TEXT("path", 4096, "of a file, relative to the worktree"),
	    SCHEMA_MAY("json", BOOL, "it must be valid JSON"),
	    MAY_INT("minItems", 0, 1000000000,
		"it must be a JSON array with at least so many items"),
	    MAY_STRINGS("requiredKeys", 200,
		"every item of that array must have these keys"),
	    MAY_INT("minBytes", 0, 1000000000, "its least size"),
	    SCHEMA_END,
	},
};

const struct schema contract_schema = {
	SCHEMA_FIELDS{
	    MAY_LIST("artifacts", artifact_schema, 200,
		"files that must be there, changed by this work"),
	    SCHEMA_MAY("requireCompletionReport", BOOL,
		"its last tool call must be report_completion"),
	    MAY_WORD("onFailure",
		((const char *const[]){
		    "retry_once", "escalate", "fail", NULL }),
		"what happens if a check fails; fail is the default"),
	    MAY_INT("verificationTimeoutMs", 1, 3600000,
		"for all checks; 30000 is the default"),
	    SCHEMA_END,
	},
};

static const struct schema_field whole = {
	.type = SCHEMA_OBJECT,
	.of = &contract_schema,
};

/* Its shape was checked. */
static void
read_artifact(struct json_object *json, struct contract_artifact *a)
{
	struct json_object *keys = json_member(json, "requiredKeys");

	a->path = xstrdup(json_string_or(json, "path", ""));
	a->min_items = json_int_or(json, "minItems", 0);
	a->min_bytes = json_int_or(json, "minBytes", 0);
	if (keys != NULL && json_object_array_length(keys) > 0)
		a->required_keys = strv_from_json(keys);
	a->array =
	    json_member(json, "minItems") != NULL || a->required_keys != NULL;
	a->json = a->array || json_bool_or(json, "json", false);
}

int
contract_read(struct json_object *json, const char *at,
    struct contract *ret_contract, struct err *err)
{
	struct contract c = { .on_failure = CONTRACT_FAIL };
	struct json_object *list;
	unsigned word;
	int r = schema_check(&whole, json, at, err);

	if (r < 0)
		return r;
	list = json_member(json, "artifacts");
	c.count = list != NULL ? json_object_array_length(list) : 0;
	c.artifacts = xcalloc(c.count + 1, sizeof *c.artifacts);
	for (size_t i = 0; i < c.count; i++)
		read_artifact(
		    json_object_array_get_idx(list, i), &c.artifacts[i]);
	c.report = json_bool_or(json, "requireCompletionReport", false);
	if (word_find(contract_failure_words,
		json_string_or(json, "onFailure", ""), &word))
		c.on_failure = (enum contract_failure)word;
	c.timeout_ms =
	    json_int_or(json, "verificationTimeoutMs", CONTRACT_TIMEOUT_MS);
	*ret_contract = c;
	return 0;
}

static int
check_paths(const struct contract *c, const char *at, struct err *err)
{
	for (size_t i = 0; i < c->count; i++) {
		const char *fault = contract_path_fault(c->artifacts[i].path);

		if (fault != NULL)
			return err_set(err, -EINVAL,
			    "%s%sartifacts[%zu].path: %s", at,
			    *at != '\0' ? "." : "", i, fault);
	}
	return 0;
}

int
contract_parse(struct json_object *json, const char *at,
    struct contract *ret_contract, struct err *err)
{
	struct contract c;
	int r = contract_read(json, at, &c, err);

	if (r < 0)
		return r;
	r = check_paths(&c, at, err);
	if (r == 0) {
		/* It is a part of the state, which is written often. */
		cleanup_buf struct buf text = BUF_INIT;

		json_print(json, false, &text);
		r = text.len <= CONTRACT_TEXT_MAX ?
		    0 :
		    err_set(err, -EINVAL, "%s: longer than %d bytes",
			*at != '\0' ? at : "the contract", CONTRACT_TEXT_MAX);
	}
	if (r < 0)
		contract_release(&c);
	else
		*ret_contract = c;
	return r;
}

void
contract_release(struct contract *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->artifacts[i].path);
		strv_free(c->artifacts[i].required_keys);
	}
	free(c->artifacts);
	*c = (struct contract){ 0 };
}

int
contract_validate(struct json_object *json, const char *at, struct err *err)
{
	cleanup_contract struct contract c = { 0 };

	return contract_parse(json, at, &c, err);
}

int
contract_from_text(const char *text, const char *at,
    struct json_object **ret_json, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = json_parse(text, strlen(text), CONTRACT_TEXT_MAX, &json, err);

	if (r < 0) {
		err_prefix(err, "%s", at);
		return -EINVAL;
	}
	r = contract_validate(json, at, err);
	if (r == 0)
		*ret_json = take_ptr(&json);
	return r;
}

/* --- for people -------------------------------------------------------- */

static void
print_artifact(const struct contract_artifact *a, struct buf *out)
{
	text_add_visible(out, a->path, strlen(a->path), false);
	if (a->array)
		buf_addf(out, ", a JSON array of at least %" PRId64 " items",
		    a->min_items);
	else if (a->json)
		buf_adds(out, ", valid JSON");
	for (size_t i = 0; i < strv_count(a->required_keys); i++) {
		buf_adds(out, i == 0 ? ", each with " : ", ");
		text_add_visible(out, a->required_keys[i],
		    strlen(a->required_keys[i]), false);
	}
	if (a->min_bytes > 0)
		buf_addf(out, ", at least %" PRId64 " bytes", a->min_bytes);
}

void
contract_print(struct json_object *json, struct buf *out)
{
	static const char *const words[] = {
		[CONTRACT_RETRY_ONCE] = "it is tried once more",
		[CONTRACT_ESCALATE] = "it fails, and people are told",
		[CONTRACT_FAIL] = "it fails",
	};
	cleanup_contract struct contract c = { 0 };

	if (contract_read(json, "", &c, NULL) < 0)
		return;
	for (size_t i = 0; i < c.count; i++) {
		buf_adds(out, "  ");
		print_artifact(&c.artifacts[i], out);
		buf_addc(out, '\n');
	}
	if (c.report)
		buf_adds(out, "  a completion report as its last tool call\n");
	buf_addf(out, "  otherwise: %s\n", words[c.on_failure]);
}

bool
contract_equal(struct json_object *a, struct json_object *b)
{
	return a == NULL || b == NULL ? a == b : json_object_equal(a, b) == 1;
}
