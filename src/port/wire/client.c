/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "api.h"
#include "backoff.h"
#include "client.h"
#include "id.h"
#include "loop.h"
#include "rpc.h"
#include "watch.h"
#include "workspace.h"

#define CLIENT_READ_SIZE 65536
#define CLIENT_CALL_ID   1 /* one call per connection */

#define FD_MAX 65535

/* Room for one descriptor and, by its padding, another: both are looked at. */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr head; /* for its alignment */
};

static bool
fits(const char *path)
{
	struct sockaddr_un address;

	return strlen(path) < sizeof address.sun_path;
}

static char *
outside_path(const struct workspace *workspace)
{
	cleanup_free char *name = NULL, *other = NULL;
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char hash[17];

	id_hash(workspace->root, hash, 16);
	name = xasprintf("llmc-%u-%s-autod.sock", (unsigned)getuid(), hash);
	if (runtime != NULL && *runtime == '/') {
		other = file_join(runtime, name);
		if (fits(other) && file_is_dir(runtime))
			return take_ptr(&other);
	}
	return file_join("/tmp", name);
}

char *
client_socket_path(const struct workspace *workspace)
{
	cleanup_free char *path = workspace_path(workspace, "autod.sock");

	return fits(path) ? take_ptr(&path) : outside_path(workspace);
}

/* Milliseconds left, as poll(2) wants them; 0 = none. */
static int
time_left(int64_t until_ms)
{
	int64_t left = clock_kernel_ms(until_ms - clock_mono_ms());

	if (left < 0)
		left = 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

static int
say_timeout(const char *path, struct err *err)
{
	return err_set(
	    err, -ETIMEDOUT, "%s: the daemon did not answer in time", path);
}

static int
wait_for(
    int fd, short events, const char *path, int64_t until_ms, struct err *err)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n;

	for (;;) {
		n = poll(&p, 1, time_left(until_ms));
		if (n > 0)
			return 0;
		if (n == 0)
			return say_timeout(path, err);
		if (errno != EINTR)
			return err_errno(err, -errno, "%s", path);
	}
}

/* poll(2) cannot wait for a listener whose queue is full, but connect(2) can,
 * as long as the send timeout lets it. */
static int
set_patience(int fd, int64_t until_ms)
{
	int left = time_left(until_ms);
	struct timeval tv = { .tv_sec = left / 1000,
		.tv_usec = left % 1000 * 1000 };

	if (left == 0)
		tv.tv_usec = 1; /* zero would mean no limit */
	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
}

/* A socket in /tmp could be anybody's. */
static int
check_peer(int fd, const char *path, struct err *err)
{
	struct ucred peer;
	socklen_t len = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == -1)
		return err_errno(err, -errno, "%s", path);
	if (peer.uid != geteuid())
		return err_set(err, -EACCES, "%s belongs to user %u", path,
		    (unsigned)peer.uid);
	return 0;
}

int
client_dial(const char *path, int64_t ms, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int64_t until_ms = clock_mono_ms() + ms;
	int type = SOCK_STREAM | SOCK_CLOEXEC | (ms <= 0 ? SOCK_NONBLOCK : 0);
	cleanup_fd int fd = -1;
	int r;

	if (!fits(path))
		return err_errno(err, -ENAMETOOLONG, "%s", path);
	strlcpy(address.sun_path, path, sizeof address.sun_path);
	fd = socket(AF_UNIX, type, 0);
	if (fd == -1)
		return err_errno(err, -errno, "%s", path);
	do {
		if (set_patience(fd, until_ms) == -1)
			return err_errno(err, -errno, "%s", path);
		r = connect(fd, (struct sockaddr *)&address, sizeof address);
	} while (r == -1 && errno == EINTR);
	if (r == -1 && errno == EAGAIN)
		return say_timeout(path, err);
	if (r == -1 && (errno == ENOENT || errno == ECONNREFUSED))
		return err_set(err, -errno,
		    "no daemon is listening at %s; start it with: llmc up",
		    path);
	if (r == -1)
		return err_errno(err, -errno, "%s", path);
	r = check_peer(fd, path, err);
	return r < 0 ? r : take_fd(&fd);
}

