/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <sys/stat.h>

#include "id.h"
#include "spool.h"
#include "unit.h"

struct heard {
	struct buf text; /* the events' numbers */
	char last[ID_ULID_SIZE];
	int fail_at; /* event that is answered with code, 0 = none */
	int code;
};

static int
drain_all(const char *dir, int max, spool_skip_fn *skip, spool_fn *fn,
    void *arg, struct err *err)
{
	struct spool_rest rest = { 0 };
	int r = spool_drain(dir, &rest, max, skip, fn, arg, err);

	spool_rest_release(&rest);
	return r;
}

static int
hear(const char *id, struct json_object *event, void *arg)
{
	struct heard *heard = arg;
	int n = (int)json_int_or(event, "n", -1);

	ck_assert(id_ulid_valid(id));
	ck_assert_str_gt(id, heard->last);
	strlcpy(heard->last, id, sizeof heard->last);
	if (heard->fail_at == n)
		return heard->code;
	buf_addf(&heard->text, "%d ", n);
	return 0;
}

static int
write_number(const char *dir, int64_t wall_ms, int n)
{
	cleanup_json struct json_object *event = json_object_new_object();

	json_set_int(event, "n", n);
	return spool_write(dir, wall_ms, event, NULL);
}

static int
count_files(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int count = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		count += entry->d_type == DT_REG;
	if (dir != NULL)
		closedir(dir);
	return count;
}

static void
put_file(const char *dir, const char *name, const char *text, size_t len)
{
	cleanup_free char *path = file_join(dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, text, len), 0);
	fd_close(fd);
}

static void
expect_drain(const char *dir, int max, int count, const char *want)
{
	struct heard heard = { .text = BUF_INIT };

	ck_assert_int_eq(drain_all(dir, max, NULL, hear, &heard, NULL), count);
	ck_assert_str_eq(heard.text.data, want);
	buf_release(&heard.text);
}

/* Somebody has removed the worker's folder, or that of all of them; not what
 * they are in. */
TEST(a_folder_that_is_missing_is_made)
{
	cleanup_free char *top = xstrdup(unit_path("top"));
	cleanup_free char *dir = xasprintf("%s/run/adam/spool", top);
	cleanup_free char *far =
	    xasprintf("%s/run/adam/spool", unit_path("no"));

	ck_assert_int_eq(mkdir(top, 0700), 0);
	ck_assert_int_eq(write_number(dir, 1, 1), 0);
	ck_assert_int_eq(count_files(dir), 1);
	ck_assert_int_lt(write_number(far, 1, 1), 0);
	ck_assert(!file_exists(unit_path("no")));
}

