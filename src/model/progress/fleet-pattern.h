/* SPDX-License-Identifier: ISC */

/*
 * The same error on several workers at about the same time is one event of the
 * whole fleet, not one of each. Signatures are those of error-signature.h.
 * Pure; zeroes are the beginning.
 */
#ifndef FLEET_PATTERN_H
#define FLEET_PATTERN_H

#define FLEET_PATTERN_WORKERS 3
#define FLEET_PATTERN_MS      (INT64_C(15) * 60 * 1000)
#define FLEET_PATTERN_KEPT    256 /* older sightings are forgotten */

struct fleet_sighting {
	uint64_t signature, worker; /* 0 = none */
	int64_t at_ms;
	bool told; /* it was part of an event */
};

struct fleet_pattern {
	struct fleet_sighting seen[FLEET_PATTERN_KEPT];
	size_t next;
};

/* Is it the environment's: the disk, the network, a login, a program that is
 * missing? Errors of other kinds are those of the code that all work on. */
bool fleet_pattern_is_shared(const char *error);

/* A worker has had this error. Returns how many workers it is on if this is a
 * new event, else 0: further sightings belong to the event while none is more
 * than FLEET_PATTERN_MS after the one before. */
size_t fleet_pattern_see(struct fleet_pattern *fleet, uint64_t signature,
    const char *worker, int64_t now_ms);

#endif
