/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "child.h"
#include "errtext.h"
#include "file.h"
#include "git-clone.h"
#include "git-env.h"
#include "mem.h"
#include "strv.h"

#define ALTERNATES "objects/info/alternates"
#define MAKE_MS    (2 * 60 * 1000)
#define FILES_MS   (20 * 60 * 1000)
#define LINES_MAX  65536

struct git_clone {
	struct loop *loop;
	struct child *child;
	char *root, *git_dir, *dir, *branch, *id, *landing, *landing_id;
	char *from;
	int (*box)(void *, const char *, char ***, struct err *);
	void *box_arg;
	git_work_fn *fn;
	void *arg;
	struct err err; /* why it is removed again */
};

/* Nobody but us has seen the folder yet, so this needs no box. HEAD is on the
 * branch; the files come later. Of the user's settings only those that say who
 * commits and how files are written are taken over. */
static const char make_script[] =
    "set -eu\n"
    "root=$1 dir=$2 branch=$3 id=$4 landing=$5 landing_id=$6 gitdir=$7 "
    "from=$8\n"
    "format=$(git -C \"$root\" rev-parse --show-object-format)\n"
    "git init -q --template= --object-format=\"$format\" \"$dir\"\n"
    "cd \"$dir\"\n"
    "mkdir -p .git/info\n"
    "cat >.git/objects/info/alternates\n"
    "[ ! -e \"$gitdir/shallow\" ] || cp \"$gitdir/shallow\" .git/shallow\n"
    "[ ! -e \"$gitdir/info/exclude\" ] ||\n"
    "	cp \"$gitdir/info/exclude\" .git/info/exclude\n"
    "for key in user.name user.email core.autocrlf core.eol core.fileMode \\\n"
    "	core.symlinks core.ignoreCase core.safecrlf; do\n"
    "	value=$(git -C \"$root\" config --get \"$key\") || continue\n"
    "	git config \"$key\" \"$value\"\n"
    "done\n"
    "git config gc.auto 0\n"
    "[ -z \"$landing\" ] || git update-ref \"refs/heads/$landing\" "
    "\"$landing_id\"\n"
    "git update-ref \"refs/heads/$branch\" \"$id\"\n"
    "git symbolic-ref HEAD \"refs/heads/$branch\"\n"
    "[ -n \"$from\" ] || exit 0\n"
    "git update-ref --no-deref HEAD \"$id\"\n"
    "for file in \"$from\"/*; do\n"
    "	case ${file##*/} in\n"
    "	commondir | gitdir | locked | config* | refs | HEAD | *.lock | logs | "
    "'*')\n"
    "		;;\n"
    "	*)	cp -a -- \"$file\" .git/ ;;\n"
    "	esac\n"
    "done\n";

/* --- facts ------------------------------------------------------------- */

/* Does a name in the folder end like this? */
static bool
has_file(const char *folder, const char *ending)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;
	bool found = false;

	while (stream != NULL && !found && (entry = readdir(stream)) != NULL) {
		size_t len = strlen(entry->d_name), tail = strlen(ending);

		found = entry->d_name[0] != '.' && len >= tail &&
		    strcmp(entry->d_name + len - tail, ending) == 0;
	}
	if (stream != NULL)
		closedir(stream);
	return found;
}

int
git_clone_check(const char *git_dir, struct err *err)
{
	cleanup_free char *pack = file_join(git_dir, "objects/pack");
	cleanup_free char *lfs = file_join(git_dir, "lfs/objects");
	cleanup_free char *reftable = file_join(git_dir, "reftable");

	if (has_file(pack, ".promisor"))
		return err_set(err, -ENOTSUP,
		    "this repository is a partial clone, from which a strict "
		    "sandbox cannot fetch what is missing; use sandbox = "
		    "\"worktree\", or: git fetch --refetch --no-filter");
	if (file_exists(reftable))
		return err_set(err, -ENOTSUP,
		    "this repository keeps its refs in a reftable, which a "
		    "strict sandbox cannot use; use sandbox = \"worktree\"");
	if (has_file(lfs, ""))
		return err_set(err, -ENOTSUP,
		    "this repository has files in Git LFS, which a strict "
		    "sandbox cannot carry; use sandbox = \"worktree\"");
	return 0;
}

bool
git_clone_suits(const char *git_dir)
{
	cleanup_free char *modules = file_join(git_dir, "modules");

	return git_clone_check(git_dir, NULL) == 0 && !file_is_dir(modules);
}

/* A path in objects/info/alternates: quoted, since it may have a newline. */
static char *
alternates_line(const char *git_dir)
{
	struct buf line = BUF_INIT;

	buf_addc(&line, '"');
	for (const char *p = git_dir; *p != '\0'; p++) {
		if (*p == '\n') {
			buf_adds(&line, "\\n");
			continue;
		}
		if (*p == '"' || *p == '\\')
			buf_addc(&line, '\\');
		buf_addc(&line, *p);
	}
	buf_adds(&line, "/objects\"\n");
	return buf_take(&line);
}

/* --- steps ------------------------------------------------------------- */

