/* SPDX-License-Identifier: ISC */

#include <ctype.h>

#include "fake.h"
#include "procref.h"

/* Every character but letters and digits becomes a dash. */
static char *
fake_project_dir(const struct fake *fake)
{
	cleanup_free char *name = xstrdup(fake->cwd);

	for (char *c = name; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c))
			*c = '-';
	return xasprintf("%s/projects/%s", fake->options.folder, name);
}

void
fake_session_paths(struct fake *fake)
{
	cleanup_free char *dir = fake_project_dir(fake);

	free(fake->transcript);
	free(fake->transcript_file);
	fake->transcript = fake->options.codex ? fake_codex_path(fake) :
	    fake->options.gemini               ? fake_gemini_path(fake) :
				   xasprintf("%s/%s.jsonl", dir, fake->session);
	fake->transcript_file = xstrdup(fake->transcript);
}

void
fake_session_new(struct fake *fake)
{
	id_uuid(fake->session);
	fake->prompt_id[0] = '\0';
	fake->parent[0] = '\0';
	fake_session_paths(fake);
}

void
fake_prompt_id(struct fake *fake)
{
	id_uuid(fake->prompt_id);
}

struct json_object *
fake_event(struct fake *fake, const char *name, unsigned with)
{
	struct json_object *event = json_object_new_object(), *effort;

	json_set_string(event, "session_id", fake->session);
	json_set_string(event, "transcript_path", fake->transcript);
	json_set_string(event, "cwd", fake->cwd);
	if (fake->prompt_id[0] != '\0')
		json_set_string(event, "prompt_id", fake->prompt_id);
	if (with & FAKE_WITH_MODE)
		json_set_string(event, "permission_mode", fake->options.mode);
	if (with & FAKE_WITH_EFFORT) {
		effort = json_object_new_object();
		json_set_string(effort, "level", "medium");
		json_set(event, "effort", effort);
	}
	json_set_string(event, "hook_event_name", name);
	return event;
}

struct json_object *
fake_event_tool(struct fake *fake, const char *name, struct json_object *input)
{
	struct json_object *event =
	    fake_event(fake, name, FAKE_WITH_MODE | FAKE_WITH_EFFORT);

	json_set_string(event, "tool_name", "Bash");
	json_set(event, "tool_input", input);
	return event;
}

/* Rewritten in place like the real one, so readers must retry. */
static void
fake_status_write(const struct fake *fake, struct json_object *status)
{
	cleanup_buf struct buf text = BUF_INIT;
	FILE *file = fopen(fake->status_path, "w");

	if (file == NULL)
		return;
	json_print(status, false, &text);
	fwrite(text.data, 1, text.len, file);
	fclose(file);
}

void
fake_status(struct fake *fake, const char *status, const char *waiting)
{
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_free char *dir = file_join(fake->options.folder, "sessions");
	cleanup_free char *born = NULL;
	struct procref self = PROCREF_INIT;

	procref_set_self(&self);
	born = xasprintf("%llu", (unsigned long long)self.start_time);
	procref_release(&self);
	if (fake->status_path == NULL) {
		file_mkdirs(dir, 0700, NULL);
		fake->status_path = xasprintf("%s/%d.json", dir, (int)getpid());
	}
	fake->status = status;
	json_set_int(json, "pid", getpid());
	json_set_string(json, "sessionId", fake->session);
	json_set_string(json, "cwd", fake->cwd);
	json_set_int(json, "startedAt", fake->started_ms);
	json_set_string(json, "procStart", born);
	json_set_string(json, "version", FAKE_VERSION);
	json_set_string(json, "kind", "interactive");
	json_set_string(json, "entrypoint", "cli");
	json_set_string(json, "status", status);
	json_set_int(json, "updatedAt", clock_wall_ms());
	json_set_int(json, "statusUpdatedAt", clock_wall_ms());
	if (waiting != NULL)
		json_set_string(json, "waitingFor", waiting);
	fake_status_write(fake, json);
}

void
fake_status_remove(struct fake *fake)
{
	if (fake->status_path != NULL)
		unlink(fake->status_path);
}

void
fake_log_prompt(struct fake *fake, const char *text)
{
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_buf struct buf line = BUF_INIT;

	if (fake->options.log == NULL)
		return;
	json_set_string(json, "session_id", fake->session);
	json_set_string(json, "prompt", text);
	json_print(json, false, &line);
	buf_addc(&line, '\n');
	file_append(fake->options.log, line.data, line.len, 0600, false, NULL);
}
