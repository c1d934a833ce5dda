/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "child.h"
#include "git-clone.h"
#include "git-private.h"

#define DELETE_MS   (INT64_C(20) * 60 * 1000)
#define PARENTS_MAX 500

static int
delete_folder(const char *folder, struct err *err)
{
	const char *const argv[] = { "rm", "-rf", "--", folder, NULL };
	const struct child_spec spec = {
		.argv = argv, .deadline_ms = DELETE_MS, .in_group = true
	};
	cleanup_child_result struct child_result result;
	int r = child_run(&spec, &result, err);

	if (r == 0 && !child_succeeded(&result))
		r = err_set(err, -EIO, "%s cannot be deleted: %.200s", folder,
		    result.err.head.data);
	return r;
}

void
git_clone_op_delete(struct git_op *op, const char *folder)
{
	if (delete_folder(folder, &op->err) < 0)
		git_op_die_of(op);
}

/* --- keep -------------------------------------------------------------- */

static void
refuse_keep(struct git_op *op, const char *why)
{
	struct git_home home;

	git_op_die(op, -EBUSY,
	    "%s cannot become a worktree now (%s); have the worker finish "
	    "that first, or save its work and start over: llmc reset %s",
	    op->dir, why, git_home(op->git, op->dir, &home) ? home.worker : "");
}

/* What git has just printed, one on a line. */
static void
add_parents(const struct git_op *op, char ***parents)
{
	const char *line = op->answer.out;

	while (*line != '\0' && strv_count(*parents) < PARENTS_MAX) {
		size_t len = strcspn(line, "\n");
		cleanup_free char *id = xstrndup(line, len);
		bool has = strcmp(id, op->head_id) == 0;

		for (size_t i = 0; *parents != NULL && (*parents)[i] != NULL;
		     i++)
			has |= strcmp((*parents)[i], id) == 0;
		if (!has)
			strv_add(parents, id);
		line += len + (line[len] == '\n');
	}
}

void
git_clone_op_keep(struct git_op *op, const char *ref, bool saved)
{
	const char *tree = git_op_text(op, "%s^{tree}",
	    op->head_id[0] != '\0' ? op->head_id : op->onto_id);
	char **parents = NULL;
	const char *id;
	bool more;

	if (!saved) {
		if (git_op_rebasing(op))
			refuse_keep(op, "a rebase is in progress");
		if (git_op_try(op, "write-tree", NULL) != 0)
			refuse_keep(op, op->answer.complaint);
		tree = op->answer.out;
	}
	/* Is there a commit that neither HEAD nor the landing branch has? */
	git_op_args(op, "rev-list", "--max-count=1", "--all", "--not",
	    op->onto_id, NULL);
	if (op->head_id[0] != '\0')
		git_op_arg(op, op->head_id);
	git_op_must(op, NULL);
	more = op->answer.out_len > 0;
	if (!more && saved)
		return;
	if (more) {
		git_op_must(op, "rev-list", "--no-walk", "--all", NULL);
		add_parents(op, &parents);
		git_op_must(op, "stash", "list", "--format=%H", NULL);
		add_parents(op, &parents);
	}
	git_op_own_name(op);
	buf_adds(&op->input,
	    "Index, branches and stashes of a clone\n\n"
	    "Each other parent is a branch or a stash.\n");
	git_op_args(op, "commit-tree", tree, NULL);
	if (op->head_id[0] != '\0')
		git_op_args(op, "-p", op->head_id, NULL);
	for (size_t i = 0; parents != NULL && parents[i] != NULL; i++)
		git_op_args(op, "-p", parents[i], NULL);
	id = git_op_must(op, NULL);
	git_import_run(op, id);
	if (!more)
		return;
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	git_op_must(op, "update-ref", ref, id, NULL);
}

#define ALTERNATES "objects/info/alternates"
#define MAKE_MS    (2 * 60 * 1000)
#define FILES_MS   (20 * 60 * 1000)

/* The folder is new and still private to us, so this needs no box. HEAD is on
 * the branch; the files come later. Of the user's settings only those that say
 * who commits and how files are written are taken over. */
