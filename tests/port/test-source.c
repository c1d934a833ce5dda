/* SPDX-License-Identifier: ISC */

/* The table of task sources: what each type can do, its errors, and which one
 * the settings choose. */
#include "files-world.h"
#include "folder-world.h"
#include "settings.h"
#include "taskfile.h"
#include "workspace.h"

#define OLD_MS 60000

/* --- the types -------------------------------------------------------- */

static const struct {
	const char *name, *setting, *origin;
	unsigned flags;
} types[] = {
	[SOURCE_COMMAND] = { "command", "auto.task_pool_command",
	    "the command: ", 0 },
	[SOURCE_FILES] = { "files", "auto.task_list", "the task files in ",
	    SOURCE_KEEPS_CLAIMS | SOURCE_RETRIES },
	[SOURCE_FOLDER] = { "folder", "auto.tasks_dir", "the folder ",
	    SOURCE_KEEPS_CLAIMS | SOURCE_EDITABLE | SOURCE_RETRIES },
};

_Static_assert(nitems(types) == SOURCE_TYPE_COUNT, "every type is here");

TEST_ROWS(every_type_has_its_words_and_flags, nitems(types))
{
	enum source_type type = (enum source_type)_i, parsed;

	ck_assert_str_eq(source_type_name(type), types[type].name);
	ck_assert_str_eq(source_type_setting(type), types[type].setting);
	ck_assert_str_eq(source_type_origin(type), types[type].origin);
	ck_assert_uint_eq(source_type_flags(type), types[type].flags);
	ck_assert(source_type_parse(types[type].name, &parsed));
	ck_assert_int_eq(parsed, type);
}

TEST(other_names_are_no_type)
{
	enum source_type type = SOURCE_FILES;

	ck_assert(!source_type_parse("fix", &type));
	ck_assert(!source_type_parse("", &type));
	ck_assert(!source_type_parse("Folder", &type));
	ck_assert_int_eq(type, SOURCE_FILES);
}

/* --- commands --------------------------------------------------------- */

static struct source_world *
open_world(enum source_type type)
{
	struct source_world *world = source_world_new(type,
	    type == SOURCE_COMMAND ? "echo task" : unit_path("tasks"), "us");

	world->options.run_dir = unit_path("run");
	world->options.timeout_ms = 10000;
	source_world_reopen(world);
	ck_assert_str_eq(source_kind(world->source), types[type].name);
	ck_assert_uint_eq(source_flags(world->source), types[type].flags);
	return world;
}

static const struct task_head plain = { .priority = PRIORITY_NORMAL };

#define FROM_COMMAND "tasks come from auto.task_pool_command; "
#define FROM_FILES   "tasks come from the files of auto.task_list; "

/* The answers to adding a task, and to an unknown name. */
static const struct {
	int add, retry, drop;
	const char *add_words, *retry_words, *drop_words;
} edits[] = {
	[SOURCE_COMMAND] = { -ENOTSUP, -ENOTSUP, -ENOTSUP,
	    FROM_COMMAND "add them there", FROM_COMMAND "try them again there",
	    FROM_COMMAND "drop them there" },
	[SOURCE_FILES] = { -ENOTSUP, -ENOENT, -ENOTSUP,
	    FROM_FILES "add them there", "there is no task \"x\"",
	    FROM_FILES "drop them there" },
	[SOURCE_FOLDER] = { 0, -ENOENT, -ENOENT, "",
	    "there is no task x in failed/ or done/",
	    "there is no task x in todo/ or failed/" },
};

_Static_assert(nitems(edits) == SOURCE_TYPE_COUNT, "every type is here");

TEST_ROWS(tasks_are_added_retried_and_dropped_or_words_say_where, nitems(edits))
{
	enum source_type type = (enum source_type)_i;
	cleanup_source_world struct source_world *world = open_world(type);
	cleanup_free char *key = NULL, *path = NULL;
	struct err err = { 0, "" };

	ck_assert_int_eq(
	    source_add(world->source, &plain, "Do it", &key, &path, &err),
	    edits[type].add);
	ck_assert_str_eq(err.msg, edits[type].add_words);
	ck_assert((key != NULL) == (edits[type].add == 0));
	ck_assert((path != NULL) == (edits[type].add == 0));
	ck_assert_int_eq(
	    source_retry(world->source, "x", NULL, &err), edits[type].retry);
	ck_assert_str_eq(err.msg, edits[type].retry_words);
	ck_assert_int_eq(
	    source_drop(world->source, "x", &err), edits[type].drop);
	ck_assert_str_eq(err.msg, edits[type].drop_words);
	ck_assert_int_eq(
	    source_prioritize(world->source, "x", PRIORITY_HIGH, &err),
	    type == SOURCE_COMMAND ? -ENOTSUP : -ENOENT);
	if (type == SOURCE_COMMAND)
		ck_assert_str_eq(
		    err.msg, FROM_COMMAND "give them a priority there");
}

TEST(an_added_task_is_in_the_file_that_is_told)
{
	cleanup_source_world struct source_world *world =
	    open_world(SOURCE_FOLDER);
	cleanup_free char *key = NULL, *path = NULL, *text = NULL;

	ck_assert_int_eq(
	    source_add(world->source, &plain, "Do it", &key, &path, NULL), 0);
	ck_assert_str_eq(key, "1-do-it.md");
	text = source_world_read(path);
	ck_assert_str_eq(text, "Do it\n");
	ck_assert_int_eq(source_drop(world->source, key, NULL), 0);
	ck_assert(!file_exists(path));
}

