/* SPDX-License-Identifier: ISC */

#include "api-shape.h"
#include "api-team.h"
#include "mail.h"
#include "plan-text.h"
#include "request.h"
#include "run-status.h"

/* An id of the tool call, by which a call that is made again after the daemon
 * was away is known. llmc mcp adds it; the agent does not see it. */
#define CALL                                                           \
	{                                                              \
		.name = "call", .type = SHAPE_STRING, .max = 256,      \
		.flags = SHAPE_OPTIONAL, .help = "id of the tool call" \
	}
/* The daemon adds it; what a caller sends is replaced. */
#define SELF                                                        \
	{                                                           \
		.name = "worker", .type = SHAPE_STRING,             \
		.flags = SHAPE_OPTIONAL, .help = "whose call it is" \
	}
#define TEXT(member, bytes, words)                                \
	{                                                         \
		.name = (member), .type = SHAPE_STRING, .min = 1, \
		.max = (bytes), .help = (words)                   \
	}
#define MAY_TEXT(member, bytes, words)                                  \
	{                                                               \
		.name = (member), .type = SHAPE_STRING, .max = (bytes), \
		.flags = SHAPE_OPTIONAL, .help = (words)                \
	}
#define MAY_WORD(member, list, words)                                      \
	{                                                                  \
		.name = (member), .type = SHAPE_STRING, .choices = (list), \
		.flags = SHAPE_OPTIONAL, .help = (words)                   \
	}
/* A word that the handler may understand in other spellings too. */
#define MAY_SAY(member, list, words)                               \
	{                                                          \
		.name = (member), .type = SHAPE_STRING, .max = 64, \
		.choices = (list), .help = (words),                \
		.flags = SHAPE_OPTIONAL | SHAPE_ADVICE             \
	}
#define MAY_INT(member, low, high, words)                               \
	{                                                               \
		.name = (member), .type = SHAPE_INT, .min = (low),      \
		.max = (high), .flags = SHAPE_OPTIONAL, .help = (words) \
	}
#define MAY_STRINGS(member, count, words)                                \
	{                                                                \
		.name = (member), .type = SCHEMA_LIST, .size = 4096,     \
		.max = (count), .flags = SHAPE_OPTIONAL, .help = (words) \
	}
/* A list of strings, or one. */
#define MAY_LINES(member, count, words)                              \
	{                                                            \
		.name = (member), .type = SCHEMA_LIST, .size = 4096, \
		.max = (count), .help = (words),                     \
		.flags = SHAPE_OPTIONAL | SHAPE_OR_STRING            \
	}
#define MAY_LIST(member, shape, count, words)                            \
	{                                                                \
		.name = (member), .type = SCHEMA_ROWS, .of = &(shape),   \
		.max = (count), .flags = SHAPE_OPTIONAL, .help = (words) \
	}

#define BODY_MAX       65536
#define LINE_MAX_BYTES 1024

const struct schema api_team_no_params = { .fields =
					       FIELDS{ SELF, CALL, END } };

/* --- reports ---------------------------------------------------------- */

static const struct schema metric = {
	.fields = FIELDS{ { .type = SHAPE_NUMBER, .flags = SHAPE_OR_STRING } }
};
static const char *const progress_levels[] = { "L0_operational",
	"L1_plan_update", "L2_detail", NULL };
static const char *const completion_words[] = { "complete", "partial", "failed",
	NULL };
static const char *const confidence_words[] = { "high", "medium", "low", NULL };

const struct schema api_team_progress_params = {
	.fields =
	    FIELDS{
		SELF,
		CALL,
		TEXT("phase", LINE_MAX_BYTES, "the phase or step you are in"),
		{ .name = "percentComplete",
		    .type = SHAPE_NUMBER,
		    .flags = SHAPE_OPTIONAL,
		    .min = 0,
		    .max = 100,
		    .help = "from 0 to 100" },
		MAY_SAY("level", progress_levels,
		    "L1 if the plan has changed; L0 is the default"),
		{ .name = "metrics",
		    .type = SHAPE_MAP,
		    .of = &metric,
		    .flags = SHAPE_OPTIONAL,
		    .max = 50,
		    .help = "names with a string or a number" },
		END,
	    },
};

