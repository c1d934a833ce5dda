/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "backoff.h"

static void
assert_waits(const struct backoff *backoff, const int64_t *seconds, int count)
{
	int64_t wait = -1;

	for (int i = 0; i < count; i++) {
		ck_assert(backoff_next(backoff, i, &wait));
		ck_assert_int_eq(wait, seconds[i] * 1000);
	}
	wait = -1;
	ck_assert(!backoff_next(backoff, count, &wait));
	ck_assert(!backoff_next(backoff, INT_MAX, &wait));
	ck_assert_int_eq(wait, -1);
}

TEST(dirty_checkout_waits_a_minute_to_an_hour_ten_times)
{
	static const int64_t seconds[] = { 60, 120, 240, 480, 960, 1920, 3600,
		3600, 3600, 3600 };

	assert_waits(&backoff_dirty, seconds, nitems(seconds));
}

TEST(git_lock_waits_a_second_to_half_a_minute)
{
	static const int64_t seconds[] = { 1, 2, 4, 8, 16, 30 };

	assert_waits(&backoff_git, seconds, nitems(seconds));
}

TEST(extremes_do_not_overflow)
{
	static const struct backoff huge = { INT64_MAX / 2 + 1, INT64_MAX, 0 };
	static const struct backoff upside_down = { 500, 100, 3 };
	static const struct backoff zero = { 0, 100, 0 };
	int64_t wait = -1;

	ck_assert(backoff_next(&huge, INT_MAX, &wait));
	ck_assert_int_eq(wait, INT64_MAX);
	ck_assert(backoff_next(&upside_down, 0, &wait));
	ck_assert_int_eq(wait, 100);
	ck_assert(backoff_next(&backoff_git, -1, &wait));
	ck_assert_int_eq(wait, 1000);
	ck_assert(backoff_next(&zero, 1000, &wait));
	ck_assert_int_eq(wait, 0);
}

TEST(dirty_checkout_is_as_in_the_original)
{
	cleanup_json struct json_object *file = NULL;
	cleanup_free char *path = xasprintf("%s/llmc.json", unit_vectors());
	struct json_object *list = NULL;
	int64_t seconds[32], tries = 0;
	size_t count;

	ck_assert_int_eq(json_load(path, 1 << 20, &file, NULL), 0);
	ck_assert_int_eq(
	    json_get_array(file, "", "dirty_backoff_secs", &list, NULL), 0);
	ck_assert_int_eq(
	    json_get_int(file, "", "dirty_max_retries", 1, 32, &tries, NULL),
	    0);
	count = json_object_array_length(list);
	ck_assert_uint_eq(count, (size_t)tries);
	for (size_t i = 0; i < count; i++)
		seconds[i] =
		    json_object_get_int64(json_object_array_get_idx(list, i));
	assert_waits(&backoff_dirty, seconds, (int)tries);
}
