/* SPDX-License-Identifier: ISC */

/* Several machines on one repository: whatever happens to one of them, to the
 * server or to the network, each task lands once, and the branch is green. */
#include "base.h"
#include "hostrun.h"
#include "shared.h"

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
		    "git -C \"$FLEET/origin.git\" log --format='%%(trailers:"
		    "key=Llmc-Attempt,valueonly)' main | grep -c '/%s/' || "
		    "true",
		    hosts_name(host))),
	    NULL, 10);
}

/* A task that one host alone may do. */
/* Of one host, for one. */
static void
give_task(int host, int to, const char *steps)
{
	e2e_write(e2e_path("%s/text", unit_scratch()), steps);
	hosts_do(host,
	    e2e_path("\"$LLMC\" task add --wants host:%s \"$(cat "
		     "\"$FLEET/text\")\"",
		hosts_name(to)));
}

static void
add_task(int host, const char *steps)
{
	give_task(host, host, steps);
}

/* The clocks of two of them are an hour wrong all the time: the server's
 * decides, or the machine's whose file it is, and nothing is stolen. */
static void
set_clocks_wrong(void)
{
	const char *llmc = e2e_llmc_path();

	for (int i = 0; i < 2; i++) {
		hosts_env(i,
		    e2e_path("LD_LIBRARY_PATH=%.*s/../../tests/faults",
			(int)(strrchr(llmc, '/') - llmc), llmc));
		hosts_env(i, "LD_PRELOAD=skew.so");
		hosts_env(i, i == 0 ? "LLMC_SKEW=3600" : "LLMC_SKEW=-3600");
	}
}

/* One sleeps past its lease, and wakes up with work that others have done
 * since: nothing of it lands. One dies, and comes back as if new. */
TEST(three_hosts_share_one_queue)
{
	int count = e2e_number("HOSTS_TASKS", TASKS);

	hosts_begin(3, NULL);
	set_clocks_wrong();
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
	hosts_wait_landed(count - TASKS + 2);
	e2e_lacks(hosts_do(2, "\"$LLMC\" status"), "lost");
	hosts_wait(
	    1, "work on borg", "\"$LLMC\" status --here | grep -q working");
	hosts_signal(1, SIGSTOP);
	hosts_wait(
	    2, "work on cray", "\"$LLMC\" status --here | grep -q working");
	hosts_kill(2);
	hosts_wait(0, "both to be lost",
	    "\"$LLMC\" status | grep -A5 '^HOSTS' >seen; grep -q '^borg "
	    ".*lost' seen && grep -q '^cray .*lost' seen");
	hosts_wait_landed(count);
	hosts_signal(1, SIGCONT);
	hosts_up(2);
	hosts_wait(0, "both to be back",
	    "\"$LLMC\" status >seen; grep -q '^borg .* up' seen && grep -q "
	    "'^cray .* up' seen");
	for (int i = 1; i < 3; i++)
		add_task(i,
		    e2e_path("Work %d\nfake: commit work-%d.txt good",
			count + i - 1, count + i - 1));
	hosts_wait_landed(count + 2);
	for (int i = 0; i < 3; i++)
		ck_assert_msg(landed_by(i) > 0, "none by %s: %s", hosts_name(i),
		    hosts_do(i,
			"git -C \"$FLEET/origin.git\" log --format='%s %b' "
			"main"));
	hosts_oracle(count + 2);
	hosts_wait(
	    0, "the last task to settle", "! ls .llmc/tasks/todo | grep -q .");
	hosts_idle();
}

