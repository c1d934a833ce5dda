/* SPDX-License-Identifier: ISC */

/*
 * llmc doctor --sandbox: every escape of the table must fail in a box and
 * succeed without one. A row that does not succeed without one is named, and
 * left out. Where there can be no box, the words say why.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "e2e.h"

/* What needs root, a device or a kernel option. */
static const char *const unsure[] = { "cgroup", "core-pattern", "disk",
	"enter-process", "kmsg", "mknod", "remount", "sysrq", "system-write",
	"tmux", "tmux-elsewhere", "tmux-real", "session-keyring",
	"user-keyring", "unmount", "direct", NULL };

static const char *
word_of(struct json_object *json, const char *key)
{
	return json_string_or(json, key, "");
}

static struct json_object *
find(struct json_object *json, const char *name)
{
	struct json_object *checks = json_object_object_get(json, "checks");

	for (size_t i = 0; i < json_object_array_length(checks); i++) {
		struct json_object *check =
		    json_object_array_get_idx(checks, i);

		if (strcmp(word_of(check, "name"), name) == 0)
			return check;
	}
	ck_abort_msg("there is no check %s", name);
	return NULL;
}

/* Is there a box on this machine at all? */
static void
need_box(struct json_object *json)
{
	struct json_object *box = find(json, "box");

	if (strcmp(word_of(box, "status"), "ok") != 0)
		unit_skip(e2e_path(
		    "no sandbox here: %s", e2e_shown(word_of(box, "detail"))));
}

static void
check_row(struct json_object *row)
{
	const char *id = word_of(row, "id"), *verdict = word_of(row, "verdict");
	bool is_unsure = false;

	for (size_t i = 0; unsure[i] != NULL; i++)
		is_unsure = is_unsure || strcmp(unsure[i], id) == 0;
	ck_assert_msg(strcmp(verdict, "not_held") != 0,
	    "escaped from the box: %s (%s)", id, word_of(row, "words"));
	if (strcmp(verdict, "held") == 0)
		return;
	ck_assert_msg(is_unsure, "fails without a box too: %s", id);
	printf("# no evidence on this machine: %s\n", id);
}

static void
check_table(const struct e2e_run *run, const char *mode)
{
	struct json_object *json = NULL, *sandbox = NULL, *escapes = NULL;
	size_t count;

	if (run->status != 0)
		need_box(e2e_json(run, 1));
	json = e2e_json(run, 0);
	ck_assert(json_get_object(json, "", "sandbox", &sandbox, NULL) == 0);
	ck_assert_str_eq(word_of(sandbox, "mode"), mode);
	escapes = json_object_object_get(sandbox, "escapes");
	count = json_object_array_length(escapes);
	ck_assert_uint_ge(count, 50);
	for (size_t i = 0; i < count; i++)
		check_row(json_object_array_get_idx(escapes, i));
	ck_assert_int_eq(json_int_or(sandbox, "not_held", -1), 0);
}

static const char *
left_behind(void)
{
	return e2e_sh(NULL, "find tmp home -mindepth 1 | head")->out;
}

static void
begin(void)
{
	e2e_dir("home");
	e2e_env(e2e_path("TMPDIR=%s", e2e_dir("tmp")));
}

static bool
has_verdict(struct json_object *json, const char *id, const char *verdict)
{
	struct json_object *escapes = json_object_object_get(
	    json_object_object_get(json, "sandbox"), "escapes");

	for (size_t i = 0; i < json_object_array_length(escapes); i++) {
		struct json_object *row = json_object_array_get_idx(escapes, i);

		if (strcmp(word_of(row, "id"), id) == 0)
			return strcmp(word_of(row, "verdict"), verdict) == 0;
	}
	ck_abort_msg("there is no escape %s", id);
	return false;
}

/* Doctor in a repository with a tmux server of its own, whose socket is in a
 * place that is neither temporary nor somebody's home. */
static void
try_with_tmux(const char *mode)
{
	struct e2e_run *run = e2e_sh(e2e_workspace("repository"),
	    e2e_path("D=$(mktemp -d \"${LLMC%%/*}/tmux-XXXXXX\") || exit\n"
		     "export TMUX_TMPDIR=\"$D\"\n"
		     "S=$(\"$LLMC\" config get tmux.socket)\n"
		     "tmux -L \"$S\" -f /dev/null new-session -d\n"
		     "\"$LLMC\" --json doctor --sandbox --mode %s\n"
		     "r=$?; tmux -L \"$S\" kill-server; rm -rf \"$D\"; exit $r",
		mode));

	run->json_of = "doctor";
	check_table(run, mode);
	ck_assert(has_verdict(e2e_json(run, 0), "tmux-real", "held"));
	ck_assert_str_eq(left_behind(), "");
}

