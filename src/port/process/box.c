/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>

#include "agent-kind.h"
#include "box-net.h"
#include "box-paths.h"
#include "box-probe.h"
#include "box.h"
#include "settings.h"
#include "sibling.h"
#include "tmux.h"
#include "workspace.h"

#define LINE_MAX_BYTES 8192

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
	while (text_begins(line, "..") && (line[2] == '/' || line[2] == '\0')) {
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

	if (!text_begins(line, "gitdir: "))
		return NULL;
	path = resolve(tree, line + strlen("gitdir: "));
	if (!text_begins(path, worktrees))
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

/* The folder git_dir/worktrees/NAME of a linked worktree, owned by the caller;
 * NULL for a clone, which has its own .git folder. The worker may have changed
 * the files that name it: -EINVAL, with words, unless they lead to each other
 * and to nothing else. Creates what the box mounts and git does not always
 * have. */
static int
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

/* The folder of Git LFS, owned by the caller; NULL = it is not used. Without it
 * being writable, not even git status works on such files. A link is not
 * followed. */
static char *
box_git_lfs(const char *git_dir)
{
	cleanup_free char *path = file_join(git_dir, "lfs");
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) ? take_ptr(&path) :
							      NULL;
}

/* Does git fetch objects of this repository when they are needed? */
static bool
box_git_is_partial(const char *git_dir)
{
	cleanup_free char *pack = file_join(git_dir, "objects/pack");
	cleanup_dir DIR *stream = opendir(pack);
	const char *name;

	while ((name = dir_next(stream)) != NULL)
		if (text_ends(name, ".promisor"))
			return true;
	return false;
}

static void
add_setting(char ***set, int64_t *n, const char *key, const char *value)
{
	strv_take(set, xasprintf("GIT_CONFIG_KEY_%d=%s", (int)*n, key));
	strv_take(set, xasprintf("GIT_CONFIG_VALUE_%d=%s", (int)*n, value));
	++*n;
}

/* Adds to `set` what git has to know in a box, as variables "NAME=VALUE". git
 * must not collect garbage there: of the other worktrees it sees nothing, so
 * what only they use is garbage to it. linked: the tree is no clone. */
