/* SPDX-License-Identifier: ISC */

/* The shapes of the records of goals and plans, as they are stored, for the
 * tables of the RPC methods. */
#ifndef API_PLAN_RECORD_H
#define API_PLAN_RECORD_H

struct shape;

extern const struct shape api_plan_strings; /* elements of a list */
extern const struct shape api_plan_evidence;
extern const struct shape api_plan_goal; /* with its nodes */
extern const struct shape api_plan_node;
extern const struct shape api_plan_assignments; /* elements of a list */
extern const struct shape api_plan_assignment;
extern const struct shape api_plan_summary;

#endif
