/* SPDX-License-Identifier: ISC */

/* The checks of the landing queue: what a result counts for, and worktrees that
 * are none any more. */

#include "landing-world.h"
#include "box-probe.h"
#include "check-book.h"
#include "ask.h"
#include "landing-record.h"
#include "state.h"

#define JUDGED                                    \
	"protected_paths = [\"judge\"]\n[auto]\n" \
	"check_command = \"echo ran >>../../ran; sh ./judge\"\n"

/* With the real llmc, which runs errands. */
static void
begin(const char *settings)
{
	landing_world_begin(settings);
	floor_world_sh("rm \"$B/bin/llmc\"");
}

static const struct check_book *
book_of(void)
{
	return &floor_world.core->state.landings.checks;
}

static struct floor_call *
accept(const char *worker)
{
	return floor_world_call("worker.accept", worker, ",\"force\":true");
}

static int
checks_run(void)
{
	return (int)strlen(floor_world_sh(
	    "cd .llmc; [ ! -e ran ] || tr -d '\\n' <ran | tr -d an; "
	    "rm -f ran"));
}

/* A result with the judge of the branch is none for the tree itself, or with
 * another judge. */
TEST(a_result_counts_for_one_judge)
{
	const struct check_book *book;
	const char *tree, *error;

	begin(JUDGED);
	landing_world_meanwhile("judge", "test ! -e b.txt");
	landing_world_work("adam", "b.txt", "two");
	floor_world_wt(
	    "adam", "echo true >judge; git add judge; git commit -qm judge");
	tree = floor_world_wt("adam", "git rev-parse HEAD^{tree}");
	error = floor_world_answer(accept("adam"));
	ck_assert_msg(
	    error != NULL && strstr(error, "fails") != NULL, "%s", error);
	/* Twice, and the branch itself. */
	ck_assert_int_eq(checks_run(), 3);
	/* With another judge on the branch, it is judged again. */
	landing_world_meanwhile("judge", "true");
	error = floor_world_answer(accept("adam"));
	ck_assert_msg(error == NULL, "%s", error);
	ck_assert_int_eq(checks_run(), 1);
	ck_assert_str_eq(floor_world_sh("git rev-parse main^{tree}"), tree);
	book = book_of();
	for (size_t i = 0; i < book->count; i++)
		ck_assert_str_ne(book->results[i].tree, tree);
}

/* Work on top of such work is checked with it, and without it after that has
 * landed. */
TEST(a_result_with_others_counts_with_them)
{
	struct floor_call *calls[2];
	const char *error;

	begin(JUDGED);
	landing_world_meanwhile("judge", "test ! -e c.txt");
	landing_world_work("adam", "b.txt", "two");
	floor_world_wt(
	    "adam", "echo true >judge; git add judge; git commit -qm judge");
	landing_world_work("eve", "c.txt", "three");
	landing_world.may_not_begin = true;
	calls[0] = accept("adam");
	calls[1] = accept("eve");
	landing_world_wait(NULL, "queued");
	landing_world.may_not_begin = false;
	landings_kick(landing_world.landings);
	error = floor_world_answer(calls[0]);
	ck_assert_msg(error == NULL, "%s", error);
	error = floor_world_answer(calls[1]);
	ck_assert_msg(error == NULL, "%s", error);
	landing_world_main("by eve,by adam,meanwhile,first,");
}

TEST(a_check_that_changes_its_judge_has_not_passed)
{
	const char *error;

	begin(JUDGED);
	landing_world_meanwhile("judge", "'[ ! -e b.txt ] || echo : >judge'");
	landing_world_work("adam", "b.txt", "two");
	error = floor_world_answer(accept("adam"));
	ck_assert_msg(
	    error != NULL && strstr(error, "fails auto.check_command") != NULL,
	    "%s", error);
	landing_world_main("meanwhile,first,");
}

static const char *const broken_rows[] = {
	"rm 1/.git; git init -q 1",
	"mv 1 x; ln -s ../.. 1",
	"mv 1 x; ln -s x 1",
	"rm -r 1; mkdir 1; git -C .. worktree prune",
	"rm -r 1; echo file >1",
};

