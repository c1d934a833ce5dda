/* SPDX-License-Identifier: ISC */

/* llmc salvage: shows work that was taken from a worker and kept. */
#include <errno.h>
#include <string.h>

#include "commands.h"
#include "errtext.h"
#include "git-ask.h"
#include "json.h"
#include "mem.h"
#include "moment.h"
#include "roster.h"
#include "settings.h"
#include "shape.h"
#include "table.h"
#include "terminal.h"
#include "text.h"

enum {
	FLAG_BRANCH
};

static const struct cli_flag salvage_flags[] = {
	[FLAG_BRANCH] = { "branch", "NAME",
	    "for restore: name of the branch to create" },
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
		    "there is no salvaged work %s; see: llmc salvage list",
		    typed);
	*ret_ref = take_ptr(&ref);
	return CLI_OK;
}

/* One line of for-each-ref: ref, commit, date, the same in seconds, subject,
 * with tabs between. */
static void
list_line(struct cli *cli, struct table *table, char *line)
{
	struct json_object *json = json_object_new_object();
	char *rest = line, *slash;
	const char *ref = strsep(&rest, "\t");
	const char *commit = rest != NULL ? strsep(&rest, "\t") : "";
	const char *date = rest != NULL ? strsep(&rest, "\t") : "";
	const char *seconds = rest != NULL ? strsep(&rest, "\t") : "";
	const char *subject = rest != NULL ? rest : "";
	cleanup_buf struct buf when = BUF_INIT;
	cleanup_free char *worker = NULL;
	int64_t at = 0;

	if (text_parse_int(seconds, 0, INT64_MAX / 1000, &at))
		moment_add(&when, at * 1000);
	worker = xstrdup(roster_salvage(ref));
	slash = strrchr(worker, '/');
	if (slash != NULL)
		*slash = '\0';
	json_set_string(json, "ref", ref);
	json_set_string(json, "worker", worker);
	json_set_string(json, "commit_sha", commit);
	json_set_string(json, "date", date);
	json_set_string(json, "subject", subject);
	json_object_array_add(cli->result, json);
	table_row(
	    table, (const char *[]){ roster_salvage(ref), when.data, subject });
}

