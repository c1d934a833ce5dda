/* SPDX-License-Identifier: ISC */

/*
 * The same scenarios for the fake agent and for the real Claude Code, so that
 * the fake one stays true to the real one. Each is checked against the order of
 * events listed here. With LLMC_AGENTS=both the real program runs too
 * (LLMC_REAL_CLAUDE, on the stub API), and the input of the hooks of both is
 * compared: keys, types, and values that do not depend on time.
 */

#include "bed.h"

enum verb {
	END, /* of the list */
	PASTE,
	KEY,
	ALLOW, /* the first answer of a dialog */
	WAIT, /* for an event */
	STATUS, /* of the status file */
	SCREEN, /* has this text */
	MARK, /* a file that a tool makes */
	MAKE, /* a file that a tool waits for */
	ANSWER, /* set the answer of the next hook: "EVENT JSON" */
	SIGNAL, /* "HUP", and the expected exit status */
	EXITS, /* by itself, with 0 */
	RESUME,
	CHECK, /* a shell command that must succeed */
};

struct act {
	enum verb verb;
	const char *text;
};

/* Starting the real program takes longest, so a session is continued where
 * possible: a scenario without args continues the one above. */
struct scenario {
	const char *name;
	const char *const *args;
	const char *events;
	struct act acts[12];
};

static const char *const plain[] = { NULL };
static const char *const manual[] = { "--permission-mode", "default", NULL };
static const char *const prompted[] = { "--", "[task 17] from the command line",
	NULL };

#define TURN(prompt)                                                       \
	{ PASTE, prompt }, { WAIT, "UserPromptSubmit" }, { WAIT, "Stop" }, \
	{                                                                  \
		STATUS, "idle"                                             \
	}
#define FAILURE(prompt)                                  \
	{ PASTE, prompt }, { WAIT, "UserPromptSubmit" }, \
	    { WAIT, "StopFailure" },                     \
	{                                                \
		STATUS, "idle"                           \
	}
#define BOX     "❯\u00a0"
#define HANGING "fake: run touch \"$HOOK_RECORD/mark\"; tail -f /dev/null"
#define TOOL    "PreToolUse PostToolUse PostToolBatch"

/* The last cost of each of the two conversations is the sum of all that was
 * used in it, before and after it was resumed, and of nothing else. */
#define COSTS                                                                  \
	"set -e; cd \"$HOME\"/.claude/projects/*; test $(ls *.jsonl | wc -l) " \
	"= 2; for f in *.jsonl; do "                                           \
	"used=$(grep '\"type\":\"assistant\"' \"$f\" | sed "                   \
	"'s/.*\"id\":\"\\(msg_[^\"]*\\)\".*\"output_tokens\":\\([0-9]*\\).*/"  \
	"\\1 \\2/' | sort -u | awk '{ s += $2 } END { print s }'); "           \
	"told=$(grep '\"cost-state\"' \"$f\" | tail -n 1 | sed "               \
	"'s/.*\"outputTokens\":\\([0-9]*\\).*/\\1/'); "                        \
	"echo \"$f: $used used, $told told\"; test \"$used\" -gt 0; "          \
	"test \"$used\" = \"$told\"; done"

