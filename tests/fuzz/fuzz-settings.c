/* SPDX-License-Identifier: ISC */

/* Any bytes as a config file, and as what a person types for a key: there are
 * always effective settings, every problem is one line, and typed values are
 * read back without a problem. */

#include "fuzz.h"
#include "account.h"
#include "settings.h"

static const struct settings_facts facts = {
	.root = "/r", .home = "/h", .default_branch = "main"
};

static void
need(bool ok)
{
	if (!ok)
		abort();
}

static void
check_problems(const struct settings_problems *problems)
{
	bool fatal = false;

	for (size_t i = 0; i < problems->count; i++) {
		const struct settings_problem *p = &problems->list[i];

		fatal |= p->fatal;
		need(p->text[0] != '\0' && p->line > 0);
		need(strchr(p->text, '\n') == NULL);
		need(text_utf8_valid(p->text, strlen(p->text)));
	}
	need(fatal == problems->fatal);
}

/* Every key has a value of its type, even if the file is wrong. */
static void
check_values(const struct settings *settings)
{
	for (size_t i = 0; i < settings_table_count; i++) {
		cleanup_json struct json_object *json = NULL;
		cleanup_buf struct buf text = BUF_INIT;

		need(settings_value(
		    settings, settings_table[i].path, &json, NULL));
		json_print(json, false, &text);
	}
}

static void
check_workers(const struct settings *settings)
{
	const char *const *names;
	size_t count = settings_workers(settings, &names);

	for (size_t i = 0; i < count; i++) {
		cleanup_buf struct buf path = BUF_INIT;

		need(text_is_name(names[i]));
		settings_worker_path(settings, names[i], "model", &path);
		need(settings_string(settings, path.data) != NULL);
	}
	need(names[count] == NULL);
}

/* Only whole rows; a price is a number that can be multiplied. */
static void
check_prices(const struct settings *settings)
{
	const struct price_list *prices = settings_prices(settings);
	struct usage usage = { 0 };

	for (size_t i = 0; i < prices->count; i++) {
		const struct price *price = &prices->rows[i];

		need(price->model[0] != '\0');
		need(memchr(price->model, '\0', sizeof price->model) != NULL);
		for (int k = 0; k < USAGE_KINDS; k++)
			need(price->of[k] >= 0 && price->of[k] <= 1e12);
		usage_add(&usage, price->model, USAGE_INPUT, USAGE_MAX);
		need(price_find(prices, price->model) != NULL);
	}
	need(price_of(prices, &usage).cost >= 0);
}

static void
check_file(const char *text, size_t len)
{
	struct settings_problems problems;
	struct settings *settings =
	    settings_parse(text, len, &facts, &problems);

	check_problems(&problems);
	check_values(settings);
	check_workers(settings);
	check_prices(settings);
	settings_problems_release(&problems);
	settings_free(settings);
}

/* What is refused where a file is read: an agent that it has no card of, an
 * address with a password. */
static const char *const judged_later[] = { "auto.review", "fleet.database",
	NULL };

static void
check_typed(const struct setting *row, const char *typed)
{
	const char *dot = strrchr(row->path, '.');
	cleanup_buf struct buf value = BUF_INIT, file = BUF_INIT;
	struct settings_problems problems;
	struct settings *settings;
	struct err err = { 0 };
	int r = settings_value_text(row, typed, &value, &err);

	if (r != 0) {
		need(r == -EINVAL && err.code == r && value.len == 0);
		return;
	}
	buf_addf(&file, "[%.*s]\n%s = %s\n", (int)(dot - row->path), row->path,
	    dot + 1, value.data);
	settings = settings_parse(file.data, file.len, &facts, &problems);
	need(problems.count == 0 || strv_has(judged_later, row->path));
	settings_problems_release(&problems);
	settings_free(settings);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *typed = NULL;
	cleanup_buf struct buf words = BUF_INIT;

	check_file((const char *)data, size);
	if (size == 0 || size > 256)
		return 0;
	typed = xstrndup((const char *)data + 1, size - 1);
	check_typed(&settings_table[data[0] % settings_table_count], typed);
	if (settings_find(typed, NULL) == NULL)
		settings_describe_unknown(typed, &words);
	return 0;
}
