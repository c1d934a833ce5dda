/* SPDX-License-Identifier: ISC */

/* llmc report oversight, task iterations: what oversight sees. */
#include "base.h"

#include <fcntl.h>
#include <math.h>

#include "behaviour.h"
#include "cli-private.h"
#include "iteration.h"
#include "ladder.h"
#include "task.h"
#include "thresholds.h"

enum {
	FLAG_TASK
};

static const struct cli_flag oversight_flags[] = {
	[FLAG_TASK] = { "task", "ID", "the task that is replayed" },
	{ NULL, NULL, NULL },
};

#define HISTORY_MAX ((size_t)64 << 20) /* bytes of a file */

/* A file of any kind; "-" is standard input. */
static int
load(const char *file, struct json_object **ret_document, struct err *err)
{
	bool is_input = strcmp(file, "-") == 0;
	cleanup_buf struct buf text = BUF_INIT;
	int fd = is_input ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	int r = fd == -1 ? -errno : file_read_fd(fd, HISTORY_MAX, &text);

	if (!is_input)
		fd_close(fd);
	if (r < 0)
		return err_errno(err, r, "cannot read %s", file);
	r = json_parse(text.data, text.len, HISTORY_MAX, ret_document, err);
	if (r < 0)
		err_prefix(err, "%s", file);
	return r;
}

/* Of a file: what is found at its end, or what would be done all the way. */
static int
judge_file(struct cli *cli, const char *file, bool replays)
{
	cleanup_json struct json_object *document = NULL;
	cleanup_strv char **unknown = NULL;
	struct thresholds thresholds;
	struct err err = { 0 };
	int r;

	if (load(file, &document, &err) < 0)
		return cli_fail_err(cli, "bad_file", &err);
	thresholds_init(&thresholds, PROFILE_DEFAULT);
	r = replays ?
	    behaviour_replay(&thresholds, document, &cli->result, &err) :
	    behaviour_check(
		&thresholds, document, &cli->result, &unknown, &err);
	if (r < 0) {
		err_prefix(&err, "%s", file);
		return cli_fail_err(cli, "bad_history", &err);
	}
	json_print(cli->result, true, &cli->text);
	for (char **name = unknown; name != NULL && *name != NULL; name++)
		cli_warn(cli, "%s: no rule knows \"%s\"", file, *name);
	return CLI_OK;
}

/* --- recorded iterations --------------------------------------------- */

static int
replay(struct cli *cli, const char *task)
{
	struct settings *settings = NULL;
	struct oversight_config config;
	cleanup_json struct json_object *turns = NULL;
	cleanup_json struct json_object *document = json_object_new_object();
	struct json_object *history = json_object_new_array();
	struct json_object *it = NULL;
	struct err err = { 0 };
	int status;

	json_set_string(document, "name", task);
	json_set(document, "history", history);
	status = cli_load_settings(cli, &settings);
	if (status != CLI_OK)
		return status;
	settings_oversight(settings, &config);
	settings_free(settings);
	status =
	    remote_see(cli, "turns", remote_params("task", task, NULL), &turns);
	if (status != CLI_OK)
		return status;
	JSON_EACH (row, turns)
		if (json_object_object_get_ex(row, "iteration", &it))
			json_object_array_add(history, json_object_get(it));
	if (json_object_array_length(history) == 0)
		return cli_fail(cli, "unknown",
		    "no iteration of %s is recorded; type: llmc task list",
		    task);
	if (behaviour_replay(&config.thresholds, document, &cli->result, &err) <
	    0)
		return cli_fail_err(cli, "bad_history", &err);
	json_print(cli->result, true, &cli->text);
	return CLI_OK;
}

static int
report(struct cli *cli)
{
	cleanup_json struct json_object *answer = NULL;
	int status =
	    remote_see(cli, "tally", json_object_new_object(), &answer);

	if (status != CLI_OK)
		return status;
	cli->result = json_object_get(json_member(answer, "report"));
	buf_adds(&cli->text, json_string_or(answer, "text", ""));
	return CLI_OK;
}

/* check works anywhere, the others where llmc init was run. */
static int
oversight_run(struct cli *cli, const struct cli_args *args)
{
	const char *action = args->list[0], *task = args->flags[FLAG_TASK];
	bool replays = strcmp(action, "replay") == 0;
	int status;

	if (strcmp(action, "check") == 0 && args->count < 2)
		return cli_misuse(cli, &cmd_oversight, "check needs a FILE");
	if (args->count == 2 && task == NULL &&
	    (replays || strcmp(action, "check") == 0))
		return judge_file(cli, args->list[1], replays);
	if (!replays && strcmp(action, "report") != 0)
		return cli_misuse(cli, &cmd_oversight,
		    "%s: no such action; type: llmc report oversight check FILE",
		    action);
	if (args->count > 1 || (replays && task == NULL))
		return cli_misuse(cli, &cmd_oversight,
		    replays ? "replay needs --task ID, and nothing else" :
			      "report takes no argument");
	status = cli_find_workspace(cli, 0);
	if (status != CLI_OK)
		return status;
	return replays ? replay(cli, task) : report(cli);
}

