/* SPDX-License-Identifier: ISC */

/* How soon a task is wanted. Inside one priority, the older one is first. */
#ifndef PRIORITY_H
#define PRIORITY_H

enum priority {
	PRIORITY_URGENT, /* before everything, even what is being checked */
	PRIORITY_HIGH,
	PRIORITY_NORMAL, /* the default */
	PRIORITY_LOW,
	PRIORITY_COUNT
};

const char *priority_name(enum priority priority); /* "urgent" */
bool priority_parse(const char *name, enum priority *ret_priority);

/* For reading records (word.h), NULL terminated. */
extern const char *const priority_words[PRIORITY_COUNT + 1];

/* The priority that a number of Claude Code's task files means: 0 is urgent, 1
 * and 2 are high, 3 is normal (their default), 4 is low. Numbers outside of
 * that count as the nearest one. Back, high is 1. */
enum priority priority_from_number(int64_t number);
int priority_to_number(enum priority priority);

/* For sorting: negative if the first comes first. */
int priority_compare(enum priority a, enum priority b);

#endif
