/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "account.h"
#include "command-guard.h"
#include "http-request.h"
#include "quota.h"
#include "settings-table.h"
#include "settings-value.h"
#include "thresholds.h"
#include "toml-edit.h"
#include "toml.h"

#define PORT_MAX 65535

/* 0 if it is not one, else the bytes; a size of 0 would stop everything. */
int64_t
settings_form_bytes(const char *text)
{
	static const char units[] = "KMGT";
	int64_t bytes = 0;
	const char *unit;

	if (!text_is_digit(*text))
		return 0;
	for (; text_is_digit(*text); text++) {
		bytes = bytes * 10 + (*text - '0');
		if (bytes > INT64_C(1) << 50)
			return 0;
	}
	if (*text == '\0')
		return bytes;
	unit = strchr(units, *text);
	if (unit == NULL || text[1] != '\0' || bytes > 1 << 20)
		return 0;
	return bytes << (10 * (unit - units + 1));
}

static bool
is_size(const char *text)
{
	return *text == '\0' || settings_form_bytes(text) > 0;
}

static bool
is_daytime(const char *text)
{
	return *text == '\0' ||
	    (strlen(text) == strlen("07:00") && text_is_digit(text[0]) &&
		text_is_digit(text[1]) && text[2] == ':' &&
		text_is_digit(text[3]) && text_is_digit(text[4]) &&
		text[3] < '6' &&
		(text[0] < '2' || (text[0] == '2' && text[1] < '4')));
}

static bool
is_variable(const char *text)
{
	if (!text_is_letter(*text) && *text != '_')
		return false;
	while (text_is_letter(*text) || text_is_digit(*text) || *text == '_')
		text++;
	return *text == '\0';
}

bool
settings_form_expand(
    const char *text, const char *const *values, struct buf *out)
{
	static const char *const names[FORM_VALUES] = { "index", "port",
		"worker", "tmpdir" };

	for (size_t len, i; *text != '\0'; text++) {
		if (*text != '{' || text[1] == '{') {
			if (out != NULL)
				buf_addc(out, *text);
			text += *text == '{';
			continue;
		}
		len = strcspn(text + 1, "}");
		for (i = 0; i < nitems(names); i++)
			if (strlen(names[i]) == len &&
			    strncmp(text + 1, names[i], len) == 0)
				break;
		if (i == nitems(names) || text[len + 1] != '}')
			return false;
		if (out != NULL)
			buf_adds(out, values[i]);
		text += len + 1;
	}
	return true;
}

/* A name, or a name and a value. */
static bool
is_assignment(const char *text)
{
	cleanup_free char *name = xstrndup(text, strcspn(text, "="));

	return is_variable(name) && settings_form_expand(text, NULL, NULL);
}

static bool
is_place(const char *text)
{
	if (text[0] == '~')
		return text[1] == '\0' || text[1] == '/';
	return text[0] == '/';
}

static bool
is_port(const char *text)
{
	int port = 0;

	if (!text_is_digit(*text) || *text == '0')
		return false;
	for (; text_is_digit(*text); text++) {
		port = port * 10 + (*text - '0');
		if (port > PORT_MAX)
			return false;
	}
	return *text == '\0';
}

static bool
is_host(const char *text)
{
	char before = '.';

	if (text[0] == '*' && text[1] == '.')
		text += 2;
	for (; text_is_letter(*text) || text_is_digit(*text) || *text == '-' ||
	     *text == '_' || *text == '.';
	     text++) {
		if (*text == '.' && before == '.')
			return false;
		before = *text;
	}
	if (before == '.')
		return false;
	return *text == '\0' || (*text == ':' && is_port(text + 1));
}

