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
		/* At the people's socket. */
		{ { NULL, "adam", false, false }, "adam", false,
		    "this is the session of adam" },
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

/* --- what a worker reaches ----------------------------------------------- */

/* Which kin a worker without a sandbox reaches, and one in a sandbox: others,
 * itself, a child, the parent, a free worker, a person. */
static const struct {
	const char *unboxed, *boxed;
	bool box; /* only what is at least as strict */
} rights[API_REACH_COUNT] = {
	[API_REACH_NOTHING] = { "oscpfh", "oscpfh", false },
	[API_REACH_PERSON] = { "", "", false },
	[API_REACH_FREE] = { "oscpfh", "cf", true },
	[API_REACH_WORKER] = { "oscpfh", "scp", true },
	[API_REACH_WORK] = { "oscpfh", "c", true },
	[API_REACH_TASK] = { "s", "s", true },
	[API_REACH_MESSAGE] = { "cph", "cph", true },
	[API_REACH_SIGHT] = { "oscpfh", "scp", true },
	[API_REACH_SHARED] = { "oscpfh", "oscpfh", false },
};

static bool
should_reach(
    enum api_reach reach, enum box_mode caller, const struct api_target *target)
{
	const char *kin =
	    caller == BOX_OFF ? rights[reach].unboxed : rights[reach].boxed;

	return strchr(kin, "oscpfh"[target->kin]) != NULL &&
	    (!rights[reach].box ||
		(target->box >= caller &&
		    !(target->waits && caller != BOX_OFF)));
}

/* Each method, by a worker without a box, in "worktree" and in "strict", on
 * each kind of target; people and the repair session are not asked
 * (each_row_is_ obeyed has who may call at all). */
TEST(a_worker_reaches_what_the_row_of_the_method_says)
{
	for (const struct api_method *m = api_methods; m->name != NULL; m++) {
		enum api_reach reach = m->reach;

		ck_assert_msg(reach > 0 && reach < API_REACH_COUNT,
		    "%s: its row does not say what it reaches", m->name);
		/* No worker calls what is for people, and the other way. */
		ck_assert_msg((reach == API_REACH_PERSON) ==
			((m->callers & API_WORKER) == 0),
		    "%s", m->name);
		for (int n = 0;
		     n < BOX_MODE_COUNT * BOX_MODE_COUNT * API_KIN_COUNT * 2;
		     n++) {
			enum box_mode caller = n % BOX_MODE_COUNT;
			struct api_target target = { .name = "eve",
				.kin = n / BOX_MODE_COUNT % API_KIN_COUNT,
				.box = n / BOX_MODE_COUNT / API_KIN_COUNT %
				    BOX_MODE_COUNT,
				.waits = n / BOX_MODE_COUNT / API_KIN_COUNT /
				    BOX_MODE_COUNT };
			struct err err = { 0 };
			int r =
			    caller_reaches(m, "adam", caller, &target, &err);

			ck_assert_msg(
			    (r == 0) == should_reach(reach, caller, &target),
			    "%s: caller %d, kin %d, box %d, waits %d: %s",
			    m->name, caller, target.kin, target.box,
			    target.waits, err.msg);
			ck_assert(r == 0 || (r == -EPERM && *err.msg != '\0'));
		}
	}
}

TEST(what_is_out_of_reach_is_said)
{
	static const struct {
		const char *method;
		struct api_target target;
		const char *words;
	} rows[] = {
		{ "worker.message", { "eve", API_KIN_OTHER, BOX_STRICT, false },
		    "worker.message is refused: eve does not work for adam, "
		    "nor gave it its task, and a worker in a sandbox reaches "
		    "only its own; a person can, in a terminal outside of this "
		    "session" },
		{ "worker.reject", { "eve", API_KIN_PARENT, BOX_STRICT, false },
		    "worker.reject is refused: eve does not work for adam, and "
		    "a worker in a sandbox reaches only its own; a person can, "
		    "in a terminal outside of this session" },
		{ "worker.message", { "eve", API_KIN_CHILD, BOX_OFF, false },
		    "worker.message is refused: the sandbox of eve is less "
		    "strict than that of this session; a person can, in a "
		    "terminal outside of it" },
		{ "task.retry", { "t1", API_KIN_SELF, BOX_STRICT, true },
		    "task.retry is refused: t1 waits for a person, whom a "
		    "worker in a sandbox does not answer for" },
		{ "worker.wait", { "eve", API_KIN_OTHER, BOX_STRICT, false },
		    "worker.wait is refused: it tells of eve, and a worker in "
		    "a sandbox is told only of its own; a person can see it, "
		    "in a terminal outside of this session" },
		{ "worker.start", { "eve", API_KIN_OTHER, BOX_STRICT, false },
		    "eve has a task already, and it is not from adam; a worker "
		    "in a sandbox gives tasks only to workers that have none" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct err err = { 0 };

		ck_assert_int_eq(caller_reaches(api_find(rows[i].method),
				     "adam", BOX_STRICT, &rows[i].target, &err),
		    -EPERM);
		ck_assert_str_eq(err.msg, rows[i].words);
	}
}
