/* SPDX-License-Identifier: ISC */

/* A reset, a removal and the end of a rebase throw nothing away. */

#include "repo.h"
#include "git-facts.h"
#include "git-private.h"

#define WORK      "echo two >>a.txt; echo new >new.txt; git add .; git commit -qm w1"
#define ELSEWHERE "echo e >else.txt; git add else.txt; git commit -qm else"
#define AGAINST   "echo other >>a.txt; git commit -qam against"
#define REFS      "git for-each-ref --format='%(refname)' refs/llmc/salvage"

/* Is it as the landing branch? */
static void
is_reset(struct repo *repo)
{
	ck_assert_str_eq(
	    repo_wt(
		repo, "git status --porcelain; git rev-parse HEAD llmc/ann"),
	    repo_sh(repo, "git rev-parse main main"));
}

TEST(all_that_is_thrown_away_is_saved)
{
	static const struct {
		const char *make, *look; /* with $S, the ref */
		const char *want;
	} table[] = {
		{ "echo mine >>a.txt", "git show $S:a.txt", "one\nmine" },
		{ "echo u >u; mkdir d; echo v >d/v",
		    "git show $S:u; git show $S:d/v", "u\nv" },
		{ "rm a.txt", "git ls-tree $S", "" },
		{ WORK, "git log --format=%s main..$S", "w1" },
		{ "git checkout -q --detach; " WORK
		  "; git checkout -q llmc/ann; "
		  "git checkout -q --detach HEAD@{1}",
		    "git log --format=%s main..$S", "w1" },
		/* The index has another version than the file. */
		{ "echo staged >>a.txt; git add a.txt; echo last >a.txt",
		    "git show $S:a.txt; git log --format=%s $S | grep -c "
		    "'^Index of ann'; git show $S^2:a.txt",
		    "last\n1\none\nstaged" },
		{ "echo staged >>a.txt; git add a.txt; echo one >a.txt",
		    "git show $S^2:a.txt", "one\nstaged" },
		{ "echo staged >s; git add s; rm s", "git show $S^2:s",
		    "staged" },
	};

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();
		cleanup_free char *look =
		    xasprintf("S=$(%s); %s", REFS, table[i].look);

		repo_wt(repo, table[i].make);
		ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
		is_reset(repo);
		ck_assert_str_eq(repo->text, repo_sh(repo, REFS));
		ck_assert_msg(strcmp(repo_sh(repo, look), table[i].want) == 0,
		    "%s: %s", table[i].make, repo_sh(repo, look));
	}
}

/* Contents are saved as they are: no encoding, filter or line end is in the
 * way, and no filter runs. */
TEST(what_git_cannot_convert_is_saved)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_sh(repo,
	    "git config filter.bad.clean 'touch ran; false'; "
	    "git config filter.bad.required true");
	repo_wt(repo,
	    "echo '*.u working-tree-encoding=UTF-16' >.gitattributes; "
	    "echo '*.f filter=bad' >>.gitattributes; "
	    "echo 'a.txt filter=bad' >>.gitattributes; "
	    "printf abc >'odd \"name\n.u'; echo f >x.f; echo 2 >>a.txt; "
	    "ln -s x.f link; printf 'c\\r\\n' >crlf; "
	    "echo 'crlf text' >>.gitattributes");
	ck_assert_msg(repo_salvage(repo, "s1") == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo_sh(repo,
		"S=refs/llmc/salvage/ann/s1; git show $S:a.txt; "
		"git show $S:x.f; git show \"$S:odd \\\"name\n.u\"; echo; "
		"git show $S:crlf | od -An -c | tr -d ' '; "
		"git ls-tree $S link | cut -c1-6; git ls-tree -r $S | wc -l"),
	    "one\n2\nf\nabc\nc\\r\\n\n120000\n6");
	ck_assert_str_eq(repo_wt(repo, "ls"),
	    "a.txt\ncrlf\nlink\n"
	    "odd \"name\n.u\nx.f");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	is_reset(repo);
	repo_wt(repo,
	    "echo '* working-tree-encoding=UTF-16' >.gitattributes; "
	    "printf abc >a.txt");
	ck_assert_msg(repo_remove(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo_sh(repo,
		"for r in $(" REFS "); do git show $r:a.txt; echo; done | "
		"grep -cx abc"),
	    "1");
}

