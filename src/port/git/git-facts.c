/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-facts.h"
#include "git-private.h"

/* Read-only: facts, unmerged paths. */

#define DEADLINE_MS 10000 /* to count lines */

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

bool
git_facts_clean(const struct git_facts *facts)
{
	return facts->changed + facts->untracked + facts->conflicts == 0 &&
	    !facts->rebasing;
}

/* The commits that HEAD has and the branch has not. */
struct history {
	bool linear; /* one after the other, each with one parent */
	char base[GIT_ID_SIZE]; /* the first one's parent, if so */
	char tree[GIT_ID_SIZE]; /* of the last one */
	/* Differences and numbers of lines, if it is only one. */
	const char *diff;
	size_t diff_len;
};

/* ">id tree parents", and for each of its files a record and a path, and
 * another record with its lines. */
static int
parse_history(const struct git_answer *answer, struct history *history)
{
	struct git_records records;
	const char *record;
	char last[GIT_ID_SIZE] = "", parent[GIT_ID_SIZE];
	int count = 0;

	git_records_init(&records, answer->out, answer->out_len);
	while ((record = git_records_next(&records)) != NULL) {
		if (record[0] == '\n' || record[0] == ':')
			git_records_next(&records); /* the path */
		if (record[0] != '>')
			continue;
		if (!git_records_word(
			git_records_skip(record, 2), parent, sizeof parent))
			parent[0] = '\0';
		if (count++ == 0) {
			memcpy(history->base, parent, sizeof parent);
			history->linear = parent[0] != '\0';
		} else {
			history->linear &= strcmp(parent, last) == 0;
		}
		history->linear &= git_records_skip(record, 3) == NULL;
		git_records_word(record + 1, last, sizeof last);
		git_records_word(git_records_skip(record, 1), history->tree,
		    sizeof history->tree);
		history->diff = records.at;
	}
	if (count != 1 || history->diff >= records.end)
		history->diff = "";
	else
		history->diff_len = (size_t)(records.end - history->diff);
	if (history->diff[0] == '\n') {
		history->diff++;
		history->diff_len--;
	}
	return count;
}

/* history: NULL = only how many they are. */
static int
read_history(struct git_op *op, const char *head, struct history *history)
{
	const char *range = git_op_text(op, "%s..%s", op->onto_id, head);
	int64_t ahead;

	if (history != NULL) {
		git_op_args(op, "log", "-z", "--reverse", "--topo-order",
		    "--format=>%H %T %P", "--no-show-signature", "--no-color",
		    "--raw", "--no-abbrev", "--numstat", "--no-renames",
		    "--no-ext-diff", "--no-textconv",
		    "--ignore-submodules=none", NULL);
		git_op_not_base(op);
		op->deadline_ms = DEADLINE_MS;
		op->tolerant = true;
		if (git_op_try(op, range, "--", NULL) == 0)
			return parse_history(&op->answer, history);
	}
	git_op_args(op, "rev-list", "--count", NULL);
	git_op_not_base(op);
	git_op_must(op, range, NULL);
	if (!text_parse_int(op->answer.out, 0, INT32_MAX, &ahead))
		git_op_die(op, -EPROTO, "git rev-list --count answered \"%s\"",
		    op->answer.out);
	return (int)ahead;
}

static void
read_facts(struct git_op *op, struct git_facts *facts, struct history *history)
{
	struct git_status_entry entry;
	struct git_records records;

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
	if (facts->head[0] != '\0' && strcmp(facts->head, op->onto_id) != 0)
		facts->ahead = read_history(op, facts->head, history);
}

