/* SPDX-License-Identifier: ISC */

/*
 * What the fleet costs, compared with its targets: bench-fleet BUILD. A daemon
 * with 1, 10 and 100 sessions of the fake agent in a scratch repository, on its
 * own tmux server. 100,000 tasks have ended there.
 *
 * A wake-up is a voluntary context switch of the daemon. No calls are made
 * while it is measured; a patrol, which runs every 30 seconds, is measured
 * separately.
 */
#include "base.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>

#include "bench.h"
#include "book-history.h"
#include "book.h"
#include "id.h"
#include "table.h"
#include "task.h"

#define ENDED     100000
#define REPORTED  10000 /* of them, in the last day */
#define REPORTS   10
#define HOOKS     200
#define SPOOLED   10000
#define STATUSES  100
#define TOOLS_MAX 1000
#define PROMPTS   10
#define IDLE_MS   6000
#define PATROLS   2
#define PATROL_MS 2000
#define WAIT_MS   60000
#define STATE_MAX (16 * 1024 * 1024)

struct fleet {
	const char *build;
	char *llmc, *scratch, *repo, *prompts, *socket, *spool;
	long pid;
	int workers;
	struct table *table;
};

/* --- the table -------------------------------------------------------- */

static void
report_times(struct fleet *f, const char *what, double *us, size_t count,
    double target_ms)
{
	cleanup_free char *p99 = NULL;

	bench_sort(us, count);
	p99 = xasprintf("p99 %.2f ms", us[(count * 99) / 100] / 1000);
	bench_report(
	    f->table, what, us[count / 2] / 1000, target_ms, "ms", p99);
}

/* --- the daemon, from /proc ------------------------------------------- */

struct cost {
	double rss_mb;
	double files_mb; /* of that: pages of programs and libraries */
	double cpu_ms;
	double wakeups;
	double children_ms; /* CPU time of exited children */
};

/* Fields 16 and 17 of /proc/PID/stat, in clock ticks. */
static double
children_ms(const struct fleet *f)
{
	cleanup_free char *path = xasprintf("/proc/%ld/stat", f->pid);
	cleanup_buf struct buf text = BUF_INIT;
	const char *at;
	char *end;
	double user;

	if (file_read(path, 65536, &text, NULL) < 0)
		return 0;
	at = strrchr(text.data, ')');
	for (int i = 2; i < 16 && at != NULL; i++)
		at = strchr(at + 1, ' ');
	if (at == NULL)
		return 0;
	user = strtod(at, &end);
	return (user + strtod(end, NULL)) * 1000 / (double)sysconf(_SC_CLK_TCK);
}

static struct cost
cost_now(const struct fleet *f)
{
	cleanup_free char *status = xasprintf("/proc/%ld/status", f->pid);
	cleanup_free char *sched = xasprintf("/proc/%ld/schedstat", f->pid);
	cleanup_buf struct buf text = BUF_INIT, run = BUF_INIT;
	struct err err = { 0 };

	bench_must(file_read(status, 65536, &text, &err), status, &err);
	bench_must(file_read(sched, 65536, &run, &err), sched, &err);
	return (struct cost){
		.rss_mb = bench_number(text.data, "VmRSS:") / 1024,
		.files_mb = bench_number(text.data, "RssFile:") / 1024,
		.cpu_ms = strtod(run.data, NULL) / 1e6,
		.wakeups =
		    bench_number(text.data, "\nvoluntary_ctxt_switches:"),
		.children_ms = children_ms(f),
	};
}

/* --- the fleet -------------------------------------------------------- */

static struct json_object *
read_json(const struct fleet *f, const char *name)
{
	cleanup_free char *path = xasprintf("%s/.llmc/%s", f->repo, name);
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	bench_must(file_read(path, STATE_MAX, &text, &err), path, &err);
	return json_tokener_parse(text.data);
}

static struct json_object *
worker_record(struct json_object *state, int number)
{
	cleanup_free char *name = xasprintf("w%03d", number);

	return json_object_object_get(
	    json_object_object_get(state, "workers"), name);
}

