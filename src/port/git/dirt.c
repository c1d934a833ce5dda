/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "dirt.h"
#include "git-ask.h"
#include "settings.h"
#include "workspace.h"

#define NAMES_MAX 5

static int
count_lines(const char *text)
{
	int count = 0;

	for (; *text != '\0'; text++)
		count += *text == '\n' || text[1] == '\0';
	return count;
}

static void
add_names(struct buf *out, const char *lines)
{
	const char *before = "";

	for (int told = 0; *lines != '\0'; told++) {
		size_t len = strcspn(lines, "\n");

		buf_adds(out, before);
		if (told == NAMES_MAX) {
			buf_adds(out, "...");
			break;
		}
		buf_add(out, lines, len);
		lines += len + (lines[len] == '\n');
		before = ", ";
	}
}

bool
dirt_describe(const struct workspace *workspace,
    const struct settings *settings, struct buf *out)
{
	const char *branch = settings_string(settings, "repo.default_branch");
	bool overlap = strcmp(settings_string(settings, "repo.dirty_checkout"),
			   "overlap") == 0;
	cleanup_free char *tree = git_ask_checkout(workspace->root, branch);
	cleanup_buf struct buf lines = BUF_INIT;
	int count;

	if (tree == NULL || git_ask_changed(tree, &lines, NULL) != 0 ||
	    lines.len == 0)
		return false;
	count = count_lines(lines.data);
	buf_addf(out, "%d file%s changed in %s, your checkout of %s: ", count,
	    count == 1 ? "" : "s", tree, branch);
	add_names(out, lines.data);
	buf_adds(out,
	    overlap ? "; work that touches these files waits" :
		      "; no work lands meanwhile");
	return true;
}
