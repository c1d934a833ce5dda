/* SPDX-License-Identifier: ISC */

/*
 * What auto mode costs, compared with its targets: bench-auto BUILD. Runs
 * `llmc up --auto --until-empty` in scratch repositories, with a fake agent
 * that does not think: a task is one commit that rewrites one of FILES small
 * files, so that the repository is as large at the end as at the beginning.
 *
 * Dead time is from the last message of one task until the agent has the prompt
 * of the next, both according to the transcripts of the sessions. It includes
 * the Stop hook, the verdict, the landing, the next task, /clear and its hook.
 *
 * A long run must be flat: the last tenth of its tasks takes no more time, CPU
 * and memory than the first one.
 *
 *   BENCH_TASKS  tasks in the long run, which has 8 workers (2000)
 *   BENCH_LONG   set: only the long run
 *   BENCH_OLD    another BUILD, which runs the same tasks in turn with this one
 *
 * The results are also written to BUILD/bench-auto.json.
 */
#include "base.h"
#include "bench-dead.h"
#include "bench.h"
#include "child.h"
#include "loop.h"
#include "table.h"

#define SAMPLE_MS 20
#define RUN_MS    (60 * 60 * 1000)
#define FILE_MAX  (256 * 1024 * 1024)
#define FILES     200
#define TENTH     10
#define DEAD_MS   500
#define GITS      11 /* a task */
#define IN_TURN   200 /* tasks of both builds in turn */
#define FASTER    3 /* times the tasks a minute of BENCH_OLD */
#define DRIFT     10 /* percent: more is not flat */

/* The state when this many tasks had their outcome. */
struct sample {
	int64_t at_ms;
	double cpu_ms, rss_kb;
	double others_ms; /* CPU of the programs that it ran: git, mostly */
};

struct run {
	struct loop *loop;
	char *scratch, *repo, *home, *git_log;
	int workers, tasks;
	int finished;
	size_t seen; /* bytes of auto.log */
	long pid;
	struct sample *samples; /* by number of finished tasks, from 0 */
	struct bench_dead dead;
	double git; /* commands of the daemon per task */
};

struct bench {
	char *llmc, *agent;
	struct bench *old; /* NULL = none */
	struct table *table;
	struct json_object *json;
};

/* --- the table -------------------------------------------------------- */

/* A target of 0 means none; `more` may be NULL. */
static void
report(struct bench *b, const char *key, const char *what, double value,
    double target, const char *unit, const char *more)
{
	struct json_object *row = json_object_new_object();

	bench_report(b->table, what, value, target, unit, more);
	json_set(row, "value", json_object_new_double(value));
	json_set(
	    row, "target", target > 0 ? json_object_new_double(target) : NULL);
	json_set_string(row, "unit", unit);
	json_set(b->json, key, row);
}

/* --- the daemon, while it runs ---------------------------------------- */

static void
find_daemon(struct run *r)
{
	cleanup_free char *path = xasprintf("%s/.llmc/daemon.json", r->repo);
	cleanup_json struct json_object *json = NULL;

	if (json_load(path, FILE_MAX, &json, NULL) == 0)
		r->pid = (long)json_int_or(json, "pid", 0);
}

