/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "git-facts.h"
#include "git-follow.h"
#include "git-op.h"
#include "git-records.h"
#include "git-refs.h"
#include "git-stand.h"
#include "mem.h"
#include "text.h"

static bool
status_header(const char *record, struct git_status_entry *entry)
{
	static const char oid[] = "# branch.oid ", head[] = "# branch.head ";

	if (strncmp(record, oid, strlen(oid)) == 0) {
		entry->kind = GIT_STATUS_HEAD;
		entry->text = record + strlen(oid);
		if (strcmp(entry->text, "(initial)") == 0)
			entry->text = "";
		return true;
	}
	if (strncmp(record, head, strlen(head)) == 0) {
		entry->kind = GIT_STATUS_BRANCH;
		entry->text = record + strlen(head);
		if (strcmp(entry->text, "(detached)") == 0)
			entry->text = "";
		return true;
	}
	return false;
}

static bool
status_changed(const char *record, struct git_status_entry *entry)
{
	entry->kind = GIT_STATUS_CHANGED;
	entry->text = git_records_skip(record, 8);
	entry->staged = entry->text != NULL && record[2] != '.';
	entry->unstaged = entry->text != NULL && record[3] != '.';
	entry->submodule =
	    entry->text != NULL && git_records_skip(record, 2)[0] == 'S';
	return entry->text != NULL &&
	    git_records_word(git_records_skip(record, 6), entry->head_id,
		sizeof entry->head_id) &&
	    git_records_word(git_records_skip(record, 7), entry->index_id,
		sizeof entry->index_id);
}

bool
git_status_next(struct git_records *records, struct git_status_entry *ret_entry)
{
	const char *record;
	bool good;

	while ((record = git_records_next(records)) != NULL) {
		struct git_status_entry entry = { 0 };

		switch (record[0]) {
		case '#':
			good = status_header(record, &entry);
			break;
		case '1':
			good = status_changed(record, &entry);
			break;
		case 'u':
			entry.kind = GIT_STATUS_UNMERGED;
			entry.text = git_records_skip(record, 10);
			good = entry.text != NULL;
			break;
		case '?':
			entry.kind = GIT_STATUS_UNTRACKED;
			entry.text = git_records_skip(record, 1);
			good = entry.text != NULL;
			break;
		default:
			good = false;
		}
		if (good) {
			*ret_entry = entry;
			return true;
		}
	}
	return false;
}

/* Read-only: facts, unmerged paths. */

struct facts_op {
	struct git_op op;
	struct git_facts facts;
	git_facts_fn *fn;
	void *arg;
};

static enum git_op_next
facts_ask_status(struct git_op *op)
{
	return git_op_args(op, "status", "--porcelain=v2", "-z", "--branch",
	    "--untracked-files=all", "--ignore-submodules=dirty",
	    "--no-renames", "--no-ahead-behind", NULL);
}

static void
facts_count(struct git_facts *facts, const struct git_status_entry *entry)
{
	size_t len = strlen(entry->text);

	switch (entry->kind) {
	case GIT_STATUS_HEAD:
		strlcpy(facts->head, entry->text, sizeof facts->head);
		break;
	case GIT_STATUS_BRANCH:
		strlcpy(facts->branch, entry->text, sizeof facts->branch);
		break;
	case GIT_STATUS_UNMERGED:
		facts->conflicts++;
		facts->changed++;
		break;
	case GIT_STATUS_CHANGED:
		facts->changed++;
		break;
	case GIT_STATUS_UNTRACKED:
		/* When all files are listed, only a repository is listed as a
		 * folder. */
		if (len > 0 && entry->text[len - 1] != '/')
			facts->untracked++;
		break;
	}
}

static enum git_op_next
facts_status(struct git_op *op, const struct git_answer *answer)
{
	struct facts_op *facts = op->self;
	struct git_status_entry entry;
	struct git_records records;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	facts->facts.rebasing = git_op_rebasing(op);
	git_records_init(&records, answer->out, answer->out_len);
	while (git_status_next(&records, &entry))
		facts_count(&facts->facts, &entry);
	git_stand_name(op->git, op->dir, op->gitdir, facts->facts.branch,
	    sizeof facts->facts.branch);
	return op->onto != NULL ? GIT_OP_NEXT : GIT_OP_DONE;
}

/* A repository without a commit has no branch either; that is no error. */
static enum git_op_next
facts_tip(struct git_op *op, const struct git_answer *answer)
{
	enum git_op_next next = git_op_onto(op, answer);

	if (next == GIT_OP_FAIL && op->err.code == -ENOENT &&
	    op->head_id[0] == '\0') {
		memset(&op->err, 0, sizeof op->err);
		return GIT_OP_DONE;
	}
	return next;
}

static enum git_op_next
facts_ask_distance(struct git_op *op)
{
	struct facts_op *facts = op->self;
	cleanup_free char *range =
	    xasprintf("%s..%s", op->onto_id, facts->facts.head);

	memcpy(facts->facts.onto, op->onto_id, GIT_ID_SIZE);
	if (facts->facts.head[0] == '\0' ||
	    strcmp(facts->facts.head, op->onto_id) == 0)
		return GIT_OP_DONE;
	git_op_args(op, "rev-list", "--count", NULL);
	git_op_not_base(op);
	return git_op_args(op, range, NULL);
}

static enum git_op_next
facts_distance(struct git_op *op, const struct git_answer *answer)
{
	struct facts_op *facts = op->self;
	int64_t ahead;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	if (!text_parse_int(answer->out, 0, INT32_MAX, &ahead))
		return git_op_fail(op, -EPROTO,
		    "git rev-list --count answered \"%s\"", answer->out);
	facts->facts.ahead = (int)ahead;
	return GIT_OP_DONE;
}

