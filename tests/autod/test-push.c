/* SPDX-License-Identifier: ISC */

/* The landing branch and origin: what lands is pushed, what others push is
 * followed; remotes that hang, refuse, fail and come back. */

#include "landing-world.h"
#include "ask.h"
#include "landing-record.h"

static const char with_push[] = "upstream = \"push\"";
static const char with_follow[] = "upstream = \"follow\"";

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

/* A landing waits for the push, for minutes; nothing else does. */
TEST(a_landing_waits_for_a_slow_push)
{
	struct floor_call *call;

	unit_hurry(30);
	landing_world_begin(with_push);
	floor_world_sh(slow_origin);
	landing_world_work("adam", "b.txt", "two");
	/* A tag of the branch's name is not what is pushed. */
	floor_world_sh(">\"$B/hang\"; git tag main");
	assert_shown("null");
	call = floor_world_call("worker.accept", "adam", "");
	floor_world_until(push_of()->pushing_ms > 0 &&
	    clock_wall_ms() - push_of()->pushing_ms > INT64_C(60) * 1000);
	assert_shown("pushing by adam, 0");
	ck_assert(landings_fresh(landing_world.landings));
	ck_assert_str_eq(
	    floor_world_sh("git log -1 --format=%s refs/heads/main"), "first");
	floor_world_sh("rm \"$B/hang\"");
	ck_assert_ptr_null(floor_world_answer(call));
	assert_shown("done by adam, 0");
	ck_assert_str_eq(remote_tip(), "by adam");
	floor_world_sh("git tag -d main");
	landing_world_main("by adam,first,");
}

/* Origin is killed in the middle: when it has it, before, and for longer. What
 * it may have refused does not land before it says so. */
static const struct {
	const char *hook, *script;
	bool held;
} lost_rows[] = {
	{ "post-receive", "kill -9 $PPID", false },
	{ "pre-receive", "kill -9 $PPID", true },
	{ "pre-receive", "mv ../origin ../gone; kill -9 $PPID", true },
};

TEST_ROWS(
    a_push_without_an_answer_lands_by_the_word_of_origin, nitems(lost_rows))
{
	cleanup_free char *script = xasprintf(
	    "%s; printf '#!/bin/sh\n%s\n' >\"$B/origin/hooks/%s\"; chmod +x "
	    "\"$B/origin/hooks/%s\"",
	    "git init -q --bare \"$B/origin\"; git remote add origin "
	    "\"$B/origin\"; git push -q origin main",
	    lost_rows[_i].script, lost_rows[_i].hook, lost_rows[_i].hook);
	struct floor_call *call;

	landing_world_begin(with_push);
	floor_world_sh(script);
	landing_world_work("adam", "b.txt", "two");
	call = floor_world_call("worker.accept", "adam", "");
	if (lost_rows[_i].held) {
		floor_world_until(push_record_has_failed(push_of()));
		ck_assert(push_of()->held);
		landing_world_main("first,");

		floor_world_sh("[ ! -e \"$B/gone\" ] || mv \"$B/gone\" "
			       "\"$B/origin\"; rm \"$B\"/origin/hooks/p*e");
		ck_assert(landings_retry(landing_world.landings));
	}
	ck_assert_ptr_null(floor_world_answer(call));
	landing_world_main("by adam,first,");
	ck_assert_str_eq(remote_tip(), "by adam");
	assert_shown("done by adam, 0");
}

/* It is told once, with the branch and the commit. */
TEST(a_remote_that_comes_back_gets_it)
{
	landing_world_begin(with_push);
	land("adam", "b.txt");
	floor_world_until(push_record_has_failed(push_of()));
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
	floor_world_until(
	    push_of()->unpushed == NULL && push_of()->pushed != NULL);
	assert_shown("done by eve, 0");
	ck_assert_str_eq(remote_tip(), "by eve");
}

