/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "agent-kind.h"
#include "auto.h"
#include "child.h"
#include "identity.h"
#include "kept.h"
#include "ledger.h"
#include "loop.h"
#include "plan-private.h"
#include "plan-text.h"
#include "settings.h"
#include "workspace.h"

/* What came of it, for the call. err NULL: it printed this answer. */
struct planner_reply {
	const char *answer;
	size_t len;
	int64_t cost_millionths; /* that it reported, also of a failure */
	const char *model; /* the one that answered, as far as known */
	const struct err *err; /* it did not answer: the reason */
};

typedef void planner_run_fn(const struct planner_reply *reply, void *arg);

struct planner_run;

static void planner_run_free(struct planner_run *run);

#define SAID_MAX 200 /* bytes of its standard error in the report */
#define COST_MAX 1000000 /* millionths of a dollar, of one answer */

struct planner_run {
	struct child *child; /* NULL: it could not be started */
	struct loop_call *failed;
	struct err err;
	size_t printed;
	int64_t timeout_ms;
	planner_run_fn *fn;
	void *arg;
};

static void
run_end(struct planner_run *run, const struct planner_reply *reply)
{
	planner_run_fn *fn = run->fn;
	void *arg = run->arg;

	run->child = NULL;
	fn(reply, arg);
	planner_run_free(run);
}

static void
on_not_started(void *arg)
{
	struct planner_run *run = arg;

	run_end(run, &(struct planner_reply){ .model = "", .err = &run->err });
}

/* Why it ended without an answer: its own words if it is Claude Code, or the
 * end of what it wrote to standard error. */
static int
describe(const struct child_result *result, int64_t timeout_ms,
    const char *said, struct err *err)
{
	cleanup_buf struct buf how = BUF_INIT, last = BUF_INIT;
	const struct buf *tail =
	    result->err.tail.len > 0 ? &result->err.tail : &result->err.head;
	size_t len = tail->len, from = len > SAID_MAX ? len - SAID_MAX : 0;

	if (result->timed_out) {
		buf_adds(&how, "took longer than ");
		text_add_duration(&how, timeout_ms);
		buf_adds(&how, " (planner.timeout)");
	} else {
		child_result_describe(result, &how);
	}
	if (said[0] != '\0')
		return err_set(err, -EIO, "%s (it %s)", said, how.data);
	while (from < tail->len && (tail->data[from] & 0xc0) == 0x80)
		from++; /* the middle of a character */
	while (len > from && tail->data[len - 1] == '\n')
		len--;
	text_add_visible(&last, tail->data + from, len - from, false);
	return err_set(err, -EIO, "the planner %s%s%s", how.data,
	    last.len > 0 ? ": " : "", last.data);
}

static void
on_exited(const struct child_result *result, void *arg)
{
	struct planner_run *run = arg;
	cleanup_buf struct buf answer = BUF_INIT;
	cleanup_json struct json_object *json = NULL;
	struct planner_bill bill = { 0 };
	struct planner_reply reply = { .answer = result->out.head.data,
		.len = result->out.head.len,
		.model = bill.model };
	struct err err = { 0 }, said = { 0 };

	if (run->printed > PLANNER_ANSWER_MAX) {
		err_set(&err, -E2BIG,
		    "the planner printed more than %d bytes, and was ended",
		    PLANNER_ANSWER_MAX);
		reply.err = &err;
		run_end(run, &reply);
		return;
	}
	child_output_text(&result->out, &answer);
	if (planner_unwrap(answer.data, answer.len, &json, &bill, &said) !=
	    -EIO)
		said.msg[0] = '\0';
	reply.cost_millionths = bill.cost_millionths;
	reply.answer = answer.data;
	reply.len = answer.len;
	if (!child_succeeded(result) || said.msg[0] != '\0') {
		describe(result, run->timeout_ms, said.msg, &err);
		reply.err = &err;
	}
	run_end(run, &reply);
}

