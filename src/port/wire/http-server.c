/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "http-request.h"
#include "http-server.h"
#include "loop.h"
#include "workspace.h"

#define BACKLOG 64

#define LOOPBACK "127.0.0.1"

#define LOGINS_BYTES_MAX 4096

int
http_listen(const char *name, unsigned port, struct err *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port) };
	cleanup_fd int fd = -1;
	int on = 1;

	if (name == NULL)
		name = LOOPBACK;
	if (inet_pton(AF_INET, name, &address.sin_addr) != 1)
		return err_set(err, -EINVAL, "%s is no IPv4 address", name);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return err_errno(err, -errno, "cannot make a socket");
	/* Else a port with connections of an earlier listener is not free. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (const struct sockaddr *)&address, sizeof address) == -1 ||
	    listen(fd, BACKLOG) == -1)
		return err_errno(
		    err, -errno, "cannot listen on %s:%u", name, port);
	return take_fd(&fd);
}

int
http_listens(int fd, const char *name, unsigned *ret_port, struct err *err)
{
	struct sockaddr_in address = { 0 };
	struct in_addr wanted = { htonl(INADDR_LOOPBACK) };
	int listens = 0, type = 0;
	socklen_t len = sizeof(int), size = sizeof address;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == -1 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == -1 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) == -1)
		return err_errno(err, -errno, "the socket of the page");
	if (!listens || type != SOCK_STREAM || address.sin_family != AF_INET ||
	    (name != NULL && inet_pton(AF_INET, name, &wanted) != 1) ||
	    address.sin_addr.s_addr != wanted.s_addr)
		return err_set(err, -EINVAL,
		    "the socket of the page does not listen on %s",
		    name != NULL ? name : LOOPBACK);
	if (ret_port != NULL)
		*ret_port = ntohs(address.sin_port);
	return 0;
}

#define HTTP_HEAD_MS 5000
#define HTTP_BODY_MS 15000

#define HTTP_WRITE_MS 10000 /* to take at least a part of an answer */

#define HTTP_LINGER_MS 2000 /* to read the answer, after its end */

/* Bytes that may wait in a stream before more are refused, behind one message
 * of any length: a large view takes its time. */
#define HTTP_UNSENT_MAX (1024 * 1024)

TAILQ_HEAD(http_conns, http_conn); /* the oldest first */

/* What the connections share. */
struct http_shared {
	struct loop *loop;
	http_server_fn *fn;
	void *arg;
	struct http_conns conns;
	int count, streams;
};

struct http_conn;

static void http_conn_new(struct http_shared *shared, int fd);
static struct http_conn *http_conn_victim(struct http_shared *shared);
static void http_conn_free(struct http_conn *conn);

struct http_server {
	struct http_shared shared;
	struct loop_listener *accepts;
	unsigned port;
	int listener;
};

static void
server_take(int fd, void *arg)
{
	struct http_shared *shared = arg;
	struct http_conn *victim = shared->count >= HTTP_CONNECTIONS_MAX ?
	    http_conn_victim(shared) :
	    NULL;

	if (victim != NULL)
		http_conn_free(victim);
	http_conn_new(shared, fd);
}

/* One that was inherited may have any flags. */
static int
check_listener(int fd, const char *address, unsigned *ret_port, struct err *err)
{
	int r = http_listens(fd, address, ret_port, err), flags;

	if (r < 0)
		return r;
	flags = fcntl(fd, F_GETFL);
	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1)
		return err_errno(err, -errno, "the socket of the page");
	return 0;
}

struct http_server *
http_server_new(struct loop *loop, int listener, const char *address,
    http_server_fn *fn, void *arg, struct err *err)
{
	struct http_server *server = xcalloc(1, sizeof *server);

	server->listener = listener;
	server->shared.loop = loop;
	server->shared.fn = fn;
	server->shared.arg = arg;
	TAILQ_INIT(&server->shared.conns);
	if (check_listener(listener, address, &server->port, err) < 0) {
		http_server_free(server);
		return NULL;
	}
	server->accepts =
	    loop_listener_new(loop, listener, server_take, &server->shared);
	return server;
}

void
http_server_free(struct http_server *server)
{
	struct http_conn *conn;

	if (server == NULL)
		return;
	while ((conn = TAILQ_FIRST(&server->shared.conns)) != NULL)
		http_conn_free(conn);
	loop_listener_free(server->accepts);
	fd_close(server->listener);
	free(server);
}

unsigned
http_server_port(const struct http_server *server)
{
	return server->port;
}

int
http_server_listener(const struct http_server *server)
{
	return server->listener;
}

