/* SPDX-License-Identifier: ISC */

/* A real worktree is set up: command, stamp. Copying files is tested in
 * test-copy. */
#include "identity.h"
#include "setup-world.h"

TEST(test_nothing_to_do_is_not_due)
{
	cleanup_world struct setup_world *w = setup_world_new();

	ck_assert(!setup_is_due(&w->spec));
	w->spec.copy_files = NULL;
	ck_assert(!setup_is_due(&w->spec));
	ck_assert_int_eq(setup_world_run(w), 0);
	w->spec.command = "true";
	ck_assert(setup_is_due(&w->spec));
}

TEST(test_command_runs_in_the_worktree_after_the_files)
{
	cleanup_world struct setup_world *w = setup_world_new();

	repo_sh(w->repo, "echo 1 >env");
	setenv("GIT_DIR", "/no/where", 1);
	w->files[0] = "env";
	w->spec.command = "cat env >got && git rev-parse --abbrev-ref HEAD "
			  ">>got";
	setup_world_ready(w);
	unsetenv("GIT_DIR");
	ck_assert_str_eq(repo_wt(w->repo, "cat got"), "1\nllmc/ann");
}

/* What it runs is the worker's. */
TEST(test_command_is_no_person)
{
	cleanup_world struct setup_world *w = setup_world_new();
	cleanup_free char *whose = identity_command(w->spec.root);

	w->spec.command = "printf LLMC_COMMAND=%s \"$LLMC_COMMAND\" >got";
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, "cat got"), whose);
}

TEST(test_failed_command_is_told_with_its_last_words)
{
	cleanup_world struct setup_world *w = setup_world_new();

	w->spec.command = "echo made it; echo 'no  such\tthing' >&2; exit 3";
	setup_world_fails(w, -ECHILD,
	    "repo.setup_command exited with status 3: made it no such thing");
	w->spec.command = "exit 4";
	setup_world_fails(
	    w, -ECHILD, "repo.setup_command exited with status 4");
	ck_assert_ptr_null(strchr(w->err.msg, ':'));
	w->spec.command = "kill -9 $$";
	setup_world_fails(w, -ECHILD, "repo.setup_command killed by SIGKILL");
	/* Only the end of a long text, not from the middle of a character, and
	 * nothing that moves a cursor. */
	w->spec.command = "for i in $(seq 2000); do printf '\\303\\251'; done; "
			  "printf '\\033[2J the end'; false";
	setup_world_fails(w, -ECHILD, "\\x1b[2J the end");
	ck_assert_ptr_nonnull(strstr(w->err.msg, "status 1: ...\xc3\xa9"));
}

TEST(test_command_that_takes_too_long_is_ended)
{
	cleanup_world struct setup_world *w = setup_world_new();

	w->spec.command = "echo begun; exec sleep 600";
	w->spec.timeout_ms = 200;
	setup_world_fails(w, -ECHILD, "; it was stopped after 2");
	ck_assert_ptr_nonnull(strstr(w->err.msg, "begun"));
}

TEST(test_missing_worktree_is_told)
{
	cleanup_world struct setup_world *w = setup_world_new();

	w->spec.worktree = unit_path("not there");
	w->spec.command = "true";
	setup_world_fails(w, -ENOENT, "not there");
}

static void
stop_when_there(void *arg)
{
	struct setup_world *w = arg;
	cleanup_free char *pid = file_join(w->repo->dir, "pid");

	if (file_exists(pid))
		loop_stop(w->repo->loop, 0);
}

TEST(test_freed_setup_ends_its_command_and_calls_nobody)
{
	cleanup_world struct setup_world *w = setup_world_new();
	struct loop_timer *look, *timer;

	/* Before it began at all. */
	w->spec.command = "echo >never";
	setup_free(setup_begin(w->repo->loop, &w->spec, setup_world_done, w));
	w->spec.command = "echo $$ >p; mv p pid; exec sleep 600";
	w->setup = setup_begin(w->repo->loop, &w->spec, setup_world_done, w);
	look = loop_every(w->repo->loop, 5, stop_when_there, w);
	timer = loop_after(w->repo->loop, 30000, setup_world_guard, NULL);
	loop_run(w->repo->loop);
	loop_timer_free(look);
	loop_timer_free(timer);
	setup_free(take_ptr(&w->setup));
	ck_assert_str_eq(
	    repo_wt(w->repo,
		"n=0; while grep -q '^State:[^Z]*$' /proc/$(cat pid)/status "
		"2>/dev/null && [ $n -lt 10000 ]; do n=$((n + 1)); done; "
		"grep '^State:[^Z]*$' /proc/$(cat pid)/status 2>/dev/null; "
		"ls"),
	    "a.txt\npid");
	ck_assert(!w->done);
	ck_assert(setup_is_due(&w->spec));
}

TEST(test_changed_setting_makes_it_due_again)
{
	cleanup_world struct setup_world *w = setup_world_new();

	w->files[0] = "ab";
	w->files[1] = "c";
	w->spec.command = "true";
	setup_world_ready(w);
	w->files[0] = "a";
	w->files[1] = "bc";
	ck_assert(setup_is_due(&w->spec));
	w->files[0] = "ab";
	w->files[1] = "c";
	ck_assert(!setup_is_due(&w->spec));
	w->spec.command = "true ";
	ck_assert(setup_is_due(&w->spec));
	w->spec.command = "true";
	w->spec.timeout_ms++;
	ck_assert(!setup_is_due(&w->spec));
}

TEST(test_worktree_made_anew_is_due_again)
{
	cleanup_world struct setup_world *w = setup_world_new();

	w->spec.command = "echo >ready";
	setup_world_ready(w);
	repo_sh(w->repo,
	    "git worktree remove --force \"$W\"; "
	    "git worktree add -q \"$W\" llmc/ann");
	ck_assert(setup_is_due(&w->spec));
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, "ls"), "a.txt\nready");
}

TEST(test_broken_stamp_is_due)
{
	cleanup_world struct setup_world *w = setup_world_new();

	w->spec.command = "true";
	setup_world_ready(w);
	ck_assert_int_eq(truncate(w->stamp, 20), 0);
	ck_assert(setup_is_due(&w->spec));
	ck_assert_int_eq(truncate(w->stamp, 1 << 20), 0);
	ck_assert(setup_is_due(&w->spec));
}

TEST(test_stamp_that_cannot_be_written_is_told)
{
	cleanup_world struct setup_world *w = setup_world_new();

	w->spec.command = "true";
	w->spec.stamp = unit_path("no/such/folder");
	ck_assert_int_eq(setup_world_run(w), -ENOENT);
	ck_assert_ptr_nonnull(strstr(w->err.msg, w->spec.stamp));
}

TEST(test_failure_of_git_names_the_setting)
{
	cleanup_world struct setup_world *w = setup_world_new();

	repo_wt(w->repo, "rm .git");
	w->files[0] = "a.txt";
	setup_world_fails(w, -ENOENT, "repo.copy_files: git ls-files: ");
}