/* What is said of origin is what it has, also if the branch was moved. */
TEST(what_is_said_to_be_pushed_was_pushed)
{
	landing_world_begin(with_push);
	land("adam", "b.txt");
	floor_world_until(push_record_has_failed(push_of()));
	floor_world_sh("git reset -q --hard HEAD~1");
	floor_world_sh(slow_origin);
	ck_assert(landings_retry(landing_world.landings));
	floor_world_until(
	    push_of()->unpushed == NULL && push_of()->pushed != NULL);
	ck_assert_str_eq(remote_tip(), "first");
	assert_shown("done first, 0");
}

/* The daemon that stops does not wait for the remote. The next one does not
 * know what became of the push: it lands when origin has answered. */
TEST(the_next_daemon_pushes)
{
	landing_world_begin(with_push);
	floor_world_sh(slow_origin);
	floor_world_sh(">\"$B/hang\"");
	landing_world_work("adam", "b.txt", "text");
	floor_world_call("worker.accept", "adam", "");
	floor_world_until(push_of()->pushing_ms > 0);
	life_stop(floor_world.core, "the test", false);
	floor_world_wait_stopped();
	floor_world_sh("rm \"$B/hang\"; mv \"$B/origin\" \"$B/o\"");
	landing_world_reopen();
	floor_world_until(push_record_has_failed(push_of()));
	floor_world_settle();
	landing_world_main("first,");
	floor_world_sh("mv \"$B/o\" \"$B/origin\"");
	landing_world_reopen();
	push_of()->next_ms = 1;
	persist_changed(floor_world.core);
	floor_world_settle();
	landing_world_reopen();
	floor_world_until(
	    push_of()->unpushed == NULL && push_of()->pushed != NULL);
	assert_shown("done by adam, 0");
	ck_assert_str_eq(remote_tip(), "by adam");
}

/* --- what others push --------------------------------------------- */

/* A clone of somebody else's, in $B/other. */
static const char shared_origin[] =
    "git init -q --bare -b main \"$B/origin\"; git remote add origin "
    "\"$B/origin\"; git push -q -u origin main; git clone -q \"$B/origin\" "
    "\"$B/other\"";
#define OTHERS(file)                                                            \
	"cd \"$B/other\" && git pull -q --rebase && echo $$ >" file " && git "  \
	"add . && git -c user.name=o -c user.email=o@x commit -qm 'their " file \
	"' && git push -q"

static const struct {
	const char *config;
	const char *mains;
} follow_rows[] = {
	{ "upstream = \"follow\"", "by adam,their x,first," },
	{ "upstream = \"push\"", "by adam,their x,first," },
	{ "upstream = \"off\"", "by adam,first," },
};

TEST_ROWS(work_lands_on_what_others_pushed, nitems(follow_rows))
{
	landing_world_begin(follow_rows[_i].config);
	floor_world_sh(shared_origin);
	floor_world_sh(OTHERS("x"));
	land("adam", "b.txt");
	landing_world_main(follow_rows[_i].mains);
	ck_assert_str_eq(remote_tip(),
	    strstr(follow_rows[_i].config, "push") != NULL ? "by adam" :
							     "their x");
	/* The checkout went along. */
	ck_assert_str_eq(floor_world_sh("git status --porcelain -uno"), "");
}

/* Between the look and the push: it is rejected, rebuilt and pushed. */
TEST(who_pushes_at_the_same_time_is_not_lost)
{
	landing_world_begin(with_push);
	floor_world_sh(shared_origin);
	floor_world_sh(
	    "printf '#!/bin/sh\\n[ -e \"%s/once\" ] && exit 0; touch "
	    "\"%s/once\"; cd \"%s/other\" && unset GIT_DIR "
	    "GIT_WORK_TREE && echo x >x && git add . && git -c "
	    "user.name=o -c user.email=o@x commit -qm \"their x\" && "
	    "git push -q\\n' \"$B\" \"$B\" \"$B\" "
	    ">.git/hooks/pre-push; chmod +x .git/hooks/pre-push");
	land("adam", "b.txt");
	landing_world_main("by adam,their x,first,");
	ck_assert_str_eq(remote_tip(), "by adam");
	ck_assert_int_eq(push_of()->rejected, 0);
	assert_shown("done by adam, 0");
}

