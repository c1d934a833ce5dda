/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "root-mark.h"
#include "state-upgrade.h"
#include "state.h"
#include "version.h"
#include "workspace.h"

static const char *const names[] = { "state.json", "state.json.bak",
	"state.json.broken", NULL };

static int
load(const char *path, int64_t now_ms, struct state *ret_state, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_read(path, STATE_SIZE_MAX, &text, err);

	if (r < 0)
		return r;
	r = state_parse(text.data, text.len, now_ms, ret_state, err);
	if (r < 0)
		err_prefix(err, "%s", path);
	return r;
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
state_upgrade_read(const struct workspace *workspace, int64_t now_ms,
    struct state *ret_state, char **ret_recovered, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, names[0]);
	cleanup_free char *backup = workspace_path(workspace, names[1]);
	struct err first = { 0, "" }, second = { 0, "" };
	struct state state;
	int r, b;

	*ret_recovered = NULL;
	r = load(path, now_ms, &state, &first);
	if (r < 0 && r != -ENOENT && !is_broken(r))
		return err_set(err, r, "%s", first.msg);
	if (r < 0) {
		b = load(backup, now_ms, &state, &second);
		if (b == -ENOENT && r == -ENOENT)
			return -ENOENT;
		if (b < 0 && b != -ENOENT && !is_broken(b))
			return err_set(err, b, "%s", second.msg);
		if (b < 0)
			return err_set(err, -EINVAL,
			    "%s, and its backup cannot be used either: %s; fix "
			    "one of them by hand, or run: llmc doctor "
			    "--rebuild",
			    first.msg, second.msg);
		*ret_recovered =
		    xasprintf("%s; the last good state was loaded from %s",
			first.msg, backup);
	}
	state_release(ret_state);
	*ret_state = state;
	return 0;
}

bool
state_upgrade_has_files(const struct workspace *workspace)
{
	cleanup_free char *path = workspace_path(workspace, names[0]);
	cleanup_free char *backup = workspace_path(workspace, names[1]);

	return file_exists(path) || file_exists(backup);
}

/* A damaged book that was put aside by a daemon that was then killed is read by
 * the next one. */
static bool
has_damaged_book(const struct workspace *workspace)
{
	cleanup_dir DIR *dir = opendir(workspace->dir);
	const char *name;

	while ((name = dir_next(dir)) != NULL)
		if (text_begins(name, "llmc.corrupt-") ||
		    text_begins(name, "llmc.db."))
			return true;
	return false;
}

bool
state_upgrade_is_lost(
    const struct workspace *workspace, const char *worktrees, struct err *err)
{
	cleanup_free char *book = workspace_path(workspace, WORKSPACE_BOOK);

	return !file_exists(book) && !state_upgrade_has_files(workspace) &&
	    !has_damaged_book(workspace) &&
	    root_id_is_lost(workspace, worktrees, err);
}

char *
state_upgrade_place(const char *dir, const char *name, struct err *err)
{
	cleanup_free char *folder = xasprintf("%s/before-" LLMC_VERSION, dir);
	cleanup_free char *to = file_join(folder, name);

	for (int n = 2; file_exists(to); n++) {
		free(folder);
		folder = xasprintf("%s/before-" LLMC_VERSION ".%d", dir, n);
		free(to);
		to = file_join(folder, name);
	}
	return file_mkdirs(folder, 0700, err) == 0 ? take_ptr(&to) : NULL;
}

void
state_upgrade_move(const struct workspace *workspace)
{
	for (const char *const *name = names; *name != NULL; name++) {
		cleanup_free char *from = workspace_path(workspace, *name);
		cleanup_free char *to = !file_exists(from) ?
		    NULL :
		    state_upgrade_place(workspace->dir, *name, NULL);

		/* What cannot be moved is not read again either: the book has
		 * a state. */
		if (to != NULL && rename(from, to) == -1)
			log_debug("%s: %s", from, strerror(errno));
	}
}
