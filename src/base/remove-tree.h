/* SPDX-License-Identifier: ISC */

/*
 * Remove a folder with all that is in it, while another process may write
 * there: every folder is held open, and no symbolic link is followed below the
 * path that the caller gives, even if a folder becomes a link meanwhile. Other
 * file systems that are mounted there, and what is deeper than
 * REMOVE_TREE_DEPTH folders, stay. It does not return before that is done: only
 * for few and small files.
 */
#ifndef REMOVE_TREE_H
#define REMOVE_TREE_H

#define REMOVE_TREE_DEPTH 128 /* a descriptor for each */

/* Remove a folder, a file, or a link itself. What cannot be removed does not
 * keep the rest: negative errno of the first. 0 if there is nothing. */
int remove_tree(const char *path);

/* The same for a path below a folder, whose own folders may be links, too:
 * -ENOTDIR or -ELOOP if one is no folder, and nothing is removed. */
int remove_tree_below(const char *folder, const char *path);

#endif
