/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "buf.h"
#include "caller.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "root-id.h"
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
