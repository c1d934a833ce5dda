/* SPDX-License-Identifier: ISC */

/*
 * A browser for tests: headless Chromium with one page, driven over a pipe
 * (--remote-debugging-pipe), with a HOME and a profile of its own. It reaches
 * 127.0.0.1 and nothing else; BROWSER_FOREIGN_HOST leads there too. It ends
 * with the test, whatever ends that.
 *
 * If something does not happen in time, the running test fails. Returned texts
 * are valid until browser_free().
 */
#ifndef BROWSER_H
#define BROWSER_H

#include "unit.h"

struct browser;

#define BROWSER_FOREIGN_HOST "rebound.test"

/* Its path; NULL = there is none here. UNIT_CHROMIUM names another one. */
const char *browser_program(void);

/* From unit_begin(): one program for all tests, which ends with them; each test
 * has a page that shares nothing with those of others. Otherwise each test
 * starts one. */
void browser_share(void);

struct browser *browser_new(void);
void browser_free(struct browser *browser);

void browser_set_size(struct browser *browser, int width, int height);
void browser_set_dark(struct browser *browser, bool dark);
void browser_set_print(struct browser *browser, bool print);

/* Run a script in every document from now on, before its own. */
void browser_prepare(struct browser *browser, const char *script);

/* Open an address; returns when the page and its files are loaded. */
void browser_open(struct browser *browser, const char *url);

/* The value of an expression of JavaScript, promises included, as text: strings
 * as they are, everything else as JSON; "null" if it leaves the page. */
const char *browser_value(struct browser *browser, const char *expression);
/* Wait until its value is "true". */
void browser_wait(struct browser *browser, const char *expression);

/* Press a key by its name: "Tab", "Enter". */
void browser_press(struct browser *browser, const char *key);

/* Let pages read the clipboard. */
void browser_allow_clipboard(struct browser *browser);

/* What a screen reader gets: a line for each element with "role level name",
 * level 0 = it has none, in an order that is not that of the page. */
const char *browser_read_aloud(struct browser *browser);

/* What the page has used of the processor, in milliseconds: to draw, too. */
double browser_used_ms(struct browser *browser);

/* Number of sheets of paper that it prints. */
int browser_sheets(struct browser *browser);

/* Everything that was written to the console since it began, one a line;
 * every address that was asked for. */
const char *browser_console(struct browser *browser);
const char *browser_requests(struct browser *browser);
/* The status of the last answer for a document. */
int browser_status(struct browser *browser);

/* Save what is seen as a PNG. */
void browser_save(struct browser *browser, const char *path);

/* --- of a test that has one ---------------------------------------------- */

extern struct browser *browser; /* that one; the test opens and frees it */

const char *page_value(const char *expression);
void page_expect(const char *expression, const char *wanted);
void page_wait(const char *expression);
/* Until the element with that id has these words. */
void page_wait_text(const char *id, const char *words);
/* Nothing that others wrote was run (an image that sets window.hurt), and the
 * console is empty. */
void page_expect_unhurt(void);
/* With UNIT_SHOTS=FOLDER, save it as FOLDER/NAME.png. */
void page_save(const char *name);

#endif
