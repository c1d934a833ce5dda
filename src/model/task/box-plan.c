/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-error.h"
#include "box-plan.h"
#include "settings-value.h"
#include "settings.h"
#include "worker.h"

#define ALLOW_USER_NAMESPACES                                                \
	"as root: sysctl -w user.max_user_namespaces=15000 (on Debian also " \
	"kernel.unprivileged_userns_clone=1); in a container, ask its "      \
	"administrator to allow user namespaces"

/* All the parts must be in the text; the first row that matches counts. */
static const struct row {
	const char *part, *also; /* also: NULL = one part */
	struct box_fault fault;
} rows[] = {
	{ "bwrap: No such file or directory", NULL,
	    { "bubblewrap is not installed",
		"install it, on Debian with: apt-get install bubblewrap" } },
	{ "bwrap: not found", NULL,
	    { "bubblewrap is not installed",
		"install it, on Debian with: apt-get install bubblewrap" } },
	{ "Can't mount proc on", NULL,
	    { "this container hides parts of /proc, so that no new one can be "
	      "mounted",
		"run the container with an unmasked /proc (docker run "
		"--security-opt systempaths=unconfined)" } },
	{ "Creating new namespace failed", "No space left on device",
	    { "user namespaces are switched off (user.max_user_namespaces is "
	      "0, or all of them are in use)",
		ALLOW_USER_NAMESPACES } },
	{ "Creating new namespace failed", NULL,
	    { "this machine or container does not allow user namespaces",
		ALLOW_USER_NAMESPACES } },
	{ "No permissions to create", "namespace",
	    { "this machine does not allow user namespaces to "
	      "ordinary users",
		ALLOW_USER_NAMESPACES } },
	{ "setting up uid map", NULL,
	    { "AppArmor restricts user namespaces, as on Ubuntu 24.04 and "
	      "later",
		"add an AppArmor profile for bwrap (Ubuntu: apt-get install "
		"apparmor-profiles, then enable bwrap-userns-restrict), or as "
		"root: sysctl -w "
		"kernel.apparmor_restrict_unprivileged_userns=0" } },
	{ "RTM_NEWADDR", NULL,
	    { "AppArmor does not let a sandbox set up its network, as on "
	      "Ubuntu 24.04 and later",
		"add an AppArmor profile for bwrap (Ubuntu: apt-get install "
		"apparmor-profiles, then enable bwrap-userns-restrict), or as "
		"root: sysctl -w "
		"kernel.apparmor_restrict_unprivileged_userns=0" } },
	{ "Can't mkdir", "Read-only file system",
	    { "a folder that the sandbox needs is missing, and cannot be "
	      "created where everything is read-only",
		"create the folder that the message names, and try again" } },
	{ "Can't find source path", NULL,
	    { "a folder or file that the sandbox shows does not exist",
		"create it, or remove it from defaults.sandbox_read and "
		"defaults.sandbox_write" } },
	{ "cannot make a sealed copy", NULL,
	    { "this machine does not let memory be executed, and bwrap is a "
	      "file that an agent's user may write",
		"as root: sysctl -w vm.memfd_noexec=1; or run llmc as a user "
		"who is not root, with root's bwrap" } },
	{ "PR_SET_SECCOMP", NULL,
	    { "this kernel or container has no filters of system calls",
		"use a kernel with seccomp filters; in a container, ask "
		"the administrator to allow seccomp" } },
	{ "Unknown option", NULL,
	    { "bubblewrap is too old", "install version 0.5 or later" } },
	{ "Operation not permitted", NULL,
	    { "the kernel or a container does not allow bubblewrap to mount",
		ALLOW_USER_NAMESPACES } },
};

static const struct box_fault unknown = { "bubblewrap failed",
	"see its message; llmc doctor --sandbox tries again" };

const struct box_fault *
box_fault_find(const char *text)
{
	for (size_t i = 0; i < nitems(rows); i++)
		if (strstr(text, rows[i].part) != NULL &&
		    (rows[i].also == NULL ||
			strstr(text, rows[i].also) != NULL))
			return &rows[i].fault;
	return &unknown;
}

