/* SPDX-License-Identifier: ISC */

/*
 * What the channels send: the words of one message, in the form
 * that each of them wants. The texts come from sessions and programs: none of
 * them can become markup, a mention or a marker. Pure.
 */
#ifndef MESSAGE_BODY_H
#define MESSAGE_BODY_H

#include <stdbool.h>

#include "channel.h"

struct buf;
struct json_object;
struct message;

#define MESSAGE_LABELS 3

/* JSON for a webhook in the format; with CHANNEL_JSON, what a command gets. */
void message_webhook(
    const struct message *record, enum channel_format format, struct buf *out);

/* An issue: one line; its text with the evidence, ended by the marker; what
 * is said in an issue that exists. */
void message_issue_title(const struct message *record, struct buf *out);
void message_issue_body(const struct message *record, struct buf *out);
void message_comment(const struct message *record, struct buf *out);

/* The labels of an issue: "llmc", its level, "automated". */
const char *message_label(const struct message *record, int i);

/* Is this the text of the issue for failures with this signature? Only the
 * last line counts: that is ours. */
bool message_has_marker(const char *body, const char *signature);
/* Does the text end with the marks of this very event? */
bool message_has_event(const char *body, const struct message *record);

/* A notice on a desktop: a line, and a text whose markup is escaped. */
void message_desktop(
    const struct message *record, struct buf *title, struct buf *text);
const char *message_urgency(const struct message *record);

#endif