enum step {
	STEP_HEAD, /* of the request, read */
	STEP_BODY, /* likewise */
	STEP_HANDED, /* the owner answers it, or streams */
	STEP_ANSWER, /* sent */
	STEP_LINGER, /* until the client has read it: closing before it has
		      * sent all would throw the answer away */
	STEP_END,
};

struct http_conn {
	TAILQ_ENTRY(http_conn) entry;
	struct http_shared *shared;
	enum step step;
	int fd;
	struct loop_watch *readable, *writable;
	struct loop_timer *timer;
	struct loop_call *settle;
	int64_t since_ms; /* of the step, or of the last progress in it */
	struct http_reader reader;
	struct buf body;
	struct buf out;
	size_t sent; /* bytes of out */
	size_t first; /* bytes of what was sent when nothing waited */
	size_t ignored; /* bytes that came after the head */
	bool ended; /* the client sends no more */
	struct http_exchange *exchange; /* NULL = none is handed out */
};

struct http_exchange {
	struct http_conn *conn; /* NULL = the client has gone */
	struct loop *loop;
	bool head_only, streams;
	struct loop_call *gone; /* NULL = no stream */
	void (*on_gone)(void *arg); /* NULL = it has been called */
	void *gone_arg;
};

static size_t
conn_unsent(const struct http_conn *conn)
{
	return conn->out.len - conn->sent;
}

/* The rest is done in conn_settle(), when the callbacks of this pass have
 * returned: nothing frees a connection under its user. */
static void
conn_enter(struct http_conn *conn, enum step step)
{
	conn->step = step;
	conn->since_ms = clock_mono_ms();
	loop_call_request(conn->settle);
}

static void
conn_lose_exchange(struct http_conn *conn)
{
	struct http_exchange *exchange = take_ptr(&conn->exchange);

	if (exchange == NULL)
		return;
	exchange->conn = NULL;
	conn->shared->streams -= exchange->streams;
	if (exchange->gone != NULL)
		loop_call_request(exchange->gone);
}

static void
http_conn_free(struct http_conn *conn)
{
	const struct linger none = { .l_onoff = 1 };

	/* Who does not read: the kernel would keep what it was sent, too. */
	if (conn_unsent(conn) > 0)
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
	conn_lose_exchange(conn);
	TAILQ_REMOVE(&conn->shared->conns, conn, entry);
	conn->shared->count--;
	loop_watch_free(conn->readable);
	loop_watch_free(conn->writable);
	loop_timer_free(conn->timer);
	loop_call_free(conn->settle);
	http_reader_release(&conn->reader);
	buf_release(&conn->body);
	buf_release(&conn->out);
	fd_close(conn->fd);
	free(conn);
}

/* Who makes room for another one: the oldest that reads or has read, then the
 * oldest that is no stream. NULL = all are streams. */
static struct http_conn *
http_conn_victim(struct http_shared *shared)
{
	struct http_conn *conn;

	TAILQ_FOREACH (conn, &shared->conns, entry)
		if (conn->step != STEP_HANDED && conn->step != STEP_ANSWER)
			return conn;
	TAILQ_FOREACH (conn, &shared->conns, entry)
		if (conn->exchange == NULL || !conn->exchange->streams)
			return conn;
	return NULL;
}

/* Send as much as the kernel takes. */
static void
conn_flush(struct http_conn *conn)
{
	ssize_t n;

	while (conn_unsent(conn) > 0) {
		n = send(conn->fd, conn->out.data + conn->sent,
		    conn_unsent(conn), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno != EAGAIN)
			conn_enter(conn, STEP_END);
		if (n == -1)
			return;
		conn->sent += (size_t)n;
		conn->since_ms = clock_mono_ms();
	}
	buf_release(&conn->out);
	conn->sent = 0;
	conn->first = 0;
}

static void
conn_send(struct http_conn *conn, const char *bytes, size_t len)
{
	/* Only what waits is kept. */
	if (conn->sent > conn_unsent(conn)) {
		buf_consume(&conn->out, conn->sent);
		conn->sent = 0;
	}
	buf_add(&conn->out, bytes, len);
	conn_flush(conn);
	loop_call_request(conn->settle);
}

static void
conn_answer(struct http_conn *conn, int status,
    const struct web_content *content, const char *body, bool head_only)
{
	cleanup_buf struct buf text = BUF_INIT;

	web_add_head(&text, status, content);
	if (!head_only && content->type != NULL)
		buf_add(&text, body, content->len);
	conn_enter(conn, STEP_ANSWER);
	conn_send(conn, text.data, text.len);
}

