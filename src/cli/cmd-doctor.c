/* SPDX-License-Identifier: ISC */

/* llmc doctor: what llmc depends on, checked. */
#include "base.h"

#include <sys/stat.h>

#include "agent-kind.h"
#include "box.h"
#include "channel.h"
#include "child.h"
#include "cli-private.h"
#include "config.h"
#include "courier.h"
#include "history.h"
#include "id.h"
#include "landing-record.h"
#include "machine.h"
#include "people.h"
#include "preflight.h"
#include "sibling.h"
#include "state.h"
#include "workspace.h"

static void
doctor_auto_check(struct doctor *d)
{
	cleanup_source_choice struct source_choice choice = { .where = NULL };

	if (d->settings == NULL)
		return;
	source_choice_init(&choice, d->settings, &d->cli->workspace, NULL);
	if (choice.options.type == SOURCE_COMMAND) {
		const char *command = choice.where;
		const char *start = command + strspn(command, " \t\n");
		size_t len = strcspn(start, " \t\n;|&");
		cleanup_free char *word = xstrndup(start, len);
		cleanup_free char *detail = NULL;
		bool plain = strpbrk(word, "=$`'\"\\(){}<>*?[~!#") == NULL;

		if (plain && !terminal_knows(d->cli->workspace.root, word)) {
			detail = xasprintf(
			    "%s, in auto.task_pool_command, is not found",
			    word);
			doctor_note(d, VERDICT_FAIL, "tasks", detail,
			    "set another: llmc config set auto.task_pool_command "
			    "COMMAND");
			return;
		}
		detail = xasprintf("come from %s%s",
		    source_type_origin(SOURCE_COMMAND), command);
		doctor_note(d, VERDICT_OK, "tasks", detail, NULL);
	} else {
		const struct source_options *source = &choice.options;
		cleanup_free char *detail = NULL, *fix = NULL;
		const char *where = source->where;

		if (file_is_dir(where)) {
			detail = xasprintf("come from %s%s",
			    source_type_origin(source->type), where);
			doctor_note(d, VERDICT_OK, "tasks", detail, NULL);
		} else if (file_exists(where) ||
		    (source_type_flags(source->type) & SOURCE_EDITABLE) == 0) {
			detail = xasprintf("%s %s", where,
			    file_exists(where) ? "is not a folder" :
						 "does not exist");
			fix =
			    xasprintf("set another: llmc config set %s FOLDER",
				source_type_setting(source->type));
			doctor_note(d, VERDICT_FAIL, "tasks", detail, fix);
		} else {
			doctor_note(d, VERDICT_OK, "tasks",
			    "none yet; add one with: llmc task add TEXT", NULL);
		}
	}
}

static void
check_run(struct doctor *d, const struct overseer_files *overseer)
{
	const char *state = json_string_or(overseer->json, "state", "");
	cleanup_free char *detail = NULL;

	if (overseer->registered) {
		detail = xasprintf("running (pid %lld): %s",
		    (long long)overseer_files_pid(overseer), state);
		doctor_note(d, VERDICT_OK, "oversight", detail, NULL);
	} else if (overseer->active) {
		doctor_note(d, VERDICT_OK, "oversight",
		    "running, but not registered yet", NULL);
	} else if (overseer->json != NULL && strcmp(state, "Terminated") != 0) {
		detail = xasprintf(
		    "overseer.json says \"%s\", but it is not running: it "
		    "crashed or was killed",
		    state);
		doctor_note(d, VERDICT_WARN, "oversight", detail,
		    "start it again; it takes over a daemon that runs: llmc "
		    "overseer");
	}
}

