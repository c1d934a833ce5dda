/* SPDX-License-Identifier: ISC */

/* What the files of the landing queue's world share. */
#ifndef LANDING_WORLD_INSIDE_H
#define LANDING_WORLD_INSIDE_H

#include "landing-world.h"

#define WORDS     4
#define USERS     (WORLD_ENTRIES_MAX + 1) /* bits of a person's commits */
#define BROKEN    WORLD_ENTRIES_MAX /* the bit that makes a base red */
#define RUNS_MAX  LANDING_SLOTS_MAX
#define STEPS_MAX 200000 /* more than any history needs */
#define MOVE_MS   20
#define RETRY_MS  5000
#define COMMAND   "c"

struct set {
	uint64_t words[WORDS];
};

struct name {
	char text[17];
};

enum fate {
	AWAY, /* not arrived */
	QUEUED,
	LANDED,
	DONE,
	EJECTED,
};

struct member {
	enum fate fate;
	int64_t arrives_ms, covered_ms, passed_ms; /* the first time */
	int64_t free_ms; /* end of being held */
	bool excused; /* was held, deferred or set aside: others may pass it */
	bool bad;
	int twin; /* contains it, or -1 */
	struct set conflicts, breaks;
	struct landing_entry entry;
	struct name task, parent, commit, tree;
	struct set content;
};

struct run {
	struct set content;
	struct name tree;
	const char *tasks[WORLD_ENTRIES_MAX + 1];
	int64_t started_ms, ends_ms;
	bool cancelled;
};

struct world {
	const struct world_options *options;
	struct world_result *result;
	struct dice dice;
	struct member members[WORLD_ENTRIES_MAX];
	struct run runs[RUNS_MAX];
	size_t run_count;
	struct check_book book;
	struct name base, base_tree, told;
	struct set content; /* of the base */
	struct name old, old_tree; /* of the base before the move */
	struct set old_content;
	int64_t now_ms, moves_ms, held_ms;
	int window, users;
	struct landing_entry entries[WORLD_ENTRIES_MAX];
	int who[WORLD_ENTRIES_MAX]; /* the member behind an entry */
	struct landing_run facts_runs[RUNS_MAX];
};

bool world_has(const struct set *set, int bit);
void world_put(struct set *set, int bit);
bool world_meets(const struct set *a, const struct set *b);
void world_name_hash(struct name *name, const uint64_t *words, size_t count);

/* True this many times of a thousand. */
bool world_chance(struct world *w, int permille);

/* Note the first rule that does not hold. */
void world_broken(struct world *w, const char *rule);
void world_must(struct world *w, bool holds, const char *rule);

/* Would an honest check of this content pass? */
bool world_is_good(const struct world *w, const struct set *content);

void world_make(struct world *w, const struct world_options *options,
    struct world_result *result);

/* Build the entry on top of a commit, as git would. */
void world_build(struct world *w, struct member *member,
    const struct set *content, const char *parent);

#endif