TEST_ROWS(a_broken_worktree_is_made_anew, nitems(broken_rows))
{
	cleanup_free char *text = xasprintf("cd .llmc/checks; %s; echo my >>%s",
	    broken_rows[_i], _i == 4 ? "1" : "1/my");
	const char *error;

	begin("[auto]\ncheck_command = \"true\"\n");
	landing_world_work("adam", "b.txt", "two");
	error = floor_world_answer(accept("adam"));
	ck_assert_msg(error == NULL, "%s", error);
	floor_world_sh(text);
	landing_world_work("eve", "c.txt", "three");
	error = floor_world_answer(accept("eve"));
	ck_assert_msg(error == NULL, "%s", error);
	ck_assert_str_eq(
	    floor_world_sh("cd .llmc/checks; cat 1.broken/my 2>/dev/null || "
			   "sed -n '$p' 1.broken; ls 1/c.txt; "
			   "git status --short -uno"),
	    "my\n1/c.txt");
}

/* A check writes the settings of a submodule, which a plain git obeys when the
 * next one is prepared. */
TEST(a_filter_that_a_check_leaves_does_not_run_outside)
{
	const char *error;

	if (box_probe_run(NULL) < 0)
		unit_skip("bubblewrap cannot make a box here");
	begin("[defaults]\nagent_command = \"agent\"\nsandbox = \"worktree\"\n"
	      "[auto]\ncheck_command = \"true\"\n");
	floor_world_sh("git config --global protocol.file.allow always; "
		       "git init -q \"$B/lib\"; cd \"$B/lib\"; >l1; git add .; "
		       "git commit -qm l1; >l2; git add .; git commit -qm l2; "
		       "cd \"$R\"; git submodule --quiet add \"$B/lib\" lib "
		       "2>/dev/null; cd lib; git checkout -q HEAD~1; cd ..; "
		       "git add lib; git commit -qm sub");
	landing_world_work("adam", "b.txt", "two");
	error = floor_world_answer(accept("adam"));
	ck_assert_msg(error == NULL, "%s", error);
	floor_world_sh(
	    "cd .llmc/checks/1; git submodule --quiet update --init 2>&1; "
	    "cd lib; D=$(git rev-parse --absolute-git-dir); "
	    "git config filter.evil.smudge \">'$B/ran'; cat\"; "
	    "mkdir -p \"$D/info\"; echo '* filter=evil' "
	    ">\"$D/info/attributes\"");
	landing_world_work("eve", "c.txt", "three");
	floor_world_wt("eve",
	    "git update-index --cacheinfo 160000,"
	    "$(git -C \"$B/lib\" rev-parse HEAD),lib; git commit -qm l2");
	error = floor_world_answer(accept("eve"));
	ck_assert_msg(error == NULL, "%s", error);
	/* The submodule may be left out of a tree that was made anew. */
	ck_assert_str_eq(floor_world_sh("ls \"$B\" | grep ran || :"), "");
}

TEST(a_rebase_that_finds_no_worktree_puts_its_worker_aside)
{
	struct floor_call *call;
	struct agent *adam;

	begin(NULL);
	adam = landing_world_work("adam", "b.txt", "two");
	landing_world_meanwhile("b.txt", "theirs");
	floor_world_wt("adam", "rm .git; git init -q");
	call = floor_world_call("worker.rebase", "adam", "");
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(call), "is not a worktree"));
	floor_world_wait_status(adam, WORKER_PAUSED);
}

/* However the setting is written. */
static const char *const folder_rows[] = {
	"worktree_dir = \"./w//t/\"\n",
	"worktree_dir = \"x/../W/T\"\n",
};

TEST_ROWS(the_folder_of_the_worktrees_never_lands, nitems(folder_rows))
{
	const char *error;

	begin(folder_rows[_i]);
	landing_world_work("adam", "b.txt", "two");
	floor_world_wt("adam",
	    "mkdir -p w/t; echo x >w/t/x; git add -f w; git commit -qm w");
	error = floor_world_answer(accept("adam"));
	ck_assert_msg(error != NULL &&
		strstr(error, "must not land on main: w/t/x") != NULL,
	    "%s", error);
}

