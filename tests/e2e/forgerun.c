/* SPDX-License-Identifier: ISC */

#include "forgerun.h"

/* The fleet of this root has a forge. */
static void
begin(const char *url, int hurry)
{
	const char *root = fleet_root(), *token;

	e2e_hurry(hurry);
	/* As often as without hurry: each patrol starts programs. */
	auto_set("daemon.patrol_interval", e2e_path("%dms", 1500 * hurry));
	/* The agent is not hurried. */
	auto_set("defaults.start_timeout", "1h");
	e2e_expect(
	    e2e_sh(root,
		"git init -q --bare -b main ../origin.git && git remote add "
		"origin ../origin.git && git push -q origin main"),
	    0, NULL);
	token = e2e_path("%s/../token", root);
	e2e_write(token, "tok-me\n");
	chmod(token, 0600);
	auto_set("forge.url", url);
	auto_set("forge.repo", "me/work");
	auto_set("forge.token_file", token);
	forge_tell("user", "{\"login\":\"me\",\"permission\":\"admin\"}");
	forge_tell("user", "{\"login\":\"ann\",\"permission\":\"write\"}");
	forge_tell("user", "{\"login\":\"eve\",\"permission\":\"read\"}");
}

void
forge_begin(const char *dialect)
{
	const char *url = forge_stand(dialect);

	fleet_begin();
	begin(url, 20);
}

void
forge_begin_real(const char *dialect)
{
	const char *url = forge_stand(dialect);

	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	/* It gets that part of the time that it has for a prompt. */
	begin(url, 2);
}

void
forge_protect(void)
{
	const char *origin = e2e_path("%s/../origin.git", fleet_root());

	e2e_script(e2e_path("%s/hooks/pre-receive", origin),
	    "#!/bin/sh\nwhile read old new ref; do case $ref in "
	    "refs/heads/main) echo protected >&2; exit 1;; esac; done\n");
	forge_tell("repo", "{\"path\":\"%s\"}", origin);
	auto_set("auto.land", "pull-request");
	auto_set("repo.upstream", "follow");
}
