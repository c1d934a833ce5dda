/* SPDX-License-Identifier: ISC */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "mem.h"
#include "proxy-address.h"

#define LOOPBACK "a loopback address"
#define LOCAL    "a link-local address"
#define PRIVATE  "a private address"
#define RESERVED "a reserved address"
#define MANY     "a multicast address"

struct range {
	unsigned char bytes[16];
	unsigned bits;
	const char *kind;
};

static const struct range ranges4[] = {
	{ { 0 }, 8, RESERVED },
	{ { 10 }, 8, PRIVATE },
	{ { 100, 64 }, 10, PRIVATE }, /* of a provider */
	{ { 127 }, 8, LOOPBACK },
	{ { 169, 254 }, 16, LOCAL },
	{ { 172, 16 }, 12, PRIVATE },
	{ { 192, 0, 0 }, 24, RESERVED },
	{ { 192, 168 }, 16, PRIVATE },
	{ { 198, 18 }, 15, PRIVATE }, /* for benchmarks */
	{ { 224 }, 4, MANY },
	{ { 240 }, 4, RESERVED },
};

static const struct range ranges6[] = {
	{ { [15] = 1 }, 128, LOOPBACK },
	{ { 0 }, 128, RESERVED },
	{ { 0, 0x64, 0xff, 0x9b, 0, 1 }, 48, PRIVATE }, /* a local NAT64 */
	{ { 0xfc }, 7, PRIVATE },
	{ { 0xfe, 0x80 }, 10, LOCAL },
	{ { 0xfe, 0xc0 }, 10, PRIVATE },
	{ { 0xff }, 8, MANY },
};

/* Prefixes of IPv6 that an address of IPv4 follows. */
static const struct range around4[] = {
	{ { [10] = 0xff, [11] = 0xff }, 96, NULL }, /* mapped */
	{ { 0 }, 96, NULL }, /* compatible */
	{ { 0, 0x64, 0xff, 0x9b }, 96, NULL }, /* NAT64 */
	{ { 0x20, 0x02 }, 16, NULL }, /* 6to4 */
};

static const struct range *
find(const struct range *ranges, size_t count, const unsigned char *address)
{
	for (size_t i = 0; i < count; i++) {
		unsigned whole = ranges[i].bits / 8, rest = ranges[i].bits % 8;
		unsigned mask = 0xff00u >> rest & 0xffu;

		if (memcmp(ranges[i].bytes, address, whole) == 0 &&
		    (rest == 0 ||
			((ranges[i].bytes[whole] ^ address[whole]) & mask) ==
			    0))
			return &ranges[i];
	}
	return NULL;
}

const char *
proxy_address_kind(const char *address)
{
	unsigned char bytes[sizeof(struct in6_addr)];
	const struct range *range;

	if (inet_pton(AF_INET, address, bytes) == 1) {
		range = find(ranges4, nitems(ranges4), bytes);
		return range != NULL ? range->kind : NULL;
	}
	if (inet_pton(AF_INET6, address, bytes) != 1)
		return "no address";
	range = find(ranges6, nitems(ranges6), bytes);
	if (range != NULL)
		return range->kind;
	range = find(around4, nitems(around4), bytes);
	if (range == NULL)
		return NULL;
	range = find(ranges4, nitems(ranges4), bytes + range->bits / 8);
	return range != NULL ? range->kind : NULL;
}

bool
proxy_address_allowed(const char *address, enum proxy_verdict verdict)
{
	return verdict == PROXY_NAMED ||
	    (verdict == PROXY_BELOW && proxy_address_kind(address) == NULL);
}
