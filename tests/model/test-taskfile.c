/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "taskfile.h"

#define FILE_MAX 16 /* tasks in one test */

static struct taskfile *
parse(const char *text)
{
	struct taskfile *task = NULL;
	struct err err = { 0, "" };
	int r = taskfile_parse(text, strlen(text), &task, &err);

	ck_assert_msg(r == 0, "%s: %s", text, err.msg);
	return task;
}

/* {"id": id, ...} with the required members. */
static struct taskfile *
make(const char *id, const char *status, const char *more)
{
	cleanup_free char *text = xasprintf("{\"id\":\"%s\",\"subject\":\"S\","
					    "\"description\":\"D\","
					    "\"status\":\"%s\"%s}",
	    id, status, more);

	return parse(text);
}

static void
free_all(struct taskfile **all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		taskfile_free(all[i]);
}

static void
expect_refused(const char *text, int code, const char *words)
{
	struct taskfile *task = (struct taskfile *)(uintptr_t)1;
	struct err err = { 0, "" };

	ck_assert_int_eq(taskfile_parse(text, strlen(text), &task, &err), code);
	ck_assert_msg(strstr(err.msg, words) != NULL, "%s: %s", text, err.msg);
	ck_assert_int_eq(err.code, code);
	ck_assert_ptr_eq(task, (void *)(uintptr_t)1);
	ck_assert_int_eq(taskfile_parse(text, strlen(text), &task, NULL), code);
}

TEST(every_member_is_read)
{
	struct taskfile *task = parse(
	    "{\"id\":\"7\",\"subject\":\"Mend\",\"description\":\"All of it\","
	    "\"status\":\"in_progress\",\"owner\":\"me\",\"blocks\":[\"8\"],"
	    "\"blockedBy\":[\"5\",\"6\"],\"activeForm\":\"Mending\","
	    "\"metadata\":{\"priority\":1,\"label\":\"db\"}}");

	ck_assert_str_eq(task->id, "7");
	ck_assert_str_eq(task->subject, "Mend");
	ck_assert_str_eq(task->description, "All of it");
	ck_assert_int_eq(task->status, TASKFILE_IN_PROGRESS);
	ck_assert_str_eq(task->owner, "me");
	ck_assert_str_eq(task->label, "db");
	ck_assert_int_eq(task->priority, PRIORITY_HIGH);
	ck_assert_str_eq(task->blocked_by[0], "5");
	ck_assert_str_eq(task->blocked_by[1], "6");
	ck_assert_ptr_null(task->blocked_by[2]);
	ck_assert_ptr_null(task->failed);
	taskfile_free(task);
}

TEST(what_may_be_missing_has_its_default)
{
	struct taskfile *task =
	    make("1", "pending", ",\"owner\":null,\"blockedBy\":null");

	ck_assert_ptr_null(task->owner);
	ck_assert_ptr_null(task->label);
	ck_assert_int_eq(task->priority, PRIORITY_NORMAL);
	ck_assert_ptr_null(task->blocked_by[0]);
	taskfile_free(task);
	task = make(
	    "1", "completed", ",\"owner\":\"\",\"metadata\":{\"label\":\"\"}");
	ck_assert_ptr_null(task->owner);
	ck_assert_ptr_null(task->label);
	ck_assert_int_eq(task->status, TASKFILE_COMPLETED);
	taskfile_free(task);
	taskfile_free(NULL);
}