static void
on_removed(const struct child_result *result, void *arg)
{
	struct git_clone *clone = arg;

	(void)result;
	clone->child = NULL;
	clone->fn(&clone->err, clone->arg);
	git_clone_free(clone);
}

/* What is unfinished is removed; nobody has worked in it. */
static void
clone_fail(struct git_clone *clone, const struct err *err)
{
	const char *const argv[] = { "rm", "-rf", "--", clone->dir, NULL };
	const struct child_spec child = { .argv = argv,
		.deadline_ms = FILES_MS };

	clone->err = *err;
	if (child_spawn(clone->loop, &child, on_removed, clone, &clone->child,
		NULL) < 0) {
		clone->child = NULL;
		clone->fn(&clone->err, clone->arg);
		git_clone_free(clone);
	}
}

/* True if the command did its work; otherwise the clone has ended. */
static bool
succeeded(struct git_clone *clone, const struct child_result *result)
{
	struct err err = { 0, "" };

	clone->child = NULL;
	if (result->start_error == 0 && child_succeeded(result))
		return true;
	if (result->start_error < 0)
		err_errno(&err, result->start_error, "%s", clone->dir);
	else if (result->timed_out)
		err_set(&err, -ETIMEDOUT, "%s: the clone took too long",
		    clone->dir);
	else
		err_set(&err, -EIO, "%s: %.300s", clone->dir,
		    result->err.head.data);
	clone_fail(clone, &err);
	return false;
}

static void
on_files(const struct child_result *result, void *arg)
{
	struct git_clone *clone = arg;

	if (!succeeded(clone, result))
		return;
	clone->fn(NULL, clone->arg);
	git_clone_free(clone);
}

/* Filters and the like run in the box. */
static void
on_made(const struct child_result *result, void *arg)
{
	struct git_clone *clone = arg;
	const char *const checkout[] = { "git", "-C", clone->dir, "-c",
		"core.hooksPath=/dev/null", "reset", "--quiet", "--hard",
		NULL };
	cleanup_strv char **argv = NULL;
	struct child_spec child = { .env = git_env, .deadline_ms = FILES_MS };
	struct err err = { 0, "" };
	int r = 0;

	if (!succeeded(clone, result))
		return;
	if (clone->from != NULL) {
		clone->fn(NULL, clone->arg);
		git_clone_free(clone);
		return;
	}
	if (clone->box != NULL)
		r = clone->box(clone->box_arg, clone->dir, &argv, &err);
	strv_add_all(&argv, checkout);
	child.argv = strv_const(argv);
	if (r == 0)
		r = child_spawn(
		    clone->loop, &child, on_files, clone, &clone->child, &err);
	if (r < 0) {
		clone->child = NULL;
		clone_fail(clone, &err);
	}
}

static int
clone_begin(struct git_clone *clone, struct err *err)
{
	cleanup_free char *line = alternates_line(clone->git_dir);
	const char *const argv[] = { "sh", "-c", make_script, "sh", clone->root,
		clone->dir, clone->branch, clone->id,
		clone->landing != NULL ? clone->landing : "",
		clone->landing_id != NULL ? clone->landing_id : "",
		clone->git_dir, clone->from != NULL ? clone->from : "", NULL };
	const struct child_spec child = { .argv = argv,
		.env = git_env,
		.input = line,
		.input_len = strlen(line),
		.deadline_ms = MAKE_MS };
	int r = git_clone_check(clone->git_dir, err);

	if (r < 0)
		return r;
	if (rmdir(clone->dir) == -1 && errno != ENOENT)
		return err_set(err, -EEXIST, "%s exists already; move it away",
		    clone->dir);
	return child_spawn(
	    clone->loop, &child, on_made, clone, &clone->child, err);
}

static char *
copy(const char *text)
{
	return text != NULL ? xstrdup(text) : NULL;
}

struct git_clone *
git_clone_new(struct loop *loop, const struct git_clone_spec *spec,
    git_work_fn *fn, void *arg, struct err *err)
{
	struct git_clone *clone = xcalloc(1, sizeof *clone);

	clone->loop = loop;
	clone->root = xstrdup(spec->root);
	clone->git_dir = xstrdup(spec->git_dir);
	clone->dir = xstrdup(spec->dir);
	clone->branch = xstrdup(spec->branch);
	clone->id = xstrdup(spec->id);
	clone->landing = copy(spec->landing);
	clone->landing_id = copy(spec->landing_id);
	clone->from = copy(spec->from);
	clone->box = spec->box;
	clone->box_arg = spec->box_arg;
	clone->fn = fn;
	clone->arg = arg;
	if (clone_begin(clone, err) < 0) {
		clone->child = NULL;
		git_clone_free(clone);
		return NULL;
	}
	return clone;
}

void
git_clone_free(struct git_clone *clone)
{
	if (clone == NULL)
		return;
	if (clone->child != NULL)
		child_abandon(clone->child);
	free(clone->root);
	free(clone->git_dir);
	free(clone->dir);
	free(clone->branch);
	free(clone->id);
	free(clone->landing);
	free(clone->landing_id);
	free(clone->from);
	free(clone);
}
