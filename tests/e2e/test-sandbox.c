/* SPDX-License-Identifier: ISC */

/* Workers in a sandbox, with the fake agent. What gets out of one is tried in
 * test-escapes.c. */

#include "autorun.h"

static void
set_up(const char *mode)
{
	e2e_env("ANTHROPIC_API_KEY=sk-in-a-test");
	e2e_env("CLAUDE_CODE_OAUTH_TOKEN=token-in-a-test");
	e2e_env("A_SECRET=of-the-user");
	fleet_begin();
	e2e_write(fleet_prompt_log(), "");
	fleet_do("config", "set", "defaults.sandbox", mode, NULL);
	fleet_do("config", "set", "defaults.sandbox_write",
	    e2e_path("[\"%s\"]", fleet_prompt_log()), NULL);
	fleet_do(
	    "config", "set", "defaults.env", "[\"FAKE_CLAUDE_LOG\"]", NULL);
	e2e_write(e2e_path("%s/home/secret", unit_scratch()), "private\n");
}

void
unit_before(void)
{
	set_up("worktree");
	fleet_up();
}

static void
begin_alone(void)
{
	set_up("worktree");
}

static const char *
reason(const char *worker)
{
	struct json_object *record = fleet_worker(worker);
	const char *words =
	    e2e_path("%s", json_string_or(record, "reason", ""));

	json_object_put(record);
	return words;
}

static const char *
transcript(const char *worker)
{
	struct json_object *record = fleet_worker(worker);
	const char *path;

	path = e2e_path("%s", json_string_or(record, "transcript", ""));
	json_object_put(record);
	return path;
}

const int unit_timeout = 90; /* seconds, each */

TEST(doctor_tries_the_tmux_server_from_inside)
{
	const char *socket;

	e2e_need_boxes("");
	fleet_add("adam");
	e2e_has(e2e_llmc(fleet_root(), "doctor", NULL)->out,
	    "adam, in its sandbox, cannot reach the tmux server (");
	socket = e2e_sh(fleet_root(),
	    "printf '%s/tmux-%s/%s' \"${TMUX_TMPDIR:-/tmp}\" \"$(id -u)\" "
	    "\"$(\"$LLMC\" config get tmux.socket)\"")
		     ->out;
	fleet_do("config", "set", "defaults.sandbox_read",
	    e2e_path("[\"%s\"]", socket), NULL);
	e2e_expect(e2e_llmc(fleet_root(), "doctor", NULL), 1, NULL);
	e2e_has(e2e_llmc(fleet_root(), "doctor", NULL)->out,
	    "adam, in its sandbox, can use the tmux server (");
}

static const char *
stands_on(const char *worker)
{
	return e2e_sh(
	    fleet_worktree(worker), "git symbolic-ref -q HEAD || echo detached")
	    ->out;
}

/* It cannot write the repository's refs, so its branch follows. */
TEST(the_branch_of_a_worker_in_a_sandbox_follows)
{
	const char *head;
	int before;

	e2e_need_boxes("");
	fleet_add("adam");
	e2e_has(stands_on("adam"), "detached");
	fleet_start("adam",
	    "fake: commit a.txt boxed\n"
	    "fake: run git update-ref refs/heads/llmc/adam HEAD~1; "
	    "git update-ref refs/heads/main HEAD; "
	    "echo 1 >ref.txt; git add ref.txt; git commit -qm tried");
	fleet_wait("adam", "needs_review");
	head = e2e_git(fleet_worktree("adam"), "rev-parse", "HEAD", NULL);
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "rev-parse", "llmc/adam", NULL), head);
	e2e_lacks(
	    e2e_git(fleet_root(), "log", "--format=%s", "main", NULL), "tried");
	/* Nothing is lost when the sandbox is turned off. */
	fleet_do("config", "set", "defaults.sandbox", "off", NULL);
	before = fleet_agent_pid("adam");
	fleet_kill(before);
	fleet_next_agent_pid("adam", before);
	fleet_wait("adam", "needs_review");
	fleet_do("message", "adam", "fake: commit b.txt out", NULL);
	fleet_wait_prompt("b.txt");
	fleet_wait("adam", "needs_review");
	e2e_has(stands_on("adam"), "refs/heads/llmc/adam");
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "rev-parse", "llmc/adam~1", NULL), head);
	fleet_do("accept", "adam", NULL);
	e2e_has(e2e_read(e2e_path("%s/b.txt", fleet_root())), "out");
}

