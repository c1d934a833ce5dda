/* SPDX-License-Identifier: ISC */

/*
 * The one gate to the tables of plans and events: what comes through here is
 * JSON of the right shape, within its bounds, with anything that looks like a
 * key or password masked (model/records/excerpt), printed in one way. Doing
 * it twice changes nothing.
 */

#include "base.h"
#include "book-private.h"
#include "excerpt.h"
#include "id.h"

/* --- the shape of a body ------------------------------------------------- */

#define MASKED "[masked]"
#define CUT    "... (cut)"

#define PARSE_MAX                                                  \
	((size_t)128 * 1024) /* data of an event that is looked at \
			      */
#define COLUMN_MAX 1024 /* bytes of a name that is also a column */

struct column {
	const char *key;
	const char *list; /* in that object: its last string; may be missing */
	bool is_number;
	bool optional;
};

struct shape {
	const char *name;
	const char *id_key; /* in the body; NULL = none */
	struct column columns[BOOK_COLUMNS_MAX];
	size_t max; /* bytes of the body */
	const char *text_key; /* a string with a bound of its own */
	size_t text_max;
};

static const struct shape shapes[BOOK_KIND_COUNT] = {
	[BOOK_GOAL] = { .name = "goal",
	    .id_key = "goalId",
	    .columns = { { .key = "status" },
		{ .key = "endedAt", .is_number = true, .optional = true },
		{ .key = "number", .is_number = true, .optional = true } },
	    .max = BOOK_GOAL_MAX },
	[BOOK_NODE] = { .name = "node",
	    .columns = { { .key = "status" },
		{ .key = "parentId", .optional = true },
		{ .key = "evidence", .list = "commits" } },
	    .max = BOOK_BODY_MAX },
	[BOOK_ASSIGNMENT] = { .name = "assignment",
	    .id_key = "assignmentId",
	    .columns = { { .key = "workNodeId" } },
	    .max = BOOK_BODY_MAX,
	    .text_key = "lastInstructionText",
	    .text_max = BOOK_INSTRUCTION_MAX },
	[BOOK_CRYSTAL] = { .name = "crystallization",
	    .id_key = "crystallizationId",
	    .columns = { { .key = "workNodeId", .optional = true } },
	    .max = BOOK_BODY_MAX,
	    .text_key = "summary",
	    .text_max = BOOK_SUMMARY_MAX },
	[BOOK_MAIL] = { .name = "mail",
	    .id_key = "id",
	    .columns = { { .key = "status" },
		{ .key = "actor", .optional = true },
		{ .key = "ts", .is_number = true, .optional = true } },
	    .max = BOOK_BODY_MAX },
	[BOOK_REQUEST] = { .name = "request",
	    .id_key = "id",
	    .columns = { { .key = "status" },
		{ .key = "actor", .optional = true },
		{ .key = "ts", .is_number = true, .optional = true } },
	    .max = BOOK_BODY_MAX },
	[BOOK_RESERVATION] = { .name = "reservation",
	    .id_key = "id",
	    .columns = { { .key = "status" },
		{ .key = "actor", .optional = true },
		{ .key = "ts", .is_number = true, .optional = true } },
	    .max = BOOK_BODY_MAX },
};

const char *
book_kind_name(enum book_kind kind)
{
	return shapes[kind].name;
}

/* --- masking ------------------------------------------------------------ */

/* At most len bytes, not inside a character. */
static size_t
whole(const char *text, size_t len)
{
	while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static void
cut_text(struct buf *text, size_t max)
{
	if (max == 0 || text->len <= max)
		return;
	buf_truncate(text, whole(text->data, max - strlen(CUT)));
	buf_adds(text, CUT);
}

/* The value with what looks like a secret masked, by its own form or by the
 * key before it ("password"). There the whole value is the secret, which may
 * have blanks in it, but a number is a count ("tokens"). */
static void
mask_text(const char *key, const char *value, size_t len, struct buf *out)
{
	if (key != NULL && strspn(value, "0123456789") < len &&
	    remedy_mask_name(key))
		buf_adds(out, MASKED);
	else
		remedy_mask(value, len, out);
}

static struct json_object *
masked_copy(const char *key, struct json_object *value, size_t max);

static struct json_object *
masked_members(struct json_object *value, size_t max)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *copy = json_object_new_object();

	json_object_object_foreach(value, key, member)
	{
		buf_clear(&text);
		mask_text(NULL, key, strlen(key), &text);
		json_set(copy, text.data, masked_copy(key, member, max));
	}
	return copy;
}

