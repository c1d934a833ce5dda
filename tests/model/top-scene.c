/* SPDX-License-Identifier: ISC */

#include "top-scene.h"
#include "view.h"

#define NOW (SCENE_NOW_MS / 1000)

/* The quotes of JSON are written as apostrophes. Takes the text. */
static struct json_object *
parse(char *text)
{
	struct json_object *json = NULL;
	struct err err = { 0 };

	for (char *c = text; *c != '\0'; c++)
		if (*c == '\'')
			*c = '"';
	ck_assert_msg(
	    json_parse(text, strlen(text), SIZE_MAX / 2, &json, &err) == 0,
	    "%s in %s", err.msg, text);
	free(text);
	return json;
}

static void
set_row(
    struct json_object *view, const char *section, const char *key, char *text)
{
	json_set(view_of(view, section), key, parse(text));
}

/* --- a night --------------------------------------------------------- */

static void
add_head(struct json_object *view)
{
	json_set(view, "head",
	    parse(xasprintf(
		"{'project':'project','branch':'main','started_unix':%" PRId64
		",'lag_ms':5,'overseen':true,'overseer':{'state':'Running'},"
		"'run_id':'r17','auto':true,'todo':2}",
		NOW - 33120)));
	json_set(view, "budget",
	    parse(xstrdup("{'day':20469,'tokens':4100000,'cost_micros':"
			  "18400000,'day_cost_micros':20000000,"
			  "'day_tokens':null,'days':["
			  "{'day':20468,'cost_micros':null,'cost_source':"
			  "'unknown','tokens':900,'attempts':1,'unpriced':900},"
			  "{'day':20469,'cost_micros':18400000,"
			  "'cost_source':'estimate','tokens':4100000,"
			  "'attempts':41,'unpriced':0}]}")));
}

static void
add_worker(struct json_object *view, const char *name, const char *status,
    int64_t age, const char *task, const char *more)
{
	set_row(view, "workers", name,
	    xasprintf("{'name':'%s','mode':'auto','status':'%s','since_unix':"
		      "%" PRId64 ",'task':'%s','branch':'llmc/%s',"
		      "'model':'claude-opus-4-6',%s}",
		name, status, NOW - age, task, name, more));
}

static void
add_task(struct json_object *view, const char *id, const char *worker,
    const char *title)
{
	set_row(view, "tasks", id,
	    xasprintf(
		"{'id':'%s','title':'%s','source':'file:TODO.md','priority':"
		"'normal','step':'assigned','worker':'%s','attempts':2,"
		"'turns':5,'created_unix':%" PRId64 ",'assigned_unix':%" PRId64
		",'run_id':'r17','cost_micros':410000,'cost_source':"
		"'estimate','tokens':{'input':1200,'output':34000,"
		"'cacheRead':2100000,'cacheCreation':51000},'lines_added':120,"
		"'lines_removed':7,'history':[{'at_unix':%" PRId64
		",'what':'sent back','detail':'make check failed: 2 tests'}],"
		"'last_words':'I have changed the parser.\\nNow the tests.'}",
		id, title, worker, NOW - 4000, NOW - 3000, NOW - 600));
}

static void
add_workers(struct json_object *view)
{
	add_worker(view, "auto-4", "error", 1320, "t88",
	    "'attempt':3,'turns':9,'cost_micros':3100000,'cost_source':"
	    "'reported','title':'Split the parser','reason':"
	    "'conflict with main in src/a.c','remark':"
	    "'conflict with main in src/a.c'");
	add_worker(view, "auto-1", "working", 240, "t93",
	    "'attempt':1,'turns':2,'cost_micros':410000,'cost_source':"
	    "'estimate','title':'Add a --version flag','tool':'Bash',"
	    "'tool_since_unix':1768546668,'times':{'working':3600000,"
	    "'limited':720000,'idle_queue':9000},'time_use':'working',"
	    "'time_from_ms':1768546440500");
	add_worker(view, "auto-10", "idle", 90000, "",
	    "'title':null,'cost_source':null");
	add_worker(view, "auto-2", "accepting", 12, "t90",
	    "'attempt':1,'turns':3,'cost_micros':null,'cost_source':"
	    "'unknown','title':'Faster parser tests'");
	add_worker(view, "auto-3", "limited", 4000, "t91",
	    "'attempt':2,'turns':5,'cost_micros':880000,'cost_source':"
	    "'reported','title':'Docs','until_unix':1768548600,'reason':"
	    "'usage limit','remark':'usage limit'");
}

