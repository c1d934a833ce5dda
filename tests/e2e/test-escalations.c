/* SPDX-License-Identifier: ISC */

/* llmc escalations without a daemon, and what doctor says about channels. */
#include <string.h>
#include <sys/stat.h>

#include "e2e.h"
#include "json.h"
#include "mem.h"
#include "unit.h"

#define ID "01ARZ3NDEKTSV4RRFFQ69G5FAV"

static const char *root;

static void
channel(const char *lines)
{
	const char *config = e2e_path("%s/.llmc/config.toml", root);

	e2e_write(config,
	    e2e_path("%s\n[people.channels.x]\n%s", e2e_read(config), lines));
}

/* Something waits for a channel that there is none of any more. */
static void
waiting(const char *more)
{
	e2e_sh(root, "mkdir -p .llmc/outbox/done");
	e2e_write(e2e_path("%s/.llmc/outbox/" ID ".json", root),
	    e2e_path("{\"id\":\"" ID "\",\"timestamp\":\"2026-01-01\","
		     "\"level\":\"critical\",\"title\":\"it is stuck\","
		     "\"signature\":\"s\",%s\"channels\":[{\"channel\":\"y\","
		     "\"state\":\"waiting\",\"attempts\":2}]}",
		more));
}

static void
says(const struct e2e_run *run, const char *words)
{
	ck_assert_int_eq(run->status, 0);
	e2e_has(run->out, words);
}

START_TEST(a_channel_is_tried_and_the_result_is_told)
{
	const char *file = e2e_path("%s/told", unit_scratch());

	root = e2e_workspace("try");
	channel(
	    e2e_path("type = \"command\"\ncommand = \"cat >'%s'\"\n", file));
	says(e2e_llmc(root, "escalations", "test", "x", NULL), "x: sent.");
	e2e_has(e2e_read(file), "\"class\":\"test\"");
	e2e_expect(e2e_llmc(root, "escalations", "test", "z", NULL), 1,
	    "there is no channel z");
}
END_TEST

START_TEST(a_channel_that_fails_says_why)
{
	root = e2e_workspace("fails");
	channel("type = \"command\"\ncommand = \"echo no luck >&2; exit 3\"\n");
	e2e_expect(
	    e2e_llmc(root, "escalations", "test", "x", NULL), 1, "no luck");
}
END_TEST

START_TEST(what_waits_is_listed_and_marked_as_seen)
{
	struct json_object *list;

	root = e2e_workspace("list");
	says(e2e_llmc(root, "escalations", "list", NULL), "Nothing");
	waiting("");
	says(
	    e2e_llmc(root, "escalations", "list", NULL), "y waiting (2 tries)");
	list =
	    e2e_json(e2e_llmc(root, "--json", "escalations", "list", NULL), 0);
	ck_assert_uint_eq(json_object_array_length(list), 1);
	e2e_expect(e2e_llmc(root, "escalations", "ack", "nothing", NULL), 1,
	    "no such escalation");
	says(e2e_llmc(root, "escalations", "ack", "9g5fav", NULL),
	    ID " is marked as seen.");
	says(e2e_llmc(root, "escalations", "list", NULL), "Nothing");
	says(e2e_llmc(root, "escalations", "list", "--all", NULL), "y skipped");
	ck_assert(
	    e2e_exists(e2e_path("%s/.llmc/outbox/done/" ID ".json", root)));
	ck_assert(!e2e_exists(e2e_path("%s/.llmc/outbox/" ID ".json", root)));
}
END_TEST

START_TEST(an_answer_needs_somebody_who_waits)
{
	root = e2e_workspace("answer");
	waiting("");
	e2e_expect(e2e_llmc(root, "escalations", "answer", ID, "yes", NULL), 1,
	    "nobody waits for an answer");
	waiting("\"goal\":\"goal_x\",\"node\":\"T1\",");
	e2e_expect(e2e_llmc(root, "escalations", "answer", ID, "yes", NULL), 1,
	    "goals are off");
	waiting("\"worker\":\"adam\",");
	e2e_expect(e2e_llmc(root, "escalations", "answer", ID, "yes", NULL), 1,
	    "adam does not wait for this answer any more");
	waiting("\"worker\":\"adam\",\"answer\":\"no\",");
	e2e_expect(e2e_llmc(root, "escalations", "answer", ID, "yes", NULL), 1,
	    "it was answered already: no");
	/* It is not lost, nor marked as seen. */
	says(e2e_llmc(root, "escalations", "list", NULL), "adam");
}
END_TEST

START_TEST(doctor_looks_at_tokens)
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
END_TEST

START_TEST(a_channel_of_a_wrong_kind_is_told_with_its_line)
{
	root = e2e_workspace("wrong");
	channel("type = \"pigeon\"\n");
	e2e_expect(e2e_llmc(root, "config", "list", NULL), 1,
	    "people.channels.x.type: expected one of");
}
END_TEST

START_TEST(init_says_which_commands_the_channels_of_a_clone_run)
{
	root = e2e_repo("clone");
	e2e_sh(root, "mkdir .llmc");
	e2e_write(e2e_path("%s/.llmc/config.toml", root),
	    "[people.channels.x]\ntype = \"command\"\ncommand = \"bait\"\n");
	says(e2e_llmc(root, "init", NULL),
	    "  people.channels.x.command = \"bait\"\n");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("escalations");

	unit_case(suite, "escalations",
	    (const TTest *const[]){ a_channel_is_tried_and_the_result_is_told,
		a_channel_that_fails_says_why,
		what_waits_is_listed_and_marked_as_seen,
		an_answer_needs_somebody_who_waits, doctor_looks_at_tokens,
		a_channel_of_a_wrong_kind_is_told_with_its_line,
		init_says_which_commands_the_channels_of_a_clone_run, NULL });
	return suite;
}
