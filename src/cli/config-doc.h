/* SPDX-License-Identifier: ISC */

/* The table of settings as documents: the example file, the manual, JSON. */
#ifndef CONFIG_DOC_H
#define CONFIG_DOC_H

struct buf;
struct json_object;
struct setting;

void config_doc_toml(struct buf *out); /* examples/config.toml */
void config_doc_mdoc(struct buf *out); /* the keys in man/llmc.conf.5 */
/* One key, as toml; its row may be that of another, such as [defaults]. */
void
config_doc_key(const char *path, const struct setting *row, struct buf *out);
/* An array: every key, or this one (row NULL = every). */
struct json_object *
config_doc_json(const char *path, const struct setting *row);

#endif
