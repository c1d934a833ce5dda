/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "git-landed.h"
#include "git-private.h"
#include "git-replay.h"

/* Kinds of records in its report. */
#define REPLAY_COMMIT  'c' /* "ID\tFROM\tTO" */
#define REPLAY_REFUSED 'r'

#define BY_LLMC "llmc" /* author of commits that nobody sees */

struct replay_op {
	struct git_op op;
	char *ours, *theirs;
	struct {
		char tip[GIT_ID_SIZE], tree[GIT_ID_SIZE];
	} made; /* what `finish` sees */
	git_replay_fn *fn;
};

struct replay_commit {
	const char *commit, *parent, *id;
};

/* The ref that keeps a commit, behind GIT_LANDED_REFS; NULL = none does. refs:
 * "COMMIT ID" lines. */
static const char *
replay_id_of(struct git_op *op, const char *refs, const char *commit)
{
	size_t len = strlen(commit);

	for (const char *at = refs; *at != '\0';
	     at += strcspn(at, "\n"), at += *at == '\n')
		if (strncmp(at, commit, len) == 0 && at[len] == ' ')
			return git_op_text(op, "%.*s",
			    (int)strcspn(at + len + 1, "\n"), at + len + 1);
	return NULL;
}

/* Why it is not for llmc to rebase them; NULL = it is. */
static const char *
replay_read(struct replay_op *replay, struct replay_commit *list, size_t *count)
{
	struct git_op *op = &replay->op;
	const char *refs = git_op_must(op, "for-each-ref",
	    "--format=%(objectname) %(refname:lstrip=3)", GIT_LANDED_REFS,
	    NULL);
	const char *out = git_op_must(op, "rev-list", "--reverse",
	    "--topo-order", "--parents",
	    git_op_text(op, "%s..%s", replay->theirs, replay->ours), "--",
	    NULL);
	char *rest = git_op_copy(op, out), *line;

	*count = 0;
	while ((line = strsep(&rest, "\n")) != NULL) {
		struct replay_commit *c = &list[*count];

		if (*line == '\0')
			continue;
		if (*count == GIT_REPLAY_MAX)
			return "there are too many";
		c->commit = strsep(&line, " ");
		c->parent = strsep(&line, " ");
		c->id = replay_id_of(op, refs, c->commit);
		if (c->id == NULL)
			return git_op_text(
			    op, "%.12s has not landed here", c->commit);
		if (c->parent == NULL || line != NULL ||
		    (*count > 0 &&
			strcmp(c->parent, list[*count - 1].commit) != 0))
			return "they are no line of commits";
		++*count;
	}
	return *count == 0 ? "there are none" : NULL;
}

/* A commit that is never shown. */
static const char *
replay_stand_in(struct git_op *op, const char *tree, const char *parent)
{
	static const char *const roles[] = { "AUTHOR", "COMMITTER" };

	for (size_t i = 0; i < nitems(roles); i++) {
		git_op_env(op, "GIT_%s_NAME=" BY_LLMC, roles[i]);
		git_op_env(op, "GIT_%s_EMAIL=" BY_LLMC, roles[i]);
		git_op_env(op, "GIT_%s_DATE=@0 +0000", roles[i]);
	}
	return git_op_must(op, "commit-tree",
	    git_op_text(op, "%s^{tree}", tree), "-m", BY_LLMC,
	    parent != NULL ? "-p" : NULL, parent, NULL);
}

/* Its tree on top of `onto`; NULL = a conflict. merge-tree finds the base of a
 * merge by itself (naming it came with git 2.40): two commits on top of one
 * that has the tree from which the change begins. */
static const char *
replay_merge(struct git_op *op, const struct replay_commit *c, const char *onto)
{
	const char *base = replay_stand_in(op, c->parent, NULL);
	const char *work = replay_stand_in(op, c->commit, base);
	const char *there = replay_stand_in(op, onto, base);
	int status = git_op_try(op, "merge-tree", "--write-tree",
	    "--no-messages", there, work, NULL);

	if (status > 1)
		git_op_die_as(op);
	return status == 0 ?
	    git_op_text(op, "%.*s", (int)strcspn(op->answer.out, "\n"),
		op->answer.out) :
	    NULL;
}

