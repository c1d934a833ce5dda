/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-card.h"
#include "agent-report.h"
#include "api-shape.h"
#include "api-team.h"
#include "attempt.h"
#include "contract.h"
#include "mail.h"
#include "review.h"
#include "spawn-rules.h"
#include "work-record.h"

/* An id of the tool call, by which a call that is made again after the daemon
 * was away is known. llmc mcp adds it; the agent does not see it. */
#define CALL                                                            \
	{                                                               \
		.name = "call", .type = SCHEMA_STRING, .max = 256,      \
		.flags = SCHEMA_OPTIONAL, .help = "id of the tool call" \
	}
/* The daemon adds it; what a caller sends is replaced. */
#define SELF                                                         \
	{                                                            \
		.name = "worker", .type = SCHEMA_STRING,             \
		.flags = SCHEMA_OPTIONAL, .help = "whose call it is" \
	}
/* A list of strings of a report, or one. */
#define MAY_LINES(member, words)                                             \
	{                                                                    \
		.name = (member), .type = SCHEMA_LIST,                       \
		.size = COMPLETION_ENTRY_MAX, .max = COMPLETION_ENTRIES_MAX, \
		.help = (words), .flags = SCHEMA_OPTIONAL | SCHEMA_OR_STRING \
	}

#define BODY_MAX       65536
#define LINE_MAX_BYTES 1024

const struct schema api_team_no_params = { SCHEMA_FIELDS{
    SELF,
    CALL,
    SCHEMA_END,
} };

/* --- reports ---------------------------------------------------------- */

static const struct schema metric = { SCHEMA_FIELDS{
    { .type = SCHEMA_NUMBER, .flags = SCHEMA_OR_STRING } } };
static const char *const progress_levels[] = { "L0_operational",
	"L1_plan_update", "L2_detail", NULL };
static const char *const completion_words[] = { "complete", "partial", "failed",
	NULL };
static const char *const confidence_words[] = { "high", "medium", "low", NULL };

const struct schema api_team_progress_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    TEXT("phase", PROGRESS_PHASE_MAX, "the phase or step you are in"),
	    SCHEMA_MAY("percentComplete", NUMBER, "from 0 to 100", .min = 0,
		.max = 100),
	    MAY_SAY("level", progress_levels,
		"L1 if the plan has changed; L0 is the default"),
	    SCHEMA_MAY("metrics", MAP, "names with a string or a number",
		.of = &metric, .max = 50),
	    SCHEMA_END,
	},
};

static const struct schema artifact = {
	SCHEMA_FIELDS{
	    TEXT("path", COMPLETION_ENTRY_MAX,
		"relative to the top of the worktree"),
	    MAY_TEXT("description", COMPLETION_ENTRY_MAX, "what it is"),
	    SCHEMA_END,
	},
};

static const struct schema finding = {
	SCHEMA_FIELDS{
	    MAY_TEXT("file", COMMENT_FILE_MAX,
		"relative to the top of the worktree"),
	    MAY_INT("line", 0, 10000000, "where it is"),
	    TEXT("text", COMMENT_TEXT_MAX, "what is wrong"),
	    SCHEMA_END,
	},
};

const struct schema api_team_completion_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    MAY_SAY("status", completion_words, "how it ended"),
	    MAY_SAY("confidence", confidence_words, "in the result"),
	    MAY_LIST("artifacts", artifact, COMPLETION_ENTRIES_MAX,
		"files made: path and description"),
	    MAY_LINES("blockers", "what is missing"),
	    { .name = "summary",
		.type = SCHEMA_STRING,
		.max = COMPLETION_SUMMARY_MAX,
		.flags = SCHEMA_OPTIONAL | SCHEMA_WANTED,
		.help = "what was done" },
	    MAY_LINES("warnings", "what the reader should know"),
	    MAY_SAY("result", completion_result_words,
		"report: summary is the wanted answer"),
	    MAY_SAY("verdict", review_verdict_words, "of a review"),
	    MAY_LIST("findings", finding, COMPLETION_ENTRIES_MAX,
		"of a review: file, line, text of what must be changed"),
	    SCHEMA_END,
	},
};

/* --- spawning --------------------------------------------------------- */

const struct schema api_team_spawn_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    TEXT("spawn_reason", 4096, "why the task is to be split"),
	    SCHEMA_IS("requested_subagents", ROWS,
		"one entry for each agent; it may also have label, thinking, "
		"allowPartial (land a part), ownBudget (not of yours), "
		"toolsAllow and toolsDeny (names of tools), and verification "
		"{artifacts: [{path, json, minItems, requiredKeys, minBytes}]}",
		.of = &spawn_entry_schema, .min = 1, .max = 20,
		.flags = SCHEMA_ADVICE),
	    SCHEMA_MAY("wait", BOOL,
		"wait for the decision; true is the default. Results come "
		"later by themselves."),
	    SCHEMA_END,
	},
};

