/* SPDX-License-Identifier: ISC */

/*
 * The folder that Claude Code has in a worker's box instead of ~/.claude
 * (CLAUDE_CONFIG_DIR): made from the user's own, so that no dialog opens. It
 * gets the user's memory file and settings, and the answers to the first
 * dialogs; it does not get other projects, the history, or MCP servers and
 * plugins, which may have secrets with them.
 */
#ifndef CLAUDE_BOX_H
#define CLAUDE_BOX_H

struct err;

/* Write .claude.json, settings.json and CLAUDE.md into an existing folder. The
 * worker may have put anything there while it ran: links are never followed.
 * Call it while nothing of the worker runs. api_key may be NULL. */
int claude_box_write(
    const char *folder, const char *tree, const char *api_key, struct err *err);

/* The user's own folder, ~/.claude or CLAUDE_CONFIG_DIR; the caller frees; NULL
 * if neither is known. */
char *claude_box_source(void);

/* Folders of it that a box shows as they are, NULL terminated. */
extern const char *const claude_box_shared[];

/* An empty file to mount the user's login on, in place of whatever is there.
 */
int
claude_box_login_place(const char *folder, char **ret_path, struct err *err);

/* The same for one of the shared folders: one that exists is kept. */
int claude_box_folder_place(
    const char *folder, const char *name, char **ret_path, struct err *err);

#endif
