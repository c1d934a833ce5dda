/* SPDX-License-Identifier: ISC */

#include "repo.h"
#include "git-ask.h"
#include "git-private.h"

#define NCALLS 16

/* The answer of one command. */
struct call {
	struct repo *repo;
	int *left; /* the loop stops at 0; NULL = immediately */
	bool answered;
	int order, status, code;
	size_t out_len;
	bool locked;
	char out[2048], complaint[2048], msg[512];
};

static int orders;

static void
take(struct call *call, const struct git_answer *answer)
{
	ck_assert_msg(!call->answered, "answered twice");
	ck_assert((answer->status == -1) == (answer->err != NULL));
	call->answered = true;
	call->order = orders++;
	call->status = answer->status;
	call->out_len = answer->out_len;
	call->locked = answer->locked;
	snprintf(call->out, sizeof call->out, "%s", answer->out);
	snprintf(
	    call->complaint, sizeof call->complaint, "%s", answer->complaint);
	if (answer->err != NULL) {
		call->code = answer->err->code;
		snprintf(call->msg, sizeof call->msg, "%s", answer->err->msg);
	}
	if (call->left == NULL || --*call->left == 0) {
		call->repo->called = true;
		loop_stop(call->repo->loop, 0);
	}
}

static void
run_done(const struct git_answer *answer, void *arg)
{
	take(arg, answer);
}

static void
ask(struct repo *repo, struct call *call, const struct git_command *command)
{
	memset(call, 0, sizeof *call);
	call->repo = repo;
	repo->called = false;
	git_run(git_queue(repo->git, repo->root), command, run_done, call);
	ck_assert_msg(!call->answered, "answered from inside of git_run");
	repo_wait(repo);
}

/* A command that is a shell script. */
static void
queue_shell(struct git_queue *queue, struct call *call, const char *text)
{
	cleanup_free char *alias = xasprintf("alias.x=!%s", text);
	struct git_command command = { .args = (const char *[]){
					   "-c", alias, "x", NULL } };

	git_run(queue, &command, run_done, call);
}

TEST(answers_with_status_and_both_streams)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_command good = { .args = (const char *[]){
					"symbolic-ref", "HEAD", NULL } };
	struct git_command bad = { .args = (const char *[]){ "rev-parse",
				       "--verify", "nope", NULL } };
	struct call call;

	ask(repo, &call, &good);
	ck_assert_int_eq(call.status, 0);
	ck_assert_str_eq(call.out, "refs/heads/main");
	ck_assert_str_eq(call.complaint, "");
	ask(repo, &call, &bad);
	ck_assert_int_eq(call.status, 128);
	ck_assert_str_eq(call.complaint, "fatal: Needed a single revision");
	ck_assert(!call.locked);
	ck_assert(!git_busy(repo->git));
	ck_assert_str_eq(git_root(repo->git), repo->root);
}

TEST(passes_input_with_nuls_and_environment)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_command command = {
		.args = (const char *[]){ "-c",
		    "alias.x=!tr '\\000' '|'; echo \"$EXTRA $GIT_DIR\"", "x",
		    NULL },
		.input = "a\0b",
		.input_len = 3,
		.env = (const char *[]){ "EXTRA=more", NULL },
	};
	struct call call;

	ask(repo, &call, &command);
	ck_assert_msg(strncmp(call.out, "a|bmore", 7) == 0, "%s", call.out);
	command.input = "text";
	command.input_len = 0;
	ask(repo, &call, &command);
	ck_assert_msg(strncmp(call.out, "textmore", 8) == 0, "%s", call.out);
}

