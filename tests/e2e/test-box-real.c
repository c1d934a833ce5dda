/* SPDX-License-Identifier: ISC */

/*
 * A worker in a box with the real Claude Code, in a home that has never seen
 * it: what its Bash and Write tools cannot do, and that it works as always.
 */
#include "escape-table.h"
#include "fleet.h"
#include "scenarios.h"

#define WORD "word-of-a-secret-7361"

static const char *outside;

static void
begin(void)
{
	fleet_begin_real();
	e2e_need_boxes("");
	fleet_do("config", "set", "defaults.sandbox", "worktree", NULL);
	fleet_do("config", "set", "defaults.sandbox_write", "[]", NULL);
	fleet_do("config", "set", "defaults.sandbox_read",
	    e2e_path("[\"%s\"]", e2e_dir("escapes")), NULL);
	fleet_up();
}

static const char *
line_of(const char *text)
{
	return e2e_path("%.*s", (int)strcspn(text, "\n"), text);
}

/* What the scripts of the table find in their environment; here it is the real
 * fleet, and the daemon is the process outside. */
static const char *
places(void)
{
	const char *root = fleet_root();

	return e2e_path(
	    "ROOT='%s' GIT='%s/.git' WORKTREE='%s' WORKER=adam SIBLING='%s' "
	    "OTHER=eve SECRET='%s/home/.secret' OUTSIDE='%s' WORD=" WORD
	    " COMMIT=%s OWN='%s/.llmc/run/adam' PROBE='%s' VICTIM=%d "
	    "TMUX_SOCKET='%s/tmux-%s/%s' ABSTRACT=%s DISK='' ARRIVED=/\n"
	    "export ROOT GIT WORKTREE WORKER SIBLING OTHER SECRET OUTSIDE WORD "
	    "COMMIT OWN PROBE VICTIM TMUX_SOCKET ABSTRACT DISK ARRIVED\n",
	    root, root, fleet_worktree("adam"), fleet_worktree("eve"),
	    unit_scratch(), outside,
	    line_of(e2e_git(root, "rev-parse", "llmc/eve", NULL)), root,
	    e2e_path("%s/escapes/probe", unit_scratch()), fleet_daemon_pid(),
	    unit_scratch(), line_of(e2e_sh(NULL, "id -u")->out),
	    line_of(fleet_do("config", "get", "tmux.socket", NULL)->out),
	    strrchr(unit_scratch(), '/') + 1);
}

/* Secrets, and a sibling with work of its own. */
static void
set_scene(void)
{
	if (strncmp(unit_scratch(), "/tmp/", 5) != 0)
		unit_skip("the scratch folder is not below /tmp");
	outside = e2e_dir("outside");
	e2e_write(e2e_path("%s/private", outside), WORD "\n");
	e2e_write(e2e_path("%s/home/.secret", unit_scratch()), WORD "\n");
	e2e_write(e2e_path("%s/home/.profile", unit_scratch()), "\n");
	e2e_write(e2e_path("%s/private", fleet_root()), WORD "\n");
	e2e_sh(fleet_root(), "git repack -q");
	fleet_add("eve");
	fleet_start("eve", "fake: commit " WORD ".txt " WORD);
	fleet_wait("eve", "needs_review");
	e2e_write(e2e_path("%s/private", fleet_worktree("eve")), WORD "\n");
	fleet_add("adam");
}

/* The network is open in this mode; what a deputy does is tested apart. */
static bool
is_tried(const struct escape *escape)
{
	return (escape->modes & ESCAPE_WORKTREE) != 0 && escape->deputy == NULL;
}

/* A script for each row, and one that runs them all. */
static void
write_scripts(const char *dir)
{
	for (size_t i = 0; i < escape_count(); i++)
		if (is_tried(&escape_table[i]))
			e2e_write(e2e_path("%s/%s.sh", dir, escape_table[i].id),
			    e2e_path("%scd \"$WORKTREE\"\n%s\n", places(),
				escape_table[i].script));
	e2e_write(e2e_path("%s/all", dir),
	    "mkdir tried\n"
	    "for f in \"${0%/*}\"/*.sh; do\n"
	    "	timeout 10 sh \"$f\" >/dev/null 2>&1\n"
	    "	echo $? >\"tried/${f##*/}\"\n"
	    "done\n");
}

/* At a socket of the daemon, a call that is taken is enough. */
static const char *
look_of(const struct escape *escape)
{
	return strstr(escape->look, "ARRIVED") != NULL ? "true" : escape->look;
}

START_TEST(the_bash_tool_cannot_get_out)
{
	const char *dir;
	int tried = 0;

	set_scene();
	dir = e2e_path("%s/tried", fleet_worktree("adam"));
	write_scripts(e2e_dir("escapes"));
	e2e_sh(NULL, "cp \"$ESCAPES\" escapes/probe");
	fleet_start("adam",
	    e2e_path(
		"fake: run sh '%s/all'\nfake: say done", e2e_dir("escapes")));
	fleet_wait("adam", "no_changes,needs_review");
	for (size_t i = 0; i < escape_count(); i++) {
		const struct escape *escape = &escape_table[i];
		bool ran, seen;

		if (!is_tried(escape))
			continue;
		ran = strcmp(e2e_read(e2e_path("%s/%s.sh", dir, escape->id)),
			  "0\n") == 0;
		seen = e2e_sh(NULL, e2e_path("%s%s", places(), look_of(escape)))
			   ->status == 0;
		ck_assert_msg(!ran || !seen, "escaped: %s", escape->id);
		tried++;
	}
	ck_assert_int_ge(tried, 50);
	/* The others go on as before. */
	e2e_sh(fleet_worktree("eve"), "rm private");
	fleet_do("accept", "eve", NULL);
	fleet_wait("eve", "idle");
}
END_TEST

