/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>

#include "agent-card.h"
#include "agent-kind.h"
#include "api.h"
#include "box.h"
#include "sibling.h"
#include "orphans.h"
#include "config.h"
#include "workspace.h"
#include "settings.h"
#include "work-record.h"
#include "setup.h"

const struct agent_kind *const agent_kinds[] = { &claude_kind,
	&claude_headless_kind, &codex_kind, &opencode_kind, &gemini_kind,
	NULL };

const struct agent_kind *
agent_kind_find(const char *name)
{
	for (size_t i = 0; agent_kinds[i] != NULL; i++)
		if (strcmp(agent_kinds[i]->name, name) == 0)
			return agent_kinds[i];
	return NULL;
}

const struct agent_kind *
agent_kind_of_folder(const char *projects)
{
	const struct agent_kind *found = NULL;
	size_t best = 0;

	for (size_t i = 0; projects != NULL && agent_kinds[i] != NULL; i++) {
		cleanup_free char *end =
		    xasprintf("/%s", agent_kinds[i]->transcripts);

		/* That of one kind ends as that of another. */
		if (text_ends(projects, end) && strlen(end) > best) {
			best = strlen(end);
			found = agent_kinds[i];
		}
	}
	return found;
}

const struct agent_kind *
agent_kind_of(const struct settings *settings, const char *worker,
    const struct launch_choice *choice)
{
	cleanup_buf struct buf path = BUF_INIT;
	const struct agent_kind *kind;

	if (strcmp(worker, CALLER_REPAIR) == 0)
		return agent_kinds[0];
	settings_worker_path(settings, worker, "agent", &path);
	kind = agent_kind_find(choice != NULL && choice->agent != NULL ?
		choice->agent :
		settings_string(settings, path.data));
	return kind != NULL ? kind : agent_kinds[0];
}

int64_t
agent_start_ms(const struct settings *settings, const char *worker,
    const struct launch_choice *choice)
{
	int64_t least = agent_kind_of(settings, worker, choice)->start_ms, set;
	cleanup_buf struct buf path = BUF_INIT;

	settings_worker_path(settings, worker, "start_timeout", &path);
	set = settings_duration(settings, path.data);
	return set > least ? set : least;
}

bool
agent_owns(const struct agent_kind *kind, const char *variable)
{
	const char *const *own = kind != NULL ? kind->variables : NULL;

	for (; own != NULL && *own != NULL; own++)
		if (strncmp(variable, *own, strlen(*own)) == 0)
			return true;
	return false;
}

char *
agent_transcripts(const struct agent_kind *kind,
    const struct workspace *workspace, const char *worker, bool boxed)
{
	cleanup_free char *dir = boxed || kind->homed ?
	    box_agent_dir(workspace, worker, kind) :
	    NULL;

	cleanup_free char *own =
	    dir != NULL ? take_ptr(&dir) : agent_source(kind);

	if (own == NULL || own[0] != '/' || strstr(own, "/..") != NULL)
		return NULL;
	return file_join(own, kind->transcripts);
}

/* Variables by which a session describes itself to its children: a daemon that
 * was started from one must not pass them on. */
static bool
is_of_another_session(const char *entry)
{
	static const char *const names[] = { "CLAUDECODE",
		"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
		"CLAUDE_ENV_FILE", "CLAUDE_PID", "CLAUDE_PROJECT_DIR" };

	for (size_t i = 0; i < nitems(names); i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0 &&
		    entry[strlen(names[i])] == '=')
			return true;
	return false;
}

/* A box has an environment of its own, without what systemd-run must know. */
static struct json_object *
scope_json(const struct agent_launch *launch, bool boxed)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	cleanup_strv char **words = NULL;

	if (boxed && dir != NULL) {
		strv_add(&words, "/usr/bin/env");
		strv_take(&words, xasprintf("XDG_RUNTIME_DIR=%s", dir));
	}
	strv_add_all(&words, strv_const(launch->scope));
	if (boxed && dir != NULL) {
		strv_add(&words, "/usr/bin/env");
		strv_add(&words, "-u");
		strv_add(&words, "XDG_RUNTIME_DIR");
	}
	return strv_to_json(words);
}