/* A file becomes a folder, or the folder of a file a link elsewhere. */
TEST(what_became_something_else_is_saved)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo,
	    "mkdir d e; echo 1 >d/f; echo 1 >e/f; echo 1 >p; git add .; "
	    "git commit -qm more; rm a.txt; mkdir a.txt; echo in >a.txt/in; "
	    "mv d \"$B/away\"; ln -s \"$B/away\" d; rm e/f p; mkfifo p");
	ck_assert_msg(repo_salvage(repo, "s1") == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo_sh(
		repo, "git ls-tree -r --name-only refs/llmc/salvage/ann/s1"),
	    "a.txt/in\nd");
	repo_wt(repo, "rm p");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	is_reset(repo);
}

/* A kill in a reset, and then the user rewrites the landing branch. */
TEST(head_and_branch_apart_are_both_saved)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, WORK);
	if (repo->detached)
		repo_sh(repo,
		    "git -C \"$W\" checkout -q --detach main; "
		    "git commit -q --amend -m rewritten");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	is_reset(repo);
	ck_assert_str_eq(
	    repo_sh(
		repo, "git log --format=%s main..$(" REFS ") | grep -cx w1"),
	    "1");
	repo_wt(repo, WORK);
	if (repo->detached)
		repo_sh(repo,
		    "git -C \"$W\" checkout -q --detach main; "
		    "git commit -q --amend -m again");
	ck_assert_msg(repo_remove(repo) == 0, "%s", repo->msg);
}

TEST(what_cannot_be_saved_is_not_thrown_away)
{
	cleanup_repo struct repo *repo = repo_with_tree();
	const char *look = "git status --porcelain --branch; cat u a.txt; git "
			   "log --format=%s -1";
	const char *before;

	repo_wt(repo, WORK "; echo u >u; echo mine >>a.txt");
	repo_sh(repo, "mkdir -p .git/refs/llmc; >.git/refs/llmc/salvage");
	before = repo_wt(repo, look);
	ck_assert_int_eq(repo_reset(repo), -EIO);
	ck_assert_ptr_nonnull(strstr(repo->msg, "refs/llmc/salvage"));
	ck_assert_str_eq(repo_wt(repo, look), before);
	ck_assert_int_eq(repo_remove(repo), -EIO);
	ck_assert_str_eq(repo_wt(repo, look), before);
	/* Commits alone, too. */
	repo_wt(repo, "git checkout -q -- .; rm u");
	before = repo_wt(repo, "git rev-parse llmc/ann");
	ck_assert_int_eq(repo_reset(repo), -EIO);
	ck_assert_int_eq(repo_remove(repo), -EIO);
	/* The branch stays. */
	repo_sh(repo, "rm -rf \"$W\"");
	ck_assert_int_eq(repo_remove(repo), 0);
	ck_assert_str_eq(repo_sh(repo, "git rev-parse llmc/ann"), before);
}

TEST(nothing_to_lose_costs_nothing)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_attached_only();
	repo_trap(repo, 0, "");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	ck_assert_int_eq(repo_trap_count(repo), 1);
	repo_untrap(repo);
	repo_sh(repo, ELSEWHERE);
	repo_trap(repo, 0, "");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	ck_assert_int_eq(repo_trap_count(repo), 3);
	repo_untrap(repo);
	is_reset(repo);
	ck_assert_str_eq(repo->text, "");
	ck_assert_str_eq(repo_sh(repo, REFS), "");
}

/* A file without an end is no reason to wait, and not to be lost. */
TEST(a_big_file_is_moved_aside)
{
	static const char *const files[] = { "big", "d/big", "a.txt",
		"staged" };

	for (size_t i = 0; i < nitems(files); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();
		cleanup_free char *make = xasprintf(
		    "mkdir -p d; echo u >u; echo s >staged; git add staged; "
		    "echo mark >%s; truncate -s 60G %s",
		    files[i], files[i]);
		cleanup_free char *look =
		    xasprintf("stat -c %%s \"$W\".kept-*/%s; head -n 1 "
			      "\"$W\".kept-*/%s",
			files[i], files[i]);
		int64_t began = clock_mono_ms();

		repo_wt(repo, make);
		/* Whoever only looks, or lands it, is told. */
		ck_assert_int_eq(repo_salvage(repo, "s1"), -EFBIG);
		ck_assert_ptr_nonnull(strstr(repo->msg, files[i]));
		ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
		ck_assert_int_lt(clock_mono_ms() - began, 20000);
		is_reset(repo);
		ck_assert_str_eq(repo_sh(repo, look), "64424509440\nmark");
		ck_assert_str_eq(repo_sh(repo, "git show $(" REFS "):u"), "u");
		free(look);
		look = xasprintf("git log -1 --format=%%B $(%s) | "
				 "grep -c '^Moved aside: %s is now .*kept-%s'",
		    REFS, files[i], repo->stamp);
		ck_assert_str_eq(repo_sh(repo, look), "1");
	}
}