static const struct schema oversight_shape =
    SCHEMA_SHAPE(SCHEMA_IS("check", ROWS, NULL, .of = &detection_schema),
	SCHEMA_IS("replay", ROWS, NULL, .of = &replay_schema),
	SCHEMA_IS("report", OBJECT, NULL, .of = &oversight_report_shape));

const struct cli_command cmd_oversight = {
	.name = "report oversight",
	.usage = "check FILE | replay FILE | replay --task ID | report",
	.summary = "look for pathological work, and what was done about it",
	.help =
	    "check reads a history of iterations from a JSON file (- is "
	    "standard input), and\nprints what the detectors find after the "
	    "last one, as a JSON array: stuck,\noscillation, deviation, "
	    "resource_burn, regression. The file is an array of\niterations, "
	    "or an object with \"history\" and \"thresholds\", which are "
	    "merged key by\nkey over the defaults. Members that no rule knows "
	    "are named.\n\nreplay prints what would have been done in each "
	    "history of a file, an array of such\nobjects or one, and at "
	    "which iteration: log, check, warn, redirect, restart (a\nfresh "
	    "session), pause (a person is asked). With --task, of the "
	    "recorded iterations\nof a task, with the thresholds of "
	    "[oversight]. report says what was found and done\nin all "
	    "recorded tasks, whether it helped, and which thresholds should "
	    "be changed.\n",
	.example = "report oversight replay --task t17",
	.flags = oversight_flags,
	.min_args = 1,
	.max_args = 2,
	.needs = CLI_ANYWHERE,
	.shape = CLI_SHAPE(ONE, oversight_shape),
	.run = oversight_run,
};

/* --- iterations ---------------------------------------------------------- */

#define TEXT_MAX 400 /* bytes */
#define LIST_MAX 20
#define HASH_LEN 10

static void
label(struct buf *out, const char *name)
{
	buf_addf(out, "  %-9s ", name);
}

/* On one line. */
static void
add_text(struct buf *out, const char *text)
{
	size_t len = strlen(text), cut = text_cut(text, len, TEXT_MAX);

	for (size_t i = 0, part; i < cut; i += part + 1) {
		part = strcspn(text + i, "\n");
		if (part > cut - i)
			part = cut - i;
		buf_adds(out, i > 0 ? " " : "");
		text_add_visible(out, text + i, part, false);
	}
	if (cut < len)
		buf_adds(out, "...");
}

static void
add_list(struct buf *out, const char *name, char **list)
{
	size_t count = strv_count(list);

	if (count == 0)
		return;
	label(out, name);
	for (size_t i = 0; i < count && i < LIST_MAX; i++) {
		buf_adds(out, i > 0 ? "; " : "");
		add_text(out, list[i]);
	}
	if (count > LIST_MAX)
		buf_addf(out, "; and %zu more", count - LIST_MAX);
	buf_addc(out, '\n');
}

static void
add_files(struct buf *out, const struct iteration *it)
{
	size_t count = it->blob_count;

	if (count == 0) {
		add_list(out, "files", it->files);
		return;
	}
	label(out, "files");
	for (size_t i = 0; i < count && i < LIST_MAX; i++) {
		const char *hash = it->blobs[i].hash;

		buf_adds(out, i > 0 ? "; " : "");
		add_text(out, it->blobs[i].path);
		if (hash[0] == '\0')
			buf_adds(out, " removed");
		else
			buf_addf(out, " %.*s", HASH_LEN, hash);
	}
	if (count > LIST_MAX)
		buf_addf(out, "; and %zu more", count - LIST_MAX);
	buf_addc(out, '\n');
}

static void
add_tests(struct buf *out, const struct iteration *it)
{
	if (it->tests < 0 && isnan(it->coverage))
		return;
	label(out, "tests");
	if (it->tests >= 0)
		buf_adds(out, it->tests > 0 ? "pass" : "fail");
	if (!isnan(it->coverage))
		buf_addf(out, "%scoverage %g%%", it->tests >= 0 ? ", " : "",
		    it->coverage);
	buf_addc(out, '\n');
}