/* Where the keeper says who it is, and the mark of what it starts. */
static struct json_object *
keeper_json(const struct agent_launch *launch, bool boxed)
{
	cleanup_free char *record =
	    orphans_record(launch->workspace, launch->worker);
	cleanup_free char *mark =
	    orphans_mark(launch->workspace, launch->worker);
	struct json_object *keeper = json_object_new_object();

	json_set_string(keeper, "record", record);
	json_set_string(keeper, "mark", mark);
	if (boxed)
		json_set_bool(keeper, "boxed", true);
	else if (launch->sees_processes)
		json_set_string(keeper, "modes", "cgroup,reaper");
	else if (!agent_bool(launch, "user_namespace"))
		json_set_string(keeper, "modes", kept_modes());
	if (launch->cgroup != NULL)
		json_set_string(keeper, "cgroup", launch->cgroup);
	if (launch->scope != NULL)
		json_set(keeper, "scope", scope_json(launch, boxed));
	return keeper;
}

/* The launcher file. It has the whole environment, not only our changes: the
 * tmux server has the environment it was started with, perhaps days ago. box:
 * NULL, or the box that the agent runs in. */
static int
write_launcher(const struct agent_launch *launch, char **argv, char **ours,
    const struct box *box, char **ret_launcher, struct err *err)
{
	bool boxed = box != NULL && box->mode != BOX_OFF;
	char **from = boxed ? box->env : environ;
	const struct agent_kind *kind =
	    agent_kind_of(launch->settings, launch->worker, launch->choice);
	const char *const *more = NULL;
	cleanup_free char *launcher = agent_path(launch, "launch.json");
	cleanup_json struct json_object *file = json_object_new_object();
	cleanup_strv char **env = NULL, **words = NULL;
	int r;

	agent_list(launch, "env", &more);
	for (size_t i = 0; from[i] != NULL; i++)
		if (!is_of_another_session(from[i]) &&
		    (boxed || box_plan_allows(from[i], more, false) ||
			agent_owns(kind, from[i])))
			strv_add(&env, from[i]);
	strv_add_all(&env, strv_const(ours));
	if (boxed)
		strv_add_all(&words, strv_const(box->prefix));
	strv_add_all(&words, strv_const(argv));
	json_set(file, "argv", strv_to_json(words));
	json_set(file, "env", strv_to_json(env));
	json_set_string(file, "cwd", launch->cwd);
	json_set(file, "keeper", keeper_json(launch, boxed));
	/* The mode of an older file would be kept. */
	unlink(launcher);
	r = json_save(launcher, file, 0600, err);
	if (r == 0)
		*ret_launcher = take_ptr(&launcher);
	return r;
}

const struct agent_lack agent_lacks[] = {
	{ AGENT_OWN_ID, "its conversation has an id after the first prompt" },
	{ AGENT_READY_HOOK, "it is ready when it asks for the tools of llmc" },
	{ AGENT_QUEUES, "a message waits for the end of its turn" },
	{ AGENT_STOP_BLOCKS, "a turn that ends too early gets a new prompt" },
	{ AGENT_ALLOWS, "refuse_commands and protected_paths do not guard it" },
	{ AGENT_STATUS,
	    "how full its context and the usage windows of the account are is "
	    "not known" },
	{ AGENT_ERROR_HOOK,
	    "limits and failed turns are read from its transcript" },
	{ AGENT_SCOPES,
	    "no disallowed_tools, tools of an agent or paths of a task; as a "
	    "reviewer (auto.review) it has all its tools" },
	{ AGENT_MODES, "no permission_mode but bypassPermissions" },
	{ AGENT_ISOLATES, "no isolate, no repairs" },
	{ AGENT_ASKED, "it makes no plans (planner.command)" },
	{ AGENT_BOXED, "no sandbox" },
	{ AGENT_THINKS, "no thinking of an agent or a task" },
	{ 0, NULL },
};

static int
refuse(const struct agent_kind *kind, const struct agent_launch *launch,
    struct err *err)
{
	const struct launch_choice *choice = agent_choice(launch);
	const char *mode = agent_mode(launch), *const * denied;

