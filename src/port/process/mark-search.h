/* SPDX-License-Identifier: ISC */

/*
 * Which processes have a mark (remains.h) in their environment? All of /proc is
 * read for that: a few processes in each pass of the loop, and once for all who
 * ask at the same time. Who asks while /proc is being read waits for the next
 * time.
 */
#ifndef MARK_SEARCH_H
#define MARK_SEARCH_H

#include <stdbool.h>
#include <sys/types.h>

struct loop;
struct mark_search;

#define MARK_SEARCH_SLICE 50 /* processes that are read in one pass */

/* Call found for each process of our user that has the mark, and then done,
 * once; both from the loop. The search is gone when done is called; found frees
 * no search. */
struct mark_search *mark_search_new(struct loop *loop, const char *mark,
    void (*found)(pid_t pid, void *arg), void (*done)(void *arg), void *arg);
/* Nothing is called any more. NULL is allowed. */
void mark_search_free(struct mark_search *search);

/* Has this process the mark? One that is exiting has no environment. */
bool mark_is_on(pid_t pid, const char *mark);

#endif
