/* SPDX-License-Identifier: ISC */

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

/* One name below git_dir/worktrees. */
static char *
own_folder(const char *git_dir, const char *line)
{
	cleanup_free char *worktrees = xasprintf("%s/worktrees/", git_dir);
	const char *path = line + strlen("gitdir: ");

	if (strncmp(line, "gitdir: ", strlen("gitdir: ")) != 0 ||
	    strncmp(path, worktrees, strlen(worktrees)) != 0)
		return NULL;
	path += strlen(worktrees);
	if (path[0] == '\0' || strchr(path, '/') != NULL ||
	    strcmp(path, ".") == 0 || strcmp(path, "..") == 0)
		return NULL;
	return xstrdup(line + strlen("gitdir: "));
}

static int
check_back(const char *folder, const char *dot_git, struct err *err)
{
	cleanup_free char *gitdir = file_join(folder, "gitdir");
	cleanup_free char *commondir = file_join(folder, "commondir");
	cleanup_buf struct buf back = BUF_INIT, common = BUF_INIT;
	int r = read_line(gitdir, &back, err);

	if (r == 0)
		r = read_line(commondir, &common, err);
	if (r < 0)
		return r;
	if (strcmp(back.data, dot_git) != 0)
		return refuse(gitdir, back.data, err);
	if (strcmp(common.data, "../..") != 0)
		return refuse(commondir, common.data, err);
	return 0;
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
	folder = own_folder(git_dir, line.data);
	if (folder == NULL)
		return refuse(dot_git, line.data, err);
	r = check_back(folder, dot_git, err);
	if (r == 0)
		r = make_places(git_dir, folder, err);
	if (r == 0)
		*ret_tree_git = take_ptr(&folder);
	return r;
}

static void
add_setting(char ***set, int64_t *n, const char *key, const char *value)
{
	strv_take(set, xasprintf("GIT_CONFIG_KEY_%d=%s", (int)*n, key));
	strv_take(set, xasprintf("GIT_CONFIG_VALUE_%d=%s", (int)*n, value));
	++*n;
}

void
box_git_add_config(enum box_mode mode, char ***set)
{
	const char *count = getenv("GIT_CONFIG_COUNT");
	int64_t n;

	/* With any other value git does not run at all. */
	if (count == NULL || !text_parse_int(count, 0, CONFIG_MAX, &n))
		n = 0;
	add_setting(set, &n, "gc.auto", "0");
	add_setting(set, &n, "maintenance.auto", "false");
	/* The resolutions that git remembers are the repository's: read-only.
	 */
	if (mode == BOX_WORKTREE)
		add_setting(set, &n, "rerere.enabled", "false");
	strv_take(set, xasprintf("GIT_CONFIG_COUNT=%d", (int)n));
}