static int
say_gone(const char *path, struct err *err)
{
	return err_set(err, -ECONNRESET,
	    "%s: the daemon closed the connection before it answered", path);
}

static int
send_all(int fd, const struct buf *line, const char *path, int64_t until_ms,
    struct err *err)
{
	size_t sent = 0;
	ssize_t n;
	int r;

	while (sent < line->len) {
		n = send(fd, line->data + sent, line->len - sent,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n >= 0) {
			sent += (size_t)n;
			continue;
		}
		if (errno == EPIPE || errno == ECONNRESET)
			return say_gone(path, err);
		if (errno != EAGAIN && errno != EINTR)
			return err_errno(err, -errno, "%s", path);
		r = wait_for(fd, POLLOUT, path, until_ms, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The next line that was sent to us. */
static int
read_line(int fd, struct rpc_reader *reader, struct buf *line, const char *path,
    int64_t until_ms, struct err *err)
{
	char bytes[CLIENT_READ_SIZE];
	ssize_t n;
	int r;

	for (;;) {
		r = rpc_reader_next(reader, line);
		if (r == 1)
			return 0;
		if (r < 0)
			return err_set(
			    err, -EBADMSG, "%s: the answer is too long", path);
		r = wait_for(fd, POLLIN, path, until_ms, err);
		if (r < 0)
			return r;
		n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n == 0 || (n == -1 && errno == ECONNRESET))
			return say_gone(path, err);
		if (n == -1)
			return err_errno(err, -errno, "%s", path);
		rpc_reader_feed(reader, bytes, (size_t)n);
	}
}

/* 1: it is the answer, and *ret_status says what it means; 0: it is something
 * else that a daemon may send. */
static int
take_message(const struct rpc_message *m, int *ret_status,
    struct json_object **ret_result, int *ret_code, struct err *err)
{
	bool ours = m->id != NULL &&
	    json_object_get_int64(m->id) == CLIENT_CALL_ID &&
	    json_object_is_type(m->id, json_type_int);

	if (m->kind == RPC_RESULT && ours) {
		*ret_result = json_object_get(m->result);
		*ret_status = 0;
		return 1;
	}
	/* The answer to a request that could not be parsed has no id. */
	if (m->kind == RPC_ERROR && (ours || m->id == NULL)) {
		if (ret_code != NULL)
			*ret_code = m->code;
		if (ret_result != NULL)
			*ret_result = json_object_get(m->data);
		*ret_status = err_set(err, -EPROTO, "%s", m->message);
		return 1;
	}
	return 0;
}

static int
hear(int fd, const char *path, int64_t until_ms,
    struct json_object **ret_result, int *ret_code, struct err *err)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct rpc_reader reader;
	struct rpc_message m;
	struct err why;
	int r, done = 0;

	rpc_reader_init(&reader, 0);
	while (done == 0) {
		r = read_line(fd, &reader, &line, path, until_ms, err);
		if (r < 0)
			break;
		r = rpc_decode(line.data, line.len, &m, NULL, NULL, &why);
		if (r < 0) {
			r = err_set(err, -EBADMSG,
			    "%s: the answer is not valid: %s", path, why.msg);
			break;
		}
		done = take_message(&m, &r, ret_result, ret_code, err);
		rpc_message_release(&m);
	}
	rpc_reader_release(&reader);
	return r;
}

int
client_call(const char *socket, const char *method, struct json_object *params,
    int64_t deadline_ms, bool wait, struct json_object **ret_result,
    int *ret_code, struct err *err)
{
	int64_t until_ms = clock_mono_ms() + deadline_ms;
	cleanup_json struct json_object *id =
	    wait ? json_object_new_int(CLIENT_CALL_ID) : NULL;
	cleanup_buf struct buf line = BUF_INIT;
	cleanup_fd int fd = -1;
	int r;

	rpc_encode_request(&line, id, method, params);
	if (line.len - 1 > RPC_LINE_MAX)
		return err_set(err, -E2BIG,
		    "%s: the request is too long: "
		    "%zu bytes",
		    method, line.len);
	fd = client_dial(socket, deadline_ms, err);
	if (fd < 0)
		return fd;
	r = send_all(fd, &line, socket, until_ms, err);
	if (r < 0 || !wait)
		return r;
	return hear(fd, socket, until_ms, ret_result, ret_code, err);
}

#define CLIENT_STREAM_READ_SIZE 65536
#define CLIENT_STREAM_CALL_ID   1 /* one request per connection */

struct client_stream {
	struct loop *loop;
	struct loop_watch *readable, *writable; /* NULL = nothing to wait for */
	const struct client_stream_fns *fns;
	void *arg;
	char *path;
	struct rpc_reader reader;
	struct buf out; /* the request */
	size_t sent; /* bytes of it */
	const struct rpc_message *error; /* during on_end */
	int fd;
	bool calling; /* a callback runs: freed when it returns */
	bool ended; /* on_end was called, or the stream is to be freed */
};

static void
stream_close(struct client_stream *stream)
{
	loop_watch_free(take_ptr(&stream->readable));
	loop_watch_free(take_ptr(&stream->writable));
	stream->fd = fd_close(stream->fd);
}

void
client_stream_free(struct client_stream *stream)
{
	if (stream == NULL)
		return;
	stream_close(stream);
	stream->ended = true;
	if (stream->calling) {
		stream->fns = NULL;
		return;
	}
	rpc_reader_release(&stream->reader);
	buf_release(&stream->out);
	free(stream->path);
	free(stream);
}

static void
stream_end(struct client_stream *stream, int status, struct json_object *result,
    const struct err *err)
{
	if (stream->ended)
		return;
	stream->ended = true;
	stream_close(stream);
	stream->fns->on_end(status, result, err, stream->arg);
}

static void
stream_fail(struct client_stream *stream, int status)
{
	struct err err = { 0, "" };

	if (status == -ECONNRESET || status == -EPIPE)
		status = err_set(&err, -ECONNRESET,
		    "%s: the daemon closed the connection", stream->path);
	else
		err_errno(&err, status, "%s", stream->path);
	stream_end(stream, status, NULL, &err);
}

/* Send as much of the request as the kernel takes. */
static void
stream_send(struct client_stream *stream)
{
	ssize_t n;

	while (stream->sent < stream->out.len) {
		n = send(stream->fd, stream->out.data + stream->sent,
		    stream->out.len - stream->sent,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n >= 0)
			stream->sent += (size_t)n;
		else if (errno == EAGAIN)
			return;
		/* What the daemon sent before it hung up can still be read:
		 * reading finds the end. */
		else if (errno != EINTR)
			break;
	}
	loop_watch_free(take_ptr(&stream->writable));
	buf_release(&stream->out);
	stream->sent = 0;
}

static void
stream_writable(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	stream_send(arg);
}

const char *
client_stream_error(const struct client_stream *stream, int *ret_code)
{
	if (ret_code != NULL)
		*ret_code = stream->error->code;
	return stream->error->message;
}

static void
stream_message(struct client_stream *stream, const struct rpc_message *m)
{
	bool ours = m->id != NULL &&
	    json_object_get_int64(m->id) == CLIENT_STREAM_CALL_ID &&
	    json_object_is_type(m->id, json_type_int);
	struct err err = { 0, "" };

	if (m->kind == RPC_NOTIFICATION) {
		if (stream->fns->on_notification != NULL)
			stream->fns->on_notification(
			    m->method, m->params, stream->arg);
	} else if (m->kind == RPC_RESULT && ours) {
		stream_end(stream, 0, m->result, &err);
	} else if (m->kind == RPC_ERROR && (ours || m->id == NULL)) {
		err_set(&err, -EPROTO, "%s", m->message);
		stream->error = m;
		stream_end(stream, -EPROTO, NULL, &err);
		stream->error = NULL;
	}
}

static void
stream_lines(struct client_stream *stream)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct err why = { 0, "" }, err = { 0, "" };
	struct rpc_message m;
	int r;

