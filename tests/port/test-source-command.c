/* SPDX-License-Identifier: ISC */

#include "source-world.h"

#include <sched.h>

#include "errand.h"
#include "jsonl.h"

#define TIMEOUT_MS 30000

/* A world with its own folder, which is the command's working directory. */
static struct source_world *
open_world(const char *name, const char *command)
{
	struct source_world *world =
	    source_world_new(SOURCE_COMMAND, command, NULL);
	const char *root = unit_path(name);
	cleanup_free char *run = xasprintf("%s/run", name);
	cleanup_free char *log = xasprintf("%s/task_pool.log", name);

	ck_assert_int_eq(file_mkdirs(root, 0700, NULL), 0);
	world->options.cwd = root;
	world->options.run_dir = unit_path(run);
	world->options.log = unit_path(log);
	world->options.timeout_ms = TIMEOUT_MS;
	source_world_reopen(world);
	return world;
}

static bool
has_errand(struct source_world *world)
{
	char name[64];

	return errand_find(world->options.run_dir, name, sizeof name);
}

/* How often did the command run? Each run appends a byte to "runs". */
static size_t
count_runs(struct source_world *world)
{
	cleanup_free char *path = file_join(world->options.cwd, "runs");
	cleanup_free char *text = source_world_read(path);

	return strlen(text);
}

struct records {
	struct json_object *last;
	int count;
};

static bool
keep_record(struct json_object *record, void *arg)
{
	struct records *records = arg;

	json_object_put(records->last);
	records->last = json_object_get(record);
	records->count++;
	return true;
}

/* The last record of the log; the caller owns it. */
static struct json_object *
last_record(struct source_world *world, int count)
{
	struct records records = { NULL, 0 };

	ck_assert_int_eq(
	    jsonl_last(world->options.log, 0, keep_record, &records, NULL), 0);
	ck_assert_int_eq(records.count, count);
	return records.last;
}

TEST(the_first_line_may_be_a_priority)
{
	struct source_world *world =
	    open_world("priority", "printf 'Priority: urgent\\n\\nDo it\\n'");

	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->text, "Do it");
	ck_assert_int_eq(world->priority, PRIORITY_URGENT);
	source_world_free(world);
	/* Nothing else is no task. */
	world = open_world("nothing", "echo Priority: urgent");
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_EMPTY);
	source_world_free(world);
}

TEST(text_is_a_task)
{
	struct source_world *world = open_world("task",
	    "printf x >>runs; pwd >&2; printf '\\nDo it\\r\\nnow \\\\\\n'");
	cleanup_json struct json_object *record = NULL;
	cleanup_free char *key = NULL;

	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->text, "Do it\nnow \\ ");
	ck_assert_ptr_null(world->title);
	ck_assert_ptr_null(world->label);
	ck_assert_int_eq(world->priority, PRIORITY_NORMAL);
	ck_assert(has_errand(world));
	key = xstrdup(world->key);
	ck_assert_int_eq(source_take(world->source, key, "w", NULL), 0);
	ck_assert(!has_errand(world));
	ck_assert_int_eq(source_take(world->source, key, "w", NULL), 0);
	ck_assert_int_eq(
	    source_settle(world->source, key, OUTCOME_LANDED, NULL, NULL), 0);
	ck_assert_int_eq(source_recover(world->source, NULL, NULL), 0);
	source_world_watch(world);
	record = last_record(world, 1);
	ck_assert_str_eq(json_string_or(record, "level", ""), "INFO");
	ck_assert_str_eq(
	    json_string_or(record, "command", ""), world->options.where);
	ck_assert_int_eq(json_int_or(record, "exit_code", -2), 0);
	ck_assert_int_ge(json_int_or(record, "duration_ms", -1), 0);
	ck_assert_str_eq(
	    json_string_or(record, "stdout", ""), "\nDo it\r\nnow \\\n");
	ck_assert_ptr_nonnull(
	    strstr(json_string_or(record, "stderr", ""), world->options.cwd));
	ck_assert_uint_eq(strlen(json_string_or(record, "timestamp", "")), 24);
	/* Another task has another key. */
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
	ck_assert_str_ne(world->key, key);
	ck_assert_uint_eq(count_runs(world), 2);
	source_world_free(world);
}

