/* SPDX-License-Identifier: ISC */

/* What of the user's Claude Code gets into a box. */
#include "unit.h"
#include "agent-kind.h"
#include "claude.h"

static const char *folder;

static void
put(const char *name, const char *text)
{
	const char *path = unit_path(name);

	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
}

static void
begin(void)
{
	setenv("HOME", unit_scratch(), 1);
	unsetenv("CLAUDE_CONFIG_DIR");
	folder = unit_path("box");
	ck_assert_int_eq(file_mkdirs(folder, 0700, NULL), 0);
	ck_assert_int_eq(file_mkdirs(unit_path(".claude"), 0700, NULL), 0);
}

static void
write_box(const char *key)
{
	struct err err = { 0 };

	if (key != NULL)
		setenv("ANTHROPIC_API_KEY", key, 1);
	else
		unsetenv("ANTHROPIC_API_KEY");
	ck_assert_msg(agent_write(&claude_kind, folder, "/w/ann", &err) == 0,
	    "%s", err.msg);
}

static char *
text_of(const char *name)
{
	cleanup_free char *path = file_join(folder, name);
	struct buf text = BUF_INIT;

	ck_assert_int_eq(file_read(path, 1 << 20, &text, NULL), 0);
	return buf_take(&text);
}

TEST(no_dialog_opens_for_somebody_who_never_used_it)
{
	cleanup_free char *file = NULL;

	begin();
	write_box("sk-ant-0123456789012345678901234567");
	file = file_join(folder, ".claude.json");
	ck_assert_uint_eq(claude_home_check(file, "/w/ann",
			      "sk-ant-0123456789012345678901234567", NULL),
	    0);
}

TEST(the_login_gets_in_but_not_the_rest)
{
	cleanup_free char *text = NULL, *settings = NULL, *memory = NULL;

	begin();
	put(".claude.json",
	    "{\"oauthAccount\": {\"emailAddress\": \"a@example.org\"},"
	    "\"theme\": \"light\", \"mcpServers\": {\"x\": {\"env\": "
	    "{\"TOKEN\": \"secret\"}}}, \"projects\": {\"/other\": "
	    "{\"history\": [\"private\"]}}}");
	put(".claude/settings.json",
	    "{\"model\": \"opus\", \"enabledPlugins\": {\"a@b\": true}}");
	put(".claude/CLAUDE.md", "be brief\n");
	write_box(NULL);
	text = text_of(".claude.json");
	ck_assert_ptr_nonnull(strstr(text, "a@example.org"));
	ck_assert_ptr_nonnull(strstr(text, "light"));
	ck_assert_ptr_null(strstr(text, "secret"));
	ck_assert_ptr_null(strstr(text, "private"));
	settings = text_of("settings.json");
	ck_assert_ptr_nonnull(strstr(settings, "opus"));
	ck_assert_ptr_null(strstr(settings, "Plugins"));
	memory = text_of("CLAUDE.md");
	ck_assert_str_eq(memory, "be brief\n");
}

/* The worker has put links there while it ran. */
TEST(links_in_the_folder_are_never_followed)
{
	static const char *const names[] = { ".claude.json", "settings.json",
		"CLAUDE.md", ".credentials.json" };
	cleanup_free char *login = NULL;
	struct err err = { 0 };

	begin();
	put("victim", "mine\n");
	put(".claude/CLAUDE.md", "x");
	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *path = file_join(folder, names[i]);

		unlink(path);
		ck_assert_int_eq(symlink(unit_path("victim"), path), 0);
	}
	write_box(NULL);
	login = file_join(folder, ".credentials.json");
	ck_assert_int_eq(agent_write_file(login, "", 0, &err), 0);
	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *path = file_join(folder, names[i]);
		struct stat st;

		ck_assert_int_eq(lstat(path, &st), 0);
		ck_assert(S_ISREG(st.st_mode));
		ck_assert_int_eq(st.st_mode & 0777, 0600);
	}
	{
		cleanup_buf struct buf text = BUF_INIT;

		file_read(unit_path("victim"), 100, &text, NULL);
		ck_assert_str_eq(text.data, "mine\n");
	}
}

TEST(folders_in_their_places_are_put_aside)
{
	static const char *const names[] = { ".claude.json", "settings.json",
		"CLAUDE.md", ".credentials.json" };
	cleanup_free char *login = NULL;
	struct err err = { 0 };

	begin();
	login = file_join(folder, ".credentials.json");
	/* Twice: what is put aside is in nobody's way. */
	for (size_t i = 0; i < 2 * nitems(names); i++) {
		cleanup_free char *path =
		    file_join(folder, names[i % nitems(names)]);
		cleanup_free char *below = file_join(path, "full");

		unlink(path);
		ck_assert_int_eq(file_mkdirs(below, 0700, NULL), 0);
		write_box(NULL);
		ck_assert_int_eq(agent_write_file(login, "", 0, &err), 0);
		ck_assert(!file_is_dir(path));
	}
}
