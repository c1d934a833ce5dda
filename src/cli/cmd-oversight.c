/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "behaviour.h"
#include "commands.h"
#include "detection.h"
#include "errtext.h"
#include "json.h"
#include "thresholds.h"

#define HISTORY_MAX ((size_t)64 << 20) /* bytes of a file */

static int
check(struct cli *cli, const char *file)
{
	cleanup_json struct json_object *document = NULL;
	struct thresholds thresholds;
	struct err err = { 0 };

	if (json_load(file, HISTORY_MAX, &document, &err) < 0)
		return cli_fail_err(cli, "bad_file", &err);
	thresholds_init(&thresholds, PROFILE_DEFAULT);
	if (behaviour_check(&thresholds, document, &cli->result, &err) < 0) {
		err_prefix(&err, "%s", file);
		return cli_fail_err(cli, "bad_history", &err);
	}
	json_print(cli->result, true, &cli->text);
	return CLI_OK;
}

static int
oversight_run(struct cli *cli, const struct cli_args *args)
{
	if (strcmp(args->list[0], "check") != 0)
		return cli_misuse(cli, &cmd_oversight,
		    "%s: no such action; type: llmc oversight check FILE",
		    args->list[0]);
	if (args->count < 2)
		return cli_misuse(cli, &cmd_oversight, "check needs a FILE");
	return check(cli, args->list[1]);
}

const struct cli_command cmd_oversight = {
	.name = "oversight",
	.usage = "check FILE",
	.summary = "look for pathological work in a history",
	.help =
	    "check reads a history of iterations from a JSON file, and prints "
	    "what the\ndetectors find after the last one, as a JSON array: "
	    "stuck, oscillation, deviation,\nresource_burn, regression. The "
	    "file is an array of iterations, or an object with\n\"history\" "
	    "and \"thresholds\", which are merged key by key over the "
	    "defaults.\n",
	.min_args = 1,
	.max_args = 2,
	.shape = &detections_shape,
	.run = oversight_run,
};