static void
conn_refuse(struct http_conn *conn, int status, bool head_only)
{
	const char *words = web_words(status);
	const struct web_content content = {
		.type = "text/plain; charset=utf-8", .len = strlen(words)
	};

	conn_answer(conn, status, &content, words, head_only);
}

/* --- reading --------------------------------------------------------- */

static void
conn_hand_out(struct http_conn *conn)
{
	struct http_exchange *exchange = xcalloc(1, sizeof *exchange);

	exchange->conn = conn;
	exchange->loop = conn->shared->loop;
	exchange->head_only = conn->reader.request.method == HTTP_HEAD;
	conn->exchange = exchange;
	conn_enter(conn, STEP_HANDED);
	conn->shared->fn(exchange, &conn->reader.request, conn->shared->arg);
}

static void
conn_read_body(struct http_conn *conn, const char *bytes, size_t len)
{
	size_t left = conn->reader.request.length - conn->body.len;

	buf_add(&conn->body, bytes, len < left ? len : left);
	if (len >= left)
		conn_hand_out(conn);
}

static void
conn_read_head(struct http_conn *conn, const char *bytes, size_t len)
{
	const struct http_head *request = &conn->reader.request;
	size_t before = conn->reader.taken, taken;
	int status = http_reader_feed(&conn->reader, bytes, len);

	if (status == 200 && request->method == HTTP_POST) {
		status = request->chunked           ? 411 :
		    request->length > HTTP_BODY_MAX ? 413 :
						      200;
		if (status == 200) {
			taken = conn->reader.taken - before;
			conn_enter(conn, STEP_BODY);
			conn_read_body(conn, bytes + taken, len - taken);
			return;
		}
	}
	if (status == 200)
		conn_hand_out(conn);
	else if (status != 0)
		conn_refuse(conn, status, false);
}

/* A client that ends while it is answered may still read; one that ends before
 * it has asked, or under a stream, has gone. */
static void
conn_on_end(struct http_conn *conn)
{
	conn->ended = true;
	if (conn->step == STEP_HEAD || conn->step == STEP_BODY ||
	    conn->step == STEP_LINGER ||
	    (conn->exchange != NULL && conn->exchange->streams))
		conn_enter(conn, STEP_END);
	loop_call_request(conn->settle);
}

static void
conn_on_readable(int fd, unsigned what, void *arg)
{
	struct http_conn *conn = arg;
	char bytes[HTTP_HEAD_MAX];
	ssize_t n;

	(void)what;
	n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n == -1)
		conn_enter(conn, STEP_END);
	else if (n == 0)
		conn_on_end(conn);
	else if (conn->step == STEP_HEAD)
		conn_read_head(conn, bytes, (size_t)n);
	else if (conn->step == STEP_BODY)
		conn_read_body(conn, bytes, (size_t)n);
	else {
		conn->ignored += (size_t)n;
		if (conn->ignored > HTTP_IGNORED_MAX)
			conn_enter(conn, STEP_END);
	}
}

static void
conn_on_writable(int fd, unsigned what, void *arg)
{
	struct http_conn *conn = arg;

	(void)fd;
	(void)what;
	conn_flush(conn);
	loop_call_request(conn->settle);
}

/* --- time ------------------------------------------------------------ */

/* How long the step may take without progress; 0 = any time. */
static int64_t
conn_limit(const struct http_conn *conn)
{
	switch (conn->step) {
	case STEP_HEAD:
		return HTTP_HEAD_MS;
	case STEP_BODY:
		return HTTP_BODY_MS;
	case STEP_ANSWER:
		return HTTP_WRITE_MS;
	case STEP_LINGER:
		return HTTP_LINGER_MS;
	case STEP_HANDED:
	case STEP_END:
		break;
	}
	return 0;
}

/* Browsers connect in advance: a client that sent nothing is not answered. */
static void
conn_on_time(void *arg)
{
	struct http_conn *conn = arg;
	int64_t limit = conn_limit(conn);

	if (limit == 0 || clock_mono_ms() - conn->since_ms < limit)
		loop_call_request(conn->settle);
	else if (conn->reader.taken > 0 &&
	    (conn->step == STEP_HEAD || conn->step == STEP_BODY))
		conn_refuse(conn, 408, false);
	else
		conn_enter(conn, STEP_END);
}

