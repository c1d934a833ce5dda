/* SPDX-License-Identifier: ISC */

/*
 * llmc init: make <root>/.llmc with a config file to start from, keep it and
 * the worktrees out of git through .git/info/exclude, and choose the branch
 * that work lands on. Nothing tracked is touched. For a new config file it
 * looks at the project and proposes settings, which a person accepts. A second
 * run repairs what is missing and changes nothing else.
 */
#include "base.h"

#include <sys/stat.h>

#include "channel.h"
#include "claude.h"
#include "cli-private.h"
#include "config.h"
#include "machine.h"
#include "preflight.h"
#include "workspace.h"

#define EXCLUDE_MAX (1024 * 1024)
#define BRANCH_KEY  "repo.default_branch"

enum {
	FLAG_BRANCH,
	FLAG_YES
};

static const struct cli_flag init_flags[] = {
	[FLAG_BRANCH] = { "branch", "NAME",
	    "branch that work lands on, instead of that of origin/HEAD or the "
	    "one that is checked out" },
	[FLAG_YES] = { "yes", NULL,
	    "set what is proposed, without a question; in a config file that "
	    "is there, what it does not set yet" },
	{ NULL, NULL, NULL },
};

static const char config_start[] =
    "# Settings of llmc for this repository. Every setting has a default:\n#   "
    "llmc config list      the values in effect\n#   llmc config doc       "
    "every key with its meaning\n#   llmc config set KEY VALUE\n";

struct init {
	struct cli *cli;
	struct settings *settings;
	const char *wanted; /* --branch; NULL = not given */
	char *found; /* according to git, for a new config file */
	const char *branch; /* that work lands on */
	bool existed, changed;
	bool follows; /* repo.upstream was set to that */
	bool foreign; /* the config file was not accepted so far */
	struct proposals proposals;
	bool yes; /* --yes */
	bool set; /* the proposals are set; else they are comments */
	bool edit; /* the person wants to edit the file */
};

/* Is there such a line already? */
static bool
has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *p = text; p != NULL && *p != '\0';) {
		if (strncmp(p, line, len) == 0 &&
		    (p[len] == '\n' || p[len] == '\0' || p[len] == '\r'))
			return true;
		p = strchr(p, '\n');
		if (p != NULL)
			p++;
	}
	return false;
}

/* Append "/part" for every part of a path below the root, with characters that
 * have a meaning in an exclude file escaped. False for what cannot be written
 * as a pattern: "..", an empty path, a newline. */
static bool
add_pattern(struct buf *out, const char *path)
{
	size_t before = out->len, len;

	for (; *path != '\0'; path += len) {
		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len == 0 || (len == 1 && path[0] == '.'))
			continue;
		if (len == 2 && text_begins(path, ".."))
			return false;
		buf_addc(out, '/');
		for (size_t i = 0; i < len; i++) {
			if (path[i] == '\n')
				return false;
			if (strchr("\\*?[", path[i]) != NULL)
				buf_addc(out, '\\');
			buf_addc(out, path[i]);
		}
	}
	return out->len > before;
}

/* The pattern that keeps one of llmc's folders out of git, NULL if it is
 * outside the repository. */
static char *
exclude_pattern(const struct workspace *ws, const char *dir)
{
	cleanup_free char *path = workspace_resolve(ws, dir);
	cleanup_buf struct buf pattern = BUF_INIT;
	size_t len = strlen(ws->root);

	if (strncmp(path, ws->root, len) != 0 || path[len] != '/' ||
	    !add_pattern(&pattern, path + len))
		return NULL;
	buf_addc(&pattern, '/');
	return buf_take(&pattern);
}

