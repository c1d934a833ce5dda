/* SPDX-License-Identifier: ISC */

/* Contracts, their checks on what a commit has, and the rows of
 * openclaw_verification.json. */

#include "unit.h"
#include "contract.h"

static struct json_object *
parse(const char *text)
{
	struct json_object *json = NULL;
	struct err err = { 0 };

	ck_assert_msg(json_parse(text, strlen(text), 1048576, &json, &err) == 0,
	    "%s: %s", text, err.msg);
	return json;
}

/* --- contracts --------------------------------------------------------- */

TEST(a_contract_has_defaults)
{
	cleanup_json struct json_object *json = parse("{}");
	cleanup_contract struct contract c = { 0 };

	ck_assert_int_eq(contract_parse(json, "", &c, NULL), 0);
	ck_assert_uint_eq(c.count, 0);
	ck_assert(!c.report);
	ck_assert_int_eq(c.on_failure, CONTRACT_FAIL);
	ck_assert_int_eq(c.timeout_ms, 30000);
}

TEST(a_contract_is_read_whole)
{
	cleanup_json struct json_object *json =
	    parse("{\"artifacts\": [{\"path\": \"out/a.json\", \"json\": true},"
		  "{\"path\": \"b\", \"minItems\": 0},"
		  "{\"path\": \"c\", \"requiredKeys\": [\"id\", \"x\"],"
		  "\"minBytes\": 7}], \"requireCompletionReport\": true,"
		  "\"onFailure\": \"retry_once\","
		  "\"verificationTimeoutMs\": 5}");
	cleanup_contract struct contract c = { 0 };
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(contract_parse(json, "", &c, NULL), 0);
	ck_assert_uint_eq(c.count, 3);
	ck_assert_str_eq(c.artifacts[0].path, "out/a.json");
	ck_assert(c.artifacts[0].json && !c.artifacts[0].array);
	ck_assert(c.artifacts[1].json && c.artifacts[1].array);
	ck_assert(c.artifacts[2].json && c.artifacts[2].array);
	ck_assert_uint_eq(strv_count(c.artifacts[2].required_keys), 2);
	ck_assert_int_eq(c.artifacts[2].min_bytes, 7);
	ck_assert(c.report);
	ck_assert_int_eq(c.on_failure, CONTRACT_RETRY_ONCE);
	ck_assert_int_eq(c.timeout_ms, 5);
	contract_print(json, &text);
	ck_assert_str_eq(text.data,
	    "  out/a.json, valid JSON\n"
	    "  b, a JSON array of at least 0 items\n"
	    "  c, a JSON array of at least 0 items, each with id, x, at least "
	    "7 bytes\n"
	    "  a completion report as its last tool call\n"
	    "  otherwise: it is tried once more\n");
}

static const struct {
	const char *text, *words;
} refused[] = {
	{ "[]", "v: expected an object" },
	{ "{\"command\": \"true\"}", "v.command" },
	{ "{\"validationCommand\": \"true\"}", "v.validationCommand" },
	{ "{\"artifacts\": {}}", "v.artifacts: expected an array" },
	{ "{\"artifacts\": [{}]}", "v.artifacts[0].path" },
	{ "{\"artifacts\": [{\"path\": \"\"}]}", "v.artifacts[0].path" },
	{ "{\"artifacts\": [{\"path\": \"  \"}]}",
	    "v.artifacts[0].path: a path must not be empty" },
	{ "{\"artifacts\": [{\"path\": \"a\"}, {\"path\": \"/etc/passwd\"}]}",
	    "v.artifacts[1].path: the path must be relative" },
	{ "{\"artifacts\": [{\"path\": \"../a\"}]}", "\"..\"" },
	{ "{\"artifacts\": [{\"path\": \"a/../../b\"}]}", "\"..\"" },
	{ "{\"artifacts\": [{\"path\": \"a/..\"}]}", "\"..\"" },
	{ "{\"artifacts\": [{\"path\": \".git/config\"}]}", ".git" },
	{ "{\"artifacts\": [{\"path\": \"a/.GIT\"}]}", ".git" },
	{ "{\"artifacts\": [{\"path\": \"./.llmc/state.json\"}]}", ".llmc" },
	{ "{\"artifacts\": [{\"path\": \".\"}]}", "names no file" },
	{ "{\"artifacts\": [{\"path\": \"a\\nb\"}]}", "control character" },
	{ "{\"artifacts\": [{\"path\": \"a\", \"minItems\": -1}]}",
	    "v.artifacts[0].minItems" },
	{ "{\"artifacts\": [{\"path\": \"a\", \"shell\": \"x\"}]}",
	    "v.artifacts[0].shell" },
	{ "{\"onFailure\": \"ignore\"}", "v.onFailure" },
	{ "{\"verificationTimeoutMs\": 0}", "v.verificationTimeoutMs" },
};

