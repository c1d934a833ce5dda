/* SPDX-License-Identifier: ISC */

/*
 * The public toml-test suite: every document under valid/ must read as the
 * tagged JSON beside it says, every one under invalid/ must be refused.
 */
#include <fts.h>
#include <math.h>

#include <json-c/json.h>

#include "toml.h"
#include "unit.h"

/* The size of the vendored suite; fewer means that cases got lost. */
#define VALID_CASES   210
#define INVALID_CASES 499

static const char *
tag_of(enum toml_type type)
{
	static const char *const tags[TOML_TYPE_COUNT] = {
		[TOML_STRING] = "string",
		[TOML_INTEGER] = "integer",
		[TOML_FLOAT] = "float",
		[TOML_BOOL] = "bool",
		[TOML_DATETIME] = "datetime",
		[TOML_DATETIME_LOCAL] = "datetime-local",
		[TOML_DATE_LOCAL] = "date-local",
		[TOML_TIME_LOCAL] = "time-local",
	};

	return tags[type] == NULL ? "" : tags[type];
}

static void
read_all(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "rb");
	char piece[4096];
	size_t n;

	ck_assert_msg(f != NULL, "%s cannot be opened", path);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		buf_add(out, piece, n);
	fclose(f);
}

/* json-c keys end at a NUL; the reader keeps a NUL in a key as C0 80, so write
 * it like that in the expected text, and on both sides of a string. */
static struct json_object *
expected_read(const char *path)
{
	cleanup_buf struct buf text = BUF_INIT, out = BUF_INIT;
	struct json_object *value;

	read_all(path, &text);
	for (size_t i = 0; i < text.len; i++) {
		if (strncmp(text.data + i, "\\u0000", 6) == 0) {
			buf_adds(&out, "\xc0\x80");
			i += 5;
			continue;
		}
		buf_addc(&out, text.data[i]);
		if (text.data[i] == '\\' && i + 1 < text.len)
			buf_addc(&out, text.data[++i]);
	}
	value = json_tokener_parse(out.data);
	ck_assert_msg(value != NULL, "%s is not JSON", path);
	return value;
}

static bool
string_matches(const char *want, struct json_object *got)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *s = json_object_get_string(got);

	for (int i = 0; i < json_object_get_string_len(got); i++)
		if (s[i] == '\0')
			buf_adds(&text, "\xc0\x80");
		else
			buf_addc(&text, s[i]);
	return strcmp(want, text.data) == 0;
}

static bool
float_matches(const char *want, struct json_object *got)
{
	double value = json_object_get_double(got), wanted;

	wanted = strtod(want, NULL);
	if (isnan(wanted) || isnan(value))
		return isnan(wanted) && isnan(value);
	return wanted == value &&
	    (signbit(wanted) == signbit(value) || strcmp(want, "0") == 0);
}

/* .600 and .6 are the same fraction. */
static void
date_add(struct buf *out, const char *s)
{
	size_t whole = strcspn(s, "."), digits, end;

	buf_add(out, s, whole);
	if (s[whole] == '\0')
		return;
	digits = strspn(s + whole + 1, "0123456789");
	for (end = digits; end > 0 && s[whole + end] == '0';)
		end--;
	if (end > 0)
		buf_add(out, s + whole, end + 1);
	buf_adds(out, s + whole + 1 + digits);
}

static bool
date_matches(const char *want, struct json_object *got)
{
	cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT;

	date_add(&a, want);
	date_add(&b, json_object_get_string(got));
	return strcmp(a.data, b.data) == 0;
}

static bool
leaf_matches(const char *tag, const char *want, struct json_object *got)
{
	enum toml_type type = toml_mark_of(got).type;

	if (strcmp(tag, tag_of(type)) != 0)
		return false;
	switch (type) {
	case TOML_STRING:
		return string_matches(want, got);
	case TOML_INTEGER:
		return json_object_get_int64(got) == strtoll(want, NULL, 10);
	case TOML_FLOAT:
		return float_matches(want, got);
	case TOML_BOOL:
		return json_object_get_boolean(got) ==
		    (strcmp(want, "true") == 0);
	default:
		return date_matches(want, got);
	}
}

static bool value_matches(struct json_object *want, struct json_object *got);

static bool
members_match(struct json_object *want, struct json_object *got)
{
	struct json_object *other;
	json_object_object_foreach(want, key, child)
	{
		if (!json_object_object_get_ex(got, key, &other) ||
		    !value_matches(child, other))
			return false;
	}
	return true;
}