TEST(blank_output_and_status_4_are_no_task)
{
	static const char *const commands[] = { "true", "printf ' \\n\\t\\n'",
		"exit 4", "echo half a task; echo no >&2; exit 4" };

	for (size_t i = 0; i < nitems(commands); i++) {
		cleanup_free char *name = xasprintf("none-%zu", i);
		struct source_world *world = open_world(name, commands[i]);
		cleanup_json struct json_object *record = NULL;

		source_world_expect(world, NULL);
		ck_assert(!has_errand(world));
		record = last_record(world, 1);
		ck_assert_str_eq(json_string_or(record, "level", ""), "INFO");
		source_world_free(world);
	}
}

TEST(every_failure_has_its_class)
{
	static const struct {
		const char *command, *class, *words;
		int status;
	} rows[] = {
		{ "echo half; echo 'oh no' >&2; exit 1", "task_pool_failed",
		    "failed with exit status 1:\noh no", 1 },
		{ "exit 3", "task_pool_claims", "exit status 3", 3 },
		{ "no-such-program-anywhere", "task_pool_failed",
		    "was not found (exit status 127):\n", 127 },
		{ "kill -9 $$", "task_pool_failed", "137", 137 },
		{ "printf 'caf\\351'", "task_pool_text", "not valid UTF-8", 0 },
		{ "printf 'a\\000b'", "task_pool_text", "not valid UTF-8", 0 },
		{ "head -c 1048577 /dev/zero | tr '\\000' x", "task_pool_text",
		    "more than 1 MiB", 0 },
		{ "printf '1\\n2\\n\\n3\\n4\\n\\0335\\n6\\n' >&2; exit 9",
		    "task_pool_failed", "status 9:\n1\n2\n3\n4\n\\x1b5", 9 },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *name = xasprintf("failure-%zu", i);
		struct source_world *world = open_world(name, rows[i].command);
		cleanup_json struct json_object *record = NULL;

		ck_assert_int_eq(
		    source_world_ask(world, NULL, NULL), SOURCE_FAILED);
		ck_assert_str_eq(world->class, rows[i].class);
		ck_assert_int_eq(world->status, rows[i].status);
		ck_assert_msg(strstr(world->words, rows[i].words) != NULL, "%s",
		    world->words);
		if (rows[i].status == 9) /* five lines, not six */
			ck_assert_ptr_null(strchr(world->words, '6'));
		/* It does not fail again for the next daemon. */
		ck_assert(!has_errand(world));
		record = last_record(world, 1);
		ck_assert_str_eq(json_string_or(record, "level", ""),
		    rows[i].status == 0 ? "INFO" : "ERROR");
		ck_assert_int_eq(
		    json_int_or(record, "exit_code", -2), rows[i].status);
		source_world_free(world);
	}
}

TEST(as_much_text_as_fits_is_taken)
{
	struct source_world *world =
	    open_world("most", "head -c 1048576 /dev/zero | tr '\\000' x");
	cleanup_json struct json_object *record = NULL;

	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
	ck_assert_uint_eq(strlen(world->text), 1048576);
	record = last_record(world, 1);
	ck_assert_str_eq(json_string_or(record, "stdout", ""), world->text);
	source_world_free(world);
}

TEST(a_command_that_takes_too_long_is_ended)
{
	struct source_world *world =
	    open_world("long", "echo half; exec sleep 1000");
	cleanup_json struct json_object *record = NULL;

	world->options.timeout_ms = 300;
	source_world_reopen(world);
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_FAILED);
	ck_assert_str_eq(world->class, "task_pool_timeout");
	ck_assert_ptr_nonnull(strstr(world->words, "longer than 300ms"));
	ck_assert(!has_errand(world));
	record = last_record(world, 1);
	ck_assert_str_eq(json_string_or(record, "level", ""), "ERROR");
	source_world_free(world);
}

TEST(wrong_options_are_refused)
{
	cleanup_source_world struct source_world *world =
	    open_world("options", "true");
	struct source_options options = world->options;
	struct source *source = NULL;
	cleanup_json struct json_object *list = NULL;

	options.timeout_ms = 0;
	ck_assert_int_eq(source_new(&options, &source, NULL), -EINVAL);
	options = world->options;
	options.run_dir = NULL;
	ck_assert_int_eq(source_new(&options, &source, NULL), -EINVAL);
	ck_assert_ptr_null(source);
	list = source_list(SOURCE_COMMAND, "true", 0, NULL);
	ck_assert_uint_eq(json_object_array_length(list), 0);
}

