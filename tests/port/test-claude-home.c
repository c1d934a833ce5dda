/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "claude.h"

#define ROOT "/src/my repo/\"x\""
#define KEY  "sk-ant-0123456789-abcdefghijklmnopqrst"
#define TAIL "abcdefghijklmnopqrst" /* its last 20 characters */

#define FRESH (CLAUDE_NOT_ONBOARDED | CLAUDE_NOT_TRUSTED)

static const char *
new_home(const char *name)
{
	const char *home = unit_path(name);

	ck_assert_int_eq(file_mkdirs(home, 0700, NULL), 0);
	return home;
}

static void
put(const char *home, const char *text)
{
	cleanup_free char *path = file_join(home, ".claude.json");

	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
}

static char *
get(const char *home)
{
	cleanup_free char *path = file_join(home, ".claude.json");
	struct buf text = BUF_INIT;

	ck_assert_int_eq(file_read(path, 1 << 20, &text, NULL), 0);
	return buf_take(&text);
}

static const char *
file_in(const char *home)
{
	static char *kept;

	free(kept);
	kept = file_join(home, ".claude.json");
	return kept;
}

static mode_t
mode_of(const char *home)
{
	cleanup_free char *path = file_join(home, ".claude.json");
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void
expect(const char *home, const char *key, unsigned want)
{
	ck_assert_uint_eq(
	    claude_home_check(file_in(home), ROOT, key, NULL), want);
}

static void
trust(const char *home, const char *key, bool onboarding)
{
	struct err err = { 0 };

	ck_assert_msg(
	    claude_home_trust(file_in(home), ROOT, key, onboarding, &err) == 0,
	    "%s", err.msg);
}

/* The file with each apostrophe replaced by a quotation mark. */
static void
put_quoted(const char *home, const char *text)
{
	cleanup_free char *json = xstrdup(text);

	for (char *s = json; *s != '\0'; s++)
		if (*s == '\'')
			*s = '"';
	put(home, json);
}

TEST(missing_file_means_never_started)
{
	const char *home = new_home("missing");

	expect(home, NULL, FRESH);
	expect(home, KEY, FRESH | CLAUDE_KEY_UNKNOWN);
	expect(unit_path("no-such-home"), NULL, FRESH);
}

TEST(each_problem_is_a_bit_of_its_own)
{
	static const struct {
		const char *text;
		unsigned want;
	} cases[] = {
		{ "{}", FRESH | CLAUDE_KEY_UNKNOWN },
		{ "{'hasCompletedOnboarding':true}",
		    CLAUDE_NOT_TRUSTED | CLAUDE_KEY_UNKNOWN },
		{ "{'projects':{'/src/my repo/\\'x\\'':"
		  "{'hasTrustDialogAccepted':true}}}",
		    CLAUDE_NOT_ONBOARDED | CLAUDE_KEY_UNKNOWN },
		{ "{'customApiKeyResponses':{'approved':['" TAIL "']}}",
		    FRESH },
		{ "{'hasCompletedOnboarding':true,'projects':"
		  "{'/src/my repo/\\'x\\'':{'hasTrustDialogAccepted':true}},"
		  "'customApiKeyResponses':{'approved':['z','" TAIL "']}}",
		    0 },
		/* For another repository, for a parent, answered no; a key that
		 * was rejected is not asked for again. */
		{ "{'hasCompletedOnboarding':false,'projects':"
		  "{'/src':{'hasTrustDialogAccepted':true},"
		  "'/src/my repo/\\'x\\'':{'hasTrustDialogAccepted':false}},"
		  "'customApiKeyResponses':{'approved':[],'rejected':['" TAIL
		  "']}}",
		    FRESH },
		/* Members of other types than Claude Code writes. */
		{ "{'hasCompletedOnboarding':'true','projects':[1],"
		  "'customApiKeyResponses':{'approved':'" TAIL "'}}",
		    FRESH | CLAUDE_KEY_UNKNOWN },
		{ "{'projects':{'/src/my repo/\\'x\\'':true},"
		  "'customApiKeyResponses':[['" TAIL "']]}",
		    FRESH | CLAUDE_KEY_UNKNOWN },
		{ "{'projects':null,'customApiKeyResponses':{'approved':"
		  "[null,1,['" TAIL "']]}}",
		    FRESH | CLAUDE_KEY_UNKNOWN },
	};
	const char *home = new_home("bits");

	for (size_t i = 0; i < nitems(cases); i++) {
		put_quoted(home, cases[i].text);
		ck_assert_msg(claude_home_check(file_in(home), ROOT, KEY,
				  NULL) == cases[i].want,
		    "%s", cases[i].text);
	}
}

TEST(no_key_needs_no_approval)
{
	const char *home = new_home("keyless");

	put(home, "{}");
	expect(home, NULL, FRESH);
	expect(home, "", FRESH);
}

TEST(key_is_known_by_its_last_20_characters)
{
	const char *home = new_home("tail");

	put(home, "{\"customApiKeyResponses\":{\"approved\":[\"" TAIL "\"]}}");
	expect(home, KEY, FRESH);
	expect(home, TAIL, FRESH);
	expect(home, "another-prefix-" TAIL, FRESH);
	expect(home, TAIL "x", FRESH | CLAUDE_KEY_UNKNOWN);
	expect(home, &TAIL[1], FRESH | CLAUDE_KEY_UNKNOWN);
	put(home, "{\"customApiKeyResponses\":{\"approved\":[\"short\"]}}");
	expect(home, "short", FRESH);
	put(home, "{\"customApiKeyResponses\":{\"approved\":[\"" KEY "\"]}}");
	expect(home, KEY, FRESH | CLAUDE_KEY_UNKNOWN);
}

static void
expect_file(const char *want)
{
	cleanup_free char *file = claude_home_file();

	if (want == NULL)
		ck_assert_ptr_null(file);
	else
		ck_assert_str_eq(file, want);
}

TEST(the_file_is_where_claude_keeps_it)
{
	const char *home = new_home("moved");
	cleanup_free char *dir = file_join(home, ".claude");
	cleanup_free char *old = file_join(dir, ".config.json");
	cleanup_free char *in_set = file_join(dir, ".claude.json");

	unsetenv("CLAUDE_CONFIG_DIR");
	ck_assert_int_eq(setenv("HOME", home, 1), 0);
	expect_file(file_in(home));
	ck_assert_int_eq(setenv("CLAUDE_CONFIG_DIR", dir, 1), 0);
	expect_file(in_set);
	ck_assert_int_eq(setenv("HOME", "", 1), 0);
	expect_file(in_set);
	ck_assert_int_eq(setenv("CLAUDE_CONFIG_DIR", "", 1), 0);
	expect_file(NULL);
	/* Early versions had it in the folder, and it stays there. */
	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	ck_assert_int_eq(file_replace(old, "{}", 2, 0600, NULL), 0);
	ck_assert_int_eq(setenv("HOME", home, 1), 0);
	expect_file(old);
}

TEST(broken_file_is_told_and_left_alone)
{
	static const char *const texts[] = { "", "{", "{\"a\":1,}", "[]",
		"\"text\"", "{} x", "null", "{\"a\":\"\xff\"}" };
	const char *home = new_home("broken");

	for (size_t i = 0; i < nitems(texts); i++) {
		cleanup_free char *after = NULL;
		struct err err = { 0 };

		put(home, texts[i]);
		ck_assert_msg(claude_home_check(file_in(home), ROOT, KEY,
				  &err) == CLAUDE_FILE_BROKEN,
		    "%zu", i);
		ck_assert_ptr_nonnull(strstr(err.msg, ".claude.json"));
		memset(&err, 0, sizeof err);
		ck_assert_int_eq(
		    claude_home_trust(file_in(home), ROOT, KEY, true, &err),
		    -EINVAL);
		ck_assert_ptr_nonnull(strstr(err.msg, ".claude.json"));
		after = get(home);
		ck_assert_str_eq(after, texts[i]);
	}
}

TEST(unreadable_file_is_broken_too)
{
	const char *home = new_home("directory");
	cleanup_free char *path = file_join(home, ".claude.json");

	ck_assert_int_eq(mkdir(path, 0700), 0);
	expect(home, NULL, CLAUDE_FILE_BROKEN);
	ck_assert_int_lt(
	    claude_home_trust(file_in(home), ROOT, NULL, true, NULL), 0);
	ck_assert(file_is_dir(path));
	ck_assert_int_eq(rmdir(path), 0);
	/* Reading this one must not wait for a writer. */
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect(home, NULL, CLAUDE_FILE_BROKEN);
}

TEST(trust_makes_a_missing_file_for_the_user_alone)
{
	const char *home = new_home("new");
	mode_t old = umask(0);

	trust(home, NULL, false);
	umask(old);
	ck_assert_uint_eq(mode_of(home), 0600);
	expect(home, NULL, CLAUDE_NOT_ONBOARDED);
	expect(home, KEY, CLAUDE_NOT_ONBOARDED | CLAUDE_KEY_UNKNOWN);
	trust(home, KEY, true);
	expect(home, KEY, 0);
}

TEST(a_rejected_key_stays_rejected)
{
	const char *home = new_home("rejected");
	cleanup_free char *text = NULL;

	put(home,
	    "{\"customApiKeyResponses\":{\"approved\":[],\"rejected\":"
	    "[\"" TAIL "\"]}}");
	trust(home, KEY, true);
	expect(home, KEY, 0);
	text = get(home);
	ck_assert_ptr_eq(
	    strstr(text, TAIL), strstr(strstr(text, "rejected"), TAIL));
}

TEST(onboarding_is_skipped_only_when_asked)
{
	const char *home = new_home("onboarding");
	cleanup_free char *text = NULL;

	put(home, "{}");
	trust(home, KEY, false);
	expect(home, KEY, CLAUDE_NOT_ONBOARDED);
	text = get(home);
	ck_assert_ptr_null(strstr(text, "hasCompletedOnboarding"));
	trust(home, KEY, true);
	trust(home, KEY, false);
	expect(home, KEY, 0);
}

TEST(trust_keeps_the_rest_in_its_order)
{
	static const char before[] =
	    "{\"zeta\":1,\"numStartups\":42,\"pi\":3.14159265358979312,"
	    "\"big\":18446744073709551615,\"tiny\":1e-7,\"yes\":null,"
	    "\"text\":\"a/b \\u00fc \\n \xf0\x9f\x8c\x8d\","
	    "\"projects\":{\"/other\":{\"b\":[],\"a\":{}},\""
	    "/src\":{}},"
	    "\"customApiKeyResponses\":{\"rejected\":[\"r\"],"
	    "\"approved\":[\"one\"],\"more\":[1,[2]]},\"alpha\":{}}";
	static const char after[] =
	    "{\"zeta\":1,\"numStartups\":42,\"pi\":3.14159265358979312,"
	    "\"big\":18446744073709551615,\"tiny\":1e-7,\"yes\":null,"
	    "\"text\":\"a/b \xc3\xbc \\n \xf0\x9f\x8c\x8d\","
	    "\"projects\":{\"/other\":{\"b\":[],\"a\":{}},\"/src\":{},"
	    "\"/src/my repo/\\\"x\\\"\":{\"hasTrustDialogAccepted\":true}},"
	    "\"customApiKeyResponses\":{\"rejected\":[\"r\"],"
	    "\"approved\":[\"one\",\"" TAIL "\"],\"more\":[1,[2]]},"
	    "\"alpha\":{}}";
	const char *home = new_home("keep");
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf line = BUF_INIT;
	cleanup_free char *text = NULL;

	put(home, before);
	trust(home, KEY, false);
	text = get(home);
	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 20, &json, NULL), 0);
	json_print(json, false, &line);
	ck_assert_str_eq(line.data, after);
}

