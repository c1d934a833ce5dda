/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "remove-tree.h"
#include "seed.h"

#define FOLDER    (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEPTH_MAX 100 /* two descriptors for each */

struct seed {
	const char *from, *to; /* the trees */
	int64_t until_ms;
	bool no_clone; /* this file system cannot */
	struct seed_result result;
	char at[512]; /* what failed, for people */
};

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
