/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "ask.h"
#include "backoff.h"
#include "channel.h"
#include "excerpt.h"
#include "id.h"
#include "message.h"
#include "moment.h"
#include "schema.h"

#define MESSAGE_TITLE_MAX 200

#define MESSAGE_DETECTION_MAX ((size_t)32 * 1024) /* more is left out */

#define MESSAGE_CHANNELS_MAX 32

#define MESSAGE_EARLIER_MAX 10

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

#define MESSAGE_FIELD(key, member, ...) \
	SCHEMA_FIELD(struct message, key, member, ##__VA_ARGS__)

#define MUST(key, member, ...) \
	MESSAGE_FIELD(key, member, .flags = SCHEMA_REQUIRED, ##__VA_ARGS__)

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
	MESSAGE_FIELD(
	    "event", event, .size = NAME_MAX_LEN, .help = "that is told once"),
	MESSAGE_FIELD("program", program, .size = 64, .help = "that tells it"),
	MESSAGE_FIELD("root", root, .help = "the repository"),
	MUST("level", level, .words = escalation_level_words),
	MESSAGE_FIELD("class", class, .size = 64, .help = "what it is about"),
	MUST(
	    "title", title, .size = MESSAGE_TITLE_MAX, .help = "what happened"),
	MESSAGE_FIELD("text", text, .size = MESSAGE_TEXT_MAX,
	    .help = "why, and what to type"),
	MUST("signature", signature, .size = NAME_MAX_LEN,
	    .help = "equal for events of the same failure"),
	MESSAGE_FIELD("worker", worker, .size = NAME_MAX_LEN),
	MESSAGE_FIELD("task", task, .size = NAME_MAX_LEN),
	MESSAGE_FIELD("task_title", task_title, .size = MESSAGE_TITLE_MAX,
	    .help = "what it is about"),
	MESSAGE_FIELD("goal", goal, .size = NAME_MAX_LEN),
	MESSAGE_FIELD("node", node, .size = NAME_MAX_LEN),
	MESSAGE_FIELD("iteration", iteration, .flags = SCHEMA_ZERO_IS_NULL),
	MESSAGE_FIELD(
	    "intervention", intervention, .size = 64, .help = "that was made"),
	MESSAGE_FIELD("options", options, .max = OPTIONS_MAX,
	    .size = REASON_MAX, .help = "that the answer can be chosen from"),
	MESSAGE_FIELD("link", link, .size = MESSAGE_TITLE_MAX,
	    .help = "where it can be answered"),
	MESSAGE_FIELD("detection", detection, .help = "what was found"),
	MESSAGE_FIELD("count", count, .min = 1, .help = "of events in it"),
	MESSAGE_FIELD("earlier", earlier, .max = MESSAGE_EARLIER_MAX,
	    .size = SENTENCE_MAX, .help = "the first lines of those before"),
	SCHEMA_PARTS(struct message, "channels", ROWS, deliveries,
	    delivery_count, delivery_schema, .flags = SCHEMA_REQUIRED,
	    .max = MESSAGE_CHANNELS_MAX),
	MESSAGE_FIELD("done", done, .help = "nothing of it is left to send"),
	MESSAGE_FIELD("at_ms", at_ms, .flags = SCHEMA_ZERO_IS_NULL,
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

		if (!text_is_name(d->channel) ||
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

/* The same on one line. */
static char *
safe_line(const char *text, size_t max)
{
	char *line = remedy_mask_copy(text, max);

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
	record->text = remedy_mask_copy(what->text, MESSAGE_TEXT_MAX);
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
		if (channel_takes(&channels->rows[i], what) &&
		    (!what->unsaved ||
			channels->rows[i].type == CHANNEL_COMMAND))
			add_delivery(record, channels->rows[i].name)->next_ms =
			    not_before_ms;
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
	record->link = safe_line(what->link, MESSAGE_TITLE_MAX);
	set_text(record, what);
	return record;
}

void
message_add(struct message *record, const struct escalation *what)
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

const char *
message_sent_by(const struct message *record)
{
	for (size_t i = 0; i < record->delivery_count; i++)
		if (record->deliveries[i].state == DELIVERY_SENT)
			return record->deliveries[i].channel;
	return NULL;
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

/* --- what nobody was told ----------------------------------------------- */

/* The first tries take so long, also of one that waits for the end of the pause
 * before (COURIER_PAUSE_MS). */
#define UNDER_WAY_MS    (2 * 60 * SECOND)
#define UNDER_WAY_TRIES 2 /* or until so many have failed */

bool
message_tells(const struct message *m, const struct ask *ask)
{
	return ask->created_ms <= m->at_ms + MESSAGE_EARLY_MS &&
	    (text_is(ask->key, m->event) || text_is(ask->task, m->task) ||
		(ask->task == NULL && text_is(ask->worker, m->worker)) ||
		(ask->node != NULL && text_is(ask->node, m->node) &&
		    text_is(ask->goal, m->goal)));
}

static bool
is_in_use(const struct delivery *d, const struct channel_list *channels)
{
	const struct channel *channel = channel_find(channels, d->channel);

	return channel != NULL && channel->enabled;
}

static bool
has_failed(const struct delivery *d, const struct message *m, int64_t now_ms)
{
	return d->state == DELIVERY_FAILED ||
	    (d->state == DELIVERY_WAITING && d->reason != NULL &&
		(d->attempts > UNDER_WAY_TRIES ||
		    now_ms - m->at_ms >= UNDER_WAY_MS));
}

/* Has every channel that it waits for failed, appended with their reasons? */
static bool
is_untold(const struct message *m, const struct channel_list *channels,
    int64_t now_ms, struct buf *why, const char **ret_channel)
{
	for (size_t i = 0; i < m->delivery_count; i++) {
		const struct delivery *d = &m->deliveries[i];

		if (d->state == DELIVERY_SKIPPED || !is_in_use(d, channels))
			continue;
		if (!has_failed(d, m, now_ms))
			return false;
		buf_addf(why, "%s%s: %s", why->len > 0 ? "; " : "", d->channel,
		    d->reason != NULL ? d->reason : "failed");
		if (*ret_channel == NULL)
			*ret_channel = d->channel;
	}
	return *ret_channel != NULL;
}

bool
message_untold_add(struct message_untold *untold, const struct message *m,
    struct ask *const *asks, size_t ask_count,
    const struct channel_list *channels, int64_t now_ms)
{
	cleanup_buf struct buf why = BUF_INIT;
	const char *channel = NULL;
	bool is_open = false;

	if (message_sent_by(m) != NULL)
		return false;
	for (size_t i = 0; i < ask_count; i++) {
		const struct ask *ask = asks[i];

		/* An older message may have got through since. */
		if (ask->told_ms >= m->at_ms &&
		    !text_is(ask->told_by, ASK_SEEN))
			return false;
		is_open =
		    is_open || (ask->how == ASK_OPEN && message_tells(m, ask));
	}
	if (!is_open || !is_untold(m, channels, now_ms, &why, &channel))
		return true;
	untold->since_ms = m->at_ms;
	if (untold->why == NULL) { /* the newest has the reason of today */
		untold->why = buf_take(&why);
		untold->channel = xstrdup(channel);
	}
	return true;
}

void
message_untold_release(struct message_untold *untold)
{
	free(untold->channel);
	free(untold->why);
	*untold = (struct message_untold){ 0 };
}

#define NTFY_MAX    3000 /* bytes; its server takes 4096 */
#define DISCORD_MAX 1900 /* bytes; Discord takes 2000 characters */
#define SLACK_MAX   3000
#define DESKTOP_MAX 600
#define MARK        "<!-- llmc failure "
#define EVENT       " event "
#define MARK_END    " -->"
#define HASH_LEN    16

/* --- parts ------------------------------------------------------------ */

static const char *
reason_of(const struct message *r)
{
	return r->text != NULL && r->text[0] != '\0' ? r->text : r->title;
}

/* "llmc CRITICAL: what happened" */
static void
add_heading(const struct message *r, struct buf *out)
{
	buf_adds(out, "llmc ");
	for (const char *c = escalation_level_words[r->level]; *c != '\0'; c++)
		buf_addc(out, (char)(*c - 'a' + 'A'));
	buf_addf(out, ": %s", r->title);
}

/* "worker adam, task t-1, node T1.2, goal goal_x, iteration 7"; nothing if none
 * is known. */
static void
add_place(const struct message *r, struct buf *out)
{
	const char *const parts[][2] = { { "worker", r->worker },
		{ "task", r->task }, { "node", r->node }, { "goal", r->goal } };
	const char *between = "";

	for (size_t i = 0; i < nitems(parts); i++)
		if (parts[i][1] != NULL) {
			buf_addf(
			    out, "%s%s %s", between, parts[i][0], parts[i][1]);
			between = ", ";
		}
	if (r->iteration > 0)
		buf_addf(out, "%siteration %" PRId64, between, r->iteration);
}

/* What can be chosen, and how. */
static void
add_options(const struct message *r, struct buf *out)
{
	const char *subject = r->task != NULL ? r->task : r->worker;

	for (size_t i = 0; i < strv_count(r->options); i++)
		buf_addf(out, "%zu. %s\n", i + 1, r->options[i]);
	if (strv_count(r->options) > 0 && subject != NULL)
		buf_addf(out, "llmc answer %s NUMBER\n", subject);
}

/* Several lines of plain text, for places that show no Markdown. */
static void
add_plain(const struct message *r, struct buf *out)
{
	cleanup_buf struct buf place = BUF_INIT;

	add_place(r, &place);
	add_heading(r, out);
	buf_addc(out, '\n');
	if (place.len > 0)
		buf_addf(out, "%s\n", place.data);
	if (r->text != NULL && strcmp(r->text, r->title) != 0)
		buf_addf(out, "%s\n", r->text);
	add_options(r, out);
	if (r->count > 1)
		buf_addf(out, "%d times\n", r->count);
	if (r->link != NULL)
		buf_addf(out, "%s\n", r->link);
}

/* --- webhooks --------------------------------------------------------- */

#define MESSAGE_BODY_FIELD(key, member, ...) \
	SCHEMA_FIELD(struct message, key, member, ##__VA_ARGS__)

#define MADE(key, kind)                              \
	{                                            \
		.name = (key), .type = SCHEMA_##kind \
	}

static const struct schema_field context_fields[] = {
	MADE("loopId", STRING),
	MADE("taskDescription", STRING),
	MESSAGE_BODY_FIELD(
	    "iterationNumber", iteration, .flags = SCHEMA_ZERO_IS_NULL),
	MADE("reason", STRING),
	MESSAGE_BODY_FIELD("detection", detection),
	MADE("intervention", OBJECT),
	MESSAGE_BODY_FIELD("class", class),
	MESSAGE_BODY_FIELD("title", title),
	MESSAGE_BODY_FIELD("worker", worker),
	MESSAGE_BODY_FIELD("task", task),
	MESSAGE_BODY_FIELD("goal", goal),
	MESSAGE_BODY_FIELD("node", node),
	MESSAGE_BODY_FIELD("signature", signature),
	MESSAGE_BODY_FIELD("options", options),
	MESSAGE_BODY_FIELD("link", link),
	MESSAGE_BODY_FIELD("count", count),
};

static const struct schema context_schema =
    SCHEMA_OF(struct message, context_fields);

static const struct schema_field body_fields[] = {
	MESSAGE_BODY_FIELD("id", id),
	MESSAGE_BODY_FIELD("level", level, .words = escalation_level_words),
	SCHEMA_GROUP("context", context_schema),
	MESSAGE_BODY_FIELD("timestamp", timestamp),
	MESSAGE_BODY_FIELD("program", program),
	MESSAGE_BODY_FIELD("root", root),
};
static const struct schema body_schema = SCHEMA_OF(struct message, body_fields);

static void
add_json(const struct message *r, struct buf *out)
{
	cleanup_json struct json_object *json = schema_json(&body_schema, r);
	struct json_object *context = json_member(json, "context");
	struct json_object *made = NULL;

	json_set_string(
	    context, "loopId", r->task != NULL ? r->task : r->worker);
	json_set_string(context, "taskDescription",
	    r->task_title != NULL ? r->task_title : r->title);
	json_set_string(context, "reason", reason_of(r));
	if (r->intervention != NULL) {
		made = json_object_new_object();
		json_set_string(made, "level", r->intervention);
		json_set_string(made, "reason", reason_of(r));
	}
	json_set(context, "intervention", made);
	schema_order(&body_schema, json);
	json_print(json, false, out);
}

/* &, < and > are what begins a mention, a link or a tag. */
static void
add_escaped(const char *text, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '&')
			buf_adds(out, "&amp;");
		else if (text[i] == '<')
			buf_adds(out, "&lt;");
		else if (text[i] == '>')
			buf_adds(out, "&gt;");
		else
			buf_addc(out, text[i]);
	}
}

static void
add_discord(const struct message *r, struct buf *out)
{
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_buf struct buf plain = BUF_INIT;
	struct json_object *mentions = json_object_new_object();

	add_plain(r, &plain);
	buf_truncate(&plain, text_cut(plain.data, plain.len, DISCORD_MAX));
	json_set_string(json, "content", plain.data);
	json_set(mentions, "parse", json_object_new_array());
	json_set(json, "allowed_mentions", mentions);
	json_print(json, false, out);
}

void
message_ntfy(const struct message *r, const char *topic, struct buf *out)
{
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_buf struct buf heading = BUF_INIT, plain = BUF_INIT;
	const char *reason = reason_of(r);

	add_heading(r, &heading);
	buf_add(&plain, reason, text_cut(reason, strlen(reason), NTFY_MAX));
	buf_addc(&plain, '\n');
	add_options(r, &plain);
	add_place(r, &plain);
	json_set_string(json, "topic", topic);
	json_set_string(json, "title", heading.data);
	json_set_string(json, "message", plain.data);
	json_set_int(json, "priority", 2 + (int)r->level);
	if (r->link != NULL)
		json_set_string(json, "click", r->link);
	json_print(json, false, out);
}

void
message_webhook(
    const struct message *record, enum channel_format format, struct buf *out)
{
	if (format == CHANNEL_SLACK) {
		cleanup_json struct json_object *json =
		    json_object_new_object();
		cleanup_buf struct buf plain = BUF_INIT, text = BUF_INIT;

		add_plain(record, &plain);
		add_escaped(plain.data,
		    text_cut(plain.data, plain.len, SLACK_MAX), &text);
		json_set_string(json, "text", text.data);
		json_print(json, false, out);
	} else if (format == CHANNEL_DISCORD)
		add_discord(record, out);
	else
		add_json(record, out);
}

/* --- issues ----------------------------------------------------------- */

void
message_issue_title(const struct message *r, struct buf *out)
{
	add_heading(r, out);
	if (r->worker != NULL)
		buf_addf(out, " (%s)", r->worker);
	for (size_t i = 0; i < out->len; i++)
		if ((unsigned char)out->data[i] < ' ')
			out->data[i] = ' ';
}

static void
add_row(struct buf *out, const char *name, const char *value)
{
	if (value == NULL)
		return;
	buf_addf(out, "- **%s:** `", name);
	for (; *value != '\0'; value++)
		buf_addc(out,
		    *value == '`' || (unsigned char)*value < ' ' ? ' ' :
								   *value);
	buf_adds(out, "`\n");
}

static void
add_detection(struct json_object *detection, struct buf *out)
{
	cleanup_buf struct buf evidence = BUF_INIT;
	struct json_object *value = NULL;

	buf_adds(out, "\n### Detection\n\n");
	add_row(out, "Type", json_string_or(detection, "type", NULL));
	add_row(out, "Severity", json_string_or(detection, "severity", NULL));
	add_row(out, "Message", json_string_or(detection, "message", NULL));
	if (json_object_object_get_ex(detection, "evidence", &value) &&
	    value != NULL) {
		json_print(value, true, &evidence);
		buf_adds(out, "\nEvidence:\n\n");
		excerpt_fence(evidence.data, "json", out);
	}
	if (json_object_object_get_ex(detection, "recommendations", &value)) {
		struct json_object *list = value;
		size_t count = json_length(list);
		cleanup_buf struct buf text = BUF_INIT;

		for (size_t i = 0; i < count; i++) {
			const char *one = json_object_get_string(
			    json_object_array_get_idx(list, i));

			buf_addf(
			    &text, "%zu. %s\n", i + 1, one != NULL ? one : "");
		}
		if (text.len == 0)
			return;
		buf_adds(out, "\nRecommendations:\n\n");
		excerpt_fence(text.data, "", out);
	}
}

static void
add_actions(const struct message *r, struct buf *out)
{
	const char *subject = r->task != NULL ? r->task : r->worker;

	if (text_is(r->class, "test"))
		return; /* llmc doctor channel: it is kept nowhere */
	buf_adds(out,
	    "\n### Actions required\n\n- [ ] Look at what happened: `llmc status`, "
	    "`llmc log`\n");
	if (r->worker != NULL)
		buf_adds(out, "- [ ] Decide whether the work goes on\n");
	if (r->options != NULL)
		buf_adds(out, "- [ ] Choose an option\n");
	if (subject != NULL)
		buf_addf(
		    out, "- [ ] Answer with `llmc answer %s TEXT`\n", subject);
	else
		buf_adds(out, "- [ ] See `llmc asks`, and `llmc answer` it\n");
}

/* The last line; a text of others never is. */
static void
add_mark(const struct message *r, struct buf *out)
{
	char hash[HASH_LEN + 1];

	id_hash(r->signature, hash, HASH_LEN);
	buf_addf(out, "\n---\nSent by llmc.\n" MARK "%s" EVENT "%s" MARK_END,
	    hash, r->id);
}

static void
add_report(const struct message *r, struct buf *out)
{
	cleanup_buf struct buf options = BUF_INIT, earlier = BUF_INIT;
	cleanup_free char *iteration =
	    r->iteration > 0 ? xasprintf("%" PRId64, r->iteration) : NULL;
	cleanup_free char *task = r->task != NULL ?
	    xasprintf("%s%s%s", r->task, r->task_title != NULL ? ": " : "",
		r->task_title != NULL ? r->task_title : "") :
	    NULL;

	add_row(out, "Level", escalation_level_words[r->level]);
	add_row(out, "Worker", r->worker);
	add_row(out, "Task", task);
	add_row(out, "Goal", r->goal);
	add_row(out, "Node", r->node);
	add_row(out, "Iteration", iteration);
	add_row(out, "Time", r->timestamp);
	add_row(out, "Repository", r->root);
	add_row(out, "Event", r->id);
	buf_adds(out, "\n### Issue\n\n");
	excerpt_fence(reason_of(r), "", out);
	for (size_t i = 0; r->options != NULL && r->options[i] != NULL; i++)
		buf_addf(&options, "%zu. %s\n", i + 1, r->options[i]);
	if (options.len > 0) {
		buf_adds(out, "\nOptions:\n\n");
		excerpt_fence(options.data, "", out);
	}
	for (size_t i = 0; r->earlier != NULL && r->earlier[i] != NULL; i++)
		buf_addf(&earlier, "%s\n", r->earlier[i]);
	if (r->count > 1)
		buf_addf(
		    out, "\nIt happened %d times. Before that:\n\n", r->count);
	if (earlier.len > 0)
		excerpt_fence(earlier.data, "", out);
	if (r->detection != NULL)
		add_detection(r->detection, out);
	if (r->intervention != NULL) {
		buf_adds(out, "\n### Intervention\n\n");
		add_row(out, "Level", r->intervention);
		add_row(out, "Reason", r->title);
	}
}

void
message_issue_body(const struct message *record, struct buf *out)
{
	buf_adds(out, "## llmc needs a person\n\n");
	add_report(record, out);
	add_actions(record, out);
	add_mark(record, out);
}

void
message_comment(const struct message *record, struct buf *out)
{
	buf_adds(out, "## Again\n\n");
	add_report(record, out);
	add_mark(record, out);
}

const char *
message_label(const struct message *record, int i)
{
	return i == 0 ? "llmc" :
	    i == 1    ? escalation_level_words[record->level] :
			"automated";
}

/* The last line of a text, without blanks at its end. */
static const char *
last_line(const char *body, size_t *ret_len)
{
	size_t len = strlen(body), begin;

	while (len > 0 && strchr(" \t\r\n", body[len - 1]) != NULL)
		len--;
	begin = len;
	while (begin > 0 && body[begin - 1] != '\n')
		begin--;
	*ret_len = len - begin;
	return body + begin;
}

static bool
ends_with(const char *body, const char *mark)
{
	size_t len, want = strlen(mark);
	const char *line = last_line(body, &len);

	return len >= want && strncmp(line, mark, want) == 0;
}

bool
message_has_marker(const char *body, const char *signature)
{
	cleanup_buf struct buf mark = BUF_INIT;
	char hash[HASH_LEN + 1];

	id_hash(signature, hash, HASH_LEN);
	buf_addf(&mark, MARK "%s" EVENT, hash);
	return ends_with(body, mark.data);
}

bool
message_has_event(const char *body, const struct message *record)
{
	cleanup_buf struct buf mark = BUF_INIT;
	char hash[HASH_LEN + 1];

	id_hash(record->signature, hash, HASH_LEN);
	buf_addf(&mark, MARK "%s" EVENT "%s" MARK_END, hash, record->id);
	return ends_with(body, mark.data);
}

/* --- the desktop ------------------------------------------------------ */

void
message_desktop(
    const struct message *record, struct buf *title, struct buf *text)
{
	cleanup_buf struct buf place = BUF_INIT;
	const char *reason = reason_of(record);

	add_heading(record, title);
	add_escaped(
	    reason, text_cut(reason, strlen(reason), DESKTOP_MAX), text);
	add_options(record, &place);
	add_place(record, &place);
	if (place.len > 0) {
		buf_addc(text, '\n');
		add_escaped(place.data, place.len, text);
	}
	if (record->link != NULL) {
		buf_addc(text, '\n');
		add_escaped(record->link, strlen(record->link), text);
	}
}

const char *
message_urgency(const struct message *record)
{
	return record->level == ESCALATION_INFO ? "low" :
	    record->level == ESCALATION_WARNING ? "normal" :
						  "critical";
}
