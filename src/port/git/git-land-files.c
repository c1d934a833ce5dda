/* SPDX-License-Identifier: ISC */

/* The checkout of a landing: where the branch is checked out, and how files and
 * index move. */
#include "base.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "child.h"
#include "git-private.h"
#include "loop.h"

/* Of the files in the way. Those behind them are listed when one of these has
 * changed and the landing is tried again. */
#define FILES_MAX 64

/* --- the end of a landing, and the settings of its gits ----------------- */

/* The first of the files in the way, and the files of git that change with the
 * index, the branch, or the end of a merge or a rebase. */
static void
tell_places(struct git_move *move)
{
	static const char *const names[] = { "index", "HEAD", "MERGE_HEAD",
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-apply",
		"rebase-merge", "sequencer", "BISECT_START" };
	struct git_op *op = &move->op;
	const char *gitdir = git_dirs_gitdir(move->where), *path;
	struct git_records records;
	int count = 0;

	for (size_t i = 0; gitdir != NULL && i < nitems(names); i++)
		git_op_tell(op, GIT_MOVE_PLACE,
		    git_op_text(op, "%s/%s", gitdir, names[i]));
	if (gitdir == NULL) /* it has to be repaired, or to appear */
		git_op_tell(op, GIT_MOVE_PLACE,
		    git_op_text(op, "%s/.git", move->where));
	git_records_init(
	    &records, move->check.in_way.data, move->check.in_way.len);
	while (
	    count++ < FILES_MAX && (path = git_records_next(&records)) != NULL)
		git_op_tell(op, GIT_MOVE_PLACE,
		    git_op_text(op, "%s/%s", move->where, path));
}

void
git_move_end(
    struct git_move *move, enum git_land_result result, const char *detail)
{
	move->result = result;
	git_op_tell(&move->op, GIT_MOVE_DETAIL, detail);
	if ((result == GIT_LAND_DIRTY || result == GIT_LAND_BUSY) &&
	    move->where != NULL)
		tell_places(move);
	git_op_die_of(&move->op);
}

/* Only a hook of the repository's own folder, and of those only the one that
 * may refuse the move: a folder that the configuration names may lie in the
 * tree. */
void
git_move_config(const struct git_move *move, bool hooks, char ***env)
{
	bool safe = hooks && git_runs_hooks(move->op.git) &&
	    git_dirs_hook_is_safe(move->common,
		move->tree != NULL ? move->tree : move->op.dir,
		"reference-transaction");

	strv_add(env, "GIT_CONFIG_COUNT=2");
	strv_add(env, "GIT_CONFIG_KEY_0=core.fsync");
	strv_add(env, "GIT_CONFIG_VALUE_0=added");
	strv_add(env, "GIT_CONFIG_KEY_1=core.hooksPath");
	strv_take(env,
	    safe ? xasprintf("GIT_CONFIG_VALUE_1=%s/hooks", move->common) :
		   xstrdup("GIT_CONFIG_VALUE_1=/dev/null"));
}

/* --- where the branch is checked out ----------------------------------- */

static void __attribute__((noreturn)) wait_for(struct git_move *move,
    enum git_land_result result, const char *what, const char *where)
{
	move->where = git_op_copy(&move->op, where);
	git_move_end(
	    move, result, git_op_text(&move->op, "%s in %s", what, where));
}

/* Does that file of a git directory have the name as its first line? */
static bool
names_in(const char *gitdir, const char *file, const char *name)
{
	cleanup_free char *path = file_join(gitdir, file);
	cleanup_buf struct buf text = BUF_INIT;

	if (file_read(path, 4096, &text, NULL) < 0)
		return false;
	buf_truncate(&text, strcspn(text.data, "\n"));
	return strcmp(text.data, name) == 0;
}

/* What a person is in the middle of in a tree that has the branch, clean or
 * not; or with the branch in any tree: a rebase takes it off HEAD and puts it
 * back at its end, and one that is aborted puts it where it was. NULL =
 * nothing. */
