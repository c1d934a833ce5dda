/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "api.h"
#include "git-ask.h"
#include "root-mark.h"
#include "toml.h"
#include "workspace.h"

#define ROOT_ID_MAX 4096

int
root_id_read(const struct workspace *workspace, char ret_id[ID_UUID_SIZE],
    struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, "root_id");
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	r = file_read(path, ROOT_ID_MAX, &text, err);
	if (r < 0 && r != -EFBIG)
		return r;
	buf_truncate(&text, strcspn(text.data, "\n"));
	if (!id_uuid_valid(text.data))
		return err_set(err, -ENOENT, "%s: expected a UUID", path);
	strlcpy(ret_id, text.data, ID_UUID_SIZE);
	return 0;
}

int
root_id_keep(const struct workspace *workspace, const char *id, struct err *err)
{
	cleanup_free char *path = NULL, *line = NULL;
	char old[ID_UUID_SIZE] = "";

	/* If it cannot be read now, save the state anyway. */
	if (root_id_read(workspace, old, NULL) != -ENOENT)
		return 0;
	path = workspace_path(workspace, "root_id");
	line = xasprintf("%s\n", id);
	return file_replace(path, line, strlen(line), 0600, err);
}

/* A repair may be made before there is any state, and leaves its own. */
static bool
is_of_repairs(const char *name)
{
	size_t len = strlen(CALLER_REPAIR);

	return strncmp(name, CALLER_REPAIR, len) == 0 &&
	    (name[len] == '\0' || name[len] == '.');
}

static bool
has_worktrees(const char *folder)
{
	cleanup_dir DIR *dir = opendir(folder);
	const char *name;
	bool found = false;

	while (!found && (name = dir_next(dir)) != NULL) {
		cleanup_free char *git = xasprintf("%s/%s/.git", folder, name);

		found =
		    name[0] != '.' && !is_of_repairs(name) && file_exists(git);
	}
	return found;
}

bool
root_id_is_lost(
    const struct workspace *workspace, const char *worktrees, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	char id[ID_UUID_SIZE];
	bool known = root_id_read(workspace, id, NULL) == 0;

	if (!known && !has_worktrees(worktrees))
		return false;
	err_set(err, -ENOENT,
	    "%s is gone, or has no state, but llmc has worked here: %s; put "
	    "the file back, or make a new one from the worktrees: llmc doctor "
	    "--rebuild",
	    path,
	    known ? "there is a root_id beside it" : "there are worktrees");
	return true;
}

#define CONFIG ".llmc/config.toml"

/* The first line of the mark; accepted settings follow. */
static const char title[] = "llmc init was run in this repository\n";

static char *
mark_file(const struct workspace *ws)
{
	return file_join(ws->git_dir, "llmc-init");
}

const char *const root_mark_question[] = { "ls-files", "--error-unmatch", "--",
	CONFIG, NULL };

bool
root_mark_is_untracked(const struct workspace *ws)
{
	return git_ask_lacks(ws->root, ".llmc/");
}

static int
is_tracked(const struct workspace *ws, struct err *err)
{
	int r = git_ask(ws->root, root_mark_question, NULL, err);

	/* 1 means no; more is an error, such as a wrong owner. */
	if (r == 0)
		return 1;
	return r == 1 ? 0 : (r < 0 ? r : -EIO);
}

/* The mark, if it is this user's own file and no link: another user cannot have
 * made it. */
static int
read_mark(const struct workspace *ws, struct buf *out)
{
	cleanup_free char *file = mark_file(ws);
	struct stat st;

	if (lstat(file, &st) == -1)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_nlink != 1 || (st.st_mode & 022) != 0)
		return -EPERM;
	return file_read(file, TOML_SIZE_MAX + sizeof title, out, NULL);
}

static int
read_config(const struct workspace *ws, struct buf *out, struct err *err)
{
	cleanup_free char *file = workspace_path(ws, "config.toml");

	return file_read(file, TOML_SIZE_MAX, out, err);
}

static bool
holds(const struct buf *mark, const struct buf *config)
{
	size_t len = strlen(title);

	return mark->len == len + config->len &&
	    memcmp(mark->data + len, config->data, config->len) == 0;
}

int
root_mark_refuse_tracked(const struct workspace *ws, struct err *err)
{
	return err_set(err, -EPERM,
	    "%s/" CONFIG " is tracked by git and has changed, and settings run "
	    "commands; look at it, then run: llmc init",
	    ws->root);
}

int
root_mark_judge(
    const struct workspace *ws, const struct buf *config, struct err *err)
{
	cleanup_buf struct buf mark = BUF_INIT;

	if (!workspace_initialised(ws))
		return err_set(err, -ENOENT,
		    "%s is not set up for llmc; run: llmc init", ws->root);
	if (read_mark(ws, &mark) < 0)
		return err_set(err, -EPERM,
		    "%s/" CONFIG " was not set up here by you, and settings "
		    "run commands; look at it, then run: llmc init",
		    ws->root);
	if (mark.len == strlen(title))
		return -EAGAIN;
	if (holds(&mark, config))
		return 0;
	return root_mark_refuse_tracked(ws, err);
}

int
root_mark_check(const struct workspace *ws, struct err *err)
{
	cleanup_buf struct buf config = BUF_INIT;
	int r;

	/* A file that cannot be read is reported by its reader. */
	read_config(ws, &config, NULL);
	r = root_mark_judge(ws, &config, err);
	if (r != -EAGAIN)
		return r;
	/* Empty ones run nothing. */
	if (config.len > 0 && !root_mark_is_untracked(ws) &&
	    is_tracked(ws, NULL) == 1)
		return root_mark_refuse_tracked(ws, err);
	return 0;
}

static int
write_mark(
    const struct workspace *ws, const struct buf *config, struct err *err)
{
	cleanup_free char *file = mark_file(ws);
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;

	buf_adds(&text, title);
	buf_add(&text, config->data, config->len);
	/* Never through a link, nor into another's file. */
	if (lstat(file, &st) == 0 && unlink(file) == -1 && errno != ENOENT)
		return err_errno(err, -errno, "cannot replace %s", file);
	return file_replace(file, text.data, text.len, 0600, err);
}

int
root_mark_write(const struct workspace *ws, struct err *err)
{
	cleanup_free char *file = workspace_path(ws, "config.toml");
	cleanup_buf struct buf config = BUF_INIT;
	int r = is_tracked(ws, err);

	if (r == 1)
		r = read_config(ws, &config, err);
	if (r >= 0)
		r = write_mark(ws, &config, err);
	if (r == 0)
		utimensat(AT_FDCWD, file, NULL, 0); /* a daemon watches it */
	return r;
}

int
root_mark_follow(
    const struct workspace *ws, const struct buf *config, struct err *err)
{
	cleanup_buf struct buf mark = BUF_INIT;

	if (read_mark(ws, &mark) < 0 || mark.len == strlen(title))
		return 0;
	return write_mark(ws, config, err);
}