static void
add_tasks(struct json_object *view)
{
	add_task(view, "t93", "auto-1", "Add a --version flag");
	add_task(view, "t88", "auto-4", "Split the parser");
	set_row(view, "tasks", "t94",
	    xasprintf("{'id':'t94','title':'Waits','step':'waiting',"
		      "'worker':null,'attempts':0,'created_unix':%" PRId64
		      ",'cost_micros':null,'cost_source':'unknown'}",
		NOW - 100));
	set_row(view, "todo", "8-later.md",
	    xstrdup("{'key':'8-later.md','title':'Comes later','status':"
		    "'todo','priority':'normal','rank':2}"));
	set_row(view, "todo", "12-soon.md",
	    xstrdup("{'key':'12-soon.md','title':'Comes sooner','status':"
		    "'todo','priority':'urgent','rank':0}"));
	set_row(view, "ended", "t71",
	    xasprintf("{'id':'t71','title':'Rewrite it','outcome':"
		      "'dead-letter','reason':'check failed 3x','run_id':'r17',"
		      "'finished_unix':%" PRId64
		      ",'attempts':3,'turns':12,'cost_micros':2500000,"
		      "'cost_source':'reported'}",
		NOW - 7200));
	set_row(view, "ended", "t70",
	    xasprintf("{'id':'t70','title':'Small fix','outcome':'landed',"
		      "'commit':'9995c6d','run_id':'r17','finished_unix':"
		      "%" PRId64 ",'attempts':1,'turns':1,'cost_micros':100000,"
		      "'cost_source':'reported'}",
		NOW - 9000));
	set_row(view, "landing", "l5",
	    xasprintf("{'id':'l5','state':'covered','why':null,'position':1,"
		      "'task':'t90','worker':'auto-2','title':"
		      "'Faster parser tests','queued_unix':%" PRId64
		      ",'expected_unix':%" PRId64 "}",
		NOW - 12, NOW + 180));
	set_row(view, "goals", "goal_1",
	    xstrdup(
		"{'id':'goal_1','title':'A faster parser','status':'active',"
		"'done':3,'total':10,'ready':2,'blocked':1,'nodes':["
		"{'id':'P1','parent':null,'title':'Measure','status':'done'},"
		"{'id':'T1','parent':'P1','title':'Bench','status':'done'},"
		"{'id':'P2','parent':null,'title':'Speed','status':'active'},"
		"{'id':'T2','parent':'P2','title':'Tables','status':'active',"
		"'worker':'auto-1'},"
		"{'id':'T3','parent':'P2','title':'Threads','status':"
		"'blocked','reason':'waits for T2'}]}"));
}

static void
add_ask(struct json_object *view, const char *id, const char *kind,
    const char *who, const char *about, const char *words, const char *command)
{
	set_row(view, "asks", id,
	    xasprintf("{'id':'%s','kind':'%s','who':'%s','%s':'%s','words':"
		      "'%s','command':'%s','at_unix':%" PRId64 "}",
		id, kind, who, about, who, words, command, NOW - 300));
}

static void
add_rest(struct json_object *view)
{
	set_row(view, "repairs", "1",
	    xasprintf("{'at_unix':%" PRId64
		      ",'kind':'death','class':'crash','words':"
		      "'autod ended with signal 11','outcome':'restarted',"
		      "'took_ms':900}",
		NOW - 20000));
	add_ask(view, "a2", "question", "goal_1", "goal", "Which database?",
	    "llmc answer a2 TEXT");
	json_set(view, VIEW_EVENTS,
	    parse(xasprintf(
		"[{'n':1,'at_ms':%" PRId64
		",'level':'WARN','type':'limited','worker':'auto-3',"
		"'words':'auto-3 waiting until 07:30: usage limit'},"
		"{'n':2,'at_ms':%" PRId64
		",'level':'INFO','type':'landed','worker':'auto-2',"
		"'task':'t90','words':'t90 of auto-2 has landed as 9995c6d'}]",
		SCENE_NOW_MS - 420000, SCENE_NOW_MS - 60000)));
}

