/* SPDX-License-Identifier: ISC */

/* Steps of a repair: a fix that was made in a worktree lands on the default
 * branch as one commit. */
#ifndef REPAIR_LAND_H
#define REPAIR_LAND_H

#include "operation.h"

operation_fn repair_land_rebase;
operation_fn repair_land_squash;
operation_fn repair_land_publish;
operation_fn repair_land_tidy; /* the worktree is set back */

#endif
