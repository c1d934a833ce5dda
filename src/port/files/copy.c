/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "copy.h"
#include "git.h"
#include "id.h"
#include "loop.h"

struct copy_match {
	char **paths; /* relative, no link in front of the last part */
	size_t count, cap;
};

struct copy_file;

static int copy_match(const char *root, const char *worktree,
    const char *const *entries, struct copy_match *list, struct err *err);
static void copy_file_free(struct copy_file *file);

struct match {
	const char *entry; /* as in the setting */
	bool pattern;
	char *root, *worktree; /* real paths */
	struct copy_match *list;
};

#define FOLDER    (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEPTH_MAX 100 /* two descriptors for each */

struct seed {
	const char *from, *to; /* the trees */
	int64_t until_ms;
	bool no_clone; /* this file system cannot */
	struct seed_result result;
	char at[512]; /* what failed, for people */
};

static void
copy_match_add(struct copy_match *list, char *path)
{
	if (list->count == list->cap) {
		list->cap = list->cap == 0 ? 16 : list->cap * 2;
		list->paths =
		    xreallocarray(list->paths, list->cap, sizeof *list->paths);
	}
	list->paths[list->count++] = path;
}

static void
copy_match_release(struct copy_match *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct copy_match){ 0 };
}

/* The rest of path after "dir/": "" for dir itself, NULL if it is not below
 * dir. */
static const char *
below(const char *path, const char *dir)
{
	size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	if (strncmp(path, dir, len) != 0)
		return NULL;
	if (path[len] == '/')
		return path + len + 1;
	return path[len] == '\0' ? path + len : NULL;
}

/* Without doubled slashes, "." and slashes at the end; NULL for an absolute
 * path or one with "..". The caller frees it. */
static char *
normalise(const char *entry)
{
	cleanup_buf struct buf out = BUF_INIT;
	size_t len;

	if (*entry == '/')
		return NULL;
	for (; *entry != '\0'; entry += len) {
		entry += strspn(entry, "/");
		len = strcspn(entry, "/");
		if (len == 0 || (len == 1 && *entry == '.'))
			continue;
		if (len == 2 && text_begins(entry, ".."))
			return NULL;
		if (out.len > 0)
			buf_addc(&out, '/');
		buf_add(&out, entry, len);
	}
	return buf_take(&out);
}

/* May it be copied? Not if that would copy the worktree into itself. */
static bool
is_reserved(const struct match *match, const char *path)
{
	static const char *const ours[] = { ".git", ".llmc" };
	cleanup_free char *full = file_join(match->root, path);

	for (size_t i = 0; i < nitems(ours); i++)
		if (below(path, ours[i]) != NULL)
			return true;
	return *path == '\0' || below(match->worktree, full) != NULL;
}

static int
lead_out(const struct match *match, struct err *err)
{
	return err_set(err, -EINVAL,
	    "repo.copy_files: \"%s\" is outside the repository", match->entry);
}

