/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <ctype.h>

#include "script.h"

#define SCRIPT_BACKGROUND_MS 1000

static const char *const script_verbs[] = {
	[SCRIPT_AGENT] = "agent",
	[SCRIPT_ALSO] = "also",
	[SCRIPT_ANSWER] = "answer",
	[SCRIPT_ASK] = "ask",
	[SCRIPT_BACKGROUND] = "background",
	[SCRIPT_COMMIT] = "commit",
	[SCRIPT_COMMITS] = "commits",
	[SCRIPT_COMPACT] = "compact",
	[SCRIPT_CRASH] = "crash",
	[SCRIPT_EXIT] = "exit",
	[SCRIPT_FAIL] = "fail",
	[SCRIPT_FILE] = "file",
	[SCRIPT_HANG] = "hang",
	[SCRIPT_IGNORE_ENTER] = "ignore-enter",
	[SCRIPT_KEEP] = "keep",
	[SCRIPT_LIMIT] = "limit",
	[SCRIPT_PERMISSION] = "permission",
	[SCRIPT_RESOLVE] = "resolve",
	[SCRIPT_RUN] = "run",
	[SCRIPT_SAY] = "say",
	[SCRIPT_SLEEP] = "sleep",
	[SCRIPT_TOOL] = "tool",
	[SCRIPT_WRITE] = "write",
};

/* As reported by the real program; the first one of a word is used for "fail
 * WORD". */
static const struct script_error script_errors[] = {
	{ 400, "unknown", "invalid_request_error", "bad request" },
	{ 401, "authentication_failed", "authentication_error",
	    "invalid x-api-key" },
	{ 403, "authentication_failed", "permission_error", "forbidden" },
	{ 404, "model_not_found", "not_found_error", "no such model" },
	{ 429, "rate_limit", "rate_limit_error",
	    "This request would exceed your rate limit." },
	{ 500, "server_error", "api_error", "Internal server error" },
	{ 529, "server_error", "overloaded_error", "Overloaded" },
};

const struct script_error *
script_error(int status)
{
	for (size_t i = 0; i < nitems(script_errors); i++)
		if (script_errors[i].status == status)
			return &script_errors[i];
	return &script_errors[0];
}

void
script_release(struct script *script)
{
	for (size_t i = 0; i < script->count; i++)
		free(script->steps[i].rest);
	free(script->steps);
	free(script->answer);
	free(script->heard);
	*script = (struct script){ 0 };
}

static void
script_push(struct script *script, enum script_verb verb, char *rest)
{
	script->steps = xreallocarray(
	    script->steps, script->count + 1, sizeof(*script->steps));
	script->steps[script->count++] =
	    (struct script_step){ .verb = verb, .rest = rest };
}

/* A typing mistake in a test should show up in the answer. */
static void
script_add_step(struct script *script, const char *line, size_t len)
{
	size_t word = 0, rest;

	while (len > 0 && isspace((unsigned char)line[len - 1]))
		len--;
	while (word < len && line[word] != ' ')
		word++;
	rest = word < len ? word + 1 : len;
	for (size_t i = 0; i < nitems(script_verbs); i++)
		if (strlen(script_verbs[i]) == word &&
		    memcmp(script_verbs[i], line, word) == 0) {
			script_push(script, (enum script_verb)i,
			    xstrndup(line + rest, len - rest));
			return;
		}
	script_push(script, SCRIPT_SAY,
	    xasprintf("no such step: %.*s", (int)len, line));
}

void
script_add(struct script *script, const char *text, size_t len)
{
	static const char mark[] = "fake: ";
	const size_t mark_len = sizeof(mark) - 1;
	const char *end = text + len, *line, *next, *at;

	free(script->heard);
	script->heard = xstrndup(text, len);
	for (line = text; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next == NULL ? end : next + 1;
		at = memmem(line, (size_t)(next - line), mark, mark_len);
		if (at != NULL && (at == line || at[-1] == ' '))
			script_add_step(script, at + mark_len,
			    (size_t)(next - at) - mark_len);
	}
}

void
script_answer(struct script *script, const char *text)
{
	free(script->answer);
	script->answer = xstrdup(text);
}

/* ---- {{KEY}} */

/* The last place of a word, NULL = none. */
static const char *
script_last(const char *text, const char *word)
{
	const char *found = NULL, *at = text;

	while ((at = strstr(at, word)) != NULL)
		found = at++;
	return found;
}

/* "KEY":"value", \"KEY\": \"value\" or KEY: value, as far as a plain word goes.
 */
