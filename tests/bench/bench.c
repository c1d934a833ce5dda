/* SPDX-License-Identifier: ISC */

/*
 * How fast base and the command line are, as a table: bench BUILD.
 *
 * A sample is the time of one call or, if a call is too short for a clock of
 * microseconds, of a batch of calls divided by their number. For batches no p99
 * is shown: it would be one of averages.
 */
#include "base.h"
#include "bench.h"
#include "child.h"
#include "loop.h"
#include "rpc.h"
#include "table.h"
#include "toml.h"

#define TIMER_COUNT 10000

struct bench {
	const char *llmc; /* the program */
	const char *scratch; /* a folder for log and repository */
	const char *repo;
	struct loop *loop;
	struct buf json; /* a document of 10 KB */
	struct buf flood; /* a line of empty objects, as long as one may be */
	struct buf heavy; /* as many of them as are accepted */
	struct buf toml; /* examples/config.toml */
	int left; /* timers still to run */
};

static void
log_one(struct bench *b)
{
	(void)b;
	log_pairs(LOG_LEVEL_INFO, "worker has ended its turn",
	    (const char *const[]){
		"worker", "auto-1", "task", "01JC8Z5Q0V3T", NULL });
}

static void
json_one(struct bench *b)
{
	cleanup_json struct json_object *value = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	bench_must(
	    json_parse(b->json.data, b->json.len, b->json.len, &value, &err),
	    "json", &err);
	json_print(value, false, &text);
}

static void
flood_one(struct bench *b)
{
	struct json_object *value = NULL;

	if (json_parse(
		b->flood.data, b->flood.len, RPC_LINE_MAX, &value, NULL) == 0)
		bench_must(-EINVAL, "too many objects were accepted",
		    &(struct err){ 0 });
}

static void
heavy_one(struct bench *b)
{
	cleanup_json struct json_object *value = NULL;
	struct err err = { 0 };

	bench_must(
	    json_parse(b->heavy.data, b->heavy.len, RPC_LINE_MAX, &value, &err),
	    "json", &err);
}

static void
toml_one(struct bench *b)
{
	cleanup_json struct json_object *root = NULL;
	struct err err = { 0 };

	bench_must(toml_parse(b->toml.data, b->toml.len, &root, NULL, &err),
	    "toml", &err);
}

static void
rpc_one(struct bench *b)
{
	cleanup_json struct json_object *id = json_object_new_int64(42);
	cleanup_json struct json_object *params = json_object_new_object();
	cleanup_buf struct buf line = BUF_INIT;
	struct rpc_message message;
	struct err err = { 0 };

	(void)b;
	json_set_string(params, "worker", "auto-1");
	json_set_string(params, "event", "Stop");
	json_set_int(params, "generation", 7);
	rpc_encode_request(&line, id, "hook.event", params);
	bench_must(
	    rpc_decode(line.data, line.len - 1, &message, NULL, NULL, &err),
	    "rpc", &err);
	rpc_message_release(&message);
}

static void
child_done(const struct child_result *result, void *arg)
{
	struct bench *b = arg;

	loop_stop(b->loop, child_succeeded(result) ? 0 : 1);
}

static void
child_one(struct bench *b)
{
	const char *const argv[] = { "true", NULL };
	struct child_spec spec = { .argv = argv };
	struct err err = { 0 };

	bench_must(child_spawn(b->loop, &spec, child_done, b, NULL, &err),
	    "true", &err);
	bench_must(-loop_run(b->loop), "true", &err);
}

static void
timer_ran(void *arg)
{
	struct bench *b = arg;

	if (--b->left == 0)
		loop_stop(b->loop, 0);
}

/* Make, run and free TIMER_COUNT timers, in one call. */
static void
timers_all(struct bench *b)
{
	static struct loop_timer *timers[TIMER_COUNT];

	b->left = TIMER_COUNT;
	for (size_t i = 0; i < TIMER_COUNT; i++)
		timers[i] = loop_after(b->loop, 1, timer_ran, b);
	loop_run(b->loop);
	for (size_t i = 0; i < TIMER_COUNT; i++)
		loop_timer_free(timers[i]);
}

static void
version_one(struct bench *b)
{
	bench_run(b->repo, (const char *[]){ b->llmc, "version", NULL });
}

static void
config_one(struct bench *b)
{
	bench_run(b->repo,
	    (const char *[]){ b->llmc, "config", "get", "tmux.socket", NULL });
}

static const struct work {
	const char *name;
	int samples;
	int calls; /* of fn per sample */
	int units; /* of work per call */
	void (*fn)(struct bench *b);
} works[] = {
	{ "log: one record to a file", 20000, 1, 1, log_one },
	{ "json: parse and print 10 KB", 3000, 1, 1, json_one },
	{ "json: refuse 4 MiB of {}", 300, 1, 1, flood_one },
	{ "json: as many {} as are accepted", 20, 1, 1, heavy_one },
	{ "toml: parse examples/config.toml", 3000, 1, 1, toml_one },
	{ "rpc: encode and decode a request", 500, 50, 1, rpc_one },
	{ "child: start true, get its result", 300, 1, 1, child_one },
	{ "loop: make, run and free a timer", 40, 1, TIMER_COUNT, timers_all },
	{ "llmc version", 200, 1, 1, version_one },
	{ "llmc config get tmux.socket", 200, 1, 1, config_one },
};

