/* SPDX-License-Identifier: ISC */

/* The folders of git: what a tree, its git directory and the common one say,
 * read without a git process. */
#include "base.h"

#include "git-private.h"

#define SMALL_MAX    8192
#define SYMREF_DEPTH 5 /* as git */

/* The only line of a small file, behind the prefix; NULL when it is another.
 * The caller frees. */
static char *
read_line(const char *dir, const char *name, const char *prefix)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, SMALL_MAX, &text, NULL) < 0 ||
	    !text_begins(text.data, prefix))
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

/* What a symbolic reference points at, which may be a link in the file system;
 * NULL when it is none. The caller frees. */
static char *
read_symref(const char *dir, const char *name)
{
	static const char refs[] = "refs/";
	cleanup_free char *path = file_join(dir, name);
	char target[SMALL_MAX];
	ssize_t n = readlink(path, target, sizeof target - 1);

	if (n > 0) {
		target[n] = '\0';
		if (text_begins(target, refs))
			return xstrdup(target);
	}
	return read_line(dir, name, "ref: ");
}

char *
git_dirs_head(const char *gitdir)
{
	return read_symref(gitdir, "HEAD");
}

char *
git_dirs_alias(const char *common, const char *branch)
{
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);

	return read_symref(common, ref);
}

/* A branch may be another name of a second one. */
static char *
resolve(const char *common, char *ref)
{
	char *next;

	for (int depth = 0; ref != NULL && depth < SYMREF_DEPTH &&
	     (next = read_symref(common, ref)) != NULL;
	     depth++) {
		free(ref);
		ref = next;
	}
	return ref;
}

bool
git_dirs_is_on(const char *gitdir, const char *branch)
{
	cleanup_free char *head = git_dirs_head(gitdir);
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);

	return text_is(head, ref);
}

void
git_dirs_detached(const char *gitdir, char *out, size_t size)
{
	cleanup_free char *head = read_line(gitdir, "HEAD", "");
	cleanup_free char *branch = git_dirs_head(gitdir);
	size_t len = head != NULL ? strspn(head, "0123456789abcdef") : 0;

	out[0] = '\0';
	if (branch == NULL && (len == 40 || len == 64) && head[len] == '\0')
		strlcpy(out, head, size);
}

static struct git_tree *
add_tree(
    struct git_trees *trees, char *path, const char *common, const char *gitdir)
{
	struct git_tree *tree;

	trees->v = xreallocarray(trees->v, trees->count + 1, sizeof *trees->v);
	tree = &trees->v[trees->count++];
	*tree = (struct git_tree){
		.path = path,
		.branch = resolve(common, git_dirs_head(gitdir)),
	};
	return tree;
}

/* The folder of a linked worktree, which its git directory may name from
 * there; NULL when that is broken. The caller frees. */
static char *
linked_tree(const char *gitdir)
{
	static const char git[] = "/.git";
	cleanup_free char *place = read_line(gitdir, "gitdir", "");
	cleanup_free char *full = NULL, *path = NULL, *real = NULL;
	size_t len;

	if (place == NULL)
		return NULL;
	full = file_join(gitdir, place);
	len = strlen(full);
	if (len <= strlen(git) || strcmp(full + len - strlen(git), git) != 0)
		return NULL;
	path = xstrndup(full, len - strlen(git));
	if (place[0] != '/')
		real = realpath(path, NULL);
	return real != NULL ? take_ptr(&real) : take_ptr(&path);
}

/* A worktree whose folder was deleted holds nothing; one that is locked may be
 * on a disk that is not there now. */
static void
add_linked(struct git_trees *trees, bool all, const char *common,
    const char *folder, const char *name)
{
	cleanup_free char *gitdir = file_join(folder, name);
	cleanup_free char *lock = file_join(gitdir, "locked");
	cleanup_free char *why = read_line(gitdir, "locked", "");
	cleanup_free char *path = linked_tree(gitdir);
	cleanup_free char *place =
	    path != NULL ? file_join(path, ".git") : NULL;
	bool missing = place == NULL || !file_exists(place);
	bool locked = file_exists(lock);
	struct git_tree *tree;

	if (path == NULL || (missing && !locked && !all))
		return;
	tree = add_tree(trees, take_ptr(&path), common, gitdir);
	tree->missing = missing;
	tree->locked = locked;
	tree->unfinished = text_is(why, "initializing");
}

char *
git_dirs_registered(const char *common, const char *tree)
{
	cleanup_free char *folder = file_join(common, "worktrees");
	cleanup_dir DIR *stream = opendir(folder);
	const char *name;

	while ((name = dir_next(stream)) != NULL) {
		cleanup_free char *gitdir = file_join(folder, name);
		cleanup_free char *path =
		    name[0] != '.' ? linked_tree(gitdir) : NULL;

		if (path != NULL && git_trees_same_path(path, tree))
			return take_ptr(&gitdir);
	}
	return NULL;
}

int
git_dirs_trees(
    const char *root, bool all, struct git_trees *trees, struct err *err)
{
	cleanup_free char *gitdir = git_dirs_gitdir(root), *common = NULL;
	cleanup_free char *folder = NULL, *tables = NULL;
	cleanup_dir DIR *stream = NULL;
	const char *name;

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
	add_tree(trees, xstrdup(root), common, gitdir);
	folder = file_join(common, "worktrees");
	stream = opendir(folder);
	while ((name = dir_next(stream)) != NULL)
		if (name[0] != '.')
			add_linked(trees, all, common, folder, name);
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
git_dirs_is_below(const char *path, const char *folder)
{
	cleanup_free char *real = realpath(path, NULL);
	cleanup_free char *top = realpath(folder, NULL);

	return real != NULL && top != NULL && is_below(real, top);
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

static bool
are_safe(const char *common, const char *tree, const char *root)
{
	cleanup_free char *folder = file_join(common, "hooks");
	cleanup_dir DIR *stream = opendir(folder);
	const char *name;
	bool safe = true;

	while (safe && (name = dir_next(stream)) != NULL)
		safe = strchr(name, '.') != NULL ||
		    (git_dirs_hook_is_safe(common, tree, name) &&
			git_dirs_hook_is_safe(common, root, name));
	return safe;
}

void
git_dirs_add_hooks(
    const char *gitdir, const char *tree, const char *root, char ***env)
{
	cleanup_free char *common = git_dirs_common(gitdir);

	strv_add(env, "GIT_CONFIG_COUNT=1");
	strv_add(env, "GIT_CONFIG_KEY_0=core.hooksPath");
	strv_take(env,
	    are_safe(common, tree, root) ?
		xasprintf("GIT_CONFIG_VALUE_0=%s/hooks", common) :
		xstrdup("GIT_CONFIG_VALUE_0=/dev/null"));
}

char *
git_dirs_alternate(const char *objects)
{
	struct buf path = BUF_INIT;

	buf_addc(&path, '"');
	for (const char *p = objects; *p != '\0'; p++) {
		if (*p == '\n') {
			buf_adds(&path, "\\n");
			continue;
		}
		if (*p == '"' || *p == '\\')
			buf_addc(&path, '\\');
		buf_addc(&path, *p);
	}
	buf_addc(&path, '"');
	return buf_take(&path);
}
