/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/server.h"

#include "core/memory.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct addrinfo *address_parse(const char *address, const char *port)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    return getaddrinfo(address, port, &hints, &found) == 0 ? found : NULL;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static enum status not_an_address(const char *host, struct error *err)
{
    return error_set(err, ERROR_USAGE, "--listen: '%s' is not a numeric address", host);
}

enum status server_check_address(const char *host, bool allow_remote, struct error *err)
{
    struct addrinfo *found = address_parse(host, "0");
    if (!found)
        return not_an_address(host, err);
    bool local = is_loopback(found->ai_addr);
    freeaddrinfo(found);
    if (local || allow_remote)
        return STATUS_OK;
    return error_set(err, ERROR_USAGE,
                     "--listen %s: other hosts could read the trace; --allow-remote permits it, unencrypted", host);
}

void server_say(struct server_answer *answer, unsigned status, const char *format, ...)
{
    enum { SAY_SIZE = 300 };
    char *text = memory_new(SAY_SIZE);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, SAY_SIZE, format, arguments);
    va_end(arguments);
    *answer = (struct server_answer){
        .status = status, .type = "text/plain; charset=utf-8", .body = text, .length = strlen(text)};
}

/* One thread per connection: a slow one does not hold up others. */
enum {
    TOKEN_BYTES = 16,
    TOKEN_LENGTH = 2 * TOKEN_BYTES,
    CONNECTIONS = 256,
    STRANGERS = 128, /* connections that have not shown the token: the oldest makes room for a further one */
    REQUEST_SECONDS = 10,
    CONNECTION_MEMORY = 32 * 1024,
    CONNECTION_STACK = 1024 * 1024,
    IDLE_SECONDS = 20,
    URL_SIZE = 128,
    HOST_SIZE = 256
};

/* A connection between its requests or within one: how long its next request has been on its way. */
struct caller {
    struct MHD_Connection *connection;
    struct caller *next;
    time_t since_s; /* when it may have begun to send the request; 0: it is being answered */
    bool known;     /* it has shown the token */
    bool gone;      /* it has been hung up on */
};

struct server {
    struct MHD_Daemon *daemon;
    server_function *function;
    void *context;
    char token[TOKEN_LENGTH + 1];
    char url[URL_SIZE];
    pthread_mutex_t lock;
    pthread_cond_t stopping;
    struct caller *callers; /* the latest first; by `lock` */
    bool stopped;           /* by `lock` */
    pthread_t watchman;
};

struct server_request {
    struct MHD_Connection *connection;
    const char *path;
};

const char *server_path(const struct server_request *request)
{
    return request->path;
}

const char *server_parameter(const struct server_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

static bool token_new(char token[TOKEN_LENGTH + 1])
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* The path after "/TOKEN/"; NULL if the token differs. The comparison takes constant time, so that it reveals nothing
   about the token. */
static const char *path_behind_token(const struct server *server, const char *path)
{
    if (strlen(path) < TOKEN_LENGTH + 2 || path[0] != '/' || path[TOKEN_LENGTH + 1] != '/')
        return NULL;
    unsigned char difference = 0;
    for (size_t i = 0; i < TOKEN_LENGTH; i++)
        difference |= (unsigned char)(server->token[i] ^ path[i + 1]);
    return difference == 0 ? path + TOKEN_LENGTH + 2 : NULL;
}

/* The page loads its own files and nothing else, is not shown inside other pages, and does not reveal its address. */
static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

static enum MHD_Result send_answer(struct MHD_Connection *connection, const struct server_answer *answer)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->length, answer->body, answer->borrowed ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
    if (answer->status == MHD_HTTP_FORBIDDEN)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET");
    enum MHD_Result result = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

static time_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* What its thread reads next is the end; the connection is then taken down as any other. */
static void hang_up(struct caller *caller)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(caller->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info)
        shutdown(info->connect_fd, SHUT_RDWR);
    caller->gone = true;
}

/* Slow senders do not keep others out: if there are many connections without the token, the oldest is closed. */
static void make_room(struct server *server)
{
    struct caller *oldest = NULL;
    size_t strangers = 0;
    for (struct caller *caller = server->callers; caller; caller = caller->next)
        if (!caller->known && !caller->gone) {
            oldest = caller;
            strangers++;
        }
    if (strangers > STRANGERS)
        hang_up(oldest);
}

static void caller_comes(struct server *server, struct MHD_Connection *connection, void **state)
{
    struct caller *caller = *state = memory_new(sizeof *caller);
    *caller = (struct caller){.connection = connection, .next = server->callers, .since_s = now_s()};
    server->callers = caller;
    make_room(server);
}

static void caller_goes(struct server *server, struct caller *caller)
{
    struct caller **place = &server->callers;
    while (*place && *place != caller)
        place = &(*place)->next;
    if (*place)
        /* It may have been taken out of the list already. */
        *place = caller->next;
    free(caller);
}

/* Called by the connection's thread, or that which accepts, while the socket is open. */
static void notice_connection(void *context, struct MHD_Connection *connection, void **state,
                              enum MHD_ConnectionNotificationCode what)
{
    struct server *server = context;
    pthread_mutex_lock(&server->lock);
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        caller_comes(server, connection, state);
    else if (*state)
        caller_goes(server, *state);
    pthread_mutex_unlock(&server->lock);
}

