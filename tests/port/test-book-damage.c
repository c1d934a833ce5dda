/* SPDX-License-Identifier: ISC */

/* A book of which a bit is wrong or a part is missing: nothing of it changes or
 * goes without a word, and what is still there is given back. */

#include <sys/wait.h>

#include "book-world.h"
#include "book-care.h"
#include "book-history.h"
#include "book-private.h"

const int unit_timeout = 600; /* seconds, each */

#define WHEN  INT64_C(1700000000000)
#define NODES 800
#define EMPTY ((size_t)55 * 4096) /* tables and indexes without rows */
#define LONG  50 /* each of so many rows has a long one beside it */
#define ROWS  (NODES + 2 * NODES + NODES / LONG + 7)

static void
put_file(const char *path, const struct buf *bytes, size_t len)
{
	ck_assert_int_eq(file_replace(path, bytes->data, len, 0600, NULL), 0);
}

static void
add_node(struct book_world *world, int n)
{
	cleanup_free char *id = xasprintf("T%04d", n);
	cleanup_free char *body =
	    xasprintf("{\"goalId\":\"G\",\"taskId\":\"%s\",\"name\":\"n\","
		      "\"parentId\":\"P1\",\"status\":\"todo\"}",
		id);
	cleanup_free char *request =
	    xasprintf("{\"status\":\"open\",\"text\":\"%09000d\"}", n);
	struct book_event event = { .type = "assignment.updated",
		.goal_id = "G",
		.data = "{\"text\":\"something that takes some space\"}" };

	ck_assert_int_eq(
	    book_put_body(world->book, BOOK_NODE, "G", id, body, NULL), 0);
	if (n % LONG == 0)
		ck_assert_int_eq(book_put_body(world->book, BOOK_REQUEST, "G",
				     id, request, NULL),
		    0);
	book_add_event(world->book, &event, NULL);
	book_add_event(world->book, &event, NULL);
}

/* Some of its rows are longer than a page. */
static void
make_book(const char *path)
{
	struct book_world world;

	book_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	book_world_fill(&world);
	for (int i = 0; i < NODES; i++)
		add_node(&world, i);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	book_world_close(&world);
}

/* Some commits that are in its log only, as a daemon leaves them that is
 * killed. */
static void
leave_log(const char *path)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct book_world world;

		book_world_open(&world, path);
		for (int i = 0; i < 10; i++) {
			add_node(&world, NODES + i);
			book_commit(world.book, NULL);
		}
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

static bool
add_row(struct book_row *row, void *arg)
{
	for (int i = 0; i < book_columns(row); i++) {
		const char *text = book_text(row, i);

		buf_adds(arg, text != NULL ? text : "(null)");
		buf_addc(arg, '\n');
	}
	return true;
}

/* All rows that a reader sees. */
static int
read_all(struct book *book, struct buf *out)
{
	int r = 0;

	buf_clear(out);
	for (int i = 0; r == 0 && i < BOOK_KIND_COUNT; i++) {
		cleanup_free char *sql = xasprintf(
		    "SELECT t.rowid, t.* FROM %s AS t ORDER BY t.rowid",
		    book_kind_tables[i]);

		if (i != BOOK_ASSIGNMENT)
			r = book_query(book, sql, NULL, 0, add_row, out, NULL);
	}
	return r == 0 ?
	    book_query(book, "SELECT t.* FROM events AS t ORDER BY t.seq", NULL,
		0, add_row, out, NULL) :
	    r;
}

/* As the daemon opens it: was anything told, and what is in it then? */
static bool
open_book(const char *path, struct book_recovered *found, struct buf *out)
{
	struct book *book = NULL;
	struct err err = { 0 };
	int r = book_open_or_recover(path, WHEN, &book, found, &err);

	ck_assert_msg(r == 0, "%s", err.msg);
	ck_assert_int_eq(read_all(book, out), 0);
	book_close(book);
	return found->damaged != NULL;
}

