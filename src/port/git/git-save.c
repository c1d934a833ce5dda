/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "child.h"
#include "git-clone.h"
#include "git-facts.h"
#include "git-private.h"

#define BIG_BYTES  (INT64_C(256) * 1024 * 1024)
#define MIB        (INT64_C(1024) * 1024)
#define KEPT_TRIES 100 /* names for one that was moved with the same stamp */

/* Why a file cannot be put into the repository, in words behind its name, and
 * its size; NULL = it can be. Hashing and compressing a big one would take
 * minutes. */
static const char *
why_unsaved(const char *dir, const char *path, int64_t *ret_size)
{
	cleanup_free char *file = file_join(dir, path);
	struct stat st;

	*ret_size = 0;
	if (lstat(file, &st) == -1 || !S_ISREG(st.st_mode))
		return NULL;
	*ret_size = st.st_size;
	if (st.st_size > BIG_BYTES)
		return "is too big for the repository";
	if (access(file, R_OK) == -1 && errno == EACCES)
		return "cannot be read";
	return NULL;
}

static char *
name_place(const char *dir, const char *name, int i, const char *path)
{
	cleanup_free char *more = i == 1 ? xstrdup("") : xasprintf("-%d", i);
	char *place = xasprintf("%s.kept-%s%s/%s", dir, name, more, path);
	char *end = place + strlen(place);

	while (end[-1] == '/')
		*--end = '\0';
	return place;
}

static int
make_folder(const char *place, struct err *err)
{
	cleanup_free char *folder =
	    xstrndup(place, (size_t)(strrchr(place, '/') - place));

	return file_mkdirs(folder, 0700, err);
}

/* A free name, with its folder. */
static char *
make_place(const char *dir, const struct git_kept *kept, const char *path,
    struct err *err)
{
	if (kept->replaces) {
		const char *name = kept->name;
		cleanup_free char *place = name_place(dir, name, 1, path);
		cleanup_free char *all = xasprintf("%s.kept-%s", dir, name);
		struct err in_the_way = { 0 };

		/* The one name, with nothing there. What was there is of an
		 * earlier time; if a file or a link of it is where a folder
		 * is needed now, all of it goes. */
		if (remove_tree_below(all, path) < 0 ||
		    make_folder(place, &in_the_way) < 0) {
			remove_tree(all);
			if (make_folder(place, err) < 0)
				return NULL;
		}
		return take_ptr(&place);
	}
	for (int i = 1; i <= KEPT_TRIES; i++) {
		cleanup_free char *place = name_place(dir, kept->name, i, path);

		if (!file_exists(place))
			return make_folder(place, err) < 0 ? NULL :
							     take_ptr(&place);
	}
	err_set(
	    err, -EEXIST, "there is no free name for %s beside %s", path, dir);
	return NULL;
}

/* The folder of a path below another one, none of them a link: the worker may
 * have put one there since git listed the path. */
static int
open_parent(const char *top, const char *path)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(top, flags);
	const char *slash;

	while (fd != -1 && (slash = strchr(path, '/')) != NULL &&
	    slash[1] != '\0') {
		cleanup_free char *name =
		    xstrndup(path, (size_t)(slash - path));
		cleanup_fd int above = fd;

		fd = openat(above, name, flags);
		path = slash + 1;
	}
	return fd;
}