static void
doctor_overseer_check(struct doctor *d)
{
	struct overseer_files overseer;
	cleanup_buf struct buf words = BUF_INIT;
	cleanup_free char *line = NULL, *detail = NULL;
	cleanup_free char *manual = NULL, *asks = NULL;
	struct history history;
	struct err err = { 0 };

	if (!workspace_initialised(&d->cli->workspace))
		return;
	overseer_files_load(d->cli, &overseer);
	if (d->settings != NULL) {
		bool is_set = settings_string(d->settings,
				  "overseer.remediation_prompt")[0] != '\0';

		doctor_note(d, VERDICT_OK, "remediation",
		    is_set ?
			"overseer.remediation_prompt is set" :
			"a repair has built-in instructions; add your own in "
			"overseer.remediation_prompt",
		    NULL);
	}
	check_run(d, &overseer);
	overseer_files_release(&overseer);
	manual = history_manual_file(&d->cli->workspace);
	if (manual != NULL) {
		asks = xasprintf("a remediation asks for a person: %s", manual);
		doctor_note(d, VERDICT_FAIL, "manual", asks,
		    "do what the file says, remove it, and start: llmc overseer");
	}
	if (history_load(&d->cli->workspace, &history, &err) < 0) {
		doctor_note(d, VERDICT_FAIL, "failures", err.msg,
		    "make failures.jsonl readable for your user, or move it "
		    "away");
		return;
	}
	if (spiral_is_over(history.events, history.count, &words)) {
		line = xstrndup(words.data, strcspn(words.data, "\n"));
		detail =
		    xasprintf("the overseer will not start again: %s", line);
		doctor_note(d, VERDICT_FAIL, "failures", detail,
		    "see llmc log failures, fix the cause, then: llmc overseer "
		    "--clear \"what was done\"");
	}
	history_release(&history);
}

#define PROGRAM_DEADLINE_MS 10000

/* The first line of the version that a program prints; false: why it cannot be
 * run. */
static bool
program_version(const char *program, const char *flag, struct buf *out)
{
	const char *const argv[] = { program, flag, NULL };
	struct child_spec spec = { .argv = argv,
		.deadline_ms = PROGRAM_DEADLINE_MS };
	cleanup_child_result struct child_result result;
	struct err err = { 0 };
	int r = child_run(&spec, &result, &err);

	if (r == 0 && child_succeeded(&result)) {
		child_output_text(&result.out, out);
		buf_truncate(out, strcspn(out->data, "\n"));
		return true;
	}
	if (r == -ENOENT || r == -EACCES || r == -ENOTDIR)
		buf_addf(out, "%s: %s", program, strerror(-r));
	else
		buf_addf(
		    out, "%s %s %s", program, flag, r < 0 ? strerror(-r) : "");
	if (r == 0)
		child_result_describe(&result, out);
	return false;
}

static bool
uses_http(const struct channel *channel)
{
	return channel->type == CHANNEL_WEBHOOK ||
	    channel->type == CHANNEL_GITEA || channel->type == CHANNEL_GITHUB;
}

static bool
can_run(const char *program)
{
	cleanup_buf struct buf version = BUF_INIT;

	return program_version(program, "--version", &version);
}

/* NULL = the token is in order. */
static char *
token_trouble(struct doctor *d, const struct channel *channel, char **ret_fix)
{
	const char *root = d->cli->workspace.root;
	const char *const *passed = NULL;
	cleanup_free char *path = deliver_token_path(channel, root);
	cleanup_buf struct buf token = BUF_INIT;
	struct err err = { 0 };
	int r = deliver_token(channel, root, &token, &err);

	explicit_bzero(token.data, token.len);
	if (r == -EPERM) {
		*ret_fix = xasprintf("run: chmod 600 '%s'", path);
		return xasprintf("others can read or change %s, so it is not "
				 "used",
		    path);
	}
	if (r < 0) {
		*ret_fix = xstrdup("put the token there, alone on a line");
		return xstrdup(err.msg);
	}
	settings_list(d->settings, "defaults.env", &passed);
	if (path == NULL && channel->token_env[0] != '\0' &&
	    box_plan_allows(channel->token_env, passed, false)) {
		*ret_fix = xstrdup("put the token into a file, and set "
				   "token_file instead");
		return xasprintf(
		    "the sessions of workers get %s", channel->token_env);
	}
	if ((path != NULL || channel->token_env[0] != '\0') &&
	    !channel_is_private(channel)) {
		*ret_fix = xstrdup("use a URL that begins with https://");
		return xstrdup("sends its token so that everybody on the way "
			       "can read it");
	}
	return NULL;
}

