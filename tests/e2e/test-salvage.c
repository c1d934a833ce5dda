/* SPDX-License-Identifier: ISC */

/* Saved work: how it is named, dropped, and how nothing is left of llmc. */
#include "fleet.h"

static const char *
refs(void)
{
	return e2e_git(fleet_root(), "for-each-ref", "--format=%(refname)",
	    "refs/llmc/salvage", NULL);
}

/* A ref with a commit of that age. */
static void
make(const char *name, const char *date)
{
	e2e_expect(e2e_sh(fleet_root(),
		       e2e_path("export GIT_COMMITTER_DATE='%s'; git "
				"update-ref refs/llmc/salvage/%s $(git "
				"commit-tree -m saved HEAD^{tree})",
			   date, name)),
	    0, NULL);
}

const int unit_timeout = 90; /* seconds, each */

TEST(what_was_saved_can_be_dropped)
{
	struct e2e_run *run;

	make("adam/old", "@1000000000 +0000");
	make("adam/new", "@4000000000 +0000");
	make("eve/new-t1", "@4000000000 +0000");
	make("eve/new-t2", "@4000000000 +0000");
	/* Nobody is asked here, so it must be said. */
	fleet_fails("--yes", "landing", "salvage", "drop", "adam/old", NULL);
	e2e_has(refs(), "adam/old");
	run = fleet_do(
	    "landing", "salvage", "drop", "--older-than", "7d", "--yes", NULL);
	e2e_has(run->out, "Dropped adam/old (was ");
	e2e_lacks(refs(), "adam/old");
	e2e_has(refs(), "adam/new");
	/* One that does not exist: nothing is dropped. */
	fleet_fails("no salvaged work nope", "landing", "salvage", "drop",
	    "adam/new", "nope", "--yes", NULL);
	e2e_has(refs(), "adam/new");
	e2e_expect(
	    e2e_sh(fleet_root(),
		e2e_path(
		    "mkdir -p .worktrees/adam.kept-new && "
		    "LLMC_AGENT=1 LLMC_WORKER=adam \"$LLMC\" landing salvage "
		    "drop --all --yes")),
	    1, "agents may not");
	run = fleet_do("landing", "salvage", "drop", "adam/new",
	    "refs/llmc/salvage/eve/new-t1", "--yes", NULL);
	e2e_has(run->out, "remain in ");
	e2e_has(run->out, "/.worktrees/adam.kept-new");
	ck_assert_str_eq(refs(), "refs/llmc/salvage/eve/new-t2\n");
	run = e2e_llmc(fleet_root(), "--json", "landing", "salvage", "drop",
	    "--all", "--yes", NULL);
	ck_assert_uint_eq(json_object_array_length(e2e_json(run, 0)), 1);
	ck_assert_str_eq(refs(), "");
	e2e_has(
	    fleet_do("landing", "salvage", "drop", "--all", "--yes", NULL)->out,
	    "nothing to drop");
	e2e_expect(e2e_llmc(fleet_root(), "landing", "salvage", "drop", NULL),
	    2, "takes refs, or --all, or --older-than");
	e2e_expect(e2e_llmc(fleet_root(), "landing", "salvage", "drop", "--all",
		       "x", NULL),
	    2, "takes refs, or");
	e2e_expect(e2e_llmc(fleet_root(), "landing", "salvage", "drop",
		       "--older-than", "soon", NULL),
	    2, "7d");
	e2e_expect(
	    e2e_llmc(fleet_root(), "landing", "salvage", "list", "--all", NULL),
	    2, "takes no --all");
}

static const char *
date_of(struct json_object *list, size_t i)
{
	return json_string_or(
	    json_object_array_get_idx(list, i), "date", "none");
}

/* What was saved is as old as that, not as the commit. */
TEST(the_age_is_that_of_the_salvage)
{
	struct json_object *list;
	struct e2e_run *run;

	make("adam/20990102T030405Z-t1", "@1000000000 +0000");
	make("adam/20200102T030405Z", "@4000000000 +0000");
	make("adam/checks-t1", "@1500000000 +0000");
	list = e2e_json(e2e_llmc(fleet_root(), "--json", "landing", "salvage",
			    "list", NULL),
	    0);
	ck_assert_str_eq(date_of(list, 0), "2099-01-02T03:04:05.000Z");
	ck_assert_str_eq(date_of(list, 1), "2020-01-02T03:04:05.000Z");
	ck_assert_str_eq(date_of(list, 2), "2017-07-14T02:40:00.000Z");
	e2e_has(fleet_do("landing", "salvage", "list", NULL)->out, "2099-01-0");
	e2e_expect(e2e_sh(fleet_root(), "mkdir -p .worktrees/adam.kept-checks"),
	    0, NULL);
	run = fleet_do(
	    "landing", "salvage", "drop", "--older-than", "7d", "--yes", NULL);
	e2e_has(run->out, "Dropped adam/20200102T030405Z (was ");
	e2e_has(run->out, "Dropped adam/checks-t1 (was ");
	e2e_has(run->out, "/.worktrees/adam.kept-checks\n");
	ck_assert_str_eq(
	    refs(), "refs/llmc/salvage/adam/20990102T030405Z-t1\n");
}

