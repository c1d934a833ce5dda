/* SPDX-License-Identifier: ISC */

/*
 * Faults of docs/supervision.md that no other test injects: false heartbeats,
 * floods of log lines, machines without descriptors, time or a fast disk, and a
 * program that is replaced under a running overseer.
 */
#include <sys/resource.h>

#include "overrun.h"

#define WAIT_MS    30000
#define BEAT_MS    100
#define MEGABYTE   ((size_t)1024 * 1024)
#define FLOOD_MB   24
#define RSS_MAX_KB 12000
#define SPINNERS   12
#define SLOW_MS    "80" /* duration of an fsync: 400 for the program */

static const char *
in_root(const char *name)
{
	return e2e_path("%s/.llmc/%s", fleet_root(), name);
}

/* No repairs and no limits: only what is noticed counts. */
static void
only_restart(void)
{
	auto_set("overseer.remediate", "false");
	auto_tune("same_failures=0");
}

/* --- heartbeats -------------------------------------------------------- */

static const struct {
	const char *what, *format; /* %s: the instance, %lld: a time ahead */
} hearts[] = {
	{ "missing", NULL },
	{ "no JSON", "{\"instance_id\":\"%s\",\"sequence\":9%lld" },
	{ "empty", "" },
	{ "another's",
	    "{\"instance_id\":\"not-%s\",\"sequence\":9,"
	    "\"monotonic_ms\":%lld}\n" },
	{ "in the future",
	    "{\"instance_id\":\"%s\",\"sequence\":99999,"
	    "\"monotonic_ms\":%lld}\n" },
	{ "frozen",
	    "{\"instance_id\":\"%s\",\"sequence\":99999,"
	    "\"monotonic_ms\":1}\n" },
};

const int unit_timeout = 120; /* seconds, each */

void
unit_before(void)
{
	over_begin();
}

TEST_ROWS(a_heart_that_lies_is_a_hang, nitems(hearts))
{
	const char *file = in_root("auto.heartbeat");
	char text[256] = "";
	int daemon;

	over_hurry(5);
	only_restart();
	over_start();
	daemon = over_daemon(0);
	/* The daemon stays alive, but cannot write its heartbeat. */
	ck_assert_int_eq(mkdir(in_root("auto.heartbeat.new"), 0700), 0);
	if (hearts[_i].format == NULL) {
		remove(file);
	} else {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof text, hearts[_i].format, over_instance(),
		    (long long)clock_mono_ms() * 1000);
#pragma GCC diagnostic pop
		e2e_write(file, text);
	}
	over_wait_says("Failure (hung)");
	rmdir(in_root("auto.heartbeat.new"));
	over_daemon(daemon);
	ck_assert(!over_alive(daemon));
	over_remembers("failure", NULL, 1);
	over_stop();
}

/* Beats in the daemon's name, which has no sign of life, until the overseer
 * says this, or for so long. */
static void
beat_for(const char *expected, const char *words, int64_t machine_ms)
{
	static int sequence = 1000000;
	int64_t end = clock_machine_ms() + machine_ms;

	while (
	    clock_machine_ms() < end && strstr(over_output(), words) == NULL) {
		e2e_write(in_root("auto.heartbeat"),
		    e2e_path("{\"instance_id\":\"%s\",\"sequence\":%d,"
			     "\"monotonic_ms\":%lld,\"expected\":[%s],"
			     "\"activity_unix\":1}\n",
			over_instance(), sequence++, (long long)INT64_MAX,
			expected));
		poll(NULL, 0, BEAT_MS); /* as a daemon does */
	}
}

/* Who waits for a limit, or for the user, stands still with good reason. */
TEST(a_stall_begins_when_the_wait_is_over)
{
	int64_t over;

	over_hurry(5);
	only_restart();
	auto_set("overseer.stall_timeout", "10s"); /* of the machine's: 2 */
	over_start();
	over_daemon(0);
	ck_assert_int_eq(mkdir(in_root("auto.heartbeat.new"), 0700), 0);
	beat_for("", "Failure (", 2500);
	over = clock_machine_ms();
	beat_for("\"auto-1\"", "Failure (", WAIT_MS);
	ck_assert_int_gt(clock_machine_ms() - over, 1000);
	over_wait_says("Failure (stalled)");
	rmdir(in_root("auto.heartbeat.new"));
	over_stop();
}