	while (!stream->ended) {
		r = rpc_reader_next(&stream->reader, &line);
		if (r == 0)
			return;
		if (r < 0)
			err_set(&why, r, "the line is longer than 4 MiB");
		else
			r = rpc_decode(
			    line.data, line.len, &m, NULL, NULL, &why);
		if (r < 0) {
			err_set(
			    &err, -EBADMSG, "%s: %s", stream->path, why.msg);
			stream_end(stream, -EBADMSG, NULL, &err);
			return;
		}
		stream_message(stream, &m);
		rpc_message_release(&m);
	}
}

static void
stream_readable(int fd, unsigned what, void *arg)
{
	struct client_stream *stream = arg;
	char bytes[CLIENT_STREAM_READ_SIZE];
	ssize_t n;

	(void)what;
	n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	stream->calling = true;
	if (n > 0) {
		rpc_reader_feed(&stream->reader, bytes, (size_t)n);
		stream_lines(stream);
	} else
		stream_fail(stream, n == 0 ? -ECONNRESET : -errno);
	/* After the callbacks: was the stream freed by one of them? */
	stream->calling = false;
	if (stream->fns == NULL)
		client_stream_free(stream);
}

/* Watch the connection; send the request, immediately if possible. */
static int
stream_begin(struct client_stream *stream, struct err *err)
{
	stream->readable = loop_watch_new(
	    stream->loop, stream->fd, LOOP_READ, stream_readable, stream);
	stream->writable = loop_watch_new(
	    stream->loop, stream->fd, LOOP_WRITE, stream_writable, stream);
	if (stream->readable == NULL || stream->writable == NULL)
		return err_errno(err, -errno, "%s", stream->path);
	stream_send(stream);
	return 0;
}

