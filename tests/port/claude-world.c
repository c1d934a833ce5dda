/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "claude-world.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "settings.h"
#include "unit.h"

void
claude_world_begin(struct claude_world *world, const char *config)
{
	struct settings_problems problems;
	struct settings_facts facts = { .root = unit_path("it's \"my\" $repo"),
		.home = "/home/me",
		.default_branch = "main" };

	memset(world, 0, sizeof *world);
	world->workspace.root = xstrdup(facts.root);
	world->workspace.git_dir = file_join(facts.root, ".git");
	world->workspace.dir = file_join(facts.root, ".llmc");
	ck_assert_int_eq(file_mkdirs(world->workspace.dir, 0755, NULL), 0);
	world->settings =
	    settings_parse(config, strlen(config), &facts, &problems);
	ck_assert_msg(problems.count == 0, "%s",
	    problems.count > 0 ? problems.list[0].text : "");
	settings_problems_release(&problems);
	world->launch = (struct claude_launch){
		.workspace = &world->workspace,
		.settings = world->settings,
		.worker = "ann",
		.cwd = world->workspace.root,
		.generation = 18446744073709551615u,
		.session = "6a3b9a2e-0000-4000-8000-000000000001",
		.llmc = "/opt/my tools/ll\"mc",
		.socket = "/run/it's \"a\" $socket",
	};
}

void
claude_world_end(struct claude_world *world)
{
	settings_free(world->settings);
	workspace_release(&world->workspace);
}

char *
claude_world_prepare(struct claude_world *world)
{
	struct err err = { 0 };
	char *launcher = NULL;

	ck_assert_msg(claude_prepare(&world->launch, &launcher, &err) == 0,
	    "%s", err.msg);
	return launcher;
}
