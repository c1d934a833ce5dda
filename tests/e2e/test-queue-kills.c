/* SPDX-License-Identifier: ISC */

/*
 * The daemon is killed at one step of a batch in the landing queue, or of a
 * revert, and started again. A step is a program that it starts or a file that
 * it puts in place (tests/faults/stepkill.c). In the end the branch has the
 * same tree as without the kill, every task has landed once, no check ran again
 * whose result was known, and the user's files are as they were.
 */
#include "autorun.h"
#include "faults.h"
#include "queue-scenarios.h"

const int unit_timeout = 180; /* seconds, each */

static struct faults batch_story = { .sample = 2 };
static struct faults revert_story = { .sample = 1 };
static struct faults held_story = { .sample = 2 };
static bool was_killed; /* in this test */

void
unit_before(void)
{
	fleet_begin();
}

static void
save_state(void)
{
	e2e_sh(fleet_root(),
	    e2e_path("\"$STATE\" >'%s'", unit_path("killed.json")));
}

/* A check that says when it begins and how it ended. The first one in a slot
 * waits until others are in the queue, so that several land at once. What a
 * worker in a sandbox has checked itself is checked again. */
static void
set_check(void)
{
	bool boxed = strcmp(e2e_sandbox(), "off") != 0;

	queue_check(e2e_path(
	    "tree=$(git rev-parse 'HEAD^{tree}'); say() { echo \"$1 $tree\" "
	    ">>'%s'; }\n%s"
	    "say began\n"
	    "if [ -n \"${LLMC_CHECK_SLOT-}\" ] && mkdir '%s' 2>/dev/null; then "
	    "n=0; until [ $(git for-each-ref refs/llmc/queue | wc -l) -ge 3 ] "
	    "|| [ $n -ge 40 ]; do sleep 0.1; n=$((n + 1)); done; fi\n"
	    "if [ -e a.txt ] && [ -e b.txt ] && [ ! -e both.txt ]; then "
	    "say failed; echo a and b need another file; "
	    "echo 'fake: commit both.txt x'; exit 1; fi\n"
	    "say passed",
	    unit_path("checks"),
	    boxed ? "[ -n \"${LLMC_CHECK_SLOT-}\" ] || say() { :; }\n" : "",
	    unit_path("first")));
}

static void
user_edits(void)
{
	auto_set("repo.dirty_checkout", "overlap");
	e2e_expect(e2e_sh(fleet_root(),
		       "echo one >notes.txt; echo s >staged.txt; git add .; "
		       "git commit -qm Files; echo two >>notes.txt; "
		       "echo t >>staged.txt; git add staged.txt; echo m "
		       ">mine.txt"),
	    0, NULL);
}

/* Had that tree passed, as far as the killed daemon had written down? */
static bool
had_passed(const char *tree)
{
	struct json_object *state = e2e_load(unit_path("killed.json"));
	struct json_object *book, *results;
	bool found = false;

	if (state == NULL ||
	    !json_object_object_get_ex(state, "landings", &book) ||
	    !json_object_object_get_ex(book, "checks", &book) ||
	    !json_object_object_get_ex(book, "results", &results)) {
		json_object_put(state);
		return false;
	}
	for (size_t i = 0; i < json_object_array_length(results); i++) {
		struct json_object *result =
		    json_object_array_get_idx(results, i);

		if (strcmp(json_string_or(result, "tree", ""), tree) == 0 &&
		    strtol(auto_member(result, "passes"), NULL, 10) > 0)
			found = true;
	}
	json_object_put(state);
	return found;
}

/* A check that has passed does not run again, unless its result was lost with
 * the daemon; one that has failed runs once more where somebody is blamed. */
static void
no_check_ran_again(void)
{
	const char *again = e2e_sh("/",
	    e2e_path("awk '$1 == \"began\" && passed[$2] { print $2 } "
		     "$1 == \"passed\" { passed[$2]++ } "
		     "$1 == \"failed\" && ++failed[$2] > %d { print $2 }' '%s'",
		2 + was_killed, unit_path("checks")))
				->out;

	for (const char *at = again; *at != '\0'; at += strcspn(at, "\n") + 1) {
		const char *tree = e2e_path("%.*s", (int)strcspn(at, "\n"), at);

		ck_assert_msg(was_killed && !had_passed(tree),
		    "%s was checked again", tree);
	}
}

static void
nothing_is_left(void)
{
	const char *root = fleet_root();

	ck_assert_str_eq(e2e_sh(root,
			     "git status --porcelain; cat notes.txt mine.txt "
			     "staged.txt")
			     ->out,
	    " M notes.txt\nM  staged.txt\n?? mine.txt\none\ntwo\nm\ns\nt\n");
	ck_assert_str_eq(
	    e2e_sh(root,
		"find .git '(' -name '*.lock' ! -name maintenance.lock ')' -o "
		"-name 'llmc*index*'; git for-each-ref refs/llmc/queue")
		->out,
	    "");
	e2e_git(root, "fsck", "--connectivity-only", "--no-dangling",
	    "--no-progress", NULL);
}

