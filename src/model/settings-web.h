/* SPDX-License-Identifier: ISC */

/* The rows of [web]: a part of settings-table.c, and for it only. */
#ifndef SETTINGS_WEB_H
#define SETTINGS_WEB_H

#define SETTINGS_WEB_ROWS                                                     \
	{ .path = "web.enabled",                                              \
		.type = SETTING_BOOL,                                         \
		.fallback = "false",                                          \
		.help = "Serve a live page on 127.0.0.1, for you alone: "     \
			"llmc web prints its address with a secret token. "   \
			"Nothing can be changed there." },                    \
	{                                                                     \
		.path = "web.port", .type = SETTING_INT, .fallback = "0",     \
		.min = 0, .max = 65535,                                       \
		.help = "Port of that page. 0 means a free one, which only "  \
			"the overseer keeps over restarts of the daemon. A "  \
			"port that is chosen here can be taken by another "   \
			"user of the machine while neither of them runs; he " \
			"could then leave a page of his in your browser."     \
	}

#endif
