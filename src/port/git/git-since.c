/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "git-facts.h"
#include "git-op.h"
#include "git-records.h"
#include "git-since.h"
#include "mem.h"
#include "text.h"

struct paths {
	char **v;
	size_t count;
};

struct since_op {
	struct git_op op;
	char *commit;
	struct git_since since;
	struct paths files, dirt;
	git_since_fn *fn;
	void *arg;
};

static void
paths_add(struct paths *paths, const char *path)
{
	paths->v = xreallocarray(paths->v, paths->count + 1, sizeof *paths->v);
	paths->v[paths->count++] = xstrdup(path);
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sort them, and leave each in once. */
static void
paths_order(struct paths *paths)
{
	size_t kept = 0;

	if (paths->count == 0)
		return;
	qsort(paths->v, paths->count, sizeof *paths->v, compare);
	for (size_t i = 1; i < paths->count; i++)
		if (strcmp(paths->v[kept], paths->v[i]) == 0)
			free(paths->v[i]);
		else
			paths->v[++kept] = paths->v[i];
	paths->count = kept + 1;
}

static void
paths_parse(struct paths *paths, const struct git_answer *answer)
{
	struct git_records records;
	const char *record;

	git_records_init(&records, answer->out, answer->out_len);
	while ((record = git_records_next(&records)) != NULL)
		if (record[0] != '\0')
			paths_add(paths, record);
}

static void
paths_release(struct paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->v[i]);
	free(paths->v);
}

/* A question about the commits that are new. */
static enum git_op_next
ask_commits(struct git_op *op, const char *command, const char *form)
{
	const struct since_op *since = op->self;
	cleanup_free char *range = xasprintf("%s..HEAD", since->commit);
	cleanup_free char *landed = xasprintf("^%s", op->onto_id);

	git_op_args(op, command, form, range, landed, NULL);
	if (strcmp(command, "log") == 0) {
		git_op_arg(op, "-z");
		git_op_arg(op, "--name-only");
		git_op_arg(op, "--no-renames");
		git_op_arg(op, "--no-show-signature");
	}
	git_op_arg(op, "--");
	return GIT_OP_ASK;
}

static enum git_op_next
since_ask_count(struct git_op *op)
{
	return ask_commits(op, "rev-list", "--count");
}

/* A commit that does not exist is a fact, not an error. */
static enum git_op_next
since_count(struct git_op *op, const struct git_answer *answer)
{
	struct since_op *since = op->self;
	int64_t count;

	since->since.known = answer->status == 0 &&
	    text_parse_int(answer->out, 0, INT32_MAX, &count);
	if (since->since.known)
		since->since.commits = (int)count;
	return GIT_OP_NEXT;
}

static enum git_op_next
since_ask_files(struct git_op *op)
{
	const struct since_op *since = op->self;

	return since->since.known ? ask_commits(op, "log", "--format=") :
				    GIT_OP_NEXT;
}

static enum git_op_next
since_files(struct git_op *op, const struct git_answer *answer)
{
	struct since_op *since = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	paths_parse(&since->files, answer);
	return GIT_OP_NEXT;
}

static enum git_op_next
since_ask_dirt(struct git_op *op)
{
	return git_op_args(op, "status", "--porcelain=v2", "-z", "--branch",
	    "--untracked-files=all", "--ignore-submodules=dirty",
	    "--no-renames", "--no-ahead-behind", NULL);
}

static enum git_op_next
since_dirt(struct git_op *op, const struct git_answer *answer)
{
	struct since_op *since = op->self;
	struct git_status_entry entry;
	struct git_records records;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_records_init(&records, answer->out, answer->out_len);
	while (git_status_next(&records, &entry))
		/* Only another repository is listed as a folder. */
		if (entry.kind == GIT_STATUS_CHANGED ||
		    entry.kind == GIT_STATUS_UNMERGED ||
		    (entry.kind == GIT_STATUS_UNTRACKED &&
			entry.text[0] != '\0' &&
			entry.text[strlen(entry.text) - 1] != '/'))
			paths_add(&since->dirt, entry.text);
	return GIT_OP_DONE;
}

static const struct git_op_step since_steps[] = {
	GIT_OP_ONTO,
	{ .ask = since_ask_count, .answer = since_count },
	{ .ask = since_ask_files, .answer = since_files },
	{ .ask = since_ask_dirt, .answer = since_dirt },
};