static int
salvage_list(struct cli *cli, const struct cli_args *args)
{
	const char *const ask[] = { "for-each-ref", "--sort=-creatordate",
		("--format=%(refname)%09%(objectname)%09%(creatordate:iso-"
		 "strict)%09%(creatordate:unix)%09%(subject)"),
		ROSTER_SALVAGE, NULL };
	const struct table_column columns[] = { { .title = "REF",
						    .flexible = true },
		{ .title = "DATE" }, { .title = "SUBJECT", .flexible = true } };
	cleanup_buf struct buf text = BUF_INIT;
	struct table *table;
	struct err err = { 0 };
	char *rest, *line;

	(void)args;
	if (git_ask(cli->workspace.root, ask, &text, &err) != 0)
		return cli_fail_err(cli, "git", &err);
	cli->result = json_object_new_array();
	table = table_new(columns, (int)nitems(columns));
	rest = text.data;
	while (text.len > 0 && (line = strsep(&rest, "\n")) != NULL)
		list_line(cli, table, line);
	if (json_object_array_length(cli->result) > 0)
		table_print(table, cli->width, cli->colour, &cli->text);
	else
		buf_adds(&cli->text, "Nothing has been salvaged.\n");
	table_free(table);
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

/* Every commit with what it changed, in git's own pager. */
static int
show_commits(struct cli *cli, const char *range)
{
	const char *const argv[] = { "git", "-C", cli->workspace.root, "log",
		"--no-decorate", "--patch-with-stat", range, "--", NULL };
	struct err err = { 0 };
	int status = terminal_run(argv, &err);

	if (status < 0)
		return cli_fail_err(cli, "git", &err);
	/* 141: the pager was closed before the end. */
	return status == 0 || status == 141 ? CLI_OK : CLI_FAILED;
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
	return show_commits(cli, range);
}

/* "refs/llmc/salvage/adam/X" becomes the branch salvage/adam/X. */
static char *
branch_name(const char *ref)
{
	return xstrdup(ref + strlen("refs/llmc/"));
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
	name = args->flags[FLAG_BRANCH] != NULL ?
	    xstrdup(args->flags[FLAG_BRANCH]) :
	    branch_name(ref);
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

static const struct {
	const char *name;
	int args;
	int (*run)(struct cli *cli, const struct cli_args *args);
} salvage_verbs[] = {
	{ "list", 0, salvage_list },
	{ "show", 1, salvage_show },
	{ "restore", 1, salvage_restore },
};

static int
salvage_run(struct cli *cli, const struct cli_args *args)
{
	for (size_t i = 0; i < nitems(salvage_verbs); i++) {
		if (strcmp(salvage_verbs[i].name, args->list[0]) != 0)
			continue;
		if (args->count != salvage_verbs[i].args + 1)
			return cli_misuse(cli, &cmd_salvage,
			    "salvage %s takes %s", salvage_verbs[i].name,
			    salvage_verbs[i].args == 0 ? "no argument" :
							 "one ref");
		if (args->flags[FLAG_BRANCH] != NULL &&
		    salvage_verbs[i].run != salvage_restore)
			return cli_misuse(cli, &cmd_salvage,
			    "--branch works only with restore");
		return salvage_verbs[i].run(cli, args);
	}
	return cli_misuse(cli, &cmd_salvage,
	    "salvage %s: no such subcommand; use list, show or restore",
	    args->list[0]);
}

#define REF                                         \
	{                                           \
		.name = "ref", .type = SHAPE_STRING \
	}
#define COMMIT                                             \
	{                                                  \
		.name = "commit_sha", .type = SHAPE_STRING \
	}

static const struct shape listed_shape = {
	.fields =
	    (const struct shape_field[]){
		REF,
		COMMIT,
		{ .name = "worker", .type = SHAPE_STRING },
		{ .name = "date", .type = SHAPE_STRING },
		{ .name = "subject", .type = SHAPE_STRING },
		{ .name = NULL },
	    },
};

static const struct shape shown_shape = {
	.fields =
	    (const struct shape_field[]){
		REF,
		COMMIT,
		{ .name = "changed_files",
		    .type = SHAPE_ARRAY,
		    .of =
			&(const struct shape){
			    .fields =
				&(const struct shape_field){
				    .type = SHAPE_STRING },
			} },
		{ .name = NULL },
	    },
};

static const struct shape restored_shape = {
	.fields =
	    (const struct shape_field[]){
		REF,
		COMMIT,
		{ .name = "branch", .type = SHAPE_STRING },
		{ .name = NULL },
	    },
};

static const struct shape salvage_shape = {
	.fields =
	    (const struct shape_field[]){
		{ .name = "list",
		    .type = SHAPE_ARRAY,
		    .of =
			&(const struct shape){
			    .fields =
				&(const struct shape_field){
				    .type = SHAPE_OBJECT, .of = &listed_shape },
			} },
		{ .name = "show", .type = SHAPE_OBJECT, .of = &shown_shape },
		{ .name = "restore",
		    .type = SHAPE_OBJECT,
		    .of = &restored_shape },
		{ .name = NULL },
	    },
};

const struct cli_command cmd_salvage = {
	.name = "salvage",
	.usage = "list | show REF | restore REF [--branch NAME]",
	.summary = "list and restore work that was taken from a worker",
	.help =
	    "Before a reset, a nuke or anything else takes work from a worker, "
	    "its commits\nand changes are saved as a ref. Write REF as list "
	    "shows it: WORKER/TIME\n\nlist     what was saved, newest first\n"
	    "show     its commits, with their changes\nrestore  create a "
	    "branch from it, salvage/REF by default\n",
	.flags = salvage_flags,
	.min_args = 1,
	.max_args = 2,
	.needs = CLI_NEEDS_REPO,
	.shape = &(const struct shape_field){ .type = SHAPE_ONE,
	    .of = &salvage_shape },
	.run = salvage_run,
};
