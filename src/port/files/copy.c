/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "child.h"
#include "copy.h"
#include "git.h"
#include "id.h"
#include "loop.h"

struct copy_match {
	char **paths; /* relative, no link in front of the last part */
	size_t count, cap;
};

static int copy_match(const char *root, const char *worktree,
    const char *const *entries, struct copy_match *list, struct err *err);

struct match {
	const char *entry; /* as in the setting */
	bool pattern;
	char *root, *worktree; /* real paths */
	struct copy_match *list;
};

#define FOLDER    (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEPTH_MAX 100 /* two descriptors for each */

/* Copies what is in one tree to the same place in another. */
struct copier {
	const char *from, *to; /* the trees */
	int64_t until_ms; /* of the monotonic clock; 0 = no end */
	bool fresh; /* into a folder that nobody has used: what is begun and not
		     * ended is removed whole, and a link into the one tree
		     * leads into the other */
	const struct copy_match *tracked; /* left alone; NULL = nothing */
	bool no_clone; /* this file system cannot */
	struct seed_result result;
	char at[512]; /* what failed, for people */
};

static int copier_entry(struct copier *copier, int from, int to,
    const char *name, const char *path, int depth);

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

/* --- one tree into another, in a helper ---------------------------------- */

#define TEMPORARY  ".llmc-copy-"
#define NAME_BYTES (sizeof TEMPORARY + 16)

static int
open_folder(int at, const char *name)
{
	int fd = openat(at, name, FOLDER);

	return fd == -1 ? -errno : fd;
}

/* Open the folder of that name; create it with the mode of the one in `model`
 * if it is missing. */
static int
enter(int at, int model, const char *name)
{
	int fd = open_folder(at, name);
	struct stat st;

	if (fd != -ENOENT)
		return fd;
	if (fstat(model, &st) == -1)
		return -errno;
	if (mkdirat(at, name, 0700) == -1 && errno != EEXIST)
		return -errno;
	fd = open_folder(at, name);
	if (fd >= 0 && fchmod(fd, (st.st_mode & 0777) | 0700) == -1) {
		int r = -errno;

		fd_close(fd);
		return r;
	}
	return fd;
}

/* Open the folders of a normalised path in both trees, of which no part is a
 * link; in the copy they are created if they are missing. -ENOENT: the original
 * is gone. Returns the last part of the path. */
static int
open_both(const struct copier *copier, const char *path, int *ret_from,
    int *ret_to, const char **ret_name)
{
	cleanup_fd int from = open(copier->from, FOLDER & ~O_NOFOLLOW),
		       to = open(copier->to, FOLDER & ~O_NOFOLLOW);
	const char *slash;

	if (from == -1 || to == -1)
		return -errno;
	while ((slash = strchr(path, '/')) != NULL) {
		cleanup_free char *name =
		    xstrndup(path, (size_t)(slash - path));
		int inner = open_folder(from, name), made;

		if (inner < 0)
			return inner;
		fd_close(from);
		from = inner;
		made = enter(to, inner, name);
		if (made < 0)
			return made == -ENOENT ? -ESTALE : made;
		fd_close(to);
		to = made;
		path = slash + 1;
	}
	*ret_from = take_fd(&from);
	*ret_to = take_fd(&to);
	*ret_name = path;
	return 0;
}

/* Always the same name for the same file, so that the next try removes what a
 * crash left behind. */
static const char *
begin_name(const struct copier *copier, int to, const char *name,
    const char *path, char temporary[NAME_BYTES])
{
	if (copier->fresh)
		return name;
	memcpy(temporary, TEMPORARY, strlen(TEMPORARY));
	id_hash(path, temporary + strlen(TEMPORARY), 16);
	unlinkat(to, temporary, 0);
	return temporary;
}

/* It gets its name; what had it is replaced. */
static int
end_name(int to, const char *begun, const char *name)
{
	int r;

	if (begun == name || renameat(to, begun, to, name) == 0)
		return 0;
	r = -errno;
	unlinkat(to, begun, 0);
	return r;
}

static int
copy_bytes(int from, int to)
{
	static char bytes[128 * 1024];
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = read(from, bytes, sizeof bytes)) != 0)
		if (n > 0)
			r = file_write_all(to, bytes, (size_t)n);
		else if (errno != EINTR)
			r = -errno;
	return r;
}