static void
check_one(struct doctor *d, const struct channel *channel, bool have_curl)
{
	cleanup_free char *name = xasprintf("channel %s", channel->name);
	cleanup_free char *fix = NULL, *trouble = NULL;

	if (!channel->enabled) {
		doctor_note(d, VERDICT_OK, name, "not enabled", NULL);
		return;
	}
	if (uses_http(channel) && !have_curl) {
		doctor_note(d, VERDICT_WARN, name,
		    "needs curl, which cannot be run",
		    "install curl with your package manager");
		return;
	}
	if (channel->type == CHANNEL_DESKTOP && !can_run("notify-send")) {
		doctor_note(d, VERDICT_WARN, name,
		    "needs notify-send, which cannot be run",
		    "install it (libnotify-bin, libnotify)");
		return;
	}
	trouble = token_trouble(d, channel, &fix);
	doctor_note(d, trouble == NULL ? VERDICT_OK : VERDICT_WARN, name,
	    trouble != NULL ? trouble : channel_type_words[channel->type], fix);
}

/* Nothing if there are none. */
static void
doctor_channels_check(struct doctor *d)
{
	const struct channel_list *list;
	bool have_curl = false;

	if (d->settings == NULL)
		return;
	list = settings_channels(d->settings);
	for (size_t i = 0; i < list->count; i++)
		have_curl |= uses_http(&list->rows[i]);
	have_curl = have_curl && can_run("curl");
	for (size_t i = 0; i < list->count; i++)
		check_one(d, &list->rows[i], have_curl);
	if (!people_reaches(d->settings))
		doctor_note(d, VERDICT_WARN, "channels",
		    "no channel is set: you will find asks in llmc status",
		    "describe one: llmc config doc people.channels");
}

enum {
	FLAG_REPAIR,
	FLAG_REBUILD,
	FLAG_YES,
	FLAG_SANDBOX,
	FLAG_MODE,
	FLAG_AGENTS
};

static const struct cli_flag doctor_flags[] = {
	[FLAG_REPAIR] = { "repair", NULL,
	    "reset broken workers, and end sessions without a worker" },
	[FLAG_REBUILD] = { "rebuild", NULL,
	    "create a new state from the worktrees; stop the daemon first" },
	[FLAG_YES] = { "yes", NULL, "do not ask" },
	[FLAG_SANDBOX] = { "sandbox", NULL,
	    "try a sandbox instead, in a scratch repository" },
	[FLAG_MODE] = { "mode", "MODE",
	    "of --sandbox: worktree or strict; by default the one that is "
	    "set" },
	[FLAG_AGENTS] = { "agents", NULL,
	    "list the kinds of agents instead, and what each cannot do" },
	{ NULL, NULL, NULL },
};

/* Does the version in "tmux 3.3a" or "git version 2.39.5" reach major.minor?
 * A text without a number counts as new enough: a build from source. */
static bool
version_reaches(const char *text, long major, long minor)
{
	const char *p = text + strcspn(text, "0123456789");
	char *end;
	long found;

	if (*p == '\0')
		return true;
	found = strtol(p, &end, 10);
	if (found != major || *end != '.')
		return found >= major;
	return strtol(end + 1, NULL, 10) >= minor;
}

static const struct program {
	const char *name;
	const char *setting; /* that names the program, NULL = name */
	const char *flag;
	long major, minor;
	enum verdict missing;
	const char *fix;
} programs[] = {
	{ "git", NULL, "--version", 2, 31, VERDICT_FAIL,
	    "install it, on Debian with: apt-get install git" },
	{ "tmux", "tmux.command", "-V", 3, 2, VERDICT_FAIL,
	    "install it, on Debian with: apt-get install tmux" },
};

static bool
agent_version(struct doctor *d, const struct agent_kind *kind, struct buf *out)
{
	cleanup_free char *path = xasprintf("defaults.%s", kind->command);

	return program_version(d->settings != NULL ?
		settings_string(d->settings, path) :
		kind->name,
	    "--version", out);
}

