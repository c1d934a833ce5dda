/* SPDX-License-Identifier: ISC */

/* What the table says about a single value: type, bounds, description. */
#include "settings-world.h"

/* A warning may say that it does not fit to another setting. */
static void
assert_taken(const struct setting *row, const char *value)
{
	cleanup_settings_world struct settings_world p =
	    settings_world_parse(settings_world_one_key(row, value));
	cleanup_json struct json_object *json = NULL;
	unsigned line = 0;

	ck_assert_msg(!p.problems.fatal, "%s = %s: %s", row->path, value,
	    p.problems.count > 0 ? p.problems.list[0].text : "");
	ck_assert(settings_value(p.settings, row->path, &json, &line));
	ck_assert_uint_eq(line, 2);
}

/* An error on line 2 that names the key and what is allowed; the default
 * stays. */
static void
assert_refused(const struct setting *row, const char *value)
{
	cleanup_settings_world struct settings_world p =
	    settings_world_parse(settings_world_one_key(row, value));
	cleanup_settings_world struct settings_world none =
	    settings_world_parse("");
	cleanup_buf struct buf allowed = BUF_INIT;

	settings_describe_allowed(row, &allowed);
	ck_assert_msg(p.problems.count == 1 && p.problems.fatal,
	    "%s = %s is taken", row->path, value);
	ck_assert(p.problems.list[0].fatal);
	ck_assert_uint_eq(p.problems.list[0].line, 2);
	ck_assert_ptr_nonnull(strstr(p.problems.list[0].text, row->path));
	ck_assert_ptr_nonnull(strstr(p.problems.list[0].text, allowed.data));
	ck_assert_str_eq(settings_world_value(p.settings, row->path),
	    settings_world_value(none.settings, row->path));
}

TEST(wrong_types_are_errors)
{
	/* TOML of each type, and which setting types accept it. */
	static const struct {
		const char *value;
		unsigned fits;
	} values[] = {
		{ "true", 1u << SETTING_BOOL },
		{ "1979-05-27T07:32:00Z", 0 },
		{ "1979-05-27", 0 },
		{ "07:32:00", 0 },
		{ "{ a = 1 }", 0 },
		{ "[1]", 0 },
		{ "[[\"a\"]]", 0 },
		{ "[\"a\", 1]", 0 },
		{ "[\"a\\u0000b\"]", 0 },
		{ "[\"a\", 'b']", 1u << SETTING_LIST },
		{ "[]", 1u << SETTING_LIST },
		{ "\"a\\u0000b\"", 0 },
		{ "nan", 0 },
		{ "-inf", 0 },
		{ "-1", 0 },
		{ "'text \\ \"here\"'",
		    1u << SETTING_STRING | 1u << SETTING_PATH },
		{ "\"\"", 1u << SETTING_STRING | 1u << SETTING_PATH },
	};

	for (size_t i = 0; i < settings_table_count; i++)
		for (size_t v = 0; v < nitems(values); v++) {
			const struct setting *row = &settings_table[i];

			if (row->type == SETTING_LIST && row->choices != NULL)
				continue; /* choices_are_exact */
			if (row->form != FORM_ANY)
				continue; /* texts_have_the_form_... */
			if (strcmp(row->path, "auto.review") == 0)
				continue; /* names an agent */
			if (values[v].fits & 1u << row->type)
				assert_taken(row, values[v].value);
			else
				assert_refused(row, values[v].value);
		}
}

TEST(bounds_are_inclusive)
{
	for (size_t i = 0; i < settings_table_count; i++) {
		const struct setting *row = &settings_table[i];
		bool ms = row->type == SETTING_DURATION;
		long long inside[] = { row->min, row->max };
		long long outside[] = { row->min - 1, row->max + 1 };

		if (row->type != SETTING_INT && row->type != SETTING_DURATION)
			continue;
		ck_assert_msg(row->max > 0, "%s has no bounds", row->path);
		for (size_t j = 0; j < nitems(inside); j++) {
			assert_taken(row,
			    settings_world_keep(xasprintf(
				ms ? "\"%lldms\"" : "%lld", inside[j])));
			assert_refused(row,
			    settings_world_keep(xasprintf(
				ms ? "\"%lldms\"" : "%lld", outside[j])));
		}
		assert_refused(row, "9223372036854775807");
		if (!ms)
			assert_refused(row, "20.0");
	}
}

TEST(choices_are_exact)
{
	for (size_t i = 0; i < settings_table_count; i++) {
		const struct setting *row = &settings_table[i];

		bool list = row->type == SETTING_LIST;

		for (size_t c = 0;
		     row->choices != NULL && row->choices[c] != NULL; c++) {
			assert_taken(row,
			    settings_world_keep(
				xasprintf(list ? "[\"%s\"]" : "\"%s\"",
				    row->choices[c])));
			assert_refused(row,
			    settings_world_keep(
				xasprintf(list ? "[\"%s \"]" : "\"%s \"",
				    row->choices[c])));
		}
	}
}

