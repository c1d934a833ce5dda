/* SPDX-License-Identifier: ISC */

/*
 * The view: one document with everything that is shown of a workspace, and the
 * changes of it. It is an object of sections (view_sections): some are objects
 * ("head"), some are maps of rows by their id ("workers"), and "events" is a
 * list of which the last VIEW_EVENTS_MAX are kept, each with a number "n" that
 * grows. Pure.
 *
 * A change is {"set": {section: {key: row}}, "unset": {section: [key]},
 * "events": [...]}; a section that is an object is set as a whole.
 */
#ifndef VIEW_DOC_H
#define VIEW_DOC_H

struct json_object;

#define VIEW_EVENTS     "events"
#define VIEW_EVENTS_MAX 200

struct view_section {
	const char *name;
	bool map; /* of rows by id */
};

extern const struct view_section view_sections[]; /* ends with a NULL name */

/* A document with all sections, empty. The caller owns it. */
struct json_object *view_new(void);

/* A document from elsewhere, perhaps of another version: sections that it lacks
 * are added, and what is none is replaced by an empty one. Takes it. */
struct json_object *view_complete(struct json_object *view);

/* What has changed; NULL = nothing has. The caller owns it; it shares rows with
 * the new document. */
struct json_object *
view_diff(struct json_object *before, struct json_object *after);

/* Make the change; the document shares rows with it then. Sections of a later
 * version are passed over. -EINVAL: it is no such change, and the document may
 * have been changed in part. */
int view_apply(struct json_object *view, struct json_object *change);

/* The same sections (of a view, or of the "set" of a change), without what
 * makes rows of tasks and goals long. The caller owns it; it shares the other
 * rows. */
struct json_object *view_brief(struct json_object *sections);

/* A section, never NULL for a document of view_new(). */
struct json_object *view_of(struct json_object *view, const char *section);
/* A row of a section; NULL = none. */
struct json_object *
view_row(struct json_object *view, const char *section, const char *key);

#endif