TEST(trust_keeps_what_is_known_of_the_project)
{
	const char *home = new_home("project");
	cleanup_free char *text = NULL, *again = NULL;

	put_quoted(home,
	    "{'projects':{'/src/my repo/\\'x\\'':{'cost':1,"
	    "'hasTrustDialogAccepted':false,'tools':['a']}}}");
	trust(home, KEY, true);
	expect(home, KEY, 0);
	text = get(home);
	ck_assert_ptr_nonnull(strstr(text, "\"cost\""));
	ck_assert_ptr_nonnull(strstr(text, "\"tools\""));
	trust(home, KEY, true);
	again = get(home);
	ck_assert_str_eq(text, again);
}

TEST(members_of_a_wrong_type_are_made_anew)
{
	const char *home = new_home("types");

	put_quoted(home,
	    "{'projects':[],'customApiKeyResponses':'no',"
	    "'hasCompletedOnboarding':0}");
	trust(home, KEY, true);
	expect(home, KEY, 0);
	put_quoted(home,
	    "{'projects':{'/src/my repo/\\'x\\'':7},"
	    "'customApiKeyResponses':{'approved':{}}}");
	trust(home, KEY, true);
	expect(home, KEY, 0);
}

TEST(existing_file_keeps_its_mode)
{
	const char *home = new_home("mode");
	cleanup_free char *path = file_join(home, ".claude.json");

	put(home, "{}");
	ck_assert_int_eq(chmod(path, 0640), 0);
	trust(home, NULL, true);
	ck_assert_uint_eq(mode_of(home), 0640);
}

/* Dotfiles that are kept elsewhere and linked to. */
TEST(linked_file_stays_a_link)
{
	const char *home = new_home("linked");
	const char *store = new_home("linked/dotfiles");
	cleanup_free char *link = file_join(home, ".claude.json");
	struct stat st;

	put(store, "{\"kept\":1}");
	ck_assert_int_eq(symlink("dotfiles/.claude.json", link), 0);
	expect(home, NULL, FRESH);
	trust(home, NULL, true);
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	expect(store, NULL, 0);
	expect(home, NULL, 0);
}

TEST(missing_home_is_an_error)
{
	struct err err = { 0 };

	ck_assert_int_eq(claude_home_trust(file_in(unit_path("nowhere")), ROOT,
			     NULL, true, &err),
	    -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "nowhere"));
}