TEST(no_working_directory_is_a_failure_in_words)
{
	cleanup_source_world struct source_world *world =
	    open_world("cwd", "echo x");

	world->options.cwd = unit_path("cwd/nowhere");
	source_world_reopen(world);
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_FAILED);
	ck_assert_str_eq(world->class, "task_pool_failed");
	ck_assert_int_eq(world->status, 126);
	ck_assert_ptr_nonnull(strstr(world->words, "chdir"));
}

TEST(a_log_that_cannot_be_written_stops_nobody)
{
	cleanup_source_world struct source_world *world =
	    open_world("log", "echo x");

	world->options.log = unit_path("log/no/such/folder");
	source_world_reopen(world);
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
	world->options.log = NULL;
	source_world_reopen(world);
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
}

/* --- crashes ---------------------------------------------------------- */

TEST(an_answer_that_nobody_wrote_down_is_offered_again)
{
	struct source_world *world =
	    open_world("again", "printf x >>runs; echo task");
	cleanup_free char *key = NULL;

	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
	key = xstrdup(world->key);
	source_world_reopen(world);
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->key, key);
	ck_assert_str_eq(world->text, "task");
	ck_assert_uint_eq(count_runs(world), 1);
	source_world_free(world);
}

TEST(an_answer_that_was_written_down_is_forgotten)
{
	struct source_world *world =
	    open_world("written", "printf x >>runs; echo task");
	cleanup_free char *key = NULL;
	const char *keys[] = { NULL, NULL };

	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
	keys[0] = key = xstrdup(world->key);
	source_world_reopen(world);
	ck_assert_int_eq(source_world_ask(world, NULL, keys), SOURCE_OFFER);
	ck_assert_str_ne(world->key, key);
	ck_assert_uint_eq(count_runs(world), 2);
	/* It crashed before the task was taken: take it now. */
	ck_assert_int_eq(source_take(world->source, key, "w", NULL), 0);
	ck_assert(has_errand(world));
	source_world_free(world);
}

TEST(a_command_that_runs_is_taken_up_by_the_next)
{
	struct source_world *world = open_world("running",
	    "printf x >>runs; until [ -e go ]; do read -r _ <none; done;"
	    "echo task");
	cleanup_free char *go = file_join(world->options.cwd, "go");
	cleanup_free char *runs = file_join(world->options.cwd, "runs");
	cleanup_free char *none = file_join(world->options.cwd, "none");
	int status;
	pid_t pid;

	source_world_put(none, "", 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) { /* a daemon that dies while the command runs */
		world->source = NULL; /* belongs to the parent, like its loop */
		world->loop = world->options.loop = loop_new();
		source_world_reopen(world);
		source_world_begin(world);
		source_world_wait_answer(world);
		_exit(1);
	}
	while (!file_exists(runs))
		sched_yield();
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	source_world_put(go, "", 0);
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->text, "task");
	ck_assert_uint_eq(count_runs(world), 1);
	source_world_free(world);
}

static void
stop_when_run(void *arg)
{
	struct source_world *world = arg;
	cleanup_free char *runs = file_join(world->options.cwd, "runs");

	if (file_exists(runs))
		loop_stop(world->loop, 0);
}

TEST(a_source_that_is_freed_lets_its_command_go_on)
{
	struct source_world *world = open_world("freed",
	    "printf x >>runs; until [ -e go ]; do read -r _ <none; done;"
	    "echo task");
	cleanup_free char *go = file_join(world->options.cwd, "go");
	cleanup_free char *none = file_join(world->options.cwd, "none");
	struct loop_timer *timer;

	source_world_put(none, "", 0);
	source_world_begin(world);
	timer = loop_every(world->loop, 5, stop_when_run, world);
	loop_run(world->loop);
	loop_timer_free(timer);
	ck_assert(source_asking(world->source));
	source_world_reopen(world);
	source_world_put(go, "", 0);
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
	ck_assert_uint_eq(count_runs(world), 1);
	source_world_free(world);
}

TEST(a_broken_record_of_a_command_is_forgotten)
{
	cleanup_source_world struct source_world *world =
	    open_world("broken", "echo task");
	cleanup_free char *path =
	    xasprintf("%s/0.json", world->options.run_dir);

	source_world_put(path, "{\"comm", 0);
	ck_assert_int_eq(source_world_ask(world, NULL, NULL), SOURCE_OFFER);
	ck_assert_str_eq(world->text, "task");
	ck_assert(!file_exists(path));
}