/* Three numbers, such as those of "2.1.328 (Claude Code)". */
static bool
version_read(const char *text, long ret_version[3])
{
	return sscanf(text + strcspn(text, "0123456789"), "%ld.%ld.%ld",
		   &ret_version[0], &ret_version[1], &ret_version[2]) == 3;
}

static int
version_compare(const long a[3], const long b[3])
{
	size_t i = 0;

	while (i < 2 && a[i] == b[i])
		i++;
	return (a[i] > b[i]) - (a[i] < b[i]);
}

/* Adds to the version what is known of it; true if it is too old. A program
 * without such a version is the user's own. */
static bool
judge_version(const struct agent_kind *kind, struct buf *detail)
{
	long here[3], oldest[3], tested[3];
	bool old;

	if (!version_read(detail->data, here) ||
	    !version_read(kind->tested, tested))
		return false;
	old = kind->oldest != NULL && version_read(kind->oldest, oldest) &&
	    version_compare(here, oldest) < 0;
	if (old)
		buf_addf(detail, ", older than %s", kind->oldest);
	else if (version_compare(here, tested) > 0)
		buf_addf(detail, ", tested up to %s", kind->tested);
	return old;
}

/* That of the workers. */
static void
check_agent(struct doctor *d)
{
	const struct agent_kind *kind = d->settings != NULL ?
	    agent_kind_find(settings_string(d->settings, "defaults.agent")) :
	    agent_kinds[0];
	cleanup_buf struct buf detail = BUF_INIT;
	bool found = agent_version(d, kind, &detail);
	bool good = found && !judge_version(kind, &detail);

	doctor_note(d, good ? VERDICT_OK : VERDICT_WARN, "agent", detail.data,
	    good ? NULL : kind->install);
}

/* Every kind: is it there, and what can it not do? */
static void
list_agents(struct doctor *d)
{
	for (size_t i = 0; agent_kinds[i] != NULL; i++)
		if (d->width < (int)strlen(agent_kinds[i]->name))
			d->width = (int)strlen(agent_kinds[i]->name);
	for (size_t i = 0; agent_kinds[i] != NULL; i++) {
		const struct agent_kind *kind = agent_kinds[i];
		cleanup_buf struct buf detail = BUF_INIT;
		bool found = agent_version(d, kind, &detail);
		bool good = found && !judge_version(kind, &detail);
		const char *before = "; ";

		for (const struct agent_lack *l = agent_lacks; l->words != NULL;
		     l++) {
			if (kind->can & l->can)
				continue;
			buf_addf(&detail, "%s%s", before, l->words);
			before = ", ";
		}
		doctor_note(d, good ? VERDICT_OK : VERDICT_WARN, kind->name,
		    detail.data, good ? NULL : kind->install);
	}
}

static void
check_program(struct doctor *d, const struct program *p)
{
	const char *program = p->setting != NULL && d->settings != NULL ?
	    settings_string(d->settings, p->setting) :
	    p->name;
	cleanup_buf struct buf version = BUF_INIT;
	cleanup_free char *detail = NULL;
	bool found = program_version(program, p->flag, &version);
	bool old = found && !version_reaches(version.data, p->major, p->minor);

	if (old)
		detail = xasprintf("%s is older than %ld.%ld", version.data,
		    p->major, p->minor);
	doctor_note(d,
	    !found  ? p->missing :
		old ? VERDICT_FAIL :
		      VERDICT_OK,
	    p->name, old ? detail : version.data,
	    found && !old ? NULL : p->fix);
}

