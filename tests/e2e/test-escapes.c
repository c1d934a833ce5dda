/* SPDX-License-Identifier: ISC */

/*
 * Every escape of the table must fail in a box and succeed without one. A row
 * that does not succeed without one is named, and left out. And what llmc
 * doctor --sandbox says about boxes on this machine.
 */

#include "e2e.h"

/* What needs root, a device or a kernel option. */
static const char *const unsure[] = { "cgroup", "core-pattern", "disk",
	"enter-process", "kmsg", "mknod", "remount", "sysrq", "system-write",
	"tmux", "tmux-elsewhere", "tmux-real", "session-keyring",
	"user-keyring", "unmount", "direct",
	/* Those of the kernel that only root may ask for, or that not every
	 * kernel has. */
	"call-bpf", "call-fsmount", "call-fsopen", "call-fspick",
	"call-io_uring_enter", "call-io_uring_register", "call-io_uring_setup",
	"call-move_mount", "call-pivot_root", "call-userfaultfd", "call-vsock",
	"call-x32",
#ifndef __x86_64__
	"init-escape",
#endif
	NULL };

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

static void
check_row(struct json_object *row)
{
	const char *id = word_of(row, "id"), *verdict = word_of(row, "verdict");
	/* Not every kernel runs programs of 32 bits. */
	bool is_unsure = strncmp(id, "i386-", 5) == 0;

	for (size_t i = 0; unsure[i] != NULL; i++)
		is_unsure = is_unsure || strcmp(unsure[i], id) == 0;
	ck_assert_msg(strcmp(verdict, "not_held") != 0,
	    "escaped from the box: %s (%s)", id, word_of(row, "words"));
	if (strcmp(verdict, "held") == 0)
		return;
	ck_assert_msg(is_unsure, "fails without a box too: %s", id);
	printf("# no evidence on this machine: %s\n", id);
}

/* The rows that a run of tests/tools/escapes.c printed; the caller puts what
 * they are in. */
static struct json_object *
rows_of(const struct e2e_run *run, struct json_object **ret_json)
{
	*ret_json = json_tokener_parse(run->out);
	ck_assert_msg(*ret_json != NULL, "%s", e2e_shown(run->err));
	if (json_object_object_get(*ret_json, "no_box") != NULL)
		unit_skip(e2e_path("no sandbox here: %s",
		    e2e_shown(word_of(*ret_json, "no_box"))));
	ck_assert_msg(run->status == 0, "%s", e2e_shown(run->err));
	return json_object_object_get(*ret_json, "escapes");
}

static const char *
verdict_of(struct json_object *rows, const char *id)
{
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (strcmp(word_of(row, "id"), id) == 0)
			return word_of(row, "verdict");
	}
	return "";
}

static void
check_all(struct json_object *rows)
{
	size_t count = json_object_array_length(rows);

	ck_assert_uint_ge(count, 50);
	for (size_t i = 0; i < count; i++)
		check_row(json_object_array_get_idx(rows, i));
}

static const char *
left_behind(void)
{
	return e2e_sh(NULL, "find tmp home -mindepth 1 | head")->out;
}

const int unit_timeout = 120; /* seconds, each */

void
unit_before(void)
{
	e2e_dir("home");
	e2e_env(e2e_path("TMPDIR=%s", e2e_dir("tmp")));
}

static const char *const modes[] = { "worktree", "strict" };

/* The boxes of what llmc runs beside the agents, for the rows that hold in
 * every box. */
static const char *const kinds[] = { "worktree:check", "worktree:setup",
	"worktree:repair", "strict:check", "strict:setup", "strict:repair" };

/* As root and as a user, each with a bwrap file of their own: those that a
 * program in a box could write. */
static const char *const as_user[] = { "worktree", "strict", "worktree:check",
	"strict:setup" };

/* Beside a tmux server, whose socket is in a folder that every box of this test
 * is given, and no other: a box covers the sockets that it would show, and
 * those of other tests come and go. */
