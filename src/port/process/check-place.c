/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "box.h"
#include "box-plan.h"
#include "check-place.h"
#include "child.h"
#include "loop.h"
#include "remove-tree.h"
#include "settings.h"
#include "setup.h"
#include "workplace.h"
#include "workspace.h"

#define CLEAR_MS (10 * 60 * 1000)

struct check_place {
	struct loop *loop;
	struct git *git;
	const struct workspace *workspace;
	struct settings *const *settings;
	bool keeps;
	char *dir; /* the worktree */
	char *stamp; /* of its setup */
	/* What that made (git_check_tree_keep); and the same until the check
	 * has passed. */
	char *kept, *made;
	char *broken;
	int index;
	struct box box;
	struct workplace workplace;

	/* While it is being made. */
	struct git_check_tree what;
	bool afresh;
	bool renewed; /* moved aside once */
	bool cancelled;
	struct setup *setup; /* while it runs */
	struct child *clear; /* likewise */
	struct loop_timer *timer; /* tells that it was cancelled */
	check_place_fn *fn;
	void *arg;
};

static void
tell(struct check_place *place, const struct err *err)
{
	place->fn(place->renewed ? place->broken : NULL, err, place->arg);
}

static void
tell_cancelled(void *arg)
{
	struct check_place *place = arg;
	struct err err;

	loop_timer_free(take_ptr(&place->timer));
	err_set(&err, -ECANCELED, "the check was cancelled");
	tell(place, &err);
}

/* False: there is nothing to do. */
static bool
describe_setup(const struct check_place *place, struct setup_spec *ret_spec)
{
	const struct settings *settings = *place->settings;

	*ret_spec = (struct setup_spec){
		.root = place->workspace->root,
		.worktree = place->dir,
		.stamp = place->stamp,
		.command = settings_string(settings, "repo.setup_command"),
		.timeout_ms = settings_duration(settings, "repo.setup_timeout"),
	};
	settings_list(settings, "repo.copy_files", &ret_spec->copy_files);
	settings_list(settings, "repo.setup_when", &ret_spec->when);
	/* Only from the user's own checkout: no worker's code may leave
	 * anything to the check of another's work. */
	settings_list(settings, "repo.seed_from", &ret_spec->seed);
	return ret_spec->copy_files[0] != NULL || ret_spec->command[0] != '\0';
}

/* Without it the next check runs the setup again. */
static void
on_kept(const struct err *err, void *arg)
{
	struct check_place *place = arg;

	(void)err;
	if (place->cancelled)
		tell_cancelled(place);
	else
		tell(place, NULL);
}

static void
on_set_up(const struct err *err, void *arg)
{
	struct check_place *place = arg;

	setup_free(take_ptr(&place->setup));
	if (err == NULL && place->keeps)
		git_check_tree_keep(
		    place->git, place->dir, place->made, on_kept, place);
	else
		tell(place, err);
}

static void
set_up(struct check_place *place, struct setup_spec *spec)
{
	cleanup_free char *folder = workspace_path(place->workspace, "setup");
	struct err err = { 0 };

	/* What it made before is gone. */
	unlink(place->stamp);
	unlink(place->kept);
	if (file_mkdirs(folder, 0700, &err) < 0 ||
	    check_place_box(place, &spec->box, &spec->env, &err) < 0)
		tell(place, &err);
	else
		place->setup = setup_begin(place->loop, spec, on_set_up, place);
}

static void put(struct check_place *place);

/* What was kept is of the same files, or it is done again from the start. */
static void
on_looked(const struct err *err, void *arg)
{
	struct check_place *place = arg;

	setup_free(take_ptr(&place->setup));
	if (err != NULL && err->code == -ESTALE) {
		place->afresh = true;
		put(place);
	} else {
		tell(place, err);
	}
}

static void
on_placed(const struct git_checked_out *out, const struct err *err, void *arg)
{
	struct check_place *place = arg;
	struct setup_spec spec;
	struct err broken;

	if (place->cancelled) {
		tell_cancelled(place);
	} else if (err == NULL) {
		if (!describe_setup(place, &spec)) {
			tell(place, NULL);
		} else if (!out->kept) {
			set_up(place, &spec);
		} else if (setup_is_due(&spec)) {
			spec.look_only = true;
			place->setup =
			    setup_begin(place->loop, &spec, on_looked, place);
		} else {
			tell(place, NULL);
		}
	} else if (place->renewed ||
	    (err->code != -EUCLEAN && err->code != -EEXIST)) {
		tell(place, err);
	} else if (rename(place->dir, place->broken) == -1) {
		err_errno(&broken, -errno, "%s; moving it to %s", err->msg,
		    place->broken);
		tell(place, &broken);
	} else {
		place->renewed = true;
		put(place);
	}
}

