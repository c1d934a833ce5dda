/* SPDX-License-Identifier: ISC */

/* The keys of llmc top: a character is its code point, and the others follow
 * after the last code point. */
#ifndef TOP_KEY_H
#define TOP_KEY_H

enum top_key {
	TOP_KEY_NONE = 0,
	TOP_KEY_TAB = '\t',
	TOP_KEY_ENTER = '\r',
	TOP_KEY_ESC = 0x1b,
	TOP_KEY_SPACE = ' ',
	TOP_KEY_BACKSPACE = 0x7f,
	TOP_KEY_UP = 0x110000,
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_BACKTAB, /* Shift-Tab */
	TOP_KEY_F1,
	TOP_KEY_F10,
	TOP_KEY_RESIZE, /* the terminal has another size */
	TOP_KEY_INTERRUPT, /* Ctrl-C */
	TOP_KEY_REDRAW, /* Ctrl-L */
	TOP_KEY_LAST = TOP_KEY_REDRAW
};

#endif
