/* SPDX-License-Identifier: ISC */

/*
 * Checks that are overtaken: others move the branch while check_command runs,
 * so what it judged is not what would land any more. Whether its result stands
 * all the same (auto.overtaken), and when a person hears that nothing lands.
 * Pure: the time is an argument.
 */
#ifndef OVERTAKEN_H
#define OVERTAKEN_H

struct check_book;
struct settings;

#define OVERTAKEN_ASKS 3 /* checks in a row */

enum overtaken_mode {
	OVERTAKEN_WAIT, /* what lands was checked as it lands */
	OVERTAKEN_LAND, /* a result may stand for the merge with what came */
};

enum overtaken_mode overtaken_mode_of(const struct settings *settings);

/* What came onto the branch between the commit that checked work was built on
 * and the one that it is built on now. */
struct overtaken_facts {
	enum overtaken_mode mode;
	bool merges; /* the work does, without a conflict */
	bool forward; /* the branch has what it had, and more */
	size_t shared; /* files that the work and what came both change */
	/* The trees of the commits that came and that a task has made; those of
	 * people are not listed. */
	const char *const *trees;
	size_t tree_count;
	const struct check_book *book;
	const char *command; /* hash of the check command */
};

enum overtaken_verdict {
	OVERTAKEN_STANDS,
	OVERTAKEN_WAITS, /* as auto.overtaken says */
	OVERTAKEN_CONFLICTS,
	OVERTAKEN_LOST, /* the branch has lost commits */
	OVERTAKEN_SHARES, /* both change a file */
	OVERTAKEN_UNCHECKED, /* a task's commit that no check has passed */
	OVERTAKEN_VERDICT_COUNT
};

enum overtaken_verdict overtaken_judge(const struct overtaken_facts *facts);

/* All zero: nothing was overtaken since the last landing. Times are wall clock
 * milliseconds. */
struct overtaken_record {
	int checks; /* that were in vain, or could not land in time, in a row */
	int moves; /* of the branch, by others, while checks ran */
	int64_t since_ms; /* when the first of these checks began */
	int64_t moved_ms; /* the last of these moves */
	/* What has landed last on a result that was overtaken, and has not been
	 * checked as it is; NULL = nothing. */
	char *commit, *tree;
};

/* Others have moved the branch while a check ran that began then; a check was
 * in vain; work has landed, or none waits. */
void overtaken_moved(
    struct overtaken_record *record, int64_t began_ms, int64_t now_ms);
void overtaken_in_vain(struct overtaken_record *record, int checks);
void overtaken_over(struct overtaken_record *record);

/* What a person is told, and what to set; NULL = nothing. took_ms: how long a
 * check takes, 0 = not known. The caller frees it. */
char *overtaken_asks(const struct overtaken_record *record,
    enum overtaken_mode mode, const char *branch, int64_t took_ms);

#endif
