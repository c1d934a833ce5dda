/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "git-candidate.h"
#include "git-facts.h"
#include "git-follow.h"
#include "git-freeze.h"
#include "git-op.h"
#include "git-records.h"
#include "git-refs.h"
#include "git-save.h"
#include "git-stand.h"
#include "mem.h"
#include "strv.h"
#include "text.h"

#define COMMIT_FORMAT "%m%H%x00%T%x00%ct%x00%an%x00%ae%x00%ad%x00%cd%x00%B"
#define MARK_SIZE     17

/* A commit of the landing branch that one of the worker's has as parent. */
struct boundary {
	char id[GIT_ID_SIZE], tree[GIT_ID_SIZE];
	int64_t date;
};

struct freeze_op {
	struct git_op op;
	char *branch, *ref, *expected;
	bool seen_clean;
	struct git_rules rules;
	struct buf status, log, diff; /* what the answer points into */
	char *date;
	/* Before each commit in the log; random, so that no path has it. */
	char mark[MARK_SIZE];
	struct boundary *boundaries;
	size_t boundary_count;
	char last_id[GIT_ID_SIZE]; /* a merge is told once for each parent */
	bool suspicious; /* a commit touched one of the pathspecs */
	struct git_frozen frozen;
	git_freeze_fn *fn;
	void *arg;
};

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

	return freeze->seen_clean && freeze->expected != NULL &&
	    !git_op_rebasing(op) &&
	    git_stand_is_on(op->git, op->dir, op->gitdir, freeze->branch) &&
	    git_refs_head(op->gitdir, common, head) == 0 &&
	    strcmp(head, freeze->expected) == 0 && is_as_followed(op, head);
}

static enum git_op_next
freeze_ask_status(struct git_op *op)
{
	struct freeze_op *freeze = op->self;
	struct git_frozen *frozen = &freeze->frozen;

	if (is_as_seen(freeze)) {
		strlcpy(
		    frozen->commit, freeze->expected, sizeof frozen->commit);
		strlcpy(frozen->branch, freeze->branch, sizeof frozen->branch);
		return GIT_OP_NEXT;
	}
	return git_op_args(op, "status", "--porcelain=v2", "-z", "--branch",
	    "--untracked-files=all", "--ignore-submodules=dirty",
	    "--no-renames", "--no-ahead-behind", NULL);
}

static void
take_status(struct git_frozen *frozen, const struct git_status_entry *entry)
{
	size_t len = strlen(entry->text);

	switch (entry->kind) {
	case GIT_STATUS_HEAD:
		strlcpy(frozen->commit, entry->text, sizeof frozen->commit);
		break;
	case GIT_STATUS_BRANCH:
		strlcpy(frozen->branch, entry->text, sizeof frozen->branch);
		break;
	case GIT_STATUS_UNTRACKED:
		/* A repository of its own is not ours to land. */
		if (len == 0 || entry->text[len - 1] != '/')
			git_list_add(&frozen->dirty, entry->text);
		break;
	case GIT_STATUS_UNMERGED:
	case GIT_STATUS_CHANGED:
		git_list_add(&frozen->dirty, entry->text);
		break;
	}
}

static enum git_op_next
freeze_status(struct git_op *op, const struct git_answer *answer)
{
	struct freeze_op *freeze = op->self;
	struct git_frozen *frozen = &freeze->frozen;
	struct git_status_entry entry;
	struct git_records records;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_add(&freeze->status, answer->out, answer->out_len);
	git_records_init(&records, freeze->status.data, freeze->status.len);
	while (git_status_next(&records, &entry))
		take_status(frozen, &entry);
	if (frozen->commit[0] == '\0')
		return git_op_fail(
		    op, -ENOENT, "there is no commit in %s", op->dir);
	git_stand_name(op->git, op->dir, op->gitdir, frozen->branch,
	    sizeof frozen->branch);
	if (strcmp(frozen->branch, freeze->branch) != 0)
		frozen->refused |= GIT_FREEZE_OTHER_BRANCH;
	if (git_op_rebasing(op))
		frozen->refused |= GIT_FREEZE_REBASING;
	if (frozen->dirty.count > 0)
		frozen->refused |= GIT_FREEZE_DIRTY;
	if (!is_as_followed(op, frozen->commit) ||
	    (freeze->expected != NULL &&
		strcmp(freeze->expected, frozen->commit) != 0))
		frozen->refused |= GIT_FREEZE_MOVED;
	return GIT_OP_NEXT;
}

/* All commits, and for each the forbidden and protected paths it touched: it
 * takes one more process to learn whether they differ in the end. */
