/* SPDX-License-Identifier: ISC */

/* A fake Claude Code for tests: see fake.h. */

#include "fake.h"

#include <glob.h>
#include <sys/stat.h>

#define TRANSCRIPT_MAX (64 * 1024 * 1024)

static const int fake_signals[] = { SIGTERM, SIGHUP, SIGINT };

/* ---- the end */

void
fake_quit(struct fake *fake, int status)
{
	fake->ending = true;
	loop_stop(fake->loop, status);
}

static void
fake_ended(struct fake *fake, const struct fake_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
	fake->fired = NULL;
	fake_transcript_cost(fake);
	fake_status_remove(fake);
	fake_quit(fake, fake->status_code);
}

void
fake_end(struct fake *fake, const char *reason, int status)
{
	struct json_object *event;

	if (fake->ending)
		return;
	fake->ending = true;
	fake->status_code = status;
	fake_turn_cancel(fake);
	fake_prompts_free(fake);
	fake_tool_free_tasks(fake);
	fake_idle_stop(fake);
	loop_timer_free(take_ptr(&fake->timer));
	fake_fired_cancel(take_ptr(&fake->fired));
	if (!fake->started || fake->hung) {
		fake_quit(fake, status);
		return;
	}
	event = fake_event(fake, "SessionEnd", 0);
	json_set_string(event, "reason", reason);
	fake->fired = fake_fire(fake, event, reason, fake_ended, NULL);
}

static void
fake_signalled(int signo, void *arg)
{
	struct fake *fake = arg;

	if (fake->deaf && signo != SIGHUP)
		return;
	fake_end(fake, "other", signo == SIGINT ? 0 : 128 + signo);
}

/* ---- waiting for a person */

static void
fake_idle_told(struct fake *fake, const struct fake_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
	fake->notice = NULL;
}

static void
fake_idle_due(void *arg)
{
	struct fake *fake = arg;
	struct json_object *event = fake_event(fake, "Notification", 0);

	loop_timer_free(take_ptr(&fake->idle));
	json_set_string(event, "message", "Claude is waiting for your input");
	json_set_string(event, "notification_type", "idle_prompt");
	fake->notice =
	    fake_fire(fake, event, "idle_prompt", fake_idle_told, NULL);
}

void
fake_idle_start(struct fake *fake)
{
	fake_idle_stop(fake);
	if (fake->options.headless)
		return; /* it is not told */
	fake->idle =
	    loop_after(fake->loop, fake->options.idle_ms, fake_idle_due, fake);
}

void
fake_idle_stop(struct fake *fake)
{
	loop_timer_free(take_ptr(&fake->idle));
	fake_fired_cancel(take_ptr(&fake->notice));
}

/* ---- the start */

static void
fake_started(struct fake *fake, const struct fake_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
	fake->fired = NULL;
	fake->busy = false;
	if (fake->options.prompt != NULL)
		fake_submit(fake, fake->options.prompt);
	else
		fake_next(fake);
}

static int64_t
fake_transcript_age(const struct fake *fake)
{
	struct stat st;

	if (stat(fake->transcript_file, &st) == -1)
		return 0;
	return clock_wall_ms() / 1000 - st.st_mtim.tv_sec;
}

static void
fake_start(void *arg)
{
	struct fake *fake = arg;
	struct json_object *event = fake_event(fake, "SessionStart", 0);
	const char *source =
	    fake->options.resume != NULL ? "resume" : "startup";

	loop_timer_free(take_ptr(&fake->timer));
	fake->started = true;
	json_set_string(event, "source", source);
	if (fake->options.resume != NULL) {
		json_set_int(event, "seconds_since_last_response",
		    fake_transcript_age(fake));
		json_set_int(event, "context_tokens", fake->context_tokens);
		json_set_bool(event, "prompt_cache_likely_expired", true);
		json_set(event, "estimated_cache_write_usd",
		    json_object_new_double(0.0141));
	} else {
		json_set_string(event, "model", fake->options.model);
	}
	fake_status(fake, "idle", NULL);
	if (fake->options.gemini)
		fake_gemini_say("init", "session_id", fake->session);
	fake->fired = fake_fire(fake, event, source, fake_started, NULL);
}

/* A session may be resumed from another worktree: then hooks get a path in the
 * new project, but the old file is continued. */