TEST(priority_is_understood_and_foreign_metadata_is_no_error)
{
	static const struct {
		const char *metadata;
		enum priority priority;
	} rows[] = {
		{ "{\"priority\":-3}", PRIORITY_URGENT },
		{ "{\"priority\":0}", PRIORITY_URGENT },
		{ "{\"priority\":2}", PRIORITY_HIGH },
		{ "{\"priority\":4}", PRIORITY_LOW },
		{ "{\"priority\":5}", PRIORITY_LOW },
		{ "{\"priority\":9223372036854775807}", PRIORITY_LOW },
		{ "{\"priority\":\"high\"}", PRIORITY_HIGH },
		{ "{\"priority\":\"highest\"}", PRIORITY_NORMAL },
		{ "{\"priority\":1.5}", PRIORITY_NORMAL },
		{ "{\"label\":[1]}", PRIORITY_NORMAL },
		{ "[]", PRIORITY_NORMAL },
		{ "\"x\"", PRIORITY_NORMAL },
		{ "null", PRIORITY_NORMAL },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *more =
		    xasprintf(",\"metadata\":%s", rows[i].metadata);
		struct taskfile *task = make("1", "pending", more);

		ck_assert_int_eq(task->priority, rows[i].priority);
		ck_assert_ptr_null(task->label);
		taskfile_free(task);
	}
}

#define WITH(members) "{\"id\":\"1\"," members "}"
#define REST          "\"subject\":\"s\",\"description\":\"d\","

TEST(a_contract_is_read_and_a_foreign_one_is_left_alone)
{
	struct taskfile *task = make("1", "pending",
	    ",\"metadata\":{\"verification\":{\"artifacts\":[]}}");

	ck_assert_ptr_nonnull(task->contract);
	taskfile_free(task);
	task =
	    make("1", "pending", ",\"metadata\":{\"verification\":\"done\"}");
	ck_assert_ptr_null(task->contract);
	taskfile_free(task);
}

TEST(what_is_wrong_is_named)
{
	expect_refused("", -EINVAL, "");
	expect_refused("{\"id\":\"1\",\"subj", -EINVAL, "");
	expect_refused("[]", -EINVAL, "an object");
	expect_refused("{}", -EINVAL, "id");
	expect_refused("{\"id\":1}", -EINVAL, "id");
	expect_refused("{\"id\":\"\"}", -EINVAL, "id");
	expect_refused(WITH("\"description\":\"d\""), -EINVAL, "subject");
	expect_refused(WITH("\"subject\":\"s\""), -EINVAL, "description");
	expect_refused(WITH(REST "\"x\":1"), -EINVAL, "status: is missing");
	expect_refused(WITH(REST "\"status\":\"deleted\""), -EINVAL,
	    "status: \"deleted\"");
	expect_refused(
	    WITH(REST "\"status\":\"pending\",\"owner\":7"), -EINVAL, "owner");
	expect_refused(WITH(REST "\"status\":\"pending\",\"blocks\":\"2\""),
	    -EINVAL, "blocks");
	expect_refused(
	    WITH(REST "\"status\":\"pending\",\"blockedBy\":[\"2\",3]"),
	    -EINVAL, "blockedBy[1]");
	expect_refused(
	    WITH(REST "\"status\":\"pending\",\"metadata\":{\"verification\":"
		      "{\"command\":\"x\"}}"),
	    -EINVAL, "metadata.verification.command");
}

TEST(too_large_a_file_is_refused)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct taskfile *task = NULL;

	buf_adds(&text, WITH(REST "\"status\":\"pending\"")); /* valid */
	while (text.len < TASKFILE_SIZE_MAX)
		buf_addc(&text, ' ');
	ck_assert_int_eq(taskfile_parse(text.data, text.len, &task, NULL), 0);
	taskfile_free(task);
	buf_addc(&text, ' ');
	ck_assert_int_eq(
	    taskfile_parse(text.data, text.len, &task, NULL), -E2BIG);
}

TEST(only_a_free_pending_task_is_eligible)
{
	struct taskfile *all[] = { make("1", "pending", ""),
		make("2", "pending", ",\"owner\":\"other\""),
		make("3", "in_progress", ""), make("4", "completed", ""),
		make("5", "pending", ",\"owner\":\"\""),
		make("6", "pending", ",\"blockedBy\":[\"4\"]"),
		make("7", "pending", ",\"blockedBy\":[\"4\",\"1\"]"),
		make("8", "pending", ",\"blockedBy\":[\"3\"]"),
		make("9", "pending", ",\"blockedBy\":[\"nowhere\"]"),
		make("10", "pending", ",\"metadata\":{\"llmc_failed\":\"no\"}"),
		taskfile_stand_in("11"),
		make("12", "pending", ",\"blockedBy\":[\"11\"]") };
	static const bool wanted[] = { true, false, false, false, true, true,
		false, false, false, false, false, false };

	_Static_assert(nitems(all) == nitems(wanted), "a verdict each");
	for (size_t i = 0; i < nitems(all); i++)
		ck_assert_msg(
		    taskfile_eligible(all[i], all, nitems(all)) == wanted[i],
		    "task %s", all[i]->id);
	free_all(all, nitems(all));
}

