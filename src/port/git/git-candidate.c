/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "buf.h"
#include "git-candidate.h"
#include "git-changes.h"
#include "git-op.h"
#include "git-records.h"
#include "git-refs.h"
#include "git-stand.h"
#include "mem.h"
#include "strv.h"
#include "text.h"

/* An empty one would mean everything. */
void
git_rules_init(struct git_rules *rules, const char *const *forbidden,
    const char *const *protected_paths)
{
	const char *const *p;

	memset(rules, 0, sizeof *rules);
	for (p = forbidden; p != NULL && *p != NULL; p++) {
		size_t len = strlen(*p);

		while (len > 0 && (*p)[len - 1] == '/')
			len--;
		if (len == 0)
			continue;
		strv_take(&rules->forbidden, xstrndup(*p, len));
		strv_take(&rules->pathspecs,
		    xasprintf(":(top,literal,icase)%.*s", (int)len, *p));
	}
	for (p = protected_paths; p != NULL && *p != NULL; p++)
		if ((*p)[0] != '\0')
			strv_take(
			    &rules->pathspecs, xasprintf(":(top,glob)%s", *p));
}

void
git_rules_release(struct git_rules *rules)
{
	strv_clear(&rules->forbidden);
	strv_clear(&rules->pathspecs);
}

/* Where the file system does not know upper and lower case, it is the same. */
static bool
is_forbidden(const struct git_rules *rules, const char *path)
{
	for (size_t i = 0; i < strv_count(rules->forbidden); i++) {
		size_t len = strlen(rules->forbidden[i]);

		if (strncasecmp(path, rules->forbidden[i], len) == 0 &&
		    (path[len] == '\0' || path[len] == '/'))
			return true;
	}
	return false;
}

void
git_rules_sort(const struct git_rules *rules, const char *text, size_t len,
    struct git_list *forbidden, struct git_list *protected_paths)
{
	struct git_records records;
	const char *path;

	git_records_init(&records, text, len);
	while ((path = git_records_next(&records)) != NULL)
		git_list_add(
		    is_forbidden(rules, path) ? forbidden : protected_paths,
		    path);
}

#define USAGE_STATUS 129 /* git's exit status for options it does not know */

struct build_op {
	struct git_op op;
	char parent[GIT_ID_SIZE], base[GIT_ID_SIZE];
	char work[GIT_ID_SIZE]; /* the head, or a commit that undoes it */
	char undone[GIT_ID_SIZE]; /* the commit to revert, "" = none */
	char restored[GIT_ID_SIZE]; /* and what to go back to, "" = parent */
	char head_tree[GIT_ID_SIZE], base_tree[GIT_ID_SIZE];
	char *message, *author_name, *author_email, *author_date;
	char *committer_date, *ref;
	int64_t parent_date;
	bool merged; /* by git: the result is to be checked */
	struct err commit_err;

	struct git_rules rules;
	struct buf text, ruled; /* what the lists below point into */
	struct git_changes ours, theirs; /* the candidate's, the work's */
	struct git_candidate_answer answer;
	git_candidate_fn *fn;
	void *arg;
};

static enum git_op_next
done(struct build_op *build, enum git_candidate_result result)
{
	struct git_candidate_answer *answer = &build->answer;

	answer->result = result;
	if (result == GIT_CANDIDATE_SAME) {
		strlcpy(answer->commit, build->parent, sizeof answer->commit);
		answer->date = build->parent_date;
	} else if (result != GIT_CANDIDATE_BUILT) {
		answer->commit[0] = '\0';
		answer->date = 0;
	}
	if (result != GIT_CANDIDATE_BUILT)
		answer->tree[0] = '\0';
	return GIT_OP_DONE;
}

/* --- what is undone --------------------------------------------------- */

static enum git_op_next
build_ask_landed(struct git_op *op)
{
	const struct build_op *build = op->self;

	if (build->message[strspn(build->message, " \t\r\n")] == '\0')
		return git_op_fail(
		    op, -EINVAL, "a commit without a message cannot land");
	if (build->undone[0] == '\0')
		return GIT_OP_NEXT;
	return git_op_ask_ancestor(op, build->undone, build->parent);
}

