/* SPDX-License-Identifier: ISC */

/* Steps of a repair: a fix that was made in a worktree lands on the default
 * branch as one commit. */
#ifndef REPAIR_LAND_H
#define REPAIR_LAND_H

#include "operation.h"

/* What is not committed is saved, then discarded. */
operation_fn repair_land_clean;
operation_fn repair_land_rebase;
operation_fn repair_land_squash;
operation_fn repair_land_publish;
/* The worktree is at the branch again; what has not landed is saved. */
operation_fn repair_land_tidy;

#endif
