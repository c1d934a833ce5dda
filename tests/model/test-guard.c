/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "guard.h"

#define NOW 1000000
#define ALL "\"version\":1,\"tools\":{\"all\":true}"

static struct guard_policy
policy_of(const char *text)
{
	cleanup_json struct json_object *json = NULL;
	struct guard_policy policy;
	struct err err = { 0 };

	ck_assert_int_eq(json_parse(text, strlen(text), 65536, &json, NULL), 0);
	ck_assert_msg(
	    guard_policy_from_json(json, &policy, &err) == 0, "%s", err.msg);
	return policy;
}

TEST(a_tool_is_there_if_it_is_allowed_and_not_denied)
{
	static const struct {
		const char *policy, *tool;
		bool passes;
	} table[] = {
		{ "\"all\":true", "Bash", true },
		{ "\"all\":true,\"deny\":[\"Bash\"]", "Bash", false },
		{ "\"allow\":[\"Read\"]", "Read", true },
		{ "\"allow\":[\"Read\"]", "Bash", false },
		{ "\"allow\":[]", "Bash", false },
		{ "\"deny\":[]", "Bash", false },
	};

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_free char *text = xasprintf(
		    "{\"version\":1,\"tools\":{%s}}", table[i].policy);
		struct guard_policy policy = policy_of(text);
		cleanup_buf struct buf why = BUF_INIT;
		enum guard_kind kind = guard_tool(&policy, table[i].tool, &why);

		ck_assert_msg((kind == GUARD_PASS) == table[i].passes, "%s %s",
		    table[i].policy, table[i].tool);
		ck_assert(kind == GUARD_PASS ?
			why.len == 0 :
			strstr(why.data, table[i].tool) != NULL);
		guard_policy_release(&policy);
	}
}

TEST(a_file_outside_of_the_scope_is_denied)
{
	struct guard_policy policy =
	    policy_of("{" ALL ",\"scope_paths\":[\"src/\",\"docs/a.md\"]}");
	ended_by(guard_policy_release) struct guard_policy none =
	    policy_of("{" ALL ",\"scope_paths\":[]}");
	ended_by(guard_policy_release) struct guard_policy all =
	    policy_of("{" ALL "}");
	cleanup_buf struct buf why = BUF_INIT;

	ck_assert_int_eq(
	    guard_write(&policy, "src/x/y.c", NOW, &why), GUARD_PASS);
	ck_assert_int_eq(
	    guard_write(&policy, "docs/a.md", NOW, &why), GUARD_PASS);
	ck_assert_uint_eq(why.len, 0);
	ck_assert_int_eq(
	    guard_write(&policy, "docs/b.md", NOW, &why), GUARD_SCOPE);
	ck_assert_ptr_nonnull(strstr(why.data, "docs/b.md"));
	ck_assert_ptr_nonnull(strstr(why.data, "src/, docs/a.md"));
	ck_assert_ptr_nonnull(strstr(why.data, "plan_review_needed"));
	ck_assert_int_eq(guard_write(&policy, NULL, NOW, &why), GUARD_SCOPE);
	ck_assert_int_eq(
	    guard_write(&policy, ".git/x", NOW, &why), GUARD_SCOPE);
	ck_assert_int_eq(guard_write(&none, "src/a", NOW, &why), GUARD_SCOPE);
	ck_assert_int_eq(guard_write(&all, "src/a", NOW, &why), GUARD_PASS);
	ck_assert_int_eq(guard_write(&all, NULL, NOW, &why), GUARD_PASS);
	guard_policy_release(&policy);
}

/* Others than those that it has. */
TEST(limited_tools_do_not_write_what_gives_tools)
{
	static const char *const files[] = { ".claude",
		".claude/settings.local.json", ".mcp.json", ".git",
		".git/hooks/pre-commit", NULL };
	ended_by(guard_policy_release) struct guard_policy policy = policy_of(
	    "{\"version\":1,\"tools\":{\"allow\":[\"Read\",\"Write\"]}}");
	ended_by(guard_policy_release) struct guard_policy all =
	    policy_of("{" ALL "}");
	cleanup_buf struct buf why = BUF_INIT;

	for (size_t i = 0; files[i] != NULL; i++) {
		ck_assert_int_eq(
		    guard_write(&policy, files[i], NOW, &why), GUARD_SCOPE);
		ck_assert_ptr_nonnull(strstr(why.data, files[i]));
		ck_assert_int_eq(
		    guard_write(&all, files[i], NOW, &why), GUARD_PASS);
	}
	buf_clear(&why);
	ck_assert_int_eq(guard_write(&policy, NULL, NOW, &why), GUARD_SCOPE);
	ck_assert_ptr_nonnull(strstr(why.data, "outside your worktree, and"));
	ck_assert_int_eq(
	    guard_write(&policy, ".claudex", NOW, &why), GUARD_PASS);
	ck_assert_int_eq(guard_write(&policy, "a.c", NOW, &why), GUARD_PASS);
}