TEST(a_file_that_cannot_be_read_is_moved_aside)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	if (!repo_obey_modes())
		return;
	repo_wt(repo,
	    "echo 2 >>a.txt; echo s >secret; chmod 0 a.txt secret; echo u >u");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	is_reset(repo);
	ck_assert_str_eq(
	    repo_sh(repo,
		"cd \"$W\".kept-*; chmod 600 *; cat a.txt secret; cd \"$R\"; "
		"git show $(" REFS "):u; git log -1 --format=%B $(" REFS
		") | grep -c '^Moved aside: '"),
	    "one\n2\ns\nu\n2");
}

TEST(a_big_file_alone_is_named_and_survives_a_removal)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, "truncate -s 60G big");
	ck_assert_int_eq(repo_leftovers(repo, "left"), -EFBIG);
	ck_assert_msg(repo_remove(repo) == 0, "%s", repo->msg);
	ck_assert_str_ne(repo->text, "");
	ck_assert(!file_exists(repo->dir));
	ck_assert_str_eq(
	    repo_sh(repo,
		"stat -c %s \"$W\".kept-*/big; git log -1 --format=%B $(" REFS
		") | grep -c '^Moved aside: big'"),
	    "64424509440\n1");
}

/* Else the one ref would not say what became of the file. */
TEST(a_big_file_is_named_though_all_else_was_saved_before)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, "echo u >u");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	repo->stamps--;
	repo_wt(repo, "echo u >u; truncate -s 60G big");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo_sh(repo,
			     "git log -1 --format=%B $(" REFS
			     ") | grep -c '^Moved aside: big'"),
	    "1");
}

/* Checks leave the same files again and again. */
TEST(big_files_of_checks_have_one_place)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo->keep_as = "checks";
	for (int i = 1; i <= 102; i += i == 2 ? 99 : 1) {
		cleanup_free char *make = xasprintf(
		    "mkdir d; truncate -s 60G d/big x; echo %d >>d/big", i);

		repo_wt(repo, make);
		ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
		is_reset(repo);
	}
	ck_assert_str_eq(
	    repo_sh(repo,
		"set -- \"$W\".kept-*; echo $#; cd \"$W\".kept-checks; "
		"find . -type f | sort; tail -c 4 d/big"),
	    "1\n./d/big\n./x\n102");
	/* A file where a folder was, and a folder where a file was. */
	repo_wt(repo, "mkdir x; truncate -s 60G d x/big");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	is_reset(repo);
	ck_assert_str_eq(
	    repo_sh(repo, "cd \"$W\".kept-checks; find x -type f"), "x/big");
}

/* What was moved before may have had links in it. */
TEST(no_link_in_the_one_place_is_followed)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo->keep_as = "checks";
	repo_sh(repo,
	    "mkdir -p users \"$W\".kept-checks; echo mine >users/big; "
	    "ln -s \"$R/users\" \"$W\".kept-checks/d");
	repo_wt(repo, "mkdir d; truncate -s 60G d/big");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	is_reset(repo);
	ck_assert_str_eq(
	    repo_sh(repo,
		"head -c 9 users/big; cd \"$W\".kept-checks; find . -type f"),
	    "mine\n./d/big");
}

/* A repository that somebody made there, where the branch now has a file. */
/* The worker has put a link there since git listed the file. */
TEST(nothing_is_moved_out_of_another_folder)
{
	cleanup_repo struct repo *repo = repo_new(false);
	cleanup_buf struct buf words = BUF_INIT;
	struct git_kept kept = { .name = xstrdup("s1") };
	struct err err = { 0 };

	ck_assert_int_eq(repo_add(repo), 0);
	repo_sh(repo,
	    "mkdir -p users/d \"$W/e\"; echo mine >users/d/big; "
	    "ln -s \"$R/users\" \"$W/l\"; echo own >\"$W/e/big\"");
	ck_assert_int_eq(
	    git_kept_move(repo->dir, &kept, "l/d/big", &words, &err), 0);
	ck_assert_str_eq(words.data, "");
	ck_assert_str_eq(repo_sh(repo, "cat users/d/big"), "mine");
	ck_assert_int_eq(
	    git_kept_move(repo->dir, &kept, "e/big", &words, &err), 0);
	ck_assert_str_eq(repo_sh(repo, "cat \"$W.kept-s1/e/big\""), "own");
	free(kept.name);
}

