/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "http-request.h"

static const struct {
	const char *path;
	const char *type;
	bool open; /* without a token: no secret is there */
} paths[WEB_PATH_COUNT] = {
	[WEB_INDEX] = { "/", "text/html; charset=utf-8", true },
	[WEB_STYLE] = { "/page.css", "text/css; charset=utf-8", true },
	[WEB_SCRIPT] = { "/page.js", "text/javascript; charset=utf-8", true },
	[WEB_DESK] = { "/desk.js", "text/javascript; charset=utf-8", true },
	[WEB_REVIEW] = { "/review.js", "text/javascript; charset=utf-8", true },
	[WEB_CHARTS] = { "/charts.js", "text/javascript; charset=utf-8", true },
	[WEB_REPLAY] = { "/replay.js", "text/javascript; charset=utf-8", true },
	[WEB_ICON] = { "/favicon.ico", NULL, true },
	[WEB_VIEW] = { "/view", "text/event-stream", false },
	[WEB_METRICS] = { "/metrics",
	    "text/plain; version=0.0.4; charset=utf-8", false },
	[WEB_REPORT] = { "/report.json", "application/json", false },
	[WEB_API] = { WEB_API_PREFIX, "application/json", false },
	[WEB_LOGIN] = { "/login", "application/json", true },
};

/* Of every answer. There is no field that would let another origin in. */
static const char *const always[] = {
	("Content-Security-Policy: default-src 'none'; script-src 'self'; "
	 "style-src 'self'; connect-src 'self'; base-uri 'none'; "
	 "form-action 'none'; frame-ancestors 'none'"),
	"Cross-Origin-Resource-Policy: same-origin",
	"X-Content-Type-Options: nosniff",
	"Referrer-Policy: no-referrer",
	"Cache-Control: no-store",
	"Connection: close",
};

static const struct {
	int status;
	const char *reason;
	const char *field; /* one more; NULL = none */
	const char *words;
} answers[] = {
	{ 200, "OK", NULL, "" },
	{ 204, "No Content", NULL, "" },
	{ 400, "Bad Request", NULL, "This is not a request that is served.\n" },
	{ 401, "Unauthorized", "WWW-Authenticate: Bearer",
	    "This needs the token: open the address that llmc web prints.\n" },
	{ 403, "Forbidden", NULL,
	    "This comes from another page than the one that llmc serves.\n" },
	{ 404, "Not Found", NULL, "There is nothing here.\n" },
	{ 405, "Method Not Allowed", "Allow: GET, HEAD",
	    "Only GET and HEAD are served here, and POST below /api/.\n" },
	{ 408, "Request Timeout", NULL, "The request came too slowly.\n" },
	{ 409, "Conflict", NULL, "This is not possible now.\n" },
	{ 411, "Length Required", NULL,
	    "The length of the body must be said.\n" },
	{ 413, "Content Too Large", NULL,
	    "This is too long for the page: use llmc.\n" },
	{ 415, "Unsupported Media Type", NULL, "The body must be JSON.\n" },
	{ 414, "URI Too Long", NULL, "The path is too long.\n" },
	{ 421, "Misdirected Request", NULL,
	    "This is not the host that was asked for: open the address that "
	    "llmc web prints.\n" },
	{ 431, "Request Header Fields Too Large", NULL,
	    "The head of the request is too long.\n" },
	{ 503, "Service Unavailable", "Retry-After: 5",
	    "Too many pages are open: close one.\n" },
	{ 505, "HTTP Version Not Supported", NULL,
	    "Only HTTP/1.0 and HTTP/1.1 are served.\n" },
	/* The last one stands for what is not in the table. */
	{ 500, "Internal Server Error", NULL,
	    "This failed; see llmc log daemon.\n" },
};

static size_t
answer_index(int status)
{
	size_t i;

	for (i = 0; i < nitems(answers) - 1; i++)
		if (answers[i].status == status)
			break;
	return i;
}

bool
web_host_allowed(const struct http_head *request, unsigned port)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char host[HTTP_HOST_SIZE];

	for (size_t i = 0; i < nitems(names); i++) {
		snprintf(host, sizeof host, "%s:%u", names[i], port);
		/* Browsers leave out the usual port. */
		if (strcmp(request->host, host) == 0 ||
		    (port == 80 && strcmp(request->host, names[i]) == 0))
			return request->host_count == 1;
	}
	return false;
}