static void
measure(struct bench *b, const struct work *work, struct table *table)
{
	cleanup_free double *times =
	    xcalloc((size_t)work->samples, sizeof *times);
	cleanup_free char *median = NULL, *p99 = NULL, *rate = NULL;
	int per_sample = work->calls * work->units;
	double middle;

	for (int i = -work->samples / 20; i < work->samples; i++) {
		int64_t start = clock_mono_us();

		for (int j = 0; j < work->calls; j++)
			work->fn(b);
		/* The first ones only warm the caches. */
		if (i >= 0)
			times[i] =
			    (double)(clock_mono_us() - start) / per_sample;
	}
	bench_sort(times, (size_t)work->samples);
	middle = times[work->samples / 2];
	median = bench_time(middle, per_sample > 1);
	p99 = per_sample > 1 ?
	    xstrdup("-") :
	    bench_time(times[work->samples * 99 / 100], false);
	rate = xasprintf("%.0f", 1e6 / middle);
	table_row(table, (const char *[]){ work->name, median, p99, rate });
}

static void
make_json(struct buf *out)
{
	buf_adds(out, "{\"workers\":[");
	for (int i = 0; out->len < 10 * 1000; i++)
		buf_addf(out,
		    "%s{\"name\":\"auto-%d\",\"status\":\"working\","
		    "\"tokens\":%d,\"cost\":%d.25,\"paused\":false,"
		    "\"last\":\"rebased onto main \\u2192 done\"}",
		    i > 0 ? "," : "", i, 1000 * i, i);
	buf_adds(out, "]}");
}

static void
make_objects(struct buf *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_adds(out, i == 0 ? "[{}" : ",{}");
	buf_addc(out, ']');
}

static void
make_repo(const struct bench *b)
{
	bench_run(NULL, (const char *[]){ "git", "init", "-q", b->repo, NULL });
	bench_run(b->repo,
	    (const char *[]){ "git", "-c", "user.name=Bench", "-c",
		"user.email=bench@example.invalid", "commit", "-q",
		"--allow-empty", "-m", "Start", NULL });
	bench_run(b->repo, (const char *[]){ b->llmc, "init", NULL });
}

static void
bench_all(struct bench *b)
{
	const struct table_column columns[] = { { .title = "WHAT" },
		{ .title = "MEDIAN", .right = true },
		{ .title = "P99", .right = true },
		{ .title = "PER SECOND", .right = true } };
	struct table *table = table_new(columns, nitems(columns));
	cleanup_free char *log = file_join(b->scratch, "bench.log");
	struct err err = { 0 };

	bench_must(file_read(LLMC_SOURCE "/examples/config.toml", TOML_SIZE_MAX,
		       &b->toml, &err),
	    "toml", &err);
	make_json(&b->json);
	make_objects(&b->flood, RPC_LINE_MAX / 3 - 1);
	make_objects(&b->heavy, RPC_LINE_MAX / JSON_WEIGHT_BYTES / 16 - 1);
	make_repo(b);
	bench_must(
	    log_open(&(struct log_options){
		.component = "bench", .path = log, .level = LOG_LEVEL_INFO }),
	    log, &err);
	for (size_t i = 0; i < nitems(works); i++)
		measure(b, &works[i], table);
	log_close();
	bench_print(table);
}

int
main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	cleanup_free char *scratch =
	    xasprintf("%s/llmc-bench-XXXXXX", tmp != NULL ? tmp : "/tmp");
	cleanup_free char *build = NULL, *llmc = NULL, *repo = NULL;
	struct bench b = { .json = BUF_INIT,
		.flood = BUF_INIT,
		.heavy = BUF_INIT,
		.toml = BUF_INIT };

	if (argc != 2) {
		fputs("usage: bench BUILD\n", stderr);
		return 2;
	}
	build = realpath(argv[1], NULL);
	if (build == NULL || mkdtemp(scratch) == NULL) {
		fprintf(stderr, "bench: %s: %s\n",
		    build == NULL ? argv[1] : scratch, strerror(errno));
		return 1;
	}
	llmc = bench_built(build, "src/cli/llmc");
	repo = file_join(scratch, "repo");
	b.llmc = llmc;
	b.scratch = scratch;
	b.repo = repo;
	b.loop = loop_new();
	bench_all(&b);
	loop_free(b.loop);
	buf_release(&b.json);
	buf_release(&b.flood);
	buf_release(&b.heavy);
	buf_release(&b.toml);
	bench_run("/", (const char *[]){ "rm", "-rf", "--", scratch, NULL });
	return 0;
}
