/* SPDX-License-Identifier: ISC */

/* Processes with a mark in their environment, among those of this machine. */
#include "unit.h"
#include "orphans.h"

#define CROWD  (3 * MARK_SEARCH_SLICE)
#define ASKERS 100

struct asker {
	struct loop *loop;
	int *left; /* searches that are not over; the last one stops the loop */
	int found, over;
	pid_t pid; /* found last */
};

static void
on_found(pid_t pid, void *arg)
{
	struct asker *a = arg;

	a->found++;
	a->pid = pid;
}

static void
on_done(void *arg)
{
	struct asker *a = arg;

	a->over++;
	if (--*a->left == 0)
		loop_stop(a->loop, 0);
}

static char *
own_mark(int number)
{
	return xasprintf("mark/%d/%d", (int)getpid(), number);
}

/* A process with this mark; returns when it has its environment. */
static pid_t
begin_marked(const char *mark)
{
	cleanup_free char *entry = xasprintf("LLMC_KEEPER=%s", mark);
	char *const argv[] = { (char[]){ "sleep" }, (char[]){ "1000" }, NULL };
	char *const env[] = { entry, NULL };
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		execve("/bin/sleep", argv, env);
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

static void
end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
begin_crowd(pid_t pids[CROWD])
{
	for (int i = 0; i < CROWD; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			pause();
			_exit(0);
		}
	}
}

static void
end_crowd(const pid_t pids[CROWD])
{
	for (int i = 0; i < CROWD; i++)
		end_process(pids[i]);
}

static void
ask(struct loop *loop, struct asker *askers, int count)
{
	int left = count;

	for (int i = 0; i < count; i++) {
		cleanup_free char *mark = own_mark(i);

		askers[i] = (struct asker){ .loop = loop, .left = &left };
		mark_search_new(loop, mark, on_found, on_done, &askers[i]);
	}
	loop_run(loop);
	for (int i = 0; i < count; i++)
		ck_assert_int_eq(askers[i].over, 1);
}

TEST(the_process_with_the_mark_is_found)
{
	cleanup_free char *mark = own_mark(0), *longer = own_mark(0);
	struct loop *loop = loop_new();
	struct asker a[2];
	pid_t pid = begin_marked(mark);

	ask(loop, a, 2);
	ck_assert_int_eq(a[0].found, 1);
	ck_assert_int_eq(a[0].pid, pid);
	ck_assert_int_eq(a[1].found, 0);
	ck_assert(mark_is_on(pid, mark));
	longer[strlen(longer) - 1] = '\0';
	ck_assert(!mark_is_on(pid, longer));
	end_process(pid);
	ck_assert(!mark_is_on(pid, mark));
	ask(loop, a, 1);
	ck_assert_int_eq(a[0].found, 0);
	loop_free(loop);
}

/* The crowd alone is more than one pass may read. */
TEST(one_pass_reads_a_slice)
{
	struct loop *loop = loop_new();
	struct asker a[1];
	pid_t pids[CROWD];

	begin_crowd(pids);
	ask(loop, a, 1);
	ck_assert_uint_ge(loop_passes(loop), CROWD / MARK_SEARCH_SLICE);
	end_crowd(pids);
	loop_free(loop);
}

TEST(all_who_ask_at_once_share_the_reading)
{
	static struct asker a[ASKERS];
	struct loop *loop = loop_new();
	cleanup_free char *mark = own_mark(ASKERS - 1);
	pid_t pids[CROWD], marked = begin_marked(mark);
	uint64_t alone;

	begin_crowd(pids);
	ask(loop, a, 1);
	alone = loop_passes(loop);
	ask(loop, a, ASKERS);
	/* Others come and go on this machine meanwhile. */
	ck_assert_uint_le(loop_passes(loop), 4 * alone + ASKERS / 4);
	ck_assert_int_eq(a[0].found, 0);
	ck_assert_int_eq(a[ASKERS - 1].pid, marked);
	end_process(marked);
	end_crowd(pids);
	loop_free(loop);
}

/* --- an asker that comes in the middle --------------------------------- */

struct late {
	struct asker first, second;
	struct loop_call *call;
	pid_t pid;
};

/* The process may have a number that was read already. */
static void
on_pass(void *arg)
{
	struct late *l = arg;
	cleanup_free char *mark = own_mark(1);

	l->pid = begin_marked(mark);
	mark_search_new(l->first.loop, mark, on_found, on_done, &l->second);
}

TEST(who_asks_later_gets_a_reading_from_the_beginning)
{
	struct loop *loop = loop_new();
	cleanup_free char *mark = own_mark(0);
	int left = 2;
	struct late l = { .first = { .loop = loop, .left = &left },
		.second = { .loop = loop, .left = &left } };
	pid_t pids[CROWD];

	begin_crowd(pids);
	mark_search_new(loop, mark, on_found, on_done, &l.first);
	l.call = loop_call_new(loop, on_pass, &l);
	loop_call_request(l.call);
	loop_run(loop);
	ck_assert_int_eq(l.first.over, 1);
	ck_assert_int_eq(l.second.over, 1);
	ck_assert_int_eq(l.second.found, 1);
	ck_assert_int_eq(l.second.pid, l.pid);
	end_process(l.pid);
	end_crowd(pids);
	loop_call_free(l.call);
	loop_free(loop);
}

TEST(a_search_can_be_given_up)
{
	struct loop *loop = loop_new();
	struct asker a[1], gone = { 0 };

	mark_search_free(
	    mark_search_new(loop, "gone", on_found, on_done, &gone));
	mark_search_free(NULL);
	ask(loop, a, 1);
	ck_assert_int_eq(gone.over, 0);
	loop_free(loop);
}
