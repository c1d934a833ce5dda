/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "child.h"
#include "git-private.h"
#include "loop.h"

#define NAMES_MAX 5 /* files named in a message */

static const char gitlink_mode[] = "160000";

void
git_land_check_init(
    struct git_land_check *check, const char *tree, bool overlap)
{
	memset(check, 0, sizeof *check);
	check->tree = tree;
	check->overlap = overlap;
	buf_init(&check->in_way);
	buf_init(&check->foreign);
	buf_init(&check->suspects);
}

void
git_land_check_release(struct git_land_check *check)
{
	git_changes_release(&check->changes);
	free(check->branch);
	buf_release(&check->in_way);
	buf_release(&check->foreign);
	buf_release(&check->suspects);
}

static void
blame(struct git_land_check *check, const char *path)
{
	buf_add(&check->in_way, path, strlen(path) + 1);
	check->in_way_count++;
}

/* Count paths, each ended by NUL, as blocking. */
static void
git_land_check_blame_all(
    struct git_land_check *check, const char *out, size_t len)
{
	struct git_records records;
	const char *path;

	git_records_init(&records, out, len);
	while ((path = git_records_next(&records)) != NULL)
		blame(check, path);
}

/* As it is staged, it is the user's own. */
static void
blame_staged(struct git_land_check *check, const char *path)
{
	blame(check, path);
	buf_add(&check->foreign, path, strlen(path) + 1);
}

/* A row with mode 0 removes the path. */
static void
suspect(struct git_land_check *check, const struct git_change *change)
{
	bool gone = change->status == 'D';

	buf_addf(
	    &check->suspects, "%s %s\t", gone ? "0" : change->mode, change->id);
	buf_add(&check->suspects, change->path, strlen(change->path) + 1);
}

static bool
exists(const struct git_land_check *check, const char *path, struct stat *st)
{
	cleanup_free char *full = file_join(check->tree, path);

	return lstat(full, st) == 0;
}

/* Does the landing touch something above the path? */
static bool
touched_above(const struct git_land_check *check, const char *path)
{
	cleanup_free char *folder = xstrdup(path);
	char *slash;

	while ((slash = strrchr(folder, '/')) != NULL) {
		*slash = '\0';
		if (git_changes_find(&check->changes, folder) != NULL)
			return true;
	}
	return false;
}

/* A tracked file with changes, staged or not. */
static void
judge_changed(
    struct git_land_check *check, const struct git_status_entry *entry)
{
	const struct git_change *change =
	    git_changes_find(&check->changes, entry->text);
	struct stat st;

	/* Its own commits are its own affair; only what is staged counts. */
	if (entry->submodule && strcmp(entry->index_id, entry->head_id) == 0)
		return;
	if (change == NULL) {
		if (!check->overlap || touched_above(check, entry->text) ||
		    git_changes_below(&check->changes, entry->text))
			blame(check, entry->text);
		return;
	}
	/* What is staged must be the old or the landed version, not the user's
	 * own. */
	if (strcmp(entry->index_id, entry->head_id) != 0 &&
	    strcmp(entry->index_id, change->id) != 0)
		blame_staged(check, entry->text);
	else if (change->status == 'D' && exists(check, entry->text, &st))
		blame(check, entry->text);
	else
		suspect(check, change);
}

/* The first folder above the path that is something else, NULL = none. From the
 * top down: below a link to a folder the rest would look fine. The caller
 * frees. */
