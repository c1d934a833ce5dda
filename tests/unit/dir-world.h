/* SPDX-License-Identifier: ISC */

/* Folders of a test, for the tests of files, followers and watches. */
#ifndef DIR_WORLD_H
#define DIR_WORLD_H

#include "unit.h"

/* A new one; valid until the program ends, as the next. */
static inline const char *
fresh_dir(void)
{
	static int count;
	cleanup_free char *name = xasprintf("dir%d", count++);
	const char *dir = unit_path(name);

	ck_assert_int_eq(mkdir(dir, 0700), 0);
	return dir;
}

/* "dir/name" */
static inline const char *
in(const char *dir, const char *name)
{
	cleanup_free char *tail =
	    xasprintf("%s/%s", strrchr(dir, '/') + 1, name);

	return unit_path(tail);
}

#endif
