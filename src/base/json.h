/* SPDX-License-Identifier: ISC */

/*
 * json-c with limits on input and paths in error messages.
 *
 * Reading is strict (one value, no comments, no trailing text, valid UTF-8, no
 * NUL, not even as \u0000) and limited in size, depth and number of values.
 * Where JSON leaves a choice: the last of several equal keys wins; half a
 * surrogate pair becomes U+FFFD; an integer outside INT64_MIN..UINT64_MAX is an
 * error; 1.0 and 1e0 are numbers but not integers.
 *
 * Every accessor takes the path of the object it reads, so that a wrong value
 * is reported as "workers.auto-1.status: expected a string, found a number".
 * Values that an accessor returns belong to the object they came from.
 */
#ifndef JSON_H
#define JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json_object;

#define JSON_DEPTH_MAX 64

/* How many values a text may have: one for every JSON_WEIGHT_BYTES that its
 * caller allows, at least and at most so many. An object counts as 16, an
 * array as 6, a key as one: json-c needs about 50 bytes for each unit. */
#define JSON_WEIGHT_BYTES 4
#define JSON_WEIGHT_LEAST 16384
#define JSON_WEIGHT_MOST  2000000

/* Parse exactly one value. The caller owns it (json_object_put). -EINVAL with
 * the byte offset in the message; -E2BIG for more than max bytes, more than
 * JSON_DEPTH_MAX nested objects and arrays, or too many values: this is found
 * before memory is taken for them. bytes need not end in a NUL. A JSON
 * null at the top level is -EINVAL: all our documents are objects or arrays. */
int json_parse(const char *bytes, size_t len, size_t max,
    struct json_object **ret_value, struct err *err);

/* file_read + json_parse; the message names the file. */
int json_load(const char *path, size_t max, struct json_object **ret_value,
    struct err *err);

/* Print on one line, or indented by two spaces with a final newline. Slashes
 * are not escaped; invisible characters are (text.h). Invalid UTF-8 inside
 * strings is replaced by U+FFFD. JSON has no NaN or infinity: do not put them
 * in. */
void json_print(struct json_object *value, bool pretty, struct buf *out);

/* file_replace() with the indented text. */
int json_save(
    const char *path, struct json_object *value, int mode, struct err *err);

/* Typed members. `at` is the path of `object` for error messages ("" at the top
 * level). -ENOENT if the member is missing or null, -EINVAL if it has another
 * type or is out of range, or if object is not an object. *ret is unchanged on
 * failure. json_get_int takes an integer from min to max, json_get_double any
 * number that a double can hold (not 1e999). */
int json_get_string(struct json_object *object, const char *at, const char *key,
    const char **ret, struct err *err);
int json_get_int(struct json_object *object, const char *at, const char *key,
    int64_t min, int64_t max, int64_t *ret, struct err *err);
int json_get_double(struct json_object *object, const char *at, const char *key,
    double *ret, struct err *err);
int json_get_bool(struct json_object *object, const char *at, const char *key,
    bool *ret, struct err *err);
int json_get_object(struct json_object *object, const char *at, const char *key,
    struct json_object **ret, struct err *err);
int json_get_array(struct json_object *object, const char *at, const char *key,
    struct json_object **ret, struct err *err);

/* Members that may be missing or null: return the fallback then, without an
 * error. A wrong type gives the fallback too; use the typed getters where that
 * matters. */
const char *json_string_or(
    struct json_object *object, const char *key, const char *fallback);
int64_t
json_int_or(struct json_object *object, const char *key, int64_t fallback);
bool json_bool_or(struct json_object *object, const char *key, bool fallback);

/* NULL: it has no such member, or is no object. */
struct json_object *json_member(struct json_object *object, const char *key);
/* How many it has; 0 if it is no array. */
size_t json_length(struct json_object *array);

/* Add a member. Strings are copied, NULL adds null, invalid UTF-8 is replaced
 * by U+FFFD. json_set takes ownership of `value`. */
void json_set(
    struct json_object *object, const char *key, struct json_object *value);
void
json_set_string(struct json_object *object, const char *key, const char *value);
void json_set_int(struct json_object *object, const char *key, int64_t value);
void json_set_bool(struct json_object *object, const char *key, bool value);

/* The type with its article ("a string", "an array"), for error messages. */
const char *json_type_words(struct json_object *value);

/* Append "at.key", "key" if at is empty, or "at[3]" to out. The key is made
 * safe for a terminal. */
void json_path_key(struct buf *out, const char *at, const char *key);
void json_path_index(struct buf *out, const char *at, size_t index);
void json_cleanup(struct json_object **value);

#define cleanup_json __attribute__((cleanup(json_cleanup)))

/* Words for the values of an enum: a NULL-terminated list in the enum's
 * order. */

bool word_find(const char *const *words, const char *word, unsigned *ret_index);

/* -EINVAL for another word; the message has the path, and suggests one. */
int word_parse(const char *word, const char *path, const char *const *words,
    unsigned *ret_index, struct err *err);

/* Get a member that is one of the words. Like json_get_string(); another word
 * is -EINVAL, and the message suggests the nearest one. */
int word_get(struct json_object *json, const char *at, const char *key,
    const char *const *words, unsigned *ret_index, struct err *err);

#endif
