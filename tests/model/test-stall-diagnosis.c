/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "stall-diagnosis.h"
#include "strv.h"
#include "unit.h"

START_TEST(a_short_list_of_actions_is_read)
{
	static const char text[] =
	    "{\"actions\":[{\"type\":\"nudge\",\"message\":\"How far?\"},"
	    "{\"type\":\"replan\"},{\"type\":\"reassign\",\"reason\":\"r\"},"
	    "{\"type\":\"resend\"},{\"type\":\"escalate\",\"question\":\"A or "
	    "B?\",\"options\":[\"A\",\"B\"]}]}";
	struct stall_diagnosis diagnosis;

	ck_assert_int_eq(
	    stall_diagnosis_parse(text, strlen(text), &diagnosis, NULL), 0);
	ck_assert_uint_eq(diagnosis.count, 5);
	ck_assert_int_eq(diagnosis.actions[0].type, STALL_ADVICE_NUDGE);
	ck_assert_str_eq(diagnosis.actions[0].text, "How far?");
	ck_assert_int_eq(diagnosis.actions[1].type, STALL_ADVICE_REPLAN);
	ck_assert_ptr_null(diagnosis.actions[1].text);
	ck_assert_str_eq(diagnosis.actions[2].text, "r");
	ck_assert_str_eq(
	    stall_advice_name(diagnosis.actions[3].type), "resend");
	ck_assert_str_eq(diagnosis.actions[4].text, "A or B?");
	ck_assert_uint_eq(strv_count(diagnosis.actions[4].options), 2);
	stall_diagnosis_release(&diagnosis);
	ck_assert_uint_eq(diagnosis.count, 0);
}
END_TEST

static const struct {
	const char *text, *words;
} wrong[] = {
	{ "", "" },
	{ "Let me think.", "" },
	{ "[]", "expected an object" },
	{ "{}", "actions" },
	{ "{\"actions\":[]}", "actions" },
	{ "{\"actions\":[{}]}", "actions[0].type" },
	{ "{\"actions\":[{\"type\":\"shout\"}]}", "actions[0].type" },
	{ "{\"actions\":[{\"type\":\"nudge\"}]}", "actions[0].message" },
	{ "{\"actions\":[{\"type\":\"nudge\",\"message\":\"\"}]}",
	    "actions[0].message" },
	{ "{\"actions\":[{\"type\":\"escalate\"}]}", "actions[0].question" },
	{ "{\"actions\":[{\"type\":\"resend\"},{\"type\":\"replan\","
	  "\"message\":\"x\"}]}",
	    "actions[1].message" },
	{ "{\"actions\":[{\"type\":\"replan\",\"options\":[\"x\"]}]}",
	    "actions[0].options" },
	{ "{\"actions\":[{\"type\":\"resend\",\"more\":1}]}", "more" },
	{ "{\"actions\":[{\"type\":\"resend\"},{\"type\":\"resend\"},"
	  "{\"type\":\"resend\"},{\"type\":\"resend\"},{\"type\":\"resend\"},"
	  "{\"type\":\"resend\"}]}",
	    "actions" },
};

START_TEST(anything_else_is_refused_with_its_path)
{
	struct stall_diagnosis diagnosis = { .count = 77 };
	struct err err = { 0 };

	ck_assert_int_eq(stall_diagnosis_parse(wrong[_i].text,
			     strlen(wrong[_i].text), &diagnosis, &err),
	    -EINVAL);
	ck_assert_msg(strstr(err.msg, wrong[_i].words) != NULL, "%s", err.msg);
	ck_assert_uint_eq(diagnosis.count, 77);
}
END_TEST

START_TEST(the_schema_names_the_actions)
{
	cleanup_json struct json_object *schema = stall_diagnosis_schema();

	ck_assert_ptr_nonnull(
	    strstr(json_object_to_json_string(schema), "\"reassign\""));
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("stall-diagnosis");

	unit_rows(s, anything_else_is_refused_with_its_path, nitems(wrong));
	unit_case(s, "stall-diagnosis",
	    (const TTest *[]){ a_short_list_of_actions_is_read,
		the_schema_names_the_actions, NULL });
	return s;
}
