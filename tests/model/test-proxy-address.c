/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "proxy-request.h"

static const struct {
	const char *address;
	const char *kind; /* NULL: of the internet */
} rows[] = {
	{ "0.0.0.0", "a reserved address" },
	{ "0.1.2.3", "a reserved address" },
	{ "1.0.0.0", NULL },
	{ "9.255.255.255", NULL },
	{ "10.0.0.0", "a private address" },
	{ "10.255.255.255", "a private address" },
	{ "11.0.0.0", NULL },
	{ "100.63.255.255", NULL },
	{ "100.64.0.0", "a private address" },
	{ "100.127.255.255", "a private address" },
	{ "100.128.0.0", NULL },
	{ "127.0.0.1", "a loopback address" },
	{ "127.255.255.254", "a loopback address" },
	{ "128.0.0.1", NULL },
	{ "169.253.255.255", NULL },
	{ "169.254.169.254", "a link-local address" },
	{ "169.255.0.0", NULL },
	{ "172.15.255.255", NULL },
	{ "172.16.0.1", "a private address" },
	{ "172.31.255.255", "a private address" },
	{ "172.32.0.0", NULL },
	{ "192.0.0.8", "a reserved address" },
	{ "192.0.2.1", NULL },
	{ "192.167.255.255", NULL },
	{ "192.168.1.1", "a private address" },
	{ "192.169.0.0", NULL },
	{ "198.17.255.255", NULL },
	{ "198.19.0.1", "a private address" },
	{ "198.20.0.0", NULL },
	{ "223.255.255.255", NULL },
	{ "224.0.0.1", "a multicast address" },
	{ "239.1.2.3", "a multicast address" },
	{ "240.0.0.1", "a reserved address" },
	{ "255.255.255.255", "a reserved address" },
	{ "::", "a reserved address" },
	{ "::1", "a loopback address" },
	{ "::2", "a reserved address" }, /* 0.0.0.2 */
	{ "fc00::1", "a private address" },
	{ "fd00:ec2::254", "a private address" },
	{ "fe00::1", NULL },
	{ "fe80::1", "a link-local address" },
	{ "febf::1", "a link-local address" },
	{ "fec0::1", "a private address" },
	{ "ff02::1", "a multicast address" },
	{ "2001:db8::1", NULL },
	{ "2606:4700::1", NULL },
	{ "::ffff:127.0.0.1", "a loopback address" },
	{ "::ffff:10.1.2.3", "a private address" },
	{ "::ffff:169.254.169.254", "a link-local address" },
	{ "::ffff:192.0.2.1", NULL },
	{ "::127.0.0.1", "a loopback address" },
	{ "64:ff9b::7f00:1", "a loopback address" },
	{ "64:ff9b::c000:201", NULL },
	{ "64:ff9b:1::1", "a private address" },
	{ "2002:7f00:1::1", "a loopback address" },
	{ "2002:a00:1::", "a private address" },
	{ "2002:c000:201::1", NULL },
	{ "127.1", "no address" },
	{ "x", "no address" },
	{ "", "no address" },
};

/* A name below a star leads to the internet; one that a rule names leads where
 * it likes; one that is refused leads nowhere. */
TEST_ROWS(an_address_is_of_its_kind, nitems(rows))
{
	const char *kind = proxy_address_kind(rows[_i].address);

	ck_assert_pstr_eq(kind, rows[_i].kind);
	ck_assert(proxy_address_allowed(rows[_i].address, PROXY_BELOW) ==
	    (rows[_i].kind == NULL));
	ck_assert(proxy_address_allowed(rows[_i].address, PROXY_NAMED));
	ck_assert(!proxy_address_allowed(rows[_i].address, PROXY_REFUSED));
}
