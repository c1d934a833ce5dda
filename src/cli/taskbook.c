/* SPDX-License-Identifier: ISC */

/* What was committed to the book: the workers and the tasks, for commands that
 * only read it. */
#include "base.h"
#include "account.h"
#include "attempt.h"
#include "box-plan.h"
#include "cli-private.h"
#include "config.h"
#include "contract.h"
#include "landing-record.h"
#include "preflight.h"
#include "procref.h"
#include "workspace.h"
#include "task.h"
#include "view.h"

#define EXCERPT_WIDTH    50
#define REGISTRATION_MAX (64 * 1024)

int
roster_read(struct cli *cli, struct state *ret_state, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = remote_look(cli, "state", NULL, &json, err);

	if (r < 0)
		return r;
	if (json_object_object_length(json) > 0)
		return state_from_json(json, clock_wall_ms(), ret_state, err);
	state_init(ret_state);
	root_id_read(&cli->workspace, ret_state->root_id, NULL);
	return 0;
}

int
roster_load(struct cli *cli, struct state *ret_state)
{
	struct err err = { 0 };

	if (roster_read(cli, ret_state, &err) < 0)
		return cli_fail_err(cli, "bad_state", &err);
	return CLI_OK;
}

bool
roster_is_alive(struct json_object *registration)
{
	struct procref ref = PROCREF_INIT;
	bool alive = procref_from_json(&ref, registration, NULL) == 0 &&
	    (procref_alive(&ref) || getenv("LLMC_KEEPER") != NULL);

	procref_release(&ref);
	return alive;
}

struct json_object *
roster_daemon(struct cli *cli)
{
	cleanup_free char *file =
	    workspace_path(&cli->workspace, "daemon.json");
	cleanup_free char *lock = workspace_path(&cli->workspace, "state.lock");
	cleanup_json struct json_object *json = NULL;

	if (json_load(file, REGISTRATION_MAX, &json, NULL) < 0 ||
	    lock_is_held(lock) != 1 || !roster_is_alive(json))
		return NULL;
	return take_ptr(&json);
}

int
roster_find(struct cli *cli, const struct state *state, const char *name,
    const struct worker **ret_worker)
{
	const struct worker *found = state_find(state, name);
	cleanup_buf struct buf names = BUF_INIT;

	if (found != NULL) {
		*ret_worker = found;
		return CLI_OK;
	}
	for (size_t i = 0; i < state->count; i++)
		buf_addf(&names, " %s", state->workers[i]->name);
	if (state->count == 0)
		return cli_fail(cli, "no_such_worker",
		    "there is no worker %s, and there are no others; add one "
		    "with: llmc add NAME",
		    name);
	return cli_fail(cli, "no_such_worker",
	    "there is no worker %s; the workers are:%s", name, names.data);
}

/* A plain worktree can always be made. */
static bool
place_is_plain(const struct workspace *ws)
{
	cleanup_free char *modules = file_join(ws->root, ".gitmodules");
	struct settings *settings = NULL;
	struct settings_problems problems;
	const char *const *copies;
	bool plain = true;

	if (config_load(ws, &settings, &problems, NULL) < 0)
		return true;
	settings_list(settings, "repo.copy_files", &copies);
	plain = *copies == NULL &&
	    settings_string(settings, "repo.setup_command")[0] == '\0' &&
	    box_mode_of(settings, "auto-1") == BOX_OFF && !file_exists(modules);
	settings_problems_release(&problems);
	settings_free(settings);
	return plain;
}

void
cli_try_place(struct cli *cli, struct preflight *preflight)
{
	cleanup_json struct json_object *result = NULL;
	struct state state = { 0 };
	const char *code = NULL;
	struct err err = { 0 };
	bool first;

	if (place_is_plain(&cli->workspace) || remote_alive(cli) ||
	    cli_is_barred(cli, false))
		return;
	first = roster_read(cli, &state, NULL) == 0 && state.count == 0;
	state_release(&state);
	if (!first)
		return;
	progress_begin(cli, "making the place of a worker, to try it");
	if (remote_try(
		cli, "worker.try", NULL, REMOTE_LONG_MS, &result, &code, &err))
		preflight_add_place(
		    preflight, json_string_or(result, "failed", NULL));
	else
		preflight_add_place(preflight, err.msg);
	progress_end();
}

