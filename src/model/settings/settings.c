/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "channel.h"
#include "id.h"
#include "settings-table.h"
#include "settings-value.h"
#include "settings.h"
#include "thresholds.h"
#include "toml-edit.h"
#include "toml.h"

struct settings {
	struct value *values; /* one per row, then those of the workers */
	size_t count;
	char **names[SETTINGS_NAMED_COUNT]; /* of [workers], of [agents] */
	struct price_list prices;
	struct channel_list channels;
	char *home;
};

static struct value *
value_find(const struct settings *settings, const char *path)
{
	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->values[i].path, path) == 0)
			return &settings->values[i];
	return NULL;
}

static struct value *
value_add(
    struct settings *settings, const char *path, const struct setting *row)
{
	struct value *value;

	settings->values = xreallocarray(
	    settings->values, settings->count + 1, sizeof *settings->values);
	value = &settings->values[settings->count++];
	*value = (struct value){ .path = xstrdup(path), .row = row };
	return value;
}

/* The text is copied. */
static void
settings_problem_add(struct settings_problems *problems, bool fatal,
    unsigned line, const char *text)
{
	struct settings_problem *p;

	problems->list = xreallocarray(
	    problems->list, problems->count + 1, sizeof *problems->list);
	p = &problems->list[problems->count++];
	p->fatal = fatal;
	p->line = line;
	p->text = xstrdup(text);
	problems->fatal |= fatal;
}

static void
problem_unknown(struct settings_problems *problems, bool fatal,
    const char *path, unsigned line)
{
	cleanup_buf struct buf text = BUF_INIT;

	settings_describe_unknown(path, &text);
	settings_problem_add(problems, fatal, line, text.data);
}

static void
problem_in_table(void *problems, unsigned line, const char *text)
{
	settings_problem_add(problems, true, line, text);
}

/* Is path the name of a table that contains known keys? */
static bool
is_section(const char *path)
{
	size_t len = strlen(path);

	if (settings_named_table(path) >= 0 ||
	    strcmp(path, SETTINGS_PRICES) == 0 ||
	    strcmp(path, SETTINGS_CHANNELS) == 0 ||
	    settings_alias_section(path))
		return true;
	for (size_t i = 0; i < settings_table_count; i++)
		if (strncmp(settings_table[i].path, path, len) == 0 &&
		    settings_table[i].path[len] == '.')
			return true;
	return false;
}

static void
problem_twice(struct settings_problems *problems, const char *name,
    const char *ignored, unsigned line)
{
	cleanup_free char *text =
	    xasprintf("%s is ignored: %s is the same setting", ignored, name);

	settings_problem_add(problems, false, line, text);
}

/* name: the one that it has in the file. Another name than the path gives way
 * to it, and a wrong value under it is ignored. */
static void
take_value(struct settings *settings, const char *path, const char *name,
    struct json_object *json, unsigned line, struct settings_problems *problems)
{
	const struct setting *row = settings_find(path, NULL);
	struct value *value = value_find(settings, path);
	size_t before = settings->count;
	bool own = strcmp(name, path) == 0;
	struct toml_mark mark;
	cleanup_buf struct buf text = BUF_INIT;

	/* TOML has no key twice, so the other one has another name. */
	if (value != NULL && value->line > 0 && !own) {
		problem_twice(problems, value->name, name, line);
		return;
	}
	if (value != NULL && value->line > 0)
		problem_twice(problems, name, value->name, value->line);
	if (value == NULL) /* of one worker or agent */
		value = value_add(settings, path, row);
	if (value_set(value, json, settings->home)) {
		value->line = line;
		xstrset(&value->name, name);
		return;
	}
	mark = toml_mark_of(json);
	buf_addf(&text, "%s: expected ", path);
	settings_describe_allowed(row, &text);
	buf_addf(&text, ", found %s", toml_mark_type_name(mark.type));
	if (mark.type == TOML_FLOAT) {
		buf_addf(&text, " %.15g", json_object_get_double(json));
	} else if (mark.type <= TOML_BOOL) {
		buf_addc(&text, ' ');
		json_print(json, false, &text);
	}
	settings_problem_add(problems, own, mark.line, text.data);
	/* Drop an invalid key of one of them. */
	if (settings->count > before) {
		settings->count--;
		free(value->path);
	}
}

