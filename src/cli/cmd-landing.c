/* SPDX-License-Identifier: ISC */

/* llmc landing, landing salvage: work on its way, and work that was saved. */
#include "base.h"

#include "check-book.h"
#include "cli-private.h"
#include "landing-list.h"
#include "loop.h"

static void
add_expected(struct json_object *item, struct buf *out)
{
	int64_t expected = json_int_or(item, "expected_ms", -1);

	if (expected > 0)
		moment_add_age(out, expected);
	else if (expected == 0)
		buf_adds(out, "now");
}

static const struct view_column columns[] = {
	{ "#", "position", VIEW_COUNT, .right = true },
	{ "State", "state", .cell = VIEW_STATUS },
	{ "Task", "task", .flexible = true },
	{ "Worker", "worker", .flexible = true },
	{ "Check", "check_slot", VIEW_COUNT, .right = true },
	{ "Lands in", .add = add_expected, .right = true },
	{ "Why", "why", .flexible = true },
	{ "Title", "title", .flexible = true },
};

void
landing_text_unproven(struct cli *cli, const char *commit)
{
	cli_coloured(cli, "33", "not checked");
	buf_addf(&cli->text,
	    ": %.7s landed on a result that was overtaken, and is checked "
	    "next\n",
	    commit);
}

static void
add_branch(struct cli *cli, struct json_object *list)
{
	const char *branch = json_string_or(list, "landing_branch", "");
	const char *hold = json_string_or(list, "hold", NULL);
	const char *unproven = json_string_or(list, "unproven_sha", NULL);
	struct json_object *runs = NULL;

	if (json_bool_or(list, "red", false)) {
		cli_coloured(cli, "1;31", "red");
		buf_addf(&cli->text, ": %s itself fails its check at %.7s\n",
		    branch, json_string_or(list, "base_sha", ""));
	}
	json_get_array(list, "", "running", &runs, NULL);
	JSON_EACH (run, runs) {
		struct json_object *covers = NULL;

		json_get_array(run, "", "covers", &covers, NULL);
		if (covers == NULL || json_object_array_length(covers) > 0)
			continue;
		buf_addf(
		    &cli->text, "%s itself is being checked, for ", branch);
		moment_add_age(&cli->text,
		    clock_wall_ms() - json_int_or(run, "since_unix", 0) * 1000);
		buf_adds(&cli->text, " by now\n");
	}
	if (unproven != NULL)
		landing_text_unproven(cli, unproven);
	if (hold != NULL) {
		buf_addf(&cli->text, "%s cannot be moved: ", branch);
		cli_say(cli, "", hold, "\n");
	}
}

static void
add_check(struct cli *cli, struct json_object *list)
{
	struct json_object *check = json_member(list, "check");
	const char *command = json_string_or(check, "command", "");
	int64_t took = json_int_or(check, "expected_ms", 0);
	int64_t trees = json_int_or(check, "trees", 0);

	if (check == NULL) {
		buf_adds(&cli->text,
		    "No check command is set (auto.check_command): work lands "
		    "as it is.\n");
		return;
	}
	cli_say(cli, "Check: ", command, "");
	if (took > 0) {
		buf_adds(&cli->text, ", takes ");
		moment_add_age(&cli->text, took);
	}
	if (trees > 0)
		buf_addf(&cli->text,
		    ", flaky on %" PRId64 " of %" PRId64 " trees (%" PRId64
		    " %%)%s",
		    json_int_or(check, "flaky_trees", 0), trees,
		    json_int_or(check, "flaky_percent", 0),
		    json_bool_or(check, "flaky_alarm", false) ?
			", which is too often" :
			"");
	buf_addc(&cli->text, '\n');
}

