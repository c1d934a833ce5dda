/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errtext.h"
#include "json.h"
#include "launcher.h"
#include "mem.h"
#include "shape.h"

#define LAUNCHER_MAX (4 * 1024 * 1024)

static const struct shape words_shape = {
	.fields = &(const struct shape_field){ .type = SHAPE_STRING },
};

static const struct shape launcher_shape = {
	.fields =
	    (const struct shape_field[]){
		{ .name = "argv",
		    .type = SHAPE_ARRAY,
		    .of = &words_shape,
		    .min = 1 },
		{ .name = "env", .type = SHAPE_ARRAY, .of = &words_shape },
		{ .name = "cwd", .type = SHAPE_STRING },
		{ .name = NULL },
	    },
};

/* What tmux set for the pane stays; everything else comes from the file. */
static void
set_environment(struct json_object *variables)
{
	static const char *const pane[] = { "TMUX", "TMUX_PANE", "TERM",
		"COLORTERM" };
	char *kept[nitems(pane)];

	for (size_t i = 0; i < nitems(pane); i++) {
		const char *value = getenv(pane[i]);

		kept[i] = value != NULL ? xstrdup(value) : NULL;
	}
	clearenv();
	for (size_t i = 0; i < json_object_array_length(variables); i++) {
		const char *entry = json_object_get_string(
		    json_object_array_get_idx(variables, i));
		cleanup_free char *name = xstrndup(entry, strcspn(entry, "="));

		if (strchr(entry, '=') != NULL && name[0] != '\0')
			setenv(name, strchr(entry, '=') + 1, 1);
	}
	for (size_t i = 0; i < nitems(pane); i++) {
		if (kept[i] != NULL)
			setenv(pane[i], kept[i], 1);
		else
			unsetenv(pane[i]);
		free(kept[i]);
	}
}

int
launcher_exec(const char *file, struct err *err)
{
	const struct shape_field whole = { .type = SHAPE_OBJECT,
		.of = &launcher_shape };
	cleanup_json struct json_object *json = NULL;
	cleanup_free char **argv = NULL;
	struct json_object *words;
	const char *cwd;
	size_t count;
	int r = json_load(file, LAUNCHER_MAX, &json, err);

	/* The environment in it may have keys: nobody needs it any more. */
	unlink(file);
	if (r < 0)
		return r;
	r = shape_check(&whole, json, "", err);
	if (r < 0) {
		err_prefix(err, "%s", file);
		return r;
	}
	cwd = json_string_or(json, "cwd", ".");
	if (chdir(cwd) == -1)
		return err_errno(err, -errno, "%s", cwd);
	set_environment(json_object_object_get(json, "env"));
	words = json_object_object_get(json, "argv");
	count = json_object_array_length(words);
	argv = xcalloc(count + 1, sizeof *argv);
	for (size_t i = 0; i < count; i++) {
		const char *word =
		    json_object_get_string(json_object_array_get_idx(words, i));

		memcpy(&argv[i], &word, sizeof word);
	}
	execvp(argv[0], argv);
	return err_errno(err, -errno,
	    "cannot start the agent %s; see: llmc config get "
	    "defaults.agent_command",
	    argv[0]);
}