/* Take a value under another name of its setting; false if it is none. */
static bool
take_alias(struct settings *settings, const char *name,
    struct json_object *json, struct settings_problems *problems)
{
	unsigned line = toml_mark_of(json).line;
	cleanup_free char *path = NULL, *text = NULL;
	const struct settings_alias *alias = settings_alias_find(name, &path);
	cleanup_json struct json_object *value = NULL;

	if (alias == NULL || settings_find(path, NULL) == NULL)
		return false;
	value = settings_alias_value(alias, json);
	if (value != NULL) {
		take_value(settings, path, name, value, line, problems);
		return true;
	}
	text = xasprintf("%s: expected %s, found %s", name,
	    alias->yes != NULL ? "true or false" : "a whole number of seconds",
	    toml_mark_type_name(toml_mark_of(json).type));
	/* Times have good defaults, but permissions are not guessed. */
	settings_problem_add(problems, alias->yes != NULL, line, text);
	return true;
}

static void
walk(struct settings *settings, const char *prefix, struct json_object *table,
    struct settings_problems *problems)
{
	int named = settings_named_table(prefix);

	json_object_object_foreach(table, key, json)
	{
		cleanup_buf struct buf path = BUF_INIT;
		unsigned line = toml_mark_of(json).line;

		/* The path of a key as a person would type it: a key that
		 * contains a dot or a control character is quoted, so it never
		 * matches a known one. */
		if (prefix[0] != '\0')
			buf_addf(&path, "%s.", prefix);
		toml_edit_quote_key(&path, key);
		if (settings_find(path.data, NULL) != NULL) {
			take_value(settings, path.data, path.data, json, line,
			    problems);
		} else if (take_alias(settings, path.data, json, problems)) {
			continue;
		} else if (named >= 0 && !text_is_name(key)) {
			problem_unknown(problems, true, path.data, line);
		} else if (named < 0 && !is_section(path.data)) {
			problem_unknown(problems, false, path.data, line);
		} else if (!json_object_is_type(json, json_type_object)) {
			struct toml_mark mark = toml_mark_of(json);
			cleanup_free char *text =
			    xasprintf("%s: expected a table, found %s",
				path.data, toml_mark_type_name(mark.type));

			settings_problem_add(problems, true, mark.line, text);
		} else if (strcmp(path.data, SETTINGS_PRICES) == 0) {
			settings_prices_read(json, &settings->prices,
			    problem_in_table, problems);
		} else if (strcmp(path.data, SETTINGS_CHANNELS) == 0) {
			settings_channels_read(json, settings->home,
			    &settings->channels, problem_in_table, problems);
		} else {
			if (named >= 0)
				strv_add(&settings->names[named], key);
			walk(settings, path.data, json, problems);
		}
	}
}

static void
set_default(struct settings *settings, const struct setting *row,
    const struct settings_facts *facts)
{
	struct value *value = value_add(settings, row->path, row);
	cleanup_json struct json_object *root = NULL;
	cleanup_free char *text = NULL;
	char hash[9];

	if (row->fallback != NULL) {
		text = xasprintf("x = %s\n", row->fallback);
		if (toml_parse(text, strlen(text), &root, NULL, NULL) < 0 ||
		    !value_set(value, json_member(root, "x"), settings->home))
			fatalx("%s: the table's default is wrong", row->path);
		value->line = 0;
	} else if (strcmp(row->path, "tmux.socket") == 0) {
		id_hash(facts->root, hash, 8);
		value->string = xasprintf("llmc-%s", hash);
	} else if (strcmp(row->path, "repo.default_branch") == 0) {
		value->string = xstrdup(
		    facts->default_branch != NULL ? facts->default_branch : "");
	} else {
		fatalx("%s: the table has no default", row->path);
	}
}

/* A time that does not fit is made shorter (silence_limits()), with a warning
 * to the person who chose it. */
static void
check_stall(const struct settings *settings, struct settings_problems *problems)
{
	const struct value *worker =
	    value_find(settings, "auto.worker_stall_timeout");
	const struct value *overseer =
	    value_find(settings, "overseer.stall_timeout");
	int64_t longest = silence_longest_ms(overseer->number);
	cleanup_buf struct buf text = BUF_INIT;

	if (worker->line == 0 || worker->number <= longest)
		return;
	buf_addf(&text, "%s: ", worker->path);
	text_add_duration(&text, worker->number);
	buf_addf(&text, " is too long for %s, which is ", overseer->path);
	text_add_duration(&text, overseer->number);
	buf_adds(&text, ": ");
	text_add_duration(&text, longest);
	buf_adds(&text, " (three quarters) is used");
	settings_problem_add(problems, false, worker->line, text.data);
}

