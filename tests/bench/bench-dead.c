/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <glob.h>

#include "bench-dead.h"
#include "bench.h"

#define FILE_MAX (256 * 1024 * 1024)

struct moment {
	double ms;
	bool prompt; /* otherwise a message of the agent */
};

struct moments {
	struct moment *v;
	size_t count;
};

static int
compare_moments(const void *a, const void *b)
{
	double x = ((const struct moment *)a)->ms;
	double y = ((const struct moment *)b)->ms;

	return x < y ? -1 : x > y;
}

/* "2026-11-15T05:11:12.835Z"; only differences matter. */
static double
stamp_ms(const char *stamp)
{
	int day, hour, minute;
	double second;

	if (sscanf(stamp, "%*d-%*d-%dT%d:%d:%lf", &day, &hour, &minute,
		&second) != 4)
		return 0;
	return (((double)day * 24 + hour) * 60 + minute) * 60000 +
	    second * 1000;
}

static void
see_line(struct moments *moments, struct json_object *line)
{
	const char *type = json_string_or(line, "type", "");
	bool prompt = strcmp(type, "user") == 0 &&
	    json_string_or(line, "promptSource", NULL) != NULL;

	if (!prompt && strcmp(type, "assistant") != 0)
		return;
	moments->v =
	    xreallocarray(moments->v, moments->count + 1, sizeof *moments->v);
	moments->v[moments->count++] = (struct moment){
		.ms = stamp_ms(json_string_or(line, "timestamp", "")),
		.prompt = prompt,
	};
}

static void
see_file(struct moments *moments, const char *path)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	bench_must(file_read(path, FILE_MAX, &text, &err), path, &err);
	for (char *at = text.data, *line; (line = strsep(&at, "\n")) != NULL;) {
		struct json_object *json = json_tokener_parse(line);

		see_line(moments, json);
		json_object_put(json);
	}
}

/* For one worker: each prompt, and the last message before it. */
static void
add_dead(struct bench_dead *dead, struct moments *moments)
{
	double words = 0;

	qsort(moments->v, moments->count, sizeof *moments->v, compare_moments);
	for (size_t i = 0; i < moments->count; i++) {
		const struct moment *m = &moments->v[i];

		if (m->prompt && words > 0) {
			dead->v = xreallocarray(
			    dead->v, dead->count + 1, sizeof *dead->v);
			dead->v[dead->count++] =
			    (struct bench_pause){ m->ms, m->ms - words };
		}
		words = m->prompt ? 0 : m->ms;
	}
}

static int
compare_pauses(const void *a, const void *b)
{
	double x = ((const struct bench_pause *)a)->at_ms;
	double y = ((const struct bench_pause *)b)->at_ms;

	return x < y ? -1 : x > y;
}

void
bench_dead_read(const char *home, int workers, struct bench_dead *dead)
{
	for (int i = 1; i <= workers; i++) {
		cleanup_free char *pattern = xasprintf(
		    "%s/.claude/projects/*worktrees-auto-%d/*.jsonl", home, i);
		struct moments moments = { 0 };
		glob_t found;

		if (glob(pattern, 0, NULL, &found) == 0)
			for (size_t k = 0; k < found.gl_pathc; k++)
				see_file(&moments, found.gl_pathv[k]);
		globfree(&found);
		add_dead(dead, &moments);
		free(moments.v);
	}
	qsort(dead->v, dead->count, sizeof *dead->v, compare_pauses);
}

double
bench_dead_rank(
    const struct bench_dead *dead, size_t from, size_t count, double rank)
{
	cleanup_free double *times = xcalloc(count + 1, sizeof *times);

	for (size_t i = 0; i < count; i++)
		times[i] = dead->v[from + i].ms;
	bench_sort(times, count);
	return times[(size_t)((double)(count > 0 ? count - 1 : 0) * rank)];
}
