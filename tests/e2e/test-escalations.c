/* SPDX-License-Identifier: ISC */

/* llmc asks without a daemon, and what doctor says about channels. */
#include "e2e.h"

static const char *root;

static void
channel(const char *lines)
{
	const char *config = e2e_path("%s/.llmc/config.toml", root);

	e2e_write(config,
	    e2e_path("%s\n[people.channels.x]\n%s", e2e_read(config), lines));
}

static void
says(const struct e2e_run *run, const char *words)
{
	ck_assert_int_eq(run->status, 0);
	e2e_has(run->out, words);
}

TEST(a_channel_is_tried_and_the_result_is_told)
{
	const char *file = e2e_path("%s/told", unit_scratch());

	root = e2e_workspace("try");
	channel(
	    e2e_path("type = \"command\"\ncommand = \"cat >'%s'\"\n", file));
	says(e2e_llmc(root, "doctor", "channel", "x", NULL), "x: sent.");
	e2e_has(e2e_read(file), "\"class\":\"test\"");
	e2e_expect(e2e_llmc(root, "doctor", "channel", "z", NULL), 1,
	    "there is no channel z");
}

TEST(a_channel_that_fails_says_why)
{
	root = e2e_workspace("fails");
	channel("type = \"command\"\ncommand = \"echo no luck >&2; exit 3\"\n");
	e2e_expect(
	    e2e_llmc(root, "doctor", "channel", "x", NULL), 1, "no luck\n");
}

TEST(nothing_is_asked_where_nothing_has_happened)
{
	root = e2e_workspace("list");
	says(e2e_llmc(root, "asks", NULL), "Nothing is asked of you");
	says(e2e_llmc(root, "asks", "--all", NULL), "Nothing is asked of you");
	says(e2e_llmc(root, "asks", NULL), "Nothing");
	e2e_expect(e2e_llmc(root, "answer", "a1", "yes", NULL), 1,
	    "nothing is asked about a1");
	e2e_expect(e2e_llmc(root, "answer", "--yes", "a1", NULL), 1,
	    "nothing is asked about a1");
	e2e_expect(e2e_llmc(root, "answer", "a1", NULL), 2,
	    "say what: TEXT, --yes or --no");
	e2e_expect(e2e_llmc(root, "answer", "a1", "--yes", "--no", NULL), 2,
	    "not both");
}

TEST(doctor_looks_at_tokens)
{
	const char *file;

	root = e2e_workspace("doctor");
	file = e2e_path("%s/tok", root);
	channel("type = \"webhook\"\nurl = \"http://127.0.0.1:1/\"\n"
		"token_file = \"tok\"\n");
	e2e_has(e2e_llmc(root, "doctor", NULL)->out, "put the token there");
	e2e_write(file, "secret-value\n");
	ck_assert_int_eq(chmod(file, 0644), 0);
	e2e_has(e2e_llmc(root, "doctor", NULL)->out, "others can read");
	e2e_lacks(e2e_llmc(root, "doctor", NULL)->out, "secret-value");
	ck_assert_int_eq(chmod(file, 0600), 0);
	e2e_lacks(e2e_llmc(root, "doctor", NULL)->out, "others can read");
}

TEST(a_channel_of_a_wrong_kind_is_told_with_its_line)
{
	root = e2e_workspace("wrong");
	channel("type = \"pigeon\"\n");
	e2e_expect(e2e_llmc(root, "config", "list", NULL), 1,
	    "people.channels.x.type: expected one of");
}

TEST(init_says_which_commands_the_channels_of_a_clone_run)
{
	root = e2e_repo("clone");
	e2e_sh(root, "mkdir .llmc");
	e2e_write(e2e_path("%s/.llmc/config.toml", root),
	    "[people.channels.x]\ntype = \"command\"\ncommand = \"bait\"\n");
	says(e2e_llmc(root, "init", NULL),
	    "  people.channels.x.command = \"bait\"\n");
}
