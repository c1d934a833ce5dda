/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
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
#include "git-refs.h"
#include "git-stand.h"
#include "loop.h"
#include "mem.h"
#include "strv.h"
#include "text.h"

#define GIT_IMPORT_MAX (INT64_C(2) * 1024 * 1024 * 1024)

#define GIT_IMPORT_MS (10 * 60 * 1000)

struct git_import;

static void git_import_free(struct git_import *import);

#define BLOCK     512 /* of ulimit -f */
#define AGAIN_MS  50
#define AGAIN_MAX 8 /* times, each after twice the time: 12 seconds */

struct git_import {
	struct loop *loop;
	struct child *child;
	struct loop_timer *again;
	int tries;
	char *id, *dir, **argv;
	git_work_fn *fn;
	void *arg;
};

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
	strv_take(argv,
	    spec->ref != NULL ? xasprintf("+%s:%s", spec->id, spec->ref) :
				xstrdup(spec->id));
}

static int
explain(const struct git_import *import, const struct child_result *result,
    struct err *err)
{
	const char *said = result->err.head.data;

	if (result->start_error < 0)
		return err_errno(err, result->start_error, "git fetch");
	if (result->timed_out)
		return err_set(err, -ETIMEDOUT,
		    "%s: the import of %.12s took too long", import->dir,
		    import->id);
	if (child_succeeded(result))
		return 0;
	if (strstr(said, "fsck") != NULL)
		return err_set(err, -EINVAL,
		    "%s: commit %.12s has an object that is not valid: %.200s",
		    import->dir, import->id, said);
	if (strstr(said, "File too large") != NULL)
		return err_set(err, -EFBIG,
		    "%s: commit %.12s brings too much to be imported",
		    import->dir, import->id);
	if (strstr(said, "not our ref") != NULL)
		return err_set(err, -ENOENT, "%s: there is no commit %.12s",
		    import->dir, import->id);
	return err_set(err, -EIO, "%s: commit %.12s cannot be imported: %.300s",
	    import->dir, import->id, said);
}

static void on_fetched(const struct child_result *result, void *arg);

static int
fetch(struct git_import *import, struct err *err)
{
	struct child_spec child = { .argv = strv_const(import->argv),
		.env = git_env,
		.deadline_ms = GIT_IMPORT_MS };
	int r = child_spawn(
	    import->loop, &child, on_fetched, import, &import->child, err);

	if (r < 0)
		import->child = NULL;
	return r;
}

static void
finish(struct git_import *import, const struct err *err)
{
	import->fn(err, import->arg);
	git_import_free(import);
}

static void
fetch_again(void *arg)
{
	struct git_import *import = arg;
	struct err err = { 0 };

	if (fetch(import, &err) < 0)
		finish(import, &err);
}

/* A fetch looks at the HEAD of every worktree, and while git adds one there is
 * no commit in it. */
static bool
met_new_worktree(const struct child_result *result)
{
	return strstr(result->err.head.data, "bad object worktrees/") != NULL;
}

static void
on_fetched(const struct child_result *result, void *arg)
{
	struct git_import *import = arg;
	struct err err = { 0, "" };
	int r = explain(import, result, &err);

	import->child = NULL;
	if (r == -EIO && import->tries < AGAIN_MAX &&
	    met_new_worktree(result)) {
		loop_timer_free(import->again);
		import->again = loop_after(import->loop,
		    AGAIN_MS << import->tries++, fetch_again, import);
		return;
	}
	finish(import, r < 0 ? &err : NULL);
}

static bool
is_id(const char *id)
{
	size_t len = strlen(id);

	return (len == 40 || len == 64) &&
	    strspn(id, "0123456789abcdef") == len;
}

struct git_import *
git_import_new(struct loop *loop, const struct git_import_spec *spec,
    git_work_fn *fn, void *arg, struct err *err)
{
	struct git_import *import;

	if (!is_id(spec->id)) {
		err_set(err, -EINVAL, "\"%.80s\" is not the id of a commit",
		    spec->id);
		return NULL;
	}
	import = xcalloc(1, sizeof *import);
	import->loop = loop;
	import->fn = fn;
	import->arg = arg;
	import->id = xstrdup(spec->id);
	import->dir = xstrdup(spec->dir);
	make_argv(spec, &import->argv);
	if (fetch(import, err) < 0) {
		git_import_free(import);
		return NULL;
	}
	return import;
}

