/* SPDX-License-Identifier: ISC */

/* llmc doctor store: the book: checked, exported, queried. llmc
 * fleet: several hosts with one repository and one queue. The owner of the book
 * does both: autod, in a process of its own (autod/fleet-task.h). */
#include "base.h"
#include "api-work.h"
#include "cli-private.h"
#include "view.h"

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
	{ "sql", 1, 1, 0, "sql QUERY", store_sql },
	{ NULL, 0, 0, 0, NULL, NULL },
};

const struct cli_command cmd_store = {
	.name = "doctor store",
	.usage = "check | export [FILE] | sql QUERY",
	.summary = "check, save and query the book of all state",
	.help =
	    "check    look for damage, and for records that do not belong "
	    "together\n"
	    "export   write all goals, and what happened, as JSON to FILE, or "
	    "print it\n"
	    "sql      print what QUERY finds, one SELECT; its tables:\n"
	    "         llmc doctor store sql \"SELECT name, sql FROM "
	    "sqlite_schema\"\n\n"
	    "All state is in .llmc/llmc.db, an SQLite file. If it is damaged, "
	    "the daemon moves\nit aside (.llmc/llmc.corrupt-<time>.db) when "
	    "it starts, goes on with what can be\nread of it, and tells you.\n",
	.example = "doctor store export backup.json",
	.min_args = 1,
	.max_args = 2,
	.guarded = true,
	.repairs = true,
	.shape = &api_store_result,
	.verbs = store_verbs,
};

#define BIT(flag) (1u << (flag))

enum {
	FLAG_OWNER,
	FLAG_UNDO
};

static const struct cli_flag fleet_flags[] = {
	[FLAG_OWNER] = { "owner", "URL",
	    "for init, migrate and join: the database with the rights of its "
	    "owner" },
	[FLAG_UNDO] = { "undo", NULL, "for drain: take tasks again" },
	{ NULL, NULL, NULL },
};

/* Options of autod, as they were typed here. */
static int
fleet_ask(struct cli *cli, const char *verb, const struct cli_args *args)
{
	const char *words[6];
	struct err err = { 0 };
	size_t count = 0;

	if (args->flags[FLAG_OWNER] != NULL) {
		words[count++] = "--owner";
		words[count++] = args->flags[FLAG_OWNER];
	}
	if (args->count > 1) {
		words[count++] = "--host";
		words[count++] = args->list[1];
	}
	if (args->flags[FLAG_UNDO] != NULL)
		words[count++] = "--undo";
	words[count] = NULL;
	return remote_fleet_try(cli, verb, words, &cli->result, &err) < 0 ?
	    cli_fail_err(cli, "fleet", &err) :
	    CLI_OK;
}

static int
fleet_init(struct cli *cli, const struct cli_args *args)
{
	int status = fleet_ask(cli, "init", args);

	if (status == CLI_OK)
		buf_adds(&cli->text,
		    "The shared book is there. Type llmc fleet join on each "
		    "host, then llmc up.\n");
	return status;
}

static int
fleet_migrate(struct cli *cli, const struct cli_args *args)
{
	int status = fleet_ask(cli, "migrate", args);

	if (status == CLI_OK)
		buf_addf(&cli->text,
		    "The tables of the shared book have version %lld.\n",
		    (long long)json_int_or(cli->result, "schemaVersion", 0));
	return status;
}

static int
fleet_join(struct cli *cli, const struct cli_args *args)
{
	int status = fleet_ask(cli, "join", args);
	const char *role, *passfile;

	if (status != CLI_OK)
		return status;
	role = json_string_or(cli->result, "role", NULL);
	passfile = json_string_or(cli->result, "passfile", NULL);
	buf_addf(&cli->text, "%s is host %lld of the fleet.\n",
	    json_string_or(cli->result, "host", "this"),
	    (long long)json_int_or(cli->result, "nr", 0));
	if (role != NULL)
		buf_addf(&cli->text, "Its role in the database is %s", role);
	if (role != NULL && passfile != NULL)
		buf_addf(&cli->text, ", with the password in %s", passfile);
	buf_addf(&cli->text, "%sllmc fleet check tells whether it works.\n",
	    role != NULL ? ".\n" : "");
	return status;
}