TEST(durations_take_text_and_numbers)
{
	static const struct {
		const char *value;
		int64_t ms;
	} cases[] = { { "\"500ms\"", 500 }, { "\"30s\"", 30000 },
		{ "\"5m\"", 300000 }, { "\"1h\"", 3600000 }, { "90", 90000 },
		{ "0.5", 500 }, { "0.1", 100 }, { "2.2", 2200 },
		{ "600.1", 600100 }, { "2.25", 2250 }, { "1e2", 100000 },
		{ "\"1m30s\"", 90000 }, { "\"0.5\"", 500 }, { "0x10", 16000 } };
	const struct setting *row =
	    settings_find("defaults.start_timeout", NULL);

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_settings_world struct settings_world p =
		    settings_world_parse(
			settings_world_one_key(row, cases[i].value));

		ck_assert_uint_eq(p.problems.count, 0);
		ck_assert_int_eq(
		    settings_duration(p.settings, row->path), cases[i].ms);
	}
	assert_refused(row, "\"\"");
	assert_refused(row, "\"1 h\"");
	assert_refused(row, "\"-5s\"");
	assert_refused(row, "0.0001");
}

TEST(amounts_are_held_in_millionths)
{
	static const struct {
		const char *value, *told;
		int64_t millionths;
	} cases[] = { { "0", "0", 0 }, { "2.50", "2.5", 2500000 },
		{ "5", "5", 5000000 }, { "0.1", "0.1", 100000 },
		{ "0.000001", "0.000001", 1 }, { "1e3", "1000", 1000000000 },
		{ "1.005", "1.005", 1005000 }, { "0.3", "0.3", 300000 },
		{ "123456.789012", "123456.789012", 123456789012 },
		{ "999999.999999", "999999.999999", 999999999999 },
		{ "1000000", "1000000", 1000000000000 },
		{ "1000000.0", "1000000", 1000000000000 } };
	const struct setting *row = settings_find("budget.task_cost", NULL);

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_settings_world struct settings_world p =
		    settings_world_parse(
			settings_world_one_key(row, cases[i].value));

		ck_assert_msg(p.problems.count == 0, "%s", cases[i].value);
		ck_assert_int_eq(settings_amount(p.settings, row->path),
		    cases[i].millionths);
		ck_assert_str_eq(
		    settings_world_value(p.settings, row->path), cases[i].told);
	}
	assert_refused(row, "-0.000001");
	assert_refused(row, "0.0000001"); /* would mean no limit */
	assert_refused(row, "0.0000015");
	assert_refused(row, "1000000.000001");
	assert_refused(row, "1e300");
	assert_refused(row, "9223372036854775807");
	assert_refused(row, "inf");
	assert_refused(row, "\"2.50\"");
	assert_refused(row, "\"$2\"");
}

TEST(typed_values_become_toml)
{
	static const struct {
		const char *path, *typed, *toml; /* NULL: refused */
	} cases[] = {
		{ "defaults.model", "opus", "\"opus\"" },
		{ "defaults.model", "", "\"\"" },
		{ "defaults.model", "a\"b\\c\nd\x1b",
		    "\"a\\\"b\\\\c\\nd\\u001b\"" },
		{ "defaults.model", "bad\xff", "\"bad\xef\xbf\xbd\"" },
		{ "repo.worktree_dir", "~/x", "\"~/x\"" },
		{ "repo.run_hooks", "true", "true" },
		{ "repo.run_hooks", "yes", NULL },
		{ "repo.run_hooks", "\"true\"", NULL },
		{ "repo.upstream", "follow", "\"follow\"" },
		{ "repo.upstream", "true", NULL },
		{ "repo.fetch_every", "59s", NULL },
		{ "auto.max_turns", "50", "50" },
		{ "auto.max_turns", "+50", "+50" },
		{ "auto.max_turns", "0x32", "0x32" },
		{ "auto.max_turns", "050", NULL },
		{ "auto.max_turns", " 50", NULL },
		{ "auto.max_turns", "50 ", NULL },
		{ "auto.max_turns", "50#x", NULL },
		{ "auto.max_turns", "50\ny = 1", NULL },
		{ "auto.max_turns", "", NULL },
		{ "defaults.start_timeout", "5m", "\"5m\"" },
		{ "defaults.start_timeout", "30", "30" },
		{ "defaults.start_timeout", "0.5", "\"0.5\"" },
		{ "defaults.start_timeout", "0", NULL },
		{ "defaults.start_timeout", "05", NULL },
		{ "budget.day_cost", "2.50", "2.50" },
		{ "budget.day_cost", "3", "3" },
		{ "budget.day_cost", "$3", NULL },
		{ "budget.day_cost", ".5", NULL },
		{ "budget.day_cost", "-1", NULL },
		{ "budget.day_cost", "", NULL },
		{ "defaults.extra_args", "[\"a\",\n\"b\"]", NULL },
		{ "defaults.extra_args", "[\"a\"]", "[\"a\"]" },
		{ "defaults.extra_args", "[\"a\"] # x", NULL },
		{ "defaults.permission_mode", "plan", "\"plan\"" },
		{ "defaults.permission_mode", "plans", NULL },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		const struct setting *row = settings_find(cases[i].path, NULL);
		cleanup_buf struct buf out = BUF_INIT;
		struct err err = { 0 };
		int r;

		ck_assert_ptr_nonnull(row);
		buf_adds(&out, ">");
		r = settings_value_text(row, cases[i].typed, &out, &err);
		if (cases[i].toml == NULL) {
			ck_assert_msg(r == -EINVAL, "%s", cases[i].typed);
			ck_assert_int_eq(err.code, -EINVAL);
			ck_assert_str_eq(out.data, ">");
			ck_assert_int_eq(strncmp(err.msg, "expected ", 9), 0);
			continue;
		}
		ck_assert_msg(r == 0, "%s: %s", cases[i].typed, err.msg);
		ck_assert_str_eq(out.data + 1, cases[i].toml);
		assert_taken(row, cases[i].toml);
	}
}

