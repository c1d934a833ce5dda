/* SPDX-License-Identifier: ISC */

#include <stdbool.h>
#include <string.h>

#include "buf.h"
#include "config-doc.h"
#include "json.h"
#include "mem.h"
#include "settings.h"

#define WRAP 78

/* "repo.default_branch": the section's length, and the key. */
static size_t
section_len(const char *path, const char **ret_key)
{
	const char *dot = strrchr(path, '.');

	*ret_key = dot + 1;
	return (size_t)(dot - path);
}

/* Words as lines of at most WRAP columns, each begun with prefix. */
static void
add_wrapped(struct buf *out, const char *prefix, const char *text, size_t len)
{
	size_t column = 0, word;

	while (len > 0) {
		word = 0;
		while (word < len && text[word] != ' ')
			word++;
		if (column > 0 && column + 1 + word > WRAP) {
			buf_addc(out, '\n');
			column = 0;
		}
		if (column == 0) {
			buf_adds(out, prefix);
			column = strlen(prefix);
		} else {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, text, word);
		column += word;
		while (word < len && text[word] == ' ')
			word++;
		text += word;
		len -= word;
	}
	buf_addc(out, '\n');
}

static void
add_allowed(const struct setting *row, struct buf *out)
{
	cleanup_buf struct buf allowed = BUF_INIT;

	settings_describe_allowed(row, &allowed);
	buf_addf(out, "%s Value: %s.%s", row->help, allowed.data,
	    row->flags & SETTING_RESTART ?
		" A change counts after a restart of the daemon." :
		"");
}

void
config_doc_toml(struct buf *out)
{
	const char *last = "", *key;
	size_t last_len = 0, len;

	buf_adds(out,
	    "# Every setting of llmc, with its default. Copy what you want to "
	    "change to\n# .llmc/config.toml at the top of your repository, or "
	    "use: llmc config set.\n# Made by: llmc config doc\n");
	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		cleanup_buf struct buf text = BUF_INIT;

		len = section_len(row->path, &key);
		if (len != last_len || strncmp(row->path, last, len) != 0)
			buf_addf(out, "\n[%.*s]\n", (int)len, row->path);
		last = row->path;
		last_len = len;
		add_allowed(row, &text);
		buf_addc(out, '\n');
		add_wrapped(out, "# ", text.data, text.len);
		if (row->fallback != NULL)
			buf_addf(out, "%s = %s\n", key, row->fallback);
		else
			buf_addf(out, "# Default: %s.\n# %s = \"...\"\n",
			    row->derived, key);
	}
	buf_adds(out,
	    "\n# What stands in [defaults] can be set for one worker:\n"
	    "# [workers.adam]\n# model = \"opus\"\n");
}

/* Text as mdoc wants it: \ and " lose their meaning, a - before a word is one
 * to type, and no word is taken for a macro at the start of a line. */
static void
add_mdoc(struct buf *out, const char *text)
{
	bool begins = true; /* a word */

	for (; *text != '\0'; text++) {
		if (*text == '\\')
			buf_adds(out, "\\e");
		else if (*text == '"')
			buf_adds(out, "\\(dq");
		else if (*text == '-' && begins)
			buf_adds(out, "\\-");
		else if ((*text == '.' || *text == '\'') && begins)
			buf_addf(out, "\\&%c", *text);
		else
			buf_addc(out, *text);
		begins = *text == ' ';
	}
}

/* mdoc wants every sentence on lines of its own. */
static void
add_sentences(struct buf *out, const char *text)
{
	cleanup_buf struct buf safe = BUF_INIT;
	const char *end;

	add_mdoc(&safe, text);
	for (text = safe.data; *text != '\0'; text = end) {
		end = strstr(text, ". ");
		end = end != NULL ? end + 1 : text + strlen(text);
		add_wrapped(out, "", text, (size_t)(end - text));
		end += strspn(end, " ");
	}
}

void
config_doc_mdoc(struct buf *out)
{
	const char *last = "", *key;
	size_t last_len = 0, len;

	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		cleanup_buf struct buf text = BUF_INIT;

		len = section_len(row->path, &key);
		if (len != last_len || strncmp(row->path, last, len) != 0)
			buf_addf(out, "%s.Ss [%.*s]\\&\n.Bl -tag -width Ds\n",
			    i > 0 ? ".El\n" : "", (int)len, row->path);
		last = row->path;
		last_len = len;
		buf_addf(out, ".It Ic %s\n", key);
		add_allowed(row, &text);
		buf_addf(&text, " Default: %s.",
		    row->fallback != NULL ? row->fallback : row->derived);
		add_sentences(out, text.data);
	}
	buf_adds(out, ".El\n");
}

struct json_object *
config_doc_json(void)
{
	static const char *const types[SETTING_TYPE_COUNT] = {
		[SETTING_STRING] = "string",
		[SETTING_PATH] = "path",
		[SETTING_CHOICE] = "choice",
		[SETTING_BOOL] = "bool",
		[SETTING_INT] = "int",
		[SETTING_DURATION] = "duration",
		[SETTING_LIST] = "list",
		[SETTING_AMOUNT] = "amount",
	};
	struct json_object *list = json_object_new_array(), *json;

	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		cleanup_buf struct buf allowed = BUF_INIT;

		settings_describe_allowed(row, &allowed);
		json = json_object_new_object();
		json_set_string(json, "key", row->path);
		json_set_string(json, "type", types[row->type]);
		json_set_string(json, "default", row->fallback);
		json_set_string(json, "derived", row->derived);
		json_set_string(json, "allowed", allowed.data);
		json_set_bool(json, "restart", row->flags & SETTING_RESTART);
		json_set_string(json, "help", row->help);
		json_object_array_add(list, json);
	}
	return list;
}
