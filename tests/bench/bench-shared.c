/* SPDX-License-Identifier: ISC */

/*
 * How fast the shared book of a fleet is in PostgreSQL on this machine, and
 * what 100 hosts with 10 workers each cost the server, as a table:
 *
 *   bench-shared BUILD [SECONDS]
 *
 * SECONDS is how long the 100 hosts are played (20). A server is started in a
 * scratch folder; without one on this machine nothing is measured. What an idle
 * host asks is counted in the log of the server, of a daemon whose time passes
 * 20 times as fast.
 */
#include "base.h"

#include <dirent.h>
#include <poll.h>
#include <sys/resource.h>

#include "bench.h"
#include "child.h"
#include "loop.h"
#include "shared.h"
#include "table.h"

#define PORT        54987
#define HOSTS       100
#define WORKERS     10
#define CLAIMERS    20 /* connections that claim as fast as they can */
#define CLAIMS      1000 /* measured one by one */
#define TASKS       20000
#define IN_ASK      50 /* published together */
#define CLAIM_MS    2 /* where a claim must stay below */
#define TASK_S      (20 * 60) /* how long a worker is at a task */
#define EVENTS      15 /* of a task */
#define VIEW_BYTES  8192
#define RACE_MS     5000
#define SPEED       20 /* of the idle host's time */
#define IDLE_S      240 /* of that */
#define IDLE_MAX_US ((int64_t)60 * 1000 * 1000) /* until it beats */
#define IDLE_ASKS   0.1 /* statements a second beyond its beat, at most */

struct bench {
	struct loop *loop;
	struct table *table;
	char *dir, *database, *owner;
	struct shared *hosts[HOSTS];
	double times[CLAIMS];
	size_t claimed;
	int64_t begun_us, end_us;
	size_t asked, answered, failed;
	char view[VIEW_BYTES];
};

struct player {
	struct bench *bench;
	int n;
};

static struct player players[HOSTS];

static void
on_state(enum shared_state state, const char *words, void *arg)
{
	const struct player *player = arg;

	if (state == SHARED_BARRED) {
		fprintf(stderr, "host %d: %s\n", player->n, words);
		exit(1);
	}
	if (state == SHARED_UP)
		loop_stop(player->bench->loop, 0);
}

static void
connect_host(struct bench *b, int n)
{
	cleanup_free char *host = xasprintf("h%d", n);
	cleanup_free char *pass = xasprintf("%s/pass.%d", b->dir, n);
	cleanup_json struct json_object *report = NULL;
	struct err err = { 0 };

	bench_must(shared_owner_run(&(struct shared_owner_task){ .verb = "join",
					.database = b->database,
					.owner = b->owner,
					.passfile = pass,
					.host = host },
		       &report, &err),
	    "join", &err);
	players[n] = (struct player){ b, n };
	bench_must(shared_new(&(struct shared_options){ .loop = b->loop,
				  .database = b->database,
				  .passfile = pass,
				  .host = host,
				  .state = on_state,
				  .arg = &players[n] },
		       &b->hosts[n], &err),
	    "connect", &err);
	while (shared_state(b->hosts[n]) != SHARED_UP)
		loop_run(b->loop);
}

/* --- one after another -------------------------------------------- */

static void
on_answer(const struct shared_answer *answer, void *arg)
{
	struct bench *b = arg;

	b->answered++;
	b->failed += answer->verdict != SHARED_DONE;
	if (b->answered == b->asked)
		loop_stop(b->loop, 0);
}

static void
ask(struct bench *b, int n, const struct shared_call *calls, size_t count)
{
	b->asked++;
	shared_ask(b->hosts[n], calls, count, 60000, on_answer, b);
}

static void
wait_all(struct bench *b)
{
	while (b->answered < b->asked)
		loop_run(b->loop);
	if (b->failed > 0) {
		fprintf(stderr, "%zu asks failed\n", b->failed);
		exit(1);
	}
}

static void
publish(struct bench *b, size_t count)
{
	for (size_t i = 0; i < count; i += IN_ASK) {
		struct shared_call calls[IN_ASK];
		struct book_value values[IN_ASK][7];
		char ids[IN_ASK][24];

		for (size_t j = 0; j < IN_ASK; j++) {
			snprintf(ids[j], sizeof ids[j], "t%zu", i + j);
			values[j][0] = BOOK_T(ids[j]);
			values[j][1] = BOOK_I(50);
			values[j][2] = BOOK_T(NULL);
			values[j][3] = BOOK_T("main");
			values[j][4] = BOOK_T("a task");
			values[j][5] = BOOK_T("{}");
			values[j][6] = BOOK_I(0);
			calls[j] = (struct shared_call){ SHARED_PUBLISH,
				values[j], 7 };
		}
		ask(b, 0, calls, IN_ASK);
		wait_all(b);
	}
}

