/* SPDX-License-Identifier: ISC */

/*
 * What `llmc verify` does: check the artifacts of a contract in a commit. It is
 * a program of its own, with a deadline, so that neither git nor a big file
 * holds the daemon up. Nothing that the contract says is executed.
 *
 * Its request is a JSON object:
 *
 *   root      the user's working tree, whose repository has the commits
 *   contract  (contract.h)
 *   commit    that would land; "" = there is none
 *   base      where the work began; "" = not known: everything is new
 *   reported  was there a completion report?
 *   keep      folder for the artifacts if the checks fail
 */
#ifndef VERIFY_RUN_H
#define VERIFY_RUN_H

struct err;
struct json_object;

/* Folders beside `keep` that stay; older ones are removed. */
#define VERIFY_KEPT_MAX 50

/* *ret_result (contract.h) is the caller's; if files were kept, it has
 * the folder as "kept". Negative errno: nothing could be found out. */
int verify_run(struct json_object *request, struct json_object **ret_result,
    struct err *err);

#endif
