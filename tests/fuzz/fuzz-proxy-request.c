/* SPDX-License-Identifier: ISC */

/* A head that is taken names a host that has one spelling, is taken in the same
 * way when the rest of the stream follows, and is forwarded as one head. */

#include "fuzz.h"
#include "proxy-request.h"

static void
check_host(const struct proxy_target *target)
{
	cleanup_buf struct buf rule = BUF_INIT;
	const char *rules[2] = { NULL, NULL };

	buf_addf(&rule, strchr(target->host, ':') ? "[%s]:%u" : "%s:%u",
	    target->host, target->port);
	rules[0] = rule.data;
	if (target->port == 0 || target->port > UINT16_MAX ||
	    proxy_rules_ask(rules, target) != PROXY_NAMED)
		abort();
	for (const char *p = target->host; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f ||
		    strchr("/@%?#*", *p) != NULL || (*p >= 'A' && *p <= 'Z'))
			abort();
	if (target->host[0] == '-')
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	cleanup_buf struct buf out = BUF_INIT;
	struct proxy_request a, b;
	struct err err = { 0, "" };
	int r = proxy_request_parse(bytes, size, &a, &err);

	if (r < 0 && (r != -EINVAL || err.msg[0] == '\0'))
		abort();
	if (r == 0 && size >= PROXY_HEAD_MAX)
		abort();
	if (r <= 0)
		return 0;
	check_host(&a.target);
	if (a.head_len > size || a.head_len > PROXY_HEAD_MAX ||
	    proxy_request_parse(bytes, a.head_len, &b, NULL) != 1 ||
	    strcmp(a.target.host, b.target.host) != 0 ||
	    a.target.port != b.target.port)
		abort();
	if (a.tunnel)
		return 0;
	proxy_request_forward(&a, bytes, &out);
	if (memmem(out.data, out.len, "\r\n\r\n", 4) != out.data + out.len - 4)
		abort();
	return 0;
}
