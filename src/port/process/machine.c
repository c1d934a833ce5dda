/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <mntent.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "account.h"
#include "agent-kind.h"
#include "box-plan.h"
#include "box-probe.h"
#include "box.h"
#include "child.h"
#include "config.h"
#include "forge-http.h"
#include "git-ask.h"
#include "machine.h"
#include "preflight.h"
#include "quota.h"
#include "settings.h"
#include "sibling.h"
#include "workspace.h"

#define FILE_MAX (64 * 1024)

#define TEXT_MAX 65536

#define BOOK_USER_VERSION 60 /* in the header of a file of SQLite */

#define AGENT_MS   15000 /* a start takes a second, or more under load */
#define ANSWER_MAX 65536
#define WORKER     "auto-1" /* whose settings count before there is one */

int
machine_pressure(const char *text, const char *who)
{
	cleanup_free char *mark = xasprintf("%s avg10=", who);
	const char *at = strstr(text, mark);
	char *end;
	long percent;

	if (at == NULL)
		return -1;
	at += strlen(mark);
	percent = strtol(at, &end, 10);
	return end == at || percent < 0 || percent > 100 ? -1 : (int)percent;
}

int64_t
machine_memory(const char *text)
{
	static const char mark[] = "MemAvailable:";
	const char *at = strstr(text, mark);
	char *end;
	long long kib;

	if (at == NULL)
		return -1;
	at += strlen(mark);
	kib = strtoll(at, &end, 10);
	return end == at || kib < 0 || kib > INT64_MAX / 1024 ? -1 : kib * 1024;
}

static int
read_pressure(const char *path, const char *who)
{
	cleanup_buf struct buf text = BUF_INIT;

	return file_read(path, FILE_MAX, &text, NULL) < 0 ?
	    -1 :
	    machine_pressure(text.data, who);
}

void
machine_read(const char *dir, struct machine *ret_machine)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct statvfs disk;
	double load;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*ret_machine = (struct machine){
		.memory_free = -1,
		.disk_free = -1,
		.memory_full = read_pressure("/proc/pressure/memory", "full"),
		.cpu_some = read_pressure("/proc/pressure/cpu", "some"),
		.cpus = cpus > 0 ? (int)cpus : -1,
		.load = getloadavg(&load, 1) == 1 && load < 1e6 ?
		    (int)(load * 100) :
		    -1,
	};
	if (file_read("/proc/meminfo", FILE_MAX, &text, NULL) == 0)
		ret_machine->memory_free = machine_memory(text.data);
	/* Some file systems do not say how large they are. */
	if (statvfs(dir, &disk) == 0 && disk.f_blocks > 0 && disk.f_frsize > 0)
		ret_machine->disk_free =
		    (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
}

static const char *
or_else(const char *given, const char *usual)
{
	return given != NULL ? given : usual;
}

/* --- a folder of our own ------------------------------------------------ */

/* Where cgroup v2 is mounted, owned by the caller; NULL = nowhere. */
static char *
find_mount(void)
{
	FILE *file = setmntent("/proc/self/mounts", "re");
	char *found = NULL, text[4096];
	struct mntent entry;

	while (file != NULL && found == NULL &&
	    getmntent_r(file, &entry, text, sizeof text) != NULL)
		if (strcmp(entry.mnt_type, "cgroup2") == 0)
			found = xstrdup(entry.mnt_dir);
	if (file != NULL)
		endmntent(file);
	return found;
}

/* The folder that this process is in; NULL = none that can be reached. */
static char *
find_own(const struct cgroup_world *world)
{
	cleanup_free char *mount =
	    world->mount != NULL ? xstrdup(world->mount) : find_mount();
	cleanup_buf struct buf text = BUF_INIT;
	const char *line;
	size_t len;

	if (mount == NULL ||
	    file_read(or_else(world->self, "/proc/self/cgroup"), TEXT_MAX,
		&text, NULL) < 0)
		return NULL;
	line = text.data;
	while (line != NULL && !text_begins(line, "0::/")) {
		line = strchr(line, '\n');
		if (line != NULL)
			line++;
	}
	if (line == NULL || text_begins(line, "0::/.."))
		return NULL;
	line += 3;
	len = strcspn(line, "\n");
	return xasprintf("%s%.*s", mount, len == 1 ? 0 : (int)len, line);
}