static bool
is_found(const char *path)
{
	cleanup_json struct json_object *report = NULL;

	ck_assert_int_eq(book_check(path, &report, NULL), 0);
	return !json_bool_or(report, "ok", true);
}

static void
forget(const char *path, struct book_recovered *found)
{
	if (found->damaged != NULL)
		book_files_remove(found->damaged);
	book_recovered_release(found);
	book_files_remove(path);
}

/* What a reader gets who asks while the file is like this: all or an error. */
static void
expect_no_other(const char *path, const struct buf *before, size_t at)
{
	cleanup_buf struct buf seen = BUF_INIT;
	struct book *look = NULL;

	if (book_look(path, &look, NULL) == 0 && read_all(look, &seen) == 0)
		ck_assert_msg(strcmp(before->data, seen.data) == 0,
		    "byte %zu: a reader was told nothing", at);
	book_close(look);
}

/* With and without a log beside it, in which the bits are wrong then. */
TEST_ROWS(no_flipped_bit_changes_or_hides_a_row, 2)
{
	const char *path = unit_path("a.db"), *log = unit_path("a.db-wal");
	cleanup_buf struct buf file = BUF_INIT, frames = BUF_INIT,
			       before = BUF_INIT, after = BUF_INIT;
	struct buf *bytes = _i == 0 ? &file : &frames;
	struct dice dice = { 47 };
	struct book_recovered found;
	int told = 0, lost = 0, checked = 0, flips = unit_times(300);

	make_book(path);
	if (_i == 1)
		leave_log(path);
	book_world_file(path, &file);
	if (_i == 1)
		book_world_file(log, &frames);
	ck_assert(_i == 1 || !is_found(path));
	ck_assert(!open_book(path, &found, &before));
	for (int i = 0; i < flips; i++) {
		size_t at = dice_below(&dice, (unsigned)bytes->len);
		char bit = (char)(1U << dice_below(&dice, 8));

		bytes->data[at] ^= bit;
		forget(path, &found);
		put_file(path, &file, file.len);
		if (_i == 1)
			put_file(log, &frames, frames.len);
		else
			expect_no_other(path, &before, at);
		checked += _i == 0 && i % 10 == 0 && is_found(path);
		told += open_book(path, &found, &after);
		/* The log's checksums do not always say which bit it is. */
		lost += found.gaps > 0;
		ck_assert_msg((_i == 1 && found.gaps > 0) ||
			strcmp(before.data, after.data) == 0,
		    "byte %zu: %s; %zu rows, %zu gaps, %zu put right", at,
		    found.why, found.rows, found.gaps, found.repaired);
		ck_assert_uint_eq(found.doubtful, 0);
		bytes->data[at] ^= bit;
	}
	forget(path, &found);
	/* A bit may be in a page, or in a field, that says nothing. */
	ck_assert_msg(told >= flips * 8 / 10, "%d of %d", told, flips);
	ck_assert_msg(
	    _i == 1 || checked >= told / 11, "%d of %d", checked, told);
	ck_assert_msg(lost <= flips / 2, "%d of %d", lost, flips);
}

TEST_ROWS(a_book_that_is_cut_off_gives_back_the_rows_it_has, 9)
{
	const char *path = unit_path("a.db");
	cleanup_buf struct buf bytes = BUF_INIT, after = BUF_INIT;
	struct book_recovered found;
	size_t len, rows;

	make_book(path);
	book_world_file(path, &bytes);
	len = bytes.len * (size_t)(_i + 1) / 10;
	put_file(path, &bytes, len);
	ck_assert(open_book(path, &found, &after));
	rows = found.rows;
	ck_assert_msg(len < EMPTY || rows >= ROWS * (len - EMPTY) / bytes.len,
	    "%zu of %d rows in %zu of %zu bytes", rows, ROWS, len, bytes.len);
	ck_assert_uint_ge(found.gaps, (bytes.len - len) / BOOK_PAGE_SIZE);
	forget(path, &found);
}

