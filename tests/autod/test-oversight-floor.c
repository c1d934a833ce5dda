/* SPDX-License-Identifier: ISC */

/* From the detection to the stopped worker: turns are recorded, judged, and
 * something is done about them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto-world.h"
#include "auto.h"
#include "buf.h"
#include "file.h"
#include "json.h"
#include "jsonl.h"
#include "life.h"
#include "mem.h"
#include "oversight-floor.h"
#include "unit.h"

#define ON       "max_turns = 50\n[oversight]\nenabled = true\n"
#define REDIRECT "OVERSIGHT: CHANGE THE APPROACH"
#define WARNING  "OVERSIGHT WARNING"

struct world {
	struct auto_world world;
	struct oversight_floor *floor;
	struct buf transcript; /* of auto-1 */
};

static void
begin(struct world *w, const char *settings)
{
	memset(w, 0, sizeof *w);
	buf_init(&w->transcript);
	auto_world_begin(&w->world, settings);
	w->floor = oversight_floor_new(w->world.mode);
	auto_world_task(&w->world, "a.md", "Make the numbers add up\n");
	auto_world_live(&w->world);
}

static void
end(struct world *w)
{
	oversight_floor_free(w->floor);
	auto_world_end(&w->world);
	buf_release(&w->transcript);
}

/* The daemon dies, and the next one takes over. */
static void
die(struct world *w)
{
	oversight_floor_free(w->floor);
	auto_world_reopen(&w->world);
	w->floor = oversight_floor_new(w->world.mode);
	auto_world_live(&w->world);
}

static void
sh(struct world *w, const char *text)
{
	floor_world_wt(&w->world.floor, "auto-1", text);
}

/* The agent says something, or a tool fails. */
static void
talk(struct world *w, struct agent *agent, const char *line)
{
	const char *path = unit_path("transcript.jsonl");

	buf_adds(&w->transcript, line);
	buf_addc(&w->transcript, '\n');
	ck_assert_int_eq(file_replace(path, w->transcript.data,
			     w->transcript.len, 0600, NULL),
	    0);
	fake_session_reads(agent->session, path);
}

static void
tool_fails(struct world *w, struct agent *agent, int line)
{
	cleanup_free char *text =
	    xasprintf("{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
		      "\"tool_result\",\"is_error\":true,\"content\":"
		      "\"sum.c:%d: undefined reference to add\"}]}}",
		line);

	talk(w, agent, text);
}

/* Turn n ends with a file that is not committed: it is sent back. */
static const char *
sent_back(struct world *w, int n)
{
	struct agent *agent = auto_world_turn(&w->world, n);

	fake_session_turn_ends(agent->session, "I tried again.");
	agent = auto_world_turn(&w->world, n + 1);
	return fake_session_prompt(agent->session);
}

static void
paused(struct world *w)
{
	floor_world_wait_status(
	    &w->world.floor, auto_world_agent(&w->world), WORKER_PAUSED);
	floor_world_settle(&w->world.floor);
}

/* --- records --------------------------------------------------------- */

struct search {
	const char *member;
	struct json_object *last;
	int count;
};

static bool
on_record(struct json_object *record, void *arg)
{
	struct search *search = arg;
	struct json_object *json = NULL;

	if (json_object_object_get_ex(record, search->member, &json)) {
		json_object_put(search->last);
		search->last = json_object_get(json);
		search->count++;
	}
	return true;
}

