/* SPDX-License-Identifier: ISC */

/* Exponential backoff: how long to wait, and when to give up. */
#ifndef BACKOFF_H
#define BACKOFF_H

struct backoff {
	int64_t first_ms;
	int64_t max_ms;
	int tries_max; /* 0 = no end */
};

extern const struct backoff backoff_dirty; /* 60 s doubling to 1 h, 10 tries */
extern const struct backoff backoff_git; /* git lock: 1 s to 30 s, 6 tries */
extern const struct backoff backoff_crash; /* 1 s doubling to 5 min; worker.h
					    * decides when to give up */

extern const struct backoff backoff_outage; /* 30 s doubling to 15 min */
extern const struct backoff backoff_usage; /* usage limit: 5 min to 1 h */

/* The wait before try number `tries` + 1, tries counted from 0; false if there
 * are no tries left. */
bool
backoff_next(const struct backoff *backoff, int tries, int64_t *ret_wait_ms);

#endif
