/* SPDX-License-Identifier: ISC */

#include "fake.h"

#include <regex.h>

#include "child.h"

#define SETTINGS_MAX (1024 * 1024)
#define ANSWER_MAX   (1024 * 1024)
#define HOOK_MS      60000
#define FAULT_MAX    64

struct fake_hook {
	TAILQ_ENTRY(fake_hook) entry;
	char *event;
	char *matcher; /* NULL = everything */
	char **argv; /* with "args", else NULL */
	char *shell; /* without */
	int64_t timeout_ms; /* 0 = the event's own */
};

struct fake_run {
	TAILQ_ENTRY(fake_run) entry;
	struct fake_fired *fired;
	struct child *child; /* NULL: has exited */
};

struct fake_fired {
	struct fake *fake;
	fake_answer_fn *fn;
	void *arg;
	struct fake_answer answer;
	TAILQ_HEAD(, fake_run) runs;
	int pending;
	struct loop_timer *none; /* for an event without hooks */
};

/* Events that wait less long than the others. */
static const struct {
	const char *event;
	int64_t ms;
} fake_timeouts[] = {
	{ "UserPromptSubmit", 30000 },
	{ "SessionEnd", 1500 },
};

static void
fake_hook_free(struct fake_hook *hook)
{
	for (char **arg = hook->argv; arg != NULL && *arg != NULL; arg++)
		free(*arg);
	free(hook->argv);
	free(hook->event);
	free(hook->matcher);
	free(hook->shell);
	free(hook);
}

void
fake_hooks_free(struct fake *fake)
{
	struct fake_hook *hook;

	while ((hook = TAILQ_FIRST(&fake->hooks)) != NULL) {
		TAILQ_REMOVE(&fake->hooks, hook, entry);
		fake_hook_free(hook);
	}
}

static void
fake_hook_add(struct fake *fake, const char *event, const char *matcher,
    struct json_object *spec)
{
	struct fake_hook *hook;
	struct json_object *args = NULL;
	const char *command = json_string_or(spec, "command", NULL);
	size_t n;

	if (command == NULL ||
	    strcmp(json_string_or(spec, "type", ""), "command") != 0)
		return;
	hook = xcalloc(1, sizeof(*hook));
	hook->event = xstrdup(event);
	if (matcher != NULL && *matcher != '\0' && strcmp(matcher, "*") != 0)
		hook->matcher = xstrdup(matcher);
	hook->timeout_ms = json_int_or(spec, "timeout", 0) * 1000;
	if (json_get_array(spec, "", "args", &args, NULL) == 0) {
		n = json_object_array_length(args);
		hook->argv = xcalloc(n + 2, sizeof(*hook->argv));
		hook->argv[0] = xstrdup(command);
		for (size_t i = 0; i < n; i++)
			hook->argv[i + 1] = xstrdup(json_object_get_string(
			    json_object_array_get_idx(args, i)));
	} else {
		hook->shell = xstrdup(command);
	}
	TAILQ_INSERT_TAIL(&fake->hooks, hook, entry);
}

/* "Stop": [{"matcher":"","hooks":[{"type":"command",...}]}] */
static void
fake_hooks_event(
    struct fake *fake, const char *event, struct json_object *groups)
{
	struct json_object *group, *list;