/* Nothing is gained by reading on. */
static void
on_said(const char *bytes, size_t len, void *arg)
{
	struct planner_run *run = arg;
	size_t before = run->printed;

	(void)bytes;
	run->printed += len;
	if (before <= PLANNER_ANSWER_MAX && run->printed > PLANNER_ANSWER_MAX)
		child_cancel(run->child);
}

static char **
planner_argv(const struct core *core, struct json_object *schema)
{
	const struct settings *s = core->settings;
	const char *command = settings_string(s, "planner.command");
	cleanup_strv char **argv = NULL;

	if (command[0] != '\0')
		return kept_shell(command, 0);
	argv = agent_kinds[0]->print(&(struct agent_print){ .settings = s,
	    .dir = core->workspace->root,
	    .model = settings_string(s, "planner.model"),
	    .max_cost = COST_MAX,
	    .schema = schema });
	return kept_argv(strv_const(argv), 0);
}

/* fn is called once, later, from the loop; the run is gone then. */
static struct planner_run *
planner_run_start(struct core *core, const char *prompt,
    struct json_object *schema, planner_run_fn *fn, void *arg)
{
	struct planner_run *run = xcalloc(1, sizeof *run);
	const char *root = core->workspace->root;
	cleanup_free char *whose = identity_command(root);
	cleanup_strv char **env = NULL;
	int64_t timeout_ms =
	    settings_duration(core->settings, "planner.timeout");
	cleanup_strv char **argv = planner_argv(core, schema);
	struct child_spec spec = {
		.argv = strv_const(argv),
		.cwd = root,
		.input = prompt,
		.input_len = strlen(prompt),
		.said = on_said,
		.output_max = (size_t)2 * PLANNER_ANSWER_MAX,
		.deadline_ms = timeout_ms,
	};

	strv_add(&env, whose);
	strv_add_all(&env, agent_kinds[0]->print_env);
	spec.env = strv_const(env);
	run->timeout_ms = timeout_ms;
	run->fn = fn;
	run->arg = arg;
	if (child_spawn(core->loop, &spec, on_exited, run, &run->child,
		&run->err) < 0) {
		run->failed = loop_call_new(core->loop, on_not_started, run);
		loop_call_request(run->failed);
	}
	return run;
}

/* End it; fn is not called. */
static void
planner_run_free(struct planner_run *run)
{
	if (run == NULL)
		return;
	if (run->child != NULL)
		child_abandon(run->child);
	loop_call_free(run->failed);
	free(run);
}

struct planner_talk {
	struct planner_question question; /* prompt is not used */
	char *prompt;
	struct planner_run *run;
	char **problems;
	char *answer, *model;
	int repairs;
	int64_t cost_millionths;
};

static void ask(struct planner_talk *talk, const char *prompt);

static void
talk_end(struct planner_talk *talk, const struct err *err, bool invalid)
{
	talk->question.done(talk->question.arg,
	    &(struct planner_outcome){ .err = err,
		.invalid = invalid,
		.problems = talk->problems,
		.answer = talk->answer,
		.model = talk->model,
		.repairs = talk->repairs,
		.cost_millionths = talk->cost_millionths });
	planner_talk_free(talk);
}

/* An answer that is too long was not kept. */
static void
judge_long(
    struct planner_talk *talk, const char *words, struct planner_result *result)
{
	cleanup_buf struct buf prompt = BUF_INIT;

	strv_add(&result->problems, words);
	if (talk->repairs >= PLANNER_REPAIRS) {
		result->verdict = PLANNER_GIVE_UP;
		return;
	}
	planner_prompt_repair(
	    strv_const(result->problems), talk->answer, &prompt);
	result->prompt = buf_take(&prompt);
	result->verdict = PLANNER_ASK_AGAIN;
}