static void
expect_broken(const struct taskfile *task, struct taskfile *const *all,
    size_t count, const char *wanted)
{
	cleanup_buf struct buf words = BUF_INIT;

	ck_assert_msg(
	    taskfile_broken(task, all, count, &words) == (*wanted != '\0'),
	    "task %s", task->id);
	ck_assert_str_eq(words.data, wanted);
}

TEST(circles_and_unknown_blockers_are_told)
{
	struct taskfile *all[] = {
		make("1", "pending", ",\"blockedBy\":[\"2\"]"),
		make("2", "pending", ",\"blockedBy\":[\"4\",\"3\"]"),
		make("3", "pending", ",\"blockedBy\":[\"1\"]"),
		make("4", "pending", ""),
		make("5", "pending", ",\"blockedBy\":[\"5\"]"),
		make("6", "pending", ",\"blockedBy\":[\"4\",\"99\"]"),
		make("7", "pending", ",\"blockedBy\":[\"6\",\"1\"]"),
		make("8", "pending", ",\"blockedBy\":[\"9\"]"),
		make("9", "completed", ",\"blockedBy\":[\"8\",\"98\"]"),
		taskfile_stand_in("10"),
		make("11", "pending", ",\"blockedBy\":[\"10\"]"),
	};
	static const char *const wanted[] = {
		"waits for itself: 1 -> 2 -> 3 -> 1",
		"waits for itself: 2 -> 3 -> 1 -> 2",
		"waits for itself: 3 -> 1 -> 2 -> 3", "",
		"waits for itself: 5 -> 5",
		"waits for 99, which does not exist",
		"", /* waits for broken ones, but is not broken */
		"", /* a completed task does not block */
		"", "", "", /* the file exists, but cannot be read */
	};

	_Static_assert(nitems(all) == nitems(wanted), "words each");
	for (size_t i = 0; i < nitems(all); i++)
		expect_broken(all[i], all, nitems(all), wanted[i]);
	free_all(all, nitems(all));
}

TEST(a_long_chain_is_walked_to_its_end)
{
	enum {
		LENGTH = 2000
	};
	struct taskfile *all[LENGTH];
	cleanup_buf struct buf words = BUF_INIT;

	for (int i = 0; i < LENGTH; i++) {
		cleanup_free char *id = xasprintf("%d", i);
		cleanup_free char *more =
		    xasprintf(",\"blockedBy\":[\"%d\"]", (i + 1) % LENGTH);

		all[i] = make(id, "pending", more);
	}
	ck_assert(taskfile_broken(all[7], all, LENGTH, &words));
	all[3]->status = TASKFILE_COMPLETED;
	ck_assert(!taskfile_broken(all[7], all, LENGTH, &words));
	free_all(all, LENGTH);
}

static struct taskfile *
make_choice(const char *id, int priority, const char *label)
{
	cleanup_free char *more = NULL;

	more = label == NULL ?
	    xasprintf(",\"metadata\":{\"priority\":%d}", priority) :
	    xasprintf(",\"metadata\":{\"priority\":%d,\"label\":\"%s\"}",
		priority, label);
	return make(id, "pending", more);
}

