/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "clock.h"
#include "errtext.h"
#include "escalation-answer.h"
#include "json.h"
#include "mem.h"
#include "outbox-record.h"
#include "remote.h"
#include "roster.h"
#include "request.h"
#include "state.h"
#include "strv.h"
#include "text.h"
#include "worker.h"

/* The words; or an option, by its number or its words. */
static const char *
choose(const struct outbox_record *record, const char *words, struct err *err)
{
	size_t count = strv_count(record->options);
	int64_t number;

	for (size_t i = 0; i < count; i++)
		if (strcasecmp(record->options[i], words) == 0)
			return record->options[i];
	if (count == 0 || !text_parse_int(words, 0, INT64_MAX, &number))
		return words;
	if (number >= 1 && number <= (int64_t)count)
		return record->options[number - 1];
	err_set(err, -EINVAL,
	    "there is no option %s, only %zu; see them with: llmc --json "
	    "escalations list --all",
	    words, count);
	return NULL;
}

/* What an answer is about: the worker as it is now, if that still waits. */
struct asked {
	struct cli *cli;
	const struct outbox_record *record;
	const char *answer;
	const struct worker *worker; /* NULL = it does not wait */
	bool parked; /* its task waits for a person */
};

/* Ask the daemon; then the words are added to the output. */
static bool
ask(struct cli *cli, const char *method, struct json_object *params,
    const char *words, struct err *err)
{
	struct json_object *result = NULL;
	const char *code = NULL;
	bool good = remote_try(cli, method, params, 0, &result, &code, err);

	json_object_put(result);
	if (good)
		buf_addf(&cli->text, "%s\n", words);
	return good;
}

static bool
send_message(const struct asked *a, struct err *err)
{
	struct json_object *params = remote_worker(a->worker->name);
	cleanup_free char *words = xasprintf("Sent to %s.", a->worker->name);

	json_set_string(params, "text", a->answer);
	return ask(a->cli, "worker.message", params, words, err);
}

/* Whoever does the task next is told. */
static bool
resume(const struct asked *a, struct err *err)
{
	struct json_object *params = remote_worker(a->record->task);
	cleanup_free char *words = xasprintf(
	    "%s continues, and is told your answer.", a->record->task);

	json_set_string(params, "note", a->answer);
	return ask(a->cli, "auto.resume", params, words, err);
}

static bool
abort_task(const struct asked *a, struct err *err)
{
	struct json_object *params = json_object_new_object();
	cleanup_free char *words = xasprintf("%s is aborted.", a->record->task);

	json_set_string(params, "task", a->record->task);
	json_set_string(params, "reason", "that was the answer");
	return ask(a->cli, "task.abort", params, words, err);
}

static bool
unblock(const struct asked *a, struct err *err)
{
	struct json_object *params = json_object_new_object();
	cleanup_free char *words =
	    xasprintf("%s can be worked on again.", a->record->node);

	json_set_string(params, "goal", a->record->goal);
	json_set_string(params, "node", a->record->node);
	json_set_string(params, "status", "queued");
	json_set_string(params, "reason", a->answer);
	return ask(a->cli, "overseer.work.update", params, words, err);
}

static bool
is_pause(const struct outbox_record *r)
{
	return r->intervention != NULL && strcmp(r->intervention, "pause") == 0;
}

/* Was its task parked then, and is it still? */
static bool
is_parked(const struct state *state, const struct outbox_record *r)
{
	const struct task *t =
	    is_pause(r) && r->task != NULL ? state_task(state, r->task) : NULL;

	return t != NULL && t->step == TASK_PARKED;
}

/* Its worker, if that is still what it was when people were told. */
static const struct worker *
waiting_worker(const struct state *state, const struct outbox_record *r)
{
	const struct worker *w =
	    r->worker != NULL ? state_find(state, r->worker) : NULL;

	if (w == NULL || is_pause(r) ||
	    (r->task != NULL &&
		(w->task == NULL || strcmp(w->task, r->task) != 0)))
		return NULL;
	return w;
}

static bool
tell_worker(const struct asked *a, struct err *err)
{
	const struct outbox_record *r = a->record;

	if (a->parked)
		return r->options != NULL && strcmp(a->answer, "abort") == 0 ?
		    abort_task(a, err) :
		    resume(a, err);
	if (a->worker == NULL)
		return err_set(err, -ESTALE,
			   "%s does not wait for this answer any more; mark "
			   "it as seen with: llmc escalations ack %s",
			   is_pause(r) ? r->task : r->worker, r->id) == 0;
	return send_message(a, err);
}

/* The id of the question that it tells of; NULL = of none. */
static const char *
question_of(const struct outbox_record *record)
{
	size_t len = strlen(REQUEST_EVENT);

	return record->event != NULL &&
		strncmp(record->event, REQUEST_EVENT, len) == 0 ?
	    record->event + len :
	    NULL;
}

bool
escalation_answer_question(struct cli *cli, const char *id, const char *words,
    struct json_object **ret_result, struct err *err)
{
	struct json_object *params = json_object_new_object();
	const char *code = NULL;

	json_set_string(params, "id", id);
	json_set_string(params, "response", words);
	if (!remote_try(
		cli, "request.answer", params, 0, ret_result, &code, err))
		return false;
	buf_addf(&cli->text, "%s is answered: %s\n", id,
	    json_string_or(*ret_result, "response", words));
	return true;
}

/* A turn unblocks what waits for a person; without a session that can have one,
 * the node is given out again. */
static bool
deliver(const struct asked *a, struct err *err)
{
	const struct outbox_record *r = a->record;
	bool node = r->goal != NULL && r->node != NULL;

	if (r->worker == NULL && !node) {
		err_set(err, -EINVAL,
		    "nobody waits for an answer; mark it as seen with: llmc "
		    "escalations ack %s",
		    r->id);
		return false;
	}
	if (r->worker != NULL && tell_worker(a, err))
		return true;
	return node && unblock(a, err);
}

/* It was carried out: so it is noted. */
static void
note(struct outbox_record *record, const char *answer)
{
	free(record->answer);
	record->answer =
	    xstrndup(answer, text_cut(answer, strlen(answer), OUTBOX_TEXT_MAX));
	outbox_record_ack(record, clock_wall_ms());
}

/* An agent waits in a tool. */
static bool
answer_question(struct cli *cli, struct outbox_record *record,
    const char *words, struct err *err)
{
	cleanup_json struct json_object *result = NULL;

	if (!escalation_answer_question(
		cli, question_of(record), words, &result, err))
		return false;
	note(record, json_string_or(result, "response", words));
	return true;
}

bool
escalation_answer(struct cli *cli, struct outbox_record *record,
    const char *words, struct err *err)
{
	struct asked a = { .cli = cli, .record = record };
	struct state state;
	bool good;

	if (record->answer != NULL) {
		err_set(err, -EALREADY, "it was answered already: %.100s",
		    record->answer);
		return false;
	}
	if (question_of(record) != NULL)
		return answer_question(cli, record, words, err);
	a.answer = choose(record, words, err);
	if (a.answer == NULL || roster_read(cli, &state, err) < 0)
		return false;
	a.worker = waiting_worker(&state, record);
	a.parked = is_parked(&state, record);
	good = deliver(&a, err);
	state_release(&state);
	if (good)
		note(record, a.answer);
	return good;
}
