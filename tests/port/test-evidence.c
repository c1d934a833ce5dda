/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "errtext.h"
#include "evidence.h"
#include "file.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "state.h"
#include "task.h"
#include "unit.h"
#include "worker.h"
#include "workspace.h"

#define STAMP "20260131T081530Z"
#define NOW   INT64_C(1700000000000)

/* A workspace that is only a folder. */
static void
place_begin(struct workspace *ws, const char *name)
{
	cleanup_free char *logs = NULL;

	memset(ws, 0, sizeof *ws);
	ws->dir = xstrdup(unit_path(name));
	logs = workspace_path(ws, "logs");
	ck_assert_int_eq(file_mkdirs(logs, 0700, NULL), 0);
}

static void
place_end(struct workspace *ws)
{
	free(ws->dir);
}

static void
put_bytes(
    const struct workspace *ws, const char *name, const void *bytes, size_t len)
{
	cleanup_free char *path = workspace_path(ws, name);
	cleanup_fd int fd =
	    open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, bytes, len), 0);
}

static void
put(const struct workspace *ws, const char *name, const char *text)
{
	put_bytes(ws, name, text, strlen(text));
}

static int
evidence_collect(const struct workspace *ws, pid_t pid, const char *said,
    const char *stamp, struct evidence *evidence, struct err *err)
{
	evidence_read(ws, pid, said, evidence);
	return evidence_save(ws, stamp, evidence, err);
}

static void
collect(const struct workspace *ws, pid_t pid, struct evidence *evidence)
{
	struct err err = { 0, "" };

	ck_assert_msg(
	    evidence_collect(ws, pid, NULL, STAMP, evidence, &err) == 0, "%s",
	    err.msg);
	ck_assert_ptr_nonnull(evidence->dir);
}

static int
count_in(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count - 2;
}

static void
expect_kept(const char *dir, const char *name, const char *text)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_buf struct buf found = BUF_INIT;
	struct stat st;

	ck_assert_int_eq(file_read(path, EVIDENCE_PART_MAX, &found, NULL), 0);
	ck_assert_str_eq(found.data, text);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
}

