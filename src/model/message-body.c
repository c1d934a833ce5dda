/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "buf.h"
#include "id.h"
#include "json.h"
#include "mem.h"
#include "message-body.h"
#include "message.h"
#include "schema.h"
#include "text.h"

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

/* "CRITICAL" */
static void
add_level(const struct message *r, struct buf *out)
{
	const char *word = escalation_level_words[r->level];

	for (; *word != '\0'; word++)
		buf_addc(out, (char)(*word - 'a' + 'A'));
}

/* "adam, task t-1, T1.2 of goal_x, iteration 7"; nothing if none is known. */
static void
add_place(const struct message *r, struct buf *out)
{
	size_t before = out->len;

	if (r->worker != NULL)
		buf_addf(out, "worker %s", r->worker);
	if (r->task != NULL)
		buf_addf(
		    out, "%stask %s", out->len > before ? ", " : "", r->task);
	if (r->node != NULL)
		buf_addf(
		    out, "%snode %s", out->len > before ? ", " : "", r->node);
	if (r->goal != NULL)
		buf_addf(
		    out, "%sgoal %s", out->len > before ? ", " : "", r->goal);
	if (r->iteration > 0)
		buf_addf(out, "%siteration %" PRId64,
		    out->len > before ? ", " : "", r->iteration);
}

/* Several lines of plain text, for places that show no Markdown. */
static void
add_plain(const struct message *r, struct buf *out)
{
	cleanup_buf struct buf place = BUF_INIT;

	add_place(r, &place);
	buf_adds(out, "llmc ");
	add_level(r, out);
	buf_addf(out, ": %s\n", r->title);
	if (place.len > 0)
		buf_addf(out, "%s\n", place.data);
	if (r->text != NULL && strcmp(r->text, r->title) != 0)
		buf_addf(out, "%s\n", r->text);
	if (r->count > 1)
		buf_addf(out, "%d times\n", r->count);
}

/* --- webhooks --------------------------------------------------------- */

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct message, key, member, ##__VA_ARGS__)
#define MADE(key, kind)                              \
	{                                            \
		.name = (key), .type = SCHEMA_##kind \
	}

static const struct schema_field context_fields[] = {
	MADE("loopId", STRING),
	MADE("taskDescription", STRING),
	FIELD("iterationNumber", iteration, .flags = SCHEMA_ZERO_IS_NULL),
	MADE("reason", STRING),
	FIELD("detection", detection),
	MADE("intervention", OBJECT),
	FIELD("class", class),
	FIELD("worker", worker),
	FIELD("task", task),
	FIELD("goal", goal),
	FIELD("node", node),
	FIELD("signature", signature),
	FIELD("options", options),
	FIELD("count", count),
};
static const struct schema context_schema =
    SCHEMA_OF(struct message, context_fields);

static const struct schema_field body_fields[] = {
	FIELD("id", id),
	FIELD("level", level, .words = escalation_level_words),
	SCHEMA_GROUP("context", context_schema),
	FIELD("timestamp", timestamp),
	FIELD("program", program),
	FIELD("root", root),
};
static const struct schema body_schema = SCHEMA_OF(struct message, body_fields);

static void
add_json(const struct message *r, struct buf *out)
{
	cleanup_json struct json_object *json = schema_json(&body_schema, r);
	struct json_object *context = json_object_object_get(json, "context");
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
add_slack(const struct message *r, struct buf *out)
{
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_buf struct buf plain = BUF_INIT, text = BUF_INIT;

	add_plain(r, &plain);
	add_escaped(
	    plain.data, text_cut(plain.data, plain.len, SLACK_MAX), &text);
	json_set_string(json, "text", text.data);
	json_print(json, false, out);
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
message_webhook(
    const struct message *record, enum channel_format format, struct buf *out)
{
	if (format == CHANNEL_SLACK)
		add_slack(record, out);
	else if (format == CHANNEL_DISCORD)
		add_discord(record, out);
	else
		add_json(record, out);
}

/* --- issues ----------------------------------------------------------- */

void
message_issue_title(const struct message *r, struct buf *out)
{
	buf_adds(out, "llmc ");
	add_level(r, out);
	buf_addf(out, ": %s", r->title);
	if (r->worker != NULL)
		buf_addf(out, " (%s)", r->worker);
	for (size_t i = 0; i < out->len; i++)
		if ((unsigned char)out->data[i] < ' ')
			out->data[i] = ' ';
}

/* In a block whose fence no line of the text can end: nothing in it is markup
 * or a mention. */
static void
add_fenced(const char *text, const char *kind, struct buf *out)
{
	size_t longest = 2, run = 0;

	for (const char *c = text; *c != '\0'; c++) {
		run = *c == '`' ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	for (size_t i = 0; i <= longest; i++)
		buf_addc(out, '`');
	buf_addf(out, "%s\n%s%s", kind, text,
	    text[0] != '\0' && text[strlen(text) - 1] == '\n' ? "" : "\n");
	for (size_t i = 0; i <= longest; i++)
		buf_addc(out, '`');
	buf_addc(out, '\n');
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
add_facts(const struct message *r, struct buf *out)
{
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
}

static void
add_list(struct json_object *list, struct buf *out)
{
	size_t count = json_object_is_type(list, json_type_array) ?
	    json_object_array_length(list) :
	    0;
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < count; i++) {
		const char *one =
		    json_object_get_string(json_object_array_get_idx(list, i));

		buf_addf(&text, "%zu. %s\n", i + 1, one != NULL ? one : "");
	}
	if (text.len == 0)
		return;
	buf_adds(out, "\nRecommendations:\n\n");
	add_fenced(text.data, "", out);
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
		add_fenced(evidence.data, "json", out);
	}
	if (json_object_object_get_ex(detection, "recommendations", &value))
		add_list(value, out);
}

static void
add_actions(const struct message *r, struct buf *out)
{
	const char *subject = r->task != NULL ? r->task : r->worker;

	if (r->class != NULL && strcmp(r->class, "test") == 0)
		return; /* llmc escalations test: it is kept nowhere */
	buf_adds(out,
	    "\n### Actions required\n\n- [ ] Look at what happened: `llmc status`, "
	    "`llmc events`\n");
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

	add_facts(r, out);
	buf_adds(out, "\n### Issue\n\n");
	add_fenced(reason_of(r), "", out);
	for (size_t i = 0; r->options != NULL && r->options[i] != NULL; i++)
		buf_addf(&options, "%zu. %s\n", i + 1, r->options[i]);
	if (options.len > 0) {
		buf_adds(out, "\nOptions:\n\n");
		add_fenced(options.data, "", out);
	}
	for (size_t i = 0; r->earlier != NULL && r->earlier[i] != NULL; i++)
		buf_addf(&earlier, "%s\n", r->earlier[i]);
	if (r->count > 1)
		buf_addf(
		    out, "\nIt happened %d times. Before that:\n\n", r->count);
	if (earlier.len > 0)
		add_fenced(earlier.data, "", out);
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

	buf_adds(title, "llmc ");
	add_level(record, title);
	buf_addf(title, ": %s", record->title);
	add_escaped(
	    reason, text_cut(reason, strlen(reason), DESKTOP_MAX), text);
	add_place(record, &place);
	if (place.len > 0) {
		buf_addc(text, '\n');
		add_escaped(place.data, place.len, text);
	}
}

const char *
message_urgency(const struct message *record)
{
	return record->level == ESCALATION_INFO ? "low" :
	    record->level == ESCALATION_WARNING ? "normal" :
						  "critical";
}