/* Nothing in it can end a line or a word of what it is written into. */
static bool
is_url(const char *text)
{
	size_t begin = text_begins(text, "https://") ? 8 :
	    text_begins(text, "http://")             ? 7 :
						       0;

	if (begin == 0 || text[begin] == '\0' || text[begin] == '/')
		return false;
	for (; *text != '\0'; text++)
		if (*text <= ' ' || *text > '~' || *text == '"' ||
		    *text == '\\')
			return false;
	return true;
}

static bool
is_repo(const char *text)
{
	int slashes = 0;
	char before = '/';

	for (; *text != '\0'; text++) {
		if (*text == '/' && (before == '/' || ++slashes > 1))
			return false;
		if (*text == '.' && before == '/')
			return false;
		if (*text != '/' && *text != '.' && *text != '-' &&
		    *text != '_' && !text_is_letter(*text) &&
		    !text_is_digit(*text))
			return false;
		before = *text;
	}
	return slashes == 1 && before != '/';
}

static bool
is_threshold(const char *text)
{
	struct thresholds thresholds;

	return thresholds_set(&thresholds, text, NULL) == 0;
}

const char *const cost_tier_words[] = { "free", "cheap", "medium", "expensive",
	NULL };

const char *const thinking_words[] = { "off", "minimal", "low", "medium",
	"high", "xhigh", "max", NULL };

static bool
is_cost(const char *text)
{
	for (size_t i = 0; cost_tier_words[i] != NULL; i++)
		if (strcasecmp(text, cost_tier_words[i]) == 0)
			return true;
	return *text == '\0';
}

static bool
is_effort(const char *text)
{
	unsigned ignored;

	return *text == '\0' || word_find(thinking_words, text, &ignored);
}

static bool
is_hours(const char *text)
{
	struct hours hours;

	return hours_parse(text, &hours);
}

/* Rules such as Bash(git *) are none: a name does not say what runs inside a
 * tool. */
static bool
is_tool(const char *text)
{
	if (strcmp(text, "*") == 0)
		return true;
	if (!text_is_letter(*text) && *text != '_')
		return false; /* no option of a command line */
	while (text_is_letter(*text) || text_is_digit(*text) || *text == '_' ||
	    *text == '-')
		text++;
	return *text == '\0';
}

static bool
is_command_rule(const char *text)
{
	return strv_has(command_rule_words, text);
}

static bool
is_origin(const char *text)
{
	return *text == '\0' || web_origin_valid(text);
}

/* Four numbers of up to 255. */
static bool
is_address(const char *text)
{
	for (int i = 0; i < 4; i++) {
		int n = 0, digits = 0;

		if (i > 0 && *text++ != '.')
			return false;
		for (; *text >= '0' && *text <= '9' && digits < 4; digits++)
			n = n * 10 + *text++ - '0';
		if (digits == 0 || n > 255)
			return false;
	}
	return *text == '\0';
}