/* --- evidence ---------------------------------------------------------- */

/* The next daemon does not wait for the evidence, which is all of the one that
 * died, also if (_i: 1) so much was said that the file is emptied. */
TEST_ROWS(what_a_killed_daemon_said_is_kept, 2)
{
	int daemon;

	only_restart();
	over_start();
	daemon = over_daemon(0);
	e2e_expect(
	    e2e_sh(fleet_root(),
		e2e_path("for i in $(seq %d); do echo 'some of the many "
			 "things that it said'; done >>.llmc/logs/autod.stderr"
			 "; echo the last >>.llmc/logs/autod.stderr",
		    _i ? 30000 : 10)),
	    0, NULL);
	kill(daemon, SIGKILL);
	over_daemon(daemon);
	auto_wait_shell("tail -n 1 .llmc/evidence/*/stderr.txt | "
			"grep -qx 'the last'");
	auto_wait_shell(e2e_path(
	    "grep -q '\"pid\": *%d,' .llmc/evidence/*/daemon.json", daemon));
	if (_i)
		auto_wait_shell(
		    "[ $(wc -c <.llmc/logs/autod.stderr) -lt 9999 ]");
	over_stop();
}

/* What it was doing is not what the one before it did. */
TEST(a_daemon_that_never_beat_has_no_heartbeat)
{
	int daemon;

	only_restart();
	over_start();
	daemon = over_daemon(0);
	auto_wait_shell("[ -s .llmc/auto.heartbeat ]");
	ck_assert_int_eq(
	    rename(in_root("llmc.db"), e2e_path("%s.kept", in_root("llmc.db"))),
	    0);
	kill(daemon, SIGKILL);
	auto_wait_shell("[ $(ls -d .llmc/evidence/*/ | wc -l) -ge 2 ]");
	e2e_expect(e2e_sh(fleet_root(),
		       "cd .llmc/evidence && set -- $(ls) && "
		       "[ -s $1/auto.heartbeat ] && "
		       "[ ! -e $2/auto.heartbeat ]"),
	    0, NULL);
	over_stop();
}

/* --- whose registration it is ------------------------------------------ */

static const char *const marks[] = { "start_time", "boot_id" };

/* The same pid is not enough: another process may have it by now. */
TEST_ROWS(a_registration_of_another_process_is_a_failure, nitems(marks))
{
	int daemon;

	over_hurry(5);
	only_restart();
	over_start();
	daemon = over_daemon(0);
	e2e_expect(e2e_sh(fleet_root(),
		       e2e_path("sed -i -E 's/(\"%s\": *\"?)[0-9a-f]{2}/\\1/' "
				".llmc/daemon.json",
			   marks[_i])),
	    0, NULL);
	over_wait_says("Failure (identity)");
	over_daemon(daemon);
	ck_assert(!over_alive(daemon));
	over_stop();
}

/* --- what it reports last ---------------------------------------------- */

/* Its record of the failure says more than the line in its log. */
TEST(a_failure_that_is_recorded_after_a_complaint_is_the_one)
{
	const char *record;
	int daemon;

	only_restart();
	auto_task("a.md", "A\nfake: run %s", auto_gate("a"));
	over_start();
	daemon = over_daemon(0);
	auto_wait_gate("a"); /* so it takes time to stop */
	record = e2e_path("{\"class\":\"worker_error\",\"words\":\"told late\","
			  "\"instance_id\":\"%s\"}",
	    over_instance());
	over_complain(daemon);
	over_wait_says("Failure (complained)");
	e2e_write(in_root("failure.json"), record);
	auto_open_gate("a");
	over_daemon(daemon);
	over_remembers("failure", "\"class\":\"worker_error\"", 1);
	over_remembers("failure", NULL, 1);
	over_stop();
}

/* --- a flood of lines -------------------------------------------------- */

/* A megabyte of lines that are not complaints, bytes that are not text, or one
 * long line; among them complaints of other processes. */