static const struct scenario scenarios[] = {
	{ "launch", plain, "SessionStart", { { WAIT, "SessionStart" } } },
	{ "one line", NULL, "UserPromptSubmit Stop",
	    { TURN("please greet me") } },
	{ "fifty lines", NULL, "UserPromptSubmit Stop", { TURN("@lines") } },
	{ "20 KB", NULL, "UserPromptSubmit Stop", { TURN("@20k") } },
	{ "UTF-8", NULL, "UserPromptSubmit Stop",
	    { TURN(
		"grüß Gott, 你好, здравствуйте, 🦊 naïve \"q\" $(x) #{y}") } },
	{ "commit with a tool", NULL, "UserPromptSubmit " TOOL " Stop",
	    { TURN("[task 17] fake: commit a/b.txt it's done\n"
		   "fake: say All done."),
		{ CHECK,
		    "test \"$(git log -1 --format=%s)\" = "
		    "\"a/b.txt: it's done\" && "
		    "test \"$(cat a/b.txt)\" = \"it's done\"" } } },
	{ "words ahead of a tool", NULL, "UserPromptSubmit " TOOL " Stop",
	    { TURN("fake: say I shall look.\nfake: run echo hi") } },
	{ "a failing tool", NULL,
	    "UserPromptSubmit PreToolUse PostToolUseFailure PostToolBatch Stop",
	    { TURN("fake: run echo out; echo err >&2; exit 3") } },
	{ "a tool that a hook denies", NULL,
	    "UserPromptSubmit PreToolUse PostToolBatch Stop",
	    { { ANSWER,
		  "PreToolUse {\"hookSpecificOutput\":{\"hookEventName\":"
		  "\"PreToolUse\",\"permissionDecision\":\"deny\","
		  "\"permissionDecisionReason\":\"not today\"}}" },
		TURN("fake: run touch never"), { CHECK, "test ! -e never" } } },
	{ "Stop blocked once", NULL, "UserPromptSubmit Stop " TOOL " Stop",
	    { { ANSWER,
		  "Stop {\"decision\":\"block\",\"reason\":"
		  "\"One more.\\nfake: commit c.txt more\"}" },
		{ PASTE, "do it" }, { WAIT, "Stop" }, { WAIT, "Stop" },
		{ STATUS, "idle" }, { CHECK, "test -e c.txt" } } },
	{ "a prompt that a hook blocks", NULL,
	    "UserPromptSubmit UserPromptSubmit Stop",
	    { { ANSWER,
		  "UserPromptSubmit {\"decision\":\"block\","
		  "\"reason\":\"no\"}" },
		{ PASTE, "not this" }, { WAIT, "UserPromptSubmit" },
		{ SCREEN, "blocked by hook" }, { SCREEN, BOX "not this" },
		{ KEY, "C-u" }, TURN("but this") } },
	{ "an unknown command", NULL, "UserPromptSubmit Stop",
	    { { PASTE, "/nonsense" }, { SCREEN, "Unknown command: /nonsense" },
		TURN("/etc/hosts is a path") } },
	{ "Esc in a tool", NULL,
	    "UserPromptSubmit PreToolUse UserPromptSubmit Stop",
	    { { PASTE, HANGING }, { WAIT, "UserPromptSubmit" },
		{ MARK, "mark" }, { KEY, "Escape" }, { STATUS, "idle" },
		TURN("go on") } },
	{ "a prompt while a tool runs", NULL,
	    "UserPromptSubmit PreToolUse UserPromptSubmit PostToolUse "
	    "PostToolBatch " TOOL " Stop",
	    { { PASTE,
		  "fake: run touch \"$HOOK_RECORD/begun\"; "
		  "until [ -e \"$HOOK_RECORD/go\" ]; do :; done; "
		  "n=0; while [ $n -lt 99999 ]; do n=$((n+1)); done" },
		{ WAIT, "UserPromptSubmit" }, { MARK, "begun" },
		{ PASTE, "and\nfake: run touch second" },
		{ WAIT, "UserPromptSubmit" }, { MAKE, "go" }, { WAIT, "Stop" },
		{ STATUS, "idle" }, { CHECK, "test -e second" } } },
	{ "a shell left running", NULL,
	    "UserPromptSubmit " TOOL " Stop UserPromptSubmit Stop",
	    { { PASTE, "fake: background 1500" }, { WAIT, "UserPromptSubmit" },
		{ WAIT, "Stop" }, { WAIT, "UserPromptSubmit" },
		{ WAIT, "Stop" }, { STATUS, "idle" } } },
	{ "rate limit for hours", NULL, "UserPromptSubmit StopFailure",
	    { FAILURE("fake: limit You've hit your limit · resets 7pm") } },
	{ "server error", NULL, "UserPromptSubmit StopFailure",
	    { FAILURE("fake: fail 500") } },
	{ "overload, then going on", NULL,
	    "UserPromptSubmit StopFailure UserPromptSubmit Stop",
	    { FAILURE("fake: fail 529"), TURN("continue") } },
	{ "a key that is refused", NULL, "UserPromptSubmit StopFailure",
	    { FAILURE("fake: fail authentication_failed") } },
	{ "/compact", NULL, "PreCompact SubagentStop SessionStart PostCompact",
	    { { PASTE, "/compact" }, { WAIT, "PostCompact" },
		{ STATUS, "idle" } } },
	{ "/clear", NULL, "SessionEnd SessionStart UserPromptSubmit Stop",
	    { { PASTE, "/clear" }, { WAIT, "SessionStart" }, TURN("second") } },
	{ "SIGTERM", NULL, "SessionEnd", { { SIGNAL, "TERM" } } },

	{ "prompt as an argument", prompted,
	    "SessionStart UserPromptSubmit Stop",
	    { { WAIT, "UserPromptSubmit" }, { WAIT, "Stop" },
		{ STATUS, "idle" } } },
	{ "SIGTERM in a tool", NULL, "UserPromptSubmit PreToolUse SessionEnd",
	    { { PASTE, HANGING }, { WAIT, "UserPromptSubmit" },
		{ MARK, "mark" }, { SIGNAL, "TERM" } } },
	{ "resume", NULL, "SessionStart UserPromptSubmit Stop",
	    { { RESUME, NULL }, { WAIT, "SessionStart" }, { STATUS, "idle" },
		TURN("where were we?") } },
	{ "/clear after resume", NULL,
	    "SessionEnd SessionStart UserPromptSubmit Stop",
	    { { PASTE, "/clear" }, { WAIT, "SessionStart" }, TURN("third") } },
	{ "exit", NULL, "SessionEnd",
	    { { PASTE, "exit" }, { WAIT, "SessionEnd" }, { EXITS, NULL },
		{ CHECK, COSTS } } },

	{ "a tool that asks", manual,
	    "SessionStart UserPromptSubmit PreToolUse PermissionRequest "
	    "PostToolUse PostToolBatch Stop",
	    { { PASTE, "fake: run touch asked" }, { WAIT, "PermissionRequest" },
		{ STATUS, "waiting" }, { SCREEN, "Do you want to proceed?" },
		{ ALLOW, NULL }, { WAIT, "Stop" }, { STATUS, "idle" },
		{ CHECK, "test -e asked" } } },
	{ "hangup", NULL, "SessionEnd", { { SIGNAL, "HUP" } } },
};

