/* SPDX-License-Identifier: ISC */

/* Gemini CLI, the kind `gemini` of agent-kind.h. */
#ifndef GEMINI_H
#define GEMINI_H

struct json_object;

/* Has the conversation a message? In the folder that the environment names, if
 * that is of this kind. */
bool gemini_can_resume(const char *id);

/* Is it a line of its chat file? */
bool gemini_is_line(struct json_object *line);

/* That line in the form of Claude Code's transcripts, owned by the caller; NULL
 * = it says nothing that is counted. */
struct json_object *gemini_line(struct json_object *line);

#endif
