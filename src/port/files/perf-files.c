/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "moment.h"
#include "perf-files.h"
#include "perf-record.h"
#include "perf-stats.h"
#include "strv.h"
#include "workspace.h"

#define PREFIX  "agent-performance-"
#define SUFFIX  ".jsonl"
#define DAY_LEN 10 /* "2026-01-31" */

static char *
file_of(const struct workspace *workspace, int64_t ended_ms)
{
	cleanup_free char *dir = workspace_path(workspace, "perf");
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_stamp(ended_ms, stamp);
	return xasprintf("%s/" PREFIX "%.*s" SUFFIX, dir, DAY_LEN, stamp);
}

/* When its day begins; false: it is no file of ours. */
static bool
day_of(const char *name, int64_t *ret_ms)
{
	char stamp[CLOCK_STAMP_SIZE];
	const char *day = name + strlen(PREFIX);

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 ||
	    strlen(day) != DAY_LEN + strlen(SUFFIX) ||
	    strcmp(day + DAY_LEN, SUFFIX) != 0)
		return false;
	snprintf(stamp, sizeof stamp, "%.*sT00:00:00.000Z", DAY_LEN, day);
	return moment_parse(stamp, ret_ms);
}

/* --- writing ---------------------------------------------------------- */

struct search {
	const struct perf_record *facts;
	bool found;
};

static bool
on_known(struct json_object *record, void *arg)
{
	struct search *search = arg;

	search->found = strcmp(json_string_or(record, "runId", ""),
			    search->facts->run) == 0 &&
	    json_int_or(record, "endedAt", 0) == search->facts->ended_ms;
	return !search->found;
}

int
perf_files_add(const struct workspace *workspace, struct json_object *record,
    bool again, struct err *err)
{
	cleanup_free char *dir = workspace_path(workspace, "perf");
	cleanup_free char *path = NULL;
	cleanup_buf struct buf line = BUF_INIT;
	struct perf_record facts;
	struct search search = { .found = false };
	int r = perf_record_read(record, &facts, err);

	if (r < 0)
		return r;
	path = file_of(workspace, facts.ended_ms);
	search.facts = &facts;
	if (again)
		jsonl_last(path, 0, on_known, &search, NULL);
	if (search.found)
		return 0;
	r = file_mkdirs(dir, 0700, err);
	if (r < 0)
		return r;
	json_print(record, false, &line);
	buf_addc(&line, '\n');
	return file_append(path, line.data, line.len, 0600, true, err);
}

/* --- reading ---------------------------------------------------------- */

struct reading {
	int64_t since_ms, now_ms;
	perf_files_fn *fn;
	void *arg;
};

static bool
on_record(struct json_object *record, void *arg)
{
	const struct reading *reading = arg;
	struct perf_record facts;

	if (perf_record_read(record, &facts, NULL) == 0 &&
	    facts.ended_ms >= reading->since_ms &&
	    perf_stats_is_kept(facts.ended_ms, reading->now_ms))
		reading->fn(record, reading->arg);
	return true;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the folder's files; NULL = none. The caller owns them. */
static int
list(const char *path, char ***ret_names, struct err *err)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	char **names = NULL;

	if (dir == NULL)
		return errno == ENOENT ? 0 : err_errno(err, -errno, "%s", path);
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			strv_add(&names, entry->d_name);
	closedir(dir);
	*ret_names = names;
	return 0;
}

int
perf_files_read(const struct workspace *workspace, int64_t since_ms,
    int64_t now_ms, perf_files_fn *fn, void *arg, struct err *err)
{
	struct reading reading = { since_ms, now_ms, fn, arg };
	cleanup_free char *dir = workspace_path(workspace, "perf");
	cleanup_strv char **names = NULL;
	size_t count;
	int r = list(dir, &names, err);

	if (r < 0)
		return r;
	count = strv_count(names);
	if (count > 1)
		qsort(names, count, sizeof(char *), compare_names);
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *path = file_join(dir, names[i]);
		int64_t day = 0;

		if (!day_of(names[i], &day) || day + PERF_DAY_MS <= since_ms)
			continue;
		r = jsonl_last(path, 0, on_record, &reading, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- what is kept ----------------------------------------------------- */

static void
tidy_records(const char *dir, int64_t now_ms)
{
	cleanup_strv char **names = NULL;

	list(dir, &names, NULL);
	for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
		cleanup_free char *path = file_join(dir, names[i]);
		int64_t day = 0;

		if (day_of(names[i], &day) &&
		    !perf_stats_is_kept(day + PERF_DAY_MS - 1, now_ms))
			unlink(path);
	}
}

static void
tidy_progress(const char *dir, int64_t now_ms)
{
	cleanup_strv char **names = NULL;
	struct stat st;

	list(dir, &names, NULL);
	for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
		cleanup_free char *path = file_join(dir, names[i]);

		if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    !perf_stats_is_kept(clock_file_ms(&st.st_mtim), now_ms))
			unlink(path);
	}
}

void
perf_files_tidy(const struct workspace *workspace, int64_t now_ms)
{
	cleanup_free char *records = workspace_path(workspace, "perf");
	cleanup_free char *progress = workspace_path(workspace, "progress");

	tidy_records(records, now_ms);
	tidy_progress(progress, now_ms);
}
