/* SPDX-License-Identifier: ISC */

/* Private to json.c: the tokens of a text, checked and counted before json-c
 * allocates anything for them. */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stddef.h>

struct json_scan {
	const char *bytes;
	size_t len;
	size_t weight_max; /* units of about 50 bytes of memory */
	size_t pos;
	const char *words; /* what is wrong at pos */
};

/* 0, or -EINVAL or -E2BIG with pos and words set. */
int json_scan(struct json_scan *s);

#endif
