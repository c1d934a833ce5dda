/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <sys/stat.h>

#include "child.h"
#include "schema.h"
#include "sibling.h"

#define VARIABLE "LLMC_RESTART" /* COUNT LOCK KEPT INSTANCE */
#define FD_LEAST 10 /* above those that children are given */

#define LAUNCHER_MAX (4 * 1024 * 1024)

static const struct schema keeper_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY("record", STRING, NULL),
	    SCHEMA_MAY("mark", STRING, NULL),
	    SCHEMA_MAY("cgroup", STRING, NULL),
	    SCHEMA_MAY("scope", LIST, NULL),
	    SCHEMA_MAY("modes", STRING, NULL),
	    SCHEMA_MAY("boxed", BOOL, NULL),
	    SCHEMA_END,
	},
};

static const struct schema launcher_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("argv", LIST, NULL, .min = 1),
	    SCHEMA_IS("env", LIST, NULL),
	    SCHEMA_IS("cwd", STRING, NULL),
	    SCHEMA_MAY("keeper", OBJECT, NULL, .of = &keeper_shape),
	    SCHEMA_END,
	},
};

static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(path, X_OK) == 0;
}

/* path if it is a program, NULL (and path freed) if not. */
static char *
program_or_null(char *path)
{
	if (is_program(path))
		return path;
	free(path);
	return NULL;
}

static char *
find_on_path(const char *name)
{
	const char *path = getenv("PATH");
	cleanup_free char *copy = xstrdup(path != NULL ? path : "");
	char *rest = copy, *dir, *found;

	while ((dir = strsep(&rest, ":")) != NULL) {
		found = dir[0] == '/' ? program_or_null(file_join(dir, name)) :
					NULL;
		if (found != NULL)
			return found;
	}
	return NULL;
}

char *
sibling_program(const char *name)
{
	return strchr(name, '/') != NULL ? program_or_null(xstrdup(name)) :
					   find_on_path(name);
}

/* In the build tree every program is in the folder of its sources. */
static char *
find_in_build(const char *dir, const char *name)
{
	cleanup_free char *up = xstrdup(dir);
	const char *folder = strcmp(name, "llmc") == 0 ? "cli" : name;

	return program_or_null(
	    xasprintf("%s/%s/%s", dirname(up), folder, name));
}

/* An installed tree may have been moved as a whole. */
static char *
find_in_libexec(const char *dir, const char *name)
{
	cleanup_free char *up = xstrdup(dir);

	return program_or_null(
	    xasprintf("%s/libexec/llmc/%s", dirname(up), name));
}

/* From there, llmc. */
static char *
find_in_bin(const char *dir, const char *name)
{
	return program_or_null(xasprintf("%s/../../bin/%s", dir, name));
}

char *
sibling_find(const char *name)
{
	char self[PATH_MAX] = "", *found;

	/* The folder is right even if the program was replaced since. */
	if (readlink("/proc/self/exe", self, sizeof self - 1) > 0) {
		const char *dir = dirname(self);

		found = program_or_null(file_join(dir, name));
		if (found == NULL)
			found = find_in_build(dir, name);
		if (found == NULL)
			found = find_in_libexec(dir, name);
		if (found == NULL)
			found = find_in_bin(dir, name);
		if (found != NULL)
			return found;
	}
	found = program_or_null(file_join(LLMC_LIBEXECDIR, name));
	return found != NULL ? found : find_on_path(name);
}

static void
take(int *fd)
{
	if (*fd < FD_LEAST || fcntl(*fd, F_SETFD, FD_CLOEXEC) == -1)
		*fd = 0;
}

