/* SPDX-License-Identifier: ISC */

#include "fake.h"

#define MORE_MAX 65536

/* ---- the queue */

static void
fake_prompt_free(struct fake_prompt *prompt)
{
	TAILQ_REMOVE(&prompt->fake->prompts, prompt, entry);
	fake_fired_cancel(prompt->fired);
	free(prompt->text);
	free(prompt);
}

void
fake_prompts_free(struct fake *fake)
{
	struct fake_prompt *prompt;

	while ((prompt = TAILQ_FIRST(&fake->prompts)) != NULL)
		fake_prompt_free(prompt);
}

/* ---- the end of a turn */

void
fake_turn_cancel(struct fake *fake)
{
	struct fake_turn *turn = &fake->turn;

	if (turn->active) /* during a compaction */
		fake_fired_cancel(take_ptr(&fake->fired));
	fake_fired_cancel(take_ptr(&turn->fired));
	if (turn->prompt != NULL)
		fake_prompt_free(take_ptr(&turn->prompt));
	loop_timer_free(take_ptr(&turn->timer));
	fake_tool_cancel(fake);
	fake_use_cancel(fake);
	script_release(&turn->script);
	script_action_release(&turn->action);
	buf_release(&turn->last);
	turn->active = false;
	turn->blocks = 0;
}

static void
fake_turn_over(struct fake *fake, bool watch_idle)
{
	fake_turn_cancel(fake);
	if (watch_idle)
		fake_idle_start(fake);
	fake_next(fake);
}

void
fake_interrupt(struct fake *fake)
{
	bool in_tool = fake->tool.running;

	if (!fake->turn.active)
		return;
	if (in_tool)
		fake_transcript_result(fake, fake->tool.id,
		    "The user doesn't want to proceed with this tool use.",
		    true, json_object_new_string("User rejected tool use"));
	fake_transcript_interrupted(fake, in_tool);
	fake->term.dialog = FAKE_DIALOG_NONE;
	fake_term_say(fake, "  ", "Interrupted");
	fake_turn_over(fake, false);
}

static void
fake_turn_stopped(
    struct fake *fake, const struct fake_answer *answer, void *arg)
{
	struct fake_turn *turn = &fake->turn;

	(void)arg;
	turn->fired = NULL;
	if (answer->block && turn->blocks < fake->options.block_cap) {
		turn->blocks++;
		fake_transcript_feedback(fake, answer->reason.data);
		fake_term_say(fake, "  Stop hook: ", answer->reason.data);
		script_add(
		    &turn->script, answer->reason.data, answer->reason.len);
		fake_turn_step(fake);
		return;
	}
	fake_transcript_turn(fake, clock_mono_ms() - turn->began_ms);
	fake_memory_end(fake);
	fake_turn_over(fake, true);
}

static void
fake_turn_stop(struct fake *fake)
{
	struct json_object *event =
	    fake_event(fake, "Stop", FAKE_WITH_MODE | FAKE_WITH_EFFORT);

	json_set_bool(event, "stop_hook_active", fake->turn.blocks > 0);
	json_set_string(event,
	    fake->options.gemini ? "prompt_response" : "last_assistant_message",
	    fake->turn.last.data);
	json_set(event, "background_tasks", fake_tool_tasks(fake));
	json_set(event, "session_crons", json_object_new_array());
	fake->turn.fired =
	    fake_fire(fake, event, NULL, fake_turn_stopped, NULL);
}

/* ---- failures of the API */

static void
fake_turn_failed(struct fake *fake, const struct fake_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
	fake->turn.fired = NULL;
	fake_transcript_turn(fake, clock_mono_ms() - fake->turn.began_ms);
	fake_memory_end(fake);
	fake_turn_over(fake, true);
}

/* The advice names a server that is not the vendor's. */
static void
fake_gateway(struct buf *out)
{
	const char *url = getenv("ANTHROPIC_BASE_URL"), *host;

	if (url == NULL || (host = strstr(url, "://")) == NULL)
		return;
	host += 3;
	buf_addf(out, " If it persists, check your inference gateway (%.*s).",
	    (int)strcspn(host, "/"), host);
}

static void
fake_error_text(
    struct fake *fake, int status, const char *words, struct buf *out)
{
	switch (status) {
	case 401:
		buf_adds(out, "Invalid API key · Fix external API key");
		break;
	case 403:
		buf_addf(out, "Please run /login · API Error: 403 %s", words);
		break;
	case 404:
		buf_addf(out,
		    "There's an issue with the selected model (%s). It may not "
		    "exist or you may not have access to it. Run /model to "
		    "pick a different model.",
		    fake->options.model);
		break;
	case 429:
		buf_addf(out, "API Error: Request rejected (429) · %s", words);
		break;
	default:
		buf_addf(out, "API Error: %d %s", status, words);
		if (status < 500)
			break;
		buf_adds(out,
		    ". This is a server-side issue, usually temporary — try "
		    "again in a moment.");
		fake_gateway(out);
		break;
	}
}

