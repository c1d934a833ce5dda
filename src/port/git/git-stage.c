/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "git-records.h"
#include "git-save.h"
#include "git-stage.h"
#include "remove-tree.h"

#define BIG_BYTES   (INT64_C(256) * 1024 * 1024)
#define MIB         (INT64_C(1024) * 1024)
#define ASIDE_TRIES 100 /* names for one that was moved with the same stamp */

/* Why a file cannot be put into the repository, in words behind its name, and
 * its size; NULL = it can be. Hashing and compressing a big one would take
 * minutes. */
static const char *
git_aside_reason(const char *dir, const char *path, int64_t *ret_size)
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
make_place(const char *dir, const struct git_aside *aside, const char *path,
    struct err *err)
{
	if (aside->replaces) {
		const char *name = aside->name;
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
	for (int i = 1; i <= ASIDE_TRIES; i++) {
		cleanup_free char *place =
		    name_place(dir, aside->name, i, path);

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
git_aside_move(const char *dir, const struct git_aside *aside, const char *path,
    struct buf *words, struct err *err)
{
	cleanup_free char *place = make_place(dir, aside, path, err);
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
void
git_aside_nested(struct git_op *op, char *const *nested,
    const struct git_aside *aside, struct buf *words)
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
		    git_aside_move(op->dir, aside, nested[i], words, &op->err) <
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

bool
git_stage_is_folder(const char *path)
{
	size_t len = strlen(path);

	return len == 0 || path[len - 1] == '/';
}

void
git_stage_check(struct git_save *save, const char *path)
{
	struct git_op *op = &save->op;
	cleanup_buf struct buf shown = BUF_INIT;
	int64_t size;
	const char *why = git_aside_reason(op->dir, path, &size);

	if (save->leave || why == NULL)
		return;
	if (save->moves) {
		if (git_aside_move(op->dir, &save->aside, path, &save->moved,
			&op->err) < 0)
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