/* Our own programs: the files, and whether those that run are the same. */
static void
check_own(struct doctor *d)
{
	static const char *const names[] = { "autod", "overseer" };
	cleanup_json struct json_object *daemon = NULL;
	struct overseer_files overseer = { 0 };
	int64_t pids[nitems(names)] = { 0 };

	if (d->cli->workspace.dir != NULL &&
	    workspace_initialised(&d->cli->workspace)) {
		daemon = roster_daemon(d->cli);
		overseer_files_load(d->cli, &overseer);
		pids[0] = json_int_or(daemon, "pid", 0);
		pids[1] = overseer_files_pid(&overseer);
		overseer_files_release(&overseer);
	}
	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *path = sibling_find(names[i]), *old = NULL;

		if (path == NULL) {
			doctor_note(d, VERDICT_FAIL, names[i],
			    "not found next to llmc or on PATH",
			    "install all of llmc: make install");
		} else if (pids[i] > 0 && restart_is_due((pid_t)pids[i])) {
			old = xasprintf("%s was replaced, but pid %lld still "
					"runs the program before",
			    path, (long long)pids[i]);
			doctor_note(d, VERDICT_WARN, names[i], old,
			    "go on with the new one, under the running "
			    "workers: llmc restart");
		} else {
			doctor_note(d, VERDICT_OK, names[i], path, NULL);
		}
	}
}

static void
check_repository(struct doctor *d)
{
	const struct workspace *ws = &d->cli->workspace;
	struct err err = { 0 };
	int r = git_ask_has_commit(ws->root, &err);

	d->have_git = r > 0;
	if (r < 0)
		doctor_note(d, VERDICT_FAIL, "repository", err.msg, NULL);
	else if (r == 0)
		doctor_note(d, VERDICT_FAIL, "repository",
		    "the repository has no commit yet",
		    "create one: git commit --allow-empty -m Start");
	else
		doctor_note(d, VERDICT_OK, "repository", ws->root, NULL);
}

/* Without an agent there is still much that llmc can do. */
static enum verdict
verdict_of(const struct preflight_finding *f)
{
	if (f->level == PREFLIGHT_OK)
		return VERDICT_OK;
	return f->level == PREFLIGHT_WARN || f->agent ? VERDICT_WARN :
							VERDICT_FAIL;
}

/* The same checks as before auto mode starts. */
static void
check_start(struct doctor *d)
{
	struct preflight_facts facts;
	struct preflight preflight;

	if (d->settings == NULL || !d->have_git)
		return;
	start_facts_read(&d->cli->workspace, d->settings, NULL, NULL, &facts);
	facts.knows_budget = false; /* work by hand needs none */
	preflight_judge(&facts, &preflight);
	if (preflight.counts[PREFLIGHT_FAIL] == 0)
		cli_try_place(d->cli, &preflight);
	for (size_t i = 0; i < preflight.count; i++)
		doctor_note(d, verdict_of(&preflight.list[i]),
		    preflight.list[i].name, preflight.list[i].detail,
		    preflight.list[i].remedy);
	preflight_release(&preflight);
	preflight_facts_release(&facts);
}

static void
check_used_branch(struct doctor *d)
{
	cleanup_json struct json_object *daemon = NULL;
	const char *branch, *used;
	cleanup_free char *detail = NULL;

	if (d->settings == NULL || !d->have_git)
		return;
	daemon = roster_daemon(d->cli);
	branch = settings_string(d->settings, "repo.default_branch");
	used = json_string_or(daemon, "landing_branch", branch);
	if (strcmp(used, branch) == 0)
		return;
	detail = xasprintf("the setting is %s, but the daemon lands work on %s "
			   "until it is restarted",
	    branch[0] != '\0' ? branch : "no branch",
	    used[0] != '\0' ? used : "no branch");
	doctor_note(d, VERDICT_WARN, "branch", detail,
	    "restart it: llmc down, then llmc up");
}

static void
check_config(struct doctor *d)
{
	const struct workspace *ws = &d->cli->workspace;
	cleanup_free char *file = workspace_path(ws, "config.toml");
	struct settings_problems problems;
	struct err err = { 0 };
	int r = root_mark_check(ws, &err);

	if (r < 0) {
		doctor_note(d, VERDICT_FAIL, "config",
		    r == -ENOENT ? "llmc is not set up here" : err.msg,
		    "run: llmc init");
		return;
	}
	if (config_load(ws, &d->settings, &problems, &err) < 0) {
		doctor_note(d, VERDICT_FAIL, "config", err.msg,
		    "make it readable for your user");
		return;
	}
	for (size_t i = 0; i < problems.count; i++) {
		struct settings_problem *p = &problems.list[i];
		cleanup_free char *detail =
		    xasprintf("%s:%u: %s", file, p->line, p->text);

		doctor_note(d, p->fatal ? VERDICT_FAIL : VERDICT_WARN, "config",
		    detail, "edit the file; llmc config doc lists all keys");
	}
	if (problems.count == 0)
		doctor_note(d, VERDICT_OK, "config", file, NULL);
	settings_problems_release(&problems);
}