/* Only before fn was called. What was imported until then is in no ref. */
static void
git_import_free(struct git_import *import)
{
	if (import == NULL)
		return;
	if (import->child != NULL)
		child_abandon(import->child);
	loop_timer_free(import->again);
	strv_free(import->argv);
	free(import->id);
	free(import->dir);
	free(import);
}

#define DELETE_MS    (INT64_C(20) * 60 * 1000)
#define PARENTS_MAX  500
#define NO_SUCH_NAME "llmc-no-such-ref"

bool
git_clone_op_is(const struct git_op *op)
{
	return git_stand_is_clone(op->git, op->dir);
}

char *
git_clone_op_ref(const struct git_op *op, const char *ref)
{
	char id[GIT_ID_SIZE];

	if (!git_clone_op_is(op))
		return xstrdup(ref);
	return xstrdup(
	    git_refs_read(op->common, ref, id) == 0 ? id : NO_SUCH_NAME);
}

/* --- import ------------------------------------------------------------ */

static void
on_imported(const struct err *err, void *arg)
{
	struct git_op *op = arg;

	op->import = NULL;
	if (err != NULL)
		op->err = *err;
	git_op_resume(op, err != NULL ? GIT_OP_FAIL : GIT_OP_NEXT);
}

/* Without a box no git looks at what the worker has there. */
enum git_op_next
git_clone_op_ask_import(struct git_op *op, const char *id)
{
	struct git_import_spec spec = {
		.root = git_root(op->git), .dir = op->dir, .id = id
	};
	cleanup_strv char **box = NULL;

	if (!git_clone_op_is(op))
		return GIT_OP_NEXT;
	if (git_box(op->git, op->dir, &box, &op->err) < 0)
		return GIT_OP_FAIL;
	if (box == NULL)
		return git_op_fail(op, -EUCLEAN,
		    "%s has no sandbox that its commits could be read in",
		    op->dir);
	spec.box = strv_const(box);
	op->import =
	    git_import_new(git_loop(op->git), &spec, on_imported, op, &op->err);
	return op->import != NULL ? GIT_OP_WAIT : GIT_OP_FAIL;
}

/* --- onto -------------------------------------------------------------- */

static enum git_op_next
onto_ask(struct git_op *op)
{
	op->run_dir = git_root(op->git);
	return git_op_ask_onto(op);
}

static enum git_op_next
head_ask(struct git_op *op)
{
	op->head_id[0] = '\0';
	return git_op_ask_ids(op, (const char *[]){ "HEAD^{commit}", NULL });
}

static enum git_op_next
head_answer(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, &op->head_id, 1);
	return GIT_OP_NEXT;
}

static const struct git_op_step onto_steps[] = {
	{ .ask = onto_ask, .answer = git_op_onto },
	{ .ask = head_ask, .answer = head_answer },
};

enum git_op_next
git_clone_op_ask_onto(struct git_op *op)
{
	return git_op_call(op, onto_steps, nitems(onto_steps));
}

/* --- delete ------------------------------------------------------------ */

static void
on_deleted(const struct child_result *result, void *arg)
{
	struct git_op *op = arg;

	op->child = NULL;
	if (result->start_error < 0 || !child_succeeded(result))
		git_op_fail(op, -EIO, "%s cannot be deleted: %.200s", op->dir,
		    result->err.head.data);
	git_op_resume(op, op->err.code != 0 ? GIT_OP_FAIL : GIT_OP_NEXT);
}

enum git_op_next
git_clone_op_ask_delete(struct git_op *op, const char *folder)
{
	const char *const argv[] = { "rm", "-rf", "--", folder, NULL };
	const struct child_spec spec = { .argv = argv,
		.deadline_ms = DELETE_MS };

	if (child_spawn(git_loop(op->git), &spec, on_deleted, op, &op->child,
		&op->err) < 0) {
		op->child = NULL;
		return GIT_OP_FAIL;
	}
	return GIT_OP_WAIT;
}

/* --- keep -------------------------------------------------------------- */

static enum git_op_next
keep_refuse(struct git_op *op, const char *why)
{
	struct git_home home;

	return git_op_fail(op, -EBUSY,
	    "%s cannot become a worktree now (%s); have the worker finish "
	    "that first, or save its work and start over: llmc reset %s",
	    op->dir, why, git_home(op->git, op->dir, &home) ? home.worker : "");
}

static enum git_op_next
keep_ask_tree(struct git_op *op)
{
	if (op->keep_saved)
		return GIT_OP_NEXT;
	if (git_op_rebasing(op))
		return keep_refuse(op, "a rebase is in progress");
	return git_op_args(op, "write-tree", NULL);
}

