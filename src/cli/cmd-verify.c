/* SPDX-License-Identifier: ISC */

/* llmc verify: run by autod to check the artifacts of a contract. */
#include <unistd.h>

#include "buf.h"
#include "commands.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "schema.h"
#include "verify-run.h"

#define TOLD_MAX ((size_t)1024 * 1024)

static int
verify_main(struct cli *cli, const struct cli_args *args)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json_object *told = NULL, *result = NULL;
	struct err err = { 0 };
	int r = file_read_fd(STDIN_FILENO, TOLD_MAX, &text);

	(void)args;
	if (r < 0)
		err_errno(&err, r, "cannot read standard input");
	else
		r = json_parse(text.data, text.len, TOLD_MAX, &told, &err);
	if (r == 0)
		r = verify_run(told, &result, &err);
	if (r < 0)
		return cli_fail_err(cli, "failed", &err);
	json_print(result, false, &cli->text);
	buf_addc(&cli->text, '\n');
	cli->result = json_object_get(result);
	return CLI_OK;
}

const struct cli_command cmd_verify = {
	.name = "verify",
	.usage = "",
	.summary = "check the artifacts of a contract (internal)",
	.help = "autod uses this at the end of a task with a contract. "
		"Standard input says which\ncommit is checked for what; the "
		"result is printed as JSON. No command is run.\n",
	.hidden = true,
	.shape = &(const struct schema_field){ .type = SCHEMA_ANY },
	.run = verify_main,
};