static int
add_excludes(const struct workspace *ws, const char *worktree_dir,
    bool *ret_changed, struct err *err)
{
	cleanup_free char *info = file_join(ws->git_dir, "info");
	cleanup_free char *file = file_join(info, "exclude");
	/* Without a slash at its end, so that it also matches a link. */
	char *patterns[] = { xstrdup("/.llmc"),
		exclude_pattern(ws, worktree_dir) };
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_read(file, EXCLUDE_MAX, &text, err);
	size_t before;

	if (r == -ENOENT)
		r = 0;
	before = text.len;
	for (size_t i = 0; r == 0 && i < nitems(patterns); i++) {
		if (patterns[i] == NULL || has_line(text.data, patterns[i]))
			continue;
		if (text.len > 0 && text.data[text.len - 1] != '\n')
			buf_addc(&text, '\n');
		buf_addf(&text, "%s\n", patterns[i]);
	}
	if (r == 0 && text.len > before) {
		*ret_changed = true;
		r = file_mkdirs(info, 0755, err);
		if (r == 0)
			r = file_replace(file, text.data, text.len, 0644, err);
	}
	for (size_t i = 0; i < nitems(patterns); i++)
		free(patterns[i]);
	return r;
}

/* Does the branch have one that others may push to? */
static bool
has_upstream(const char *root, const char *branch)
{
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);
	const char *const args[] = { "for-each-ref",
		"--format=%(upstream:remotename)", ref, NULL };
	cleanup_buf struct buf remote = BUF_INIT;

	return git_ask(root, args, &remote, NULL) == 0 && remote.len > 0 &&
	    remote.data[0] != '\n' && strcmp(remote.data, ".") != 0;
}

/* On a terminal the person decides; elsewhere nothing is set without --yes. */
static void
choose_proposals(struct init *init)
{
	enum propose_answer answer;

	init->set = init->yes;
	if (init->yes || init->cli->json || !terminal_here())
		return;
	answer = propose_ask(&init->proposals);
	init->set = answer != PROPOSE_NOTHING;
	init->edit = answer == PROPOSE_EDIT;
}

/* Write a first config if there is none. One that cannot be examined is not
 * replaced. */
static int
make_config(struct init *init, const char *path, struct err *err)
{
	static const char *const sections[] = { "auto", "defaults", "budget" };
	const struct setting *row = settings_find(BRANCH_KEY, NULL);
	const char *branch = init->wanted != NULL ? init->wanted : init->found;
	const char *root = init->cli->workspace.root;
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;

	if (lstat(path, &st) == 0)
		return 0;
	if (errno != ENOENT)
		return err_errno(err, -errno, "cannot access %s", path);
	if (branch == NULL) /* the file was there a moment ago */
		return err_set(err, -ENOENT, "%s is gone", path);
	propose_look(&init->cli->workspace, branch, &init->proposals);
	choose_proposals(init);
	buf_adds(&text, config_start);
	if (!init->set)
		buf_adds(&text,
		    "#\n# What llmc init proposed, and is not set, stands here "
		    "as comments: llmc init --yes\n# sets it.\n");
	buf_adds(&text, "\n[repo]\ndefault_branch = ");
	settings_value_text(row, branch, &text, NULL);
	buf_addc(&text, '\n');
	init->follows = has_upstream(root, branch);
	if (init->follows)
		buf_adds(&text,
		    "# The branch has an upstream.\nupstream = \"follow\"\n");
	propose_write(&init->proposals, "repo", init->set, &text);
	for (size_t i = 0; i < nitems(sections); i++) {
		cleanup_buf struct buf lines = BUF_INIT;

		propose_write(&init->proposals, sections[i], init->set, &lines);
		if (lines.len > 0)
			buf_addf(&text, "\n[%s]\n%s", sections[i], lines.data);
	}
	init->changed = true;
	return file_replace(path, text.data, text.len, 0600, err);
}

/* A config file that was here: --yes sets what it does not set yet. */
static int
complete_config(struct init *init, struct err *err)
{
	const struct workspace *ws = &init->cli->workspace;
	struct proposals *p = &init->proposals;
	size_t kept = 0;
	int r = 0;

	propose_look(ws, settings_string(init->settings, BRANCH_KEY), p);
	for (size_t i = 0; i < p->count; i++) {
		cleanup_json struct json_object *value = NULL;
		unsigned line = 0;

		settings_value(init->settings, p->list[i].path, &value, &line);
		if (strcmp(p->list[i].path, "budget.day_cost") == 0 &&
		    settings_int(init->settings, "budget.day_tokens") > 0)
			line = 1; /* something else limits a day */
		if (line == 0) {
			p->list[kept++] = p->list[i];
			continue;
		}
		free(p->list[i].value);
		free(p->list[i].reason);
	}
	p->count = kept;
	init->set = init->yes;
	for (size_t i = 0; init->set && r == 0 && i < p->count; i++)
		r = config_propose(ws, p->list[i].path, p->list[i].value,
		    p->list[i].reason, err);
	if (!init->set || r < 0 || p->count == 0)
		return r;
	init->changed = true;
	settings_free(take_ptr(&init->settings));
	return config_load_strict(ws, &init->settings, err);
}

