/* SPDX-License-Identifier: ISC */

/*
 * How good the overseer is, compared with its targets and with other
 * supervisors that are installed: bench-overseer BUILD [SECONDS]. The daemon is
 * killed with SIGKILL again and again; tests/tools/beacon.c, preloaded, reports
 * when the main() of its replacement begins, and when that serves its 8
 * workers. Repairs are off. Then overseer and daemon run undisturbed for
 * SECONDS (60; 0 = not at all), and their cost is read from /proc. A wake-up is
 * a voluntary context switch.
 *
 * The others supervise a child that does nothing; ours supervises the real
 * daemon.
 */
#include "base.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "bench.h"
#include "table.h"

#define KILLS       40
#define RESTARTS    20
#define OTHER_KILLS 15
#define AGE_MS      1500 /* of a child before it is killed: the throttles */
#define WAIT_MS     60000
#define BEACON_MS   10000
#define SETTLE_MS   35000 /* until the first patrol has seen the new worker */
#define READ_MAX    (16 * 1024 * 1024)

struct bench {
	char *llmc, *scratch, *repo, *beacon;
	pid_t overseer;
	struct table *table;
	int idle_ms;
};

/* --- the beacon ------------------------------------------------------- */

/* The first line of that kind at or after *offset; false = none yet. */
static bool
beacon_find(const struct bench *b, const char *what, const char *name, int pid,
    size_t *offset, int *ret_pid, int64_t *ret_us)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t at = *offset, len;

	if (file_read(b->beacon, READ_MAX, &text, NULL) < 0)
		return false;
	for (; at < text.len; at += len + 1) {
		char kind[16], who[40];
		int number;
		long long us;

		len = strcspn(text.data + at, "\n");
		if (at + len == text.len ||
		    sscanf(text.data + at, "%15s %39s %d %lld", kind, who,
			&number, &us) != 4)
			continue;
		if (strcmp(kind, what) != 0 || strcmp(who, name) != 0 ||
		    (pid != 0 && number != pid))
			continue;
		*offset = at + len + 1;
		*ret_pid = number;
		*ret_us = us;
		return true;
	}
	return false;
}

static size_t
beacon_end(const struct bench *b)
{
	cleanup_buf struct buf text = BUF_INIT;

	file_read(b->beacon, READ_MAX, &text, NULL);
	return text.len;
}

/* The same, but wait for it; -ETIMEDOUT if it does not appear. */
static int64_t
beacon_wait(const struct bench *b, const char *what, const char *name, int pid,
    size_t *offset, int *ret_pid)
{
	int64_t until = clock_mono_ms() + BEACON_MS, us = 0;

	while (!beacon_find(b, what, name, pid, offset, ret_pid, &us)) {
		if (clock_mono_ms() > until)
			return -ETIMEDOUT;
		poll(NULL, 0, 1); /* a file of another program */
	}
	return us;
}

/* --- processes -------------------------------------------------------- */

static pid_t
leave_running(const char *script)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	setsid();
	execl("/bin/sh", "sh", "-c", script, (char *)NULL);
	_exit(127);
}

static void
end_process(pid_t pid, int signo)
{
	kill(pid, signo);
	waitpid(pid, NULL, 0);
}

/* Start it with the beacon preloaded, also in its descendants. A path in
 * LD_PRELOAD may have no blanks. */
static pid_t
start_beaconed(const struct bench *b, const char *preload, const char *script)
{
	cleanup_free char *all =
	    xasprintf("cd '%s' && export LLMC_BEACON='%s' "
		      "LD_LIBRARY_PATH='%.*s' LD_PRELOAD='%s'\n%s",
		b->scratch, b->beacon, (int)(strrchr(preload, '/') - preload),
		preload, strrchr(preload, '/') + 1, script);

	return leave_running(all);
}

struct cost {
	double rss_kb, pss_kb, cpu_us, wakeups;
};

static void
read_proc(pid_t pid, const char *name, struct buf *text)
{
	cleanup_free char *path = xasprintf("/proc/%d/%s", (int)pid, name);
	struct err err = { 0 };

	buf_clear(text);
	bench_must(file_read(path, 65536, text, &err), path, &err);
}