static bool
fake_find_transcript(struct fake *fake)
{
	cleanup_free char *pattern = xasprintf(
	    "%s/projects/*/%s.jsonl", fake->options.folder, fake->session);
	glob_t found;
	bool exists;

	if (file_exists(fake->transcript_file))
		return true;
	exists = glob(pattern, 0, NULL, &found) == 0;
	if (exists) {
		free(fake->transcript_file);
		fake->transcript_file = xstrdup(found.gl_pathv[0]);
	}
	globfree(&found);
	return exists;
}

/* A file without a message is not a conversation. */
static bool
fake_can_resume(struct fake *fake)
{
	cleanup_buf struct buf text = BUF_INIT;

	return fake_find_transcript(fake) &&
	    file_read(fake->transcript_file, TRANSCRIPT_MAX, &text, NULL) ==
	    0 &&
	    (strstr(text.data, "\"role\":\"user\"") != NULL ||
		strstr(text.data, "\"type\":\"user\"") != NULL);
}

static bool
fake_check(struct fake *fake)
{
	const char *sandbox = getenv("IS_SANDBOX");
	const struct fake_options *options = &fake->options;

	if (!options->codex && !options->opencode && !options->gemini &&
	    strcmp(options->mode, "bypassPermissions") == 0 && geteuid() == 0 &&
	    (sandbox == NULL || strcmp(sandbox, "1") != 0)) {
		fputs("--dangerously-skip-permissions cannot be used with "
		      "root/sudo privileges for security reasons\n",
		    stderr);
		return false;
	}
	if (options->resume != NULL && !fake_can_resume(fake)) {
		fprintf(stderr, "No conversation found with session ID: %s\n",
		    options->resume);
		return false;
	}
	if (options->resume == NULL && options->session != NULL &&
	    fake_find_transcript(fake)) {
		fprintf(stderr, "Error: Session ID %s is already in use.\n",
		    options->session);
		return false;
	}
	return true;
}

static bool
fake_session_begin(struct fake *fake)
{
	const char *id = fake->options.resume != NULL ? fake->options.resume :
							fake->options.session;

	fake_session_new(fake);
	if (id == NULL)
		return true;
	if (!id_uuid_valid(id)) {
		fputs("Error: Invalid session ID. Must be a valid UUID.\n",
		    stderr);
		return false;
	}
	snprintf(fake->session, sizeof(fake->session), "%s", id);
	fake_session_paths(fake);
	return true;
}

static void
fake_release(struct fake *fake)
{
	fake->ending = true;
	fake_turn_cancel(fake);
	fake_prompts_free(fake);
	fake_tool_free_tasks(fake);
	fake_fired_cancel(fake->fired);
	fake_idle_stop(fake);
	loop_timer_free(fake->timer);
	fake_mcp_stop(fake);
	fake_term_close(fake);
	for (size_t i = 0; i < nitems(fake_signals); i++)
		loop_signal_free(fake->signals[i]);
	loop_free(fake->loop);
}

static int
fake_run(struct fake *fake)
{
	int status;

	fake->loop = loop_new();
	fake->busy = true;
	for (size_t i = 0; i < nitems(fake_signals); i++)
		fake->signals[i] = loop_signal_new(
		    fake->loop, fake_signals[i], fake_signalled, fake);
	fake_term_open(fake);
	if (fake->options.no_start)
		fake_term_dialog(fake, FAKE_DIALOG_FIRST_RUN);
	else
		fake->timer = loop_after(
		    fake->loop, fake->options.start_ms, fake_start, fake);
	status = fake_mcp_start(fake) ? loop_run(fake->loop) : 1;
	fake_release(fake);
	return status;
}

int
main(int argc, char **argv)
{
	struct fake fake = { 0 };
	int status = 1;

	fake_options_read(&fake.options, argc, argv);
	if (fake.options.version) {
		puts(FAKE_VERSION " (fake-claude)");
		return 0;
	}
	TAILQ_INIT(&fake.hooks);
	TAILQ_INIT(&fake.tasks);
	TAILQ_INIT(&fake.servers);
	TAILQ_INIT(&fake.uses);
	TAILQ_INIT(&fake.prompts);
	fake.started_ms = clock_wall_ms();
	fake.cwd = realpath(".", NULL);
	if (fake.cwd != NULL && fake_session_begin(&fake) &&
	    fake_check(&fake)) {
		fake_hooks_load(&fake);
		if (fake.options.resume != NULL)
			fake_transcript_resume(&fake);
		fake_memory_load(&fake);
		status = fake_run(&fake);
	}
	fake_hooks_free(&fake);
	free(fake.unfinished);
	free(fake.cwd);
	free(fake.transcript);
	free(fake.transcript_file);
	free(fake.status_path);
	return status;
}
