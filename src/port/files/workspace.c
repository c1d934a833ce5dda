/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <libgen.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "api.h"
#include "git-ask.h"
#include "id.h"
#include "toml.h"
#include "workspace.h"

#define GIT_FILE_MAX 8192 /* .git files hold one path */

#define NAME_CHARS 16

#define ROOT_ID_MAX 4096

#define SOCKET "sock"
#define SPOOL  "spool"
#define WAIT   ".wait"

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

/* Is this repository the clone of a worker (git-clone.h), which borrows the
 * objects of the one around it? Of which llmc is set up: then that is meant. */
static bool
follow_clone(const char *dir, const char *git, struct workspace *ws)
{
	cleanup_free char *file = file_join(git, "objects/info/alternates");
	cleanup_free char *own = file_join(dir, ".llmc"), *objects = NULL;
	cleanup_free char *common = NULL, *root = NULL, *config = NULL;
	cleanup_buf struct buf line = BUF_INIT;

	if (file_exists(own) || read_line(file, &line, NULL) < 0)
		return false;
	objects = realpath(line.data, NULL);
	if (objects == NULL || !last_part_is(objects, "objects"))
		return false;
	common = parent_of(objects);
	if (!last_part_is(common, ".git"))
		return false;
	root = parent_of(common);
	config = file_join(root, ".llmc/config.toml");
	if (strncmp(dir, root, strlen(root)) != 0 || dir[strlen(root)] != '/' ||
	    !file_exists(config))
		return false;
	ws->in_worktree = true;
	ws->root = take_ptr(&root);
	ws->git_dir = take_ptr(&common);
	return true;
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
	if (S_ISDIR(st.st_mode) && follow_clone(dir, git, ws))
		return 1;
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

	/* Its reader says why it cannot be looked into. */
	return file_is_dir(ws->dir) && (file_exists(config) || errno == EACCES);
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

/* NULL = this user has no home. */
static char *
roots_dir(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state != NULL && state[0] == '/')
		return file_join(state, "llmc/roots");
	return home != NULL && home[0] == '/' ?
	    file_join(home, ".local/state/llmc/roots") :
	    NULL;
}

int
roots_note(const char *root, struct err *err)
{
	cleanup_free char *dir = roots_dir(), *path = NULL;
	cleanup_free char *line = xasprintf("%s\n", root);
	cleanup_buf struct buf old = BUF_INIT;
	char name[NAME_CHARS + 1];
	int r;

	if (dir == NULL)
		return err_set(err, -ENOENT, "HOME is not set");
	id_hash(root, name, NAME_CHARS);
	path = file_join(dir, name);
	if (file_read(path, PATH_MAX, &old, NULL) == 0 &&
	    strcmp(old.data, line) == 0)
		return 0;
	r = file_mkdirs(dir, 0700, err);
	return r < 0 ? r : file_replace(path, line, strlen(line), 0600, err);
}

char **
roots_list(void)
{
	cleanup_free char *dir = roots_dir();
	cleanup_dir DIR *files = dir != NULL ? opendir(dir) : NULL;
	const char *file;
	char **list = NULL;

	while (
	    strv_count(list) < ROOTS_MAX && (file = dir_next(files)) != NULL) {
		cleanup_free char *path = file_join(dir, file);
		cleanup_free char *ours = NULL;
		cleanup_buf struct buf text = BUF_INIT;

		if (strlen(file) != NAME_CHARS ||
		    file_read(path, PATH_MAX, &text, NULL) < 0 ||
		    text.len < 2 || text.data[text.len - 1] != '\n')
			continue;
		buf_truncate(&text, text.len - 1);
		ours = file_join(text.data, ".llmc");
		if (text.data[0] != '/' || !file_is_dir(ours))
			unlink(path);
		else
			strv_add(&list, text.data);
	}
	if (list != NULL)
		qsort(list, strv_count(list), sizeof *list, strv_order);
	return list;
}

int
root_id_read(const struct workspace *workspace, char ret_id[ID_UUID_SIZE],
    struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, "root_id");
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	r = file_read(path, ROOT_ID_MAX, &text, err);
	if (r < 0 && r != -EFBIG)
		return r;
	buf_truncate(&text, strcspn(text.data, "\n"));
	if (!id_uuid_valid(text.data))
		return err_set(err, -ENOENT, "%s: expected a UUID", path);
	strlcpy(ret_id, text.data, ID_UUID_SIZE);
	return 0;
}

int
root_id_keep(const struct workspace *workspace, const char *id, struct err *err)
{
	cleanup_free char *path = NULL, *line = NULL;
	char old[ID_UUID_SIZE] = "";

	/* If it cannot be read now, save the state anyway. */
	if (root_id_read(workspace, old, NULL) != -ENOENT)
		return 0;
	path = workspace_path(workspace, "root_id");
	line = xasprintf("%s\n", id);
	return file_replace(path, line, strlen(line), 0600, err);
}

