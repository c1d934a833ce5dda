/* SPDX-License-Identifier: ISC */

/*
 * Landing in checkouts with things that git treats in a special way. Each row
 * either lands, and then git takes the checkout for clean and the worktree for
 * checks has the same files; or it waits with words, and nothing has changed.
 */

#include "repo-landing.h"

struct fixture {
	const char *setup; /* in the checkout, then committed: "onto" */
	const char *work; /* in a worktree of its own, then committed: "id" */
	const char *user; /* in the checkout, behind that; NULL = nothing */
	const char *show, *shown; /* after the landing */
	const char *checked; /* in the worktree for checks; NULL = as shown */
	const char *status; /* of the checkout, NULL = clean */
};

/* Names that are not text, options, patterns. */
#define NAMES                                                           \
	"echo 1 >\"$N\"; echo 2 >'-rf'; "                               \
	"echo 3 >' '; echo 4 >':(top)x'; echo 5 >'*'; echo 6 >'a\\b'; " \
	"mkdir \"$(printf 'd\\t')\"; echo 7 >\"$(printf 'd\\t/')e\""

/* A library with three commits, and a submodule at its first one, where the
 * last one is not known. */
#define LIB                                                                \
	"git config --global protocol.file.allow always; "                 \
	"git init -q -b main \"$B/lib\"; cd \"$B/lib\"; for i in 1 2; do " \
	"echo $i >l; git add l; git commit -qm l$i; done; cd \"$R\""
#define SUBMODULE                                                     \
	LIB "; git submodule --quiet add \"$B/lib\" sub; "            \
	    "git -C sub checkout -q --detach HEAD~1; cd \"$B/lib\"; " \
	    "echo 3 >l; git commit -qam l3; cd \"$R\""
#define BUMP(n)                                                    \
	"git update-index --cacheinfo 160000,$(git -C \"$B/lib\" " \
	"rev-parse main~" #n "),sub"

