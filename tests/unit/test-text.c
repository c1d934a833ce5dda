/* SPDX-License-Identifier: ISC */

#include "unit.h"

/* Valid characters of each length, and the edges of what exists. */
static const struct sample {
	const char *bytes;
	uint32_t codepoint;
} samples[] = {
	{ "A", 'A' },
	{ "\x7f", 0x7f },
	{ "\xc2\x80", 0x80 },
	{ "\xdf\xbf", 0x7ff },
	{ "\xe0\xa0\x80", 0x800 },
	{ "\xe2\x82\xac", 0x20ac },
	{ "\xed\x9f\xbf", 0xd7ff },
	{ "\xee\x80\x80", 0xe000 },
	{ "\xef\xbf\xbf", 0xffff },
	{ "\xf0\x90\x80\x80", 0x10000 },
	{ "\xf0\x9f\x98\x80", 0x1f600 },
	{ "\xf4\x8f\xbf\xbf", 0x10ffff },
};

static const char *const broken[] = {
	"\x80", /* a continuation byte alone */
	"\xbf",
	"\xc0\x80", /* overlong NUL */
	"\xc1\xbf", /* overlong */
	"\xe0\x9f\xbf",
	"\xf0\x8f\xbf\xbf",
	"\xed\xa0\x80", /* surrogates */
	"\xed\xbf\xbf",
	"\xf4\x90\x80\x80", /* above U+10FFFF */
	"\xf5\x80\x80\x80",
	"\xf8\x88\x80\x80\x80", /* five bytes */
	"\xfe",
	"\xff",
	"\xc3(", /* not continued */
	"\xe2\x82(",
	"\xf0\x9f\x98(",
};

TEST(utf8_characters_decode_to_their_code_point)
{
	for (size_t i = 0; i < nitems(samples); i++) {
		size_t len = strlen(samples[i].bytes);
		uint32_t codepoint = 0;

		ck_assert_uint_eq(text_utf8_len(samples[i].bytes, len), len);
		ck_assert_uint_eq(
		    text_utf8_decode(samples[i].bytes, len, &codepoint), len);
		ck_assert_uint_eq(codepoint, samples[i].codepoint);
		ck_assert(text_utf8_valid(samples[i].bytes, len));
	}
	ck_assert_uint_eq(text_utf8_len("\0x", 2), 1);
}

TEST(utf8_cut_off_anywhere_is_invalid)
{
	ck_assert_uint_eq(text_utf8_len("", 0), 0);
	ck_assert(text_utf8_valid("", 0));
	for (size_t i = 0; i < nitems(samples); i++)
		for (size_t n = 1; n < strlen(samples[i].bytes); n++) {
			ck_assert_uint_eq(
			    text_utf8_len(samples[i].bytes, n), 0);
			ck_assert(!text_utf8_valid(samples[i].bytes, n));
		}
}

TEST(utf8_broken_is_invalid_and_leaves_the_result_alone)
{
	for (size_t i = 0; i < nitems(broken); i++) {
		size_t len = strlen(broken[i]);
		uint32_t codepoint = 42;

		ck_assert_msg(text_utf8_decode(broken[i], len, &codepoint) == 0,
		    "broken[%zu]", i);
		ck_assert_uint_eq(codepoint, 42);
		ck_assert(!text_utf8_valid(broken[i], len));
	}
	ck_assert(!text_utf8_valid("good \xff good", 11));
	ck_assert(text_utf8_valid("a\0b", 3));
}

TEST(every_code_point_survives_the_round_trip)
{
	cleanup_buf struct buf b = BUF_INIT;
	uint32_t codepoint;

	for (uint32_t c = 0; c <= 0x110010; c++) {
		bool exists = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);

		buf_clear(&b);
		text_add_codepoint(&b, c);
		if (text_utf8_decode(b.data, b.len, &codepoint) != b.len ||
		    codepoint != (exists ? c : 0xfffd))
			ck_abort_msg("U+%04X", (unsigned int)c);
	}
	buf_clear(&b);
	text_add_codepoint(&b, UINT32_MAX);
	ck_assert_str_eq(b.data, "\xef\xbf\xbd");
}

