/* SPDX-License-Identifier: ISC */

/* Lines of a transcript, as the tests write them. */
#ifndef TRANSCRIPT_LINES_H
#define TRANSCRIPT_LINES_H

#include "unit.h"

#define PROMPT "{\"type\":\"user\",\"message\":{\"content\":\"do it\"}}"
#define REPLY(id, out)                                                 \
	"{\"type\":\"assistant\",\"message\":{\"id\":\"" id            \
	"\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":" \
	"\"text of " id "\"}],\"usage\":{\"input_tokens\":10,"         \
	"\"output_tokens\":" out ",\"cache_read_input_tokens\":100,"   \
	"\"cache_creation_input_tokens\":7}}}"

#endif
