/* SPDX-License-Identifier: ISC */

/*
 * A worker whose agent has started a process that commits again and again, in
 * a session of its own. The agent, its keeper, the process between them, tmux,
 * or the daemon and the keeper are killed at a random moment. When the next
 * session has begun, no process of the last one may be there, and no commit may
 * be added by it.
 *
 *   FAULTS       number of kills for each kind of keeper (6)
 *   FAULTS_SEED  seed for victims and times (1)
 */
#include <dirent.h>

#include "faults.h"
#include "fleet.h"
#include "orphans.h"
#include "workspace.h"

#define DELAY_MS 120

static const char *const modes[] = { "auto", "scope,reaper", "reaper" };

enum victim {
	VICTIM_AGENT,
	VICTIM_INNER,
	VICTIM_KEEPER,
	VICTIM_BOTH, /* of the keeper's processes */
	VICTIM_TMUX,
	VICTIM_DAEMON, /* and the keeper, while there is none */
	VICTIM_COUNT
};

/* --- processes --------------------------------------------------------- */

static int
inner_pid(void)
{
	struct json_object *json = e2e_load(
	    e2e_path("%s/.llmc/sessions/adam/keeper.json", fleet_root()));
	int pid = (int)json_int_or(json, "init", 0);

	json_object_put(json);
	ck_assert_int_gt(pid, 1);
	return pid;
}

static int
agent_pid(void)
{
	int inner = inner_pid();
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(e2e_path("/proc/%d/task/%d/children", inner, inner), 4096,
		&text, NULL) < 0 ||
	    text.len == 0)
		return inner;
	return (int)strtol(text.data, NULL, 10);
}

static int
tmux_pid(void)
{
	return (int)strtol(
	    e2e_sh(fleet_root(),
		"tmux -L \"$(\"$LLMC\" config get tmux.socket)\" "
		"display-message -p '#{pid}'")
		->out,
	    NULL, 10);
}

/* How many processes have this in their cmdline, or in their environ? */
static int
processes(const char *file, const char *word)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	ck_assert_ptr_nonnull(proc);
	while ((entry = readdir(proc)) != NULL) {
		cleanup_buf struct buf text = BUF_INIT;

		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    file_read(e2e_path("/proc/%s/%s", entry->d_name, file),
			1 << 20, &text, NULL) == 0 &&
		    text.len > 0 &&
		    memmem(text.data, text.len, word, strlen(word)) != NULL)
			count++;
	}
	closedir(proc);
	return count;
}

/* --- one kill ----------------------------------------------------------- */

/* In a sandbox, the branch follows later. */
static const char *
commits(const char *word)
{
	return e2e_git(fleet_worktree("adam"), "log", "--format=%H", "--grep",
	    word, "HEAD", NULL);
}

static void
wait_for_commit(const char *word)
{
	while (commits(word)[0] == '\0') {
		ck_assert_msg(!unit_is_late(), "no commit %s", word);
		poll(NULL, 0, 5); /* a commit of another program */
	}
}

static void
strike(enum victim victim, int keeper)
{
	switch (victim) {
	case VICTIM_AGENT:
		kill(agent_pid(), SIGKILL);
		break;
	case VICTIM_INNER:
		kill(inner_pid(), SIGKILL);
		break;
	case VICTIM_KEEPER:
		kill(keeper, SIGKILL);
		break;
	case VICTIM_BOTH:
		kill(inner_pid(), SIGKILL);
		kill(keeper, SIGKILL);
		break;
	case VICTIM_TMUX:
		kill(tmux_pid(), SIGKILL);
		break;
	case VICTIM_DAEMON:
		fleet_kill(fleet_daemon_pid());
		kill(keeper, SIGKILL);
		fleet_up();
		break;
	case VICTIM_COUNT:
		break;
	}
}

/* The end of the resumed agent's turn may be looked at just now. */
static void
reset(void)
{
	struct e2e_run *run;

	while ((run = e2e_llmc(fleet_root(), "reset", "adam", "--yes", NULL))
		   ->status != 0) {
		ck_assert_msg(!unit_is_late(), "%s", run->err);
		poll(NULL, 0, 50); /* an operation of another program */
	}
	fleet_wait("adam", "idle");
}

static void
one_kill(struct dice *dice, int number)
{
	const char *word = e2e_path("stray-%d-%d", (int)getpid(), number);
	enum victim victim = (enum victim)dice_below(dice, VICTIM_COUNT);
	int keeper = fleet_agent_pid("adam");
	const char *before;

	fleet_start("adam",
	    e2e_path("fake: run setsid sh -c 'while :; do git commit -q "
		     "--allow-empty -m %s; sleep 0.02; done' & "
		     "(setsid sleep 1000 &) ; tail -f /dev/null",
		word));
	wait_for_commit(word);
	poll(NULL, 0, (int)dice_below(dice, DELAY_MS)); /* a random moment */
	strike(victim, keeper);
	fleet_next_agent_pid("adam", keeper);
	ck_assert_msg(processes("cmdline", word) == 0,
	    "kill %d (victim %d): a process of the last session lives", number,
	    victim);
	before = commits(word);
	/* git may have been killed while it held a lock. */
	e2e_sh(fleet_root(), "find .git -name '*.lock' -exec rm -f {} +");
	fleet_wait("adam", "idle,working,no_changes,needs_review,paused");
	ck_assert_str_eq(commits(word), before);
	ck_assert_int_eq(processes("cmdline", word), 0);
	reset();
}

START_TEST(nothing_of_a_killed_session_is_left)
{
	struct dice dice = { faults_seed() * 1000003 + (uint64_t)_i };
	int kills = faults_count(6);
	struct workspace workspace = { 0 };

	fleet_begin();
	e2e_env(e2e_path("LLMC_KEEPER_MODE=%s", modes[_i]));
	fleet_up();
	fleet_add("adam");
	for (int i = 0; i < kills; i++)
		one_kill(&dice, i);
	workspace.root = xstrdup(fleet_root());
	ck_assert_int_gt(
	    processes("environ", orphans_mark(&workspace, "adam")), 0);
	fleet_do("down", NULL);
	ck_assert_int_eq(
	    processes("environ", orphans_mark(&workspace, "adam")), 0);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("keeper-kills");
	TCase *tc = tcase_create("kills");

	unit_set_timeout(tc, 30.0 + 10.0 * faults_count(6));
	tcase_add_checked_fixture(tc, NULL, fleet_end);
	tcase_add_loop_test(
	    tc, nothing_of_a_killed_session_is_left, 0, (int)nitems(modes));
	suite_add_tcase(suite, tc);
	return suite;
}