TEST(a_file_that_another_has_reserved_is_denied_until_then)
{
	ended_by(guard_policy_release) struct guard_policy policy = {
		.tools.all = true
	};
	cleanup_buf struct buf why = BUF_INIT;

	guard_policy_reserve(&policy, "src/api", "adam", NOW + 60000);
	guard_policy_reserve(&policy, "a [1].c", "eve", NOW + 1);
	ck_assert_int_eq(
	    guard_write(&policy, "src/api/x.c", NOW, &why), GUARD_RESERVED);
	ck_assert_ptr_nonnull(strstr(why.data, "src/api/x.c"));
	ck_assert_ptr_nonnull(strstr(why.data, "adam"));
	ck_assert_ptr_nonnull(strstr(why.data, "1m"));
	ck_assert_ptr_nonnull(strstr(why.data, "or send its owner mail"));
	ck_assert_int_eq(
	    guard_write(&policy, "src/apix.c", NOW, &why), GUARD_PASS);
	ck_assert_int_eq(
	    guard_write(&policy, "a [1].c", NOW, &why), GUARD_RESERVED);
	ck_assert_int_eq(guard_write(&policy, "a 1.c", NOW, &why), GUARD_PASS);
	ck_assert_int_eq(
	    guard_write(&policy, "src/api/x.c", NOW + 60000, &why), GUARD_PASS);
	ck_assert_int_eq(guard_write(&policy, NULL, NOW, &why), GUARD_PASS);
	/* It has no mail. */
	strv_add(&policy.tools.deny, "mcp__llmc__mail_send");
	buf_clear(&why);
	ck_assert_int_eq(
	    guard_write(&policy, "src/api/x.c", NOW, &why), GUARD_RESERVED);
	ck_assert_ptr_nonnull(strstr(why.data, "or ask your parent"));
}

TEST(our_tools_are_offered_as_the_policy_says)
{
	struct guard_policy all = policy_of("{" ALL "}");
	struct guard_policy some =
	    policy_of("{" ALL ",\"llmc_tools\":[\"report_progress\"]}");
	struct guard_policy denied =
	    policy_of("{\"version\":1,\"tools\":{\"all\":true,"
		      "\"deny\":[\"mcp__llmc__mail_send\"]}}");

	ck_assert(guard_offers(&all, "mail_send"));
	ck_assert(guard_offers(&some, "report_progress"));
	ck_assert(!guard_offers(&some, "mail_send"));
	ck_assert(!guard_offers(&denied, "mail_send"));
	ck_assert(guard_offers(&denied, "mail_ack"));
	guard_policy_release(&all);
	guard_policy_release(&some);
	guard_policy_release(&denied);
}

TEST(commits_outside_of_the_scope_are_named)
{
	static const char *const files[] = { "a\nb", "docs/a", "src/a.c" };
	char src[] = "src", *scope[] = { src, NULL }, *none[] = { NULL };
	const char *many[25];
	cleanup_buf struct buf why = BUF_INIT;

	ck_assert_int_eq(guard_commits(scope, files + 2, 1, &why), GUARD_PASS);
	ck_assert_int_eq(guard_commits(none, NULL, 0, &why), GUARD_PASS);
	ck_assert_uint_eq(why.len, 0);
	ck_assert_int_eq(guard_commits(scope, files, 3, &why), GUARD_SCOPE);
	ck_assert_ptr_nonnull(strstr(
	    why.data, "change 2 files outside the scope of your task: a"));
	ck_assert_ptr_null(strchr(why.data, '\n'));
	ck_assert_ptr_nonnull(
	    strstr(why.data, "b, docs/a. You may change: src. Move "));
	ck_assert_ptr_nonnull(strstr(why.data, "plan_review_needed"));
	for (size_t i = 0; i < nitems(many); i++)
		many[i] = "x";
	buf_clear(&why);
	ck_assert_int_eq(guard_commits(none, many, 25, &why), GUARD_SCOPE);
	ck_assert_ptr_nonnull(
	    strstr(why.data, "25 files outside the scope of your task: x, "));
	ck_assert_ptr_nonnull(strstr(why.data, "x and 15 more. Move "));
}

/* None of them may be taken for a policy that allows everything. */
TEST(what_is_no_policy_is_refused)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"{\"version\":2}",
		"{\"version\":1}",
		"{\"version\":1,\"tools\":[]}",
		"{\"version\":1,\"tools\":{\"all\":1}}",
		"{\"version\":1,\"tools\":{\"deny\":[1]}}",
		"{" ALL ",\"scope_paths\":{}}",
		"{" ALL ",\"reserved\":[{\"path\":\"a\"}]}",
	};

	for (size_t i = 0; i < nitems(texts); i++) {
		cleanup_json struct json_object *json =
		    json_tokener_parse(texts[i]);
		struct guard_policy policy;
		struct err err = { 0 };

		ck_assert_msg(guard_policy_from_json(json, &policy, &err) < 0,
		    "%s", texts[i]);
		ck_assert_str_ne(err.msg, "");
		guard_policy_release(&policy);
	}
}

TEST(a_policy_is_written_as_it_is_read)
{
	static const char text[] =
	    "{\"version\":1,\"tree\":\"/t\",\"tools\":{\"all\":true,"
	    "\"allow\":[],\"deny\":[\"Bash\"]},\"scope_paths\":[],\"reserved\":["
	    "{\"path\":\"a\",\"owner\":\"eve\",\"until\":7}],"
	    "\"llmc_tools\":[],\"refuse_commands\":[\"sudo\"],"
	    "\"protected_paths\":[\"x\"]}";
	ended_by(guard_policy_release) struct guard_policy policy =
	    policy_of(text);
	cleanup_json struct json_object *json = guard_policy_to_json(&policy);
	cleanup_buf struct buf out = BUF_INIT;

	json_print(json, false, &out);
	ck_assert_str_eq(out.data, text);
}