const struct box_limit_row box_limit_rows[BOX_LIMIT_COUNT] = {
	[BOX_LIMIT_MEMORY] = { "memory_max", "memory", "memory.max", "max",
	    "MemoryMax" },
	[BOX_LIMIT_TASKS] = { "tasks_max", "pids", "pids.max", "max",
	    "TasksMax" },
	[BOX_LIMIT_CPU] = { "cpu_weight", "cpu", "cpu.weight", "100",
	    "CPUWeight" },
};

static int64_t
value_at(const struct settings *settings, const char *path, enum box_limit kind)
{
	return kind == BOX_LIMIT_MEMORY ?
	    settings_form_bytes(settings_string(settings, path)) :
	    settings_int(settings, path);
}

void
box_limits_of(const struct settings *settings, const char *worker,
    struct box_limits *ret_limits)
{
	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		cleanup_buf struct buf path = BUF_INIT;

		settings_worker_path(
		    settings, worker, box_limit_rows[i].key, &path);
		ret_limits->values[i] = value_at(settings, path.data, i);
	}
}

unsigned
box_limits_wanted(const struct box_limits *limits)
{
	unsigned set = 0;

	for (int i = 0; i < BOX_LIMIT_COUNT; i++)
		if (limits->values[i] > 0)
			set |= 1u << i;
	return set;
}

unsigned
box_limits_wanted_by_any(const struct settings *settings)
{
	const char *const *names;
	size_t count = settings_workers(settings, &names);
	struct box_limits limits;
	unsigned set = 0;

	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		cleanup_free char *path =
		    xasprintf("defaults.%s", box_limit_rows[i].key);

		if (value_at(settings, path, i) > 0)
			set |= 1u << i;
	}
	for (size_t i = 0; i < count; i++) {
		box_limits_of(settings, names[i], &limits);
		set |= box_limits_wanted(&limits);
	}
	return set;
}

static bool
has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (;;) {
		size_t found;

		list += strspn(list, " \n");
		found = strcspn(list, " \n");
		if (found == 0)
			return false;
		if (found == len && strncmp(list, word, len) == 0)
			return true;
		list += found;
	}
}

unsigned
box_limits_available(const char *controllers)
{
	unsigned set = 0;

	for (int i = 0; i < BOX_LIMIT_COUNT; i++)
		if (has_word(controllers, box_limit_rows[i].controller))
			set |= 1u << i;
	return set;
}

void
box_limits_describe(unsigned set, struct buf *out)
{
	bool first = true;

	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		if ((set & 1u << i) == 0)
			continue;
		set &= ~(1u << i);
		if (!first)
			buf_adds(out, set == 0 ? " and " : ", ");
		buf_adds(out, box_limit_rows[i].key);
		first = false;
	}
}

char **
box_limits_scope(const struct box_limits *limits, const char *systemd_run,
    const char *unit, bool as_root)
{
	char **argv = NULL;

	strv_add(&argv, systemd_run);
	if (!as_root)
		strv_add(&argv, "--user");
	strv_add(&argv, "--scope");
	strv_add(&argv, "--quiet");
	strv_add(&argv, "--collect");
	strv_take(&argv, xasprintf("--unit=%s", unit));
	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		if (limits->values[i] <= 0)
			continue;
		strv_add(&argv, "-p");
		strv_take(&argv,
		    xasprintf("%s=%lld", box_limit_rows[i].property,
			(long long)limits->values[i]));
	}
	strv_add(&argv, "--");
	return argv;
}

int64_t
box_limits_oom_kills(const char *memory_events)
{
	static const char name[] = "oom_kill ";
	const char *line = memory_events;
	int64_t count;

	while (line != NULL && strncmp(line, name, sizeof name - 1) != 0) {
		line = strchr(line, '\n');
		if (line != NULL)
			line++;
	}
	if (line != NULL) {
		cleanup_free char *number = xstrndup(line + sizeof name - 1,
		    strcspn(line + sizeof name - 1, "\n"));

		if (text_parse_int(number, 0, INT64_MAX, &count))
			return count;
	}
	return -1;
}

void
box_limits_describe_oom(int64_t memory_max, struct buf *out)
{
	buf_addf(out,
	    "the kernel killed a process of it, because its memory reached "
	    "memory_max (%lld MiB)",
	    (long long)(memory_max / 1024 / 1024));
}