TEST(nothing_of_the_callers_environment_leads_astray)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_command command = { .args = (const char *[]){ "rev-parse",
					   "--show-toplevel", NULL } };
	struct git_command env = {
		.args = (const char *[]){ "-c",
		    "alias.x=!echo $LC_ALL $LANGUAGE $GIT_TERMINAL_PROMPT "
		    "$GIT_EDITOR",
		    "x", NULL }
	};
	struct call call;

	setenv("GIT_DIR", "/nowhere", 1);
	setenv("GIT_INDEX_FILE", "/nowhere", 1);
	setenv("GIT_CONFIG_COUNT", "wrong", 1);
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	setenv("LANGUAGE", "de", 1);
	setenv("GIT_EDITOR", "vi", 1);
	ask(repo, &call, &command);
	ck_assert_int_eq(call.status, 0);
	ck_assert_str_eq(call.out, repo->root);
	ask(repo, &call, &env);
	ck_assert_str_eq(call.out, "C 0 :");
	unsetenv("GIT_DIR");
	unsetenv("GIT_INDEX_FILE");
	unsetenv("GIT_CONFIG_COUNT");
	unsetenv("LC_ALL");
	unsetenv("LANGUAGE");
	unsetenv("GIT_EDITOR");
}

TEST(big_output_is_complete)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_command command = { .args = (const char *[]){
					   "cat-file", "blob", ":big", NULL } };
	struct call call;

	repo_sh(
	    repo, "head -c 3000000 /dev/zero | tr '\\0' x >big; git add big");
	ask(repo, &call, &command);
	ck_assert_int_eq(call.status, 0);
	ck_assert_uint_eq(call.out_len, 3000000);
}

TEST(too_much_output_is_an_error_not_a_piece)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_command command = { .args = (const char *[]){
					   "cat-file", "blob", ":big", NULL } };
	struct call call;

	repo_sh(repo, "head -c 34000000 /dev/zero >big; git add big");
	ask(repo, &call, &command);
	ck_assert_int_eq(call.status, -1);
	ck_assert_int_eq(call.code, -EFBIG);
	ck_assert_ptr_nonnull(strstr(call.msg, "cat-file"));
}

/* Five times as long. */
TEST(a_whole_tree_takes_longer)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_options options = { .root = repo->root, .deadline_ms = 800 };
	struct git_command command = { .args = (const char *[]){
					   "add", ".", NULL } };
	struct call call;

	repo_sh(repo,
	    "git config filter.slow.clean 'sleep 1; cat'; "
	    "echo 'slow filter=slow' >.gitattributes; echo x >slow");
	repo_reopen(repo, &options);
	ask(repo, &call, &command);
	ck_assert_msg(call.status == 0, "%s", call.msg);
	command.args = (const char *[]){ "hash-object", "-w", "--path=slow",
		"a.txt", NULL };
	ask(repo, &call, &command);
	ck_assert_int_eq(call.code, -ETIMEDOUT);
}

/* A tag of the same name makes the short name of the branch a longer one. */
TEST(the_default_branch_is_named)
{
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_free char *head = NULL, *remote = NULL;

	repo_sh(repo, "git tag main; git tag origin/next");
	head = git_ask_default_branch(repo->root);
	ck_assert_str_eq(head, "main");
	repo_sh(repo,
	    "git update-ref refs/remotes/origin/next HEAD; git symbolic-ref "
	    "refs/remotes/origin/HEAD refs/remotes/origin/next");
	remote = git_ask_default_branch(repo->root);
	ck_assert_str_eq(remote, "next");
	repo_sh(repo,
	    "git symbolic-ref -d refs/remotes/origin/HEAD; "
	    "git checkout -q --detach");
	ck_assert_ptr_null(git_ask_default_branch(repo->root));
}

/* Where the index has it in another form, git must be asked. */
TEST(a_folder_that_the_index_lacks_is_not_tracked)
{
	static const char *const lacks[] = { ":", "mkdir a; >a/f",
		">afile; >a; git add .",
		"mkdir a; >a/f; git add a; git rm -qr --cached a" };
	static const char *const unknown[] = { "rm .git/index",
		"git update-index --index-version 4",
		"git update-index --split-index", "printf x >.git/index",
		"mkdir a; >a/f; git add -N a/f",
		"mkdir a; >a/f; git add a; git update-index --split-index",
		"mkdir -p b/a; >b/a/f; git add b" };

	for (size_t i = 0; i < nitems(lacks) + nitems(unknown); i++) {
		cleanup_repo struct repo *repo = repo_new(false);
		bool expected = i < nitems(lacks);
		const char *text =
		    expected ? lacks[i] : unknown[i - nitems(lacks)];

		repo_sh(repo, text);
		ck_assert_msg(
		    git_ask_lacks(repo->root, "a/") == expected, "%s", text);
	}
}

