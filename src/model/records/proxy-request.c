/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "proxy-request.h"

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

#define PORT_HTTPS 443
#define PORT_HTTP  80
#define LABEL_MAX  63

/* A part of the text; not terminated. */
struct piece {
	const char *at;
	size_t len;
};

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool
piece_is(struct piece piece, const char *word)
{
	return piece.len == strlen(word) &&
	    strncasecmp(piece.at, word, piece.len) == 0;
}

/* An address in its usual form, so that each has one spelling. */
static bool
take_address(int family, const char *text, struct proxy_target *ret)
{
	unsigned char address[sizeof(struct in6_addr)];

	if (inet_pton(family, text, address) != 1)
		return false;
	inet_ntop(family, address, ret->host, sizeof ret->host);
	ret->literal = true;
	return true;
}

/* Resolvers read "1", "127.1", "0x7f.1" and "0177.0.0.1" as addresses; we do
 * not. */
static bool
looks_numeric(const char *name)
{
	const char *dot = strrchr(name, '.');
	const char *last = dot != NULL ? dot + 1 : name;

	return text_is_digit(*last);
}

static bool
valid_name(const char *name)
{
	size_t label = 0;

	for (const char *p = name; *p != '\0'; p++) {
		if (*p == '.') {
			if (label == 0 || p[-1] == '-')
				return false;
			label = 0;
			continue;
		}
		if (!text_is_letter(*p) && !text_is_digit(*p) && *p != '_' &&
		    *p != '-')
			return false;
		if ((*p == '-' && label == 0) || ++label > LABEL_MAX)
			return false;
	}
	return label > 0 && name[strlen(name) - 1] != '-';
}

static bool
take_host(struct piece piece, struct proxy_target *ret)
{
	char name[PROXY_HOST_MAX + 1];
	bool bracket = piece.len > 2 && piece.at[0] == '[' &&
	    piece.at[piece.len - 1] == ']';

	if (bracket) {
		piece.at++;
		piece.len -= 2;
	}
	if (piece.len == 0 || piece.len > PROXY_HOST_MAX)
		return false;
	for (size_t i = 0; i < piece.len; i++)
		name[i] = lower(piece.at[i]);
	name[piece.len] = '\0';
	ret->literal = false;
	if (strlen(name) != piece.len)
		return false;
	if (bracket)
		return take_address(AF_INET6, name, ret);
	if (name[piece.len - 1] == '.')
		name[piece.len - 1] = '\0';
	if (name[0] == '\0' || looks_numeric(name))
		return take_address(AF_INET, name, ret);
	if (!valid_name(name))
		return false;
	memcpy(ret->host, name, sizeof name);
	return true;
}

static bool
take_port(struct piece piece, unsigned *ret_port)
{
	unsigned port = 0;

	if (piece.len == 0 || piece.len > 5 || piece.at[0] == '0')
		return false;
	for (size_t i = 0; i < piece.len; i++) {
		if (!text_is_digit(piece.at[i]))
			return false;
		port = port * 10 + (unsigned)(piece.at[i] - '0');
	}
	if (port > UINT16_MAX)
		return false;
	*ret_port = port;
	return true;
}

/* "host", "host:port", "[address]:port"; port 0 = there must be one. */
static bool
take_authority(struct piece piece, unsigned port, struct proxy_target *ret)
{
	struct piece host = piece, rest = { NULL, 0 };
	size_t from = 0;
	const char *end;

	if (piece.len > 0 && piece.at[0] == '[') {
		end = memchr(piece.at, ']', piece.len);
		if (end == NULL)
			return false;
		from = (size_t)(end - piece.at);
	}
	end = memchr(piece.at + from, ':', piece.len - from);
	if (end != NULL) {
		host.len = (size_t)(end - piece.at);
		rest.at = end + 1;
		rest.len = piece.len - host.len - 1;
		if (!take_port(rest, &port))
			return false;
	}
	ret->port = port;
	return port != 0 && take_host(host, ret);
}

/* Up to the next separator, which is taken too; false if there is none. */
static bool
next_piece(struct piece *from, char separator, struct piece *ret)
{
	const char *end = memchr(from->at, separator, from->len);

	if (end == NULL)
		return false;
	ret->at = from->at;
	ret->len = (size_t)(end - from->at);
	from->at = end + 1;
	from->len -= ret->len + 1;
	return true;
}