static void
add_spent(struct buf *out, const struct iteration *it)
{
	static const char *const kinds[ITERATION_TOKEN_KINDS] = {
		[ITERATION_INPUT] = "input",
		[ITERATION_OUTPUT] = "output",
		[ITERATION_CACHE_READ] = "read from the cache",
		[ITERATION_CACHE_WRITE] = "written to it",
	};
	const char *comma = "";

	if (isfinite(it->cost)) {
		label(out, "cost");
		buf_addf(out, "$%.4f", it->cost);
		if (isfinite(it->estimated_cost))
			buf_addf(out, "; $%.4f is expected for the task",
			    it->estimated_cost);
		buf_addc(out, '\n');
	}
	if (it->tokens[ITERATION_INPUT] < 0)
		return;
	label(out, "tokens");
	for (int i = 0; i < ITERATION_TOKEN_KINDS; i++) {
		if (it->tokens[i] < 0)
			continue;
		buf_addf(out, "%s%lld %s", comma, (long long)it->tokens[i],
		    kinds[i]);
		comma = ", ";
	}
	buf_addc(out, '\n');
}

static void
add_objective(struct buf *out, const struct iteration *it, char **objective)
{
	if (it->objective == NULL ||
	    (*objective != NULL && strcmp(*objective, it->objective) == 0))
		return;
	xstrset(objective, it->objective);
	label(out, "objective");
	add_text(out, it->objective);
	buf_addc(out, '\n');
}

/* Append it, a line for each fact that is known. objective: what was printed
 * last, owned by the caller; it is printed when it is another one. */
static void
iteration_words(struct json_object *json, const char *worker, char **objective,
    struct buf *out)
{
	cleanup_iteration struct iteration *it = NULL;

	if (iteration_from_json(json, "", 0, &it, NULL) < 0)
		return;
	buf_addf(out, "\nIteration %lld, %s", (long long)it->number, worker);
	if (it->duration_ms >= 0) {
		buf_adds(out, ", ");
		text_add_duration(out, it->duration_ms);
	}
	buf_adds(out, ":\n");
	add_objective(out, it, objective);
	add_files(out, it);
	add_list(out, "errors", it->errors);
	add_tests(out, it);
	if (isfinite(it->completion)) {
		label(out, "done");
		buf_addf(out, "%g%%\n", it->completion);
	}
	add_spent(out, it);
	if (it->max_iterations > 0) {
		label(out, "expected");
		buf_addf(
		    out, "%lld iterations\n", (long long)it->max_iterations);
	}
	add_list(out, "scope", it->scope);
	if (it->learnings != NULL) {
		label(out, "learned");
		add_text(out, it->learnings);
		buf_addc(out, '\n');
	}
	add_list(out, "blockers", it->blockers);
	if (it->tree != NULL) {
		label(out, "tree");
		buf_addf(out, "%.*s\n", HASH_LEN, it->tree);
	}
}

static const char *const shown[] = { "at_ms", "worker", "iteration", "check",
	"intervention", "outcome" };

/* Without what only the daemon needs. */
static void
add_record(struct json_object *record, struct json_object *list)
{
	struct json_object *copy = json_object_new_object(), *json = NULL;

	for (size_t i = 0; i < nitems(shown); i++)
		if (json_object_object_get_ex(record, shown[i], &json))
			json_set(copy, shown[i], json_object_get(json));
	if (json_object_object_length(copy) > 2 ||
	    json_object_object_get_ex(copy, "outcome", NULL))
		json_object_array_add(list, copy);
	else
		json_object_put(copy);
}

/* --- for people ------------------------------------------------------ */

/* One error is only the failureClass. */
static size_t
error_count(struct json_object *analysis)
{
	struct json_object *list = json_member(analysis, "errors");

	return list == NULL ? json_member(analysis, "failureClass") != NULL :
			      json_length(list);
}

static void
add_errors(struct json_object *record, struct buf *out)
{
	struct json_object *it = json_member(record, "iteration");

	buf_addf(out, "%zu", error_count(json_member(it, "analysis")));
}

static void
add_file_count(struct json_object *record, struct buf *out)
{
	struct json_object *analysis =
	    json_member(json_member(record, "iteration"), "analysis");

	buf_addf(out, "%zu",
	    json_length(json_member(analysis, "artifactsModified")));
}

static void
add_tests_word(struct json_object *record, struct buf *out)
{
	struct json_object *tests = json_member(
	    json_member(json_member(record, "iteration"), "analysis"),
	    "testsPassing");

	if (tests != NULL)
		buf_adds(out, json_object_get_boolean(tests) ? "pass" : "fail");
}

static void
add_cost(struct json_object *record, struct buf *out)
{
	struct json_object *cost =
	    json_member(json_member(record, "iteration"), "cost");

	if (cost != NULL)
		buf_addf(out, "$%.2f", json_object_get_double(cost));
}