static void
take_problems(struct planner_talk *talk, char *const *problems)
{
	size_t room = PLAN_LIST_MAX - strv_count(talk->problems);

	for (size_t i = 0; i < strv_count(problems) && i < room; i++)
		strv_take(&talk->problems,
		    xstrndup(problems[i],
			text_cut(
			    problems[i], strlen(problems[i]), PLAN_LINE_MAX)));
}

static void
give_up(struct planner_talk *talk, char *const *problems)
{
	struct err err = { 0 };

	err_set(&err, -EINVAL,
	    "the planner gave no valid answer in %d attempts, the last because "
	    "of %.300s",
	    talk->repairs + 1, strv_count(problems) > 0 ? problems[0] : "");
	talk_end(talk, &err, true);
}

static void
on_reply(const struct planner_reply *reply, void *arg)
{
	struct planner_talk *talk = arg;
	struct planner_result result = { 0 };

	talk->run = NULL;
	free(talk->answer);
	talk->answer = reply->answer == NULL ?
	    NULL :
	    xstrndup(reply->answer,
		text_cut(reply->answer, reply->len, PLAN_TEXT_MAX));
	if (reply->model[0] != '\0')
		xstrset(&talk->model, reply->model);
	talk->cost_millionths += reply->cost_millionths;
	ledger_planned(talk->question.mode->ledger, reply->cost_millionths);
	if (reply->err != NULL && reply->err->code != -E2BIG) {
		talk_end(talk, reply->err, false);
		return;
	}
	if (reply->err != NULL)
		judge_long(talk, reply->err->msg, &result);
	else
		talk->question.check(talk->question.arg, reply->answer,
		    reply->len, talk->repairs, &result);
	take_problems(talk, result.problems);
	switch (result.verdict) {
	case PLANNER_ACCEPTED:
		talk_end(talk, NULL, false);
		break;
	case PLANNER_ASK_AGAIN:
		talk->repairs++;
		ask(talk, result.prompt);
		break;
	case PLANNER_GIVE_UP:
		give_up(talk, result.problems);
		break;
	}
	planner_result_release(&result);
}

/* repair: what was wrong with the answer before; NULL = the first one. */
static void
ask(struct planner_talk *talk, const char *repair)
{
	cleanup_buf struct buf prompt = BUF_INIT;

	buf_adds(&prompt, talk->prompt);
	if (repair != NULL)
		buf_addf(&prompt, "\n\n%s", repair);
	talk->run = planner_run_start(talk->question.mode->core, prompt.data,
	    talk->question.schema, on_reply, talk);
}

struct planner_talk *
planner_talk_start(const struct planner_question *q)
{
	struct planner_talk *talk = xcalloc(1, sizeof *talk);

	talk->question = *q;
	talk->question.schema = json_object_get(q->schema);
	talk->prompt = xstrdup(q->prompt);
	talk->model = xstrdup("");
	ask(talk, NULL);
	return talk;
}

void
planner_talk_free(struct planner_talk *talk)
{
	if (talk == NULL)
		return;
	planner_run_free(talk->run);
	json_object_put(talk->question.schema);
	strv_free(talk->problems);
	free(talk->prompt);
	free(talk->answer);
	free(talk->model);
	free(talk);
}

/* --- what it is told of the repository ----------------------------------- */

#define NAMES_MAX   80 /* of the top level */
#define README_MAX  3000 /* bytes */
#define DEPTH_MAX   4 /* folders in folders */
#define ENTRIES_MAX 5000 /* that are looked at */
#define KINDS_MAX   40 /* of files */
#define KINDS_SHOWN 6
#define KIND_LEN    8 /* of a name's ending */

struct kind {
	char ending[KIND_LEN + 1];
	int count;
};

struct survey {
	struct kind kinds[KINDS_MAX];
	size_t count;
	int entries; /* looked at so far */
};

