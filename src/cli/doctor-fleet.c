/* SPDX-License-Identifier: ISC */

/* llmc doctor: the keeper that agents get, what is running, and what of it is
 * repaired when that is asked for. */
#include "base.h"
#include "box-plan.h"
#include "box-probe.h"
#include "box.h"
#include "child.h"
#include "cli-private.h"
#include "sibling.h"
#include "workspace.h"
#include "tmux.h"
#include "view.h"

#define CLOCK_MAX_MS ((int64_t)60 * 1000) /* of two hosts, without a word */

#define NAME        "keeper"
#define DEADLINE_MS 10000
#define RECORD_MAX  (64 * 1024)
#define SETTING     "defaults.user_namespace"
#define BUT         "; if agents need that: llmc config set " SETTING " false"
#define NO_SUDO     "; sudo does not work in a session" BUT
#define NO_SSH                                                               \
	", in a user namespace: sudo, and ssh with settings that root owns," \
	" do not work in a session" BUT

static const struct {
	const char *mode;
	enum verdict verdict;
	const char *root, *user; /* what it means for them */
	const char *fix;
} modes[] = {
	{ "namespace", VERDICT_OK,
	    "a pid namespace: everything that an agent started ends with it",
	    "a pid namespace: everything that an agent started ends with "
	    "it" NO_SSH,
	    NULL },
	{ "cgroup", VERDICT_OK,
	    "a control group: everything that an agent started ends with it",
	    "a control group: everything that an agent started ends with it",
	    NULL },
	{ "scope", VERDICT_OK,
	    "a subreaper that agents cannot signal: everything that an agent "
	    "started ends with it",
	    "a subreaper that agents cannot signal: everything that an agent "
	    "started ends with it" NO_SUDO,
	    NULL },
	{ "reaper", VERDICT_WARN,
	    "a subreaper: an agent that kills it can leave processes behind",
	    "a subreaper: an agent that kills it can leave processes behind",
	    "allow user namespaces, as root: sysctl -w "
	    "user.max_user_namespaces=15000 (on Ubuntu also "
	    "kernel.apparmor_restrict_unprivileged_userns=0)" },
};

/* Let it keep a program that is always there; its record says the mode. The
 * modes to try are those of the keeper's --mode. */
static int
probe(const char *program, const char *tried, const char *record,
    struct buf *ret_mode, struct err *err)
{
	cleanup_free char *self = sibling_find("llmc");
	const char *const argv[] = { program, "--mode", tried, "--record",
		record, "--", self != NULL ? self : "true", "version", NULL };
	struct child_spec spec = { .argv = argv, .deadline_ms = DEADLINE_MS };
	cleanup_child_result struct child_result result;
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf why = BUF_INIT;
	int r = child_run(&spec, &result, err);

	if (r < 0)
		return r;
	if (!child_succeeded(&result)) {
		child_result_describe(&result, &why);
		return err_set(err, -EIO, "%s: %s", program, why.data);
	}
	r = json_load(record, RECORD_MAX, &json, err);
	if (r == 0)
		buf_adds(ret_mode, json_string_or(json, "mode", ""));
	return r;
}

static void
tell(struct doctor *d, const char *mode, bool plain)
{
	for (size_t i = 0; i < nitems(modes); i++) {
		cleanup_free char *detail = NULL;

		if (strcmp(modes[i].mode, mode) != 0)
			continue;
		detail = xasprintf("%s%s",
		    geteuid() == 0 ? modes[i].root : modes[i].user,
		    plain ? "; without a user namespace (" SETTING ")" : "");
		doctor_note(d, modes[i].verdict, NAME, detail,
		    plain && modes[i].fix != NULL ?
			"let llmc have a control group (man llmc.conf, "
			"LIMITS), or: llmc config unset " SETTING :
			modes[i].fix);
	}
}

