/* SPDX-License-Identifier: ISC */

#include "claude-world.h"
#include "settings.h"

struct claude_world w;

void
claude_world_begin(const char *config)
{
	struct settings_problems problems;
	struct settings_facts facts = { .root = unit_path("it's \"my\" $repo"),
		.home = "/home/me",
		.default_branch = "main" };

	claude_world_end();
	unit_at_end(claude_world_end);
	w.workspace.root = xstrdup(facts.root);
	w.workspace.git_dir = file_join(facts.root, ".git");
	w.workspace.dir = file_join(facts.root, ".llmc");
	ck_assert_int_eq(file_mkdirs(w.workspace.dir, 0755, NULL), 0);
	w.settings = settings_parse(config, strlen(config), &facts, &problems);
	ck_assert_msg(problems.count == 0, "%s",
	    problems.count > 0 ? problems.list[0].text : "");
	settings_problems_release(&problems);
	w.launch = (struct agent_launch){
		.workspace = &w.workspace,
		.settings = w.settings,
		.worker = "ann",
		.cwd = w.workspace.root,
		.generation = 18446744073709551615u,
		.session = "6a3b9a2e-0000-4000-8000-000000000001",
		.llmc = "/opt/my tools/ll\"mc",
		.socket = "/run/it's \"a\" $socket",
	};
}

void
claude_world_end(void)
{
	settings_free(w.settings);
	workspace_release(&w.workspace);
	w = (struct claude_world){ 0 };
}

char *
claude_world_prepare(void)
{
	struct err err = { 0 };
	char *launcher = NULL;

	ck_assert_msg(
	    agent_prepare(&w.launch, &launcher, &err) == 0, "%s", err.msg);
	return launcher;
}