static const struct {
	bool (*fits)(const char *text);
	const char *words;
} forms[FORM_COUNT] = {
	[FORM_ANY] = { NULL, NULL },
	[FORM_SIZE] = { is_size, "a size such as \"4G\", or \"\" for none" },
	[FORM_VARIABLE] = { is_assignment,
	    ("names of environment variables, such as [\"EDITOR\"], or names "
	     "with values, such as [\"DB=app_{index}\"], in which {index}, "
	     "{port}, {worker} and {tmpdir} are known, and {{ is a brace") },
	[FORM_PLACE] = { is_place,
	    "absolute paths or paths below ~, such as [\"~/.cargo\"]" },
	[FORM_HOST] = { is_host,
	    ("hosts such as [\"example.org\", \"example.org:8443\", "
	     "\"*.example.org\"]") },
	[FORM_NAME] = { is_variable, "the name of an environment variable" },
	[FORM_URL] = { is_url, "a URL that begins with https:// or http://" },
	[FORM_REPO] = { is_repo, "a repository such as \"owner/name\"" },
	[FORM_THRESHOLD] = { is_threshold,
	    ("thresholds such as [\"stuck.sameErrorCount=3\", "
	     "\"regression.testPassToFail=false\"]") },
	[FORM_COST] = { is_cost,
	    ("one of free, cheap, medium and expensive, or \"\" if it is not "
	     "known") },
	[FORM_EFFORT] = { is_effort,
	    ("one of off, minimal, low, medium, high, xhigh and max, or \"\" "
	     "for the agent's own default") },
	[FORM_DAYTIME] = { is_daytime,
	    "a time of day such as \"07:00\", or \"\" for none" },
	[FORM_COMMAND_RULE] = { is_command_rule,
	    ("some of git-push, git-config, rm-outside, sudo, kill-others and "
	     "protected-files") },
	[FORM_HOURS] = { is_hours,
	    ("hours such as \"22:00-07:00\" or \"12:00-13:00, "
	     "18:00-24:00\", or \"\" for always") },
	[FORM_ORIGIN] = { is_origin,
	    ("an address without a path, such as "
	     "\"https://llmc.example.org\", or \"\" for none") },
	[FORM_ADDRESS] = { is_address,
	    "an IPv4 address such as \"127.0.0.1\" or \"0.0.0.0\"" },
	[FORM_TOOL] = { is_tool,
	    "names of tools, such as [\"Read\", \"Grep\"]" },
};

bool
settings_form_fits(enum setting_form form, const char *text)
{
	return forms[form].fits == NULL || forms[form].fits(text);
}

#define AMOUNT_UNIT 1000000 /* an amount is stored in millionths */

static bool
has_bounds(const struct setting *row)
{
	return row->min != 0 || row->max != 0;
}

/* Without decimals if it is whole, else with as many as needed. */
static void
add_amount(int64_t number, struct buf *out)
{
	long long rest = number % AMOUNT_UNIT;

	buf_addf(out, "%s%lld", number < 0 && number > -AMOUNT_UNIT ? "-" : "",
	    (long long)(number / AMOUNT_UNIT));
	if (rest == 0)
		return;
	buf_addf(out, ".%06lld", rest < 0 ? -rest : rest);
	while (out->data[out->len - 1] == '0')
		buf_truncate(out, out->len - 1);
}

static void
add_choices(const struct setting *row, struct buf *out)
{
	for (size_t i = 0; row->choices[i] != NULL; i++)
		buf_addf(out, "%s\"%s\"", i > 0 ? ", " : "", row->choices[i]);
}

void
settings_describe_allowed(const struct setting *row, struct buf *out)
{
	if (row->form != FORM_ANY) {
		buf_addf(out, "%s%s",
		    row->type == SETTING_LIST ? "a list of " : "",
		    forms[row->form].words);
		return;
	}
	switch (row->type) {
	case SETTING_STRING:
		buf_adds(out, "a string");
		break;
	case SETTING_PATH:
		buf_adds(out, "a path");
		break;
	case SETTING_CHOICE:
		buf_adds(out, "one of ");
		add_choices(row, out);
		break;
	case SETTING_BOOL:
		buf_adds(out, "true or false");
		break;
	case SETTING_INT:
		buf_adds(out, "a whole number");
		if (has_bounds(row))
			buf_addf(out, " from %lld to %lld", (long long)row->min,
			    (long long)row->max);
		break;
	case SETTING_DURATION:
		buf_adds(out, "a duration such as \"30s\" or \"5m\"");
		if (has_bounds(row)) {
			buf_adds(out, " from ");
			text_add_duration(out, row->min);
			buf_adds(out, " to ");
			text_add_duration(out, row->max);
		}
		break;
	case SETTING_AMOUNT:
		buf_adds(out, "a number such as 2.50");
		if (has_bounds(row)) {
			buf_adds(out, " from ");
			add_amount(row->min, out);
			buf_adds(out, " to ");
			add_amount(row->max, out);
		}
		break;
	case SETTING_LIST:
		if (row->choices == NULL) {
			buf_adds(
			    out, "a list of strings such as [\"a\", \"b\"]");
			break;
		}
		buf_adds(out, "a list of any of ");
		add_choices(row, out);
		break;
	case SETTING_TYPE_COUNT:
		break;
	}
}

