/* SPDX-License-Identifier: ISC */

/* The table [prices] of the configuration: one table for each model. For
 * settings.c only. */
#ifndef SETTINGS_PRICES_H
#define SETTINGS_PRICES_H

struct json_object;
struct price_list;

/* Called for everything that is wrong in it; text names the key. */
typedef void prices_problem_fn(void *arg, unsigned line, const char *text);

/* Append the rows that are complete and valid. */
void settings_prices_read(struct json_object *table, struct price_list *list,
    prices_problem_fn *problem, void *arg);

#endif
