/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "check-place.h"
#include "child.h"
#include "git-facts.h"
#include "git-freeze.h"
#include "git-worktree.h"
#include "identity.h"
#include "overseer-private.h"
#include "people.h"
#include "place.h"
#include "settings.h"
#include "sibling.h"

#define NAMES_MAX 5 /* paths named in a sentence */

const char *
repair_branch(const struct repair *r)
{
	return settings_string(r->overseer->settings, "repo.default_branch");
}

void
repair_keep_place(const struct repair *r, struct git_salvage *ret_what)
{
	*ret_what = (struct git_salvage){
		.worker = "overseer",
		.branch = r->in_worktree ? REPAIR_BRANCH : repair_branch(r),
		.onto = repair_branch(r),
		.stamp = r->stamp,
	};
}

/* Not for a repair that has failed: a person hears of that anyway. */
static void
tell(const struct repair *r, const char *what, const char *why)
{
	struct overseer *o = r->overseer;

	console_say(o, CONSOLE_RED, "%s", why);
	if (r->outcome == REPAIR_COMPLETED)
		people_tell(o->people, o->settings,
		    &(struct notice){
			.class = NOTICE_CHECKOUT, .what = what, .why = why },
		    PEOPLE_SAVED);
}

/* Rather a repair without a copy than a fleet that stays down. */
static void
on_saved(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (err != NULL && r->head[0] != '\0') {
		cleanup_free char *words =
		    xasprintf("what is not committed in %s cannot be saved "
			      "before the repair: %s",
			r->cwd, err->msg);

		log_warnx("%s", words);
		tell(r, "uncommitted files cannot be saved before a repair",
		    words);
	} else if (err != NULL) {
		log_info("nothing of %s can be saved before the repair: %s",
		    r->cwd, err->msg);
	} else if (saved->ref[0] != '\0' && r->head[0] != '\0') {
		xstrset(&r->keep.ref, saved->ref);
	}
	operation_on_over(&r->op);
}

/* A repository that is too broken for that is a reason to repair it, not one to
 * stop. */
void
repair_keep_save(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	struct git_salvage what;

	if (r->in_worktree) {
		operation_next(op);
		return;
	}
	repair_keep_place(r, &what);
	what.leave = true;
	git_salvage(
	    r->overseer->git, r->cwd, &what, on_saved, operation_await(op));
}

static void
add_files(struct buf *words, const char *const *paths, size_t count,
    const char *became)
{
	bool one = count == 1;

	if (count == 0)
		return;
	buf_addf(words,
	    "%zu file%s that %s not committed ha%s been %s: ", count,
	    one ? "" : "s", one ? "was" : "were", one ? "s" : "ve", became);
	for (size_t i = 0; i < count && i < NAMES_MAX; i++) {
		buf_adds(words, i == 0 ? "" : ", ");
		text_add_visible(words, paths[i], strlen(paths[i]), false);
	}
	buf_adds(words, count > NAMES_MAX ? ", ...; " : "; ");
}

static void
on_compared(
    const struct git_compared *compared, const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (err != NULL || compared->lost_count + compared->changed_count > 0) {
		cleanup_buf struct buf words = BUF_INIT;

		/* In the user's checkout others write, too: editors, logs,
		 * databases. So a file that has changed is only reported; one
		 * that was thrown away is a failure. */
		if (compared != NULL && compared->lost_count > 0 &&
		    r->outcome == REPAIR_COMPLETED)
			r->outcome = REPAIR_FAILED;
		else if (r->words != NULL)
			buf_addf(&words, "%s; and ", r->words);
		if (compared == NULL) {
			buf_addf(&words,
			    "it is not known whether files that were not committed "
			    "have changed (%s); ",
			    err->msg);
		} else {
			add_files(&words, compared->lost, compared->lost_count,
			    "thrown away");
			add_files(&words, compared->changed,
			    compared->changed_count, "changed");
		}
		buf_addf(&words,
		    "as they were, they are kept as %s (see: llmc landing salvage show %s)",
		    r->keep.ref, r->keep.ref);
		xstrset(&r->words, words.data);
		tell(r, "uncommitted files have changed during a repair",
		    words.data);
	}
	operation_on_over(&r->op);
}

