/* SPDX-License-Identifier: ISC */

/* Any JSON as a message to people: an accepted one is written and read back
 * unchanged, and every channel can send it. */

#include "fuzz.h"
#include "message.h"

#define NOW INT64_C(1766502000000)

static void
check_again(const struct message *record)
{
	cleanup_json struct json_object *json = message_to_json(record);
	cleanup_json struct json_object *second = NULL;
	struct message *again = NULL;

	check(message_from_json(json, &again, NULL) == 0);
	second = message_to_json(again);
	check(json_object_equal(json, second));
	message_free(again);
}

static void
check_bodies(const struct message *record)
{
	cleanup_buf struct buf issue = BUF_INIT, title = BUF_INIT;
	cleanup_buf struct buf comment = BUF_INIT, text = BUF_INIT;

	message_issue_body(record, &issue);
	check(message_has_event(issue.data, record));
	check(message_has_marker(issue.data, record->signature));
	message_comment(record, &comment);
	check(message_has_event(comment.data, record));
	message_issue_title(record, &title);
	message_desktop(record, &title, &text);
	for (int format = 0; format < CHANNEL_FORMAT_COUNT; format++) {
		cleanup_buf struct buf body = BUF_INIT;
		cleanup_json struct json_object *json = NULL;

		message_webhook(record, (enum channel_format)format, &body);
		check(json_parse(body.data, body.len, 4 * MESSAGE_FILE_MAX,
			  &json, NULL) == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_json struct json_object *json = NULL;
	struct message *record = NULL;

	if (json_parse(
		(const char *)data, size, MESSAGE_FILE_MAX, &json, NULL) < 0 ||
	    message_from_json(json, &record, NULL) < 0)
		return 0;
	check_again(record);
	check_bodies(record);
	for (size_t i = 0; i < record->delivery_count; i++) {
		struct delivery *d = &record->deliveries[i];

		delivery_begin(d, NOW);
		delivery_failed(d, "no", (int64_t)size * 1000, NOW);
		check(delivery_wait_ms(d, NOW) >= 0);
	}
	check_again(record);
	message_end(record, DELIVERY_SKIPPED, "seen");
	check(message_is_done(record));
	check_again(record);
	message_free(record);
	return 0;
}