/* What origin does not take does not land; when it does, it does. */
TEST(a_protected_branch_holds_the_landing)
{
	struct floor_call *call;

	landing_world_begin(with_push);
	floor_world_sh(shared_origin);
	floor_world_sh("printf '#!/bin/sh\\necho it is protected >&2; exit 1"
		       "\\n' >\"$B/origin/hooks/pre-receive\"; chmod +x "
		       "\"$B/origin/hooks/pre-receive\"");
	landing_world_work("adam", "b.txt", "two");
	call = floor_world_call("worker.accept", "adam", "");
	floor_world_until(push_record_has_failed(push_of()));
	ck_assert(push_of()->held);
	ck_assert_ptr_nonnull(strstr(push_of()->reason, "it is protected"));
	landing_world_main("first,");
	{
		cleanup_free char *words =
		    push_record_asks(push_of(), UPSTREAM_PUSH, "main");

		ck_assert_ptr_nonnull(strstr(words, "repo.upstream follow"));
		ck_assert_ptr_nonnull(strstr(words, "it is protected"));
	}
	floor_world_sh("rm \"$B/origin/hooks/pre-receive\"");
	ck_assert(landings_retry(landing_world.landings));
	ck_assert_ptr_null(floor_world_answer(call));
	landing_world_main("by adam,first,");
	ck_assert_str_eq(remote_tip(), "by adam");
	ck_assert(!push_of()->held);
}

/* It is asked about, not merged; and over when a person has decided. */
TEST(a_branch_that_has_diverged_is_a_persons)
{
	cleanup_free char *words = NULL;

	landing_world_begin(with_follow);
	floor_world_sh(shared_origin);
	floor_world_sh(OTHERS("x"));
	floor_world_sh("echo mine >mine; git add mine; git commit -qm mine");
	land("adam", "b.txt");
	floor_world_until(push_of()->ours != NULL);
	landing_world_main("by adam,mine,first,");
	words = push_record_asks(push_of(), UPSTREAM_FOLLOW, "main");
	ck_assert_ptr_nonnull(strstr(words, "git rebase "));
	ck_assert_ptr_nonnull(strstr(words, "git merge "));
	ck_assert_ptr_nonnull(strstr(words, "git reset --keep "));
	floor_world_sh("git fetch -q; git rebase -q origin/main");
	ck_assert(landings_retry(landing_world.landings));
	floor_world_until(push_of()->ours == NULL);
	landing_world_main("by adam,mine,their x,first,");
}

/* adam's b.txt has landed, and somebody else has pushed before. */
static void
begin_split(const char *pushed)
{
	landing_world_begin(with_follow);
	floor_world_sh(shared_origin);
	land("adam", "b.txt");
	floor_world_sh(pushed);
	landings_follow(landing_world.landings);
}

/* What only llmc has landed goes on top of it, with its ref, beside what a user
 * has changed; nobody is asked. */
TEST_ROWS(landings_go_on_top_of_what_others_have_pushed, 2)
{
	landing_world_begin(with_follow);
	floor_world_sh(shared_origin);
	land("adam", "b.txt");
	land("eve", "c.txt");
	floor_world_sh("echo dirt >>a.txt");
	floor_world_sh(OTHERS("x"));
	landings_follow(landing_world.landings);
	if (_i == 1) { /* killed while the branch moves */
		floor_world_until(push_of()->replayed != NULL);
		landing_world_reopen();
		landings_follow(landing_world.landings);
	}
	floor_world_until(strcmp(floor_world_sh("git log -2 --format=%s | "
						"tail -1"),
			      "by adam") == 0 &&
	    strcmp(floor_world_sh("git log -3 --format=%s | tail -1"),
		"their x") == 0);
	floor_world_until(push_of()->replayed == NULL);
	floor_world_settle();
	ck_assert_ptr_null(push_of()->ours);
	ck_assert_str_eq(floor_world_sh("git diff --name-only"), "a.txt");
	floor_world_sh("git checkout -q a.txt");
	landing_world_main("by eve,by adam,their x,first,");
	ck_assert_str_eq(floor_world_sh("for r in $(git for-each-ref "
					"--format='%(objectname)' "
					"refs/llmc/landed); do git log -1 "
					"--format=%s $r; git merge-base "
					"--is-ancestor $r main || echo lost; "
					"done | sort"),
	    "by adam\nby eve");
	land("tom", "d.txt");
	landing_world_main("by tom,by eve,by adam,their x,first,");
}

