/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "mem.h"
#include "procref.h"
#include "text.h"
#include "tmux-list.h"

/* One line for each pane of each session. A session's name contains no ':' and
 * comes last; if somebody puts one into our options, they are not recognised.
 */
enum list_field {
	LIST_PANE,
	LIST_DEAD,
	LIST_PID,
	LIST_ACTIVE,
	LIST_OURS,
	LIST_GENERATION,
	LIST_ROLE,
	LIST_WORKER,
	LIST_NAME,
	LIST_FIELDS
};
const char tmux_list_format[] =
    "#{pane_id}:#{pane_dead}:#{pane_pid}:"
    "#{&&:#{window_active},#{pane_active}}:#{@llmc_pane}:"
    "#{@llmc_generation}:#{@llmc_role}:#{@llmc_worker}:#{session_name}";

static void
list_split(char *line, const char *fields[LIST_FIELDS])
{
	size_t count = 0;
	char *rest = line, *word;

	for (size_t i = 0; i < LIST_FIELDS; i++)
		fields[i] = "";
	while ((word = strsep(&rest, ":")) != NULL) {
		if (count < LIST_NAME)
			fields[count] = word;
		fields[LIST_NAME] = word;
		count++;
	}
	if (count == LIST_FIELDS)
		return;
	for (size_t i = LIST_OURS; i < LIST_NAME; i++)
		fields[i] = "";
}

/* Has it ended? tmux 3.3a may never notice, but the kernel knows. */
static bool
pane_process_gone(pid_t pid)
{
	struct procref ref = PROCREF_INIT;
	int r = procref_set(&ref, pid);

	procref_release(&ref);
	return r == -ESRCH;
}

static void
list_take_pane(struct tmux_info *info, const char *const fields[LIST_FIELDS])
{
	int64_t pid;

	if (strcmp(fields[LIST_DEAD], "0") != 0 ||
	    !text_parse_int(fields[LIST_PID], 1, INT32_MAX, &pid) ||
	    pane_process_gone((pid_t)pid))
		return;
	info->pane_pid = (pid_t)pid;
	info->dead = false;
}

static void
list_take_session(struct tmux_info *info, const char *const fields[LIST_FIELDS])
{
	int64_t generation = 0;

	text_parse_int(fields[LIST_GENERATION], 0, INT64_MAX, &generation);
	*info = (struct tmux_info){ .name = fields[LIST_NAME],
		.role = fields[LIST_ROLE],
		.worker = fields[LIST_WORKER],
		.generation = (uint64_t)generation,
		.dead = true };
}

size_t
tmux_list_parse(char *text, struct tmux_info **ret_list)
{
	struct tmux_info *list = NULL;
	const char *fields[LIST_FIELDS];
	char *rest = text, *line;
	size_t count = 0;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line == '\0')
			continue;
		list_split(line, fields);
		/* The panes of one session follow each other. */
		if (count == 0 ||
		    strcmp(list[count - 1].name, fields[LIST_NAME]) != 0) {
			list = xreallocarray(list, count + 1, sizeof *list);
			list_take_session(&list[count++], fields);
		}
		if (*fields[LIST_OURS] == '\0' ?
			strcmp(fields[LIST_ACTIVE], "1") == 0 :
			strcmp(fields[LIST_OURS], fields[LIST_PANE]) == 0)
			list_take_pane(&list[count - 1], fields);
	}
	*ret_list = list;
	return count;
}