/* --- reading ---------------------------------------------------------- */

TEST(texts_and_counts_are_read_without_a_source)
{
	const char *folder = unit_path("folder"), *files = unit_path("files");
	cleanup_free char *one = NULL, *other = NULL;

	ck_assert_int_eq(file_mkdirs(unit_path("folder/todo"), 0755, NULL), 0);
	ck_assert_int_eq(file_mkdirs(files, 0755, NULL), 0);
	source_world_put(unit_path("folder/todo/a"), "A\n", OLD_MS);
	source_world_put(unit_path("folder/todo/b"), "B\n", OLD_MS);
	source_world_put(unit_path("folder/todo/.c"), "C\n", OLD_MS);
	source_world_put(unit_path("folder/todo/a~"), "A\n", OLD_MS);
	source_world_put(unit_path("files/7.json"),
	    "{\"id\":\"7\",\"subject\":\"Seven\",\"description\":\"\","
	    "\"status\":\"pending\",\"blocks\":[],\"blockedBy\":[]}",
	    OLD_MS);
	one = source_text(SOURCE_FOLDER, folder, "a", "todo");
	ck_assert_str_eq(one, "A\n");
	other = source_text(SOURCE_FILES, files, "7", "todo");
	ck_assert_str_eq(other, "Seven");
	ck_assert_ptr_null(source_text(SOURCE_FOLDER, folder, "a", "done"));
	ck_assert_ptr_null(source_text(SOURCE_FILES, files, "8", "todo"));
	ck_assert_ptr_null(source_text(SOURCE_COMMAND, "true", "a", "todo"));
	ck_assert_int_eq(source_count_todo(SOURCE_FOLDER, folder), 2);
	ck_assert_int_eq(
	    source_count_todo(SOURCE_FOLDER, unit_path("nowhere")), 0);
	ck_assert_int_eq(source_count_todo(SOURCE_FILES, files), -1);
	ck_assert_int_eq(source_count_todo(SOURCE_COMMAND, "true"), -1);
}

/* --- the choice ------------------------------------------------------- */

static const struct {
	const char *config;
	enum source_type type;
	const char *where;
} choices[] = {
	{ "", SOURCE_FOLDER, "/r/.llmc/tasks" },
	{ "[auto]\ntasks_dir = \"t\"\n", SOURCE_FOLDER, "/r/t" },
	{ "[auto]\ntask_list = \"/l\"\ntasks_dir = \"t\"\n", SOURCE_FILES,
	    "/l" },
	{ "[auto]\ntask_list = \"l\"\n", SOURCE_FILES, "/r/l" },
	{ "[auto]\ntask_pool_command = \"next x\"\ntask_list = \"l\"\n",
	    SOURCE_COMMAND, "next x" },
};

TEST_ROWS(the_settings_choose_a_source, nitems(choices))
{
	char root[] = "/r", dir[] = "/r/.llmc";
	struct workspace workspace = { .root = root, .dir = dir };
	struct settings_facts facts = { .root = "/r" };
	struct settings_problems problems;
	struct settings *settings = settings_parse(
	    choices[_i].config, strlen(choices[_i].config), &facts, &problems);
	struct source_choice choice;

	ck_assert_uint_eq(problems.count, 0);
	source_choice_init(&choice, settings, &workspace, "0123456789");
	ck_assert_int_eq(choice.options.type, choices[_i].type);
	ck_assert_str_eq(choice.options.where, choices[_i].where);
	ck_assert_str_eq(choice.options.cwd, "/r");
	ck_assert_str_eq(choice.options.run_dir, "/r/.llmc/pool");
	ck_assert_str_eq(choice.options.log, "/r/.llmc/logs/task_pool.log");
	ck_assert_str_eq(choice.options.owner, "llmc-01234567");
	ck_assert_int_gt(choice.options.timeout_ms, 0);
	source_choice_release(&choice);
	source_choice_init(&choice, settings, &workspace, NULL);
	ck_assert_ptr_null(choice.options.owner);
	source_choice_release(&choice);
	settings_problems_release(&problems);
	settings_free(settings);
}

/* --- both sources of files ------------------------------------------------ */

static struct source_world *
open_either(int row, const char *name)
{
	return row == 0 ? files_world_open(name) : folder_world_open(name);
}

/* A task that waits. */
static void
put(struct source_world *world, const char *key)
{
	cleanup_free char *path = xasprintf("todo/%s", key);

	if (world->options.type == SOURCE_FILES)
		files_world_put(world, key, "pending", "");
	else
		folder_world_put(world, path, "x");
}

TEST_ROWS(the_watch_tells_of_new_files, 2)
{
	cleanup_source_world struct source_world *world =
	    open_either(_i, "watch");

	source_world_watch(world);
	put(world, "1");
	source_world_wait_watch(world, 1);
	source_world_expect(world, "1");
}

TEST_ROWS(of_three_daemons_each_task_goes_to_one, 2)
{
	cleanup_source_world struct source_world *world =
	    open_either(_i, "daemons");

	for (int i = 0; i < SOURCE_WORLD_SHARED; i++) {
		cleanup_free char *key = xasprintf("task %d", i);

		put(world, key);
	}
	source_world_expect_shared(world, "task ");
}