/* A repair may be made before there is any state, and leaves its own. */
static bool
is_of_repairs(const char *name)
{
	size_t len = strlen(CALLER_REPAIR);

	return strncmp(name, CALLER_REPAIR, len) == 0 &&
	    (name[len] == '\0' || name[len] == '.');
}

static bool
has_worktrees(const char *folder)
{
	cleanup_dir DIR *dir = opendir(folder);
	const char *name;
	bool found = false;

	while (!found && (name = dir_next(dir)) != NULL) {
		cleanup_free char *git = xasprintf("%s/%s/.git", folder, name);

		found =
		    name[0] != '.' && !is_of_repairs(name) && file_exists(git);
	}
	return found;
}

bool
root_id_is_lost(
    const struct workspace *workspace, const char *worktrees, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WORKSPACE_BOOK);
	char id[ID_UUID_SIZE];
	bool known = root_id_read(workspace, id, NULL) == 0;

	if (!known && !has_worktrees(worktrees))
		return false;
	err_set(err, -ENOENT,
	    "%s is gone, or has no state, but llmc has worked here: %s; put "
	    "the file back, or make a new one from the worktrees: llmc doctor "
	    "--rebuild",
	    path,
	    known ? "there is a root_id beside it" : "there are worktrees");
	return true;
}

#define CONFIG ".llmc/config.toml"

/* The first line of the mark; accepted settings follow. */
static const char title[] = "llmc init was run in this repository\n";

static char *
mark_file(const struct workspace *ws)
{
	return file_join(ws->git_dir, "llmc-init");
}

const char *const root_mark_question[] = { "ls-files", "--error-unmatch", "--",
	CONFIG, NULL };

bool
root_mark_is_untracked(const struct workspace *ws)
{
	return git_ask_lacks(ws->root, ".llmc/");
}

static int
is_tracked(const struct workspace *ws, struct err *err)
{
	int r = git_ask(ws->root, root_mark_question, NULL, err);

	/* 1 means no; more is an error, such as a wrong owner. */
	if (r == 0)
		return 1;
	return r == 1 ? 0 : (r < 0 ? r : -EIO);
}

/* The mark, if it is this user's own file and no link: another user cannot have
 * made it. */
static int
read_mark(const struct workspace *ws, struct buf *out)
{
	cleanup_free char *file = mark_file(ws);
	struct stat st;

	if (lstat(file, &st) == -1)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_nlink != 1 || (st.st_mode & 022) != 0)
		return -EPERM;
	return file_read(file, TOML_SIZE_MAX + sizeof title, out, NULL);
}

static int
read_config(const struct workspace *ws, struct buf *out, struct err *err)
{
	cleanup_free char *file = workspace_path(ws, "config.toml");

	return file_read(file, TOML_SIZE_MAX, out, err);
}

static bool
holds(const struct buf *mark, const struct buf *config)
{
	size_t len = strlen(title);

	return mark->len == len + config->len &&
	    memcmp(mark->data + len, config->data, config->len) == 0;
}

int
root_mark_refuse_tracked(const struct workspace *ws, struct err *err)
{
	return err_set(err, -EPERM,
	    "%s/" CONFIG " is tracked by git and has changed, and settings run "
	    "commands; look at it, then run: llmc init",
	    ws->root);
}

int
root_mark_judge(
    const struct workspace *ws, const struct buf *config, struct err *err)
{
	cleanup_buf struct buf mark = BUF_INIT;

	if (!workspace_initialised(ws))
		return err_set(err, -ENOENT,
		    "%s is not set up for llmc; run: llmc init", ws->root);
	if (read_mark(ws, &mark) < 0)
		return err_set(err, -EPERM,
		    "%s/" CONFIG " was not set up here by you, and settings "
		    "run commands; look at it, then run: llmc init",
		    ws->root);
	if (mark.len == strlen(title))
		return -EAGAIN;
	if (holds(&mark, config))
		return 0;
	return root_mark_refuse_tracked(ws, err);
}

int
root_mark_check(const struct workspace *ws, struct err *err)
{
	cleanup_buf struct buf config = BUF_INIT;
	int r;

	/* A file that cannot be read is reported by its reader. */
	read_config(ws, &config, NULL);
	r = root_mark_judge(ws, &config, err);
	if (r != -EAGAIN)
		return r;
	/* Empty ones run nothing. */
	if (config.len > 0 && !root_mark_is_untracked(ws) &&
	    is_tracked(ws, NULL) == 1)
		return root_mark_refuse_tracked(ws, err);
	return 0;
}

static int
write_mark(
    const struct workspace *ws, const struct buf *config, struct err *err)
{
	cleanup_free char *file = mark_file(ws);
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;

	buf_adds(&text, title);
	buf_add(&text, config->data, config->len);
	/* Never through a link, nor into another's file. */
	if (lstat(file, &st) == 0 && unlink(file) == -1 && errno != ENOENT)
		return err_errno(err, -errno, "cannot replace %s", file);
	return file_replace(file, text.data, text.len, 0600, err);
}