void
value_clear(struct value *value)
{
	free(take_ptr(&value->string));
	free(take_ptr(&value->name));
	strv_clear(&value->items);
}

static char *
expand_home(const char *path, const char *home)
{
	if (home == NULL || path[0] != '~' ||
	    (path[1] != '/' && path[1] != '\0'))
		return xstrdup(path);
	return xasprintf("%s%s", home, path + 1);
}

static bool
is_choice(const struct setting *row, const char *s)
{
	for (size_t i = 0; row->choices[i] != NULL; i++)
		if (strcmp(row->choices[i], s) == 0)
			return true;
	return false;
}

static bool
in_bounds(const struct setting *row, int64_t number)
{
	return !has_bounds(row) || (number >= row->min && number <= row->max);
}

/* No NUL inside, so that it can be a C string. */
static bool
is_text(struct json_object *json)
{
	return toml_mark_of(json).type == TOML_STRING &&
	    strlen(json_object_get_string(json)) ==
	    (size_t)json_object_get_string_len(json);
}

static bool
set_string(struct value *value, struct json_object *json, const char *home)
{
	const char *s = json_object_get_string(json);

	if (!is_text(json))
		return false;
	if (value->row->type == SETTING_CHOICE && !is_choice(value->row, s))
		return false;
	if (!settings_form_fits(value->row->form, s))
		return false;
	value->string = value->row->type == SETTING_PATH ?
	    expand_home(s, home) :
	    xstrdup(s);
	return true;
}

static bool
set_duration(struct value *value, struct json_object *json)
{
	enum toml_type type = toml_mark_of(json).type;
	cleanup_buf struct buf text = BUF_INIT;
	int64_t ms;

	if (type > TOML_FLOAT || (type == TOML_STRING && !is_text(json)))
		return false;
	/* A number is a duration in seconds. A float is printed with fixed
	 * decimals, since its shortest form may have an exponent. */
	if (type == TOML_FLOAT)
		buf_addf(&text, "%.6f", json_object_get_double(json));
	else
		buf_adds(&text, json_object_get_string(json));
	if (!text_parse_duration(text.data, &ms) || !in_bounds(value->row, ms))
		return false;
	value->number = ms;
	return true;
}

static bool
set_amount(struct value *value, struct json_object *json)
{
	double amount = json_object_get_double(json) * AMOUNT_UNIT, off;

	if (toml_mark_of(json).type != TOML_INTEGER &&
	    toml_mark_of(json).type != TOML_FLOAT)
		return false;
	if (!(amount > -1e18 && amount < 1e18)) /* also false for NaN */
		return false;
	value->number = (int64_t)(amount < 0 ? amount - 0.5 : amount + 0.5);
	/* Refuse a seventh decimal, which would be lost (and could turn a small
	 * limit into none), but allow for the imprecision of a double. */
	off = amount - (double)value->number;
	if ((off < 0 ? -off : off) >
	    0.001 + (amount < 0 ? -amount : amount) * 1e-15)
		return false;
	return in_bounds(value->row, value->number);
}

static struct json_object *
amount_json(int64_t number)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (number % AMOUNT_UNIT == 0)
		return json_object_new_int64(number / AMOUNT_UNIT);
	add_amount(number, &text);
	return json_object_new_double_s(
	    (double)number / AMOUNT_UNIT, text.data);
}

