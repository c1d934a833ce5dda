/* SPDX-License-Identifier: ISC */

#include "fake.h"

#include <ctype.h>

static const char *const fake_exits[] = { "/exit", "/quit", "exit", "quit",
	":wq" };

/* "/word" is a command, "/etc/x y" is text. */
static size_t
fake_command_word(const char *text)
{
	size_t n = 1;

	while (islower((unsigned char)text[n]) || text[n] == '-')
		n++;
	return *text == '/' && n > 1 &&
		(text[n] == '\0' || isspace((unsigned char)text[n])) ?
	    n :
	    0;
}

static bool
fake_is_exit(const char *text)
{
	for (size_t i = 0; i < nitems(fake_exits); i++)
		if (strcmp(text, fake_exits[i]) == 0)
			return true;
	return false;
}

bool
fake_is_command(const char *text)
{
	text += strspn(text, " \n");
	return fake_is_exit(text) || fake_command_word(text) > 0 ||
	    *text == '!';
}

/* ---- /clear */

static void
fake_command_over(
    struct fake *fake, const struct fake_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
	fake->fired = NULL;
	fake->busy = false;
	fake_next(fake);
}

static void
fake_cleared(struct fake *fake, const struct fake_answer *answer, void *arg)
{
	struct json_object *event;

	(void)answer;
	(void)arg;
	fake_transcript_cost(fake);
	fake_memory_end(fake);
	fake_session_new(fake);
	fake->cleared = true;
	fake->context_tokens = 0;
	fake_term_say(fake, "❯ ", "/clear");
	if (fake->options.codex) {
		fake_mcp_stop(fake);
		fake_mcp_start(fake);
	}
	event = fake_event(fake, "SessionStart", 0);
	json_set_string(event, "source", "clear");
	fake->fired = fake_fire(fake, event, "clear", fake_command_over, NULL);
}

static void
fake_clear(struct fake *fake)
{
	struct json_object *event;

	fake_prompt_id(fake);
	event = fake_event(fake, "SessionEnd", 0);
	json_set_string(event, "reason", "clear");
	fake->fired = fake_fire(fake, event, "clear", fake_cleared, NULL);
}

/* ---- compaction */

#define SUMMARY "<summary>A short summary.</summary>"

static struct json_object *
fake_compact_pre(struct fake *fake)
{
	struct json_object *event = fake_event(fake, "PreCompact", 0);

	json_set_string(event, "trigger", fake->trigger);
	json_set_string(event, "custom_instructions", NULL);
	return event;
}

/* The summary is written by an unnamed agent. */
static struct json_object *
fake_compact_agent(struct fake *fake)
{
	struct json_object *event =
	    fake_event(fake, "SubagentStop", FAKE_WITH_MODE | FAKE_WITH_EFFORT);
	cleanup_free char *path = NULL;
	char uuid[ID_UUID_SIZE], id[18];

	id_uuid(uuid);
	snprintf(id, sizeof(id), "a%.8s%.8s", uuid, uuid + 24);
	path = xasprintf("%.*s/subagents/agent-%s.jsonl",
	    (int)(strlen(fake->transcript) - strlen(".jsonl")),
	    fake->transcript, id);
	json_set_string(event, "agent_id", id);
	json_set_string(event, "agent_type", "");
	json_set_bool(event, "stop_hook_active", false);
	json_set_string(event, "agent_transcript_path", path);
	json_set_string(event, "last_assistant_message", SUMMARY);
	json_set(event, "background_tasks", fake_tool_tasks(fake));
	json_set(event, "session_crons", json_object_new_array());
	return event;
}

static struct json_object *
fake_compact_start(struct fake *fake)
{
	struct json_object *event = fake_event(fake, "SessionStart", 0);

	fake_transcript_compact(fake, fake->trigger);
	json_set_string(event, "source", "compact");
	json_set_string(event, "model", fake->options.model);
	return event;
}

static struct json_object *
fake_compact_post(struct fake *fake)
{
	struct json_object *event = fake_event(fake, "PostCompact", 0);

	json_set_string(event, "trigger", fake->trigger);
	json_set_string(event, "compact_summary", SUMMARY);
	return event;
}

static void
fake_compact_step(
    struct fake *fake, const struct fake_answer *answer, void *arg)
{
	static struct json_object *(*const events[])(
	    struct fake * fake) = { fake_compact_pre, fake_compact_agent,
		fake_compact_start, fake_compact_post };

	(void)answer;
	(void)arg;
	fake->fired = NULL;
	if (fake->step == nitems(events)) {
		fake->then(fake);
		return;
	}
	fake->fired = fake_fire(
	    fake, events[fake->step++](fake), NULL, fake_compact_step, NULL);
}

void
fake_compact(
    struct fake *fake, const char *trigger, void (*then)(struct fake *fake))
{
	fake->trigger = trigger;
	fake->then = then;
	fake->step = 0;
	fake_compact_step(fake, NULL, NULL);
}

static void
fake_compacted(struct fake *fake)
{
	fake_command_over(fake, NULL, NULL);
}

void
fake_command(struct fake *fake, const char *text)
{
	size_t word;

	text += strspn(text, " \n");
	word = fake_command_word(text);
	if (fake_is_exit(text)) {
		fake_prompt_id(fake);
		fake_end(fake, "prompt_input_exit", 0);
	} else if (word == 6 && memcmp(text, "/clear", word) == 0) {
		fake->busy = true;
		fake_clear(fake);
	} else if (word == 8 && memcmp(text, "/compact", word) == 0) {
		fake->busy = true;
		fake_prompt_id(fake);
		fake_compact(fake, "manual", fake_compacted);
	} else if (*text == '!') {
		fake_turn_shell(fake, text + 1);
	} else {
		fake_term_say(fake, "● Unknown command: ", text);
		fake_next(fake);
	}
}
