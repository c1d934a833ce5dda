/* SPDX-License-Identifier: ISC */

/* What lands, or is sent back, is the commit that the person was shown. */
#include "fleet.h"

/* A worker that has finished. */
void
unit_before(void)
{
	fleet_begin();
	fleet_up();
	fleet_add("adam");
	fleet_start("adam", "fake: commit a.txt seen");
	fleet_wait("adam", "needs_review");
}

static const char *
commit_of(const char *dir, const char *name)
{
	const char *line = e2e_git(dir, "rev-parse", name, NULL);

	return e2e_path("%.*s", (int)strcspn(line, "\n"), line);
}

static const char *
head(void)
{
	return commit_of(fleet_worktree("adam"), "HEAD");
}

/* Something is committed behind the back of the person. */
static void
commit_more(const char *file)
{
	e2e_write(e2e_path("%s/%s", fleet_worktree("adam"), file), "unseen\n");
	e2e_git(fleet_worktree("adam"), "add", file, NULL);
	e2e_git(fleet_worktree("adam"), "commit", "-q", "-m", "unseen", NULL);
}

/* Nothing has landed, and the worker waits as before. */
static void
assert_waits(void)
{
	ck_assert_int_eq(fleet_commits(), 1);
	ck_assert_str_eq(fleet_status("adam"), "needs_review");
}

static struct e2e_run *
json_run(const char *command, const char *word)
{
	return e2e_llmc(fleet_root(), "--json", command, word, NULL);
}

const int unit_timeout = 120; /* seconds, each */

TEST(the_shown_commit_lands)
{
	struct json_object *json;
	const char *seen;

	/* On main there is something new, so the review rebases. */
	e2e_git(
	    fleet_root(), "commit", "-q", "--allow-empty", "-m", "mine", NULL);
	json = e2e_json(json_run("review", NULL), 0);
	seen = head();
	ck_assert_str_eq(json_string_or(json, "commit_sha", ""), seen);
	ck_assert_str_eq(json_string_or(json, "landing_branch", ""), "main");
	json = e2e_json(json_run("accept", NULL), 0);
	ck_assert_str_eq(json_string_or(json, "head_sha", ""), seen);
	ck_assert_str_eq(json_string_or(json, "landing_branch", ""), "main");
	ck_assert_str_eq(json_string_or(json, "commit_sha", ""),
	    commit_of(fleet_root(), "main"));
	e2e_has(fleet_do("log", NULL)->out, "has landed on main as ");
}

TEST(messages_name_the_branch_and_the_commit)
{
	const char *shown = e2e_path("[%.7s]", head());

	e2e_has(fleet_do("review", NULL)->out, shown);
	e2e_has(fleet_do("review", NULL)->out,
	    e2e_path("llmc accept, which lands %s on main", shown));
	e2e_has(fleet_do("reject", "fake: commit b.txt more", NULL)->out,
	    e2e_path("Rejected %s", shown));
	fleet_wait("adam", "needs_review");
	shown = e2e_path("[%.7s]", head());
	fleet_do("review", NULL);
	e2e_has(fleet_do("accept", NULL)->out,
	    e2e_path("the work of adam %s", shown));
	e2e_has(fleet_do("log", NULL)->out,
	    e2e_path(
		"has landed on main as %.7s", commit_of(fleet_root(), "main")));
}

TEST(a_commit_after_the_review_does_not_land)
{
	fleet_do("review", NULL);
	commit_more("x.txt");
	e2e_json_error(json_run("accept", NULL), 1, "changed",
	    "the work of adam is not what you reviewed: HEAD was ");
	fleet_fails("(1 commit, 1 file: x.txt); review it again with: llmc "
		    "review adam",
	    "accept", NULL);
	/* A name is no way around the review. */
	fleet_fails("not what you reviewed", "accept", "adam", NULL);
	fleet_fails("not what you reviewed", "reject", "no", NULL);
	fleet_fails("not what you reviewed", "reject", "adam", "no", NULL);
	assert_waits();
	fleet_do("review", NULL);
	fleet_do("accept", NULL);
	e2e_has(e2e_read(e2e_path("%s/x.txt", fleet_root())), "unseen");
}

/* Without a name, only work that was reviewed. */
TEST(nothing_is_accepted_without_a_review)
{
	e2e_json_error(
	    json_run("accept", NULL), 1, "not_reviewed", "llmc review");
	e2e_json_error(
	    json_run("reject", "no"), 1, "not_reviewed", "llmc review");
	assert_waits();
	/* The review of an earlier task does not count. */
	fleet_do("review", NULL);
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_wait("adam", "idle");
	fleet_fails("no work that waits has been reviewed", "accept", NULL);
	fleet_start("adam", "fake: commit other.txt new");
	fleet_wait("adam", "needs_review");
	e2e_json_error(
	    json_run("accept", NULL), 1, "not_reviewed", "llmc review adam");
	e2e_json_error(
	    json_run("reject", "no"), 1, "not_reviewed", "llmc review adam");
	assert_waits();
	fleet_do("accept", "adam", NULL);
	ck_assert_int_eq(fleet_commits(), 2);
}

/* The worker went on after the review: its new work was not seen. */
TEST(work_after_a_rejection_is_reviewed_again)
{
	fleet_do("review", NULL);
	fleet_do("reject", "fake: commit b.txt second", NULL);
	fleet_wait("adam", "needs_review");
	fleet_fails("(1 commit, 1 file: b.txt)", "accept", NULL);
	fleet_fails("(1 commit, 1 file: b.txt)", "reject", "no", NULL);
	assert_waits();
	/* Unless the person names it. */
	fleet_do("accept", "adam", "--commit", head(), NULL);
	ck_assert_int_eq(fleet_commits(), 2);
}

