/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/statvfs.h>

#include "account.h"
#include "agent-kind.h"
#include "box-net.h"
#include "box-plan.h"
#include "box.h"
#include "cgroup.h"
#include "child.h"
#include "config.h"
#include "git-ask.h"
#include "preflight.h"
#include "settings.h"
#include "sibling.h"
#include "start-facts.h"
#include "workspace.h"

#define AGENT_MS   15000 /* a start takes a second, or more under load */
#define ANSWER_MAX 65536
#define WORKER     "auto-1" /* whose settings count before there is one */

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
