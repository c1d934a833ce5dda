/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "git-clone.h"
#include "git-follow.h"
#include "git-records.h"
#include "git-remove.h"
#include "git-save.h"
#include "git-stand.h"
#include "git-worktree.h"
#include "mem.h"
#include "strv.h"
#include "text.h"

/* What `git clone`, `git worktree add` and `git sparse-checkout` write, who
 * commits, and what people set that neither runs a program nor names a file.
 * "*" = any key. */
static const struct {
	const char *section, *key;
} plain[] = {
	{ "core", "repositoryformatversion" },
	{ "core", "filemode" },
	{ "core", "bare" },
	{ "core", "logallrefupdates" },
	{ "core", "ignorecase" },
	{ "core", "precomposeunicode" },
	{ "core", "symlinks" },
	{ "core", "worktree" },
	{ "core", "autocrlf" },
	{ "core", "eol" },
	{ "core", "safecrlf" },
	{ "core", "sparsecheckout" },
	{ "core", "sparsecheckoutcone" },
	{ "core", "untrackedcache" },
	{ "core", "splitindex" },
	{ "core", "preloadindex" },
	{ "core", "abbrev" },
	{ "core", "quotepath" },
	{ "core", "commentchar" },
	{ "core", "compression" },
	{ "core", "whitespace" },
	{ "index", "*" },
	{ "user", "name" },
	{ "user", "email" },
	{ "user", "signingkey" },
	{ "commit", "gpgsign" },
	{ "tag", "gpgsign" },
	{ "branch", "remote" },
	{ "branch", "merge" },
	{ "branch", "rebase" },
	{ "branch", "description" },
	{ "branch", "autosetupmerge" },
	{ "branch", "autosetuprebase" },
	{ "remote", "url" },
	{ "remote", "pushurl" },
	{ "remote", "fetch" },
	{ "remote", "push" },
	{ "remote", "tagopt" },
	{ "remote", "prune" },
	{ "remote", "pushdefault" },
	{ "submodule", "url" },
	{ "submodule", "active" },
	{ "submodule", "branch" },
	{ "submodule", "ignore" },
	{ "extensions", "objectformat" },
	{ "lfs", "repositoryformatversion" },
	{ "lfs", "access" },
	{ "lfs", "locksverify" },
	{ "merge", "conflictstyle" },
	{ "merge", "ff" },
	{ "merge", "renames" },
	{ "diff", "algorithm" },
	{ "diff", "renames" },
	{ "diff", "colormoved" },
	{ "diff", "mnemonicprefix" },
	{ "fetch", "prune" },
	{ "rebase", "autostash" },
	{ "rebase", "autosquash" },
	{ "rebase", "updaterefs" },
	{ "rerere", "*" },
	{ "push", "*" },
	{ "pull", "*" },
	{ "status", "*" },
	{ "color", "*" },
	{ "column", "*" },
	{ "advice", "*" },
	{ "feature", "*" },
};

static bool
same_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

static bool
is_known(const char *section, size_t section_len, const char *key, size_t len)
{
	for (size_t i = 0; i < nitems(plain); i++)
		if (same_word(section, section_len, plain[i].section) &&
		    (plain[i].key[0] == '*' ||
			same_word(key, len, plain[i].key)))
			return true;
	return false;
}

/* "[section]" or "[section "name"]", alone on its line. */
static bool
take_section(
    const char *line, size_t len, const char **ret_section, size_t *ret_len)
{
	size_t word = strcspn(line + 1, " \t]\".\r\n");
	const char *end = memchr(line, ']', len);

	if (end == NULL || end != line + len - 1 || word == 0)
		return false;
	*ret_section = line + 1;
	*ret_len = word;
	return true;
}

static bool
take_key(const char *line, size_t len, const char *section, size_t section_len)
{
	size_t word = strcspn(line, " \t=\r\n");

	/* A value goes on in the next line behind a backslash. */
	if (word > len || section == NULL || line[len - 1] == '\\')
		return false;
	return is_known(section, section_len, line, word);
}