/* Tries to change, remove and replace an object of the repository that is not
 * packed. */
#define SPOIL                                                            \
	"o=$(git rev-parse main^{tree} | sed 's|^..|&/|'); "             \
	"s=$(tr -d '\"' <.git/objects/info/alternates 2>/dev/null) || "  \
	"s=$(git rev-parse --git-common-dir)/objects; "                  \
	"[ -e \"$s/$o\" ] || exit 75; "                                  \
	"chmod u+w \"$s/$o\"; echo spoilt >\"$s/$o\"; rm -f \"$s/$o\"; " \
	"mv \"$s/${o%/*}\" \"$s/old\"; ln -s /tmp \"$s/${o%/*}\"; "

static void
expect_whole(void)
{
	e2e_git(fleet_root(), "fsck", "--no-progress", NULL);
	e2e_expect(e2e_sh(fleet_root(),
		       "[ -z \"$(find .git/objects -type l)\" ] && "
		       "[ ! -e .git/objects/old ]"),
	    0, NULL);
}

/* The next checkout of the user has what the commits say. */
TEST(work_done_in_a_sandbox_lands_and_objects_are_read_only)
{
	e2e_need_boxes("");
	fleet_add("adam");
	fleet_start("adam", "fake: run " SPOIL ":\nfake: commit a.txt boxed");
	fleet_wait("adam", "needs_review");
	expect_whole();
	fleet_do("accept", "adam", NULL);
	expect_whole();
	e2e_has(e2e_read(e2e_path("%s/a.txt", fleet_root())), "boxed");
	/* It was committed inside, not by the daemon afterwards. */
	e2e_lacks(fleet_log(), "uncommitted");
}

/* Nor does a check write them; its own git works nevertheless. */
TEST_IN(begin_alone, objects_are_read_only_for_checks)
{
	e2e_need_boxes("");
	auto_set("auto.check_command",
	    "[ -n \"$LLMC_CHECK_SLOT\" ] || exit 75; " SPOIL
	    "echo n >new && git add -A && git -c user.name=c -c "
	    "user.email=c commit -qm c && git show HEAD:new | grep -q n");
	auto_task("t", "fake: commit t.txt x");
	ck_assert_msg(
	    auto_run("--until-empty", NULL) == 0, "%s", auto_output());
	ck_assert(e2e_exists(e2e_path("%s/t.txt", fleet_root())));
	expect_whole();
}

/* It can switch to a branch, but not commit to it. */
TEST(a_worker_that_switched_to_a_branch_goes_on)
{
	int before;

	e2e_need_boxes("");
	e2e_git(fleet_root(), "branch", "other", NULL);
	fleet_add("adam");
	fleet_start("adam", "fake: run git checkout -q other; echo 1 >one.txt");
	fleet_wait("adam", "needs_review");
	e2e_has(stands_on("adam"), "detached");
	before = fleet_agent_pid("adam");
	fleet_kill(before);
	fleet_next_agent_pid("adam", before);
	fleet_wait("adam", "needs_review");
	fleet_do("message", "adam", "fake: commit b.txt on", NULL);
	fleet_wait_prompt("b.txt");
	fleet_wait("adam", "needs_review");
	fleet_do("accept", "adam", NULL);
	e2e_has(e2e_read(e2e_path("%s/b.txt", fleet_root())), "on");
}

TEST(a_conflict_is_resolved_in_a_sandbox)
{
	e2e_need_boxes("");
	e2e_git(fleet_root(), "config", "rerere.enabled", "true", NULL);
	fleet_add("eve");
	fleet_start("eve", "fake: commit same.txt from-eve\nfake: resolve");
	fleet_wait("eve", "needs_review");
	e2e_write(e2e_path("%s/same.txt", fleet_root()), "rival\n");
	e2e_git(fleet_root(), "add", "same.txt", NULL);
	e2e_git(fleet_root(), "commit", "-qm", "Rival", NULL);
	e2e_llmc(fleet_root(), "accept", "eve", NULL);
	fleet_wait("eve", "idle");
	e2e_has(e2e_read(e2e_path("%s/same.txt", fleet_root())), "from-eve");
	e2e_has(stands_on("eve"), "detached");
}

