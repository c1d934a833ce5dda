/* SPDX-License-Identifier: ISC */

/* The landing queue as it is shown, and commits that are taken back. */
#include "landing-world.h"
#include "landing.h"
#include "schema.h"

#define TRIES  150 /* of FLOOR_CALLS_MAX */
#define PASSES 100 /* between two of them */

/* --- landing.list ---------------------------------------------------- */

static struct json_object *
list(void)
{
	const struct api_method *method = api_find("landing.list");
	struct floor_call *call = floor_world_ask("landing.list", "{}");
	struct err err = { 0 };
	struct json_object *result;

	ck_assert_ptr_null(floor_world_answer(call));
	result = floor_call_result(call);
	ck_assert_msg(
	    schema_check(method->result, result, "", &err) == 0, "%s", err.msg);
	return result;
}

/* Let the loop go on for a while. */
static bool
is_over(void *arg)
{
	int *passes = arg;

	return --*passes <= 0;
}

/* "1 held adam: why; " */
static void
describe(struct buf *out)
{
	struct json_object *items = json_object_object_get(list(), "items");

	buf_clear(out);
	for (size_t i = 0; i < json_object_array_length(items); i++) {
		struct json_object *item = json_object_array_get_idx(items, i);

		buf_addf(out, "%d %s %s: %s; ",
		    (int)json_int_or(item, "position", 0),
		    json_string_or(item, "state", ""),
		    json_string_or(item, "worker", "nobody"),
		    json_string_or(item, "why", ""));
	}
}

/* Soon: commits are built meanwhile. */
static void
expect_items(const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (int i = 0; i < TRIES; i++) {
		describe(&text);
		if (strcmp(text.data, want) == 0)
			return;
		floor_world_wait(is_over, &(int){ PASSES });
	}
	ck_assert_str_eq(text.data, want);
}

TEST(an_empty_queue)
{
	struct json_object *result;

	landing_world_begin(NULL);
	result = list();
	ck_assert_str_eq(json_string_or(result, "landing_branch", ""), "main");
	ck_assert_str_eq(json_string_or(result, "base_sha", ""),
	    floor_world_sh("git rev-parse main"));
	ck_assert(!json_bool_or(result, "red", true));
	ck_assert_ptr_null(json_object_object_get(result, "check"));
	expect_items("");
}

TEST(positions_states_and_why)
{
	struct floor_call *calls[2];

	landing_world_begin_work(NULL);
	landing_world_work("eve", "b.txt", "three");
	landing_world_work("kain", "c.txt", "four");
	landing_world.may_not_begin = true;
	calls[0] = floor_world_call("worker.accept", "adam", "");
	floor_world_settle();
	floor_world_call("worker.accept", "eve", "");
	floor_world_settle();
	calls[1] = floor_world_call("worker.accept", "kain", "");
	floor_world_settle();
	expect_items("1 held adam: post_accept_command is running; "
		     "2 held kain: post_accept_command is running; "
		     "3 deferred eve: conflicts with work before it; ");
	landing_world.may_not_begin = false;
	landings_kick(landing_world.landings);
	for (size_t i = 0; i < nitems(calls); i++)
		ck_assert_ptr_null(floor_world_answer(calls[i]));
	floor_world_settle();
	expect_items("");
}

TEST(a_daemon_that_dies_while_it_lists)
{
	landing_world_begin(NULL);
	floor_world_ask("landing.list", "{}");
}

/* --- landing.revert -------------------------------------------------- */

static struct floor_call *
revert(const char *commit)
{
	cleanup_free char *params = xasprintf("{\"commit\":\"%s\"}", commit);

	return floor_world_ask("landing.revert", params);
}

static const char *
id_of(const char *name)
{
	cleanup_free char *script = xasprintf("git rev-parse %s", name);

	return floor_world_sh(script);
}

static void
refused(const char *commit, const char *words)
{
	const char *answer = floor_world_answer(revert(commit));

	ck_assert_ptr_nonnull(answer);
	ck_assert_msg(strstr(answer, words) != NULL, "%s", answer);
}

