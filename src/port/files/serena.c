/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "lock.h"
#include "mem.h"
#include "serena-list.h"
#include "serena.h"
#include "workspace.h"

#define TEXT_MAX (4 * 1024 * 1024)
#define PATTERN  "/.serena/"

/* Is there such a line already? */
static bool
has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (; *text != '\0'; text += strspn(text, "\r\n")) {
		size_t there = strcspn(text, "\r\n");

		if (there == len && memcmp(text, line, len) == 0)
			return true;
		text += there;
	}
	return false;
}

/* If there is a link, we would write somewhere else. */
static int
check_no_link(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return err_set(err, -EINVAL,
		    "%s is a link; llmc writes only into the worktree", path);
	return 0;
}

/* A clone's git folder is its worker's, the repository's is the user's. */
static int
check_clone(
    const char *worktree, const char *info, const char *file, struct err *err)
{
	cleanup_free char *git = file_join(worktree, ".git");
	struct stat st;
	int r = check_no_link(git, err);

	if (r < 0 || lstat(git, &st) == -1 || !S_ISDIR(st.st_mode))
		return r;
	r = check_no_link(info, err);
	return r < 0 ? r : check_no_link(file, err);
}

static int
keep_out_of_git(const char *worktree, struct err *err)
{
	cleanup_workspace struct workspace ws = { 0 };
	cleanup_free char *info = NULL, *file = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	int r = workspace_find(worktree, &ws, err);

	if (r < 0)
		return r;
	info = file_join(ws.git_dir, "info");
	file = file_join(info, "exclude");
	r = check_clone(worktree, info, file, err);
	if (r < 0)
		return r;
	r = file_read(file, TEXT_MAX, &text, err);
	if (r < 0 && r != -ENOENT)
		return r;
	if (has_line(text.data, PATTERN))
		return 0;
	r = file_mkdirs(info, 0755, err);
	if (r < 0)
		return r;
	return file_append(
	    file, PATTERN "\n", strlen(PATTERN "\n"), 0644, true, err);
}

static int
name_project(const char *worktree, const char *name, struct err *err)
{
	cleanup_free char *dir = file_join(worktree, ".serena");
	cleanup_free char *file = file_join(dir, "project.yml");
	cleanup_buf struct buf old = BUF_INIT, text = BUF_INIT;
	int r = check_no_link(dir, err);

	if (r == 0)
		r = check_no_link(file, err);
	if (r < 0)
		return r;
	r = file_read(file, TEXT_MAX, &old, err);
	if (r < 0 && r != -ENOENT)
		return r;
	if (serena_name_set(old.data, old.len, name, &text) == 0)
		return 0;
	r = file_mkdirs(dir, 0755, err);
	if (r < 0)
		return r;
	return file_replace(file, text.data, text.len, 0644, err);
}

/* Serena itself takes no lock; this one is for other daemons of llmc. */
static int
register_project(const char *worktree, const char *config, struct err *err)
{
	cleanup_free char *path = xasprintf("%s.llmc-lock", config);
	cleanup_buf struct buf old = BUF_INIT, text = BUF_INIT;
	cleanup_fd int lock = -1;
	int r;

	if (!file_exists(config))
		return 0;
	lock = lock_try(path, err);
	if (lock < 0)
		return lock;
	r = file_read(config, TEXT_MAX, &old, err);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = serena_list_add(old.data, old.len, worktree, &text, err);
	if (r < 0)
		err_prefix(err, "%s", config);
	if (r <= 0)
		return r;
	return file_replace(config, text.data, text.len, 0600, err);
}

int
serena_prepare(const char *worktree, const char *name, const char *config,
    unsigned facts, struct err *err)
{
	int r = 0;

	if ((facts & SERENA_TRACKED) == 0) {
		if ((facts & SERENA_IGNORED) == 0)
			r = keep_out_of_git(worktree, err);
		if (r == 0)
			r = name_project(worktree, name, err);
	}
	if (r == 0)
		r = register_project(worktree, config, err);
	return r;
}
