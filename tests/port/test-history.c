/* SPDX-License-Identifier: ISC */

#include "unit.h"

#include <sys/resource.h>

#include "history.h"
#include "jsonl.h"
#include "workspace.h"

#define NOW INT64_C(1700000000000)

/* A workspace that is only a folder. */
static struct place {
	struct workspace ws;
	char *file;
} p;

static void
place_end(void)
{
	free(p.ws.dir);
	free(p.file);
}

static void
place_begin(const char *name)
{
	memset(&p, 0, sizeof p);
	p.ws.dir = xstrdup(unit_path(name));
	ck_assert_int_eq(file_mkdirs(p.ws.dir, 0700, NULL), 0);
	p.file = workspace_path(&p.ws, "failures.jsonl");
	unit_at_end(place_end);
}

/* The n-th event of a test: at NOW + n, with a text that says so. */
static struct spiral_event
make(int n)
{
	struct spiral_event event = {
		.kind = SPIRAL_FAILURE, .at_ms = NOW + n, .run_ms = n
	};

	event.signature = xasprintf("s%d", n);
	event.words = xstrdup("it \"died\"\nof \xf0\x9f\x92\xa5");
	return event;
}

static int
add(struct history *history, int n, struct err *err)
{
	struct spiral_event event = make(n);
	int r = history_add(&p.ws, history, &event, err);

	ck_assert_ptr_null(event.signature);
	ck_assert_ptr_null(event.words);
	return r;
}

static void
expect_events(const struct history *history, int first, int last)
{
	ck_assert_uint_eq(history->count, (size_t)(last - first + 1));
	for (int n = first; n <= last; n++) {
		const struct spiral_event *event = &history->events[n - first];
		cleanup_free char *signature = xasprintf("s%d", n);

		ck_assert_int_eq(event->kind, SPIRAL_FAILURE);
		ck_assert_int_eq(event->at_ms, NOW + n);
		ck_assert_int_eq(event->run_ms, n);
		ck_assert_str_eq(event->signature, signature);
		ck_assert_str_eq(
		    event->words, "it \"died\"\nof \xf0\x9f\x92\xa5");
	}
}

static void
expect_file(int first, int last)
{
	struct history history = { 0 };
	struct err err = { 0, "" };

	ck_assert_msg(history_load(&p.ws, &history, &err) == 0, "%s", err.msg);
	expect_events(&history, first, last);
	ck_assert_uint_eq(history.unsaved, 0);
	history_release(&history);
}

static void
append(const char *text)
{
	ck_assert_int_eq(
	    file_append(p.file, text, strlen(text), 0600, false, NULL), 0);
}

static size_t
count_lines(void)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t lines = 0;

	ck_assert_int_eq(file_read(p.file, (size_t)64 << 20, &text, NULL), 0);
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	return lines;
}

TEST(no_file_is_an_empty_history)
{
	place_begin("none");
	expect_file(1, 0);
	ck_assert(!file_exists(p.file));
	append("");
	expect_file(1, 0);
}