/* The last record with this member, in short, and how many there are. */
static const char *
recorded(struct world *w, const char *member, int *ret_count)
{
	static char *text;
	cleanup_free char *file =
	    workspace_path(&w->world.floor.workspace, "iterations/t1.jsonl");
	struct search search = { .member = member };

	ck_assert_int_eq(jsonl_last(file, 0, on_record, &search, NULL), 0);
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

static void
has(const char *text, const char *words)
{
	ck_assert_msg(
	    strstr(text, words) != NULL, "\"%s\" is not in: %s", words, text);
}

static void
lacks(const char *text, const char *words)
{
	ck_assert_msg(
	    strstr(text, words) == NULL, "\"%s\" is in: %s", words, text);
}

START_TEST(every_turn_is_recorded_with_its_facts)
{
	struct world w;
	struct agent *agent;
	const char *text;
	int count;

	begin(&w, "check_command = \"true\"\n" ON);
	agent = auto_world_turn(&w.world, 1);
	tool_fails(&w, agent, 12);
	talk(&w, agent,
	    "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"model\":"
	    "\"claude-opus-4-5\",\"usage\":{\"input_tokens\":10,"
	    "\"output_tokens\":20},\"content\":[]}}");
	sh(&w, "echo 1 >one.txt");
	lacks(sent_back(&w, 1), "OVERSIGHT");
	text = recorded(&w, "iteration", &count);
	ck_assert_int_eq(count, 1);
	has(text, "\"number\":1");
	has(text, "\"durationMs\":");
	has(text, "\"artifactsModified\":[\"one.txt\"]");
	has(text, "\"one.txt\":\"d00491fd7e5bb6fa28c517a0bb32b8b506539d4d\"");
	has(text, "\"treeHash\":\"");
	has(text, "undefined reference to add");
	has(text, "\"learnings\":\"I tried again.\"");
	has(text, "Make the numbers add up");
	has(text, "\"tokens\":");
	has(text, "\"cost\":0.0");
	lacks(text, "testsPassing");
	has(recorded(&w, "check", NULL), "\"status\":\"healthy\"");
	/* The next one has what is new, and the result of its check. */
	sh(&w,
	    "git add one.txt; git commit -qm 'add one'; echo 2 >two.txt; "
	    "git add two.txt; git commit -qm 'add two'");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&w.world);
	auto_world_filed(&w.world, "t1 landed; ");
	text = recorded(&w, "iteration", &count);
	ck_assert_int_eq(count, 2);
	has(text, "\"number\":2");
	has(text, "\"artifactsModified\":[\"two.txt\"]");
	has(text, "\"testsPassing\":true");
	lacks(text, "undefined reference");
	end(&w);
}
END_TEST

START_TEST(nothing_is_recorded_where_nobody_wants_it)
{
	struct world w;

	begin(&w, "max_turns = 50\n");
	auto_world_turn(&w.world, 1);
	sh(&w, "echo 1 >one.txt");
	sent_back(&w, 1);
	ck_assert_str_eq(
	    floor_world_sh(&w.world.floor, "ls .llmc | grep iter; true"), "");
	end(&w);
}
END_TEST

/* --- stuck ----------------------------------------------------------- */

/* The same error, and nothing else, up to turn `last`. */
static const char *
get_stuck(struct world *w, int first, int last)
{
	const char *prompt = "";

	for (int n = first; n <= last; n++) {
		tool_fails(w, auto_world_turn(&w->world, n), 10 + n);
		prompt = sent_back(w, n);
	}
	return prompt;
}

static void
get_paused(struct world *w)
{
	struct agent *agent = auto_world_turn(&w->world, 1);

	sh(w, "echo 1 >one.txt");
	lacks(get_stuck(w, 1, 2), "OVERSIGHT");
	ck_assert_str_eq(agent->worker->health, "healthy");
	has(get_stuck(w, 3, 3), REDIRECT);
	ck_assert_str_eq(agent->worker->health, "warning");
	lacks(get_stuck(w, 4, 4), "OVERSIGHT"); /* once is enough */
	tool_fails(w, agent, 99);
	fake_session_turn_ends(agent->session, "Again.");
	paused(w);
}