static void
measure_claims(struct bench *b)
{
	for (size_t i = 0; i < CLAIMS; i++) {
		int64_t begin = clock_mono_us();

		ask(b, 0,
		    &SHARED_CALL(SHARED_CLAIM, BOOK_T("boot"), BOOK_T("main")),
		    1);
		wait_all(b);
		b->times[i] = (double)(clock_mono_us() - begin);
	}
	b->claimed += CLAIMS;
	bench_sort(b->times, CLAIMS);
	bench_report(b->table, "claim, half of them below",
	    b->times[CLAIMS / 2] / 1000, CLAIM_MS, "ms", NULL);
	bench_report(b->table, "claim, 99 of 100 below",
	    b->times[CLAIMS / 100 * 99] / 1000, 0, "ms", NULL);
}

/* --- all at once -------------------------------------------------- */

static void
on_claimed(const struct shared_answer *answer, void *arg)
{
	struct player *player = arg;
	struct bench *b = player->bench;

	b->failed += answer->verdict != SHARED_DONE;
	b->claimed += answer->of->count;
	b->answered++;
	if (clock_mono_us() > b->end_us || answer->of->count == 0) {
		if (b->answered == b->asked)
			loop_stop(b->loop, 0);
		return;
	}
	b->asked++;
	shared_ask(b->hosts[player->n],
	    &SHARED_CALL(SHARED_CLAIM, BOOK_T("boot"), BOOK_T("main")), 1,
	    60000, on_claimed, player);
}

static void
measure_race(struct bench *b)
{
	size_t before = b->claimed;
	int64_t begin = clock_mono_us();

	b->end_us = begin + (int64_t)RACE_MS * 1000;
	for (int i = 0; i < CLAIMERS; i++) {
		b->asked++;
		shared_ask(b->hosts[i],
		    &SHARED_CALL(SHARED_CLAIM, BOOK_T("boot"), BOOK_T("main")),
		    1, 60000, on_claimed, &players[i]);
	}
	wait_all(b);
	bench_report(b->table, "claims on 20 connections",
	    (double)(b->claimed - before) * 1e6 /
		(double)(clock_mono_us() - begin),
	    0, "/s", NULL);
}

/* --- 100 hosts ---------------------------------------------------- */

