/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "api.h"
#include "backoff.h"
#include "client.h"
#include "loop.h"
#include "relay.h"
#include "watch.h"

#define FD_MAX 65535

/* Room for one descriptor and, by its padding, another: both are looked at. */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr head; /* for its alignment */
};

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