/* key is the one before the value, or before the list that it is in. */
static struct json_object *
masked_copy(const char *key, struct json_object *value, size_t max)
{
	switch (json_object_get_type(value)) {
	case json_type_string: {
		size_t len = (size_t)json_object_get_string_len(value);
		cleanup_buf struct buf text = BUF_INIT;

		mask_text(key, json_object_get_string(value), len, &text);
		/* What was within its bound must still be. */
		if (text.len > len)
			buf_truncate(&text, whole(text.data, len));
		cut_text(&text, max);
		return json_object_new_string_len(text.data, (int)text.len);
	}
	case json_type_array: {
		struct json_object *copy = json_object_new_array();

		for (size_t i = 0; i < json_object_array_length(value); i++)
			json_object_array_add(copy,
			    masked_copy(
				key, json_object_array_get_idx(value, i), max));
		return copy;
	}
	case json_type_object:
		return masked_members(value, max);
	default:
		return json_object_get(value);
	}
}

struct json_object *
book_masked(struct json_object *value)
{
	return masked_copy(NULL, value, 0);
}

/* --- the check ----------------------------------------------------------- */

static int
parse_object(const char *text, size_t max, const char *what,
    struct json_object **ret, struct err *err)
{
	cleanup_json struct json_object *value = NULL;
	size_t len = strlen(text);
	int r;

	if (len > max)
		return err_set(err, -E2BIG,
		    "%s: %zu bytes of JSON, at most %zu are stored", what, len,
		    max);
	r = json_parse(text, len, max, &value, err);
	if (r < 0) {
		err_prefix(err, "%s", what);
		return r;
	}
	if (!json_object_is_type(value, json_type_object))
		return err_set(
		    err, -EINVAL, "%s: expected a JSON object", what);
	*ret = take_ptr(&value);
	return 0;
}

static int
check_id(const char *id, const char *what, struct err *err)
{
	cleanup_buf struct buf masked = BUF_INIT;

	if (id == NULL || id[0] == '\0')
		return err_set(err, -EINVAL, "%s: no id", what);
	if (strlen(id) > BOOK_ID_MAX)
		return err_set(err, -E2BIG,
		    "%s: the id is longer than %d bytes", what, BOOK_ID_MAX);
	if (!text_utf8_valid(id, strlen(id)))
		return err_set(err, -EINVAL, "%s: the id is not UTF-8", what);
	mask_text(NULL, id, strlen(id), &masked);
	if (strcmp(masked.data, id) != 0)
		return err_set(
		    err, -EINVAL, "%s: the id looks like a password", what);
	return 0;
}

static int
check_same(struct json_object *body, const char *at, const char *key,
    const char *want, struct err *err)
{
	const char *found = json_string_or(body, key, want);

	if (strcmp(found, want) != 0)
		return err_set(
		    err, -EINVAL, "%s.%s: is %s, not %s", at, key, found, want);
	return 0;
}

static const char *
last_of(struct json_object *body, const struct column *column)
{
	struct json_object *object = NULL, *list = NULL;
	size_t count;

	if (!json_object_object_get_ex(body, column->key, &object) ||
	    !json_object_object_get_ex(object, column->list, &list) ||
	    !json_object_is_type(list, json_type_array))
		return NULL;
	count = json_object_array_length(list);
	return count == 0 ?
	    NULL :
	    json_object_get_string(json_object_array_get_idx(list, count - 1));
}