TEST(a_reset_in_a_sandbox_saves_the_work)
{
	e2e_need_boxes("");
	fleet_add("adam");
	fleet_start(
	    "adam", "fake: commit a.txt boxed\nfake: write left.txt left");
	fleet_wait("adam", "needs_review");
	fleet_do("reset", "--yes", "adam", NULL);
	e2e_has(e2e_git(fleet_root(), "log", "--all", "--format=%D %s", "--",
		    "a.txt", NULL),
	    "a.txt");
	e2e_has(e2e_git(fleet_root(), "for-each-ref", "refs/llmc/salvage/adam",
		    NULL),
	    "refs/llmc/salvage/adam");
	ck_assert_str_eq(e2e_git(fleet_root(), "rev-parse", "llmc/adam", NULL),
	    e2e_git(fleet_root(), "rev-parse", "main", NULL));
	ck_assert(!e2e_exists(e2e_path("%s/a.txt", fleet_worktree("adam"))));
	e2e_has(stands_on("adam"), "detached");
}

/* The agent writes what it sees into its worktree. Its set-up, where what
 * strangers wrote runs, sees less. */
TEST(an_agent_sees_its_login_and_not_its_users_home)
{
	const char *seen;

	e2e_need_boxes("");
	fleet_do("config", "set", "repo.setup_command",
	    "{ cat ~/secret; echo secret=$A_SECRET; } >setup.txt 2>&1; true",
	    NULL);
	fleet_add("adam");
	seen = e2e_read(e2e_path("%s/setup.txt", fleet_worktree("adam")));
	e2e_has(seen, "secret=\n");
	e2e_lacks(seen, "private");
	fleet_start("adam",
	    e2e_path("fake: run { echo key=$ANTHROPIC_API_KEY; "
		     "echo token=$CLAUDE_CODE_OAUTH_TOKEN; "
		     "echo secret=$A_SECRET; echo tmux=$TMUX; "
		     "echo home=$(cat ~/secret 2>&1); "
		     "echo root=$(ls '%s' 2>&1); "
		     "echo pids=$(ls /proc | grep -c '^[0-9]'); } >seen.txt",
		fleet_root()));
	fleet_wait("adam", "needs_review,no_changes");
	seen = e2e_read(e2e_path("%s/seen.txt", fleet_worktree("adam")));
	e2e_has(seen, "key=sk-in-a-test\n");
	e2e_has(seen, "token=token-in-a-test\n");
	e2e_has(seen, "secret=\n");
	e2e_has(seen, "tmux=\n");
	e2e_lacks(seen, "private");
	e2e_lacks(seen, "README");
}

/* Neither another worker nor a person, also as a process of its own. */
TEST(an_agent_in_a_sandbox_becomes_nobody_else)
{
	const char *seen, *run;

	e2e_need_boxes("");
	fleet_add("adam");
	fleet_add("eve");
	run = e2e_path("%s/.llmc/run", fleet_root());
	fleet_start("adam",
	    e2e_path("fake: run { setsid -w env -i sh -c '"
		     "ls -d \"%s/adam/sock\" \"%s/eve/sock\" "
		     "\"%s/.llmc/autod.sock\"'; echo end; } >seen.txt 2>&1",
		run, run, fleet_root()));
	fleet_wait("adam", "needs_review,no_changes");
	seen = e2e_read(e2e_path("%s/seen.txt", fleet_worktree("adam")));
	e2e_has(seen, e2e_path("%s/adam/sock\n", run));
	e2e_lacks(seen, e2e_path("%s/eve/sock\n", run));
	e2e_lacks(seen, "/autod.sock\n");
	e2e_has(seen, "end\n");
}

static const char *const modes[] = { "worktree", "strict" };

/* A call at the socket of adam, as the agent's shell can make it. */
static const char *
says(const char *method, const char *more)
{
	return e2e_path("perl ask.pl \"%s/.llmc/run/adam/sock\" %s "
			"'{\"worker\":\"eve\"%s}'; ",
	    fleet_root(), method, more);
}

