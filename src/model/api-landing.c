/* SPDX-License-Identifier: ISC */

#include "api-landing.h"
#include "api-shape.h"
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

static const struct schema accepted = {
	.fields =
	    FIELDS{
		RESULT_WORKER,
		LANDING_COMMIT,
		{ .name = "head_sha",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_NULLABLE,
		    .help = "the worker's commit that was accepted; null when "
			    "it is not known" },
		LANDING_BRANCH,
		LANDING_MESSAGE,
		{ .name = "status",
		    .type = SHAPE_STRING,
		    .choices =
			(const char *const[]){ "idle", "rebasing", NULL } },
		LANDING_CONFLICT,
		LANDING_BEFORE,
		END,
	    },
};

const struct schema_field api_landing_accept_result = RESULT(accepted);

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

static const struct schema picked = {
	.fields =
	    FIELDS{
		RESULT_WORKER,
		FIELD("success", SHAPE_BOOL, "true"),
		FIELD("commit_sha", SHAPE_STRING, "what landed"),
		FIELD("head_sha", SHAPE_STRING,
		    "the worker's last commit, which is part of it"),
		LANDING_BRANCH,
		FIELD("uncommitted_files", SHAPE_INT,
		    "files with uncommitted changes, which are part of it"),
		FIELD("salvage", SHAPE_STRING,
		    "ref that keeps its work as it was"),
		END,
	    },
};

const struct schema_field api_landing_pick_result = RESULT(picked);

static const struct schema reverted = {
	.fields =
	    FIELDS{
		FIELD("commit_sha", SHAPE_STRING, "the new commit"),
		FIELD("reverted_sha", SHAPE_STRING, "what it takes back"),
		LANDING_BRANCH,
		FIELD("commit_message", SHAPE_STRING, "of the new commit"),
		END,
	    },
};

const struct schema_field api_landing_revert_result = RESULT(reverted);

const struct schema_field api_landing_list_result = RESULT(landing_list_schema);
