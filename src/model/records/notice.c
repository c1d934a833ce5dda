/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "notice.h"

static const struct {
	const char *name, *title;
	enum escalation_level level;
} classes[NOTICE_CLASS_COUNT] = {
	[NOTICE_FAILURE] = { "failure", "llmc has stopped because of a failure",
	    ESCALATION_EMERGENCY },
	[NOTICE_REPAIR] = { "repair", "the overseer repairs a failure",
	    ESCALATION_INFO },
	[NOTICE_LOGIN] = { "login", "an agent needs a person",
	    ESCALATION_CRITICAL },
	[NOTICE_WORKER] = { "worker", "a worker waits for a person",
	    ESCALATION_WARNING },
	[NOTICE_TASK] = { "task", "a task has failed", ESCALATION_WARNING },
	[NOTICE_REVIEW] = { "review", "work waits for a review",
	    ESCALATION_INFO },
	[NOTICE_BUDGET] = { "budget", "a budget is reached",
	    ESCALATION_WARNING },
	[NOTICE_LIMIT] = { "limit", "a usage limit is waited for",
	    ESCALATION_INFO },
	[NOTICE_OUTAGE] = { "outage", "the service cannot be reached",
	    ESCALATION_INFO },
	[NOTICE_BRANCH] = { "branch", "work cannot land on the branch",
	    ESCALATION_CRITICAL },
	[NOTICE_CHECK] = { "check", "the check of the landing branch is flaky",
	    ESCALATION_WARNING },
	[NOTICE_CHECKOUT] = { "checkout",
	    "uncommitted changes hold up the landings", ESCALATION_WARNING },
	[NOTICE_PUSH] = { "push", "a push failed", ESCALATION_WARNING },
	[NOTICE_SETTINGS] = { "settings", "the settings are not valid",
	    ESCALATION_WARNING },
	[NOTICE_STATE] = { "state", "the state was damaged",
	    ESCALATION_CRITICAL },
	[NOTICE_GOAL] = { "goal", "a goal needs a person, or is reached",
	    ESCALATION_WARNING },
	[NOTICE_END] = { "end", "the run has ended", ESCALATION_INFO },
};

const char *notice_name(enum notice_class class)
{
	return classes[class].name;
}

const char *
notice_title(const struct notice *n)
{
	return n->what != NULL ? n->what : classes[n->class].title;
}

/* --- what is wanted of a person ---------------------------------------- */

const char *const ask_kind_words[ASK_KIND_COUNT + 1] = {
	[ASK_NONE] = "none",
	[ASK_QUESTION] = "question",
	[ASK_APPROVAL] = "approval",
	[ASK_BLOCKED] = "blocked",
	[ASK_FAILURE] = "failure",
	[ASK_BUDGET] = "budget",
	[ASK_REVIEW] = "review",
	[ASK_TOLD] = "told",
};

/* --- how urgent it is ------------------------------------------------ */

const char *const escalation_level_words[ESCALATION_LEVEL_COUNT + 1] = {
	[ESCALATION_INFO] = "info",
	[ESCALATION_WARNING] = "warning",
	[ESCALATION_CRITICAL] = "critical",
	[ESCALATION_EMERGENCY] = "emergency",
};

static const struct {
	const char *intervention, *severity; /* severity NULL = any */
	enum escalation_level level;
} interventions[] = {
	{ "log", NULL, ESCALATION_INFO },
	{ "warn", NULL, ESCALATION_WARNING },
	{ "redirect", "critical", ESCALATION_CRITICAL },
	{ "redirect", NULL, ESCALATION_WARNING },
	{ "restart", "critical", ESCALATION_CRITICAL },
	{ "restart", NULL, ESCALATION_WARNING },
	{ "retry", "critical", ESCALATION_CRITICAL },
	{ "retry", NULL, ESCALATION_WARNING },
	{ "pause", NULL, ESCALATION_CRITICAL },
	{ "abort", NULL, ESCALATION_EMERGENCY },
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
		.level = n->informs ? ESCALATION_INFO : classes[n->class].level,
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