static void
facts_run(struct git_op *op)
{
	struct facts_op *self = op->self;

	read_facts(op, &self->facts, NULL);
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

bool
git_facts_is_at(struct git *git, const char *branch, const char *commit)
{
	char tip[GIT_ID_SIZE];

	return git_refs_tip(git, branch, tip) == 0 && strcmp(tip, commit) == 0;
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

/* --- since a commit ----------------------------------------------------- */

struct since_op {
	struct git_op op;
	char *commit;
	struct git_since since;
	git_since_fn *fn;
};

#define FILE_LETTER        'f'
#define UNCOMMITTED_LETTER 'd'

/* Sort them, and leave each in once. */
static void
order(struct git_list *paths)
{
	size_t kept = 0;

	if (paths->count == 0)
		return;
	qsort(paths->v, paths->count, sizeof *paths->v, strv_order);
	for (size_t i = 1; i < paths->count; i++)
		if (strcmp(paths->v[kept], paths->v[i]) != 0)
			paths->v[++kept] = paths->v[i];
	paths->count = kept + 1;
	paths->v[paths->count] = NULL;
}

/* What git has just printed. */
static void
tell_paths(struct git_op *op, char letter)
{
	struct git_records records;
	const char *record;

	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((record = git_records_next(&records)) != NULL)
		if (record[0] != '\0')
			git_op_tell(op, letter, record);
}

static void
since_run(struct git_op *op)
{
	struct since_op *self = op->self;
	struct git_since *since = &self->since;
	struct git_status_entry entry;
	struct git_records records;
	const char *range, *landed;
	int64_t count;

	git_op_need_onto(op);
	range = git_op_text(op, "%s..HEAD", self->commit);
	landed = git_op_text(op, "^%s", op->onto_id);
	/* A commit that does not exist is a fact, not an error. */
	since->known = git_op_try(op, "rev-list", "--count", range, landed,
			   "--", NULL) == 0 &&
	    text_parse_int(op->answer.out, 0, INT32_MAX, &count);
	if (since->known) {
		since->commits = (int)count;
		git_op_must(op, "log", "--format=", range, landed, "-z",
		    "--name-only", "--no-renames", "--no-show-signature", "--",
		    NULL);
		tell_paths(op, FILE_LETTER);
	}
	git_op_status(op, &records);
	while (git_status_next(&records, &entry))
		/* Only another repository is listed as a folder. */
		if (entry.kind == GIT_STATUS_CHANGED ||
		    entry.kind == GIT_STATUS_UNMERGED ||
		    (entry.kind == GIT_STATUS_UNTRACKED &&
			entry.text[0] != '\0' &&
			entry.text[strlen(entry.text) - 1] != '/'))
			git_op_tell(op, UNCOMMITTED_LETTER, entry.text);
}

static void
since_finish(struct git_op *op, const struct err *err)
{
	struct since_op *since = op->self;
	cleanup_git_list struct git_list files = { 0 }, uncommitted = { 0 };

	git_op_told(op, FILE_LETTER, &files);
	git_op_told(op, UNCOMMITTED_LETTER, &uncommitted);
	order(&files);
	order(&uncommitted);
	since->since.files = files.v;
	since->since.file_count = files.count;
	since->since.uncommitted = uncommitted.v;
	since->since.uncommitted_count = uncommitted.count;
	since->fn(err == NULL ? &since->since : NULL, err, op->arg);
}

void
git_since_read(struct git *git, const char *dir, const char *commit,
    const char *branch, git_since_fn *fn, void *arg)
{
	struct since_op *since = git_op_new(
	    sizeof *since, git, dir, branch, since_run, since_finish);

	since->commit = git_op_copy(&since->op, commit);
	since->fn = fn;
	since->op.arg = arg;
	since->op.ret = &since->since;
	since->op.ret_size = sizeof since->since;
	git_op_begin(&since->op, false);
}

/* --- what a commit would change ---------------------------------------- */

static void
own_run(struct git_op *op)
{
	const struct git_op_list *own = op->self;
	struct git_home home;
	int status = 2;

	git_op_need_onto(op);
	/* As if the branch still had what the worker began with. */
	if (git_home(op->git, op->dir, &home) && home.base != NULL)
		status = git_op_try(
		    op, "merge-base", own->name, op->onto_id, home.base, NULL);
	if (status > 1)
		status =
		    git_op_try(op, "merge-base", own->name, op->onto_id, NULL);
	if (status > 1)
		git_op_die_as(op);
	/* Without a common commit, all of it is new. */
	git_op_must(op, "diff-tree", "-r", "-z", "--no-renames", "--name-only",
	    status == 0 ? op->answer.out : op->onto_id, own->name, NULL);
	tell_paths(op, GIT_OP_LIST);
}

/* git sorts them, by bytes. */
void
git_since_own(struct git *git, const char *dir, const char *commit,
    const char *branch, git_list_fn *fn, void *arg)
{
	git_op_list(git, dir, branch, commit, own_run, fn, arg);
}

/* --- compared with what was saved --------------------------------------- */

#define INDEX_NAME "llmc-compare.index"

#define LOST_LETTER    'l'
#define CHANGED_LETTER 'c'

struct compare_op {
	struct git_op op;
	char *base, *saved;
	char *index; /* has only the files in question */
	struct buf saved_entries, base_entries; /* for it */
	char **differ; /* not as saved */
	char **based; /* those in base_entries */
	git_compare_fn *fn;
};

static void
remove_index(struct git_op *op)
{
	const struct compare_op *compare = op->self;

	if (compare->index == NULL)
		return;
	unlink(git_op_text(op, "%s.lock", compare->index));
	unlink(compare->index);
}

/* False if there is no such file on that side, or it is a submodule, whose
 * contents are not compared. */
static bool
add_entry(
    struct buf *entries, const char *mode, const char *id_at, const char *path)
{
	char id[GIT_ID_SIZE];

	if (strcmp(mode, "000000") == 0 || strcmp(mode, "160000") == 0 ||
	    !git_records_word(id_at, id, sizeof id))
		return false;
	buf_addf(entries, "%s %s\t%s", mode, id, path);
	buf_addc(entries, '\0');
	return true;
}

/* Those of the entries that are different in the files. */
static void
list_different(
    struct git_op *op, const struct buf *entries, struct git_records *records)
{
	struct compare_op *compare = op->self;

	git_records_init(records, "", 0);
	if (entries->len == 0)
		return;
	compare->index = file_join(op->gitdir, INDEX_NAME);
	remove_index(op); /* left by one that was killed */
	git_op_env(op, "GIT_INDEX_FILE=%s", compare->index);
	buf_add(&op->input, entries->data, entries->len);
	git_op_must(op, "update-index", "-z", "--index-info", NULL);
	git_op_env(op, "GIT_INDEX_FILE=%s", compare->index);
	git_op_must(op, "diff", "--name-only", "-z", "--no-ext-diff",
	    "--no-renames", "--ignore-submodules=all", NULL);
	git_records_init(records, op->answer.out, op->answer.out_len);
}

static void
compare_run(struct git_op *op)
{
	struct compare_op *compare = op->self;
	struct git_records records;
	const char *record, *path;

	git_op_need_gitdir(op);
	git_op_must(op, "diff-tree", "-r", "-z", "--raw", "--no-abbrev",
	    "--no-renames", "--ignore-submodules=none", compare->base,
	    compare->saved, "--", NULL);
	git_records_init(&records, op->answer.out, op->answer.out_len);
	while ((record = git_records_next(&records)) != NULL &&
	    (path = git_records_next(&records)) != NULL)
		if (record[0] == ':') {
			cleanup_free char *file =
			    file_join(compare->op.dir, path);
			char was[8], mode[8];

			/* ":<mode> <mode> <id> <id> <letter>", and the path as
			 * the next record. */
			if (!git_records_word(record + 1, was, sizeof was) ||
			    !git_records_word(git_records_skip(record, 1), mode,
				sizeof mode) ||
			    strcmp(mode, "160000") == 0)
				continue;
			if (add_entry(&compare->base_entries, was,
				git_records_skip(record, 2), path))
				strv_add(&compare->based, path);
			if (!add_entry(&compare->saved_entries, mode,
				git_records_skip(record, 3), path) &&
			    file_exists(file))
				strv_add(&compare->differ, path);
		}
	list_different(op, &compare->saved_entries, &records);
	while ((path = git_records_next(&records)) != NULL)
		strv_add(&compare->differ, path);
	if (compare->differ == NULL)
		return;
	/* Leaves in `based` those that are as in `base`. */
	list_different(op, &compare->base_entries, &records);
	while ((path = git_records_next(&records)) != NULL)
		strv_remove(compare->based, path);
	for (size_t i = 0; compare->differ[i] != NULL; i++) {
		cleanup_free char *file = NULL;
		bool lost;

		path = compare->differ[i];
		file = file_join(op->dir, path);
		lost = !file_exists(file);
		for (size_t k = 0; k < strv_count(compare->based); k++)
			lost |= strcmp(compare->based[k], path) == 0;
		git_op_tell(op, lost ? LOST_LETTER : CHANGED_LETTER, path);
	}
}

static void
compare_finish(struct git_op *op, const struct err *err)
{
	const struct compare_op *compare = op->self;
	cleanup_git_list struct git_list lost = { 0 }, changed = { 0 };
	struct git_compared compared;

	git_op_told(op, LOST_LETTER, &lost);
	git_op_told(op, CHANGED_LETTER, &changed);
	compared = (struct git_compared){ .lost = lost.v,
		.changed = changed.v,
		.lost_count = lost.count,
		.changed_count = changed.count };
	compare->fn(err == NULL ? &compared : NULL, err, op->arg);
}

void
git_compare(struct git *git, const char *dir, const char *base,
    const char *saved, git_compare_fn *fn, void *arg)
{
	struct compare_op *compare = git_op_new(
	    sizeof *compare, git, dir, NULL, compare_run, compare_finish);
	struct git_op *op = &compare->op;

	compare->base = git_op_copy(op, base);
	compare->saved = git_op_copy(op, saved);
	buf_init(&compare->saved_entries);
	buf_init(&compare->base_entries);
	compare->fn = fn;
	op->arg = arg;
	op->undo = remove_index;
	git_op_begin(op, false);
}

/* --- lines -------------------------------------------------------------- */

#define LINES_MAX (INT64_C(1) << 40) /* of one file */

struct lines_op {
	struct git_op op;
	char *base, *commit;
	struct {
		int64_t added, removed;
	} sums;
	git_lines_fn *fn;
};

/* A number, or "-" for a binary file, up to the next tab; NULL: it is
 * neither. */
static const char *
take(const char *s, int64_t *sum)
{
	char *end;
	long long number;

	if (strncmp(s, "-\t", 2) == 0)
		return s + 2;
	number = strtoll(s, &end, 10);
	if (end == s || *end != '\t' || number < 0 || number > LINES_MAX)
		return NULL;
	*sum += number;
	return end + 1;
}

void
git_lines_sum(
    const char *out, size_t len, int64_t *ret_added, int64_t *ret_removed)
{
	struct git_records records;
	const char *record;

	*ret_added = *ret_removed = 0;
	git_records_init(&records, out, len);
	while ((record = git_records_next(&records)) != NULL) {
		int64_t added = 0, removed = 0;
		const char *rest = take(record, &added);

		if (record[0] == ':')
			git_records_next(&records); /* its path */
		if (rest == NULL || take(rest, &removed) == NULL)
			continue;
		*ret_added += added;
		*ret_removed += removed;
	}
}

static void
count_lines(struct git_facts *facts, const char *out, size_t len)
{
	facts->lines_known = true;
	git_lines_sum(out, len, &facts->lines_added, &facts->lines_removed);
}

static void
lines_run(struct git_op *op)
{
	struct lines_op *lines = op->self;

	op->deadline_ms = DEADLINE_MS;
	git_op_must(op, "diff-tree", "-r", "-z", "--numstat", "--no-renames",
	    "--no-ext-diff", "--no-textconv", lines->base, lines->commit, "--",
	    NULL);
	git_lines_sum(op->answer.out, op->answer.out_len, &lines->sums.added,
	    &lines->sums.removed);
}

static void
lines_finish(struct git_op *op, const struct err *err)
{
	struct lines_op *lines = op->self;

	lines->fn(lines->sums.added, lines->sums.removed, err, op->arg);
}

void
git_lines_read(struct git *git, const char *dir, const char *base,
    const char *commit, git_lines_fn *fn, void *arg)
{
	struct lines_op *lines =
	    git_op_new(sizeof *lines, git, dir, NULL, lines_run, lines_finish);
	struct git_op *op = &lines->op;

	lines->base = git_op_copy(op, base);
	lines->commit = git_op_copy(op, commit);
	lines->fn = fn;
	op->arg = arg;
	op->ret = &lines->sums;
	op->ret_size = sizeof lines->sums;
	git_op_begin(op, false);
}

/* --- snapshots ---------------------------------------------------------- */

#define SNAPSHOT_INDEX "llmc-snapshot.index"

struct snapshot_op {
	struct git_save save; /* first; only its index and list of files */
	char *before; /* NULL = only the facts */
	struct {
		struct git_facts facts;
		bool looked; /* these are known */
		bool taken; /* and the rest, too: */
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

	s->save.index = file_join(op->gitdir, SNAPSHOT_INDEX);
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

/* facts: for its lines, NULL = they are not asked for. */
static int
diff(struct git_op *op, const char *from, const char *tree,
    struct git_changes *changes, struct git_facts *facts)
{
	int status;

	if (facts != NULL) {
		git_op_args(op, "diff-tree", "--numstat", "--no-ext-diff",
		    "--no-textconv", NULL);
		op->deadline_ms = DEADLINE_MS;
		op->tolerant = true;
	} else {
		git_op_arg(op, "diff-tree");
	}
	status = git_op_try(op, "-r", "-z", "--no-renames", "--raw",
	    "--no-abbrev", from, tree, NULL);
	if (status < 0)
		return diff(op, from, tree, changes, NULL);
	if (status == 0) {
		git_changes_parse(changes, op->answer.out, op->answer.out_len);
		if (facts != NULL)
			count_lines(facts, op->answer.out, op->answer.out_len);
	}
	return status;
}

/* HEAD's tree, unless there is more than that, and where the work began; "" =
 * that is not known. */
static const char *
find_start(struct snapshot_op *s, bool dirty)
{
	struct git_op *op = &s->save.op;
	const char *tree = git_op_text(op, "%s^{tree}", op->head_id), *base;

	/* With a part of the history missing, the tree is still there. */
	if (op->head_id[0] == '\0' ||
	    (git_op_try(op, "rev-parse", tree,
		 git_op_text(op, "%s...%s", op->onto_id, op->head_id),
		 NULL) != 0 &&
		git_op_try(op, "rev-parse", tree, NULL) != 0))
		return "";
	if (!dirty)
		snprintf(s->out.tree, sizeof s->out.tree, "%.*s",
		    (int)strcspn(op->answer.out, "\n"), op->answer.out);
	base = strchr(op->answer.out, '^');
	return base == NULL ?
	    "" :
	    git_op_text(op, "%.*s", (int)strcspn(base + 1, "\n"), base + 1);
}

static void
snapshot_run(struct git_op *op)
{
	struct snapshot_op *s = op->self;
	struct git_facts *facts = &s->out.facts;
	struct git_changes own = { 0 }, changes = { 0 };
	const struct git_changes *since = &changes;
	struct history history = { .diff = "" };
	const char *base = history.base;
	bool dirty;

	read_facts(op, facts, &history);
	dirty = facts->changed + facts->untracked > 0;
	s->out.looked = true;
	if (history.linear && !dirty && history.diff_len > 0) {
		git_changes_parse(&own, history.diff, history.diff_len);
		count_lines(facts, history.diff, history.diff_len);
	}
	if (s->before == NULL)
		return;
	if (op->onto_id[0] == '\0')
		git_op_need_onto(op);
	if (!history.linear)
		base = find_start(s, dirty);
	else if (!dirty)
		memcpy(s->out.tree, history.tree, GIT_ID_SIZE);
	if (s->out.tree[0] == '\0')
		stage(s);
	if (base[0] != '\0' && own.count == 0 &&
	    diff(op, base, s->out.tree, &own, dirty ? NULL : facts) != 0)
		git_op_die_as(op);
	if (s->before[0] == '\0' || strcmp(s->before, base) == 0) {
		s->out.compared = base[0] != '\0';
		since = &own;
	} else {
		s->out.compared =
		    diff(op, s->before, s->out.tree, &changes, NULL) == 0;
	}
	for (size_t i = 0; i < since->count; i++) {
		const struct git_change *c = &since->v[i];
		bool is_own = git_changes_find(&own, c->path) != NULL;

		git_op_tell(op, is_own ? OWN_LETTER : OTHER_LETTER,
		    git_op_text(
			op, "%s %s", c->status == 'D' ? "" : c->id, c->path));
	}
	s->out.taken = true;
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

	git_records_init(&records, op->report.data, op->report.len);
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
	s->fn(s->out.looked ? &s->out.facts : NULL,
	    !s->out.taken ? NULL :
			    &(struct git_snapshot){ .tree = s->out.tree,
				.compared = s->out.compared,
				.changes = list,
				.count = count },
	    s->out.looked ? NULL : err, op->arg);
}

void
git_snapshot(struct git *git, const char *dir, const char *onto,
    const char *before, git_snapshot_fn *fn, void *arg)
{
	struct snapshot_op *s = git_save_new(
	    sizeof *s, git, dir, onto, NULL, false, snapshot_run, NULL, arg);
	struct git_op *op = &s->save.op;

	s->save.leave = true;
	s->before = git_op_copy(op, before);
	s->fn = fn;
	op->finish = snapshot_finish;
	op->undo = snapshot_undo;
	op->ret = &s->out;
	op->ret_size = sizeof s->out;
	git_op_begin(op, false);
}
