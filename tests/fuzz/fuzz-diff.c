/* SPDX-License-Identifier: ISC */

/* Any diff is read to its end, into what its schema says, and within the
 * limits; also as one that a person has commented. */

#include "fuzz.h"
#include "comment-file.h"
#include "diff.h"
#include "schema.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct schema_field whole = { .type = SCHEMA_ROWS,
		.of = &diff_file_schema };
	struct diff_limits limits = {
		.file_lines = 50, .lines = 100, .bytes = 20000, .files = 5
	};
	cleanup_json struct json_object *files = NULL, *list = NULL;
	cleanup_buf struct buf out = BUF_INIT, text = BUF_INIT;
	struct err err = { 0 };
	int64_t more;

	files = diff_read((const char *)data, size, &limits, &more);
	json_print(files, false, &out);
	if (schema_check(&whole, files, "", &err) < 0 ||
	    out.len > 20000 + 5 * (4096 * 12 + 4000) + 16 * 12 * 400 ||
	    more < 0)
		abort();
	if (comment_file_read((const char *)data, size, &text, &list, &err) ==
		0 &&
	    list == NULL)
		abort();
	return 0;
}