/* One path that may exist, relative to the root and normalised. */
static int
add_path(const struct match *match, const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *dir = NULL, *from = NULL, *real = NULL, *full = NULL;
	const char *inside;

	dir = slash != NULL ? xstrndup(path, (size_t)(slash - path)) : NULL;
	from = dir != NULL ? file_join(match->root, dir) : xstrdup(match->root);
	real = realpath(from, NULL);
	if (real == NULL && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (real == NULL)
		return err_errno(err, -errno, "repo.copy_files: %s", from);
	inside = below(real, match->root);
	if (inside == NULL)
		return lead_out(match, err);
	full = file_join(inside, slash != NULL ? slash + 1 : path);
	if (is_reserved(match, full)) {
		if (match->pattern)
			return 0;
		return err_set(err, -EINVAL,
		    "repo.copy_files: \"%s\" cannot be copied into a worktree",
		    match->entry);
	}
	copy_match_add(match->list, take_ptr(&full));
	return 0;
}

/* The root is taken literally, the entry is a pattern. */
static char *
make_pattern(const char *root, const char *path)
{
	cleanup_buf struct buf out = BUF_INIT;

	for (; *root != '\0'; root++) {
		if (strchr("\\*?[", *root) != NULL)
			buf_addc(&out, '\\');
		buf_addc(&out, *root);
	}
	buf_addf(&out, "/%s", path);
	return buf_take(&out);
}

static int
add_pattern(const struct match *match, const char *path, struct err *err)
{
	cleanup_free char *pattern = make_pattern(match->root, path);
	size_t skip = strlen(match->root) + 1;
	glob_t found = { 0 };
	int r = glob(pattern, 0, NULL, &found);

	if (r == GLOB_NOSPACE)
		r = err_errno(
		    err, -ENOMEM, "repo.copy_files: \"%s\"", match->entry);
	else
		r = 0;
	for (size_t i = 0; r == 0 && i < found.gl_pathc; i++) {
		cleanup_free char *one = normalise(found.gl_pathv[i] + skip);

		/* ".*" also matches "..", which is not meant. */
		if (one != NULL)
			r = add_path(match, one, err);
	}
	globfree(&found);
	return r;
}

static int
add_entry(struct match *match, const char *entry, struct err *err)
{
	cleanup_free char *path = normalise(entry), *full = NULL;

	match->entry = entry;
	if (path == NULL)
		return lead_out(match, err);
	full = file_join(match->root, path);
	match->pattern = !file_exists(full) && strpbrk(path, "*?[") != NULL;
	return match->pattern ? add_pattern(match, path, err) :
				add_path(match, path, err);
}

/* Append the paths that exist. -EINVAL for an entry that leads out of the root,
 * or names the folder of git or llmc, or one that contains the worktree; a
 * pattern skips those three folders. */
static int
copy_match(const char *root, const char *worktree, const char *const *entries,
    struct copy_match *list, struct err *err)
{
	struct match match = { .list = list };
	int r = 0;

	match.root = realpath(root, NULL);
	if (match.root == NULL)
		return err_errno(err, -errno, "repo.copy_files: %s", root);
	match.worktree = realpath(worktree, NULL);
	if (match.worktree == NULL)
		r = err_errno(err, -errno, "repo.copy_files: %s", worktree);
	for (; r == 0 && *entries != NULL; entries++)
		r = add_entry(&match, *entries, err);
	free(match.root);
	free(match.worktree);
	return r;
}

#define PIECE      (1024 * 1024)
#define TEMPORARY  ".llmc-copy-"
#define NAME_BYTES (sizeof TEMPORARY + 16)

struct copy_file {
	int dir; /* of the copy */
	int from, to;
	struct stat st;
	char *name;
	/* Always the same name for the same file, so that the next try removes
	 * what a crash left behind. */
	char temporary[NAME_BYTES];
	char *piece;
	bool done;
};

static int
open_dir_at(int at, const char *name)
{
	int fd =
	    openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd == -1 ? -errno : fd;
}

/* Open the folder of that name; create it with the mode of the one in `model`
 * if it is missing (-1: do not create it). */
static int
enter(int at, int model, const char *name)
{
	int fd = open_dir_at(at, name);
	struct stat st;

	if (fd != -ENOENT || model == -1)
		return fd;
	if (fstat(model, &st) == -1)
		return -errno;
	if (mkdirat(at, name, 0700) == -1 && errno != EEXIST)
		return -errno;
	fd = open_dir_at(at, name);
	if (fd >= 0 && fchmod(fd, (st.st_mode & 0777) | 0700) == -1) {
		int r = -errno;

		fd_close(fd);
		return r;
	}
	return fd;
}

/* Open the folder `path` below top ("": top itself) without following a link.
 * -ELOOP or -ENOTDIR when there is one on the way. */
static int
copy_file_open_dir(int top, const char *path)
{
	cleanup_fd int fd = open_dir_at(top, ".");
	cleanup_free char *copy = xstrdup(path);
	char *rest = copy, *name;

	while (fd >= 0 && (name = strsep(&rest, "/")) != NULL) {
		int next = *name != '\0' ? open_dir_at(fd, name) : take_fd(&fd);

		fd_close(fd);
		fd = next;
	}
	return take_fd(&fd);
}

/* Open the folder of a file and that of its copy, which is created if it is
 * missing. -ESTALE if the file's folder is gone. */
static int
open_both(int from, int to, const char *path, int *ret_from, int *ret_to)
{
	cleanup_fd int source = open_dir_at(from, "."),
		       target = open_dir_at(to, ".");
	cleanup_free char *copy = xstrdup(path);
	char *rest = copy, *name;

	for (name = strsep(&rest, "/");
	     rest != NULL && source >= 0 && target >= 0;
	     name = strsep(&rest, "/")) {
		int inner = open_dir_at(source, name), made = -1;

		if (inner >= 0)
			made = enter(target, inner, name);
		fd_close(source);
		fd_close(target);
		source = inner;
		target = made;
	}
	if (source < 0)
		return source == -ENOENT ? -ESTALE : source;
	if (target < 0)
		return target;
	*ret_from = take_fd(&source);
	*ret_to = take_fd(&target);
	return 0;
}

static int
copy_link(int source, int dir, const char *name, const char *temporary)
{
	char target[PATH_MAX], old[PATH_MAX];
	ssize_t len = readlinkat(source, name, target, sizeof target - 1);
	ssize_t there = readlinkat(dir, name, old, sizeof old);

	if (len == -1)
		return errno == ENOENT ? 0 : -errno;
	target[len] = '\0';
	if (there == len && memcmp(target, old, (size_t)len) == 0)
		return 0;
	unlinkat(dir, temporary, 0);
	if (symlinkat(target, dir, temporary) == -1)
		return -errno;
	if (renameat(dir, temporary, dir, name) == -1) {
		int r = -errno;

		unlinkat(dir, temporary, 0);
		return r;
	}
	return 0;
}

static bool
is_same(int dir, const char *name, const struct stat *st)
{
	struct stat old;

	return fstatat(dir, name, &old, AT_SYMLINK_NOFOLLOW) == 0 &&
	    old.st_mode == st->st_mode && old.st_size == st->st_size &&
	    old.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	    old.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

/* Open both files, the copy under its temporary name. */
static int
open_files(struct copy_file *file, int source)
{
	file->from = openat(source, file->name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (file->from == -1)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(file->from, &file->st) == -1)
		return -errno;
	if (!S_ISREG(file->st.st_mode))
		return 0;
	unlinkat(file->dir, file->temporary, 0);
	file->to = openat(file->dir, file->temporary,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file->to == -1)
		return -errno;
	file->piece = xmalloc(PIECE);
	return 1;
}

static struct copy_file *
copy_file_new(const char *path)
{
	struct copy_file *file = xcalloc(1, sizeof *file);
	const char *slash = strrchr(path, '/');

	file->dir = file->from = file->to = -1;
	file->name = xstrdup(slash != NULL ? slash + 1 : path);
	memcpy(file->temporary, TEMPORARY, strlen(TEMPORARY));
	id_hash(path, file->temporary + strlen(TEMPORARY), 16);
	return file;
}

/* The next piece. 1 = there is more, 0 = done. */
static int
copy_file_step(struct copy_file *file)
{
	ssize_t n = read(file->from, file->piece, PIECE);
	int r;

	if (n == -1)
		return errno == EINTR ? 1 : -errno;
	if (n == 0) {
		struct timespec times[2] = { file->st.st_atim,
			file->st.st_mtim };

		/* Set mode and time of the original, then rename it into
		 * place. */
		if (fchmod(file->to, file->st.st_mode & 07777) == -1 ||
		    futimens(file->to, times) == -1 || fsync(file->to) == -1 ||
		    renameat(file->dir, file->temporary, file->dir,
			file->name) == -1)
			return -errno;
		file->done = true;
		return 0;
	}
	r = file_write_all(file->to, file->piece, (size_t)n);
	return r < 0 ? r : 1;
}

/* Removes an unfinished copy. NULL is allowed. */
static void
copy_file_free(struct copy_file *file)
{
	if (file == NULL)
		return;
	if (file->to != -1 && !file->done)
		unlinkat(file->dir, file->temporary, 0);
	fd_close(file->to);
	fd_close(file->from);
	fd_close(file->dir);
	free(file->piece);
	free(file->name);
	free(file);
}

#define ASK_PATHS 256 /* paths in one git command */
#define ASK_BYTES (64 * 1024)

struct copy {
	struct git *git;
	bool asking; /* git has not answered yet */
	struct loop_call *call; /* NULL = it was freed while git was asked */
	char *root, *worktree;
	char **entries;
	copy_fn *fn;
	void *arg;
	int from, to; /* top folders */
	bool matched;
	struct copy_match todo; /* the last one is next */
	struct copy_match tracked; /* sorted when all were asked about */
	size_t asked; /* number of paths in todo that git was asked about;
		       * SIZE_MAX = all */
	struct copy_file *file; /* NULL between two files */
};

static void
copy_finish(struct copy *copy, const struct err *err)
{
	copy->fn(err, copy->arg); /* may free the copy */
}

static int
open_top(const char *path, int *ret_fd, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1)
		return err_errno(err, -errno, "repo.copy_files: %s", path);
	*ret_fd = fd;
	return 0;
}

static int
copy_prepare(struct copy *copy, struct err *err)
{
	int r = open_top(copy->root, &copy->from, err);

	if (r == 0)
		r = open_top(copy->worktree, &copy->to, err);
	if (r == 0)
		r = copy_match(copy->root, copy->worktree,
		    strv_const(copy->entries), &copy->todo, err);
	copy->matched = true;
	return r;
}

static void
copy_dropped(void *arg)
{
	struct copy *copy = arg;

	copy->asking = false;
	if (copy->call == NULL)
		copy_free(copy);
}

static void
copy_answered(const struct git_answer *answer, void *arg)
{
	struct copy *copy = arg;
	struct err err = { 0 };

	if (copy->call == NULL) {
		copy_dropped(copy);
		return;
	}
	copy->asking = false;
	if (answer->status != 0) {
		if (answer->err != NULL)
			err = *answer->err;
		else
			err_set(&err, -EIO, "%s", answer->complaint);
		err_prefix(&err, "repo.copy_files: git ls-files");
		copy_finish(copy, &err);
		return;
	}
	for (size_t at = 0; at < answer->out_len;) {
		const char *path = answer->out + at;

		copy_match_add(&copy->tracked, xstrdup(path));
		at += strlen(path) + 1;
	}
	loop_call_request(copy->call);
}

static bool
is_tracked(const struct copy *copy, const char *path)
{
	return copy->tracked.count > 0 &&
	    bsearch(&path, copy->tracked.paths, copy->tracked.count,
		sizeof path, strv_order) != NULL;
}

static int
copy_next(struct copy *copy, const char *path)
{
	struct stat st;

	if (is_tracked(copy, path))
		return 0;
	if (fstatat(copy->from, path, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode)) {
		int fd = copy_file_open_dir(copy->from, path);
		cleanup_dir DIR *dir = NULL;
		const char *name;

		/* Replace a folder by its entries. One that is gone is no
		 * error. */
		if (fd < 0)
			return fd == -ENOENT ? 0 : fd;
		dir = fdopendir(fd);
		if (dir == NULL) {
			fd_close(fd);
			return -ENOMEM;
		}
		while ((name = dir_next(dir)) != NULL)
			copy_match_add(
			    &copy->todo, xasprintf("%s/%s", path, name));
		return 0;
	}
	{
		int from = copy->from;
		int to = copy->to;
		struct copy_file **ret = &copy->file;
		struct copy_file *file = copy_file_new(path);
		cleanup_fd int source = -1;
		int r = open_both(from, to, path, &source, &file->dir);

		/* Begin to copy the file `path` below `from` to the same
		 * place below `to`; missing folders are created like those
		 * in `from`. 1: continue with copy_file_step(); 0: nothing
		 * is left to do, because it was a link, is the same already,
		 * is gone, or is of a kind that is not copied. */
		if (r == -ESTALE)
			r = 0;
		else if (r == 0 &&
		    fstatat(source, file->name, &file->st,
			AT_SYMLINK_NOFOLLOW) == -1)
			r = errno == ENOENT ? 0 : -errno;
		else if (r == 0 && S_ISLNK(file->st.st_mode))
			r = copy_link(
			    source, file->dir, file->name, file->temporary);
		else if (r == 0 && S_ISREG(file->st.st_mode) &&
		    !is_same(file->dir, file->name, &file->st))
			r = open_files(file, source);
		if (r == 1)
			*ret = file;
		else
			copy_file_free(file);
		return r;
	}
}

/* Copy one piece of one file, or begin the next path. */
static int
copy_step(struct copy *copy, struct err *err)
{
	size_t last = copy->todo.count - 1;
	const char *path = copy->todo.paths[last];
	cleanup_free char *done = NULL;
	int r;

	if (copy->file == NULL) {
		/* Remove it first: the entries of a folder are appended. */
		done = copy->todo.paths[last];
		copy->todo.count = last;
		r = copy_next(copy, path);
		if (r == 1)
			copy_match_add(&copy->todo, take_ptr(&done));
	} else {
		r = copy_file_step(copy->file);
		if (r == 0) {
			copy_file_free(take_ptr(&copy->file));
			done = copy->todo.paths[last];
			copy->todo.count = last;
		}
	}
	if (r == -ENOTDIR || r == -ELOOP)
		return err_set(err, -EINVAL,
		    "repo.copy_files: %s: the worktree has a file or a link "
		    "where a folder is needed",
		    path);
	if (r < 0)
		return err_errno(
		    err, r, "repo.copy_files: cannot copy %s", path);
	return 0;
}

static void
copy_turn(void *arg)
{
	struct copy *copy = arg;
	struct err err = { 0 };
	int r = copy->matched ? 0 : copy_prepare(copy, &err);

	if (r == 0 && copy->asked < copy->todo.count) {
		static const char *const head[] = { "--literal-pathspecs",
			"ls-files", "-z", "--" };
		const char *args[nitems(head) + ASK_PATHS + 1] = { 0 };
		struct git_command command = { .args = args,
			.drop = copy_dropped };
		size_t count = nitems(head), bytes = 0;

		/* Which of the next paths, or of what is in them, git
		 * tracks. */
		memcpy(args, head, sizeof head);
		while (copy->asked < copy->todo.count &&
		    count < nitems(args) - 1 && bytes < ASK_BYTES) {
			args[count] = copy->todo.paths[copy->asked++];
			bytes += strlen(args[count++]);
		}
		copy->asking = true;
		git_run(git_queue(copy->git, copy->worktree), &command,
		    copy_answered, copy);
		return;
	}
	if (r == 0 && copy->asked != SIZE_MAX) {
		copy->asked = SIZE_MAX;
		if (copy->tracked.count > 0)
			qsort(copy->tracked.paths, copy->tracked.count,
			    sizeof *copy->tracked.paths, strv_order);
	}
	if (r == 0 && copy->todo.count > 0) {
		r = copy_step(copy, &err);
		if (r == 0) {
			loop_call_request(copy->call);
			return;
		}
	}
	copy_finish(copy, r < 0 ? &err : NULL);
}

struct copy *
copy_begin(struct git *git, const char *worktree, const char *const *entries,
    copy_fn *fn, void *arg)
{
	struct copy *copy = xcalloc(1, sizeof *copy);

	copy->entries = strv_copy(entries);
	copy->git = git;
	copy->root = xstrdup(git_root(git));
	copy->worktree = xstrdup(worktree);
	copy->from = copy->to = -1;
	copy->fn = fn;
	copy->arg = arg;
	copy->call = loop_call_new(git_loop(git), copy_turn, copy);
	loop_call_request(copy->call);
	return copy;
}

void
copy_free(struct copy *copy)
{
	if (copy == NULL)
		return;
	copy_file_free(take_ptr(&copy->file));
	loop_call_free(take_ptr(&copy->call));
	if (copy->asking)
		return; /* the rest when git answers */
	strv_free(copy->entries);
	copy_match_release(&copy->todo);
	copy_match_release(&copy->tracked);
	fd_close(copy->from);
	fd_close(copy->to);
	free(copy->root);
	free(copy->worktree);
	free(copy);
}

static int
failed(struct seed *seed, const char *name)
{
	int r = -errno;

	snprintf(seed->at, sizeof seed->at, "%s", name);
	return r;
}

static int
copy_bytes(int from, int to)
{
	static char bytes[128 * 1024];
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = read(from, bytes, sizeof bytes)) > 0)
		r = file_write_all(to, bytes, (size_t)n);
	return r < 0 ? r : n < 0 ? -errno : 0;
}

