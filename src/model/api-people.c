/* SPDX-License-Identifier: ISC */

#include "api-people.h"
#include "api-shape.h"
#include "escalation.h"
#include "outbox-record.h"

#define UNSURE(member, kind, words)                                        \
	{                                                                  \
		.name = (member), .type = (kind), .flags = SHAPE_NULLABLE, \
		.help = (words)                                            \
	}
#define LIST(member, words)                              \
	{                                                \
		.name = (member), .type = SCHEMA_LIST,   \
		.flags = SHAPE_NULLABLE, .help = (words) \
	}

static const struct schema delivery = {
	.fields =
	    FIELDS{
		FIELD("channel", SHAPE_STRING, NULL),
		{ .name = "state",
		    .type = SHAPE_STRING,
		    .choices = outbox_state_words },
		FIELD("attempts", SHAPE_INT, NULL),
		FIELD("next_ms", SHAPE_INT,
		    "when it is tried again, in ms since 1970"),
		UNSURE("reason", SHAPE_STRING, "why the last try failed"),
		UNSURE("ref", SHAPE_STRING, "the issue"),
		END,
	    },
};

const struct schema api_people_record = {
	.fields =
	    FIELDS{
		FIELD("id", SHAPE_STRING, NULL),
		FIELD("timestamp", SHAPE_STRING, "when it happened, in UTC"),
		UNSURE("event", SHAPE_STRING, "that is told once"),
		UNSURE("program", SHAPE_STRING, "that tells it"),
		UNSURE("root", SHAPE_STRING, "the repository"),
		{ .name = "level",
		    .type = SHAPE_STRING,
		    .choices = escalation_level_words },
		UNSURE("class", SHAPE_STRING, "of people.notify_on"),
		FIELD("title", SHAPE_STRING, "what happened"),
		UNSURE("text", SHAPE_STRING, "why, and what to type"),
		FIELD("signature", SHAPE_STRING,
		    "equal for events of the same failure"),
		UNSURE("worker", SHAPE_STRING, NULL),
		UNSURE("task", SHAPE_STRING, NULL),
		UNSURE("task_title", SHAPE_STRING, "what it is about"),
		UNSURE("goal", SHAPE_STRING, NULL),
		UNSURE("node", SHAPE_STRING, NULL),
		UNSURE("iteration", SHAPE_INT, NULL),
		UNSURE("intervention", SHAPE_STRING, "that was made"),
		LIST("options", "that the answer can be chosen from"),
		UNSURE("detection", SHAPE_OBJECT, "what was found"),
		FIELD("count", SHAPE_INT, "of events in it"),
		LIST("earlier", "the first lines of those before"),
		UNSURE("acked_ms", SHAPE_INT, "when a person has seen it"),
		UNSURE("answer", SHAPE_STRING, "that a person gave"),
		{ .name = "question",
		    .type = SHAPE_STRING,
		    .flags = SHAPE_NULLABLE | SHAPE_OPTIONAL,
		    .help = "what the agent asks, until it is answered" },
		{ .name = "channels", .type = SCHEMA_ROWS, .of = &delivery },
		END,
	    },
};

const struct schema api_people_ack_params = {
	.fields = FIELDS{ FIELD("id", SHAPE_STRING, "of a message"), END },
};

const struct schema_field api_people_ack_result = RESULT(api_people_record);

const struct schema_field api_people_list_result = {
	.type = SCHEMA_ROWS,
	.of = &api_people_record,
};