static void
check_state(struct doctor *d)
{
	const struct workspace *ws = &d->cli->workspace;
	cleanup_free char *file = workspace_path(ws, WORKSPACE_BOOK);
	cleanup_free char *worktrees = NULL;
	char id[ID_UUID_SIZE];
	const char *root_id;
	struct err err = { 0 };

	worktrees = workspace_resolve(ws,
	    d->settings == NULL ?
		".worktrees" :
		settings_string(d->settings, "repo.worktree_dir"));
	if (state_is_lost(ws, worktrees, &err)) {
		doctor_note(d, VERDICT_FAIL, "state", err.msg, NULL);
		return;
	}
	if (roster_read(d->cli, &d->state, &err) < 0) {
		doctor_note(d, VERDICT_FAIL, "state", err.msg,
		    "if it is damaged, the next daemon saves what can be read of "
		    "it: llmc up; else create a new one from the worktrees: "
		    "llmc doctor --rebuild");
		return;
	}
	d->have_state = true;
	root_id = root_id_read(ws, id, NULL) == 0 ? id : NULL;
	if (state_check(&d->state, root_id, NULL, &err) < 0)
		doctor_note(d, VERDICT_FAIL, "state", err.msg,
		    "create a new one from the worktrees: llmc doctor "
		    "--rebuild");
	else if (!file_exists(file))
		doctor_note(d, VERDICT_OK, "state", "none yet", NULL);
	else
		doctor_note(d, VERDICT_OK, "state", file, NULL);
}

static void
check_permissions(struct doctor *d)
{
	const char *dir = d->cli->workspace.dir;
	cleanup_free char *detail = NULL, *fix = NULL;
	cleanup_buf struct buf quoted = BUF_INIT;
	struct stat st;

	if (stat(dir, &st) == -1)
		return; /* check_config has said so */
	text_add_shell(&quoted, dir);
	if (st.st_uid != geteuid()) {
		detail = xasprintf("%s belongs to user %u, you are %u", dir,
		    (unsigned)st.st_uid, (unsigned)geteuid());
		doctor_note(d, VERDICT_FAIL, "permissions", detail,
		    "run llmc as that user, or change the owner with chown");
	} else if (access(dir, R_OK | W_OK | X_OK) == -1) {
		detail = xasprintf("%s: %s", dir, strerror(errno));
		fix = xasprintf("chmod 700 %s", quoted.data);
		doctor_note(d, VERDICT_FAIL, "permissions", detail, fix);
	} else if (st.st_mode & 077) {
		detail = xasprintf("%s has mode %03o: other users can %s", dir,
		    (unsigned)(st.st_mode & 0777),
		    st.st_mode & 022 ?
			"change the settings, which run commands" :
			"read prompts and logs");
		fix = xasprintf("chmod 700 %s", quoted.data);
		doctor_note(d, VERDICT_WARN, "permissions", detail, fix);
	} else {
		doctor_note(d, VERDICT_OK, "permissions", dir, NULL);
	}
}

static void
check_exclude(struct doctor *d)
{
	/* Also where git tracks the config file. */
	const char *const args[] = { "check-ignore", "--no-index", "--quiet",
		".llmc", NULL };
	const struct workspace *ws = &d->cli->workspace;

	if (!workspace_initialised(ws) || !d->have_git)
		return;
	if (git_ask(ws->root, args, NULL, NULL) == 0)
		doctor_note(
		    d, VERDICT_OK, "exclude", "git ignores .llmc", NULL);
	else
		doctor_note(d, VERDICT_WARN, "exclude",
		    "git does not ignore .llmc", "run: llmc init");
}

