/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <json-c/json.h>

#include "fuzz.h"
#include "id.h"
#include "table.h"

static void
must(bool rule)
{
	if (!rule)
		abort();
}

/* Is `at` not inside a character? */
static bool
is_boundary(const char *s, size_t len, size_t at)
{
	size_t n, i;

	for (i = 0; i < at; i += n) {
		n = text_utf8_len(s + i, len - i);
		if (n == 0)
			n = 1;
	}
	return i == at;
}

static void
check_cuts(const char *s, size_t len)
{
	for (size_t max = 0; max <= len + 1 && max < 70; max++) {
		size_t cut = text_cut(s, len, max);
		size_t fits = text_width_cut(s, len, (int)max);

		must(cut <= max && cut <= len && is_boundary(s, len, cut));
		must(cut == len || cut + 4 > max);
		must(fits <= len && is_boundary(s, len, fits));
		must(text_width(s, fits) <= (int)max);
		must(fits == len || text_width(s, fits) >= (int)max - 1);
	}
	must(text_width_cut(s, len, INT_MAX) == len);
	must(text_width_cut(s, len, INT_MIN) == 0);
}

static void
check_utf8(const char *s, size_t len)
{
	cleanup_buf struct buf out = BUF_INIT, again = BUF_INIT;

	text_add_utf8(&out, s, len);
	must(text_utf8_valid(out.data, out.len));
	if (text_utf8_valid(s, len))
		must(out.len == len && memcmp(out.data, s, len) == 0);
	else
		must(out.len > len);
	must(text_width(out.data, out.len) == text_width(s, len));
	for (size_t i = 0, n; i < out.len; i += n) {
		uint32_t codepoint;

		n = text_utf8_decode(out.data + i, out.len - i, &codepoint);
		text_add_codepoint(&again, codepoint);
	}
	must(
	    again.len == out.len && memcmp(again.data, out.data, out.len) == 0);
}

static void
check_json(const char *s, size_t len)
{
	cleanup_buf struct buf out = BUF_INIT, clean = BUF_INIT;
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *string;

	text_add_json(&out, s, len);
	must(text_utf8_valid(out.data, out.len));
	for (size_t i = 0; i < out.len; i++)
		must((unsigned char)out.data[i] >= 0x20 && out.data[i] != 0x7f);
	text_add_utf8(&clean, s, len);
	json_tokener_set_flags(
	    tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	string = json_tokener_parse_ex(tokener, out.data, (int)out.len + 1);
	must(json_object_is_type(string, json_type_string));
	must((size_t)json_object_get_string_len(string) == clean.len);
	must(
	    memcmp(json_object_get_string(string), clean.data, clean.len) == 0);
	json_object_put(string);
	json_tokener_free(tokener);
}

static void
check_visible(const char *s, size_t len)
{
	cleanup_buf struct buf out = BUF_INIT, twice = BUF_INIT;

	text_add_visible(&out, s, len, true);
	must(text_utf8_valid(out.data, out.len));
	buf_clear(&out);
	text_add_visible(&out, s, len, false);
	must(text_utf8_valid(out.data, out.len));
	/* Nothing is left to escape. */
	text_add_visible(&twice, out.data, out.len, false);
	must(
	    twice.len == out.len && memcmp(twice.data, out.data, out.len) == 0);
}

static void
check_terminal(const char *s, size_t len)
{
	cleanup_buf struct buf out = BUF_INIT, twice = BUF_INIT;
	cleanup_buf struct buf json = BUF_INIT, again = BUF_INIT;

	text_add_terminal(&out, s, len);
	must(text_utf8_valid(out.data, out.len));
	text_add_terminal(&twice, out.data, out.len);
	must(
	    twice.len == out.len && memcmp(twice.data, out.data, out.len) == 0);
	text_add_json_escaped(&json, s, len);
	must(text_utf8_valid(json.data, json.len));
	text_add_json_escaped(&again, json.data, json.len);
	must(again.len == json.len &&
	    memcmp(again.data, json.data, json.len) == 0);
}

/* Run the shell on the word that text_add_shell() wrote. */
static void
check_shell(const char *s)
{
	static const char special[] = " \t\n|&;<>()$`\\\"*?[#~=%{}!^";
	cleanup_buf struct buf out = BUF_INIT, back = BUF_INIT;
	bool quoted = false;

	text_add_shell(&out, s);
	must(out.len > 0);
	for (const char *p = out.data; *p != '\0'; p++) {
		if (*p == '\'')
			quoted = !quoted;
		else if (!quoted && *p == '\\')
			buf_addc(&back, *++p);
		else {
			must(quoted || *p == '%' || !strchr(special, *p));
			buf_addc(&back, *p);
		}
	}
	must(!quoted);
	must(strcmp(back.data, s) == 0);
}

static void
check_numbers(const char *s)
{
	cleanup_buf struct buf out = BUF_INIT;
	int64_t ms, back, value;

	if (text_parse_duration(s, &ms)) {
		must(ms >= 0 && ms <= INT64_C(86400000000000));
		text_add_duration(&out, ms);
		must(text_parse_duration(out.data, &back));
		must(back <= ms && (ms >= 10000 || back == ms));
		/* Rounding again changes nothing. */
		ms = back;
		buf_clear(&out);
		text_add_duration(&out, ms);
		must(text_parse_duration(out.data, &back) && back == ms);
	}
	if (text_parse_int(s, INT64_MIN, INT64_MAX, &value)) {
		buf_clear(&out);
		buf_addf(&out, "%lld", (long long)value);
		must(text_parse_int(out.data, value, value, &back));
		must(back == value);
		buf_clear(&out);
		text_add_duration(&out, value);
	}
}

static void
check_words(const char *s)
{
	const char *const words[] = { "status", "restart", s, NULL };
	const char *nearest = text_nearest(s, words);
	char hash[17];

	must(nearest != NULL && strcasecmp(nearest, s) == 0);
	must(!text_is_name(s) || strlen(s) <= 32);
	must(!id_uuid_valid(s) || strlen(s) == ID_UUID_SIZE - 1);
	must(!id_ulid_valid(s) || strlen(s) == ID_ULID_SIZE - 1);
	id_hash(s, hash, 16);
	must(strlen(hash) == 16);
}

static void
check_table(const char *s)
{
	const struct table_column columns[] = {
		{ .title = s, .flexible = true },
		{ .right = true, .flexible = true },
	};
	struct table *table = table_new(columns, nitems(columns));

	table_row(table, (const char *const[]){ "x", s });
	table_row(table, (const char *const[]){ s, NULL });
	for (int width = 4; width < 40; width += 5) {
		cleanup_buf struct buf out = BUF_INIT;
		char *line, *rest;

		table_print(table, width, false, &out);
		must(text_utf8_valid(out.data, out.len));
		rest = out.data;
		while ((line = strsep(&rest, "\n")) != NULL) {
			size_t len = strlen(line);

			must(text_width(line, len) <= width);
			must(len == 0 || line[len - 1] != ' ');
		}
	}
	table_free(table);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *string = xstrndup((const char *)data, size);
	/* Exactly this long, so that reading past the end is detected. */
	cleanup_free char *bytes = xmalloc(size);

	if (size > 0)
		memcpy(bytes, data, size);
	check_cuts(bytes, size);
	check_utf8(bytes, size);
	check_json(bytes, size);
	check_visible(bytes, size);
	check_terminal(bytes, size);
	check_shell(string);
	check_numbers(string);
	check_words(string);
	check_table(string);
	return 0;
}
