/* SPDX-License-Identifier: ISC */

/* A team's repository: a bare one as origin, the root, and somebody else's
 * clone. Nothing is lost, forced or red, and both ends have the same. */
#include "autorun.h"
#include "faults.h"

const int unit_timeout = 600; /* seconds, each */

#define LANDINGS 8 /* ORIGIN_LANDINGS: 50 in the soak */

void
unit_before(void)
{
	fleet_begin();
	auto_ails("");
	e2e_expect(
	    e2e_sh(fleet_root(),
		"git init -q --bare -b main \"$FLEET/origin.git\" && "
		/* Nobody may rewrite what is there. */
		"git -C \"$FLEET/origin.git\" config "
		"receive.denyNonFastForwards true && "
		"git -C \"$FLEET/origin.git\" config core.logAllRefUpdates "
		"true && git remote add origin \"$FLEET/origin.git\" && "
		"git push -q -u origin main && git clone -q "
		"\"$FLEET/origin.git\" \"$FLEET/other\" && cd \"$FLEET/other\" "
		"&& git config user.name Other && git config user.email "
		"o@example.invalid"),
	    0, NULL);
}

/* A commit of somebody else's, whoever pushes at the same time; it says how
 * many there are. */
static const char others[] =
    "others() { cd \"$FLEET/other\" && echo \"$1\" >\"their-$1\" && ls their-* "
    "| wc -l >count && git add . && git commit -q -m \"their $1\" && until "
    "git push -q 2>/dev/null; do git pull -q --rebase || exit 1; done; }; ";

static void
others_push(const char *name)
{
	e2e_expect(e2e_sh(fleet_root(), e2e_path("%sothers %s", others, name)),
	    0, NULL);
}

static void
add_tasks(int count)
{
	for (int i = 0; i < count; i++)
		auto_task(e2e_path("%02d.md", i),
		    "Work %d\nfake: commit work-%d.txt x", i, i);
}

/* Both ends have the same, each landing and each push of others is there once,
 * and nothing was ever taken back, or pushed by llmc that was not checked as it
 * is. */
static void
expect_all(int landings, int pushes)
{
	cleanup_free char *script = xasprintf(
	    "set -e; git fetch -q; [ \"$(git rev-parse main)\" = \"$(git "
	    "rev-parse origin/main)\" ]; [ -z \"$(git status --porcelain "
	    "-uno)\" ]; [ \"$(git ls-files 'work-*' | wc -l)\" = %d ]; "
	    "[ \"$(git ls-files 'their-*' | wc -l)\" = %d ]; "
	    "[ \"$(git rev-list --count main --merges)\" = 0 ]; "
	    "[ \"$(git log --format=%%s main | sort | uniq -d | wc -l)\" = 0 "
	    "]; cd \"$FLEET/origin.git\"; last=; "
	    "for c in $(git log -g --reverse --format=%%H main); do "
	    "[ -z \"$last\" ] || git merge-base --is-ancestor $last $c; "
	    "last=$c; [ -z \"$(git log -1 --format='%%(trailers:key="
	    "Llmc-Task)' $c)\" ] || [ ! -e \"$FLEET/checked\" ] || grep -q "
	    "$(git rev-parse \"$c^{tree}\") \"$FLEET/checked\"; done",
	    landings, pushes);
	struct e2e_run *run = e2e_sh(fleet_root(), script);

	ck_assert_msg(run->status == 0, "%s%s: %s", run->out, run->err,
	    e2e_shown(e2e_git(fleet_root(), "log", "--oneline", "--graph",
		"main", "origin/main", NULL)));
}