static int
get_column(struct json_object *body, const char *at,
    const struct column *column, struct book_value *ret, struct err *err)
{
	const char *text = NULL;
	int r;

	if (column->list != NULL) {
		*ret = BOOK_T(last_of(body, column));
		return 0;
	}
	if (column->is_number) {
		*ret = BOOK_I(0);
		if (column->optional &&
		    !json_object_object_get_ex(body, column->key, NULL))
			return 0;
		return json_get_int(
		    body, at, column->key, 0, INT64_MAX, &ret->number, err);
	}
	*ret = BOOK_T(NULL);
	if (column->optional &&
	    json_get_string(body, at, column->key, &text, NULL) == -ENOENT)
		return 0;
	r = json_get_string(body, at, column->key, &text, err);
	if (r < 0)
		return r;
	if (text[0] == '\0' && !column->optional)
		return err_set(
		    err, -EINVAL, "%s.%s: is empty", at, column->key);
	if (strlen(text) > COLUMN_MAX)
		return err_set(err, -E2BIG, "%s.%s: longer than %d bytes", at,
		    column->key, COLUMN_MAX);
	ret->text = text[0] != '\0' ? text : NULL;
	return 0;
}

static int
check_text(struct json_object *body, const char *at, const struct shape *shape,
    struct err *err)
{
	const char *text = shape->text_key == NULL ?
	    "" :
	    json_string_or(body, shape->text_key, "");

	if (strlen(text) > shape->text_max)
		return err_set(err, -E2BIG,
		    "%s.%s: %zu bytes, at most %zu are stored", at,
		    shape->text_key, strlen(text), shape->text_max);
	return 0;
}

static int
check_body(enum book_kind kind, const char *goal_id, const char *id,
    struct json_object *body, const char *at, struct err *err)
{
	const struct shape *shape = &shapes[kind];
	int r = 0;

	if (shape->id_key != NULL)
		r = check_same(body, at, shape->id_key, id, err);
	if (r == 0 && kind != BOOK_GOAL)
		r = check_same(body, at, "goalId", goal_id, err);
	if (r == 0 && kind == BOOK_GOAL &&
	    json_object_object_get_ex(body, "nodes", NULL))
		r = err_set(err, -EINVAL,
		    "%s.nodes: nodes are records of their own", at);
	if (r == 0)
		r = check_text(body, at, shape, err);
	return r;
}

static int
check_ids(enum book_kind kind, const char *goal_id, const char *id,
    char **ret_at, struct err *err)
{
	cleanup_free char *at = NULL;
	int r = check_id(id, shapes[kind].name, err);

	if (r < 0)
		return r;
	at = xasprintf("%s %s", shapes[kind].name, id);
	r = check_id(goal_id, at, err);
	if (r == 0 && kind == BOOK_GOAL && strcmp(goal_id, id) != 0)
		r = err_set(
		    err, -EINVAL, "%s: of another goal, %s", at, goal_id);
	if (r == 0)
		*ret_at = take_ptr(&at);
	return r;
}

/* text NULL: the record is deleted, only its ids are checked. */
static int
body_fill(struct book_body *body, enum book_kind kind, const char *goal_id,
    const char *id, const char *text, struct err *err)
{
	const struct shape *shape = &shapes[kind];
	cleanup_json struct json_object *raw = NULL;
	cleanup_free char *at = NULL;
	int r = check_ids(kind, goal_id, id, &at, err);

	if (r == 0 && text != NULL)
		r = parse_object(text, shape->max, at, &raw, err);
	if (r < 0 || text == NULL)
		return r;
	body->json = book_masked(raw);
	r = check_body(kind, goal_id, id, body->json, at, err);
	/* An export has no other place for it. */
	if (kind > BOOK_NODE &&
	    json_string_or(body->json, "goalId", NULL) == NULL)
		json_set_string(body->json, "goalId", goal_id);
	body->values[body->count++] = BOOK_T(id);
	body->count++;
	if (kind != BOOK_GOAL)
		body->values[body->count++] = BOOK_T(goal_id);
	for (size_t i = 0;
	     r == 0 && i < BOOK_COLUMNS_MAX && shape->columns[i].key != NULL;
	     i++)
		r = get_column(body->json, at, &shape->columns[i],
		    &body->values[body->count++], err);
	if (r < 0)
		return r;
	json_print(body->json, false, &body->text);
	body->values[1] = BOOK_T(body->text.data);
	return 0;
}

