/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-kind.h"
#include "error-signature.h"
#include "id.h"
#include "moment.h"
#include "transcript-parser.h"
#include "watch.h"

#define JSON_MAX         (4 * TAIL_LINE_MAX) /* a repaired line is longer */
#define TEXT_MAX         (64 * 1024)
#define ERROR_MAX        1024
#define TOKENS_MAX       (INT64_C(1) << 40) /* more in one message is invalid */
#define COST_MAX         1e9 /* dollars */
#define MICROS           1e6
#define RECENT           64
#define TRANSCRIPT_BEGUN 32
#define INTERRUPTED      "[Request interrupted by user"
#define API_ERROR        "API Error"
#define NO_MODEL         "?" /* the line does not name one */

/* A message of the API may take several lines, with other lines between them;
 * each has the usage of the whole message so far. */
struct message {
	uint64_t key; /* hash of its id, 0 = none */
	int64_t tokens[USAGE_KINDS]; /* already counted */
};

struct transcript_parser {
	struct transcript_totals totals;
	struct usage side; /* part of the totals: of subagents' files */
	struct buf text;
	struct message *recent; /* up to RECENT */
	size_t count;
	size_t next; /* of these is overwritten next */
	char since[CLOCK_STAMP_SIZE]; /* older messages do not count */
	bool in_side; /* this line is from a subagent's file */
	char *errors[TRANSCRIPT_ERRORS]; /* by their number */
	struct transcript_call calls[TRANSCRIPT_CALLS]; /* by their number */
	struct {
		uint64_t id; /* of the call, 0 = none */
		struct transcript_call call;
	} begun[TRANSCRIPT_BEGUN]; /* a ring of those that run */
	size_t begun_next;
	uint64_t request; /* the last one without an answer; 0 = none */
	int64_t request_ms;
	char *failure; /* the word for the last turn that failed */
	char *model; /* for transcript_translate() */
};

struct transcript_parser *
transcript_parser_new(void)
{
	struct transcript_parser *parser = xcalloc(1, sizeof *parser);

	buf_init(&parser->text);
	return parser;
}

void
transcript_parser_free(struct transcript_parser *parser)
{
	if (parser == NULL)
		return;
	buf_release(&parser->text);
	for (size_t i = 0; i < TRANSCRIPT_ERRORS; i++)
		free(parser->errors[i]);
	free(parser->failure);
	free(parser->model);
	free(parser->recent);
	free(parser);
}

void
transcript_parser_since(struct transcript_parser *parser, int64_t from_ms)
{
	parser->since[0] = '\0';
	if (from_ms > 0)
		clock_format_stamp(from_ms, parser->since);
}

void
transcript_parser_reset(struct transcript_parser *parser)
{
	buf_clear(&parser->text);
	parser->totals = (struct transcript_totals){ .usage = parser->side };
	parser->count = parser->next = 0;
	parser->request = 0;
}

void
transcript_parser_skip(struct transcript_parser *parser, uint64_t end)
{
	parser->totals.bytes = end;
	parser->totals.skipped++;
}

const struct transcript_totals *
transcript_parser_totals(const struct transcript_parser *parser)
{
	return &parser->totals;
}

const char *
transcript_parser_last_text(const struct transcript_parser *parser)
{
	return parser->text.data;
}

static int64_t
count_errors(const struct transcript_parser *parser)
{
	return parser->totals.tool_errors + parser->totals.api_errors;
}

const char *
transcript_parser_error(const struct transcript_parser *parser, int64_t n)
{
	int64_t count = count_errors(parser);

	return n < 0 || n >= count || n < count - TRANSCRIPT_ERRORS ?
	    NULL :
	    parser->errors[n % TRANSCRIPT_ERRORS];
}

const struct transcript_call *
transcript_parser_call(const struct transcript_parser *parser, int64_t n)
{
	int64_t count = parser->totals.tools;

	return n < 0 || n >= count || n < count - TRANSCRIPT_CALLS ?
	    NULL :
	    &parser->calls[n % TRANSCRIPT_CALLS];
}

const char *
transcript_parser_failure(
    const struct transcript_parser *parser, const char **ret_text)
{
	const char *text =
	    transcript_parser_error(parser, count_errors(parser) - 1);

	*ret_text = text != NULL ? text : "";
	return parser->failure != NULL ? parser->failure : "";
}

