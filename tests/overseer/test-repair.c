/* SPDX-License-Identifier: ISC */

#include "repair-world.h"
#include "history.h"

/* The agent commits in its worktree. */
static const char fix[] = "cd .worktrees/overseer && echo fixed >fixed.txt && "
			  "git add fixed.txt && git commit -qm fix";

/* A file of what was saved. */
#define SAVED                          \
	"git show $(git for-each-ref " \
	"--format='%(refname)' refs/llmc/salvage/overseer):"

static void
expect_report(const char *words)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(file_read(w.log.data, 1 << 22, &text, NULL), 0);
	ck_assert_msg(strstr(text.data, words) != NULL, "%s", text.data);
}

/* --- in the checkout -------------------------------------------------- */

TEST(a_turn_that_ends_cleanly_completes_it)
{
	cleanup_free char *answer = NULL;

	world_begin(false);
	world_work();
	ck_assert_int_eq(w.o.failure.attempt, 1);
	world_finds();
	answer = world_stops();
	ck_assert_ptr_nonnull(strstr(answer, "\"result\":null"));
	world_until_told(REPAIR_COMPLETED, WORLD_FOUND);
	expect_report("Outcome: completed (" WORLD_FOUND ")");
}

TEST(one_that_leaves_changes_is_asked_to_tidy_up)
{
	cleanup_free char *first = NULL, *second = NULL;

	world_begin(false);
	repo_sh(w.repo, "echo mine >of-the-user.txt"); /* was there before */
	world_work();
	repo_sh(w.repo, "echo x >left.txt");
	first = world_stops();
	ck_assert_ptr_nonnull(strstr(first, "\"decision\":\"block\""));
	ck_assert_ptr_nonnull(strstr(first, "1 file is in "));
	repo_sh(w.repo, "git add left.txt && git commit -qm tidy");
	second = world_stops();
	ck_assert_ptr_nonnull(strstr(second, "\"result\":null"));
	world_until_told(REPAIR_COMPLETED, "the agent finished");
	expect_report("left.txt"); /* what changed */
}

TEST(no_key_is_in_the_record)
{
	world_begin(false);
	world_work();
	repo_sh(w.repo,
	    "echo sk-ant-0123456789abcdefghij >key.txt && git add key.txt && "
	    "git commit -qm fix");
	free(world_stops());
	world_until_told(REPAIR_COMPLETED, "the agent finished");
	expect_report("+[masked]");
}

TEST(one_that_does_not_tidy_up_needs_a_person)
{
	cleanup_free char *manual = NULL;

	world_begin(false);
	world_work();
	repo_sh(w.repo, "echo x >left.txt; echo y >too.txt");
	free(world_stops());
	free(world_stops());
	world_until_told(
	    REPAIR_GAVE_UP, "it left changes that are not committed");
	manual = history_manual_file(&w.o.workspace);
	ck_assert_ptr_nonnull(manual);
}

TEST(one_that_asks_for_a_person_gives_up)
{
	world_begin(false);
	world_work();
	repo_sh(w.repo, "echo help >.llmc/manual_intervention_needed_x.txt");
	free(world_stops());
	world_until_told(
	    REPAIR_GAVE_UP, "the agent says that a person is needed");
}

TEST(an_end_that_nobody_waits_for_is_judged_too)
{
	world_begin(false);
	world_work();
	repo_sh(w.repo, "echo x >left.txt");
	free(world_answer(world_hook(
	    "Notification", "{\"notification_type\":\"idle_prompt\"}")));
	world_until_typed("1 file is in ");
}

TEST(a_second_stop_is_not_judged_beside_the_first)
{
	cleanup_free char *first = NULL, *second = NULL;
	int a, b;

	world_begin(false);
	world_work();
	world_finds();
	a = world_hook("Stop", "{}");
	b = world_hook("Stop", "{}");
	second = world_answer(b);
	first = world_answer(a);
	ck_assert_ptr_nonnull(strstr(first, "\"result\":null"));
	ck_assert_ptr_nonnull(strstr(second, "\"result\":null"));
	world_until_told(REPAIR_COMPLETED, WORLD_FOUND);
}

