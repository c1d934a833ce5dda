/* SPDX-License-Identifier: ISC */

/*
 * What one landing costs, compared with its targets: bench-queue BUILD. A
 * worker with the fake agent commits a small file, and a person accepts it: in
 * a small repository, where the git processes are counted and named, and in one
 * of 10,000 files, where they are not in the way of the clock. And what it
 * costs to look at an origin that has nothing new, beside an idle worker.
 *
 *   BENCH_OLD  another BUILD, which lands the same in turn with this one
 */
#include "base.h"

#include <poll.h>

#include "bench.h"

#define LANDINGS   20
#define FEW        20 /* files, and folders */
#define MANY       10000
#define GIT_TARGET 8
#define LOOKS      5 /* at origin */
#define WAIT_MS    60000
#define FILE_MAX   (16 * 1024 * 1024)

struct bench {
	char *llmc, *agent, *path;
	const struct bench *old; /* NULL = none */
	struct table *table;
};

struct run {
	const struct bench *b;
	char *scratch, *repo, *git_log;
	size_t seen; /* bytes of the log */
	double ms[LANDINGS], gits[LANDINGS];
	struct buf last; /* the processes of the last landing */
};

/* --- the repository ---------------------------------------------------- */

static void
shell(const char *dir, const char *text)
{
	bench_run(dir, (const char *[]){ "/bin/sh", "-ec", text, NULL });
}

/* Put a git in front of the real one in PATH that names each of its calls:
 * where, and without the settings. */
static void
count_gits(const struct run *r)
{
	cleanup_free char *text =
	    xasprintf("mkdir bin; cat >bin/git <<'E'\n#!/bin/sh\n"
		      "(while :; do case $1 in -c) shift 2 ;; "
		      "-C) in=${2##*/}; shift 2 ;; *) break ;; esac; done; "
		      "printf '%%-6s %%.90s\\n' \"$in\" \"$*\" >>'%s')\n"
		      "PATH=${PATH#*:}\nexec git \"$@\"\nE\n"
		      "chmod +x bin/git",
		r->git_log);
	cleanup_free char *path =
	    xasprintf("%s/bin:%s", r->scratch, r->b->path);

	shell(r->scratch, text);
	setenv("PATH", path, 1);
}

static void
run_begin(struct run *r, int files, bool counts)
{
	cleanup_free char *make =
	    xasprintf("for d in $(seq 20); do mkdir $d; for f in $(seq %d); do "
		      "echo $d $f >$d/$f; done; done; git add .",
		files / FEW);
	const struct bench *b = r->b;

	bench_repo(r->repo);
	shell(r->repo, make);
	bench_init(r->repo, b->llmc, b->agent);
	if (counts)
		count_gits(r);
	bench_run(r->repo, (const char *[]){ b->llmc, "up", "--detach", NULL });
	bench_run(r->repo, (const char *[]){ b->llmc, "add", "ann", NULL });
}

static void
wait_for(const struct run *r, const char *status)
{
	int64_t end = clock_mono_ms() + WAIT_MS;
	struct err err = { 0 };

	for (;;) {
		cleanup_json struct json_object *state = NULL;
		struct json_object *workers = NULL, *ann = NULL;

		state = bench_state(r->b->llmc, r->repo);
		if (json_object_object_get_ex(state, "workers", &workers) &&
		    json_object_object_get_ex(workers, "ann", &ann) &&
		    strcmp(json_string_or(ann, "status", ""), status) == 0)
			return;
		err_set(&err, -ETIMEDOUT, "it is not %s", status);
		bench_must(clock_mono_ms() > end ? -ETIMEDOUT : 0, "ann", &err);
		poll(NULL, 0, 5); /* a file of another program */
	}
}

/* --- landings ---------------------------------------------------------- */

/* The processes since the last call. */
static int
new_gits(struct run *r)
{
	cleanup_buf struct buf text = BUF_INIT;
	int count = 0;

	file_read(r->git_log, FILE_MAX, &text, NULL);
	buf_clear(&r->last);
	buf_add(&r->last, text.data + r->seen, text.len - r->seen);
	for (size_t i = r->seen; i < text.len; i++)
		count += text.data[i] == '\n';
	r->seen = text.len;
	return count;
}

