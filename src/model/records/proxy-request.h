/* SPDX-License-Identifier: ISC */

/*
 * What a program in a box asks the proxy for, and whether it may have it. Pure.
 *
 * Two forms are understood: "CONNECT host:port" and a plain HTTP request for
 * "http://host/path". The reader is strict, for the bytes come from a worker: a
 * host that could be read in two ways (127.1, 0x7f000001) is refused.
 *
 * A rule is "name", "name:port", "*.name" or "*.name:port" (all names below
 * name, not name itself); a name may be an address, one of IPv6 in brackets.
 * Without a port it means port 443.
 */
#ifndef PROXY_REQUEST_H
#define PROXY_REQUEST_H

struct buf;
struct err;

#define PROXY_HEAD_MAX 16384 /* bytes, with the empty line at its end */
#define PROXY_HOST_MAX 253
#define PROXY_API_HOST "api.anthropic.com"

struct proxy_target {
	char host[PROXY_HOST_MAX + 1]; /* lower case; an address without
					* brackets, in its usual form */
	unsigned port;
	bool literal; /* the host is an address */
};

struct proxy_request {
	bool tunnel; /* CONNECT; otherwise plain HTTP */
	struct proxy_target target;
	size_t head_len; /* of the bytes that were given */
};

/* Read the head of a request. 1: *ret_request is set; 0: more bytes are needed;
 * -EINVAL with words: it is none that we serve, or longer than PROXY_HEAD_MAX.
 */
int proxy_request_parse(const char *bytes, size_t len,
    struct proxy_request *ret_request, struct err *err);

/* Append the head of a plain request as its server wants it: the path alone in
 * its first line, the Host that was asked for, nothing for the proxy, and the
 * connection closed after the answer. bytes as they were parsed. */
void proxy_request_forward(
    const struct proxy_request *request, const char *bytes, struct buf *out);

enum proxy_verdict {
	PROXY_REFUSED,
	PROXY_BELOW, /* allowed by a rule with "*." */
	PROXY_NAMED, /* allowed by its own name */
};

/* What the rules (NULL terminated) say. A rule that is not valid allows
 * nothing. */
enum proxy_verdict
proxy_rules_ask(const char *const *rules, const struct proxy_target *target);

/* The rules in force: those of the settings or, if there are none, the API of
 * Anthropic; and the host of ANTHROPIC_BASE_URL (NULL = not set), without which
 * the agent could not work. The caller frees them (buf.h). */
char **proxy_rules_effective(const char *const *hosts, const char *base_url);

/*
 * Where a name that a box asks for may lead. Pure.
 *
 * The owner of the domain of a rule "*.name" decides what the names below it
 * mean, and could have one mean this machine, its network, or the metadata
 * service of a cloud. Such an address takes a rule with that very name.
 */

/* What kind of address it is ("a loopback address"), or NULL if it is an
 * ordinary one of the internet. An IPv4 address inside of one of IPv6 counts as
 * itself; what is no address is of a kind too. */
const char *proxy_address_kind(const char *address);

/* May it be used for a name on which the rules gave this verdict? */
bool proxy_address_allowed(const char *address, enum proxy_verdict verdict);

#endif
