/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "child.h"
#include "errtext.h"
#include "file.h"
#include "git-env.h"
#include "git-import.h"
#include "loop.h"
#include "mem.h"
#include "strv.h"
#include "text.h"

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

void
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