static int
count_status(const struct fleet *f, const char *status)
{
	cleanup_json struct json_object *state = bench_state(f->llmc, f->repo);
	int count = 0;

	for (int i = 1; i <= f->workers; i++)
		count += strcmp(json_string_or(
				    worker_record(state, i), "status", ""),
			     status) == 0;
	return count;
}

static void
wait_for(const struct fleet *f, const char *status, int count)
{
	int64_t end = clock_mono_ms() + WAIT_MS;
	struct err err = { 0 };

	while (count_status(f, status) < count) {
		if (clock_mono_ms() > end) {
			err_set(&err, -ETIMEDOUT, "%d of %d are %s",
			    count_status(f, status), count, status);
			bench_must(-ETIMEDOUT, "workers", &err);
		}
		poll(NULL, 0, 50); /* a file of another program */
	}
}

static void
grow_to(struct fleet *f, int count)
{
	while (f->workers < count) {
		cleanup_free char *name = xasprintf("w%03d", ++f->workers);

		bench_run(
		    f->repo, (const char *[]){ f->llmc, "add", name, NULL });
	}
	wait_for(f, "idle", count);
}

static int
count_spooled(const struct fleet *f)
{
	DIR *dir = opendir(f->spool);
	const struct dirent *entry;
	int count = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		count += strstr(entry->d_name, ".json") != NULL;
	if (dir != NULL)
		closedir(dir);
	return count;
}

/* --- measurements ----------------------------------------------------- */

static void
measure_hook(struct fleet *f, const char *event, const char *what)
{
	cleanup_json struct json_object *state = bench_state(f->llmc, f->repo);
	cleanup_free char *generation = xasprintf("%lld",
	    (long long)json_int_or(worker_record(state, 1), "generation", 0));
	const char *const argv[] = { f->llmc, "hook", event, "--worker", "w001",
		"--generation", generation, "--socket", f->socket, "--spool",
		f->spool, NULL };
	struct cost before = cost_now(f), after;
	struct err err = { 0 };
	double us[HOOKS];

	for (int i = -5; i < HOOKS; i++) {
		int64_t start = clock_mono_us();

		bench_run_with(f->repo, argv,
		    "{\"session_id\":\"s\",\"tool_name\":\"Bash\","
		    "\"notification_type\":\"idle_prompt\"}");
		if (i >= 0)
			us[i] = (double)(clock_mono_us() - start);
	}
	after = cost_now(f);
	/* On a busy machine it hears several at a time. */
	err_set(&err, -EIO, "the daemon has not heard them");
	bench_must(
	    after.wakeups - before.wakeups < HOOKS / 4 ? -EIO : 0, what, &err);
	report_times(f, what, us, HOOKS, 5);
}

static void
start_daemon(struct fleet *f)
{
	cleanup_json struct json_object *daemon = NULL;

	bench_run(f->repo, (const char *[]){ f->llmc, "up", "--detach", NULL });
	daemon = read_json(f, "daemon.json");
	f->pid = (long)json_int_or(daemon, "pid", 0);
}

/* Mail needs goals, which the other figures are without. */
static void
set_goals(struct fleet *f, const char *value)
{
	bench_config(f->repo, f->llmc, "plan.enabled", value);
	bench_run(f->repo, (const char *[]){ f->llmc, "down", NULL });
	start_daemon(f);
	wait_for(f, "idle", 1);
}

