/* SPDX-License-Identifier: ISC */

/* The table of settings as documents: the example file, the manual, JSON. */
#ifndef CONFIG_DOC_H
#define CONFIG_DOC_H

struct buf;
struct json_object;

void config_doc_toml(struct buf *out); /* examples/config.toml */
void config_doc_mdoc(struct buf *out); /* the keys in man/llmc.conf.5 */
struct json_object *config_doc_json(void);

#endif
