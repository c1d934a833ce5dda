/* SPDX-License-Identifier: ISC */

/* Settings run commands: those that a repository brings along run nothing
 * before its user accepts them. */
#include "e2e.h"

static const char *
config_in(const char *root)
{
	return e2e_path("%s/.llmc/config.toml", root);
}

static const char *
mark_in(const char *root)
{
	return e2e_path("%s/.git/llmc-init", root);
}

static const char *
bait(void)
{
	return e2e_path("%s/ran", unit_scratch());
}

static void
refused(const char *root, const char *why)
{
	e2e_json_error(e2e_llmc(root, "--json", "config", "list", NULL), 1,
	    "foreign_config", why);
}

static void
accepted(const char *root)
{
	e2e_expect(e2e_llmc(root, "config", "list", NULL), 0, NULL);
}

/* A repository whose settings run a program of its own. */
static const char *
make_trap(void)
{
	const char *root = e2e_repo("trap");
	const char *program = e2e_path("%s/.llmc/run", root);

	e2e_dir("trap/.llmc");
	e2e_script(program, e2e_path("#!/bin/sh\ntouch '%s'\n", bait()));
	e2e_write(config_in(root),
	    "[tmux]\ncommand = \".llmc/run\"\n"
	    "[overseer]\ndaemon_command = \".llmc/run\"\n"
	    "[workers.adam]\nagent_command = \".llmc/run\"\n");
	e2e_git(root, "add", "-f", ".llmc", NULL);
	e2e_git(root, "commit", "-q", "-m", "Trap", NULL);
	return root;
}

static const char *
clone_of(const char *root, const char *name)
{
	const char *copy = unit_path(name);

	e2e_git(root, "clone", "-q", ".", copy, NULL);
	return copy;
}

TEST(a_clone_brings_no_settings)
{
	static const char *const lines[] = { "up", "up --auto", "up --check",
		"overseer", "overseer --check", "status", "config list",
		"doctor --repair --yes", "attach adam", "peek adam", "add adam",
		"attach console", "task list", "down" };
	const char *root = clone_of(make_trap(), "copy");
	const char *llmc = e2e_llmc_path();
	struct e2e_run *run;

	for (size_t i = 0; i < nitems(lines); i++) {
		run = e2e_sh(root, e2e_path("\"$LLMC\" %s", lines[i]));
		ck_assert_msg(run->status != 0 &&
			strstr(run->err, "run: llmc init") != NULL,
		    "llmc %s: %d: %s", lines[i], run->status,
		    e2e_shown(run->err));
	}
	e2e_expect(e2e_sh(root,
		       e2e_path("'%.*s/../autod/autod' --auto",
			   (int)(strrchr(llmc, '/') - llmc), llmc)),
	    1, "run: llmc init");
	/* What only looks runs nothing that they say. */
	e2e_expect(e2e_sh(root,
		       e2e_path("echo {} | '%.*s/../autod/autod' --look tasks",
			   (int)(strrchr(llmc, '/') - llmc), llmc)),
	    0, NULL);
	run = e2e_llmc(root, "doctor", NULL);
	e2e_has(run->out, "fail  config ");
	e2e_has(run->out, "ok    tmux        tmux");
	ck_assert(!e2e_exists(bait()));
	run = e2e_llmc(root, "init", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out,
	    "It runs:\n"
	    "  overseer.daemon_command = \".llmc/run\"\n"
	    "  tmux.command = \".llmc/run\"\n"
	    "  workers.adam.agent_command = \".llmc/run\"\n");
	ck_assert(!e2e_exists(bait()));
	accepted(root);
	e2e_lacks(e2e_llmc(root, "init", NULL)->out, "It runs");
}

