/* SPDX-License-Identifier: ISC */

/* The parameters and results of the methods that look into the book:
 * overseer.store.*, overseer.events and overseer.why. */
#ifndef API_STORE_H
#define API_STORE_H

#include <stdint.h>

struct schema;
struct schema_field;

extern const struct schema api_store_file_params; /* of export and import */
extern const struct schema api_store_sql_params;
extern const struct schema_field api_store_result; /* of every job */

extern const struct schema api_events_params;
extern const struct schema_field api_events_result;

extern const struct schema api_why_params;
extern const struct schema_field api_why_result;

#define API_EVENTS_MAX 1000 /* in one answer */
/* A job is stopped after this time; who waits for its end waits longer. */
#define API_STORE_JOB_MS  (INT64_C(30) * 60 * 1000)
#define API_STORE_WAIT_MS (2 * API_STORE_JOB_MS)
#define API_SQL_MS        (30 * 1000) /* of a query */

#endif
