/* SPDX-License-Identifier: ISC */

/* Each file that llmc init reads, with these bytes; what comes out can be
 * written to a config file. */
#include "fuzz.h"

#include "proposals.h"
#include "settings.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[4096];
	size_t len = size < sizeof text ? size : sizeof text;

	memcpy(text, data, len);
	for (size_t i = 0; proposals_read[i] != NULL; i++) {
		struct project_file file = {
			.path = proposals_read[i], .text = text, .len = len
		};
		struct project_facts facts = {
			.files = &file, .count = 1, .ignored = proposals_made
		};
		struct proposals made;

		proposals_make(&facts, &made);
		for (size_t j = 0; j < made.count; j++) {
			const struct proposal *p = &made.list[j];
			cleanup_buf struct buf out = BUF_INIT;

			if (settings_value_text(settings_find(p->path, NULL),
				p->value, &out, NULL) < 0)
				check(false);
		}
		proposals_release(&made);
	}
	return 0;
}
