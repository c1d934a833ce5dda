/* SPDX-License-Identifier: ISC */

/* llmc goal edit: a goal and its plan as text, in the person's editor. */
#ifndef GOAL_EDIT_H
#define GOAL_EDIT_H

struct cli;

/* Change what is different in the text: that of the file ("-" is standard
 * input), or (NULL) of the editor. A text that is refused can be edited again,
 * and is kept in its file. reason may be NULL. CLI_OK, or the failure is
 * reported. */
int goal_edit_text(
    struct cli *cli, const char *goal, const char *file, const char *reason);

#endif
