/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-candidate.h"
#include "git-facts.h"
#include "git-freeze.h"
#include "git-private.h"
#include "acceptance.h"

#define COMMIT_FORMAT "%m%H%x00%T%x00%ct%x00%an%x00%ae%x00%ad%x00%cd%x00%B"
#define MARK_SIZE     17
#define TESTS_MS      20000 /* for the changes to tests */
#define TESTS_BYTES   ((size_t)4 * 1024 * 1024)

/* A commit of the landing branch that one of the worker's has as parent. */
struct boundary {
	char id[GIT_ID_SIZE], tree[GIT_ID_SIZE];
	int64_t date;
};

struct freeze_op {
	struct git_op op;
	char *branch, *ref, *expected, *seen_clean;
	struct git_rules rules;
	/* Before each commit in the log; random, so that no path has it. */
	char mark[MARK_SIZE];
	struct boundary *boundaries;
	size_t boundary_count;
	char last_id[GIT_ID_SIZE]; /* a merge is listed once for each parent */
	bool own_commits; /* there is one */
	bool suspicious; /* and one of them touched one of the pathspecs */
	bool tests; /* look whether it weakens tests; later: if it changes any
		     */
	struct git_frozen frozen;
	git_freeze_fn *fn;
};

/* Kinds of records in the report; the author is four texts. */
#define AUTHOR_LETTER    'a'
#define MESSAGE_LETTER   'm'
#define DIRTY_LETTER     'd'
#define FORBIDDEN_LETTER 'f'
#define PROTECTED_LETTER 'p'
#define WEAKENS_LETTER   'w'

/* Only a commit that the branch has followed to is known to be whole. */
static bool
is_as_followed(const struct git_op *op, const char *head)
{
	return op->followed[0] == '\0' || strcmp(op->followed, head) == 0;
}

/* Is HEAD still where it was seen? */
static bool
is_as_seen(const struct freeze_op *freeze)
{
	const struct git_op *op = &freeze->op;
	const char *common = op->common;
	char head[GIT_ID_SIZE];

	return freeze->seen_clean != NULL &&
	    (freeze->expected == NULL ||
		strcmp(freeze->expected, freeze->seen_clean) == 0) &&
	    !git_op_rebasing(op) &&
	    git_stand_is_on(op->git, op->dir, op->gitdir, freeze->branch) &&
	    git_refs_head(op->gitdir, common, head) == 0 &&
	    strcmp(head, freeze->seen_clean) == 0 && is_as_followed(op, head);
}

static void
take_status(struct freeze_op *freeze, const struct git_status_entry *entry)
{
	struct git_frozen *frozen = &freeze->frozen;
	size_t len = strlen(entry->text);

	switch (entry->kind) {
	case GIT_STATUS_HEAD:
		strlcpy(frozen->commit, entry->text, sizeof frozen->commit);
		return;
	case GIT_STATUS_BRANCH:
		strlcpy(frozen->branch, entry->text, sizeof frozen->branch);
		return;
	case GIT_STATUS_UNTRACKED:
		/* A repository of its own is not ours to land. */
		if (len > 0 && entry->text[len - 1] == '/')
			return;
		break;
	case GIT_STATUS_UNMERGED:
	case GIT_STATUS_CHANGED:
		break;
	}
	frozen->refused |= GIT_FREEZE_DIRTY;
	git_op_tell(&freeze->op, DIRTY_LETTER, entry->text);
}

static void
look_at_tree(struct freeze_op *freeze)
{
	struct git_op *op = &freeze->op;
	struct git_frozen *frozen = &freeze->frozen;
	struct git_status_entry entry;
	struct git_records records;

	if (is_as_seen(freeze)) {
		strlcpy(
		    frozen->commit, freeze->seen_clean, sizeof frozen->commit);
		strlcpy(frozen->branch, freeze->branch, sizeof frozen->branch);
		return;
	}
	git_op_status(op, &records);
	while (git_status_next(&records, &entry))
		take_status(freeze, &entry);
	if (frozen->commit[0] == '\0')
		git_op_die(op, -ENOENT, "there is no commit in %s", op->dir);
	git_stand_name(op->git, op->dir, op->gitdir, frozen->branch,
	    sizeof frozen->branch);
	if (strcmp(frozen->branch, freeze->branch) != 0)
		frozen->refused |= GIT_FREEZE_OTHER_BRANCH;
	if (git_op_rebasing(op))
		frozen->refused |= GIT_FREEZE_REBASING;
	if (!is_as_followed(op, frozen->commit) ||
	    (freeze->expected != NULL &&
		strcmp(freeze->expected, frozen->commit) != 0))
		frozen->refused |= GIT_FREEZE_MOVED;
}

/* A commit of the future would have all later ones of the branch follow it:
 * each is at least as late as its parent. */