static bool
set_list(struct value *value, struct json_object *json, const char *home)
{
	size_t count;

	if (!json_object_is_type(json, json_type_array))
		return false;
	count = json_object_array_length(json);
	for (size_t i = 0; i < count; i++) {
		struct json_object *item = json_object_array_get_idx(json, i);

		if (!is_text(item) ||
		    (value->row->choices != NULL &&
			!is_choice(value->row, json_object_get_string(item))) ||
		    !settings_form_fits(
			value->row->form, json_object_get_string(item)))
			return false;
	}
	for (size_t i = 0; i < count; i++) {
		const char *item =
		    json_object_get_string(json_object_array_get_idx(json, i));

		strv_take(&value->items,
		    value->row->form == FORM_PLACE ? expand_home(item, home) :
						     xstrdup(item));
	}
	return true;
}

bool
value_set(struct value *value, struct json_object *json, const char *home)
{
	struct value fresh = { .row = value->row, .path = value->path };
	bool ok = false;

	switch (value->row->type) {
	case SETTING_STRING:
	case SETTING_PATH:
	case SETTING_CHOICE:
		ok = set_string(&fresh, json, home);
		break;
	case SETTING_BOOL:
		ok = json_object_is_type(json, json_type_boolean);
		fresh.boolean = json_object_get_boolean(json);
		break;
	case SETTING_INT:
		fresh.number = json_object_get_int64(json);
		ok = json_object_is_type(json, json_type_int) &&
		    in_bounds(value->row, fresh.number);
		break;
	case SETTING_DURATION:
		ok = set_duration(&fresh, json);
		break;
	case SETTING_AMOUNT:
		ok = set_amount(&fresh, json);
		break;
	case SETTING_LIST:
		ok = set_list(&fresh, json, home);
		break;
	case SETTING_TYPE_COUNT:
		break;
	}
	if (!ok)
		return false;
	fresh.line = toml_mark_of(json).line;
	value_clear(value);
	*value = fresh;
	return true;
}

/* Exact: what does not fit into two units is written in seconds. */
static void
add_duration(int64_t ms, struct buf *out)
{
	size_t before = out->len;
	int64_t back;

	text_add_duration(out, ms);
	if (text_parse_duration(out->data + before, &back) && back == ms)
		return;
	buf_truncate(out, before);
	buf_addf(out, "%lld", (long long)(ms / 1000));
	if (ms % 1000 != 0)
		buf_addf(out, ".%03lld", (long long)(ms % 1000));
	buf_addc(out, 's');
}

struct json_object *
value_json(const struct value *value)
{
	cleanup_buf struct buf text = BUF_INIT;

	switch (value->row->type) {
	case SETTING_BOOL:
		return json_object_new_boolean(value->boolean);
	case SETTING_INT:
		return json_object_new_int64(value->number);
	case SETTING_DURATION:
		add_duration(value->number, &text);
		return json_object_new_string(text.data);
	case SETTING_AMOUNT:
		return amount_json(value->number);
	case SETTING_LIST:
		return strv_to_json(value->items);
	default:
		return json_object_new_string(value->string);
	}
}

int
settings_value_text(const struct setting *row, const char *typed,
    struct buf *out, struct err *err)
{
	cleanup_json struct json_object *root = NULL;
	cleanup_buf struct buf text = BUF_INIT, line = BUF_INIT,
			       allowed = BUF_INIT;
	struct value value = { .row = row };
	struct json_object *json = NULL;
	bool ok;
	int64_t ignored;

	/* Strings and durations may be typed without quotes; other types
	 * must be valid TOML. */
	switch (row->type) {
	case SETTING_STRING:
	case SETTING_PATH:
	case SETTING_CHOICE:
		toml_edit_quote(&text, typed);
		break;
	case SETTING_DURATION:
		if (text_parse_int(typed, 0, INT64_MAX, &ignored))
			buf_adds(&text, typed);
		else
			toml_edit_quote(&text, typed);
		break;
	default:
		buf_adds(&text, typed);
	}
	buf_addf(&line, "x = %s\n", text.data);
	/* One value and nothing after it: no comment, no second line. */
	ok = toml_parse(line.data, line.len, &root, NULL, NULL) == 0 &&
	    json_object_object_get_ex(root, "x", &json) &&
	    toml_mark_of(json).end - toml_mark_of(json).start == text.len &&
	    strchr(text.data, '\n') == NULL && value_set(&value, json, NULL);
	value_clear(&value);
	if (!ok) {
		settings_describe_allowed(row, &allowed);
		return err_set(
		    err, -EINVAL, "expected %s, found %s", allowed.data, typed);
	}
	buf_adds(out, text.data);
	return 0;
}

