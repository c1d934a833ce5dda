/* SPDX-License-Identifier: ISC */

#include "unit.h"

#define MAX (sizeof(((struct err *)NULL)->msg) - 1)

TEST(set_stores_code_and_words)
{
	struct err err;

	memset(&err, 'x', sizeof err);
	ck_assert_int_eq(
	    err_set(&err, -EINVAL, "line %d: %s", 3, "bad key"), -EINVAL);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_str_eq(err.msg, "line 3: bad key");
	/* A later one replaces it. */
	ck_assert_int_eq(err_set(&err, -ENOENT, "%s", ""), -ENOENT);
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_str_eq(err.msg, "");
}

TEST(errno_adds_the_words_of_the_system)
{
	struct err err = { 0 };

	ck_assert_int_eq(
	    err_errno(&err, -ENOENT, "open %s", "/no/where"), -ENOENT);
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_str_eq(err.msg, "open /no/where: No such file or directory");
	err_errno(&err, -9999, "odd");
	ck_assert_int_eq(err.code, -9999);
	ck_assert_int_eq(strncmp(err.msg, "odd: ", 5), 0);
}

TEST(prefix_keeps_the_code)
{
	struct err err = { 0 };

	err_set(&err, -EINVAL, "bad key");
	ck_assert_int_eq(err_prefix(&err, "line %d", 3), -EINVAL);
	ck_assert_int_eq(err_prefix(&err, "%s", "conf.toml"), -EINVAL);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_str_eq(err.msg, "conf.toml: line 3: bad key");
}

TEST(no_words_wanted_still_gives_the_code)
{
	ck_assert_int_eq(err_set(NULL, -EPERM, "x %d", 1), -EPERM);
	ck_assert_int_eq(err_errno(NULL, -EIO, "x"), -EIO);
	ck_assert_int_eq(err_prefix(NULL, "x"), 0);
}

TEST(its_own_text_may_be_an_argument)
{
	struct err err = { 0 };

	err_set(&err, -EINVAL, "inner");
	err_set(&err, -EIO, "outer (%s)", err.msg);
	ck_assert_str_eq(err.msg, "outer (inner)");
	err_prefix(&err, "%s", err.msg);
	ck_assert_str_eq(err.msg, "outer (inner): outer (inner)");
}

TEST(a_long_text_is_cut_at_the_end)
{
	char text[2 * MAX];
	struct err err;

	memset(text, 'a', sizeof text);
	text[MAX] = '\0';
	err_set(&err, -EINVAL, "%s", text);
	ck_assert_str_eq(err.msg, text);
	err_set(&err, -EINVAL, "%sb", text);
	ck_assert_str_eq(err.msg, text);
	err_errno(&err, -EINVAL, "%s", text);
	ck_assert_str_eq(err.msg, text);
	err_set(&err, -EINVAL, "%sb", text + 1);
	err_prefix(&err, "p");
	ck_assert_uint_eq(strlen(err.msg), MAX);
	ck_assert_int_eq(strncmp(err.msg, "p: aaa", 6), 0);
}

TEST(a_long_text_is_cut_between_characters)
{
	struct err err;

	/* For each prefix the cut falls into another place of a four-byte
	 * character. */
	for (int lead = 0; lead < 4; lead++) {
		char text[2 * MAX + 8];
		size_t at;

		memset(text, 'a', (size_t)lead);
		for (at = (size_t)lead; at < MAX + 4; at += 4)
			memcpy(text + at, "\xf0\x9f\x98\x80", 4);
		text[at] = '\0';
		err_set(&err, -EINVAL, "%s", text);
		ck_assert(text_utf8_valid(err.msg, strlen(err.msg)));
		ck_assert_uint_gt(strlen(err.msg), MAX - 4);
		err_prefix(&err, "%s", text);
		ck_assert(text_utf8_valid(err.msg, strlen(err.msg)));
		ck_assert_uint_gt(strlen(err.msg), MAX - 4);
	}
}