TEST(a_repository_in_the_way_is_moved_aside)
{
	static const struct {
		const char *there, *branch;
	} table[] = {
		{ "n", "echo f >n" },
		{ "n", "mkdir n; echo f >n/f" },
		{ "n/m/o", "echo f >n" },
		{ "n/m/o", "mkdir n; echo f >n/m" },
		{ "'n\nx'", "echo f >'n\nx'" },
	};

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();
		cleanup_free char *make =
		    xasprintf("git init -q %s; cd %s; echo mine >f; git add f; "
			      "git commit -qm mine; echo more >>f; git init -q "
			      "\"$W/beside\"; >\"$W/beside/g\"",
			table[i].there, table[i].there);
		cleanup_free char *branch = xasprintf(
		    "%s; git add .; git commit -qm f", table[i].branch);
		cleanup_free char *look = xasprintf(
		    "cd \"$W\".kept-*/%s; cat f; git log --format=%%s; "
		    "ls \"$W/beside\"",
		    table[i].there);

		repo_wt(repo, make);
		repo_sh(repo, branch);
		ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
		ck_assert_str_eq(repo_sh(repo, look), "mine\nmore\nmine\ng");
		ck_assert_str_eq(repo_wt(repo,
				     "git rev-parse HEAD; git status "
				     "--porcelain"),
		    repo_sh(repo, "git rev-parse main; echo '?? beside/'"));
	}
}

TEST(changes_in_a_submodule_stay)
{
	cleanup_repo struct repo *repo = repo_new_empty();

	repo_sh(repo,
	    "git config --global protocol.file.allow always; git init -q -b "
	    "main \"$B/lib\"; cd \"$B/lib\"; echo l >l; git add l; "
	    "git commit -qm l; cd \"$R\"; git submodule --quiet add "
	    "\"$B/lib\" lib; git commit -qm sub; "
	    "git config submodule.recurse true");
	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo,
	    "git submodule --quiet update --init 2>/dev/null; "
	    "echo mine >>lib/l; echo u >lib/u; echo u >u");
	repo_sh(repo, ELSEWHERE);
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(
	    repo_wt(repo, "cat lib/l lib/u; ls"), "l\nmine\nu\nelse.txt\nlib");
	ck_assert_int_eq(repo_remove(repo), -ENOTEMPTY);
	ck_assert_ptr_nonnull(strstr(
	    repo->msg, "modules/lib has changes that are not committed"));
	repo_wt(repo, "git -C lib checkout -q -- l; rm lib/u");
	ck_assert_msg(repo_remove(repo) == 0, "%s", repo->msg);
}

TEST(a_removal_saves)
{
	static const char *const damage[] = { ":", "rm -rf \"$W\"",
		"git worktree remove --force \"$W\"",
		"rm -rf \"$W\"; mkdir \"$W\"" };

	for (size_t i = 0; i < nitems(damage); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();

		repo_wt(repo, WORK "; echo u >u");
		repo_sh(repo, damage[i]);
		ck_assert_msg(
		    repo_remove(repo) == 0, "%s: %s", damage[i], repo->msg);
		ck_assert(!file_exists(repo->dir));
		ck_assert_str_eq(repo->text, repo_sh(repo, REFS));
		ck_assert_str_eq(
		    repo_sh(repo, "git show $(" REFS "):new.txt"), "new");
		if (i == 0)
			repo_sh(repo, "git show $(" REFS "):u");
	}
}

/* The worker makes its branch another name of one that is not its own, when
 * that was looked at already. */
TEST(a_branch_that_leads_to_another_is_not_reset)
{
	cleanup_repo struct repo *repo = repo_with_tree();
	const char *theirs;

	repo_attached_only();
	theirs = repo_sh(repo,
	    "git branch -q theirs $(git commit-tree -p main -m theirs "
	    "main^{tree}); git rev-parse theirs");
	repo_wt(repo, WORK "; echo mine >>a.txt");
	repo_meanwhile(repo, "*clean*",
	    "git symbolic-ref refs/heads/llmc/ann refs/heads/theirs");
	ck_assert_int_eq(repo_reset(repo), -EUCLEAN);
	repo_untrap(repo);
	ck_assert_ptr_nonnull(strstr(repo->msg, "refs/heads/theirs"));
	ck_assert_str_eq(repo_sh(repo, "git rev-parse theirs"), theirs);
}