bool
git_config_is_plain(const char *text)
{
	const char *section = NULL, *line = text;
	size_t section_len = 0, len;

	for (; *line != '\0'; line += len + (line[len] == '\n')) {
		const char *at = line + strspn(line, " \t\r");
		size_t rest;

		len = strcspn(line, "\n");
		rest = len - (size_t)(at - line);
		while (rest > 0 && strchr(" \t\r", at[rest - 1]) != NULL)
			rest--;
		if (rest == 0 || *at == '#' || *at == ';')
			continue;
		if (*at == '[' ?
			!take_section(at, rest, &section, &section_len) :
			!take_key(at, rest, section, section_len))
			return false;
	}
	return true;
}

struct git_nested {
	char **gitdirs; /* absolute paths; NULL = none */
	size_t at; /* the one that is asked about */
	size_t question; /* and what is asked */
	char *work_tree; /* of that one; NULL = not known, or none */
	bool no_index; /* git cannot read that of the worktree */
};

static void
git_nested_add_submodules(struct git_nested *nested, const char *gitdir);

#define CONFIG_MAX 65536

static void
git_nested_release(struct git_nested *nested)
{
	strv_clear(&nested->gitdirs);
	free(take_ptr(&nested->work_tree));
	nested->at = nested->question = 0;
}

static void
add_folder(
    struct git_nested *nested, const char *dir, const char *path, size_t len)
{
	cleanup_free char *folder = xstrndup(path, len);

	strv_take(&nested->gitdirs, xasprintf("%s/%s/.git", dir, folder));
}

/* Without an index all files are untracked, which is fine here. */
static void
choose_index(const struct git_nested *nested, struct git_op *op)
{
	if (nested->no_index)
		git_op_env(op, "GIT_INDEX_FILE=%s/llmc-none.index", op->gitdir);
}

/* Three steps: list the untracked repositories of op->dir, the ignored ones,
 * and the clones of submodules below gitdir. */
static enum git_op_next
git_nested_ask_untracked(struct git_nested *nested, struct git_op *op)
{
	choose_index(nested, op);
	return git_op_args(
	    op, "ls-files", "--others", "--exclude-standard", "-z", NULL);
}

/* A folder in this list is a repository. */
static enum git_op_next
git_nested_untracked(struct git_nested *nested, struct git_op *op,
    const struct git_answer *answer)
{
	struct git_records records;
	const char *path;

	if (answer->status != 0 && nested->no_index)
		return git_op_complain(op, answer);
	if (answer->status != 0) {
		nested->no_index = true;
		return GIT_OP_AGAIN;
	}
	git_records_init(&records, answer->out, answer->out_len);
	while ((path = git_records_next(&records)) != NULL) {
		size_t len = strlen(path);

		if (len > 0 && path[len - 1] == '/')
			add_folder(nested, op->dir, path, len - 1);
	}
	return GIT_OP_NEXT;
}

/* Only `clean` looks for repositories in folders that are ignored; it removes
 * nothing here. */
static enum git_op_next
git_nested_ask_ignored(struct git_nested *nested, struct git_op *op)
{
	choose_index(nested, op);
	return git_op_args(op, "-c", "core.quotePath=false", "clean", "-d",
	    "-X", "--dry-run", NULL);
}

static enum git_op_next
git_nested_ignored(struct git_nested *nested, struct git_op *op,
    const struct git_answer *answer)
{
	static const char skip[] = "Would skip repository ";
	const char *line, *path;
	size_t len;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	for (line = answer->out; *line != '\0'; line += len) {
		len = strcspn(line, "\n");
		path = line + strlen(skip);
		/* A name in quotes is not decoded: it will not be found, and
		 * so it is kept. */
		if (len > strlen(skip) &&
		    strncmp(line, skip, strlen(skip)) == 0)
			add_folder(nested, op->dir, path, len - strlen(skip));
		if (line[len] == '\n')
			len++;
	}
	return GIT_OP_NEXT;
}

