/* SPDX-License-Identifier: ISC */

/*
 * Where a path that an agent names leads, with every symbolic link followed.
 * The file need not exist, nor the folders above it. Only looks, with a few
 * lstat(2).
 */
#ifndef TREE_PATH_H
#define TREE_PATH_H

#include <stdbool.h>

/* The path relative to tree, which is absolute and has no links; "" is the tree
 * itself. A relative path is taken from cwd (NULL = tree). NULL: it leads
 * elsewhere. Owned by the caller. plain: "a/.." is removed before links are
 * followed, as programs do that shorten a path before they use it; otherwise
 * as the kernel does it. They differ behind a link to a folder. */
char *
tree_path(const char *tree, const char *cwd, const char *path, bool plain);

#endif