static const char *const mode_names[BOX_MODE_COUNT] = {
	[BOX_OFF] = "off",
	[BOX_WORKTREE] = "worktree",
	[BOX_STRICT] = "strict",
};

const char *
box_mode_name(enum box_mode mode)
{
	return mode_names[mode];
}

bool
box_mode_parse(const char *name, enum box_mode *ret_mode)
{
	for (enum box_mode mode = BOX_OFF; mode < BOX_MODE_COUNT; mode++)
		if (strcmp(mode_names[mode], name) == 0) {
			*ret_mode = mode;
			return true;
		}
	return false;
}

static enum box_mode
mode_at(const struct settings *settings, const char *path)
{
	enum box_mode mode = BOX_STRICT;

	box_mode_parse(settings_string(settings, path), &mode);
	return mode;
}

static enum box_mode
own_mode(const struct settings *settings, const char *worker)
{
	cleanup_buf struct buf path = BUF_INIT;

	settings_worker_path(settings, worker, "sandbox", &path);
	return mode_at(settings, path.data);
}

/* Of this mode and those of the workers with a section; all: not only of those
 * that auto mode drives. */
static enum box_mode
strictest(const struct settings *settings, enum box_mode most, bool all)
{
	const char *const *names;
	size_t count = settings_workers(settings, &names);

	for (size_t i = 0; i < count; i++) {
		enum box_mode mode = all || worker_is_auto(names[i]) ?
		    own_mode(settings, names[i]) :
		    BOX_OFF;

		most = mode > most ? mode : most;
	}
	return most;
}

enum box_mode
box_mode_of(const struct settings *settings, const char *worker)
{
	enum box_mode mode = own_mode(settings, worker);

	/* The authors of what it works on. */
	if (strcmp(worker, CALLER_REPAIR) == 0)
		return box_mode_strictest(settings);
	/* Its agent may work for any of them. */
	return worker_is_team(worker) ? strictest(settings, mode, false) : mode;
}

enum box_mode
box_mode_strictest(const struct settings *settings)
{
	return strictest(settings, mode_at(settings, "defaults.sandbox"), true);
}

/* --- mounts ---------------------------------------------------------- */

struct mount {
	const char *option; /* of bwrap */
	char *from; /* NULL = the option has no source */
	char *at;
	size_t depth; /* of `at`: names in the path */
	bool shared; /* a place of the machine, used by others too */
};

struct mounts {
	struct mount *list;
	size_t count;
};

/* After the others of the same depth and all that are less deep. */
static void
add_mount(
    struct mounts *m, struct mount mount, const char *from, const char *at)
{
	size_t i = m->count++;
	const char *path = at;
	size_t depth = 0;

	for (; *path != '\0'; path++)
		depth += path[0] == '/' && path[1] != '/' && path[1] != '\0';
	mount.depth = depth;
	mount.from = from != NULL ? xstrdup(from) : NULL;
	mount.at = xstrdup(at);
	m->list = xreallocarray(m->list, m->count, sizeof *m->list);
	for (; i > 0 && m->list[i - 1].depth > mount.depth; i--)
		m->list[i] = m->list[i - 1];
	m->list[i] = mount;
}

static void
mount_at(struct mounts *m, const char *option, const char *from, const char *at)
{
	add_mount(m, (struct mount){ .option = option }, from, at);
}

static void
hide(struct mounts *m, const char *path)
{
	if (path != NULL)
		mount_at(m, "--tmpfs", NULL, path);
}

static void
show(struct mounts *m, const char *path)
{
	if (path != NULL)
		mount_at(m, "--ro-bind", path, path);
}

static void
open_up(struct mounts *m, const char *path)
{
	if (path != NULL)
		mount_at(m, "--bind", path, path);
}

static void
show_shared(struct mounts *m, const char *path)
{
	add_mount(m, (struct mount){ .option = "--ro-bind", .shared = true },
	    path, path);
}

static void
open_shared(struct mounts *m, const char *path)
{
	add_mount(m, (struct mount){ .option = "--bind", .shared = true }, path,
	    path);
}

static void
each(struct mounts *m, void (*how)(struct mounts *, const char *),
    const char *const *paths)
{
	for (; paths != NULL && *paths != NULL; paths++)
		how(m, *paths);
}