/* Inside a session: bench-mcp.c. */
static void
measure_tools(struct fleet *f)
{
	cleanup_free char *file = file_join(f->scratch, "tools");
	cleanup_free char *mcp = bench_built(f->build, "tests/bench/bench-mcp");
	cleanup_free char *prompt = xasprintf(
	    "fake: run '%s' '%s' '%s' '%s'", mcp, f->llmc, f->socket, file);
	cleanup_free char *shared = NULL;
	cleanup_buf struct buf text = BUF_INIT, said = BUF_INIT;
	struct err err = { 0 };
	double memory[4], us[TOOLS_MAX];
	size_t count = 0;
	char *at;

	set_goals(f, "true");
	bench_run(f->repo,
	    (const char *[]){ f->llmc, "start", "--worker", "w001", "--prompt",
		prompt, NULL });
	wait_for(f, "no_changes", 1);
	bench_must(file_read(file, STATE_MAX, &text, &err), file, &err);
	at = text.data;
	for (size_t i = 0; i < nitems(memory); i++)
		memory[i] = strtod(at, &at);
	for (; at[0] == '\n' && at[1] != '\0' && count < TOOLS_MAX; count++)
		us[count] = strtod(at, &at);
	shared = xasprintf("%.2f MB its own", memory[1] / 1024);
	bench_report(
	    f->table, "llmc mcp: memory", memory[0] / 1024, 3, "MB", shared);
	/* Of an agent that a person drives: the prompt of a task says a few
	 * hundred bytes more. The line has other members too. */
	bench_must(
	    file_read(f->prompts, STATE_MAX, &said, &err), f->prompts, &err);
	bench_report(f->table, "llmc's tools and prompt in a request",
	    (memory[3] + (double)said.len - (double)strlen(prompt)) / 1000, 5,
	    "KB", NULL);
	report_times(f,
	    memory[2] > 0 ? "llmc mcp: a mail, refused" : "llmc mcp: a mail",
	    us, count, 5);
	bench_run(f->repo,
	    (const char *[]){ f->llmc, "reset", "w001", "--yes", NULL });
	wait_for(f, "idle", 1);
	set_goals(f, "false");
}

static void
measure_status(struct fleet *f)
{
	const char *const argv[] = { f->llmc, "status", NULL };
	double us[STATUSES];

	for (int i = 0; i < STATUSES; i++) {
		int64_t start = clock_mono_us();

		bench_run(f->repo, argv);
		us[i] = (double)(clock_mono_us() - start);
	}
	report_times(f, "llmc status, 100 workers", us, STATUSES, 10);
}

static void
measure_report(struct fleet *f)
{
	const char *const argv[] = { f->llmc, "report", "--since", "24h",
		NULL };
	double us[REPORTS];

	for (int i = 0; i < REPORTS; i++) {
		int64_t start = clock_mono_us();

		bench_run(f->repo, argv);
		us[i] = (double)(clock_mono_us() - start);
	}
	report_times(f, "llmc report, 10,000 tasks", us, REPORTS, 200);
}

/* Events that a storm of hooks left behind: until all of them are processed. */
static void
measure_spool(struct fleet *f)
{
	cleanup_free char *aside = file_join(f->scratch, "aside");
	char(*ids)[ID_ULID_SIZE] = xcalloc(SPOOLED, sizeof *ids);
	struct err err = { 0 };
	int64_t start;

	bench_must(file_mkdirs(aside, 0700, &err), aside, &err);
	bench_must(file_mkdirs(f->spool, 0700, &err), f->spool, &err);
	for (int i = 0; i < SPOOLED; i++) {
		cleanup_free char *name = NULL, *text = NULL;

		id_ulid(clock_wall_ms(), ids[i]);
		name = xasprintf("%s/%s.new", aside, ids[i]);
		text = xasprintf("{\"event\":\"PreToolUse\",\"worker\":"
				 "\"w001\",\"generation\":1,\"id\":\"%s\","
				 "\"data\":{}}\n",
		    ids[i]);
		bench_must(
		    file_append(name, text, strlen(text), 0600, false, &err),
		    name, &err);
	}
	/* The daemon takes them while they come: a rename is all that may
	 * happen to each. */
	for (int i = 0; i < SPOOLED; i++) {
		cleanup_free char *from = xasprintf("%s/%s.new", aside, ids[i]);
		cleanup_free char *to =
		    xasprintf("%s/%s.json", f->spool, ids[i]);

		if (rename(from, to) < 0)
			err_set(&err, -errno, "%s", strerror(errno));
		bench_must(err.code, from, &err);
	}
	free(ids);
	start = clock_mono_us();
	while (count_spooled(f) > 0)
		poll(NULL, 0, 10);
	bench_report(f->table, "10,000 spooled events",
	    (double)(clock_mono_us() - start) / 1000, 5000, "ms", "");
}