TEST_ROWS(what_is_wrong_in_a_contract_is_named, nitems(refused))
{
	cleanup_json struct json_object *json = parse(refused[_i].text);
	struct err err = { 0 };

	ck_assert_int_eq(contract_validate(json, "v", &err), -EINVAL);
	ck_assert_msg(strstr(err.msg, refused[_i].words) != NULL,
	    "%s: \"%s\" instead of \"%s\"", refused[_i].text, err.msg,
	    refused[_i].words);
}

TEST(a_contract_is_bounded)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	buf_adds(&text, "{\"artifacts\": [{\"path\": \"a\"}");
	for (int i = 1; i < 200; i++)
		buf_adds(&text, ",{\"path\": \"a\"}");
	for (int more = 0; more < 2; more++) {
		cleanup_json struct json_object *json = NULL;
		cleanup_buf struct buf whole = BUF_INIT;

		buf_addf(&whole, "%s]}", text.data);
		json = parse(whole.data);
		ck_assert_int_eq(
		    contract_validate(json, "", &err), more ? -EINVAL : 0);
		buf_adds(&text, ",{\"path\": \"a\"}");
	}
	buf_clear(&text);
	buf_adds(&text, "{\"artifacts\": [{\"path\": \"");
	for (int i = 0; i < 4000; i++)
		buf_addc(&text, 'p');
	buf_adds(&text, "\", \"requiredKeys\": [\"k\"");
	for (int i = 0; i < 100; i++)
		buf_addf(&text, ",\"%01000d\"", i);
	buf_adds(&text, "]}]}");
	{
		cleanup_json struct json_object *json = parse(text.data);

		ck_assert_int_eq(contract_validate(json, "", &err), -EINVAL);
		ck_assert_ptr_nonnull(strstr(err.msg, "65536"));
	}
}

TEST(a_path_is_written_as_git_does)
{
	cleanup_free char *path = contract_path_clean("./out//./a.json/");

	ck_assert_str_eq(path, "out/a.json");
}

TEST(a_contract_in_a_file_is_one_value)
{
	cleanup_json struct json_object *json = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(
	    contract_from_text(
		"{\"artifacts\": [{\"path\": \"a\"}]}", "line 3", &json, &err),
	    0);
	ck_assert_int_eq(
	    contract_from_text("{} x", "line 3", &json, &err), -EINVAL);
	ck_assert(strncmp(err.msg, "line 3: ", 8) == 0);
	ck_assert_int_eq(
	    contract_from_text("{\"x\": 1}", "line 3", &json, &err), -EINVAL);
	ck_assert(strncmp(err.msg, "line 3.x", 8) == 0);
}

/* --- checks ------------------------------------------------------------ */

/* The reason, "" = it passes. */
static const char *
check(const char *artifact, const char *bytes)
{
	static char reason[256];
	cleanup_free char *text = xasprintf("{\"artifacts\": [%s]}", artifact);
	cleanup_json struct json_object *json = parse(text);
	cleanup_contract struct contract c = { 0 };
	cleanup_buf struct buf out = BUF_INIT;
	struct artifact_found found = { .kind = ARTIFACT_FILE,
		.changed = true,
		.size = (int64_t)strlen(bytes),
		.bytes = bytes,
		.len = strlen(bytes) };

	ck_assert_int_eq(contract_read(json, "", &c, NULL), 0);
	ck_assert(
	    artifact_check(&c.artifacts[0], &found, &out) == (out.len == 0));
	strlcpy(reason, out.data, sizeof reason);
	return reason;
}