static void
put(struct check_place *place)
{
	struct setup_spec setup;
	bool keeps =
	    describe_setup(place, &setup) && place->keeps && !place->afresh;

	/* What its files are is known when the tree is there. */
	setup.when = NULL;
	keeps = keeps && !setup_is_due(&setup);
	unlink(place->made);
	place->what.keep = keeps ? place->kept : NULL;
	/* In a sandbox git would link their objects into it. */
	place->what.submodules =
	    box_mode_strictest(*place->settings) == BOX_OFF;
	git_check_tree_prepare(
	    place->git, place->dir, &place->what, on_placed, place);
}

static int
clear(void *arg)
{
	return remove_tree(arg) < 0;
}

/* What is left there does no harm to this check, or else it fails. */
static void
on_cleared(const struct child_result *result, void *arg)
{
	struct check_place *place = arg;

	(void)result;
	place->clear = NULL;
	if (place->cancelled)
		tell_cancelled(place);
	else
		put(place);
}

void
check_place_begin(struct check_place *place, const struct git_check_tree *what,
    bool afresh, check_place_fn *fn, void *arg)
{
	cleanup_free char *tmpdir =
	    workplace_tmpdir(place->workspace, place->index);
	const struct child_spec spec = {
		.call = clear, .call_arg = tmpdir, .deadline_ms = CLEAR_MS
	};

	place->what = *what;
	place->afresh = afresh;
	place->renewed = place->cancelled = false;
	place->fn = fn;
	place->arg = arg;
	/* Its temporary files are those of one check. */
	if (!file_exists(tmpdir) ||
	    child_spawn(
		place->loop, &spec, on_cleared, place, &place->clear, NULL) < 0)
		put(place);
}

/* Freeing a setup ends it, without a callback. */
void
check_place_cancel(struct check_place *place)
{
	place->cancelled = true;
	if (place->setup == NULL)
		return; /* git comes to its end */
	setup_free(take_ptr(&place->setup));
	place->timer = loop_after(place->loop, 1, tell_cancelled, place);
}

int
check_place_box(struct check_place *place, const char *const **ret_prefix,
    const char *const **ret_env, struct err *err)
{
	struct workplace fresh = { 0 };
	cleanup_free char *name =
	    xasprintf("check-%s", strrchr(place->dir, '/') + 1);
	int r = workplace_make(place->workspace, *place->settings, name,
	    place->index, &fresh, err);

	if (r < 0)
		return r;
	workplace_release(&place->workplace);
	place->workplace = fresh;
	box_release(&place->box);
	r = box_prepare(&(struct box_spec){ .kind = BOX_CHECK,
			    .workspace = place->workspace,
			    .settings = *place->settings,
			    .tree = place->dir,
			    .tmpdir = fresh.tmpdir },
	    &place->box, err);
	if (r < 0)
		return r;
	*ret_prefix =
	    place->box.prefix != NULL ? strv_const(place->box.prefix) : NULL;
	*ret_env = strv_const(fresh.env);
	return 0;
}

void
check_place_over(struct check_place *place, bool passed)
{
	if (!passed || rename(place->made, place->kept) == -1)
		unlink(place->made);
}

const char *
check_place_dir(const struct check_place *place)
{
	return place->dir;
}

struct check_place *
check_place_new(const struct check_place_spec *spec)
{
	struct check_place *place = xcalloc(1, sizeof *place);
	cleanup_free char *dir = xasprintf("checks/%s", spec->name);
	cleanup_free char *stamp = xasprintf("setup/.check-%s", spec->name);

	place->loop = spec->loop;
	place->git = spec->git;
	place->workspace = spec->workspace;
	place->settings = spec->settings;
	place->index = spec->index;
	place->keeps = spec->keeps;
	place->dir = workspace_path(spec->workspace, dir);
	place->stamp = workspace_path(spec->workspace, stamp);
	place->kept = xasprintf("%s.files", place->stamp);
	place->made = xasprintf("%s.new", place->kept);
	place->broken = xasprintf("%s.broken", place->dir);
	return place;
}

void
check_place_free(struct check_place *place)
{
	if (place == NULL)
		return;
	setup_free(place->setup);
	if (place->clear != NULL)
		child_abandon(place->clear);
	workplace_release(&place->workplace);
	loop_timer_free(place->timer);
	box_release(&place->box);
	free(place->dir);
	free(place->stamp);
	free(place->kept);
	free(place->made);
	free(place->broken);
	free(place);
}