static const struct schema artifact = {
	.fields =
	    FIELDS{
		TEXT("path", 4096, "relative to the top of the worktree"),
		MAY_TEXT("description", 4096, "what it is"),
		END,
	    },
};

const struct schema api_team_completion_params = {
	.fields =
	    FIELDS{
		SELF,
		CALL,
		MAY_SAY("status", completion_words, "how it ended"),
		MAY_SAY("confidence", confidence_words, "in the result"),
		MAY_LIST("artifacts", artifact, 200, "files you have made"),
		MAY_LINES("blockers", 200, "what kept you from the rest"),
		{ .name = "summary",
		    .type = SHAPE_STRING,
		    .max = BODY_MAX,
		    .flags = SHAPE_OPTIONAL | SHAPE_WANTED,
		    .help = "what was accomplished" },
		MAY_LINES("warnings", 200, "what the reader should know"),
		END,
	    },
};

/* --- spawning --------------------------------------------------------- */

static const struct schema contract_artifact = {
	.fields =
	    FIELDS{
		TEXT("path", 4096, "of a file, relative to the worktree"),
		MAY("json", SHAPE_BOOL, "it must be valid JSON"),
		MAY_INT("minItems", 0, 1000000000,
		    "it must be a JSON array with at least so many items"),
		MAY_STRINGS("requiredKeys", 200,
		    "every item of that array must have these keys"),
		MAY_INT("minBytes", 0, 1000000000, "its least size"),
		END,
	    },
};

const struct schema api_contract = {
	.fields =
	    FIELDS{
		MAY_LIST("artifacts", contract_artifact, 200,
		    "files that must be there, changed by this work"),
		MAY("requireCompletionReport", SHAPE_BOOL,
		    "its last tool call must be report_completion"),
		MAY_WORD("onFailure",
		    ((const char *const[]){
			"retry_once", "escalate", "fail", NULL }),
		    "what happens if a check fails; fail is the default"),
		MAY_INT("verificationTimeoutMs", 1, 3600000,
		    "for all checks; 30000 is the default"),
		END,
	    },
};

static const struct schema subagent = {
	.fields =
	    FIELDS{
		TEXT("role", 64, "such as coder, reviewer or fixer"),
		TEXT("task", PLAN_TEXT_MAX,
		    "what it is to do, complete in itself: it sees nothing of "
		    "your conversation"),
		MAY_TEXT("suggested_actor_id", 128, "such as team:backend"),
		MAY_INT("local_max_depth", 0, 100,
		    "how deep agents may be below it"),
		MAY_TEXT("agent", 64, "name of an agent of the fleet table"),
		MAY_TEXT("label", 100, "a short name for people"),
		MAY_TEXT("model", 128, "the model it runs on"),
		MAY_TEXT("thinking", 32, "how hard it thinks"),
		MAY_INT("runTimeoutSeconds", 1, 604800,
		    "the attempt ends after this time"),
		MAY_STRINGS("toolsAllow", 200, "only these tools"),
		MAY_STRINGS("toolsDeny", 200, "not these tools"),
		MAY_STRINGS(
		    "scope_paths", 200, "files and folders that it may change"),
		{ .name = "verification",
		    .type = SHAPE_OBJECT,
		    .of = &api_contract,
		    .flags = SHAPE_OPTIONAL,
		    .help = "what must be there when it ends" },
		MAY("completionReport", SHAPE_BOOL,
		    "it is told to end with report_completion"),
		MAY("progressReporting", SHAPE_BOOL,
		    "it is told to report its progress"),
		END,
	    },
};

const struct schema api_team_spawn_params = {
	.fields =
	    FIELDS{
		SELF,
		CALL,
		TEXT("spawn_reason", 4096, "why the task is to be split"),
		{ .name = "requested_subagents",
		    .type = SCHEMA_ROWS,
		    .of = &subagent,
		    .min = 1,
		    .max = 20,
		    .help = "one entry for each agent" },
		MAY("wait", SHAPE_BOOL,
		    "wait for the decision; true is the default. Results come "
		    "later by themselves."),
		END,
	    },
};