/* The same files, committed one by one with plain git. */
static void
tree_is(const char *files)
{
	const char *serial = e2e_sh(fleet_root(),
	    e2e_path("set -e; first=$(git log --format=%%H --grep='^Files$' "
		     "main); git clone -q -n . '%s'; cd '%s'; git checkout -q "
		     "$first\nfor f in %s; do echo x >$f; done; git add .; "
		     "git write-tree",
		unit_path("serial"), unit_path("serial"), files))
				 ->out;

	ck_assert_str_eq(
	    e2e_git(fleet_root(), "rev-parse", "main^{tree}", NULL), serial);
}

#define FINISHED                              \
	"\"$LLMC\" --json task list --all | " \
	"grep -c '\"outcome\": *\"landed\"'"
#define SETTLED                                                              \
	"[ $(" FINISHED ") -ge 4 ] && ! git for-each-ref refs/llmc/queue | " \
	"grep -q . && [ $(\"$STATE\" | grep -c '\"status\": *\"idle\"') "    \
	"-ge 4 ]"

TEST_ROWS(a_batch, faults_rows(&batch_story))
{
	if (!faults_begin(&batch_story, _i))
		return;
	user_edits();
	set_check();
	auto_set("auto.concurrency", "4");
	for (const char *name = "abcd"; *name != '\0'; name++)
		auto_task(e2e_path("%c.md", *name),
		    "%c.txt: x\nfake: run %s\nfake: commit %c.txt x", *name,
		    auto_gate("work"), *name);
	auto_up(NULL);
	auto_wait_events("task_assigned", NULL, 4);
	auto_wait_shell("[ $(\"$STATE\" | "
			"grep -c '\"status\": *\"working\"') -ge 4 ]");
	faults_arm();
	auto_open_gate("work");
	faults_wait(SETTLED, save_state);
	was_killed = faults_end(save_state);
	auto_history("a.txt: x", "b.txt: x", "c.txt: x", "d.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 4);
	ck_assert_int_eq(auto_finished(NULL), auto_finished("landed"));
	ck_assert_int_eq(auto_events("task_assigned", NULL), 4);
	ck_assert_int_eq(fleet_prompts("a and b need another file"), 1);
	tree_is("a.txt b.txt c.txt d.txt both.txt");
	auto_drain();
	no_check_ran_again();
	nothing_is_left();
	queue_never_red();
}

TEST_ROWS(a_revert, faults_rows(&revert_story))
{
	if (!faults_begin(&revert_story, _i))
		return;
	user_edits();
	set_check();
	e2e_dir("first"); /* no others come */
	auto_task("c.md", "C\nfake: commit c.txt x");
	auto_task("d.md", "D\nfake: commit d.txt x");
	auto_up(NULL);
	auto_wait_finished("landed", 2);
	auto_wait_state("workers.auto-1.status", "idle");
	faults_arm();
	e2e_sh(fleet_root(), "\"$LLMC\" landing revert c.md --yes");
	/* It may have been killed before it knew of it. */
	faults_wait("\"$LLMC\" landing | grep -q '^Nothing waits'", save_state);
	was_killed = faults_end(save_state);
	e2e_sh(fleet_root(),
	    "git cat-file -e main:c.txt 2>/dev/null && "
	    "\"$LLMC\" landing revert c.md --yes");
	auto_history("c.txt: x", "d.txt: x", "Revert \"c.txt: x\"", NULL);
	tree_is("d.txt");
	auto_drain();
	no_check_ran_again();
	nothing_is_left();
	queue_never_red();
}

/* The work of c.md changes a protected file: its worker does d.md, a person
 * sends the work back, and accepts what it is then. */
TEST_ROWS(work_that_waits_for_a_person, faults_rows(&held_story))
{
	if (!faults_begin(&held_story, _i))
		return;
	auto_set("repo.protected_paths", "[\"c.txt\"]");
	auto_set("defaults.refuse_commands", "[]");
	auto_task("c.md", "C\nfake: commit c.txt x");
	auto_up(NULL);
	faults_arm();
	faults_wait("\"$LLMC\" asks | grep -q 'llmc review t1'", NULL);
	auto_task("d.md", "D\nfake: commit d.txt x");
	faults_wait("[ $(" FINISHED ") -ge 1 ] && \"$LLMC\" landing | "
		    "grep -q 'held.*t1'",
	    NULL);
	/* It may have been killed before it knew of it. */
	faults_wait(
	    e2e_path("shown() { \"$LLMC\" review t1 --name-only | grep -q "
		     "more.txt; }; shown || [ -e '%s' ] || "
		     "{ \"$LLMC\" reject t1 'fake: commit more.txt x' && "
		     "touch '%s'; }; shown",
		unit_path("rejected"), unit_path("rejected")),
	    NULL);
	faults_wait("\"$LLMC\" accept t1; [ $(" FINISHED ") -ge 2 ]", NULL);
	faults_end(NULL);
	auto_history("d.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 2);
	ck_assert_str_eq(
	    e2e_sh(fleet_root(), "git show --name-only --format= main")->out,
	    "c.txt\nmore.txt\n");
	ck_assert_str_eq(
	    e2e_sh(fleet_root(), "git for-each-ref refs/llmc/queue")->out, "");
}