static void
conn_set_timer(struct http_conn *conn)
{
	int64_t limit = conn_limit(conn), left;

	if (limit == 0) {
		loop_timer_free(take_ptr(&conn->timer));
		return;
	}
	left = conn->since_ms + limit - clock_mono_ms();
	if (left < 0)
		left = 0;
	loop_timer_set(
	    &conn->timer, conn->shared->loop, left, conn_on_time, conn);
}

/* --- what to wait for next: the only place where one ends -------------- */

static void
conn_watch(struct http_conn *conn, struct loop_watch **watch, unsigned what,
    loop_watch_fn *fn, bool wanted)
{
	if (wanted == (*watch != NULL))
		return;
	if (!wanted) {
		loop_watch_free(take_ptr(watch));
		return;
	}
	*watch = loop_watch_new(conn->shared->loop, conn->fd, what, fn, conn);
	if (*watch == NULL)
		conn->step = STEP_END;
}

static void
conn_on_settle(void *arg)
{
	struct http_conn *conn = arg;

	if (conn->step == STEP_ANSWER && conn_unsent(conn) == 0) {
		shutdown(conn->fd, SHUT_WR);
		conn_enter(conn, conn->ended ? STEP_END : STEP_LINGER);
	}
	if (conn->step != STEP_END) {
		conn_watch(conn, &conn->readable, LOOP_READ, conn_on_readable,
		    !conn->ended);
		conn_watch(conn, &conn->writable, LOOP_WRITE, conn_on_writable,
		    conn_unsent(conn) > 0);
	}
	if (conn->step == STEP_END)
		http_conn_free(conn);
	else
		conn_set_timer(conn);
}

/* Takes the descriptor, serves it, and frees itself at its end. */
static void
http_conn_new(struct http_shared *shared, int fd)
{
	struct http_conn *conn = xcalloc(1, sizeof *conn);
	int on = 1;

	/* Changes are short and must not wait for each other. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	conn->shared = shared;
	conn->fd = fd;
	buf_init(&conn->body);
	buf_init(&conn->out);
	http_reader_init(&conn->reader);
	TAILQ_INSERT_TAIL(&shared->conns, conn, entry);
	shared->count++;
	conn->settle = loop_call_new(shared->loop, conn_on_settle, conn);
	conn_enter(conn, STEP_HEAD);
}

/* --- exchanges --------------------------------------------------------- */

/* The connection that it still has; NULL = none. */
static struct http_conn *
exchange_end(struct http_exchange *exchange)
{
	struct http_conn *conn = exchange->conn;

	if (conn != NULL) {
		conn->exchange = NULL;
		conn->shared->streams -= exchange->streams;
	}
	loop_call_free(exchange->gone);
	free(exchange);
	return conn;
}

const char *
http_body(const struct http_exchange *exchange, size_t *ret_len)
{
	*ret_len = exchange->conn->body.len;
	return exchange->conn->body.data;
}

void
http_reply(struct http_exchange *exchange, int status,
    const struct web_content *content, const char *body)
{
	bool head_only = exchange->head_only;
	struct http_conn *conn = exchange_end(exchange);

	if (conn != NULL)
		conn_answer(conn, status, content, body, head_only);
}

void
http_refuse(struct http_exchange *exchange, int status)
{
	bool head_only = exchange->head_only;
	struct http_conn *conn = exchange_end(exchange);

	if (conn != NULL)
		conn_refuse(conn, status, head_only);
}

/* Once. */
static void
exchange_on_gone(void *arg)
{
	struct http_exchange *exchange = arg;
	void (*fn)(void *arg) = exchange->on_gone;

	exchange->on_gone = NULL;
	if (fn != NULL)
		fn(exchange->gone_arg);
}

int
http_stream_begin(struct http_exchange *exchange,
    const struct web_content *content, void (*gone)(void *arg), void *arg)
{
	cleanup_buf struct buf head = BUF_INIT;
	struct http_conn *conn = exchange->conn;

	if (conn == NULL || exchange->head_only) {
		http_reply(exchange, 200, content, "");
		return -EPIPE;
	}
	if (conn->shared->streams >= HTTP_STREAMS_MAX) {
		http_refuse(exchange, 503);
		return -EMFILE;
	}
	exchange->streams = true;
	conn->shared->streams++;
	exchange->on_gone = gone;
	exchange->gone_arg = arg;
	exchange->gone =
	    loop_call_new(exchange->loop, exchange_on_gone, exchange);
	web_add_head(&head, 200, content);
	conn_send(conn, head.data, head.len);
	if (conn->ended)
		conn_enter(conn, STEP_END);
	return 0;
}

int
http_stream_send(struct http_exchange *exchange, const char *bytes, size_t len)
{
	struct http_conn *conn = exchange->conn;

	if (conn == NULL || conn->step == STEP_END)
		return -EPIPE;
	if (conn_unsent(conn) >= conn->first + HTTP_UNSENT_MAX) {
		conn_enter(conn, STEP_END);
		return -ENOBUFS;
	}
	if (conn_unsent(conn) == 0)
		conn->first = len;
	conn_send(conn, bytes, len);
	return conn->step == STEP_END ? -EPIPE : 0;
}

void
http_stream_end(struct http_exchange *exchange)
{
	struct http_conn *conn = exchange_end(exchange);

	if (conn != NULL && conn->step != STEP_END)
		conn_enter(conn, STEP_ANSWER);
}

/* A file of ours that other users cannot read. */
static int
check_private(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) == -1)
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return err_set(err, -EINVAL,
		    "%s is not a file that only you can read", path);
	return 0;
}

