/* SPDX-License-Identifier: ISC */

/* llmc fleet, without a daemon. */
#include "e2e.h"
#include "postgres-world.h"

static const char *root;

void
unit_begin(void)
{
	postgres_serve();
}

/* What the owner does, and what any host may do. */
static struct e2e_run *
fleet(const char *verb, const char *arg)
{
	static const char owners[] = "init join migrate";
	cleanup_free char *owner = postgres_owner();

	return strstr(owners, verb) != NULL ?
	    e2e_llmc(root, "fleet", verb, "--owner", owner, NULL) :
	    e2e_llmc(root, "fleet", verb, arg, NULL);
}

static const char *
database(void)
{
	cleanup_free char *owner = postgres_owner();

	postgres_need();
	ck_assert_str_eq(
	    postgres_sql(owner, "drop schema if exists llmc cascade"), "");
	return e2e_path("postgresql://127.0.0.1:%d/llmc", postgres_port());
}

static void
set(const char *key, const char *value)
{
	e2e_expect(e2e_llmc(root, "config", "set", key, value, NULL), 0, NULL);
}

TEST(fleet_is_made_joined_shown_and_left)
{
	struct e2e_run *run;

	root = e2e_workspace("a b");
	e2e_expect(fleet("hosts", NULL), 1, "has no fleet; type: llmc config");
	run = e2e_llmc(root, "config", "set", "fleet.database",
	    "postgresql://me:secret@db/x", NULL);
	e2e_expect(run, 1, "has a password in it");
	e2e_lacks(run->err, "secret");
	set("fleet.database", database());
	set("fleet.host", "eve");
	e2e_expect(fleet("check", NULL), 1, "llmc fleet join");
	e2e_expect(fleet("init", NULL), 0, NULL);
	e2e_expect(fleet("init", NULL), 0, NULL);
	e2e_has(fleet("join", NULL)->out, "eve is host 1 of the fleet.");
	set("fleet.host", "adam");
	e2e_has(fleet("join", NULL)->out, "adam is host 2 of the fleet.");
	e2e_has(fleet("join", NULL)->out, "adam is host 2 of the fleet.");
	e2e_has(fleet("check", NULL)->out, "The tables have version");
	e2e_has(fleet("drain", "adam")->out, "adam takes no new task");
	e2e_expect(
	    fleet("drain", "eve"), 1, "on eve, type: llmc fleet drain eve");
	e2e_expect(fleet("leave", NULL), 1, "adam has never been up");
	set("fleet.host", "bob");
	e2e_expect(fleet("leave", NULL), 1, "llmc fleet join");
	set("fleet.host", "adam");
	e2e_has(fleet("migrate", NULL)->out, "have version ");
	e2e_has(fleet("hosts", "--json")->out, "\"host\": \"adam\"");
}

/* Another clone of the same repository may come in, another repository not. */
TEST(other_repository_is_refused)
{
	const char *first = e2e_workspace("first");
	const char *address = database();

	root = first;
	set("fleet.database", address);
	e2e_expect(fleet("init", NULL), 0, NULL);
	e2e_expect(e2e_sh(root, "git rev-parse HEAD >.git/shallow"), 0, NULL);
	e2e_expect(fleet("join", NULL), 1, "type: git fetch --unshallow");
	root = e2e_workspace("second");
	e2e_expect(e2e_sh(root,
		       "git -c user.name=x -c user.email=x@y commit -q "
		       "--amend --allow-empty -m other"),
	    0, NULL);
	set("fleet.database", address);
	e2e_expect(fleet("join", NULL), 1, "belongs to another repository");
}
