/* SPDX-License-Identifier: ISC */

/* What would land: the commit that is built for it, and the change as people
 * review it. */

#include "base.h"

#include <strings.h>

#include "acceptance.h"
#include "diff.h"
#include "git-candidate.h"
#include "git-private.h"
#include "prompt.h"
#include "rpc.h"

#define ATTRIBUTES ":(top,glob)**/.gitattributes"

struct place_op {
	struct git_op op;
	char *commit;
	bool make, attributes;
	char *since; /* whose attributes lie there: git_merge_place's */
};

/* Everything is untracked to a git without an index. The locks are those of a
 * git that was killed. */
static void
clean(struct git_op *op)
{
	static const char *const names[] = { "index", "index.lock", "locked" };

	for (size_t i = 0; i < nitems(names); i++)
		unlink(git_op_text(op, "%s/%s", op->gitdir, names[i]));
	if (git_op_is_empty(op))
		return;
	git_op_no_hooks(op);
	git_op_must(
	    op, "clean", "-d", "-x", "--force", "--force", "--quiet", NULL);
}

static void
place_run(struct git_op *op)
{
	struct place_op *place = op->self;

	if (place->make)
		git_worktree_op_add(op, NULL);
	if (!place->attributes || strcmp(place->commit, place->since) == 0)
		return;
	git_op_need_gitdir(op);
	/* An error: the old commit is gone. */
	if (place->since[0] == '\0' ||
	    git_op_try(op, "diff-tree", "-r", "--quiet", place->since,
		place->commit, "--", ATTRIBUTES, NULL) != 0) {
		place->since[0] = '\0';
		clean(op);
		git_op_no_hooks(op);
		if (git_op_try(op, "checkout", "--quiet", place->commit, "--",
			ATTRIBUTES, NULL) != 0 &&
		    strstr(op->answer.complaint, "did not match any file") ==
			NULL)
			git_op_die_as(op);
	}
	strlcpy(place->since, place->commit, GIT_ID_SIZE);
}

/* A helper that was killed has not reported what is there. */
static void
place_finish(struct git_op *op, const struct err *err)
{
	struct place_op *place = op->self;

	if (err != NULL)
		place->since[0] = '\0';
	op->work_fn(err, op->arg);
}

void
git_merge_place_prepare(struct git *git, struct git_merge_place *place,
    const char *commit, bool attributes, git_work_fn *fn, void *arg)
{
	struct place_op *prepare = git_op_new(
	    sizeof *prepare, git, place->dir, commit, place_run, place_finish);
	struct git_op *op = &prepare->op;
	cleanup_free char *gitdir = NULL;
	int r = git_verify(git_root(git), place->dir, &gitdir, NULL);

	if (r == -EUCLEAN)
		remove_tree(place->dir);
	if (r < 0)
		place->attributes[0] = '\0';
	prepare->commit = git_op_copy(op, commit);
	prepare->make = r < 0;
	prepare->attributes = attributes;
	prepare->since = place->attributes;
	op->work_fn = fn;
	op->arg = arg;
	op->ret = place->attributes;
	op->ret_size = sizeof place->attributes;
	git_op_begin(op, r < 0);
}

/* --- candidates --------------------------------------------------------- */

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
	char since[GIT_ID_SIZE]; /* "" = nobody asks */
	char undone[GIT_ID_SIZE]; /* the commit to revert, "" = none */
	char restored[GIT_ID_SIZE]; /* and what to go back to, "" = parent */
	char head_tree[GIT_ID_SIZE], base_tree[GIT_ID_SIZE];
	char *message, *author_name, *author_email, *author_date;
	char *committer_date, *ref;
	int64_t parent_date;
	bool merged; /* by git: the result is to be checked */
	struct git_rules rules;
	struct git_candidate_answer answer;
	git_candidate_fn *fn;
};

#define PATH_LETTER      'p'
#define PROTECTED_LETTER 'r'
#define TREE_LETTER      't'
#define SINCE_MAX        1000 /* commits that are looked at */

/* Unless nothing happened since the base: then the tree of the work is the
 * result. */
bool
git_candidate_merges(const struct git_candidate *what)
{
	return what->revert || what->head_tree == NULL ||
	    what->base_tree == NULL || strcmp(what->parent, what->base) != 0;
}

/* merge-tree finds the base of a merge by itself (naming it came with
 * git 2.40). Between a branch and a commit on top of the one to be undone, that
 * is the latter. The commit is never shown: it has no author and no date. */