/* Keys of the real program that the fake agent omits, and why. */
static const struct {
	const char *event;
	const char *path;
	const char *reason;
} missing[] = {
	{ "PostToolUse", "tool_response.bashEditDiff",
	    "what the command changed, for the screen; nobody reads it" },
};

/* Values that must be the same if the key exists. */
static const char *const same[] = { "hook_event_name", "source", "model",
	"permission_mode", "prompt", "stop_hook_active",
	"last_assistant_message", "error", "reason", "tool_name", "tool_input",
	"is_interrupt", "trigger", "message", "notification_type", "agent_type",
	"effort" };

/* ---- one agent */

static char *
generated(const char *text)
{
	cleanup_buf struct buf out = BUF_INIT;
	int lines = strcmp(text, "@lines") == 0 ? 50 : 256;

	if (*text != '@')
		return xstrdup(text);
	for (int i = 0; i < lines; i++)
		buf_addf(&out, "%sline %03d of a long prompt, %*s and its end",
		    i == 0          ? "" :
			i % 10 == 3 ? "\n\n" :
			i == 44     ? "\n\n\n\n" :
				      "\n",
		    i, lines > 50 ? 40 : 0, "");
	return buf_take(&out);
}

static void
act_answer(struct bed *bed, const char *text)
{
	size_t n = strcspn(text, " ");
	cleanup_free char *event = xstrndup(text, n);

	bed_answer(bed, event, text + n + 1);
}

