/* SPDX-License-Identifier: ISC */

#include "cli.h"
#include "flag-params.h"
#include "json.h"
#include "priority.h"

void
flag_text(struct json_object *params, const char *key,
    const struct cli_args *args, int flag)
{
	if (args->flags[flag] != NULL)
		json_set_string(params, key, args->flags[flag]);
}

void
flag_list(struct json_object *params, const char *key,
    const struct cli_args *args, int flag)
{
	struct json_object *list;

	if (args->flags[flag] == NULL)
		return;
	list = json_object_new_array();
	for (int i = 0; i < args->given_count; i++)
		if (args->given[i].flag == flag &&
		    args->given[i].value[0] != '\0')
			json_object_array_add(
			    list, json_object_new_string(args->given[i].value));
	json_set(params, key, list);
}

int
flag_priority(
    struct cli *cli, const struct cli_command *command, const char *word)
{
	enum priority priority;

	if (word == NULL || priority_parse(word, &priority))
		return CLI_OK;
	return cli_misuse(cli, command,
	    "\"%s\" is not a priority; use urgent, high, normal or low", word);
}