START_TEST(a_stuck_worker_is_redirected_then_paused)
{
	struct world w;
	const struct agent *agent;

	begin(&w, ON);
	get_paused(&w);
	agent = auto_world_agent(&w.world);
	ck_assert(agent->worker->oversight);
	has(agent->worker->reason, "paused by oversight: Stuck");
	has(agent->worker->reason, "llmc resume auto-1");
	ck_assert_int_eq(session_phase(agent->session), SESSION_UP);
	has(recorded(&w, "check", NULL), "\"status\":\"paused\"");
	has(recorded(&w, "intervention", NULL), "\"level\":\"pause\"");
	/* It was told of its uncommitted file, when it goes on. */
	ck_assert_int_eq(fake_session_prompts(agent->session), 5);
	end(&w);
}
END_TEST

static const char *
resume(struct world *w, const char *worker, const char *more)
{
	struct floor_call *call =
	    floor_world_call(&w->world.floor, "auto.resume", worker, more);

	ck_assert_ptr_null(floor_world_answer(&w->world.floor, call));
	return json_string_or(floor_call_result(call), "message", "");
}

START_TEST(only_a_person_who_names_it_wakes_it)
{
	struct world w;
	struct agent *agent;
	struct floor_call *call;

	begin(&w, ON);
	get_paused(&w);
	agent = auto_world_agent(&w.world);
	has(resume(&w, NULL, ""), "auto-1 stays paused by oversight");
	call = floor_world_call(&w.world.floor, "worker.message", "auto-1",
	    ", \"text\": \"go on\"");
	has(floor_world_answer(&w.world.floor, call),
	    "llmc resume auto-1 --note");
	auto_world_patrol(&w.world);
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	has(resume(&w, "auto-1", ", \"note\": \"use libsum\""),
	    "auto-1 was paused by oversight: Stuck");
	agent = auto_world_turn(&w.world, 6);
	has(fake_session_prompt(agent->session), "A person says: use libsum");
	has(fake_session_prompt(agent->session), "1 file is changed");
	ck_assert(!agent->worker->oversight);
	/* It is well again, and lands. */
	sh(&w, "git add one.txt; git commit -qm 'add one'");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&w.world);
	auto_world_filed(&w.world, "t1 landed; ");
	end(&w);
}
END_TEST

START_TEST(a_pause_survives_the_daemon)
{
	struct world w;
	struct agent *agent;

	begin(&w, ON);
	get_paused(&w);
	die(&w);
	floor_world_settle(&w.world.floor);
	agent = auto_world_agent(&w.world);
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	ck_assert(agent->worker->oversight);
	resume(&w, "auto-1", "");
	auto_world_turn(&w.world, 1);
	ck_assert(!agent->worker->oversight);
	end(&w);
}
END_TEST

/* What the last daemon had seen counts for this one. */
START_TEST(iterations_are_replayed_after_a_death)
{
	struct world w;
	struct agent *agent;

	begin(&w, ON);
	auto_world_turn(&w.world, 1);
	sh(&w, "echo 1 >one.txt");
	lacks(get_stuck(&w, 1, 2), "OVERSIGHT");
	die(&w);
	agent = auto_world_turn(&w.world, 1);
	tool_fails(&w, agent, 77);
	has(sent_back(&w, 1), REDIRECT);
	end(&w);
}
END_TEST

/* --- inside a turn --------------------------------------------------- */

static bool
is_recorded(void *arg)
{
	int count;

	recorded(arg, "iteration", &count);
	return count == 3;
}

/* Three parts of one turn with the same error: it is told in the turn; and
 * tests are not judged there. */