static void
act_wait(struct bed *bed, const char *event, char **sent)
{
	struct json_object *json = bed_wait(bed, event);

	/* What arrives is what was sent. */
	if (*sent != NULL && strcmp(event, "UserPromptSubmit") == 0) {
		const char *got = json_string_or(json, "prompt", "");
		size_t at = 0;

		while (got[at] != '\0' && got[at] == (*sent)[at])
			at++;
		/* The whole would be too long for a message. */
		ck_assert_msg(strcmp(got, *sent) == 0,
		    "what was sent differs from byte %zu on: \"%.200s\", not "
		    "\"%.200s\"",
		    at, got + at, *sent + at);
		free(take_ptr(sent));
	}
}

static void
act_signal(struct bed *bed, const char *name)
{
	int signo = strcmp(name, "HUP") == 0 ? SIGHUP : SIGTERM;

	bed_signal(bed, signo);
	ck_assert_int_eq(bed_wait_gone(bed), 128 + signo);
}

static void
act_resume(struct bed *bed)
{
	const char *const args[] = { "--resume", bed_session(bed), NULL };

	bed_start(bed, args);
}

static void
perform(struct bed *bed, const struct act *act, char **sent)
{
	switch (act->verb) {
	case PASTE:
		free(*sent);
		*sent = generated(act->text);
		bed_paste(bed, *sent);
		break;
	case KEY:
		bed_key(bed, act->text);
		break;
	case ALLOW:
		bed_press_while(bed, "Enter", "waiting");
		break;
	case WAIT:
		act_wait(bed, act->text, sent);
		break;
	case STATUS:
		bed_wait_status(bed, act->text);
		break;
	case SCREEN:
		bed_wait_screen(bed, act->text);
		break;
	case MARK:
		bed_wait_file(bed, act->text);
		break;
	case MAKE:
		ck_assert_int_eq(
		    file_replace(bed_path(bed, act->text), "", 0, 0600, NULL),
		    0);
		break;
	case ANSWER:
		act_answer(bed, act->text);
		break;
	case SIGNAL:
		act_signal(bed, act->text);
		break;
	case EXITS:
		ck_assert_int_eq(bed_wait_gone(bed), 0);
		break;
	case RESUME:
		act_resume(bed);
		break;
	case CHECK:
		free(bed_shell(bed, act->text));
		break;
	case END:
		break;
	}
}

/* Check the names of the events from `first` on. */
static void
check_names(struct bed *bed, size_t first, const struct scenario *scenario)
{
	cleanup_buf struct buf names = BUF_INIT;

	for (size_t i = first; i < bed_event_count(bed); i++)
		buf_addf(&names, "%s%s", i > first ? " " : "",
		    json_string_or(bed_event(bed, i), "hook_event_name", "?"));
	ck_assert_msg(strcmp(names.data, scenario->events) == 0,
	    "%s\n# wanted %s\n# found  %s", scenario->name, scenario->events,
	    names.data);
}

static void
play_one(struct bed *bed, const struct scenario *scenario, size_t first)
{
	cleanup_free char *sent = NULL;

	for (size_t i = 0;
	     i < nitems(scenario->acts) && scenario->acts[i].verb != END; i++)
		perform(bed, &scenario->acts[i], &sent);
	check_names(bed, first, scenario);
}

/* How many scenarios share the session that begins with this one. */
static size_t
session_length(size_t first)
{
	size_t n = 1;

	while (
	    first + n < nitems(scenarios) && scenarios[first + n].args == NULL)
		n++;
	return n;
}

