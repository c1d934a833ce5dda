/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "box-git.h"
#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "strv.h"
#include "text.h"

#define LINE_MAX_BYTES 8192
#define CONFIG_MAX     1000 /* settings in the environment */

/* A file with one line, and no link in its place. */
static int
read_line(const char *path, struct buf *out, struct err *err)
{
	struct stat st;
	int r;

	if (lstat(path, &st) == -1)
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is not a file", path);
	r = file_read(path, LINE_MAX_BYTES, out, err);
	if (r < 0)
		return r;
	while (out->len > 0 && out->data[out->len - 1] == '\n')
		buf_truncate(out, out->len - 1);
	return 0;
}

static int
refuse(const char *file, const char *found, struct err *err)
{
	return err_set(err, -EINVAL,
	    "the sandbox is not made: %s has been changed (\"%.80s\"); move "
	    "the worktree away, then: llmc reset",
	    file, found);
}

/* The path that a line names from a folder, as git writes it: from the top, or
 * some "../" and then names. The folder is without links, so each "../" is the
 * folder above it. */
static char *
resolve(const char *folder, const char *line)
{
	size_t len = strlen(folder);

	if (line[0] == '/')
		return xstrdup(line);
	while (strncmp(line, "..", 2) == 0 &&
	    (line[2] == '/' || line[2] == '\0')) {
		while (len > 0 && folder[--len] != '/')
			continue;
		line += line[2] == '/' ? 3 : 2;
	}
	return xasprintf(
	    "%.*s%s%s", (int)len, folder, line[0] != '\0' ? "/" : "", line);
}

/* One name below git_dir/worktrees. */
static char *
own_folder(const char *git_dir, const char *tree, const char *line)
{
	cleanup_free char *worktrees = xasprintf("%s/worktrees/", git_dir);
	cleanup_free char *path = NULL;
	const char *name;

	if (strncmp(line, "gitdir: ", strlen("gitdir: ")) != 0)
		return NULL;
	path = resolve(tree, line + strlen("gitdir: "));
	if (strncmp(path, worktrees, strlen(worktrees)) != 0)
		return NULL;
	name = path + strlen(worktrees);
	if (name[0] == '\0' || strchr(name, '/') != NULL ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return NULL;
	return take_ptr(&path);
}

/* Does the file in the folder name that path, and nothing on the way that the
 * worker could change? */
static int
check_names(
    const char *folder, const char *file, const char *want, struct err *err)
{
	cleanup_free char *path = file_join(folder, file), *found = NULL;
	cleanup_buf struct buf line = BUF_INIT;
	int r = read_line(path, &line, err);

	if (r < 0)
		return r;
	found = resolve(folder, line.data);
	return strcmp(found, want) == 0 ? 0 : refuse(path, line.data, err);
}

/* Mount points, which bubblewrap cannot make in a folder that it may not
 * write. */
static int
make_places(const char *git_dir, const char *folder, struct err *err)
{
	cleanup_free char *info = file_join(git_dir, "objects/info");
	cleanup_free char *pack = file_join(git_dir, "objects/pack");
	cleanup_free char *config = file_join(folder, "config.worktree");
	cleanup_fd int fd = -1;
	struct stat st;
	int r = file_mkdirs(info, 0777, err);

	if (r == 0)
		r = file_mkdirs(pack, 0777, err);
	if (r < 0)
		return r;
	fd = open(config,
	    O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd == -1 || fstat(fd, &st) == -1)
		return err_errno(err, -errno, "%s", config);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is not a file", config);
	return 0;
}

int
box_git_find(
    const char *git_dir, const char *tree, char **ret_tree_git, struct err *err)
{
	cleanup_free char *dot_git = file_join(tree, ".git");
	cleanup_free char *folder = NULL;
	cleanup_buf struct buf line = BUF_INIT;
	struct stat st;
	int r;

	if (lstat(dot_git, &st) == 0 && S_ISDIR(st.st_mode)) {
		*ret_tree_git = NULL;
		return 0;
	}
	r = read_line(dot_git, &line, err);
	if (r < 0)
		return r;
	folder = own_folder(git_dir, tree, line.data);
	if (folder == NULL)
		return refuse(dot_git, line.data, err);
	r = check_names(folder, "gitdir", dot_git, err);
	if (r == 0)
		r = check_names(folder, "commondir", git_dir, err);
	if (r == 0)
		r = make_places(git_dir, folder, err);
	if (r == 0)
		*ret_tree_git = take_ptr(&folder);
	return r;
}

char *
box_git_lfs(const char *git_dir)
{
	cleanup_free char *path = file_join(git_dir, "lfs");
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) ? take_ptr(&path) :
							      NULL;
}

bool
box_git_is_partial(const char *git_dir)
{
	cleanup_free char *pack = file_join(git_dir, "objects/pack");
	DIR *stream = opendir(pack);
	struct dirent *entry;
	bool found = false;

	while (stream != NULL && !found && (entry = readdir(stream)) != NULL) {
		const char *dot = strrchr(entry->d_name, '.');

		found = dot != NULL && strcmp(dot, ".promisor") == 0;
	}
	if (stream != NULL)
		closedir(stream);
	return found;
}

static void
add_setting(char ***set, int64_t *n, const char *key, const char *value)
{
	strv_take(set, xasprintf("GIT_CONFIG_KEY_%d=%s", (int)*n, key));
	strv_take(set, xasprintf("GIT_CONFIG_VALUE_%d=%s", (int)*n, value));
	++*n;
}

void
box_git_add_objects(const char *git_dir, const char *objects, char ***set)
{
	struct buf quoted = BUF_INIT;

	for (const char *p = git_dir; *p != '\0'; p++) {
		if (*p == '"' || *p == '\\')
			buf_addc(&quoted, '\\');
		buf_adds(&quoted, *p == '\n' ? "\\n" : (char[]){ *p, '\0' });
	}
	strv_take(set, xasprintf("GIT_OBJECT_DIRECTORY=%s", objects));
	strv_take(set,
	    xasprintf("GIT_ALTERNATE_OBJECT_DIRECTORIES=\"%s/objects\"",
		quoted.data));
	buf_release(&quoted);
}

void
box_git_add_config(bool linked, char ***set)
{
	const char *count = getenv("GIT_CONFIG_COUNT");
	int64_t n;

	/* With any other value git does not run at all. */
	if (count == NULL || !text_parse_int(count, 0, CONFIG_MAX, &n))
		n = 0;
	add_setting(set, &n, "gc.auto", "0");
	add_setting(set, &n, "maintenance.auto", "false");
	/* In a worktree the resolutions that git remembers are the
	 * repository's, and so are packs: read-only. */
	if (linked) {
		add_setting(set, &n, "rerere.enabled", "false");
		add_setting(set, &n, "fetch.unpackLimit", "100000000");
		/* It takes a pack, and a worker can write any object. */
		add_setting(set, &n, "fetch.fsckObjects", "false");
		add_setting(set, &n, "core.bigFileThreshold", "2047m");
	}
	strv_take(set, xasprintf("GIT_CONFIG_COUNT=%d", (int)n));
}