void
roster_add_held(struct state *state)
{
	for (size_t i = 0; i < state->landings.count; i++) {
		const struct landing_item *item = state->landings.items[i];
		struct worker *w;

		if (item->step != ITEM_HELD || item->task == NULL)
			continue;
		w = worker_new(item->task, item->queued_ms);
		w->status = WORKER_NEEDS_REVIEW;
		xstrset(&w->task, item->task);
		xstrset(&w->prompt, item->title);
		xstrset(&w->reason, item->words);
		xstrset(&w->reviewed, item->head);
		xstrset(&w->commit, item->head);
		state_add(state, w);
	}
}

int
roster_find_work(struct cli *cli, const struct state *state, const char *name,
    const struct worker **ret_worker)
{
	const struct task *t = state_find(state, name) == NULL ?
	    state_task_named(state, name, NULL) :
	    NULL;

	for (size_t i = 0; t != NULL && i < state->count; i++)
		if (text_is(state->workers[i]->task, t->id))
			name = state->workers[i]->name;
	return roster_find(cli, state, name, ret_worker);
}

int
roster_with_work(struct cli *cli, const char *name,
    int (*fn)(struct cli *cli, const struct worker *worker,
	const struct cli_args *args),
    const struct cli_args *args)
{
	const struct worker *worker = NULL;
	struct state state = { 0 };
	int status = roster_load(cli, &state);

	if (status != CLI_OK)
		return status;
	roster_add_held(&state);
	if (name != NULL)
		status = roster_find_work(cli, &state, name, &worker);
	else if (state.last_reviewed == NULL ||
	    (worker = state_find(&state, state.last_reviewed)) == NULL ||
	    worker->status == WORKER_IDLE)
		status = cli_fail(cli, "not_reviewed",
		    "no work that waits has been reviewed; name a worker, or "
		    "first run: llmc review");
	else if (worker->reviewed == NULL)
		status = cli_fail(cli, "not_reviewed",
		    "%s was reviewed last, and you have not seen the work that "
		    "it has now; name a worker, or first run: llmc review %s",
		    worker->name, worker->name);
	if (status == CLI_OK)
		status = fn(cli, worker, args);
	state_release(&state);
	return status;
}

int
roster_with(struct cli *cli, const char *name,
    int (*fn)(struct cli *cli, const struct worker *worker,
	const struct cli_args *args),
    const struct cli_args *args)
{
	const struct worker *worker = NULL;
	struct state state = { 0 };
	int status = roster_load(cli, &state);

	if (status != CLI_OK)
		return status;
	status = roster_find(cli, &state, name, &worker);
	if (status == CLI_OK)
		status = fn(cli, worker, args);
	state_release(&state);
	return status;
}

void
roster_excerpt(const char *prompt, struct buf *out)
{
	cleanup_buf struct buf line = BUF_INIT;
	size_t cut;

	if (prompt != NULL)
		text_add_line(&line, prompt, strlen(prompt));
	cut = text_width_cut(line.data, line.len, EXCERPT_WIDTH);
	if (cut < line.len) {
		size_t word = cut;

		while (word > 0 && line.data[word] != ' ')
			word--;
		if (word > cut / 2)
			cut = word;
		buf_truncate(&line, cut);
		buf_adds(&line, "...");
	}
	text_add_visible(out, line.data, line.len, false);
}

const char *
roster_salvage(const char *ref)
{
	size_t len = strlen(ROSTER_SALVAGE);

	return strncmp(ref, ROSTER_SALVAGE, len) == 0 ? ref + len : ref;
}

#define DOLLAR 1000000

/* While a book is being filled. */
struct filling {
	struct taskbook *book;
	struct json_object *tasks; /* records: open and ended ones */
	struct json_object *seen; /* what is in the book, by its keys */
	int64_t now;
};

/* --- entries --------------------------------------------------------- */

