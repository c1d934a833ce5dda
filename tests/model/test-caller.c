/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "api.h"
#include "caller.h"
#include "errtext.h"
#include "mem.h"
#include "unit.h"

START_TEST(kernel_decides_who_calls)
{
	static const struct {
		struct caller caller;
		unsigned rank;
	} rows[] = {
		{ { NULL, NULL, false }, API_PERSON },
		{ { NULL, "overseer", false }, API_REPAIR },
		{ { NULL, "adam", false }, API_READER },
		{ { NULL, NULL, true }, API_READER },
		{ { NULL, "overseer", true }, API_READER },
		{ { "adam", "adam", false }, API_WORKER },
		{ { "adam", NULL, false }, API_WORKER },
		{ { "adam", "eve", false }, API_READER },
		{ { "adam", "overseer", false }, API_READER },
		{ { "adam", NULL, true }, API_READER },
		{ { "overseer", "overseer", false }, API_WORKER },
		{ { "overseer", "adam", false }, API_READER },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_uint_eq(caller_rank(&rows[i].caller), rows[i].rank);
}
END_TEST

/* Each method, asked by each caller, as its row says. */
START_TEST(each_row_is_obeyed)
{
	static const struct caller callers[] = { { NULL, NULL, false },
		{ NULL, "overseer", false }, { "adam", "adam", false },
		{ NULL, "adam", false } };

	for (const struct api_method *m = api_methods; m->name != NULL; m++) {
		bool refused = false;

		for (size_t i = 0; i < nitems(callers); i++) {
			struct err err = { 0 };
			int r =
			    caller_check(&callers[i], m, "eve", false, &err);

			if (m->flags & API_OWN)
				ck_assert_int_eq(r, -EPERM);
			else
				ck_assert_msg(
				    (r == 0) == ((m->callers >> i & 1) != 0),
				    "%s %zu: %s", m->name, i, err.msg);
			ck_assert(r == 0 ||
			    (r == -EPERM && strstr(err.msg, m->name) != NULL));
			refused |= r < 0;
		}
		ck_assert(caller_is_anybody(m) == !refused);
	}
}
END_TEST

START_TEST(hooks_are_heard_from_their_own_session)
{
	const struct api_method *hook = api_find("hook.event");
	static const struct {
		struct caller caller;
		const char *worker;
		bool life;
		const char *words; /* NULL = it is heard */
	} rows[] = {
		{ { "adam", "adam", false }, "adam", false, NULL },
		{ { "adam", NULL, false }, "adam", false, NULL },
		{ { "adam", "adam", false }, "eve", false,
		    "session of adam, which reports nothing for eve" },
		{ { "adam", "adam", false }, NULL, false, "for others" },
		/* At another's socket, whatever it says. */
		{ { "adam", "eve", false }, "adam", false,
		    "this is the session of eve" },
		{ { "adam", "eve", false }, "eve", false,
		    "this is the session of eve" },
		{ { "overseer", "eve", false }, "overseer", false,
		    "this is the session of eve" },
		/* Hooks of an older version, at the people's socket. */
		{ { NULL, "adam", false }, "adam", false, NULL },
		{ { NULL, "eve", false }, "adam", false,
		    "reports nothing for adam" },
		{ { NULL, NULL, false }, "adam", false,
		    "only the hooks of a worker's session" },
		/* A process that has ended: only a sign of life. */
		{ { "adam", NULL, true }, "adam", true, NULL },
		{ { "adam", NULL, true }, "adam", false, "has ended" },
		{ { "adam", NULL, true }, "eve", true,
		    "reports nothing for eve" },
		{ { NULL, NULL, true }, "adam", true, "has ended" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct err err = { 0 };
		int r = caller_check(
		    &rows[i].caller, hook, rows[i].worker, rows[i].life, &err);

		if (rows[i].words == NULL)
			ck_assert_msg(r == 0, "%zu: %s", i, err.msg);
		else
			ck_assert_msg(r == -EPERM &&
				strstr(err.msg, rows[i].words) != NULL,
			    "%zu: %s", i, err.msg);
	}
}
END_TEST

START_TEST(refusal_says_who_can)
{
	const struct caller caller = { NULL, "adam", false };
	struct err err = { 0 };

	ck_assert_int_eq(caller_check(&caller, api_find("worker.accept"),
			     "adam", false, &err),
	    -EPERM);
	ck_assert_str_eq(err.msg,
	    "worker.accept is refused: this is the session of adam, and agents "
	    "may not do that; a person can, in a terminal outside of it");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("caller");

	unit_case(suite, "caller",
	    (const TTest *[]){ kernel_decides_who_calls, each_row_is_obeyed,
		hooks_are_heard_from_their_own_session, refusal_says_who_can,
		NULL });
	return suite;
}
