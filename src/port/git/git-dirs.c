/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "git-dirs.h"
#include "git-trees.h"
#include "mem.h"

#define SMALL_MAX 8192

/* The only line of a small file, behind the prefix; NULL when it is another.
 * The caller frees. */
static char *
read_line(const char *dir, const char *name, const char *prefix)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, SMALL_MAX, &text, NULL) < 0 ||
	    strncmp(text.data, prefix, strlen(prefix)) != 0)
		return NULL;
	while (text.len > 0 && text.data[text.len - 1] == '\n')
		buf_truncate(&text, text.len - 1);
	return xstrdup(text.data + strlen(prefix));
}

char *
git_dirs_gitdir(const char *tree)
{
	cleanup_free char *path = file_join(tree, ".git");
	cleanup_free char *link = NULL;

	if (file_is_dir(path))
		return take_ptr(&path);
	link = read_line(tree, ".git", "gitdir: ");
	return link != NULL ? file_join(tree, link) : NULL;
}

char *
git_dirs_common(const char *gitdir)
{
	cleanup_free char *link = read_line(gitdir, "commondir", "");
	cleanup_free char *path = NULL, *real = NULL;

	if (link == NULL)
		return xstrdup(gitdir);
	path = file_join(gitdir, link);
	real = realpath(path, NULL);
	return real != NULL ? take_ptr(&real) : take_ptr(&path);
}

char *
git_dirs_head(const char *gitdir)
{
	return read_line(gitdir, "HEAD", "ref: ");
}

bool
git_dirs_is_on(const char *gitdir, const char *branch)
{
	cleanup_free char *head = git_dirs_head(gitdir);
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);

	return head != NULL && strcmp(head, ref) == 0;
}

void
git_dirs_detached(const char *gitdir, char *out, size_t size)
{
	cleanup_free char *head = read_line(gitdir, "HEAD", "");

	out[0] = '\0';
	if (head != NULL && strspn(head, "0123456789abcdef") == strlen(head))
		strlcpy(out, head, size);
}

static void
add_tree(struct git_trees *trees, char *path, const char *gitdir)
{
	trees->v = xreallocarray(trees->v, trees->count + 1, sizeof *trees->v);
	trees->v[trees->count++] = (struct git_tree){
		.path = path,
		.branch = git_dirs_head(gitdir),
	};
}

/* A worktree whose folder was deleted holds nothing. */
static void
add_linked(struct git_trees *trees, const char *folder, const char *name)
{
	static const char git[] = "/.git";
	cleanup_free char *gitdir = file_join(folder, name);
	cleanup_free char *place = read_line(gitdir, "gitdir", "");
	size_t len = place != NULL ? strlen(place) : 0;

	if (len <= strlen(git) || !file_exists(place) ||
	    strcmp(place + len - strlen(git), git) != 0)
		return;
	add_tree(trees, xstrndup(place, len - strlen(git)), gitdir);
}

int
git_dirs_trees(const char *root, struct git_trees *trees, struct err *err)
{
	cleanup_free char *gitdir = git_dirs_gitdir(root), *common = NULL;
	cleanup_free char *folder = NULL, *tables = NULL;
	struct dirent *entry;
	DIR *stream;

	git_trees_release(trees);
	if (gitdir == NULL)
		return err_set(err, -EUCLEAN, "%s is not a working tree", root);
	common = git_dirs_common(gitdir);
	tables = file_join(common, "reftable");
	if (file_exists(tables))
		return err_set(err, -ENOTSUP,
		    "%s keeps its branches as reftable, which llmc cannot land "
		    "on",
		    root);
	add_tree(trees, xstrdup(root), gitdir);
	folder = file_join(common, "worktrees");
	stream = opendir(folder);
	while (stream != NULL && (entry = readdir(stream)) != NULL)
		if (entry->d_name[0] != '.')
			add_linked(trees, folder, entry->d_name);
	if (stream != NULL)
		closedir(stream);
	return 0;
}

static bool
is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 &&
	    (path[len] == '/' || path[len] == '\0');
}

bool
git_dirs_hook_is_safe(const char *common, const char *tree, const char *hook)
{
	cleanup_free char *name = xasprintf("hooks/%s", hook);
	cleanup_free char *path = file_join(common, name);
	cleanup_free char *real = realpath(path, NULL);
	cleanup_free char *inside = realpath(common, NULL);
	cleanup_free char *top = realpath(tree, NULL);

	if (real == NULL || inside == NULL || top == NULL)
		return false;
	return is_below(real, inside) || !is_below(real, top);
}
