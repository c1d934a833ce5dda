/* SPDX-License-Identifier: ISC */

/* What a remote answers: a bare repository, with hooks that refuse, hang, or
 * are away. */
#include "repo.h"
#include "git-upstream.h"

static const char *const results[] = { "ok", "rejected", "away", "refused",
	"unknown" };
static const char *const stands[] = { "same", "behind", "ahead", "diverged",
	"none" };

static void
on_push(enum push_answer result, const char *words, void *arg)
{
	struct repo *repo = arg;

	repo_answered(repo, NULL);
	snprintf(repo->text, sizeof repo->text, "%s", results[result]);
	snprintf(repo->msg, sizeof repo->msg, "%s", words);
}

static void
push(struct repo *repo, const struct git_push_spec *spec, const char *want)
{
	repo_begin(repo);
	git_upstream_push(repo->git, spec, on_push, repo);
	repo_wait(repo);
	ck_assert_msg(strcmp(repo->text, want) == 0, "%s, not %s: %s",
	    repo->text, want, repo->msg);
	ck_assert_int_eq(repo->msg[0] == '\0', strcmp(want, "ok") == 0);
}

static void
push_main(struct repo *repo, const char *commit, const char *expected,
    const char *want)
{
	push(repo,
	    &(struct git_push_spec){ .remote = "origin",
		.commit = commit,
		.ref = "refs/heads/main",
		.expected = expected,
		.forward = true },
	    want);
}

static struct git_fetched last;

static void
on_fetch(const struct git_fetched *fetched, const char *words, void *arg)
{
	struct repo *repo = arg;

	repo_answered(repo, NULL);
	last = *fetched;
	snprintf(repo->text, sizeof repo->text, "%s",
	    fetched->result == PUSH_OK ? stands[fetched->stand] :
					 results[fetched->result]);
	snprintf(repo->msg, sizeof repo->msg, "%s", words);
}

static void
fetch(struct repo *repo, const char *want)
{
	struct git_fetched known = last;

	repo_begin(repo);
	git_upstream_fetch(repo->git,
	    &(struct git_fetch_spec){ .remote = "origin",
		.ref = "refs/heads/main",
		.keep = "refs/llmc/upstream/main",
		.branch = "main",
		.known_remote = known.remote,
		.known_branch = known.branch,
		.known_stand = known.stand },
	    on_fetch, repo);
	repo_wait(repo);
	ck_assert_msg(strcmp(repo->text, want) == 0, "%s, not %s: %s",
	    repo->text, want, repo->msg);
}

static struct repo *
with_origin(void)
{
	struct repo *repo = repo_new(true);

	memset(&last, 0, sizeof last);
	repo_sh(repo,
	    "git init -q --bare -b main ../origin.git && git remote add origin "
	    "../origin.git && git push -q origin main && git clone -q "
	    "../origin.git ../other && git -C ../other config user.name O && "
	    "git -C ../other config user.email o@example.invalid");
	return repo;
}

#define OTHERS                                                                \
	"cd ../other && git pull -q && echo $$ >>theirs && git add . && git " \
	"commit -qm theirs && git push -q && git rev-parse HEAD"
#define OURS "echo $$ >>ours && git add . && git commit -qm ours"
#define TIP  "git rev-parse main"

TEST(a_look_says_where_the_branch_stands)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *theirs;

	fetch(repo, "same");
	ck_assert_str_eq(last.remote, last.branch);
	theirs = repo_sh(repo, OTHERS);
	fetch(repo, "behind");
	ck_assert_str_eq(last.remote, theirs);
	ck_assert_str_eq(
	    repo_sh(repo, "git rev-parse refs/llmc/upstream/main"), theirs);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse origin/main"), theirs);
	repo_sh(repo, "git merge -q --ff-only origin/main");
	fetch(repo, "same");
	repo_sh(repo, OURS);
	fetch(repo, "ahead");
	repo_sh(repo, OTHERS);
	fetch(repo, "diverged");
	repo_sh(repo, "git rebase -q origin/main");
	fetch(repo, "ahead");
	repo_sh(repo, "git -C ../origin.git update-ref -d refs/heads/main");
	fetch(repo, "none");
	ck_assert_str_eq(last.remote, "");
	/* To git, its end is the name that was asked for. */
	repo_sh(
	    repo, "git push -q origin HEAD:refs/heads/main/refs/heads/main");
	fetch(repo, "none");
}

