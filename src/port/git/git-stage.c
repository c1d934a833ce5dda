/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"
#include "git-aside.h"
#include "git-records.h"
#include "git-save.h"
#include "git-stage.h"
#include "mem.h"
#include "text.h"

#define TOTAL_MAX (INT64_C(1) << 30) /* bytes that are saved with `leave` */
#define NAMED_MAX 10000 /* bytes of names of what is left out */
#define TRIES     3 /* where files vanish while they are read */

void
git_stage_use_index(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (save->index != NULL)
		git_op_env(op, "GIT_INDEX_FILE=%s", save->index);
}

bool
git_stage_is_folder(const char *path)
{
	size_t len = strlen(path);

	return len == 0 || path[len - 1] == '/';
}

enum git_op_next
git_stage_check(struct git_save *save, const char *path)
{
	struct git_op *op = &save->op;
	cleanup_buf struct buf shown = BUF_INIT;
	int64_t size;
	const char *why = git_aside_reason(op->dir, path, &size);

	if (save->leave || why == NULL)
		return GIT_OP_NEXT;
	if (save->moves)
		return git_aside_move(op->dir, &save->aside, path, &save->moved,
			   &op->err) < 0 ?
		    GIT_OP_FAIL :
		    GIT_OP_NEXT;
	text_add_visible(
	    &shown, path, text_cut(path, strlen(path), 200), false);
	return git_op_fail(op, -EFBIG,
	    "%s in %s %s; ignore it in .gitignore, or move it away", shown.data,
	    op->dir, why);
}

/* Is this file left as it is, and not saved? Then it is named. */
static bool
is_left(struct git_save *save, const char *path)
{
	const char *why;
	int64_t size;

	if (!save->leave)
		return false;
	why = git_aside_reason(save->op.dir, path, &size);
	if (why == NULL && save->total + size > TOTAL_MAX)
		why = "is more than can be saved at once";
	if (why == NULL) {
		save->total += size;
		return false;
	}
	if (save->left.len < NAMED_MAX) {
		buf_adds(&save->left, "Left out: ");
		text_add_visible(&save->left, path, strlen(path), false);
		buf_addf(&save->left, " %s\n", why);
	}
	return true;
}

/* --- all that has changed, as it is ------------------------------------ */

/* Whatever a filter, an encoding or line ends would make of it: what git cannot
 * convert is saved, too, and no program runs. */

enum git_op_next
git_stage_ask_modified(struct git_op *op)
{
	const struct git_save *save = op->self;

	git_stage_use_index(op);
	git_op_args(op, "ls-files", "-z", NULL);
	/* Comparing may need a filter, and that may fail. */
	if (!save->compare_failed)
		git_op_arg(op, "--modified");
	return GIT_OP_ASK;
}

/* Paths that were not left out, for the steps below. */
static enum git_op_next
take_paths(struct git_save *save, const struct git_answer *answer)
{
	struct git_records records;
	const char *path;

	git_records_init(&records, answer->out, answer->out_len);
	while ((path = git_records_next(&records)) != NULL) {
		if (git_stage_is_folder(path) || is_left(save, path))
			continue;
		if (git_stage_check(save, path) == GIT_OP_FAIL)
			return GIT_OP_FAIL;
		buf_add(&save->others, path, strlen(path) + 1);
	}
	return GIT_OP_NEXT;
}

enum git_op_next
git_stage_modified(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;

	buf_clear(&save->others);
	if (answer->status == 0)
		return take_paths(save, answer);
	if (save->compare_failed)
		return git_op_complain(op, answer);
	save->compare_failed = true;
	return GIT_OP_AGAIN;
}

enum git_op_next
git_stage_others(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	return take_paths(op->self, answer);
}

/* What is at the path, with no link on the way there: 0 = nothing that could
 * be saved. */
static mode_t
look_at(int top, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH,
	};
	cleanup_fd int fd =
	    (int)syscall(SYS_openat2, top, path, &how, sizeof how);
	struct stat st;

	if (fd == -1 && errno == ENOSYS) {
		if (fstatat(top, path, &st, AT_SYMLINK_NOFOLLOW) == -1)
			return 0;
	} else if (fd == -1 || fstat(fd, &st) == -1) {
		return 0;
	}
	if (S_ISDIR(st.st_mode)) {
		cleanup_free char *git = file_join(path, ".git");

		return faccessat(top, git, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ?
		    st.st_mode :
		    0;
	}
	return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) ? st.st_mode : 0;
}