/* The selection rules of the earlier llmc. */
TEST(original_choices_hold)
{
	cleanup_json struct json_object *file = NULL;
	cleanup_free char *path = xasprintf("%s/llmc.json", unit_vectors());
	struct json_object *list, *row, *tasks, *task, *labels;

	ck_assert_int_eq(json_load(path, 1 << 20, &file, NULL), 0);
	ck_assert_int_eq(
	    json_get_array(file, "", "task_select", &list, NULL), 0);
	ck_assert_uint_ge(json_object_array_length(list), 6);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct taskfile *all[FILE_MAX];
		const char *active[FILE_MAX] = { NULL };
		const struct taskfile *chosen;
		size_t count;

		row = json_object_array_get_idx(list, i);
		tasks = json_object_object_get(row, "tasks");
		labels = json_object_object_get(row, "active");
		count = json_object_array_length(tasks);
		ck_assert_uint_lt(count, FILE_MAX);
		for (size_t j = 0; j < count; j++) {
			task = json_object_array_get_idx(tasks, j);
			all[j] =
			    make_choice(json_object_get_string(
					    json_object_array_get_idx(task, 0)),
				json_object_get_int(
				    json_object_array_get_idx(task, 1)),
				json_object_get_string(
				    json_object_array_get_idx(task, 2)));
		}
		for (size_t j = 0; j < json_object_array_length(labels); j++)
			active[j] = json_object_get_string(
			    json_object_array_get_idx(labels, j));
		chosen = taskfile_select(all, count, active);
		ck_assert_pstr_eq(chosen == NULL ? NULL : chosen->id,
		    json_string_or(row, "expect", NULL));
		free_all(all, count);
	}
}

TEST(an_ended_task_is_written_to_wait_again)
{
	cleanup_buf struct buf text = BUF_INIT, more = BUF_INIT;
	struct taskfile *task = make("1", "completed",
	    ",\"owner\":\"me\",\"metadata\":{\"llmc_failed\":\"why\","
	    "\"label\":\"db\"}");
	struct taskfile *again;

	ck_assert_ptr_null(task->landed);
	taskfile_write_again(task, "3f2a91c", &text);
	taskfile_free(task);
	again = parse(text.data);
	ck_assert_int_eq(again->status, TASKFILE_PENDING);
	ck_assert_ptr_null(again->owner);
	ck_assert_ptr_null(again->failed);
	ck_assert_str_eq(again->landed, "3f2a91c");
	ck_assert_str_eq(again->label, "db");
	taskfile_write_again(again, NULL, &more);
	taskfile_free(again);
	again = parse(more.data);
	ck_assert_str_eq(again->landed, "3f2a91c");
	taskfile_free(again);
}

TEST(a_priority_is_written_and_the_rest_stays)
{
	static const char *const metadata[] = { "", ",\"metadata\":null",
		",\"metadata\":{\"label\":\"db\",\"priority\":\"x\"}" };

	for (size_t i = 0; i < nitems(metadata) * PRIORITY_COUNT; i++) {
		enum priority priority = i % PRIORITY_COUNT;
		cleanup_buf struct buf text = BUF_INIT;
		struct taskfile *task =
		    make("1", "pending", metadata[i / PRIORITY_COUNT]);
		struct taskfile *again;

		taskfile_write_priority(task, priority, &text);
		again = parse(text.data);
		ck_assert_int_eq(again->priority, priority);
		ck_assert_pstr_eq(again->label, task->label);
		ck_assert_str_eq(again->subject, task->subject);
		ck_assert_int_eq(again->status, TASKFILE_PENDING);
		taskfile_free(task);
		taskfile_free(again);
	}
}