static unsigned
read_set(const char *dir, const char *name)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, TEXT_MAX, &text, NULL) < 0)
		return 0;
	return box_limits_available(text.data);
}

/* One write, as the kernel wants it; negative errno. */
static int
put(const char *dir, const char *name, const char *value)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd == -1 || write(fd, value, strlen(value)) == -1)
		return -errno;
	return 0;
}

static bool
is_writable(const char *dir, const char *name)
{
	cleanup_free char *path = file_join(dir, name);

	return access(path, W_OK) == 0;
}

/* What systemd manages is not ours, even if we may write to it. */
static bool
is_delegated(const char *dir, const struct cgroup_world *world)
{
	char value[8] = "";

	if (!file_exists(or_else(world->booted, "/run/systemd/system")))
		return true;
	return getxattr(dir, "user.delegate", value, sizeof value - 1) > 0 &&
	    value[0] == '1';
}

/* The limits that folders in it can have; 0 also if they cannot be made. */
static unsigned
judge_folder(const char *dir, unsigned wanted, const struct cgroup_world *world)
{
	unsigned missing;

	if (access(dir, W_OK | X_OK) != 0 || !is_writable(dir, "cgroup.procs"))
		return 0;
	if (!is_delegated(dir, world))
		return 0;
	missing = wanted & read_set(dir, "cgroup.controllers") &
	    ~read_set(dir, "cgroup.subtree_control");
	/* Fails where processes live in the folder itself. */
	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		cleanup_free char *word =
		    xasprintf("+%s", box_limit_rows[i].controller);

		if ((missing & 1u << i) != 0)
			put(dir, "cgroup.subtree_control", word);
	}
	return wanted & read_set(dir, "cgroup.subtree_control");
}

/* Our own folder, or the one around it: systemd can put the processes of a
 * unit with Delegate= into a folder below that of the unit. */
static void
find_folder(unsigned wanted, const struct cgroup_world *world,
    struct cgroup_place *place)
{
	cleanup_free char *own = find_own(world);
	cleanup_free char *around = NULL;
	unsigned held;

	if (own == NULL) {
		place->why = xstrdup("cgroup v2 is not there");
		return;
	}
	held = judge_folder(own, wanted, world);
	if (held == 0) {
		around = xstrndup(own, (size_t)(strrchr(own, '/') - own));
		held = is_writable(around, "cgroup.procs") ?
		    judge_folder(around, wanted, world) :
		    0;
	}
	if (held == 0) {
		place->why = xasprintf(
		    "no cgroup with these controllers was delegated to us in "
		    "%s",
		    own);
		return;
	}
	place->way = CGROUP_FOLDER;
	place->held = held;
	place->folder = take_ptr(around != NULL ? &around : &own);
}

/* --- a scope ------------------------------------------------------------ */

static char *
find_program(const char *name)
{
	const char *path = getenv("PATH");
	cleanup_free char *copy = xstrdup(path != NULL ? path : "");
	char *rest = copy;
	const char *dir;

	while ((dir = strsep(&rest, ":")) != NULL) {
		cleanup_free char *file = file_join(dir, name);

		if (dir[0] == '/' && access(file, X_OK) == 0)
			return take_ptr(&file);
	}
	return NULL;
}

static bool
find_scope(unsigned wanted, const struct cgroup_world *world,
    struct cgroup_place *place)
{
	const char *run_dir = getenv("XDG_RUNTIME_DIR");
	cleanup_free char *user = xasprintf(
	    "%s/systemd/private", run_dir != NULL ? run_dir : "/nowhere");
	const char *root =
	    or_else(world->system_manager, "/run/systemd/private");
	cleanup_free char *program = world->systemd_run != NULL ?
	    xstrdup(world->systemd_run) :
	    find_program("systemd-run");