/* Others can read the settings, and what is said of them. */
static void
check_database(
    const struct settings *settings, struct settings_problems *problems)
{
	const struct value *value = value_find(settings, "fleet.database");
	const char *user = strstr(value->string, "://");
	size_t len = user != NULL ? strcspn(user + 3, "@/?") : 0;

	if (strstr(value->string, "password=") != NULL ||
	    (user != NULL && user[3 + len] == '@' &&
		memchr(user + 3, ':', len) != NULL))
		settings_problem_add(problems, true, value->line,
		    "fleet.database: the address has a password in it, which "
		    "others can read: put it in a file with mode 600 "
		    "(fleet.passfile), or use service=NAME");
}

static void
check_review(
    const struct settings *settings, struct settings_problems *problems)
{
	const struct value *value = value_find(settings, "auto.review");
	const char *const *cards = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	settings_agents(settings, &cards);
	if (value->string[0] == '\0' ||
	    strv_has(agent_kind_words, value->string) ||
	    strv_has(cards, value->string))
		return;
	buf_addf(&text, "auto.review: there is no agent \"%s\": name a kind (",
	    value->string);
	for (size_t i = 0; agent_kind_words[i] != NULL; i++)
		buf_addf(&text, "%s%s", i > 0 ? ", " : "", agent_kind_words[i]);
	buf_adds(&text, ") or a card ([agents.NAME])");
	settings_problem_add(problems, true, value->line, text.data);
}

/* The message without "line 3: ": a problem stores its line separately. */
static const char *
without_line(const char *msg)
{
	const char *end;

	if (!text_begins(msg, "line "))
		return msg;
	end = strstr(msg, ": ");
	return end != NULL ? end + 2 : msg;
}

struct settings *
settings_parse(const char *text, size_t len, const struct settings_facts *facts,
    struct settings_problems *ret_problems)
{
	struct settings *settings = xcalloc(1, sizeof *settings);
	cleanup_json struct json_object *root = NULL;
	struct err err = { 0 };
	unsigned line = 0;

	*ret_problems = (struct settings_problems){ 0 };
	if (facts->home != NULL && facts->home[0] != '\0')
		settings->home = xstrdup(facts->home);
	for (size_t i = 0; i < settings_table_count; i++)
		set_default(settings, &settings_table[i], facts);
	for (size_t i = 0; i < settings_agent_key_count; i++)
		set_default(settings, &settings_agent_keys[i], facts);
	if (toml_parse(text, len, &root, &line, &err) < 0)
		settings_problem_add(
		    ret_problems, true, line, without_line(err.msg));
	else
		walk(settings, "", root, ret_problems);
	if (root != NULL)
		check_stall(settings, ret_problems);
	check_database(settings, ret_problems);
	check_review(settings, ret_problems);
	return settings;
}

void
settings_free(struct settings *settings)
{
	if (settings == NULL)
		return;
	for (size_t i = 0; i < settings->count; i++) {
		value_clear(&settings->values[i]);
		free(settings->values[i].path);
	}
	for (int i = 0; i < SETTINGS_NAMED_COUNT; i++)
		strv_free(settings->names[i]);
	free(settings->prices.rows);
	channel_list_release(&settings->channels);
	free(settings->values);
	free(settings->home);
	free(settings);
}

int
settings_override(struct settings *settings, const char *path,
    const char *typed, struct err *err)
{
	struct value *value = value_find(settings, path);
	cleanup_json struct json_object *root = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	struct err why = { 0 };

	if (value == NULL)
		fatalx("%s: no such setting", path);
	buf_adds(&text, "x = ");
	if (settings_value_text(value->row, typed, &text, &why) < 0)
		return err_set(err, -EINVAL, "%s: %s", path, why.msg);
	buf_addc(&text, '\n');
	if (toml_parse(text.data, text.len, &root, NULL, NULL) < 0 ||
	    !value_set(value, json_member(root, "x"), settings->home))
		fatalx("%s: a checked value is refused", path);
	value->line = 0; /* not from a file */
	return 0;
}

