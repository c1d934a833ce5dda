/* SPDX-License-Identifier: ISC */

/* The folders that evidence is kept in. */
#include <sched.h>
#include <sys/resource.h>

#include "base.h"
#include "evidence-world.h"

TEST(failures_of_one_second_have_folders_of_their_own)
{
	ended_by(evidence_world_end) struct workspace ws;
	struct evidence e;
	struct err err = { 0, "" };

	evidence_world_begin(&ws, "second");
	evidence_world_put(&ws, "daemon.json", "{}");
	evidence_world_collect(&ws, 0, &e);
	evidence_release(&e);
	evidence_world_put(&ws, "daemon.json", "[]");
	evidence_world_collect(&ws, 0, &e);
	ck_assert_str_eq(strrchr(e.dir, '/'), "/" EVIDENCE_WORLD_STAMP "-02");
	evidence_world_kept(e.dir, "daemon.json", "[]");
	evidence_release(&e);
	/* Folders that cannot be removed use up the names. */
	for (int i = 3; i <= 99; i++) {
		cleanup_free char *name =
		    xasprintf("evidence/%s-%02d/mine", EVIDENCE_WORLD_STAMP, i);
		cleanup_free char *path = workspace_path(&ws, name);

		ck_assert_int_eq(file_mkdirs(path, 0700, NULL), 0);
	}
	ck_assert_int_eq(
	    evidence_world_try(&ws, 0, NULL, EVIDENCE_WORLD_STAMP, &e, NULL),
	    0);
	ck_assert_str_eq(strrchr(e.dir, '/'), "/" EVIDENCE_WORLD_STAMP);
	evidence_release(&e);
	ck_assert_int_eq(
	    evidence_world_try(&ws, 0, NULL, EVIDENCE_WORLD_STAMP, &e, NULL),
	    0);
	ck_assert_str_eq(strrchr(e.dir, '/'), "/" EVIDENCE_WORLD_STAMP);
	evidence_release(&e);
	for (int i = 1; i <= 2; i++) {
		cleanup_free char *name = xasprintf("evidence/%s%s/mine",
		    EVIDENCE_WORLD_STAMP, i == 1 ? "" : "-02");
		cleanup_free char *path = workspace_path(&ws, name);

		ck_assert_int_eq(file_mkdirs(path, 0700, NULL), 0);
	}
	ck_assert_int_eq(
	    evidence_world_try(&ws, 0, NULL, EVIDENCE_WORLD_STAMP, &e, &err),
	    -EEXIST);
	ck_assert_ptr_null(e.dir);
	ck_assert_str_eq(e.registration, "[]");
	evidence_release(&e);
}

TEST(keys_are_not_kept)
{
	struct workspace ws;
	struct evidence e;

	evidence_world_begin(&ws, "keys");
	evidence_world_put(&ws, "logs/post_accept.log",
	    "curl -u me:hunter2 https://h/\nSTRIPE_KEY=abc\n");
	evidence_world_collect(&ws, 0, &e);
	evidence_world_kept(e.dir, "post_accept.log",
	    "curl -u me:[masked] https://h/\nSTRIPE_KEY=[masked]\n");
	evidence_release(&e);
	evidence_world_end(&ws);
}

TEST(the_oldest_folders_go)
{
	cleanup_free char *parent = NULL;
	ended_by(evidence_world_end) struct workspace ws;
	struct evidence e;

	evidence_world_begin(&ws, "oldest");
	parent = workspace_path(&ws, "evidence");
	evidence_world_put(&ws, "daemon.json", "{}");
	for (int i = 0; i < EVIDENCE_KEEP + 5; i++) {
		cleanup_free char *stamp = xasprintf("20260131T08%02d00Z", i);
		cleanup_free char *first = NULL;

		ck_assert_int_eq(
		    evidence_world_try(&ws, 0, NULL, stamp, &e, NULL), 0);
		evidence_release(&e);
		ck_assert_int_eq(evidence_world_count(parent),
		    i < EVIDENCE_KEEP ? i + 1 : EVIDENCE_KEEP);
		first = file_join(parent, "20260131T080000Z");
		ck_assert_int_eq(file_exists(first), i < EVIDENCE_KEEP);
	}
}

