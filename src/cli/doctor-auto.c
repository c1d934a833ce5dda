/* SPDX-License-Identifier: ISC */

/* llmc doctor: checks where the tasks of auto mode come from. */
#include <string.h>

#include "child.h"
#include "cli.h"
#include "doctor-auto.h"
#include "doctor.h"
#include "file.h"
#include "mem.h"
#include "source-choice.h"

/* Does the shell know the first word? Anything that is not a plain word (an
 * assignment, a subshell) is left to the shell. */
static bool
shell_knows(struct doctor *d, const char *word)
{
	const char *const argv[] = { "/bin/sh", "-c",
		"command -v -- \"$1\" >/dev/null", "sh", word, NULL };
	struct child_spec spec = { .argv = argv,
		.cwd = d->cli->workspace.root };
	cleanup_child_result struct child_result result;

	return child_run(&spec, &result, NULL) == 0 && child_succeeded(&result);
}

static void
check_command(struct doctor *d, const char *command)
{
	const char *start = command + strspn(command, " \t\n");
	size_t len = strcspn(start, " \t\n;|&");
	cleanup_free char *word = xstrndup(start, len);
	cleanup_free char *detail = NULL;
	bool plain = strpbrk(word, "=$`'\"\\(){}<>*?[~!#") == NULL;

	if (plain && !shell_knows(d, word)) {
		detail = xasprintf(
		    "%s, in auto.task_pool_command, is not found", word);
		doctor_note(d, VERDICT_FAIL, "tasks", detail,
		    "set another: llmc config set auto.task_pool_command "
		    "COMMAND");
		return;
	}
	detail = xasprintf(
	    "come from %s%s", source_type_origin(SOURCE_COMMAND), command);
	doctor_note(d, VERDICT_OK, "tasks", detail, NULL);
}

static void
check_folder(struct doctor *d, const struct source_options *source)
{
	cleanup_free char *detail = NULL, *fix = NULL;
	const char *where = source->where;

	if (file_is_dir(where)) {
		detail = xasprintf(
		    "come from %s%s", source_type_origin(source->type), where);
		doctor_note(d, VERDICT_OK, "tasks", detail, NULL);
	} else if (file_exists(where) ||
	    (source_type_flags(source->type) & SOURCE_EDITABLE) == 0) {
		detail = xasprintf("%s %s", where,
		    file_exists(where) ? "is not a folder" : "does not exist");
		fix = xasprintf("set another: llmc config set %s FOLDER",
		    source_type_setting(source->type));
		doctor_note(d, VERDICT_FAIL, "tasks", detail, fix);
	} else {
		doctor_note(d, VERDICT_OK, "tasks",
		    "none yet; add one with: llmc task add TEXT", NULL);
	}
}

void
doctor_auto_check(struct doctor *d)
{
	cleanup_source_choice struct source_choice choice = { .where = NULL };

	if (d->settings == NULL)
		return;
	source_choice_init(&choice, d->settings, &d->cli->workspace, NULL);
	if (choice.options.type == SOURCE_COMMAND)
		check_command(d, choice.where);
	else
		check_folder(d, &choice.options);
}