/* A key of one worker or agent that is not set falls back to the general one.
 */
static const struct value *
value_get(const struct settings *settings, const char *path)
{
	const struct value *value = value_find(settings, path);
	const struct setting *row;

	if (value == NULL && (row = settings_find(path, NULL)) != NULL)
		value = value_find(settings, row->path);
	return value;
}

static const struct value *
value_need(
    const struct settings *settings, const char *path, enum setting_type type)
{
	const struct value *value = value_get(settings, path);

	if (value == NULL || value->row->type != type)
		fatalx("%s: no such setting of that type", path);
	return value;
}

const char *
settings_string(const struct settings *settings, const char *path)
{
	const struct value *value = value_get(settings, path);

	if (value == NULL || value->row->type > SETTING_CHOICE)
		fatalx("%s: no such setting of that type", path);
	return (value->row->flags & SETTING_NONE) != 0 &&
		strcmp(value->string, "none") == 0 ?
	    "" :
	    value->string;
}

bool
settings_decided(const struct settings *settings, const char *path)
{
	return value_need(settings, path, SETTING_STRING)->string[0] != '\0';
}

bool
settings_bool(const struct settings *settings, const char *path)
{
	return value_need(settings, path, SETTING_BOOL)->boolean;
}

int64_t
settings_int(const struct settings *settings, const char *path)
{
	return value_need(settings, path, SETTING_INT)->number;
}

int64_t
settings_duration(const struct settings *settings, const char *path)
{
	return value_need(settings, path, SETTING_DURATION)->number;
}

int64_t
settings_amount(const struct settings *settings, const char *path)
{
	return value_need(settings, path, SETTING_AMOUNT)->number;
}

size_t
settings_list(const struct settings *settings, const char *path,
    const char *const **ret_items)
{
	const struct value *value = value_need(settings, path, SETTING_LIST);

	*ret_items = strv_const(value->items);
	return strv_count(value->items);
}

void
settings_worker_path(const struct settings *settings, const char *worker,
    const char *key, struct buf *out)
{
	size_t before = out->len;

	buf_addf(out, "workers.%s.%s", worker, key);
	if (value_find(settings, out->data + before) != NULL)
		return;
	buf_truncate(out, before);
	buf_addf(out, "defaults.%s", key);
}

size_t
settings_workers(const struct settings *settings, const char *const **ret_names)
{
	*ret_names = strv_const(settings->names[SETTINGS_NAMED_WORKERS]);
	return strv_count(settings->names[SETTINGS_NAMED_WORKERS]);
}

size_t
settings_agents(const struct settings *settings, const char *const **ret_names)
{
	*ret_names = strv_const(settings->names[SETTINGS_NAMED_AGENTS]);
	return strv_count(settings->names[SETTINGS_NAMED_AGENTS]);
}

const struct price_list *
settings_prices(const struct settings *settings)
{
	return &settings->prices;
}

const struct channel_list *
settings_channels(const struct settings *settings)
{
	return &settings->channels;
}

void
settings_oversight(
    const struct settings *settings, struct oversight_config *ret_config)
{
	const char *const *list;
	unsigned profile = PROFILE_DEFAULT, mode = OVERSIGHT_ACT;
	size_t count;

	word_find(oversight_mode_words,
	    settings_string(settings, "oversight.mode"), &mode);
	word_find(thresholds_profile_words,
	    settings_string(settings, "oversight.profile"), &profile);
	*ret_config = (struct oversight_config){
		.mode = (enum oversight_mode)mode,
		.profile = (enum thresholds_profile)profile,
	};
	thresholds_init(&ret_config->thresholds, ret_config->profile);
	count = settings_list(settings, "oversight.thresholds", &list);
	for (size_t i = 0; i < count; i++)
		thresholds_set(&ret_config->thresholds, list[i], NULL);
}

bool
settings_value(const struct settings *settings, const char *path,
    struct json_object **ret_value, unsigned *ret_line)
{
	const struct value *value = value_get(settings, path);

	if (value == NULL)
		return false;
	*ret_value = value_json(value);
	if (ret_line != NULL)
		*ret_line = value->line;
	return true;
}

void
settings_problems_release(struct settings_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		free(problems->list[i].text);
	free(problems->list);
	*problems = (struct settings_problems){ 0 };
}