static void
make_undoing(struct build_op *build)
{
	static const char *const roles[] = { "AUTHOR", "COMMITTER" };
	struct git_op *op = &build->op;
	const char *before = build->restored[0] != '\0' ?
	    git_op_text(op, "%s^{tree}", build->restored) :
	    git_op_text(op, "%s^1^{tree}", build->undone);

	if (git_op_try(op, "merge-base", "--is-ancestor", build->undone,
		build->parent, NULL) != 0)
		git_op_die(op, -ENOENT,
		    "%.12s cannot be reverted: it is not an ancestor of %.12s",
		    build->undone, build->parent);
	for (size_t i = 0; i < nitems(roles); i++) {
		git_op_env(op, "GIT_%s_NAME=llmc", roles[i]);
		git_op_env(op, "GIT_%s_EMAIL=llmc", roles[i]);
		git_op_env(op, "GIT_%s_DATE=@0 +0000", roles[i]);
	}
	if (git_op_try(op, "commit-tree", before, "-p", build->undone, "-m",
		"undo", NULL) != 0) {
		if (strstr(op->answer.complaint, "not a valid object name") !=
		    NULL)
			git_op_die(op, -EINVAL,
			    "%.12s has no parent: there is nothing to revert "
			    "to",
			    build->undone);
		git_op_die_as(op);
	}
	strlcpy(build->work, op->answer.out, sizeof build->work);
}

/* A conflict prints a tree too, with markers in its files: never use it. */
static enum git_candidate_result
merge(struct build_op *build)
{
	struct git_op *op = &build->op;
	struct git_records records;
	const char *tree, *path;
	int status;

	if (!build->merged) {
		memcpy(build->answer.tree, build->head_tree, GIT_ID_SIZE);
		return strcmp(build->head_tree, build->base_tree) == 0 ?
		    GIT_CANDIDATE_SAME :
		    GIT_CANDIDATE_BUILT;
	}
	if (build->undone[0] == '\0' &&
	    strcmp(build->base, build->parent) != 0 &&
	    git_op_try(op, "merge-base", "--is-ancestor", build->base,
		build->parent, NULL) == 1)
		return GIT_CANDIDATE_LOST;
	status = git_op_try(op, "merge-tree", "--write-tree", "--name-only",
	    "--no-messages", "-z", build->parent, build->work, NULL);
	if (status == USAGE_STATUS)
		git_op_die(op, -ENOTSUP,
		    "landing needs git 2.38 or newer (git merge-tree "
		    "--write-tree)");
	if (status > 1)
		git_op_die_as(op);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	tree = git_records_next(&records);
	/* A name that is no commit has the exit status of a conflict. */
	if (tree == NULL)
		git_op_die(op, -ENOENT, "%s",
		    op->answer.complaint[0] != '\0' ?
			op->answer.complaint :
			"git merge-tree did not print a tree");
	strlcpy(build->answer.tree, tree, sizeof build->answer.tree);
	if (status == 0)
		return GIT_CANDIDATE_BUILT;
	while ((path = git_records_next(&records)) != NULL && path[0] != '\0')
		git_op_tell(op, PATH_LETTER, path);
	return GIT_CANDIDATE_CONFLICT;
}

/* --- the commit ------------------------------------------------------- */

/* Seconds since 1970, and a time zone. */
static bool
parse_date(const char *date, int64_t *ret_seconds, const char **ret_zone)
{
	size_t len = strcspn(date, " ");
	cleanup_free char *seconds = xstrndup(date, len);

	*ret_zone = date[len] == ' ' ? date + len + 1 : "+0000";
	return text_parse_int(seconds, 0, INT64_MAX, ret_seconds);
}