static void
below(struct mounts *m, void (*how)(struct mounts *, const char *),
    const char *folder, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", folder, name);

	how(m, path);
}

/* A linked worktree: its own git folder and new objects can be written; all
 * that git would read as settings, and all branches, cannot. */
static void
mount_worktree_git(struct mounts *m, const struct box_facts *f)
{
	show(m, f->git_dir);
	below(m, hide, f->git_dir, "worktrees");
	hide(m, f->objects);
	if (f->read_only) {
		below(m, show, f->tree, ".git");
		show(m, f->tree_git);
		return;
	}
	if (f->objects == NULL) {
		below(m, open_up, f->git_dir, "objects");
		below(m, show, f->git_dir, "objects/info");
		/* New objects are loose; what is packed cannot be deleted
		 * then. */
		if (!f->packs)
			below(m, show, f->git_dir, "objects/pack");
	}
	open_up(m, f->lfs);
	below(m, show, f->tree, ".git");
	open_up(m, f->tree_git);
	below(m, show, f->tree_git, "commondir");
	below(m, show, f->tree_git, "gitdir");
	below(m, show, f->tree_git, "config.worktree");
}

bool
box_is_within(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 &&
	    (path[len] == '/' || path[len] == '\0' || folder[len - 1] == '/');
}

/* The mount in which a path is seen: the last one around it. */
static const struct mount *
mount_of(const struct mounts *m, const char *path)
{
	for (size_t i = m->count; i-- > 0;)
		if (box_is_within(path, m->list[i].at))
			return &m->list[i];
	return NULL;
}

/* A socket can be connected to in a read-only folder too. One in a place of the
 * machine belongs to another program, unless it is what was named. */
static void
mask_sockets(struct mounts *m, const char *const *sockets)
{
	for (; sockets != NULL && *sockets != NULL; sockets++) {
		const struct mount *around = mount_of(m, *sockets);

		if (around != NULL && around->shared &&
		    strcmp(around->at, *sockets) != 0)
			mount_at(m, "--ro-bind", "/dev/null", *sockets);
	}
}

/* Nothing is seen but what is mounted here: the root is an empty folder. */
static void
mount_all(struct mounts *m, const struct box_facts *f)
{
	const char *folder;
	const struct mount *around;

	mount_at(m, "--dev", NULL, "/dev");
	mount_at(m, "--proc", NULL, "/proc");
	each(m, show_shared, f->machine);
	for (const struct box_bind *b = f->links; b != NULL && b->from != NULL;
	     b++)
		mount_at(m, "--symlink", b->from, b->at);
	each(m, hide, f->temporary);
	each(m, hide, f->closed);
	hide(m, f->home);
	hide(m, f->trees);
	hide(m, f->root);
	hide(m, f->state);
	each(m, show_shared, f->programs);
	(f->read_only ? show : open_up)(m, f->tree);
	if (f->tree_git != NULL)
		mount_worktree_git(m, f);
	else if (f->git_dir != NULL)
		below(m, show, f->git_dir, "objects");
	show(m, f->session);
	show(m, f->run);
	open_up(m, f->spool);
	open_up(m, f->agent);
	if (f->cache != NULL && f->home != NULL) {
		cleanup_free char *at = xasprintf("%s/.cache", f->home);

		mount_at(m, "--bind", f->cache, at);
	}
	for (const struct box_bind *b = f->binds; b != NULL && b->from != NULL;
	     b++)
		mount_at(
		    m, b->writable ? "--bind" : "--ro-bind", b->from, b->at);
	each(m, show_shared, f->read);
	each(m, open_shared, f->write);
	folder = f->tmux;
	around = folder != NULL ? mount_of(m, folder) : NULL;
	if (around != NULL && around->from != NULL)
		hide(m, folder);
	mask_sockets(m, f->sockets);
	/* Root may write there even without capabilities. */
	if (f->is_root)
		show(m, "/proc/sys");
}

/* Is the last of the mounts there of that kind? */
static bool
has_mount(const struct mounts *m, const char *option, const char *at)
{
	bool has = false;

	for (size_t i = 0; i < m->count; i++)
		if (strcmp(m->list[i].at, at) == 0)
			has = strcmp(m->list[i].option, option) == 0;
	return has;
}

