/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backoff.h"
#include "buf.h"
#include "channel.h"
#include "errtext.h"
#include "id.h"
#include "json.h"
#include "mem.h"
#include "message.h"
#include "moment.h"
#include "remedy-mask.h"
#include "schema.h"
#include "strv.h"
#include "text.h"

#define SECOND       1000
#define HOUR         ((int64_t)60 * 60 * SECOND)
#define WAIT_MAX_MS  (24 * HOUR) /* whatever a server asks for */
#define NAME_MAX_LEN 512
#define SENTENCE_MAX 200
#define REASON_MAX   500
#define OPTIONS_MAX  16

const char *const delivery_state_words[DELIVERY_STATE_COUNT + 1] = {
	[DELIVERY_WAITING] = "waiting",
	[DELIVERY_SENT] = "sent",
	[DELIVERY_FAILED] = "failed",
	[DELIVERY_SKIPPED] = "skipped",
};

static const struct backoff again = {
	.first_ms = (int64_t)30 * SECOND,
	.max_ms = 2 * HOUR,
	.tries_max = DELIVERY_TRIES_MAX,
};

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct message, key, member, ##__VA_ARGS__)
#define MUST(key, member, ...) \
	FIELD(key, member, .flags = SCHEMA_REQUIRED, ##__VA_ARGS__)
#define OWN(key, member, ...) \
	SCHEMA_FIELD(struct delivery, key, member, ##__VA_ARGS__)

static const struct schema_field delivery_fields[] = {
	OWN("channel", channel, .flags = SCHEMA_REQUIRED, .size = 64),
	OWN("state", state, .flags = SCHEMA_REQUIRED,
	    .words = delivery_state_words),
	OWN("attempts", attempts, .max = DELIVERY_TRIES_MAX),
	OWN("next_ms", next_ms,
	    .help = "when it is tried again, in ms since 1970"),
	OWN("reason", reason, .size = REASON_MAX,
	    .help = "why the last try failed"),
	OWN("ref", ref, .size = 64, .help = "the issue"),
};
static const struct schema delivery_schema =
    SCHEMA_OF(struct delivery, delivery_fields);

static const struct schema_field fields[] = {
	MUST("id", id, .size = ID_ULID_SIZE),
	MUST("timestamp", timestamp, .size = 64,
	    .help = "when it happened, in UTC"),
	FIELD(
	    "event", event, .size = NAME_MAX_LEN, .help = "that is told once"),
	FIELD("program", program, .size = 64, .help = "that tells it"),
	FIELD("root", root, .help = "the repository"),
	MUST("level", level, .words = escalation_level_words),
	FIELD("class", class, .size = 64, .help = "of people.notify_on"),
	MUST(
	    "title", title, .size = MESSAGE_TITLE_MAX, .help = "what happened"),
	FIELD("text", text, .size = MESSAGE_TEXT_MAX,
	    .help = "why, and what to type"),
	MUST("signature", signature, .size = NAME_MAX_LEN,
	    .help = "equal for events of the same failure"),
	FIELD("worker", worker, .size = NAME_MAX_LEN),
	FIELD("task", task, .size = NAME_MAX_LEN),
	FIELD("task_title", task_title, .size = MESSAGE_TITLE_MAX,
	    .help = "what it is about"),
	FIELD("goal", goal, .size = NAME_MAX_LEN),
	FIELD("node", node, .size = NAME_MAX_LEN),
	FIELD("iteration", iteration, .flags = SCHEMA_ZERO_IS_NULL),
	FIELD(
	    "intervention", intervention, .size = 64, .help = "that was made"),
	FIELD("options", options, .max = OPTIONS_MAX, .size = REASON_MAX,
	    .help = "that the answer can be chosen from"),
	FIELD("detection", detection, .help = "what was found"),
	FIELD("count", count, .min = 1, .help = "of events in it"),
	FIELD("earlier", earlier, .max = MESSAGE_EARLIER_MAX,
	    .size = SENTENCE_MAX, .help = "the first lines of those before"),
	SCHEMA_PARTS(struct message, "channels", ROWS, deliveries,
	    delivery_count, delivery_schema, .flags = SCHEMA_REQUIRED,
	    .max = MESSAGE_CHANNELS_MAX),
	FIELD("done", done, .help = "nothing of it is left to send"),
	FIELD("at_ms", at_ms, .flags = SCHEMA_ZERO_IS_NULL,
	    .help = "when it was made, in ms since 1970"),
};

static int
check(void *given, const char *at, struct err *err)
{
	const struct message *record = given;

	(void)at;
	if (!id_ulid_valid(record->id))
		return err_set(err, -EINVAL, "id: not a ULID");
	for (size_t i = 0; i < record->delivery_count; i++) {
		const struct delivery *d = &record->deliveries[i];

		if ((!text_is_name(d->channel) &&
			strcmp(d->channel, MESSAGE_COMMAND) != 0) ||
		    message_delivery(record, d->channel) != d)
			return err_set(err, -EINVAL,
			    "channels[%zu].channel: not a name, or there "
			    "twice",
			    i);
	}
	return 0;
}

const struct schema message_schema =
    SCHEMA_OF(struct message, fields, .strict = true, .check = check,
	.blank = &(const struct message){ .count = 1 });

/* --- made of an escalation -------------------------------------------- */

/* A copy without keys and passwords, in valid UTF-8, of at most max bytes. */
static char *
safe_copy(const char *text, size_t max)
{
	cleanup_buf struct buf out = BUF_INIT;

	if (text == NULL)
		return NULL;
	remedy_mask(text, strlen(text), &out);
	buf_truncate(&out, text_cut(out.data, out.len, max));
	return buf_take(&out);
}

/* The same on one line. */
static char *
safe_line(const char *text, size_t max)
{
	char *line = safe_copy(text, max);

	for (char *c = line; c != NULL && *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	return line;
}

/* An id, which must stay what it is. */
static char *
id_copy(const char *id)
{
	return id != NULL && strlen(id) <= NAME_MAX_LEN ? xstrdup(id) : NULL;
}

static struct json_object *
safe_detection(struct json_object *detection)
{
	cleanup_buf struct buf text = BUF_INIT, safe = BUF_INIT;
	struct json_object *copy = NULL;

	if (!json_object_is_type(detection, json_type_object))
		return NULL;
	json_print(detection, false, &text);
	remedy_mask(text.data, text.len, &safe);
	if (json_parse(
		safe.data, safe.len, MESSAGE_DETECTION_MAX, &copy, NULL) < 0 ||
	    !json_object_is_type(copy, json_type_object)) {
		json_object_put(copy);
		return NULL;
	}
	return copy;
}

static void
set_text(struct message *record, const struct escalation *what)
{
	free(record->title);
	free(record->text);
	json_object_put(record->detection);
	record->title = safe_line(
	    what->title != NULL ? what->title : "llmc", MESSAGE_TITLE_MAX);
	record->text = safe_copy(what->text, MESSAGE_TEXT_MAX);
	record->detection = safe_detection(what->detection);
	if (what->iteration > 0)
		record->iteration = what->iteration;
}

static struct delivery *
add_delivery(struct message *record, const char *channel)
{
	struct delivery *d;

	record->deliveries = xreallocarray(record->deliveries,
	    record->delivery_count + 1, sizeof *record->deliveries);
	d = &record->deliveries[record->delivery_count++];
	*d = (struct delivery){ .channel =
				    channel != NULL ? xstrdup(channel) : NULL };
	return d;
}

struct message *
message_new(const struct escalation *what, const struct channel_list *channels,
    const char *id, const char *timestamp, const char *root,
    const char *program, int64_t not_before_ms)
{
	struct message *record = xcalloc(1, sizeof *record);
	const char *const *option = what->options;

	for (size_t i = 0; i < channels->count; i++)
		if (channel_takes(&channels->rows[i], what))
			add_delivery(record, channels->rows[i].name)->next_ms =
			    not_before_ms;
	if (what->by_command)
		add_delivery(record, MESSAGE_COMMAND)->next_ms = not_before_ms;
	if (record->delivery_count == 0) {
		message_free(record);
		return NULL;
	}
	record->id = xstrdup(id);
	moment_parse(timestamp, &record->at_ms);
	record->timestamp = xstrdup(timestamp);
	record->event = id_copy(what->event);
	record->program = xstrdup(program);
	record->root = xstrdup(root);
	record->level = what->level;
	record->count = 1;
	record->class = safe_line(what->class, 64);
	record->signature = safe_line(
	    what->signature != NULL ? what->signature : "llmc", NAME_MAX_LEN);
	record->worker = id_copy(what->worker);
	record->task = id_copy(what->task);
	record->task_title = safe_line(what->task_title, MESSAGE_TITLE_MAX);
	record->goal = id_copy(what->goal);
	record->node = id_copy(what->node);
	record->intervention = safe_line(what->intervention, 64);
	for (int i = 0; option != NULL && option[i] != NULL && i < OPTIONS_MAX;
	     i++)
		strv_take(&record->options, safe_line(option[i], REASON_MAX));
	set_text(record, what);
	return record;
}

void
message_again(struct message *record, const struct escalation *what)
{
	const char *before =
	    record->text != NULL ? record->text : record->title;

	if (strv_count(record->earlier) < MESSAGE_EARLIER_MAX) {
		size_t len = strcspn(before, "\n");

		len = text_cut(before, len, SENTENCE_MAX);
		strv_take(&record->earlier, xstrndup(before, len));
	}
	if (record->count < INT32_MAX)
		record->count++;
	if (what->level > record->level)
		record->level = what->level;
	set_text(record, what);
}

void
message_free(struct message *record)
{
	schema_free(&message_schema, record);
}

/* --- JSON ------------------------------------------------------------- */

struct json_object *
message_to_json(const struct message *record)
{
	return schema_json(&message_schema, record);
}

int
message_from_json(
    struct json_object *json, struct message **ret_record, struct err *err)
{
	struct message *record = schema_make(&message_schema, json, "", err);

	if (record == NULL)
		return -EINVAL;
	*ret_record = record;
	return 0;
}

/* --- deliveries ------------------------------------------------------- */

struct delivery *
message_delivery(const struct message *record, const char *channel)
{
	for (size_t i = 0; i < record->delivery_count; i++)
		if (strcmp(record->deliveries[i].channel, channel) == 0)
			return &record->deliveries[i];
	return NULL;
}

bool
message_was_sent(const struct message *record)
{
	for (size_t i = 0; i < record->delivery_count; i++)
		if (record->deliveries[i].state == DELIVERY_SENT)
			return true;
	return false;
}

bool
message_learn(struct message *record, const struct message *other)
{
	bool is_new = false;

	for (size_t i = 0; i < record->delivery_count; i++) {
		struct delivery *d = &record->deliveries[i];
		const struct delivery *o = message_delivery(other, d->channel);

		if (o == NULL || d->state == DELIVERY_SENT ||
		    o->state == DELIVERY_WAITING || o->state == d->state)
			continue;
		delivery_end(d, o->state, o->reason, o->ref);
		is_new = true;
	}
	return is_new;
}

bool
message_is_done(const struct message *record)
{
	for (size_t i = 0; i < record->delivery_count; i++)
		if (record->deliveries[i].state == DELIVERY_WAITING)
			return false;
	return true;
}

int64_t
delivery_wait_ms(const struct delivery *d, int64_t now_ms)
{
	if (d->next_ms <= now_ms || d->next_ms - now_ms > WAIT_MAX_MS)
		return 0;
	return d->next_ms - now_ms;
}

void
delivery_begin(struct delivery *d, int64_t now_ms)
{
	int64_t wait = 0;

	if (d->attempts < DELIVERY_TRIES_MAX)
		d->attempts++;
	if (!backoff_next(&again, d->attempts - 1, &wait))
		wait = again.max_ms;
	d->next_ms = now_ms + wait;
}

void
delivery_failed(struct delivery *d, const char *reason, int64_t retry_after_ms,
    int64_t now_ms)
{
	if (d->attempts >= DELIVERY_TRIES_MAX) {
		delivery_end(d, DELIVERY_FAILED, reason, NULL);
		return;
	}
	free(d->reason);
	d->reason = safe_line(reason, REASON_MAX);
	if (retry_after_ms > WAIT_MAX_MS)
		retry_after_ms = WAIT_MAX_MS;
	if (retry_after_ms > 0 && d->next_ms < now_ms + retry_after_ms)
		d->next_ms = now_ms + retry_after_ms;
}

void
delivery_end(struct delivery *d, enum delivery_state state, const char *reason,
    const char *ref)
{
	d->state = state;
	d->next_ms = 0;
	free(d->reason);
	d->reason = safe_line(reason, REASON_MAX);
	free(d->ref);
	d->ref = safe_line(ref, 64);
}

void
message_end(
    struct message *record, enum delivery_state state, const char *reason)
{
	for (size_t i = 0; i < record->delivery_count; i++)
		if (record->deliveries[i].state == DELIVERY_WAITING)
			delivery_end(
			    &record->deliveries[i], state, reason, NULL);
}