/* What workers without a sandbox get; each may have its own setting. */
void
doctor_keeper_check(struct doctor *d)
{
	cleanup_free char *program = sibling_find(NAME);
	const char *tmp = getenv("TMPDIR");
	cleanup_free char *record =
	    xasprintf("%s/llmc-keeper-XXXXXX", tmp != NULL ? tmp : "/tmp");
	bool plain = geteuid() != 0 && d->settings != NULL &&
	    !settings_bool(d->settings, SETTING);
	const char *tried = getenv("LLMC_KEEPER_MODE"); /* for tests */
	cleanup_buf struct buf mode = BUF_INIT;
	struct err err = { 0 };
	int fd, r;

	if (program == NULL) {
		doctor_note(d, VERDICT_FAIL, NAME,
		    "not found next to llmc, in libexec or on PATH",
		    "install all of llmc: make install");
		return;
	}
	if (tried == NULL || tried[0] == '\0')
		tried = "auto";
	fd = mkstemp(record);
	if (fd == -1)
		r = err_errno(&err, -errno, "%s", record);
	else
		r = probe(
		    program, plain ? kept_modes() : tried, record, &mode, &err);
	if (fd != -1) {
		close(fd);
		unlink(record);
	}
	if (r < 0)
		doctor_note(d, VERDICT_FAIL, NAME, err.msg,
		    "no agent can be started; install all of llmc: make "
		    "install");
	else
		tell(d, mode.data, plain);
}

/* --- worktrees ------------------------------------------------------- */

/* The name of the worker that would have a worktree at this path; NULL for
 * none. */
static const char *
name_below(const char *dir, const char *path)
{
	size_t len = strlen(dir);

	if (strncmp(path, dir, len) != 0 || path[len] != '/' ||
	    !text_is_name(path + len + 1) ||
	    strcmp(path + len + 1, OVERSEER_NAME) == 0)
		return NULL;
	return path + len + 1;
}

/* A worktree of this repository that could belong to a worker, as git lists it.
 */
struct doctor_fleet_worktree {
	char *name; /* of the worker */
	char *path;
	char *branch; /* "" = detached */
};
struct doctor_fleet_worktrees {
	struct doctor_fleet_worktree *list;
	size_t count;
};

/* "worktree PATH", "HEAD ID", "branch refs/heads/X", a blank line. */
static void
parse_worktrees(char *text, const char *dir, struct doctor_fleet_worktrees *w)
{
	static const char heads[] = "branch refs/heads/";
	const char *path = NULL, *branch = "";
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (text_begins(line, "worktree ")) {
			path = line + 9;
			branch = "";
		} else if (text_begins(line, heads)) {
			branch = line + strlen(heads);
		}
		/* The blank line after the last one is cut off. */
		if (path != NULL && (*line == '\0' || rest == NULL)) {
			const char *name = name_below(dir, path);

			/* That of repairs has no worker. */
			if (name != NULL && strcmp(name, CALLER_REPAIR) != 0) {
				w->list = xreallocarray(
				    w->list, w->count + 1, sizeof *w->list);
				w->list[w->count++] =
				    (struct doctor_fleet_worktree){
					    .name = xstrdup(name),
					    .path = xstrdup(path),
					    .branch = xstrdup(branch),
				    };
			}
			path = NULL;
		}
	}
}

/* Those below repo.worktree_dir with a name and a branch like a worker's. Exit
 * status; the failure is reported. */
static int
doctor_fleet_worktrees_load(struct cli *cli, const struct settings *settings,
    struct doctor_fleet_worktrees *ret_worktrees)
{
	const char *const args[] = { "worktree", "list", "--porcelain", NULL };
	cleanup_free char *dir = workspace_resolve(
	    &cli->workspace, settings_string(settings, "repo.worktree_dir"));
	cleanup_free char *real = realpath(dir, NULL);
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	*ret_worktrees = (struct doctor_fleet_worktrees){ 0 };
	if (git_ask(cli->workspace.root, args, &text, &err) != 0)
		return cli_fail_err(cli, "git", &err);
	parse_worktrees(text.data, real != NULL ? real : dir, ret_worktrees);
	return CLI_OK;
}

/* Those below repo.worktree_dir with a name and a branch like a worker's. Exit
 * status; the failure is reported. */
static void
doctor_fleet_worktrees_release(struct doctor_fleet_worktrees *w)
{
	for (size_t i = 0; i < w->count; i++) {
		free(w->list[i].name);
		free(w->list[i].path);
		free(w->list[i].branch);
	}
	free(w->list);
	*w = (struct doctor_fleet_worktrees){ 0 };
}

