/* SPDX-License-Identifier: ISC */

#include "unit.h"

#include <sys/socket.h>
#include <termios.h>

#define LINE "a line that somebody may read one day, or not\n"

static void
write_lines(struct outlet *outlet, int count)
{
	for (int i = 0; i < count; i++)
		outlet_write(outlet, LINE, strlen(LINE));
}

/* Everything that is there now. */
static void
read_rest(int fd, struct buf *out)
{
	char text[4096];
	ssize_t n;

	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while ((n = read(fd, text, sizeof text)) > 0)
		buf_add(out, text, (size_t)n);
}

/* Nobody reads: the writer goes on, keeps a bounded part, and says what is
 * missing; who reads later gets the rest. */
static void
check_stall(int reader, int writer)
{
	struct outlet outlet = OUTLET_INIT(writer);
	cleanup_buf struct buf text = BUF_INIT;
	int64_t began = clock_mono_ms();

	write_lines(&outlet, 20000);
	ck_assert_int_lt(clock_mono_ms() - began, 5000);
	ck_assert(!outlet_flush(&outlet));
	ck_assert_uint_le(outlet.queue.len, OUTLET_MAX);
	for (int i = 0; i < 1000 && !outlet_flush(&outlet); i++)
		read_rest(reader, &text);
	ck_assert(outlet_flush(&outlet));
	outlet_write(&outlet, "after\n", 6);
	read_rest(reader, &text);
	ck_assert(memcmp(text.data, LINE, strlen(LINE)) == 0);
	ck_assert_ptr_nonnull(strstr(text.data, "lines are missing here"));
	ck_assert_str_eq(text.data + text.len - 6, "after\n");
	/* The flags that others share are as they were. */
	ck_assert_int_eq(fcntl(writer, F_GETFL) & O_NONBLOCK, 0);
	outlet_finish(&outlet);
}

TEST(a_pipe_that_nobody_reads_blocks_nothing)
{
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	check_stall(ends[0], ends[1]);
}

TEST(a_socket_that_nobody_reads_blocks_nothing)
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	check_stall(ends[0], ends[1]);
}

static int
open_terminal(int *ret_master)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	struct termios raw;

	ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(slave, 0);
	ck_assert_int_eq(tcgetattr(slave, &raw), 0);
	raw.c_oflag &= ~(tcflag_t)OPOST;
	ck_assert_int_eq(tcsetattr(slave, TCSANOW, &raw), 0);
	*ret_master = master;
	return slave;
}

TEST(a_terminal_that_nobody_reads_blocks_nothing)
{
	int master, slave = open_terminal(&master);

	check_stall(master, slave);
}

static void
on_soon(void *arg)
{
	ck_assert_int_eq(tcflow(*(int *)arg, TCOON), 0);
}

static void
on_late(void *arg)
{
	loop_stop(arg, 0);
}

/* As Ctrl-S and Ctrl-Q do. */
TEST(a_stopped_terminal_gets_its_lines_later)
{
	int master, slave = open_terminal(&master);
	struct outlet outlet = OUTLET_INIT(slave);
	cleanup_buf struct buf text = BUF_INIT;
	struct loop *loop = loop_new();
	struct loop_timer *soon, *late;

	ck_assert_int_eq(tcflow(slave, TCOOFF), 0);
	outlet_attach(&outlet, loop);
	write_lines(&outlet, 3);
	read_rest(master, &text);
	ck_assert_str_eq(text.data, "");
	soon = loop_after(loop, 50, on_soon, &slave);
	late = loop_after(loop, 1000, on_late, loop);
	loop_run(loop);
	read_rest(master, &text);
	ck_assert_str_eq(text.data, LINE LINE LINE);
	loop_timer_free(soon);
	loop_timer_free(late);
	outlet_attach(&outlet, NULL);
	outlet_finish(&outlet);
	loop_free(loop);
}

TEST(what_is_held_is_written_by_another)
{
	char path[] = "/tmp/llmc-outlet-XXXXXX";
	cleanup_buf struct buf text = BUF_INIT;
	int fd = mkstemp(path);
	struct outlet outlet = OUTLET_INIT(fd);

	ck_assert_int_ge(fd, 0);
	outlet_hold(&outlet, true);
	write_lines(&outlet, 2);
	ck_assert_uint_eq(outlet_held(&outlet), 2 * strlen(LINE));
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 0);
	ck_assert_int_eq(outlet_write_held(&outlet, strlen(LINE)), 0);
	outlet_drop(&outlet, strlen(LINE));
	outlet_hold(&outlet, false);
	write_lines(&outlet, 1);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	read_rest(fd, &text);
	ck_assert_str_eq(text.data, LINE LINE LINE);
	outlet_finish(&outlet);
	unlink(path);
	close(fd);
}
