/* SPDX-License-Identifier: ISC */

/* The sockets of the scratch repository (doctor-scene.h): where a word arrives
 * that a program sent, and where it did not. */
#ifndef DOCTOR_POST_H
#define DOCTOR_POST_H

struct doctor_post;
struct err;

/* The sockets that stay: abstract, two ports of 127.0.0.1, and one called sock
 * in each of two folders. */
int doctor_post_new(const char *abstract, const char *elsewhere,
    const char *given, struct doctor_post **ret_post, struct err *err);
void doctor_post_free(struct doctor_post *post); /* NULL is fine */

int doctor_post_tcp(const struct doctor_post *post);
int doctor_post_udp(const struct doctor_post *post);

/* The sockets in the folder .llmc of this root, as the daemon has them: the
 * people's, the worker's own and another worker's. Those of before are closed.
 */
int doctor_post_bind(struct doctor_post *post, const char *root,
    const char *worker, const char *other, struct err *err);

/* Create a file in `dir` for every socket at which the word has arrived: main,
 * other, abstract, tcp, udp, elsewhere, given. Never waits; the rest of the
 * mail is dropped. */
void doctor_post_collect(
    struct doctor_post *post, const char *word, const char *dir);

#endif
