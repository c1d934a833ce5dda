/* SPDX-License-Identifier: ISC */

/* A recorded iteration in words. Long texts and lists are cut: the JSON has
 * all of them. */
#ifndef ITERATION_WORDS_H
#define ITERATION_WORDS_H

struct buf;
struct json_object;

/* Append it, a line for each fact that is known. objective: what was printed
 * last, owned by the caller; it is printed when it is another one. */
void iteration_words(struct json_object *iteration, const char *worker,
    char **objective, struct buf *out);

#endif