/* A conflict, or a commit of the user's, is theirs. */
TEST_ROWS(what_no_clean_rebase_of_landings_solves_is_asked_about, 2)
{
	begin_split(_i == 0 ?
		OTHERS("b.txt") :
		OTHERS("x") "; cd - >/dev/null; git commit -q --allow-empty "
			    "-m mine");
	floor_world_until(push_of()->ours != NULL);
	landing_world_main(_i == 0 ? "by adam,first," : "mine,by adam,first,");
	ck_assert_ptr_null(push_of()->replayed);
}

/* While what lands is pushed, a person commits: origin has it, so it does not
 * land a second time, on top of that commit. */
TEST(a_commit_beside_a_push_does_not_land_it_twice)
{
	landing_world_begin(with_push);
	floor_world_sh(shared_origin);
	floor_world_sh("printf '#!/bin/sh\\nunset GIT_DIR GIT_QUARANTINE_PATH "
		       "GIT_OBJECT_DIRECTORY; cd \"%s\" && git -c user.name=p "
		       "-c user.email=p@x commit -q --allow-empty -m mine"
		       "\\n' \"$PWD\" >\"$B/origin/hooks/post-receive\"; "
		       "chmod +x \"$B/origin/hooks/post-receive\"");
	land("adam", "b.txt");
	floor_world_until(push_of()->ours != NULL);
	floor_world_settle();
	landing_world_main("mine,first,");
	ck_assert_str_eq(remote_tip(), "by adam");
	ck_assert(!landings_busy(landing_world.landings));
	floor_world_sh("rm \"$B/origin/hooks/post-receive\"; git fetch -q; git "
		       "rebase -q origin/main");
	ck_assert(landings_retry(landing_world.landings));
	floor_world_until(push_of()->ours == NULL);
	landing_world_main("mine,by adam,first,");
}

/* A branch that was made from another one has that for its upstream. */
TEST_ROWS(what_lands_is_not_pushed_to_another_branch, 2)
{
	landing_world_begin(_i == 0 ? with_push : with_follow);
	floor_world_sh(shared_origin);
	floor_world_sh(
	    "git push -q origin main:other; git fetch -q; git branch "
	    "-q -u origin/other main");
	floor_world_sh(
	    "cd \"$B/other\" && git fetch -q && git checkout -q other "
	    "&& git -c user.name=o -c user.email=o@x commit -q "
	    "--allow-empty -m theirs && git push -q origin other");
	if (_i == 1)
		floor_world_until(
		    strncmp(floor_world_sh("git log -1 --format=%s"), "their",
			strlen("their")) == 0);
	land("adam", "b.txt");
	landing_world_main(
	    _i == 0 ? "by adam,first," : "by adam,theirs,first,");
	ck_assert_str_eq(remote_tip(), _i == 0 ? "by adam" : "first");
	ck_assert_str_eq(floor_world_sh("git --git-dir=\"$B/origin\" log -1 "
					"--format=%s other"),
	    "theirs");
}

/* The words of the open ask with this key; NULL = there is none. */
static const char *
asked(const char *key)
{
	const struct state *state = &floor_world.core->state;

	for (size_t i = 0; i < state->ask_count; i++)
		if (strcmp(state->asks[i]->key, key) == 0)
			return state->asks[i]->words;
	return NULL;
}

/* A file that the user has changed holds what changes it, as it does a landing.
 */