/* From the command until the agent has the prompt. */
static void
measure_prompts(struct fleet *f)
{
	double us[PROMPTS];

	for (int i = 0; i < PROMPTS; i++) {
		cleanup_free char *name = xasprintf("w%03d", i + 1);
		cleanup_buf struct buf text = BUF_INIT;
		int64_t start = clock_mono_us(), end = start + WAIT_MS * 1000;
		struct err err = { 0 };

		bench_run(f->repo,
		    (const char *[]){ f->llmc, "start", "--worker", name,
			"--prompt", name, NULL });
		do {
			buf_clear(&text);
			file_read(f->prompts, STATE_MAX, &text, NULL);
			bench_must(clock_mono_us() > end ? -ETIMEDOUT : 0,
			    "prompt", &err);
			poll(NULL, 0, 1);
		} while (strstr(text.data, name) == NULL);
		us[i] = (double)(clock_mono_us() - start);
	}
	report_times(f, "llmc start until the agent has it", us, PROMPTS, 0);
	wait_for(f, "no_changes", PROMPTS);
}

static void
measure_idle(struct fleet *f, double rss_target)
{
	cleanup_free char *rss = xasprintf("autod, %d worker%s: memory",
	    f->workers, f->workers == 1 ? "" : "s");
	cleanup_free char *wakeups =
	    xasprintf("autod, %d worker%s: wake-ups a second", f->workers,
		f->workers == 1 ? "" : "s");
	cleanup_free char *cpu = NULL, *files = NULL;
	struct cost before, after;

	poll(NULL, 0, 1000); /* let what was started finish */
	before = cost_now(f);
	poll(NULL, 0, IDLE_MS);
	after = cost_now(f);
	cpu = xasprintf("%.2f ms of CPU in %d s", after.cpu_ms - before.cpu_ms,
	    IDLE_MS / 1000);
	files =
	    xasprintf("RSS; %.2f MB of programs and libraries", after.files_mb);
	bench_report(f->table, rss, after.rss_mb, rss_target, "MB", files);
	bench_report(f->table, wakeups,
	    (after.wakeups - before.wakeups) / (IDLE_MS / 1000.0), 1, "/s",
	    cpu);
}

/* What the daemon does with an idle fleet. */
static void
measure_patrol(struct fleet *f)
{
	cleanup_free char *more = NULL;
	struct cost before, after;

	bench_config(f->repo, f->llmc, "daemon.patrol_interval", "2s");
	/* The first patrol checks all the new workers. */
	poll(NULL, 0, PATROL_MS + PATROL_MS / 2);
	before = cost_now(f);
	poll(NULL, 0, PATROLS * PATROL_MS);
	after = cost_now(f);
	bench_config(f->repo, f->llmc, "daemon.patrol_interval", "30s");
	more = xasprintf("%.0f wake-ups; git, tmux: %.0f ms",
	    (after.wakeups - before.wakeups) / PATROLS,
	    (after.children_ms - before.children_ms) / PATROLS);
	bench_report(f->table, "autod, 100 workers: CPU of a patrol",
	    (after.cpu_ms - before.cpu_ms) / PATROLS, 0, "ms", more);
}

static void
measure_all(struct fleet *f)
{
	grow_to(f, 1);
	measure_idle(f, 0);
	measure_hook(f, "Notification", "llmc hook, answered");
	measure_hook(f, "PostToolUse", "llmc hook, a sign of life");
	measure_tools(f);
	measure_spool(f);
	grow_to(f, 10);
	measure_idle(f, 0);
	grow_to(f, 100);
	measure_idle(f, 8);
	measure_patrol(f);
	measure_status(f);
	measure_report(f);
	measure_prompts(f);
}

