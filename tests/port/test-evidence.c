/* SPDX-License-Identifier: ISC */

/* What is collected about a failure. */
#include "evidence-world.h"
#include "jsonl.h"
#include "task.h"

#define NOW INT64_C(1700000000000)

TEST(every_part_is_given_and_kept)
{
	cleanup_free char *said = NULL, *parent = NULL;
	ended_by(evidence_world_end) struct workspace ws;
	struct evidence e;
	struct stat st;

	evidence_world_begin(&ws, "every");
	evidence_world_put(&ws, "daemon.json", "{\"pid\":1}\n");
	evidence_world_put(&ws, "auto.heartbeat", "{\"sequence\":2}\n");
	evidence_world_put(&ws, "failure.json", "{\"class\":\"x\"}\n");
	evidence_world_put(&ws, "logs/autod.log", "autod\n");
	evidence_world_put(&ws, "logs/auto.log", "auto\n");
	evidence_world_put(&ws, "logs/task_pool.log", "pool\n");
	evidence_world_put(&ws, "logs/post_accept.log", "post\n");
	evidence_world_put(&ws, "said", "panic\n");
	said = workspace_path(&ws, "said");
	ck_assert_int_eq(evidence_world_try(&ws, getpid(), said,
			     EVIDENCE_WORLD_STAMP, &e, NULL),
	    0);
	parent = workspace_path(&ws, "evidence");
	ck_assert_int_eq(stat(parent, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(stat(e.dir, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_str_eq(strrchr(e.dir, '/'), "/" EVIDENCE_WORLD_STAMP);
	ck_assert_str_eq(e.registration, "{\"pid\":1}\n");
	ck_assert_str_eq(e.heartbeat, "{\"sequence\":2}\n");
	ck_assert_str_eq(e.failure, "{\"class\":\"x\"}\n");
	ck_assert_str_eq(e.autod_log, "autod\n");
	ck_assert_str_eq(e.auto_log, "auto\n");
	ck_assert_str_eq(e.task_pool_log, "pool\n");
	ck_assert_str_eq(e.post_accept_log, "post\n");
	ck_assert_str_eq(e.standard_error, "panic\n");
	evidence_world_kept(e.dir, "daemon.json", e.registration);
	evidence_world_kept(e.dir, "auto.heartbeat", e.heartbeat);
	evidence_world_kept(e.dir, "failure.json", e.failure);
	evidence_world_kept(e.dir, "autod.log", e.autod_log);
	evidence_world_kept(e.dir, "auto.log", e.auto_log);
	evidence_world_kept(e.dir, "task_pool.log", e.task_pool_log);
	evidence_world_kept(e.dir, "post_accept.log", e.post_accept_log);
	evidence_world_kept(e.dir, "stderr.txt", e.standard_error);
	evidence_world_kept(e.dir, "stack.txt", e.stack);
	ck_assert_int_eq(evidence_world_count(e.dir), 9);
	evidence_release(&e);
	ck_assert_ptr_null(e.dir);
	evidence_release(&e);
}

/* What the next daemon replaces is read first; of the file that all of them
 * write to, only what this one said. */
TEST(what_the_next_daemon_says_is_not_taken)
{
	cleanup_free char *said = NULL;
	ended_by(evidence_world_end) struct workspace ws;
	struct evidence e;

	evidence_world_begin(&ws, "next");
	evidence_world_put(&ws, "daemon.json", "{\"pid\":1}\n");
	evidence_world_put(&ws, "said", "before\npanic\nnext\n");
	said = workspace_path(&ws, "said");
	evidence_read_first(&ws, 0, &e);
	evidence_world_put(&ws, "daemon.json", "{\"pid\":2}\n");
	evidence_read_rest(&ws, said, 7, 13, &e);
	ck_assert_str_eq(e.registration, "{\"pid\":1}\n");
	ck_assert_str_eq(e.standard_error, "panic\n");
	evidence_release(&e);
	evidence_read_first(&ws, 0, &e);
	evidence_read_rest(&ws, said, 13, 13, &e);
	ck_assert_ptr_null(e.standard_error);
	evidence_release(&e);
}

TEST(what_is_not_there_is_left_out)
{
	struct workspace ws;
	struct evidence e;

	evidence_world_begin(&ws, "missing");
	evidence_world_put(&ws, "logs/auto.log", "");
	evidence_world_collect(&ws, 0, &e);
	ck_assert_ptr_null(e.registration);
	ck_assert_ptr_null(e.heartbeat);
	ck_assert_ptr_null(e.failure);
	ck_assert_ptr_null(e.autod_log);
	ck_assert_ptr_null(e.auto_log);
	ck_assert_ptr_null(e.standard_error);
	ck_assert_ptr_null(e.workers);
	ck_assert_ptr_null(e.task_error);
	ck_assert_ptr_null(e.stack);
	ck_assert_int_eq(evidence_world_count(e.dir), 0);
	evidence_release(&e);
	evidence_world_end(&ws);
}

TEST(what_cannot_be_read_is_left_out)
{
	cleanup_free char *dir = NULL, *fifo = NULL, *dead = NULL, *loop = NULL;
	struct workspace ws;
	struct evidence e;

	evidence_world_begin(&ws, "unreadable");
	dir = workspace_path(&ws, "logs/autod.log");
	fifo = workspace_path(&ws, "logs/auto.log");
	dead = workspace_path(&ws, "logs/task_pool.log");
	loop = workspace_path(&ws, "logs/post_accept.log");
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(symlink("nowhere", dead), 0);
	ck_assert_int_eq(symlink(loop, loop), 0);
	evidence_world_put(&ws, "daemon.json", "{}");
	evidence_world_collect(&ws, 0, &e);
	ck_assert_ptr_null(e.autod_log);
	ck_assert_ptr_null(e.auto_log);
	ck_assert_ptr_null(e.task_pool_log);
	ck_assert_ptr_null(e.post_accept_log);
	ck_assert_str_eq(e.registration, "{}");
	ck_assert_int_eq(evidence_world_count(e.dir), 1);
	evidence_release(&e);
	evidence_world_end(&ws);
}

TEST(of_a_long_log_the_last_whole_lines_are_taken)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct workspace ws;
	struct evidence e;

	evidence_world_begin(&ws, "long");
	for (int i = 0; text.len < 3 * EVIDENCE_PART_MAX; i++)
		buf_addf(&text, "line %d\n", i);
	buf_adds(&text, "the last");
	evidence_world_put_bytes(&ws, "logs/autod.log", text.data, text.len);
	evidence_world_collect(&ws, 0, &e);
	ck_assert_uint_le(strlen(e.autod_log), EVIDENCE_PART_MAX);
	ck_assert_uint_gt(strlen(e.autod_log), EVIDENCE_PART_MAX - 20);
	ck_assert_int_eq(strncmp(e.autod_log, "line ", 5), 0);
	ck_assert_str_eq(
	    e.autod_log, text.data + text.len - strlen(e.autod_log));
	evidence_world_kept(e.dir, "autod.log", e.autod_log);
	evidence_release(&e);
	evidence_world_end(&ws);
}

TEST(a_log_at_the_bound_is_whole_and_one_endless_line_is_kept)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct workspace ws;
	struct evidence e;

	evidence_world_begin(&ws, "bound");
	buf_adds(&text, "first\n");
	while (text.len < EVIDENCE_PART_MAX)
		buf_addc(&text, 'x');
	evidence_world_put_bytes(&ws, "logs/autod.log", text.data, text.len);
	evidence_world_put_bytes(
	    &ws, "logs/auto.log", text.data + 6, text.len - 6);
	buf_addc(&text, 'x');
	evidence_world_put_bytes(
	    &ws, "logs/task_pool.log", text.data, text.len);
	buf_adds(&text, "123456");
	evidence_world_put_bytes(
	    &ws, "logs/post_accept.log", text.data, text.len);
	evidence_world_collect(&ws, 0, &e);
	ck_assert_uint_eq(strlen(e.autod_log), EVIDENCE_PART_MAX);
	ck_assert_uint_eq(strlen(e.auto_log), EVIDENCE_PART_MAX - 6);
	ck_assert_uint_eq(strlen(e.task_pool_log), EVIDENCE_PART_MAX - 5);
	ck_assert_int_eq(e.task_pool_log[0], 'x');
	ck_assert_uint_eq(strlen(e.post_accept_log), EVIDENCE_PART_MAX);
	evidence_release(&e);
	evidence_world_end(&ws);
}

TEST(a_nul_does_not_end_a_text)
{
	struct workspace ws;
	struct evidence e;

	evidence_world_begin(&ws, "nul");
	evidence_world_put_bytes(&ws, "logs/autod.log", "a\0\0b\n\xff\0", 7);
	evidence_world_put_bytes(&ws, "failure.json", "\0\0\0", 3);
	evidence_world_collect(&ws, 0, &e);
	ck_assert_str_eq(e.autod_log, "ab\n\xff");
	ck_assert_ptr_null(e.failure);
	evidence_release(&e);
	evidence_world_end(&ws);
}

TEST(workers_have_a_line_each)
{
	struct workspace ws;
	struct evidence e;

	clock_virtual_begin(1000, NOW);
	evidence_world_begin(&ws, "workers");
	evidence_world_put(&ws, "auto.heartbeat",
	    "{\"sequence\": 3, \"workers\": [\"auto-1 working task t3 since "
	    "12m\", \"bob offline since 0s\"]}\n");
	evidence_world_collect(&ws, 0, &e);
	ck_assert_str_eq(e.workers,
	    "auto-1 working task t3 since 12m\n"
	    "bob offline since 0s\n");
	evidence_world_kept(e.dir, "workers.txt", e.workers);
	evidence_release(&e);
	/* Of an older daemon, a broken one. */
	evidence_world_put(&ws, "auto.heartbeat", "{\"sequence\": 3}\n");
	evidence_world_collect(&ws, 0, &e);
	ck_assert_ptr_null(e.workers);
	evidence_release(&e);
	evidence_world_put(&ws, "auto.heartbeat", "{\"workers\": [");
	evidence_world_collect(&ws, 0, &e);
	ck_assert_ptr_null(e.workers);
	evidence_release(&e);
	evidence_world_end(&ws);
	clock_virtual_end();
}

static void
file_task(const struct workspace *ws, const char *id, enum task_outcome outcome,
    const char *reason)
{
	cleanup_free char *path = workspace_path(ws, "logs/auto.log");
	cleanup_json struct json_object *json = json_object_new_object();
	struct json_object *event = json_object_new_object();

	json_set_string(event, "type", "task_finished");
	json_set_string(event, "task", id);
	json_set_string(event, "title", "Do it");
	json_set_string(event, "outcome", task_outcome_name(outcome));
	json_set_string(event, "reason", reason);
	json_set(json, "event", event);
	ck_assert_int_eq(jsonl_append(path, json, 0, 0, NULL), 0);
}

static void
expect_task_error(const struct workspace *ws, const char *want)
{
	struct evidence e;

	evidence_world_collect(ws, 0, &e);
	if (want == NULL)
		ck_assert_ptr_null(e.task_error);
	else
		ck_assert_str_eq(e.task_error, want);
	evidence_release(&e);
}

TEST(the_last_task_that_failed_is_told)
{
	cleanup_free char *path = NULL;
	ended_by(evidence_world_end) struct workspace ws;

	evidence_world_begin(&ws, "tasks");
	path = workspace_path(&ws, "logs/auto.log");
	file_task(&ws, "t1", OUTCOME_LANDED, NULL);
	file_task(&ws, "t2", OUTCOME_NO_CHANGES, NULL);
	file_task(&ws, "t3", OUTCOME_ABORTED, "a person");
	expect_task_error(&ws, NULL);
	file_task(&ws, "t4", OUTCOME_FAILED, "tests\nfail");
	expect_task_error(&ws, "task t4 failed: Do it\ntests\nfail\n");
	file_task(&ws, "t5", OUTCOME_DEAD_LETTER, NULL);
	file_task(&ws, "t6", OUTCOME_LANDED, NULL);
	ck_assert_int_eq(
	    file_append(path, "no json\n[1]\n{\"event\":{\"x\":7}}\n", 30, 0600,
		false, NULL),
	    0);
	ck_assert_int_eq(
	    file_append(path, "{\"outcome\":\"failed\"", 19, 0600, false, NULL),
	    0);
	expect_task_error(&ws, "task t5 dead-letter: Do it\n");
}

TEST(a_stopped_process_shows_where_it_is)
{
	ended_by(evidence_world_end) struct workspace ws;
	struct evidence e;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		raise(SIGSTOP);
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	evidence_world_begin(&ws, "stopped");
	evidence_world_collect(&ws, pid, &e);
	ck_assert_ptr_nonnull(e.stack);
	ck_assert_int_eq(strncmp(e.stack, "State:\tT (stopped)\n", 19), 0);
	ck_assert_ptr_nonnull(strstr(e.stack, "\nwchan: "));
	evidence_world_kept(e.dir, "stack.txt", e.stack);
	evidence_release(&e);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	evidence_world_collect(&ws, pid, &e);
	ck_assert_ptr_null(e.stack);
	evidence_release(&e);
}
