/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/server.h"

#include "core/memory.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

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

bool server_address_is_local(const char *address)
{
    struct addrinfo *found = address_parse(address, "0");
    bool local = found && is_loopback(found->ai_addr);
    if (found)
        freeaddrinfo(found);
    return local;
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

/* A thread each for connections: what is slow holds up nobody else. */
enum {
    TOKEN_BYTES = 16,
    TOKEN_LENGTH = 2 * TOKEN_BYTES,
    CONNECTIONS = 256,
    CONNECTION_MEMORY = 32 * 1024,
    CONNECTION_STACK = 1024 * 1024,
    IDLE_SECONDS = 20,
    URL_SIZE = 128
};

struct server {
    struct MHD_Daemon *daemon;
    server_function *function;
    void *context;
    char token[TOKEN_LENGTH + 1];
    char url[URL_SIZE];
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

/* The path after "/TOKEN/"; NULL where the token is another. How long the comparison takes reveals nothing about it. */
static const char *path_behind_token(const struct server *server, const char *path)
{
    if (strlen(path) < TOKEN_LENGTH + 2 || path[0] != '/' || path[TOKEN_LENGTH + 1] != '/')
        return NULL;
    unsigned char difference = 0;
    for (size_t i = 0; i < TOKEN_LENGTH; i++)
        difference |= (unsigned char)(server->token[i] ^ path[i + 1]);
    return difference == 0 ? path + TOKEN_LENGTH + 2 : NULL;
}

/* The page loads its own files and nothing else, is shown in no other page, and tells nobody its address. */
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
    if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET");
    enum MHD_Result result = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state)
{
    struct server *server = context;
    struct server_answer answer = {0};
    struct server_request request = {.connection = connection, .path = path_behind_token(server, url)};
    (void)version, (void)upload, (void)upload_size, (void)state;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
        server_say(&answer, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
    else if (!request.path)
        server_say(&answer, MHD_HTTP_FORBIDDEN, "not the address that sight view printed\n");
    else
        server->function(server->context, &request, &answer);
    return send_answer(connection, &answer);
}

static uint16_t bound_port(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

static struct MHD_Daemon *daemon_start(struct server *server, const struct addrinfo *address)
{
    unsigned flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                     (address->ai_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG);
    return MHD_start_daemon(flags, 0, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR, address->ai_addr,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
                            MHD_OPTION_THREAD_STACK_SIZE, (size_t)CONNECTION_STACK, MHD_OPTION_END);
}

static enum status listen_at(struct server *server, const char *host, uint16_t port, struct error *err)
{
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo *address = address_parse(host, service);
    if (!address)
        return error_set(err, ERROR_USAGE, "--listen: '%s' is not a numeric address", host);
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
    if (!token_new(server->token))
        error_set_errno(err, ERROR_OUTPUT, "cannot get random bytes for the address");
    else if (listen_at(server, options.address ? options.address : "127.0.0.1", options.port, err) == STATUS_OK)
        return server;
    free(server);
    return NULL;
}

const char *server_url(const struct server *server)
{
    return server->url;
}

void server_stop(struct server *server)
{
    MHD_stop_daemon(server->daemon);
    free(server);
}
