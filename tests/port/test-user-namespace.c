/* SPDX-License-Identifier: ISC */

/* The setting user_namespace, in the session of an ordinary user: do the files
 * of root belong to root there (ssh), and can a program become root (sudo)? */
#include "claude-world.h"
#include "orphans.h"

#define ANYBODY 12345

#define AGENT                                                        \
	"#!/bin/sh\n"                                                \
	"stat -c 'owner %u' /etc/passwd; grep NoNewPrivs /proc/self" \
	"/status\n"

/* What the settings make of a session of an ordinary user. */
struct seen {
	struct buf out;
	char mode[32];
};

/* The files are written, and the pane is run, by that user. */
static void
run(const char *line, struct seen *seen)
{
	cleanup_free char *agent = xstrdup(unit_path("agent"));
	cleanup_free char *config =
	    xasprintf("[defaults]\nagent_command = \"%s\"\n%s\n", agent, line);
	bool root = geteuid() == 0;
	cleanup_free char *launcher = NULL, *record = NULL;
	cleanup_json struct json_object *json = NULL;
	cleanup_child_result struct child_result result;
	const char *argv[] = { "setpriv", "--reuid=12345", "--regid=12345",
		"--clear-groups", getenv("LLMC_BIN"), "pane", NULL, NULL };
	struct child_spec spec = {
		.argv = root ? argv : &argv[4], .cwd = "/", .deadline_ms = 30000
	};
	struct err err = { 0 };

	ck_assert_int_eq(chmod(unit_scratch(), 0777), 0);
	ck_assert_int_eq(
	    file_replace(agent, AGENT, strlen(AGENT), 0755, NULL), 0);
	if (root)
		ck_assert_int_eq(seteuid(ANYBODY), 0);
	if (faccessat(AT_FDCWD, getenv("LLMC_BIN"), X_OK, AT_EACCESS) == -1)
		unit_skip("another user cannot run llmc here");
	claude_world_begin(config);
	argv[6] = launcher = claude_world_prepare();
	if (root)
		ck_assert_int_eq(seteuid(0), 0);
	ck_assert_msg(child_run(&spec, &result, &err) == 0, "%s", err.msg);
	buf_init(&seen->out);
	child_output_text(&result.out, &seen->out);
	record = orphans_record(&w.workspace, "ann");
	ck_assert_msg(json_load(record, 8192, &json, &err) == 0, "%s", err.msg);
	snprintf(seen->mode, sizeof seen->mode, "%s",
	    json_string_or(json, "mode", ""));
}

TEST(by_default_files_of_root_are_not_roots_there)
{
	struct seen seen;

	run("", &seen);
	if (strcmp(seen.mode, "namespace") != 0)
		unit_skip("no user namespaces here");
	ck_assert_msg(
	    strstr(seen.out.data, "owner 0\n") == NULL, "%s", seen.out.data);
	buf_release(&seen.out);
}

TEST(without_it_a_session_is_kept_as_commands_are)
{
	struct seen seen;

	run("user_namespace = false", &seen);
	ck_assert_str_ne(seen.mode, "namespace");
	ck_assert_str_ne(seen.mode, "scope");
	ck_assert_msg(
	    strstr(seen.out.data, "owner 0\nNoNewPrivs:\t0\n") != NULL, "%s",
	    seen.out.data);
	buf_release(&seen.out);
}

TEST(a_worker_has_its_own_setting)
{
	struct seen seen;

	run("[workers.ann]\nuser_namespace = false", &seen);
	ck_assert_str_ne(seen.mode, "namespace");
	buf_release(&seen.out);
}