const struct schema api_team_status_params = {
	.fields =
	    FIELDS{
		SELF,
		CALL,
		MAY_TEXT("actor_id", 128,
		    "one of them; if absent, all that are below you"),
		END,
	    },
};

/* --- mail ------------------------------------------------------------- */

static const char *const mail_kinds[] = { "instruction", "info", "alert",
	NULL };

#define MAIL_FIELDS                                                   \
	TEXT("subject", LINE_MAX_BYTES, "such as result.ready:T1.2"), \
	    TEXT("body", BODY_MAX, "the text"),                       \
	    MAY_WORD("kind", mail_kinds, "info is the default"),      \
	    MAY("ack_required", SHAPE_BOOL,                           \
		"it is delivered again until it is confirmed"),       \
	    MAY_TEXT("reply_to", 128, "id of the mail that this answers")

const struct schema api_team_send_params = {
	.fields =
	    FIELDS{
		SELF,
		CALL,
		TEXT("to", 128,
		    "an actor id, a worker's name, \"parent\", \"overseer\" or "
		    "\"person\""),
		MAIL_FIELDS,
		END,
	    },
};

const struct schema api_team_inbox_params = {
	.fields =
	    FIELDS{
		SELF,
		CALL,
		MAY("unread", SHAPE_BOOL,
		    "only what is new or waits to be confirmed"),
		MAY_INT("limit", 1, 200, "the newest; 20 is the default"),
		MAY_TEXT("id", 128, "this one, whole"),
		END,
	    },
};

const struct schema api_team_ack_params = {
	.fields = FIELDS{ SELF, CALL, TEXT("id", 128, "of the mail"), END },
};

const struct schema api_mail_send_params = {
	.fields =
	    FIELDS{
		TEXT("to", 128, "an actor id, or a worker's name"),
		MAIL_FIELDS,
		END,
	    },
};

const struct schema api_mail_inbox_params = {
	.fields =
	    FIELDS{
		MAY_TEXT("of", 128,
		    "an actor id or a worker's name; if absent, the person's"),
		MAY("all", SHAPE_BOOL, "of everybody"),
		MAY("unread", SHAPE_BOOL,
		    "only what is new or waits to be confirmed"),
		MAY_INT("limit", 1, 1000, "the newest; 50 is the default"),
		END,
	    },
};

const struct schema api_mail_params = {
	.fields = FIELDS{ TEXT("id", 128, "of the mail"), END },
};

