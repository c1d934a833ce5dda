/* SPDX-License-Identifier: ISC */

/* Is a directory a working tree of this repository? */
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

static int
no_file(const char *dir, const char *name, struct err *err)
{
	return err_set(err, -EUCLEAN,
	    "%s is not a worktree: %s in its git directory is not a file", dir,
	    name);
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

/* git waits for a FIFO, and writes through a link. Only HEAD may be a link, as
 * git itself makes it with core.preferSymlinkRefs: it does not follow that. */
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

/* All that git opens in place, to read it or to go on writing: what is wrong,
 * or NULL. */
static const char *
find_no_file(int fd, bool head_may_link)
{
	static const char *const names[] = { "index", "logs/HEAD",
		"COMMIT_EDITMSG", "MERGE_MSG", "config", "packed-refs" };
	struct stat logs;

	if (!is_ordinary(fd, "HEAD", head_may_link))
		return "HEAD";
	if (fstatat(fd, "logs", &logs, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !S_ISDIR(logs.st_mode))
		return "logs/HEAD";
	for (size_t i = 0; i < nitems(names); i++)
		if (!is_ordinary(fd, names[i], false))
			return names[i];
	return NULL;
}

/* --- a configuration that runs nothing -------------------------------- */

/* What `git clone`, `git worktree add` and `git sparse-checkout` write, who
 * commits, and what people set that neither runs a program nor names a file.
 * "*" = any key. */
static const struct {
	const char *section, *key;
} plain[] = {
	{ "core", "repositoryformatversion" },
	{ "core", "filemode" },
	{ "core", "bare" },
	{ "core", "logallrefupdates" },
	{ "core", "ignorecase" },
	{ "core", "precomposeunicode" },
	{ "core", "symlinks" },
	{ "core", "worktree" },
	{ "core", "autocrlf" },
	{ "core", "eol" },
	{ "core", "safecrlf" },
	{ "core", "sparsecheckout" },
	{ "core", "sparsecheckoutcone" },
	{ "core", "untrackedcache" },
	{ "core", "splitindex" },
	{ "core", "preloadindex" },
	{ "core", "abbrev" },
	{ "core", "quotepath" },
	{ "core", "commentchar" },
	{ "core", "compression" },
	{ "core", "whitespace" },
	{ "index", "*" },
	{ "user", "name" },
	{ "user", "email" },
	{ "user", "signingkey" },
	{ "commit", "gpgsign" },
	{ "tag", "gpgsign" },
	{ "branch", "remote" },
	{ "branch", "merge" },
	{ "branch", "rebase" },
	{ "branch", "description" },
	{ "branch", "autosetupmerge" },
	{ "branch", "autosetuprebase" },
	{ "remote", "url" },
	{ "remote", "pushurl" },
	{ "remote", "fetch" },
	{ "remote", "push" },
	{ "remote", "tagopt" },
	{ "remote", "prune" },
	{ "remote", "pushdefault" },
	{ "submodule", "url" },
	{ "submodule", "active" },
	{ "submodule", "branch" },
	{ "submodule", "ignore" },
	{ "extensions", "objectformat" },
	{ "lfs", "repositoryformatversion" },
	{ "lfs", "access" },
	{ "lfs", "locksverify" },
	{ "merge", "conflictstyle" },
	{ "merge", "ff" },
	{ "merge", "renames" },
	{ "diff", "algorithm" },
	{ "diff", "renames" },
	{ "diff", "colormoved" },
	{ "diff", "mnemonicprefix" },
	{ "fetch", "prune" },
	{ "rebase", "autostash" },
	{ "rebase", "autosquash" },
	{ "rebase", "updaterefs" },
	{ "rerere", "*" },
	{ "push", "*" },
	{ "pull", "*" },
	{ "status", "*" },
	{ "color", "*" },
	{ "column", "*" },
	{ "advice", "*" },
	{ "feature", "*" },
};

static bool
same_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

/* "[section]" or "[section "name"]", alone on its line. */
static bool
take_section(
    const char *line, size_t len, const char **ret_section, size_t *ret_len)
{
	size_t word = strcspn(line + 1, " \t]\".\r\n");
	const char *end = memchr(line, ']', len);

	if (end == NULL || end != line + len - 1 || word == 0)
		return false;
	*ret_section = line + 1;
	*ret_len = word;
	return true;
}

static bool
take_key(const char *line, size_t len, const char *section, size_t section_len)
{
	size_t word = strcspn(line, " \t=\r\n");

	/* A value goes on in the next line behind a backslash. */
	if (word > len || section == NULL || line[len - 1] == '\\')
		return false;
	for (size_t i = 0; i < nitems(plain); i++)
		if (same_word(section, section_len, plain[i].section) &&
		    (plain[i].key[0] == '*' ||
			same_word(line, word, plain[i].key)))
			return true;
	return false;
}

bool
git_config_is_plain(const char *text)
{
	const char *section = NULL, *line = text;
	size_t section_len = 0, len;

	for (; *line != '\0'; line += len + (line[len] == '\n')) {
		const char *at = line + strspn(line, " \t\r");
		size_t rest;

		len = strcspn(line, "\n");
		rest = len - (size_t)(at - line);
		while (rest > 0 && strchr(" \t\r", at[rest - 1]) != NULL)
			rest--;
		if (rest == 0 || *at == '#' || *at == ';')
			continue;
		if (*at == '[' ?
			!take_section(at, rest, &section, &section_len) :
			!take_key(at, rest, section, section_len))
			return false;
	}
	return true;
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
	const char *name = fd == -1 ? "HEAD" : find_no_file(fd, true);

	if (name != NULL)
		return no_file(dir, name, err);
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

int
git_verify_clone(const char *root, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err)
{
	cleanup_place struct place place = { 0 }, main_place = { 0 };
	cleanup_fd int fd = -1;
	const char *name;
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
	name = fd == -1 || !has_head(&place) ? "HEAD" : find_no_file(fd, false);
	if (name != NULL)
		return no_file(dir, name, err);
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
