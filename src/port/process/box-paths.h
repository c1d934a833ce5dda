/* SPDX-License-Identifier: ISC */

/*
 * Which of the machine's places a box has: its programs and their settings, and
 * wherever else programs, git's settings and certificates are. Looks at files
 * only.
 */
#ifndef BOX_PATHS_H
#define BOX_PATHS_H

struct box_bind;

struct box_paths {
	char **machine; /* folders of the machine, as they are */
	char **hidden; /* folders, without links */
	char **shown; /* elsewhere, or in hidden ones */
	struct box_bind *links; /* on the way to all those; the last one is
				 * empty, NULL = none */
	size_t link_count;
	char **owned; /* strings of the links */
};

void box_paths_release(struct box_paths *paths);

/* Begin with the folders of every machine that hold programs. */
void box_paths_begin(struct box_paths *paths);

/* Hide a folder if it exists. The path without links that it has, for the plan,
 * is the last of `hidden`. */
bool box_paths_hide(struct box_paths *paths, const char *folder);

/* Show a file or folder, if it exists and is not seen yet: where it is, and
 * where a link at that path leads to. Never a folder with a hidden one inside.
 */
void box_paths_show(struct box_paths *paths, const char *path);

/* Have the links that are on the way to a path, itself too. */
void box_paths_follow(struct box_paths *paths, const char *path);

/* A program by its name or path, with its interpreter. For a script of node
 * also what belongs to it. */
void box_paths_show_program(struct box_paths *paths, const char *name);

/* The folders of PATH with the libraries beside them, but not those below
 * `except`. */
void box_paths_show_search(
    struct box_paths *paths, const char *home, const char *except);

/* The user's git settings with what they include, and where the repository
 * borrows objects from. */
void box_paths_show_git(
    struct box_paths *paths, const char *home, const char *git_dir);

/* What the machine keeps in other places: the names of its name servers, and
 * certificates that the environment names. */
void box_paths_show_machine(struct box_paths *paths);

/* Leave out what is seen in a folder that is shown, or in those that the
 * settings give: a link there would be in the way. */
void box_paths_finish(
    struct box_paths *paths, char *const *read, char *const *write);

/* The sockets with a path and a listener. For strv_free(). */
char **box_paths_sockets(void);

#endif