/* eve has no box, and what a person has asked of her waits for that person. */
TEST_ROWS(an_agent_in_a_sandbox_prompts_and_rejects_nobody_else, 2)
{
	const char *seen;

	e2e_need_boxes(_i == 1 ? "--unshare-net" : "");
	if (e2e_sh(NULL, "perl -MIO::Socket::UNIX -e 1")->status != 0)
		unit_skip("there is no perl");
	e2e_write(e2e_path("%s/ask.pl", fleet_root()),
	    "use IO::Socket::UNIX;\n"
	    "my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!;\n"
	    "print $s '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"' . $ARGV[1] "
	    ". '\",\"params\":' . $ARGV[2] . \"}\\n\";\n"
	    "$s->flush;\nprint scalar <$s>;\n");
	e2e_git(fleet_root(), "add", "ask.pl", NULL);
	e2e_git(fleet_root(), "commit", "-qm", "ask", NULL);
	fleet_do("config", "set", "workers.adam.sandbox", modes[_i], NULL);
	fleet_do("config", "set", "workers.eve.sandbox", "off", NULL);
	fleet_add("adam");
	fleet_add("eve");
	fleet_start("eve", "fake: commit e.txt e\n");
	fleet_wait("eve", "needs_review");
	fleet_start("adam",
	    e2e_path("fake: run { %s%s%s%s%s%secho end; } >seen.txt 2>&1",
		says("worker.message", ",\"text\":\"I am boxed\""),
		says("worker.reject", ",\"text\":\"I am boxed\""),
		says("worker.rebase", ""),
		says("worker.review", ",\"force\":true"),
		says("worker.start", ",\"prompt\":\"I am boxed\""),
		says("worker.add", "")));
	fleet_wait("adam", "needs_review,no_changes");
	seen = e2e_read(e2e_path("%s/seen.txt", fleet_worktree("adam")));
	e2e_has(seen, "worker.message is refused: eve does not work for adam");
	e2e_has(seen, "worker.reject is refused: eve does not work for adam");
	e2e_has(seen, "worker.rebase is refused: eve does not work for adam");
	e2e_has(seen, "worker.review is refused: eve does not work for adam");
	e2e_has(seen, "eve has a task already, and it is not from adam");
	e2e_has(seen, "worker.add is refused: this is the session of adam");
	e2e_has(seen, "end\n");
	ck_assert_str_eq(fleet_status("eve"), "needs_review");
	e2e_lacks(e2e_read(fleet_prompt_log()), "Message from worker adam");
	/* A person's hand does it. */
	fleet_do("reject", "--worker", "eve", "Once more", NULL);
	fleet_wait_prompt("Once more");
}

TEST(a_conversation_is_kept_in_the_sandbox_and_resumed)
{
	int before;

	e2e_need_boxes("");
	fleet_add("adam");
	e2e_has(transcript("adam"), "/.llmc/box/adam/claude/projects/");
	fleet_start("adam", "fake: run echo 1 >one.txt");
	fleet_wait("adam", "needs_review,no_changes");
	ck_assert(e2e_exists(transcript("adam")));
	before = fleet_agent_pid("adam");
	fleet_kill(before);
	fleet_next_agent_pid("adam", before);
	fleet_wait("adam", "needs_review,no_changes");
	fleet_do("message", "adam", "fake: run echo 2 >two.txt", NULL);
	fleet_wait_prompt("two.txt");
	fleet_wait("adam", "needs_review,no_changes");
	ck_assert(e2e_exists(e2e_path("%s/two.txt", fleet_worktree("adam"))));
}

/* What was set up is kept; the session is another one. */
TEST(a_changed_sandbox_restarts_the_session)
{
	int before;

	e2e_need_boxes("");
	fleet_add("adam");
	before = fleet_agent_pid("adam");
	fleet_do("config", "set", "defaults.sandbox", "off", NULL);
	fleet_start("adam", "fake: run echo 1 >one.txt");
	fleet_next_agent_pid("adam", before);
	fleet_wait("adam", "needs_review,no_changes");
	ck_assert(e2e_exists(transcript("adam")));
	e2e_lacks(transcript("adam"), "/.llmc/box/");
}

/* Outside, this check fails. The daemon's files are not open in it either. */
TEST_IN(begin_alone, checks_run_in_a_sandbox)
{
	e2e_need_boxes("");
	auto_set("auto.check_command",
	    "test -f t.txt && test ! -e ~/secret && test -z \"$A_SECRET\" && "
	    "! ls -l /proc/self/fd | grep -F /checks/run-");
	auto_task("t", "fake: commit t.txt x");
	ck_assert_msg(
	    auto_run("--until-empty", NULL) == 0, "%s", auto_output());
	ck_assert(e2e_exists(e2e_path("%s/t.txt", fleet_root())));
}

/* It passes where the worker has left a file in its cache. */
TEST_IN(begin_alone, what_a_worker_left_in_its_sandbox_does_not_let_it_land)
{
	e2e_need_boxes("");
	auto_set("auto.check_command", "test ! -e t.txt || test -e ~/.cache/t");
	auto_task("t", "fake: run touch ~/.cache/t\nfake: commit t.txt x");
	auto_up(NULL);
	auto_wait_event("check", "failed");
	auto_drain();
	ck_assert_int_gt(auto_logged("check.log", "exited with status 0"), 0);
	ck_assert_int_eq(auto_landed(), 0);
}

