/* SPDX-License-Identifier: ISC */

/*
 * Ask the owner of the workers: the daemon over its socket, or, if none is
 * running and the method allows it, `autod --oneshot` for this one request.
 */
#ifndef REMOTE_H
#define REMOTE_H

#include <stdbool.h>
#include <stdint.h>

struct cli;
struct err;
struct json_object;

/* Call a method of api.h; takes ownership of params. CLI_OK with *ret_result
 * (owned by the caller, may be NULL), or the failure is reported and its exit
 * status returned. deadline_ms 0 = a minute. */
int remote_call(struct cli *cli, const char *method, struct json_object *params,
    int64_t deadline_ms, struct json_object **ret_result);

/* Limit for git operations on a large repository. */
#define REMOTE_LONG_MS (30 * 60 * 1000)
/* A landing waits for its turn, for checks and for a clean checkout: until the
 * person has enough, or the daemon ends. */
#define REMOTE_LANDING_MS INT64_C(604800000)

/* The same without the report: false with a code for programs and a sentence
 * for people; *ret_result is then the data of the error. */
bool remote_try(struct cli *cli, const char *method, struct json_object *params,
    int64_t deadline_ms, struct json_object **ret_result, const char **ret_code,
    struct err *err);

/* What was committed to the book, whether or not a daemon answers: see
 * autod/look.h. Takes ownership of params (NULL = none). *ret_result is the
 * caller's. */
int remote_look(struct cli *cli, const char *name, struct json_object *params,
    struct json_object **ret_result, struct err *err);
/* Let autod write this document as the new state of the book. */
int remote_rebuild(struct cli *cli, struct json_object *state,
    struct json_object **ret_result, struct err *err);

/* {"worker": name}, the params of most methods. */
struct json_object *remote_worker(const char *name);

/* Where the daemon is asked: inside a worker's session at the socket of that
 * worker, which LLMC_WORKER names; else at the people's. The caller frees. */
char *remote_socket(struct cli *cli);

/* Is there a daemon that answers? */
bool remote_alive(struct cli *cli);

#endif
