/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-changes.h"
#include "git-op.h"
#include "git-records.h"
#include "git-save.h"
#include "git-snapshot.h"
#include "git-stage.h"

#define INDEX_NAME "llmc-snapshot.index"

struct snapshot_op {
	struct git_save save; /* first; only its index and list of files */
	char *before;
	bool dirty;
	struct {
		char tree[GIT_ID_SIZE];
		bool compared;
	} out;
	git_snapshot_fn *fn;
};

/* The letter of a change says whether it is the worker's own. */
#define OWN_LETTER   'o'
#define OTHER_LETTER 'c'

/* A link, since git replaces the file instead of writing to it. */
static void
stage(struct snapshot_op *s)
{
	struct git_op *op = &s->save.op;
	cleanup_free char *index = file_join(op->gitdir, "index");

	s->save.index = file_join(op->gitdir, INDEX_NAME);
	unlink(s->save.index); /* left by one that was killed */
	if (link(index, s->save.index) == -1 && op->head_id[0] != '\0') {
		git_stage_use_index(op);
		git_op_must(op, "read-tree", op->head_id, NULL);
	}
	git_stage_raw(&s->save);
	git_stage_use_index(op);
	strlcpy(s->out.tree, git_op_must(op, "write-tree", NULL),
	    sizeof s->out.tree);
}

static int
diff(struct git_op *op, const char *from, const char *tree,
    struct git_changes *changes)
{
	int status = git_op_try(op, "diff-tree", "-r", "-z", "--no-renames",
	    "--raw", "--no-abbrev", from, tree, NULL);

	if (status == 0)
		git_changes_parse(changes, op->answer.out, op->answer.out_len);
	return status;
}

static void
snapshot_run(struct git_op *op)
{
	struct snapshot_op *s = op->self;
	struct git_changes own = { 0 }, changes = { 0 };
	const char *base = "", *from;

	git_op_need_gitdir(op);
	git_op_need_onto(op);
	if (!s->dirty && op->head_id[0] != '\0')
		git_op_find_ids(
		    op, (const char *[]){ "HEAD^{tree}", NULL }, &s->out.tree);
	if (s->out.tree[0] == '\0')
		stage(s);
	/* Where the work began. */
	if (op->head_id[0] != '\0' &&
	    git_op_try(op, "merge-base", op->onto_id, op->head_id, NULL) == 0 &&
	    op->answer.out_len < GIT_ID_SIZE)
		base = op->answer.out;
	if (base[0] != '\0' && diff(op, base, s->out.tree, &own) != 0)
		git_op_die_as(op);
	from = s->before[0] != '\0' ? s->before : base;
	s->out.compared =
	    from[0] != '\0' && diff(op, from, s->out.tree, &changes) == 0;
	for (size_t i = 0; i < changes.count; i++) {
		const struct git_change *c = &changes.v[i];
		bool is_own = git_changes_find(&own, c->path) != NULL;

		git_op_tell(op, is_own ? OWN_LETTER : OTHER_LETTER,
		    git_op_text(
			op, "%s %s", c->status == 'D' ? "" : c->id, c->path));
	}
}

static void
snapshot_undo(struct git_op *op)
{
	const struct snapshot_op *s = op->self;

	if (s->save.index != NULL)
		unlink(s->save.index);
}

static void
snapshot_finish(struct git_op *op, const struct err *err)
{
	const struct snapshot_op *s = op->self;
	cleanup_free struct git_snapshot_change *list = NULL;
	struct git_records records;
	char *record;
	size_t count = 0;

	git_records_init(&records, op->told.data, op->told.len);
	while (
	    (record = (char *)(uintptr_t)git_records_next(&records)) != NULL) {
		char *path = strchr(record, ' ');

		*path = '\0';
		list = xreallocarray(list, count + 1, sizeof *list);
		list[count++] = (struct git_snapshot_change){
			.path = path + 1,
			.blob = record + 1,
			.own = record[0] == OWN_LETTER,
		};
	}
	s->fn(err != NULL ? NULL :
			    &(struct git_snapshot){ .tree = s->out.tree,
				.compared = s->out.compared,
				.changes = list,
				.count = count },
	    err, op->arg);
}

void
git_snapshot(struct git *git, const char *dir, const char *onto,
    const char *before, bool dirty, git_snapshot_fn *fn, void *arg)
{
	struct snapshot_op *s = git_save_new(
	    sizeof *s, git, dir, onto, NULL, false, snapshot_run, NULL, arg);
	struct git_op *op = &s->save.op;

	s->save.leave = true;
	s->before = git_op_copy(op, before);
	s->dirty = dirty;
	s->fn = fn;
	op->finish = snapshot_finish;
	op->undo = snapshot_undo;
	op->ret = &s->out;
	op->ret_size = sizeof s->out;
	git_op_begin(op, false);
}