/* Their names may have slashes, and they have submodules of their own. */
static void
add_modules(struct git_nested *nested, const char *folder)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;

	while (stream != NULL && (entry = readdir(stream)) != NULL) {
		cleanup_free char *path = file_join(folder, entry->d_name);
		cleanup_free char *head = file_join(path, "HEAD");

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0 || !file_is_dir(path))
			continue;
		if (file_exists(head)) {
			strv_add(&nested->gitdirs, path);
			git_nested_add_submodules(nested, path);
		} else {
			add_modules(nested, path);
		}
	}
	if (stream != NULL)
		closedir(stream);
}

static void
git_nested_add_submodules(struct git_nested *nested, const char *gitdir)
{
	cleanup_free char *modules = file_join(gitdir, "modules");

	add_modules(nested, modules);
}

/* --- what would be lost ----------------------------------------------- */

static const char *
current(const struct git_nested *nested)
{
	return nested->gitdirs != NULL ? nested->gitdirs[nested->at] : NULL;
}

static void
ask_in(struct git_op *op, const char *gitdir)
{
	cleanup_free char *option = xasprintf("--git-dir=%s", gitdir);

	git_op_args(op, option, NULL);
	git_op_env(op, "GIT_COMMON_DIR"); /* it has its own */
}

static enum git_op_next
refuse(const struct git_nested *nested, struct git_op *op, const char *why)
{
	cleanup_buf struct buf shown = BUF_INIT;
	const char *gitdir = current(nested);

	text_add_visible(
	    &shown, gitdir, text_cut(gitdir, strlen(gitdir), 200), false);
	return git_op_fail(op, -ENOTEMPTY,
	    "the repository %s %s, and would be removed with %s; commit and "
	    "push what it has, move it away or remove it",
	    shown.data, why, op->dir);
}

/* Each question composes a command, or returns false if there is nothing to
 * ask; its answer is why the repository must stay, or NULL. */

static bool
ask_remote(struct git_nested *nested, struct git_op *op)
{
	ask_in(op, current(nested));
	git_op_args(op, "for-each-ref", "--count=1", "--format=%(refname)",
	    "refs/remotes/", NULL);
	return true;
}

static const char *
judge_remote(struct git_nested *nested, const struct git_answer *answer)
{
	(void)nested;
	return answer->status != 0 ? "cannot be read" :
	    answer->out_len == 0   ? "has no copy elsewhere" :
				     NULL;
}

static bool
ask_commits(struct git_nested *nested, struct git_op *op)
{
	ask_in(op, current(nested));
	git_op_args(op, "rev-list", "--max-count=1", "--all", "--not",
	    "--remotes", "--", NULL);
	return true;
}

static const char *
judge_commits(struct git_nested *nested, const struct git_answer *answer)
{
	(void)nested;
	return answer->status != 0 ? "cannot be read" :
	    answer->out_len > 0    ? "has commits that no remote has" :
				     NULL;
}

/* The clone of a submodule is elsewhere, and says where its files are. */
static bool
ask_work_tree(struct git_nested *nested, struct git_op *op)
{
	const char *gitdir = current(nested);
	const char *slash = strrchr(gitdir, '/');
	cleanup_free char *config = file_join(gitdir, "config");

	free(take_ptr(&nested->work_tree));
	if (strcmp(slash, "/.git") == 0) {
		nested->work_tree = xstrndup(gitdir, (size_t)(slash - gitdir));
		return false;
	}
	git_op_args(
	    op, "config", "--file", config, "--get", "core.worktree", NULL);
	return true;
}

static const char *
judge_work_tree(struct git_nested *nested, const struct git_answer *answer)
{
	if (answer->status == 0)
		nested->work_tree = answer->out[0] == '/' ?
		    xstrdup(answer->out) :
		    file_join(current(nested), answer->out);
	return NULL;
}

static bool
ask_changes(struct git_nested *nested, struct git_op *op)
{
	cleanup_free char *option = NULL;

	if (nested->work_tree == NULL || !file_is_dir(nested->work_tree))
		return false;
	option = xasprintf("--work-tree=%s", nested->work_tree);
	ask_in(op, current(nested));
	git_op_args(op, option, "status", "--porcelain", "-z",
	    "--ignore-submodules=dirty", NULL);
	return true;
}