static char *
find_obstacle(const struct git_land_check *check, const char *path)
{
	cleanup_free char *folder = xstrdup(path);
	struct stat st;

	for (char *slash = strchr(folder, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (!exists(check, folder, &st))
			return NULL;
		if (!S_ISDIR(st.st_mode))
			return take_ptr(&folder);
		*slash = '/';
	}
	return NULL;
}

/* Is there a file where the landing needs a folder, which it does not remove?
 */
static bool
blocked_above(struct git_land_check *check, const char *path)
{
	cleanup_free char *obstacle = find_obstacle(check, path);

	if (obstacle == NULL)
		return false;
	if (git_changes_find(&check->changes, obstacle) == NULL)
		blame(check, obstacle);
	return true;
}

/* A folder that becomes a file: git removes it with all that is in it, also
 * what is ignored and repositories. Nothing may be there but what the landing
 * removes. False: the first other file is blamed. */
static bool
judge_folder(struct git_land_check *check, const char *path)
{
	cleanup_free char *full = file_join(check->tree, path);
	cleanup_dir DIR *stream = opendir(full);
	const struct git_change *change;
	const char *entry;
	struct stat st;
	bool fine = true;

	while (fine && (entry = dir_next(stream)) != NULL) {
		cleanup_free char *name = xasprintf("%s/%s", path, entry);

		if (exists(check, name, &st) && S_ISDIR(st.st_mode)) {
			fine = judge_folder(check, name);
			continue;
		}
		change = git_changes_find(&check->changes, name);
		fine = change != NULL && change->status == 'D';
		if (!fine)
			blame(check, name);
	}
	return fine;
}

/* A new file of the landing: is something there that git does not know? */
static void
judge_added(struct git_land_check *check, const struct git_change *change)
{
	struct stat st;

	if (blocked_above(check, change->path) ||
	    !exists(check, change->path, &st))
		return;
	if (!S_ISDIR(st.st_mode))
		suspect(check, change);
	else if (strcmp(change->mode, gitlink_mode) != 0)
		judge_folder(check, change->path);
}

/* Judge the answer of status (git_status_next) of the checkout, without
 * untracked files; check->changes is filled. */
static void
git_land_check_status(struct git_land_check *check, const char *out, size_t len)
{
	cleanup_free const char **known = NULL;
	struct git_status_entry entry;
	struct git_records records;
	size_t count = 0, cap = 0;

	git_records_init(&records, out, len);
	while (git_status_next(&records, &entry)) {
		if (entry.kind == GIT_STATUS_HEAD)
			strlcpy(check->head, entry.text, sizeof check->head);
		else if (entry.kind == GIT_STATUS_BRANCH)
			xstrset(&check->branch, entry.text);
		else if (entry.kind == GIT_STATUS_UNMERGED)
			blame_staged(check, entry.text);
		if (entry.kind != GIT_STATUS_CHANGED)
			continue;
		judge_changed(check, &entry);
		if (count == cap) {
			cap = cap == 0 ? 16 : cap * 2;
			known = xreallocarray(known, cap, sizeof *known);
		}
		known[count++] = entry.text;
	}
	/* Files that are in the index are judged by the index only. */
	if (count > 0)
		qsort(known, count, sizeof *known, strv_order);
	for (size_t i = 0; i < check->changes.count; i++) {
		const struct git_change *change = &check->changes.v[i];

		/* A submodule becomes a file. */
		if (change->status == 'T' &&
		    strcmp(change->old_mode, gitlink_mode) == 0)
			judge_folder(check, change->path);
		if (change->status != 'A' ||
		    (count > 0 &&
			bsearch(&change->path, known, count, sizeof *known,
			    strv_order) != NULL))
			continue;
		judge_added(check, change);
	}
}

static bool
is_listed(const struct buf *paths, const char *wanted)
{
	struct git_records records;
	const char *path;

	git_records_init(&records, paths->data, paths->len);
	while ((path = git_records_next(&records)) != NULL)
		if (strcmp(path, wanted) == 0)
			return true;
	return false;
}

/* A git that failed or was killed had removed the file to write the other
 * version. With the row of the other version, the next one writes it. */
static bool
is_removed(const struct git_land_check *check, const char *path)
{
	cleanup_free char *obstacle = find_obstacle(check, path);
	struct stat st;

	return obstacle == NULL && !exists(check, path, &st);
}

/* The path of a changed file that is in the way with nothing of the user's own
 * staged: a git may have left it that ended while it wrote it. NULL = it is
 * none. The caller frees. */
static char *
git_land_check_leftover(
    const struct git_land_check *check, const struct git_change *change)
{
	cleanup_free char *obstacle = NULL;
	struct stat st;

	if (!is_listed(&check->in_way, change->path) ||
	    is_listed(&check->foreign, change->path))
		return NULL;
	obstacle = find_obstacle(check, change->path);
	if (obstacle != NULL || !exists(check, change->path, &st) ||
	    !S_ISREG(st.st_mode))
		return NULL;
	return file_join(check->tree, change->path);
}

/* The id does not matter. */
static void
add_removal(
    const struct git_land_check *check, struct buf *out, const char *path)
{
	buf_addf(out, "0 %s\t", check->head);
	buf_add(out, path, strlen(path) + 1);
}

/* Add rows that remove from an index what the user has staged (foreign). */
static void
git_land_check_unstage(const struct git_land_check *check, struct buf *out)
{
	struct git_records records;
	const char *path;

	git_records_init(&records, check->foreign.data, check->foreign.len);
	while ((path = git_records_next(&records)) != NULL)
		add_removal(check, out, path);
}

static void
add_own_row(struct git_land_check *check, const char *path)
{
	const struct git_change *change =
	    git_changes_find(&check->changes, path);
	bool none = change != NULL && change->status == 'A';
	bool staged = is_listed(&check->foreign, path);

	if (change == NULL && staged) /* nothing moves with unmerged ones */
		add_removal(check, &check->suspects, path);
	if (change == NULL)
		return;
	if (!staged && is_removed(check, path)) {
		if (change->status == 'D') /* was there until just now */
			suspect(check, change);
		return;
	}
	buf_addf(&check->suspects, "%s %s\t", none ? "0" : change->old_mode,
	    change->old_id);
	buf_add(&check->suspects, path, strlen(path) + 1);
}

void
git_land_check_forgive(struct git_land_check *check)
{
	cleanup_buf struct buf rows = BUF_INIT;
	struct git_records records;
	const char *record;

	buf_add(&rows, check->suspects.data, check->suspects.len);
	buf_clear(&check->suspects);
	git_records_init(&records, rows.data, rows.len);
	while ((record = git_records_next(&records)) != NULL) {
		const char *tab = strchr(record, '\t');

		if (tab != NULL &&
		    (!is_listed(&check->in_way, tab + 1) ||
			is_removed(check, tab + 1)))
			buf_add(&check->suspects, record, strlen(record) + 1);
	}
	git_records_init(&records, check->in_way.data, check->in_way.len);
	while ((record = git_records_next(&records)) != NULL)
		add_own_row(check, record);
}

void
git_land_check_describe(const struct git_land_check *check, struct buf *out)
{
	struct git_records records;
	const char *path, *before = "";
	int told = 0;

	buf_addf(out, "%zu %s the landing in %s: ", check->in_way_count,
	    check->in_way_count == 1 ? "file blocks" : "files block",
	    check->tree);
	git_records_init(&records, check->in_way.data, check->in_way.len);
	while ((path = git_records_next(&records)) != NULL) {
		buf_adds(out, before);
		if (told++ == NAMES_MAX) {
			buf_adds(out, "...");
			break;
		}
		text_add_visible(out, path, strlen(path), false);
		before = ", ";
	}
}

/* Is that branch being rebased in the tree? A rebase takes it off HEAD and puts
 * it back at its end. */
static bool
git_land_check_rebases(const char *tree, const char *branch)
{
	cleanup_free char *gitdir = git_dirs_gitdir(tree);
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);
	cleanup_free char *taken =
	    gitdir != NULL ? git_op_rebased_branch(gitdir) : NULL;

	return text_is(taken, ref);
}

