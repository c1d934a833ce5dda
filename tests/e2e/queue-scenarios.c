/* SPDX-License-Identifier: ISC */

#include "autorun.h"
#include "queue-scenarios.h"
#include "scenarios.h"

void
queue_check(const char *script)
{
	const char *file = e2e_path("%s/check.sh", unit_scratch());

	e2e_script(file, e2e_path("#!/bin/sh\n%s\n", script));
	auto_set("auto.check_command", e2e_path("'%s'", file));
}

/* Prints a line for each commit that is wrong, and the number of commits. */
static const char replay_script[] =
    "set -u; check=$1 replay=$2 log=$(git rev-parse "
    "--git-path logs/refs/heads/main)\n"
    /* Each move begins where the one before it ended. */
    "awk 'NR > 1 && $1 != last { print \"no move to \" $1 } "
    "{ last = $2 }' \"$log\"\n"
    "[ \"$(tail -n 1 \"$log\" | cut -d ' ' -f 2)\" = "
    "\"$(git rev-parse main)\" ] || echo the last move is missing\n"
    "if [ \"$(\"$LLMC\" config get auto.land_mode)\" = each ]; then "
    "ids=$(git rev-list main); else ids=$(cut -d ' ' -f 2 \"$log\"); fi\n"
    "git clone -q --no-checkout . \"$replay\" && cd \"$replay\" || exit 1\n"
    "n=0; for id in $ids; do n=$((n + 1))\n"
    "git checkout -q -f --detach $id || exit 1\n"
    "\"$check\" >/dev/null 2>&1 || echo \"$id is red\"\n"
    "git reset -q --hard; git clean -qfd\n"
    "done; echo \"$n replayed\"\n";

int
queue_never_red(void)
{
	struct e2e_run *replay = e2e_sh(fleet_root(),
	    e2e_path("set -- '%s/check.sh' '%s/replay'\n%s", unit_scratch(),
		unit_scratch(), replay_script));
	int count = 0;
	char end = '\0';

	ck_assert_int_eq(replay->status, 0);
	ck_assert_msg(sscanf(replay->out, "%d replayed%c", &count, &end) == 2 &&
		count > 0 && end == '\n',
	    "%s", e2e_shown(replay->out));
	return count;
}

void
queue_is_serial(const char *base)
{
	struct e2e_run *serial = e2e_sh(fleet_root(),
	    e2e_path("set -eu; git clone -q . '%s/serial'; cd '%s/serial'\n"
		     "git config user.name S; git config user.email s@s\n"
		     "git checkout -q --detach '%s'\n"
		     "for id in $(git rev-list --reverse HEAD..origin/main)\n"
		     "do subject=$(git log -1 --format=%%s $id)\n"
		     "work=$(git for-each-ref --format='%%(objectname) "
		     "%%(subject)' refs/tags/work | grep -F \" $subject\")\n"
		     "git merge -q --squash ${work%%%% *} >/dev/null 2>&1\n"
		     "git commit -qm \"$subject\"\n"
		     "git diff --stat HEAD $id\n"
		     "done; git log --oneline '%s'..HEAD | wc -l",
		unit_scratch(), unit_scratch(), base, base));

	e2e_expect(serial, 0, NULL);
	ck_assert_str_eq(serial->out, e2e_path("%d\n", auto_landed()));
}

/* Two tasks that pass alone and fail together. */
START_TEST(a_pair_that_fails_together_is_repaired_before_it_lands)
{
	queue_check("[ ! -e a.txt ] || [ ! -e b.txt ] || [ -e both.txt ] || { "
		    "echo a and b need another file; "
		    "echo 'fake: commit both.txt x'; exit 1; }");
	auto_set("auto.concurrency", "2");
	auto_task(
	    "a.md", "A\nfake: run %s\nfake: commit a.txt x", auto_gate("work"));
	auto_task(
	    "b.md", "B\nfake: run %s\nfake: commit b.txt x", auto_gate("work"));
	auto_up("--until-empty", NULL);
	auto_wait_gate("work");
	auto_wait_events("task_assigned", NULL, 2);
	auto_open_gate("work");
	ck_assert_int_eq(auto_wait_exit(), 0);
	ck_assert_int_eq(queue_never_red(), 3);
	ck_assert_int_eq(auto_finished("landed"), 2);
	ck_assert_int_eq(auto_landed(), 2);
	ck_assert(e2e_exists(e2e_path("%s/a.txt", fleet_root())));
	ck_assert(e2e_exists(e2e_path("%s/b.txt", fleet_root())));
	ck_assert(e2e_exists(e2e_path("%s/both.txt", fleet_root())));
	/* It is told once, and what the check said. */
	ck_assert_int_eq(
	    auto_events("sent_back", "a and b need another file"), 1);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 2);
	auto_no_complaints();
}
END_TEST

void
queue_scenarios_add(Suite *suite, SFun begin)
{
	scenarios_add_ours(suite, begin,
	    a_pair_that_fails_together_is_repaired_before_it_lands);
}
