/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "workspace.h"

static struct workspace
make_root(const char *name)
{
	struct workspace w = { .root = file_join(unit_scratch(), name) };

	w.dir = file_join(w.root, ".llmc");
	ck_assert_int_eq(file_mkdirs(w.dir, 0700, NULL), 0);
	return w;
}

static void
release(struct workspace *w)
{
	free(w->root);
	free(w->dir);
}

static void
assert_private(const char *dir)
{
	struct stat st;

	ck_assert_int_eq(lstat(dir, &st), 0);
	ck_assert(S_ISDIR(st.st_mode));
	ck_assert_int_eq(st.st_mode & 07777, 0700);
}

TEST(folders_are_private_and_removed_whole)
{
	struct workspace w = make_root("a root");
	cleanup_free char *dir = run_dir_path(&w, "adam");
	cleanup_free char *spool = run_dir_spool(&w, "adam");
	cleanup_free char *event = file_join(spool, "event.json");
	cleanup_free char *other = run_dir_path(&w, "eve");

	ck_assert_int_eq(run_dir_make(&w, "adam", NULL), 0);
	ck_assert_int_eq(run_dir_make(&w, "eve", NULL), 0);
	assert_private(dir);
	assert_private(spool);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(file_replace(event, "x", 1, 0600, NULL), 0);
	ck_assert_int_eq(run_dir_make(&w, "adam", NULL), 0);
	assert_private(dir);
	ck_assert(file_exists(event));
	run_dir_remove(&w, "adam");
	ck_assert(!file_exists(dir));
	ck_assert(file_is_dir(other));
	release(&w);
}

TEST(links_are_refused)
{
	struct workspace w = make_root("links");
	cleanup_free char *dir = run_dir_path(&w, "adam");
	struct err err = { 0 };

	ck_assert_int_eq(run_dir_make(&w, "eve", NULL), 0);
	ck_assert_int_eq(symlink("/tmp", dir), 0);
	ck_assert_int_eq(run_dir_make(&w, "adam", &err), -EPERM);
	ck_assert_ptr_nonnull(strstr(err.msg, "remove it"));
	run_dir_remove(&w, "adam");
	ck_assert(!file_exists(dir));
	ck_assert(file_is_dir("/tmp"));
	release(&w);
}

TEST(sockets_of_deep_roots_are_elsewhere)
{
	struct workspace shallow = make_root("r");
	struct workspace deep = { 0 };
	cleanup_free char *near = run_dir_socket(&shallow, "adam");
	cleanup_free char *far = NULL, *dir = NULL, *same = NULL;
	char name[101];

	memset(name, 'd', 100);
	name[100] = '\0';
	deep = make_root(name);
	setenv("XDG_RUNTIME_DIR", unit_scratch(), 1);
	ck_assert(strncmp(near, shallow.dir, strlen(shallow.dir)) == 0);
	far = run_dir_socket(&deep, "adam");
	same = run_dir_socket_outside(&deep, "adam");
	dir = run_dir_socket_dir(&deep, "adam");
	ck_assert_str_eq(far, same);
	ck_assert_uint_lt(strlen(far), 108);
	ck_assert(strncmp(far, deep.dir, strlen(deep.dir)) != 0);
	ck_assert_int_eq(run_dir_make(&deep, "adam", NULL), 0);
	assert_private(dir);
	run_dir_remove(&deep, "adam");
	ck_assert(!file_exists(dir));
	ck_assert_int_eq(run_dir_make_outside(far, NULL), 0);
	assert_private(dir);
	run_dir_remove(&deep, "adam");
	release(&deep);
	release(&shallow);
}

TEST(hooks_wait_while_they_are_told_to)
{
	struct workspace w = make_root("wait");
	cleanup_free char *socket = run_dir_socket(&w, "adam");
	cleanup_free char *file = xasprintf("%s.wait", socket);
	cleanup_free char *other = file_join(w.root, "other");

	run_dir_wait(&w, "adam", true); /* no folder: not an error */
	ck_assert(!run_dir_waits(socket));
	ck_assert_int_eq(run_dir_make(&w, "adam", NULL), 0);
	for (int i = 0; i < 2; i++) {
		run_dir_wait(&w, "adam", true);
		run_dir_wait(&w, "adam", true);
		ck_assert(run_dir_waits(socket));
		run_dir_wait(&w, "adam", false);
		run_dir_wait(&w, "adam", false);
		ck_assert(!run_dir_waits(socket));
	}
	/* Of a link nothing is made. */
	ck_assert_int_eq(symlink(other, file), 0);
	run_dir_wait(&w, "adam", true);
	ck_assert(!file_exists(other));
	release(&w);
}