TEST(what_is_added_is_loaded_again)
{
	struct history history = { 0 };
	struct stat st;

	place_begin("again");
	for (int n = 1; n <= 20; n++) {
		ck_assert_int_eq(add(&history, n, NULL), 0);
		expect_events(&history, 1, n);
		expect_file(1, n);
	}
	ck_assert_int_eq(stat(p.file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_uint_eq(count_lines(), 20);
	history_release(&history);
	ck_assert_uint_eq(history.count, 0);
	history_release(&history);
}

TEST(every_member_comes_back)
{
	struct history history = { 0 }, loaded = { 0 };
	struct spiral_event event = {
		.kind = SPIRAL_REMEDY, .at_ms = NOW, .run_ms = 5, .took_ms = 7
	};

	place_begin("members");
	event.class = xstrdup("died");
	event.outcome = xstrdup("gave up");
	event.log = xstrdup("/a/remediation.txt");
	ck_assert_int_eq(history_add(&p.ws, &history, &event, NULL), 0);
	ck_assert_int_eq(history_load(&p.ws, &loaded, NULL), 0);
	ck_assert_uint_eq(loaded.count, 1);
	ck_assert_int_eq(loaded.events[0].kind, SPIRAL_REMEDY);
	ck_assert_int_eq(loaded.events[0].took_ms, 7);
	ck_assert_str_eq(loaded.events[0].class, "died");
	ck_assert_str_eq(loaded.events[0].outcome, "gave up");
	ck_assert_str_eq(loaded.events[0].log, "/a/remediation.txt");
	ck_assert_ptr_null(loaded.events[0].signature);
	history_release(&history);
	history_release(&loaded);
}

TEST(a_torn_last_line_is_left_out_and_does_not_spoil_the_next)
{
	ended_by(history_release) struct history history = { 0 };

	place_begin("torn");
	ck_assert_int_eq(add(&history, 1, NULL), 0);
	ck_assert_int_eq(add(&history, 2, NULL), 0);
	append("{\"kind\":\"failure\",\"at_m");
	expect_file(1, 2);
	ck_assert_int_eq(add(&history, 3, NULL), 0);
	expect_file(1, 3);
}

TEST(foreign_lines_are_ignored)
{
	static const char *const lines[] = { "\n", "words\n", "[1]\n", "null\n",
		"{}\n", "{\"kind\":\"failure\"}\n",
		"{\"kind\":7,\"at_ms\":1}\n",
		"{\"kind\":\"of the future\",\"at_ms\":1}\n",
		"{\"kind\":\"failure\",\"at_ms\":-1}\n",
		"{\"kind\":\"failure\",\"at_ms\":1,\"words\":[]}\n",
		"\xff\xfe\n" };
	ended_by(history_release) struct history history = { 0 };
	int n = 0;

	place_begin("foreign");
	for (size_t i = 0; i < nitems(lines); i++) {
		append(lines[i]);
		ck_assert_int_eq(add(&history, ++n, NULL), 0);
	}
	expect_file(1, n);
	/* However many there are, they do not displace an event. */
	for (int i = 0; i < HISTORY_MAX; i++)
		append("{\"foreign\":true}\n");
	expect_file(1, n);
}

/* Write events first to last to the file, not through history_add(). */
static void
fill(int first, int last)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (int n = first; n <= last; n++)
		buf_addf(&text,
		    "{\"kind\":\"failure\",\"at_ms\":%lld,\"run_ms\":%d,"
		    "\"signature\":\"s%d\",\"words\":"
		    "\"it \\\"died\\\"\\nof \xf0\x9f\x92\xa5\"}\n",
		    (long long)(NOW + n), n, n);
	append(text.data);
}

TEST(the_last_events_are_those_that_count)
{
	ended_by(history_release) struct history history = { 0 };

	place_begin("last");
	fill(1, HISTORY_MAX);
	expect_file(1, HISTORY_MAX);
	ck_assert_int_eq(history_load(&p.ws, &history, NULL), 0);
	for (int n = HISTORY_MAX + 1; n <= HISTORY_MAX + 3; n++) {
		ck_assert_int_eq(add(&history, n, NULL), 0);
		expect_events(&history, n - HISTORY_MAX + 1, n);
		expect_file(n - HISTORY_MAX + 1, n);
	}
}

TEST(a_long_file_is_rewritten_with_the_last_events)
{
	ended_by(history_release) struct history history = { 0 };
	struct stat st;

	place_begin("rewritten");
	fill(1, 4 * HISTORY_MAX - 1);
	ck_assert_int_eq(add(&history, 4 * HISTORY_MAX, NULL), 0);
	ck_assert_uint_eq(count_lines(), 4 * HISTORY_MAX);
	/* A history that was started without the file loses nothing of it. */
	ck_assert_int_eq(add(&history, 4 * HISTORY_MAX + 1, NULL), 0);
	ck_assert_uint_eq(count_lines(), HISTORY_MAX);
	expect_file(3 * HISTORY_MAX + 2, 4 * HISTORY_MAX + 1);
	ck_assert_int_eq(add(&history, 4 * HISTORY_MAX + 2, NULL), 0);
	ck_assert_uint_eq(count_lines(), HISTORY_MAX + 1);
	expect_events(&history, 4 * HISTORY_MAX, 4 * HISTORY_MAX + 2);
	ck_assert_int_eq(stat(p.file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
}

TEST(a_file_longer_than_is_read_is_rewritten_too)
{
	cleanup_buf struct buf noise = BUF_INIT;
	ended_by(history_release) struct history history = { 0 };

	place_begin("big");
	while (noise.len < JSONL_LOOK_MAX / 100)
		buf_adds(&noise, "foreign ");
	buf_addc(&noise, '\n');
	for (int i = 0; i < 101; i++)
		append(noise.data);
	fill(1, 3);
	ck_assert_int_eq(add(&history, 4, NULL), 0);
	ck_assert_uint_eq(count_lines(), 4);
	expect_file(1, 4);
}

TEST(what_could_not_be_written_counts_and_is_written_later)
{
	ended_by(history_release) struct history history = { 0 };
	struct rlimit old, less;
	struct err err = { 0, "" };
	struct stat st;
	int torn, full;

	place_begin("full");
	ck_assert_int_eq(add(&history, 1, NULL), 0);
	ck_assert_int_eq(stat(p.file, &st), 0);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	less = old;
	less.rlim_cur = (rlim_t)st.st_size + 10;
	setrlimit(RLIMIT_FSIZE, &less); /* also limits check's own files */
	torn = add(&history, 2, NULL);
	full = add(&history, 3, &err);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	ck_assert_int_eq(torn, -ENOSPC);
	ck_assert_int_eq(full, -EFBIG);
	ck_assert_ptr_nonnull(strstr(err.msg, p.file));
	ck_assert_uint_eq(history.unsaved, 2);
	expect_events(&history, 1, 3);
	expect_file(1, 1);
	ck_assert_int_eq(add(&history, 4, NULL), 0);
	ck_assert_uint_eq(history.unsaved, 0);
	expect_events(&history, 1, 4);
	expect_file(1, 4);
}

TEST(without_a_disk_memory_stays_bounded)
{
	ended_by(history_release) struct history history = { 0 };

	place_begin("away");
	ck_assert_int_eq(rmdir(p.ws.dir), 0);
	for (int n = 1; n <= HISTORY_MAX + 2; n++)
		ck_assert_int_eq(add(&history, n, NULL), -ENOENT);
	ck_assert_uint_eq(history.unsaved, HISTORY_MAX);
	expect_events(&history, 3, HISTORY_MAX + 2);
	ck_assert_int_eq(mkdir(p.ws.dir, 0700), 0);
	ck_assert_int_eq(add(&history, HISTORY_MAX + 3, NULL), 0);
	expect_file(4, HISTORY_MAX + 3);
}

TEST(a_file_that_cannot_be_read_is_told)
{
	ended_by(history_release) struct history history = { .unsaved = 77 };
	struct err err = { 0, "" };

	place_begin("unreadable");
	ck_assert_int_eq(mkdir(p.file, 0700), 0);
	ck_assert_int_eq(history_load(&p.ws, &history, &err), -EISDIR);
	ck_assert_ptr_nonnull(strstr(err.msg, p.file));
	ck_assert_uint_eq(history.unsaved, 77);
	history.unsaved = 0;
	ck_assert_int_eq(add(&history, 1, &err), -EISDIR);
	expect_events(&history, 1, 1);
}

/* Killed at any moment, even during a rewrite: the old events are there without
 * a gap, and so are acknowledged ones. */
TEST(a_crash_loses_nothing_that_was_acknowledged)
{
	struct history history = { 0 };
	int status = 0, told, last;

	place_begin("crash");
	fill(1, 4 * HISTORY_MAX - 2);
	for (int i = 0; i < 20; i++) {
		int line[2];
		pid_t pid;

		ck_assert_int_eq(history_load(&p.ws, &history, NULL), 0);
		last = (int)(history.events[history.count - 1].at_ms - NOW);
		ck_assert_int_eq(pipe(line), 0);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		for (int n = last + 1; pid == 0 && n < last + 5000; n++) {
			if (add(&history, n, NULL) < 0 ||
			    write(line[1], &n, sizeof n) != sizeof n)
				break;
		}
		if (pid == 0)
			_exit(1);
		fd_close(line[1]);
		for (int j = 0; j <= i; j++)
			ck_assert_int_eq(
			    read(line[0], &told, sizeof told), sizeof told);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		while (read(line[0], &told, sizeof told) == sizeof told)
			;
		fd_close(line[0]);
		history_release(&history);
		ck_assert_int_eq(history_load(&p.ws, &history, NULL), 0);
		ck_assert_uint_eq(history.count, HISTORY_MAX);
		last = (int)(history.events[history.count - 1].at_ms - NOW);
		ck_assert_int_ge(last, told);
		expect_events(&history, last - HISTORY_MAX + 1, last);
		history_release(&history);
	}
}