/* It moves the remote-tracking branch while the commits are on their way. */
TEST(a_look_beside_another_fetch_brings_what_there_is)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *theirs = repo_sh(repo, OTHERS);

	repo_sh(repo,
	    "cat >../meanwhile <<E\n"
	    "cd '$PWD'; [ -e ../moved ] || env -u GIT_DIR git update-ref "
	    "refs/remotes/origin/main $(git commit-tree -m x main^{tree})\n"
	    ">>../moved; cd - >&2; exec \"\\$@\"\n"
	    "E\n"
	    "git config --global uploadpack.packObjectsHook "
	    "'sh \"$B/meanwhile\"'");
	fetch(repo, "behind");
	ck_assert_str_eq(last.remote, theirs);
	ck_assert_str_eq(
	    repo_sh(repo, "test -e ../moved; git rev-parse origin/main"),
	    theirs);
}

TEST(a_look_may_bring_nothing)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *theirs = repo_sh(repo, OTHERS);

	repo_begin(repo);
	git_upstream_fetch(repo->git,
	    &(struct git_fetch_spec){
		.remote = "origin", .ref = "refs/heads/main" },
	    on_fetch, repo);
	repo_wait(repo);
	ck_assert_str_eq(last.remote, theirs);
	ck_assert_str_ne(repo_sh(repo, "git rev-parse origin/main"), theirs);
}

/* As a mirror is set up: what is fetched would replace the branch. */
TEST(a_look_never_moves_the_branch)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *ours, *theirs;

	repo_sh(repo,
	    "git config remote.origin.fetch '+refs/*:refs/*' && git config "
	    "fetch.prune true && git checkout -q --detach && git branch mine");
	repo_sh(repo,
	    "git checkout -q main && " OURS " && git checkout -q --detach");
	ours = repo_sh(repo, TIP);
	theirs = repo_sh(repo, OTHERS);
	fetch(repo, "diverged");
	ck_assert_str_eq(repo_sh(repo, TIP), ours);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse origin/main"), theirs);
	repo_sh(repo, "git rev-parse --verify mine");
}

/* However often, and whether the branch is ahead or not. */
TEST(a_look_that_brings_nothing_is_one_git)
{
	cleanup_repo struct repo *repo = with_origin();
	static const char *const want[] = { "same", "ahead", "diverged" };

	for (size_t i = 0; i < nitems(want); i++) {
		fetch(repo, want[i]);
		repo_trap(repo, 0, "before");
		fetch(repo, want[i]);
		/* A remote that is a folder has its own, upload-pack. */
		ck_assert_int_le(repo_trap_count(repo), 1);
		repo_untrap(repo);
		repo_sh(repo, i == 0 ? OURS : OTHERS);
	}
}

TEST(a_push_compares_and_swaps)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *first = repo_sh(repo, TIP), *mine, *theirs;

	repo_sh(repo, OURS);
	mine = repo_sh(repo, TIP);
	push_main(repo, mine, first, "ok");
	ck_assert_str_eq(
	    repo_sh(repo, "git -C ../origin.git rev-parse main"), mine);
	/* The answer was lost, and it is asked for once more. */
	push_main(repo, mine, first, "ok");
	theirs = repo_sh(repo, OTHERS);
	push_main(repo, mine, first, "ok");
	repo_sh(repo, OURS);
	push_main(repo, repo_sh(repo, TIP), mine, "rejected");
	/* What they have is not lost by a lease that is right. */
	push_main(repo, repo_sh(repo, TIP), theirs, "rejected");
	ck_assert_str_eq(
	    repo_sh(repo, "git -C ../origin.git rev-parse main"), theirs);
}