void
landing_text_push(struct cli *cli, struct json_object *push)
{
	const char *state = json_string_or(push, "state", "");
	const char *sha = json_string_or(push, "commit_sha", "");
	const char *reason = json_string_or(push, "reason", "");
	int64_t tries = json_int_or(push, "tries", 0);
	int64_t ms = json_int_or(push, "next_unix", 0) * 1000 - clock_wall_ms();
	int64_t away = json_int_or(push, "away_unix", 0) * 1000;

	if (strcmp(state, "done") == 0 || strcmp(state, "waiting") == 0) {
		buf_addf(&cli->text,
		    strcmp(state, "done") == 0 ?
			"Push: origin took %.7s\n" :
			"Push: origin does not have %.7s yet\n",
		    sha);
		return;
	}
	if (strcmp(state, "pushing") == 0) {
		buf_addf(&cli->text, "Push: %.7s goes to origin, for ", sha);
		moment_add_age(&cli->text,
		    clock_wall_ms() -
			json_int_or(push, "since_unix", 0) * 1000);
		buf_adds(&cli->text, "; it lands when origin has it\n");
		return;
	}
	if (strcmp(state, "diverged") == 0) {
		cli_coloured(cli, "33", "diverged");
		buf_addf(&cli->text,
		    ": origin does not have %.7s, and has other commits; "
		    "see: llmc asks\n",
		    sha);
		return;
	}
	if (strcmp(state, "failed") == 0) {
		cli_coloured(cli, "33", "not pushed");
		buf_addf(&cli->text, ": origin does not have %.7s", sha);
	} else if (strcmp(state, "held") == 0) {
		cli_coloured(cli, "33", "not landed");
		buf_adds(&cli->text,
		    away > 0 ? ": origin does not say if it has taken it" :
			       ": origin does not take it");
	} else {
		cli_coloured(cli, "33", "origin is away");
	}
	buf_addf(&cli->text, " after %" PRId64 " tr%s", tries,
	    tries == 1 ? "y" : "ies");
	buf_adds(&cli->text, ", next ");
	if (ms > 0) {
		buf_adds(&cli->text, "in ");
		moment_add_age(&cli->text, ms);
	} else {
		buf_adds(&cli->text, "now");
	}
	if (away > 0) {
		buf_adds(&cli->text, ", away for ");
		moment_add_age(&cli->text, clock_wall_ms() - away);
	}
	cli_say(cli, ": ", reason, "\n");
}

/* Append to cli->text. */
static void
landing_text_add(struct cli *cli, struct json_object *list)
{
	struct json_object *push = json_member(list, "push");
	const char *branch = json_string_or(list, "landing_branch", "");
	cleanup_free char *none = xasprintf("Nothing waits to land%s%s.",
	    branch[0] != '\0' ? " on " : "", branch);

	CLI_TABLE(cli, columns, json_member(list, "items"), none);
	add_branch(cli, list);
	add_check(cli, list);
	if (push != NULL)
		landing_text_push(cli, push);
}

enum {
	FLAG_FOLLOW
};

static const struct cli_flag landing_flags[] = {
	[FLAG_FOLLOW] = { "follow", NULL,
	    "print it again whenever it changes, until Ctrl-C" },
	{ NULL, NULL, NULL },
};

struct follower {
	struct cli *cli;
	struct loop *loop;
	struct loop_call *look;
	struct json_object *shown; /* without what only time changes */
};

/* The tip of the branch and its tree; "" if it has none. */
static char *
ask_tip(struct cli *cli, const char *branch, const char *what)
{
	cleanup_free char *name = xasprintf("refs/heads/%s^{%s}", branch, what);
	const char *const args[] = { "rev-parse", "--verify", "--quiet", name,
		NULL };
	cleanup_buf struct buf id = BUF_INIT;

	if (git_ask(cli->workspace.root, args, &id, NULL) != 0)
		buf_clear(&id);
	return buf_take(&id);
}

