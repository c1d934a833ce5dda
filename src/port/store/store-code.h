/* SPDX-License-Identifier: ISC */

/*
 * What a result code of SQLite means for the store. Only a file that is not a
 * database, or whose pages contradict each other, is damage (-EUCLEAN): all
 * else may pass, and moves no store aside. Pure.
 */
#ifndef STORE_CODE_H
#define STORE_CODE_H

/* 0 or a negative errno of store.h; code may be an extended one. */
int store_code_errno(int code);

#endif
