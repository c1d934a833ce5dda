/* SPDX-License-Identifier: ISC */

/* What was spent, as JSON and for people. An unknown cost is null and "?". */
#ifndef SPENT_VIEW_H
#define SPENT_VIEW_H

#include <stdint.h>

struct buf;
struct json_object;
struct schema;
struct spent;

/* Set the members tokens, cost_usd, cost_source and usage. tokens: as the
 * budgets count them. */
void spent_view_set(
    struct json_object *json, int64_t tokens, const struct spent *spent);
/* Append such members: "1,204 tokens, $0.12 est., 3 tool calls". */
void spent_view_add(struct buf *out, struct json_object *json);
/* Append the tokens by model and kind: one line for each, after prefix. */
void spent_view_add_models(
    struct buf *out, const char *prefix, struct json_object *json);

/* Of the member usage. */

#endif
