/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "launch.h"
#include "plan-text.h"

#define FIELD(key, member, ...)                       \
	SCHEMA_FIELD(struct task_launch, key, member, \
	    .flags = SCHEMA_OMIT_UNSET, ##__VA_ARGS__)

static const struct schema_field launch_fields[] = {
	FIELD("actor", actor),
	FIELD("parent", parent),
	FIELD("parent_actor", parent_actor),
	FIELD("depth", depth),
	FIELD("max_depth", max_depth),
	FIELD("local_max_depth", local_max_depth),
	FIELD("goal", goal),
	FIELD("role", role),
	FIELD("label", label),
	FIELD("agent", agent),
	FIELD("model", model),
	FIELD("thinking", thinking),
	FIELD("timeout_s", timeout_s),
	FIELD("tools_allow", tools_allow),
	FIELD("tools_deny", tools_deny),
	FIELD("tools_scoped", tools_scoped),
	FIELD("required_tools", required_tools),
	FIELD("wants", wants),
	FIELD("confined_by", confined_by),
	FIELD("permission_mode", permission_mode),
	FIELD("budget_tokens", budget_tokens),
	FIELD("budget_cost", budget_cost),
	FIELD("budget_ms", budget_ms),
	FIELD("budget_turns", budget_turns),
	FIELD("scope_paths", scope_paths),
	FIELD("read_only", read_only),
	FIELD("progress_reporting", progress_reporting),
	FIELD("report_only", report_only),
	FIELD("recovery", recovery),
	FIELD("contract", contract),
	/* In a plan of an earlier version. */
	PLAN_GONE("completion_report"),
	PLAN_GONE("request"),
	PLAN_GONE("retried_ms"),
	PLAN_GONE("root_actor"),
	PLAN_GONE("verification"),
};

const struct schema task_launch_schema =
    SCHEMA_OF(struct task_launch, launch_fields);