static const struct fixture lands[] = {
	/* Line ends. */
	{ .setup = "git config core.autocrlf true; seq 3 >f; seq 3 >g",
	    .work = "seq 4 | sed 's/$/\\r/' >f; seq 2 >new",
	    .show = "cat f g new | tr '\\r' R",
	    .shown = "1R\n2R\n3R\n4R\n1\n2\n3\n1R\n2R",
	    .checked = "1R\n2R\n3R\n4R\n1R\n2R\n3R\n1R\n2R" },
	{ .setup = "echo '*.c text eol=crlf' >.gitattributes; seq 2 >x.c",
	    .work = "seq 3 >x.c; seq 1 >y.c",
	    .show = "cat x.c y.c | tr '\\r' R",
	    .shown = "1R\n2R\n3R\n1R" },
	{ .setup = "git config core.eol crlf; printf 'a\\0\\n' >bin",
	    .work = "echo '* text=auto' >.gitattributes; "
		    "printf 'b\\0\\n' >bin; echo two >>a.txt",
	    .show = "cat bin a.txt | tr '\\r\\0' RZ",
	    .shown = "bZ\noneR\ntwoR" },
	/* What was stored with CRLF is normalized by the landing. */
	{ .setup = "printf 'x\\r\\n' >f.txt",
	    .work = "echo '*.txt text' >.gitattributes; "
		    "git add --renormalize .",
	    .show = "tr '\\r' R <f.txt",
	    .shown = "x" },
	/* Other ways in which a file is not what is stored. */
	{ .setup = "echo '*.w working-tree-encoding=UTF-16LE-BOM\n*.i ident' "
		   ">.gitattributes; echo a | iconv -t UTF-16 >f.w",
	    .work = "echo ab | iconv -t UTF-16 >f.w; echo '$Id$' >f.i",
	    .show = "iconv -f UTF-16 f.w; cut -c1-5 f.i",
	    .shown = "ab\n$Id: " },
	/* Filters of the user's run; the tree can only name one. */
	{ .setup = "git config filter.up.clean 'tr A-Z a-z'; "
		   "git config filter.up.smudge 'tr a-z A-Z'; "
		   "git config filter.up.required true",
	    .work = "echo '*.up filter=up\n*.evil filter=evil' "
		    ">.gitattributes; echo x >f.up; echo x >f.evil; "
		    "printf '[filter \"evil\"]\\nsmudge = >%s/ran' \"$B\" | "
		    "tee .gitconfig >.lfsconfig",
	    .show = "cat f.up f.evil; ls \"$B\" | grep ran; touch f.up",
	    .shown = "X\nx" },
	/* Links, folders and files in the place of each other. */
	{ .setup = "echo f >to-link; ln -s a.txt to-file; ln -s d to-dir; "
		   "mkdir d from-dir; echo d >d/f; echo e >from-dir/f",
	    .work = "ln -sf d to-link; rm to-file to-dir; echo g >to-file; "
		    "mkdir to-dir; echo h >to-dir/f; rm -r from-dir; "
		    "ln -s d from-dir",
	    .show = "readlink to-link from-dir; cat to-file to-dir/f d/f",
	    .shown = "d\nd\ng\nh\nd" },
	{ .setup = "echo f >f; mkdir d; echo d >d/f",
	    .work = "rm -r f d; mkdir f; echo in >f/in; echo d >d",
	    .show = "cat f/in d",
	    .shown = "in\nd" },
	{ .setup = "git config core.symlinks false; printf x >l; git add l; "
		   "git update-index --cacheinfo 120000,$(git hash-object l),l",
	    .work = "printf y >l",
	    .show = "cat l; git ls-files -s l | cut -c1-6",
	    .shown = "y120000" },
	/* Modes. */
	{ .setup = "echo x >x; echo y >y; chmod +x y",
	    .work = "chmod +x x; chmod -x y; echo z >z; chmod +x z",
	    .show = "stat -c %A x y z | cut -c4",
	    .shown = "x\n-\nx" },
	{ .setup = "git config core.fileMode false; echo x >x; echo y >y",
	    .work = "git update-index --chmod=+x x; echo y2 >y",
	    .user = "chmod +x y",
	    .show = "cat x y; git ls-files -s x y | cut -c1-6",
	    .shown = "x\ny2\n100755\n100644" },
	/* Names. */
	{ .setup = "echo x >x",
	    .work = NAMES,
	    .show = "cat ./* ./*/* | sort; git ls-files | wc -l",
	    .shown = "1\n2\n3\n4\n5\n6\n7\none\nx\n9" },
	{ .setup = NAMES,
	    .work = "git ls-files -z | xargs -0 -I{} sh -c 'echo 9 >\"./$1\"' "
		    "- {}; git rm -qf ':(literal)*'",
	    .show = "cat ./* | tr -d '\\n'; ls -d '*' 2>&1 | wc -l",
	    .shown = "9999991" },
	{ .setup = "echo x >readme; mkdir dir; echo y >dir/f",
	    .work = "git mv readme README; git mv dir Dir",
	    .user = "git config core.ignoreCase true",
	    .show = "ls; cat README Dir/f",
	    .shown = "Dir\nREADME\na.txt\nx\ny" },
	/* A checkout with only a part of the files. */
	{ .setup = "mkdir in out; echo i >in/f; echo o >out/f; echo p >out/g",
	    .work = "echo i2 >in/f; echo o2 >out/f; git rm -q out/g; "
		    "mkdir more; echo m >more/f; echo n >out/n; echo j >in/j",
	    .user = "git sparse-checkout set --cone in",
	    .show = "cat a.txt; for f in in/f in/j out/f out/g out/n more/f; "
		    "do cat $f 2>/dev/null || echo no; done",
	    .shown = "one\ni2\nj\nno\nno\nno\nno",
	    .checked = "one\ni2\nj\no2\nno\nn\nm" },
	{ .setup = "mkdir in out; echo i >in/f; echo o >out/f",
	    .work = "echo i2 >in/f; echo o2 >out/f; echo n >out/n",
	    .user = "git sparse-checkout set --cone --sparse-index in",
	    .show = "cat */*",
	    .shown = "i2",
	    .checked = "i2\no2\nn" },
	{ .setup = "mkdir d; echo c >d/x.c; echo h >d/x.h",
	    .work = "echo c2 >d/x.c; echo h2 >d/x.h; echo y >d/y.h; "
		    "echo z >z.c",
	    .user = "git sparse-checkout set --no-cone '*.c'",
	    .show = "find . -name '*.?' | sort | xargs cat",
	    .shown = "c2\nz",
	    .checked = "c2\nh2\ny\nz" },
	/* Kinds of an index. */
	{ .setup = "git update-index --split-index; seq 99 >f",
	    .work = "seq 3 >f; echo n >n; git rm -q a.txt",
	    .show = "cat f n; ls a.txt 2>&1 | wc -l; git fsck 2>&1",
	    .shown = "1\n2\n3\nn\n1" },
	{ .setup = "git config core.splitIndex true; git config "
		   "splitIndex.maxPercentChange 0; echo f >f",
	    .work = "echo g >f; echo n >n",
	    .show = "cat f n",
	    .shown = "g\nn" },
	{ .setup = "git update-index --index-version 4; mkdir d; echo f >d/f",
	    .work = "echo g >d/g; echo h >d/f",
	    .show = "cat d/f d/g; od -An -tu1 -j7 -N1 \"$R/.git/index\"",
	    .shown = "h\ng\n   4" },
	{ .setup = "git config feature.manyFiles true; echo '*.o' >.gitignore; "
		   ">x.o; git update-index --untracked-cache; mkdir d; >d/f",
	    .work = "git rm -q .gitignore d/f; echo n >n",
	    .user = "git status >/dev/null; mkdir d/e; >d/e/mine; "
		    "git status >/dev/null",
	    .show = "cat n",
	    .shown = "n",
	    .status = "?? d/\n?? x.o" },
	/* A monitor that says that nothing ever changes. */
	{ .setup = "git config core.fsmonitor \"$B/lie\"; "
		   "printf '#!/bin/sh\\necho $2' >\"$B/lie\"; "
		   "chmod +x \"$B/lie\"; echo f >f; git add .; "
		   "git update-index --fsmonitor; git status >/dev/null",
	    .work = "git config core.fsmonitor false; echo g >f",
	    .show = "cat f",
	    .shown = "g" },
	/* Marks of the user's in the index. */
	{ .setup = "echo f >f; echo g >g",
	    .work = "echo f2 >f; echo n >n",
	    .user = "git update-index --assume-unchanged f g; "
		    "git update-index --skip-worktree a.txt; echo my >g",
	    .show = "cat f n g",
	    .shown = "f2\nn\nmy",
	    .checked = "f2\nn\ng" },
	{ .setup = "echo f >f",
	    .work = "echo f2 >f; echo same >i",
	    .user = "echo same >i; git add -N i",
	    .show = "cat f i",
	    .shown = "f2\nsame" },
	/* Submodules. */
	{ .setup = SUBMODULE "; git config submodule.recurse true; "
			     "cd sub; h=$(git rev-parse --git-path hooks); "
			     "printf '#!/bin/sh\\n>\"$B/ran\"' "
			     ">\"$h/post-checkout\"; "
			     "chmod +x \"$h/post-checkout\"; cd ..",
	    .work = BUMP(1),
	    .show = "cat sub/l; ls \"$B\" | grep ran; :",
	    .shown = "2",
	    .checked = "" },
	{ .setup = SUBMODULE,
	    .work = BUMP(0),
	    .show = "cat sub/l; :",
	    .shown = "1",
	    .checked = "",
	    .status = " M sub" },
	/* With a name that is not what it says as a pattern. */
	{ .setup = LIB "; git --literal-pathspecs submodule --quiet add "
		       "\"$B/lib\" ':/x'; cd ':/x'; "
		       "git checkout -q --detach HEAD~1; cd \"$R\"",
	    .work = "git update-index --cacheinfo 160000,$(git -C "
		    "\"$B/lib\" rev-parse main),:/x",
	    .show = "cat :/x/l; :",
	    .shown = "2",
	    .checked = "" },
	{ .setup = LIB,
	    .work = "git submodule --quiet add \"$B/lib\" sub 2>&1",
	    .show = "ls -d sub/*; git ls-files sub",
	    .shown = "sub" },
	{ .setup = SUBMODULE,
	    .work = "git rm -q --cached sub; rmdir sub; git submodule --quiet "
		    "add \"$B/lib\" moved 2>&1",
	    .user = "cd sub; echo my >l; git commit -qam my",
	    .show = "cat sub/l; ls moved",
	    .shown = "my",
	    .checked = "",
	    .status = "?? sub/" },
	{ .setup = LIB "; mkdir d; echo f >d/f; echo g >g; "
		       "echo '*.o' >.gitignore",
	    .work = "git rm -rq d g; git submodule --quiet add \"$B/lib\" d "
		    "2>&1; git submodule --quiet add \"$B/lib\" g 2>&1",
	    .user = ">d/my.o",
	    .show = "ls d g | grep -v :; git ls-files -s | grep -c ^16",
	    .shown = "my.o\n\n2",
	    .checked = "\n2" },
	/* Too large for an answer of git's. */
	{ .setup = "git config core.bigFileThreshold 1m; "
		   "git config core.compression 1; truncate -s 64M huge",
	    .work = "echo end >>huge",
	    .show = "stat -c %s huge; tail -c4 huge",
	    .shown = "67108868\nend" },
};

