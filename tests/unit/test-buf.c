/* SPDX-License-Identifier: ISC */

#include "unit.h"

TEST(empty_is_a_string)
{
	cleanup_buf struct buf b = BUF_INIT;

	ck_assert_str_eq(b.data, "");
	buf_add(&b, NULL, 0);
	buf_adds(&b, "");
	buf_clear(&b);
	ck_assert_uint_eq(b.len, 0);
	ck_assert_str_eq(b.data, "");
}

TEST(grows_and_stays_terminated)
{
	cleanup_buf struct buf b = BUF_INIT;

	for (int i = 0; i < 1000; i++) {
		buf_addf(&b, "%d,", i);
		ck_assert_uint_eq(strlen(b.data), b.len);
	}
	ck_assert(strncmp(b.data, "0,1,2,3,", 8) == 0);
	ck_assert_str_eq(b.data + b.len - 8, "998,999,");
}

TEST(keeps_nul_bytes)
{
	cleanup_buf struct buf b = BUF_INIT;

	buf_add(&b, "a\0b", 3);
	buf_addc(&b, '\0');
	ck_assert_uint_eq(b.len, 4);
	ck_assert(memcmp(b.data, "a\0b\0", 5) == 0);
}

TEST(consume_and_truncate)
{
	cleanup_buf struct buf b = BUF_INIT;

	buf_consume(&b, 10);
	buf_adds(&b, "hello world");
	buf_consume(&b, 6);
	ck_assert_str_eq(b.data, "world");
	buf_truncate(&b, 99);
	ck_assert_str_eq(b.data, "world");
	buf_truncate(&b, 2);
	ck_assert_str_eq(b.data, "wo");
	buf_consume(&b, 99);
	ck_assert_str_eq(b.data, "");
}

TEST(splice_replaces_in_place)
{
	cleanup_buf struct buf b = BUF_INIT;

	buf_adds(&b, "model = \"old\" # why");
	buf_splice(&b, 8, 5, "\"a longer one\"", 14);
	ck_assert_str_eq(b.data, "model = \"a longer one\" # why");
	buf_splice(&b, 0, 0, ">", 1);
	buf_splice(&b, b.len, 0, "<", 1);
	ck_assert_str_eq(b.data, ">model = \"a longer one\" # why<");
	buf_splice(&b, 0, b.len, NULL, 0);
	ck_assert_str_eq(b.data, "");
}

TEST(take_hands_over)
{
	struct buf b = BUF_INIT;
	char *s;

	s = buf_take(&b);
	ck_assert_str_eq(s, "");
	free(s);
	buf_adds(&b, "mine");
	s = buf_take(&b);
	ck_assert_str_eq(s, "mine");
	ck_assert_ptr_eq(b.data, buf_empty);
	free(s);
}
