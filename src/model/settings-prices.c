/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "price.h"
#include "settings-prices.h"
#include "settings-value.h"
#include "settings.h"
#include "toml-edit.h"
#include "toml-mark.h"
#include "word.h"

#define DOLLAR INT64_C(1000000)

/* Of each number in a row: dollars for a million tokens. */
static const struct setting amount = {
	.type = SETTING_AMOUNT,
	.min = 0,
	.max = 1000000 * DOLLAR,
};

struct reading {
	struct price_list *list;
	prices_problem_fn *problem;
	void *arg;
};

static void
complain(struct reading *r, struct json_object *at, const struct buf *path,
    const char *words)
{
	cleanup_free char *text = xasprintf("%s: %s", path->data, words);

	r->problem(r->arg, toml_mark_of(at).line, text);
}

static bool
read_number(struct reading *r, struct json_object *json, const char *path,
    int64_t *ret_number)
{
	struct value value = { .row = &amount };
	cleanup_buf struct buf at = BUF_INIT, words = BUF_INIT;

	if (value_set(&value, json, NULL)) {
		*ret_number = value.number;
		return true;
	}
	buf_adds(&at, path);
	buf_adds(&words, "expected ");
	settings_describe_allowed(&amount, &words);
	buf_adds(&words, ", in dollars for a million tokens");
	complain(r, json, &at, words.data);
	return false;
}

/* Every kind must be there: a price that is left out would be a guess. */
static bool
has_all(struct reading *r, struct json_object *table, const struct buf *path)
{
	bool all = true;

	for (int k = 0; k < USAGE_KINDS; k++) {
		cleanup_free char *words = NULL;

		if (json_object_object_get_ex(table, usage_kind_words[k], NULL))
			continue;
		words = xasprintf("%s is missing", usage_kind_words[k]);
		complain(r, table, path, words);
		all = false;
	}
	return all;
}

static bool
read_row(struct reading *r, struct json_object *table, const struct buf *path,
    struct price *price)
{
	bool good = has_all(r, table, path);

	json_object_object_foreach(table, key, json)
	{
		cleanup_buf struct buf at = BUF_INIT;
		unsigned kind = 0;

		buf_addf(&at, "%s.", path->data);
		toml_edit_quote_key(&at, key);
		if (word_find(usage_kind_words, key, &kind)) {
			good &= read_number(r, json, at.data, &price->of[kind]);
			continue;
		}
		complain(r, json, &at,
		    "no such price; use input, output, cache_read, "
		    "cache_write_5m and cache_write_1h");
		good = false;
	}
	return good;
}

static void
add_row(struct price_list *list, const struct price *price)
{
	list->rows =
	    xreallocarray(list->rows, list->count + 1, sizeof *list->rows);
	list->rows[list->count++] = *price;
}

void
settings_prices_read(struct json_object *table, struct price_list *list,
    prices_problem_fn *problem, void *arg)
{
	struct reading r = { .list = list, .problem = problem, .arg = arg };

	json_object_object_foreach(table, model, json)
	{
		cleanup_buf struct buf path = BUF_INIT;
		struct price price = { 0 };
		size_t len = strlen(model);

		buf_adds(&path, "prices.");
		toml_edit_quote_key(&path, model);
		if (!json_object_is_type(json, json_type_object)) {
			complain(&r, json, &path,
			    "expected a table with the prices of this model");
		} else if (len == 0 || len >= sizeof price.model) {
			complain(&r, json, &path,
			    "expected the name of a model, or a pattern for "
			    "it, of at most 63 bytes");
		} else {
			memcpy(price.model, model, len + 1);
			if (read_row(&r, json, &path, &price))
				add_row(list, &price);
		}
	}
}