static const char *
find_doing(const char *tree, const char *branch)
{
	static const struct {
		const char *name, *words;
	} doings[] = {
		{ "rebase-merge", "a rebase is in progress" },
		{ "rebase-apply/rebasing", "a rebase is in progress" },
		{ "rebase-apply", "git am is in progress" },
		{ "MERGE_HEAD", "a merge is in progress" },
		{ "CHERRY_PICK_HEAD", "a cherry-pick is in progress" },
		{ "REVERT_HEAD", "a revert is in progress" },
		{ "sequencer", "a cherry-pick or revert is in progress" },
		{ "BISECT_START", "a bisect is in progress" },
	};
	cleanup_free char *gitdir = git_dirs_gitdir(tree);
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);
	cleanup_free char *rebased =
	    gitdir != NULL ? git_op_rebased_branch(gitdir) : NULL;

	if (text_is(rebased, ref))
		return "a rebase of the branch is in progress";
	if (gitdir == NULL)
		return NULL;
	for (size_t i = 0; i < nitems(doings) && git_dirs_is_on(gitdir, branch);
	     i++) {
		cleanup_free char *path = file_join(gitdir, doings[i].name);

		if (file_exists(path))
			return doings[i].words;
	}
	return names_in(gitdir, "BISECT_START", branch) ?
	    "a bisect of the branch is in progress" :
	    NULL;
}

static const char *
find_doing_in(
    const struct git_trees *trees, const char *branch, const char **ret_where)
{
	const char *doing = NULL;

	for (size_t i = 0; i < trees->count && doing == NULL; i++) {
		*ret_where = trees->v[i].path;
		doing = find_doing(trees->v[i].path, branch);
	}
	return doing;
}

bool
git_move_is_in_the_way(const struct git_move *move)
{
	cleanup_git_trees struct git_trees trees = { 0 };
	const char *where;

	return git_dirs_trees(move->op.dir, false, &trees, NULL) < 0 ||
	    find_doing_in(&trees, move->branch, &where) != NULL;
}

bool
git_move_is_taken_back(const struct git_move *move)
{
	static const char *const names[] = { "rebase-merge/orig-head",
		"rebase-apply/orig-head" };
	cleanup_git_trees struct git_trees trees = { 0 };
	cleanup_free char *ref = xasprintf("refs/heads/%s", move->branch);

	if (git_dirs_trees(move->op.dir, false, &trees, NULL) < 0)
		return false;
	for (size_t i = 0; i < trees.count; i++) {
		cleanup_free char *gitdir = git_dirs_gitdir(trees.v[i].path);
		cleanup_free char *rebased =
		    gitdir != NULL ? git_op_rebased_branch(gitdir) : NULL;

		for (size_t j = 0; text_is(rebased, ref) && j < nitems(names);
		     j++)
			if (names_in(gitdir, names[j], move->op.onto_id))
				return true;
	}
	return false;
}

static void
take_tree(struct git_move *move, const struct git_tree *on)
{
	if (on->missing)
		wait_for(move, GIT_LAND_DIRTY,
		    "the branch is checked out in a locked worktree that is "
		    "not there (mount it, or type: git worktree unlock)",
		    on->path);
	move->tree = git_op_copy(&move->op, on->path);
	move->gitdir = git_dirs_gitdir(on->path);
	if (move->gitdir == NULL)
		wait_for(move, GIT_LAND_DIRTY,
		    "the .git file of a worktree is damaged (repair it with: "
		    "git worktree repair)",
		    move->tree);
	if (!git_dirs_is_on(move->gitdir, move->branch))
		wait_for(move, GIT_LAND_DIRTY,
		    "the branch is checked out by another name, a symbolic "
		    "reference",
		    move->tree);
	xstrset(&move->op.gitdir, move->gitdir);
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
	const char *stray, *doing, *where;

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
			wait_for(move, GIT_LAND_DIRTY,
			    "the branch is checked out twice, the second time",
			    other->path);
		doing = find_doing_in(&trees, move->branch, &where);
		if (doing != NULL)
			wait_for(move, GIT_LAND_BUSY, doing, where);
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
	git_move_config(move, false, &op->env);
	if (git_op_try(op, "update-ref", "--no-deref", "-m",
		"llmc: left the landing branch", "HEAD", op->onto_id,
		op->onto_id, NULL) == 0 &&
	    move->tries++ < GIT_TRIES)
		return true;
	if (op->answer.locked)
		wait_for(move, GIT_LAND_HELD, GIT_MOVE_LOCKED, stray);
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
	git_move_config(move, false, &op->env);
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