static bool
read_costs(const struct run *r, struct sample *sample)
{
	cleanup_free char *sched = xasprintf("/proc/%ld/schedstat", r->pid);
	cleanup_free char *statm = xasprintf("/proc/%ld/statm", r->pid);
	cleanup_free char *stat = xasprintf("/proc/%ld/stat", r->pid);
	cleanup_buf struct buf cpu = BUF_INIT, memory = BUF_INIT;
	cleanup_buf struct buf others = BUF_INIT;
	long long size = 0, resident = 0, user = 0, kernel = 0;

	if (r->pid <= 0 || file_read(sched, 4096, &cpu, NULL) < 0 ||
	    file_read(statm, 4096, &memory, NULL) < 0 ||
	    sscanf(memory.data, "%lld %lld", &size, &resident) != 2 ||
	    file_read(stat, 4096, &others, NULL) < 0 ||
	    sscanf(others.data,
		"%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u "
		"%*u %lld %lld",
		&user, &kernel) != 2)
		return false;
	*sample = (struct sample){
		.at_ms = clock_mono_ms(),
		.cpu_ms = strtod(cpu.data, NULL) / 1e6,
		.rss_kb =
		    (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024,
		.others_ms = (double)(user + kernel) * 1000 /
		    (double)sysconf(_SC_CLK_TCK),
	};
	return true;
}

/* Count the tasks that have ended since the last call. */
static int
count_finished(struct run *r)
{
	cleanup_free char *path = xasprintf("%s/.llmc/logs/auto.log", r->repo);
	cleanup_free char *line = NULL;
	FILE *file = fopen(path, "re");
	size_t size = 0;
	ssize_t n;
	int count = 0;

	if (file == NULL)
		return 0;
	fseek(file, (long)r->seen, SEEK_SET);
	while ((n = getline(&line, &size, file)) > 0 && line[n - 1] == '\n') {
		r->seen += (size_t)n;
		count += strstr(line, "\"task_finished\"") != NULL;
	}
	fclose(file);
	return count;
}

static void
sample(void *arg)
{
	struct run *r = arg;
	struct sample now;
	int more;

	if (r->pid == 0)
		find_daemon(r);
	if (!read_costs(r, &now))
		return;
	if (r->samples[0].at_ms == 0)
		r->samples[0] = now;
	for (more = count_finished(r); more > 0 && r->finished < r->tasks;
	     more--)
		r->samples[++r->finished] = now;
}

/* --- a run ------------------------------------------------------------ */

static void
write_file(const char *path, const char *text, mode_t mode)
{
	struct err err = { 0 };

	bench_must(
	    file_replace(path, text, strlen(text), mode, &err), path, &err);
}

static void
make_tasks(const struct run *r)
{
	cleanup_free char *todo = xasprintf("%s/.llmc/tasks/todo", r->repo);
	struct err err = { 0 };

	bench_must(file_mkdirs(todo, 0755, &err), todo, &err);
	for (int i = 1; i <= r->tasks; i++) {
		cleanup_free char *path = xasprintf("%s/t%05d.txt", todo, i);
		cleanup_free char *text = xasprintf("Task %d\n"
						    "fake: commit %02d/%d.txt "
						    "%d\n",
		    i, i % FILES % 50, i % FILES, i);

		write_file(path, text, 0644);
	}
}

static void
make_files(const struct run *r)
{
	struct err err = { 0 };

	for (int i = 0; i < FILES; i++) {
		cleanup_free char *dir = xasprintf("%s/%02d", r->repo, i % 50);
		cleanup_free char *path = xasprintf("%s/%d.txt", dir, i);

		bench_must(file_mkdirs(dir, 0755, &err), dir, &err);
		write_file(path, "0\n", 0644);
	}
	bench_run(r->repo, (const char *[]){ "git", "add", "-A", NULL });
}

/* Put a git in front of the real one in PATH that records its callers: the
 * daemon uses -C, the agents do not. */
static void
put_git_in_front(const struct run *r)
{
	cleanup_free char *dir = file_join(r->scratch, "bin");
	cleanup_free char *program = file_join(dir, "git");
	cleanup_free char *path =
	    xasprintf("%s:%s", dir, getenv("PATH") ?: "/usr/bin:/bin");
	cleanup_free char *script =
	    xasprintf("#!/bin/sh\n[ \"$1\" != -C ] || echo x >>'%s'\n"
		      "PATH=${PATH#*:}\nexec git \"$@\"\n",
		r->git_log);
	struct err err = { 0 };

	bench_must(file_mkdirs(dir, 0755, &err), dir, &err);
	write_file(program, script, 0755);
	setenv("PATH", path, 1);
}

static void
run_begin(const struct bench *b, struct run *r)
{
	bench_repo(r->repo);
	make_files(r);
	bench_init(r->repo, b->llmc, b->agent);
	make_tasks(r);
}

static void
ended(const struct child_result *result, void *arg)
{
	struct run *r = arg;
	struct err err = { 0 };

	sample(r);
	if (!child_succeeded(result)) {
		cleanup_free char *path =
		    xasprintf("%s/.llmc/failure.json", r->repo);
		cleanup_buf struct buf words = BUF_INIT;

		child_result_describe(result, &words);
		file_read(path, FILE_MAX, &words, NULL);
		err_set(&err, -EIO, "%s", words.data);
		bench_must(-EIO, "llmc up --auto", &err);
	}
	loop_stop(r->loop, 0);
}

static void
run_tasks(const struct bench *b, struct run *r)
{
	cleanup_free char *workers = xasprintf("%d", r->workers);
	const char *const argv[] = { b->llmc, "up", "--auto", "--until-empty",
		"--concurrency", workers, NULL };
	struct child_spec spec = {
		.argv = argv, .cwd = r->repo, .deadline_ms = RUN_MS
	};
	struct loop_timer *timer;
	struct err err = { 0 };

	r->loop = loop_new();
	timer = loop_every(r->loop, SAMPLE_MS, sample, r);
	bench_must(
	    child_spawn(r->loop, &spec, ended, r, NULL, &err), "llmc up", &err);
	loop_run(r->loop);
	loop_timer_free(timer);
	loop_free(r->loop);
	err_set(&err, -EIO, "%d of %d tasks were done", r->finished, r->tasks);
	bench_must(r->finished == r->tasks ? 0 : -EIO, "tasks", &err);
}

static void
count_git(struct run *r)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t lines = 0;

	file_read(r->git_log, FILE_MAX, &text, NULL);
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	/* Only for the tasks, without creating the workers. */
	r->git = (double)lines / r->tasks;
}