static enum git_op_next
build_landed(struct git_op *op, const struct git_answer *answer)
{
	const struct build_op *build = op->self;

	if (answer->status == 0)
		return GIT_OP_NEXT;
	return git_op_fail(op, -ENOENT,
	    "%.12s cannot be reverted: it is not an ancestor of %.12s",
	    build->undone, build->parent);
}

/* merge-tree finds the base of a merge by itself (naming it came with git
 * 2.40). Between a branch and a commit on top of the one to be undone, that is
 * the latter. Nobody sees this commit, so it has no author and no date. */
static enum git_op_next
build_ask_undo(struct git_op *op)
{
	static const char *const roles[] = { "AUTHOR", "COMMITTER" };
	const struct build_op *build = op->self;
	cleanup_free char *before = build->restored[0] != '\0' ?
	    xasprintf("%s^{tree}", build->restored) :
	    xasprintf("%s^1^{tree}", build->undone);

	if (build->undone[0] == '\0')
		return GIT_OP_NEXT;
	for (size_t i = 0; i < nitems(roles); i++) {
		git_op_env(op, "GIT_%s_NAME=llmc", roles[i]);
		git_op_env(op, "GIT_%s_EMAIL=llmc", roles[i]);
		git_op_env(op, "GIT_%s_DATE=@0 +0000", roles[i]);
	}
	return git_op_args(
	    op, "commit-tree", before, "-p", build->undone, "-m", "undo", NULL);
}

static enum git_op_next
build_undo(struct git_op *op, const struct git_answer *answer)
{
	struct build_op *build = op->self;

	if (answer->status != 0 &&
	    strstr(answer->complaint, "not a valid object name") != NULL)
		return git_op_fail(op, -EINVAL,
		    "%.12s has no parent: there is nothing to revert to",
		    build->undone);
	if (answer->status != 0)
		return git_op_complain(op, answer);
	strlcpy(build->work, answer->out, sizeof build->work);
	return GIT_OP_NEXT;
}

/* --- the tree --------------------------------------------------------- */

/* Unless nothing happened since the base: then the tree of the work is the
 * result. */
bool
git_candidate_merges(const struct git_candidate *what)
{
	return what->revert || what->head_tree == NULL ||
	    what->base_tree == NULL || strcmp(what->parent, what->base) != 0;
}

static enum git_op_next
build_ask_lost(struct git_op *op)
{
	const struct build_op *build = op->self;

	return build->merged && build->undone[0] == '\0' &&
		strcmp(build->base, build->parent) != 0 ?
	    git_op_ask_ancestor(op, build->base, build->parent) :
	    GIT_OP_NEXT;
}

static enum git_op_next
build_lost(struct git_op *op, const struct git_answer *answer)
{
	return answer->status == 1 ? done(op->self, GIT_CANDIDATE_LOST) :
				     GIT_OP_NEXT;
}

static enum git_op_next
build_ask_merge(struct git_op *op)
{
	struct build_op *build = op->self;

	if (!build->merged) {
		if (strcmp(build->head_tree, build->base_tree) == 0)
			return done(build, GIT_CANDIDATE_SAME);
		memcpy(build->answer.tree, build->head_tree, GIT_ID_SIZE);
		return GIT_OP_NEXT;
	}
	return git_op_args(op, "merge-tree", "--write-tree", "--name-only",
	    "--no-messages", "-z", build->parent, build->work, NULL);
}

/* A conflict prints a tree too, with markers in its files: never use it. */
static enum git_op_next
build_conflict(struct build_op *build, struct git_records *records)
{
	const char *path;

	while ((path = git_records_next(records)) != NULL && path[0] != '\0')
		git_list_add(&build->answer.paths, path);
	return done(build, GIT_CANDIDATE_CONFLICT);
}

