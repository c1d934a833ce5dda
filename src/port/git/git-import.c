/* SPDX-License-Identifier: ISC */

/*
 * Bringing the commits of a worker's clone into the repository.
 *
 * git checks what it fetches, but a part of that (.gitmodules, .gitattributes)
 * only when the pack has its name already, and leaves it there: so it fetches
 * into a quarantine, a folder of objects beside the others, and what has passed
 * is moved from there.
 */
#include "base.h"

#include <sys/stat.h>

#include "child.h"
#include "git-clone.h"
#include "git-private.h"

#define GIT_IMPORT_MAX (INT64_C(2) * 1024 * 1024 * 1024)

#define GIT_IMPORT_MS (10 * 60 * 1000)

/* git prune removes what a killed import leaves. */
#define QUARANTINE "tmp_objdir-llmc-XXXXXX"

#define BLOCK     512 /* of ulimit -f */
#define AGAIN_MS  50
#define AGAIN_MAX 8 /* times, each after twice the time: 12 seconds */

/* A write beyond the limit fails; the signal would end git without words. */
static const char limited[] =
    "trap '' XFSZ && ulimit -f \"$1\" && shift && exec \"$@\"";

/* What git runs for the other side, by a shell, with the path behind it. */
static char *
upload_pack(const char *const *box)
{
	struct buf command = BUF_INIT;

	for (; box != NULL && *box != NULL; box++) {
		text_add_shell(&command, *box);
		buf_addc(&command, ' ');
	}
	buf_adds(&command,
	    "git -c uploadpack.allowAnySHA1InWant=true -c "
	    "core.hooksPath=/dev/null -c core.fsmonitor=false upload-pack "
	    "--strict");
	return buf_take(&command);
}

static void
make_argv(const struct git_import_spec *spec, char ***argv)
{
	static const char *const fetch[] = { "-c", "fetch.fsckObjects=true",
		"-c", "transfer.fsckObjects=true", "-c", "fetch.unpackLimit=1",
		"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c",
		"fetch.writeCommitGraph=false", "-c",
		"protocol.file.allow=always", "fetch", "--quiet", "--no-tags",
		"--no-write-fetch-head", "--no-recurse-submodules",
		"--no-auto-maintenance", "--update-head-ok", NULL };
	int64_t max = spec->max > 0 ? spec->max : GIT_IMPORT_MAX;

	strv_add(argv, "sh");
	strv_add(argv, "-c");
	strv_add(argv, limited);
	strv_add(argv, "sh");
	strv_take(argv, xasprintf("%" PRId64, max / BLOCK + 1));
	strv_add(argv, "git");
	strv_add(argv, "-C");
	strv_add(argv, spec->root);
	strv_add_all(argv, fetch);
	strv_add(argv, "--upload-pack");
	strv_take(argv, upload_pack(spec->box));
	strv_add(argv, "--");
	strv_take(argv, file_join(spec->dir, ".git"));
	strv_add(argv, spec->id);
}

static int
explain(const struct git_import_spec *spec, const struct child_result *result,
    struct err *err)
{
	const char *said = result->err.head.data;

	if (result->timed_out)
		return err_set(err, -ETIMEDOUT,
		    "%s: the import of %.12s took too long", spec->dir,
		    spec->id);
	if (child_succeeded(result))
		return 0;
	if (strstr(said, "fsck") != NULL)
		return err_set(err, -EINVAL,
		    "%s: commit %.12s has an object that is not valid: %.200s",
		    spec->dir, spec->id, said);
	if (strstr(said, "File too large") != NULL)
		return err_set(err, -EFBIG,
		    "%s: commit %.12s brings too much to be imported",
		    spec->dir, spec->id);
	if (strstr(said, "not our ref") != NULL)
		return err_set(err, -ENOENT, "%s: there is no commit %.12s",
		    spec->dir, spec->id);
	return err_set(err, -EIO, "%s: commit %.12s cannot be imported: %.300s",
	    spec->dir, spec->id, said);
}

/* --- the quarantine ----------------------------------------------------- */