static bool
script_value(const char *text, const char *key, struct buf *out)
{
	const char *at = text, *found = NULL;
	size_t len;

	while ((at = strstr(at, key)) != NULL) {
		bool alone = at == text || !isalnum((unsigned char)at[-1]);

		at += strlen(key);
		len = strspn(at, "\\\" ");
		if (alone && (at[len] == ':' || at[len] == '=')) {
			found = at + len + 1;
			break;
		}
	}
	if (found == NULL)
		return false;
	found += strspn(found, "\\\" ");
	for (; isalnum((unsigned char)*found) ||
	     (*found != '\0' && strchr("-_:./@", *found) != NULL);
	     found++)
		buf_addc(out, *found);
	return true;
}

static void
script_look_up(const struct script *script, char *key, struct buf *out)
{
	const char *const texts[] = { script->answer, script->heard };
	char *blank = strrchr(key, ' ');

	if (blank != NULL)
		*blank = '\0';
	for (size_t i = 0; i < nitems(texts); i++) {
		const char *from = texts[i];

		if (from != NULL && blank != NULL)
			from = script_last(from, key);
		if (from != NULL &&
		    script_value(from, blank != NULL ? blank + 1 : key, out))
			return;
	}
}

static void
script_fill(const struct script *script, struct script_step *step)
{
	cleanup_buf struct buf out = BUF_INIT;
	const char *at = step->rest, *open, *close;

	while ((open = strstr(at, "{{")) != NULL &&
	    (close = strstr(open, "}}")) != NULL) {
		cleanup_free char *key =
		    xstrndup(open + 2, (size_t)(close - open) - 2);

		buf_add(&out, at, (size_t)(open - at));
		script_look_up(script, key, &out);
		at = close + 2;
	}
	buf_adds(&out, at);
	free(step->rest);
	step->rest = buf_take(&out);
}

/* ---- steps as actions */

/* The first word of the rest of a step, and what follows it. */
static const char *
script_split(const char *rest, struct buf *word)
{
	size_t n = strcspn(rest, " ");

	buf_add(word, rest, n);
	return rest[n] == ' ' ? rest + n + 1 : rest + n;
}

static int64_t
script_number(const char *rest, int64_t fallback)
{
	int64_t n;

	return text_parse_int(rest, 0, INT32_MAX, &n) ? n : fallback;
}

static void
script_write_command(struct buf *out, const char *rest, bool commit)
{
	cleanup_buf struct buf file = BUF_INIT, quoted = BUF_INIT;
	cleanup_free char *message = NULL;
	const char *text = script_split(rest, &file);

	text_add_shell(&quoted, file.data);
	if (strchr(file.data, '/') != NULL)
		buf_addf(out, "mkdir -p \"$(dirname %s)\" && ", quoted.data);
	buf_adds(out, "printf '%s\\n' ");
	text_add_shell(out, text);
	buf_addf(out, " >%s", quoted.data);
	if (!commit)
		return;
	message = xasprintf("%s: %s", file.data, text);
	buf_addf(out, " && git add -- %s && git commit -q -m ", quoted.data);
	text_add_shell(out, message);
}

/* During a rebase: "theirs" is the commit that is being moved, which is the
 * worker's own. */
static void
script_resolve_command(struct buf *out, const char *rest)
{
	const char *side = strcmp(rest, "ours") == 0 ? "ours" : "theirs";

	buf_addf(out,
	    "busy() { [ -d \"$(git rev-parse --git-path rebase-merge)\" ] || "
	    "[ -d \"$(git rev-parse --git-path rebase-apply)\" ]; }; n=0; "
	    "while busy && [ $n -lt 50 ]; do n=$((n + 1)); "
	    "git diff --name-only --diff-filter=U -z | "
	    "xargs -0 -r -n 1 git checkout -q --%s --; git add -A; "
	    "GIT_EDITOR=true git rebase --continue || git rebase --skip; "
	    "done; ! busy",
	    side);
}

static void
script_use(struct script_action *action, const char *rest)
{
	cleanup_buf struct buf name = BUF_INIT;
	const char *input = script_split(rest, &name);

	action->uses = xreallocarray(
	    action->uses, action->use_count + 1, sizeof(struct script_use));
	action->uses[action->use_count++] = (struct script_use){
		.name = buf_take(&name),
		.input = xstrdup(*input != '\0' ? input : "{}"),
	};
}

static void
script_keep_command(
    struct buf *out, const struct script *script, const char *path)
{
	buf_adds(out, "printf '%s\\n' ");
	text_add_shell(out, script->answer != NULL ? script->answer : "");
	buf_adds(out, " >");
	text_add_shell(out, path);
}