TEST(choice_prefers_free_labels_then_priority_then_id)
{
	struct taskfile *all[] = { make_choice("10", 2, "a"),
		make_choice("9", 2, NULL), make_choice("b", 2, NULL),
		make_choice("1", 1, "b"), make_choice("8", 4, "c"),
		make("20", "in_progress",
		    ",\"owner\":\"x\",\"metadata\":{\"label\":\"c\"}"),
		make("21", "in_progress", ",\"metadata\":{\"label\":\"b\"}"),
		make("0", "completed", "") };
	static const char *const none[] = { NULL };
	static const char *const b[] = { "b", NULL };
	size_t count = nitems(all);

	/* In progress without owner: nobody works on it. */
	ck_assert_str_eq(taskfile_select(all, count, none)->id, "1");
	ck_assert_str_eq(taskfile_select(all, count, NULL)->id, "1");
	ck_assert_str_eq(taskfile_select(all, count, b)->id, "9");
	all[1]->status = TASKFILE_COMPLETED;
	ck_assert_str_eq(taskfile_select(all, count, b)->id, "10");
	all[0]->status = TASKFILE_COMPLETED;
	ck_assert_str_eq(taskfile_select(all, count, b)->id, "b");
	all[2]->status = TASKFILE_COMPLETED;
	ck_assert_str_eq(taskfile_select(all, count, b)->id, "1");
	all[3]->status = TASKFILE_COMPLETED;
	ck_assert_str_eq(taskfile_select(all, count, b)->id, "8");
	all[4]->status = TASKFILE_COMPLETED;
	ck_assert_ptr_null(taskfile_select(all, count, b));
	free_all(all, count);
}

TEST(writing_keeps_what_is_not_known)
{
	struct taskfile *task = make("1", "pending",
	    ",\"blocks\":[\"2\"],\"zebra\":{\"deep\":[1,2.50,null]},"
	    "\"big\":18446744073709551615,"
	    "\"metadata\":{\"label\":\"l\",\"note\":\"n\"}");
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json_object *after = NULL;
	struct taskfile *again;

	taskfile_write(task, TASKFILE_IN_PROGRESS, "me \"x\"", NULL, &text);
	ck_assert_int_eq(task->status, TASKFILE_PENDING);
	again = parse(text.data);
	ck_assert_int_eq(again->status, TASKFILE_IN_PROGRESS);
	ck_assert_str_eq(again->owner, "me \"x\"");
	ck_assert_ptr_nonnull(strstr(text.data, "2.50"));
	ck_assert_ptr_nonnull(strstr(text.data, "18446744073709551615"));
	buf_clear(&text);
	taskfile_write(again, TASKFILE_PENDING, NULL, NULL, &text);
	taskfile_free(again);
	ck_assert_int_eq(
	    json_parse(text.data, text.len, 65536, &after, NULL), 0);
	ck_assert(json_object_equal(after, task->json));
	taskfile_free(task);
}

TEST(the_mark_of_failure_comes_and_goes)
{
	static const char *const metadata[] = { "",
		",\"metadata\":{\"label\":\"l\"}", ",\"metadata\":null" };

	for (size_t i = 0; i < nitems(metadata); i++) {
		struct taskfile *task = make("1", "in_progress", metadata[i]);
		cleanup_buf struct buf text = BUF_INIT;
		struct taskfile *failed, *again;

		taskfile_write(task, TASKFILE_PENDING, NULL, "gave up", &text);
		failed = parse(text.data);
		ck_assert_str_eq(failed->failed, "gave up");
		ck_assert_pstr_eq(failed->label, task->label);
		buf_clear(&text);
		taskfile_write(failed, TASKFILE_PENDING, NULL, NULL, &text);
		again = parse(text.data);
		ck_assert_ptr_null(again->failed);
		ck_assert_pstr_eq(again->label, task->label);
		buf_clear(&text);
		taskfile_write(again, TASKFILE_PENDING, NULL, "", &text);
		taskfile_free(again);
		again = parse(text.data);
		ck_assert_str_eq(again->failed, "failed");
		taskfile_free(again);
		taskfile_free(failed);
		taskfile_free(task);
	}
}

TEST(text_is_subject_and_description)
{
	static const struct {
		const char *subject, *description, *wanted;
	} rows[] = { { "Do", "it all", "Do\n\nit all" }, { "Do", "", "Do" },
		{ "", "it all", "it all" }, { "", "", "" } };

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_free char *json = xasprintf(
		    "{\"id\":\"1\",\"status\":\"pending\",\"subject\":\"%s\","
		    "\"description\":\"%s\"}",
		    rows[i].subject, rows[i].description);
		cleanup_buf struct buf text = BUF_INIT;
		struct taskfile *task = parse(json);

		taskfile_text(task, &text);
		ck_assert_str_eq(text.data, rows[i].wanted);
		taskfile_free(task);
	}
}
