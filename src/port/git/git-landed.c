/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "git-landed.h"
#include "git-private.h"

/* The newest ones: those below them are looked at when they are back. */
#define LOST_MAX "--count=500"

/* For histories that differ by thousands of commits. */
#define LOOK_DEADLINE_MS (INT64_C(10) * 60 * 1000)

/* Of our own ids, which a person copies into a shell. */
static const char id_chars[] =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-";

/* Kinds of records in its report. */
#define LANDED_LOST   'l' /* "ID\tCOMMIT\tTITLE" */
#define LANDED_LET_GO 'g'

/* A ref whose commit the branch does not reach; fields point into the text. */
struct landed_ref {
	char *commit, *id, *title;
	bool there; /* all the same, rewritten */
	bool lost;
};

/* A commit that the branch and the refs do not share. */
struct landed_side {
	char mark;
	const char *commit, *author, *task; /* of its message, "" = none */
	struct landed_ref *ref; /* whose commit it is; NULL = none */
};

struct landed_op {
	struct git_op op;
	char *branch, *trailer;
	int64_t since_s, old_s;
	char **let_go;
	struct landed_ref *refs;
	size_t count;
	struct landed_side *sides;
	size_t side_count;
	char tip[GIT_ID_SIZE]; /* what `finish` sees */
	git_landed_fn *fn;
};

/* What the branch does not reach; mostly nothing. */
static void
read_refs(struct landed_op *landed)
{
	struct git_op *op = &landed->op;
	char *rest, *line;

	git_op_must(op, "for-each-ref",
	    git_op_text(op, "--no-merged=%s", landed->tip),
	    "--sort=-committerdate", LOST_MAX,
	    "--format=%(committerdate:unix)%09%(objectname)%09"
	    "%(refname:lstrip=3)%09%(contents:subject)",
	    GIT_LANDED_REFS, NULL);
	rest = git_op_copy(op, op->answer.out);
	while ((line = strsep(&rest, "\n")) != NULL) {
		const char *date = strsep(&line, "\t");
		struct landed_ref ref = { 0 };

		ref.commit = strsep(&line, "\t");
		ref.id = strsep(&line, "\t");
		ref.title = line;
		if (ref.title == NULL ||
		    strspn(ref.id, id_chars) != strlen(ref.id) ||
		    strtoll(date, NULL, 10) < landed->since_s)
			continue;
		if (strv_has(strv_const(landed->let_go), ref.commit)) {
			git_op_tell(op, LANDED_LET_GO, ref.commit);
			continue;
		}
		landed->refs = xreallocarray(
		    landed->refs, landed->count + 1, sizeof *landed->refs);
		landed->refs[landed->count++] = ref;
	}
}

static struct landed_ref *
landed_ref_of(const struct landed_op *landed, const char *commit)
{
	for (size_t i = 0; i < landed->count; i++)
		if (strcmp(landed->refs[i].commit, commit) == 0)
			return &landed->refs[i];
	return NULL;
}

/* The commits that one side alone has, or both with the same changes ('='):
 * '<' is the branch. Oldest first. */
static void
read_sides(struct landed_op *landed)
{
	struct git_op *op = &landed->op;
	char *rest, *line;

	for (size_t i = 0; i < landed->count; i++)
		buf_addf(&op->input, "%s...%s\n", landed->tip,
		    landed->refs[i].commit);
	op->deadline_ms = LOOK_DEADLINE_MS;
	git_op_must(op, "log", "--no-show-signature", "--topo-order",
	    "--reverse", "--left-right", "--cherry-mark",
	    git_op_text(op,
		"--format=%%m%%x09%%H%%x09%%at <%%ae>%%x09"
		"%%(trailers:key=%s,valueonly,separator=%%x2C)",
		landed->trailer),
	    "--stdin", NULL);
	rest = git_op_copy(op, op->answer.out);
	while ((line = strsep(&rest, "\n")) != NULL) {
		struct landed_side side = { .mark = line[0] };

		strsep(&line, "\t");
		side.commit = strsep(&line, "\t");
		side.author = strsep(&line, "\t");
		side.task = line;
		if (line == NULL)
			continue;
		side.ref = landed_ref_of(landed, side.commit);
		landed->sides = xreallocarray(landed->sides,
		    landed->side_count + 1, sizeof *landed->sides);
		landed->sides[landed->side_count++] = side;
	}
}

/* Which one is this commit of the branch, rewritten? */
static void
note_rewritten(struct landed_op *landed, const struct landed_side *on)
{
	for (size_t i = 0; i < landed->side_count; i++) {
		const struct landed_side *side = &landed->sides[i];

		if (side->ref != NULL && on->task[0] != '\0' &&
		    strcmp(side->task, on->task) == 0 &&
		    strcmp(side->author, on->author) == 0)
			side->ref->there = true;
	}
}