/* The next line of a complete head, without its line end. */
static bool
next_line(struct piece *from, struct piece *ret)
{
	if (!next_piece(from, '\n', ret) || ret->len == 0 ||
	    ret->at[ret->len - 1] != '\r')
		return false;
	ret->len--;
	return true;
}

/* The length of the head with its empty line, 0 = not complete. */
static size_t
head_length(const char *bytes, size_t len)
{
	const char *end = memmem(bytes, len, "\r\n\r\n", 4);

	return end != NULL ? (size_t)(end - bytes) + 4 : 0;
}

static bool
is_token(struct piece piece)
{
	for (size_t i = 0; i < piece.len; i++)
		if (!text_is_letter(piece.at[i]) &&
		    !text_is_digit(piece.at[i]) &&
		    (piece.at[i] == '\0' ||
			strchr("!#$%&'*+-.^_`|~", piece.at[i]) == NULL))
			return false;
	return piece.len > 0;
}

static bool
is_text(struct piece piece, bool blanks)
{
	for (size_t i = 0; i < piece.len; i++) {
		unsigned char c = (unsigned char)piece.at[i];

		if (c == 0x7f || (c < 0x20 && c != '\t') ||
		    (!blanks && (c == ' ' || c == '\t' || c >= 0x80)))
			return false;
	}
	return true;
}

/* Every field must have a name; a folded line has none. */
static int
check_fields(struct piece rest, struct err *err)
{
	struct piece line, name;

	while (rest.len > 2) {
		if (!next_line(&rest, &line))
			return err_set(
			    err, -EINVAL, "a line of it ends without CR LF");
		if (!is_text(line, true) || !next_piece(&line, ':', &name) ||
		    !is_token(name))
			return err_set(
			    err, -EINVAL, "a header field is not valid");
	}
	return 0;
}

struct first_line {
	struct piece method, target, version;
};

static bool
split_first(struct piece line, struct first_line *ret)
{
	if (!next_piece(&line, ' ', &ret->method) ||
	    !next_piece(&line, ' ', &ret->target))
		return false;
	ret->version = line;
	return is_token(ret->method) && ret->target.len > 0 &&
	    is_text(ret->target, false) &&
	    (piece_is(line, "HTTP/1.1") || piece_is(line, "HTTP/1.0"));
}

/* http://host:port/path?query; the path may be missing. */
static bool
split_url(struct piece url, struct piece *ret_authority, struct piece *ret_path)
{
	static const char scheme[] = "http://";
	size_t skip = sizeof scheme - 1, at;

	if (url.len <= skip || strncasecmp(url.at, scheme, skip) != 0)
		return false;
	url.at += skip;
	url.len -= skip;
	for (at = 0; at < url.len; at++)
		if (strchr("/?#", url.at[at]) != NULL)
			break;
	*ret_authority = (struct piece){ url.at, at };
	*ret_path = (struct piece){ url.at + at, url.len - at };
	return memchr(url.at, '@', at) == NULL;
}

int
proxy_request_parse(const char *bytes, size_t len,
    struct proxy_request *ret_request, struct err *err)
{
	struct proxy_request request = { .head_len = head_length(bytes, len) };
	struct piece rest = { bytes, request.head_len }, line, authority, path;
	struct first_line first;
	int r;

	if (request.head_len > PROXY_HEAD_MAX ||
	    (request.head_len == 0 && len >= PROXY_HEAD_MAX))
		return err_set(err, -EINVAL, "the head is longer than %d bytes",
		    PROXY_HEAD_MAX);
	if (request.head_len == 0)
		return 0;
	if (!next_line(&rest, &line) || !split_first(line, &first))
		return err_set(err, -EINVAL, "its first line is not valid");
	r = check_fields(rest, err);
	if (r < 0)
		return r;
	request.tunnel = piece_is(first.method, "CONNECT");
	if (request.tunnel) {
		if (!take_authority(first.target, 0, &request.target))
			return err_set(err, -EINVAL,
			    "CONNECT needs a host name and a port");
	} else if (!split_url(first.target, &authority, &path) ||
	    !take_authority(authority, PORT_HTTP, &request.target))
		return err_set(err, -EINVAL,
		    "only CONNECT and http:// addresses with a plain host name "
		    "are served");
	*ret_request = request;
	return 1;
}