static int
seed_file(struct seed *seed, int from_dir, int to_dir, const char *name,
    const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };
	cleanup_fd int from = -1, to = -1;
	int r = 0;

	from = openat(
	    from_dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (from == -1)
		return failed(seed, name);
	to = openat(to_dir, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    st->st_mode & 0777);
	if (to == -1)
		return failed(seed, name);
	if (!seed->no_clone && ioctl(to, FICLONE, from) == 0) {
		seed->result.cloned++;
	} else {
		seed->no_clone = true;
		r = copy_bytes(from, to);
	}
	if (r < 0) {
		errno = -r;
		return failed(seed, name);
	}
	/* Tools compare times: those of the copy are the same. */
	futimens(to, times);
	seed->result.files++;
	return 0;
}

static int
seed_link(struct seed *seed, int from_dir, int to_dir, const char *name)
{
	cleanup_free char *target = NULL;
	char text[PATH_MAX];
	bool inside;
	ssize_t len = readlinkat(from_dir, name, text, sizeof text - 1);

	if (len < 0)
		return failed(seed, name);
	text[len] = '\0';
	/* What leads into the other tree leads into this one. */
	inside =
	    text_begins(text, seed->from) && text[strlen(seed->from)] == '/';
	target = xasprintf("%s%s", inside ? seed->to : "",
	    text + (inside ? strlen(seed->from) : 0));
	if (symlinkat(target, to_dir, name) == -1)
		return failed(seed, name);
	seed->result.files++;
	return 0;
}