static struct caller *caller_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* A request has come whole, or its answer has left. */
static void caller_note(struct server *server, struct MHD_Connection *connection, time_t since_s, bool known)
{
    struct caller *caller = caller_of(connection);
    pthread_mutex_lock(&server->lock);
    if (caller) {
        caller->since_s = since_s;
        caller->known |= known;
    }
    pthread_mutex_unlock(&server->lock);
}

static void notice_completed(void *context, struct MHD_Connection *connection, void **state,
                             enum MHD_RequestTerminationCode how)
{
    (void)state, (void)how;
    caller_note(context, connection, now_s(), false);
}

/* Looks once a second for requests that take too long to come. */
static void *watch_callers(void *context)
{
    struct server *server = context;
    pthread_mutex_lock(&server->lock);
    while (!server->stopped) {
        struct timespec next;
        /* A condition variable waits by this clock unless it is set to another; a step of it only moves one look. */
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_sec++;
        pthread_cond_timedwait(&server->stopping, &server->lock, &next);
        for (struct caller *caller = server->callers; caller; caller = caller->next)
            if (!caller->gone && caller->since_s &&
                now_s() - caller->since_s > (caller->known ? IDLE_SECONDS : REQUEST_SECONDS))
                hang_up(caller);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

/* True if the request is for a host that no foreign page can stand for: an address in numbers, "localhost" or the name
   of this machine. Only names can be made to mean this machine (DNS rebinding). */
static bool host_is_ours(const char *host)
{
    char name[HOST_SIZE], here[HOST_SIZE] = "";
    struct addrinfo *address;
    if (!host || strlen(host) >= sizeof name)
        return false;
    bool six = *host == '[';
    size_t length = six ? strcspn(host + 1, "]") : strcspn(host, ":");
    snprintf(name, sizeof name, "%.*s", (int)length, host + six);
    address = address_parse(name, "0");
    if (address) {
        freeaddrinfo(address);
        return *name;
    }
    gethostname(here, sizeof here - 1);
    size_t short_length = strcspn(here, ".");
    return strcasecmp(name, "localhost") == 0 || (*here && strcasecmp(name, here) == 0) ||
           (short_length && strlen(name) == short_length && strncasecmp(name, here, short_length) == 0);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state)
{
    struct server *server = context;
    struct server_answer answer = {0};
    struct server_request request = {.connection = connection, .path = path_behind_token(server, url)};
    (void)version, (void)upload, (void)upload_size, (void)state;
    /* While its request is answered the time does not count: reading a large window may take longer than sending one.
     */
    caller_note(server, connection, 0, request.path != NULL);
    /* The host is checked before the token, so that a page elsewhere cannot even learn whether it has the right one. */
    if (!host_is_ours(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
        server_say(&answer, MHD_HTTP_FORBIDDEN, "this name is not one of this machine\n");
    else if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
        server_say(&answer, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
    else if (!request.path)
        server_say(&answer, MHD_HTTP_FORBIDDEN, "not the address that sight view printed\n");
    else
        server->function(server->context, &request, &answer);
    return send_answer(connection, &answer);
}

/* With port 0 the system chooses: the address must name what it chose. */
static uint16_t bound_port(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

static struct MHD_Daemon *daemon_start(struct server *server, const struct addrinfo *address)
{
    /* A thread for each connection: a query that reads the trace must not hold up the tiles. */
    unsigned flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                     (address->ai_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG);
    return MHD_start_daemon(flags, 0, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR, address->ai_addr,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
                            MHD_OPTION_THREAD_STACK_SIZE, (size_t)CONNECTION_STACK, MHD_OPTION_NOTIFY_CONNECTION,
                            notice_connection, server, MHD_OPTION_NOTIFY_COMPLETED, notice_completed, server,
                            MHD_OPTION_END);
}

static enum status listen_at(struct server *server, const char *host, uint16_t port, struct error *err)
{
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo *address = address_parse(host, service);
    if (!address)
        return not_an_address(host, err);
    server->daemon = daemon_start(server, address);
    bool six = address->ai_family == AF_INET6;
    freeaddrinfo(address);
    if (!server->daemon)
        return error_set_errno(err, ERROR_OUTPUT, "cannot listen on %s, port %u", host, port);
    snprintf(server->url, sizeof server->url, "http://%s%s%s:%u/%s/", six ? "[" : "", host, six ? "]" : "",
             bound_port(server->daemon), server->token);
    return STATUS_OK;
}

struct server *server_start(struct server_options options, server_function *function, void *context, struct error *err)
{
    struct server *server = memory_new(sizeof *server);
    server->function = function;
    server->context = context;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->stopping, NULL);
    if (!token_new(server->token)) {
        error_set_errno(err, ERROR_OUTPUT, "cannot get random bytes for the address");
    } else if (listen_at(server, options.address ? options.address : "127.0.0.1", options.port, err) == STATUS_OK) {
        if (pthread_create(&server->watchman, NULL, watch_callers, server) == 0)
            return server;
        error_set_errno(err, ERROR_OUTPUT, "cannot start a thread");
        MHD_stop_daemon(server->daemon);
    }
    free(server);
    return NULL;
}

const char *server_url(const struct server *server)
{
    return server->url;
}

void server_stop(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    server->stopped = true;
    pthread_cond_signal(&server->stopping);
    pthread_mutex_unlock(&server->lock);
    pthread_join(server->watchman, NULL);
    MHD_stop_daemon(server->daemon);
    free(server);
}
