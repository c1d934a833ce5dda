/* SPDX-License-Identifier: ISC */

/* Pushes after a landing: remotes that hang, fail and come back. */

#include "landing-world.h"
#include "landing-record.h"

static const char with_push[] = "push = true";

/* The remote does not answer while $B/hang is there. */
static const char slow_origin[] =
    "git init -q --bare \"$B/origin\"; git remote add origin \"$B/origin\"; "
    "git config remote.origin.receivepack \"while test -e '$B/hang'; do "
    "sleep 0.02; done; git-receive-pack\"";

static struct push_record *
push_of(void)
{
	return &floor_world.core->state.landings.push;
}

static bool
is_pushed(void *arg)
{
	const struct push_record *push = push_of();

	(void)arg;
	return push->unpushed == NULL && push->pushed != NULL;
}

static bool
has_failed(void *arg)
{
	(void)arg;
	return push_record_has_failed(push_of());
}

static void
land(const char *worker, const char *file)
{
	const char *error;

	landing_world_work(worker, file, "text");
	error = landing_world_accept(worker);
	ck_assert_msg(error == NULL, "%s", error);
}

/* The subject of the remote's last commit. */
static const char *
remote_tip(void)
{
	return floor_world_sh("git --git-dir=\"$B/origin\" log -1 --format=%s "
			      "refs/heads/main 2>/dev/null || echo none");
}

/* What landing.list says about it, with the commit's subject. */
static void
assert_shown(const char *want)
{
	struct floor_call *call = floor_world_ask("landing.list", "{}");
	struct json_object *push;
	cleanup_free char *text = NULL, *ask = NULL;

	ck_assert_ptr_null(floor_world_answer(call));
	push = json_object_object_get(floor_call_result(call), "push");
	if (push == NULL) {
		ck_assert_str_eq("null", want);
		return;
	}
	ask = xasprintf("git log -1 --format=%%s %s",
	    json_string_or(push, "commit_sha", ""));
	text = xasprintf("%s %s, %d", json_string_or(push, "state", ""),
	    floor_world_sh(ask), (int)json_int_or(push, "tries", -1));
	ck_assert_str_eq(text, want);
}

TEST(nothing_is_pushed_unless_it_is_wanted)
{
	landing_world_begin(NULL);
	floor_world_sh(slow_origin);
	land("adam", "b.txt");
	floor_world_settle();
	ck_assert_ptr_null(push_of()->unpushed);
	assert_shown("null");
}

/* Neither landings nor what else git has to do wait for it; what has landed
 * meanwhile is pushed next. */
TEST(a_remote_that_hangs_holds_up_nothing)
{
	landing_world_begin(with_push);
	floor_world_sh(slow_origin);
	landing_world_work("adam", "b.txt", "two");
	landing_world_work("eve", "c.txt", "three");
	/* A tag of the branch's name is not what is pushed. */
	floor_world_sh(">\"$B/hang\"; git tag main");
	assert_shown("null");
	ck_assert_ptr_null(landing_world_accept("adam"));
	assert_shown("waiting by adam, 0");
	ck_assert_ptr_null(landing_world_accept("eve"));
	assert_shown("waiting by eve, 0");
	ck_assert_str_eq(remote_tip(), "none");
	floor_world_sh("rm \"$B/hang\"");
	floor_world_wait(is_pushed, &landing_world);
	assert_shown("done by eve, 0");
	ck_assert_str_eq(remote_tip(), "by eve");
	floor_world_sh("git tag -d main");
	landing_world_main("by eve,by adam,first,");
}

/* It is told once, with the branch and the commit. */
TEST(a_remote_that_comes_back_gets_it)
{
	landing_world_begin(with_push);
	land("adam", "b.txt");
	floor_world_wait(has_failed, &landing_world);
	ck_assert_ptr_nonnull(strstr(push_of()->reason, "origin"));
	assert_shown("failed by adam, 1");
	ck_assert(landings_retry(landing_world.landings));
	ck_assert(!landings_retry(landing_world.landings)); /* it runs */
	while (push_of()->tries < 2)
		floor_world_settle();
	/* A landing does not change when the next try is. */
	land("eve", "c.txt");
	assert_shown("failed by eve, 2");
	floor_world_sh(slow_origin);
	ck_assert(landings_retry(landing_world.landings));
	floor_world_wait(is_pushed, &landing_world);
	assert_shown("done by eve, 0");
	ck_assert_str_eq(remote_tip(), "by eve");
}

/* What is said of origin is what it has, also if the branch was moved. */
TEST(what_is_said_to_be_pushed_was_pushed)
{
	landing_world_begin(with_push);
	land("adam", "b.txt");
	floor_world_wait(has_failed, &landing_world);
	floor_world_sh("git reset -q --hard HEAD~1");
	floor_world_sh(slow_origin);
	ck_assert(landings_retry(landing_world.landings));
	floor_world_wait(is_pushed, &landing_world);
	ck_assert_str_eq(remote_tip(), "first");
	assert_shown("done first, 0");
}

/* The daemon that stops does not wait for the remote. The next one tries again:
 * at once what did not fail, and the rest when its time has come. */
TEST(the_next_daemon_pushes)
{
	landing_world_begin(with_push);
	floor_world_sh(slow_origin);
	floor_world_sh(">\"$B/hang\"");
	land("adam", "b.txt");
	life_stop(floor_world.core, "the test", false);
	floor_world_wait_stopped();
	floor_world_sh("rm \"$B/hang\"; mv \"$B/origin\" \"$B/o\"");
	landing_world_reopen();
	floor_world_wait(has_failed, &landing_world);
	floor_world_settle();
	floor_world_sh("mv \"$B/o\" \"$B/origin\"");
	landing_world_reopen();
	assert_shown("failed by adam, 1");
	push_of()->next_ms = 1;
	persist_changed(floor_world.core);
	floor_world_settle();
	landing_world_reopen();
	floor_world_wait(is_pushed, &landing_world);
	assert_shown("done by adam, 0");
	ck_assert_str_eq(remote_tip(), "by adam");
}