/* --- the branch moves while a check runs -------------------------------- */

/* The check does this in the root: others have moved the branch before it has
 * ended. */
static void
begin_overtaken(const char *overtaken, const char *others)
{
	cleanup_free char *settings =
	    xasprintf("[auto]\ncheck_command = \"echo ran >>../../ran; "
		      "sh ../../others && sh ./judge\"\novertaken = \"%s\"\n",
		overtaken);
	cleanup_free char *script = xasprintf(
	    "cat >.llmc/others <<'.'\nset -e\ncd ../../..\n%s\n.\n", others);

	begin(settings);
	floor_world_sh(script);
	floor_world_sh("echo 'test ! -e c.txt || test ! -e u.txt' >judge; "
		       "seq 9 >long; git add judge long; git commit -qm more");
}

#define ONCE   "[ ! -e .llmc/once ] || exit 0; >.llmc/once; "
#define COMMIT "git commit -qam others"
#define OTHERS "date +%N >>u.txt; git add u.txt; " COMMIT

static const struct ask *
overtaken_ask(void)
{
	return state_ask(&floor_world.core->state, "overtaken");
}

static bool
is_asked(void *arg)
{
	(void)arg;
	return overtaken_ask() != NULL;
}

static bool
is_not_asked(void *arg)
{
	return !is_asked(arg);
}

static bool
is_proven(void *arg)
{
	(void)arg;
	return floor_world.core->state.landings.overtaken.commit == NULL;
}

TEST(checks_that_are_overtaken_are_asked_about)
{
	const struct overtaken_record *record;
	struct floor_call *call;
	const char *error;

	begin_overtaken("wait", "[ -e .llmc/stop ] || { " OTHERS "; }");
	record = &floor_world.core->state.landings.overtaken;
	landing_world_work("adam", "b.txt", "two");
	call = accept("adam");
	floor_world_wait_closely(is_asked, NULL);
	ck_assert_int_eq(record->checks, 3);
	ck_assert_int_ge(record->moves, 3);
	ck_assert_msg(strstr(overtaken_ask()->words,
			  "3 checks in a row were in vain") != NULL &&
		strstr(overtaken_ask()->words, "a check takes ") != NULL &&
		strstr(overtaken_ask()->words, "main moves every ") != NULL &&
		strstr(overtaken_ask()->words,
		    "llmc config set auto.overtaken land") != NULL,
	    "%s", overtaken_ask()->words);
	landing_world_told("");
	floor_world_sh(">.llmc/stop");
	error = floor_world_answer(call);
	ck_assert_msg(error == NULL, "%s", error);
	floor_world_wait_closely(is_not_asked, NULL);
	ck_assert_int_eq(record->checks, 0);
	landing_world_told("landed adam; ended adam landed; ");
}

/* The work of adam adds to the end of "long", and b.txt. */
static const struct {
	const char *overtaken, *others;
	int checks; /* until it has landed */
	bool stands;
} overtaken_rows[] = {
	{ "land", ONCE OTHERS, 1, true },
	{ "wait", ONCE OTHERS, 2, false },
	/* More than once, and files come and go. */
	{ "land", ONCE OTHERS "; git mv u.txt u2; " COMMIT, 1, true },
	/* A file of the work, without a conflict; and one that has got another
	 * name. */
	{ "land", ONCE "sed -i 1d long; " COMMIT, 2, false },
	{ "land", ONCE "git mv long u; " COMMIT, 2, false },
	/* A task's commit that nothing has checked. */
	{ "land",
	    ONCE OTHERS "; git commit -q --amend -m others -m 'Llmc-Task: t9'",
	    2, false },
	/* A commit is gone. */
	{ "land", ONCE "git commit -q --amend -m other; " OTHERS, 2, false },
};