/* What is hidden cannot be written either, so that it is not mistaken for the
 * real folder; unless something else was mounted there. */
static void
seal(char ***argv, const struct mounts *m, const char *path)
{
	size_t last = strv_count(*argv);

	if (path == NULL || !has_mount(m, "--tmpfs", path))
		return;
	for (size_t i = 0; i < last; i++)
		if (strcmp((*argv)[i], "--remount-ro") == 0 &&
		    strcmp((*argv)[i + 1], path) == 0)
			return;
	strv_add(argv, "--remount-ro");
	strv_add(argv, path);
}

static bool
is_writable(const struct box_facts *f, const char *path)
{
	for (const char *const *t = f->temporary; t != NULL && *t != NULL; t++)
		if (strcmp(*t, path) == 0)
			return true;
	return text_is(f->home, path);
}

/* The root itself too, but not temporary folders, and not home, where programs
 * want to write. */
static void
seal_all(char ***argv, const struct mounts *m, const struct box_facts *f)
{
	cleanup_free char *worktrees =
	    f->git_dir != NULL ? xasprintf("%s/worktrees", f->git_dir) : NULL;
	const char *const sealed[] = { f->root, f->state, f->trees, f->tmux };

	for (size_t i = 0; i < nitems(sealed); i++)
		if (sealed[i] != NULL && !is_writable(f, sealed[i]))
			seal(argv, m, sealed[i]);
	seal(argv, m, worktrees);
	for (const char *const *c = f->closed; c != NULL && *c != NULL; c++)
		seal(argv, m, *c);
	if (!has_mount(m, "--bind", "/")) {
		strv_add(argv, "--remount-ro");
		strv_add(argv, "/");
	}
}

/* --- the vector ------------------------------------------------------ */

/* Variables are removed before bwrap starts: its first process keeps what it
 * got, and can be looked at in /proc/1/environ. */
static void
add_env(char ***argv, const struct box_facts *f)
{
	if (f->unset == NULL || f->unset[0] == NULL)
		return;
	strv_add(argv, "/usr/bin/env");
	for (const char *const *name = f->unset; *name != NULL; name++) {
		strv_add(argv, "-u");
		strv_add(argv, *name);
	}
}