static int
load(struct cli *cli, struct json_object **ret_list)
{
	const char *code = NULL;
	struct err err = { 0 };

	if (remote_try(cli, "landing.list", json_object_new_object(), 0,
		ret_list, &code, &err))
		return CLI_OK;
	if (strcmp(code, "no_daemon") == 0) {
		struct landing_list list = { .now_ms = clock_wall_ms() };
		cleanup_free char *commit = NULL, *tree = NULL;
		char key[CHECK_KEY_SIZE];
		struct settings *settings = NULL;
		struct state state;
		int status = cli_load_settings(cli, &settings);

		/* What the last daemon left in the book. */
		if (status != CLI_OK)
			return status;
		status = roster_load(cli, &state);
		if (status == CLI_OK) {
			list.record = &state.landings;
			list.branch =
			    settings_string(settings, "repo.default_branch");
			list.check =
			    settings_string(settings, "auto.check_command");
			list.pushes =
			    upstream_mode_of(settings) != UPSTREAM_OFF;
			check_book_key(list.check, key);
			commit = ask_tip(cli, list.branch, "commit");
			tree = ask_tip(cli, list.branch, "tree");
			*ret_list = landing_list_resting(
			    list, commit, tree, key[0] != '\0' ? key : NULL);
			state_release(&state);
		}
		settings_free(settings);
		return status;
	}
	return cli_fail_err(cli, code, &err);
}

/* --- follow ---------------------------------------------------------- */

/* False: the reader has gone. */
static bool
print(struct cli *cli, struct json_object *list, bool first)
{
	cleanup_buf struct buf line = BUF_INIT;
	const struct buf *out = &cli->text;
	bool written;

	buf_clear(&cli->text);
	if (cli->json) {
		json_print(list, false, &line);
		buf_addc(&line, '\n');
		out = &line;
	} else {
		if (!first)
			buf_addc(&cli->text, '\n');
		landing_text_add(cli, list);
	}
	written = cli_write(out) == 0;
	buf_clear(&cli->text);
	return written;
}

static void
look(void *arg)
{
	struct follower *f = arg;
	cleanup_json struct json_object *list = NULL, *now = NULL;
	int status = load(f->cli, &list);
	struct json_object *copy = NULL, *items;

	if (status != CLI_OK) {
		loop_stop(f->loop, status);
		return;
	}
	/* A copy without the members that change although nothing happens. */
	json_object_deep_copy(list, &copy, NULL);
	items = json_member(copy, "items");
	JSON_EACH (row, items)
		json_object_object_del(row, "expected_ms");
	now = copy;
	if (f->shown != NULL && json_object_equal(now, f->shown))
		return;
	if (!print(f->cli, list, f->shown == NULL))
		loop_stop(f->loop, CLI_OK);
	json_object_put(f->shown);
	f->shown = take_ptr(&now);
}

static bool
on_event(struct json_object *record, void *arg)
{
	struct follower *f = arg;

	(void)record;
	loop_call_request(f->look);
	return true;
}

static int
landing_run(struct cli *cli, const struct cli_args *args)
{
	int status;

	if (args->flags[FLAG_FOLLOW] != NULL) {
		struct follower f = { .cli = cli, .loop = loop_new() };

		f.look = loop_call_new(f.loop, look, &f);
		loop_call_request(f.look);
		status = event_follow(
		    cli, f.loop, &event_feed_view, 1, on_event, &f);
		json_object_put(f.shown);
		loop_call_free(f.look);
		loop_free(f.loop);
		return status;
	}
	status = load(cli, &cli->result);
	if (status == CLI_OK)
		landing_text_add(cli, cli->result);
	return status;
}

const struct cli_command cmd_landing = {
	.name = "landing",
	.group = CLI_LAND,
	.usage = "[--follow]",
	.summary = "show what waits to land, and why",
	.help =
	    "One line for each piece of work in the landing queue, in the "
	    "order in which it\nlands: its state, the slot of the running "
	    "check that covers it, when it is\nexpected to land, and why it "
	    "waits. Then the check command: how long it takes\nand how often "
	    "it contradicts itself; and with repo.upstream, how it stands\n"
	    "with origin. With --follow and --json, every change is one "
	    "line of JSON.\n",
	.example = "landing --follow",
	.flags = landing_flags,
	.method = "landing.list",
	.run = landing_run,
};

/* --- salvage ------------------------------------------------------------- */

#define REFS_MAX 1000

