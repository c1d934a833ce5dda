/* SPDX-License-Identifier: ISC */

/*
 * How much mail may be sent with mail_send and llmc mail send. What other parts
 * of this floor post is never refused for want of room. The mail of the last
 * minute is read from the store when it is opened, so that a restart does not
 * reset the limits.
 */
#ifndef TEAM_LIMIT_H
#define TEAM_LIMIT_H

struct err;
struct mail;
struct team_floor;
struct team_limit;

struct team_limit *team_limit_new(struct team_floor *floor);
void team_limit_free(struct team_limit *limit);

/* The book is open; it is about to be closed. */
void team_limit_opened(struct team_limit *limit);
void team_limit_closed(struct team_limit *limit);

/* May it be sent? 0, or a code of api.h with words. */
int team_limit_check(struct team_limit *limit, const char *from, const char *to,
    struct err *err);
/* It was posted. */
void team_limit_posted(struct team_limit *limit, const struct mail *mail);

#endif