	if (program == NULL)
		return false;
	place->as_root = geteuid() == 0 && file_exists(root);
	if (!place->as_root && !file_exists(or_else(world->user_manager, user)))
		return false;
	place->way = CGROUP_SCOPE;
	place->held = wanted;
	place->systemd_run = take_ptr(&program);
	free(take_ptr(&place->folder));
	free(take_ptr(&place->why));
	return true;
}

/* --- both --------------------------------------------------------------- */

void
cgroup_find(unsigned wanted, const struct cgroup_world *world,
    struct cgroup_place *ret_place)
{
	static const struct cgroup_world here = { 0 };
	struct cgroup_place *place = ret_place;

	*place = (struct cgroup_place){ 0 };
	if (wanted == 0)
		return;
	if (world == NULL)
		world = &here;
	find_folder(wanted, world, place);
	if (place->held == wanted || find_scope(wanted, world, place))
		return;
	if (place->held != 0) {
		cleanup_buf struct buf missing = BUF_INIT;

		box_limits_describe(wanted & ~place->held, &missing);
		place->why = xasprintf(
		    "%s has no controller for %s", place->folder, missing.data);
	} else {
		char *words = xasprintf(
		    "%s, and no systemd can be asked for a scope", place->why);

		free(place->why);
		place->why = words;
	}
}

void
cgroup_place_release(struct cgroup_place *place)
{
	free(place->folder);
	free(place->systemd_run);
	free(place->why);
	*place = (struct cgroup_place){ 0 };
}

int
cgroup_make(const struct cgroup_place *place, const struct box_limits *limits,
    const char *name, char **ret_dir, struct err *err)
{
	cleanup_free char *dir = file_join(place->folder, name);
	int r;

	rmdir(dir); /* of an earlier one: what was counted there is not ours */
	if (mkdir(dir, 0755) == -1 && errno != EEXIST)
		return err_errno(err, -errno, "%s", dir);
	for (int i = 0; i < BOX_LIMIT_COUNT; i++) {
		const struct box_limit_row *row = &box_limit_rows[i];
		cleanup_free char *value = limits->values[i] > 0 ?
		    xasprintf("%lld", (long long)limits->values[i]) :
		    xstrdup(row->none);

		if ((place->held & 1u << i) == 0)
			continue;
		r = put(dir, row->file, value);
		if (r < 0 && limits->values[i] > 0) {
			rmdir(dir);
			return err_errno(err, r, "%s/%s", dir, row->file);
		}
	}
	*ret_dir = take_ptr(&dir);
	return 0;
}

int64_t
cgroup_oom_kills(const char *dir)
{
	cleanup_free char *path = file_join(dir, "memory.events");
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, TEXT_MAX, &text, NULL) < 0)
		return -1;
	return box_limits_oom_kills(text.data);
}

/* Is this the program Claude Code? Others have no dialogs and no login that we
 * know of. */
static bool
start_facts_is_claude(const char *command)
{
	const char *slash = strrchr(command, '/');

	return strcmp(slash != NULL ? slash + 1 : command, "claude") == 0;
}

static const char *
worker_string(
    const struct settings *settings, const char *worker, const char *key)
{
	cleanup_buf struct buf path = BUF_INIT;

	settings_worker_path(settings, worker, key, &path);
	return settings_string(settings, path.data);
}

static bool
worker_bool(
    const struct settings *settings, const char *worker, const char *key)
{
	cleanup_buf struct buf path = BUF_INIT;

	settings_worker_path(settings, worker, key, &path);
	return settings_bool(settings, path.data);
}

static enum preflight_answer
answer(bool yes)
{
	return yes ? PREFLIGHT_YES : PREFLIGHT_NO;
}

static void
read_sandbox(const struct settings *settings, const char *worker,
    struct preflight_facts *f)
{
	enum box_mode mode = box_mode_of(settings, worker);
	struct err err = { 0 };

	f->sandbox = box_mode_name(mode);
	f->sandbox_required = settings_bool(settings, "auto.sandbox_required");
	if (mode != BOX_OFF && box_check(&err) < 0)
		f->sandbox_error = xstrdup(err.msg);
}