int
root_mark_write(const struct workspace *ws, struct err *err)
{
	cleanup_free char *file = workspace_path(ws, "config.toml");
	cleanup_buf struct buf config = BUF_INIT;
	int r = is_tracked(ws, err);

	if (r == 1)
		r = read_config(ws, &config, err);
	if (r >= 0)
		r = write_mark(ws, &config, err);
	if (r == 0)
		utimensat(AT_FDCWD, file, NULL, 0); /* a daemon watches it */
	return r;
}

int
root_mark_follow(
    const struct workspace *ws, const struct buf *config, struct err *err)
{
	cleanup_buf struct buf mark = BUF_INIT;

	if (read_mark(ws, &mark) < 0 || mark.len == strlen(title))
		return 0;
	return write_mark(ws, config, err);
}

static bool
fits(const char *dir)
{
	return strlen(dir) + sizeof "/" SOCKET <=
	    sizeof((struct sockaddr_un *)NULL)->sun_path;
}

char *
run_dir_path(const struct workspace *workspace, const char *name)
{
	cleanup_free char *relative = xasprintf("run/%s", name);

	return workspace_path(workspace, relative);
}

char *
run_dir_spool(const struct workspace *workspace, const char *name)
{
	cleanup_free char *relative = xasprintf("run/%s/" SPOOL, name);

	return workspace_path(workspace, relative);
}

static char *
outside_dir(const struct workspace *workspace, const char *name)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	cleanup_free char *file = NULL, *dir = NULL;
	char hash[17];

	id_hash(workspace->root, hash, 16);
	file = xasprintf("llmc-%u-%s-%s", (unsigned)getuid(), hash, name);
	if (runtime != NULL && *runtime == '/') {
		dir = file_join(runtime, file);
		if (fits(dir) && file_is_dir(runtime))
			return take_ptr(&dir);
	}
	return file_join("/tmp", file);
}

char *
run_dir_socket_dir(const struct workspace *workspace, const char *name)
{
	cleanup_free char *dir = run_dir_path(workspace, name);

	return fits(dir) ? take_ptr(&dir) : outside_dir(workspace, name);
}

char *
run_dir_socket(const struct workspace *workspace, const char *name)
{
	cleanup_free char *dir = run_dir_socket_dir(workspace, name);

	return file_join(dir, SOCKET);
}

char *
run_dir_socket_outside(const struct workspace *workspace, const char *name)
{
	cleanup_free char *dir = outside_dir(workspace, name);

	return file_join(dir, SOCKET);
}

/* The parent exists. A folder that exists is used only if no other user can
 * change it. */
static int
make_private(const char *dir, struct err *err)
{
	struct stat st;

	if (mkdir(dir, 0700) == -1 && errno != EEXIST)
		return err_errno(err, -errno, "cannot create %s", dir);
	if (lstat(dir, &st) == -1)
		return err_errno(err, -errno, "%s", dir);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return err_set(err, -EPERM,
		    "%s is not a folder of this user; remove it", dir);
	if ((st.st_mode & 07777) != 0700 && chmod(dir, 0700) == -1)
		return err_errno(err, -errno, "%s", dir);
	return 0;
}

int
run_dir_make(
    const struct workspace *workspace, const char *name, struct err *err)
{
	cleanup_free char *all = workspace_path(workspace, "run");
	cleanup_free char *dir = run_dir_path(workspace, name);
	cleanup_free char *spool = run_dir_spool(workspace, name);
	cleanup_free char *socket_dir = run_dir_socket_dir(workspace, name);
	int r = make_private(all, err);

	if (r == 0)
		r = make_private(dir, err);
	if (r == 0)
		r = make_private(spool, err);
	if (r == 0 && strcmp(socket_dir, dir) != 0)
		r = make_private(socket_dir, err);
	return r;
}

int
run_dir_make_outside(const char *socket, struct err *err)
{
	cleanup_free char *dir = xstrdup(socket);

	*strrchr(dir, '/') = '\0';
	return make_private(dir, err);
}

void
run_dir_wait(const struct workspace *workspace, const char *name, bool wait)
{
	cleanup_free char *socket = run_dir_socket(workspace, name);
	cleanup_free char *file = xasprintf("%s" WAIT, socket);
	int fd;

	if (!wait) {
		unlink(file);
		return;
	}
	fd = file_open(file, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
	if (fd < 0)
		log_debug("%s: %s", file, file_strerror(fd));
	else
		close(fd);
}

bool
run_dir_waits(const char *socket)
{
	cleanup_free char *file = xasprintf("%s" WAIT, socket);

	return access(file, F_OK) == 0;
}

void
run_dir_remove(const struct workspace *workspace, const char *name)
{
	cleanup_free char *dir = run_dir_path(workspace, name);
	cleanup_free char *outside = outside_dir(workspace, name);

	remove_tree(dir);
	remove_tree(outside);
}
