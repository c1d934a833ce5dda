/* SPDX-License-Identifier: ISC */

/* What the overseer and the daemon must not wait for: a terminal that was
 * stopped or that nobody reads, a disk that hangs, a daemon that no signal
 * ends. */
#include <termios.h>

#include "enclave.h"
#include "overrun.h"

struct terminal {
	int master, slave;
	struct buf seen;
};

static void
terminal_open(struct terminal *t)
{
	t->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert(t->master >= 0 && grantpt(t->master) == 0 &&
	    unlockpt(t->master) == 0);
	t->slave = open(ptsname(t->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(t->slave, 0);
	ck_assert_int_eq(fcntl(t->master, F_SETFL, O_NONBLOCK), 0);
	buf_init(&t->seen);
}

/* Ctrl-S and Ctrl-Q. */
static void
terminal_stop(struct terminal *t, bool stop)
{
	ck_assert_int_eq(tcflow(t->slave, stop ? TCOOFF : TCOON), 0);
}

static void
terminal_wait(struct terminal *t, const char *words)
{
	char text[4096];

	while (strstr(t->seen.data, words) == NULL) {
		ssize_t n = read(t->master, text, sizeof text);

		ck_assert_msg(!unit_is_late(), "no %s in: %s", words,
		    e2e_shown(t->seen.data));
		if (n > 0)
			buf_add(&t->seen, text, (size_t)n);
		else
			poll(NULL, 0, 10); /* another process writes it */
	}
}

static void
terminal_close(struct terminal *t)
{
	buf_release(&t->seen);
	close(t->slave);
	close(t->master);
}

const int unit_timeout = 120; /* seconds, each */

void
unit_before(void)
{
	over_begin();
}

TEST(a_stopped_terminal_does_not_stop_supervision)
{
	struct terminal t;
	int daemon;

	terminal_open(&t);
	over_start_on(ptsname(t.master));
	daemon = over_daemon(0);
	terminal_wait(&t, "The daemon is running");
	terminal_stop(&t, true);
	fleet_kill(daemon);
	daemon = over_daemon(daemon);
	over_complain(daemon);
	over_daemon(daemon);
	over_remembers("remedy", "\"completed\"", 1);
	terminal_stop(&t, false);
	terminal_wait(&t, "Starting the daemon again at once");
	terminal_wait(&t, "Remediation complete. Restarting daemon");
	terminal_stop(&t, true);
	over_signal(SIGINT);
	ck_assert_int_eq(over_wait_exit(), OVER_STOPPED);
	terminal_close(&t);
}

/* Before it begins, it tells what is not in order: no budget is set. */
TEST(a_stopped_terminal_does_not_stop_the_start)
{
	struct terminal t;

	terminal_open(&t);
	terminal_stop(&t, true);
	over_start_on(ptsname(t.master));
	over_daemon(0);
	over_signal(SIGINT);
	ck_assert_int_eq(over_wait_exit(), OVER_STOPPED);
	terminal_close(&t);
}

/* The daemon's copy of its log. */
TEST(a_stopped_terminal_does_not_stop_the_daemon)
{
	const char *pid = e2e_path("%s/up.pid", unit_scratch());
	struct terminal t;

	terminal_open(&t);
	over_leave_behind(e2e_path("exec </dev/null >'%s' 2>&1\ncd '%s'\n"
				   "echo $$ >'%s'\nexec '%s' up --auto",
	    ptsname(t.master), fleet_root(), pid, e2e_llmc_path()));
	terminal_wait(&t, "auto mode");
	terminal_stop(&t, true);
	auto_task("a.md", "A\nfake: commit work.txt x");
	auto_wait_finished("landed", 1);
	e2e_lacks(t.seen.data, "landed");
	terminal_stop(&t, false);
	terminal_wait(&t, "landed");
	fleet_do("down", NULL);
	terminal_close(&t);
}

/* --- a disk that hangs -------------------------------------------------- */

/* Wait until it is there, and says so. */
static void
wait_told(const char *words)
{
	while (!e2e_exists(e2e_scratch("told")) ||
	    strstr(e2e_read(e2e_scratch("told")), words) == NULL) {
		ck_assert_msg(!unit_is_late(), "nobody was told %s; %s", words,
		    e2e_shown(over_output()));
		poll(NULL, 0, 10); /* another program writes it */
	}
}

/* An overseer on a disk that hangs; the daemon's pid. */
static int
freeze(void)
{
	const char *why;
	int daemon;

	over_hurry(5);
	auto_tune("daemon_stop=5000");
	e2e_notify(fleet_root(),
	    e2e_path("cat >'%s.new'; mv '%s.new' '%s'", e2e_scratch("told"),
		e2e_scratch("told"), e2e_scratch("told")));
	why = enclave_freezing_disk(fleet_root());
	if (why != NULL)
		unit_skip(why);
	over_start();
	daemon = over_daemon(0);
	auto_wait_shell("[ -e .llmc/llmc.db ]");
	enclave_freeze(fleet_root());
	over_wait_says("Failure (hung)");
	return daemon;
}

static bool
hangs(int pid)
{
	const char *after =
	    strrchr(e2e_read(e2e_path("/proc/%d/stat", pid)), ')');

	return after != NULL && after[2] == 'D';
}

TEST(a_disk_that_hangs_is_told_and_waited_for)
{
	int daemon = freeze();

	over_wait_says("does not end, even by SIGKILL");
	wait_told("the daemon cannot be ended");
	ck_assert(hangs(daemon));
	ck_assert_int_eq(over_count_daemons(&daemon), 1);
	enclave_thaw(fleet_root());
	over_wait_says("The disk answers again");
	over_daemon(daemon);
	over_remembers("failure", "heartbeat", 1);
	over_stop();
	enclave_release_disk(fleet_root());
}

TEST(ctrl_c_leaves_a_daemon_that_nothing_ends)
{
	int daemon = freeze();

	over_wait_says("does not end, even by SIGKILL");
	over_signal(SIGINT);
	ck_assert_int_eq(over_wait_exit(), OVER_UNREPAIRED);
	e2e_has(over_output(), "It is left as it is");
	ck_assert(hangs(daemon));
	enclave_thaw(fleet_root());
	enclave_release_disk(fleet_root());
}

TEST(a_second_ctrl_c_leaves_within_two_seconds)
{
	int64_t began;

	freeze();
	over_signal(SIGINT);
	over_wait_says("Press Ctrl-C again");
	began = clock_mono_ms();
	over_signal(SIGINT);
	ck_assert_int_eq(over_wait_exit(), 130);
	ck_assert_int_lt(clock_mono_ms() - began, 2500);
	enclave_thaw(fleet_root());
	enclave_release_disk(fleet_root());
}