char **
box_plan(const struct box_facts *f)
{
	static const char *const begin[] = { "--unshare-user", "--unshare-pid",
		"--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		NULL };
	static const char *const base[] = { "--die-with-parent", "--cap-drop",
		"ALL", NULL };
	struct mounts m = { 0 };
	char **argv = NULL;

	mount_all(&m, f);
	add_env(&argv, f);
	strv_add(&argv, f->bwrap);
	strv_add_all(&argv, begin);
	if (f->mode == BOX_STRICT)
		strv_add(&argv, "--unshare-net");
	strv_add_all(&argv, base);
	if (f->filter)
		strv_add(&argv, "--as-pid-1");
	for (size_t i = 0; i < m.count; i++) {
		strv_add(&argv, m.list[i].option);
		if (m.list[i].from != NULL)
			strv_add(&argv, m.list[i].from);
		strv_add(&argv, m.list[i].at);
	}
	if (f->filter) {
		strv_add(&argv, "--seccomp");
		strv_take(&argv, xasprintf("%d", BOX_FILTER_FD));
	}
	for (const char *const *set = f->set; set != NULL && *set != NULL;
	     set++) {
		const char *equals = strchr(*set, '=');

		if (equals == NULL)
			continue;
		strv_add(&argv, "--setenv");
		strv_take(&argv, xasprintf("%.*s", (int)(equals - *set), *set));
		strv_add(&argv, equals + 1);
	}
	seal_all(&argv, &m, f);
	if (f->tree != NULL) {
		strv_add(&argv, "--chdir");
		strv_add(&argv, f->tree);
	}
	strv_add(&argv, "--");
	if (f->inner != NULL)
		strv_add_all(&argv, f->inner);
	for (size_t i = 0; i < m.count; i++) {
		free(m.list[i].from);
		free(m.list[i].at);
	}
	free(m.list);
	return argv;
}

/* --- variables ------------------------------------------------------- */

static bool
is_listed(const char *variable, const char *const *list)
{
	size_t len = strcspn(variable, "=");

	for (; list != NULL && *list != NULL; list++)
		if (strcspn(*list, "=") == len &&
		    strncmp(variable, *list, len) == 0)
			return true;
	return false;
}

static bool
begins_with_any(const char *variable, const char *const *prefixes)
{
	for (; *prefixes != NULL; prefixes++)
		if (strncmp(variable, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

/* Of those that llmc and git use: the ones that hold a secret, or a command or
 * a header that may contain one. */
static bool
may_be_secret(const char *variable)
{
	static const char *const prefixes[] = { "GIT_ASKPASS", "GIT_SSH_",
		"GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_",
		"GIT_CONFIG_PARAMETERS", NULL };
	static const char *const words[] = { "TOKEN", "SECRET", "PASSW",
		"CREDENTIAL", "_KEY" };
	cleanup_free char *name = xstrndup(variable, strcspn(variable, "="));

	for (size_t i = 0; i < nitems(words); i++)
		if (strstr(name, words[i]) != NULL)
			return true;
	return begins_with_any(name, prefixes);
}

bool
box_plan_allows(const char *variable, const char *const *more, bool boxed)
{
	static const char *const names[] = { "PATH", "HOME", "LANG", "LANGUAGE",
		"TERM", "COLORTERM", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR",
		"NO_COLOR", "IS_SANDBOX", "http_proxy", "https_proxy",
		"no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY",
		"NO_PROXY", "ALL_PROXY", "NODE_EXTRA_CA_CERTS",
		"NODE_USE_SYSTEM_CA", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT",
		"CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "NIX_SSL_CERT_FILE",
		/* Where the model is; its keys have to be named. */
		"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE",
		"CLOUD_ML_REGION", "GOOGLE_CLOUD_PROJECT", "CLAUDE_CONFIG_DIR",
		"XDG_CONFIG_HOME", "API_TIMEOUT_MS", "BASH_DEFAULT_TIMEOUT_MS",
		"BASH_MAX_TIMEOUT_MS", "BASH_MAX_OUTPUT_LENGTH", "MCP_TIMEOUT",
		"MCP_TOOL_TIMEOUT", "MAX_THINKING_TOKENS",
		"MAX_MCP_OUTPUT_TOKENS", "ASAN_OPTIONS", "LSAN_OPTIONS",
		"TSAN_OPTIONS", "UBSAN_OPTIONS", NULL };
	/* What the agent needs to work, and its own settings. */
	static const char *const agents[] = { "LC_", "CLAUDE_CODE_",
		"ANTHROPIC_", "OTEL_", NULL };
	/* With these it waits for a limit without a word, or goes on with a
	 * turn that llmc goes on with. */
	static const char *const never[] = { "CLAUDE_CODE_RETRY_WATCHDOG",
		"CLAUDE_CODE_RESUME_INTERRUPTED_TURN", NULL };
	static const char *const ours[] = { "DISABLE_", "LLMC_", "GIT_", NULL };
	/* A box has its own, or none of what they lead to. The folders of
	 * toolchains: without them a build fails, or another one is used. */
	static const char *const outside[] = { "ANDROID_HOME",
		"ANDROID_SDK_ROOT", "CARGO_HOME", "CONDA_PREFIX", "DOTNET_ROOT",
		"GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT", "GRADLE_USER_HOME",
		"JAVA_HOME", "NODE_OPTIONS", "NODE_PATH", "NVM_BIN", "NVM_DIR",
		"PKG_CONFIG_PATH", "PNPM_HOME", "PYENV_ROOT", "PYTHONPATH",
		"RBENV_ROOT", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "SDKMAN_DIR",
		"VIRTUAL_ENV", "VOLTA_HOME", "XDG_CACHE_HOME",
		"XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "XDG_DATA_HOME",
		"XDG_RUNTIME_DIR", "XDG_STATE_HOME", "LD_LIBRARY_PATH",
		"TMUX_TMPDIR", NULL };

	if (is_listed(variable, never))
		return false;
	return is_listed(variable, names) || is_listed(variable, more) ||
	    begins_with_any(variable, agents) ||
	    (begins_with_any(variable, ours) && !may_be_secret(variable)) ||
	    (!boxed && is_listed(variable, outside));
}