static int
make_files(struct init *init, struct err *err)
{
	const struct workspace *ws = &init->cli->workspace;
	cleanup_free char *config = workspace_path(ws, "config.toml");
	cleanup_free char *logs = workspace_path(ws, "logs");
	bool had_config = access(config, F_OK) == 0;
	int r = 0;

	if (!file_is_dir(logs)) {
		init->changed = true;
		r = file_mkdirs(logs, 0700, err);
	}
	if (r == 0)
		r = make_config(init, config, err);
	if (r == 0 && init->edit &&
	    draft_editor(init->cli, config, "the file is as proposed") !=
		CLI_OK)
		return -EPIPE; /* it is reported */
	if (r == 0)
		r = config_load_strict(ws, &init->settings, err);
	if (r == 0 && had_config && !init->foreign)
		r = complete_config(init, err);
	if (r == 0)
		r = add_excludes(ws,
		    settings_string(init->settings, "repo.worktree_dir"),
		    &init->changed, err);
	return r;
}

/* --- the branch ------------------------------------------------------ */

static int
fail_without_branch(struct cli *cli)
{
	return cli_fail(cli, "no_branch",
	    "no branch is checked out and origin has no HEAD; say which "
	    "branch work lands on: llmc init --branch NAME");
}

/* Before anything is made: a config file that is there may name one. */
static int
check_branch(struct init *init)
{
	const struct workspace *ws = &init->cli->workspace;
	cleanup_free char *config = workspace_path(ws, "config.toml");
	struct stat st;

	if (init->wanted != NULL)
		return git_ask_branch_exists(ws->root, init->wanted) ?
		    CLI_OK :
		    cli_fail(init->cli, "no_such_branch",
			"there is no branch %s; llmc init --branch needs one "
			"that exists",
			init->wanted);
	if (lstat(config, &st) == 0 || errno != ENOENT)
		return CLI_OK;
	init->found = git_ask_default_branch(ws->root);
	return init->found != NULL ? CLI_OK : fail_without_branch(init->cli);
}

/* What is set stays, unless --branch names another. */
static int
choose_branch(struct init *init)
{
	const struct workspace *ws = &init->cli->workspace;
	const char *set = settings_string(init->settings, BRANCH_KEY);
	cleanup_json struct json_object *value = NULL;
	struct err err = { 0 };
	unsigned line = 0;
	int r;

	settings_value(init->settings, BRANCH_KEY, &value, &line);
	init->branch = init->wanted != NULL ? init->wanted : set;
	if (init->branch[0] == '\0')
		return fail_without_branch(init->cli);
	if (line > 0 && strcmp(init->branch, set) == 0)
		return CLI_OK;
	init->changed = true;
	r = config_change(ws, BRANCH_KEY, init->branch, &err);
	return r < 0 ? cli_fail_err(init->cli, "io", &err) : CLI_OK;
}

static void
tell_branch(const struct init *init)
{
	struct cli *cli = init->cli;
	cleanup_free char *ref =
	    xasprintf("refs/remotes/origin/%s", init->branch);
	const char *const args[] = { "show-ref", "--verify", "--quiet", ref,
		NULL };

	json_set_string(cli->result, "landing_branch", init->branch);
	buf_addf(&cli->text,
	    "Work lands on %s; change it with: llmc config set " BRANCH_KEY
	    " NAME\n",
	    init->branch);
	if (init->follows)
		buf_adds(&cli->text,
		    "It has an upstream, and follows what others push there. "
		    "To push what lands,\ntoo: llmc config set repo.upstream "
		    "push; to leave it alone: ... off\n");
	if (git_ask_branch_exists(cli->workspace.root, init->branch))
		return;
	if (git_ask(cli->workspace.root, args, NULL, NULL) != 0)
		cli_warn(cli, "there is no branch %s here or at origin",
		    init->branch);
	else
		cli_warn(cli,
		    "there is no branch %s here yet; create it with: git "
		    "branch %s origin/%s",
		    init->branch, init->branch, init->branch);
}