TEST(json_alone_takes_every_value)
{
	static const char json[] = "{\"path\": \"a\", \"json\": true}";

	ck_assert_str_eq(check(json, "{\"a\":1}"), "");
	ck_assert_str_eq(check(json, "[]"), "");
	ck_assert_str_eq(check(json, "3"), "");
	ck_assert_str_eq(check(json, " null\n"), "");
	ck_assert_str_eq(check(json, ""), "artifact_json_parse_failed");
	ck_assert_str_eq(check(json, "[1] x"), "artifact_json_parse_failed");
	ck_assert_str_eq(
	    check("{\"path\": \"a\", \"json\": false}", "no JSON"), "");
}

TEST(items_and_keys_mean_an_array)
{
	static const char items[] = "{\"path\": \"a\", \"minItems\": 1}";
	static const char keys[] = "{\"path\": \"a\", \"requiredKeys\": "
				   "[\"id\", \"n\"]}";

	ck_assert_str_eq(check(items, "{}"), "artifact_json_not_array");
	ck_assert_str_eq(check(items, "null"), "artifact_json_not_array");
	ck_assert_str_eq(
	    check(items, "[]"), "artifact_json_too_few_items (0 < 1)");
	ck_assert_str_eq(check(items, "[null]"), "");
	ck_assert_str_eq(check(keys, "[]"), "");
	ck_assert_str_eq(check(keys, "[{\"id\": null, \"n\": 0}]"), "");
	ck_assert_str_eq(check(keys, "[{\"id\": 1}]"),
	    "artifact_json_item_missing_required_key_0.n");
	ck_assert_str_eq(
	    check(keys, "[null]"), "artifact_json_item_not_object_0");
}

TEST(only_a_new_file_of_the_right_size_counts)
{
	static const struct {
		struct artifact_found found;
		const char *reason;
	} rows[] = {
		{ { .kind = ARTIFACT_MISSING }, "artifact_not_found" },
		{ { .kind = ARTIFACT_LINK, .changed = true },
		    "artifact_is_symlink" },
		{ { .kind = ARTIFACT_OTHER, .changed = true },
		    "artifact_not_file" },
		{ { .kind = ARTIFACT_FILE, .size = 100 },
		    "artifact_unchanged" },
		{ { .kind = ARTIFACT_FILE, .changed = true, .size = 2 },
		    "artifact_too_small (2 < 3 bytes)" },
		{ { .kind = ARTIFACT_FILE, .changed = true, .size = 3 }, "" },
		{ { .kind = ARTIFACT_FILE,
		      .changed = true,
		      .size = ARTIFACT_SIZE_MAX + 1 },
		    "artifact_too_large (33554433 > 33554432 bytes)" },
	};
	char path[] = "a";
	const struct contract_artifact a = { .path = path, .min_bytes = 3 };

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_buf struct buf reason = BUF_INIT;

		ck_assert(artifact_check(&a, &rows[i].found, &reason) ==
		    (rows[i].reason[0] == '\0'));
		ck_assert_str_eq(reason.data, rows[i].reason);
	}
}

TEST(a_path_that_was_never_allowed_is_not_looked_at)
{
	static const char *const paths[] = { "/etc/passwd", "../x",
		".git/config", ".llmc/state.json" };

	/* Only that of the root is llmc's own. */
	ck_assert_ptr_null(contract_path_fault("examples/.llmc/config.toml"));

	for (size_t i = 0; i < nitems(paths); i++) {
		cleanup_free char *a =
		    xasprintf("{\"path\": \"%s\"}", paths[i]);

		ck_assert_str_eq(check(a, "x"), "artifact_path_outside");
	}
}

TEST(too_many_values_are_too_large)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_adds(&text, "[{}");
	for (int i = 0; i < 200000; i++)
		buf_adds(&text, ",{}");
	buf_addc(&text, ']');
	ck_assert_str_eq(check("{\"path\": \"a\", \"json\": true}", text.data),
	    "artifact_json_too_large");
}

