/* SPDX-License-Identifier: ISC */

/* The methods that look into the book: a part of the table in api.c,
 * and for it only. */
#ifndef API_STORE_ROWS_H
#define API_STORE_ROWS_H

#define STORE_ERRORS          \
	ERRORS                \
	{                     \
		API_FAILED, 0 \
	}

#define API_STORE_ROWS                                                         \
	{ "overseer.store.check", "look for damage in the book", API_ONESHOT,  \
		API_PERSON, &no_params, &api_store_result, STORE_ERRORS },     \
	    { "overseer.store.export",                                         \
		    "write all goals, and what happened, to a file",           \
		    API_ONESHOT, API_PERSON, &api_store_file_params,           \
		    &api_store_result, STORE_ERRORS },                         \
	    { "overseer.store.import",                                         \
		    "read the goals of an export into the book", API_ONESHOT,  \
		    API_PERSON, &api_store_file_params, &api_store_result,     \
		    STORE_ERRORS },                                            \
	    { "overseer.store.sql", "answer a query in SQL", API_ONESHOT,      \
		    API_PERSON | API_REPAIR, &api_store_sql_params,            \
		    &api_store_result, STORE_ERRORS },                         \
	    { "overseer.events", "report what happened, from the book",        \
		    API_ONESHOT, API_PERSON, &api_events_params,               \
		    &api_events_result,                                        \
		    ERRORS{ API_E_UNKNOWN, API_FAILED, 0 } },                  \
	    { "overseer.why", "tell why something of a plan is where it is",   \
		    API_ONESHOT, API_PERSON, &api_why_params, &api_why_result, \
		    ERRORS{ API_E_UNKNOWN, API_FAILED, 0 } },

#endif
