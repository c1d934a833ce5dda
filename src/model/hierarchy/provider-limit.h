/* SPDX-License-Identifier: ISC */

/*
 * How many spawned agents may run on the models of one provider: entries of
 * team.provider_limits such as "openai=1". Pure.
 *
 * A limit covers the models of its provider ("openai/gpt-5"; one without a
 * provider is Anthropic's), and those whose name begins with its own
 * ("claude-opus=2").
 */
#ifndef PROVIDER_LIMIT_H
#define PROVIDER_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* Is it "name=number"? */
bool provider_limit_valid(const char *limit);
/* The number; 0 for what is no limit. */
size_t provider_limit_count(const char *limit);
/* Does it cover this model? NULL and "" are the default model. */
bool provider_limit_covers(const char *limit, const char *model);

#endif