static bool
is_digit_of_token(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool
web_token_valid(const char *token)
{
	size_t len = 0;

	while (is_digit_of_token(token[len]))
		len++;
	return len == WEB_TOKEN_CHARS && token[len] == '\0';
}

bool
web_token_equal(const char *given, const char *token)
{
	volatile unsigned char differs = 0;

	if (!web_token_valid(token) || strlen(given) != WEB_TOKEN_CHARS)
		return false;
	for (size_t i = 0; i < WEB_TOKEN_CHARS; i++)
		differs |= (unsigned char)(given[i] ^ token[i]);
	return differs == 0;
}

#define HTTPS "https://"

bool
web_origin_valid(const char *origin)
{
	static const char marks[] = "abcdefghijklmnopqrstuvwxyz0123456789.-:[]";
	size_t skip = sizeof HTTPS - 1, len = strlen(origin);

	return len > skip && len < HTTP_HOST_SIZE &&
	    strncmp(origin, HTTPS, skip) == 0 &&
	    strspn(origin + skip, marks) == len - skip;
}

int
web_may_listen(const char *address, const char *origin, struct err *err)
{
	if (strcmp(address, WEB_LOOPBACK) == 0 || *origin != '\0')
		return 0;
	return err_set(err, -EPERM,
	    "the page is not opened on %s (web.listen), where others could "
	    "read along: let a program of yours speak TLS for it, and say "
	    "where with llmc config set web.origin https://...; or: llmc "
	    "config set web.listen " WEB_LOOPBACK,
	    address);
}

/* Of a browser: Origin is sent with every POST. */
static bool
is_our_page(const struct http_head *request, const char *public)
{
	cleanup_free char *origin = public != NULL ?
	    xstrdup(public) :
	    xasprintf("http://%s", request->host);

	return strcmp(request->origin, origin) == 0;
}

int
web_decide(const struct http_head *request, const struct web_rules *rules,
    enum web_path *ret_path)
{
	/* The address with TLS; NULL = ours. */
	const char *public = NULL;
	size_t i;

	if (!web_host_allowed(request, rules->port)) {
		if (!web_origin_valid(rules->origin) ||
		    request->host_count != 1 ||
		    strcmp(request->host, rules->origin + sizeof HTTPS - 1) !=
			0)
			return 421;
		public = rules->origin;
	}
	if (request->method == HTTP_OTHER)
		return 405;
	if (request->method != HTTP_POST && request->body)
		return 400;
	for (i = 0; i < nitems(paths); i++)
		if (strcmp(request->target, paths[i].path) == 0)
			break;
	if (strncmp(request->target, WEB_API_PREFIX,
		sizeof WEB_API_PREFIX - 1) == 0)
		i = WEB_API;
	if (request->method == HTTP_POST && i != WEB_API && i != WEB_LOGIN)
		return 405;
	if (request->method != HTTP_POST && i == WEB_LOGIN)
		return 404;
	if (i == nitems(paths) || (i == WEB_LOGIN && public == NULL))
		return 404;
	if (!paths[i].open &&
	    (public == NULL ? !web_token_equal(request->bearer, rules->token) :
			      !rules->is_session(request->session, rules->arg)))
		return 401;
	if (!paths[i].open && request->foreign)
		return 403;
	if (request->method == HTTP_POST) {
		if (request->foreign || !is_our_page(request, public))
			return 403;
		if (!request->json)
			return 415;
	}
	*ret_path = (enum web_path)i;
	return 200;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Until one of the ends, or the end of the query. */
static int
decode(const char **query, const char *ends, struct buf *out)
{
	const char *p = *query;

	buf_clear(out);
	for (; *p != '\0' && strchr(ends, *p) == NULL; p++) {
		int high, low;

		if (*p != '%') {
			buf_addc(out, *p == '+' ? ' ' : *p);
			continue;
		}
		high = hex_digit(p[1]);
		low = high >= 0 ? hex_digit(p[2]) : -1;
		if (low < 0 || (high == 0 && low == 0))
			return -EINVAL;
		buf_addc(out, (char)(high << 4 | low));
		p += 2;
	}
	*query = p;
	return text_utf8_valid(out->data, out->len) ? 0 : -EINVAL;
}

int
web_query_next(const char **query, struct buf *ret_name, struct buf *ret_value)
{
	if (**query == '\0')
		return 0;
	if (decode(query, "=&", ret_name) < 0 || ret_name->len == 0 ||
	    **query != '=')
		return -EINVAL;
	++*query;
	if (decode(query, "&", ret_value) < 0)
		return -EINVAL;
	if (**query == '&' && *++*query == '\0')
		return -EINVAL;
	return 1;
}

const char *
web_path_type(enum web_path path)
{
	return paths[path].type;
}

const char *
web_words(int status)
{
	return answers[answer_index(status)].words;
}

void
web_add_head(struct buf *out, int status, const struct web_content *content)
{
	size_t row = answer_index(status);

	buf_addf(out, "HTTP/1.1 %d %s\r\n", answers[row].status,
	    answers[row].reason);
	if (answers[row].field != NULL)
		buf_addf(out, "%s\r\n", answers[row].field);
	for (size_t i = 0; i < nitems(always); i++)
		buf_addf(out, "%s\r\n", always[i]);
	if (content->type != NULL) {
		buf_addf(out, "Content-Type: %s\r\n", content->type);
		if (content->gzip)
			buf_adds(out, "Content-Encoding: gzip\r\n");
		if (!content->endless)
			buf_addf(out, "Content-Length: %zu\r\n", content->len);
	}
	if (content->session != NULL)
		buf_addf(out,
		    "Set-Cookie: " WEB_COOKIE "=%s; Path=/; Max-Age=%d; "
		    "Secure; HttpOnly; SameSite=Strict\r\n",
		    content->session, WEB_SESSION_S);
	buf_adds(out, "\r\n");
}

/* A part of a line; not terminated. */
struct part {
	const char *at;
	size_t len;
};

static bool
part_is(struct part part, const char *word)
{
	return part.len == strlen(word) && memcmp(part.at, word, part.len) == 0;
}

static bool
part_is_any_case(struct part part, const char *word)
{
	return part.len == strlen(word) &&
	    strncasecmp(part.at, word, part.len) == 0;
}

/* What is before the separator, which is taken too; false if there is none. */
static bool
part_cut(struct part *from, char separator, struct part *ret)
{
	const char *end = memchr(from->at, separator, from->len);

	if (end == NULL)
		return false;
	*ret = (struct part){ from->at, (size_t)(end - from->at) };
	from->at = end + 1;
	from->len -= ret->len + 1;
	return true;
}

static struct part
part_trim(struct part part)
{
	while (part.len > 0 && (*part.at == ' ' || *part.at == '\t')) {
		part.at++;
		part.len--;
	}
	while (part.len > 0 &&
	    (part.at[part.len - 1] == ' ' || part.at[part.len - 1] == '\t'))
		part.len--;
	return part;
}

static void
part_copy(struct part part, char *out, size_t size)
{
	size_t len = part.len < size ? part.len : size - 1;

	memcpy(out, part.at, len);
	out[len] = '\0';
}

static bool
is_token(struct part part)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < part.len; i++) {
		char c = part.at[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') &&
		    memchr(marks, c, sizeof marks - 1) == NULL)
			return false;
	}
	return part.len > 0;
}

