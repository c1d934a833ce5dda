/* SPDX-License-Identifier: ISC */

#include "unit.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config.h"
#include "settings.h"
#include "workspace.h"

static unsigned test_number;

/* A folder for each test, even if all share one process. */
static void
begin(void)
{
	test_number++;
}

static const char *
path(const char *name)
{
	cleanup_free char *mine = xasprintf("%u/%s", test_number, name);

	return unit_path(mine);
}

static void
make_dir(const char *name)
{
	ck_assert_int_eq(file_mkdirs(path(name), 0755, NULL), 0);
}

static void
make_file(const char *name, const char *text)
{
	ck_assert_int_eq(
	    file_replace(path(name), text, strlen(text), 0644, NULL), 0);
}

/* What git accepts as a git directory; the search does not run git. */
static void
make_git_dir(const char *name)
{
	cleanup_free char *objects = xasprintf("%s/objects", name);
	cleanup_free char *refs = xasprintf("%s/refs", name);
	cleanup_free char *head = xasprintf("%s/HEAD", name);

	make_dir(objects);
	make_dir(refs);
	make_file(head, "ref: refs/heads/main\n");
}

static void
assert_found(
    const char *start, const char *root, const char *git_dir, bool in_worktree)
{
	cleanup_workspace struct workspace ws = { 0 };
	cleanup_free char *dir = xasprintf("%s/.llmc", path(root));
	struct err err = { 0 };

	ck_assert_msg(
	    workspace_find(start, &ws, &err) == 0, "%s: %s", start, err.msg);
	ck_assert_str_eq(ws.root, path(root));
	ck_assert_str_eq(ws.git_dir, path(git_dir));
	ck_assert_str_eq(ws.dir, dir);
	ck_assert(ws.in_worktree == in_worktree);
}

static void
assert_not_found(const char *start, int code, const char *words)
{
	struct workspace ws = { 0 };
	struct err err = { 0 };

	ck_assert_int_eq(workspace_find(start, &ws, &err), code);
	ck_assert_int_eq(err.code, code);
	ck_assert_msg(strstr(err.msg, words) != NULL, "%s", err.msg);
	ck_assert_ptr_null(ws.root);
	ck_assert_int_eq(workspace_find(start, &ws, NULL), code);
}

TEST(found_at_the_top_and_from_below)
{
	begin();
	make_git_dir("r/.git");
	make_dir("r/a/b");
	assert_found(path("r"), "r", "r/.git", false);
	assert_found(path("r/a/b"), "r", "r/.git", false);
	assert_found(path("r/a/../a"), "r", "r/.git", false);
	ck_assert_int_eq(chdir(path("r/a")), 0);
	assert_found(".", "r", "r/.git", false);
}

/* A worker in a sandbox has one; a repository that somebody has put there is
 * its own. */
TEST(a_clone_of_a_worker_is_of_the_repository_around_it)
{
	cleanup_free char *objects = NULL;

	begin();
	make_git_dir("r/.git");
	make_dir("r/.llmc");
	make_file("r/.llmc/config.toml", "");
	make_git_dir("r/.worktrees/ann/.git");
	make_dir("r/.worktrees/ann/a");
	assert_found(path("r/.worktrees/ann/a"), "r/.worktrees/ann",
	    "r/.worktrees/ann/.git", false);
	make_dir("r/.worktrees/ann/.git/objects/info");
	objects = xasprintf("%s\n", path("r/.git/objects"));
	make_file("r/.worktrees/ann/.git/objects/info/alternates", objects);
	assert_found(path("r/.worktrees/ann/a"), "r", "r/.git", true);
	/* Elsewhere it is the user's. */
	make_git_dir("s/.git");
	make_dir("s/.git/objects/info");
	make_file("s/.git/objects/info/alternates", objects);
	assert_found(path("s"), "s", "s/.git", false);
}

TEST(links_are_resolved)
{
	begin();
	make_git_dir("r/.git");
	make_dir("r/a");
	ck_assert_int_eq(symlink("r/a", path("link")), 0);
	assert_found(path("link"), "r", "r/.git", false);
	make_dir("s");
	ck_assert_int_eq(symlink("../r/.git", path("s/.git")), 0);
	assert_found(path("s"), "s", "r/.git", false);
}

TEST(nothing_is_found_outside)
{
	begin();
	make_dir("plain");
	assert_not_found(path("plain"), -ENOENT, "git init");
	assert_not_found(path("nowhere"), -ENOENT, "nowhere");
	assert_not_found("/", -ENOENT, "git init");
	make_file("plain/file", "");
	assert_not_found(path("plain/file/x"), -ENOTDIR, "file/x");
}

