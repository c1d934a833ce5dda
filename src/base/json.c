/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

struct json_scan {
	const char *bytes;
	size_t len;
	size_t weight_max; /* units of about 50 bytes of memory */
	size_t pos;
	const char *words; /* what is wrong at pos */
};

static int json_scan(struct json_scan *s);

#define SHOWN_MAX 40 /* bytes shown of an unknown word */

/* Check the grammar and build the value. */
static int
json_build(struct json_scan *s, struct json_object **ret_value)
{
	struct json_tokener *tokener;
	struct json_object *value = NULL;
	enum json_tokener_error error;

	/* A scalar inside the deepest container takes a level of its own. */
	tokener = json_tokener_new_ex(JSON_DEPTH_MAX + 1);
	if (tokener == NULL)
		fatalx("out of memory: a JSON parser");
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	value = json_tokener_parse_ex(tokener, s->bytes, (int)s->len);
	error = json_tokener_get_error(tokener);
	s->pos = json_tokener_get_parse_end(tokener);
	/* The tokener needs a NUL to see the end; the bytes may have none. */
	if (error == json_tokener_continue) {
		value = json_tokener_parse_ex(tokener, "", 1);
		error = json_tokener_get_error(tokener);
		s->pos = s->len;
	}
	json_tokener_free(tokener);
	if (error != json_tokener_success) {
		s->words = json_tokener_error_desc(error);
		return -EINVAL;
	}
	if (value == NULL) {
		s->words = "expected a value, found null";
		return -EINVAL;
	}
	*ret_value = value;
	return 0;
}

/* A few bytes of text can take hundreds of memory: "{}" does. So the limit on
 * the text also limits what may be built from it. */
static size_t
json_weight_max(size_t max)
{
	size_t weight = max / JSON_WEIGHT_BYTES;

	if (weight < JSON_WEIGHT_LEAST)
		return JSON_WEIGHT_LEAST;
	return weight < JSON_WEIGHT_MOST ? weight : JSON_WEIGHT_MOST;
}

int
json_parse(const char *bytes, size_t len, size_t max,
    struct json_object **ret_value, struct err *err)
{
	struct json_scan s = {
		.bytes = bytes, .len = len, .weight_max = json_weight_max(max)
	};
	size_t line = 1;
	int r;

	if (len > max || len >= INT_MAX)
		return err_set(err, -E2BIG,
		    "%zu bytes are more than the %zu allowed", len, max);
	r = json_scan(&s);
	if (r == 0)
		r = json_build(&s, ret_value);
	if (r == 0)
		return 0;
	for (size_t i = 0; i < s.pos; i++)
		line += bytes[i] == '\n';
	if (line > 1)
		return err_set(
		    err, r, "byte %zu (line %zu): %s", s.pos, line, s.words);
	return err_set(err, r, "byte %zu: %s", s.pos, s.words);
}

int
json_load(const char *path, size_t max, struct json_object **ret_value,
    struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	r = file_read(path, max, &text, err);
	if (r < 0)
		return r;
	r = json_parse(text.data, text.len, max, ret_value, err);
	if (r < 0)
		err_prefix(err, "%s", path);
	return r;
}

void
json_print(struct json_object *value, bool pretty, struct buf *out)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *text;
	size_t len;

	if (pretty)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	text = json_object_to_json_string_length(value, flags, &len);
	if (text == NULL)
		fatalx("out of memory: the text of a JSON value");
	/* DEL and bytes above ASCII occur only inside strings. */
	text_add_json_escaped(out, text, len);
	if (pretty)
		buf_addc(out, '\n');
}

int
json_save(
    const char *path, struct json_object *value, int mode, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(value, true, &text);
	return file_replace(path, text.data, text.len, (mode_t)mode, err);
}

static const char *const json_words[] = {
	[json_type_null] = "null",
	[json_type_boolean] = "a boolean",
	[json_type_double] = "a number",
	[json_type_int] = "a number",
	[json_type_object] = "an object",
	[json_type_array] = "an array",
	[json_type_string] = "a string",
};

const char *
json_type_words(struct json_object *value)
{
	return json_words[json_object_get_type(value)];
}

void
json_path_key(struct buf *out, const char *at, const char *key)
{
	buf_adds(out, at);
	if (*at != '\0')
		buf_addc(out, '.');
	text_add_visible(out, key, strlen(key), false);
}

void
json_path_index(struct buf *out, const char *at, size_t index)
{
	buf_addf(out, "%s[%zu]", at, index);
}

