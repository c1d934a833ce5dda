/* SPDX-License-Identifier: ISC */

#include "commands.h"
#include "json.h"
#include "schema.h"

static int
version_run(struct cli *cli, const struct cli_args *args)
{
	(void)args;
	buf_adds(&cli->text, "llmc " LLMC_VERSION "\n");
	cli->result = json_object_new_object();
	json_set_string(cli->result, "name", "llmc");
	json_set_string(cli->result, "version", LLMC_VERSION);
	return CLI_OK;
}

static const struct schema version_shape = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("name", STRING, NULL),
	    SCHEMA_IS("version", STRING, NULL),
	    SCHEMA_END,
	},
};

const struct cli_command cmd_version = {
	.name = "version",
	.usage = "",
	.summary = "show the version",
	.shape =
	    &(const struct schema_field){
		.type = SCHEMA_OBJECT,
		.of = &version_shape,
	    },
	.run = version_run,
};
