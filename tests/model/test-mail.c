/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "attempt.h"
#include "mail.h"

static struct mail *
make(const char *id, const char *from, const char *subject, enum mail_kind kind,
    int64_t created_ms)
{
	struct mail *mail = mail_new();

	mail->id = xstrdup(id);
	mail->from = xstrdup(from);
	mail->to = xstrdup("actor:task:t1");
	mail->subject = xstrdup(subject);
	mail->body = xstrdup("text");
	mail->kind = kind;
	mail->created_ms = created_ms;
	return mail;
}

/* --- the record ---------------------------------------------------------- */

TEST(record_reads_back_what_was_written)
{
	cleanup_json struct json_object *json = NULL, *again = NULL,
					*data = json_object_new_object();
	struct mail *mail = make("M_1", "actor:task:t2", "a", MAIL_ALERT, 5);
	struct mail *copy = NULL;
	cleanup_buf struct buf one = BUF_INIT, two = BUF_INIT;

	json_set_int(data, "depth", 2);
	mail_set_data(mail, data);
	mail->from_worker = xstrdup("adam");
	mail->to_worker = xstrdup("eve");
	mail->goal = xstrdup("goal_1");
	mail->reply_to = xstrdup("M_0");
	mail->ack_required = true;
	mail->meta.epic_id = xstrdup("goal_1");
	mail->meta.version = 3;
	mail->meta.reason = xstrdup("replan");
	mail_delivered(mail, 7);
	json = mail_to_json(mail);
	ck_assert_int_eq(mail_from_json(json, "", &copy, NULL), 0);
	again = mail_to_json(copy);
	json_print(json, false, &one);
	json_print(again, false, &two);
	ck_assert_str_eq(one.data, two.data);
	ck_assert_int_eq(copy->delivered, 1);
	ck_assert_int_eq(copy->meta.version, 3);
	ck_assert_ptr_nonnull(copy->data);
	ck_assert_ptr_nonnull(strstr(copy->body, "\"depth\": 2"));
	mail_free(mail);
	mail_free(copy);
}

static const char *const wrong[] = {
	"{}",
	"{\"id\":\"M_1\"}",
	"{\"id\":\"M_1\",\"actor\":\"a\",\"sender\":\"b\",\"subject\":\"s\"}",
	("{\"id\":\"M_1\",\"actor\":\"a\",\"sender\":\"b\",\"subject\":\"s\","
	 "\"body\":[1]}"),
	("{\"id\":\"M_1\",\"actor\":\"a\",\"sender\":\"b\",\"subject\":\"s\","
	 "\"body\":\"t\",\"kind\":\"order\"}"),
	("{\"id\":\"M_1\",\"actor\":\"a\",\"sender\":\"b\",\"subject\":\"s\","
	 "\"body\":\"t\",\"meta\":1}"),
};

TEST_ROWS(record_that_is_no_mail_is_refused, nitems(wrong))
{
	cleanup_json struct json_object *json = NULL;
	struct mail *mail = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(
	    json_parse(wrong[_i], strlen(wrong[_i]), 4096, &json, NULL), 0);
	ck_assert_int_eq(mail_from_json(json, "", &mail, &err), -EINVAL);
	ck_assert_ptr_null(mail);
	ck_assert_str_ne(err.msg, "");
}

TEST(mail_is_bounded)
{
	struct mail *mail = make("M_1", "a", "one line", MAIL_INFO, 1);
	struct err err = { 0 };

	ck_assert_int_eq(mail_check(mail, &err), 0);
	xstrset(&mail->subject, "two\nlines");
	ck_assert_int_eq(mail_check(mail, &err), -EINVAL);
	xstrset(&mail->subject, "");
	ck_assert_int_eq(mail_check(mail, &err), -EINVAL);
	xstrset(&mail->subject, "s");
	free(mail->body);
	mail->body = xmalloc(MAIL_BODY_MAX + 2);
	memset(mail->body, 'x', MAIL_BODY_MAX + 1);
	mail->body[MAIL_BODY_MAX + 1] = '\0';
	ck_assert_int_eq(mail_check(mail, &err), -E2BIG);
	ck_assert_ptr_nonnull(strstr(err.msg, "put the rest into a file"));
	mail->body[MAIL_BODY_MAX] = '\0';
	ck_assert_int_eq(mail_check(mail, &err), 0);
	mail_free(mail);
}

TEST(id_follows_from_sender_and_key_and_no_agent_makes_the_overseers)
{
	cleanup_free char *one = mail_id("actor:task:t1", "call/1");
	cleanup_free char *same = mail_id("actor:task:t1", "call/1");
	cleanup_free char *other = mail_id("actor:task:t1", "call/2");
	cleanup_free char *another = mail_id("actor:task:t2", "call/1");
	cleanup_free char *daemon = mail_id(ACTOR_OVERSEER, "call/1");

	ck_assert_str_eq(one, same);
	ck_assert_str_ne(one, other);
	ck_assert_str_ne(one, another);
	ck_assert_int_eq(strncmp(one, "M_a", 3), 0);
	ck_assert_int_eq(strncmp(daemon, "M_s", 3), 0);
}

/* --- the order ------------------------------------------------------------ */

