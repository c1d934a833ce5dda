/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "errand.h"
#include "id.h"
#include "jsonl.h"
#include "loop.h"
#include "prompt.h"
#include "settings.h"
#include "source-private.h"
#include "source.h"
#include "taskfile.h"
#include "view.h"
#include "workspace.h"

static const struct source_kind *const kinds[] = {
	[SOURCE_COMMAND] = &source_command,
	[SOURCE_FILES] = &source_files,
	[SOURCE_FOLDER] = &source_folder,
};

_Static_assert(
    nitems(kinds) == SOURCE_TYPE_COUNT, "every type of source has its row");

/* --- the types -------------------------------------------------------- */

const char *
source_type_name(enum source_type type)
{
	return kinds[type]->name;
}

bool
source_type_parse(const char *name, enum source_type *ret_type)
{
	for (size_t i = 0; i < nitems(kinds); i++) {
		if (strcmp(kinds[i]->name, name) != 0)
			continue;
		*ret_type = (enum source_type)i;
		return true;
	}
	return false;
}

unsigned
source_type_flags(enum source_type type)
{
	return kinds[type]->flags;
}

const char *
source_type_setting(enum source_type type)
{
	return kinds[type]->setting;
}

const char *
source_type_origin(enum source_type type)
{
	return kinds[type]->origin;
}

/* --- a source --------------------------------------------------------- */

int
source_new(const struct source_options *options, struct source **ret_source,
    struct err *err)
{
	const struct source_kind *kind = kinds[options->type];
	struct source *source = xcalloc(1, kind->size);
	int r;

	source->kind = kind;
	source->loop = options->loop;
	source->where = xstrdup(options->where);
	source->owner = options->owner == NULL ? NULL : xstrdup(options->owner);
	source->call = loop_call_new(source->loop, source_base_look, source);
	r = kind->open(source, options, err);
	if (r < 0) {
		source_free(source);
		return r;
	}
	*ret_source = source;
	return 0;
}

void
source_free(struct source *source)
{
	if (source == NULL)
		return;
	source->kind->close(source);
	loop_timer_free(take_ptr(&source->timer));
	loop_call_free(source->call);
	strv_free(source->labels);
	strv_free(source->keys);
	strv_free(source->quarantined);
	free(source->where);
	free(source->owner);
	free(source);
}

const char *
source_kind(const struct source *source)
{
	return source->kind->name;
}

unsigned
source_flags(const struct source *source)
{
	return source->kind->flags;
}

void
source_ask(struct source *source, const char *const *labels,
    const char *const *keys, source_fn *fn, void *arg)
{
	if (source->fn != NULL)
		fatalx("a task source is asked twice");
	source->labels = strv_copy(labels);
	source->keys = strv_copy(keys);
	source->fn = fn;
	source->arg = arg;
	source->pause_ms = SOURCE_SETTLED_MS;
	loop_call_request(source->call);
}

bool
source_asking(const struct source *source)
{
	return source->fn != NULL;
}

int
source_take(
    struct source *source, const char *key, const char *worker, struct err *err)
{
	return source->kind->take(source, key, worker, err);
}

int
source_settle(struct source *source, const char *key, enum task_outcome outcome,
    const char *note, struct err *err)
{
	if (source->kind->settle == NULL)
		return 0;
	return source->kind->settle(source, key, outcome, note, err);
}

int
source_recover(struct source *source, const char *const *keys, struct err *err)
{
	if (source->kind->recover == NULL)
		return 0;
	return source->kind->recover(source, keys, err);
}

int
source_watch(
    struct source *source, void (*fn)(void *arg), void *arg, struct err *err)
{
	if (source->kind->watch == NULL)
		return 0;
	return source->kind->watch(source, fn, arg, err);
}

const char *const *
source_quarantined(const struct source *source)
{
	return strv_const(source->quarantined);
}

/* --- what people do with it ------------------------------------------- */

static int
refuse(const struct source *source, const char *what, struct err *err)
{
	return err_set(
	    err, -ENOTSUP, "%s; %s there", source->kind->elsewhere, what);
}