static struct cost
cost_now(pid_t pid)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct cost cost = { 0 };

	read_proc(pid, "status", &text);
	cost.rss_kb = bench_number(text.data, "VmRSS:");
	cost.wakeups = bench_number(text.data, "\nvoluntary_ctxt_switches:");
	read_proc(pid, "smaps_rollup", &text);
	cost.pss_kb = bench_number(text.data, "\nPss:");
	read_proc(pid, "schedstat", &text);
	cost.cpu_us = strtod(text.data, NULL) / 1000;
	return cost;
}

/* --- ours ------------------------------------------------------------- */

/* Wait until the overseer reports a running daemon; returns its pid. */
static int
wait_running(const struct bench *b, int before)
{
	cleanup_free char *file = xasprintf("%s/.llmc/overseer.json", b->repo);
	int64_t until = clock_mono_ms() + WAIT_MS;
	struct err err = { 0 };

	for (;;) {
		cleanup_json struct json_object *json = NULL;
		struct json_object *daemon = NULL;
		int pid;

		json_load(file, READ_MAX, &json, NULL);
		json_get_object(json, "", "daemon", &daemon, NULL);
		pid = (int)json_int_or(daemon, "pid", 0);
		if (strcmp(json_string_or(json, "state", ""), "Running") == 0 &&
		    pid != before && pid > 0)
			return pid;
		if (clock_mono_ms() > until)
			bench_must(-ETIMEDOUT, "the overseer", &err);
		poll(NULL, 0, 5); /* a file of another program */
	}
}

static void
measure_kills(struct bench *b)
{
	double started[KILLS], served[KILLS];
	cleanup_free char *start = NULL, *serve = NULL;
	int daemon = 0, unused;

	for (int i = 0; i < KILLS; i++) {
		int64_t killed, began, serves;
		size_t at;

		daemon = wait_running(b, daemon);
		poll(NULL, 0, AGE_MS);
		at = beacon_end(b);
		killed = clock_mono_us();
		kill(daemon, SIGKILL);
		began = beacon_wait(b, "start", "autod", 0, &at, &unused);
		serves = beacon_wait(b, "serve", "autod", 0, &at, &unused);
		bench_must(began < 0 || serves < 0 ? -ETIMEDOUT : 0, "autod",
		    &(struct err){ 0 });
		started[i] = (double)(began - killed);
		served[i] = (double)(serves - killed);
	}
	bench_sort(started, KILLS);
	bench_sort(served, KILLS);
	start = xasprintf("median of %d; %.2f to %.2f ms", KILLS,
	    started[0] / 1000, started[KILLS - 1] / 1000);
	bench_report(b->table, "overseer: death of autod to main() of the next",
	    started[KILLS / 2] / 1000, 3, "ms", start);
	serve = xasprintf("median; %.2f to %.2f ms", served[0] / 1000,
	    served[KILLS - 1] / 1000);
	bench_report(b->table, "overseer: the same, until it serves 8 workers",
	    served[KILLS / 2] / 1000, 60, "ms", serve);
}

/* llmc restart: from the command until the program on disk serves its
 * workers. */
static void
measure_restarts(struct bench *b)
{
	double served[RESTARTS];
	cleanup_free char *words = NULL;
	int unused;

	wait_running(b, 0);
	for (int i = 0; i < RESTARTS; i++) {
		const char *const argv[] = { b->llmc, "restart", NULL };
		int64_t began, serves;
		size_t at;

		poll(NULL, 0, AGE_MS);
		at = beacon_end(b);
		began = clock_mono_us();
		bench_run(b->repo, argv);
		serves = beacon_wait(b, "serve", "autod", 0, &at, &unused);
		bench_must(
		    serves < 0 ? -ETIMEDOUT : 0, "autod", &(struct err){ 0 });
		served[i] = (double)(serves - began);
	}
	bench_sort(served, RESTARTS);
	words = xasprintf("median; %.2f to %.2f ms", served[0] / 1000,
	    served[RESTARTS - 1] / 1000);
	bench_report(b->table, "llmc restart under 8 workers: until it serves",
	    served[RESTARTS / 2] / 1000, 100, "ms", words);
}