int
client_stream_new(struct loop *loop, const char *socket, const char *method,
    struct json_object *params, const struct client_stream_fns *fns, void *arg,
    struct client_stream **ret_stream, struct err *err)
{
	struct client_stream *stream = xcalloc(1, sizeof *stream);
	cleanup_json struct json_object *id =
	    json_object_new_int(CLIENT_STREAM_CALL_ID);
	int r = 0;

	stream->loop = loop;
	stream->fns = fns;
	stream->arg = arg;
	stream->path = xstrdup(socket);
	stream->fd = -1;
	rpc_reader_init(&stream->reader, 0);
	buf_init(&stream->out);
	rpc_encode_request(&stream->out, id, method, params);
	if (stream->out.len - 1 > RPC_LINE_MAX)
		r = err_set(err, -E2BIG,
		    "%s: the request is too long: %zu bytes", method,
		    stream->out.len);
	if (r == 0)
		r = stream->fd = client_dial(socket, 0, err);
	if (r >= 0)
		r = stream_begin(stream, err);
	if (r < 0) {
		client_stream_free(stream);
		return r;
	}
	*ret_stream = stream;
	return 0;
}

int
fd_channel_pair(int ret_ends[2])
{
	return socketpair(AF_UNIX,
		   SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		   ret_ends) == -1 ?
	    -errno :
	    0;
}

static bool
is_channel(int fd)
{
	struct ucred peer = { 0 };
	int domain = 0, type = 0;
	socklen_t len = sizeof(int), size = sizeof peer;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	    domain == AF_UNIX && type == SOCK_SEQPACKET &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	    peer.uid == geteuid();
}

int
fd_channel_inherited(void)
{
	const char *value = getenv(FD_CHANNEL_VARIABLE);
	const char *fault = NULL;
	int fd = value != NULL ? (int)strtonum(value, 3, FD_MAX, &fault) : 0;

	unsetenv(FD_CHANNEL_VARIABLE);
	if (value == NULL || fault != NULL || !is_channel(fd) ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == -1)
		return 0;
	return fd;
}

