/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "caller.h"
#include "errtext.h"
#include "file.h"
#include "id.h"
#include "json.h"
#include "mem.h"
#include "state-file.h"
#include "state.h"
#include "workspace.h"

#define ROOT_ID_MAX 4096

static struct state_mark
mark_from(const struct stat *st)
{
	return (struct state_mark){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = st->st_size,
		.written = st->st_mtim,
	};
}

/* All zero if there is no file. */
static int
mark_read(const char *path, struct state_mark *ret_mark)
{
	struct state_mark mark = { 0 };
	struct stat st;

	if (stat(path, &st) == 0)
		mark = mark_from(&st);
	else if (errno != ENOENT)
		return -errno;
	*ret_mark = mark;
	return 0;
}

/* The same, but a file that cannot be examined counts as missing. */
static struct state_mark
mark_of(const char *path)
{
	struct state_mark mark = { 0 };

	mark_read(path, &mark);
	return mark;
}

static bool
mark_equal(const struct state_mark *a, const struct state_mark *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	    a->written.tv_sec == b->written.tv_sec &&
	    a->written.tv_nsec == b->written.tv_nsec;
}

static int
load_file(
    const char *path, int64_t now_ms, struct state *ret_state, struct err *err)
{
	/* First, so that the mark does not match if the file is replaced
	 * meanwhile. */
	struct state_mark mark = mark_of(path);
	cleanup_buf struct buf text = BUF_INIT;
	struct state state;
	int r;

	r = file_read(path, STATE_SIZE_MAX, &text, err);
	if (r < 0)
		return r;
	r = state_parse(text.data, text.len, now_ms, &state, err);
	if (r < 0) {
		err_prefix(err, "%s", path);
		return r;
	}
	state.mark = mark;
	*ret_state = state;
	return 0;
}

/* Is the file itself broken? If descriptors or permissions are missing, a later
 * try may succeed. */
static bool
is_broken(int r)
{
	return r == -EINVAL || r == -E2BIG || r == -EFBIG || r == -EIO ||
	    r == -EISDIR;
}

int
state_file_root_id(const struct workspace *workspace, char ret_id[ID_UUID_SIZE],
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

/* Write the id of the root, once. */
static int
keep_root_id(const struct workspace *workspace, const struct state *state,
    struct err *err)
{
	cleanup_free char *path = NULL, *line = NULL;
	char id[ID_UUID_SIZE] = "";

	/* If it cannot be read now, save the state anyway. */
	if (state_file_root_id(workspace, id, NULL) != -ENOENT)
		return 0;
	path = workspace_path(workspace, "root_id");
	line = xasprintf("%s\n", state->root_id);
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
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	bool found = false;

	while (dir != NULL && !found && (entry = readdir(dir)) != NULL) {
		cleanup_free char *git =
		    xasprintf("%s/%s/.git", folder, entry->d_name);

		found = entry->d_name[0] != '.' &&
		    !is_of_repairs(entry->d_name) && file_exists(git);
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}

bool
state_file_is_lost(
    const struct workspace *workspace, const char *worktrees, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, "state.json");
	cleanup_free char *backup = workspace_path(workspace, "state.json.bak");
	char id[ID_UUID_SIZE];
	bool known = state_file_root_id(workspace, id, NULL) == 0;

	if (file_exists(path) || file_exists(backup) ||
	    (!known && !has_worktrees(worktrees)))
		return false;
	err_set(err, -ENOENT,
	    "%s and its backup are gone, but llmc has worked here: %s; put the "
	    "file back, or make a new one from the worktrees: llmc doctor "
	    "--rebuild",
	    path,
	    known ? "there is a root_id beside it" : "there are worktrees");
	return true;
}

int
state_file_load(const struct workspace *workspace, int64_t now_ms,
    struct state *ret_state, char **ret_recovered, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, "state.json");
	cleanup_free char *backup = workspace_path(workspace, "state.json.bak");
	struct err first = { 0, "" }, second = { 0, "" };
	int r, b;

	*ret_recovered = NULL;
	r = load_file(path, now_ms, ret_state, &first);
	if (r == 0)
		return 0;
	if (r != -ENOENT && !is_broken(r))
		return err_set(err, r, "%s", first.msg);
	b = load_file(backup, now_ms, ret_state, &second);
	if (b == 0) {
		memset(&ret_state->mark, 0, sizeof ret_state->mark);
		*ret_recovered =
		    xasprintf("%s; the last good state was loaded from %s",
			first.msg, backup);
		return 0;
	}
	if (r == -ENOENT && b == -ENOENT) {
		state_init(ret_state);
		/* Keep the id, if this root had a state before. */
		state_file_root_id(workspace, ret_state->root_id, NULL);
		return 0;
	}
	if (b != -ENOENT && !is_broken(b))
		return err_set(err, b, "%s", second.msg);
	return err_set(err, -EINVAL,
	    "%s, and its backup cannot be used either: %s; fix one of them by "
	    "hand, or run: llmc doctor --rebuild",
	    first.msg, second.msg);
}