START_TEST(the_write_tool_cannot_get_out)
{
	const char *forbidden[] = {
		e2e_path("%s/home/escaped", unit_scratch()),
		e2e_path("%s/escaped", fleet_root()),
		e2e_path("%s/.llmc/escaped", fleet_root()),
		e2e_path("%s/.git/hooks/post-merge", fleet_root()),
		e2e_path("%s/.worktrees/eve/escaped", fleet_root()),
		e2e_path("%s/outside/escaped", unit_scratch()),
	};
	const char *steps = "";

	set_scene();
	for (size_t i = 0; i < nitems(forbidden); i++)
		steps = e2e_path("%sfake: file %s\n", steps, forbidden[i]);
	fleet_start("adam",
	    e2e_path("%sfake: file %s/written\nfake: say done", steps,
		fleet_worktree("adam")));
	fleet_wait("adam", "no_changes,needs_review");
	/* The tool itself works. */
	e2e_has(e2e_read(e2e_path("%s/written", fleet_worktree("adam"))),
	    "escaped");
	for (size_t i = 0; i < nitems(forbidden); i++)
		ck_assert_msg(!e2e_exists(forbidden[i]), "%s", forbidden[i]);
}
END_TEST

/* The daemon looks at the worktree at the end of every turn, and rebases at a
 * landing: what is planted there must not run outside. */
START_TEST(the_daemon_is_no_deputy)
{
	const char *main_before;

	set_scene();
	main_before = e2e_git(fleet_root(), "rev-parse", "main", NULL);
	e2e_write(e2e_path("%s/deputies", e2e_dir("escapes")),
	    e2e_path("%s%s", places(),
		"evil='echo escaped >\"'\"$HOME\"'/escaped\"; echo escaped "
		">\"'\"$OUTSIDE\"'/escaped\"; cat'\n"
		"git config filter.evil.clean \"$evil\"\n"
		"git config --file \"$GIT/worktrees/adam/config.worktree\" "
		"filter.evil.clean \"$evil\"\n"
		"echo '* filter=evil' >.gitattributes\n"
		"echo 'ref: refs/heads/main' >\"$(git rev-parse --git-path "
		"HEAD)\"\n"
		"mkdir -p \"$(git rev-parse --git-path rebase-merge)\"\n"
		"echo \"exec $evil\" >\"$(git rev-parse --git-path "
		"rebase-merge/git-rebase-todo)\"\n"
		"touch -d 2001-01-01 README\n"
		"touch planted\n"));
	fleet_start("adam",
	    e2e_path("fake: run sh '%s/deputies'\nfake: run git commit -q "
		     "--allow-empty -m 'A commit on main'",
		e2e_dir("escapes")));
	fleet_wait("adam", "no_changes,needs_review,error,paused");
	ck_assert(e2e_exists(e2e_path("%s/planted", fleet_worktree("adam"))));
	e2e_llmc(fleet_root(), "review", "adam", NULL);
	e2e_llmc(fleet_root(), "accept", "adam", NULL);
	e2e_llmc(fleet_root(), "reset", "adam", "--yes", NULL);
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "rev-parse", "main", NULL), main_before);
	ck_assert(!e2e_exists(e2e_path("%s/home/escaped", unit_scratch())));
	ck_assert(!e2e_exists(e2e_path("%s/escaped", outside)));
}
END_TEST

START_TEST(three_tasks_in_a_row_land_from_one_box)
{
	int agent;

	fleet_add("adam");
	agent = fleet_agent_pid("adam");
	for (int i = 0; i < 3; i++) {
		fleet_start(
		    "adam", e2e_path("fake: commit %d.txt task %d", i, i));
		fleet_wait("adam", "needs_review");
		fleet_do("accept", "adam", NULL);
		fleet_wait("adam", "idle");
		ck_assert_int_eq(fleet_commits(), i + 2);
		e2e_has(fleet_log(), e2e_path("%d.txt: task %d", i, i));
		ck_assert_int_eq(fleet_agent_pid("adam"), agent);
	}
	/* Nothing of Claude Code came into the user's home. */
	ck_assert(!e2e_exists(e2e_path("%s/home/.claude", unit_scratch())));
}
END_TEST

START_TEST(a_restarted_daemon_and_a_killed_agent_go_on)
{
	int agent, daemon;

	fleet_add("adam");
	agent = fleet_agent_pid("adam");
	fleet_start("adam",
	    "fake: commit a.txt a\nfake: sleep 3000\nfake: commit b.txt b");
	fleet_wait_written("adam", "a.txt");
	daemon = fleet_daemon_pid();
	fleet_kill(daemon);
	fleet_up();
	fleet_wait("adam", "needs_review");
	ck_assert_int_eq(fleet_agent_pid("adam"), agent);
	fleet_do("accept", "adam", NULL);
	fleet_wait("adam", "idle");
	fleet_start("adam", "fake: commit c.txt c\nfake: hang");
	fleet_wait_written("adam", "c.txt");
	fleet_kill(fleet_agent_pid("adam"));
	fleet_next_agent_pid("adam", agent);
	fleet_wait("adam", "needs_review,idle,working");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("box-real");
	scenarios_add_test(s, begin, the_bash_tool_cannot_get_out);
	scenarios_add_test(s, begin, the_write_tool_cannot_get_out);
	scenarios_add_test(s, begin, the_daemon_is_no_deputy);
	scenarios_add_test(s, begin, three_tasks_in_a_row_land_from_one_box);
	scenarios_add_test(
	    s, begin, a_restarted_daemon_and_a_killed_agent_go_on);
	return s;
}