/* Does origin answer, where it is followed? Nothing asks for a password. */
static void
check_origin(struct doctor *d)
{
	const char *root = d->cli->workspace.root;
	cleanup_free char *ref = NULL, *detail = NULL;
	const char *args[] = { "for-each-ref",
		"--format=%(upstream:remotename)", NULL, NULL };
	const char *ask[] = { "-c", "core.askPass=", "ls-remote", "--",
		"origin", NULL, NULL };
	cleanup_buf struct buf remote = BUF_INIT;
	struct err err = { 0 };
	int64_t began = clock_mono_ms();

	if (d->settings == NULL || !d->have_git ||
	    upstream_mode_of(d->settings) == UPSTREAM_OFF)
		return;
	ref = xasprintf("refs/heads/%s",
	    settings_string(d->settings, "repo.default_branch"));
	args[2] = ask[5] = ref;
	if (git_ask(root, args, &remote, NULL) == 0 && remote.len > 0 &&
	    strcmp(remote.data, ".") != 0)
		ask[4] = remote.data;
	if (git_ask(root, ask, NULL, &err) != 0) {
		doctor_note(d, VERDICT_WARN, "origin", err.msg,
		    strcmp(settings_string(d->settings, "repo.upstream"),
			"off") != 0 ?
			"type: git ls-remote, or: llmc config set "
			"repo.upstream off" :
			"type: git ls-remote");
		return;
	}
	detail = xasprintf("%s answers after %d ms; repo.upstream is %s",
	    ask[4], (int)(clock_mono_ms() - began),
	    settings_string(d->settings, "repo.upstream"));
	doctor_note(d, VERDICT_OK, "origin", detail, NULL);
}

/* Is it of the cloud that Claude Code was told to use here? */
static bool
is_of_cloud(const char *name)
{
	return (getenv("CLAUDE_CODE_USE_BEDROCK") != NULL &&
		   text_begins(name, "AWS_")) ||
	    (getenv("CLAUDE_CODE_USE_VERTEX") != NULL &&
		text_begins(name, "GOOGLE_"));
}

/* Names only, of what agents would have if they got all that a daemon has that
 * is started here. */
static void
check_environment(struct doctor *d)
{
	cleanup_strv char **names = NULL;
	cleanup_buf struct buf detail = BUF_INIT, cloud = BUF_INIT;

	if (d->settings == NULL)
		return;
	box_hide_env(d->settings, NULL, &names);
	for (size_t i = 0; i < strv_count(names); i++) {
		buf_addf(&detail, "%s%s",
		    i > 0 ? ", " : "agents and checks do not get: ", names[i]);
		if (is_of_cloud(names[i]))
			buf_addf(&cloud, "%s\"%s\"",
			    cloud.len > 0 ? ", " :
					    "if agents need them, add them: "
					    "llmc config set defaults.env '[",
			    names[i]);
	}
	if (detail.len == 0)
		buf_adds(&detail, "agents and checks get all of it");
	else if (cloud.len == 0)
		buf_adds(&detail, " (defaults.env adds some)");
	else
		buf_adds(&cloud, "]'");
	doctor_note(d, cloud.len > 0 ? VERDICT_WARN : VERDICT_OK, "environment",
	    detail.data, cloud.len > 0 ? cloud.data : NULL);
}

/* Changes come first; the report then describes the result. */
static int
repair(struct cli *cli, const struct cli_args *args, struct doctor *d)
{
	bool yes = args->flags[FLAG_YES] != NULL;
	int status = CLI_OK;

	if (args->flags[FLAG_REPAIR] == NULL &&
	    args->flags[FLAG_REBUILD] == NULL)
		return CLI_OK;
	status = cli_is_barred(cli, true) ? CLI_OK : cli_find_workspace(cli, 0);
	if (status == CLI_OK && cli_is_barred(cli, true))
		return cli_fail(cli, "refused",
		    "agents may run llmc doctor only without --repair and "
		    "--rebuild; this is a worker's session");
	if (status == CLI_OK && args->flags[FLAG_REBUILD] != NULL)
		status = doctor_repair_rebuild(d, yes);
	if (status == CLI_OK && args->flags[FLAG_REPAIR] != NULL)
		status = doctor_repair(d, yes);
	workspace_release(&cli->workspace);
	return status;
}