int
source_add(struct source *source, const struct task_head *head,
    const char *prompt, char **ret_key, char **ret_path, struct err *err)
{
	if (source->kind->add == NULL)
		return refuse(source, "add them", err);
	return source->kind->add(
	    source->where, head, prompt, ret_key, ret_path, err);
}

char *
source_maker(struct source *source, const char *key, enum box_mode *ret_box)
{
	return source->kind->maker == NULL ?
	    NULL :
	    source->kind->maker(source->where, key, ret_box);
}

size_t
source_made(struct source *source, const char *maker)
{
	return source->kind->made == NULL ?
	    0 :
	    source->kind->made(source->where, maker);
}

int
source_retry(
    struct source *source, const char *key, const char *commit, struct err *err)
{
	if (source->kind->retry == NULL)
		return refuse(source, "try them again", err);
	return source->kind->retry(source->where, key, commit, err);
}

int
source_prioritize(struct source *source, const char *key,
    enum priority priority, struct err *err)
{
	if (source->kind->prioritize == NULL)
		return refuse(source, "give them a priority", err);
	return source->kind->prioritize(source, key, priority, err);
}

int
source_drop(struct source *source, const char *key, struct err *err)
{
	if (source->kind->drop == NULL)
		return refuse(source, "drop them", err);
	return source->kind->drop(source->where, key, err);
}

int
source_edit(struct source *source, const char *key, const char *before,
    const char *prompt, struct err *err)
{
	if (source->kind->edit == NULL)
		return refuse(source, "edit them", err);
	return source->kind->edit(source, key, before, prompt, err);
}

/* --- looking only ----------------------------------------------------- */

struct json_object *
source_list(
    enum source_type type, const char *where, size_t limit, struct err *err)
{
	if (kinds[type]->list == NULL)
		return json_object_new_array();
	return kinds[type]->list(where, limit, err);
}

char *
source_text(enum source_type type, const char *where, const char *key,
    const char *status)
{
	if (kinds[type]->text == NULL)
		return NULL;
	return kinds[type]->text(where, key, status);
}

int64_t
source_count_todo(enum source_type type, const char *where)
{
	if (kinds[type]->count_todo == NULL)
		return -1;
	return kinds[type]->count_todo(where);
}

#define STATUS_NONE_READY 4
#define NAME_SIZE         128
#define LOG_TEXT_MAX      ((size_t)ERRAND_OUT_MAX) /* of each stream */
#define LOG_SIZE_MAX      ((int64_t)50 * 1024 * 1024)
#define LOG_KEEP          3
#define WORDS_LINES       5 /* of its output, in a failure */
#define WORDS_LINE_BYTES  400

struct command {
	struct source source;
	struct errand *errand; /* NULL = none runs */
	char name[NAME_SIZE]; /* of the errand: the key of its task */
	char *cwd, *run_dir, *log; /* cwd, log: NULL = none */
	int64_t timeout_ms;
};

static int
command_open(struct source *source, const struct source_options *options,
    struct err *err)
{
	struct command *command = (struct command *)source;

	if (options->run_dir == NULL || options->timeout_ms <= 0)
		return err_set(err, -EINVAL,
		    "a command for tasks needs a folder and a time limit");
	command->run_dir = xstrdup(options->run_dir);
	command->cwd = options->cwd == NULL ? NULL : xstrdup(options->cwd);
	command->log = options->log == NULL ? NULL : xstrdup(options->log);
	command->timeout_ms = options->timeout_ms;
	return file_mkdirs(command->run_dir, 0700, err);
}

static void
command_close(struct source *source)
{
	struct command *command = (struct command *)source;

	errand_free(command->errand);
	free(command->cwd);
	free(command->run_dir);
	free(command->log);
}

/* --- the record of each call ------------------------------------------ */

static void
log_text(struct json_object *record, const char *key, const struct buf *text)
{
	cleanup_buf struct buf shown = BUF_INIT;
	size_t len = text_cut(text->data, text->len, LOG_TEXT_MAX);
	char *nul;

	text_add_utf8(&shown, text->data, len);
	while ((nul = memchr(shown.data, '\0', shown.len)) != NULL)
		*nul = '?';
	if (len < text->len)
		buf_addf(&shown, "\n[%zu bytes more]", text->len - len);
	json_set_string(record, key, shown.data);
}