static void
measure_idle(struct bench *b)
{
	int daemon = wait_running(b, 0);
	pid_t pids[] = { b->overseer, daemon };
	struct cost sum = { 0 };
	struct cost before[nitems(pids)], after;
	double seconds = b->idle_ms / 1000.0;
	cleanup_free char *shares = NULL, *beats = NULL, *times = NULL;

	poll(NULL, 0, SETTLE_MS);
	for (size_t i = 0; i < nitems(pids); i++)
		before[i] = cost_now(pids[i]);
	poll(NULL, 0, b->idle_ms);
	for (size_t i = 0; i < nitems(pids); i++) {
		after = cost_now(pids[i]);
		before[i].cpu_us = after.cpu_us - before[i].cpu_us;
		before[i].wakeups = after.wakeups - before[i].wakeups;
		before[i].pss_kb = after.pss_kb;
		sum.rss_kb += after.rss_kb;
		sum.pss_kb += after.pss_kb;
		sum.cpu_us += before[i].cpu_us;
		sum.wakeups += before[i].wakeups;
	}
	shares = xasprintf("overseer %.2f, autod %.2f; RSS %.2f",
	    before[0].pss_kb / 1024, before[1].pss_kb / 1024,
	    sum.rss_kb / 1024);
	beats = xasprintf("overseer %.2f, autod %.2f",
	    before[0].wakeups / seconds, before[1].wakeups / seconds);
	times = xasprintf("overseer %.1f, autod %.1f",
	    before[0].cpu_us / seconds, before[1].cpu_us / seconds);
	bench_report(b->table, "overseer + autod, 1 idle worker: PSS",
	    sum.pss_kb / 1024, 1, "MiB", shares);
	bench_report(b->table, "the same: wake-ups a second",
	    sum.wakeups / seconds, 0.1, "/s", beats);
	bench_report(b->table, "the same: CPU a second", sum.cpu_us / seconds,
	    60, "us", times);
}

static void
measure_ours(struct bench *b, const char *preload)
{
	cleanup_free char *script = xasprintf(
	    "cd '%s' && exec '%s' overseer </dev/null >/dev/null 2>&1", b->repo,
	    b->llmc);

	bench_config(b->repo, b->llmc, "auto.concurrency", "8");
	b->overseer = start_beaconed(b, preload, script);
	measure_restarts(b);
	measure_kills(b);
	end_process(b->overseer, SIGINT);
	bench_config(b->repo, b->llmc, "auto.concurrency", "1");
	if (b->idle_ms == 0)
		return;
	/* Undisturbed, without the beacon. */
	b->overseer = leave_running(script);
	measure_idle(b);
	end_process(b->overseer, SIGINT);
}

/* --- other supervisors ------------------------------------------------ */

static const struct other {
	const char *program, *script;
} others[] = {
	{ "s6-supervise",
	    "mkdir -p s6 && echo 3 >s6/notification-fd && "
	    "printf '#!/bin/sh\\necho >&3\\nexec sleep 1000000 3>&-\\n' "
	    ">s6/run && chmod +x s6/run && exec s6-supervise s6" },
	{ "runsv",
	    "mkdir -p runit && "
	    "printf '#!/bin/sh\\nexec sleep 1000000\\n' >runit/run && "
	    "chmod +x runit/run && exec runsv runit" },
	{ "supervisord",
	    "printf '[supervisord]\\nlogfile=/dev/null\\nlogfile_maxbytes=0\\n"
	    "pidfile=%s/supervisord.pid\\n[program:x]\\n"
	    "command=sleep 1000000\\n' \"$PWD\" >supervisord.conf && "
	    "exec supervisord -n -c supervisord.conf >/dev/null 2>&1" },
	{ "pm2",
	    "export PM2_HOME=\"$PWD/pm2\" && "
	    "exec pm2 start sleep --no-daemon -- 1000000 >/dev/null 2>&1" },
};

static bool
is_installed(const char *program)
{
	cleanup_free char *script =
	    xasprintf("command -v %s >/dev/null 2>&1", program);
	int status = 0;

	waitpid(leave_running(script), &status, 0);
	return status == 0;
}

