/* SPDX-License-Identifier: ISC */

/*
 * Questions of agents to those that they work for: request_orchestrator, which
 * is answered when the question is, respond_orchestrator_request, and
 * request.answer for people. Questions of agents that were not spawned go to a
 * person. All of them are in the book: a call that is made again after the
 * daemon was away finds its question, and an answer that was given meanwhile.
 */
#ifndef TEAM_REQUEST_H
#define TEAM_REQUEST_H

struct agent;
struct event;
struct team_floor;
struct team_requests;

/* Registers its methods. */
struct team_requests *team_requests_new(struct team_floor *floor);
void team_requests_free(struct team_requests *requests);

/* The book can be used: read what is open. It cannot be used any more. */
void team_requests_opened(struct team_requests *requests);
void team_requests_closed(struct team_requests *requests);

/* Runs may have ended: so have their questions, and those to them. */
void team_requests_sweep(struct team_requests *requests);
void
team_requests_event(struct team_requests *requests, const struct event *event);

/* Answers of those who are on another host. */
void team_requests_look(struct team_requests *requests);

/* Does one of its tools wait for an answer? */
bool
team_requests_asks(struct team_requests *requests, const struct agent *agent);

/* How many have no answer. */
size_t team_requests_count(const struct team_requests *requests);

/* For llmc goal tree: how many questions of this actor have no answer, and why
 * it does not go on (the caller frees it; NULL = it does). words: with what it
 * asks, which is not for everybody. */
size_t team_requests_pending(struct team_requests *requests, const char *actor);
char *team_requests_reason(
    struct team_requests *requests, const char *actor, bool words);

#endif
