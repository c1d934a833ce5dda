/* SPDX-License-Identifier: ISC */

/* llmc mail, and mail between a person and agents that work and that rest. */
#include "goalrun.h"

void
unit_before(void)
{
	fleet_begin();
	goal_enable();
	auto_ails("");
}

static struct json_object *
show(const char *id)
{
	return e2e_json(fleet_do("--json", "mail", "show", id, NULL), 0);
}

static const char *
first_id(struct json_object *list)
{
	ck_assert_uint_eq(json_object_array_length(list), 1);
	return json_string_or(json_object_array_get_idx(list, 0), "id", "");
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_worker_gets_mail_confirms_it_and_answers)
{
	struct json_object *sent, *list;
	struct e2e_run *run;
	const char *id, *answer;

	auto_task("a.md",
	    "fake: run %s\nfake: tool mail_inbox\n"
	    "fake: tool mail_ack {\"id\":\"{{mail id}}\"}\n"
	    "fake: tool mail_send {\"to\":\"person\",\"subject\":\"plums it "
	    "is\",\"body\":\"Two kilos.\",\"ack_required\":true}\n"
	    "fake: commit a.txt a\n",
	    auto_gate("work"));
	auto_up(NULL);
	auto_wait_gate("work");
	sent = e2e_json(fleet_do("--json", "mail", "send", "auto-1",
			    "Take plums.\nNot pears.", "--kind", "instruction",
			    "--ack", NULL),
	    0);
	id = json_string_or(sent, "id", "");
	ck_assert_str_eq(json_string_or(sent, "to_worker", ""), "auto-1");
	ck_assert_str_eq(auto_member(show(id), "status"), "open");
	ck_assert_str_eq(auto_member(show(id), "subject"), "Take plums.");
	auto_open_gate("work");
	auto_wait_finished("landed", 1);
	ck_assert_str_eq(auto_member(show(id), "status"), "done");
	ck_assert_str_eq(auto_member(show(id), "ack_required"), "true");
	ck_assert_int_eq(fleet_prompts("| Not pears."), 1);
	run = fleet_do("mail", "show", id, NULL);
	e2e_has(run->out, "To:       auto-1 (actor:task:t1)\n");
	e2e_has(run->out, ", confirmed 2");
	e2e_has(run->out, "\nTake plums.\nNot pears.\n");
	/* Its answer. */
	list =
	    e2e_json(fleet_do("--json", "mail", "inbox", "--unread", NULL), 0);
	answer = first_id(list);
	run = fleet_do("mail", "inbox", NULL);
	e2e_has(run->out, "auto-1  you  info  new    plums it is\n");
	e2e_json(fleet_do("--json", "mail", "ack", answer, NULL), 0);
	ck_assert_str_eq(auto_member(show(answer), "status"), "done");
	e2e_has(fleet_do("mail", "inbox", "--unread", NULL)->out, "No mail.");
	list = e2e_json(fleet_do("--json", "mail", "inbox", "--all", NULL), 0);
	ck_assert_uint_eq(json_object_array_length(list), 2);
	auto_drain();
	auto_no_complaints();
	/* Whether or not a daemon runs. */
	fleet_fails("auto-1 has no task now; without one it gets no mail",
	    "mail", "send", "auto-1", "x", NULL);
}

TEST(mail_that_is_sent_while_no_daemon_runs_reaches_an_idle_worker)
{
	struct e2e_run *run;

	fleet_up();
	fleet_add("adam");
	fleet_kill(fleet_daemon_pid());
	run = e2e_sh(
	    fleet_root(), "echo Hello adam. | \"$LLMC\" mail send adam -");
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Sent to adam as M_");
	fleet_up();
	fleet_wait_prompt("| Hello adam.");
	ck_assert_int_eq(fleet_prompts("Subject: Hello adam."), 1);
}

TEST(wrong_words_are_answered_with_the_right_ones)
{
	const char *dir = fleet_root();

	fleet_fails(
	    "there is no eve: name a worker, HOST:WORKER, or an actor id (see: llmc "
	    "goal tree)",
	    "mail", "send", "eve", "x", NULL);
	e2e_json_error(e2e_llmc(dir, "--json", "mail", "show", "M_x", NULL), 1,
	    "E_NOT_FOUND", "there is no mail M_x; see: llmc mail inbox --all");
	e2e_json_error(e2e_llmc(dir, "--json", "mail", "ack", "M_x", NULL), 1,
	    "E_NOT_FOUND", "you have no mail M_x");
	e2e_expect(
	    e2e_llmc(dir, "mail", "send", "eve", "x", "--kind", "urgent", NULL),
	    2, "--kind urgent: give info, instruction or alert");
	e2e_expect(e2e_llmc(dir, "mail", "inbox", "--limit", "0", NULL), 2,
	    "--limit 0: give a number from 1 to 1000");
	e2e_expect(e2e_llmc(dir, "mail", "inbox", "--all", "--of", "eve", NULL),
	    2, "give --all or --of, not both");
	e2e_expect(e2e_llmc(dir, "mail", "inbox", "--ack", NULL), 2,
	    "mail inbox takes no --ack");
	e2e_expect(e2e_llmc(dir, "mail", "read", "M_x", NULL), 2,
	    "mail read: no such subcommand");
	e2e_expect(e2e_llmc(dir, "mail", "send", "eve", "two", "words", NULL),
	    2, "type: llmc mail send WHO [TEXT], with TEXT in quotes");
	/* Mail needs goals. */
	e2e_expect(
	    e2e_llmc(dir, "config", "set", "plan.enabled", "false", NULL), 0,
	    NULL);
	e2e_json_error(e2e_llmc(dir, "--json", "mail", "inbox", NULL), 1,
	    "failed", "llmc config set plan.enabled true");
}
