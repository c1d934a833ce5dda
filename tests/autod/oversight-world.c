/* SPDX-License-Identifier: ISC */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "book-history.h"
#include "agent.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "oversight-floor.h"
#include "oversight-world.h"
#include "unit.h"

void
oversight_world_begin(struct oversight_world *w, const char *settings)
{
	memset(w, 0, sizeof *w);
	buf_init(&w->transcript);
	auto_world_begin(&w->world, settings);
	w->floor = oversight_floor_new(w->world.mode);
	auto_world_task(&w->world, "a.md", "Make the numbers add up\n");
	auto_world_live(&w->world);
}

void
oversight_world_end(struct oversight_world *w)
{
	oversight_floor_free(w->floor);
	auto_world_end(&w->world);
	buf_release(&w->transcript);
}

void
oversight_world_reopen(struct oversight_world *w)
{
	oversight_floor_free(w->floor);
	auto_world_reopen(&w->world);
	w->floor = oversight_floor_new(w->world.mode);
}

void
oversight_world_die(struct oversight_world *w)
{
	oversight_world_reopen(w);
	auto_world_live(&w->world);
}

void
oversight_world_sh(struct oversight_world *w, const char *text)
{
	floor_world_wt(&w->world.floor, "auto-1", text);
}

void
oversight_world_talk(
    struct oversight_world *w, struct agent *agent, const char *line)
{
	const char *path = unit_path("transcript.jsonl");

	buf_adds(&w->transcript, line);
	buf_addc(&w->transcript, '\n');
	ck_assert_int_eq(file_replace(path, w->transcript.data,
			     w->transcript.len, 0600, NULL),
	    0);
	fake_session_reads(agent->session, path);
}

void
oversight_world_tool_fails(
    struct oversight_world *w, struct agent *agent, int line)
{
	cleanup_free char *text =
	    xasprintf("{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
		      "\"tool_result\",\"is_error\":true,\"content\":"
		      "\"sum.c:%d: undefined reference to add\"}]}}",
		line);

	oversight_world_talk(w, agent, text);
}

const char *
oversight_world_sent_back(struct oversight_world *w, int n)
{
	struct agent *agent = auto_world_turn(&w->world, n);

	fake_session_turn_ends(agent->session, "I tried again.");
	agent = auto_world_turn(&w->world, n + 1);
	return fake_session_prompt(agent->session);
}

void
oversight_world_paused(struct oversight_world *w)
{
	floor_world_wait_status(
	    &w->world.floor, auto_world_agent(&w->world), WORKER_PAUSED);
	floor_world_settle(&w->world.floor);
}

/* And that is saved and recorded. */
static bool
is_parked(void *arg)
{
	struct oversight_world *w = arg;
	const struct task *t = state_task(&w->world.core->state, "t1");
	const struct agent *agent = auto_world_agent(&w->world);

	return t != NULL && t->step == TASK_PARKED && agent != NULL &&
	    agent->worker->task == NULL && !agent_is_taken(agent);
}

void
oversight_world_parked(struct oversight_world *w)
{
	floor_world_wait(&w->world.floor, is_parked, w);
	floor_world_settle(&w->world.floor);
}

void
oversight_world_get_parked(struct oversight_world *w)
{
	struct agent *agent = auto_world_turn(&w->world, 1);

	oversight_world_sh(w, "echo 1 >one.txt");
	for (int n = 1; n <= 4; n++)
		oversight_world_sent_back(w, n);
	fake_session_turn_ends(agent->session, "Again.");
	oversight_world_parked(w);
}

const char *
oversight_world_ask(
    struct oversight_world *w, const char *method, const char *params)
{
	return floor_world_answer(
	    &w->world.floor, floor_world_ask(&w->world.floor, method, params));
}

const char *
oversight_world_resume(
    struct oversight_world *w, const char *name, const char *more)
{
	struct floor_call *call =
	    floor_world_call(&w->world.floor, "auto.resume", name, more);

	ck_assert_ptr_null(floor_world_answer(&w->world.floor, call));
	return json_string_or(floor_call_result(call), "message", "");
}

/* --- records --------------------------------------------------------- */

struct search {
	const char *member;
	struct json_object *last;
	int count;
};

static bool
on_record(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	struct search *search = arg;
	struct json_object *json = NULL;

	(void)task;
	(void)seq;
	if (json_object_object_get_ex(record, search->member, &json)) {
		json_object_put(search->last);
		search->last = json_object_get(json);
		search->count++;
	}
	return true;
}

const char *
oversight_world_recorded(
    struct oversight_world *w, const char *member, int *ret_count)
{
	static char *text;
	struct search search = { .member = member };

	ck_assert_int_eq(book_read_turns(w->world.core->book, "t1", 0,
			     on_record, &search, NULL),
	    0);
	if (ret_count != NULL)
		*ret_count = search.count;
	free(text);
	text = xstrdup(search.last == NULL ?
		"" :
		json_object_to_json_string_ext(
		    search.last, JSON_C_TO_STRING_PLAIN));
	json_object_put(search.last);
	return text;
}

void
oversight_world_has(const char *text, const char *words)
{
	ck_assert_msg(text != NULL && strstr(text, words) != NULL,
	    "\"%s\" is not in: %s", words, text);
}

void
oversight_world_lacks(const char *text, const char *words)
{
	ck_assert_msg(
	    strstr(text, words) == NULL, "\"%s\" is in: %s", words, text);
}
