/* SPDX-License-Identifier: ISC */

/*
 * What a box must show again of the places that it hides: programs, git's
 * settings, certificates. Looks at files only.
 */
#ifndef BOX_PATHS_H
#define BOX_PATHS_H

#include <stdbool.h>

struct box_paths {
	char **hidden; /* folders, without links */
	char **shown; /* what was found in them; for box_plan() */
};

void box_paths_release(struct box_paths *paths);

/* Hide a folder if it exists. The path without links that it has, for the plan,
 * is the last of `hidden`. */
bool box_paths_hide(struct box_paths *paths, const char *folder);

/* Show a file or folder, if it exists and is hidden: where it is, and where a
 * link at that path leads to. Never a folder with a hidden one inside. */
void box_paths_show(struct box_paths *paths, const char *path);

/* A program by its name or path. For a script of node also what belongs to it.
 */
void box_paths_show_program(struct box_paths *paths, const char *name);

/* The folders of PATH, but not those below `except`. */
void box_paths_show_search(struct box_paths *paths, const char *except);

/* The user's git settings with what they include, and where the repository
 * borrows objects from. */
void box_paths_show_git(
    struct box_paths *paths, const char *home, const char *git_dir);

/* What the machine keeps in hidden places: the names of its name servers, and
 * certificates that the environment names. */
void box_paths_show_machine(struct box_paths *paths);

#endif