static void
check_worktrees(struct doctor *d)
{
	struct doctor_fleet_worktrees w;

	if (doctor_fleet_worktrees_load(d->cli, d->settings, &w) != CLI_OK)
		return;
	for (size_t i = 0; i < w.count; i++) {
		cleanup_free char *fix = NULL;
		cleanup_buf struct buf path = BUF_INIT;

		if (state_find(&d->state, w.list[i].name) != NULL)
			continue;
		text_add_shell(&path, w.list[i].path);
		fix = xasprintf(
		    "it has no worker: llmc add %s adopts it, git worktree "
		    "remove %s removes it",
		    w.list[i].name, path.data);
		doctor_note(d, VERDICT_WARN, "worktree", w.list[i].path, fix);
	}
	doctor_fleet_worktrees_release(&w);
}

static bool
check_worker(struct doctor *d, const struct worker *w)
{
	cleanup_free char *detail = NULL;

	if (w->worktree != NULL && !file_is_dir(w->worktree)) {
		detail = xasprintf(
		    "%s: its worktree %s is missing", w->name, w->worktree);
		doctor_note(d, VERDICT_FAIL, "worker", detail,
		    "run: llmc doctor --repair");
		return false;
	}
	return true;
}

/* A sandbox that is set for single workers only; that of the defaults is one
 * of the checks before a start. */
static void
check_own_sandbox(struct doctor *d)
{
	const char *const *names;
	size_t count = settings_workers(d->settings, &names);
	cleanup_free char *detail = NULL;
	struct err err = { 0 };
	size_t i = 0;

	if (strcmp(settings_string(d->settings, "defaults.sandbox"), "off") !=
	    0)
		return;
	while (i < count && box_mode_of(d->settings, names[i]) == BOX_OFF)
		i++;
	if (i == count)
		return;
	if (box_check(&err) == 0 && box_probe_run(&err) == 0) {
		detail = xasprintf("%s runs in a sandbox (%s)", names[i],
		    box_mode_name(box_mode_of(d->settings, names[i])));
		doctor_note(d, VERDICT_OK, "sandbox", detail, NULL);
		return;
	}
	detail = xasprintf("%s: %s", names[i], err.msg);
	doctor_note(
	    d, VERDICT_WARN, "sandbox", detail, "llmc doctor --sandbox");
}

/* --- the tmux server, from inside a sandbox ---------------------------- */

#define PROBE_MS 20000

/* Can a program in this box connect to the socket? It can to each that it sees
 * and may write, even on a mount that is read-only. Negative errno: there is no
 * such box. */
static int
try_socket(const struct box *box, const char *socket, bool *ret_reached,
    struct err *err)
{
	const char *const words[] = { "/bin/sh", "-c",
		"echo inside && [ -S \"$1\" ] && [ -w \"$1\" ]", "sh", socket,
		NULL };
	cleanup_strv char **argv = strv_copy(strv_const(box->prefix));
	struct child_spec spec = { .deadline_ms = PROBE_MS };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	strv_add_all(&argv, words);
	spec.argv = strv_const(argv);
	r = child_run(&spec, &result, err);
	if (r < 0)
		return r;
	child_output_text(&result.out, &text);
	if (strncmp(text.data, "inside\n", 7) != 0)
		return err_set(err, -EPERM, "its sandbox cannot be made");
	*ret_reached = child_succeeded(&result);
	return 0;
}

static void
try_worker(struct doctor *d, const struct worker *w, const char *socket)
{
	struct box_spec spec = { .kind = BOX_COMMAND,
		.workspace = &d->cli->workspace,
		.settings = d->settings,
		.worker = w->name,
		.tree = w->worktree,
		.trial = true };
	cleanup_free char *detail = NULL;
	struct box box = { 0 };
	struct err err = { 0 };
	bool reached = false;
	int r = box_prepare(&spec, &box, &err);

	if (r == 0)
		r = try_socket(&box, socket, &reached, &err);
	box_release(&box);
	detail = r < 0 ?
	    xasprintf("%s: %s", w->name, err.msg) :
	    xasprintf("%s, in its sandbox, %s the tmux server (%s)", w->name,
		reached ? "can use" : "cannot reach", socket);
	if (r < 0)
		doctor_note(d, VERDICT_WARN, "tmux socket", detail,
		    "llmc doctor --sandbox");
	else if (reached)
		doctor_note(d, VERDICT_FAIL, "tmux socket", detail,
		    "it can do there whatever you can: take the socket out of "
		    "sandbox_read and sandbox_write (llmc config list)");
	else
		doctor_note(d, VERDICT_OK, "tmux socket", detail, NULL);
}

