/* SPDX-License-Identifier: ISC */

/* Plain and quoted scalars of YAML. For serena-list only. */
#ifndef YAML_SCALAR_H
#define YAML_SCALAR_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct yaml_text;

/* Read the scalar that begins at `at`, with lines folded and escapes resolved;
 * *ret_end is the offset after it. In a flow list it also ends at a comma or
 * bracket. -EINVAL if it is not a plain or quoted scalar. */
int yaml_scalar(const struct yaml_text *yaml, size_t at, size_t end, bool flow,
    struct buf *value, size_t *ret_end);

#endif
