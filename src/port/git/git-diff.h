/* SPDX-License-Identifier: ISC */

/* The change of a worker as people review it: as it would land. git.h has the
 * common rules. */
#ifndef GIT_DIFF_H
#define GIT_DIFF_H

#include "git.h"

struct err;
struct json_object;

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
 * (diff.h), conflicts (paths), and weakens (test-guard.h), which is missing if
 * it weakens no test. The callback does not keep it. Larger than git.h allows:
 * -EFBIG. */
typedef void
git_diff_fn(struct json_object *answer, const struct err *err, void *arg);
void git_diff_read(struct git *git, const char *dir,
    const struct git_diff *what, git_diff_fn *fn, void *arg);

#endif
