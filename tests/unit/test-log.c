/* SPDX-License-Identifier: ISC */

#include "unit.h"

#include <sys/resource.h>

#include <json-c/json.h>

static void
open_log(const char *path, enum log_level level)
{
	struct log_options options = {
		.component = "unit", .path = path, .level = level
	};

	ck_assert_int_eq(log_open(&options), 0);
}

static void
read_file(const char *path, struct buf *out)
{
	buf_clear(out);
	ck_assert_int_eq(file_read(path, 10 * 1024 * 1024, out, NULL), 0);
}

static int
count_lines(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

static const char *
member(struct json_object *record, const char *key)
{
	struct json_object *value = NULL;

	ck_assert_msg(
	    json_object_object_get_ex(record, key, &value), "no %s", key);
	return json_object_get_string(value);
}

TEST(a_record_is_one_json_line)
{
	const char *path = unit_path("a.log");
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *record;

	clock_virtual_begin(0, 1769847330123);
	open_log(path, LOG_LEVEL_INFO);
	log_pairs(LOG_LEVEL_WARN, "two\nlines \"quoted\" \x1b[31m\xff",
	    (const char *const[]){ "worker", "auto-1", "task", "t\t1", NULL });
	log_close();
	clock_virtual_end();
	read_file(path, &text);
	ck_assert_int_eq(count_lines(text.data), 1);
	ck_assert_ptr_null(strchr(text.data, '\x1b'));
	record = json_tokener_parse(text.data);
	ck_assert_ptr_nonnull(record);
	ck_assert_str_eq(
	    member(record, "timestamp"), "2026-01-31T08:15:30.123Z");
	ck_assert_str_eq(member(record, "level"), "WARN");
	ck_assert_int_eq(
	    (int)strtol(member(record, "pid"), NULL, 10), (int)getpid());
	ck_assert_str_eq(member(record, "component"), "unit");
	ck_assert_str_eq(member(record, "message"),
	    "two\nlines \"quoted\" \x1b[31m\xef\xbf\xbd");
	ck_assert_str_eq(member(record, "worker"), "auto-1");
	ck_assert_str_eq(member(record, "task"), "t\t1");
	json_object_put(record);
}

TEST(levels_are_told_apart)
{
	const char *path = unit_path("b.log");
	cleanup_buf struct buf text = BUF_INIT;

	open_log(path, LOG_LEVEL_INFO);
	log_debug("not written");
	log_info("one %d", 1);
	errno = ENOENT;
	log_warnx("plain");
	ck_assert_int_eq(errno, ENOENT);
	log_errorx("five");
	log_close();
	read_file(path, &text);
	ck_assert_int_eq(count_lines(text.data), 3);
	ck_assert_ptr_null(strstr(text.data, "not written"));
	ck_assert_ptr_nonnull(strstr(text.data, "\"plain\""));
}

TEST(the_environment_filters)
{
	static const struct {
		const char *filter;
		enum log_level lowest;
	} cases[] = {
		{ "debug", LOG_LEVEL_DEBUG },
		{ "ERROR", LOG_LEVEL_ERROR },
		{ "error,unit=debug", LOG_LEVEL_DEBUG },
		{ "unit=warn,debug", LOG_LEVEL_WARN },
		{ "other=debug", LOG_LEVEL_INFO },
		{ "nonsense,unit=nonsense", LOG_LEVEL_INFO },
		{ "", LOG_LEVEL_INFO },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		setenv("LLMC_LOG", cases[i].filter, 1);
		open_log(unit_path("c.log"), LOG_LEVEL_INFO);
		for (int l = 0; l < LOG_LEVEL_COUNT; l++)
			ck_assert_msg(log_enabled((enum log_level)l) ==
				(l >= (int)cases[i].lowest),
			    "%s: level %d", cases[i].filter, l);
	}
	unsetenv("LLMC_LOG");
	log_close();
}

TEST(rotation_keeps_what_it_should)
{
	const char *path = unit_path("d.log");
	struct log_options options = { .component = "unit",
		.path = path,
		.max_size = 1000,
		.keep = 2,
		.level = LOG_LEVEL_INFO };
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;

	ck_assert_int_eq(log_open(&options), 0);
	for (int i = 0; i < 100; i++)
		log_info("record number %d", i);
	log_close();
	read_file(path, &text);
	ck_assert_ptr_nonnull(strstr(text.data, "number 99\""));
	ck_assert_int_le((int)text.len, 1000);
	ck_assert(file_exists(unit_path("d.log.1")));
	ck_assert(file_exists(unit_path("d.log.2")));
	ck_assert(!file_exists(unit_path("d.log.3")));
	read_file(unit_path("d.log.1"), &text);
	ck_assert_int_le((int)text.len, 1000);
	ck_assert_int_eq(text.data[text.len - 1], '\n');
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
}

TEST(a_record_larger_than_the_limit_is_written)
{
	const char *path = unit_path("e.log");
	struct log_options options = { .component = "unit",
		.path = path,
		.max_size = 50,
		.keep = 1,
		.level = LOG_LEVEL_INFO };
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(log_open(&options), 0);
	log_info("first");
	log_info("second");
	log_close();
	read_file(path, &text);
	ck_assert_ptr_nonnull(strstr(text.data, "second"));
	read_file(unit_path("e.log.1"), &text);
	ck_assert_ptr_nonnull(strstr(text.data, "first"));
}

TEST(a_removed_file_comes_back)
{
	const char *path = unit_path("f.log");
	cleanup_buf struct buf text = BUF_INIT;

	open_log(path, LOG_LEVEL_INFO);
	log_info("before");
	ck_assert_int_eq(unlink(path), 0);
	log_info("after");
	log_close();
	read_file(path, &text);
	ck_assert_ptr_nonnull(strstr(text.data, "after"));
}

TEST(an_unwritable_log_is_tried_again)
{
	const char *dir = unit_path("sub"), *path = unit_path("sub/g.log");
	struct log_options options = {
		.component = "unit", .path = path, .level = LOG_LEVEL_INFO
	};
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(log_open(&options), -ENOENT);
	log_info("lost");
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	log_info("kept");
	log_close();
	read_file(path, &text);
	ck_assert_int_eq(count_lines(text.data), 1);
}

TEST(a_full_disk_is_survived)
{
	const struct rlimit none = { 0, RLIM_INFINITY };
	const char *path = unit_path("full.log");
	struct rlimit before;
	struct stat st;

	open_log(path, LOG_LEVEL_INFO);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	errno = 0;
	for (int i = 0; i < 10; i++)
		log_info("nobody will read this");
	ck_assert_int_eq(errno, 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	log_close();
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
}

/* It would block whoever logs, or lead elsewhere. */
TEST(what_is_no_file_is_refused)
{
	const char *fifo = unit_path("fifo.log"), *dir = unit_path(".llmc");
	const char *link = unit_path(".llmc/link.log");
	struct log_options options = { .component = "test", .path = fifo };

	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(log_open(&options), -EINVAL);
	log_info("nobody will read this");
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	ck_assert_int_eq(symlink("../victim", link), 0);
	options.path = link;
	ck_assert_int_eq(log_open(&options), -ELOOP);
	log_info("nobody will read this");
	log_close();
	ck_assert_int_eq(access(unit_path("victim"), F_OK), -1);
}

TEST(a_huge_message_is_cut_between_characters)
{
	const char *path = unit_path("h.log");
	cleanup_buf struct buf message = BUF_INIT, text = BUF_INIT;
	struct json_object *record;

	for (int i = 0; i < 40000; i++)
		buf_adds(&message, "\xe2\x82\xac");
	open_log(path, LOG_LEVEL_INFO);
	log_info("%s", message.data);
	log_close();
	read_file(path, &text);
	ck_assert_int_lt((int)text.len, 40000);
	ck_assert_ptr_null(strstr(text.data, "\xef\xbf\xbd"));
	record = json_tokener_parse(text.data);
	ck_assert_ptr_nonnull(record);
	json_object_put(record);
}

/* What the last record printed, by file and by level. */
static size_t
length_of(const char *log, enum log_level level)
{
	const char *path = unit_path("stderr");
	struct log_options options = { .component = "unit",
		.path = log,
		.terminal = true,
		.level = LOG_LEVEL_INFO };
	cleanup_buf struct buf text = BUF_INIT, words = BUF_INIT;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int saved = dup(2);

	for (int i = 0; i < 300; i++)
		buf_adds(&words, "\xc3\xa9");
	dup2(fd, 2);
	log_open(&options);
	log_pairs(level, words.data, (const char *const[]){ NULL });
	log_close();
	dup2(saved, 2);
	close(saved);
	close(fd);
	read_file(path, &text);
	return (size_t)text_width(text.data, text.len);
}

TEST(a_line_on_the_terminal_is_cut_where_a_file_has_it_whole)
{
	const char *log = unit_path("whole.log");
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_uint_eq(length_of(log, LOG_LEVEL_INFO), 200);
	ck_assert_uint_eq(length_of(log, LOG_LEVEL_ERROR), 315);
	ck_assert_uint_eq(length_of(NULL, LOG_LEVEL_INFO), 315);
	read_file(log, &text);
	ck_assert_uint_gt(text.len, 2 * 600);
}

/* Capture the terminal copy through a file as standard error. */
static void
capture_terminal(bool colour, struct buf *out)
{
	const char *path = unit_path("stderr");
	struct log_options options = { .component = "unit",
		.terminal = true,
		.colour = colour,
		.level = LOG_LEVEL_INFO };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int saved = dup(2);

	dup2(fd, 2);
	log_open(&options);
	log_pairs(LOG_LEVEL_WARN, "odd\n\x1b[2J",
	    (const char *const[]){ "worker", "adam", NULL });
	log_debug("hidden");
	log_close();
	dup2(saved, 2);
	close(saved);
	close(fd);
	read_file(path, out);
}

TEST(the_terminal_copy_is_safe_to_look_at)
{
	cleanup_buf struct buf text = BUF_INIT;

	setenv("TZ", "UTC", 1);
	clock_virtual_begin(0, 1769847330123);
	capture_terminal(false, &text);
	ck_assert_str_eq(
	    text.data, "08:15:30 WARN  odd \\x1b[2J worker=adam\n");
	capture_terminal(true, &text);
	ck_assert_str_eq(text.data,
	    "08:15:30 \x1b[33mWARN \x1b[0m odd \\x1b[2J worker=adam\n");
	clock_virtual_end();
}

TEST(the_last_words_are_a_record)
{
	const char *path = unit_path("fatal.log");
	cleanup_buf struct buf text = BUF_INIT;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		fatal_on(log_fatal);
		open_log(path, LOG_LEVEL_ERROR);
		fatalx("broken invariant %d", 7);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 70);
	read_file(path, &text);
	ck_assert_ptr_nonnull(strstr(text.data, "\"level\":\"ERROR\""));
	ck_assert_ptr_nonnull(strstr(text.data,
	    "\"message\":\"broken invariant 7\",\"fatal\":\"true\"}"));
}

TEST_EXIT(70, fatal_exits_with_70)
{
	fatalx("broken invariant %d", 7);
}

TEST_EXIT(FATAL_EXIT_MEMORY, exhausted_memory_has_its_own_status)
{
	fatalx("out of memory: %d bytes", 7);
}
