/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "file.h"
#include "git-config-plain.h"
#include "git-nested.h"
#include "git-records.h"
#include "mem.h"
#include "strv.h"
#include "text.h"

#define CONFIG_MAX 65536

void
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

enum git_op_next
git_nested_ask_untracked(struct git_nested *nested, struct git_op *op)
{
	choose_index(nested, op);
	return git_op_args(
	    op, "ls-files", "--others", "--exclude-standard", "-z", NULL);
}

/* A folder in this list is a repository. */
enum git_op_next
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
enum git_op_next
git_nested_ask_ignored(struct git_nested *nested, struct git_op *op)
{
	choose_index(nested, op);
	return git_op_args(op, "-c", "core.quotePath=false", "clean", "-d",
	    "-X", "--dry-run", NULL);
}

enum git_op_next
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

void
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

enum git_op_next
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

enum git_op_next
git_nested_answer(struct git_nested *nested, struct git_op *op,
    const struct git_answer *answer)
{
	const char *why = questions[nested->question].judge(nested, answer);

	if (why != NULL)
		return refuse(nested, op, why);
	go_on(nested);
	return GIT_OP_AGAIN;
}