/* With one worker, in its real sandbox, if the server runs. */
static void
check_tmux_socket(struct doctor *d)
{
	cleanup_free char *socket =
	    tmux_socket_path(settings_string(d->settings, "tmux.socket"));

	if (!file_exists(socket))
		return;
	for (size_t i = 0; i < d->state.count; i++) {
		const struct worker *w = d->state.workers[i];

		if (box_mode_of(d->settings, w->name) == BOX_OFF ||
		    w->worktree == NULL || !file_is_dir(w->worktree))
			continue;
		try_worker(d, w, socket);
		return;
	}
}

static void
check_sessions(struct doctor *d)
{
	struct sessions sessions;
	struct err err = { 0 };

	if (sessions_try(d->cli, d->settings, &sessions, &err) < 0) {
		doctor_note(d, VERDICT_WARN, "sessions", err.msg, NULL);
		return;
	}
	for (size_t i = 0; i < sessions.count; i++) {
		const struct sessions_entry *s = &sessions.list[i];

		if (strcmp(s->role, "worker") == 0 &&
		    state_find(&d->state, s->worker) == NULL)
			doctor_note(d, VERDICT_WARN, "session", s->name,
			    "it has no worker; end it with: llmc doctor "
			    "--repair");
	}
	sessions_release(&sessions);
}

/* What has ended the daemon, or a worker, is a failed check; what else needs a
 * person is a warning. */
static void
check_needs(struct doctor *d)
{
	static const char *const sections[] = { "needs", NULL };
	cleanup_json struct json_object *view = NULL, *list = NULL;
	size_t count;
	bool live;

	if (view_source_once(d->cli, sections, &view, &live) != CLI_OK)
		return;
	list = view_needs_list(view);
	count = json_object_array_length(list);
	JSON_EACH (need, list) {
		const char *what = json_string_or(need, "what", "");
		cleanup_free char *detail =
		    xasprintf("%s: %s: %s", json_string_or(need, "who", "?"),
			what, json_string_or(need, "words", ""));
		cleanup_free char *fix = xasprintf(
		    "type: %s", json_string_or(need, "command", "llmc status"));

		doctor_note(d,
		    strcmp(what, "failure") == 0 &&
			    strcmp(json_string_or(need, "level", ""),
				"critical") == 0 ?
			VERDICT_FAIL :
			VERDICT_WARN,
		    "needs you", detail, fix);
	}
	if (count == 0)
		doctor_note(d, VERDICT_OK, "needs you", "nothing", NULL);
}

/* Nothing is judged by it; but times of other hosts look odd. */
static void
check_clock(struct doctor *d)
{
	cleanup_json struct json_object *result = NULL;
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };
	int64_t ms;

	if (remote_fleet_try(d->cli, "check", NULL, &result, &err) < 0) {
		doctor_note(d, VERDICT_FAIL, "shared book", err.msg,
		    "see: llmc fleet check");
		return;
	}
	ms = json_int_or(result, "clockMs", 0);
	if (json_member(result, "clockMs") == NULL)
		return; /* a file of this machine */
	buf_adds(&words, "the clock of the shared book is ");
	text_add_duration(&words, ms < 0 ? -ms : ms);
	buf_addf(&words, " %s ours", ms < 0 ? "behind" : "ahead of");
	if (ms < CLOCK_MAX_MS && ms > -CLOCK_MAX_MS)
		doctor_note(d, VERDICT_OK, "clock", words.data, NULL);
	else
		doctor_note(d, VERDICT_WARN, "clock", words.data,
		    "no lease goes by it, but times that are shown do: set the "
		    "clock of this host or of the server");
}

/* What the daemon knows of the other hosts; `llmc fleet check` connects by
 * itself. */