static int
landed(void)
{
	return (int)strtol(hosts_do(0,
			       "git -C \"$FLEET/origin.git\" log --format="
			       "'%(trailers:key=Llmc-Task,valueonly)' main | "
			       "grep -c . || true"),
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

	hosts_begin(3, NULL);
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

/* The standby lacks what was written last: tasks, claims, what has landed. A
 * host that knows about it comes back later. */
TEST(a_standby_that_takes_over_lands_nothing_twice)
{
	int before;

	hosts_begin_pair(3);
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
	hosts_kill(1);
	hosts_failover();
	/* How many it did not know: their owners may have told it before. */
	hosts_wait(0, "what has landed to be compared",
	    "grep -q 'which has [0-9]* landed task.* that it did not know' "
	    ".llmc/logs/*.log ../cray/.llmc/logs/*.log "
	    "../borg/.llmc/logs/*.log");
	hosts_wait_landed(before + 4);
	hosts_up(1);
	hosts_wait_landed(16);
	hosts_oracle(16);
	hosts_idle();
}

/* --- all layers, with default settings ------------------------------------ */

/* Healthy, and long enough for every rule to have an opinion: each call brings
 * something new. Numbers alone would not be that. */
static const char *
long_work(void)
{
	cleanup_buf struct buf steps = BUF_INIT;

	for (int i = 0; i < 40; i++)
		buf_addf(&steps,
		    "fake: say I go on with part %d, which hangs together "
		    "with the one before.\nfake: run ls .; echo %d | tr 0-9 "
		    "a-j\n",
		    i, i);
	buf_adds(&steps, "fake: run true");
	return e2e_path("%s", steps.data);
}

/* A step that waits until open_gate(). */
static const char *
gate(const char *name)
{
	return e2e_path("fake: run echo >\"$FLEET/%s.here\"; until [ -e "
			"\"$FLEET/%s\" ]; do sleep 0.1; done",
	    name, name);
}

static void
wait_gate(const char *name)
{
	hosts_wait(0, name, e2e_path("[ -e \"$FLEET/%s.here\" ]", name));
}

static void
open_gate(const char *name)
{
	e2e_write(e2e_path("%s/%s", unit_scratch(), name), "");
}

/* atlas alone has not spent it, but both together have. */
static void
budget_holds(int next)
{
	hosts_do(0,
	    "\"$LLMC\" config set budget.day_cost $(\"$LLMC\" doctor store sql "
	    "'SELECT printf(\"%.6f\", (sum(cost) + 1) / 1e6) FROM day' | tail "
	    "-n 1)");
	add_task(
	    0, e2e_path("Work %d\nfake: commit work-%d.txt good", next, next));
	hosts_wait(0, "the budget of both to be spent",
	    "\"$LLMC\" status | grep -q '^paused: .*budget.day_cost'");
}

/* Agents of two hosts reserve the same: a reservation is its host's own. */
static void
reservation_is_its_host_s(void)
{
	const char *had = e2e_path("%s/had", unit_scratch());

	add_task(1,
	    e2e_path("Work 0\nfake: tool mail_reserve {\"paths\":[\"shelf\"]}\n"
		     "%s\nfake: commit work-0.txt good",
		gate("shelf")));
	wait_gate("shelf");
	add_task(0,
	    e2e_path("Work 1\nfake: tool mail_reserve "
		     "{\"paths\":[\"shelf/top\"]}\nfake: keep %s\n"
		     "fake: commit work-1.txt good",
		had));
	hosts_wait_landed(1);
	e2e_has(e2e_read(had), "\"path\":\"shelf/top\"");
	open_gate("shelf");
	hosts_wait_landed(2);
}

/* A question of an agent of borg is answered on atlas. */
static void
answer_elsewhere(void)
{
	const char *said = e2e_path("%s/said", unit_scratch());

	add_task(1,
	    e2e_path("Work 2\nfake: tool request_orchestrator {\"message\":"
		     "\"Which plates?\",\"options\":[\"red\",\"blue\"],"
		     "\"timeoutSeconds\":3600}\nfake: keep %s\n"
		     "fake: commit work-2.txt good",
		said));
	hosts_wait(0, "the question of borg",
	    "\"$LLMC\" asks >seen; grep -q 'Which plates?' seen && grep -o "
	    "'borg:a[0-9]*' seen | head -n 1 >ask && [ -s ask ]");
	hosts_do(0, "\"$LLMC\" answer $(cat ask) blue");
	hosts_wait_landed(3);
	e2e_has(e2e_read(said), "blue");
	for (int i = 0; i < 2; i++)
		hosts_wait(i, "nothing to be asked",
		    "\"$LLMC\" asks | grep -q 'Nothing is asked of you'");
	/* Over ssh; the words are those of that host. */
	e2e_has(hosts_do(0,
		    "\"$LLMC\" stop borg:auto-1 && \"$LLMC\" resume "
		    "borg:auto-1"),
	    "The session of auto-1 has ended");
}

/* A goal of borg is seen on atlas, and its tasks are done on both. */
static void
goal_is_everywhere(void)
{
	e2e_write(e2e_path("%s/plan.md", unit_scratch()),
	    e2e_path("# Dinner\n## Cook\n### Soup\nAcceptance: x\n\n%s\n"
		     "fake: commit work-3.txt good\n### Bread\n"
		     "Acceptance: x\n\n%s\nfake: commit work-4.txt good\n",
		gate("soup"), long_work()));
	hosts_do(1, "\"$LLMC\" goal create --plan \"$FLEET/plan.md\"");
	wait_gate("soup");
	hosts_wait(0, "the goal of borg",
	    "\"$LLMC\" goal list | grep Dinner | grep -q borg && \"$LLMC\" "
	    "status | grep -q Dinner");
	e2e_lacks(hosts_do(0, "\"$LLMC\" goal list --here"), "Dinner");
	open_gate("soup");
	hosts_wait_landed(5);
	hosts_wait(1, "the goal to be reached",
	    "\"$LLMC\" goal list --all --json | grep -q '\"status\": "
	    "*\"completed\"'");
}

/* Facts about both: what happened there, and what did not. */
static void
nothing_healthy_was_stopped(int tasks)
{
	for (int i = 0; i < 2; i++) {
		const char *other = hosts_name(1 - i);

		/* Each host tells of what was done on the other one. */
		hosts_wait(i, "the events of the other",
		    e2e_path("\"$LLMC\" log --lines 1000 --json >seen; grep -q "
			     "'\"host\": *\"%s\"' seen && grep -q "
			     "'task_finished' seen",
			other));
		e2e_lacks(
		    hosts_do(i, "\"$LLMC\" log --here --lines 1000 --json"),
		    e2e_path("\"host\": \"%s\"", other));
		/* Its page has the other host. */
		e2e_has(hosts_do(i,
			    "url=$(\"$LLMC\" web --json | sed -n "
			    "'s/.*\"url\": *\"\\([^\"]*\\)\".*/\\1/p'); curl "
			    "-s -N --noproxy '*' --max-time 2 -H "
			    "\"Authorization: Bearer ${url#*=}\" "
			    "\"${url%%/#*}/view\"; true"),
		    e2e_path("\"%s\"", other));
		ck_assert_str_eq(
		    hosts_do(i,
			"grep -hE '\"level\": ?\"(WARN|ERROR)\"' "
			".llmc/logs/autod.log; grep -h "
			"'\"type\":\"oversight\"' .llmc/logs/auto.log* | grep "
			"-v '\"action\":\"log\"'; true"),
		    "");
	}
	/* Every task landed by its first attempt. */
	ck_assert_str_eq(hosts_do(0,
			     "git -C \"$FLEET/origin.git\" log --format="
			     "'%(trailers:key=Llmc-Attempt,valueonly)' main | "
			     "grep -c ^1/"),
	    e2e_path("%d\n", tasks));
	ck_assert_int_gt(landed_by(0), 0);
	ck_assert_int_gt(landed_by(1), 0);
	hosts_oracle(tasks);
	hosts_idle();
}

TEST(all_layers_work_on_two_hosts_with_default_settings)
{
	hosts_begin(2, NULL);
	for (int i = 0; i < 2; i++)
		hosts_do(i,
		    "\"$LLMC\" config unset daemon.patrol_interval; \"$LLMC\" "
		    "config unset auto.concurrency");
	hosts_set(-1, "web.enabled", "true");
	up_all(2);
	reservation_is_its_host_s();
	answer_elsewhere();
	goal_is_everywhere();
	nothing_healthy_was_stopped(5);
	budget_holds(5);
}

/* A person does at one host what is done at another, by ssh. Mail to an agent
 * of another host, which has a task of this one, waits until that is up, and
 * arrives once. */
TEST(what_is_said_to_another_host_reaches_it_once)
{
	hosts_begin(2, NULL);
	hosts_set(1, "auto.concurrency", "1");
	up_all(2);
	hosts_wait(0, "a worker of borg that is idle",
	    "\"$LLMC\" status | grep -q '^borg *auto-1 *idle'");
	hosts_do(0, "\"$LLMC\" pause borg:auto-1");
	hosts_wait(1, "the pause", "\"$LLMC\" status --here | grep -q paused");
	e2e_has(hosts_sh(0, "\"$LLMC\" pause borg:nobody")->err, "nobody");
	hosts_do(0, "\"$LLMC\" resume borg:auto-1");
	give_task(0, 1,
	    e2e_path("Wait\n%s\nfake: tool mail_inbox {}\nfake: run true\n"
		     "fake: commit work-0.txt good",
		gate("go")));
	wait_gate("go");
	e2e_has(hosts_do(0, "\"$LLMC\" message borg:auto-1 'Be quick'"),
	    "Sent to auto-1");
	e2e_has(hosts_sh(0, "\"$LLMC\" mail send borg:nobody hello")->err,
	    "there is no nobody");
	e2e_has(hosts_sh(0, "\"$LLMC\" mail send mars:auto-1 hello")->err,
	    "the fleet has no host mars");
	e2e_has(hosts_do(0, "\"$LLMC\" mail send borg:auto-1 first"),
	    "Sent to borg:auto-1 as M_");
	hosts_kill(1);
	e2e_has(
	    hosts_sh(0, "\"$LLMC\" mail send actor:task:t1-atlas second")->err,
	    "has not taken it yet");
	hosts_kill(0); /* the sender dies, too */
	hosts_up(1);
	hosts_up(0);
	hosts_wait(
	    1, "the mail", "\"$LLMC\" mail inbox --all | grep -q second");
	open_gate("go");
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

/* These hosts are too old for the tables: they end their turns, claim nothing,
 * and say what to do. */
static void
are_too_old(int next)
{
	hosts_migrate(SHARED_SCHEMA + 2, SHARED_SCHEMA + 2);
	for (int i = 0; i < 2; i++) {
		hosts_tasks(i, next + i, 1, "");
		hosts_wait(i, "words for a host that is too old",
		    "\"$LLMC\" status | grep -q 'install a newer llmc on this "
		    "host'");
		hosts_wait(i, "its task to be taken up",
		    "ls .llmc/tasks/doing | grep -q .");
		hosts_do(i,
		    "! \"$LLMC\" status --here --json | grep -q "
		    "'\"status\": *\"working\"'");
	}
}

/* An agent of atlas, which is busy with it, spawns two: borg takes both. One
 * lands there; with the other borg dies, and it is done again. Meanwhile the
 * tables change, and all goes on. */
TEST(children_are_done_on_another_host_and_none_is_lost)
{
	const char *todo;

	hosts_begin(2, NULL);
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
	hosts_migrate(SHARED_SCHEMA + 1, SHARED_SCHEMA);
	hosts_kill(1);
	e2e_write(e2e_path("%s/go", unit_scratch()), "");
	hosts_wait_landed(3);
	hosts_oracle(3);
	hosts_up(1);
	hosts_wait(
	    0, "borg to be back", "\"$LLMC\" status | grep -q '^borg .* up'");
	hosts_idle();
	are_too_old(3);
}
