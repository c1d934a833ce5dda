/* SPDX-License-Identifier: ISC */

/* llmc fleet, with the shared book in a file, and no daemon. */
#include "e2e.h"

static const char *root;

static struct e2e_run *
fleet(const char *verb, const char *arg)
{
	return e2e_llmc(root, "fleet", verb, arg, NULL);
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
	set("fleet.database", e2e_path("sqlite:%s", unit_path("shared.db")));
	set("fleet.host", "eve");
	e2e_expect(fleet("check", NULL), 1, "llmc fleet init");
	e2e_expect(fleet("init", NULL), 0, NULL);
	e2e_expect(fleet("init", NULL), 0, NULL);
	e2e_has(fleet("hosts", NULL)->out, "No host has joined yet.");
	e2e_has(fleet("join", NULL)->out, "eve is host 1 of the fleet.");
	set("fleet.host", "adam");
	e2e_has(fleet("join", NULL)->out, "adam is host 2 of the fleet.");
	e2e_has(fleet("join", NULL)->out, "adam is host 2 of the fleet.");
	e2e_has(fleet("check", NULL)->out, "nothing is wrong");
	e2e_has(fleet("drain", "adam")->out, "adam takes no new task");
	e2e_expect(
	    fleet("drain", "eve"), 1, "on eve, type: llmc fleet drain eve");
	e2e_expect(fleet("leave", NULL), 1, "adam has never been up");
	set("fleet.host", "bob");
	e2e_expect(fleet("leave", NULL), 1, "bob is not in this fleet");
	set("fleet.host", "adam");
	e2e_has(fleet("migrate", NULL)->out, "have version ");
	e2e_has(fleet("hosts", "--json")->out, "\"host\": \"adam\"");
}

/* Another clone of the same repository may come in, another repository not. */
TEST(other_repository_is_refused)
{
	const char *first = e2e_workspace("first");
	const char *database = e2e_path("sqlite:%s", unit_path("shared.db"));

	root = first;
	set("fleet.database", database);
	e2e_expect(fleet("init", NULL), 0, NULL);
	e2e_expect(e2e_sh(root, "git rev-parse HEAD >.git/shallow"), 0, NULL);
	e2e_expect(fleet("join", NULL), 1, "type: git fetch --unshallow");
	root = e2e_workspace("second");
	e2e_expect(e2e_sh(root,
		       "git -c user.name=x -c user.email=x@y commit -q "
		       "--amend --allow-empty -m other"),
	    0, NULL);
	set("fleet.database", database);
	e2e_expect(fleet("join", NULL), 1, "belongs to another repository");
	e2e_expect(fleet("check", NULL), 1, "belongs to another repository");
	e2e_expect(fleet("hosts", NULL), 1, "belongs to another repository");
}
