/* SPDX-License-Identifier: ISC */

/* The parameters and results of the methods that look into the store of goals:
 * overseer.store.*, overseer.events and overseer.why. */
#ifndef API_STORE_H
#define API_STORE_H

struct shape;
struct shape_field;

extern const struct shape api_store_file_params; /* of export and import */
extern const struct shape api_store_compact_params;
extern const struct shape_field api_store_result; /* of every job */

extern const struct shape api_events_params;
extern const struct shape_field api_events_result;

extern const struct shape api_why_params;
extern const struct shape_field api_why_result;

#define API_EVENTS_MAX    1000 /* in one answer */
#define API_COMPACT_AFTER (30 * 24 * 3600) /* seconds */

#endif