static struct run *
run_new(const struct bench *b, int workers, int tasks, bool counts_git)
{
	struct run *r = xcalloc(1, sizeof *r);
	cleanup_free char *path = xstrdup(getenv("PATH") ?: "/usr/bin:/bin");

	r->workers = workers;
	r->tasks = tasks;
	r->samples = xcalloc((size_t)tasks + 1, sizeof *r->samples);
	r->scratch = bench_scratch();
	r->repo = file_join(r->scratch, "repo");
	r->home = file_join(r->scratch, "home");
	r->git_log = file_join(r->scratch, "git.log");
	run_begin(b, r);
	if (counts_git)
		put_git_in_front(r);
	run_tasks(b, r);
	setenv("PATH", path, 1);
	if (counts_git)
		count_git(r);
	bench_dead_read(r->home, r->workers, &r->dead);
	return r;
}

static void
run_free(struct run *r)
{
	bench_remove(r->scratch);
	free(r->samples);
	free(r->dead.v);
	free(r->scratch);
	free(r->repo);
	free(r->home);
	free(r->git_log);
	free(r);
}

/* --- results ----------------------------------------------------------- */

static double
speed_of(const struct run *r)
{
	int64_t ms = r->samples[r->tasks].at_ms - r->samples[0].at_ms;

	return r->tasks * 60000.0 / (double)ms;
}

static void
report_speed(struct bench *b, const struct run *r)
{
	cleanup_free char *what = xasprintf("tasks a minute, %d worker%s",
	    r->workers, r->workers == 1 ? "" : "s");
	cleanup_free char *key = xasprintf("tasks_per_minute_%d", r->workers);
	cleanup_free char *more = xasprintf("%d tasks", r->tasks);

	report(b, key, what, speed_of(r), 0, "/min", more);
}