TEST(a_git_folder_that_is_none_is_passed_over)
{
	begin();
	make_git_dir("r/.git");
	make_dir("r/a/.git/objects");
	assert_found(path("r/a"), "r", "r/.git", false);
	make_dir("plain/.git");
	assert_not_found(path("plain"), -ENOENT, "git init");
	ck_assert_int_eq(symlink("nowhere", path("plain/dead")), 0);
	make_dir("t");
	ck_assert_int_eq(symlink("nowhere", path("t/.git")), 0);
	assert_not_found(path("t"), -ENOENT, "git init");
}

TEST(inside_of_a_git_folder_is_refused)
{
	begin();
	make_git_dir("bare");
	assert_not_found(path("bare"), -ENOTSUP, "bare repository");
	make_git_dir("r/.git");
	assert_not_found(path("r/.git"), -ENOTSUP, "working tree");
	assert_not_found(path("r/.git/refs"), -ENOTSUP, "working tree");
}

TEST(worktree_leads_to_the_main_tree)
{
	cleanup_free char *absolute = NULL;

	begin();
	absolute = xasprintf("gitdir: %s\n", path("r/.git/worktrees/side"));
	make_git_dir("r/.git");
	make_dir("r/.git/worktrees/side");
	make_file("r/.git/worktrees/side/commondir", "../..\n");
	make_dir("side/below");
	make_file("side/.git", absolute);
	assert_found(path("side"), "r", "r/.git", true);
	assert_found(path("side/below"), "r", "r/.git", true);
	/* Relative ones begin at the worktree; CRLF is fine. */
	make_file("side/.git", "gitdir: ../r/.git/worktrees/side\r\n");
	assert_found(path("side"), "r", "r/.git", true);
}

TEST(worktree_of_a_bare_repository_is_refused)
{
	begin();
	make_git_dir("bare.git");
	make_dir("bare.git/worktrees/side");
	make_file("bare.git/worktrees/side/commondir", "../..\n");
	make_dir("side");
	make_file("side/.git", "gitdir: ../bare.git/worktrees/side\n");
	assert_not_found(path("side"), -ENOTSUP, "main working tree");
}

TEST(submodule_is_its_own_root)
{
	begin();
	make_git_dir("outer/.git");
	make_git_dir("outer/.git/modules/mod");
	make_dir("outer/mod/deep");
	make_file("outer/mod/.git", "gitdir: ../.git/modules/mod\n");
	assert_found(path("outer/mod/deep"), "outer/mod",
	    "outer/.git/modules/mod", false);
}

