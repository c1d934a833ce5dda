/* SPDX-License-Identifier: ISC */

/*
 * The view (view-doc.h) for commands that show it: from the daemon, and as it
 * changes; from the files while none runs, or one that knows no view. What a
 * daemon showed last stays while it is away.
 */
#ifndef VIEW_SOURCE_H
#define VIEW_SOURCE_H

#include <stdbool.h>

struct cli;
struct err;
struct json_object;
struct loop;
struct settings;
struct state;
struct view_source;

/* What the files say about it, into a view of view_new(): enough for
 * view_needs(). */
void view_source_fill(struct cli *cli, const struct settings *settings,
    const struct state *state, struct json_object *view);

/* The view once. CLI_OK and a view that the caller owns, or the failure is
 * reported. *ret_live: a daemon answered. */
int view_source_once(
    struct cli *cli, struct json_object **ret_view, bool *ret_live);

/* Follow it: fn is called from the loop whenever the view, or whether it is
 * live, has changed. Begins with what the files say. CLI_OK, or the failure is
 * reported. Free it before the loop; the cli must live as long. */
int view_source_new(struct cli *cli, struct loop *loop, void (*fn)(void *arg),
    void *arg, struct view_source **ret_source);
void view_source_free(struct view_source *source);

/* Borrowed; never NULL, and replaced or changed before fn is called. */
struct json_object *view_source_view(const struct view_source *source);
/* Does the daemon send its changes? */
bool view_source_live(const struct view_source *source);

#endif
