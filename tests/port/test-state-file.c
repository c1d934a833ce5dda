/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "id.h"
#include "json.h"
#include "mem.h"
#include "state-file.h"
#include "state.h"
#include "unit.h"
#include "worker.h"
#include "workspace.h"

#define NOW INT64_C(1700000000000)

/* A workspace that is only a folder. */
struct place {
	struct workspace ws;
	char *file, *backup;
};

static void
place_begin(struct place *p, const char *name)
{
	memset(p, 0, sizeof *p);
	p->ws.dir = xstrdup(unit_path(name));
	ck_assert_int_eq(file_mkdirs(p->ws.dir, 0700, NULL), 0);
	p->file = workspace_path(&p->ws, "state.json");
	p->backup = workspace_path(&p->ws, "state.json.bak");
}

static void
place_end(struct place *p)
{
	free(p->ws.dir);
	free(p->file);
	free(p->backup);
}

static int
place_count(const struct place *p)
{
	DIR *dir = opendir(p->ws.dir);
	int count = 0;

	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count - 2;
}

static void
add_worker(struct state *state, const char *name)
{
	struct worker *worker = worker_new(name, NOW);

	xstrset(&worker->prompt, "Mend it.\n\"Now\", \xc3\xa4!");
	xstrset(&worker->branch, "llmc/x");
	worker->session.generation = 7;
	state_add(state, worker);
}

/* A state that can be recognised by its counter. */
static void
make(struct state *state, uint64_t receipts)
{
	state_init(state);
	state->receipts = receipts;
	add_worker(state, "adam");
}

static void
save(struct place *p, uint64_t receipts)
{
	struct state state;
	struct err err = { 0, "" };

	make(&state, receipts);
	ck_assert_msg(
	    state_file_save(&p->ws, &state, &err) == 0, "%s", err.msg);
	state_release(&state);
}

static void
expect_load(struct place *p, uint64_t receipts, bool recovered)
{
	cleanup_free char *why = NULL;
	struct err err = { 0, "" };
	struct state state;

	ck_assert_msg(state_file_load(&p->ws, NOW, &state, &why, &err) == 0,
	    "%s", err.msg);
	ck_assert_uint_eq(state.receipts, receipts);
	ck_assert_msg((why != NULL) == recovered, "%s",
	    why != NULL ? why : "the spare copy was not needed");
	if (recovered)
		ck_assert_ptr_nonnull(strstr(why, p->file));
	state_release(&state);
}

static int
load_error(struct place *p, struct err *err)
{
	struct state state;
	char *why = NULL;
	int r = state_file_load(&p->ws, NOW, &state, &why, err);

	ck_assert_int_lt(r, 0);
	ck_assert_ptr_null(why);
	return r;
}

/* Overwrite the file in place, like an editor or a bad disk. */
static void
scribble(const char *path, const char *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, bytes, len), 0);
	fd_close(fd);
}

static char *
text_of(const struct state *state)
{
	cleanup_json struct json_object *json = state_to_json(state);
	struct buf text = BUF_INIT;

	json_print(json, true, &text);
	return buf_take(&text);
}

START_TEST(nothing_there_is_an_empty_state)
{
	struct state a, b;
	struct place p;
	char *why = NULL;

	place_begin(&p, "nothing");
	ck_assert_int_eq(state_file_load(&p.ws, NOW, &a, &why, NULL), 0);
	ck_assert_ptr_null(why);
	ck_assert_int_eq(state_file_load(&p.ws, NOW, &b, &why, NULL), 0);
	ck_assert(id_uuid_valid(a.root_id));
	ck_assert_str_ne(a.root_id, b.root_id);
	ck_assert_uint_eq(a.count, 0);
	ck_assert(!a.daemon_running);
	ck_assert_int_eq(place_count(&p), 0);
	state_release(&a);
	state_release(&b);
	place_end(&p);
}
END_TEST