static void
on_words(const char *words, void *arg)
{
	buf_addf(arg, "%s\n", words);
}

static bool
pass_turn(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	(void)task;
	(void)seq;
	(void)record;
	(void)arg;
	return true;
}

static void
read_history(struct book_world *world, struct buf *told)
{
	book_on_damage(world->book, on_words, told);
	json_object_put(book_list_asks(world->book, 10, NULL));
	book_read_turns(world->book, NULL, 0, pass_turn, NULL, NULL);
}

static const struct {
	const char *sql, *words;
} unusable[] = {
	{ "INSERT INTO ask (id, nr, how) VALUES ('A1', 1, 'opne')", "ask.how" },
	{ "INSERT INTO turn (task, seq, body) VALUES ('t1', 1, '{\"a\":')",
	    "no JSON" },
};

/* Its reader goes on with the others. */
TEST_ROWS(a_row_that_cannot_be_used_is_told, nitems(unusable))
{
	const char *path = unit_path("a.db");
	cleanup_json struct json_object *report = NULL;
	cleanup_buf struct buf told = BUF_INIT;
	struct book_world world;

	book_world_open(&world, path);
	ck_assert_int_eq(book_history_open(world.book, NULL), 0);
	read_history(&world, &told);
	ck_assert_str_eq(told.data, "");
	book_run(world.book, unusable[_i].sql, NULL, 0);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	read_history(&world, &told);
	ck_assert_ptr_nonnull(strstr(told.data, unusable[_i].words));
	book_world_close(&world);
	ck_assert_int_eq(book_check(path, &report, NULL), 0);
	ck_assert(!json_bool_or(report, "ok", true));
	ck_assert_ptr_nonnull(
	    strstr(json_object_get_string(report), unusable[_i].words));
}

/* Another program makes no checksums. */
TEST(what_another_program_has_written_is_kept_and_told)
{
	const char *path = unit_path("a.db");
	cleanup_buf struct buf after = BUF_INIT;
	struct book_recovered found;
	sqlite3 *other = NULL;

	make_book(path);
	ck_assert(!is_found(path));
	ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
	ck_assert_int_eq(
	    sqlite3_exec(other,
		"UPDATE nodes SET status = 'done' WHERE id = 'T0007'", NULL,
		NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(other);
	ck_assert(is_found(path));
	ck_assert(open_book(path, &found, &after));
	ck_assert_uint_eq(found.rows, ROWS);
	ck_assert_uint_gt(found.doubtful, 0);
	ck_assert_ptr_nonnull(strstr(after.data, "T0007\nP1\ndone\n"));
	book_recovered_release(&found);
}

TEST(a_copy_takes_the_place_of_the_book)
{
	const char *path = unit_path("a.db"), *to = unit_path("copy.db");
	cleanup_buf struct buf before = BUF_INIT, after = BUF_INIT,
			       bytes = BUF_INIT;
	struct book_recovered found;
	struct err err = { 0 };

	make_book(path);
	leave_log(path);
	ck_assert_int_eq(book_copy(path, to, &err), 0);
	ck_assert(!open_book(path, &found, &before));
	ck_assert(!is_found(to));
	/* What is damaged does not replace it, and is noted. */
	book_world_file(path, &bytes);
	memset(bytes.data + bytes.len - 100 * BOOK_PAGE_SIZE, 0x5a,
	    BOOK_PAGE_SIZE);
	put_file(path, &bytes, bytes.len);
	ck_assert_int_eq(book_copy(path, to, &err), -EUCLEAN);
	ck_assert(file_exists(unit_path("a.db" BOOK_DAMAGED)));
	ck_assert(!file_exists(unit_path("copy.db.new")));
	ck_assert_int_eq(rename(to, path), 0);
	ck_assert(!open_book(path, &found, &after));
	ck_assert_str_eq(before.data, after.data);
}