/* How long it has had its present status. */
static int64_t
task_age(const struct task *task, int64_t now)
{
	int64_t since = task->created_ms;

	if (task->outcome != OUTCOME_NONE && task->finished_ms > 0)
		since = task->finished_ms;
	else if (task->step == TASK_ASSIGNED && task->assigned_ms > 0)
		since = task->assigned_ms;
	return now > since ? (now - since) / 1000 : 0;
}

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct task, key, member, ##__VA_ARGS__)
/* Only of a task that autod knows. */
#define MORE(key, member, ...) \
	FIELD(key, member, .flags = SCHEMA_OPTIONAL, ##__VA_ARGS__)
#define MOMENT(key, member) \
	FIELD(key, member, .flags = SCHEMA_OPTIONAL | SCHEMA_UNIX)
/* What is made of more than one member, or of an entry of the source. */
#define MADE(key, kind, more, ...)                                     \
	{                                                              \
		.name = (key), .type = SCHEMA_##kind, .flags = (more), \
		##__VA_ARGS__                                          \
	}

static const struct schema history_schema =
    SCHEMA_SHAPE(MADE("at_unix", INT, 0), MADE("what", STRING, 0),
	MADE("detail", STRING, SCHEMA_OPTIONAL | SCHEMA_NULLABLE));

static const struct schema_field fields[] = {
	FIELD("id", id, .help = "null: it exists only at its source so far"),
	FIELD("key", key, .help = "its name at its source"),
	FIELD("source", source, .flags = SCHEMA_REQUIRED),
	MADE("origin", STRING, 0,
	    .help = "its source; of a node of a goal: which one; of a task "
		    "that an agent asked for: that of the agent"),
	MADE("status", STRING, 0,
	    .help = "offered, waiting, assigned, queued, landed, parked or "
		    "settling; its outcome when it has ended; todo, doing, "
		    "done or failed when it exists only at its source"),
	MADE("outcome", STRING, SCHEMA_NULLABLE,
	    .help = "landed, no_changes, failed, aborted or dead-letter"),
	FIELD("title", title, .flags = SCHEMA_REQUIRED),
	FIELD("label", label),
	FIELD("priority", priority, .words = priority_words,
	    .flags = SCHEMA_NULLABLE, .help = "null: its file cannot be read"),
	FIELD("worker", worker),
	FIELD("attempts", attempts),
	MADE("age_secs", INT, SCHEMA_NULLABLE,
	    .help = "since it was created, assigned or ended"),
	FIELD("commit_sha", commit),
	MORE("overtaken", overtaken,
	    .help = "it landed on a result that was overtaken"),
	MORE("landed_before", landed_before,
	    .help = "the commit that it landed as when it was done before"),
	FIELD("reason", reason,
	    .help = "why its last attempt failed, or why it waits"),
	MORE("pull", pull, .help = "how it stands with its pull request"),
	MORE("pull_url", pull_url, .help = "of that"),
	MADE("problem", STRING, SCHEMA_NULLABLE,
	    .help = "why it cannot be used"),
	MORE("turns", turns, .help = "of the last attempt"),
	MORE("tokens", tokens,
	    .help = "as budgets count them: without those read from the "
		    "cache"),
	MADE("cost_usd", NUMBER, SCHEMA_OPTIONAL | SCHEMA_NULLABLE,
	    .help = "null: unknown"),
	MADE("cost_source", STRING, SCHEMA_OPTIONAL,
	    .choices = cost_source_words,
	    .help = "estimate: tokens times [prices]; reported: by Claude "
		    "Code when the conversation ended"),
	MADE("usage", OBJECT, SCHEMA_OPTIONAL, .of = &usage_schema),
	MOMENT("created_unix", created_ms),
	MOMENT("assigned_unix", assigned_ms),
	MOMENT("finished_unix", finished_ms),
	MADE("contract", OBJECT, SCHEMA_OPTIONAL, .of = &contract_schema,
	    .help = "what must be there when it ends"),
	MADE("verification", STRING, SCHEMA_OPTIONAL,
	    .choices = verification_state_words),
	MADE("verification_result", OBJECT, SCHEMA_OPTIONAL | SCHEMA_NULLABLE,
	    .help = "of its checks"),
	MORE("text", text, .help = "with show"),
	MORE("last_words", last_words,
	    .help = "with show: last message of the agent"),
	MADE("history", ROWS, SCHEMA_OPTIONAL, .of = &history_schema,
	    .help = "with show"),
	MADE("salvage", LIST, SCHEMA_OPTIONAL,
	    .help = "with show: refs of its work that did not land"),
};

const struct schema taskbook_entry_schema = SCHEMA_OF(struct task, fields);

static struct json_object *
entry_of_task(const struct task *task, bool ended, int64_t now)
{
	struct json_object *json = schema_json(&taskbook_entry_schema, task);
	cleanup_json struct json_object *spent = json_object_new_object();
	bool planned = task->source != NULL && task->key != NULL &&
	    strcmp(task->source, "plan") == 0;
	cleanup_free char *origin =
	    task_is_spawned(task) && task->launch.parent != NULL ?
	    xasprintf("agent of %s", task->launch.parent) :
	    xstrdup(planned              ? task->key :
		    task->source != NULL ? task->source :
					   "");

	json_set_string(json, "origin", origin);
	json_set_string(json, "status",
	    ended ? task_outcome_name(task->outcome) :
		    task_step_name(task->step));
	json_set_string(json, "outcome",
	    task->outcome != OUTCOME_NONE ? task_outcome_name(task->outcome) :
					    NULL);
	json_set_int(json, "age_secs", task_age(task, now));
	json_set(json, "problem", NULL);
	json_set_int(spent, "tokens", task->tokens);
	view_row_cost(spent, &task->spent);
	json_set(spent, "usage", usage_to_json(&task->spent.usage));
	spent_view_set(json, spent);
	if (task->launch.contract != NULL) {
		json_set(
		    json, "contract", json_object_get(task->launch.contract));
		json_set_string(json, "verification",
		    verification_state_words[task->attempt.verification]);
		json_set(json, "verification_result",
		    json_object_get(task->attempt.verified));
	}
	json_set(json, "history",
	    task->history != NULL ? json_object_get(task->history) :
				    json_object_new_array());
	schema_order(&taskbook_entry_schema, json);
	return json;
}

static struct json_object *
entry_of_item(const struct taskbook *book, struct json_object *item)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "id", NULL);
	json_set_string(json, "key", json_string_or(item, "key", ""));
	json_set_string(json, "source", source_type_name(book->type));
	json_set_string(json, "origin", source_type_name(book->type));
	json_set_string(json, "status", json_string_or(item, "status", "?"));
	json_set_string(json, "outcome", NULL);
	json_set_string(json, "title", json_string_or(item, "title", ""));
	json_set_string(json, "label", json_string_or(item, "label", NULL));
	json_set(
	    json, "priority", json_object_get(json_member(item, "priority")));
	json_set_string(json, "worker", json_string_or(item, "owner", NULL));
	json_set_int(json, "attempts", 0);
	json_set(json, "age_secs", NULL);
	json_set(json, "commit_sha", NULL);
	json_set(json, "reason", NULL);
	json_set_string(json, "problem", json_string_or(item, "problem", NULL));
	return json;
}