/* The commands below "To undo it all" in the README. */
static const char *
undo_commands(void)
{
	const char *text = e2e_read(e2e_source("docs/by-hand.md"));
	const char *at = strstr(text, "\nTo undo it all");
	const char *end;
	cleanup_buf struct buf script = BUF_INIT;

	ck_assert_ptr_nonnull(at);
	at = strstr(at, "\n```\n");
	ck_assert_ptr_nonnull(at);
	end = strstr(at + 5, "\n```\n");
	ck_assert_ptr_nonnull(end);
	for (at += 5; at < end; at += strcspn(at, "\n") + 1) {
		ck_assert(strncmp(at, "$ ", 2) == 0);
		buf_add(&script, at + 2, strcspn(at + 2, "\n") + 1);
	}
	return e2e_path("%s", script.data);
}

TEST(nothing_is_left_when_it_is_undone)
{
	const char *root = fleet_root();
	struct e2e_run *run;

	fleet_up();
	fleet_add("adam");
	fleet_add("eve");
	fleet_start("adam", "fake: commit a.txt 1");
	fleet_wait("adam", "needs_review");
	fleet_do("review", "adam", NULL);
	fleet_do("accept", "adam", NULL);
	fleet_wait("adam", "idle");
	fleet_start("adam", "fake: commit b.txt 1");
	fleet_wait("adam", "needs_review");
	fleet_do("reset", "adam", "--yes", NULL);
	e2e_has(refs(), "refs/llmc/salvage/adam/");
	run = e2e_sh(root,
	    e2e_path("set -e; PATH=\"$(dirname \"$LLMC\"):$PATH\"\n%s",
		undo_commands()));
	e2e_expect(run, 0, NULL);
	/* No file, branch, ref, worktree or setting; only the landed work. */
	run = e2e_sh(root,
	    "ls -A | grep -v '^\\.git$'; git status --porcelain --ignored; "
	    "git for-each-ref --format='%(refname)'; ls .git/worktrees "
	    "2>/dev/null; find .git -name '*llmc*'; grep -rlE "
	    "'llmc|\\.worktrees' .git --exclude-dir=objects "
	    "--exclude-dir=logs; git worktree list | wc -l");
	e2e_expect(run, 0, NULL);
	ck_assert_str_eq(run->out, "README\na.txt\nrefs/heads/main\n1\n");
}

#define CANNOT_BE_CONVERTED                                                   \
	"fake: run echo '*.u working-tree-encoding=UTF-16' >.gitattributes; " \
	"printf abc >x.u"

/* What git cannot convert is saved as it is, and harms nobody else. */
TEST(a_file_that_git_cannot_convert_is_saved)
{
	fleet_up();
	fleet_add("adam");
	fleet_add("eve");
	fleet_start("adam", CANNOT_BE_CONVERTED);
	fleet_wait("adam", "error");
	fleet_do("down", NULL);
	fleet_up();
	fleet_start("eve", "fake: commit e.txt 1");
	fleet_wait("eve", "needs_review");
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_wait("adam", "idle");
	e2e_expect(
	    e2e_sh(fleet_root(),
		"[ \"$(git show $(git for-each-ref --format='%(refname)' "
		"refs/llmc/salvage/adam):x.u)\" = abc ]"),
	    0, NULL);
	fleet_start("adam", CANNOT_BE_CONVERTED);
	fleet_wait("adam", "error");
	fleet_do("nuke", "adam", "--yes", NULL);
	ck_assert(!e2e_exists(fleet_worktree("adam")));
}

/* Objects are gone, so nothing can be saved: the folder is kept instead. */
TEST(a_worker_can_always_be_removed)
{
	struct e2e_run *run;

	fleet_up();
	fleet_add("adam");
	fleet_start("adam", "fake: commit a.txt 1\nfake: write left.txt x");
	fleet_wait("adam", "needs_review");
	e2e_expect(e2e_sh(fleet_worktree("adam"),
		       "g=$(git rev-parse --git-common-dir); rm -f "
		       "\"$g/objects/$(git rev-parse 'HEAD^{tree}' | sed "
		       "'s|^..|&/|')\""),
	    0, NULL);
	fleet_do("nuke", "adam", "--yes", NULL);
	ck_assert(!e2e_exists(fleet_worktree("adam")));
	run = e2e_sh(fleet_root(), "cat .worktrees/adam.broken-*/left.txt");
	e2e_expect(run, 0, NULL);
	ck_assert_str_eq(run->out, "x\n");
	fleet_add("adam2");
}

void
unit_before(void)
{
	fleet_begin();
}
