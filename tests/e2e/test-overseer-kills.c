/* SPDX-License-Identifier: ISC */

/*
 * The overseer is killed with SIGKILL again and again: while the daemon starts,
 * runs, is ended for a failure, is repaired. Each time it is started again, and
 * then there is exactly one daemon: one process of that name for this root, who
 * holds the lock, is registered, and is the one that the new overseer knows. A
 * daemon that was well is the same as before.
 *
 *   KILLS       how many (24)
 *   KILLS_SEED  of the moments (1)
 *
 * That it can fail was tried by breaking the overseer:
 *
 *   ward_begin()     that starts one without looking, and ward_gone() without
 *                    `beaten`: a failure that was none
 *   read_failure()   ignored: a failure is forgotten
 *   is_noted()       ignored: it is counted twice
 *   take_recorded()  that does not read the intent: a daemon that ends is taken
 *                    for one that stays
 */
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "child.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "lock.h"
#include "loop.h"
#include "mem.h"
#include "overrun.h"
#include "procref.h"
#include "text.h"

#define SETTLE_MS 60000
#define LOOK_MS   3
#define SECOND_MS 10000 /* for a second daemon to give way */
#define READ_MAX  (1024 * 1024)

/* Where a kill comes; each in turn. */
enum moment {
	MOMENT_START, /* of the daemon, from nothing */
	MOMENT_RUNNING,
	MOMENT_ENDING, /* it has complained and is told to end */
	MOMENT_REPAIRING,
	MOMENT_TAKING, /* over one that runs */
	MOMENT_BOTH, /* daemon and overseer */
	MOMENT_COUNT
};

static const struct {
	const char *name;
	int within_us; /* the kill comes so long after the moment, at most */
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
	int daemon; /* that ran and was well when it was killed, 0 = none */
	int round;
	uint64_t random;
	int kept, hits[MOMENT_COUNT];
	char *overseer_json, *daemon_json, *history, *lock, *log;
	int failures; /* that there were */
};

static uint64_t
pick(struct kills *k, uint64_t count)
{
	k->random = k->random * 6364136223846793005u + 1442695040888963407u;
	return (k->random >> 33) % count;
}

static int64_t
number_from_env(const char *name, int64_t otherwise)
{
	const char *text = getenv(name);
	int64_t number;

	return text != NULL && text_parse_int(text, 1, INT32_MAX, &number) ?
	    number :
	    otherwise;
}

static void
pause_us(int64_t us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	ppoll(NULL, 0, &ts, NULL);
}

/* --- what there is ----------------------------------------------------- */

static struct json_object *
read_json(const char *path)
{
	struct json_object *json = NULL;

	json_load(path, READ_MAX, &json, NULL);
	return json;
}

static bool
is_daemon_of(int pid, const char *root)
{
	cleanup_free char *comm = xasprintf("/proc/%d/comm", pid);
	cleanup_free char *line = xasprintf("/proc/%d/cmdline", pid);
	cleanup_buf struct buf name = BUF_INIT, args = BUF_INIT;

	if (file_read(comm, READ_MAX, &name, NULL) < 0 ||
	    strcmp(name.data, "autod\n") != 0 ||
	    file_read(line, READ_MAX, &args, NULL) < 0)
		return false;
	return memmem(args.data, args.len, root, strlen(root) + 1) != NULL &&
	    memmem(args.data, args.len, "--oneshot", 9) == NULL;
}

/* Daemons of this root; *ret_pid is one of them. */
static int
count_daemons(int *ret_pid)
{
	const char *root = fleet_root();
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int count = 0;

	ck_assert_ptr_nonnull(proc);
	while ((entry = readdir(proc)) != NULL) {
		int pid = (int)strtol(entry->d_name, NULL, 10);

		/* A zombie has no command line. */
		if (pid <= 0 || !is_daemon_of(pid, root))
			continue;
		*ret_pid = pid;
		count++;
	}
	closedir(proc);
	return count;
}

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

/* A child of this very process: when it is reaped it is gone, and its lock. */
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

	/* Half of them soon: much is done in the first milliseconds. */
	if (pick(k, 2) == 0)
		within /= 16;
	pause_us((int64_t)pick(k, (uint64_t)within + 1));
	kill(k->overseer, SIGKILL);
	ck_assert_int_eq(waitpid(k->overseer, &status, 0), k->overseer);
	k->overseer = 0;
	if (!WIFSIGNALED(status))
		complain(k,
		    e2e_path(
			"it had ended with status %d", WEXITSTATUS(status)));
}

/* What overseer.json of this overseer says; false when it is another's. */
static bool
says(const struct kills *k, const char *state, int *ret_daemon)
{
	cleanup_json struct json_object *json = read_json(k->overseer_json);
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
	int64_t end = clock_mono_ms() + SETTLE_MS;
	int daemon = 0, status = 0;

	while (!says(k, state, &daemon)) {
		if (waitpid(k->overseer, &status, WNOHANG) == k->overseer)
			complain(k,
			    e2e_path("the next one ended with status %d",
				WIFEXITED(status) ? WEXITSTATUS(status) :
						    128 + WTERMSIG(status)));
		if (clock_mono_ms() > end)
			complain(k, e2e_path("it never was %s", state));
		pause_us(LOOK_MS * 1000);
	}
	return daemon;
}

