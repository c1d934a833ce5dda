/* SPDX-License-Identifier: ISC */

/* The machine that llmc runs on: what it has left, the limits it can hold
 * programs to, and whether work may begin on it.
 *
 * What it has left: memory, disk, load. Reads a few small files of
 * /proc and asks one file system; nothing of it waits. */
#ifndef MACHINE_H
#define MACHINE_H

struct box_limits;
struct err;
struct machine;
struct preflight;
struct preflight_facts;
struct settings;
struct settings_problems;
struct workspace;

/* dir: on the file system of the worktrees. What cannot be had is -1. */
void machine_read(const char *dir, struct machine *ret_machine);

/* The part of the last ten seconds in which tasks stood still, "some" of them
 * or all ("full"), in whole percent, from the text of a file in /proc/pressure;
 * -1 = it does not say. */
int machine_pressure(const char *text, const char *who);

/* MemAvailable in the text of /proc/meminfo, in bytes; -1 = it is not there. */
int64_t machine_memory(const char *text);

/*
 * A place for limits (model/task/box-plan.h): a folder of cgroup v2 that was
 * delegated to us and has the controllers, or else a scope that systemd makes.
 * Small files of the kernel are read and written, nothing waits: a loop may do
 * this.
 */

/* Where to look, for tests; NULL members, and NULL for it all, mean this
 * machine. */
struct cgroup_world {
	const char *mount; /* of cgroup v2 */
	const char *self; /* instead of /proc/self/cgroup */
	const char *booted; /* exists where systemd manages the cgroups */
	const char *system_manager, *user_manager; /* sockets of systemd */
	const char *systemd_run; /* the program */
};

enum cgroup_way {
	CGROUP_NONE,
	CGROUP_FOLDER,
	CGROUP_SCOPE
};

struct cgroup_place {
	enum cgroup_way way;
	char *folder; /* in which a worker gets one of its own */
	char *systemd_run;
	bool as_root; /* ask the system's manager, not the user's */
	unsigned held; /* the limits that can be had: a set as in box-plan.h
			*/
	char *why; /* the others cannot be had; NULL = all wanted can */
};

/* Look for a place for these limits. Controllers that a delegated folder has
 * but does not pass on are turned on in it. Released by the caller. */
void cgroup_find(unsigned wanted, const struct cgroup_world *world,
    struct cgroup_place *ret_place);
void cgroup_place_release(struct cgroup_place *place);

/* Make the folder `name` with the limits that the place holds, as empty as it
 * can be; its path belongs to the caller. Only for CGROUP_FOLDER. */
int
cgroup_make(const struct cgroup_place *place, const struct box_limits *limits,
    const char *name, char **ret_dir, struct err *err);

/* How often the kernel has killed for memory in it; -1 = not known. */
int64_t cgroup_oom_kills(const char *dir);

/* The facts that model/settings/preflight.h judges before work without a person
 * begins: of Claude Code, git, the disk and the settings. */

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