static const struct git_op_step facts_steps[] = {
	GIT_OP_GITDIR,
	GIT_FOLLOW,
	{ .ask = facts_ask_status, .answer = facts_status },
	{ .ask = git_op_ask_onto, .answer = facts_tip },
	{ .ask = facts_ask_distance, .answer = facts_distance },
};

static void
facts_finish(struct git_op *op, const struct err *err)
{
	struct facts_op *facts = op->self;

	facts->fn(err == NULL ? &facts->facts : NULL, err, facts->arg);
}

void
git_facts_read(struct git *git, const char *dir, const char *branch,
    git_facts_fn *fn, void *arg)
{
	struct facts_op *facts = xcalloc(1, sizeof *facts);

	xstrset(&facts->op.onto, branch);
	facts->fn = fn;
	facts->arg = arg;
	facts->op.self = facts;
	facts->op.finish = facts_finish;
	git_op_start(
	    &facts->op, git, dir, facts_steps, nitems(facts_steps), false);
}

int
git_facts_tip(struct git *git, const char *branch, char out[GIT_ID_SIZE])
{
	cleanup_free char *gitdir = git_dirs_gitdir(git_root(git));
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);
	cleanup_free char *common = NULL;

	if (gitdir == NULL)
		return -EIO;
	common = git_dirs_common(gitdir);
	return git_refs_read(common, ref, out);
}

bool
git_facts_is_at(struct git *git, const char *branch, const char *commit)
{
	char tip[GIT_ID_SIZE];

	return git_facts_tip(git, branch, tip) == 0 && strcmp(tip, commit) == 0;
}

/* Both lists: unmerged paths and forks. */
struct list_op {
	struct git_op op;
	struct buf text; /* what the list points into */
	const char **list;
	size_t count;
	git_list_fn *fn;
	void *arg;
};

static void
list_add(struct list_op *list, const char *entry)
{
	list->list =
	    xreallocarray(list->list, list->count + 2, sizeof *list->list);
	list->list[list->count++] = entry;
	list->list[list->count] = NULL;
}

static enum git_op_next
conflicts_ask(struct git_op *op)
{
	return git_op_args(op, "ls-files", "--unmerged", "-z", NULL);
}

/* "mode id stage\tpath", up to three for a path, one after the other. */
static enum git_op_next
conflicts_answer(struct git_op *op, const struct git_answer *answer)
{
	struct list_op *list = op->self;
	struct git_records records;
	const char *record, *path;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_add(&list->text, answer->out, answer->out_len);
	git_records_init(&records, list->text.data, list->text.len);
	while ((record = git_records_next(&records)) != NULL) {
		path = strchr(record, '\t');
		if (path == NULL)
			continue;
		path++;
		if (list->count == 0 ||
		    strcmp(list->list[list->count - 1], path) != 0)
			list_add(list, path);
	}
	return GIT_OP_DONE;
}

/* The log of onto..HEAD, each commit in this format. */
static enum git_op_next
ask_log(struct git_op *op, const char *order, const char *format)
{
	cleanup_free char *range = xasprintf("%s..HEAD", op->onto_id);

	git_op_args(op, "log", order, "-z", format, "--no-color",
	    "--no-show-signature", NULL);
	git_op_not_base(op);
	return git_op_args(op, range, "--", NULL);
}

static enum git_op_next
forks_ask(struct git_op *op)
{
	return ask_log(op, "--boundary", "--format=%m%T");
}

static enum git_op_next
forks_answer(struct git_op *op, const struct git_answer *answer)
{
	struct list_op *list = op->self;
	struct git_records records;
	const char *record;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_add(&list->text, answer->out, answer->out_len);
	git_records_init(&records, list->text.data, list->text.len);
	while ((record = git_records_next(&records)) != NULL)
		if (record[0] == '-')
			list_add(list, record + 1);
	return GIT_OP_DONE;
}

static const struct git_op_step conflicts_steps[] = {
	{ .ask = conflicts_ask, .answer = conflicts_answer },
};

static const struct git_op_step forks_steps[] = {
	GIT_OP_ONTO,
	{ .ask = forks_ask, .answer = forks_answer },
};

static void
list_finish(struct git_op *op, const struct err *err)
{
	struct list_op *list = op->self;
	static const char *const none[] = { NULL };

	if (err != NULL)
		list->fn(NULL, 0, err, list->arg);
	else
		list->fn(list->count > 0 ? list->list : none, list->count, NULL,
		    list->arg);
}

static void
list_release(struct git_op *op)
{
	struct list_op *list = op->self;

	free(list->list);
	buf_release(&list->text);
}

static struct list_op *
list_new(git_list_fn *fn, void *arg)
{
	struct list_op *list = xcalloc(1, sizeof *list);

	buf_init(&list->text);
	list->fn = fn;
	list->arg = arg;
	list->op.self = list;
	list->op.finish = list_finish;
	list->op.release = list_release;
	return list;
}

void
git_facts_conflicts(
    struct git *git, const char *dir, git_list_fn *fn, void *arg)
{
	struct list_op *list = list_new(fn, arg);

	git_op_start(&list->op, git, dir, conflicts_steps,
	    nitems(conflicts_steps), false);
}

void
git_facts_forks(struct git *git, const char *dir, const char *onto,
    git_list_fn *fn, void *arg)
{
	struct list_op *list = list_new(fn, arg);

	list->op.onto = xstrdup(onto);
	git_op_start(
	    &list->op, git, dir, forks_steps, nitems(forks_steps), false);
}