const struct schema api_mail_sent = {
	.fields =
	    FIELDS{
		FIELD("id", SHAPE_STRING, "of the mail"),
		FIELD("to", SHAPE_STRING, "an actor id"),
		MAY("to_worker", SHAPE_STRING, "its worker now"),
		MAY("note", SHAPE_STRING, "why nobody will read it"),
		END,
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
	.fields =
	    FIELDS{
		SELF,
		CALL,
		{ .name = "paths",
		    .type = SCHEMA_LIST,
		    .size = 4096,
		    .min = 1,
		    .max = 200,
		    .help = "files, or folders with all that is in them, "
			    "relative to the top of the worktree" },
		MAY_INT("ttl_seconds", 1, 86400, "3600 is the default"),
		MAY_TEXT("reason", LINE_MAX_BYTES, "what for"),
		END,
	    },
};

const struct schema api_team_release_params = {
	.fields =
	    FIELDS{
		SELF,
		CALL,
		MAY_STRINGS("paths", 200, "if absent, all of yours"),
		END,
	    },
};

/* --- questions --------------------------------------------------------- */

const struct schema api_team_request_params = {
	.fields =
	    FIELDS{
		SELF,
		CALL,
		TEXT("message", BODY_MAX, "the question, complete in itself"),
		MAY_STRINGS("options", 20, "answers to choose from"),
		MAY_INT("timeoutSeconds", 1, 1000000000,
		    "from 10 to 3600; the default is 300, and 3600 if a "
		    "person is asked"),
		END,
	    },
};

const struct schema api_team_respond_params = {
	.fields =
	    FIELDS{
		SELF,
		CALL,
		TEXT("requestId", 128, "of the question"),
		TEXT("response", BODY_MAX, "the answer"),
		END,
	    },
};

const struct schema api_request_answer_params = {
	.fields =
	    FIELDS{
		TEXT("id", 128, "of the question"),
		TEXT("response", BODY_MAX, "the answer"),
		END,
	    },
};

const struct schema api_team_review_params = {
	.fields =
	    FIELDS{
		SELF,
		CALL,
		TEXT("reason", 4096, "what does not fit"),
		MAY_TEXT("suggestion", 4096, "what would"),
		END,
	    },
};

/* --- answers ----------------------------------------------------------- */

static const struct schema answer = { .fields = FIELDS{ END }, .open = true };
const struct schema_field api_team_answer = RESULT(answer);

const struct schema api_request = {
	.fields =
	    FIELDS{
		FIELD("requestId", SHAPE_STRING, NULL),
		{ .name = "status",
		    .type = SHAPE_STRING,
		    .choices = request_state_words },
		MAY("response", SHAPE_STRING, "the answer"),
		MAY("responder", SHAPE_STRING, "who gave it"),
		MAY("message", SHAPE_STRING,
		    "what to do without one, or how it is given"),
		END,
	    },
	.help = "how a question of an agent has ended",
};

const struct schema_field api_request_result = RESULT(api_request);

static const struct schema tree_completion = {
	.fields =
	    FIELDS{
		MAY("status", SHAPE_STRING, "complete, partial or failed"),
		MAY("confidence", SHAPE_STRING, "high, medium or low"),
		END,
	    },
	.help = "what it reported at its end",
};

static const struct schema tree_progress = {
	.fields =
	    FIELDS{
		FIELD("phase", SHAPE_STRING, NULL),
		MAY("percentComplete", SHAPE_NUMBER, NULL),
		END,
	    },
	.open = true,
	.help = "its last report of progress",
};

static const struct schema tree_member = {
	.fields =
	    FIELDS{
		FIELD("actor_id", SHAPE_STRING, NULL),
		FIELD("parent_actor_id", SHAPE_STRING, "who spawned it"),
		FIELD("depth", SHAPE_INT, "1 = nobody but the daemon did"),
		FIELD("max_depth", SHAPE_INT, "of the whole tree"),
		FIELD("local_max_depth", SHAPE_INT, "of those below it"),
		MAY("role", SHAPE_STRING, NULL),
		MAY("label", SHAPE_STRING, NULL),
		MAY("agent", SHAPE_STRING, "its card"),
		MAY("title", SHAPE_STRING, "what it works on"),
		MAY("goal", SHAPE_STRING, NULL),
		MAY("node", SHAPE_STRING, NULL),
		MAY("task", SHAPE_STRING, NULL),
		MAY("worker", SHAPE_STRING, "that it is now"),
		MAY("workerStatus", SHAPE_STRING, "the status of that"),
		MAY("session_id", SHAPE_STRING, NULL),
		{ .name = "runStatus",
		    .type = SHAPE_STRING,
		    .choices = run_status_words,
		    .help = "how it is doing" },
		FIELD("pendingRequestCount", SHAPE_INT,
		    "its questions without an answer"),
		MAY("blockedReason", SHAPE_STRING,
		    "why it is blocked, or has failed"),
		MAY("verification", SHAPE_STRING, "of its contract"),
		{ .name = "completion",
		    .type = SHAPE_OBJECT,
		    .of = &tree_completion,
		    .flags = SHAPE_OPTIONAL },
		{ .name = "progress",
		    .type = SHAPE_OBJECT,
		    .of = &tree_progress,
		    .flags = SHAPE_OPTIONAL },
		END,
	    },
	.help = "one agent, below the one that spawned it",
};

const struct schema_field api_team_tree_result = {
	.type = SCHEMA_ROWS,
	.of = &tree_member,
};
