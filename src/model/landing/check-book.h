/* SPDX-License-Identifier: ISC */

/*
 * What the check commands said, by tree and command. The content of a tree
 * never changes, so a result stays true: it survives restarts, and a commit
 * that is built again with the same tree needs no second check.
 *
 * The book also knows of each command how long it takes and how often it
 * contradicts itself. A command is named by a hash of its text (id_hash()).
 * Times are wall clock milliseconds, 0 = never.
 */
#ifndef CHECK_BOOK_H
#define CHECK_BOOK_H

struct schema;

#define CHECK_BOOK_MAX      200 /* results kept */
#define CHECK_BOOK_COMMANDS 8 /* commands kept */

/* A tree at the point of blame has failed after this many failures in a row:
 * the first one may be a flake. */
#define CHECK_BOOK_BLAME 2

#define CHECK_BOOK_ALARM_PERCENT                     \
	20 /* flaky trees; above this, tell a person \
	    */
#define CHECK_BOOK_ALARM_TREES 20 /* judged before there is an alarm */

/* The name of a command here, from its text: "" for none. */
#define CHECK_KEY_SIZE 17
void check_book_key(const char *text, char ret_key[CHECK_KEY_SIZE]);

/* The name of what was checked: the id of its tree. If files in it were
 * replaced by those of the branch (protected paths), "_" and a key of these
 * follow, so that the result counts for nothing else. Everything called `tree`
 * here is such a name. */
#define CHECK_TREE_SIZE (64 + 1 + CHECK_KEY_SIZE)
/* The caller frees; "" = nothing was replaced. */
char *check_book_tree(const char *tree, const char *overlay_key);

/* The exit status of check_command that means: neither passed nor failed. */
#define CHECK_EXIT_UNJUDGED 75

enum check_verdict {
	CHECK_PASSED,
	CHECK_FAILED,
	CHECK_UNJUDGED, /* exit status 75, or it could not be started */
	CHECK_VERDICT_COUNT
};

/* Strings are owned. */
struct check_result {
	char *tree, *command;
	int passes, fails;
	int fails_row; /* failures since the last pass */
	int unjudged; /* since the last verdict */
	int64_t last_ms; /* when it was last checked */
	int64_t passed_ms; /* when it last passed */
	int64_t retry_ms; /* if not judged: do not check again before this */
	int64_t took_ms; /* the last time */
};

struct check_command {
	char *command;
	int trees; /* judged; halved with `flaky` when it grows large */
	int flaky; /* of them, both failed and passed */
	int64_t took_ms; /* expected duration, 0 = unknown */
	int64_t last_ms;
	int64_t tests; /* that ran with what landed last, 0 = unknown */
};

/* All zero is an empty book. */
struct check_book {
	struct check_result *results; /* sorted by tree and command */
	size_t count;
	struct check_command *commands;
	size_t command_count;
};

/* NULL if it was never checked; valid until the book changes. */
const struct check_result *check_book_find(
    const struct check_book *book, const char *tree, const char *command);
const struct check_command *
check_book_command(const struct check_book *book, const char *command);

/* Have all these trees passed the command? False if there are none. */
bool check_book_all_passed(const struct check_book *book,
    const char *const *trees, size_t count, const char *command);

/* Has the command ever passed, or blamed a tree for its failures? Until then
 * nobody knows whether it works here at all. */
bool check_book_judged(const struct check_book *book, const char *command);

/* Write down how a check ended. If it was not judged, it is not checked again
 * before retry_ms. A tree that passes after CHECK_BOOK_BLAME failures in a row
 * says that something outside of the tree was broken: then failures of other
 * trees no longer count, and they are checked again. Returns true if this tree
 * became flaky: it has both passed and failed now. */
bool check_book_note(struct check_book *book, const char *tree,
    const char *command, enum check_verdict verdict, int64_t now_ms,
    int64_t took_ms, int64_t retry_ms);

/* Forget a result, so that the tree is checked again. */
void check_book_forget(
    struct check_book *book, const char *tree, const char *command);

/* Drop the oldest results beyond CHECK_BOOK_MAX, but none whose tree id is
 * listed in keep (NULL terminated): those are in the present chain. */
void check_book_trim(struct check_book *book, const char *const *keep);

/* Must this result, not judged, wait before the next check? A time more than a
 * day ahead means that the clock was turned back: it does not wait. result may
 * be NULL. */
bool check_book_waits(const struct check_result *result, int64_t now_ms);

/* Flaky trees of this command in percent of those judged, -1 if none was. */
int
check_book_flake_percent(const struct check_book *book, const char *command);
bool check_book_alarm(const struct check_book *book, const char *command);

/* How long a check is expected to take, 0 = unknown. */
int64_t
check_book_expected_ms(const struct check_book *book, const char *command);

/* So many tests ran with what has landed now; 0 = not known. */
void
check_book_landed(struct check_book *book, const char *command, int64_t tests);

/* What cannot be true (a result twice, more than the limits) is left out when
 * it is read. */
extern const struct schema check_book_schema;

#endif
