/* SPDX-License-Identifier: ISC */

/* The facts that model/settings/preflight.h judges before work without a person
 * begins: of Claude Code, git, the disk and the settings. */
#ifndef START_FACTS_H
#define START_FACTS_H

struct err;
struct preflight;
struct preflight_facts;
struct settings;
struct settings_problems;
struct workspace;

/* What is known of a worker's agent without running a program: small files are
 * read, so a loop may do this. Released with preflight_facts_release(). */
void start_facts_agent(const struct workspace *workspace,
    const struct settings *settings, const char *worker,
    struct preflight_facts *ret_facts);

/* All of them. Runs git and the agent, and waits for them: never from inside a
 * loop. The facts refer to settings and problems (NULL = none). */
void start_facts_read(const struct workspace *workspace,
    const struct settings *settings, const struct settings_problems *problems,
    const char *config, struct preflight_facts *ret_facts);

/* Read the settings and all facts, and judge them. needs_check: auto mode must
 * not start before a person has chosen auto.check_command. Negative errno if
 * there are no settings to read. Released with preflight_release(). */
int start_facts_check(const struct workspace *workspace, bool needs_check,
    struct preflight *ret_preflight, struct err *err);

#endif
