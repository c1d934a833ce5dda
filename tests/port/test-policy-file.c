/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "guard.h"
#include "config.h"
#include "workspace.h"

TEST(a_policy_is_replaced_only_when_it_changes)
{
	cleanup_free char *root = file_join(unit_scratch(), "a root");
	cleanup_free char *dir = file_join(root, ".llmc");
	struct workspace w = { .root = root, .dir = dir };
	cleanup_free char *file = policy_file_path(&w, "adam");
	struct guard_policy policy = { 0 }, read;
	struct stat first, second, third;
	struct err err = { 0 };

	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	ck_assert_int_eq(policy_file_load(file, &read, &err), -ENOENT);
	ck_assert_int_lt(policy_file_save(&w, "adam", &policy, &err), 0);
	ck_assert_int_eq(run_dir_make(&w, "adam", &err), 0);
	strv_add(&policy.tools.allow, "Read");
	ck_assert_int_eq(policy_file_save(&w, "adam", &policy, &err), 0);
	ck_assert_int_eq(stat(file, &first), 0);
	ck_assert_int_eq(first.st_mode & 07777, 0600);
	ck_assert_int_eq(policy_file_save(&w, "adam", &policy, &err), 0);
	ck_assert_int_eq(stat(file, &second), 0);
	ck_assert_uint_eq(first.st_ino, second.st_ino);
	strv_add(&policy.tools.allow, "Edit");
	ck_assert_int_eq(policy_file_save(&w, "adam", &policy, &err), 0);
	ck_assert_int_eq(stat(file, &third), 0);
	ck_assert_uint_ne(first.st_ino, third.st_ino);
	ck_assert_int_eq(policy_file_load(file, &read, &err), 0);
	ck_assert_str_eq(read.tools.allow[1], "Edit");
	guard_policy_release(&read);
	guard_policy_release(&policy);
	/* What a power cut may leave of it. */
	for (size_t len = 0; len < 2; len++) {
		ck_assert_int_eq(file_replace(file, "{", len, 0600, NULL), 0);
		ck_assert_int_lt(policy_file_load(file, &read, &err), 0);
		ck_assert(!read.tools.all && read.tools.allow == NULL);
		ck_assert_int_eq(policy_file_save(&w, "adam", &read, &err), 0);
		ck_assert_int_eq(policy_file_load(file, &read, &err), 0);
		guard_policy_release(&read);
	}
}

TEST(a_path_is_followed_to_where_it_leads)
{
	cleanup_free char *base = realpath(unit_scratch(), NULL);
	cleanup_free char *tree = file_join(base, "a tree");
	cleanup_free char *other = file_join(base, "a tree2");
	cleanup_free char *deep = file_join(other, "deep");
	static const struct {
		const char *link, *to;
	} links[] = {
		{ "a tree/out", "../a tree2/deep" },
		{ "a tree/docs/in", "../src" },
		{ "a tree/docs/gone", "../src/new/file.c" },
		{ "a tree/docs/secret", "/etc/passwd" },
		{ "a tree/loop", "loop" },
		{ "a tree/again", "." },
	};
	static const struct {
		const char *cwd, *path, *kernel, *plain;
	} table[] = {
		{ NULL, "src/a.c", "src/a.c", "src/a.c" },
		{ NULL, "./src//a.c", "src/a.c", "src/a.c" },
		{ "src", "a.c", "src/a.c", "src/a.c" },
		{ "src", "../docs/x", "docs/x", "docs/x" },
		{ NULL, "new/folder/x", "new/folder/x", "new/folder/x" },
		{ NULL, "new/../../x", NULL, NULL },
		{ NULL, "", "", "" },
		{ NULL, "../a tree/x", "x", "x" },
		{ NULL, "../a tree2/x", NULL, NULL },
		{ NULL, "/etc/passwd", NULL, NULL },
		{ NULL, "out/x", NULL, NULL },
		{ NULL, "out/../src/a.c", NULL, "src/a.c" },
		{ NULL, "out/../../a tree/src/a", "src/a", "src/a" },
		{ NULL, "docs/in/a.c", "src/a.c", "src/a.c" },
		{ NULL, "docs/in/../x", "x", "docs/x" },
		{ NULL, "docs/gone", "src/new/file.c", "src/new/file.c" },
		{ NULL, "docs/secret", NULL, NULL },
		{ NULL, "loop/x", NULL, NULL },
		{ NULL, "again/again/src/a.c", "src/a.c", "src/a.c" },
	};

	ck_assert_int_eq(file_mkdirs(deep, 0700, NULL), 0);
	ck_assert_int_eq(file_mkdirs(unit_path("a tree/src"), 0700, NULL), 0);
	ck_assert_int_eq(file_mkdirs(unit_path("a tree/docs"), 0700, NULL), 0);
	for (size_t i = 0; i < nitems(links); i++)
		ck_assert_int_eq(
		    symlink(links[i].to, unit_path(links[i].link)), 0);
	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_free char *cwd =
		    table[i].cwd != NULL ? file_join(tree, table[i].cwd) : NULL;

		for (int plain = 0; plain < 2; plain++) {
			cleanup_free char *path =
			    tree_path(tree, cwd, table[i].path, plain);
			const char *want =
			    plain ? table[i].plain : table[i].kernel;

			ck_assert_msg((path == NULL) == (want == NULL) &&
				(path == NULL || strcmp(path, want) == 0),
			    "%s: %s", table[i].path, path);
		}
	}
}
