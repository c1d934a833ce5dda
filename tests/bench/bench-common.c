/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "buf.h"
#include "child.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "mem.h"

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

struct json_object *
bench_state(const char *llmc, const char *repo)
{
	cleanup_free char *file = xasprintf("%s/.llmc/state.json", repo);
	cleanup_free char *copy = xstrdup(llmc);
	cleanup_free char *autod =
	    xasprintf("%s/../autod/autod", dirname(copy));
	const char *const argv[] = { autod, "--root", repo, "--look", "state",
		NULL };
	struct child_spec spec = { .argv = argv, .output_max = STATE_MAX };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	if (file_read(file, STATE_MAX, &text, NULL) == 0)
		return json_tokener_parse(text.data);
	bench_must(child_run(&spec, &result, &err), autod, &err);
	buf_clear(&text);
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