/* The contents of one folder; takes `from`. Sockets and devices are left
 * out. */
static int
seed_contents(struct seed *seed, int from, int to, int depth)
{
	DIR *list = fdopendir(from);
	const char *name;
	int r = 0;

	if (list == NULL) {
		fd_close(from);
		return -errno;
	}
	if (depth > DEPTH_MAX)
		r = -ENAMETOOLONG;
	while (r == 0 && (name = dir_next(list)) != NULL) {
		struct stat st;

		if (clock_mono_ms() >= seed->until_ms) {
			r = -ETIME;
		} else if (fstatat(dirfd(list), name, &st,
			       AT_SYMLINK_NOFOLLOW) == -1) {
			r = errno == ENOENT ? 0 : failed(seed, name);
		} else if (S_ISREG(st.st_mode)) {
			r = seed_file(seed, dirfd(list), to, name, &st);
		} else if (S_ISLNK(st.st_mode)) {
			r = seed_link(seed, dirfd(list), to, name);
		} else if (S_ISDIR(st.st_mode)) {
			const struct timespec times[] = { st.st_atim,
				st.st_mtim };
			cleanup_fd int in = -1;
			int out = openat(dirfd(list), name, FOLDER);

			if (out == -1 || mkdirat(to, name, 0700) == -1 ||
			    (in = openat(to, name, FOLDER)) == -1) {
				r = failed(seed, name);
				fd_close(out);
				break;
			}
			r = seed_contents(seed, out, in, depth + 1);
			/* Last: it may be read-only. */
			fchmod(in, st.st_mode & 0777);
			futimens(in, times);
		}
	}
	closedir(list);
	return r;
}

