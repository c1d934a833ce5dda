/* SPDX-License-Identifier: ISC */

/*
 * How an event becomes an issue at Gitea or GitHub, or a comment on the issue
 * that exists for the same failure: one request after the other, each decided
 * from the answer to the last one. Labels are looked up and made first. What
 * was sent already, by a program that died before it could note that, is
 * recognised. Pure: port/people makes the requests.
 */
#ifndef ISSUE_DIALOG_H
#define ISSUE_DIALOG_H

#include "message.h"

struct buf;
struct err;
struct json_object;

#define ISSUE_PAGES_MAX 20 /* of labels, and of issues */

enum issue_step {
	ISSUE_LABELS, /* list them */
	ISSUE_LABEL, /* make one that is missing */
	ISSUE_FIND, /* the issue of this failure */
	ISSUE_CREATE,
	ISSUE_COMMENTS, /* is the event there already? */
	ISSUE_COMMENT,
	ISSUE_REOPEN,
	ISSUE_DONE
};

/* Members are the dialog's own; channel and record are borrowed. */
struct issue_dialog {
	const struct channel *channel;
	const struct message *record;
	enum issue_step step;
	int page;
	int64_t labels[MESSAGE_LABELS]; /* ids; 0 = not known */
	int label; /* that is made */
	int64_t issue; /* its number; 0 = none */
	int64_t comments; /* on it */
	bool closed;
};

void issue_dialog_begin(struct issue_dialog *dialog,
    const struct channel *channel, const struct message *record);

/* The next request: its method, and what is appended to url and body (empty =
 * none). Not after ISSUE_DONE. */
const char *issue_dialog_request(
    const struct issue_dialog *dialog, struct buf *url, struct buf *body);

/* Its answer; json is NULL if the body is none. 0, and the dialog is at its
 * next step; negative errno: it has failed, and is begun anew another time. */
int issue_dialog_answered(struct issue_dialog *dialog, int status,
    struct json_object *json, struct err *err);

/* The value of the Authorization header, appended; and what to accept. */
void issue_dialog_authorization(
    const struct channel *channel, const char *token, struct buf *out);
const char *issue_dialog_accept(const struct channel *channel);

#endif
