/* SPDX-License-Identifier: ISC */

/*
 * Places in a repository: files, and folders with all that is in them, relative
 * to its top ("src/api", "docs/"; "." is everything). A place with * ? or [ is
 * a pattern; its * matches slashes too. Compared by whole names: "src" covers
 * "src/a.c" and not "src2".
 */
#ifndef SCOPE_PATH_H
#define SCOPE_PATH_H

/* The place in its shortest form, without "./", "//", "a/.." and a slash at the
 * end; "" is the top. Owned by the caller. NULL: it is absolute, or leads out
 * of the repository. */
char *scope_path_normal(const char *place);

/* Is the file, in its shortest form, at or below this place? A place that is
 * not in the repository covers nothing. */
bool scope_path_covers(const char *place, const char *file);

/* Is it in one of these places (NULL terminated, may be NULL)? */
bool scope_path_in(char *const *places, const char *file);

/* Is all that this place, in its shortest form (NULL = it has none), can mean
 * in one of these? A pattern is if it is one of them, or below one that is no
 * pattern. */
bool scope_path_within(char *const *places, const char *place);

/* Does one of two places, in their shortest form, cover the other? Patterns
 * are taken as names. */
bool scope_path_meets(const char *a, const char *b);

#endif
