/* SPDX-License-Identifier: ISC */

#include "api-landing.h"
#include "api-shape.h"
#include "landing-item.h"
#include "landing-list.h"

#define SEEN                                                             \
	MAY("commit", SHAPE_STRING,                                      \
	    "the worker's commit that the caller has seen, 7 digits or " \
	    "more; if its HEAD is another one, the call fails (changed)")

const struct schema api_landing_accept_params = {
	.fields =
	    FIELDS{
		WORKER,
		MAY("force", SHAPE_BOOL,
		    "also land the work of a worker that is paused or made no "
		    "commit, with uncommitted changes"),
		SEEN,
		END,
	    },
};

const struct schema api_landing_review_params = {
	.fields =
	    FIELDS{
		WORKER,
		MAY("force", SHAPE_BOOL,
		    "review the work whatever the worker's status"),
		END,
	    },
};

const struct schema api_landing_reject_params = {
	.fields =
	    FIELDS{
		WORKER,
		FIELD("text", SHAPE_STRING, "what the agent is told"),
		SENDER,
		SEEN,
		END,
	    },
};

const struct schema api_landing_pick_params = {
	.fields = FIELDS{ WORKER, SEEN, END },
};

const struct schema api_landing_revert_params = {
	.fields =
	    FIELDS{
		FIELD("commit", SHAPE_STRING,
		    "the commit to take back, 7 digits or more"),
		END,
	    },
};

#define LANDING_COMMIT                                                    \
	{                                                                 \
		.name = "commit_sha", .type = SHAPE_STRING,               \
		.flags = SHAPE_NULLABLE,                                  \
		.help = "what landed; empty when it had already landed, " \
			"null when nothing did"                           \
	}
#define LANDING_BRANCH \
	FIELD("landing_branch", SHAPE_STRING, "the branch that work lands on")
#define LANDING_MESSAGE                                         \
	{                                                       \
		.name = "commit_message", .type = SHAPE_STRING, \
		.flags = SHAPE_NULLABLE                         \
	}
#define LANDING_CONFLICT                               \
	FIELD("needs_conflict_resolution", SHAPE_BOOL, \
	    "the worker resolves a conflict first")
#define LANDING_BEFORE \
	FIELD("already_incorporated", SHAPE_BOOL, "it had already landed")

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
	    .type = SHAPE_STRING,
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
	.fields =
	    FIELDS{
		RESULT_WORKER,
		LANDING_COMMIT,
		LANDING_BRANCH,
		LANDING_MESSAGE,
		{ .name = "status",
		    .type = SHAPE_STRING,
		    .choices = (const char *const[]){ "needs_review",
			"rebasing", NULL } },
		LANDING_CONFLICT,
		LANDING_BEFORE,
		END,
	    },
};

const struct schema_field api_landing_rebase_result = RESULT(rebased);

/* For finished work the result of rebasing it, else (forced) of messaging it;
 * with the commit to look at. */
static const struct schema reviewed = {
	.fields =
	    FIELDS{
		RESULT_WORKER,
		{ .name = "commit_sha",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_NULLABLE,
		    .help = "the commit to review, its HEAD; null during a "
			    "conflict" },
		LANDING_BRANCH,
		MAY("uncommitted_files", SHAPE_INT,
		    "files with changes that are in none of its commits"),
		{ .name = "commit_message",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_OPTIONAL | SHAPE_NULLABLE },
		{ .name = "status",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_OPTIONAL,
		    .choices = (const char *const[]){ "needs_review",
			"rebasing", NULL },
		    .help = "status of finished work after the rebase" },
		MAY("needs_conflict_resolution", SHAPE_BOOL,
		    "the worker resolves a conflict first"),
		MAY("already_incorporated", SHAPE_BOOL, NULL),
		MAY("message_sent", SHAPE_BOOL, NULL),
		MAY("previous_status", SHAPE_STRING,
		    "status of unfinished work, with force"),
		MAY("new_status", SHAPE_STRING, "the same"),
		END,
	    },
};

const struct schema_field api_landing_review_result = RESULT(reviewed);

static const struct schema rejected = {
	.fields =
	    FIELDS{
		RESULT_WORKER,
		FIELD("message_sent", SHAPE_BOOL, NULL),
		RESULT_BEFORE,
		RESULT_AFTER,
		{ .name = "commit_sha",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_NULLABLE,
		    .help = "the worker's commit that was rejected; null when "
			    "the caller named none" },
		END,
	    },
};

const struct schema_field api_landing_reject_result = RESULT(rejected);

static const struct schema_field picked_fields[] = {
	ITEM_HAS("worker", worker, NULL),
	FIELD("success", SHAPE_BOOL, "true"),
	FIELD("commit_sha", SHAPE_STRING, "what landed"),
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