static void
try_mode(const char *mode)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *rows;

	e2e_need_boxes("");
	rows = rows_of(
	    e2e_sh(e2e_dir("given"),
		e2e_path("export TMUX_REAL=\"$PWD/s\"\n"
			 "tmux -S \"$TMUX_REAL\" -f /dev/null new-session -d\n"
			 "PATH=$SIBLINGS:$PWD:$PATH \"$ESCAPES\" %s\n"
			 "r=$?; tmux -S \"$TMUX_REAL\" kill-server; exit $r",
		    mode)),
	    &json);
	check_all(rows);
	ck_assert_str_eq(verdict_of(rows, "tmux-real"), "held");
	ck_assert_str_eq(left_behind(), "");
}

TEST_ROWS(each_escape_fails_in_a_box_only, nitems(modes))
{
	try_mode(modes[_i]);
}

/* As where there can be no clone. */
TEST(each_escape_fails_in_a_linked_worktree_only)
{
	try_mode("linked");
}

TEST_ROWS(no_other_kind_of_box_leads_out, nitems(kinds))
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *rows;

	e2e_need_boxes("");
	rows = rows_of(
	    e2e_sh(NULL,
		e2e_path("PATH=$SIBLINGS:$PATH \"$ESCAPES\" %s", kinds[_i])),
	    &json);
	check_all(rows);
	ck_assert_str_eq(verdict_of(rows, "call-ptrace"), "held");
	ck_assert_str_eq(left_behind(), "");
}

TEST_ROWS(each_escape_of_an_ordinary_user_fails, nitems(as_user))
{
	cleanup_json struct json_object *json = NULL;
	const char *dir;
	struct e2e_run *run;

	e2e_need_boxes("");
	if (geteuid() != 0)
		unit_skip("this is an ordinary user");
	dir = e2e_dir("nobody");
	e2e_sh(dir, "chown 65534:65534 . && chmod 755 ..");
	run = e2e_sh(dir,
	    "exec setpriv --reuid=65534 --regid=65534 --clear-groups "
	    "test -x \"$LLMC\" -a -x \"$ESCAPES\"");
	if (run->status != 0)
		unit_skip("other users cannot run this build");
	check_all(rows_of(
	    e2e_sh(dir,
		e2e_path("HOME=$PWD TMPDIR=$PWD PATH=$SIBLINGS:$PATH exec "
			 "setpriv --reuid=65534 --regid=65534 --clear-groups "
			 "\"$ESCAPES\" %s",
		    as_user[_i])),
	    &json));
	ck_assert_str_eq(e2e_sh(dir, "find . -mindepth 1")->out, "");
}

/* The table can fail. Not with /dev/shm: the box covers the sockets in there,
 * and other tests make and remove theirs. */
TEST(what_the_settings_open_is_not_held)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *rows;

	e2e_need_boxes("");
	rows = rows_of(e2e_sh(NULL,
			   "PATH=$SIBLINGS:$PATH \"$ESCAPES\" worktree "
			   "'sandbox_write = [\"/tmp\"]'"),
	    &json);
	ck_assert_str_eq(verdict_of(rows, "tmp-write"), "not_held");
}

/* A program that is a link to a place that a box does not see, and an agent
 * that needs one. */
TEST(a_program_that_needs_more_is_named_with_the_setting)
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

TEST(without_bubblewrap_it_says_what_to_install)
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
	ck_assert_str_eq(left_behind(), "");
}

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

TEST_ROWS(a_refusal_of_bubblewrap_is_explained, nitems(refusals))
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
	ck_assert_str_eq(left_behind(), "");
}

TEST(a_mode_must_be_one)
{
	e2e_expect(e2e_llmc(NULL, "doctor", "--sandbox", "--mode", "off", NULL),
	    2, "--mode is worktree or strict, not off");
	e2e_expect(e2e_llmc(NULL, "doctor", "--mode", "strict", NULL), 2,
	    "--mode needs --sandbox");
}
