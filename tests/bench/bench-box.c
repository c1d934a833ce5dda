/* SPDX-License-Identifier: ISC */

/*
 * What a sandbox costs: bench-box BUILD. For each mode, in a scratch repository
 * with the fake agent: from `llmc add` to the first idle (a worktree, a
 * session, SessionStart), a task from its start to the review, the memory of
 * the keeper, and a hook that the session runs, until it has its answer. Then a
 * command of the daemon without a keeper and with one.
 */
#include "base.h"

#include "agent-kind.h"
#include "bench.h"
#include "table.h"

#define WORKERS  10
#define READ_MAX (64 * 1024)

#define ROUNDS 10
#define HOOKS  20 /* in a round */

#define KEEPER_MAX_MB  0.5
#define HOOK_MAX_MS    5
#define COMMANDS       200
#define COMMAND_MAX_MS 8

struct bench {
	char *llmc, *keeper, *scratch, *repo;
	struct table *table;
};

static void
llmc(const struct bench *b, const char *const *words)
{
	const char *argv[12] = { b->llmc };

	for (size_t i = 0; words[i] != NULL && i < nitems(argv) - 2; i++)
		argv[1 + i] = words[i];
	bench_run(b->repo, argv);
}

static void
report(struct bench *b, const char *mode, const char *what, double *values,
    size_t count, const char *unit, double target)
{
	cleanup_free char *name = xasprintf("%s, %s", what, mode);

	bench_sort(values, count);
	bench_report(b->table, name, values[count / 2], target, unit, NULL);
}

/* The share of memory of a process, in MB. */
static double
process_mb(int64_t pid)
{
	cleanup_free char *file =
	    xasprintf("/proc/%lld/smaps_rollup", (long long)pid);
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };
	const char *pss;

	bench_must(file_read(file, READ_MAX, &text, &err), file, &err);
	pss = strstr(text.data, "\nPss:");
	return pss != NULL ? strtod(pss + 5, NULL) / 1024 : 0;
}

/* The keeper of a worker and its inner process, by their record. */
static double
keeper_mb(const struct bench *b, const char *worker)
{
	cleanup_free char *record =
	    xasprintf("%s/.llmc/sessions/%s/keeper.json", b->repo, worker);
	cleanup_json struct json_object *json = NULL;
	struct err err = { 0 };

	bench_must(json_load(record, READ_MAX, &json, &err), record, &err);
	return process_mb(json_int_or(json, "pid", 0)) +
	    process_mb(json_int_or(json, "init", 0));
}

/* mode NULL: without a keeper. */
static void
measure_command(struct bench *b, const char *mode)
{
	const char *const argv[] = { b->keeper, "--command", "--mode", mode,
		"--", "/bin/sh", "-c", "true", NULL };
	double times[COMMANDS];

	for (int i = 0; i < COMMANDS; i++) {
		int64_t start = clock_mono_us();

		bench_run("/", mode != NULL ? argv : argv + 5);
		times[i] = (double)(clock_mono_us() - start) / 1000;
	}
	report(b, mode != NULL ? mode : "no keeper", "a command", times,
	    COMMANDS, "ms", mode != NULL ? COMMAND_MAX_MS : 0);
}

/* A line of sh that runs hooks of this worker, and writes the nanoseconds of
 * each round into a file. */
static char *
hook_line(const struct bench *b, const char *worker, const char *agent,
    const char *file)
{
	return xasprintf("r=0; while [ $r -lt %d ]; do s=$(date +%%s%%N); n=0; "
			 "while [ $n -lt %d ]; do echo '{\"session_id\":\"s\","
			 "\"notification_type\":\"auth_success\"}' | '%s' hook "
			 "Notification --worker %s --generation 1 "
			 "--socket '%s/.llmc/run/%s/sock' "
			 "--spool '%s/.llmc/run/%s/spool' --agent %s || exit "
			 "1; "
			 "n=$((n + 1)); done; echo $(($(date +%%s%%N) - s)); "
			 "r=$((r + 1)); done >'%s'",
	    ROUNDS, HOOKS, b->llmc, worker, b->repo, worker, b->repo, worker,
	    agent, file);
}

static void
report_hooks(struct bench *b, const char *mode, const char *file)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };
	double times[ROUNDS];
	char *at;

	bench_must(file_read(file, READ_MAX, &text, &err), file, &err);
	at = text.data;
	err_set(&err, -EIO, "a hook has failed");
	for (int i = 0; i < ROUNDS; i++) {
		char *end;

		times[i] = strtod(at, &end) / HOOKS / 1e6;
		bench_must(end == at ? -EIO : 0, file, &err);
		at = end;
	}
	report(b, mode, "a hook", times, ROUNDS, "ms", HOOK_MAX_MS);
}

