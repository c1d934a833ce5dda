/* SPDX-License-Identifier: ISC */

#include "unit.h"

static int
open_null(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) != -1;
}

TEST(nothing_is_still_something)
{
	cleanup_free void *a = xmalloc(0);
	cleanup_free void *b = xcalloc(0, 8);
	cleanup_free void *c = xcalloc(8, 0);
	cleanup_free void *d = xreallocarray(NULL, 0, 8);

	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_nonnull(b);
	ck_assert_ptr_nonnull(c);
	ck_assert_ptr_nonnull(d);
}

TEST(calloc_clears_and_realloc_keeps)
{
	cleanup_free char *p = xcalloc(16, 4);

	for (int i = 0; i < 64; i++)
		ck_assert_int_eq(p[i], 0);
	memset(p, 'x', 64);
	p = xreallocarray(p, 1000, 10);
	for (int i = 0; i < 64; i++)
		ck_assert_int_eq(p[i], 'x');
}

TEST(strings_are_copied)
{
	cleanup_free char *whole = xstrdup("hello");
	cleanup_free char *part = xstrndup("hello", 3);
	cleanup_free char *more = xstrndup("hello", 99);
	cleanup_free char *none = xstrndup("hello", 0);
	/* Nothing after the maximum is read. */
	cleanup_free char *open_end = xstrndup((const char[]){ 'a', 'b' }, 2);
	cleanup_free char *made = xasprintf("%s-%d", "x", 7);

	ck_assert_str_eq(whole, "hello");
	ck_assert_str_eq(part, "hel");
	ck_assert_str_eq(more, "hello");
	ck_assert_str_eq(none, "");
	ck_assert_str_eq(open_end, "ab");
	ck_assert_str_eq(made, "x-7");
}

TEST(take_ptr_empties_the_variable)
{
	char *p = xstrdup("mine"), *was = p;
	int *number = NULL;
	cleanup_free char *q = take_ptr(&p);

	ck_assert_ptr_null(p);
	ck_assert_ptr_eq(q, was);
	ck_assert_str_eq(q, "mine");
	ck_assert_ptr_null(take_ptr(&number));
}

static char *
hand_over(bool give)
{
	cleanup_free char *p = xstrdup("given");

	if (!give)
		return NULL;
	return take_ptr(&p);
}

TEST(what_was_taken_outlives_the_scope)
{
	cleanup_free char *p = hand_over(true);

	ck_assert_str_eq(p, "given");
	/* The sanitizer detects a leak here. */
	ck_assert_ptr_null(hand_over(false));
}

TEST(take_fd_empties_the_variable)
{
	int fd = open_null(), was = fd, taken;

	{
		cleanup_fd int kept = fd;

		taken = take_fd(&kept);
		ck_assert_int_eq(kept, -1);
	}
	ck_assert_int_eq(taken, was);
	ck_assert(is_open(taken));
	ck_assert_int_eq(close(taken), 0);
	fd = -1;
	ck_assert_int_eq(take_fd(&fd), -1);
}

TEST(a_descriptor_is_closed_with_its_scope)
{
	int was;

	{
		cleanup_fd int fd = open_null();
		cleanup_fd int none = -1;

		was = fd;
		ck_assert(is_open(was));
		ck_assert_int_eq(none, -1);
	}
	ck_assert(!is_open(was));
}

TEST(fd_close_leaves_nothing_behind)
{
	int fd = open_null(), was = fd;

	fd = fd_close(fd);
	ck_assert_int_eq(fd, -1);
	ck_assert(!is_open(was));
	ck_assert_int_eq(fd_close(-1), -1);
}

TEST(cleanup_keeps_errno)
{
	int closed = open_null();

	ck_assert_int_eq(close(closed), 0);
	errno = ENOTTY;
	{
		cleanup_free char *p = NULL;
		cleanup_fd int fd = -1;

		ck_assert(p == NULL && fd == -1);
		errno = ENOTTY;
	}
	ck_assert_int_eq(errno, ENOTTY);
	/* A close that fails. */
	fd_close(closed);
	ck_assert_int_eq(errno, ENOTTY);
}

TEST(items_are_counted)
{
	static const char *const three[] = { "a", "b", "c" };

	ck_assert_uint_eq(nitems(three), 3);
}

TEST(owned_string_is_replaced_by_a_copy)
{
	cleanup_free char *s = NULL;
	const char *was = "one two";

	xstrset(&s, was);
	ck_assert_str_eq(s, "one two");
	ck_assert_ptr_ne(s, was);
	xstrset(&s, s); /* itself, and a part of itself */
	ck_assert_str_eq(s, "one two");
	xstrset(&s, s + 4);
	ck_assert_str_eq(s, "two");
	xstrset(&s, NULL);
	ck_assert_ptr_null(s);
	xstrset(&s, NULL);
	ck_assert_ptr_null(s);
}