enum {
	FLAG_BRANCH,
	FLAG_ALL,
	FLAG_OLDER_THAN,
	FLAG_YES
};

static const struct cli_flag salvage_flags[] = {
	[FLAG_BRANCH] = { "branch", "NAME",
	    "for restore: name of the branch to create" },
	[FLAG_ALL] = { "all", NULL, "for drop: everything" },
	[FLAG_OLDER_THAN] = { "older-than", "AGE",
	    "for drop: only what is older, such as 7d" },
	[FLAG_YES] = { "yes", NULL, "for drop: do not ask" },
	{ NULL, NULL, NULL },
};

/* The full name of what was typed: one of our refs, or "worker/stamp". */
static int
find_ref(struct cli *cli, const char *typed, char **ret_ref)
{
	cleanup_free char *ref =
	    xasprintf("%s%s", ROSTER_SALVAGE, roster_salvage(typed));
	const char *const args[] = { "show-ref", "--verify", "--quiet", ref,
		NULL };

	if (git_ask(cli->workspace.root, args, NULL, NULL) != 0)
		return cli_fail(cli, "no_such_ref",
		    "there is no salvaged work %s; see: llmc landing salvage list",
		    typed);
	*ret_ref = take_ptr(&ref);
	return CLI_OK;
}

/* --- what there is ---------------------------------------------------- */

struct saved {
	const char *ref, *commit, *subject;
	int64_t at_ms; /* when it was saved; -1 = unknown */
};

/* The commit may be older: a worker's own, saved as it is. */
static int64_t
saved_at(const char *ref, const char *committed)
{
	const char *slash = strrchr(ref, '/');
	int64_t at;

	if (slash != NULL && moment_parse_compact(slash + 1, &at))
		return at;
	return text_parse_int(committed, 0, INT64_MAX / 1000, &at) ? at * 1000 :
								     -1;
}

/* One line of for-each-ref, with tabs in it. */
static void
parse_saved(char *line, struct saved *ret_saved)
{
	const char *fields[4]; /* ref, commit, date in seconds, subject */

	for (size_t i = 0; i < nitems(fields); i++) {
		const char *field =
		    i + 1 < nitems(fields) ? strsep(&line, "\t") : line;

		fields[i] = field != NULL ? field : "";
	}
	*ret_saved = (struct saved){ .ref = fields[0],
		.commit = fields[1],
		.subject = fields[3],
		.at_ms = saved_at(fields[0], fields[2]) };
}

static int
newest_first(const void *a, const void *b)
{
	const struct saved *x = a, *y = b;

	if (x->at_ms != y->at_ms)
		return x->at_ms > y->at_ms ? -1 : 1;
	return strcmp(x->ref, y->ref);
}

/* The caller frees the list; its texts point into `text`. */
static int
read_saved(struct cli *cli, struct buf *text, struct saved **ret_list,
    size_t *ret_count)
{
	const char *const ask[] = { "for-each-ref",
		("--format=%(refname)%09%(objectname)%09%(creatordate:unix)%09"
		 "%(subject)"),
		ROSTER_SALVAGE, NULL };
	struct err err = { 0 };
	char *rest, *line;

	*ret_list = NULL;
	*ret_count = 0;
	if (git_ask(cli->workspace.root, ask, text, &err) != 0)
		return cli_fail_err(cli, "git", &err);
	rest = text->data;
	while (text->len > 0 && (line = strsep(&rest, "\n")) != NULL) {
		*ret_list =
		    xreallocarray(*ret_list, *ret_count + 1, sizeof **ret_list);
		parse_saved(line, &(*ret_list)[(*ret_count)++]);
	}
	if (*ret_count > 0)
		qsort(*ret_list, *ret_count, sizeof **ret_list, newest_first);
	return CLI_OK;
}

