#pragma once
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

/// `amqp_login_with_properties` is variadic, which Swift cannot call. PLAIN: the password travels inside TLS.
static inline amqp_rpc_reply_t purser_amqp_login(amqp_connection_state_t state, const char *virtual_host,
                                                 int channel_max, int frame_max, int heartbeat,
                                                 const amqp_table_t *properties, const char *user,
                                                 const char *password) {
    return amqp_login_with_properties(state, virtual_host, channel_max, frame_max, heartbeat, properties,
                                      AMQP_SASL_METHOD_PLAIN, user, password);
}

/// librabbitmq sets no TCP_USER_TIMEOUT: without it, written bytes that nobody acknowledges keep a dead connection
/// for many minutes.
static inline int purser_amqp_set_user_timeout(amqp_connection_state_t state, unsigned int milliseconds) {
    return setsockopt(amqp_get_sockfd(state), IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

/// Whether the socket takes bytes within the time: a write to a broker that does not read would block.
static inline int purser_amqp_wait_writable(amqp_connection_state_t state, int milliseconds) {
    struct pollfd file = {.fd = amqp_get_sockfd(state), .events = POLLOUT};
    return poll(&file, 1, milliseconds) > 0;
}
