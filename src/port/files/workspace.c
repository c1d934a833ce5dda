/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <libgen.h>
#include <sys/stat.h>

#include "workspace.h"

#define GIT_FILE_MAX 8192 /* .git files hold one path */

void
workspace_release(struct workspace *ws)
{
	free(take_ptr(&ws->root));
	free(take_ptr(&ws->git_dir));
	free(take_ptr(&ws->dir));
}

void
workspace_cleanup(struct workspace *ws)
{
	workspace_release(ws);
}

static char *
parent_of(const char *path)
{
	cleanup_free char *copy = xstrdup(path);

	return xstrdup(dirname(copy));
}

static bool
last_part_is(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && strcmp(slash + 1, name) == 0;
}

/* A small file that holds one path, the end of its line cut off. */
static int
read_line(const char *path, struct buf *line, struct err *err)
{
	int r = file_read(path, GIT_FILE_MAX, line, err);

	if (r < 0)
		return r;
	/* As git does: a path may have a newline in its middle. */
	while (line->len > 0 && strchr("\r\n", line->data[line->len - 1]))
		buf_truncate(line, line->len - 1);
	return 0;
}

/* dir/.git is a file "gitdir: PATH": a linked worktree, a submodule, or a
 * separate git directory. Only the first has a file `commondir` there. */
static int
follow_gitfile(
    const char *dir, const char *gitfile, struct workspace *ws, struct err *err)
{
	static const char tag[] = "gitdir: ";
	cleanup_buf struct buf line = BUF_INIT, common = BUF_INIT;
	cleanup_free char *git = NULL, *pointer = NULL, *path = NULL,
			  *real = NULL;
	int r = read_line(gitfile, &line, err);

	if (r < 0)
		return r;
	if (!text_begins(line.data, tag))
		return err_set(err, -EINVAL,
		    "%s: expected a line that begins with \"%s\"", gitfile,
		    tag);
	git = file_join(dir, line.data + strlen(tag));
	pointer = file_join(git, "commondir");
	r = read_line(pointer, &common, NULL);
	path = r == 0 ? file_join(git, common.data) : xstrdup(git);
	real = realpath(path, NULL);
	if (real == NULL)
		return err_errno(err, -errno, "%s, named by %s", path, gitfile);
	ws->in_worktree = r == 0;
	if (ws->in_worktree && !last_part_is(real, ".git"))
		return err_set(err, -ENOTSUP,
		    "%s is a worktree of a repository without a main working "
		    "tree (%s); use a clone that has one",
		    dir, real);
	ws->root = ws->in_worktree ? parent_of(real) : xstrdup(dir);
	ws->git_dir = take_ptr(&real);
	return 0;
}

/* The same test by which git recognises a git directory. */
static bool
is_git_dir(const char *dir)
{
	cleanup_free char *objects = file_join(dir, "objects");
	cleanup_free char *refs = file_join(dir, "refs");
	cleanup_free char *head = file_join(dir, "HEAD");

	return file_is_dir(objects) && file_is_dir(refs) && file_exists(head);
}

/* Look at one directory: 1 found, 0 go on upwards. */
static int
look_at(const char *dir, struct workspace *ws, struct err *err)
{
	cleanup_free char *git = file_join(dir, ".git");
	struct stat st;
	int r;

	if (stat(git, &st) == -1 || (S_ISDIR(st.st_mode) && !is_git_dir(git))) {
		if (is_git_dir(dir))
			return err_set(err, -ENOTSUP,
			    "%s is inside a git directory or a bare "
			    "repository; change to a working tree",
			    dir);
		return 0;
	}
	if (S_ISDIR(st.st_mode)) {
		ws->root = xstrdup(dir);
		ws->git_dir = realpath(git, NULL);
		if (ws->git_dir == NULL)
			ws->git_dir = xstrdup(git);
		return 1;
	}
	r = follow_gitfile(dir, git, ws, err);
	return r < 0 ? r : 1;
}

int
workspace_find(
    const char *start, struct workspace *ret_workspace, struct err *err)
{
	struct workspace ws = { 0 };
	cleanup_free char *dir = realpath(start, NULL), *up = NULL;
	int r = 0;

	if (dir == NULL)
		return err_errno(err, -errno, "%s", start);
	for (;;) {
		r = look_at(dir, &ws, err);
		if (r != 0 || strcmp(dir, "/") == 0)
			break;
		up = parent_of(dir);
		free(dir);
		dir = take_ptr(&up);
	}
	if (r < 0) {
		workspace_release(&ws);
		return r;
	}
	if (r == 0)
		return err_set(err, -ENOENT,
		    "%s is not inside a git repository; change to one, or "
		    "create one with: git init",
		    strcmp(start, ".") == 0 ? "this folder" : start);
	ws.dir = file_join(ws.root, ".llmc");
	*ret_workspace = ws;
	return 0;
}

int
workspace_at(const char *root, struct workspace *ret_workspace, struct err *err)
{
	cleanup_workspace struct workspace ws = { 0 };
	cleanup_free char *real = NULL;
	int r = workspace_find(root, &ws, err);

	if (r < 0)
		return r;
	real = realpath(root, NULL);
	if (!ws.in_worktree && !text_is(real, ws.root))
		return err_set(err, -EINVAL,
		    "%s is not the top of a git repository; %s is", root,
		    ws.root);
	*ret_workspace = ws;
	ws = (struct workspace){ 0 };
	return 0;
}

bool
workspace_initialised(const struct workspace *ws)
{
	cleanup_free char *config = workspace_path(ws, "config.toml");

	return file_is_dir(ws->dir) && file_exists(config);
}

char *
workspace_path(const struct workspace *ws, const char *name)
{
	return file_join(ws->dir, name);
}

char *
workspace_resolve(const struct workspace *ws, const char *path)
{
	return file_join(ws->root, path);
}

/* What is behind the root in an absolute path, NULL if it begins otherwise. */
static const char *
below(const struct workspace *ws, const char *path)
{
	size_t len = strlen(ws->root);

	return strncmp(path, ws->root, len) == 0 &&
		(path[len] == '/' || path[len] == '\0') ?
	    path + len :
	    NULL;
}

static void
add_part(struct buf *out, const char *part, size_t len)
{
	const char *slash;

	if (len == 0 || (len == 1 && part[0] == '.'))
		return;
	if (len != 2 || !text_begins(part, "..")) {
		buf_addc(out, '/');
		buf_add(out, part, len);
		return;
	}
	slash = strrchr(out->data, '/');
	if (slash != NULL)
		buf_truncate(out, (size_t)(slash - out->data));
}

char *
workspace_inside(const struct workspace *ws, const char *path)
{
	cleanup_free char *full = workspace_resolve(ws, path);
	cleanup_free char *real = NULL;
	cleanup_buf struct buf clean = BUF_INIT;
	const char *rest;

	for (const char *part = full; *part != '\0';) {
		size_t len = strcspn(part, "/");

		add_part(&clean, part, len);
		part += len + (part[len] == '/');
	}
	rest = below(ws, clean.data);
	/* It may lead here by a link. */
	if (rest == NULL)
		real = realpath(clean.data, NULL);
	if (real != NULL)
		rest = below(ws, real);
	return rest != NULL && rest[0] == '/' ? xstrdup(rest + 1) : NULL;
}
