/* SPDX-License-Identifier: ISC */

/* Several machines on one repository: whatever happens to one of them, to the
 * server or to the network, each task lands once, and the branch is green. */
#include "base.h"
#include "hostrun.h"

const int unit_timeout = 600; /* seconds, each */

/* HOSTS_TASKS: 1,000 in the soak. */
#define TASKS 12

#define SLOW "fake: sleep 1500"

static void
up_all(int count)
{
	for (int i = 0; i < count; i++)
		hosts_up(i);
}

/* Number of tasks that landed by attempts of this host. */
static int
landed_by(int host)
{
	return (int)strtol(
	    hosts_do(host,
		e2e_path(
		    "git fetch -q && git log --format='%%(trailers:key="
		    "Llmc-Attempt,valueonly)' origin/main | grep -c '/%s/' || "
		    "true",
		    hosts_name(host))),
	    NULL, 10);
}

TEST_ROWS(three_hosts_share_one_queue, HOSTS_ENGINES)
{
	int count = e2e_number("HOSTS_TASKS", TASKS), busy = 0;

	hosts_begin(_i, 3, NULL);
	hosts_tasks(0, 0, count - 4, SLOW);
	hosts_tasks(2, count - 4, 4, SLOW);
	up_all(3);
	hosts_wait(1, "the view of all",
	    "\"$LLMC\" status >seen && grep -q '^atlas .* up' seen && grep -q "
	    "'^cray .* up' seen && grep -q '^cray *auto-1' seen");
	/* A host shows itself alone, as if there was no fleet. */
	e2e_lacks(hosts_do(1, "\"$LLMC\" status --here"), "\ncray");
	ck_assert_str_eq(
	    hosts_do(1, "\"$LLMC\" status --here | grep -c 'auto-1 '"), "1\n");
	e2e_has(
	    hosts_do(1, "\"$LLMC\" attach cray:auto-1 </dev/null"), "ssh -t ");
	e2e_has(hosts_do(1, "\"$LLMC\" report metrics"), "host=\"borg\"");
	hosts_wait_landed(count);
	for (int i = 0; i < 3; i++)
		busy += landed_by(i) > 0;
	ck_assert_int_ge(busy, 2);
	hosts_oracle(count);
	hosts_wait(
	    0, "the last task to settle", "! ls .llmc/tasks/todo | grep -q .");
	hosts_idle();
}

/* Its tasks are taken over when its lease is over, and it is shown as lost. */
TEST_ROWS(a_host_that_dies_loses_nothing, HOSTS_ENGINES)
{
	hosts_begin(_i, 3, NULL);
	hosts_tasks(0, 0, 8, SLOW);
	up_all(3);
	hosts_wait(
	    1, "work on borg", "\"$LLMC\" status --here | grep -q working");
	hosts_kill(1);
	hosts_wait(0, "borg to be lost",
	    "\"$LLMC\" status | grep -A3 '^HOSTS' | grep -q '^borg .*lost'");
	hosts_wait_landed(8);
	hosts_oracle(8);
	/* It comes back as if new. */
	hosts_up(1);
	hosts_wait(
	    0, "borg to be back", "\"$LLMC\" status | grep -q '^borg .* up'");
	hosts_tasks(1, 8, 2, "");
	hosts_wait_landed(10);
	hosts_oracle(10);
	hosts_idle();
}

/* It wakes up with work that others have done since: nothing of it lands. */
TEST_ROWS(a_host_that_slept_past_its_lease_is_refused, HOSTS_ENGINES)
{
	hosts_begin(_i, 2, NULL);
	hosts_tasks(0, 0, 6, SLOW);
	up_all(2);
	hosts_wait(
	    1, "work on borg", "\"$LLMC\" status --here | grep -q working");
	hosts_signal(1, SIGSTOP);
	hosts_wait_landed(6);
	hosts_signal(1, SIGCONT);
	hosts_wait(1, "borg to be back",
	    "\"$LLMC\" status | grep -q '^borg (here) .* up'");
	hosts_tasks(1, 6, 1, "");
	hosts_wait_landed(7);
	hosts_oracle(7);
	hosts_idle();
}

