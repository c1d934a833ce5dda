/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "id.h"
#include "mem.h"
#include "state-auto.h"
#include "state-file.h"
#include "state.h"
#include "unit.h"
#include "worker.h"
#include "workspace.h"

#define NOW   INT64_C(1700000000000)
#define OTHER "00000000-0000-4000-8000-000000000000"

/* A workspace that is only a folder, and a state that was saved there. */
struct place {
	struct workspace ws;
	char *file, *id_file;
	struct state state;
};

static void
place_begin(struct place *p, const char *name)
{
	memset(p, 0, sizeof *p);
	p->ws.dir = xstrdup(unit_path(name));
	ck_assert_int_eq(file_mkdirs(p->ws.dir, 0700, NULL), 0);
	p->file = workspace_path(&p->ws, "state.json");
	p->id_file = workspace_path(&p->ws, "root_id");
	state_init(&p->state);
	state_auto_set_workers(&p->state, 1);
	state_add(&p->state, worker_new("auto-1", NOW));
	ck_assert_int_eq(state_file_save(&p->ws, &p->state, NULL), 0);
}

static void
place_end(struct place *p)
{
	state_release(&p->state);
	free(p->ws.dir);
	free(p->file);
	free(p->id_file);
}

static void
load(struct place *p, struct state *ret_state)
{
	cleanup_free char *why = NULL;
	struct err err = { 0, "" };

	ck_assert_msg(state_file_load(&p->ws, NOW, ret_state, &why, &err) == 0,
	    "%s", err.msg);
}

/* Overwrite the file in place. */
static void
scribble(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, text, strlen(text)), 0);
	fd_close(fd);
}

START_TEST(our_own_writes_are_not_foreign)
{
	struct state other, again;
	struct place p;

	place_begin(&p, "own");
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(state_file_foreign(&p.ws, &p.state), 0);
		ck_assert_int_eq(state_file_save(&p.ws, &p.state, NULL), 0);
	}
	load(&p, &again);
	ck_assert_int_eq(state_file_foreign(&p.ws, &again), 0);
	/* But our writes are foreign to the other. */
	load(&p, &other);
	ck_assert_int_eq(state_file_save(&p.ws, &again, NULL), 0);
	ck_assert_int_eq(state_file_foreign(&p.ws, &again), 0);
	ck_assert_int_eq(state_file_foreign(&p.ws, &other), 1);
	state_release(&again);
	state_release(&other);
	place_end(&p);
}
END_TEST

START_TEST(a_foreign_write_is_noticed)
{
	/* Edited, emptied, truncated, extended, replaced, removed, blocked;
	 * some keep the date. */
	static const char *const texts[] = {
		"cat old >state.json",
		": >state.json",
		"truncate -s -1 state.json; touch -r old state.json",
		"echo >>state.json",
		"mv old state.json",
		"rm state.json",
		"rm state.json; mkdir state.json",
	};

	for (size_t i = 0; i < nitems(texts); i++) {
		cleanup_free char *name = xasprintf("foreign-%zu", i);
		cleanup_free char *command = NULL;
		struct timespec past[2] = { { .tv_sec = 1000 },
			{ .tv_sec = 1000 } };
		struct place p;
		pid_t pid;
		int status = -1;

		place_begin(&p, name);
		/* Older than the resolution of the clock. */
		ck_assert_int_eq(utimensat(AT_FDCWD, p.file, past, 0), 0);
		state_release(&p.state);
		load(&p, &p.state);
		ck_assert_int_eq(state_file_foreign(&p.ws, &p.state), 0);
		command = xasprintf(
		    "cd '%s'; cp -p state.json old; %s", p.ws.dir, texts[i]);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			execl("/bin/sh", "sh", "-ec", command, (char *)NULL);
			_exit(127);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(status == 0, "%s", command);
		ck_assert_msg(
		    state_file_foreign(&p.ws, &p.state) == 1, "%s", texts[i]);
		place_end(&p);
	}
}
END_TEST

START_TEST(nothing_is_foreign_where_nothing_was)
{
	struct workspace ws = { 0 };
	struct state state;
	char *why = NULL;

	ws.dir = xstrdup(unit_path("nowhere"));
	ck_assert_int_eq(state_file_load(&ws, NOW, &state, &why, NULL), 0);
	ck_assert_int_eq(state_file_foreign(&ws, &state), 0);
	state_release(&state);
	free(ws.dir);
}
END_TEST

START_TEST(a_state_from_the_backup_is_not_what_is_there)
{
	struct state state;
	struct place p;

	place_begin(&p, "backup");
	ck_assert_int_eq(state_file_save(&p.ws, &p.state, NULL), 0);
	scribble(p.file, "{");
	load(&p, &state);
	ck_assert_int_eq(state_file_foreign(&p.ws, &state), 1);
	ck_assert_int_eq(state_file_save(&p.ws, &state, NULL), 0);
	ck_assert_int_eq(state_file_foreign(&p.ws, &state), 0);
	state_release(&state);
	place_end(&p);
}
END_TEST

START_TEST(what_cannot_be_looked_at_is_an_error)
{
	struct place p;

	place_begin(&p, "looped");
	ck_assert_int_eq(unlink(p.file), 0);
	ck_assert_int_eq(symlink(p.file, p.file), 0);
	ck_assert_int_eq(state_file_foreign(&p.ws, &p.state), -ELOOP);
	place_end(&p);
}
END_TEST