	if (!json_object_is_type(groups, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(groups); i++) {
		group = json_object_array_get_idx(groups, i);
		if (json_get_array(group, "", "hooks", &list, NULL) < 0)
			continue;
		for (size_t k = 0; k < json_object_array_length(list); k++)
			fake_hook_add(fake, event,
			    json_string_or(group, "matcher", NULL),
			    json_object_array_get_idx(list, k));
	}
}

static void
fake_hooks_of(struct fake *fake, struct json_object *settings)
{
	struct json_object *events = NULL;

	if (json_get_object(settings, "", "hooks", &events, NULL) == 0) {
		json_object_object_foreach(events, event, groups)
		    fake_hooks_event(fake, event, groups);
	}
}

/* A missing or broken file is simply not loaded. */
static void
fake_hooks_file(struct fake *fake, const char *dir, const char *name)
{
	cleanup_free char *path = file_join(dir, name);
	cleanup_json struct json_object *settings = NULL;

	if (json_load(path, SETTINGS_MAX, &settings, NULL) == 0)
		fake_hooks_of(fake, settings);
}

void
fake_hooks_load(struct fake *fake)
{
	const char *given = fake->options.settings;
	const char *sources = fake->options.sources;
	cleanup_json struct json_object *settings = NULL;

	if (sources == NULL)
		sources = "user,project,local";
	if (given != NULL && *given == '{') {
		if (json_parse(given, strlen(given), SETTINGS_MAX, &settings,
			NULL) == 0)
			fake_hooks_of(fake, settings);
	} else if (given != NULL) {
		fake_hooks_file(fake, fake->cwd, given);
	}
	if (strstr(sources, "user") != NULL)
		fake_hooks_file(fake, fake->options.folder, "settings.json");
	if (strstr(sources, "project") != NULL)
		fake_hooks_file(fake, fake->cwd, ".claude/settings.json");
	if (strstr(sources, "local") != NULL)
		fake_hooks_file(fake, fake->cwd, ".claude/settings.local.json");
}

static bool
fake_hook_matches(
    const struct fake_hook *hook, const char *event, const char *match)
{
	cleanup_free char *pattern = NULL;
	regex_t regex;
	bool matches;

	if (strcmp(hook->event, event) != 0)
		return false;
	if (hook->matcher == NULL || match == NULL)
		return true;
	pattern = xasprintf("^(%s)$", hook->matcher);
	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	matches = regexec(&regex, match, 0, NULL, 0) == 0;
	regfree(&regex);
	return matches;
}

static void
fake_fired_free(struct fake_fired *fired)
{
	struct fake_run *run;

	while ((run = TAILQ_FIRST(&fired->runs)) != NULL) {
		TAILQ_REMOVE(&fired->runs, run, entry);
		if (run->child != NULL)
			child_abandon(run->child);
		free(run);
	}
	loop_timer_free(fired->none);
	buf_release(&fired->answer.reason);
	buf_release(&fired->answer.context);
	free(fired);
}

void
fake_fired_cancel(struct fake_fired *fired)
{
	if (fired != NULL)
		fake_fired_free(fired);
}

static void
fake_fired_finish(struct fake_fired *fired)
{
	struct fake_answer answer = fired->answer;

	/* The callback may fire the next one, or cancel all. */
	buf_init(&fired->answer.reason);
	buf_init(&fired->answer.context);
	fired->fn(fired->fake, &answer, fired->arg);
	fake_fired_free(fired);
	buf_release(&answer.reason);
	buf_release(&answer.context);
}

static void
fake_answer_reason(
    struct fake_answer *answer, struct json_object *json, const char *key)
{
	if (answer->reason.len == 0)
		buf_adds(&answer->reason, json_string_or(json, key, ""));
}

static void
fake_answer_word(struct fake_answer *answer, const char *word)
{
	answer->allow |= strcmp(word, "allow") == 0;
	answer->ask |= strcmp(word, "ask") == 0;
	answer->block |=
	    strcmp(word, "deny") == 0 || strcmp(word, "block") == 0;
}

/* hookSpecificOutput: each event has its own members. */
static void
fake_answer_specific(struct fake_answer *answer, struct json_object *specific)
{
	const char *event = json_string_or(specific, "hookEventName", "");
	struct json_object *decision = NULL;

	if (json_string_or(specific, "permissionDecision", NULL) != NULL) {
		fake_answer_word(
		    answer, json_string_or(specific, "permissionDecision", ""));
		fake_answer_reason(
		    answer, specific, "permissionDecisionReason");
	}
	if (json_get_object(specific, "", "decision", &decision, NULL) == 0) {
		fake_answer_word(
		    answer, json_string_or(decision, "behavior", ""));
		fake_answer_reason(answer, decision, "message");
	}
	if (strncmp(event, "PostToolUse", strlen("PostToolUse")) == 0)
		buf_adds(&answer->context,
		    json_string_or(specific, "additionalContext", ""));
	if (strcmp(event, "Stop") == 0 &&
	    json_string_or(specific, "additionalContext", NULL) != NULL) {
		answer->block = true;
		fake_answer_reason(answer, specific, "additionalContext");
	}
}

static void
fake_answer_add(struct fake_answer *answer, const struct child_result *result)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *specific = NULL;