TEST(a_commit_may_be_named)
{
	const char *first = head();

	commit_more("x.txt");
	e2e_expect(e2e_llmc(fleet_root(), "accept", "--commit", first, NULL), 2,
	    "name of the worker");
	e2e_expect(
	    e2e_llmc(fleet_root(), "reject", "no", "--commit", first, NULL), 2,
	    "name of the worker");
	fleet_fails(
	    "not exactly commit", "accept", "adam", "--commit", first, NULL);
	fleet_fails("not exactly commit", "reject", "no", "--worker", "adam",
	    "--commit", first, NULL);
	fleet_fails(
	    "not exactly commit", "pick", "adam", "--commit", first, NULL);
	fleet_fails(
	    "hexadecimal", "accept", "adam", "--commit", "HEAD~0~0", NULL);
	assert_waits();
}

/* With the file and the line of each comment; then what was asked for lands. */
TEST(comments_on_lines_go_back_as_one_turn)
{
	const char *editor = e2e_path("%s/editor", unit_scratch());
	const char *file = e2e_path("%s/comments", unit_scratch());
	struct e2e_run *run;

	e2e_env("EDITOR=true");
	e2e_has(fleet_do("review", "adam", "--comment", NULL)->out,
	    "You wrote nothing, so nothing was sent.");
	assert_waits();
	e2e_write(editor,
	    "sed -i -e '1s/^/fake: commit a.txt better/' "
	    "-e '/^+seen/a > say more\\n>\\n> please' \"$1\"\n");
	e2e_env(e2e_path("EDITOR=sh '%s'", editor));
	run = fleet_do("review", "adam", "--comment", NULL);
	e2e_has(run->out, "with 1 comment; adam is working on it again");
	fleet_wait_prompt(
	    "a.txt:1: say more\n  \n  please\n  The line: seen\n");
	fleet_wait("adam", "needs_review");
	e2e_write(file, "a.txt:1: why?\nb.txt:7: how?\noops\n");
	fleet_fails("line 3 is neither a line of the diff nor a comment",
	    "reject", "--worker", "adam", "--commit", head(), "--from", file,
	    NULL);
	assert_waits();
	e2e_write(file, "a.txt:1: why?\n> fake: commit a.txt best\n");
	fleet_fails(
	    "not what you reviewed", "reject", "adam", "--from", file, NULL);
	fleet_do("review", "adam", NULL);
	e2e_has(
	    fleet_do("reject", "--from", file, NULL)->out, "with 1 comment;");
	fleet_wait_prompt("- a.txt:1: why?\n  The line: better\n");
	fleet_wait("adam", "needs_review");
	fleet_do("review", "adam", NULL);
	fleet_do("accept", NULL);
	e2e_has(e2e_read(e2e_path("%s/a.txt", fleet_root())), "best");
}

/* By hand, of its conversation; in auto mode with the events: test-auto.c. */
TEST(a_replay_tells_what_was_asked_and_done)
{
	const char *said = fleet_do("replay", "adam", NULL)->out;
	struct json_object *json;

	e2e_has(said, "  asked   ");
	e2e_has(said, "fake: commit a.txt seen");
	json = e2e_json(json_run("replay", "adam"), 0);
	ck_assert_int_gt(json_int_or(json, "total", 0), 0);
	fleet_fails("there is no task t9", "replay", "t9", NULL);
}

TEST(a_pick_tells_what_it_took)
{
	struct e2e_run *run;

	e2e_write(e2e_path("%s/left.txt", fleet_worktree("adam")), "left\n");
	run = fleet_do("pick", "adam", NULL);
	e2e_has(run->out, "on main: the work of adam ");
	e2e_has(run->out,
	    e2e_path("[%.7s] and its uncommitted changes in 1 "
		     "file.",
		head()));
	e2e_has(e2e_read(e2e_path("%s/left.txt", fleet_root())), "left");
	run = fleet_do("pick", "adam", NULL);
	e2e_has(run->out, "is already on main; nothing landed.");
}

TEST(what_has_landed_is_not_shown_as_work)
{
	struct e2e_run *run;

	e2e_has(fleet_do("review", "adam", NULL)->out, "a.txt: seen");
	fleet_do("accept", "adam", NULL);
	fleet_wait("adam", "idle");
	run = fleet_do("review", "adam", "--force", NULL);
	ck_assert_ptr_null(strstr(run->out, "a.txt"));
}

TEST(a_review_tells_of_a_conflict)
{
	struct json_object *json;

	e2e_write(e2e_path("%s/a.txt", fleet_root()), "mine\n");
	e2e_git(fleet_root(), "add", "a.txt", NULL);
	e2e_git(fleet_root(), "commit", "-q", "-m", "mine", NULL);
	json = e2e_json(json_run("review", NULL), 0);
	ck_assert_str_eq(json_string_or(json, "status", ""), "rebasing");
	ck_assert_ptr_null(json_string_or(json, "commit_sha", NULL));
	/* The agent is asked to resolve it, and only ends its turns. */
	fleet_wait("adam", "paused");
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_wait("adam", "idle");
	fleet_start("adam",
	    "fake: run git reset -q --hard HEAD~1\nfake: commit a.txt x");
	fleet_wait("adam", "needs_review");
	e2e_has(fleet_do("review", NULL)->out,
	    "adam conflicts with work that has landed on main");
}
