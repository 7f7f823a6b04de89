#pragma once
#include <microhttpd.h>

// Variadic functions cannot be imported: one plain function for each use.

struct purser_mhd_settings {
    const struct sockaddr *address;        // borrowed during the call
    int is_ipv6;
    unsigned int threads;                  // event loops; 1 = a single internal thread
    unsigned int connection_limit;
    unsigned int timeout_seconds;          // of silence
    size_t connection_memory;              // bytes a connection
    void *context;                         // handed to every callback
    MHD_AcceptPolicyCallback accept;
    MHD_AccessHandlerCallback access;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    void *(*target)(void *context, const char *uri, struct MHD_Connection *connection);
};

static inline struct MHD_Daemon *purser_mhd_start(const struct purser_mhd_settings *s) {
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE;
    if (s->is_ipv6) flags |= MHD_USE_IPv6;
    struct MHD_OptionItem pool[] = {
        {MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)s->threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    if (s->threads < 2) pool[0].option = MHD_OPTION_END;
    return MHD_start_daemon(
        flags, 0, s->accept, s->context, s->access, s->context,
        MHD_OPTION_SOCK_ADDR, s->address,
        MHD_OPTION_CONNECTION_LIMIT, s->connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, s->timeout_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, s->connection_memory,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned int)1024,
        MHD_OPTION_URI_LOG_CALLBACK, s->target, s->context,
        MHD_OPTION_NOTIFY_COMPLETED, s->completed, s->context,
        MHD_OPTION_NOTIFY_CONNECTION, s->connection, s->context,
        MHD_OPTION_ARRAY, pool,
        MHD_OPTION_END);
}

/// The port the daemon listens on, 0 if it does not listen.
static inline unsigned short purser_mhd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

static inline const struct sockaddr *purser_mhd_client_address(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

static inline int purser_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// Bytes of the request line and the header fields, up to and with the empty line.
static inline size_t purser_mhd_header_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/// The connection's socket is somebody else's: the library forgets it and frees what it keeps for it.
static inline void purser_mhd_let_go(struct MHD_UpgradeResponseHandle *handle) {
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}
