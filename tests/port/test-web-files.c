/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "http-server.h"
#include "unit.h"
#include "workspace.h"

static struct workspace workspace;

static const char *const tokens[] = {
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
};

static void
begin(const char *name)
{
	workspace.root = xstrdup(unit_path(name));
	workspace.dir = file_join(workspace.root, ".llmc");
	ck_assert_int_eq(file_mkdirs(workspace.dir, 0700, NULL), 0);
}

static void
end(void)
{
	workspace_release(&workspace);
}

static void
put(const char *name, const char *text, mode_t mode)
{
	cleanup_free char *path = workspace_path(&workspace, name);

	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

TEST(no_token_is_made_twice)
{
	char first[WEB_TOKEN_CHARS + 1], second[WEB_TOKEN_CHARS + 1];

	web_files_new_token(first);
	web_files_new_token(second);
	ck_assert(web_token_valid(first));
	ck_assert(web_token_valid(second));
	ck_assert_str_ne(first, second);
}

TEST(only_the_user_can_read_the_token)
{
	char token[WEB_TOKEN_CHARS + 1];
	cleanup_free char *path = NULL;
	struct err err = { 0, "" };
	struct stat st;

	begin("make");
	ck_assert_int_eq(web_files_token(&workspace, token, &err), -ENOENT);
	for (size_t i = 0; i < nitems(tokens); i++) {
		ck_assert_int_eq(
		    web_files_put_token(&workspace, tokens[i], &err), 0);
		ck_assert_int_eq(web_files_token(&workspace, token, &err), 0);
		ck_assert_str_eq(token, tokens[i]);
	}
	path = workspace_path(&workspace, WEB_FILES_TOKEN);
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	end();
}

TEST(a_file_that_others_could_read_is_not_used_and_replaced)
{
	char token[WEB_TOKEN_CHARS + 1];
	cleanup_free char *path = NULL, *aside = NULL;
	struct err err = { 0, "" };
	struct stat st;

	begin("seen");
	path = workspace_path(&workspace, WEB_FILES_TOKEN);
	aside = workspace_path(&workspace, "aside");
	ck_assert_int_eq(web_files_put_token(&workspace, tokens[0], &err), 0);
	ck_assert_int_eq(chmod(path, 0640), 0);
	ck_assert_int_eq(web_files_token(&workspace, token, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, path));
	ck_assert_int_eq(web_files_put_token(&workspace, tokens[0], &err), 0);
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	/* Nor is a link followed. */
	ck_assert_int_eq(rename(path, aside), 0);
	ck_assert_int_eq(symlink("aside", path), 0);
	ck_assert_int_eq(web_files_token(&workspace, token, &err), -EINVAL);
	ck_assert_int_eq(web_files_put_token(&workspace, tokens[1], &err), 0);
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISREG(st.st_mode));
	ck_assert_int_eq(rename(aside, path), 0);
	ck_assert_int_eq(web_files_token(&workspace, token, &err), 0);
	ck_assert_str_eq(token, tokens[0]);
	end();
}

TEST(what_is_no_token_is_not_used)
{
	static const char *const texts[] = { "", "\n", "short\n",
		("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abc"
		 "deg\n"),
		("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abc"
		 "def01\n") };
	char token[WEB_TOKEN_CHARS + 1];
	struct err err = { 0, "" };

	begin("wrong");
	for (size_t i = 0; i < nitems(texts); i++) {
		put(WEB_FILES_TOKEN, texts[i], 0600);
		ck_assert_int_lt(web_files_token(&workspace, token, &err), 0);
	}
	end();
}

TEST(a_token_that_cannot_be_written_is_an_error)
{
	struct err err = { 0, "" };

	begin("broken");
	ck_assert_int_eq(rmdir(workspace.dir), 0);
	ck_assert_int_lt(web_files_put_token(&workspace, tokens[0], &err), 0);
	ck_assert_str_ne(err.msg, "");
	end();
}

TEST(a_link_for_the_browser_is_for_the_user_only)
{
	cleanup_free char *path = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;

	begin("link");
	put(WEB_FILES_LINK, "old", 0644);
	ck_assert_int_eq(
	    web_files_write_link(&workspace, "http://a/#b", &path, NULL), 0);
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(file_read(path, 4096, &text, NULL), 0);
	ck_assert_ptr_nonnull(strstr(text.data, "0; url=http://a/#b\""));
	end();
}
