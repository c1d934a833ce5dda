/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "auto.h"
#include "core.h"
#include "show.h"
#include "fleet.h"
#include "autod-private.h"
#include "forge-floor.h"
#include "hosts-floor.h"
#include "landing.h"
#include "oversight-floor.h"
#include "plan-floor.h"
#include "team-floor.h"

int
floors_build(struct floors *floors, struct loop *loop,
    const struct workspace *workspace, const struct core_options *options,
    struct err *err)
{
	int r;

	*floors = (struct floors){ 0 };
	r = core_new(loop, workspace, options, &floors->core, err);
	if (r < 0)
		return r;
	floors->fleet = fleet_new(floors->core);
	floors->landings = landings_new(floors->fleet);
	floors->auto_mode = auto_new(floors->fleet, floors->landings, err);
	if (floors->auto_mode == NULL) {
		floors_free(floors);
		return err->code;
	}
	floors->forge = forge_floor_new(floors->auto_mode);
	floors->hosts = hosts_floor_new(floors->auto_mode);
	floors->plan = plan_floor_new(floors->auto_mode);
	floors->oversight = oversight_floor_new(floors->auto_mode);
	floors->team = team_floor_new(floors->plan);
	floors->show =
	    show_floor_new(floors->team, floors->oversight, floors->hosts);
	return 0;
}

void
floors_free(struct floors *floors)
{
	show_floor_free(floors->show);
	team_floor_free(floors->team);
	oversight_floor_free(floors->oversight);
	plan_floor_free(floors->plan);
	hosts_floor_free(floors->hosts);
	forge_floor_free(floors->forge);
	auto_free(floors->auto_mode);
	landings_free(floors->landings);
	fleet_free(floors->fleet);
	core_free(floors->core);
}