/* If the log cannot be written, the task goes on. */
static void
log_call(const struct command *command, const struct errand_result *result)
{
	cleanup_json struct json_object *record = NULL;
	bool good = !result->timed_out &&
	    (result->status == 0 || result->status == STATUS_NONE_READY);
	char stamp[CLOCK_STAMP_SIZE];

	if (command->log == NULL)
		return;
	record = json_object_new_object();
	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(record, "timestamp", stamp);
	json_set_string(record, "level", good ? "INFO" : "ERROR");
	json_set_string(record, "command", command->source.where);
	json_set_int(record, "exit_code", result->status);
	json_set_int(record, "duration_ms", result->duration_ms);
	log_text(record, "stdout", &result->out);
	log_text(record, "stderr", &result->err);
	jsonl_append(command->log, record, LOG_SIZE_MAX, LOG_KEEP, NULL);
}

/* --- the answer ------------------------------------------------------- */

/* The first lines of standard error. */
static void
add_said(const struct buf *said, struct buf *words)
{
	const char *s = said->data, *end = s + said->len;
	int lines = 0;

	while (s < end && lines < WORDS_LINES) {
		const char *newline = memchr(s, '\n', (size_t)(end - s));
		size_t len = (size_t)((newline == NULL ? end : newline) - s);

		if (len > 0) {
			buf_adds(words, lines++ == 0 ? ":\n" : "\n");
			text_add_visible(words, s,
			    text_cut(s, len, WORDS_LINE_BYTES), false);
		}
		s += len + 1;
	}
}

/* A sentence about it, and its class. */
static const char *
describe_failure(const struct command *command,
    const struct errand_result *result, struct buf *words)
{
	buf_adds(words, "the task pool command ");
	if (result->timed_out) {
		buf_adds(words, "took longer than ");
		text_add_duration(words, command->timeout_ms);
		return "task_pool_timeout";
	}
	if (result->lost) {
		buf_adds(
		    words, "was killed before it could report its exit status");
		return "task_pool_failed";
	}
	if (result->status == 3) {
		buf_adds(words,
		    "reported that too many tasks are claimed (exit status 3)");
		return "task_pool_claims";
	}
	if (result->status == 127)
		buf_adds(words, "was not found (exit status 127)");
	else
		buf_addf(words, "failed with exit status %d", result->status);
	return "task_pool_failed";
}

static void
answer_failure(struct command *command, const struct errand_result *result)
{
	cleanup_buf struct buf words = BUF_INIT;
	struct source_failure failure = { .status = result->status };

	failure.class = describe_failure(command, result, &words);
	add_said(&result->err, &words);
	failure.words = words.data;
	source_base_answer(&command->source, SOURCE_FAILED, NULL, &failure);
}

static void
answer_unusable(struct command *command, const struct errand_result *result,
    const char *what)
{
	cleanup_buf struct buf words = BUF_INIT;
	struct source_failure failure = { .class = "task_pool_text" };

	buf_addf(&words, "the task pool command printed %s", what);
	add_said(&result->err, &words);
	failure.words = words.data;
	source_base_answer(&command->source, SOURCE_FAILED, NULL, &failure);
}

static void
answer_offer(struct command *command, const char *text)
{
	char key[NAME_SIZE];
	cleanup_json struct json_object *contract = NULL;
	struct task_head head;
	struct source_offer offer = { .key = key };

	offer.text = task_head_read(text, &head);
	source_base_read_head(&head, &offer, &contract);
	strlcpy(key, command->name, sizeof key);
	source_base_answer(&command->source, SOURCE_OFFER, &offer, NULL);
}

enum verdict {
	VERDICT_TASK,
	VERDICT_NONE,
	VERDICT_FAILED,
	VERDICT_NO_TEXT,
	VERDICT_TOO_LONG,
	VERDICT_NO_CONTRACT,
};

