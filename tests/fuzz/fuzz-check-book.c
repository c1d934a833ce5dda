/* SPDX-License-Identifier: ISC */

/* Any JSON as a book of checks: an accepted one is within its limits, is
 * written and read back unchanged, and answers every question. */

#include "fuzz.h"
#include "check-book.h"
#include "schema.h"

#define NOW INT64_C(1766502000000)

static void
check_again(const struct check_book *book)
{
	cleanup_json struct json_object *json =
	    schema_json(&check_book_schema, book);
	cleanup_json struct json_object *second = NULL;
	struct check_book again = { 0 };

	check(schema_read(&check_book_schema, json, "", &again, NULL) == 0);
	second = schema_json(&check_book_schema, &again);
	check(json_object_equal(json, second));
	schema_release(&check_book_schema, &again);
}

static void
check_results(struct check_book *book)
{
	check(book->count <= CHECK_BOOK_MAX);
	for (size_t i = 0; i < book->count; i++) {
		const struct check_result *result = &book->results[i];

		check(check_book_find(book, result->tree, result->command) ==
		    result);
		check(result->fails_row <= result->fails);
		check_book_waits(result, NOW);
	}
}

static void
check_commands(struct check_book *book)
{
	check(book->command_count <= CHECK_BOOK_COMMANDS);
	for (size_t i = 0; i < book->command_count; i++) {
		const char *command = book->commands[i].command;
		int percent = check_book_flake_percent(book, command);

		check(percent >= -1 && percent <= 100);
		check(check_book_expected_ms(book, command) >= 0);
		check_book_alarm(book, command);
	}
}

/* One more verdict on every tree. */
static void
check_notes(struct check_book *book, unsigned verdict)
{
	for (size_t i = 0; i < book->count; i++) {
		cleanup_free char *tree = xstrdup(book->results[i].tree);
		cleanup_free char *command = xstrdup(book->results[i].command);

		check_book_note(book, tree, command,
		    (enum check_verdict)((verdict + i) % CHECK_VERDICT_COUNT),
		    NOW, 5, NOW + 5);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_json struct json_object *json = NULL;
	struct check_book book = { 0 };

	if (json_parse((const char *)data, size, 65536, &json, NULL) < 0)
		return 0;
	if (schema_read(&check_book_schema, json, "", &book, NULL) < 0) {
		schema_release(&check_book_schema, &book);
		return 0;
	}
	check_again(&book);
	check_results(&book);
	check_commands(&book);
	check_notes(&book, (unsigned)size);
	check_results(&book);
	check_commands(&book);
	check_again(&book);
	schema_release(&check_book_schema, &book);
	return 0;
}