/* CPU of the server and of its children, in seconds. */
static double
server_cpu(const struct bench *b)
{
	cleanup_free char *file = xasprintf("%s/data/postmaster.pid", b->dir);
	cleanup_buf struct buf text = BUF_INIT;
	double ticks = 0;
	long server;
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	bench_must(file_read(file, 4096, &text, NULL), "postmaster.pid", NULL);
	server = strtol(text.data, NULL, 10);
	while (proc != NULL && (entry = readdir(proc)) != NULL) {
		cleanup_free char *path =
		    xasprintf("/proc/%s/stat", entry->d_name);
		cleanup_buf struct buf stat = BUF_INIT;
		const char *after;
		unsigned long user, kernel;
		long parent;

		if (file_read(path, 4096, &stat, NULL) < 0 ||
		    (after = strrchr(stat.data, ')')) == NULL ||
		    sscanf(after,
			") %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			&parent, &user, &kernel) != 3 ||
		    (parent != server &&
			strtol(entry->d_name, NULL, 10) != server))
			continue;
		ticks += (double)(user + kernel);
	}
	if (proc != NULL)
		closedir(proc);
	return ticks / (double)sysconf(_SC_CLK_TCK);
}

/* What a host asks in a second, on average, if it is busy: a beat in 20 s, a
 * poll in 30 s, its view when it has changed, and the tasks of its workers. */
static void
play_second(struct player *player, int second)
{
	struct bench *b = player->bench;
	int n = player->n;

	if ((second + n) % 20 == 0)
		ask(b, n,
		    &SHARED_CALL(
			SHARED_BEAT, BOOK_T("boot"), BOOK_I(0), BOOK_T("main")),
		    1);
	if ((second + n) % 30 == 0) {
		const struct shared_call look[] = {
			SHARED_CALL0(SHARED_STEAL_HOSTS),
			SHARED_CALL0(SHARED_STEAL_TASKS),
			SHARED_CALL0(SHARED_ATTEMPTS_CLOSE),
			SHARED_CALL(SHARED_CHANGES, BOOK_I(INT64_MAX)),
			SHARED_CALL0(SHARED_LETTER_TAKE),
		};

		ask(b, n, look, nitems(look));
	}
	if ((second + n) % 5 == 0)
		ask(b, n,
		    &SHARED_CALL(
			SHARED_HOST_VIEW, BOOK_T("boot"), BOOK_T(b->view)),
		    1);
	if ((second + n) % (TASK_S / WORKERS) == 0) {
		const struct shared_call begin[] = {
			SHARED_CALL(
			    SHARED_CLAIM, BOOK_T("boot"), BOOK_T("main")),
			SHARED_CALL(SHARED_ATTEMPTS_BEGIN, BOOK_T("boot")),
		};

		ask(b, n, begin, nitems(begin));
	}
	for (int i = 0; i < EVENTS; i++)
		if ((second + n + i * 8) % (TASK_S / WORKERS) == 0) {
			cleanup_free char *key =
			    xasprintf("%d/%d/%d", n, second, i);

			ask(b, n,
			    &SHARED_CALL(SHARED_EVENT_ADD, BOOK_T(key),
				BOOK_T("{\"words\":\"a line of them\"}")),
			    1);
		}
}

struct play {
	struct bench *bench;
	int second, seconds;
};

static void
on_second(void *arg)
{
	struct play *play = arg;

	if (play->second++ == play->seconds)
		loop_stop(play->bench->loop, 0);
	else
		for (int i = 0; i < HOSTS; i++)
			play_second(&players[i], play->second);
}

static double
own_cpu(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void
measure_hosts(struct bench *b, int seconds)
{
	struct play play = { b, 0, seconds };
	double cpu = server_cpu(b), own = own_cpu();
	int64_t begin = clock_mono_us();
	size_t before = b->asked;
	struct loop_timer *timer = loop_every(b->loop, 1000, on_second, &play);
	double span;

	while (play.second <= play.seconds)
		loop_run(b->loop);
	loop_timer_free(timer);
	wait_all(b);
	span = (double)(clock_mono_us() - begin) / 1e6;
	bench_report(b->table, "server with 100 hosts x 10 workers",
	    (server_cpu(b) - cpu) * 100 / span, 0, "% of a core", NULL);
	bench_report(b->table, "one of those hosts, for its asks",
	    (own_cpu() - own) * 100 / span / HOSTS, 0, "% of a core", NULL);
	bench_report(b->table, "asks of those",
	    (double)(b->asked - before) / span, 0, "/s", NULL);
}

/* --- an idle host ------------------------------------------------- */

/* Statements of the host "idle" in the log of the server; *beats of them are
 * its beats. */
static double
count_statements(const struct bench *b, double *beats)
{
	cleanup_free char *file = xasprintf("%s/data/log", b->dir);
	cleanup_buf struct buf text = BUF_INIT;
	double count = 0;

	*beats = 0;
	bench_must(file_read(file, (size_t)1 << 28, &text, NULL), file, NULL);
	for (const char *at = text.data;
	     (at = strstr(at, "llmc_llmc_idle:LOG:  execute ")) != NULL; at++) {
		size_t len = strcspn(at, "\n");

		count++;
		*beats += memmem(at, len, ".beat_", 6) != NULL;
	}
	return count;
}

static void
measure_idle(struct bench *b, const char *build)
{
	cleanup_free char *llmc = bench_built(build, "src/cli/llmc");
	cleanup_free char *agent =
	    bench_built(build, "tests/tools/fake-claude");
	cleanup_free char *scratch = bench_scratch();
	cleanup_free char *repo = file_join(scratch, "repo");
	cleanup_free char *sql =
	    xasprintf("\"$(%s find)/psql\" -qc \"alter role llmc_llmc_idle set "
		      "log_statement='all'\" '%s'",
		LLMC_SOURCE "/contrib/fleet/postgres.sh", b->owner);
	struct err err = { 0 };
	double before, after, beats, beats_before, cpu;
	int64_t begin;

	bench_repo(repo);
	bench_init(repo, llmc, agent);
	bench_config(repo, llmc, "fleet.host", "idle");
	bench_config(repo, llmc, "fleet.database", b->database);
	bench_run(repo,
	    (const char *[]){
		llmc, "fleet", "join", "--owner", b->owner, NULL });
	bench_run(NULL, (const char *[]){ "/bin/sh", "-c", sql, NULL });
	setenv("LLMC_TIME_SCALE", "20", 1);
	bench_run(
	    repo, (const char *[]){ llmc, "up", "--auto", "--detach", NULL });
	begin = clock_mono_us();
	do { /* it has come, and has looked at everything once */
		poll(NULL, 0, 100);
		before = count_statements(b, &beats_before);
		bench_must(clock_mono_us() - begin < IDLE_MAX_US ? 0 : -ETIME,
		    "the beats of an idle host", &err);
	} while (beats_before < 3);
	begin = clock_mono_us();
	cpu = server_cpu(b);
	poll(NULL, 0, IDLE_S * 1000 / SPEED);
	after = count_statements(b, &beats);
	bench_report(b->table, "idle host, statements beyond its beat",
	    (after - before - (beats - beats_before)) * 1e6 /
		((double)(clock_mono_us() - begin) * SPEED),
	    IDLE_ASKS, "/s", NULL);
	bench_report(b->table, "server with that host, 20 times as fast",
	    (server_cpu(b) - cpu) * 1e8 / (double)(clock_mono_us() - begin), 0,
	    "% of a core", NULL);
	bench_run(repo, (const char *[]){ llmc, "down", NULL });
	unsetenv("LLMC_TIME_SCALE");
	bench_remove(scratch);
}

/* --- */

static void
server(const char *dir, const char *verb)
{
	char port[8];

	snprintf(port, sizeof port, "%d", PORT);
	bench_run(NULL,
	    (const char *const[]){ LLMC_SOURCE "/contrib/fleet/postgres.sh",
		verb, dir, port, NULL });
}

int
main(int argc, char **argv)
{
	static struct bench b;
	cleanup_json struct json_object *report = NULL;
	cleanup_child_result struct child_result found;
	struct err err = { 0 };
	int seconds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	cleanup_free char *build = argc > 1 ? realpath(argv[1], NULL) : NULL;

	child_result_init(&found);
	if (build == NULL) {
		fputs("usage: bench-shared BUILD [SECONDS]\n", stderr);
		return 2;
	}
	if (child_run(
		&(struct child_spec){ .argv = (const char *const[]){ LLMC_SOURCE
					  "/contrib/fleet/postgres.sh",
					  "find", NULL } },
		&found, &err) < 0 ||
	    !child_succeeded(&found)) {
		puts("bench-shared: skipped, no PostgreSQL server here");
		return 0;
	}
	b.dir = xasprintf("/tmp/llmc-bench-pg-%d", (int)getpid());
	setenv("LLMC_POSTGRES_OPTIONS",
	    "-c max_connections=130 -c log_line_prefix=%u:", 1);
	server(b.dir, "start");
	b.database = xasprintf("postgresql://127.0.0.1:%d/llmc", PORT);
	b.owner =
	    xasprintf("postgresql://owner@/llmc?host=%s&port=%d", b.dir, PORT);
	b.loop = loop_new();
	b.table = bench_table("The shared book in PostgreSQL");
	memset(b.view, 'x', sizeof b.view - 1);
	bench_must(shared_owner_run(&(struct shared_owner_task){ .verb = "init",
					.database = b.database,
					.owner = b.owner },
		       &report, &err),
	    "init", &err);
	measure_idle(&b, build); /* while there is nothing to do */
	for (int i = 0; i < HOSTS; i++) {
		connect_host(&b, i);
		ask(&b, i,
		    &SHARED_CALL(SHARED_HELLO, BOOK_T("boot"), BOOK_T(NULL),
			BOOK_T("v"), BOOK_I(WORKERS), BOOK_I(1), BOOK_T(NULL),
			BOOK_T("main")),
		    1);
	}
	wait_all(&b);
	publish(&b, TASKS);
	measure_claims(&b);
	measure_race(&b);
	measure_hosts(&b, seconds > 0 ? seconds : 20);
	for (int i = 0; i < HOSTS; i++)
		shared_free(b.hosts[i]);
	loop_free(b.loop);
	server(b.dir, "stop");
	bench_remove(b.dir);
	bench_print(b.table);
	free(b.dir);
	free(b.database);
	free(b.owner);
	return 0;
}
