/* SPDX-License-Identifier: ISC */

/* llmc trust: the only change to the user's own Claude files, because the user
 * asks for it: this repository is trusted. */
#include "base.h"
#include "claude.h"
#include "cli-private.h"

enum {
	FLAG_ONBOARDING
};

static const struct cli_flag trust_flags[] = {
	[FLAG_ONBOARDING] = { "onboarding", NULL,
	    "also skip the screens of Claude Code's first start" },
	{ NULL, NULL, NULL },
};

static void
tell(struct cli *cli, const char *file, unsigned before, unsigned after)
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
		    "once by hand, or run: llmc trust --onboarding\n");
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
	tell(cli, file, before, after);
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
    CLI_FIELDS(SCHEMA_IS("file", STRING, NULL), SCHEMA_IS("root", STRING, NULL),
	SCHEMA_IS("changed", BOOL, NULL), SCHEMA_IS("trusted", BOOL, NULL),
	SCHEMA_IS("onboarded", BOOL, NULL));

const struct cli_command cmd_trust = {
	.name = "trust",
	.usage = "[--onboarding]",
	.summary = "have Claude Code trust this repository",
	.help = "Claude Code asks before it works in a new repository, and a "
		"worker has nobody to\nanswer. This writes the answer to "
		"~/.claude.json, and approves the key in\nANTHROPIC_API_KEY if "
		"that is set. Nothing else in the file changes.\n",
	.flags = trust_flags,
	.guarded = true,
	.needs = CLI_NEEDS_REPO,
	.shape = CLI_SHAPE(OBJECT, trust_shape),
	.run = trust_run,
};
