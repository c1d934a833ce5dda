/* SPDX-License-Identifier: ISC */

/*
 * A forge, GitHub or Gitea, as a source of tasks: its address, the requests
 * that are made there and what their answers say, and what follows from that.
 * Pure: port/forge makes the requests, autod/forge acts.
 *
 * What a forge says is not trusted: texts are bounded and cleaned, and what an
 * issue says is fenced in the prompt, so that it cannot pass for words of ours.
 */
#ifndef FORGE_H
#define FORGE_H

#include "work-record.h"

struct buf;
struct err;
struct json_object;
struct schema;

enum forge_dialect {
	FORGE_NONE,
	FORGE_GITHUB,
	FORGE_GITEA,
	FORGE_DIALECT_COUNT
};

/* "local", "github", "gitea"; NULL terminated: auto.source. */
extern const char *const forge_dialect_words[FORGE_DIALECT_COUNT + 1];

/* As auto.source says, else forge.kind, else the URL of the remote origin if
 * that is at github.com. FORGE_NONE: nobody says it. */
enum forge_dialect
forge_dialect_of(const char *source, const char *kind, const char *origin);

#define FORGE_LABEL  "llmc" /* asks for an issue to be done */
#define FORGE_FAILED "llmc:failed" /* it was tried in vain */
#define FORGE_NEEDS  "llmc:needs-" /* a number: not before that is closed */

#define FORGE_TITLE_MAX 200 /* bytes */
#define FORGE_TEXT_MAX  ((size_t)48 * 1024)
#define FORGE_LOGIN_MAX 64
#define FORGE_NEEDS_MAX 8
#define FORGE_STAMP_MAX 40
#define FORGE_WORDS_MAX 2000 /* of ours, in a comment */
#define FORGE_LIST_MAX  50 /* entries of a page */
#define FORGE_PAGES_MAX 20 /* of comments and events */

#define FORGE_POLL_MS  (60 * 1000) /* between two looks at the list */
#define FORGE_WRITE_MS 1000 /* between two writes */
/* A claim that was not renewed for so long may be taken over. */
#define FORGE_CLAIM_MS (15 * 60 * 1000)
#define FORGE_RENEW_MS (5 * 60 * 1000)

/* --- where it is -------------------------------------------------------- */

/* Strings are owned. */
struct forge_place {
	enum forge_dialect dialect;
	char *api; /* "https://api.github.com", without a final slash */
	char *repo; /* "me/work" */
};

/* url and repo are settings, "" = as origin (the URL of the remote, NULL = not
 * known) says. -EINVAL with words that name the setting. */
int forge_place_init(struct forge_place *place, enum forge_dialect dialect,
    const char *url, const char *repo, const char *origin, struct err *err);
void forge_place_release(struct forge_place *place);
/* Can nobody on the way read what is sent there: https, or this machine? */
bool forge_is_private(const char *url);
/* The name of its server, as `gh` knows it; the caller frees it. */
char *forge_place_host(const struct forge_place *place);

/* The number of the issue that a person has named: "12", "#12", or its page,
 * which must be one of this repository. */
int forge_place_issue(const struct forge_place *place, const char *typed,
    int64_t *ret_number, struct err *err);

/* --- requests ----------------------------------------------------------- */

enum forge_ask {
	FORGE_ASK_USER, /* who we are */
	FORGE_ASK_REPO, /* what we may do with the repository */
	FORGE_ASK_ISSUES, /* page: open ones with our label */
	FORGE_ASK_ISSUE, /* number */
	FORGE_ASK_EVENTS, /* number, page: who set labels */
	FORGE_ASK_PERMISSION, /* login */
	FORGE_ASK_COMMENTS, /* number, page */
	FORGE_ASK_LABELS, /* page: those that the repository has */
	FORGE_ASK_PULLS, /* head, base: pull requests of a branch, any state */
	FORGE_ASK_PULL, /* number */
	FORGE_ASK_RUNS, /* sha, page: check runs; GitHub only */
	FORGE_ASK_STATUSES, /* sha, page */
	FORGE_ASK_LOG, /* id of a job: text, not JSON; GitHub only */
	FORGE_ASK_REVIEWS, /* number, page */
	FORGE_ASK_LINES, /* number, page: comments on lines; Gitea: of the
			  * review id */
	FORGE_ADD_COMMENT, /* number, text */
	FORGE_EDIT_COMMENT, /* id, text */
	FORGE_MAKE_LABEL, /* text */
	FORGE_ADD_LABEL, /* number; id, or 0 and text */
	FORGE_CLOSE, /* number; of a pull request, too */
	FORGE_MAKE_PULL, /* title, text, head, base, draft */
	FORGE_EDIT_PULL, /* number, text; title, NULL = as it is */
	FORGE_READY_PULL, /* GitHub: node; Gitea: number, title */
	FORGE_MERGE_PULL, /* number, sha, title, text: squashed */
	FORGE_QUEUE_PULL, /* node, sha: into the merge queue; GitHub only */
	FORGE_ASK_COUNT
};