static const char *
replay_commit(struct git_op *op, const struct replay_commit *c,
    const char *tree, const char *onto)
{
	static const char *const fields[] = { "AUTHOR_NAME", "AUTHOR_EMAIL",
		"AUTHOR_DATE", "COMMITTER_DATE" };
	char *rest = git_op_copy(op,
	    git_op_must(op, "log", "--max-count=1", "--no-show-signature",
		"--date=raw", "--format=%an%n%ae%n%ad%n%cd%n%B", c->commit,
		"--", NULL));

	for (size_t i = 0; i < nitems(fields); i++) {
		const char *line = strsep(&rest, "\n");

		if (rest == NULL)
			git_op_die(op, -EPROTO, "git log did not print %.12s",
			    c->commit);
		if (*line != '\0')
			git_op_env(op, "GIT_%s=%s%s", fields[i],
			    i < 2 ? "" : "@", line);
	}
	buf_adds(&op->input, rest);
	return git_op_must(
	    op, "commit-tree", tree, "-p", onto, "-F", "-", NULL);
}

static void
replay_run(struct git_op *op)
{
	struct replay_op *replay = op->self;
	struct replay_commit list[GIT_REPLAY_MAX + 1];
	const char *onto = replay->theirs, *why, *tree;
	size_t count = 0;

	why = replay_read(replay, list, &count);
	for (size_t i = 0; why == NULL && i < count; i++) {
		const char *before = git_op_must(
		    op, "rev-parse", git_op_text(op, "%s^{tree}", onto), NULL);
		const char *to = "";

		tree = replay_merge(op, &list[i], onto);
		if (tree == NULL) {
			why = git_op_text(op, "%s conflicts", list[i].id);
			break;
		}
		if (strcmp(tree, before) != 0)
			onto = to = replay_commit(op, &list[i], tree, onto);
		strlcpy(replay->made.tree, tree, sizeof replay->made.tree);
		git_op_tell(op, REPLAY_COMMIT,
		    git_op_text(
			op, "%s\t%s\t%s", list[i].id, list[i].commit, to));
	}
	if (why != NULL)
		git_op_tell(op, REPLAY_REFUSED, why);
	strlcpy(replay->made.tip, onto, sizeof replay->made.tip);
}

static void
replay_finish(struct git_op *op, const struct err *err)
{
	struct replay_op *replay = op->self;
	cleanup_git_list struct git_list commits = { 0 }, refused = { 0 };
	cleanup_free struct git_replayed_commit *list = NULL;
	struct git_replayed replayed = { 0 };

	git_op_told(op, REPLAY_COMMIT, &commits);
	git_op_told(op, REPLAY_REFUSED, &refused);
	list = xcalloc(commits.count + 1, sizeof *list);
	for (size_t i = 0; i < commits.count; i++) {
		char *text = git_op_copy(op, commits.v[i]);

		list[i].id = strsep(&text, "\t");
		list[i].from = strsep(&text, "\t");
		list[i].to = text != NULL ? text : "";
	}
	replayed.refused = refused.count > 0 ? refused.v[0] : NULL;
	memcpy(replayed.tip, replay->made.tip, GIT_ID_SIZE);
	memcpy(replayed.tree, replay->made.tree, GIT_ID_SIZE);
	replayed.commits = list;
	replayed.count = commits.count;
	replay->fn(err == NULL ? &replayed : NULL, err, op->arg);
}

void
git_replay(struct git *git, const char *ours, const char *theirs,
    git_replay_fn *fn, void *arg)
{
	struct replay_op *replay = git_op_new(sizeof *replay, git,
	    git_root(git), NULL, replay_run, replay_finish);
	struct git_op *op = &replay->op;

	replay->ours = git_op_copy(op, ours);
	replay->theirs = git_op_copy(op, theirs);
	replay->fn = fn;
	op->arg = arg;
	op->ret = &replay->made;
	op->ret_size = sizeof replay->made;
	git_op_begin(op, false);
}
