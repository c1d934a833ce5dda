/* SPDX-License-Identifier: ISC */

/* The files of page/, compiled in: page/embed.sh makes the source of this. */
#ifndef PAGE_ASSETS_H
#define PAGE_ASSETS_H

enum page_asset_name {
	PAGE_INDEX, /* in this order in meson.build */
	PAGE_STYLE,
	PAGE_SCRIPT,
	PAGE_ASSET_COUNT
};

struct page_asset {
	const unsigned char *plain;
	size_t plain_len;
	const unsigned char *gzip; /* the same, compressed */
	size_t gzip_len;
};

extern const struct page_asset page_assets[PAGE_ASSET_COUNT];

#endif
