/* SPDX-License-Identifier: ISC */

/* llmc store: the file of goals and their history: checked, exported, imported,
 * recovered, compacted. The owner does it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api-store.h"
#include "commands.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "progress.h"
#include "remote.h"
#include "shape.h"
#include "text.h"
#include "verbs.h"

enum {
	FLAG_BEFORE
};

static const struct cli_flag store_flags[] = {
	[FLAG_BEFORE] = { "before", "AGE",
	    "for compact: events older than AGE (default: 30d)" },
	{ NULL, NULL, NULL },
};

static int
ask(struct cli *cli, const char *method, struct json_object *params,
    const char *what)
{
	int status;

	progress_begin(cli, what);
	status =
	    remote_call(cli, method, params, API_STORE_WAIT_MS, &cli->result);
	progress_end();
	return status;
}

/* The daemon's working directory is another one. */
static struct json_object *
file_params(const char *file)
{
	cleanup_free char *here = getcwd(NULL, 0);
	cleanup_free char *path = file_join(here != NULL ? here : "/", file);
	struct json_object *params = json_object_new_object();

	json_set_string(params, "file", path);
	return params;
}

static void
add_count(struct cli *cli, const char *key, const char *words)
{
	int64_t count = json_int_or(cli->result, key, 0);

	buf_addf(&cli->text, "%lld %s%s", (long long)count, words,
	    count == 1 ? "" : "s");
}

static void
add_counts(struct cli *cli)
{
	add_count(cli, "records", "record");
	buf_adds(&cli->text, " and ");
	add_count(cli, "events", "event");
}

/* --- the verbs ------------------------------------------------------- */

static int
store_check(struct cli *cli, const struct cli_args *args)
{
	struct json_object *problems = NULL;
	int status = ask(cli, "overseer.store.check", json_object_new_object(),
	    "checking the store of goals");
	size_t count = 0;

	(void)args;
	if (status != CLI_OK)
		return status;
	if (json_object_object_get_ex(cli->result, "problems", &problems))
		count = json_object_array_length(problems);
	for (size_t i = 0; i < count; i++)
		buf_addf(&cli->text, "%s\n",
		    json_object_get_string(
			json_object_array_get_idx(problems, i)));
	add_counts(cli);
	if (json_bool_or(cli->result, "ok", false)) {
		buf_adds(&cli->text, "; nothing is wrong.\n");
		return CLI_OK;
	}
	buf_adds(&cli->text, "; ");
	buf_addf(&cli->text, "%zu problem%s.\n", count, count == 1 ? "" : "s");
	return CLI_FAILED;
}

/* Every record and event is a line of its own. */
static int
print_file(struct cli *cli, const char *path)
{
	FILE *file = fopen(path, "re");
	cleanup_free char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int r = 0;

	if (file == NULL)
		return cli_fail(cli, "io", "%s: %s", path, strerror(errno));
	while (r == 0 && (len = getline(&line, &room, file)) > 0) {
		struct buf text = BUF_INIT;

		buf_add(&text, line, (size_t)len);
		r = cli_write(&text);
		buf_release(&text);
	}
	fclose(file);
	if (r < 0 && r != -EPIPE)
		return cli_fail(cli, "io", "standard output: %s", strerror(-r));
	return CLI_OK;
}

static int
store_export(struct cli *cli, const struct cli_args *args)
{
	cleanup_free char *name = xasprintf("store-export.%d", (int)getpid());
	cleanup_free char *own = workspace_path(&cli->workspace, name);
	bool prints = args->count == 1;
	int status = ask(cli, "overseer.store.export",
	    file_params(prints ? own : args->list[1]),
	    "writing the store of goals");

	if (status == CLI_OK && prints) {
		json_object_put(take_ptr(&cli->result));
		status = print_file(cli, own);
	} else if (status == CLI_OK) {
		buf_addf(&cli->text, "Written to %s.\n", args->list[1]);
	}
	if (prints)
		unlink(own);
	return status;
}