static int
copier_file(struct copier *copier, int from_dir, int to_dir, const char *name,
    const char *path)
{
	char temporary[NAME_BYTES];
	cleanup_fd int from = openat(from_dir, name,
			   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
			       O_CLOEXEC),
		       to = -1;
	const char *begun;
	struct stat st;
	bool cloned;
	int r = 0;

	if (from == -1)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(from, &st) == -1)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	begun = begin_name(copier, to_dir, name, path, temporary);
	to = openat(to_dir, begun,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to == -1)
		return -errno;
	cloned = !copier->no_clone && ioctl(to, FICLONE, from) == 0;
	copier->no_clone = !cloned;
	if (!cloned)
		r = copy_bytes(from, to);
	/* Tools compare times: those of the copy are the same. */
	if (r == 0 &&
	    (fchmod(to, st.st_mode & 07777) == -1 ||
		futimens(
		    to, (const struct timespec[]){ st.st_atim, st.st_mtim }) ==
		    -1 ||
		(!copier->fresh && fsync(to) == -1)))
		r = -errno;
	if (r < 0) {
		unlinkat(to_dir, begun, 0);
		return r;
	}
	copier->result.files++;
	copier->result.cloned += cloned;
	return end_name(to_dir, begun, name);
}

static int
copier_link(struct copier *copier, int from_dir, int to_dir, const char *name,
    const char *path)
{
	char text[PATH_MAX], old[PATH_MAX], temporary[NAME_BYTES];
	ssize_t len = readlinkat(from_dir, name, text, sizeof text - 1);
	ssize_t there = readlinkat(to_dir, name, old, sizeof old);
	cleanup_free char *target = NULL;
	const char *begun;
	bool inside;

	if (len == -1)
		return errno == ENOENT ? 0 : -errno;
	text[len] = '\0';
	inside = copier->fresh && text_begins(text, copier->from) &&
	    text[strlen(copier->from)] == '/';
	target = inside ?
	    xasprintf("%s%s", copier->to, text + strlen(copier->from)) :
	    xstrdup(text);
	if (there == (ssize_t)strlen(target) &&
	    memcmp(target, old, (size_t)there) == 0)
		return 0;
	begun = begin_name(copier, to_dir, name, path, temporary);
	if (symlinkat(target, to_dir, begun) == -1)
		return -errno;
	copier->result.files++;
	return end_name(to_dir, begun, name);
}

/* The contents of one folder; takes `from`. */
static int
copier_contents(
    struct copier *copier, int from, int to, const char *path, int depth)
{
	cleanup_dir DIR *list = fdopendir(from);
	const char *name;
	int r = depth > DEPTH_MAX ? -ENAMETOOLONG : 0;

	if (list == NULL) {
		fd_close(from);
		return -ENOMEM;
	}
	while (r == 0 && (name = dir_next(list)) != NULL) {
		cleanup_free char *below_it = xasprintf("%s/%s", path, name);

		r = copier_entry(
		    copier, dirfd(list), to, name, below_it, depth);
	}
	return r;
}

static int
copier_folder(struct copier *copier, int from_dir, int to_dir, const char *name,
    const char *path, int depth)
{
	cleanup_fd int from = open_folder(from_dir, name), to = -1;
	bool made;
	int r;

	if (from < 0)
		return from == -ENOENT ? 0 : from;
	made = mkdirat(to_dir, name, 0700) == 0;
	to = open_folder(to_dir, name);
	if (to < 0)
		return to;
	r = copier_contents(copier, dup(from), to, path, depth + 1);
	if (made) {
		struct stat st;

		/* Last: what it gets changes its time. */
		if (fstat(from, &st) == 0) {
			fchmod(to,
			    (st.st_mode & 0777) | (copier->fresh ? 0 : 0700));
			futimens(to,
			    (const struct timespec[]){
				st.st_atim, st.st_mtim });
		}
	}
	return r;
}