TEST(a_branch_exists_by_its_name_only)
{
	cleanup_repo struct repo *repo = repo_new(false);

	repo_sh(repo, "git branch x/y; git pack-refs --all; git tag tagged");
	ck_assert(git_ask_branch_exists(repo->root, "main"));
	ck_assert(git_ask_branch_exists(repo->root, "x/y"));
	ck_assert(!git_ask_branch_exists(repo->root, "x"));
	ck_assert(!git_ask_branch_exists(repo->root, "tagged"));
	ck_assert(!git_ask_branch_exists(repo->root, "./main"));
	ck_assert(!git_ask_branch_exists(repo->root, "x//y"));
	ck_assert(!git_ask_branch_exists(repo->root, ""));
}

/* Who made it may be about to go on. */
TEST(a_lock_that_was_just_made_stays)
{
	cleanup_repo struct repo *repo = repo_with_tree();
	const char *lock = repo_wt(repo,
	    "printf '%s/HEAD.lock' \"$(git rev-parse --absolute-git-dir)\"");
	cleanup_free char *complaint =
	    xasprintf("Unable to create '%s': File exists.", lock);
	cleanup_free char *age =
	    xasprintf("touch -d '1 minute ago' '%s'", lock);

	ck_assert_int_eq(file_replace(lock, "", 0, 0644, NULL), 0);
	ck_assert(!git_lock_remove_dead(repo->dir, complaint));
	repo_sh(repo, age);
	ck_assert(git_lock_remove_dead(repo->dir, complaint));
}

TEST(a_git_that_hangs_is_ended)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_options options = { .root = repo->root, .deadline_ms = 200 };
	struct git_command command = { .args =
					   (const char *[]){ "status", NULL } };
	struct call call;

	repo_reopen(repo, &options);
	repo_trap(repo, 1, "hang");
	ask(repo, &call, &command);
	ck_assert_int_eq(call.status, -1);
	ck_assert_int_eq(call.code, -ETIMEDOUT);
	ck_assert_ptr_nonnull(strstr(call.msg, "git status in "));
	command.deadline_ms = 30000;
	ask(repo, &call, &command); /* the queue continues */
	ck_assert_int_eq(call.status, 0);
}

TEST(a_killed_git_is_an_error)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_command command = { .args =
					   (const char *[]){ "status", NULL } };
	struct call call;

	repo_trap(repo, 1, "before");
	ask(repo, &call, &command);
	ck_assert_int_eq(call.status, -1);
	ck_assert_int_eq(call.code, -EIO);
	ck_assert_ptr_nonnull(strstr(call.msg, "SIGKILL"));
}

TEST(a_missing_git_says_so)
{
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_free char *path = xstrdup(getenv("PATH"));
	struct git_command command = { .args =
					   (const char *[]){ "status", NULL } };
	struct call call;

	setenv("PATH", "/nowhere", 1);
	ask(repo, &call, &command);
	setenv("PATH", path, 1);
	ck_assert_int_eq(call.code, -ENOENT);
	ck_assert_ptr_nonnull(strstr(call.msg, "is git installed"));
}

TEST(a_folder_without_its_own_git_is_refused)
{
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_free char *inside = file_join(repo->root, "sub");
	struct git_command command = {
		.args = (const char *[]){ "reset", "--hard", NULL },
		.dir = inside,
	};
	struct call call;

	ask(repo, &call, &command);
	ck_assert_int_eq(call.code, -ENOENT);
	ck_assert_ptr_nonnull(strstr(call.msg, "does not exist"));
	/* Here git would find the user's own tree. */
	repo_sh(repo, "mkdir sub; echo mine >>a.txt");
	ask(repo, &call, &command);
	ck_assert_int_eq(call.code, -ENOENT);
	ck_assert_ptr_nonnull(strstr(call.msg, "no .git"));
	/* Here too: git skips an invalid .git. */
	repo_sh(repo, "mkdir sub/.git");
	ask(repo, &call, &command);
	ck_assert_int_eq(call.code, -EUCLEAN);
	ck_assert_str_eq(repo_sh(repo, "cat a.txt"), "one\nmine");
}