TEST(plan_mail_of_the_overseer_comes_first_then_by_kind_and_age)
{
	struct mail *plan =
	    make("M_9", ACTOR_OVERSEER, "plan.updated:g", MAIL_INFO, 99);
	struct mail *forged =
	    make("M_8", "actor:task:t2", "plan.updated:g", MAIL_INFO, 1);
	struct mail *alert = make("M_7", "a", "s", MAIL_ALERT, 50);
	struct mail *order = make("M_6", "a", "s", MAIL_INSTRUCTION, 40);
	struct mail *later = make("M_5", "a", "s", MAIL_INSTRUCTION, 41);
	struct mail *list[] = { plan, alert, order, later, forged };

	for (size_t i = 0; i < nitems(list); i++)
		for (size_t k = 0; k < nitems(list); k++) {
			int order_of = mail_compare(list[i], list[k]);

			ck_assert_msg(
			    i == k ? order_of == 0 : (order_of < 0) == (i < k),
			    "%zu %zu", i, k);
		}
	for (size_t i = 0; i < nitems(list); i++)
		mail_free(list[i]);
}

/* --- what happens to it ------------------------------------------- */

TEST(mail_is_done_when_it_was_delivered_and_confirmed_if_asked_for)
{
	struct mail *info = make("M_1", "a", "s", MAIL_INFO, 1);
	struct mail *order = make("M_2", "a", "s", MAIL_INSTRUCTION, 1);

	ck_assert(mail_is_new(info));
	mail_delivered(info, 5);
	ck_assert_int_eq(info->state, MAIL_DONE);
	order->ack_required = true;
	mail_delivered(order, 5);
	ck_assert_int_eq(order->state, MAIL_OPEN);
	ck_assert(!mail_is_new(order));
	mail_read(order, 6);
	ck_assert_int_eq(order->state, MAIL_OPEN);
	ck_assert_int_eq(order->delivered, 1);
	mail_acked(order, 7);
	ck_assert_int_eq(order->state, MAIL_DONE);
	mail_close(order, 8);
	ck_assert_int_eq(order->state, MAIL_DONE);
	mail_free(info);
	mail_free(order);
}

TEST(mail_that_is_read_by_tool_counts_as_delivered)
{
	struct mail *info = make("M_1", "a", "s", MAIL_INFO, 1);

	mail_read(info, 5);
	ck_assert_int_eq(info->delivered, 1);
	ck_assert_int_eq(info->state, MAIL_DONE);
	mail_free(info);
}

/* Turns end every minute, in the default pace and in others that are scaled
 * with the turns: it is given six times, five minutes apart, then a person is
 * told, once. */
TEST_ROWS(mail_that_is_not_confirmed_is_given_again_five_times_then_told, 3)
{
	static const int64_t scales[] = { 1, 10, 1000 };
	int64_t scale = scales[_i];
	struct mail_pace pace = { mail_pace.again_ms / scale,
		mail_pace.again_max };
	int64_t start = 1700000000000, turn_ms = 60000 / scale;
	struct mail *mail = make("M_1", "a", "s", MAIL_INSTRUCTION, start);
	cleanup_buf struct buf given = BUF_INIT;

	mail->ack_required = true;
	for (int turn = 0; turn < 60; turn++) {
		int64_t now = start + turn * turn_ms;

		ck_assert(!mail_is_due(mail, &pace, now) ||
		    !mail_is_ignored(mail, &pace, now));
		if (mail_is_ignored(mail, &pace, now)) {
			buf_addf(&given, "told %d; ", turn);
			mail->alerted = true;
		}
		if (mail_is_due(mail, &pace, now)) {
			buf_addf(&given, "%d; ", turn);
			mail_delivered(mail, now);
		}
	}
	ck_assert_str_eq(given.data, "0; 5; 10; 15; 20; 25; told 30; ");
	mail_free(mail);
}

TEST(clock_that_is_set_back_does_not_keep_mail)
{
	struct mail *mail = make("M_1", "a", "s", MAIL_INSTRUCTION, 5000000);

	mail->ack_required = true;
	mail_delivered(mail, 5000000);
	ck_assert(!mail_is_due(mail, &mail_pace, 5000001));
	ck_assert(mail_is_due(mail, &mail_pace, 1000000));
	mail_free(mail);
}

/* --- how much was sent of late ------------------------------------------ */

TEST(each_sender_counts_for_itself_for_a_minute)
{
	struct mail_rate rate = { 0 };

	for (int64_t ms = 1000; ms < 1000 + 30; ms++)
		mail_rate_add(&rate, "a", ms, ms);
	mail_rate_add(&rate, "b", 1030, 1030);
	ck_assert_uint_eq(mail_rate_count(&rate, "a", 1030), 30);
	ck_assert_uint_eq(mail_rate_count(&rate, "b", 1030), 1);
	ck_assert_uint_eq(mail_rate_count(&rate, "c", 1030), 0);
	ck_assert_uint_eq(
	    mail_rate_count(&rate, "a", 1029 + MAIL_RATE_MS - 1), 1);
	ck_assert_uint_eq(mail_rate_count(&rate, "a", 1029 + MAIL_RATE_MS), 0);
	/* Nothing that is too old is kept. */
	mail_rate_add(&rate, "a", 1029 + MAIL_RATE_MS, 1029 + MAIL_RATE_MS);
	ck_assert_uint_eq(rate.count, 2);
	mail_rate_release(&rate);
}

TEST(clock_that_was_set_back_holds_nobody_up)
{
	struct mail_rate rate = { 0 };

	mail_rate_add(&rate, "a", 1000000, 1000000);
	ck_assert_uint_eq(mail_rate_count(&rate, "a", 5000), 0);
	mail_rate_add(&rate, "a", 5000, 5000);
	ck_assert_uint_eq(rate.count, 1);
	mail_rate_release(&rate);
}
