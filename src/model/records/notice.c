/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "notice.h"

static const char *const names[NOTICE_CLASS_COUNT - 1] = { "failure", "repair",
	"login", "worker", "task", "review", "budget", "limit", "outage",
	"branch", "check", "checkout", "push", "settings", "state", "goal",
	"end" };

static const char *const words[NOTICE_CLASS_COUNT] = {
	[NOTICE_FAILURE] = "llmc has stopped because of a failure",
	[NOTICE_REPAIR] = "the overseer repairs a failure",
	[NOTICE_LOGIN] = "an agent needs a person",
	[NOTICE_WORKER] = "a worker waits for a person",
	[NOTICE_TASK] = "a task has failed",
	[NOTICE_REVIEW] = "work waits for a review",
	[NOTICE_BUDGET] = "a budget is reached",
	[NOTICE_LIMIT] = "a usage limit is waited for",
	[NOTICE_OUTAGE] = "the service cannot be reached",
	[NOTICE_BRANCH] = "work cannot land on the branch",
	[NOTICE_CHECK] = "the check of the landing branch is flaky",
	[NOTICE_CHECKOUT] = "uncommitted changes hold up the landings",
	[NOTICE_PUSH] = "a push failed",
	[NOTICE_SETTINGS] = "the settings are not valid",
	[NOTICE_STATE] = "the state was damaged",
	[NOTICE_GOAL] = "a goal needs a person, or is reached",
	[NOTICE_END] = "the run has ended",
};

const char *notice_name(enum notice_class class)
{
	return class == NOTICE_NONE ? NULL : names[class - 1];
}

const char *
notice_title(const struct notice *n)
{
	return n->what != NULL ? n->what : words[n->class];
}