static const char *
judge_changes(struct git_nested *nested, const struct git_answer *answer)
{
	(void)nested;
	return answer->status != 0 ? "cannot be read" :
	    answer->out_len > 0    ? "has changes that are not committed" :
				     NULL;
}

static const struct {
	bool (*ask)(struct git_nested *nested, struct git_op *op);
	const char *(*judge)(
	    struct git_nested *nested, const struct git_answer *answer);
} questions[] = {
	{ ask_remote, judge_remote },
	{ ask_commits, judge_commits },
	{ ask_work_tree, judge_work_tree },
	{ ask_changes, judge_changes },
};

static void
go_on(struct git_nested *nested)
{
	if (++nested->question < nitems(questions))
		return;
	nested->question = 0;
	nested->at++;
}

/* The worker wrote its configuration, which git would obey: no git runs in a
 * repository that could start a program, or that is somewhere else. */
static bool
is_plain(const char *gitdir)
{
	cleanup_free char *common = file_join(gitdir, "commondir");
	cleanup_free char *config = file_join(gitdir, "config");
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;

	return lstat(gitdir, &st) == 0 && S_ISDIR(st.st_mode) &&
	    lstat(common, &st) == -1 && lstat(config, &st) == 0 &&
	    S_ISREG(st.st_mode) &&
	    file_read(config, CONFIG_MAX, &text, NULL) == 0 &&
	    strlen(text.data) == text.len && git_config_is_plain(text.data);
}

/* A step: has each a remote, no commit that no remote has, and no change that
 * is not committed? The operation fails with -ENOTEMPTY if something would be
 * lost. */
static enum git_op_next
git_nested_ask(struct git_nested *nested, struct git_op *op)
{
	if (current(nested) != NULL && nested->question == 0) {
		struct stat st;

		if (lstat(current(nested), &st) == -1)
			return refuse(nested, op, "cannot be read");
		if (!is_plain(current(nested)))
			return refuse(nested, op,
			    "has settings of its own, so no git runs in it");
	}
	for (; current(nested) != NULL; go_on(nested))
		if (questions[nested->question].ask(nested, op))
			return GIT_OP_ASK;
	return GIT_OP_NEXT;
}

static enum git_op_next
git_nested_answer(struct git_nested *nested, struct git_op *op,
    const struct git_answer *answer)
{
	const char *why = questions[nested->question].judge(nested, answer);

	if (why != NULL)
		return refuse(nested, op, why);
	go_on(nested);
	return GIT_OP_AGAIN;
}

struct remove_op {
	struct git_save save; /* first */
	bool registered;
	bool clone; /* a repository of its own */
	bool gone; /* there was no worktree to save from */
	bool removed; /* the folder is; what is left is the branch */
	char branch_id[GIT_ID_SIZE];
	struct git_nested nested;
	git_salvage_fn *fn;
	void *arg;
};

enum remove_step {
	REMOVE_TREES,
	REMOVE_REPAIR,
	REMOVE_UNTRACKED,
	REMOVE_IGNORED,
	REMOVE_NESTED,
	REMOVE_ONTO,
	REMOVE_SAVE,
	REMOVE_KEEP,
	REMOVE_FOLLOW,
	REMOVE_FOLDER,
	REMOVE_BRANCH,
	REMOVE_BRANCH_ONTO,
	REMOVE_BRANCH_SAVE,
	REMOVE_DELETE,
	REMOVE_COUNT
};

static enum git_op_next
remove_trees(struct git_op *op, const struct git_answer *answer)
{
	struct remove_op *remove = op->self;
	struct git_trees trees = { 0 };
	bool users;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_trees_parse(&trees, answer->out, answer->out_len);
	users = git_trees_is_users(&trees, git_root(op->git), op->dir);
	remove->clone = !users && git_clone_op_is(op);
	remove->registered =
	    remove->clone || git_trees_at(&trees, op->dir) != NULL;
	git_trees_release(&trees);
	if (users)
		return git_op_fail(op, -EINVAL,
		    "%s is the repository's main working tree", op->dir);
	if (!git_op_place_is_free(op->dir)) {
		if (!remove->registered)
			return git_op_fail(op, -EEXIST,
			    "%s is not a worktree of %s; it was left alone",
			    op->dir, git_root(op->git));
	} else if (file_is_dir(op->dir)) {
		rmdir(op->dir);
	}
	return GIT_OP_NEXT;
}