/* The server's clock decides, or the machine's whose file it is. */
TEST_ROWS(clocks_that_are_an_hour_wrong_steal_nothing, HOSTS_ENGINES)
{
	const char *llmc;

	hosts_begin(_i, 3, NULL);
	llmc = e2e_llmc_path();
	for (int i = 0; i < 2; i++) {
		hosts_env(i,
		    e2e_path("LD_LIBRARY_PATH=%.*s/../../tests/tools",
			(int)(strrchr(llmc, '/') - llmc), llmc));
		hosts_env(i, "LD_PRELOAD=skew.so");
		hosts_env(i, i == 0 ? "LLMC_SKEW=3600" : "LLMC_SKEW=-3600");
	}
	hosts_tasks(0, 0, 3, SLOW);
	hosts_tasks(1, 3, 3, SLOW);
	up_all(3);
	hosts_wait_landed(6);
	hosts_oracle(6);
	e2e_lacks(hosts_do(2, "\"$LLMC\" status"), "lost");
	hosts_idle();
}

/* Nothing is claimed, submitted or landed meanwhile; turns go on. */
TEST(a_server_and_a_network_that_fail_lose_nothing)
{
	static const char *const modes[] = { "lose 3", "cut", "delay 200",
		"hole", "lose 5" };

	hosts_begin(HOSTS_POSTGRES, 3, NULL);
	hosts_tasks(0, 0, 6, SLOW);
	hosts_tasks(1, 6, 6, SLOW);
	up_all(3);
	for (size_t i = 0; i < nitems(modes); i++) {
		hosts_network(modes[i]);
		poll(NULL, 0, 1500); /* what the network does for a while */
		hosts_network("pass");
		hosts_wait_landed((int)i + 1);
	}
	hosts_server_kill();
	hosts_wait_landed(12);
	hosts_oracle(12);
	hosts_idle();
}

/* A person does at one host what is done at another. */
TEST(a_host_does_what_a_person_asks_of_it_elsewhere)
{
	hosts_begin(HOSTS_SQLITE, 2, NULL);
	hosts_set(-1, "auto.concurrency", "1");
	hosts_set(-1, "auto.require_commit", "true");
	hosts_set(-1, "auto.max_turns", "2");
	hosts_set(-1, "auto.max_attempts", "1");
	hosts_up(1);
	hosts_do(1, "\"$LLMC\" task add 'Say it\nfake: say Said.'");
	hosts_wait(1, "an ask", "\"$LLMC\" asks | grep -q 'llmc answer a'");
	hosts_up(0);
	hosts_wait(0, "the ask of borg",
	    "\"$LLMC\" asks | grep -o 'borg:a[0-9]*' | head -n 1 >seen && [ -s "
	    "seen ]");
	hosts_do(0, "\"$LLMC\" pause borg:auto-1");
	hosts_wait(1, "the pause", "\"$LLMC\" status --here | grep -q paused");
	e2e_has(hosts_sh(0, "\"$LLMC\" pause borg:nobody")->err, "nobody");
	hosts_do(0, "\"$LLMC\" answer $(cat seen) --no");
	hosts_wait(
	    1, "the answer", "! \"$LLMC\" asks | grep -q 'llmc answer a'");
	hosts_do(0, "\"$LLMC\" resume borg:auto-1");
	hosts_do(1,
	    "\"$LLMC\" task add 'Wait\nfake: sleep 20000' --wants "
	    "host:borg");
	hosts_wait(0, "a message to a worker that works",
	    "\"$LLMC\" message borg:auto-1 'Be quick' | grep -q '^Sent to "
	    "borg:auto-1'");
}