/* As those of pull requests, which are replaced. */
TEST(another_ref_is_made_replaced_and_deleted)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *first = repo_sh(repo, TIP), *mine;
	struct git_push_spec spec = { .remote = "origin",
		.commit = first,
		.ref = "refs/heads/llmc/t1",
		.expected = "" };

	push(repo, &spec, "ok");
	repo_sh(repo, OURS);
	mine = repo_sh(repo, TIP);
	spec.commit = mine;
	push(repo, &spec, "rejected"); /* it exists */
	spec.expected = first;
	push(repo, &spec, "ok");
	spec.commit = first;
	push(repo, &spec, "rejected"); /* what it is below is not there */
	spec.expected = mine;
	push(repo, &spec, "ok"); /* backwards */
	spec.commit = NULL;
	spec.expected = mine;
	push(repo, &spec, "rejected");
	spec.expected = first;
	push(repo, &spec, "ok");
	push(repo, &spec, "ok");
	ck_assert_str_eq(
	    repo_sh(repo, "git -C ../origin.git branch --list 'llmc/*'"), "");
}

TEST(a_protected_branch_refuses_with_words)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *first = repo_sh(repo, TIP);

	repo_sh(repo,
	    "printf '#!/bin/sh\\necho main is protected >&2; exit 1\\n' "
	    ">../origin.git/hooks/pre-receive && chmod +x "
	    "../origin.git/hooks/pre-receive");
	repo_sh(repo, OURS);
	push_main(repo, repo_sh(repo, TIP), first, "refused");
	ck_assert_ptr_nonnull(strstr(repo->msg, "main is protected"));
	ck_assert_ptr_null(strchr(repo->msg, '\n'));
	ck_assert_str_eq(
	    repo_sh(repo, "git -C ../origin.git rev-parse main"), first);
}

TEST(ones_own_push_hook_refuses_with_words)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *first = repo_sh(repo, TIP);

	repo_sh(repo,
	    "printf '#!/bin/sh\\necho not today >&2; exit 1\\n' "
	    ">.git/hooks/pre-push && chmod +x .git/hooks/pre-push");
	repo_sh(repo, OURS);
	push_main(repo, repo_sh(repo, TIP), first, "refused");
	ck_assert_ptr_nonnull(strstr(repo->msg, "not today"));
}

TEST(a_remote_that_is_away_is_no_refusal)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *first = repo_sh(repo, TIP);

	repo_sh(repo, OURS " && mv ../origin.git ../gone.git");
	push_main(repo, repo_sh(repo, TIP), first, "away");
	fetch(repo, "away");
	ck_assert_ptr_nonnull(strstr(repo->msg, "origin.git"));
	repo_sh(repo, "mv ../gone.git ../origin.git");
	push_main(repo, repo_sh(repo, TIP), first, "ok");
}

/* Neither a hook nor a remote that never answers hangs anything. */
TEST(a_remote_that_hangs_has_a_deadline)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *first = repo_sh(repo, TIP);
	struct git_push_spec spec = { .remote = "origin",
		.ref = "refs/heads/main",
		.expected = first,
		.forward = true,
		.deadline_ms = 300 };

	repo_sh(repo,
	    "printf '#!/bin/sh\\nexec sleep 600\\n' "
	    ">../origin.git/hooks/pre-receive && chmod +x "
	    "../origin.git/hooks/pre-receive");
	repo_sh(repo, OURS);
	spec.commit = repo_sh(repo, TIP);
	push(repo, &spec, "unknown");
}

/* A server that wants a password, an ssh that wants to ask, and an askpass that
 * would open a window: nothing waits for anybody. */