TEST(what_goes_in_comes_out_in_order)
{
	const char *dir = unit_path("order");
	struct stat st;

	expect_drain(dir, 0, 0, "");
	ck_assert_int_eq(write_number(dir, 3000, 5), 0);
	ck_assert_int_eq(write_number(dir, 1000, 1), 0);
	for (int i = 2; i < 5; i++)
		ck_assert_int_eq(write_number(dir, 2000, i), 0);
	ck_assert_int_eq(stat(dir, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(count_files(dir), 5);
	expect_drain(dir, 0, 5, "1 2 3 4 5 ");
	ck_assert_int_eq(count_files(dir), 0);
	expect_drain(dir, 0, 0, "");
}

TEST(of_some_events_only_the_newest_counts)
{
	cleanup_json struct json_object *event = json_object_new_object();
	const char *dir = unit_path("newest");
	struct heard heard = { .text = BUF_INIT };

	ck_assert_int_eq(write_number(dir, 1000, 1), 0);
	for (int n = 2; n <= 4; n++) {
		json_set_int(event, "n", n);
		ck_assert_int_eq(
		    spool_write_newest(dir, 1000 + n, event, NULL), 0);
	}
	ck_assert_int_eq(count_files(dir), 2);
	ck_assert_int_eq(drain_all(dir, 0, NULL, hear, &heard, NULL), 2);
	ck_assert_str_eq(heard.text.data, "4 1 ");
	buf_release(&heard.text);
}

TEST(draining_can_be_done_in_portions)
{
	const char *dir = unit_path("portions");

	for (int i = 1; i < 6; i++)
		ck_assert_int_eq(write_number(dir, 1000 + i, i), 0);
	expect_drain(dir, 2, 2, "1 2 ");
	expect_drain(dir, 3, 3, "3 4 5 ");
	expect_drain(dir, 3, 0, "");
}

static int
hear_any(const char *id, struct json_object *event, void *arg)
{
	struct buf *text = arg;

	(void)id;
	buf_addf(text, "%d ", (int)json_int_or(event, "n", -1));
	return 0;
}

/* What comes meanwhile waits for its end, even if it would sort before the
 * rest; only the newest of its kind does not. */
TEST(a_folder_is_listed_once_for_all_portions)
{
	cleanup_json struct json_object *event = json_object_new_object();
	cleanup_buf struct buf heard = BUF_INIT;
	const char *dir = unit_path("listed");
	struct spool_rest rest = { 0 };

	for (int i = 1; i < 6; i++)
		ck_assert_int_eq(write_number(dir, 1000 + i, i), 0);
	ck_assert_int_eq(
	    spool_drain(dir, &rest, 2, NULL, hear_any, &heard, NULL), 2);
	ck_assert_int_eq(write_number(dir, 500, 7), 0);
	json_set_int(event, "n", 9);
	ck_assert_int_eq(spool_write_newest(dir, 2000, event, NULL), 0);
	ck_assert_int_eq(
	    spool_drain(dir, &rest, 2, NULL, hear_any, &heard, NULL), 2);
	ck_assert_str_eq(heard.data, "1 2 9 3 4 ");
	ck_assert_int_eq(
	    spool_drain(dir, &rest, 3, NULL, hear_any, &heard, NULL), 2);
	ck_assert_str_eq(heard.data, "1 2 9 3 4 5 7 ");
	ck_assert_int_eq(count_files(dir), 0);
	spool_rest_release(&rest);
}

TEST(an_event_that_failed_stays_with_those_behind_it)
{
	const char *dir = unit_path("failed");
	struct heard heard = {
		.text = BUF_INIT, .fail_at = 2, .code = -EAGAIN
	};
	struct err err = { 0, "" };

	for (int i = 1; i < 4; i++)
		ck_assert_int_eq(write_number(dir, 1000 + i, i), 0);
	ck_assert_int_eq(drain_all(dir, 0, NULL, hear, &heard, &err), -EAGAIN);
	ck_assert_str_eq(heard.text.data, "1 ");
	ck_assert_int_eq(err.code, -EAGAIN);
	expect_drain(dir, 0, 2, "2 3 ");
	buf_release(&heard.text);
}

TEST(a_useless_event_goes_aside)
{
	const char *dir = unit_path("useless");
	struct heard heard = {
		.text = BUF_INIT, .fail_at = 1, .code = -EINVAL
	};

	for (int i = 1; i < 3; i++)
		ck_assert_int_eq(write_number(dir, 1000 + i, i), 0);
	ck_assert_int_eq(drain_all(dir, 0, NULL, hear, &heard, NULL), 2);
	ck_assert_str_eq(heard.text.data, "2 ");
	ck_assert_int_eq(count_files(dir), 0);
	ck_assert_int_eq(count_files(unit_path("useless/broken")), 1);
	buf_release(&heard.text);
}

TEST(broken_files_go_aside)
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = {
		{ "", 0 },
		{ "{\"n\":1", 6 },
		{ "\0\0\0\0", 4 },
		{ "null\n", 5 },
		{ "{\"n\":1}{\"n\":2}", 14 },
	};
	const char *dir = unit_path("broken-files");
	char id[ID_ULID_SIZE];

	ck_assert_int_eq(write_number(dir, 1000, 1), 0);
	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *name = NULL;

		id_ulid(2000, id);
		name = xasprintf("%s.json", id);
		put_file(dir, name, rows[i].bytes, rows[i].len);
	}
	ck_assert_int_eq(write_number(dir, 3000, 2), 0);
	expect_drain(dir, 0, nitems(rows) + 2, "1 2 ");
	ck_assert_int_eq(count_files(dir), 0);
	ck_assert_int_eq(
	    count_files(unit_path("broken-files/broken")), nitems(rows));
}

