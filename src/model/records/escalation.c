/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "escalation.h"
#include "notice.h"

const char *const escalation_level_words[ESCALATION_LEVEL_COUNT + 1] = {
	[ESCALATION_INFO] = "info",
	[ESCALATION_WARNING] = "warning",
	[ESCALATION_CRITICAL] = "critical",
	[ESCALATION_EMERGENCY] = "emergency",
};

static const enum escalation_level notice_levels[NOTICE_CLASS_COUNT] = {
	[NOTICE_FAILURE] = ESCALATION_EMERGENCY,
	[NOTICE_REPAIR] = ESCALATION_INFO,
	[NOTICE_LOGIN] = ESCALATION_CRITICAL,
	[NOTICE_WORKER] = ESCALATION_WARNING,
	[NOTICE_TASK] = ESCALATION_WARNING,
	[NOTICE_REVIEW] = ESCALATION_INFO,
	[NOTICE_BUDGET] = ESCALATION_WARNING,
	[NOTICE_LIMIT] = ESCALATION_INFO,
	[NOTICE_OUTAGE] = ESCALATION_INFO,
	[NOTICE_BRANCH] = ESCALATION_CRITICAL,
	[NOTICE_CHECK] = ESCALATION_WARNING,
	[NOTICE_CHECKOUT] = ESCALATION_WARNING,
	[NOTICE_PUSH] = ESCALATION_WARNING,
	[NOTICE_SETTINGS] = ESCALATION_WARNING,
	[NOTICE_STATE] = ESCALATION_CRITICAL,
	[NOTICE_GOAL] = ESCALATION_WARNING,
	[NOTICE_END] = ESCALATION_INFO,
};

static const struct {
	const char *intervention, *severity; /* severity NULL = any */
	enum escalation_level level;
} interventions[] = {
	{ "log", NULL, ESCALATION_INFO },
	{ "warn", NULL, ESCALATION_WARNING },
	{ "redirect", "critical", ESCALATION_CRITICAL },
	{ "redirect", NULL, ESCALATION_WARNING },
	{ "restart", NULL, ESCALATION_WARNING },
	{ "retry", NULL, ESCALATION_WARNING },
	{ "pause", NULL, ESCALATION_CRITICAL },
};

bool
escalation_of_intervention(const char *intervention, const char *severity,
    enum escalation_level *ret_level)
{
	for (size_t i = 0; i < nitems(interventions); i++) {
		if (strcmp(interventions[i].intervention, intervention) != 0 ||
		    (interventions[i].severity != NULL &&
			!text_is(severity, interventions[i].severity)))
			continue;
		*ret_level = interventions[i].level;
		return true;
	}
	return false;
}

bool
escalation_is_quiet(const char *intervention)
{
	return intervention != NULL &&
	    (strcmp(intervention, "log") == 0 ||
		strcmp(intervention, "warn") == 0);
}

static void
add_part(struct buf *out, const char *part)
{
	if (part != NULL)
		buf_addf(out, " %s", part);
}

void
escalation_of_notice(
    const struct notice *n, struct buf *out, struct escalation *ret_escalation)
{
	buf_clear(out);
	buf_adds(out, notice_name(n->class));
	if (n->signature != NULL) {
		add_part(out, n->signature);
	} else if (n->class != NOTICE_LOGIN) { /* that is all workers' */
		add_part(out, n->worker);
		add_part(out, n->task);
		add_part(out, n->goal);
		add_part(out, n->node);
	}
	*ret_escalation = (struct escalation){
		.level = notice_levels[n->class],
		.event = n->id,
		.class = notice_name(n->class),
		.title = notice_title(n),
		.text = n->why,
		.signature = out->data,
		.worker = n->worker,
		.task = n->task,
		.goal = n->goal,
		.node = n->node,
	};
}