static struct json_object *
saved_json(const struct saved *saved)
{
	struct json_object *json = json_object_new_object();
	cleanup_free char *worker = xstrdup(roster_salvage(saved->ref));
	char stamp[CLOCK_STAMP_SIZE] = "", *slash = strrchr(worker, '/');

	if (saved->at_ms >= 0)
		clock_format_stamp(saved->at_ms, stamp);
	if (slash != NULL)
		*slash = '\0';
	json_set_string(json, "ref", saved->ref);
	json_set_string(json, "worker", worker);
	json_set_string(json, "commit_sha", saved->commit);
	json_set_string(json, "date", stamp);
	json_set_string(json, "subject", saved->subject);
	return json;
}

static void
add_ref(struct json_object *row, struct buf *out)
{
	buf_adds(out, roster_salvage(json_string_or(row, "ref", "")));
}

static void
add_date(struct json_object *row, struct buf *out)
{
	int64_t at;

	if (moment_parse(json_string_or(row, "date", ""), &at))
		moment_add(out, at);
}

static const struct view_column salvage_columns[] = {
	{ "Ref", .add = add_ref, .flexible = true },
	{ "Date", .add = add_date },
	{ "Subject", "subject", .flexible = true },
};

static int
salvage_list(struct cli *cli, const struct cli_args *args)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free struct saved *list = NULL;
	size_t count;
	int status = read_saved(cli, &text, &list, &count);

	(void)args;
	if (status != CLI_OK)
		return status;
	cli->result = json_object_new_array();
	for (size_t i = 0; i < count; i++)
		json_object_array_add(cli->result, saved_json(&list[i]));
	CLI_TABLE(
	    cli, salvage_columns, cli->result, "Nothing has been salvaged.");
	return CLI_OK;
}

static struct json_object *
ref_json(struct cli *cli, const char *ref)
{
	const char *const args[] = { "rev-parse", "--verify", ref, NULL };
	struct json_object *json = json_object_new_object();
	cleanup_buf struct buf id = BUF_INIT;

	git_ask(cli->workspace.root, args, &id, NULL);
	json_set_string(json, "ref", ref);
	json_set_string(json, "commit_sha", id.data);
	return json;
}

static int
salvage_show(struct cli *cli, const struct cli_args *args)
{
	struct settings *settings = NULL;
	cleanup_free char *ref = NULL, *range = NULL, *diff = NULL;
	const char *branch;
	int status = find_ref(cli, args->list[1], &ref);

	if (status == CLI_OK)
		status = cli_load_settings(cli, &settings);
	if (status != CLI_OK)
		return status;
	branch = settings_string(settings, "repo.default_branch");
	range = xasprintf("%s..%s", branch, ref);
	diff = xasprintf("%s...%s", branch, ref);
	settings_free(settings);
	cli->result = ref_json(cli, ref);
	if (cli->json) {
		const char *const names[] = { "-c", "core.quotePath=false",
			"diff", "--name-only", diff, "--", NULL };
		cleanup_buf struct buf text = BUF_INIT;

		git_ask(cli->workspace.root, names, &text, NULL);
		json_set(cli->result, "changed_files", cli_lines(text.data));
		return CLI_OK;
	}
	{
		const char *const argv[] = { "git", "-C", cli->workspace.root,
			"log", "--no-decorate", "--patch-with-stat", range,
			"--", NULL };
		struct err err = { 0 };

		/* Every commit with what it changed, in git's own pager. */
		status = terminal_run(argv, &err);
		if (status < 0)
			return cli_fail_err(cli, "git", &err);
		/* 141: the pager was closed before the end. */
		return status == 0 || status == 141 ? CLI_OK : CLI_FAILED;
	}
}

