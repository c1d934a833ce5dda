/* SPDX-License-Identifier: ISC */

/* Pushes after a landing: remotes that hang, fail and come back. */
#include <check.h>
#include <string.h>

#include "json.h"
#include "landing-world.h"
#include "landing.h"
#include "life.h"
#include "mem.h"
#include "persist.h"
#include "push-record.h"
#include "unit.h"

static const char with_push[] = "push = true";

/* The remote does not answer while $B/hang is there. */
static const char slow_origin[] =
    "git init -q --bare \"$B/origin\"; git remote add origin \"$B/origin\"; "
    "git config remote.origin.receivepack \"while test -e '$B/hang'; do "
    "sleep 0.02; done; git-receive-pack\"";

static struct push_record *
push_of(struct landing_world *world)
{
	return &world->floor.core->state.landings.push;
}

static bool
is_pushed(void *arg)
{
	const struct push_record *push = push_of(arg);

	return push->unpushed == NULL && push->pushed != NULL;
}

static bool
has_failed(void *arg)
{
	return push_record_has_failed(push_of(arg));
}

static void
land(struct landing_world *world, const char *worker, const char *file)
{
	const char *error;

	landing_world_work(world, worker, file, "text");
	error = landing_world_accept(world, worker);
	ck_assert_msg(error == NULL, "%s", error);
}

/* The subject of the remote's last commit. */
static const char *
remote_tip(struct landing_world *world)
{
	return floor_world_sh(&world->floor,
	    "git --git-dir=\"$B/origin\" log -1 --format=%s "
	    "refs/heads/main 2>/dev/null || echo none");
}

/* What landing.list says about it, with the commit's subject. */
static void
assert_shown(struct landing_world *world, const char *want)
{
	struct floor_call *call =
	    floor_world_ask(&world->floor, "landing.list", "{}");
	struct json_object *push;
	cleanup_free char *text = NULL, *ask = NULL;

	ck_assert_ptr_null(floor_world_answer(&world->floor, call));
	push = json_object_object_get(floor_call_result(call), "push");
	if (push == NULL) {
		ck_assert_str_eq("null", want);
		return;
	}
	ask = xasprintf("git log -1 --format=%%s %s",
	    json_string_or(push, "commit_sha", ""));
	text = xasprintf("%s %s, %d", json_string_or(push, "state", ""),
	    floor_world_sh(&world->floor, ask),
	    (int)json_int_or(push, "tries", -1));
	ck_assert_str_eq(text, want);
}

TEST(nothing_is_pushed_unless_it_is_wanted)
{
	struct landing_world world;

	landing_world_begin(&world, NULL);
	floor_world_sh(&world.floor, slow_origin);
	land(&world, "adam", "b.txt");
	floor_world_settle(&world.floor);
	ck_assert_ptr_null(push_of(&world)->unpushed);
	assert_shown(&world, "null");
	landing_world_end(&world);
}

/* Neither landings nor what else git has to do wait for it; what has landed
 * meanwhile is pushed next. */
TEST(a_remote_that_hangs_holds_up_nothing)
{
	struct landing_world world;

	landing_world_begin(&world, with_push);
	floor_world_sh(&world.floor, slow_origin);
	landing_world_work(&world, "adam", "b.txt", "two");
	landing_world_work(&world, "eve", "c.txt", "three");
	/* A tag of the branch's name is not what is pushed. */
	floor_world_sh(&world.floor, ">\"$B/hang\"; git tag main");
	assert_shown(&world, "null");
	ck_assert_ptr_null(landing_world_accept(&world, "adam"));
	assert_shown(&world, "waiting by adam, 0");
	ck_assert_ptr_null(landing_world_accept(&world, "eve"));
	assert_shown(&world, "waiting by eve, 0");
	ck_assert_str_eq(remote_tip(&world), "none");
	floor_world_sh(&world.floor, "rm \"$B/hang\"");
	floor_world_wait(&world.floor, is_pushed, &world);
	assert_shown(&world, "done by eve, 0");
	ck_assert_str_eq(remote_tip(&world), "by eve");
	floor_world_sh(&world.floor, "git tag -d main");
	landing_world_main(&world, "by eve,by adam,first,");
	landing_world_end(&world);
}

/* It is told once, with the branch and the commit. */
TEST(a_remote_that_comes_back_gets_it)
{
	struct landing_world world;

	landing_world_begin(&world, with_push);
	land(&world, "adam", "b.txt");
	floor_world_wait(&world.floor, has_failed, &world);
	ck_assert_ptr_nonnull(strstr(push_of(&world)->reason, "origin"));
	assert_shown(&world, "failed by adam, 1");
	ck_assert(landings_retry(world.landings));
	ck_assert(!landings_retry(world.landings)); /* it runs */
	while (push_of(&world)->tries < 2)
		floor_world_settle(&world.floor);
	/* A landing does not change when the next try is. */
	land(&world, "eve", "c.txt");
	assert_shown(&world, "failed by eve, 2");
	floor_world_sh(&world.floor, slow_origin);
	ck_assert(landings_retry(world.landings));
	floor_world_wait(&world.floor, is_pushed, &world);
	assert_shown(&world, "done by eve, 0");
	ck_assert_str_eq(remote_tip(&world), "by eve");
	landing_world_end(&world);
}

/* What is said of origin is what it has, also if the branch was moved. */
TEST(what_is_said_to_be_pushed_was_pushed)
{
	struct landing_world world;

	landing_world_begin(&world, with_push);
	land(&world, "adam", "b.txt");
	floor_world_wait(&world.floor, has_failed, &world);
	floor_world_sh(&world.floor, "git reset -q --hard HEAD~1");
	floor_world_sh(&world.floor, slow_origin);
	ck_assert(landings_retry(world.landings));
	floor_world_wait(&world.floor, is_pushed, &world);
	ck_assert_str_eq(remote_tip(&world), "first");
	assert_shown(&world, "done first, 0");
	landing_world_end(&world);
}

/* The daemon that stops does not wait for the remote. The next one tries again:
 * at once what did not fail, and the rest when its time has come. */
TEST(the_next_daemon_pushes)
{
	struct landing_world world;

	landing_world_begin(&world, with_push);
	floor_world_sh(&world.floor, slow_origin);
	floor_world_sh(&world.floor, ">\"$B/hang\"");
	land(&world, "adam", "b.txt");
	life_stop(world.floor.core, "the test", false);
	floor_world_wait_stopped(&world.floor);
	floor_world_sh(
	    &world.floor, "rm \"$B/hang\"; mv \"$B/origin\" \"$B/o\"");
	landing_world_reopen(&world);
	floor_world_wait(&world.floor, has_failed, &world);
	floor_world_settle(&world.floor);
	floor_world_sh(&world.floor, "mv \"$B/o\" \"$B/origin\"");
	landing_world_reopen(&world);
	assert_shown(&world, "failed by adam, 1");
	push_of(&world)->next_ms = 1;
	persist_changed(world.floor.core);
	floor_world_settle(&world.floor);
	landing_world_reopen(&world);
	floor_world_wait(&world.floor, is_pushed, &world);
	assert_shown(&world, "done by adam, 0");
	ck_assert_str_eq(remote_tip(&world), "by adam");
	landing_world_end(&world);
}