/* The same with the other build, right behind it. */
static void
report_faster(struct bench *b, const struct run *r)
{
	cleanup_free char *what =
	    xasprintf("times the speed of BENCH_OLD, %d workers", r->workers);
	cleanup_free char *key = xasprintf("times_faster_%d", r->workers);
	cleanup_free char *figure = NULL, *wanted = NULL, *more = NULL;
	struct json_object *row;
	struct run *old;
	double times;

	if (b->old == NULL)
		return;
	old = run_new(b->old, r->workers, r->tasks, false);
	times = speed_of(r) / speed_of(old);
	figure = xasprintf("%.2f", times);
	wanted = xasprintf(">= %d", FASTER);
	more = xasprintf("%.2f /min before", speed_of(old));
	table_row(b->table,
	    (const char *[]){ what, wanted, figure, more,
		times >= FASTER ? "reached" : "missed" });
	row = json_object_new_object();
	json_set(row, "value", json_object_new_double(times));
	json_set(row, "before", json_object_new_double(speed_of(old)));
	json_set_int(row, "target", FASTER);
	json_set(b->json, key, row);
	run_free(old);
}

static void
report_dead(struct bench *b, const struct run *r, double target)
{
	cleanup_free char *what = xasprintf("dead time a task, %d worker%s",
	    r->workers, r->workers == 1 ? "" : "s");
	cleanup_free char *key = xasprintf("dead_time_%d", r->workers);
	cleanup_free char *more = xasprintf(
	    "p99 %.0f ms", bench_dead_rank(&r->dead, 0, r->dead.count, 0.99));

	report(b, key, what, bench_dead_rank(&r->dead, 0, r->dead.count, 0.5),
	    target, "ms", more);
}

/* The largest value over a range of tasks. */
static double
rss_of(const struct run *r, int from, int to)
{
	double most = 0;

	for (int i = from; i <= to; i++)
		if (r->samples[i].rss_kb > most)
			most = r->samples[i].rss_kb;
	return most;
}

static double
percent(double before, double after)
{
	return before > 0 ? (after - before) * 100 / before : 0;
}

static void
report_course(struct bench *b, const struct run *r)
{
	const struct sample *s = r->samples;
	int n = r->tasks, tenth = n / TENTH;
	size_t dead = r->dead.count / TENTH;
	double early = rss_of(r, 0, tenth), late = rss_of(r, n - tenth, n);
	/* Of a task, in all workers. */
	double time_first = (double)(s[tenth].at_ms - s[0].at_ms) / tenth;
	double time_last = (double)(s[n].at_ms - s[n - tenth].at_ms) / tenth;
	double cpu_first = (s[tenth].cpu_ms - s[0].cpu_ms) / tenth;
	double cpu_last = (s[n].cpu_ms - s[n - tenth].cpu_ms) / tenth;
	double others_first = (s[tenth].others_ms - s[0].others_ms) / tenth;
	double others_last = (s[n].others_ms - s[n - tenth].others_ms) / tenth;
	double dead_first = bench_dead_rank(&r->dead, 0, dead, 0.5);
	double dead_last =
	    bench_dead_rank(&r->dead, r->dead.count - dead, dead, 0.5);
	cleanup_free char *rss =
	    xasprintf("%.0f to %.0f KiB, first and last tenth", early, late);
	cleanup_free char *rate =
	    xasprintf("%.2f to %.2f tasks a second, first and last tenth",
		1000 / time_first, 1000 / time_last);
	cleanup_free char *cpu = xasprintf(
	    "%.2f to %.2f ms, first and last tenth", cpu_first, cpu_last);
	cleanup_free char *others = xasprintf(
	    "%.2f to %.2f ms, first and last tenth", others_first, others_last);
	cleanup_free char *words = xasprintf(
	    "%.0f to %.0f ms, first and last tenth", dead_first, dead_last);

	report(b, "cpu_per_task", "autod: CPU a task",
	    (s[n].cpu_ms - s[0].cpu_ms) / n, 0, "ms", NULL);
	report(b, "rss", "autod: memory", late / 1024, 0, "MB", NULL);
	report(b, "time_drift", "growth of the time a task takes",
	    percent(time_first, time_last), DRIFT, "%", rate);
	report(b, "rss_growth", "autod: growth of memory", percent(early, late),
	    DRIFT, "%", rss);
	report(b, "cpu_drift", "autod: growth of CPU a task",
	    percent(cpu_first, cpu_last), DRIFT, "%", cpu);
	report(b, "others_drift", "git and others: growth of CPU a task",
	    percent(others_first, others_last), 0, "%", others);
	report(b, "dead_drift", "growth of dead time",
	    percent(dead_first, dead_last), DRIFT, "%", words);
}