/* Run a session; returns its events, owned by the caller. */
static struct json_object *
play(size_t first, const char *agent, const char *api)
{
	/* The fake agent only mentions the server. */
	const char *const env[] = { "ANTHROPIC_BASE_URL=http://127.0.0.1:9",
		NULL };
	struct bed *bed = bed_new(agent, api, api == NULL ? env : NULL);
	struct json_object *events = json_object_new_array();
	size_t count = 0;

	bed_start(bed, scenarios[first].args);
	/* A prompt that comes earlier may lose its Enter. */
	bed_wait_session(bed);
	for (size_t i = 0; i < session_length(first); i++) {
		play_one(bed, &scenarios[first + i], count);
		count = bed_event_count(bed);
	}
	for (size_t i = 0; i < count; i++)
		json_object_array_add(
		    events, json_object_get(bed_event(bed, i)));
	bed_free(bed);
	return events;
}

/* ---- two agents */

struct differences {
	const char *event;
	struct buf text;
};

static bool
is_known(const char *event, const char *path)
{
	for (size_t i = 0; i < nitems(missing); i++)
		if (strcmp(missing[i].event, event) == 0 &&
		    strcmp(missing[i].path, path) == 0)
			return true;
	return false;
}

static void compare(struct differences *d, const char *path,
    struct json_object *real, struct json_object *fake);

/* Every key of `a` is in `b` too; where both have it, they are compared. */
static void
compare_keys(struct differences *d, const char *path, struct json_object *a,
    struct json_object *b, bool a_is_real)
{
	json_object_object_foreach(a, key, value)
	{
		cleanup_buf struct buf at = BUF_INIT;
		struct json_object *other;

		json_path_key(&at, path, key);
		if (json_object_object_get_ex(b, key, &other)) {
			if (a_is_real)
				compare(d, at.data, value, other);
		} else if (!a_is_real || !is_known(d->event, at.data)) {
			buf_addf(&d->text, "\n# %s: only the %s has %s",
			    d->event, a_is_real ? "real one" : "stand-in",
			    at.data);
		}
	}
}

static void
compare(struct differences *d, const char *path, struct json_object *real,
    struct json_object *fake)
{
	if (json_object_get_type(real) != json_object_get_type(fake)) {
		buf_addf(&d->text, "\n# %s: %s is %s, in the stand-in %s",
		    d->event, path, json_type_words(real),
		    json_type_words(fake));
		return;
	}
	if (json_object_is_type(real, json_type_object)) {
		compare_keys(d, path, real, fake, true);
		compare_keys(d, path, fake, real, false);
		return;
	}
	if (!json_object_is_type(real, json_type_array))
		return;
	if (json_object_array_length(real) != json_object_array_length(fake)) {
		buf_addf(&d->text, "\n# %s: %s has %zu entries, not %zu",
		    d->event, path, json_object_array_length(real),
		    json_object_array_length(fake));
		return;
	}
	for (size_t i = 0; i < json_object_array_length(real); i++)
		compare(d, path, json_object_array_get_idx(real, i),
		    json_object_array_get_idx(fake, i));
}

/* Summaries and tasks are worded differently. */
static bool
is_own_words(const char *text)
{
	return strncmp(text, "<summary>", 9) == 0 ||
	    strncmp(text, "<task-notification>", 19) == 0;
}

/* The stub has a different port each time. */
static void
print_value(struct json_object *value, struct buf *out)
{
	static const char host[] = "(127.0.0.1:";
	char *port;

	buf_clear(out);
	json_print(value, false, out);
	port = strstr(out->data, host);
	if (port != NULL) {
		port += strlen(host);
		buf_splice(out, (size_t)(port - out->data),
		    strspn(port, "0123456789"), "PORT", 4);
	}
}

static void
compare_values(
    struct differences *d, struct json_object *real, struct json_object *fake)
{
	cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT;
	struct json_object *x, *y;