static int json_fail(struct err *err, int code, const char *at, const char *key,
    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

static int
json_fail(struct err *err, int code, const char *at, const char *key,
    const char *fmt, ...)
{
	cleanup_buf struct buf text = BUF_INIT;
	va_list ap;

	if (err == NULL)
		return code;
	json_path_key(&text, at, key);
	buf_adds(&text, ": ");
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	return err_set(err, code, "%s", text.data);
}

/* Find a member of any type but null. */
static int
json_find(struct json_object *object, const char *at, const char *key,
    struct json_object **ret, struct err *err)
{
	struct json_object *value = NULL;

	if (!json_object_is_type(object, json_type_object))
		return err_set(err, -EINVAL, "%s%sexpected an object, found %s",
		    at, *at == '\0' ? "" : ": ", json_type_words(object));
	if (!json_object_object_get_ex(object, key, &value) || value == NULL)
		return json_fail(err, -ENOENT, at, key, "missing");
	*ret = value;
	return 0;
}

static int
json_find_type(struct json_object *object, const char *at, const char *key,
    enum json_type type, struct json_object **ret, struct err *err)
{
	struct json_object *value = NULL;
	int r;

	r = json_find(object, at, key, &value, err);
	if (r < 0)
		return r;
	if (!json_object_is_type(value, type))
		return json_fail(err, -EINVAL, at, key, "expected %s, found %s",
		    json_words[type], json_type_words(value));
	*ret = value;
	return 0;
}

int
json_get_string(struct json_object *object, const char *at, const char *key,
    const char **ret, struct err *err)
{
	struct json_object *value = NULL;
	int r;

	r = json_find_type(object, at, key, json_type_string, &value, err);
	if (r == 0)
		*ret = json_object_get_string(value);
	return r;
}

/* False if it is not an integer or does not fit into an int64_t. */
static bool
json_as_int(struct json_object *value, int64_t *ret)
{
	if (!json_object_is_type(value, json_type_int) ||
	    json_object_get_uint64(value) > INT64_MAX)
		return false;
	*ret = json_object_get_int64(value);
	return true;
}

int
json_get_int(struct json_object *object, const char *at, const char *key,
    int64_t min, int64_t max, int64_t *ret, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *value = NULL;
	int64_t number;
	int r;

	r = json_find(object, at, key, &value, err);
	if (r < 0)
		return r;
	if (json_as_int(value, &number) && number >= min && number <= max) {
		*ret = number;
		return 0;
	}
	if (json_object_is_type(value, json_type_int)) {
		json_print(value, false, &text);
		return json_fail(err, -EINVAL, at, key,
		    "expected an integer from %" PRId64 " to %" PRId64
		    ", found %s",
		    min, max, text.data);
	}
	if (json_object_is_type(value, json_type_double))
		json_print(value, false, &text);
	else
		buf_adds(&text, json_type_words(value));
	return json_fail(
	    err, -EINVAL, at, key, "expected an integer, found %s", text.data);
}

int
json_get_double(struct json_object *object, const char *at, const char *key,
    double *ret, struct err *err)
{
	struct json_object *value = NULL;
	double number;
	int r;

	r = json_find(object, at, key, &value, err);
	if (r < 0)
		return r;
	if (!json_object_is_type(value, json_type_int) &&
	    !json_object_is_type(value, json_type_double))
		return json_fail(err, -EINVAL, at, key,
		    "expected a number, found %s", json_type_words(value));
	number = json_object_get_double(value);
	if (!isfinite(number))
		return json_fail(err, -EINVAL, at, key, "number out of range");
	*ret = number;
	return 0;
}

int
json_get_bool(struct json_object *object, const char *at, const char *key,
    bool *ret, struct err *err)
{
	struct json_object *value = NULL;
	int r;

	r = json_find_type(object, at, key, json_type_boolean, &value, err);
	if (r == 0)
		*ret = json_object_get_boolean(value);
	return r;
}

int
json_get_object(struct json_object *object, const char *at, const char *key,
    struct json_object **ret, struct err *err)
{
	return json_find_type(object, at, key, json_type_object, ret, err);
}

int
json_get_array(struct json_object *object, const char *at, const char *key,
    struct json_object **ret, struct err *err)
{
	return json_find_type(object, at, key, json_type_array, ret, err);
}

const char *
json_string_or(
    struct json_object *object, const char *key, const char *fallback)
{
	json_get_string(object, "", key, &fallback, NULL);
	return fallback;
}

int64_t
json_int_or(struct json_object *object, const char *key, int64_t fallback)
{
	json_get_int(object, "", key, INT64_MIN, INT64_MAX, &fallback, NULL);
	return fallback;
}

bool
json_bool_or(struct json_object *object, const char *key, bool fallback)
{
	json_get_bool(object, "", key, &fallback, NULL);
	return fallback;
}

struct json_object *
json_member(struct json_object *object, const char *key)
{
	return json_object_object_get(object, key);
}

size_t
json_length(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ?
	    json_object_array_length(array) :
	    0;
}

void
json_set(struct json_object *object, const char *key, struct json_object *value)
{
	if (json_object_object_add(object, key, value) < 0)
		fatalx("out of memory: the JSON member %s", key);
}

/* json-c returns NULL when out of memory, which would read as null. */
static struct json_object *
json_made(struct json_object *value)
{
	if (value == NULL)
		fatalx("out of memory: a JSON value");
	return value;
}

void
json_set_string(struct json_object *object, const char *key, const char *value)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (value == NULL) {
		json_set(object, key, NULL);
		return;
	}
	text_add_utf8(&text, value, strlen(value));
	json_set(object, key, json_made(json_object_new_string(text.data)));
}

