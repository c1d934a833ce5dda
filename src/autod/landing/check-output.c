/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "check-output.h"
#include "core.h"
#include "errtext.h"
#include "file.h"
#include "log.h"
#include "mem.h"
#include "workspace.h"

#define OUTPUT_MAX (64 * 1024) /* the end of it */

static const char prefix[] = "failed-";

static char *
path_of(const struct core *core, const char *tree)
{
	cleanup_free char *name = xasprintf("checks/%s%s.log", prefix, tree);

	return workspace_path(core->workspace, name);
}

void
check_output_keep(const struct core *core, const char *tree, const char *how,
    const char *output)
{
	cleanup_free char *path = path_of(core, tree);
	cleanup_buf struct buf text = BUF_INIT;
	size_t len = strlen(output);
	struct err err = { 0 };

	buf_addf(&text, "%s\n", how);
	buf_adds(&text, len > OUTPUT_MAX ? output + len - OUTPUT_MAX : output);
	if (file_replace(path, text.data, text.len, 0600, &err) < 0)
		log_debug("%s", err.msg);
}

void
check_output_read(const struct core *core, const char *tree, struct buf *how,
    struct buf *output)
{
	cleanup_free char *path = path_of(core, tree);
	cleanup_buf struct buf text = BUF_INIT;
	size_t line;

	if (file_read(path, 2 * OUTPUT_MAX, &text, NULL) < 0)
		return;
	line = strcspn(text.data, "\n");
	buf_add(how, text.data, line);
	if (text.data[line] == '\n')
		buf_adds(output, text.data + line + 1);
}

/* By any command: the output of a tree is that of its last failure. */
static bool
is_wanted(const struct check_book *book, const char *name)
{
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < book->count; i++) {
		const struct check_result *result = &book->results[i];

		if (result->fails > 0 && strlen(result->tree) == len &&
		    memcmp(result->tree, name, len) == 0)
			return true;
	}
	return false;
}

void
check_output_trim(const struct core *core)
{
	cleanup_free char *dir = workspace_path(core->workspace, "checks");
	DIR *list = opendir(dir);
	size_t skip = strlen(prefix);
	struct dirent *entry;

	if (list == NULL)
		return;
	while ((entry = readdir(list)) != NULL)
		if (strncmp(entry->d_name, prefix, skip) == 0 &&
		    !is_wanted(
			&core->state.landings.checks, entry->d_name + skip))
			unlinkat(dirfd(list), entry->d_name, 0);
	closedir(list);
}
