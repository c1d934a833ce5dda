/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "git-private.h"

#define POINTER_MAX 8192
#define CONFIG_MAX  65536

/* Of each worktree; git reads them for others than the worktree, too. */
static const char *const small_files[] = { "HEAD", "commondir", "gitdir",
	"locked", "index", "config.worktree" };

/* A working tree as its .git describes it. */
struct place {
	char *gitdir;
	char *common_dir; /* path of the repository that it belongs to */
	struct stat dot_git; /* of .git itself */
	struct stat own; /* of the git directory */
	struct stat common; /* of that repository */
};

static void
place_release(struct place *place)
{
	mem_cleanup_free(&place->gitdir);
	mem_cleanup_free(&place->common_dir);
}

#define cleanup_place __attribute__((cleanup(place_release)))

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* A small regular file with one path in it, behind `prefix`; one relative to
 * base is resolved. NULL if it is anything else. */
static char *
read_pointer(int fd, const char *name, const char *prefix, const char *base)
{
	cleanup_fd int file =
	    openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	cleanup_free char *path = NULL;
	char text[POINTER_MAX];
	struct stat st;
	ssize_t n;
	size_t len;

	if (file == -1 || fstat(file, &st) == -1 || !S_ISREG(st.st_mode))
		return NULL;
	n = read(file, text, sizeof text - 1);
	if (n <= 0)
		return NULL;
	len = (size_t)n;
	while (len > 0 && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	if (!text_begins(text, prefix) || len == strlen(prefix))
		return NULL;
	if (text[strlen(prefix)] == '/')
		return xstrdup(text + strlen(prefix));
	path = file_join(base, text + strlen(prefix));
	return realpath(path, NULL);
}

static int
open_dir(const char *path, int flags)
{
	if (path == NULL) {
		errno = ENOENT;
		return -1;
	}
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
}

/* The repository of a git directory: itself, or the one that it names. */
static bool
find_common(struct place *place)
{
	cleanup_fd int fd = -1;

	if (place->gitdir == NULL)
		return false;
	fd = open_dir(place->gitdir, 0);
	if (fd == -1 || fstat(fd, &place->own) == -1)
		return false;
	if (faccessat(fd, "commondir", F_OK, AT_SYMLINK_NOFOLLOW) == -1) {
		place->common = place->own;
		place->common_dir = xstrdup(place->gitdir);
		return faccessat(fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	}
	place->common_dir = read_pointer(fd, "commondir", "", place->gitdir);
	return place->common_dir != NULL &&
	    stat(place->common_dir, &place->common) == 0;
}

static int
not_a_tree(const char *dir, const char *why, struct err *err)
{
	return err_set(err, -EUCLEAN, "%s is not a worktree: %s", dir, why);
}

/* flags: O_NOFOLLOW to refuse a link at dir and at its .git. */
static int
place_read(const char *dir, int flags, struct place *place, struct err *err)
{
	cleanup_fd int fd = open_dir(dir, flags);
	int at_flags = flags != 0 ? AT_SYMLINK_NOFOLLOW : 0;

	if (fd == -1 && errno == ENOENT)
		return err_set(err, -ENOENT, "%s does not exist", dir);
	if (fd == -1 && (errno == ENOTDIR || errno == ELOOP))
		return not_a_tree(dir, "it is a symbolic link or a file", err);
	if (fd == -1)
		return err_errno(err, -errno, "%s", dir);
	if (fstatat(fd, ".git", &place->dot_git, at_flags) == -1)
		return err_set(err, -ENOENT,
		    "%s is not a working tree: it has no .git", dir);
	place->gitdir = S_ISDIR(place->dot_git.st_mode) ?
	    file_join(dir, ".git") :
	    read_pointer(fd, ".git", "gitdir: ", dir);
	if (place->gitdir == NULL)
		return not_a_tree(
		    dir, "its .git does not name a git directory", err);
	if (!find_common(place))
		return not_a_tree(
		    dir, "its .git names a git directory that is broken", err);
	return 0;
}

/* Without a HEAD git does not take it for a git directory. */
static bool
has_head(const struct place *place)
{
	cleanup_free char *head = file_join(place->gitdir, "HEAD");

	return file_exists(head);
}

/* Is it a folder of the repository's worktrees, and that of this .git? */
static bool
is_registered(const struct place *place)
{
	cleanup_fd int fd =
	    place->gitdir != NULL ? open_dir(place->gitdir, 0) : -1;
	cleanup_fd int common = -1;
	cleanup_free char *back = NULL;
	struct stat above, worktrees, other;

	if (fd == -1 || fstatat(fd, "..", &above, 0) == -1)
		return false;
	common = openat(fd, "../..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (common == -1 || fstat(common, &other) == -1 ||
	    !same_file(&other, &place->common) ||
	    fstatat(common, "worktrees", &worktrees, 0) == -1 ||
	    !same_file(&above, &worktrees))
		return false;
	back = read_pointer(fd, "gitdir", "", place->gitdir);
	return back != NULL && lstat(back, &other) == 0 &&
	    same_file(&other, &place->dot_git);
}

/* HEAD and the index are opened by git, which waits for a FIFO, and writes
 * through a link. Only HEAD may be a link, as git itself makes it with
 * core.preferSymlinkRefs: it does not follow that. */
static bool
is_ordinary(int fd, const char *name, bool may_link)
{
	char target[8];
	struct stat st;
	ssize_t n;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT;
	if (S_ISREG(st.st_mode))
		return true;
	if (!may_link || !S_ISLNK(st.st_mode))
		return false;
	n = readlinkat(fd, name, target, 5);
	return n == 5 && memcmp(target, "refs/", 5) == 0;
}

/* A file that git reads as a configuration when extensions.worktreeConfig is
 * on: the same as the repository's own, or without anything that runs a
 * program. */
static bool
has_safe_config(const struct place *place, const struct place *main_place)
{
	cleanup_free char *own = file_join(place->gitdir, "config.worktree");
	cleanup_free char *other =
	    file_join(main_place->gitdir, "config.worktree");
	cleanup_buf struct buf text = BUF_INIT, known = BUF_INIT;
	int r = file_read(own, CONFIG_MAX, &text, NULL);

	if (r == -ENOENT ||
	    (r == 0 && strlen(text.data) == text.len &&
		git_config_is_plain(text.data)))
		return true;
	return r == 0 && file_read(other, CONFIG_MAX, &known, NULL) == 0 &&
	    text.len == known.len &&
	    memcmp(text.data, known.data, text.len) == 0;
}

static int
check_files(const char *dir, const struct place *place,
    const struct place *main_place, struct err *err)
{
	cleanup_fd int fd = open_dir(place->gitdir, 0);

	if (fd == -1 || !is_ordinary(fd, "HEAD", true))
		return not_a_tree(
		    dir, "HEAD in its git directory is not a file", err);
	if (!is_ordinary(fd, "index", false))
		return not_a_tree(
		    dir, "index in its git directory is not a file", err);
	if (!has_safe_config(place, main_place))
		return not_a_tree(dir,
		    "config.worktree in its git directory has settings that "
		    "could run programs",
		    err);
	return 0;
}

/* A tree other than the user's, compared with the root's. */
static int
check_linked(const char *dir, const struct place *place,
    const struct place *main_place, struct err *err)
{
	if (!same_file(&place->common, &main_place->common))
		return not_a_tree(dir, "its .git is another repository's", err);
	if (S_ISDIR(place->dot_git.st_mode))
		return same_file(&place->own, &place->common) ?
		    0 :
		    not_a_tree(dir,
			"its .git names the git directory of another "
			"working tree",
			err);
	if (!is_registered(place))
		return not_a_tree(dir,
		    "its .git names the git directory of another working tree",
		    err);
	return check_files(dir, place, main_place, err);
}

int
git_verify_common(const char *root, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err)
{
	cleanup_place struct place place = { 0 }, main_place = { 0 };
	bool is_root = strcmp(root, dir) == 0;
	int r = place_read(dir, is_root ? 0 : O_NOFOLLOW, &place, err);

	if (r < 0)
		return r;
	if (!has_head(&place))
		return not_a_tree(dir, "its git directory has no HEAD", err);
	if (!is_root) {
		r = place_read(root, 0, &main_place, err);
		if (r == 0)
			r = check_linked(dir, &place, &main_place, err);
		if (r < 0)
			return r;
	}
	*ret_gitdir = take_ptr(&place.gitdir);
	*ret_common = is_root ? take_ptr(&place.common_dir) :
				take_ptr(&main_place.common_dir);
	return 0;
}

int
git_verify(
    const char *root, const char *dir, char **ret_gitdir, struct err *err)
{
	cleanup_free char *common = NULL;

	return git_verify_common(root, dir, ret_gitdir, &common, err);
}

/* The same for the clone of a worker whose sandbox is strict (git-clone.h): a
 * folder of its own as .git. Its configuration is the worker's, so git runs
 * there in the worker's box only. *ret_common is the user's repository. */
static int
git_verify_clone(const char *root, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err)
{
	cleanup_place struct place place = { 0 }, main_place = { 0 };
	cleanup_fd int fd = -1;
	int r = place_read(dir, O_NOFOLLOW, &place, err);

	if (r == 0)
		r = place_read(root, 0, &main_place, err);
	if (r < 0)
		return r;
	if (!S_ISDIR(place.dot_git.st_mode) ||
	    !same_file(&place.own, &place.common) ||
	    same_file(&place.own, &main_place.common))
		return not_a_tree(
		    dir, "its .git is not a repository of its own", err);
	fd = open_dir(place.gitdir, O_NOFOLLOW);
	if (fd == -1 || !has_head(&place) || !is_ordinary(fd, "HEAD", false) ||
	    !is_ordinary(fd, "index", false))
		return not_a_tree(
		    dir, "HEAD or index in its .git is not a file", err);
	*ret_gitdir = take_ptr(&place.gitdir);
	*ret_common = take_ptr(&main_place.common_dir);
	return 0;
}

/* --- what blocks the others -------------------------------------------- */

/* No file has contents that could be lost with it. */
static void
remove_special(int fd, const char *name)
{
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ||
		S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
		unlinkat(fd, name, 0);
}

void
git_verify_sweep(const char *root)
{
	cleanup_place struct place place = { 0 };
	cleanup_free char *folder = NULL;
	cleanup_dir DIR *stream = NULL;
	const char *name;

	if (place_read(root, 0, &place, NULL) < 0)
		return;
	folder = file_join(place.common_dir, "worktrees");
	stream = opendir(folder);
	while ((name = dir_next(stream)) != NULL) {
		cleanup_fd int fd = name[0] == '.' ?
		    -1 :
		    openat(dirfd(stream), name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		for (size_t i = 0; fd != -1 && i < nitems(small_files); i++)
			remove_special(fd, small_files[i]);
	}
}

/* --- where a tree stands ------------------------------------------------ */

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

/* What git has in the place of a branch's name during a rebase. */
#define DETACHED_NAME "detached HEAD"

bool
git_stand_is_clone(const struct git *git, const char *dir)
{
	struct git_home home;

	return git_home(git, dir, &home) && home.clone;
}

int
git_stand_find(const struct git *git, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err)
{
	return git_stand_is_clone(git, dir) ?
	    git_verify_clone(git_root(git), dir, ret_gitdir, ret_common, err) :
	    git_verify_common(git_root(git), dir, ret_gitdir, ret_common, err);
}

static bool
is_rebasing(const char *gitdir)
{
	cleanup_free char *merge = file_join(gitdir, "rebase-merge");
	cleanup_free char *apply = file_join(gitdir, "rebase-apply");

	return file_exists(merge) || file_exists(apply);
}

static bool
is_detached(const char *gitdir)
{
	char id[GIT_ID_SIZE];

	git_dirs_detached(gitdir, id, sizeof id);
	return id[0] != '\0';
}

bool
git_stand_is_on(const struct git *git, const char *dir, const char *gitdir,
    const char *branch)
{
	struct git_home home;

	if (!git_stand_is_clone(git, dir) && git_dirs_is_on(gitdir, branch))
		return true;
	return git_home(git, dir, &home) && home.detached &&
	    strcmp(home.branch, branch) == 0 && !is_rebasing(gitdir) &&
	    (home.clone || is_detached(gitdir));
}

void
git_stand_name(const struct git *git, const char *dir, const char *gitdir,
    char *branch, size_t size)
{
	struct git_home home;

	if (!git_home(git, dir, &home))
		return;
	if ((branch[0] == '\0' || home.clone) &&
	    git_stand_is_on(git, dir, gitdir, home.branch))
		strlcpy(branch, home.branch, size);
}

/* --- the guard --------------------------------------------------------- */

/* To quit leaves HEAD where it is. */
static bool
writes_branch(const char *const *args)
{
	static const char *const verbs[] = { "am", "cherry-pick", "commit",
		"merge", "rebase", "reset", "revert" };
	const char *verb = git_verb(args);

	for (size_t i = 0; i < nitems(verbs); i++)
		if (strcmp(verb, verbs[i]) == 0)
			return !strv_has(args, "--quit");
	return false;
}

static int
refuse(const struct git_home *home, const char *what, const char *is,
    struct err *err)
{
	return err_set(err, -EUCLEAN,
	    "%s is %s, which is not the branch of %s: nothing is written "
	    "there; type: llmc reset %s",
	    what, is, home->worker, home->worker);
}

int
git_stand_check(const struct git *git, const char *dir, const char *gitdir,
    const char *common, const char *const *args, struct err *err)
{
	bool writes = writes_branch(args);
	cleanup_free char *own = NULL, *head = NULL, *alias = NULL;
	struct git_home home;

	if ((!writes && strcmp(git_verb(args), "checkout") != 0) ||
	    !git_home(git, dir, &home) || home.clone)
		return 0;
	own = xasprintf("refs/heads/%s", home.branch);
	alias = git_dirs_alias(common, home.branch);
	if (alias != NULL)
		return refuse(&home, own, alias, err);
	head = writes ? git_dirs_head(gitdir) : NULL;
	if (head != NULL && strcmp(head, own) != 0) {
		cleanup_free char *what = xasprintf("HEAD of %s", dir);

		return refuse(&home, what, head, err);
	}
	return 0;
}

/* --- HEAD -------------------------------------------------------------- */

void
git_stand_put(
    struct git_op *op, const char *branch, bool detached, const char *id)
{
	git_op_no_hooks(op);
	if (detached)
		git_op_must(op, "update-ref", "--no-deref", "-m",
		    "llmc: detach", "HEAD", id, NULL);
	else
		git_op_must(op, "symbolic-ref", "-m", "llmc: attach", "HEAD",
		    git_op_text(op, "refs/heads/%s", branch), NULL);
}

/* --- the other way ----------------------------------------------------- */

struct set_op {
	struct git_op op;
	char *branch;
	bool detached;
};

/* When it is done, git sets HEAD and the branch to what this file says. The
 * folder is the worker's: no link is followed. */
static int
write_head_name(const char *gitdir, const char *folder, const char *name)
{
	cleanup_free char *path = file_join(gitdir, folder);
	cleanup_free char *line = xasprintf("%s\n", name);
	cleanup_fd int dir =
	    open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_fd int fd = -1;

	if (dir == -1)
		return errno == ENOENT ? 0 : -errno;
	unlinkat(dir, "head-name.llmc", 0);
	fd = openat(dir, "head-name.llmc",
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd == -1)
		return -errno;
	if (file_write_all(fd, line, strlen(line)) < 0 ||
	    renameat(dir, "head-name.llmc", dir, "head-name") == -1)
		return -EIO;
	return 0;
}

static void
set_run(struct git_op *op)
{
	const struct set_op *set = op->self;
	const char *ref = git_op_text(op, "refs/heads/%s", set->branch);
	const char *name = set->detached ? DETACHED_NAME : ref, *head;
	struct git_home home;

	git_op_need_gitdir(op);
	git_follow_run(op);
	if (is_rebasing(op->gitdir)) {
		if (write_head_name(op->gitdir, "rebase-merge", name) < 0 ||
		    write_head_name(op->gitdir, "rebase-apply", name) < 0)
			git_op_die(op, -EIO,
			    "the rebase in %s cannot go on in another way; "
			    "finish or abort it first",
			    op->dir);
		/* The worker may have put HEAD on a branch all the same. */
		if (!set->detached)
			return;
	}
	head = git_dirs_head(op->gitdir);
	if (set->detached ? head == NULL : text_is(head, ref))
		return;
	if (!set->detached && head != NULL)
		git_op_die(op, -EUCLEAN,
		    "HEAD of %s is %s, not its own branch %s; type: git -C "
		    "'%s' switch %s",
		    op->dir, head, set->branch, op->dir, set->branch);
	/* What is committed here from now on moves the branch at once. */
	if (!set->detached) {
		if (!git_home(op->git, op->dir, &home))
			return;
		git_follow_check_trees(op);
	}
	git_op_find_ids(
	    op, (const char *[]){ "HEAD^{commit}", NULL }, &op->head_id);
	if (op->head_id[0] == '\0')
		git_op_die(op, -ENOENT, "there is no commit in %s", op->dir);
	git_stand_put(op, set->branch, set->detached, op->head_id);
}

bool
git_stand_is_detached(const struct git *git, const char *dir)
{
	cleanup_free char *gitdir = NULL, *head = NULL;

	if (git_stand_is_clone(git, dir) ||
	    git_verify(git_root(git), dir, &gitdir, NULL) < 0)
		return true;
	head = git_dirs_head(gitdir);
	return head == NULL;
}

void
git_stand_set(struct git *git, const char *dir, const char *branch,
    bool detached, git_work_fn *fn, void *arg)
{
	struct set_op *set =
	    git_op_new(sizeof *set, git, dir, NULL, set_run, NULL);

	set->branch = git_op_copy(&set->op, branch);
	set->detached = detached;
	set->op.work_fn = fn;
	set->op.arg = arg;
	git_op_begin(&set->op, false);
}