static const char *
not_later_than_now(struct git_op *op, const char *date)
{
	int64_t now = clock_wall_ms() / 1000;

	if (strtoll(date, NULL, 10) <= now)
		return date;
	return git_op_text(
	    op, "%lld%s", (long long)now, date + strcspn(date, " "));
}

/* ">id" and seven more records. False if they are not all there. */
static bool
take_commit(
    struct freeze_op *freeze, const char *head, struct git_records *records)
{
	enum {
		TREE,
		COMMITTED,
		NAME,
		EMAIL,
		AUTHOR_DATE,
		DATE,
		BODY,
		FIELDS
	};
	struct git_frozen *frozen = &freeze->frozen;
	struct git_op *op = &freeze->op;
	const char *fields[FIELDS], *id = head + 1;
	const char *text;
	size_t len;

	for (size_t i = 0; i < FIELDS; i++) {
		fields[i] = git_records_next(records);
		if (fields[i] == NULL)
			return false;
	}
	if (strcmp(id, freeze->last_id) == 0)
		return true;
	strlcpy(freeze->last_id, id, sizeof freeze->last_id);
	if (head[0] == '-') {
		const char *tree = fields[TREE];
		const char *date = fields[COMMITTED];
		struct boundary *boundary;

		freeze->boundaries = xreallocarray(freeze->boundaries,
		    freeze->boundary_count + 1, sizeof *freeze->boundaries);
		boundary = &freeze->boundaries[freeze->boundary_count++];
		memset(boundary, 0, sizeof *boundary);
		strlcpy(boundary->id, id, sizeof boundary->id);
		strlcpy(boundary->tree, tree, sizeof boundary->tree);
		text_parse_int(date, 0, INT64_MAX, &boundary->date);
		return true;
	}
	freeze->own_commits = true;
	text = fields[BODY];
	len = strlen(text);
	while (len > 0 && text[len - 1] == '\n')
		len--;
	git_op_tell(
	    op, MESSAGE_LETTER, git_op_text(op, "%.*s", (int)len, text));
	if (strcmp(id, frozen->commit) == 0) {
		strlcpy(frozen->tree, fields[TREE], sizeof frozen->tree);
		for (size_t i = NAME; i < DATE; i++)
			git_op_tell(op, AUTHOR_LETTER, fields[i]);
		git_op_tell(
		    op, AUTHOR_LETTER, not_later_than_now(op, fields[DATE]));
	}
	return true;
}

static void
take_base(struct freeze_op *freeze, const char *id)
{
	struct git_frozen *frozen = &freeze->frozen;

	strlcpy(frozen->base, id, sizeof frozen->base);
	for (size_t i = 0; i < freeze->boundary_count; i++) {
		const struct boundary *boundary = &freeze->boundaries[i];

		if (strcmp(boundary->id, id) != 0)
			continue;
		strlcpy(frozen->base_tree, boundary->tree,
		    sizeof frozen->base_tree);
		frozen->base_date = boundary->date;
	}
}

/* All commits, and for each the forbidden and protected paths it touched: it
 * takes one more process to learn whether they differ in the end. */
static void
read_log(struct freeze_op *freeze, const char *onto)
{
	struct git_op *op = &freeze->op;
	struct git_records records;
	const char *record;
	bool own = false, tests = false;

	git_op_args(op, "log", "-z", "--boundary", "--reverse", "--topo-order",
	    "--no-show-signature", "--no-color", "--date=raw",
	    git_op_text(op, "--format=%s%s", freeze->mark, COMMIT_FORMAT),
	    NULL);
	if (freeze->rules.pathspecs != NULL || freeze->tests)
		git_op_args(op, "--name-only", "-m", "--no-renames",
		    "--ignore-submodules=none", "--full-history", "--sparse",
		    NULL);
	git_op_not_base(op);
	git_op_args(op, git_op_text(op, "%s..%s", onto, freeze->frozen.commit),
	    "--", NULL);
	strv_add_all(&op->args, strv_const(freeze->rules.pathspecs));
	if (freeze->tests)
		strv_add_all(&op->args, test_guard_pathspecs);
	if (git_op_try(op, NULL) != 0) {
		if (strstr(op->answer.complaint, "bad revision") != NULL)
			git_op_die(op, -ENOENT, "there is no branch %s in %s",
			    op->onto, git_root(op->git));
		git_op_die_as(op);
	}
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((record = git_records_next(&records)) != NULL) {
		if (strncmp(record, freeze->mark, MARK_SIZE - 1) != 0) {
			freeze->suspicious |= own;
			tests |= own &&
			    test_guard_is_test(record + (*record == '\n'));
			continue;
		}
		record += MARK_SIZE - 1;
		own = record[0] != '-';
		if (!take_commit(freeze, record, &records))
			break;
	}
	if (freeze->own_commits && freeze->frozen.tree[0] == '\0')
		git_op_die(op, -EPROTO, "git log did not print commit %s",
		    freeze->frozen.commit);
	freeze->tests &= tests;
}

