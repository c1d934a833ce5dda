/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "git-changes.h"
#include "git-op.h"
#include "git-save.h"
#include "git-snapshot.h"
#include "git-stage.h"
#include "mem.h"

#define INDEX_NAME "llmc-snapshot.index"

struct snapshot_op {
	struct git_save save; /* first; only its index and list of files */
	char *before;
	bool dirty;
	char base[GIT_ID_SIZE]; /* where the work began, "" = not known */
	struct buf own_text, text;
	struct git_changes own, changes; /* point into these */
	bool compared;
	git_snapshot_fn *fn;
	void *arg;
};

/* --- the tree ---------------------------------------------------------- */

static enum git_op_next
ask_clean_tree(struct git_op *op)
{
	const struct snapshot_op *s = op->self;

	if (s->dirty || op->head_id[0] == '\0')
		return GIT_OP_NEXT;
	return git_op_ask_ids(op, (const char *[]){ "HEAD^{tree}", NULL });
}

static enum git_op_next
clean_tree(struct git_op *op, const struct git_answer *answer)
{
	struct snapshot_op *s = op->self;
	char ids[1][GIT_ID_SIZE];

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, ids, 1);
	memcpy(s->save.tree, ids[0], GIT_ID_SIZE);
	return GIT_OP_NEXT;
}

/* A link, since git replaces the file instead of writing to it. */
static enum git_op_next
ask_index(struct git_op *op)
{
	struct snapshot_op *s = op->self;
	cleanup_free char *index = file_join(op->gitdir, "index");

	s->save.index = file_join(op->gitdir, INDEX_NAME);
	unlink(s->save.index); /* left by one that was killed */
	if (link(index, s->save.index) == 0 || op->head_id[0] == '\0')
		return GIT_OP_NEXT;
	git_stage_use_index(op);
	return git_op_args(op, "read-tree", op->head_id, NULL);
}

static enum git_op_next
ask_tree(struct git_op *op)
{
	git_stage_use_index(op);
	return git_op_args(op, "write-tree", NULL);
}

static enum git_op_next
take_tree(struct git_op *op, const struct git_answer *answer)
{
	struct snapshot_op *s = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(s->save.tree, answer->out, sizeof s->save.tree);
	return GIT_OP_NEXT;
}

static const struct git_op_step stage_steps[] = {
	{ .ask = ask_index },
	GIT_STAGE_RAW,
	{ .ask = ask_tree, .answer = take_tree },
};

static enum git_op_next
ask_stage(struct git_op *op)
{
	const struct snapshot_op *s = op->self;

	return s->save.tree[0] != '\0' ?
	    GIT_OP_NEXT :
	    git_op_call(op, stage_steps, nitems(stage_steps));
}

/* --- what has changed -------------------------------------------------- */

static enum git_op_next
ask_base(struct git_op *op)
{
	return op->head_id[0] == '\0' ?
	    GIT_OP_NEXT :
	    git_op_args(op, "merge-base", op->onto_id, op->head_id, NULL);
}

static enum git_op_next
take_base(struct git_op *op, const struct git_answer *answer)
{
	struct snapshot_op *s = op->self;

	if (answer->status == 0 && answer->out_len < sizeof s->base)
		strlcpy(s->base, answer->out, sizeof s->base);
	return GIT_OP_NEXT;
}

static enum git_op_next
ask_diff(struct git_op *op, const char *from)
{
	const struct snapshot_op *s = op->self;

	return git_op_args(op, "diff-tree", "-r", "-z", "--no-renames", "--raw",
	    "--no-abbrev", from, s->save.tree, NULL);
}

static enum git_op_next
ask_own(struct git_op *op)
{
	const struct snapshot_op *s = op->self;

	return s->base[0] != '\0' ? ask_diff(op, s->base) : GIT_OP_NEXT;
}

static enum git_op_next
take_own(struct git_op *op, const struct git_answer *answer)
{
	struct snapshot_op *s = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_add(&s->own_text, answer->out, answer->out_len);
	git_changes_parse(&s->own, s->own_text.data, s->own_text.len);
	return GIT_OP_NEXT;
}

static enum git_op_next
ask_changes(struct git_op *op)
{
	const struct snapshot_op *s = op->self;

	const char *from = s->before[0] != '\0' ? s->before : s->base;

	return from[0] != '\0' ? ask_diff(op, from) : GIT_OP_DONE;
}

static enum git_op_next
take_changes(struct git_op *op, const struct git_answer *answer)
{
	struct snapshot_op *s = op->self;

	s->compared = answer->status == 0;
	if (!s->compared)
		return GIT_OP_NEXT;
	buf_add(&s->text, answer->out, answer->out_len);
	git_changes_parse(&s->changes, s->text.data, s->text.len);
	return GIT_OP_NEXT;
}

static const struct git_op_step snapshot_steps[] = {
	GIT_OP_GITDIR,
	GIT_OP_ONTO,
	{ .ask = ask_clean_tree, .answer = clean_tree },
	{ .ask = ask_stage },
	{ .ask = ask_base, .answer = take_base },
	{ .ask = ask_own, .answer = take_own },
	{ .ask = ask_changes, .answer = take_changes },
};

static void
snapshot_finish(struct git_op *op, const struct err *err)
{
	const struct snapshot_op *s = op->self;
	struct git_snapshot_change *list = NULL;

	if (err != NULL) {
		s->fn(NULL, err, s->arg);
		return;
	}
	list = xcalloc(s->changes.count + 1, sizeof *list);
	for (size_t i = 0; i < s->changes.count; i++) {
		const struct git_change *c = &s->changes.v[i];

		list[i].path = c->path;
		list[i].blob = c->status == 'D' ? "" : c->id;
		list[i].own = git_changes_find(&s->own, c->path) != NULL;
	}
	s->fn(&(struct git_snapshot){ .tree = s->save.tree,
		  .compared = s->compared,
		  .changes = list,
		  .count = s->changes.count },
	    NULL, s->arg);
	free(list);
}

static void
snapshot_release(struct git_op *op)
{
	struct snapshot_op *s = op->self;

	git_save_release(&s->save);
	git_changes_release(&s->own);
	git_changes_release(&s->changes);
	buf_release(&s->own_text);
	buf_release(&s->text);
	free(s->before);
}

void
git_snapshot(struct git *git, const char *dir, const char *onto,
    const char *before, bool dirty, git_snapshot_fn *fn, void *arg)
{
	struct snapshot_op *s = xcalloc(1, sizeof *s);
	struct git_op *op = &s->save.op;

	git_save_init_lists(&s->save);
	buf_init(&s->own_text);
	buf_init(&s->text);
	s->save.leave = true;
	s->before = xstrdup(before);
	s->dirty = dirty;
	s->fn = fn;
	s->arg = arg;
	op->self = s;
	op->finish = snapshot_finish;
	op->release = snapshot_release;
	op->onto = xstrdup(onto);
	git_op_start(
	    op, git, dir, snapshot_steps, nitems(snapshot_steps), false);
}
