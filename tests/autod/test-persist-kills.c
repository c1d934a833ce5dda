/* SPDX-License-Identifier: ISC */

/*
 * A daemon that is killed at every step of its passes: before a commit, at each
 * write and sync of its transaction, after it, and in each effect. Two passes
 * change the state, a node and add an event, then each does something outside.
 * Whatever is found: all of a pass or nothing of it, and nothing was done
 * outside that the book does not know of.
 */
#include "persist-world.h"

#include <glob.h>
#include <sys/syscall.h>

#include "book.h"
#include "persist.h"

#define STEPS_MAX 500

/* --- steps ---------------------------------------------------------------- */

static int left; /* steps until it dies; 0 = it does not */

static void
step(void)
{
	if (left > 0 && --left == 0)
		raise(SIGKILL);
}

/* SQLite calls these instead of those of libc. */
ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at);
int ftruncate64(int fd, off64_t len);

ssize_t
pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	step();
	return syscall(SYS_pwrite64, fd, data, len, at);
}

int
ftruncate64(int fd, off64_t len)
{
	step();
	return (int)syscall(SYS_ftruncate, fd, len);
}

int
fdatasync(int fd)
{
	step();
	return (int)syscall(SYS_fdatasync, fd);
}

/* --- the daemon ----------------------------------------------------------- */

struct pass {
	struct persist_world *world;
	int number;
	struct pass *next; /* begun by the effect of this one */
};

static void begin_pass(struct pass *pass);

static char *
effect_path(const char *dir, int number)
{
	return xasprintf("%s/effect-%d", dir, number);
}

static void
on_saved(void *arg)
{
	struct pass *pass = arg;
	cleanup_free char *path =
	    effect_path(pass->world->workspace.dir, pass->number);

	step();
	ck_assert_int_eq(mkdir(path, 0700), 0);
	step();
	if (pass->next != NULL)
		begin_pass(pass->next);
}

static void
begin_pass(struct pass *pass)
{
	struct book *book = pass->world->core.book;
	char id[16];
	struct err err = { 0 };

	snprintf(id, sizeof id, "T%d", pass->number);
	step();
	persist_world_change(pass->world, (uint64_t)pass->number);
	ck_assert_int_eq(book_put_body(book, BOOK_NODE, "G", id,
			     "{\"status\":\"todo\"}", &err),
	    0);
	step();
	ck_assert_int_eq(
	    book_add_event(
		book, &(struct book_event){ .type = "pass", .key = id }, &err),
	    0);
	persist_then(&pass->world->core, pass, on_saved, pass);
	step();
}

/* There is a first commit in any case. */
static void
live(int steps)
{
	struct pass third = { &persist_world, 3, NULL };
	struct pass second = { &persist_world, 2, &third };
	struct err err = { 0 };

	persist_world_begin();
	ck_assert_int_eq(book_put_body(persist_world.core.book, BOOK_GOAL, NULL,
			     "G", "{\"status\":\"active\"}", &err),
	    0);
	persist_world_change(&persist_world, 1);
	persist_world_run(10);
	left = steps;
	begin_pass(&second);
	persist_world_run(10);
	step();
	book_close(
	    take_ptr(&persist_world.core.book)); /* writes the log back */
	_exit(0);
}

/* --- and what it leaves ------------------------------------------- */

static int64_t
ask(struct book *book, const char *sql)
{
	int64_t number = -1;
	struct err err = { 0 };

	ck_assert_msg(book_get_int(book, sql, NULL, 0, &number, &err) == 0,
	    "%s: %s", sql, err.msg);
	return number;
}

/* The number of the last pass that is in the book. */
static int
found(const char *dir, int n)
{
	cleanup_free char *path = file_join(dir, "llmc.db");
	struct book *book = NULL;
	struct err err = { 0 };
	int64_t state, nodes, events;

	ck_assert_msg(
	    book_open(path, &book, &err) == 0, "step %d: %s", n, err.msg);
	state = ask(
	    book, "SELECT host.value FROM host WHERE host.key = 'receipts'");
	nodes = ask(book, "SELECT count(*) FROM nodes");
	events = ask(book, "SELECT count(*) FROM events");
	ck_assert_msg(nodes == state - 1 && events == state - 1,
	    "step %d: state %d, %d nodes, %d events", n, (int)state, (int)nodes,
	    (int)events);
	book_close(book);
	for (int i = 2; i <= 3; i++) {
		cleanup_free char *effect = effect_path(dir, i);

		ck_assert_msg(!file_exists(effect) || state >= i,
		    "step %d: %s, but state %d", n, effect, (int)state);
	}
	return (int)state;
}

TEST(killed_at_any_step_a_pass_is_done_or_not)
{
	int counts[4] = { 0 }, n = 1, status = 0;

	do {
		cleanup_free char *place = NULL;
		glob_t dirs = { 0 };
		pid_t pid;

		/* It makes its own folder there. */
		setenv("TMPDIR", unit_scratch(), 1);

		fflush(NULL);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			live(n);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(WIFSIGNALED(status) ?
			WTERMSIG(status) == SIGKILL :
			WEXITSTATUS(status) == 0,
		    "step %d: status %d", n, status);
		place = xasprintf("%s/*/%d", unit_scratch(), (int)pid);
		ck_assert_int_eq(glob(place, 0, NULL, &dirs), 0);
		counts[found(dirs.gl_pathv[0], n)]++;
		globfree(&dirs);
	} while (WIFSIGNALED(status) && ++n < STEPS_MAX);
	printf("# %d steps: %d before the first of two passes, %d between, %d "
	       "after\n",
	    n - 1, counts[1], counts[2], counts[3]);
	fflush(stdout);
	ck_assert_int_lt(n, STEPS_MAX);
	/* Each has several writes, a sync and an effect. */
	ck_assert_int_gt(counts[1], 5);
	ck_assert_int_gt(counts[2], 5);
	ck_assert_int_gt(counts[3], 5);
}