void
json_set_int(struct json_object *object, const char *key, int64_t value)
{
	json_set(object, key, json_made(json_object_new_int64(value)));
}

void
json_set_bool(struct json_object *object, const char *key, bool value)
{
	json_set(object, key, json_made(json_object_new_boolean(value)));
}

void
json_cleanup(struct json_object **value)
{
	json_object_put(*value);
	*value = NULL;
}

/*
 * json-c's strict mode still accepts NaN, -01, 1., the wrong kind of quotes,
 * raw control characters and overlong UTF-8, truncates keys at \u0000 and
 * saturates integers. So the tokens are checked here first; only the grammar is
 * left to json-c.
 */
static bool
json_scan_fail(struct json_scan *s, const char *words)
{
	s->words = words;
	return false;
}

/* The byte at pos, 0 at the end: callers never look for a NUL. */
static char
json_scan_peek(const struct json_scan *s)
{
	return s->pos < s->len ? s->bytes[s->pos] : '\0';
}

static size_t
json_scan_digits(struct json_scan *s)
{
	size_t start = s->pos;

	while (json_scan_peek(s) >= '0' && json_scan_peek(s) <= '9')
		s->pos++;
	return s->pos - start;
}

static bool
json_scan_escape(struct json_scan *s)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	size_t start = s->pos++;
	bool zero = true;
	char c = json_scan_peek(s);

	if (c == '\0' || strchr("\"\\/bfnrtu", c) == NULL)
		return json_scan_fail(s, "unknown escape in a string");
	s->pos++;
	if (c != 'u')
		return true;
	for (int i = 0; i < 4; i++, s->pos++) {
		c = json_scan_peek(s);
		if (c == '\0' || strchr(hex, c) == NULL)
			return json_scan_fail(s, "\\u needs four hex digits");
		zero = zero && c == '0';
	}
	if (zero) {
		s->pos = start;
		return json_scan_fail(s, "\\u0000 in a string");
	}
	return true;
}

static bool
json_scan_string(struct json_scan *s)
{
	size_t n;
	unsigned char c;

	for (s->pos++; s->pos < s->len;) {
		c = (unsigned char)s->bytes[s->pos];
		if (c == '"') {
			s->pos++;
			return true;
		}
		if (c < 0x20)
			return json_scan_fail(
			    s, "control character in a string");
		if (c == '\\') {
			if (!json_scan_escape(s))
				return false;
			continue;
		}
		n = c < 0x80 ?
		    1 :
		    text_utf8_len(s->bytes + s->pos, s->len - s->pos);
		if (n == 0)
			return json_scan_fail(s, "invalid UTF-8");
		s->pos += n;
	}
	return json_scan_fail(s, "unexpected end of data in a string");
}

/* Can json-c hold a number of these digits exactly? There are no leading zeros
 * here, so strings of equal length compare like numbers. */
static bool
json_digits_fit(const char *digits, size_t len, bool negative)
{
	const char *most =
	    negative ? "9223372036854775808" : "18446744073709551615";
	size_t most_len = strlen(most);

	return len < most_len ||
	    (len == most_len && memcmp(digits, most, len) <= 0);
}