TEST(each_invalid_byte_is_replaced_by_one_character)
{
	static const char *const pairs[][2] = {
		{ "", "" },
		{ "plain \xe2\x82\xac", "plain \xe2\x82\xac" },
		{ "\xff", "\xef\xbf\xbd" },
		{ "a\xffz", "a\xef\xbf\xbdz" },
		{ "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xe2\x82z", "\xef\xbf\xbd\xef\xbf\xbdz" },
		{ "\xc0\xaf!", "\xef\xbf\xbd\xef\xbf\xbd!" },
		{ "\xf0\x9f\x98\xe2\x82\xac",
		    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xe2\x82\xac" },
	};

	for (size_t i = 0; i < nitems(pairs); i++) {
		cleanup_buf struct buf b = BUF_INIT;

		text_add_utf8(&b, pairs[i][0], strlen(pairs[i][0]));
		ck_assert_str_eq(b.data, pairs[i][1]);
	}
}

TEST(cut_ends_between_characters)
{
	static const char s[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z";
	static const size_t expected[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11,
		11, 11 };

	for (size_t max = 0; max < nitems(expected); max++)
		ck_assert_uint_eq(
		    text_cut(s, sizeof s - 1, max), expected[max]);
	ck_assert_uint_eq(text_cut(s, sizeof s - 1, SIZE_MAX), sizeof s - 1);
	ck_assert_uint_eq(text_cut("", 0, 5), 0);
}

TEST(cut_counts_invalid_bytes_as_characters)
{
	for (size_t max = 0; max <= 4; max++) {
		ck_assert_uint_eq(text_cut("\x80\x80\x80\x80", 4, max), max);
		ck_assert_uint_eq(text_cut("\xff\xfe\xff\xfe", 4, max), max);
		/* The fourth byte of the character is missing. */
		ck_assert_uint_eq(
		    text_cut("\xf0\x9f\x98", 3, max), max < 3 ? max : 3);
	}
	/* More continuation bytes than the character has. */
	ck_assert_uint_eq(text_cut("\xc3\xa4\x80\x80", 4, 3), 3);
}

TEST(width_counts_columns)
{
	static const struct {
		const char *s;
		int width;
	} cases[] = {
		{ "", 0 }, { "hello", 5 }, { "na\xc3\xafve", 5 },
		{ "nai\xcc\x88ve", 5 }, /* combining diaeresis */
		{ "e\xcc\x81\xcc\xa7", 1 },
		{ "\xe6\xbc\xa2\xe5\xad\x97", 4 }, /* Han */
		{ "\xe3\x81\x82", 2 }, /* Hiragana */
		{ "\xed\x95\x9c", 2 }, /* Hangul syllable */
		{ "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", 2 }, /* in parts */
		{ "\xef\xbc\xa1", 2 }, /* full width A */
		{ "\xef\xbd\xb1", 1 }, /* half width Katakana */
		{ "\xf0\x9f\x98\x80", 2 }, /* emoji */
		{ "\xe2\x9c\x85", 2 }, /* white heavy check mark */
		{ "\xe2\x9c\x93", 1 }, /* check mark */
		{ "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa", 2 }, /* a flag */
		{ "\xe2\x80\x8b", 0 }, /* zero width space */
		{ "a\xe2\x80\x8d\xef\xb8\x8f", 1 }, /* joiner, selector */
		{ "\xc2\xad", 1 }, /* soft hyphen: terminals show it */
		{ "\xe2\x94\x80\xe2\x80\xa6", 2 }, /* box, ellipsis */
		{ "\t\n\x1b\x7f\xc2\x85", 0 }, /* controls */
		{ "\xff\xfe", 2 }, /* invalid */
		{ "\xf0\xaa\x9b\x96", 2 }, /* U+2A6D6 */
		{ "\xf3\xa0\x84\x80", 0 }, /* variation selector 17 */
		{ "\xf4\x8f\xbf\xbd", 1 }, /* private use */
	};

	for (size_t i = 0; i < nitems(cases); i++)
		ck_assert_msg(text_width(cases[i].s, strlen(cases[i].s)) ==
			cases[i].width,
		    "cases[%zu]", i);
	ck_assert_int_eq(text_width("a\0b", 3), 2);
}

TEST(cut_width_never_exceeds_the_columns)
{
	/* a, Han, e + acute, emoji */
	static const char s[] = "a\xe6\xbc\xa2"
				"e\xcc\x81\xf0\x9f\x98\x80";
	static const size_t expected[] = { 0, 1, 1, 4, 7, 7, 11, 11 };

	for (size_t max = 0; max < nitems(expected); max++)
		ck_assert_uint_eq(
		    text_width_cut(s, sizeof s - 1, (int)max), expected[max]);
	ck_assert_uint_eq(text_width_cut(s, sizeof s - 1, -1), 0);
	ck_assert_uint_eq(text_width_cut(s, sizeof s - 1, INT_MIN), 0);
	ck_assert_uint_eq(
	    text_width_cut(s, sizeof s - 1, INT_MAX), sizeof s - 1);
	ck_assert_uint_eq(text_width_cut("", 0, 3), 0);
	/* Characters without width always fit, but not into a negative
	 * width. */
	ck_assert_uint_eq(text_width_cut("\xcc\x81z", 3, 0), 2);
	ck_assert_uint_eq(text_width_cut("\xcc\x81z", 3, -1), 0);
}

TEST(durations_parse)
{
	static const struct {
		const char *s;
		int64_t ms;
	} cases[] = {
		{ "0", 0 },
		{ "0s", 0 },
		{ "0.0", 0 },
		{ "500ms", 500 },
		{ "30s", 30000 },
		{ "5m", 300000 },
		{ "1h", 3600000 },
		{ "2d", 172800000 },
		{ "1h3m", 3780000 },
		{ "1d2h3m4s5ms", 93784005 },
		{ "1d5ms", 86400005 },
		{ "1.5h", 5400000 },
		{ "1h1.5m", 3690000 },
		{ "90", 90000 },
		{ "0.5", 500 },
		{ "007s", 7000 },
		{ "100m", 6000000 },
		{ "1h90m", 9000000 },
		{ "0.0001s", 1 }, /* never less than requested */
		{ "0.5ms", 1 },
		{ "1.000000001d", 86400001 },
		{ "1000000d", INT64_C(86400000000000) },
		{ "999999d24h", INT64_C(86400000000000) },
		{ "86400000000000ms", INT64_C(86400000000000) },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		int64_t ms = -1;

		ck_assert_msg(
		    text_parse_duration(cases[i].s, &ms), "%s", cases[i].s);
		ck_assert_int_eq(ms, cases[i].ms);
	}
}

TEST(other_durations_are_refused)
{
	static const char *const cases[] = { "", " ", " 5s", "5s ", "5 s", "s",
		"ms", "-1s", "+1s", "-0", ".5s", "1.s", "1..5s", "1.5.5s",
		"1,5s", "1e3s", "0x10", "5S", "5M", "5min", "5sec", "5w", "5y",
		"5mm", "5sm", "5hm", "1h30", "3m1h", "1h1h", "5ms1s", "1.5h3m",
		"inf", "nan", "1s\n", "1.0000000001s", "1000001d",
		"1000000.000000001d", "1000000d1ms", "86400000000001ms",
		"86400000001", "99999999999999999999999999d", "\xd9\xa1s" };

	for (size_t i = 0; i < nitems(cases); i++) {
		int64_t ms = 42;

		ck_assert_msg(
		    !text_parse_duration(cases[i], &ms), "'%s'", cases[i]);
		ck_assert_int_eq(ms, 42);
	}
}

TEST(durations_print_their_two_largest_units)
{
	static const struct {
		int64_t ms;
		const char *s;
	} cases[] = {
		{ 0, "0s" },
		{ 1, "1ms" },
		{ 350, "350ms" },
		{ 999, "999ms" },
		{ 1000, "1s" },
		{ 1001, "1.001s" },
		{ 1500, "1.5s" },
		{ 9250, "9.25s" },
		{ 9999, "9.999s" },
		{ 10000, "10s" },
		{ 10999, "10s" },
		{ 45000, "45s" },
		{ 60000, "1m" },
		{ 60999, "1m" },
		{ 61000, "1m1s" },
		{ 3780000, "1h3m" },
		{ 3785000, "1h3m" },
		{ 3605000, "1h5s" },
		{ 187200000, "2d4h" },
		{ 86400000, "1d" },
		{ INT64_C(86400000000000), "1000000d" },
		{ -1500, "-1.5s" },
		{ -3780000, "-1h3m" },
		{ INT64_MAX, "106751991167d7h" },
		{ INT64_MIN, "-106751991167d7h" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_buf struct buf b = BUF_INIT;

		text_add_duration(&b, cases[i].ms);
		ck_assert_str_eq(b.data, cases[i].s);
	}
}

TEST(durations_parse_back)
{
	cleanup_buf struct buf b = BUF_INIT;
	int64_t back;

	for (int64_t ms = 0; ms < 10000; ms++) {
		buf_clear(&b);
		text_add_duration(&b, ms);
		if (!text_parse_duration(b.data, &back) || back != ms)
			ck_abort_msg("%s", b.data);
	}
	for (int64_t s = 10; s < 3600; s++) {
		buf_clear(&b);
		text_add_duration(&b, s * 1000);
		if (!text_parse_duration(b.data, &back) || back != s * 1000)
			ck_abort_msg("%s", b.data);
	}
}

TEST(shell_words_are_quoted_where_needed)
{
	static const char *const pairs[][2] = {
		{ "", "''" },
		{ "plain", "plain" },
		{ "/usr/bin/a-b_c.d", "/usr/bin/a-b_c.d" },
		{ "user@host:80,90%+", "user@host:80,90%+" },
		{ "--flag", "--flag" },
		{ "two words", "'two words'" },
		{ "A=b", "'A=b'" },
		{ "~", "'~'" },
		{ "#x", "'#x'" },
		{ "*", "'*'" },
		{ "a;b", "'a;b'" },
		{ "$HOME", "'$HOME'" },
		{ "`id`", "'`id`'" },
		{ "a\\b", "'a\\b'" },
		{ "a\nb", "'a\nb'" },
		{ "\"", "'\"'" },
		{ "!", "'!'" },
		{ "it's", "'it'\\''s'" },
		{ "'", "''\\'''" },
		{ "''", "''\\'''\\'''" },
		{ "\xc3\xa4", "'\xc3\xa4'" },
		{ "\xff", "'\xff'" },
	};

	for (size_t i = 0; i < nitems(pairs); i++) {
		cleanup_buf struct buf b = BUF_INIT;

		text_add_shell(&b, pairs[i][0]);
		ck_assert_str_eq(b.data, pairs[i][1]);
	}
}

TEST(json_escapes_what_a_terminal_would_act_on)
{
	static const char *const pairs[][2] = {
		{ "", "\"\"" },
		{ "plain / text", "\"plain / text\"" },
		{ "\"\\", "\"\\\"\\\\\"" },
		{ "\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"" },
		{ "\x01\x1b\x1f", "\"\\u0001\\u001b\\u001f\"" },
		{ "\x7f", "\"\\u007f\"" },
		{ "\xc2\x80\xc2\x9f\xc2\xa0", "\"\\u0080\\u009f\xc2\xa0\"" },
		{ "\xe2\x82\xac\xf0\x9f\x98\x80",
		    "\"\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "a\xff\xe2\x82",
		    "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	};
	cleanup_buf struct buf nul = BUF_INIT;

	for (size_t i = 0; i < nitems(pairs); i++) {
		cleanup_buf struct buf b = BUF_INIT;

		text_add_json(&b, pairs[i][0], strlen(pairs[i][0]));
		ck_assert_str_eq(b.data, pairs[i][1]);
	}
	text_add_json(&nul, "a\0b", 3);
	ck_assert_str_eq(nul.data, "\"a\\u0000b\"");
}

TEST(visible_shows_controls_and_invalid_bytes)
{
	static const char s[] =
	    "ok\t\n\r\x1b[0m\x7f\xc2\x9b\xff\xe2\x82\\\0\xc3"
	    "\xa4";
	cleanup_buf struct buf b = BUF_INIT;

	text_add_visible(&b, s, sizeof s - 1, false);
	ck_assert_str_eq(b.data,
	    "ok\\x09\\x0a\\x0d\\x1b[0m\\x7f\\xc2\\x9b\\xff\\xe2\\x82\\\\x00"
	    "\xc3\xa4");
	buf_clear(&b);
	text_add_visible(&b, s, sizeof s - 1, true);
	ck_assert_str_eq(b.data,
	    "ok\t\n\\x0d\\x1b[0m\\x7f\\xc2\\x9b\\xff\\xe2\\x82\\\\x00"
	    "\xc3\xa4");
}

TEST(a_line_has_single_blanks_and_none_at_its_ends)
{
	const char s[] = " \n a\r\n\tb \v\f c\0d \n";
	cleanup_buf struct buf b = BUF_INIT;

	text_add_line(&b, s, sizeof s - 1);
	ck_assert_uint_eq(b.len, strlen("a b c") + 2);
	ck_assert_mem_eq(b.data, "a b c\0d", b.len);
	buf_clear(&b);
	buf_adds(&b, "x");
	text_add_line(&b, " \n", 2);
	ck_assert_str_eq(b.data, "x");
}

TEST(names_beyond_so_many_are_counted)
{
	static const char *const names[] = { "a\033", "b", "c" };
	static const struct {
		size_t count, most;
		const char *text;
	} rows[] = { { 0, 2, "" }, { 1, 2, "a\\x1b" }, { 2, 2, "a\\x1b, b" },
		{ 3, 2, "a\\x1b, b and 1 more" } };

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_buf struct buf b = BUF_INIT;

		text_add_names(&b, names, rows[i].count, rows[i].most);
		ck_assert_str_eq(b.len > 0 ? b.data : "", rows[i].text);
	}
}

TEST(visible_shows_what_nobody_sees)
{
	static const uint32_t hidden[] = { 0xad, 0x61c, 0x180e, 0x200b, 0x200c,
		0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c,
		0x202d, 0x202e, 0x2060, 0x2064, 0x2066, 0x2067, 0x2068, 0x2069,
		0x206f, 0xfeff, 0xfff9, 0xe0001, 0xe0041, 0xe007f, 0xe0100 };
	static const uint32_t shown[] = { 0xa0, 0xe9, 0x5d0, 0x2027, 0x202f,
		0x2030, 0x20ac, 0x2603, 0x4e2d, 0xfe0f, 0xfffd, 0x1f600 };

	for (size_t i = 0; i < nitems(hidden); i++) {
		cleanup_buf struct buf raw = BUF_INIT, b = BUF_INIT;

		text_add_codepoint(&raw, hidden[i]);
		text_add_visible(&b, raw.data, raw.len, true);
		ck_assert_msg(b.data[0] == '\\' && b.data[1] == 'u' &&
			strspn(b.data, "\\u0123456789abcdef") == b.len,
		    "U+%04X: %s", (unsigned)hidden[i], b.data);
	}
	for (size_t i = 0; i < nitems(shown); i++) {
		cleanup_buf struct buf raw = BUF_INIT, b = BUF_INIT;

		text_add_codepoint(&raw, shown[i]);
		text_add_visible(&b, raw.data, raw.len, false);
		ck_assert_str_eq(b.data, raw.data);
	}
}

TEST(a_terminal_gets_lines_and_colours_only)
{
	static const char *const pairs[][2] = {
		{ "a\tb\nc", "a\tb\nc" },
		{ "\033[1;31mred\033[0m", "\033[1;31mred\033[0m" },
		{ "\033[m\033[2J\033]0;x\a", "\033[m\\x1b[2J\\x1b]0;x\\x07" },
		{ "\033", "\\x1b" },
		{ "\033[31", "\\x1b[31" },
		{ "x\xe2\x80\xaey\r", "x\\u202ey\\x0d" },
		{ "", "" },
	};

	for (size_t i = 0; i < nitems(pairs); i++) {
		cleanup_buf struct buf b = BUF_INIT;

		text_add_terminal(&b, pairs[i][0], strlen(pairs[i][0]));
		ck_assert_str_eq(b.data, pairs[i][1]);
	}
}

TEST(nearest_finds_the_word_that_was_meant)
{
	static const char *const words[] = { "status", "start", "stop",
		"restart", "Config", "log", "v", NULL };
	static const char *const pairs[][2] = {
		{ "status", "status" },
		{ "statsu", "status" }, /* neighbours swapped: one edit */
		{ "sttaus", "status" }, { "staus", "status" },
		{ "sstatus", "status" }, { "stqtus", "status" },
		{ "STATUS", "status" }, { "config", "Config" },
		{ "confgi", "Config" }, { "strat", "start" }, { "sop", "stop" },
		{ "lg", "log" }, { "x", "v" }, /* one is always near enough */
	};
	static const char *const none[] = { "frobnicate", "statistics", "xyz",
		"gol", "", NULL };
	static const char *const tie[] = { "cat", "bat", NULL };
	static const char *const nothing[] = { NULL };

	for (size_t i = 0; i < nitems(pairs); i++)
		ck_assert_pstr_eq(
		    text_nearest(pairs[i][0], words), pairs[i][1]);
	/* The last candidate is one edit away from the empty word: skip it. */
	for (size_t i = 0; none[i] != NULL; i++)
		ck_assert_pstr_eq(text_nearest(none[i],
				      (const char *const[]){
					  "status", "start", "log", NULL }),
		    NULL);
	ck_assert_pstr_eq(text_nearest("rat", tie), "cat");
	ck_assert_pstr_eq(text_nearest("rat", nothing), NULL);
	ck_assert_pstr_eq(
	    text_nearest("", (const char *const[]){ "", NULL }), "");
}

TEST(nearest_counts_a_third_of_the_longer_word)
{
	static const char *const six[] = { "abcdef", NULL };
	static const char *const five[] = { "abcde", NULL };

	ck_assert_pstr_eq(text_nearest("abcdxx", six), "abcdef");
	ck_assert_pstr_eq(text_nearest("abcxxx", six), NULL);
	ck_assert_pstr_eq(text_nearest("abcd", six), "abcdef");
	ck_assert_pstr_eq(text_nearest("abc", six), NULL);
	ck_assert_pstr_eq(text_nearest("abcdx", five), "abcde");
	ck_assert_pstr_eq(text_nearest("abcxx", five), NULL);
	ck_assert_pstr_eq(text_nearest("abcdexx", five), "abcde");
}

TEST(integers_parse_within_bounds)
{
	int64_t value;

	ck_assert(text_parse_int("0", 0, 0, &value) && value == 0);
	ck_assert(text_parse_int("-5", -5, 5, &value) && value == -5);
	ck_assert(text_parse_int("5", -5, 5, &value) && value == 5);
	ck_assert(text_parse_int("0042", 0, 100, &value) && value == 42);
	ck_assert(text_parse_int(
	    "9223372036854775807", INT64_MIN, INT64_MAX, &value));
	ck_assert_int_eq(value, INT64_MAX);
	ck_assert(text_parse_int(
	    "-9223372036854775808", INT64_MIN, INT64_MAX, &value));
	ck_assert(value == INT64_MIN);
}

TEST(other_integers_are_refused)
{
	static const char *const cases[] = { "", "-", "--1", "+1", " 1", "1 ",
		"1\n", "0x10", "1e3", "1.0", "1,000", "ten", "-6", "101",
		"9223372036854775808", "-9223372036854775809",
		"99999999999999999999999" };

	for (size_t i = 0; i < nitems(cases); i++) {
		int64_t value = 42;

		ck_assert_msg(!text_parse_int(cases[i], -5, 100, &value),
		    "'%s'", cases[i]);
		ck_assert_int_eq(value, 42);
	}
	ck_assert(!text_parse_int(
	    "9223372036854775808", INT64_MIN, INT64_MAX, &(int64_t){ 0 }));
}

TEST(names_are_safe_everywhere)
{
	static const char *const good[] = { "a", "0", "worker-1", "a_b-c",
		"abcdefghijklmnopqrstuvwxyz012345" };
	static const char *const bad[] = { "", "-a", "_a", "A", "aB", "a b",
		"a.b", "a/b", "..", "a:b", "a\n", "\xc3\xa4",
		"abcdefghijklmnopqrstuvwxyz0123456" };

	for (size_t i = 0; i < nitems(good); i++)
		ck_assert_msg(text_is_name(good[i]), "'%s'", good[i]);
	for (size_t i = 0; i < nitems(bad); i++)
		ck_assert_msg(!text_is_name(bad[i]), "'%s'", bad[i]);
}

/* Equal; the same, where both may be missing; the beginning; the end. */
TEST(texts_are_compared)
{
	static const struct {
		const char *a, *b;
		bool is, same, begins, ends;
	} rows[] = {
		{ "ab", "ab", true, true, true, true },
		{ "ab", "a", false, false, true, false },
		{ "ab", "b", false, false, false, true },
		{ "a", "ab", false, false, false, false },
		{ "ab", "", false, false, true, true },
		{ "", "", true, true, true, true },
		{ NULL, "a", false, false, false, false },
		{ "a", NULL, false, false, false, false },
		{ NULL, NULL, false, true, false, false },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		const char *a = rows[i].a, *b = rows[i].b;

		ck_assert_msg(text_is(a, b) == rows[i].is, "row %zu", i);
		ck_assert_msg(text_same(a, b) == rows[i].same, "row %zu", i);
		if (a == NULL || b == NULL)
			continue;
		ck_assert_msg(
		    text_begins(a, b) == rows[i].begins, "row %zu", i);
		ck_assert_msg(text_ends(a, b) == rows[i].ends, "row %zu", i);
	}
	for (int c = 0; c < 256; c++) {
		ck_assert(text_is_digit((char)c) ==
		    (c != 0 && strchr("0123456789", c) != NULL));
		ck_assert(text_is_letter((char)c) ==
		    ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')));
	}
}
