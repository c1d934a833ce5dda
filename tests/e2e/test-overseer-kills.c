/* SPDX-License-Identifier: ISC */

/*
 * The overseer is killed with SIGKILL again and again: while the daemon starts,
 * runs, is stopped for a failure, is repaired. Each time it is started again,
 * and then there must be exactly one daemon: one process of that name for this
 * root, which holds the lock, is registered, and is known to the new overseer.
 * A daemon that was healthy must be the same as before.
 *
 *   FAULTS       number of kills (24)
 *   FAULTS_SEED  seed for the times (1)
 *
 * To check that the test can fail, the overseer was broken on purpose: it
 * started a daemon without checking for a running one (a false failure); it
 * ignored failure.json (a forgotten failure) or its own notes (counted twice);
 * and it ignored the recorded intent (a daemon that was being stopped was
 * adopted).
 */
#include "faults.h"
#include "overrun.h"

#define LOOK_MS  3
#define READ_MAX (1024 * 1024)

/* When to kill; one after the other. */
enum moment {
	MOMENT_START, /* of the daemon, from nothing */
	MOMENT_RUNNING,
	MOMENT_ENDING, /* it has complained and is being stopped */
	MOMENT_REPAIRING,
	MOMENT_TAKING, /* taking over a running daemon */
	MOMENT_BOTH, /* daemon and overseer */
	MOMENT_COUNT
};

static const struct {
	const char *name;
	int within_us; /* the kill comes at most this long after that */
} moments[MOMENT_COUNT] = {
	[MOMENT_START] = { "starting", 120000 },
	[MOMENT_RUNNING] = { "running", 60000 },
	[MOMENT_ENDING] = { "ending the daemon", 60000 },
	[MOMENT_REPAIRING] = { "repairing", 600000 },
	[MOMENT_TAKING] = { "taking over", 60000 },
	[MOMENT_BOTH] = { "both", 0 },
};

struct kills {
	pid_t overseer;
	int daemon; /* that was running and healthy when it was killed, 0 =
		     * none */
	int round;
	struct dice dice;
	int kept, hits[MOMENT_COUNT];
	char *overseer_json, *daemon_json, *history, *lock, *log;
	int failures; /* expected so far */
};

static void
pause_us(int64_t us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	ppoll(NULL, 0, &ts, NULL);
}

/* --- observations ------------------------------------------------------ */

static void
complain(const struct kills *k, const char *what)
{
	struct e2e_run *known = e2e_sh(fleet_root(),
	    "{ tail -n 25 .llmc/logs/overseer.log; tail -n 5 "
	    ".llmc/logs/autod.log; cat .llmc/overseer.json; } | "
	    "cut -c 1-220 | sed 's/^/# /'; ps -eo pid,ppid,stat,args | "
	    "grep -F \"$PWD\" | sed 's/^/# /'");

	fputs(known->out, stdout);
	ck_abort_msg("kill %d (%s): %s", k->round,
	    moments[k->round % MOMENT_COUNT].name, what);
}

/* --- the overseer ------------------------------------------------------ */