static const char make_script[] =
    "set -eu\n"
    "root=$1 dir=$2 branch=$3 id=$4 landing=$5 landing_id=$6 gitdir=$7 "
    "from=$8\n"
    "format=$(git -C \"$root\" rev-parse --show-object-format)\n"
    "git init -q --template= --object-format=\"$format\" "
    "--initial-branch=\"$branch\" \"$dir\"\n"
    "cd \"$dir\"\n"
    "mkdir -p .git/info\n"
    "cat >.git/objects/info/alternates\n"
    "[ ! -e \"$gitdir/shallow\" ] || cp \"$gitdir/shallow\" .git/shallow\n"
    "[ ! -e \"$gitdir/info/exclude\" ] ||\n"
    "	cp \"$gitdir/info/exclude\" .git/info/exclude\n"
    "keys='user\\.(name|email)|core\\.(autocrlf|eol|filemode|symlinks|"
    "ignorecase|safecrlf)'\n"
    "{	git -C \"$root\" config --get-regexp \"^($keys)\\$\" |\n"
    "		sed -En 's/[\\\\\"]/\\\\&/g; "
    "s/^([a-z]+)\\.([a-z]+) (.*)$/[\\1]\\n\\t\\2 = \"\\3\"/p; "
    "s/^([a-z]+)\\.([a-z]+)$/[\\1]\\n\\t\\2/p'\n"
    "	printf '[gc]\\n\\tauto = 0\\n'; } >>.git/config\n"
    "{	[ -z \"$landing\" ] ||\n"
    "		echo \"update refs/heads/$landing $landing_id\"\n"
    "	echo \"update refs/heads/$branch $id\"\n"
    "} | git update-ref --stdin\n"
    "[ -n \"$from\" ] || exit 0\n"
    "echo \"$id\" >.git/HEAD\n"
    "for file in \"$from\"/*; do\n"
    "	case ${file##*/} in\n"
    "	commondir | gitdir | locked | config* | refs | HEAD | *.lock | logs | "
    "'*')\n"
    "		;;\n"
    "	*)	cp -a -- \"$file\" .git/ ;;\n"
    "	esac\n"
    "done\n";

/* --- facts ------------------------------------------------------------- */

/* Does a name in the folder end like this? */
static bool
has_file(const char *folder, const char *ending)
{
	cleanup_dir DIR *stream = opendir(folder);
	const char *name;

	while ((name = dir_next(stream)) != NULL)
		if (name[0] != '.' && text_ends(name, ending))
			return true;
	return false;
}

/* Why no clone can be made of this repository, in words, or 0: it is a partial
 * clone, has files in Git LFS, or keeps its refs in a reftable. Looks at files
 * only. */
static int
git_clone_check(const char *git_dir, struct err *err)
{
	cleanup_free char *pack = file_join(git_dir, "objects/pack");
	cleanup_free char *lfs = file_join(git_dir, "lfs/objects");
	cleanup_free char *reftable = file_join(git_dir, "reftable");

	if (has_file(pack, ".promisor"))
		return err_set(err, -ENOTSUP,
		    "this repository is a partial clone, from which a strict "
		    "sandbox cannot fetch what is missing; use sandbox = "
		    "\"worktree\", or: git fetch --refetch --no-filter");
	if (file_exists(reftable))
		return err_set(err, -ENOTSUP,
		    "this repository keeps its refs in a reftable, which a "
		    "strict sandbox cannot use; use sandbox = \"worktree\"");
	if (has_file(lfs, ""))
		return err_set(err, -ENOTSUP,
		    "this repository has files in Git LFS, which a strict "
		    "sandbox cannot carry; use sandbox = \"worktree\"");
	return 0;
}

bool
git_clone_suits(const char *git_dir)
{
	cleanup_free char *modules = file_join(git_dir, "modules");

	return git_clone_check(git_dir, NULL) == 0 && !file_is_dir(modules);
}

/* --- the clone --------------------------------------------------------- */

static int
run_part(const struct git_clone_spec *spec, const struct child_spec *child,
    struct err *err)
{
	cleanup_child_result struct child_result result;
	int r = child_run(child, &result, err);