static bool
is_visible(struct part part)
{
	for (size_t i = 0; i < part.len; i++)
		if (part.at[i] <= ' ' || part.at[i] > '~')
			return false;
	return true;
}

static int
read_version(struct part version)
{
	if (part_is(version, "HTTP/1.1") || part_is(version, "HTTP/1.0"))
		return 0;
	return version.len == 8 && memcmp(version.at, "HTTP/", 5) == 0 ? 505 :
									 400;
}

/* 0, or the status to refuse it with. */
static int
read_request_line(struct http_head *request, struct part line)
{
	struct part method, target;

	if (!part_cut(&line, ' ', &method) || !is_token(method) ||
	    !part_cut(&line, ' ', &target) || !is_visible(target) ||
	    target.len == 0 || target.at[0] != '/')
		return 400;
	if (target.len >= sizeof request->target)
		return 414;
	request->method = part_is(method, "GET") ? HTTP_GET :
	    part_is(method, "HEAD")              ? HTTP_HEAD :
	    part_is(method, "POST")              ? HTTP_POST :
						   HTTP_OTHER;
	part_copy(target, request->target, sizeof request->target);
	return read_version(line);
}

/* --- fields: each returns 0 or the status to refuse the request with --- */

static int
read_host(struct http_reader *reader, struct part value)
{
	struct http_head *request = &reader->request;

	if (request->host_count++ == 0)
		part_copy(value, request->host, sizeof request->host);
	return 0;
}

