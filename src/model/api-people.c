/* SPDX-License-Identifier: ISC */

#include "api-people.h"
#include "api-shape.h"
#include "outbox-record.h"

const struct schema api_people_ack_params = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("id", STRING, "of a message"),
	    SCHEMA_END,
	},
};

const struct schema_field api_people_ack_result = RESULT(outbox_record_schema);

const struct schema_field api_people_list_result = {
	.type = SCHEMA_ROWS,
	.of = &outbox_record_schema,
};