	for (size_t i = 0; i < nitems(same); i++) {
		if (!json_object_object_get_ex(real, same[i], &x) ||
		    !json_object_object_get_ex(fake, same[i], &y) ||
		    is_own_words(json_string_or(real, same[i], "")))
			continue;
		print_value(x, &a);
		print_value(y, &b);
		if (strcmp(a.data, b.data) != 0)
			buf_addf(&d->text, "\n# %s: %s is %s, not %s", d->event,
			    same[i], a.data, b.data);
	}
}

/* At which event did this value of the key first appear? -1: never. */
static int
first_seen(struct json_object *events, size_t index, const char *key)
{
	const char *value =
	    json_string_or(json_object_array_get_idx(events, index), key, NULL);

	if (value == NULL)
		return -1;
	for (size_t i = 0; i < index; i++)
		if (strcmp(json_string_or(
			       json_object_array_get_idx(events, i), key, ""),
			value) == 0)
			return (int)i;
	return (int)index;
}

/* Ids differ, but change at the same events. */
static void
compare_ids(struct differences *d, struct json_object *real,
    struct json_object *fake, size_t index)
{
	static const char *const ids[] = { "session_id", "prompt_id",
		"tool_use_id", "transcript_path" };

	for (size_t i = 0; i < nitems(ids); i++)
		if (first_seen(real, index, ids[i]) !=
		    first_seen(fake, index, ids[i]))
			buf_addf(&d->text,
			    "\n# %s: %s of event %zu is that of event %d, not %d",
			    d->event, ids[i], index,
			    first_seen(real, index, ids[i]),
			    first_seen(fake, index, ids[i]));
}

static void
compare_all(struct json_object *real, struct json_object *fake)
{
	struct differences d = { .text = BUF_INIT };
	struct json_object *x, *y;
	char *text;

	for (size_t i = 0; i < json_object_array_length(real); i++) {
		x = json_object_array_get_idx(real, i);
		y = json_object_array_get_idx(fake, i);
		d.event = json_string_or(x, "hook_event_name", "?");
		compare(&d, "", x, y);
		compare_values(&d, x, y);
		compare_ids(&d, real, fake, i);
	}
	text = buf_take(&d.text);
	ck_assert_msg(*text == '\0', "the agents differ:%s", text);
	free(text);
}

static const char *
need(const char *name)
{
	const char *value = getenv(name);

	ck_assert_msg(value != NULL, "%s is not set", name);
	return value;
}

static bool
want_both(void)
{
	const char *agents = getenv("LLMC_AGENTS");

	return agents != NULL && strcmp(agents, "both") == 0;
}

START_TEST(plays_as_written)
{
	cleanup_json struct json_object *fake =
	    play((size_t)_i, need("LLMC_FAKE_CLAUDE"), NULL);
	cleanup_json struct json_object *real = NULL;

	if (!want_both())
		return;
	real =
	    play((size_t)_i, need("LLMC_REAL_CLAUDE"), need("LLMC_STUB_API"));
	compare_all(real, fake);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create(want_both() ? "agents-real" : "agents");
	const char *only = getenv("LLMC_SCENARIO");
	TCase *tc;

	if (want_both() && getenv("LLMC_REAL_CLAUDE") == NULL)
		unit_skip_all(
		    "the real Claude Code is not here: "
		    "LLMC_REAL_CLAUDE=$(tests/tools/real-agent.sh claude "
		    "FOLDER) has it");
	for (size_t i = 0; i < nitems(scenarios); i++) {
		if (scenarios[i].args == NULL ||
		    (only != NULL && strcmp(only, scenarios[i].name) != 0))
			continue;
		tc = tcase_create(scenarios[i].name);
		unit_set_timeout(tc, 300);
		tcase_add_loop_test(tc, plays_as_written, (int)i, (int)i + 1);
		suite_add_tcase(suite, tc);
	}
	return suite;
}