static void
check_hosts(struct doctor *d)
{
	static const char *const sections[] = { "head", VIEW_HOSTS, NULL };
	const char *database = settings_string(d->settings, "fleet.database");
	cleanup_json struct json_object *view = NULL, *list = NULL;
	cleanup_buf struct buf up = BUF_INIT, lost = BUF_INIT, old = BUF_INIT;
	cleanup_free char *away = NULL;
	struct json_object *here;
	const char *words;

	if (database[0] == '\0')
		return;
	if (!view_source_ask(d->cli, sections, &view)) {
		doctor_note(d, VERDICT_WARN, "fleet",
		    "no daemon runs here: this host takes no tasks",
		    "try the shared book with: llmc fleet check");
		return;
	}
	words = json_string_or(view_of(view, "head"), "fleet_away", NULL);
	if (words != NULL) {
		away = xasprintf("the shared book is away: %s", words);
		doctor_note(d, VERDICT_FAIL, "fleet", away,
		    "see what is wrong with: llmc fleet check");
		return;
	}
	list = view_hosts_list(view);
	here = view_row(view, VIEW_HOSTS,
	    json_string_or(view_of(view, "head"), "host", ""));
	JSON_EACH (row, list) {
		bool is_lost = view_is(row, "state", "lost");

		buf_addf(is_lost ? &lost : &up, " %s",
		    json_string_or(row, "host", "?"));
		if (!is_lost &&
		    !view_is(
			row, "version", json_string_or(here, "version", "")))
			buf_addf(&old, " %s (%s)",
			    json_string_or(row, "host", "?"),
			    json_string_or(row, "version", "?"));
	}
	buf_addf(&up, "; this is %s, which has:%s%s",
	    json_string_or(here, "host", "?"),
	    json_string_or(here, "can", NULL) != NULL ? " " : " nothing",
	    json_string_or(here, "can", ""));
	doctor_note(d, VERDICT_OK, "fleet", up.data + 1, NULL);
	check_clock(d);
	if (lost.len > 0)
		doctor_note(d, VERDICT_WARN, "lost hosts", lost.data + 1,
		    "start llmc there, or take it out: llmc fleet hosts");
	if (old.len > 0)
		doctor_note(d, VERDICT_WARN, "other versions", old.data + 1,
		    "install the same version on all hosts");
}

void
doctor_fleet_check(struct doctor *d)
{
	cleanup_free char *detail = NULL;
	bool well = true;
	cleanup_free char *lock =
	    workspace_path(&d->cli->workspace, "state.lock");

	if (remote_alive(d->cli))
		doctor_note(
		    d, VERDICT_OK, "daemon", "running and responding", NULL);
	else if (lock_is_held(lock) == 1)
		doctor_note(d, VERDICT_FAIL, "daemon",
		    "a daemon holds the lock but does not respond",
		    "see llmc log daemon; stop it with llmc down, or kill it");
	else if (d->have_state && d->state.daemon_running)
		doctor_note(d, VERDICT_WARN, "daemon",
		    "the last one did not shut down cleanly",
		    "llmc up continues from its last written state");
	else
		doctor_note(d, VERDICT_OK, "daemon", "not running", NULL);
	if (d->settings != NULL)
		check_own_sandbox(d);
	if (!d->have_state || d->settings == NULL)
		return;
	for (size_t i = 0; i < d->state.count; i++)
		well = check_worker(d, d->state.workers[i]) && well;
	detail = xasprintf("%zu, each with its worktree", d->state.count);
	if (well && d->state.count > 0)
		doctor_note(d, VERDICT_OK, "workers", detail, NULL);
	check_worktrees(d);
	check_tmux_socket(d);
	check_sessions(d);
	check_hosts(d);
	check_needs(d);
}

