/* SPDX-License-Identifier: ISC */

/* Repositories with things that merges get wrong. */

#include "repo-landing.h"

/* The candidate's tree is that of git's own merge; look at it with $ID. */
static void
assert_merges(struct repo_landing *landing)
{
	struct repo *repo = landing->repo;

	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_BUILT);
	setenv("ID", landing->built.commit, 1);
	ck_assert_str_eq(landing->built.tree,
	    repo_sh(repo,
		"git worktree add -q --detach \"$B/m\" main; cd \"$B/m\"; "
		"git merge -q llmc/ann >/dev/null; "
		"git rev-parse HEAD^{tree}"));
}

TEST(line_ends)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "git config core.autocrlf true; "
	    "seq 1 30 | sed 's/$/\\r/' >crlf.txt; git add .; "
	    "git commit -qm crlf");
	repo_wt(repo,
	    "git reset -q --hard main; sed -i 's/^3\\r/three\\r/' crlf.txt; "
	    "git commit -qam ann");
	repo_sh(repo, "sed -i 's/^25\\r/x\\r/' crlf.txt; git commit -qam main");
	assert_merges(landing);
	ck_assert_str_eq(repo_sh(repo,
			     "git cat-file blob $ID:crlf.txt | tr -d '\\n' | "
			     "tr '\\r' R"),
	    "12three456789101112131415161718192021222324x2627282930");
}

/* One side has its files renormalized. */
TEST(line_ends_that_changed)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "git config merge.renormalize true; "
	    "seq 1 30 | sed 's/$/\\r/' >f.txt; git add .; git commit -qm crlf");
	repo_wt(repo,
	    "git reset -q --hard main; sed -i 's/^3\\r/three\\r/' f.txt; "
	    "git commit -qam ann");
	repo_sh(repo,
	    "echo '*.txt text' >.gitattributes; git add --renormalize .; "
	    "git add .; git commit -qm normal; "
	    "git -C \"$B/check\" checkout -q --detach main");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_BUILT);
	setenv("ID", landing->built.commit, 1);
	ck_assert_str_eq(
	    repo_sh(repo, "git cat-file blob $ID:f.txt | sed -n 2,4p"),
	    "2\nthree\n4");
}

/* They are those of the folder that it is built in, not of the user's. */
TEST(attributes)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;
	const char *own = landing->dir;

	repo_sh(repo,
	    "git branch plain; echo 'list merge=union' >.gitattributes; "
	    "echo 1 >list; git add .; git commit -qm list");
	repo_wt(repo,
	    "git reset -q --hard main; echo ann >>list; git commit -qam ann");
	repo_sh(repo,
	    "echo main >>list; git commit -qam main; git checkout -q plain; "
	    "git -C \"$B/check\" checkout -q --detach main");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_BUILT);
	setenv("ID", landing->built.commit, 1);
	ck_assert_str_eq(repo_sh(repo, "git show $ID:list"), "1\nmain\nann");
	landing->dir = repo->root;
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_CONFLICT);
	landing->dir = own;
}

TEST(sparse_checkout)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "mkdir in out; echo i >in/f; echo o >out/f; git add .; "
	    "git commit -qm folders; git sparse-checkout set in");
	repo_wt(repo,
	    "git reset -q --hard main; echo ann >>out/f; git commit -qam ann");
	repo_sh(repo, "echo main >>in/f; git commit -qam main");
	assert_merges(landing);
	ck_assert_str_eq(
	    repo_sh(repo, "git show $ID:in/f $ID:out/f"), "i\nmain\no\nann");
}

TEST(links_modes_and_names)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "echo s >script; ln -s a.txt link; >file; git add .; "
	    "git commit -qm more");
	repo_wt(repo,
	    "git reset -q --hard main; chmod +x script; "
	    "ln -sfn /elsewhere link; rm file; mkdir file; >file/in; "
	    "n=$(printf 'n\\377\\n\\\"x'); echo 1 >\"$n\"; git add -A; "
	    "git commit -qm ann");
	repo_sh(repo, "echo t >>script; git commit -qam main");
	assert_merges(landing);
	ck_assert_str_eq(
	    repo_sh(repo,
		"git ls-tree -rz $ID | sed -z 's/ .*\t/ /' | "
		"tr '\\0\\377' '|~'; git show $ID:script $ID:link"),
	    "100644 a.txt|100644 file/in|120000 link|100644 n~\n\\\"x|"
	    "100755 script|s\nt\n/elsewhere");
}

