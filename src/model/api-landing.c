/* SPDX-License-Identifier: ISC */

#include "api-landing.h"
#include "api-shape.h"
#include "landing-item.h"
#include "landing-list.h"

#define SEEN                                                             \
	SCHEMA_MAY("commit", STRING,                                     \
	    "the worker's commit that the caller has seen, 7 digits or " \
	    "more; if its HEAD is another one, the call fails (changed)")

const struct schema api_landing_accept_params = {
	SCHEMA_FIELDS{
	    WORKER,
	    SCHEMA_MAY("force", BOOL,
		"also land the work of a worker that is paused or made no "
		"commit, with uncommitted changes"),
	    SEEN,
	    SCHEMA_END,
	},
};

const struct schema api_landing_review_params = {
	SCHEMA_FIELDS{
	    WORKER,
	    SCHEMA_MAY(
		"force", BOOL, "review the work whatever the worker's status"),
	    SCHEMA_END,
	},
};

const struct schema api_landing_reject_params = {
	SCHEMA_FIELDS{
	    WORKER,
	    SCHEMA_IS("text", STRING, "what the agent is told"),
	    SENDER,
	    SEEN,
	    SCHEMA_END,
	},
};

const struct schema api_landing_pick_params = {
	SCHEMA_FIELDS{
	    WORKER,
	    SEEN,
	    SCHEMA_END,
	},
};

const struct schema api_landing_revert_params = {
	SCHEMA_FIELDS{
	    SCHEMA_IS(
		"commit", STRING, "the commit to take back, 7 digits or more"),
	    SCHEMA_END,
	},
};

#define LANDING_COMMIT                                                    \
	{                                                                 \
		.name = "commit_sha", .type = SCHEMA_STRING,              \
		.flags = SCHEMA_NULLABLE,                                 \
		.help = "what landed; empty when it had already landed, " \
			"null when nothing did"                           \
	}
#define LANDING_BRANCH \
	SCHEMA_IS("landing_branch", STRING, "the branch that work lands on")
#define LANDING_MESSAGE                                          \
	{                                                        \
		.name = "commit_message", .type = SCHEMA_STRING, \
		.flags = SCHEMA_NULLABLE                         \
	}
#define LANDING_CONFLICT                             \
	SCHEMA_IS("needs_conflict_resolution", BOOL, \
	    "the worker resolves a conflict first")
#define LANDING_BEFORE \
	SCHEMA_IS("already_incorporated", BOOL, "it had already landed")

/* Of an item; what it does not have is added by whoever answers. */
#define ITEM(key, member, ...) \
	SCHEMA_FIELD(struct landing_item, key, member, ##__VA_ARGS__)
#define ITEM_HAS(key, member, words) \
	ITEM(key, member, .flags = SCHEMA_REQUIRED, .help = (words))

static const struct schema_field accepted_fields[] = {
	ITEM_HAS("worker", worker, NULL),
	LANDING_COMMIT,
	ITEM("head_sha", head,
	    .help = "the worker's commit that was accepted; null when it is "
		    "not known"),
	LANDING_BRANCH,
	ITEM("commit_message", message),
	{ .name = "status",
	    .type = SCHEMA_STRING,
	    .choices = (const char *const[]){ "idle", "rebasing", NULL } },
	ITEM("needs_conflict_resolution", conflict,
	    .help = "the worker resolves a conflict first"),
	ITEM("already_incorporated", incorporated,
	    .help = "it had already landed"),
};

const struct schema api_landing_accepted =
    SCHEMA_OF(struct landing_item, accepted_fields);
const struct schema_field api_landing_accept_result =
    RESULT(api_landing_accepted);

static const struct schema rebased = {
	SCHEMA_FIELDS{
	    RESULT_WORKER,
	    LANDING_COMMIT,
	    LANDING_BRANCH,
	    LANDING_MESSAGE,
	    { .name = "status",
		.type = SCHEMA_STRING,
		.choices =
		    (const char *const[]){ "needs_review", "rebasing", NULL } },
	    LANDING_CONFLICT,
	    LANDING_BEFORE,
	    SCHEMA_END,
	},
};

const struct schema_field api_landing_rebase_result = RESULT(rebased);

/* For finished work the result of rebasing it, else (forced) of messaging it;
 * with the commit to look at. */
static const struct schema reviewed = {
	SCHEMA_FIELDS{
	    RESULT_WORKER,
	    SCHEMA_OR_NULL("commit_sha", STRING,
		"the commit to review, its HEAD; null during a "
		"conflict"),
	    LANDING_BRANCH,
	    SCHEMA_MAY("uncommitted_files", INT,
		"files with changes that are in none of its commits"),
	    SCHEMA_MAY_OR_NULL("commit_message", STRING, NULL),
	    { .name = "status",
		.type = SCHEMA_STRING,
		.flags = SCHEMA_OPTIONAL,
		.choices =
		    (const char *const[]){ "needs_review", "rebasing", NULL },
		.help = "status of finished work after the rebase" },
	    SCHEMA_MAY("needs_conflict_resolution", BOOL,
		"the worker resolves a conflict first"),
	    SCHEMA_MAY("already_incorporated", BOOL, NULL),
	    SCHEMA_MAY("message_sent", BOOL, NULL),
	    SCHEMA_MAY("previous_status", STRING,
		"status of unfinished work, with force"),
	    SCHEMA_MAY("new_status", STRING, "the same"),
	    SCHEMA_END,
	},
};

const struct schema_field api_landing_review_result = RESULT(reviewed);

static const struct schema rejected = {
	SCHEMA_FIELDS{
	    RESULT_WORKER,
	    SCHEMA_IS("message_sent", BOOL, NULL),
	    RESULT_BEFORE,
	    RESULT_AFTER,
	    SCHEMA_OR_NULL("commit_sha", STRING,
		"the worker's commit that was rejected; null when "
		"the caller named none"),
	    SCHEMA_END,
	},
};

const struct schema_field api_landing_reject_result = RESULT(rejected);

static const struct schema_field picked_fields[] = {
	ITEM_HAS("worker", worker, NULL),
	SCHEMA_IS("success", BOOL, "true"),
	SCHEMA_IS("commit_sha", STRING, "what landed"),
	ITEM_HAS("head_sha", picked_head,
	    "the worker's last commit, which is part of it"),
	LANDING_BRANCH,
	ITEM("uncommitted_files", uncommitted,
	    .help = "files with uncommitted changes, which are part of it"),
	ITEM_HAS("salvage", words, "ref that keeps its work as it was"),
};

const struct schema api_landing_picked =
    SCHEMA_OF(struct landing_item, picked_fields);
const struct schema_field api_landing_pick_result = RESULT(api_landing_picked);

static const struct schema_field reverted_fields[] = {
	ITEM_HAS("commit_sha", commit, "the new commit"),
	ITEM_HAS("reverted_sha", head, "what it takes back"),
	LANDING_BRANCH,
	ITEM_HAS("commit_message", message, "of the new commit"),
};

const struct schema api_landing_reverted =
    SCHEMA_OF(struct landing_item, reverted_fields);
const struct schema_field api_landing_revert_result =
    RESULT(api_landing_reverted);

const struct schema_field api_landing_list_result = RESULT(landing_list_schema);
