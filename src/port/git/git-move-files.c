/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "git-changes.h"
#include "git-move-files.h"
#include "git-move.h"
#include "git-records.h"

/* For a big tree and the user's filters. */
#define READ_DEADLINE_MS (INT64_C(10) * 60 * 1000)

void
git_move_files_begin(struct git_move *move)
{
	git_land_check_release(&move->check);
	git_land_check_init(&move->check, move->tree, move->overlap);
	git_changes_parse(
	    &move->check.changes, move->changes.data, move->changes.len);
	move->refreshed = false;
}

enum git_op_next
git_move_files_ask_changes(struct git_op *op)
{
	const struct git_move *move = op->self;

	return git_op_args(op, "diff-tree", "-r", "-z", "--no-renames",
	    "--ignore-submodules=none", move->head_id, move->other_id, NULL);
}

enum git_op_next
git_move_files_changes(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_clear(&move->changes);
	buf_add(&move->changes, answer->out, answer->out_len);
	git_move_files_begin(move);
	return GIT_OP_NEXT;
}

/* Our gits keep the claim: who finds it free knows that they have ended. */
static void
ask_in_tree(struct git_op *op, const char *index)
{
	struct git_move *move = op->self;

	op->run_dir = move->tree;
	if (op->input.len == 0)
		op->stdin_fd = move->claim.fd;
	git_move_config(move, &op->env, false);
	if (index != NULL)
		git_op_env(op, "GIT_INDEX_FILE=%s", index);
}

enum git_op_next
git_move_files_ask_status(struct git_op *op)
{
	ask_in_tree(op, NULL);
	return git_op_args(op, "status", "--porcelain=v2", "-z", "--branch",
	    "--untracked-files=no", "--ignore-submodules=dirty", "--no-renames",
	    "--no-ahead-behind", NULL);
}

static enum git_op_next
files_judge(struct git_move *move)
{
	if (move->check.in_way_count == 0 || move->settling)
		return GIT_OP_NEXT;
	buf_clear(&move->detail);
	git_land_check_describe(&move->check, &move->detail);
	xstrset(&move->where, move->tree);
	return git_move_end(move, GIT_LAND_DIRTY);
}

enum git_op_next
git_move_files_status(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;
	const char *branch = move->settling ? move->claim.branch : move->branch;
	bool on;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_land_check_status(&move->check, answer->out, answer->out_len);
	on = move->check.branch != NULL &&
	    strcmp(move->check.branch, branch) == 0;
	if (on && strcmp(move->check.head, move->head_id) == 0)
		return files_judge(move);
	/* The user is somewhere else by now. */
	if (move->settling)
		return git_move_go(move, MOVE_LEFT_PUT);
	if (!on)
		return git_move_again(move);
	return git_move_go(move, MOVE_LEAVE);
}

/* Put the suspects, as landed, into our index. */
static enum git_op_next
add_suspects(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *index = git_claim_index(&move->claim);

	if (move->check.suspects.len == 0)
		return GIT_OP_NEXT;
	buf_add(
	    &op->input, move->check.suspects.data, move->check.suspects.len);
	ask_in_tree(op, index);
	return git_op_args(op, "update-index", "-z", "--index-info", NULL);
}

/* An index of nothing but the suspects; git compares the files with it. */
enum git_op_next
git_move_files_ask_suspects(struct git_op *op)
{
	struct git_move *move = op->self;

	git_claim_remove_index(&move->claim);
	return add_suspects(op);
}

enum git_op_next
git_move_files_ask_compare(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *index = git_claim_index(&move->claim);

	if (move->check.suspects.len == 0)
		return GIT_OP_NEXT;
	ask_in_tree(op, index);
	return git_op_args(op, "diff", "--name-only", "-z", "--no-ext-diff",
	    "--no-textconv", "--no-renames", "--ignore-submodules=dirty", NULL);
}

enum git_op_next
git_move_files_compare(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_land_check_blame_all(&move->check, answer->out, answer->out_len);
	return files_judge(move);
}

enum git_op_next
git_move_files_ask_staged(struct git_op *op)
{
	const struct git_move *move = op->self;
	const struct buf *foreign = &move->check.foreign;
	struct git_records records;
	const char *path;

	if (foreign->len == 0)
		return GIT_OP_NEXT;
	ask_in_tree(op, NULL);
	git_op_args(
	    op, "--literal-pathspecs", "ls-files", "-s", "-z", "--", NULL);
	git_records_init(&records, foreign->data, foreign->len);
	while ((path = git_records_next(&records)) != NULL)
		git_op_arg(op, path);
	return GIT_OP_ASK;
}