static int
salvage_restore(struct cli *cli, const struct cli_args *args)
{
	cleanup_free char *ref = NULL, *name = NULL;
	int status = find_ref(cli, args->list[1], &ref);
	const char *ask[] = { "branch", "--no-track", NULL, NULL, NULL };
	struct err err = { 0 };

	if (status != CLI_OK)
		return status;
	/* "refs/llmc/salvage/adam/X" becomes the branch salvage/adam/X. */
	name = args->flags[FLAG_BRANCH] != NULL ?
	    xstrdup(args->flags[FLAG_BRANCH]) :
	    xstrdup(ref + strlen("refs/llmc/"));
	if (name[0] == '-')
		return cli_fail(
		    cli, "bad_value", "%s is not a valid branch name", name);
	if (git_ask_branch_exists(cli->workspace.root, name))
		return cli_fail(cli, "exists",
		    "there is already a branch %s; give another name with "
		    "--branch",
		    name);
	ask[2] = name;
	ask[3] = ref;
	if (git_ask(cli->workspace.root, ask, NULL, &err) != 0)
		return cli_fail_err(cli, "git", &err);
	cli->result = ref_json(cli, ref);
	json_set_string(cli->result, "branch", name);
	buf_addf(&cli->text,
	    "Restored it as branch %s; look at it with: git log -p %s\n", name,
	    name);
	return CLI_OK;
}

/* --- drop ------------------------------------------------------------- */

static int
find_dropped(struct cli *cli, const struct cli_args *args, char ***refs)
{
	const char *age = args->flags[FLAG_OLDER_THAN];
	bool all = args->flags[FLAG_ALL] != NULL;
	int64_t age_ms = 0;
	int status = CLI_OK;

	if ((args->count > 1) + all + (age != NULL) != 1)
		return cli_misuse(cli, &cmd_salvage,
		    "landing salvage drop takes refs, or --all, or "
		    "--older-than AGE");
	if (age != NULL && !text_parse_duration(age, &age_ms))
		return cli_misuse(cli, &cmd_salvage,
		    "--older-than %s: use an age such as 7d or 12h", age);
	if (all || age != NULL) {
		int64_t before = clock_wall_ms() - age_ms;
		cleanup_buf struct buf text = BUF_INIT;
		cleanup_free struct saved *list = NULL;
		size_t count;

		/* Add the refs that are older than that; 0 = all of them. */
		status = read_saved(cli, &text, &list, &count);
		for (size_t i = 0; i < count; i++)
			if (age_ms == 0 ||
			    (list[i].at_ms >= 0 && list[i].at_ms <= before))
				strv_add(refs, list[i].ref);
		return status;
	}
	for (int i = 1; i < args->count && status == CLI_OK; i++) {
		char *ref = NULL;

		status = find_ref(cli, args->list[i], &ref);
		if (status == CLI_OK)
			strv_take(refs, ref);
	}
	return status;
}

/* The commit stays until git's gc, as that of a branch that is deleted. */
static int
drop_ref(struct cli *cli, const char *worktrees, const char *ref)
{
	cleanup_json struct json_object *json = ref_json(cli, ref);
	const char *id = json_string_or(json, "commit_sha", "");
	const char *const args[] = { "update-ref", "--no-deref", "-d", ref, id,
		NULL };
	struct err err = { 0 };
	const char *name;
	const char *slash;
	cleanup_free char *dir = NULL;
	bool checks;

	if (git_ask(cli->workspace.root, args, NULL, &err) != 0)
		return cli_fail_err(cli, "git", &err);
	buf_addf(
	    &cli->text, "Dropped %s (was %.12s).\n", roster_salvage(ref), id);
	/* What could not be saved in the repository lies beside the worktree.
	 */
	name = roster_salvage(ref);
	slash = strrchr(name, '/');
	checks = slash != NULL && text_begins(slash, "/checks-");
	if (slash != NULL)
		dir = xasprintf("%s/%.*s.kept-%s", worktrees,
		    (int)(slash - name), name, checks ? "checks" : slash + 1);
	if (dir != NULL && file_is_dir(dir))
		buf_addf(&cli->text,
		    "Files that were moved aside remain in %s\n", dir);
	json_object_array_add(cli->result, take_ptr(&json));
	return CLI_OK;
}

