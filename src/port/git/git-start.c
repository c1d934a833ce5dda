/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-env.h"
#include "git-stand.h"
#include "git-start.h"
#include "git-verify.h"
#include "git.h"

static const char *const git_config[] = { "commit.gpgSign=false",
	"log.showSignature=false", "merge.verifySignatures=false",
	"rebase.autoStash=false", "merge.autoStash=false",
	"rebase.autoSquash=false", "rebase.updateRefs=false",
	"rebase.rebaseMerges=false", "rebase.forkPoint=false",
	"submodule.recurse=false", "core.fsmonitor=false",
	"core.safecrlf=false", "diff.autoRefreshIndex=true", "gc.auto=0",
	"maintenance.auto=false", "worktree.useRelativePaths=false",
	"i18n.commitEncoding=UTF-8", "i18n.logOutputEncoding=UTF-8" };

static const char git_no_hooks[] = "core.hooksPath=/dev/null";

/* Also keeps git from searching further up; not for a path with a colon, which
 * would separate two. */
static void
add_ceiling(char ***env, const char *dir)
{
	const char *slash = strrchr(dir, '/');

	if (slash == NULL || slash == dir || strchr(dir, ':') != NULL)
		return;
	strv_take(env,
	    xasprintf("GIT_CEILING_DIRECTORIES=%.*s", (int)(slash - dir), dir));
}

/* In a box the resolutions that git remembers are read-only. */
static const char *const boxed_config[] = { "-c", "rerere.enabled=false",
	NULL };

static void
add_environment(const struct git *git, const char *dir, const char *gitdir,
    const char *common, const char *const *more, char ***env)
{
	strv_add_all(env, git_env);
	strv_take(env, xasprintf("GIT_DIR=%s", gitdir));
	if (strcmp(dir, git_root(git)) != 0)
		strv_take(env,
		    xasprintf("GIT_COMMON_DIR=%s",
			git_stand_is_clone(git, dir) ? gitdir : common));
	strv_take(env, xasprintf("GIT_WORK_TREE=%s", dir));
	add_ceiling(env, dir);
	if (git_runs_hooks(git) && !git_stand_is_clone(git, dir))
		git_dirs_add_hooks(gitdir, dir, git_root(git), env);
	strv_add_all(env, more);
}

static int
no_box(const char *dir, struct err *err)
{
	return err_set(err, -EUCLEAN,
	    "%s is a worker's own clone, and git runs there in its sandbox "
	    "only",
	    dir);
}

/* The directory is looked at before every try: it is a worker's, who may have
 * put something else there. */
int
git_environment(const struct git *git, const char *dir, const char *const *more,
    char ***ret_env, struct err *err)
{
	cleanup_free char *gitdir = NULL, *common = NULL;
	int r = git_verify_common(git_root(git), dir, &gitdir, &common, err);

	if (r == 0 && git_stand_is_clone(git, dir))
		r = no_box(dir, err);
	if (r == 0)
		add_environment(git, dir, gitdir, common, more, ret_env);
	return r;
}

void
git_arguments(const struct git *git, const char *dir, const char *const *args,
    char ***ret_argv)
{
	strv_add(ret_argv, "git");
	strv_add(ret_argv, "-C");
	strv_add(ret_argv, dir);
	for (size_t i = 0; i < nitems(git_config); i++) {
		strv_add(ret_argv, "-c");
		strv_add(ret_argv, git_config[i]);
	}
	if (!git_runs_hooks(git)) {
		strv_add(ret_argv, "-c");
		strv_add(ret_argv, git_no_hooks);
	}
	strv_add_all(ret_argv, args);
}

/* Is there a later edit of the same variable? */
static bool
is_overridden(const char *const *edits)
{
	size_t len = strcspn(edits[0], "=");

	for (size_t i = 1; edits[i] != NULL; i++)
		if (strcspn(edits[i], "=") == len &&
		    strncmp(edits[0], edits[i], len) == 0)
			return true;
	return false;
}

/* Those that list all worktrees read what workers have in the place of their
 * HEADs. */
static void
sweep(const struct git *git, const char *verb)
{
	static const char *const verbs[] = { "branch", "checkout", "worktree" };

	for (size_t i = 0; i < nitems(verbs); i++)
		if (strcmp(verb, verbs[i]) == 0)
			git_verify_sweep(git_root(git));
}

int
git_start_prepare(const struct git *git, const char *dir,
    const char *const *args, const char *const *more, char ***ret_argv,
    char ***ret_env, struct err *err)
{
	cleanup_free char *gitdir = NULL, *common = NULL;
	cleanup_strv char **argv = NULL, **env = NULL, **own = NULL;
	int r;

	sweep(git, git_verb(args));
	r = git_stand_find(git, dir, &gitdir, &common, err);
	if (r == 0)
		r = git_stand_check(git, dir, gitdir, common, args, err);
	if (r == 0)
		r = git_box(git, dir, &argv, err);
	if (r == 0 && argv == NULL && git_stand_is_clone(git, dir))
		r = no_box(dir, err);
	if (r < 0)
		return r;
	add_environment(git, dir, gitdir, common, more, &env);
	if (argv != NULL) {
		const char *const *edits = strv_const(env);

		/* The box may have an environment of its own, so the edits
		 * are made in it: first those that remove, as env wants it. */
		strv_add(&argv, "env");
		for (size_t i = 0; edits[i] != NULL; i++)
			if (strchr(edits[i], '=') == NULL &&
			    !is_overridden(edits + i)) {
				strv_add(&argv, "-u");
				strv_add(&argv, edits[i]);
			}
		for (size_t i = 0; edits[i] != NULL; i++)
			if (strchr(edits[i], '=') != NULL &&
			    !is_overridden(edits + i))
				strv_add(&argv, edits[i]);
		strv_add_all(&own, boxed_config);
		if (git_stand_is_clone(git, dir)) {
			strv_add(&own, "-c");
			strv_add(&own, git_no_hooks);
		}
	}
	strv_add_all(&own, args);
	git_arguments(git, dir, strv_const(own), &argv);
	*ret_argv = take_ptr(&argv);
	*ret_env = take_ptr(&env);
	return 0;
}