/* As git reads it back, one on a line. */
static void
add_quoted(struct buf *out, const char *path)
{
	buf_addc(out, '"');
	for (; *path != '\0'; path++) {
		unsigned char c = (unsigned char)*path;

		if (c == '"' || c == '\\' || c < ' ' || c == 127)
			buf_addf(out, "\\%03o", c);
		else
			buf_addc(out, *path);
	}
	buf_adds(out, "\"\n");
}

/* Ordinary files; what is gone since is looked at again. Links have no contents
 * that could be converted, and folders are submodules: those are git's. */
enum git_op_next
git_stage_ask_hash(struct git_op *op)
{
	struct git_save *save = op->self;
	cleanup_fd int top = open(op->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct git_records records;
	const char *path;

	buf_clear(&save->files);
	buf_clear(&save->info);
	buf_clear(&save->links);
	git_records_init(&records, save->others.data, save->others.len);
	while ((path = git_records_next(&records)) != NULL) {
		mode_t mode = look_at(top, path);

		if (S_ISREG(mode)) {
			buf_addc(&save->files, mode & S_IXUSR ? 'x' : '-');
			buf_add(&save->files, path, strlen(path) + 1);
			add_quoted(&op->input, path);
		} else if (mode == 0) {
			buf_addf(&save->info, "0 %040d\t%s", 0, path);
			buf_addc(&save->info, '\0');
		} else {
			buf_add(&save->links, path, strlen(path) + 1);
		}
	}
	if (save->files.len == 0)
		return GIT_OP_NEXT;
	return git_op_args(
	    op, "hash-object", "-w", "--no-filters", "--stdin-paths", NULL);
}

enum git_op_next
git_stage_hash(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;
	const char *id = answer->out;
	struct git_records records;
	const char *file;

	if (answer->status != 0)
		return save->tries++ < TRIES ? GIT_OP_AGAIN :
					       git_op_complain(op, answer);
	git_records_init(&records, save->files.data, save->files.len);
	while ((file = git_records_next(&records)) != NULL) {
		size_t len = strcspn(id, "\n");

		buf_addf(&save->info, "%s %.*s\t%s",
		    file[0] == 'x' ? "100755" : "100644", (int)len, id,
		    file + 1);
		buf_addc(&save->info, '\0');
		id += len + (id[len] == '\n');
	}
	return GIT_OP_NEXT;
}

enum git_op_next
git_stage_ask_info(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (save->info.len == 0)
		return GIT_OP_NEXT;
	git_stage_use_index(op);
	buf_add(&op->input, save->info.data, save->info.len);
	return git_op_args(op, "update-index", "-z", "--index-info", NULL);
}

enum git_op_next
git_stage_ask_links(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (save->links.len == 0)
		return GIT_OP_NEXT;
	git_stage_use_index(op);
	buf_add(&op->input, save->links.data, save->links.len);
	return git_op_args(op, "update-index", "--add", "--remove", "--replace",
	    "-z", "--stdin", NULL);
}

/* --- what a commit takes ----------------------------------------------- */

enum git_op_next
git_stage_ask_tracked(struct git_op *op)
{
	git_stage_use_index(op);
	return git_op_args(op, "add", "--update", NULL);
}

enum git_op_next
git_stage_ask_list(struct git_op *op)
{
	git_stage_use_index(op);
	return git_op_args(
	    op, "ls-files", "--others", "--exclude-standard", "-z", NULL);
}

/* A folder in this list is a repository of its own, which `add` would take for
 * a submodule. */
enum git_op_next
git_stage_list(struct git_op *op, const struct git_answer *answer)
{
	struct git_save *save = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	buf_clear(&save->others);
	return take_paths(save, answer);
}

enum git_op_next
git_stage_ask_others(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (save->others.len == 0)
		return GIT_OP_NEXT;
	git_stage_use_index(op);
	buf_add(&op->input, save->others.data, save->others.len);
	/* --remove: one that is gone by now is no error. */
	return git_op_args(
	    op, "update-index", "--add", "--remove", "-z", "--stdin", NULL);
}