void
restart_taken(struct restart *ret_restart)
{
	const char *value = getenv(VARIABLE);
	struct restart r = { 0 };

	if (value == NULL ||
	    sscanf(value, "%d %d %d %36s", &r.count, &r.lock, &r.kept,
		r.instance) != 4 ||
	    strlen(r.instance) != ID_UUID_SIZE - 1) {
		r = (struct restart){ 0 };
	} else {
		take(&r.lock);
		take(&r.kept);
		child_reap_inherited();
	}
	unsetenv(VARIABLE);
	*ret_restart = r;
}

int
restart_become(
    const char *program, char *const *argv, const struct restart *restart)
{
	cleanup_free char *value = xasprintf("%d %d %d %s", restart->count,
	    restart->lock, restart->kept, restart->instance);

	setenv(VARIABLE, value, 1);
	execv(program, argv);
	return -errno;
}

void
restart_hold_signals(void)
{
	static const int handled[] = { SIGHUP, SIGINT, SIGTERM, SIGUSR2 };
	sigset_t wait;

	sigemptyset(&wait);
	for (size_t i = 0; i < nitems(handled); i++)
		sigaddset(&wait, handled[i]);
	sigprocmask(SIG_BLOCK, &wait, NULL);
}

int
restart_keep(int fd)
{
	int copy = fcntl(fd, F_DUPFD, FD_LEAST);

	return copy < 0 ? 0 : copy;
}

bool
restart_is_due(pid_t pid)
{
	static const char deleted[] = " (deleted)"; /* as the kernel says */
	cleanup_free char *link = xasprintf("/proc/%d/exe", (int)pid);
	char path[PATH_MAX];
	ssize_t len = readlink(link, path, sizeof path);

	return len > (ssize_t)sizeof deleted - 1 &&
	    memcmp(path + len - (sizeof deleted - 1), deleted,
		sizeof deleted - 1) == 0;
}

/* What tmux set for the pane stays; everything else comes from the file. */
static void
set_environment(struct json_object *variables)
{
	static const char *const pane[] = { "TMUX", "TMUX_PANE", "TERM",
		"COLORTERM" };
	char *kept[nitems(pane)];

	for (size_t i = 0; i < nitems(pane); i++) {
		const char *value = getenv(pane[i]);

		kept[i] = value != NULL ? xstrdup(value) : NULL;
	}
	clearenv();
	for (size_t i = 0; i < json_object_array_length(variables); i++) {
		const char *entry = json_object_get_string(
		    json_object_array_get_idx(variables, i));
		cleanup_free char *name = xstrndup(entry, strcspn(entry, "="));

		if (strchr(entry, '=') != NULL && name[0] != '\0')
			setenv(name, strchr(entry, '=') + 1, 1);
	}
	for (size_t i = 0; i < nitems(pane); i++) {
		if (kept[i] != NULL)
			setenv(pane[i], kept[i], 1);
		else
			unsetenv(pane[i]);
		free(kept[i]);
	}
}

static void
add_option(char ***argv, struct json_object *keeper, const char *name,
    const char *flag)
{
	const char *value = json_string_or(keeper, name, "");

	if (value[0] == '\0')
		return;
	strv_add(argv, flag);
	strv_add(argv, value);
}

/* The keeper's arguments, and behind them those of the agent. */
static char **
keeper_argv(const char *program, struct json_object *json)
{
	struct json_object *keeper = json_member(json, "keeper");
	struct json_object *words = json_member(json, "argv");
	char **argv = strv_from_json(json_member(keeper, "scope"));

	strv_add(&argv, program);
	strv_add(&argv, "--terminal");
	if (keeper != NULL) {
		add_option(&argv, keeper, "record", "--record");
		add_option(&argv, keeper, "mark", "--mark");
		add_option(&argv, keeper, "cgroup", "--cgroup");
		add_option(&argv, keeper, "modes", "--mode");
		if (json_bool_or(keeper, "boxed", false)) {
			strv_add(&argv, "--mode");
			strv_add(&argv, "box");
		}
	}
	strv_add(&argv, "--");
	for (size_t i = 0; i < json_object_array_length(words); i++)
		strv_add(&argv,
		    json_object_get_string(
			json_object_array_get_idx(words, i)));
	return argv;
}