TEST(a_held_lock_is_waited_for)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct call add = { .repo = repo }, free_it = { .repo = repo };
	struct git_command command = { .args = (const char *[]){
					   "add", "b.txt", NULL } };
	int left = 2;

	add.left = free_it.left = &left;
	repo_sh(repo,
	    "git worktree add -q \"$W\" -b llmc/ann; echo b >b.txt; "
	    ">.git/index.lock");
	repo->called = false;
	/* The lock is removed only after git has failed because of it and been
	 * tried again: in the third call. */
	repo_trap(repo, 0, "");
	git_run(git_queue(repo->git, repo->root), &command, run_done, &add);
	queue_shell(git_queue(repo->git, repo->dir), &free_it,
	    "until [ \"$(cat \"$TRAP/count\")\" -ge 3 ] 2>/dev/null; do :; "
	    "done; rm \"$R/.git/index.lock\"");
	repo_wait(repo);
	ck_assert_int_eq(free_it.status, 0);
	ck_assert_int_eq(add.status, 0);
	ck_assert_int_ge(repo_trap_count(repo), 3);
	ck_assert_str_eq(repo_sh(repo, "git ls-files b.txt"), "b.txt");
}

TEST(a_lock_held_for_good_is_told)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_command command = { .args = (const char *[]){
					   "add", "a.txt", NULL } };
	int64_t began = clock_mono_ms();
	struct call call;

	repo_sh(repo, ">.git/index.lock");
	repo_trap(repo, 0, "");
	ask(repo, &call, &command);
	ck_assert_int_eq(call.status, 128);
	ck_assert(call.locked);
	ck_assert_int_eq(repo_trap_count(repo), 6);
	ck_assert_int_ge(clock_mono_ms() - began, 2400);
	/* Another failure is reported immediately. */
	repo_sh(repo, "rm .git/index.lock");
	repo_trap(repo, 0, "");
	command.args = (const char *[]){ "add", "none", NULL };
	ask(repo, &call, &command);
	ck_assert_int_eq(repo_trap_count(repo), 1);
}

TEST(one_queue_is_serial_two_are_not)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_queue *one = git_queue(repo->git, repo->root), *two;
	struct call first = { .repo = repo }, second = { .repo = repo };
	struct call other = { .repo = repo };
	int left = 3;

	first.left = second.left = other.left = &left;
	repo_sh(repo,
	    "git worktree add -q \"$W\" -b llmc/ann; mkfifo "
	    "\"$B/fifo\"");
	two = git_queue(repo->git, repo->dir);
	ck_assert_ptr_ne(one, two);
	ck_assert_ptr_eq(one, git_queue(repo->git, repo->root));
	repo->called = false;
	/* Only if both run at once do they get through the fifo. */
	queue_shell(one, &first, "cat \"$B/fifo\"");
	queue_shell(one, &second, "touch \"$B/second\"");
	queue_shell(two, &other,
	    "{ test -e \"$B/second\" && echo early || echo late; } "
	    ">\"$B/fifo\"");
	ck_assert(git_busy(repo->git));
	repo_wait(repo);
	ck_assert_str_eq(first.out, "late");
	ck_assert_int_lt(first.order, second.order);
	ck_assert_int_eq(second.status, 0);
}

TEST(many_commands_come_in_order)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_command command = { .args = (const char *[]){
					   "version", NULL } };
	struct call calls[NCALLS] = { 0 };
	int left = NCALLS;

	repo->called = false;
	for (int i = 0; i < NCALLS; i++) {
		calls[i].repo = repo;
		calls[i].left = &left;
		git_run(git_queue(repo->git, repo->root), &command, run_done,
		    &calls[i]);
	}
	repo_wait(repo);
	for (int i = 1; i < NCALLS; i++)
		ck_assert_int_eq(calls[i].order, calls[i - 1].order + 1);
}

/* Three commands: refs/x exists between the first and the last. */
static void
three_run(struct git_op *op)
{
	git_op_must(op, "update-ref", "refs/x", "HEAD", NULL);
	git_op_must(op, "rev-parse", "refs/x", NULL);
	git_op_must(op, "update-ref", "-d", "refs/x", NULL);
}