static void
land(struct run *r, int i)
{
	cleanup_free char *task = xasprintf("fake: commit new-%d.txt x", i);
	int64_t start;

	wait_for(r, "idle");
	bench_run(r->repo,
	    (const char *[]){ r->b->llmc, "start", "--worker", "ann",
		"--prompt", task, NULL });
	wait_for(r, "needs_review");
	new_gits(r);
	start = clock_mono_us();
	bench_run(
	    r->repo, (const char *[]){ r->b->llmc, "accept", "ann", NULL });
	r->ms[i] = (double)(clock_mono_us() - start) / 1000;
	wait_for(r, "idle");
	r->gits[i] = new_gits(r);
}

static struct run *
run_alloc(const struct bench *b)
{
	struct run *r = xcalloc(1, sizeof *r);

	r->b = b;
	buf_init(&r->last);
	r->scratch = bench_scratch();
	r->repo = file_join(r->scratch, "repo");
	r->git_log = file_join(r->scratch, "git.log");
	return r;
}

static struct run *
run_new(const struct bench *b, int files, bool counts)
{
	struct run *r = run_alloc(b);

	run_begin(r, files, counts);
	for (int i = 0; i < LANDINGS; i++)
		land(r, i);
	bench_run(r->repo, (const char *[]){ b->llmc, "down", NULL });
	setenv("PATH", b->path, 1);
	bench_sort(r->ms, LANDINGS);
	bench_sort(r->gits, LANDINGS);
	return r;
}

static void
run_free(struct run *r)
{
	bench_remove(r->scratch);
	buf_release(&r->last);
	free(r->scratch);
	free(r->repo);
	free(r->git_log);
	free(r);
}

/* --- a fetch that brings nothing ---------------------------------------- */

/* How many lines of a file have this? */
static int
lines_with(const char *path, const char *words)
{
	cleanup_buf struct buf text = BUF_INIT;
	int count = 0;

	file_read(path, FILE_MAX, &text, NULL);
	for (const char *at = text.data; (at = strstr(at, words)) != NULL; at++)
		count++;
	return count;
}

/* Until it has looked so often. */
static void
wait_looks(const struct run *r, int count)
{
	int64_t end = clock_mono_ms() + WAIT_MS;
	struct err err = { 0 };

	err_set(&err, -ETIMEDOUT, "origin is not looked at");
	while (lines_with(r->git_log, " ls-remote ") < count) {
		bench_must(clock_mono_ms() > end ? -ETIMEDOUT : 0,
		    "repo.fetch_every", &err);
		poll(NULL, 0, 5); /* a file of another program */
	}
}

/* A minute of the daemon is three seconds. The patrol looks at the worktree of
 * the worker meanwhile: that is not of the fetch. */
static void
measure_fetch(const struct bench *b)
{
	struct run *r = run_alloc(b);
	cleanup_free char *prompts = file_join(r->scratch, "prompts");
	int before, gits;

	bench_repo(r->repo);
	bench_init(r->repo, b->llmc, b->agent);
	shell(r->repo,
	    "git clone -q --bare . ../origin.git; git remote add origin "
	    "../origin.git; git fetch -q; git branch -q -u origin/main main");
	bench_config(r->repo, b->llmc, "repo.upstream", "follow");
	bench_config(r->repo, b->llmc, "repo.fetch_every", "1m");
	bench_config(r->repo, b->llmc, "defaults.env", "[\"FAKE_CLAUDE_LOG\"]");
	count_gits(r);
	setenv("LLMC_TIME_SCALE", "20", 1);
	setenv("FAKE_CLAUDE_LOG", prompts, 1);
	bench_run(r->repo, (const char *[]){ b->llmc, "up", "--detach", NULL });
	bench_run(r->repo, (const char *[]){ b->llmc, "add", "ann", NULL });
	wait_for(r, "idle");
	before = lines_with(r->git_log, " ls-remote ") + 1;
	wait_looks(r, before);
	gits = lines_with(r->git_log, "repo ");
	wait_looks(r, before + LOOKS);
	gits = lines_with(r->git_log, "repo ") - gits;
	bench_run(r->repo, (const char *[]){ b->llmc, "down", NULL });
	unsetenv("LLMC_TIME_SCALE");
	unsetenv("FAKE_CLAUDE_LOG");
	setenv("PATH", b->path, 1);
	new_gits(r);
	bench_report(b->table, "git processes, a fetch that brings nothing",
	    (double)gits / LOOKS, 1, "", NULL);
	bench_report(b->table, "prompts to an idle worker, the same",
	    lines_with(prompts, "\n"), 0, "", "wanted: none");
	if (gits > LOOKS)
		printf("the git processes of %d fetches:\n%s\n", LOOKS,
		    r->last.data);
	run_free(r);
}