void
fd_channel_hand_on(int channel)
{
	char number[16];

	if (channel == 0 || fcntl(channel, F_SETFD, 0) == -1)
		return;
	snprintf(number, sizeof number, "%d", channel);
	setenv(FD_CHANNEL_VARIABLE, number, 1);
}

int
fd_channel_send(int channel, const char *text, int fd)
{
	union control control = { { 0 } };
	struct iovec part = { (void *)(uintptr_t)text, strlen(text) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(head), &fd, sizeof fd);
	}
	return sendmsg(channel, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == -1 ?
	    -errno :
	    0;
}

/* How many came; the first is *ret_fd, the others are closed. */
static size_t
take_descriptors(struct msghdr *message, int *ret_fd)
{
	size_t count = 0;

	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head != NULL;
	     head = CMSG_NXTHDR(message, head)) {
		size_t len = head->cmsg_len - CMSG_LEN(0);

		if (head->cmsg_level != SOL_SOCKET ||
		    head->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < len / sizeof(int); i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
			if (count++ == 0)
				*ret_fd = fd;
			else
				fd_close(fd);
		}
	}
	return count;
}

static bool
is_text(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] < ' ' || bytes[i] > '~')
			return false;
	return len > 0 && len < FD_CHANNEL_TEXT_SIZE;
}

