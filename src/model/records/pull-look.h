/* SPDX-License-Identifier: ISC */

/*
 * A look at a pull request: what the forge says about its state, its checks and
 * the remarks of people, and the requests that tell it. Nothing of that is
 * trusted: texts are bounded and cleaned. Pure.
 */
#ifndef PULL_LOOK_H
#define PULL_LOOK_H

#include "forge.h"

struct pull_row;

#define PULL_JOBS_MAX    8 /* failed ones that are told */
#define PULL_LOGS_MAX    3 /* ... of which the log is read */
#define PULL_LOG_MAX     6000 /* bytes, the end of one */
#define PULL_REMARKS_MAX 40
#define PULL_REMARK_MAX  4000 /* bytes of one */

/* --- what the forge says -------------------------------------------------- */

enum pull_state {
	PULL_OPEN,
	PULL_MERGED,
	PULL_CLOSED, /* by a person, without its work */
	PULL_STATE_COUNT
};

/* Strings are owned. */
struct pull {
	int64_t number;
	char *node; /* GitHub's id of it, for GraphQL; "" = none */
	char *url, *author;
	char *text; /* as it is, with our marker */
	char *head; /* the commit; "" = not said */
	char *commit; /* the one that it was merged as; "" = none */
	enum pull_state state;
	bool draft;
	bool conflict; /* it cannot be merged into its base as it is */
};

int pull_read(struct json_object *json, struct pull *ret_pull, struct err *err);
void pull_release(struct pull *pull);

enum pull_verdict {
	PULL_UNKNOWN, /* there is no check yet */
	PULL_RUNNING,
	PULL_GREEN,
	PULL_RED,
	PULL_STUCK, /* one was cancelled, or waits for a person */
	PULL_NONE, /* there are none, after a while */
	PULL_VERDICT_COUNT
};

/* A check that has failed. Strings are owned. */
struct pull_job {
	int64_t id; /* of the job, if its log can be asked for; 0 = not */
	char *name;
	char *log; /* the end of it, or what is said instead; may be "" */
};

struct pull_checks {
	size_t count, running, stuck; /* of all, green ones too */
	struct pull_job jobs[PULL_JOBS_MAX];
	size_t job_count, failed; /* those that are kept, and all */
};

void pull_checks_release(struct pull_checks *checks);
/* A page of check runs or of statuses, added. */
int pull_checks_read(struct json_object *json, struct pull_checks *checks,
    bool *ret_more, struct err *err);

/* Where a remark was made. */
enum pull_source {
	PULL_TALK, /* a comment on the whole */
	PULL_REVIEW, /* the words of a review */
	PULL_LINE, /* a comment on a line, of a review */
	PULL_SOURCE_COUNT
};

/* Strings are owned. */
struct pull_remark {
	enum pull_source source;
	int64_t id;
	char *login;
	char *path; /* "" = the whole */
	int64_t line; /* 0 = not known */
	char *text; /* cleaned */
	int trusted; /* may its author write: 1, 0; -1 = not asked yet */
	bool fresh; /* the row has not seen it yet */
	bool objects; /* its author wants changes, and has not agreed since */
};

struct pull_remarks {
	struct pull_remark list[PULL_REMARKS_MAX];
	size_t count;
};

/* Did GraphQL do it? Else words for a person, cleaned, in err. */
int pull_graphql(struct json_object *json, struct err *err);

/* --- a look -----------------------------------------------------------------
 *
 * The requests that tell how it is, one after the other; kept between looks, so
 * that the forge need not repeat what has not changed.
 *
 *   pull_look_begin(look, row);
 *   while (pull_look_request(look, row, &request))
 *           [if request.what is FORGE_ASK_PERMISSION, and that is known:
 *            pull_look_trust(look, request.login, writes); continue;]
 *           send it with pull_look_tag(look), and give the answer to
 *           pull_look_answer();
 *   pull_row_looked(row, look, ...);
 *
 * An answer that is to be asked again (FORGE_AGAIN) is not given: the same
 * request is made later. */

enum pull_look_step {
	PULL_LOOK_PULL,
	PULL_LOOK_RUNS,
	PULL_LOOK_STATUSES,
	PULL_LOOK_LOGS,
	PULL_LOOK_TALK,
	PULL_LOOK_REVIEWS,
	PULL_LOOK_LINES,
	PULL_LOOK_PEOPLE,
	PULL_LOOK_STEP_COUNT
};

struct pull_look {
	enum forge_dialect dialect;
	enum pull_look_step step; /* PULL_LOOK_STEP_COUNT = it is done */
	int page;
	size_t at; /* the log, the review or the remark that is asked about */
	struct pull pull;
	char *sha; /* that the checks are of */
	struct pull_checks runs, statuses;
	struct pull_remarks talk, reviews, lines;
	int64_t *review_ids; /* Gitea: whose comments are to be read */
	size_t review_count;
	char *tags[PULL_LOOK_STEP_COUNT]; /* NULL = none */
};

void pull_look_init(struct pull_look *look, enum forge_dialect dialect);
void pull_look_release(struct pull_look *look);
void pull_look_begin(struct pull_look *look, const struct pull_row *row);
/* The next one; false: that was all. Its strings are valid until the look
 * changes. */
bool pull_look_request(struct pull_look *look, const struct pull_row *row,
    struct forge_request *ret_request);
const char *pull_look_tag(const struct pull_look *look);
void pull_look_trust(struct pull_look *look, const char *login, bool writes);
/* text: the answer to FORGE_ASK_LOG, which is not JSON. verdict: FORGE_GOOD,
 * FORGE_SAME, FORGE_GONE or FORGE_REFUSED. login: who we are. */
int pull_look_answer(struct pull_look *look, const struct pull_row *row,
    const char *login, enum forge_verdict verdict, struct json_object *json,
    const char *text, size_t text_len, const char *tag, struct err *err);

#endif
