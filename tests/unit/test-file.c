/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "dir-world.h"

static const char *const LONG_TEXT = "a text longer than sixteen bytes\n";

static int
count_entries(const char *dir)
{
	cleanup_dir DIR *d = opendir(dir);
	int count = 0;

	ck_assert_ptr_nonnull(d);
	while (dir_next(d) != NULL)
		count++;
	return count;
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void
put(const char *path, const char *text)
{
	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
}

static void
expect(const char *path, const char *text)
{
	cleanup_buf struct buf b = BUF_INIT;

	ck_assert_int_eq(file_read(path, 1 << 20, &b, NULL), 0);
	ck_assert_str_eq(b.data, text);
}

static void
expect_read_fails(const char *path, size_t max, int code)
{
	cleanup_buf struct buf b = BUF_INIT;
	struct err err = { 0 };

	buf_adds(&b, "kept");
	ck_assert_int_eq(file_read(path, max, &b, &err), code);
	ck_assert_int_eq(err.code, code);
	ck_assert_msg(strstr(err.msg, path) != NULL, "%s", err.msg);
	ck_assert_str_eq(b.data, "kept");
	ck_assert_uint_eq(b.len, 4);
	ck_assert_int_eq(file_read(path, max, &b, NULL), code);
}

/* Writes beyond this many bytes of a file fail, until limit_end(). */
static void
limit_begin(rlim_t bytes)
{
	struct rlimit rl;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &rl), 0);
	rl.rlim_cur = bytes;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &rl), 0);
}

static void
limit_end(void)
{
	struct rlimit rl;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &rl), 0);
	rl.rlim_cur = rl.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &rl), 0);
	signal(SIGXFSZ, SIG_DFL);
}

TEST(read_appends_all_bytes)
{
	cleanup_buf struct buf b = BUF_INIT;
	const char *path = in(fresh_dir(), "f");

	ck_assert_int_eq(file_replace(path, "a\0b\n", 4, 0600, NULL), 0);
	buf_adds(&b, ">");
	ck_assert_int_eq(file_read(path, 100, &b, NULL), 0);
	ck_assert_uint_eq(b.len, 5);
	ck_assert_mem_eq(b.data, ">a\0b\n", 6);
}

TEST(read_allows_exactly_max_bytes)
{
	cleanup_buf struct buf b = BUF_INIT;
	const char *path = in(fresh_dir(), "f");

	put(path, "12345");
	ck_assert_int_eq(file_read(path, 5, &b, NULL), 0);
	ck_assert_str_eq(b.data, "12345");
	expect_read_fails(path, 4, -EFBIG);
	put(path, "");
	ck_assert_int_eq(file_read(path, 0, &b, NULL), 0);
	ck_assert_str_eq(b.data, "12345");
	ck_assert_int_eq(file_read(path, SIZE_MAX, &b, NULL), 0);
}

TEST(read_bounds_files_that_hide_their_size)
{
	cleanup_buf struct buf b = BUF_INIT;

	/* st_size is 0 for these. */
	ck_assert_int_eq(file_read("/proc/self/status", 65536, &b, NULL), 0);
	ck_assert_uint_gt(b.len, 0);
	expect_read_fails("/proc/self/status", 3, -EFBIG);
}

TEST(read_spans_many_steps)
{
	cleanup_buf struct buf b = BUF_INIT, back = BUF_INIT;
	const char *path = in(fresh_dir(), "f");

	for (int i = 0; i < 40000; i++)
		buf_addf(&b, "%d,", i);
	put(path, b.data);
	ck_assert_int_eq(file_read(path, b.len, &back, NULL), 0);
	ck_assert_str_eq(back.data, b.data);
}

TEST(read_refuses_what_is_no_regular_file)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	const char *dir = fresh_dir();
	cleanup_fd int fd = -1;

	put(in(dir, "f"), "x");
	expect_read_fails(dir, 10, -EISDIR);
	expect_read_fails(in(dir, "none"), 10, -ENOENT);
	expect_read_fails(in(dir, "f/x"), 10, -ENOTDIR);
	ck_assert_int_eq(mkfifo(in(dir, "fifo"), 0600), 0);
	expect_read_fails(in(dir, "fifo"), 10, -EINVAL);
	expect_read_fails("/dev/zero", 10, -EINVAL);
	ck_assert_uint_lt(snprintf(sun.sun_path, sizeof sun.sun_path, "%s",
			      in(dir, "socket")),
	    sizeof sun.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sun, sizeof sun), 0);
	expect_read_fails(in(dir, "socket"), 10, -EINVAL);
}

