/* SPDX-License-Identifier: ISC */

/*
 * A repository without files for the landing queue: a tree is the set of
 * changes in it, a check takes a second, and what a check says is known
 * beforehand. It does what landing_plan_make() asks for and watches that the
 * rules of the queue hold. For the simulation and for the benchmark.
 */
#ifndef LANDING_WORLD_H
#define LANDING_WORLD_H

#include "check-book.h"
#include "dice.h"
#include "landing-plan.h"

#define WORLD_ENTRIES_MAX 200
#define WORLD_CHECK_MS    1000

/* Rates are per thousand: of entries, of pairs, of checks or of steps. */
struct world_options {
	uint64_t seed;
	int entries;
	enum landing_mode mode;
	int slots;
	int bad; /* entries that fail */
	int pairs; /* pairs that fail together */
	int conflicts; /* pairs that cannot be merged */
	int same; /* entries that are contained in another one */
	int flakes; /* checks that fail without a reason */
	int unjudged; /* checks that say nothing */
	bool red; /* the base fails without the last entry */
	bool late; /* not from the beginning: a person breaks it */
	bool arrivals; /* they come one after the other */
	bool priorities;
	bool accidents; /* restarts, holds, commits by a person */
	bool no_command;
};

struct world_result {
	int landed, ejected, done, queued;
	int false_ejections; /* good entries that failed */
	int checks, moves, flaky, reds;
	int64_t took_ms;
	char landed_names[WORLD_ENTRIES_MAX]; /* which ones landed: 1 */
	const char *broken; /* the rule that did not hold, or NULL */
};

void
world_run(const struct world_options *options, struct world_result *ret_result);

/* The same entries landed one by one, with checks that never err. */
void world_serial(
    const struct world_options *options, char ret_landed[WORLD_ENTRIES_MAX]);

#endif