/* A removal that was killed in the middle may have lost the .git that the
 * next one asks for. */
static enum git_op_next
remove_ask_repair(struct git_op *op)
{
	const struct remove_op *remove = op->self;

	if (!remove->registered || !file_is_dir(op->dir) ||
	    git_trees_has_git(op->dir))
		return GIT_OP_NEXT;
	op->run_dir = git_root(op->git);
	return git_op_args(op, "worktree", "repair", NULL);
}

/* It repairs all worktrees; errors about others do not matter here. */
static enum git_op_next
remove_repair(struct git_op *op, const struct git_answer *answer)
{
	(void)op;
	(void)answer;
	return GIT_OP_NEXT;
}

/* --- repositories inside ---------------------------------------------- */

/* Where the folder is gone, there is nothing to look at. One that is refused
 * cannot be saved from, but git itself would delete it. */
static enum git_op_next
remove_ask_untracked(struct git_op *op)
{
	struct remove_op *remove = op->self;
	cleanup_free char *gitdir = NULL, *common = NULL;
	struct err refused = { 0 };
	int r = -ENOENT;

	if (remove->registered)
		r = git_stand_find(
		    op->git, op->dir, &gitdir, &common, &refused);
	if (r == -EUCLEAN && git_trees_has_git(op->dir)) {
		op->err = refused;
		return GIT_OP_FAIL;
	}
	if (r < 0) {
		remove->gone = true;
		op->at = REMOVE_FOLLOW;
		return GIT_OP_AGAIN;
	}
	if (!remove->nested.no_index)
		git_nested_add_submodules(&remove->nested, gitdir);
	xstrset(&op->gitdir, gitdir);
	xstrset(&op->common, common);
	return git_nested_ask_untracked(&remove->nested, op);
}

static enum git_op_next
remove_untracked(struct git_op *op, const struct git_answer *answer)
{
	struct remove_op *remove = op->self;

	return git_nested_untracked(&remove->nested, op, answer);
}

static enum git_op_next
remove_ask_ignored(struct git_op *op)
{
	struct remove_op *remove = op->self;

	return git_nested_ask_ignored(&remove->nested, op);
}

static enum git_op_next
remove_ignored(struct git_op *op, const struct git_answer *answer)
{
	struct remove_op *remove = op->self;

	return git_nested_ignored(&remove->nested, op, answer);
}

static enum git_op_next
remove_ask_nested(struct git_op *op)
{
	struct remove_op *remove = op->self;

	return git_nested_ask(&remove->nested, op);
}

static enum git_op_next
remove_nested(struct git_op *op, const struct git_answer *answer)
{
	struct remove_op *remove = op->self;

	return git_nested_answer(&remove->nested, op, answer);
}

/* --- the removal ------------------------------------------------------- */

static enum git_op_next
remove_ask_follow(struct git_op *op)
{
	const struct remove_op *remove = op->self;

	return remove->gone ? git_follow_ask_gone(op) : GIT_OP_NEXT;
}

/* Branches and stashes of its own. What is unmerged is saved already. */
static enum git_op_next
remove_ask_keep(struct git_op *op)
{
	const struct remove_op *remove = op->self;
	cleanup_free char *ref = xasprintf("%s-refs", remove->save.ref);

	return remove->clone && !remove->gone ?
	    git_clone_op_ask_keep(op, ref, true) :
	    GIT_OP_NEXT;
}

static enum git_op_next
remove_ask_folder(struct git_op *op)
{
	const struct remove_op *remove = op->self;

	if (remove->clone)
		return git_clone_op_ask_delete(op, op->dir);
	return remove->registered ? git_op_ask_unregister(op, op->dir) :
				    GIT_OP_NEXT;
}

