/* SPDX-License-Identifier: ISC */

/* The files of page/, compiled in: page/embed.sh makes the source of this. */
#ifndef PAGE_ASSETS_H
#define PAGE_ASSETS_H

#include "http-request.h"

struct page_asset {
	const unsigned char *plain;
	size_t plain_len;
	const unsigned char *gzip; /* the same, compressed */
	size_t gzip_len;
};

/* In the order of enum web_path, and of meson.build. */
#define PAGE_ASSET_COUNT (WEB_REPLAY + 1)
extern const struct page_asset page_assets[PAGE_ASSET_COUNT];

#endif
