/* SPDX-License-Identifier: ISC */

/* What repo.copy_files copies into a real worktree. */
#include <sys/resource.h>

#include "setup-world.h"

#include "git-worktree.h"

TEST(test_files_folders_and_patterns_are_copied)
{
	cleanup_world struct setup_world *w = setup_world_new();

	repo_sh(w->repo,
	    "echo secret >.env; chmod 640 .env; "
	    "mkdir -p 'dep s/in ner' bare; chmod 750 'dep s'; "
	    "echo tool >'dep s/in ner/tool'; "
	    "chmod 755 'dep s/in ner/tool'; ln -s tool 'dep s/in ner/link'; "
	    "ln -s /no/where 'dep s/dead'; : >'dep s/empty'; "
	    "mkfifo 'dep s/fifo'; "
	    "echo 1 >x1.local; echo 2 >x2.local; echo 3 >x3.other; "
	    "echo lit >'[x].local'");
	w->files[0] = "./.env";
	w->files[1] = "dep s//";
	w->files[2] = "x?.local";
	w->files[3] = "not there";
	w->files[4] = "not/there*";
	w->files[5] = "[x].local";
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo,
			     "find . -path ./.git -o -type f -printf '%P %m,' "
			     "-o -type l -printf '%P>%l,' | tr ',' '\\n' | "
			     "LC_ALL=C sort"),
	    ".env 640\n[x].local 644\na.txt 644\ndep s/dead>/no/where\n"
	    "dep s/empty 644\ndep s/in ner/link>tool\n"
	    "dep s/in ner/tool 755\nx1.local 644\nx2.local 644");
	ck_assert_str_eq(
	    repo_wt(w->repo,
		"cat .env 'dep s/in ner/tool' x?.local '[x].local'; "
		"stat -c %a 'dep s'"),
	    "secret\ntool\n1\n2\nlit\n750");
}

TEST(test_what_git_tracks_is_not_overwritten)
{
	cleanup_world struct setup_world *w = setup_world_new();

	repo_sh(w->repo,
	    "mkdir conf; echo base >conf/t; git add conf; "
	    "git commit -qm conf");
	repo_wt(w->repo, "git merge -q main");
	repo_sh(
	    w->repo, "echo dirty >a.txt; echo dirty >conf/t; echo new >conf/u");
	w->files[0] = "a.txt";
	w->files[1] = "con*";
	setup_world_ready(w);
	ck_assert_str_eq(
	    repo_wt(w->repo, "cat a.txt conf/t conf/u"), "one\nbase\nnew");
}

static void
turned(const struct err *err, void *arg)
{
	repo_answered(arg, err);
}

/* What a worker in a sandbox has; git runs there in its box only. */
TEST(test_a_clone_gets_copies_and_keeps_what_it_tracks)
{
	cleanup_world struct setup_world *w = setup_world_new();
	static const struct git_turn to_clone = { .branch = "llmc/ann",
		.onto = "main",
		.keep = "refs/llmc/salvage/ann/s1-refs" };

	repo_attached_only();
	w->repo->detached = w->repo->may_clone = true;
	repo_wt(w->repo, "git checkout -q --detach");
	repo_begin(w->repo);
	git_turn_to_clone(
	    w->repo->git, w->repo->dir, &to_clone, turned, w->repo);
	repo_wait(w->repo);
	ck_assert_msg(w->repo->code == 0, "%s", w->repo->msg);
	repo_sh(w->repo, "echo secret >.env; echo dirty >a.txt");
	w->files[0] = ".env";
	w->files[1] = "a.txt";
	setup_world_ready(w);
	ck_assert_str_eq(
	    repo_sh(w->repo, "cd \"$W\"; cat .env a.txt"), "secret\none");
}

static bool awaited; /* does git run? */

static void
stop_when_so(void *arg)
{
	struct setup_world *w = arg;

	if (git_busy(w->repo->git) == awaited)
		loop_stop(w->repo->loop, 0);
}

