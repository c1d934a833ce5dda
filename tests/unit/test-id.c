/* SPDX-License-Identifier: ISC */

#include "id.h"
#include "unit.h"

TEST(uuid_has_the_form_of_version_4)
{
	char id[ID_UUID_SIZE];

	for (int i = 0; i < 1000; i++) {
		memset(id, 'x', sizeof id);
		id_uuid(id);
		ck_assert_uint_eq(strlen(id), ID_UUID_SIZE - 1);
		ck_assert(id_uuid_valid(id));
		ck_assert_int_eq(id[14], '4');
		ck_assert_ptr_nonnull(strchr("89ab", id[19]));
		ck_assert_uint_eq(
		    strspn(id, "0123456789abcdef-"), ID_UUID_SIZE - 1);
	}
}

TEST(uuid_differs_in_every_digit_that_is_free)
{
	char first[ID_UUID_SIZE], id[ID_UUID_SIZE];
	bool changed[ID_UUID_SIZE] = { false };

	id_uuid(first);
	for (int i = 0; i < 200; i++) {
		id_uuid(id);
		ck_assert_str_ne(id, first);
		for (size_t at = 0; at < sizeof id; at++)
			if (id[at] != first[at])
				changed[at] = true;
	}
	for (size_t at = 0; at < sizeof id - 1; at++)
		ck_assert_int_eq(changed[at], first[at] != '-' && at != 14);
}

TEST(uuid_of_any_version_and_case_is_valid)
{
	static const char *const good[] = {
		"00000000-0000-0000-0000-000000000000",
		"ffffffff-ffff-ffff-ffff-ffffffffffff",
		"6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
		"6ba7b810-9dad-11D1-80b4-00c04fD430c8",
		"018f4e3c-7b1a-7abc-8def-0123456789ab",
	};
	static const char *const bad[] = {
		"",
		"6ba7b810",
		"6ba7b8109dad11d180b400c04fd430c8",
		"6ba7b810-9dad-11d1-80b4-00c04fd430c",
		"6ba7b810-9dad-11d1-80b4-00c04fd430c80",
		"6ba7b810-9dad-11d1-80b4-00c04fd430cg",
		"6ba7b8109-dad-11d1-80b4-00c04fd430c8",
		"{6ba7b810-9dad-11d1-80b4-00c04fd430c8}",
		" 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
		"6ba7b810-9dad-11d1-80b4-00c04fd430c8\n",
		"6ba7b810_9dad_11d1_80b4_00c04fd430c8",
	};

	for (size_t i = 0; i < nitems(good); i++)
		ck_assert_msg(id_uuid_valid(good[i]), "'%s'", good[i]);
	for (size_t i = 0; i < nitems(bad); i++)
		ck_assert_msg(!id_uuid_valid(bad[i]), "'%s'", bad[i]);
}

TEST(ulid_starts_with_the_time)
{
	static const struct {
		int64_t wall_ms;
		const char *time;
	} cases[] = {
		{ 0, "0000000000" },
		{ 1, "0000000001" },
		{ 31, "000000000Z" },
		{ 32, "0000000010" },
		{ INT64_C(1469918176385), "01ARYZ6S41" },
		{ (INT64_C(1) << 48) - 1, "7ZZZZZZZZZ" },
		/* Out of range: the nearest value. */
		{ -1, "0000000000" },
		{ INT64_MIN, "0000000000" },
		{ INT64_C(1) << 48, "7ZZZZZZZZZ" },
		{ INT64_MAX, "7ZZZZZZZZZ" },
	};
	char id[ID_ULID_SIZE];

	for (size_t i = 0; i < nitems(cases); i++) {
		memset(id, 'x', sizeof id);
		id_ulid(cases[i].wall_ms, id);
		ck_assert_msg(id_ulid_valid(id), "%s", id);
		ck_assert_int_eq(strncmp(id, cases[i].time, 10), 0);
	}
}

TEST(ulid_sorts_in_the_order_it_was_made)
{
	char last[ID_ULID_SIZE] = "", id[ID_ULID_SIZE];

	for (int i = 0; i < 100000; i++) {
		id_ulid(INT64_C(1769847330123) + i / 40000, id);
		if (strcmp(last, id) >= 0)
			ck_abort_msg("%s then %s", last, id);
		memcpy(last, id, sizeof last);
	}
}

TEST(ulid_is_random_behind_the_time)
{
	char a[ID_ULID_SIZE], b[ID_ULID_SIZE], c[ID_ULID_SIZE];
	bool changed[ID_ULID_SIZE] = { false };

	id_ulid(1000, a);
	for (int i = 0; i < 200; i++) {
		id_ulid(2000, b);
		id_ulid(1000, c);
		ck_assert_str_ne(a, c);
		for (size_t at = 10; at < sizeof a - 1; at++)
			if (a[at] != c[at])
				changed[at] = true;
	}
	for (size_t at = 10; at < sizeof a - 1; at++)
		ck_assert(changed[at]);
}

TEST(ulid_that_nobody_makes_is_invalid)
{
	static const char *const bad[] = {
		"",
		"01ARYZ6S41",
		"01ARYZ6S41TSV4RRFFQ69G5FA",
		"01ARYZ6S41TSV4RRFFQ69G5FAVV",
		"81ARYZ6S41TSV4RRFFQ69G5FAV", /* more than 128 bits */
		"01ARYZ6S41TSV4RRFFQ69G5FAI",
		"01ARYZ6S41TSV4RRFFQ69G5FAL",
		"01ARYZ6S41TSV4RRFFQ69G5FAO",
		"01ARYZ6S41TSV4RRFFQ69G5FAU",
		"01aryz6s41tsv4rrffq69g5fav",
		"01ARYZ6S41-SV4RRFFQ69G5FAV",
		"01ARYZ6S41TSV4RRFFQ69G5FA\n",
	};

	ck_assert(id_ulid_valid("01ARYZ6S41TSV4RRFFQ69G5FAV"));
	ck_assert(id_ulid_valid("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"));
	ck_assert(id_ulid_valid("00000000000000000000000000"));
	for (size_t i = 0; i < nitems(bad); i++)
		ck_assert_msg(!id_ulid_valid(bad[i]), "'%s'", bad[i]);
}

TEST(hash_is_fnv_1a)
{
	char out[17];

	id_hash("", out, 16);
	ck_assert_str_eq(out, "cbf29ce484222325");
	id_hash("a", out, 16);
	ck_assert_str_eq(out, "af63dc4c8601ec8c");
	id_hash("foobar", out, 16);
	ck_assert_str_eq(out, "85944171f73967e8");
	id_hash("foobar", out, 8);
	ck_assert_str_eq(out, "85944171");
	id_hash("foobar", out, 1);
	ck_assert_str_eq(out, "8");
	id_hash("foobar", out, 0);
	ck_assert_str_eq(out, "");
}

TEST(hash_writes_no_more_than_asked)
{
	char out[6];

	memset(out, '?', sizeof out);
	id_hash("foobar", out, 4);
	ck_assert_mem_eq(out, "8594\0?", 6);
}