static enum git_op_next
freeze_ask_log(struct git_op *op)
{
	const struct freeze_op *freeze = op->self;
	cleanup_free char *onto = git_op_known_branch(op, op->onto);
	cleanup_free char *range =
	    xasprintf("%s..%s", onto, freeze->frozen.commit);
	cleanup_free char *format =
	    xasprintf("--format=%s%s", freeze->mark, COMMIT_FORMAT);

	git_op_args(op, "log", "-z", "--boundary", "--reverse", "--topo-order",
	    "--no-show-signature", "--no-color", "--date=raw", format, NULL);
	if (freeze->rules.pathspecs != NULL)
		git_op_args(op, "--name-only", "-m", "--no-renames",
		    "--ignore-submodules=none", "--full-history", "--sparse",
		    NULL);
	git_op_not_base(op);
	git_op_args(op, range, "--", NULL);
	strv_add_all(&op->args, strv_const(freeze->rules.pathspecs));
	return GIT_OP_ASK;
}

static void
add_boundary(struct freeze_op *freeze, const char *id, const char *tree,
    const char *date)
{
	struct boundary *boundary;

	freeze->boundaries = xreallocarray(freeze->boundaries,
	    freeze->boundary_count + 1, sizeof *freeze->boundaries);
	boundary = &freeze->boundaries[freeze->boundary_count++];
	memset(boundary, 0, sizeof *boundary);
	strlcpy(boundary->id, id, sizeof boundary->id);
	strlcpy(boundary->tree, tree, sizeof boundary->tree);
	text_parse_int(date, 0, INT64_MAX, &boundary->date);
}

static void
add_message(struct git_list *messages, char *text)
{
	size_t len = strlen(text);

	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	git_list_add(messages, text);
}

/* A commit of the future would have all later ones of the branch follow it:
 * each is at least as late as its parent. */
static const char *
not_later_than_now(struct freeze_op *freeze, const char *date)
{
	int64_t now = clock_wall_ms() / 1000;

	if (strtoll(date, NULL, 10) <= now)
		return date;
	free(freeze->date);
	freeze->date =
	    xasprintf("%lld%s", (long long)now, date + strcspn(date, " "));
	return freeze->date;
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
	const char *fields[FIELDS], *id = head + 1;

	for (size_t i = 0; i < FIELDS; i++) {
		fields[i] = git_records_next(records);
		if (fields[i] == NULL)
			return false;
	}
	if (strcmp(id, freeze->last_id) == 0)
		return true;
	strlcpy(freeze->last_id, id, sizeof freeze->last_id);
	if (head[0] == '-') {
		add_boundary(freeze, id, fields[TREE], fields[COMMITTED]);
		return true;
	}
	add_message(&frozen->messages,
	    freeze->log.data + (fields[BODY] - freeze->log.data));
	if (strcmp(id, frozen->commit) == 0) {
		strlcpy(frozen->tree, fields[TREE], sizeof frozen->tree);
		frozen->author_name = fields[NAME];
		frozen->author_email = fields[EMAIL];
		frozen->author_date = fields[AUTHOR_DATE];
		frozen->committer_date =
		    not_later_than_now(freeze, fields[DATE]);
	}
	return true;
}