static void
fill(struct buf *flood, int kind, int daemon)
{
	for (int i = 0; i < 1000; i++)
		buf_adds(flood,
		    "{\"level\":\"ERROR\",\"pid\":1,\"message\":"
		    "\"of another process\"}\n");
	while (flood->len < MEGABYTE) {
		if (kind == 0)
			buf_addf(flood,
			    "{\"level\":\"INFO\",\"pid\":%d,\"message\":"
			    "\"a patrol\"}\n",
			    daemon);
		else if (kind == 1)
			buf_add(flood, "\0\377{\"level\":\"ERROR\"\n\0}\n", 23);
		else
			buf_adds(flood, "no end of this line in sight ");
	}
	if (kind == 2)
		buf_addc(flood, '\n');
}

static long
rss_kb(int pid)
{
	const char *text = e2e_read(e2e_path("/proc/%d/status", pid));
	const char *at = strstr(text, "VmRSS:");

	ck_assert_ptr_nonnull(at);
	return strtol(at + 6, NULL, 10);
}

TEST(a_complaint_in_a_flood_is_found)
{
	const char *log = in_root("logs/autod.log");
	cleanup_fd int fd = -1;
	int64_t began;
	long most = 0;
	int daemon;

	only_restart();
	/* A machine that is busy with it and with other tests is no hang. */
	auto_set("overseer.heartbeat_timeout", "1m");
	over_start();
	daemon = over_daemon(0);
	fd = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
	for (int i = 0; i < FLOOD_MB; i++) {
		cleanup_buf struct buf flood = BUF_INIT;

		fill(&flood, i % 3, daemon);
		ck_assert_int_eq(file_write_all(fd, flood.data, flood.len), 0);
		if (rss_kb(over_pid()) > most)
			most = rss_kb(over_pid());
	}
	/* Rotated in the middle of it. */
	ck_assert_int_eq(rename(log, e2e_path("%s.1", log)), 0);
	ck_assert_int_eq(dprintf(fd, "the end of the old file\n"), 24);
	/* The daemon may have made another one already. */
	e2e_write(e2e_path("%s.new", log),
	    e2e_path("{\"level\":\"WARN\",\"pid\":%d,\"message\":\"found\"}\n",
		daemon));
	ck_assert_int_eq(rename(e2e_path("%s.new", log), log), 0);
	began = clock_mono_ms();
	over_wait_says("Failure (complained): found");
	printf("# %d MB of lines; the complaint was found after %lld ms; "
	       "at most %ld KiB\n",
	    FLOOD_MB, (long long)(clock_mono_ms() - began), most);
	ck_assert_int_lt(most, RSS_MAX_KB);
	over_daemon(daemon);
	over_remembers("failure", NULL, 1);
	over_stop();
}

/* --- missing resources ------------------------------------------------- */

static void
limit_descriptors(int pid, rlim_t count)
{
	struct rlimit limit;

	ck_assert_int_eq(prlimit((pid_t)pid, RLIMIT_NOFILE, NULL, &limit), 0);
	limit.rlim_cur = count;
	ck_assert_int_eq(prlimit((pid_t)pid, RLIMIT_NOFILE, &limit, NULL), 0);
}

TEST(without_descriptors_it_tries_again)
{
	int daemon, overseer;

	only_restart();
	over_start();
	daemon = over_daemon(0);
	overseer = over_pid();
	limit_descriptors(overseer, 8); /* all its descriptors are above that */
	fleet_kill(daemon);
	/* It cannot even start one, and notices. */
	over_wait_says_times("Failure", 2);
	ck_assert(over_alive(overseer));
	limit_descriptors(overseer, 1024);
	over_daemon(daemon);
	over_remembers_least("failure", NULL, 2);
	over_stop();
}

/* In `make check` the machine is busy anyway. */
TEST_ROWS(a_busy_machine_is_no_hang, getenv("UNIT_WHOLE") != NULL)
{
	struct json_object *beat;
	int64_t first, now;
	int daemon;

	over_hurry(5);
	over_start();
	daemon = over_daemon(0);
	for (int i = 0; i < SPINNERS; i++)
		over_leave_behind(
		    e2e_path("exec </dev/null >/dev/null 2>&1\n"
			     "timeout 20 sh -c 'while kill -0 %d; "
			     "do :; done'",
			(int)getpid()));
	beat = auto_heartbeat();
	first = json_int_or(beat, "monotonic_ms", 0);
	json_object_put(beat);
	do { /* several beats, late or not */
		poll(NULL, 0, 100);
		beat = auto_heartbeat();
		now = json_int_or(beat, "monotonic_ms", 0);
		json_object_put(beat);
		ck_assert(!over_has_ended());
	} while (now < first + 15000);
	over_undisturbed(daemon);
	over_stop();
}