int
book_body_init(struct book_body *body, enum book_kind kind, const char *goal_id,
    const char *id, const char *text, struct err *err)
{
	int r;

	memset(body, 0, sizeof *body);
	buf_init(&body->text);
	r = body_fill(body, kind, goal_id, id, text, err);
	if (r < 0)
		book_body_release(body);
	return r;
}

void
book_body_release(struct book_body *body)
{
	json_object_put(take_ptr(&body->json));
	buf_release(&body->text);
	body->count = 0;
}

/* --- events ------------------------------------------------------------- */

static char *
masked(const char *text, size_t max)
{
	cleanup_buf struct buf out = BUF_INIT;

	if (text == NULL || text[0] == '\0')
		return NULL;
	mask_text(NULL, text, strlen(text), &out);
	cut_text(&out, max);
	return buf_take(&out);
}

/* Two keys must not become the same by being masked or cut. */
static char *
masked_key(const char *key)
{
	cleanup_free char *text = masked(key, 0);
	char hash[17];

	if (text == NULL ||
	    (strcmp(text, key) == 0 && strlen(key) <= 2 * BOOK_ID_MAX))
		return take_ptr(&text);
	id_hash(key, hash, 16);
	return xstrdup(hash);
}

/* Data that is still too long is replaced by its length. */
static int
masked_data(const struct book_event *event, char **ret, struct err *err)
{
	cleanup_json struct json_object *raw = NULL, *data = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	size_t len = strlen(event->data);
	int r = 0;

	if (len <= PARSE_MAX)
		r = parse_object(
		    event->data, PARSE_MAX, event->type, &raw, err);
	if (r < 0)
		return r;
	if (raw != NULL) {
		data = masked_copy(NULL, raw, BOOK_DATA_STRING_MAX);
		json_print(data, false, &text);
	}
	if (raw == NULL || text.len > BOOK_DATA_MAX) {
		buf_clear(&text);
		buf_addf(&text, "{\"omittedBytes\":%zu}", len);
	}
	*ret = buf_take(&text);
	return 0;
}

int
book_entry_init(
    struct book_entry *entry, const struct book_event *event, struct err *err)
{
	const struct {
		const char *text;
		size_t max;
		const char **member;
	} texts[] = {
		{ event->type, BOOK_ID_MAX, &entry->event.type },
		{ event->goal_id, BOOK_ID_MAX, &entry->event.goal_id },
		{ event->assignment_id, BOOK_ID_MAX,
		    &entry->event.assignment_id },
		{ event->node_id, BOOK_ID_MAX, &entry->event.node_id },
		{ event->worker, BOOK_ID_MAX, &entry->event.worker },
		{ event->task, (size_t)2 * BOOK_ID_MAX, &entry->event.task },
	};
	char **key = &entry->own[nitems(texts)];
	char **data = &entry->own[nitems(texts) + 1];
	int r;

	if (event->type == NULL || event->type[0] == '\0')
		return err_set(err, -EINVAL, "an event without a type");
	memset(entry, 0, sizeof *entry);
	if (event->data != NULL) {
		r = masked_data(event, data, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < nitems(texts); i++)
		*texts[i].member = entry->own[i] =
		    masked(texts[i].text, texts[i].max);
	*key = masked_key(event->key);
	entry->event.key = *key;
	entry->event.data = *data;
	entry->event.seq = event->seq;
	entry->event.ts_ms = event->ts_ms;
	return 0;
}

void
book_entry_release(struct book_entry *entry)
{
	for (size_t i = 0; i < nitems(entry->own); i++)
		free(take_ptr(&entry->own[i]));
}
