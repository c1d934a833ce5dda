/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "source-base.h"
#include "source-command.h"
#include "source-files.h"
#include "source-folder.h"
#include "source.h"
#include "strv.h"

static const struct source_kind *const kinds[] = {
	[SOURCE_COMMAND] = &source_command,
	[SOURCE_FILES] = &source_files,
	[SOURCE_FOLDER] = &source_folder,
};

_Static_assert(
    nitems(kinds) == SOURCE_TYPE_COUNT, "every type of source has its row");

/* --- the types -------------------------------------------------------- */

const struct source_kind *
source_kind_of(enum source_type type)
{
	return kinds[type];
}

const char *
source_type_name(enum source_type type)
{
	return kinds[type]->name;
}

bool
source_type_parse(const char *name, enum source_type *ret_type)
{
	for (size_t i = 0; i < nitems(kinds); i++) {
		if (strcmp(kinds[i]->name, name) != 0)
			continue;
		*ret_type = (enum source_type)i;
		return true;
	}
	return false;
}

unsigned
source_type_flags(enum source_type type)
{
	return kinds[type]->flags;
}

const char *
source_type_setting(enum source_type type)
{
	return kinds[type]->setting;
}

const char *
source_type_origin(enum source_type type)
{
	return kinds[type]->origin;
}

/* --- a source --------------------------------------------------------- */

int
source_new(const struct source_options *options, struct source **ret_source,
    struct err *err)
{
	const struct source_kind *kind = kinds[options->type];
	struct source *source = xcalloc(1, kind->size);
	int r;

	source_base_init(source, kind, options);
	r = kind->open(source, options, err);
	if (r < 0) {
		source_free(source);
		return r;
	}
	*ret_source = source;
	return 0;
}

void
source_free(struct source *source)
{
	if (source == NULL)
		return;
	source->kind->close(source);
	source_base_release(source);
	free(source);
}

const char *
source_kind(const struct source *source)
{
	return source->kind->name;
}

unsigned
source_flags(const struct source *source)
{
	return source->kind->flags;
}

void
source_ask(struct source *source, const char *const *labels,
    const char *const *keys, source_fn *fn, void *arg)
{
	source_base_ask(source, labels, keys, fn, arg);
}

bool
source_asking(const struct source *source)
{
	return source->fn != NULL;
}

int
source_take(
    struct source *source, const char *key, const char *worker, struct err *err)
{
	return source->kind->take(source, key, worker, err);
}

int
source_settle(struct source *source, const char *key, enum task_outcome outcome,
    const char *note, struct err *err)
{
	if (source->kind->settle == NULL)
		return 0;
	return source->kind->settle(source, key, outcome, note, err);
}

int
source_recover(struct source *source, const char *const *keys, struct err *err)
{
	if (source->kind->recover == NULL)
		return 0;
	return source->kind->recover(source, keys, err);
}

int
source_watch(
    struct source *source, void (*fn)(void *arg), void *arg, struct err *err)
{
	if (source->kind->watch == NULL)
		return 0;
	return source->kind->watch(source, fn, arg, err);
}

const char *const *
source_quarantined(const struct source *source)
{
	return strv_const(source->quarantined);
}

/* --- what people do with it ------------------------------------------- */

static int
refuse(const struct source *source, const char *what, struct err *err)
{
	return err_set(
	    err, -ENOTSUP, "%s; %s there", source->kind->elsewhere, what);
}

int
source_add(struct source *source, const struct task_head *head,
    const char *prompt, char **ret_key, char **ret_path, struct err *err)
{
	if (source->kind->add == NULL)
		return refuse(source, "add them", err);
	return source->kind->add(
	    source->where, head, prompt, ret_key, ret_path, err);
}

char *
source_maker(struct source *source, const char *key)
{
	return source->kind->maker == NULL ?
	    NULL :
	    source->kind->maker(source->where, key);
}

int
source_retry(
    struct source *source, const char *key, const char *commit, struct err *err)
{
	if (source->kind->retry == NULL)
		return refuse(source, "try them again", err);
	return source->kind->retry(source->where, key, commit, err);
}

int
source_prioritize(struct source *source, const char *key,
    enum priority priority, struct err *err)
{
	if (source->kind->prioritize == NULL)
		return refuse(source, "give them a priority", err);
	return source->kind->prioritize(source, key, priority, err);
}

int
source_drop(struct source *source, const char *key, struct err *err)
{
	if (source->kind->drop == NULL)
		return refuse(source, "drop them", err);
	return source->kind->drop(source->where, key, err);
}

int
source_edit(struct source *source, const char *key, const char *before,
    const char *prompt, struct err *err)
{
	if (source->kind->edit == NULL)
		return refuse(source, "edit them", err);
	return source->kind->edit(source, key, before, prompt, err);
}

/* --- looking only ----------------------------------------------------- */

struct json_object *
source_list(
    enum source_type type, const char *where, size_t limit, struct err *err)
{
	if (kinds[type]->list == NULL)
		return json_object_new_array();
	return kinds[type]->list(where, limit, err);
}

char *
source_text(enum source_type type, const char *where, const char *key,
    const char *status)
{
	if (kinds[type]->text == NULL)
		return NULL;
	return kinds[type]->text(where, key, status);
}

int64_t
source_count_todo(enum source_type type, const char *where)
{
	if (kinds[type]->count_todo == NULL)
		return -1;
	return kinds[type]->count_todo(where);
}