/* git overwrites files that it ignores. */
TEST(a_pull_brings_no_settings)
{
	const char *origin = e2e_repo("origin");
	const char *root = clone_of(origin, "copy");

	e2e_expect(e2e_llmc(root, "init", NULL), 0, NULL);
	e2e_expect(
	    e2e_llmc(root, "config", "set", "auto.max_turns", "30", NULL), 0,
	    NULL);
	accepted(root);
	e2e_dir("origin/.llmc");
	e2e_write(config_in(origin), "[tmux]\ncommand = \".llmc/run\"\n");
	e2e_git(origin, "add", "-f", ".llmc", NULL);
	e2e_git(origin, "commit", "-q", "-m", "Trap", NULL);
	e2e_git(root, "pull", "-q", NULL);
	e2e_has(e2e_read(config_in(root)), ".llmc/run");
	refused(root, "is tracked by git and has changed");
}

TEST(tracked_settings_are_accepted_as_they_are)
{
	const char *root = clone_of(make_trap(), "copy");

	e2e_expect(e2e_llmc(root, "init", NULL), 0, NULL);
	accepted(root);
	/* What the user changes through llmc is accepted too. */
	e2e_expect(
	    e2e_llmc(root, "config", "set", "auto.max_turns", "30", NULL), 0,
	    NULL);
	accepted(root);
	e2e_write(config_in(root), "[tmux]\ncommand = \"other\"\n");
	refused(root, "is tracked by git and has changed");
	e2e_has(e2e_llmc(root, "init", NULL)->out, "tmux.command = \"other\"");
	accepted(root);
}

TEST(untracked_settings_are_the_users_to_edit)
{
	const char *root = e2e_workspace("r");

	e2e_write(config_in(root), "[auto]\nmax_turns = 30\n");
	accepted(root);
}

static void
break_index(const char *root)
{
	e2e_write(e2e_path("%s/.git/index", root), "broken");
}

/* Nothing else could be repaired while git cannot answer. */
TEST(a_broken_index_forbids_nothing)
{
	const char *root = e2e_workspace("r");
	const char *copy = clone_of(make_trap(), "copy");

	break_index(root);
	accepted(root);
	e2e_expect(e2e_llmc(root, "status", NULL), 0, NULL);
	/* What was accepted is still known. */
	e2e_expect(e2e_llmc(copy, "init", NULL), 0, NULL);
	break_index(copy);
	accepted(copy);
	e2e_write(config_in(copy), "[tmux]\ncommand = \"other\"\n");
	refused(copy, "has changed");
}

TEST(a_root_without_a_mark_works_after_one_init)
{
	const char *root = e2e_workspace("r"), *before;

	before = e2e_read(config_in(root));
	ck_assert_int_eq(unlink(mark_in(root)), 0);
	refused(root, "run: llmc init");
	e2e_expect(e2e_llmc(root, "init", NULL), 0, NULL);
	accepted(root);
	ck_assert_str_eq(e2e_read(config_in(root)), before);
}

TEST(only_ones_own_mark_counts)
{
	const char *root = e2e_workspace("r"), *mark = mark_in(root);
	const char *other = e2e_path("%s/other", unit_scratch());

	ck_assert_int_eq(rename(mark, other), 0);
	ck_assert_int_eq(symlink(other, mark), 0);
	refused(root, "was not set up here");
	ck_assert_int_eq(unlink(mark), 0);
	ck_assert_int_eq(link(other, mark), 0);
	refused(root, "was not set up here");
	ck_assert_int_eq(unlink(other), 0);
	accepted(root);
	ck_assert_int_eq(chmod(mark, 0666), 0);
	refused(root, "was not set up here");
	ck_assert_int_eq(chmod(mark, 0600), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(mark, 65534, 65534), 0);
		refused(root, "was not set up here");
	}
	/* It is made anew, and what a link points to is left alone. */
	e2e_write(other, "mine\n");
	ck_assert_int_eq(unlink(mark), 0);
	ck_assert_int_eq(symlink(other, mark), 0);
	e2e_expect(e2e_llmc(root, "init", NULL), 0, NULL);
	accepted(root);
	ck_assert_str_eq(e2e_read(other), "mine\n");
}
