/* SPDX-License-Identifier: ISC */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "id.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "tail.h"
#include "text.h"
#include "transcript.h"
#include "watch.h"

#define STEPS_MAX   64 /* of a path */
#define JSON_MAX    (4 * TAIL_LINE_MAX) /* a repaired line is longer */
#define TEXT_MAX    (64 * 1024)
#define TOKENS_MAX  (INT64_C(1) << 40) /* more in one message is invalid */
#define RECENT      64
#define KEY_LEN     16
#define INTERRUPTED "[Request interrupted by user"
#define API_ERROR   "API Error"

enum tokens {
	TOKENS_INPUT,
	TOKENS_OUTPUT,
	TOKENS_CACHE_READ,
	TOKENS_CACHE_WRITE,
	TOKENS_KINDS
};

static const char *const tokens_keys[TOKENS_KINDS] = {
	[TOKENS_INPUT] = "input_tokens",
	[TOKENS_OUTPUT] = "output_tokens",
	[TOKENS_CACHE_READ] = "cache_read_input_tokens",
	[TOKENS_CACHE_WRITE] = "cache_creation_input_tokens",
};

/* A message of the API may take several lines, with other lines between them;
 * each has the usage of the whole message so far. */
struct message {
	char key[KEY_LEN + 1]; /* hash of its id, "" = none */
	int64_t tokens[TOKENS_KINDS]; /* already counted */
};

struct transcript_parser {
	struct transcript_totals totals;
	struct buf text;
	struct message recent[RECENT];
	size_t next; /* index in recent that is used next */
};

struct transcript {
	struct loop *loop;
	char *path;
	transcript_fn *fn;
	void *arg;
	struct transcript_parser *parser;
	struct tail *tail;
	struct watch *way; /* above its directory, while that is missing */
	struct loop_call *told; /* calls fn once for many lines */
	uint64_t offset;
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
	free(parser);
}