static enum git_op_next
parse_log(struct freeze_op *freeze)
{
	struct git_records records;
	const char *record;
	bool own = false;

	git_records_init(&records, freeze->log.data, freeze->log.len);
	while ((record = git_records_next(&records)) != NULL) {
		if (strncmp(record, freeze->mark, MARK_SIZE - 1) != 0) {
			freeze->suspicious |= own;
			continue;
		}
		record += MARK_SIZE - 1;
		own = record[0] != '-';
		if (!take_commit(freeze, record, &records))
			break;
	}
	if (freeze->frozen.messages.count > 0 && freeze->frozen.tree[0] == '\0')
		return git_op_fail(&freeze->op, -EPROTO,
		    "git log did not print commit %s", freeze->frozen.commit);
	return GIT_OP_NEXT;
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

static enum git_op_next
freeze_log(struct git_op *op, const struct git_answer *answer)
{
	struct freeze_op *freeze = op->self;
	struct git_frozen *frozen = &freeze->frozen;

	if (answer->status != 0 &&
	    strstr(answer->complaint, "bad revision") != NULL)
		return git_op_fail(op, -ENOENT, "there is no branch %s in %s",
		    op->onto, git_root(op->git));
	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_add(&freeze->log, answer->out, answer->out_len);
	if (parse_log(freeze) == GIT_OP_FAIL)
		return GIT_OP_FAIL;
	if (frozen->messages.count == 0) {
		frozen->refused |= GIT_FREEZE_NOTHING;
		take_base(freeze, frozen->commit);
	} else if (freeze->boundary_count == 0) {
		frozen->refused |= GIT_FREEZE_UNRELATED;
	} else if (freeze->boundary_count == 1) {
		take_base(freeze, freeze->boundaries[0].id);
	}
	return GIT_OP_NEXT;
}

/* Two ways lead back to the landing branch: the worker merged. */
static enum git_op_next
freeze_ask_base(struct git_op *op)
{
	const struct freeze_op *freeze = op->self;
	cleanup_free char *onto = git_op_known_branch(op, op->onto);

	if (freeze->boundary_count < 2)
		return GIT_OP_NEXT;
	return git_op_args(op, "merge-base", freeze->frozen.commit, onto, NULL);
}

static enum git_op_next
freeze_base(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	take_base(op->self, answer->out);
	return GIT_OP_NEXT;
}

static enum git_op_next
freeze_ask_paths(struct git_op *op)
{
	const struct freeze_op *freeze = op->self;

	if (!freeze->suspicious || freeze->frozen.base[0] == '\0')
		return GIT_OP_NEXT;
	git_op_args(op, "diff-tree", "-r", "-z", "--name-only", "--no-renames",
	    "--ignore-submodules=none", freeze->frozen.base,
	    freeze->frozen.commit, "--", NULL);
	strv_add_all(&op->args, strv_const(freeze->rules.pathspecs));
	return GIT_OP_ASK;
}

static enum git_op_next
freeze_paths(struct git_op *op, const struct git_answer *answer)
{
	struct freeze_op *freeze = op->self;
	struct git_frozen *frozen = &freeze->frozen;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_add(&freeze->diff, answer->out, answer->out_len);
	git_rules_sort(&freeze->rules, freeze->diff.data, freeze->diff.len,
	    &frozen->forbidden, &frozen->protected_paths);
	if (frozen->forbidden.count > 0)
		frozen->refused |= GIT_FREEZE_FORBIDDEN;
	return GIT_OP_NEXT;
}

static enum git_op_next
freeze_ask_ref(struct git_op *op)
{
	const struct freeze_op *freeze = op->self;
	const char *common = op->common;

	if (freeze->ref == NULL || freeze->frozen.refused != 0 ||
	    git_refs_write(common, freeze->ref, freeze->frozen.commit) == 0)
		return GIT_OP_DONE;
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	return git_op_args(op, "update-ref", "--no-deref", freeze->ref,
	    freeze->frozen.commit, NULL);
}

static const struct git_op_step freeze_steps[] = {
	GIT_OP_GITDIR,
	GIT_FOLLOW,
	{ .ask = freeze_ask_status, .answer = freeze_status },
	{ .ask = freeze_ask_log, .answer = freeze_log },
	{ .ask = freeze_ask_base, .answer = freeze_base },
	{ .ask = freeze_ask_paths, .answer = freeze_paths },
	{ .ask = freeze_ask_ref },
};

static void
freeze_finish(struct git_op *op, const struct err *err)
{
	struct freeze_op *freeze = op->self;

	freeze->fn(err == NULL ? &freeze->frozen : NULL, err, freeze->arg);
}

static void
freeze_release(struct git_op *op)
{
	struct freeze_op *freeze = op->self;

	free(freeze->branch);
	free(freeze->ref);
	free(freeze->expected);
	git_rules_release(&freeze->rules);
	free(freeze->boundaries);
	free(freeze->date);
	git_list_release(&freeze->frozen.messages);
	git_list_release(&freeze->frozen.dirty);
	git_list_release(&freeze->frozen.forbidden);
	git_list_release(&freeze->frozen.protected_paths);
	buf_release(&freeze->status);
	buf_release(&freeze->log);
	buf_release(&freeze->diff);
}

static struct freeze_op *
freeze_new(const struct git_freeze *what, git_freeze_fn *fn, void *arg)
{
	struct freeze_op *freeze = xcalloc(1, sizeof *freeze);
	struct git_frozen *frozen = &freeze->frozen;

	xstrset(&freeze->expected, what->expected);
	freeze->seen_clean = what->seen_clean;
	git_rules_init(&freeze->rules, what->forbidden, what->protected_paths);
	snprintf(freeze->mark, sizeof freeze->mark, "%08x%08x", arc4random(),
	    arc4random());
	buf_init(&freeze->status);
	buf_init(&freeze->log);
	buf_init(&freeze->diff);
	frozen->author_name = frozen->author_email = "";
	frozen->author_date = frozen->committer_date = "";
	freeze->fn = fn;
	freeze->arg = arg;
	freeze->op.self = freeze;
	freeze->op.finish = freeze_finish;
	freeze->op.release = freeze_release;
	return freeze;
}

void
git_freeze(struct git *git, const char *dir, const struct git_freeze *what,
    git_freeze_fn *fn, void *arg)
{
	struct freeze_op *freeze = freeze_new(what, fn, arg);

	freeze->branch = xstrdup(what->branch);
	xstrset(&freeze->ref, what->ref);
	freeze->op.onto = xstrdup(what->onto);
	git_op_start(
	    &freeze->op, git, dir, freeze_steps, nitems(freeze_steps), false);
}

/* --- a commit that stands nowhere -------------------------------------- */

static enum git_op_next
look_ask_ids(struct git_op *op)
{
	const struct freeze_op *freeze = op->self;
	cleanup_free char *id = xasprintf("%s^{commit}", freeze->ref);
	cleanup_free char *parent = xasprintf("%s^1", freeze->ref);

	return git_op_ask_ids(op, (const char *[]){ id, parent, NULL });
}

static enum git_op_next
look_ids(struct git_op *op, const struct git_answer *answer)
{
	struct freeze_op *freeze = op->self;
	struct git_frozen *frozen = &freeze->frozen;
	char ids[2][GIT_ID_SIZE];

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, ids, nitems(ids));
	if (ids[0][0] == '\0')
		return git_op_fail(
		    op, -ENOENT, "there is no commit %s", freeze->ref);
	strlcpy(frozen->commit, ids[0], sizeof frozen->commit);
	if (freeze->expected != NULL && strcmp(ids[0], freeze->expected) != 0 &&
	    strcmp(ids[1], freeze->expected) != 0)
		frozen->refused |= GIT_FREEZE_MOVED;
	freeze->suspicious = freeze->rules.pathspecs != NULL;
	return GIT_OP_NEXT;
}