void
start_facts_agent(const struct workspace *ws, const struct settings *settings,
    const char *worker, struct preflight_facts *ret_facts)
{
	const struct agent_kind *kind;
	enum box_mode mode;

	*ret_facts = (struct preflight_facts){
		.is_claude =
		    agent_kind_of(settings, worker, NULL) == agent_kinds[0] &&
		    start_facts_is_claude(
			worker_string(settings, worker, "agent_command")),
		.permission_mode =
		    worker_string(settings, worker, "permission_mode"),
		.allow_root = worker_bool(settings, worker, "allow_root"),
		.is_root = geteuid() == 0,
		.workers = settings_int(settings, "auto.concurrency"),
		.disk_free = -1,
	};
	read_sandbox(settings, worker, ret_facts);
	kind = agent_kind_of(settings, worker, NULL);
	mode = box_mode_of(settings, worker);
	if (ret_facts->is_claude && kind->look != NULL)
		kind->look(ws, mode != BOX_OFF, mode == BOX_STRICT, ret_facts);
}

/* Older versions do not have this command: not known. */
static enum preflight_answer
ask_login(const struct workspace *ws, const char *command)
{
	const char *const argv[] = { command, "auth", "status", "--json",
		NULL };
	struct child_spec spec = {
		.argv = argv, .cwd = ws->root, .deadline_ms = AGENT_MS
	};
	cleanup_child_result struct child_result result;
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	bool yes;

	if (child_run(&spec, &result, NULL) < 0 || !result.exited)
		return PREFLIGHT_UNKNOWN;
	child_output_text(&result.out, &text);
	if (json_parse(text.data, text.len, ANSWER_MAX, &json, NULL) < 0 ||
	    json_get_bool(json, "", "loggedIn", &yes, NULL) < 0)
		return PREFLIGHT_UNKNOWN;
	return answer(yes);
}

static void
read_git(const struct workspace *ws, const struct settings *settings,
    struct preflight_facts *f)
{
	const char *const args[] = { "var", "GIT_COMMITTER_IDENT", NULL };
	cleanup_buf struct buf identity = BUF_INIT, uncommitted = BUF_INIT;
	const char *branch = settings_string(settings, "repo.default_branch");
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);
	int r = git_ask(ws->root, args, &identity, NULL);

	if (r >= 0)
		f->has_identity = answer(r == 0);
	if (r == 0) {
		/* "NAME <ADDRESS> SECONDS ZONE" */
		buf_truncate(&identity, strcspn(identity.data, ">"));
		buf_addc(&identity, '>');
		f->identity = buf_take(&identity);
	}
	f->branch = xstrdup(branch);
	r = git_ask(ws->root,
	    (const char *const[]){
		"show-ref", "--verify", "--quiet", ref, NULL },
	    NULL, NULL);
	if (r >= 0) /* a git that does not answer proves nothing */
		f->branch_exists = answer(r == 0);
	if (uncommitted_describe(ws, settings, &uncommitted))
		f->uncommitted = buf_take(&uncommitted);
}

static void
read_limits(const struct settings *settings, struct preflight_facts *f)
{
	unsigned wanted = box_limits_wanted_by_any(settings);
	cleanup_buf struct buf words = BUF_INIT;
	struct cgroup_place place;

	if (wanted == 0)
		return;
	box_limits_describe(wanted, &words);
	f->limits = buf_take(&words);
	cgroup_find(wanted, NULL, &place);
	if (place.way == CGROUP_FOLDER)
		f->limits_place = xasprintf("cgroups in %s", place.folder);
	else if (place.way == CGROUP_SCOPE)
		f->limits_place = xstrdup("systemd scopes");
	f->limits_why = take_ptr(&place.why);
	cgroup_place_release(&place);
}

static bool
has_budget(const struct settings *settings)
{
	return settings_int(settings, "budget.task_tokens") > 0 ||
	    settings_amount(settings, "budget.task_cost") > 0 ||
	    settings_int(settings, "budget.day_tokens") > 0 ||
	    settings_amount(settings, "budget.day_cost") > 0;
}

