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
	e2e_has(hosts_do(1, "\"$LLMC\" peek cray:auto-1 </dev/null"),
	    "peek --lines 10 auto-1");
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

static int
landed(void)
{
	return (int)strtol(hosts_do(0,
			       "git ls-remote -q origin main >/dev/null; git "
			       "fetch -q; git log --format='%(trailers:key="
			       "Llmc-Task,valueonly)' origin/main | grep -c . "
			       "|| true"),
	    NULL, 10);
}

/* What goes wrong next. */
static void
fault(int n)
{
	static const char *const modes[] = { "lose 3", "cut", "delay 200",
		"hole", "lose 5" };
	int host = n % 3;

	switch (n % 8) {
	case 5:
		hosts_server_kill();
		break;
	case 6:
		hosts_kill(host);
		hosts_up(host);
		break;
	case 7: /* longer than its lease */
		hosts_signal(host, SIGSTOP);
		poll(NULL, 0, 10000);
		hosts_signal(host, SIGCONT);
		break;
	default:
		hosts_network(modes[n % 8]);
		poll(NULL, 0, 1500); /* what the network does for a while */
		hosts_network("pass");
	}
}

/* Nothing is claimed, submitted or landed meanwhile; turns go on. */
TEST(a_server_and_a_network_that_fail_lose_nothing)
{
	int count = e2e_number("HOSTS_TASKS", TASKS);
	int step = count > TASKS ? count / 40 : 2;
	int half = count / 2, want = 0;

	hosts_begin(HOSTS_POSTGRES, 3, NULL);
	hosts_tasks(0, 0, half, SLOW);
	hosts_tasks(1, half, count - half, SLOW);
	up_all(3);
	for (int n = 0; n < 6 || want < count; n++) {
		fault(n);
		want = want + step < count ? want + step : count;
		hosts_wait_landed(want);
	}
	hosts_oracle(count);
	hosts_idle();
}

/* The tables change while all hosts work: they go on. Then they change so that
 * these hosts are too old: they end their turns, claim nothing, and say what
 * to do. */
TEST_ROWS(tables_are_upgraded_under_hosts_that_run, HOSTS_ENGINES)
{
	hosts_begin(_i, 2, NULL);
	hosts_tasks(0, 0, 6, SLOW);
	up_all(2);
	hosts_wait_landed(1);
	hosts_migrate(2, 1);
	hosts_wait_landed(6);
	hosts_oracle(6);
	hosts_migrate(3, 3);
	for (int i = 0; i < 2; i++) {
		hosts_tasks(i, 6 + i, 1, "");
		hosts_wait(i, "words for a host that is too old",
		    "\"$LLMC\" status | grep -q 'install a newer llmc on this "
		    "host'");
		hosts_wait(i, "its task to be taken up",
		    "ls .llmc/tasks/doing | grep -q .");
		e2e_lacks(hosts_do(i, "\"$LLMC\" status --here"), "working");
	}
}

/* The standby lacks what was written last: tasks, claims, what has landed. The
 * second time, a host that knows about it comes back later. */