/* The landing waits for the user, and goes on when `away` is done. */
struct obstacle {
	const char *setup, *work, *user; /* as above */
	const char *words; /* told, and with what it is refused */
	const char *away;
};

static const struct obstacle waits[] = {
	/* git would remove ignored files without a word. */
	{ .setup = "echo '*.o' >.gitignore; mkdir d; echo f >d/f",
	    .work = "git rm -rq d; echo d >d",
	    .user = ">d/my.o",
	    .words = "d/my.o",
	    .away = "rm d/my.o" },
	{ .setup = "echo '*.o' >.gitignore; mkdir -p d/e; echo f >d/e/f",
	    .work = "git rm -rq d; ln -s a.txt d",
	    .user = "mkdir d/o.o; >d/o.o/my",
	    .words = "d/o.o/my",
	    .away = "rm -r d/o.o" },
	{ .setup = "echo build >.gitignore",
	    .work = "git rm -q .gitignore; echo b >build",
	    .user = "mkdir build; echo my >build/my",
	    .words = "build",
	    .away = "rm -r build" },
	{ .setup = "echo '*.o' >.gitignore",
	    .work = "echo x >x.o; git add -f x.o",
	    .user = "echo my >x.o",
	    .words = "x.o",
	    .away = "rm x.o" },
	/* Never through a link: not to a folder, not to a file. */
	{ .setup = "mkdir d; echo f >d/f; echo g >d/g",
	    .work = "echo f2 >d/f; echo n >d/n",
	    .user = "mkdir \"$B/my\"; mv d/* \"$B/my\"; rmdir d; "
		    "ln -s \"$B/my\" d",
	    .words = ": d",
	    .away = "rm d; git checkout -q d; [ ! -e \"$B/my/n\" ]" },
	{ .setup = "mkdir d; echo f >d/f",
	    .work = "mkdir d/e; echo n >d/e/n",
	    .user = "mkdir \"$B/my\"; ln -s \"$B/my\" d/e",
	    .words = "d/e",
	    .away = "rm d/e; [ -z \"$(ls \"$B/my\")\" ]" },
	{ .setup = "echo f >f",
	    .work = "echo f2 >f",
	    .user = "echo my >\"$B/my\"; ln -sf \"$B/my\" f",
	    .words = "f",
	    .away = "git checkout -q f; [ \"$(cat \"$B/my\")\" = my ]" },
	/* Something that is not even a file. */
	{ .setup = ">f",
	    .work = "echo n >n",
	    .user = "mkfifo n",
	    .words = "n",
	    .away = "rm n" },
	/* Files that git was told not to look at. */
	{ .setup = "echo f >f",
	    .work = "echo f2 >f",
	    .user = "git update-index --assume-unchanged f; echo my >f",
	    .words = "'f' not uptodate",
	    .away = "git update-index --no-assume-unchanged f; "
		    "git checkout -q f" },
	{ .setup = "echo f >f",
	    .work = "git rm -q f",
	    .user = "git update-index --skip-worktree f; echo my >f",
	    .words = "'f' not uptodate",
	    .away =
		"git update-index --no-skip-worktree f; git checkout -q f" },
	{ .setup = ">f",
	    .work = "echo n >n",
	    .user = "echo my >n; git add -N n",
	    .words = "n",
	    .away = "git rm -fq n" },
	{ .setup = "mkdir in out; echo i >in/i; echo o >out/o",
	    .work = "echo n >out/n; echo o2 >out/o",
	    .user = "git sparse-checkout set in; mkdir out; echo my >out/n",
	    .words = "out/n",
	    .away = "rm -r out" },
	{ .setup = "mkdir in out; echo i >in/i; echo o >out/o",
	    .work = "echo o2 >out/o",
	    .user = "git sparse-checkout set in; mkdir out; echo my >out/o",
	    .words = "out/o",
	    .away = "rm -r out; git sparse-checkout reapply" },
	/* Repositories in repositories. */
	{ .setup = SUBMODULE,
	    .work = "git rm -q sub; echo s >sub",
	    .words = "sub/", /* any file of it */
	    .away = "rm -r sub; git submodule --quiet deinit -f sub 2>&1" },
	{ .setup = "mkdir d; echo f >d/f",
	    .work = "git rm -rq d; echo d >d",
	    .user = "git init -q d/n",
	    .words = "d/n/.git",
	    .away = "rm -r d/n" },
	{ .setup = ">f",
	    .work = "echo n >n",
	    .user = "git init -q n",
	    .words = "n/.git",
	    .away = "rm -r n" },
	/* Names that a message must not repeat as they are. */
	{ .setup = NAMES,
	    .work = "echo 9 >\"$N\"",
	    .user = "echo my >\"$N\"; git add .",
	    .words = "n\\xff\\x0a\"x",
	    .away = "git reset -q --hard" },
	{ .setup = "git config filter.up.smudge false; git config "
		   "filter.up.required true",
	    .work = "git config filter.up.clean cat; echo '*.up filter=up' "
		    ">.gitattributes; echo u >f.up; echo two >a.txt",
	    .words = "f.up: smudge filter up failed",
	    .away = "git config filter.up.smudge cat" },
};

