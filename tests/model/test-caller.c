/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "api.h"

TEST(kernel_decides_who_calls)
{
	static const struct {
		struct caller caller;
		unsigned rank;
	} rows[] = {
		{ { NULL, NULL, false, false }, API_PERSON },
		{ { NULL, "overseer", false, false }, API_REPAIR },
		{ { NULL, "adam", false, false }, API_READER },
		{ { NULL, NULL, true, false }, API_READER },
		{ { NULL, NULL, true, true }, API_READER },
		{ { NULL, "overseer", true, false }, API_READER },
		{ { "adam", "adam", false, false }, API_WORKER },
		{ { "adam", NULL, false, false }, API_WORKER },
		{ { "adam", "eve", false, false }, API_READER },
		{ { "adam", "overseer", false, false }, API_READER },
		{ { "adam", NULL, true, false }, API_READER },
		{ { "overseer", "overseer", false, false }, API_WORKER },
		{ { "overseer", "adam", false, false }, API_READER },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_uint_eq(caller_rank(&rows[i].caller), rows[i].rank);
}

/* Each method, asked by each caller, as its row says. */
TEST(each_row_is_obeyed)
{
	static const struct caller callers[] = { { NULL, NULL, false, false },
		{ NULL, "overseer", false, false },
		{ "adam", "adam", false, false },
		{ NULL, "adam", false, false } };

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

TEST(hooks_are_heard_from_their_own_session)
{
	const struct api_method *hook = api_find("hook.event");
	static const struct {
		struct caller caller;
		const char *worker;
		bool life;
		const char *words; /* NULL = it is heard */
	} rows[] = {
		{ { "adam", "adam", false, false }, "adam", false, NULL },
		{ { "adam", NULL, false, false }, "adam", false, NULL },
		{ { "adam", "adam", false, false }, "eve", false,
		    "session of adam, which reports nothing for eve" },
		{ { "adam", "adam", false, false }, NULL, false, "for others" },
		/* At another's socket, whatever it says. */
		{ { "adam", "eve", false, false }, "adam", false,
		    "this is the session of eve" },
		{ { "adam", "eve", false, false }, "eve", false,
		    "this is the session of eve" },
		{ { "overseer", "eve", false, false }, "overseer", false,
		    "this is the session of eve" },
		/* Hooks of an older version, at the people's socket. */
		{ { NULL, "adam", false, false }, "adam", false, NULL },
		{ { NULL, "eve", false, false }, "adam", false,
		    "reports nothing for adam" },
		{ { NULL, NULL, false, false }, "adam", false,
		    "only the hooks of a worker's session" },
		/* A process that has ended: only a sign of life. */
		{ { "adam", NULL, true, false }, "adam", true, NULL },
		{ { "adam", NULL, true, false }, "adam", false,
		    "called ended" },
		{ { "adam", NULL, true, false }, "eve", true,
		    "reports nothing for eve" },
		{ { NULL, NULL, true, false }, "adam", true, "called ended" },
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

TEST(refusal_says_who_can)
{
	const struct caller caller = { NULL, "adam", false, false };
	struct err err = { 0 };

	ck_assert_int_eq(caller_check(&caller, api_find("worker.accept"),
			     "adam", false, &err),
	    -EPERM);
	ck_assert_str_eq(err.msg,
	    "worker.accept is refused: this is the session of adam, and agents "
	    "may not do that; a person can, in a terminal outside of it");
}

TEST(a_person_outside_is_told_where_to_type)
{
	const struct caller caller = { NULL, NULL, true, true };
	struct err err = { 0 };

	ck_assert_int_eq(caller_check(&caller, api_find("worker.accept"),
			     "adam", false, &err),
	    -EPERM);
	ck_assert_str_eq(err.msg,
	    "worker.accept is refused: the daemon runs in a pid namespace that "
	    "you are not in, such as a container, and cannot tell you from an "
	    "agent; type it in there: docker exec, podman exec, or nsenter -t "
	    "PID -a");
	ck_assert_int_eq(
	    caller_check(&caller, api_find("daemon.info"), NULL, false, &err),
	    0);
}
