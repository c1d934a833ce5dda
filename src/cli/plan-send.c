/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "cli.h"
#include "draft.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "plan-send.h"
#include "remote.h"

int
plan_send(struct cli *cli, const char *method, struct json_object *params,
    const char *file)
{
	struct draft draft = DRAFT_INIT;
	const char *code = NULL;
	struct err err = { 0 };
	int status = file != NULL ? draft_read(cli, file, &draft) : CLI_OK;

	if (status != CLI_OK) {
		json_object_put(params);
		return draft_end(cli, &draft, status);
	}
	if (file != NULL)
		json_set_string(params, "plan", draft.text.data);
	if (!remote_try(cli, method, params, 0, &cli->result, &code, &err)) {
		if (file != NULL && strncmp(err.msg, "the plan: ", 10) == 0) {
			cleanup_free char *words = xstrdup(err.msg + 10);

			err_set(&err, err.code, "%s: %s", file, words);
		}
		json_object_put(take_ptr(&cli->result));
		status = cli_fail_err(cli, code, &err);
	}
	return draft_end(cli, &draft, status);
}