/* --- where the branch is checked out ----------------------------------- */

static void __attribute__((noreturn))
wait_for(struct git_move *move, const char *what, const char *where)
{
	git_move_end(move, GIT_LAND_DIRTY, what, git_op_copy(&move->op, where));
}

/* What a person is in the middle of with HEAD on the branch, the tree clean or
 * not; NULL = nothing. */
static const char *
find_doing(const struct git_op *op)
{
	static const struct {
		const char *name, *words;
	} doings[] = {
		{ "MERGE_HEAD", "a merge is in progress" },
		{ "CHERRY_PICK_HEAD", "a cherry-pick is in progress" },
		{ "REVERT_HEAD", "a revert is in progress" },
		{ "rebase-apply", "git am is in progress" },
		{ "sequencer", "a cherry-pick or revert is in progress" },
	};

	for (size_t i = 0; i < nitems(doings); i++)
		if (git_op_has(op, doings[i].name))
			return doings[i].words;
	return NULL;
}

static void
take_tree(struct git_move *move, const struct git_tree *on)
{
	const char *doing;

	if (on->missing)
		wait_for(move,
		    "the branch is checked out in a locked worktree that is "
		    "not there (mount it, or type: git worktree unlock)",
		    on->path);
	move->tree = git_op_copy(&move->op, on->path);
	move->gitdir = git_dirs_gitdir(on->path);
	if (move->gitdir == NULL)
		wait_for(move,
		    "the .git file of a worktree is damaged (repair it with: "
		    "git worktree repair)",
		    move->tree);
	if (!git_dirs_is_on(move->gitdir, move->branch))
		wait_for(move,
		    "the branch is checked out by another name, a symbolic "
		    "reference",
		    move->tree);
	xstrset(&move->op.gitdir, move->gitdir);
	doing = find_doing(&move->op);
	if (doing != NULL)
		wait_for(move, doing, move->tree);
}