/* The file was replaced or cut short. */
static void
parser_reset(struct transcript_parser *parser)
{
	buf_clear(&parser->text);
	memset(&parser->totals, 0, sizeof parser->totals);
	memset(parser->recent, 0, sizeof parser->recent);
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

static struct json_object *
member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return value;
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
count_blocks(struct json_object *content, const char *type, const char *flag)
{
	int64_t count = 0;

	if (!json_object_is_type(content, json_type_array))
		return 0;
	for (size_t i = 0; i < json_object_array_length(content); i++) {
		struct json_object *block =
		    json_object_array_get_idx(content, i);

		if (strcmp(json_string_or(block, "type", ""), type) == 0 &&
		    (flag == NULL || json_bool_or(block, flag, false)))
			count++;
	}
	return count;
}

static void
keep_text(struct buf *kept, const struct buf *text)
{
	buf_clear(kept);
	buf_add(kept, text->data, text_cut(text->data, text->len, TEXT_MAX));
}

/* Was it typed, and not written by the program itself? Newer versions say so.
 */
static bool
prompt_is_typed(struct json_object *line, const char *text)
{
	static const char *const made[] = { "<command-", "<local-command-",
		"<bash-", "<task-notification>", "Stop hook feedback:", NULL };
	const char *origin =
	    json_string_or(member(line, "origin"), "kind", NULL);

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
	struct json_object *content =
	    member(member(line, "message"), "content");
	struct transcript_totals *totals = &parser->totals;
	cleanup_buf struct buf text = BUF_INIT;

	totals->tool_errors += count_blocks(content, "tool_result", "is_error");
	message_text(content, &text);
	if (starts_with(text.data, INTERRUPTED))
		totals->interrupted++;
	else if (text.len > 0 &&
	    count_blocks(content, "tool_result", NULL) == 0 &&
	    prompt_is_typed(line, text.data))
		totals->prompts++;
}

/* A prompt that was typed while the agent worked has another kind of line. */
static void
line_attachment(struct transcript_parser *parser, struct json_object *line)
{
	struct json_object *what = member(line, "attachment");

	if (strcmp(json_string_or(what, "type", ""), "queued_command") == 0 &&
	    prompt_is_typed(what, json_string_or(what, "prompt", "")))
		parser->totals.prompts++;
}

/* Where this message's counts are kept; a new one is counted as a reply. */
static struct message *
message_of(struct transcript_parser *parser, const char *id)
{
	struct message *message;
	char key[KEY_LEN + 1] = "";

	if (id != NULL)
		id_hash(id, key, KEY_LEN);
	for (size_t i = 0; id != NULL && i < RECENT; i++)
		if (strcmp(parser->recent[i].key, key) == 0)
			return &parser->recent[i];
	parser->totals.replies++;
	message = &parser->recent[parser->next];
	parser->next = (parser->next + 1) % RECENT;
	memset(message, 0, sizeof *message);
	memcpy(message->key, key, sizeof key);
	return message;
}

static void
count_tokens(struct transcript_parser *parser, struct json_object *message)
{
	struct transcript_totals *totals = &parser->totals;
	int64_t *const sums[TOKENS_KINDS] = {
		[TOKENS_INPUT] = &totals->input_tokens,
		[TOKENS_OUTPUT] = &totals->output_tokens,
		[TOKENS_CACHE_READ] = &totals->cache_read_tokens,
		[TOKENS_CACHE_WRITE] = &totals->cache_write_tokens,
	};
	struct message *counted =
	    message_of(parser, json_string_or(message, "id", NULL));
	struct json_object *usage = member(message, "usage");

	for (int i = 0; i < TOKENS_KINDS; i++) {
		int64_t n = 0;

		json_get_int(
		    usage, "", tokens_keys[i], 0, TOKENS_MAX, &n, NULL);
		if (n <= counted->tokens[i])
			continue;
		*sums[i] += n - counted->tokens[i];
		counted->tokens[i] = n;
	}
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
	struct json_object *message = member(line, "message");
	struct json_object *content = member(message, "content");
	cleanup_buf struct buf text = BUF_INIT;

	message_text(content, &text);
	if (is_api_error(line, message, text.data)) {
		parser->totals.api_errors++;
		return;
	}
	if (strcmp(json_string_or(message, "model", ""), "<synthetic>") == 0)
		return;
	count_tokens(parser, message);
	parser->totals.tool_calls += count_blocks(content, "tool_use", NULL);
	if (text.len > 0 && !json_bool_or(line, "isSidechain", false))
		keep_text(&parser->text, &text);
}

/* Of the whole session so far. */
static void
line_cost(struct transcript_parser *parser, struct json_object *line)
{
	double cost;

	if (json_get_double(line, "", "totalCostUSD", &cost, NULL) == 0 &&
	    cost >= 0)
		parser->totals.cost_usd = cost;
}

static const struct {
	const char *type;
	void (*take)(struct transcript_parser *, struct json_object *);
} line_types[] = {
	{ "user", line_user },
	{ "assistant", line_assistant },
	{ "attachment", line_attachment },
	{ "cost-state", line_cost },
};

/* Make text that json_parse() refuses for single characters readable: \u0000,
 * which the output of a program may well hold, and invalid UTF-8. */
static void
line_repair(const char *line, size_t len, struct buf *out)
{
	text_add_utf8(out, line, len);
	for (size_t i = 0; i + 1 < out->len; i++) {
		if (out->data[i] != '\\')
			continue;
		if (out->len - i >= 6 &&
		    memcmp(out->data + i, "\\u0000", 6) == 0)
			memcpy(out->data + i, "\\ufffd", 6);
		i++;
	}
}

static struct json_object *
line_parse(const char *line, size_t len)
{
	cleanup_buf struct buf repaired = BUF_INIT;
	struct json_object *value = NULL;

	if (json_parse(line, len, JSON_MAX, &value, NULL) == 0)
		return value;
	line_repair(line, len, &repaired);
	json_parse(repaired.data, repaired.len, JSON_MAX, &value, NULL);
	return value;
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
	type = json_string_or(value, "type", NULL);
	if (type == NULL) {
		parser->totals.skipped++;
		return;
	}
	for (size_t i = 0; i < nitems(line_types); i++)
		if (strcmp(type, line_types[i].type) == 0)
			line_types[i].take(parser, value);
}

static void
transcript_line(const char *line, size_t len, bool cut, void *arg)
{
	struct transcript *transcript = arg;
	uint64_t offset = tail_offset(transcript->tail);
	bool follows = cut ? offset > transcript->offset :
			     offset == transcript->offset + len + 1;

	if (!follows)
		parser_reset(transcript->parser);
	transcript->offset = offset;
	if (cut)
		transcript->parser->totals.skipped++;
	else
		transcript_parser_line(transcript->parser, line, len);
	transcript->parser->totals.bytes = offset;
	loop_call_request(transcript->told);
}

static void
transcript_tell(void *arg)
{
	struct transcript *transcript = arg;

	transcript->fn(transcript->parser, transcript->arg);
}

/* The first part of the path that does not exist; its parent does. */
static char *
path_missing(const char *path)
{
	cleanup_free char *part = xstrdup(path);
	char *slash;

	while ((slash = strrchr(part, '/')) != NULL && slash != part) {
		*slash = '\0';
		if (file_is_dir(part)) {
			*slash = '/';
			break;
		}
	}
	return take_ptr(&part);
}

/* The program creates the directory with its first prompt: until then, watch
 * the nearest existing one above it. */
static void
transcript_open(void *arg)
{
	struct transcript *transcript = arg;

	watch_free(take_ptr(&transcript->way));
	/* Try again for each directory that is created between the check and
	 * the watch. */
	for (int i = 0; i < STEPS_MAX; i++) {
		cleanup_free char *missing = NULL;

		if (tail_new(transcript->loop, transcript->path, true,
			transcript_line, transcript, &transcript->tail,
			NULL) == 0)
			return;
		missing = path_missing(transcript->path);
		if (watch_new(transcript->loop, missing, transcript_open,
			transcript, &transcript->way, NULL) == 0 &&
		    !file_is_dir(missing))
			return;
		watch_free(take_ptr(&transcript->way));
	}
}

struct transcript *
transcript_new(
    struct loop *loop, const char *path, transcript_fn *fn, void *arg)
{
	struct transcript *transcript = xcalloc(1, sizeof *transcript);

	transcript->loop = loop;
	transcript->path = xstrdup(path);
	transcript->fn = fn;
	transcript->arg = arg;
	transcript->parser = transcript_parser_new();
	transcript->told = loop_call_new(loop, transcript_tell, transcript);
	transcript_open(transcript);
	return transcript;
}

void
transcript_free(struct transcript *transcript)
{
	if (transcript == NULL)
		return;
	tail_free(transcript->tail);
	watch_free(transcript->way);
	loop_call_free(transcript->told);
	transcript_parser_free(transcript->parser);
	free(transcript->path);
	free(transcript);
}

const struct transcript_parser *
transcript_parser_of(const struct transcript *transcript)
{
	return transcript->parser;
}

bool
transcript_mentions(const char *path, const char *words)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;
	size_t want;
	ssize_t n;

	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		return false;
	want =
	    st.st_size > TRANSCRIPT_TAIL ? TRANSCRIPT_TAIL : (size_t)st.st_size;
	buf_reserve(&text, want);
	n = pread(fd, text.data, want, st.st_size - (off_t)want);
	if (n <= 0)
		return false;
	buf_grew(&text, (size_t)n);
	return memmem(text.data, text.len, words, strlen(words)) != NULL;
}