/* The name of a model, without the mark of a long context; not a short one
 * ("opus"), whose version the agent chooses. */
static const char *
unpriced_model(const struct settings *settings)
{
	const char *model = worker_string(settings, WORKER, "model");
	cleanup_free char *name = xstrndup(model, strcspn(model, "["));

	if ((settings_amount(settings, "budget.task_cost") == 0 &&
		settings_amount(settings, "budget.day_cost") == 0) ||
	    strchr(name, '-') == NULL ||
	    price_find(settings_prices(settings), name) != NULL)
		return NULL;
	return model;
}

/* Of a newer book, as the file's header says it: 0 = it is none. */
static int64_t
newer_book(const struct workspace *ws)
{
	cleanup_free char *path = workspace_path(ws, WORKSPACE_BOOK);
	cleanup_fd int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	unsigned char head[BOOK_USER_VERSION + 4];
	const unsigned char *at = head + BOOK_USER_VERSION;
	int64_t version;

	if (fd == -1 || read(fd, head, sizeof head) != sizeof head ||
	    memcmp(head, "SQLite format 3", 16) != 0)
		return 0;
	version = (int64_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
	return version > WORKSPACE_BOOK_VERSION ? version : 0;
}

void
start_facts_read(const struct workspace *ws, const struct settings *settings,
    const struct settings_problems *problems, const char *config,
    struct preflight_facts *ret_facts)
{
	struct preflight_facts *f = ret_facts;
	struct err err = { 0 };
	struct statvfs fs;

	start_facts_agent(ws, settings, WORKER, f);
	if (box_mode_of(settings, WORKER) != BOX_OFF &&
	    f->sandbox_error == NULL && box_probe_run(&err) < 0)
		f->sandbox_error = xstrdup(err.msg);
	f->config = config;
	f->problems = problems;
	if (f->is_claude)
		f->logged_in = ask_login(
		    ws, worker_string(settings, WORKER, "agent_command"));
	read_git(ws, settings, f);
	f->book_version = newer_book(ws);
	if (statvfs(ws->dir, &fs) == 0)
		f->disk_free = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
	read_limits(settings, f);
	f->checked = answer(settings_decided(settings, "auto.check_command"));
	f->knows_budget = true;
	f->has_budget = has_budget(settings);
	f->unpriced = unpriced_model(settings);
}

/* A copy of the name if there is no such program, else NULL. */
static char *
missing(const char *program)
{
	cleanup_free char *found = sibling_program(program);

	return found == NULL ? xstrdup(program) : NULL;
}

/* Work that waits for a pull request that cannot be made never lands. */
static void
read_forge(const struct workspace *ws, const struct settings *settings,
    struct preflight_facts *f)
{
	struct forge_place place = { 0 };
	struct err err = { 0 };

	if (strcmp(settings_string(settings, "auto.land"), "pull-request") ==
		0 &&
	    forge_find(ws, settings, &place, &err) < 0)
		f->forge_error = xstrdup(err.msg);
	forge_place_release(&place);
}

int
start_facts_check(const struct workspace *ws, bool needs_check,
    struct preflight *ret_preflight, struct err *err)
{
	cleanup_free char *config = workspace_path(ws, "config.toml");
	struct settings *settings = NULL;
	struct settings_problems problems;
	const struct agent_kind *kind;
	struct preflight_facts facts;
	int r = config_load(ws, &settings, &problems, err);

	if (r < 0)
		return r;
	start_facts_read(ws, settings, &problems, config, &facts);
	read_forge(ws, settings, &facts);
	facts.needs_check = needs_check;
	facts.no_tmux = missing(settings_string(settings, "tmux.command"));
	kind = agent_kind_of(settings, WORKER, NULL);
	facts.agent_key = kind->command;
	facts.agent_fix = kind->install;
	facts.no_agent =
	    missing(worker_string(settings, WORKER, kind->command));
	preflight_judge(&facts, ret_preflight);
	preflight_facts_release(&facts);
	settings_problems_release(&problems);
	settings_free(settings);
	return 0;
}
