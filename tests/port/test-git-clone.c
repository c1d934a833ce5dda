/* SPDX-License-Identifier: ISC */

/* Clones for strict sandboxes, and what is imported from them. */
#include "repo.h"
#include "git-clone.h"

static char *clone_dir, *git_dir;
static char **box; /* words of the worker's box, NULL = none */

static int
give_box(void *arg, const char *dir, char ***ret_prefix, struct err *err)
{
	(void)arg;
	(void)dir;
	(void)err;
	*ret_prefix = box != NULL ? strv_copy(strv_const(box)) : NULL;
	return 0;
}

static int
make_clone(struct repo *repo)
{
	cleanup_free char *id = xstrdup(repo_sh(repo, "git rev-parse main"));
	struct git_clone_spec spec = { .root = repo->root,
		.git_dir = git_dir,
		.dir = clone_dir,
		.box = give_box,
		.branch = "llmc/ann",
		.id = id,
		.landing = "main",
		.landing_id = id };
	struct err err = { 0, "" };
	int r = git_clone_make(&spec, &err);

	repo_begin(repo);
	repo_answered(repo, r < 0 ? &err : NULL);
	return repo->code;
}

static int
import(struct repo *repo, const char *id, int64_t max)
{
	struct git_import_spec spec = { .root = repo->root,
		.dir = clone_dir,
		.box = strv_const(box),
		.id = id,
		.max = max };
	struct err err = { 0, "" };
	int r = git_import(&spec, &err);

	repo_begin(repo);
	repo_answered(repo, r < 0 ? &err : NULL);
	return repo->code;
}

/* Everything below is hidden but the clone, which is writable, and the
 * repository's objects. */
static void
use_box(const struct repo *repo)
{
	const char *const words[] = { "bwrap", "--unshare-user",
		"--unshare-pid", "--unshare-net", "--die-with-parent",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
		"--tmpfs", repo->root, "--ro-bind", NULL };
	cleanup_free char *objects = file_join(git_dir, "objects");
	const char *const more[] = { objects, objects, "--bind", clone_dir,
		clone_dir, "--", NULL };
	cleanup_child_result struct child_result result;
	const char *const probe[] = { "bwrap", "--unshare-user",
		"--unshare-pid", "--unshare-net", "--ro-bind", "/", "/",
		"--proc", "/proc", "true", NULL };
	struct child_spec child = { .argv = probe };

	if (child_run(&child, &result, NULL) < 0 || !child_succeeded(&result))
		unit_skip("bubblewrap cannot make a box here");
	strv_add_all(&box, words);
	strv_add_all(&box, more);
}

static struct repo *
begin(void)
{
	struct repo *repo = repo_new(false);

	box = NULL;
	git_dir = file_join(repo->root, ".git");
	clone_dir = file_join(repo->root, ".worktrees/ann");
	repo_sh(repo, "mkdir .worktrees");
	return repo;
}

static void
end(struct repo *repo)
{
	strv_clear(&box);
	free(git_dir);
	free(clone_dir);
	repo_free(repo);
}

/* A script in the clone, outside of any box. */
#define IN_CLONE "cd .worktrees/ann && "

/* With a clone, and the box of its worker. */
static struct repo *
begin_boxed(void)
{
	struct repo *repo = begin();

	ck_assert_msg(make_clone(repo) == 0, "%s", repo->msg);
	use_box(repo);
	return repo;
}