START_TEST(a_long_turn_is_looked_at_in_parts)
{
	struct world w;
	struct agent *agent;
	int count;

	begin(&w, ON "slice_tools = 4\n");
	agent = auto_world_turn(&w.world, 1);
	sh(&w, "echo 1 >one.txt");
	for (int n = 1; n <= 3; n++) {
		tool_fails(&w, agent, n);
		for (int i = 0; i < 4; i++) {
			recorded(&w, "iteration", &count);
			ck_assert_int_eq(count, n - 1);
			fake_session_progresses(agent->session);
		}
		floor_world_settle(&w.world.floor);
	}
	floor_world_wait(&w.world.floor, is_recorded, &w);
	has(recorded(&w, "iteration", NULL), "\"number\":3");
	lacks(recorded(&w, "iteration", NULL), "testsPassing");
	agent = auto_world_turn(&w.world, 2);
	has(fake_session_prompt(agent->session), REDIRECT);
	ck_assert_int_eq(fake_session_interrupts(agent->session), 1);
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	/* The rest of the turn is the last part. */
	sh(&w, "git add one.txt; git commit -qm 'add one'");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&w.world);
	auto_world_filed(&w.world, "t1 landed; ");
	has(recorded(&w, "iteration", NULL), "\"number\":4");
	end(&w);
}
END_TEST

/* In the middle of a turn, too. */
START_TEST(a_turn_is_interrupted_for_a_pause)
{
	struct world w;
	struct agent *agent;

	begin(&w, ON "slice_tools = 1\n");
	agent = auto_world_turn(&w.world, 1);
	sh(&w, "echo 1 >one.txt");
	for (int n = 1; n <= 5; n++) {
		tool_fails(&w, agent, n);
		fake_session_progresses(agent->session);
		floor_world_settle(&w.world.floor);
		if (n == 3)
			auto_world_turn(&w.world, 2);
	}
	paused(&w);
	ck_assert(agent->worker->oversight);
	ck_assert_int_eq(fake_session_interrupts(agent->session), 2);
	end(&w);
}
END_TEST

/* --- burn ------------------------------------------------------------ */

#define BURN                           \
	ON "expected_iterations = 2\n" \
	   "thresholds = [\"resource.iterationMultiplier=1\"]\n"

START_TEST(a_task_that_burns_is_warned_then_aborted)
{
	struct world w;
	struct agent *agent;
	const char *text;

	begin(&w, BURN);
	agent = auto_world_turn(&w.world, 1);
	sh(&w, "echo 1 >one.txt");
	lacks(sent_back(&w, 1), "OVERSIGHT");
	lacks(sent_back(&w, 2), "OVERSIGHT");
	has(sent_back(&w, 3), WARNING);
	lacks(sent_back(&w, 4), "OVERSIGHT");
	fake_session_turn_ends(agent->session, "Still not done.");
	auto_world_wait_done(&w.world);
	auto_world_filed(&w.world, "t1 aborted; ");
	auto_world_folder(&w.world, "failed: a.md; failed: a.md.why; ");
	floor_world_wait_status(&w.world.floor, agent, WORKER_IDLE);
	/* Its work is saved, with the evidence. */
	ck_assert_str_eq(
	    floor_world_sh(&w.world.floor,
		"git show \"$(git for-each-ref --format='%(refname)' "
		"refs/llmc/salvage | head -1)\":one.txt"),
	    "1");
	text = floor_world_sh(
	    &w.world.floor, "tr -d '\\n' <.llmc/aborted/t1/abort.json");
	has(text, "\"oversight\"");
	has(text, "resource_burn");
	has(floor_world_sh(
		&w.world.floor, "tail -1 .llmc/aborted/t1/iterations.jsonl"),
	    "\"level\":\"abort\"");
	end(&w);
}
END_TEST

/* Whether oversight is on or not. */
START_TEST(a_person_aborts_a_task)
{
	static const char *const settings[] = { "max_turns = 9\n", ON };
	struct world w;
	struct agent *agent;
	struct floor_call *call;
	const char *text;

	begin(&w, settings[_i]);
	agent = auto_world_turn(&w.world, 1);
	sh(&w, "echo 1 >one.txt");
	call = floor_world_ask(&w.world.floor, "task.abort",
	    "{\"task\": \"auto-2\", \"reason\": \"x\"}");
	has(floor_world_answer(&w.world.floor, call), "llmc task list");
	call = floor_world_ask(&w.world.floor, "task.abort",
	    "{\"task\": \"auto-1\", \"reason\": \"wrong way\"}");
	ck_assert_ptr_null(floor_world_answer(&w.world.floor, call));
	auto_world_wait_done(&w.world);
	auto_world_filed(&w.world, "t1 aborted; ");
	floor_world_wait_status(&w.world.floor, agent, WORKER_IDLE);
	text = floor_world_sh(
	    &w.world.floor, "tr -d '\\n' <.llmc/aborted/t1/abort.json");
	has(text, "\"a person\"");
	has(text, "wrong way");
	ck_assert_str_eq(
	    floor_world_sh(&w.world.floor,
		"git show \"$(git for-each-ref --format='%(refname)' "
		"refs/llmc/salvage | head -1)\":one.txt"),
	    "1");
	end(&w);
}
END_TEST

