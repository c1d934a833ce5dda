/* SPDX-License-Identifier: ISC */

#include "unit.h"

#include <json-c/json.h>

#include "landing-record.h"
#include "schema.h"

static struct landing_item *
add(struct landing_record *record, const char *head, const char *worker)
{
	struct landing_item *item = landing_record_new_item(record);

	xstrset(&item->head, head);
	xstrset(&item->worker, worker);
	landing_record_append(record, item);
	return item;
}

/* Written, and read again. */
static void
pass_on(struct landing_record *record, struct landing_record *ret_copy)
{
	cleanup_json struct json_object *json =
	    schema_json(&landing_record_schema, record);
	struct err err = { 0 };

	memset(ret_copy, 0, sizeof *ret_copy);
	ck_assert_msg(schema_read(&landing_record_schema, json, "landings",
			  ret_copy, &err) == 0,
	    "%s", err.msg);
}

static int
read_text(const char *text, struct err *err)
{
	cleanup_json struct json_object *json = json_tokener_parse(text);
	struct landing_record record = { 0 };
	int r =
	    schema_read(&landing_record_schema, json, "landings", &record, err);

	schema_release(&landing_record_schema, &record);
	return r;
}

TEST(items_are_numbered_and_found)
{
	struct landing_record record = { 0 };
	struct landing_item *first = add(&record, "abc", "adam");
	struct landing_item *second = add(&record, "def", "eve");

	ck_assert_str_eq(first->id, "q1");
	ck_assert_str_eq(second->id, "q2");
	ck_assert_uint_lt(first->seq, second->seq);
	ck_assert_int_eq(first->priority, PRIORITY_NORMAL);
	ck_assert_ptr_eq(landing_record_find(&record, "q2"), second);
	ck_assert_ptr_eq(landing_record_of(&record, "eve"), second);
	ck_assert_ptr_null(landing_record_of(&record, "abel"));
	second->kind = ITEM_PICK; /* eve does not have it in her worktree */
	ck_assert_ptr_null(landing_record_of(&record, "eve"));
	landing_record_remove(&record, first);
	ck_assert_ptr_null(landing_record_find(&record, "q1"));
	ck_assert_uint_eq(record.count, 1);
	ck_assert_str_eq(add(&record, "123", NULL)->id, "q3");
	schema_release(&landing_record_schema, &record);
}

TEST(everything_is_written_and_read)
{
	struct landing_record record = { 0 }, copy;
	struct landing_item *item = add(&record, "abc", "adam");
	char word[] = "word";

	item->kind = ITEM_REVERT;
	item->step = ITEM_EJECTED;
	item->priority = PRIORITY_URGENT;
	item->conflict = item->guarded = item->approved = true;
	xstrset(&item->words, "words");
	xstrset(&item->commit, "fed");
	item->uncommitted = 3;
	item->undoes = 2;
	xstrset(&item->why, "it fails");
	record.window = 7;
	xstrset(&record.red_told, "tree");
	push_record_done(&record.push, "abc", "abc");
	xstrset(&record.push.unpushed, "fed");
	push_record_failed(&record.push, "away", 5);
	red_run_add(
	    &record.own, &(struct red_commit){ word, word, word, word, word });
	check_book_note(
	    &record.checks, "tree", "command", CHECK_PASSED, 5, 6, 0);
	pass_on(&record, &copy);
	ck_assert_uint_eq(copy.count, 1);
	ck_assert_int_eq(copy.items[0]->kind, ITEM_REVERT);
	ck_assert_int_eq(copy.items[0]->step, ITEM_EJECTED);
	ck_assert_int_eq(copy.items[0]->priority, PRIORITY_URGENT);
	ck_assert(copy.items[0]->conflict && copy.items[0]->guarded &&
	    copy.items[0]->approved && !copy.items[0]->incorporated);
	ck_assert_str_eq(copy.items[0]->words, "words");
	ck_assert_str_eq(copy.items[0]->commit, "fed");
	ck_assert_int_eq(copy.items[0]->uncommitted, 3);
	ck_assert_uint_eq(copy.ids, 1);
	ck_assert_int_eq(copy.window, 7);
	ck_assert_int_eq(copy.items[0]->undoes, 2);
	ck_assert_str_eq(copy.items[0]->why, "it fails");
	ck_assert_str_eq(copy.red_told, "tree");
	ck_assert_str_eq(copy.push.pushed, "abc");
	ck_assert_str_eq(copy.push.unpushed, "fed");
	ck_assert_str_eq(copy.push.reason, "away");
	ck_assert_int_eq(copy.push.tries, 1);
	ck_assert_int_eq(copy.push.next_ms, record.push.next_ms);
	ck_assert_uint_eq(copy.own.count, 1);
	ck_assert_str_eq(copy.own.list[0].task, "word");
	ck_assert_ptr_nonnull(check_book_find(&copy.checks, "tree", "command"));
	schema_release(&landing_record_schema, &record);
	schema_release(&landing_record_schema, &copy);
}

/* Half a journal is none: what it was about is built again. */
TEST(a_journal_has_two_ends)
{
	struct landing_record record = { 0 }, copy;
	struct landing_item *item = add(&record, "abc", "adam");

	xstrset(&item->commit, "fed");
	xstrset(&record.branch, "main");
	xstrset(&record.from, "a");
	xstrset(&record.to, "b");
	pass_on(&record, &copy);
	ck_assert_str_eq(copy.branch, "main");
	ck_assert_str_eq(copy.to, "b");
	ck_assert_str_eq(copy.items[0]->commit, "fed");
	schema_release(&landing_record_schema, &copy);
	xstrset(&record.from, NULL);
	pass_on(&record, &copy);
	ck_assert_ptr_null(copy.to);
	ck_assert_ptr_null(copy.branch);
	ck_assert_ptr_null(copy.items[0]->commit);
	schema_release(&landing_record_schema, &record);
	schema_release(&landing_record_schema, &copy);
}

TEST(what_is_wrong_is_named)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "{\"items\":3}", "landings.items" },
		{ "{\"items\":[{\"id\":\"q1\"}]}", "landings.items[0].head" },
		{ "{\"items\":[{\"head\":\"a\"}]}", "landings.items[0].id" },
		{ "{\"items\":[{\"id\":\"q1\",\"head\":\"a\",\"step\":\"x\"}]}",
		    "landings.items[0].step" },
		{ "{\"items\":[{\"id\":\"q1\",\"head\":\"a\"},"
		  "{\"id\":\"q1\",\"head\":\"b\"}]}",
		    "another item has this id" },
		{ "{\"checks\":3}", "landings.checks" },
	};
	struct err err;

	for (size_t i = 0; i < nitems(rows); i++) {
		memset(&err, 0, sizeof err);
		ck_assert_int_eq(read_text(rows[i].text, &err), -EINVAL);
		ck_assert_msg(strstr(err.msg, rows[i].words) != NULL, "%s: %s",
		    rows[i].text, err.msg);
	}
	ck_assert_int_eq(read_text("{}", &err), 0);
}
