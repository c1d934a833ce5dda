/* SPDX-License-Identifier: ISC */

/* An issue of a forge that we have taken: what the book keeps of it, what is to
 * be done about it next, and what its comment says. Pure. */
#ifndef ISSUE_ROW_H
#define ISSUE_ROW_H

#include "forge.h"

struct buf;
struct schema;

enum forge_step {
	FORGE_WORKING, /* there is a task for it */
	FORGE_ENDED, /* the task has its outcome; the comment is to say so */
	FORGE_TOLD, /* ... it says so; the issue is to be closed or marked */
	FORGE_MARKED, /* ... it is; the claim is to be given up */
	FORGE_KEPT, /* ... it could not be: it is not to be taken again, for
		     * as long as it is offered */
	FORGE_STEP_COUNT
};

/* A row of the book. Strings are owned, NULL = not set. */
struct forge_row {
	int64_t number;
	char *url, *title;
	char *text; /* title and text as they were taken, or as they were when
		     * a person was asked about a change */
	char *task; /* "t17" */
	char *claim; /* the commit that origin has for us */
	int64_t epoch;
	int64_t renewed_ms; /* wall clock */
	int64_t comment; /* its id; 0 = not known, -1 = there can be none */
	enum forge_step step;
	bool good; /* it was done */
	char *commit; /* that landed */
	char *words; /* why it was not done, or how it has changed */
	bool hand; /* a person has named it: it needs no label */
	bool changed; /* it is not what it was; words says how */
	bool held; /* ... and its task waits for a person, or has waited */
	bool lost; /* somebody else has claimed it */
	bool unmarked; /* it could be neither closed nor marked */
	/* Not saved: */
	bool comment_unknown; /* no comment of ours was found: make it */
	bool stale; /* the comment is of an earlier time */
	int page; /* of comments that are looked through */
	bool waits; /* its work has landed, and is not at origin yet */
	int64_t looked_ms; /* at one that a person has named, wall clock */
};

extern const struct schema forge_row_schema;

/* What is to be done about it next. */
enum forge_duty {
	FORGE_REST,
	FORGE_FIND_COMMENT,
	FORGE_MAKE_COMMENT,
	FORGE_TELL_COMMENT,
	FORGE_MARK, /* close it, or set the label */
	FORGE_RENEW,
	FORGE_RELEASE,
	FORGE_FORGET,
	FORGE_WATCH, /* the list may not have it: has it changed? */
};

enum forge_duty forge_row_duty(const struct forge_row *row, int64_t now_ms);

/* The same number of milliseconds later it is due again; INT64_MAX = never. */
int64_t forge_row_wait_ms(const struct forge_row *row, int64_t now_ms);
/* The same for the look at one that the list may not have. */
int64_t forge_row_watch_ms(const struct forge_row *row, int64_t now_ms);

/* The first line of its comment, and the whole. */
void forge_row_marker(const struct forge_row *row, struct buf *out);
void forge_row_comment(const struct forge_row *row, struct buf *out);

/* Is it not what was taken any more? NULL = it is; else words for a person. */
const char *
forge_row_differs(const struct forge_row *row, const struct forge_issue *issue);
/* Is its text another one, whatever else? */
bool forge_row_is_edited(
    const struct forge_row *row, const struct forge_issue *issue);

/* What a row keeps of the text of an issue. */
void forge_issue_text(const struct forge_issue *issue, struct buf *out);

#endif