TEST(nothing_asks_for_a_password)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *first = repo_sh(repo, TIP);

	repo_sh(repo,
	    "printf '#!/bin/sh\\ntouch %s/asked; sleep 600\\n' \"$B\" "
	    ">../askpass && chmod +x ../askpass && "
	    "git config core.askPass \"$B/askpass\" && "
	    "mkdir ../bin && printf '#!/bin/sh\\necho \"$*\" >%s/ssh; "
	    "exit 255\\n' \"$B\" >../bin/ssh && chmod +x ../bin/ssh && "
	    "git remote set-url origin ssh://nobody@example.invalid/x");
	setenv("SSH_ASKPASS", repo_sh(repo, "echo $B/askpass"), 1);
	setenv("GIT_ASKPASS", repo_sh(repo, "echo $B/askpass"), 1);
	setenv("PATH", repo_sh(repo, "echo \"$B/bin:$PATH\""), 1);
	repo_sh(repo, OURS);
	push_main(repo, repo_sh(repo, TIP), first, "away");
	fetch(repo, "away");
	ck_assert_ptr_nonnull(
	    strstr(repo_sh(repo, "cat ../ssh"), "BatchMode=yes"));
	/* One's own ssh is used as it is. */
	repo_sh(repo,
	    "rm ../ssh; git config core.sshCommand \"$B/bin/ssh -o Own=1\"");
	fetch(repo, "away");
	ck_assert_ptr_nonnull(strstr(repo_sh(repo, "cat ../ssh"), "Own=1"));
	ck_assert_ptr_null(strstr(repo_sh(repo, "cat ../ssh"), "BatchMode"));
	ck_assert_str_eq(repo_sh(repo, "ls .. | grep asked || true"), "");
}

/* A name in a URL may be a token, and what git says is logged and shown. */
TEST(words_have_no_name_or_password_of_a_url)
{
	cleanup_repo struct repo *repo = with_origin();

	repo_sh(repo,
	    "mkdir ../bin && printf '#!/bin/sh\\necho \"fatal: could not read "
	    "Password for $2, //a:b@c/d and a@b\" >&2; exit 128\\n' "
	    ">../bin/git-remote-x && chmod +x ../bin/git-remote-x && git "
	    "remote set-url origin x::http://ghp_token@h.invalid/x");
	setenv("PATH", repo_sh(repo, "echo \"$B/bin:$PATH\""), 1);
	fetch(repo, "away");
	ck_assert_msg(strstr(repo->msg,
			  "Password for http://...@h.invalid/x, //...@c/d and "
			  "a@b") != NULL,
	    "%s", repo->msg);
	ck_assert_ptr_null(strstr(repo->msg, "ghp_token"));
}

static void
on_list(const char *const *list, size_t count, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	repo_answered(repo, err);
	snprintf(repo->text, sizeof repo->text, "%zu %s", count,
	    count > 0 ? list[0] : "");
}

/* What is pushed as a ref of our own is found again, and can be removed. */
TEST(refs_of_origin_are_listed)
{
	cleanup_repo struct repo *repo = with_origin();
	const char *tip = repo_sh(repo, TIP);
	struct git_push_spec spec = { .remote = "origin",
		.commit = tip,
		.ref = "refs/llmc/queue/t1-ant/3",
		.expected = "" };
	cleanup_free char *want =
	    xasprintf("1 refs/llmc/queue/t1-ant/3 %s", tip);

	for (int i = 0; i < 2; i++) {
		push(repo, &spec, "ok");
		repo_begin(repo);
		git_upstream_list(
		    repo->git, "refs/llmc/queue/*", on_list, repo);
		repo_wait(repo);
		ck_assert_str_eq(repo->text, i == 0 ? want : "0 ");
		spec.commit = NULL;
		spec.expected = tip;
	}
	repo_sh(repo, "rm -r ../origin.git");
	repo_begin(repo);
	git_upstream_list(repo->git, "refs/llmc/queue/*", on_list, repo);
	repo_wait(repo);
	ck_assert_int_ne(repo->code, 0);
}