/* The first tree that a worker or a check has put on the branch. */
static const char *
find_stray(struct git_move *move, const struct git_trees *trees)
{
	const char *const *own = git_own(move->op.git);
	const struct git_tree *on = NULL;

	while ((on = git_trees_on(trees, move->branch, on)) != NULL)
		for (size_t i = 0; own[i] != NULL; i++)
			if (!on->missing && git_dirs_is_below(on->path, own[i]))
				return git_op_copy(&move->op, on->path);
	return NULL;
}

/* Returns a stray, NULL = there is none. */
static const char *
look_at_trees(struct git_move *move)
{
	struct git_op *op = &move->op;
	const char *target = git_dirs_alias(move->common, move->branch);
	const struct git_tree *on, *other;
	struct git_trees trees = { 0 };
	const char *stray;

	if (target != NULL)
		git_op_die(op, -ENOTSUP,
		    "%s is a symbolic reference to %s; name that branch in "
		    "repo.default_branch",
		    move->branch, target);
	if (git_dirs_trees(op->dir, false, &trees, &op->err) < 0)
		git_op_die_of(op);
	move->tree = move->gitdir = NULL;
	stray = find_stray(move, &trees);
	if (stray == NULL) {
		on = git_trees_on(&trees, move->branch, NULL);
		other =
		    on != NULL ? git_trees_on(&trees, move->branch, on) : NULL;
		if (other != NULL)
			wait_for(move,
			    "the branch is checked out twice, the second time",
			    other->path);
		for (size_t i = 0; i < trees.count; i++)
			if (trees.v[i].branch == NULL &&
			    git_land_check_rebases(
				trees.v[i].path, move->branch))
				wait_for(move,
				    "a rebase of the branch is in progress",
				    trees.v[i].path);
		if (on != NULL)
			take_tree(move, on);
	}
	git_trees_release(&trees);
	return stray;
}

/* By compare-and-swap: it may have left the branch by now. */
static bool
take_off(struct git_move *move, const char *stray)
{
	struct git_op *op = &move->op;

	op->run_dir = stray;
	op->tolerant = true;
	git_move_config(move, false);
	if (git_op_try(op, "update-ref", "--no-deref", "-m",
		"llmc: left the landing branch", "HEAD", op->onto_id,
		op->onto_id, NULL) == 0 &&
	    move->tries++ < GIT_TRIES)
		return true;
	if (op->answer.locked)
		git_move_end(move, GIT_LAND_HELD, GIT_MOVE_LOCKED, stray);
	/* Unless the branch has moved. */
	err_set(&move->refused, -EIO,
	    "%s has the landing branch checked out, and cannot be taken off "
	    "it: %s",
	    stray,
	    op->answer.err != NULL ? op->answer.err->msg :
				     op->answer.complaint);
	return false;
}

bool
git_move_find_tree(struct git_move *move)
{
	const char *stray;

	while ((stray = look_at_trees(move)) != NULL)
		if (!take_off(move, stray))
			return false;
	return true;
}

/* --- files and index ---------------------------------------------------- */

/* For a big tree or a big file, and the user's filters. */
#define READ_DEADLINE_MS (INT64_C(10) * 60 * 1000)

/* Forget what was found before. */
static void
files_begin(struct git_move *move)
{
	git_land_check_release(&move->check);
	git_land_check_init(&move->check, move->tree, move->overlap);
	git_changes_parse(
	    &move->check.changes, move->changes.data, move->changes.len);
}

void
git_move_changes(struct git_move *move)
{
	struct git_op *op = &move->op;

	git_op_must(op, "diff-tree", "-r", "-z", "--no-renames",
	    "--ignore-submodules=none", move->head_id, move->other_id, NULL);
	buf_clear(&move->changes);
	buf_add(&move->changes, op->answer.out, op->answer.out_len);
}

/* The next git runs in the tree, on our index or the real one. Our gits keep
 * the claim: who finds it free knows that they have ended. */
