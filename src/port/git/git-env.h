/* SPDX-License-Identifier: ISC */

/* The environment of every git that is started. Private to the git-*.c files.
 */
#ifndef GIT_ENV_H
#define GIT_ENV_H

/* NULL terminated edits, as in child.h. */
extern const char *const git_env[];

#endif