void
repair_keep_check(struct operation *op)
{
	struct repair *r = (struct repair *)op;

	if (r->keep.ref == NULL)
		operation_next(op);
	else
		git_compare(r->overseer->git, r->cwd, r->head, r->keep.ref,
		    on_compared, operation_await(op));
}

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

	buf_addf(&words, "it changes %s: ", what);
	text_add_names(&words, paths->v, paths->count, NAMES_MAX);
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
	else
		operation_on_over(&r->op);
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

	settings_list(settings, "repo.protected_paths", &what.protected_paths);
	git_freeze_look(r->overseer->git, r->onto, r->fix, &what, on_looked,
	    operation_await(op));
}

/* --- the check ------------------------------------------------------- */

static void
on_placed(const char *broken, const struct err *err, void *arg)
{
	struct repair *r = arg;

	if (broken != NULL)
		log_info("the check's worktree was moved to %s", broken);
	if (err != NULL)
		cannot_land(r, err->msg);
	else
		operation_on_over(&r->op);
}

/* Not one of the daemon's: a check that it began may still run there. */
void
repair_check_place(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	struct overseer *o = r->overseer;
	struct git_check_tree what = { .commit = r->fix };

	if (command_of(r)[0] == '\0') {
		operation_next(op);
		return;
	}
	r->check.place =
	    check_place_new(&(struct check_place_spec){ .loop = o->loop,
		.git = o->git,
		.workspace = &o->workspace,
		.settings = &o->settings,
		.name = "overseer",
		.index = PLACE_SLOTS });
	check_place_begin(
	    r->check.place, &what, true, on_placed, operation_await(op));
}

static void
on_checked(const struct child_result *result, void *arg)
{
	struct repair *r = arg;

	r->check.child = NULL;
	git_check_tree_tidy(
	    r->overseer->git, check_place_dir(r->check.place), r->fix);
	if (!child_succeeded(result) && !result->cancelled) {
		cleanup_buf struct buf words = BUF_INIT, output = BUF_INIT;
		const char *line;

		/* The end of what it printed says why, mostly. */
		buf_adds(&words, "auto.check_command ");
		child_result_describe(result, &words);
		child_output_text(&result->out, &output);
		while (output.len > 0 && output.data[output.len - 1] == '\n')
			buf_truncate(&output, output.len - 1);
		line = strrchr(output.data, '\n');
		line = line != NULL ? line + 1 : output.data;
		if (line[0] != '\0') {
			buf_adds(&words, ": ");
			text_add_visible(&words, line,
			    text_cut(line, strlen(line), 200), false);
		}
		cannot_land(r, words.data);
	} else if (operation_arrived(&r->op, NULL)) {
		operation_next(&r->op);
	}
}

void
repair_check_run(struct operation *op)
{
	struct repair *r = (struct repair *)op;
	const struct overseer *o = r->overseer;
	cleanup_free char *whose = identity_command(o->workspace.root);
	const char *const own[] = { "LLMC_CHECK_SLOT=0", whose, NULL };
	const char *const *place = NULL;
	cleanup_free char *command = NULL;
	cleanup_strv char **argv = NULL, **env = NULL;
	const char *const *box;
	struct child_spec spec = {
		.deadline_ms =
		    settings_duration(o->settings, "auto.check_timeout"),
		.merge_stderr = true,
	};
	struct err err = { 0 };

	if (r->check.place == NULL) {
		operation_next(op);
		return;
	}
	operation_await(op);
	if (check_place_box(r->check.place, &box, &place, &err) < 0) {
		cannot_land(r, err.msg);
		return;
	}
	command = box_shell(box, command_of(r));
	spec.cwd = check_place_dir(r->check.place);
	argv = kept_shell(command, 0);
	spec.argv = strv_const(argv);
	if (box == NULL)
		box_hide_env(o->settings, NULL, &env);
	strv_add_all(&env, place);
	strv_add_all(&env, own);
	spec.env = strv_const(env);
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
	check_place_free(r->check.place);
}