	if (r < 0 || child_succeeded(&result))
		return r;
	if (result.timed_out)
		return err_set(
		    err, -ETIMEDOUT, "%s: the clone took too long", spec->dir);
	return err_set(
	    err, -EIO, "%s: %.300s", spec->dir, result.err.head.data);
}

/* Filters and the like run in the box. */
static int
write_files(const struct git_clone_spec *spec, struct err *err)
{
	const char *const checkout[] = { "git", "-C", spec->dir, "-c",
		"core.hooksPath=/dev/null", "reset", "--quiet", "--hard",
		NULL };
	cleanup_strv char **argv = NULL;
	struct child_spec child = {
		.env = git_env, .deadline_ms = FILES_MS, .in_group = true
	};
	int r = 0;

	if (spec->box != NULL)
		r = spec->box(spec->box_arg, spec->dir, &argv, err);
	if (r < 0)
		return r;
	strv_add_all(&argv, checkout);
	child.argv = strv_const(argv);
	return run_part(spec, &child, err);
}

int
git_clone_make(const struct git_clone_spec *spec, struct err *err)
{
	cleanup_free char *objects = file_join(spec->git_dir, "objects");
	cleanup_free char *path = git_dirs_alternate(objects);
	cleanup_free char *line = xasprintf("%s\n", path);
	const char *const argv[] = { "sh", "-c", make_script, "sh", spec->root,
		spec->dir, spec->branch, spec->id,
		spec->landing != NULL ? spec->landing : "",
		spec->landing_id != NULL ? spec->landing_id : "", spec->git_dir,
		spec->from != NULL ? spec->from : "", NULL };
	const struct child_spec child = { .argv = argv,
		.env = git_env,
		.input = line,
		.input_len = strlen(line),
		.deadline_ms = MAKE_MS,
		.in_group = true };
	int r = git_clone_check(spec->git_dir, err);

	if (r < 0)
		return r;
	if (rmdir(spec->dir) == -1 && errno != ENOENT)
		return err_set(
		    err, -EEXIST, "%s exists already; move it away", spec->dir);
	r = run_part(spec, &child, err);
	if (r == 0 && spec->from == NULL)
		r = write_files(spec, err);
	/* An unfinished clone is removed; it has no work in it. */
	if (r < 0)
		delete_folder(spec->dir, NULL);
	return r;
}

/* --- a worktree becomes a clone and back -------------------------------- */

#define INDEX_MAX (INT64_C(1) << 30)

struct turn_op {
	struct git_op op;
	char *branch, *keep;
	char *place; /* a folder beside the tree, for what is made */
	char *made; /* the new tree in it */
};

static void
clear_place(struct git_op *op)
{
	const struct turn_op *turn = op->self;

	if (file_exists(turn->place))
		git_clone_op_delete(op, turn->place);
}

static void
make_place(struct git_op *op)
{
	const struct turn_op *turn = op->self;

	clear_place(op);
	if (git_op_has(op, "modules"))
		git_op_die(op, -ENOTSUP,
		    "%s has submodules checked out, which a strict sandbox "
		    "cannot carry; use sandbox = \"worktree\"",
		    op->dir);
	if (op->head_id[0] == '\0')
		git_op_die(op, -ENOENT, "there is no commit in %s", op->dir);
	if (mkdir(turn->place, 0700) == -1)
		git_op_die(op, -errno, "%s cannot be made (error %d)",
		    turn->place, errno);
}

/* One rename, so that there is always one of the two. */
static void
exchange(struct git_op *op)
{
	const struct turn_op *turn = op->self;
	cleanup_free char *old = file_join(op->dir, ".git");
	cleanup_free char *new = file_join(turn->made, ".git");
	cleanup_free char *out = file_join(turn->place, "old");

	if (renameat2(AT_FDCWD, new, AT_FDCWD, old, RENAME_EXCHANGE) == 0)
		return;
	if ((errno != EINVAL && errno != ENOSYS) || rename(old, out) == -1)
		git_op_die(
		    op, -errno, "%s cannot be replaced (error %d)", old, errno);
	if (rename(new, old) == 0)
		return;
	rename(out, old);
	git_op_die(op, -EIO, "%s cannot be replaced", old);
}