START_TEST(every_part_is_given_and_kept)
{
	cleanup_free char *said = NULL, *parent = NULL;
	struct workspace ws;
	struct evidence e;
	struct stat st;

	place_begin(&ws, "every");
	put(&ws, "daemon.json", "{\"pid\":1}\n");
	put(&ws, "auto.heartbeat", "{\"sequence\":2}\n");
	put(&ws, "failure.json", "{\"class\":\"x\"}\n");
	put(&ws, "logs/autod.log", "autod\n");
	put(&ws, "logs/auto.log", "auto\n");
	put(&ws, "logs/task_pool.log", "pool\n");
	put(&ws, "logs/post_accept.log", "post\n");
	put(&ws, "said", "panic\n");
	said = workspace_path(&ws, "said");
	ck_assert_int_eq(
	    evidence_collect(&ws, getpid(), said, STAMP, &e, NULL), 0);
	parent = workspace_path(&ws, "evidence");
	ck_assert_int_eq(stat(parent, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(stat(e.dir, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_str_eq(strrchr(e.dir, '/'), "/" STAMP);
	ck_assert_str_eq(e.registration, "{\"pid\":1}\n");
	ck_assert_str_eq(e.heartbeat, "{\"sequence\":2}\n");
	ck_assert_str_eq(e.failure, "{\"class\":\"x\"}\n");
	ck_assert_str_eq(e.autod_log, "autod\n");
	ck_assert_str_eq(e.auto_log, "auto\n");
	ck_assert_str_eq(e.task_pool_log, "pool\n");
	ck_assert_str_eq(e.post_accept_log, "post\n");
	ck_assert_str_eq(e.standard_error, "panic\n");
	expect_kept(e.dir, "daemon.json", e.registration);
	expect_kept(e.dir, "auto.heartbeat", e.heartbeat);
	expect_kept(e.dir, "failure.json", e.failure);
	expect_kept(e.dir, "autod.log", e.autod_log);
	expect_kept(e.dir, "auto.log", e.auto_log);
	expect_kept(e.dir, "task_pool.log", e.task_pool_log);
	expect_kept(e.dir, "post_accept.log", e.post_accept_log);
	expect_kept(e.dir, "stderr.txt", e.standard_error);
	expect_kept(e.dir, "stack.txt", e.stack);
	ck_assert_int_eq(count_in(e.dir), 9);
	evidence_release(&e);
	ck_assert_ptr_null(e.dir);
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

START_TEST(what_is_not_there_is_left_out)
{
	struct workspace ws;
	struct evidence e;

	place_begin(&ws, "missing");
	put(&ws, "logs/auto.log", "");
	collect(&ws, 0, &e);
	ck_assert_ptr_null(e.registration);
	ck_assert_ptr_null(e.heartbeat);
	ck_assert_ptr_null(e.failure);
	ck_assert_ptr_null(e.autod_log);
	ck_assert_ptr_null(e.auto_log);
	ck_assert_ptr_null(e.standard_error);
	ck_assert_ptr_null(e.workers);
	ck_assert_ptr_null(e.task_error);
	ck_assert_ptr_null(e.stack);
	ck_assert_int_eq(count_in(e.dir), 0);
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

START_TEST(what_cannot_be_read_is_left_out)
{
	cleanup_free char *dir = NULL, *fifo = NULL, *dead = NULL, *loop = NULL;
	struct workspace ws;
	struct evidence e;

	place_begin(&ws, "unreadable");
	dir = workspace_path(&ws, "logs/autod.log");
	fifo = workspace_path(&ws, "logs/auto.log");
	dead = workspace_path(&ws, "logs/task_pool.log");
	loop = workspace_path(&ws, "logs/post_accept.log");
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(symlink("nowhere", dead), 0);
	ck_assert_int_eq(symlink(loop, loop), 0);
	put(&ws, "daemon.json", "{}");
	collect(&ws, 0, &e);
	ck_assert_ptr_null(e.autod_log);
	ck_assert_ptr_null(e.auto_log);
	ck_assert_ptr_null(e.task_pool_log);
	ck_assert_ptr_null(e.post_accept_log);
	ck_assert_str_eq(e.registration, "{}");
	ck_assert_int_eq(count_in(e.dir), 1);
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

START_TEST(of_a_long_log_the_last_whole_lines_are_taken)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct workspace ws;
	struct evidence e;

	place_begin(&ws, "long");
	for (int i = 0; text.len < 3 * EVIDENCE_PART_MAX; i++)
		buf_addf(&text, "line %d\n", i);
	buf_adds(&text, "the last");
	put_bytes(&ws, "logs/autod.log", text.data, text.len);
	collect(&ws, 0, &e);
	ck_assert_uint_le(strlen(e.autod_log), EVIDENCE_PART_MAX);
	ck_assert_uint_gt(strlen(e.autod_log), EVIDENCE_PART_MAX - 20);
	ck_assert_int_eq(strncmp(e.autod_log, "line ", 5), 0);
	ck_assert_str_eq(
	    e.autod_log, text.data + text.len - strlen(e.autod_log));
	expect_kept(e.dir, "autod.log", e.autod_log);
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

START_TEST(a_log_at_the_bound_is_whole_and_one_endless_line_is_kept)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct workspace ws;
	struct evidence e;

	place_begin(&ws, "bound");
	buf_adds(&text, "first\n");
	while (text.len < EVIDENCE_PART_MAX)
		buf_addc(&text, 'x');
	put_bytes(&ws, "logs/autod.log", text.data, text.len);
	put_bytes(&ws, "logs/auto.log", text.data + 6, text.len - 6);
	buf_addc(&text, 'x');
	put_bytes(&ws, "logs/task_pool.log", text.data, text.len);
	buf_adds(&text, "123456");
	put_bytes(&ws, "logs/post_accept.log", text.data, text.len);
	collect(&ws, 0, &e);
	ck_assert_uint_eq(strlen(e.autod_log), EVIDENCE_PART_MAX);
	ck_assert_uint_eq(strlen(e.auto_log), EVIDENCE_PART_MAX - 6);
	ck_assert_uint_eq(strlen(e.task_pool_log), EVIDENCE_PART_MAX - 5);
	ck_assert_int_eq(e.task_pool_log[0], 'x');
	ck_assert_uint_eq(strlen(e.post_accept_log), EVIDENCE_PART_MAX);
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

START_TEST(a_nul_does_not_end_a_text)
{
	struct workspace ws;
	struct evidence e;

	place_begin(&ws, "nul");
	put_bytes(&ws, "logs/autod.log", "a\0\0b\n\xff\0", 7);
	put_bytes(&ws, "failure.json", "\0\0\0", 3);
	collect(&ws, 0, &e);
	ck_assert_str_eq(e.autod_log, "ab\n\xff");
	ck_assert_ptr_null(e.failure);
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

START_TEST(failures_of_one_second_have_folders_of_their_own)
{
	struct workspace ws;
	struct evidence e;
	struct err err = { 0, "" };

	place_begin(&ws, "second");
	put(&ws, "daemon.json", "{}");
	collect(&ws, 0, &e);
	evidence_release(&e);
	put(&ws, "daemon.json", "[]");
	collect(&ws, 0, &e);
	ck_assert_str_eq(strrchr(e.dir, '/'), "/" STAMP "-02");
	expect_kept(e.dir, "daemon.json", "[]");
	evidence_release(&e);
	/* Those that nobody can remove fill up the names. */
	for (int i = 3; i <= 99; i++) {
		cleanup_free char *name =
		    xasprintf("evidence/%s-%02d/mine", STAMP, i);
		cleanup_free char *path = workspace_path(&ws, name);

		ck_assert_int_eq(file_mkdirs(path, 0700, NULL), 0);
	}
	ck_assert_int_eq(evidence_collect(&ws, 0, NULL, STAMP, &e, NULL), 0);
	ck_assert_str_eq(strrchr(e.dir, '/'), "/" STAMP);
	evidence_release(&e);
	ck_assert_int_eq(evidence_collect(&ws, 0, NULL, STAMP, &e, NULL), 0);
	ck_assert_str_eq(strrchr(e.dir, '/'), "/" STAMP);
	evidence_release(&e);
	for (int i = 1; i <= 2; i++) {
		cleanup_free char *name =
		    xasprintf("evidence/%s%s/mine", STAMP, i == 1 ? "" : "-02");
		cleanup_free char *path = workspace_path(&ws, name);

		ck_assert_int_eq(file_mkdirs(path, 0700, NULL), 0);
	}
	ck_assert_int_eq(
	    evidence_collect(&ws, 0, NULL, STAMP, &e, &err), -EEXIST);
	ck_assert_ptr_null(e.dir);
	ck_assert_str_eq(e.registration, "[]");
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

START_TEST(the_oldest_folders_go)
{
	cleanup_free char *parent = NULL;
	struct workspace ws;
	struct evidence e;

	place_begin(&ws, "oldest");
	parent = workspace_path(&ws, "evidence");
	put(&ws, "daemon.json", "{}");
	for (int i = 0; i < EVIDENCE_KEEP + 5; i++) {
		cleanup_free char *stamp = xasprintf("20260131T08%02d00Z", i);
		cleanup_free char *first = NULL;

		ck_assert_int_eq(
		    evidence_collect(&ws, 0, NULL, stamp, &e, NULL), 0);
		evidence_release(&e);
		ck_assert_int_eq(count_in(parent),
		    i < EVIDENCE_KEEP ? i + 1 : EVIDENCE_KEEP);
		first = file_join(parent, "20260131T080000Z");
		ck_assert_int_eq(file_exists(first), i < EVIDENCE_KEEP);
	}
	place_end(&ws);
}
END_TEST

START_TEST(what_is_not_ours_stays_in_the_folder)
{
	static const char *const mine[] = { "evidence/keep/notes",
		"evidence/1999/of a person/notes" };
	cleanup_free char *outside = NULL, *link = NULL, *linked = NULL;
	struct workspace ws;
	struct evidence e;

	place_begin(&ws, "foreign");
	for (size_t i = 0; i < nitems(mine); i++) {
		cleanup_free char *path = workspace_path(&ws, mine[i]);

		*strrchr(path, '/') = '\0';
		ck_assert_int_eq(file_mkdirs(path, 0700, NULL), 0);
		put(&ws, mine[i], "mine");
	}
	outside = workspace_path(&ws, "outside");
	ck_assert_int_eq(mkdir(outside, 0700), 0);
	put(&ws, "outside/notes", "mine");
	link = workspace_path(&ws, "evidence/1998");
	ck_assert_int_eq(symlink(outside, link), 0);
	for (int i = 0; i < EVIDENCE_KEEP + 5; i++) {
		collect(&ws, 0, &e);
		evidence_release(&e);
	}
	for (size_t i = 0; i < nitems(mine); i++) {
		cleanup_free char *path = workspace_path(&ws, mine[i]);

		ck_assert(file_exists(path));
	}
	linked = workspace_path(&ws, "outside/notes");
	ck_assert(file_exists(linked));
	place_end(&ws);
}
END_TEST

/* As on a full disk: no file may grow beyond max bytes. */
static int
collect_within(const struct workspace *ws, rlim_t max,
    struct evidence *evidence, struct err *err)
{
	struct rlimit old, less;
	int r;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	less = old;
	less.rlim_cur = max;
	setrlimit(RLIMIT_FSIZE, &less); /* holds for check's files too */
	r = evidence_collect(ws, 0, NULL, STAMP, evidence, err);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	return r;
}

START_TEST(on_a_full_disk_the_texts_are_given)
{
	cleanup_free char *parent = NULL;
	struct workspace ws;
	struct evidence e;
	struct err err = { 0, "" };

	place_begin(&ws, "full");
	parent = workspace_path(&ws, "evidence");
	put(&ws, "daemon.json", "{}");
	put(&ws, "logs/autod.log", "no space left\n");
	ck_assert_int_eq(collect_within(&ws, 0, &e, &err), -EFBIG);
	ck_assert_ptr_nonnull(strstr(err.msg, ws.dir));
	ck_assert_ptr_null(e.dir);
	ck_assert_str_eq(e.registration, "{}");
	ck_assert_str_eq(e.autod_log, "no space left\n");
	ck_assert_int_eq(count_in(parent), 0);
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

START_TEST(what_does_not_fit_on_the_disk_is_left_out)
{
	struct workspace ws;
	struct evidence e;
	char text[500];

	place_begin(&ws, "tight");
	memset(text, 'x', sizeof text);
	put(&ws, "daemon.json", "{}");
	put_bytes(&ws, "logs/autod.log", text, sizeof text);
	ck_assert_int_eq(collect_within(&ws, 100, &e, NULL), 0);
	expect_kept(e.dir, "daemon.json", "{}");
	ck_assert_int_eq(count_in(e.dir), 1);
	ck_assert_uint_eq(strlen(e.autod_log), sizeof text);
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

START_TEST(without_a_place_for_it_nothing_is_made)
{
	struct workspace ws = { 0 };
	struct evidence e;
	struct err err = { 0, "" };
	cleanup_free char *dir = xstrdup(unit_path("no-such-folder"));

	ws.dir = dir;
	ck_assert_int_eq(
	    evidence_collect(&ws, getpid(), NULL, STAMP, &e, &err), -ENOENT);
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_ptr_null(e.dir);
	ck_assert_ptr_nonnull(e.stack);
	ck_assert(!file_exists(dir));
	evidence_release(&e);
	place_begin(&ws, "blocked");
	put(&ws, "evidence", "a file");
	put(&ws, "daemon.json", "{}");
	ck_assert_int_eq(
	    evidence_collect(&ws, 0, NULL, STAMP, &e, NULL), -ENOTDIR);
	ck_assert_str_eq(e.registration, "{}");
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

static void
save_workers(const struct workspace *ws)
{
	struct worker *w = worker_new("auto-1", NOW - 12 * 60 * 1000);
	struct state state;

	state_init(&state);
	w->status = WORKER_WORKING;
	xstrset(&w->task, "t3");
	state_add(&state, w);
	w = worker_new("auto-2", NOW - 3661 * 1000);
	w->status = WORKER_ERROR;
	xstrset(&w->reason, "it broke\nbadly");
	state_add(&state, w);
	state_add(&state, worker_new("bob", NOW));
	ck_assert_int_eq(state_save(ws, &state, NULL), 0);
	state_release(&state);
}

START_TEST(workers_have_a_line_each)
{
	struct workspace ws;
	struct evidence e;

	clock_virtual_begin(1000, NOW);
	place_begin(&ws, "workers");
	save_workers(&ws);
	collect(&ws, 0, &e);
	ck_assert_str_eq(e.workers,
	    "auto-1 working task t3 since 12m\n"
	    "auto-2 error since 1h1m: it broke\\x0abadly\n"
	    "bob offline since 0s\n");
	expect_kept(e.dir, "workers.txt", e.workers);
	evidence_release(&e);
	place_end(&ws);
	clock_virtual_end();
}
END_TEST

START_TEST(a_broken_state_is_told_and_left_as_it_is)
{
	cleanup_free char *file = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct workspace ws;
	struct evidence e;

	clock_virtual_begin(1000, NOW);
	place_begin(&ws, "broken");
	file = workspace_path(&ws, "state.json");
	put(&ws, "state.json", "{\"workers\":");
	collect(&ws, 0, &e);
	ck_assert_int_eq(e.workers[0], '(');
	ck_assert_ptr_nonnull(strstr(e.workers, "state.json"));
	evidence_release(&e);

	ck_assert_int_eq(unlink(file), 0);
	save_workers(&ws);
	save_workers(&ws);
	put(&ws, "state.json", "{\"workers\":");
	collect(&ws, 0, &e);
	ck_assert_int_eq(strncmp(e.workers, "(from the backup: ", 18), 0);
	ck_assert_ptr_nonnull(strstr(e.workers, "\nauto-1 working task t3 "));
	evidence_release(&e);
	ck_assert_int_eq(file_read(file, 100, &text, NULL), 0);
	ck_assert_str_eq(text.data, "{\"workers\":");
	place_end(&ws);
	clock_virtual_end();
}
END_TEST

static void
file_task(const struct workspace *ws, const char *id, enum task_outcome outcome,
    const char *reason)
{
	cleanup_free char *path = workspace_path(ws, "tasks.jsonl");
	struct task *task =
	    task_new(id, "files", id, "Do it", "Do it now", NOW);
	cleanup_json struct json_object *json = NULL;

	task_settle(task, outcome, reason, NOW);
	json = task_to_json(task);
	ck_assert_int_eq(jsonl_append(path, json, 0, 0, NULL), 0);
	task_free(task);
}

static void
expect_task_error(const struct workspace *ws, const char *want)
{
	struct evidence e;

	collect(ws, 0, &e);
	if (want == NULL)
		ck_assert_ptr_null(e.task_error);
	else
		ck_assert_str_eq(e.task_error, want);
	evidence_release(&e);
}

START_TEST(the_last_task_that_failed_is_told)
{
	cleanup_free char *path = NULL;
	struct workspace ws;

	place_begin(&ws, "tasks");
	path = workspace_path(&ws, "tasks.jsonl");
	file_task(&ws, "t1", OUTCOME_LANDED, NULL);
	file_task(&ws, "t2", OUTCOME_NO_CHANGES, NULL);
	file_task(&ws, "t3", OUTCOME_ABORTED, "a person");
	expect_task_error(&ws, NULL);
	file_task(&ws, "t4", OUTCOME_FAILED, "tests\nfail");
	expect_task_error(&ws, "task t4 failed: Do it\ntests\nfail\n");
	file_task(&ws, "t5", OUTCOME_DEAD_LETTER, NULL);
	file_task(&ws, "t6", OUTCOME_LANDED, NULL);
	ck_assert_int_eq(file_append(path, "no json\n[1]\n{\"outcome\":7}\n",
			     27, 0600, false, NULL),
	    0);
	ck_assert_int_eq(
	    file_append(path, "{\"outcome\":\"failed\"", 19, 0600, false, NULL),
	    0);
	expect_task_error(&ws, "task t5 dead-letter: Do it\n");
	place_end(&ws);
}
END_TEST

START_TEST(a_stopped_process_shows_where_it_is)
{
	struct workspace ws;
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
	place_begin(&ws, "stopped");
	collect(&ws, pid, &e);
	ck_assert_ptr_nonnull(e.stack);
	ck_assert_int_eq(strncmp(e.stack, "State:\tT (stopped)\n", 19), 0);
	ck_assert_ptr_nonnull(strstr(e.stack, "\nwchan: "));
	expect_kept(e.dir, "stack.txt", e.stack);
	evidence_release(&e);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	collect(&ws, pid, &e);
	ck_assert_ptr_null(e.stack);
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

/* Killed at any moment, the next one finds what it needs. */
START_TEST(a_crash_in_the_middle_harms_nobody)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *parent = NULL;
	struct workspace ws;
	struct evidence e;
	int status = 0;

	place_begin(&ws, "crash");
	parent = workspace_path(&ws, "evidence");
	while (text.len < EVIDENCE_PART_MAX)
		buf_adds(&text, "a line\n");
	put_bytes(&ws, "logs/autod.log", text.data, text.len);
	put_bytes(&ws, "logs/auto.log", text.data, text.len);
	for (int i = 0; i < 30; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		for (int j = 0; pid == 0 && j < 10000; j++) {
			evidence_collect(&ws, 0, NULL, STAMP, &e, NULL);
			evidence_release(&e);
		}
		if (pid == 0)
			_exit(0);
		for (int j = 0; j <= i; j++)
			sched_yield();
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	}
	collect(&ws, 0, &e);
	ck_assert_int_eq(count_in(e.dir), 2);
	ck_assert_int_le(count_in(parent), EVIDENCE_KEEP);
	evidence_release(&e);
	place_end(&ws);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("evidence");

	unit_case(suite, "parts",
	    (const TTest *[]){ every_part_is_given_and_kept,
		what_is_not_there_is_left_out, what_cannot_be_read_is_left_out,
		of_a_long_log_the_last_whole_lines_are_taken,
		a_log_at_the_bound_is_whole_and_one_endless_line_is_kept,
		a_nul_does_not_end_a_text, workers_have_a_line_each,
		a_broken_state_is_told_and_left_as_it_is,
		the_last_task_that_failed_is_told,
		a_stopped_process_shows_where_it_is, NULL });
	unit_case(suite, "folder",
	    (const TTest *[]){ failures_of_one_second_have_folders_of_their_own,
		the_oldest_folders_go, what_is_not_ours_stays_in_the_folder,
		on_a_full_disk_the_texts_are_given,
		what_does_not_fit_on_the_disk_is_left_out,
		without_a_place_for_it_nothing_is_made,
		a_crash_in_the_middle_harms_nobody, NULL });
	return suite;
}