static void
make_commit(struct build_op *build)
{
	struct git_op *op = &build->op;
	const char *zone;
	struct err err;
	int64_t own;

	if (build->parent_date <= 0) {
		if (git_op_try(op, "log", "--max-count=1",
			"--no-show-signature", "--format=%ct", build->parent,
			"--", NULL) != 0)
			git_op_die(op, -ENOENT, "there is no commit %s in %s",
			    build->parent, git_root(op->git));
		if (!text_parse_int(
			op->answer.out, 0, INT64_MAX, &build->parent_date))
			git_op_die(op, -EPROTO,
			    "git log printed \"%s\" as the date of %s",
			    op->answer.out, build->parent);
	}
	if (!parse_date(build->committer_date, &own, &zone))
		git_op_die(op, -EINVAL, "\"%s\" is not a date as git writes it",
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
	if (git_op_try(op, "commit-tree", build->answer.tree, "-p",
		build->parent, "-F", "-", NULL) != 0) {
		/* Asked only after a failure, for a better message. */
		err = git_op_complaint(op);
		git_op_need_identity(op);
		op->err = err;
		git_op_die_of(op);
	}
	strlcpy(
	    build->answer.commit, op->answer.out, sizeof build->answer.commit);
}

/* --- the guard -------------------------------------------------------- */

/* Where the work's changes begin: behind its id. */
static size_t
find_work(const struct build_op *build)
{
	const struct git_answer *answer = &build->op.answer;
	struct git_records records;
	const char *record;

	git_records_init(&records, answer->out, answer->out_len);
	while ((record = git_records_next(&records)) != NULL) {
		if (record[0] == ':')
			git_records_next(&records);
		else if (strcmp(record, build->work) == 0)
			return (size_t)(record - answer->out);
	}
	return answer->out_len;
}

/* Take out of the paths those that are renamed: what the work changed under the
 * old name is changed under the new one. The limit is that of merges. */
static void
forgive_renames(struct build_op *build, const struct git_changes *theirs,
    struct git_list *paths)
{
	struct git_op *op = &build->op;
	struct git_records records;
	const char *record, *from, *to;

	git_op_must(op, "diff-tree", "-r", "-z", "-M", "-l7000",
	    "--diff-filter=R", build->base, build->parent, NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((record = git_records_next(&records)) != NULL) {
		if (record[0] != ':')
			continue;
		from = git_records_next(&records);
		to = git_records_next(&records);
		if (from != NULL && to != NULL &&
		    git_changes_find(theirs, from) != NULL)
			git_list_remove(paths, to);
	}
}

/* What has come since `since`: the trees of the tasks' commits, if nothing of
 * it was lost. */
static void
tell_trees(struct build_op *build)
{
	struct git_op *op = &build->op;
	const char *end;
	int left = SINCE_MAX;

	build->answer.forward =
	    git_op_is_ancestor(op, build->since, build->parent);
	if (!build->answer.forward)
		return;
	git_op_must(op, "log", "--no-show-signature",
	    git_op_text(op, "--max-count=%d", SINCE_MAX),
	    "--format=%T %(trailers:key=" PROMPT_TASK_TRAILER
	    ",valueonly,separator=%x2C)",
	    git_op_text(op, "%s..%s", build->since, build->parent), "--", NULL);
	for (const char *at = op->answer.out; *at != '\0'; at = end) {
		size_t len = strcspn(at, "\n"), id = strcspn(at, " \n");

		end = at + len + (at[len] == '\n');
		if (id + 1 < len)
			git_op_tell(op, TREE_LETTER,
			    git_op_text(op, "%.*s", (int)id, at));
		if (--left == 0)
			git_op_tell(op, TREE_LETTER, "");
	}
}

/* Has the work changed what has changed since, under its old name or a new one?
 */
static void
compare_since(struct build_op *build, const struct git_changes *ours,
    const struct git_changes *theirs)
{
	struct git_op *op = &build->op;
	struct git_records records;
	const char *path;

	git_op_must(op, "diff-tree", "-r", "-z", "--name-only", "--no-renames",
	    "--ignore-submodules=none", build->since, build->parent, NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((path = git_records_next(&records)) != NULL)
		if (git_changes_find(ours, path) != NULL ||
		    git_changes_find(theirs, path) != NULL)
			build->answer.shared++;
	tell_trees(build);
}

static enum git_candidate_result
check(struct build_op *build)
{
	struct git_op *op = &build->op;
	struct git_changes ours = { 0 }, theirs = { 0 };
	struct git_list paths = { 0 }, ruled = { 0 };
	size_t work;

	/* Two comparisons in one process: the candidate with its parent, and
	 * the work with its base, as if that were its only parent. */
	buf_addf(&op->input, "%s\n%s %s\n", build->answer.commit, build->work,
	    build->base);
	git_op_must(op, "diff-tree", "--stdin", "-r", "-z", "--no-renames",
	    "--ignore-submodules=none", NULL);
	work = find_work(build);
	git_changes_parse(&ours, op->answer.out, work);
	git_changes_parse(
	    &theirs, op->answer.out + work, op->answer.out_len - work);
	if (ours.count == 0)
		return GIT_CANDIDATE_SAME;
	if (build->since[0] != '\0')
		compare_since(build, &ours, &theirs);
	for (size_t i = 0; i < ours.count; i++)
		if (git_changes_find(&theirs, ours.v[i].path) == NULL)
			git_list_add(&paths, ours.v[i].path);
	if (paths.count == 0)
		return GIT_CANDIDATE_BUILT;
	forgive_renames(build, &theirs, &paths);
	/* Under its new name a path may be one that the rules are for, which
	 * was not so for the work itself. */
	if (paths.count == 0 && build->rules.pathspecs != NULL) {
		git_op_args(op, "diff-tree", "-r", "-z", "--name-only",
		    "--no-renames", "--ignore-submodules=none", build->parent,
		    build->answer.commit, "--", NULL);
		strv_add_all(&op->args, strv_const(build->rules.pathspecs));
		git_op_must(op, NULL);
		git_rules_sort(&build->rules, op->answer.out,
		    op->answer.out_len, &paths, &ruled);
	}
	git_op_tell_all(op, PATH_LETTER, &paths);
	git_op_tell_all(op, PROTECTED_LETTER, &ruled);
	return paths.count == 0 ? GIT_CANDIDATE_BUILT : GIT_CANDIDATE_REFUSED;
}

static void
build_run(struct git_op *op)
{
	struct build_op *build = op->self;
	struct git_candidate_answer *answer = &build->answer;

	if (build->message[strspn(build->message, " \t\r\n")] == '\0')
		git_op_die(
		    op, -EINVAL, "a commit without a message cannot land");
	if (build->undone[0] != '\0')
		make_undoing(build);
	answer->result = merge(build);
	if (answer->result == GIT_CANDIDATE_BUILT) {
		make_commit(build);
		if (build->merged)
			answer->result = check(build);
	}
	if (answer->result == GIT_CANDIDATE_SAME) {
		memcpy(answer->commit, build->parent, GIT_ID_SIZE);
		answer->date = build->parent_date;
	} else if (answer->result != GIT_CANDIDATE_BUILT) {
		answer->commit[0] = '\0';
		answer->date = 0;
	}
	if (answer->result != GIT_CANDIDATE_BUILT)
		answer->tree[0] = '\0';
	else if (build->ref != NULL) {
		char *gitdir = git_dirs_gitdir(git_root(op->git));

		/* If it cannot be written, only git gc is a danger to it. */
		if (gitdir != NULL)
			git_refs_write(git_dirs_common(gitdir), build->ref,
			    answer->commit);
	}
}

static void
build_finish(struct git_op *op, const struct err *err)
{
	struct build_op *build = op->self;
	cleanup_git_list struct git_list paths = { 0 }, ruled = { 0 };
	cleanup_git_list struct git_list trees = { 0 };

	git_op_told(op, PATH_LETTER, &paths);
	git_op_told(op, PROTECTED_LETTER, &ruled);
	git_op_told(op, TREE_LETTER, &trees);
	build->answer.paths = paths;
	build->answer.protected_paths = ruled;
	build->answer.trees = trees;
	build->fn(err == NULL ? &build->answer : NULL, err, op->arg);
}

static void
build_release(struct git_op *op)
{
	struct build_op *build = op->self;

	git_rules_release(&build->rules);
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
	struct build_op *build =
	    git_op_new(sizeof *build, git, dir, NULL, build_run, build_finish);
	struct git_op *op = &build->op;

	set_id(build->parent, what->parent);
	set_id(build->base, what->revert ? what->head : what->base);
	set_id(what->revert ? build->undone : build->work, what->head);
	set_id(build->restored, what->revert ? what->base : NULL);
	set_id(build->since, what->since);
	set_id(build->head_tree, what->head_tree);
	set_id(build->base_tree, what->base_tree);
	build->merged = git_candidate_merges(what);
	build->parent_date = what->parent_date;
	build->message = git_op_copy(op, what->message);
	build->ref = git_op_copy(op, what->ref);
	build->author_name = git_op_copy(op, what->author_name);
	build->author_email = git_op_copy(op, what->author_email);
	build->author_date = git_op_copy(op, what->author_date);
	build->committer_date = git_op_copy(op, what->committer_date);
	git_rules_init(&build->rules, what->forbidden, what->protected_paths);
	build->fn = fn;
	op->release = build_release;
	op->arg = arg;
	op->ret = &build->answer;
	op->ret_size = sizeof build->answer;
	git_op_begin(op, false);
}

/* --- the change, for a review ------------------------------------------- */

#define ANSWER_LETTER 'a'
#define MESSAGE_BYTES (64 * 1024)
#define CONFLICTS_MAX 100
#define DIFF_MS       60000

struct diff_op {
	struct git_op op;
	char *commit, *tree, *file;
	int context;
	git_diff_fn *fn;
};

/* What the branch would have if the commit landed now; NULL if that conflicts,
 * or this git cannot tell. */
static const char *
merged_tree(
    struct git_op *op, const char *commit, struct json_object *conflicts)
{
	struct git_records records;
	const char *tree, *path;
	int status;

	if (git_op_is_ancestor(op, op->onto_id, commit))
		return commit;
	status = git_op_try(op, "merge-tree", "--write-tree", "--name-only",
	    "--no-messages", "-z", op->onto_id, commit, NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	tree = git_records_next(&records);
	if (status == 0 && tree != NULL)
		return git_op_text(op, "%s", tree);
	while (status == 1 && tree != NULL &&
	    (path = git_records_next(&records)) != NULL && path[0] != '\0' &&
	    json_object_array_length(conflicts) < CONFLICTS_MAX) {
		cleanup_buf struct buf name = BUF_INIT;

		text_add_utf8(&name, path, strlen(path));
		json_object_array_add(
		    conflicts, json_object_new_string(name.data));
	}
	return NULL;
}

static void
diff_run(struct git_op *op)
{
	struct diff_op *diff = op->self;
	struct json_object *answer = json_object_new_object();
	struct json_object *conflicts = json_object_new_array();
	struct diff_limits limits =
	    diff->file != NULL ? diff_one_file : diff_first_look;
	cleanup_buf struct buf text = BUF_INIT, words = BUF_INIT;
	const char *from, *to = NULL, *message;
	int64_t more = 0;

	git_op_need_gitdir(op);
	git_op_need_onto(op);
	if (diff->tree == NULL)
		to = merged_tree(op, diff->commit, conflicts);
	from = op->onto_id;
	if (to == NULL) {
		from = git_op_must(
		    op, "merge-base", op->onto_id, diff->commit, NULL);
		from = git_op_text(op, "%.*s", (int)strcspn(from, "\n"), from);
		to = diff->tree != NULL ? diff->tree : diff->commit;
	}
	message = git_op_must(op, "log", "--max-count=1", "--no-show-signature",
	    "--format=%B", diff->commit, "--", NULL);
	text_add_utf8(
	    &text, message, text_cut(message, strlen(message), MESSAGE_BYTES));
	json_set_string(answer, "base", from);
	json_set_string(answer, "message", text.data);
	op->deadline_ms = DIFF_MS;
	op->tolerant = true;
	git_op_no_attributes(op);
	if (git_op_try(op, "-c", "core.quotePath=false", "diff", "-M",
		"--no-color", "--no-ext-diff", "--no-textconv",
		"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short",
		"--ignore-submodules=none",
		git_op_text(op, "-U%d", diff->context), from, to, "--",
		NULL) != 0) {
		if (op->answer_err.code == -EFBIG)
			git_op_die(op, -EFBIG,
			    "the change is larger than 32 MiB; look at it with: "
			    "git diff --stat %.12s %.12s",
			    from, diff->commit);
		git_op_die_as(op);
	}
	test_guard_read(op->answer.out, op->answer.out_len, &words);
	limits.file = diff->file;
	json_set(answer, "files",
	    diff_read(op->answer.out, op->answer.out_len, &limits, &more));
	json_set_int(answer, "more_files", more);
	json_set(answer, "conflicts", conflicts);
	if (words.len > 0)
		json_set_string(answer, "weakens", words.data);
	buf_clear(&text);
	json_print(answer, false, &text);
	git_op_tell(op, ANSWER_LETTER, text.data);
}

static void
diff_finish(struct git_op *op, const struct err *err)
{
	const struct diff_op *diff = op->self;
	cleanup_git_list struct git_list told = { 0 };
	cleanup_json struct json_object *answer = NULL;
	struct err bad = { 0 };

	git_op_told(op, ANSWER_LETTER, &told);
	if (err == NULL &&
	    (told.count != 1 ||
		json_parse(told.v[0], strlen(told.v[0]), RPC_LINE_MAX, &answer,
		    &bad) < 0)) {
		err_set(&bad, -EPROTO, "the change cannot be shown%s%s",
		    bad.msg[0] != '\0' ? ": " : "", bad.msg);
		err = &bad;
	}
	diff->fn(answer, err, op->arg);
}

void
git_diff_read(struct git *git, const char *dir, const struct git_diff *what,
    git_diff_fn *fn, void *arg)
{
	struct diff_op *diff = git_op_new(
	    sizeof *diff, git, dir, what->onto, diff_run, diff_finish);
	struct git_op *op = &diff->op;

	diff->commit = git_op_copy(op, what->commit);
	diff->tree = git_op_copy(op, what->tree);
	diff->file = git_op_copy(op, what->file);
	diff->context = what->context;
	diff->fn = fn;
	op->arg = arg;
	git_op_begin(op, false);
}