TEST(an_oversized_file_goes_aside)
{
	const char *dir = unit_path("oversized");
	cleanup_free char *text = xmalloc(SPOOL_EVENT_MAX + 1);

	memset(text, ' ', SPOOL_EVENT_MAX + 1);
	ck_assert_int_eq(write_number(dir, 1, 1), 0);
	put_file(
	    dir, "01ARZ3NDEKTSV4RRFFQ69G5FAV.json", text, SPOOL_EVENT_MAX + 1);
	expect_drain(dir, 0, 2, "1 ");
	ck_assert_int_eq(count_files(unit_path("oversized/broken")), 1);
}

TEST(broken_files_are_kept_in_small_number)
{
	const char *dir = unit_path("many-broken");
	char id[ID_ULID_SIZE];

	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	for (int i = 0; i < SPOOL_BROKEN_MAX + 20; i++) {
		cleanup_free char *name = NULL;

		id_ulid(2000, id);
		name = xasprintf("%s.json", id);
		put_file(dir, name, "x", 1);
	}
	expect_drain(dir, 0, SPOOL_BROKEN_MAX + 20, "");
	ck_assert_int_eq(count_files(dir), 0);
	ck_assert_int_eq(
	    count_files(unit_path("many-broken/broken")), SPOOL_BROKEN_MAX);
}

/* A worker in a sandbox can write only here, and the daemon everywhere. */
TEST(links_are_not_followed)
{
	const char *dir = unit_path("links"), *other = unit_path("other");
	cleanup_free char *broken = file_join(dir, "broken");
	cleanup_free char *link =
	    file_join(dir, "01ARZ3NDEKTSV4RRFFQ69G5FAV.json");

	ck_assert_int_eq(file_mkdirs(other, 0700, NULL), 0);
	put_file(other, "event.json", "{\"n\":7}", 7);
	ck_assert_int_eq(write_number(dir, 1, 1), 0);
	ck_assert_int_eq(symlink("../other/event.json", link), 0);
	ck_assert_int_eq(symlink("../other", broken), 0);
	expect_drain(dir, 0, 2, "1 ");
	ck_assert_int_eq(count_files(other), 1);
	ck_assert(!file_exists(link));
	put_file(dir, "01ARZ3NDEKTSV4RRFFQ69G5FAV.json", "{", 1);
	expect_drain(dir, 0, 1, "");
	ck_assert_int_eq(count_files(other), 1);
}

static bool
count_skipped(const char *id, void *arg)
{
	int *count = arg;

	(void)id;
	(*count)++;
	return true;
}

TEST(a_look_is_bounded)
{
	const char *dir = unit_path("look");
	char name[ID_ULID_SIZE + 5];
	int count = 0;

	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	for (int i = 0; i < SPOOL_LOOK_MAX + 100; i++) {
		cleanup_free char *path = NULL;

		id_ulid(1000, name);
		path = xasprintf("%s/%s.json", dir, name);
		ck_assert_int_eq(mknod(path, S_IFREG | 0600, 0), 0);
	}
	ck_assert_int_eq(
	    drain_all(dir, 0, count_skipped, hear, &count, NULL), 0);
	ck_assert_int_le(count, SPOOL_LOOK_MAX);
	ck_assert_int_ge(count, SPOOL_COUNT_MAX);
}

