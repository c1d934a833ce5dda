/* SPDX-License-Identifier: ISC */

/* Whatever a status line is told: windows stay within their bounds, and reading
 * them again changes nothing. */

#include "fuzz.h"
#include "hook-event.h"
#include "quota.h"

#define NOW INT64_C(1766502000000)

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_json struct json_object *json = NULL;
	struct window windows[WINDOW_COUNT] = { 0 };
	struct hook_event event;
	int used;

	if (json_parse((const char *)data, size, 65536, &json, NULL) < 0)
		return 0;
	hook_event_read(json, &event, NULL);
	used = context_read(json);
	check(used >= -1 && used <= 1000);
	windows_read(json, NOW, windows);
	check(!windows_read(json, NOW, windows));
	for (int i = 0; i < WINDOW_COUNT; i++) {
		check(windows[i].used >= 0 && windows[i].used <= 10000);
		check(windows[i].seen_ms == 0 ||
		    window_is_known(&windows[i], NOW));
		check(windows[i].resets_ms <=
		    NOW + window_ms[i] + 24 * INT64_C(3600000));
	}
	return 0;
}