static int
fleet_check(struct cli *cli, const struct cli_args *args)
{
	int status = fleet_ask(cli, "check", args);
	const char *server;
	int64_t clock;

	if (status != CLI_OK)
		return status;
	buf_addf(&cli->text, "The tables have version %lld; ",
	    (long long)json_int_or(cli->result, "schemaVersion", 0));
	server = json_string_or(cli->result, "server", NULL);
	if (server == NULL) {
		buf_adds(&cli->text, "nothing is wrong.\n");
		return CLI_OK;
	}
	clock = json_int_or(cli->result, "clockMs", 0);
	buf_addf(&cli->text,
	    "PostgreSQL %s, %s TLS, answers in %.1f ms and has %lld of %lld "
	    "connections in use.\nIts clock is ",
	    server,
	    json_bool_or(cli->result, "tls", false) ? "with" : "without",
	    (double)json_int_or(cli->result, "roundTripUs", 0) / 1000,
	    (long long)json_int_or(cli->result, "connections", 0),
	    (long long)json_int_or(cli->result, "connectionsMax", 0));
	text_add_duration(&cli->text, clock < 0 ? -clock : clock);
	buf_addf(&cli->text,
	    " %s ours, which does not matter: leases go by its clock.\n",
	    clock < 0 ? "behind" : "ahead of");
	return CLI_OK;
}

static void
add_state(struct json_object *host, struct buf *out)
{
	buf_adds(out,
	    json_int_or(host, "draining", 0) != 0 &&
		    view_is(host, "state", "up") ?
		"drains" :
		json_string_or(host, "state", ""));
}

/* "4m50s ago", nothing without a number. */
static void
add_seen(struct json_object *host, struct buf *out)
{
	int64_t ms = json_int_or(host, "seenAgoMs", -1);

	if (ms < 0)
		return;
	text_add_duration(out, ms / 1000 * 1000);
	buf_adds(out, " ago");
}

static void
add_can(struct json_object *host, struct buf *out)
{
	JSON_EACH (word, json_member(host, "can"))
		buf_addf(out, "%s%s", out->len > 0 ? " " : "",
		    json_object_get_string(word));
}

static const struct view_column host_columns[] = {
	{ "Host", .key = "host" },
	{ "State", .add = add_state },
	{ "Tasks", "claimed", VIEW_INT, .right = true },
	{ "Ready", "ready", VIEW_INT, .right = true },
	{ "Slots", "slots", VIEW_INT, .right = true },
	{ "Seen", .add = add_seen },
	{ "Version", .key = "version" },
	{ "Has", .add = add_can },
};

static int
fleet_hosts(struct cli *cli, const struct cli_args *args)
{
	int status = fleet_ask(cli, "hosts", args);

	if (status == CLI_OK)
		CLI_TABLE(cli, host_columns, json_member(cli->result, "hosts"),
		    "No host has joined yet.");
	return status;
}

static int
fleet_drain(struct cli *cli, const struct cli_args *args)
{
	int status = fleet_ask(cli, "drain", args);

	if (status == CLI_OK)
		buf_addf(&cli->text,
		    args->flags[FLAG_UNDO] != NULL ?
			"%s takes tasks again.\n" :
			"%s takes no new task; what it has, it finishes.\n",
		    json_string_or(cli->result, "host", ""));
	return status;
}

static int
fleet_leave(struct cli *cli, const struct cli_args *args)
{
	int status = fleet_ask(cli, "leave", args);

	if (status == CLI_OK)
		buf_addf(&cli->text,
		    "%s has left the fleet; type: llmc config unset "
		    "fleet.database\n",
		    json_string_or(cli->result, "host", ""));
	return status;
}