START_TEST(what_is_saved_is_loaded)
{
	cleanup_free char *want = NULL, *found = NULL;
	struct state a, b;
	struct stat st;
	struct place p;
	char *why;

	place_begin(&p, "roundtrip");
	make(&a, 42);
	add_worker(&a, "zoe");
	a.last_reviewed = xstrdup("zoe");
	a.daemon_running = true;
	ck_assert_int_eq(state_file_save(&p.ws, &a, NULL), 0);
	ck_assert_int_eq(state_file_load(&p.ws, NOW, &b, &why, NULL), 0);
	want = text_of(&a);
	found = text_of(&b);
	ck_assert_str_eq(want, found);
	ck_assert_str_eq(a.root_id, b.root_id);
	ck_assert_str_eq(b.last_reviewed, "zoe");
	ck_assert(b.daemon_running);
	ck_assert_str_eq(b.workers[0]->prompt, a.workers[0]->prompt);
	ck_assert_uint_eq(b.workers[1]->session.generation, 7);
	ck_assert_int_eq(stat(p.file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	state_release(&a);
	state_release(&b);
	place_end(&p);
}
END_TEST

START_TEST(the_one_before_is_the_backup)
{
	cleanup_buf struct buf before = BUF_INIT, backup = BUF_INIT;
	struct place p;

	place_begin(&p, "backup");
	save(&p, 1);
	ck_assert(!file_exists(p.backup));
	for (uint64_t i = 2; i < 5; i++) {
		buf_clear(&before);
		buf_clear(&backup);
		ck_assert_int_eq(file_read(p.file, 10000, &before, NULL), 0);
		save(&p, i);
		ck_assert_int_eq(file_read(p.backup, 10000, &backup, NULL), 0);
		ck_assert_str_eq(before.data, backup.data);
		expect_load(&p, i, false);
	}
	ck_assert_int_eq(place_count(&p), 3);
	place_end(&p);
}
END_TEST

START_TEST(a_state_that_lives_on_is_saved_again_and_again)
{
	struct state state;
	struct place p;

	place_begin(&p, "again");
	make(&state, 0);
	for (state.receipts = 1; state.receipts < 6; state.receipts++) {
		ck_assert_int_eq(state_file_save(&p.ws, &state, NULL), 0);
		expect_load(&p, state.receipts, false);
	}
	ck_assert_int_eq(unlink(p.file), 0);
	expect_load(&p, 4, true);
	state_release(&state);
	place_end(&p);
}
END_TEST

START_TEST(a_broken_file_is_replaced_by_its_backup)
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = {
		{ "", 0 },
		{ "\0\0\0\0\0\0\0\0", 8 },
		{ "nonsense", 8 },
		{ "null", 4 },
		{ "[]", 2 },
		{ "{\"workers\":[]}", 14 },
		{ "{\"workers\":{\"adam\":5}}", 22 },
		{ "{\"receipts\":\"many\"}", 19 },
	};
	struct place p;

	place_begin(&p, "broken");
	save(&p, 1);
	save(&p, 2);
	for (size_t i = 0; i < nitems(rows); i++) {
		scribble(p.file, rows[i].bytes, rows[i].len);
		expect_load(&p, 1, true);
	}
	ck_assert_int_eq(place_count(&p), 3);
	ck_assert_int_eq(unlink(p.file), 0);
	expect_load(&p, 1, true);
	ck_assert(!file_exists(p.file));
	place_end(&p);
}
END_TEST

START_TEST(every_truncation_is_found)
{
	struct place p;
	struct stat st;

	place_begin(&p, "truncation");
	save(&p, 1);
	save(&p, 2);
	ck_assert_int_eq(stat(p.file, &st), 0);
	/* Without its last newline it is still complete. */
	ck_assert_int_eq(truncate(p.file, st.st_size - 1), 0);
	expect_load(&p, 2, false);
	for (off_t len = st.st_size - 2; len >= 0; len--) {
		ck_assert_int_eq(truncate(p.file, len), 0);
		expect_load(&p, 1, true);
	}
	place_end(&p);
}
END_TEST

START_TEST(both_broken_is_an_error_that_names_both)
{
	struct err err = { 0, "" };
	struct place p;

	place_begin(&p, "both");
	scribble(p.file, "{", 1);
	ck_assert_int_eq(load_error(&p, &err), -EINVAL);
	scribble(p.backup, "[", 1);
	ck_assert_int_eq(load_error(&p, &err), -EINVAL);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, p.file));
	ck_assert_ptr_nonnull(strstr(err.msg, p.backup));
	ck_assert_ptr_nonnull(strstr(err.msg, "llmc doctor"));
	ck_assert_int_eq(unlink(p.file), 0);
	ck_assert_int_eq(load_error(&p, &err), -EINVAL);
	place_end(&p);
}
END_TEST

