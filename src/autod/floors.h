/* SPDX-License-Identifier: ISC */

/* Puts the floors of the daemon together. */
#ifndef FLOORS_H
#define FLOORS_H

struct auto_mode;
struct forge_floor;
struct core;
struct core_options;
struct err;
struct show_floor;
struct fleet;
struct hosts_floor;
struct landings;
struct loop;
struct oversight_floor;
struct plan_floor;
struct team_floor;
struct workspace;

struct floors {
	struct core *core;
	struct fleet *fleet;
	struct landings *landings;
	struct auto_mode *auto_mode;
	struct forge_floor *forge;
	struct hosts_floor *hosts; /* NULL = this host works alone */
	struct plan_floor *plan;
	struct oversight_floor *oversight;
	struct team_floor *team;
	struct show_floor *show;
};

/* On negative errno nothing is held. */
int floors_build(struct floors *floors, struct loop *loop,
    const struct workspace *workspace, const struct core_options *options,
    struct err *err);
void floors_free(struct floors *floors);

#endif