/* The hooks of a session, which runs them from its place; for the first mode
 * also from here, where there is no keeper. */
static void
measure_hook(struct bench *b, const char *mode)
{
	cleanup_free char *name = xasprintf("%s-hook", mode);
	cleanup_free char *here = file_join(b->scratch, "rounds");
	cleanup_free char *there =
	    xasprintf("%s/.worktrees/%s/rounds", b->repo, name);
	cleanup_free char *inside = hook_line(b, name, "claude", there);
	cleanup_free char *prompt = xasprintf(
	    "fake: run %s; git add rounds; git commit -qm rounds", inside);

	llmc(b, (const char *[]){ "add", name, NULL });
	llmc(b,
	    (const char *[]){
		"wait", name, "--until", "idle", "--timeout", "60s", NULL });
	if (strcmp(mode, "off") == 0) {
		for (size_t i = 0; agent_kinds[i] != NULL; i++) {
			const char *kind = agent_kinds[i]->name;
			cleanup_free char *outside =
			    hook_line(b, name, kind, here);
			cleanup_free char *what =
			    xasprintf("no keeper, %s", kind);

			bench_run(b->repo,
			    (const char *[]){ "/bin/sh", "-c", outside, NULL });
			report_hooks(b, what, here);
		}
	}
	llmc(b,
	    (const char *[]){
		"start", "--worker", name, "--prompt", prompt, NULL });
	llmc(b,
	    (const char *[]){ "wait", name, "--until", "needs_review",
		"--timeout", "60s", NULL });
	report_hooks(b, mode, there);
	llmc(b, (const char *[]){ "nuke", name, "--yes", NULL });
}

static void
measure(struct bench *b, const char *mode)
{
	double launch[WORKERS], task[WORKERS], memory[WORKERS];

	llmc(b,
	    (const char *[]){
		"config", "set", "defaults.sandbox", mode, NULL });
	llmc(b, (const char *[]){ "up", "--detach", NULL });
	for (int i = 0; i < WORKERS; i++) {
		cleanup_free char *name = xasprintf("%s-%d", mode, i);
		int64_t start = clock_mono_us();

		llmc(b, (const char *[]){ "add", name, NULL });
		llmc(b,
		    (const char *[]){ "wait", name, "--until", "idle",
			"--timeout", "60s", NULL });
		launch[i] = (double)(clock_mono_us() - start) / 1000;
		memory[i] = keeper_mb(b, name);
		start = clock_mono_us();
		llmc(b,
		    (const char *[]){ "start", "--worker", name, "--prompt",
			"fake: commit a.txt x", NULL });
		llmc(b,
		    (const char *[]){ "wait", name, "--until", "needs_review",
			"--timeout", "60s", NULL });
		task[i] = (double)(clock_mono_us() - start) / 1000;
		llmc(b, (const char *[]){ "nuke", name, "--yes", NULL });
	}
	measure_hook(b, mode);
	llmc(b, (const char *[]){ "down", NULL });
	report(b, mode, "launch to SessionStart", launch, WORKERS, "ms", 0);
	report(b, mode, "a task", task, WORKERS, "ms", 0);
	report(b, mode, "memory of a keeper", memory, WORKERS, "MB",
	    KEEPER_MAX_MB);
}

static void
begin(struct bench *b, const char *build)
{
	cleanup_free char *agent =
	    bench_built(build, "tests/tools/fake-claude");

	bench_repo(b->repo);
	bench_init(b->repo, b->llmc, agent);
}

int
main(int argc, char **argv)
{
	static const char *const modes[] = { "off", "worktree", "strict" };
	cleanup_free char *build = argc == 2 ? realpath(argv[1], NULL) : NULL;
	struct bench b = { 0 };

	if (build == NULL) {
		fputs("usage: bench-box BUILD\n", stderr);
		return 2;
	}
	b.scratch = bench_scratch();
	b.llmc = bench_built(build, "src/cli/llmc");
	b.keeper = bench_built(build, "src/keeper/keeper");
	b.repo = file_join(b.scratch, "repo");
	b.table = bench_table("WHAT");
	begin(&b, build);
	for (size_t i = 0; i < nitems(modes); i++)
		measure(&b, modes[i]);
	measure_command(&b, NULL);
	if (geteuid() == 0) /* others get none for commands */
		measure_command(&b, "namespace");
	measure_command(&b, "reaper");
	bench_print(b.table);
	bench_remove(b.scratch);
	free(b.llmc);
	free(b.keeper);
	free(b.repo);
	free(b.scratch);
	return 0;
}
