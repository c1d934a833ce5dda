/* SPDX-License-Identifier: ISC */

/* What the two halves of the stub of a forge share. */
#ifndef STUB_FORGE_H
#define STUB_FORGE_H

#include "base.h"

#include <event2/http.h>
#include <event2/keyvalq_struct.h>

struct forge {
	struct loop *loop;
	int64_t port, with;
	bool gitea;
	int64_t ids; /* the last one */
	struct json_object *users, *issues, *comments, *events, *faults, *log;
	struct json_object *labels; /* of the repository */
	char *repo; /* the bare one; NULL = none */
	struct json_object *rules; /* NULL = none */
	struct json_object *pulls; /* which are issues, too */
	struct json_object *checks, *ci, *reviews, *lines;
};

/* One request. */
struct call {
	struct forge *forge;
	struct evhttp_request *request;
	const char *method;
	char *path; /* below the API */
	struct evkeyvalq query;
	struct json_object *body; /* NULL = none */
	const char *login; /* "" = nobody */
	struct json_object *answer; /* owned; NULL = an empty one */
	char *text; /* instead; owned */
	int status;
	struct json_object *fault; /* NULL = none; owned */
	struct loop_timer *timer;
};

/* --- stub-forge.c ------------------------------------------------------- */

const char *text_of(struct json_object *json, const char *key);
struct json_object *member(struct json_object *json, const char *key);
size_t length(struct json_object *list);
struct json_object *at(struct json_object *list, size_t i);
struct json_object *
numbered(struct json_object *list, const char *key, int64_t number);
struct json_object *user_json(const struct forge *forge, const char *login);
void touch(struct forge *forge, struct json_object *issue);
struct json_object *new_issue(struct forge *forge, struct json_object *body);
/* Those of a list with this issue; page by page, as a new list. */
struct json_object *
of_issue(const struct call *call, struct json_object *list, int64_t number);
void answer(struct call *call, int status, struct json_object *json);
void refuse(struct call *call, int status, const char *words);
/* The path without the beginning; NULL = it has another one. */
const char *below(const char *path, const char *start);

/* --- stub-forge-pulls.c ------------------------------------------- */

/* Paths of a repository; false: not one of them. */
bool serve_pulls(struct call *call, const char *path);
void serve_graphql(struct call *call);
/* Logs, which are elsewhere, for those who have no token. */
void serve_blob(struct call *call);
bool control_pulls(struct call *call, const char *what);
/* A new list. */
struct json_object *all_pulls(struct forge *forge);

#endif