/* Give the file a second name, atomically; replaces what had that name. */
static int
link_over(const char *path, const char *to)
{
	cleanup_free char *temporary = xasprintf("%s.tmp", to);
	int r = 0;

	unlink(temporary);
	if (linkat(AT_FDCWD, path, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) ==
	    -1)
		return -errno;
	if (rename(temporary, to) == -1)
		r = -errno;
	/* If both are the same file already, rename(2) leaves both. */
	unlink(temporary);
	return r;
}

/* The same for file systems without hard links. */
static int
copy_over(const char *path, const char *to, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_read(path, STATE_SIZE_MAX, &text, err);

	if (r < 0)
		return r;
	return file_replace(to, text.data, text.len, 0600, err);
}

/* Keep the old file before it is replaced. */
static int
keep_old(const char *path, const struct state *state, struct err *err)
{
	cleanup_free char *to = NULL;
	struct state_mark now = mark_of(path);
	struct state old;
	bool good = true;
	int r;

	if (now.ino == 0)
		return 0;
	/* Only a file that we did not write must be checked. */
	if (!mark_equal(&now, &state->mark)) {
		r = load_file(path, INT64_MAX, &old, NULL);
		good = r == 0;
		if (good)
			state_release(&old);
		else if (!is_broken(r))
			return err_errno(err, r, "%s", path);
	}
	to = xasprintf("%s%s", path, good ? ".bak" : ".broken");
	if (link_over(path, to) == 0)
		return 0;
	return copy_over(path, to, err);
}

int
state_file_save(
    const struct workspace *workspace, struct state *state, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, "state.json");
	cleanup_json struct json_object *json = state_to_json(state);
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;
	int r;

	json_print(json, true, &text);
	if (text.len > STATE_SIZE_MAX)
		return err_set(err, -EFBIG,
		    "%s would be %zu bytes long, too long to be read again",
		    path, text.len);
	r = keep_old(path, state, err);
	if (r == 0)
		r = file_replace_stat(
		    path, text.data, text.len, 0600, &st, err);
	if (r < 0)
		return r;
	state->mark = mark_from(&st);
	/* Last: a root_id without a state means that the state was lost. */
	return keep_root_id(workspace, state, err);
}

int
state_file_foreign(const struct workspace *workspace, const struct state *state)
{
	cleanup_free char *path = workspace_path(workspace, "state.json");
	struct state_mark now = { 0 };
	int r = mark_read(path, &now);

	return r < 0 ? r : !mark_equal(&now, &state->mark);
}

void
state_file_tidy(const struct workspace *workspace)
{
	cleanup_free char *path = workspace_path(workspace, "state.json");
	cleanup_free char *backup = workspace_path(workspace, "state.json.bak");

	file_replace_tidy(path);
	file_replace_tidy(backup);
}
