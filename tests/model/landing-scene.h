/* SPDX-License-Identifier: ISC */

/*
 * A landing queue for tests, small enough to be written down. A task is a
 * letter; a tree is the base "0" and the letters merged into it, as "0ab"; its
 * commit has a "c" in front. Builds are done at once, and what is to be done
 * next is one string.
 */
#ifndef LANDING_SCENE_H
#define LANDING_SCENE_H

#include "unit.h"
#include "check-book.h"
#include "landing-list.h"
#include "landing-plan.h"

#define SCENE_NOW     INT64_C(1766502000000)
#define SCENE_COMMAND "c"
#define SCENE_MAX     40

struct scene {
	struct landing_facts facts;
	int64_t now_ms;
	struct landing_entry entries[SCENE_MAX];
	struct landing_run runs[SCENE_MAX];
	struct check_book book;
	const char *conflicts; /* pairs of letters: "ab cd" */
	const char *same; /* pairs: the second is contained in the first */
	bool manual; /* builds are listed and not done */
	int builds; /* done */
};

extern struct scene scene;

/* For a fixture. */
void scene_setup(void);
void scene_teardown(void);

void scene_add(const char *letters); /* of normal priority */
void scene_add_as(char letter, enum priority priority);
struct landing_entry *scene_entry(char letter);
void scene_remove(char letter);

void scene_passed(const char *tree);
void scene_failed(const char *tree);
void scene_unjudged(const char *tree, int64_t retry_ms);

/* A check began, or ended in any way. */
void scene_run(const char *tree, const char *letters);
void scene_run_ended(const char *tree);

/* The branch is there now. */
void scene_base(const char *tree);

/* The next actions must be these: "cancel 0ab, check 0a". */
void scene_expect(const char *actions);
#define expect(actions) scene_expect(actions)

/* The views of all entries in the order of the queue: "a covered 0ab, b
 * queued". */
void scene_expect_views(const char *views);

#endif