static void
three_done(const struct err *err, void *arg)
{
	ck_assert_ptr_null(err);
	take(arg, &(struct git_answer){ .out = "", .complaint = "" });
}

TEST(an_operation_has_the_queue_to_itself)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_queue *queue = git_queue(repo->git, repo->root);
	struct git_command between = { .args = (const char *[]){ "rev-parse",
					   "--verify", "refs/x", NULL } };
	struct call slot = { .repo = repo }, single = { .repo = repo };
	struct git_op *three = git_op_new(
	    sizeof *three, repo->git, repo->root, NULL, three_run, NULL);
	int left = 2;

	slot.left = single.left = &left;
	repo->called = false;
	three->work_fn = three_done;
	three->arg = &slot;
	git_op_begin(three, false);
	git_run(queue, &between, run_done, &single);
	repo_wait(repo);
	ck_assert_int_lt(slot.order, single.order);
	ck_assert_int_eq(single.status, 128);
}

TEST(hooks_run_only_where_wanted)
{
	struct git_command command = { .args = (const char *[]){ "commit", "-q",
					   "--allow-empty", "-m", "x", NULL } };

	for (int wanted = 0; wanted < 2; wanted++) {
		cleanup_repo struct repo *repo = repo_new(wanted != 0);
		struct call call;

		repo_sh(repo,
		    "printf '#!/bin/sh\\nexit 1\\n' "
		    ">.git/hooks/pre-commit; chmod +x "
		    ".git/hooks/pre-commit");
		ask(repo, &call, &command);
		ck_assert_int_eq(call.status, wanted);
	}
}

TEST(signing_is_off_and_nobody_is_asked)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_command command = { .args = (const char *[]){ "commit", "-q",
					   "--allow-empty", "--amend", NULL } };
	struct call call;

	repo_sh(repo,
	    "git config commit.gpgSign true; git config gpg.program "
	    "/bin/false; git config core.editor 'cat; false'");
	ask(repo, &call, &command);
	ck_assert_msg(call.status == 0, "%s", call.complaint);
}

static void
free_git(const struct git_answer *answer, void *arg)
{
	struct repo *repo = arg;

	ck_assert_int_eq(answer->status, 0);
	git_free(repo->git);
	repo->git = NULL;
	repo->called = true;
	loop_stop(repo->loop, 0);
}

static void
never(const struct git_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
	ck_abort_msg("called after git_free");
}

TEST(free_cancels_without_callbacks)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_command command = { .args = (const char *[]){
					   "version", NULL } };
	struct git_command slow = { .args = (const char *[]){ "-c",
					"alias.x=!tail -f /dev/null", "x",
					NULL } };

	repo_sh(repo, "git worktree add -q \"$W\" -b llmc/ann");
	repo->called = false;
	git_run(git_queue(repo->git, repo->dir), &slow, never, NULL);
	git_run(git_queue(repo->git, repo->dir), &command, never, NULL);
	git_run(git_queue(repo->git, repo->root), &command, free_git, repo);
	git_run(git_queue(repo->git, repo->root), &command, never, NULL);
	repo_wait(repo);
	git_free(NULL);
}

static void
dropped(void *arg)
{
	++*(int *)arg;
}

static void
not_answered(const struct git_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
	ck_abort_msg("answered after git_free");
}

/* One that runs, and one that waits for it; not what was answered. */
TEST(a_command_that_is_cut_off_is_told_to_release)
{
	cleanup_repo struct repo *repo = repo_new(false);
	struct git_queue *queue = git_queue(repo->git, repo->root);
	struct git_command quick = {
		.args = (const char *[]){ "version", NULL }, .drop = dropped
	};
	struct git_command slow = { .args = (const char *[]){ "-c",
					"alias.x=!tail -f /dev/null", "x",
					NULL },
		.drop = dropped };
	struct call call = { .repo = repo };
	int drops = 0, left = 1;

	call.left = &left;
	repo->called = false;
	git_run(queue, &quick, run_done, &call);
	git_run(queue, &slow, not_answered, &drops);
	git_run(queue, &slow, not_answered, &drops);
	repo_wait(repo);
	ck_assert_int_eq(drops, 0);
	git_free(take_ptr(&repo->git));
	ck_assert_int_eq(drops, 2);
}