static void
since_finish(struct git_op *op, const struct err *err)
{
	struct since_op *since = op->self;

	if (err != NULL) {
		since->fn(NULL, err, since->arg);
		return;
	}
	paths_order(&since->files);
	paths_order(&since->dirt);
	since->since.files = (const char *const *)since->files.v;
	since->since.file_count = since->files.count;
	since->since.dirt = (const char *const *)since->dirt.v;
	since->since.dirt_count = since->dirt.count;
	since->fn(&since->since, NULL, since->arg);
}

static void
since_release(struct git_op *op)
{
	struct since_op *since = op->self;

	paths_release(&since->files);
	paths_release(&since->dirt);
	free(since->commit);
}

void
git_since_read(struct git *git, const char *dir, const char *commit,
    const char *branch, git_since_fn *fn, void *arg)
{
	struct since_op *since = xcalloc(1, sizeof *since);

	since->op.onto = xstrdup(branch);
	since->commit = xstrdup(commit);
	since->fn = fn;
	since->arg = arg;
	since->op.self = since;
	since->op.finish = since_finish;
	since->op.release = since_release;
	git_op_start(
	    &since->op, git, dir, since_steps, nitems(since_steps), false);
}

/* --- what a commit would change ---------------------------------------- */

struct own_op {
	struct git_op op;
	char *commit;
	char base[GIT_ID_SIZE];
	bool lost; /* what the worker began with is gone */
	struct paths files;
	git_list_fn *fn;
	void *arg;
};

static enum git_op_next
own_ask_base(struct git_op *op)
{
	const struct own_op *own = op->self;
	struct git_home home;

	git_op_args(op, "merge-base", own->commit, op->onto_id, NULL);
	/* As if the branch still had it. */
	if (!own->lost && git_home(op->git, op->dir, &home) &&
	    home.base != NULL)
		git_op_arg(op, home.base);
	return GIT_OP_ASK;
}

/* Without a common commit, all of it is new. */
static enum git_op_next
own_base(struct git_op *op, const struct git_answer *answer)
{
	struct own_op *own = op->self;

	if (answer->status > 1 && !own->lost) {
		own->lost = true;
		return GIT_OP_AGAIN;
	}
	if (answer->status > 1)
		return git_op_complain(op, answer);
	strlcpy(own->base, answer->status == 0 ? answer->out : op->onto_id,
	    sizeof own->base);
	return GIT_OP_NEXT;
}

static enum git_op_next
own_ask_files(struct git_op *op)
{
	const struct own_op *own = op->self;

	return git_op_args(op, "diff-tree", "-r", "-z", "--no-renames",
	    "--name-only", own->base, own->commit, NULL);
}

static enum git_op_next
own_files(struct git_op *op, const struct git_answer *answer)
{
	struct own_op *own = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	paths_parse(&own->files, answer);
	return GIT_OP_DONE;
}

static const struct git_op_step own_steps[] = {
	GIT_OP_ONTO,
	{ .ask = own_ask_base, .answer = own_base },
	{ .ask = own_ask_files, .answer = own_files },
};

static void
own_finish(struct git_op *op, const struct err *err)
{
	struct own_op *own = op->self;

	if (err != NULL) {
		own->fn(NULL, 0, err, own->arg);
		return;
	}
	paths_order(&own->files);
	own->files.v =
	    xreallocarray(own->files.v, own->files.count + 1, sizeof(char *));
	own->files.v[own->files.count] = NULL;
	own->fn((const char *const *)own->files.v, own->files.count, NULL,
	    own->arg);
}

static void
own_release(struct git_op *op)
{
	struct own_op *own = op->self;

	paths_release(&own->files);
	free(own->commit);
}

void
git_since_own(struct git *git, const char *dir, const char *commit,
    const char *branch, git_list_fn *fn, void *arg)
{
	struct own_op *own = xcalloc(1, sizeof *own);

	own->op.onto = xstrdup(branch);
	own->commit = xstrdup(commit);
	own->fn = fn;
	own->arg = arg;
	own->op.self = own;
	own->op.finish = own_finish;
	own->op.release = own_release;
	git_op_start(&own->op, git, dir, own_steps, nitems(own_steps), false);
}