/* Larger than what an answer of git's may be. */
TEST(a_huge_file)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "git config core.bigFileThreshold 8m; git config core.compression "
	    "0; truncate -s 48M huge; git add .; git commit -qm huge");
	repo_wt(repo,
	    "git reset -q --hard main; echo end >>huge; git commit -qam ann");
	repo_sh(repo, "echo m >>a.txt; git commit -qam main");
	assert_merges(landing);
	ck_assert_str_eq(repo_sh(repo, "git cat-file -s $ID:huge"), "50331652");
}

TEST(submodules)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;
	const char *bumped;

	bumped = repo_sh(repo,
	    "git init -q \"$B/lib\"; cd \"$B/lib\"; git commit -q "
	    "--allow-empty -m l1; cd \"$R\"; git -c protocol.file.allow=always "
	    "submodule --quiet add \"$B/lib\" lib 2>/dev/null; "
	    "git commit -qm lib; cd \"$B/lib\"; "
	    "git commit -q --allow-empty -m l2; git rev-parse HEAD");
	setenv("L", bumped, 1);
	repo_wt(repo,
	    "git reset -q --hard main; git update-index --cacheinfo "
	    "160000,$L,lib; git commit -qm bump");
	repo_sh(repo, "echo m >>a.txt; git commit -qam main");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_BUILT);
	setenv("ID", landing->built.commit, 1);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse $ID:lib"), bumped);
	/* Both sides, and not populated there: nobody can merge that. */
	repo_sh(repo,
	    "cd \"$B/lib\"; git commit -q --allow-empty -m l3; "
	    "L=$(git rev-parse HEAD); cd \"$R\"; git update-index "
	    "--cacheinfo 160000,$L,lib; git commit -qm other");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_CONFLICT);
	ck_assert_str_eq(landing->paths, "lib|");
	/* Populated, git knows that one is on top of the other. */
	repo_sh(repo,
	    "cd \"$B/check\"; git checkout -q --detach main; "
	    "git -c protocol.file.allow=always submodule --quiet update --init "
	    "2>/dev/null");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_SAME);
}

/* As git-lfs does it: what is stored is not what is in the folder. */
TEST(filters)
{
	cleanup_landing struct repo_landing *landing = repo_landing_new();
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "git config filter.up.clean 'tr A-Z a-z'; "
	    "git config filter.up.smudge 'tr a-z A-Z'; "
	    "git config filter.up.required true; "
	    "echo '*.up filter=up merge=up -text' >.gitattributes; "
	    "seq -f 'line%g' 1 30 >f.up; git add .; git commit -qm f; "
	    "git -C \"$B/check\" checkout -q --detach main");
	repo_wt(repo,
	    "git reset -q --hard main; sed -i s/LINE3$/ANN/ f.up; "
	    "git commit -qam ann");
	repo_sh(repo, "sed -i s/line25$/main/ f.up; git commit -qam main");
	assert_merges(landing);
	ck_assert_str_eq(
	    repo_sh(repo, "git cat-file blob $ID:f.up | sed -n '3p;25p'"),
	    "ann\nmain");
}

TEST(lfs)
{
	cleanup_landing struct repo_landing *landing =
	    repo_landing_on(repo_new_lfs());
	struct repo *repo = landing->repo;

	repo_sh(repo,
	    "git lfs track '*.bin' >/dev/null; echo one >f.bin; echo g >g.bin; "
	    "git add .; git commit -qm f; "
	    "git -C \"$B/check\" checkout -q --detach main");
	repo_wt(repo,
	    "git reset -q --hard main; echo ann >f.bin; git commit -qam ann");
	repo_sh(repo, "echo main >g.bin; git commit -qam main");
	assert_merges(landing);
	/* Pointers are stored; the check gets the content. */
	ck_assert_str_eq(
	    repo_sh(repo, "git show $ID:f.bin | sed -n 's,v1,,;1s,/.*,,p'"),
	    "version https:");
	ck_assert_str_eq(repo_sh(repo,
			     "cd \"$B/check\"; git checkout -q --detach $ID; "
			     "cat f.bin g.bin; git status --short"),
	    "ann\nmain");
	/* Both changed it: two pointers cannot be merged. */
	repo_sh(repo, "echo main >f.bin; git commit -qam more");
	repo_expect_build(landing, "main", "llmc/ann", GIT_CANDIDATE_CONFLICT);
	ck_assert_str_eq(landing->paths, "f.bin|");
}