/* Which of the forbidden and protected paths differ in the end. */
static void
sort_paths(struct freeze_op *freeze)
{
	struct git_op *op = &freeze->op;
	struct git_frozen *frozen = &freeze->frozen;
	struct git_list forbidden = { 0 }, protected_paths = { 0 };

	if (!freeze->suspicious || frozen->base[0] == '\0' ||
	    freeze->rules.pathspecs == NULL)
		return;
	git_op_args(op, "diff-tree", "-r", "-z", "--name-only", "--no-renames",
	    "--ignore-submodules=none", frozen->base, frozen->commit, "--",
	    NULL);
	strv_add_all(&op->args, strv_const(freeze->rules.pathspecs));
	git_op_must(op, NULL);
	git_rules_sort(&freeze->rules, op->answer.out, op->answer.out_len,
	    &forbidden, &protected_paths);
	if (forbidden.count > 0)
		frozen->refused |= GIT_FREEZE_FORBIDDEN;
	git_op_tell_all(op, FORBIDDEN_LETTER, &forbidden);
	git_op_tell_all(op, PROTECTED_LETTER, &protected_paths);
}

/* Only people want to know: nothing fails without it. */
static void
look_at_tests(struct freeze_op *freeze)
{
	struct git_op *op = &freeze->op;
	struct git_frozen *frozen = &freeze->frozen;
	cleanup_buf struct buf words = BUF_INIT;

	if (!freeze->tests || frozen->base[0] == '\0')
		return;
	git_op_no_attributes(op);
	git_op_args(op, "diff", "-U0", "-M", "--no-color", "--no-ext-diff",
	    "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", frozen->base,
	    frozen->commit, "--", NULL);
	strv_add_all(&op->args, test_guard_pathspecs);
	op->tolerant = true;
	op->deadline_ms = TESTS_MS;
	if (git_op_try(op, NULL) != 0 || op->answer.out_len > TESTS_BYTES)
		buf_adds(
		    &words, "it changes too much in tests to be looked at");
	else
		test_guard_read(op->answer.out, op->answer.out_len, &words);
	if (words.len > 0)
		git_op_tell(op, WEAKENS_LETTER, words.data);
}

static void
freeze_run(struct git_op *op)
{
	struct freeze_op *freeze = op->self;
	struct git_frozen *frozen = &freeze->frozen;
	const char *onto;

	git_op_need_gitdir(op);
	git_follow_run(op);
	look_at_tree(freeze);
	onto = git_op_known_branch(op, op->onto);
	read_log(freeze, onto);
	if (!freeze->own_commits) {
		frozen->refused |= GIT_FREEZE_NOTHING;
		take_base(freeze, frozen->commit);
	} else if (freeze->boundary_count == 0) {
		frozen->refused |= GIT_FREEZE_UNRELATED;
	} else if (freeze->boundary_count == 1) {
		take_base(freeze, freeze->boundaries[0].id);
	}
	/* Two ways lead back to the landing branch: the worker merged. */
	if (freeze->boundary_count > 1)
		take_base(freeze,
		    git_op_must(op, "merge-base", frozen->commit, onto, NULL));
	sort_paths(freeze);
	look_at_tests(freeze);
	if (freeze->ref == NULL || frozen->refused != 0 ||
	    git_refs_write(op->common, freeze->ref, frozen->commit) == 0)
		return;
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	git_op_must(
	    op, "update-ref", "--no-deref", freeze->ref, frozen->commit, NULL);
}

static void
freeze_finish(struct git_op *op, const struct err *err)
{
	struct freeze_op *freeze = op->self;
	struct git_frozen *frozen = &freeze->frozen;
	cleanup_git_list struct git_list messages = { 0 }, dirty = { 0 },
					 forbidden = { 0 },
					 protected_paths = { 0 },
					 weakens = { 0 }, author = { 0 };

	git_op_told(op, MESSAGE_LETTER, &messages);
	git_op_told(op, DIRTY_LETTER, &dirty);
	git_op_told(op, FORBIDDEN_LETTER, &forbidden);
	git_op_told(op, PROTECTED_LETTER, &protected_paths);
	git_op_told(op, WEAKENS_LETTER, &weakens);
	git_op_told(op, AUTHOR_LETTER, &author);
	frozen->messages = messages;
	frozen->dirty = dirty;
	frozen->forbidden = forbidden;
	frozen->protected_paths = protected_paths;
	frozen->weakens = weakens.count > 0 ? weakens.v[0] : "";
	frozen->author_name = author.count == 4 ? author.v[0] : "";
	frozen->author_email = author.count == 4 ? author.v[1] : "";
	frozen->author_date = author.count == 4 ? author.v[2] : "";
	frozen->committer_date = author.count == 4 ? author.v[3] : "";
	freeze->fn(err == NULL ? frozen : NULL, err, op->arg);
}