/* --- setting up ------------------------------------------------------- */

/* The last ones a second after another, the others in the months before. */
static void
write_history(const struct fleet *f)
{
	cleanup_free char *path = file_join(f->repo, ".llmc/llmc.db");
	int64_t now = clock_wall_ms();
	struct book *book = NULL;
	struct err err = { 0 };

	bench_must(book_open(path, &book, &err), path, &err);
	bench_must(book_history_open(book, &err), path, &err);
	for (int i = 1; i <= ENDED; i++) {
		int left = ENDED - i;
		int64_t at = left < REPORTED ? now - (int64_t)left * 1000 :
					       now - (int64_t)left * 100000;
		cleanup_buf struct buf text = BUF_INIT;
		cleanup_json struct json_object *json = NULL;
		struct task *task = NULL;

		buf_addf(&text,
		    "{\"id\":\"t%d\",\"source\":\"folder\",\"key\":\"%d.md\","
		    "\"title\":\"Let the parser read numbers\",\"text\":\"Let it "
		    "read numbers of every kind, and test that.\",\"step\":"
		    "\"settling\",\"outcome\":\"landed\",\"worker\":\"w%03d\","
		    "\"attempts\":1,\"turns\":2,\"created_ms\":%lld,"
		    "\"assigned_ms\":%lld,\"finished_ms\":%lld,\"tokens\":900,"
		    "\"commit\":\"%040x\",\"run_id\":\"r1\",\"cost\":900,"
		    "\"priority\":\"normal\"}",
		    i, i, i % 100, (long long)at - 9000, (long long)at - 8000,
		    (long long)at, (unsigned)i);
		json = json_tokener_parse(text.data);
		bench_must(
		    task_from_json(json, "", &task, &err), "a task", &err);
		book_file_task(book, task);
		task_free(task);
	}
	bench_must(book_commit(book, &err), path, &err);
	book_close(book);
}

static void
fleet_begin(struct fleet *f, const char *build)
{
	cleanup_free char *agent =
	    bench_built(build, "tests/tools/fake-claude");
	int64_t start;

	setenv("FAKE_CLAUDE_LOG", f->prompts, 1);
	bench_repo(f->repo);
	bench_init(f->repo, f->llmc, agent);
	bench_run(f->repo,
	    (const char *[]){ f->llmc, "config", "set", "defaults.env",
		"[\"FAKE_CLAUDE_LOG\"]", NULL });
	write_history(f);
	start = clock_mono_us();
	start_daemon(f);
	bench_report(f->table, "start with 100,000 ended tasks",
	    (double)(clock_mono_us() - start) / 1e6, 0, "s", "");
	f->socket = xasprintf("%s/.llmc/run/w001/sock", f->repo);
	f->spool = xasprintf("%s/.llmc/run/w001/spool", f->repo);
}

static void
fleet_end(const struct fleet *f)
{
	bench_run(f->repo, (const char *[]){ f->llmc, "down", NULL });
	bench_remove(f->scratch);
}

int
main(int argc, char **argv)
{
	cleanup_free char *build = argc == 2 ? realpath(argv[1], NULL) : NULL;
	struct fleet f = { 0 };

	if (build == NULL) {
		fputs("usage: bench-fleet BUILD\n", stderr);
		return 2;
	}
	f.scratch = bench_scratch();
	f.build = build;
	f.llmc = bench_built(build, "src/cli/llmc");
	f.repo = file_join(f.scratch, "repo");
	f.prompts = file_join(f.scratch, "prompts.jsonl");
	f.table = bench_table("WHAT");
	fleet_begin(&f, build);
	measure_all(&f);
	bench_print(f.table);
	fleet_end(&f);
	free(f.llmc);
	free(f.repo);
	free(f.prompts);
	free(f.scratch);
	free(f.socket);
	free(f.spool);
	return 0;
}