/* --- a config file that was here before -------------------------------- */

/* One of the keys whose value is run, with its value if the file has one. */
static void
tell_command(const struct init *init, const char *path)
{
	cleanup_json struct json_object *value = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	unsigned line = 0;

	settings_value(init->settings, path, &value, &line);
	if (line == 0)
		return;
	json_print(value, false, &text);
	buf_addf(&init->cli->text, "  %s = %s\n", path, text.data);
}

static void
tell_channels(const struct init *init)
{
	const struct channel_list *list = settings_channels(init->settings);

	for (size_t i = 0; i < list->count; i++) {
		const struct channel *channel = &list->rows[i];

		if (channel->command[0] == '\0')
			continue;
		buf_addf(&init->cli->text,
		    "  people.channels.%s.command = ", channel->name);
		text_add_json(&init->cli->text, channel->command,
		    strlen(channel->command));
		buf_addc(&init->cli->text, '\n');
	}
}

/* It is accepted now: say what it runs. */
static void
tell_commands(const struct init *init)
{
	static const char agent[] = "defaults.agent_command";
	struct buf *out = &init->cli->text;
	const char *const *names;
	size_t before, workers;

	workers = settings_workers(init->settings, &names);
	buf_adds(out,
	    "You had not accepted this config file; from now on it is used. It "
	    "runs:\n");
	before = out->len;
	for (size_t i = 0; i < settings_table_count; i++)
		if (settings_table[i].flags & SETTING_RUNS)
			tell_command(init, settings_table[i].path);
	for (size_t i = 0; i < workers; i++) {
		cleanup_free char *path =
		    xasprintf("workers.%s%s", names[i], strchr(agent, '.'));

		tell_command(init, path);
	}
	tell_channels(init);
	if (out->len == before)
		buf_adds(out, "  nothing of its own\n");
}

/* What a person has accepted on the terminal needs no second list. */
static void
tell_proposals(const struct init *init)
{
	struct cli *cli = init->cli;
	const struct proposals *p = &init->proposals;

	json_set(cli->result, "proposals", propose_json(p, init->set));
	if (p->count == 0 || (init->set && !init->yes))
		return;
	if (init->existed && !init->set) {
		buf_adds(
		    &cli->text, "It could also set, with llmc init --yes:");
		for (size_t i = 0; i < p->count; i++)
			buf_addf(&cli->text, "%s %s", i > 0 ? "," : "",
			    p->list[i].path);
		buf_addc(&cli->text, '\n');
		return;
	}
	buf_adds(&cli->text,
	    init->set ? "Set, as this project is:\n" :
			"Proposed, and not set (llmc init --yes sets it):\n");
	propose_print(p, &cli->text);
}

/* A login that will not last as long as the workers do: better known now than
 * in a week. The rest is for llmc doctor. */
static void
tell_login(const struct init *init)
{
	struct preflight_facts facts;
	struct preflight found;

	if (init->settings == NULL)
		return;
	start_facts_agent(
	    &init->cli->workspace, init->settings, "auto-1", &facts);
	preflight_judge(&facts, &found);
	for (size_t i = 0; i < found.count; i++)
		if (strcmp(found.list[i].name, "login") == 0 &&
		    found.list[i].level == PREFLIGHT_WARN)
			buf_addf(&init->cli->text, "warning: %s: %s\n",
			    found.list[i].detail, found.list[i].remedy);
	preflight_release(&found);
	preflight_facts_release(&facts);
}