static enum git_op_next
keep_tree(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return keep_refuse(op, answer->complaint);
	strlcpy(op->keep_tree, answer->out, sizeof op->keep_tree);
	return GIT_OP_NEXT;
}

/* Is there a commit that neither HEAD nor the landing branch has? */
static enum git_op_next
keep_ask_more(struct git_op *op)
{
	git_op_args(op, "rev-list", "--max-count=1", "--all", "--not",
	    op->onto_id, NULL);
	if (op->head_id[0] != '\0')
		git_op_arg(op, op->head_id);
	return GIT_OP_ASK;
}

static enum git_op_next
keep_more(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	op->keep_more = answer->out_len > 0;
	return op->keep_more || !op->keep_saved ? GIT_OP_NEXT : GIT_OP_DONE;
}

static enum git_op_next
keep_ask_tips(struct git_op *op)
{
	return op->keep_more ?
	    git_op_args(op, "rev-list", "--no-walk", "--all", NULL) :
	    GIT_OP_NEXT;
}

static enum git_op_next
keep_ask_stashes(struct git_op *op)
{
	return op->keep_more ?
	    git_op_args(op, "stash", "list", "--format=%H", NULL) :
	    GIT_OP_NEXT;
}

static bool
has_parent(const struct git_op *op, const char *id)
{
	bool has = strcmp(id, op->head_id) == 0;

	for (size_t i = 0; i < strv_count(op->keep_parents); i++)
		has |= strcmp(op->keep_parents[i], id) == 0;
	return has;
}

static enum git_op_next
keep_ids(struct git_op *op, const struct git_answer *answer)
{
	const char *line = answer->out;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	while (*line != '\0' && strv_count(op->keep_parents) < PARENTS_MAX) {
		size_t len = strcspn(line, "\n");
		cleanup_free char *id = xasprintf("%.*s", (int)len, line);

		if (!has_parent(op, id))
			strv_add(&op->keep_parents, id);
		line += len + (line[len] == '\n');
	}
	return GIT_OP_NEXT;
}

static enum git_op_next
keep_ask_commit(struct git_op *op)
{
	git_op_own_name(op);
	buf_adds(&op->input,
	    "Index, branches and stashes of a clone\n\n"
	    "Each other parent is a branch or a stash.\n");
	git_op_args(op, "commit-tree", op->keep_tree, NULL);
	if (op->head_id[0] != '\0')
		git_op_args(op, "-p", op->head_id, NULL);
	for (size_t i = 0; i < strv_count(op->keep_parents); i++)
		git_op_args(op, "-p", op->keep_parents[i], NULL);
	return GIT_OP_ASK;
}

static enum git_op_next
keep_commit(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(op->keep_id, answer->out, sizeof op->keep_id);
	return GIT_OP_NEXT;
}

static enum git_op_next
keep_ask_import(struct git_op *op)
{
	return git_clone_op_ask_import(op, op->keep_id);
}

static enum git_op_next
keep_ask_ref(struct git_op *op)
{
	if (!op->keep_more)
		return GIT_OP_NEXT;
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	return git_op_args(op, "update-ref", op->keep_ref, op->keep_id, NULL);
}

static const struct git_op_step keep_steps[] = {
	{ .ask = keep_ask_tree, .answer = keep_tree },
	{ .ask = keep_ask_more, .answer = keep_more },
	{ .ask = keep_ask_tips, .answer = keep_ids },
	{ .ask = keep_ask_stashes, .answer = keep_ids },
	{ .ask = keep_ask_commit, .answer = keep_commit },
	{ .ask = keep_ask_import },
	{ .ask = keep_ask_ref },
};

enum git_op_next
git_clone_op_ask_keep(struct git_op *op, const char *ref, bool saved)
{
	op->keep_saved = saved;
	strv_clear(&op->keep_parents);
	snprintf(op->keep_tree, sizeof op->keep_tree, "%s^{tree}",
	    op->head_id[0] != '\0' ? op->head_id : op->onto_id);
	xstrset(&op->keep_ref, ref);
	return git_op_call(op, keep_steps, nitems(keep_steps));
}

void
git_clone_op_release(struct git_op *op)
{
	git_import_free(op->import);
	if (op->child != NULL)
		child_abandon(op->child);
	strv_free(op->keep_parents);
	free(op->keep_ref);
}

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

/* Why no clone can be made of this repository, in words, or 0: it is a partial
 * clone, has files in Git LFS, or keeps its refs in a reftable. Looks at files
 * only. */
static int
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