/* --- regression ------------------------------------------------------ */

/* Passes in the worktree, but not in the landing; then there neither. */
#define CHECK                                                           \
	"check_command = \"case $PWD in */checks/*) test ! -e b.txt;; " \
	"*) test ! -e red.txt;; esac\"\n"

/* Its branch has moved, so that the landing checks again. */
static struct agent *
pass_in_vain(struct world *w)
{
	struct agent *agent = auto_world_turn(&w->world, 1);

	floor_world_sh(&w->world.floor,
	    "echo 1 >x.txt; git add x.txt; git commit -qm 'add x'");
	auto_world_work(&w->world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	return auto_world_turn(&w->world, 2);
}

START_TEST(a_regression_is_warned_of_then_aborted)
{
	struct world w;
	struct agent *agent;

	begin(&w, CHECK ON);
	agent = pass_in_vain(&w);
	has(recorded(&w, "iteration", NULL), "\"testsPassing\":true");
	lacks(fake_session_prompt(agent->session), "OVERSIGHT");
	auto_world_work(&w.world, "red.txt");
	fake_session_turn_ends(agent->session, "Done.");
	agent = auto_world_turn(&w.world, 3);
	has(recorded(&w, "iteration", NULL), "\"testsPassing\":false");
	has(fake_session_prompt(agent->session), WARNING);
	has(fake_session_prompt(agent->session), "The check of your work");
	auto_world_work(&w.world, "c.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&w.world);
	auto_world_filed(&w.world, "t1 aborted; ");
	end(&w);
}
END_TEST

/* It is put right before the next look. */
START_TEST(a_regression_that_is_repaired_lands)
{
	struct world w;
	struct agent *agent;

	begin(&w, CHECK ON);
	agent = pass_in_vain(&w);
	auto_world_work(&w.world, "red.txt");
	fake_session_turn_ends(agent->session, "Done.");
	agent = auto_world_turn(&w.world, 3);
	has(fake_session_prompt(agent->session), WARNING);
	sh(&w, "git mv b.txt d.txt; git rm -q red.txt; git commit -qm fixed");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&w.world);
	auto_world_filed(&w.world, "t1 landed; ");
	has(recorded(&w, "outcome", NULL), "\"outcome\":\"improved\"");
	end(&w);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("oversight-floor");
	TCase *aborts = tcase_create("aborts");

	unit_case(suite, "records",
	    (const TTest *const[]){ every_turn_is_recorded_with_its_facts,
		nothing_is_recorded_where_nobody_wants_it, NULL });
	unit_case(suite, "interventions",
	    (const TTest *const[]){ a_stuck_worker_is_redirected_then_paused,
		only_a_person_who_names_it_wakes_it,
		a_pause_survives_the_daemon,
		iterations_are_replayed_after_a_death,
		a_long_turn_is_looked_at_in_parts,
		a_turn_is_interrupted_for_a_pause,
		a_task_that_burns_is_warned_then_aborted,
		a_regression_is_warned_of_then_aborted,
		a_regression_that_is_repaired_lands, NULL });
	tcase_set_timeout(aborts, 60);
	tcase_add_loop_test(aborts, a_person_aborts_a_task, 0, 2);
	suite_add_tcase(suite, aborts);
	return suite;
}