TEST_ROWS(a_result_that_was_overtaken_may_stand, nitems(overtaken_rows))
{
	bool lost = strstr(overtaken_rows[_i].others, "-m other;") != NULL;
	const char *error;

	begin_overtaken(
	    overtaken_rows[_i].overtaken, overtaken_rows[_i].others);
	landing_world_work("adam", "b.txt", "two");
	floor_world_wt(
	    "adam", "echo 10 >>long; git commit -qam more; git log -1");
	if (lost) /* it is not built on what goes */
		landing_world_meanwhile("x", "x");
	error = floor_world_answer(accept("adam"));
	ck_assert_msg(error == NULL, "%s", error);
	landing_world_told(overtaken_rows[_i].stands ?
		"landed adam overtaken; ended adam landed; " :
		"landed adam; ended adam landed; ");
	floor_world_wait_closely(is_proven, NULL);
	/* As it has landed, it is checked next. */
	ck_assert_int_eq(checks_run(),
	    overtaken_rows[_i].checks + overtaken_rows[_i].stands);
	ck_assert_ptr_null(floor_world.core->state.landings.red_told);
	ck_assert_str_eq(
	    floor_world_sh("git show main:b.txt; git show "
			   "main:$(git ls-files u long | head -n1) | tail -n1"),
	    "two\n10");
}

TEST(a_conflict_with_what_overtook_lands_nothing)
{
	const char *error;

	begin_overtaken(
	    "land", ONCE "echo theirs >u.txt; git add u.txt; " COMMIT);
	landing_world_work("adam", "u.txt", "ours");
	error = floor_world_answer(accept("adam"));
	ck_assert_msg(error == NULL, "%s", error); /* its worker resolves it */
	landing_world_main("others,more,first,");
}

/* Three at once, of which one check is made. */
TEST(all_that_a_check_covers_lands_on_it)
{
	static const char *const names[] = { "adam", "eve", "noah" };
	struct floor_call *calls[nitems(names)];
	const char *error;

	begin_overtaken("land", OTHERS);
	landing_world.may_not_begin = true;
	for (size_t i = 0; i < nitems(names); i++) {
		landing_world_work(names[i], names[i], "two");
		calls[i] = accept(names[i]);
	}
	landing_world_wait(NULL, "queued");
	landing_world.may_not_begin = false;
	landings_kick(landing_world.landings);
	for (size_t i = 0; i < nitems(names); i++) {
		error = floor_world_answer(calls[i]);
		ck_assert_msg(error == NULL, "%s", error);
	}
	floor_world_wait_closely(is_proven, NULL);
	ck_assert_ptr_null(overtaken_ask());
	ck_assert_str_eq(floor_world_sh("git log --format=%s main | "
					"grep -c ^by"),
	    "3");
}

/* What passed alone fails with what came: the branch is red, and that is told
 * at once. */
TEST(what_lands_overtaken_is_told_when_it_is_red)
{
	struct landing_record *record;
	const char *error;

	begin_overtaken("land", ONCE OTHERS);
	record = &floor_world.core->state.landings;
	landing_world_work("adam", "c.txt", "two");
	error = floor_world_answer(accept("adam"));
	ck_assert_msg(error == NULL, "%s", error);
	landing_world_told("landed adam overtaken; ended adam landed; ");
	floor_world_wait_closely(is_proven, NULL);
	ck_assert_str_eq(
	    record->red_told, floor_world_sh("git rev-parse main^{tree}"));
	ck_assert_int_eq(checks_run(), 3);
}

/* The daemon dies between the landing and that check. */
TEST(the_next_daemon_checks_what_landed_overtaken)
{
	const char *error;

	begin_overtaken(
	    "land", "[ ! -e .llmc/once ] || exit 75; >.llmc/once; " OTHERS);
	landing_world_work("adam", "b.txt", "two");
	error = floor_world_answer(accept("adam"));
	ck_assert_msg(error == NULL, "%s", error);
	ck_assert(!is_proven(NULL));
	floor_world_sh("echo exit >.llmc/others");
	landing_world_reopen();
	ck_assert(!is_proven(NULL));
	floor_world_wait_closely(is_proven, NULL);
	ck_assert_ptr_null(floor_world.core->state.landings.red_told);
}