static enum git_op_next
build_merge(struct git_op *op, const struct git_answer *answer)
{
	struct build_op *build = op->self;
	struct git_records records;
	const char *tree;

	if (answer->status == USAGE_STATUS)
		return git_op_fail(op, -ENOTSUP,
		    "landing needs git 2.38 or newer (git merge-tree "
		    "--write-tree)");
	if (answer->status > 1)
		return git_op_complain(op, answer);
	buf_add(&build->text, answer->out, answer->out_len);
	git_records_init(&records, build->text.data, build->text.len);
	tree = git_records_next(&records);
	/* A name that is no commit has the exit status of a conflict. */
	if (tree == NULL)
		return git_op_fail(op, -ENOENT, "%s",
		    answer->complaint[0] != '\0' ? answer->complaint :
						   "git merge-tree did not "
						   "print a tree");
	if (answer->status == 1)
		return build_conflict(build, &records);
	strlcpy(build->answer.tree, tree, sizeof build->answer.tree);
	return GIT_OP_NEXT;
}

/* --- the commit ------------------------------------------------------- */

static enum git_op_next
build_ask_date(struct git_op *op)
{
	const struct build_op *build = op->self;

	if (build->parent_date > 0)
		return GIT_OP_NEXT;
	return git_op_args(op, "log", "--max-count=1", "--no-show-signature",
	    "--format=%ct", build->parent, "--", NULL);
}

static enum git_op_next
build_date(struct git_op *op, const struct git_answer *answer)
{
	struct build_op *build = op->self;

	if (answer->status != 0)
		return git_op_fail(op, -ENOENT, "there is no commit %s in %s",
		    build->parent, git_root(op->git));
	if (!text_parse_int(answer->out, 0, INT64_MAX, &build->parent_date))
		return git_op_fail(op, -EPROTO,
		    "git log printed \"%s\" as the date of %s", answer->out,
		    build->parent);
	return GIT_OP_NEXT;
}

/* Seconds since 1970, and a time zone. */
static bool
parse_date(const char *date, int64_t *ret_seconds, const char **ret_zone)
{
	size_t len = strcspn(date, " ");
	cleanup_free char *seconds = xstrndup(date, len);

	*ret_zone = date[len] == ' ' ? date + len + 1 : "+0000";
	return text_parse_int(seconds, 0, INT64_MAX, ret_seconds);
}

static enum git_op_next
build_ask_commit(struct git_op *op)
{
	struct build_op *build = op->self;
	const char *zone;
	int64_t own;

	if (!parse_date(build->committer_date, &own, &zone))
		return git_op_fail(op, -EINVAL,
		    "\"%s\" is not a date as git writes it",
		    build->committer_date);
	build->answer.date =
	    own > build->parent_date ? own : build->parent_date;
	if (build->author_name != NULL && build->author_name[0] != '\0')
		git_op_env(op, "GIT_AUTHOR_NAME=%s", build->author_name);
	if (build->author_email != NULL && build->author_email[0] != '\0')
		git_op_env(op, "GIT_AUTHOR_EMAIL=%s", build->author_email);
	git_op_env(op, "GIT_AUTHOR_DATE=@%s", build->author_date);
	git_op_env(op, "GIT_COMMITTER_DATE=@%lld %s",
	    (long long)build->answer.date, zone);
	buf_adds(&op->input, build->message);
	return git_op_args(op, "commit-tree", build->answer.tree, "-p",
	    build->parent, "-F", "-", NULL);
}

static enum git_op_next
build_commit(struct git_op *op, const struct git_answer *answer)
{
	struct build_op *build = op->self;

	if (answer->status == 0) {
		strlcpy(build->answer.commit, answer->out,
		    sizeof build->answer.commit);
		return GIT_OP_NEXT;
	}
	git_op_complain(op, answer);
	build->commit_err = op->err;
	memset(&op->err, 0, sizeof op->err);
	return GIT_OP_NEXT;
}

