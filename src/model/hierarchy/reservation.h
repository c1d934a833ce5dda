/* SPDX-License-Identifier: ISC */

/*
 * Files and folders that an agent has reserved for itself, for a time. A folder
 * covers what is in it (scope-path.h). Pure; strings are owned, NULL = not set;
 * times are wall clock milliseconds.
 */
#ifndef RESERVATION_H
#define RESERVATION_H

struct err;
struct json_object;

#define RESERVATION_TTL_MS (3600 * 1000) /* the default */
#define RESERVATION_MAX    200 /* of one agent */

struct reservation {
	char *id; /* V_...: made of actor and path */
	char *actor, *worker; /* whose it is */
	char *task, *run; /* it ends with them; NULL = none */
	char *path; /* in its shortest form; "" = everything */
	char *reason;
	int64_t created_ms, until_ms;
	bool ended; /* released, or its time is over */
};

struct reservation *reservation_new(void);
void reservation_free(struct reservation *reservation);

/* The same for the same agent and path; the caller frees it. */
char *reservation_id(const char *actor, const char *path);

/* The record in the book; its status is "open" until it has ended. */
struct json_object *reservation_to_json(const struct reservation *reservation);
/* -EINVAL with the path of what is wrong. */
int reservation_from_json(struct json_object *json, const char *at,
    struct reservation **ret_reservation, struct err *err);

/* Is it in force? */
bool reservation_holds(const struct reservation *reservation, int64_t now_ms);
/* Does it keep this agent from that path? */
bool reservation_blocks(const struct reservation *reservation,
    const char *actor, const char *path, int64_t now_ms);

/* "adam (actor:task:t3)", for a sentence; the caller frees it. */
char *reservation_owner(const struct reservation *reservation);

/* The paths of a call in their shortest form, each once, without those that
 * another one of them covers; for strv_free(). -EINVAL with words: a path is
 * absolute, or leads out of the repository. */
int reservation_paths(
    struct json_object *paths, char ***ret_paths, struct err *err);

#endif