static void done(struct doctor *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
done(struct doctor *d, const char *fmt, ...)
{
	cleanup_free char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	json_object_array_add(d->repairs, json_object_new_string(words));
	cli_coloured(d->cli, "36", "fixed");
	buf_addf(&d->cli->text, " %s\n", words);
}

/* --- repair ---------------------------------------------------------- */

static bool
is_broken(const struct worker *w)
{
	return w->status == WORKER_ERROR || !file_is_dir(w->worktree);
}

static bool
is_orphan(const struct state *state, const struct sessions_entry *session)
{
	return strcmp(session->role, "worker") == 0 &&
	    state_find(state, session->worker) == NULL;
}

static int
repair_all(struct doctor *d, const struct settings *settings,
    const struct state *state, const struct sessions *sessions, bool yes)
{
	cleanup_buf struct buf list = BUF_INIT;
	int status;

	for (size_t i = 0; i < state->count; i++)
		if (is_broken(state->workers[i]))
			buf_addf(&list, "%s%s", list.len > 0 ? ", " : "",
			    state->workers[i]->name);
	for (size_t i = 0; i < sessions->count; i++)
		if (is_orphan(state, &sessions->list[i]))
			buf_addf(&list, "%sthe session %s",
			    list.len > 0 ? ", " : "", sessions->list[i].name);
	if (list.len == 0)
		return CLI_OK;
	status = ask_confirm(d->cli, yes,
	    "This resets or ends %s; unlanded work is kept for llmc landing salvage.",
	    list.data);
	if (status != CLI_OK)
		return status;
	for (size_t i = 0; i < state->count; i++)
		if (is_broken(state->workers[i])) {
			const char *name = state->workers[i]->name;
			cleanup_json struct json_object *result = NULL;
			struct err err = { 0 };
			const char *code, *salvage;

			if (!remote_try(d->cli, "worker.reset",
				remote_worker(name), REMOTE_LONG_MS, &result,
				&code, &err)) {
				cli_warn(d->cli, "%s: %s", name, err.msg);
				continue;
			}
			salvage = json_string_or(result, "salvage", "");
			if (salvage[0] != '\0')
				done(d, "%s: reset; its work is kept as %s",
				    name, salvage);
			else
				done(d, "%s: reset", name);
		}
	for (size_t i = 0; i < sessions->count; i++)
		if (is_orphan(state, &sessions->list[i]) &&
		    sessions_kill(d->cli, settings, sessions->list[i].name) ==
			CLI_OK)
			done(
			    d, "the session %s: ended", sessions->list[i].name);
	return CLI_OK;
}

int
doctor_repair(struct doctor *d, bool yes)
{
	struct settings *settings = NULL;
	struct sessions sessions = { 0 };
	struct state state;
	int status = cli_load_settings(d->cli, &settings);

	if (status == CLI_OK)
		status = roster_load(d->cli, &state);
	if (status == CLI_OK) {
		status = sessions_load(d->cli, settings, &sessions);
		if (status == CLI_OK)
			status =
			    repair_all(d, settings, &state, &sessions, yes);
		sessions_release(&sessions);
		state_release(&state);
	}
	settings_free(settings);
	return status;
}

/* --- rebuild --------------------------------------------------------- */

/* Has the branch commits that the default branch has not? */
static bool
is_ahead(struct cli *cli, const char *onto, const char *branch, struct buf *id)
{
	cleanup_free char *range = xasprintf("%s..%s", onto, branch);
	const char *const count[] = { "rev-list", "--count", range, "--",
		NULL };
	const char *const tip[] = { "rev-parse", "--verify", branch, NULL };
	cleanup_buf struct buf text = BUF_INIT;

	return git_ask(cli->workspace.root, count, &text, NULL) == 0 &&
	    strcmp(text.data, "0") != 0 &&
	    git_ask(cli->workspace.root, tip, id, NULL) == 0;
}

/* A worker made from its worktree: what it was doing is not known, but commits
 * that have not landed wait for review. */
static struct worker *
make_worker(struct cli *cli, const struct doctor_fleet_worktree *tree,
    const char *onto, const struct state *old)
{
	int64_t now = clock_wall_ms();
	struct worker *w = worker_new(tree->name, now), *before;
	cleanup_buf struct buf id = BUF_INIT;

	xstrset(&w->branch, tree->branch);
	xstrset(&w->worktree, tree->path);
	before = old != NULL ? state_find(old, tree->name) : NULL;
	if (before != NULL)
		w->session.generation = before->session.generation;
	if (is_ahead(cli, onto, tree->branch, &id)) {
		worker_transition(w, WORKER_ERROR, NULL, now, NULL);
		worker_transition(w, WORKER_NEEDS_REVIEW, NULL, now, NULL);
		xstrset(&w->commit, id.data);
	}
	return w;
}

/* What was known, kept for a person. False: nothing is. */
static bool
read_old(struct doctor *d, struct state *ret_old, int *ret_status)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *name = NULL, *file = NULL;
	char stamp[CLOCK_STAMP_SIZE];
	struct err err = { 0 };

	*ret_status = CLI_OK;
	if (remote_look(d->cli, "state", NULL, &json, NULL) < 0 ||
	    json_object_object_length(json) == 0 ||
	    state_from_json(json, clock_wall_ms(), ret_old, NULL) < 0)
		return false;
	clock_format_compact(clock_wall_ms(), stamp);
	name = xasprintf("state-%s.json", stamp);
	file = workspace_path(&d->cli->workspace, name);
	if (json_save(file, json, 0600, &err) < 0)
		*ret_status = cli_fail_err(d->cli, "io", &err);
	else
		done(d, "the old state is kept as %s", file);
	return true;
}