TEST(other_methods_are_refused)
{
	static const char line[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"worker.start\"}\n";
	cleanup_free char *answer = NULL;
	int fd;

	world_begin(false);
	world_work();
	fd = world_hook("SubagentStop", "{}");
	free(world_answer(dup(fd)));
	ck_assert_int_eq(write(fd, line, strlen(line)), (ssize_t)strlen(line));
	answer = world_answer(fd);
	ck_assert_ptr_nonnull(strstr(answer, "-32601"));
}

/* --- in a worktree ---------------------------------------------------- */

TEST(a_fix_lands_as_one_commit)
{
	world_begin(true);
	world_work();
	ck_assert_str_eq(w.o.repair->cwd, w.session);
	repo_sh(w.repo, fix);
	repo_sh(w.repo,
	    "echo meanwhile >b.txt && git add b.txt && "
	    "git commit -qm meanwhile");
	free(world_stops());
	world_until_told(REPAIR_COMPLETED, "the fix has landed");
	ck_assert_str_eq(repo_sh(w.repo, "git log -2 --format=%s"),
	    "Repair by the overseer\nmeanwhile");
	ck_assert_str_eq(repo_sh(w.repo, "cat fixed.txt"), "fixed");
	ck_assert_str_eq(repo_sh(w.repo, "git rev-parse main"),
	    repo_sh(w.repo, "git -C .worktrees/overseer rev-parse HEAD"));
}

/* The rules for all work hold for it, too. */
static const struct {
	const char *key, *value, *more; /* a setting, and more of the fix */
	enum repair_outcome outcome;
	const char *words; /* NULL = it lands */
} rules[] = {
	{ "auto.check_command", "test -e fixed.txt && test ! -e .llmc", "",
	    REPAIR_COMPLETED, NULL },
	{ "auto.check_command", "echo why; echo not fixed; exit 1", "",
	    REPAIR_NO_FIX, "exited with status 1: not fixed" },
	{ "auto.check_command", "exit 75", "", REPAIR_NO_FIX, "status 75" },
	{ "repo.protected_paths", "[\"fixed.*\"]", "", REPAIR_NO_FIX,
	    "protected paths, which a person must look at: fixed.txt" },
	{ "repo.protected_paths", "[\"other\"]",
	    "; mkdir .llmc; echo x >.llmc/x; git add -f .llmc; git commit -qm x",
	    REPAIR_NO_FIX, "paths that never land: .llmc/x" },
};

TEST_ROWS(a_fix_is_checked_before_it_lands, nitems(rules))
{
	cleanup_free char *text = xasprintf("%s%s", fix, rules[_i].more);

	world_begin(true);
	world_set(rules[_i].key, rules[_i].value);
	world_work();
	repo_sh(w.repo, text);
	free(world_stops());
	world_until_over();
	ck_assert_msg(w.outcome == rules[_i].outcome, "%s", w.words.data);
	if (rules[_i].words != NULL)
		ck_assert_msg(strstr(w.words.data, rules[_i].words) != NULL,
		    "%s", w.words.data);
	ck_assert_str_eq(repo_sh(w.repo, "git log -1 --format=%s main"),
	    rules[_i].words == NULL ? "Repair by the overseer" : "first");
	if (rules[_i].words != NULL) {
		/* It is not lost, and the night goes on. */
		cleanup_free char *manual = history_manual_file(&w.o.workspace);

		ck_assert_ptr_null(manual);
		ck_assert_str_eq(repo_sh(w.repo, SAVED "fixed.txt"), "fixed");
	}
}

TEST(a_fix_that_somebody_made_needs_no_landing)
{
	world_begin(true);
	world_work();
	repo_sh(w.repo, fix);
	repo_sh(w.repo,
	    "echo fixed >fixed.txt && git add fixed.txt && "
	    "git commit -qm theirs");
	free(world_stops());
	world_until_told(REPAIR_COMPLETED, "there was nothing to land");
	ck_assert_str_eq(repo_sh(w.repo, "git log -1 --format=%s"), "theirs");
}

TEST(a_fix_that_conflicts_is_kept)
{
	world_begin(true);
	world_work();
	repo_sh(w.repo, fix);
	repo_sh(w.repo,
	    "echo other >fixed.txt && git add fixed.txt && "
	    "git commit -qm theirs");
	free(world_stops());
	world_until_over();
	ck_assert_int_eq(w.outcome, REPAIR_NO_FIX);
	ck_assert_ptr_nonnull(strstr(w.words.data,
	    "the fix conflicts with the default branch; what it left and did "
	    "not land is kept as refs/llmc/salvage/overseer/"));
	/* Also as it was before the rebase. */
	ck_assert_str_eq(repo_sh(w.repo,
			     "git log --format=%s $(git for-each-ref "
			     "--format='%(refname)' refs/llmc/salvage/overseer)"
			     " | grep -x fix"),
	    "fix");
}

TEST(a_checkout_in_the_way_keeps_the_fix)
{
	world_begin(true);
	world_work();
	repo_sh(w.repo, fix);
	repo_sh(w.repo, "echo dirty >>a.txt");
	free(world_stops());
	world_until_over();
	ck_assert_int_eq(w.outcome, REPAIR_NO_FIX);
	ck_assert_ptr_nonnull(strstr(w.words.data, "the fix cannot land: "));
}

TEST(what_is_in_the_way_is_moved_aside)
{
	world_begin(true);
	repo_sh(w.repo,
	    "mkdir -p .worktrees/overseer && "
	    "echo x >.worktrees/overseer/in-the-way");
	world_work();
	ck_assert_str_eq(w.o.repair->cwd, w.session);
	ck_assert_str_eq(
	    repo_sh(w.repo, "cat .worktrees/overseer.kept-*/in-the-way"), "x");
	repo_sh(w.repo, fix);
	free(world_stops());
	world_until_told(REPAIR_COMPLETED, "the fix has landed");
}

/* Not even then in the user's checkout. */
TEST(without_a_worktree_it_works_in_its_folder)
{
	world_begin(true);
	repo_sh(w.repo, "rmdir .worktrees 2>/dev/null; echo x >.worktrees");
	world_work();
	ck_assert_str_eq(w.o.repair->desk, w.o.repair->folder);
	world_finds();
	free(world_stops());
	world_until_told(REPAIR_COMPLETED, WORLD_FOUND);
}

/* One for a box never runs without it. */
TEST(without_a_worktree_nothing_runs_that_needs_a_box)
{
	world_begin(true);
	world_set("defaults.sandbox", "worktree");
	repo_sh(w.repo, "rmdir .worktrees 2>/dev/null; echo x >.worktrees");
	repair_begin(&w.o, world_repaired);
	world_until_over();
	ck_assert_int_eq(w.outcome, REPAIR_FAILED);
	ck_assert_ptr_nonnull(
	    strstr(w.words.data, "no worktree can be made for the repair: "));
	ck_assert_ptr_null(strstr(w.tmux->trace.data, "start"));
}

/* --- without a result -------------------------------------------------- */

TEST(one_that_changed_nothing_is_asked_and_not_completed)
{
	cleanup_free char *first = NULL, *second = NULL;

	world_begin(true);
	world_work();
	first = world_stops();
	ck_assert_ptr_nonnull(strstr(first, "\"decision\":\"block\""));
	ck_assert_ptr_nonnull(strstr(first, "/.llmc/remedy/finding.txt"));
	second = world_stops();
	ck_assert_ptr_nonnull(strstr(second, "\"result\":null"));
	world_until_told(
	    REPAIR_NO_FIX, "the agent changed nothing and wrote no finding");
}

TEST(a_finding_of_an_earlier_repair_does_not_count)
{
	cleanup_free char *first = NULL;

	world_begin(true);
	repo_sh(w.repo, "mkdir -p .llmc/remedy");
	world_finds();
	world_work();
	first = world_stops();
	ck_assert_ptr_nonnull(strstr(first, "\"decision\":\"block\""));
}

/* The agent may be in a box, and what it writes there is not followed. */
TEST(a_link_is_no_finding)
{
	world_begin(true);
	world_work();
	repo_sh(w.repo, "ln -s /etc/passwd .llmc/remedy/finding.txt");
	free(world_stops());
	free(world_stops());
	world_until_over();
	ck_assert_int_eq(w.outcome, REPAIR_NO_FIX);
}

TEST(what_is_not_committed_is_saved_and_the_fix_lands)
{
	cleanup_free char *first = NULL;

	world_begin(true);
	world_work();
	repo_sh(w.repo, fix);
	repo_sh(w.repo, "echo half >.worktrees/overseer/half.txt");
	first = world_stops();
	ck_assert_ptr_nonnull(strstr(first, "1 file is in "));
	free(world_stops());
	world_until_over();
	ck_assert_int_eq(w.outcome, REPAIR_COMPLETED);
	ck_assert_ptr_nonnull(strstr(w.words.data,
	    "the fix has landed; what it left and did not land is kept as "));
	ck_assert_str_eq(
	    repo_sh(w.repo, "cat fixed.txt; ls"), "fixed\na.txt\nfixed.txt");
	ck_assert_str_eq(repo_sh(w.repo, SAVED "half.txt"), "half");
}

TEST(a_record_that_cannot_be_written_is_said)
{
	world_begin(true);
	world_work();
	repo_sh(w.repo, "rm -r .llmc/logs; echo x >.llmc/logs");
	world_finds();
	free(world_stops());
	world_until_over();
	ck_assert_int_eq(w.outcome, REPAIR_COMPLETED);
	ck_assert_ptr_nonnull(strstr(w.words.data,
	    WORLD_FOUND "; there is no record of the repair: cannot write "));
	ck_assert_str_eq(w.log.data, "");
}

TEST(it_asks_for_a_person_in_its_folder)
{
	cleanup_free char *manual = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	world_begin(true);
	world_work();
	ck_assert_int_eq(
	    file_replace(w.o.repair->request, "buy a disk\n", 11, 0600, NULL),
	    0);
	free(world_stops());
	world_until_told(
	    REPAIR_GAVE_UP, "the agent says that a person is needed");
	manual = history_manual_file(&w.o.workspace);
	ck_assert_ptr_nonnull(manual);
	ck_assert_int_eq(file_read(manual, 4096, &text, NULL), 0);
	ck_assert_str_eq(text.data, "buy a disk");
}

TEST(an_agent_that_ends_during_the_landing_is_not_started_again)
{
	world_begin(true);
	world_work();
	repo_sh(w.repo, fix);
	free(world_stops());
	world_until_step("rebase");
	world_agent_exits();
	world_until_told(REPAIR_COMPLETED, "the fix has landed");
	ck_assert_str_eq(w.tmux->trace.data, "kill");
}

/* --- stopped, too late, dropped, in every step ------------------------- */

static const char setup[] = "setup"; /* a part of the step before it */

static const struct {
	const char *step;
	bool after_work;
	bool firm; /* it is finished anyway */
} steps[] = {
	{ "place", false, false },
	{ "stand", false, false },
	{ "reset the place", false, false },
	{ "facts", false, false },
	{ "status", false, false },
	{ "work", false, false },
	{ "rebase", true, false },
	{ "squash", true, false },
	{ "check the paths", true, false },
	{ "place of the check", true, false },
	{ setup, true, false },
	{ "check", true, false },
	{ "land", true, true },
	{ "end the session", true, true },
	{ "diff", true, true },
	{ "tidy", true, true },
};

static void
reach(size_t i)
{
	world_set("repo.setup_command", "touch ../in-setup; sleep 0.2");
	world_set("auto.check_command", "sleep 0.2");
	world_agent();
	repair_begin(&w.o, world_repaired);
	if (steps[i].after_work) {
		world_until_step("work");
		world_agent_ready();
		repo_sh(w.repo, fix);
		close(world_hook("Stop", "{}"));
	}
	if (steps[i].step == setup)
		world_until_file(".llmc/checks/in-setup");
	else
		world_until_step(steps[i].step);
	ck_assert_ptr_nonnull(w.o.repair);
}

TEST(it_can_be_stopped_in_every_step)
{
	for (size_t i = 0; i < nitems(steps); i++) {

		world_begin(true);
		reach(i);
		repair_stop(&w.o, false);
		repair_stop(&w.o, false);
		if (steps[i].firm)
			world_until_told(
			    REPAIR_COMPLETED, "the fix has landed");
		else
			world_until_over();
		if (!steps[i].firm) {
			ck_assert_int_eq(w.outcome, REPAIR_INTERRUPTED);
			ck_assert_ptr_eq(strstr(w.words.data,
					     "the overseer was told to stop"),
			    w.words.data);
		}
		ck_assert_str_eq(repo_sh(w.repo, "git log -1 --format=%s"),
		    steps[i].firm ? "Repair by the overseer" : "first");
		world_end();
	}
}

TEST(it_can_be_dropped_in_every_step)
{
	for (size_t i = 0; i < nitems(steps); i++) {

		world_begin(true);
		reach(i);
		repair_stop(&w.o, true);
		ck_assert_ptr_null(w.o.repair);
		ck_assert_int_eq(w.told, 1);
		ck_assert_int_eq(w.outcome, REPAIR_INTERRUPTED);
		expect_report("the overseer was told to stop at once");
		world_end();
		ck_assert_int_eq(w.told, 1);
	}
}

TEST(it_must_not_take_too_long)
{
	world_begin(true);
	reach(3); /* facts */
	loop_timer_restart(w.o.repair->op.deadline, 1);
	world_until_told(REPAIR_TIMED_OUT,
	    "it took longer than overseer.remediation_timeout");
}

TEST(an_agent_that_takes_too_long_is_interrupted_first)
{
	world_begin(false);
	world_work();
	loop_timer_restart(w.o.repair->op.deadline, 1);
	world_until_tmux("keys Escape");
	ck_assert(loop_timer_pending(w.o.repair->agent.wait));
	loop_timer_restart(w.o.repair->agent.wait, 1);
	world_until_told(REPAIR_TIMED_OUT,
	    "it took longer than overseer.remediation_timeout");
	ck_assert_str_eq(w.tmux->trace.data, "kill");
}

TEST(a_stop_that_is_being_judged_is_answered_all_the_same)
{
	cleanup_free char *answer = NULL;
	int fd;

	world_begin(false);
	world_work();
	fd = world_hook("Stop", "{}");
	world_until_looking();
	repair_stop(&w.o, false);
	answer = world_answer(fd);
	ck_assert_ptr_nonnull(strstr(answer, "\"result\":null"));
	world_until_told(REPAIR_INTERRUPTED, "the overseer was told to stop");
}

TEST(a_stop_while_the_session_is_started_again_starts_none)
{
	world_begin(false);
	world_work();
	world_agent_exits();
	w.tmux->held = true;
	world_until_tmux("kill");
	repair_stop(&w.o, false);
	fake_tmux_answer(w.tmux);
	world_until_told(REPAIR_INTERRUPTED, "the overseer was told to stop");
	ck_assert_str_eq(w.tmux->trace.data, "");
}