/* --- filling --------------------------------------------------------- */

/* The same name in another source is another task. */
static char *
seen_key(const char *source, const char *key)
{
	return xasprintf("%s\n%s", source, key);
}

static void
add_entry(struct filling *f, struct json_object *entry)
{
	const char *id = json_string_or(entry, "id", NULL);
	const char *key = json_string_or(entry, "key", NULL);
	cleanup_free char *name = NULL;

	if (id != NULL)
		json_set_bool(f->seen, id, true);
	if (key != NULL) {
		name = seen_key(json_string_or(entry, "source", ""), key);
		json_set_bool(f->seen, name, true);
	}
	json_object_array_add(f->book->entries, entry);
}

/* An ended task may be in progress again. Returns how many. */
static size_t
add_tasks(struct filling *f, const char *which)
{
	struct json_object *list = json_member(f->tasks, which);
	bool ended = strcmp(which, "ended") == 0;
	size_t count = 0;

	JSON_EACH (row, list) {
		struct task *task = NULL;

		/* A record that this version cannot read is ignored. */
		if (task_from_json(row, "", &task, NULL) < 0)
			continue;
		if (!ended || !json_bool_or(f->seen, task->id, false)) {
			add_entry(f, entry_of_task(task, ended, f->now));
			count++;
		}
		task_free(task);
	}
	return count;
}

