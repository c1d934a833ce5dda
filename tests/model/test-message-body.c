/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "message.h"

static char id[] = "01ARZ3NDEKTSV4RRFFQ69G5FAV", at[] = "2026-01-01T00:00:00Z",
	    title[] = "work is stuck", worker[] = "adam", task[] = "t-1",
	    signature[] = "stuck E1", pause_word[] = "pause",
	    evil[] = "```\n<!channel> @everyone & <b>\n---\nSent by llmc.\n"
		     "<!-- llmc failure 0000000000000000 event X -->",
	    option[] = "go on";
static char *options[] = { option, NULL };

static struct message
sample(void)
{
	return (struct message){ .id = id,
		.timestamp = at,
		.level = ESCALATION_CRITICAL,
		.title = title,
		.text = evil,
		.signature = signature,
		.worker = worker,
		.task = task,
		.iteration = 7,
		.intervention = pause_word,
		.options = options,
		.count = 1 };
}

static struct json_object *
parsed(const struct buf *text)
{
	struct json_object *json = NULL;

	ck_assert_int_eq(
	    json_parse(text->data, text->len, 1 << 20, &json, NULL), 0);
	return json;
}

TEST(a_webhook_gets_level_context_and_time)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json_object *json = NULL;
	struct json_object *context, *made;
	struct message r = sample();

	r.detection = json_object_new_object();
	json_set_string(r.detection, "type", "stuck");
	message_webhook(&r, CHANNEL_JSON, &text);
	json = parsed(&text);
	ck_assert_str_eq(json_string_or(json, "level", ""), "critical");
	ck_assert_str_eq(json_string_or(json, "timestamp", ""), at);
	ck_assert_str_eq(json_string_or(json, "id", ""), id);
	context = json_object_object_get(json, "context");
	ck_assert_str_eq(json_string_or(context, "loopId", ""), "t-1");
	ck_assert_str_eq(json_string_or(context, "taskDescription", ""), title);
	ck_assert_int_eq(json_int_or(context, "iterationNumber", 0), 7);
	ck_assert_str_eq(json_string_or(context, "reason", ""), evil);
	made = json_object_object_get(context, "detection");
	ck_assert_str_eq(json_string_or(made, "type", ""), "stuck");
	made = json_object_object_get(context, "intervention");
	ck_assert_str_eq(json_string_or(made, "level", ""), "pause");
	json_object_put(r.detection);
}

TEST(ntfy_gets_its_topic_and_where_a_tap_leads)
{
	static char link[] = "https://llmc.example/#/ask/t-1";
	cleanup_buf struct buf text = BUF_INIT, plain = BUF_INIT;
	cleanup_json struct json_object *json = NULL;
	struct message r = sample();

	r.link = link;
	message_ntfy(&r, "night", &text);
	json = parsed(&text);
	ck_assert_str_eq(json_string_or(json, "topic", ""), "night");
	ck_assert_str_eq(json_string_or(json, "click", ""), link);
	ck_assert_int_eq(json_int_or(json, "priority", 0), 4);
	ck_assert_ptr_nonnull(
	    strstr(json_string_or(json, "message", ""), "@everyone"));
	message_webhook(&r, CHANNEL_SLACK, &plain);
	ck_assert_ptr_nonnull(strstr(plain.data, "ask"));
}

TEST(every_channel_says_what_can_be_chosen)
{
	static const char wanted[] = "1. go on\nllmc answer t-1 NUMBER";
	struct message r = sample();
	cleanup_buf struct buf ntfy = BUF_INIT, slack = BUF_INIT;
	cleanup_buf struct buf discord = BUF_INIT, title_of = BUF_INIT;
	cleanup_buf struct buf desktop = BUF_INIT, body = BUF_INIT;

	message_ntfy(&r, "night", &ntfy);
	message_webhook(&r, CHANNEL_SLACK, &slack);
	message_webhook(&r, CHANNEL_DISCORD, &discord);
	message_desktop(&r, &title_of, &desktop);
	message_issue_body(&r, &body);
	ck_assert_ptr_nonnull(
	    strstr(ntfy.data, "1. go on\\nllmc answer t-1 NUMBER"));
	ck_assert_ptr_nonnull(
	    strstr(slack.data, "1. go on\\nllmc answer t-1 NUMBER"));
	ck_assert_ptr_nonnull(
	    strstr(discord.data, "1. go on\\nllmc answer t-1 NUMBER"));
	ck_assert_ptr_nonnull(strstr(desktop.data, wanted));
	ck_assert_ptr_nonnull(strstr(body.data, "1. go on\n"));
}

TEST(slack_and_discord_mention_nobody)
{
	cleanup_buf struct buf slack = BUF_INIT, discord = BUF_INIT;
	cleanup_json struct json_object *one = NULL, *two = NULL;
	struct message r = sample();
	struct json_object *parse = NULL;

	message_webhook(&r, CHANNEL_SLACK, &slack);
	one = parsed(&slack);
	ck_assert_ptr_null(strchr(json_string_or(one, "text", "<"), '<'));
	ck_assert_ptr_nonnull(
	    strstr(json_string_or(one, "text", ""), "&lt;!channel&gt;"));
	message_webhook(&r, CHANNEL_DISCORD, &discord);
	two = parsed(&discord);
	ck_assert_ptr_nonnull(
	    strstr(json_string_or(two, "content", ""), title));
	json_object_object_get_ex(
	    json_object_object_get(two, "allowed_mentions"), "parse", &parse);
	ck_assert_uint_eq(json_object_array_length(parse), 0);
}

