/* SPDX-License-Identifier: ISC */

/*
 * What a worker can do to its own tree ends nothing but its own attempt: the
 * tree is put aside and made anew, the task is tried again and then fails, and
 * the tasks of all others land. One world for all rows, in each mode.
 */
#include "autorun.h"
#include "filed.h"

#define ATTEMPTS "2"
#define OTHERS   4 /* after every so many rows, a task that lands */

enum {
	LANDS = 1, /* only what comes after the landing fails */
	BOXED = 2, /* its git directory must be its own for that */
	SWEPT = 4, /* in a git worktree llmc may remove it first */
};

/* What it does in its git directory when its work is committed; $T is its
 * tree. */
static const struct {
	const char *name, *script;
	unsigned flags;
} rows[] = {
	{ "moved", "cd ..; mv .git .git2", BOXED },
	{ "linked", "cd ..; mv .git .git2; ln -s .git2 .git", BOXED },
	{ "head-fifo", "rm HEAD; mkfifo HEAD", SWEPT },
	{ "head-link", "rm HEAD; ln -s \"$FLEET/victim\" HEAD", 0 },
	{ "head-folder", "rm HEAD; mkdir HEAD", 0 },
	{ "index-fifo", "rm index; mkfifo index", SWEPT },
	{ "index-link", "mv index i; ln -s i index", 0 },
	{ "index-folder", "rm index; mkdir index", 0 },
	{ "index-text", "echo text >index", 0 },
	{ "gone", "rm -rf \"$T/.git\"", BOXED },
	{ "moved-killed", "cd ..; mv .git .git2; kill -9 $CLAUDE_PID", BOXED },
	{ "head-killed", "rm HEAD; mkdir HEAD; kill -9 $CLAUDE_PID", 0 },
	/* Every git in its box waits for that, the agent's own too. */
	{ "config-fifo", "rm config; mkfifo config; kill -9 $CLAUDE_PID",
	    BOXED },
	{ "config-text", "echo '[' >config", BOXED },
	{ "no-refs", "rm -r refs", BOXED },
	{ "no-objects", "rm -r objects", BOXED },
	{ "log-link", "rm -f logs/HEAD; ln -s \"$FLEET/victim\" logs/HEAD", 0 },
	{ "log-folder", "rm -f logs/HEAD; mkdir -p logs/HEAD/x", 0 },
	{ "bad-object",
	    "cd \"$T\"; printf '[submodule \"a\"]\\npath = a\\n"
	    "url = -u./payload\\n' >.gitmodules; git add .gitmodules; "
	    "git commit -qm bad",
	    BOXED },
	{ "locked", "touch index.lock", LANDS },
};

void
unit_before(void)
{
	fleet_begin();
	fleet_patience = 5; /* for the end of forty tasks */
}

const int unit_timeout = 400; /* seconds, each */

static bool
is_run(size_t row, const char *mode)
{
	return (rows[row].flags & BOXED) == 0 || strcmp(mode, "off") != 0;
}

static void
add_tasks(const char *mode)
{
	for (size_t i = 0; i < nitems(rows); i++) {
		if (!is_run(i, mode))
			continue;
		e2e_script(e2e_path("%s/%s.sh", unit_scratch(), rows[i].name),
		    e2e_path(
			"#!/bin/sh\nT=$PWD; cd \"$(git rev-parse --git-dir)\"\n%s\n",
			rows[i].script));
		auto_task(e2e_path("%02zu-%s.md", i, rows[i].name),
		    "%s\nfake: commit %s.txt x\nfake: run \"$FLEET/%s.sh\"",
		    rows[i].name, rows[i].name, rows[i].name);
		if (i % OTHERS == 0)
			auto_task(e2e_path("%02zu-then.md", i),
			    "A\nfake: commit then-%zu.txt x", i);
	}
}

/* The task of a row has failed in all its attempts, and its reason says where
 * its tree is; or it has landed. What is wrong is appended. */
static void
look_at_row(struct json_object *filed, size_t row, bool boxed, struct buf *out)
{
	bool lands = (rows[row].flags & LANDS) != 0;

	/* Its agent has only words for a tree that is whole again: it may have
	 * failed, or wait for a person. */
	if ((rows[row].flags & SWEPT) != 0 && !boxed)
		return;
	for (size_t i = 0; i < json_object_array_length(filed); i++) {
		struct json_object *task = json_object_array_get_idx(filed, i);
		const char *outcome = auto_member(task, "outcome");
		const char *reason = auto_member(task, "reason");

		if (strcmp(auto_member(task, "title"), rows[row].name) != 0)
			continue;
		if (strcmp(outcome, lands ? "landed" : "dead-letter") != 0 ||
		    (!lands &&
			(strstr(reason, ".broken-") == NULL ||
			    strcmp(auto_member(task, "attempts"), ATTEMPTS) !=
				0)))
			buf_addf(out, "%s: %s, %s\n", rows[row].name, outcome,
			    reason);
		return;
	}
	buf_addf(out, "%s has no end\n", rows[row].name);
}

static void
expect_others_unharmed(const char *mode)
{
	struct json_object *filed, *failure;
	cleanup_buf struct buf wrong = BUF_INIT;
	int status;

	if (strcmp(mode, "off") != 0) {
		e2e_need_boxes("");
		fleet_box(mode);
	} else {
		e2e_skip_sandboxed("it has a row of its own");
	}
	e2e_write(e2e_path("%s/victim", unit_scratch()), "theirs");
	auto_set("auto.max_attempts", ATTEMPTS);
	auto_set("auto.concurrency", "2");
	add_tasks(mode);
	status = auto_run("--until-empty", NULL);
	failure = auto_failure();
	ck_assert_msg(failure == NULL, "it ended: %s",
	    failure != NULL ? auto_member(failure, "words") : "");
	ck_assert_int_eq(status, 1); /* tasks have failed */
	filed = filed_tasks(fleet_root());
	for (size_t i = 0; i < nitems(rows); i++) {
		if (!is_run(i, mode))
			continue;
		look_at_row(filed, i, strcmp(mode, "off") != 0, &wrong);
		if (i % OTHERS == 0 &&
		    !e2e_exists(e2e_path("%s/then-%zu.txt", fleet_root(), i)))
			buf_addf(&wrong, "the task after %s has not landed\n",
			    rows[i].name);
	}
	ck_assert_str_eq(wrong.data, "");
	json_object_put(filed);
	ck_assert_str_eq(
	    e2e_read(e2e_path("%s/victim", unit_scratch())), "theirs");
	ck_assert_str_eq(
	    e2e_sh(fleet_root(), "git fsck --no-dangling --no-progress 2>&1")
		->out,
	    "");
	auto_no_complaints();
	auto_no_sessions();
}

TEST(a_broken_git_worktree_ends_nobody_elses_work)
{
	expect_others_unharmed("off");
}

TEST(a_broken_clone_ends_nobody_elses_work)
{
	expect_others_unharmed("worktree");
}

TEST(a_broken_strict_clone_ends_nobody_elses_work)
{
	expect_others_unharmed("strict");
}