/* Its text counts only if the command says that it is complete. */
static enum verdict
judge(const struct errand_result *result, struct buf *text)
{
	const struct buf *out = &result->out;
	cleanup_json struct json_object *contract = NULL;
	struct task_head head;

	if (result->lost || result->timed_out)
		return VERDICT_FAILED;
	if (result->status == STATUS_NONE_READY)
		return VERDICT_NONE;
	if (result->status != 0)
		return VERDICT_FAILED;
	if (result->cut)
		return VERDICT_TOO_LONG;
	if (!text_utf8_valid(out->data, out->len) ||
	    memchr(out->data, '\0', out->len) != NULL)
		return VERDICT_NO_TEXT;
	if (prompt_clean(out->data, out->len, text) &&
	    *task_head_read(text->data, &head) != '\0')
		return task_head_contract(&head, &contract, NULL) < 0 ?
		    VERDICT_NO_CONTRACT :
		    VERDICT_TASK;
	return out->len > PROMPT_MAX ? VERDICT_TOO_LONG : VERDICT_NONE;
}

static void
command_ended(const struct errand_result *result, void *arg)
{
	struct command *command = arg;
	struct errand *errand = take_ptr(&command->errand);
	cleanup_buf struct buf text = BUF_INIT;
	enum verdict verdict = judge(result, &text);

	log_call(command, result);
	/* The task that it printed is kept until the owner has saved it. */
	if (verdict != VERDICT_TASK)
		errand_forget(command->run_dir, command->name, NULL);
	if (verdict == VERDICT_NONE)
		source_base_answer(&command->source, SOURCE_EMPTY, NULL, NULL);
	else if (verdict == VERDICT_TASK)
		answer_offer(command, text.data);
	else if (verdict == VERDICT_FAILED)
		answer_failure(command, result);
	else
		answer_unusable(command, result,
		    verdict == VERDICT_NO_TEXT ?
			"text that is not valid UTF-8" :
			verdict == VERDICT_TOO_LONG ?
			"more than 1 MiB" :
			"a Verification: that is no contract");
	errand_free(errand);
}

/* --- asking ----------------------------------------------------------- */

/* Continue one that an earlier process began. 0 = it goes on; -ENOENT = there
 * is none. A task among our keys was saved before it could be forgotten. */
static int
adopt(struct command *command, const struct errand_spec *spec, struct err *err)
{
	int r;

	while (errand_find(
	    command->run_dir, command->name, sizeof command->name)) {
		r = -EINVAL;
		if (!strv_has(strv_const(command->source.keys), command->name))
			r = errand_adopt(command->source.loop, spec,
			    command_ended, command, &command->errand, err);
		if (r != -EINVAL && r != -ENOENT)
			return r;
		r = errand_forget(command->run_dir, command->name, err);
		if (r < 0)
			return r;
	}
	return -ENOENT;
}

static void
command_ask(struct source *source)
{
	struct command *command = (struct command *)source;
	struct errand_spec spec = {
		.dir = command->run_dir,
		.name = command->name,
		.command = source->where,
		.cwd = command->cwd,
		.deadline_ms = command->timeout_ms,
	};
	struct err err = { 0, "" };
	int r;

	r = file_mkdirs(command->run_dir, 0700, &err);
	if (r == 0)
		r = adopt(command, &spec, &err);
	if (r == -ENOENT) {
		id_ulid(clock_wall_ms(), command->name);
		r = errand_start(source->loop, &spec, command_ended, command,
		    &command->errand, &err);
	}
	if (source_base_is_shortage(r) || r == -EAGAIN)
		source_base_look_later(source);
	else if (r < 0)
		source_base_fail(source, &err);
}

static int
command_take(
    struct source *source, const char *key, const char *worker, struct err *err)
{
	struct command *command = (struct command *)source;

	(void)worker; /* the task is ours since the command printed it */
	return errand_forget(command->run_dir, key, err);
}

const struct source_kind source_command = {
	.name = "command",
	.setting = "auto.task_pool_command",
	.origin = "the command: ",
	.elsewhere = "tasks come from auto.task_pool_command",
	.size = sizeof(struct command),
	.open = command_open,
	.close = command_close,
	.ask = command_ask,
	.take = command_take,
};

static enum source_type
choose_type(const struct settings *settings)
{
	enum source_type type = SOURCE_COMMAND;

	/* The folder has a default; the others are empty unless chosen. */
	while (type < SOURCE_FOLDER &&
	    settings_string(settings, source_type_setting(type))[0] == '\0')
		type++;
	return type;
}