TEST(takes_a_commit_back)
{
	struct floor_call *call;
	const char *undone;

	landing_world_begin_work(NULL);
	ck_assert_ptr_null(landing_world_accept("adam"));
	landing_world_told("landed adam; ended adam landed; ");
	undone = id_of("main");
	landing_world_meanwhile("c.txt", "three");
	call = revert(undone);
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "commit_sha", ""),
	    id_of("main"));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "reverted_sha", ""),
	    undone);
	landing_world_main("Revert \"by adam\",meanwhile,by adam,first,");
	ck_assert_ptr_nonnull(
	    strstr(floor_world_sh("git log -1 --format=%b"), undone));
	floor_world_sh("test ! -e b.txt && test -e c.txt");
	landing_world_told("reverted; ");
	/* And that one too. */
	ck_assert_ptr_null(floor_world_answer(revert(id_of("main"))));
	floor_world_sh("test -e b.txt");
	ck_assert(!landings_busy(landing_world.landings));
}

TEST(what_cannot_be_taken_back)
{
	const char *undone;

	landing_world_begin(NULL);
	refused("0123456789", "there is no commit 0123456789");
	refused("main", "not a commit id");
	refused("012", "not a commit id");
	refused(id_of("main"), "has no parent");
	landing_world_work("adam", "b.txt", "two");
	refused(id_of("llmc/adam"), "it is not on main");
	ck_assert_ptr_null(landing_world_accept("adam"));
	undone = id_of("main");
	landing_world_meanwhile("b.txt", "three");
	refused(undone, "conflicts with later changes: b.txt");
	landing_world_meanwhile("d.txt", "four");
	undone = id_of("main");
	ck_assert_ptr_null(floor_world_answer(revert(undone)));
	refused(undone, "nothing to take back");
	ck_assert(!landings_busy(landing_world.landings));
}

/* The next daemon continues it; nobody waits for the answer any more. */
TEST(survives_the_daemon)
{
	landing_world_begin(NULL);
	landing_world_meanwhile("b.txt", "two");
	landing_world.may_not_begin = true;
	revert(id_of("main"));
	landing_world_wait(NULL, "queued");
	floor_world_settle();
	expect_items("1 held nobody: post_accept_command is running; ");
	landing_world.may_not_begin = false;
	landing_world_reopen();
	floor_world_until(!landings_busy(landing_world.landings));
	landing_world_main("Revert \"meanwhile\",meanwhile,first,");
	landing_world_told("reverted; ");
}

/* A person is told what to do about it: there is nothing to accept. */
TEST(a_checkout_that_is_in_the_way)
{
	const char *words;

	landing_world_begin(NULL);
	landing_world_meanwhile("b.txt", "two");
	floor_world_sh("echo mine >>b.txt");
	words = floor_world_answer(revert(id_of("main")));
	ck_assert_ptr_nonnull(words);
	ck_assert_msg(
	    strstr(words, "commit or stash the changes and try again"), "%s",
	    words);
	ck_assert_msg(strstr(words, "accept") == NULL, "%s", words);
	floor_world_sh("test -e b.txt; git checkout -q b.txt");
	ck_assert_ptr_null(floor_world_answer(revert(id_of("main"))));
	landing_world_main("Revert \"meanwhile\",meanwhile,first,");
}

/* Where nobody waits for the answer, the revert waits. */
static bool
is_held(void *arg)
{
	cleanup_json struct json_object *view =
	    queue_view(landing_world.landings);

	(void)arg;
	return strstr(json_object_to_json_string(view), "\"held\"") != NULL;
}

TEST(it_waits_for_the_checkout)
{
	struct revert_order order = {
		.title = "Back", .message = "Back", .why = "it fails"
	};
	cleanup_buf struct buf text = BUF_INIT;

	landing_world_begin(NULL);
	landing_world_meanwhile("b.txt", "two");
	floor_world_sh("echo mine >>b.txt");
	order.commit = id_of("main");
	revert_enqueue(landing_world.landings, &order);
	floor_world_wait(is_held, NULL);
	describe(&text);
	ck_assert_msg(strstr(text.data,
			  "1 held nobody: your checkout of main is in the "
			  "way: ") != NULL,
	    "%s", text.data);
	ck_assert_msg(strstr(text.data, "accept") == NULL, "%s", text.data);
	floor_world_sh("git checkout -q b.txt");
	floor_world_until(!landings_busy(landing_world.landings));
	landing_world_main("Back,meanwhile,first,");
}

TEST(a_daemon_that_dies_while_it_looks)
{
	landing_world_begin(NULL);
	revert(id_of("main"));
}
