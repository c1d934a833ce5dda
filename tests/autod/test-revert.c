/* SPDX-License-Identifier: ISC */

/* The landing queue as it is shown, and commits that are taken back. */
#include <check.h>
#include <string.h>

#include "errtext.h"
#include "json.h"
#include "landing-world.h"
#include "landing.h"
#include "mem.h"
#include "revert.h"
#include "schema.h"
#include "serve.h"
#include "unit.h"

#define TRIES 100 /* of FLOOR_CALLS_MAX */

/* --- landing.list ---------------------------------------------------- */

static struct json_object *
list(struct landing_world *world)
{
	const struct api_method *method = api_find("landing.list");
	struct floor_call *call =
	    floor_world_ask(&world->floor, "landing.list", "{}");
	struct err err = { 0 };
	struct json_object *result;

	ck_assert_ptr_null(floor_world_answer(&world->floor, call));
	result = floor_call_result(call);
	ck_assert_msg(
	    schema_check(method->result, result, "", &err) == 0, "%s", err.msg);
	return result;
}

/* "1 held adam: why; " */
static void
describe(struct landing_world *world, struct buf *out)
{
	struct json_object *items =
	    json_object_object_get(list(world), "items");

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
expect_items(struct landing_world *world, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (int i = 0; i < TRIES; i++) {
		describe(world, &text);
		if (strcmp(text.data, want) == 0)
			return;
	}
	ck_assert_str_eq(text.data, want);
}

TEST(an_empty_queue)
{
	struct landing_world world;
	struct json_object *result;

	landing_world_begin(&world, NULL);
	result = list(&world);
	ck_assert_str_eq(json_string_or(result, "landing_branch", ""), "main");
	ck_assert_str_eq(json_string_or(result, "base_sha", ""),
	    floor_world_sh(&world.floor, "git rev-parse main"));
	ck_assert(!json_bool_or(result, "red", true));
	ck_assert_ptr_null(json_object_object_get(result, "check"));
	expect_items(&world, "");
	landing_world_end(&world);
}

TEST(positions_states_and_why)
{
	struct landing_world world;
	struct floor_call *calls[2];

	landing_world_begin(&world, NULL);
	landing_world_work(&world, "adam", "b.txt", "two");
	landing_world_work(&world, "eve", "b.txt", "three");
	landing_world_work(&world, "kain", "c.txt", "four");
	world.may_not_begin = true;
	calls[0] = floor_world_call(&world.floor, "worker.accept", "adam", "");
	floor_world_settle(&world.floor);
	floor_world_call(&world.floor, "worker.accept", "eve", "");
	floor_world_settle(&world.floor);
	calls[1] = floor_world_call(&world.floor, "worker.accept", "kain", "");
	floor_world_settle(&world.floor);
	expect_items(&world,
	    "1 held adam: post_accept_command is running; "
	    "2 held kain: post_accept_command is running; "
	    "3 deferred eve: conflicts with work before it; ");
	world.may_not_begin = false;
	landings_kick(world.landings);
	for (size_t i = 0; i < nitems(calls); i++)
		ck_assert_ptr_null(floor_world_answer(&world.floor, calls[i]));
	floor_world_settle(&world.floor);
	expect_items(&world, "");
	landing_world_end(&world);
}

TEST(a_daemon_that_dies_while_it_lists)
{
	struct landing_world world;

	landing_world_begin(&world, NULL);
	floor_world_ask(&world.floor, "landing.list", "{}");
	landing_world_end(&world);
}

/* --- landing.revert -------------------------------------------------- */

static struct floor_call *
revert(struct landing_world *world, const char *commit)
{
	cleanup_free char *params = xasprintf("{\"commit\":\"%s\"}", commit);

	return floor_world_ask(&world->floor, "landing.revert", params);
}

static const char *
id_of(struct landing_world *world, const char *name)
{
	cleanup_free char *script = xasprintf("git rev-parse %s", name);

	return floor_world_sh(&world->floor, script);
}

static void
refused(struct landing_world *world, const char *commit, const char *words)
{
	const char *answer =
	    floor_world_answer(&world->floor, revert(world, commit));

	ck_assert_ptr_nonnull(answer);
	ck_assert_msg(strstr(answer, words) != NULL, "%s", answer);
}

TEST(takes_a_commit_back)
{
	struct landing_world world;
	struct floor_call *call;
	const char *undone;

	landing_world_begin(&world, NULL);
	landing_world_work(&world, "adam", "b.txt", "two");
	ck_assert_ptr_null(landing_world_accept(&world, "adam"));
	landing_world_told(&world, "landed adam; ended adam landed; ");
	undone = id_of(&world, "main");
	landing_world_meanwhile(&world, "c.txt", "three");
	call = revert(&world, undone);
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "commit_sha", ""),
	    id_of(&world, "main"));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "reverted_sha", ""),
	    undone);
	landing_world_main(
	    &world, "Revert \"by adam\",meanwhile,by adam,first,");
	ck_assert_ptr_nonnull(strstr(
	    floor_world_sh(&world.floor, "git log -1 --format=%b"), undone));
	floor_world_sh(&world.floor, "test ! -e b.txt && test -e c.txt");
	landing_world_told(&world, "reverted; ");
	/* And that one too. */
	ck_assert_ptr_null(floor_world_answer(
	    &world.floor, revert(&world, id_of(&world, "main"))));
	floor_world_sh(&world.floor, "test -e b.txt");
	ck_assert(!landings_busy(world.landings));
	landing_world_end(&world);
}