/* place: ends with the path, without its last slash. */
static int
move(const char *dir, const char *path, const char *place, struct stat *ret_st)
{
	const char *leaf = strrchr(place, '/') + 1;
	size_t len = strlen(path) - (path[strlen(path) - 1] == '/');
	cleanup_free char *top = xstrndup(place, strlen(place) - len);
	cleanup_fd int from = open_parent(dir, path);
	cleanup_fd int to = open_parent(top, path);

	if (from == -1 || to == -1 ||
	    fstatat(from, leaf, ret_st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    renameat(from, leaf, to, leaf) == -1)
		return -errno;
	return 0;
}

int
git_kept_move(const char *dir, const struct git_kept *kept, const char *path,
    struct buf *words, struct err *err)
{
	cleanup_free char *place = make_place(dir, kept, path, err);
	struct stat st = { 0 };
	int r;

	if (place == NULL)
		return err->code;
	r = move(dir, path, place, &st);
	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
		return 0; /* gone by itself */
	if (r != 0)
		return err_set(err, r, "%s/%s cannot be moved to %s: %s", dir,
		    path, place, strerror(-r));
	buf_adds(words, "Moved aside: ");
	text_add_visible(words, path, strlen(path), false);
	buf_adds(words, " is now ");
	text_add_visible(words, place, strlen(place), false);
	if (S_ISREG(st.st_mode))
		buf_addf(words, " (%lld MiB)", (long long)(st.st_size / MIB));
	buf_addc(words, '\n');
	return 0;
}

/* --- repositories ------------------------------------------------------ */

/* The end of the next folder in a path that has a last slash; NULL = no more.
 */
static const char *
next_folder(const char *path, const char *at)
{
	return strchr(at == NULL ? path : at + 1, '/');
}

static bool
is_in_the_way(const char *path, const char **line)
{
	const char *end = NULL;
	bool in_the_way = false;

	if (strchr(path, '\n') != NULL)
		return true; /* it could not be asked about */
	while ((end = next_folder(path, end)) != NULL) {
		bool last = end[1] == '\0';

		in_the_way |= strncmp(*line, "blob\n", 5) == 0 ||
		    (last && strncmp(*line, "tree\n", 5) == 0);
		*line += strcspn(*line, "\n");
		*line += **line == '\n';
	}
	return in_the_way;
}

/* What is the branch's file or folder at the place of each repository, and of
 * each folder above it? The commit of a submodule is no object of ours, so it
 * is not in the way. */
static void
keep_nested(struct git_op *op, char *const *nested, const struct git_kept *kept,
    struct buf *words)
{
	const char *line;

	for (size_t i = 0; nested[i] != NULL; i++) {
		const char *end = NULL;

		if (strchr(nested[i], '\n') != NULL)
			continue;
		while ((end = next_folder(nested[i], end)) != NULL)
			buf_addf(&op->input, "%s:%.*s\n", op->onto_id,
			    (int)(end - nested[i]), nested[i]);
	}
	line = git_op_text(op, "%s\n",
	    git_op_must(op, "cat-file", "--batch-check=%(objecttype)", NULL));
	for (size_t i = 0; nested[i] != NULL; i++)
		if (is_in_the_way(nested[i], &line) &&
		    git_kept_move(op->dir, kept, nested[i], words, &op->err) <
			0)
			git_op_die_of(op);
}

#define TOTAL_MAX   (INT64_C(1) << 30) /* bytes that are saved with `leave` */
#define NAMED_MAX   10000 /* bytes of names of what is left out */
#define STAGE_TRIES 3 /* where files vanish while they are read */

void
git_stage_use_index(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (save->index != NULL)
		git_op_env(op, "GIT_INDEX_FILE=%s", save->index);
}

/* Is this path, as git lists it, a repository inside? */
static bool
git_stage_is_folder(const char *path)
{
	size_t len = strlen(path);

	return len == 0 || path[len - 1] == '/';
}

/* A file that is too big or cannot be read is moved aside, or is an error if
 * save->moves is not set. */
static void
git_stage_check(struct git_save *save, const char *path)
{
	struct git_op *op = &save->op;
	cleanup_buf struct buf shown = BUF_INIT;
	int64_t size;
	const char *why = why_unsaved(op->dir, path, &size);

	if (save->leave || why == NULL)
		return;
	if (save->moves) {
		if (git_kept_move(
			op->dir, &save->kept, path, &save->moved, &op->err) < 0)
			git_op_die_of(op);
		return;
	}
	text_add_visible(
	    &shown, path, text_cut(path, strlen(path), 200), false);
	git_op_die(op, -EFBIG,
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
	why = why_unsaved(save->op.dir, path, &size);
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

/* Of the paths that git has just printed, those that are not left out. */
static void
take_paths(struct git_save *save)
{
	struct git_records records;
	const char *path;

	git_records_init(
	    &records, save->op.answer.out, save->op.answer.out_len);
	while ((path = git_records_next(&records)) != NULL) {
		if (git_stage_is_folder(path) || is_left(save, path))
			continue;
		git_stage_check(save, path);
		buf_add(&save->others, path, strlen(path) + 1);
	}
}

/* A folder in this list is a repository of its own, which `add` would take for
 * a submodule. */
static void
list_others(struct git_save *save)
{
	git_stage_use_index(&save->op);
	git_op_must(&save->op, "ls-files", "--others", "--exclude-standard",
	    "-z", NULL);
	take_paths(save);
}

/* --- all that has changed, as it is ------------------------------------ */

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
static int
hash_files(struct git_save *save, struct buf *info, struct buf *links)
{
	struct git_op *op = &save->op;
	cleanup_fd int top = open(op->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_buf struct buf files = BUF_INIT;
	struct git_records records;
	const char *path, *id;

	git_records_init(&records, save->others.data, save->others.len);
	while ((path = git_records_next(&records)) != NULL) {
		mode_t mode = look_at(top, path);

		if (S_ISREG(mode)) {
			buf_addc(&files, mode & S_IXUSR ? 'x' : '-');
			buf_add(&files, path, strlen(path) + 1);
			add_quoted(&op->input, path);
		} else if (mode == 0) {
			buf_addf(info, "0 %040d\t%s", 0, path);
			buf_addc(info, '\0');
		} else {
			buf_add(links, path, strlen(path) + 1);
		}
	}
	if (files.len == 0)
		return 0;
	if (git_op_try(op, "hash-object", "-w", "--no-filters", "--stdin-paths",
		NULL) != 0)
		return -1;
	id = op->answer.out;
	git_records_init(&records, files.data, files.len);
	while ((path = git_records_next(&records)) != NULL) {
		size_t len = strcspn(id, "\n");

		buf_addf(info, "%s %.*s\t%s",
		    path[0] == 'x' ? "100755" : "100644", (int)len, id,
		    path + 1);
		buf_addc(info, '\0');
		id += len + (id[len] == '\n');
	}
	return 0;
}

void
git_stage_raw(struct git_save *save)
{
	struct git_op *op = &save->op;
	cleanup_buf struct buf info = BUF_INIT, links = BUF_INIT;

	/* Comparing may need a filter, and that may fail: then all tracked
	 * files are read. */
	git_stage_use_index(op);
	if (git_op_try(op, "ls-files", "-z", "--modified", NULL) != 0) {
		git_stage_use_index(op);
		git_op_must(op, "ls-files", "-z", NULL);
	}
	buf_clear(&save->others);
	take_paths(save);
	list_others(save);
	for (int tries = 0; hash_files(save, &info, &links) < 0; tries++) {
		if (tries == STAGE_TRIES)
			git_op_die_as(op);
		buf_clear(&info);
		buf_clear(&links);
	}
	if (info.len > 0) {
		git_stage_use_index(op);
		buf_add(&op->input, info.data, info.len);
		git_op_must(op, "update-index", "-z", "--index-info", NULL);
	}
	if (links.len > 0) {
		git_stage_use_index(op);
		buf_add(&op->input, links.data, links.len);
		git_op_must(op, "update-index", "--add", "--remove",
		    "--replace", "-z", "--stdin", NULL);
	}
}

/* --- what a commit takes ----------------------------------------------- */

void
git_stage_add(struct git_save *save)
{
	struct git_op *op = &save->op;

	git_stage_use_index(op);
	git_op_must(op, "add", "--update", NULL);
	buf_clear(&save->others);
	list_others(save);
	if (save->others.len == 0)
		return;
	git_stage_use_index(op);
	buf_add(&op->input, save->others.data, save->others.len);
	/* --remove: one that is gone by now is no error. */
	git_op_must(
	    op, "update-index", "--add", "--remove", "-z", "--stdin", NULL);
}

/* --- a save ------------------------------------------------------------- */

/* A slow disk behind a full cache. */
#define SYNC_DEADLINE_MS (INT64_C(10) * 60 * 1000)

int
git_sync(bool whole, const char *const *paths, struct err *err)
{
	cleanup_strv char **argv = NULL, **left = NULL;
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf text = BUF_INIT;
	struct child_spec spec = { .deadline_ms = SYNC_DEADLINE_MS };
	struct stat st;
	int r;

	strv_add(&argv, "sync");
	if (whole)
		strv_add(&argv, "-f");
	strv_add(&argv, "--");
	strv_add_all(&argv, paths);
	spec.argv = strv_const(argv);
	r = child_run(&spec, &result, err);
	if (r < 0 || child_succeeded(&result))
		return r;
	/* What a user removed in the meantime, by a switch, need not be on
	 * disk. */
	for (size_t i = 0; paths[i] != NULL; i++)
		if (lstat(paths[i], &st) == 0)
			strv_add(&left, paths[i]);
	if (left != NULL && left[0] != NULL &&
	    strv_count(left) + (whole ? 3 : 2) < strv_count(argv))
		return git_sync(whole, strv_const(left), err);
	child_output_text(&result.err, &text);
	if (text.len == 0)
		child_result_describe(&result, &text);
	return err_set(err, -EIO, "cannot put the repository on disk: sync: %s",
	    text.data);
}

void
git_sync_run(struct git_op *op)
{
	if (git_sync(true, (const char *[]){ op->common, NULL }, &op->err) < 0)
		git_op_die_of(op);
}

#define INDEX_NAME "llmc-salvage.index"

static void
remove_index(struct git_op *op)
{
	const struct git_save *save = op->self;

	if (save->index == NULL)
		return;
	unlink(git_op_text(op, "%s.lock", save->index));
	unlink(save->index);
}

/* --- what is there ----------------------------------------------------- */

/* False for what makes the worktree dirty. A folder is a repository of its own,
 * which is left alone. */
static bool
take_entry(struct git_save *save, const struct git_status_entry *entry)
{
	switch (entry->kind) {
	case GIT_STATUS_HEAD:
		return strcmp(entry->text, save->op.head_id) == 0;
	case GIT_STATUS_BRANCH:
		return git_stand_is_on(
		    save->op.git, save->op.dir, save->op.gitdir, save->branch);
	case GIT_STATUS_UNTRACKED:
		if (git_stage_is_folder(entry->text)) {
			strv_add(&save->nested, entry->text);
			return true;
		}
		break;
	case GIT_STATUS_UNMERGED:
		save->unmerged = true;
		break;
	case GIT_STATUS_CHANGED:
		save->staged |= entry->staged && entry->unstaged;
		break;
	}
	git_stage_check(save, entry->text);
	return false;
}

/* It is where HEAD is, unless it has not followed yet. */
static bool
read_branch(struct git_save *save)
{
	cleanup_free char *ref = xasprintf("refs/heads/%s", save->branch);
	int r;

	if (!git_stand_is_clone(save->op.git, save->op.dir) &&
	    git_dirs_is_on(save->op.gitdir, save->branch)) {
		memcpy(save->branch_id, save->op.head_id, GIT_ID_SIZE);
		return true;
	}
	save->branch_id[0] = '\0';
	r = git_refs_read(save->op.common, ref, save->branch_id);
	return r == 0 || r == -ENOENT;
}

/* --- what only the index has ------------------------------------------- */

/* A link, since git replaces the file instead of writing to it. */
static void
save_staged(struct git_save *save)
{
	struct git_op *op = &save->op;
	cleanup_free char *index = file_join(op->gitdir, "index");
	const char *tree;

	save->staged &= !save->unmerged && op->head_id[0] != '\0' &&
	    link(index, save->index) == 0;
	if (!save->staged)
		return;
	git_stage_use_index(op);
	save->staged = git_op_try(op, "write-tree", NULL) == 0;
	tree = op->answer.out;
	remove_index(op);
	/* It names objects that are gone: the files are saved nevertheless. */
	if (!save->staged)
		return;
	git_op_own_name(op);
	buf_addf(&op->input, "Index of %s, saved with %s\n", save->worker,
	    save->ref);
	strlcpy(save->staged_id,
	    git_op_must(op, "commit-tree", tree, "-p", op->head_id, NULL),
	    sizeof save->staged_id);
}

/* --- a tree of all files ----------------------------------------------- */

static void
save_files(struct git_save *save)
{
	struct git_op *op = &save->op;
	cleanup_free char *branch = git_op_known_branch(op, save->branch);
	cleanup_free char *ref = git_op_ref(op, save->ref);
	char ids[5][GIT_ID_SIZE];

	save->index = git_op_text(op, "%s/" INDEX_NAME, op->gitdir);
	op->undo = remove_index;
	remove_index(op); /* left by one that was killed */
	git_op_find_ids(op,
	    (const char *[]){ "HEAD^{tree}", branch, ref,
		git_op_text(op, "%s^{tree}", ref), git_op_text(op, "%s^1", ref),
		NULL },
	    ids);
	memcpy(save->head_tree, ids[0], GIT_ID_SIZE);
	memcpy(save->branch_id, ids[1], GIT_ID_SIZE);
	memcpy(save->old, ids[2], GIT_ID_SIZE);
	memcpy(save->old_tree, ids[3], GIT_ID_SIZE);
	memcpy(save->old_head, ids[4], GIT_ID_SIZE);
	save_staged(save);
	/* HEAD's tree with the real index's knowledge of the files' times:
	 * what is staged next is only what has changed. Or without that, where
	 * the real index is broken or locked for good. */
	if (op->head_id[0] != '\0' &&
	    git_op_try(op, "read-tree", "--reset",
		git_op_text(op, "--index-output=%s", save->index), op->head_id,
		NULL) != 0) {
		git_stage_use_index(op);
		git_op_must(op, "read-tree", op->head_id, NULL);
	}
	git_stage_raw(save);
	git_stage_use_index(op);
	strlcpy(
	    save->tree, git_op_must(op, "write-tree", NULL), sizeof save->tree);
}

/* --- commits ----------------------------------------------------------- */

/* Is it the landing branch, where the worktree goes, or where the worker's own
 * work begins? */
static bool
is_kept_anyway(const struct git_save *save, const char *id)
{
	const char *common = save->op.common;
	cleanup_free char *ref = xasprintf("refs/heads/%s", save->landed);
	char landed[GIT_ID_SIZE];
	struct git_home home;

	return id[0] == '\0' || strcmp(id, save->op.onto_id) == 0 ||
	    (git_home(save->op.git, save->op.dir, &home) && home.base != NULL &&
		strcmp(id, home.base) == 0) ||
	    (git_refs_read(common, ref, landed) == 0 &&
		strcmp(id, landed) == 0);
}

/* Has `id` no commit that would be lost? besides: "" = nothing. */
static bool
is_safe(struct git_save *save, const char *id, const char *besides)
{
	struct git_op *op = &save->op;

	if (is_kept_anyway(save, id))
		return true;
	git_op_args(
	    op, "rev-list", "--max-count=1", id, "--not", op->onto_id, NULL);
	if (strcmp(save->landed, op->onto) != 0) {
		cleanup_free char *landed =
		    git_op_known_branch(op, save->landed);

		git_op_arg(op, landed);
	}
	if (besides[0] != '\0')
		git_op_arg(op, besides);
	git_op_must(op, NULL);
	return op->answer.out_len == 0;
}

static bool
has_changes(const struct git_save *save)
{
	if (save->staged || save->moved.len > 0)
		return true;
	return save->op.head_id[0] == '\0' ?
	    save->others.len > 0 :
	    !save->out.clean && strcmp(save->tree, save->head_tree) != 0;
}

/* --- the ref ----------------------------------------------------------- */

static const char *
make_commit(struct git_save *save, bool branch_safe)
{
	struct git_op *op = &save->op;
	const char *const parents[] = { op->head_id,
		branch_safe ? "" : save->branch_id, save->old,
		save->staged_id };

	git_op_own_name(op);
	buf_addf(
	    &op->input, "Work of %s, saved as %s\n", save->worker, save->ref);
	if (save->moved.len + save->left.len > 0)
		buf_addf(
		    &op->input, "\n%s%s", save->moved.data, save->left.data);
	/* Without an index only commits are saved: of a clean worktree, or of
	 * a branch. */
	git_op_args(op, "commit-tree",
	    save->tree[0] != '\0' ?
		save->tree :
		git_op_text(op, "%s^{tree}",
		    op->head_id[0] != '\0' ? op->head_id : save->branch_id),
	    NULL);
	for (size_t i = 0; i < nitems(parents); i++)
		if (parents[i][0] != '\0')
			git_op_args(op, "-p", parents[i], NULL);
	return git_op_must(op, NULL);
}

/* Is there something to save, and is it more than what was saved before? */
static void
save_ref(struct git_save *save)
{
	struct git_op *op = &save->op;
	bool head_safe = is_safe(save, op->head_id, "");
	bool branch_safe = strcmp(save->branch_id, op->head_id) == 0 ||
	    is_safe(save, save->branch_id, op->head_id);
	bool changed = has_changes(save);
	const char *id = op->head_id;

	save->out.nothing =
	    !changed && head_safe && branch_safe && save->old[0] == '\0';
	if (!changed && head_safe && branch_safe)
		return;
	if (save->old[0] != '\0' && branch_safe && !save->staged &&
	    save->moved.len == 0 && strcmp(save->old_tree, save->tree) == 0 &&
	    (strcmp(save->old_head, op->head_id) == 0 ||
		strcmp(save->old, op->head_id) == 0))
		return;
	if (changed || !branch_safe || save->old[0] != '\0')
		id = make_commit(save, branch_safe);
	git_import_run(op, id);
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	/* "" as the old value: it must not exist yet. */
	git_op_must(op, "update-ref", save->ref, id, save->old, NULL);
	/* The files go away next, and git does not wait until its objects are
	 * on disk. */
	if (save->moves)
		git_sync_run(op);
}

static void
save_begin(struct git_save *save)
{
	save->out.clean = save->staged = save->unmerged = false;
	save->staged_id[0] = save->old[0] = save->tree[0] = '\0';
	strv_clear(&save->nested);
	buf_clear(&save->others);
	buf_clear(&save->left);
	save->total = 0;
}

void
git_save_run(struct git_save *save)
{
	struct git_op *op = &save->op;
	struct git_status_entry entry;
	struct git_records records;
	char old[GIT_ID_SIZE];

	save_begin(save);
	if (git_op_try_status(op, &records) == 0) {
		save->out.clean =
		    op->head_id[0] != '\0' && !git_op_rebasing(op);
		while (git_status_next(&records, &entry))
			save->out.clean &= take_entry(save, &entry);
	}
	if (save->moves && save->nested != NULL)
		keep_nested(op, save->nested, &save->kept, &save->moved);
	/* Only commits can be lost, in the usual case: no index is needed to
	 * save them. */
	save->out.clean &= save->moved.len == 0 &&
	    git_refs_read(op->common, save->ref, old) == -ENOENT;
	if (!save->out.clean || !read_branch(save))
		save_files(save);
	save_ref(save);
	memcpy(save->out.head, op->head_id, GIT_ID_SIZE);
}

void
git_save_commits(struct git_save *save)
{
	save_begin(save);
	save->out.clean = true;
	memcpy(save->branch_id, save->op.head_id, GIT_ID_SIZE);
	git_refs_read(save->op.common, save->ref, save->old);
	save_ref(save);
}

static void
save_finish(struct git_op *op, const struct err *err)
{
	const struct git_save *save = op->self;
	const struct git_salvaged saved = {
		.ref = save->out.nothing ? "" : save->ref,
		.clean = save->out.clean ? save->out.head : "",
		.base = save->out.base,
	};

	save->fn(err == NULL ? &saved : NULL, err, op->arg);
}

static void
save_release(struct git_op *op)
{
	struct git_save *save = op->self;

	strv_free(save->nested);
	buf_release(&save->others);
	buf_release(&save->moved);
	buf_release(&save->left);
}

void *
git_save_new(size_t size, struct git *git, const char *dir, const char *onto,
    const struct git_salvage *what, bool moves, void (*run)(struct git_op *op),
    git_salvage_fn *fn, void *arg)
{
	struct git_save *save =
	    git_op_new(size, git, dir, onto, run, save_finish);
	struct git_op *op = &save->op;

	buf_init(&save->others);
	buf_init(&save->moved);
	buf_init(&save->left);
	save->moves = moves;
	save->out.nothing = true;
	save->fn = fn;
	op->release = save_release;
	op->arg = arg;
	op->ret = &save->out;
	op->ret_size = sizeof save->out;
	if (what == NULL)
		return save;
	save->worker = git_op_copy(op, what->worker);
	save->branch = git_op_copy(op, what->branch);
	save->landed = git_op_copy(op, what->onto);
	save->kept.name = git_op_copy(
	    op, what->keep_as != NULL ? what->keep_as : what->stamp);
	save->kept.replaces = what->keep_as != NULL;
	save->ref = git_op_text(
	    op, "refs/llmc/salvage/%s/%s", what->worker, what->stamp);
	save->leave = what->leave;
	return save;
}