static void
freeze_release(struct git_op *op)
{
	struct freeze_op *freeze = op->self;

	git_rules_release(&freeze->rules);
}

static struct freeze_op *
freeze_new(struct git *git, const char *dir, const struct git_freeze *what,
    const char *ref, void (*run)(struct git_op *op), git_freeze_fn *fn,
    void *arg)
{
	struct freeze_op *freeze = git_op_new(
	    sizeof *freeze, git, dir, what->onto, run, freeze_finish);
	struct git_op *op = &freeze->op;

	freeze->branch = git_op_copy(op, what->branch);
	freeze->ref = git_op_copy(op, ref);
	freeze->expected = git_op_copy(op, what->expected);
	freeze->seen_clean = git_op_copy(op, what->seen_clean);
	freeze->tests = what->tests;
	git_rules_init(&freeze->rules, what->forbidden, what->protected_paths);
	snprintf(freeze->mark, sizeof freeze->mark, "%08x%08x", arc4random(),
	    arc4random());
	freeze->fn = fn;
	op->release = freeze_release;
	op->arg = arg;
	op->ret = &freeze->frozen;
	op->ret_size = sizeof freeze->frozen;
	return freeze;
}

void
git_freeze(struct git *git, const char *dir, const struct git_freeze *what,
    git_freeze_fn *fn, void *arg)
{
	git_op_begin(
	    &freeze_new(git, dir, what, what->ref, freeze_run, fn, arg)->op,
	    false);
}

/* --- a commit that stands nowhere -------------------------------------- */

static void
look_run(struct git_op *op)
{
	struct freeze_op *freeze = op->self;
	struct git_frozen *frozen = &freeze->frozen;
	char ids[2][GIT_ID_SIZE];

	git_op_find_ids(op,
	    (const char *[]){ git_op_text(op, "%s^{commit}", freeze->ref),
		git_op_text(op, "%s^1", freeze->ref), NULL },
	    ids);
	if (ids[0][0] == '\0')
		git_op_die(op, -ENOENT, "there is no commit %s", freeze->ref);
	memcpy(frozen->commit, ids[0], GIT_ID_SIZE);
	if (freeze->expected != NULL && strcmp(ids[0], freeze->expected) != 0 &&
	    strcmp(ids[1], freeze->expected) != 0)
		frozen->refused |= GIT_FREEZE_MOVED;
	freeze->suspicious = freeze->rules.pathspecs != NULL;
	sort_paths(freeze);
}

void
git_freeze_look(struct git *git, const char *base, const char *commit,
    const struct git_freeze *what, git_freeze_fn *fn, void *arg)
{
	struct freeze_op *freeze =
	    freeze_new(git, git_root(git), what, commit, look_run, fn, arg);

	strlcpy(freeze->frozen.base, base, sizeof freeze->frozen.base);
	git_op_begin(&freeze->op, false);
}

/* --- the ref is not needed any more ------------------------------------ */

/* Of the repository, not of a worktree. */
struct root_op {
	struct git_op op;
	char *ref; /* NULL = none */
};

static void
drop_run(struct git_op *op)
{
	const struct root_op *drop = op->self;

	git_op_need_gitdir(op);
	if (git_refs_drop(op->common, drop->ref) == 0)
		return;
	git_op_no_hooks(op);
	git_op_must(op, "update-ref", "--no-deref", "-d", drop->ref, NULL);
}

static void
root_op(struct git *git, const char *ref, void (*run)(struct git_op *op),
    git_work_fn *fn, void *arg)
{
	struct root_op *root =
	    git_op_new(sizeof *root, git, git_root(git), NULL, run, NULL);

	root->ref = git_op_copy(&root->op, ref);
	root->op.work_fn = fn;
	root->op.arg = arg;
	git_op_begin(&root->op, false);
}

void
git_freeze_drop(struct git *git, const char *ref, git_work_fn *fn, void *arg)
{
	root_op(git, ref, drop_run, fn, arg);
}

/* --- or must outlast a power cut ---------------------------------------- */

static void
sync_run(struct git_op *op)
{
	git_op_need_gitdir(op);
	git_sync_run(op);
}

void
git_freeze_sync(struct git *git, git_work_fn *fn, void *arg)
{
	root_op(git, NULL, sync_run, fn, arg);
}

void
git_freeze_unlock(const struct git *git, const char *folder)
{
	cleanup_free char *gitdir = git_dirs_gitdir(git_root(git));
	cleanup_free char *common = NULL;

	if (gitdir == NULL)
		return;
	common = git_dirs_common(gitdir);
	git_refs_unlock(common, folder);
}