TEST(what_cannot_be_taken_back)
{
	struct landing_world world;
	const char *undone;

	landing_world_begin(&world, NULL);
	refused(&world, "0123456789", "there is no commit 0123456789");
	refused(&world, "main", "not a commit id");
	refused(&world, "012", "not a commit id");
	refused(&world, id_of(&world, "main"), "has no parent");
	landing_world_work(&world, "adam", "b.txt", "two");
	refused(&world, id_of(&world, "llmc/adam"), "it is not on main");
	ck_assert_ptr_null(landing_world_accept(&world, "adam"));
	undone = id_of(&world, "main");
	landing_world_meanwhile(&world, "b.txt", "three");
	refused(&world, undone, "conflicts with later changes: b.txt");
	landing_world_meanwhile(&world, "d.txt", "four");
	undone = id_of(&world, "main");
	ck_assert_ptr_null(
	    floor_world_answer(&world.floor, revert(&world, undone)));
	refused(&world, undone, "nothing to take back");
	ck_assert(!landings_busy(world.landings));
	landing_world_end(&world);
}

static bool
is_done(void *arg)
{
	return !landings_busy(((struct landing_world *)arg)->landings);
}

/* The next daemon continues it; nobody waits for the answer any more. */
TEST(survives_the_daemon)
{
	struct landing_world world;

	landing_world_begin(&world, NULL);
	landing_world_meanwhile(&world, "b.txt", "two");
	world.may_not_begin = true;
	revert(&world, id_of(&world, "main"));
	landing_world_wait(&world, NULL, "queued");
	floor_world_settle(&world.floor);
	expect_items(&world, "1 held nobody: post_accept_command is running; ");
	world.may_not_begin = false;
	landing_world_reopen(&world);
	floor_world_wait(&world.floor, is_done, &world);
	landing_world_main(&world, "Revert \"meanwhile\",meanwhile,first,");
	landing_world_told(&world, "reverted; ");
	landing_world_end(&world);
}

/* A person is told what to do about it: there is nothing to accept. */
TEST(a_checkout_that_is_in_the_way)
{
	struct landing_world world;
	const char *words;

	landing_world_begin(&world, NULL);
	landing_world_meanwhile(&world, "b.txt", "two");
	floor_world_sh(&world.floor, "echo mine >>a.txt");
	words = floor_world_answer(
	    &world.floor, revert(&world, id_of(&world, "main")));
	ck_assert_ptr_nonnull(words);
	ck_assert_msg(
	    strstr(words, "commit or stash the changes and try again"), "%s",
	    words);
	ck_assert_msg(strstr(words, "accept") == NULL, "%s", words);
	floor_world_sh(&world.floor, "test -e b.txt; git checkout -q a.txt");
	ck_assert_ptr_null(floor_world_answer(
	    &world.floor, revert(&world, id_of(&world, "main"))));
	landing_world_main(&world, "Revert \"meanwhile\",meanwhile,first,");
	landing_world_end(&world);
}

/* Where nobody waits for the answer, the revert waits. */
TEST(it_waits_for_the_checkout)
{
	struct landing_world world;
	struct revert_order order = {
		.title = "Back", .message = "Back", .why = "it fails"
	};
	cleanup_buf struct buf text = BUF_INIT;

	landing_world_begin(&world, NULL);
	landing_world_meanwhile(&world, "b.txt", "two");
	floor_world_sh(&world.floor, "echo mine >>a.txt");
	order.commit = id_of(&world, "main");
	revert_enqueue(world.landings, &order);
	for (int i = 0; i < TRIES && strstr(text.data, "held") == NULL; i++)
		describe(&world, &text);
	ck_assert_msg(strstr(text.data,
			  "1 held nobody: your checkout of main is in the "
			  "way: ") != NULL,
	    "%s", text.data);
	ck_assert_msg(strstr(text.data, "accept") == NULL, "%s", text.data);
	floor_world_sh(&world.floor, "git checkout -q a.txt");
	floor_world_wait(&world.floor, is_done, &world);
	landing_world_main(&world, "Back,meanwhile,first,");
	landing_world_end(&world);
}

TEST(a_daemon_that_dies_while_it_looks)
{
	struct landing_world world;

	landing_world_begin(&world, NULL);
	revert(&world, id_of(&world, "main"));
	landing_world_end(&world);
}