TEST(a_conflict_half_resolved_is_saved)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo, WORK);
	repo_sh(repo, AGAINST);
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert(repo->conflict);
	repo_wt(repo, "echo 'one, two and other' >a.txt");
	ck_assert_msg(repo_abort(repo) == 0, "%s", repo->msg);
	ck_assert_str_eq(repo->text, repo_sh(repo, REFS));
	ck_assert_str_eq(
	    repo_sh(repo, "git show $(" REFS "):a.txt"), "one, two and other");
	ck_assert_str_eq(repo_wt(repo,
			     "git status --porcelain; git rev-parse HEAD | "
			     "grep -cx \"$(git rev-parse llmc/ann)\""),
	    "1");
	/* No rebase, no ref. */
	ck_assert_int_eq(repo_abort(repo), 0);
	ck_assert_str_eq(repo->text, "");
	/* A new rebase over an old one does the same. */
	ck_assert_int_eq(repo_rebase(repo), 0);
	repo_wt(repo, "echo again >a.txt");
	ck_assert_int_eq(repo_rebase(repo), 0);
	ck_assert_str_eq(
	    repo_sh(repo, "for r in $(" REFS "); do git show $r:a.txt; done"),
	    "one, two and other\nagain");
}

/* It was killed while it was made. */
TEST(a_reset_finishes_a_worktree)
{
	cleanup_repo struct repo *repo = repo_with_tree();

	repo_wt(repo,
	    "d=$(git rev-parse --git-dir); echo initializing >\"$d/locked\"; "
	    "rm \"$d/index\" a.txt");
	ck_assert_msg(repo_reset(repo) == 0, "%s", repo->msg);
	is_reset(repo);
	ck_assert_str_eq(
	    repo_sh(
		repo, "git worktree list --porcelain | grep -c locked || :"),
	    "0");
	repo_wt(repo, "git worktree lock --reason mine .; echo u >u");
	ck_assert_int_eq(repo_reset(repo), 0);
	ck_assert_str_eq(
	    repo_sh(repo, "git worktree list --porcelain | grep locked"),
	    "locked mine");
}

/* --- comparison -------------------------------------------------------- */

static void
add_paths(struct repo *repo, const char *const *paths, const char *mark)
{
	for (size_t i = 0; paths[i] != NULL; i++) {
		strlcat(repo->text, mark, sizeof repo->text);
		strlcat(repo->text, paths[i], sizeof repo->text);
		strlcat(repo->text, "|", sizeof repo->text);
	}
}

/* "-" stands before those that are lost. */
static void
compare_done(
    const struct git_compared *compared, const struct err *err, void *arg)
{
	struct repo *repo = arg;

	repo->text[0] = '\0';
	if (compared != NULL) {
		add_paths(repo, compared->lost, "-");
		add_paths(repo, compared->changed, "");
	}
	repo_answered(repo, err);
}

static const char *
compare(struct repo *repo)
{
	repo_begin(repo);
	git_compare(repo->git, repo->dir, "llmc/ann",
	    "refs/llmc/salvage/ann/s1", compare_done, repo);
	repo_wait(repo);
	return repo->code == 0 ? repo->text : repo->msg;
}

TEST(contents_are_compared_with_what_was_saved)
{
	static const struct {
		const char *change, *want;
	} table[] = {
		{ "touch *", "" },
		{ "git add .", "" },
		{ "echo new >other; echo x >same", "" },
		{ "git add .; git commit -qm all", "" },
		{ "git checkout -q -- a.txt", "-a.txt|" },
		{ "git stash -qu", "-gone|-a.txt|-link|-new|-run|" },
		{ "git reset -q --hard", "-gone|-a.txt|" },
		{ "git clean -qfd", "-link|-new|-run|" },
		{ "echo other >gone", "gone|" },
		{ "echo later >>a.txt; rm new", "-new|a.txt|" },
		{ "git checkout -q -- .; echo later >>a.txt", "-gone|a.txt|" },
		{ "echo ONE >new", "new|" },
		{ "chmod -x run", "run|" },
		{ "ln -sf there link", "link|" },
		{ "rm new; mkdir new; >new/new", "new|" },
	};

	for (size_t i = 0; i < nitems(table); i++) {
		cleanup_repo struct repo *repo = repo_with_tree();
		const char *got;

		repo_wt(repo,
		    "echo g >gone; echo s >same; git add .; git commit -qm b; "
		    "git tag base; rm gone; echo mine >>a.txt; echo one >new; "
		    "ln -s here link; echo r >run; chmod +x run");
		ck_assert_int_eq(repo_salvage(repo, "s1"), 0);
		repo_wt(repo, table[i].change);
		got = compare(repo);
		ck_assert_msg(strcmp(got, table[i].want) == 0, "%s: %s",
		    table[i].change, got);
		ck_assert_str_eq(repo_wt(repo,
				     "ls \"$(git rev-parse --git-dir)\" | "
				     "grep -c llmc || :"),
		    "0");
	}
}
