/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-facts.h"
#include "git-follow.h"
#include "git-op.h"
#include "git-records.h"
#include "git-refs.h"
#include "git-stand.h"

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
};

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

static void
facts_run(struct git_op *op)
{
	struct facts_op *self = op->self;
	struct git_facts *facts = &self->facts;
	struct git_status_entry entry;
	struct git_records records;
	int64_t ahead;

	git_op_need_gitdir(op);
	git_follow_run(op);
	git_op_status(op, &records);
	facts->rebasing = git_op_rebasing(op);
	while (git_status_next(&records, &entry))
		facts_count(facts, &entry);
	git_stand_name(
	    op->git, op->dir, op->gitdir, facts->branch, sizeof facts->branch);
	/* A repository without a commit has no branch either; that is no
	 * error. */
	if (op->onto == NULL ||
	    (git_op_look_onto(op) < 0 && op->head_id[0] == '\0' &&
		op->err.code == -ENOENT)) {
		memset(&op->err, 0, sizeof op->err);
		return;
	}
	if (op->err.code != 0)
		git_op_die_of(op);
	memcpy(facts->onto, op->onto_id, GIT_ID_SIZE);
	if (facts->head[0] == '\0' || strcmp(facts->head, op->onto_id) == 0)
		return;
	git_op_args(op, "rev-list", "--count", NULL);
	git_op_not_base(op);
	git_op_must(
	    op, git_op_text(op, "%s..%s", op->onto_id, facts->head), NULL);
	if (!text_parse_int(op->answer.out, 0, INT32_MAX, &ahead))
		git_op_die(op, -EPROTO, "git rev-list --count answered \"%s\"",
		    op->answer.out);
	facts->ahead = (int)ahead;
}

static void
facts_finish(struct git_op *op, const struct err *err)
{
	struct facts_op *facts = op->self;

	facts->fn(err == NULL ? &facts->facts : NULL, err, op->arg);
}

void
git_facts_read(struct git *git, const char *dir, const char *branch,
    git_facts_fn *fn, void *arg)
{
	struct facts_op *facts = git_op_new(
	    sizeof *facts, git, dir, branch, facts_run, facts_finish);

	facts->fn = fn;
	facts->op.arg = arg;
	facts->op.ret = &facts->facts;
	facts->op.ret_size = sizeof facts->facts;
	git_op_begin(&facts->op, false);
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

/* "mode id stage\tpath", up to three for a path, one after the other. */
static void
conflicts_run(struct git_op *op)
{
	struct git_records records;
	const char *record, *path, *last = "";

	git_op_must(op, "ls-files", "--unmerged", "-z", NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((record = git_records_next(&records)) != NULL) {
		path = strchr(record, '\t');
		if (path == NULL || strcmp(path + 1, last) == 0)
			continue;
		last = path + 1;
		git_op_tell(op, GIT_OP_LIST, last);
	}
}

void
git_facts_conflicts(
    struct git *git, const char *dir, git_list_fn *fn, void *arg)
{
	git_op_list(git, dir, NULL, NULL, conflicts_run, fn, arg);
}

static void
forks_run(struct git_op *op)
{
	struct git_records records;
	const char *record;

	git_op_need_onto(op);
	git_op_args(op, "log", "--boundary", "-z", "--format=%m%T",
	    "--no-color", "--no-show-signature", NULL);
	git_op_not_base(op);
	git_op_must(op, git_op_text(op, "%s..HEAD", op->onto_id), "--", NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((record = git_records_next(&records)) != NULL)
		if (record[0] == '-')
			git_op_tell(op, GIT_OP_LIST, record + 1);
}

void
git_facts_forks(struct git *git, const char *dir, const char *onto,
    git_list_fn *fn, void *arg)
{
	git_op_list(git, dir, onto, NULL, forks_run, fn, arg);
}