TEST(what_is_not_ours_stays_in_the_folder)
{
	static const char *const mine[] = { "evidence/keep/notes",
		"evidence/1999/of a person/notes" };
	cleanup_free char *outside = NULL, *link = NULL, *linked = NULL;
	ended_by(evidence_world_end) struct workspace ws;
	struct evidence e;

	evidence_world_begin(&ws, "foreign");
	for (size_t i = 0; i < nitems(mine); i++) {
		cleanup_free char *path = workspace_path(&ws, mine[i]);

		*strrchr(path, '/') = '\0';
		ck_assert_int_eq(file_mkdirs(path, 0700, NULL), 0);
		evidence_world_put(&ws, mine[i], "mine");
	}
	outside = workspace_path(&ws, "outside");
	ck_assert_int_eq(mkdir(outside, 0700), 0);
	evidence_world_put(&ws, "outside/notes", "mine");
	link = workspace_path(&ws, "evidence/1998");
	ck_assert_int_eq(symlink(outside, link), 0);
	for (int i = 0; i < EVIDENCE_KEEP + 5; i++) {
		evidence_world_collect(&ws, 0, &e);
		evidence_release(&e);
	}
	for (size_t i = 0; i < nitems(mine); i++) {
		cleanup_free char *path = workspace_path(&ws, mine[i]);

		ck_assert(file_exists(path));
	}
	linked = workspace_path(&ws, "outside/notes");
	ck_assert(file_exists(linked));
}

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
	setrlimit(RLIMIT_FSIZE, &less); /* also limits check's own files */
	r = evidence_world_try(
	    ws, 0, NULL, EVIDENCE_WORLD_STAMP, evidence, err);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	return r;
}

TEST(on_a_full_disk_the_texts_are_given)
{
	cleanup_free char *parent = NULL;
	struct workspace ws;
	struct evidence e;
	struct err err = { 0, "" };

	evidence_world_begin(&ws, "full");
	parent = workspace_path(&ws, "evidence");
	evidence_world_put(&ws, "daemon.json", "{}");
	evidence_world_put(&ws, "logs/autod.log", "no space left\n");
	ck_assert_int_eq(collect_within(&ws, 0, &e, &err), -EFBIG);
	ck_assert_ptr_nonnull(strstr(err.msg, ws.dir));
	ck_assert_ptr_null(e.dir);
	ck_assert_str_eq(e.registration, "{}");
	ck_assert_str_eq(e.autod_log, "no space left\n");
	ck_assert_int_eq(evidence_world_count(parent), 0);
	evidence_release(&e);
	evidence_world_end(&ws);
}

TEST(what_does_not_fit_on_the_disk_is_left_out)
{
	struct workspace ws;
	struct evidence e;
	char text[500];

	evidence_world_begin(&ws, "tight");
	memset(text, 'x', sizeof text);
	evidence_world_put(&ws, "daemon.json", "{}");
	evidence_world_put_bytes(&ws, "logs/autod.log", text, sizeof text);
	ck_assert_int_eq(collect_within(&ws, 100, &e, NULL), 0);
	evidence_world_kept(e.dir, "daemon.json", "{}");
	ck_assert_int_eq(evidence_world_count(e.dir), 1);
	ck_assert_uint_eq(strlen(e.autod_log), sizeof text);
	evidence_release(&e);
	evidence_world_end(&ws);
}

TEST(without_a_place_for_it_nothing_is_made)
{
	ended_by(evidence_world_end) struct workspace ws = { 0 };
	struct evidence e;
	struct err err = { 0, "" };
	cleanup_free char *dir = xstrdup(unit_path("no-such-folder"));

	ws.dir = dir;
	ck_assert_int_eq(evidence_world_try(&ws, getpid(), NULL,
			     EVIDENCE_WORLD_STAMP, &e, &err),
	    -ENOENT);
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_ptr_null(e.dir);
	ck_assert_ptr_nonnull(e.stack);
	ck_assert(!file_exists(dir));
	evidence_release(&e);
	evidence_world_begin(&ws, "blocked");
	evidence_world_put(&ws, "evidence", "a file");
	evidence_world_put(&ws, "daemon.json", "{}");
	ck_assert_int_eq(
	    evidence_world_try(&ws, 0, NULL, EVIDENCE_WORLD_STAMP, &e, NULL),
	    -ENOTDIR);
	ck_assert_str_eq(e.registration, "{}");
	evidence_release(&e);
}

/* Killed at any moment; the next one finds what it needs. */
TEST(a_crash_in_the_middle_harms_nobody)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *parent = NULL;
	ended_by(evidence_world_end) struct workspace ws;
	struct evidence e;
	int status = 0;

	evidence_world_begin(&ws, "crash");
	parent = workspace_path(&ws, "evidence");
	while (text.len < EVIDENCE_PART_MAX)
		buf_adds(&text, "a line\n");
	evidence_world_put_bytes(&ws, "logs/autod.log", text.data, text.len);
	evidence_world_put_bytes(&ws, "logs/auto.log", text.data, text.len);
	for (int i = 0; i < 30; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		for (int j = 0; pid == 0 && j < 10000; j++) {
			evidence_world_try(
			    &ws, 0, NULL, EVIDENCE_WORLD_STAMP, &e, NULL);
			evidence_release(&e);
		}
		if (pid == 0)
			_exit(0);
		for (int j = 0; j <= i; j++)
			sched_yield();
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	}
	evidence_world_collect(&ws, 0, &e);
	ck_assert_int_eq(evidence_world_count(e.dir), 2);
	ck_assert_int_le(evidence_world_count(parent), EVIDENCE_KEEP);
	evidence_release(&e);
}
