/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "child.h"
#include "errtext.h"
#include "file.h"
#include "git-check-tree.h"
#include "git-freeze.h"
#include "identity.h"
#include "kept.h"
#include "mem.h"
#include "overseer.h"
#include "repair-check.h"
#include "repair.h"
#include "settings.h"
#include "setup.h"
#include "strv.h"
#include "text.h"

#define NAMES_MAX 5 /* paths named in a sentence */

static const char *
command_of(const struct repair *r)
{
	return settings_string(r->overseer->settings, "auto.check_command");
}

static void
cannot_land(struct repair *r, const char *why)
{
	cleanup_free char *words = xasprintf("the fix cannot land: %s", why);

	repair_failed(r, REPAIR_NO_FIX, words);
}

/* --- paths ----------------------------------------------------------- */

static void
refuse_paths(struct repair *r, const char *what, const struct git_list *paths)
{
	cleanup_buf struct buf words = BUF_INIT;

	buf_addf(&words, "it changes %s", what);
	for (size_t i = 0; i < paths->count && i < NAMES_MAX; i++) {
		buf_adds(&words, i == 0 ? ": " : ", ");
		text_add_visible(
		    &words, paths->v[i], strlen(paths->v[i]), false);
	}
	if (paths->count > NAMES_MAX)
		buf_addf(&words, " and %zu more", paths->count - NAMES_MAX);
	cannot_land(r, words.data);
}

static void
on_looked(const struct git_frozen *frozen, const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (err != NULL)
		cannot_land(r, err->msg);
	else if (frozen->forbidden.count > 0)
		refuse_paths(r, "paths that never land", &frozen->forbidden);
	else if (frozen->protected_paths.count > 0)
		refuse_paths(r, "protected paths, which a person must look at",
		    &frozen->protected_paths);
	else if (operation_arrived(&r->op, NULL))
		operation_next(&r->op);
}

void
repair_check_paths(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	const struct settings *settings = r->overseer->settings;
	const char *worktrees = settings_string(settings, "repo.worktree_dir");
	const char *const forbidden[] = { ".llmc",
		worktrees[0] != '/' ? worktrees : NULL, NULL };
	struct git_freeze what = { .forbidden = forbidden };

	settings_list(settings, "auto.protected_paths", &what.protected_paths);
	git_freeze_look(r->overseer->git, r->onto, r->fix, &what, on_looked,
	    operation_await(op));
}

/* --- the check ------------------------------------------------------- */

static void
on_placed(const struct git_checked_out *out, const struct err *err, void *arg)
{
	struct repair *r = arg;

	(void)out;
	if (err != NULL)
		cannot_land(r, err->msg);
	else if (operation_arrived(&r->op, NULL))
		operation_next(&r->op);
}

/* Not one of the daemon's: a check that it began may still run there. */
void
repair_check_place(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	struct git_check_tree what = { .commit = r->fix };

	if (command_of(r)[0] == '\0') {
		operation_next(op);
		return;
	}
	r->check.dir =
	    workspace_path(&r->overseer->workspace, "checks/overseer");
	git_check_tree_prepare(r->overseer->git, r->check.dir, &what, on_placed,
	    operation_await(op));
}

/* As that of the daemon's checks. */
static int
prepare_box(struct repair *r, struct err *err)
{
	const struct overseer *o = r->overseer;

	box_release(&r->check.box);
	return box_prepare(&(struct box_spec){ .kind = BOX_CHECK,
			       .workspace = &o->workspace,
			       .settings = o->settings,
			       .tree = r->check.dir },
	    &r->check.box, err);
}

static void
on_set_up(const struct err *err, void *arg)
{
	struct repair *r = arg;

	setup_free(take_ptr(&r->check.setup));
	if (err != NULL)
		cannot_land(r, err->msg);
	else if (operation_arrived(&r->op, NULL))
		operation_next(&r->op);
}

void
repair_check_setup(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	const struct overseer *o = r->overseer;
	cleanup_free char *folder = workspace_path(&o->workspace, "setup");
	cleanup_free char *stamp = file_join(folder, ".check-overseer");
	struct setup_spec spec = {
		.root = o->workspace.root,
		.worktree = r->check.dir,
		.stamp = stamp,
		.command = settings_string(o->settings, "repo.setup_command"),
		.timeout_ms =
		    settings_duration(o->settings, "repo.setup_timeout"),
	};
	struct err err = { 0 };

	settings_list(o->settings, "repo.copy_files", &spec.copy_files);
	if (r->check.dir == NULL ||
	    (spec.copy_files[0] == NULL && spec.command[0] == '\0') ||
	    file_mkdirs(folder, 0700, NULL) < 0) {
		operation_next(op);
		return;
	}
	unlink(stamp); /* what it made before is gone */
	if (prepare_box(r, &err) < 0) {
		operation_await(op);
		cannot_land(r, err.msg);
		return;
	}
	spec.box = strv_const(r->check.box.prefix);
	r->check.setup =
	    setup_begin(o->loop, &spec, on_set_up, operation_await(op));
}

/* The end of what it printed says why, mostly. */
static void
check_failed(struct repair *r, const struct child_result *result)
{
	cleanup_buf struct buf words = BUF_INIT, output = BUF_INIT;
	const char *line;

	buf_adds(&words, "auto.check_command ");
	child_result_describe(result, &words);
	child_output_text(&result->out, &output);
	while (output.len > 0 && output.data[output.len - 1] == '\n')
		buf_truncate(&output, output.len - 1);
	line = strrchr(output.data, '\n');
	line = line != NULL ? line + 1 : output.data;
	if (line[0] != '\0') {
		buf_adds(&words, ": ");
		text_add_visible(
		    &words, line, text_cut(line, strlen(line), 200), false);
	}
	cannot_land(r, words.data);
}

static void
on_checked(const struct child_result *result, void *arg)
{
	struct repair *r = arg;

	r->check.child = NULL;
	git_check_tree_tidy(r->overseer->git, r->check.dir, r->fix);
	if (!child_succeeded(result) && !result->cancelled)
		check_failed(r, result);
	else if (operation_arrived(&r->op, NULL))
		operation_next(&r->op);
}

void
repair_check_run(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	const struct overseer *o = r->overseer;
	cleanup_free char *whose = identity_command(o->workspace.root);
	const char *const env[] = { "LLMC_CHECK_SLOT=0", whose, NULL };
	cleanup_free char *command = NULL;
	cleanup_strv char **argv = NULL;
	struct child_spec spec = {
		.cwd = r->check.dir,
		.env = env,
		.deadline_ms =
		    settings_duration(o->settings, "auto.check_timeout"),
		.merge_stderr = true,
	};
	struct err err = { 0 };

	if (r->check.dir == NULL) {
		operation_next(op);
		return;
	}
	operation_await(op);
	if (prepare_box(r, &err) < 0) {
		cannot_land(r, err.msg);
		return;
	}
	command = box_shell(strv_const(r->check.box.prefix), command_of(r));
	argv = kept_shell(command, 0);
	spec.argv = strv_const(argv);
	if (child_spawn(o->loop, &spec, on_checked, r, &r->check.child, &err) <
	    0)
		cannot_land(r, err.msg);
}

void
repair_check_cancel(struct operation *op)
{
	struct repair *r = (struct repair *)op;

	if (r->check.child != NULL)
		child_cancel(r->check.child);
}

void
repair_check_release(struct repair *r)
{
	if (r->check.child != NULL)
		child_abandon(take_ptr(&r->check.child));
	setup_free(take_ptr(&r->check.setup));
	box_release(&r->check.box);
	free(r->check.dir);
}