static void
fake_turn_fail(struct fake *fake)
{
	const struct script_action *action = &fake->turn.action;
	const struct script_error *error = script_error(action->status);
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *event;

	fake_error_text(fake, action->status, action->text.data, &text);
	fake_transcript_error(fake, error, text.data);
	if (fake->options.gemini) { /* it has no hook for that */
		fake_gemini_say("result", "error", text.data);
		fake_end(fake, "other", 1);
		return;
	}
	fake_term_say(fake, "● ", text.data);
	event = fake_event(fake, "StopFailure", FAKE_WITH_EFFORT);
	json_set_string(event, "error", error->word);
	json_set_string(event, "last_assistant_message", text.data);
	fake->turn.fired =
	    fake_fire(fake, event, error->word, fake_turn_failed, NULL);
}

/* ---- the steps */

static void
fake_turn_act(struct fake *fake)
{
	struct fake_turn *turn = &fake->turn;
	struct script_action *action = &turn->action;

	switch (action->kind) {
	case SCRIPT_DO_REPLY:
		buf_clear(&turn->last);
		buf_add(&turn->last, action->say.data, action->say.len);
		fake_transcript_say(fake, turn->last.data);
		fake_term_say(fake, "● ", turn->last.data);
		fake_turn_stop(fake);
		break;
	case SCRIPT_DO_TOOL:
		if (action->use_count > 0)
			fake_use_run(fake, action);
		else
			fake_tool_run(fake, action);
		break;
	case SCRIPT_DO_FAIL:
		fake_turn_fail(fake);
		break;
	case SCRIPT_DO_COMPACT:
		fake_compact(fake, "auto", fake_turn_step);
		break;
	case SCRIPT_DO_EXIT:
		fake_quit(fake, (int)action->number);
		break;
	case SCRIPT_DO_HANG:
		fake->hung = true;
		fake->deaf = action->hard;
		break;
	case SCRIPT_DO_IGNORE_ENTER:
		fake->term.ignore_enter = action->number;
		fake_turn_step(fake);
		break;
	}
}

static void
fake_turn_delayed(void *arg)
{
	struct fake *fake = arg;

	loop_timer_free(take_ptr(&fake->turn.timer));
	fake_turn_act(fake);
}

/* Prompts that arrived while a tool ran belong to this turn. */
static void
fake_turn_absorb(struct fake *fake)
{
	struct fake_prompt *prompt, *next;

	TAILQ_FOREACH_SAFE(prompt, &fake->prompts, entry, next)
	{
		if (!prompt->accepted)
			break;
		fake_transcript_queue(fake, "remove", prompt->text);
		script_add(
		    &fake->turn.script, prompt->text, strlen(prompt->text));
		fake_prompt_free(prompt);
	}
}

void
fake_turn_step(struct fake *fake)
{
	struct fake_turn *turn = &fake->turn;
	bool behind_tool = turn->action.kind == SCRIPT_DO_TOOL;

	if (behind_tool)
		fake_turn_absorb(fake);
	script_action_release(&turn->action);
	turn->action = (struct script_action)SCRIPT_ACTION_INIT;
	script_next(&turn->script, &turn->action);
	if (turn->action.delay_ms > 0)
		turn->timer = loop_after(
		    fake->loop, turn->action.delay_ms, fake_turn_delayed, fake);
	else
		fake_turn_act(fake);
}

/* ---- the beginning of a turn */

/* Added to every prompt: a fault that does not go away. */
static void
fake_turn_more(struct fake *fake)
{
	cleanup_buf struct buf steps = BUF_INIT;

	if (fake->options.more != NULL &&
	    file_read(fake->options.more, MORE_MAX, &steps, NULL) == 0)
		script_add(&fake->turn.script, steps.data, steps.len);
}

static void
fake_turn_begin(struct fake *fake, struct fake_prompt *prompt, bool queued)
{
	fake_transcript_prompt(fake, prompt->text, queued);
	fake->turn.action = (struct script_action)SCRIPT_ACTION_INIT;
	script_add(&fake->turn.script, prompt->text, strlen(prompt->text));
	fake_turn_more(fake);
	fake_memory_begin(fake, prompt->text);
	fake_prompt_free(prompt);
	fake_turn_step(fake);
}