/* What was dealt with when the overseer was killed is in the history, once. */
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

/* Exactly one, and all agree who. */
static void
verify(struct kills *k)
{
	int known = wait_state(k, "Running"), found = 0, count;
	int64_t end = clock_mono_ms() + SECOND_MS;
	cleanup_json struct json_object *registered = NULL;

	/* One that was being forked and that no file names yet finds the lock
	 * taken, and ends; what a daemon forks looks like one until it executes
	 * another program. */
	while ((count = count_daemons(&found)) > 1 && clock_mono_ms() < end)
		pause_us(LOOK_MS * 1000);
	if (count != 1)
		complain(k, e2e_path("%d daemons run", count));
	registered = read_json(k->daemon_json);
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

/* A line of this daemon that the overseer takes for a failure. */
static void
make_complain(const struct kills *k, int daemon)
{
	cleanup_free char *line = xasprintf("{\"level\":\"WARN\",\"pid\":%d,"
					    "\"message\":\"made up\"}\n",
	    daemon);

	ck_assert_int_eq(
	    file_append(k->log, line, strlen(line), 0600, false, NULL), 0);
}

/* An overseer runs; bring it to the moment and kill it. */
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
		kill_daemon(daemon);
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
		.random = (uint64_t)number_from_env("KILLS_SEED", 1),
		.overseer_json =
		    xasprintf("%s/.llmc/overseer.json", fleet_root()),
		.daemon_json = xasprintf("%s/.llmc/daemon.json", fleet_root()),
		.history = xasprintf("%s/.llmc/failures.jsonl", fleet_root()),
		.lock = xasprintf("%s/.llmc/state.lock", fleet_root()),
		.log = xasprintf("%s/.llmc/logs/autod.log", fleet_root()),
	};
	/* Failures are what this is about: nothing is ever enough of them. */
	auto_set("overseer.restart_cooldown", "0s");
	auto_set("overseer.same_failure_max", "0");
	auto_set("overseer.remediations_per_day", "0");
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
	ck_assert_int_eq(count_daemons(&status), 0);
	free(k->overseer_json);
	free(k->daemon_json);
	free(k->history);
	free(k->lock);
	free(k->log);
}