static int
read_authorization(struct http_reader *reader, struct part value)
{
	struct http_head *request = &reader->request;
	struct part scheme;

	if (part_cut(&value, ' ', &scheme) &&
	    part_is_any_case(scheme, "Bearer"))
		part_copy(value, request->bearer, sizeof request->bearer);
	return 0;
}

/* Is it "q=0", "q=0.0", ...? */
static bool
is_never(struct part weight)
{
	weight = part_trim(weight);
	if (weight.len < 3 || strncasecmp(weight.at, "q=0", 3) != 0)
		return false;
	for (size_t i = 3; i < weight.len; i++)
		if (weight.at[i] != '.' && weight.at[i] != '0')
			return false;
	return true;
}

static int
read_encodings(struct http_reader *reader, struct part value)
{
	struct part item, name;
	bool more = true;

	while (more) {
		more = part_cut(&value, ',', &item);
		if (!more)
			item = value;
		if (!part_cut(&item, ';', &name)) {
			name = item;
			item.len = 0;
		}
		if (part_is_any_case(part_trim(name), "gzip"))
			reader->request.gzip = !is_never(item);
	}
	return 0;
}

static int
read_length(struct http_reader *reader, struct part value)
{
	struct http_head *request = &reader->request;

	if (value.len == 0)
		return 400;
	for (size_t i = 0; i < value.len; i++) {
		if (value.at[i] < '0' || value.at[i] > '9')
			return 400;
		if (request->length <= HTTP_BODY_MAX)
			request->length =
			    request->length * 10 + (size_t)(value.at[i] - '0');
	}
	request->body = request->body || request->length > 0;
	return 0;
}

static int
read_transfer(struct http_reader *reader, struct part value)
{
	(void)value;
	reader->request.body = true;
	reader->request.chunked = true;
	return 0;
}

static int
read_origin(struct http_reader *reader, struct part value)
{
	part_copy(value, reader->request.origin, sizeof reader->request.origin);
	return 0;
}

static int
read_site(struct http_reader *reader, struct part value)
{
	reader->request.foreign =
	    !part_is(value, "same-origin") && !part_is(value, "none");
	return 0;
}

static int
read_type(struct http_reader *reader, struct part value)
{
	struct part type = value;

	part_cut(&value, ';', &type);
	reader->request.json =
	    part_is_any_case(part_trim(type), "application/json");
	return 0;
}

static int
read_page(struct http_reader *reader, struct part value)
{
	part_copy(value, reader->request.page, sizeof reader->request.page);
	return 0;
}

static int
read_click(struct http_reader *reader, struct part value)
{
	part_copy(value, reader->request.click, sizeof reader->request.click);
	return 0;
}

/* Others may have set cookies for this name, too. */
static int
read_cookies(struct http_reader *reader, struct part value)
{
	struct part item, name;
	bool more = true;

	while (more) {
		more = part_cut(&value, ';', &item);
		if (!more)
			item = value;
		item = part_trim(item);
		if (part_cut(&item, '=', &name) && part_is(name, WEB_COOKIE))
			part_copy(item, reader->request.session,
			    sizeof reader->request.session);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*read)(struct http_reader *reader, struct part value);
	bool many; /* it may be there more than once */
} fields[] = {
	{ "Host", read_host, true }, /* counted */
	{ "Authorization", read_authorization, false },
	{ "Accept-Encoding", read_encodings, true },
	{ "Content-Length", read_length, false },
	{ "Transfer-Encoding", read_transfer, true },
	{ "Origin", read_origin, false },
	{ "Sec-Fetch-Site", read_site, false },
	{ "Content-Type", read_type, false },
	{ "X-Llmc-Page", read_page, false },
	{ "X-Llmc-Request", read_click, false },
	{ "Cookie", read_cookies, true },
};