static void
measure_other(struct bench *b, const char *preload, const struct other *other)
{
	double us[OTHER_KILLS];
	cleanup_free char *what =
	    xasprintf("%s: main() of the next child", other->program);
	cleanup_free char *more = NULL;
	size_t at = beacon_end(b);
	pid_t supervisor = start_beaconed(b, preload, other->script);
	int64_t began, killed = 0;
	int child = 0, count = 0;

	began = beacon_wait(b, "start", "sleep", 0, &at, &child);
	while (began >= 0 && count < OTHER_KILLS) {
		poll(NULL, 0, AGE_MS);
		killed = clock_mono_us();
		kill(child, SIGKILL);
		began = beacon_wait(b, "start", "sleep", 0, &at, &child);
		us[count++] = (double)(began - killed);
	}
	if (began >= 0) {
		bench_sort(us, OTHER_KILLS);
		more = xasprintf("median of %d; most %.2f ms; PSS %.2f MiB",
		    OTHER_KILLS, us[OTHER_KILLS - 1] / 1000,
		    cost_now(supervisor).pss_kb / 1024);
		bench_report(
		    b->table, what, us[OTHER_KILLS / 2] / 1000, 0, "ms", more);
	} else {
		table_row(b->table,
		    (const char *[]){ what, "-", "-", "does not work", "" });
	}
	end_process(supervisor, SIGKILL);
	if (child > 0)
		kill(child, SIGKILL);
}

/* --- setting up ------------------------------------------------------- */

static void
bench_begin(struct bench *b, const char *build)
{
	static const char *const settings[][2] = {
		{ "overseer.remediation_prompt", "none" },
		{ "overseer.remediate", "false" },
		{ "overseer.restart_cooldown", "0s" },
	};
	static const char text[] = "same_failures=0";
	cleanup_free char *agent =
	    bench_built(build, "tests/tools/fake-claude");
	cleanup_free char *tuned = file_join(b->scratch, "tuning");
	struct err err = { 0 };

	bench_must(
	    file_replace(tuned, text, strlen(text), 0600, &err), tuned, &err);
	setenv("LLMC_TEST_TUNING", tuned, 1);
	bench_repo(b->repo);
	bench_init(b->repo, b->llmc, agent);
	for (size_t i = 0; i < nitems(settings); i++)
		bench_config(b->repo, b->llmc, settings[i][0], settings[i][1]);
}

static void
bench_end(const struct bench *b)
{
	bench_run(b->repo,
	    (const char *[]){ "sh", "-c",
		"tmux -L \"$(\"$0\" config get tmux.socket)\" kill-server "
		">/dev/null 2>&1; true",
		b->llmc, NULL });
	bench_remove(b->scratch);
}

static void
measure_all(struct bench *b, const char *preload)
{
	measure_ours(b, preload);
	for (size_t i = 0; i < nitems(others); i++) {
		if (is_installed(others[i].program))
			measure_other(b, preload, &others[i]);
		else
			table_row(b->table,
			    (const char *[]){ others[i].program, "-", "-",
				"not installed", "" });
	}
}

/* What it runs; false and words if something is missing. */
static bool
has_all(const char *build)
{
	static const char *const needed[] = { "src/cli/llmc", "src/autod/autod",
		"src/overseer/overseer", "src/keeper/keeper",
		"tests/tools/fake-claude", "tests/tools/beacon.so" };
	bool all = true;

	for (size_t i = 0; i < nitems(needed); i++) {
		cleanup_free char *file = file_join(build, needed[i]);

		if (file_exists(file))
			continue;
		fprintf(stderr,
		    "bench-overseer needs %s; make it with: ninja -C %s %s\n",
		    file, build, needed[i]);
		all = false;
	}
	return all;
}

int
main(int argc, char **argv)
{
	cleanup_free char *build = NULL, *preload = NULL;
	struct bench b = { .idle_ms = 60000 };

	if (argc != 2 && argc != 3) {
		fputs("usage: bench-overseer BUILD [SECONDS]\n", stderr);
		return 2;
	}
	if (argc == 3)
		b.idle_ms = (int)strtol(argv[2], NULL, 10) * 1000;
	build = realpath(argv[1], NULL);
	if (build == NULL || !has_all(build))
		return 1;
	b.scratch = bench_scratch();
	b.llmc = bench_built(build, "src/cli/llmc");
	b.repo = file_join(b.scratch, "repo");
	b.beacon = file_join(b.scratch, "beacon");
	preload = bench_built(build, "tests/tools/beacon.so");
	b.table = bench_table("WHAT");
	bench_begin(&b, build);
	measure_all(&b, preload);
	bench_print(b.table);
	bench_end(&b);
	free(b.llmc);
	free(b.repo);
	free(b.beacon);
	free(b.scratch);
	return 0;
}