static void
find_lost(struct landed_op *landed)
{
	struct git_op *op = &landed->op;

	for (size_t i = 0; i < landed->side_count; i++) {
		const struct landed_side *side = &landed->sides[i];

		if (side->ref != NULL && side->mark == '=')
			side->ref->there = true;
		else if (side->ref == NULL && side->mark != '>')
			note_rewritten(landed, side);
	}
	for (size_t i = 0; i < landed->side_count; i++) {
		struct landed_ref *ref = landed->sides[i].ref;

		if (ref == NULL || ref->there)
			continue;
		ref->lost = true;
		git_op_tell(op, LANDED_LOST,
		    git_op_text(
			op, "%s\t%s\t%s", ref->id, ref->commit, ref->title));
	}
}

static bool
landed_is_lost(const struct landed_op *landed, const char *commit)
{
	const struct landed_ref *ref = landed_ref_of(landed, commit);

	return ref != NULL && ref->lost;
}

/* One that stays keeps a commit longer than needed: the next look tries it
 * again. */
static void
remove_old(struct landed_op *landed)
{
	struct git_op *op = &landed->op;
	char *rest, *line;
	size_t seen = 0;

	git_op_must(op, "for-each-ref", "--sort=-committerdate",
	    "--format=%(committerdate:unix) %(objectname) %(refname)",
	    GIT_LANDED_REFS, NULL);
	rest = git_op_copy(op, op->answer.out);
	while ((line = strsep(&rest, "\n")) != NULL) {
		const char *date = strsep(&line, " ");
		const char *commit = strsep(&line, " ");

		if (line == NULL || ++seen <= GIT_LANDED_KEPT ||
		    strtoll(date, NULL, 10) >= landed->old_s ||
		    landed_is_lost(landed, commit))
			continue;
		buf_addf(&op->input, "delete %s %s\n", line, commit);
	}
	if (op->input.len == 0)
		return;
	op->tolerant = true;
	git_op_no_hooks(op);
	git_op_try(op, "update-ref", "--stdin", NULL);
}

static void
landed_run(struct git_op *op)
{
	struct landed_op *landed = op->self;

	git_op_need_gitdir(op);
	git_op_branch_tip(op, landed->branch, landed->tip);
	if (landed->tip[0] == '\0')
		git_op_die(op, -ENOENT, "there is no branch %s in %s",
		    landed->branch, op->dir);
	read_refs(landed);
	if (landed->count > 0) {
		read_sides(landed);
		find_lost(landed);
	}
	remove_old(landed);
}

static void
landed_finish(struct git_op *op, const struct err *err)
{
	struct landed_op *self = op->self;
	cleanup_git_list struct git_list lost = { 0 }, let_go = { 0 };
	struct git_landed landed = { 0 };
	cleanup_free struct git_lost *list = NULL;

	git_op_told(op, LANDED_LOST, &lost);
	git_op_told(op, LANDED_LET_GO, &let_go);
	list = xcalloc(lost.count + 1, sizeof *list);
	for (size_t i = 0; i < lost.count; i++) {
		char *text = git_op_copy(op, lost.v[i]);

		list[i].id = strsep(&text, "\t");
		list[i].commit = strsep(&text, "\t");
		list[i].title = text != NULL ? text : "";
	}
	memcpy(landed.tip, self->tip, GIT_ID_SIZE);
	landed.lost = list;
	landed.lost_count = lost.count;
	landed.let_go = let_go.v;
	self->fn(err == NULL ? &landed : NULL, err, op->arg);
}

static void
landed_release(struct git_op *op)
{
	struct landed_op *landed = op->self;

	strv_clear(&landed->let_go);
	free(landed->refs);
	free(landed->sides);
}

void
git_landed_look(struct git *git, const struct git_landed_spec *spec,
    git_landed_fn *fn, void *arg)
{
	struct landed_op *landed = git_op_new(sizeof *landed, git,
	    git_root(git), NULL, landed_run, landed_finish);
	struct git_op *op = &landed->op;

	landed->branch = git_op_copy(op, spec->branch);
	landed->trailer = git_op_copy(op, spec->trailer);
	landed->since_s = spec->since_s;
	landed->old_s = spec->old_s;
	for (size_t i = 0; spec->let_go != NULL && spec->let_go[i] != NULL; i++)
		strv_add(&landed->let_go, spec->let_go[i]);
	landed->fn = fn;
	op->arg = arg;
	op->release = landed_release;
	op->ret = landed->tip;
	op->ret_size = sizeof landed->tip;
	git_op_begin(op, false);
}