/* A folded line begins with a blank, so its name is none. */
static int
read_field(struct http_reader *reader, struct part line)
{
	struct part name;

	if (!part_cut(&line, ':', &name) || !is_token(name))
		return 400;
	for (size_t i = 0; i < nitems(fields); i++)
		if (part_is_any_case(name, fields[i].name)) {
			if (!fields[i].many && (reader->seen & 1u << i) != 0)
				return 400;
			reader->seen |= 1u << i;
			return fields[i].read(reader, part_trim(line));
		}
	return 0;
}

static int
read_line(struct http_reader *reader)
{
	struct part line = { reader->line.data, reader->line.len };
	int status;

	if (!reader->begun)
		status = read_request_line(&reader->request, line);
	else
		status = line.len == 0 ? 200 : read_field(reader, line);
	reader->begun = true;
	buf_clear(&reader->line);
	return status;
}

static int
read_byte(struct http_reader *reader, char c)
{
	unsigned char byte = (unsigned char)c;

	if (++reader->taken > HTTP_HEAD_MAX)
		return 431;
	if (reader->cr || c == '\n') {
		if (!reader->cr || c != '\n')
			return 400;
		reader->cr = false;
		return read_line(reader);
	}
	if (c == '\r') {
		reader->cr = true;
		return 0;
	}
	if ((byte < ' ' && c != '\t') || byte == 0x7f)
		return 400;
	buf_addc(&reader->line, c);
	return 0;
}

void
http_reader_init(struct http_reader *reader)
{
	*reader = (struct http_reader){ .line = BUF_INIT };
}

void
http_reader_release(struct http_reader *reader)
{
	buf_release(&reader->line);
}

int
http_reader_feed(struct http_reader *reader, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len && reader->status == 0; i++)
		reader->status = read_byte(reader, bytes[i]);
	return reader->status;
}

/* --- requests of ours, by curl --------------------------------------- */

/* A week: more is nonsense, and days are what servers say at most. */
#define RETRY_MAX_S ((int64_t)7 * 24 * 60 * 60)
#define UNIX_MAX    ((int64_t)1 << 40)

/* One line of the file. Inside quotes curl knows five escapes; any other
 * control character is dropped, since none belongs into a value. */
static void
add_option(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, "%s = \"", name);
	for (; *value != '\0'; value++) {
		unsigned char c = (unsigned char)*value;

		if (c == '"' || c == '\\')
			buf_addf(out, "\\%c", c);
		else if (c >= ' ' && c != 0x7f)
			buf_addc(out, (char)c);
	}
	buf_adds(out, "\"\n");
}

static void
add_header(struct buf *out, const char *name, const char *value)
{
	struct buf line = BUF_INIT;

	buf_addf(&line, "%s: %s", name, value);
	add_option(out, "header", line.data);
	buf_release(&line);
}

void
curl_config(const struct http_request *r, struct buf *out)
{
	const char *file;

	add_option(out, "url", r->url);
	add_option(out, "request", r->method);
	add_option(out, "proto", "=http,https");
	buf_addf(out,
	    "silent\nshow-error\ninclude\nsuppress-connect-headers\ngloboff\n"
	    "max-time = %d\nconnect-timeout = %d\n",
	    CURL_MAX_SECONDS, CURL_CONNECT_SECONDS);
	if (!r->tail)
		buf_addf(out, "max-filesize = %d\n", CURL_ANSWER_MAX);
	add_header(
	    out, "Accept", r->accept != NULL ? r->accept : "application/json");
	if (r->event_id != NULL)
		add_header(out, "Idempotency-Key", r->event_id);
	if (r->authorization != NULL)
		add_header(out, "Authorization", r->authorization);
	if (r->known != NULL)
		add_header(out, "If-None-Match", r->known);
	if (r->body_file == NULL)
		return;
	add_header(out, "Content-Type", "application/json");
	add_option(out, "header", "Expect:");
	/* A file name keeps its control characters: as the escapes of curl,
	 * or it cannot be said. */
	file = r->body_file;
	buf_adds(out, "data-binary = \"@");
	for (; *file != '\0'; file++) {
		if (*file == '"' || *file == '\\')
			buf_addf(out, "\\%c", *file);
		else if (*file == '\n')
			buf_adds(out, "\\n");
		else if (*file == '\r')
			buf_adds(out, "\\r");
		else if (*file == '\t')
			buf_adds(out, "\\t");
		else if (*file == '\v')
			buf_adds(out, "\\v");
		else
			buf_addc(out, *file);
	}
	buf_adds(out, "\"\n");
}