static struct json_object *
fake_prompt_event(struct fake *fake, const struct fake_prompt *prompt)
{
	struct json_object *event =
	    fake_event(fake, "UserPromptSubmit", FAKE_WITH_MODE);

	json_set_string(event, "prompt", prompt->text);
	return event;
}

/* Blocked: the text is put back into the box. */
static void
fake_prompt_refuse(
    struct fake *fake, struct fake_prompt *prompt, const char *reason)
{
	fake_term_say(
	    fake, "UserPromptSubmit operation blocked by hook: ", reason);
	buf_adds(&fake->term.box, prompt->text);
	fake_prompt_free(prompt);
}

static void
fake_prompt_accept(struct fake *fake, struct fake_prompt *prompt)
{
	prompt->accepted = true;
	if (!prompt->notification)
		fake_log_prompt(fake, prompt->text);
}

/* The hook of the prompt of this turn was answered. */
static void
fake_prompt_answered(
    struct fake *fake, const struct fake_answer *answer, void *arg)
{
	struct fake_prompt *prompt = arg;

	fake->turn.fired = NULL;
	fake->turn.prompt = NULL;
	if (answer->block) {
		fake_prompt_refuse(fake, prompt, answer->reason.data);
		fake_turn_over(fake, false);
		return;
	}
	fake_prompt_accept(fake, prompt);
	fake_turn_begin(fake, prompt, false);
}

/* The hook of a prompt that waits for the current turn was answered. */
static void
fake_prompt_answered_busy(
    struct fake *fake, const struct fake_answer *answer, void *arg)
{
	struct fake_prompt *prompt = arg;

	prompt->fired = NULL;
	if (answer->block)
		fake_prompt_refuse(fake, prompt, answer->reason.data);
	else
		fake_prompt_accept(fake, prompt);
	fake_next(fake);
}

static bool
fake_busy(const struct fake *fake)
{
	return fake->turn.active || fake->busy || fake->ending;
}

void
fake_next(struct fake *fake)
{
	struct fake_prompt *prompt = TAILQ_FIRST(&fake->prompts);
	cleanup_free char *text = NULL;

	if (fake_busy(fake))
		return;
	if (prompt == NULL) {
		fake_status(
		    fake, TAILQ_EMPTY(&fake->tasks) ? "idle" : "shell", NULL);
		fake_term_draw(fake);
		if (fake->options.gemini && fake->term.watch == NULL)
			fake_end(fake, "exit", 0);
		return;
	}
	if (prompt->fired != NULL)
		return; /* its hook is running */
	if (fake_is_command(prompt->text)) {
		text = take_ptr(&prompt->text);
		fake_prompt_free(prompt);
		fake_command(fake, text);
		return;
	}
	fake->turn.active = true;
	fake->turn.began_ms = clock_mono_ms();
	buf_init(&fake->turn.last);
	fake_prompt_id(fake);
	fake_status(fake, "busy", NULL);
	fake_term_say(fake, "❯ ", prompt->text);
	if (prompt->accepted) {
		fake_transcript_queue(fake, "dequeue", NULL);
		fake_turn_begin(fake, prompt, true);
		return;
	}
	fake->turn.prompt = prompt;
	fake->turn.fired = fake_fire(fake, fake_prompt_event(fake, prompt),
	    NULL, fake_prompt_answered, prompt);
}

/* Without UserPromptSubmit, but with a Stop. */
void
fake_turn_shell(struct fake *fake, const char *command)
{
	fake->turn.active = true;
	fake->turn.began_ms = clock_mono_ms();
	buf_init(&fake->turn.last);
	fake_prompt_id(fake);
	fake_status(fake, "busy", NULL);
	fake_term_say(fake, "! ", command);
	fake_tool_bare(fake, command, fake_turn_stop);
}

static void
fake_enqueue(struct fake *fake, const char *text, bool notification)
{
	struct fake_prompt *prompt = xcalloc(1, sizeof(*prompt));

	fake_idle_stop(fake);
	prompt->fake = fake;
	prompt->text = xstrdup(text);
	prompt->notification = notification;
	TAILQ_INSERT_TAIL(&fake->prompts, prompt, entry);
	if (!fake->turn.active || fake_is_command(text)) {
		fake_next(fake);
		return;
	}
	fake_transcript_queue(fake, "enqueue", text);
	prompt->fired = fake_fire(fake, fake_prompt_event(fake, prompt), NULL,
	    fake_prompt_answered_busy, prompt);
}

void
fake_submit(struct fake *fake, const char *text)
{
	fake_enqueue(fake, text, false);
}

void
fake_notify(struct fake *fake, const char *text)
{
	fake_enqueue(fake, text, true);
}
