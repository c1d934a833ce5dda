/* SPDX-License-Identifier: ISC */

#include "fake.h"

#define TRANSCRIPT_MAX (64 * 1024 * 1024)

void
fake_memory_end(struct fake *fake)
{
	free(take_ptr(&fake->unfinished));
}

static void
fake_memory_keep(struct fake *fake, const char *prompt)
{
	struct script script = { 0 };

	script_add(&script, prompt, strlen(prompt));
	if (script.count > 0) {
		free(fake->unfinished);
		fake->unfinished = xstrdup(prompt);
	}
	script_release(&script);
}

void
fake_memory_begin(struct fake *fake, const char *prompt)
{
	struct script *script = &fake->turn.script;

	if (!fake->options.goes_on)
		return;
	if (script->count == 0 && fake->unfinished != NULL)
		script_add(script, fake->unfinished, strlen(fake->unfinished));
	fake_memory_keep(fake, prompt);
}

static void
fake_memory_line(struct fake *fake, struct json_object *line)
{
	struct json_object *message = NULL;
	const char *type = json_string_or(line, "type", "");

	if (strcmp(type, "system") == 0 &&
	    strcmp(json_string_or(line, "subtype", ""), "turn_duration") == 0)
		fake_memory_end(fake);
	else if (strcmp(type, "user") == 0 &&
	    json_get_object(line, "", "message", &message, NULL) == 0)
		fake_memory_keep(fake, json_string_or(message, "content", ""));
}

void
fake_memory_load(struct fake *fake)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *line;

	if (!fake->options.goes_on || fake->options.resume == NULL ||
	    file_read(fake->transcript_file, TRANSCRIPT_MAX, &text, NULL) < 0)
		return;
	for (char *at = text.data, *end; (end = strchr(at, '\n')) != NULL;
	     at = end + 1) {
		*end = '\0';
		line = json_tokener_parse(at);
		fake_memory_line(fake, line);
		json_object_put(line);
	}
}
