/* SPDX-License-Identifier: ISC */

#include <dirent.h>

#include "base.h"
#include "evidence-world.h"

void
evidence_world_begin(struct workspace *ws, const char *name)
{
	cleanup_free char *logs = NULL;

	memset(ws, 0, sizeof *ws);
	ws->dir = xstrdup(unit_path(name));
	logs = workspace_path(ws, "logs");
	ck_assert_int_eq(file_mkdirs(logs, 0700, NULL), 0);
}

void
evidence_world_end(struct workspace *ws)
{
	free(ws->dir);
}

void
evidence_world_put_bytes(
    const struct workspace *ws, const char *name, const void *bytes, size_t len)
{
	cleanup_free char *path = workspace_path(ws, name);
	cleanup_fd int fd =
	    open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, bytes, len), 0);
}

void
evidence_world_put(
    const struct workspace *ws, const char *name, const char *text)
{
	evidence_world_put_bytes(ws, name, text, strlen(text));
}

int
evidence_world_try(const struct workspace *ws, pid_t pid, const char *said,
    const char *stamp, struct evidence *evidence, struct err *err)
{
	evidence_read_first(ws, pid, evidence);
	evidence_read_rest(ws, said, 0, INT64_MAX, evidence);
	return evidence_save(ws, stamp, evidence, err);
}

void
evidence_world_collect(
    const struct workspace *ws, pid_t pid, struct evidence *evidence)
{
	struct err err = { 0, "" };

	ck_assert_msg(evidence_world_try(ws, pid, NULL, EVIDENCE_WORLD_STAMP,
			  evidence, &err) == 0,
	    "%s", err.msg);
	ck_assert_ptr_nonnull(evidence->dir);
}

int
evidence_world_count(const char *path)
{
	cleanup_dir DIR *dir = opendir(path);
	int count = 0;

	ck_assert_ptr_nonnull(dir);
	while (dir_next(dir) != NULL)
		count++;
	return count;
}

void
evidence_world_kept(const char *dir, const char *name, const char *text)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_buf struct buf found = BUF_INIT;
	struct stat st;

	ck_assert_int_eq(file_read(path, EVIDENCE_PART_MAX, &found, NULL), 0);
	ck_assert_str_eq(found.data, text);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
}