TEST(a_result_says_what_failed)
{
	cleanup_json struct json_object *result = check_result_new();
	cleanup_buf struct buf text = BUF_INIT;

	check_result_end(result, 5);
	ck_assert_str_eq(json_string_or(result, "status", ""), "skipped");
	ck_assert(check_result_passed(result));
	check_result_artifact(result, "a", NULL);
	check_result_end(result, 5);
	ck_assert_str_eq(json_string_or(result, "status", ""), "passed");
	check_result_artifact(result, "b", "artifact_not_found");
	check_result_report(result, false);
	check_result_end(result, 6);
	ck_assert_str_eq(json_string_or(result, "status", ""), "failed");
	ck_assert_int_eq(json_int_or(result, "verifiedAt", 0), 6);
	ck_assert(!check_result_passed(result));
	check_result_reasons(result, &text);
	ck_assert_str_eq(
	    text.data, "b: artifact_not_found; completion_report_missing");
	ck_assert_int_eq(check_result_validate(result, NULL), 0);
	json_set_string(result, "status", "fine");
	ck_assert_int_eq(check_result_validate(result, NULL), -EINVAL);
	ck_assert(!check_result_passed(NULL));
}

/* --- vectors ----------------------------------------------------------- */

static struct json_object *
member(struct json_object *json, const char *key)
{
	struct json_object *value = NULL;

	if (json != NULL)
		json_object_object_get_ex(json, key, &value);
	return value;
}

static bool
is_dir(struct json_object *row, const char *path)
{
	struct json_object *list = member(row, "dirs");

	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++)
		if (strcmp(json_object_get_string(
			       json_object_array_get_idx(list, i)),
			path) == 0)
			return true;
	return false;
}

static struct json_object *
result_of(struct json_object *row, const struct contract *c)
{
	struct json_object *result = check_result_new();

	for (size_t i = 0; i < c->count; i++) {
		const char *path = c->artifacts[i].path;
		const char *bytes =
		    json_string_or(member(row, "files"), path, NULL);
		cleanup_buf struct buf reason = BUF_INIT;
		struct artifact_found found = { .kind = bytes != NULL ?
			    ARTIFACT_FILE :
			    is_dir(row, path) ? ARTIFACT_OTHER :
						ARTIFACT_MISSING,
			.changed = true,
			.bytes = bytes,
			.len = bytes != NULL ? strlen(bytes) : 0 };
		bool good;

		found.size = (int64_t)found.len;
		good = artifact_check(&c->artifacts[i], &found, &reason);
		check_result_artifact(result, path, good ? NULL : reason.data);
	}
	check_result_end(result, 1);
	return result;
}

static void
expect_row(struct json_object *row, struct json_object *result)
{
	struct json_object *expect = member(row, "expect");
	struct json_object *checks = member(result, "checks");
	struct json_object *first = json_object_array_get_idx(checks, 0);
	const char *id = json_string_or(row, "id", "");

	/* json alone asks for valid JSON of any kind. */
	if (member(row, "divergence") != NULL) {
		ck_assert_str_eq(id, "d-json-object");
		ck_assert(check_result_passed(result));
		return;
	}
	ck_assert_msg(strcmp(json_string_or(result, "status", ""),
			  json_string_or(expect, "status", "")) == 0,
	    "%s: %s", id, json_string_or(result, "status", ""));
	if (member(expect, "checks") != NULL)
		ck_assert_uint_eq(json_object_array_length(checks), 0);
	if (member(expect, "reason") != NULL)
		ck_assert_str_eq(json_string_or(first, "reason", ""),
		    json_string_or(expect, "reason", NULL));
	if (member(expect, "target") != NULL)
		ck_assert_str_eq(json_string_or(first, "target", ""),
		    json_string_or(expect, "target", NULL));
}

TEST(the_vectors_hold)
{
	cleanup_free char *path = NULL;
	cleanup_json struct json_object *root = NULL;
	struct json_object *rows;
	struct err err = { 0 };

	path = xasprintf("%s/openclaw_verification.json", unit_vectors());
	ck_assert_msg(
	    json_load(path, 1048576, &root, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(
	    json_int_or(root, "default_timeout_ms", 0), CONTRACT_TIMEOUT_MS);
	rows = member(root, "vectors");
	ck_assert_uint_ge(json_object_array_length(rows), 12);
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		cleanup_contract struct contract c = { 0 };
		cleanup_json struct json_object *result = NULL;

		ck_assert_int_eq(
		    contract_read(member(row, "contract"), "", &c, NULL), 0);
		result = json_bool_or(row, "read_hangs", false) ?
		    check_result_broken(check_reason_timeout, 1) :
		    result_of(row, &c);
		ck_assert_int_eq(check_result_validate(result, NULL), 0);
		expect_row(row, result);
	}
}