TEST(a_person_pushes_beside_landings)
{
	int landings = e2e_number("ORIGIN_LANDINGS", LANDINGS);

	auto_set("repo.upstream", "push");
	auto_set("auto.concurrency", "3");
	/* Red, if what others have pushed is there in part. */
	auto_set("auto.check_command",
	    e2e_path("test \"$(ls their-* 2>/dev/null | wc -l)\" -eq \"$(cat "
		     "count 2>/dev/null || echo 0)\" && git rev-parse "
		     "'HEAD^{tree}' >>'%s/checked'",
		unit_scratch()));
	add_tasks(landings);
	auto_launch("--until-empty", NULL);
	e2e_expect(
	    e2e_sh(fleet_root(),
		e2e_path("%sn=0; while [ $n -lt %d ]; do n=$((n+1)); (others "
			 "$n); sleep 0.3; done",
		    others, landings)),
	    0, NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	others_push("last");
	/* What came last is followed by the next run. */
	auto_task("99.md", "Work 99\nfake: commit work-99.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	expect_all(landings + 1, landings + 1);
	auto_no_complaints();
}

/* Work goes on and lands; it is pushed when origin is back. */
TEST(origin_is_away_for_a_while)
{
	auto_set("repo.upstream", "push");
	e2e_expect(
	    e2e_sh(NULL, "mv \"$FLEET/origin.git\" \"$FLEET/away\""), 0, NULL);
	add_tasks(2);
	auto_up(NULL);
	auto_wait_finished("landed", 2);
	auto_wait_shell("\"$LLMC\" status | grep -q 'not pushed: origin does "
			"not have .* away for '");
	e2e_expect(
	    e2e_sh(NULL, "mv \"$FLEET/away\" \"$FLEET/origin.git\""), 0, NULL);
	fleet_do("resume", NULL);
	auto_wait_shell(
	    "[ \"$(git rev-parse main)\" = \"$(git ls-remote origin "
	    "refs/heads/main | cut -f1)\" ]");
	auto_wait_shell("! \"$LLMC\" status | grep -q 'not pushed'");
	auto_drain();
	expect_all(2, 0);
}

TEST(a_protected_branch_is_asked_about)
{
	auto_set("repo.upstream", "push");
	e2e_script(e2e_path("%s/origin.git/hooks/pre-receive", unit_scratch()),
	    "#!/bin/sh\necho main is protected >&2\nexit 1\n");
	add_tasks(1);
	auto_up(NULL);
	auto_wait_shell("\"$LLMC\" asks | grep -q 'main is protected'");
	e2e_has(fleet_do("asks", NULL)->out, "repo.upstream follow");
	e2e_has(fleet_do("status", NULL)->out, "origin does not take it");
	ck_assert_int_eq(auto_landed(), 0);
	unlink(e2e_path("%s/origin.git/hooks/pre-receive", unit_scratch()));
	fleet_do("resume", NULL);
	auto_wait_finished("landed", 1);
	auto_wait_shell("! \"$LLMC\" asks | grep -q protected");
	auto_drain();
	expect_all(1, 0);
}

TEST(a_diverged_branch_is_asked_about)
{
	auto_set("repo.upstream", "follow");
	e2e_expect(
	    e2e_sh(fleet_root(),
		"echo mine >mine && git add mine && git commit -qm mine"),
	    0, NULL);
	others_push("one");
	auto_up(NULL);
	auto_wait_shell("\"$LLMC\" asks | grep -q 'git rebase '");
	e2e_has(fleet_do("status", NULL)->out, "diverged");
	e2e_expect(e2e_sh(fleet_root(),
		       "git fetch -q && git rebase -q origin/main && git push "
		       "-q"),
	    0, NULL);
	fleet_do("resume", NULL);
	auto_wait_shell("! \"$LLMC\" asks | grep -q 'git rebase '");
	auto_drain();
	expect_all(0, 1);
}

/* A task begins on what others have pushed, and nothing is pushed. */
TEST(a_task_begins_on_what_others_pushed)
{
	auto_set("repo.upstream", "follow");
	others_push("one");
	auto_task("a.md",
	    "Look\nfake: run cat their-one >seen && git add seen && git commit "
	    "-q -m Saw");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("their one", "Saw", NULL);
	ck_assert_str_eq(e2e_read(e2e_path("%s/seen", fleet_root())), "one\n");
	e2e_has(e2e_llmc(fleet_root(), "doctor", NULL)->out,
	    "origin answers after ");
	e2e_has(e2e_git(fleet_root(), "log", "-1", "--format=%s", "origin/main",
		    NULL),
	    "their one");
}

/* The same for a task that a person gives. An origin that does not answer is
 * not waited for. */
TEST_ROWS(a_task_by_hand_begins_on_what_others_pushed, 2)
{
	auto_set("repo.upstream", "follow");
	auto_set("repo.fetch_every", "24h");
	auto_tune("look_least=0");
	if (_i == 1)
		e2e_hurry(10);
	fleet_up();
	fleet_add("adam");
	others_push("one");
	if (_i == 1)
		e2e_expect(e2e_sh(fleet_root(),
			       "git remote set-url origin ssh://x/y && git "
			       "config core.sshCommand 'sleep 100 #'"),
		    0, NULL);
	fleet_start(
	    "adam", "fake: run ls >seen; git add seen && git commit -q -m Saw");
	fleet_wait("adam", "needs_review");
	ck_assert_int_eq(
	    e2e_sh(fleet_worktree("adam"), "grep their-one seen")->status, _i);
}

/* The daemon is killed in the middle of a push: before origin has it, and when
 * it has it and the answer is lost. */
TEST_ROWS(killed_while_it_pushes, 2)
{
	const char *hook = _i == 0 ? "pre-receive" : "post-receive";

	auto_set("repo.upstream", "push");
	e2e_script(e2e_path("%s/origin.git/hooks/%s", unit_scratch(), hook),
	    e2e_path("#!/bin/sh\n%s\n", auto_gate("push")));
	add_tasks(1);
	auto_up(NULL);
	auto_wait_gate("push");
	auto_kill9_daemon();
	unlink(e2e_path("%s/origin.git/hooks/%s", unit_scratch(), hook));
	auto_open_gate("push");
	if (_i == 1)
		others_push("one");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	if (_i == 1) {
		auto_task("99.md", "Work 99\nfake: commit work-99.txt x");
		ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	}
	expect_all(1 + _i, _i);
}

static struct faults push_story = { .sample = 2 };

/* The daemon is killed right before one of its steps, from the end of the work
 * to the end of the landing, while somebody else has pushed. */
TEST_ROWS(killed_at_a_step_of_a_push, faults_rows(&push_story))
{
	if (!faults_begin(&push_story, _i))
		return;
	auto_set("repo.upstream", "push");
	e2e_env("FAKE_CLAUDE_GOES_ON=1");
	auto_task("a.md", "Work\nfake: run %s\nfake: commit work-1.txt x",
	    auto_gate("work"));
	auto_launch("--until-empty", NULL);
	auto_wait_gate("work");
	others_push("one");
	faults_arm();
	auto_open_gate("work");
	faults_run();
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(auto_finished("landed"), 1);
	expect_all(1, 1);
}
