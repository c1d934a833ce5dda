/* SPDX-License-Identifier: ISC */

/* llmc fleet: several hosts with one repository and one queue. autod does it,
 * in a process of its own (autod/fleet-task.h). */
#include "base.h"
#include "cli-private.h"
#include "view.h"

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
ask(struct cli *cli, const char *verb, const struct cli_args *args)
{
	const char *words[6];
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
	return remote_fleet(cli, verb, words);
}

static int
fleet_init(struct cli *cli, const struct cli_args *args)
{
	int status = ask(cli, "init", args);

	if (status == CLI_OK)
		buf_adds(&cli->text,
		    "The shared book is there. Type llmc fleet join on each "
		    "host, then llmc up.\n");
	return status;
}

static int
fleet_migrate(struct cli *cli, const struct cli_args *args)
{
	int status = ask(cli, "migrate", args);

	if (status == CLI_OK)
		buf_addf(&cli->text,
		    "The tables of the shared book have version %lld.\n",
		    (long long)json_int_or(cli->result, "schemaVersion", 0));
	return status;
}

static int
fleet_join(struct cli *cli, const struct cli_args *args)
{
	int status = ask(cli, "join", args);
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
	int status = ask(cli, "check", args);
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
	int status = ask(cli, "hosts", args);

	if (status == CLI_OK)
		CLI_TABLE(cli, host_columns, json_member(cli->result, "hosts"),
		    "No host has joined yet.");
	return status;
}

static int
fleet_drain(struct cli *cli, const struct cli_args *args)
{
	int status = ask(cli, "drain", args);

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
	int status = ask(cli, "leave", args);

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
	SCHEMA_MAY("checkSlots", INT, NULL),
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
	    "drain    let a host finish what it has, and take no new task\n"
	    "leave    take this host out, once it has no task\n"
	    "check    ask the database as this host, and say what is wrong\n\n"
	    "First: llmc config set fleet.database "
	    "postgresql://SERVER/DATABASE (or sqlite:/FILE\nfor clones on one "
	    "machine). init, migrate and join need the rights of the "
	    "database's\nowner: give the address with --owner. Passwords stay "
	    "in files: see FLEETS in\nllmc.conf(5).\n",
	.example = "fleet join --owner 'service=llmc-owner'",
	.flags = fleet_flags,
	.min_args = 1,
	.max_args = 2,
	.guarded = true,
	.shape = CLI_SHAPE(OBJECT, fleet_report),
	.verbs = fleet_verbs,
};
