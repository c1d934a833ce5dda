/* SPDX-License-Identifier: ISC */

/*
 * The files of an errand, by their stem: "dir/name", to which a suffix is
 * appended. Private to errand.c and errand-run.c.
 */
#ifndef ERRAND_FILES_H
#define ERRAND_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define ERRAND_JSON     ".json"
#define ERRAND_JSON_MAX ((size_t)4 * 1024 * 1024)

/* Letters, digits, '-' and '_'? */
bool errand_files_is_name(const char *name);

/* The stem, absolute, because the command may run elsewhere; the caller frees
 * it. -EINVAL for an invalid name, -ENOENT and others for dir. */
int errand_files_stem(
    const char *dir, const char *name, char **ret_stem, struct err *err);

/* Does somebody hold the lock? True also if it cannot be determined. */
bool errand_files_held(const char *stem);

/* Remove all but the .json. */
int errand_files_remove(const char *stem, struct err *err);

char *errand_files_path(const char *stem, const char *suffix); /* to be freed */
bool errand_files_exists(const char *stem, const char *suffix);

/* The number from 0 to max in a small file; -ENOENT, -EINVAL. */
int errand_files_number(
    const char *stem, const char *suffix, int64_t max, int64_t *ret);

/* It is no error if it does not exist. */
int
errand_files_remove_one(const char *stem, const char *suffix, struct err *err);

#endif