static void
count_file(struct survey *s, const char *name)
{
	const char *dot = strrchr(name, '.');
	size_t i;

	if (dot == NULL || dot == name || dot[1] == '\0' ||
	    strlen(dot + 1) > KIND_LEN)
		return;
	for (i = 0; i < s->count; i++)
		if (strcmp(s->kinds[i].ending, dot + 1) == 0)
			break;
	if (i == KINDS_MAX)
		return;
	if (i == s->count)
		strlcpy(s->kinds[s->count++].ending, dot + 1, KIND_LEN + 1);
	s->kinds[i].count++;
}

/* Folders of llmc and git begin with a dot; the others have what was built or
 * comes from elsewhere. */
static bool
is_skipped(const char *name)
{
	static const char *const skipped[] = { "node_modules", "target",
		"build", "dist", "vendor", "venv", "__pycache__", NULL };

	if (name[0] == '.')
		return true;
	for (size_t i = 0; skipped[i] != NULL; i++)
		if (strcmp(name, skipped[i]) == 0)
			return true;
	return false;
}

/* names: NULL = not wanted. */
static void
survey_look(struct survey *s, const char *path, int depth, char ***names)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir != NULL && s->entries < ENTRIES_MAX &&
	    (entry = readdir(dir)) != NULL) {
		bool folder = entry->d_type == DT_DIR;
		cleanup_free char *name = NULL;

		if (is_skipped(entry->d_name))
			continue;
		s->entries++;
		name = xasprintf("%s%s", entry->d_name, folder ? "/" : "");
		if (names != NULL)
			strv_add(names, name);
		if (entry->d_type == DT_REG)
			count_file(s, entry->d_name);
		if (folder && depth < DEPTH_MAX) {
			cleanup_free char *below =
			    xasprintf("%s/%s", path, entry->d_name);

			survey_look(s, below, depth + 1, NULL);
		}
	}
	if (dir != NULL)
		closedir(dir);
}

static int
by_count(const void *a, const void *b)
{
	const struct kind *one = a, *other = b;

	return one->count != other->count ? other->count - one->count :
					    strcmp(one->ending, other->ending);
}

void
plan_survey(const char *root, const struct settings *settings, struct buf *out)
{
	static const char *const commands[] = { "auto.check_command",
		"oversight.test_command" };
	struct survey s = { .count = 0 };
	cleanup_strv char **names = NULL;
	size_t count;

	survey_look(&s, root, 0, &names);
	count = strv_count(names);
	if (names != NULL)
		qsort(names, count, sizeof *names, strv_order);
	buf_adds(out, "Top level:");
	for (size_t i = 0; names != NULL && i < count && i < NAMES_MAX; i++)
		buf_addf(out, " %s", names[i]);
	if (count > NAMES_MAX)
		buf_addf(out, " and %zu more", count - NAMES_MAX);
	qsort(s.kinds, s.count, sizeof s.kinds[0], by_count);
	buf_adds(out, "\nFiles by kind:");
	for (size_t i = 0; i < s.count && i < KINDS_SHOWN; i++)
		buf_addf(out, "%s %d .%s", i > 0 ? "," : "", s.kinds[i].count,
		    s.kinds[i].ending);
	buf_addc(out, '\n');
	for (size_t i = 0; i < nitems(commands); i++)
		if (settings_string(settings, commands[i])[0] != '\0')
			buf_addf(out, "Work on it is checked with: %s\n",
			    settings_string(settings, commands[i]));
	for (size_t i = 0; names != NULL && i < count; i++) {
		cleanup_free char *path = xasprintf("%s/%s", root, names[i]);
		cleanup_buf struct buf text = BUF_INIT;

		if (strncasecmp(names[i], "readme", 6) != 0 ||
		    file_read(path, 1 << 20, &text, NULL) < 0)
			continue;
		buf_addf(out, "%s begins:\n", names[i]);
		text_add_utf8(
		    out, text.data, text_cut(text.data, text.len, README_MAX));
		buf_addc(out, '\n');
		return;
	}
}