START_TEST(what_cannot_be_looked_at_is_not_broken)
{
	struct err err = { 0, "" };
	struct place p;

	place_begin(&p, "later");
	save(&p, 1);
	ck_assert_int_eq(rename(p.file, p.backup), 0);
	ck_assert_int_eq(symlink(p.file, p.file), 0);
	ck_assert_int_eq(load_error(&p, &err), -ELOOP);
	ck_assert_ptr_nonnull(strstr(err.msg, p.file));
	place_end(&p);
}
END_TEST

START_TEST(a_broken_file_does_not_become_the_backup)
{
	cleanup_free char *why = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct state state;
	struct place p;

	place_begin(&p, "not-backup");
	save(&p, 1);
	save(&p, 2);
	scribble(p.file, "{\"workers\": {, }}", 17);
	ck_assert_int_eq(state_file_load(&p.ws, NOW, &state, &why, NULL), 0);
	state.receipts = 3;
	ck_assert_int_eq(state_file_save(&p.ws, &state, NULL), 0);
	expect_load(&p, 3, false);
	ck_assert_int_eq(file_read(unit_path("not-backup/state.json.broken"),
			     100, &text, NULL),
	    0);
	ck_assert_str_eq(text.data, "{\"workers\": {, }}");
	scribble(p.file, "{", 1);
	expect_load(&p, 1, true);
	state_release(&state);
	place_end(&p);
}
END_TEST

START_TEST(a_file_broken_behind_our_back_is_noticed)
{
	struct state state;
	struct place p;

	place_begin(&p, "behind");
	make(&state, 1);
	ck_assert_int_eq(state_file_save(&p.ws, &state, NULL), 0);
	state.receipts = 2;
	ck_assert_int_eq(state_file_save(&p.ws, &state, NULL), 0);
	scribble(p.file, "{", 1);
	state.receipts = 3;
	ck_assert_int_eq(state_file_save(&p.ws, &state, NULL), 0);
	ck_assert_int_eq(unlink(p.file), 0);
	expect_load(&p, 1, true);
	state_release(&state);
	place_end(&p);
}
END_TEST

START_TEST(a_good_edit_becomes_the_backup)
{
	struct place p;

	place_begin(&p, "edit");
	save(&p, 1);
	scribble(p.file, "{\"receipts\": 50}", 16);
	expect_load(&p, 50, false);
	save(&p, 2);
	ck_assert_int_eq(unlink(p.file), 0);
	expect_load(&p, 50, true);
	place_end(&p);
}
END_TEST

START_TEST(a_crash_between_backup_and_file_is_no_trouble)
{
	struct place p;

	place_begin(&p, "between");
	save(&p, 1);
	ck_assert_int_eq(link(p.file, p.backup), 0);
	scribble(unit_path("between/state.json.bak.tmp"), "x", 1);
	save(&p, 2);
	expect_load(&p, 2, false);
	ck_assert_int_eq(place_count(&p), 3);
	ck_assert_int_eq(unlink(p.file), 0);
	expect_load(&p, 1, true);
	place_end(&p);
}
END_TEST