/* --- [prices] ----------------------------------------------------- */

#define DOLLAR INT64_C(1000000)

/* Of each number in a row: dollars for a million tokens. */
static const struct setting amount = {
	.type = SETTING_AMOUNT,
	.min = 0,
	.max = 1000000 * DOLLAR,
};

void
settings_complain(const struct settings_reader *r, struct json_object *at,
    const char *path, const char *words)
{
	cleanup_free char *text = xasprintf("%s: %s", path, words);

	r->problem(r->arg, toml_mark_of(at).line, text);
}

bool
settings_read_value(const struct settings_reader *r, struct json_object *json,
    const char *path, const char *unit, struct value *value)
{
	cleanup_buf struct buf words = BUF_INIT;

	if (value_set(value, json, r->home))
		return true;
	buf_adds(&words, "expected ");
	settings_describe_allowed(value->row, &words);
	buf_adds(&words, unit);
	settings_complain(r, json, path, words.data);
	return false;
}

/* Every kind must be there: a price that is left out would be a guess. */
static bool
has_all(const struct settings_reader *r, struct json_object *table,
    const struct buf *path)
{
	bool all = true;

	for (int k = 0; k < USAGE_KINDS; k++) {
		cleanup_free char *words = NULL;

		if (json_object_object_get_ex(table, usage_kind_words[k], NULL))
			continue;
		words = xasprintf("%s is missing", usage_kind_words[k]);
		settings_complain(r, table, path->data, words);
		all = false;
	}
	return all;
}

static bool
read_row(const struct settings_reader *r, struct json_object *table,
    const struct buf *path, struct price *price)
{
	bool good = has_all(r, table, path);

	json_object_object_foreach(table, key, json)
	{
		cleanup_buf struct buf at = BUF_INIT;
		unsigned kind = 0;

		buf_addf(&at, "%s.", path->data);
		toml_edit_quote_key(&at, key);
		if (word_find(usage_kind_words, key, &kind)) {
			struct value value = { .row = &amount };

			good &= settings_read_value(r, json, at.data,
			    ", in dollars for a million tokens", &value);
			price->of[kind] = value.number;
			continue;
		}
		settings_complain(r, json, at.data,
		    "no such price; use input, output, cache_read, "
		    "cache_write_5m and cache_write_1h");
		good = false;
	}
	return good;
}

void
settings_prices_read(struct json_object *table, struct price_list *list,
    settings_problem_fn *problem, void *arg)
{
	const struct settings_reader r = { .problem = problem, .arg = arg };

	json_object_object_foreach(table, model, json)
	{
		cleanup_buf struct buf path = BUF_INIT;
		struct price price = { 0 };
		size_t len = strlen(model);

		buf_adds(&path, "prices.");
		toml_edit_quote_key(&path, model);
		if (!json_object_is_type(json, json_type_object)) {
			settings_complain(&r, json, path.data,
			    "expected a table with the prices of this model");
		} else if (len == 0 || len >= sizeof price.model) {
			settings_complain(&r, json, path.data,
			    "expected the name of a model, or a pattern for "
			    "it, of at most 63 bytes");
		} else {
			memcpy(price.model, model, len + 1);
			if (!read_row(&r, json, &path, &price))
				continue;
			list->rows = xreallocarray(
			    list->rows, list->count + 1, sizeof *list->rows);
			list->rows[list->count++] = price;
		}
	}
}