START_TEST(however_it_is_killed_one_daemon_runs)
{
	int wanted = (int)number_from_env("KILLS", 24);
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

/* --- by hand ----------------------------------------------------------- */

/* What a daemon forks looks like one until it executes another program. */
static void
one_daemon(int pid)
{
	int64_t end = clock_mono_ms() + SECOND_MS;
	int found = 0, count;

	while ((count = count_daemons(&found)) > 1 && clock_mono_ms() < end)
		pause_us(LOOK_MS * 1000);
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(found, pid);
}

START_TEST(a_daemon_that_is_well_is_taken_over)
{
	int daemon;

	over_start();
	daemon = over_daemon(0);
	over_kill9();
	one_daemon(daemon);
	over_start();
	over_wait_says("is taken over");
	ck_assert_int_eq(over_daemon(0), daemon);
	over_undisturbed(daemon);
	/* Its end is still noticed, though it is nobody's child. */
	auto_set("overseer.remediate", "false");
	over_signal(SIGHUP);
	fleet_kill(daemon);
	over_wait_says("its status is not known");
	one_daemon(over_daemon(daemon));
	over_stop();
}
END_TEST

START_TEST(both_killed_is_a_fresh_start)
{
	int daemon;

	over_start();
	daemon = over_daemon(0);
	over_kill9();
	fleet_kill(daemon);
	over_start();
	daemon = over_daemon(daemon);
	one_daemon(daemon);
	over_undisturbed(daemon);
	over_stop();
}
END_TEST

/* As a laptop does that is shut and opened again. */
START_TEST(a_stopped_overseer_judges_nobody_when_it_wakes)
{
	int daemon, overseer;

	over_hurry(5);
	over_start();
	daemon = over_daemon(0);
	overseer = over_pid();
	ck_assert_int_eq(kill(overseer, SIGSTOP), 0);
	ck_assert_int_eq(kill(daemon, SIGSTOP), 0);
	poll(NULL, 0, 3500); /* longer than heartbeat_timeout: no event tells */
	ck_assert_int_eq(kill(daemon, SIGCONT), 0);
	ck_assert_int_eq(kill(overseer, SIGCONT), 0);
	poll(NULL, 0, 1500); /* a look, and it has nothing to say */
	over_undisturbed(daemon);
	over_stop();
}
END_TEST

START_TEST(a_second_overseer_is_refused)
{
	struct e2e_run *run;
	int daemon;

	over_start();
	daemon = over_daemon(0);
	run = e2e_llmc(fleet_root(), "overseer", NULL);
	ck_assert_int_eq(run->status, OVER_REFUSED);
	e2e_has(run->err, "another overseer runs");
	over_undisturbed(daemon);
	one_daemon(daemon);
	over_stop();
}
END_TEST

START_TEST(two_overseers_at_once_are_one)
{
	struct e2e_run *run = e2e_sh(fleet_root(),
	    "\"$LLMC\" overseer >one.out 2>&1 & a=$!\n"
	    "\"$LLMC\" overseer >two.out 2>&1 & b=$!\n"
	    "n=0; until grep -q 'daemon runs' one.out two.out && "
	    "grep -q 'another overseer' one.out two.out || "
	    "[ $n -gt 600 ]; do sleep 0.1; n=$((n + 1)); done\n"
	    "kill -TERM $a $b 2>/dev/null\n"
	    "wait $a; x=$?; wait $b; echo $((x + $?))");

	ck_assert_str_eq(run->out, "6\n"); /* one stopped, one refused */
}
END_TEST

static void
refused(void)
{
	over_start();
	ck_assert_int_eq(over_wait_exit(), OVER_REFUSED);
}

START_TEST(a_strangers_lock_is_refused_with_words)
{
	const char *lock = e2e_path("%s/.llmc/state.lock", fleet_root());
	cleanup_fd int fd = lock_try(lock, NULL);

	over_hurry(5);
	ck_assert_int_ge(fd, 0);
	refused();
	e2e_has(over_output(), "its registration cannot be read");
	e2e_has(over_output(), "llmc down");
	ck_assert_int_eq(over_remembered("failure", NULL), 0);
}
END_TEST

START_TEST(a_registration_of_anothers_is_not_believed)
{
	const char *lock = e2e_path("%s/.llmc/state.lock", fleet_root());
	const char *file = e2e_path("%s/.llmc/daemon.json", fleet_root());
	cleanup_fd int fd = lock_try(lock, NULL);
	struct procref ref = PROCREF_INIT;
	struct json_object *json;
	struct err err = { 0 };

	over_hurry(5);
	ck_assert_int_ge(fd, 0);
	/* Ourselves: alive, of this boot, and no daemon. */
	ck_assert_int_eq(procref_set_self(&ref), 0);
	json = procref_to_json(&ref);
	json_set_string(json, "instance_id", "made-up");
	json_set_bool(json, "auto", true);
	ck_assert_msg(json_save(file, json, 0600, &err) == 0, "%s", err.msg);
	refused();
	e2e_has(over_output(), "its heartbeat is another's");
	procref_release(&ref);
	json_object_put(json);
	remove(file);
}
END_TEST

START_TEST(a_daemon_of_people_is_left_alone)
{
	int daemon;

	fleet_up();
	daemon = fleet_daemon_pid();
	refused();
	e2e_has(over_output(), "not in auto mode");
	one_daemon(daemon);
}
END_TEST

START_TEST(a_daemon_that_was_told_to_end_is_not_called_dead)
{
	int64_t end;
	int daemon;

	auto_task("a.md", "A\nfake: run %s", auto_gate("a"));
	over_start();
	daemon = over_daemon(0);
	auto_wait_gate("a"); /* so it takes its time to end */
	over_signal(SIGTERM);
	/* The words come before the intent is written, and that is what an
	 * heir goes by. */
	end = clock_mono_ms() + 20000;
	while (strcmp(over_member("daemon.told_to_end"), "true") != 0) {
		ck_assert_msg(clock_mono_ms() < end, "the intent is not told");
		poll(NULL, 0, 5);
	}
	over_kill9();
	over_start();
	auto_open_gate("a");
	one_daemon(over_daemon(daemon));
	ck_assert_int_eq(over_remembered("failure", NULL), 0);
	over_stop();
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const tests[] = { a_daemon_that_is_well_is_taken_over,
		both_killed_is_a_fresh_start,
		a_stopped_overseer_judges_nobody_when_it_wakes,
		a_second_overseer_is_refused, two_overseers_at_once_are_one,
		a_strangers_lock_is_refused_with_words,
		a_registration_of_anothers_is_not_believed,
		a_daemon_of_people_is_left_alone,
		a_daemon_that_was_told_to_end_is_not_called_dead };
	Suite *s = suite_create("overseer-kills");
	TCase *tc = tcase_create("kills");

	tcase_set_timeout(tc, 60 + 10.0 * (double)number_from_env("KILLS", 24));
	tcase_add_checked_fixture(tc, over_begin, over_end);
	tcase_add_test(tc, however_it_is_killed_one_daemon_runs);
	suite_add_tcase(s, tc);
	tc = tcase_create("by hand");
	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, over_begin, over_end);
	for (size_t i = 0; i < nitems(tests); i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	return s;
}