START_TEST(a_failed_save_changes_nothing)
{
	struct rlimit old, none;
	struct state state;
	struct err err = { 0, "" };
	struct place p;
	int r;

	place_begin(&p, "failed");
	save(&p, 1);
	save(&p, 2);
	make(&state, 3);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	none = old;
	none.rlim_cur = 10;
	setrlimit(RLIMIT_FSIZE, &none); /* also limits check's own files */
	r = state_file_save(&p.ws, &state, &err);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	ck_assert_int_eq(r, -EFBIG);
	ck_assert_ptr_nonnull(strstr(err.msg, p.file));
	expect_load(&p, 2, false);
	ck_assert_int_eq(place_count(&p), 3);
	ck_assert_int_eq(state_file_save(&p.ws, &state, &err), 0);
	expect_load(&p, 3, false);
	state_release(&state);
	place_end(&p);
}
END_TEST

START_TEST(a_missing_folder_is_an_error)
{
	char dir[] = "/no/such/folder";
	struct workspace ws = { .dir = dir };
	struct state state;
	char *why;

	make(&state, 1);
	ck_assert_int_eq(state_file_save(&ws, &state, NULL), -ENOENT);
	state_release(&state);
	ck_assert_int_eq(state_file_load(&ws, NOW, &state, &why, NULL), 0);
	state_release(&state);
}
END_TEST

START_TEST(a_linked_file_keeps_its_link_and_has_a_backup)
{
	const char *real = unit_path("real-state.json");
	struct place p;
	struct stat st;

	place_begin(&p, "linked");
	save(&p, 1);
	ck_assert_int_eq(rename(p.file, real), 0);
	ck_assert_int_eq(symlink(real, p.file), 0);
	save(&p, 2);
	save(&p, 3);
	ck_assert_int_eq(lstat(p.file, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(lstat(p.backup, &st), 0);
	ck_assert(S_ISREG(st.st_mode));
	expect_load(&p, 3, false);
	scribble(p.file, "", 0);
	expect_load(&p, 2, true);
	place_end(&p);
}
END_TEST

/* Load it again and again, until the leash is closed. */
static int
read_until(const struct workspace *ws, int leash)
{
	struct state state;
	char byte, *why;
	int reads = 0;

	fcntl(leash, F_SETFL, O_NONBLOCK);
	while (read(leash, &byte, 1) == -1) {
		if (state_file_load(ws, NOW, &state, &why, NULL) < 0 ||
		    why != NULL || state.count != 1)
			return 1;
		state_release(&state);
		reads++;
	}
	return reads > 0 ? 0 : 2;
}

START_TEST(a_reader_never_finds_nothing)
{
	int leash[2], status;
	struct place p;
	pid_t pid;

	place_begin(&p, "reader");
	save(&p, 1);
	ck_assert_int_eq(pipe(leash), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		fd_close(leash[1]);
		_exit(read_until(&p.ws, leash[0]));
	}
	for (uint64_t i = 0; i < 60; i++)
		save(&p, i);
	fd_close(leash[0]);
	fd_close(leash[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	place_end(&p);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("state-file");

	unit_case(s, "files",
	    (const TTest *[]){ nothing_there_is_an_empty_state,
		what_is_saved_is_loaded, the_one_before_is_the_backup,
		a_state_that_lives_on_is_saved_again_and_again,
		a_broken_file_is_replaced_by_its_backup,
		every_truncation_is_found,
		both_broken_is_an_error_that_names_both,
		what_cannot_be_looked_at_is_not_broken,
		a_broken_file_does_not_become_the_backup,
		a_file_broken_behind_our_back_is_noticed,
		a_good_edit_becomes_the_backup,
		a_crash_between_backup_and_file_is_no_trouble,
		a_failed_save_changes_nothing, a_missing_folder_is_an_error,
		a_linked_file_keeps_its_link_and_has_a_backup,
		a_reader_never_finds_nothing, NULL });
	return s;
}