TEST(a_dirty_checkout_stays_as_it_is)
{
	landing_world_begin(with_follow);
	floor_world_sh(shared_origin);
	floor_world_sh("echo dirt >>a.txt");
	floor_world_sh(OTHERS("a.txt"));
	ck_assert(!landings_fresh(landing_world.landings));
	floor_world_until(push_of()->looked_ms > 0);
	floor_world_settle();
	ck_assert_str_eq(floor_world_sh("git log -1 --format=%s"), "first");
	ck_assert_str_eq(floor_world_sh("git diff --name-only"), "a.txt");
	/* After a while it is one ask, until it is out of the way; also if the
	 * clock was turned back. */
	ck_assert_ptr_nonnull(push_of()->blocked);
	push_of()->blocked_ms += 24 * FOLLOW_PATIENCE_MS;
	landings_follow(landing_world.landings);
	floor_world_until(push_of()->blocked_ms <= clock_wall_ms());
	ck_assert_ptr_null(asked("follow"));
	push_of()->blocked_ms -= FOLLOW_PATIENCE_MS;
	persist_changed(floor_world.core);
	floor_world_settle();
	ck_assert_ptr_nonnull(strstr(asked("follow"), "a.txt"));
	floor_world_sh("git checkout -q a.txt");
	floor_world_until(strncmp(floor_world_sh("git log -1 --format=%s"),
			      "their", strlen("their")) == 0);
	landing_world_main("their a.txt,first,");
	floor_world_settle();
	ck_assert_ptr_null(asked("follow"));
}

/* It is not asked what origin has for that. */
TEST(the_branch_follows_when_another_git_is_done)
{
	int64_t looked_ms;

	unit_hurry(30);
	landing_world_begin(with_follow);
	floor_world_sh(shared_origin);
	floor_world_sh(OTHERS("x"));
	floor_world_sh("touch .git/index.lock");
	ck_assert(!landings_fresh(landing_world.landings));
	floor_world_until(push_of()->looked_ms > 0);
	floor_world_settle();
	landing_world_main("first,");
	looked_ms = push_of()->looked_ms;
	floor_world_sh("rm .git/index.lock");
	floor_world_until(
	    strcmp(floor_world_sh("git log -1 --format=%s"), "their x") == 0);
	ck_assert_int_eq(push_of()->looked_ms, looked_ms);
}

/* The answer and the journal were lost, and a person has taken the work back
 * since: it does not land a second time. Another task t1 of somebody else's is
 * another one: of another date, or of another author. */
TEST_ROWS(what_origin_has_by_its_trailer_has_landed, 3)
{
	struct landing_item *item;
	cleanup_free char *script = NULL;

	landing_world_begin(with_follow);
	floor_world_sh(shared_origin);
	landing_world.may_not_begin = true;
	landing_world_work("adam", "b.txt", "two");
	floor_world_call("worker.accept", "adam", "");
	landing_world_wait(NULL, "queued");
	floor_world_settle();
	item = floor_world.core->state.landings.items[0];
	xstrset(&item->task, "t1");
	script = xasprintf(
	    "cd \"$B/other\" && export GIT_COMMITTER_NAME=o "
	    "GIT_COMMITTER_EMAIL=o@x GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL='%s' "
	    "GIT_AUTHOR_DATE='%s' && echo two >b.txt && git add . && git "
	    "commit -qm 'work\n\nLlmc-Task: t1' && git rm -q b.txt && git commit "
	    "-qm back && git push -q",
	    _i == 2 ? "o@x" : item->author_email,
	    _i == 1 ? "@1500000000 +0000" : item->author_date);
	floor_world_sh(script);
	landing_world.may_not_begin = false;
	push_of()->looked_ms = 0;
	landings_kick(landing_world.landings);
	floor_world_until(!landings_busy(landing_world.landings));
	landing_world_main(
	    _i == 0 ? "back,work,first," : "by adam,back,work,first,");
}

TEST(a_branch_that_only_follows_is_moved_by_nobody)
{
	const char *error;
	struct floor_call *call;

	landing_world_begin("[auto]\nland = \"pull-request\"\n");
	floor_world_sh(shared_origin);
	landing_world_work("adam", "b.txt", "text");
	error = landing_world_accept("adam");
	ck_assert_ptr_nonnull(
	    strstr(error, "only the work of a task becomes one"));
	call = floor_world_ask(
	    "landing.revert", "{\"commit\":\"0123456789abcdef\"}");
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(call), "main only follows origin"));
	landing_world_main("first,");
}