/* "stuck high, regression low" */
static void
add_detections(struct json_object *record, struct buf *out)
{
	struct json_object *list =
	    json_member(json_member(record, "check"), "detections");

	for (size_t i = 0; i < json_length(list); i++) {
		struct json_object *d = json_object_array_get_idx(list, i);

		buf_addf(out, "%s%s %s", i > 0 ? ", " : "",
		    json_string_or(d, "type", ""),
		    json_string_or(d, "severity", ""));
	}
}

static void
add_time(struct json_object *record, struct buf *out)
{
	int64_t ms =
	    json_int_or(json_member(record, "iteration"), "durationMs", -1);

	if (ms >= 0)
		text_add_duration(out, ms);
}

static const struct view_column columns[] = {
	{ "N", "iteration.number", VIEW_INT, .right = true },
	{ "Worker", .key = "worker" },
	{ "Time", .add = add_time, .right = true },
	{ "Files", .add = add_file_count, .right = true },
	{ "Errors", .add = add_errors, .right = true },
	{ "Tests", .add = add_tests_word },
	{ "Cost", .add = add_cost, .right = true },
	{ "Status", .key = "check.status" },
	{ "Found", .add = add_detections, .flexible = true },
};

static void
show(struct cli *cli, const char *name)
{
	cleanup_json struct json_object *rows = json_object_new_array();
	cleanup_free char *objective = NULL;
	cleanup_free char *none = xasprintf(
	    "No turn of %s is recorded. Turns on tasks are, while "
	    "oversight.mode is not off; to see the tasks of auto mode, type: "
	    "llmc task list",
	    name);

	JSON_EACH (record, cli->result)
		if (json_member(record, "iteration") != NULL)
			json_object_array_add(rows, json_object_get(record));
	CLI_TABLE(cli, columns, rows, none);
	JSON_EACH (record, cli->result) {
		struct json_object *iteration =
		    json_member(record, "iteration");
		struct json_object *act;
		struct json_object *outcome;
		struct json_object *what;
		const char *words;

		if (iteration != NULL)
			iteration_words(iteration,
			    json_string_or(record, "worker", ""), &objective,
			    &cli->text);
		act = json_member(record, "intervention");
		outcome = json_member(record, "outcome");
		what = act != NULL ? act : outcome;
		words = json_string_or(act, "message", "");
		if (what == NULL)
			continue;
		buf_addf(&cli->text, "after %d: %s for %s: ",
		    (int)json_int_or(what, "iteration", 0),
		    json_string_or(what, "level", ""),
		    json_string_or(what, "type", ""));
		if (act != NULL)
			cli_say(cli, "", words, "");
		else
			buf_adds(
			    &cli->text, json_string_or(what, "outcome", ""));
		buf_addc(&cli->text, '\n');
	}
}

/* The task of the worker of that name, or the latest one by hand; else it is a
 * task's id. */
static int
find_task(struct cli *cli, const char *name, char **ret_task)
{
	struct state state = { 0 };
	const struct worker *worker;
	int status = roster_load(cli, &state);

	if (status != CLI_OK)
		return status;
	worker = state_find(&state, name);
	if (worker == NULL)
		*ret_task = xstrdup(name);
	else
		*ret_task = worker->task != NULL ? xstrdup(worker->task) :
						   hand_task_name(name);
	state_release(&state);
	return status;
}

static int
iterations_run(struct cli *cli, const struct cli_args *args)
{
	cleanup_json struct json_object *turns = NULL;
	cleanup_free char *task = NULL;
	int status = find_task(cli, args->list[0], &task);

	if (status != CLI_OK || task == NULL)
		return status;
	if (strchr(task, '/') != NULL)
		return cli_fail(cli, "unknown",
		    "%s is neither a worker nor the id of a task; type: llmc "
		    "task list",
		    task);
	status =
	    remote_see(cli, "turns", remote_params("task", task, NULL), &turns);
	if (status != CLI_OK)
		return status;
	cli->result = json_object_new_array();
	JSON_EACH (row, turns)
		add_record(row, cli->result);
	show(cli, args->list[0]);
	return CLI_OK;
}

const struct cli_command cmd_iterations = {
	.name = "task iterations",
	.usage = "WORKER | TASK",
	.summary = "show the turns on a task, and what oversight found in them",
	.help =
	    "A line for each turn, or part of a long one: how long it took, "
	    "how many files it\nchanged, errors of tools, whether the "
	    "tests passed, the cost, and what the\ndetectors found. Then "
	    "all that is known of each, and what was done about it. Turns\n"
	    "are recorded unless oversight.mode is off.\n",
	.example = "task iterations t17",
	.min_args = 1,
	.max_args = 1,
	.shape = CLI_SHAPE(ARRAY, oversight_record_list),
	.run = iterations_run,
};