static void
begin(struct git_op *op)
{
	git_op_need_gitdir(op);
	git_follow_run(op);
	git_op_need_onto(op);
}

static void
clone_run(struct git_op *op)
{
	const struct turn_op *turn = op->self;
	struct git_clone_spec spec = { .root = git_root(op->git),
		.dir = turn->made,
		.branch = turn->branch,
		.landing = op->onto };

	begin(op);
	make_place(op);
	spec.git_dir = op->common;
	spec.id = op->head_id;
	spec.landing_id = op->onto_id;
	spec.from = op->gitdir;
	if (git_clone_make(&spec, &op->err) < 0)
		git_op_die_of(op);
	exchange(op);
	/* A few small files; git would look for the .git that names them. */
	remove_tree(op->gitdir);
	clear_place(op);
}

/* --- a worktree -------------------------------------------------------- */

/* What a turn has left that was killed; none is right for a clone. */
static void
unregister(const struct git_op *op, const char *path)
{
	char *own;

	while ((own = git_dirs_registered(op->common, path)) != NULL &&
	    remove_tree(own) >= 0)
		free(own);
}

static int
copy_index(const char *from, const char *to)
{
	cleanup_free char *index = file_join(from, "index");
	cleanup_free char *target = file_join(to, "index");
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_read(index, INDEX_MAX, &text, NULL);

	if (r == -ENOENT)
		return 0;
	return r < 0 ? r :
		       file_replace(target, text.data, text.len, 0644, NULL);
}

/* The new git directory takes the index, and names the place where the tree
 * is. */
static void
fit(struct git_op *op)
{
	const struct turn_op *turn = op->self;
	cleanup_free char *own = git_dirs_registered(op->common, turn->made);
	cleanup_free char *link = NULL, *back = NULL, *to = NULL;
	cleanup_free char *dot_git = NULL;

	if (own == NULL)
		git_op_die(op, -EIO, "%s is not a worktree", turn->made);
	dot_git = file_join(turn->made, ".git");
	back = file_join(own, "gitdir");
	link = xasprintf("gitdir: %s\n", own);
	to = xasprintf("%s/.git\n", op->dir);
	if (copy_index(op->gitdir, own) < 0 ||
	    file_replace(dot_git, link, strlen(link), 0644, NULL) < 0 ||
	    file_replace(back, to, strlen(to), 0644, NULL) < 0)
		git_op_die(op, -EIO, "%s cannot be made a worktree", op->dir);
}

static void
tree_run(struct git_op *op)
{
	const struct turn_op *turn = op->self;

	begin(op);
	git_clone_op_keep(op, turn->keep, false);
	make_place(op);
	unregister(op, turn->made);
	unregister(op, op->dir);
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	git_op_must(op, "worktree", "add", "--quiet", "--detach",
	    "--no-checkout", "--", turn->made, op->head_id, NULL);
	fit(op);
	exchange(op);
	clear_place(op);
}

static void
turn_start(struct git *git, const char *dir, const struct git_turn *what,
    void (*run)(struct git_op *op), git_work_fn *fn, void *arg)
{
	struct turn_op *turn =
	    git_op_new(sizeof *turn, git, dir, what->onto, run, NULL);
	struct git_op *op = &turn->op;
	const char *name = strrchr(dir, '/');

	turn->branch = git_op_copy(op, what->branch);
	turn->keep = git_op_copy(op, what->keep);
	turn->place = git_op_text(op, "%s.turning", dir);
	turn->made = git_op_text(
	    op, "%s/%s", turn->place, name != NULL ? name + 1 : dir);
	op->work_fn = fn;
	op->arg = arg;
	git_op_begin(op, true);
}

void
git_turn_to_clone(struct git *git, const char *dir, const struct git_turn *turn,
    git_work_fn *fn, void *arg)
{
	turn_start(git, dir, turn, clone_run, fn, arg);
}

void
git_turn_to_worktree(struct git *git, const char *dir,
    const struct git_turn *turn, git_work_fn *fn, void *arg)
{
	turn_start(git, dir, turn, tree_run, fn, arg);
}