static void
pass_until(struct setup_world *w, bool busy)
{
	struct loop_timer *look = loop_every(w->repo->loop, 1, stop_when_so, w);
	struct loop_timer *guard =
	    loop_after(w->repo->loop, 30000, setup_world_guard, NULL);

	awaited = busy;
	loop_run(w->repo->loop);
	loop_timer_free(look);
	loop_timer_free(guard);
}

TEST(test_a_copy_that_is_freed_while_git_is_asked_calls_nobody)
{
	cleanup_world struct setup_world *w = setup_world_new();

	repo_sh(w->repo, "echo secret >.env");
	w->files[0] = ".env";
	w->setup = setup_begin(&w->spec, setup_world_done, w);
	pass_until(w, true);
	setup_free(take_ptr(&w->setup));
	pass_until(w, false);
	ck_assert(!w->done);
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, "cat .env"), "secret");
}

/* More paths than one query to git holds. */
TEST(test_every_path_is_asked_about)
{
	cleanup_world struct setup_world *w = setup_world_new();

	repo_sh(w->repo,
	    "mkdir m; for i in $(seq 600); do echo $i >m/$i; done; "
	    "git add m/7 m/300 m/599; git commit -qm m");
	repo_wt(w->repo, "git merge -q main");
	repo_sh(w->repo, "for i in 7 300 599; do echo x >m/$i; done");
	w->files[0] = "m/*";
	setup_world_ready(w);
	ck_assert_str_eq(
	    repo_wt(w->repo, "ls m | wc -l; cat m/7 m/300 m/599 m/600"),
	    "600\n7\n300\n599\n600");
}

TEST(test_large_file_is_copied_with_its_time)
{
	cleanup_world struct setup_world *w = setup_world_new();

	repo_sh(
	    w->repo, "head -c 5000001 /dev/urandom >big; touch -d @1000 big");
	w->files[0] = "big";
	setup_world_ready(w);
	ck_assert_str_eq(
	    repo_wt(w->repo, "cmp big \"$R/big\" && stat -c %Y big"), "1000");
}

TEST(test_times_and_modes_of_folders_are_those_of_the_root)
{
	cleanup_world struct setup_world *w = setup_world_new();

	repo_sh(w->repo,
	    "mkdir -p top/in; echo 1 >top/in/x; chmod 710 top/in; "
	    "touch -d @2000 top/in");
	w->files[0] = "top";
	setup_world_ready(w);
	ck_assert_str_eq(
	    repo_wt(w->repo, "stat -c '%a %Y' top/in"), "710 2000");
}

TEST(test_unchanged_file_is_not_copied_again)
{
	cleanup_world struct setup_world *w = setup_world_new();
	const char *inodes, *ask = "stat -c %i same other link | xargs";

	repo_sh(w->repo, "echo 1 >same; echo 1 >other; ln -s same link");
	w->files[0] = "*";
	setup_world_ready(w);
	inodes = repo_wt(w->repo, ask);
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, ask), inodes);
	repo_sh(w->repo, "echo 22 >other; chmod 600 same; ln -sf other link");
	setup_world_ready(w);
	ck_assert_str_eq(
	    repo_wt(w->repo, "cat other link; stat -c %a same"), "22\n22\n600");
}

TEST(test_path_out_of_the_root_is_refused)
{
	static const char *const bad[] = { "../x", "a/../../x", "/etc/passwd",
		"..", "out/x", "out/*" };
	cleanup_world struct setup_world *w = setup_world_new();

	repo_sh(w->repo,
	    "mkdir \"$B/far\"; echo 1 >\"$B/far/x\"; "
	    "ln -s \"$B/far\" out");
	for (size_t i = 0; i < nitems(bad); i++) {
		w->files[0] = bad[i];
		setup_world_fails(w, -EINVAL, "is outside the repository");
		ck_assert_ptr_nonnull(strstr(w->err.msg, "repo.copy_files"));
		ck_assert_ptr_nonnull(strstr(w->err.msg, bad[i]));
	}
	/* The link itself is only a link. */
	w->files[0] = "out";
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, "test -L out; ls"), "a.txt\nout");
}