static int
quarantine_make(
    const struct git_import_spec *spec, char **ret_objects, char **ret_dir)
{
	cleanup_free char *gitdir = git_dirs_gitdir(spec->root);
	cleanup_free char *common =
	    gitdir != NULL ? git_dirs_common(gitdir) : NULL;
	cleanup_free char *objects = NULL, *dir = NULL;

	if (common == NULL)
		return -ENOENT;
	objects = file_join(common, "objects");
	dir = file_join(objects, QUARANTINE);
	if (mkdtemp(dir) == NULL)
		return -errno;
	*ret_objects = take_ptr(&objects);
	*ret_dir = take_ptr(&dir);
	return 0;
}

/* A pack counts once its index is there. */
static int
by_index_last(const struct dirent **a, const struct dirent **b)
{
	return text_ends((*a)->d_name, ".idx") -
	    text_ends((*b)->d_name, ".idx");
}

static int
is_of_pack(const struct dirent *entry)
{
	return text_begins(entry->d_name, "pack-");
}

/* What git fetched became a pack, however little it is. */
static int
quarantine_leave(const char *objects, const char *dir)
{
	cleanup_free char *from = file_join(dir, "pack");
	cleanup_free char *to = file_join(objects, "pack");
	struct dirent **list = NULL;
	int count = scandir(from, &list, is_of_pack, by_index_last);
	int r = count < 0 && errno != ENOENT ? -errno : 0;

	if (r == 0 && count > 0 && mkdir(to, 0777) == -1 && errno != EEXIST)
		r = -errno;
	for (int i = 0; i < count; i++) {
		cleanup_free char *old = file_join(from, list[i]->d_name);
		cleanup_free char *new = file_join(to, list[i]->d_name);

		if (r == 0 && rename(old, new) == -1)
			r = -errno;
		free(list[i]);
	}
	free(list);
	return r;
}

static int
import_once(const struct git_import_spec *spec, struct child_spec *child,
    struct child_result *result, struct err *err)
{
	cleanup_free char *objects = NULL, *dir = NULL, *known = NULL;
	cleanup_strv char **env = NULL;
	int r = quarantine_make(spec, &objects, &dir);

	child_result_init(result);
	if (r < 0)
		return err_errno(
		    err, r, "%s: a folder for new objects", spec->root);
	known = git_dirs_alternate(objects);
	strv_add_all(&env, git_env);
	strv_take(&env, xasprintf("GIT_OBJECT_DIRECTORY=%s", dir));
	strv_take(
	    &env, xasprintf("GIT_ALTERNATE_OBJECT_DIRECTORIES=%s", known));
	child->env = strv_const(env);
	r = child_run(child, result, err);
	if (r == 0)
		r = explain(spec, result, err);
	if (r == 0 && (r = quarantine_leave(objects, dir)) < 0)
		err_errno(err, r, "%s: what was imported", spec->root);
	remove_tree(dir);
	return r;
}

int
git_import(const struct git_import_spec *spec, struct err *err)
{
	cleanup_strv char **argv = NULL;
	struct child_spec child = { .deadline_ms = GIT_IMPORT_MS,
		.in_group = true };

	if (!git_is_id(spec->id, strlen(spec->id)))
		return err_set(err, -EINVAL,
		    "\"%.80s\" is not the id of a commit", spec->id);
	make_argv(spec, &argv);
	child.argv = strv_const(argv);
	for (int tries = 0;; tries++) {
		cleanup_child_result struct child_result result;
		struct err failure = { 0 };
		int r = import_once(spec, &child, &result, &failure);

		/* A fetch looks at the HEAD of every worktree, and while git
		 * adds one there is no commit in it. */
		if (r != -EIO || tries == AGAIN_MAX ||
		    strstr(result.err.head.data, "bad object worktrees/") ==
			NULL) {
			if (r < 0 && err != NULL)
				*err = failure;
			return r;
		}
		git_pause(AGAIN_MS << tries);
	}
}

/* Without a box no git looks at what the worker has there. */
void
git_import_run(struct git_op *op, const char *id)
{
	struct git_import_spec spec = {
		.root = git_root(op->git), .dir = op->dir, .id = id
	};
	char **box = NULL;

	if (!git_stand_is_clone(op->git, op->dir))
		return;
	if (git_box(op->git, op->dir, &box, &op->err) < 0)
		git_op_die_of(op);
	if (box == NULL)
		git_op_die(op, -EUCLEAN,
		    "%s has no sandbox that its commits could be read in",
		    op->dir);
	spec.box = strv_const(box);
	if (git_import(&spec, &op->err) < 0)
		git_op_die_of(op);
}
