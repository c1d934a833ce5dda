/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>

#include "behaviour.h"
#include "cli-private.h"
#include "detection.h"
#include "oversight-config.h"
#include "oversight-report.h"
#include "thresholds.h"

enum {
	FLAG_TASK
};

static const struct cli_flag oversight_flags[] = {
	[FLAG_TASK] = { "task", "ID", "the task that is replayed" },
	{ NULL, NULL, NULL },
};

#define HISTORY_MAX ((size_t)64 << 20) /* bytes of a file */

/* A file of any kind; "-" is standard input. */
static int
load(const char *file, struct json_object **ret_document, struct err *err)
{
	bool is_input = strcmp(file, "-") == 0;
	cleanup_buf struct buf text = BUF_INIT;
	int fd = is_input ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	int r = fd == -1 ? -errno : file_read_fd(fd, HISTORY_MAX, &text);

	if (!is_input)
		fd_close(fd);
	if (r < 0)
		return err_errno(err, r, "cannot read %s", file);
	r = json_parse(text.data, text.len, HISTORY_MAX, ret_document, err);
	if (r < 0)
		err_prefix(err, "%s", file);
	return r;
}

static int
check(struct cli *cli, const char *file)
{
	cleanup_json struct json_object *document = NULL;
	struct thresholds thresholds;
	struct err err = { 0 };

	if (load(file, &document, &err) < 0)
		return cli_fail_err(cli, "bad_file", &err);
	thresholds_init(&thresholds, PROFILE_DEFAULT);
	if (behaviour_check(&thresholds, document, &cli->result, &err) < 0) {
		err_prefix(&err, "%s", file);
		return cli_fail_err(cli, "bad_history", &err);
	}
	json_print(cli->result, true, &cli->text);
	return CLI_OK;
}

/* --- recorded iterations --------------------------------------------- */

static struct json_object *
iterations_of(struct json_object *turns)
{
	struct json_object *list = json_object_new_array(), *it = NULL;

	for (size_t i = 0; i < json_object_array_length(turns); i++)
		if (json_object_object_get_ex(
			json_object_array_get_idx(turns, i), "iteration", &it))
			json_object_array_add(list, json_object_get(it));
	return list;
}

static int
replay(struct cli *cli, const char *task)
{
	struct settings *settings = NULL;
	struct oversight_config config;
	cleanup_json struct json_object *turns = NULL, *history = NULL;
	struct json_object *params;
	struct err err = { 0 };
	int status = cli_load_settings(cli, &settings);

	if (status != CLI_OK)
		return status;
	oversight_config_read(settings, &config);
	settings_free(settings);
	params = remote_params("task", task, NULL);
	if (remote_look(cli, "turns", params, &turns, &err) < 0)
		return cli_fail_err(cli, "io", &err);
	history = iterations_of(turns);
	if (json_object_array_length(history) == 0)
		return cli_fail(cli, "unknown",
		    "no iteration of %s is recorded; type: llmc task list",
		    task);
	if (behaviour_check(&config.thresholds, history, &cli->result, &err) <
	    0)
		return cli_fail_err(cli, "bad_history", &err);
	json_print(cli->result, true, &cli->text);
	return CLI_OK;
}

static int
report(struct cli *cli)
{
	cleanup_json struct json_object *answer = NULL;
	struct err err = { 0 };

	if (remote_look(cli, "tally", json_object_new_object(), &answer, &err) <
	    0)
		return cli_fail_err(cli, "io", &err);
	cli->result = json_object_get(json_object_object_get(answer, "report"));
	buf_adds(&cli->text, json_string_or(answer, "text", ""));
	return CLI_OK;
}

/* check works anywhere, the others where llmc init was run. */
static int
oversight_run(struct cli *cli, const struct cli_args *args)
{
	const char *action = args->list[0], *task = args->flags[FLAG_TASK];
	bool replays = strcmp(action, "replay") == 0;
	int status;

	if (strcmp(action, "check") == 0)
		return args->count < 2 ?
		    cli_misuse(cli, &cmd_oversight, "check needs a FILE") :
		    check(cli, args->list[1]);
	if (!replays && strcmp(action, "report") != 0)
		return cli_misuse(cli, &cmd_oversight,
		    "%s: no such action; type: llmc oversight check FILE",
		    action);
	if (args->count > 1 || (replays && task == NULL))
		return cli_misuse(cli, &cmd_oversight,
		    replays ? "replay needs --task ID, and nothing else" :
			      "report takes no argument");
	status = cli_find_workspace(cli, CLI_NEEDS_REPO | CLI_NEEDS_INIT);
	if (status != CLI_OK)
		return status;
	return replays ? replay(cli, task) : report(cli);
}

static const struct schema_field oversight_choices[] = {
	SCHEMA_IS("check, replay", ROWS, NULL, .of = &detection_schema),
	SCHEMA_IS("report", OBJECT, NULL, .of = &oversight_report_shape),
	SCHEMA_END,
};

static const struct schema oversight_either = { .fields = oversight_choices };

static const struct schema_field oversight_shape = { .type = SCHEMA_ONE,
	.of = &oversight_either };

const struct cli_command cmd_oversight = {
	.name = "oversight",
	.usage = "check FILE | replay --task ID | report",
	.summary = "look for pathological work, and what was done about it",
	.help =
	    "check reads a history of iterations from a JSON file (- is "
	    "standard input), and\nprints what the detectors find after the "
	    "last one, as a JSON array: stuck,\noscillation, deviation, "
	    "resource_burn, regression. The file is an array of\niterations, "
	    "or an object with \"history\" and \"thresholds\", which are "
	    "merged key by\nkey over the defaults.\n\nreplay does the same with the recorded iterations of "
	    "a task, with the thresholds of\n[oversight]. report says what "
	    "was found and done in all recorded tasks, whether it\nhelped, "
	    "and which thresholds should be changed.\n",
	.flags = oversight_flags,
	.min_args = 1,
	.max_args = 2,
	.needs = CLI_ANYWHERE,
	.shape = &oversight_shape,
	.run = oversight_run,
};