static int
read_token(
    const char *path, char ret_token[WEB_TOKEN_CHARS + 1], struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	int r = check_private(path, err);

	if (r == 0)
		r = file_read(path, WEB_TOKEN_CHARS + 1, &text, err);
	if (r < 0)
		return r;
	if (text.len > 0 && text.data[text.len - 1] == '\n')
		buf_truncate(&text, text.len - 1);
	if (strlen(text.data) != text.len || !web_token_valid(text.data))
		return err_set(err, -EINVAL, "%s is not a token", path);
	memcpy(ret_token, text.data, WEB_TOKEN_CHARS + 1);
	return 0;
}

int
web_files_token(const struct workspace *workspace,
    char ret_token[WEB_TOKEN_CHARS + 1], struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WEB_FILES_TOKEN);

	return read_token(path, ret_token, err);
}

/* An existing file would keep who can read it. */
static int
write_private(const char *path, const char *text, size_t len, struct err *err)
{
	if (unlink(path) == -1 && errno != ENOENT)
		return err_errno(err, -errno, "cannot replace %s", path);
	return file_replace(path, text, len, 0600, err);
}

void
web_files_new_token(char ret_token[WEB_TOKEN_CHARS + 1])
{
	unsigned char bytes[WEB_TOKEN_BYTES];

	arc4random_buf(bytes, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(ret_token + 2 * i, 3, "%02x", bytes[i]);
}

int
web_files_put_token(
    const struct workspace *workspace, const char *token, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WEB_FILES_TOKEN);
	char text[WEB_TOKEN_CHARS + 1];

	if (read_token(path, text, NULL) == 0 && strcmp(text, token) == 0)
		return 0;
	memcpy(text, token, WEB_TOKEN_CHARS);
	text[WEB_TOKEN_CHARS] = '\n';
	return write_private(path, text, sizeof text, err);
}

size_t
web_files_logins(
    const struct workspace *workspace, struct web_login *ret_logins)
{
	cleanup_free char *path = workspace_path(workspace, WEB_FILES_LOGINS);
	cleanup_buf struct buf text = BUF_INIT;
	size_t count = 0;
	char *line, *rest;

	if (check_private(path, NULL) < 0 ||
	    file_read(path, LOGINS_BYTES_MAX, &text, NULL) < 0)
		return 0;
	rest = text.data;
	while (count < WEB_LOGINS_MAX && (line = strsep(&rest, "\n")) != NULL) {
		struct web_login *login = &ret_logins[count];
		char *until = line;
		const char *problem = NULL;
		const char *session = strsep(&until, " ");

		if (!web_token_valid(session) || until == NULL)
			continue;
		login->until_unix = strtonum(until, 0, INT64_MAX, &problem);
		memcpy(login->session, session, WEB_TOKEN_CHARS + 1);
		count += problem == NULL;
	}
	return count;
}

int
web_files_put_logins(const struct workspace *workspace,
    const struct web_login *logins, size_t count, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WEB_FILES_LOGINS);
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < count; i++)
		buf_addf(&text, "%s %" PRId64 "\n", logins[i].session,
		    logins[i].until_unix);
	return write_private(path, text.data, text.len, err);
}

int
web_files_write_link(const struct workspace *workspace, const char *url,
    char **ret_path, struct err *err)
{
	cleanup_free char *path = workspace_path(workspace, WEB_FILES_LINK);
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	buf_addf(&text,
	    "<!DOCTYPE html>\n<title>llmc</title>\n"
	    "<meta name=\"referrer\" content=\"no-referrer\">\n"
	    "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n",
	    url);
	r = write_private(path, text.data, text.len, err);
	if (r == 0)
		*ret_path = take_ptr(&path);
	return r;
}
