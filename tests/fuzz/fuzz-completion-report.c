/* SPDX-License-Identifier: ISC */

/* Any last message, and any arguments of the tool: a bounded report, or
 * none. */

#include "fuzz.h"
#include "agent-report.h"

#define REPORT_MAX (512 * 1024) /* as JSON, with every byte escaped */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Exactly this long, so that reading past the end is detected. */
	cleanup_free char *bytes = xmalloc(size > 0 ? size : 1);
	cleanup_json struct json_object *args = NULL, *report = NULL,
					*said = NULL, *again = NULL;
	struct err err = { 0 };

	if (size > 0)
		memcpy(bytes, data, size);
	report = completion_report_from_text(bytes, size);
	if (report != NULL) {
		check(strlen(json_object_to_json_string(report)) < REPORT_MAX);
		if (json_object_object_get_ex(report, "summary", NULL)) {
			check(completion_report_from_args(
				  report, &again, NULL) == 0);
			check(json_object_equal(report, again));
		}
	}
	if (json_parse(bytes, size, size, &args, NULL) < 0)
		return 0;
	if (completion_report_from_args(args, &said, &err) < 0)
		check(said == NULL && err.msg[0] != '\0');
	else
		check(strlen(json_object_to_json_string(said)) < REPORT_MAX);
	return 0;
}