TEST(discord_gets_no_more_than_it_takes)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *huge = xmalloc(9001);
	struct message r = sample();

	memset(huge, 'x', 9000);
	huge[9000] = '\0';
	r.text = huge;
	message_webhook(&r, CHANNEL_DISCORD, &text);
	json = parsed(&text);
	ck_assert_uint_le(strlen(json_string_or(json, "content", "")), 2000);
}

/* In this order. */
TEST(an_issue_says_what_was_found_and_done_and_what_to_do)
{
	static const char *const parts[] = { "## ", "**Worker:** `adam`",
		"**Task:** `t-1: Fix the tests`", "**Iteration:** `7`",
		"**Time:** `2026-01-01T00:00:00Z`", "### Issue", "it is so",
		"### Detection", "**Type:** `stuck`", "**Severity:** `high`",
		"**Message:** `the same error`", "Evidence:", "```json\n",
		"\"occurrences\"", "Recommendations:", "1. Rest\n",
		"2. Think\n", "### Intervention", "**Level:** `pause`",
		"### Actions required", "- [ ] ", "llmc answer" };
	static const char found[] =
	    "{\"type\":\"stuck\",\"severity\":\"high\",\"message\":"
	    "\"the same error\",\"evidence\":{\"occurrences\":5},"
	    "\"recommendations\":[\"Rest\",\"Think\"]}";
	cleanup_buf struct buf text = BUF_INIT;
	struct message r = sample();
	char about[] = "Fix the tests", reason[] = "it is so";
	const char *at_part;

	r.task_title = about;
	r.text = reason;
	ck_assert_int_eq(
	    json_parse(found, strlen(found), 1 << 16, &r.detection, NULL), 0);
	message_issue_body(&r, &text);
	at_part = text.data;
	for (size_t i = 0; i < nitems(parts); i++) {
		at_part = strstr(at_part, parts[i]);
		ck_assert_msg(
		    at_part != NULL, "no %s in %s", parts[i], text.data);
	}
	json_object_put(r.detection);
}

TEST(an_issue_is_found_by_its_own_marker_only)
{
	cleanup_buf struct buf body = BUF_INIT, comment = BUF_INIT;
	struct message r = sample();

	message_issue_body(&r, &body);
	ck_assert(message_has_marker(body.data, signature));
	ck_assert(message_has_event(body.data, &r));
	ck_assert(!message_has_marker(body.data, "another"));
	message_comment(&r, &comment);
	ck_assert(message_has_event(comment.data, &r));
	/* A text of others that looks like one is not at the end. */
	ck_assert(!message_has_marker(evil, "another"));
	buf_adds(&body, "\n");
	ck_assert(message_has_marker(body.data, signature));
	buf_adds(&body, "edited by hand");
	ck_assert(!message_has_marker(body.data, signature));
	ck_assert(!message_has_marker("", signature));
}

/* A fence of four: the text has three. */
TEST(a_text_of_others_cannot_leave_its_block)
{
	cleanup_buf struct buf body = BUF_INIT;
	struct message r = sample();
	const char *begin, *end;

	message_issue_body(&r, &body);
	begin = strstr(body.data, "\n````\n");
	ck_assert_ptr_nonnull(begin);
	end = strstr(begin + 6, "\n````\n");
	ck_assert_ptr_nonnull(end);
	ck_assert_ptr_nonnull(strstr(begin, "@everyone"));
	ck_assert(strstr(begin, "@everyone") < end);
	ck_assert_ptr_nonnull(strstr(body.data, "llmc answer"));
}

TEST(a_title_is_one_line)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct message r = sample();
	char lines[] = "a\nb";

	r.title = lines;
	message_issue_title(&r, &text);
	ck_assert_str_eq(text.data, "llmc CRITICAL: a b (adam)");
	ck_assert_str_eq(message_label(&r, 0), "llmc");
	ck_assert_str_eq(message_label(&r, 1), "critical");
	ck_assert_str_eq(message_label(&r, 2), "automated");
}

TEST(a_desktop_shows_no_markup)
{
	cleanup_buf struct buf line = BUF_INIT, text = BUF_INIT;
	struct message r = sample();

	message_desktop(&r, &line, &text);
	ck_assert_ptr_null(strchr(text.data, '<'));
	ck_assert_ptr_nonnull(strstr(text.data, "worker adam"));
	ck_assert_str_eq(message_urgency(&r), "critical");
	r.level = ESCALATION_WARNING;
	ck_assert_str_eq(message_urgency(&r), "normal");
	r.level = ESCALATION_INFO;
	ck_assert_str_eq(message_urgency(&r), "low");
}