static const struct git_op_step look_steps[] = {
	{ .ask = look_ask_ids, .answer = look_ids },
	{ .ask = freeze_ask_paths, .answer = freeze_paths },
};

void
git_freeze_look(struct git *git, const char *base, const char *commit,
    const struct git_freeze *what, git_freeze_fn *fn, void *arg)
{
	struct freeze_op *freeze = freeze_new(what, fn, arg);

	freeze->ref = xstrdup(commit);
	strlcpy(freeze->frozen.base, base, sizeof freeze->frozen.base);
	git_op_start(&freeze->op, git, git_root(git), look_steps,
	    nitems(look_steps), false);
}

/* --- the ref is not needed any more ------------------------------------ */

/* Of the repository, not of a worktree. */
struct root_op {
	struct git_op op;
	char *ref; /* NULL = none */
	git_work_fn *fn;
	void *arg;
};

static enum git_op_next
drop_ask(struct git_op *op)
{
	const struct root_op *drop = op->self;
	const char *common = op->common;

	if (git_refs_drop(common, drop->ref) == 0)
		return GIT_OP_DONE;
	git_op_no_hooks(op);
	return git_op_args(
	    op, "update-ref", "--no-deref", "-d", drop->ref, NULL);
}

static const struct git_op_step drop_steps[] = {
	GIT_OP_GITDIR,
	{ .ask = drop_ask },
};

static void
root_op_finish(struct git_op *op, const struct err *err)
{
	const struct root_op *drop = op->self;

	drop->fn(err, drop->arg);
}

static void
root_op_release(struct git_op *op)
{
	struct root_op *drop = op->self;

	free(drop->ref);
}

static struct root_op *
root_op_new(const char *ref, git_work_fn *fn, void *arg)
{
	struct root_op *drop = xcalloc(1, sizeof *drop);

	xstrset(&drop->ref, ref);
	drop->fn = fn;
	drop->arg = arg;
	drop->op.self = drop;
	drop->op.finish = root_op_finish;
	drop->op.release = root_op_release;
	return drop;
}

void
git_freeze_drop(struct git *git, const char *ref, git_work_fn *fn, void *arg)
{
	git_op_start(&root_op_new(ref, fn, arg)->op, git, git_root(git),
	    drop_steps, nitems(drop_steps), false);
}

/* --- or must outlast a power cut ---------------------------------------- */

static const struct git_op_step sync_steps[] = {
	GIT_OP_GITDIR,
	{ .ask = git_sync_ask },
};

void
git_freeze_sync(struct git *git, git_work_fn *fn, void *arg)
{
	git_op_start(&root_op_new(NULL, fn, arg)->op, git, git_root(git),
	    sync_steps, nitems(sync_steps), false);
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