enum git_op_next
git_move_files_staged(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_clear(&move->staged);
	buf_add(&move->staged, answer->out, answer->out_len);
	return GIT_OP_NEXT;
}

enum git_op_next
git_move_files_ask_restage(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *index = git_claim_index(&move->claim);

	if (move->check.foreign.len == 0)
		return GIT_OP_NEXT;
	git_land_check_unstage(&move->check, &op->input);
	buf_add(&op->input, move->staged.data, move->staged.len);
	ask_in_tree(op, index);
	return git_op_args(op, "update-index", "-z", "--index-info", NULL);
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

enum git_op_next
git_move_files_copy(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *real = file_join(move->gitdir, "index");
	cleanup_free char *index = git_claim_index(&move->claim);
	int r;

	git_claim_remove_index(&move->claim);
	r = copy_index(real, index);
	if (r == 0)
		return GIT_OP_NEXT;
	return git_op_fail(op, r, "copying %s: %s", real, strerror(-r));
}

/* They are as landed; with the index told so, git has nothing to overwrite. */
enum git_op_next
git_move_files_ask_adopt(struct git_op *op)
{
	struct git_move *move = op->self;

	if (move->settling)
		git_land_check_forgive(&move->check);
	return add_suspects(op);
}

enum git_op_next
git_move_files_ask_read(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *index = git_claim_index(&move->claim);

	if (!move->claim.files &&
	    git_claim_note_files(&move->claim, &op->err) < 0)
		return GIT_OP_FAIL;
	ask_in_tree(op, index);
	op->linger = true;
	op->deadline_ms = READ_DEADLINE_MS;
	move->touched = true;
	return git_op_args(
	    op, "read-tree", "-m", "-u", move->from_id, move->to_id, NULL);
}

/* What a user did since we looked, in git's words. */
static bool
complains_of_changes(const char *complaint)
{
	return strstr(complaint, "not uptodate") != NULL ||
	    strstr(complaint, "would be overwritten") != NULL ||
	    strstr(complaint, "would be removed") != NULL ||
	    strstr(complaint, "would lose untracked files") != NULL;
}

enum git_op_next
git_move_files_read(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;

	if (answer->status == 0) {
		move->settled = move->settling;
		return git_move_go(
		    move, move->settling ? MOVE_LEFT_RESTAGE : MOVE_PUT);
	}
	if (!move->refreshed && answer->err == NULL &&
	    complains_of_changes(answer->complaint))
		return GIT_OP_NEXT;
	if (move->settling) {
		/* What the user has changed since stays as it is. Otherwise,
		 * as when the disk is full, what is written down stays, and
		 * the next landing tries again. */
		op = move->op;
		if (answer->err == NULL &&
		    complains_of_changes(answer->complaint))
			return git_move_go(move, MOVE_LEFT_PUT);
		if (move->refused.code != 0) {
			op->err = move->refused;
			return GIT_OP_FAIL;
		}
		return git_op_fail(op, -EIO,
		    "a landing that was cut off cannot be undone in %s: %s",
		    move->tree,
		    answer->err != NULL ? answer->err->msg : answer->complaint);
	}
	git_op_complain(op, answer);
	move->refused = op->err;
	memset(&op->err, 0, sizeof op->err);
	move->busy_files = complains_of_changes(answer->complaint);
	return git_move_go(move, MOVE_LEFT);
}

/* A file that was only touched stands in the way until git has looked at it. */
enum git_op_next
git_move_files_ask_refresh(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *index = git_claim_index(&move->claim);

	move->refreshed = true;
	ask_in_tree(op, index);
	return git_op_args(op, "update-index", "-q", "--refresh", NULL);
}

enum git_op_next
git_move_files_refresh(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;

	(void)answer; /* 1 = some of them differ indeed */
	return git_move_go(move, move->settling ? MOVE_LEFT_READ : MOVE_READ);
}

enum git_op_next
git_move_files_put(struct git_op *op)
{
	struct git_move *move = op->self;
	cleanup_free char *real = file_join(move->gitdir, "index");
	cleanup_free char *index = git_claim_index(&move->claim);

	if (rename(index, real) == -1)
		return git_op_fail(
		    op, -errno, "replacing %s: %s", real, strerror(errno));
	return GIT_OP_NEXT;
}
