/* SPDX-License-Identifier: ISC */

#include "oversight-world.h"
#include "book-history.h"
#include "oversight-floor.h"

struct oversight_world oversight_world;

void
oversight_world_begin(const char *settings)
{
	memset(&oversight_world, 0, sizeof oversight_world);
	buf_init(&oversight_world.transcript);
	auto_world_begin(settings);
	oversight_world.floor = oversight_floor_new(auto_world.mode);
	auto_world_task("a.md", "Make the numbers add up\n");
	auto_world_live();
	unit_at_end(oversight_world_end);
}

struct agent *
oversight_world_begin_turn(const char *settings)
{
	struct agent *agent;

	oversight_world_begin(settings);
	agent = auto_world_turn(1);
	oversight_world_sh("echo 1 >one.txt");
	return agent;
}

void
oversight_world_end(void)
{
	if (floor_world.repo == NULL)
		return;
	oversight_floor_free(oversight_world.floor);
	auto_world_end();
	buf_release(&oversight_world.transcript);
}

void
oversight_world_reopen(void)
{
	oversight_floor_free(oversight_world.floor);
	auto_world_reopen();
	oversight_world.floor = oversight_floor_new(auto_world.mode);
}

void
oversight_world_die(void)
{
	oversight_world_reopen();
	auto_world_live();
}

void
oversight_world_sh(const char *text)
{
	floor_world_wt("auto-1", text);
}

void
oversight_world_talk(struct agent *agent, const char *line)
{
	const char *path = unit_path("transcript.jsonl");

	buf_adds(&oversight_world.transcript, line);
	buf_addc(&oversight_world.transcript, '\n');
	ck_assert_int_eq(file_replace(path, oversight_world.transcript.data,
			     oversight_world.transcript.len, 0600, NULL),
	    0);
	fake_session_reads(agent->session, path);
}

void
oversight_world_tool_fails(struct agent *agent, int line)
{
	cleanup_free char *text =
	    xasprintf("{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
		      "\"tool_result\",\"is_error\":true,\"content\":"
		      "\"sum.c:%d: undefined reference to add\"}]}}",
		line);

	oversight_world_talk(agent, text);
}

const char *
oversight_world_sent_back(int n)
{
	struct agent *agent = auto_world_turn(n);

	fake_session_turn_ends(agent->session, "I tried again.");
	agent = auto_world_turn(n + 1);
	return fake_session_prompt(agent->session);
}

void
oversight_world_paused(void)
{
	floor_world_wait_status(auto_world_agent(), WORKER_PAUSED);
	floor_world_settle();
}

/* And that is saved and recorded. */
static bool
is_parked(void *arg)
{
	const struct task *t = state_task(&auto_world.core->state, "t1");
	const struct agent *agent = auto_world_agent();

	(void)arg;
	return t != NULL && t->step == TASK_PARKED && agent != NULL &&
	    agent->worker->task == NULL && !agent_is_taken(agent);
}

void
oversight_world_parked(void)
{
	floor_world_wait(is_parked, &oversight_world);
	floor_world_settle();
}

void
oversight_world_get_parked(void)
{
	struct agent *agent = auto_world_turn(1);

	oversight_world_sh("echo 1 >one.txt");
	for (int n = 1; n <= 3; n++)
		oversight_world_sent_back(n);
	fake_session_turn_ends(agent->session, "Again.");
	oversight_world_parked();
}

const char *
oversight_world_ask(const char *method, const char *params)
{
	return floor_world_answer(floor_world_ask(method, params));
}

const char *
oversight_world_resume(const char *name, const char *more)
{
	struct floor_call *call = floor_world_call("auto.resume", name, more);

	ck_assert_ptr_null(floor_world_answer(call));
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
oversight_world_recorded(const char *member, int *ret_count)
{
	static char *text;
	struct search search = { .member = member };

	ck_assert_int_eq(book_read_turns(auto_world.core->book, "t1", 0,
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
oversight_world_lacks(const char *text, const char *words)
{
	ck_assert_msg(
	    strstr(text, words) == NULL, "\"%s\" is in: %s", words, text);
}