#define COMMIT "git add -A; git commit -q --allow-empty -m c; git tag "

static void
run_script(struct repo *repo, const char *before, const char *script,
    const char *behind)
{
	cleanup_free char *text =
	    xasprintf("set -e; %s; %s; %s", before, script, behind);

	repo_sh(repo, text);
}

static void
prepare(struct repo_landing *landing, const char *setup, const char *work,
    const char *user)
{
	struct repo *repo = landing->repo;

	landing->dir = repo_sh(repo, "printf '%s/check' \"$B\"");
	setenv("N", "n\xff\n\"x", 1);
	run_script(repo, ":", setup, COMMIT "onto");
	run_script(repo,
	    "git worktree add -q --detach \"$B/x\" onto; cd \"$B/x\"", work,
	    COMMIT "id");
	if (user != NULL)
		run_script(repo, ":", user, ":");
}

/* All that a landing could change: files, index, branch; and strays. */
static const char *
snapshot(struct repo *repo)
{
	return repo_sh(repo,
	    "find . -path ./.git -prune -o -printf '%P %y %m %l\\n' | sort; "
	    "find . -path ./.git -prune -o -type f -exec cksum {} +; "
	    "git ls-files -s -v; git rev-parse HEAD main; "
	    "git status --short --ignored; "
	    "find .git -name '*.lock' -o -name '*.llmc*' -o -name 'llmc*index'");
}