/* Asked only after a failure, for a better message. */
static enum git_op_next
build_ask_identity(struct git_op *op)
{
	const struct build_op *build = op->self;

	return build->commit_err.code == 0 ? GIT_OP_NEXT :
					     git_op_ask_identity(op);
}

static enum git_op_next
build_identity(struct git_op *op, const struct git_answer *answer)
{
	const struct build_op *build = op->self;

	if (git_op_identity(op, answer) == GIT_OP_NEXT)
		op->err = build->commit_err;
	return GIT_OP_FAIL;
}

/* --- the guard -------------------------------------------------------- */

/* Two comparisons in one process: the candidate with its parent, and the work
 * with its base, as if that were its only parent. */
static enum git_op_next
build_ask_changes(struct git_op *op)
{
	struct build_op *build = op->self;

	if (!build->merged)
		return done(build, GIT_CANDIDATE_BUILT);
	buf_addf(&op->input, "%s\n%s %s\n", build->answer.commit, build->work,
	    build->base);
	return git_op_args(op, "diff-tree", "--stdin", "-r", "-z",
	    "--no-renames", "--ignore-submodules=none", NULL);
}

/* Where the work's changes begin: behind its id. */
static size_t
find_work(const struct build_op *build)
{
	struct git_records records;
	const char *record;

	git_records_init(&records, build->text.data, build->text.len);
	while ((record = git_records_next(&records)) != NULL) {
		if (record[0] == ':')
			git_records_next(&records);
		else if (strcmp(record, build->work) == 0)
			return (size_t)(record - build->text.data);
	}
	return build->text.len;
}

static enum git_op_next
build_changes(struct git_op *op, const struct git_answer *answer)
{
	struct build_op *build = op->self;
	size_t work;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_clear(&build->text);
	buf_add(&build->text, answer->out, answer->out_len);
	work = find_work(build);
	git_changes_parse(&build->ours, build->text.data, work);
	git_changes_parse(
	    &build->theirs, build->text.data + work, build->text.len - work);
	if (build->ours.count == 0)
		return done(build, GIT_CANDIDATE_SAME);
	for (size_t i = 0; i < build->ours.count; i++)
		if (git_changes_find(&build->theirs, build->ours.v[i].path) ==
		    NULL)
			git_list_add(
			    &build->answer.paths, build->ours.v[i].path);
	return build->answer.paths.count == 0 ?
	    done(build, GIT_CANDIDATE_BUILT) :
	    GIT_OP_NEXT;
}

/* The limit is that of merges. */
static enum git_op_next
build_ask_renames(struct git_op *op)
{
	const struct build_op *build = op->self;

	return git_op_args(op, "diff-tree", "-r", "-z", "-M", "-l7000",
	    "--diff-filter=R", build->base, build->parent, NULL);
}

/* What the work changed under the old name is changed under the new one. */
static enum git_op_next
build_renames(struct git_op *op, const struct git_answer *answer)
{
	struct build_op *build = op->self;
	struct git_records records;
	const char *record, *from, *to;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_records_init(&records, answer->out, answer->out_len);
	while ((record = git_records_next(&records)) != NULL) {
		if (record[0] != ':')
			continue;
		from = git_records_next(&records);
		to = git_records_next(&records);
		if (from != NULL && to != NULL &&
		    git_changes_find(&build->theirs, from) != NULL)
			git_list_remove(&build->answer.paths, to);
	}
	return build->answer.paths.count == 0 ?
	    GIT_OP_NEXT :
	    done(build, GIT_CANDIDATE_REFUSED);
}

/* Under its new name a path may be one that the rules are for, which was not
 * so for the work itself. */
static enum git_op_next
build_ask_ruled(struct git_op *op)
{
	struct build_op *build = op->self;

	if (build->rules.pathspecs == NULL)
		return done(build, GIT_CANDIDATE_BUILT);
	git_op_args(op, "diff-tree", "-r", "-z", "--name-only", "--no-renames",
	    "--ignore-submodules=none", build->parent, build->answer.commit,
	    "--", NULL);
	strv_add_all(&op->args, strv_const(build->rules.pathspecs));
	return GIT_OP_ASK;
}