/* The folder at a path, of which no part is a link. make: folders above the
 * last one. */
static int
open_inside(const char *root, const char *path, bool make)
{
	cleanup_free char *copy = xstrdup(path);
	char *rest = copy, *name;
	int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (dir >= 0 && (name = strsep(&rest, "/")) != NULL) {
		int next;

		if (strcmp(name, "..") == 0) {
			fd_close(dir);
			return -EINVAL;
		}
		if (*name == '\0' || strcmp(name, ".") == 0)
			continue;
		if (make)
			mkdirat(dir, name, 0777);
		next = openat(dir, name, FOLDER);
		fd_close(dir);
		dir = next;
	}
	return dir < 0 ? -errno : dir;
}

int
seed_folder(const char *from, const char *to, const char *path,
    int64_t until_ms, struct seed_result *ret_result, struct err *err)
{
	struct seed seed = { .from = from, .to = to, .until_ms = until_ms };
	const char *last = strrchr(path, '/');
	cleanup_free char *above =
	    xstrndup(path, last != NULL ? (size_t)(last - path) : 0);
	cleanup_fd int parent = -1, made = -1;
	int source = open_inside(from, path, false), r = 0;

	last = last != NULL ? last + 1 : path;
	if (source < 0)
		return err_errno(err, source, "%s/%s", from, path);
	parent = open_inside(to, above, true);
	if (parent < 0)
		r = parent;
	else if (mkdirat(parent, last, 0777) == -1)
		r = -errno;
	if (r < 0) {
		fd_close(source);
		return err_errno(err, r, "%s/%s", to, path);
	}
	made = openat(parent, last, FOLDER);
	if (made >= 0) {
		r = seed_contents(&seed, source, made, 0);
	} else {
		r = -errno;
		fd_close(source);
	}
	if (r < 0) {
		remove_tree_below(to, path);
		return err_errno(err, r, "%s/%s%s%s", from, path,
		    seed.at[0] != '\0' ? ": " : "", seed.at);
	}
	*ret_result = seed.result;
	return 0;
}
