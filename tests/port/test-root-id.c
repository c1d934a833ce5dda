/* SPDX-License-Identifier: ISC */

#include "id.h"
#include "unit.h"
#include "workspace.h"

#define OTHER "00000000-0000-4000-8000-000000000000"

/* A workspace that is only a folder, and has a name. */
static struct place {
	struct workspace ws;
	char *id_file;
	char id[ID_UUID_SIZE];
} p;

static void
place_end(void)
{
	free(p.ws.dir);
	free(p.id_file);
}

static void
place_begin(const char *name)
{
	memset(&p, 0, sizeof p);
	p.ws.dir = xstrdup(unit_path(name));
	ck_assert_int_eq(file_mkdirs(p.ws.dir, 0700, NULL), 0);
	p.id_file = workspace_path(&p.ws, "root_id");
	id_uuid(p.id);
	ck_assert_int_eq(root_id_keep(&p.ws, p.id, NULL), 0);
	unit_at_end(place_end);
}

/* Overwrite the file in place. */
static void
scribble(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, text, strlen(text)), 0);
	fd_close(fd);
}

TEST(the_first_save_names_the_root)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *want = NULL;
	char id[ID_UUID_SIZE] = "untouched";
	struct workspace empty = { 0 };
	struct stat st;

	empty.dir = xstrdup(unit_path("unnamed"));
	ck_assert_int_eq(root_id_read(&empty, id, NULL), -ENOENT);
	ck_assert_str_eq(id, "untouched");
	free(empty.dir);
	place_begin("named");
	want = xasprintf("%s\n", p.id);
	ck_assert_int_eq(file_read(p.id_file, 1000, &text, NULL), 0);
	ck_assert_str_eq(text.data, want);
	ck_assert_int_eq(stat(p.id_file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(root_id_read(&p.ws, id, NULL), 0);
	ck_assert_str_eq(id, p.id);
}

TEST(the_name_of_the_root_stays)
{
	char id[ID_UUID_SIZE] = "";

	place_begin("stays");
	ck_assert_int_eq(root_id_keep(&p.ws, OTHER, NULL), 0);
	ck_assert_int_eq(root_id_read(&p.ws, id, NULL), 0);
	ck_assert_str_eq(id, p.id);
}

/* A folder with worktrees, and no name. */
TEST(a_name_or_worktrees_tell_that_there_was_a_state)
{
	cleanup_free char *trees = xstrdup(unit_path("trees"));
	cleanup_free char *repair = file_join(trees, "overseer/.git");
	cleanup_free char *own = file_join(trees, "adam/.git");
	struct err err = { 0, "" };

	place_begin("was");
	ck_assert(root_id_is_lost(&p.ws, trees, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "root_id"));
	ck_assert_ptr_nonnull(strstr(err.msg, "llmc doctor --rebuild"));
	ck_assert_int_eq(unlink(p.id_file), 0);
	ck_assert(!root_id_is_lost(&p.ws, trees, &err));
	ck_assert_int_eq(file_mkdirs(repair, 0700, NULL), 0);
	ck_assert(!root_id_is_lost(&p.ws, trees, &err));
	ck_assert_int_eq(file_mkdirs(own, 0700, NULL), 0);
	ck_assert(root_id_is_lost(&p.ws, trees, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "worktrees"));
}

TEST(a_name_that_is_none_is_written_anew)
{
	static const char *const texts[] = { "", "\n", "me\n", OTHER "x\n" };
	cleanup_free char *lines = xcalloc(1, 5001);
	char id[ID_UUID_SIZE] = "";
	struct err err = { 0, "" };

	place_begin("none");
	memset(lines, '\n', 5000);
	for (size_t i = 0; i <= nitems(texts); i++) {
		scribble(p.id_file, i < nitems(texts) ? texts[i] : lines);
		ck_assert_int_eq(root_id_read(&p.ws, id, &err), -ENOENT);
		ck_assert_ptr_nonnull(strstr(err.msg, p.id_file));
		ck_assert_int_eq(root_id_keep(&p.ws, p.id, NULL), 0);
		ck_assert_int_eq(root_id_read(&p.ws, id, NULL), 0);
		ck_assert_str_eq(id, p.id);
	}
	/* Edited by hand, without its newline or with more text. */
	scribble(p.id_file, OTHER);
	ck_assert_int_eq(root_id_read(&p.ws, id, NULL), 0);
	ck_assert_str_eq(id, OTHER);
	scribble(p.id_file, OTHER "\nmore\n");
	ck_assert_int_eq(root_id_read(&p.ws, id, NULL), 0);
	ck_assert_str_eq(id, OTHER);
}

TEST(a_name_that_cannot_be_read_does_not_stop_a_save)
{
	char id[ID_UUID_SIZE] = "";

	place_begin("unreadable");
	ck_assert_int_eq(unlink(p.id_file), 0);
	ck_assert_int_eq(mkdir(p.id_file, 0700), 0);
	ck_assert_int_eq(root_id_read(&p.ws, id, NULL), -EISDIR);
	ck_assert_int_eq(root_id_keep(&p.ws, p.id, NULL), 0);
	ck_assert(file_is_dir(p.id_file));
}

/* Save again and again; the parent kills us at some point. */
static void
save_for_ever(int tell)
{
	for (;;) {
		unlink(p.id_file);
		if (root_id_keep(&p.ws, p.id, NULL) < 0 ||
		    write(tell, "x", 1) != 1)
			_exit(1);
	}
}

TEST(killed_anywhere_the_name_is_whole_or_not_there)
{
	char id[ID_UUID_SIZE] = "", byte = 0;

	place_begin("killed");
	for (int i = 0; i < 8; i++) {
		int tell[2], status = 0, r;
		pid_t pid;

		ck_assert_int_eq(pipe(tell), 0);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			save_for_ever(tell[1]);
		for (int n = 0; n <= i; n++)
			ck_assert_int_eq(read(tell[0], &byte, 1), 1);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status));
		fd_close(tell[0]);
		fd_close(tell[1]);
		r = root_id_read(&p.ws, id, NULL);
		ck_assert(r == -ENOENT || strcmp(id, p.id) == 0);
	}
}