/* The same tasks with the other build: how it was before. */
static void
report_course_before(struct bench *b, int tasks)
{
	struct bench old = { .table = b->table };
	struct run *r;

	if (b->old == NULL)
		return;
	table_row(b->table,
	    (const char *[]){ "BENCH_OLD, the same tasks", "", "", "", "" });
	old.llmc = b->old->llmc;
	old.agent = b->old->agent;
	old.json = json_object_new_object();
	json_set(b->json, "before", old.json);
	r = run_new(&old, 8, tasks, false);
	report_speed(&old, r);
	report_dead(&old, r, 0);
	report_course(&old, r);
	run_free(r);
}

static void
measure_all(struct bench *b, int tasks)
{
	struct run *r = run_new(b, 8, tasks, false);

	report_speed(b, r);
	report_dead(b, r, 0);
	report_course(b, r);
	run_free(r);
	report_course_before(b, tasks);
	if (getenv("BENCH_LONG") != NULL)
		return;
	r = run_new(b, 1, 40, false);
	report_dead(b, r, DEAD_MS);
	report_speed(b, r);
	run_free(r);
	r = run_new(b, 8, IN_TURN, false);
	report_faster(b, r);
	run_free(r);
	r = run_new(b, 32, 128, false);
	report_speed(b, r);
	report_faster(b, r);
	run_free(r);
	r = run_new(b, 1, 20, true);
	report(
	    b, "git_per_task", "git commands a task", r->git, GITS, "", NULL);
	run_free(r);
}

static void
programs_of(struct bench *b, const char *build)
{
	b->llmc = bench_built(build, "src/cli/llmc");
	b->agent = bench_built(build, "tests/tools/fake-claude");
}

static void
keep(struct bench *b, const char *build, int tasks)
{
	cleanup_free char *path = file_join(build, "bench-auto.json");
	char stamp[CLOCK_STAMP_SIZE];
	struct err err = { 0 };

	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(b->json, "at", stamp);
	json_set_int(b->json, "tasks", tasks);
	bench_must(json_save(path, b->json, 0644, &err), path, &err);
	printf("kept in %s\n", path);
}

int
main(int argc, char **argv)
{
	const char *wanted = getenv("BENCH_TASKS");
	cleanup_free char *build = NULL, *other = NULL;
	struct bench b = { 0 }, old = { 0 };
	int64_t tasks = 2000;

	if (argc != 2 ||
	    (wanted != NULL && !text_parse_int(wanted, 20, 100000, &tasks))) {
		fputs(
		    "usage: [BENCH_TASKS=N] [BENCH_LONG=1] [BENCH_OLD=BUILD] bench-auto "
		    "BUILD\n",
		    stderr);
		return 2;
	}
	build = realpath(argv[1], NULL);
	if (build == NULL) {
		fprintf(stderr, "bench: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	programs_of(&b, build);
	other = bench_old_build();
	if (other != NULL) {
		programs_of(&old, other);
		b.old = &old;
	}
	b.table = bench_table("AUTO MODE");
	b.json = json_object_new_object();
	measure_all(&b, (int)tasks);
	bench_print(b.table);
	keep(&b, build, (int)tasks);
	json_object_put(b.json);
	free(b.llmc);
	free(b.agent);
	free(old.llmc);
	free(old.agent);
	return 0;
}
