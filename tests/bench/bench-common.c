/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <libgen.h>

#include "bench.h"
#include "child.h"
#include "table.h"

#define STATE_MAX (64 * 1024 * 1024)

void
bench_must(int r, const char *what, const struct err *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "bench: %s: %s\n", what,
	    err->msg[0] != '\0' ? err->msg : strerror(-r));
	exit(1);
}

void
bench_run_with(const char *dir, const char *const *argv, const char *input)
{
	struct child_spec spec = { .argv = argv,
		.cwd = dir,
		.input = input,
		.input_len = input != NULL ? strlen(input) : 0 };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };

	bench_must(child_run(&spec, &result, &err), argv[0], &err);
	if (child_succeeded(&result))
		return;
	child_result_describe(&result, &words);
	buf_addc(&words, '\n');
	child_output_text(&result.err, &words);
	fprintf(stderr, "bench: %s %s\n", argv[0], words.data);
	exit(1);
}

void
bench_run(const char *dir, const char *const *argv)
{
	bench_run_with(dir, argv, NULL);
}

char *
bench_old_build(void)
{
	const char *name = getenv("BENCH_OLD");
	char *path;

	if (name == NULL)
		return NULL;
	path = realpath(name, NULL);
	bench_must(path != NULL ? 0 : -errno, name, &(struct err){ 0 });
	return path;
}

char *
bench_built(const char *build, const char *name)
{
	char *path = file_join(build, name);

	if (access(path, R_OK) == 0)
		return path;
	fprintf(stderr, "bench: %s is missing; type: ninja -C %s %s\n", path,
	    build, name);
	exit(1);
}

char *
bench_scratch(void)
{
	const char *tmp = getenv("TMPDIR");
	char *scratch =
	    xasprintf("%s/llmc-bench-XXXXXX", tmp != NULL ? tmp : "/tmp");
	cleanup_free char *home = NULL;
	struct err err = { 0 };

	bench_must(mkdtemp(scratch) != NULL ? 0 : -errno, scratch, &err);
	home = file_join(scratch, "home");
	bench_must(file_mkdirs(home, 0755, &err), home, &err);
	setenv("HOME", home, 1);
	setenv("TMUX_TMPDIR", scratch, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	unsetenv("TMUX");
	unsetenv("LLMC_ROOT");
	unsetenv("LLMC_AGENT");
	return scratch;
}

void
bench_remove(const char *scratch)
{
	bench_run("/", (const char *[]){ "rm", "-rf", "--", scratch, NULL });
}

void
bench_repo(const char *repo)
{
	bench_run(NULL,
	    (const char *[]){ "git", "init", "-q", "-b", "main", repo, NULL });
	bench_run(repo,
	    (const char *[]){ "git", "config", "user.name", "Bench", NULL });
	bench_run(repo,
	    (const char *[]){
		"git", "config", "user.email", "bench@example.invalid", NULL });
}

void
bench_config(
    const char *repo, const char *llmc, const char *key, const char *value)
{
	bench_run(
	    repo, (const char *[]){ llmc, "config", "set", key, value, NULL });
}

void
bench_init(const char *repo, const char *llmc, const char *agent)
{
	bench_run(repo,
	    (const char *[]){
		"git", "commit", "-q", "--allow-empty", "-m", "Start", NULL });
	bench_run(repo, (const char *[]){ llmc, "init", NULL });
	bench_config(repo, llmc, "defaults.agent_command", agent);
	bench_config(repo, llmc, "defaults.allow_root", "true");
	bench_config(repo, llmc, "auto.check_command", "none");
}

struct table *
bench_table(const char *title)
{
	const struct table_column columns[] = { { .title = title },
		{ .title = "TARGET", .right = true },
		{ .title = "MEASURED", .right = true }, { .title = "" },
		{ .title = "" } };

	return table_new(columns, nitems(columns));
}

void
bench_report(struct table *table, const char *what, double value, double target,
    const char *unit, const char *more)
{
	cleanup_free char *figure = xasprintf("%.2f %s", value, unit);
	cleanup_free char *wanted =
	    target > 0 ? xasprintf("<= %g %s", target, unit) : xstrdup("-");

	table_row(table,
	    (const char *[]){ what, wanted, figure, more,
		target <= 0         ? "" :
		    value <= target ? "reached" :
				      "missed" });
}

void
bench_print(struct table *table)
{
	cleanup_buf struct buf text = BUF_INIT;

	table_print(table, 0, false, &text);
	fputs(text.data, stdout);
	table_free(table);
}

double
bench_number(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at != NULL ? strtod(at + strlen(word), NULL) : 0;
}

struct json_object *
bench_state(const char *llmc, const char *repo)
{
	cleanup_free char *copy = xstrdup(llmc);
	cleanup_free char *autod =
	    xasprintf("%s/../autod/autod", dirname(copy));
	const char *const argv[] = { autod, "--root", repo, "--look", "state",
		NULL };
	struct child_spec spec = { .argv = argv, .output_max = STATE_MAX };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	bench_must(child_run(&spec, &result, &err), autod, &err);
	child_output_text(&result.out, &text);
	return json_tokener_parse(text.data);
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void
bench_sort(double *times, size_t count)
{
	qsort(times, count, sizeof *times, compare);
}

char *
bench_time(double us, bool batch)
{
	if (us >= 1000)
		return xasprintf("%.2f ms", us / 1000);
	return xasprintf("%.*f us", batch ? 2 : 0, us);
}