	if (!(kind->can & AGENT_MODES) &&
	    strcmp(mode, "bypassPermissions") != 0)
		return err_set(err, -ENOTSUP,
		    "%s has no permission_mode \"%s\", only "
		    "bypassPermissions; to limit it: llmc config set "
		    "defaults.sandbox worktree",
		    kind->name, mode);
	if (!(kind->can & AGENT_ISOLATES) &&
	    (launch->repair || agent_bool(launch, "isolate")))
		return err_set(err, -ENOTSUP,
		    "%s cannot ignore the settings of the user and the "
		    "project, which isolate = true asks for",
		    kind->name);
	if (!(kind->can & AGENT_SCOPES) &&
	    (agent_list(launch, "disallowed_tools", &denied) > 0 ||
		choice->limited || choice->tools != NULL ||
		choice->deny != NULL))
		return err_set(err, -ENOTSUP,
		    "%s cannot be limited in its tools and files "
		    "(disallowed_tools, tools of an agent, paths of a task): "
		    "use the kind claude for this",
		    kind->name);
	if (!(kind->can & AGENT_BOXED) && launch->sandboxed &&
	    box_mode_of(launch->settings, launch->worker) != BOX_OFF)
		return err_set(err, -ENOTSUP,
		    "%s cannot run in a sandbox (defaults.sandbox): use "
		    "another kind for this",
		    kind->name);
	if (!(kind->can & AGENT_THINKS) && choice->thinking != NULL)
		return err_set(err, -ENOTSUP,
		    "%s cannot be told how long to think (\"%s\"): use "
		    "another kind for this",
		    kind->name, choice->thinking);
	return 0;
}

int
agent_reviews(const struct settings *settings, const char *name,
    bool *ret_scoped, struct err *err)
{
	static const char worker[] = "team-1";
	cleanup_free char *agent = xstrdup(name);
	const struct task_launch task = { .agent = agent };
	cleanup_launch_choice struct launch_choice choice = { 0 };
	const struct agent_launch launch = { .settings = settings,
		.worker = worker,
		.choice = &choice,
		.sandboxed = true };
	const struct agent_kind *kind;
	int r;

	launch_choice_make(settings, &task, &choice);
	kind = agent_kind_of(settings, worker, &choice);
	r = refuse(kind, &launch, err);
	if (r == 0)
		*ret_scoped = (kind->can & AGENT_SCOPES) != 0;
	return r;
}

int
agent_prepare(
    const struct agent_launch *launch, char **ret_launcher, struct err *err)
{
	const struct agent_kind *kind =
	    agent_kind_of(launch->settings, launch->worker, launch->choice);
	cleanup_free char *dir = agent_path(launch, "");
	cleanup_strv char **argv = NULL, **ours = NULL;
	struct box_spec spec = { .kind = BOX_SESSION,
		.workspace = launch->workspace,
		.settings = launch->settings,
		.worker = launch->worker,
		.agent = kind,
		.tree = launch->cwd,
		.read_only = agent_choice(launch)->read_only,
		.trial = launch->repair,
		.read = launch->read,
		.write = launch->write };
	struct workplace place = { 0 };
	struct box box = { 0 };
	int r = refuse(kind, launch, err);

	if (r == 0)
		r = file_mkdirs(dir, 0700, err);
	if (r == 0)
		r = workplace_make(launch->workspace, launch->settings,
		    launch->worker, launch->index, &place, err);
	spec.tmpdir = place.tmpdir;
	strv_take(&ours, xasprintf("LLMC_ROOT=%s", launch->workspace->root));
	strv_take(&ours, xasprintf("LLMC_WORKER=%s", launch->worker));
	strv_add(&ours, "LLMC_AGENT=1");
	if (r == 0)
		r = kind->prepare(launch, &argv, &ours, err);
	/* What llmc itself sets comes last, and counts. */
	strv_add_all(&place.env, strv_const(ours));
	if (r == 0 && launch->sandboxed)
		r = box_prepare(&spec, &box, err);
	if (r == 0)
		r = write_launcher(
		    launch, argv, place.env, &box, ret_launcher, err);
	box_release(&box);
	workplace_release(&place);
	return r;
}

int
agent_prepare_console(
    const struct agent_launch *launch, char **ret_launcher, struct err *err)
{
	const struct agent_kind *kind =
	    agent_kind_of(launch->settings, launch->worker, NULL);
	cleanup_free char *dir = agent_path(launch, "");
	cleanup_strv char **argv = NULL;
	int r = file_mkdirs(dir, 0700, err);

	if (r < 0)
		return r;
	strv_add(&argv, agent_string(launch, kind->command));
	agent_add_model(agent_string(launch, "model"), &argv);
	return write_launcher(launch, argv, NULL, NULL, ret_launcher, err);
}
