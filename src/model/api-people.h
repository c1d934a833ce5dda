/* SPDX-License-Identifier: ISC */

/* What programs see of the messages to people: a record of the outbox. */
#ifndef API_PEOPLE_H
#define API_PEOPLE_H

struct schema;
struct schema_field;

extern const struct schema api_people_ack_params;
extern const struct schema_field api_people_ack_result;
extern const struct schema_field api_people_list_result;

#endif
