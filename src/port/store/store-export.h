/* SPDX-License-Identifier: ISC */

/*
 * The whole store as one JSON document, in the shape {version, goals,
 * assignments, crystallizations, dispatchIndex, mail, requests, reservations,
 * events}: objects by id, a goal
 * with its nodes under "nodes", the events in their order with seq and key.
 * One record a line. Blocks; for child processes.
 */
#ifndef STORE_EXPORT_H
#define STORE_EXPORT_H

struct err;

#define STORE_EXPORT_VERSION 1

/* One snapshot, written piece by piece to the descriptor. */
int store_export(const char *path, int fd, struct err *err);

#endif