/* Can the agent be executed? The keeper would find out too late to say where
 * its name comes from. 0 or negative errno. */
static int
find_agent(const char *name)
{
	const char *path = getenv("PATH");
	cleanup_free char *copy =
	    xstrdup(path != NULL ? path : "/usr/bin:/bin");
	char *rest = copy, *dir;
	int r = -ENOENT;

	if (strchr(name, '/') != NULL)
		return access(name, X_OK) == -1 ? -errno : 0;
	while ((dir = strsep(&rest, ":")) != NULL) {
		cleanup_free char *file =
		    file_join(dir[0] != '\0' ? dir : ".", name);

		if (access(file, X_OK) == 0)
			return 0;
		if (errno == EACCES)
			r = -EACCES;
	}
	return r;
}

static int
refuse(const char *agent, int code, struct err *err)
{
	return err_set(err, code,
	    "cannot start the agent %s: %s; see: llmc doctor --agents", agent,
	    strerror(-code));
}

/* Execute the agent below a keeper. */
static int
become_keeper(struct json_object *json, struct err *err)
{
	const char *mark =
	    json_string_or(json_member(json, "keeper"), "mark", "");
	const char *agent = json_object_get_string(
	    json_object_array_get_idx(json_member(json, "argv"), 0));
	cleanup_free char *program = sibling_find("keeper");
	cleanup_strv char **argv = NULL;
	int r;

	if (program == NULL)
		return err_set(err, -ENOENT,
		    "the program keeper is not there: it belongs beside llmc "
		    "or into its libexec folder; install llmc again");
	argv = keeper_argv(program, json);
	set_environment(json_member(json, "env"));
	/* By this the keeper itself is found too: orphans.h. */
	setenv("LLMC_KEEPER", mark, 1);
	r = find_agent(agent);
	if (r < 0)
		return refuse(agent, r, err);
	execv(argv[0], argv);
	return refuse(agent, -errno, err);
}

int
launcher_exec(const char *file, struct err *err)
{
	const struct schema_field whole = { .type = SCHEMA_OBJECT,
		.of = &launcher_shape };
	cleanup_json struct json_object *json = NULL;
	const char *cwd;
	int r = json_load(file, LAUNCHER_MAX, &json, err);

	/* The environment in it may have keys, and is not needed any more. */
	unlink(file);
	if (r < 0)
		return r;
	r = schema_check(&whole, json, "", err);
	if (r < 0) {
		err_prefix(err, "%s", file);
		return r;
	}
	cwd = json_string_or(json, "cwd", ".");
	if (chdir(cwd) == -1)
		return err_errno(err, -errno, "%s", cwd);
	return become_keeper(json, err);
}

const char *
kept_modes(void)
{
	const char *modes = getenv("LLMC_KEEPER_MODE"); /* for tests */

	if (modes != NULL && modes[0] != '\0')
		return modes;
	return geteuid() == 0 ? "namespace,cgroup,reaper" : "cgroup,reaper";
}

char **
kept_argv(const char *const *argv, unsigned flags)
{
	/* Without it a command does not run at all: it is part of llmc. */
	char *keeper = sibling_find("keeper");
	char **kept = NULL;

	strv_take(&kept, keeper != NULL ? keeper : xstrdup("keeper"));
	strv_add(&kept, "--command");
	strv_add(&kept, "--mode");
	strv_add(&kept, kept_modes());
	if ((flags & KEPT_ALONE) == 0) {
		strv_add(&kept, "--parent");
		strv_take(&kept, xasprintf("%d", (int)getpid()));
	}
	strv_add(&kept, "--");
	strv_add_all(&kept, argv);
	return kept;
}

char **
kept_shell(const char *command, unsigned flags)
{
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };

	return kept_argv(argv, flags);
}