static int
check_mode(struct cli *cli, const struct cli_args *args)
{
	const char *mode = args->flags[FLAG_MODE];

	if (mode == NULL)
		return CLI_OK;
	if (args->flags[FLAG_SANDBOX] == NULL)
		return cli_misuse(cli, &cmd_doctor, "--mode needs --sandbox");
	if (strcmp(mode, "worktree") != 0 && strcmp(mode, "strict") != 0)
		return cli_misuse(cli, &cmd_doctor,
		    "--mode is worktree or strict, not %s", mode);
	return CLI_OK;
}

static void
check_all(struct doctor *d)
{
	static void (*const checks[])(struct doctor *) = { check_config,
		check_repository, check_start, check_used_branch, check_state,
		check_permissions, check_exclude, check_origin,
		doctor_forge_check, check_environment, doctor_auto_check,
		doctor_overseer_check, doctor_channels_check };
	struct err err = { 0 };

	if (cli_look_for_workspace(d->cli, &err) < 0)
		doctor_note(d, VERDICT_FAIL, "repository", err.msg, NULL);
	else
		for (size_t i = 0; i < nitems(checks); i++)
			checks[i](d);
	for (size_t i = 0; i < nitems(programs); i++)
		check_program(d, &programs[i]);
	check_agent(d);
	check_own(d);
	doctor_keeper_check(d);
	if (d->settings != NULL)
		doctor_fleet_check(d);
}

/* Neither the sandbox nor the agents need a repository. */
static int
doctor_run(struct cli *cli, const struct cli_args *args)
{
	struct doctor d = { .cli = cli,
		.checks = json_object_new_array(),
		.repairs = json_object_new_array() };
	struct settings_problems problems = { 0 };
	int status = check_mode(cli, args);

	if (status == CLI_OK && args->flags[FLAG_SANDBOX] != NULL) {
		cli_look_for_workspace(cli, NULL);
		status = doctor_box_run(&d, args->flags[FLAG_MODE]);
	} else if (status == CLI_OK && args->flags[FLAG_AGENTS] != NULL) {
		if (cli_look_for_workspace(cli, NULL) == 0 &&
		    config_load(
			&cli->workspace, &d.settings, &problems, NULL) == 0)
			settings_problems_release(&problems);
		list_agents(&d);
	} else if (status == CLI_OK) {
		status = repair(cli, args, &d);
		if (status == CLI_OK)
			check_all(&d);
	}
	if (status == CLI_OK) {
		doctor_tell(&d);
		status = d.counts[VERDICT_FAIL] == 0 ? CLI_OK : CLI_FAILED;
	}
	if (d.have_state)
		state_release(&d.state);
	settings_free(d.settings);
	json_object_put(d.checks);
	json_object_put(d.repairs);
	return status;
}

const struct cli_command cmd_doctor = {
	.name = "doctor",
	.group = CLI_START,
	.usage = "[--repair] [--rebuild] [--yes] | --sandbox [--mode MODE] | "
		 "--agents",
	.summary = "check everything that llmc depends on",
	.help =
	    "Checks the programs that llmc runs and their versions, the "
	    "repository, the\nconfig file, the state, the source of tasks, the "
	    "overseer, the daemon, the\nworkers with their worktrees and "
	    "sessions, and Claude Code's own settings, and\nsays how to fix "
	    "what is wrong. Changes nothing without --repair or --rebuild.\n"
	    "The exit status is 1 when a check fails.\n"
	    "\nWith --sandbox, says instead what this machine has for "
	    "sandboxes, and tries one in\na scratch repository. With --agents, says "
	    "which kinds of agents are here, and\nwhat each cannot do.\n",
	.example = "doctor --repair",
	.flags = doctor_flags,
	.needs = CLI_ANYWHERE,
	.shape = CLI_SHAPE(OBJECT, doctor_shape),
	.run = doctor_run,
};