static enum git_op_next
remove_ask_branch(struct git_op *op)
{
	struct remove_op *remove = op->self;
	cleanup_free char *name = git_op_branch_name(remove->save.branch);

	remove->removed = true;
	op->run_dir = git_root(op->git);
	return git_op_ask_ids(op, (const char *[]){ name, NULL });
}

static enum git_op_next
remove_branch(struct git_op *op, const struct git_answer *answer)
{
	struct remove_op *remove = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, &remove->branch_id, 1);
	return GIT_OP_NEXT;
}

/* What is left of it are the commits of the branch. */
static enum git_op_next
remove_ask_branch_onto(struct git_op *op)
{
	const struct remove_op *remove = op->self;
	enum git_op_next next;

	if (!remove->gone || remove->branch_id[0] == '\0')
		return GIT_OP_NEXT;
	xstrset(&op->dir, git_root(op->git));
	next = git_op_find_gitdir(op);
	return next == GIT_OP_NEXT ? git_op_ask_onto(op) : next;
}

static enum git_op_next
remove_ask_branch_save(struct git_op *op)
{
	const struct remove_op *remove = op->self;

	if (!remove->gone || remove->branch_id[0] == '\0')
		return GIT_OP_NEXT;
	memcpy(op->head_id, remove->branch_id, GIT_ID_SIZE);
	return git_save_ask_commits(op);
}

static enum git_op_next
remove_ask_delete(struct git_op *op)
{
	const struct remove_op *remove = op->self;

	if (remove->branch_id[0] == '\0')
		return GIT_OP_DONE;
	op->run_dir = git_root(op->git);
	return git_op_args(
	    op, "branch", "--quiet", "-D", "--", remove->save.branch, NULL);
}

static const struct git_op_step remove_steps[REMOVE_COUNT] = {
	[REMOVE_TREES] = { .ask = git_op_ask_trees, .answer = remove_trees },
	[REMOVE_REPAIR] = { .ask = remove_ask_repair, .answer = remove_repair },
	[REMOVE_UNTRACKED] = { .ask = remove_ask_untracked,
	    .answer = remove_untracked },
	[REMOVE_IGNORED] = { .ask = remove_ask_ignored,
	    .answer = remove_ignored },
	[REMOVE_NESTED] = { .ask = remove_ask_nested, .answer = remove_nested },
	[REMOVE_ONTO] = GIT_OP_ONTO,
	[REMOVE_SAVE] = GIT_SAVE,
	[REMOVE_KEEP] = { .ask = remove_ask_keep },
	[REMOVE_FOLLOW] = { .ask = remove_ask_follow },
	[REMOVE_FOLDER] = { .ask = remove_ask_folder },
	[REMOVE_BRANCH] = { .ask = remove_ask_branch, .answer = remove_branch },
	[REMOVE_BRANCH_ONTO] = { .ask = remove_ask_branch_onto,
	    .answer = git_op_onto },
	[REMOVE_BRANCH_SAVE] = { .ask = remove_ask_branch_save },
	[REMOVE_DELETE] = { .ask = remove_ask_delete },
};

static void
remove_finish(struct git_op *op, const struct err *err)
{
	const struct remove_op *remove = op->self;
	struct git_salvaged saved = git_save_result(&remove->save);

	saved.clean = "";
	/* A branch that cannot be saved or deleted stays, with its commits. */
	if (remove->removed && (err == NULL || err->code != -ECANCELED))
		err = NULL;
	remove->fn(err == NULL ? &saved : NULL, err, remove->arg);
}

static void
remove_release(struct git_op *op)
{
	struct remove_op *remove = op->self;

	git_save_release(&remove->save);
	git_nested_release(&remove->nested);
}

void
git_remove(struct git *git, const char *dir, const struct git_salvage *what,
    git_salvage_fn *fn, void *arg)
{
	struct remove_op *remove = xcalloc(1, sizeof *remove);
	struct git_op *op = &remove->save.op;

	git_save_init(&remove->save, what, true);
	remove->fn = fn;
	remove->arg = arg;
	op->self = remove;
	op->finish = remove_finish;
	op->release = remove_release;
	op->onto = xstrdup(what->onto);
	git_op_start(op, git, dir, remove_steps, nitems(remove_steps), true);
}
