/* SPDX-License-Identifier: ISC */

/* Refs without a git process: as git itself sees them. */
#include "repo.h"
#include "git-private.h"

#define QUEUED "refs/llmc/queue/q1"

static char *
common_of(const struct repo *repo)
{
	return file_join(repo->root, ".git");
}

static void
assert_reads(struct repo *repo, const char *ref)
{
	cleanup_free char *common = common_of(repo);
	cleanup_free char *ask = xasprintf("git rev-parse %s", ref);
	char id[GIT_ID_SIZE];

	ck_assert_int_eq(git_refs_read(common, ref, id), 0);
	ck_assert_str_eq(id, repo_sh(repo, ask));
}

TEST(reads_loose_and_packed_ones)
{
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_free char *common = common_of(repo);
	char id[GIT_ID_SIZE];

	assert_reads(repo, "refs/heads/main");
	repo_sh(repo,
	    "git branch a/main; git branch main-2; git commit -q "
	    "--allow-empty -m two; git tag -a -m t t; git pack-refs --all; "
	    "! test -f .git/refs/heads/main");
	assert_reads(repo, "refs/heads/main");
	assert_reads(repo, "refs/heads/a/main");
	assert_reads(repo, "refs/heads/main-2");
	ck_assert_int_eq(
	    git_refs_read(common, "refs/heads/main-", id), -ENOENT);
	ck_assert_int_eq(git_refs_read(common, "refs/heads/a", id), -ENOENT);
	/* A loose one wins over an older packed one. */
	repo_sh(repo, "git commit -q --allow-empty -m three");
	assert_reads(repo, "refs/heads/main");
}

/* Git knows better. */
TEST(leaves_the_rest_to_git)
{
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_free char *common = common_of(repo);
	char id[GIT_ID_SIZE];

	repo_sh(repo, "git symbolic-ref refs/heads/link refs/heads/main");
	ck_assert_int_eq(
	    git_refs_read(common, "refs/heads/link", id), -ENOTSUP);
	ck_assert_int_eq(
	    git_refs_read(common, "refs/bisect/bad", id), -ENOTSUP);
	ck_assert_int_eq(
	    git_refs_read(common, "refs/heads/../../HEAD", id), -ENOTSUP);
	ck_assert_int_eq(
	    git_refs_write(common, "refs/llmc/x", "main"), -ENOTSUP);
	repo_sh(repo, "mkdir .git/reftable");
	ck_assert_int_eq(
	    git_refs_read(common, "refs/heads/main", id), -ENOTSUP);
}

TEST(reads_head_wherever_it_is)
{
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_free char *common = common_of(repo);
	char id[GIT_ID_SIZE];

	ck_assert_int_eq(git_refs_head(common, common, id), 0);
	ck_assert_str_eq(id, repo_sh(repo, "git rev-parse HEAD"));
	repo_sh(repo, "git checkout -q --detach");
	ck_assert_int_eq(git_refs_head(common, common, id), 0);
	ck_assert_str_eq(id, repo_sh(repo, "git rev-parse HEAD"));
	repo_sh(repo, "git checkout -q --orphan none");
	ck_assert_int_eq(git_refs_head(common, common, id), -ENOENT);
}

TEST(only_a_whole_id_is_a_detached_head)
{
	static const char digits[] = "0123456789abcdef0123456789abcdef"
				     "0123456789abcdef0123456789abcdef0";
	const char *head = unit_path("HEAD");
	char id[GIT_ID_SIZE];

	for (size_t len = 0; len <= strlen(digits); len++) {
		cleanup_free char *text = xasprintf("%.*s\n", (int)len, digits);
		bool whole = len == 40 || len == 64;

		ck_assert_int_eq(
		    file_replace(head, text, len + 1, 0600, NULL), 0);
		git_dirs_detached(unit_scratch(), id, sizeof id);
		ck_assert_uint_eq(strlen(id), whole ? len : 0);
		/* Nor with more behind it. */
		text[len] = 'G';
		ck_assert_int_eq(
		    file_replace(head, text, len + 1, 0600, NULL), 0);
		git_dirs_detached(unit_scratch(), id, sizeof id);
		ck_assert_str_eq(id, "");
	}
}

TEST(writes_and_drops_what_git_sees)
{
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_free char *common = common_of(repo);
	cleanup_free char *id = xstrdup(repo_sh(repo, "git rev-parse HEAD"));

	ck_assert_int_eq(git_refs_write(common, QUEUED, id), 0);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse " QUEUED), id);
	ck_assert_int_eq(git_refs_write(common, QUEUED, id), 0);
	ck_assert_int_eq(git_refs_drop(common, QUEUED), 0);
	ck_assert_int_eq(git_refs_drop(common, QUEUED), 0);
	ck_assert_str_eq(repo_sh(repo, "git for-each-ref refs/llmc"), "");
	ck_assert_str_eq(repo_sh(repo, "find .git -name '*.lock'"), "");
}

TEST(respects_locks_and_packs)
{
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_free char *common = common_of(repo);
	cleanup_free char *id = xstrdup(repo_sh(repo, "git rev-parse HEAD"));

	ck_assert_int_eq(git_refs_write(common, QUEUED, id), 0);
	repo_sh(repo, ">.git/" QUEUED ".lock");
	ck_assert_int_eq(git_refs_write(common, QUEUED, id), -ENOTSUP);
	ck_assert_int_eq(git_refs_drop(common, QUEUED), -ENOTSUP);
	repo_sh(repo,
	    "test -f .git/" QUEUED ".lock; rm .git/" QUEUED ".lock; "
	    "git pack-refs --all");
	ck_assert_int_eq(git_refs_drop(common, QUEUED), -ENOTSUP);
	ck_assert_int_eq(git_refs_write(common, "refs/llmc/queue/q2", id), 0);
	repo_sh(repo, ">.git/packed-refs.lock");
	ck_assert_int_eq(git_refs_drop(common, "refs/llmc/queue/q2"), -ENOTSUP);
}

/* Others keep theirs. */
TEST(locks_that_were_left_are_removed)
{
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_free char *common = common_of(repo);
	cleanup_free char *id = xstrdup(repo_sh(repo, "git rev-parse HEAD"));

	git_refs_unlock(common, "refs/llmc/queue/"); /* there is none */
	ck_assert_int_eq(git_refs_write(common, QUEUED, id), 0);
	repo_sh(repo,
	    "cd .git; >" QUEUED ".lock; >refs/llmc/queue/q2.lock; "
	    ">refs/llmc/x.lock; >refs/heads/main.lock");
	git_refs_unlock(common, "refs/llmc/queue/");
	ck_assert_str_eq(
	    repo_sh(repo, "cd .git; find refs -name '*.lock' | sort"),
	    "refs/heads/main.lock\nrefs/llmc/x.lock");
	assert_reads(repo, QUEUED);
	ck_assert_int_eq(git_refs_drop(common, QUEUED), 0);
}