TEST(a_clone_borrows_objects_and_has_the_branches_and_files)
{
	struct repo *repo = begin();

	repo_sh(repo, "git config user.email me@example.org");
	ck_assert_msg(make_clone(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo_sh(repo, IN_CLONE "git symbolic-ref --short HEAD"),
	    "llmc/ann");
	ck_assert_str_eq(repo_sh(repo,
			     IN_CLONE "git status --porcelain; "
				      "git remote; git config user.email; "
				      "find .git/objects -type f | wc -l"),
	    "me@example.org\n1");
	ck_assert_str_eq(repo_sh(repo, IN_CLONE "git rev-parse main llmc/ann"),
	    repo_sh(repo, "git rev-parse main main"));
	repo_sh(repo, "test -e .worktrees/ann/a.txt");
	/* The user's repository does not know it. */
	ck_assert_str_eq(
	    repo_sh(repo,
		"git worktree list --porcelain | grep -c ^HEAD; git gc -q"),
	    "1");
	ck_assert_int_eq(make_clone(repo), -EEXIST);
	end(repo);
}

TEST(a_commit_is_imported_by_its_id)
{
	struct repo *repo = begin();
	cleanup_free char *id = NULL, *later = NULL;

	ck_assert_msg(make_clone(repo) == 0, "%s", repo->msg);
	use_box(repo);
	id = xstrdup(repo_sh(repo,
	    IN_CLONE "echo 1 >b && git add b && git commit -qm b && "
		     "git rev-parse HEAD"));
	later = xstrdup(repo_sh(repo,
	    IN_CLONE "git commit -q --allow-empty -m later && "
		     "git rev-parse HEAD"));
	ck_assert_msg(import(repo, id, 0) == 0, "%s", repo->msg);
	setenv("ID", id, 1);
	repo_sh(repo, "git cat-file -e $ID^{tree}");
	ck_assert_msg(import(repo, later, 0) == 0, "%s", repo->msg);
	ck_assert_msg(import(repo, id, 0) == 0, "%s", repo->msg);
	setenv("ID", later, 1);
	repo_sh(repo, "git cat-file -e $ID^{tree}");
	ck_assert_int_eq(
	    import(repo, "0123456789012345678901234567890123456789", 0),
	    -ENOENT);
	ck_assert_int_eq(import(repo, "HEAD", 0), -EINVAL);
	/* Objects only, and nothing of the quarantine is left. */
	repo_sh(repo,
	    "! git rev-parse -q --verify llmc/ann && "
	    "! ls -d .git/objects/tmp_*");
	end(repo);
}

/* While git adds a worktree, its HEAD names no commit for a moment, and every
 * fetch of that moment fails. */
TEST(an_import_while_a_worktree_is_added_is_made_again)
{
	struct repo *repo = begin();
	cleanup_free char *id = NULL;

	ck_assert_msg(make_clone(repo) == 0, "%s", repo->msg);
	id = xstrdup(repo_sh(repo,
	    IN_CLONE "git commit -q --allow-empty -m b && git rev-parse HEAD"));
	repo_sh(repo,
	    "git worktree add -q --detach ../new && "
	    "echo 0000000000000000000000000000000000000000 "
	    ">.git/worktrees/new/HEAD && "
	    "printf '%s\\n' '#!/bin/sh' "
	    "'test ! -e again || git rev-parse main >.git/worktrees/new/HEAD' "
	    "'touch again' 'exec \"$@\"' >box && chmod +x box");
	strv_take(&box, file_join(repo->root, "box"));
	ck_assert_msg(import(repo, id, 0) == 0, "%s", repo->msg);
	repo_sh(repo, "test -e again && git worktree remove --force ../new");
	end(repo);
}

TEST(what_a_worker_plants_in_its_clone_does_nothing_at_an_import)
{
	struct repo *repo = begin_boxed();
	cleanup_free char *id = NULL;

	id = xstrdup(repo_sh(repo,
	    IN_CLONE
	    "echo '* filter=f diff=f' >.gitattributes && git add . && "
	    "git commit -qm b && "
	    "for key in uploadpack.packObjectsHook filter.f.clean "
	    "filter.f.smudge filter.f.process core.fsmonitor core.sshCommand "
	    "core.pager core.editor diff.external gpg.program "
	    "core.alternateRefsCommand core.gitProxy; do "
	    "git config $key \"touch $B/planted; cat\"; done; "
	    "mkdir -p .git/hooks; for hook in reference-transaction post-update "
	    "pre-receive update post-checkout; do "
	    "printf '#!/bin/sh\\ntouch %s/planted\\n' \"$B\" >.git/hooks/$hook; "
	    "chmod +x .git/hooks/$hook; done; git rev-parse HEAD"));
	repo_sh(repo, "rm -f \"$B/planted\"");
	ck_assert_msg(import(repo, id, 0) == 0, "%s", repo->msg);
	repo_sh(repo, "test ! -e \"$B/planted\"");
	end(repo);
}

/* A tree that git sends as a change of the larger one before it: then git looks
 * at what it names when the pack is complete, and in its place. */
#define LIST(count)                               \
	"i=0; while [ $i -lt " #count             \
	" ]; do printf '100644 blob %s\\t%s\\n' " \
	"$x a-file-$i; i=$((i+1)); done"
#define IN_A_CHANGE(name, blob)                                        \
	"x=$(echo x | git hash-object -w --stdin); "                   \
	"p=$(git commit-tree -p HEAD -m large $({ " LIST(              \
	    300) "; } | git mktree)); "                                \
		 "{ printf '100644 blob %s\\t" name "\\n' $(" blob     \
		 " | git hash-object -w --stdin); " LIST(250) "; } | " \
							      "git mktree"

/* What git refuses, in a commit of its own. */
static const struct {
	const char *tree; /* prints its id, and may set $p, its parent */
} broken[] = {
	/* A folder named .git: a checkout of it would be a trap. */
	{ "sub=$(printf '100644 blob %s\\tconfig\\n' $(echo x | "
	  "git hash-object -w --stdin) | git mktree); "
	  "printf '040000 tree %s\\t.git\\n' $sub | git mktree" },
	{ IN_A_CHANGE(".gitmodules",
	    "printf '[submodule \"a\"]\\npath = a\\nurl = -u./payload\\n'") },
	{ IN_A_CHANGE(".gitmodules",
	    "printf '[submodule \"../../a\"]\\npath = a\\nurl = ./a\\n'") },
	{ IN_A_CHANGE(
	    ".gitattributes", "head -c 3000 /dev/zero | tr '\\0' a") },
};

/* No object of it is in the user's repository afterwards. */
TEST_ROWS(a_broken_object_is_not_imported, nitems(broken))
{
	struct repo *repo = begin_boxed();
	cleanup_free char *script = NULL, *id = NULL;

	script = xasprintf(IN_CLONE
	    "p=HEAD; { %s; } >../tree; git commit-tree -p $p -m bad "
	    "$(cat ../tree)",
	    broken[_i].tree);
	id = xstrdup(repo_sh(repo, script));
	ck_assert_msg(
	    import(repo, id, 0) == -EINVAL, "%d %s", repo->code, repo->msg);
	setenv("ID", id, 1);
	ck_assert_str_eq(repo_sh(repo,
			     "! git cat-file -e $ID 2>/dev/null && "
			     "ls -d .git/objects/tmp_* 2>/dev/null; "
			     "git fsck --no-progress --unreachable 2>&1"),
	    "");
	end(repo);
}

TEST(more_than_the_limit_is_not_imported)
{
	struct repo *repo = begin_boxed();
	cleanup_free char *id = NULL;

	id = xstrdup(repo_sh(repo,
	    IN_CLONE "head -c 3000000 /dev/urandom >big && git add big && "
		     "git commit -qm big && git rev-parse HEAD"));
	ck_assert_msg(import(repo, id, 1024 * 1024) == -EFBIG, "%d %s",
	    repo->code, repo->msg);
	setenv("ID", id, 1);
	repo_sh(repo, "! git cat-file -e $ID");
	ck_assert_int_eq(import(repo, id, 0), 0);
	end(repo);
}

TEST(partial_clones_and_lfs_are_refused_with_words)
{
	struct repo *repo = begin();

	repo_sh(repo, "mkdir -p .git/lfs/objects/ab");
	ck_assert_int_eq(make_clone(repo), -ENOTSUP);
	ck_assert(strstr(repo->msg, "Git LFS") != NULL);
	ck_assert(strstr(repo->msg, "sandbox = \"worktree\"") != NULL);
	repo_sh(repo,
	    "rm -r .git/lfs; mkdir -p .git/objects/pack; "
	    ">.git/objects/pack/pack-1.promisor");
	ck_assert_int_eq(make_clone(repo), -ENOTSUP);
	ck_assert(strstr(repo->msg, "partial clone") != NULL);
	ck_assert(!file_exists(clone_dir));
	end(repo);
}

TEST(a_clone_that_fails_leaves_nothing)
{
	struct repo *repo = begin();

	strv_add(&box, "false");
	ck_assert_int_eq(make_clone(repo), -EIO);
	ck_assert(!file_exists(clone_dir));
	end(repo);
}
