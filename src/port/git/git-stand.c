/* SPDX-License-Identifier: ISC */

/* Where the working tree of a worker stands, and whether git may run there. */
#include "base.h"

#include "git-private.h"

bool
git_stand_is_clone(const struct git *git, const char *dir)
{
	struct git_home home;

	return git_home(git, dir, &home) && home.clone;
}

int
git_stand_find(const struct git *git, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err)
{
	return git_stand_is_clone(git, dir) ?
	    git_verify_clone(git_root(git), dir, ret_gitdir, ret_common, err) :
	    git_verify_common(git_root(git), dir, ret_gitdir, ret_common, err);
}

int
git_stand_look(const struct git *git, const char *dir, struct err *err)
{
	cleanup_free char *gitdir = NULL, *common = NULL;

	return git_stand_find(git, dir, &gitdir, &common, err);
}

static bool
is_rebasing(const char *gitdir)
{
	cleanup_free char *merge = file_join(gitdir, "rebase-merge");
	cleanup_free char *apply = file_join(gitdir, "rebase-apply");

	return file_exists(merge) || file_exists(apply);
}

static bool
is_detached(const char *gitdir)
{
	char id[GIT_ID_SIZE];

	git_dirs_detached(gitdir, id, sizeof id);
	return id[0] != '\0';
}

bool
git_stand_is_on(const struct git *git, const char *dir, const char *gitdir,
    const char *branch)
{
	struct git_home home;

	if (!git_stand_is_clone(git, dir) && git_dirs_is_on(gitdir, branch))
		return true;
	return git_home(git, dir, &home) && home.detached &&
	    strcmp(home.branch, branch) == 0 && !is_rebasing(gitdir) &&
	    (home.clone || is_detached(gitdir));
}

void
git_stand_name(const struct git *git, const char *dir, const char *gitdir,
    char *branch, size_t size)
{
	struct git_home home;

	if (!git_home(git, dir, &home))
		return;
	if ((branch[0] == '\0' || home.clone) &&
	    git_stand_is_on(git, dir, gitdir, home.branch))
		strlcpy(branch, home.branch, size);
}

bool
git_stand_is_detached(const struct git *git, const char *dir)
{
	cleanup_free char *gitdir = NULL, *head = NULL;

	if (git_stand_is_clone(git, dir) ||
	    git_verify(git_root(git), dir, &gitdir, NULL) < 0)
		return true;
	head = git_dirs_head(gitdir);
	return head == NULL;
}

/* --- the guard --------------------------------------------------------- */

/* To quit leaves HEAD where it is. */
static bool
writes_branch(const char *const *args)
{
	static const char *const verbs[] = { "am", "cherry-pick", "commit",
		"merge", "rebase", "reset", "revert" };
	const char *verb = git_verb(args);

	for (size_t i = 0; i < nitems(verbs); i++)
		if (strcmp(verb, verbs[i]) == 0)
			return !strv_has(args, "--quit");
	return false;
}

static int
refuse(const struct git_home *home, const char *what, const char *is,
    struct err *err)
{
	return err_set(err, -EUCLEAN,
	    "%s is %s, which is not the branch of %s: nothing is written "
	    "there; type: llmc reset %s",
	    what, is, home->worker, home->worker);
}

int
git_stand_check(const struct git *git, const char *dir, const char *gitdir,
    const char *common, const char *const *args, struct err *err)
{
	bool writes = writes_branch(args);
	cleanup_free char *own = NULL, *head = NULL, *alias = NULL;
	struct git_home home;

	if ((!writes && strcmp(git_verb(args), "checkout") != 0) ||
	    !git_home(git, dir, &home) || home.clone)
		return 0;
	own = xasprintf("refs/heads/%s", home.branch);
	alias = git_dirs_alias(common, home.branch);
	if (alias != NULL)
		return refuse(&home, own, alias, err);
	head = writes ? git_dirs_head(gitdir) : NULL;
	if (head != NULL && strcmp(head, own) != 0) {
		cleanup_free char *what = xasprintf("HEAD of %s", dir);

		return refuse(&home, what, head, err);
	}
	return 0;
}