static void
assert_landed(struct repo *repo, size_t row)
{
	enum git_land_result result = repo_land(repo, "onto", "id", true);

	ck_assert_msg(result == GIT_LANDED, "%zu: %d %s%s", row, result,
	    repo->text, repo->msg);
	ck_assert_str_eq(repo_sh(repo,
			     "git rev-parse main; git write-tree; "
			     "find .git -name '*.lock' -o -name '*.llmc*' "
			     "-o -name 'llmc*index'"),
	    repo_sh(repo, "git rev-parse id id^{tree}"));
}

static void
assert_shows(struct repo_landing *landing, const struct fixture *f)
{
	struct repo *repo = landing->repo;
	struct git_check_tree what = { .commit = "id" };
	cleanup_free char *check = xasprintf("cd \"$B/check\"; %s", f->show);
	int r;

	ck_assert_str_eq(repo_sh(repo, f->show), f->shown);
	ck_assert_str_eq(repo_sh(repo, "git status --short"),
	    f->status != NULL ? f->status : "");
	r = repo_check_out(landing, &what);
	ck_assert_msg(r == 0, "%s", repo->msg);
	ck_assert_str_eq(landing->modified, "");
	ck_assert_str_eq(
	    repo_sh(repo, check), f->checked != NULL ? f->checked : f->shown);
}

