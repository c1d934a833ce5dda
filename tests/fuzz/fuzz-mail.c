/* SPDX-License-Identifier: ISC */

/*
 * Mail, on any input: an accepted record is written and read back unchanged,
 * whatever happens to it; and whatever a body says, the text for a session is
 * bounded, has one piece of mail in it, and nothing that a terminal obeys.
 */

#include "fuzz.h"
#include "mail.h"

#define NOW 1766502000000

static void
check_again(const struct mail *mail)
{
	cleanup_json struct json_object *json = mail_to_json(mail);
	cleanup_json struct json_object *second = NULL;
	struct mail *again = NULL;

	check(mail_from_json(json, "", &again, NULL) == 0);
	second = mail_to_json(again);
	check(json_object_equal(json, second));
	mail_free(again);
}

static void
check_record(const uint8_t *data, size_t size)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct mail *mail = NULL, *list[2];

	if (json_parse((const char *)data, size, 131072, &json, NULL) < 0 ||
	    mail_from_json(json, "", &mail, NULL) < 0)
		return;
	check_again(mail);
	mail_check(mail, NULL);
	check(mail_compare(mail, mail) == 0);
	list[0] = list[1] = mail;
	check(mail_text(list, 2, &text) >= 1);
	mail_is_ignored(mail, &mail_pace, NOW);
	if (mail_is_due(mail, &mail_pace, NOW))
		check(mail->state == MAIL_OPEN);
	mail_delivered(mail, NOW);
	check(!mail_is_new(mail));
	mail_acked(mail, NOW);
	mail_close(mail, NOW);
	check(mail->state != MAIL_OPEN);
	check_again(mail);
	mail_free(mail);
}

static void
check_body(const char *body)
{
	struct mail *mail = mail_new();
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_strv char **ids = NULL;

	mail->id = xstrdup("M_1");
	mail->from = xstrdup("actor:task:t1");
	mail->to = xstrdup("actor:task:t2");
	mail->subject = xstrndup(body, MAIL_SUBJECT_MAX);
	mail->body = xstrdup(body);
	check(mail_text(&mail, 1, &text) == 1);
	ids = mail_text_ids(text.data);
	check(strv_count(ids) == 1 && strcmp(ids[0], "M_1") == 0);
	check(mail_text_has(text.data, "M_1"));
	check(strpbrk(text.data, "\x1b\r\x7f\b") == NULL);
	/* A byte may be shown as \xNN, and a line may be empty. */
	check(text.len < 5 * (MAIL_PART_MAX + MAIL_SUBJECT_MAX) + 1024);
	mail_free(mail);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);

	check_record(data, size);
	check_body(text);
	return 0;
}