START_TEST(each_escape_fails_in_a_worktree_box_only)
{
	try_with_tmux("worktree");
}
END_TEST

START_TEST(each_escape_fails_in_a_strict_box_only)
{
	try_with_tmux("strict");
}
END_TEST

START_TEST(each_escape_of_an_ordinary_user_fails)
{
	const char *dir;
	struct e2e_run *run;

	if (geteuid() != 0)
		unit_skip("this is an ordinary user");
	dir = e2e_dir("nobody");
	e2e_sh(dir, "chown 65534:65534 . && chmod 755 ..");
	run = e2e_sh(dir,
	    "exec setpriv --reuid=65534 --regid=65534 --clear-groups "
	    "test -x \"$LLMC\"");
	if (run->status != 0)
		unit_skip("other users cannot run this build");
	run = e2e_sh(dir,
	    "HOME=$PWD TMPDIR=$PWD exec setpriv --reuid=65534 --regid=65534 "
	    "--clear-groups \"$LLMC\" --json doctor --sandbox");
	run->json_of = "doctor";
	check_table(run, "worktree");
	ck_assert_str_eq(e2e_sh(dir, "find . -mindepth 1")->out, "");
}
END_TEST

/* What the settings open is not held, and is not hidden. */
START_TEST(what_the_settings_open_is_told)
{
	const char *root = e2e_workspace("a repository");
	struct e2e_run *run;

	e2e_expect(e2e_llmc(root, "config", "set", "defaults.sandbox_write",
		       "[\"/dev/shm\"]", NULL),
	    0, NULL);
	run = e2e_llmc(root, "doctor", "--sandbox", NULL);
	if (strstr(run->out, "ok    box") == NULL)
		unit_skip("no sandbox here");
	ck_assert_int_eq(run->status, 1);
	e2e_has(run->out, "NOT held     files      shm-write");
	e2e_has(run->out, "1 NOT held");
	e2e_has(run->out, "1 failed");
}
END_TEST

/* A program that is a link to a place that a box does not see, and an agent
 * that needs one. */
START_TEST(a_program_that_needs_more_is_named_with_the_setting)
{
	const char *root = e2e_workspace("a repository");
	struct e2e_run *run;

	run = e2e_sh(root,
	    "D=$(mktemp -d \"${LLMC%/*}/tools-XXXXXX\") || exit\n"
	    "mkdir \"$D/bin\" \"$D/cellar\"\n"
	    "cp /bin/true \"$D/cellar/brewed\"\n"
	    "ln -s ../cellar/brewed \"$D/bin/brewed\"\n"
	    "printf '#!/bin/sh\\nexec \"%s\" \"$@\"\\n' "
	    "\"$D/cellar/brewed\" >\"$D/bin/agent\"\n"
	    "chmod +x \"$D/bin/agent\"\n"
	    "\"$LLMC\" config set defaults.agent_command \"$D/bin/agent\"\n"
	    "PATH=$PATH:$D/bin \"$LLMC\" doctor --sandbox\n"
	    "\"$LLMC\" config set defaults.sandbox_read "
	    "\"[\\\"$D/cellar\\\"]\"\n"
	    "echo AGAIN; PATH=$PATH:$D/bin \"$LLMC\" doctor --sandbox\n"
	    "r=$?; rm -rf \"$D\"; exit $r");
	if (strstr(run->out, "ok    box") == NULL)
		unit_skip("no sandbox here");
	e2e_has(run->out, "/bin/brewed is in ");
	e2e_has(run->out, "/bin/agent does not start in a sandbox: ");
	e2e_has(run->out, "llmc config set defaults.sandbox_read '[\"");
	ck_assert_int_eq(run->status, 0);
	e2e_lacks(strstr(run->out, "AGAIN"), "which a sandbox does not see");
	e2e_lacks(strstr(run->out, "AGAIN"), "does not start");
}
END_TEST