TEST_ROWS(lands_and_is_clean, nitems(lands))
{
	const struct fixture *f = &lands[_i];
	cleanup_repo struct repo *repo = repo_new(false);
	struct repo_landing landing = { .repo = repo };

	prepare(&landing, f->setup, f->work, f->user);
	assert_landed(repo, (size_t)_i);
	assert_shows(&landing, f);
}

TEST_ROWS(waits_and_has_changed_nothing, nitems(waits))
{
	const struct obstacle *o = &waits[_i];
	cleanup_repo struct repo *repo = repo_new(false);
	struct repo_landing landing = { .repo = repo };
	enum git_land_result result;
	const char *before;

	prepare(&landing, o->setup, o->work, o->user);
	before = snapshot(repo);
	result = repo_land(repo, "onto", "id", true);
	ck_assert_msg(result == GIT_LAND_DIRTY || result == GIT_LAND_FAILED,
	    "%d", result);
	ck_assert_msg(strstr(repo->text, o->words) != NULL ||
		strstr(repo->msg, o->words) != NULL,
	    "%s: %s%s", o->words, repo->text, repo->msg);
	ck_assert_str_eq(snapshot(repo), before);
	run_script(repo, ":", o->away, ":");
	assert_landed(repo, (size_t)_i);
	ck_assert_str_eq(repo_sh(repo, "git status --short"), "");
}

/* What git stores is a pointer; the content is in .git/lfs, which all worktrees
 * share. */
TEST(lfs)
{
	static const struct fixture f = {
		.setup = "git lfs track '*.bin' >/dev/null; echo one >f.bin; "
			 "echo plain >g.dat",
		.work = "git lfs track '*.dat' >/dev/null; echo two >f.bin; "
			"git add --renormalize .; echo n >'n ew.bin'",
		.show = "cat *.bin *.dat; touch *; git status --short; "
			"git lfs ls-files -n",
		.shown = "two\nn\nplain\nf.bin\ng.dat\nn ew.bin"
	};
	cleanup_repo struct repo *repo = repo_new_lfs();
	struct repo_landing landing = { .repo = repo };
	const char *before;

	prepare(&landing, f.setup, f.work, NULL);
	/* The new content is not there. */
	repo_sh(repo,
	    "chmod 644 .gitattributes; o=$(echo two | sha256sum | cut -c-64); "
	    "mv \"$(find .git/lfs -name $o)\" \"$B/two\"");
	before = snapshot(repo);
	ck_assert_int_eq(repo_land(repo, "onto", "id", true), GIT_LAND_FAILED);
	ck_assert_msg(strstr(repo->msg, "lfs") != NULL, "%s", repo->msg);
	ck_assert_str_eq(snapshot(repo), before);
	repo_sh(repo, "git lfs clean <\"$B/two\" >/dev/null");
	assert_landed(repo, 0);
	assert_shows(&landing, &f);
}

/* The whole way, with ids of another length. */
TEST(sha256)
{
	struct repo_landing landing = { 0 };
	cleanup_repo struct repo *repo = NULL;

	setenv("GIT_DEFAULT_HASH", "sha256", 1);
	landing.repo = repo = repo_new(false);
	ck_assert_int_eq(repo_add(repo), 0);
	repo_wt(repo,
	    "echo two >>a.txt; echo n >n; git add n; "
	    "git commit -qam w; git tag work");
	repo_sh(repo, "echo m >m; git add m; git commit -qm m; git tag onto");
	landing.dir = repo_sh(repo,
	    "git worktree add -q --detach \"$B/check\" main; "
	    "printf '%s/check' \"$B\"");
	ck_assert_int_eq(repo_freeze(&landing, &(struct git_freeze){ 0 }), 0);
	ck_assert_uint_eq(landing.frozen.refused, 0);
	ck_assert_uint_eq(strlen(landing.frozen.commit), 64);
	repo_expect_build(&landing, "main", "work", GIT_CANDIDATE_BUILT);
	setenv("ID", landing.built.commit, 1);
	repo_sh(repo, "git tag id $ID");
	assert_landed(repo, 0);
	assert_shows(&landing,
	    &(struct fixture){
		.show = "cat a.txt m n", .shown = "one\ntwo\nm\nn" });
}