TEST(other_files_are_left_alone)
{
	const char *dir = unit_path("others");

	ck_assert_int_eq(write_number(dir, 1000, 1), 0);
	put_file(dir, "README.json", "{}", 2);
	put_file(dir, "01ARZ3NDEKTSV4RRFFQ69G5FAV.txt", "{}", 2);
	put_file(dir, "01ARZ3NDEKTSV4RRFFQ69G5FAU.json", "{}", 2);
	expect_drain(dir, 0, 1, "1 ");
	ck_assert_int_eq(count_files(dir), 3);
}

TEST(unfinished_files_are_removed_when_they_are_old)
{
	const char *dir = unit_path("unfinished");
	const char *name = "01ARZ3NDEKTSV4RRFFQ69G5FAV.part";

	ck_assert_int_eq(write_number(dir, 1000, 1), 0);
	put_file(dir, name, "{", 1);
	expect_drain(dir, 0, 1, "1 ");
	ck_assert_int_eq(count_files(dir), 1);
	clock_virtual_begin(0, clock_wall_ms() + 120 * 1000);
	expect_drain(dir, 0, 0, "");
	clock_virtual_end();
	ck_assert_int_eq(count_files(dir), 0);
}

TEST(the_number_of_events_is_bounded)
{
	const char *dir = unit_path("number");
	struct err err = { 0, "" };
	cleanup_json struct json_object *event = json_object_new_object();
	char name[ID_ULID_SIZE + 5];

	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	for (int i = 0; i < SPOOL_COUNT_MAX - 1; i++) {
		cleanup_free char *path = NULL;

		id_ulid(1000, name);
		path = xasprintf("%s/%s.json", dir, name);
		ck_assert_int_eq(mknod(path, S_IFREG | 0600, 0), 0);
	}
	ck_assert_int_eq(spool_write(dir, 2000, event, &err), 0);
	ck_assert_int_eq(spool_write(dir, 2000, event, &err), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(err.msg, "10000"));
	ck_assert_int_eq(count_files(dir), SPOOL_COUNT_MAX);
}

TEST(the_size_is_bounded)
{
	const char *dir = unit_path("size");
	cleanup_free char *text = xmalloc(SPOOL_EVENT_MAX + 1);
	cleanup_json struct json_object *event = json_object_new_object();
	const char *path = unit_path("size/big");
	int fd;

	memset(text, 'a', SPOOL_EVENT_MAX);
	text[SPOOL_EVENT_MAX] = '\0';
	json_set_string(event, "text", text);
	ck_assert_int_eq(spool_write(dir, 1, event, NULL), -E2BIG);
	ck_assert(!file_exists(dir));
	ck_assert_int_eq(write_number(dir, 1, 1), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(ftruncate(fd, SPOOL_BYTES_MAX), 0);
	fd_close(fd);
	ck_assert_int_eq(write_number(dir, 1, 2), -ENOSPC);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(write_number(dir, 1, 2), 0);
}

TEST(what_cannot_be_written_leaves_nothing)
{
	const char *file = unit_path("a-file");
	cleanup_json struct json_object *event = json_object_new_object();
	struct err err = { 0, "" };

	put_file(unit_scratch(), "a-file", "x", 1);
	ck_assert_int_eq(spool_write(file, 1, event, &err), -ENOTDIR);
	ck_assert_ptr_nonnull(strstr(err.msg, file));
	ck_assert_int_eq(
	    spool_write(unit_path("no/such/dir/at"), 1, event, NULL), -ENOENT);
	ck_assert_int_eq(drain_all(file, 0, NULL, hear, NULL, NULL), -ENOTDIR);
}

TEST(many_writers_do_not_disturb_each_other)
{
	const char *dir = unit_path("writers");
	struct heard heard = { .text = BUF_INIT };
	int status;

	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid > 0)
			continue;
		for (int j = 0; j < 25; j++)
			if (write_number(dir, clock_wall_ms(), j) < 0)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 8; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_int_eq(drain_all(dir, 0, NULL, hear, &heard, NULL), 200);
	ck_assert_int_eq(count_files(dir), 0);
	buf_release(&heard.text);
}