TEST_ROWS(a_standby_that_takes_over_lands_nothing_twice, 2)
{
	int before;

	hosts_begin(HOSTS_PAIR, 3, NULL);
	hosts_tasks(0, 0, 8, SLOW);
	hosts_tasks(1, 8, 4, SLOW);
	up_all(3);
	hosts_wait_landed(1);
	hosts_standby();
	hosts_standby_cut();
	before = landed();
	hosts_tasks(1, 12, 2, SLOW);
	hosts_tasks(2, 14, 2, SLOW);
	hosts_wait_landed(before + 3);
	if (_i == 1)
		hosts_kill(1);
	hosts_failover();
	hosts_wait(0, "what has landed to be found",
	    "grep -q 'which has [1-9][0-9]* landed task.* that it did not "
	    "know' .llmc/logs/*.log ../cray/.llmc/logs/*.log "
	    "../borg/.llmc/logs/*.log");
	if (_i == 1) {
		hosts_wait_landed(before + 4);
		hosts_up(1);
	}
	hosts_wait_landed(16);
	hosts_oracle(16);
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

/* Mail to an agent of another host waits until that is up, and arrives once. */
TEST_ROWS(mail_reaches_an_agent_of_another_host_once, HOSTS_ENGINES)
{
	hosts_begin(_i, 2, NULL);
	hosts_set(1, "auto.concurrency", "1");
	hosts_up(1);
	hosts_do(1,
	    "\"$LLMC\" task add --wants host:borg 'Wait\nfake: run until [ -e "
	    "\"$FLEET/go\" ]; do sleep 0.1; done\nfake: tool mail_inbox {}\n"
	    "fake: run true\nfake: commit work-0.txt good'");
	hosts_up(0);
	hosts_wait(
	    1, "work on borg", "\"$LLMC\" status --here | grep -q working");
	e2e_has(hosts_sh(0, "\"$LLMC\" mail send borg:nobody hello")->err,
	    "there is no nobody");
	e2e_has(hosts_sh(0, "\"$LLMC\" mail send mars:auto-1 hello")->err,
	    "the fleet has no host mars");
	e2e_has(hosts_do(0, "\"$LLMC\" mail send borg:auto-1 first"),
	    "Sent to borg:auto-1 as M_");
	hosts_kill(1);
	e2e_has(
	    hosts_sh(0, "\"$LLMC\" mail send actor:task:t1-borg second")->err,
	    "has not taken it yet");
	hosts_kill(0); /* the sender dies, too */
	hosts_up(1);
	hosts_up(0);
	hosts_wait(
	    1, "the mail", "\"$LLMC\" mail inbox --all | grep -q second");
	e2e_write(e2e_path("%s/go", unit_scratch()), "");
	hosts_wait_landed(1);
	for (int i = 0; i < 2; i++)
		ck_assert_str_eq(
		    hosts_do(1,
			e2e_path("\"$LLMC\" mail inbox --all --json | grep "
				 "-c '\"subject\": *\"%s\"'",
			    i == 0 ? "first" : "second")),
		    "1\n");
	hosts_wait(0, "to know that it is there",
	    "\"$LLMC\" mail inbox --all --json >seen; [ $(grep -c "
	    "'\"status\": *\"done\"' seen) = 2 ]");
	hosts_idle();
}

/* An agent of atlas, which is busy with it, spawns two: borg takes both. One
 * lands there; with the other borg dies, and it is done again. */
TEST_ROWS(children_are_done_on_another_host_and_none_is_lost, HOSTS_ENGINES)
{
	const char *todo;

	hosts_begin(_i, 2, NULL);
	hosts_set(0, "auto.concurrency", "1");
	up_all(2);
	hosts_wait(0, "borg", "\"$LLMC\" status | grep -q '^borg .* up'");
	todo = e2e_path("%s/.llmc/tasks/todo", hosts_root(0));
	e2e_write(e2e_path("%s/.p", todo),
	    "Wants: host:atlas\n\nShare it\n"
	    "fake: tool agent_spawn {\"spawn_reason\":\"x\","
	    "\"requested_subagents\":[{\"role\":\"coder\",\"label\":\"one\","
	    "\"task\":\"Make one.\\nfake: commit work-1.txt good\"},"
	    "{\"role\":\"coder\",\"label\":\"two\",\"task\":\"Make two.\\n"
	    "fake: run until [ -e \\\"$FLEET/go\\\" ]; do sleep 0.1; done\\n"
	    "fake: commit work-2.txt good\"}]}\n"
	    "fake: commit work-0.txt good");
	ck_assert_int_eq(
	    rename(e2e_path("%s/.p", todo), e2e_path("%s/p.md", todo)), 0);
	hosts_wait_landed(1);
	ck_assert_int_eq(landed_by(1), 1);
	e2e_has(hosts_do(0, "\"$LLMC\" goal tree"), "two");
	hosts_wait(1, "the second child on borg",
	    "\"$LLMC\" status --here | grep -q working");
	hosts_kill(1);
	e2e_write(e2e_path("%s/go", unit_scratch()), "");
	hosts_wait_landed(3);
	hosts_oracle(3);
	hosts_up(1);
	hosts_wait(
	    0, "borg to be back", "\"$LLMC\" status | grep -q '^borg .* up'");
	hosts_idle();
}