START_TEST(the_first_save_names_the_root)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *want = NULL;
	char id[ID_UUID_SIZE] = "untouched";
	struct workspace empty = { 0 };
	struct stat st;
	struct place p;

	empty.dir = xstrdup(unit_path("unnamed"));
	ck_assert_int_eq(state_file_root_id(&empty, id, NULL), -ENOENT);
	ck_assert_str_eq(id, "untouched");
	free(empty.dir);
	place_begin(&p, "named");
	want = xasprintf("%s\n", p.state.root_id);
	ck_assert_int_eq(file_read(p.id_file, 1000, &text, NULL), 0);
	ck_assert_str_eq(text.data, want);
	ck_assert_int_eq(stat(p.id_file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(state_file_root_id(&p.ws, id, NULL), 0);
	ck_assert_str_eq(id, p.state.root_id);
	ck_assert_int_eq(state_check(&p.state, id, NULL, NULL), 0);
	place_end(&p);
}
END_TEST

START_TEST(the_name_of_the_root_stays)
{
	char id[ID_UUID_SIZE] = "";
	struct state other;
	struct place p;

	place_begin(&p, "stays");
	/* A state from elsewhere does not change it, and is detected. */
	state_init(&other);
	ck_assert_int_eq(state_file_save(&p.ws, &other, NULL), 0);
	state_release(&other);
	ck_assert_int_eq(state_file_root_id(&p.ws, id, NULL), 0);
	ck_assert_str_eq(id, p.state.root_id);
	load(&p, &other);
	ck_assert_int_eq(state_check(&other, id, NULL, NULL), -ESTALE);
	state_release(&other);
	place_end(&p);
}
END_TEST

START_TEST(a_root_that_lost_its_state_keeps_its_name)
{
	struct state state;
	struct place p;

	place_begin(&p, "lost");
	ck_assert_int_eq(unlink(p.file), 0);
	load(&p, &state);
	ck_assert_uint_eq(state.count, 0);
	ck_assert_str_eq(state.root_id, p.state.root_id);
	state_release(&state);
	place_end(&p);
}
END_TEST

START_TEST(a_name_that_is_none_is_written_anew)
{
	static const char *const texts[] = { "", "\n", "me\n", OTHER "x\n" };
	cleanup_free char *lines = xcalloc(1, 5001);
	char id[ID_UUID_SIZE] = "";
	struct err err = { 0, "" };
	struct place p;

	place_begin(&p, "none");
	memset(lines, '\n', 5000);
	for (size_t i = 0; i <= nitems(texts); i++) {
		scribble(p.id_file, i < nitems(texts) ? texts[i] : lines);
		ck_assert_int_eq(state_file_root_id(&p.ws, id, &err), -ENOENT);
		ck_assert_ptr_nonnull(strstr(err.msg, p.id_file));
		ck_assert_int_eq(state_file_save(&p.ws, &p.state, NULL), 0);
		ck_assert_int_eq(state_file_root_id(&p.ws, id, NULL), 0);
		ck_assert_str_eq(id, p.state.root_id);
	}
	/* Edited by hand, without its newline or with more text. */
	scribble(p.id_file, OTHER);
	ck_assert_int_eq(state_file_root_id(&p.ws, id, NULL), 0);
	ck_assert_str_eq(id, OTHER);
	scribble(p.id_file, OTHER "\nmore\n");
	ck_assert_int_eq(state_file_root_id(&p.ws, id, NULL), 0);
	ck_assert_str_eq(id, OTHER);
	place_end(&p);
}
END_TEST

START_TEST(a_name_that_cannot_be_read_does_not_stop_a_save)
{
	char id[ID_UUID_SIZE] = "";
	struct place p;

	place_begin(&p, "unreadable");
	ck_assert_int_eq(unlink(p.id_file), 0);
	ck_assert_int_eq(mkdir(p.id_file, 0700), 0);
	ck_assert_int_eq(state_file_root_id(&p.ws, id, NULL), -EISDIR);
	ck_assert_int_eq(state_file_save(&p.ws, &p.state, NULL), 0);
	ck_assert(file_is_dir(p.id_file));
	place_end(&p);
}
END_TEST

/* Save again and again; the parent kills us at some point. */
static void
save_for_ever(struct place *p, int tell)
{
	for (;;) {
		unlink(p->id_file);
		if (state_file_save(&p->ws, &p->state, NULL) < 0 ||
		    write(tell, "x", 1) != 1)
			_exit(1);
	}
}

START_TEST(killed_anywhere_the_name_is_whole_or_not_there)
{
	char id[ID_UUID_SIZE] = "", byte = 0;
	struct place p;

	place_begin(&p, "killed");
	for (int i = 0; i < 8; i++) {
		struct state state;
		int tell[2], status = 0, r;
		pid_t pid;

		ck_assert_int_eq(pipe(tell), 0);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			save_for_ever(&p, tell[1]);
		for (int n = 0; n <= i; n++)
			ck_assert_int_eq(read(tell[0], &byte, 1), 1);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status));
		fd_close(tell[0]);
		fd_close(tell[1]);
		load(&p, &state);
		r = state_file_root_id(&p.ws, id, NULL);
		ck_assert(r == -ENOENT || strcmp(id, p.state.root_id) == 0);
		ck_assert_str_eq(state.root_id, p.state.root_id);
		state_release(&state);
	}
	place_end(&p);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("state-root");

	unit_case(s, "foreign",
	    (const TTest *[]){ our_own_writes_are_not_foreign,
		a_foreign_write_is_noticed,
		nothing_is_foreign_where_nothing_was,
		a_state_from_the_backup_is_not_what_is_there,
		what_cannot_be_looked_at_is_an_error, NULL });
	unit_case(s, "root id",
	    (const TTest *[]){ the_first_save_names_the_root,
		the_name_of_the_root_stays,
		a_root_that_lost_its_state_keeps_its_name,
		a_name_that_is_none_is_written_anew,
		a_name_that_cannot_be_read_does_not_stop_a_save,
		killed_anywhere_the_name_is_whole_or_not_there, NULL });
	return s;
}
