/* SPDX-License-Identifier: ISC */

/* What llmc top does at a key: asks the daemon, by the same methods as the
 * commands do, and says what it answered. Nothing here waits. */
#ifndef TOP_ACT_H
#define TOP_ACT_H

#include "top-ui.h"

struct cli;
struct json_object;
struct loop;
struct top_act;

/* on_words: what to tell the person, on one line; called from the loop, and
 * from top_act_send(). */
struct top_act *top_act_new(struct cli *cli, struct loop *loop,
    void (*on_words)(const char *words, void *arg), void *arg);
/* Requests that were sent stay with the daemon. */
void top_act_free(struct top_act *act);

/* Send TOP_PAUSE, TOP_RESUME, TOP_ACCEPT, TOP_REJECT or TOP_MESSAGE. commit:
 * the one that the person was shown, NULL = none. */
void top_act_send(
    struct top_act *act, const struct top_action *action, const char *commit);

/* The commit of a worker that accept and reject apply to, as the view shows it:
 * the reviewed one, else the last; NULL = none. Valid as long as the view. */
const char *top_act_commit(struct json_object *view, const char *worker);

#endif
