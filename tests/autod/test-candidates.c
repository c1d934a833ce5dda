/* SPDX-License-Identifier: ISC */

/* What the queue builds of the items: with the attributes of the branch, and
 * with a git that fails. */
#include "landing-world.h"

/* Both sides append to a list, below a folder. */
static struct floor_call *
begin_both(const char *worker, const char *file)
{
	cleanup_free char *work = xasprintf(
	    "git reset -q --hard main; echo ours >>%s; git commit -qam 'by %s'",
	    file, worker);
	cleanup_free char *meanwhile =
	    xasprintf("echo theirs >>%s; git commit -qam meanwhile", file);

	floor_world_add(worker, WORKER_NEEDS_REVIEW);
	floor_world_wt(worker, work);
	floor_world_sh(meanwhile);
	return floor_world_call("worker.accept", worker, "");
}

static bool
conflicts(struct floor_call *call)
{
	ck_assert_ptr_null(floor_world_answer(call));
	return json_bool_or(
	    floor_call_result(call), "needs_conflict_resolution", false);
}

TEST(attributes_of_the_branch)
{
	landing_world_begin(NULL);
	floor_world_sh("mkdir d; echo one >d/list; seq 1 20 >lock; "
		       "echo 'list merge=union' >d/.gitattributes; "
		       "git add d lock; git commit -qm list");
	ck_assert(!conflicts(begin_both("adam", "d/list")));
	ck_assert_str_eq(floor_world_sh("sort d/list"), "one\nours\ntheirs");

	/* They follow the branch: others come, and these go. */
	floor_world_sh(
	    "echo 'lock -merge' >.gitattributes; git add .gitattributes; "
	    "git commit -qm attributes");
	floor_world_add("eve", WORKER_NEEDS_REVIEW);
	floor_world_wt("eve",
	    "git reset -q --hard main; sed -i 2d lock; "
	    "git commit -qam 'by eve'");
	floor_world_sh("sed -i 18d lock; git commit -qam meanwhile");
	ck_assert(conflicts(floor_world_call("worker.accept", "eve", "")));
	floor_world_sh("git rm -q d/.gitattributes; git commit -qm gone");
	ck_assert(conflicts(begin_both("noah", "d/list")));
}

/* Others have renamed what the work changes to a protected path. Whoever has
 * accepted it has decided; otherwise a person must. */
TEST_ROWS(a_protected_path_by_a_rename, 2)
{
	struct agent *adam;

	landing_world_begin("protected_paths = [\"ci/**\"]\n");
	floor_world_sh(
	    "seq 1 20 >test.sh; git add test.sh; git commit -qm test");
	adam = floor_world_add("adam", WORKER_NEEDS_REVIEW);
	floor_world_wt("adam",
	    "git reset -q --hard main; echo 21 >>test.sh; "
	    "git commit -qam 'by adam'");
	floor_world_sh("mkdir ci; git mv test.sh ci; git commit -qm meanwhile");
	landing_begin(landing_world.landings, adam, NULL, _i == 0, NULL);
	floor_world_wait_status(
	    adam, _i == 0 ? WORKER_OFFLINE : WORKER_NEEDS_REVIEW);
	floor_world_settle();
	if (_i == 0) {
		landing_world_main("by adam,meanwhile,test,first,");
	} else {
		landing_world_main("meanwhile,test,first,");
		ck_assert(adam->worker->for_person);
		ck_assert_ptr_nonnull(strstr(
		    adam->worker->reason, "protected paths: ci/test.sh"));
	}
}

/* From now on this runs before that command of git, in place of git if it
 * exits. */
static void
before(const char *command, const char *script)
{
	cleanup_free char *text =
	    xasprintf("mkdir ../bin; cd ../bin; cat >git <<'END'\n#!/bin/sh\n"
		      "case \" $* \" in *\" %s \"*) %s;; esac\n"
		      "PATH=${PATH#*:} exec git \"$@\"\nEND\nchmod +x git; pwd",
		command, script);
	const char *folder = floor_world_sh(text);
	cleanup_free char *path = xasprintf("%s:%s", folder, getenv("PATH"));

	setenv("PATH", path, 1);
}

TEST(a_failure_of_git_that_passes)
{
	landing_world_begin_work(NULL);
	landing_world_meanwhile("c.txt", "three");
	before("merge-tree",
	    "mkdir \"${0%/*}/full\" 2>/dev/null && "
	    "{ echo fatal: disk full >&2; exit 128; }");
	ck_assert_ptr_null(landing_world_accept("adam"));
	ck_assert_str_eq(floor_world_sh("test -e ../bin/full"), "");
	landing_world_main("by adam,meanwhile,first,");
	landing_world_told("landed adam; ended adam landed; ");
}

/* --- what can never be built ------------------------------------------ */

static bool
holds(void *arg)
{
	(void)arg;
	return false;
}

static bool
keeps(void *arg, const char *task)
{
	(void)arg;
	return task != NULL;
}

static void
on_blocked(void *arg, const char *class, const char *worker, const char *task,
    const char *reason)
{
	char *words = arg;

	ck_assert_str_eq(class, "git");
	ck_assert_ptr_nonnull(reason);
	snprintf(words, 64, "%s %s", worker, task);
}

/* Only its own worker and task are named, not the first ones. */
TEST(one_that_cannot_be_built)
{
	static const struct landing_policy policy = {
		.may_move = holds, .keeps = keeps, .blocked = on_blocked
	};
	struct agent *adam, *eve;
	char words[64] = "";

	adam = landing_world_begin_work(NULL);
	eve = landing_world_work("eve", "d.txt", "two");
	xstrset(&adam->worker->task, "t1");
	xstrset(&eve->worker->task, "t2");
	landing_world_meanwhile("c.txt", "three");
	landings_set_policy(landing_world.landings, &policy, words);
	floor_world_sh("git rev-parse llmc/eve >../eve");
	before("merge-tree",
	    "case \"$*\" in *$(cat \"${0%/*}/../eve\")) "
	    "echo merge-tree: no such commit; exit 1;; esac >&2");
	floor_world_call("worker.accept", "adam", "");
	floor_world_wait_status(adam, WORKER_ACCEPTING);
	floor_world_settle();
	floor_world_call("worker.accept", "eve", "");
	floor_world_until(((const char *)words)[0] != '\0');
	ck_assert_str_eq(words, "eve t2");
}

/* Built once more, as its objects may have gone; then it is told of. */
TEST(what_git_cannot_land_is_told_of_and_waits)
{
	static const struct landing_policy policy = { .keeps = keeps,
		.blocked = on_blocked };
	struct agent *adam;
	char words[64] = "";

	adam = landing_world_begin_work(NULL);
	xstrset(&adam->worker->task, "t1");
	landings_set_policy(landing_world.landings, &policy, words);
	before("update-ref -m",
	    "echo x >>\"${0%/*}/tries\"; "
	    "echo fatal: no >&2; exit 128");
	floor_world_call("worker.accept", "adam", "");
	floor_world_until(((const char *)words)[0] != '\0');
	ck_assert_str_eq(words, "adam t1");
	ck_assert_str_eq(floor_world_sh("cat ../bin/tries"), "x\nx");
	landing_world_main("first,");
}