static int
store_import(struct cli *cli, const struct cli_args *args)
{
	int status = ask(cli, "overseer.store.import",
	    file_params(args->list[1]), "importing the store of goals");

	if (status == CLI_OK) {
		buf_adds(&cli->text, "Imported ");
		add_counts(cli);
		buf_adds(&cli->text, ".\n");
	}
	return status;
}

static int
store_recover(struct cli *cli, const struct cli_args *args)
{
	int status = ask(cli, "overseer.store.recover",
	    json_object_new_object(), "recovering the store of goals");

	(void)args;
	if (status != CLI_OK)
		return status;
	buf_adds(&cli->text, "Recovered ");
	add_counts(cli);
	buf_adds(&cli->text, "; ");
	add_count(cli, "gaps", "place");
	buf_adds(&cli->text, " could not be read, ");
	add_count(cli, "refused", "row");
	buf_addf(&cli->text,
	    " made no sense.\nThe damaged store is still there: %s\n",
	    json_string_or(cli->result, "file", ""));
	return CLI_OK;
}

static int
store_compact(struct cli *cli, const struct cli_args *args)
{
	const char *before = args->flags[FLAG_BEFORE];
	struct json_object *params = json_object_new_object();
	int64_t ms;
	int status;

	if (before != NULL) {
		if (!text_parse_duration(before, &ms) ||
		    ms / 1000 > INT32_MAX) {
			json_object_put(params);
			return cli_misuse(cli, &cmd_store,
			    "--before takes an age, such as 30d or 12h");
		}
		json_set_int(params, "older_than", ms / 1000);
	}
	status = ask(cli, "overseer.store.compact", params,
	    "compacting the store of goals");
	if (status != CLI_OK)
		return status;
	add_count(cli, "removed", "event");
	buf_adds(&cli->text, " replaced by ");
	add_count(cli, "milestones", "milestone");
	buf_adds(&cli->text, ", ");
	add_count(cli, "ended", "ended record");
	buf_adds(&cli->text, " of mail, requests and reservations removed.\n");
	return CLI_OK;
}

/* --- the command ----------------------------------------------------- */

static const struct verb store_verbs[] = {
	{ "check", 0, 0, 0, "check", store_check },
	{ "export", 0, 1, 0, "export [FILE]", store_export },
	{ "import", 1, 1, 0, "import FILE", store_import },
	{ "recover", 0, 0, 0, "recover", store_recover },
	{ "compact", 0, 0, 1u << FLAG_BEFORE, "compact [--before AGE]",
	    store_compact },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static int
store_run(struct cli *cli, const struct cli_args *args)
{
	return verbs_run(cli, &cmd_store, store_verbs, args);
}

const struct cli_command cmd_store = {
	.name = "store",
	.usage = "check | export [FILE] | import FILE | recover | compact "
		 "[--before AGE]",
	.summary = "check, save and repair the store of goals",
	.help =
	    "check    look for damage, and for records that do not belong "
	    "together\n"
	    "export   write all goals, and what happened, as JSON to FILE, or "
	    "print it\n"
	    "import   make the store out of such a file; there must be none "
	    "with anything in it\n"
	    "recover  make the store out of what can be read of the damaged "
	    "one, and turn\n         goals on again\n"
	    "compact  replace the events of goals that have ended by "
	    "milestones, which only\n         say how many there were; remove "
	    "mail, requests and reservations\n         that have ended\n\n"
	    "A damaged store is moved aside (.llmc/store.corrupt-<time>.db), "
	    "and goals are\noff until it is recovered or another one is "
	    "imported; workers go on. While import\nand recover run, nothing is "
	    "planned.\n",
	.flags = store_flags,
	.min_args = 1,
	.max_args = 2,
	.guarded = true,
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.shape = &api_store_result,
	.run = store_run,
};