TEST(replace_creates_with_mode_despite_umask)
{
	const char *dir = fresh_dir(), *path = in(dir, "f");
	mode_t old = umask(077);

	ck_assert_int_eq(file_replace(path, "new", 3, 0644, NULL), 0);
	umask(old);
	expect(path, "new");
	ck_assert_uint_eq(mode_of(path), 0644);
	ck_assert_int_eq(count_entries(dir), 1);
}

TEST(replace_keeps_mode_and_owner)
{
	const char *dir = fresh_dir(), *path = in(dir, "f");
	struct stat before, after;

	put(path, LONG_TEXT);
	ck_assert_int_eq(chmod(path, 0640), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(chown(path, 12345, 54321), 0);
	ck_assert_int_eq(stat(path, &before), 0);
	ck_assert_int_eq(file_replace(path, "short", 5, 0600, NULL), 0);
	ck_assert_int_eq(stat(path, &after), 0);
	expect(path, "short");
	ck_assert_uint_eq(mode_of(path), 0640);
	ck_assert_uint_eq(before.st_uid, after.st_uid);
	ck_assert_uint_eq(before.st_gid, after.st_gid);
	ck_assert_uint_ne(before.st_ino, after.st_ino);
	ck_assert_int_eq(count_entries(dir), 1);
}

TEST(replace_leaves_open_readers_the_old_bytes)
{
	const char *path = in(fresh_dir(), "f");
	cleanup_fd int fd = -1;
	char bytes[8] = { 0 };

	put(path, "old");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	put(path, "new");
	ck_assert_int_eq(read(fd, bytes, sizeof bytes), 3);
	ck_assert_str_eq(bytes, "old");
}

TEST(replace_follows_links)
{
	const char *dir = fresh_dir();
	struct stat st;

	ck_assert_int_eq(mkdir(in(dir, "sub"), 0700), 0);
	put(in(dir, "sub/real"), "old");
	ck_assert_int_eq(symlink("real", in(dir, "sub/near")), 0);
	ck_assert_int_eq(symlink("sub/near", in(dir, "far")), 0);
	ck_assert_int_eq(symlink(in(dir, "sub/real"), in(dir, "absolute")), 0);
	put(in(dir, "far"), "new");
	expect(in(dir, "sub/real"), "new");
	put(in(dir, "absolute"), "newer");
	expect(in(dir, "sub/real"), "newer");
	ck_assert_int_eq(lstat(in(dir, "far"), &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(count_entries(dir), 3);
	ck_assert_int_eq(count_entries(in(dir, "sub")), 2);
}

TEST(replace_creates_the_target_of_a_dead_link)
{
	const char *dir = fresh_dir();

	ck_assert_int_eq(symlink("later", in(dir, "link")), 0);
	put(in(dir, "link"), "there");
	expect(in(dir, "later"), "there");
	ck_assert_int_eq(symlink("loop", in(dir, "loop")), 0);
	ck_assert_int_eq(
	    file_replace(in(dir, "loop"), "x", 1, 0600, NULL), -ELOOP);
}

/* Below .llmc a link leads nowhere, be it a file or a folder on the way. What
 * is above it is the user's. */
TEST(our_own_folder_has_no_links)
{
	static const char *const names[] = { "link", "dead", "out/f",
		"out/none" };
	const char *dir = fresh_dir(), *own;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	/* Without it, as under valgrind, only the last part of a path is
	 * protected. */
	if (syscall(SYS_openat2, AT_FDCWD, ".", NULL, 0) == -1 &&
	    errno == ENOSYS)
		unit_skip("there is no openat2(2) here");
	ck_assert_int_eq(mkdir(in(dir, "real"), 0700), 0);
	ck_assert_int_eq(mkdir(in(dir, "real/.llmc"), 0700), 0);
	ck_assert_int_eq(mkdir(in(dir, "users"), 0700), 0);
	put(in(dir, "users/f"), "theirs");
	ck_assert_int_eq(symlink("real", in(dir, "root")), 0);
	own = in(dir, "root/.llmc");
	ck_assert_int_eq(
	    symlink(in(dir, "users/f"), in(dir, "real/.llmc/link")), 0);
	ck_assert_int_eq(
	    symlink(in(dir, "users/new"), in(dir, "real/.llmc/dead")), 0);
	ck_assert_int_eq(
	    symlink(in(dir, "users"), in(dir, "real/.llmc/out")), 0);
	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *path = file_join(own, names[i]);

		ck_assert_int_eq(
		    file_replace(path, "x", 1, 0600, &err), -ELOOP);
		ck_assert_ptr_nonnull(strstr(err.msg, "symbolic link"));
		ck_assert_int_eq(
		    file_append(path, "x", 1, 0600, false, NULL), -ELOOP);
		ck_assert_int_eq(file_make_private(path, NULL, NULL), -ELOOP);
		ck_assert_int_eq(file_read(path, 100, &text, NULL), -ELOOP);
		ck_assert_int_eq(file_check(path), -ELOOP);
		ck_assert_int_eq(
		    file_open(path, O_WRONLY | O_CREAT, 0600), -ELOOP);
	}
	ck_assert_int_eq(
	    file_mkdirs(in(dir, "root/.llmc/out/sub"), 0700, NULL), -ELOOP);
	expect(in(dir, "users/f"), "theirs");
	ck_assert_int_eq(count_entries(in(dir, "users")), 1);
	put(in(dir, "root/.llmc/f"), "ours");
	expect(in(dir, "real/.llmc/f"), "ours");
	ck_assert_int_eq(file_mkdirs(in(dir, "root/.llmc/a/b"), 0700, NULL), 0);
	put(in(dir, "root/.llmc/a/b/f"), "ours");
	ck_assert_int_eq(file_check(in(dir, "root/.llmc/a/b/f")), 0);
	ck_assert_int_eq(file_check(in(dir, "root/.llmc/a/none")), 0);
}

static void
expect_replace_fails(const char *path, int code)
{
	struct err err = { 0 };

	ck_assert_int_eq(file_replace(path, "x", 1, 0600, &err), code);
	ck_assert_int_eq(err.code, code);
	ck_assert_ptr_nonnull(strstr(err.msg, "cannot write "));
}

TEST(replace_refuses_and_leaves_nothing)
{
	const char *dir = fresh_dir();
	char name[400] = { 0 };
	struct stat st;

	memset(name, 'n', 300);
	put(in(dir, "f"), "x");
	ck_assert_int_eq(mkdir(in(dir, "d"), 0700), 0);
	ck_assert_int_eq(mkfifo(in(dir, "fifo"), 0600), 0);
	expect_replace_fails(in(dir, "f/x"), -ENOTDIR);
	expect_replace_fails(in(dir, "none/x"), -ENOENT);
	expect_replace_fails(in(dir, "d"), -EISDIR);
	expect_replace_fails(in(dir, "fifo"), -EINVAL);
	expect_replace_fails(in(dir, name), -ENAMETOOLONG);
	expect_replace_fails("", -ENOENT);
	ck_assert_int_eq(count_entries(dir), 3);
	ck_assert_int_eq(lstat(in(dir, "fifo"), &st), 0);
	ck_assert(S_ISFIFO(st.st_mode));
}

TEST(tidy_removes_what_a_killed_writer_left)
{
	static const struct {
		const char *name;
		bool stays;
	} files[] = { { ".state.json.a1B2c3.tmp", false },
		{ ".state.json.zzzzzz.tmp", false }, { "state.json", true },
		{ ".state.json.a1B2c.tmp", true },
		{ ".state.json.a1B2c3.tmq", true },
		{ ".state.json.bak.a1B2c3.tmp", true },
		{ ".mtate.json.a1B2c3.tmp", true } };
	const char *dir = fresh_dir();

	for (size_t i = 0; i < nitems(files); i++)
		put(in(dir, files[i].name), "x");
	file_replace_tidy(in(dir, "state.json"));
	for (size_t i = 0; i < nitems(files); i++)
		ck_assert_msg(
		    file_exists(in(dir, files[i].name)) == files[i].stays, "%s",
		    files[i].name);
	file_replace_tidy(in(dir, "no/folder/here")); /* is no error */
}

TEST(replace_takes_the_longest_name)
{
	const char *dir = fresh_dir();
	char name[NAME_MAX + 1] = { 0 };

	memset(name, 'n', NAME_MAX);
	put(in(dir, name), "1");
	put(in(dir, name), "2");
	expect(in(dir, name), "2");
	ck_assert_int_eq(count_entries(dir), 1);
}

TEST(replace_that_cannot_write_keeps_the_old_file)
{
	const char *dir = fresh_dir(), *path = in(dir, "f");
	int r, r_new;

	put(path, "old");
	limit_begin(16);
	r = file_replace(path, LONG_TEXT, strlen(LONG_TEXT), 0600, NULL);
	r_new = file_replace(
	    in(dir, "new"), LONG_TEXT, strlen(LONG_TEXT), 0600, NULL);
	limit_end();
	ck_assert_int_eq(r, -EFBIG);
	ck_assert_int_eq(r_new, -EFBIG);
	expect(path, "old");
	ck_assert_int_eq(count_entries(dir), 1);
}

TEST(replace_works_in_the_current_directory)
{
	const char *dir = fresh_dir();
	cleanup_fd int home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(chdir(dir), 0);
	put("plain", "here");
	ck_assert_int_eq(fchdir(home), 0);
	expect(in(dir, "plain"), "here");
}

TEST(mkdirs_makes_all_parts)
{
	const char *dir = fresh_dir();

	ck_assert_int_eq(file_mkdirs(in(dir, "a//b/c/"), 0700, NULL), 0);
	ck_assert(file_is_dir(in(dir, "a/b/c")));
	ck_assert_uint_eq(mode_of(in(dir, "a/b")), 0700);
	ck_assert_int_eq(file_mkdirs(in(dir, "a/b/c/d"), 0750, NULL), 0);
	ck_assert_int_eq(file_mkdirs(in(dir, "a/b/c/d"), 0700, NULL), 0);
	ck_assert_uint_eq(mode_of(in(dir, "a/b/c/d")), 0750);
	ck_assert_int_eq(file_mkdirs("/", 0700, NULL), 0);
	ck_assert_int_eq(file_mkdirs(".", 0700, NULL), 0);
	ck_assert_int_eq(symlink("a/b", in(dir, "link")), 0);
	ck_assert_int_eq(file_mkdirs(in(dir, "link/x"), 0700, NULL), 0);
	ck_assert(file_is_dir(in(dir, "a/b/x")));
}

TEST(mkdirs_names_what_is_in_the_way)
{
	const char *dir = fresh_dir();
	struct err err = { 0 };
	char name[400] = { 0 };

	put(in(dir, "f"), "x");
	memset(name, 'n', 300);
	ck_assert_int_eq(file_mkdirs(in(dir, "f"), 0700, NULL), -ENOTDIR);
	ck_assert_int_eq(file_mkdirs(in(dir, "f/a/b"), 0700, &err), -ENOTDIR);
	ck_assert_int_eq(err.code, -ENOTDIR);
	ck_assert_ptr_nonnull(strstr(err.msg, in(dir, "f:")));
	ck_assert_int_eq(file_mkdirs(in(dir, name), 0700, NULL), -ENAMETOOLONG);
	ck_assert_int_eq(file_mkdirs("", 0700, NULL), -ENOENT);
	ck_assert_int_eq(symlink("nowhere", in(dir, "dead")), 0);
	ck_assert_int_eq(file_mkdirs(in(dir, "dead"), 0700, NULL), -ENOTDIR);
}

TEST(append_adds_records)
{
	const char *path = in(fresh_dir(), "log");

	ck_assert_int_eq(file_append(path, "1\n", 2, 0600, true, NULL), 0);
	ck_assert_int_eq(file_append(path, "2\n", 2, 0644, false, NULL), 0);
	ck_assert_int_eq(file_append(path, "", 0, 0600, false, NULL), 0);
	ck_assert_int_eq(file_append(path, "3\n", 2, 0600, true, NULL), 0);
	expect(path, "1\n2\n3\n");
	ck_assert_uint_eq(mode_of(path), 0600);
}

TEST(append_closes_a_torn_record)
{
	const char *path = in(fresh_dir(), "log");

	put(path, "{\"whole\":1}\n{\"tor");
	ck_assert_int_eq(file_append(path, "{}\n", 3, 0600, false, NULL), 0);
	expect(path, "{\"whole\":1}\n{\"tor\n{}\n");
}

TEST(append_reports_a_record_cut_short)
{
	const char *path = in(fresh_dir(), "log");
	int torn, full, after;

	put(path, "12345678\n");
	limit_begin(16);
	torn =
	    file_append(path, LONG_TEXT, strlen(LONG_TEXT), 0600, false, NULL);
	full = file_append(path, "x\n", 2, 0600, false, NULL);
	limit_end();
	after = file_append(path, "next\n", 5, 0600, true, NULL);
	ck_assert_int_eq(torn, -ENOSPC);
	ck_assert_int_eq(full, -EFBIG);
	ck_assert_int_eq(after, 0);
	expect(path, "12345678\na text \nnext\n");
}

TEST(append_refuses_what_is_no_regular_file)
{
	const char *dir = fresh_dir();
	struct err err = { 0 };

	ck_assert_int_eq(mkfifo(in(dir, "fifo"), 0600), 0);
	ck_assert_int_eq(
	    file_append(in(dir, "fifo"), "x\n", 2, 0600, false, &err), -EINVAL);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_int_eq(file_append(dir, "x", 1, 0600, false, NULL), -EISDIR);
	ck_assert_int_eq(
	    file_append("/dev/full", "x\n", 2, 0600, false, NULL), -EINVAL);
	ck_assert_int_eq(
	    file_append(in(dir, "none/x"), "x", 1, 0600, false, NULL), -ENOENT);
}

TEST(exists_sees_dead_links)
{
	const char *dir = fresh_dir();

	ck_assert(!file_exists(in(dir, "f")));
	ck_assert_int_eq(symlink("nowhere", in(dir, "dead")), 0);
	ck_assert(file_exists(in(dir, "dead")));
	ck_assert(file_exists(dir));
	ck_assert(file_is_dir(dir));
	put(in(dir, "f"), "x");
	ck_assert(file_exists(in(dir, "f")));
	ck_assert(!file_is_dir(in(dir, "f")));
	ck_assert(!file_is_dir(in(dir, "dead")));
	ck_assert(!file_is_dir(in(dir, "none")));
	ck_assert_int_eq(symlink(".", in(dir, "here")), 0);
	ck_assert(file_is_dir(in(dir, "here")));
}

TEST(join_never_doubles_the_slash)
{
	static const char *const cases[][3] = {
		{ "a", "b", "a/b" },
		{ "a/", "b", "a/b" },
		{ "a//", "b/c", "a/b/c" },
		{ "/", "b", "/b" },
		{ "//", "b", "/b" },
		{ "", "b", "b" },
		{ "a", "/b", "/b" },
		{ ".", "b", "./b" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_free char *s = file_join(cases[i][0], cases[i][1]);

		ck_assert_str_eq(s, cases[i][2]);
	}
}

TEST(write_all_reports_errors)
{
	cleanup_fd int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	cleanup_fd int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int ends[2];

	ck_assert_int_eq(file_write_all(full, "x", 1), -ENOSPC);
	ck_assert_int_eq(file_write_all(full, "x", 0), 0);
	ck_assert_int_eq(file_write_all(null, "x", 1), 0);
	ck_assert_int_eq(file_write_all(-1, "x", 1), -EBADF);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(file_write_all(ends[1], "x", 1), -EPIPE);
	signal(SIGPIPE, SIG_DFL);
	close(ends[1]);
}

TEST(write_all_continues_short_writes)
{
	const char *path = in(fresh_dir(), "f");
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int r;

	/* The kernel cuts the first write; the second gets the error. */
	limit_begin(16);
	r = file_write_all(fd, LONG_TEXT, strlen(LONG_TEXT));
	limit_end();
	ck_assert_int_eq(r, -EFBIG);
	expect(path, "a text longer th");
}
