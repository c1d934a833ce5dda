/* SPDX-License-Identifier: ISC */

/*
 * A place for limits (model/task/box-plan.h): a folder of cgroup v2 that was
 * delegated to us and has the controllers, or else a scope that systemd makes.
 * Small files of the kernel are read and written, nothing waits: a loop may do
 * this.
 */
#ifndef CGROUP_H
#define CGROUP_H

struct box_limits;
struct err;

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

#endif