static enum git_op_next
build_ruled(struct git_op *op, const struct git_answer *answer)
{
	struct build_op *build = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_add(&build->ruled, answer->out, answer->out_len);
	git_rules_sort(&build->rules, build->ruled.data, build->ruled.len,
	    &build->answer.paths, &build->answer.protected_paths);
	return done(build,
	    build->answer.paths.count == 0 ? GIT_CANDIDATE_BUILT :
					     GIT_CANDIDATE_REFUSED);
}

static const struct git_op_step build_steps[] = {
	{ .ask = build_ask_landed, .answer = build_landed },
	{ .ask = build_ask_undo, .answer = build_undo },
	{ .ask = build_ask_lost, .answer = build_lost },
	{ .ask = build_ask_merge, .answer = build_merge },
	{ .ask = build_ask_date, .answer = build_date },
	{ .ask = build_ask_commit, .answer = build_commit },
	{ .ask = build_ask_identity, .answer = build_identity },
	{ .ask = build_ask_changes, .answer = build_changes },
	{ .ask = build_ask_renames, .answer = build_renames },
	{ .ask = build_ask_ruled, .answer = build_ruled },
};

/* If it cannot be written, only git gc is a danger to it. */
static void
keep(const struct build_op *build)
{
	cleanup_free char *gitdir = git_dirs_gitdir(git_root(build->op.git));
	cleanup_free char *common =
	    gitdir != NULL ? git_dirs_common(gitdir) : NULL;

	if (common != NULL)
		git_refs_write(common, build->ref, build->answer.commit);
}

static void
build_finish(struct git_op *op, const struct err *err)
{
	struct build_op *build = op->self;

	if (err == NULL && build->answer.result == GIT_CANDIDATE_BUILT &&
	    build->ref != NULL)
		keep(build);
	build->fn(err == NULL ? &build->answer : NULL, err, build->arg);
}

static void
build_release(struct git_op *op)
{
	struct build_op *build = op->self;

	free(build->message);
	free(build->ref);
	free(build->author_name);
	free(build->author_email);
	free(build->author_date);
	free(build->committer_date);
	git_changes_release(&build->ours);
	git_changes_release(&build->theirs);
	git_rules_release(&build->rules);
	buf_release(&build->text);
	buf_release(&build->ruled);
	git_list_release(&build->answer.paths);
	git_list_release(&build->answer.protected_paths);
}

static void
set_id(char *id, const char *value)
{
	if (value != NULL)
		strlcpy(id, value, GIT_ID_SIZE);
}

void
git_candidate_build(struct git *git, const char *dir,
    const struct git_candidate *what, git_candidate_fn *fn, void *arg)
{
	struct build_op *build = xcalloc(1, sizeof *build);

	set_id(build->parent, what->parent);
	set_id(build->base, what->revert ? what->head : what->base);
	set_id(what->revert ? build->undone : build->work, what->head);
	set_id(build->restored, what->revert ? what->base : NULL);
	set_id(build->head_tree, what->head_tree);
	set_id(build->base_tree, what->base_tree);
	build->merged = git_candidate_merges(what);
	build->parent_date = what->parent_date;
	build->message = xstrdup(what->message);
	xstrset(&build->ref, what->ref);
	xstrset(&build->author_name, what->author_name);
	xstrset(&build->author_email, what->author_email);
	build->author_date = xstrdup(what->author_date);
	build->committer_date = xstrdup(what->committer_date);
	git_rules_init(&build->rules, what->forbidden, what->protected_paths);
	buf_init(&build->text);
	buf_init(&build->ruled);
	build->fn = fn;
	build->arg = arg;
	build->op.self = build;
	build->op.finish = build_finish;
	build->op.release = build_release;
	git_op_start(
	    &build->op, git, dir, build_steps, nitems(build_steps), false);
}