TEST(durations_are_told_exactly)
{
	static const struct {
		const char *typed, *told;
	} cases[] = { { "90", "\"1m30s\"" }, { "61.5", "\"61.500s\"" },
		{ "3599", "\"59m59s\"" }, { "1.25", "\"1.25s\"" },
		{ "3599.001", "\"3599.001s\"" } };
	const struct setting *row =
	    settings_find("defaults.start_timeout", NULL);

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_settings_world struct settings_world p =
		    settings_world_parse(
			settings_world_one_key(row, cases[i].typed));
		cleanup_settings_world struct settings_world again;

		ck_assert_str_eq(
		    settings_world_value(p.settings, row->path), cases[i].told);
		again = settings_world_parse(
		    settings_world_one_key(row, cases[i].told));
		ck_assert_int_eq(settings_duration(again.settings, row->path),
		    settings_duration(p.settings, row->path));
	}
}

TEST(allowed_is_told_for_every_type)
{
	static const struct {
		const char *path, *words;
	} cases[] = {
		{ "defaults.model", "a string" },
		{ "repo.worktree_dir", "a path" },
		{ "repo.run_hooks", "true or false" },
		{ "auto.max_turns", "a whole number from 1 to 1000" },
		{ "defaults.start_timeout",
		    "a duration such as \"30s\" or \"5m\" from 100ms to 1h" },
		{ "budget.day_cost",
		    "a number such as 2.50 from 0 to 1000000" },
		{ "defaults.extra_args",
		    "a list of strings such as [\"a\", \"b\"]" },
		{ "repo.dirty_checkout", "one of \"wait\", \"overlap\"" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_buf struct buf out = BUF_INIT;

		settings_describe_allowed(
		    settings_find(cases[i].path, NULL), &out);
		ck_assert_str_eq(out.data, cases[i].words);
	}
}

TEST(texts_have_the_form_of_their_row)
{
	static const struct {
		const char *path, *good[4], *bad[6];
	} cases[] = {
		{ "defaults.memory_max",
		    { "\"\"", "\"4G\"", "\"512M\"", "\"1048576\"" },
		    { "\"0\"", "\"4g\"", "\"4 G\"", "\"4GB\"", "\"-1\"",
			"\"9999999T\"" } },
		{ "defaults.env",
		    { "[]", "[\"EDITOR\"]", "[\"_a1\", \"B\"]",
			"[\"A={index}{{x}\", \"B=\"]" },
		    { "[\"A={id}\"]", "[\"1A=b\"]", "[\"\"]", "[\"A B\"]",
			"[\"A={port\"]", "[\"=b\"]" } },
		{ "defaults.sandbox_read",
		    { "[\"/opt\"]", "[\"~\"]", "[\"~/.cargo\"]" },
		    { "[\"opt\"]", "[\"\"]", "[\"~eve/x\"]" } },
		{ "defaults.sandbox_hosts",
		    { "[]", "[\"example.org\"]", "[\"example.org:8443\"]",
			"[\"*.example.org\"]" },
		    { "[\"\"]", "[\"*\"]", "[\"a..b\"]", "[\"a:0\"]",
			"[\"a:70000\"]", "[\"https://a\"]" } },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		const struct setting *row = settings_find(cases[i].path, NULL);

		for (size_t j = 0;
		     j < nitems(cases[i].good) && cases[i].good[j] != NULL; j++)
			assert_taken(row, cases[i].good[j]);
		for (size_t j = 0;
		     j < nitems(cases[i].bad) && cases[i].bad[j] != NULL; j++)
			assert_refused(row, cases[i].bad[j]);
	}
	ck_assert_int_eq(settings_form_bytes("4G"), INT64_C(4) << 30);
	ck_assert_int_eq(settings_form_bytes("77"), 77);
	ck_assert_int_eq(settings_form_bytes(""), 0);
}