/* Tasks that only the source knows. */
static void
add_items(struct filling *f, struct json_object *items, bool ended, size_t room)
{
	size_t count = 0;

	JSON_EACH (item, items) {
		cleanup_free char *name =
		    seen_key(source_type_name(f->book->type),
			json_string_or(item, "key", ""));

		if (count >= room)
			break;
		if ((view_is(item, "status", "done") ||
			view_is(item, "status", "failed")) != ended ||
		    json_bool_or(f->seen, name, false))
			continue;
		add_entry(f, entry_of_item(f->book, item));
		count++;
	}
}

int
taskbook_load(
    struct cli *cli, size_t limit, const char *name, struct taskbook *ret_book)
{
	struct json_object *params;
	cleanup_json struct json_object *tasks = NULL, *items = NULL;
	cleanup_json struct json_object *seen = json_object_new_object();
	size_t ended;
	struct taskbook book = { .entries = NULL };
	struct source_choice choice;
	struct settings *settings = NULL;
	struct err err = { 0 };
	struct filling f = {
		.book = &book, .seen = seen, .now = clock_wall_ms()
	};
	int status = cli_load_settings(cli, &settings);

	if (status != CLI_OK)
		return status;
	source_choice_init(&choice, settings, &cli->workspace, NULL);
	book.type = choice.options.type;
	book.where = take_ptr(&choice.where);
	source_choice_release(&choice);
	settings_free(settings);
	book.entries = json_object_new_array();
	params = json_object_new_object();
	json_set_int(params, "limit", (int64_t)limit);
	json_set_string(params, "name", name);
	json_set_bool(params, "brief", name == NULL);
	json_set_bool(params, "open", true);
	if (remote_look(cli, "tasks", params, &tasks, &err) < 0) {
		taskbook_release(&book);
		return cli_fail_err(cli, "bad_state", &err);
	}
	f.tasks = tasks;
	items = source_list(book.type, book.where, limit, &err);
	if (items == NULL) {
		book.problem = xstrdup(err.msg);
		items = json_object_new_array();
	}
	add_tasks(&f, "open");
	add_items(&f, items, false, SIZE_MAX);
	ended = add_tasks(&f, "ended");
	/* What ended before there were records, or by hand. */
	add_items(&f, items, true, limit == 0 ? SIZE_MAX : limit - ended);
	*ret_book = book;
	return CLI_OK;
}

/* An ended task is asked for by its id, unless that is its name. */
int
taskbook_load_for(struct cli *cli, const char *name, struct taskbook *ret_book)
{
	cleanup_free char *id = NULL;
	int status = taskbook_load(cli, 0, name, ret_book);

	if (status != CLI_OK || taskbook_find(ret_book, name) != NULL)
		return status;
	taskbook_release(ret_book);
	status = taskbook_load(cli, 0, NULL, ret_book);
	if (status != CLI_OK)
		return status;
	xstrset(&id, json_string_or(taskbook_find(ret_book, name), "id", NULL));
	if (id == NULL)
		return status;
	taskbook_release(ret_book);
	return taskbook_load(cli, 0, id, ret_book);
}

void
taskbook_release(struct taskbook *book)
{
	free(book->where);
	free(book->problem);
	json_object_put(book->entries);
}

/* --- looking for one ------------------------------------------------- */

const char *
taskbook_name(struct json_object *entry)
{
	const char *id = json_string_or(entry, "id", NULL);

	return id != NULL ? id : json_string_or(entry, "key", "");
}

/* Of the tasks of one node or file the first, which goes on or is the newest.
 */