static bool
starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* The text blocks of a message, one below the other; its content may also be a
 * plain text. */
static void
message_text(struct json_object *content, struct buf *out)
{
	const char *text;

	if (json_object_is_type(content, json_type_string))
		buf_adds(out, json_object_get_string(content));
	if (!json_object_is_type(content, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(content); i++) {
		struct json_object *block =
		    json_object_array_get_idx(content, i);

		if (strcmp(json_string_or(block, "type", ""), "text") != 0)
			continue;
		text = json_string_or(block, "text", "");
		if (out->len > 0 && *text != '\0')
			buf_addc(out, '\n');
		buf_adds(out, text);
	}
}

static int64_t
count_blocks(struct json_object *content, const char *type)
{
	int64_t count = 0;

	if (!json_object_is_type(content, json_type_array))
		return 0;
	for (size_t i = 0; i < json_object_array_length(content); i++) {
		struct json_object *block =
		    json_object_array_get_idx(content, i);

		count += strcmp(json_string_or(block, "type", ""), type) == 0;
	}
	return count;
}

/* Before it is counted. */
static void
keep_error(struct transcript_parser *parser, const struct buf *text)
{
	char **error =
	    &parser->errors[count_errors(parser) % TRANSCRIPT_ERRORS];

	free(*error);
	*error =
	    xstrndup(text->data, text_cut(text->data, text->len, ERROR_MAX));
}

/* What a tool is told first: its command, its file, or all of it. */
static void
call_words(struct json_object *input, char *ret, size_t size)
{
	static const char *const keys[] = { "command", "file_path", "pattern",
		"path", "url", "query" };
	const char *text = NULL;

	for (size_t i = 0; text == NULL && i < nitems(keys); i++)
		text = json_string_or(input, keys[i], NULL);
	if (text == NULL && input != NULL)
		text = json_object_to_json_string_ext(
		    input, JSON_C_TO_STRING_PLAIN);
	if (text == NULL)
		text = "";
	snprintf(ret, size, "%.*s",
	    (int)text_cut(text, strcspn(text, "\n"), size - 1), text);
}

static void
calls_begin(struct transcript_parser *parser, struct json_object *content)
{
	if (!json_object_is_type(content, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(content); i++) {
		struct json_object *block =
		    json_object_array_get_idx(content, i);
		struct json_object *input = json_member(block, "input");
		const char *tool = json_string_or(block, "name", "");
		struct transcript_call call = { .failed = false };
		const char *text;

		if (strcmp(json_string_or(block, "type", ""), "tool_use") != 0)
			continue;
		text = input == NULL ? "" :
				       json_object_to_json_string_ext(
					   input, JSON_C_TO_STRING_PLAIN);
		call.action = id_hash64(text) * 31 + id_hash64(tool);
		snprintf(call.tool, sizeof call.tool, "%s", tool);
		call_words(input, call.what, sizeof call.what);
		parser->begun[parser->begun_next % TRANSCRIPT_BEGUN].id =
		    id_hash64(json_string_or(block, "id", ""));
		parser->begun[parser->begun_next++ % TRANSCRIPT_BEGUN].call =
		    call;
	}
}

/* Before it is counted. */
static void
call_ended(struct transcript_parser *parser, struct json_object *block,
    const struct buf *text)
{
	struct transcript_call *call =
	    &parser->calls[parser->totals.tools % TRANSCRIPT_CALLS];
	uint64_t id = id_hash64(json_string_or(block, "tool_use_id", ""));

	/* Whose beginning is not known is another one each time. */
	*call = (struct transcript_call){ .action =
					      (uint64_t)parser->totals.tools };
	for (size_t i = 0; i < TRANSCRIPT_BEGUN; i++)
		if (parser->begun[i].id == id)
			*call = parser->begun[i].call;
	call->answer = error_answer_hash(text->data, text->len);
	call->failed = json_bool_or(block, "is_error", false);
}

static void
take_tool_errors(struct transcript_parser *parser, struct json_object *content)
{
	if (!json_object_is_type(content, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(content); i++) {
		struct json_object *block =
		    json_object_array_get_idx(content, i);
		cleanup_buf struct buf text = BUF_INIT;

		if (strcmp(json_string_or(block, "type", ""), "tool_result") !=
		    0)
			continue;
		message_text(json_object_object_get(block, "content"), &text);
		call_ended(parser, block, &text);
		parser->totals.tools++;
		if (!json_bool_or(block, "is_error", false))
			continue;
		keep_error(parser, &text);
		parser->totals.tool_errors++;
	}
}

/* Was it typed, and not written by the program itself? Newer versions say so.
 */
static bool
prompt_is_typed(struct json_object *line, const char *text)
{
	static const char *const made[] = { "<command-", "<local-command-",
		"<bash-", "<task-notification>", "Stop hook feedback:", NULL };
	const char *origin = json_string_or(
	    json_object_object_get(line, "origin"), "kind", NULL);

	if (json_bool_or(line, "isMeta", false) ||
	    json_bool_or(line, "isSidechain", false) ||
	    json_bool_or(line, "isCompactSummary", false))
		return false;
	if (origin != NULL)
		return strcmp(origin, "human") == 0;
	for (size_t i = 0; made[i] != NULL; i++)
		if (starts_with(text, made[i]))
			return false;
	return true;
}

static void
line_user(struct transcript_parser *parser, struct json_object *line)
{
	struct json_object *content = json_object_object_get(
	    json_object_object_get(line, "message"), "content");
	struct transcript_totals *totals = &parser->totals;
	cleanup_buf struct buf text = BUF_INIT;

	take_tool_errors(parser, content);
	message_text(content, &text);
	if (text.len > 0) /* interrupted, or another request */
		totals->deaf_ms = 0;
	/* What ends a subagent does not end the turn. */
	if (starts_with(text.data, INTERRUPTED))
		totals->interrupted += !parser->in_side &&
		    !json_bool_or(line, "isSidechain", false);
	else if (text.len > 0 && count_blocks(content, "tool_result") == 0 &&
	    prompt_is_typed(line, text.data))
		totals->prompts++;
	if (text.len > 0)
		totals->failing = false;
}

/* A prompt that was typed while the agent worked has another kind of line. */
static void
line_attachment(struct transcript_parser *parser, struct json_object *line)
{
	struct json_object *what = json_object_object_get(line, "attachment");

	if (strcmp(json_string_or(what, "type", ""), "queued_command") == 0 &&
	    prompt_is_typed(what, json_string_or(what, "prompt", "")))
		parser->totals.prompts++;
}

/* Where this message's counts are kept. */
static struct message *
message_of(struct transcript_parser *parser, const char *id)
{
	struct message *message;
	uint64_t key = id != NULL ? id_hash64(id) : 0;

	for (size_t i = 0; id != NULL && i < parser->count; i++)
		if (parser->recent[i].key == key)
			return &parser->recent[i];
	if (parser->count < RECENT) {
		parser->recent = xreallocarray(
		    parser->recent, parser->count + 1, sizeof *parser->recent);
		message = &parser->recent[parser->count++];
	} else {
		message = &parser->recent[parser->next];
		parser->next = (parser->next + 1) % RECENT;
	}
	*message = (struct message){ .key = key };
	return message;
}

/* Tokens of a message by kind. What was written to the cache is split by how
 * long it is kept; five minutes unless it says otherwise. */
static void
message_tokens(struct json_object *usage, int64_t tokens[USAGE_KINDS])
{
	static const char *const keys[USAGE_KINDS] = {
		[USAGE_INPUT] = "input_tokens",
		[USAGE_OUTPUT] = "output_tokens",
		[USAGE_CACHE_READ] = "cache_read_input_tokens",
		[USAGE_CACHE_WRITE_5M] = "cache_creation_input_tokens",
	};
	int64_t hour = 0;

	memset(tokens, 0, USAGE_KINDS * sizeof tokens[0]);
	for (int i = 0; i < USAGE_KINDS; i++)
		if (keys[i] != NULL)
			json_get_int(usage, "", keys[i], 0, TOKENS_MAX,
			    &tokens[i], NULL);
	json_get_int(json_object_object_get(usage, "cache_creation"), "",
	    "ephemeral_1h_input_tokens", 0, tokens[USAGE_CACHE_WRITE_5M], &hour,
	    NULL);
	tokens[USAGE_CACHE_WRITE_1H] = hour;
	tokens[USAGE_CACHE_WRITE_5M] -= hour;
}

static void
count_tool_calls(struct transcript_parser *parser, struct json_object *content)
{
	struct usage calls = { .tool_calls =
				   count_blocks(content, "tool_use") };

	usage_merge(&parser->totals.usage, &calls);
	if (parser->in_side)
		usage_merge(&parser->side, &calls);
}

/* The lines of a resumed conversation may be a copy from another file. */
static bool
is_history(const struct transcript_parser *parser, struct json_object *line)
{
	return parser->since[0] != '\0' &&
	    strcmp(json_string_or(line, "timestamp", ""), parser->since) < 0;
}

/* Not everything the program writes in the model's name is an error. */
static bool
is_api_error(
    struct json_object *line, struct json_object *message, const char *text)
{
	if (json_bool_or(line, "isApiErrorMessage", false))
		return true;
	return strcmp(json_string_or(message, "model", ""), "<synthetic>") ==
	    0 &&
	    (starts_with(text, API_ERROR) ||
		json_string_or(line, "error", NULL) != NULL);
}

static void
line_assistant(struct transcript_parser *parser, struct json_object *line)
{
	struct json_object *message = json_object_object_get(line, "message");
	struct json_object *content =
	    json_object_object_get(message, "content");
	cleanup_buf struct buf text = BUF_INIT;

	message_text(content, &text);
	if (is_api_error(line, message, text.data)) {
		const char *failure = json_string_or(line, "turnFailed", NULL);

		keep_error(parser, &text);
		parser->totals.api_errors++;
		if (failure != NULL) {
			parser->totals.failed++;
			parser->totals.failing = true;
			xstrset(&parser->failure, failure);
		}
		return;
	}
	if (strcmp(json_string_or(message, "model", ""), "<synthetic>") == 0)
		return;
	if (content != NULL)
		parser->totals.failing = false;
	if (!parser->in_side) {
		parser->request = 0;
		parser->totals.deaf_ms = 0;
	}
	moment_parse(
	    json_string_or(line, "timestamp", ""), &parser->totals.answered_ms);
	if (!is_history(parser, line)) {
		struct message *counted =
		    message_of(parser, json_string_or(message, "id", NULL));
		const char *model = json_string_or(message, "model", NO_MODEL);
		int64_t tokens[USAGE_KINDS];

		message_tokens(
		    json_object_object_get(message, "usage"), tokens);
		for (int i = 0; i < USAGE_KINDS; i++) {
			int64_t more = tokens[i] - counted->tokens[i];

			if (more <= 0)
				continue;
			usage_add(&parser->totals.usage, model,
			    (enum usage_kind)i, more);
			if (parser->in_side)
				usage_add(&parser->side, model,
				    (enum usage_kind)i, more);
			counted->tokens[i] = tokens[i];
		}
		count_tool_calls(parser, content);
	}
	calls_begin(parser, content);
	if (text.len > 0 && !parser->in_side &&
	    !json_bool_or(line, "isSidechain", false)) {
		struct buf *kept = &parser->text;

		buf_clear(kept);
		buf_add(
		    kept, text.data, text_cut(text.data, text.len, TEXT_MAX));
	}
}

/* Claude Code tries a request again, up to ten times in some minutes: the hook
 * comes only when it has given up, and with an interactive one so do the lines
 * of the errors. But each try is a line. */
static void
line_request(struct transcript_parser *parser, struct json_object *line)
{
	const char *digest = json_string_or(line, "requestDigest", NULL);
	uint64_t request;

	if (digest == NULL || parser->in_side)
		return;
	request = id_hash64(digest);
	if (request == parser->request) {
		parser->totals.deaf_ms = parser->request_ms;
		return;
	}
	parser->request = request;
	moment_parse(
	    json_string_or(line, "timestamp", ""), &parser->request_ms);
	parser->totals.deaf_ms = 0;
}

static void
reported_model(struct json_object *json, const char *name, struct usage *usage)
{
	static const char *const keys[USAGE_KINDS] = {
		[USAGE_INPUT] = "inputTokens",
		[USAGE_OUTPUT] = "outputTokens",
		[USAGE_CACHE_READ] = "cacheReadInputTokens",
		[USAGE_CACHE_WRITE_5M] = "cacheCreationInputTokens",
		[USAGE_CACHE_WRITE_1H] = "cacheCreationEphemeral1hInputTokens",
	};
	int64_t tokens[USAGE_KINDS] = { 0 };

	for (int i = 0; i < USAGE_KINDS; i++)
		json_get_int(json, "", keys[i], 0, USAGE_MAX, &tokens[i], NULL);
	tokens[USAGE_CACHE_WRITE_5M] -= tokens[USAGE_CACHE_WRITE_1H];
	for (int i = 0; i < USAGE_KINDS; i++)
		usage_add(usage, name, (enum usage_kind)i, tokens[i]);
}

/* What Claude Code itself counted, subagents included: everything since the
 * conversation began, or since it was resumed after its process was killed. It
 * is written at /clear and at a normal exit. */
static void
line_cost(struct transcript_parser *parser, struct json_object *line)
{
	struct usage_report report = { .given = true };
	struct json_object *models = json_object_object_get(line, "modelUsage");
	double cost;

	if (json_get_double(line, "", "totalCostUSD", &cost, NULL) < 0 ||
	    !(cost >= 0 && cost <= COST_MAX))
		return;
	report.cost = (int64_t)(cost * MICROS + 0.5);
	report.incomplete = json_bool_or(line, "hasUnknownModelCost", false);
	if (json_object_is_type(models, json_type_object)) {
		json_object_object_foreach(models, name, json)
		    reported_model(json, name, &report.usage);
	}
	parser->totals.report = report;
}

static const struct {
	const char *type;
	void (*take)(struct transcript_parser *, struct json_object *);
} line_types[] = {
	{ "user", line_user },
	{ "assistant", line_assistant },
	{ "attachment", line_attachment },
	{ "api-request", line_request },
	{ "cost-state", line_cost },
};

static struct json_object *
line_parse(const char *line, size_t len)
{
	cleanup_buf struct buf repaired = BUF_INIT;
	struct json_object *value = NULL;

	if (json_parse(line, len, JSON_MAX, &value, NULL) == 0)
		return value;
	/* Make text that json_parse() refuses for single characters readable:
	 * \u0000, which the output of a program may well hold, and invalid
	 * UTF-8. */
	text_add_utf8(&repaired, line, len);
	for (size_t i = 0; i + 1 < repaired.len; i++) {
		if (repaired.data[i] != '\\')
			continue;
		if (repaired.len - i >= 6 &&
		    memcmp(repaired.data + i, "\\u0000", 6) == 0)
			memcpy(repaired.data + i, "\\ufffd", 6);
		i++;
	}
	json_parse(repaired.data, repaired.len, JSON_MAX, &value, NULL);
	return value;
}

struct json_object *
transcript_translate(struct json_object *line, char **model)
{
	struct json_object *own;

	/* No line of Claude Code has one. */
	if (json_object_object_get(line, "payload") != NULL)
		own = codex_line(line, model);
	else if (gemini_is_line(line))
		own = gemini_line(line);
	else
		return line;
	json_object_put(line);
	return own;
}

void
transcript_parser_line(
    struct transcript_parser *parser, const char *line, size_t len)
{
	cleanup_json struct json_object *value = NULL;
	const char *type;

	parser->totals.bytes += len + 1;
	while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == '\n'))
		len--;
	if (len == 0)
		return;
	value = line_parse(line, len);
	if (json_string_or(value, "type", NULL) == NULL &&
	    !gemini_is_line(value)) {
		parser->totals.skipped++;
		return;
	}
	value = transcript_translate(value, &parser->model);
	type = json_string_or(value, "type", "");
	for (size_t i = 0; i < nitems(line_types); i++)
		if (strcmp(type, line_types[i].type) == 0)
			line_types[i].take(parser, value);
}

void
transcript_parser_side_line(
    struct transcript_parser *parser, const char *line, size_t len)
{
	uint64_t bytes = parser->totals.bytes;

	parser->in_side = true;
	transcript_parser_line(parser, line, len);
	parser->in_side = false;
	parser->totals.bytes = bytes;
}