TEST(test_path_out_of_the_worktree_is_refused)
{
	cleanup_world struct setup_world *w = setup_world_new();

	repo_sh(w->repo, "mkdir -p sub \"$B/far\"; echo 1 >sub/x");
	repo_wt(w->repo, "ln -s \"$B/far\" sub");
	w->files[0] = "sub/x";
	setup_world_fails(
	    w, -EINVAL, "sub/x: the worktree has a file or a link");
	w->files[0] = "sub";
	setup_world_fails(w, -EINVAL, "repo.copy_files");
	ck_assert_str_eq(repo_sh(w->repo, "ls -A \"$B/far\""), "");
}

TEST(test_folders_of_git_and_llmc_and_around_the_worktree_stay)
{
	static const char *const bad[] = { ".git", ".git/config", ".llmc", ".",
		"", "wt", "wt/ann" };
	cleanup_world struct setup_world *w = setup_world_new();
	cleanup_free char *inside = file_join(w->repo->root, "wt/ann");

	repo_sh(w->repo,
	    "git worktree add -q -b inside wt/ann; mkdir .llmc; echo 1 >u");
	w->spec.worktree = inside;
	for (size_t i = 0; i < nitems(bad); i++) {
		w->files[0] = bad[i];
		setup_world_fails(
		    w, -EINVAL, "cannot be copied into a worktree");
	}
	/* A pattern does not match them. */
	w->files[0] = "*";
	w->files[1] = ".*";
	ck_assert_msg(setup_world_run(w) == 0, "%s", w->err.msg);
	ck_assert_str_eq(
	    repo_sh(w->repo, "ls -A wt/ann | xargs"), ".git a.txt u");
}

TEST(test_link_inside_of_the_root_is_followed_to_its_folder)
{
	cleanup_world struct setup_world *w = setup_world_new();

	repo_sh(w->repo,
	    "mkdir real; echo 1 >real/keep; ln -s real alias; "
	    "git add real alias; git commit -qm alias");
	repo_wt(w->repo, "git merge -q main");
	repo_sh(w->repo, "echo secret >real/env");
	w->files[0] = "alias/env";
	setup_world_ready(w);
	ck_assert_str_eq(repo_wt(w->repo, "cat alias/env"), "secret");
}

TEST(test_file_that_cannot_be_placed_is_named)
{
	cleanup_world struct setup_world *w = setup_world_new();

	repo_sh(w->repo, "echo 1 >x");
	repo_wt(w->repo, "mkdir x; echo 2 >x/y");
	w->files[0] = "x";
	setup_world_fails(w, -EISDIR, "repo.copy_files: cannot copy x: ");
	ck_assert_str_eq(repo_wt(w->repo, "ls -A x; ls -A . | wc -l"), "y\n3");
}

static void
exit_here(const struct err *err, void *arg)
{
	(void)arg;
	_exit(err != NULL ? 3 : 0);
}

/* Killed within the first file: only complete files are visible, and the next
 * run repairs it. */
TEST(test_crash_while_copying_is_mended_by_the_next_time)
{
	cleanup_world struct setup_world *w = setup_world_new();
	pid_t pid;
	int status;

	repo_sh(w->repo,
	    "mkdir d; for i in 1 2 3; do "
	    "head -c 3000000 /dev/urandom >d/$i; done");
	w->files[0] = "d";
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct loop *loop = loop_new();
		const struct git_options own = { .root = w->repo->root };
		struct setup_spec spec = w->spec;

		/* The kernel kills a process that writes more than half of
		 * it. */
		signal(SIGXFSZ, SIG_DFL);
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1500000, 1500000 });
		spec.git = git_new(loop, &own);
		setup_begin(&spec, exit_here, NULL);
		loop_run(loop);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	ck_assert_str_eq(repo_wt(w->repo, "ls d; ls -A d | wc -l"), "1");
	ck_assert(setup_is_due(&w->spec));
	setup_world_ready(w);
	ck_assert_str_eq(
	    repo_wt(w->repo, "diff -r d \"$R/d\"; ls -A d | xargs"), "1 2 3");
}