/* --- the answer ------------------------------------------------------- */

/* Length of the line at s, without its end; *ret_next: where the next one
 * begins. */
static size_t
line_len(const char *s, size_t len, size_t *ret_next)
{
	const char *end = memchr(s, '\n', len);
	size_t n = end != NULL ? (size_t)(end - s) : len;

	*ret_next = end != NULL ? n + 1 : len;
	return n > 0 && s[n - 1] == '\r' ? n - 1 : n;
}

/* "HTTP/1.1 200 OK", "HTTP/2 200": 0 = it is none. */
static int
status_of(const char *line, size_t len)
{
	const char *space = memchr(line, ' ', len);
	size_t at = space != NULL ? (size_t)(space - line) + 1 : len;

	if (len < 5 || !text_begins(line, "HTTP/") || len < at + 3)
		return 0;
	for (size_t i = at; i < at + 3; i++)
		if (line[i] < '0' || line[i] > '9')
			return 0;
	if (len > at + 3 && line[at + 3] != ' ')
		return 0;
	return (line[at] - '0') * 100 + (line[at + 1] - '0') * 10 +
	    (line[at + 2] - '0');
}

/* The value of this header, without blanks around it; NULL = it is another
 * one. */
static const char *
value_of(const char *line, size_t len, const char *name, size_t *ret_len)
{
	size_t at = strlen(name);

	if (len <= at || strncasecmp(line, name, at) != 0)
		return NULL;
	while (at < len && (line[at] == ' ' || line[at] == '\t'))
		at++;
	*ret_len = len - at;
	return line + at;
}

/* A number that is not above max; -1 = it is none. A date counts as none. */
static int64_t
number_of(const char *line, size_t len, const char *name, int64_t max)
{
	const char *value = value_of(line, len, name, &len);
	int64_t number = 0;

	if (value == NULL || len == 0)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (value[i] < '0' || value[i] > '9')
			return -1;
		if (number < max)
			number = number * 10 + (value[i] - '0');
	}
	return number < max ? number : max;
}

/* What a line of the head says. */
static void
read_header(const char *line, size_t len, struct http_answer *answer,
    int64_t *remaining)
{
	int64_t retry = number_of(line, len, "retry-after:", RETRY_MAX_S);
	int64_t reset = number_of(line, len, "x-ratelimit-reset:", UNIX_MAX);
	int64_t left = number_of(line, len, "x-ratelimit-remaining:", UNIX_MAX);
	size_t tag_len = 0, place_len = 0;
	const char *tag = value_of(line, len, "etag:", &tag_len);
	const char *place = value_of(line, len, "location:", &place_len);

	if (retry >= 0)
		answer->retry_after_s = retry;
	if (reset >= 0)
		answer->reset_unix = reset;
	if (left >= 0)
		*remaining = left;
	if (tag != NULL && tag_len < sizeof answer->tag)
		snprintf(
		    answer->tag, sizeof answer->tag, "%.*s", (int)tag_len, tag);
	if (place != NULL) {
		answer->location = place;
		answer->location_len = place_len;
	}
}

int
http_answer_parse(const char *bytes, size_t len, struct http_answer *ret_answer)
{
	struct http_answer answer;
	size_t at = 0, next, n;
	int64_t remaining;

	do {
		n = line_len(bytes + at, len - at, &next);
		remaining = -1;
		answer =
		    (struct http_answer){ .status = status_of(bytes + at, n),
			    .retry_after_s = -1 };
		if (answer.status == 0)
			return -EBADMSG;
		do {
			at += next;
			n = line_len(bytes + at, len - at, &next);
			read_header(bytes + at, n, &answer, &remaining);
		} while (n > 0);
		at += next;
	} while (answer.status >= 100 && answer.status < 200 && at < len);
	/* While something is left of it, a limit says nothing. */
	if (remaining != 0)
		answer.reset_unix = 0;
	answer.body = bytes + at;
	answer.body_len = len - at;
	*ret_answer = answer;
	return 0;
}