int
fd_channel_receive(
    int channel, char ret_text[FD_CHANNEL_TEXT_SIZE], int *ret_fd)
{
	union control control;
	char text[FD_CHANNEL_TEXT_SIZE];
	struct iovec part = { text, sizeof text };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes };
	cleanup_fd int fd = -1;
	size_t count;
	ssize_t n = recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n == -1)
		return errno == EINTR ? -EAGAIN : -errno;
	count = take_descriptors(&message, &fd);
	if (n == 0 && count == 0)
		return 0;
	if (count > 1 || !is_text(text, (size_t)n) ||
	    (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
		return -EBADMSG;
	memcpy(ret_text, text, (size_t)n);
	ret_text[n] = '\0';
	*ret_fd = take_fd(&fd);
	return 1;
}

/* If the file of the socket tells nothing. */
static const struct backoff again = { .first_ms = 100, .max_ms = 5000 };

struct relay_call {
	TAILQ_ENTRY(relay_call) entry;
	struct relay *relay;
	const char *method;
	struct json_object *params;
	relay_fn *fn;
	void *arg;
	struct client_stream *stream; /* it is with the daemon */
	struct loop_timer *deadline;
	struct loop_timer *pause; /* NULL = it may be sent */
	int tries;
};

TAILQ_HEAD(relay_calls, relay_call);

struct relay {
	struct loop *loop;
	char *socket;
	struct relay_calls calls;
	int flights;
	struct watch *watch; /* of the socket, while a call waits for it */
	struct loop_call *pump;
};

static void
call_free(struct relay_call *call)
{
	struct relay *relay = call->relay;

	TAILQ_REMOVE(&relay->calls, call, entry);
	if (call->stream != NULL)
		relay->flights--;
	client_stream_free(call->stream);
	loop_timer_free(call->deadline);
	loop_timer_free(call->pause);
	json_object_put(call->params);
	free(call);
	/* Another one may have waited for its place. */
	loop_call_request(relay->pump);
}

static void
call_end(struct relay_call *call, struct json_object *result, int code,
    const char *message)
{
	relay_fn *fn = call->fn;
	void *arg = call->arg;

	fn(result, code, message, arg);
	call_free(call);
}

static void
on_deadline(void *arg)
{
	call_end(arg, NULL, API_BUSY,
	    "llmc's daemon has not answered in time. Go on without this, and "
	    "try again later.");
}

/* --- waiting for a daemon --------------------------------------------- */

static void
on_pause_over(void *arg)
{
	struct relay_call *call = arg;

	loop_timer_free(take_ptr(&call->pause));
	loop_call_request(call->relay->pump);
}

/* A daemon touches its socket when it listens. */
static void
on_socket_changed(void *arg)
{
	struct relay *relay = arg;
	struct relay_call *call;

	TAILQ_FOREACH (call, &relay->calls, entry)
		loop_timer_free(take_ptr(&call->pause));
	loop_call_request(relay->pump);
}

static void
call_pause(struct relay_call *call)
{
	struct relay *relay = call->relay;
	int64_t ms = again.max_ms;

	backoff_next(&again, call->tries++, &ms);
	call->pause = loop_after(relay->loop, ms, on_pause_over, call);
	if (relay->watch == NULL)
		watch_new(relay->loop, relay->socket, on_socket_changed, relay,
		    &relay->watch, NULL);
}

/* --- with the daemon -------------------------------------------------- */

static void
on_end(int status, struct json_object *result, const struct err *err, void *arg)
{
	struct relay_call *call = arg;
	struct client_stream *stream = call->stream;
	const char *message = NULL;
	int code = 0;

	if (status == -EPROTO)
		message = client_stream_error(stream, &code);
	if (status == 0 || (status == -EPROTO && code != API_BUSY)) {
		call_end(call, result, code, message);
		return;
	}
	if (status == -EBADMSG) {
		call_end(call, NULL, API_FAILED, err->msg);
		return;
	}
	call->stream = NULL;
	call->relay->flights--;
	client_stream_free(stream);
	call_pause(call);
	loop_call_request(call->relay->pump);
}

static const struct client_stream_fns stream_fns = { NULL, on_end };

static void
call_send(struct relay_call *call)
{
	struct relay *relay = call->relay;
	struct err err = { 0 };
	int r = client_stream_new(relay->loop, relay->socket, call->method,
	    call->params, &stream_fns, call, &call->stream, &err);

	if (r == 0)
		relay->flights++;
	else if (r == -E2BIG || r == -ENAMETOOLONG || r == -EACCES)
		call_end(call, NULL, API_FAILED, err.msg);
	else
		call_pause(call);
}

static void
pump(void *arg)
{
	struct relay *relay = arg;
	struct relay_call *call, *next;
	bool waits = false;

	for (call = TAILQ_FIRST(&relay->calls); call != NULL; call = next) {
		next = TAILQ_NEXT(call, entry);
		if (call->stream == NULL && call->pause == NULL &&
		    relay->flights < RELAY_FLIGHTS_MAX)
			call_send(call);
	}
	TAILQ_FOREACH (call, &relay->calls, entry)
		waits |= call->pause != NULL;
	if (!waits)
		watch_free(take_ptr(&relay->watch));
}

/* --- the relay -------------------------------------------------------- */

struct relay *
relay_new(struct loop *loop, const char *socket)
{
	struct relay *relay = xcalloc(1, sizeof *relay);

	relay->loop = loop;
	relay->socket = xstrdup(socket);
	relay->pump = loop_call_new(loop, pump, relay);
	TAILQ_INIT(&relay->calls);
	return relay;
}

void
relay_free(struct relay *relay)
{
	struct relay_call *call;

	if (relay == NULL)
		return;
	while ((call = TAILQ_FIRST(&relay->calls)) != NULL)
		call_free(call);
	watch_free(relay->watch);
	loop_call_free(relay->pump);
	free(relay->socket);
	free(relay);
}

struct relay_call *
relay_send(struct relay *relay, const char *method, struct json_object *params,
    int64_t wait_ms, relay_fn *fn, void *arg)
{
	struct relay_call *call = xcalloc(1, sizeof *call);

	call->relay = relay;
	call->method = method;
	call->params = json_object_get(params);
	call->fn = fn;
	call->arg = arg;
	call->deadline = loop_after(relay->loop, wait_ms, on_deadline, call);
	TAILQ_INSERT_TAIL(&relay->calls, call, entry);
	loop_call_request(relay->pump);
	return call;
}

void
relay_cancel(struct relay_call *call)
{
	call_free(call);
}