static void
tell(const struct init *init)
{
	struct cli *cli = init->cli;
	const struct workspace *ws = &cli->workspace;
	cleanup_buf struct buf root = BUF_INIT;

	cli->result = json_object_new_object();
	json_set_string(cli->result, "root", ws->root);
	json_set_bool(cli->result, "created", !init->existed);
	json_set_bool(cli->result, "changed", init->changed);
	text_add_visible(&root, ws->root, strlen(ws->root), false);
	if (ws->in_worktree)
		buf_addf(&cli->text, "This is a worktree of %s.\n", root.data);
	if (!init->existed)
		buf_addf(&cli->text,
		    "Set up llmc in %s/.llmc, which git ignores.\n", root.data);
	else
		buf_addf(&cli->text, "%s is already set up; %s.\n", root.data,
		    init->changed ? "what was missing has been added" :
				    "nothing was changed");
	if (init->foreign)
		tell_commands(init);
	tell_branch(init);
	tell_proposals(init);
	tell_login(init);
	if (!init->existed)
		buf_adds(&cli->text, "Next: llmc doctor\n");
}

static int
set_up(struct init *init)
{
	struct err err = { 0 };
	int r, status = check_branch(init);

	if (status != CLI_OK)
		return status;
	r = make_files(init, &err);
	if (r < 0 && err.code == 0)
		return CLI_FAILED;
	if (r < 0)
		return cli_fail_err(
		    init->cli, r == -EINVAL ? "bad_config" : "io", &err);
	status = choose_branch(init);
	if (status != CLI_OK)
		return status;
	if (root_mark_write(&init->cli->workspace, &err) < 0)
		return cli_fail_err(init->cli, "io", &err);
	tell(init);
	return CLI_OK;
}

static int
init_run(struct cli *cli, const struct cli_args *args)
{
	struct workspace *ws = &cli->workspace;
	struct init init = { .cli = cli,
		.wanted = args->flags[FLAG_BRANCH],
		.yes = args->flags[FLAG_YES] != NULL,
		.existed = workspace_initialised(ws),
		.foreign = root_mark_check(ws, NULL) == -EPERM };
	struct err err = { 0 };
	int r;

	if (git_ask_is_bare(ws->root))
		return cli_fail(cli, "bad_repository",
		    "%s/.git is a bare repository, and llmc needs the main "
		    "working tree; work in a clone: git clone %s/.git",
		    ws->root, ws->root);
	r = git_ask_has_commit(ws->root, &err);
	if (r < 0)
		return cli_fail_err(cli, "bad_repository", &err);
	if (r == 0)
		return cli_fail(cli, "no_commit",
		    "%s has no commit yet, and worktrees need one; create it "
		    "with: git commit --allow-empty -m Start",
		    ws->root);
	r = set_up(&init);
	settings_free(init.settings);
	proposals_release(&init.proposals);
	free(init.found);
	return r;
}

static const struct schema init_proposal =
    SCHEMA_SHAPE(SCHEMA_IS("key", STRING, "of the setting"),
	SCHEMA_IS("value", STRING, "as llmc config set takes it"),
	SCHEMA_IS("reason", STRING, "what speaks for it"),
	SCHEMA_IS("set", BOOL, "it is in the config file now"));

static const struct schema init_shape =
    SCHEMA_SHAPE(SCHEMA_IS("root", STRING, "top of the main working tree"),
	SCHEMA_IS("created", BOOL, "it had not been set up before"),
	SCHEMA_IS("changed", BOOL, "something was missing and has been added"),
	SCHEMA_IS("landing_branch", STRING, "branch that work lands on"),
	SCHEMA_IS("proposals", ROWS,
	    "settings that suit the project, and "
	    "are not set or were set now",
	    .of = &init_proposal));

const struct cli_command cmd_init = {
	.name = "init",
	.group = CLI_START,
	.usage = "[--branch NAME] [--yes]",
	.summary = "set up llmc in this git repository",
	.help =
	    "Creates the folder .llmc at the top of the repository, with an "
	    "initial config\nfile, and keeps it out of git through "
	    ".git/info/exclude. No tracked file is\nchanged. Running it again "
	    "restores what is missing. In a linked worktree, it\nsets up the "
	    "main working tree.\n\nIt also chooses the branch that work lands "
	    "on, once: the branch of origin/HEAD,\nelse the one that is "
	    "checked out. What is checked out later does not matter.\n\nA "
	    "new config file gets what suits the project, each with the "
	    "reason: how it is\ntested (auto.check_command) and set up, "
	    "what a worktree needs, a sandbox, a budget.\nOn a terminal it "
	    "is shown first: Enter accepts it. Elsewhere it is set with\n"
	    "--yes, and otherwise it is written as comments.\n",
	.example = "init --yes",
	.flags = init_flags,
	.guarded = true,
	.repairs = true,
	.needs = CLI_NEEDS_REPO,
	.shape = CLI_SHAPE(OBJECT, init_shape),
	.run = init_run,
};