static void
box_git_add_config(bool linked, char ***set)
{
	int64_t n = 0;

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

#define BOX_OBJECTS "/tmp/.llmc-objects" /* git objects that a check makes */

/* All that box_facts points to. */
struct making {
	const struct box_spec *spec;
	struct box_facts facts;
	struct box_paths paths;
	const char *name; /* of the folder in .llmc/box */
	char *bwrap, *home, *tmux, *trees, *tree, *tree_git, *lfs, *llmc;
	const char *objects;
	char *session, *run, *spool, *agent, *cache, *login;
	char **temporary, **closed, **read, **write, **sockets, **unset, **set;
	char **owned; /* strings of the binds */
	struct box_bind *binds; /* the last one is empty; NULL = none */
	size_t bind_count;
	struct box_net net;
};

static void
making_release(struct making *m)
{
	char *const strings[] = { m->bwrap, m->home, m->tmux, m->trees, m->tree,
		m->tree_git, m->lfs, m->llmc, m->session, m->run, m->spool,
		m->agent, m->cache, m->login };

	for (size_t i = 0; i < nitems(strings); i++)
		free(strings[i]);
	strv_free(m->temporary);
	strv_free(m->closed);
	strv_free(m->read);
	strv_free(m->write);
	strv_free(m->sockets);
	strv_free(m->unset);
	strv_free(m->set);
	strv_free(m->owned);
	free(m->binds);
	box_paths_release(&m->paths);
	box_net_release(&m->net);
}

/* --- places ---------------------------------------------------------- */

static const char *
last(char **list)
{
	return list[strv_count(list) - 1];
}

static int
find_home(struct making *m, struct err *err)
{
	const char *home = getenv("HOME");

	m->home = home != NULL && home[0] == '/' ? realpath(home, NULL) : NULL;
	if (m->home == NULL || strcmp(m->home, "/") == 0)
		return err_set(err, -EINVAL,
		    "the sandbox hides the home directory, but HOME is %s: set "
		    "it to a folder of your own",
		    home == NULL || home[0] == '\0' ? "not set" : home);
	return 0;
}

/* What is hidden, before anything is shown again. */
static int
hide_places(struct making *m, struct err *err)
{
	static const char *const temporary[] = { "/tmp", "/var/tmp" };
	const struct workspace *ws = m->spec->workspace;
	const char *dir =
	    settings_string(m->spec->settings, "repo.worktree_dir");
	cleanup_free char *trees = workspace_resolve(ws, dir);
	int r = find_home(m, err);

	if (r < 0)
		return r;
	box_paths_begin(&m->paths);
	for (size_t i = 0; i < nitems(temporary); i++)
		if (box_paths_hide(&m->paths, temporary[i]))
			strv_add(&m->temporary, last(m->paths.hidden));
	if (box_paths_hide(&m->paths, "/run"))
		strv_add(&m->closed, last(m->paths.hidden));
	box_paths_hide(&m->paths, m->home);
	box_paths_follow(&m->paths, getenv("HOME"));
	box_paths_hide(&m->paths, ws->root);
	if (box_paths_hide(&m->paths, trees))
		m->trees = xstrdup(last(m->paths.hidden));
	m->tree = realpath(m->spec->tree, NULL);
	if (m->tree == NULL)
		return err_errno(
		    err, -errno, "the sandbox needs %s", m->spec->tree);
	return 0;
}

static char *
own_path(const struct making *m, const char *folder, const char *name)
{
	cleanup_free char *relative =
	    xasprintf("%s/%s%s%s", folder, m->name, name[0] ? "/" : "", name);

	return workspace_path(m->spec->workspace, relative);
}

static int
make_folder(char **ret_path, char *path, struct err *err)
{
	*ret_path = path;
	return file_mkdirs(path, 0700, err);
}

static int
make_folders(struct making *m, struct err *err)
{
	cleanup_free char *own = own_path(m, "box", "");
	int r = file_mkdirs(own, 0700, err);

	/* No cache is kept for checks: one worker's code would write what the
	 * check of another's work reads. */
	if (r < 0 || m->spec->kind == BOX_CHECK)
		return r;
	r = make_folder(&m->cache, own_path(m, "box", "cache"), err);
	if (r < 0 || m->spec->kind != BOX_SESSION)
		return r;
	r = make_folder(
	    &m->agent, own_path(m, "box", m->spec->agent->folder), err);
	if (r == 0)
		r = make_folder(&m->session, own_path(m, "sessions", ""), err);
	if (r == 0)
		r = run_dir_make(m->spec->workspace, m->name, err);
	m->run = run_dir_path(m->spec->workspace, m->name);
	m->spool = run_dir_spool(m->spec->workspace, m->name);
	return r;
}

/* --- what is shown --------------------------------------------------- */

static const char *const *
worker_list(const struct making *m, const char *key)
{
	cleanup_buf struct buf path = BUF_INIT;
	const char *const *items;

	if (m->spec->kind == BOX_CHECK)
		buf_addf(&path, "defaults.%s", key);
	else
		settings_worker_path(
		    m->spec->settings, m->spec->worker, key, &path);
	settings_list(m->spec->settings, path.data, &items);
	return items;
}

/* Add those that exist, without links; the links to them are there too. */
static void
add_existing(struct making *m, char ***list, const char *const *paths)
{
	for (; paths != NULL && *paths != NULL; paths++) {
		char *real = realpath(*paths, NULL);

		if (real == NULL)
			continue;
		box_paths_follow(&m->paths, *paths);
		strv_take(list, real);
	}
}

static void
show_places(struct making *m)
{
	const struct box_spec *spec = m->spec;
	cleanup_free char *tmux = tmux_socket_path("");
	cleanup_free char *keeper = sibling_find("keeper");
	cleanup_buf struct buf agent = BUF_INIT;

	m->llmc = sibling_find("llmc");
	if (m->llmc != NULL)
		box_paths_show(&m->paths, m->llmc);
	if (keeper != NULL)
		box_paths_show(&m->paths, keeper);
	if (spec->kind == BOX_SESSION) {
		settings_worker_path(
		    spec->settings, spec->worker, "agent_command", &agent);
		box_paths_show_program(
		    &m->paths, settings_string(spec->settings, agent.data));
	}
	box_paths_show_search(&m->paths, m->home, spec->workspace->root);
	box_paths_show_git(&m->paths, m->home, spec->workspace->git_dir);
	box_paths_show_machine(&m->paths);
	add_existing(m, &m->read, worker_list(m, "sandbox_read"));
	add_existing(m, &m->read, spec->read);
	add_existing(m, &m->write, worker_list(m, "sandbox_write"));
	add_existing(m, &m->write, spec->write);
	box_paths_finish(&m->paths, m->read, m->write);
	m->sockets = box_paths_sockets();
	/* Who can reach one of them can start any program. */
	m->tmux = realpath(tmux, NULL);
}

static void
bind_to(struct making *m, const char *from, char *at, bool writable)
{
	char *source = xstrdup(from);

	strv_take(&m->owned, source);
	strv_take(&m->owned, at);
	m->binds =
	    xreallocarray(m->binds, m->bind_count + 2, sizeof(struct box_bind));
	m->binds[m->bind_count++] = (struct box_bind){ source, at, writable };
	m->binds[m->bind_count] = (struct box_bind){ 0 };
}

/* The user's login, unless the environment has one. A strict box does not get
 * it: it is good for more than the API. */
static int
bind_login(struct making *m, const char *source, struct err *err)
{
	const struct agent_kind *kind = m->spec->agent;
	cleanup_free char *file =
	    kind->login != NULL ? file_join(source, kind->login) : NULL;
	cleanup_free char *real = file != NULL ? realpath(file, NULL) : NULL;
	cleanup_free char *at = NULL;
	int r;

	if (m->facts.mode == BOX_STRICT || real == NULL ||
	    (kind->login_variable != NULL &&
		getenv(kind->login_variable) != NULL))
		return 0;
	/* An empty file to mount it on, in place of whatever is there. */
	at = file_join(m->agent, kind->login);
	r = agent_write_file(at, "", 0, err);
	if (r == 0)
		bind_to(m, real, take_ptr(&at), true);
	return r;
}

/* What the agent reads at each start is the user's, or nothing: never what an
 * earlier session has left there. */
static int
bind_shared(struct making *m, const char *source, struct err *err)
{
	const char *const *shared = m->spec->agent->shared;
	cleanup_free char *empty = own_path(m, "box", "empty");
	int r = file_mkdirs(empty, 0700, err);

	for (size_t i = 0; r == 0 && shared[i] != NULL; i++) {
		cleanup_free char *from = file_join(source, shared[i]);
		cleanup_free char *real = realpath(from, NULL);
		cleanup_free char *at = file_join(m->agent, shared[i]);
		struct stat st;

		/* One that exists is kept. */
		if (lstat(at, &st) == -1 || !S_ISDIR(st.st_mode)) {
			r = agent_clear_place(at, err);
			if (r == 0 && mkdir(at, 0700) == -1)
				r = err_errno(
				    err, -errno, "cannot create %s", at);
		}
		if (r == 0)
			bind_to(m,
			    real != NULL && file_is_dir(real) ? real : empty,
			    take_ptr(&at), false);
	}
	return r;
}

static int
prepare_agent(struct making *m, struct err *err)
{
	const struct agent_kind *kind = m->spec->agent;
	cleanup_free char *source = agent_source(kind);
	int r = agent_write(kind, m->agent, m->tree, err);
	char *socket_dir = run_dir_socket_dir(m->spec->workspace, m->name);

	/* The folder of the worker's socket, if that is not in .llmc. */
	if (strcmp(socket_dir, m->run) != 0)
		bind_to(m, socket_dir, socket_dir, false);
	else
		free(socket_dir);
	if (r < 0 || source == NULL)
		return r;
	r = bind_shared(m, source, err);
	return r < 0 ? r : bind_login(m, source, err);
}

/* --- environment ----------------------------------------------------- */

/* What runs there is not our own git, which makes candidates in the folder
 * merge. */
static bool
is_check(const struct box_spec *spec)
{
	const char *slash = strrchr(spec->tree, '/');

	return spec->kind == BOX_CHECK &&
	    (slash == NULL || strcmp(slash + 1, "merge") != 0);
}

/* Does the box have a value of its own for the variable? */
static bool
is_set(const struct making *m, const char *name, size_t len)
{
	for (char **set = m->set; set != NULL && *set != NULL; set++)
		if (strncmp(*set, name, len) == 0 && (*set)[len] == '=')
			return true;
	return false;
}

static void
choose_env(struct making *m, struct box *box)
{
	const char *const *more = worker_list(m, "env");

	/* tmux sets these for each pane. */
	strv_add(&m->unset, "TMUX");
	strv_add(&m->unset, "TMUX_PANE");
	strv_add(&m->set, "TMPDIR=/tmp");
	box_git_add_config(m->tree_git != NULL, &m->set);
	if (m->tree_git != NULL && is_check(m->spec)) {
		const char *git_dir;
		const char *objects;
		char ***set;
		struct buf quoted = BUF_INIT;

		m->objects = BOX_OBJECTS;
		/* And these, so that new objects are written to that folder,
		 * and all of the repository are read where they are. */
		git_dir = m->spec->workspace->git_dir;
		objects = m->objects;
		set = &m->set;
		for (const char *p = git_dir; *p != '\0'; p++) {
			if (*p == '"' || *p == '\\')
				buf_addc(&quoted, '\\');
			buf_adds(
			    &quoted, *p == '\n' ? "\\n" : (char[]){ *p, '\0' });
		}
		strv_take(set, xasprintf("GIT_OBJECT_DIRECTORY=%s", objects));
		strv_take(set,
		    xasprintf("GIT_ALTERNATE_OBJECT_DIRECTORIES=\"%s/objects\"",
			quoted.data));
		buf_release(&quoted);
	}
	if (m->agent != NULL)
		strv_take(&m->set,
		    xasprintf("%s=%s", m->spec->agent->variable, m->agent));
	for (size_t i = 0; environ[i] != NULL; i++) {
		size_t len = strcspn(environ[i], "=");

		if (is_set(m, environ[i], len))
			continue;
		if (box_plan_allows(environ[i], more, true) ||
		    agent_owns(m->spec->agent, environ[i]))
			strv_add(&box->env, environ[i]);
		else if (len > 0)
			strv_take(&m->unset, xstrndup(environ[i], len));
	}
	strv_add_all(&box->env, strv_const(m->set));
}

void
box_hide_env(const struct settings *settings, const char *worker, char ***edits)
{
	cleanup_buf struct buf path = BUF_INIT;
	const char *const *more = NULL;

	if (worker != NULL)
		settings_worker_path(settings, worker, "env", &path);
	else
		buf_adds(&path, "defaults.env");
	if (settings != NULL)
		settings_list(settings, path.data, &more);
	for (size_t i = 0; environ[i] != NULL; i++)
		if (environ[i][0] != '=' &&
		    !box_plan_allows(environ[i], more, false))
			strv_take(edits,
			    xstrndup(environ[i], strcspn(environ[i], "=")));
}

/* --- all of it ------------------------------------------------------- */

/* The way out of a box, and what is closed there. git needs none. */
static int
prepare_net(struct making *m, struct err *err)
{
	const struct box_spec *spec = m->spec;
	bool share = m->facts.mode == BOX_WORKTREE;
	int r = box_net_begin(m->bwrap, share, &m->net, err);

	if (r == 0 && !share && (spec->kind != BOX_COMMAND || spec->network))
		r = box_net_prepare(spec->workspace, m->name, m->llmc,
		    worker_list(m, "sandbox_hosts"), spec->kind == BOX_SESSION,
		    &m->net, err);
	m->facts.bwrap = m->net.bwrap;
	m->facts.inner = strv_const(m->net.inner);
	return r;
}

/* A clone; a worktree only where no clone can be (git-clone.h), of a check, and
 * of a repair. */
static int
find_git(struct making *m, struct err *err)
{
	int r = box_git_find(
	    m->spec->workspace->git_dir, m->tree, &m->tree_git, err);

	if (r == 0 && m->tree_git != NULL && m->facts.mode == BOX_STRICT &&
	    m->spec->kind == BOX_SESSION && !m->spec->trial)
		return err_set(err, -EINVAL,
		    "the sandbox is not made: %s is a worktree, and a strict "
		    "one needs a clone; type: llmc reset %s",
		    m->tree, m->name);
	return r;
}

static int
make(struct making *m, struct box *box, struct err *err)
{
	cleanup_strv char **plan = NULL;
	int r = box_check(err);
	const struct workspace *ws;
	struct box_facts *f;

	if (r == 0)
		r = hide_places(m, err);
	if (r == 0)
		r = find_git(m, err);
	if (r == 0)
		r = make_folders(m, err);
	if (r == 0 && m->agent != NULL)
		r = prepare_agent(m, err);
	if (r < 0)
		return r;
	m->bwrap = box_find_bwrap();
	show_places(m);
	if (m->spec->tmpdir != NULL)
		bind_to(m, m->spec->tmpdir, xstrdup(m->spec->tmpdir), true);
	choose_env(m, box);
	ws = m->spec->workspace;
	f = &m->facts;
	f->is_root = geteuid() == 0;
	f->filter = true;
	f->machine = strv_const(m->paths.machine);
	f->links = m->paths.links;
	f->temporary = strv_const(m->temporary);
	f->closed = strv_const(m->closed);
	f->home = m->home;
	f->tmux = m->tmux;
	f->root = ws->root;
	f->state = ws->dir;
	f->trees = m->trees;
	f->tree = m->tree;
	f->read_only = m->spec->read_only;
	f->git_dir = ws->git_dir;
	f->tree_git = m->tree_git;
	if (f->mode == BOX_WORKTREE)
		m->lfs = box_git_lfs(ws->git_dir);
	f->lfs = m->lfs;
	f->objects = m->objects;
	f->packs = f->mode == BOX_WORKTREE && box_git_is_partial(ws->git_dir);
	f->session = m->session;
	f->run = m->run;
	f->spool = m->spool;
	f->agent = m->agent;
	f->cache = m->cache;
	f->binds = m->binds;
	f->programs = strv_const(m->paths.shown);
	f->read = strv_const(m->read);
	f->write = strv_const(m->write);
	f->sockets = strv_const(m->sockets);
	f->unset = strv_const(m->unset);
	f->set = strv_const(m->set);
	r = prepare_net(m, err);
	if (r < 0)
		return r;
	plan = box_plan(&m->facts);
	strv_add_all(&box->prefix, strv_const(m->net.before));
	strv_add_all(&box->prefix, strv_const(plan));
	box->agent = take_ptr(&m->agent);
	return 0;
}

int
box_prepare(const struct box_spec *spec, struct box *ret_box, struct err *err)
{
	bool check = spec->kind == BOX_CHECK;
	cleanup_free char *copy = xstrdup(spec->tree);
	cleanup_free char *slot = xasprintf("check-%s", basename(copy));
	struct box_spec own = *spec;
	struct making m = { .spec = &own, .name = check ? slot : spec->worker };
	struct box box = { 0 };
	int r;

	if (own.kind == BOX_SESSION && own.agent == NULL)
		own.agent = agent_kind_of(spec->settings, spec->worker, NULL);
	box.mode = m.facts.mode = check ?
	    box_mode_strictest(spec->settings) :
	    box_mode_of(spec->settings, spec->worker);
	if (box.mode < spec->at_least)
		box.mode = m.facts.mode = spec->at_least;
	if (box.mode == BOX_OFF) {
		*ret_box = box;
		return 0;
	}
	r = make(&m, &box, err);
	if (r == 0)
		*ret_box = box;
	else
		box_release(&box);
	making_release(&m);
	return r;
}

void
box_release(struct box *box)
{
	strv_clear(&box->prefix);
	strv_clear(&box->env);
	free(take_ptr(&box->agent));
}

void
box_refresh(const struct workspace *workspace, const struct settings *settings,
    const char *worker)
{
	cleanup_buf struct buf path = BUF_INIT;
	const char *const *hosts;

	if (box_mode_of(settings, worker) != BOX_STRICT)
		return;
	settings_worker_path(settings, worker, "sandbox_hosts", &path);
	settings_list(settings, path.data, &hosts);
	box_net_refresh(workspace, worker, hosts);
}

char *
box_shell(const char *const *prefix, const char *command)
{
	struct buf text = BUF_INIT;

	if (prefix == NULL || prefix[0] == NULL)
		return xstrdup(command);
	buf_adds(&text, "exec");
	for (; *prefix != NULL; prefix++) {
		buf_addc(&text, ' ');
		text_add_shell(&text, *prefix);
	}
	buf_adds(&text, " /bin/sh -c ");
	text_add_shell(&text, command);
	return buf_take(&text);
}

char *
box_agent_dir(const struct workspace *workspace, const char *worker,
    const struct agent_kind *kind)
{
	cleanup_free char *relative =
	    xasprintf("box/%s/%s", worker, kind->folder);

	return workspace_path(workspace, relative);
}

int
box_prefix(const struct workspace *workspace, const struct settings *settings,
    const char *dir, char ***ret_prefix, struct err *err)
{
	cleanup_free char *trees = workspace_resolve(
	    workspace, settings_string(settings, "repo.worktree_dir"));
	cleanup_free char *checks = workspace_path(workspace, "checks");
	cleanup_free char *upper = xstrdup(dir), *lower = xstrdup(dir);
	cleanup_free char *above = realpath(dirname(upper), NULL);
	cleanup_free char *real = realpath(trees, NULL);
	struct box_spec spec = { .workspace = workspace,
		.settings = settings,
		.worker = basename(lower),
		.tree = dir };
	struct box box = { 0 };
	int r;

	*ret_prefix = NULL;
	if (text_is(above, real))
		spec.kind = BOX_COMMAND;
	else if (text_is(above, checks))
		spec.kind = BOX_CHECK;
	else
		return 0;
	r = box_prepare(&spec, &box, err);
	if (r == 0)
		*ret_prefix = take_ptr(&box.prefix);
	box_release(&box);
	return r;
}