const struct schema api_team_status_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    MAY_TEXT("actor_id", 128,
		"one of them; if absent, all that are below you"),
	    SCHEMA_END,
	},
};

/* --- mail ------------------------------------------------------------- */

static const char *const mail_kinds[] = { "instruction", "info", "alert",
	NULL };

#define MAIL_FIELDS                                                   \
	TEXT("subject", LINE_MAX_BYTES, "such as result.ready:T1.2"), \
	    TEXT("body", BODY_MAX, "the text"),                       \
	    MAY_WORD("kind", mail_kinds, "info is the default"),      \
	    SCHEMA_MAY("ack_required", BOOL,                          \
		"it is delivered again until it is confirmed"),       \
	    MAY_TEXT("reply_to", 128, "id of the mail that this answers")

const struct schema api_team_send_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    TEXT("to", 128,
		"an actor id, a worker's name, \"parent\" or \"person\""),
	    MAIL_FIELDS,
	    SCHEMA_END,
	},
};

const struct schema api_team_inbox_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    SCHEMA_MAY(
		"unread", BOOL, "only what is new or waits to be confirmed"),
	    MAY_INT("limit", 1, 200, "the newest; 20 is the default"),
	    MAY_TEXT("id", 128, "this one, whole"),
	    SCHEMA_END,
	},
};

const struct schema api_team_ack_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    TEXT("id", 128, "of the mail"),
	    SCHEMA_END,
	},
};

const struct schema api_mail_send_params = {
	SCHEMA_FIELDS{
	    TEXT("to", 128,
		"an actor id, or a worker's name; HOST:NAME in a fleet"),
	    MAIL_FIELDS,
	    SCHEMA_END,
	},
};

const struct schema api_mail_deliver_params = {
	SCHEMA_FIELDS{
	    TEXT("from_host", 128, "the host that has sent it"),
	    SCHEMA_IS("mail", OBJECT, "its record"),
	    SCHEMA_END,
	},
};

const struct schema api_mail_inbox_params = {
	SCHEMA_FIELDS{
	    MAY_TEXT("of", 128,
		"an actor id or a worker's name; if absent, the person's"),
	    SCHEMA_MAY("all", BOOL, "of everybody"),
	    SCHEMA_MAY(
		"unread", BOOL, "only what is new or waits to be confirmed"),
	    MAY_INT("limit", 1, 1000, "the newest; 50 is the default"),
	    SCHEMA_END,
	},
};

const struct schema api_mail_params = {
	SCHEMA_FIELDS{
	    TEXT("id", 128, "of the mail"),
	    SCHEMA_END,
	},
};

const struct schema api_mail_sent = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("id", STRING, "of the mail"),
	    SCHEMA_IS("to", STRING, "an actor id"),
	    SCHEMA_MAY("to_worker", STRING, "its worker now"),
	    SCHEMA_MAY("to_host", STRING, "the host that it was sent to"),
	    SCHEMA_MAY("note", STRING, "why it will not be read"),
	    SCHEMA_END,
	},
};

const struct schema_field api_mail_result = RESULT(mail_schema);
const struct schema_field api_mail_sent_result = RESULT(api_mail_sent);
const struct schema_field api_mail_list_result = {
	.type = SCHEMA_ROWS,
	.of = &mail_schema,
};

/* --- reservations ------------------------------------------------------ */

const struct schema api_team_reserve_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    SCHEMA_IS("paths", LIST,
		"files, or folders with all that is in them, "
		"relative to the top of the worktree",
		.min = 1, .max = 200, .size = 4096),
	    MAY_INT("ttl_seconds", 1, 86400, "3600 is the default"),
	    MAY_TEXT("reason", LINE_MAX_BYTES, "what for"),
	    SCHEMA_END,
	},
};

const struct schema api_team_release_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    MAY_STRINGS("paths", 200, "if absent, all of yours"),
	    SCHEMA_END,
	},
};

const struct schema api_reservation_params = {
	SCHEMA_FIELDS{
	    TEXT("id", 128, "of the reservation"),
	    SCHEMA_END,
	},
};

const struct schema api_reservation = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("id", STRING, NULL),
	    SCHEMA_IS("path", STRING, "a file, or a folder with all in it"),
	    SCHEMA_IS("actor_id", STRING, "whose it is"),
	    SCHEMA_MAY("worker", STRING, "that it is now"),
	    SCHEMA_MAY("task", STRING, "that it ends with"),
	    SCHEMA_IS("until_ms", INT, "when it ends by itself"),
	    SCHEMA_MAY("reason", STRING, "what for"),
	    SCHEMA_END,
	},
	.help = "what an agent has reserved",
};

