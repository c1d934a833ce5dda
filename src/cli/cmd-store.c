/* SPDX-License-Identifier: ISC */

/* llmc doctor store: the book: checked, exported, imported, queried. The owner
 * does it. */
#include "base.h"
#include "api-work.h"
#include "cli-private.h"

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
	    "checking the book");
	size_t count = 0;

	(void)args;
	if (status != CLI_OK)
		return status;
	if (json_object_object_get_ex(cli->result, "problems", &problems))
		count = json_object_array_length(problems);
	JSON_EACH (row, problems)
		buf_addf(&cli->text, "%s\n", json_object_get_string(row));
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
	    file_params(prints ? own : args->list[1]), "writing the export");

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
	    file_params(args->list[1]), "importing");

	if (status == CLI_OK) {
		buf_adds(&cli->text, "Imported ");
		add_counts(cli);
		buf_adds(&cli->text, ".\n");
	}
	return status;
}

/* Numbers are on the right, if all of a column are. */
static bool
has_numbers(struct json_object *rows, size_t column)
{
	size_t count = json_object_array_length(rows);

	JSON_EACH (row, rows) {
		struct json_object *value =
		    json_object_array_get_idx(row, column);

		if (json_object_is_type(value, json_type_string))
			return false;
	}
	return count > 0;
}

static int
store_sql(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params = json_object_new_object();
	struct json_object *names = NULL, *rows = NULL;
	int status;

	json_set_string(params, "sql", args->list[1]);
	status = ask(cli, "overseer.store.sql", params, "querying the book");
	if (status != CLI_OK)
		return status;
	if (json_object_object_get_ex(cli->result, "columns", &names) &&
	    json_object_object_get_ex(cli->result, "rows", &rows)) {
		size_t width = json_object_array_length(names);
		struct table_column *columns = xcalloc(width, sizeof *columns);
		const char **cells = xcalloc(width, sizeof *cells);
		struct table *table;

		for (size_t i = 0; i < width; i++)
			columns[i] = (struct table_column){
				.title = json_object_get_string(
				    json_object_array_get_idx(names, i)),
				.right = has_numbers(rows, i),
			};
		table = table_new(columns, width);
		JSON_EACH (item, rows) {
			cleanup_strv char **own = NULL;

			for (size_t j = 0; j < width; j++) {
				struct buf cell = BUF_INIT;
				struct json_object *value =
				    json_object_array_get_idx(item, j);

				if (json_object_is_type(
					value, json_type_string))
					buf_adds(&cell,
					    json_object_get_string(value));
				else if (value != NULL)
					json_print(value, false, &cell);
				strv_take(&own, buf_take(&cell));
			}
			for (size_t j = 0; j < width; j++)
				cells[j] = own[j];
			table_row(table, cells);
		}
		table_print(table, 0, false, &cli->text);
		table_free(table);
		free(columns);
		free(cells);
	}
	if (json_bool_or(cli->result, "truncated", false))
		buf_adds(&cli->text,
		    "There are more rows; ask for less, with WHERE or LIMIT "
		    "and OFFSET.\n");
	return CLI_OK;
}

static const struct verb store_verbs[] = {
	{ "check", 0, 0, 0, "check", store_check },
	{ "export", 0, 1, 0, "export [FILE]", store_export },
	{ "import", 1, 1, 0, "import FILE", store_import },
	{ "sql", 1, 1, 0, "sql QUERY", store_sql },
	{ NULL, 0, 0, 0, NULL, NULL },
};

const struct cli_command cmd_store = {
	.name = "doctor store",
	.usage = "check | export [FILE] | import FILE | sql QUERY",
	.summary = "check, save and query the book of all state",
	.help =
	    "check    look for damage, and for records that do not belong "
	    "together\n"
	    "export   write all goals, and what happened, as JSON to FILE, or "
	    "print it\n"
	    "import   read such a file into a repository that has no goals "
	    "yet\n"
	    "sql      print what QUERY finds, one SELECT; its tables:\n"
	    "         llmc doctor store sql \"SELECT name, sql FROM "
	    "sqlite_schema\"\n\n"
	    "All state is in .llmc/llmc.db, an SQLite file. If it is damaged, "
	    "the daemon moves\nit aside (.llmc/llmc.corrupt-<time>.db) when "
	    "it starts, goes on with what can be\nread of it, and tells you. "
	    "While import runs, nothing is planned.\n",
	.example = "doctor store export backup.json",
	.min_args = 1,
	.max_args = 2,
	.guarded = true,
	.repairs = true,
	.shape = &api_store_result,
	.verbs = store_verbs,
};
