/* SPDX-License-Identifier: ISC */

/*
 * Where a name that a box asks for may lead. Pure.
 *
 * Whoever runs the domain of a rule "*.name" decides what the names below it
 * mean, and could have one mean this machine, its network, or the metadata
 * service of a cloud. Such an address takes a rule with that very name.
 */
#ifndef PROXY_ADDRESS_H
#define PROXY_ADDRESS_H

#include <stdbool.h>

#include "proxy-request.h"

/* What kind of address it is ("a loopback address"), or NULL if it is an
 * ordinary one of the internet. An IPv4 address inside of one of IPv6 counts as
 * itself; what is no address is of a kind too. */
const char *proxy_address_kind(const char *address);

/* May it be used for a name on which the rules gave this verdict? */
bool proxy_address_allowed(const char *address, enum proxy_verdict verdict);

#endif