void
source_choice_init(struct source_choice *choice,
    const struct settings *settings, const struct workspace *workspace,
    const char *root_id)
{
	enum source_type type = choose_type(settings);
	const char *value =
	    settings_string(settings, source_type_setting(type));

	choice->where = type == SOURCE_COMMAND ?
	    xstrdup(value) :
	    workspace_resolve(workspace, value);
	choice->run_dir = workspace_path(workspace, "pool");
	choice->log = workspace_path(workspace, "logs/task_pool.log");
	choice->owner =
	    root_id == NULL ? NULL : xasprintf("llmc-%.8s", root_id);
	choice->options = (struct source_options){
		.type = type,
		.where = choice->where,
		.cwd = workspace->root,
		.run_dir = choice->run_dir,
		.log = choice->log,
		.timeout_ms =
		    settings_duration(settings, "auto.task_pool_timeout"),
		.owner = choice->owner,
	};
}

void
source_choice_release(struct source_choice *choice)
{
	free(choice->where);
	free(choice->run_dir);
	free(choice->log);
	free(choice->owner);
	*choice = (struct source_choice){ .where = NULL };
}

struct source_todo {
	char *folder; /* that was read; NULL = none */
	struct stat st; /* of the folder, before it was read */
	bool settled; /* it can be known that it has not changed */
	struct folder_order order; /* what was read of the files */
	struct json_object *rows; /* key -> row */
	int64_t count;
};

struct source_todo *
source_todo_new(void)
{
	return xcalloc(1, sizeof(struct source_todo));
}

void
source_todo_free(struct source_todo *todo)
{
	if (todo == NULL)
		return;
	free(todo->folder);
	folder_order_release(&todo->order);
	json_object_put(todo->rows);
	free(todo);
}

void
source_todo_refresh(struct source_todo *todo)
{
	todo->settled = false;
}

static char *
folder_of(const struct source_choice *choice)
{
	const char *part = kinds[choice->options.type]->todo_part;

	return part == NULL ? NULL : file_join(choice->options.where, part);
}

char *
source_todo_folder(
    const struct settings *settings, const struct workspace *workspace)
{
	cleanup_source_choice struct source_choice choice;

	source_choice_init(&choice, settings, workspace, NULL);
	return folder_of(&choice);
}

/* Has it been read as it is? */
static bool
is_known(
    const struct source_todo *todo, const char *folder, const struct stat *st)
{
	return todo->settled && text_is(todo->folder, folder) &&
	    file_is_same(&todo->st, st);
}

static void
read_todo(struct source_todo *todo, const struct source_choice *choice)
{
	const struct source_kind *kind = kinds[choice->options.type];
	cleanup_json struct json_object *list = NULL;

	json_object_put(todo->rows);
	todo->rows = json_object_new_object();
	list = kind->todo(
	    choice->options.where, &todo->order, SOURCE_TODO_MAX, &todo->count);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		enum priority priority = PRIORITY_NORMAL;

		priority_parse(json_string_or(row, "priority", ""), &priority);
		json_set_int(row, "rank", priority);
		json_set(todo->rows, json_string_or(row, "key", "?"),
		    json_object_get(row));
	}
}

void
source_todo_fill(struct source_todo *todo, const struct settings *settings,
    const struct workspace *workspace, struct json_object *view)
{
	cleanup_source_choice struct source_choice choice;
	cleanup_free char *folder = NULL;
	struct stat st;

	source_choice_init(&choice, settings, workspace, NULL);
	folder = folder_of(&choice);
	if (folder == NULL) {
		json_set(view_of(view, "head"), "todo", NULL);
		return;
	}
	if (stat(folder, &st) == -1)
		st = (struct stat){ 0 };
	if (!is_known(todo, folder, &st)) {
		if (!text_is(todo->folder, folder))
			folder_order_release(&todo->order);
		xstrset(&todo->folder, folder);
		todo->st = st;
		todo->settled = clock_wall_ms() - clock_file_ms(&st.st_mtim) >=
		    SOURCE_SETTLED_MS;
		read_todo(todo, &choice);
	}
	json_set_int(view_of(view, "head"), "todo", todo->count);
	json_set(view, "todo", json_object_get(todo->rows));
}