static void
in_tree(struct git_move *move, bool own_index)
{
	struct git_op *op = &move->op;

	op->run_dir = move->tree;
	if (op->input.len == 0)
		op->stdin_fd = move->claim.fd;
	git_move_config(move, false);
	if (own_index)
		git_op_env(
		    op, "GIT_INDEX_FILE=%s", git_claim_index(&move->claim));
}

/* Put the suspects, as landed, into our index. */
void
git_move_adopt(struct git_move *move)
{
	struct git_op *op = &move->op;

	if (move->check.suspects.len == 0)
		return;
	buf_add(
	    &op->input, move->check.suspects.data, move->check.suspects.len);
	in_tree(move, true);
	git_op_must(op, "update-index", "-z", "--index-info", NULL);
}

enum git_move_stands
git_move_look(struct git_move *move, const char *branch)
{
	struct git_op *op = &move->op;
	struct git_land_check *check = &move->check;

	files_begin(move);
	in_tree(move, false);
	git_op_must(op, "status", "--porcelain=v2", "-z", "--branch",
	    "--untracked-files=no", "--ignore-submodules=dirty", "--no-renames",
	    "--no-ahead-behind", NULL);
	git_land_check_status(check, op->answer.out, op->answer.out_len);
	if (!text_is(check->branch, branch))
		return MOVE_STANDS_ELSEWHERE;
	if (strcmp(check->head, move->head_id) != 0)
		return MOVE_STANDS_HIGHER;
	if (check->suspects.len == 0)
		return MOVE_STANDS_HERE;
	/* An index of nothing but the suspects; git compares the files with
	 * it. */
	git_claim_remove_index(&move->claim);
	git_move_adopt(move);
	in_tree(move, true);
	git_op_must(op, "diff", "--name-only", "-z", "--no-ext-diff",
	    "--no-textconv", "--no-renames", "--ignore-submodules=dirty", NULL);
	git_land_check_blame_all(check, op->answer.out, op->answer.out_len);
	return MOVE_STANDS_HERE;
}

const char *
git_move_staged(struct git_move *move, size_t *ret_len)
{
	struct git_op *op = &move->op;
	const struct buf *foreign = &move->check.foreign;
	struct git_records records;
	const char *path;

	*ret_len = 0;
	if (foreign->len == 0)
		return "";
	in_tree(move, false);
	git_op_args(
	    op, "--literal-pathspecs", "ls-files", "-s", "-z", "--", NULL);
	git_records_init(&records, foreign->data, foreign->len);
	while ((path = git_records_next(&records)) != NULL)
		git_op_arg(op, path);
	git_op_must(op, NULL);
	*ret_len = op->answer.out_len;
	return op->answer.out;
}

void
git_move_restage(struct git_move *move, const char *rows, size_t len)
{
	struct git_op *op = &move->op;

	if (move->check.foreign.len == 0)
		return;
	git_land_check_unstage(&move->check, &op->input);
	buf_add(&op->input, rows, len);
	in_tree(move, true);
	git_op_must(op, "update-index", "-z", "--index-info", NULL);
}

/* With its time: an entry that is as young as the index is compared by content,
 * and would not be with a younger copy. */
static int
copy_index(const char *from, const char *to)
{
	cleanup_fd int in = open(from, O_RDONLY | O_CLOEXEC);
	cleanup_fd int out = -1;
	struct timespec times[2];
	struct stat st;
	int r;
	ssize_t n;

	if (in == -1)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(in, &st) == -1)
		return -errno;
	out = open(
	    to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0777);
	if (out == -1)
		return -errno;
	while ((n = sendfile(out, in, NULL, 1 << 30)) > 0)
		;
	r = n == -1 ? -errno : 0;
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	if (r == 0 && futimens(out, times) == -1)
		r = -errno;
	return r;
}

void
git_move_copy_index(struct git_move *move)
{
	const char *real = git_op_text(&move->op, "%s/index", move->gitdir);
	int r;

	git_claim_remove_index(&move->claim);
	r = copy_index(real, git_claim_index(&move->claim));
	if (r < 0)
		git_op_die(&move->op, r, "copying %s: %s", real, strerror(-r));
}

void
git_move_put_index(struct git_move *move)
{
	const char *real = git_op_text(&move->op, "%s/index", move->gitdir);

	if (rename(git_claim_index(&move->claim), real) == -1)
		git_op_die(&move->op, -errno, "replacing %s: %s", real,
		    strerror(errno));
}