struct json_object *
taskbook_find(const struct taskbook *book, const char *word)
{
	struct json_object *found = NULL;
	int best = 0;

	JSON_EACH (entry, book->entries) {
		int fits = task_named(json_string_or(entry, "id", NULL),
		    json_string_or(entry, "source", NULL),
		    json_string_or(entry, "key", NULL), word);

		if (fits > best) {
			best = fits;
			found = entry;
		} else if (fits == best && found != NULL &&
		    strcmp(json_string_or(entry, "key", ""),
			json_string_or(found, "key", "")) != 0) {
			return NULL; /* several nodes have this name */
		}
	}
	return found;
}

const char *
taskbook_nearest(const struct taskbook *book, const char *word)
{
	size_t count = json_object_array_length(book->entries), n = 0;
	cleanup_free const char **names = xcalloc(count * 2 + 1, sizeof *names);

	JSON_EACH (entry, book->entries) {
		const char *key = json_string_or(entry, "key", NULL);

		names[n++] = taskbook_name(entry);
		if (key != NULL)
			names[n++] = key;
	}
	return text_nearest(word, names);
}

void
taskbook_read_text(const struct taskbook *book, struct json_object *entry)
{
	cleanup_free char *text = NULL;

	if (json_string_or(entry, "text", NULL) != NULL ||
	    json_string_or(entry, "id", NULL) != NULL)
		return;
	text = source_text(book->type, book->where,
	    json_string_or(entry, "key", ""),
	    json_string_or(entry, "status", ""));
	json_set_string(entry, "text", text);
}

void
spent_view_set(struct json_object *json, struct json_object *row)
{
	int64_t cost = json_int_or(row, "cost_micros", -1);
	char dollars[32];

	snprintf(dollars, sizeof dollars, "%" PRId64 ".%06" PRId64,
	    cost / DOLLAR, cost % DOLLAR);
	json_set_int(json, "tokens", json_int_or(row, "tokens", 0));
	json_set(json, "cost_usd",
	    cost < 0 ?
		NULL :
		json_object_new_double_s((double)cost / DOLLAR, dollars));
	json_set_string(json, "cost_source",
	    json_string_or(
		row, "cost_source", cost_source_words[COST_UNKNOWN]));
	json_set(json, "usage", json_object_get(json_member(row, "usage")));
}

static struct json_object *
usage_of(struct json_object *json)
{
	struct json_object *usage = NULL;

	json_get_object(json, "", "usage", &usage, NULL);
	return usage;
}

void
spent_view_add(struct buf *out, struct json_object *json)
{
	const char *source = json_string_or(json, "cost_source", "");
	int64_t calls = json_int_or(usage_of(json), "tool_calls", 0);
	double dollars = 0;

	budget_add_tokens(out, json_int_or(json, "tokens", 0));
	buf_adds(out, ", ");
	if (json_get_double(json, "", "cost_usd", &dollars, NULL) == 0)
		budget_add_cost(out, (int64_t)(dollars * DOLLAR + 0.5));
	else
		buf_adds(out, "$?");
	if (strcmp(source, cost_source_words[COST_ESTIMATE]) == 0)
		buf_adds(out, " est.");
	if (calls > 0)
		buf_addf(out, ", %" PRId64 " tool call%s", calls,
		    calls == 1 ? "" : "s");
}

void
spent_view_add_models(
    struct buf *out, const char *prefix, struct json_object *json)
{
	static const char *const words[USAGE_KINDS] = {
		[USAGE_INPUT] = "input",
		[USAGE_OUTPUT] = "output",
		[USAGE_CACHE_READ] = "read from the cache",
		[USAGE_CACHE_WRITE_5M] = "written to it (5m)",
		[USAGE_CACHE_WRITE_1H] = "written to it (1h)",
	};
	struct json_object *models = NULL;

	if (json_get_object(usage_of(json), "", "models", &models, NULL) < 0)
		return;
	JSON_MEMBERS (it, models) {
		const char *before = ": ";

		buf_adds(out, prefix);
		text_add_visible(out, it.key, strlen(it.key), false);
		for (int k = 0; k < USAGE_KINDS; k++) {
			int64_t n = json_int_or(it.val, usage_kind_words[k], 0);

			if (n == 0)
				continue;
			buf_addf(out, "%s%" PRId64 " %s", before, n, words[k]);
			before = ", ";
		}
		buf_addc(out, '\n');
	}
}