TEST_IN(begin_alone, without_bubblewrap_a_worker_waits_and_says_so)
{
	e2e_env("LLMC_BWRAP=/nonexistent/bwrap");
	e2e_has(e2e_llmc(fleet_root(), "up", "--check", NULL)->out,
	    "the package bubblewrap");
	fleet_up();
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused");
	e2e_has(reason("adam"), "install the package bubblewrap");
	e2e_has(reason("adam"), "llmc doctor --sandbox");
	e2e_has(e2e_llmc(fleet_root(), "doctor", NULL)->out,
	    "llmc doctor --sandbox");
	/* Never silently off; off only because the user says so. */
	fleet_do("config", "set", "defaults.sandbox", "off", NULL);
	fleet_wait("adam", "idle");
	/* A sandbox of its own is looked at before it is needed. */
	fleet_do("config", "set", "workers.eve.sandbox", "strict", NULL);
	e2e_has(e2e_llmc(fleet_root(), "doctor", NULL)->out,
	    "eve: the sandbox needs bubblewrap");
}

/* bubblewrap is there, but cannot make a box. */
TEST_IN(begin_alone, a_worker_goes_on_when_its_sandbox_can_be_made)
{
	const char *broken = e2e_path("%s/bwrap", unit_scratch());

	e2e_need_boxes("");
	e2e_script(broken,
	    "#!/bin/sh\necho \"bwrap: Can't mount proc on "
	    "/newroot/proc: Operation not permitted\" >&2\nexit 1\n");
	e2e_env(e2e_path("LLMC_BWRAP=%s", broken));
	fleet_up();
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused");
	e2e_has(reason("adam"), "this container hides parts of /proc");
	e2e_script(broken, "#!/bin/sh\nexec bwrap \"$@\"\n");
	fleet_wait("adam", "idle");
}

TEST_IN(begin_alone, a_required_sandbox_is_never_left_out)
{
	fleet_do("config", "set", "defaults.sandbox", "off", NULL);
	fleet_do("config", "set", "auto.sandbox_required", "true", NULL);
	e2e_has(e2e_llmc(fleet_root(), "up", "--check", NULL)->out,
	    "auto.sandbox_required is set");
	fleet_up();
	fleet_do("add", "adam", NULL);
	fleet_wait("adam", "paused");
	e2e_has(reason("adam"), "llmc config set defaults.sandbox worktree");
}

/* A script that an agent landed, which the person's command runs. */
TEST_IN(begin_alone, what_runs_after_a_landing_is_in_a_sandbox)
{
	static const char task[] =
	    "A\nfake: run echo 'touch \"$HOME/../escaped\" "
	    "\"$ROOT/escaped\" \"$ROOT/.git/hooks/escaped\"; "
	    "cat \"$HOME/secret\"; cat made; echo built $LLMC_TASK' >build.sh; "
	    "touch \"$LLMC_TMPDIR/y\" && git add build.sh; git commit -qm build";
	static const char *const escaped[] = { "escaped", ".git/hooks/escaped",
		"made" };

	e2e_need_boxes("");
	fleet_do("config", "set", "repo.setup_command",
	    "echo set-up >made && touch \"$LLMC_TMPDIR/x\"", NULL);
	fleet_do("config", "set", "auto.post_accept_command",
	    e2e_path("ROOT='%s' sh ./build.sh", fleet_root()), NULL);
	auto_task("a.md", task);
	ck_assert_msg(
	    auto_run("--until-empty", NULL) == 0, "%s", auto_output());
	ck_assert(e2e_exists(e2e_path("%s/build.sh", fleet_root())));
	ck_assert_int_eq(auto_logged("post_accept.log", "built t1"), 1);
	ck_assert_int_eq(auto_logged("post_accept.log", "set-up"), 1);
	ck_assert_int_eq(auto_logged("post_accept.log", "private"), 0);
	ck_assert(!e2e_exists(e2e_path("%s/escaped", unit_scratch())));
	for (size_t i = 0; i < nitems(escaped); i++)
		ck_assert_msg(
		    !e2e_exists(e2e_path("%s/%s", fleet_root(), escaped[i])),
		    "%s", escaped[i]);
}