static const struct verb fleet_verbs[] = {
	{ "init", 0, 0, BIT(FLAG_OWNER), "init [--owner URL]", fleet_init },
	{ "migrate", 0, 0, BIT(FLAG_OWNER), "migrate [--owner URL]",
	    fleet_migrate },
	{ "join", 0, 0, BIT(FLAG_OWNER), "join [--owner URL]", fleet_join },
	{ "hosts", 0, 0, 0, "hosts", fleet_hosts },
	{ "drain", 1, 1, BIT(FLAG_UNDO), "drain HOST [--undo]", fleet_drain },
	{ "leave", 0, 0, 0, "leave", fleet_leave },
	{ "check", 0, 0, 0, "check", fleet_check },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static const struct schema fleet_host =
    SCHEMA_SHAPE(SCHEMA_IS("host", STRING, NULL), SCHEMA_IS("nr", INT, NULL),
	SCHEMA_IS("state", STRING, "new, up or lost"),
	SCHEMA_IS("draining", INT, "1: takes no new task"),
	SCHEMA_IS("leaseLeftMs", INT, "until it counts as lost"),
	SCHEMA_MAY("seenAgoMs", INT, NULL), SCHEMA_MAY("version", STRING, NULL),
	SCHEMA_MAY("slots", INT, "how many workers it has at most"),
	SCHEMA_IS("claimed", INT, "tasks that it works on"),
	SCHEMA_IS("ready", INT, "tasks that wait to land"),
	SCHEMA_IS("can", LIST, "what it has"));

static const struct schema fleet_report = SCHEMA_SHAPE(
    SCHEMA_MAY("schemaVersion", INT, "init, migrate, check"),
    SCHEMA_MAY("host", STRING, NULL), SCHEMA_MAY("here", STRING, "hosts"),
    SCHEMA_MAY("nr", INT, "join"), SCHEMA_MAY("role", STRING, "join, check"),
    SCHEMA_MAY("passfile", STRING, "join"),
    SCHEMA_MAY("draining", BOOL, "drain"),
    SCHEMA_MAY("server", STRING, "check: its version"),
    SCHEMA_MAY("identity", STRING, "check: which server, and which timeline"),
    SCHEMA_MAY("connections", INT, "check"),
    SCHEMA_MAY("connectionsMax", INT, "check"),
    SCHEMA_MAY("tls", BOOL, "check"),
    SCHEMA_MAY("clockMs", INT, "check: how far the server's clock is ahead"),
    SCHEMA_MAY("roundTripUs", INT, "check"),
    SCHEMA_MAY("hosts", ROWS, NULL, .of = &fleet_host));

const struct cli_command cmd_fleet = {
	.name = "fleet",
	.group = CLI_RUN,
	.usage = "init | migrate | join | hosts | drain HOST | leave | check",
	.summary = "share the work on this repository with other hosts",
	.help =
	    "init     make the shared book in the database of fleet.database\n"
	    "migrate  bring its tables up to date with this llmc\n"
	    "join     let this host in: its number, its role, its password\n"
	    "hosts    show all hosts: what they do and what they have\n"
	    "drain    let this host finish what it has, and take no new task\n"
	    "leave    take this host out, once it has no task\n"
	    "check    ask the database as this host, and say what is wrong\n\n"
	    "First: llmc config set fleet.database "
	    "postgresql://SERVER/DATABASE. init, migrate\nand join need the "
	    "rights of the database's owner: give the address with\n--owner. "
	    "Passwords stay in files: see FLEETS in llmc.conf(5).\n",
	.example = "fleet join --owner 'service=llmc-owner'",
	.flags = fleet_flags,
	.min_args = 1,
	.max_args = 2,
	.guarded = true,
	.shape = CLI_SHAPE(OBJECT, fleet_report),
	.verbs = fleet_verbs,
};