const struct schema_field api_reservation_result = RESULT(api_reservation);
const struct schema_field api_reservation_list_result = {
	.type = SCHEMA_ROWS,
	.of = &api_reservation,
};

/* --- questions --------------------------------------------------------- */

const struct schema api_team_request_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    TEXT("message", BODY_MAX, "the question, complete in itself"),
	    MAY_STRINGS("options", 20, "answers to choose from"),
	    MAY_INT("timeoutSeconds", 1, 1000000000,
		"10 to 3600; 300 by default, 3600 if a person is asked"),
	    SCHEMA_END,
	},
};

const struct schema api_team_respond_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    TEXT("requestId", 128, "of the question"),
	    TEXT("response", BODY_MAX, "the answer"),
	    SCHEMA_END,
	},
};

const struct schema api_request_answer_params = {
	SCHEMA_FIELDS{
	    TEXT("id", 128, "of the question"),
	    TEXT("response", BODY_MAX, "the answer"),
	    SCHEMA_END,
	},
};

const struct schema api_team_review_params = {
	SCHEMA_FIELDS{
	    SELF,
	    CALL,
	    TEXT("reason", 4096, "what does not fit"),
	    MAY_TEXT("suggestion", 4096, "what would"),
	    SCHEMA_END,
	},
};

/* --- answers ----------------------------------------------------------- */

static const struct schema answer = { SCHEMA_FIELDS{
					  SCHEMA_END,
				      },
	.open = true };
const struct schema_field api_team_answer = RESULT(answer);

const struct schema api_request = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("requestId", STRING, NULL),
	    SCHEMA_IS("status", STRING, NULL, .choices = request_state_words),
	    SCHEMA_MAY("response", STRING, "the answer"),
	    SCHEMA_MAY("responder", STRING, "who gave it"),
	    SCHEMA_MAY("message", STRING,
		"what to do without one, or how it is given"),
	    SCHEMA_END,
	},
	.help = "how a question of an agent has ended",
};

const struct schema_field api_request_result = RESULT(api_request);

static const struct schema tree_completion = {
	SCHEMA_FIELDS{
	    SCHEMA_MAY("status", STRING, "complete, partial or failed"),
	    SCHEMA_MAY("confidence", STRING, "high, medium or low"),
	    SCHEMA_END,
	},
	.help = "what it reported at its end",
};

static const struct schema tree_progress = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("phase", STRING, NULL),
	    SCHEMA_MAY("percentComplete", NUMBER, NULL),
	    SCHEMA_END,
	},
	.open = true,
	.help = "its last report of progress",
};

static const struct schema tree_member = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("actor_id", STRING, NULL),
	    SCHEMA_IS("parent_actor_id", STRING, "who spawned it"),
	    SCHEMA_IS("depth", INT, "1 = by the daemon itself"),
	    SCHEMA_IS("max_depth", INT, "of the whole tree"),
	    SCHEMA_IS("local_max_depth", INT, "of those below it"),
	    SCHEMA_MAY("role", STRING, NULL),
	    SCHEMA_MAY("label", STRING, NULL),
	    SCHEMA_MAY("agent", STRING, "its card"),
	    SCHEMA_MAY("title", STRING, "what it works on"),
	    SCHEMA_MAY("goal", STRING, NULL),
	    SCHEMA_MAY("node", STRING, NULL),
	    SCHEMA_MAY("task", STRING, NULL),
	    SCHEMA_MAY("worker", STRING, "that it is now"),
	    SCHEMA_MAY("workerStatus", STRING, "the status of that"),
	    SCHEMA_MAY("root_actor_id", STRING, "the root of its tree"),
	    SCHEMA_MAY("session_id", STRING, "or the words none yet"),
	    SCHEMA_IS("runStatus", STRING, "how it is doing",
		.choices = run_status_words),
	    SCHEMA_IS(
		"pendingRequestCount", INT, "its questions without an answer"),
	    SCHEMA_MAY(
		"blockedReason", STRING, "why it is blocked, or has failed"),
	    SCHEMA_MAY("verification", STRING, "of its contract"),
	    SCHEMA_MAY("completion", OBJECT, NULL, .of = &tree_completion),
	    SCHEMA_MAY("progress", OBJECT, NULL, .of = &tree_progress),
	    SCHEMA_END,
	},
	.help = "one agent, below the one that spawned it",
};

const struct schema_field api_team_tree_result = {
	.type = SCHEMA_ROWS,
	.of = &tree_member,
};