/* A new state from the worktrees. old: NULL = it cannot be read. */
static void
make_state(struct doctor *d, const struct settings *settings,
    const struct doctor_fleet_worktrees *trees, const struct state *old,
    struct state *fresh)
{
	const char *onto = settings_string(settings, "repo.default_branch");
	const char *prefix = settings_string(settings, "repo.branch_prefix");

	state_init(fresh);
	if (old != NULL) {
		memcpy(fresh->root_id, old->root_id, sizeof fresh->root_id);
		fresh->receipts = old->receipts;
	}
	/* The old one may belong to another root. */
	root_id_read(&d->cli->workspace, fresh->root_id, NULL);
	progress_begin(d->cli, "looking at the worktrees");
	for (size_t i = 0; i < trees->count; i++) {
		const struct doctor_fleet_worktree *t = &trees->list[i];
		cleanup_free char *branch = xasprintf("%s%s", prefix, t->name);

		progress_count(i, trees->count);
		/* A detached one is in the middle of a rebase. */
		if (t->branch[0] != '\0' && strcmp(t->branch, branch) != 0)
			continue;
		state_add(fresh,
		    make_worker(d->cli,
			&(struct doctor_fleet_worktree){
			    t->name, t->path, branch },
			onto, old));
	}
	progress_end();
}

static int
write_state(struct doctor *d, const struct settings *settings,
    const struct doctor_fleet_worktrees *trees)
{
	cleanup_json struct json_object *json = NULL, *result = NULL;
	struct state old, fresh;
	struct err err = { 0 };
	const char *damaged;
	int status;
	bool have_old = read_old(d, &old, &status);

	if (status == CLI_OK) {
		make_state(d, settings, trees, have_old ? &old : NULL, &fresh);
		json = state_to_json(&fresh);
		if (remote_rebuild(d->cli, json, &result, &err) < 0)
			status = cli_fail_err(d->cli, "io", &err);
	}
	if (status == CLI_OK) {
		damaged = json_string_or(result, "damaged", NULL);
		if (damaged != NULL)
			done(d, "the damaged llmc.db is kept as %s", damaged);
		done(d, "wrote a new state with %zu worker%s", fresh.count,
		    fresh.count == 1 ? "" : "s");
	}
	if (json != NULL)
		state_release(&fresh);
	if (have_old)
		state_release(&old);
	return status;
}

int
doctor_repair_rebuild(struct doctor *d, bool yes)
{
	cleanup_free char *file =
	    workspace_path(&d->cli->workspace, "state.lock");
	struct doctor_fleet_worktrees trees = { 0 };
	struct settings *settings = NULL;
	int status;

	/* autod takes it for itself when it writes. */
	if (lock_is_held(file) == 1)
		return cli_fail(d->cli, "busy",
		    "a daemon is running; stop it first with: llmc down");
	status = cli_load_settings(d->cli, &settings);
	if (status == CLI_OK)
		status = doctor_fleet_worktrees_load(d->cli, settings, &trees);
	if (status == CLI_OK)
		status = ask_confirm(d->cli, yes,
		    "This creates a new state from %zu worktree%s, and forgets "
		    "what the workers were doing.",
		    trees.count, trees.count == 1 ? "" : "s");
	if (status == CLI_OK)
		status = write_state(d, settings, &trees);
	doctor_fleet_worktrees_release(&trees);
	settings_free(settings);
	return status;
}