static bool
json_scan_token(struct json_scan *s)
{
	char c = json_scan_peek(s);

	if (c == '"')
		return json_scan_string(s);
	if (c == '-' || (c >= '0' && c <= '9')) {
		size_t start = s->pos, digits, len;
		bool negative = json_scan_peek(s) == '-', integer = true;

		s->pos += negative;
		digits = s->pos;
		len = json_scan_digits(s);
		if (len == 0)
			return json_scan_fail(s, "expected a digit");
		if (s->bytes[digits] == '0' && len > 1) {
			s->pos = start;
			return json_scan_fail(s, "number with a leading zero");
		}
		if (json_scan_peek(s) == '.') {
			integer = false;
			s->pos++;
			if (json_scan_digits(s) == 0)
				return json_scan_fail(s, "expected a digit");
		}
		if (json_scan_peek(s) == 'e' || json_scan_peek(s) == 'E') {
			integer = false;
			s->pos++;
			if (json_scan_peek(s) == '+' ||
			    json_scan_peek(s) == '-')
				s->pos++;
			if (json_scan_digits(s) == 0)
				return json_scan_fail(s, "expected a digit");
		}
		if (integer &&
		    !json_digits_fit(s->bytes + digits, len, negative)) {
			s->pos = start;
			return json_scan_fail(s, "integer out of range");
		}
		return true;
	}
	if (c == '\0' || strchr(" \t\r\n{}[]:,", c) == NULL) {
		static const char *const literals[] = { "true", "false",
			"null" };
		size_t len;

		for (size_t i = 0; i < nitems(literals); i++) {
			len = strlen(literals[i]);
			if (len <= s->len - s->pos &&
			    memcmp(s->bytes + s->pos, literals[i], len) == 0) {
				s->pos += len;
				return true;
			}
		}
		return json_scan_fail(s, "unexpected character");
	}
	s->pos++;
	return true;
}

/* What json-c allocates for the token, in units of about 50 bytes: even an
 * empty object has a table, and an empty array a list. */
static size_t
json_scan_weight(char c)
{
	static const struct {
		char first;
		size_t weight;
	} weights[] = {
		{ '{', 16 },
		{ '[', 6 },
		{ '}', 0 },
		{ ']', 0 },
		{ ':', 0 },
		{ ',', 0 },
		{ ' ', 0 },
		{ '\t', 0 },
		{ '\r', 0 },
		{ '\n', 0 },
	};

	for (size_t i = 0; i < nitems(weights); i++)
		if (weights[i].first == c)
			return weights[i].weight;
	return 1;
}

/* 0, or -EINVAL or -E2BIG with pos and words set. */
static int
json_scan(struct json_scan *s)
{
	size_t weight = 0;
	int depth = 0;
	char c;

	while (s->pos < s->len) {
		c = json_scan_peek(s);
		if (c == '[' || c == '{')
			depth++;
		else if (c == ']' || c == '}')
			depth--;
		weight += json_scan_weight(c);
		if (depth > JSON_DEPTH_MAX || weight > s->weight_max) {
			s->words = depth > JSON_DEPTH_MAX ?
			    "nested too deeply" :
			    "too many values";
			return -E2BIG;
		}
		if (!json_scan_token(s))
			return -EINVAL;
	}
	return 0;
}

bool
word_find(const char *const *words, const char *word, unsigned *ret_index)
{
	for (unsigned i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], word) == 0) {
			*ret_index = i;
			return true;
		}
	}
	return false;
}

int
word_parse(const char *word, const char *path, const char *const *words,
    unsigned *ret_index, struct err *err)
{
	cleanup_buf struct buf seen = BUF_INIT;
	const char *nearest;

	if (word_find(words, word, ret_index))
		return 0;
	text_add_visible(
	    &seen, word, text_cut(word, strlen(word), SHOWN_MAX), false);
	nearest = text_nearest(word, words);
	if (nearest == NULL)
		return err_set(err, -EINVAL, "%s: \"%s\" is not a valid value",
		    path, seen.data);
	return err_set(err, -EINVAL,
	    "%s: \"%s\" is not a valid value; did you mean \"%s\"?", path,
	    seen.data, nearest);
}

int
word_get(struct json_object *json, const char *at, const char *key,
    const char *const *words, unsigned *ret_index, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	const char *word = "";
	int r = json_get_string(json, at, key, &word, err);

	if (r < 0)
		return r;
	json_path_key(&path, at, key);
	return word_parse(word, path.data, words, ret_index, err);
}