static bool
value_matches(struct json_object *want, struct json_object *got)
{
	struct json_object *type, *value;

	if (json_object_is_type(want, json_type_array)) {
		if (!json_object_is_type(got, json_type_array) ||
		    toml_mark_of(got).type != TOML_ARRAY ||
		    json_object_array_length(want) !=
			json_object_array_length(got))
			return false;
		for (size_t i = 0; i < json_object_array_length(want); i++)
			if (!value_matches(json_object_array_get_idx(want, i),
				json_object_array_get_idx(got, i)))
				return false;
		return true;
	}
	if (json_object_object_length(want) == 2 &&
	    json_object_object_get_ex(want, "type", &type) &&
	    json_object_object_get_ex(want, "value", &value) &&
	    json_object_is_type(type, json_type_string))
		return leaf_matches(json_object_get_string(type),
		    json_object_get_string(value), got);
	if (toml_mark_of(got).type != TOML_TABLE ||
	    json_object_object_length(want) != json_object_object_length(got))
		return false;
	return members_match(want, got);
}

static bool
valid_passes(const char *path, const struct buf *text)
{
	cleanup_free char *json_path = NULL;
	struct json_object *want, *got = NULL;
	struct err err = { 0 };
	unsigned line = 0;
	bool ok;

	json_path =
	    xasprintf("%.*s.json", (int)(strlen(path) - strlen(".toml")), path);
	want = expected_read(json_path);
	ok = toml_parse(text->data, text->len, &got, &line, &err) == 0 &&
	    value_matches(want, got);
	if (!ok)
		printf("# FAILED %s: %s %s\n", path, err.msg,
		    got == NULL ? "" : json_object_to_json_string(got));
	json_object_put(want);
	json_object_put(got);
	return ok;
}

static bool
invalid_passes(const char *path, const struct buf *text)
{
	struct json_object *got = NULL;
	struct err err = { 0 };
	unsigned line = 0;
	char prefix[32];
	int r;

	r = toml_parse(text->data, text->len, &got, &line, &err);
	snprintf(prefix, sizeof(prefix), "line %u: ", line);
	if (r == -EINVAL && err.code == r && line >= 1 && got == NULL &&
	    strncmp(err.msg, prefix, strlen(prefix)) == 0)
		return true;
	printf("# FAILED %s: returned %d, line %u, '%s'\n", path, r, line,
	    err.msg);
	json_object_put(got);
	return false;
}

/* Run all documents below a folder of the suite; the number that failed. */
static int
folder_run(const char *name, bool (*passes)(const char *, const struct buf *),
    int *ret_seen)
{
	cleanup_free char *folder = NULL;
	int seen = 0, failed = 0;
	FTSENT *entry;
	FTS *fts;

	folder = xasprintf("%s/toml-test/%s", unit_vectors(), name);
	fts = fts_open(
	    (char *[]){ folder, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	ck_assert_ptr_nonnull(fts);
	while ((entry = fts_read(fts)) != NULL) {
		cleanup_buf struct buf text = BUF_INIT;
		const char *dot = strrchr(entry->fts_name, '.');

		if (entry->fts_info != FTS_F || dot == NULL ||
		    strcmp(dot, ".toml") != 0)
			continue;
		read_all(entry->fts_path, &text);
		seen++;
		if (!passes(entry->fts_path, &text))
			failed++;
	}
	fts_close(fts);
	printf("# %s: %d cases, %d failed\n", name, seen, failed);
	fflush(stdout);
	*ret_seen = seen;
	return failed;
}

START_TEST(valid_documents_read_as_expected)
{
	int seen = 0;

	ck_assert_int_eq(folder_run("valid", valid_passes, &seen), 0);
	ck_assert_int_ge(seen, VALID_CASES);
}
END_TEST

START_TEST(invalid_documents_are_refused)
{
	int seen = 0;

	ck_assert_int_eq(folder_run("invalid", invalid_passes, &seen), 0);
	ck_assert_int_ge(seen, INVALID_CASES);
}
END_TEST

Suite *
unit_suite(void)
{
	cleanup_free char *folder = NULL;
	Suite *s;

	folder = xasprintf("%s/toml-test", unit_vectors());
	if (access(folder, R_OK) == -1)
		unit_skip_all("LLMC_VECTORS names no folder with toml-test");
	s = suite_create("toml-suite");
	unit_case(s, "toml-suite",
	    (const TTest *[]){ valid_documents_read_as_expected,
		invalid_documents_are_refused, NULL });
	return s;
}