struct json_object *
scene_night(void)
{
	struct json_object *view = view_new();

	add_head(view);
	add_workers(view);
	add_tasks(view);
	add_rest(view);
	add_ask(view, "a1", "failure", "auto-4", "worker",
	    "conflict with main in src/a.c", "llmc log daemon --worker auto-4");
	add_ask(view, "a3", "blocked", "goal_1", "goal", "1 node is blocked",
	    "llmc goal show goal_1");
	add_ask(view, "a4", "failure", "t71", "task", "check failed 3x",
	    "llmc answer a4 --yes");
	view_needs(view);
	return view;
}

/* --- a fleet --------------------------------------------------------- */

struct json_object *
scene_fleet(int count)
{
	struct json_object *view = view_new();
	static const char *const statuses[] = { "working", "accepting",
		"limited", "paused", "idle" };

	add_head(view);
	for (int i = 1; i <= count; i++) {
		cleanup_free char *name = xasprintf("auto-%d", i);
		cleanup_free char *id = xasprintf("t%d", i);
		cleanup_free char *title =
		    xasprintf("Task number %d, with a title of some length", i);
		cleanup_free char *more = xasprintf(
		    "'attempt':1,'turns':%d,'cost_micros':%d,'cost_source':"
		    "'estimate','title':'%s'",
		    i, i * 1000, title);

		add_worker(view, name, statuses[i % (int)nitems(statuses)],
		    i * 7, id, more);
		add_task(view, id, name, title);
		if (i % (int)nitems(statuses) == 3)
			add_ask(view, id, "blocked", name, "worker", title,
			    "llmc answer a9 TEXT");
	}
	add_rest(view);
	view_needs(view);
	return view;
}

/* --- anything -------------------------------------------------------- */

static struct json_object *
random_value(struct dice *dice, int depth)
{
	static const char *const pieces[] = { "word ", "\033[2J", "\n",
		"\xe6\xbc\xa2\xe5\xad\x97", "e\xcc\x81", "\xf0\x9f\x98\x80",
		"\xe2\x80\xae", "limited", "auto-1", "t1", "", "0123456789" };
	struct json_object *value;
	cleanup_buf struct buf text = BUF_INIT;

	switch (dice_below(dice, depth > 1 ? 4 : 6)) {
	case 0:
		return NULL;
	case 1:
		return json_object_new_int64(
		    (int64_t)dice_next(dice) >> dice_below(dice, 63));
	case 2:
		return json_object_new_boolean(dice_coin(dice));
	case 3:
		dice_text(dice, pieces, nitems(pieces), 400, &text);
		return json_object_new_string(text.data);
	case 4:
		value = json_object_new_array();
		for (unsigned i = dice_below(dice, 4); i > 0; i--)
			json_object_array_add(
			    value, random_value(dice, depth + 1));
		return value;
	default:
		value = json_object_new_object();
		json_set(value, "at_unix", random_value(dice, depth + 1));
		json_set(value, "words", random_value(dice, depth + 1));
		json_set(value, "input", random_value(dice, depth + 1));
		return value;
	}
}

static struct json_object *
random_row(struct dice *dice)
{
	static const char *const members[] = { "name", "status", "step",
		"state", "outcome", "task", "worker", "title", "reason",
		"remark", "words", "why", "since_unix", "created_unix",
		"queued_unix", "finished_unix", "at_unix", "until_unix", "tool",
		"cost_micros", "cost_source", "tokens", "history", "nodes",
		"last_words", "times", "position", "attempts", "turns", "done",
		"total", "blocked", "level", "type", "options", "text", "acked",
		"run_id", "lines_added", "lines_removed", "expected_unix" };
	struct json_object *row = json_object_new_object();

	for (size_t i = 0; i < nitems(members); i++)
		if (dice_coin(dice))
			json_set(row, members[i], random_value(dice, 0));
	return row;
}

struct json_object *
scene_random(struct dice *dice)
{
	struct json_object *view =
	    dice_below(dice, 4) == 0 ? scene_night() : view_new();

	for (const struct view_section *s = view_sections; s->name != NULL;
	     s++) {
		for (unsigned i = dice_below(dice, 8); s->map && i > 0; i--) {
			cleanup_free char *key =
			    xasprintf("auto-%u", dice_below(dice, 20));

			json_set(view_of(view, s->name), key,
			    dice_below(dice, 20) == 0 ? random_value(dice, 0) :
							random_row(dice));
		}
		if (!s->map && dice_coin(dice))
			json_set(view, s->name, random_row(dice));
	}
	for (unsigned i = dice_below(dice, 30); i > 0; i--)
		json_object_array_add(
		    view_of(view, VIEW_EVENTS), random_row(dice));
	return view;
}
