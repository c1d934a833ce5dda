/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "agent-kind.h"
#include "auto.h"
#include "child.h"
#include "identity.h"
#include "ledger.h"
#include "loop.h"
#include "plan-private.h"
#include "work-record.h"
#include "settings.h"
#include "sibling.h"
#include "workspace.h"

#define SAID_MAX 200 /* bytes of its standard error in the report */
#define COST_MAX 1000000 /* millionths of a dollar, of one answer */

struct planner_talk {
	struct planner_question question; /* prompt is not used */
	char *prompt;
	struct json_object *schema; /* of the answer */
	struct child *child; /* NULL: it could not be started */
	struct loop_call *failed;
	struct err err; /* why not */
	size_t printed;
	int64_t timeout_ms;
	char **problems;
	char *answer, *model;
	int repairs;
	int64_t cost_millionths;
};

static void on_reply(struct planner_talk *talk, const char *answer, size_t len,
    const struct planner_bill *bill, const struct err *err);

static void
on_not_started(void *arg)
{
	struct planner_talk *talk = arg;

	on_reply(talk, NULL, 0, &(struct planner_bill){ 0 }, &talk->err);
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
	struct planner_talk *talk = arg;
	cleanup_buf struct buf answer = BUF_INIT;
	cleanup_json struct json_object *json = NULL;
	struct planner_bill bill = { 0 };
	struct err err = { 0 }, said = { 0 };

	talk->child = NULL;
	if (talk->printed > PLANNER_ANSWER_MAX) {
		err_set(&err, -E2BIG,
		    "the planner printed more than %d bytes, and was ended",
		    PLANNER_ANSWER_MAX);
		on_reply(talk, result->out.head.data, result->out.head.len,
		    &bill, &err);
		return;
	}
	child_output_text(&result->out, &answer);
	if (planner_unwrap(answer.data, answer.len, &json, &bill, &said) !=
	    -EIO)
		said.msg[0] = '\0';
	if (!child_succeeded(result) || said.msg[0] != '\0')
		describe(result, talk->timeout_ms, said.msg, &err);
	on_reply(
	    talk, answer.data, answer.len, &bill, err.code != 0 ? &err : NULL);
}

/* Nothing is gained by reading on. */
static void
on_said(const char *bytes, size_t len, void *arg)
{
	struct planner_talk *talk = arg;
	size_t before = talk->printed;

	(void)bytes;
	talk->printed += len;
	if (before <= PLANNER_ANSWER_MAX && talk->printed > PLANNER_ANSWER_MAX)
		child_cancel(talk->child);
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

/* repair: what was wrong with the answer before; NULL = the first one. */
static void
ask(struct planner_talk *talk, const char *repair)
{
	struct core *core = talk->question.mode->core;
	const char *root = core->workspace->root;
	cleanup_free char *whose = identity_command(root);
	cleanup_strv char **env = NULL;
	cleanup_strv char **argv = planner_argv(core, talk->schema);
	cleanup_buf struct buf prompt = BUF_INIT;
	struct child_spec spec = {
		.argv = strv_const(argv),
		.cwd = root,
		.said = on_said,
		.output_max = (size_t)2 * PLANNER_ANSWER_MAX,
		.deadline_ms = talk->timeout_ms,
	};

	buf_adds(&prompt, talk->prompt);
	if (repair != NULL)
		buf_addf(&prompt, "\n\n%s", repair);
	strv_add(&env, whose);
	strv_add_all(&env, agent_kinds[0]->print_env);
	spec.env = strv_const(env);
	spec.input = prompt.data;
	spec.input_len = prompt.len;
	talk->printed = 0;
	if (child_spawn(core->loop, &spec, on_exited, talk, &talk->child,
		&talk->err) < 0)
		loop_call_request(talk->failed);
}

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

/* err: it did not answer. */
static void
on_reply(struct planner_talk *talk, const char *answer, size_t len,
    const struct planner_bill *bill, const struct err *err)
{
	struct planner_result result = { 0 };

	free(talk->answer);
	talk->answer = answer == NULL ?
	    NULL :
	    xstrndup(answer, text_cut(answer, len, PLAN_TEXT_MAX));
	if (bill->model[0] != '\0')
		xstrset(&talk->model, bill->model);
	talk->cost_millionths += bill->cost_millionths;
	ledger_planned(talk->question.mode->ledger, bill->cost_millionths);
	if (err != NULL && err->code != -E2BIG) {
		talk_end(talk, err, false);
		return;
	}
	if (err != NULL) { /* an answer that is too long was not kept */
		strv_add(&result.problems, err->msg);
		planner_reject(
		    &result, talk->repairs, PLANNER_REPAIRS, talk->answer);
	} else {
		talk->question.check(
		    talk->question.arg, answer, len, talk->repairs, &result);
	}
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

struct planner_talk *
planner_talk_start(const struct planner_question *q)
{
	struct planner_talk *talk = xcalloc(1, sizeof *talk);
	struct core *core = q->mode->core;

	talk->question = *q;
	talk->schema = planner_schema();
	talk->prompt = xstrdup(q->prompt);
	talk->model = xstrdup("");
	talk->timeout_ms = settings_duration(core->settings, "planner.timeout");
	talk->failed = loop_call_new(core->loop, on_not_started, talk);
	ask(talk, NULL);
	return talk;
}

void
planner_talk_free(struct planner_talk *talk)
{
	if (talk == NULL)
		return;
	if (talk->child != NULL)
		child_abandon(talk->child);
	loop_call_free(talk->failed);
	json_object_put(talk->schema);
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