/* --- trust --------------------------------------------------------------- */

enum {
	FLAG_ONBOARDING
};

static const struct cli_flag trust_flags[] = {
	[FLAG_ONBOARDING] = { "onboarding", NULL,
	    "also skip the screens of Claude Code's first start" },
	{ NULL, NULL, NULL },
};

static void
trust_tell(struct cli *cli, const char *file, unsigned before, unsigned after)
{
	static const struct {
		unsigned bit;
		const char *done;
	} changes[] = {
		{ CLAUDE_NOT_TRUSTED, "this repository is trusted" },
		{ CLAUDE_KEY_UNKNOWN,
		    "the key in ANTHROPIC_API_KEY is approved" },
		{ CLAUDE_NOT_ONBOARDED,
		    "the screens of Claude Code's first start are skipped" },
	};

	buf_addf(&cli->text, "%s%s\n", file,
	    before == after ? " needs no change." : " now says:");
	for (size_t i = 0; i < nitems(changes); i++)
		if ((before & changes[i].bit) && !(after & changes[i].bit))
			buf_addf(&cli->text, "  %s\n", changes[i].done);
	if (after & CLAUDE_NOT_ONBOARDED)
		buf_adds(&cli->text,
		    "Claude Code has never been started by this user: start it "
		    "once by hand, or run: llmc doctor trust --onboarding\n");
}

static int
trust_run(struct cli *cli, const struct cli_args *args)
{
	const char *key = getenv("ANTHROPIC_API_KEY");
	const char *root = cli->workspace.root;
	bool onboarding = args->flags[FLAG_ONBOARDING] != NULL;
	cleanup_free char *file = claude_home_file();
	struct err err = { 0 };
	unsigned before, after,
	    wanted = CLAUDE_NOT_TRUSTED | CLAUDE_KEY_UNKNOWN |
	    (onboarding ? CLAUDE_NOT_ONBOARDED : 0);

	if (file == NULL)
		return cli_fail(cli, "no_home",
		    "HOME is not set, so there is no ~/.claude.json");
	before = claude_home_check(file, root, key, &err);
	if (before & CLAUDE_FILE_BROKEN)
		return cli_fail(
		    cli, "io", "%s; the file was not changed", err.msg);
	if ((before & wanted) != 0 &&
	    claude_home_trust(file, root, key, onboarding, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	after = claude_home_check(file, root, key, &err);
	trust_tell(cli, file, before, after);
	cli->result = json_object_new_object();
	json_set_string(cli->result, "file", file);
	json_set_string(cli->result, "root", root);
	json_set_bool(cli->result, "changed", before != after);
	json_set_bool(cli->result, "trusted", !(after & CLAUDE_NOT_TRUSTED));
	json_set_bool(
	    cli->result, "onboarded", !(after & CLAUDE_NOT_ONBOARDED));
	return CLI_OK;
}

static const struct schema trust_shape =
    SCHEMA_SHAPE(SCHEMA_IS("file", STRING, NULL),
	SCHEMA_IS("root", STRING, NULL), SCHEMA_IS("changed", BOOL, NULL),
	SCHEMA_IS("trusted", BOOL, NULL), SCHEMA_IS("onboarded", BOOL, NULL));

const struct cli_command cmd_trust = {
	.name = "doctor trust",
	.usage = "[--onboarding]",
	.summary = "have Claude Code trust this repository",
	.help = "Claude Code asks before it works in a new repository, and a "
		"worker has nobody to\nanswer. This writes the answer to "
		"~/.claude.json, and approves the key in\nANTHROPIC_API_KEY if "
		"that is set. Nothing else in the file changes.\n",
	.example = "doctor trust",
	.flags = trust_flags,
	.guarded = true,
	.needs = CLI_NEEDS_REPO,
	.shape = CLI_SHAPE(OBJECT, trust_shape),
	.run = trust_run,
};