/* What a user did since we looked, in git's words. */
static bool
complains_of_changes(const struct git_answer *answer)
{
	return answer->err == NULL &&
	    (strstr(answer->complaint, "not uptodate") != NULL ||
		strstr(answer->complaint, "would be overwritten") != NULL ||
		strstr(answer->complaint, "would be removed") != NULL ||
		strstr(answer->complaint, "would lose untracked files") !=
		    NULL);
}

static bool
read_tree(struct git_move *move, bool *ret_changes)
{
	struct git_op *op = &move->op;
	int status;

	in_tree(move, true);
	op->linger = op->tolerant = true;
	op->deadline_ms = READ_DEADLINE_MS;
	status = git_op_try(
	    op, "read-tree", "-m", "-u", move->from_id, move->to_id, NULL);
	*ret_changes = status != 0 && complains_of_changes(&op->answer);
	return status == 0;
}

bool
git_move_read(struct git_move *move, bool *ret_changes)
{
	struct git_op *op = &move->op;

	if (!move->claim.files &&
	    git_claim_note_files(&move->claim, &op->err) < 0)
		git_op_die_of(op);
	move->touched = true;
	if (read_tree(move, ret_changes))
		return true;
	if (!*ret_changes)
		return false;
	/* A file that was only touched stands in the way until git has looked
	 * at it. 1 = some of them differ indeed. */
	in_tree(move, true);
	git_op_try(op, "update-index", "-q", "--refresh", NULL);
	return read_tree(move, ret_changes);
}

/* --- files that were cut off ------------------------------------------- */

struct partial {
	struct loop *loop;
	struct child *child;
	int fd; /* the file */
	off_t at; /* so far they are the same */
	bool differs;
	bool longer; /* the version goes on behind the end of the file */
};

/* The next piece of the version. */
static void
partial_on_output(const char *bytes, size_t len, void *arg)
{
	struct partial *partial = arg;
	char piece[4096];
	ssize_t n;

	while (len > 0 && !partial->differs && !partial->longer) {
		n = pread(partial->fd, piece,
		    len < sizeof piece ? len : sizeof piece, partial->at);
		partial->longer = n == 0;
		partial->differs =
		    n == -1 || memcmp(piece, bytes, (size_t)n) != 0;
		if (n <= 0)
			break;
		partial->at += n;
		bytes += n;
		len -= (size_t)n;
	}
	if (partial->differs || partial->longer)
		child_cancel(partial->child);
}

static void
partial_on_end(const struct child_result *result, void *arg)
{
	struct partial *partial = arg;

	(void)result; /* it may have been cancelled */
	loop_stop(partial->loop, 0);
}

/* Compare the file with the blob, as git would write it there. What cannot be
 * compared is not partial. */
static bool
is_partial(
    struct git_move *move, const char *file, const char *path, const char *id)
{
	struct git_op *op = &move->op;
	const char *const args[] = { "cat-file", "--filters",
		git_op_text(op, "--path=%s", path), id, NULL };
	cleanup_strv char **argv = NULL, **env = NULL;
	struct child_spec spec = { .said = partial_on_output,
		.deadline_ms = READ_DEADLINE_MS };
	struct partial partial = { .loop = loop_new() };

	if (git_environment(op->git, move->tree, NULL, &env, &op->err) < 0)
		git_op_die_of(op);
	git_arguments(op->git, move->tree, args, &argv);
	spec.argv = strv_const(argv);
	spec.env = strv_const(env);
	partial.fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	partial.differs = partial.fd == -1;
	if (child_spawn(partial.loop, &spec, partial_on_end, &partial,
		&partial.child, &op->err) < 0)
		git_op_die_of(op);
	loop_run(partial.loop);
	loop_free(partial.loop);
	fd_close(partial.fd);
	return partial.longer && !partial.differs;
}

void
git_move_remove_partial_files(struct git_move *move)
{
	for (size_t i = 0; i < move->check.changes.count; i++) {
		const struct git_change *change = &move->check.changes.v[i];
		const char *const ids[] = { change->id, change->old_id };

		for (size_t j = 0; j < nitems(ids); j++) {
			char *file =
			    git_land_check_leftover(&move->check, change);

			if (file != NULL &&
			    strspn(ids[j], "0") != strlen(ids[j]) &&
			    is_partial(move, file, change->path, ids[j]))
				unlink(file);
			free(file);
		}
	}
}