struct forge_request {
	enum forge_ask what;
	int64_t number, id;
	int page; /* from 1 */
	const char *login, *text;
	const char *title, *head, *base, *sha, *node;
	bool draft;
};

bool forge_ask_writes(enum forge_ask what);

/* Its method; what is appended to url and body (empty = none). */
const char *forge_request(const struct forge_place *place,
    const struct forge_request *request, struct buf *url, struct buf *body);

/* What an answer with this status means. */
enum forge_verdict {
	FORGE_GOOD,
	FORGE_SAME, /* what was known is still so */
	FORGE_AGAIN, /* not now; try it again */
	FORGE_GONE, /* there is no such thing, or not any more */
	FORGE_REFUSED, /* it is no use to try it again */
};

/* limited: the answer says when to come back. */
enum forge_verdict forge_judge(int status, bool limited);

/* How long to wait after a request that failed for the tries-th time, from 0:
 * what the forge says (seconds, -1 = nothing; the time of a reset, 0 =
 * nothing), but at most an hour; else longer each time. */
int64_t forge_wait_ms(
    int tries, int64_t retry_after_s, int64_t reset_unix, int64_t now_ms);

/* --- answers ------------------------------------------------------------ */

/* Strings are owned. */
struct forge_issue {
	int64_t number;
	char *title; /* one line, without invisible characters */
	char *text; /* the same, with its lines */
	char *author, *url;
	char *updated; /* when it was changed last, as the forge says it */
	enum priority priority; /* of a label such as priority:high */
	/* Issues that are to be closed before, by labels such as
	 * llmc:needs-12. */
	int64_t needs[FORGE_NEEDS_MAX];
	size_t need_count;
	bool bot; /* its author is a program */
	bool open, labelled, failed;
	bool too_long;
};

struct forge_issues {
	struct forge_issue *list;
	size_t count;
};

/* One issue; -EBADMSG: it is none, or a pull request. */
int forge_issue_read(
    struct json_object *json, struct forge_issue *ret_issue, struct err *err);
void forge_issue_release(struct forge_issue *issue);

/* A list of them, without what is none; by priority, then by number. */
int forge_issues_read(
    struct json_object *json, struct forge_issues *ret_issues, struct err *err);
void forge_issues_release(struct forge_issues *issues);
/* Those of the next page, which is empty then, go to the others. */
void forge_issues_join(struct forge_issues *all, struct forge_issues *page);

/* May it be offered, apart from whom it comes from? NULL = yes; else why not,
 * "" = there is nothing to say about that. */
const char *forge_issue_unfit(const struct forge_issue *issue);

/* A page of events: the last one who has set our label; the caller frees it.
 * NULL = nobody, or (*ret_set) a program. *ret_more: ask for the next page. */
char *forge_labeller(struct json_object *json, enum forge_dialect dialect,
    bool *ret_more, bool *ret_set);

/* A page of labels, of the repository or of an issue: the id of the one of this
 * name, -1 = it has none; 0 = it is not there. */
int64_t
forge_label_find(struct json_object *json, const char *name, bool *ret_more);

/* May that person write to the repository? */
bool forge_may_write(struct json_object *json);

/* The login of the user that the answer describes; NULL = it has none. */
const char *forge_login(struct json_object *json);

/* Is this user a program? */
bool forge_is_bot(struct json_object *user);

/* A page of comments: the id of the one of `login` that begins with this
 * marker; 0 = it is not there. */
int64_t forge_comment_find(struct json_object *json, const char *login,
    const char *marker, bool *ret_more, struct err *err);

/* The id of what was made; 0 = it has none. */
int64_t forge_made_id(struct json_object *json);

/* --- texts -------------------------------------------------------------- */

/* Text that others have written: without comments of HTML, invisible characters
 * and control characters. */
void forge_clean(const char *text, size_t len, struct buf *out);
/* The same on one line, and cut; the caller frees it. */
char *forge_line(const char *text, size_t max);

/* The prompt. nonce: random, so that the issue cannot contain it. */
void forge_prompt(const struct forge_place *place,
    const struct forge_issue *issue, const char *nonce, struct buf *out);

/* The object of git that is a claim: the same for the same arguments. */
void forge_claim_commit(int64_t number, const char *tree, const char *owner,
    int64_t epoch, struct buf *out);

/* What the repository does not let us do; empty = it lets us do everything.
 * issues, pulls: what it is used for. */
void forge_repo_lacks(
    struct json_object *json, bool issues, bool pulls, struct buf *out);

#endif
