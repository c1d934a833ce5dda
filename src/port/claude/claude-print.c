/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stddef.h>

#include "buf.h"
#include "claude-print.h"
#include "json.h"
#include "mem.h"
#include "settings.h"
#include "strv.h"

#define MILLION 1000000

static void
add_flag(char ***argv, const char *flag, const char *value)
{
	strv_add(argv, flag);
	strv_add(argv, value);
}

/* Claude Code refuses a schema that names the draft it is written in. */
static void
schema_text(struct json_object *schema, struct buf *out)
{
	cleanup_json struct json_object *copy = NULL;

	json_object_deep_copy(schema, &copy, NULL);
	json_object_object_del(copy, "$schema");
	json_print(copy, false, out);
}

char **
claude_print_argv(const struct claude_print *print)
{
	const struct settings *s = print->settings;
	cleanup_buf struct buf schema = BUF_INIT;
	char **argv = NULL;

	schema_text(print->schema, &schema);
	strv_add(&argv, settings_string(s, "defaults.agent_command"));
	strv_add(&argv, "-p");
	add_flag(&argv, "--output-format", "json");
	add_flag(&argv, "--json-schema", schema.data);
	/* What is not allowed is refused, and nobody is asked. */
	add_flag(&argv, "--permission-mode", "dontAsk");
	add_flag(&argv, "--tools", "Read,Grep,Glob");
	strv_add(&argv, "--strict-mcp-config");
	strv_add(&argv, "--no-session-persistence");
	/* It runs outside of every box: what has landed is read, and nothing of
	 * it is run. */
	if (settings_bool(s, "defaults.isolate")) {
		add_flag(&argv, "--setting-sources", "");
	} else {
		add_flag(&argv, "--setting-sources", "user");
		add_flag(&argv, "--add-dir", print->dir);
	}
	if (print->model[0] != '\0')
		add_flag(&argv, "--model", print->model);
	if (print->max_cost > 0) {
		strv_add(&argv, "--max-budget-usd");
		strv_take(&argv,
		    xasprintf("%" PRId64 ".%06" PRId64,
			print->max_cost / MILLION, print->max_cost % MILLION));
	}
	return argv;
}