	answer->hooks++;
	if (result->start_error != 0 || result->timed_out || !result->exited)
		return;
	if (result->status == 2) {
		answer->block = true;
		child_output_text(&result->err, &text);
		buf_adds(&answer->reason, text.data);
		return;
	}
	child_output_text(&result->out, &text);
	if (result->status != 0 ||
	    json_parse(text.data, text.len, ANSWER_MAX, &json, NULL) < 0)
		return;
	if (!json_bool_or(json, "continue", true))
		return;
	if (strcmp(json_string_or(json, "decision", ""), "block") == 0 ||
	    strcmp(json_string_or(json, "decision", ""), "deny") == 0) {
		answer->block = true;
		fake_answer_reason(answer, json, "reason");
	}
	if (json_get_object(json, "", "hookSpecificOutput", &specific, NULL) ==
	    0)
		fake_answer_specific(answer, specific);
}

static void
fake_run_done(const struct child_result *result, void *arg)
{
	struct fake_run *run = arg;
	struct fake_fired *fired = run->fired;

	run->child = NULL;
	fake_answer_add(&fired->answer, result);
	if (--fired->pending == 0)
		fake_fired_finish(fired);
}

static void
fake_fired_none(void *arg)
{
	fake_fired_finish(arg);
}

static int64_t
fake_hook_deadline(const struct fake_hook *hook)
{
	if (hook->timeout_ms > 0)
		return hook->timeout_ms;
	for (size_t i = 0; i < nitems(fake_timeouts); i++)
		if (strcmp(fake_timeouts[i].event, hook->event) == 0)
			return fake_timeouts[i].ms;
	return HOOK_MS;
}

static void
fake_hook_start(struct fake_fired *fired, const struct fake_hook *hook,
    const struct buf *input)
{
	struct fake *fake = fired->fake;
	cleanup_free char *dir = xasprintf("CLAUDE_PROJECT_DIR=%s", fake->cwd);
	cleanup_free char *session =
	    xasprintf("CLAUDE_CODE_SESSION_ID=%s", fake->session);
	cleanup_free char *pid = xasprintf("CLAUDE_PID=%d", (int)getpid());
	const char *env[] = { dir, session, pid, "CLAUDECODE=1",
		"CLAUDE_CODE_ENTRYPOINT=cli", NULL };
	struct child_spec spec = {
		.argv = (const char *const *)hook->argv,
		.shell = hook->shell,
		.cwd = fake->cwd,
		.env = env,
		.input = input->data,
		.input_len = input->len,
		.output_max = ANSWER_MAX,
		.deadline_ms = fake_hook_deadline(hook),
		.grace_ms = 100,
	};
	struct fake_run *run = xcalloc(1, sizeof(*run));

	run->fired = fired;
	if (child_spawn(
		fake->loop, &spec, fake_run_done, run, &run->child, NULL) < 0) {
		free(run);
		return;
	}
	TAILQ_INSERT_TAIL(&fired->runs, run, entry);
	fired->pending++;
}

/* How often the hooks of this event are run. */
static int
fake_hook_times(const struct fake *fake, const char *event)
{
	cleanup_free char *path = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	const char *slash = strrchr(fake->cwd, '/');

	if (fake->options.faults == NULL || slash == NULL)
		return 1;
	path = xasprintf("%s%s.%s", fake->options.faults, slash, event);
	if (file_read(path, FAULT_MAX, &text, NULL) < 0)
		return 1;
	unlink(path);
	return strncmp(text.data, "lose", 4) == 0 ? 0 : 2;
}

struct fake_fired *
fake_fire(struct fake *fake, struct json_object *event, const char *match,
    fake_answer_fn *fn, void *arg)
{
	cleanup_buf struct buf input = BUF_INIT;
	struct fake_fired *fired = xcalloc(1, sizeof(*fired));
	const char *name = json_string_or(event, "hook_event_name", "");
	struct fake_hook *hook;
	int times = fake_hook_times(fake, name);

	fired->fake = fake;
	fired->fn = fn;
	fired->arg = arg;
	buf_init(&fired->answer.reason);
	TAILQ_INIT(&fired->runs);
	json_print(event, false, &input);
	TAILQ_FOREACH (hook, &fake->hooks, entry)
		for (int i = 0; i < times; i++)
			if (fake_hook_matches(hook, name, match))
				fake_hook_start(fired, hook, &input);
	if (fired->pending == 0)
		fired->none = loop_after(fake->loop, 0, fake_fired_none, fired);
	json_object_put(event);
	return fired;
}