START_TEST(without_bubblewrap_it_says_what_to_install)
{
	const char *bin = e2e_dir("bin");
	struct json_object *json;

	e2e_expect(
	    e2e_sh(bin,
		"for p in sh git env mkdir rm cp mv cat tail tr kill sleep "
		"setsid chmod printf tmux find true; do "
		"ln -s \"$(command -v $p)\" $p; done 2>/dev/null; rm -f bwrap"),
	    0, NULL);
	e2e_env(e2e_path("PATH=%s", bin));
	json =
	    e2e_json(e2e_llmc(NULL, "--json", "doctor", "--sandbox", NULL), 1);
	ck_assert_str_eq(word_of(find(json, "bubblewrap"), "status"), "fail");
	e2e_has(word_of(find(json, "bubblewrap"), "fix"),
	    "apt-get install bubblewrap");
	ck_assert_ptr_null(json_object_object_get(json, "sandbox"));
	ck_assert_str_eq(left_behind(), "");
}
END_TEST

/* As a machine would answer that does not allow it. */
static const struct {
	const char *message, *cause, *fix;
} refusals[] = {
	{ "Creating new namespace failed, likely because the kernel does not "
	  "support user namespaces: No space left on device",
	    "user namespaces are switched off",
	    "user.max_user_namespaces=15000" },
	{ "Can't mount proc on /newroot/proc: Operation not permitted",
	    "this container hides parts of /proc", "systempaths=unconfined" },
	{ "setting up uid map: Permission denied", "AppArmor",
	    "apparmor_restrict_unprivileged_userns=0" },
};

START_TEST(a_refusal_of_bubblewrap_is_explained)
{
	const char *bwrap = e2e_path("%s/bwrap", e2e_dir("bin"));
	struct json_object *json;

	e2e_script(bwrap,
	    e2e_path("#!/bin/sh\n[ \"$1\" != --version ] || "
		     "exec echo bubblewrap 0.8.0\n"
		     "echo \"bwrap: %s\" >&2\nexit 1\n",
		refusals[_i].message));
	e2e_env(e2e_path("LLMC_BWRAP=%s", bwrap));
	json =
	    e2e_json(e2e_llmc(NULL, "--json", "doctor", "--sandbox", NULL), 1);
	e2e_has(word_of(find(json, "box"), "detail"), refusals[_i].cause);
	e2e_has(word_of(find(json, "box"), "detail"), refusals[_i].message);
	e2e_has(word_of(find(json, "box"), "fix"), refusals[_i].fix);
	ck_assert_ptr_null(json_object_object_get(json, "sandbox"));
	ck_assert_str_eq(left_behind(), "");
}
END_TEST

START_TEST(a_mode_must_be_one)
{
	e2e_expect(e2e_llmc(NULL, "doctor", "--sandbox", "--mode", "off", NULL),
	    2, "--mode is worktree or strict, not off");
	e2e_expect(e2e_llmc(NULL, "doctor", "--mode", "strict", NULL), 2,
	    "--mode needs --sandbox");
}
END_TEST

START_TEST(a_doctor_that_is_killed_leaves_nothing_behind)
{
	int64_t end = clock_mono_ms() + 20000;

	e2e_sh(NULL,
	    "\"$LLMC\" doctor --sandbox >/dev/null 2>&1 & "
	    "until [ -n \"$(find tmp -name victim)\" ]; do sleep 0.05; done; "
	    "kill -KILL $!; wait $! 2>/dev/null; true");
	while (left_behind()[0] != '\0') {
		ck_assert_msg(clock_mono_ms() < end, "still there: %s",
		    e2e_shown(left_behind()));
		poll(NULL, 0, 50); /* a process that nobody waits for */
	}
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("doctor-box");
	const TTest *const *all =
	    (const TTest *const[]){ each_escape_fails_in_a_worktree_box_only,
		    each_escape_fails_in_a_strict_box_only,
		    each_escape_of_an_ordinary_user_fails,
		    what_the_settings_open_is_told,
		    a_program_that_needs_more_is_named_with_the_setting,
		    without_bubblewrap_it_says_what_to_install,
		    a_mode_must_be_one,
		    a_doctor_that_is_killed_leaves_nothing_behind, NULL };
	TCase *c;

	for (size_t i = 0; all[i] != NULL; i++) {
		c = tcase_create(all[i]->name);
		tcase_set_timeout(c, 120);
		tcase_add_checked_fixture(c, begin, NULL);
		tcase_add_test(c, all[i]);
		suite_add_tcase(s, c);
	}
	c = tcase_create("refusals");
	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, begin, NULL);
	tcase_add_loop_test(c, a_refusal_of_bubblewrap_is_explained, 0, 3);
	suite_add_tcase(s, c);
	return s;
}