/* Fields that are between the program and us. */
static bool
is_for_proxy(struct piece name)
{
	static const char *const names[] = { "Connection", "Host", "Keep-Alive",
		"Proxy-Authorization", "Proxy-Connection", "Upgrade" };

	for (size_t i = 0; i < nitems(names); i++)
		if (piece_is(name, names[i]))
			return true;
	return false;
}

void
proxy_request_forward(
    const struct proxy_request *request, const char *bytes, struct buf *out)
{
	struct piece rest = { bytes, request->head_len }, line, name, value;
	struct piece authority, path;
	struct first_line first;

	if (!next_line(&rest, &line) || !split_first(line, &first) ||
	    !split_url(first.target, &authority, &path))
		return;
	buf_add(out, first.method.at, first.method.len);
	buf_adds(out, path.len > 0 && path.at[0] == '/' ? " " : " /");
	buf_add(out, path.at, path.len);
	buf_adds(out, " HTTP/1.1\r\nHost: ");
	buf_add(out, authority.at, authority.len);
	buf_adds(out, "\r\nConnection: close\r\n");
	while (rest.len > 2 && next_line(&rest, &line)) {
		value = line;
		if (next_piece(&value, ':', &name) && !is_for_proxy(name)) {
			buf_add(out, line.at, line.len);
			buf_adds(out, "\r\n");
		}
	}
	buf_adds(out, "\r\n");
}

struct rule {
	bool below; /* "*." */
	struct proxy_target target;
};

static bool
take_rule(const char *text, struct rule *ret)
{
	struct piece piece = { text, strlen(text) };

	ret->below = text_begins(text, "*.");
	if (ret->below) {
		piece.at += 2;
		piece.len -= 2;
	}
	return take_authority(piece, PORT_HTTPS, &ret->target) &&
	    !(ret->below && ret->target.literal);
}

static bool
is_below(const char *host, const char *name)
{
	size_t host_len = strlen(host), name_len = strlen(name);

	return host_len > name_len + 1 &&
	    host[host_len - name_len - 1] == '.' &&
	    strcmp(host + host_len - name_len, name) == 0;
}

enum proxy_verdict
proxy_rules_ask(const char *const *rules, const struct proxy_target *target)
{
	enum proxy_verdict verdict = PROXY_REFUSED;
	struct rule rule;

	for (size_t i = 0; rules != NULL && rules[i] != NULL; i++) {
		if (!take_rule(rules[i], &rule) ||
		    rule.target.port != target->port)
			continue;
		if (!rule.below && strcmp(rule.target.host, target->host) == 0)
			return PROXY_NAMED;
		if (rule.below && !target->literal &&
		    is_below(target->host, rule.target.host))
			verdict = PROXY_BELOW;
	}
	return verdict;
}

/* The rule for the host of a URL; NULL if it is not one of HTTP. */
static char *
rule_of_url(const char *url)
{
	bool secure = strncasecmp(url, "https://", 8) == 0;
	struct proxy_target target;
	struct piece piece;
	const char *at;

	if (!secure && strncasecmp(url, "http://", 7) != 0)
		return NULL;
	piece.at = url + (secure ? 8 : 7);
	piece.len = strcspn(piece.at, "/?#");
	at = memrchr(piece.at, '@', piece.len);
	if (at != NULL) {
		piece.len -= (size_t)(at + 1 - piece.at);
		piece.at = at + 1;
	}
	if (!take_authority(piece, secure ? PORT_HTTPS : PORT_HTTP, &target))
		return NULL;
	return xasprintf(strchr(target.host, ':') ? "[%s]:%u" : "%s:%u",
	    target.host, target.port);
}

char **
proxy_rules_effective(const char *const *hosts, const char *base_url)
{
	char **rules = NULL, *rule;

	if (hosts != NULL && hosts[0] != NULL)
		strv_add_all(&rules, hosts);
	else
		strv_add(&rules, PROXY_API_HOST);
	rule = base_url != NULL ? rule_of_url(base_url) : NULL;
	if (rule != NULL)
		strv_take(&rules, rule);
	return rules;
}
