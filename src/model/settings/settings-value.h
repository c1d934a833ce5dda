/* SPDX-License-Identifier: ISC */

/* One value of the configuration: what it must look like, checked against its
 * row, stored, shown. */
#ifndef SETTINGS_VALUE_H
#define SETTINGS_VALUE_H

struct buf;
struct err;
struct json_object;
struct price_list;
struct setting;

/* One effective value; the type of its row says which members are used. */
struct value {
	char *path;
	const struct setting *row;
	unsigned line; /* 0 = a default */
	char *name; /* that it has in the file, NULL = a default */
	char *string;
	bool boolean;
	int64_t number; /* INT, ms of a DURATION, millionths of an AMOUNT */
	char **items;
};

/* Set it from the TOML value if that has the right type and is in range; else
 * leave it unchanged. home (may be NULL) replaces "~" in a path. */
bool value_set(struct value *value, struct json_object *json, const char *home);

/* Free its contents, but not its path. */
void value_clear(struct value *value);

/* As JSON, owned by the caller; a duration becomes text. */
struct json_object *value_json(const struct value *value);

/* What a text in the configuration must look like, for strings and for the
 * items of lists that have a form. Pure. */

enum setting_form {
	FORM_ANY,
	FORM_SIZE, /* "" or a number of bytes with K, M, G or T */
	FORM_VARIABLE, /* the name of an environment variable, or NAME=VALUE */
	FORM_PLACE, /* an absolute path, or one that begins with ~ */
	FORM_HOST, /* "name", "name:port" or "*.name" */
	FORM_NAME, /* the name of one environment variable */
	FORM_URL, /* of http or https, in printable ASCII */
	FORM_REPO, /* "owner/name" */
	FORM_THRESHOLD, /* "stuck.sameErrorCount=3", see thresholds.h */
	FORM_COST, /* a cost tier, any case, or "" */
	FORM_EFFORT, /* how hard a model thinks, or "" */
	FORM_TOOL, /* the whole name of a tool, or "*" */
	FORM_DAYTIME, /* "07:00", or "" */
	FORM_COMMAND_RULE, /* see command_rule_words */
	FORM_HOURS, /* "22:00-07:00, 12:00-13:00", or "" */
	FORM_ORIGIN, /* of https, see web_origin_valid(), or "" */
	FORM_ADDRESS, /* "127.0.0.1" */
	FORM_COUNT
};

/* From cheap to expensive. */
enum cost_tier {
	COST_FREE,
	COST_CHEAP,
	COST_MEDIUM,
	COST_EXPENSIVE,
	COST_TIER_UNKNOWN, /* after all others */
	COST_TIER_COUNT
};

/* Of the known ones. */
extern const char *const cost_tier_words[COST_TIER_UNKNOWN + 1];

/* How hard an agent thinks; NULL terminated. */
extern const char *const thinking_words[];

/* Does the text have this form? */
bool settings_form_fits(enum setting_form form, const char *text);

/* The bytes of a FORM_SIZE; 0 for "" and for what has not the form. */
int64_t settings_form_bytes(const char *text);

/* Append a FORM_VARIABLE with what it is in one place: {index}, {port},
 * {worker} and {tmpdir} are replaced by the values, in this order; "{{" is a
 * brace. False: there is any other "{". out NULL: only that. */
#define FORM_VALUES 4
bool settings_form_expand(
    const char *text, const char *const *values, struct buf *out);

/* Convert what a person typed for a key to TOML ("opus" -> "\"opus\""), checked
 * against the table. -EINVAL with what is allowed, without the key's name. */
int settings_value_text(const struct setting *setting, const char *typed,
    struct buf *out, struct err *err);

/* "a whole number from 1 to 500", "one of wait, overlap", "true or false". */
void settings_describe_allowed(const struct setting *setting, struct buf *out);

/* Called for everything that is wrong in a table; text names the key. */
typedef void settings_problem_fn(void *arg, unsigned line, const char *text);

/* How a table whose keys are names is read. */
struct settings_reader {
	const char *home;
	settings_problem_fn *problem;
	void *arg;
};
void settings_complain(const struct settings_reader *r, struct json_object *at,
    const char *path, const char *words);
/* Like value_set(); a wrong one is complained of. unit: for the words. */
bool
settings_read_value(const struct settings_reader *r, struct json_object *json,
    const char *path, const char *unit, struct value *value);

/* Append the rows of [prices] that are complete and valid. */
void settings_prices_read(struct json_object *table, struct price_list *list,
    settings_problem_fn *problem, void *arg);

#endif
