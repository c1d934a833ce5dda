/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "check-book.h"
#include "id.h"
#include "schema.h"

#define DAY_MS    ((int64_t)24 * 60 * 60 * 1000)
#define TREES_MAX 400 /* then the counters of a command are halved */

#define RESULT(key, member, ...) \
	SCHEMA_FIELD(struct check_result, key, member, ##__VA_ARGS__)
#define COMMAND(key, member, ...) \
	SCHEMA_FIELD(struct check_command, key, member, ##__VA_ARGS__)

static const struct schema_field result_fields[] = {
	RESULT("tree", tree, .flags = SCHEMA_REQUIRED),
	RESULT("command", command, .flags = SCHEMA_REQUIRED),
	RESULT("passes", passes, .flags = SCHEMA_CLAMP),
	RESULT("fails", fails, .flags = SCHEMA_CLAMP),
	RESULT("fails_row", fails_row, .flags = SCHEMA_CLAMP),
	RESULT("unjudged", unjudged, .flags = SCHEMA_CLAMP),
	RESULT("last_ms", last_ms, .flags = SCHEMA_CLAMP),
	RESULT("passed_ms", passed_ms, .flags = SCHEMA_CLAMP),
	RESULT("retry_ms", retry_ms, .flags = SCHEMA_CLAMP),
	RESULT("took_ms", took_ms, .flags = SCHEMA_CLAMP),
};
static const struct schema result_schema =
    SCHEMA_OF(struct check_result, result_fields);

static const struct schema_field command_fields[] = {
	COMMAND("command", command, .flags = SCHEMA_REQUIRED),
	COMMAND("trees", trees, .flags = SCHEMA_CLAMP),
	COMMAND("flaky", flaky, .flags = SCHEMA_CLAMP),
	COMMAND("took_ms", took_ms, .flags = SCHEMA_CLAMP),
	COMMAND("tests", tests, .flags = SCHEMA_CLAMP),
	COMMAND("last_ms", last_ms, .flags = SCHEMA_CLAMP),
};
static const struct schema command_schema =
    SCHEMA_OF(struct check_command, command_fields);

static int
compare(
    const struct check_result *result, const char *tree, const char *command)
{
	int order = strcmp(result->tree, tree);

	return order != 0 ? order : strcmp(result->command, command);
}

/* The place of the result, or where it belongs. */
static size_t
place(const struct check_book *book, const char *tree, const char *command)
{
	size_t low = 0, high = book->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&book->results[middle], tree, command) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct check_result *
find(const struct check_book *book, const char *tree, const char *command)
{
	size_t at = place(book, tree, command);

	return at < book->count &&
		compare(&book->results[at], tree, command) == 0 ?
	    &book->results[at] :
	    NULL;
}

const struct check_result *
check_book_find(
    const struct check_book *book, const char *tree, const char *command)
{
	return find(book, tree, command);
}

static struct check_command *
find_command(const struct check_book *book, const char *command)
{
	for (size_t i = 0; i < book->command_count; i++)
		if (strcmp(book->commands[i].command, command) == 0)
			return &book->commands[i];
	return NULL;
}

bool
check_book_all_passed(const struct check_book *book, const char *const *trees,
    size_t count, const char *command)
{
	for (size_t i = 0; i < count; i++) {
		const struct check_result *result =
		    check_book_find(book, trees[i], command);

		if (result == NULL || result->passes == 0)
			return false;
	}
	return count > 0;
}

const struct check_command *
check_book_command(const struct check_book *book, const char *command)
{
	return find_command(book, command);
}

static void
release_result(struct check_result *result)
{
	free(result->tree);
	free(result->command);
}

void
check_book_key(const char *text, char ret_key[CHECK_KEY_SIZE])
{
	ret_key[0] = '\0';
	if (text[0] != '\0')
		id_hash(text, ret_key, CHECK_KEY_SIZE - 1);
}

char *
check_book_tree(const char *tree, const char *overlay_key)
{
	return overlay_key[0] != '\0' ? xasprintf("%s_%s", tree, overlay_key) :
					xstrdup(tree);
}

static struct check_result *
get_result(struct check_book *book, const char *tree, const char *command)
{
	size_t at = place(book, tree, command);

	if (at < book->count && compare(&book->results[at], tree, command) == 0)
		return &book->results[at];
	book->results = xreallocarray(
	    book->results, book->count + 1, sizeof *book->results);
	memmove(&book->results[at + 1], &book->results[at],
	    (book->count - at) * sizeof *book->results);
	book->count++;
	book->results[at] = (struct check_result){
		.tree = xstrdup(tree),
		.command = xstrdup(command),
	};
	return &book->results[at];
}

static void
drop_result(struct check_book *book, size_t at)
{
	release_result(&book->results[at]);
	book->count--;
	memmove(&book->results[at], &book->results[at + 1],
	    (book->count - at) * sizeof *book->results);
}

/* A new one replaces the one that was not used for the longest time. */
static struct check_command *
get_command(struct check_book *book, const char *command)
{
	struct check_command *found = find_command(book, command);

	if (found != NULL)
		return found;
	if (book->command_count < CHECK_BOOK_COMMANDS) {
		book->commands = xreallocarray(book->commands,
		    book->command_count + 1, sizeof *book->commands);
		found = &book->commands[book->command_count++];
	} else {
		found = &book->commands[0];
		for (size_t i = 1; i < book->command_count; i++)
			if (book->commands[i].last_ms < found->last_ms)
				found = &book->commands[i];
		free(found->command);
	}
	*found = (struct check_command){ .command = xstrdup(command) };
	return found;
}

static void
count_up(int *counter)
{
	if (*counter < INT_MAX)
		++*counter;
}

/* Add a judged tree to what is known of the command. */
static void
learn(struct check_command *command, const struct check_result *result,
    bool flaky, int64_t took_ms)
{
	if ((int64_t)result->passes + result->fails == 1)
		command->trees++;
	if (flaky && command->flaky < command->trees)
		command->flaky++;
	if (command->trees >= TREES_MAX) {
		command->trees /= 2;
		command->flaky /= 2;
	}
	if (took_ms <= 0)
		return;
	command->took_ms = command->took_ms == 0 ?
	    took_ms :
	    command->took_ms + (took_ms - command->took_ms) / 4;
}

bool
check_book_judged(const struct check_book *book, const char *command)
{
	for (size_t i = 0; i < book->count; i++)
		if (strcmp(book->results[i].command, command) == 0 &&
		    (book->results[i].passes > 0 ||
			book->results[i].fails_row >= CHECK_BOOK_BLAME))
			return true;
	return false;
}

bool
check_book_note(struct check_book *book, const char *tree, const char *command,
    enum check_verdict verdict, int64_t now_ms, int64_t took_ms,
    int64_t retry_ms)
{
	struct check_result *result = get_result(book, tree, command);
	struct check_command *known = get_command(book, command);
	bool was_flaky = result->passes > 0 && result->fails > 0, flaky;

	result->last_ms = known->last_ms = now_ms;
	result->retry_ms = 0;
	if (verdict == CHECK_UNJUDGED) {
		count_up(&result->unjudged);
		result->retry_ms = retry_ms;
		return false;
	}
	result->unjudged = 0;
	result->took_ms = took_ms;
	if (verdict == CHECK_PASSED) {
		count_up(&result->passes);
		result->passed_ms = now_ms;
		if (result->fails_row >= CHECK_BOOK_BLAME) {
			for (size_t i = 0; i < book->count; i++)
				if (strcmp(book->results[i].command, command) ==
				    0)
					book->results[i].fails_row = 0;
		}
		result->fails_row = 0;
	} else {
		count_up(&result->fails);
		count_up(&result->fails_row);
	}
	flaky = !was_flaky && result->passes > 0 && result->fails > 0;
	learn(known, result, flaky, took_ms);
	return flaky;
}

void
check_book_forget(
    struct check_book *book, const char *tree, const char *command)
{
	size_t at = place(book, tree, command);

	if (at < book->count && compare(&book->results[at], tree, command) == 0)
		drop_result(book, at);
}

static bool
is_kept(const struct check_result *result, const char *const *keep)
{
	size_t len = strcspn(result->tree, "_");

	for (; keep != NULL && *keep != NULL; keep++)
		if (strlen(*keep) == len &&
		    strncmp(result->tree, *keep, len) == 0)
			return true;
	return false;
}

void
check_book_trim(struct check_book *book, const char *const *keep)
{
	while (book->count > CHECK_BOOK_MAX) {
		size_t oldest = book->count;

		for (size_t i = 0; i < book->count; i++)
			if (!is_kept(&book->results[i], keep) &&
			    (oldest == book->count ||
				book->results[i].last_ms <
				    book->results[oldest].last_ms))
				oldest = i;
		if (oldest == book->count)
			return;
		drop_result(book, oldest);
	}
}

void
check_book_landed(struct check_book *book, const char *command, int64_t tests)
{
	struct check_command *known = find_command(book, command);

	if (known != NULL && tests > 0)
		known->tests = tests;
}

bool
check_book_waits(const struct check_result *result, int64_t now_ms)
{
	return result != NULL && result->retry_ms > now_ms &&
	    result->retry_ms - now_ms <= DAY_MS;
}

int
check_book_flake_percent(const struct check_book *book, const char *command)
{
	const struct check_command *known = find_command(book, command);

	if (known == NULL || known->trees == 0)
		return -1;
	return (int)((int64_t)known->flaky * 100 / known->trees);
}

bool
check_book_alarm(const struct check_book *book, const char *command)
{
	const struct check_command *known = find_command(book, command);

	return known != NULL && known->trees >= CHECK_BOOK_ALARM_TREES &&
	    (int64_t)known->flaky * 100 >
	    (int64_t)known->trees * CHECK_BOOK_ALARM_PERCENT;
}

int64_t
check_book_expected_ms(const struct check_book *book, const char *command)
{
	const struct check_command *known = find_command(book, command);

	return known != NULL ? known->took_ms : 0;
}

/* Leave out what cannot be true, and repair numbers that do not fit together,
 * since the file may have been edited by hand. */
static int
check_read(void *record, const char *at, struct err *err)
{
	struct check_book *book = record, given = *book;

	(void)at;
	(void)err;
	*book = (struct check_book){ 0 };
	for (size_t i = 0; i < given.count; i++) {
		struct check_result *read = &given.results[i], *result;

		if (*read->tree == '\0' || *read->command == '\0' ||
		    find(book, read->tree, read->command) != NULL) {
			release_result(read);
			continue;
		}
		if (read->fails_row > read->fails)
			read->fails_row = read->fails;
		if (read->passes == 0)
			read->passed_ms = 0;
		result = get_result(book, read->tree, read->command);
		release_result(result);
		*result = *read;
	}
	for (size_t i = 0; i < given.command_count; i++) {
		struct check_command *read = &given.commands[i], *command;

		if (*read->command == '\0' ||
		    book->command_count == CHECK_BOOK_COMMANDS ||
		    find_command(book, read->command) != NULL) {
			free(read->command);
			continue;
		}
		if (read->trees >= TREES_MAX)
			read->trees = TREES_MAX - 1;
		if (read->flaky > read->trees)
			read->flaky = read->trees;
		command = get_command(book, read->command);
		free(command->command);
		*command = *read;
	}
	free(given.results);
	free(given.commands);
	check_book_trim(book, NULL);
	return 0;
}

static const struct schema_field book_fields[] = {
	SCHEMA_PARTS(
	    struct check_book, "results", ROWS, results, count, result_schema),
	SCHEMA_PARTS(struct check_book, "commands", ROWS, commands,
	    command_count, command_schema),
};

const struct schema check_book_schema =
    SCHEMA_OF(struct check_book, book_fields, .check = check_read);
