/* SPDX-License-Identifier: ISC */

/*
 * A candidate of the landing queue: one commit on top of another that has what
 * a worker's branch changed, made without a checkout. The rules of git.h
 * hold.
 */
#ifndef GIT_CANDIDATE_H
#define GIT_CANDIDATE_H

#include "git.h"

struct err;
struct json_object;

struct git_rules {
	char **forbidden; /* without a slash at the end */
	char **pathspecs; /* of both, for git; NULL = there are no rules */
};

/* The lists are NULL terminated or NULL. */
void git_rules_init(struct git_rules *rules, const char *const *forbidden,
    const char *const *protected_paths);
void git_rules_release(struct git_rules *rules);

/* Sort the paths that git printed for the pathspecs, NUL terminated each: the
 * lists point into text. */
void git_rules_sort(const struct git_rules *rules, const char *text, size_t len,
    struct git_list *forbidden, struct git_list *protected_paths);

/* Ids are full ones; dates are raw, "1700000000 +0100". */
struct git_candidate {
	const char *parent; /* what to build on */
	int64_t parent_date; /* its committer date, 0 = unknown */
	const char *head; /* the work */
	const char *base; /* where the work started: git_freeze's base */
	/* If both trees are known and the parent is the base, no merge is
	 * needed. NULL = unknown. */
	const char *head_tree, *base_tree;
	bool revert; /* undo `head`, an ancestor of the parent, so that what
		      * it is becomes what `base` is (NULL: the commit before
		      * it); the trees are not used */
	/* As in git_freeze, which has looked at the work: here they are for
	 * files that others renamed. NULL = none. */
	const char *const *forbidden, *const *protected_paths;
	/* Keeps the commit that was built from git gc; NULL = nothing does. */
	const char *ref;
	/* What it was built on when its check began: the answer says what came
	 * since. NULL = nobody asks. */
	const char *since;
	const char *message;
	const char *author_name, *author_email; /* NULL = as git is set up */
	const char *author_date, *committer_date;
};

enum git_candidate_result {
	GIT_CANDIDATE_BUILT,
	GIT_CANDIDATE_SAME, /* the parent has it all already */
	GIT_CANDIDATE_CONFLICT, /* paths */
	/* The merge changes paths that the work did not change, renames aside:
	 * landing it might revert what others did. Or it changes forbidden
	 * ones. */
	GIT_CANDIDATE_REFUSED,
	/* The parent does not have the base: commits that the work is built on
	 * were dropped, and a merge would bring them back. */
	GIT_CANDIDATE_LOST
};

struct git_candidate_answer {
	enum git_candidate_result result;
	char commit[GIT_ID_SIZE]; /* the parent if SAME; "" if not built */
	char tree[GIT_ID_SIZE]; /* if BUILT */
	int64_t date; /* committer date of `commit`; 0 = unknown */
	struct git_list paths;
	/* If BUILT: changed under a name that others gave the file. */
	struct git_list protected_paths;
	/* If BUILT by a merge, and asked for: does the parent have `since`; how
	 * many files has the work changed that have changed since; and, if the
	 * parent has it, the trees of the commits since that name a task, "" =
	 * there are more. */
	bool forward;
	size_t shared;
	struct git_list trees;
};

/* answer is NULL with an error, and valid until the callback returns. */
typedef void git_candidate_fn(const struct git_candidate_answer *answer,
    const struct err *err, void *arg);

/* Does it take a merge to build it? Then dir needs the attributes of the
 * branch. */
bool git_candidate_merges(const struct git_candidate *what);

/* Build it. dir is a worktree of llmc's own, never the
 * user's: git takes attributes (merge=, text=) from the files there, and merges
 * submodules only if they are populated there. Nothing there changes.
 *
 * The same input gives the same commit, whenever it is asked for: the dates are
 * arguments, and the committer date is the parent's if that is later (a history
 * whose dates go back makes git slow). The committer is the user, the commit is
 * not signed and no hook runs. No ref names the commit.
 *
 * This is a merge, not a rebase: what the work changed and changed back is not
 * undone if others made the same change. A folder that was renamed on one side
 * while the other added files to it is a conflict (git's default).
 *
 * -ENOTSUP with a git older than 2.38, -ENOENT if a commit is missing or one
 * to be reverted is not an ancestor of the parent, -EINVAL for a message
 * without text or a commit without a parent to go back to. Needs one git
 * process if nothing landed since the base, else four or five; with `since`
 * three more. */
void git_candidate_build(struct git *git, const char *dir,
    const struct git_candidate *what, git_candidate_fn *fn, void *arg);

/*
 * A worktree of llmc's own that candidates are built in. Of the files of a
 * commit it has only those named .gitattributes: that is where git looks for
 * the attributes of a merge (merge=, text=), not in the commits that it
 * merges.
 */

struct git_merge_place {
	const char *dir;
	/* The commit whose attributes lie there, "" = unknown. Private. */
	char attributes[GIT_ID_SIZE];
};

/* Make the worktree if it is not there. One that no longer belongs to this
 * repository, because that was moved or copied, is removed and made anew:
 * nothing in it is worth keeping, and nothing else may work there.
 *
 * attributes: give it those of the commit (full id), too. That needs no git
 * process if it has those of the same commit already, one if they are not
 * different in this commit.
 *
 * place must live until fn is called or git_free() is. */
void git_merge_place_prepare(struct git *git, struct git_merge_place *place,
    const char *commit, bool attributes, git_work_fn *fn, void *arg);

/*
 * The change of a worker as people review it: as it would land.
 */

struct git_diff {
	const char *onto; /* the branch, or a commit */
	/* Merged with the branch as it is now. Where that conflicts, or tree is
	 * set: compared with where it left the branch. */
	const char *commit;
	/* What is there instead of the commit's own, committed or not. */
	const char *tree;
	const char *file; /* only this one, and all of it; NULL = all */
	int context; /* lines around a change */
};

/* The answer: base (a commit), message (of the commit), files and more_files
 * (diff.h), conflicts (paths), and weakens (acceptance.h), which is missing if
 * it weakens no test. The callback does not keep it. Larger than git.h allows:
 * -EFBIG. */
typedef void
git_diff_fn(struct json_object *answer, const struct err *err, void *arg);
void git_diff_read(struct git *git, const char *dir,
    const struct git_diff *what, git_diff_fn *fn, void *arg);

#endif