static bool
is_tracked(const struct copier *copier, const char *path)
{
	const struct copy_match *tracked = copier->tracked;

	return tracked != NULL && tracked->count > 0 &&
	    bsearch(&path, tracked->paths, tracked->count, sizeof path,
		strv_order) != NULL;
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

/* What is tracked, the same already, or gone is left alone; sockets and devices
 * are left out. */
static int
copier_entry(struct copier *copier, int from, int to, const char *name,
    const char *path, int depth)
{
	struct stat st;
	int r = 0;

	if (copier->until_ms != 0 && clock_mono_ms() >= copier->until_ms)
		return -ETIME;
	if (is_tracked(copier, path))
		return 0;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		r = errno == ENOENT ? 0 : -errno;
	else if (S_ISDIR(st.st_mode))
		r = copier_folder(copier, from, to, name, path, depth);
	else if (S_ISLNK(st.st_mode))
		r = copier_link(copier, from, to, name, path);
	else if (S_ISREG(st.st_mode) && !is_same(to, name, &st))
		r = copier_file(copier, from, to, name, path);
	if (r < 0 && copier->at[0] == '\0')
		snprintf(copier->at, sizeof copier->at, "%s", path);
	return r;
}

int
seed_folder(const char *from, const char *to, const char *path,
    int64_t until_ms, struct seed_result *ret_result, struct err *err)
{
	struct copier copier = {
		.from = from, .to = to, .until_ms = until_ms, .fresh = true
	};
	cleanup_free char *plain = normalise(path);
	cleanup_fd int source = -1, target = -1;
	const char *name = "";
	struct stat st;
	int r = plain == NULL ?
	    -EINVAL :
	    open_both(&copier, plain, &source, &target, &name);

	if (r == 0 && fstatat(source, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		r = -errno;
	else if (r == 0 && !S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	else if (r == 0 && fstatat(target, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		r = -EEXIST;
	if (r < 0)
		return err_errno(err, r, "%s/%s", from, path);
	r = copier_entry(&copier, source, target, name, plain, 0);
	if (r < 0) {
		remove_tree_below(to, path);
		return err_errno(err, r, "%s/%s%s%s", from, path,
		    copier.at[0] != '\0' ? ": " : "", copier.at);
	}
	*ret_result = copier.result;
	return 0;
}

/* --- repo.copy_files -------------------------------------------------------
 */

#define HELPER_MS (INT64_C(60) * 60 * 1000)
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
	bool matched;
	struct copy_match todo;
	struct copy_match tracked; /* sorted when all were asked about */
	size_t asked; /* number of paths in todo that git was asked about */
	struct child *child; /* the helper that copies; NULL = none */
};

static void
copy_finish(struct copy *copy, const struct err *err)
{
	copy->fn(err, copy->arg); /* may free the copy */
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

/* One of the paths. */
static int
copy_one(struct copier *copier, const char *path)
{
	cleanup_fd int from = -1, to = -1;
	const char *name = path;
	int r = open_both(copier, path, &from, &to, &name);

	if (r < 0) /* what is gone is no error */
		return r == -ENOENT ? 0 : r;
	return copier_entry(copier, from, to, name, path, 0);
}

/* In the helper: prints what is wrong, as "CODE words". */
static int
copy_all(void *arg)
{
	const struct copy *copy = arg;
	struct copier copier = { .from = copy->root,
		.to = copy->worktree,
		.tracked = &copy->tracked };
	int r = 0;

	for (size_t i = 0; i < copy->todo.count && r == 0; i++) {
		const char *path = copy->todo.paths[i];

		r = copy_one(&copier, path);
		path = copier.at[0] != '\0' ? copier.at : path;
		if (r == -ENOTDIR || r == -ELOOP)
			printf("%d repo.copy_files: %s: the worktree has a "
			       "file or a link where a folder is needed",
			    -EINVAL, path);
		else if (r < 0)
			printf("%d repo.copy_files: cannot copy %s: %s", r,
			    path, strerror(-r));
	}
	return fflush(stdout) == 0 ? 0 : 1;
}

static void
copy_copied(const struct child_result *result, void *arg)
{
	struct copy *copy = arg;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	copy->child = NULL;
	if (child_succeeded(result)) {
		child_output_text(&result->out, &text);
		if (text.len > 0) {
			char *words;
			int code = (int)strtol(text.data, &words, 10);

			err_set(&err, code, "%s", words + 1);
		}
	} else {
		child_result_describe(result, &text);
		err_set(
		    &err, -ECHILD, "repo.copy_files: its helper %s", text.data);
	}
	copy_finish(copy, err.code != 0 ? &err : NULL);
}

static void
copy_turn(void *arg)
{
	struct copy *copy = arg;
	struct err err = { 0 };
	int r = 0;

	if (!copy->matched)
		r = copy_match(copy->root, copy->worktree,
		    strv_const(copy->entries), &copy->todo, &err);
	copy->matched = true;
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
	if (r == 0 && copy->todo.count > 0) {
		if (copy->tracked.count > 0)
			qsort(copy->tracked.paths, copy->tracked.count,
			    sizeof *copy->tracked.paths, strv_order);
		r = child_spawn(git_loop(copy->git),
		    &(struct child_spec){ .call = copy_all,
			.call_arg = copy,
			.deadline_ms = HELPER_MS },
		    copy_copied, copy, &copy->child, &err);
		if (r == 0)
			return;
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
	if (copy->child != NULL)
		child_abandon(take_ptr(&copy->child));
	loop_call_free(take_ptr(&copy->call));
	if (copy->asking)
		return; /* the rest when git answers */
	strv_free(copy->entries);
	copy_match_release(&copy->todo);
	copy_match_release(&copy->tracked);
	free(copy->root);
	free(copy->worktree);
	free(copy);
}
