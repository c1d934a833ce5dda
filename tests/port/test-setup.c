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
	cleanup_free char *whose = identity_command(w->repo->root);

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
	setup_free(setup_begin(&w->spec, setup_world_done, w));
	w->spec.command = "echo $$ >p; mv p pid; exec sleep 600";
	w->setup = setup_begin(&w->spec, setup_world_done, w);
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

/* How often the command has run. */
static int
runs(struct setup_world *w)
{
	return (int)strlen(repo_wt(w->repo, "tr -d '\\n' <runs"));
}

TEST(test_files_with_other_contents_make_it_due_again)
{
	cleanup_world struct setup_world *w = setup_world_new();
	static const char *const when[] = { "a.lock", "b.lock", NULL };
	static const struct {
		const char *change;
		bool again;
	} rows[] = {
		{ "true", false }, { "touch a.lock", false },
		{ "echo 2 >a.lock", true },
		{ "cp a.lock x; mv x a.lock", false },
		{ "echo 1 >b.lock", true }, { "rm b.lock", true },
		{ "ln -s a.lock b.lock", false }, /* no file */
	};
	int count = 1;

	repo_wt(w->repo, "echo 1 >a.lock");
	w->spec.command = "echo x >>runs";
	w->spec.when = when;
	setup_world_ready(w);
	for (size_t i = 0; i < nitems(rows); i++) {
		repo_wt(w->repo, rows[i].change);
		if (setup_is_due(&w->spec))
			setup_world_ready(w);
		count += rows[i].again;
		ck_assert_msg(runs(w) == count, "%s", rows[i].change);
	}
	/* One that fails, or is killed, has not been done, whatever the file
	 * says afterwards. */
	repo_wt(w->repo, "echo 3 >a.lock");
	w->spec.command = "echo x >>runs; exit 1";
	setup_world_fails(w, -ECHILD, "status 1");
}

/* Only a look, as after the tree of a check was put elsewhere. */
TEST(test_a_look_tells_that_it_is_stale)
{
	cleanup_world struct setup_world *w = setup_world_new();
	static const char *const when[] = { "lock", NULL };

	repo_wt(w->repo, "echo 1 >lock");
	w->spec.command = "echo x >>runs; echo 2 >>lock";
	w->spec.when = when;
	setup_world_ready(w);
	w->spec.look_only = true;
	/* It has written the file itself: both contents are set up. */
	setup_world_ready(w);
	repo_wt(w->repo, "echo 1 >lock");
	setup_world_ready(w);
	repo_wt(w->repo, "echo 3 >lock");
	ck_assert_int_eq(setup_world_run(w), -ESTALE);
	ck_assert_int_eq(runs(w), 1);
}

TEST(test_output_is_in_the_log_and_variables_are_set)
{
	cleanup_world struct setup_world *w = setup_world_new();
	static const char *const env[] = { "LLMC_PORT=20020", NULL };
	const char *log = unit_path("none");

	w->spec.command = "echo port $LLMC_PORT; echo two >&2";
	w->spec.env = env;
	setup_world_ready(w);
	log = repo_sh(w->repo, "cat ../ann.setup.log");
	ck_assert_str_eq(log, "port 20020\ntwo");
}

TEST(test_folders_are_copied_before_the_command)
{
	cleanup_world struct setup_world *w = setup_world_new();
	static const char *const seed[] = { "deps", "a/b", "linked", NULL };

	repo_sh(w->repo,
	    "mkdir -p deps/bin a/b out && echo 1 >deps/one && chmod 555 "
	    "deps/one && ln -s ../one deps/bin/one && ln -s /etc deps/etc && "
	    "ln -s \"$R/deps/one\" deps/own && "
	    "touch -d 2020-01-01 deps/one && echo 2 >a/b/two && ln -s out "
	    "linked && mkfifo deps/pipe");
	w->spec.command = "ls -R deps a >list; cat deps/one a/b/two >got";
	w->spec.seed = seed;
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, "cat got"), "1\n2");
	ck_assert_str_eq(repo_wt(w->repo,
			     "readlink deps/bin/one deps/etc; stat -c '%a %Y' "
			     "deps/one; test -e linked || test -e deps/pipe || "
			     "echo no"),
	    "../one\n/etc\n555 1577836800\nno");
	/* A link into the other tree would let it write there. */
	ck_assert_str_eq(
	    repo_wt(w->repo,
		"test \"$(readlink deps/own)\" = \"$PWD/deps/one\"; echo $?"),
	    "0");
	/* A copy of its own: a tool that writes in place changes one only. */
	repo_wt(w->repo, "chmod u+w deps/one && echo 9 >deps/one");
	ck_assert_str_eq(repo_sh(w->repo, "cat deps/one"), "1");
	/* What is there stays. */
	unlink(w->stamp);
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, "cat deps/one"), "9");
	/* One that was killed in the middle is made again. */
	unlink(w->stamp);
	repo_sh(w->repo, "touch ../ann.setup.seed");
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, "cat deps/one"), "1");
}

/* No folder of other lock files, and none of a tree that others wrote. */
TEST(test_folders_come_from_a_tree_with_the_same_files)
{
	cleanup_world struct setup_world *w = setup_world_new();
	static const char *const seed[] = { "deps", NULL };
	static const char *const when[] = { "lock", NULL };

	repo_sh(w->repo, "mkdir deps && echo root >deps/x && echo 2 >lock");
	repo_wt(w->repo, "echo 1 >lock");
	w->spec.command = "cat deps/x >got 2>/dev/null || echo none >got";
	w->spec.seed = seed;
	w->spec.when = when;
	free(w->stamp);
	w->stamp = file_join(w->repo->base, "ann");
	w->spec.stamp = w->stamp;
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, "cat got"), "none");
	/* Another one was set up with the same. */
	repo_sh(w->repo,
	    "mkdir -p ../tree/deps && echo tree >../tree/deps/x && "
	    "{ head -n 2 ../ann; realpath ../tree; } >../other && rm ../ann");
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, "cat got"), "none");
	w->spec.trusts_others = true;
	unlink(w->stamp);
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, "cat got"), "tree");
}
