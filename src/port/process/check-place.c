/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "box-plan.h"
#include "box.h"
#include "check-place.h"
#include "child.h"
#include "contract.h"
#include "git-ask.h"
#include "loop.h"
#include "settings.h"
#include "setup.h"
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

#define KEPT_BYTES_MAX ((int64_t)128 * 1024 * 1024)

struct verify {
	const char *root, *commit, *base;
	const char *keep; /* NULL = keep nothing */
	struct contract contract;
	struct git_artifact *found; /* one for each artifact */
	char **paths; /* of them */
	struct json_object *result;
};

/* --- checking ---------------------------------------------------------- */

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
		.git = place->git,
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
		place->setup = setup_begin(spec, on_set_up, place);
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
			place->setup = setup_begin(&spec, on_looked, place);
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

static int
find(struct verify *v, struct err *err)
{
	size_t count = v->contract.count;

	v->found = xcalloc(count + 1, sizeof *v->found);
	v->paths = xcalloc(count + 1, sizeof(char *));
	for (size_t i = 0; i < count; i++) {
		const char *path = v->contract.artifacts[i].path;

		v->paths[i] = contract_path_fault(path) != NULL ?
		    xstrdup("") :
		    contract_path_clean(path);
		v->found[i].path = v->paths[i];
	}
	return git_artifact_find(
	    v->root, v->commit, v->base, v->found, count, err);
}

static int
check(struct verify *v, size_t i, struct err *err)
{
	const struct contract_artifact *a = &v->contract.artifacts[i];
	struct artifact_found found = { .kind = v->found[i].kind,
		.changed = v->found[i].changed,
		.size = v->found[i].size };
	cleanup_buf struct buf reason = BUF_INIT, bytes = BUF_INIT;
	bool good = artifact_check_outside(a, &found, &reason);
	int r;

	if (good && a->json) {
		r = git_artifact_read(v->root, &v->found[i],
		    (size_t)ARTIFACT_SIZE_MAX, &bytes, err);
		if (r < 0)
			return r;
		found.bytes = bytes.data;
		found.len = bytes.len;
		good = artifact_check(a, &found, &reason);
	}
	check_result_artifact(v->result, a->path, good ? NULL : reason.data);
	return 0;
}

/* --- keeping ----------------------------------------------------------- */

static int
keep_one(const struct verify *v, const struct git_artifact *a, struct err *err)
{
	cleanup_free char *path = file_join(v->keep, a->path);
	cleanup_free char *folder = xstrdup(path);
	cleanup_buf struct buf bytes = BUF_INIT;
	int r = git_artifact_read(
	    v->root, a, (size_t)ARTIFACT_SIZE_MAX, &bytes, err);

	*strrchr(folder, '/') = '\0';
	if (r == 0)
		r = file_mkdirs(folder, 0700, err);
	return r < 0 ? r : file_replace(path, bytes.data, bytes.len, 0600, err);
}

static int
by_age(const void *a, const void *b)
{
	const struct timespec *one = a, *other = b;

	if (one->tv_sec != other->tv_sec)
		return one->tv_sec > other->tv_sec ? -1 : 1;
	return (one->tv_nsec < other->tv_nsec) -
	    (one->tv_nsec > other->tv_nsec);
}

/* For each folder in the place that a person can see. */
static void
each_folder(const char *place,
    void (*fn)(const char *, struct timespec, void *), void *arg)
{
	cleanup_dir DIR *dir = opendir(place);
	const char *name;

	while ((name = dir_next(dir)) != NULL) {
		cleanup_free char *path = file_join(place, name);
		struct stat st;

		if (name[0] != '.' && lstat(path, &st) == 0 &&
		    S_ISDIR(st.st_mode))
			fn(path, st.st_mtim, arg);
	}
}

struct ages {
	struct timespec *v;
	size_t count;
};

static void
note_age(const char *path, struct timespec age, void *arg)
{
	struct ages *ages = arg;

	(void)path;
	ages->v = xreallocarray(ages->v, ages->count + 1, sizeof *ages->v);
	ages->v[ages->count++] = age;
}

static void
remove_older(const char *path, struct timespec age, void *arg)
{
	const struct timespec *oldest = arg;

	if (by_age(&age, oldest) > 0)
		remove_tree(path);
}

/* --- all of it --------------------------------------------------------- */

static int
read_request(struct json_object *request, struct verify *v, struct err *err)
{
	struct json_object *contract = NULL;
	int r = json_get_string(request, "", "root", &v->root, err);

	if (r == 0)
		r = json_get_string(request, "", "commit", &v->commit, err);
	if (r == 0)
		r = json_get_string(request, "", "base", &v->base, err);
	if (r == 0)
		r = json_get_object(request, "", "contract", &contract, err);
	if (r == 0)
		r = contract_read(contract, "contract", &v->contract, err);
	if (r < 0)
		return -EINVAL;
	v->keep = json_string_or(request, "keep", NULL);
	if (v->keep != NULL && v->keep[0] != '/')
		return err_set(err, -EINVAL, "keep: not an absolute path");
	return 0;
}

static int
run(struct verify *v, bool reported, struct err *err)
{
	int r = find(v, err);

	for (size_t i = 0; r == 0 && i < v->contract.count; i++)
		r = check(v, i, err);
	if (r < 0)
		return r;
	if (v->contract.report)
		check_result_report(v->result, reported);
	check_result_end(v->result, clock_wall_ms());
	if (!check_result_passed(v->result) && v->keep != NULL) {
		int64_t left = KEPT_BYTES_MAX;
		bool any = false;

		/* What is left out stays in the work itself, which is
		 * salvaged. */
		remove_tree(v->keep);
		for (size_t i = 0; i < v->contract.count; i++) {
			const struct git_artifact *a = &v->found[i];

			if (a->kind != ARTIFACT_FILE || !a->changed ||
			    a->size > ARTIFACT_SIZE_MAX || a->size > left ||
			    keep_one(v, a, NULL) < 0)
				continue;
			left -= a->size;
			any = true;
		}
		if (any) {
			const char *keep;
			cleanup_free char *place = NULL;
			struct ages ages = { 0 };

			json_set_string(v->result, "kept", v->keep);
			keep = v->keep;
			place = xstrdup(keep);
			*strrchr(place, '/') = '\0';
			each_folder(place, note_age, &ages);
			if (ages.count > VERIFY_KEPT_MAX) {
				qsort(
				    ages.v, ages.count, sizeof *ages.v, by_age);
				each_folder(place, remove_older,
				    &ages.v[VERIFY_KEPT_MAX - 1]);
			}
			free(ages.v);
		}
	}
	return 0;
}

static void
release(struct verify *v)
{
	for (size_t i = 0; v->paths != NULL && i < v->contract.count; i++)
		free(v->paths[i]);
	free(v->paths);
	free(v->found);
	contract_release(&v->contract);
	json_object_put(v->result);
}

int
verify_run(struct json_object *request, struct json_object **ret_result,
    struct err *err)
{
	struct verify v = { .result = check_result_new() };
	int r = read_request(request, &v, err);

	if (r == 0)
		r = run(&v, json_bool_or(request, "reported", false), err);
	if (r == 0)
		*ret_result = take_ptr(&v.result);
	release(&v);
	return r;
}
