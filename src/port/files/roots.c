/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "id.h"
#include "roots.h"

#define NAME_CHARS 16

/* NULL = this user has no home. */
static char *
roots_dir(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state != NULL && state[0] == '/')
		return file_join(state, "llmc/roots");
	return home != NULL && home[0] == '/' ?
	    file_join(home, ".local/state/llmc/roots") :
	    NULL;
}

int
roots_note(const char *root, struct err *err)
{
	cleanup_free char *dir = roots_dir(), *path = NULL;
	cleanup_free char *line = xasprintf("%s\n", root);
	cleanup_buf struct buf old = BUF_INIT;
	char name[NAME_CHARS + 1];
	int r;

	if (dir == NULL)
		return err_set(err, -ENOENT, "HOME is not set");
	id_hash(root, name, NAME_CHARS);
	path = file_join(dir, name);
	if (file_read(path, PATH_MAX, &old, NULL) == 0 &&
	    strcmp(old.data, line) == 0)
		return 0;
	r = file_mkdirs(dir, 0700, err);
	return r < 0 ? r : file_replace(path, line, strlen(line), 0600, err);
}

char **
roots_list(void)
{
	cleanup_free char *dir = roots_dir();
	cleanup_dir DIR *files = dir != NULL ? opendir(dir) : NULL;
	const char *file;
	char **list = NULL;

	while (
	    strv_count(list) < ROOTS_MAX && (file = dir_next(files)) != NULL) {
		cleanup_free char *path = file_join(dir, file);
		cleanup_free char *ours = NULL;
		cleanup_buf struct buf text = BUF_INIT;

		if (strlen(file) != NAME_CHARS ||
		    file_read(path, PATH_MAX, &text, NULL) < 0 ||
		    text.len < 2 || text.data[text.len - 1] != '\n')
			continue;
		buf_truncate(&text, text.len - 1);
		ours = file_join(text.data, ".llmc");
		if (text.data[0] != '/' || !file_is_dir(ours))
			unlink(path);
		else
			strv_add(&list, text.data);
	}
	if (list != NULL)
		qsort(list, strv_count(list), sizeof *list, strv_order);
	return list;
}