static void
script_tool(const struct script *script, struct script_action *action,
    const struct script_step *step)
{
	struct buf *out = &action->command;
	int64_t ms;

	action->kind = SCRIPT_DO_TOOL;
	switch (step->verb) {
	case SCRIPT_AGENT:
		buf_adds(out, "true");
		buf_adds(&action->text, step->rest);
		action->agent = true;
		break;
	case SCRIPT_ANSWER:
		buf_adds(out, "true");
		buf_adds(&action->text, step->rest);
		action->structured = true;
		break;
	case SCRIPT_FILE:
		buf_adds(out, "true");
		buf_adds(&action->text, step->rest);
		action->file = true;
		break;
	case SCRIPT_TOOL:
		script_use(action, step->rest);
		break;
	case SCRIPT_KEEP:
		script_keep_command(out, script, step->rest);
		break;
	case SCRIPT_COMMIT:
		script_write_command(out, step->rest, true);
		break;
	case SCRIPT_WRITE:
		script_write_command(out, step->rest, false);
		break;
	case SCRIPT_COMMITS:
		buf_addf(out,
		    "n=1; while [ $n -le %lld ]; do echo $n >commit-$n.txt && "
		    "git add commit-$n.txt && git commit -q -m \"Commit $n\" "
		    "|| exit; n=$((n + 1)); done",
		    (long long)script_number(step->rest, 1));
		break;
	case SCRIPT_RESOLVE:
		script_resolve_command(out, step->rest);
		break;
	case SCRIPT_CRASH:
		buf_adds(out, "kill -KILL \"$CLAUDE_PID\"");
		break;
	case SCRIPT_PERMISSION:
		buf_adds(out, "touch permission-given");
		action->permission = true;
		break;
	case SCRIPT_BACKGROUND:
		ms = script_number(step->rest, SCRIPT_BACKGROUND_MS);
		buf_addf(out, "sleep %lld.%03lld", (long long)(ms / 1000),
		    (long long)(ms % 1000));
		action->background = true;
		break;
	default:
		buf_adds(out, step->rest);
		break;
	}
}

static void
script_failure(struct script_action *action, const struct script_step *step)
{
	cleanup_buf struct buf word = BUF_INIT;
	const char *text = step->rest;

	action->kind = SCRIPT_DO_FAIL;
	action->status = 429;
	if (step->verb == SCRIPT_FAIL) {
		text = script_split(step->rest, &word);
		action->status = (int)script_number(word.data, 0);
	}
	for (size_t i = 0; action->status == 0 && i < nitems(script_errors);
	     i++)
		if (strcmp(script_errors[i].word, word.data) == 0)
			action->status = script_errors[i].status;
	if (action->status == 0)
		action->status = 400;
	buf_adds(&action->text,
	    *text != '\0' ? text : script_error(action->status)->text);
}

/* Add the step to the answer; true when the answer is complete. */
static bool
script_take(const struct script *script, struct script_action *action,
    const struct script_step *step)
{
	switch (step->verb) {
	case SCRIPT_SAY:
	case SCRIPT_ASK:
		if (action->say.len > 0)
			buf_addc(&action->say, '\n');
		buf_adds(&action->say, step->rest);
		return step->verb == SCRIPT_ASK;
	case SCRIPT_ALSO:
		script_use(action, step->rest);
		return false;
	case SCRIPT_SLEEP:
		action->delay_ms += script_number(step->rest, 0);
		return false;
	case SCRIPT_LIMIT:
	case SCRIPT_FAIL:
		script_failure(action, step);
		return true;
	case SCRIPT_COMPACT:
		action->kind = SCRIPT_DO_COMPACT;
		return true;
	case SCRIPT_EXIT:
		action->kind = SCRIPT_DO_EXIT;
		action->number = script_number(step->rest, 0);
		return true;
	case SCRIPT_HANG:
		action->kind = SCRIPT_DO_HANG;
		action->hard = strcmp(step->rest, "hard") == 0;
		return true;
	case SCRIPT_IGNORE_ENTER:
		action->kind = SCRIPT_DO_IGNORE_ENTER;
		action->number = script_number(step->rest, 1);
		return true;
	default:
		script_tool(script, action, step);
		return true;
	}
}

void
script_next(struct script *script, struct script_action *action)
{
	action->kind = SCRIPT_DO_REPLY;
	while (script->next < script->count) {
		struct script_step *step = &script->steps[script->next++];

		script_fill(script, step);
		if (script_take(script, action, step))
			break;
	}
	if (action->use_count > 0)
		action->kind = SCRIPT_DO_TOOL;
	if (action->kind == SCRIPT_DO_REPLY && action->say.len == 0)
		buf_adds(&action->say, "done");
}

void
script_action_release(struct script_action *action)
{
	buf_release(&action->say);
	buf_release(&action->command);
	buf_release(&action->text);
	for (size_t i = 0; i < action->use_count; i++) {
		free(action->uses[i].name);
		free(action->uses[i].input);
	}
	free(action->uses);
	action->uses = NULL;
	action->use_count = 0;
}