TEST(broken_git_files_are_told)
{
	static const char big[9000] = { 0 };
	int fd;

	begin();
	make_dir("r");
	make_file("r/.git", "");
	assert_not_found(path("r"), -EINVAL, "gitdir: ");
	make_file("r/.git", "gitdir:\n");
	assert_not_found(path("r"), -EINVAL, "gitdir: ");
	make_file("r/.git", "gitdir: /no/such\n");
	assert_not_found(path("r"), -ENOENT, "/no/such");
	ck_assert_int_eq(unlink(path("r/.git")), 0);
	ck_assert_int_eq(mkfifo(path("r/.git"), 0600), 0);
	assert_not_found(path("r"), -EINVAL, ".git");
	ck_assert_int_eq(unlink(path("r/.git")), 0);
	fd = open(path("r/.git"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(file_write_all(fd, big, sizeof big), 0);
	fd_close(fd);
	assert_not_found(path("r"), -EFBIG, ".git");
}

TEST(named_root_must_be_the_top)
{
	cleanup_workspace struct workspace ws = { 0 }, side = { 0 };
	struct workspace none = { 0 };
	struct err err = { 0 };

	begin();
	make_git_dir("r/.git");
	make_dir("r/.git/worktrees/side");
	make_file("r/.git/worktrees/side/commondir", "../..\n");
	make_dir("r/a");
	make_dir("side/below");
	make_file("side/.git", "gitdir: ../r/.git/worktrees/side\n");
	ck_assert_int_eq(workspace_at(path("r"), &ws, &err), 0);
	ck_assert_str_eq(ws.root, path("r"));
	ck_assert_int_eq(workspace_at(path("r/a"), &none, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "is not the top"));
	ck_assert_ptr_null(none.root);
	ck_assert_int_eq(workspace_at(path("x"), &none, &err), -ENOENT);
	ck_assert_int_eq(workspace_at(path("side/below"), &side, &err), 0);
	ck_assert_str_eq(side.root, path("r"));
}

TEST(initialised_is_folder_and_config)
{
	cleanup_workspace struct workspace ws = { 0 };

	begin();
	make_git_dir("r/.git");
	ck_assert_int_eq(workspace_find(path("r"), &ws, NULL), 0);
	ck_assert(!workspace_initialised(&ws));
	make_dir("r/.llmc");
	ck_assert(!workspace_initialised(&ws));
	make_file("r/.llmc/config.toml", "");
	ck_assert(workspace_initialised(&ws));
}

/* Root can look into every folder, but not without its capabilities. */
TEST(a_folder_that_cannot_be_looked_into_counts_as_set_up)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct had[2], none[2];
	cleanup_workspace struct workspace ws = { 0 };
	bool there;

	begin();
	make_git_dir("r/.git");
	make_dir("r/.llmc");
	ck_assert_int_eq(workspace_find(path("r"), &ws, NULL), 0);
	ck_assert_int_eq(syscall(SYS_capget, &head, had), 0);
	memcpy(none, had, sizeof none);
	none[0].effective = none[1].effective = 0;
	ck_assert_int_eq(syscall(SYS_capset, &head, none), 0);
	ck_assert_int_eq(chmod(ws.dir, 0), 0);
	there = workspace_initialised(&ws);
	ck_assert_int_eq(chmod(ws.dir, 0700), 0);
	ck_assert_int_eq(syscall(SYS_capset, &head, had), 0);
	ck_assert(there);
}

TEST(paths_start_at_the_root)
{
	cleanup_workspace struct workspace ws = { 0 };
	cleanup_free char *file = NULL, *tree = NULL, *absolute = NULL;

	begin();
	make_git_dir("r/.git");
	ck_assert_int_eq(workspace_find(path("r"), &ws, NULL), 0);
	file = workspace_path(&ws, "config.toml");
	ck_assert_str_eq(file, path("r/.llmc/config.toml"));
	tree = workspace_resolve(&ws, ".worktrees");
	ck_assert_str_eq(tree, path("r/.worktrees"));
	absolute = workspace_resolve(&ws, "/else/where");
	ck_assert_str_eq(absolute, "/else/where");
	workspace_release(&ws);
	ck_assert_ptr_null(ws.root);
	workspace_release(&ws); /* a second time is harmless */
}

TEST(paths_inside_the_root)
{
	static const struct {
		const char *path, *inside;
	} table[] = {
		{ ".worktrees", ".worktrees" },
		{ "./a//b/../c/", "a/c" },
		{ "a/..", NULL },
		{ ".", NULL },
		{ "../r2/x", NULL },
		{ "../r/x", "x" },
		{ "/", NULL },
		{ "/else", NULL },
	};
	struct workspace ws;
	cleanup_free char *absolute = NULL, *linked = NULL;

	begin();
	make_git_dir("r/.git");
	make_dir("r/in");
	ck_assert_int_eq(symlink(path("r/in"), path("link")), 0);
	ck_assert_int_eq(workspace_find(path("r"), &ws, NULL), 0);
	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_free char *inside =
		    workspace_inside(&ws, table[i].path);

		if (table[i].inside == NULL)
			ck_assert_msg(inside == NULL, "%s", inside);
		else
			ck_assert_str_eq(inside, table[i].inside);
	}
	absolute = workspace_inside(&ws, path("r/a/../b"));
	ck_assert_str_eq(absolute, "b");
	linked = workspace_inside(&ws, path("link"));
	ck_assert_str_eq(linked, "in");
	workspace_release(&ws);
}

/* Each command reads the settings, and git is slow. */
TEST(git_is_asked_for_the_branch_only_where_none_is_set)
{
	static const struct {
		const char *config, *branch;
		bool asked;
	} rows[] = {
		{ "[repo]\ndefault_branch = \"mine\"\n", "mine", false },
		{ "[repo]\n", "theirs", true },
	};
	cleanup_free char *old = xstrdup(getenv("PATH")), *new = NULL;
	cleanup_free char *git = NULL;

	begin();
	make_git_dir("a/.git");
	make_dir("a/.llmc");
	make_dir("bin");
	git = xasprintf("#!/bin/sh\n>'%s'\necho refs/remotes/origin/theirs\n",
	    path("asked"));
	make_file("bin/git", git);
	ck_assert_int_eq(chmod(path("bin/git"), 0755), 0);
	new = xasprintf("%s:%s", path("bin"), old);
	setenv("PATH", new, 1);
	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_workspace struct workspace ws = { 0 };
		struct settings *settings = NULL;
		struct err err = { 0 };

		make_file("a/.llmc/config.toml", rows[i].config);
		ck_assert_int_eq(workspace_at(path("a"), &ws, &err), 0);
		ck_assert_msg(config_load_strict(&ws, &settings, &err) == 0,
		    "%s", err.msg);
		ck_assert_str_eq(
		    settings_string(settings, "repo.default_branch"),
		    rows[i].branch);
		ck_assert(file_exists(path("asked")) == rows[i].asked);
		settings_free(settings);
	}
	setenv("PATH", old, 1);
}