static void
report_time(const struct bench *b, const struct run *r, const char *what)
{
	cleanup_free char *more =
	    xasprintf("worst of %d: %.0f ms", LANDINGS, r->ms[LANDINGS - 1]);

	bench_report(b->table, what, r->ms[LANDINGS / 2], 0, "ms", more);
}

/* The same with the other build. */
static void
measure_time(const struct bench *b, int files, const char *what)
{
	cleanup_free char *before = xasprintf("%s, BENCH_OLD", what);
	struct run *r = run_new(b, files, false);

	report_time(b, r, what);
	run_free(r);
	if (b->old == NULL)
		return;
	r = run_new(b->old, files, false);
	report_time(b, r, before);
	run_free(r);
}

/* What a landing waits for once, before the branch moves: the file system with
 * all that the commit consists of. */
static void
measure_syncfs(const struct bench *b)
{
	const char *tmp = getenv("TMPDIR");
	cleanup_free char *name =
	    xasprintf("%s/llmc-bench-XXXXXX", tmp != NULL ? tmp : "/tmp");
	cleanup_fd int fd = mkstemp(name);
	cleanup_free char *more = NULL;
	double ms[LANDINGS];

	bench_must(fd == -1 ? -errno : 0, name, &(struct err){ 0 });
	unlink(name);
	for (int i = 0; i < LANDINGS; i++) {
		int64_t start;

		bench_must(file_write_all(fd, name, strlen(name)), name,
		    &(struct err){ 0 });
		start = clock_mono_us();
		bench_must(
		    syncfs(fd) == -1 ? -errno : 0, name, &(struct err){ 0 });
		ms[i] = (double)(clock_mono_us() - start) / 1000;
	}
	bench_sort(ms, LANDINGS);
	more = xasprintf("worst of %d: %.1f ms", LANDINGS, ms[LANDINGS - 1]);
	bench_report(b->table, "of that, the one syncfs", ms[LANDINGS / 2], 0,
	    "ms", more);
}

static void
measure_all(const struct bench *b)
{
	struct run *r = run_new(b, FEW, true);
	double gits = r->gits[LANDINGS / 2];

	bench_report(b->table, "git processes, a lone landing", gits,
	    GIT_TARGET, "", NULL);
	if (gits > GIT_TARGET)
		printf("the git processes of a landing:\n%s\n", r->last.data);
	run_free(r);
	measure_fetch(b);
	measure_time(b, FEW, "a landing, 20 files");
	measure_time(b, MANY, "a landing, 10,000 files");
	measure_syncfs(b);
}

static void
programs_of(struct bench *b, const char *build)
{
	b->llmc = bench_built(build, "src/cli/llmc");
	b->agent = bench_built(build, "tests/tools/fake-claude");
	b->path = xstrdup(getenv("PATH") ?: "/usr/bin:/bin");
}

static void
programs_free(struct bench *b)
{
	free(b->llmc);
	free(b->agent);
	free(b->path);
}

int
main(int argc, char **argv)
{
	cleanup_free char *build = argc == 2 ? realpath(argv[1], NULL) : NULL;
	cleanup_free char *other = NULL;
	struct bench b = { 0 }, old = { 0 };

	if (build == NULL) {
		fputs("usage: [BENCH_OLD=BUILD] bench-queue BUILD\n", stderr);
		return 2;
	}
	programs_of(&b, build);
	other = bench_old_build();
	if (other != NULL) {
		programs_of(&old, other);
		b.old = &old;
	}
	b.table = bench_table("LANDING");
	measure_all(&b);
	bench_print(b.table);
	programs_free(&b);
	programs_free(&old);
	return 0;
}