TEST(a_slow_disk_is_no_hang)
{
	const char *llmc = e2e_llmc_path();
	/* Only a folder may have a space in its name. */
	const char *folder = e2e_path(
	    "%.*s/../../tests/faults", (int)(strrchr(llmc, '/') - llmc), llmc);
	int daemon;

	over_hurry(5);
	auto_set("overseer.daemon_command",
	    e2e_path("env LLMC_TORTURE_SYNC_MS=" SLOW_MS
		     " LD_LIBRARY_PATH='%s' LD_PRELOAD=torture.so llmc up "
		     "--auto",
		folder));
	auto_task("a.md", "A\nfake: commit work.txt x");
	over_start();
	daemon = over_daemon(0);
	auto_wait_finished("landed", 1);
	over_undisturbed(daemon);
	over_stop();
	auto_history("work.txt: x", NULL);
}

/* --- changes during the run -------------------------------------------- */

TEST(a_renamed_session_is_made_again)
{
	int daemon, agent;

	over_start();
	daemon = over_daemon(0);
	auto_wait_shell("[ \"$(\"$LLMC\" --json status | grep -c '\"idle\"')\" "
			"-gt 0 ]");
	agent = fleet_agent_pid("auto-1");
	ck_assert_int_eq(e2e_sh(fleet_root(),
			     "tmux -L \"$(\"$LLMC\" config get tmux.socket)\" "
			     "rename-session -t =llmc-auto-1 mine")
			     ->status,
	    0);
	ck_assert_int_ne(fleet_next_agent_pid("auto-1", agent), agent);
	auto_task("a.md", "A\nfake: commit work.txt x");
	auto_wait_finished("landed", 1);
	over_undisturbed(daemon);
	over_stop();
}

TEST(the_next_daemon_is_what_lies_on_path_then)
{
	const char *bin = e2e_dir("bin"), *mark = e2e_path("%s/mark", bin);
	const char *llmc = e2e_path("%s/llmc", bin);
	int daemon;

	only_restart();
	e2e_script(
	    llmc, e2e_path("#!/bin/sh\nexec '%s' \"$@\"\n", e2e_llmc_path()));
	auto_set("overseer.daemon_command", e2e_path("'%s' up --auto", llmc));
	over_start();
	daemon = over_daemon(0);
	e2e_script(e2e_path("%s.new", llmc),
	    e2e_path("#!/bin/sh\necho new >'%s'\nexec '%s' \"$@\"\n", mark,
		e2e_llmc_path()));
	ck_assert_int_eq(rename(e2e_path("%s.new", llmc), llmc), 0);
	ck_assert(!e2e_exists(mark));
	fleet_kill(daemon);
	over_daemon(daemon);
	ck_assert_str_eq(e2e_read(mark), "new\n");
	over_stop();
}

/* A shell script llmc in that folder, which leaves a mark. */
static const char *
other_llmc(const char *bin)
{
	const char *mark = e2e_path("%s/mark", bin);

	e2e_script(e2e_path("%s/llmc", bin),
	    e2e_path("#!/bin/sh\necho $# >'%s'\nexec '%s' \"$@\"\n", mark,
		e2e_llmc_path()));
	return mark;
}

TEST(what_lies_on_path_comes_first_and_ours_last)
{
	const char *bin = e2e_dir("bin"), *mark = other_llmc(bin);
	int daemon;

	/* None is on PATH: ours is found. */
	e2e_env(e2e_path("PATH=%s", getenv("PATH")));
	over_start();
	daemon = over_daemon(0);
	over_stop();
	ck_assert(!e2e_exists(mark));
	e2e_env(e2e_path("PATH=%s:%s", bin, getenv("PATH")));
	over_start();
	over_daemon(daemon);
	ck_assert(e2e_exists(mark));
	over_stop();
}
