/* SPDX-License-Identifier: ISC */

/*
 * TOML 1.0, complete and strict, parsed into a json-c tree that records where
 * each value was. Tables are objects (in the order of the text), arrays are
 * arrays, dates and times are strings with a mark of their own (always written
 * as 2024-02-29T07:32:00Z, with T and Z). A line ending inside a string is \n,
 * even if the text has CRLF. A NUL in a key ("\u0000") is kept as C0 80.
 *
 * The marks are json-c userdata of each value and are freed with it.
 * json_object_deep_copy() does not work on such a tree, as it refuses foreign
 * userdata.
 *
 * Tested with the public toml-test suite and a fuzzer.
 */
#ifndef TOML_H
#define TOML_H

#include <stddef.h>

#include "toml-mark.h"

struct err;
struct json_object;

/* Parse a whole document. The caller owns *ret_root (json_object_put), an
 * object. -EINVAL with "line 3: ..." in the message; *ret_line (may be NULL) is
 * set to the line. -E2BIG over TOML_SIZE_MAX bytes or TOML_DEPTH_MAX levels. */
#define TOML_SIZE_MAX  (4 * 1024 * 1024)
#define TOML_DEPTH_MAX 64
int toml_parse(const char *bytes, size_t len, struct json_object **ret_root,
    unsigned *ret_line, struct err *err);

#endif