static int
salvage_drop(struct cli *cli, const struct cli_args *args)
{
	cleanup_strv char **refs = NULL;
	cleanup_free char *worktrees = NULL;
	const char *const *ref;
	struct settings *settings = NULL;
	size_t count;
	int status;

	if (cli_is_barred(cli, false))
		return cli_fail(cli, "refused",
		    "agents may not drop salvaged work; this is a worker's "
		    "session");
	status = find_dropped(cli, args, &refs);
	if (status == CLI_OK)
		status = cli_load_settings(cli, &settings);
	if (status != CLI_OK)
		return status;
	worktrees = workspace_resolve(
	    &cli->workspace, settings_string(settings, "repo.worktree_dir"));
	settings_free(settings);
	count = strv_count(refs);
	if (count > 0)
		status = ask_confirm(cli, args->flags[FLAG_YES] != NULL,
		    "This removes %zu piece%s of salvaged work for good.",
		    count, count == 1 ? "" : "s");
	else
		buf_adds(&cli->text, "There is nothing to drop.\n");
	if (status != CLI_OK)
		return status;
	cli->result = json_object_new_array();
	progress_begin(cli, "dropping salvaged work");
	for (ref = strv_const(refs); *ref != NULL && status == CLI_OK; ref++) {
		progress_count((size_t)(ref - strv_const(refs)), count);
		status = drop_ref(cli, worktrees, *ref);
	}
	progress_end();
	return status;
}

static const struct verb salvage_verbs[] = {
	{ "list", 0, 0, 0, "list", salvage_list },
	{ "show", 1, 1, 0, "show REF", salvage_show },
	{ "restore", 1, 1, 1u << FLAG_BRANCH, "restore REF [--branch NAME]",
	    salvage_restore },
	{ "drop", 0, REFS_MAX,
	    1u << FLAG_ALL | 1u << FLAG_OLDER_THAN | 1u << FLAG_YES,
	    "drop REF ..., or drop --all, or drop --older-than AGE",
	    salvage_drop },
	{ NULL, 0, 0, 0, NULL, NULL },
};

#define REF    SCHEMA_IS("ref", STRING, NULL)
#define COMMIT SCHEMA_IS("commit_sha", STRING, NULL)

static const struct schema listed_shape =
    SCHEMA_SHAPE(REF, COMMIT, SCHEMA_IS("worker", STRING, NULL),
	SCHEMA_IS("date", STRING, NULL), SCHEMA_IS("subject", STRING, NULL));

static const struct schema shown_shape =
    SCHEMA_SHAPE(REF, COMMIT, SCHEMA_IS("changed_files", LIST, NULL));

static const struct schema restored_shape =
    SCHEMA_SHAPE(REF, COMMIT, SCHEMA_IS("branch", STRING, NULL));

static const struct schema dropped_shape = SCHEMA_SHAPE(REF, COMMIT);

static const struct schema salvage_shape =
    SCHEMA_SHAPE(SCHEMA_IS("list", ROWS, NULL, .of = &listed_shape),
	SCHEMA_IS("show", OBJECT, NULL, .of = &shown_shape),
	SCHEMA_IS("restore", OBJECT, NULL, .of = &restored_shape),
	SCHEMA_IS("drop", ROWS, NULL, .of = &dropped_shape));

const struct cli_command cmd_salvage = {
	.name = "landing salvage",
	.usage = "list | show REF | restore REF [--branch NAME] | "
		 "drop REF ... | drop --all | drop --older-than AGE",
	.summary = "list, restore and drop work that was taken from a worker",
	.help =
	    "Before a reset, a nuke or anything else takes work from a worker, "
	    "its commits\nand changes are saved as a ref. Write REF as list "
	    "shows it: WORKER/TIME, or\nWORKER/TIME-TASK if it is the work of a "
	    "task.\n\nlist     what was saved, newest first\n"
	    "show     its commits, with their changes\nrestore  create a "
	    "branch from it, salvage/REF by default\n"
	    "drop     remove it for good; with --all everything, with "
	    "--older-than AGE what\n         is older\n",
	.example = "landing salvage restore adam/20260131T081530Z",
	.flags = salvage_flags,
	.min_args = 1,
	.max_args = REFS_MAX + 1,
	.needs = CLI_NEEDS_REPO,
	.shape = CLI_SHAPE(ONE, salvage_shape),
	.verbs = salvage_verbs,
};