/* A child of this process: once it is reaped, its lock is released too. */
static void
start(struct kills *k)
{
	const char *llmc = e2e_llmc_path();
	cleanup_free char *out = xasprintf("%s/over.out", unit_scratch());
	cleanup_free char *command =
	    xasprintf("cd '%s' && exec '%s' overseer </dev/null >>'%s' 2>&1",
		fleet_root(), llmc, out);

	k->overseer = fork();
	ck_assert_int_ne(k->overseer, -1);
	if (k->overseer > 0)
		return;
	setsid();
	for (size_t i = 0; e2e_edits()[i] != NULL; i++)
		putenv((char *)(uintptr_t)e2e_edits()[i]);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static void
strike(struct kills *k)
{
	int status = 0, within = moments[k->round % MOMENT_COUNT].within_us;

	/* Half of them early: much is done in the first milliseconds. */
	if (dice_below(&k->dice, 2) == 0)
		within /= 16;
	pause_us((int64_t)dice_below(&k->dice, (uint64_t)within + 1));
	kill(k->overseer, SIGKILL);
	ck_assert_int_eq(waitpid(k->overseer, &status, 0), k->overseer);
	k->overseer = 0;
	if (!WIFSIGNALED(status))
		complain(k,
		    e2e_path(
			"it had ended with status %d", WEXITSTATUS(status)));
}

/* What overseer.json says; false if it belongs to another overseer. */
static bool
says(const struct kills *k, const char *state, int *ret_daemon)
{
	cleanup_json struct json_object *json = e2e_load(k->overseer_json);
	struct json_object *daemon = NULL;

	if (json_int_or(json, "pid", 0) != k->overseer ||
	    strcmp(json_string_or(json, "state", ""), state) != 0)
		return false;
	json_get_object(json, "", "daemon", &daemon, NULL);
	*ret_daemon = (int)json_int_or(daemon, "pid", 0);
	return true;
}

static int
wait_state(struct kills *k, const char *state)
{
	int daemon = 0, status = 0;

	while (!says(k, state, &daemon)) {
		if (waitpid(k->overseer, &status, WNOHANG) == k->overseer)
			complain(k,
			    e2e_path("the next one ended with status %d",
				WIFEXITED(status) ? WEXITSTATUS(status) :
						    128 + WTERMSIG(status)));
		if (unit_is_late())
			complain(k, e2e_path("it never was %s", state));
		pause_us(LOOK_MS * 1000);
	}
	return daemon;
}

/* A failure that was being handled when the overseer was killed is in the
 * history once. */
static int
count_failures(const struct kills *k)
{
	static const char words[] = "{\"kind\":\"failure\"";
	cleanup_buf struct buf text = BUF_INIT;
	const char *at;
	int count = 0;

	file_read(k->history, READ_MAX, &text, NULL);
	for (at = text.data; (at = strstr(at, words)) != NULL; at++)
		count++;
	return count;
}

/* Exactly one daemon, and everything agrees which. */
static void
verify(struct kills *k)
{
	int known = wait_state(k, "Running"), found = 0, count;
	cleanup_json struct json_object *registered = NULL;

	/* A daemon that was just forked and is in no file yet finds the lock
	 * taken, and exits; a child of a daemon looks like one until it
	 * executes another program. */
	while ((count = over_count_daemons(&found)) > 1 && !unit_is_late())
		pause_us(LOOK_MS * 1000);
	if (count != 1)
		complain(k, e2e_path("%d daemons run", count));
	registered = e2e_load(k->daemon_json);
	if (found != known || json_int_or(registered, "pid", 0) != found)
		complain(k,
		    e2e_path("%d runs, %d is known, %lld is registered", found,
			known, (long long)json_int_or(registered, "pid", 0)));
	if (lock_is_held(k->lock) != 1)
		complain(k, "nobody holds the lock");
	if (count_failures(k) != k->failures)
		complain(k,
		    e2e_path("%d failures in the history, there were %d",
			count_failures(k), k->failures));
	if (k->daemon != 0 && found != k->daemon)
		complain(k, e2e_path("%d was well and is gone", k->daemon));
	k->kept += k->daemon != 0;
}

/* --- the moments ------------------------------------------------------- */

static void
kill_daemon(int pid)
{
	fleet_kill(pid);
}

/* A log line of this daemon that the overseer treats as a failure. */
static void
make_complain(const struct kills *k, int daemon)
{
	cleanup_free char *line = xasprintf("{\"level\":\"WARN\",\"pid\":%d,"
					    "\"message\":\"made up\"}\n",
	    daemon);

	ck_assert_int_eq(
	    file_append(k->log, line, strlen(line), 0600, false, NULL), 0);
}

/* An overseer is running; bring it to the moment and kill it. */
static void
bring(struct kills *k)
{
	enum moment moment = (enum moment)(k->round % MOMENT_COUNT);
	int daemon = wait_state(k, "Running");

	k->daemon = daemon;
	switch (moment) {
	case MOMENT_START:
		kill(k->overseer, SIGKILL);
		waitpid(k->overseer, NULL, 0);
		kill_daemon(daemon);
		start(k);
		k->daemon = 0;
		break;
	case MOMENT_ENDING:
		make_complain(k, daemon);
		wait_state(k, "Ending the daemon");
		k->failures++;
		k->daemon = 0;
		break;
	case MOMENT_REPAIRING:
		make_complain(k, daemon);
		wait_state(k, "Remediating");
		k->failures++;
		k->daemon = 0;
		break;
	case MOMENT_TAKING:
		kill(k->overseer, SIGKILL);
		waitpid(k->overseer, NULL, 0);
		start(k);
		break;
	default:
		break;
	}
	strike(k);
	if (moment == MOMENT_BOTH) {
		kill_daemon(daemon);
		k->daemon = 0;
	}
	k->hits[moment]++;
}

static void
kills_open(struct kills *k)
{
	*k = (struct kills){
		.dice = { faults_seed() },
		.overseer_json =
		    xasprintf("%s/.llmc/overseer.json", fleet_root()),
		.daemon_json = xasprintf("%s/.llmc/daemon.json", fleet_root()),
		.history = xasprintf("%s/.llmc/failures.jsonl", fleet_root()),
		.lock = xasprintf("%s/.llmc/state.lock", fleet_root()),
		.log = xasprintf("%s/.llmc/logs/autod.log", fleet_root()),
	};
	/* This test causes many failures: no limit may stop it. */
	auto_set("overseer.restart_cooldown", "0s");
	auto_tune("same_failures=0 remediations=0");
	over_remedy(0, "fake: sleep 300");
	start(k);
}

static void
kills_close(struct kills *k)
{
	int status = 0;

	kill(k->overseer, SIGINT);
	ck_assert_int_eq(waitpid(k->overseer, &status, 0), k->overseer);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ck_assert_int_eq(over_count_daemons(&status), 0);
	free(k->overseer_json);
	free(k->daemon_json);
	free(k->history);
	free(k->lock);
	free(k->log);
}

START_TEST(however_it_is_killed_one_daemon_runs)
{
	int wanted = faults_count(24);
	struct kills k;

	kills_open(&k);
	for (k.round = 0; k.round < wanted; k.round++) {
		bring(&k);
		start(&k);
		verify(&k);
	}
	printf("# %d kills, %d times the same daemon was taken over\n", wanted,
	    k.kept);
	for (size_t i = 0; i < MOMENT_COUNT; i++)
		printf("# %-20s %d\n", moments[i].name, k.hits[i]);
	fflush(stdout);
	kills_close(&k);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("overseer-kills");
	TCase *tc = tcase_create("kills");

	unit_set_timeout(tc, 60 + 10.0 * (double)faults_count(24));
	tcase_add_checked_fixture(tc, over_begin, over_end);
	tcase_add_test(tc, however_it_is_killed_one_daemon_runs);
	suite_add_tcase(s, tc);
	return s;
}
